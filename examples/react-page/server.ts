// The page's server: sends the page, and signs who is signed in. The secret key stays here.
import { createServer, type Server } from 'node:http'
import { Tollgate } from '../../clients/typescript/src/index.js'

export interface PageServer {
  readonly tollgateUrl: string
  readonly secretKey: string
  readonly publishableKey: string
  /** The bundled page. */
  readonly script: Uint8Array
  /** Keys of the company that is signed in; a real server looks into its session. */
  readonly signedIn: () => Readonly<Record<string, string>>
}

const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Your plan</title></head>
<body><div id="page"></div><script type="module" src="/page.js"></script></body>
</html>
`

/** Serve the page on a free port of 127.0.0.1. */
export async function servePage({
  tollgateUrl,
  secretKey,
  publishableKey,
  script,
  signedIn,
}: PageServer): Promise<Server> {
  const { api } = new Tollgate({ url: tollgateUrl, key: secretKey })
  const sign = async (): Promise<string> => {
    const { data, error } = await api.POST('/signed-contexts', { body: { company: signedIn() } })
    if (data === undefined) throw new Error(error?.error ?? 'The context was not signed')
    return data.data.signed_context
  }
  const answers: Readonly<Record<string, () => Promise<readonly [type: string, body: string | Uint8Array]>>> =
    {
      '/': async () => ['text/html; charset=utf-8', html],
      '/page.js': async () => ['text/javascript; charset=utf-8', script],
      '/session': async () => ['application/json', JSON.stringify({ url: tollgateUrl, publishableKey })],
      '/signed-context': async () => ['text/plain', await sign()],
    }
  const server = createServer((req, res) => {
    const answer = answers[req.url ?? '']
    if (answer === undefined) {
      res.writeHead(404).end()
      return
    }
    answer().then(
      ([type, body]) => res.writeHead(200, { 'Content-Type': type }).end(body),
      () => res.writeHead(502).end(),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

// The page's server: renders the page, and signs who is signed in. The secret key stays here.
import { createServer, type Server } from 'node:http'
import { type Standing, Tollgate } from '../../clients/typescript/src/index.js'

export interface PageServer {
  readonly tollgateUrl: string
  readonly secretKey: string
  readonly publishableKey: string
  /** The bundled page. */
  readonly script: Uint8Array
  /** The page as text (render.tsx). */
  readonly render: (client: Tollgate, standing: Standing) => string
  /** Keys of the company that is signed in; a real server looks into its session. */
  readonly signedIn: () => Readonly<Record<string, string>>
}

/** session  for the page's script; no text of it may end its element. */
const html = (body: string, session: object) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Your plan</title><link rel="icon" href="data:,"></head>
<body><div id="page">${body}</div>
<script id="session" type="application/json">${JSON.stringify(session).replaceAll('<', '\\u003c')}</script>
<script type="module" src="/page.js"></script></body>
</html>
`

/** Serve the page on a free port of 127.0.0.1. */
export async function servePage({
  tollgateUrl,
  secretKey,
  publishableKey,
  script,
  render,
  signedIn,
}: PageServer): Promise<Server> {
  const tollgate = new Tollgate({ url: tollgateUrl, key: secretKey })
  const { api } = tollgate
  const page = async (): Promise<string> => {
    const standing = await tollgate.standing({ company: signedIn() })
    return html(render(tollgate, standing), { url: tollgateUrl, publishableKey, standing })
  }
  const sign = async (): Promise<string> => {
    const { data, error } = await api.POST('/signed-contexts', { body: { company: signedIn() } })
    if (data === undefined) throw new Error(error?.error ?? 'The context was not signed')
    return data.data.signed_context
  }
  const answers: Readonly<Record<string, () => Promise<readonly [type: string, body: string | Uint8Array]>>> =
    {
      '/': async () => ['text/html; charset=utf-8', await page()],
      '/page.js': async () => ['text/javascript; charset=utf-8', script],
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

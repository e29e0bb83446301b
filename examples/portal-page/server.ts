// A company's own page with elements that Tollgate serves: plan, usage and credits. This server knows who is signed in and
// makes a token for that company; the secret key stays here.
import { createServer, type Server } from 'node:http'
import { Tollgate } from '../../clients/typescript/src/index.js'

export interface PortalPage {
  readonly tollgateUrl: string
  /** A key with the scope admin. */
  readonly secretKey: string
  /** Keys of the company that is signed in; a real server looks into its session. */
  readonly signedIn: () => Record<string, string>
  /** How long a token is good for, 60 s to a day. */
  readonly tokenSeconds: number
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const html = (tollgateUrl: string, token: string) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8"><title>Your account</title><link rel="icon" href="data:,">
  <script type="module" src="${escaped(tollgateUrl)}/portal.js"></script>
  <script type="module" src="/page.js"></script>
</head>
<body>
  <main>
    <h1>Your account</h1>
    <tollgate-portal url="${escaped(tollgateUrl)}" token="${escaped(token)}" refresh="5">
      <tollgate-plan></tollgate-plan>
      <tollgate-usage heading="This month"></tollgate-usage>
      <tollgate-credits></tollgate-credits>
    </tollgate-portal>
  </main>
</body>
</html>
`

/** The page's own script: when the token is over, another comes from this server, which knows who is signed in. */
const script = `document.querySelector('tollgate-portal').renew = async () => (await fetch('/token')).text()
`

/** Serve the page on a free port of 127.0.0.1. */
export async function servePortalPage(page: PortalPage): Promise<Server> {
  const { tollgateUrl, secretKey, signedIn, tokenSeconds } = page
  const { api } = new Tollgate({ url: tollgateUrl, key: secretKey })
  const token = async (): Promise<string> => {
    const body = { lookup: signedIn(), resource_type: 'company', expires_in_seconds: tokenSeconds } as const
    const { data, error } = await api.POST('/temporary-access-tokens', { body })
    if (data === undefined) throw new Error(error?.error ?? 'No token was made')
    return data.data.token
  }
  const answers: Readonly<Record<string, () => Promise<readonly [type: string, body: string]>>> = {
    '/': async () => ['text/html; charset=utf-8', html(tollgateUrl, await token())],
    '/page.js': async () => ['text/javascript; charset=utf-8', script],
    '/token': async () => ['text/plain', await token()],
  }
  // the elements need nothing but their script and GET /portal
  const policy = `default-src 'none'; img-src data:; script-src 'self' ${tollgateUrl}; connect-src 'self' ${tollgateUrl}; require-trusted-types-for 'script'; trusted-types 'none'`
  const server = createServer((req, res) => {
    const answer = answers[req.url ?? '']
    if (answer === undefined) {
      res.writeHead(404).end()
      return
    }
    answer().then(
      ([type, body]) =>
        res.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body),
      () => res.writeHead(503).end(),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

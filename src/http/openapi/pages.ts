// Serves /openapi.json, /docs, a page that shows it without requests to other hosts, and /llms.txt.

import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { App, AppRequest, AppResponse } from '../apps/app.js'
import { statusLine } from '../request/respond.js'
import type { Route } from '../routing/route.js'
import { forModels } from './for-models.js'
import { openApi } from './openapi.js'

const compress = promisify(gzip)

/** A file with its headers. */
interface ServedDocument {
  readonly type: string
  readonly bytes: Buffer
  readonly zipped: Buffer
}

// The page may load from and connect to this host only. The library sets inline styles.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<link rel="stylesheet" href="swagger-ui.css">
<link rel="icon" type="image/png" href="favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`

// No external validator; the key stays in the page's memory.
const start = `window.ui = SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  persistAuthorization: false,
})
`

/**
 * Serve the document and its page. Each file is read, built and compressed at its first request, then cached.
 *
 * routes  the documented routes.
 */
export function registerDocuments(app: App, routes: readonly Route[]): void {
  const html = 'text/html; charset=utf-8'
  const script = 'text/javascript; charset=utf-8'
  const files: Readonly<Record<string, () => Promise<ServedDocument>>> = {
    '/openapi.json': kept('application/json', () => JSON.stringify(openApi(routes))),
    '/llms.txt': kept('text/plain; charset=utf-8', () => forModels),
    '/docs/': kept(html, () => index),
    '/docs/start.js': kept(script, () => start),
    '/docs/swagger-ui-bundle.js': kept(script, () => asset('swagger-ui-bundle.js')),
    '/docs/swagger-ui.css': kept('text/css; charset=utf-8', () => asset('swagger-ui.css')),
    '/docs/favicon-32x32.png': kept('image/png', () => asset('favicon-32x32.png')),
  }
  for (const [path, page] of Object.entries(files)) app.on('get', path, (res, req) => send(res, req, page()))
  // relative, so that it works behind a proxy with a path prefix
  app.on('get', '/docs', res => {
    res.writeStatus('302 Found').writeHeader('Location', 'docs/').end()
  })
}

function send(res: AppResponse, req: AppRequest, made: Promise<ServedDocument>): void {
  const zip = /\bgzip\b/.test(req.getHeader('accept-encoding'))
  let gone = false
  res.onAborted(() => {
    gone = true
  })
  made.then(
    page => {
      if (!gone) res.cork(() => write(res, page, zip))
    },
    () => {
      if (!gone) res.cork(() => res.writeStatus(statusLine(500)).end('{"error":"Server error"}'))
    },
  )
}

function write(res: AppResponse, { type, bytes, zipped }: ServedDocument, zip: boolean): void {
  res.writeHeader('Content-Type', type)
  res.writeHeader('Content-Security-Policy', policy)
  res.writeHeader('X-Content-Type-Options', 'nosniff')
  res.writeHeader('Referrer-Policy', 'no-referrer')
  // short, because an upgrade changes the files under the same names
  res.writeHeader('Cache-Control', 'public, max-age=300')
  res.writeHeader('Vary', 'Accept-Encoding')
  if (zip) res.writeHeader('Content-Encoding', 'gzip')
  res.end(zip ? zipped : bytes)
}

function kept(type: string, make: () => string | Buffer): () => Promise<ServedDocument> {
  let page: Promise<ServedDocument> | null = null
  return () => {
    page ??= servedDocument(type, make)
    return page
  }
}

async function servedDocument(type: string, make: () => string | Buffer): Promise<ServedDocument> {
  const bytes = Buffer.from(make())
  return { type, bytes, zipped: await compress(bytes) }
}

function asset(name: string): Buffer {
  return readFileSync(new URL(`../../../bundled/swagger-ui/${name}`, import.meta.url))
}

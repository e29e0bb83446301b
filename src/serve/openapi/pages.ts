// Serves /openapi.json, /docs, a page that shows it without requests to other hosts, and /llms.txt.

import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { AppRequest, AppResponse } from '../../front/http/apps/app.js'
import type { Pages } from '../../front/http/request/framed-pages.js'
import { PageBudget, tellError } from '../../front/http/request/page-budget.js'
import { headersOf, headOf, internalError } from '../../front/http/request/respond.js'
import { sendLarge } from '../../front/http/request/streamed-response.js'
import { takesGzip } from '../../front/http/request/zipped.js'
import type { Route } from '../../front/http/routing/route.js'
import { catalogJsonSchema } from './catalog-schema.js'
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

/** The guides of docs/guides by file, in the order in which the page leads with them. The build makes them HTML. */
export const guides: readonly (readonly [name: string, title: string])[] = [
  ['price-page', 'A price page with plans'],
  ['seats', 'Seats'],
  ['metered-limits', 'Metered limits with warnings'],
  ['credits', 'Credits, leases and AI'],
  ['trials', 'Trials'],
  ['webhooks', 'Webhooks, verified'],
  ['web-page', 'A web page'],
  ['migrate', 'Migrate'],
  ['production', 'Go to production'],
]

/** The tasks of docs/tasks by file, in the order of their list. The build makes them HTML. */
export const tasks: typeof guides = [
  ['price-a-product', 'Price a product'],
  ['charges', 'What a company owes'],
  ['denied', 'Why was a customer denied?'],
  ['budgets', 'Budgets, costs, margins'],
  ['exception-until', 'An exception until a date'],
  ['sell-credits', 'Sell credits'],
  ['move-customers', 'Move customers'],
  ['customers-from-csv', 'Customers from CSV'],
  ['staging-to-production', 'From staging to production'],
  ['end-or-extend-a-trial', 'End or extend a trial'],
  ['erase-a-person', 'Erase a person'],
]

/** A folder of docs whose pages are shown. */
interface Folder {
  readonly name: string
  readonly title: string
  readonly pages: typeof guides
}

const folders: readonly Folder[] = [
  { name: 'guides', title: 'Guides', pages: guides },
  { name: 'tasks', title: 'Tasks', pages: tasks },
]

/** The links to the pages of a folder, after a first line. */
const nav = ({ title: label, pages }: Folder, first: string, prefix: string): string =>
  `<nav aria-label="${label}">
${first}
${pages.map(([name, title]) => `<a href="${prefix}${name}">${title}</a>`).join('\n')}
</nav>`

const style = `<style>
body { margin: 0; font: 16px/1.5 sans-serif; color: #1f2430 }
nav { display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 12px 24px; background: #f2f4f8 }
main { max-width: 760px; margin: 0 auto; padding: 8px 24px 48px }
main pre { overflow-x: auto; padding: 12px; background: #f2f4f8; font-size: 14px }
main table { border-collapse: collapse } main td, main th { border: 1px solid #c9cfdb; padding: 4px 10px; text-align: left }
</style>`

const index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<link rel="stylesheet" href="swagger-ui.css">
<link rel="icon" type="image/png" href="favicon-32x32.png">
${style}
</head>
<body>
${folders.map(one => nav(one, `<strong>${one.title}</strong>`, `${one.name}/`)).join('\n')}
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
export function registerDocuments(pages: Pages, routes: readonly Route[]): void {
  const html = 'text/html; charset=utf-8'
  const script = 'text/javascript; charset=utf-8'
  const files: Record<string, () => Promise<ServedDocument>> = {
    '/openapi.json': kept('application/json', () => JSON.stringify(openApi(routes))),
    '/catalog.schema.json': kept('application/schema+json', () => JSON.stringify(catalogJsonSchema())),
    '/llms.txt': kept('text/plain; charset=utf-8', () => forModels),
    '/docs/': kept(html, () => index),
    '/docs/start.js': kept(script, () => start),
    '/docs/swagger-ui-bundle.js': kept(script, () => asset('swagger-ui-bundle.js')),
    '/docs/swagger-ui.css': kept('text/css; charset=utf-8', () => asset('swagger-ui.css')),
    '/docs/favicon-32x32.png': kept('image/png', () => asset('favicon-32x32.png')),
  }
  for (const folder of folders)
    for (const [name, title] of folder.pages)
      files[`/docs/${folder.name}/${name}`] = kept(html, () => pageOf(folder, name, title))
  const sender = new PageSender()
  for (const [path, page] of Object.entries(files))
    pages.on('get', path, (res, req) => sender.send(res, req, page()))
  // relative, so that it works behind a proxy with a path prefix
  pages.on('get', '/docs', res => {
    res.writeStatus(headOf(302, '\r\nLocation: docs/')).end()
  })
}

/** A guide or task as a page, with links to the others of its folder. */
function pageOf(folder: Folder, name: string, title: string): string {
  const text = readFileSync(new URL(`../../../bundled/${folder.name}/${name}.html`, import.meta.url), 'utf8')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Tollgate</title>
<link rel="icon" type="image/png" href="../favicon-32x32.png">
${style}
</head>
<body>
${nav(folder, '<a href="../">All operations</a>', '')}
<main>
${text}
</main>
</body>
</html>
`
}

/** Sends pages within one budget of bytes. */
class PageSender {
  private readonly budget = new PageBudget()

  send(res: AppResponse, req: AppRequest, made: Promise<ServedDocument>): void {
    const zip = takesGzip(req.getHeader('accept-encoding'))
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    made.then(
      page => {
        if (!gone) res.cork(() => this.write(res, page, zip))
      },
      () => {
        if (!gone) res.cork(() => tellError(res, internalError))
      },
    )
  }

  private write(res: AppResponse, { type, bytes, zipped }: ServedDocument, zip: boolean): void {
    const body = zip ? zipped : bytes
    if (!this.budget.take(res, body.length)) return
    res.writeHeader('Content-Type', headersOf(type))
    res.writeHeader('Content-Security-Policy', policy)
    res.writeHeader('Referrer-Policy', 'no-referrer')
    res.writeHeader('Vary', 'Accept-Encoding')
    if (zip) res.writeHeader('Content-Encoding', 'gzip')
    // as fast as the reader takes it: nothing is copied for one that does not read
    sendLarge(res, body, () => {})
  }
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

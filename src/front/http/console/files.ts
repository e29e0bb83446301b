// Serves the built console at /console: its page, and assets that never change under one name; and the portal's elements.
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ServiceError } from '../../../errors.js'
import type { AppRequest, AppResponse } from '../apps/app.js'
import type { Pages } from '../request/framed-pages.js'
import { PageBudget, tellError } from '../request/page-budget.js'
import { headOf, internalError } from '../request/respond.js'
import { sendLarge } from '../request/streamed-response.js'
import { takesGzip } from '../request/zipped.js'

const compress = promisify(gzip)

/** dist/console, made by the build. */
const folder = new URL('../../../../console/', import.meta.url)

// Everything from this host, no inline script or style, and no text that becomes a script.
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

interface Served {
  readonly type: string
  readonly bytes: Buffer
  readonly zipped: Buffer
}

/** Register the page and its assets. Each file is read and compressed at its first request, then kept. */
export function registerConsole(pages: Pages): void {
  const kept = new Map<string, Promise<Served>>()
  const sender = new FileSender()
  const names = builtFiles()
  /** Null: there is no such file. Only names that the build made are looked up: no path leads out of the folder. */
  const read = (name: string): Promise<Served> | null => {
    if (!names.has(name)) return null
    let file = kept.get(name)
    if (file === undefined) {
      file = served(name)
      kept.set(name, file)
    }
    return file
  }
  // relative, so that it works behind a proxy with a path prefix
  pages.on('get', '/console', res => {
    res.writeStatus(headOf(302, '\r\nLocation: console/')).end()
  })
  pages.on('get', '/console/', (res, req) => sender.send(res, req, read('index.html'), 'no-cache'))
  // elements for the pages of companies, which are on other hosts
  pages.on('get', '/portal.js', (res, req) =>
    sender.send(res, req, read('portal.js'), 'public, max-age=300', true),
  )
  pages.on('get', '/console/assets/:name', (res, req) =>
    sender.send(res, req, read(`assets/${req.getParameter(0)}`), 'public, max-age=31536000, immutable'),
  )
}

/** Names of the built files; empty where the console was not built. */
function builtFiles(): ReadonlySet<string> {
  const list = (path: string): string[] => {
    try {
      return readdirSync(new URL(path, folder))
    } catch {
      return []
    }
  }
  return new Set([...list('./'), ...list('assets/').map(name => `assets/${name}`)])
}

async function served(name: string): Promise<Served> {
  const bytes = readFileSync(new URL(name, folder))
  return { type: types[extname(name)] ?? 'application/octet-stream', bytes, zipped: await compress(bytes) }
}

/** Sends files within one budget of bytes: they need no key. */
class FileSender {
  private readonly budget = new PageBudget()

  /** made  null: there is no such file. */
  send(
    res: AppResponse,
    req: AppRequest,
    made: Promise<Served> | null,
    caching: string,
    isForAll = false,
  ): void {
    const zip = takesGzip(req.getHeader('accept-encoding'))
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    if (made === null) return tellError(res, new ServiceError('not_found', 'No such file'))
    made.then(
      file => {
        if (!gone) res.cork(() => this.write(res, file, zip, caching, isForAll))
      },
      () => {
        if (!gone) res.cork(() => tellError(res, internalError))
      },
    )
  }

  private write(
    res: AppResponse,
    { type, bytes, zipped }: Served,
    zip: boolean,
    caching: string,
    isForAll: boolean,
  ): void {
    const body = zip ? zipped : bytes
    if (!this.budget.take(res, body.length)) return
    res.writeHeader('Content-Type', type)
    res.writeHeader('Content-Security-Policy', policy)
    res.writeHeader('X-Content-Type-Options', 'nosniff')
    res.writeHeader('Referrer-Policy', 'no-referrer')
    res.writeHeader('Cross-Origin-Opener-Policy', 'same-origin')
    res.writeHeader('Cross-Origin-Resource-Policy', isForAll ? 'cross-origin' : 'same-origin')
    if (isForAll) res.writeHeader('Access-Control-Allow-Origin', '*')
    res.writeHeader('Cache-Control', caching)
    res.writeHeader('Vary', 'Accept-Encoding')
    if (zip) res.writeHeader('Content-Encoding', 'gzip')
    // as fast as the reader takes it: nothing is copied for one that does not read
    sendLarge(res, body, () => {})
  }
}

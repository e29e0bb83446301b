// CORS: pages of the configured origins may use the routes that accept publishable keys.

// Headers visible to pages, besides the safelisted ones (AL-42).
const exposed =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, X-Service-Warning, X-Next-Cursor, ETag'

/** The header line of answers that name no origin: it says which headers a page may read (section 8, rule 6). */
export const exposedLine = `\r\nAccess-Control-Expose-Headers: ${exposed}`

/** The origins whose pages may read responses; null: all. */
export class Cors {
  private readonly lines = new Map<string, string>()
  private readonly anyone = linesFor('*')

  constructor(private readonly origins: readonly string[] | null) {
    for (const origin of origins ?? []) this.lines.set(origin, `${linesFor(origin)}\r\nVary: Origin`)
  }

  /** Header lines for an answer to a page of this origin ('' where the request names none), each after CRLF. */
  linesOf(origin: string): string {
    if (this.origins === null) return this.anyone
    return this.lines.get(origin) ?? `\r\nVary: Origin${exposedLine}`
  }
}

const linesFor = (origin: string): string => `\r\nAccess-Control-Allow-Origin: ${origin}${exposedLine}`

/** Header lines of the response to OPTIONS. `keyHeaders`, `environmentHeaders`: all accepted names (decision 7). */
export function preflightHeaders(
  keyHeaders: readonly string[],
  environmentHeaders: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  // named explicitly for browsers that do not support "*"
  const own = ['Content-Type', 'Content-Encoding', 'If-None-Match', 'X-Service-Signed-Context']
  // "*" allows every header except Authorization
  const allowed = [...own, ...keyHeaders, ...environmentHeaders, 'Authorization', '*']
  return [
    ['Access-Control-Allow-Methods', 'POST, OPTIONS'],
    ['Access-Control-Allow-Headers', allowed.join(', ')],
    ['Access-Control-Max-Age', '86400'],
  ]
}

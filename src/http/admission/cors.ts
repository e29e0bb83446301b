// Which pages may call: those of the origins that are set, and only routes a publishable key opens.

// Shown to browsers, besides the simple ones (AL-42).
const exposed = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, ETag'

/** The origins whose pages may read answers; null: all. */
export class Cors {
  private readonly lines = new Map<string, string>()
  private readonly anyone = linesFor('*')

  constructor(private readonly origins: readonly string[] | null) {
    for (const origin of origins ?? []) this.lines.set(origin, `${linesFor(origin)}\r\nVary: Origin`)
  }

  /** Header lines for an answer to a page of this origin ('' where the request names none), each after CRLF. */
  linesOf(origin: string): string {
    if (this.origins === null) return this.anyone
    return this.lines.get(origin) ?? '\r\nVary: Origin'
  }
}

const linesFor = (origin: string): string =>
  `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Expose-Headers: ${exposed}`

/** The header lines of an answer to OPTIONS. `keyHeaders`, `environmentHeaders`: every accepted name (decision 7). */
export function preflightHeaders(
  keyHeaders: readonly string[],
  environmentHeaders: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  // Engines that do not know "*" still find the names that matter.
  const own = ['Content-Type', 'Content-Encoding', 'If-None-Match', 'X-Service-Signed-Context']
  // "*" stands for every header but this one.
  const allowed = [...own, ...keyHeaders, ...environmentHeaders, 'Authorization', '*']
  return [
    ['Access-Control-Allow-Methods', 'POST, OPTIONS'],
    ['Access-Control-Allow-Headers', allowed.join(', ')],
    ['Access-Control-Max-Age', '86400'],
  ]
}

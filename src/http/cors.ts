// Preflight: pages of any origin may call, with any header a client library sends along.

/** The header lines of an answer to OPTIONS. `keyHeaders`, `environmentHeaders`: every accepted name (decision 7). */
export function preflightHeaders(
  keyHeaders: readonly string[],
  environmentHeaders: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  // Engines that do not know "*" still find the names that matter.
  const known = [
    'Content-Type',
    'Content-Encoding',
    'If-None-Match',
    'X-Service-Signed-Context',
    ...keyHeaders,
    ...environmentHeaders,
  ]
  // "*" stands for every header but this one.
  const allowed = [...known, 'Authorization', '*']
  return [
    ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    ['Access-Control-Allow-Headers', allowed.join(', ')],
    ['Access-Control-Max-Age', '86400'],
  ]
}

// Answers read without rounding: integers beyond 2^53 − 1 become bigints.

/** A text or a number of JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g
const integer = /^-?\d+$/

/**
 * JSON.parse, but an integer beyond ±(2^53 − 1) is a bigint with all its digits. Other values are as JSON.parse has them.
 *
 * errors  SyntaxError for a text that is not JSON.
 */
export function parseExact(text: string): unknown {
  // No text of the answer begins with so many of the mark's characters.
  const mark = '#'.repeat((text.match(/#|\\u0023/g)?.length ?? 0) + 1)
  const isExact = (token: string) => !integer.test(token) || Number.isSafeInteger(Number(token))
  const marked = text.replace(tokens, token => (isExact(token) ? token : `"${mark}${token}"`))
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

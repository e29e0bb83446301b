// JSON text with integers of any length: JSON.parse would round those beyond 2^53 − 1.

const [quote, backslash, minus, zero, nine] = ['"', '\\', '-', '0', '9'].map(one => one.charCodeAt(0))

/** The index of the closing quote of the string that opens at `start`, or the end of a text that lacks it. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && escaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** Whether an odd number of backslashes precedes the index. */
export function escaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before--
  return (index - before) % 2 === 0
}

const longInteger = /^-?[1-9]\d{15,}$/
const longDigits = /\d{16}/

/** The text with every integer of 16 or more digits, outside strings, as a string that begins with the mark. */
function withMarks(text: string, mark: string): string {
  let marked = ''
  let keptTo = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === minus || (code >= zero! && code <= nine!)) {
      const from = i
      while (numeric.has(text.charCodeAt(i + 1))) i++
      const token = text.slice(from, i + 1)
      if (token.length < 16 || !longInteger.test(token)) continue
      marked += `${text.slice(keptTo, from)}"${mark}${token}"`
      keptTo = i + 1
    }
  }
  return keptTo === 0 ? text : marked + text.slice(keptTo)
}

const numeric: ReadonlySet<number> = new Set([...'0123456789.eE+-'].map(character => character.charCodeAt(0)))

/**
 * Parse JSON text with exact integers in some members: a bigint if a number would lose digits.
 *
 * mark     a random text: no string of the text begins with it.
 * members  their names; other members are parsed as by JSON.parse. Absent: all members.
 * errors   SyntaxError.
 */
export function parseMarked(text: string, mark: string, members?: ReadonlySet<string>): unknown {
  const marked = longDigits.test(text) ? withMarks(text, mark) : text
  if (marked === text) return JSON.parse(text)
  return JSON.parse(marked, (name, member: unknown) => {
    if (typeof member !== 'string' || !member.startsWith(mark)) return member
    const digits = member.slice(mark.length)
    const number = Number(digits)
    return Number.isSafeInteger(number) || members?.has(name) === false ? number : BigInt(digits)
  })
}

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
const manyDigits = /\d[\d.]{15}/
const numberForm = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** Digits of the largest number that JSON.parse reads. */
const digitsMax = 309

/** Whether JSON text may have whole numbers that JSON.parse rounds; false is certain. */
export function mayBeRounded(text: string): boolean {
  return manyDigits.test(text)
}

/** Whether every number of a parsed value is one: JSON.parse makes Infinity of those beyond 1e308 (L7). */
export function allFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  for (const name in value) if (!allFinite((value as Readonly<Record<string, unknown>>)[name])) return false
  return true
}

/** The digits of a whole number written with a fraction or an exponent; null: it is not whole, or beyond 1e308. */
function wholeDigits(token: string): string | null {
  const form = numberForm.exec(token)
  if (form === null) return null
  const [, sign, whole, fraction = '', exponent = '0'] = form
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '')
  const zeros = Number(exponent) - fraction.length
  const kept = zeros < 0 ? digits.slice(0, zeros) : digits
  if (zeros < 0 && /[1-9]/.test(digits.slice(zeros))) return null
  const length = kept.length + Math.max(zeros, 0)
  return kept === '' || length > digitsMax ? null : `${sign}${kept}${'0'.repeat(Math.max(zeros, 0))}`
}

/**
 * The text with every integer of 16 or more digits, outside strings, as a string that begins with the mark.
 *
 * forms  also whole numbers that are written with a fraction or an exponent.
 */
function withMarks(text: string, mark: string, forms: boolean): string {
  let marked = ''
  let keptTo = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === minus || (code >= zero! && code <= nine!)) {
      const from = i
      while (numeric.has(text.charCodeAt(i + 1))) i++
      const token = text.slice(from, i + 1)
      if (token.length < 16) continue
      const digits = longInteger.test(token) ? token : forms ? wholeDigits(token) : null
      if (digits === null || digits.length > digitsMax) continue
      marked += `${text.slice(keptTo, from)}"${mark}${digits}"`
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
 * members  their names; other members are parsed as by JSON.parse. Absent: all members, and a whole number may be
 *          written with a fraction or an exponent.
 * errors   SyntaxError.
 */
export function parseMarked(text: string, mark: string, members?: ReadonlySet<string>): unknown {
  const forms = members === undefined
  const isLong = forms ? manyDigits.test(text) : longDigits.test(text)
  const marked = isLong ? withMarks(text, mark, forms) : text
  if (marked === text) return JSON.parse(text)
  return JSON.parse(marked, (name, member: unknown) => {
    if (typeof member !== 'string' || !member.startsWith(mark)) return member
    const digits = member.slice(mark.length)
    const number = Number(digits)
    return Number.isSafeInteger(number) || members?.has(name) === false ? number : BigInt(digits)
  })
}

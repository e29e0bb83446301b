// JSON text with integers of any length: JSON.parse would round those beyond 2^53 − 1.

const backslash = '\\'.charCodeAt(0)

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
export function wholeDigits(token: string): string | null {
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

/** Characters of the shortest number that JSON.parse may round, with its sign. */
const roundedMin = 16
/** Longer numbers are none that anybody means: they are not read exactly (security H5). */
const lengthMax = 4 * digitsMax
/**
 * A number of 15 characters and more, or a part of a string that looks like one; its first `lengthMax` characters. Without a
 * bound a megabyte of digits takes a sixth of a second, as each digit is kept to come back to.
 */
const longNumber = new RegExp(`-?\\d[\\d.eE+-]{14,${lengthMax}}`, 'g')
const endOfNumber = /[^\d.eE+-]/g

/**
 * The text with every integer of 16 or more digits, outside strings, as a string that begins with the mark.
 *
 * forms  also whole numbers that are written with a fraction or an exponent.
 */
function withMarks(text: string, mark: string, forms: boolean): string {
  let marked = ''
  let keptTo = 0
  let open = text.indexOf('"')
  let closed = -1
  longNumber.lastIndex = 0
  // numbers and quotes are found by native code: a loop over the characters takes a tenth of a second for a megabyte of digits
  for (let found = longNumber.exec(text); found !== null; found = longNumber.exec(text)) {
    const { index, 0: token } = found
    while (open >= 0 && open < index) {
      closed = endOfString(text, open)
      open = text.indexOf('"', closed + 1)
    }
    if (index < closed) {
      longNumber.lastIndex = closed + 1
      continue
    }
    if (token.length < roundedMin) continue
    if (token.length > lengthMax) {
      endOfNumber.lastIndex = index + token.length
      longNumber.lastIndex = endOfNumber.exec(text)?.index ?? text.length
      continue
    }
    const digits = longInteger.test(token) ? token : forms ? wholeDigits(token) : null
    if (digits === null || digits.length > digitsMax) continue
    marked += `${text.slice(keptTo, index)}"${mark}${digits}"`
    keptTo = index + token.length
  }
  return keptTo === 0 ? text : marked + text.slice(keptTo)
}

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
  return unmarked(JSON.parse(marked), forms, { mark, members })
}

/** A parsed value with numbers in place of marked texts. A function for JSON.parse would cost a microsecond a value. */
function unmarked(
  value: unknown,
  isExact: boolean,
  marks: { readonly mark: string; readonly members: ReadonlySet<string> | undefined },
): unknown {
  const { mark, members } = marks
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value
    const digits = value.slice(mark.length)
    const number = Number(digits)
    return Number.isSafeInteger(number) || !isExact ? number : BigInt(digits)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const [i, entry] of value.entries()) value[i] = unmarked(entry, members === undefined, marks)
    return value
  }
  const object = value as Record<string, unknown>
  for (const name of Object.keys(object)) {
    const member = object[name]
    if (typeof member === 'object' ? member !== null : typeof member === 'string')
      object[name] = unmarked(member, members === undefined || members.has(name), marks)
  }
  return object
}

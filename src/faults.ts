// Faults of values in words: the path of the member, what came, and what would be right. Validators describe
// types in the notation of the compiler, which no caller reads; this file is the one place that translates it (S4).

/** One finding of a validator made by typia. */
export interface SchemaFault {
  /** `$input.keys.id`, `$input[3].name`. */
  readonly path: string
  /** The type in the compiler's notation. */
  readonly expected: string
  readonly value?: unknown
}

const faultsMax = 3
const pathLengthMax = 100
/** Words of an enumeration that a message lists; of longer ones it names the nearest. */
const wordsMax = 8

/**
 * The first faults as one line.
 *
 * root  the name of the value itself, e.g. `body`.
 */
export function faultsText(faults: readonly SchemaFault[], root = 'body'): string {
  return faults
    .slice(0, faultsMax)
    .map(fault => faultText(fault, root))
    .join('; ')
}

/** One fault. No text of the caller is repeated: it may be a secret. */
export function faultText({ path, expected, value }: SchemaFault, root = 'body'): string {
  const member = path.replace(/^\$input\.?/, '').slice(0, pathLengthMax) || root
  const wanted = wordsOf(expected, value)
  return value === undefined
    ? `${member} is required: ${wanted}`
    : `${member}: expected ${wanted}, got ${kindOf(value)}`
}

/** The kind of a value, in words. */
function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === '') return 'an empty text'
  if (typeof value === 'string') return value.length > 255 ? `a text of ${value.length} characters` : 'a text'
  if (typeof value === 'bigint') return 'a number beyond 2^53'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number beyond 1e308'
  if (typeof value === 'number')
    return Number.isInteger(value) ? `the number ${value}` : `the number ${value}, which is not whole`
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  return 'an object'
}

/** A type of the compiler's notation, in words. */
function wordsOf(expected: string, value: unknown): string {
  const kinds = new Set<string>()
  const literals: string[] = []
  for (const one of alternatives(expected)) {
    if (one === 'undefined' || one === '') continue
    if (/^(".*"|-?\d+(\.\d+)?)$/s.test(one)) literals.push(one)
    else kinds.add(one === 'null' ? 'null' : kindWords(one))
  }
  const isNullable = kinds.delete('null')
  const words = [...(literals.length > 0 ? [literalWords(literals, value)] : []), ...kinds]
  if (isNullable || words.length === 0) words.push('null')
  return words.join(' or ')
}

/** One of a closed list: all of a short one, the nearest of a long one. */
function literalWords(literals: readonly string[], value: unknown): string {
  if (literals.length === 1) return literals[0]!
  if (literals.length <= wordsMax) return `one of ${literals.toSorted().join(', ')}`
  const words = literals.map(one => one.replaceAll('"', ''))
  const near = typeof value === 'string' ? nearest(value, words) : null
  const some = near ?? words.toSorted()[0]!
  return `one of ${literals.length} words, such as "${some}"`
}

/** A type with its tags: `string & MinLength<1> & MaxLength<255>`. */
function kindWords(type: string): string {
  const [base = '', ...tags] = split(type, '&')
  const tag = (name: string): string | null => {
    const found = tags.find(one => one.startsWith(`${name}<`))
    return found === undefined ? null : found.slice(name.length + 1, -1).replaceAll('"', '')
  }
  if (base === 'string') return textWords(tag)
  if (base === 'number' || base === 'bigint') return numberWords(tag)
  if (base === 'boolean' || base === 'true' || base === 'false')
    return base === 'boolean' ? 'true or false' : base
  if (/^(Readonly)?Array<|\[\]$|^\[/.test(base))
    return `a list${countWords(tag('MinItems'), tag('MaxItems'), 'entries')}`
  return 'an object'
}

type Tag = (name: string) => string | null

function textWords(tag: Tag): string {
  const format = tag('Format')
  if (format === 'date-time') return 'a date and time with its zone, as 2024-01-02T03:04:05Z'
  if (format === 'uri' || format === 'url') return 'a web address'
  if (format === 'email') return 'an e-mail address'
  const pattern = tag('Pattern')
  if (pattern !== null && /\\d|0-9/.test(pattern)) return 'decimal digits in quotes, as "12.50"'
  if (pattern !== null) return 'a text of the documented form'
  return `a text${countWords(tag('MinLength'), tag('MaxLength'), 'characters')}`
}

function numberWords(tag: Tag): string {
  const type = tag('Type') ?? ''
  const isWhole = /int/.test(type)
  const least = tag('Minimum') ?? (type.startsWith('uint') ? '0' : null)
  const above = tag('ExclusiveMinimum')
  const most = tag('Maximum') ?? tag('ExclusiveMaximum')
  const noun = isWhole ? 'a whole number' : 'a number'
  if (above !== null) return `${noun} above ${above}${most === null ? '' : `, at most ${most}`}`
  if (least !== null && most !== null) return `${noun} from ${least} to ${most}`
  if (least !== null) return `${noun} of at least ${least}`
  if (most !== null) return `${noun} of at most ${most}`
  return type.includes('64') ? `${noun} of 64 bits` : noun
}

function countWords(least: string | null, most: string | null, noun: string): string {
  if (least !== null && most !== null) return ` of ${least} to ${most} ${noun}`
  if (least !== null)
    return ` of at least ${least} ${least === '1' ? noun.replace(/ies$/, 'y').replace(/s$/, '') : noun}`
  return most === null ? '' : ` of at most ${most} ${noun}`
}

const alternatives = (type: string): readonly string[] =>
  split(type, '|').flatMap(one => (one.startsWith('(') && one !== type ? alternatives(one) : [one]))

/** Parts at the top level, outside brackets and quotes; brackets around a part are dropped. */
function split(type: string, at: '|' | '&'): string[] {
  const text = bare(type)
  const parts: string[] = []
  let depth = 0
  let isQuoted = false
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!
    if (letter === '"' && text[i - 1] !== '\\') isQuoted = !isQuoted
    if (isQuoted) continue
    if ('(<[{'.includes(letter)) depth++
    else if (')>]}'.includes(letter)) depth--
    else if (letter === at && depth === 0) {
      parts.push(bare(text.slice(from, i)))
      from = i + 1
    }
  }
  parts.push(bare(text.slice(from)))
  return parts
}

/** Without blanks and the brackets around all of it. */
function bare(type: string): string {
  const text = type.trim()
  if (!text.startsWith('(') || !text.endsWith(')')) return text
  let depth = 0
  for (let i = 0; i < text.length - 1; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')' && --depth === 0) return text
  }
  return bare(text.slice(1, -1))
}

/**
 * The nearest of some names by edits, where it is near enough to be meant; else null. `given` may be of any length: only
 * its first characters are looked at.
 */
export function nearest(given: string, names: Iterable<string>): string | null {
  const text = given.slice(0, 64)
  let best: string | null = null
  let least = Math.max(1, Math.floor(text.length / 3)) + 1
  for (const name of names) {
    if (Math.abs(name.length - text.length) >= least) continue
    const edits = distance(text.toLowerCase(), name.toLowerCase())
    if (edits < least) [best, least] = [name, edits]
  }
  return best
}

/** Edits between two texts: letters added, dropped, replaced, and neighbours exchanged. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let edits = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, before[j - 2]! + 1)
      next.push(edits)
    }
    before = row
    row = next
  }
  return row[b.length]!
}

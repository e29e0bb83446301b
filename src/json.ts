// What JSON text may not hold: endless nesting and U+0000, whoever parses it; half a surrogate pair in definitions.
// And integers beyond 2^53 − 1, which JSON.parse rounds and JSON.stringify refuses: read and written with all digits.
import { type Buffer, isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { ascii } from './bytes/ascii.js'
import { ServiceError } from './errors.js'

/**
 * Bytes as text.
 *
 * errors  body_malformed (400) where they are no UTF-8: two different names would become one.
 */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString()
  if (text.includes('\ufffd') && !isUtf8(bytes))
    throw new ServiceError('body_malformed', 'The request body is not valid UTF-8')
  return text
}

/** Deepest nesting of arrays and objects; serialising one deeper could exhaust the stack. */
export const depthMax = 64

/**
 * Refuses what no store and no serialiser should meet: nesting beyond `depthMax`, and U+0000.
 * Handlers of raw bodies call it on what they keep.
 */
export function assertPlain(text: string): void {
  if (tooDeep(text, depthMax))
    throw new ServiceError('body_malformed', `The request body is nested deeper than ${depthMax}`)
  if (hasNul(text)) throw new ServiceError('body_malformed', 'The request body contains U+0000')
}

/** Whether JSON text nests deeper than `max`. Text with few brackets is answered by counting them. */
export function tooDeep(text: string, max: number): boolean {
  // Every level costs an opening and, sooner or later, a closing bracket.
  if (text.length < 2 * max || fewBrackets(text, max)) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if ((code | 0x20) === 0x7b && ++depth > max) return true
    else if ((code | 0x20) === 0x7d) depth--
  }
  return false
}

/** Deepest level of a list of events that is parsed: deeper than any event may be, so that each is judged by itself. */
const parsedDepthMax = depthMax + 36

/** JSON text of a list of things, as it may be parsed. */
export interface Outline {
  /** The text; what lies deeper than an event may be is replaced by 0. */
  readonly text: string
  /** Entries of the longest list that is the text itself or a member of it; 0 where they are few. */
  readonly entries: number
}

/**
 * Look over JSON text before it is parsed: how many entries its lists have, and how deep it is nested.
 *
 * returns  the text with everything nested deeper than 100 levels replaced by 0: what is left is still too deep for an
 *          event, and is refused by the rule of that one event (decision 3). Text that is no JSON stays none.
 */
export function outline(text: string): Outline {
  if (text.length < 2 * entriesSkipped && fewBrackets(text, parsedDepthMax)) return { text, entries: 0 }
  let depth = 0
  /** Entries so far of the list at each of the first two levels. */
  let outer = 1
  let inner = 1
  let entries = 0
  let kept = ''
  let keptTo = 0
  let cutFrom = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === comma) {
      if (depth === 2) inner++
      else if (depth === 1) outer++
    } else if ((code | 0x20) === 0x7b) {
      depth++
      if (depth === 2) inner = 1
      else if (depth === parsedDepthMax + 1) cutFrom = i
    } else if ((code | 0x20) === 0x7d) {
      if (code === bracketClose && depth <= 2) entries = Math.max(entries, depth === 2 ? inner : outer)
      if (depth === parsedDepthMax + 1) {
        kept += `${text.slice(keptTo, cutFrom)}0`
        keptTo = i + 1
      }
      depth--
    }
  }
  // what never ends is no JSON, and must not be parsed to find out
  if (depth > parsedDepthMax) return { text: '', entries }
  return { text: keptTo === 0 ? text : kept + text.slice(keptTo), entries }
}

/** Fewer entries than this are not counted: a text too short for them is not looked over. */
const entriesSkipped = 10_000

const { quote, backslash, comma, minus, zero, nine, bracketClose } = ascii

// The loops of `indexOf` run in native code: cheaper than looking at every character of an ordinary body.
function fewBrackets(text: string, max: number): boolean {
  let count = 0
  for (let i = text.indexOf('{'); i >= 0; i = text.indexOf('{', i + 1)) if (++count > max) return false
  for (let i = text.indexOf('['); i >= 0; i = text.indexOf('[', i + 1)) if (++count > max) return false
  return true
}

// The index of the closing quote, or the end of a text that lacks it.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && escaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

// Whether an odd number of backslashes stands before the index.
function escaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before--
  return (index - before) % 2 === 0
}

/** Whether JSON text holds an escaped U+0000. (A bare one is no JSON.) */
export function hasNul(text: string): boolean {
  for (let i = text.indexOf('\\u0000'); i >= 0; i = text.indexOf('\\u0000', i + 1))
    if (!escaped(text, i)) return true
  return false
}

/**
 * Whether JSON text holds an escaped half of a surrogate pair: no text, so no store would give it back as it was.
 * (A bare one cannot be: it is no UTF-8.)
 */
export function hasHalfPair(text: string): boolean {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return false
  // behind an escaped backslash the first is no half at all, and the second stands alone
  for (const { index, 1: second } of text.matchAll(surrogateEscape))
    if (escaped(text, index) !== (second === undefined)) return true
  return false
}

/** Half a surrogate pair in a text (in JSON text it is an escape: `hasHalfPair`). */
export const halfPair = /\p{Surrogate}/u

/** A high half, with its low half behind it when there is one; or a low half alone. */
const surrogateEscape = /\\u(?:d[89ab][0-9a-f]{2}(\\ud[c-f][0-9a-f]{2})?|d[c-f][0-9a-f]{2})/gi

/** What stands before the digits of a bigint while it crosses JSON.parse or JSON.stringify as a text; nobody can guess it. */
const mark = `${randomUUID()}:`
const markedNumber = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/**
 * JSON text of a value that may hold bigints: each is written as its digits.
 *
 * Only a value that does hold one costs more than JSON.stringify.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const text = JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'bigint' ? `${mark}${member}` : member,
    )
    return text.replaceAll(markedNumber, '$1')
  }
}

const longInteger = /^-?[1-9]\d{15,}$/

/** The text with every integer of 16 digits and more in it, outside of strings, as a marked string. */
function withMarks(text: string): string {
  let marked = ''
  let keptTo = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === minus || (code >= zero && code <= nine)) {
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
 * JSON text parsed with the integers of some members exact: a bigint where a number would lose digits.
 *
 * members  their names; everything else is what JSON.parse gives.
 * errors   SyntaxError.
 */
export function parseExactly(text: string, members: ReadonlySet<string>): unknown {
  const marked = withMarks(text)
  if (marked === text) return JSON.parse(text)
  return JSON.parse(marked, (name, member: unknown) => {
    if (typeof member !== 'string' || !member.startsWith(mark)) return member
    const digits = member.slice(mark.length)
    const number = Number(digits)
    return Number.isSafeInteger(number) || !members.has(name) ? number : BigInt(digits)
  })
}

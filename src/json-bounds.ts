// Bounds of JSON text, judged before it is parsed: its depth, its number of values, and U+0000.
import { ascii } from './bytes/ascii.js'
import { endOfString, escaped } from './core/values/exact-json.js'
import { ServiceError } from './errors.js'

/** Deepest nesting of arrays and objects; deeper ones could exhaust the stack when serialised. */
export const depthMax = 64

/**
 * Refuse text with nesting beyond `depthMax`, with more values than its length allows, or with U+0000. Handlers of raw
 * bodies call it on the text that they store.
 *
 * isOne  the text is a check or an event: it holds fewer values than other bodies may.
 */
export function assertPlain(text: string, isOne = false): void {
  if (tooDeep(text, depthMax))
    throw new ServiceError('body_malformed', `The request body is nested deeper than ${depthMax}`)
  if (isOne ? tooManyOfOne(text) : tooManyValues(text)) throw manyValues(isOne)
  if (hasNul(text)) throw new ServiceError('body_malformed', 'The request body contains U+0000')
}

/**
 * Values that JSON text may hold beside one for every 10 characters: an honest member takes more than these, and the
 * shortest events of a batch 11 (EV-4). A value costs memory and time however short its text is (security H5).
 */
const valuesFree = 10_000

const valueLength = 10

/** Members of objects likewise: V8 keeps each name that it has not met, which costs two microseconds (security H5). */
const memberLength = 32

const valuesMax = (text: string): number => valuesFree + Math.floor(text.length / valueLength)

export const manyValues = (isOne = false): ServiceError =>
  new ServiceError(
    'body_malformed',
    `The request body holds too many values: at most ${valuesFree}` +
      (isOne ? '' : `, one more for every ${valueLength} characters, and a member for every ${memberLength}`),
  )

function tooManyOfOne(text: string): boolean {
  return text.length >= valuesFree && hasMore(text, valuesFree, signs) && countValues(text) > valuesFree
}

/**
 * Whether JSON text holds more values, or members of objects, than its length allows. Commas and brackets are counted,
 * except in strings and below the depth that is parsed, and colons except in strings.
 */
export function tooManyValues(text: string): boolean {
  if (holdsMore(text, countValues)) return true
  const max = valuesFree + Math.floor(text.length / memberLength)
  return text.length >= valuesFree && hasMore(text, max, [':']) && countMembers(text) > max
}

/** Colons of JSON text outside strings. */
function countMembers(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === colon) count++
  }
  return count
}

/** `tooManyValues` of a body with one JSON text on each line: a line that never closes hides no other. */
export function tooManyInLines(text: string): boolean {
  return holdsMore(text, () => text.split('\n').reduce((count, line) => count + countValues(line), 0))
}

/** Whether text holds more values than its length allows. Text with few signs of values is not counted. */
function holdsMore(text: string, count: (text: string) => number): boolean {
  // a value has a comma or a bracket of its own
  if (text.length < valuesFree) return false
  const max = valuesMax(text)
  return hasMore(text, max, signs) && count(text) > max
}

/** Commas and brackets of JSON text outside strings, down to the depth that is parsed. */
function countValues(text: string): number {
  let count = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === comma) {
      if (depth <= parsedDepthMax) count++
    } else if ((code | 0x20) === 0x7b) {
      if (++depth <= parsedDepthMax) count++
    } else if ((code | 0x20) === 0x7d) depth--
  }
  return count
}

/** Whether JSON text nests deeper than `max`. Text with few brackets needs only a count of them. */
export function tooDeep(text: string, max: number): boolean {
  // every level has an opening and, sooner or later, a closing bracket
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

/**
 * Deepest nesting of a list of events that is parsed: deeper than an event may be, so that each is validated on its
 * own.
 */
const parsedDepthMax = depthMax + 36

/** JSON text prepared for parsing. */
interface Outline {
  /** The text; values nested too deep are replaced by 0. */
  readonly text: string
  /** Length of the longest list at the first two levels; 0 if it is short. */
  readonly entries: number
  /** The text that is left holds more values than its length allows, as `tooManyValues` says. */
  readonly isCrowded: boolean
}

/**
 * Scan JSON text before it is parsed, for the length of its lists and its depth.
 *
 * returns  the text with everything below 100 levels replaced by 0. The rest is still too deep for an event and fails
 *          the rule for that single event (decision 3). Invalid JSON stays invalid.
 */
export function outline(text: string): Outline {
  if (text.length < 2 * entriesSkipped && fewBrackets(text, parsedDepthMax))
    return { text, entries: 0, isCrowded: false }
  let depth = 0
  /** Entries so far in the list at each of the first two levels. */
  let outer = 1
  let inner = 1
  let entries = 0
  let kept = ''
  let keptTo = 0
  let cutFrom = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (code === comma) {
      if (depth <= parsedDepthMax) values++
      if (depth === 2) inner++
      else if (depth === 1) outer++
    } else if ((code | 0x20) === 0x7b) {
      depth++
      if (depth <= parsedDepthMax) values++
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
  const isCrowded = values > valuesMax(text)
  // an unclosed value is not JSON; return at once instead of parsing it
  if (depth > parsedDepthMax) return { text: '', entries, isCrowded }
  return { text: keptTo === 0 ? text : kept + text.slice(keptTo), entries, isCrowded }
}

/** Shorter lists are not counted: a text too short for this number is not scanned. */
const entriesSkipped = 10_000

const { quote, comma, colon, bracketClose } = ascii

/** Each value has one of its own. */
const signs = [',', '{', '[']

// `indexOf` runs in native code, which is faster than a loop over the characters of an ordinary body.
const fewBrackets = (text: string, max: number): boolean => !hasMore(text, max, ['{', '['])

function hasMore(text: string, max: number, signs: readonly string[]): boolean {
  let count = 0
  for (const sign of signs)
    for (let i = text.indexOf(sign); i >= 0; i = text.indexOf(sign, i + 1)) if (++count > max) return true
  return false
}

/** Whether JSON text contains an escaped U+0000. (An unescaped one is invalid JSON.) */
export function hasNul(text: string): boolean {
  for (let i = text.indexOf('\\u0000'); i >= 0; i = text.indexOf('\\u0000', i + 1))
    if (!escaped(text, i)) return true
  return false
}

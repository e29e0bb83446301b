// What JSON text may not hold: endless nesting and U+0000, whoever parses it; half a surrogate pair in definitions.
import { ascii } from './core/ascii.js'
import { ServiceError } from './errors.js'

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

const { quote, backslash } = ascii

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

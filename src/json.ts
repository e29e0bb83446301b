// Reads and writes JSON with integers beyond 2^53 − 1 exactly, which JSON.parse rounds and JSON.stringify refuses; finds
// unpaired surrogates.
import { Buffer, isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { allFinite, escaped, mayBeRounded, parseMarked } from './core/values/exact-json.js'
import { ServiceError } from './errors.js'

/**
 * Decode bytes as UTF-8.
 *
 * errors  body_malformed (400) for invalid UTF-8: replacement characters would make different names equal.
 */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString()
  if (text.includes('\ufffd') && !isUtf8(bytes))
    throw new ServiceError('body_malformed', 'The request body is not valid UTF-8')
  return text
}

export { allFinite, mayBeRounded }

/**
 * Whether JSON text contains an escaped unpaired surrogate, which stores cannot keep. (An unescaped one is invalid
 * UTF-8.)
 */
export function hasHalfPair(text: string): boolean {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return false
  // after an escaped backslash the first is not an escape, and the second is unpaired
  for (const { index, 1: second } of text.matchAll(surrogateEscape))
    if (escaped(text, index) !== (second === undefined)) return true
  return false
}

/** An unpaired surrogate in a decoded text. (For JSON text see `hasHalfPair`.) */
export const halfPair = /\p{Surrogate}/u

/** A high surrogate, with its low surrogate if it follows; or a low surrogate alone. */
const surrogateEscape = /\\u(?:d[89ab][0-9a-f]{2}(\\ud[c-f][0-9a-f]{2})?|d[c-f][0-9a-f]{2})/gi

/** Prefix of a bigint's digits while it passes JSON.parse or JSON.stringify as a string. It cannot be guessed. */
const mark = `${randomUUID()}:`
const markedNumber = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/**
 * JSON text of a value that may contain bigints, written as digits, and texts that are JSON already (`asWritten`). Values
 * without them cost no more than with JSON.stringify.
 */
export function jsonText(value: unknown): string {
  const outer = written
  written = []
  try {
    const text = stringified(value)
    return written.length === 0 ? text : piecesOf(text).join('')
  } finally {
    written = outer
  }
}

/** JSON in parts that follow each other: texts and bytes. */
export type Pieces = readonly (string | Uint8Array)[]

/** The same in pieces, for answers of which most is written already: those parts are not copied into a longer text. */
export function jsonPieces(value: unknown): Pieces {
  const outer = written
  written = []
  try {
    return piecesOf(stringified(value)).map(piece => (typeof piece === 'string' ? piece : piece.json))
  } finally {
    written = outer
  }
}

function stringified(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    written = []
    const text = JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'bigint' ? `${mark}${member}` : member,
    )
    return text.replaceAll(markedNumber, '$1')
  }
}

/** The texts met by the present `jsonText`, in order; null outside of it. */
let written: Written[] | null = null
const place = `"${mark}"`

function piecesOf(text: string): (string | Written)[] {
  const pieces: (string | Written)[] = []
  let from = 0
  for (const one of written ?? []) {
    const at = text.indexOf(place, from)
    pieces.push(text.slice(from, at), one)
    from = at + place.length
  }
  pieces.push(text.slice(from))
  return pieces
}

/** A value that is JSON already: text, or its bytes. */
class Written {
  constructor(readonly json: string | Uint8Array) {}

  toString(): string {
    return typeof this.json === 'string' ? this.json : Buffer.from(this.json).toString()
  }

  /** A placeholder for `jsonText`; elsewhere the value itself. */
  toJSON(): unknown {
    if (written === null) return parseExactly(this.toString())
    written.push(this)
    return mark
  }
}

/**
 * JSON as a member of a value that `jsonText` writes: it is inserted as it is. The result stands for the value that it
 * describes; only `jsonText` and JSON.stringify can read it.
 */
export function asWritten<T>(json: string | Uint8Array): T {
  return new Written(json) as T
}

/**
 * Parse JSON text with exact integers in some members: a bigint if a number would lose digits.
 *
 * members  their names; other members are parsed as by JSON.parse. Absent: all members.
 * errors   SyntaxError.
 */
export function parseExactly(text: string, members?: ReadonlySet<string>): unknown {
  return parseMarked(text, mark, members)
}

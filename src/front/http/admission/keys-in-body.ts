// Finds the API keys in a collector's body by searching its bytes. The caller is not authenticated yet, so nothing is
// decompressed, decoded or parsed.
import { Buffer } from 'node:buffer'
import { contextLengthMax } from '../../../account/signed-contexts.js'
import { ascii } from '../../../bytes/ascii.js'

/** Largest body searched for keys, bytes; a larger one needs a key in a header. */
export const keylessBytesMax = 65_536

/** Most distinct keys in one body; more suggest guessing. */
export const keysNamedMax = 10

const valueBytesMax = 256
/** Most positions searched. */
const placesMax = 100
const member = Buffer.from('"api_key"')
const { quote, backslash, colon } = ascii

/**
 * The distinct keys in a body, as `"api_key": "…"`, in order, at most `keysNamedMax`.
 *
 * body  as received, not compressed. Names and values with escapes are not found: keys have none.
 */
export function namedKeys(body: Buffer): readonly string[] {
  const found = new Set<string>()
  let at = body.indexOf(member)
  for (let place = 0; at >= 0 && place < placesMax && found.size < keysNamedMax; place++) {
    const from = valueAt(body, at + member.length)
    const end = from < 0 ? -1 : endOf(body, from)
    if (end > from) found.add(body.toString('latin1', from, end))
    at = body.indexOf(member, at + member.length)
  }
  return [...found]
}

const contextMember = '"signed_context"'

/** The signed context in a body, as `"signed_context": "…"`; '' for none. */
export function namedContext(body: Buffer): string {
  const at = body.indexOf(contextMember, 0, 'latin1')
  const from = at < 0 ? -1 : valueAt(body, at + contextMember.length)
  const end = from < 0 ? -1 : endOf(body, from, contextLengthMax)
  return end > from ? body.toString('latin1', from, end) : ''
}

/** Position of the string value after a name; -1 if there is none. */
function valueAt(body: Buffer, nameEnd: number): number {
  let at = skipBlanks(body, nameEnd)
  if (body[at] !== colon) return -1
  at = skipBlanks(body, at + 1)
  return body[at] === quote ? at + 1 : -1
}

function skipBlanks(body: Buffer, from: number): number {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++
  return at
}

/** End of a string of printable ASCII; -1 if it is longer or has other characters. */
function endOf(body: Buffer, from: number, most = valueBytesMax): number {
  for (let at = from; at <= from + most; at++) {
    const byte = body[at]
    if (byte === quote) return at
    if (byte === undefined || byte === backslash || byte <= 0x20 || byte > 0x7e) return -1
  }
  return -1
}

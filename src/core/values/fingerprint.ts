// A small print of what an event says: two events under one idempotency key are compared by it. Worked out here and by
// ClickHouse (sql/clickhouse/0001_events_and_keys.sql), which knows CRC-32 too.
import type { Quantity } from './quantity.js'

/** Fingerprint of an event whose content is unknown: equal to any. */
export const unknownPrint = 0

const table = new Uint32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  table[byte] = rest
}

/** The common prefix of company ids adds nothing. */
const idPrefixLength = 5

/**
 * The print of an event: type, name, quantity, company. Only use is compared by company: identify events and flag checks
 * give '' for theirs.
 *
 * name       the part [from, to) of a text with one character for each byte of UTF-8.
 * companyId  '' for none.
 * returns    1 to 65535. Events that differ have the same one once in 65535.
 * source     decision 23: a repeat with other content is reported.
 */
export function printOf(
  type: 'flag_check' | 'identify' | 'inference' | 'track',
  name: string,
  from: number,
  to: number,
  quantity: Quantity,
  companyId: string,
): number {
  let crc = type === 'track' ? trackCrc : crcOf(-1, `${type}\0`)
  for (let i = from; i < to; i++) crc = table[(crc ^ name.charCodeAt(i)) & 0xff]! ^ (crc >>> 8)
  if (quantity === 1) crc = crcOf(crc, '\x001\0')
  else crc = crcOf(crc, `\0${quantity}\0`)
  for (let i = idPrefixLength; i < companyId.length; i++)
    crc = table[(crc ^ companyId.charCodeAt(i)) & 0xff]! ^ (crc >>> 8)
  return ~crc & 0xffff || 1
}

/** The same of a name as text. */
export function printOfText(
  type: Parameters<typeof printOf>[0],
  name: string,
  quantity: Quantity,
  companyId: string,
): number {
  const bytes = inBytes(name)
  return printOf(type, bytes, 0, bytes.length, quantity, companyId)
}

/** A text with one character for each byte of its UTF-8; half a surrogate pair is U+FFFD there. */
function inBytes(text: string): string {
  let isPlain = true
  for (let i = 0; i < text.length && isPlain; i++) isPlain = text.charCodeAt(i) < 0x80
  if (isPlain) return text
  let bytes = ''
  for (const character of text) {
    const given = character.codePointAt(0)!
    const point = given >= 0xd800 && given < 0xe000 ? 0xfffd : given
    if (point < 0x80) bytes += character
    else if (point < 0x800) bytes += String.fromCharCode(0xc0 | (point >> 6), rest(point, 0))
    else if (point < 0x1_0000)
      bytes += String.fromCharCode(0xe0 | (point >> 12), rest(point, 6), rest(point, 0))
    else bytes += String.fromCharCode(0xf0 | (point >> 18), rest(point, 12), rest(point, 6), rest(point, 0))
  }
  return bytes
}

const rest = (point: number, shift: number): number => 0x80 | ((point >> shift) & 0x3f)

/** Whether two events are known to differ. */
export function differ(one: number, other: number): boolean {
  return one !== other && one !== unknownPrint && other !== unknownPrint
}

const trackCrc = crcOf(-1, 'track\0')

function crcOf(crc: number, bytes: string): number {
  let sum = crc
  for (let i = 0; i < bytes.length; i++) sum = table[(sum ^ bytes.charCodeAt(i)) & 0xff]! ^ (sum >>> 8)
  return sum
}

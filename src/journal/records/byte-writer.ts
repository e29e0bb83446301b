// Writes ASCII eight bytes at once: repeated texts, ids, numbers, and received bytes. A write may touch up to seven
// bytes behind its end, which the next write overwrites: the buffer must have room for them.
import { ascii } from '../../bytes/ascii.js'
import { putPackedNumber } from '../../bytes/packed.js'
import { actorIdLength } from '../../core/usage/batch.js'

const { minus, zero } = ascii

/**
 * Repeated bytes, one for each character, written eight at once; bytes behind their end are overwritten by the next write.
 */
export class ByteTemplate {
  readonly length: number
  readonly words: Float64Array
  /** The same words in halves, where one of them is a NaN: as a double that does not keep every bit. null: none is. */
  readonly halves: Int32Array | null

  /** isHalved  the halves are there in any case: its bytes may change. */
  constructor(text: string, isHalved = false) {
    const count = Math.ceil(text.length / wordBytes)
    const words = count > scratch.length ? new Float64Array(count) : scratch
    const bytes = words === scratch ? scratchBytes : Buffer.from(words.buffer)
    bytes.write(text, 'latin1')
    bytes.fill(0, text.length, count * wordBytes)
    this.length = text.length
    this.words = words.slice(0, count)
    this.halves = isHalved || this.words.some(Number.isNaN) ? new Int32Array(this.words.buffer) : null
  }
}

/** Repeated bytes with instants in them, which are written over where they lie: those of `isUsualInstant` alone. */
export class TimedTemplate extends ByteTemplate {
  private readonly view = new DataView(this.words.buffer)

  /** isPacked  instants lie there in their packed form, bytes of which may be a NaN; else as digits. */
  constructor(
    text: string,
    private readonly isPacked: boolean,
  ) {
    super(text, isPacked)
  }

  /** at  where the instant lies. */
  setInstant(at: number, epochMs: number): void {
    if (this.isPacked) putPackedNumber(this.view, at, epochMs)
    else putNumber(this.view, at, epochMs)
  }
}

/** Whether an instant, epoch ms, has 13 digits: each of the years 2001 to 2286 has. All of them take the same room. */
export function isUsualInstant(epochMs: number): boolean {
  return epochMs >= 1e12 && epochMs < 1e13
}

const wordBytes = 8
const halfBytes = 4
// Templates are made for each instant at which something happens: they are copied from here, as words of this machine,
// which has the byte order of the records.
const scratch = new Float64Array(256)
const scratchBytes = Buffer.from(scratch.buffer)

/** Write an id from these bytes or others; an actor's id by default length. Returns its end. */
export function putId(
  view: DataView,
  at: number,
  source: DataView,
  from: number,
  length: number = actorIdLength,
): number {
  view.setFloat64(at, source.getFloat64(from, true), true)
  view.setFloat64(at + wordBytes, source.getFloat64(from + wordBytes, true), true)
  return at + length
}

/** Returns where it ends. */
export function putTemplate(view: DataView, at: number, { words, halves, length }: ByteTemplate): number {
  if (halves === null)
    for (let i = 0; i < words.length; i++) view.setFloat64(at + i * wordBytes, words[i]!, true)
  else for (let i = 0; i < halves.length; i++) view.setInt32(at + i * halfBytes, halves[i]!, true)
  return at + length
}

/** Bytes of another view, as they are; it reaches seven bytes further than these, or more. Returns where they end. */
export function putBytes(view: DataView, at: number, source: DataView, from: number, to: number): number {
  // not as doubles: received bytes may form a NaN, which does not keep every bit
  for (let read = from, put = at; read < to; read += wordBytes, put += wordBytes) {
    view.setUint32(put, source.getUint32(read, true), true)
    view.setUint32(put + 4, source.getUint32(read + 4, true), true)
  }
  return at + to - from
}

/** Below it numbers are digits of 32 bits. */
export const billion = 1e9

/** The digits of a safe integer. Returns where they end. */
export function putNumber(view: DataView, from: number, value: number): number {
  let at = from
  let left = value
  if (left < 0) {
    view.setUint8(at++, minus)
    left = -left
  }
  if (left < billion) return putDigits(view, at, left, digitsOf(left))
  const high = Math.floor(left / billion)
  at = putDigits(view, at, high, digitsOf(high))
  return putDigits(view, at, left - high * billion, 9)
}

/** "00" to "99", two digits a place. */
const pairs = Uint16Array.from({ length: 100 }, (_, i) => (zero + Math.floor(i / 10)) * 256 + zero + (i % 10))

/** The last `count` digits of a number below a billion. */
export function putDigits(view: DataView, at: number, value: number, count: number): number {
  let left = value | 0
  let place = at + count
  while (place >= at + 2) {
    place -= 2
    const rest = (left / 100) | 0
    view.setUint16(place, pairs[left - rest * 100]!)
    left = rest
  }
  if (place > at) view.setUint8(at, zero + (left % 10))
  return at + count
}

function digitsOf(value: number): number {
  let digits = 1
  for (let bound = 10; value >= bound; bound *= 10) digits++
  return digits
}

/** Characters of ASCII. Returns where they end. */
export function putText(view: DataView, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i))
  return at + text.length
}

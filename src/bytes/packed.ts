// Plain values as compact bytes: the one format of facts in the journal and of snapshots in Postgres. A value begins with
// a byte that says what it is and, where it is small, how long.
//
//   00…7f  the integer 0 to 127
//   80 81 82  null, false, true          83  double of 8 bytes
//   84 85 86  integer of 2, 4, 6 bytes   88  integer beyond ±(2^53 − 1): its decimal text follows as a text
//   8a 89  text of 1 or 4 bytes of length, then UTF-8       90…af  text of 0 to 31 bytes of UTF-8
//   87  text of 4 bytes of length, then UTF-16: one with half a surrogate pair, which UTF-8 does not have
//   8b  list of 4 bytes of length, then values              b0…bf  list of 0 to 15 values
//   8d  object of 2 bytes of length, then names and values  c0…ff  object of shape 0 to 63, then its values
//
// All little endian. A shape is the names of the members of an object, in order, in a list that only grows at its end:
// a reader needs the shapes that the writer had, and any later ones. Members that are undefined are left out, as in
// JSON. -0 is 0.
import { dataViewOf } from './data-view.js'

/** First bytes of values, for writers of ready-made bytes. */
export const packed = {
  null: 0x80,
  false: 0x81,
  true: 0x82,
  double: 0x83,
  integer2: 0x84,
  integer4: 0x85,
  integer6: 0x86,
  wideText: 0x87,
  large: 0x88,
  longText: 0x89,
  mediumText: 0x8a,
  longList: 0x8b,
  object: 0x8d,
  text: 0x90,
  list: 0xb0,
  shape: 0xc0,
} as const

/** Lengths from which the next longer form is used. */
const shortTextMax = 31
const mediumTextMax = 255
const shortListMax = 15
const shapesMax = 64
const membersMax = 0xffff
const two32 = 2 ** 32
const two48 = 2 ** 48
/** A name on the way to a shape. */
interface Step {
  readonly next: Map<string, Step>
  /** -1: no shape ends here. */
  shape: number
}

/** The shapes of a format. */
export class Shapes {
  private readonly first: Step = { next: new Map(), shape: -1 }

  /** names  of the members of each, in order. At most 64; a list that is in use only grows at its end. */
  constructor(readonly names: readonly (readonly string[])[]) {
    if (names.length > shapesMax) throw new RangeError(`${names.length} shapes: at most ${shapesMax}`)
    names.forEach((members, shape) => {
      let step = this.first
      for (const name of members) {
        let next = step.next.get(name)
        if (next === undefined) {
          next = { next: new Map(), shape: -1 }
          step.next.set(name, next)
        }
        step = next
      }
      step.shape = shape
    })
  }

  /** The shape of an object without members that are undefined; -1 when it is none of these. */
  of(value: object): number {
    let step: Step | undefined = this.first
    for (const name in value) {
      if ((value as Record<string, unknown>)[name] === undefined) continue
      step = step.next.get(name)
      if (step === undefined) return -1
    }
    return step.shape
  }
}

/** Half of a surrogate pair. */
const halfPair = /\p{Surrogate}/u

const bytesMin = 16 << 10
const keptBytesMax = 4 << 20

/** Writes values one after the other. */
export class PackedWriter {
  private bytes = Buffer.allocUnsafeSlow(bytesMin)
  private view = dataViewOf(this.bytes)
  private at = 0

  constructor(private readonly shapes: Shapes) {}

  /** The bytes since the last `take`, valid until the next write. */
  take(): Buffer {
    const { bytes, at } = this
    this.at = 0
    if (bytes.length > keptBytesMax) this.use(Buffer.allocUnsafeSlow(bytesMin))
    return bytes.subarray(0, at)
  }

  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.at++] = value
  }

  /**
   * Plain data: null, booleans, numbers, bigints, texts, lists, objects.
   *
   * errors  TypeError for anything else.
   */
  value(value: unknown): void {
    switch (typeof value) {
      case 'number':
        return this.number(value)
      case 'string':
        return this.text(value)
      case 'boolean':
        return this.byte(value ? packed.true : packed.false)
      case 'bigint':
        this.byte(packed.large)
        return this.text(String(value))
      case 'object':
        if (value === null) return this.byte(packed.null)
        if (Array.isArray(value)) return this.list(value)
        return this.object(value)
      case 'undefined':
        // as in a list of JSON
        return this.byte(packed.null)
      case 'symbol':
      case 'function':
        throw new TypeError(`a ${typeof value} is no plain data`)
    }
  }

  number(value: number): void {
    this.reserve(9)
    this.at = putPackedNumber(this.view, this.at, value)
  }

  text(text: string): void {
    const { length } = text
    // three bytes for a unit of UTF-16 are the most
    this.reserve(5 + 3 * length)
    const { bytes, at } = this
    if (length <= shortTextMax) {
      let i = 0
      for (; i < length; i++) {
        const code = text.charCodeAt(i)
        if (code >= 0x80) break
        bytes[at + 1 + i] = code
      }
      if (i === length) {
        bytes[at] = packed.text + length
        this.at = at + 1 + length
        return
      }
    }
    if (halfPair.test(text)) {
      bytes[at] = packed.wideText
      this.view.setUint32(at + 1, 2 * length, true)
      this.at = at + 5 + bytes.write(text, at + 5, 'utf16le')
      return
    }
    const from = putTextLength(this.view, at, Buffer.byteLength(text))
    this.at = from + bytes.write(text, from)
  }

  private list(list: readonly unknown[]): void {
    if (list.length <= shortListMax) this.byte(packed.list + list.length)
    else {
      this.byte(packed.longList)
      this.uint32(list.length)
    }
    for (let i = 0; i < list.length; i++) this.value(list[i])
  }

  private object(object: object): void {
    const shape = this.shapes.of(object)
    const members = object as Record<string, unknown>
    if (shape >= 0) {
      this.byte(packed.shape + shape)
      const names = this.shapes.names[shape]!
      for (let i = 0; i < names.length; i++) this.value(members[names[i]!])
      return
    }
    const names = Object.keys(members).filter(name => members[name] !== undefined)
    if (names.length > membersMax) throw new TypeError(`an object of ${names.length} members`)
    this.byte(packed.object)
    this.byte(names.length & 0xff)
    this.byte(names.length >> 8)
    for (const name of names) {
      this.text(name)
      this.value(members[name])
    }
  }

  private uint32(value: number): void {
    this.reserve(4)
    this.view.setUint32(this.at, value, true)
    this.at += 4
  }

  private reserve(more: number): void {
    const needed = this.at + more
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * needed)
    this.bytes.copy(larger, 0, 0, this.at)
    this.use(larger)
  }

  private use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes
    this.view = dataViewOf(bytes)
  }
}

/** Write a number; at most nine bytes. Returns where they end. */
export function putPackedNumber(view: DataView, at: number, value: number): number {
  if (value >= 0 && value < two48 && value % 1 === 0) {
    if (value < 0x80) {
      view.setUint8(at, value)
      return at + 1
    }
    if (value < 0x1_0000) {
      view.setUint8(at, packed.integer2)
      view.setUint16(at + 1, value, true)
      return at + 3
    }
    if (value < two32) {
      view.setUint8(at, packed.integer4)
      view.setUint32(at + 1, value, true)
      return at + 5
    }
    view.setUint8(at, packed.integer6)
    const high = Math.floor(value / two32)
    view.setUint32(at + 1, value - high * two32, true)
    view.setUint16(at + 5, high, true)
    return at + 7
  }
  view.setUint8(at, packed.double)
  view.setFloat64(at + 1, value, true)
  return at + 9
}

/** Write what comes before a text of so many bytes. Returns where it ends. */
export function putTextLength(view: DataView, at: number, length: number): number {
  if (length <= shortTextMax) {
    view.setUint8(at, packed.text + length)
    return at + 1
  }
  if (length <= mediumTextMax) {
    view.setUint8(at, packed.mediumText)
    view.setUint8(at + 1, length)
    return at + 2
  }
  view.setUint8(at, packed.longText)
  view.setUint32(at + 1, length, true)
  return at + 5
}

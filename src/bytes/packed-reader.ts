// Reads values that `PackedWriter` wrote (packed.ts says how they lie).
import { packed, type Shapes } from './packed.js'
import { TextCache } from './text-cache.js'

const two32 = 2 ** 32

/** Texts that come again and again are made once: so many of them at a time. */
const textsMax = 1 << 12

/** Reads values one after the other from bytes that `begin` names. Errors of all: SyntaxError where they are none. */
export class PackedReader {
  protected bytes: Buffer = Buffer.alloc(0)
  protected at = 0
  protected end = 0
  private readonly names: readonly (readonly string[])[]
  protected readonly texts = new TextCache(textsMax)

  constructor(shapes: Shapes) {
    this.names = shapes.names
  }

  begin(bytes: Buffer, from: number, end: number): void {
    this.bytes = bytes
    this.at = from
    this.end = end
  }

  /** The one value in bytes [from, end). */
  whole(bytes: Buffer, from: number, end: number): unknown {
    this.begin(bytes, from, end)
    const value = this.value()
    if (this.at !== end) throw wrong()
    return value
  }

  value(): unknown {
    const first = this.first()
    if (first < 0x80) return first
    if (first >= packed.shape) return this.ofShape(first - packed.shape)
    if (first >= packed.list) return this.list(first - packed.list)
    if (first >= packed.text) return this.shortText(first - packed.text)
    switch (first) {
      case packed.null:
        return null
      case packed.false:
        return false
      case packed.true:
        return true
      case packed.large:
        return BigInt(this.text())
      case packed.mediumText:
      case packed.longText:
      case packed.wideText:
        return this.longText(first)
      case packed.longList:
        return this.list(this.uint(4))
      case packed.object:
        return this.object()
      default:
        return this.numberOf(first)
    }
  }

  /** A number. */
  number(): number {
    return this.numberOf(this.first())
  }

  text(): string {
    const first = this.first()
    if (first >= packed.text && first < packed.list) return this.shortText(first - packed.text)
    return this.longText(first)
  }

  /** The length of a list, whose values follow. */
  length(): number {
    const first = this.first()
    if (first >= packed.list && first < packed.shape) return first - packed.list
    if (first !== packed.longList) throw wrong()
    return this.uint(4)
  }

  /** Pass one value. */
  skip(): void {
    const first = this.first()
    if (first < 0x80) return
    if (first >= packed.shape) return this.skipAll(this.membersOf(first - packed.shape).length)
    if (first >= packed.list) return this.skipAll(first - packed.list)
    if (first >= packed.text) return this.pass(first - packed.text)
    switch (first) {
      case packed.null:
      case packed.false:
      case packed.true:
        return
      case packed.integer2:
        return this.pass(2)
      case packed.integer4:
        return this.pass(4)
      case packed.integer6:
        return this.pass(6)
      case packed.double:
        return this.pass(8)
      case packed.large:
        return this.skip()
      case packed.mediumText:
        return this.pass(this.uint(1))
      case packed.longText:
      case packed.wideText:
        return this.pass(this.uint(4))
      case packed.longList:
        return this.skipAll(this.uint(4))
      case packed.object:
        return this.skipAll(2 * this.uint(2))
      default:
        throw wrong()
    }
  }

  private first(): number {
    if (this.at >= this.end) throw wrong()
    return this.bytes[this.at++]!
  }

  private numberOf(first: number): number {
    if (first < 0x80) return first
    switch (first) {
      case packed.integer6: {
        const low = this.uint(4)
        return this.uint(2) * two32 + low
      }
      case packed.integer4:
        return this.uint(4)
      case packed.integer2:
        return this.uint(2)
      case packed.double: {
        const from = this.at
        this.pass(8)
        return this.bytes.readDoubleLE(from)
      }
      default:
        throw wrong()
    }
  }

  private uint(length: 1 | 2 | 4): number {
    const { bytes, at } = this
    this.pass(length)
    if (length === 1) return bytes[at]!
    const low = bytes[at]! | (bytes[at + 1]! << 8)
    return length === 2 ? low : (low | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  }

  private pass(length: number): void {
    this.at += length
    if (this.at > this.end) throw wrong()
  }

  private shortText(length: number): string {
    const { bytes, at } = this
    this.pass(length)
    const end = at + length
    let hash = 0x811c9dc5
    for (let i = at; i < end; i++) {
      const byte = bytes[i]!
      if (byte >= 0x80) return bytes.toString('utf8', at, end)
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    return this.texts.of(bytes, at, end, hash)
  }

  private longText(first: number): string {
    const isWide = first === packed.wideText
    if (first !== packed.mediumText && first !== packed.longText && !isWide) throw wrong()
    const length = this.uint(first === packed.mediumText ? 1 : 4)
    const from = this.at
    this.pass(length)
    return this.bytes.toString(isWide ? 'utf16le' : 'utf8', from, this.at)
  }

  private list(length: number): unknown[] {
    const list: unknown[] = []
    for (let i = 0; i < length; i++) list.push(this.value())
    return list
  }

  private membersOf(shape: number): readonly string[] {
    const names = this.names[shape]
    if (names === undefined) throw wrong()
    return names
  }

  protected ofShape(shape: number): object {
    const names = this.membersOf(shape)
    const made: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) made[names[i]!] = this.value()
    return made
  }

  private object(): object {
    const length = this.uint(2)
    const entries: [string, unknown][] = []
    for (let i = 0; i < length; i++) entries.push([this.text(), this.value()])
    // not by assignment: a name may be __proto__
    return Object.fromEntries(entries)
  }

  private skipAll(count: number): void {
    for (let i = 0; i < count; i++) this.skip()
  }
}

/** Which bytes they are, the caller says. */
function wrong(): SyntaxError {
  return new SyntaxError('the bytes are no packed value')
}

// Identifiers: a prefix and 11 characters without look-alikes.
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base = alphabet.length
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)))

/** Characters of an id behind its prefix. */
export const idLetters = 11
const cube = base ** 3
const characters = Uint8Array.from(alphabet, one => one.charCodeAt(0))
/** Where an id is put together. Made with the first id: browsers have no Buffer, and write none. */
let written: Buffer | null = null

/**
 * The 64 bits of an id, as two unsigned 32-bit halves, written as 11 characters. Made in one piece: a text put
 * together from two keeps both, and ids are kept in great numbers.
 */
export function encodeId(prefix: string, high: number, low: number): string {
  const length = prefix.length + idLetters
  written ??= Buffer.alloc(64)
  const bytes = written
  if (length > bytes.length) throw new Error('the prefix of an id is too long')
  for (let i = 0; i < prefix.length; i++) bytes[i] = prefix.charCodeAt(i)
  writeId(bytes, prefix.length, high, low)
  return bytes.toString('latin1', 0, length)
}

/** The same 11 characters as bytes. */
export function writeId(bytes: Uint8Array, at: number, high: number, low: number): void {
  let h = high >>> 0
  let l = low >>> 0
  // three digits a turn: as many as leave room for the low half in a double
  for (let end = at + idLetters; end > at; end -= 3) {
    const next = (h / cube) >>> 0
    const whole = (h - next * cube) * 4_294_967_296 + l
    const quotient = Math.floor(whole / cube)
    // whole numbers of 32 bits from here on: a rest of doubles costs as much as all else
    const three = (whole - quotient * cube) | 0
    const two = (three / base) | 0
    const one = (two / base) | 0
    l = quotient >>> 0
    h = next
    bytes[end - 1] = characters[three - two * base]!
    bytes[end - 2] = characters[two - one * base]!
    if (end - 3 >= at) bytes[end - 3] = characters[one]!
  }
}

/** The 64 bits of an id that `encodeId` wrote, as two unsigned 32-bit halves; null for any other text. */
export function decodeId(prefix: string, id: string): readonly [high: number, low: number] | null {
  if (id.length !== prefix.length + idLetters || !id.startsWith(prefix)) return null
  let h = 0
  let l = 0
  for (let i = prefix.length; i < id.length; i++) {
    const digit = digits[id.charCodeAt(i)] ?? -1
    if (digit < 0) return null
    const low = l * base + digit
    h = h * base + Math.floor(low / 4_294_967_296)
    l = low >>> 0
    if (h > 0xffff_ffff) return null
  }
  return [h, l]
}

/** Reads the 64 bits of ids where they lie in bytes or texts, and makes nothing. */
export class IdReader {
  /** The last id read, as unsigned 32-bit halves. */
  high = 0
  low = 0

  /** The characters of an id behind its prefix, from `at` on; false when there are others, or bits beyond 64. */
  read(bytes: Uint8Array, at: number): boolean {
    let high = 0
    let low = 0
    for (let end = at + idLetters; at < end; at++) {
      const digit = digits[bytes[at] ?? 0] ?? -1
      if (digit < 0) return false
      const next = low * base + digit
      high = high * base + Math.floor(next / 0x1_0000_0000)
      low = next >>> 0
    }
    this.high = high >>> 0
    this.low = low
    return high <= 0xffff_ffff
  }

  /** The characters of a text behind a prefix of so many; false where the text is no id with such a prefix. */
  readWhole(id: string, prefixLetters: number): boolean {
    if (id.length !== prefixLetters + idLetters) return false
    let high = 0
    let low = 0
    for (let at = prefixLetters; at < id.length; at++) {
      const digit = digits[id.charCodeAt(at)] ?? -1
      if (digit < 0) return false
      const next = low * base + digit
      high = high * base + Math.floor(next / 0x1_0000_0000)
      low = next >>> 0
    }
    this.high = high >>> 0
    this.low = low
    return high <= 0xffff_ffff
  }

  /** The same for the last characters of a text that is an id. */
  readText(id: string): void {
    let high = 0
    let low = 0
    for (let at = id.length - idLetters; at < id.length; at++) {
      const next = low * base + digits[id.charCodeAt(at)]!
      high = high * base + Math.floor(next / 0x1_0000_0000)
      low = next >>> 0
    }
    this.high = high >>> 0
    this.low = low
  }
}

/**
 * An id worked out from names alone, so that the core needs no randomness and a replay makes the same ids.
 * Equal parts give equal ids; 64 bits of two independent hashes.
 */
export function derivedId(prefix: string, ...parts: readonly (string | number)[]): string {
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  for (const part of parts) {
    const text = String(part)
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b ^ code, 0x5bd1e995)
      b ^= b >>> 15
    }
    a = Math.imul(a ^ 0x1f, 0x01000193)
    b = Math.imul(b ^ 0x1f, 0x5bd1e995)
  }
  return encodeId(prefix, mix(a ^ (b >>> 7)), mix(b + Math.imul(a, 0xc2b2ae35)))
}

function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Virtual shards: the finest division of the actors (architecture, "Several nodes"). */
const virtualShards = 256

/** 32 bits of an actor's id: FNV-1a over its characters, mixed. */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** The virtual shard of an actor's id. */
const virtualShardOf = (id: string): number => hashOf(id) % virtualShards

/** The shard, of `count` shards, that owns an actor. */
export const shardOf = (id: string, count: number): number => virtualShardOf(id) % count

// A keyed hash of texts: nobody who may choose the texts, and does not know the key, can make two collide or crowd a
// table. HalfSipHash-1-3 over the texts' units, four a word where all are below 256, else two; with a third output word
// beside its two, from the other half of its state: 96 bits.
import { randomFillSync } from 'node:crypto'

/** A key: two words. */
type HashKey = readonly [number, number]

export function newHashKey(): HashKey {
  const [first = 0, second = 0] = randomFillSync(new Int32Array(2))
  return [first, second]
}

/** The state of a hash after some texts: others can be hashed from there. */
export class HashState {
  constructor(
    readonly a: number,
    readonly b: number,
    readonly c: number,
    readonly d: number,
  ) {}

  static of([first, second]: HashKey): HashState {
    return new HashState(first, second ^ 0xee, first ^ 0x6c796765, second ^ 0x74656462)
  }
}

/** Hashes one text after the other; the words of the last one are its fields. */
export class KeyedHash {
  first = 0
  second = 0
  third = 0
  private a = 0
  private b = 0
  private c = 0
  private d = 0

  /** The state after a text. Texts that follow each other are told apart by their lengths. */
  after(state: HashState, text: string): HashState {
    this.absorb(state, text)
    return new HashState(this.a, this.b, this.c, this.d)
  }

  /** Hash a text, from a state on. */
  hash(state: HashState, text: string): void {
    this.absorb(state, text)
    this.c ^= 0xee
    this.threeRounds()
    this.first = this.b ^ this.d
    this.b ^= 0xdd
    this.threeRounds()
    this.second = this.b ^ this.d
    this.third = this.a ^ this.c
  }

  // In one piece, with the state in locals: a look-up of a key costs hardly more than this loop.
  private absorb(state: HashState, text: string): void {
    let { a, b, c, d } = state
    const { length } = text
    let all = 0
    for (let i = 0; i < length; i++) all |= text.charCodeAt(i)
    const wide = all > 0xff ? 1 : 0
    const step = wide ? 2 : 4
    // the last word has the length, and how many units a word has
    for (let i = 0; ; i += step) {
      let word: number
      if (i >= length) word = (length << 1) | wide
      else if (wide) word = text.charCodeAt(i) | (i + 1 < length ? text.charCodeAt(i + 1) << 16 : 0)
      else if (i + 3 < length)
        word =
          text.charCodeAt(i) |
          (text.charCodeAt(i + 1) << 8) |
          (text.charCodeAt(i + 2) << 16) |
          (text.charCodeAt(i + 3) << 24)
      else word = restOf(text, i)
      d ^= word
      a = (a + b) | 0
      b = ((b << 5) | (b >>> 27)) ^ a
      a = (a << 16) | (a >>> 16)
      c = (c + d) | 0
      d = ((d << 8) | (d >>> 24)) ^ c
      a = (a + d) | 0
      d = ((d << 7) | (d >>> 25)) ^ a
      c = (c + b) | 0
      b = ((b << 13) | (b >>> 19)) ^ c
      c = (c << 16) | (c >>> 16)
      a ^= word
      if (i >= length) break
    }
    this.a = a
    this.b = b
    this.c = c
    this.d = d
  }

  private threeRounds(): void {
    let { a, b, c, d } = this
    for (let round = 0; round < 3; round++) {
      a = (a + b) | 0
      b = ((b << 5) | (b >>> 27)) ^ a
      a = (a << 16) | (a >>> 16)
      c = (c + d) | 0
      d = ((d << 8) | (d >>> 24)) ^ c
      a = (a + d) | 0
      d = ((d << 7) | (d >>> 25)) ^ a
      c = (c + b) | 0
      b = ((b << 13) | (b >>> 19)) ^ c
      c = (c << 16) | (c >>> 16)
    }
    this.a = a
    this.b = b
    this.c = c
    this.d = d
  }
}

/** The last one to three units of a text, as a word. */
function restOf(text: string, from: number): number {
  let word = 0
  for (let i = from; i < text.length; i++) word |= text.charCodeAt(i) << (8 * (i - from))
  return word
}

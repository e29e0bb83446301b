// Ids as numbers: a table from the 64 bits of an id to a small number, in a few bytes each.

const slotsMin = 1_024
const loadMax = 0.7

/**
 * Numbers ids from 0 in the order they are added. `kind` keeps ids of several prefixes apart, 0…255.
 * Ids are random or hashes already (core/id.ts), so their bits are their hash.
 */
export class IdTable {
  #slots = new Int32Array(slotsMin).fill(-1)
  #high = new Uint32Array(slotsMin)
  #low = new Uint32Array(slotsMin)
  #kinds = new Uint8Array(slotsMin)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** The number of an id, or -1. */
  find(kind: number, high: number, low: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = home(high, low) & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot]!
      if (index < 0) return -1
      if (this.#low[index] === low && this.#high[index] === high && this.#kinds[index] === kind) return index
    }
  }

  /** A number for an id that has none. */
  add(kind: number, high: number, low: number): number {
    const index = this.#count++
    if (index === this.#low.length) this.#widen()
    this.#high[index] = high
    this.#low[index] = low
    this.#kinds[index] = kind
    if (this.#count > this.#slots.length * loadMax) this.#rehash()
    else this.#place(index)
    return index
  }

  #place(index: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = home(this.#high[index]!, this.#low[index]!) & mask
    while (slots[slot]! >= 0) slot = (slot + 1) & mask
    slots[slot] = index
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1)
    for (let index = 0; index < this.#count; index++) this.#place(index)
  }

  #widen(): void {
    const length = this.#low.length * 2
    const wider = <T extends Uint32Array | Uint8Array>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    this.#high = wider(this.#high, new Uint32Array(length))
    this.#low = wider(this.#low, new Uint32Array(length))
    this.#kinds = wider(this.#kinds, new Uint8Array(length))
  }
}

const home = (high: number, low: number): number => Math.imul(low ^ (high >>> 7), 0x9e3779b1) >>> 4

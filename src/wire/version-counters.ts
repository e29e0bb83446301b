// Version counters in shared memory: shards raise them, and the HTTP thread compares them, so that a cached answer is
// never older than an acknowledged change.
import { hashOf } from '../core/values/id.js'

// One cache line for the epochs of a shard, so that shards do not slow each other.
const line = 16
/** Flags of a shard share numbers: a change of one may invalidate another's answers, and nothing else. */
const flagPlaces = 1 << 10
const stride = line + flagPlaces
/** Companies share counters: a change of one may invalidate another's answers, and nothing else. */
const places = 1 << 18
/** Users have places of their own, so that what changes one costs no company's answers their life. */
const userPlaces = 1 << 16
/** So many places share a block's number, which tells who watches many of them where to look. */
const blockBits = 9
const blocks = (2 * places + userPlaces) >> blockBits

/**
 * For each shard two epochs and the numbers of its flags; for each place where companies are two numbers (of any change,
 * and of use that only shows in figures); one for each place where users are. Epochs are odd while answers may be kept. Every thread makes its own over the same memory; a
 * shard's numbers are raised by the shard alone, or in its name while it is dead.
 */
export class Changes {
  readonly shards: number
  readonly #cells: Int32Array
  /** Numbers at the last look; null: nobody watches. */
  #seen: Int32Array | null = null

  constructor(readonly memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory)
    this.shards = (this.#cells.length - 2 * places - userPlaces - blocks) / stride
  }

  static make(shards: number): Changes {
    const cells = shards * stride + 2 * places + userPlaces + blocks
    return new Changes(new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT))
  }

  /** Where a company's number is. */
  placeOf(companyId: string): number {
    return this.shards * stride + ((hashOf(companyId) >>> 8) & (places - 1))
  }

  /** Where a user's number is. */
  placeOfUser(userId: string): number {
    return this.shards * stride + 2 * places + ((hashOf(userId) >>> 8) & (userPlaces - 1))
  }

  /** A user changes: raised before any reply about it leaves. */
  userChanged(userId: string): void {
    this.#raise(this.placeOfUser(userId), 0)
  }

  /** The number at a place; another one than before: the company may have changed. */
  at(place: number): number {
    return Atomics.load(this.#cells, place)
  }

  /** Usage version of a company; raised where its figures may have changed. */
  usageVersion(place: number): number {
    return Atomics.load(this.#cells, place + places)
  }

  /** A company changes: raised before any reply about it leaves. */
  changed(companyId: string): void {
    this.#raise(this.placeOf(companyId), 0)
  }

  /** A company uses something, and only figures in its answers change: raised before any reply about it leaves. */
  used(companyId: string): void {
    this.#raise(this.placeOf(companyId), places)
  }

  /** Blocks there are. */
  get blocks(): number {
    return blocks
  }

  /** The block that a place is in. */
  blockOf(place: number): number {
    return (place - this.shards * stride) >> blockBits
  }

  /** The number of a block; another one than before: something of one of its places is another. Read before the places. */
  block(index: number): number {
    return Atomics.load(this.#cells, this.#cells.length - blocks + index)
  }

  /** Remember all numbers as they are: `raised` tells which have risen since. */
  watch(): void {
    this.#seen = this.#cells.slice()
  }

  /** Numbers that were raised since the last look, as `raise` takes them; null: any, as the epoch of a shard is another. */
  raised(): number[] | null {
    const seen = this.#seen
    const found: number[] = []
    if (seen === null) return found
    const cells = this.#cells
    let isEpoch = false
    for (let shard = 0; shard < this.shards; shard++) {
      const epoch = this.epoch(shard)
      isEpoch ||= epoch !== seen[shard * stride]
      seen[shard * stride] = epoch
    }
    if (isEpoch) return null
    const from = this.shards * stride
    const look = (cell: number): void => {
      const number = Atomics.load(cells, cell)
      if (number === seen[cell]) return
      seen[cell] = number
      found.push(cell - from)
    }
    for (let index = 0; index < blocks; index++) {
      const cell = cells.length - blocks + index
      const number = Atomics.load(cells, cell)
      if (number === seen[cell]) continue
      seen[cell] = number
      const first = from + (index << blockBits)
      const isOfCompanies = index < places >> blockBits
      for (let place = first; place < first + (1 << blockBits); place++) {
        if (isOfCompanies) look(place + places)
        look(place)
      }
    }
    return found
  }

  /** Raise a number as it was raised in another memory. */
  raise(number: number): void {
    const isUse = number >= places && number < 2 * places
    const place = this.shards * stride + number
    if (isUse) this.#raise(place - places, places)
    else this.#raise(place, 0)
  }

  #raise(place: number, offset: number): void {
    Atomics.add(this.#cells, place + offset, 1)
    Atomics.add(this.#cells, this.#cells.length - blocks + this.blockOf(place), 1)
  }

  /** The epoch of a shard: answers may be cached while it is odd, and are valid only while it is the same. */
  epoch(shard: number): number {
    return Atomics.load(this.#cells, shard * stride)
  }

  /** As `epoch`, for answers that rest on one flag: a change of flags alone leaves it, and raises the numbers of those flags. */
  epochBesideFlags(shard: number): number {
    return Atomics.load(this.#cells, shard * stride + 1)
  }

  /** Where the number of a flag is; each shard has its own. */
  placeOfFlag(shard: number, environmentId: string, flagKey: string): number {
    const hash = hashOf(flagKey) ^ Math.imul(hashOf(environmentId), 31)
    return shard * stride + line + ((hash >>> 8) & (flagPlaces - 1))
  }

  /** From now on answers may be kept. */
  open(shard: number): void {
    if (this.epoch(shard) % 2 === 0) this.#raiseEpochs(shard, 1)
  }

  /** Invalidate all cached answers of the shard, and allow no new ones. */
  close(shard: number): void {
    if (this.epoch(shard) % 2 !== 0) this.#raiseEpochs(shard, 1)
  }

  /** Invalidate all cached answers of the shard. */
  renew(shard: number): void {
    if (this.epoch(shard) % 2 !== 0) this.#raiseEpochs(shard, 2)
  }

  /**
   * Definitions have changed: invalidate the answers that rest on them.
   *
   * flagKeys  the flags that have, and no other definition; null: any may have.
   */
  definitionsChanged(shard: number, environmentId: string, flagKeys: readonly string[] | null): void {
    if (flagKeys === null) return this.renew(shard)
    for (const key of flagKeys) Atomics.add(this.#cells, this.placeOfFlag(shard, environmentId, key), 1)
    if (this.epoch(shard) % 2 !== 0) Atomics.add(this.#cells, shard * stride, 2)
  }

  #raiseEpochs(shard: number, by: number): void {
    Atomics.add(this.#cells, shard * stride + 1, by)
    Atomics.add(this.#cells, shard * stride, by)
  }
}

// A table that one thread writes at a time and all threads read without a lock. Its entries are six words: a key of three
// or four, and values. It grows by segments, as extendible hashing does, so no growth is a long pause and no bound is
// met before memory ends.
//
//   index     65,536 numbers of segments, by the first 16 bits of a key's hash
//   segment   version │ entries │ depth: bits of the hash that all its entries share │ spare │ slots of six words
//
// A segment has an odd version while it is written. A reader takes the number of the segment and its version, probes, and
// then looks whether both are still the same; if not, it begins anew. Both looks are needed: after a split the version
// may be at rest again while the entry has moved to the new segment.
//
// A split writes the new segment first, then the index, then removes the moved entries from the old one.
import { atomicCells, type Cells } from './cells.js'
import { type Chunks, ownChunks, Segments } from './segments.js'

export const slotWords = 6
const headWords = 4
const versionAt = 0
const countAt = 1
const depthAt = 2

/** Cells of the table's own memory, before its index. */
const lockAt = 0
const segmentsAt = 1
const sizeAt = 2
const tableWords = 16

/** Entries of a segment, per slot, at which it splits. */
const loadMax = 0.8

export interface TableShape {
  /** The words of a key: three, or four with the word that follows. */
  readonly keyWords: 3 | 4
  /** Bits of the key's third word that count; all of them must be there to be found. The word is never 0. */
  readonly thirdMask: number
  /** Slots of a segment, a power of two. */
  readonly slots: number
  /** Bits of the index, 16 at most. */
  readonly indexBits: number
}

/** A table as another thread opens it. */
export interface SharedTable {
  readonly shape: TableShape
  readonly own: SharedArrayBuffer
}

export class Table {
  /** The values of the entry found last: the words behind its key, and its third word. */
  third = 0
  fourth = 0
  fifth = 0
  sixth = 0
  private readonly own: Int32Array
  private readonly segments: Segments
  private readonly mask: number
  private readonly indexShift: number
  private readonly isWide: boolean
  private readonly thirdMask: number

  protected constructor(
    readonly shared: SharedTable,
    private readonly memory: Chunks,
    protected readonly cells: Cells,
  ) {
    const { slots } = shared.shape
    this.own = new Int32Array(shared.own)
    this.mask = slots - 1
    this.indexShift = 32 - shared.shape.indexBits
    this.isWide = shared.shape.keyWords === 4
    this.thirdMask = shared.shape.thirdMask
    this.segments = new Segments(headWords + slots * slotWords, memory)
  }

  /** A new table, empty. */
  static make(shape: TableShape, chunks: Chunks = ownChunks(), cells: Cells = atomicCells): Table {
    const own = new SharedArrayBuffer(4 * (tableWords + 2 ** shape.indexBits))
    new Int32Array(own)[segmentsAt] = 1
    const table = new this({ shape, own }, chunks, cells)
    // every place of the index names it: a thread that opens an empty table must find it
    table.segments.at(0)
    return table
  }

  /** A table that another thread made. */
  static open(shared: SharedTable, chunks: Chunks, cells: Cells = atomicCells): Table {
    return new this(shared, chunks, cells)
  }

  /** Chunks there are so far: a thread that opens the table takes these, and later ones as they are handed on. */
  get chunks(): SharedArrayBuffer[] {
    return [...this.memory.made]
  }

  /** Entries of all segments. */
  get size(): number {
    return this.cells.load(this.own, sizeAt)
  }

  /**
   * Find an entry; its values are in `third` to `sixth` afterwards.
   *
   * first, second, third, fourth  the key; `fourth` counts where keys have four words.
   */
  find(first: number, second: number, third: number, fourth = 0): boolean {
    const { cells } = this
    const place = this.placeOf(first, second)
    for (;;) {
      const number = cells.load(this.own, place)
      const segment = this.segments.at(number)
      const version = cells.load(segment, versionAt)
      if (version & 1) {
        cells.wait(segment, versionAt, version)
        continue
      }
      const slot = this.probe(segment, first, second, third, fourth)
      if (slot >= 0) this.read(segment, slot)
      if (this.isSame(segment, version, place, number)) return slot >= 0
    }
  }

  /** Whether nothing was written since a segment was looked up and its version was read. */
  protected isSame(segment: Int32Array, version: number, place: number, number: number): boolean {
    const { cells } = this
    return cells.load(segment, versionAt) === version && cells.load(this.own, place) === number
  }

  /**
   * Write an entry, which is new or has other values.
   *
   * errors  Error when 65,536 segments are full.
   */
  set(first: number, second: number, third: number, fourth: number, fifth: number, sixth: number): void {
    this.lock()
    const { cells } = this
    const place = this.placeOf(first, second)
    for (;;) {
      const segment = this.segments.at(cells.load(this.own, place))
      const had = this.probe(segment, first, second, third, fourth)
      const count = cells.read(segment, countAt)
      if (had < 0 && count + 1 > this.shared.shape.slots * loadMax) {
        if (this.split(place)) continue
        this.unlock()
        throw new Error('the table is full: it has as many segments as its index has places')
      }
      const slot = had < 0 ? this.free(segment, first, second) : had
      this.begin(segment)
      this.write(segment, slot, first, second, third, fourth, fifth, sixth)
      if (had < 0) {
        cells.write(segment, countAt, count + 1)
        cells.store(this.own, sizeAt, cells.load(this.own, sizeAt) + 1)
      }
      this.end(segment)
      break
    }
    this.unlock()
  }

  /** Remove an entry; whether it was there. */
  delete(first: number, second: number, third: number, fourth = 0): boolean {
    this.lock()
    const { cells } = this
    const segment = this.segments.at(cells.load(this.own, this.placeOf(first, second)))
    const slot = this.probe(segment, first, second, third, fourth)
    if (slot >= 0) {
      this.begin(segment)
      this.close(segment, slot)
      cells.write(segment, countAt, cells.read(segment, countAt) - 1)
      cells.store(this.own, sizeAt, cells.load(this.own, sizeAt) - 1)
      this.end(segment)
    }
    this.unlock()
    return slot >= 0
  }

  /** The first and second word of every entry whose third word, shifted by one bit, is this. */
  each(group: number, visit: (first: number, second: number, third: number) => void): void {
    const { cells } = this
    for (let number = cells.load(this.own, segmentsAt) - 1; number >= 0; number--) {
      const segment = this.segments.at(number)
      for (let at = headWords; at < segment.length; at += slotWords) {
        const third = cells.read(segment, at + 2)
        if (third !== 0 && third >>> 1 === group)
          visit(cells.read(segment, at), cells.read(segment, at + 1), third)
      }
    }
  }

  /** Remove every entry of a group. */
  deleteAll(group: number): void {
    this.lock()
    for (let number = this.cells.load(this.own, segmentsAt) - 1; number >= 0; number--) {
      const segment = this.segments.at(number)
      if (!this.holds(segment, group)) continue
      this.begin(segment)
      const left = this.rebuild(segment, (_first, _second, third) => third >>> 1 !== group)
      this.cells.store(this.own, sizeAt, this.cells.load(this.own, sizeAt) - left)
      this.end(segment)
    }
    this.unlock()
  }

  private holds(segment: Int32Array, group: number): boolean {
    for (let at = headWords + 2; at < segment.length; at += slotWords) {
      const third = this.cells.read(segment, at)
      if (third !== 0 && third >>> 1 === group) return true
    }
    return false
  }

  // ── places ───────────────────────────────────────────────────────────────────────────────────

  private placeOf(first: number, second: number): number {
    return tableWords + (mixed(first, second) >>> this.indexShift)
  }

  private home(first: number, second: number): number {
    return mixed(second, first) & this.mask
  }

  /** The slot of a key, or -1. */
  private probe(segment: Int32Array, first: number, second: number, third: number, fourth: number): number {
    const { cells, mask, isWide, thirdMask } = this
    // a reader may meet a segment that is written meanwhile, and with it one without a free slot
    for (let slot = this.home(first, second), left = mask; left >= 0; slot = (slot + 1) & mask, left--) {
      const at = headWords + slot * slotWords
      const held = cells.read(segment, at + 2)
      if (held === 0) return -1
      if (cells.read(segment, at) !== first || cells.read(segment, at + 1) !== second) continue
      if (((held ^ third) & thirdMask) !== 0) continue
      if (!isWide || cells.read(segment, at + 3) === fourth) return slot
    }
    return -1
  }

  private free(segment: Int32Array, first: number, second: number): number {
    let slot = this.home(first, second)
    while (this.cells.read(segment, headWords + slot * slotWords + 2) !== 0) slot = (slot + 1) & this.mask
    return slot
  }

  private read(segment: Int32Array, slot: number): void {
    const { cells } = this
    const at = headWords + slot * slotWords
    this.third = cells.read(segment, at + 2)
    this.fourth = cells.read(segment, at + 3)
    this.fifth = cells.read(segment, at + 4)
    this.sixth = cells.read(segment, at + 5)
  }

  private write(
    segment: Int32Array,
    slot: number,
    first: number,
    second: number,
    third: number,
    fourth: number,
    fifth: number,
    sixth: number,
  ): void {
    const { cells } = this
    const at = headWords + slot * slotWords
    cells.write(segment, at, first)
    cells.write(segment, at + 1, second)
    cells.write(segment, at + 2, third)
    cells.write(segment, at + 3, fourth)
    cells.write(segment, at + 4, fifth)
    cells.write(segment, at + 5, sixth)
  }

  /** A slot of one segment, or of a copy of it, in a free slot of another. */
  private copy(from: Int32Array, at: number, to: Int32Array): void {
    const { cells } = this
    const first = cells.read(from, at)
    const second = cells.read(from, at + 1)
    const [third, fourth] = [cells.read(from, at + 2), cells.read(from, at + 3)]
    const [fifth, sixth] = [cells.read(from, at + 4), cells.read(from, at + 5)]
    this.write(to, this.free(to, first, second), first, second, third, fourth, fifth, sixth)
  }

  // ── writing ──────────────────────────────────────────────────────────────────────────────────

  protected lock(): void {
    const { cells, own } = this
    while (cells.exchangeIf(own, lockAt, 0, 1) !== 0) cells.wait(own, lockAt, 1)
  }

  protected unlock(): void {
    this.cells.store(this.own, lockAt, 0)
  }

  private begin(segment: Int32Array): void {
    const { cells } = this
    cells.store(segment, versionAt, (cells.load(segment, versionAt) + 1) | 0)
  }

  private end(segment: Int32Array): void {
    this.begin(segment)
  }

  /** Empty a slot, and move back those behind it that would not be found otherwise. */
  private close(segment: Int32Array, slot: number): void {
    const { cells, mask } = this
    let hole = slot
    for (let next = (slot + 1) & mask; ; next = (next + 1) & mask) {
      const from = headWords + next * slotWords
      if (next === slot || cells.read(segment, from + 2) === 0) break
      const home = this.home(cells.read(segment, from), cells.read(segment, from + 1))
      // it stays where its home lies behind the hole
      if (((next - home) & mask) < ((next - hole) & mask)) continue
      const to = headWords + hole * slotWords
      for (let i = 0; i < slotWords; i++) cells.write(segment, to + i, cells.read(segment, from + i))
      hole = next
    }
    cells.write(segment, headWords + hole * slotWords + 2, 0)
  }

  /** Cut the segment at a place of the index in two; false: the index has no more places. */
  private split(place: number): boolean {
    const { cells, own } = this
    const { indexBits } = this.shared.shape
    const segment = this.segments.at(cells.load(own, place))
    const depth = cells.read(segment, depthAt)
    if (depth === indexBits) return false
    const number = cells.load(own, segmentsAt)
    const fresh = this.segments.at(number)
    cells.store(own, segmentsAt, number + 1)
    const bit = 1 << (indexBits - depth - 1)
    const moves = (first: number, second: number) => ((this.placeOf(first, second) - tableWords) & bit) !== 0
    this.begin(segment)
    this.grow(segment, fresh, depth + 1, moves, () => {
      const start = (place - tableWords) & ~(2 * bit - 1)
      for (let at = start + bit; at < start + 2 * bit; at++) cells.store(own, tableWords + at, number)
    })
    this.end(segment)
    return true
  }

  /** Fill the new segment, publish it, and remove the moved entries from the old one: in this order. */
  protected grow(
    segment: Int32Array,
    fresh: Int32Array,
    depth: number,
    moves: (first: number, second: number) => boolean,
    publish: () => void,
  ): void {
    const { cells } = this
    this.copyMoving(segment, fresh, moves)
    cells.write(fresh, depthAt, depth)
    publish()
    this.rebuild(segment, (first, second) => !moves(first, second))
    cells.write(segment, depthAt, depth)
  }

  protected copyMoving(
    segment: Int32Array,
    fresh: Int32Array,
    moves: (first: number, second: number) => boolean,
  ): void {
    const { cells } = this
    let count = 0
    for (let at = headWords; at < segment.length; at += slotWords) {
      if (cells.read(segment, at + 2) === 0) continue
      if (!moves(cells.read(segment, at), cells.read(segment, at + 1))) continue
      this.copy(segment, at, fresh)
      count++
    }
    cells.write(fresh, countAt, count)
  }

  /** Keep some entries of a segment alone; how many were left out. */
  private rebuild(
    segment: Int32Array,
    keeps: (first: number, second: number, third: number) => boolean,
  ): number {
    const { cells } = this
    const before = new Int32Array(segment.length)
    for (let at = headWords; at < segment.length; at++) before[at] = cells.read(segment, at)
    for (let at = headWords; at < segment.length; at += slotWords)
      if (before[at + 2] !== 0) cells.write(segment, at + 2, 0)
    let [kept, left] = [0, 0]
    for (let at = headWords; at < before.length; at += slotWords) {
      const third = before[at + 2]!
      if (third === 0) continue
      if (keeps(before[at]!, before[at + 1]!, third)) {
        const [first, second] = [before[at]!, before[at + 1]!]
        const slot = this.free(segment, first, second)
        this.write(segment, slot, first, second, third, before[at + 3]!, before[at + 4]!, before[at + 5]!)
        kept++
      } else left++
    }
    cells.write(segment, countAt, kept)
    return left
  }
}

/** 32 bits of two words; ids that are counted up, as tests make them, are spread too. */
function mixed(first: number, second: number): number {
  let hash = Math.imul(first ^ (second >>> 16), 0x85ebca6b) ^ Math.imul(second, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 13), 0x297a2d39)
  return (hash ^ (hash >>> 16)) >>> 0
}

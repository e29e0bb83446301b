// The table of the idempotency window: 4,096 segments, each an open-addressed table with linear probing that grows alone,
// so growth is never a long pause and never doubles the memory.
//
//   a segment   tags, one for each slot │ entries of 8 words, one for each slot
//   a tag       the first 32 bits of the name's hash in its segment, never 0; 0 marks a free slot
//   an entry    32 more bits of the hash │ part and print │ event id (2) │ captured low │ received low │ both highs │ ticket
//
// Tags lie apart from the entries, so a lookup scans few cache lines. A segment is one array, because each object on the
// way to a key is one more wait for memory: ten million keys are in no cache.
import { receivedIn, recordWords, segmentCount } from './key-file.js'
import type { WindowShares } from './window-shares.js'

const entryWords = 8
/** Words of a slot: its tag and its entry. */
const slotWords = entryWords + 1
const slotsMin = 8
/** Load factor of a segment; scanning tags is cheap enough for a high one. */
const loadMax = 0.92
/** A segment that may still grow much grows by a quarter, else by an eighth. */
const growth = 1.25
const growthAtEnd = 1.125

/** Memory of a key in a full table, at most, bytes. */
export const keyBytes = 44

const empty = new Uint32Array(slotsMin * slotWords)

/** Keys of one name each, looked for one after the other: `seek` says for which, the rest is about that one or a slot. */
export class KeyTable {
  private readonly cells: Uint32Array[] = new Array<Uint32Array>(segmentCount).fill(empty)
  private readonly counts = new Uint32Array(segmentCount)
  /** Slots of a segment when the table is full; chance gives some segments more. */
  private readonly slotsUsual: number
  segment = 0
  tag = 1
  middle = 0
  part = 0
  /** The free slot that the last `find` ended at. */
  private end = 0

  /** keysMax: keys that it is to hold. */
  constructor(private readonly keysMax: number) {
    this.slotsUsual = slotsFor(keysMax)
  }

  get bytes(): number {
    return this.cells.reduce((sum, cells) => sum + (cells === empty ? 0 : cells.byteLength), 0)
  }

  /** Look for a name from now on. part: its part of the window (WindowShares). */
  seek(segment: number, tag: number, middle: number, part: number): void {
    this.segment = segment
    this.tag = tag === 0 ? 1 : tag
    this.middle = middle
    this.part = part
  }

  /** Slot of the name, or -1. */
  find(): number {
    const cells = this.cells[this.segment]!
    const { tag } = this
    const slots = slotsOf(cells)
    for (let slot = home(tag, slots); ; slot = slot + 1 === slots ? 0 : slot + 1) {
      const held = cells[slot]!
      if (held === 0) {
        this.end = slot
        return -1
      }
      if (held !== tag) continue
      const at = slots + slot * entryWords
      if (cells[at] === this.middle && cells[at + 1]! >>> 16 === this.part) return slot
    }
  }

  /**
   * Read the tag where a name's probing begins, and its entry: names that are read together before they are looked for and
   * written wait for memory together.
   */
  touch(segment: number, tag: number): number {
    const cells = this.cells[segment]!
    const slots = slotsOf(cells)
    const slot = home(tag, slots)
    return cells[slot]! + cells[slots + slot * entryWords]!
  }

  /** A slot for the name, which the last `find` did not find. */
  insert(): number {
    const { segment, tag } = this
    let cells = this.cells[segment]!
    let slot = this.end
    if (cells === empty || this.counts[segment]! + 1 > slotsOf(cells) * loadMax) {
      cells = this.grow(segment)
      slot = free(cells, tag)
    }
    this.counts[segment]!++
    const slots = slotsOf(cells)
    cells[slot] = tag
    const at = slots + slot * entryWords
    cells[at] = this.middle
    cells[at + 1] = this.part << 16
    return slot
  }

  /** Write all that is known of the event; its ticket as in-flight.ts has it. */
  put(
    slot: number,
    idHigh: number,
    idLow: number,
    capturedAtMs: number,
    receivedAtMs: number,
    print: number,
    ticket: number,
  ): void {
    const cells = this.cells[this.segment]!
    const at = this.at(slot)
    cells[at + 1] = (cells[at + 1]! & 0xffff_0000) | print
    cells[at + 2] = idHigh
    cells[at + 3] = idLow
    cells[at + 4] = capturedAtMs // its low 32 bits
    cells[at + 5] = receivedAtMs
    cells[at + 6] = (high16(capturedAtMs) << 16) | high16(receivedAtMs)
    cells[at + 7] = ticket
  }

  putPrint(slot: number, print: number): void {
    const cells = this.cells[this.segment]!
    const at = this.at(slot) + 1
    cells[at] = (cells[at]! & 0xffff_0000) | print
  }

  putTicket(slot: number, ticket: number): void {
    this.cells[this.segment]![this.at(slot) + 7] = ticket
  }

  printOf(slot: number): number {
    return this.word(slot, 1) & 0xffff
  }

  partOf(slot: number): number {
    return this.word(slot, 1) >>> 16
  }

  idHigh(slot: number): number {
    return this.word(slot, 2)
  }

  idLow(slot: number): number {
    return this.word(slot, 3)
  }

  capturedAtMs(slot: number): number {
    return (this.word(slot, 6) >>> 16) * 0x1_0000_0000 + this.word(slot, 4)
  }

  receivedAtMs(slot: number): number {
    return (this.word(slot, 6) & 0xffff) * 0x1_0000_0000 + this.word(slot, 5)
  }

  ticketOf(slot: number): number {
    return this.word(slot, 7)
  }

  /** Empty a slot of the segment; slots behind it move up where a lookup would otherwise miss them. */
  remove(slot: number): void {
    const cells = this.cells[this.segment]!
    const slots = slotsOf(cells)
    let hole = slot
    for (let next = (hole + 1) % slots; cells[next] !== 0; next = (next + 1) % slots) {
      const way = (next - home(cells[next]!, slots) + slots) % slots
      if (way < (next - hole + slots) % slots) continue
      cells[hole] = cells[next]!
      const from = slots + next * entryWords
      cells.copyWithin(slots + hole * entryWords, from, from + entryWords)
      hole = next
    }
    cells[hole] = 0
    this.counts[this.segment]!--
  }

  /**
   * Remove claims of a segment; returns how many.
   *
   * isOver  whether one is to go, by its receipt and its part.
   */
  sweep(
    segment: number,
    shares: WindowShares,
    isOver: (receivedAtMs: number, part: number) => boolean,
  ): number {
    this.segment = segment
    const before = this.counts[segment]!
    const cells = this.cells[segment]!
    for (let slot = 0; slot < slotsOf(cells); slot++)
      // a slot that moved up is swept too; one that moved round the end, in the next call
      while (cells[slot] !== 0 && isOver(this.receivedAtMs(slot), this.partOf(slot))) {
        shares.removed(shares.at(this.partOf(slot)))
        this.remove(slot)
      }
    const removed = before - this.counts[segment]!
    this.shrink(segment)
    return removed
  }

  /** Give back the memory of a segment's free slots. */
  shrink(segment: number): void {
    const slots = slotsOf(this.cells[segment]!)
    const count = this.counts[segment]!
    if (slots > slotsMin && count < (slots * loadMax) / 2)
      this.resize(segment, Math.ceil((count / loadMax) * growth))
  }

  /** Make room for so many keys in all segments together. */
  reserve(keys: number): void {
    const slots = slotsFor(Math.min(keys, this.keysMax))
    if (slots <= slotsMin) return
    for (let segment = 0; segment < segmentCount; segment++)
      if (slots > slotsOf(this.cells[segment]!)) this.resize(segment, slots)
  }

  /**
   * Records of a segment's claims that were received before an instant (key-file.ts), in any order.
   *
   * isOpen  whether claims with a ticket are still under way: then null is returned.
   */
  recordsBefore(
    segment: number,
    untilMs: number,
    numberOf: (part: number) => number,
    isOpen: (ticket: number) => boolean,
  ): Uint32Array | null {
    this.segment = segment
    const cells = this.cells[segment]!
    const slots = slotsOf(cells)
    const records = new Uint32Array(this.counts[segment]! * recordWords)
    let into = 0
    for (let slot = 0; slot < slots; slot++) {
      if (cells[slot] === 0 || this.receivedAtMs(slot) >= untilMs) continue
      if (isOpen(this.ticketOf(slot))) return null
      records[into] = cells[slot]!
      const at = slots + slot * entryWords
      for (let word = 1; word < recordWords; word++) records[into + word] = cells[at + word - 1]!
      records[into + 2] = ((numberOf(this.partOf(slot)) << 16) | this.printOf(slot)) >>> 0
      into += recordWords
    }
    return records.slice(0, into)
  }

  /** Remove those of the records that a segment still has unchanged; returns the parts they were of. */
  *forget(
    segment: number,
    records: Uint32Array,
    partOf: (number: number) => number,
  ): Generator<number, void> {
    for (let at = 0; at < records.length; at += recordWords) {
      this.seek(segment, records[at]!, records[at + 1]!, partOf(records[at + 2]! >>> 16))
      const slot = this.find()
      // a claim made anew since then belongs to another event
      if (slot < 0 || this.idHigh(slot) !== records[at + 3] || this.idLow(slot) !== records[at + 4]) continue
      if (this.receivedAtMs(slot) !== receivedIn(records, at)) continue
      const { part } = this
      this.remove(slot)
      yield part
    }
    this.shrink(segment)
  }

  private at(slot: number): number {
    return slotsOf(this.cells[this.segment]!) + slot * entryWords
  }

  private word(slot: number, word: number): number {
    const cells = this.cells[this.segment]!
    return cells[slotsOf(cells) + slot * entryWords + word]!
  }

  private grow(segment: number): Uint32Array {
    const cells = this.cells[segment]!
    if (cells === empty) return this.resize(segment, slotsMin)
    const slots = slotsOf(cells)
    const { slotsUsual } = this
    if (slots >= slotsUsual) return this.resize(segment, Math.ceil(slots * growthAtEnd))
    return this.resize(segment, Math.min(slotsUsual, Math.ceil(slots * growth)))
  }

  private resize(segment: number, wanted: number): Uint32Array {
    const old = this.cells[segment]!
    const slotsBefore = slotsOf(old)
    const slots = Math.max(slotsMin, wanted)
    const cells = new Uint32Array(slots * slotWords)
    for (let from = 0; from < slotsBefore; from++) {
      const tag = old[from]!
      if (tag === 0) continue
      const slot = free(cells, tag)
      cells[slot] = tag
      const at = slotsBefore + from * entryWords
      const into = slots + slot * entryWords
      // eight words: a loop is quicker than a view
      for (let i = 0; i < entryWords; i++) cells[into + i] = old[at + i]!
    }
    this.cells[segment] = cells
    return cells
  }
}

const slotsOf = (cells: Uint32Array): number => (cells.length / slotWords) | 0

/** Slots of a segment where all hold so many keys: most have room for their share. */
function slotsFor(keys: number): number {
  const each = keys / segmentCount
  return Math.ceil((each + Math.sqrt(each)) / loadMax)
}

/** Where a tag's probing begins: its share of the table, whose size is no power of two. */
const home = (tag: number, slots: number): number => Math.floor((tag / 0x1_0000_0000) * slots)

function free(cells: Uint32Array, tag: number): number {
  const slots = slotsOf(cells)
  let slot = home(tag, slots)
  while (cells[slot] !== 0) slot = slot + 1 === slots ? 0 : slot + 1
  return slot
}

/** Bits 32…47 of an instant. */
const high16 = (epochMs: number): number => Math.floor(epochMs / 0x1_0000_0000) & 0xffff

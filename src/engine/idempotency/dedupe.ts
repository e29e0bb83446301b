// Idempotency keys of events: 24 hours, per environment, from the first receipt (EV-25…29).
// The key rides in its event's journal record, so "seen" and "counted" cannot disagree; this window is the
// memory of it, claimed before an event leaves and given back when its record was not made durable.
//
//   name ─ sha256 ─▶ 12 bits choose the segment │ tag: 32 bits, scanned │ 7 words: 32 more bits of the hash, whose it is
//                                               │ and the print of what it said (16 bits each), event id,
//                                               │ captured_at, received_at
//
// A segment is one open-addressed table with linear probing. It grows by an eighth and alone, so growth is never
// a long pause and never doubles the memory; 76 bits of the hash tell the names of one environment apart.
//
// Keys of publishable API keys are a namespace of their own (decision 23): their names carry a mark that no caller
// can send, here, in the journal and in ClickHouse alike. Records without a mark, from before it existed, count as
// those of secret keys.
import { hash } from 'node:crypto'
import { decodeId, encodeId, IdReader } from '../../core/id.js'
import { unknownPrint } from '../../core/usage/fingerprint.js'
import {
  capturedAt,
  codeAt,
  eventPrefix,
  hashBytes,
  idAt,
  longIn,
  markAt,
  type PackedClaim,
  packedClaimBytes,
  printAt,
  receivedAt,
} from '../../protocol/packed-claim.js'
import { InFlightClaims } from './in-flight.js'
import type { KeyArchive, KeySource } from './key-archive.js'
import { sortedRecords } from './key-archive.js'
import { receivedIn, recordWords, segmentCount } from './key-file.js'
import { environmentCode, type Part, WindowShares } from './window-shares.js'

/** In front of a key that a publishable API key sent: U+0000, which is refused in every body (decision 23). */
export const publishableMark = '\0'

/** The key as its caller sent it. */
export function keyAsSent(key: string): string {
  return key.startsWith(publishableMark) ? key.slice(publishableMark.length) : key
}

const isMarked = (key: string): boolean => key.charCodeAt(0) === 0

/** How long a key is remembered from its first receipt; at exactly this age it is free again (EV-26). */
export const windowMs = 24 * 3_600_000

/** The first event with a key. */
export interface Claim {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  /** Fingerprint of the event's content (core/usage/fingerprint.ts). */
  readonly print: number
  /** While the first event is under way: resolves when it is durable, rejects when it was lost. */
  readonly durable: Promise<void> | null
}

/** Memory of a key in the window, at most. */
export const keyBytes = 40

/** Segments looked at by one turn of a sweep: a turn a second comes round once a minute. */
export const segmentsPerTurn = 69

const wordsPerEntry = 7
const slotsMin = 8
/** Load factor of a segment; scanning tags is cheap enough for a high one. */
const loadMax = 0.92
const growth = 1.125

/**
 * The window: at most `keysMax` keys in less than 40 bytes each from some hundred thousand on
 * (bench/core/dedupe.bench.ts), divided among environments as WindowShares says. Each environment's keys age by that
 * environment's clock, so nothing depends on the order they came in. Names of one environment and class are told
 * apart by 76 bits of SHA-256: with 10 000 000 keys remembered, an event is taken for another's duplicate once in
 * 7·10¹⁵; no caller can cause it for another environment's name.
 */
export class Dedupe implements KeySource {
  private readonly segments: (Segment | undefined)[] = new Array(segmentCount)
  /** First events that are not durable yet. */
  private readonly underWay = new InFlightClaims()
  private count = 0
  private turn = 0
  private reserved = 0
  private readonly ids = new IdReader()

  readonly shares: WindowShares
  /** Where old keys are. */
  private archive: KeyArchive | null = null
  /** The segment that was located last. */
  private located = 0

  /** keysMax  a full window refuses new keys rather than forgetting old ones. */
  constructor(private readonly keysMax: number) {
    this.shares = new WindowShares(keysMax)
  }

  /** Keys remembered now, those that are old and not swept yet among them. */
  get size(): number {
    return this.count + (this.archive?.size ?? 0)
  }

  /** Keys that are in no file. */
  get inMemory(): number {
    return this.count
  }

  /** Look for old keys in an archive, which takes them from here (`KeyArchive.rotate`). */
  keepOldIn(archive: KeyArchive): void {
    this.archive = archive
  }

  /** Divide the window among so many environments; until the first call all environments share all of it. */
  divide(environments: number): void {
    this.shares.divide(environments)
  }

  /** Some keys of the window are not known yet: one that is not here may have been used all the same. */
  lacksSome = false

  /** Whether no other key of this class fits; `key`: any of it. */
  isFull(environmentId: string, key: string): boolean {
    return this.room(environmentId, isMarked(key)) <= 0
  }

  /** Further keys of an environment that fit. */
  room(environmentId: string, publishable: boolean): number {
    return this.lacksSome ? 0 : this.shares.room(this.shares.of(environmentId, publishable))
  }

  /** Parts of environments into which no other key fits. */
  full(): readonly Part[] {
    return this.shares.full()
  }

  /** Bytes of the tables. */
  get bytes(): number {
    const tables = this.segments.reduce((sum, segment) => sum + (segment?.bytes ?? 0), 0)
    return tables + (this.archive?.memory ?? 0)
  }

  /**
   * Claim a key for an event, or find the event that has it.
   *
   * event    its id as `newId('evt_')` makes them; throws for any other.
   * nowMs    server receipt of this event by its environment's clock, epoch ms.
   * returns  null when the key is now this event's; else the claim of the first one.
   * source   EV-25, EV-26, EV-27.
   */
  claim(
    environmentId: string,
    key: string,
    event: {
      readonly eventId: string
      readonly capturedAtMs: number
      readonly durable: Promise<void> | null
      readonly print?: number
    },
    nowMs: number,
  ): Claim | null {
    const [high, low] = wordsOf(event.eventId)
    const { capturedAtMs, durable, print = unknownPrint } = event
    return this.claimFor(environmentId, key, high, low, capturedAtMs, durable, nowMs, print)
  }

  /** The same for an event whose id is given as its 64 bits. */
  claimFor(
    environmentId: string,
    key: string,
    high: number,
    low: number,
    capturedAtMs: number,
    durable: Promise<void> | null,
    nowMs: number,
    print = unknownPrint,
  ): Claim | null {
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    const first = this.alive(segment, at, nowMs)
    if (first !== null) return first
    this.archive?.claimed(this.shares.at(segment.partSought).code, nowMs)
    this.write(segment, at, high, low, capturedAtMs, nowMs, print)
    if (durable !== null) this.underWay.put(high, low, durable)
    return null
  }

  /** The event that has a key now, or null. Arguments as `claim`. */
  find(environmentId: string, key: string, nowMs: number): Claim | null {
    const segment = this.locate(environmentId, key)
    return this.alive(segment, segment.find(), nowMs)
  }

  /** Whether this event holds the key and is known to be durable. */
  isConfirmed(environmentId: string, key: string, eventId: string): boolean {
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    if (at < 0) return this.archived(segment)?.eventId === eventId
    return segment.eventId(at) === eventId && this.inFlight(segment, at) === null
  }

  /** The event that holds a key is durable. */
  confirm(environmentId: string, key: string): void {
    if (this.underWay.size === 0) return
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    if (at >= 0) this.underWay.delete(segment.idHigh(at), segment.idLow(at))
  }

  /** The event with this id is durable: its claim is final, and its duplicates may be answered. */
  markDurable(high: number, low: number): void {
    this.underWay.delete(high, low)
  }

  /** The event was not made durable: its key is free. */
  release(environmentId: string, key: string, eventId: string): void {
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    if (at < 0 || segment.eventId(at) !== eventId) return
    this.underWay.delete(segment.idHigh(at), segment.idLow(at))
    this.shares.removed(this.shares.at(segment.partOf(at)))
    segment.remove(at)
    this.count--
  }

  /** Store the fingerprint of an event that holds a key, now that its content is known. */
  print(environmentId: string, key: string, eventId: string, print: number): void {
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    if (at >= 0 && segment.eventId(at) === eventId) segment.putPrint(at, print)
  }

  /** Make room for keys that are about to be loaded, further ones each time: to grow by eighths would move each many times. */
  reserve(further: number): void {
    this.reserved += further
    const each = Math.min(this.reserved, this.keysMax) / segmentCount
    // chance gives a segment more than its share: most have room for it
    const slots = Math.ceil((each + Math.sqrt(each)) / loadMax)
    if (slots <= slotsMin) return
    for (let index = 0; index < segmentCount; index++) {
      const segment = this.segments[index] ?? new Segment()
      this.segments[index] = segment
      segment.reserve(slots)
    }
  }

  /** Load one claim from storage, at start, in any order: among two with one key the later receipt counts. */
  load(
    environmentId: string,
    key: string,
    eventId: string,
    capturedAtMs: number,
    receivedAtMs: number,
    print = unknownPrint,
  ): void {
    const [high, low] = wordsOf(eventId)
    this.loadWords(environmentId, key, high, low, capturedAtMs, receivedAtMs, print)
  }

  /** The same; the event by the 64 bits of its id. */
  loadWords(
    environmentId: string,
    key: string,
    high: number,
    low: number,
    capturedAtMs: number,
    receivedAtMs: number,
    print = unknownPrint,
  ): void {
    const segment = this.locate(environmentId, key)
    const at = segment.find()
    if (at >= 0 && segment.receivedAtMs(at) >= receivedAtMs) return
    this.write(segment, at, high, low, capturedAtMs, receivedAtMs, print)
  }

  /**
   * The same for one whose name ClickHouse has hashed.
   *
   * at      where its `packedClaimBytes` begin.
   * errors  Error when its event's id is none.
   */
  loadPacked(bytes: Uint8Array, at: number): void {
    const segment = this.segment((bytes[at]! << 4) | (bytes[at + 1]! & 15))
    const part = this.shares.ofCode(wordIn(bytes, at + codeAt), bytes[at + markAt] === 1)
    segment.seek(wordIn(bytes, at + 2), wordIn(bytes, at + 6), part.index)
    const slot = segment.find()
    const receivedAtMs = longIn(bytes, at + receivedAt)
    if (slot >= 0 && segment.receivedAtMs(slot) >= receivedAtMs) return
    if (!this.ids.read(bytes, at + idAt + eventPrefix.length)) throw new Error('a claim names no event')
    const print = bytes[at + printAt]! | (bytes[at + printAt + 1]! << 8)
    const capturedAtMs = longIn(bytes, at + capturedAt)
    this.write(segment, slot, this.ids.high, this.ids.low, capturedAtMs, receivedAtMs, print)
  }

  /**
   * Remove claims older than the window. Results never depend on it: it only frees memory.
   *
   * nowMs     the wall clock. Only an environment whose test clock stands still for a day is behind it: its keys
   *           may be forgotten a day after they came in.
   * segments  segments to sweep, continuing after the last call's; by default all.
   */
  sweep(nowMs: number, segments = segmentCount): void {
    for (let i = 0; i < segments; i++) {
      this.count -= this.segments[this.turn]?.sweep(nowMs - windowMs, this.shares) ?? 0
      this.turn = (this.turn + 1) % segmentCount
    }
  }

  /** The segment of a name, made to look for it. */
  private locate(environmentId: string, key: string): Segment {
    const digest = hash('sha256', nameOf(environmentId, key), 'binary')
    this.located = (digest.charCodeAt(0) << 4) | (digest.charCodeAt(1) & 15)
    const segment = this.segment(this.located)
    segment.seek(word(digest, 2), word(digest, 6), this.shares.of(environmentId, isMarked(key)).index)
    return segment
  }

  private segment(index: number): Segment {
    let segment = this.segments[index]
    if (segment === undefined) {
      segment = new Segment()
      this.segments[index] = segment
    }
    return segment
  }

  private alive(segment: Segment, at: number, nowMs: number): Claim | null {
    if (at < 0) {
      const archived = this.archived(segment)
      return archived !== null && nowMs - archived.receivedAtMs < windowMs ? archived : null
    }
    const receivedAtMs = segment.receivedAtMs(at)
    if (nowMs - receivedAtMs >= windowMs) return null
    const eventId = segment.eventId(at)
    return {
      eventId,
      capturedAtMs: segment.capturedAtMs(at),
      receivedAtMs,
      print: segment.printOf(at),
      durable: this.inFlight(segment, at),
    }
  }

  /** The archived claim of the name that was located. */
  private archived(segment: Segment): Claim | null {
    if (this.archive === null) return null
    const found = this.archive.find(this.located, segment.tagSought, segment.middleSought, segment.partSought)
    if (found === null) return null
    const { idHigh, idLow, capturedAtMs, receivedAtMs, print } = found
    return {
      eventId: encodeId(eventPrefix, idHigh, idLow),
      capturedAtMs,
      receivedAtMs,
      print,
      durable: null,
    }
  }

  recordsBefore(segment: number, untilMs: number, numberOf: (part: number) => number): Uint32Array | null {
    const records = this.segments[segment]?.recordsBefore(untilMs, numberOf) ?? new Uint32Array(0)
    for (let at = 0; at < records.length; at += recordWords)
      if (this.underWay.get(records[at + 3]!, records[at + 4]!) !== null) return null
    return sortedRecords([records])
  }

  forget(segment: number, records: Uint32Array, partOf: (number: number) => number): void {
    const table = this.segments[segment]
    if (table === undefined) return
    for (let at = 0; at < records.length; at += recordWords) {
      table.seek(records[at]!, records[at + 1]!, partOf(records[at + 2]! >>> 16))
      const slot = table.find()
      // a claim made anew since then belongs to another event
      if (slot < 0 || table.idHigh(slot) !== records[at + 3] || table.idLow(slot) !== records[at + 4])
        continue
      if (table.receivedAtMs(slot) !== receivedIn(records, at)) continue
      this.shares.removed(this.shares.at(table.partOf(slot)))
      table.remove(slot)
      this.count--
    }
    table.shrink()
  }

  private inFlight(segment: Segment, at: number): Promise<void> | null {
    return this.underWay.get(segment.idHigh(at), segment.idLow(at))
  }

  /** Write the claim of the name the segment was made to look for: over the one at `at`, or anew when it is < 0. */
  private write(
    segment: Segment,
    at: number,
    high: number,
    low: number,
    capturedAtMs: number,
    receivedAtMs: number,
    print: number,
  ): void {
    let slot = at
    if (at >= 0) this.underWay.delete(segment.idHigh(at), segment.idLow(at))
    else {
      this.count++
      slot = segment.insert()
      this.shares.added(this.shares.at(segment.partOf(slot)))
    }
    segment.put(slot, high, low, capturedAtMs, receivedAtMs, print)
  }
}

/** A claim as ClickHouse would give it, in `packedClaimBytes`. */
export function packClaim(
  environmentId: string,
  key: string,
  { eventId, capturedAtMs, receivedAtMs, print = unknownPrint }: PackedClaim,
): Buffer {
  const packed = Buffer.alloc(packedClaimBytes)
  packed.write(hash('sha256', nameOf(environmentId, key), 'binary').slice(0, hashBytes), 'latin1')
  packed.writeUInt32BE(environmentCode(environmentId), codeAt)
  packed[markAt] = isMarked(key) ? 1 : 0
  packed.writeUInt16LE(print, printAt)
  packed.write(eventId, idAt, 'latin1')
  packed.writeBigInt64LE(BigInt(capturedAtMs), capturedAt)
  packed.writeBigInt64LE(BigInt(receivedAtMs), receivedAt)
  return packed
}

function wordsOf(eventId: string): readonly [high: number, low: number] {
  const id = decodeId(eventPrefix, eventId)
  if (id === null) throw new Error(`${eventId} is no id of an event`)
  return id
}

/** One table. Between `seek` and what follows it, it looks for one name. */
class Segment {
  /** First 32 bits of the hash, never 0; 0 marks a free slot. */
  private tags = new Uint32Array(slotsMin)
  /**
   * One word of the hash, one with the part it is of and its print, two of the event id, low words of captured and
   * received, and one with both their highs.
   */
  private words = new Uint32Array(slotsMin * wordsPerEntry)
  private count = 0
  tagSought = 0
  middleSought = 0
  partSought = 0

  get bytes(): number {
    return this.tags.byteLength + this.words.byteLength
  }

  reserve(slots: number): void {
    if (slots > this.tags.length) this.resize(slots)
  }

  /** index of the name's part of the window (WindowShares). */
  seek(tag: number, middle: number, part: number): void {
    this.tagSought = tag || 1
    this.middleSought = middle
    this.partSought = part
  }

  /** Slot of the name, or -1. */
  find(): number {
    const { tags, words, tagSought: tag } = this
    for (let slot = home(tag, tags.length); ; slot = slot + 1 === tags.length ? 0 : slot + 1) {
      const held = tags[slot]!
      if (held === 0) return -1
      if (held !== tag) continue
      const at = slot * wordsPerEntry
      if (words[at] === this.middleSought && words[at + 1]! >>> 16 === this.partSought) return slot
    }
  }

  /** A slot for the name, which is not in the table. */
  insert(): number {
    if (this.count + 1 > this.tags.length * loadMax) this.resize(Math.ceil(this.tags.length * growth))
    this.count++
    const slot = this.free(this.tagSought)
    this.tags[slot] = this.tagSought
    this.words[slot * wordsPerEntry] = this.middleSought
    this.words[slot * wordsPerEntry + 1] = this.partSought << 16
    return slot
  }

  put(
    slot: number,
    idHigh: number,
    idLow: number,
    capturedAtMs: number,
    receivedAtMs: number,
    print: number,
  ): void {
    const { words } = this
    const at = slot * wordsPerEntry
    words[at + 1] = (words[at + 1]! & 0xffff_0000) | print
    words[at + 2] = idHigh
    words[at + 3] = idLow
    words[at + 4] = capturedAtMs // its low 32 bits
    words[at + 5] = receivedAtMs
    words[at + 6] = (high16(capturedAtMs) << 16) | high16(receivedAtMs)
  }

  putPrint(slot: number, print: number): void {
    const at = slot * wordsPerEntry + 1
    this.words[at] = (this.words[at]! & 0xffff_0000) | print
  }

  printOf(slot: number): number {
    return this.words[slot * wordsPerEntry + 1]! & 0xffff
  }

  partOf(slot: number): number {
    return this.words[slot * wordsPerEntry + 1]! >>> 16
  }

  eventId(slot: number): string {
    return encodeId(eventPrefix, this.idHigh(slot), this.idLow(slot))
  }

  idHigh(slot: number): number {
    return this.words[slot * wordsPerEntry + 2]!
  }

  idLow(slot: number): number {
    return this.words[slot * wordsPerEntry + 3]!
  }

  capturedAtMs(slot: number): number {
    const at = slot * wordsPerEntry
    return (this.words[at + 6]! >>> 16) * 0x1_0000_0000 + this.words[at + 4]!
  }

  receivedAtMs(slot: number): number {
    const at = slot * wordsPerEntry
    return (this.words[at + 6]! & 0xffff) * 0x1_0000_0000 + this.words[at + 5]!
  }

  /** Empty a slot; slots behind it move up where a lookup would otherwise miss them. */
  remove(slot: number): void {
    const { tags, words } = this
    const size = tags.length
    let hole = slot
    for (let next = (hole + 1) % size; tags[next] !== 0; next = (next + 1) % size) {
      const way = (next - home(tags[next]!, size) + size) % size
      if (way < (next - hole + size) % size) continue
      tags[hole] = tags[next]!
      words.copyWithin(hole * wordsPerEntry, next * wordsPerEntry, (next + 1) * wordsPerEntry)
      hole = next
    }
    tags[hole] = 0
    this.count--
  }

  /** Remove claims received at or before an instant; returns how many. */
  sweep(untilMs: number, shares: WindowShares): number {
    const before = this.count
    for (let slot = 0; slot < this.tags.length; slot++)
      // a slot that moved up is swept too; one that moved round the end, in the next call
      while (this.tags[slot] !== 0 && this.receivedAtMs(slot) <= untilMs) {
        shares.removed(shares.at(this.partOf(slot)))
        this.remove(slot)
      }
    this.shrink()
    return before - this.count
  }

  /** Give back the memory of slots that are free. */
  shrink(): void {
    if (this.tags.length > slotsMin && this.count < (this.tags.length * loadMax) / 2)
      this.resize(Math.max(slotsMin, Math.ceil((this.count / loadMax) * growth)))
  }

  /** Records of claims received before an instant (key-file.ts), in any order. */
  recordsBefore(untilMs: number, numberOf: (part: number) => number): Uint32Array {
    const { tags, words } = this
    const records = new Uint32Array(this.count * recordWords)
    let into = 0
    for (let slot = 0; slot < tags.length; slot++) {
      if (tags[slot] === 0 || this.receivedAtMs(slot) >= untilMs) continue
      records[into] = tags[slot]!
      const at = slot * wordsPerEntry
      for (let i = 0; i < wordsPerEntry; i++) records[into + 1 + i] = words[at + i]!
      records[into + 2] = ((numberOf(this.partOf(slot)) << 16) | this.printOf(slot)) >>> 0
      into += recordWords
    }
    return records.slice(0, into)
  }

  private resize(slots: number): void {
    const { tags, words } = this
    this.tags = new Uint32Array(slots)
    this.words = new Uint32Array(slots * wordsPerEntry)
    for (let from = 0; from < tags.length; from++) {
      if (tags[from] === 0) continue
      const slot = this.free(tags[from]!)
      this.tags[slot] = tags[from]!
      const at = from * wordsPerEntry
      // seven words: a loop is quicker than a view
      for (let i = 0; i < wordsPerEntry; i++) this.words[slot * wordsPerEntry + i] = words[at + i]!
    }
  }

  private free(tag: number): number {
    const { tags } = this
    let slot = home(tag, tags.length)
    while (tags[slot] !== 0) slot = slot + 1 === tags.length ? 0 : slot + 1
    return slot
  }
}

/** A key's name among those of all environments. */
const nameOf = (environmentId: string, key: string): string => `${environmentId}\0${key}`

/** Where a tag's probing begins: its share of the table, whose size is no power of two. */
const home = (tag: number, slots: number): number => Math.floor((tag / 0x1_0000_0000) * slots)

/** Bits 32…47 of an instant. */
const high16 = (epochMs: number): number => Math.floor(epochMs / 0x1_0000_0000) & 0xffff

const wordIn = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

const word = (digest: string, at: number): number =>
  ((digest.charCodeAt(at) << 24) |
    (digest.charCodeAt(at + 1) << 16) |
    (digest.charCodeAt(at + 2) << 8) |
    digest.charCodeAt(at + 3)) >>>
  0

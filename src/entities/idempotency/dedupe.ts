// Idempotency keys of events: 24 hours, per environment, from the first receipt (EV-25…29).
// The key rides in its event's journal record, so "seen" and "counted" cannot disagree; this window is the
// memory of it, claimed before an event leaves and given back when its record was not made durable.
//
//   name ─ sha256 ─▶ 12 bits choose the segment │ 32 bits: the tag │ 32 more bits
//
// The table is key-table.ts; 76 bits of the hash tell the names of one environment apart.
//
// Keys of publishable API keys are a namespace of their own (decision 23): their names carry a mark that no caller
// can send, here, in the journal and in ClickHouse alike. Records without a mark, from before it existed, count as
// those of secret keys.
import { hash } from 'node:crypto'
import { unknownPrint } from '../../core/values/fingerprint.js'
import { decodeId, encodeId, IdReader } from '../../core/values/id.js'
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
} from '../../wire/packed-claim.js'
import { InFlightClaims } from './in-flight.js'
import type { Archived, KeyArchive, KeySource } from './key-archive.js'
import { sortedRecords } from './key-archive.js'
import { segmentCount } from './key-file.js'
import { KeyTable } from './key-table.js'
import { NamePlace, nameOf } from './name-place.js'
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

/**
 * Whether a key that was received at an instant counts at another. One received a day or more ahead was used under a test
 * clock that was removed since.
 *
 * source  EV-26.
 */
export const isRemembered = (receivedAtMs: number, nowMs: number): boolean =>
  Math.abs(nowMs - receivedAtMs) < windowMs

/** Presents of environments, by the code that their keys have. */
const byEnvironmentCode = (presents: ReadonlyMap<string, number>): ReadonlyMap<number, number> =>
  new Map([...presents].map(([id, presentMs]) => [environmentCode(id), presentMs]))

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

/** Segments looked at by one turn of a sweep: a turn a second comes round once a minute. */
export const segmentsPerTurn = 69

/**
 * The window: at most `keysMax` keys in less than 44 bytes each from some hundred thousand on
 * (bench/core/dedupe.bench.ts), divided among environments as WindowShares says. Each environment's keys age by that
 * environment's clock, so nothing depends on the order they came in. Names of one environment and class are told
 * apart by 76 bits of SHA-256: with 10 000 000 keys remembered, an event is taken for another's duplicate once in
 * 7·10¹⁵; no caller can cause it for another environment's name.
 */
export class Dedupe implements KeySource {
  private readonly table: KeyTable
  /** First events that are not durable yet. */
  private readonly underWay = new InFlightClaims()
  private count = 0
  private turn = 0
  private reserved = 0
  private readonly ids = new IdReader()
  private readonly names = new NamePlace()
  /** Names that are about to be claimed. */
  private readonly prepared = new PreparedNames()
  /** Sum of the tags that were read ahead; it keeps those reads. */
  private ahead = 0

  readonly shares: WindowShares
  /** Where old keys are. */
  private archive: KeyArchive | null = null
  /** Whether a claim that is loaded counts, by the code of its environment and its receipt. */
  private counts = (_code: number, _receivedAtMs: number): boolean => true

  /** keysMax  a full window refuses new keys rather than forgetting old ones. */
  constructor(keysMax: number) {
    this.shares = new WindowShares(keysMax)
    this.table = new KeyTable(keysMax)
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

  /** Bytes of the table and of the archive's filters. */
  get bytes(): number {
    return this.table.bytes + (this.archive?.memory ?? 0)
  }

  /**
   * Open a ticket for claims whose events become durable, or are lost, together.
   *
   * outcome  resolves when they are durable, rejects when they were lost.
   * returns  the ticket, to be closed with `end`.
   */
  begin(outcome: Promise<void>): number {
    return this.underWay.open(outcome)
  }

  /** Tickets that were not ended. */
  get ticketsOpen(): number {
    return this.underWay.size
  }

  /** All claims with this ticket are final or given back. */
  end(ticket: number): void {
    this.underWay.close(ticket)
  }

  /**
   * Claim a key for an event, or find the event that has it.
   *
   * event    its id as `newId('evt_')` makes them; throws for any other. ticket: of `begin`; 0: it is durable.
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
      readonly ticket?: number
      readonly print?: number
    },
    nowMs: number,
  ): Claim | null {
    const [high, low] = wordsOf(event.eventId)
    const { capturedAtMs, ticket = 0, print = unknownPrint } = event
    return this.claimFor(environmentId, key, high, low, capturedAtMs, ticket, nowMs, print)
  }

  /** The same for an event whose id is given as its 64 bits. */
  claimFor(
    environmentId: string,
    key: string,
    high: number,
    low: number,
    capturedAtMs: number,
    ticket: number,
    nowMs: number,
    print = unknownPrint,
  ): Claim | null {
    this.seek(environmentId, key)
    return this.claimSought(high, low, capturedAtMs, ticket, nowMs, print)
  }

  /**
   * Hash the name of a key that is about to be claimed. All names of a batch are prepared before the first is claimed: so
   * the processor waits for their places in memory together, not for one after the other.
   *
   * n  its number; from 0 on.
   */
  prepare(n: number, environmentId: string, key: string): void {
    const { table, prepared } = this
    this.seek(environmentId, key)
    prepared.put(n, table.segment, table.tag, table.middle, table.part)
    this.ahead = (this.ahead + table.touch(table.segment, table.tag)) | 0
  }

  /** The same of a secret key's name that another thread has hashed (`NamePlace`). */
  preparePlace(n: number, environmentId: string, segment: number, tag: number, middle: number): void {
    const { table, prepared } = this
    table.seek(segment, tag, middle, this.shares.of(environmentId, false).index)
    prepared.put(n, table.segment, table.tag, table.middle, table.part)
    this.ahead = (this.ahead + table.touch(table.segment, table.tag)) | 0
  }

  /** All names of a batch are prepared: find out together which of them may be old. It may be left out. */
  siftPrepared(count: number): void {
    this.archive?.sift(this.prepared, count, this.prepared.mayBeOld)
  }

  /** As `claimFor`, of a prepared name. */
  claimPrepared(
    n: number,
    high: number,
    low: number,
    capturedAtMs: number,
    ticket: number,
    nowMs: number,
    print: number,
  ): Claim | null {
    const { segments, tags, middles, parts, mayBeOld } = this.prepared
    this.table.seek(segments[n]!, tags[n]!, middles[n]!, parts[n]!)
    return this.claimSought(high, low, capturedAtMs, ticket, nowMs, print, mayBeOld[n] === 1)
  }

  private claimSought(
    high: number,
    low: number,
    capturedAtMs: number,
    ticket: number,
    nowMs: number,
    print: number,
    mayBeOld = true,
  ): Claim | null {
    const { table } = this
    const slot = table.find()
    const first = slot < 0 && !mayBeOld ? null : this.alive(slot, nowMs)
    if (first !== null) return first
    this.archive?.claimed(this.shares.at(table.part).code, nowMs)
    this.write(slot, high, low, capturedAtMs, nowMs, print, ticket)
    return null
  }

  /** The place of the name that was claimed last, for `releaseAt` and its kind. */
  get place(): KeyPlace {
    return this.table
  }

  /** The event that has a key now, or null. Arguments as `claim`. */
  find(environmentId: string, key: string, nowMs: number): Claim | null {
    this.seek(environmentId, key)
    return this.alive(this.table.find(), nowMs)
  }

  /** Whether the event with these 64 bits holds the key at a place and is known to be durable. */
  isConfirmedAt({ segment, tag, middle, part }: KeyPlace, high: number, low: number): boolean {
    const { table } = this
    table.seek(segment, tag, middle, part)
    const slot = table.find()
    if (slot < 0) {
      const old = this.inArchive()
      return old !== null && old.idHigh === high && old.idLow === low
    }
    return table.idHigh(slot) === high && table.idLow(slot) === low && this.inFlight(slot) === null
  }

  /** The event that holds a key is durable. */
  confirm(environmentId: string, key: string): void {
    if (this.underWay.size === 0) return
    this.seek(environmentId, key)
    this.confirmSought()
  }

  /** The same by the key's place. */
  confirmAt({ segment, tag, middle, part }: KeyPlace): void {
    this.table.seek(segment, tag, middle, part)
    this.confirmSought()
  }

  private confirmSought(): void {
    const slot = this.table.find()
    if (slot >= 0) this.table.putTicket(slot, 0)
  }

  /** The event was not made durable: its key is free. */
  release(environmentId: string, key: string, eventId: string): void {
    const [high, low] = wordsOf(eventId)
    this.seek(environmentId, key)
    this.releaseSought(high, low)
  }

  /** The same by the key's place and the event's 64 bits. */
  releaseAt({ segment, tag, middle, part }: KeyPlace, high: number, low: number): void {
    this.table.seek(segment, tag, middle, part)
    this.releaseSought(high, low)
  }

  private releaseSought(high: number, low: number): void {
    const { table } = this
    const slot = table.find()
    if (slot < 0 || table.idHigh(slot) !== high || table.idLow(slot) !== low) return
    this.shares.removed(this.shares.at(table.partOf(slot)))
    table.remove(slot)
    this.count--
  }

  /** Store the fingerprint of an event that holds a key, now that its content is known. */
  print(environmentId: string, key: string, eventId: string, print: number): void {
    this.seek(environmentId, key)
    const slot = this.table.find()
    if (slot >= 0 && this.eventId(slot) === eventId) this.table.putPrint(slot, print)
  }

  /** Make room for keys that are about to be loaded, further ones each time: growing step by step would move each many times. */
  reserve(further: number): void {
    this.reserved += further
    this.table.reserve(this.reserved)
  }

  /**
   * From now on load only claims that count at these presents: one of a clock that was removed would hide a later one.
   *
   * nowMs     the wall clock.
   * presents  the present of each environment that has a test clock.
   */
  loadAt(nowMs: number, presents: ReadonlyMap<string, number>): void {
    const byCode = byEnvironmentCode(presents)
    this.counts = (code, receivedAtMs) => isRemembered(receivedAtMs, byCode.get(code) ?? nowMs)
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
    this.seek(environmentId, key)
    if (!this.counts(this.shares.at(this.table.part).code, receivedAtMs)) return
    const slot = this.table.find()
    if (slot >= 0 && this.table.receivedAtMs(slot) >= receivedAtMs) return
    this.write(slot, high, low, capturedAtMs, receivedAtMs, print, 0)
  }

  /**
   * The same for claims whose names ClickHouse has hashed, `packedClaimBytes` each.
   *
   * errors  Error when the id of an event is none.
   */
  loadPacked(bytes: Uint8Array): void {
    const { table } = this
    for (let from = 0; from < bytes.length; from += readAhead * packedClaimBytes) {
      const until = Math.min(bytes.length, from + readAhead * packedClaimBytes)
      // all of these places in memory are waited for together
      for (let at = from; at < until; at += packedClaimBytes)
        this.ahead = (this.ahead + table.touch(segmentIn(bytes, at), wordIn(bytes, at + 2))) | 0
      for (let at = from; at < until; at += packedClaimBytes) this.loadOne(bytes, at)
    }
  }

  private loadOne(bytes: Uint8Array, at: number): void {
    const { table } = this
    const part = this.shares.ofCode(wordIn(bytes, at + codeAt), bytes[at + markAt] === 1)
    const receivedAtMs = longIn(bytes, at + receivedAt)
    if (!this.counts(part.code, receivedAtMs)) return
    table.seek(segmentIn(bytes, at), wordIn(bytes, at + 2), wordIn(bytes, at + 6), part.index)
    const slot = table.find()
    if (slot >= 0 && table.receivedAtMs(slot) >= receivedAtMs) return
    if (!this.ids.read(bytes, at + idAt + eventPrefix.length)) throw new Error('a claim names no event')
    const print = bytes[at + printAt]! | (bytes[at + printAt + 1]! << 8)
    const capturedAtMs = longIn(bytes, at + capturedAt)
    this.write(slot, this.ids.high, this.ids.low, capturedAtMs, receivedAtMs, print, 0)
  }

  /**
   * Remove claims outside of the window. Results never depend on it: it only frees memory.
   *
   * nowMs     the wall clock.
   * segments  segments to sweep, continuing after the last call's; by default all.
   * presents  the present of each environment that has a test clock.
   */
  sweep(nowMs: number, segments = segmentCount, presents: ReadonlyMap<string, number> = new Map()): void {
    const byCode = byEnvironmentCode(presents)
    const isOver = (receivedAtMs: number, part: number): boolean => {
      if (isRemembered(receivedAtMs, nowMs)) return false
      const presentMs = byCode.get(this.shares.at(part).code)
      return presentMs === undefined || !isRemembered(receivedAtMs, presentMs)
    }
    for (let i = 0; i < segments; i++) {
      this.count -= this.table.sweep(this.turn, this.shares, isOver)
      this.turn = (this.turn + 1) % segmentCount
    }
  }

  /** Have the table look for a name. */
  private seek(environmentId: string, key: string): void {
    const { names } = this
    names.hash(environmentId, key)
    const { segment, tag, middle } = names
    this.table.seek(segment, tag, middle, this.shares.of(environmentId, isMarked(key)).index)
  }

  private alive(slot: number, nowMs: number): Claim | null {
    if (slot < 0) {
      const archived = this.archived()
      return archived !== null && isRemembered(archived.receivedAtMs, nowMs) ? archived : null
    }
    const { table } = this
    const receivedAtMs = table.receivedAtMs(slot)
    if (!isRemembered(receivedAtMs, nowMs)) return null
    return {
      eventId: this.eventId(slot),
      capturedAtMs: table.capturedAtMs(slot),
      receivedAtMs,
      print: table.printOf(slot),
      durable: this.inFlight(slot),
    }
  }

  /** The archived claim of the name that is sought. */
  private archived(): Claim | null {
    const found = this.inArchive()
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

  private inArchive(): Archived | null {
    if (this.archive === null) return null
    const { segment, tag, middle, part } = this.table
    return this.archive.find(segment, tag, middle, part)
  }

  recordsBefore(segment: number, untilMs: number, numberOf: (part: number) => number): Uint32Array | null {
    const isOpen = (ticket: number): boolean => this.underWay.get(ticket) !== null
    const records = this.table.recordsBefore(segment, untilMs, numberOf, isOpen)
    return records === null ? null : sortedRecords([records])
  }

  forget(segment: number, records: Uint32Array, partOf: (number: number) => number): void {
    for (const part of this.table.forget(segment, records, partOf)) {
      this.shares.removed(this.shares.at(part))
      this.count--
    }
  }

  private inFlight(slot: number): Promise<void> | null {
    return this.underWay.get(this.table.ticketOf(slot))
  }

  private eventId(slot: number): string {
    return encodeId(eventPrefix, this.table.idHigh(slot), this.table.idLow(slot))
  }

  /** Write the claim of the name that is sought: over the one in a slot, or anew when that is < 0. */
  private write(
    slot: number,
    high: number,
    low: number,
    capturedAtMs: number,
    receivedAtMs: number,
    print: number,
    ticket: number,
  ): void {
    const { table } = this
    let into = slot
    if (slot < 0) {
      this.count++
      into = table.insert()
      this.shares.added(this.shares.at(table.part))
    }
    table.put(into, high, low, capturedAtMs, receivedAtMs, print, ticket)
  }
}

/** Where a key's claim is looked for. */
export interface KeyPlace {
  readonly segment: number
  readonly tag: number
  readonly middle: number
  readonly part: number
}

/** Places of names by their numbers; used again for each batch. */
class PreparedNames {
  segments = new Uint16Array(0)
  tags = new Uint32Array(0)
  middles = new Uint32Array(0)
  parts = new Uint16Array(0)
  /** Whether the archive may have it. */
  mayBeOld = new Uint8Array(0)

  put(n: number, segment: number, tag: number, middle: number, part: number): void {
    if (n >= this.tags.length) this.grow(2 * n + 64)
    this.segments[n] = segment
    this.tags[n] = tag
    this.middles[n] = middle
    this.parts[n] = part
    this.mayBeOld[n] = 1
  }

  private grow(places: number): void {
    const { segments, tags, middles, parts, mayBeOld } = this
    this.segments = new Uint16Array(places)
    this.tags = new Uint32Array(places)
    this.middles = new Uint32Array(places)
    this.parts = new Uint16Array(places)
    this.mayBeOld = new Uint8Array(places)
    this.mayBeOld.set(mayBeOld)
    this.segments.set(segments)
    this.tags.set(tags)
    this.middles.set(middles)
    this.parts.set(parts)
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

/** Claims that are read ahead of the one that is written. */
const readAhead = 64

const segmentIn = (bytes: Uint8Array, at: number): number => (bytes[at]! << 4) | (bytes[at + 1]! & 15)
const wordIn = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

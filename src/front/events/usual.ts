// The way of the usual event: a track event whose company (and user) is known. It is never an object here: its parts are
// found in what was received, and their places cross to the shard. From the first event of a body that is not of this
// kind on, everything goes the way of any event (ingest.ts); callers see no difference.
import { Buffer } from 'node:buffer'
import { nextRandom, random, returnRandom } from '../../account/ids.js'
import type { FailedEvent, RepeatOf } from '../../core/model/message.js'
import { actorIdLength, UsageBatchWriter } from '../../core/usage/batch.js'
import { differ, printOf } from '../../core/values/fingerprint.js'
import { decodeId, encodeId } from '../../core/values/id.js'
import type { DirectoryKind } from '../../entities/directory/directory.js'
import type { Claim } from '../../entities/idempotency/dedupe.js'
import type { Undelivered } from '../../entities/shards/shards.js'
import { readEvents } from '../../events/read.js'
import type { Scanned, ScannedKeys } from '../../events/scan.js'
import { type Answer, Deferred } from '../../kit/call.js'
import {
  acknowledgement,
  acknowledgements,
  answerEnd,
  answerStart,
  dataFrom,
  noBytes,
  tail,
  type Unusual,
  unusualBytes,
} from './acknowledgements.js'
import { Claims, nameOf, nothingUndone, type Sender } from './claims.js'
import { acknowledged } from './ingest.js'
import { ingestElsewhere, isForElsewhere } from './large.js'
import { ingestMany } from './many.js'
import { isPublic, mayName, namesEvents, quantityMaxOf } from './publishable.js'
import {
  fill,
  fillWithCopies,
  found,
  mark,
  nothingUsual,
  scan,
  scanList,
  scanOne,
  type UsualList,
  use,
} from './usual-body.js'

/** Rows by shard; taken before anything else runs. */
const rows: UsageBatchWriter[] = []

/**
 * As `ingestMany`, of a body `{"events": […]}`.
 *
 * text        the body; byteLength: of the same as it was received.
 * bare        the request named no parameters: then its whole answer may be written here.
 * returns     `{"events": […]}`, acknowledgements in the order given.
 * errors      also those of `readEvents`: then nothing was taken.
 */
export async function ingestText(
  sender: Sender,
  text: string,
  byteLength: number,
  report: boolean,
  bare: boolean,
): Promise<Answer> {
  // nothing is awaited here: a function that waits would keep the text until the journal has written
  return taken(sender, text, byteLength, report, bare)
}

function taken(
  sender: Sender,
  text: string,
  byteLength: number,
  report: boolean,
  bare: boolean,
): Promise<Answer> {
  const usual = takesUsual(sender) ? usualIn(sender, text, byteLength) : nothingUsual
  const room = roomOf(sender)
  const elsewhere = isForElsewhere(sender, byteLength)
  if (elsewhere && (usual.count === 0 || !usual.whole || room < usual.count)) {
    scan.end()
    return acknowledgedAll(ingestElsewhere(sender, text, 'events', report))
  }
  if (usual.count === 0 || room < usual.count) {
    scan.end()
    return acknowledgedAll(ingestMany(sender, readEvents(text), report))
  }
  // what is wrong with the whole body is told before anything is taken
  const events = usual.whole ? null : readEvents(text)
  if (events !== null && room < events.length) {
    scan.end()
    return acknowledgedAll(ingestMany(sender, events, report))
  }
  sender.services.backlog.admit()
  const batch = new PlainBatch(sender, usual.count)
  const count = batch.takeAll()
  const sent = batch.commit()
  if (count === usual.count && usual.whole) return answerOf(batch, sent, report, bare)
  const others = elsewhere
    ? ingestElsewhere(sender, text, 'events', report, { skip: count })
    : ingestMany(sender, (events ?? readEvents(text)).slice(count), report)
  return answerWith(batch, sent, others, report)
}

async function acknowledgedAll(acks: Promise<readonly string[]>): Promise<Answer> {
  return acknowledged(await acks)
}

async function answerOf(
  batch: PlainBatch,
  sent: Promise<void>,
  report: boolean,
  bare: boolean,
): Promise<Answer> {
  await sent
  return bare ? batch.answer() : acknowledged([batch.acknowledgements(report)])
}

/** The answer to a batch whose later events go the way of any event. */
async function answerWith(
  batch: PlainBatch,
  sent: Promise<void>,
  others: Promise<readonly string[]>,
  report: boolean,
): Promise<Answer> {
  const [first, rest] = await Promise.allSettled([sent, others])
  if (first.status === 'rejected') throw first.reason
  if (rest.status === 'rejected') throw rest.reason
  return acknowledged(batch.isEmpty ? rest.value : [batch.acknowledgements(report), ...rest.value])
}

/**
 * As `ingestOne`, of a body that is one event.
 *
 * body     as received.
 * returns  null when it is not of the usual kind: then nothing was done.
 */
export function ingestOneBytes(sender: Sender, body: Buffer): Deferred | null {
  if (!takesUsual(sender) || roomOf(sender) <= 0) return null
  const one = scanOne(body, sender.key.kind === 'secret')
  if (one === null || !mayCount(sender, one, quantityMaxOf(sender))) {
    scan.end()
    return null
  }
  sender.services.backlog.admit()
  if (one.keyEnd === one.keyAt) return ingestKeyless(sender, one)
  const batch = new PlainBatch(sender, 1)
  if (batch.takeAll() === 1) return batch.commitOne()
  scan.end()
  return null
}

/** One event that nobody can have sent before: nothing is claimed. */
function ingestKeyless(sender: Sender, one: Scanned): Deferred | null {
  if (!findWhose(sender, one)) {
    scan.end()
    return null
  }
  nextRandom()
  const text = fill(one, scan.text)
  const later = new OneUse(sender, random.high, random.low)
  oneRow.add(use)
  const { shards } = sender.services
  shards.putUse(
    shards.indexOf(use.companyId),
    { at: sender.nowMs, env: sender.environmentId, apiKeyId: sender.key.id, text, rows: oneRow },
    later,
  )
  oneRow.clear()
  scan.end()
  noteSeen(sender)
  return later
}

const oneRow = new UsageBatchWriter()

/** Find whose event it is: in `use` then; false when its company or user asks for more than is done here. */
function findWhose(sender: Sender, one: Scanned): boolean {
  const { directory } = sender.services
  const companyId = find(sender, 'company', one.company)
  if (companyId === null) return false
  const userId = one.user.count === 0 ? null : find(sender, 'user', one.user)
  if (userId === null ? one.user.count > 0 : !directory.isMember(userId, companyId)) return false
  use.companyId = companyId
  use.userId = userId
  return true
}

function noteSeen({ services, environmentId, nowMs }: Sender): void {
  if (use.userId !== null) services.userSeen.note(use.userId, environmentId, nowMs)
}

/** The entity with these keys, unless a write to it is in flight. */
function find(sender: Sender, kind: DirectoryKind, keys: ScannedKeys): string | null {
  const { services, environmentId } = sender
  const { directory } = services
  const id =
    keys.count === 1 ? directory.findSent(kind, environmentId, scan, keys) : findByAll(sender, kind, keys)
  return id === null || id.length !== actorIdLength || directory.isUnconfirmed(id) ? null : id
}

function findByAll(
  { services, environmentId }: Sender,
  kind: DirectoryKind,
  { count, at, end }: ScannedKeys,
): string | null {
  if (count === 0) return null
  const keys = JSON.parse(scan.text.slice(at, end)) as Record<string, string>
  const id = services.directory.resolve(kind, environmentId, keys).found
  return id !== null && services.directory.has(environmentId, id) ? id : null
}

/** One event without a key: who waits at its shard, and the acknowledgement itself. */
class OneUse extends Deferred implements Answer {
  constructor(
    private readonly sender: Sender,
    private readonly high: number,
    private readonly low: number,
  ) {
    super(null)
  }

  protected override answerOf(): Answer {
    const { events } = this.sender.services.metrics
    events.accepted.count++
    events.applied.count++
    return this
  }

  get json(): string {
    const bytes = this.bytes
    return Buffer.from(
      bytes.buffer,
      bytes.byteOffset + dataFrom,
      bytes.length - dataFrom - tail.length,
    ).toString()
  }

  get bytes(): Uint8Array {
    return acknowledgement(this.sender, this.high, this.low)
  }
}

const takesUsual = (sender: Sender): boolean => !sender.key.readonly && !sender.signed && namesEvents(sender)

/** Whether a sender may count this much under this name; the slow way says why not. */
const mayCount = (sender: Sender, one: Scanned, most: number): boolean =>
  one.quantity <= most && (!isPublic(sender) || mayName(sender, scan.text.slice(one.nameAt, one.nameEnd)))

/** Keys that fit into the window's part for such senders. */
function roomOf({ services, environmentId, key }: Sender): number {
  return services.dedupe.room(environmentId, key.kind === 'publishable')
}

function usualIn(sender: Sender, text: string, byteLength: number): UsualList {
  const most = quantityMaxOf(sender)
  return scanList(text, byteLength, sender.key.kind === 'secret', one => mayCount(sender, one, most))
}

/** Events acknowledged together. */
class PlainBatch {
  private readonly claims: Claims
  /** The 64 bits of the id that each event is acknowledged with. */
  readonly ids: Uint32Array
  /** Events that were taken. */
  count = 0
  /** When a duplicate's first event was, by its place. */
  private times: Map<number, number> | null = null
  /** Duplicates that say something else than their first. */
  private readonly others = new Set<number>()
  private text = ''
  /** Texts by shard, where each has its own; null: all share one. */
  private texts: string[] | null
  /** Why events became durable as failed, by their ids; null: none did. */
  private failures: Map<string, string> | null = null

  /** found: events that were found, at most so many are taken. */
  constructor(
    private readonly sender: Sender,
    private readonly found: number,
  ) {
    this.claims = new Claims(sender, found)
    this.ids = new Uint32Array(2 * found)
    this.text = scan.text
    this.texts = sender.services.shards.areMany ? [] : null
  }

  /** Take the events found, for whose keys the window has room; returns how many were taken. */
  takeAll(): number {
    try {
      this.prepareKeys()
      while (this.count < this.found) if (!this.take(found[this.count]!)) break
      return this.count
    } catch (error) {
      for (const list of rows) list.clear()
      this.claims.abandon()
      throw error
    }
  }

  /** No event was taken. */
  get isEmpty(): boolean {
    return this.count === 0
  }

  private prepareKeys(): void {
    const { sender } = this
    const { dedupe } = sender.services
    for (let i = 0; i < this.found; i++) {
      const { keyAt, keyEnd } = found[i]!
      if (keyEnd > keyAt)
        dedupe.prepare(i, sender.environmentId, nameOf(sender, scan.text.slice(keyAt, keyEnd)))
    }
    dedupe.siftPrepared(this.found)
  }

  /** Take an event that was scanned; false when its company or user asks for more than is done here. */
  private take(one: Scanned): boolean {
    const { sender } = this
    if (!findWhose(sender, one)) return false
    const { companyId } = use
    nextRandom()
    const { high, low } = random
    if (one.keyEnd > one.keyAt) {
      const print = printOf('track', scan.text, one.nameAt, one.nameEnd, one.quantity, companyId)
      const first = this.claims.claimPrepared(this.count, high, low, print, companyId)
      if (first !== null && !differ(first.print, print)) return this.repeat(first)
      if (first !== null) {
        // one of other content is told of: that is more than is done here
        returnRandom()
        return false
      }
    }
    this.acknowledge(high, low)
    const shard = sender.services.shards.indexOf(companyId)
    const { texts } = this
    const marked = one.keyEnd > one.keyAt && sender.key.kind === 'publishable'
    if (texts !== null) texts[shard] = fillWithCopies(one, texts[shard] ?? '', marked)
    else {
      this.text = fill(one, this.text)
      if (marked) this.text = mark(one, this.text)
    }
    while (rows.length <= shard) rows.push(new UsageBatchWriter())
    rows[shard]!.add(use)
    noteSeen(sender)
    return true
  }

  /** `Batch.commit`: sends the events at once; resolves when they are durable. */
  async commit(): Promise<void> {
    const applied = this.applied()
    const { shards } = this.sender.services
    const fates: Promise<readonly Undelivered[]>[] = []
    for (const [index, list] of rows.entries()) {
      if (list.count === 0) continue
      fates.push(shards.ingestUses(index, this.posted(list, index), failed => this.failed(failed)))
      list.clear()
    }
    this.sent()
    const undelivered = fates.length === 1 ? await fates[0]! : (await Promise.all(fates)).flat()
    if (undelivered.length > 0) this.claims.giveUp({ ...nothingUndone, shards: undelivered })
    this.committed(applied)
    if (this.claims.waits) await this.claims.others()
  }

  /** The same for one event, without a promise; null when it is a duplicate that must wait for its first. */
  commitOne(): Deferred | null {
    const index = rows.findIndex(({ count }) => count > 0)
    if (index < 0) return this.repeated()
    const { claims } = this
    const later = new Deferred(() => {
      this.committed(1)
      return { json: this.acknowledgements(false) }
    })
    const list = rows[index]!
    const posted = this.posted(list, index)
    this.sent()
    this.sender.services.shards.putUse(
      index,
      posted,
      claims.waitingFor(later, failed => this.failed(failed)),
    )
    list.clear()
    return later
  }

  private repeated(): Deferred {
    const later = new Deferred(() => ({ json: this.acknowledgements(false) }))
    this.sent()
    this.claims.others().then(
      () => {
        this.committed(0)
        later.resolve(null)
      },
      error => later.reject(error),
    )
    return later
  }

  private failed(events: readonly FailedEvent[]): void {
    const failed = this.claims.failed(events)
    this.failures = new Map([
      ...(this.failures ?? []),
      ...failed.map(([id, reason]) => [id, reason] as const),
    ])
    for (const [id, , first] of events) if (first !== undefined) this.repeats(id, first)
  }

  /** Another node knows the first event with this one's key. */
  private repeats(id: string, first: RepeatOf): void {
    const { ids } = this
    const [mineHigh, mineLow] = decodeId('evt_', id)!
    let place = 0
    while (ids[2 * place] !== mineHigh || ids[2 * place + 1] !== mineLow) place++
    const [high, low] = decodeId('evt_', first.eventId)!
    ids[2 * place] = high
    ids[2 * place + 1] = low
    this.times ??= new Map()
    this.times.set(place, first.capturedAtMs)
    if (first.other) this.others.add(place)
  }

  private posted(list: UsageBatchWriter, shard: number) {
    const { environmentId, key, nowMs } = this.sender
    const text = this.texts?.[shard] ?? this.text
    return { at: nowMs, env: environmentId, apiKeyId: key.id, text, rows: list }
  }

  private applied(): number {
    return rows.reduce((sum, { count }) => sum + count, 0)
  }

  /** The body is released, so that it does not grow old in memory during the journal write. */
  private sent(): void {
    this.text = ''
    this.texts = null
    scan.end()
  }

  private committed(applied: number): void {
    const { metrics } = this.sender.services
    this.claims.confirm()
    metrics.events.accepted.count += this.count
    metrics.events.applied.count += applied
  }

  /** A duplicate is acknowledged as its first event was, once that is durable. */
  private repeat(first: Claim): true {
    this.sender.services.metrics.events.duplicate.count++
    this.times ??= new Map()
    this.times.set(this.count, first.capturedAtMs)
    const [high, low] = decodeId('evt_', first.eventId)!
    this.acknowledge(high, low)
    return true
  }

  private acknowledge(high: number, low: number): void {
    this.ids[2 * this.count] = high
    this.ids[2 * this.count + 1] = low
    this.count++
  }

  /** RawEvents as JSON, joined by commas; at least one was taken. */
  acknowledgements(report: boolean): string {
    return this.written(report, noBytes, noBytes).toString()
  }

  /** The whole answer to a request without parameters. */
  answer(): Answer {
    return { bytes: this.written(false, answerStart, answerEnd) }
  }

  private written(report: boolean, before: Buffer, after: Buffer): Buffer {
    return acknowledgements(this.sender, this, report, this.unusual(report), before, after)
  }

  /** Acknowledgements that differ in more than their ids, with their places, in order. */
  private unusual(report: boolean): readonly Unusual[] {
    const { times } = this
    const failures = report ? this.failures : null
    if (times === null && failures === null) return []
    const places =
      failures === null
        ? [...times!.keys()].sort((a, b) => a - b)
        : Array.from({ length: this.count }, (_, place) => place)
    return places.map(place => ({ place, bytes: this.oneBytes(place, report) }))
  }

  private oneBytes(place: number, report: boolean): Buffer {
    const { ids, times, failures, sender } = this
    const [high, low] = [ids[2 * place]!, ids[2 * place + 1]!]
    const error = report ? JSON.stringify(failures?.get(encodeId('evt_', high, low)) ?? null) : null
    const repeats = this.others.has(place) ? 'other' : times?.has(place) ? 'same' : ''
    const capturedAtMs = times?.get(place) ?? sender.nowMs
    return unusualBytes(sender, high, low, { capturedAtMs, error, repeats })
  }
}

// The way of the usual event: a track event whose company (and user) is known. It is never an object here: its parts are
// found in what was received, and their places cross to the shard. From the first event of a body that is not of this
// kind on, everything goes the way of any event (ingest.ts); callers see no difference.
import { Buffer } from 'node:buffer'
import { nextRandom, random, returnRandom } from '../../account/ids.js'
import type { FailedEvent, RepeatOf } from '../../core/model/message.js'
import { actorIdLength, UsageBatchWriter } from '../../core/usage/batch.js'
import { differ, printOf } from '../../core/values/fingerprint.js'
import { decodeId, encodeId, writeId } from '../../core/values/id.js'
import type { DirectoryKind } from '../../entities/directory/directory.js'
import { type Claim, publishableMark } from '../../entities/idempotency/dedupe.js'
import type { Undelivered } from '../../entities/shards/shards.js'
import { readEvents } from '../../events/read.js'
import { newScanned, Scan, type Scanned, type ScannedKeys } from '../../events/scan.js'
import { type Answer, Deferred } from '../../kit/call.js'
import { isoTime } from '../../kit/time.js'
import { Claims, nameOf, nothingUndone, type Sender } from './claims.js'
import { acknowledged, callerJson, otherJson, repeatJson } from './ingest.js'
import { ingestMany } from './many.js'
import { isPublic, mayName, namesEvents, quantityMaxOf } from './publishable.js'

const scan = new Scan()
/** Scanned events of a body; reused for the next body. */
const found: Scanned[] = []
const capturedAtFrom = '{"captured_at":"'.length
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
  const usual = takesUsual(sender) ? scanList(sender, text, byteLength) : nothingUsual
  const room = roomOf(sender)
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
  const others = ingestMany(sender, (events ?? readEvents(text)).slice(count), report)
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
  scan.beginBytes(body)
  found[0] ??= newScanned()
  const one = found[0]
  if (
    !scan.event(one, sender.key.kind === 'secret') ||
    !scan.isAtEnd() ||
    !mayCount(sender, one, quantityMaxOf(sender))
  ) {
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

/** An event on its way to a shard: filled anew for each. */
const use = {
  bodyAt: 0,
  bodyLength: 0,
  nameAt: 0,
  nameLength: 0,
  keyAt: 0,
  keyLength: 0,
  quantity: 1,
  idHigh: 0,
  idLow: 0,
  sentAtMs: null as number | null,
  companyId: '',
  userId: null as string | null,
}

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

/** Fill `use` with the rest of an event, its id the one drawn last; returns `text` and what it needs besides. */
function fill(one: Scanned, text: string): string {
  let whole = text
  if (one.stored === null) {
    use.bodyAt = one.bodyAt
    use.bodyLength = one.bodyEnd - one.bodyAt
  } else {
    const stored = Buffer.from(one.stored).toString('latin1')
    use.bodyAt = text.length
    use.bodyLength = stored.length
    whole += stored
  }
  use.nameAt = one.nameAt
  use.nameLength = one.nameEnd - one.nameAt
  use.keyAt = one.keyAt
  use.keyLength = one.keyEnd - one.keyAt
  use.quantity = one.quantity
  use.idHigh = random.high
  use.idLow = random.low
  use.sentAtMs = one.sentAtMs
  return whole
}

/**
 * The same with copies of the event's own parts, behind `text`: one of many shards gets no text of the others' events.
 *
 * marked   its key is in the namespace of publishable keys.
 */
function fillWithCopies(one: Scanned, text: string, marked: boolean): string {
  const { text: whole } = scan
  const { bodyAt, bodyEnd, nameAt, nameEnd, keyAt, keyEnd, stored } = one
  const isInside = stored === null && nameAt >= bodyAt && nameEnd <= bodyEnd
  let copied = fill(one, text)
  if (stored === null) {
    use.bodyAt = copied.length
    copied += whole.slice(bodyAt, bodyEnd)
  }
  use.nameAt = isInside ? use.bodyAt + nameAt - bodyAt : copied.length
  if (!isInside) copied += whole.slice(nameAt, nameEnd)
  if (keyEnd === keyAt) return copied
  if (marked) return mark(one, copied)
  use.keyAt = copied.length
  return copied + whole.slice(keyAt, keyEnd)
}

/** The key of `use` in its own namespace, as JSON writes its name; returns `text` with it. */
function mark(one: Scanned, text: string): string {
  const name = `${markInJson}${scan.text.slice(one.keyAt, one.keyEnd)}`
  use.keyAt = text.length
  use.keyLength = name.length
  return text + name
}

/** `publishableMark` inside a string of JSON. */
const markInJson = JSON.stringify(publishableMark).slice(1, -1)

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

const tail = ',"params":{}}'
const dataFrom = '{"data":'.length
const timeFrom = dataFrom + capturedAtFrom
const timeLength = 24
const idFrom = timeFrom + timeLength + '","event_id":"evt_'.length

/** The reply to one event, used again for the next: most differ in the id alone. */
const reply = { caller: '', ms: -1, bytes: Buffer.alloc(0) }

function acknowledgement(sender: Sender, high: number, low: number): Buffer {
  const { nowMs } = sender
  const caller = callerJson(sender)
  if (reply.caller !== caller || reply.ms !== nowMs) {
    const time = isoTime(nowMs)
    const made = reply.caller === caller && time.length === timeLength && reply.bytes.length > 0
    if (made) reply.bytes.write(time, timeFrom, 'latin1')
    else {
      reply.bytes = Buffer.from(
        `{"data":{"captured_at":"${time}","event_id":"evt_           "${caller}}${tail}`,
      )
      reply.caller = caller
    }
    reply.ms = nowMs
  }
  writeId(reply.bytes, idFrom, high, low)
  return reply.bytes
}

const takesUsual = (sender: Sender): boolean => !sender.key.readonly && !sender.signed && namesEvents(sender)

/** Whether a sender may count this much under this name; the slow way says why not. */
const mayCount = (sender: Sender, one: Scanned, most: number): boolean =>
  one.quantity <= most && (!isPublic(sender) || mayName(sender, scan.text.slice(one.nameAt, one.nameEnd)))

/** Keys that fit into the window's part for such senders. */
function roomOf({ services, environmentId, key }: Sender): number {
  return services.dedupe.room(environmentId, key.kind === 'publishable')
}

interface UsualList {
  /** Events at the beginning that are of the usual kind. */
  readonly count: number
  /** There are no others, and the body is as it should be. */
  readonly whole: boolean
}

const nothingUsual: UsualList = { count: 0, whole: false }

function scanList(sender: Sender, text: string, byteLength: number): UsualList {
  scan.begin(text, byteLength)
  if (!scan.list()) return nothingUsual
  const negative = sender.key.kind === 'secret'
  const most = quantityMaxOf(sender)
  for (let count = 0; ; ) {
    if (count === found.length) found.push(newScanned())
    if (!scan.event(found[count]!, negative) || !mayCount(sender, found[count]!, most))
      return { count, whole: false }
    count++
    const more = scan.next()
    if (more !== true) return { count, whole: more === null }
  }
}

/** Events acknowledged together. */
class PlainBatch {
  private readonly claims: Claims
  /** The 64 bits of the id that each event is acknowledged with. */
  private readonly ids: Uint32Array
  /** Events that were taken. */
  private count = 0
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
    let place = 0
    while (encodeId('evt_', ids[2 * place]!, ids[2 * place + 1]!) !== id) place++
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

  /**
   * Acknowledgements between these bytes. Most differ in the id alone: one is written and copied, then each copy gets its
   * id. Repeats, and failures that are told of, are written by themselves.
   */
  private written(report: boolean, before: Buffer, after: Buffer): Buffer {
    const { count, sender } = this
    const start = `{"captured_at":"${isoTime(sender.nowMs)}","event_id":"evt_`
    const usual = Buffer.from(`${start}           "${callerJson(sender)}${report ? ',"error":null' : ''}},`)
    const others = this.unusual(report)
    const usualBytes = usual.length * (count - others.length)
    const otherBytes = others.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const bytes = Buffer.allocUnsafe(before.length + usualBytes + otherBytes + after.length)
    before.copy(bytes)
    let at = before.length
    let from = 0
    for (const { place, bytes: other } of others) {
      at = this.writeUsual(bytes, at, usual, start.length, from, place)
      at += other.copy(bytes, at)
      from = place + 1
    }
    at = this.writeUsual(bytes, at, usual, start.length, from, count)
    // over the last one's comma
    after.copy(bytes, at - 1)
    return bytes.subarray(0, at - 1 + after.length)
  }

  /** Copies of an acknowledgement for the events from `from` until before `to`, each with its id; returns their end. */
  private writeUsual(
    bytes: Buffer,
    at: number,
    usual: Buffer,
    idAt: number,
    from: number,
    to: number,
  ): number {
    if (from === to) return at
    const { ids } = this
    const { length } = usual
    const end = at + length * (to - from)
    usual.copy(bytes, at)
    for (let filled = length; at + filled < end; filled *= 2)
      bytes.copyWithin(at + filled, at, at + Math.min(filled, end - at - filled))
    for (let i = from, one = at + idAt; i < to; i++, one += length)
      writeId(bytes, one, ids[2 * i]!, ids[2 * i + 1]!)
    return end
  }

  /** Acknowledgements that differ in more than their ids, with their places, in order. */
  private unusual(report: boolean): readonly { readonly place: number; readonly bytes: Buffer }[] {
    const { times } = this
    const failures = report ? this.failures : null
    if (times === null && failures === null) return none
    const places =
      failures === null
        ? [...times!.keys()].sort((a, b) => a - b)
        : Array.from({ length: this.count }, (_, place) => place)
    return places.map(place => ({ place, bytes: this.oneBytes(place, report) }))
  }

  private oneBytes(place: number, report: boolean): Buffer {
    const { ids, times, failures, sender } = this
    const time = isoTime(times?.get(place) ?? sender.nowMs)
    const id = encodeId('evt_', ids[2 * place]!, ids[2 * place + 1]!)
    const error = report ? `,"error":${JSON.stringify(failures?.get(id) ?? null)}` : ''
    const repeats = this.others.has(place) ? otherJson : times?.has(place) ? repeatJson : ''
    return Buffer.from(`{"captured_at":"${time}","event_id":"${id}"${callerJson(sender)}${error}${repeats}},`)
  }
}

const none: readonly never[] = []
const noBytes = Buffer.alloc(0)
const answerStart = Buffer.from('{"data":{"events":[')
const answerEnd = Buffer.from(`]}${tail}`)

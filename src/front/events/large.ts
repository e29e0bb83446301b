// Large bodies: parsed and validated on another thread, then taken in slices so that other requests run in between.
// Callers get the same answers as for a small body.
import { ServiceError } from '../../errors.js'
import { JudgedReading, type SubBatch, type Taking } from '../../events/judged.js'
import type { JudgedGroup, KeyedSubmitter, ParseReply } from '../../events/parsing.js'
import type { BatchFormat } from '../../events/read.js'
import type { Pieces } from '../../json.js'
import type { Call, RawBody } from '../../kit/call.js'
import { nameOf, type Sender, windowFull } from './claims.js'
import type { Batch } from './ingest.js'
import { isOfOneEvent } from './publishable.js'
import { asList, type EventSource, type Sending, type Slice, sendInSlices } from './slices.js'

type LargeCall = Call<RawBody, unknown>

/** Whether a body is parsed on another thread. */
export function isLarge({ body, services }: Pick<LargeCall, 'body' | 'services'>): boolean {
  return body.bytes !== undefined && services.parsers.takes
}

/**
 * `ingestMany` for the events of a large body. If the caller disconnects before parsing ends, nothing is taken.
 *
 * returns  acknowledgements as JSON, joined by commas.
 * errors  400 for an invalid body; 503 when too many bytes are being parsed, when the parser thread died, or when
 *         events could not be made durable: a retry finds the durable ones by their keys.
 * source  EV-4, EV-7, EV-27, EV-28.
 */
export async function ingestLarge(
  call: LargeCall,
  sender: Sender,
  format: BatchFormat,
  report = false,
  anyAge = false,
): Promise<Pieces> {
  const reading = { format, report, anyAge, gone: goneOf(call) }
  return separated(await ingestBytes(sender, handedOver(call), reading, asBytes))
}

/**
 * `ingestMany` for a text that this thread does not parse itself. A text whose members have all different names takes it two
 * microseconds for each (security H5).
 *
 * skip  events at its beginning that are sent already.
 */
export async function ingestElsewhere(
  sender: Sender,
  text: string,
  format: BatchFormat,
  report: boolean,
  { anyAge = false, skip = 0 } = {},
): Promise<readonly string[]> {
  const reading = { format, report, anyAge, skip, gone: () => false }
  return (await ingestBytes(sender, Buffer.from(text), reading, asList)).flat()
}

/** Shorter texts take this thread less than ten milliseconds, whatever is in them. */
const elsewhereBytes = 131_072

/** Whether a text that is no list of usual events is parsed on another thread. byteLength: as received. */
export function isForElsewhere({ services }: Pick<Sender, 'services'>, byteLength: number): boolean {
  return byteLength >= elsewhereBytes && services.parsers.takes
}

interface Reading {
  readonly format: BatchFormat
  readonly report: boolean
  readonly anyAge: boolean
  readonly skip?: number
  readonly gone: () => boolean
}

/** Have bytes parsed, and send their events. The bytes are gone from here. */
function ingestBytes<Told>(
  sender: Sender,
  bytes: Uint8Array,
  { format, report, anyAge, skip, gone }: Reading,
  tell: (acks: readonly string[]) => Told,
): Promise<readonly Told[]> {
  const { parsers } = sender.services
  const speaker = { secret: sender.key.kind === 'secret', nowMs: sender.nowMs, anyAge }
  const group = sender.environmentId
  return parsers.hold(group, bytes.byteLength, async () => {
    const sent = await parsers.inTurn(group, gone, async () => {
      const [judged] = groupsOf(await parsers.parse({ bytes, format, speaker }))
      return send(atPresent(sender), judged!, report, tell, skip)
    })
    return sent === null ? [] : sent.acks
  })
}

/** The bytes of a megabyte of acknowledgements would take a turn of their own: each slice's are made in its own. */
const asBytes = (acks: readonly string[]): Uint8Array => Buffer.from(acks.join())

const separated = (slices: readonly Uint8Array[]): Pieces =>
  slices.flatMap((slice, n) => (n === 0 ? [slice] : [',', slice]))

/**
 * `collect` for a large body.
 *
 * own      the sender of the request's own key; throws when it names no environment.
 * whoseAre the senders of keys named by events; null: an unknown key.
 * returns  the acknowledgements of events with a known sender, in order.
 */
export function collectLarge(
  call: LargeCall,
  own: () => Sender,
  whoseAre: (secrets: readonly string[]) => Promise<ReadonlyMap<string, Sender | null>>,
): Promise<readonly string[]> {
  const { body, services, key, environmentOrNull, nowMs } = call
  const { parsers } = services
  const groups = new Groups(key.id, environmentOrNull?.id ?? null)
  const group = environmentOrNull?.id ?? key.accountId
  const read = () =>
    parsers.inTurn(group, goneOf(call), async (): Promise<readonly Collected[] | readonly string[]> => {
      const speaker = { secret: key.kind === 'secret', nowMs }
      const { voices } = groups
      const reply = await parsers.parse({ bytes: handedOver(call), format: 'collector', speaker, voices })
      if ('secrets' in reply) {
        body.bytes = reply.bytes
        return reply.secrets
      }
      const sent: Collected[] = []
      for (const judged of groupsOf(reply)) {
        const sender = groups.senders[judged.group] ?? own()
        sent.push({ at: judged.at!, ...(await send(atPresent(sender), judged, false, asList)) })
      }
      return sent
    })
  return parsers.hold(group, body.byteLength, async () => {
    let found = await read()
    if (found !== null && areSecrets(found)) {
      // awaited here, outside their turns: an unknown key costs a store lookup
      groups.learn(await whoseAre(found))
      found = await read()
    }
    return found === null || areSecrets(found) ? [] : inOrder(found)
  })
}

/** The part of a collected body sent for one sender; `at`: the indexes of its events. */
interface Collected extends Sending {
  readonly at: Uint32Array
}

function areSecrets(found: readonly (string | Collected)[]): found is readonly string[] {
  return typeof found[0] === 'string'
}

/** Acknowledgements of all senders, in the order of the body's events. */
async function inOrder(sent: readonly Collected[]): Promise<readonly string[]> {
  const all = await Promise.allSettled(sent.map(({ acks }) => acks))
  const placed: string[] = []
  for (const [index, { at }] of sent.entries()) {
    const settled = all[index]!
    if (settled.status === 'rejected') throw settled.reason
    for (const [place, ack] of settled.value.flat().entries()) placed[at[place]!] = ack
  }
  return placed.filter(() => true) // drops the gaps left by events without a sender
}

/** Senders of a collected body by group number; 0 is the request's own sender. */
class Groups {
  readonly voices = new Map<string, KeyedSubmitter | null>()
  readonly senders: (Sender | null)[] = [null]
  private readonly numbers = new Map<string, number>()

  constructor(keyId: string, environmentId: string | null) {
    if (environmentId !== null) this.numbers.set(`${keyId} ${environmentId}`, 0)
  }

  learn(senders: ReadonlyMap<string, Sender | null>): void {
    for (const [secret, sender] of senders) this.add(secret, sender)
  }

  private add(secret: string, sender: Sender | null): void {
    if (sender === null) {
      this.voices.set(secret, null)
      return
    }
    const name = `${sender.key.id} ${sender.environmentId}`
    const group = this.numbers.get(name) ?? this.senders.push(sender) - 1
    this.numbers.set(name, group)
    this.voices.set(secret, { group, secret: sender.key.kind === 'secret', nowMs: sender.nowMs })
  }
}

/** Parsing took time, so the events count as received now. */
function atPresent(sender: Sender): Sender {
  return { ...sender, nowMs: sender.services.clock.now(sender.environmentId) }
}

const goneOf = (call: LargeCall) => () => call.gone === true

/** The body's bytes, or a copy of them, that can be transferred to another thread. With several nodes a call may begin anew. */
function handedOver({ body, services }: LargeCall): Uint8Array {
  const bytes = body.bytes!
  const isWhole = bytes.byteLength === bytes.buffer.byteLength
  return isWhole && !services.entities.isShared ? bytes : new Uint8Array(bytes)
}

function groupsOf(reply: ParseReply): readonly JudgedGroup[] {
  if ('groups' in reply) return reply.groups
  if ('secrets' in reply) throw new Error('a body was read with keys it does not name')
  const { code, message, extra } = reply.refused
  throw new ServiceError(code, message, extra ? { extra } : {})
}

/** Send the events of one sender, in slices. Resolves when all are sent. */
async function send<Told>(
  sender: Sender,
  group: JudgedGroup,
  report: boolean,
  tell: (acks: readonly string[]) => Told,
  skip = 0,
): Promise<Sending<Told>> {
  if (group.count === 0) return { acks: Promise.resolve([]) }
  sender.services.backlog.admit()
  await mustFit(sender, group)
  return sendInSlices(sender, new JudgedEvents(sender, group.subBatches, skip), report, tell)
}

/** Throws 503 if the idempotency window lacks room for all new keys; then none is claimed. */
async function mustFit(sender: Sender, group: JudgedGroup): Promise<void> {
  const { services, environmentId, nowMs, key: own } = sender
  const { dedupe, metrics, parsers } = services
  const publishable = own.kind === 'publishable'
  if (group.keyed <= dedupe.room(environmentId, publishable)) return
  const reading = new JudgedReading(nowMs)
  const keys = new Set<string>()
  const look: Taking = {
    failed() {},
    judged({ idempotencyKey: key }) {
      if (key !== null && dedupe.find(environmentId, nameOf(sender, key), nowMs) === null) keys.add(key)
    },
  }
  for (const subBatch of group.subBatches) {
    await parsers.turns.enter()
    reading.read(subBatch, look)
    parsers.turns.lasts(Promise.resolve())
  }
  if (keys.size <= dedupe.room(environmentId, publishable)) return
  metrics.events.windowFull.count++
  throw windowFull(dedupe)
}

const nothingTaken: Taking = { failed() {}, judged() {} }

/** The events of sub-batches, one after the other. A slice ends with its sub-batch. */
class JudgedEvents implements EventSource {
  private readonly reading: JudgedReading
  private at = 0

  constructor(
    sender: Sender,
    private readonly subBatches: readonly SubBatch[],
    /** Events at the beginning that are passed over. */
    private skip: number,
  ) {
    this.reading = new JudgedReading(sender.nowMs)
  }

  get isAtEnd(): boolean {
    return !this.reading.isReading && this.at >= this.subBatches.length
  }

  take(batch: Batch, slice: Slice): void {
    const { reading } = this
    if (!reading.isReading) reading.begin(this.subBatches[this.at++]!)
    const taking = takingInto(batch)
    do reading.next(this.skip-- > 0 ? nothingTaken : taking)
    while (reading.isReading && slice.goesOn())
  }
}

function takingInto(batch: Batch): Taking {
  return {
    failed: (type, body, reason) => batch.failAs(type, body, reason),
    judged(judged, body, whole) {
      try {
        batch.take(judged, body)
      } catch (error) {
        if (!isOfOneEvent(error)) throw error
        batch.failAs(judged.type, whole ?? body, error.message)
      }
    },
  }
}

// Large bodies: read and judged on another thread, their events taken in slices between which other requests are
// answered. What the caller hears is what a small body with the same events would have told.
import { ServiceError } from '../../errors.js'
import { JudgedReading, type Slice, type Taking } from '../../events/judged.js'
import type { JudgedGroup, ParseJob, ParseReply, Voice } from '../../events/parsing.js'
import type { BatchFormat } from '../../events/read.js'
import type { Call, RawBody } from '../call.js'
import type { Services } from '../services.js'
import { Batch, type Sender, windowFull } from './ingest.js'

type LargeCall = Call<RawBody, unknown>

/** Whether a body is read elsewhere. */
export function isLarge({ body, services }: Pick<LargeCall, 'body' | 'services'>): boolean {
  return body.bytes !== undefined && services.parsers.takes
}

/**
 * As `ingestMany` over the events of a batch; a caller who leaves before they are looked at has sent none.
 *
 * errors  what is wrong with the whole body (400); 503 when too many bytes are being read, when the thread that read
 *         died, or when events could not be made durable: those of a slice that were are found again by their keys.
 * source  EV-4, EV-7, EV-27, EV-28.
 */
export async function ingestLarge(
  call: LargeCall,
  sender: Sender,
  format: BatchFormat,
  report = false,
): Promise<readonly string[]> {
  const { services, body, nowMs } = call
  const acks = await services.parsers.hold(body.byteLength, goneOf(call), async () => {
    const speaker = { secret: sender.key.kind === 'secret', nowMs }
    const [group] = groupsOf(await services.parsers.parse({ bytes: handedOver(body), format, speaker }))
    return ingestJudged(atPresent(sender), group!, report)
  })
  return acks ?? []
}

/**
 * As `collect`.
 *
 * own      who the request itself speaks for: throws when it names no environment.
 * whoseIs  who a key that an event names speaks for; null: nobody.
 * returns  the acknowledgements of events that somebody speaks for, in order.
 */
export async function collectLarge(
  call: LargeCall,
  own: () => Sender,
  whoseIs: (secret: string) => Promise<Sender | null>,
): Promise<readonly string[]> {
  const { body, services, key, environmentOrNull, nowMs } = call
  const acks: string[] = []
  await services.parsers.hold(body.byteLength, goneOf(call), async () => {
    const groups = new Groups(key.id, environmentOrNull?.id ?? null)
    const speaker = { secret: key.kind === 'secret', nowMs }
    const job = (): ParseJob => ({
      bytes: handedOver(body),
      format: 'collector',
      speaker,
      voices: groups.voices,
    })
    for (const secret of namedIn.get(body) ?? []) groups.add(secret, await whoseIs(secret))
    let reply = await services.parsers.parse(job())
    if ('secrets' in reply) {
      body.bytes = reply.bytes
      for (const secret of reply.secrets) groups.add(secret, await whoseIs(secret))
      reply = await services.parsers.parse(job())
    }
    for (const judged of groupsOf(reply)) {
      const sender = groups.senders[judged.group] ?? own()
      const taken = await ingestJudged(atPresent(sender), judged, false)
      for (const [index, ack] of taken.entries()) acks[judged.at![index]!] = ack
    }
  })
  return acks.filter(() => true) // without the places of those nobody speaks for
}

/** Keys that large bodies were found to name. */
const namedIn = new WeakMap<RawBody, readonly string[]>()

/** As `keysOfBatch`. */
export async function secretsOfLarge(body: RawBody, { parsers }: Services): Promise<readonly string[]> {
  const named = await parsers.hold(
    body.byteLength,
    () => false,
    async () => {
      const job = {
        bytes: handedOver(body),
        format: 'collector',
        speaker: null,
        voices: new Map<string, null>(),
      } as const
      const reply = await parsers.parse(job)
      if (!('secrets' in reply)) return groupsOf(reply) && [] // a refusal: it throws
      body.bytes = reply.bytes
      namedIn.set(body, reply.secrets)
      return reply.secrets
    },
  )
  return named ?? []
}

/** Senders of a collected body, each with the number of its group; 0 is the request's own. */
class Groups {
  readonly voices = new Map<string, Voice | null>()
  readonly senders: (Sender | null)[] = [null]
  private readonly numbers = new Map<string, number>()

  constructor(keyId: string, environmentId: string | null) {
    if (environmentId !== null) this.numbers.set(`${keyId} ${environmentId}`, 0)
  }

  add(secret: string, sender: Sender | null): void {
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

/** Reading took a while: the events are received now. */
function atPresent(sender: Sender): Sender {
  return { ...sender, nowMs: sender.services.clock.now(sender.environmentId) }
}

const goneOf = (call: LargeCall) => () => call.gone === true

/** The bytes of a body, in memory of their own: they are about to leave. */
function handedOver(body: RawBody): Uint8Array {
  const bytes = body.bytes!
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

function groupsOf(reply: ParseReply): readonly JudgedGroup[] {
  if ('groups' in reply) return reply.groups
  if ('secrets' in reply) throw new Error('a body was read with keys it does not name')
  const { code, message, extra } = reply.refused
  throw new ServiceError(code, message, extra ? { extra } : {})
}

/** The events of one sender, slice by slice, in order. The first slice that fails is the last that is sent. */
async function ingestJudged(sender: Sender, group: JudgedGroup, report: boolean): Promise<readonly string[]> {
  if (group.count === 0) return []
  const { backlog, parsers } = sender.services
  backlog.admit()
  await mustFit(sender, group)
  const reading = new JudgedReading(sender.nowMs)
  const commits: Promise<readonly string[]>[] = []
  let failed = false
  for (const slice of group.slices) {
    await parsers.slices.enter()
    const { commit, leavesAtOnce } = failed
      ? { commit: null, leavesAtOnce: true }
      : sent(sender, reading, slice, report)
    const ended = (commit ?? Promise.resolve()).then(
      () => parsers.slices.left(),
      () => {
        failed = true
        parsers.slices.left()
      },
    )
    if (commit === null) break
    commits.push(commit)
    // what must be durable before its events is so before those of the next slice leave: order is kept
    if (!leavesAtOnce) await ended
  }
  await Promise.allSettled(commits)
  return (await Promise.all(commits)).flat()
}

/** Where the idempotency window has no room for all new keys none of them is taken. */
async function mustFit({ services, environmentId, nowMs }: Sender, group: JudgedGroup): Promise<void> {
  const { dedupe, parsers } = services
  if (group.keyed <= dedupe.room) return
  const reading = new JudgedReading(nowMs)
  const keys = new Set<string>()
  const look: Taking = {
    failed() {},
    judged({ idempotencyKey: key }) {
      if (key !== null && dedupe.find(environmentId, key, nowMs) === null) keys.add(key)
    },
  }
  for (const slice of group.slices) {
    await parsers.slices.enter()
    reading.read(slice, look)
    parsers.slices.left()
  }
  if (keys.size > dedupe.room) throw windowFull()
}

/** Take the events of a slice and send them. */
function sent(
  sender: Sender,
  reading: JudgedReading,
  slice: Slice,
  report: boolean,
): { readonly commit: Promise<readonly string[]>; readonly leavesAtOnce: boolean } {
  const batch = new Batch(sender, report)
  try {
    reading.read(slice, takingInto(batch))
  } catch (error) {
    batch.abandon()
    return { commit: Promise.reject(error), leavesAtOnce: true }
  }
  return { commit: batch.commit(), leavesAtOnce: batch.leavesAtOnce }
}

function takingInto(batch: Batch): Taking {
  return {
    failed: (type, body, reason) => batch.failAs(type, body, reason),
    judged(judged, body, whole) {
      try {
        batch.take(judged, body)
      } catch (error) {
        if (!(error instanceof ServiceError && error.status === 400)) throw error
        batch.failAs(judged.type, whole ?? body, error.message)
      }
    },
  }
}

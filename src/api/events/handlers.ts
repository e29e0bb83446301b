// Events: one, a list, the collector's list; and the stored records.
import { ServiceError } from '../../errors.js'
import type { Answer, Call, Later, RawBody } from '../call.js'
import { assertPlain } from '../json.js'
import { boolean, type QueryOf, query } from '../query.js'
import { cloudEventBatchType, cloudEventType, fromCloudEvent } from './cloud-event.js'
import { lineTypes, readLines, Unread } from './formats.js'
import { ingestMany, ingestOne, type Sender } from './ingest.js'

/** Most events in one batch (decision 2). */
export const batchEventsMax = 10_000

/**
 * POST /events: one event, one CloudEvent, or a batch of CloudEvents.
 *
 * returns  an acknowledgement; `{events: [acknowledgement…]}` for a batch.
 * source   EV-1; CloudEvents are a decision, see cloud-event.ts.
 */
export function createEvent(call: Call<RawBody>): Later | Promise<Answer> {
  if (call.body.type === cloudEventBatchType)
    return ingestMany(sender(call), readBatch(call)).then(acknowledged)
  const text = call.body.text()
  assertPlain(text)
  const given = parse(text)
  const event = call.body.type === cloudEventType ? fromCloudEvent(given, isSecret(call), call.nowMs) : given
  if (event instanceof Unread) throw new ServiceError('body_invalid', event.reason)
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw new ServiceError('body_invalid', 'The body must be an event')
  return ingestOne(sender(call), event)
}

/**
 * POST /event-batch: the list is judged event by event (EV-7, decision 3). `{events: […]}`, one event per line
 * (application/x-ndjson), or a batch of CloudEvents.
 *
 * query  report: each acknowledgement also tells `error`, why that event is stored as failed, else null.
 */
export async function createEventBatch(call: Call<RawBody, QueryOf<typeof batchShape>>): Promise<Answer> {
  const { report } = call.query
  return acknowledged(await ingestMany(sender(call), readBatch(call), report === true))
}

function acknowledged(acks: readonly string[]): Answer {
  return { json: `{"events":[${acks.join(',')}]}` }
}

const batchShape = { report: boolean } as const
export const batchQuery = query(batchShape)

type BatchCall = Call<RawBody, unknown>

function readBatch(call: BatchCall): readonly unknown[] {
  const { body, nowMs } = call
  if (lineTypes.has(body.type)) return bounded(readLines(body.text()))
  if (body.type !== cloudEventBatchType) return eventsOf(body)
  const list = parse(body.text())
  if (!Array.isArray(list)) throw new ServiceError('body_invalid', 'A batch of CloudEvents is a list')
  return bounded(list).map(one => fromCloudEvent(one, isSecret(call), nowMs))
}

const isSecret = ({ key }: BatchCall): boolean => key.kind === 'secret'

/**
 * POST /batch, the collector: events of several keys, each authorised by its own `api_key` or by the header.
 *
 * returns  2xx for a well-formed list, whatever its events are worth (decision 8).
 */
export async function collect(call: Call<RawBody>): Promise<Answer> {
  const events = eventsOf(call.body)
  const bySender = new Map<string, { sender: Sender; at: number[]; events: unknown[] }>()
  const acks: (string | null)[] = events.map(() => null)
  for (const [index, event] of events.entries()) {
    const own = await ownSender(call, event)
    if (own === null) continue
    const name = `${own.key.id} ${own.environmentId}`
    const group = bySender.get(name) ?? { sender: own, at: [], events: [] }
    bySender.set(name, group)
    group.at.push(index)
    group.events.push(asEvent(event))
  }
  for (const { sender: own, at, events: list } of bySender.values())
    for (const [index, ack] of (await ingestMany(own, list)).entries()) acks[at[index]!] = ack
  return acknowledged(acks.filter(ack => ack !== null))
}

/** The keys a batch carries itself, each once: the first known one speaks for a request without the header (decision 8). */
export function keysOfBatch(body: RawBody): readonly string[] {
  const secrets = new Set<string>()
  for (const event of eventsOf(body)) {
    const secret = typeof event === 'object' && event !== null && 'api_key' in event ? event.api_key : null
    if (typeof secret === 'string' && secret !== '') secrets.add(secret)
  }
  return [...secrets]
}

function sender(call: BatchCall): Sender {
  return {
    services: call.services,
    key: call.key,
    environmentId: call.environment.id,
    nowMs: call.nowMs,
    remoteIp: call.remoteIp,
    userAgent: call.userAgent,
  }
}

/** Who an event of the collector speaks for: its own key when it has one, else the request's; null for nobody. */
async function ownSender(call: Call<RawBody>, event: unknown): Promise<Sender | null> {
  const secret = typeof event === 'object' && event !== null && 'api_key' in event ? event.api_key : null
  if (typeof secret !== 'string' || secret === '') return sender(call)
  const { keys, clock } = call.services
  const key = await keys.find(secret)
  if (key === null || !(key.scopes.includes('capture') || key.readonly) || key.environmentId === null)
    return null
  return { ...sender(call), key, environmentId: key.environmentId, nowMs: clock.now(key.environmentId) }
}

/** The collector writes `type` for `event_type`. */
function asEvent(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
  const { api_key: _, type, ...rest } = event as Record<string, unknown>
  return { ...rest, event_type: rest.event_type ?? type }
}

function eventsOf(body: RawBody): readonly unknown[] {
  const parsed = parse(body.text())
  const events =
    typeof parsed === 'object' && parsed !== null && 'events' in parsed
      ? (parsed.events as unknown)
      : undefined
  if (!Array.isArray(events)) throw new ServiceError('body_invalid', 'events must be a list')
  return bounded(events)
}

function bounded(events: readonly unknown[]): readonly unknown[] {
  if (events.length > batchEventsMax)
    throw new ServiceError('batch_too_large', undefined, { extra: { max_size: batchEventsMax } }) // EV-4
  return events
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('body_malformed')
  }
}

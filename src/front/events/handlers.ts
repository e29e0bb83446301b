// Routes of events: single events, batches, the collector, and stored events.

import type { SignedContext } from '../../account/signed-contexts.js'
import { ServiceError } from '../../errors.js'
import { cloudEventBatchType, cloudEventType, fromCloudEvent, fromHeaders } from '../../events/cloud-event.js'
import { lineTypes, Unparsable } from '../../events/formats.js'
import {
  asEvent,
  type BatchFormat,
  parse,
  readBatch,
  readEvents,
  secretOf,
  secretsOf,
} from '../../events/read.js'
import { parseExactly } from '../../json.js'
import { assertPlain } from '../../json-bounds.js'
import type { Answer, Call, Deferred, KeyRecord, RawBody } from '../../kit/call.js'
import { boolean, type QueryOf, query } from '../../kit/query.js'
import type { Sender } from './claims.js'
import { acknowledged, acknowledgedInPieces, ingestOne } from './ingest.js'
import { collectLarge, ingestElsewhere, ingestLarge, isForElsewhere, isLarge } from './large.js'
import { ingestMany } from './many.js'
import { ingestOneBytes, ingestText } from './usual.js'

/**
 * POST /events: one event, one CloudEvent, or a batch of CloudEvents.
 *
 * returns  an acknowledgement; `{events: [acknowledgement…]}` for a batch.
 * source   EV-1; CloudEvents are a decision, see cloud-event.ts.
 */
export function createEvent(call: Call<RawBody>): Deferred | Promise<Answer> {
  const { type } = call.body
  if (call.body.attributes !== undefined) return createBinary(call, call.body.attributes)
  if (type === cloudEventBatchType) return ingestBatch(call, false, true)
  const { view } = call.body
  const usual = type === cloudEventType || view === undefined ? null : ingestOneBytes(sender(call), view)
  if (usual !== null) return usual
  const text = call.body.text()
  assertPlain(text, true)
  const given = parse(text)
  const event = type === cloudEventType ? fromCloudEvent(given, isSecret(call), call.nowMs) : given
  if (event instanceof Unparsable) throw new ServiceError('body_invalid', event.reason)
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw new ServiceError('body_invalid', 'The body must be an event')
  return ingestOne(sender(call), event)
}

/** A CloudEvent in binary mode (CloudEvents 1.0, HTTP binding). */
function createBinary(
  call: Call<RawBody>,
  attributes: Readonly<Record<string, string>>,
): Deferred | Promise<Answer> {
  const { body, nowMs } = call
  const text = body.text()
  const isJson = body.type === '' || /^application\/(.+\+)?json$/.test(body.type)
  if (!isJson && text !== '')
    throw new ServiceError(
      'body_invalid',
      'The data of a CloudEvent must be JSON: Content-Type: application/json',
    )
  assertPlain(text, true)
  const event = fromCloudEvent(
    fromHeaders(attributes, text === '' ? undefined : parseData(text)),
    isSecret(call),
    nowMs,
  )
  if (event instanceof Unparsable) throw new ServiceError('body_invalid', event.reason)
  return ingestOne(sender(call), event)
}

function parseData(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    throw new ServiceError('body_malformed')
  }
}

/**
 * POST /event-batch: each event is validated on its own (EV-7, decision 3). Takes `{events: […]}`, one event per line
 * (application/x-ndjson), or a batch of CloudEvents.
 *
 * query  report: each acknowledgement has `error`: why that event is stored as failed, else null.
 *        any_age: backfill may be older than 365 days (EV-8).
 */
export function createEventBatch(call: Call<RawBody, QueryOf<typeof batchShape>>): Promise<Answer> {
  const { report, any_age: anyAge } = call.query
  const bare = report === undefined && anyAge === undefined
  return ingestBatch(call, report === true, bare, anyAge === true)
}

const batchShape = { report: boolean, any_age: boolean } as const
export const batchQuery = query(batchShape)

type BatchCall = Call<RawBody, unknown>

/** bare: the request has no query parameters. */
async function ingestBatch(call: BatchCall, report: boolean, bare: boolean, anyAge = false): Promise<Answer> {
  const { body, nowMs } = call
  const format = formatOf(body)
  if (isLarge(call))
    return acknowledgedInPieces(await ingestLarge(call, sender(call), format, report, anyAge))
  if (format === 'events' && !anyAge)
    return ingestText(sender(call), body.text(), body.byteLength, report, bare)
  if (isForElsewhere(call, body.byteLength))
    return acknowledged(await ingestElsewhere(sender(call), body.text(), format, report, { anyAge }))
  const events = readBatch(body.text(), format, { secret: isSecret(call), nowMs })
  return acknowledged(await ingestMany(sender(call), events, report, anyAge))
}

function formatOf({ type }: RawBody): BatchFormat {
  if (lineTypes.has(type)) return 'lines'
  return type === cloudEventBatchType ? 'cloud_events' : 'events'
}

const isSecret = ({ key }: BatchCall): boolean => key.kind === 'secret'

/**
 * POST /batch, the collector: events of several keys, each authorised by its own `api_key` or by the header.
 *
 * returns  2xx for a well-formed list, even if every event in it is invalid (decision 8).
 */
export async function collect(call: Call<RawBody>): Promise<Answer> {
  const whoseAre = (secrets: readonly string[]) => sendersOf(call, secrets)
  if (isLarge(call)) return acknowledged(await collectLarge(call, () => sender(call), whoseAre))
  const events = readEvents(call.body.text())
  const senders = await whoseAre(secretsOf(events))
  const bySender = new Map<string, { sender: Sender; at: number[]; events: unknown[] }>()
  const acks: (string | null)[] = events.map(() => null)
  for (const [index, event] of events.entries()) {
    const secret = secretOf(event)
    const own = secret === '' ? sender(call) : senders.get(secret)!
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

function sender(call: BatchCall): Sender {
  return senderAs(call, call.key, call.environment.id, call.nowMs, call.signed ?? null)
}

// One object literal, so that all senders have the same shape; spreading would be slower.
function senderAs(
  call: BatchCall,
  key: KeyRecord,
  environmentId: string,
  nowMs: number,
  signed: SignedContext | null,
): Sender {
  const { services, remoteIp, userAgent } = call
  // each of many events gets the context
  const chargeAdded = signed === null ? null : (bytes: number) => call.chargeAdded?.(bytes)
  return { services, key, environmentId, nowMs, remoteIp, userAgent, signed, chargeAdded }
}

/** The senders of the keys named by events: null for a key that is unknown or may not send events. */
async function sendersOf(
  call: Call<RawBody>,
  secrets: readonly string[],
): Promise<ReadonlyMap<string, Sender | null>> {
  if (secrets.length === 0) return nobody
  const { clock } = call.services
  const senders = new Map<string, Sender | null>()
  for (const [secret, voice] of await call.named!(secrets)) {
    const environmentId = voice?.environment?.id ?? null
    const known = voice !== null && environmentId !== null
    const { key, signed = null } = voice ?? {}
    senders.set(secret, known ? senderAs(call, key!, environmentId, clock.now(environmentId), signed) : null)
  }
  return senders
}

const nobody: ReadonlyMap<string, Sender | null> = new Map()

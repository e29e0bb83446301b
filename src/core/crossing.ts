// Requests on their way between threads. Cloning an object spells out every member's name, and reading it back costs
// three times as much as writing it (10 µs for one event); so the two hot kinds cross as flat lists of values.
import type { AcceptedEvent, IngestItem, Question, ShardRequest } from './message.js'

/** A request as it crosses: flat for events and checks, as it is for the rest. */
export type PackedRequest = ShardRequest | readonly unknown[]

/** Values of one event in a flat list; environment, key and receipt are those of the request. */
const cellsPerEvent = 17
const headerCells = 6

/** Pack a request for the crossing; `unpack` gives an equal one. */
export function pack(request: ShardRequest): PackedRequest {
  if ('events' in request) return packEvents(request)
  if ('m' in request && (request.m.type === 'check' || request.m.type === 'check_all'))
    return packCheck(request, request.m)
  return request
}

/** What `pack` packed. */
export function unpack(packed: PackedRequest): ShardRequest {
  if (!Array.isArray(packed)) return packed as ShardRequest
  return packed[0] === 'e' ? unpackEvents(packed) : unpackCheck(packed)
}

function packEvents({
  n,
  at,
  events,
}: Extract<ShardRequest, { readonly events: unknown }>): readonly unknown[] {
  const first = events[0]!
  const cells: unknown[] = ['e', n, at, first.env, first.m.event.apiKeyId, first.m.event.receivedAtMs]
  for (const { k, id, fresh, m } of events) {
    const event = m.event
    cells.push(
      k,
      id,
      fresh,
      event.id,
      event.type,
      event.subtype,
      event.body,
      event.quantity,
      event.mode,
      event.capturedAtMs,
      event.sentAtMs,
      event.idempotencyKey,
      event.userId,
      event.companyId,
      event.failure,
      event.derivedFrom,
      event.leaseId === null && event.reservationId === null && event.inference === null
        ? null
        : [event.leaseId, event.reservationId, event.inference],
    )
  }
  return cells
}

function unpackEvents(cells: readonly unknown[]): ShardRequest {
  const [, n, at, env, apiKeyId, receivedAtMs] = cells as [string, number, number, string, string, number]
  const events: IngestItem[] = []
  for (let i = headerCells; i < cells.length; i += cellsPerEvent) {
    const rest = cells[i + 16] as readonly [string | null, string | null, AcceptedEvent['inference']] | null
    const event: AcceptedEvent = {
      id: cells[i + 3] as string,
      type: cells[i + 4] as AcceptedEvent['type'],
      subtype: cells[i + 5] as string | null,
      body: cells[i + 6] as string,
      quantity: cells[i + 7] as number,
      mode: cells[i + 8] as AcceptedEvent['mode'],
      capturedAtMs: cells[i + 9] as number,
      sentAtMs: cells[i + 10] as number | null,
      receivedAtMs,
      apiKeyId,
      idempotencyKey: cells[i + 11] as string | null,
      companyId: cells[i + 13] as string | null,
      userId: cells[i + 12] as string | null,
      leaseId: rest === null ? null : rest[0],
      reservationId: rest === null ? null : rest[1],
      failure: cells[i + 14] as string | null,
      derivedFrom: cells[i + 15] as string | null,
      inference: rest === null ? null : rest[2],
    }
    events.push({
      k: cells[i] as IngestItem['k'],
      id: cells[i + 1] as string,
      env,
      fresh: cells[i + 2] as boolean,
      m: { type: 'event', event, write: null, joins: [] },
    })
  }
  return { n, at, events }
}

type Check = Extract<Question, { readonly type: 'check' | 'check_all' }>

function packCheck(request: Extract<ShardRequest, { readonly m: unknown }>, m: Check): readonly unknown[] {
  const { context } = m
  return [
    'c',
    request.n,
    request.at,
    request.k,
    request.id,
    request.env,
    m.type === 'check' ? m.flagKey : null,
    m.type === 'check' ? m.preflight : null,
    context.companyGiven,
    context.userGiven,
    context.companyKeys,
    context.userKeys,
    context.userId,
    context.userTraits,
  ]
}

function unpackCheck(cells: readonly unknown[]): ShardRequest {
  const [
    ,
    n,
    at,
    k,
    id,
    env,
    flagKey,
    preflight,
    companyGiven,
    userGiven,
    companyKeys,
    userKeys,
    userId,
    userTraits,
  ] = cells
  const context = { companyGiven, userGiven, companyKeys, userKeys, userId, userTraits } as Check['context']
  const m = flagKey === null ? { type: 'check_all', context } : { type: 'check', flagKey, preflight, context }
  return { n, k, id, env, at, fresh: false, m } as ShardRequest
}

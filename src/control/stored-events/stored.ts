// Stored events: one by id, lists newest first, and event types. Read from ClickHouse once it has everything
// acknowledged before the request (EV-73).

import { eventTypes as allTypes, type EventType, eventStatuses } from '../../../schemas/enums.js'
import type { EventDetail, EventSummary } from '../../../schemas/events.js'
import { type EventRow, eventById, eventsCount, eventsList } from '../../analytics/events.js'
import { eventTypes } from '../../analytics/history.js'
import { keyAsSent } from '../../entities/idempotency/dedupe.js'
import { ServiceError } from '../../errors.js'
import { parseExactly } from '../../json.js'
import type { Answer, Call } from '../../kit/call.js'
import { long as asLong } from '../../kit/long.js'
import {
  boolean,
  datetime,
  list,
  listOf,
  long,
  oneOf,
  page,
  type QueryOf,
  query,
  requireNear,
  string,
  text,
} from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'

const listShape = {
  company_id: string,
  event_subtype: text(255),
  end_time: datetime,
  event_types: listOf(allTypes),
  flag_id: string,
  flag_key: text(512),
  idempotency_key: text(255),
  max_value: long,
  min_value: long,
  reason: text(4_096),
  start_time: datetime,
  status: oneOf(eventStatuses),
  user_id: string,
  value: boolean,
  ...page,
} as const
export const eventListQuery = query(listShape)

const filterOf = (query: QueryOf<typeof listShape>) => ({
  companyId: query.company_id,
  userId: query.user_id,
  subtype: query.event_subtype,
  flagId: query.flag_id,
  flagKey: query.flag_key,
  value: query.value,
  reason: query.reason,
  idempotencyKey: query.idempotency_key,
  status: query.status,
  sinceMs: query.start_time,
  untilMs: query.end_time,
  least: query.min_value,
  most: query.max_value,
  types: query.event_types as readonly EventType[] | undefined,
})

/** GET /events/count: of the events that the list shows, at most 100,000, which then means that many or more. */
export async function countEvents(call: Call<undefined, QueryOf<typeof listShape>>): Promise<Answer> {
  const { services, query, environment } = call
  await services.projections.barrierOf('clickhouse', environment.id)
  return { data: { count: await eventsCount(services.clickhouse, environment.id, filterOf(query)) } }
}

/** GET /events, newest first. Flag checks are listed only by type (EV-72), or by what they answered (EX-4). 400 as `requireNear`. */
export async function listEvents(call: Call<undefined, QueryOf<typeof listShape>>): Promise<Answer> {
  const { services, query, environment } = call
  requireNear(query)
  await services.projections.barrierOf('clickhouse', environment.id)
  const filter = { ...filterOf(query), limit: query.limit, offset: query.offset }
  return {
    data: await views(call, await eventsList(services.clickhouse, environment.id, filter, call.nowMs)),
  }
}

/** GET /events/{event_id}: readable at once after its 201 (EV-73). */
export async function getEvent(call: Call): Promise<Answer> {
  const { services, environment, params } = call
  await services.projections.barrierOf('clickhouse', environment.id)
  const row = await eventById(services.clickhouse, environment.id, params.event_id!)
  if (row === null) throw new ServiceError('not_found', 'Event not found')
  return { data: (await views(call, [row]))[0] }
}

const typesShape = { q: text(512), event_subtypes: list, ...page } as const
export const eventTypesQuery = query(typesShape)

/** GET /event-types: the event names of the environment, with their counts. */
export async function listEventTypes(call: Call<undefined, QueryOf<typeof typesShape>>): Promise<Answer> {
  const { services, query, environment } = call
  await services.projections.barrierOf('clickhouse', environment.id)
  const filter = { subtypes: query.event_subtypes ?? null, q: query.q ?? '' }
  const rows = await eventTypes(services.clickhouse, environment.id, filter, {
    limit: query.limit,
    offset: query.offset,
  })
  const data: EventSummary[] = rows.map(row => ({
    environment_id: environment.id,
    event_subtype: row.subtype,
    event_count: row.events,
    company_count: row.companies,
    user_count: row.users,
    last_seen_at: isoTime(row.lastSeenMs),
  }))
  return { data }
}

/** Event views with the names of their companies, users and features, if those still exist. */
async function views(call: Call<undefined, unknown>, rows: readonly EventRow[]): Promise<EventDetail[]> {
  const features = new Map(
    call.services.catalogs.get(call.environment.id).features.map(({ id, name }) => [id, name]),
  )
  const [companies, users] = await Promise.all([
    names(
      call,
      'companies',
      rows.map(row => row.company_id),
    ),
    names(
      call,
      'users',
      rows.map(row => row.user_id),
    ),
  ])
  return rows.map(row => {
    const company = companies.get(row.company_id)
    const user = users.get(row.user_id)
    return {
      id: row.id,
      type: row.type,
      subtype: row.subtype || null,
      status: row.status,
      error_message: row.error_message || null,
      body: parsed(row.body),
      body_preview: row.body.slice(0, 100),
      quantity: asLong(row.quantity),
      captured_at: isoTime(row.captured_at_ms),
      sent_at: isoTimeOrNull(row.sent_at_ms),
      loaded_at: isoTime(row.loaded_at_ms),
      processed_at: isoTimeOrNull(row.processed_at_ms),
      enriched_at: isoTimeOrNull(row.processed_at_ms),
      updated_at: isoTime(row.processed_at_ms ?? row.loaded_at_ms),
      api_key: row.api_key_id || null,
      environment_id: row.environment_id,
      idempotency_key: keyAsSent(row.idempotency_key) || null,
      company_id: row.company_id || null,
      user_id: row.user_id || null,
      ...(company !== undefined && { company: { id: row.company_id, name: company } }),
      ...(user !== undefined && { user: { id: row.user_id, name: user } }),
      feature_ids: [...row.feature_ids],
      features: row.feature_ids.flatMap(id => {
        const name = features.get(id)
        return name === undefined ? [] : [{ id, name }]
      }),
      lease_id: row.lease_id || null,
      reservation_id: row.reservation_id || null,
      ...(row.type === 'inference' && {
        cost: row.cost,
        currency: row.currency || null,
        price_id: row.price_id || null,
      }),
      ...(row.derived_from !== '' && { derived_from: row.derived_from }),
    }
  })
}

async function names(
  call: Call<undefined, unknown>,
  table: 'companies' | 'users',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter(id => id !== '')
  if (wanted.length === 0) return new Map()
  const { sql, projections } = call.services
  const find = async () =>
    new Map(
      (
        await sql<{ id: string; name: string }[]>`
          select id, name from ${sql(table)} where id in ${among(sql, wanted)}`
      ).map(row => [row.id, row.name]),
    )
  const found = await find()
  if (found.size === wanted.length) return found
  // unknown: deleted, or so new that Postgres does not show it yet
  await projections.barrier('postgres')
  return find()
}

/** A body that is cut off or not an object is shown as text under one name. */
function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = parseExactly(body)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // not JSON: kept as it was sent (decision 20)
  }
  return { raw: body }
}

// Stored events from ClickHouse: lists, counts, one by its id. The statements are in sql/clickhouse/queries. Instants are epoch ms.
import type { EventStatus, EventType } from '../../schemas/enums.js'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { ask, type HistoryStore } from './history.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A stored event (EV-70). Missing texts are empty. */
export interface EventRow {
  readonly environment_id: string
  readonly id: string
  readonly type: EventType
  readonly subtype: string
  readonly company_id: string
  readonly user_id: string
  readonly quantity: Quantity
  readonly status: EventStatus
  readonly error_message: string
  readonly mode: 'normal' | 'trusted' | 'backfill' | 'recorded'
  readonly captured_at_ms: number
  readonly sent_at_ms: number | null
  readonly loaded_at_ms: number
  /** Also enriched_at, which is the same instant. null for a failed event. */
  readonly processed_at_ms: number | null
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly lease_id: string
  readonly reservation_id: string
  readonly feature_ids: readonly string[]
  readonly flag_id: string
  readonly derived_from: string
  readonly cost: string | null
  readonly currency: string
  readonly price_id: string
  readonly body: string
}

export interface EventsFilter {
  readonly companyId?: string | null
  readonly userId?: string | null
  readonly subtype?: string | null
  readonly flagId?: string | null
  readonly idempotencyKey?: string | null
  /** Members of checks alone: the flag's key, the answer and its reason. */
  readonly flagKey?: string | null
  readonly value?: boolean | null
  readonly reason?: string | null
  readonly status?: EventStatus | null
  /** Captured at or after, and before, epoch ms; absent: at any time. */
  readonly sinceMs?: number | null
  readonly untilMs?: number | null
  /** Bounds of the quantity, both included. */
  readonly least?: Quantity | null
  readonly most?: Quantity | null
  /** Absent or empty: every type but flag_check (EV-72), or checks alone where a member of checks is named (EX-4). */
  readonly types?: readonly EventType[]
  readonly limit: number
  readonly offset: number
}

const withoutChecks: readonly EventType[] = ['identify', 'inference', 'track']
const onlyChecks: readonly EventType[] = ['flag_check']

/**
 * Events, newest first.
 *
 * Without a company, growing spans of time are searched from the newest events on, so that a page usually reads
 * recent months only instead of a year. The first span is the one that the same question needed last time: each search in
 * vain costs as much as the one that finds.
 *
 * nowMs    the environment's present; events dated later are found too.
 * source   EV-72.
 */
export async function eventsList(
  store: HistoryStore,
  environmentId: string,
  filter: EventsFilter,
  nowMs: number,
): Promise<EventRow[]> {
  const { companyId, sinceMs, untilMs, limit, offset } = filter
  const parameters = { ...eventsParameters(environmentId, filter), limit, offset }
  if (companyId || sinceMs != null) return listSince(store, parameters, sinceMs ?? 0)
  const question = JSON.stringify([environmentId, { ...filter, limit: undefined, offset: undefined }])
  const endMs = Math.min(nowMs, untilMs ?? nowMs)
  const first = neededMs.get(question) ?? 0
  for (const span of eventSpans) {
    if (span < first) continue
    const rows = await listSince(store, parameters, endMs - span)
    if (rows.length < limit) continue
    keepNeeded(question, endMs - rows.at(-1)!.captured_at_ms)
    return rows
  }
  const rows = await listSince(store, parameters, 0)
  const oldestMs = rows.length < limit ? undefined : rows.at(-1)?.captured_at_ms
  keepNeeded(question, oldestMs === undefined ? Number.POSITIVE_INFINITY : endMs - oldestMs)
  return rows
}

async function listSince(store: HistoryStore, parameters: object, sinceMs: number): Promise<EventRow[]> {
  const rows = await ask<StoredEvent>(store, 'events_list', { ...parameters, since_ms: sinceMs })
  return rows.map(eventOf)
}

/** Spans that lists of events search one after the other, then everything. */
const eventSpans = [hourMs, dayMs, 31 * dayMs]
/** How far back the pages of recent questions reached, by question. */
const neededMs = new Map<string, number>()
const neededMax = 1_000

function keepNeeded(question: string, ms: number): void {
  neededMs.delete(question)
  neededMs.set(question, ms)
  if (neededMs.size > neededMax) neededMs.delete(neededMs.keys().next().value!)
}

const int64 = { least: '-9223372036854775808', most: '9223372036854775807' } as const
/** The end of the times that DateTime64(3) holds, epoch ms. */
const lastMs = 10_413_791_999_999

function eventsParameters(environmentId: string, filter: Omit<EventsFilter, 'limit' | 'offset'>) {
  const { types, flagKey, value, reason } = filter
  const ofChecks = flagKey != null || value != null || reason != null
  return {
    environment_id: environmentId,
    company_id: filter.companyId ?? '',
    user_id: filter.userId ?? '',
    subtype: filter.subtype ?? '',
    flag_id: filter.flagId ?? '',
    idempotency_key: filter.idempotencyKey ?? '',
    status: filter.status ?? '',
    until_ms: filter.untilMs ?? lastMs,
    least: String(filter.least ?? int64.least),
    most: String(filter.most ?? int64.most),
    types: types !== undefined && types.length > 0 ? types : ofChecks ? onlyChecks : withoutChecks,
    flag_key: flagKey ?? '',
    value: value == null ? '' : String(value),
    reason: reason ?? '',
  }
}

/** Most events that a count tells; a larger number is this one. */
const eventsCountedMax = 100_000

/** The number of events, at most `eventsCountedMax`. */
export async function eventsCount(
  store: HistoryStore,
  environmentId: string,
  filter: Omit<EventsFilter, 'limit' | 'offset'>,
): Promise<number> {
  const [row] = await ask<{ n: number | string }>(store, 'events_count', {
    ...eventsParameters(environmentId, filter),
    since_ms: filter.sinceMs ?? 0,
    most_counted: eventsCountedMax,
  })
  return Number(row?.n ?? 0)
}

/** One event, or null. source: EV-73 */
export async function eventById(
  store: HistoryStore,
  environmentId: string,
  id: string,
): Promise<EventRow | null> {
  const [row] = await ask<StoredEvent>(store, 'event_by_id', { environment_id: environmentId, id })
  return row === undefined ? null : eventOf(row)
}

/** A row as the statements return it, with its quantity as text. */
type StoredEvent = Omit<EventRow, 'quantity'> & { readonly quantity: string }

const eventOf = (row: StoredEvent): EventRow => ({ ...row, quantity: quantityFromText(row.quantity) })

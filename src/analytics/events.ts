// Stored events from ClickHouse: lists, counts, one by its id. The statements are in sql/clickhouse/queries. Instants are epoch ms.
import type { EventStatus, EventType } from '../../schemas/enums.js'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { jsonText } from '../json.js'
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
 * recent parts only instead of a year. A question that was asked before is searched since the oldest event of the page
 * that it got: its page of now lies there whole, unless events were deleted. Asked again at once, as a tail is, few other
 * events can lie there, and they are read without being searched first. Each search in vain costs as much as one that finds.
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
  const { companyId, sinceMs, untilMs, limit } = filter
  const parameters = { ...eventsParameters(environmentId, filter), limit, offset: filter.offset }
  const read = async (name: string, since: number | undefined): Promise<EventRow[]> =>
    (await ask<StoredEvent>(store, name, { ...parameters, since_ms: since })).map(eventOf)
  if (companyId) return read('events_list', sinceMs ?? undefined)
  if (sinceMs != null) return read('events_search', sinceMs)
  const question = jsonText([environmentId, filter])
  const known = lastPages.get(question)
  const askedMs = performance.now()
  const isTail = known !== undefined && askedMs - known.askedMs < tailMs
  const endMs = Math.min(nowMs, untilMs ?? nowMs)
  const wider = [...spans.map(span => endMs - span), 0].filter(
    startMs => known === undefined || startMs < known.startMs,
  )
  for (const startMs of known === undefined ? wider : [known.startMs, ...wider]) {
    const rows = await read(isTail && startMs === known.startMs ? 'events_list' : 'events_search', startMs)
    const isWhole = rows.length >= limit
    if (!isWhole && startMs > 0) continue
    keepPage(question, { startMs: isWhole ? rows.at(-1)!.captured_at_ms : 0, askedMs })
    return rows
  }
  return []
}

/** Spans that lists of events search one after the other, then everything. */
const spans = [60_000, hourMs, dayMs, 31 * dayMs]
/** A question that is asked again within this time is a tail. */
const tailMs = 60_000

interface LastPage {
  /** captured_at of its oldest event; 0: there were fewer events than a page has. */
  readonly startMs: number
  /** On the monotonic clock. */
  readonly askedMs: number
}

/** The pages that were read lately, by question. */
const lastPages = new Map<string, LastPage>()
const lastPagesMax = 1_000

function keepPage(question: string, page: LastPage): void {
  lastPages.delete(question)
  lastPages.set(question, page)
  if (lastPages.size > lastPagesMax) lastPages.delete(lastPages.keys().next().value!)
}

function eventsParameters(environmentId: string, filter: Omit<EventsFilter, 'limit' | 'offset'>) {
  const { types, flagKey, value, reason } = filter
  const ofChecks = flagKey != null || value != null || reason != null
  return {
    environment_id: environmentId,
    company_id: filter.companyId || undefined,
    user_id: filter.userId || undefined,
    subtype: filter.subtype || undefined,
    flag_id: filter.flagId || undefined,
    idempotency_key: filter.idempotencyKey || undefined,
    status: filter.status || undefined,
    until_ms: filter.untilMs ?? undefined,
    least: textOf(filter.least),
    most: textOf(filter.most),
    types: types !== undefined && types.length > 0 ? types : ofChecks ? onlyChecks : withoutChecks,
    flag_key: flagKey || undefined,
    value: textOf(value),
    reason: reason || undefined,
  }
}

const textOf = (value: Quantity | boolean | null | undefined): string | undefined =>
  value == null ? undefined : String(value)

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
    since_ms: filter.sinceMs ?? undefined,
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

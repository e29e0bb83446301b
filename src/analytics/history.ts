// Reads from ClickHouse: usage over time, credits over time, names of events, idempotency keys. The statements are in sql/clickhouse/queries,
// named like the functions. Instants are epoch ms; windows include their start and exclude their end. Every
// function rejects with store_away while ClickHouse is down.
import { readFileSync } from 'node:fs'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import type { ClickHouse } from '../storage/clickhouse.js'
import { packedClaimBytes, unpackClaim } from '../wire/packed-claim.js'

export type HistoryStore = Pick<ClickHouse, 'select'>

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/**
 * Retention of events (EV-20), slightly reduced, so that a bound is not computed from events that are just
 * expiring.
 */
const retentionMs = 364 * dayMs

/** The instant since which events are surely kept (EV-20): earlier hours are known as a whole only. */
export const keptSinceMs = (nowMs: number): number => nowMs - retentionMs

interface UsageInterval {
  readonly startMs: number
  /** Net of corrections; may be negative. */
  readonly quantity: Quantity
  readonly events: number
}

/** Starts of the hours that bounds divide, in seconds, each once: use in such an hour is read from its events. */
export function dividedHours(boundsMs: readonly number[]): number[] {
  const divided = boundsMs.filter(boundMs => boundMs % hourMs !== 0)
  return [...new Set(divided.map(boundMs => floor(boundMs, hourMs) / 1_000))]
}

/**
 * Usage of one event by one company in each interval between bounds.
 *
 * boundsMs  ascending, at least two. Sums are exact, also for bounds within an hour, as long as the hour's events are
 *           kept (EV-20). A bound within an older hour is moved to the start of that hour.
 * returns   intervals with events only, ascending.
 * source    US-10…12, US-3.
 */
export async function usageBetween(
  store: HistoryStore,
  environmentId: string,
  companyId: string,
  subtype: string,
  boundsMs: readonly number[],
  nowMs: number,
): Promise<UsageInterval[]> {
  const divided = (boundMs: number): boolean => boundMs % hourMs !== 0 && boundMs > nowMs - retentionMs
  const rows = await ask<{ start_ms: number; quantity: string; events: number }>(store, 'usage_between', {
    environment_id: environmentId,
    company_id: companyId,
    subtype,
    bounds_ms: boundsMs.map(boundMs => (divided(boundMs) ? boundMs : floor(boundMs, hourMs))),
    cut_hours: dividedHours(boundsMs.filter(divided)),
  })
  return rows.map(row => ({
    startMs: row.start_ms,
    quantity: quantityFromText(row.quantity),
    events: row.events,
  }))
}

/** When a company first used an event since an instant, from kept events (EV-20); null: never. */
export async function firstUse(
  store: HistoryStore,
  environmentId: string,
  companyId: string,
  subtype: string,
  fromMs: number,
): Promise<number | null> {
  const [row] = await ask<{ first_ms: number; events: number }>(store, 'first_use', {
    environment_id: environmentId,
    company_id: companyId,
    subtype,
    from_ms: fromMs,
  })
  return row && row.events > 0 ? row.first_ms : null
}

export interface HistoryRow {
  readonly companyId: string
  readonly subtype: string
  readonly startMs: number
  readonly quantity: Quantity
}

/**
 * Usage per company, event and period; rows can be summed.
 *
 * companyIds  null: all. boundsMs: ascending; an hour that a bound divides is read from its events, which are kept for a
 *             time (`keptSinceMs`).
 * source      US-20…24.
 */
export async function usageHistory(
  store: HistoryStore,
  environmentId: string,
  companyIds: readonly string[] | null,
  subtypes: readonly string[],
  boundsMs: readonly number[],
  page: { readonly limit: number; readonly offset: number },
): Promise<HistoryRow[]> {
  if (subtypes.length === 0 || companyIds?.length === 0) return []
  const rows = await ask<{ company_id: string; subtype: string; start_ms: number; quantity: string }>(
    store,
    'usage_history',
    {
      environment_id: environmentId,
      company_ids: companyIds ?? [],
      subtypes,
      bounds_ms: boundsMs,
      cut_hours: dividedHours(boundsMs),
      ...page,
    },
  )
  return rows.map(row => ({
    companyId: row.company_id,
    subtype: row.subtype,
    startMs: row.start_ms,
    quantity: quantityFromText(row.quantity),
  }))
}

export interface UserUsageRow {
  /** null: events without a user. */
  readonly userId: string | null
  readonly subtype: string
  /** Start of the UTC day; 0 if the query is not by day. */
  readonly dayMs: number
  readonly quantity: Quantity
  readonly lastSeenMs: number
}

/**
 * Usage per user and event of one company in a window.
 *
 * daily    one row per UTC day with usage, else one for the window.
 * userId   only this user; absent: all users, whose total is needed for shares.
 * source   US-30, US-32, US-35.
 */
export async function userUsage(
  store: HistoryStore,
  environmentId: string,
  companyId: string,
  subtypes: readonly string[],
  window: { readonly fromMs: number; readonly toMs: number },
  daily: boolean,
  nowMs: number,
  userId?: string,
): Promise<UserUsageRow[]> {
  if (subtypes.length === 0) return []
  // an hour without stored events can only be counted as a whole
  const fromMs = window.fromMs > nowMs - retentionMs ? window.fromMs : floor(window.fromMs, hourMs)
  const wholeFrom = Math.ceil(fromMs / hourMs) * hourMs
  const wholeTo = Math.max(wholeFrom, floor(window.toMs, hourMs))
  const rows = await ask<{
    user_id: string
    subtype: string
    day: number
    quantity: string
    last_ms: number
  }>(store, 'user_usage', {
    environment_id: environmentId,
    company_id: companyId,
    subtypes,
    from_ms: fromMs,
    to_ms: window.toMs,
    whole_from: wholeFrom / 1_000,
    whole_to: wholeTo / 1_000,
    daily,
    user_ids: userId === undefined ? [] : [userId],
  })
  return rows.map(row => ({
    userId: row.user_id || null,
    subtype: row.subtype,
    dayMs: row.day * 1_000,
    quantity: quantityFromText(row.quantity),
    lastSeenMs: row.last_ms,
  }))
}

export interface UserCreditsRow {
  readonly userId: string | null
  readonly creditId: string
  readonly dayMs: number
  /** Decimal text: draws minus refunds; holds do not count. */
  readonly consumed: string
}

/**
 * Credits consumed by track events per user in a window.
 *
 * only    one user, or draws for one feature; absent: all.
 * source  US-31, US-35.
 */
export async function userCredits(
  store: HistoryStore,
  environmentId: string,
  companyId: string,
  window: { readonly fromMs: number; readonly toMs: number },
  daily: boolean,
  only: { readonly userId?: string | undefined; readonly featureId?: string | undefined } = {},
): Promise<UserCreditsRow[]> {
  const rows = await ask<{ user_id: string; credit_id: string; day: number; consumed: string }>(
    store,
    'user_credits',
    {
      environment_id: environmentId,
      company_id: companyId,
      from_ms: window.fromMs,
      to_ms: window.toMs,
      daily,
      user_ids: only.userId === undefined ? [] : [only.userId],
      feature_ids: only.featureId === undefined ? [] : [only.featureId],
    },
  )
  return rows.map(row => ({
    userId: row.user_id || null,
    creditId: row.credit_id,
    dayMs: row.day * 1_000,
    consumed: row.consumed,
  }))
}

interface CreditDayRow {
  readonly dayMs: number
  readonly featureId: string | null
  /** Decimal texts. `balance`: at the end of the day. */
  readonly consumed: string
  readonly balance: string
}

/** Credits per UTC day and feature, with the balance at its end. Window of whole days. source: US-40, CR-89 */
export async function creditByDay(
  store: HistoryStore,
  environmentId: string,
  companyId: string,
  creditId: string,
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<CreditDayRow[]> {
  const rows = await ask<{ day: number; feature_id: string; consumed: string; balance: string }>(
    store,
    'credit_by_day',
    {
      environment_id: environmentId,
      company_id: companyId,
      credit_id: creditId,
      from: floor(window.fromMs, dayMs) / 1_000,
      to: Math.ceil(window.toMs / dayMs) * (dayMs / 1_000),
    },
  )
  return rows.map(row => ({
    dayMs: row.day * 1_000,
    featureId: row.feature_id || null,
    consumed: row.consumed,
    balance: row.balance,
  }))
}

/** A stored ledger entry. Members that do not apply are empty or null. Decimals are text. */
export interface LedgerRow {
  readonly credit_id: string
  readonly sequence: number
  readonly event_type: string
  readonly usage_reason: string
  readonly event_at_ms: number
  readonly amount: string
  readonly quantity_consumed: string
  readonly grant_id: string
  readonly grant_quantity_remaining: string | null
  readonly from_grant_id: string
  readonly to_grant_id: string
  readonly transfer_reason: string
  readonly zeroed_out_reason: string
  readonly feature_id: string
  readonly user_id: string
  readonly usage_event_id: string
  readonly hold_id: string
  readonly grant_reason: string
  readonly grant_quantity: string | null
  readonly grant_valid_from_ms: number | null
  readonly grant_expires_at_ms: number | null
  readonly plan_id: string
  readonly plan_grant_id: string
  readonly billing_credit_bundle_id: string
  readonly source_grant_id: string
}

export interface LedgerFilter {
  readonly companyId: string
  readonly creditId?: string | null
  readonly eventType?: string | null
  readonly featureId?: string | null
  readonly fromMs?: number | null
  readonly toMs?: number | null
}

/** Ledger entries of one company, latest first. source: CR-91 */
export function creditLedgerList(
  store: HistoryStore,
  environmentId: string,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<LedgerRow[]> {
  return ask(store, 'credit_ledger_list', { ...ledgerParameters(environmentId, filter), ...page })
}

/** Number of entries in the list. */
export async function creditLedgerCount(
  store: HistoryStore,
  environmentId: string,
  filter: LedgerFilter,
): Promise<number> {
  const [row] = await ask<{ entries: number }>(
    store,
    'credit_ledger_count',
    ledgerParameters(environmentId, filter),
  )
  return row?.entries ?? 0
}

/** The last instant of DateTime64(3). */
const endOfTimeMs = Date.UTC(2299, 11, 31)

function ledgerParameters(environmentId: string, filter: LedgerFilter): Record<string, unknown> {
  return {
    environment_id: environmentId,
    company_id: filter.companyId,
    credit_id: filter.creditId ?? '',
    event_type: filter.eventType ?? '',
    feature_id: filter.featureId ?? '',
    from_ms: filter.fromMs ?? 0,
    to_ms: filter.toMs ?? endOfTimeMs,
  }
}

interface EventTypeRow {
  readonly subtype: string
  readonly events: number
  /** Approximate for large numbers, within about half a percent. */
  readonly companies: number
  readonly users: number
  readonly lastSeenMs: number
}

/** Event names of an environment with their counts, by name. `subtypes` null: all; `q`: part of the name. */
export async function eventTypes(
  store: HistoryStore,
  environmentId: string,
  filter: { readonly subtypes: readonly string[] | null; readonly q: string },
  page: { readonly limit: number; readonly offset: number },
): Promise<EventTypeRow[]> {
  if (filter.subtypes?.length === 0) return []
  const rows = await ask<{
    subtype: string
    events: number
    companies: number
    users: number
    last_ms: number
  }>(store, 'event_types', {
    environment_id: environmentId,
    subtypes: filter.subtypes ?? [],
    q: filter.q,
    ...page,
  })
  return rows.map(({ last_ms, ...row }) => ({ ...row, lastSeenMs: last_ms }))
}

/** The companies with the most usage of one event in a window of whole hours. */
export async function usageByCompany(
  store: HistoryStore,
  environmentId: string,
  subtype: string,
  window: { readonly fromMs: number; readonly toMs: number },
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly companyId: string; readonly quantity: Quantity; readonly lastSeenMs: number }[]> {
  const rows = await ask<{ company_id: string; quantity: string; last_ms: number }>(
    store,
    'usage_by_company',
    {
      environment_id: environmentId,
      subtype,
      from: floor(window.fromMs, hourMs) / 1_000,
      to: Math.ceil(window.toMs / hourMs) * (hourMs / 1_000),
      ...page,
    },
  )
  return rows.map(row => ({
    companyId: row.company_id,
    quantity: quantityFromText(row.quantity),
    lastSeenMs: row.last_ms,
  }))
}

/** ClickHouse's totals of one company's track events with one name. */
export interface UsageTotalRow {
  readonly companyId: string
  readonly subtype: string
  /** Sum over all hours. */
  readonly total: Quantity
  /** Sum over the retention time (EV-20): from hourly sums, and below from the events. */
  readonly recent: Quantity
  readonly raw: Quantity
}

/** Totals per company and event name, for comparison with the actors' counters. */
export async function usageReconcile(
  store: HistoryStore,
  environmentId: string,
  companyIds: readonly string[],
  nowMs: number,
): Promise<UsageTotalRow[]> {
  const rows = await ask<Record<'company_id' | 'subtype' | 'total' | 'recent' | 'raw', string>>(
    store,
    'usage_reconcile',
    {
      environment_id: environmentId,
      company_ids: companyIds,
      since: floor(nowMs - retentionMs, hourMs) / 1_000,
    },
  )
  return rows.map(({ company_id, subtype, total, recent, raw }) => ({
    companyId: company_id,
    subtype,
    total: quantityFromText(total),
    recent: quantityFromText(recent),
    raw: quantityFromText(raw),
  }))
}

/** Idempotency keys of accepted events in ClickHouse. */
export interface StoredClaims {
  /** Number of keys, to reserve memory before they are read. */
  count(): Promise<number>
  /** Packed claims (dedupe.ts), concatenated, oldest first, in pages. */
  pages(): AsyncIterable<Buffer>
}

/** Keys per page. */
export const claimsAtOnce = 200_000

/** Idempotency keys received at or after an instant, in pages of `limit`. source: EV-25, EV-26 */
export function eventClaims(
  store: Pick<ClickHouse, 'bytes' | 'select'>,
  sinceMs: number,
  limit: number,
): StoredClaims {
  return {
    count: async () => {
      const sql = `SELECT count() AS n FROM event_claims WHERE loaded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`
      const [row] = await store.select<{ readonly n: number }>(sql, { since: sinceMs })
      return row?.n ?? 0
    },
    pages: () => claimPages(store, statement('event_claims'), {}, sinceMs, limit),
  }
}

/**
 * Idempotency keys of one environment that were received from an instant on, until another one inclusive, in pages of `limit`:
 * its clock may have stood still for longer than keys of all environments are kept.
 *
 * source  EV-26.
 */
export function claimsOfEnvironment(
  store: Pick<ClickHouse, 'bytes'>,
  environmentId: string,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  limit: number,
): AsyncIterable<Buffer> {
  const given = { environment_id: environmentId, until_ms: untilMs }
  return claimPages(store, statement('claims_of_environment'), given, fromMs, limit)
}

async function* claimPages(
  store: Pick<ClickHouse, 'bytes'>,
  text: string,
  given: Readonly<Record<string, unknown>>,
  sinceMs: number,
  limit: number,
): AsyncGenerator<Buffer> {
  const sql = `${text} FORMAT RowBinary`
  const read = async (last: { readonly after_ms: number; readonly after_id: string }): Promise<Buffer> => {
    // raw bytes: there may be millions of keys
    const pieces: Buffer[] = []
    for await (const piece of store.bytes(sql, { ...given, ...last, limit })) pieces.push(piece)
    return Buffer.concat(pieces)
  }
  // ClickHouse reads the next page while this one is put into memory
  let reading = read({ after_ms: sinceMs, after_id: '' })
  for (;;) {
    const page = await reading
    const isLast = page.length < limit * packedClaimBytes
    if (!isLast) {
      const end = unpackClaim(page, page.length - packedClaimBytes)
      reading = read({ after_ms: end.receivedAtMs, after_id: end.eventId })
      reading.catch(() => {}) // heard where it is awaited, if it still is
    }
    yield page
    if (isLast) return
  }
}

/** The first event with an idempotency key. */
interface OldClaim {
  readonly env: string
  readonly key: string
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  readonly print: number
}

/** First events with these keys in any environment, among those received in a span. source: EV-25 */
export async function oldClaims(
  store: HistoryStore,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  keys: readonly string[],
): Promise<readonly OldClaim[]> {
  const rows = await ask<{
    environment_id: string
    idempotency_key: string
    id: string
    captured_at_ms: number
    loaded_at_ms: number
    print: number
  }>(store, 'old_claims', { from_ms: fromMs, to_ms: toMs, keys })
  return rows.map(row => ({
    env: row.environment_id,
    key: row.idempotency_key,
    eventId: row.id,
    capturedAtMs: row.captured_at_ms,
    receivedAtMs: row.loaded_at_ms,
    print: row.print,
  }))
}

const floor = (epochMs: number, unitMs: number): number => Math.floor(epochMs / unitMs) * unitMs

const statements = new Map<string, string>()

/**
 * Run sql/clickhouse/queries/<name>.sql. A line that begins with AND is left out where a parameter of it is undefined: a
 * filter that is not asked for costs nothing then, neither to plan nor to read.
 */
export function ask<Row>(
  store: HistoryStore,
  name: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Row[]> {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const isGiven = new Set(given.map(([parameter]) => parameter))
  const text = statement(name).replaceAll(filterLine, line =>
    [...line.matchAll(placeholder)].every(([, parameter]) => isGiven.has(parameter!)) ? line : '',
  )
  return store.select<Row>(text, Object.fromEntries(given))
}

const filterLine = /^ *AND .*\n?/gm
const placeholder = /\{(\w+):/g

/** The text of sql/clickhouse/queries/<name>.sql, cached. */
function statement(name: string): string {
  let text = statements.get(name)
  if (text === undefined) {
    text = readFileSync(new URL(`../../../sql/clickhouse/queries/${name}.sql`, import.meta.url), 'utf8')
    statements.set(name, text)
  }
  return text
}

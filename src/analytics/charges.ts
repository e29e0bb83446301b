// Reads from ClickHouse for charge lines: usage between instants by receipt, and events that came late. Instants are epoch ms.
import type { UsagePiece } from '../core/rating/usage.js'
import { hourMs } from '../core/values/period.js'
import { ask, dividedHours, type HistoryStore } from './history.js'

/** A company of an environment. */
interface ChargedCompany {
  readonly environmentId: string
  readonly companyId: string
}

/**
 * Usage of a company between neighbouring bounds, of the events received before each cut-off; pieces without events are
 * absent.
 *
 * bounds    ascending. A number below 0 or without end is taken as the first or last instant that events have.
 * keptMs    events are kept since (`keptSinceMs`): use before it is known by the hour.
 * source    RA-8, RA-10, RA-12; EV-20.
 */
export async function chargedUsage(
  store: HistoryStore,
  company: ChargedCompany,
  subtypes: readonly string[],
  bounds: readonly number[],
  received: readonly number[],
  keptMs: number,
): Promise<UsagePiece[]> {
  const eventsFromMs = Math.floor(keptMs / hourMs) * hourMs
  const old = bounds.filter(boundMs => boundMs < eventsFromMs)
  if (old.length === 0) return usageOfEvents(store, company, subtypes, bounds, received)
  const recent = bounds.filter(boundMs => boundMs > eventsFromMs)
  const isBoth = bounds.at(-1)! >= eventsFromMs
  const [hours, events] = await Promise.all([
    usageOfHours(store, company, subtypes, isBoth ? [...old, eventsFromMs] : old, received),
    usageOfEvents(store, company, subtypes, [eventsFromMs, ...recent], received),
  ])
  return [...hours, ...events]
}

async function usageOfHours(
  store: HistoryStore,
  { environmentId, companyId }: ChargedCompany,
  subtypes: readonly string[],
  bounds: readonly number[],
  received: readonly number[],
): Promise<UsagePiece[]> {
  if (subtypes.length === 0 || bounds.length < 2) return []
  const rows = await ask<{
    subtype: string
    received_ms: number
    start_ms: number
    quantity: string
    events: number
  }>(store, 'charged_hours', {
    environment_id: environmentId,
    company_id: companyId,
    subtypes,
    bounds_ms: bounds,
    received_ms: received,
    cut_hours: dividedHours(bounds),
  })
  return rows.map(row => ({
    subtype: row.subtype,
    receivedMs: row.received_ms,
    startMs: row.start_ms,
    quantity: BigInt(row.quantity),
    count: row.events,
    firstId: null,
    lastId: null,
  }))
}

async function usageOfEvents(
  store: HistoryStore,
  { environmentId, companyId }: ChargedCompany,
  subtypes: readonly string[],
  bounds: readonly number[],
  received: readonly number[],
): Promise<UsagePiece[]> {
  if (subtypes.length === 0 || bounds.length < 2) return []
  const rows = await ask<{
    subtype: string
    received_ms: number
    start_ms: number
    quantity: string
    events: number
    first_id: string
    last_id: string
  }>(store, 'charged_usage', {
    environment_id: environmentId,
    company_id: companyId,
    subtypes,
    bounds_ms: bounds,
    received_ms: received,
  })
  return rows.map(row => ({
    subtype: row.subtype,
    receivedMs: row.received_ms,
    startMs: row.start_ms,
    quantity: BigInt(row.quantity),
    count: row.events,
    firstId: row.first_id,
    lastId: row.last_id,
  }))
}

/** Events that were received in `[fromMs, untilMs)`, after the end of a window in which they were captured. source: RA-12 */
export async function lateUsage(
  store: HistoryStore,
  { environmentId, companyId }: ChargedCompany,
  endsMs: readonly number[],
  fromMs: number,
  untilMs: number,
): Promise<{ readonly subtype: string; readonly capturedMs: number; readonly receivedMs: number }[]> {
  if (endsMs.length === 0 || untilMs <= fromMs) return []
  const rows = await ask<{ subtype: string; captured_ms: number; received_ms: number }>(store, 'late_usage', {
    environment_id: environmentId,
    company_id: companyId,
    ends_ms: endsMs,
    from_ms: fromMs,
    until_ms: untilMs,
  })
  return rows.map(row => ({
    subtype: row.subtype,
    capturedMs: row.captured_ms,
    receivedMs: row.received_ms,
  }))
}

/** Companies that used any of some events since an instant (hours count whole), by id; at most `limit` after one. source: RA-25 */
export async function usedCompanies(
  store: HistoryStore,
  environmentId: string,
  subtypes: readonly string[],
  sinceMs: number,
  after: string,
  limit: number,
): Promise<string[]> {
  if (subtypes.length === 0) return []
  const rows = await ask<{ company_id: string }>(store, 'used_companies', {
    environment_id: environmentId,
    subtypes,
    from: Math.floor(sinceMs / hourMs) * 3_600,
    after,
    limit,
  })
  return rows.map(row => row.company_id)
}

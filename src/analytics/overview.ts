// Reads over all companies of an environment from ClickHouse, for overviews: usage by day, denied checks, and companies near
// a limit. Each reads sums, never events, and is bounded by its window. The statements are in sql/clickhouse/queries.
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { ask, type HistoryStore } from './history.js'

const hourMs = 3_600_000

interface UsageOfDay {
  readonly subtype: string
  readonly dayMs: number
  readonly quantity: Quantity
}

/** Usage of event names by UTC day in a window, ascending; days without usage are absent. */
export async function usageByDay(
  store: HistoryStore,
  environmentId: string,
  subtypes: readonly string[],
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<UsageOfDay[]> {
  if (subtypes.length === 0) return []
  const rows = await ask<{ subtype: string; day: number; quantity: string }>(store, 'usage_by_day', {
    environment_id: environmentId,
    subtypes,
    from: Math.floor(window.fromMs / hourMs) * 3_600,
    to: Math.ceil(window.toMs / hourMs) * 3_600,
  })
  return rows.map(({ subtype, day, quantity }) => ({
    subtype,
    dayMs: day * 1_000,
    quantity: quantityFromText(quantity),
  }))
}

/** Members that rows of denied checks may be made of. */
export const deniedParts = ['flag', 'reason', 'company', 'minute'] as const
export type DeniedPart = (typeof deniedParts)[number]

interface DeniedFilter {
  readonly fromMs: number
  readonly toMs: number
  readonly flagKey?: string | undefined
  readonly companyId?: string | undefined
  readonly reason?: string | undefined
  readonly by: readonly DeniedPart[]
  readonly limit: number
  readonly offset: number
}

export interface DeniedRow {
  readonly flagKey: string
  readonly reason: string
  readonly companyId: string
  /** 0: the rows are not by minute. */
  readonly minuteMs: number
  readonly checks: number
  /** Single records of them that are kept (EX-5). */
  readonly recorded: number
}

/** A window in whole minutes, as the stored counts have it; epoch s. */
const minutesOf = ({ fromMs, toMs }: Pick<DeniedFilter, 'fromMs' | 'toMs'>) => ({
  from: Math.floor(fromMs / 60_000) * 60,
  to: Math.ceil(toMs / 60_000) * 60,
})

/** Checks that answered false in a window; texts that rows are not made of are ''. source: FE-100 */
export async function deniedChecks(
  store: HistoryStore,
  environmentId: string,
  filter: DeniedFilter,
): Promise<DeniedRow[]> {
  const { by } = filter
  const rows = await ask<{
    flag_key: string
    reason: string
    company_id: string
    minute: number
    checks: number | string
    recorded: number | string
  }>(store, 'denied_checks', {
    environment_id: environmentId,
    ...minutesOf(filter),
    flag_key: filter.flagKey ?? '',
    company_id: filter.companyId ?? '',
    reason: filter.reason ?? '',
    by_flag: by.includes('flag'),
    by_reason: by.includes('reason'),
    by_company: by.includes('company'),
    by_minute: by.includes('minute'),
    limit: filter.limit,
    offset: filter.offset,
  })
  return rows.map(row => ({
    flagKey: row.flag_key,
    reason: row.reason,
    companyId: row.company_id,
    minuteMs: row.minute * 1_000,
    checks: Number(row.checks),
    recorded: Number(row.recorded),
  }))
}

export interface FlagChecksRow {
  readonly flagKey: string
  /** '': the rows are not by reason. */
  readonly reason: string
  readonly checks: number
  readonly denied: number
}

/** Checks of flags in a window, and how many of them answered false: by flag, and by reason where the caller asks for it. source: FE-100 */
export async function flagChecks(
  store: HistoryStore,
  environmentId: string,
  filter: Pick<DeniedFilter, 'fromMs' | 'toMs' | 'flagKey' | 'limit' | 'offset'> & {
    readonly byReason: boolean
  },
): Promise<FlagChecksRow[]> {
  const rows = await ask<{
    flag_key: string
    told: string
    all_checks: number | string
    denied: number | string
  }>(store, 'flag_checks', {
    environment_id: environmentId,
    ...minutesOf(filter),
    flag_key: filter.flagKey ?? '',
    by_reason: filter.byReason,
    limit: filter.limit,
    offset: filter.offset,
  })
  return rows.map(row => ({
    flagKey: row.flag_key,
    reason: row.told,
    checks: Number(row.all_checks),
    denied: Number(row.denied),
  }))
}

/** A kind of limit: an event name counted since an instant, and the smallest limit that any plan sets. */
export interface LimitKind {
  readonly subtype: string
  readonly fromMs: number
  readonly least: bigint
}

/** Companies that used the largest parts of limits, by the smallest limit of each kind; the largest part first. */
export async function nearLimits(
  store: HistoryStore,
  environmentId: string,
  kinds: readonly LimitKind[],
  limit: number,
): Promise<string[]> {
  if (kinds.length === 0) return []
  const rows = await ask<{ company_id: string }>(store, 'near_limits', {
    environment_id: environmentId,
    subtypes: kinds.map(({ subtype }) => subtype),
    froms: kinds.map(({ fromMs }) => Math.floor(fromMs / hourMs) * 3_600),
    least: kinds.map(({ least }) => String(least)),
    limit,
  })
  return rows.map(row => row.company_id)
}

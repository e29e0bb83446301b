// Figures over all companies: use by feature and day, the companies that use a feature most, checks of flags, and denied
// checks. Each is kept for some seconds.
import type { DeniedChecks, FlagChecks, TopCompany, UsageByDay } from '../../../schemas/console.js'
import {
  type DeniedPart,
  type DeniedRow,
  deniedChecks,
  deniedParts,
  type FlagChecksRow,
  flagChecks,
  usageByDay,
} from '../../analytics/overview.js'
import { dayMs, dayStart } from '../../core/values/period.js'
import type { Answer, Call } from '../../kit/call.js'
import { KeptAnswers } from '../../kit/kept-answers.js'
import { long } from '../../kit/long.js'
import {
  datetime,
  integer,
  list,
  listOf,
  page,
  type QueryOf,
  query,
  required,
  string,
  text,
  withDefault,
} from '../../kit/query.js'
import { isoTime, isoTimeOrNull, requireWindow } from '../../kit/time.js'
import { mostUsed } from '../companies/summaries.js'
import { companyNames } from '../entities/names.js'

const keptMs = 5_000
/** Longest window of denied checks: a month by minute is bounded by the page. */
const windowDaysMax = 31

const usage = new KeptAnswers<UsageByDay[]>(keptMs)
const denied = new KeptAnswers<DeniedRow[]>(keptMs)
const checked = new KeptAnswers<FlagChecksRow[]>(keptMs)

const usageShape = { days: withDefault(integer(1, 366), 30), feature_ids: list } as const
export const usageByDayQuery = query(usageShape)

/** GET /usage-by-day: features that events count, the most used first. */
export async function getUsageByDay(call: Call<undefined, QueryOf<typeof usageShape>>): Promise<Answer> {
  const { services, environment, query, nowMs } = call
  const wanted = query.feature_ids && new Set(query.feature_ids)
  const catalog = services.catalogs.get(environment.id)
  const features = catalog.features.filter(
    ({ id, featureType, eventSubtype }) =>
      featureType === 'event' && eventSubtype !== null && (wanted === undefined || wanted.has(id)),
  )
  const toMs = dayStart(nowMs) + dayMs
  const fromMs = toMs - query.days * dayMs
  const ids = features.map(({ id }) => id).join(' ')
  const data = await usage.get(`${environment.id} ${fromMs} ${toMs} ${catalog.version} ${ids}`, async () => {
    const subtypes = [...new Set(features.map(({ eventSubtype }) => eventSubtype!))]
    const rows = await usageByDay(services.clickhouse, environment.id, subtypes, { fromMs, toMs })
    const bySubtype = new Map<string, Map<number, number | bigint>>()
    for (const { subtype, dayMs: at, quantity } of rows) {
      const days = bySubtype.get(subtype) ?? new Map()
      bySubtype.set(subtype, days.set(at, quantity))
    }
    const all = features.map(({ id, name, eventSubtype }) => {
      const days = bySubtype.get(eventSubtype!)
      const points = Array.from({ length: query.days }, (_, i) => fromMs + i * dayMs)
      const total = [...(days?.values() ?? [])].reduce<bigint>((sum, one) => sum + BigInt(one), 0n)
      return {
        feature_id: id,
        feature_name: name,
        event_subtype: eventSubtype!,
        total: long(Number.isSafeInteger(Number(total)) ? Number(total) : total),
        points: points.map(at => ({ day: isoTime(at), quantity: long(days?.get(at) ?? 0) })),
      } as UsageByDay
    })
    return all.sort((a, b) => Number(b.total) - Number(a.total))
  })
  return { data }
}

const topShape = {
  feature_id: required(string),
  start_time: datetime,
  end_time: datetime,
  limit: withDefault(integer(1, 100), 10),
} as const
export const topCompaniesQuery = query(topShape)

/** GET /top-companies: by use of a feature that events count; the last 30 days unless a window is named. */
export async function listTopCompanies(call: Call<undefined, QueryOf<typeof topShape>>): Promise<Answer> {
  const { query } = call
  const rows = (await mostUsed(call, query.feature_id, query)).slice(0, query.limit)
  const names = await companyNames(
    call.services.sql,
    rows.map(row => row.companyId),
  )
  const data: TopCompany[] = rows.flatMap(({ companyId, quantity, lastSeenMs }) => {
    const name = names.get(companyId)
    if (name === undefined) return []
    return {
      company_id: companyId,
      company_name: name,
      quantity: long(quantity),
      last_seen_at: isoTime(lastSeenMs),
    }
  })
  return { data }
}

/** The last 24 hours, with the present minute. */
const lastDay = (nowMs: number) => ({ toMs: Math.ceil((nowMs + 1) / 60_000) * 60_000, lengthMs: dayMs })

const deniedShape = {
  by: listOf(deniedParts),
  company_id: string,
  end_time: datetime,
  flag_key: text(255),
  reason: text(1_024),
  start_time: datetime,
  ...page,
} as const
export const deniedQuery = query(deniedShape)

/**
 * GET /denied-checks: checks that answered false, the last 24 hours unless a window is named, summed by the parts in `by`
 * (flag, reason, company, minute; flag and reason where none is named).
 *
 * source  FE-100: counts reach ClickHouse within some ten seconds.
 */
export async function listDeniedChecks(call: Call<undefined, QueryOf<typeof deniedShape>>): Promise<Answer> {
  const { services, environment, query, nowMs } = call
  const { fromMs, toMs } = requireWindow(query, lastDay(nowMs), windowDaysMax)
  const by = (query.by ?? ['flag', 'reason']) as readonly DeniedPart[]
  const filter = {
    fromMs,
    toMs,
    flagKey: query.flag_key,
    companyId: query.company_id,
    reason: query.reason,
    by,
    limit: query.limit,
    offset: query.offset,
  }
  const rows = await denied.get(`${environment.id} ${JSON.stringify(filter)}`, () =>
    deniedChecks(services.clickhouse, environment.id, filter),
  )
  const names = await companyNames(
    services.sql,
    rows.map(row => row.companyId),
  )
  const told = (part: DeniedPart, value: string) => (by.includes(part) ? value : null)
  const data: DeniedChecks[] = rows.map(row => ({
    flag_key: told('flag', row.flagKey),
    reason: told('reason', row.reason),
    company_id: told('company', row.companyId) || null,
    company_name: names.get(row.companyId) ?? null,
    minute: isoTimeOrNull(by.includes('minute') ? row.minuteMs : null),
    // a record may be there some seconds before its count
    checks: Math.max(row.checks, row.recorded),
    left_out: Math.max(0, row.checks - row.recorded),
  }))
  return { data }
}

const checkedShape = {
  by: listOf(['flag', 'reason'] as const),
  end_time: datetime,
  flag_key: text(255),
  start_time: datetime,
  ...page,
} as const
export const flagChecksQuery = query(checkedShape)

/**
 * GET /flag-checks: checks of flags and how many of them answered false, the last 24 hours unless a window is named; by flag,
 * and with `by=reason` by reason, which names the rule that decided.
 *
 * source  EX-8; FE-100: counts reach ClickHouse within some ten seconds.
 */
export async function listFlagChecks(call: Call<undefined, QueryOf<typeof checkedShape>>): Promise<Answer> {
  const { services, environment, query, nowMs } = call
  const { fromMs, toMs } = requireWindow(query, lastDay(nowMs), windowDaysMax)
  const byReason = query.by?.includes('reason') ?? false
  const { flag_key: flagKey, limit, offset } = query
  const filter = { fromMs, toMs, flagKey, byReason, limit, offset }
  const rows = await checked.get(`${environment.id} ${JSON.stringify(filter)}`, () =>
    flagChecks(services.clickhouse, environment.id, filter),
  )
  const data: FlagChecks[] = rows.map(({ flagKey: key, reason, checks, denied }) => ({
    flag_key: key,
    reason: byReason ? reason : null,
    checks,
    denied,
  }))
  return { data }
}

// Short lists of companies: one line from the actor of each, and lists sorted by how close a company is to a limit.
import type { CompanySummary } from '../../../schemas/console.js'
import { usageByCompany } from '../../analytics/history.js'
import { type LimitKind, nearLimits } from '../../analytics/overview.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyLine } from '../../core/model/descriptions.js'
import { dayMs, dayStart, hourMs, monthStart, weekStart } from '../../core/values/period.js'
import type { Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { EntityCall, EntityPlace } from '../../kit/entities.js'
import { KeptAnswers } from '../../kit/kept-answers.js'
import { long } from '../../kit/long.js'
import { isoTime, isoTimeOrNull, requireWindow } from '../../kit/time.js'

/** Companies that a list sorted by closeness or by use has, at most. */
export const rankedMax = 500
const keptMs = 5_000

/** Lines of companies in the order of the ids; deleted ones are left out. */
export async function companySummaries(call: EntityPlace, ids: readonly string[]): Promise<CompanySummary[]> {
  const catalog = call.services.catalogs.get(call.environment.id)
  const lines = await linesOf(call, ids)
  return lines.map(line => summaryOf(line, call.services.directory.membersOf(line.id), catalog))
}

async function linesOf(
  { services, environment, nowMs }: EntityPlace,
  ids: readonly string[],
): Promise<CompanyLine[]> {
  const question = { type: 'line' } as const
  const replies = await Promise.all(
    ids.map(id => services.shards.ask<CompanyLine | null>('c', environment.id, id, question, nowMs)),
  )
  return replies.flatMap(({ reply }) => reply ?? [])
}

function summaryOf(line: CompanyLine, users: number, catalog: CatalogData): CompanySummary {
  const { closest } = line
  const plan = catalog.plans.find(({ id }) => id === line.planId)
  return {
    id: line.id,
    name: line.name,
    created_at: isoTime(line.createdAtMs),
    last_seen_at: isoTimeOrNull(line.lastSeenAtMs),
    user_count: users,
    plan: plan ? { id: plan.id, name: plan.name } : null,
    add_on_count: line.addOns,
    closest_limit: closest && {
      feature_id: closest.featureId,
      feature_name: catalog.features.find(({ id }) => id === closest.featureId)?.name ?? '',
      usage: long(closest.usage),
      limit: long(closest.limit),
      percent: closest.limit > 0 ? Math.floor((Number(closest.usage) * 100) / Number(closest.limit)) : null,
      resets_at: isoTimeOrNull(closest.resetAtMs),
    },
    credits: Object.entries(line.balances).map(([id, remaining]) => ({
      credit_id: id,
      name: catalog.credits.find(credit => credit.id === id)?.name ?? '',
      remaining,
    })),
  }
}

const closest = new KeptAnswers<readonly string[]>(keptMs)

/**
 * Ids of the companies that are closest to a limit, or furthest beyond it, the closest first: at most `rankedMax`.
 * ClickHouse names the candidates by its sums, their actors say how close they are.
 *
 * source  decision: months are counted from their first day to find candidates, whatever a company's cycle is.
 */
export function closestCompanies(call: EntityCall): Promise<readonly string[]> {
  const { services, environment, nowMs } = call
  const catalog = services.catalogs.get(environment.id)
  return closest.get(`${environment.id} ${catalog.version}`, async () => {
    const kinds = limitKinds(catalog, nowMs)
    const ids = await nearLimits(services.clickhouse, environment.id, kinds, rankedMax)
    const lines = await linesOf(call, ids)
    const part = ({ closest: one }: CompanyLine): number =>
      one === null ? -1 : one.limit > 0 ? Number(one.usage) / Number(one.limit) : Number.MAX_VALUE
    return lines.sort((a, b) => part(b) - part(a) || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
  })
}

/** A company by its use of a feature. */
interface UsedMost {
  readonly companyId: string
  readonly quantity: Quantity
  readonly lastSeenMs: number
}

const used = new KeptAnswers<readonly UsedMost[]>(keptMs)

/**
 * The companies that used a feature most, the most first, at most `rankedMax`; in the last 30 days unless a window is
 * named. Hours count as a whole. Deleted companies may be among them.
 *
 * errors  404 for an unknown feature, 400 for one that events do not count, or for a window without length.
 */
export function mostUsed(
  { services, environment, nowMs }: EntityPlace,
  featureId: string,
  window: { readonly start_time?: number | undefined; readonly end_time?: number | undefined },
): Promise<readonly UsedMost[]> {
  const feature = services.catalogs.get(environment.id).features.find(({ id }) => id === featureId)
  if (feature === undefined) throw new ServiceError('not_found', 'Feature not found')
  const { featureType, eventSubtype } = feature
  if (featureType !== 'event' || eventSubtype === null)
    throw new ServiceError('value_invalid', 'Events do not count this feature')
  const usual = { toMs: Math.ceil(nowMs / hourMs) * hourMs, lengthMs: 30 * dayMs }
  const { fromMs, toMs } = requireWindow(window, usual)
  return used.get(JSON.stringify([environment.id, eventSubtype, fromMs, toMs]), () =>
    usageByCompany(
      services.clickhouse,
      environment.id,
      eventSubtype,
      { fromMs, toMs },
      { limit: rankedMax, offset: 0 },
    ),
  )
}

/** Each kind of limit that published versions set, with the smallest such limit. */
function limitKinds(catalog: CatalogData, nowMs: number): LimitKind[] {
  const starts = {
    all_time: 0,
    current_day: dayStart(nowMs),
    current_week: weekStart(nowMs),
    current_month: monthStart(nowMs),
  } as const
  const least = new Map<string, LimitKind>()
  for (const { versions } of catalog.plans)
    for (const { entitlements } of versions)
      for (const { featureId, valueNumeric, valueType, metricPeriod } of entitlements) {
        const subtype = catalog.features.find(({ id }) => id === featureId)?.eventSubtype
        if (valueType !== 'numeric' || valueNumeric === null || !subtype) continue
        const fromMs = starts[metricPeriod ?? 'all_time']
        const limit = BigInt(valueNumeric)
        const name = `${subtype} ${fromMs}`
        const known = least.get(name)
        if (known === undefined || limit < known.least) least.set(name, { subtype, fromMs, least: limit })
      }
  return [...least.values()]
}

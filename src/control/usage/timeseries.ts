// Usage over time: the cumulative series of one company and feature, and the incremental history of many.
import type { TimeSeriesGranularity } from '../../../schemas/enums.js'
import type { FeatureUsageHistory, FeatureUsageTimeSeries } from '../../../schemas/usage.js'
import { usageBetween, usageHistory } from '../../analytics/history.js'
import { decodeCompany } from '../../core/company/state.js'
import type { CompiledEntitlement } from '../../core/entitlements/entitlement.js'
import type { Company } from '../../core/model/company-state.js'
import type { FeatureDef } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { cycleOf } from '../../core/plans/plan.js'
import type { Quantity } from '../../core/values/quantity.js'
import { strictInteger } from '../../core/values/trait.js'
import type { EntityCall } from '../../kit/entities.js'
import { long } from '../../kit/long.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { boundsOfPoints, bucketBounds, cumulate, type Point, pointsOf, type Range } from './buckets.js'
import { type EntitledSince, entitledOver, limitPoints } from './limits.js'
import { holdingChanges, overrideSpans } from './store.js'

/**
 * The series of one company and feature.
 *
 * described  the company's description from its actor.
 * range      epoch ms, end exclusive.
 * returns    one point per bucket. Its metric window comes from the entitlement in force at the end of the range,
 *            else from the present one; without an entitlement usage counts from the beginning.
 * source     US-10…13; decision 16. The choice of entitlement, and no points for boolean features: decisions.
 */
export async function timeSeries(
  call: EntityCall,
  described: CompanyDescription,
  feature: FeatureDef,
  range: Range,
  granularity: TimeSeriesGranularity,
): Promise<FeatureUsageTimeSeries> {
  const { services, environment, nowMs } = call
  const company = decodeCompany(described.state)
  const bounds = bucketBounds(range, granularity)
  const past = {
    company,
    plan: described.plan,
    addOns: described.addOns,
    changes: await holdingChanges(services.sql, company.id),
    overrides: await overrideSpans(services.sql, company.id),
  }
  const catalog = services.catalogs.get(environment.id)
  const entitled = entitledOver(past, feature.id, catalog, range, nowMs)
  const present = { startMs: nowMs, endMs: nowMs + 1 }
  const metric = metricOf(entitled) ?? metricOf(entitledOver(past, feature.id, catalog, present, nowMs))
  const cycle = cycleOf(company, nowMs)
  const points = pointsOf(bounds, metric, cycle)
  const values = await valuesOf(call, company, feature, points)
  return {
    feature_id: feature.id,
    feature_type: feature.featureType,
    period_type: feature.featureType === 'event' ? (metric?.period ?? 'all_time') : null,
    limits: limitPoints(entitled),
    usage_points: values.map((usage, i) => {
      const { endMs, window } = points[i]!
      return {
        timestamp: isoTime(endMs),
        usage: long(usage),
        period_start: isoTimeOrNull(window?.startMs),
        period_end: isoTimeOrNull(window?.nextMs),
      }
    }),
  }
}

function metricOf(entitled: readonly EntitledSince[]) {
  const metered = entitled
    .map(({ entitlement }) => entitlement)
    .filter((one): one is CompiledEntitlement => one !== null && one.period !== null)
    .at(-1)
  return metered ? { period: metered.period!, monthReset: metered.monthReset } : null
}

async function valuesOf(
  { services, environment }: EntityCall,
  company: Company,
  feature: FeatureDef,
  points: readonly Point[],
): Promise<Quantity[]> {
  const { featureType, eventSubtype } = feature
  if (featureType === 'trait' || featureType === 'license') {
    const trait = services.traits.byId(environment.id, feature.traitId ?? '')
    return traitValues(company, trait?.name ?? null, points)
  }
  if (featureType !== 'event' || eventSubtype === null) return []
  const bounds = boundsOfPoints(points)
  const { clickhouse, clock } = services
  const usage = await usageBetween(clickhouse, environment.id, company.id, eventSubtype, bounds, clock.wall())
  return cumulate(points, bounds, usage)
}

/** US-11: the trait's present value, from when the trait was first set; earlier values are not stored. */
function traitValues(company: Company, name: string | null, points: readonly Point[]): Quantity[] {
  const trait = name === null ? undefined : company.traits.get(name)
  const value = trait === undefined ? 0 : (strictInteger(trait.value) ?? 0)
  return points.map(({ endMs }) => (trait !== undefined && trait.createdAtMs < endMs ? value : 0))
}

/** A request for history. `null` companies: all. */
interface HistoryAsked {
  readonly companyIds: readonly string[] | null
  /** Only event features have history. */
  readonly features: readonly FeatureDef[]
  readonly range: Range
  /** null: one row for the whole range. */
  readonly granularity: TimeSeriesGranularity | null
  readonly page: { readonly limit: number; readonly offset: number }
}

/**
 * Usage by company, event and bucket, repeated for each feature that counts the event.
 *
 * returns  rows that can be summed. The page is over (company, event, bucket), so there may be more rows than its
 *          limit.
 * source   US-20…24.
 */
export async function usageRowsOver(
  { services, environment }: EntityCall,
  { companyIds, features, range, granularity, page }: HistoryAsked,
): Promise<FeatureUsageHistory[]> {
  const bounds = bucketBounds(range, granularity)
  const bySubtype = new Map<string, FeatureDef[]>()
  for (const feature of features) {
    const { featureType, eventSubtype: subtype } = feature
    if (featureType !== 'event' || subtype === null) continue
    const others = bySubtype.get(subtype)
    if (others) others.push(feature)
    else bySubtype.set(subtype, [feature])
  }
  const { clickhouse } = services
  const rows = await usageHistory(clickhouse, environment.id, companyIds, [...bySubtype.keys()], bounds, page)
  return rows.flatMap(({ companyId, subtype, startMs, quantity }) =>
    bySubtype.get(subtype)!.map(feature => ({
      company_id: companyId,
      feature_id: feature.id,
      event_subtype: subtype,
      period_start: isoTime(startMs),
      period_end: isoTime(bounds[bounds.indexOf(startMs) + 1]!),
      usage: long(quantity),
    })),
  )
}

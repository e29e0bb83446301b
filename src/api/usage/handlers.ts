// Usage: what companies have used of what they are entitled to, now and over time.
import { billingProviderTypes, timeSeriesGranularities } from '../../../schemas/enums.js'
import type { FeatureUsage, FeatureUsageDetail } from '../../../schemas/usage.js'
import type { FeatureDef } from '../../core/catalog.js'
import type { OverrideState } from '../../core/company.js'
import type { FeatureUsage as FeatureUsageRow } from '../../core/feature.js'
import { type CompanyDescription, decodeCompany } from '../../core/state.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../call.js'
import { distinct, entitlementViews } from '../entitlement-view.js'
import { type EntityCall, entityUnknown, isKnown, lookedUp } from '../entity-write.js'
import type { Outlook } from '../flag-view.js'
import { type OverrideRow, overrideViews } from '../override-view.js'
import { featuresInPlans } from '../plan-view.js'
import {
  boolean,
  datetime,
  list,
  map,
  mapOrBare,
  oneOf,
  page,
  type QueryOf,
  query,
  required,
  string,
  text,
  withDefault,
} from '../query.js'
import { requireRange, requireWholeHours } from './buckets.js'
import { creditAggregations } from './credits.js'
import { entitlementRows, matchingFeatures } from './store.js'
import { timeSeries, usageRowsOver } from './timeseries.js'
import { featureUsageView, grantDetails, type Surroundings } from './view.js'

const usageShape = {
  company_id: string,
  company_keys: map,
  feature_ids: list,
  include_usage_aggregation: boolean,
  managed_by: oneOf(billingProviderTypes),
  q: text(512),
  without_negative_entitlements: boolean,
  ...page,
} as const
export const featureUsageQuery = query(usageShape)
type FeatureUsageQuery = QueryOf<typeof usageShape>

/**
 * GET /feature-usage: the features one company is entitled to, by name, as its actor counts them this instant.
 *
 * errors  400 without a company; 404 for one that is not there.
 * source  US-5…8, US-51. An id goes before keys: decision, as for users' companies.
 */
export const listFeatureUsage: Handler<undefined, FeatureUsageQuery> = async call => {
  const { limit, offset, include_usage_aggregation: aggregate } = call.query
  const companyId = companyOf(call)
  const rows = (await matchingRows(call, companyId)).slice(offset, offset + limit)
  return { data: await usageViews(call, companyId, rows, aggregate === true) }
}

/** GET /feature-usage/count. */
export const countFeatureUsage: Handler<undefined, FeatureUsageQuery> = async call => ({
  data: { count: (await matchingRows(call, companyOf(call))).length },
})

const byCompanyShape = { keys: required(mapOrBare) } as const
export const usageByCompanyQuery = query(byCompanyShape)

/** GET /usage-by-company: all of it, by the company's keys. */
export const getUsageByCompany: Handler<undefined, QueryOf<typeof byCompanyShape>> = async call => {
  const companyId = lookedUp(call, 'company', call.query.keys)
  const rows = await usageRows(call, companyId)
  return { data: { features: await usageViews(call, companyId, rows, false) } satisfies FeatureUsageDetail }
}

function companyOf(call: Call<undefined, FeatureUsageQuery>): string {
  const { company_id: id, company_keys: keys } = call.query
  if (id) return knownCompany(call, id)
  if (keys) return lookedUp(call, 'company', keys)
  throw new ServiceError('query_invalid', 'company_id or company_keys is required')
}

function knownCompany(call: EntityCall, id: string): string {
  if (!isKnown(call, 'company', id)) throw entityUnknown('company')
  return id
}

async function matchingRows(
  call: Call<undefined, FeatureUsageQuery>,
  companyId: string,
): Promise<FeatureUsageRow[]> {
  const { feature_ids, managed_by, q, without_negative_entitlements: positive } = call.query
  const rows = await usageRows(call, companyId, {
    withoutNegative: positive === true,
    featureIds: feature_ids,
  })
  const ids = rows.map(row => row.featureId)
  const wanted = await matchingFeatures(call.services.sql, ids, { q, managedBy: managed_by })
  return rows.filter(row => wanted.has(row.featureId))
}

/** What a company's actor counts of its features; 404 when the company is gone. */
async function usageRows(
  { services, environment, nowMs }: EntityCall,
  companyId: string,
  which: { readonly withoutNegative?: boolean; readonly featureIds?: readonly string[] | undefined } = {},
): Promise<FeatureUsageRow[]> {
  const { withoutNegative = false, featureIds } = which
  const question = { type: 'feature_usage', withoutNegative, featureIds } as const
  const { shards } = services
  const { reply } = await shards.ask<FeatureUsageRow[] | null>(
    'c',
    environment.id,
    companyId,
    question,
    nowMs,
  )
  if (reply === null) throw entityUnknown('company')
  return reply
}

async function described(
  { services, environment, nowMs }: EntityCall,
  companyId: string,
): Promise<CompanyDescription> {
  const question = { type: 'describe' } as const
  const { shards } = services
  const { reply } = await shards.ask<CompanyDescription | null>(
    'c',
    environment.id,
    companyId,
    question,
    nowMs,
  )
  if (reply === null) throw entityUnknown('company')
  return reply
}

async function usageViews(
  call: EntityCall,
  companyId: string,
  rows: readonly FeatureUsageRow[],
  aggregate: boolean,
): Promise<FeatureUsage[]> {
  const surroundings = await surroundingsOf(call, companyId, rows, aggregate)
  return rows.map(row => featureUsageView(row, surroundings))
}

async function surroundingsOf(
  call: EntityCall,
  companyId: string,
  rows: readonly FeatureUsageRow[],
  aggregate: boolean,
): Promise<Surroundings> {
  const { services, environment, key, nowMs } = call
  const { sql } = services
  const place = { accountId: key.accountId, environmentId: environment.id }
  const creditIds = distinct(rows.map(row => row.creditId))
  const ofPlans = rows.filter(row => row.entitlementType === 'plan_entitlement')
  const state = ofPlans.length < rows.length || creditIds.length > 0 ? await described(call, companyId) : null
  const company = state && decodeCompany(state.state)
  const [features, entitlements, overrides, aggregations] = await Promise.all([
    featuresInPlans(sql, outlookOf(call), distinct(rows.map(row => row.featureId))),
    entitlementRows(sql, distinct(ofPlans.map(row => row.entitlementId))).then(found =>
      entitlementViews(sql, place, found),
    ),
    overrideViews(
      sql,
      environment.id,
      (company?.overrides ?? []).map(overrideRow(environment.id, companyId)),
    ),
    company && aggregate ? creditAggregations(call, company, creditIds) : new Map(),
  ])
  return {
    features,
    entitlements: new Map(entitlements.map(view => [view.id, view])),
    overrides: new Map(overrides.map(view => [view.id, view])),
    grants: company ? grantDetails(company, services.catalogs.get(environment.id), nowMs) : new Map(),
    aggregations,
  }
}

function outlookOf({ services, key, environment }: EntityCall): Outlook {
  return { services, accountId: key.accountId, environment }
}

/** An override as its actor has it, in the shape of its row. */
function overrideRow(environmentId: string, companyId: string) {
  return ({ id, entitlement, expiresAtMs, createdAtMs, updatedAtMs }: OverrideState): OverrideRow => ({
    id,
    environment_id: environmentId,
    company_id: companyId,
    feature_id: entitlement.featureId,
    entitlement,
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs),
    created_at: new Date(createdAtMs),
    updated_at: new Date(updatedAtMs),
  })
}

const timeSeriesShape = {
  company_id: required(string),
  feature_id: required(string),
  start_time: required(datetime),
  end_time: required(datetime),
  granularity: withDefault(oneOf(timeSeriesGranularities), 'daily'),
} as const
export const timeSeriesQuery = query(timeSeriesShape)

/**
 * GET /feature-usage-timeseries: one company, one feature, [start_time, end_time).
 *
 * errors  400 for a window that is none or has more than 366 buckets; 404 for a company or feature that is not there.
 * source  US-10…13, US-50; decision 16.
 */
export const getFeatureUsageTimeSeries: Handler<undefined, QueryOf<typeof timeSeriesShape>> = async call => {
  const { company_id, feature_id, start_time: startMs, end_time: endMs, granularity } = call.query
  const range = { startMs, endMs }
  requireRange(range)
  const companyId = knownCompany(call, company_id)
  const feature = knownFeature(call, feature_id)
  await call.services.projections.barrier('clickhouse')
  return { data: await timeSeries(call, await described(call, companyId), feature, range, granularity) }
}

const historyShape = {
  company_ids: list,
  feature_ids: list,
  start_time: required(datetime),
  end_time: required(datetime),
  granularity: oneOf(timeSeriesGranularities),
  ...page,
} as const
export const historyQuery = query(historyShape)

/**
 * GET /feature-usage-history: increments by company and event feature, of whole hours.
 *
 * errors  400 for a window that is none, off the hour, or of more than 366 buckets. Ids of nothing find nothing.
 * source  US-20…24 (a publishable key never comes here: US-23), US-50.
 */
export const listFeatureUsageHistory: Handler<undefined, QueryOf<typeof historyShape>> = async call => {
  const { company_ids, feature_ids, start_time: startMs, end_time: endMs, granularity } = call.query
  const range = { startMs, endMs }
  requireWholeHours(range)
  const { features } = call.services.catalogs.get(call.environment.id)
  await call.services.projections.barrier('clickhouse')
  const data = await usageRowsOver(call, {
    companyIds: company_ids ?? null,
    features: feature_ids ? features.filter(({ id }) => feature_ids.includes(id)) : features,
    range,
    granularity: granularity ?? null,
    page: call.query,
  })
  return { data }
}

function knownFeature({ services, environment }: EntityCall, id: string): FeatureDef {
  const feature = services.catalogs.get(environment.id).features.find(one => one.id === id)
  if (!feature) throw new ServiceError('not_found', 'Feature not found')
  return feature
}

// Usage of entitled features, now and over time.
import { billingProviderTypes, timeSeriesGranularities } from '../../../schemas/enums.js'
import { keptSinceMs } from '../../analytics/history.js'
import type { FeatureDef } from '../../core/model/definitions.js'
import { ServiceError } from '../../errors.js'
import { parseExactly } from '../../json.js'
import type { Call, Handler } from '../../kit/call.js'
import { type EntityCall, entityUnknown } from '../../kit/entities.js'
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
} from '../../kit/query.js'
import type { UsageRow } from '../../wire/usage-rows.js'
import { lookedUp } from '../entities/write.js'
import { requireKnownEnds, requireRange } from './buckets.js'
import { companiesOfFeature, usersOfFeature } from './entitled.js'
import { describedOrNull, knownCompany, knownFeature, knownUser, oneUsage, usageRows } from './rows.js'
import { countEntitledCompanies, countEntitledMembers, matchingFeatures } from './store.js'
import { timeSeries, usageRowsOver } from './timeseries.js'
import { usageByUser, usageOfUser, windowOf } from './users.js'

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
 * GET /feature-usage: the features that one company is entitled to, by name, with the actor's present counts.
 *
 * errors  400 without a company; 404 for an unknown one.
 * source  US-5…8, US-51. An id takes precedence over keys: decision, as for users' companies.
 */
export const listFeatureUsage: Handler<undefined, FeatureUsageQuery> = async call => {
  const { limit, offset, cursor, include_usage_aggregation: aggregate } = call.query
  const companyId = companyOf(call)
  const rows = (await matchingRows(call, companyId)).slice(offset, offset + limit)
  const pieces = await oneUsage(call, companyId, rows, aggregate === true)
  // a page of several is read row by row for its cursor
  if (cursor === undefined && rows.length < limit) return { pieces }
  const bytes = pieces.map(piece => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  return { data: parseExactly(Buffer.concat(bytes).toString()) }
}

/** GET /feature-usage/count. */
export const countFeatureUsage: Handler<undefined, FeatureUsageQuery> = async call => ({
  data: { count: (await matchingRows(call, companyOf(call))).length },
})

const byCompanyShape = { keys: required(mapOrBare) } as const
export const usageByCompanyQuery = query(byCompanyShape)

/** GET /usage-by-company: all usage of the company with these keys, as `FeatureUsageDetail`. */
export const getUsageByCompany: Handler<undefined, QueryOf<typeof byCompanyShape>> = async call => {
  const companyId = lookedUp(call, 'company', call.query.keys)
  const rows = await usageRows(call, companyId)
  return { pieces: ['{"features":', ...(await oneUsage(call, companyId, rows)), '}'] }
}

function companyOf(call: Call<undefined, FeatureUsageQuery>): string {
  const { company_id: id, company_keys: keys } = call.query
  if (id) return knownCompany(call, id)
  if (keys) return lookedUp(call, 'company', keys)
  throw new ServiceError('query_invalid', 'company_id or company_keys is required')
}

async function matchingRows(
  call: Call<undefined, FeatureUsageQuery>,
  companyId: string,
): Promise<UsageRow[]> {
  const { feature_ids, managed_by, q, without_negative_entitlements: positive } = call.query
  const rows = await usageRows(call, companyId, {
    withoutNegative: positive === true,
    featureIds: feature_ids,
  })
  const ids = rows.map(row => row.featureId)
  const wanted = await matchingFeatures(call.services.sql, ids, { q, managedBy: managed_by })
  return rows.filter(row => wanted.has(row.featureId))
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
 * errors  400 for an invalid range or more than 366 buckets; 404 for an unknown company or feature.
 * source  US-10…13, US-50; decision 16.
 */
export const getFeatureUsageTimeSeries: Handler<undefined, QueryOf<typeof timeSeriesShape>> = async call => {
  const { company_id, feature_id, start_time: startMs, end_time: endMs, granularity } = call.query
  const range = { startMs, endMs }
  requireRange(range)
  const companyId = knownCompany(call, company_id)
  const feature = knownFeature(call, feature_id)
  await bothStores(call)
  const described = await describedOrNull(call, companyId)
  if (described === null) throw entityUnknown('company')
  return { data: await timeSeries(call, described, feature, range, granularity) }
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
 * GET /feature-usage-history: increments by company and event feature, between any instants.
 *
 * errors  400 for a range that is invalid, divides an hour whose events are no longer kept, or has more than 366
 *         buckets. Unknown ids match nothing.
 * source  US-20…24 (not for publishable keys: US-23), US-50.
 */
export const listFeatureUsageHistory: Handler<undefined, QueryOf<typeof historyShape>> = async call => {
  const { company_ids, feature_ids, start_time: startMs, end_time: endMs, granularity } = call.query
  const range = { startMs, endMs }
  requireKnownEnds(range, keptSinceMs(call.services.clock.wall()))
  const { features } = call.services.catalogs.get(call.environment.id)
  await call.services.projections.barrierOf('clickhouse', call.environment.id)
  const data = await usageRowsOver(call, {
    companyIds: company_ids ?? null,
    features: feature_ids ? features.filter(({ id }) => feature_ids.includes(id)) : features,
    range,
    granularity: granularity ?? null,
    page: call.query,
  })
  return { data }
}

const byUserShape = {
  company_id: required(string),
  feature_id: string,
  start_time: datetime,
  end_time: datetime,
} as const
export const userUsageByCompanyQuery = query(byUserShape)

/**
 * GET /user-usage-by-company: usage and credits of a company's users.
 *
 * errors  400 for an invalid range; 404 for an unknown company or feature.
 * source  US-30…32, US-50.
 */
export const getUserUsageByCompany: Handler<undefined, QueryOf<typeof byUserShape>> = async call => {
  const { company_id, feature_id: featureId, start_time, end_time } = call.query
  const range = windowOf(start_time, end_time, call.nowMs)
  const companyId = knownCompany(call, company_id)
  const features = featureId === undefined ? featuresOf(call) : [knownFeature(call, featureId)]
  await bothStores(call)
  return { data: await usageByUser(call, companyId, features, featureId, range) }
}

const userShape = {
  company_id: required(string),
  user_id: required(string),
  start_time: datetime,
  end_time: datetime,
} as const
export const userUsageDetailQuery = query(userShape)

/**
 * GET /user-usage-detail: one user of one company, member or not.
 *
 * errors  400 for an invalid range; 404 for an unknown company or user.
 * source  US-35, US-36, US-50.
 */
export const getUserUsageDetail: Handler<undefined, QueryOf<typeof userShape>> = async call => {
  const { company_id, user_id, start_time, end_time } = call.query
  const range = windowOf(start_time, end_time, call.nowMs)
  const companyId = knownCompany(call, company_id)
  const userId = knownUser(call, user_id)
  await bothStores(call)
  return { data: await usageOfUser(call, companyId, userId, featuresOf(call), range) }
}

function featuresOf({ services, environment }: EntityCall): readonly FeatureDef[] {
  return services.catalogs.get(environment.id).features
}

/** Wait until ClickHouse (events) and Postgres (users, plan changes) have everything acknowledged (US-51). */
async function bothStores({ services, environment }: EntityCall): Promise<void> {
  const { projections } = services
  await Promise.all([projections.barrierOf('clickhouse', environment.id), projections.barrier('postgres')])
}

const entitledShape = { feature_id: required(string), q: text(512), ...page } as const
export const entitledQuery = query(entitledShape)
type EntitledQuery = QueryOf<typeof entitledShape>

/** The feature in the query. Throws 404. */
async function entitledTo(call: Call<undefined, EntitledQuery>): Promise<string> {
  const { id } = knownFeature(call, call.query.feature_id)
  await call.services.projections.barrier('postgres')
  return id
}

/**
 * GET /feature-companies: companies entitled to a feature, newest first, including denied ones.
 *
 * source  US-5, AL-51.
 */
export const listFeatureCompanies: Handler<undefined, EntitledQuery> = async call => ({
  data: await companiesOfFeature(call, await entitledTo(call), call.query.q, call.query),
})

/** GET /feature-companies/count. */
export const countFeatureCompanies: Handler<undefined, EntitledQuery> = async call => {
  const { services, environment, query, nowMs } = call
  const featureId = await entitledTo(call)
  const catalog = services.catalogs.get(environment.id)
  return { data: { count: await countEntitledCompanies(services.sql, catalog, featureId, query.q, nowMs) } }
}

/** GET /feature-users: users of companies entitled to a feature, one row per membership. */
export const listFeatureUsers: Handler<undefined, EntitledQuery> = async call => ({
  data: await usersOfFeature(call, await entitledTo(call), call.query.q, call.query),
})

/** GET /feature-users/count. */
export const countFeatureUsers: Handler<undefined, EntitledQuery> = async call => {
  const { services, environment, query, nowMs } = call
  const featureId = await entitledTo(call)
  const catalog = services.catalogs.get(environment.id)
  return { data: { count: await countEntitledMembers(services.sql, catalog, featureId, query.q, nowMs) } }
}

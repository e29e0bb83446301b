// Usage rows: the present counts from companies' actors, with related data.
import type { Sql } from 'postgres'
import type { PlanEntitlement } from '../../../schemas/entitlements.js'
import type { FeatureUsage } from '../../../schemas/usage.js'
import { decodeCompany } from '../../core/company/state.js'
import type { OverrideState } from '../../core/model/company-state.js'
import type { FeatureDef } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { ServiceError } from '../../errors.js'
import { type EntityCall, entityUnknown, isKnown } from '../../kit/entities.js'
import { type UsageRow, unpackUsage } from '../../wire/usage-rows.js'
import { usageText } from '../companies/kept-views.js'
import { type OverrideRow, overrideViews } from '../entitlements/override-view.js'
import { distinct, entitlementViews } from '../entitlements/view.js'
import { withEvents } from '../features/event-summaries.js'
import type { Outlook } from '../flags/view.js'
import { featuresInPlans } from '../plans/view.js'
import { creditAggregations } from './credits.js'
import { entitlementRows } from './store.js'
import {
  type Aggregations,
  featureMember,
  planMembers,
  type Surroundings,
  shared,
  usagePieces,
  usageView,
} from './view.js'

/**
 * Age of what usage rows show beside figures and definitions: event counts, the time of a flag's last check, names of
 * companies in rules, products. source: decision
 */
const besideMs = 2_000

/** The id of a company in the environment. Throws 404. */
export function knownCompany(call: EntityCall, id: string): string {
  if (!isKnown(call, 'company', id)) throw entityUnknown('company')
  return id
}

/** The id of a user in the environment. Throws 404. */
export function knownUser(call: EntityCall, id: string): string {
  if (!isKnown(call, 'user', id)) throw entityUnknown('user')
  return id
}

/** The feature with this id. Throws 404. */
export function knownFeature({ services, environment }: EntityCall, id: string): FeatureDef {
  const feature = services.catalogs.get(environment.id).features.find(one => one.id === id)
  if (!feature) throw new ServiceError('not_found', 'Feature not found')
  return feature
}

/**
 * The usage of a company's features from its actor, by name. Throws 404 when the company is deleted.
 *
 * source  US-5, US-8.
 */
export async function usageRows(
  call: EntityCall,
  companyId: string,
  which: { readonly withoutNegative?: boolean; readonly featureIds?: readonly string[] | undefined } = {},
): Promise<UsageRow[]> {
  const rows = await usageRowsOrNull(call, companyId, which)
  if (rows === null) throw entityUnknown('company')
  return rows
}

/** usageRows, or null when the company is deleted. */
export async function usageRowsOrNull(
  call: EntityCall,
  companyId: string,
  which: { readonly withoutNegative?: boolean; readonly featureIds?: readonly string[] | undefined },
): Promise<UsageRow[] | null> {
  const { services, environment, nowMs } = call
  const { withoutNegative = false, featureIds } = which
  const isWhole = !withoutNegative && featureIds === undefined
  const question = { type: 'feature_usage', withoutNegative, featureIds } as const
  const reply = isWhole
    ? await usageText(call, companyId)
    : (await services.shards.ask<string | null>('c', environment.id, companyId, question, nowMs)).reply
  return reply === null ? null : unpackUsage(reply)
}

/** A company's description from its actor; null when it is deleted. */
export async function describedOrNull(
  { services, environment, nowMs }: EntityCall,
  companyId: string,
): Promise<CompanyDescription | null> {
  const question = { type: 'describe' } as const
  const { shards } = services
  const answer = await shards.ask<CompanyDescription | null>('c', environment.id, companyId, question, nowMs)
  return answer.reply
}

/** Rows of one company. */
interface CompanyRows {
  readonly companyId: string
  readonly rows: readonly UsageRow[]
}

/**
 * The JSON of one company's rows, in pieces.
 *
 * aggregate  include recently used credits (US-7).
 */
export async function oneUsage(
  call: EntityCall,
  companyId: string,
  rows: readonly UsageRow[],
  aggregate = false,
): Promise<(string | Uint8Array)[]> {
  const [surroundings, aggregations] = await Promise.all([
    surroundingsOf(call, [{ companyId, rows }]),
    aggregate ? aggregationsOf(call, companyId, rows) : new Map(),
  ])
  return usagePieces(rows, surroundings, aggregations)
}

/** Rows of several companies as views, company by company. */
export async function usageViews(call: EntityCall, asked: readonly CompanyRows[]): Promise<FeatureUsage[][]> {
  const surroundings = await surroundingsOf(call, asked)
  return asked.map(({ rows }) => rows.map(row => usageView(row, surroundings)))
}

/** None where the company was deleted meanwhile. */
async function aggregationsOf(
  call: EntityCall,
  companyId: string,
  rows: readonly UsageRow[],
): Promise<Aggregations> {
  const creditIds = distinct(rows.map(row => row.creditId))
  const described = creditIds.length === 0 ? null : await describedOrNull(call, companyId)
  return described ? creditAggregations(call, decodeCompany(described.state), creditIds) : new Map()
}

async function surroundingsOf(
  { services, environment, key }: EntityCall,
  asked: readonly CompanyRows[],
): Promise<Surroundings> {
  const { sql, reads } = services
  const { accountId } = key
  const catalog = services.catalogs.get(environment.id)
  const outlook: Outlook = { services, accountId, environment }
  const featureIds = new Set<string>()
  const entitlementIds = new Set<string>()
  const overridden: OverrideRow[] = []
  for (const { companyId, rows } of asked)
    for (const { featureId, entitlementId, override } of rows) {
      featureIds.add(featureId)
      if (override === null) entitlementIds.add(entitlementId)
      else overridden.push(overrideRow(environment.id, companyId, override))
    }
  const [features, entitlements, overrides] = await Promise.all([
    reads.ofCatalog(
      catalog,
      'used features',
      [...featureIds],
      async some =>
        mapped(await summarised(outlook, featuresInPlans(sql, outlook, some)), view =>
          shared(featureMember(view)),
        ),
      besideMs,
    ),
    reads.ofCatalog(
      catalog,
      'used entitlements',
      [...entitlementIds],
      async some =>
        mapped(await viewsById(sql, { accountId, environmentId: environment.id }, some), view =>
          shared(planMembers(view)),
        ),
      besideMs,
    ),
    overridden.length === 0 ? [] : overrideViews(sql, environment.id, overridden),
  ])
  return { features, entitlements, overrides: new Map(overrides.map(view => [view.id, view])) }
}

function mapped<From, To>(views: ReadonlyMap<string, From>, to: (view: From) => To): Map<string, To> {
  return new Map([...views].map(([id, view]) => [id, to(view)]))
}

async function viewsById(
  sql: Sql,
  place: { readonly accountId: string; readonly environmentId: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, PlanEntitlement>> {
  const views = await entitlementViews(sql, place, await entitlementRows(sql, ids))
  return new Map(views.map(view => [view.id, view]))
}

/** Features with their event counts. */
async function summarised(
  outlook: Outlook,
  found: ReturnType<typeof featuresInPlans>,
): ReturnType<typeof featuresInPlans> {
  const features = await withEvents(outlook, [...(await found).values()])
  return new Map(features.map(feature => [feature.id, feature]))
}

/** An override from the actor, in the form of its row. */
function overrideRow(environmentId: string, companyId: string, override: OverrideState): OverrideRow {
  const { id, entitlement, expiresAtMs, createdAtMs, updatedAtMs } = override
  return {
    id,
    environment_id: environmentId,
    company_id: companyId,
    feature_id: entitlement.featureId,
    entitlement,
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs),
    created_at: new Date(createdAtMs),
    updated_at: new Date(updatedAtMs),
  }
}

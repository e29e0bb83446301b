// Usage rows: the present counts from companies' actors, with related data.
import type { Sql } from 'postgres'
import type { PlanEntitlement } from '../../../schemas/entitlements.js'
import type { FeatureUsage } from '../../../schemas/usage.js'
import type { Company, OverrideState } from '../../core/company/company-state.js'
import type { CompanyDescription } from '../../core/company/descriptions.js'
import { decodeCompany } from '../../core/company/state.js'
import type { FeatureDef } from '../../core/definitions.js'
import type { FeatureUsage as FeatureUsageRow } from '../../core/entitlements/feature.js'
import { ServiceError } from '../../errors.js'
import { asWritten, jsonText } from '../../json.js'
import { type EntityCall, entityUnknown, isKnown } from '../entities/write.js'
import { type OverrideRow, overrideViews } from '../entitlements/override-view.js'
import { distinct, entitlementViews } from '../entitlements/view.js'
import { withEvents } from '../features/event-summaries.js'
import type { Outlook } from '../flags/view.js'
import { featuresInPlans } from '../plans/view.js'
import { creditAggregations } from './credits.js'
import { entitlementRows } from './store.js'
import {
  type CompanySurroundings,
  featureUsageView,
  grantDetails,
  type PlanMembers,
  planMembers,
  type Surroundings,
} from './view.js'

/**
 * Age of what usage rows show beside figures and definitions: event counts, the time of a flag's last check, names of
 * companies in rules, products. source: decision
 */
const besideMs = 1_000

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
): Promise<FeatureUsageRow[]> {
  const rows = await usageRowsOrNull(call, companyId, which)
  if (rows === null) throw entityUnknown('company')
  return rows
}

/** usageRows, or null when the company is deleted. */
export async function usageRowsOrNull(
  { services, environment, nowMs }: EntityCall,
  companyId: string,
  which: { readonly withoutNegative?: boolean; readonly featureIds?: readonly string[] | undefined },
): Promise<FeatureUsageRow[] | null> {
  const { withoutNegative = false, featureIds } = which
  const question = { type: 'feature_usage', withoutNegative, featureIds } as const
  const { shards } = services
  const answer = await shards.ask<FeatureUsageRow[] | null>('c', environment.id, companyId, question, nowMs)
  return answer.reply
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
export interface CompanyRows {
  readonly companyId: string
  readonly rows: readonly FeatureUsageRow[]
}

/**
 * Rows of one company in wire form.
 *
 * aggregate  include recently used credits (US-7).
 */
export async function oneUsage(
  call: EntityCall,
  companyId: string,
  rows: readonly FeatureUsageRow[],
  aggregate = false,
): Promise<FeatureUsage[]> {
  const [views] = await usageViews(call, [{ companyId, rows }], aggregate)
  return views!
}

/** Rows of several companies in wire form, company by company. */
export async function usageViews(
  call: EntityCall,
  asked: readonly CompanyRows[],
  aggregate = false,
): Promise<FeatureUsage[][]> {
  const companies = await companiesOf(call, asked)
  const [surroundings, own] = await Promise.all([
    surroundingsOf(call, asked, companies),
    Promise.all(asked.map(one => companySurroundings(call, one, companies, aggregate))),
  ])
  return asked.map(({ rows }, i) => rows.map(row => featureUsageView(row, surroundings, own[i]!)))
}

/** The companies whose rows show an override or a credit, by id. */
async function companiesOf(
  call: EntityCall,
  asked: readonly CompanyRows[],
): Promise<ReadonlyMap<string, Company>> {
  const shown = asked.filter(({ rows }) =>
    rows.some(row => row.entitlementType === 'company_override' || row.creditId !== null),
  )
  const descriptions = await Promise.all(shown.map(({ companyId }) => describedOrNull(call, companyId)))
  const found = descriptions.flatMap(description => (description ? [decodeCompany(description.state)] : []))
  return new Map(found.map(company => [company.id, company]))
}

async function surroundingsOf(
  { services, environment, key }: EntityCall,
  asked: readonly CompanyRows[],
  companies: ReadonlyMap<string, Company>,
): Promise<Surroundings> {
  const { sql, reads } = services
  const { accountId } = key
  const catalog = services.catalogs.get(environment.id)
  const outlook: Outlook = { services, accountId, environment }
  const rows = asked.flatMap(one => one.rows)
  const ids = new Set(rows.map(row => row.entitlementId))
  const overridden = [...companies.values()].flatMap(({ id, overrides }) =>
    overrides.filter(one => ids.has(one.id)).map(one => overrideRow(environment.id, id, one)),
  )
  const planned = rows.filter(row => row.entitlementType === 'plan_entitlement')
  const [features, entitlements, overrides] = await Promise.all([
    reads.ofCatalog(
      catalog,
      'used features',
      distinct(rows.map(row => row.featureId)),
      async some => writtenOut(await summarised(outlook, featuresInPlans(sql, outlook, some)), asJson),
      besideMs,
    ),
    reads.ofCatalog(
      catalog,
      'used entitlements',
      distinct(planned.map(row => row.entitlementId)),
      async some =>
        writtenOut(await viewsById(sql, { accountId, environmentId: environment.id }, some), planJson),
      besideMs,
    ),
    overrideViews(sql, environment.id, overridden),
  ])
  return {
    features,
    entitlements,
    overrides: new Map(overrides.map(view => [view.id, view])),
  }
}

/** Each value in the form in which every answer of the next second repeats it. */
function writtenOut<From, To>(views: ReadonlyMap<string, From>, write: (view: From) => To): Map<string, To> {
  return new Map([...views].map(([id, view]) => [id, write(view)]))
}

const asJson = <T>(view: T): T => asWritten<T>(jsonText(view))

function planJson(view: PlanEntitlement): PlanMembers {
  const members = Object.entries(planMembers(view)).map(([name, value]) => [name, asJson(value)])
  return Object.fromEntries(members)
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

async function companySurroundings(
  call: EntityCall,
  { companyId, rows }: CompanyRows,
  companies: ReadonlyMap<string, Company>,
  aggregate: boolean,
): Promise<CompanySurroundings> {
  const company = companies.get(companyId)
  if (!company) return { grants: new Map(), aggregations: new Map() }
  const creditIds = distinct(rows.map(row => row.creditId))
  return {
    grants: grantDetails(company, call.services.catalogs.get(call.environment.id), call.nowMs),
    aggregations: aggregate ? await creditAggregations(call, company, creditIds) : new Map(),
  }
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

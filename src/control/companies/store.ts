// Statements of companies: the conditions of list filters, memberships, key definitions and trait values.

import type { Sql } from 'postgres'
import type { SubscriptionStatus, SubscriptionType } from '../../../schemas/enums.js'
import type { CatalogData, PlanVersionDef } from '../../core/model/definitions.js'
import type { Page } from '../../kit/query.js'
import { among, contains, newest } from '../../kit/sql.js'
import {
  allOf,
  type Bounds,
  type Condition,
  countOf,
  type Fragment,
  type Listed,
  mentions,
  pageOfIds,
  type Sort,
  whether,
  withSubscription,
} from '../entities/list.js'
import type { KeyDefinitionRow } from '../entities/view.js'
import { PlanColumns } from '../plan-versions/columns.js'

/** Filters of a list of companies. Absent members do not filter; all given ones must hold (CU-61). */
export interface CompanyFilter {
  readonly ids?: readonly string[] | undefined
  readonly q?: string | undefined
  /** A company must be on at least one plan of each list. */
  readonly planIds?: readonly (readonly string[])[] | undefined
  readonly planVersionIds?: readonly string[] | undefined
  readonly planVersionUnpublished?: boolean | undefined
  readonly withoutPlan?: boolean | undefined
  readonly withEntitlementFor?: string | undefined
  readonly withoutFeatureOverrideFor?: string | undefined
  readonly creditIds?: readonly string[] | undefined
  readonly subscriptionStatuses?: readonly SubscriptionStatus[] | undefined
  readonly subscriptionTypes?: readonly SubscriptionType[] | undefined
  readonly monetized?: boolean | undefined
  readonly withSubscription?: boolean | undefined
  readonly withoutSubscription?: boolean | undefined
  readonly hasScheduledDowngrade?: boolean | undefined
}

/** Ids of one page. `nowMs` decides which trials and overrides have ended. */
export function listCompanyIds(
  sql: Sql,
  catalog: CatalogData,
  filter: CompanyFilter,
  sort: Sort,
  page: Page,
  nowMs: number,
  bounds?: Bounds,
): Promise<string[]> {
  return pageOfIds(sql, listed(sql, catalog, filter, nowMs), sort, page, bounds)
}

export function countCompanyRows(
  sql: Sql,
  catalog: CatalogData,
  filter: CompanyFilter,
  nowMs: number,
): Promise<number> {
  return countOf(sql, listed(sql, catalog, filter, nowMs))
}

function listed(sql: Sql, catalog: CatalogData, filter: CompanyFilter, nowMs: number): Listed {
  const kind = 'company'
  const { environmentId } = catalog
  const plans = new PlanColumns(sql, catalog, 'e', nowMs)
  const conditions: Condition[] = []
  const add = (condition: Condition) => void conditions.push(condition)
  const addIf = (wanted: boolean | undefined, condition: () => Condition) =>
    wanted !== undefined && add(whether(sql, condition(), wanted))
  const subscribed = (subscription: Fragment) => withSubscription(sql, environmentId, subscription)
  const inStatus = (statuses: readonly SubscriptionStatus[]) => ofStatus(sql, environmentId, statuses, nowMs)
  const running = () => inStatus(runningStatuses)
  const { ids, q, creditIds, subscriptionStatuses, subscriptionTypes } = filter
  if (ids) add({ test: sql`e.id = any(${ids as string[]}::text[])`, hits: among(sql, ids) })
  if (q) add(mentions(sql, { kind, environmentId }, q))
  for (const planIds of filter.planIds ?? []) add(plans.on('plan_id', planIds))
  if (filter.planVersionIds) add(plans.on('version_id', filter.planVersionIds))
  addIf(filter.planVersionUnpublished, () => plans.unpublished)
  addIf(filter.withoutPlan, () => plans.without)
  if (filter.withEntitlementFor) add(plans.entitledTo(filter.withEntitlementFor))
  if (filter.withoutFeatureOverrideFor)
    add(whether(sql, plans.overriding(filter.withoutFeatureOverrideFor), false))
  if (creditIds)
    add({
      test: sql`e.credits && ${creditIds as string[]}::text[]`,
      hits: sql`
        select r.company_id from company_credits r
        where r.environment_id = ${environmentId} and r.credit_id = any(${creditIds as string[]}::text[])`,
    })
  if (subscriptionStatuses) add(inStatus(subscriptionStatuses))
  if (subscriptionTypes) add(typed(sql, catalog, subscriptionTypes, nowMs))
  addIf(filter.monetized, () => subscribed(ofTypes(sql, catalog, ['one_time', 'paid'], nowMs)))
  addIf(filter.withSubscription, running)
  if (filter.withoutSubscription !== undefined) add(whether(sql, running(), !filter.withoutSubscription))
  addIf(filter.hasScheduledDowngrade, () => downgraded(sql, environmentId, nowMs))
  return { kind, environmentId, conditions }
}

/** Has a subscription in one of these statuses. The trial of a plan without billing counts as one in trial. */
function ofStatus(
  sql: Sql,
  environmentId: string,
  statuses: readonly SubscriptionStatus[],
  nowMs: number,
): Condition {
  const among = statuses as SubscriptionStatus[]
  const told = {
    test: sql`e.subscribed && ${among}::text[]`,
    hits: sql`
      select s.company_id from company_subscriptions s
      where s.environment_id = ${environmentId} and s.status = any(${among}::text[])`,
  }
  return statuses.includes('trialing') ? eitherOr(sql, told, trying(sql, environmentId, nowMs)) : told
}

/** The base plan is in a trial that ends by itself. source: EN-90, EN-91; counting it as a subscription: decision */
function trying(sql: Sql, environmentId: string, nowMs: number): Condition {
  const now = new Date(nowMs)
  return {
    test: sql`coalesce(e.plan_until > ${now}, false)`,
    hits: sql`
      select l.id from listed l where l.environment_id = ${environmentId} and l.plan_until > ${now}`,
  }
}

function eitherOr(sql: Sql, one: Condition, other: Condition): Condition {
  return {
    test: sql`(${one.test} or ${other.test})`,
    ...(one.hits && other.hits && { hits: sql`${one.hits} union all ${other.hits}` }),
    ...((one.apart || other.apart) && { apart: true }),
  }
}

/** A downgrade is agreed for the end of the subscription's period. */
function downgraded(sql: Sql, environmentId: string, nowMs: number): Condition {
  const waits = sql`b.status in ('active', 'past_due', 'trialing') and b.own->'scheduled' is not null
    and (b.own->'scheduled'->>'effective_at')::bigint > ${Math.floor(nowMs / 1000)}`
  return {
    test: sql`(e.subscribed <> '{}' and exists (
      select 1 from billing_subscriptions b where b.company_id = e.id and ${waits} offset 0))`,
    apart: true,
    hits: sql`
      select b.company_id from billing_subscriptions b where b.environment_id = ${environmentId} and ${waits}`,
  }
}

/** EN-82: the statuses that give access. */
const runningStatuses: SubscriptionStatus[] = ['active', 'past_due', 'trialing']

/**
 * Has a subscription of one of these types that runs. One whose subscriptions have all ended pays nothing: it is free,
 * unless its base plan is in a trial.
 *
 * source  CU-61: decision; the interface document only names the types.
 */
function typed(sql: Sql, catalog: CatalogData, types: readonly SubscriptionType[], nowMs: number): Condition {
  const { environmentId } = catalog
  const sold = withSubscription(sql, environmentId, ofTypes(sql, catalog, types, nowMs))
  const all = types.includes('free') ? eitherOr(sql, sold, allEnded(sql, environmentId, nowMs)) : sold
  return types.includes('trial') ? eitherOr(sql, all, trying(sql, environmentId, nowMs)) : all
}

/** Has subscriptions, but none that runs, and no trial. */
function allEnded(sql: Sql, environmentId: string, nowMs: number): Condition {
  const runs = isRunning(sql, nowMs)
  const now = new Date(nowMs)
  return {
    test: sql`(e.subscribed <> '{}' and coalesce(e.plan_until <= ${now}, true) and not exists (
      select 1 from company_subscriptions s where s.company_id = e.id and ${runs} offset 0))`,
    apart: true,
    hits: sql`
      select s.company_id from company_subscriptions s join listed l on l.id = s.company_id
      where s.environment_id = ${environmentId} and coalesce(l.plan_until <= ${now}, true)
      group by s.company_id having not bool_or(${runs})`,
  }
}

/**
 * Whether a subscription runs and has one of these types: `trial` while it is in its trial, else the charge type of the
 * plans whose products it sells.
 */
function ofTypes(
  sql: Sql,
  catalog: CatalogData,
  types: readonly SubscriptionType[],
  nowMs: number,
): Fragment {
  const charges = types.flatMap(type => (type === 'paid' ? 'recurring' : type === 'trial' ? [] : type))
  const products = versionsOf(catalog)
    .filter(({ chargeType }) => charges.some(charge => charge === chargeType))
    .flatMap(({ billingProductId }) => billingProductId ?? [])
  // one without provider reports is paid for from the end of its trial on, recorded or not
  const tries = sql`(s.status = 'trialing'
    and not coalesce(s.state->>'anchorMs' is not null and (s.state->>'trialEndMs')::numeric <= ${nowMs}, false))`
  const sells = sql`(not ${tries} and s.state->'productIds' ?| ${products}::text[])`
  const isOfType = types.includes('trial') ? sql`(${tries} or ${sells})` : sells
  return sql`(${isRunning(sql, nowMs)} and ${isOfType})`
}

/** Whether a subscription gives access now, with its end by time recorded or not: `isActive` of core as SQL. */
function isRunning(sql: Sql, nowMs: number): Fragment {
  const cancels = sql`coalesce((s.state->>'cancelAtPeriodEnd')::boolean, false)`
  return sql`(s.status = any(${runningStatuses}::text[]) and coalesce(least(
    case when ${cancels} then (s.state->>'periodEndMs')::numeric end,
    (s.state->>'cancelAtMs')::numeric,
    case when s.status = 'trialing' and (${cancels} or s.state->>'trialEndSetting' = 'cancel')
      then (s.state->>'trialEndMs')::numeric end,
    case when s.status = 'past_due' then (s.state->>'gatedAtMs')::numeric end) > ${nowMs}, true))`
}

function versionsOf(catalog: CatalogData): PlanVersionDef[] {
  return catalog.plans.flatMap(plan => plan.versions)
}

/** A membership whose user and company both exist. */
interface MembershipRow {
  readonly id: string
  readonly user_id: string
  readonly company_id: string
  readonly created_at: Date
}

interface MembershipFilter {
  readonly companyId?: string | undefined
  readonly userId?: string | undefined
}

/**
 * Memberships of one page, newest first. Memberships of a deleted company may still have a row; they are not shown.
 */
export async function listMemberships(
  sql: Sql,
  environmentId: string,
  { companyId, userId }: MembershipFilter,
  page: Page,
): Promise<MembershipRow[]> {
  return sql<MembershipRow[]>`
    select m.id, m.user_id, m.company_id, m.created_at
    from memberships m join companies c on c.id = m.company_id join users u on u.id = m.user_id
    where m.environment_id = ${environmentId}
      ${companyId === undefined ? sql`` : sql`and m.company_id = ${companyId}`}
      ${userId === undefined ? sql`` : sql`and m.user_id = ${userId}`}
    order by m.created_at desc, m.id desc limit ${page.limit} offset ${page.offset}`
}

export async function findMembership(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<MembershipRow | null> {
  const [row] = await sql<MembershipRow[]>`
    select id, user_id, company_id, created_at from memberships
    where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

export interface KeyDefinitionFilter {
  readonly environmentId: string
  readonly entityType?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly q?: string | undefined
}

function definitionsMatching(sql: Sql, { environmentId, entityType, ids, q }: KeyDefinitionFilter): Fragment {
  const conditions = [sql`environment_id = ${environmentId}`]
  if (entityType) conditions.push(sql`entity_type = ${entityType}`)
  if (ids) conditions.push(sql`id in ${among(sql, ids)}`)
  if (q) conditions.push(contains(sql, 'key', q))
  return allOf(sql, conditions)
}

export async function listKeyDefinitions(
  sql: Sql,
  filter: KeyDefinitionFilter,
  page: Page,
): Promise<KeyDefinitionRow[]> {
  return sql<KeyDefinitionRow[]>`
    select * from key_definitions where ${definitionsMatching(sql, filter)} ${newest(sql, page)}`
}

export async function countKeyDefinitionRows(sql: Sql, filter: KeyDefinitionFilter): Promise<number> {
  const [row] = await sql<{ count: string }[]>`
    select count(*) from key_definitions where ${definitionsMatching(sql, filter)}`
  return Number(row!.count)
}

/** Delete a definition that no entity has a key of. Results `in_use` and `unknown` change nothing. */
export async function deleteKeyDefinitionRow(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<'deleted' | 'in_use' | 'unknown'> {
  const deleted = await sql`
    delete from key_definitions where id = ${id} and environment_id = ${environmentId}
      and not exists (select 1 from entity_keys where definition_id = ${id})`
  if (deleted.count > 0) return 'deleted'
  const [row] = await sql`
    select 1 from key_definitions where id = ${id} and environment_id = ${environmentId}`
  return row ? 'in_use' : 'unknown'
}

interface RowFilter {
  readonly environmentId: string
  readonly definitionId?: string | undefined
  readonly entityType?: string | undefined
}

/** Number of keys or traits that the entities of an environment have. */
export async function countEntityRows(
  sql: Sql,
  table: 'entity_keys' | 'entity_traits',
  { environmentId, definitionId, entityType }: RowFilter,
): Promise<number> {
  const [row] = await sql<{ count: string }[]>`
    select count(*) from ${sql(table)} where environment_id = ${environmentId}
      ${definitionId === undefined ? sql`` : sql`and definition_id = ${definitionId}`}
      ${entityType === undefined ? sql`` : sql`and entity_type = ${entityType}`}`
  return Number(row!.count)
}

/** The distinct values of a trait, in order. */
export async function listTraitValues(
  sql: Sql,
  definitionId: string,
  q: string | undefined,
  page: Page,
): Promise<string[]> {
  const rows = await sql<{ value: string }[]>`
    select distinct value from entity_traits
    where definition_id = ${definitionId} ${q ? sql`and ${contains(sql, 'value', q)}` : sql``}
    order by value limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.value)
}

/** Whether a price costs nothing and belongs to this product. */
export async function isFreePrice(
  sql: Sql,
  environmentId: string,
  productId: string,
  priceId: string,
): Promise<boolean> {
  const [row] = await sql`
    select 1 from billing_prices
    where id = ${priceId} and environment_id = ${environmentId} and product_id = ${productId} and is_active
      and price = 0 and coalesce(price_decimal::numeric, 0) = 0 and billing_scheme = 'per_unit'`
  return row !== undefined
}

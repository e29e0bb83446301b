// Statements of credits, bundles and spend policies.
import type { Sql } from 'postgres'
import type { CreditBundleRow, CreditRow, PlanCreditGrantRow, SpendPolicyRow } from '../../catalog/credits.js'
import type { StoredPrice } from '../../catalog/prices.js'
import type { HoldKind } from '../../core/model/closed-holds.js'
import { ServiceError } from '../../errors.js'
import type { Page } from '../../kit/query.js'
import { among, contains, newest } from '../../kit/sql.js'

interface CreditFilter {
  readonly ids?: readonly string[]
  readonly name?: string
}

function creditsWhere(sql: Sql, environmentId: string, { ids, name }: CreditFilter) {
  return sql`environment_id = ${environmentId} and deleted_at is null
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${name ? sql`and ${contains(sql, 'name', name)}` : sql``}`
}

export function listCreditRows(sql: Sql, environmentId: string, filter: CreditFilter, page: Page) {
  return sql<CreditRow[]>`
    select * from billing_credits where ${creditsWhere(sql, environmentId, filter)} ${newest(sql, page)}`
}

export async function countCreditRows(
  sql: Sql,
  environmentId: string,
  filter: CreditFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from billing_credits where ${creditsWhere(sql, environmentId, filter)}`
  return row!.count
}

/** A credit that is not deleted. Throws 404, naming `member` if given. */
export async function requireCredit(
  sql: Sql,
  environmentId: string,
  id: string,
  member?: string,
): Promise<CreditRow> {
  const [row] = await sql<CreditRow[]>`
    select * from billing_credits
    where id = ${id} and environment_id = ${environmentId} and deleted_at is null`
  if (!row) throw new ServiceError('not_found', member ? `${member}: no such credit` : 'Credit not found')
  return row
}

/** Why a credit cannot be deleted, in words, or null (PB-72). */
export async function usersOfCredit(
  sql: Sql,
  environmentId: string,
  creditId: string,
): Promise<string | null> {
  const [row] = await sql<{ used: string | null }[]>`
    select case
      when exists (select 1 from credit_grants
        where environment_id = ${environmentId} and credit_id = ${creditId}) then 'Companies were granted'
      when exists (select 1 from plan_entitlements e
        join plan_versions v on v.id = e.plan_version_id join plans p on p.id = e.plan_id
        where e.value_credit_id = ${creditId} and v.deleted_at is null and p.deleted_at is null)
        then 'Plan entitlements are paid with'
      when exists (select 1 from company_overrides
        where environment_id = ${environmentId} and entitlement ->> 'valueCreditId' = ${creditId})
        then 'Company overrides are paid with'
      when exists (select 1 from plan_credit_grants g
        join plan_versions v on v.id = g.plan_version_id join plans p on p.id = g.plan_id
        where g.credit_id = ${creditId} and v.deleted_at is null and p.deleted_at is null) then 'Plans grant'
    end as used`
  return row!.used
}

interface BundleFilter {
  readonly ids?: readonly string[]
  readonly credit_id?: string
  readonly status?: 'active' | 'inactive'
}

/** A bundle as its lists show it. */
export type FoundBundle = CreditBundleRow & { readonly has_grants: boolean }

function bundlesWhere(sql: Sql, environmentId: string, { ids, credit_id, status }: BundleFilter) {
  return sql`environment_id = ${environmentId} and deleted_at is null
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${credit_id ? sql`and credit_id = ${credit_id}` : sql``}
    ${status ? sql`and status = ${status}` : sql``}`
}

const bundleColumns = (sql: Sql) =>
  sql`credit_bundles.*, exists (select 1 from credit_grants g where g.bundle_id = credit_bundles.id) as has_grants`

export function listBundleRows(sql: Sql, environmentId: string, filter: BundleFilter, page: Page) {
  return sql<FoundBundle[]>`
    select ${bundleColumns(sql)} from credit_bundles
    where ${bundlesWhere(sql, environmentId, filter)} ${newest(sql, page)}`
}

export async function countBundleRows(
  sql: Sql,
  environmentId: string,
  filter: BundleFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from credit_bundles where ${bundlesWhere(sql, environmentId, filter)}`
  return row!.count
}

/** Throws 404, naming `member` if given. */
export async function requireBundle(
  sql: Sql,
  environmentId: string,
  id: string,
  member?: string,
): Promise<FoundBundle> {
  const [row] = await sql<FoundBundle[]>`
    select ${bundleColumns(sql)} from credit_bundles
    where id = ${id} and environment_id = ${environmentId} and deleted_at is null`
  if (!row) throw new ServiceError('not_found', member ? `${member}: no such bundle` : 'Bundle not found')
  return row
}

/** A row of credit_grants with the names of related objects. */
export interface GrantRow {
  readonly id: string
  readonly company_id: string
  readonly credit_id: string
  readonly sequence: string | number
  readonly reason: string
  readonly quantity: string
  readonly valid_from: Date
  readonly expires_at: Date | null
  readonly plan_id: string | null
  readonly plan_grant_id: string | null
  readonly licence: number | null
  readonly bundle_id: string | null
  readonly source_grant_id: string | null
  readonly currency: string | null
  /** Interval between repeated grants; null: it is not repeated. */
  readonly renewal_period: string | null
  readonly written_off: string
  readonly zeroed_out_at: Date | null
  readonly zeroed_out_reason: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly credit_name: string
  readonly credit_icon: string | null
  readonly credit_currency: string
  readonly plan_name: string | null
  readonly bundle_name: string | null
  readonly reset_cadence: string | null
  readonly license_name: string | null
  readonly bundle_prices: readonly StoredPrice[] | null
  readonly credit_prices: readonly StoredPrice[] | null
  /** Decimal text: the plan's price for use below zero, on the grant that carries it. */
  readonly postpaid_rate: string | null
}

export interface GrantFilter {
  readonly company_id?: string
  readonly credit_id?: string
  readonly ids?: readonly string[]
}

function grantsWhere(sql: Sql, environmentId: string, { company_id, credit_id, ids }: GrantFilter) {
  return sql`g.environment_id = ${environmentId}
    ${company_id ? sql`and g.company_id = ${company_id}` : sql``}
    ${credit_id ? sql`and g.credit_id = ${credit_id}` : sql``}
    ${ids ? sql`and g.id in ${among(sql, ids)}` : sql``}`
}

/** `from`: the grants, as a table or a query in parentheses. */
function namedGrants(sql: Sql, from = sql`credit_grants`) {
  return sql`select g.*, c.name as credit_name, c.icon as credit_icon, c.currency as credit_currency,
      p.name as plan_name, b.name as bundle_name, l.name as license_name, b.prices as bundle_prices,
      c.prices as credit_prices, rate.per_unit as postpaid_rate,
      case when pg.reset_type = 'plan_period' then pg.reset_cadence end as reset_cadence
    from ${from} g
    left join billing_credits c on c.id = g.credit_id
    left join plans p on p.id = g.plan_id
    left join credit_bundles b on b.id = g.bundle_id
    left join plan_credit_grants pg on pg.id = g.plan_grant_id
    left join licenses l on l.id = pg.license_id and g.licence is not null
    left join lateral (
      select coalesce(r.postpaid_rate_per_unit_decimal, r.postpaid_rate_per_unit::text) as per_unit
      from company_plans cp join plan_credit_grants r
        on r.plan_version_id = cp.version_id and r.credit_id = g.credit_id and r.postpaid_enabled
      where cp.company_id = g.company_id order by cp.kind = 'base' desc, r.created_at, r.id limit 1
    ) as rate on g.reason = 'postpaid_overdraft'`
}

/** Columns that Postgres can order grants by. Only the company's actor knows what is left of a grant. */
export type StoredGrantOrder = 'created_at' | 'expires_at' | 'quantity'

export function listGrantRows(
  sql: Sql,
  environmentId: string,
  filter: GrantFilter,
  order: { readonly by: StoredGrantOrder; readonly ascending: boolean },
  page: Page | null,
) {
  const by = sql(order.by)
  const direction = order.ascending ? sql`asc` : sql`desc`
  const sorting = sql`order by g.${by} ${direction} nulls last, g.sequence ${direction}, g.id ${direction}`
  // names are looked up for the grants of the page alone
  const wanted = sql`(
    select * from credit_grants g where ${grantsWhere(sql, environmentId, filter)} ${sorting}
    ${page ? sql`limit ${page.limit} offset ${page.offset}` : sql``})`
  return sql<GrantRow[]>`${namedGrants(sql, wanted)} ${sorting}`
}

export async function countGrantRows(sql: Sql, environmentId: string, filter: GrantFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from credit_grants g where ${grantsWhere(sql, environmentId, filter)}`
  return row!.count
}

interface PlanGrantFilter {
  readonly credit_id?: string
  readonly ids?: readonly string[]
  readonly plan_id?: string
  readonly plan_ids?: readonly string[]
  readonly plan_version_id?: string
  readonly plan_version_ids?: readonly string[]
}

/**
 * Without a version or id: the grants of the version a plan is shown by, which is the published one, else the draft
 * (PB-3).
 */
function planGrantsWhere(sql: Sql, environmentId: string, filter: PlanGrantFilter) {
  const { credit_id, ids, plan_id, plan_ids, plan_version_id: versionId, plan_version_ids } = filter
  const named = ids || versionId || plan_version_ids
  return sql`g.environment_id = ${environmentId} and v.deleted_at is null and p.deleted_at is null
    ${
      named
        ? sql``
        : sql`and (v.status = 'published' or (v.status = 'draft' and not exists (
            select 1 from plan_versions o where o.plan_id = v.plan_id and o.environment_id = v.environment_id
              and o.status = 'published' and o.deleted_at is null)))`
    }
    ${credit_id ? sql`and g.credit_id = ${credit_id}` : sql``}
    ${ids ? sql`and g.id in ${among(sql, ids)}` : sql``}
    ${plan_id ? sql`and g.plan_id = ${plan_id}` : sql``}
    ${plan_ids ? sql`and g.plan_id in ${among(sql, plan_ids)}` : sql``}
    ${versionId ? sql`and g.plan_version_id = ${versionId}` : sql``}
    ${plan_version_ids ? sql`and g.plan_version_id in ${among(sql, plan_version_ids)}` : sql``}`
}

function planGrantSource(sql: Sql) {
  return sql`plan_credit_grants g join plan_versions v on v.id = g.plan_version_id join plans p on p.id = g.plan_id`
}

export function listPlanGrantRows(sql: Sql, environmentId: string, filter: PlanGrantFilter, page: Page) {
  return sql<PlanCreditGrantRow[]>`
    select g.* from ${planGrantSource(sql)} where ${planGrantsWhere(sql, environmentId, filter)}
    order by g.created_at desc, g.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countPlanGrantRows(
  sql: Sql,
  environmentId: string,
  filter: PlanGrantFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${planGrantSource(sql)}
    where ${planGrantsWhere(sql, environmentId, filter)}`
  return row!.count
}

interface PolicyFilter {
  readonly billing_credit_id?: string
  readonly company_id?: string
  readonly scope_type?: 'company' | 'user' | 'group'
  readonly user_id?: string
  readonly user_ids?: readonly string[]
}

function policiesWhere(sql: Sql, environmentId: string, filter: PolicyFilter) {
  const { billing_credit_id: creditId, company_id, scope_type: scope, user_id, user_ids } = filter
  return sql`environment_id = ${environmentId}
    ${creditId ? sql`and credit_id = ${creditId}` : sql``}
    ${company_id ? sql`and company_id = ${company_id}` : sql``}
    ${scope === 'company' ? sql`and company_id is not null` : sql``}
    ${scope === 'user' ? sql`and user_id is not null` : sql``}
    ${scope === 'group' ? sql`and group_trait is not null` : sql``}
    ${user_id ? sql`and user_id = ${user_id}` : sql``}
    ${user_ids ? sql`and user_id in ${among(sql, user_ids)}` : sql``}`
}

export function listPolicyRows(sql: Sql, environmentId: string, filter: PolicyFilter, page: Page) {
  return sql<SpendPolicyRow[]>`
    select * from credit_spend_policies where ${policiesWhere(sql, environmentId, filter)} ${newest(sql, page)}`
}

export async function countPolicyRows(
  sql: Sql,
  environmentId: string,
  filter: PolicyFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from credit_spend_policies where ${policiesWhere(sql, environmentId, filter)}`
  return row!.count
}

/** A row of credit_holds. */
export interface HoldRow {
  readonly id: string
  readonly company_id: string
  readonly credit_id: string
  readonly kind: HoldKind
  /** Credits, as decimal text. */
  readonly granted: string
  readonly tracked: string
  readonly expires_at: Date
  readonly released_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

interface HoldFilter {
  readonly ids?: readonly string[] | undefined
  readonly company_id?: string | undefined
  readonly credit_type_id?: string | undefined
  readonly state?: 'open' | 'settled' | 'released' | 'expired' | undefined
}

/** nowMs: the environment's present. A hold past its end counts as over. */
function holdsWhere(sql: Sql, environmentId: string, kind: HoldKind, filter: HoldFilter, nowMs: number) {
  const { ids, company_id: companyId, credit_type_id: creditId, state } = filter
  const now = new Date(nowMs)
  return sql`environment_id = ${environmentId} and kind = ${kind}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${companyId ? sql`and company_id = ${companyId}` : sql``}
    ${creditId ? sql`and credit_id = ${creditId}` : sql``}
    ${state === 'open' ? sql`and released_at is null and expires_at > ${now}` : sql``}
    ${state === 'settled' ? sql`and released_reason = 'settled'` : sql``}
    ${state === 'released' ? sql`and released_reason in ('archived', 'released')` : sql``}
    ${state === 'expired' ? sql`and coalesce(released_reason, 'expired') = 'expired' and expires_at <= ${now}` : sql``}`
}

export function listHoldRows(
  sql: Sql,
  environmentId: string,
  kind: HoldKind,
  filter: HoldFilter,
  nowMs: number,
  page: Page,
) {
  return sql<HoldRow[]>`
    select * from credit_holds where ${holdsWhere(sql, environmentId, kind, filter, nowMs)} ${newest(sql, page)}`
}

export async function countHoldRows(
  sql: Sql,
  environmentId: string,
  kind: HoldKind,
  filter: HoldFilter,
  nowMs: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from credit_holds where ${holdsWhere(sql, environmentId, kind, filter, nowMs)}`
  return row!.count
}

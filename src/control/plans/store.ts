// Statements of plans.
import type { Sql } from 'postgres'
import type { BillingProviderType, IconColor, PlanType } from '../../../schemas/enums.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { among, contains, newest } from '../../kit/sql.js'
import { type Place, visiblePlans } from '../plan-versions/version-rows.js'

/** Filters of GET /plans. */
interface PlanFilter {
  readonly company_id?: string
  readonly company_scoped_only?: boolean
  readonly exclude_company_scoped?: boolean
  readonly exclude_unused?: boolean
  readonly for_fallback_plan?: boolean
  readonly for_initial_plan?: boolean
  readonly for_trial_expiry_plan?: boolean
  readonly has_product_id?: boolean
  readonly ids?: readonly string[]
  readonly include_draft_versions?: boolean
  readonly plan_type?: PlanType
  readonly q?: string
  readonly scoped_to_company_id?: string
  readonly with_published_version?: boolean
  readonly without_entitlement_for?: string
  readonly without_entitlement_for_include_drafts?: boolean
  readonly without_paid_product_id?: boolean
}

type ListPlace = Place & { readonly environmentId: string }

/** Plans joined with the billing terms of the shown version. */
function source(sql: Sql, { environmentId }: ListPlace, filter: PlanFilter) {
  const order = filter.include_draft_versions
    ? sql`('draft', 0), ('published', 1)`
    : sql`('published', 0), ('draft', 1)`
  return sql`plans left join lateral (
    select v.id as version_id, v.name as version_name, v.billing_product_id, v.charge_type, v.is_trialable, v.trial_days
    from plan_versions v left join (values ${order}) as place (status, at) on place.status = v.status
    where v.plan_id = plans.id and v.environment_id = ${environmentId} and v.deleted_at is null
    order by place.at nulls last, v.version desc limit 1
  ) as shown on true`
}

function matching(sql: Sql, place: ListPlace, filter: PlanFilter) {
  const { environmentId } = place
  const { q, ids, without_entitlement_for: without } = filter
  const when = (on: unknown, condition: ReturnType<typeof sql>) => (on ? sql`and ${condition}` : sql``)
  const charged = sql`coalesce(charge_type, 'none') in ('one_time', 'recurring')`
  const linked = sql`(billing_product_id is not null or ${charged})`
  const offered = sql`plan_type = 'plan' and company_id is null`
  return sql`${visiblePlans(sql, place)}
    ${when(filter.company_id, sql`(company_id is null or company_id = ${filter.company_id ?? ''})`)}
    ${when(filter.company_scoped_only, sql`company_id is not null`)}
    ${when(filter.exclude_company_scoped, sql`company_id is null`)}
    ${when(filter.scoped_to_company_id, sql`company_id = ${filter.scoped_to_company_id ?? ''}`)}
    ${when(
      filter.exclude_unused,
      sql`exists (select 1 from company_plans c where c.plan_id = plans.id and c.environment_id = ${environmentId})`,
    )}
    ${when(filter.for_fallback_plan, sql`${offered} and not ${linked}`)}
    ${when(
      filter.for_initial_plan,
      sql`${offered} and (not ${linked} or charge_type = 'free' or ${cancelsItself(sql, environmentId)})`,
    )}
    ${when(
      filter.for_trial_expiry_plan,
      sql`${offered} and (not ${linked} or charge_type = 'free') and is_trialable is not true`,
    )}
    ${when(filter.has_product_id, sql`billing_product_id is not null`)}
    ${when(ids, sql`id in ${among(sql, ids ?? [])}`)}
    ${when(filter.plan_type, sql`plan_type = ${filter.plan_type ?? ''}`)}
    ${when(q, sql`(position(lower(${q ?? ''}) in lower(coalesce(version_name, name))) > 0 or ${contains(sql, 'id', q ?? '')})`)}
    ${when(filter.with_published_version, sql`exists (${versionsIn(sql, environmentId, ['published'])})`)}
    ${when(without, sql`not exists (${entitling(sql, environmentId, filter)})`)}
    ${when(filter.without_paid_product_id, sql`not (billing_product_id is not null and ${charged} and ${costs(sql)})`)}`
}

/** Whether the shown version has a price above zero, else its product; one without any price is taken to cost (N17). */
function costs(sql: Sql) {
  const tiersCost = (tiers: ReturnType<typeof sql>) => sql`exists (
    select 1 from jsonb_array_elements(case when jsonb_typeof(${tiers}) = 'array' then ${tiers} else '[]'::jsonb end) tier
    where coalesce((tier->>'flat_amount')::numeric, 0) > 0 or coalesce((tier->>'per_unit_price')::numeric, 0) > 0
      or coalesce((tier->>'per_unit_price_decimal')::numeric, 0) > 0)`
  return sql`(
    select coalesce(bool_or(amount > 0 or tiered), true) from (
      select coalesce((one->>'price_decimal')::numeric, (one->>'price')::numeric, 0) as amount,
        ${tiersCost(sql`(one->'tiers')`)} as tiered
      from plan_versions v, jsonb_array_elements(v.prices) one where v.id = version_id
      union all
      select coalesce(p.price_decimal::numeric, p.price), ${tiersCost(sql`p.price_tiers`)}
      from billing_prices p
      where p.product_id = billing_product_id and p.is_active
        and not exists (select 1 from plan_versions v where v.id = version_id and jsonb_array_length(v.prices) > 0)
    ) as known)`
}

/** EN-83: a trial that needs no payment method ends by itself. */
function cancelsItself(sql: Sql, environmentId: string) {
  return sql`(is_trialable and trial_days > 0 and not exists (
    select 1 from plan_groups g where g.environment_id = ${environmentId}
      and g.settings -> 'trial_payment_method_required' = 'true'))`
}

function versionsIn(sql: Sql, environmentId: string, statuses: readonly string[]) {
  return sql`select 1 from plan_versions v
    where v.plan_id = plans.id and v.environment_id = ${environmentId} and v.deleted_at is null
      and v.status in ${among(sql, statuses)}`
}

/** Entitlements to the feature: of the shown version or, with drafts, of any published or draft version. */
function entitling(sql: Sql, environmentId: string, filter: PlanFilter) {
  const featureId = filter.without_entitlement_for ?? ''
  if (!filter.without_entitlement_for_include_drafts)
    return sql`select 1 from plan_entitlements e where e.plan_version_id = version_id and e.feature_id = ${featureId}`
  return sql`${versionsIn(sql, environmentId, ['draft', 'published'])}
    and exists (select 1 from plan_entitlements e where e.plan_version_id = v.id and e.feature_id = ${featureId})`
}

export function listPlanRows(
  sql: Sql,
  place: ListPlace,
  filter: PlanFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly PlanRow[]> {
  return sql<PlanRow[]>`
    select plans.* from ${source(sql, place, filter)} where ${matching(sql, place, filter)} ${newest(sql, page)}`
}

export async function countPlanRows(sql: Sql, place: ListPlace, filter: PlanFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${source(sql, place, filter)} where ${matching(sql, place, filter)}`
  return row!.count
}

/** Name, description and icon of a draft. */
export interface DraftChange {
  readonly name: string
  readonly description: string
  readonly icon: IconColor
}

export async function updateDraft(
  tx: Sql,
  draft: PlanVersionRow,
  change: DraftChange,
  nowMs: number,
): Promise<PlanVersionRow> {
  const [row] = await tx<PlanVersionRow[]>`
    update plan_versions set name = ${change.name}, description = ${change.description}, icon = ${change.icon},
      updated_at = ${new Date(nowMs)}
    where id = ${draft.id} returning *`
  return row!
}

/** Copy the draft's name to a plan that was never published in any environment. */
export async function nameUnpublished(tx: Sql, draft: PlanVersionRow, nowMs: number): Promise<void> {
  await tx`
    update plans set name = ${draft.name}, description = ${draft.description}, icon = ${draft.icon},
      updated_at = ${new Date(nowMs)}
    where id = ${draft.plan_id}
      and not exists (select 1 from plan_versions v where v.plan_id = plans.id and v.status <> 'draft')`
}

export async function findLinkedPlan(
  tx: Sql,
  accountId: string,
  provider: BillingProviderType,
  resourceId: string,
): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    select * from plans
    where account_id = ${accountId} and controlled_by = ${provider} and external_resource_id = ${resourceId}
      and deleted_at is null for update`
  return row ?? null
}

/** The role of a plan in a plan group of any environment, or null. */
export async function groupRole(sql: Sql, planId: string): Promise<string | null> {
  const [row] = await sql<{ role: string }[]>`
    select case ${planId} when initial_plan_id then 'initial' when fallback_plan_id then 'fallback'
      else 'trial-expiry' end as role
    from plan_groups where ${planId} in (initial_plan_id, fallback_plan_id, trial_expiry_plan_id) limit 1`
  return row?.role ?? null
}

export async function archivePlan(tx: Sql, planId: string, at: Date | null): Promise<void> {
  await tx`update plans set deleted_at = ${at} where id = ${planId}`
}

/** Set the billing terms of a plan's draft. */
export async function updateBilling(
  tx: Sql,
  draft: PlanVersionRow,
  billing: Pick<
    PlanVersionRow,
    | 'charge_type'
    | 'billing_strategy'
    | 'billing_product_id'
    | 'is_trialable'
    | 'trial_days'
    | 'currency'
    | 'prices'
  >,
  nowMs: number,
): Promise<PlanVersionRow> {
  const [row] = await tx<PlanVersionRow[]>`
    update plan_versions set ${tx({
      ...billing,
      prices: tx.json(billing.prices as unknown as Parameters<Sql['json']>[0]),
      updated_at: new Date(nowMs),
    })} where id = ${draft.id} returning *`
  return row!
}

// Plans in full: the shown version, its prices and entitlements, and its number of companies.
import type { Sql } from 'postgres'
import type { PlanCreditGrant } from '../../../schemas/credits.js'
import type { PreviewObject } from '../../../schemas/envelope.js'
import type { Feature } from '../../../schemas/features.js'
import type { FeatureInPlan, FlagInPlan, PlanDetail } from '../../../schemas/plans.js'
import type { BillingProductDetail } from '../../../schemas/prices.js'
import { type EntitlementRow, grouped, type PlanRow, type PlanVersionRow } from '../../catalog/plans.js'
import { among } from '../../kit/sql.js'
import { planGrantsOfVersions } from '../credits/view.js'
import { companyNames } from '../entities/names.js'
import { distinct, entitlementViews, planView, versionView } from '../entitlements/view.js'
import { type FeatureRow, featureSource, featureView, plansByFeature } from '../flags/feature-view.js'
import { type FlagRow, flagDetails, type Outlook } from '../flags/view.js'
import { pricesOfProducts, productRows } from '../prices/rows.js'
import { planCurrencyPrices, planPrices, priceRowView, productView } from '../prices/view.js'
import { traitViews } from '../traits/rows.js'

/** Which version of a plan is shown, and which parts. */
interface Showing {
  /** Plan id → the requested version. */
  readonly versionIds?: ReadonlyMap<string, string>
  /** Prefer drafts to published versions. */
  readonly drafts?: boolean
  /** Include the entitlements; else null. */
  readonly entitlements?: boolean
}

/**
 * The version that a plan is shown by: the requested one, else the published one, else the draft.
 *
 * versions  those of the plan in the environment.
 * source    PB-3.
 */
export function shownVersion(
  versions: readonly PlanVersionRow[],
  showing: { readonly versionId?: string | undefined; readonly drafts?: boolean | undefined } = {},
): PlanVersionRow | null {
  const { versionId, drafts } = showing
  if (versionId !== undefined) return versions.find(version => version.id === versionId) ?? null
  const byStatus = (status: PlanVersionRow['status']) => versions.find(version => version.status === status)
  const [first, second] = drafts ? (['draft', 'published'] as const) : (['published', 'draft'] as const)
  return byStatus(first) ?? byStatus(second) ?? byStatus('archived') ?? null
}

/** Plans in full, in the order of the rows. */
export async function planDetails(
  sql: Sql,
  outlook: Outlook,
  plans: readonly PlanRow[],
  showing: Showing = {},
): Promise<PlanDetail[]> {
  if (plans.length === 0) return []
  const planIds = plans.map(plan => plan.id)
  const versions = grouped(await versionRows(sql, outlook, planIds), version => version.plan_id)
  const shown = new Map<string, PlanVersionRow>()
  for (const plan of outlook.environment ? plans : []) {
    const versionId = showing.versionIds?.get(plan.id)
    const version = shownVersion(versions.get(plan.id) ?? [], { versionId, drafts: showing.drafts })
    if (version) shown.set(plan.id, version)
  }
  const entitled = await entitledRows(sql, [...shown.values()])
  const parts: Parts = {
    outlook,
    versions,
    shown,
    companyCounts: await companyCounts(sql, outlook, planIds),
    companyNames: await companyNames(
      sql,
      plans.map(plan => plan.company_id),
    ),
    products: await productDetails(sql, outlook, [...shown.values()]),
    features: await featuresInPlans(sql, outlook, distinct(entitled.map(row => row.feature_id))),
    entitled: grouped(entitled, row => row.plan_version_id),
    grants: await planGrantsOfVersions(
      sql,
      [...shown.values()].map(version => version.id),
    ),
    entitlements: showing.entitlements ? await entitlementsByVersion(sql, outlook, entitled) : null,
  }
  return plans.map(plan => planDetail(plan, parts))
}

interface Parts {
  readonly outlook: Outlook
  readonly versions: ReadonlyMap<string, readonly PlanVersionRow[]>
  readonly shown: ReadonlyMap<string, PlanVersionRow>
  readonly companyCounts: ReadonlyMap<string, number>
  readonly companyNames: ReadonlyMap<string, string>
  readonly products: ReadonlyMap<string, BillingProductDetail>
  readonly features: ReadonlyMap<string, FeatureInPlan>
  readonly entitled: ReadonlyMap<string, readonly EntitlementRow[]>
  readonly grants: ReadonlyMap<string, readonly PlanCreditGrant[]>
  readonly entitlements: ReadonlyMap<string, PlanDetail['entitlements']> | null
}

function planDetail(plan: PlanRow, parts: Parts): PlanDetail {
  const { outlook, entitlements } = parts
  const versions = parts.versions.get(plan.id) ?? []
  const version = parts.shown.get(plan.id) ?? null
  const views = versions.map(each => versionView(plan, each))
  const active = outlook.environment && views.find(each => each.status === 'published')
  const draft = outlook.environment && views.find(each => each.status === 'draft')
  const entitled = (version && parts.entitled.get(version.id)) ?? []
  const grants = [...((version && parts.grants.get(version.id)) ?? [])]
  const product = parts.products.get(version?.billing_product_id ?? '')
  return {
    ...planView(plan, version),
    billing_strategy: version?.billing_strategy ?? 'no_billing',
    charge_type: version?.charge_type ?? 'none',
    controlled_by: plan.controlled_by,
    company_count: parts.companyCounts.get(plan.id) ?? 0,
    company_logo_url: null,
    company_name: parts.companyNames.get(plan.company_id ?? '') ?? null,
    is_default: isDefault(plan, outlook),
    is_free: version?.charge_type === 'free',
    is_trialable: version?.is_trialable ?? false,
    trial_days: version?.trial_days ?? null,
    credits: [...new Map(grants.flatMap(({ credit }) => (credit ? [[credit.id, credit]] : []))).values()],
    included_credit_grants: grants,
    currency_prices: planCurrencyPrices(version?.prices ?? []),
    ...planPrices((version?.prices ?? []).filter(price => price.currency === version?.currency)),
    ...linkOf(plan),
    ...(product && { billing_product: product }),
    features: entitled.flatMap(row => parts.features.get(row.feature_id) ?? []),
    entitlements: entitlements && ((version && entitlements.get(version.id)) ?? []),
    versions: views,
    ...(active && { active_version: active }),
    ...(draft && { draft_version: draft }),
  }
}

/** PB-11: whether companies start on this plan or fall back to it. */
function isDefault(plan: PlanRow, { environment, services }: Outlook): boolean {
  if (!environment) return false
  const { initialPlanId, fallbackPlanId } = services.catalogs.get(environment.id)
  return plan.id === initialPlanId || plan.id === fallbackPlanId
}

function linkOf(plan: PlanRow): Pick<PlanDetail, 'billing_linked_resource'> {
  if (plan.external_resource_id === null) return {}
  const { controlled_by: provider, external_resource_id } = plan
  return {
    billing_linked_resource: { billing_provider: provider, external_resource_id, originator: provider },
  }
}

/** Versions of plans, newest first, of the environment; account-wide, of all environments. */
function versionRows(
  sql: Sql,
  outlook: Outlook,
  planIds: readonly string[],
): Promise<readonly PlanVersionRow[]> {
  const { environment } = outlook
  return sql<PlanVersionRow[]>`
    select * from plan_versions
    where plan_id in ${among(sql, planIds)} and deleted_at is null
      ${environment ? sql`and environment_id = ${environment.id}` : sql``}
    order by version desc, environment_id`
}

async function entitledRows(
  sql: Sql,
  versions: readonly PlanVersionRow[],
): Promise<readonly EntitlementRow[]> {
  if (versions.length === 0) return []
  return sql<EntitlementRow[]>`
    select * from plan_entitlements
    where plan_version_id in ${among(
      sql,
      versions.map(version => version.id),
    )}
    order by created_at, id`
}

async function entitlementsByVersion(
  sql: Sql,
  { accountId, environment }: Outlook,
  rows: readonly EntitlementRow[],
): Promise<ReadonlyMap<string, PlanDetail['entitlements']>> {
  const views = environment
    ? await entitlementViews(sql, { accountId, environmentId: environment.id }, rows)
    : []
  const numbered = rows.map((row, i) => ({ versionId: row.plan_version_id, view: views[i]! }))
  const byVersion = grouped(numbered, each => each.versionId)
  return new Map([...byVersion].map(([id, of]) => [id, of.map(each => each.view)]))
}

/**
 * Number of companies on any version of each plan, in the environment (PB-12), or account-wide in all of them. A
 * company without base plan counts for the fallback plan, one with an ended trial for the plan after it (EN-82,
 * EN-91).
 */
export async function companyCounts(
  sql: Sql,
  { environment, services, accountId }: Outlook,
  planIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const count = (planId: string, more: number) => counts.set(planId, (counts.get(planId) ?? 0) + more)
  const environments = environment ? [environment] : services.keys.environments(accountId)
  for (const { id } of environments) {
    const { fallbackPlanId, trialExpiryPlanId } = services.catalogs.get(id)
    const nowMs = services.clock.now(id)
    const over = sql`kind = 'base' and trial_end_setting = 'cancel' and trial_status <> 'converted'
      and trial_end_at <= ${new Date(nowMs)}`
    const held = await sql<{ plan_id: string; count: number }[]>`
      select plan_id, count(*)::int as count from company_plans
      where environment_id = ${id} and plan_id in ${among(sql, planIds)} and (${over}) is not true group by plan_id`
    for (const row of held) count(row.plan_id, row.count)
    const elsewhere = [fallbackPlanId, trialExpiryPlanId].filter(planId => planIds.includes(planId ?? ''))
    if (elsewhere.length === 0) continue
    const [rest] = await sql<{ without: number; tried: number }[]>`
      select (select count(*) from companies where environment_id = ${id})::int
          - (count(*) filter (where kind = 'base'))::int as without,
        (count(*) filter (where ${over}))::int as tried
      from company_plans where environment_id = ${id}`
    if (fallbackPlanId !== null) count(fallbackPlanId, rest!.without)
    const afterTrial = trialExpiryPlanId ?? fallbackPlanId
    if (afterTrial !== null) count(afterTrial, rest!.tried)
  }
  return counts
}

async function productDetails(
  sql: Sql,
  { accountId }: Outlook,
  versions: readonly PlanVersionRow[],
): Promise<ReadonlyMap<string, BillingProductDetail>> {
  const ids = distinct(versions.map(version => version.billing_product_id))
  const products = await productRows(sql, ids)
  if (products.size === 0) return new Map()
  const prices = grouped(await pricesOfProducts(sql, ids), price => price.product_id)
  const counts = await sql<{ product_id: string; count: number }[]>`
    select product_id, count(*)::int as count
    from company_subscriptions, jsonb_array_elements_text(state -> 'productIds') as product_id
    where product_id in ${among(sql, ids)} and status in ('active', 'past_due', 'trialing') group by product_id`
  const subscriptions = new Map(counts.map(row => [row.product_id, row.count]))
  return new Map(
    [...products].map(([id, row]) => [
      id,
      {
        ...productView(row, accountId),
        prices: (prices.get(id) ?? []).map(priceRowView),
        subscription_count: subscriptions.get(id) ?? 0,
      },
    ]),
  )
}

/** Features inside plans, each with its flag. */
export async function featuresInPlans(
  sql: Sql,
  outlook: Outlook,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FeatureInPlan>> {
  if (ids.length === 0) return new Map()
  const environmentId = outlook.environment?.id ?? null
  const rows = await sql<FeatureRow[]>`select * from ${featureSource(sql)} where id in ${among(sql, ids)}`
  const flagRows = await sql<FlagRow[]>`
    select * from flags where feature_id in ${among(sql, ids)} order by created_at, id`
  const flags = grouped(await flagDetails(sql, outlook, flagRows), flag => flag.feature_id!)
  const plans = plansByFeature(environmentId === null ? null : outlook.services.catalogs.get(environmentId))
  const views = rows.map(row => featureView(row, environmentId))
  const traits = await traitViews(sql, distinct(views.map(view => view.trait_id)))
  return new Map(
    views.map((view, i) => {
      const trait = traits.get(view.trait_id ?? '')
      const found = { flags: (flags.get(view.id) ?? []).map(flagInPlan), plans: plans.get(view.id) ?? [] }
      return [view.id, { ...featureInPlan(view, rows[i]!, found), ...(trait && { trait }) }]
    }),
  )
}

function featureInPlan(
  view: Feature,
  row: FeatureRow,
  found: { readonly flags: FlagInPlan[]; readonly plans: PreviewObject[] },
): FeatureInPlan {
  if (row.external_resource_id === null) return { ...view, ...found }
  const { managed_by: provider, external_resource_id } = row
  const link = { billing_provider: provider, external_resource_id, originator: provider }
  return { ...view, ...found, billing_linked_resource: link }
}

function flagInPlan({ maintainer: _, ...flag }: FlagInPlan & { maintainer?: unknown }): FlagInPlan {
  return flag
}

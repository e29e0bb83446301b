// Brings the draft of a plan to what a document says: terms, prices, entitlements, credit grants.
import type { Sql } from 'postgres'
import type * as file from '../../../schemas/catalog.js'
import type { PlanGrantCreate } from '../../../schemas/credits.js'
import type { PlanEntitlementUpdate } from '../../../schemas/entitlements.js'
import type { PlanCreditGrantRow } from '../../catalog/credits.js'
import { type EntitlementRow, grouped, type PlanRow, type PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId } from '../../catalog/prices.js'
import { quantityFromText } from '../../core/values/quantity.js'
import type { Call } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { asJson } from '../../kit/sql.js'
import { insertPlanGrant, removePlanGrant, updatePlanGrant } from '../credits/plan-grant-write.js'
import { removeEntitlement, writeEntitlement } from '../entitlements/write.js'
import { nameUnpublished, updateBilling, updateDraft } from '../plans/store.js'
import { isCharged, usageType, usualStrategy } from './canonical-plan.js'
import type { Resolver } from './resolve.js'

/** Where a version is written. */
interface VersionPlace {
  readonly tx: Sql
  readonly call: Call<unknown, unknown>
  readonly names: Resolver
  readonly plan: PlanRow
}

/**
 * Write a draft.
 *
 * draft    of the locked plan.
 * wanted   in canonical form.
 * errors   those of the operations that edit a draft one by one.
 */
export async function writeDraft(
  place: VersionPlace,
  draft: PlanVersionRow,
  wanted: file.CatalogPlanVersion,
  title: string,
): Promise<PlanVersionRow> {
  const { tx, call, names } = place
  const now = () => call.services.clock.wall()
  const named = await updateDraft(
    tx,
    draft,
    {
      name: wanted.name ?? title,
      description: wanted.description ?? '',
      icon: wanted.icon ?? 'gray',
    },
    now(),
  )
  await nameUnpublished(tx, named, now())
  const own = nativeProductId(draft.environment_id, draft.plan_id, null)
  const keepsOwn = isCharged(wanted) && draft.billing_product_id === own
  const billed = await updateBilling(
    tx,
    named,
    {
      charge_type: wanted.charge_type ?? 'none',
      billing_strategy: wanted.billing_strategy ?? usualStrategy(wanted),
      billing_product_id: names.product(wanted.product) ?? (keepsOwn ? own : null),
      is_trialable: wanted.is_trialable ?? false,
      trial_days: wanted.trial_days ?? null,
      currency: wanted.currency ?? 'usd',
      prices: names.prices(draft.id, wanted.prices, 'licensed', draft.prices),
    },
    now(),
  )
  await writeEntitlements(place, billed, wanted.entitlements ?? [])
  await writeGrants(place, billed, wanted.credit_grants ?? [])
  return billed
}

async function writeEntitlements(
  place: VersionPlace,
  draft: PlanVersionRow,
  wanted: readonly file.CatalogEntitlement[],
): Promise<void> {
  const { tx, call, names } = place
  const rows = await tx<EntitlementRow[]>`
    select * from plan_entitlements where plan_version_id = ${draft.id} order by created_at, id`
  const asked = new Map(wanted.map(one => [names.feature(one.feature), one]))
  for (const row of rows)
    if (!asked.has(row.feature_id)) await removeEntitlement(tx, row, call.services.clock.wall())
  for (const [featureId, one] of asked) {
    const former = rows.find(row => row.feature_id === featureId) ?? null
    const writing = {
      services: call.services,
      accountId: call.key.accountId,
      environmentId: call.environment.id,
      nowMs: call.services.clock.wall(),
    }
    const link =
      one.external_resource_id == null
        ? null
        : { provider: one.provider ?? 'native', resourceId: one.external_resource_id }
    const row = await writeEntitlement(tx, writing, draft, featureId, termsOf(names, one), former, link)
    const prices = names.prices(row.id, one.prices, usageType(one.price_behavior), former?.prices ?? [])
    const mode = prices.find(price => price.tiers_mode !== null)?.tiers_mode ?? null
    await tx`
      update plan_entitlements set prices = ${asJson(tx, prices)}, tier_mode = ${mode} where id = ${row.id}`
  }
}

const exact = (given: file.CatalogQuantity | null | undefined) =>
  typeof given === 'string' ? quantityFromText(given) : (given ?? null)

/** The complete body of an entitlement without its prices. */
function termsOf(names: Resolver, one: file.CatalogEntitlement): Exact<PlanEntitlementUpdate> {
  const credit = one.value_credit ?? null
  return {
    value_type: one.value_type,
    value_bool: one.value_bool ?? null,
    value_numeric: exact(one.value_numeric),
    value_trait_id: names.traitOrNull(one.value_trait),
    value_credit_id: credit === null ? null : names.credit(credit),
    credit_consumption_rate: one.credit_consumption_rate ?? null,
    quantity_rates: one.quantity_rates ?? null,
    metric_period: one.metric_period ?? null,
    metric_period_month_reset: one.metric_period_month_reset ?? null,
    price_behavior: one.price_behavior ?? null,
    soft_limit: exact(one.soft_limit),
    usage_quantity: exact(one.usage_quantity),
    billing_threshold: exact(one.billing_threshold),
    overage_billing_cadence: one.overage_billing_cadence ?? null,
    billing_product_id: names.product(one.product),
    overage_billing_product_id: names.product(one.overage_product),
    warning_tiers: [...(one.warning_tiers ?? [])],
  }
}

/** Grants of one credit are told apart by their order. */
async function writeGrants(
  place: VersionPlace,
  draft: PlanVersionRow,
  wanted: readonly file.CatalogPlanGrant[],
): Promise<void> {
  const { tx, call, names, plan } = place
  const rows = await tx<PlanCreditGrantRow[]>`
    select * from plan_credit_grants where plan_version_id = ${draft.id} order by created_at, id`
  const had = new Map<string, PlanCreditGrantRow>()
  for (const [creditId, own] of grouped(rows, row => row.credit_id))
    for (const [i, row] of own.entries()) had.set(`${creditId} ${i}`, row)
  const seen = new Map<string, number>()
  const kept = new Set<string>()
  for (const one of wanted) {
    const creditId = names.credit(one.credit)
    const n = seen.get(creditId) ?? 0
    seen.set(creditId, n + 1)
    const former = had.get(`${creditId} ${n}`)
    const grantPlace = {
      accountId: call.key.accountId,
      environmentId: call.environment.id,
      nowMs: call.services.clock.wall(),
    }
    const body = grantBody(names, one, creditId, plan.id)
    if (former) {
      kept.add(former.id)
      await updatePlanGrant(tx, grantPlace, plan, former, body)
    } else await insertPlanGrant(tx, grantPlace, plan, draft, body)
  }
  for (const row of rows) if (!kept.has(row.id)) await removePlanGrant(tx, row, call.services.clock.wall())
}

/** The complete body of a grant: what the document leaves out is cleared or has its default. */
function grantBody(
  names: Resolver,
  one: file.CatalogPlanGrant,
  creditId: string,
  planId: string,
): Exact<PlanGrantCreate> {
  const { credit: _, license, price_tiers, overdraft_limit: floor, ...rest } = one
  const resets = (one.reset_type ?? 'plan_period') === 'plan_period'
  return {
    ...rest,
    credit_id: creditId,
    plan_id: planId,
    company_credit_amount: one.company_credit_amount ?? 0,
    billing_mode: one.billing_mode ?? 'granted',
    scaling: one.scaling ?? 'fixed',
    license_id: names.license(license),
    reset_type: one.reset_type ?? 'plan_period',
    reset_cadence: (one.reset_cadence ?? null) as PlanGrantCreate['reset_cadence'],
    reset_start: (one.reset_start ?? null) as PlanGrantCreate['reset_start'],
    rollover_percentage: one.rollover_percentage ?? 0,
    renewal_enabled: one.renewal_enabled ?? false,
    renewal_period: one.renewal_enabled === true ? (one.renewal_period ?? 'billing_period') : null,
    expiry_type: resets ? null : (one.expiry_type ?? null),
    expiry_unit: one.expiry_unit ?? (one.expiry_type === 'duration' ? 'days' : null),
    expiry_unit_count: one.expiry_unit_count ?? null,
    postpaid_enabled: one.postpaid_enabled ?? false,
    postpaid_rate_per_unit: exact(one.postpaid_rate_per_unit),
    postpaid_rate_per_unit_decimal: one.postpaid_rate_per_unit_decimal ?? null,
    overdraft_limit: floor == null ? null : Number(floor),
    arrears_cadence: one.arrears_cadence ?? null,
    arrears_anchor: one.arrears_anchor ?? null,
    auto_topup_availability: one.auto_topup_availability ?? 'off',
    auto_topup_amount: one.auto_topup_amount ?? null,
    auto_topup_threshold_credits: one.auto_topup_threshold_credits ?? null,
    auto_topup_threshold_percent: one.auto_topup_threshold_percent ?? null,
    auto_topup_expiry_type: one.auto_topup_expiry_type ?? null,
    auto_topup_expiry_unit: one.auto_topup_expiry_unit ?? null,
    auto_topup_expiry_unit_count: one.auto_topup_expiry_unit_count ?? null,
    can_buy_bundles: one.can_buy_bundles ?? true,
    unit_price: one.unit_price == null ? null : exact(one.unit_price),
    unit_price_decimal: one.unit_price_decimal ?? null,
    tier_mode: one.tier_mode ?? null,
    price_tiers: price_tiers?.map(tier => ({
      up_to: exact(tier.up_to),
      per_unit_price: exact(tier.per_unit_price),
      per_unit_price_decimal: tier.per_unit_price_decimal,
    })),
  }
}

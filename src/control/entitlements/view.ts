// Plan entitlements in their wire form, alone and within their plans.
import type { Sql } from 'postgres'
import type { PlanEntitlement } from '../../../schemas/entitlements.js'
import type { Plan, PlanVersion } from '../../../schemas/plans.js'
import type { BillingPriceView } from '../../../schemas/prices.js'
import type { EntitlementRow, PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import { quantityOrNull } from '../../core/values/quantity.js'
import { long, storedLongOrNull } from '../../kit/long.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { creditViews } from '../credits/view.js'
import { featureViews } from '../flags/feature-view.js'
import { packageSizes, productRows } from '../prices/rows.js'
import { entitlementCurrencyPrices, meteredPriceView, productView, type SoldAs } from '../prices/view.js'
import { traitViews } from '../traits/rows.js'

/** A plan inside another resource: with the members of its version, if it has one. */
export function planView(plan: PlanRow, version: PlanVersionRow | null): Plan {
  const { name, description, icon } = version ?? plan
  const updatedMs = Math.max(plan.updated_at.getTime(), version?.updated_at.getTime() ?? 0)
  return {
    id: plan.id,
    name,
    description,
    icon,
    plan_type: plan.plan_type,
    audience_type: null,
    company_id: plan.company_id,
    copied_from_plan_id: plan.copied_from_plan_id,
    created_at: isoTime(plan.created_at.getTime()),
    updated_at: isoTime(updatedMs),
  }
}

export function versionView(plan: PlanRow, version: PlanVersionRow): PlanVersion {
  return {
    id: version.id,
    environment_id: version.environment_id,
    name: version.name,
    description: version.description,
    icon: version.icon,
    plan_type: plan.plan_type,
    status: version.status,
    version: version.version,
    original_plan_id: plan.copied_from_plan_id,
    created_at: isoTime(version.created_at.getTime()),
    updated_at: isoTime(version.updated_at.getTime()),
  }
}

/** Entitlements in full, in the order of the rows. All belong to one environment. */
export async function entitlementViews(
  sql: Sql,
  place: { readonly accountId: string; readonly environmentId: string },
  rows: readonly EntitlementRow[],
): Promise<PlanEntitlement[]> {
  if (rows.length === 0) return []
  const { accountId, environmentId } = place
  const features = await featureViews(sql, distinct(rows.map(row => row.feature_id)), environmentId)
  const traits = await traitViews(sql, distinct(rows.map(row => row.value_trait_id)))
  const credits = await creditViews(
    sql,
    rows.map(row => row.value_credit_id),
  )
  const plans = await plansOf(sql, rows)
  const products = await productRows(
    sql,
    distinct(rows.flatMap(row => [row.billing_product_id, ...row.prices.map(price => price.product_id)])),
  )
  const sizes = await packageSizes(
    sql,
    rows.flatMap(row => row.prices.map(price => price.id)),
  )
  return rows.map(row => {
    const plan = plans.get(row.plan_version_id)
    const feature = features.get(row.feature_id)
    const trait = traits.get(row.value_trait_id ?? '')
    const credit = credits.get(row.value_credit_id ?? '')
    const product = products.get(row.billing_product_id ?? row.prices[0]?.product_id ?? '')
    const soldAs = (price: StoredPrice): SoldAs => {
      const known = products.get(price.product_id ?? row.billing_product_id ?? '')
      if (known) return { id: known.id, externalId: known.external_id, name: known.name }
      const id = nativeProductId(environmentId, row.plan_id, row.feature_id)
      return { id, externalId: id, name: entitledName(plan?.name ?? '', feature?.name ?? '') }
    }
    return {
      ...members(row),
      ...(plan && { plan }),
      ...(feature && { feature }),
      ...(trait && { value_trait: trait }),
      ...(credit && { value_credit: credit }),
      ...(product && { usage_based_product: productView(product, accountId) }),
      currency_prices: entitlementCurrencyPrices(row.prices, soldAs, row.created_at.getTime(), sizes),
      ...meteredPrices(row, soldAs, sizes),
    }
  })
}

/** Name of the product that sells a feature of a plan. */
export function entitledName(planName: string, featureName: string): string {
  return `${planName}: ${featureName}`
}

function members(row: EntitlementRow) {
  return {
    id: row.id,
    environment_id: row.environment_id,
    plan_id: row.plan_id,
    feature_id: row.feature_id,
    rule_id: row.rule_id,
    rule_id_usage_exceeded: row.rule_id_usage_exceeded,
    value_type: row.value_type,
    value_bool: row.value_bool,
    value_numeric: long(quantityOrNull(row.value_numeric)),
    value_trait_id: row.value_trait_id,
    consumption_rate: row.consumption_rate,
    ...(row.quantity_rates && { quantity_rates: row.quantity_rates }),
    metric_period: row.metric_period,
    metric_period_month_reset: row.metric_period_month_reset,
    price_behavior: row.price_behavior,
    soft_limit: long(quantityOrNull(row.soft_limit)),
    usage_quantity: long(quantityOrNull(row.usage_quantity)),
    billing_threshold: storedLongOrNull(row.billing_threshold),
    overage_billing_cadence: row.overage_billing_cadence,
    overage_invoice_anchor: row.overage_invoice_anchor,
    ...(row.external_resource_id !== null && {
      billing_linked_resource: {
        billing_provider: row.billing_provider ?? 'native',
        external_resource_id: row.external_resource_id,
        originator: row.billing_provider ?? 'native',
      },
    }),
    warning_tiers: row.warning_tiers.map(({ id, key, value }) => ({ id, key, value })),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

type MeteredPrices = Pick<
  PlanEntitlement,
  'metered_monthly_price' | 'metered_quarterly_price' | 'metered_yearly_price'
>

/** The price members without a currency show the first stored currency. */
function meteredPrices(
  row: EntitlementRow,
  soldAs: (price: StoredPrice) => SoldAs,
  sizes: ReadonlyMap<string, number>,
): MeteredPrices {
  const currency = row.prices[0]?.currency
  const shown: Record<string, BillingPriceView> = {}
  for (const price of row.prices)
    if (price.currency === currency && price.cadence !== 'one_time')
      shown[`metered_${price.cadence}_price`] = meteredPriceView(
        price,
        soldAs(price),
        row.created_at.getTime(),
        sizes.get(price.id),
      )
  return shown
}

/** The plans of entitlements, by version id. */
async function plansOf(sql: Sql, rows: readonly EntitlementRow[]): Promise<Map<string, Plan>> {
  const versions = await sql<PlanVersionRow[]>`
    select * from plan_versions where id in ${among(sql, distinct(rows.map(row => row.plan_version_id)))}`
  const plans = await sql<PlanRow[]>`
    select * from plans where id in ${among(sql, distinct(rows.map(row => row.plan_id)))}`
  const byId = new Map(plans.map(plan => [plan.id, plan]))
  return new Map(versions.map(version => [version.id, planView(byId.get(version.plan_id)!, version)]))
}

/** The distinct ids, without null. */
export function distinct(ids: readonly (string | null | undefined)[]): string[] {
  return [...new Set(ids.filter(id => id != null))]
}

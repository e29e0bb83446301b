// Credits and credit grants of plan versions in their wire form, for all handlers that show them.
import type { Sql } from 'postgres'
import type {
  BillingCreditView,
  Credit,
  CreditCurrencyPrice,
  PlanCreditGrant,
  PlanGrantTier,
} from '../../../schemas/credits.js'
import type { BillingProduct } from '../../../schemas/prices.js'
import {
  type CreditRow,
  type PlanCreditGrantRow,
  planGrantPrice,
  type StoredCreditTier,
} from '../../catalog/credits.js'
import { grouped, numberOrNull } from '../../catalog/plans.js'
import type { StoredPrice } from '../../catalog/prices.js'
import { addQuantity, quantityOrNull, readQuantity } from '../../core/values/quantity.js'
import { long, storedLong, storedLongOrNull } from '../../kit/long.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import type { BillingProductRow } from '../prices/rows.js'
import { meteredPriceView, priceView, productRecord, productView } from '../prices/view.js'

function creditView(row: CreditRow, product: BillingProduct | undefined): Credit {
  const price = row.prices.find(one => one.currency === row.currency)
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    burn_strategy: row.burn_strategy,
    cost_editable: row.ledger_authority === 'service_authoritative',
    currency_prices: currencyPrices(row.prices),
    default_expiry_unit: row.default_expiry_unit,
    default_expiry_unit_count: numberOrNull(row.default_expiry_unit_count),
    default_rollover_policy: row.default_rollover_policy,
    icon: row.icon,
    ledger_authority: row.ledger_authority,
    plural_name: row.plural_name,
    singular_name: row.singular_name,
    ...(price && { price: priceView(price) }),
    ...(product && { product }),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** A credit as shown inside a plan's grant. `product`: what it is sold as, if it has a price. */
export function creditBrief(
  row: CreditRow,
  product: BillingProductRow | undefined,
  accountId: string,
): BillingCreditView {
  const {
    currency_prices: _prices,
    price: _price,
    product: _product,
    ...members
  } = creditView(row, undefined)
  const sold = { id: product?.id ?? row.id, externalId: product?.external_id ?? row.id, name: row.name }
  const priced = row.prices.map(price => ({
    currency: price.currency,
    price: meteredPriceView(price, sold, row.created_at.getTime()),
  }))
  const own = priced.find(({ currency }) => currency === row.currency)?.price
  return {
    ...members,
    account_id: accountId,
    environment_id: row.environment_id,
    currency_prices: priced,
    ...(own && { price: own, price_per_unit: own.price, price_per_unit_decimal: own.price_decimal }),
    ...(product && { product: productRecord(product, accountId) }),
  }
}

/** Prices by currency, in stored order (PB-43). */
function currencyPrices(prices: readonly StoredPrice[]): CreditCurrencyPrice[] {
  return prices.map(price => ({ currency: price.currency, price: priceView(price) }))
}

/** Credits in full, in the order of the rows, with the products they are sold as. */
export async function creditViewsOf(sql: Sql, rows: readonly CreditRow[]): Promise<Credit[]> {
  const ids = rows.flatMap(row => row.prices.flatMap(price => price.product_id ?? []))
  const products =
    ids.length === 0
      ? []
      : await sql<(BillingProductRow & { account_id: string })[]>`
          select p.*, e.account_id from billing_products p join environments e on e.id = p.environment_id
          where p.id in ${among(sql, [...new Set(ids)])}`
  const views = new Map(products.map(row => [row.id, productView(row, row.account_id)]))
  return rows.map(row => creditView(row, views.get(row.prices[0]?.product_id ?? '')))
}

/** Credits by id, including deleted ones that are still referenced. */
export async function creditViews(
  sql: Sql,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, Credit>> {
  const wanted = [...new Set(ids.filter(id => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await sql<CreditRow[]>`select * from billing_credits where id in ${among(sql, wanted)}`
  return new Map((await creditViewsOf(sql, rows)).map(credit => [credit.id, credit]))
}

interface NamedPlan {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly currency: string
  readonly published_at: Date | null
}

/** Plan credit grants in full, in the order of the rows. */
export async function planGrantViews(
  sql: Sql,
  rows: readonly PlanCreditGrantRow[],
): Promise<PlanCreditGrant[]> {
  if (rows.length === 0) return []
  const credits = await creditViews(
    sql,
    rows.map(row => row.credit_id),
  )
  const versions = await sql<(NamedPlan & { version_id: string })[]>`
    select v.id as version_id, v.plan_id as id, v.name, v.description, v.currency, v.published_at
    from plan_versions v
    where v.id in ${among(sql, [...new Set(rows.map(row => row.plan_version_id))])}`
  const plans = new Map(versions.map(version => [version.version_id, version]))
  return rows.map(row => planGrantView(row, credits.get(row.credit_id), plans.get(row.plan_version_id)))
}

/** The grants of plan versions, by version. */
export async function planGrantsOfVersions(
  sql: Sql,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, PlanCreditGrant[]>> {
  if (versionIds.length === 0) return new Map()
  const rows = await sql<PlanCreditGrantRow[]>`
    select * from plan_credit_grants where plan_version_id in ${among(sql, versionIds)} order by created_at, id`
  const views = await planGrantViews(sql, rows)
  return grouped(views, view => view.plan_version_id!)
}

function planGrantView(
  row: PlanCreditGrantRow,
  credit: Credit | undefined,
  plan: NamedPlan | undefined,
): PlanCreditGrant {
  const billed = row.billing_mode === 'billed' && plan?.published_at
  const price = billed ? priceView(planGrantPrice(row, plan.currency)) : null
  return {
    id: row.id,
    plan_id: row.plan_id,
    plan_name: plan?.name ?? '',
    ...(plan && { plan: { id: plan.id, name: plan.name, description: plan.description, image_url: null } }),
    plan_version_id: row.plan_version_id,
    credit_id: row.credit_id,
    credit_name: credit?.name ?? '',
    credit_plural_name: credit?.plural_name ?? null,
    credit_singular_name: credit?.singular_name ?? null,
    ...(credit && { credit }),
    credit_amount: Number(row.credit_amount),
    company_credit_amount: Number(row.company_credit_amount),
    billing_mode: row.billing_mode,
    scaling: row.scaling,
    license_id: row.license_id,
    reset_type: row.reset_type,
    reset_cadence: row.reset_cadence,
    reset_start: row.reset_start,
    rollover_percentage: row.rollover_percentage,
    ...(row.renewal_enabled &&
      row.renewal_period && { renewal_enabled: true, renewal_period: row.renewal_period }),
    expiry_type: row.expiry_type,
    expiry_unit: row.expiry_unit,
    expiry_unit_count: numberOrNull(row.expiry_unit_count),
    postpaid_enabled: row.postpaid_enabled,
    postpaid_rate_per_unit: storedLongOrNull(row.postpaid_rate_per_unit),
    postpaid_rate_per_unit_decimal: row.postpaid_rate_per_unit_decimal,
    overdraft_limit: numberOrNull(row.overdraft_limit),
    arrears_cadence: row.arrears_cadence,
    arrears_anchor: row.arrears_anchor,
    auto_topup_availability: row.auto_topup_availability,
    auto_topup_enabled: row.auto_topup_availability !== 'off',
    auto_topup_self_service: row.auto_topup_availability === 'user_controlled',
    auto_topup_amount: numberOrNull(row.auto_topup_amount),
    auto_topup_amount_type: row.auto_topup_amount_type,
    auto_topup_threshold_credits: numberOrNull(row.auto_topup_threshold_credits),
    auto_topup_threshold_percent: row.auto_topup_threshold_percent,
    auto_topup_expiry_type: row.auto_topup_expiry_type,
    auto_topup_expiry_unit: row.auto_topup_expiry_unit,
    auto_topup_expiry_unit_count: numberOrNull(row.auto_topup_expiry_unit_count),
    can_buy_bundles: row.can_buy_bundles,
    ...(price && { price }),
    unit_price: storedLongOrNull(row.unit_price),
    unit_price_decimal: row.unit_price_decimal,
    tier_mode: row.tier_mode,
    price_tiers: tierViews(row.price_tiers),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

function tierViews(tiers: readonly StoredCreditTier[]): PlanGrantTier[] {
  return tiers.map((tier, i) => ({
    from: long(addQuantity(readQuantity(tiers[i - 1]?.up_to ?? 0), 1)),
    to: long(quantityOrNull(tier.up_to)),
    per_unit_price: storedLong(tier.per_unit_price),
    per_unit_price_decimal: tier.per_unit_price_decimal,
  }))
}

// Billing products and prices, synced from a payment provider.
import type { Sql } from 'postgres'
import type { BillingPriceTierWrite } from '../../../schemas/billing.js'
import {
  type BillingPriceUpsert,
  type BillingProductUpsert,
  validateBillingPriceWrite,
  validateBillingProductWrite,
} from '../../../schemas/billing-upserts.js'
import {
  type BillingProductPriceInterval,
  billingPriceUsageTypes,
  billingProductPriceIntervals,
  billingProviderTypes,
  billingTiersModes,
  type CurrencyCode,
} from '../../../schemas/enums.js'
import type { BillingPriceView, BillingProductDetail } from '../../../schemas/prices.js'
import { newId } from '../../account/ids.js'
import type { StoredTier } from '../../catalog/prices.js'
import {
  type Quantity,
  quantityOrNull,
  readQuantity,
  storedOrNull,
  storedQuantity,
} from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { type Exact, storedLong, validExactly } from '../../kit/long.js'
import {
  boolean,
  integer,
  list,
  long,
  oneOf,
  page,
  type QueryOf,
  query,
  string,
  text,
} from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { kept, told, whole } from '../../kit/unchanged.js'
import { type BillingPriceRow, type BillingProductRow, pricesOfProducts } from '../prices/rows.js'
import { priceRowView, productView, tierViews } from '../prices/view.js'
import { wholePrice } from '../prices/whole-price.js'
import { defaultProvider, removeRecord } from './records.js'
import {
  countProductRows,
  listPriceRows,
  listProductRows,
  type PriceWithProduct,
  priceByExternalId,
  productByExternalId,
  productOfPrice,
  subscriptionCounts,
  upsertPrice,
  upsertProduct,
} from './store.js'

const productShape = {
  ids: list,
  is_active: boolean,
  name: text(255),
  price_usage_type: oneOf(billingPriceUsageTypes),
  provider_type: oneOf(billingProviderTypes),
  q: text(512),
  recurring_charges_only: boolean,
  with_one_time_charges: boolean,
  with_prices_only: boolean,
  with_zero_price: boolean,
  without_linked_to_plan: boolean,
  ...page,
} as const
export const billingProductListQuery = query(productShape)
type ProductListQuery = QueryOf<typeof productShape>

/** The members of a product that a body may leave out to write it again. */
function statedProduct({ name, is_active, price }: BillingProductRow) {
  return { name, is_active, price }
}

/** POST /billing/product/upsert. The name defaults to the external id. */
export const upsertBillingProduct: Handler<BillingProductUpsert> = async call => {
  const { services, key, environment, body, nowMs } = call
  const provider = body.provider_type ?? defaultProvider
  const row = await inTransaction(services.sql, async tx => {
    const had = await productByExternalId(tx, environment.id, body.external_id, provider)
    const known = had?.provider_type === provider ? had : null
    const now = new Date(nowMs)
    const said = told(body, known && statedProduct(known), validateBillingProductWrite)
    return upsertProduct(tx, {
      id: known?.id ?? newId('bilp_'),
      environment_id: environment.id,
      external_id: body.external_id,
      provider_type: provider,
      name: said.name ?? body.external_id,
      is_active: said.is_active ?? true,
      price: said.price,
      quantity: known?.quantity ?? 1,
      created_at: now,
      updated_at: now,
    })
  })
  return { data: productView(row, key.accountId) }
}

/** GET /billing/products. */
export const listBillingProducts: Handler<undefined, ProductListQuery> = async call => {
  const { services, key, environment } = call
  const rows = await listProductRows(services.sql, environment.id, call.query, call.query)
  const ids = rows.map(row => row.id)
  const [prices, counts] = await Promise.all([
    pricesOfProducts(services.sql, ids),
    subscriptionCounts(services.sql, environment.id, ids),
  ])
  const data = rows.map(
    (row): BillingProductDetail => ({
      ...productView(row, key.accountId),
      prices: prices.filter(price => price.product_id === row.id).map(priceRowView),
      subscription_count: counts.get(row.id) ?? 0,
    }),
  )
  return { data }
}

/** GET /billing/products/count. */
export const countBillingProducts: Handler<undefined, ProductListQuery> = async call => ({
  data: { count: await countProductRows(call.services.sql, call.environment.id, call.query) },
})

/** DELETE /billing/product/{billing_id}: refused while a plan or a subscription uses it. source: decision */
export const deleteBillingProduct: Handler = call =>
  removeRecord(call, 'billing_products', 'Billing product', async (tx, { id }) => {
    const [used] = await tx`
      select 1 from plan_versions where billing_product_id = ${id} and deleted_at is null
      union all
      select 1 from billing_subscriptions
        where products @> jsonb_build_array(jsonb_build_object('product_id', ${id}::text)) limit 1`
    return used ? 'a plan or a subscription sells it' : null
  })

const priceShape = {
  currency: text(3),
  for_initial_plan: boolean,
  for_trial_expiry_plan: boolean,
  ids: list,
  interval: text(255),
  interval_count: integer(1),
  is_active: boolean,
  plan_version_id: string,
  price: long,
  product_id: string,
  product_ids: list,
  provider_type: oneOf(billingProviderTypes),
  q: text(512),
  tiers_mode: oneOf(billingTiersModes),
  usage_type: oneOf(billingPriceUsageTypes),
  with_meter: boolean,
  ...page,
} as const
export const billingPriceListQuery = query(priceShape)

/** GET /billing/price and GET /billing/product/prices. */
export const listBillingPrices: Handler<undefined, QueryOf<typeof priceShape>> = async call => {
  const rows = await listPriceRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: rows.map(priceInFull) }
}

function priceInFull(row: PriceWithProduct): BillingPriceView {
  return {
    id: row.id,
    price_id: row.id,
    price_external_id: row.external_id,
    product_id: row.product_id,
    product_external_id: row.product_external_id,
    product_name: row.product_name,
    currency: row.currency,
    interval: row.interval,
    interval_count: row.interval_count,
    package_size: row.package_size,
    price: storedLong(row.price),
    price_decimal: row.price_decimal,
    price_tier: tierViews(row.price_tiers),
    tiers_mode: row.tiers_mode,
    billing_scheme: row.billing_scheme,
    usage_type: row.usage_type,
    is_active: row.is_active,
    provider_type: row.provider_type,
    meter_id: row.meter_id,
    meter_event_name: row.meter_event_name,
    meter_event_payload_key: row.meter_event_payload_key,
    nickname: row.nickname,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** The optional members of a price, filled from its row. Another interval resets the interval count. */
function statedPrice(given: Exact<BillingPriceUpsert>, row: BillingPriceRow) {
  const { currency, price_decimal, package_size, meter_id, nickname } = row
  const interval = given.interval ?? row.interval
  return {
    currency: currency as CurrencyCode,
    interval,
    external_account_id: row.external_account_id ?? '',
    billing_scheme: row.billing_scheme,
    usage_type: row.usage_type,
    is_active: row.is_active,
    price: readQuantity(row.price),
    price_decimal,
    interval_count: interval === row.interval ? row.interval_count : 1,
    tiers_mode: row.tiers_mode,
    package_size,
    meter_id,
    nickname,
  }
}

/**
 * POST /billing/price/upsert. Absent members of an existing price are unchanged.
 *
 * errors  400 for an unknown interval or tiers that do not ascend; 404 for an unknown product.
 * source  PB-40…42.
 */
export const upsertBillingPrice: Handler<Exact<BillingPriceUpsert>> = async call => {
  const { services, environment, nowMs } = call
  const provider = call.body.provider_type ?? defaultProvider
  const row = await inTransaction(services.sql, async tx => {
    const product = await productOf(tx, call)
    const had = await priceByExternalId(tx, environment.id, product.id, call.body.price_external_id)
    const said = {
      product_external_id: product.external_id,
      ...(had ? whole(call.body, statedPrice(call.body, had), [['price', 'price_decimal']]) : call.body),
      // stored tiers are not as bodies say them
      price_tiers: call.body.price_tiers ?? (had ? [] : undefined),
    }
    const body = told(said, null, one => validExactly(validateBillingPriceWrite, one))
    const { interval, count } = intervalFrom(body.interval, body.interval_count ?? 1)
    const tiers = had && !call.body.price_tiers ? had.price_tiers : normaliseTiers(body.price_tiers)
    const now = new Date(nowMs)
    return upsertPrice(tx, {
      id: newId('bilpp_'),
      environment_id: environment.id,
      product_id: product.id,
      external_id: body.price_external_id,
      provider_type: provider,
      currency: body.currency,
      interval,
      interval_count: count,
      price: storedQuantity(wholePrice(body.price, body.price_decimal ?? null)),
      price_decimal: body.price_decimal ?? null,
      billing_scheme: body.billing_scheme,
      tiers_mode: tiers.length === 0 ? null : (body.tiers_mode ?? 'graduated'),
      price_tiers: tiers,
      usage_type: body.usage_type,
      package_size: body.package_size ?? 1,
      is_active: body.is_active,
      nickname: body.nickname ?? null,
      meter_id: body.meter_id ?? null,
      external_account_id: kept(call.body.external_account_id, had?.external_account_id ?? null),
      created_at: now,
      updated_at: now,
    })
  })
  return { data: priceRowView(row) }
}

/** The product that a body names; without its name the one whose price it is. Errors: 404; 400 for a price nobody told of. */
async function productOf(
  tx: Sql,
  { environment, body }: Call<Exact<BillingPriceUpsert>>,
): Promise<BillingProductRow> {
  const { product_external_id: named, price_external_id: price } = body
  if (named === undefined) {
    const product = await productOfPrice(tx, environment.id, price)
    if (product) return product
    throw new ServiceError('value_invalid', 'product_external_id: needed by a new one')
  }
  const product = await productByExternalId(tx, environment.id, named, body.provider_type ?? defaultProvider)
  if (!product) throw new ServiceError('not_found', 'product_external_id: no such product')
  return product
}

/** Convert a provider's interval to ours; a quarter is three months (PB-42). Errors: 400. */
export function intervalFrom(
  given: string,
  count: number,
): { readonly interval: BillingProductPriceInterval; readonly count: number } {
  const word = given.toLowerCase().replace('_', '-')
  if (word === 'quarter') return { interval: 'month', count: 3 * count }
  const interval = billingProductPriceIntervals.find(one => one === word)
  if (interval) return { interval, count }
  const words = billingProductPriceIntervals.join(', ')
  throw new ServiceError('value_invalid', `interval: expected one of ${words}`)
}

/** PB-40: tiers ascend and the last one is open. */
function normaliseTiers(given: readonly Exact<BillingPriceTierWrite>[]): StoredTier[] {
  const tiers = given.map(tier => ({
    up_to: storedOrNull(tier.up_to ?? null),
    flat_amount: storedQuantity(tier.flat_amount ?? 0),
    per_unit_price: storedQuantity(wholePrice(tier.per_unit_price ?? null, tier.per_unit_decimal ?? null)),
    per_unit_price_decimal: tier.per_unit_decimal ?? null,
  }))
  const bound = (tier: StoredTier): Quantity => quantityOrNull(tier.up_to) ?? Number.POSITIVE_INFINITY
  tiers.sort((a, b) => (bound(a) < bound(b) ? -1 : 1))
  const bounds = tiers.map(tier => tier.up_to)
  if (tiers.length > 0 && (bounds.indexOf(null) !== tiers.length - 1 || new Set(bounds).size < tiers.length))
    throw new ServiceError('value_invalid', 'price_tiers: up_to must ascend, and only the last tier has none')
  return tiers
}

/** DELETE /billing/product/prices/{billing_id}: refused while a plan or a subscription uses it. */
export const deleteBillingPrice: Handler = call =>
  removeRecord(call, 'billing_prices', 'Billing price', async (tx, { id }) => {
    const named = tx`jsonb_build_array(jsonb_build_object('id', ${id}::text))`
    const [used] = await tx`
      select 1 from plan_versions where prices @> ${named} and deleted_at is null
      union all select 1 from plan_entitlements where prices @> ${named}
      union all select 1 from company_plans where price_id = ${id}
      union all
      select 1 from billing_subscriptions
        where products @> jsonb_build_array(jsonb_build_object('price_id', ${id}::text)) limit 1`
    return used ? 'a plan or a subscription is billed by it' : null
  })

// Prices and products in their wire form.
import type { BillingProductRecord } from '../../../schemas/credits.js'
import type {
  BillingPrice,
  BillingPriceView,
  BillingProduct,
  EntitlementCurrencyPrices,
  PlanCurrencyPrices,
  PriceTierView,
} from '../../../schemas/prices.js'
import { intervalOf, type StoredPrice, type StoredTier } from '../../catalog/prices.js'
import { storedLong, storedLongOrNull } from '../../kit/long.js'
import { isoTime } from '../../kit/time.js'
import type { BillingPriceRow, BillingProductRow } from './rows.js'

/** A price of a plan in short form. */
export function priceView(price: StoredPrice): BillingPrice {
  return {
    id: price.id,
    external_price_id: price.external_id ?? price.id,
    currency: price.currency,
    ...intervalOf(price.cadence),
    price: storedLong(price.price),
    price_decimal: price.price_decimal,
    provider_type: price.provider_type,
    scheme: price.tiers ? 'tiered' : 'per_unit',
    nickname: null,
  }
}

/** priceView for a row of billing_prices. */
export function priceRowView(row: BillingPriceRow): BillingPrice {
  return {
    id: row.id,
    external_price_id: row.external_id,
    currency: row.currency,
    interval: row.interval,
    interval_count: row.interval_count,
    price: storedLong(row.price),
    price_decimal: row.price_decimal,
    provider_type: row.provider_type,
    scheme: row.billing_scheme,
    nickname: row.nickname,
  }
}

/** Tiers of a price, each with all it has. */
export function tierViews(tiers: readonly StoredTier[]): PriceTierView[] {
  return tiers.map(tier => ({
    ...tier,
    up_to: storedLongOrNull(tier.up_to),
    flat_amount: storedLongOrNull(tier.flat_amount),
    per_unit_price: storedLongOrNull(tier.per_unit_price),
  }))
}

/** The product of a price: an existing one, or the one that publishing will create. */
export interface SoldAs {
  readonly id: string
  readonly externalId: string
  readonly name: string
}

/**
 * A price of an entitlement in full.
 *
 * sinceMs      creation time of its owner, for a price not stored yet.
 * packageSize  units sold together (PB-42).
 */
export function meteredPriceView(
  price: StoredPrice,
  product: SoldAs,
  sinceMs: number,
  packageSize = 1,
): BillingPriceView {
  const at = price.minted_at ?? isoTime(sinceMs)
  return {
    id: price.id,
    price_id: price.id,
    price_external_id: price.external_id ?? price.id,
    product_id: product.id,
    product_external_id: product.externalId,
    product_name: product.name,
    currency: price.currency,
    ...intervalOf(price.cadence),
    package_size: packageSize,
    price: storedLong(price.price),
    price_decimal: price.price_decimal,
    price_tier: tierViews(price.tiers ?? []),
    tiers_mode: price.tiers_mode,
    billing_scheme: price.tiers ? 'tiered' : 'per_unit',
    usage_type: price.usage_type,
    is_active: price.minted_at !== null,
    provider_type: price.provider_type,
    meter_id: null,
    meter_event_name: null,
    meter_event_payload_key: null,
    nickname: null,
    created_at: at,
    updated_at: at,
  }
}

/** A product in full. */
export function productRecord(row: BillingProductRow, accountId: string): BillingProductRecord {
  const { id, environment_id, external_id, name, is_active, provider_type, created_at, updated_at } = row
  return {
    id,
    account_id: accountId,
    environment_id,
    external_id,
    name,
    is_active,
    provider_type,
    created_at: isoTime(created_at.getTime()),
    updated_at: isoTime(updated_at.getTime()),
  }
}

export function productView(row: BillingProductRow, accountId: string): BillingProduct {
  return {
    account_id: accountId,
    environment_id: row.environment_id,
    product_id: row.id,
    external_id: row.external_id,
    name: row.name,
    is_active: row.is_active,
    price: row.price,
    price_decimal: null,
    quantity: row.quantity,
    provider_type: row.provider_type,
    currency: null,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Prices of a plan by currency, in stored order (PB-43). */
export function planCurrencyPrices(prices: readonly StoredPrice[]): PlanCurrencyPrices[] {
  return byCurrency(prices).map(([currency, own]) => ({ currency, ...planPrices(own) }))
}

/** The prices of one currency, by cadence. */
export function planPrices(prices: readonly StoredPrice[]): Omit<PlanCurrencyPrices, 'currency'> {
  return Object.fromEntries(prices.map(price => [`${price.cadence}_price`, priceView(price)]))
}

/** Prices of an entitlement by currency. */
export function entitlementCurrencyPrices(
  prices: readonly StoredPrice[],
  soldAs: (price: StoredPrice) => SoldAs,
  sinceMs: number,
  sizes: ReadonlyMap<string, number>,
): EntitlementCurrencyPrices[] {
  return byCurrency(prices).map(([currency, own]) => ({
    currency,
    ...Object.fromEntries(
      own.map(price => [
        `${price.cadence}_price`,
        meteredPriceView(price, soldAs(price), sinceMs, sizes.get(price.id)),
      ]),
    ),
  }))
}

function byCurrency(prices: readonly StoredPrice[]): [currency: string, prices: StoredPrice[]][] {
  const found = new Map<string, StoredPrice[]>()
  for (const price of prices) {
    const others = found.get(price.currency)
    if (others) others.push(price)
    else found.set(price.currency, [price])
  }
  return [...found]
}

// Prices reduced to what billing needs, and the cost of a quantity.
import type {
  BillingPriceUsageType,
  BillingProductPriceInterval,
  BillingProviderType,
  BillingTiersMode,
} from '../../../schemas/enums.js'
import { intervalOf, priceTiers, type StoredPrice, type StoredTier } from '../../catalog/prices.js'
import { billedUnits, roundHalfUp, tieredAmount } from '../../core/pricing/price.js'
import { decimalOf, multiply, parseDecimal } from '../../core/values/amount.js'
import { type Quantity, readQuantity, storedQuantity } from '../../core/values/quantity.js'
import type { BillingPriceRow } from '../prices/rows.js'
import { intervalMonths, type SubscribedProduct } from './record-rows.js'

/** A price reduced to what billing needs. Amounts in the smallest unit. */
export interface SoldPrice {
  readonly id: string
  readonly productId: string
  readonly provider: BillingProviderType
  readonly currency: string
  readonly interval: BillingProductPriceInterval
  readonly intervalCount: number
  readonly price: Quantity
  readonly priceDecimal: string | null
  readonly tiers: readonly StoredTier[] | null
  readonly tiersMode: BillingTiersMode | null
  readonly usageType: BillingPriceUsageType
  /** Units sold together (PB-42). */
  readonly packageSize: number
}

/** A SoldPrice from a stored price and the provider of its product. */
export function soldBy(row: BillingPriceRow, provider: BillingProviderType): SoldPrice {
  return {
    id: row.id,
    productId: row.product_id,
    provider,
    currency: row.currency,
    interval: row.interval,
    intervalCount: row.interval_count,
    price: readQuantity(row.price),
    priceDecimal: row.price_decimal,
    tiers: row.price_tiers.length === 0 ? null : row.price_tiers,
    tiersMode: row.tiers_mode,
    usageType: row.usage_type,
    packageSize: row.package_size,
  }
}

/** A SoldPrice from a price as its version or entitlement keeps it. productId: '' where it has none yet, as in a draft. */
export function soldAs(stored: StoredPrice, productId: string): SoldPrice {
  const { interval, interval_count: intervalCount } = intervalOf(stored.cadence)
  return {
    id: stored.id,
    productId,
    provider: stored.provider_type,
    currency: stored.currency,
    interval,
    intervalCount,
    price: readQuantity(stored.price),
    priceDecimal: stored.price_decimal,
    tiers: stored.tiers,
    tiersMode: stored.tiers_mode,
    usageType: stored.usage_type,
    packageSize: 1,
  }
}

/** The product of a subscription that is sold at a price. */
export function subscribedProduct(price: SoldPrice, quantity: number): SubscribedProduct {
  return {
    product_id: price.productId,
    price_id: price.id,
    quantity,
    currency: price.currency,
    interval: price.interval,
    price: storedQuantity(price.price),
    price_decimal: price.priceDecimal,
    usage_type: price.usageType,
    package_size: price.packageSize,
    billing_threshold: null,
    meter_id: null,
    subscription_item_external_id: null,
  }
}

/** Cost of a quantity in the smallest unit, exact: it may be beyond 64 bits. Packages are billed whole. source: PB-40…42 */
export function amountOf(price: SoldPrice, quantity: number): Quantity {
  const units = billedUnits(quantity, price.packageSize)
  if (price.tiers) {
    const tiers = priceTiers({ tiers: price.tiers })!
    return tieredAmount(tiers, price.tiersMode ?? 'graduated', units).amount
  }
  const unit = parseDecimal(price.priceDecimal ?? String(price.price))!
  return roundHalfUp(multiply(unit, decimalOf(units)))
}

/** Months of one period of a price; null for a one-time price. */
export function monthsOf(price: SoldPrice): number | null {
  return price.interval === 'one-time' ? null : intervalMonths(price.interval) * price.intervalCount
}

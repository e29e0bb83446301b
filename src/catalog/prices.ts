// Prices as stored within a plan version or entitlement.
import type {
  BillingPriceUsageType,
  BillingProductPriceInterval,
  BillingProviderType,
  BillingTiersMode,
} from '../../schemas/enums.js'
import type { PriceTier } from '../core/model/definitions.js'
import { derivedId } from '../core/values/id.js'
import { quantityOrNull, readQuantity, type StoredQuantity } from '../core/values/quantity.js'

export const cadences = ['monthly', 'quarterly', 'yearly', 'one_time'] as const
export type Cadence = (typeof cadences)[number]

/** A tier as stored; `up_to` null on the last one. Amounts in the smallest unit. */
export interface StoredTier {
  readonly up_to: StoredQuantity | null
  readonly flat_amount: StoredQuantity
  readonly per_unit_price: StoredQuantity
  readonly per_unit_price_decimal: string | null
}

/**
 * A price of a version or entitlement. Until it is published it exists only in the draft (PB-5). Then, or if it was
 * named by id, it is also a row of billing_prices under the same id. Copies of the version keep it until it is
 * changed.
 */
export interface StoredPrice {
  readonly id: string
  readonly currency: string
  readonly cadence: Cadence
  /** In the smallest unit; `price_decimal` is exact and takes precedence (PB-41). */
  readonly price: StoredQuantity
  readonly price_decimal: string | null
  readonly tiers: readonly StoredTier[] | null
  readonly tiers_mode: BillingTiersMode | null
  readonly usage_type: BillingPriceUsageType
  readonly provider_type: BillingProviderType
  readonly external_id: string | null
  readonly product_id: string | null
  readonly minted_at: string | null
}

/** A price without an id. */
export type PriceTerms = Pick<
  StoredPrice,
  'currency' | 'cadence' | 'price' | 'price_decimal' | 'tiers' | 'tiers_mode' | 'usage_type'
>

/** Id of a draft's price, derived from its owner, currency and cadence, so that edits of the draft keep it. */
export function draftPriceId(ownerId: string, { currency, cadence }: PriceTerms): string {
  return derivedId('bilpp_', ownerId, currency, cadence)
}

/** Whether two prices cost the same. */
export function sameTerms(a: PriceTerms, b: PriceTerms): boolean {
  return JSON.stringify(termsOf(a)) === JSON.stringify(termsOf(b))
}

function termsOf(price: PriceTerms): readonly unknown[] {
  const tiers = price.tiers?.map(tier => [
    tier.up_to,
    tier.flat_amount,
    tier.per_unit_price,
    tier.per_unit_price_decimal,
  ])
  const { currency, cadence, price: amount, price_decimal, tiers_mode, usage_type } = price
  return [currency, cadence, amount, price_decimal, tiers ?? null, tiers_mode, usage_type]
}

/** Id of the default product of a plan, or of a feature of a plan. */
export function nativeProductId(environmentId: string, planId: string, featureId: string | null): string {
  return derivedId('bilp_', environmentId, planId, featureId ?? '')
}

/** The billing interval of a cadence. source: PB-42 */
export function intervalOf(cadence: Cadence): {
  readonly interval: BillingProductPriceInterval
  readonly interval_count: number
} {
  switch (cadence) {
    case 'monthly':
      return { interval: 'month', interval_count: 1 }
    case 'quarterly':
      return { interval: 'month', interval_count: 3 }
    case 'yearly':
      return { interval: 'year', interval_count: 1 }
    case 'one_time':
      return { interval: 'one-time', interval_count: 1 }
  }
}

/** Months of one period of a cadence; null for a one-time price. */
export function cadenceMonths(cadence: Cadence): number | null {
  const { interval, interval_count: count } = intervalOf(cadence)
  if (interval === 'one-time') return null
  return interval === 'year' ? 12 * count : count
}

/** The cadence of a billing price, or null if plans have no such cadence. */
export function cadenceOf(interval: BillingProductPriceInterval, count: number): Cadence | null {
  return (
    cadences.find(cadence => {
      const known = intervalOf(cadence)
      return known.interval === interval && known.interval_count === count
    }) ?? null
  )
}

/**
 * The price that limits and amounts are computed with: in the version's currency if there is one, of the shortest
 * cadence.
 */
export function leadingPrice(prices: readonly StoredPrice[], currency: string): StoredPrice | null {
  const own = prices.filter(price => price.currency === currency)
  const among = own.length > 0 ? own : prices
  for (const cadence of cadences) {
    const found = among.find(price => price.cadence === cadence)
    if (found) return found
  }
  return null
}

/** Tiers in the core's form; null for none. */
export function priceTiers(price: Pick<StoredPrice, 'tiers'> | null): readonly PriceTier[] | null {
  if (!price?.tiers || price.tiers.length === 0) return null
  return price.tiers.map(tier => ({
    upTo: quantityOrNull(tier.up_to),
    flatAmount: readQuantity(tier.flat_amount),
    perUnitPrice: readQuantity(tier.per_unit_price),
    perUnitPriceDecimal: tier.per_unit_price_decimal,
  }))
}

/** The price of one unit as decimal text; null for a tiered price, and without a price. */
export function unitPriceDecimal(price: StoredPrice | null): string | null {
  if (!price || price.tiers) return null
  return price.price_decimal ?? String(price.price)
}

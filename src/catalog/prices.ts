// How prices lie in Postgres, within the plan version or entitlement they belong to.
import type {
  BillingPriceUsageType,
  BillingProductPriceInterval,
  BillingProviderType,
  BillingTiersMode,
} from '../../schemas/enums.js'
import type { PriceTier } from '../core/catalog.js'
import { derivedId } from '../core/id.js'

export const cadences = ['monthly', 'quarterly', 'yearly', 'one_time'] as const
export type Cadence = (typeof cadences)[number]

/** A tier as stored; `up_to` null on the last one. Amounts in the smallest unit. */
export interface StoredTier {
  readonly up_to: number | null
  readonly flat_amount: number
  readonly per_unit_price: number
  readonly per_unit_price_decimal: string | null
}

/**
 * A price of a version or entitlement. One that is not minted is a draft's (PB-5); minted or named from elsewhere it
 * is also a row of billing_prices under the same id, and copies of the version keep it until it is changed.
 */
export interface StoredPrice {
  readonly id: string
  readonly currency: string
  readonly cadence: Cadence
  /** In the smallest unit; `price_decimal` carries what is finer and wins (PB-41). */
  readonly price: number
  readonly price_decimal: string | null
  readonly tiers: readonly StoredTier[] | null
  readonly tiers_mode: BillingTiersMode | null
  readonly usage_type: BillingPriceUsageType
  readonly provider_type: BillingProviderType
  readonly external_id: string | null
  readonly product_id: string | null
  readonly minted_at: string | null
}

/** A price as it is stated, before it has an identity. */
export type PriceTerms = Pick<
  StoredPrice,
  'currency' | 'cadence' | 'price' | 'price_decimal' | 'tiers' | 'tiers_mode' | 'usage_type'
>

/** Id of a draft's price: worked out from where it stands, so that it stays the same while the draft is edited. */
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

/** The product a plan, or what it grants of one feature, is sold as when nobody named another. */
export function nativeProductId(environmentId: string, planId: string, featureId: string | null): string {
  return derivedId('bilp_', environmentId, planId, featureId ?? '')
}

/** PB-42. */
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

/** Months of one period of a cadence; null for what is paid once. */
export function cadenceMonths(cadence: Cadence): number | null {
  const { interval, interval_count: count } = intervalOf(cadence)
  if (interval === 'one-time') return null
  return interval === 'year' ? 12 * count : count
}

/** The cadence that a billing price has, or null for one that plans do not know. */
export function cadenceOf(interval: BillingProductPriceInterval, count: number): Cadence | null {
  return (
    cadences.find(cadence => {
      const known = intervalOf(cadence)
      return known.interval === interval && known.interval_count === count
    }) ?? null
  )
}

/** The price by which limits and amounts are told: in the version's currency if there is one, the shortest cadence. */
export function leadingPrice(prices: readonly StoredPrice[], currency: string): StoredPrice | null {
  const own = prices.filter(price => price.currency === currency)
  const among = own.length > 0 ? own : prices
  for (const cadence of cadences) {
    const found = among.find(price => price.cadence === cadence)
    if (found) return found
  }
  return null
}

/** Tiers as the core takes them; null for none. */
export function priceTiers(price: Pick<StoredPrice, 'tiers'> | null): readonly PriceTier[] | null {
  if (!price?.tiers || price.tiers.length === 0) return null
  return price.tiers.map(tier => ({
    upTo: tier.up_to,
    flatAmount: tier.flat_amount,
    perUnitPrice: tier.per_unit_price,
    perUnitPriceDecimal: tier.per_unit_price_decimal,
  }))
}

/** What one unit costs, as decimal text; null where tiers say it, and without price. */
export function unitPriceDecimal(price: StoredPrice | null): string | null {
  if (!price || price.tiers) return null
  return price.price_decimal ?? String(price.price)
}

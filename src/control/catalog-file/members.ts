// Members of a catalogue's objects in their one form.
import type { CatalogFeature, CatalogPrice, CatalogQuantity, CatalogTier } from '../../../schemas/catalog.js'
import type { BillingPriceUsageType } from '../../../schemas/enums.js'
import { cadences } from '../../catalog/prices.js'
import { quantityFromText, storedQuantity } from '../../core/values/quantity.js'
import { inOrder } from '../../core/values/text-order.js'
import { wholePrice } from '../prices/whole-price.js'
import { referencesOf } from './references.js'

/** Types of features by reference: what an entitlement means depends on them. */
export type FeatureTypes = ReadonlyMap<string, CatalogFeature['feature_type']>

/** The default of each member, in the order in which members are written; null: none. */
type Table<T> = { readonly [Member in keyof Required<T>]: unknown }

/** An object with the members of a table, in its order, without those that have their default. */
export function plain<T extends object>(given: T, table: Table<T>): T {
  const made: Record<string, unknown> = {}
  for (const [member, usual] of Object.entries(table)) {
    const value = given[member as keyof T] as unknown
    const isAbsent = value == null || value === usual || (Array.isArray(value) && value.length === 0)
    if (!isAbsent) made[member] = value
  }
  return made as T
}

/** Sorted by a text; equal ones keep their order, which tells them apart. */
export function sorted<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items.toSorted((a, b) => inOrder(textOf(a), textOf(b)))
}

/** Named objects with their references. */
export function labelled<T extends { readonly name: string }>(
  items: readonly T[],
): (readonly [ref: string, item: T])[] {
  const refs = referencesOf(items.map(item => item.name))
  return items.map((item, i) => [refs[i]!, item] as const)
}

/** A number while it is safe, else decimal text. */
export function quantity(given: CatalogQuantity): CatalogQuantity {
  return typeof given === 'string' ? storedQuantity(quantityFromText(given)) : given
}

export function quantityOrNone(given: CatalogQuantity | null | undefined): CatalogQuantity | null {
  return given == null ? null : quantity(given)
}

const priceTable = {
  currency: null,
  cadence: 'one_time',
  price: null,
  price_decimal: null,
  tiers: null,
  tiers_mode: 'graduated',
  usage_type: null,
  provider: null,
  external_id: null,
} as const

const tierTable = {
  up_to: null,
  flat_amount: 0,
  per_unit_price: 0,
  per_unit_price_decimal: null,
} as const

/** A tier. The decimal amount wins, so the whole one beside it says nothing (PB-41). */
export function tier(given: CatalogTier): CatalogTier {
  return plain(
    {
      up_to: quantityOrNone(given.up_to),
      flat_amount: quantityOrNone(given.flat_amount),
      per_unit_price: given.per_unit_price_decimal == null ? quantityOrNone(given.per_unit_price) : null,
      per_unit_price_decimal: given.per_unit_price_decimal,
    },
    tierTable,
  )
}

/** A price. `usual`: the usage type that its owner implies. A provider's price is named, its terms are not repeated. */
export function price(given: CatalogPrice, usual: BillingPriceUsageType): CatalogPrice {
  const { currency, cadence } = given
  if (given.provider != null && given.provider !== 'native')
    return plain(
      { currency, cadence, provider: given.provider, external_id: given.external_id },
      priceTable as never,
    )
  const tiers = given.tiers?.map(tier) ?? []
  const amount = quantityOrNone(given.price)
  return plain<CatalogPrice>(
    {
      currency,
      cadence,
      price:
        given.price_decimal != null
          ? null
          : tiers.length > 0 && (amount === 0 || amount === null)
            ? null
            : (amount ?? 0),
      price_decimal: given.price_decimal,
      tiers,
      tiers_mode: tiers.length > 0 ? given.tiers_mode : null,
      usage_type: given.usage_type === usual ? null : given.usage_type,
      provider: null,
      external_id: null,
    },
    priceTable,
  )
}

/** Prices of one owner by currency and cadence. */
export function prices(
  given: readonly CatalogPrice[] | null | undefined,
  usual: BillingPriceUsageType,
): CatalogPrice[] {
  return sorted(
    (given ?? []).map(one => price(one, usual)),
    one => `${one.currency} ${cadences.indexOf(one.cadence ?? 'one_time')}`,
  )
}

/** The whole amount that a price shows beside its decimal. errors: 400 beyond 64 bits. */
export function wholeOf(amount: CatalogQuantity | null | undefined, decimal: string | null | undefined) {
  const given = amount == null ? null : typeof amount === 'string' ? quantityFromText(amount) : amount
  return storedQuantity(wholePrice(given, decimal ?? null))
}

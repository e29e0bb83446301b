// Price arithmetic: tiers (graduated, volume), overage, exact amounts of money.
import type { BillingTiersMode } from '../../../schemas/enums.js'
import type { EntitlementDef, PriceTier } from '../model/definitions.js'
import { type Decimal, decimalOf, decimalToText, multiply, parseDecimal, sum } from '../values/amount.js'
import { addQuantity, type Quantity, quantityOf, subtractQuantity } from '../values/quantity.js'

/** A number or decimal text, exactly. Throws on other text: the schema has excluded it. */
function exact(value: Quantity | string): Decimal {
  if (typeof value === 'bigint') return { units: value, scale: 0 }
  const decimal = typeof value === 'number' ? decimalOf(value) : parseDecimal(value)
  if (decimal === null) throw new RangeError(`not a decimal: ${value}`)
  return decimal
}

/** An amount of money in the smallest unit: exact, and rounded half-up (PB-41). */
export interface Price {
  readonly decimal: string
  readonly amount: Quantity
}

function priced(price: Decimal): Price {
  return { decimal: decimalToText(price), amount: roundHalfUp(price) }
}

/** The nearest whole number, exact however large; halves go away from zero. */
export function roundHalfUp({ units, scale }: Decimal): Quantity {
  const whole = 10n ** BigInt(scale)
  const doubled = units * 2n + (units < 0n ? -whole : whole)
  return quantityOf(doubled / (whole * 2n)) // bigint division drops the fraction
}

/** The unit price of a tier; the decimal wins where both are given (PB-41). */
function tierUnitPrice(tier: PriceTier): Decimal {
  return exact(tier.perUnitPriceDecimal ?? tier.perUnitPrice)
}

/** The tier that holds the n-th unit; beyond a last tier that is closed, that one. */
function tierOf(tiers: readonly PriceTier[], unit: Quantity): PriceTier | null {
  return tiers.find(tier => tier.upTo === null || unit <= tier.upTo) ?? tiers.at(-1) ?? null
}

/**
 * Cost of a quantity under price tiers.
 *
 * tiers    ascending, `upTo` inclusive, the last one open; amounts in the smallest unit.
 * returns  the amount in the smallest unit; 0 for a quantity of 0 or less.
 * source   PB-40, PB-41.
 */
export function tieredAmount(tiers: readonly PriceTier[], mode: BillingTiersMode, quantity: Quantity): Price {
  if (quantity <= 0 || tiers.length === 0) return priced(nothing)
  if (mode === 'volume') {
    const tier = tierOf(tiers, quantity)!
    return priced(charge(tier, quantity))
  }
  let total = nothing
  let below: Quantity = 0
  for (const [i, tier] of tiers.entries()) {
    if (quantity <= below) break
    const last = tier.upTo === null || i === tiers.length - 1
    const upTo: Quantity = last || quantity < tier.upTo ? quantity : tier.upTo
    total = sum(total, charge(tier, subtractQuantity(upTo, below)))
    below = upTo
  }
  return priced(total)
}

const nothing: Decimal = { units: 0n, scale: 0 }

function charge(tier: PriceTier, units: Quantity): Decimal {
  return sum(exact(tier.flatAmount), multiply(tierUnitPrice(tier), exact(units)))
}

/** Units billed when prices are per package: whole packages (PB-42). */
export function billedUnits(quantity: number, packageSize: number): number {
  return Math.ceil(quantity / packageSize)
}

/** Overuse of an overage feature, and its price. */
export interface Overage extends Price {
  readonly overuse: Quantity
  readonly access: boolean
  readonly effectiveLimit: Quantity
  readonly percentUsed: number
}

/**
 * Overage: the soft limit is included, the rest is billed by unit, a hard limit denies.
 *
 * unitPrice  in the smallest unit, number or decimal text.
 * source     EN-31, US-6.
 */
export function overage(
  usage: Quantity,
  softLimit: Quantity,
  unitPrice: number | string,
  hardLimit: Quantity | null,
): Overage {
  const over = overuse(usage, softLimit)
  return {
    ...priced(multiply(exact(unitPrice), exact(over))),
    overuse: over,
    access: hardLimit === null || usage < hardLimit,
    effectiveLimit: softLimit,
    percentUsed: percentUsed(usage, softLimit),
  }
}

/** Units past the soft limit (US-6). */
export function overuse(usage: Quantity, softLimit: Quantity): Quantity {
  return usage > softLimit ? subtractQuantity(usage, softLimit) : 0
}

/** usage ÷ limit × 100, may exceed 100; a limit of 0 is unused (0) or used up (100) (US-6). */
export function percentUsed(usage: Quantity, limit: Quantity): number {
  if (limit === 0) return usage > 0 ? 100 : 0
  return (Number(usage) * 100) / Number(limit)
}

/** The next tier boundary above a usage, or null in the last tier (EN-32). */
export function nextTierBoundary(tiers: readonly PriceTier[], usage: Quantity): Quantity | null {
  return tiers.find(tier => tier.upTo === null || usage < tier.upTo)?.upTo ?? null
}

/**
 * Price of the next unit, in the smallest unit of money, or null where units have no price.
 *
 * Overage: 0 within the soft limit, then its price (by tiers, counted from the soft limit, where it has them).
 * Tier: the price of the tier of usage + 1. Pay as you go: its unit price. Pay in advance: null, as its units are
 * bought before (source: decision, US-6 names the first two).
 * source  US-6.
 */
export function effectivePrice(
  entitlement: Pick<EntitlementDef, 'priceBehavior' | 'softLimit' | 'tiers' | 'unitPriceDecimal'>,
  usage: Quantity,
): number | null {
  const { priceBehavior, softLimit, tiers, unitPriceDecimal } = entitlement
  const included = priceBehavior === 'overage' ? (softLimit ?? 0) : 0
  if (priceBehavior !== 'overage' && priceBehavior !== 'tier' && priceBehavior !== 'pay_as_you_go')
    return null
  if (usage < included) return 0
  if (tiers !== null && tiers.length > 0) {
    const tier = tierOf(tiers, addQuantity(overuse(usage, included), 1))!
    return Number(tier.perUnitPriceDecimal ?? tier.perUnitPrice)
  }
  return unitPriceDecimal === null ? null : Number(unitPriceDecimal)
}

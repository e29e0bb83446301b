// Price arithmetic: exact decimals, tiers (graduated, volume), overage.
import type { BillingTiersMode } from '../../schemas/enums.js'
import type { EntitlementDef, PriceTier } from './catalog.js'

/** An exact decimal: digits ÷ 10^scale. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const decimalText = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/**
 * A number or decimal text, exactly: a double stands for the shortest decimal that reads back to it.
 *
 * errors  throws on a text that is no decimal, and on NaN and infinities: the door has checked them.
 */
export function decimal(value: number | string): Decimal {
  const match = decimalText.exec(String(value))
  const [, sign, whole = '', fraction = '', exponent = '0'] = match ?? []
  if (!match || (whole === '' && fraction === '')) throw new Error(`not a decimal: ${value}`)
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** The decimal in units of 10^-places, rounded where finer. */
export function toUnits(value: Decimal, places: number, rounding: 'half_even' | 'half_up'): bigint {
  if (value.scale <= places) return value.digits * 10n ** BigInt(places - value.scale)
  const by = 10n ** BigInt(value.scale - places)
  const negative = value.digits < 0n
  const size = negative ? -value.digits : value.digits
  const [whole, rest] = [size / by, size % by]
  const up = rest * 2n > by || (rest * 2n === by && (rounding === 'half_up' || whole % 2n === 1n))
  const rounded = up ? whole + 1n : whole
  return negative ? -rounded : rounded
}

/** quantity × rate in billionths of a credit, exact, then rounded half-even (CR-2). */
export function creditCost(rate: Decimal, quantity: number): bigint {
  return toUnits({ digits: rate.digits * BigInt(quantity), scale: rate.scale }, 9, 'half_even')
}

/** Billionths of a credit as the double nearest to them: what JSON shows (CR-2). */
export function creditNumber(nanos: bigint): number {
  const near = Number(nanos)
  return Number.isSafeInteger(near) ? near / 1e9 : Number(decimalString({ digits: nanos, scale: 9 }))
}

/** Plain text of a decimal, without trailing zeros. */
export function decimalString(value: Decimal): string {
  const negative = value.digits < 0n
  const digits = (negative ? -value.digits : value.digits).toString().padStart(value.scale + 1, '0')
  const whole = digits.slice(0, digits.length - value.scale)
  const fraction = digits.slice(digits.length - value.scale).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** An amount of money in the smallest unit: exact, and rounded half-up (PB-41). */
export interface Amount {
  readonly decimal: string
  readonly amount: number
}

function amountOf(exact: Decimal): Amount {
  return { decimal: decimalString(exact), amount: Number(toUnits(exact, 0, 'half_up')) }
}

/** The unit price of a tier; the decimal wins where both are given (PB-41). */
export function tierUnitPrice(tier: PriceTier): Decimal {
  return decimal(tier.perUnitPriceDecimal ?? tier.perUnitPrice)
}

/** The tier that holds the n-th unit; beyond a last tier that is closed, that one. */
export function tierOf(tiers: readonly PriceTier[], unit: number): PriceTier | null {
  return tiers.find(tier => tier.upTo === null || unit <= tier.upTo) ?? tiers.at(-1) ?? null
}

/**
 * What a quantity costs under price tiers.
 *
 * tiers    ascending, `upTo` inclusive, the last one open; amounts in the smallest unit.
 * returns  the amount in the smallest unit; 0 for a quantity of 0 or less.
 * source   PB-40, PB-41.
 */
export function tieredAmount(tiers: readonly PriceTier[], mode: BillingTiersMode, quantity: number): Amount {
  if (quantity <= 0 || tiers.length === 0) return amountOf(decimal(0))
  if (mode === 'volume') {
    const tier = tierOf(tiers, quantity)!
    return amountOf(charge(tier, quantity))
  }
  let total = decimal(0)
  let below = 0
  for (const [i, tier] of tiers.entries()) {
    if (quantity <= below) break
    const last = tier.upTo === null || i === tiers.length - 1
    const upTo = last ? quantity : Math.min(quantity, tier.upTo)
    total = add(total, charge(tier, upTo - below))
    below = upTo
  }
  return amountOf(total)
}

function charge(tier: PriceTier, units: number): Decimal {
  const price = tierUnitPrice(tier)
  return add(decimal(tier.flatAmount), { digits: price.digits * BigInt(units), scale: price.scale })
}

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const lift = (d: Decimal) => d.digits * 10n ** BigInt(scale - d.scale)
  return { digits: lift(a) + lift(b), scale }
}

/** Units billed when prices are per package: whole packages (PB-42). */
export function billedUnits(quantity: number, packageSize: number): number {
  return Math.ceil(quantity / packageSize)
}

/** Where a use of an overage feature stands. */
export interface Overage extends Amount {
  readonly overuse: number
  readonly access: boolean
  readonly effectiveLimit: number
  readonly percentUsed: number
}

/**
 * Overage: the soft limit is included, the rest is billed by unit, a hard limit denies.
 *
 * unitPrice  in the smallest unit, number or decimal text.
 * source     EN-31, US-6.
 */
export function overage(
  usage: number,
  softLimit: number,
  unitPrice: number | string,
  hardLimit: number | null,
): Overage {
  const over = overuse(usage, softLimit)
  const price = decimal(unitPrice)
  return {
    ...amountOf({ digits: price.digits * BigInt(over), scale: price.scale }),
    overuse: over,
    access: hardLimit === null || usage < hardLimit,
    effectiveLimit: softLimit,
    percentUsed: percentUsed(usage, softLimit),
  }
}

/** Units past the soft limit (US-6). */
export function overuse(usage: number, softLimit: number): number {
  return Math.max(0, usage - softLimit)
}

/** usage ÷ limit × 100, may exceed 100; a limit of 0 is unused (0) or used up (100) (US-6). */
export function percentUsed(usage: number, limit: number): number {
  if (limit === 0) return usage > 0 ? 100 : 0
  return (usage * 100) / limit
}

/** The next tier boundary above a usage, or null in the last tier (EN-32). */
export function nextTierBoundary(tiers: readonly PriceTier[], usage: number): number | null {
  return tiers.find(tier => tier.upTo === null || usage < tier.upTo)?.upTo ?? null
}

/**
 * What the next unit costs, in the smallest unit, or null where units have no price.
 *
 * Overage: 0 within the soft limit, then its price (by tiers, counted from the soft limit, where it has them).
 * Tier: the price of the tier of usage + 1. Pay as you go: its unit price. Pay in advance: null, as its units are
 * bought before (source: decision, US-6 names the first two).
 * source  US-6.
 */
export function effectivePrice(
  entitlement: Pick<EntitlementDef, 'priceBehavior' | 'softLimit' | 'tiers' | 'unitPriceDecimal'>,
  usage: number,
): number | null {
  const { priceBehavior, softLimit, tiers, unitPriceDecimal } = entitlement
  const included = priceBehavior === 'overage' ? (softLimit ?? 0) : 0
  if (priceBehavior !== 'overage' && priceBehavior !== 'tier' && priceBehavior !== 'pay_as_you_go')
    return null
  if (usage < included) return 0
  if (tiers !== null && tiers.length > 0) {
    const price = tierUnitPrice(tierOf(tiers, Math.max(0, usage - included) + 1)!)
    return Number(decimalString(price))
  }
  return unitPriceDecimal === null ? null : Number(decimalString(decimal(unitPriceDecimal)))
}

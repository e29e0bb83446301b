// The cost of a quantity: tiers, flat fees, packages. Exact.
import type { PriceTier } from '../model/definitions.js'
import { type Fraction, fractionOf, fractionText, minus, plus, times, zero } from './fraction.js'
import type { RatedPrice, TierPart } from './line.js'

/** Whole packages; 0 for nothing and for less. source: PB-42, RA-4 */
function packagesOf(units: bigint, packageSize: number): bigint {
  if (units <= 0n) return 0n
  const size = BigInt(packageSize)
  return (units + size - 1n) / size
}

/**
 * The cost of a quantity under a price, in the smallest unit.
 *
 * units    0 or less costs nothing, flat fees included.
 * source   RA-3, RA-4, PB-40, PB-42. Tiers count packages where a price sells them.
 */
export function costOfUnits(price: RatedPrice, units: bigint): Fraction {
  return partsOf(price, units).reduce<Fraction>((all, { exact }) => plus(all, exact), zero)
}

/**
 * The tiers that a quantity went through after another quantity was already rated with the same price.
 *
 * source  RA-7: tiers go on counting through segments of the same price.
 */
export function tierParts(price: RatedPrice, before: bigint, after: bigint): TierPart[] {
  if (price.tiers === null || price.tiers.length === 0) return []
  const had = partsOf(price, before)
  return partsOf(price, after).flatMap(({ tier, units, exact }) => {
    const was = price.mode === 'volume' ? undefined : had.find(one => one.tier === tier)
    const more = units - (was?.units ?? 0n)
    if (more === 0n) return []
    return [
      {
        upTo: tier.upTo === null ? null : String(tier.upTo),
        units: more,
        unit: unitOf(tier),
        flat: was ? '0' : String(tier.flatAmount),
        amount: fractionText(minus(exact, was?.exact ?? zero)),
      },
    ]
  })
}

interface Part {
  readonly tier: PriceTier
  readonly units: bigint
  readonly exact: Fraction
}

function partsOf(price: RatedPrice, units: bigint): Part[] {
  const billed = packagesOf(units, price.packageSize)
  if (billed === 0n) return []
  const tiers = price.tiers ?? []
  if (tiers.length === 0) return [part({ ...open, perUnitPriceDecimal: price.unit }, billed)]
  if (price.mode === 'volume') {
    const tier = tiers.find(({ upTo }) => upTo === null || billed <= upTo) ?? tiers.at(-1)!
    return [part(tier, billed)]
  }
  const parts: Part[] = []
  let below = 0n
  for (const [i, tier] of tiers.entries()) {
    if (billed <= below) break
    const isLast = tier.upTo === null || i === tiers.length - 1
    const upTo = isLast || billed < BigInt(tier.upTo) ? billed : BigInt(tier.upTo)
    parts.push(part(tier, upTo - below))
    below = upTo
  }
  return parts
}

const open: PriceTier = { upTo: null, flatAmount: 0, perUnitPrice: 0, perUnitPriceDecimal: null }

function part(tier: PriceTier, units: bigint): Part {
  const exact = plus(
    fractionOf(String(tier.flatAmount)),
    times(fractionOf(unitOf(tier)), { n: units, d: 1n }),
  )
  return { tier, units, exact }
}

/** The decimal wins where both are given (PB-41). */
function unitOf(tier: PriceTier): string {
  return tier.perUnitPriceDecimal ?? String(tier.perUnitPrice)
}

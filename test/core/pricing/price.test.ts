// Price arithmetic: tiers, overage, decimals (PB-40…42, EN-31, EN-32, US-6, CR-2).
import t from 'tap'
import type { BillingTiersMode } from '../../../schemas/enums.js'
import type { PriceTier } from '../../../src/core/model/definitions.js'
import {
  billedUnits,
  effectivePrice,
  nextTierBoundary,
  overage,
  percentUsed,
  tieredAmount,
} from '../../../src/core/pricing/price.js'
import { vectors } from '../vectors.js'

interface TierCase {
  readonly input: {
    readonly tiers_mode: BillingTiersMode
    readonly quantity: number
    readonly price_tier: readonly {
      readonly up_to: number | null
      readonly flat_amount: number
      readonly per_unit_price: number
    }[]
  }
  readonly expected: { readonly amount: number }
}

const tier = (
  upTo: number | null,
  flatAmount: number,
  perUnitPrice: number,
  decimalPrice: string | null = null,
): PriceTier => ({ upTo, flatAmount, perUnitPrice, perUnitPriceDecimal: decimalPrice })

t.test('price_tiers conformance', async t => {
  for (const { id, input, expected } of vectors<TierCase>('price_tiers')) {
    const tiers = input.price_tier.map(one => tier(one.up_to, one.flat_amount, one.per_unit_price))
    t.equal(tieredAmount(tiers, input.tiers_mode, input.quantity).amount, expected.amount, id)
  }
})

interface OverageCase {
  readonly input: {
    readonly usage: number
    readonly soft_limit: number
    readonly unit_price: number
    readonly hard_limit: number | null
  }
  readonly expected: Readonly<Record<string, unknown>>
}

t.test('overage conformance', async t => {
  for (const { id, input, expected } of vectors<OverageCase>('overage')) {
    const { overuse, amount, access, effectiveLimit, percentUsed } = overage(
      input.usage,
      input.soft_limit,
      input.unit_price,
      input.hard_limit,
    )
    t.strictSame(
      { overuse, amount, access, effective_limit: effectiveLimit, percent_used: percentUsed },
      expected,
      id,
    )
  }
})

t.test('PB-41 the decimal is exact and wins; the integer is it rounded half-up', async t => {
  const tiers = [tier(null, 0, 7, '0.005')]
  t.same(tieredAmount(tiers, 'graduated', 100), { decimal: '0.5', amount: 1 })
  t.same(tieredAmount(tiers, 'volume', 99), { decimal: '0.495', amount: 0 })
  t.same(tieredAmount([tier(null, 0, 0, '0.1')], 'volume', 3), { decimal: '0.3', amount: 0 })
})

t.test('PB-40 a quantity of 0 charges 0, also with a flat amount', async t => {
  t.equal(tieredAmount([tier(null, 500, 1)], 'volume', 0).amount, 0)
  t.equal(tieredAmount([tier(null, 500, 1)], 'graduated', -3).amount, 0)
})

t.test('PB-42 packages are billed whole', async t => {
  t.same(
    [0, 1, 10, 11].map(quantity => billedUnits(quantity, 10)),
    [0, 1, 1, 2],
  )
})

t.test('PB-41 a price text that is no decimal is our bug', async t => {
  t.throws(() => overage(2, 1, 'abc', null), RangeError)
  t.same(overage(4, 1, '0.5', null), {
    decimal: '1.5',
    amount: 2,
    overuse: 3,
    access: true,
    effectiveLimit: 1,
    percentUsed: 400,
  })
})

t.test('US-6 percent of a limit of 0', async t => {
  t.equal(percentUsed(0, 0), 0)
  t.equal(percentUsed(1, 0), 100)
  t.equal(percentUsed(150, 100), 150)
})

t.test('EN-32 the next tier boundary is above the usage', async t => {
  const tiers = [tier(100, 0, 10), tier(200, 0, 5), tier(null, 0, 1)]
  t.same(
    [0, 99, 100, 199, 200, 9_999].map(usage => nextTierBoundary(tiers, usage)),
    [100, 100, 200, 200, null, null],
  )
})

t.test('US-6 the effective price is that of the next unit', async t => {
  const tiers = [tier(100, 0, 10), tier(null, 0, 5, '4.5')]
  const tiered = { priceBehavior: 'tier', softLimit: null, tiers, unitPriceDecimal: null } as const
  t.equal(effectivePrice(tiered, 99), 10, 'the 100th unit')
  t.equal(effectivePrice(tiered, 100), 4.5, 'the 101st unit')
  const over = { priceBehavior: 'overage', softLimit: 500, tiers: null, unitPriceDecimal: '2' } as const
  t.equal(effectivePrice(over, 499), 0)
  t.equal(effectivePrice(over, 500), 2)
  t.equal(effectivePrice({ ...over, tiers }, 599), 10, 'tiers of an overage count from the soft limit')
  t.equal(effectivePrice({ ...over, priceBehavior: 'pay_as_you_go' }, 0), 2)
  t.equal(effectivePrice({ ...over, priceBehavior: 'pay_in_advance' }, 0), null)
  t.equal(effectivePrice({ ...over, priceBehavior: null }, 0), null)
})

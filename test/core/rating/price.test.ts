// Worked prices of rating: tiers, packages, rounding, discounts of an amount.
import t from 'tap'
import { discountLines } from '../../../src/core/rating/discount.js'
import { fractionOf, fractionText, roundHalfUp } from '../../../src/core/rating/fraction.js'
import type { ChargeLine, RatedPrice } from '../../../src/core/rating/line.js'
import { costOfUnits, tierParts } from '../../../src/core/rating/price.js'
import { ratePeriod } from '../../../src/core/rating/rate.js'
import { UsageTable } from '../../../src/core/rating/usage.js'
import { factsOf, randomWorld } from '../../laws/rating-world.js'
import { Random } from '../../random.js'
import { ratedPrice } from '../make.js'

const tiers = [
  { upTo: 100, flatAmount: 10, perUnitPrice: 1, perUnitPriceDecimal: '1.00' },
  { upTo: 200, flatAmount: 9, perUnitPrice: 1, perUnitPriceDecimal: '0.90' },
  { upTo: 300, flatAmount: 8, perUnitPrice: 1, perUnitPriceDecimal: '0.80' },
  { upTo: null, flatAmount: 7, perUnitPrice: 1, perUnitPriceDecimal: '0.70' },
]
const price = (more: Partial<RatedPrice>): RatedPrice => ratedPrice({ tiers, mode: 'volume', ...more })
const cost = (of: RatedPrice, units: bigint): string => fractionText(costOfUnits(of, units))

t.test(
  'RA-3 tiers: up_to is inclusive, each tier reached charges its flat fee, zero units nothing',
  async t => {
    t.equal(cost(price({}), 150n), '144')
    t.equal(cost(price({ mode: 'graduated' }), 150n), '164')
    t.equal(cost(price({ mode: 'graduated' }), 100n), '110')
    t.equal(cost(price({}), 100n), '110')
    t.equal(cost(price({}), 0n), '0')
    t.equal(cost(price({}), -5n), '0')
    const parts = tierParts(price({ mode: 'graduated' }), 90n, 150n)
    t.same(
      parts.map(({ units, flat, amount }) => [units, flat, amount]),
      [
        [10n, '0', '10'],
        [50n, '9', '54'],
      ],
    )
  },
)

t.test('RA-4 packages round up', async t => {
  const sold = price({ tiers: null, unit: '250', packageSize: 10 })
  t.equal(cost(sold, 1n), '250')
  t.equal(cost(sold, 10n), '250')
  t.equal(cost(sold, 11n), '500')
})

t.test('RA-2 halves go away from zero; a share that is no decimal shows twelve digits', async t => {
  t.equal(roundHalfUp(fractionOf('2.5')), 3n)
  t.equal(roundHalfUp(fractionOf('-2.5')), -3n)
  t.equal(roundHalfUp(fractionOf('2.4999')), 2n)
  t.equal(fractionText({ n: -1n, d: 3n }), '-0.333333333333')
})

t.test(
  'RA-15 a change falls due with the closing, or at once where the plan group invoices at once',
  async t => {
    const world = { ...randomWorld(new Random(1)), prorates: true, percentOff: null, events: [] }
    const startMs = Date.UTC(2026, 2, 31)
    const phase = {
      atMs: startMs,
      versionId: 'v0',
      addOn: null,
      seats: 1,
      isTrial: false,
      isOver: false,
      anchorMs: startMs,
      isUnprorated: false,
    }
    const changeMs = Date.UTC(2026, 3, 15)
    const phases = [phase, { ...phase, atMs: changeMs, seats: 3 }]
    const facts = factsOf({ ...world, months: 1, startMs, phases }, Date.UTC(2026, 4, 1))
    const endMs = Date.UTC(2026, 3, 30)
    const period = { startMs, endMs, subscriptionId: 'sub', anchorMs: startMs }
    const due = (atOnce: boolean) =>
      ratePeriod({ ...facts, invoicesAtOnce: atOnce }, period, new UsageTable([]), endMs)
        .lines.filter(line => line.proration !== null)
        .map(({ dueMs, amount }) => [dueMs, amount])
    // two seats more at 300.5, for 15 days of 30
    t.same(due(false), [[endMs, 301n]])
    t.same(due(true), [[changeMs, 301n]])
  },
)

t.test('RA-16 an amount off is at most what is left to pay', async t => {
  const startMs = Date.UTC(2026, 0, 1)
  const period = { startMs, endMs: Date.UTC(2026, 1, 1), subscriptionId: 's', anchorMs: startMs }
  const line = {
    kind: 'recurring',
    subscriptionId: 's',
    currency: 'usd',
    amount: 500n,
    fromMs: startMs,
  } as ChargeLine
  const off = (amountOff: bigint) =>
    discountLines(
      [
        {
          couponId: 'c',
          subscriptionId: 's',
          fromMs: startMs,
          untilMs: null,
          percentOff: null,
          amountOff,
          currency: null,
        },
      ],
      period,
      [line],
    )
  const left = (discount: bigint) => [line, ...off(discount)].reduce((sum, { amount }) => sum + amount, 0n)
  t.equal(left(200n), 300n)
  t.equal(left(900n), 0n, 'never more than there is to pay')
})

t.test('RA-16 a late correction has the discounts of its window', async t => {
  const [startMs, middleMs, endMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 15), Date.UTC(2026, 1, 1)]
  const used = {
    subscriptionId: 's',
    currency: 'usd',
    quantity: { n: -1n, d: 1n },
    exact: { n: -400n, d: 1n },
    amount: -400n,
  }
  const line = { ...used, kind: 'correction', of: 'usage', fromMs: startMs, untilMs: endMs } as ChargeLine
  const period = { startMs: endMs, endMs: Date.UTC(2026, 2, 1), subscriptionId: 's', anchorMs: startMs }
  const half = { couponId: 'c', subscriptionId: 's', percentOff: '50', amountOff: null, currency: null }
  const offs = (fromMs: number, untilMs: number | null) =>
    discountLines([{ ...half, fromMs, untilMs }], period, [line]).map(({ amount }) => amount)
  t.same(offs(middleMs, null), [200n], 'in force when the window ended')
  t.same(offs(startMs, middleMs), [], 'over by then')
})

// A discount that is for one charge alone, of a subscription that sells use.
import t from 'tap'
import type { BillingFacts, Discount } from '../../../src/core/rating/facts.js'
import { effective } from '../../../src/core/rating/history.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { factsOf, randomWorld } from '../../laws/rating-world.js'
import { Random } from '../../random.js'
import { itemPrice, ratedPrice, subscription } from '../make.js'

const at = (iso: string) => Date.parse(`${iso}T00:00:00Z`)
const startMs = at('2031-01-01')

/** Units used at 2 each, by day. */
const used = new Map([
  ['2031-02-10', 15n],
  ['2031-03-10', 10n],
])

/** Sums of January to March, with a fee a month or none. */
function sums(fee: string | null, redeemed: string, more: Partial<Discount>): number[] {
  const { versions, ...world } = factsOf(randomWorld(new Random(1)), 0)
  const version = [...versions.values()][0]!
  const entitlement = {
    ...version.entitlements[0]!,
    featureId: 'f1',
    subtype: 'a',
    behavior: 'pay_as_you_go',
    metricPeriod: 'current_month',
    monthReset: 'billing_cycle',
    prices: [{ ...ratedPrice({ unit: '2' }), months: 1 }],
  } as const
  const items = fee === null ? [] : [{ productId: 'prod', priceId: 'fee', quantity: 1 }]
  const own = { periodStartMs: startMs, periodEndMs: at('2031-02-01'), intervalMonths: 1, anchorMs: startMs }
  const state = subscription({ id: 'sub', externalId: 'sub', ...own, items })
  const plan = { planId: version.planId, versionId: 'v', addedAtMs: 0, priceId: null, trial: null }
  const discount = { couponId: 'c', subscriptionId: 'sub', percentOff: null, amountOff: null, currency: null }
  const facts: BillingFacts = {
    ...world,
    late: [],
    itemPrices: new Map([['fee', [itemPrice('fee', fee ?? '0', 1)]]]),
    currencies: new Map([['sub', 'usd']]),
    versions: new Map([['v', { ...version, versionId: 'v', entitlements: [entitlement] }]]),
    history: effective([
      { kind: 'plan', atMs: startMs, plan: { ...plan, subscriptionId: 'sub' } },
      { kind: 'subscription', atMs: startMs, id: 'sub', state },
    ]),
    discounts: [{ ...discount, fromMs: at(redeemed), untilMs: null, once: 'first', ...more }],
  }
  const reader = {
    sum: (_: string, fromMs: number, untilMs: number) => {
      const own = [...used].filter(([day]) => at(day) >= fromMs && at(day) < untilMs)
      const quantity = own.reduce((all, [, units]) => all + units, 0n)
      return { quantity, count: own.length, firstId: null, lastId: null }
    },
    trait: () => 0n,
  }
  const nowMs = at('2031-04-01')
  return periodsOf(facts, nowMs)
    .filter(one => one.endMs <= nowMs)
    .map(one =>
      Number(ratePeriod(facts, one, reader, nowMs).lines.reduce((all, { amount }) => all + amount, 0n)),
    )
}

t.test('RA-16 once is for use where that is the first charge', async t => {
  t.same(sums(null, '2031-01-10', { percentOff: '50' }), [0, 15, 20], 'a month without use does not count')
  t.same(sums(null, '2031-01-10', { amountOff: 12n }), [0, 18, 20])
  t.same(sums(null, '2031-01-10', { amountOff: 90n }), [0, 0, 20])
  t.same(sums(null, '2031-03-05', { percentOff: '50' }), [0, 30, 10])
})

t.test('RA-16 a fee that is charged when a month of use ends goes before the use', async t => {
  t.same(sums('100', '2031-01-01', { percentOff: '50' }), [50, 130, 120], 'the first fee')
  t.same(sums('100', '2031-01-10', { percentOff: '50' }), [100, 80, 120])
  t.same(sums('100', '2031-02-15', { percentOff: '50' }), [100, 130, 70], 'not the use of February')
  t.same(sums('100', '2031-02-15', { amountOff: 60n }), [100, 130, 60])
})

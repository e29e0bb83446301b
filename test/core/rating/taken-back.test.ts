// A credit takes back what was paid: with the discount that its charge had, whatever coupons there are by then.
import t from 'tap'
import type { SubscriptionState } from '../../../src/core/model/company-state.js'
import type { BillingFacts, Discount, ItemPrice } from '../../../src/core/rating/facts.js'
import type { HistoryEntry } from '../../../src/core/rating/history.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { UsageTable } from '../../../src/core/rating/usage.js'
import { dayMs } from '../../../src/core/values/period.js'
import { subscription } from '../make.js'

const startMs = Date.UTC(2031, 0, 1)
const day = (n: number): number => startMs + n * dayMs
const price = (id: string, unit: string, months: number): [string, ItemPrice[]] => [
  id,
  [
    {
      id,
      currency: 'usd',
      unit,
      tiers: null,
      mode: 'graduated',
      packageSize: 1,
      months,
      fromMs: 0,
      isMetered: false,
    },
  ],
]

/** So many units of a price from a day on; null: the subscription is over. A number of months begins a period. */
function at(
  n: number,
  units: readonly [priceId: string, quantity: number] | null,
  months = 12,
): HistoryEntry {
  const periodStartMs = months === 12 ? startMs : day(n)
  const state: SubscriptionState | null =
    units === null
      ? null
      : subscription({
          id: 'sub',
          externalId: 'sub',
          periodStartMs,
          periodEndMs: months === 12 ? day(365) : day(n + 31),
          intervalMonths: months,
          anchorMs: periodStartMs,
          items: [{ productId: 'prod', priceId: units[0], quantity: units[1] }],
        })
  return { kind: 'subscription', atMs: day(n), id: 'sub', state }
}

const off = (from: number, until: number | null, more: Partial<Discount>): Discount => ({
  couponId: 'coupon',
  subscriptionId: 'sub',
  fromMs: day(from),
  untilMs: until === null ? null : day(until),
  percentOff: null,
  amountOff: null,
  currency: null,
  ...more,
})

/** Sums of the lines of all periods, up to a day. */
function sums(history: readonly HistoryEntry[], discounts: readonly Discount[], upTo: number): number[] {
  const facts: BillingFacts = {
    companyId: 'comp',
    history,
    versions: new Map(),
    fallback: [],
    itemPrices: new Map([price('year', '3650', 12), price('month', '310', 1), price('dear', '3100', 1)]),
    currencies: new Map([['sub', 'usd']]),
    currency: null,
    prorates: true,
    invoicesAtOnce: false,
    purchases: [],
    overdrafts: [],
    discounts,
    late: [],
  }
  return periodsOf(facts, day(upTo)).map(period =>
    Number(
      ratePeriod(facts, period, new UsageTable([]), day(upTo)).lines.reduce(
        (all, one) => all + one.amount,
        0n,
      ),
    ),
  )
}

t.test('RA-14, RA-16 a credit has the percents off of the charge that it takes back', async t => {
  const fewer = [at(0, ['year', 4]), at(100, ['year', 1])]
  const left = (percent: string, from: number, until: number | null) =>
    sums(fewer, [off(from, until, { percentOff: percent })], 120)
  t.same(left('100', 0, 31), [0], 'nothing was paid: nothing is credited')
  t.same(left('50', 0, 31), [2 * 3650 - 1.5 * 2650], 'half was paid')
  t.same(left('50', 0, null), [2 * 3650 - 1.5 * 2650])
  t.same(left('100', 50, null), [4 * 3650 - 3 * 2650], 'all was paid before the coupon')
  const more = [at(0, ['year', 2]), at(65, ['year', 4]), at(165, ['year', 1])]
  t.same(
    sums(more, [off(60, 70, { percentOff: '50' })], 200),
    [2 * 3650 + 3000 - 2000 - 2000],
    'those charged last go first, at half the price; one was paid in full',
  )
  t.same(
    sums([at(0, ['year', 2]), at(65, null)], [off(0, 31, { percentOff: '100' })], 70),
    [0, 0],
    'the end of the subscription',
  )
})

t.test('RA-16 a credit takes back the amount off that its charge had', async t => {
  const ends = [at(0, ['year', 4]), at(65, null)]
  const left = (amountOff: bigint, until: number | null) => sums(ends, [off(0, until, { amountOff })], 70)
  t.same(left(12_000n, 31), [2600, -2600], 'no more than was paid')
  t.same(left(1000n, 31), [13_600, -12_000], 'an amount that the used time costs stays off')
  t.same(left(1000n, null), [13_600, -12_000])
  t.same(left(20_000n, 31), [0, 0])
  const falls = [at(0, ['dear', 1], 1), at(1, ['month', 1], 1)]
  t.same(sums(falls, [off(0, 1, { amountOff: 2000n })], 5), [1100, 310 - 3000 + 1900], 'a downgrade')
  const two = [off(0, 31, { amountOff: 800n }), off(0, 31, { amountOff: 3000n })]
  t.same(sums([at(0, ['year', 1]), at(65, null)], two, 70), [0, 0], 'two amounts')
})

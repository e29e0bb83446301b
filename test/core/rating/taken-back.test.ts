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
function sums(
  history: readonly HistoryEntry[],
  discounts: readonly Discount[],
  upTo: number,
  more: Partial<BillingFacts> = {},
): number[] {
  const facts: BillingFacts = {
    companyId: 'comp',
    history,
    versions: new Map(),
    fallback: [],
    itemPrices: new Map([
      price('year', '3650', 12),
      price('month', '310', 1),
      price('dear', '3100', 1),
      price('free', '0', 12),
    ]),
    currencies: new Map([['sub', 'usd']]),
    currency: null,
    prorates: true,
    invoicesAtOnce: false,
    purchases: [],
    overdrafts: [],
    discounts,
    late: [],
    ...more,
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

t.test('RA-16 once is for the first charge alone, and a credit takes back what it took off', async t => {
  const once = (from: number, more: Partial<Discount>) => [off(from, null, { once: 'first', ...more })]
  const half = { percentOff: '50' }
  const fewer = [at(0, ['year', 4]), at(100, ['year', 1])]
  t.same(sums(fewer, once(0, { percentOff: '100' }), 120), [0], 'nothing was paid')
  t.same(sums(fewer, once(0, half), 370), [2 * 3650 - 1.5 * 2650, 3650], 'the renewal is in full')
  t.same(sums(fewer, once(50, half), 370), [4 * 3650 - 3 * 2650, 1825], 'a credit is no charge')
  const more = [at(0, ['year', 2]), at(65, ['year', 4]), at(165, ['year', 5])]
  t.same(sums(more, once(50, half), 200), [2 * 3650 + 3000 + 2000], 'the first change, not the second')
  t.same(sums(more, once(50, { amountOff: 5000n }), 370), [7300 + 1000 + 2000, 5 * 3650])
  t.same(sums(more, once(50, { amountOff: 9000n }), 370), [7300 + 2000, 5 * 3650], 'the rest of it is lost')
  const free = [at(0, ['free', 1]), at(65, ['year', 1])]
  t.same(sums(free, once(0, half), 370), [1500, 3650], 'what costs nothing does not use it up')
  const replaced = [off(50, 60, { once: 'first', ...half })]
  t.same(sums(more, replaced, 370), [7300 + 6000 + 2000, 5 * 3650], 'over before anything was charged')
  const euros = { amountOff: 100n, currency: 'eur' }
  t.same(sums(fewer.slice(0, 1), once(0, euros), 10), [4 * 3650], 'of another currency')
})

t.test('RA-16 a discount for some months meets the renewals of a year within them', async t => {
  const year = [at(0, ['year', 1])]
  const months = (from: number) => sums(year, [off(from, from + 90, { percentOff: '50' })], 370)
  t.same(months(0), [1825, 3650])
  t.same(months(200), [3650, 3650], 'nothing is charged in them')
  t.same(months(300), [3650, 1825])
})

t.test('RA-14 a change credits what was credited at its instant', async t => {
  const fewer = [at(0, ['year', 4]), at(100, ['year', 1])]
  const left = (untilDay: number, was: boolean) => {
    const former = { untilMs: day(untilDay), prorates: was, invoicesAtOnce: false }
    return sums(fewer, [], 200, { prorates: !was, formerProrations: [former] })
  }
  t.same(left(150, false), [4 * 3650], 'a plan group that came later')
  t.same(left(50, false), [4 * 3650 - 3 * 2650])
  t.same(left(100, false), [4 * 3650 - 3 * 2650], 'in the same instant')
  t.same(left(150, true), [4 * 3650 - 3 * 2650])
  t.same(left(50, true), [4 * 3650])
})

// Fees of other intervals than the subscription's period, and fees that are paid once (RA-24, RA-26).
import t from 'tap'
import type { PlanHolding, SubscriptionState } from '../../../src/core/model/company-state.js'
import { advanceLines } from '../../../src/core/rating/advance.js'
import type { BillingFacts, ItemPrice, RatedVersion } from '../../../src/core/rating/facts.js'
import type { HistoryEntry } from '../../../src/core/rating/history.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { UsageNeeds } from '../../../src/core/rating/usage.js'
import { periodAt } from '../../../src/core/values/period.js'
import { Random, seed, times } from '../../random.js'
import { itemPrice, subscription } from '../make.js'

const at = (text: string) => Date.parse(`${text}T00:00:00Z`)
const start = at('2031-01-15')

const price = (...terms: Parameters<typeof itemPrice>): [string, ItemPrice[]] => [
  terms[0],
  [itemPrice(...terms)],
]

const prices = new Map([
  price('month', '10', 1),
  price('half', '50', 6),
  price('year', '90', 12),
  price('two_years', '150', 24),
  price('day', '1', 1, { days: 1 }),
  price('days', '40', 1, { days: 90 }),
  price('once', '500', null),
])

const version = (versionId: string): [string, RatedVersion] => [
  versionId,
  {
    planId: `plan_${versionId}`,
    versionId,
    version: 1,
    currency: 'usd',
    entitlements: [],
    feePriceIds: new Set(),
    feeProductId: null,
    seatPriceIds: new Map(),
  },
]

const facts = (history: HistoryEntry[], prorates = false): BillingFacts => ({
  companyId: 'comp',
  history,
  versions: new Map([version('v')]),
  fallback: [],
  itemPrices: prices,
  currencies: new Map([['sub', 'usd']]),
  currency: null,
  prorates,
  invoicesAtOnce: false,
  purchases: [],
  overdrafts: [],
  discounts: [],
  late: [],
})

/** A provider's report of one period. */
function reported(atMs: number, periodStartMs: number, periodEndMs: number, ...ids: string[]): HistoryEntry {
  const state = subscription({
    id: 'sub',
    externalId: 'sub',
    periodStartMs,
    periodEndMs,
    items: ids.map(priceId => ({ productId: 'prod', priceId, quantity: 1 })),
    cycleAnchorMs: start,
  })
  return { kind: 'subscription', atMs, id: 'sub', state }
}

/** The same report of other quantities. */
function sold(entry: HistoryEntry, quantities: Readonly<Record<string, number>>): HistoryEntry {
  if (entry.kind !== 'subscription' || entry.state === null) return entry
  const items = Object.entries(quantities).map(([priceId, quantity]) => ({
    productId: 'prod',
    priceId,
    quantity,
  }))
  return { ...entry, state: { ...entry.state, items } }
}

/** Every month of a provider's subscription, reported an hour after it begins. */
const monthly = (months: number, ...ids: string[]): HistoryEntry[] =>
  Array.from({ length: months }, (_, n) => {
    const [from, to] = [Date.UTC(2031, n, 15), Date.UTC(2031, n + 1, 15)]
    return reported(from + (n === 0 ? 0 : 3_600_000), from, to, ...ids)
  })

/** The charges of each period, with the day on which they fall due. */
function charges(known: BillingFacts, nowMs: number): string[] {
  return periodsOf(known, nowMs).flatMap(period =>
    ratePeriod(known, period, new UsageNeeds(), nowMs).lines.map(
      line =>
        `${new Date(line.dueMs).toISOString().slice(0, 10)} ${line.kind} ${line.price?.id} ${line.amount}`,
    ),
  )
}

t.test('RA-26 a year in a subscription by months is charged once a year', async t => {
  const known = facts(monthly(14, 'month', 'year'))
  const found = charges(known, at('2032-02-20'))
  t.equal(found.filter(one => one.includes('month 10')).length, 14)
  t.same(
    found.filter(one => one.includes('year')),
    ['2031-01-15 recurring year 90', '2032-01-15 recurring year 90'],
  )
  const half = charges(facts(monthly(14, 'half', 'two_years')), at('2032-02-20'))
  t.same(half, [
    '2031-01-15 recurring half 50',
    '2031-01-15 recurring two_years 150',
    '2031-07-15 recurring half 50',
    '2032-01-15 recurring half 50',
  ])
})

t.test('RA-26 one that comes in mid-period is charged whole, and by its own years', async t => {
  const months = monthly(16, 'month')
  const with_year = months.flatMap((entry, n) => {
    if (n < 3) return [entry]
    const { periodStartMs, periodEndMs } = (entry as { state: SubscriptionState }).state
    const then = reported(entry.atMs, periodStartMs, periodEndMs, 'month', 'year')
    return n > 3 ? [then] : [entry, reported(at('2031-04-20'), periodStartMs, periodEndMs, 'month', 'year')]
  })
  const found = charges(facts(with_year), at('2032-05-01')).filter(one => one.includes('year'))
  // the change falls due with the closing of its period (RA-15), the next year on its day
  t.same(found, ['2031-05-15 recurring year 90', '2032-04-20 recurring year 90'])
})

t.test('RA-26 shorter intervals count as often as the period holds them', async t => {
  const known = facts([reported(start, start, at('2031-04-15'), 'month', 'day')])
  t.same(charges(known, at('2031-02-01')), ['2031-01-15 recurring day 90', '2031-01-15 recurring month 30'])
})

t.test('RA-26 one that a renewal brings is charged from the renewal on', async t => {
  const history = monthly(16, 'month').map((entry, n) => (n < 3 ? entry : sold(entry, { month: 1, year: 1 })))
  const found = charges(facts(history), at('2032-05-01')).filter(one => one.includes('year'))
  t.same(found, ['2031-04-15 recurring year 90', '2032-04-15 recurring year 90'])
})

t.test('RA-14, RA-26 the rest of its own interval is credited where the plan group prorates', async t => {
  const year = (history: HistoryEntry[], prorates = true) =>
    charges(facts(history, prorates), at('2032-03-01')).filter(one => one.includes('year'))
  const first = '2031-01-15 recurring year 90'
  // 275 of 365 days are left
  const leaves = monthly(14, 'month').map((entry, n) => (n < 3 ? sold(entry, { month: 1, year: 1 }) : entry))
  t.same(year(leaves), [first, '2031-05-15 recurring year -68'], 'at a renewal')
  t.same(year(leaves, false), [first])
  // 270 of them
  const { periodStartMs, periodEndMs } = (leaves[3] as { state: SubscriptionState }).state
  const april = sold(leaves[3]!, { month: 1, year: 1 })
  const inside = [
    ...leaves.slice(0, 3),
    april,
    reported(at('2031-04-20'), periodStartMs, periodEndMs, 'month'),
    ...leaves.slice(4),
  ]
  t.same(year(inside), [first, '2031-05-15 recurring year -67'], 'inside a period')
  t.same(year(inside, false), [first])
  const end: HistoryEntry = { kind: 'subscription', atMs: at('2031-04-15'), id: 'sub', state: null }
  const over = [...monthly(3, 'month', 'year'), end]
  t.same(year(over), [first, '2031-05-01 recurring year -68'], 'with the end of the subscription')
  const whole = monthly(14, 'month', 'year').map((entry, n) => (n < 12 ? entry : sold(entry, { month: 1 })))
  t.same(year(whole), [first], 'nothing is left at its end')
})

t.test('RA-14, RA-26 more of it is charged for the rest of its own interval, at a renewal too', async t => {
  const history = monthly(14, 'year').map((entry, n) => (n < 6 ? entry : sold(entry, { year: 3 })))
  t.same(charges(facts(history), at('2032-02-20')), [
    '2031-01-15 recurring year 90',
    // 184 of 365 days are left
    '2031-08-15 recurring year 91',
    '2032-01-15 recurring year 270',
  ])
})

t.test('RA-14, RA-26 whatever changes when, the time for which a year was sold is paid for', async t => {
  const runs = times(300)
  for (let run = 0; run < runs; run++) {
    const own = seed + run * 7919
    const random = new Random(own)
    /** Quantities with the instants from which on they are sold. */
    const sales: { fromMs: number; quantity: number }[] = []
    const history = monthly(1 + random.below(30), 'month').flatMap((entry, n) => {
      const [fromMs, untilMs] = [Date.UTC(2031, n, 15), Date.UTC(2031, n + 1, 15)]
      const report = (atMs: number, soldMs: number): HistoryEntry => {
        const quantity = random.chance(0.8) ? (sales.at(-1)?.quantity ?? 1) : random.below(4)
        sales.push({ fromMs: soldMs, quantity })
        const of: Record<string, number> = quantity === 0 ? { month: 1 } : { month: 1, year: quantity }
        return sold({ ...entry, atMs }, of)
      }
      const renewal = report(entry.atMs, fromMs)
      if (!random.chance(0.3)) return [renewal]
      const atMs = fromMs + 7_200_000 + random.below(untilMs - fromMs - 7_200_000)
      return [renewal, report(atMs, atMs)]
    })
    const { periodEndMs: endMs } = (history.at(-1) as { state: SubscriptionState }).state
    const lines = advanceLines(facts(history, true), 'sub', endMs - 1).filter(one => one.price?.id === 'year')
    const paid = lines.reduce((sum, { exact }) => sum + Number(exact.n) / Number(exact.d), 0)
    // the time sold, and what is left of the last interval
    let due = 0
    let sinceMs = 0
    let quantity = 0
    for (const [i, sale] of sales.entries()) {
      if (quantity === 0) sinceMs = sale.fromMs
      quantity = sale.quantity
      const isLast = i === sales.length - 1
      for (let atMs = sale.fromMs, toMs = sales[i + 1]?.fromMs ?? endMs; atMs < toMs; ) {
        const { startMs, nextMs } = periodAt(sinceMs, 12, atMs)
        const untilMs = isLast && nextMs >= toMs ? nextMs : Math.min(nextMs, toMs)
        due += (quantity * 90 * (untilMs - atMs)) / (nextMs - startMs)
        atMs = untilMs
      }
    }
    if (Math.abs(paid - due) < 1e-6) continue
    t.equal(paid, due, `TOLLGATE_SEED=${own} TOLLGATE_RUNS=0`)
    return
  }
  t.pass(`${runs} histories from seed ${seed}`)
})

t.test('RA-26 days are counted as days', async t => {
  const found = charges(facts(monthly(8, 'days')), at('2031-08-20'))
  t.same(
    found,
    ['2031-01-15', '2031-04-15', '2031-07-14'].map(day => `${day} recurring days 40`),
  )
})

const holding = (addedAtMs: number, priceId: string | null = 'once'): PlanHolding => ({
  planId: 'plan_v',
  versionId: 'v',
  addedAtMs,
  priceId,
  trial: null,
})
const planned = (atMs: number, plan: PlanHolding | null): HistoryEntry => ({ kind: 'plan', atMs, plan })

t.test('RA-24 a one-time price is charged once for each purchase', async t => {
  const first = holding(start)
  const again = holding(at('2031-03-20'))
  const history = [
    planned(start, first),
    planned(at('2031-01-20'), { ...first, versionId: 'v' }),
    planned(at('2031-02-10'), null),
    planned(at('2031-02-12'), first), // as a revert brings it back
    planned(at('2031-03-10'), null),
    planned(at('2031-03-20'), again),
    { kind: 'add_ons', atMs: at('2031-03-25'), addOns: [{ ...holding(at('2031-03-25')), planId: 'extra' }] },
  ] as const
  t.same(charges(facts([...history]), at('2031-06-01')), [
    '2031-01-15 recurring once 500',
    '2031-03-20 recurring once 500',
    '2031-03-25 recurring once 500',
  ])
})

t.test('RA-24 a trial is charged when it ends; a plan with another price is not', async t => {
  const trial = { endMs: at('2031-02-01'), endSetting: 'subscribe', status: 'active' } as const
  const history = [
    planned(start, { ...holding(start), trial }),
    planned(at('2031-02-01'), { ...holding(start), trial: { ...trial, status: 'converted' } }),
  ]
  t.same(charges(facts(history), at('2031-03-01')), ['2031-02-01 recurring once 500'])
  t.same(charges(facts([planned(start, holding(start, 'month'))]), at('2031-03-01')), [])
})

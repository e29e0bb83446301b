// Arithmetic of time series: buckets, metric windows of any day, cumulative values, limits over time.
import t from 'tap'
import {
  boundsOfPoints,
  bucketBounds,
  bucketsMax,
  cumulate,
  pointsOf,
  requireKnownEnds,
  requireRange,
  windowAt,
} from '../../src/control/usage/buckets.js'
import { type EntitledPast, entitledOver, limitPoints } from '../../src/control/usage/limits.js'
import { dayMs, hourMs } from '../../src/core/values/period.js'
import { catalogData, company, entitlement, feature, holding, override, plan } from '../core/make.js'

const at = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`)
const iso = (ms: number): string => new Date(ms).toISOString().replace(/:00\.000Z$/, '')

t.test('US-12 buckets align to UTC hour, day, week from Sunday, month', async t => {
  const range = { startMs: at('2026-01-30T22:30:00'), endMs: at('2026-02-02T01:10:00') }
  t.same(bucketBounds(range, 'daily').map(iso), [
    '2026-01-30T22:30',
    '2026-01-31T00:00',
    '2026-02-01T00:00',
    '2026-02-02T00:00',
    '2026-02-02T01:10',
  ])
  t.same(
    bucketBounds(range, 'weekly').map(iso),
    ['2026-01-30T22:30', '2026-02-01T00:00', '2026-02-02T01:10'],
    '1 February 2026 is a Sunday',
  )
  t.same(bucketBounds(range, 'monthly').map(iso), [
    '2026-01-30T22:30',
    '2026-02-01T00:00',
    '2026-02-02T01:10',
  ])
  t.equal(bucketBounds(range, 'hourly').length, 2 + 51, '23:00 of the first day to 01:00 of the last')
  t.same(bucketBounds(range, null), [range.startMs, range.endMs], 'US-20 no granularity: one')
  const whole = { startMs: at('2026-03-01'), endMs: at('2026-03-03') }
  t.same(bucketBounds(whole, 'daily').map(iso), ['2026-03-01T00:00', '2026-03-02T00:00', '2026-03-03T00:00'])
})

t.test('US-12, US-22 at most 366 buckets; start before end', async t => {
  const startMs = at('2026-01-01')
  t.equal(bucketBounds({ startMs, endMs: startMs + 366 * dayMs }, 'daily').length, bucketsMax + 1)
  t.throws(() => bucketBounds({ startMs, endMs: startMs + 366 * dayMs + 1 }, 'daily'), /more than 366 daily/)
  t.equal(bucketBounds({ startMs, endMs: startMs + 366 * hourMs }, 'hourly').length, bucketsMax + 1)
  t.throws(() => bucketBounds({ startMs, endMs: startMs + 367 * hourMs }, 'hourly'), /more than 366 hourly/)
  t.doesNotThrow(() => bucketBounds({ startMs: 0, endMs: at('2099-12-31') }, null))
  t.throws(() => requireRange({ startMs, endMs: startMs }), /before end_time/)
  t.throws(() => requireRange({ startMs: -1, endMs: startMs }), /1970/)
  t.throws(() => requireRange({ startMs, endMs: at('2100-01-02') }), /2100/)
  const kept = startMs + dayMs
  t.throws(() => requireKnownEnds({ startMs: startMs + 1, endMs: startMs + hourMs }, kept), /start_time/)
  t.throws(() => requireKnownEnds({ startMs, endMs: startMs + hourMs + 1 }, kept), /end_time/)
  t.doesNotThrow(() => requireKnownEnds({ startMs: kept + 1, endMs: kept + 2 }, kept))
})

t.test(
  'US-10 a billing cycle is told for past and future days too, with days of month that come back',
  async t => {
    const cycle = { startMs: at('2026-03-31T12:00:00'), endMs: at('2026-04-30T12:00:00') }
    const told = (text: string) => {
      const window = windowAt('current_month', 'billing_cycle', cycle, at(text))!
      return [iso(window.startMs), iso(window.nextMs)]
    }
    t.same(told('2026-04-01'), ['2026-03-31T12:00', '2026-04-30T12:00'])
    t.same(told('2026-03-31T11:59:00'), ['2026-02-28T12:00', '2026-03-31T12:00'])
    t.same(told('2026-02-28T11:59:00'), ['2026-01-31T12:00', '2026-02-28T12:00'])
    t.same(told('2025-03-30'), ['2025-02-28T12:00', '2025-03-31T12:00'])
    t.same(told('2026-04-30T12:00:00'), ['2026-04-30T12:00', '2026-05-31T12:00'], 'what follows its end')
    // every instant lies in its window, and windows meet
    for (let ms = at('2024-01-01'); ms < at('2026-08-01'); ms += 31 * hourMs) {
      const { startMs, nextMs } = windowAt('current_month', 'billing_cycle', cycle, ms)!
      t.ok(startMs <= ms && ms < nextMs, iso(ms))
      t.equal(
        windowAt('current_month', 'billing_cycle', cycle, startMs - 1)!.nextMs,
        startMs,
        `before ${iso(ms)}`,
      )
    }
    t.equal(windowAt('all_time', 'first_of_month', cycle, 0), null)
    t.equal(windowAt('current_month', 'billing_cycle', null, at('2026-02-10'))!.startMs, at('2026-02-01'))
  },
)

t.test(
  'US-11, decision 16: a point counts from the window of its last instant; a bucket that ends at a reset is full',
  async t => {
    // 1 unit every 6 hours, told by plain counting
    const events = Array.from({ length: 400 }, (_, i) => at('2026-01-20T03:00:00') + i * 6 * hourMs)
    const range = { startMs: at('2026-01-29T10:00:00'), endMs: at('2026-02-10T05:30:00') }
    for (const period of ['current_day', 'current_week', 'current_month', 'all_time'] as const) {
      for (const granularity of ['hourly', 'daily', 'weekly', 'monthly'] as const) {
        const bounds = bucketBounds(range, granularity)
        const points = pointsOf(bounds, { period, monthReset: 'first_of_month' }, null)
        const cuts = boundsOfPoints(points)
        const usage = cuts.slice(0, -1).flatMap((startMs, i) => {
          const quantity = events.filter(ms => ms >= startMs && ms < cuts[i + 1]!).length
          return quantity === 0 ? [] : [{ startMs, quantity }]
        })
        const values = cumulate(points, cuts, usage)
        const plain = points.map(({ endMs }) => {
          const last = new Date(endMs - 1)
          const [year, month, day] = [last.getUTCFullYear(), last.getUTCMonth(), last.getUTCDate()]
          const from = {
            current_day: Date.UTC(year, month, day),
            current_week: Date.UTC(year, month, day - last.getUTCDay()),
            current_month: Date.UTC(year, month, 1),
            all_time: 0,
          }[period]
          return events.filter(ms => ms >= from && ms < endMs).length
        })
        t.same(values, plain, `${period} ${granularity}`)
        t.equal(values.length, bounds.length - 1, 'also buckets without usage')
      }
    }
    const january = pointsOf(
      [at('2026-01-31'), at('2026-02-01')],
      { period: 'current_month', monthReset: 'first_of_month' },
      null,
    )
    const cuts = boundsOfPoints(january)
    t.same(
      cumulate(january, cuts, [{ startMs: at('2026-01-01'), quantity: 7 }]),
      [7],
      'the full month, not 0',
    )
  },
)

t.test('a start moved back to its hour acts as the bound', async t => {
  const points = pointsOf([at('2024-01-01T10:20:00'), at('2024-01-01T12:00:00')], null, null)
  t.same(cumulate(points, [0, at('2024-01-01T12:00:00')], [{ startMs: 0, quantity: 5 }]), [5])
  const day = [
    {
      endMs: at('2024-01-02'),
      window: { startMs: at('2024-01-01T10:20:00'), nextMs: at('2024-01-02T10:20:00') },
    },
  ]
  const cuts = boundsOfPoints(day)
  t.same(cumulate(day, cuts, [{ startMs: at('2024-01-01T10:00:00'), quantity: 5 }]), [5])
})

t.test('US-13 limits: the one in force at the start, and every change after it', async t => {
  const grants = (valueNumeric: number) =>
    entitlement('f', { valueType: 'numeric', valueNumeric, metricPeriod: 'current_month' })
  const catalog = catalogData({
    features: [feature('f')],
    plans: [
      plan('P', [grants(100)]),
      plan('Q', [grants(300)]),
      plan('A', [entitlement('f', { valueType: 'unlimited' })]),
    ],
  })
  const version = (planId: string) => ({ planId, versionId: holding(planId).versionId })
  const june = (day: number) => Date.UTC(2026, 5, day)
  const held = { ...holding('Q'), addedAtMs: june(10) }
  const past = (some: Partial<EntitledPast>): EntitledPast => ({
    company: company({ plan: held }),
    plan: held,
    addOns: [],
    changes: [{ atMs: june(10), previous: version('P'), addOnsAdded: [], addOnsRemoved: [] }],
    overrides: [],
    ...some,
  })
  const told = (some: Partial<EntitledPast> = {}, from = 1, to = 30, now = 30) =>
    limitPoints(
      entitledOver(past(some), 'f', catalog, { startMs: june(from), endMs: june(to) }, june(now)),
    ).map(point => [Date.parse(point.effective_at), point.limit_value, point.limit_source, point.plan_id])

  const [p, q] = [
    [june(1), 100, 'plan_entitlement', 'P'],
    [june(10), 300, 'plan_entitlement', 'Q'],
  ]
  t.same(told(), [p, q])
  t.same(told({}, 10), [q], 'in force at the start')
  t.same(told({}, 1, 10), [p], 'the end is exclusive')
  t.same(told({ changes: [] }), [q], 'before the plan nothing is known')

  const spans = [
    {
      override: override('f', { valueType: 'numeric', valueNumeric: 500 }),
      fromMs: june(12),
      untilMs: june(15),
    },
    {
      override: { ...override('f', { valueType: 'numeric', valueNumeric: 700 }), expiresAtMs: june(20) },
      fromMs: june(15),
      untilMs: null,
    },
  ]
  t.same(told({ overrides: spans }), [
    p,
    q,
    [june(12), 500, 'company_override', null],
    [june(15), 700, 'company_override', null],
    [june(20), 300, 'plan_entitlement', 'Q'],
  ])
  t.same(told({ overrides: spans }, 1, 30, 16).length, 4, 'an end that is to come is no change yet')

  const without = { company: company({}), plan: null, changes: [{ ...past({}).changes[0]!, atMs: june(10) }] }
  t.same(told(without), [p, [june(10), 0, 'unknown', null]], 'an entitlement that ended')
  t.same(told({ ...without, changes: [] }), [], 'never entitled')
  const addOn = [{ atMs: june(20), previous: version('Q'), addOnsAdded: ['A'], addOnsRemoved: [] }]
  const added = { ...holding('A'), addedAtMs: june(20) }
  t.same(
    told({
      company: company({ plan: { ...held, addedAtMs: 0 }, addOns: [added] }),
      plan: { ...held, addedAtMs: 0 },
      addOns: [added],
      changes: addOn,
    }),
    [
      [june(1), 300, 'plan_entitlement', 'Q'],
      [june(20), null, 'plan_entitlement', 'A'],
    ],
  )
})

t.test('US-10 soft and hard limits, and who sets them', async t => {
  const of = (value: Parameters<typeof entitlement>[1]) => {
    const catalog = catalogData({ features: [feature('f')], plans: [plan('P', [entitlement('f', value)])] })
    const held = { ...holding('P'), addedAtMs: 0 }
    const past = { company: company({ plan: held }), plan: held, addOns: [], changes: [], overrides: [] }
    const points = limitPoints(
      entitledOver(past, 'f', catalog, { startMs: dayMs, endMs: 2 * dayMs }, 3 * dayMs),
    )
    return points.map(point => [point.is_soft_limit, point.limit_value, point.price_behavior])
  }
  t.same(of({ valueType: 'numeric', valueNumeric: 5 }), [[false, 5, null]])
  t.same(of({ priceBehavior: 'overage', softLimit: 500, valueNumeric: 5000 }), [
    [true, 500, 'overage'],
    [false, 5000, 'overage'],
  ])
  t.same(of({ priceBehavior: 'overage', softLimit: 500, valueNumeric: null }), [[true, 500, 'overage']])
  t.same(of({ valueType: 'unlimited' }), [[false, null, null]])
  t.same(of({ valueType: 'boolean', valueBool: false }), [[false, 0, null]])
})

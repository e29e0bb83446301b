// Windows, billing cycles and clamped months (FE-50…53, CR-40).
import t from 'tap'
import type { MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import {
  addMonthsClamped,
  dayMs,
  daysOf,
  metricReset,
  metricWindow,
  mondayStart,
  monthStart,
  nextMonthStart,
  periodAt,
  recurrenceAfter,
  runningCycle,
  weekStart,
} from '../../../src/core/values/period.js'
import { at, vectors } from '../vectors.js'

interface WindowCase {
  readonly input: {
    readonly period: MetricPeriod
    readonly month_reset: MonthReset
    readonly now: string
    readonly subscription: { readonly period_start: string; readonly period_end: string } | null
  }
  readonly expected: { readonly period_start: string | null; readonly next_reset: string | null }
}

t.test('metric_windows conformance', async t => {
  for (const { id, input, expected } of vectors<WindowCase>('metric_windows')) {
    const { subscription } = input
    const cycle = subscription && {
      startMs: at(subscription.period_start),
      endMs: at(subscription.period_end),
    }
    const window = metricWindow(input.period, input.month_reset, cycle, at(input.now))
    t.same(
      [
        window?.startMs ?? null,
        window?.nextMs ?? null,
        metricReset(input.period, input.month_reset, cycle, at(input.now)),
      ],
      [
        expected.period_start && at(expected.period_start),
        expected.next_reset && at(expected.next_reset),
        expected.next_reset && at(expected.next_reset),
      ],
      id,
    )
  }
})

t.test('FE-51 a clamped day comes back: 31 Jan, 28 Feb, 31 Mar, 30 Apr', async t => {
  const anchor = at('2026-01-31T09:00:00Z')
  const months = [1, 2, 3, 13, -2].map(n => new Date(addMonthsClamped(anchor, n)).toISOString())
  t.same(months, [
    '2026-02-28T09:00:00.000Z',
    '2026-03-31T09:00:00.000Z',
    '2026-04-30T09:00:00.000Z',
    '2027-02-28T09:00:00.000Z',
    '2025-11-30T09:00:00.000Z',
  ])
})

t.test('CR-40 recurrences of several months keep the anchor day', async t => {
  const anchor = at('2025-11-30T00:00:00Z')
  t.equal(periodAt(anchor, 3, at('2026-05-29T23:59:59Z')).startMs, at('2026-02-28T00:00:00Z'))
  t.equal(recurrenceAfter(anchor, at('2026-02-28T00:00:00Z'), 3), at('2026-05-30T00:00:00Z'))
  t.equal(recurrenceAfter(anchor, anchor - 1, 3), anchor)
  t.equal(recurrenceAfter(anchor, anchor, 3), at('2026-02-28T00:00:00Z'))
})

t.test('FE-52 an active subscription never hands out an ended period', async t => {
  const startMs = at('2025-01-20T00:00:00Z')
  const endMs = at('2026-01-20T00:00:00Z')
  const now = at('2026-03-10T00:00:00Z')
  const cycle = runningCycle(startMs, endMs, now)
  t.equal(cycle.endMs, at('2026-03-20T00:00:00Z'))
  t.same(metricWindow('current_month', 'billing_cycle', cycle, now), {
    startMs: at('2026-02-20T00:00:00Z'),
    nextMs: at('2026-03-20T00:00:00Z'),
  })
  t.equal(runningCycle(startMs, endMs, endMs - 1).endMs, endMs, 'a period that still runs stays')
  t.equal(runningCycle(startMs, endMs, endMs).endMs, at('2026-02-20T00:00:00Z'), 'its end is exclusive')
})

t.test('FE-53 a month reset has no effect on day, week and all time', async t => {
  const now = at('2026-03-15T10:00:00Z')
  const cycle = { startMs: at('2026-03-10T00:00:00Z'), endMs: at('2026-04-10T00:00:00Z') }
  for (const period of ['all_time', 'current_day', 'current_week'] as const)
    t.same(
      metricWindow(period, 'billing_cycle', cycle, now),
      metricWindow(period, 'first_of_month', null, now),
      period,
    )
})

t.test('FE-50 and US-7: metric weeks begin on Sunday, credit weeks on Monday', async t => {
  const sunday = at('2026-03-15T10:00:00Z')
  t.equal(weekStart(sunday), at('2026-03-15T00:00:00Z'))
  t.equal(mondayStart(sunday), at('2026-03-09T00:00:00Z'))
  t.equal(weekStart(sunday - dayMs), at('2026-03-08T00:00:00Z'))
  t.equal(mondayStart(sunday + dayMs), at('2026-03-16T00:00:00Z'))
})

t.test('FE-50 calendar arithmetic agrees with Date over four centuries, leap days included', async t => {
  let wrong = 0
  for (let days = daysOf(1899, 12, 1); days < daysOf(2301, 1, 1); days += 1) {
    const ms = days * dayMs + 43_200_000
    const date = new Date(ms)
    const [y, m] = [date.getUTCFullYear(), date.getUTCMonth()]
    if (monthStart(ms) !== Date.UTC(y, m, 1) || nextMonthStart(ms) !== Date.UTC(y, m + 1, 1)) wrong++
    if (date.getUTCDay() * dayMs !== days * dayMs - weekStart(ms)) wrong++
  }
  t.equal(wrong, 0)
})

// Counters: windows, late and early events, cycles that move (US-1…3, EV-15…17, EV-46, EV-58…60).

import fc from 'fast-check'
import t from 'tap'
import type { Counter } from '../../../src/core/model/counters.js'
import {
  addUsage,
  effectsOf,
  isEstimated,
  needsRecount,
  newCounter,
  readAll,
  readCounter,
  setCycleUsage,
} from '../../../src/core/usage/counter.js'
import { type Cycle, dayMs, metricWindow, runningCycle } from '../../../src/core/values/period.js'
import { seed } from '../../random.js'
import { at, vectors } from '../vectors.js'

interface EffectCase {
  readonly input: {
    readonly mode: 'normal' | 'trusted_client_clock' | 'backfill'
    readonly effective_time: string
    readonly now: string
    readonly subscription: { readonly period_start: string; readonly period_end: string }
    readonly quantity: number
  }
  readonly expected: {
    readonly counters: Readonly<Record<string, number>>
    readonly credits_drawn_units: number
    readonly last_seen_bumped: boolean
  }
}

const values = (counter: Counter, nowMs: number, cycle: Cycle | null) =>
  Object.fromEntries(
    readAll(counter, nowMs, cycle).map(({ period, monthReset, value }) => [
      period === 'current_month' ? `${period}/${monthReset}` : period,
      value,
    ]),
  )

t.test('event_effects conformance', async t => {
  for (const { id, input, expected } of vectors<EffectCase>('event_effects')) {
    const nowMs = at(input.now)
    const cycle = {
      startMs: at(input.subscription.period_start),
      endMs: at(input.subscription.period_end),
    }
    const counter = newCounter(nowMs)
    addUsage(counter, input.quantity, at(input.effective_time), nowMs, cycle)
    const effects = effectsOf(input.mode === 'trusted_client_clock' ? 'trusted' : input.mode)
    t.same(
      {
        counters: values(counter, nowMs, cycle),
        credits_drawn_units: effects.draws ? input.quantity : 0,
        last_seen_bumped: effects.seen,
      },
      expected,
      id,
    )
  }
})

const noon = at('2026-03-15T12:00:00Z')

t.test('FE-5 an ended window reads 0 and reading changes nothing', async t => {
  const counter = newCounter(noon)
  addUsage(counter, 4, noon, noon, null)
  const before = JSON.stringify(counter.stored())
  t.equal(readCounter(counter, 'current_day', 'first_of_month', at('2026-03-15T23:59:59.999Z'), null), 4)
  t.equal(readCounter(counter, 'current_day', 'first_of_month', at('2026-03-16T00:00:00Z'), null), 0)
  t.equal(readCounter(counter, 'current_week', 'first_of_month', at('2026-03-22T00:00:00Z'), null), 0)
  t.equal(readCounter(counter, 'current_month', 'first_of_month', at('2026-03-31T23:59:59Z'), null), 4)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', at('2026-04-01T00:00:00Z'), null), 0)
  t.equal(readCounter(counter, 'all_time', 'first_of_month', at('2030-01-01T00:00:00Z'), null), 4)
  t.equal(JSON.stringify(counter.stored()), before)
})

t.test('FE-43 a month reset on a period that is no month finds nothing', async t => {
  const counter = newCounter(noon)
  addUsage(counter, 4, noon, noon, null)
  for (const period of ['all_time', 'current_day', 'current_week'] as const)
    t.equal(readCounter(counter, period, 'billing_cycle', noon, null), 0, period)
})

t.test('EV-59, EV-60 an event counts to the window of its own time, whenever it is processed', async t => {
  const midnight = at('2026-03-16T00:00:00Z')
  const counter = newCounter(noon)
  addUsage(counter, 1, midnight - 100, midnight + 5_000, null)
  t.equal(readCounter(counter, 'current_day', 'first_of_month', midnight + 5_000, null), 0)
  t.equal(readCounter(counter, 'current_week', 'first_of_month', midnight + 5_000, null), 1)
})

t.test('EV-17 an event up to five minutes ahead counts in the next window once that begins', async t => {
  const midnight = at('2026-04-01T00:00:00Z')
  const before = midnight - 60_000
  const counter = newCounter(before)
  addUsage(counter, 5, midnight + 30_000, before, null)
  addUsage(counter, 2, before, before, null)
  t.same(values(counter, before, null), {
    all_time: 7,
    current_day: 2,
    current_week: 7,
    'current_month/first_of_month': 2,
    'current_month/billing_cycle': 2,
  })
  t.same(values(counter, midnight, null), {
    all_time: 7,
    current_day: 5,
    current_week: 7,
    'current_month/first_of_month': 5,
    'current_month/billing_cycle': 5,
  })
  addUsage(counter, 1, midnight + 60_000, midnight + 60_000, null)
  t.equal(readCounter(counter, 'current_day', 'first_of_month', midnight + 60_000, null), 6)
  t.same(counter.ahead, [], 'nothing is kept once its time has come')
  t.equal(readCounter(counter, 'current_day', 'first_of_month', midnight + dayMs, null), 0)
})

t.test('EV-46 counters go down and below zero', async t => {
  const counter = newCounter(noon)
  addUsage(counter, 2, noon, noon, null)
  addUsage(counter, -5, noon, noon, null)
  t.equal(readCounter(counter, 'all_time', 'first_of_month', noon, null), -3)
})

t.test('FE-40 a counter beyond 2^53 − 1 loses no unit', async t => {
  const counter = newCounter(noon)
  for (let i = 0; i < 3; i++) addUsage(counter, Number.MAX_SAFE_INTEGER, noon, noon, null)
  t.equal(readCounter(counter, 'current_day', 'first_of_month', noon, null), 27021597764222973n)
  for (let i = 0; i < 5; i++) addUsage(counter, -Number.MAX_SAFE_INTEGER, noon, noon, null)
  t.equal(readCounter(counter, 'all_time', 'first_of_month', noon, null), -18014398509481982n)
  addUsage(counter, 9007199254740992n, noon, noon, null)
  t.equal(readCounter(counter, 'all_time', 'first_of_month', noon, null), -9007199254740990, 'a number again')
})

t.test('US-2 windows have their first and last event, their end and the counter’s begin', async t => {
  const counter = newCounter(noon)
  addUsage(counter, 1, noon - dayMs, noon, null)
  addUsage(counter, 1, noon, noon, null)
  const readings = readAll(counter, noon, null)
  t.same(
    readings.map(({ value, capturedAtMinMs, capturedAtMaxMs, validUntilMs }) => [
      value,
      capturedAtMinMs,
      capturedAtMaxMs,
      validUntilMs,
    ]),
    [
      [2, noon - dayMs, noon, null],
      [1, noon, noon, at('2026-03-16T00:00:00Z')],
      [1, noon, noon, at('2026-03-22T00:00:00Z')],
      [2, noon - dayMs, noon, at('2026-04-01T00:00:00Z')],
      [2, noon - dayMs, noon, at('2026-04-01T00:00:00Z')],
    ],
  )
  t.equal(readings[0]!.createdAtMs, noon)
  const later = readAll(counter, noon + 40 * dayMs, null)
  t.same([later[1]!.capturedAtMinMs, later[1]!.capturedAtMaxMs], [null, null], 'an empty window has none')
})

t.test('PB-54 a renewal begins a cycle at 0, also when it is reported late', async t => {
  const first = { startMs: at('2026-02-20T08:00:00Z'), endMs: at('2026-03-20T08:00:00Z') }
  const second = { startMs: first.endMs, endMs: at('2026-04-20T08:00:00Z') }
  const counter = newCounter(noon)
  addUsage(counter, 7, noon, noon, first)
  const after = second.startMs + 60_000
  // the renewal has not arrived: the cycle runs on by FE-52
  addUsage(counter, 2, after, after, runningCycle(first.startMs, first.endMs, after))
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', after, second), 2, 'read with the renewal')
  addUsage(counter, 1, after + 1, after + 1, second)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', after + 1, second), 3)
  t.equal(needsRecount(counter, after + 1, second), false)
})

t.test('PB-33 a period restarted now begins at 0', async t => {
  const first = { startMs: at('2026-03-01T08:00:00Z'), endMs: at('2026-04-01T08:00:00Z') }
  const counter = newCounter(noon)
  addUsage(counter, 7, noon - 1_000, noon - 1_000, first)
  const restarted = { startMs: noon, endMs: at('2026-04-15T12:00:00Z') }
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, restarted), 0)
  t.equal(needsRecount(counter, noon, restarted), false, 'exactly: nothing came since')
  addUsage(counter, 1, noon, noon, restarted)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, restarted), 1)
})

t.test('US-3 a start between events of one window is estimated, says so, and is recounted', async t => {
  const counter = newCounter(at('2026-03-05T00:00:00Z'))
  for (const day of ['05', '11', '15'])
    addUsage(counter, 1, at(`2026-03-${day}T00:00:00Z`), at(`2026-03-${day}T00:00:00Z`), null)
  const cycle = { startMs: at('2026-03-10T00:00:00Z'), endMs: at('2026-04-10T00:00:00Z') }
  t.equal(needsRecount(counter, noon, cycle), true)
  addUsage(counter, 1, noon, noon, cycle)
  t.equal(isEstimated(counter), true)
  setCycleUsage(
    counter,
    cycle.startMs,
    { value: 3, minMs: at('2026-03-11T00:00:00Z'), maxMs: noon },
    noon,
    cycle,
  )
  t.equal(needsRecount(counter, noon, cycle), false)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, cycle), 3)
})

t.test('US-3 a subscription reported a few seconds late begins near 0, not at the day so far', async t => {
  const counter = newCounter(noon)
  for (let i = 0; i <= 600; i++)
    addUsage(counter, 1, noon - 36_000_000 + i * 60_000, noon - 36_000_000 + i * 60_000, null)
  const cycle = { startMs: noon - 2_000, endMs: noon + 31 * dayMs }
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, cycle), 0)
  t.equal(needsRecount(counter, noon, cycle), true)
  const half = { startMs: noon - 18_000_000, endMs: noon + 31 * dayMs }
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, half), 301, 'of 601, the later half')
})

t.test('FE-52 without a running subscription the cycle is the calendar month again', async t => {
  const cycle = { startMs: at('2026-03-10T00:00:00Z'), endMs: at('2026-04-10T00:00:00Z') }
  const counter = newCounter(noon)
  addUsage(counter, 3, at('2026-03-02T00:00:00Z'), noon, cycle)
  addUsage(counter, 4, noon, noon, cycle)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, cycle), 4)
  t.equal(readCounter(counter, 'current_month', 'billing_cycle', noon, null), 7)
})

t.test('FE-52 a subscription that ends leaves no room behind, events ahead stay', async t => {
  const cycle = { startMs: at('2026-03-10T00:00:00Z'), endMs: at('2026-04-10T00:00:00Z') }
  const counter = newCounter(noon)
  addUsage(counter, 1, noon, noon, cycle)
  addUsage(counter, 1, noon, noon, null)
  t.equal(counter.stored().length, newCounter(noon).stored().length)
  const midnight = at('2026-03-16T00:00:00Z')
  addUsage(counter, 1, midnight - 1_000, midnight - 1_000, cycle)
  addUsage(counter, 5, midnight, midnight - 1_000, cycle)
  addUsage(counter, 1, midnight - 500, midnight - 500, null)
  t.same(counter.ahead, [midnight, 5])
  t.equal(readCounter(counter, 'current_day', 'first_of_month', midnight, null), 5)
  t.equal(readCounter(counter, 'current_week', 'first_of_month', midnight, null), 9)
})

t.comment(`seed ${seed}`)

/** A year from here, in minutes, so that every kind of boundary is met. */
const year0 = at('2027-12-01T00:00:00Z')
const minutes = fc.integer({ min: 0, max: 380 * 24 * 60 })

t.test('EV-58 whatever order events come in, all counters end equal, and equal to a plain sum', async t => {
  const happening = fc.record({ quantity: fc.integer({ min: -9, max: 99 }), minute: minutes })
  const cycles = fc.oneof(
    fc.constant(null),
    fc.record({
      startMs: fc.integer({ min: -60, max: 400 }).map(days => year0 + days * dayMs + 30_600_000),
      days: fc.constantFrom(28, 31, 365, 800),
    }),
  )
  fc.assert(
    fc.property(
      fc.array(happening, { minLength: 1, maxLength: 12 }),
      fc.array(minutes, { minLength: 12, maxLength: 12 }),
      minutes,
      cycles,
      fc.infiniteStream(fc.nat()),
      (events, clock, end, subscription, picks) => {
        const nows = [...clock].sort((a, b) => a - b).map(minute => year0 + minute * 60_000)
        const last = Math.max(nows[events.length - 1]!, year0 + end * 60_000)
        const cycleAt = (nowMs: number) =>
          subscription &&
          runningCycle(subscription.startMs, subscription.startMs + subscription.days * dayMs, nowMs)
        const run = (order: readonly (typeof events)[number][]) => {
          const counter = newCounter(nows[0]!)
          order.forEach((event, i) => {
            addUsage(counter, event.quantity, year0 + event.minute * 60_000, nows[i]!, cycleAt(nows[i]!))
            readAll(counter, nows[i]!, cycleAt(nows[i]!))
          })
          return readAll(counter, last, cycleAt(last))
        }
        const shuffled = [...events]
        for (let i = shuffled.length - 1; i > 0; i--) {
          const j = picks.next().value! % (i + 1)
          ;[shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!]
        }
        const readings = run(events)
        if (JSON.stringify(run(shuffled)) !== JSON.stringify(readings)) fail('order matters')
        for (const reading of readings) {
          const window = metricWindow(reading.period, reading.monthReset, cycleAt(last), last)
          const inside = events.filter(({ minute }) => {
            const ms = year0 + minute * 60_000
            return window === null || (ms >= window.startMs && ms < window.nextMs)
          })
          const sum = inside.reduce((total, event) => total + event.quantity, 0)
          if (sum !== reading.value)
            fail(`${reading.period}/${reading.monthReset}: ${reading.value}, not ${sum}`)
        }
      },
    ),
    { seed, numRuns: 1_500 },
  )
  t.pass('commutes')
})

function fail(message: string): never {
  throw new Error(message)
}

// Cost of checks on live state: one flag, one with many rules, all flags of an environment; and of writing the
// result.
import { performance } from 'node:perf_hooks'
import { FlagdCore } from '@openfeature/flagd-core'
import { compileCatalog } from '../../src/core/catalog.js'
import { tellAll } from '../../src/core/checks/all-flags.js'
import { checkFlag } from '../../src/core/checks/check.js'
import { writeCheck } from '../../src/core/flags/flag.js'
import { Counters } from '../../src/core/model/counters.js'
import type { Outcome } from '../../src/core/rules/rule.js'
import { addUsage, newCounter } from '../../src/core/usage/counter.js'
import {
  catalogData,
  company,
  condition,
  entitlement,
  feature,
  flag,
  holding,
  plan,
  planVersion,
  rule,
  trait,
} from '../../test/core/make.js'
import { checkAll, writeAllChecks } from '../../test/core/plain-checks.js'

const nowMs = Date.UTC(2026, 2, 15, 10)
let sink = 0

/** The best and the median of 25 runs, in microseconds per call; on a busy machine the best is nearer the truth. */
function bench(name: string, goalUs: number | null, work: () => unknown): void {
  for (let i = 0; i < 30_000; i++) sink += work() === null ? 1 : 0
  const calls = Math.max(200, Math.round(20_000 / (goalUs ?? 0.5)))
  const times: number[] = []
  for (let run = 0; run < 25; run++) {
    const begun = performance.now()
    for (let i = 0; i < calls; i++) sink += work() === null ? 1 : 0
    times.push(((performance.now() - begun) * 1_000) / calls)
  }
  times.sort((a, b) => a - b)
  const verdict = goalUs === null ? '' : `  goal ${goalUs} µs ${times[0]! <= goalUs ? 'met' : 'MISSED'}`
  console.log(`${name.padEnd(64)} ${times[0]!.toFixed(3)} µs (median ${times[12]!.toFixed(3)}) ${verdict}`)
}

const used = (subtype: string, quantity: number) => {
  const counter = newCounter(nowMs)
  addUsage(counter, quantity, nowMs, nowMs, null)
  return [subtype, counter] as const
}

// Flag 1: a plan's numeric entitlement (metric), plus a standard rule with two conditions: 2 rules, 3 conditions.
const small = compileCatalog(
  catalogData({
    traits: [trait('seats'), trait('region', { traitType: 'string' })],
    features: [feature('exports')],
    flags: [
      flag('exports', {
        rules: [
          rule('beta', {
            conditions: [
              condition({ traitId: 'trt_region', traitValue: 'eu' }),
              condition({ traitId: 'trt_seats', operator: 'gte', traitValue: '5' }),
            ],
          }),
        ],
      }),
      flag('other', {
        featureId: null,
        rules: [
          rule('heavy', {
            conditions: [
              condition({
                conditionType: 'metric',
                eventSubtype: 'exports',
                operator: 'gte',
                metricValue: 1_000_000,
                metricPeriod: 'current_month',
              }),
            ],
          }),
          rule('beta', {
            conditions: [
              condition({ traitId: 'trt_region', traitValue: 'eu' }),
              condition({ traitId: 'trt_seats', operator: 'gte', traitValue: '5' }),
            ],
          }),
        ],
      }),
    ],
    plans: [
      plan('pro', [
        entitlement('exports', { valueType: 'numeric', valueNumeric: 1_000, metricPeriod: 'current_month' }),
      ]),
    ],
  }),
)
const acme = company({
  plan: holding('pro'),
  traits: { region: 'eu', seats: '12', size: 'large' },
  counters: new Map([used('exports', 42)]),
})

bench('check: 2 rules, 3 conditions, one a metric', 0.5, () =>
  checkFlag(small, 'other', acme, null, null, nowMs),
)
// The baseline: a published local evaluator with the same two rules, all of its context given with the call.
const published = new FlagdCore()
const isLarge = {
  and: [{ '==': [{ var: 'region' }, 'eu'] }, { '>=': [{ var: 'seats' }, 5] }],
}
published.setConfigurations(
  JSON.stringify({
    flags: {
      other: {
        state: 'ENABLED',
        variants: { on: true, off: false },
        defaultVariant: 'off',
        targeting: { if: [{ '>=': [{ var: 'used' }, 1_000_000] }, 'on', isLarge, 'on', 'off'] },
      },
    },
  }),
)
const given = { targetingKey: 'acme', region: 'eu', seats: 12, used: 42 }
bench('the same by @openfeature/flagd-core (baseline)', null, () =>
  published.resolveBooleanEvaluation('other', false, given),
)
bench('check: entitled by plan, with its figures', 0.5, () =>
  checkFlag(small, 'exports', acme, null, null, nowMs),
)
bench('the same, with preflight', 1, () =>
  checkFlag(
    small,
    'exports',
    acme,
    null,
    { usage: 1, eventUsage: { eventSubtype: 'exports', quantity: 2 }, creditCost: null },
    nowMs,
  ),
)
bench('the same, serialised', 1.5, () => writeCheck(checkFlag(small, 'exports', acme, null, null, nowMs)!))

// Flag 2: 100 standard rules, none of which matches but the last.
const many = compileCatalog(
  catalogData({
    traits: [trait('seats'), trait('region', { traitType: 'string' })],
    flags: [
      flag('wide', {
        featureId: null,
        rules: Array.from({ length: 100 }, (_, i) =>
          rule(`r${i}`, {
            priority: i,
            conditions: [
              i % 2
                ? condition({ traitId: 'trt_region', traitValue: i === 99 ? 'eu' : `region-${i}` })
                : condition({ traitId: 'trt_seats', operator: 'gt', traitValue: String(1_000 + i) }),
            ],
          }),
        ),
      }),
    ],
  }),
)
bench('check: 100 standard rules, the last matches', 5, () =>
  checkFlag(many, 'wide', acme, null, null, nowMs),
)

// 50 flags of 50 event features, half of them entitled with a limit, the rest by own rules or not at all.
const names = Array.from({ length: 50 }, (_, i) => `feature-${String(i).padStart(2, '0')}`)
const broad = compileCatalog(
  catalogData({
    traits: [trait('region', { traitType: 'string' })],
    features: names.map(name => feature(name)),
    flags: names.map(name =>
      flag(name, {
        rules: [rule('beta', { conditions: [condition({ traitId: 'trt_region', traitValue: 'us' })] })],
      }),
    ),
    plans: [
      plan(
        'pro',
        names
          .filter((_, i) => i % 2 === 0)
          .map((name, i) =>
            i % 3 === 0
              ? entitlement(name, { valueBool: true })
              : entitlement(name, { valueType: 'numeric', valueNumeric: 100, metricPeriod: 'current_month' }),
          ),
      ),
      plan('extra', [entitlement('feature-01', { valueType: 'unlimited' })], { planType: 'add_on' }),
    ],
  }),
)
const large = company({
  plan: holding('pro'),
  addOns: [holding('extra')],
  traits: { region: 'eu' },
  counters: new Map(names.slice(0, 20).map(name => used(name, 42))),
})
const asked = { companyGiven: true, userGiven: false }
bench('check all of 50 flags', 30, () => checkAll(broad, large, null, asked, nowMs))
const outcomes: Outcome[] = []
const sent = Buffer.alloc(65_536)
bench('the same, serialised', 60, () =>
  sent.write(writeAllChecks(checkAll(broad, large, null, asked, nowMs)), 'latin1'),
)
bench('the same, as text at once', 20, () =>
  sent.write(tellAll(broad, large, null, asked, nowMs, outcomes), 'latin1'),
)

// A large catalog: 500 features and flags, 40 plans of 5 versions, 100 entitlements each.
const wide = Array.from({ length: 500 }, (_, i) => `f${i}`)
const largeData = catalogData({
  features: wide.map(name => feature(name)),
  flags: wide.map(name => flag(name)),
  plans: Array.from({ length: 40 }, (_, p) =>
    plan(`plan-${p}`, [], {
      versions: Array.from({ length: 5 }, (_, v) =>
        planVersion(`plan-${p}-v${v}`, {
          entitlements: wide
            .slice(p, p + 100)
            .map(name =>
              entitlement(name, { id: `${p}-${v}-${name}`, valueType: 'numeric', valueNumeric: v }),
            ),
        }),
      ),
    }),
  ),
})
let compileMs = Number.POSITIVE_INFINITY
for (let i = 0; i < 5; i++) {
  const begun = performance.now()
  sink += compileCatalog(largeData).versions.size
  compileMs = Math.min(compileMs, performance.now() - begun)
}
console.log(
  'compile 500 flags, 200 plan versions, 20 000 entitlements'.padEnd(64),
  compileMs.toFixed(1),
  'ms',
)

// Memory and time of a counter.
const counter = newCounter(nowMs)
bench('count one event', 0.3, () => addUsage(counter, 1, nowMs, nowMs, null))
const cycle = { startMs: Date.UTC(2026, 0, 20, 8, 30), endMs: Date.UTC(2027, 0, 20, 8, 30) }
bench('count one event, with a billing cycle', 0.6, () => addUsage(counter, 1, nowMs, nowMs, cycle))
globalThis.gc?.()
const before = process.memoryUsage().heapUsed
const twelve = Array.from({ length: 12 }, (_, n) => `event_${n}`)
const kept = Array.from({ length: 10_000 }, () => {
  const all = new Counters()
  for (const name of twelve) addUsage(all.add(name, nowMs), 1, nowMs, nowMs, null)
  return all
})
globalThis.gc?.()
const bytes = (process.memoryUsage().heapUsed - before) / kept.length / twelve.length
console.log(`bytes of one counter of twelve (run with --expose-gc)`.padEnd(64), bytes.toFixed(0))

if (sink < 0) console.log(sink)

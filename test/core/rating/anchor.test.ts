// Windows of overage of a subscription that a provider reports period by period.
import t from 'tap'
import type { BillingFacts } from '../../../src/core/rating/facts.js'
import { effective, type HistoryEntry } from '../../../src/core/rating/history.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { factsOf, randomWorld } from '../../laws/rating-world.js'
import { Random } from '../../random.js'
import { ratedPrice } from '../make.js'

const at = (iso: string) => Date.parse(`${iso}T12:00:00Z`)

/** Monthly periods as a provider reports them, each when it begins. */
function reported(starts: readonly string[], end: string): HistoryEntry[] {
  return starts.map((start, i) => ({
    kind: 'subscription',
    atMs: at(start),
    id: 'sub',
    state: {
      id: 'sub',
      externalId: 'sub',
      status: 'active',
      periodStartMs: at(start),
      periodEndMs: at(starts[i + 1] ?? end),
      intervalMonths: 1,
      cancelAtPeriodEnd: false,
      cancelAtMs: null,
      trialEndMs: null,
      trialEndSetting: null,
      productIds: [],
      items: [],
    },
  }))
}

t.test('RA-5, RA-8 a quarter goes on through the months that a provider reports', async t => {
  const { versions, ...world } = factsOf(randomWorld(new Random(1)), 0)
  const version = [...versions.values()][0]!
  const entitlement = {
    ...version.entitlements[0]!,
    featureId: 'f1',
    subtype: 'a',
    behavior: 'overage',
    softLimit: 10n,
    metricPeriod: 'current_month',
    monthReset: 'billing_cycle',
    cadence: 'quarterly',
    anchor: 'billing_period_start',
    prices: [{ ...ratedPrice({ unit: '2' }), months: 1 }],
  } as const
  const holding = { planId: version.planId, versionId: 'v', addedAtMs: 0, priceId: null, trial: null }
  const facts: BillingFacts = {
    ...world,
    discounts: [],
    late: [],
    versions: new Map([['v', { ...version, versionId: 'v', entitlements: [entitlement] }]]),
    history: effective([
      { kind: 'plan', atMs: at('2031-01-31'), plan: { ...holding, subscriptionId: 'sub' } },
      ...reported(['2031-01-31', '2031-02-28', '2031-03-31'], '2031-04-30'),
    ]),
  }
  const nowMs = at('2031-05-02')
  const periods = periodsOf(facts, nowMs)
  t.same(
    periods.map(one => one.startMs),
    ['2031-01-31', '2031-02-28', '2031-03-31', '2031-04-30'].map(at),
    'month ends do not move the day',
  )
  const fifteen = { quantity: 15n, count: 1, firstId: 'e', lastId: 'e' }
  const used = { sum: () => fifteen, trait: () => 0n }
  const told = periods.map(one => ratePeriod(facts, one, used, nowMs))
  t.same(
    told.map(one => one.lines.map(line => [line.kind, line.quantity.n])),
    [[], [], [['overage', 15n]], []],
    'three months beyond their 10 each, when the quarter closes',
  )
})

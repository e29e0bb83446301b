// Expiry of answers (FE-1, FE-50…53, EN-61, CR-76). Random companies have instants seconds apart. No check
// may change before the instant that `cacheableUntil` returns. The seed is printed; TOLLGATE_SEED repeats a
// run.
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import { cacheableUntil } from '../../src/core/checks/cacheable-until.js'
import { apply } from '../../src/core/company/company.js'
import { settle } from '../../src/core/live/company-accounts.js'
import { type CreditAccount, emptyAccount } from '../../src/core/model/account-state.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CatalogData } from '../../src/core/model/definitions.js'
import { cycleOf } from '../../src/core/plans/plan.js'
import { addUsage } from '../../src/core/usage/counter.js'
import { amountFromDecimal } from '../../src/core/values/amount.js'
import { dayMs } from '../../src/core/values/period.js'
import * as make from '../core/make.js'
import { checkAll, writeAllChecks } from '../core/plain-checks.js'
import { Random, times } from '../random.js'

const runs = times(1_500)
const random = new Random()
// Inside a minute, an hour, a day and a month, so that all boundaries nearby belong to the company.
const aroundMs = Date.UTC(2027, 10, 17, 12, 30, 20)

/** An instant within forty seconds. */
const instant = (): number => aroundMs + random.below(40_000)
const orNull = <T>(some: () => T): T | null => (random.chance(0.5) ? some() : null)

const metric = (value: number) =>
  make.condition({
    conditionType: 'metric',
    operator: 'gte',
    eventSubtype: 'api',
    metricPeriod: 'current_month',
    monthReset: 'billing_cycle',
    metricValue: value,
  })
const credit = make.condition({ conditionType: 'credit', operator: 'lt', creditId: 'c1', consumptionRate: 5 })

function definitions(): CatalogData {
  const limited = (valueNumeric: number) => ({
    valueType: 'numeric' as const,
    valueNumeric,
    metricPeriod: 'current_month' as const,
    monthReset: 'billing_cycle' as const,
  })
  return make.catalogData({
    features: [make.feature('api'), make.feature('paid'), make.feature('sso', { featureType: 'boolean' })],
    credits: [make.credit('c1')],
    fallbackPlanId: random.chance(0.5) ? 'free' : null,
    trialExpiryPlanId: random.chance(0.5) ? 'free' : null,
    flags: [
      make.flag('api', { rules: [make.rule('many', { conditions: [metric(3)] })] }),
      make.flag('paid'),
      make.flag('sso', { featureId: 'sso', rules: [make.rule('paid', { conditions: [credit] })] }),
    ],
    plans: ['free', 'pro', 'extra'].map((id, i) =>
      make.plan(id, [], {
        planType: i < 2 ? 'plan' : 'add_on',
        versions: [
          make.planVersion(`${id}_v1`, {
            billingProductId: `prod_${id}`,
            entitlements: [
              make.entitlement('api', { id: `${id}_api`, ...limited(i * 3 + 1) }),
              make.entitlement('paid', { id: `${id}_paid`, valueType: 'credit', valueCreditId: 'c1' }),
            ],
          }),
        ],
      }),
    ),
  })
}

function account(): CreditAccount {
  const made = emptyAccount('comp_1', 'c1')
  made.sequence = 3
  made.grants = Array.from({ length: 1 + random.below(3) }, (_, seq) => {
    const quantity = amountFromDecimal(String(1 + random.below(9)))!
    return {
      seq: seq + 1,
      reason: 'free' as const,
      quantity,
      remaining: quantity,
      held: 0n,
      createdAtMs: 0,
      validFromMs: random.chance(0.5) ? instant() : 0,
      expiresAtMs: orNull(instant),
      planGrantId: null,
      licence: null,
      closed: null,
    }
  })
  if (random.chance(0.4)) made.spent = [{ seq: 0, quantity: 1n, expiresAtMs: orNull(instant) }]
  return made
}

function subscription(id: string) {
  const periodStartMs = instant() - (random.chance(0.7) ? 30 * dayMs : 0)
  return make.subscription({
    id,
    status: random.pick(['active', 'active', 'past_due', 'trialing', 'canceled']),
    periodStartMs,
    periodEndMs: random.chance(0.5) ? instant() : periodStartMs + 60 * dayMs,
    cancelAtPeriodEnd: random.chance(0.5),
    cancelAtMs: orNull(instant),
    trialEndMs: orNull(instant),
    trialEndSetting: random.pick(['cancel', 'subscribe']),
    productIds: ['prod_pro', 'prod_extra'].filter(() => random.chance(0.6)),
  })
}

function life(): Company {
  const endMs = instant()
  const company = make.company({
    plan: orNull(() =>
      make.holding('pro', {
        addedAtMs: aroundMs - 20 * dayMs,
        trial: orNull(() => ({
          endMs,
          endSetting: random.pick(['cancel', 'subscribe']),
          status: 'active' as const,
        })),
      }),
    ),
    addOns: random.chance(0.5) ? [make.holding('extra', { addedAtMs: aroundMs - 20 * dayMs })] : [],
    subscriptions: ['bilsub_0', 'bilsub_1'].filter(() => random.chance(0.4)).map(subscription),
    overrides: random.chance(0.5)
      ? [make.override('sso', { valueType: 'boolean', valueBool: true }, instant())]
      : [],
    credits: random.chance(0.6) ? [['c1', account()]] : [],
  })
  for (let i = random.below(6); i > 0; i--) {
    const nowMs = aroundMs - random.below(40 * dayMs)
    const counter = company.counters.get('api') ?? company.counters.add('api', nowMs)
    addUsage(counter, 1 + random.below(3), nowMs + random.below(300_000), nowMs, cycleOf(company, nowMs))
  }
  return company
}

t.test(`no answer changes before its expiry (seed ${random.seed})`, async t => {
  let shorter = 0
  let changed = 0
  for (let run = 0; run < runs; run++) {
    const catalog = compileCatalog(definitions())
    const company = life()
    const nowMs = instant()
    const { effects, untilMs: settledUntilMs } = settle(company, catalog, nowMs)
    for (const effect of effects) apply(company, effect, nowMs)
    const told = (atMs: number): string =>
      writeAllChecks(checkAll(catalog, company, null, { companyGiven: true, userGiven: false }, atMs))
    const untilMs = cacheableUntil(company, settledUntilMs, nowMs)
    const first = told(nowMs)
    if (untilMs % 60_000 !== 0) shorter++
    if (told(Date.UTC(2027, 10, 17, 12, 31) - 1) !== first) changed++
    for (const atMs of [untilMs - 1, nowMs + random.below(Math.max(1, untilMs - nowMs))])
      if (atMs >= nowMs && told(atMs) !== first)
        return t.fail(`run ${run}: at ${atMs} it tells something else than at ${nowMs}, before ${untilMs}`)
  }
  t.ok(shorter > runs / 4, `${shorter} of ${runs} stand for less than their minute`)
  t.ok(changed > runs / 20, `${changed} of ${runs} would have changed within it`)
})

t.test('without a company an answer expires with its minute', async t => {
  t.equal(cacheableUntil(null, 0, aroundMs), Date.UTC(2027, 10, 17, 12, 31))
})

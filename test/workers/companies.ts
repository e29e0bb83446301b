// Companies on plans with credits and counters near the end of a day, a week, a month, for laws of shards.
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import { applyCredit } from '../../src/core/credits/ledger.js'
import { emptyAccount } from '../../src/core/model/account-state.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { ConditionDef } from '../../src/core/model/definitions.js'
import type { Effect } from '../../src/core/model/message.js'
import { UsageBatchWriter } from '../../src/core/usage/batch.js'
import { addUsage, newCounter } from '../../src/core/usage/counter.js'
import { encodeId } from '../../src/core/values/id.js'
import { minuteMs } from '../../src/core/values/period.js'
import { Encoder } from '../../src/wire/message-codec.js'
import {
  catalogData,
  company,
  condition,
  credit,
  entitlement,
  feature,
  flag,
  holding,
  plan,
  rule,
  subscription,
  trait,
} from '../core/make.js'
import type { Random } from '../random.js'

const env = 'env_23456789ABC'
export const creditId = 'bcrd_23456789AB'
/** Minutes before the end of a day, a week, a month, and of none of them. */
export const begins = ['2026-03-18T23:59', '2026-03-22T23:59', '2026-03-31T23:59', '2026-03-18T10:10'].map(
  at => Date.parse(`${at}:00Z`),
)
const names = ['a', 'b', 'metered', 'paid']

function anyTest(random: Random): ConditionDef {
  const metric = condition({
    conditionType: 'metric',
    operator: random.pick(['lt', 'lte', 'gt', 'gte', 'eq', 'ne']),
    eventSubtype: random.pick(names),
    metricPeriod: random.pick(['all_time', 'current_day', 'current_week', 'current_month']),
    monthReset: random.pick(['first_of_month', 'first_of_month', 'billing_cycle']),
    metricValue: random.below(12) - 2,
    comparisonTraitId: random.chance(0.2) ? 'trt_limit' : null,
  })
  const paid = condition({
    conditionType: 'credit',
    operator: random.pick(['lt', 'gte']),
    creditId,
    consumptionRate: 1,
  })
  const seats = condition({ operator: 'gte', traitId: 'trt_limit', traitValue: '4' })
  return random.pick([metric, metric, metric, metric, paid, seats])
}

export function catalogOf(random: Random): Catalog {
  const some = (count: number) => Array.from({ length: random.below(count) }, () => anyTest(random))
  const rules = (name: string) =>
    Array.from({ length: random.below(4) }, (_, i) =>
      rule(`${name}_${i}`, {
        ruleType: random.pick(['standard', 'standard', 'company_override', 'plan_entitlement']),
        priority: i,
        value: random.chance(0.7),
        conditions: some(3),
        conditionGroups: random.chance(0.3) ? [[anyTest(random), anyTest(random)]] : [],
      }),
    )
  const metered = entitlement('metered', {
    valueType: 'numeric',
    valueNumeric: 5,
    metricPeriod: random.pick(['all_time', 'current_day', 'current_month']),
    monthReset: 'first_of_month',
  })
  const paid = entitlement('paid', {
    valueType: 'credit',
    valueCreditId: creditId,
    consumptionRate: random.pick([0.5, 1, 2]),
  })
  return compileCatalog(
    catalogData({
      environmentId: env,
      traits: [trait('limit')],
      features: [feature('metered'), feature('paid'), feature('on', { featureType: 'boolean' })],
      credits: [credit(creditId)],
      plans: [plan('plan_1', [metered, paid, entitlement('on', { valueBool: true })])],
      flags: [
        ...['metered', 'paid', 'on'].map(key => flag(key, { rules: random.chance(0.3) ? rules(key) : [] })),
        ...['x', 'y', 'z'].map(key => flag(key, { featureId: null, rules: rules(key) })),
      ],
    }),
  )
}

export function companyOf(random: Random, begunMs: number): Company {
  const id = encodeId('comp_', random.below(100), 7)
  const account = emptyAccount(id, creditId)
  const granted = {
    t: 'credit_grant',
    c: creditId,
    seq: 1,
    at: begunMs,
    g: { reason: 'free', q: 10_000_000_000, exp: random.chance(0.3) ? begunMs + 90_000 : undefined },
  } satisfies Effect
  applyCredit(account, granted)
  const before = begunMs - 120 * minuteMs
  const counters = names.map(name => {
    const counter = newCounter(before)
    addUsage(counter, random.below(6), before, before, null)
    return [name, counter] as const
  })
  const cycle = { periodStartMs: begunMs - 40 * minuteMs, periodEndMs: begunMs + random.below(90_000) }
  return company({
    id,
    environmentId: env,
    plan: random.chance(0.7) ? holding('plan_1') : null,
    counters: random.chance(0.5) ? counters : [],
    subscriptions: random.chance(0.5) ? [subscription({ intervalMonths: 1, ...cycle })] : [],
    traits: random.chance(0.8) ? { limit: String(random.below(8)) } : {},
    credits: random.chance(0.7) ? [[creditId, account]] : [],
  })
}

export function oneUse(random: Random, companyId: string, at: number) {
  const rows = new UsageBatchWriter()
  const name = random.pick(names)
  const body = `{"event":"${name}"}`
  rows.add({
    bodyAt: 0,
    bodyLength: body.length,
    nameAt: body.length,
    nameLength: name.length,
    keyAt: 0,
    keyLength: 0,
    quantity: random.pick([1, 1, 1, 2, 5, 0, -1, -3]),
    idHigh: random.below(2 ** 31),
    idLow: random.below(2 ** 31),
    sentAtMs: null,
    companyId,
    userId: null,
  })
  const packing = new Encoder()
  packing.add(1, { at, env, apiKeyId: 'apik_3mK9tQxYzAb', text: body + name, rows })
  return packing.take()
}

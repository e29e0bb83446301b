// Answers that are kept while their company uses what it may: one that still stands is what would be answered now, and
// use that does not matter to it leaves it standing.
import t from 'tap'
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import { apply, decideCompany } from '../../src/core/company/company.js'
import type { Company } from '../../src/core/company/company-state.js'
import type { Effect, Question } from '../../src/core/company/message.js'
import { emptyAccount } from '../../src/core/credits/account-state.js'
import { settle } from '../../src/core/credits/company-accounts.js'
import { applyCredit } from '../../src/core/credits/ledger.js'
import type { ConditionDef } from '../../src/core/definitions.js'
import { encodeId } from '../../src/core/id.js'
import { itemsOf, UsageBatchWriter } from '../../src/core/usage/batch.js'
import { addUsage, newCounter } from '../../src/core/usage/counter.js'
import { minuteMs } from '../../src/core/usage/period.js'
import { Encoder, unpack } from '../../src/protocol/message-codec.js'
import { Changes } from '../../src/protocol/version-counters.js'
import { companyActor } from '../../workers/company/actors.js'
import { answerExpiresAt, answerOf, raiseChanged, rememberAnswer } from '../../workers/company/answer.js'
import { FlagChecks } from '../../workers/company/checks.js'
import { flagsOf, leavesTimeAlone } from '../../workers/company/kinds.js'
import { PlainUses } from '../../workers/company/uses.js'
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
import { Random } from '../random.js'

const env = 'env_23456789ABC'
const creditId = 'bcrd_23456789AB'
/** Minutes before the end of a day, a week, a month, and of none of them. */
const begins = ['2026-03-18T23:59', '2026-03-22T23:59', '2026-03-31T23:59', '2026-03-18T10:10'].map(at =>
  Date.parse(`${at}:00Z`),
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

function catalogOf(random: Random): Catalog {
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

function companyOf(random: Random, begunMs: number): Company {
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

function oneUse(random: Random, companyId: string, at: number) {
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

function anyQuestion(random: Random): Question {
  const context = {
    companyGiven: true,
    userGiven: false,
    asked: '{"company":{"id":"acme"}}',
    userId: null,
    userTraits: null,
  }
  if (random.chance(0.1)) return { type: 'check_all', context }
  const usage = random.below(4)
  const preflight = random.chance(0.7)
    ? null
    : { usage, eventUsage: null, creditCost: random.chance(0.3) ? { [creditId]: usage } : null }
  return { type: 'check', flagKey: random.pick(['metered', 'paid', 'on', 'x', 'y', 'z']), preflight, context }
}

/** An answer as it is kept: what was asked, and the numbers as they were before. */
interface Kept {
  readonly question: Question
  readonly text: unknown
  readonly change: number
  readonly uses: number
  readonly figures: boolean
  readonly sinceMs: number
  readonly untilMs: number
}

t.test('FE-105, FE-1 a cached answer beside use equals the answer computed now', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let [stood, survived, figuresSurvived, fell] = [0, 0, 0, 0]
  for (let round = 0; round < 600; round++) {
    const begunMs = random.pick(begins)
    let now = begunMs + random.below(minuteMs)
    let catalog = catalogOf(random)
    const changes = Changes.make(1)
    const plain = new PlainUses(changes)
    const [checks, apart] = [new FlagChecks('kept', 0), new FlagChecks('now', 0)]
    let actor = companyActor(companyOf(random, begunMs), 0)
    const { state } = actor
    const place = changes.placeOf(state.id)
    const record = (fx: readonly Effect[]) => {
      raiseChanged(actor, changes)
      for (const effect of fx) apply(state, effect, now)
      if (!leavesTimeAlone(state, fx, flagsOf(fx))) actor.settledUntilMs = 0
    }
    const settled = () => {
      if (now < actor.settledUntilMs) return
      const { effects, untilMs } = settle(state, catalog, now)
      if (effects.length > 0) record(effects)
      actor.settledUntilMs = untilMs
    }
    const use = () =>
      unpack(oneUse(random, state.id, now), request => {
        if (!('uses' in request)) throw new Error('no uses')
        plain.begin(request, catalog)
        if (plain.add(actor, request, request.from)) return
        const [{ m }] = itemsOf(request) as [ReturnType<typeof itemsOf>[number]]
        const decision = decideCompany(state, catalog, m, now)
        record('refused' in decision ? [] : decision.effects)
      })
    let kept: Kept[] = []
    for (let step = 0; step < 60; step++) {
      now += random.pick([0, 1, 50, 1_000, 1_000, 20_000])
      if (random.chance(0.02)) now -= random.below(2 * minuteMs) // a test clock that is taken back
      settled()
      const chance = random.below(20)
      if (chance < 8) use()
      else if (chance < 17) {
        const question = anyQuestion(random)
        const [change, uses] = [changes.at(place), changes.usageVersion(place)]
        const text = answerOf(checks, catalog, actor, question, now)
        const untilMs = answerExpiresAt(actor, now)
        rememberAnswer(actor, checks.reads, now)
        const { figures } = checks.reads
        // of some the shard has heard more than who keeps answers
        if (random.chance(0.9)) kept.push({ question, text, change, uses, figures, sinceMs: now, untilMs })
      } else if (chance === 17) {
        record([{ t: 'trait', name: 'limit', value: String(random.below(8)), atMs: now }])
      } else if (chance === 18) {
        // let go, and loaded again: the shard does not know what was answered
        actor = companyActor(state, 0)
        settled()
      } else if (random.chance(0.2)) {
        catalog = catalogOf(random)
        kept = [] // another era
        actor.settledUntilMs = 0
        settled()
      }
      const standing = kept.filter(
        one => one.change === changes.at(place) && (!one.figures || one.uses === changes.usageVersion(place)),
      )
      fell += kept.length - standing.length
      kept = standing
      for (const one of kept) {
        if (now < one.sinceMs || now >= one.untilMs) continue
        stood++
        const answered = answerOf(apart, catalog, actor, one.question, now)
        if (answered !== one.text) t.equal(answered, one.text, JSON.stringify(one.question))
        if (chance >= 8) continue
        if (one.figures) figuresSurvived++
        else survived++
      }
    }
  }
  t.ok(stood > 20_000 && fell > 5_000, `${stood} answers looked at again, ${fell} fell`)
  t.ok(survived > 4_000, `${survived} stood beside a use`)
  t.equal(figuresSurvived, 0, 'none that shows figures')
})

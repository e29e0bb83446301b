// Compiled evaluation against the plain interpreter: generated definitions and companies, with time moved
// over every boundary. Both must agree. Snapshots in the wire's shapes must also answer like live state.

import fc from 'fast-check'
import t from 'tap'
import { comparableOperators, type TraitType } from '../../schemas/enums.js'
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import { tellAll } from '../../src/core/checks/all-flags.js'
import { checkFlag } from '../../src/core/checks/check.js'
import { newUser } from '../../src/core/company/user.js'
import { engineCompany, engineFlags, engineUser } from '../../src/core/evaluator/engine-shapes.js'
import {
  evaluateWith,
  PreparedCompany,
  PreparedFlag,
  PreparedUser,
} from '../../src/core/evaluator/evaluate-snapshot.js'
import { type CheckResult, writeCheck } from '../../src/core/flags/flag.js'
import { hasAccess } from '../../src/core/live/feature.js'
import { LiveCompany, userOf } from '../../src/core/live/live-company.js'
import { type CreditAccount, emptyAccount } from '../../src/core/model/account-state.js'
import type {
  Company,
  OverrideState,
  PlanHolding,
  SubscriptionState,
} from '../../src/core/model/company-state.js'
import type {
  CatalogData,
  ConditionDef,
  EntitlementDef,
  FlagDef,
  RuleDef,
} from '../../src/core/model/definitions.js'
import type { User } from '../../src/core/model/entity-state.js'
import type { Preflight } from '../../src/core/model/requests.js'
import { cycleOf } from '../../src/core/plans/plan.js'
import type { Outcome, UserFacts } from '../../src/core/rules/rule.js'
import { addUsage, needsRecount, readAll, setCycleUsage } from '../../src/core/usage/counter.js'
import { amountFromDecimal } from '../../src/core/values/amount.js'
import { dayMs, metricWindow } from '../../src/core/values/period.js'
import { addQuantity, type Quantity } from '../../src/core/values/quantity.js'
import { NamedTexts } from '../../src/core/values/text-map.js'
import { jsonText, parseExactly } from '../../src/json.js'
import * as make from '../core/make.js'
import { checkAll, writeAllChecks } from '../core/plain-checks.js'
import { seed, times } from '../random.js'
import { explainsAll, withConditionIds } from './explain-law.js'
import { interpret, type Use, type Verdict, type World } from './interpreter.js'

const startMs = Date.UTC(2027, 10, 25, 7, 30)
const horizonDays = 130

// Few names, so that they collide.
const traits = [
  make.trait('seats'),
  make.trait('limit', { traitType: 'currency' }),
  make.trait('region', { traitType: 'string' }),
  make.trait('vip', { traitType: 'boolean' }),
  make.trait('since', { traitType: 'date' }),
  make.trait('role', { traitType: 'string', entityType: 'user' }),
  make.trait('age', { entityType: 'user' }),
]
const features = [
  make.feature('api', { name: 'API calls' }),
  make.feature('mail'),
  make.feature('seat', { featureType: 'trait', traitId: 'trt_seats', usageLimitTraitId: 'trt_limit' }),
  make.feature('sso', { featureType: 'boolean' }),
]
const credits = [make.credit('c1'), make.credit('c2')]
const planIds = ['free', 'pro', 'extra', 'more'] as const

const pick = fc.constantFrom
const orNull = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null, freq: 2 })
const instantMs = fc.oneof(
  fc.integer({ min: -5 * 24, max: horizonDays * 24 }).map(hours => startMs + hours * 3_600_000),
  fc.integer({ min: 0, max: horizonDays }).map(days => Date.UTC(2027, 10, 25 + days)),
)
const integerText = fc.integer({ min: -2, max: 12 }).map(String)
const valueText: Record<TraitType, fc.Arbitrary<string>> = {
  number: fc.oneof(
    { weight: 4, arbitrary: integerText },
    { weight: 2, arbitrary: pick('', '3.9', '5.0', '1e1', '+5', 'abc', '.5', ' 5', '007', '-2') },
    { weight: 1, arbitrary: pick('9007199254740993', '9007199254740992', '99999999999999999999', '1e400') },
  ),
  currency: fc.oneof(integerText, pick('', '2.0', 'many', '9')),
  string: pick('', 'eu', 'us', 'EU', 'e', '😀', '\uffee', '10', '9'),
  boolean: pick('true', 'false', '1', '', 'yes', 'True'),
  date: pick('', 'soon', '2027-12-01T00:00:00Z', '2027-12-01T02:00:00+02:00', '2028-01-15T12:00:00.5Z'),
  url: pick('', 'http://x'),
}

/** Mostly small integers, some on either side of 2^53. With `full` also at the end of 64 bits. */
const long = (min: number, max: number, full = true): fc.Arbitrary<Quantity> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min, max }) },
    { weight: 1, arbitrary: pick(9007199254740991, 9007199254740992n, 9007199254740993n) },
    { weight: 1, arbitrary: full ? pick(9223372036854775806n, 9223372036854775807n) : pick(0, 1) },
  )

const operator = pick(...comparableOperators)
const period = pick('all_time', 'current_day', 'current_week', 'current_month')
const reset = pick('first_of_month', 'billing_cycle')
const subtype = pick('api', 'mail', 'rare')
const quantityRates = pick<Readonly<Record<string, number>> | null>(
  null,
  null,
  null,
  {},
  { input_tokens: 0.001 },
)
const rate = pick(0, 0.1, 1, 2.5, 5, 0.000000001)

const traitCondition = fc
  .record({ def: pick(...traits), other: orNull(pick(...traits)), operator })
  .chain(({ def, other, operator }) =>
    valueText[def.traitType].map(traitValue =>
      make.condition({
        conditionType: 'trait',
        operator,
        traitId: def.id,
        traitValue,
        comparisonTraitId: other && other.traitType === def.traitType ? other.id : null,
      }),
    ),
  )
const condition: fc.Arbitrary<ConditionDef> = fc.oneof(
  { weight: 3, arbitrary: traitCondition },
  {
    weight: 2,
    arbitrary: fc
      .record({
        operator,
        eventSubtype: fc.option(subtype, { nil: null, freq: 20 }),
        metricPeriod: orNull(period),
        monthReset: orNull(reset),
        metricValue: fc.option(long(-1, 12), { nil: null, freq: 20 }),
        comparisonTraitId: fc.option(pick('trt_limit', 'trt_seats', 'trt_age'), { nil: null, freq: 2 }),
      })
      .map(some => make.condition({ conditionType: 'metric', ...some })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        operator,
        creditId: pick('c1', 'c2', null),
        consumptionRate: orNull(rate),
        eventSubtype: orNull(subtype),
        quantityRates,
      })
      .map(some => make.condition({ conditionType: 'credit', ...some })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        operator,
        conditionType: pick('company', 'user', 'plan', 'plan_version', 'base_plan', 'billing_product'),
        resourceIds: fc.subarray([
          'comp_1',
          'user_1',
          'free',
          'pro',
          'extra',
          'pro_v1',
          'extra_v1',
          'prod_pro',
        ]),
      })
      .map(make.condition),
  },
)
const ownRule: fc.Arbitrary<Omit<RuleDef, 'id'>> = fc
  .record({
    ruleType: fc.oneof(
      { weight: 12, arbitrary: fc.constant('standard' as const) },
      { weight: 1, arbitrary: pick('global_override', 'default') },
    ),
    priority: long(-1, 2),
    value: fc.boolean(),
    conditions: fc.array(condition, { maxLength: 3 }),
    conditionGroups: fc.array(fc.array(condition, { maxLength: 2 }), { maxLength: 1 }),
  })
  .map(some => make.rule('', some))

const entitlementValue: fc.Arbitrary<Partial<EntitlementDef>> = fc
  .record({
    valueType: pick('boolean', 'numeric', 'numeric', 'trait', 'credit', 'unlimited', 'unknown'),
    valueBool: fc.boolean(),
    valueNumeric: long(0, 12),
    valueTraitId: pick('trt_limit', 'trt_seats', null),
    valueCreditId: pick('c1', 'c2'),
    consumptionRate: orNull(rate),
    quantityRates,
    metricPeriod: orNull(period),
    monthReset: orNull(reset),
    priceBehavior: pick(
      null,
      null,
      null,
      null,
      'overage',
      'pay_as_you_go',
      'pay_in_advance',
      'credit_burndown',
    ),
    softLimit: orNull(long(0, 9)),
    warningTiers: pick([], [], [{ key: 'near', value: 8 }]),
  })
  .map(some => (some.valueType === 'numeric' ? some : { ...some, valueNumeric: null }))
/**
 * Entitlements by feature; null grants nothing. Feature `sso` is boolean; the trait feature has no credits.
 */
const grants = fc.tuple(...features.map(({ id }) => orNull(valueFor(id))))

function valueFor(featureId: string): fc.Arbitrary<Partial<EntitlementDef>> {
  if (featureId === 'sso')
    return fc.boolean().map(valueBool => ({ valueType: 'boolean' as const, valueBool }))
  if (featureId !== 'seat') return entitlementValue
  return entitlementValue.map(some =>
    some.valueType === 'credit' || some.priceBehavior === 'credit_burndown'
      ? { ...some, valueType: 'boolean' as const, priceBehavior: null }
      : some,
  )
}

const entitled = (owner: string, given: readonly (Partial<EntitlementDef> | null)[]): EntitlementDef[] =>
  given.flatMap((some, i) =>
    some === null ? [] : make.entitlement(features[i]!.id, { id: `${owner}_${features[i]!.id}`, ...some }),
  )

const definitions: fc.Arbitrary<CatalogData> = fc
  .record({
    plans: fc.tuple(...planIds.map(() => fc.tuple(grants, grants, orNull(pick('5', '0.5', null))))),
    rules: fc.tuple(...features.map(() => fc.array(ownRule, { maxLength: 4 }))),
    defaults: fc.tuple(...features.map(() => fc.boolean())),
    fallbackPlanId: orNull(pick('free')),
    trialExpiryPlanId: orNull(pick('free', 'pro')),
    spendPolicies: fc.array(
      fc.record({
        id: fc.constant('cspl_1'),
        creditId: pick('c1', 'c2'),
        maxPerDraw: pick('0', '0.5', '5', '1000'),
        companyId: orNull(pick('comp_1', 'comp_2')),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ plans, rules, defaults, fallbackPlanId, trialExpiryPlanId, spendPolicies }) => {
    const flags: FlagDef[] = features.map(({ id }, i) =>
      make.flag(id, {
        defaultValue: defaults[i]!,
        rules: rules[i]!.map((rule, n) => ({ ...rule, id: `own_${id}_${n}`, name: `own ${n}` })),
      }),
    )
    return make.catalogData({
      traits,
      features,
      flags,
      credits,
      fallbackPlanId,
      trialExpiryPlanId,
      spendPolicies: spendPolicies.map(one => ({ ...one, userId: one.companyId === null ? 'user_1' : null })),
      plans: planIds.map((id, i) => {
        const [first, second, overdraft] = plans[i]!
        const version = (n: number, given: typeof first) =>
          make.planVersion(`${id}_v${n}`, {
            version: n,
            status: n === 2 ? 'published' : 'archived',
            billingProductId: `prod_${id}`,
            entitlements: entitled(`${id}_v${n}`, given),
            creditGrants: i === 1 ? [make.postpaid('c1', overdraft)] : [],
          })
        return make.plan(id, [], {
          planType: i < 2 ? 'plan' : 'add_on',
          versions: [version(1, first), version(2, second)],
          publishedVersionId: `${id}_v2`,
        })
      }),
    })
  })

const trial = fc.record({
  endMs: instantMs,
  endSetting: pick('cancel', 'cancel', 'subscribe'),
  status: fc.constant('active' as const),
})
const holdingOf = (ids: readonly string[]): fc.Arbitrary<PlanHolding> =>
  fc
    .record({ planId: pick(...ids), n: pick(1, 2), trial: fc.option(trial, { nil: null, freq: 2 }) })
    .map(({ planId, n, trial }) =>
      make.holding(planId, {
        versionId: `${planId}_v${n}`,
        addedAtMs: startMs - 20 * dayMs,
        trial: planId === 'pro' ? trial : null,
      }),
    )
const subscription: fc.Arbitrary<SubscriptionState> = fc
  .record({
    status: pick('active', 'active', 'past_due', 'trialing', 'canceled', 'paused'),
    startDay: fc.integer({ min: -60, max: 10 }),
    days: pick(28, 31, 90, 365),
    cancelAtPeriodEnd: fc.boolean(),
    cancelAtMs: fc.option(instantMs, { nil: null, freq: 2 }),
    trialEndMs: orNull(instantMs),
    trialEndSetting: pick('cancel', 'subscribe'),
    productIds: fc.subarray(planIds.map(id => `prod_${id}`)),
  })
  .map(({ startDay, days, ...some }) => {
    const periodStartMs = startMs + startDay * dayMs
    return make.subscription({ ...some, periodStartMs, periodEndMs: periodStartMs + days * dayMs })
  })

interface Life {
  readonly company: Company
  readonly uses: readonly Use[]
  readonly balances: Readonly<Record<string, string>>
}

const balanceText = pick('0', '4.99', '5', '2.5', '0.000000001', '100', '12', '-3', '-0.5')
const life: fc.Arbitrary<Life> = fc
  .record({
    plan: orNull(holdingOf(['free', 'pro'])),
    addOns: fc.uniqueArray(holdingOf(['extra', 'more']), { selector: ({ planId }) => planId, maxLength: 2 }),
    subscriptions: fc.array(subscription, { maxLength: 2 }),
    overrides: fc.tuple(
      ...features.map(({ id }) => orNull(fc.record({ value: valueFor(id), expires: orNull(instantMs) }))),
    ),
    texts: fc.tuple(
      ...traits.map(({ traitType, entityType }) =>
        entityType === 'user' ? fc.constant(null) : orNull(valueText[traitType]),
      ),
    ),
    // In order of processing. Effective times are up to two days back or five minutes ahead.
    uses: fc.array(
      fc.record({
        subtype,
        quantity: long(-2, 6, false),
        processedMs: fc.integer({ min: -5 * 24, max: 40 * 24 }).map(hours => startMs + hours * 3_600_000),
        // The third kind is dated to the midnight one minute ahead.
        backMs: fc.oneof(fc.constant(0), fc.integer({ min: -300_000, max: 2 * dayMs }), fc.constant(null)),
      }),
      { maxLength: 8 },
    ),
    balances: fc.record({ c1: orNull(balanceText), c2: orNull(balanceText) }),
    overdraftLimit: fc.option(pick('0', '3', '5', '100'), { nil: null, freq: 2 }),
  })
  .map(({ plan, addOns, subscriptions, overrides, texts, uses, balances, overdraftLimit }) => {
    const told: Record<string, string> = {}
    texts.forEach((text, i) => {
      if (text !== null) told[traits[i]!.name] = text
    })
    const held = Object.entries(balances).flatMap(([id, text]) =>
      text === null ? [] : [[id, text] as const],
    )
    const company = make.company({
      plan,
      addOns,
      subscriptions: subscriptions.map((one, i) => ({ ...one, id: `bilsub_${i}` })),
      overrides: overrides.flatMap((some, i): OverrideState[] =>
        some === null ? [] : [make.override(features[i]!.id, some.value, some.expires)],
      ),
      traits: told,
      overdraftLimit,
      credits: new Map(held.map(([id, text]) => [id, account(id, text)])),
    })
    const ordered = uses
      .map(({ backMs, processedMs, ...use }) => {
        const midnightMs = Math.ceil(processedMs / dayMs) * dayMs
        return backMs === null
          ? { ...use, processedMs: midnightMs - 60_000, atMs: midnightMs }
          : { ...use, processedMs, atMs: processedMs - backMs }
      })
      .sort((a, b) => a.processedMs - b.processedMs)
    return {
      company,
      uses: ordered.map(({ subtype, quantity, processedMs, atMs }) => {
        const counter = company.counters.get(subtype) ?? company.counters.add(subtype, processedMs)
        addUsage(counter, quantity, atMs, processedMs, cycleOf(company, processedMs))
        return { subtype, quantity, atMs }
      }),
      balances: Object.fromEntries(held),
    }
  })

/** An account with this balance. A negative balance is an overdraft without a closed arrears window. */
function account(creditId: string, text: string): CreditAccount {
  const remaining = amountFromDecimal(text)!
  const grant = {
    seq: 1,
    reason: 'free' as const,
    quantity: remaining,
    remaining,
    held: 0n,
    createdAtMs: 0,
    validFromMs: 0,
    expiresAtMs: null,
    planGrantId: null,
    licence: null,
    closed: null,
  }
  const made = emptyAccount('comp_1', creditId)
  if (remaining < 0n) made.overdraft = grant
  else made.grants = [grant]
  return made
}

const preflight: fc.Arbitrary<Preflight> = fc.record({
  usage: orNull(long(0, 4)),
  eventUsage: orNull(fc.record({ eventSubtype: subtype, quantity: long(0, 4) })),
  creditCost: orNull(fc.dictionary(pick('c1', 'c2'), pick(0, 0.5, 5, 5.01), { noNullPrototype: true })),
})
const asker = fc.record({
  id: fc.constant('user_1'),
  traits: fc.record({ role: valueText.string, age: valueText.number }, { requiredKeys: [] }),
})

/** Every instant at which the answer may change by time, and the instants one ms before and after. */
function boundaries({ company }: Life, counterOf: Map<string, number[]>): number[] {
  const found: number[] = []
  if (company.plan?.trial) found.push(company.plan.trial.endMs)
  for (const one of company.subscriptions) {
    found.push(one.periodStartMs, one.periodEndMs)
    if (one.cancelAtMs !== null) found.push(one.cancelAtMs)
    if (one.trialEndMs !== null) found.push(one.trialEndMs)
  }
  for (const ends of counterOf.values()) found.push(...ends)
  for (const { expiresAtMs } of company.overrides) if (expiresAtMs !== null) found.push(expiresAtMs)
  return found.flatMap(ms => [ms - 1, ms, ms + 1])
}

/** The service's recount after a cycle's start moved between events: count from the stored events (US-3). */
function recount({ company, uses }: Life, nowMs: number): number {
  const cycle = cycleOf(company, nowMs)
  if (cycle === null) return 0
  let counted = 0
  for (const [name, counter] of company.counters) {
    if (!needsRecount(counter, nowMs, cycle)) continue
    const { startMs, nextMs } = metricWindow('current_month', 'billing_cycle', cycle, nowMs)!
    const inside = uses.filter(({ subtype, atMs }) => subtype === name && atMs >= startMs && atMs < nextMs)
    const times = inside.map(({ atMs }) => atMs)
    const value = inside.reduce<Quantity>((sum, { quantity }) => addQuantity(sum, quantity), 0)
    const bounds = { minMs: Math.min(...times), maxMs: Math.max(...times) }
    const none = { minMs: 0, maxMs: 0 }
    setCycleUsage(counter, startMs, { value, ...(inside.length > 0 ? bounds : none) }, nowMs, cycle)
    counted++
  }
  return counted
}

const figures: ReadonlySet<string> = new Set([
  'allocation',
  'usage',
  'value',
  'soft_limit',
  'metric_value',
  'priority',
])

function wireOf(checked: CheckResult): Verdict {
  const { entitlement = null } = parseExactly(writeCheck(checked), figures) as ReturnType<typeof JSON.parse>
  // Total and used have a separate test: the interpreter knows balances only.
  if (entitlement !== null) {
    delete entitlement.credit_total
    delete entitlement.credit_used
  }
  return {
    value: checked.value,
    ruleId: checked.ruleId,
    ruleType: checked.ruleType,
    reason: checked.reason,
    usage: checked.featureUsage,
    allocation: checked.featureAllocation,
    event: checked.featureUsageEvent,
    period: checked.featureUsagePeriod,
    resetAtMs: checked.featureUsageResetAtMs,
    entitlement,
  }
}

const byName = (record: object | null) =>
  record && Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))

const sorted = (verdict: Verdict): string =>
  jsonText(byName({ ...verdict, entitlement: byName(verdict.entitlement) }))

t.test('compiled checks agree with the interpreter over 10 000 flag and company pairs', async t => {
  t.comment(`seed ${seed}`)
  let pairs = 0
  let checks = 0
  let recounts = 0
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(
      definitions,
      life,
      fc.array(instantMs, { minLength: 1, maxLength: 3 }),
      orNull(preflight),
      orNull(asker),
      fc.nat({ max: 9 }),
      (data, lived, chosen, preflight, user, absent) => {
        const catalog = compileCatalog(data)
        const lastMs = Math.max(startMs, ...lived.uses.map(({ atMs }) => atMs + 2 * dayMs))
        const facts = user && userOf(user.id, name => (user.traits as Record<string, string>)[name] ?? null)
        const windows = new Map(
          [...lived.company.counters].map(([name, counter]) => [
            name,
            readAll(counter, lastMs, cycleOf(lived.company, lastMs)).flatMap(one => one.validUntilMs ?? []),
          ]),
        )
        const instants = [...chosen, ...boundaries(lived, windows)].filter(ms => ms >= lastMs).slice(0, 15)
        const company = absent === 0 ? null : lived.company
        pairs += data.flags.length
        for (const nowMs of instants.sort((a, b) => a - b)) {
          recounts += recount(lived, nowMs)
          const world: World = { data, ...lived, company, user, preflight, nowMs }
          for (const flag of data.flags) {
            const checked = checkFlag(catalog, flag.key, company, facts, preflight, nowMs)!
            const expected = interpret(world, flag)
            checks++
            const kind = checked.ruleType ?? 'none'
            seen.set(kind, (seen.get(kind) ?? 0) + 1)
            if (sorted(wireOf(checked)) !== sorted(expected))
              throw new Error(
                `${flag.key} at ${new Date(nowMs).toISOString()}\n is ${sorted(wireOf(checked))}\nnot ${sorted(expected)}`,
              )
          }
          alikeAsText(catalog, company, facts, nowMs)
        }
      },
    ),
    { seed, numRuns: 2_500 },
  )
  t.ok(pairs >= 10_000, `${pairs} pairs, ${checks} checks, ${recounts} cycles recounted`)
  t.comment(Object.fromEntries(seen))
  for (const type of ['plan_entitlement', 'plan_entitlement_usage_exceeded', 'company_override', 'none'])
    t.ok((seen.get(type) ?? 0) > 100, `${type} was met`)
})

/** FE-90: the text of all checks is that of their results, byte by byte, and so are the outcomes that are counted. */
function alikeAsText(catalog: Catalog, company: Company | null, user: UserFacts | null, nowMs: number): void {
  for (const companyGiven of [true, false])
    for (const userGiven of [true, false]) {
      const given = { companyGiven, userGiven }
      const plain = checkAll(catalog, company, user, given, nowMs)
      const outcomes: Outcome[] = []
      const text = tellAll(catalog, company, user, given, nowMs, outcomes)
      if (text !== writeAllChecks(plain)) throw new Error(`as text\n${text}\nnot\n${writeAllChecks(plain)}`)
      const counted = outcomes.map(({ flag, flagId, value, reason, ruleId, json }) =>
        jsonText([flag, flagId, value, reason, ruleId, json]),
      )
      const expected = plain.flags.map(({ flag, flagId, value, reason, ruleId, json }) =>
        jsonText([flag, flagId, value, reason, ruleId, json]),
      )
      if (counted.join() !== expected.join()) throw new Error(`counted ${counted}\nnot ${expected}`)
    }
}

const runs = times(500)

t.test(
  'snapshots in the wire’s shapes answer like live state, in every member (FE-1, FE-5, FE-52)',
  async t => {
    t.comment(`seed ${seed}, ${runs} runs`)
    fc.assert(
      fc.property(
        definitions,
        life,
        instantMs,
        orNull(preflight),
        orNull(asker),
        (data, lived, chosen, asked, person) => {
          const catalog = compileCatalog(data)
          const nowMs = Math.max(chosen, startMs, ...lived.uses.map(({ atMs }) => atMs + 2 * dayMs))
          const live = new LiveCompany(lived.company, catalog, nowMs)
          const told = <Told>(value: Told): Told => parseExactly(jsonText(value), figures) as Told
          const company = new PreparedCompany(told(engineCompany(live)))
          const body = asked && {
            usage: asked.usage,
            event_usage: asked.eventUsage && {
              event_subtype: asked.eventUsage.eventSubtype,
              quantity: asked.eventUsage.quantity,
            },
            credit_cost: asked.creditCost,
          }
          const user = person && personOf(person.id, person.traits as Readonly<Record<string, string>>)
          const preparedUser = user && new PreparedUser(told(engineUser(user, catalog)))
          const facts = user && userOf(user.id, name => user.traits.text(name) ?? null)
          const given = { companyGiven: true, userGiven: user !== null }
          const all = checkAll(catalog, lived.company, facts, given, nowMs)
          const flags = told(engineFlags(catalog))
          catalog.flags.forEach((flag, i) => {
            const checked = checkFlag(catalog, flag.key, lived.company, facts, asked, nowMs)!
            const evaluated = evaluateWith(new PreparedFlag(flags[i]!), company, preparedUser, body, nowMs)
            const [a, b] = [writeCheck(checked), writeCheck(evaluated)]
            if (a !== b) throw new Error(`${flag.key}: live\n${a}, snapshot\n${b}`)
            if (asked === null && writeCheck(all.flags[i]!) !== a)
              throw new Error(`${flag.key}: one of all differs from the single check (FE-91)`)
            if (flag.feature && user === null && hasAccess(live, flag.feature) !== all.flags[i]!.value)
              throw new Error(`${flag.key}: feature usage and check disagree (US-6)`)
          })
        },
      ),
      { seed, numRuns: runs },
    )
    t.pass('alike')
  },
)

t.test(
  'an explanation has the evaluator’s value, reason and rule, and its change gives the other value',
  async t => {
    t.comment(`seed ${seed}, ${runs} runs`)
    const tried = { told: 0, byRules: 0, byLimits: 0, byTime: 0 }
    fc.assert(
      fc.property(
        definitions,
        life,
        instantMs,
        orNull(preflight),
        orNull(asker),
        fc.nat({ max: 9 }),
        (drawn, lived, chosen, preflight, user, absent) => {
          const data = withConditionIds(drawn)
          const nowMs = Math.max(chosen, startMs, ...lived.uses.map(({ atMs }) => atMs + 2 * dayMs))
          const facts = user && userOf(user.id, name => (user.traits as Record<string, string>)[name] ?? null)
          const company = absent === 0 ? null : lived.company
          explainsAll(data, compileCatalog(data), { company, facts, user, preflight, nowMs }, tried)
        },
      ),
      { seed, numRuns: 2 * runs },
    )
    t.comment(tried)
    for (const [way, times] of Object.entries(tried)) t.ok(times > 0, `${way}: ${times}`)
  },
)

function personOf(id: string, traits: Readonly<Record<string, string>>): User {
  const user = newUser(id, 'env_1')
  user.exists = true
  user.traits = NamedTexts.from(Object.entries(traits).map(([name, value]) => [name, value, 0, 0] as const))
  return user
}

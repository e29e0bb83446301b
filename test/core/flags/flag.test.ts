// Checks on live state: order of rules, results, contexts, all flags at once, and their text (FE, EN-5).
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { checkFlag } from '../../../src/core/checks/check.js'
import { type CheckResult, contextReason, inContext, writeCheck } from '../../../src/core/flags/flag.js'
import { userOf } from '../../../src/core/live/live-company.js'
import { emptyAccount } from '../../../src/core/model/account-state.js'
import type { Company } from '../../../src/core/model/company-state.js'
import { Counters } from '../../../src/core/model/counters.js'
import type { CatalogData } from '../../../src/core/model/definitions.js'
import { addUsage, newCounter } from '../../../src/core/usage/counter.js'
import { dayMs } from '../../../src/core/values/period.js'
import { instantText } from '../../../src/core/values/quoted.js'
import {
  catalogData,
  company,
  condition,
  credit,
  entitlement,
  feature,
  flag,
  holding,
  override,
  plan,
  rule,
  subscription,
  trait,
} from '../make.js'
import { checkAll, writeAllChecks } from '../plain-checks.js'

const now = Date.UTC(2026, 2, 15, 10)
const used = (quantity: number, atMs = now): Company['counters'] => {
  const counter = newCounter(atMs)
  addUsage(counter, quantity, atMs, atMs, null)
  return Counters.of([['exports', counter]])
}
const monthly = { valueType: 'numeric', metricPeriod: 'current_month' } as const
const exportsOf = (some: Partial<CatalogData> = {}) =>
  compileCatalog(
    catalogData({
      features: [feature('exports')],
      flags: [flag('exports')],
      plans: [plan('A', [entitlement('exports', { ...monthly, valueNumeric: 100 })])],
      ...some,
    }),
  )
const check = (some: Partial<CatalogData>, of: Company | null, nowMs = now): CheckResult =>
  checkFlag(exportsOf(some), 'exports', of, null, null, nowMs)!

t.test('section 10: the example end to end', async t => {
  const overridden = (usage: number) =>
    company({
      plan: holding('A'),
      counters: used(usage),
      overrides: [override('exports', { ...monthly, valueNumeric: 150 })],
    })
  const under = check({}, overridden(120))
  t.same(
    [under.value, under.ruleType, under.featureAllocation, under.featureUsage, under.featureUsagePeriod],
    [true, 'company_override', 150, 120, 'current_month'],
  )
  t.equal(under.featureUsageResetAtMs, Date.UTC(2026, 3, 1))
  t.equal(under.entitlement?.allocation, 150, 'EN-23 the override is the larger')
  const at = check({}, overridden(150))
  t.same([at.value, at.ruleType, at.featureAllocation], [false, 'company_override_usage_exceeded', 150])
  t.equal(check({}, overridden(150), Date.UTC(2026, 3, 1)).value, true, 'and again from the 1st')
})

t.test('EN-22 a smaller override: the plan carries on to its own limit', async t => {
  const overridden = (usage: number) =>
    company({
      plan: holding('A'),
      counters: used(usage),
      overrides: [override('exports', { ...monthly, valueNumeric: 50 })],
    })
  t.equal(check({}, overridden(49)).ruleType, 'company_override')
  const between = check({}, overridden(50))
  t.same([between.value, between.ruleType, between.featureAllocation], [true, 'plan_entitlement', 100])
  t.equal(check({}, overridden(100)).value, false)
})

t.test('FE-10, EN-21 a false boolean override denies what the plan grants', async t => {
  const denied = check(
    {},
    company({ plan: holding('A'), overrides: [override('exports', { valueBool: false })] }),
  )
  t.same([denied.value, denied.ruleType], [false, 'company_override'])
  t.equal(denied.reason, 'Matched company override rule "exports" (rule_cmov_exports)')
  t.same(denied.entitlement?.valueType, 'boolean', 'EN-25')
})

t.test('FE-10 global override first, usage exceeded before standard, default rule last', async t => {
  const own = (...rules: Parameters<typeof rule>[]) => ({
    flags: [flag('exports', { rules: rules.map(args => rule(...args)) })],
  })
  const over = company({ plan: holding('A'), counters: used(100) })
  const forced = own(['g', { ruleType: 'global_override', conditions: [condition({})] }], ['s'])
  t.same(check(forced, over).ruleId, 'g', 'FE-11 its conditions are ignored')
  t.equal(check(own(['s']), over).ruleType, 'plan_entitlement_usage_exceeded')
  t.equal(check(own(['s']), company()).ruleId, 's')
  const last = own(['d', { ruleType: 'default', conditions: [condition({})] }])
  t.same([check(last, company()).ruleId, check(last, company()).value], ['d', true], 'FE-2')
})

t.test('FE-14 rules of the flag’s own list take part whatever their flag id', async t => {
  const flags = [flag('exports', { rules: [rule('elsewhere', { flagId: 'flag_other' })] })]
  t.equal(check({ flags }, company()).ruleId, 'elsewhere')
})

t.test('FE-13 among several plans a true rule comes before a boolean false, in any order', async t => {
  const plans = [
    plan('A', [entitlement('exports', { id: 'a', valueBool: false })]),
    plan('B', [entitlement('exports', { id: 'b', valueBool: true })], { planType: 'add_on' }),
  ]
  t.equal(check({ plans }, company({ plan: holding('A'), addOns: [holding('B')] })).ruleId, 'rule_b')
  const denied = check({ plans }, company({ plan: holding('A') }))
  t.same([denied.ruleId, denied.value], ['rule_a', false])
})

t.test('FE-2, FE-75 nothing matched', async t => {
  const flags = [flag('exports', { defaultValue: true })]
  const unmatched = check({ flags }, company())
  t.same(
    [unmatched.value, unmatched.reason, unmatched.ruleId, unmatched.ruleType, unmatched.entitlement],
    [true, 'No rules matched; default value for flag', null, null, null],
  )
  t.same([unmatched.companyId, unmatched.flagId, unmatched.userId], ['comp_1', 'flag_exports', null], 'FE-70')
})

t.test('FE-77 an unknown key gives nothing; a company that does not exist is absent', async t => {
  t.equal(checkFlag(exportsOf(), 'nope', company(), null, null, now), null)
  const gone = check({}, company({ exists: false, plan: holding('A') }))
  t.same([gone.companyId, gone.value], [null, false])
})

t.test('FE-76 the reason by context, in its order of precedence', async t => {
  const both = { companyGiven: true, userGiven: true }
  const neither = { companyGiven: false, userGiven: false }
  t.equal(contextReason(neither, false, false), 'No company or user context; default value for flag')
  t.equal(contextReason(both, false, false), 'Company not found')
  t.equal(contextReason(both, true, false), 'User not found')
  t.equal(contextReason(both, true, true), 'No rules matched; default value for flag')
  t.equal(contextReason({ companyGiven: false, userGiven: true }, false, false), 'User not found')
  const unmatched = inContext(check({}, null), neither)
  t.equal(JSON.parse(writeCheck(unmatched)).reason, 'No company or user context; default value for flag')
  t.equal(unmatched.error, null)
  const flags = [flag('exports', { rules: [rule('s')] })]
  t.match(inContext(check({ flags }, null), neither).reason, /^Matched/, 'a matched rule keeps its reason')
})

t.test('FE-79 a user alone infers no company; both need no membership', async t => {
  const catalog = compileCatalog(
    catalogData({
      traits: [trait('role', { entityType: 'user', traitType: 'string' })],
      flags: [
        flag('beta', {
          featureId: null,
          rules: [rule('r', { conditions: [condition({ traitId: 'trt_role', traitValue: 'admin' })] })],
        }),
      ],
    }),
  )
  const user = userOf('user_1', name => (name === 'role' ? 'admin' : null))
  const alone = checkFlag(catalog, 'beta', null, user, null, now)!
  t.same([alone.value, alone.userId, alone.companyId], [true, 'user_1', null])
  t.equal(checkFlag(catalog, 'beta', company(), user, null, now)!.companyId, 'comp_1')
  t.equal(checkFlag(catalog, 'beta', company({ traits: { role: 'admin' } }), null, null, now)!.value, false)
  t.equal(catalog.readsUserTraits, true)
  t.equal(exportsOf().readsUserTraits, false)
})

t.test('FE-80, FE-85 preflight changes the verdict, not the figures', async t => {
  const nearly = company({ plan: holding('A'), counters: used(99) })
  const ask = (usage: number) =>
    checkFlag(exportsOf(), 'exports', nearly, null, { usage, eventUsage: null, creditCost: null }, now)!
  t.equal(ask(0).value, true)
  t.same([ask(1).value, ask(1).featureUsage, ask(1).entitlement?.usage], [false, 99, 99])
})

t.test('FE-86 a negative preflight: the default, the error, no entitlement', async t => {
  const refused = checkFlag(
    exportsOf({ flags: [flag('exports', { defaultValue: true })] }),
    'exports',
    company({ plan: holding('A') }),
    null,
    { usage: -1, eventUsage: null, creditCost: null },
    now,
  )!
  t.same(
    [refused.value, refused.error, refused.ruleId, refused.entitlement],
    [true, 'preflight usage cannot be negative', null, null],
  )
})

t.test('FE-71 deprecated members of trait entitlements', async t => {
  const seats = {
    traits: [trait('seats'), trait('limit')],
    features: [
      feature('exports', { featureType: 'trait', traitId: 'trt_seats', usageLimitTraitId: 'trt_limit' }),
    ],
  }
  const sold = {
    ...seats,
    plans: [plan('A', [entitlement('exports', { priceBehavior: 'pay_in_advance' })])],
  }
  const told = (traits: Record<string, string>) => {
    const one = check(sold, company({ plan: holding('A'), traits }))
    return [one.value, one.featureUsage, one.featureAllocation, one.featureUsageEvent, one.featureUsagePeriod]
  }
  t.same(told({ seats: '3', limit: '5' }), [true, 3, 5, null, null])
  t.same(told({ seats: '5', limit: '5' }), [false, 5, 5, null, null])
  t.same(told({ limit: '5' }), [true, 0, 5, null, null], 'EN-70 an absent usage trait is 0')
  t.same(told({ seats: '2.5', limit: 'x' }), [false, 0, 0, null, null], 'FE-68')
})

t.test('FE-52 metric_reset_at is in the future also when the period is over', async t => {
  const cycled = { ...monthly, monthReset: 'billing_cycle' } as const
  const plans = [plan('A', [entitlement('exports', { ...cycled, valueNumeric: 100 })])]
  const periodStartMs = Date.UTC(2026, 0, 20)
  const late = subscription({ periodStartMs, periodEndMs: Date.UTC(2026, 1, 20) })
  const told = check({ plans }, company({ plan: holding('A'), subscriptions: [late] }))
  t.equal(told.featureUsageResetAtMs, Date.UTC(2026, 2, 20))
  t.equal(told.entitlement?.metricResetAtMs, Date.UTC(2026, 2, 20))
  t.equal(told.entitlement?.monthReset, 'billing_cycle')
  const ended = { ...late, status: 'canceled' as const }
  const calendar = check({ plans }, company({ plan: holding('A'), subscriptions: [ended] }))
  t.equal(calendar.featureUsageResetAtMs, Date.UTC(2026, 3, 1))
})

t.test('FE-90, FE-91 all flags by key, with plan and balances', async t => {
  const trialEnd = now + dayMs
  const data = catalogData({
    features: [feature('b')],
    flags: [
      flag('c', { featureId: null }),
      flag('a', { featureId: null, defaultValue: true }),
      flag('b'),
      flag('B', { featureId: null }),
    ],
    plans: [plan('A', [entitlement('b', { valueBool: true })], { name: 'Plan "A"' })],
    credits: [credit('c1'), credit('c2')],
  })
  const catalog = compileCatalog(data)
  const grant = {
    seq: 1,
    reason: 'free' as const,
    quantity: 5_000_000_000n,
    remaining: 2_500_000_000n,
  }
  const account = emptyAccount('comp_1', 'c1')
  account.grants = account.grants.concat({
    ...grant,
    held: 0n,
    createdAtMs: 0,
    validFromMs: 0,
    expiresAtMs: null,
    planGrantId: null,
    licence: null,
    closed: null,
  })
  const trialing = { endMs: trialEnd, endSetting: 'cancel', status: 'active' } as const
  const of = company({ plan: holding('A', { trial: trialing }), credits: new Map([['c1', account]]) })
  const checks = checkAll(catalog, of, null, { companyGiven: true, userGiven: false }, now)
  t.same(
    checks.flags.map(one => [one.flag, one.value]),
    [
      ['B', false],
      ['a', true],
      ['b', true],
      ['c', false],
    ],
  )
  const text = JSON.parse(writeAllChecks(checks))
  t.same(text.plan, {
    id: 'A',
    name: 'Plan "A"',
    trial_end_date: '2026-03-16T10:00:00.000Z',
    trial_status: 'active',
  })
  t.same(text.credit_balances, { c1: { remaining: 2.5, reserved: 0, settled: 2.5 } })
  t.same(text.flags[2], JSON.parse(writeCheck(checkFlag(catalog, 'b', of, null, null, now)!)))
  const nobody = JSON.parse(
    writeAllChecks(checkAll(catalog, null, null, { companyGiven: false, userGiven: false }, now)),
  )
  t.notOk('plan' in nobody || 'credit_balances' in nobody, 'omitted without company')
  t.equal(nobody.flags[0].reason, 'No company or user context; default value for flag')
})

t.test('a result as the wire spells it: every ON member, entitlement only when there is one', async t => {
  const key = 'we"ird\n'
  const catalog = compileCatalog(
    catalogData({
      features: [feature('exports')],
      flags: [flag(key, { featureId: 'exports' }), flag('plain', { featureId: null })],
      plans: [plan('A "é"', [entitlement('exports', { ...monthly, valueNumeric: 7 })])],
    }),
  )
  const of = company({ id: 'comp_"', plan: holding('A "é"'), counters: used(3) })
  t.strictSame(JSON.parse(writeCheck(checkFlag(catalog, key, of, null, null, now)!)), {
    flag: key,
    flag_id: `flag_${key}`,
    value: true,
    reason: 'Matched plan entitlement rule "A "é"" (rule_ent_exports)',
    rule_id: 'rule_ent_exports',
    rule_type: 'plan_entitlement',
    company_id: 'comp_"',
    user_id: null,
    error: null,
    feature_allocation: 7,
    feature_usage: 3,
    feature_usage_event: 'exports',
    feature_usage_period: 'current_month',
    feature_usage_reset_at: '2026-04-01T00:00:00.000Z',
    entitlement: {
      feature_id: 'exports',
      feature_key: key,
      value_type: 'numeric',
      allocation: 7,
      usage: 3,
      event_name: 'exports',
      event_subtype: 'exports',
      metric_period: 'current_month',
      month_reset: 'first_of_month',
      metric_reset_at: '2026-04-01T00:00:00.000Z',
    },
  })
  const plain = JSON.parse(writeCheck(checkFlag(catalog, 'plain', of, null, null, now)!))
  t.equal(Object.keys(plain).length, 14)
  t.notOk('entitlement' in plain)
})

t.test('decision 9: instants have milliseconds and Z', async t => {
  t.equal(instantText(0), '1970-01-01T00:00:00.000Z')
  t.equal(instantText(now + 7), '2026-03-15T10:00:00.007Z')
  t.equal(instantText(now + 7), '2026-03-15T10:00:00.007Z')
})

// Which entitlement applies, the rules it makes, and what is told of it (EN).
import t from 'tap'
import type { MetricPeriod } from '../../../schemas/enums.js'
import { compileCatalog, overrideEntitlement } from '../../../src/core/catalog.js'
import { checkFlag } from '../../../src/core/checks/check.js'
import {
  correctedValueType,
  generatedRules,
  reportEntitlement,
  resolveEntitlement,
  saleProblem,
} from '../../../src/core/entitlements/entitlement.js'
import { isMoreGenerous } from '../../../src/core/entitlements/generosity.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import { type CreditAccount, emptyAccount } from '../../../src/core/model/account-state.js'
import type { CatalogData, EntitlementDef } from '../../../src/core/model/definitions.js'
import { addUsage, newCounter } from '../../../src/core/usage/counter.js'
import { amountFromNumber } from '../../../src/core/values/amount.js'
import {
  catalogData,
  company,
  credit,
  entitlement,
  feature,
  flag,
  holding,
  override,
  plan,
  planVersion,
  postpaid,
  trait,
} from '../make.js'
import { vectors } from '../vectors.js'

interface GenerosityCase {
  readonly input: {
    readonly first: { readonly allocation: number | null; readonly period: MetricPeriod | null }
    readonly second: { readonly allocation: number | null; readonly period: MetricPeriod | null }
  }
  readonly expected: { readonly first_is_more_generous: boolean }
}

t.test('allocation_generosity conformance', async t => {
  for (const { id, input, expected } of vectors<GenerosityCase>('allocation_generosity'))
    t.equal(isMoreGenerous(input.first, input.second), expected.first_is_more_generous, id)
})

const now = Date.UTC(2026, 2, 15, 10)
const seats = { featureType: 'trait', traitId: 'trt_seats', usageLimitTraitId: 'trt_limit' } as const
const world = (some: Partial<CatalogData> = {}) =>
  catalogData({
    traits: [trait('seats'), trait('limit')],
    features: [feature('f'), feature('seat', seats)],
    flags: [flag('f'), flag('seat')],
    credits: [credit('c1'), credit('c2')],
    ...some,
  })
const balance = (creditId: string, credits: number): [string, CreditAccount] => {
  const amount = amountFromNumber(credits)
  const account = emptyAccount('comp_1', creditId)
  account.grants = account.grants.concat({
    seq: 1,
    reason: 'free',
    quantity: amount,
    remaining: amount,
    held: 0n,
    createdAtMs: 0,
    validFromMs: 0,
    expiresAtMs: null,
    planGrantId: null,
    licence: null,
    closed: null,
  })
  return [creditId, account]
}
/** Plans P (base), Q and R (add-ons), each granting `f` as given; a company on all of them. */
const granted = (of: Parameters<typeof company>[0], ...values: Partial<EntitlementDef>[]) => {
  const ids = ['P', 'Q', 'R'].slice(0, values.length)
  const plans = ids.map((id, i) =>
    plan(id, [entitlement('f', { id: id.toLowerCase(), ...values[i]! })], {
      planType: i === 0 ? 'plan' : 'add_on',
    }),
  )
  const catalog = compileCatalog(world({ plans }))
  const [base, ...addOns] = ids.map(id => holding(id))
  return { catalog, of: company({ plan: base ?? null, addOns, ...of }) }
}
const reported = (of: Parameters<typeof company>[0], ...values: Partial<EntitlementDef>[]) => {
  const { catalog, of: holder } = granted(of, ...values)
  const live = new LiveCompany(holder, catalog, now)
  return resolveEntitlement(live, catalog.featuresById.get('f')!)?.def.id ?? null
}
const numeric = (valueNumeric: number, metricPeriod: MetricPeriod | null = 'current_month') =>
  ({ valueType: 'numeric', valueNumeric, metricPeriod }) as const
const onCredit = (valueCreditId: string, consumptionRate: number | null = null) =>
  ({ valueType: 'credit', valueCreditId, consumptionRate }) as const

t.test('EN-5, EN-10…16 the rules each value type makes', async t => {
  const event = feature('f')
  const trt = feature('seat', seats)
  const gate = { type: 'plan_version', versionId: 'plvr_1', planName: 'Pro' } as const
  const made = (of: typeof event, some: Partial<EntitlementDef>) =>
    generatedRules(of, entitlement(of.id, some), gate).map(rule => [
      rule.ruleType,
      rule.value,
      rule.conditions.map(one => `${one.conditionType} ${one.operator}`).join(', '),
    ])
  t.same(made(event, { valueBool: false }), [['plan_entitlement', false, 'plan_version eq']])
  t.same(made(event, { valueType: 'unlimited' }), [['plan_entitlement', true, 'plan_version eq']])
  t.same(made(event, { valueType: 'unknown' }), [])
  t.same(made(event, numeric(1)), [
    ['plan_entitlement', true, 'plan_version eq, metric lt'],
    ['plan_entitlement_usage_exceeded', false, 'plan_version eq, metric gte'],
  ])
  t.same(made(trt, { valueType: 'numeric', valueNumeric: 1 }), [
    ['plan_entitlement', true, 'plan_version eq, trait lt'],
    ['plan_entitlement_usage_exceeded', false, 'plan_version eq, trait gte'],
  ])
  t.same(made(event, onCredit('c1')), [
    ['plan_entitlement', true, 'plan_version eq, credit lt'],
    ['plan_entitlement_usage_exceeded', false, 'plan_version eq, credit gte'],
  ])
  const [first, second] = generatedRules(event, entitlement('f', numeric(7, 'current_month')), gate)
  t.same([first?.id, second?.id, first?.name], ['rule_ent_f', 'rule_ent_f_over', 'Pro'])
  t.same(first?.conditions[0]?.resourceIds, ['plvr_1'])
  t.match(first?.conditions[1], {
    eventSubtype: 'f',
    metricPeriod: 'current_month',
    monthReset: 'first_of_month',
    metricValue: 7,
  })
  const [allTime] = generatedRules(event, entitlement('f', numeric(7, null)), gate)
  t.equal(allTime?.conditions[1]?.metricPeriod, 'all_time', 'EN-12')
  const [byTrait] = generatedRules(
    event,
    entitlement('f', { valueType: 'trait', valueTraitId: 'trt_limit' }),
    gate,
  )
  t.match(byTrait?.conditions[1], { comparisonTraitId: 'trt_limit', metricValue: 0 }, 'EN-14')
  const mine = override('f', { valueType: 'unlimited' })
  const [own] = generatedRules(event, overrideEntitlement(mine.entitlement), {
    type: 'company',
    companyId: 'comp_1',
  })
  t.match(own, {
    ruleType: 'company_override',
    conditions: [{ conditionType: 'company', resourceIds: ['comp_1'] }],
  })
})

t.test('EN-17 granted below the limit, denied at it; 0 denies, below zero grants', async t => {
  const value = (limit: number, usage: number) => {
    const counter = newCounter(now)
    addUsage(counter, usage, now, now, null)
    const { catalog, of } = granted({ counters: new Map([['f', counter]]) }, numeric(limit))
    return checkFlag(catalog, 'f', of, null, null, now)!.value
  }
  t.equal(value(1_000, 999), true)
  t.equal(value(1_000, 1_000), false)
  t.equal(value(0, 0), false)
  t.equal(value(0, -1), true)
})

t.test('EN-30 a price behaviour fixes the value type', async t => {
  t.equal(correctedValueType(null, 'boolean', 5), 'boolean')
  t.equal(correctedValueType('pay_in_advance', 'numeric', 5), 'trait')
  t.equal(correctedValueType('credit_burndown', 'boolean', null), 'credit')
  for (const behavior of ['pay_as_you_go', 'overage', 'tier'] as const) {
    t.equal(correctedValueType(behavior, 'boolean', null), 'unlimited', behavior)
    t.equal(correctedValueType(behavior, 'boolean', 0), 'unlimited', behavior)
    t.equal(correctedValueType(behavior, 'boolean', 5), 'numeric', behavior)
  }
})

t.test('EN-33 what may be sold how', async t => {
  const event = feature('f')
  const inference = feature('f', { eventSource: 'inference' })
  const license = feature('l', { featureType: 'license' })
  const seat = feature('s', { featureType: 'trait' })
  const fine = [
    [event, 'tier', 'unlimited'],
    [seat, 'tier', 'unlimited'],
    [event, 'credit_burndown', 'credit'],
    [license, 'pay_in_advance', 'trait'],
    [license, null, 'numeric'],
    [inference, 'credit_burndown', 'credit'],
    [inference, null, 'boolean'],
  ] as const
  for (const [of, how, type] of fine)
    t.equal(saleProblem(of, how, type), null, `${of.featureType} ${how} ${type}`)
  const refused = [
    [seat, 'credit_burndown', 'credit'],
    [feature('b', { featureType: 'boolean' }), 'tier', 'unlimited'],
    [license, 'overage', 'unlimited'],
    [inference, null, 'numeric'],
    [inference, 'pay_as_you_go', 'unlimited'],
  ] as const
  for (const [of, how, type] of refused)
    t.type(saleProblem(of, how, type), 'string', `${of.featureType} ${how} ${type}`)
})

t.test(
  'FE-78, EN-51, EN-52 soft limits and warnings are told and decide nothing; figures are current',
  async t => {
    const counter = newCounter(now)
    addUsage(counter, 9, now, now, null)
    const warned = { softLimit: 2, warningTiers: [{ key: 'near', value: 3 }] }
    const { catalog, of } = granted({ counters: new Map([['f', counter]]) }, { ...numeric(10), ...warned })
    const ask = { usage: 1, eventUsage: null, creditCost: null }
    const plain = checkFlag(catalog, 'f', of, null, null, now)!
    const asked = checkFlag(catalog, 'f', of, null, ask, now)!
    t.same([plain.value, asked.value], [true, false])
    t.same(asked.entitlement, plain.entitlement)
    t.match(plain.entitlement, { usage: 9, ...warned })
  },
)

t.test('EN-3, EN-86, EN-97 another plan or version: its limits at once, the usage kept', async t => {
  const counter = newCounter(now)
  addUsage(counter, 150, now, now, null)
  const plans = [
    plan('P', [entitlement('f', { id: 'p', ...numeric(100) })]),
    plan('Q', [entitlement('f', { id: 'q', ...numeric(200) })]),
  ]
  const catalog = compileCatalog(world({ plans }))
  const of = company({ plan: holding('P'), counters: new Map([['f', counter]]) })
  t.equal(checkFlag(catalog, 'f', of, null, null, now)!.value, false)
  of.plan = holding('Q')
  t.match(checkFlag(catalog, 'f', of, null, null, now), {
    value: true,
    ruleId: 'rule_q',
    entitlement: { usage: 150, allocation: 200 },
  })
})

t.test('EN-20 the most permissive of plan and add-ons applies; allowances do not add up', async t => {
  const counter = newCounter(now)
  addUsage(counter, 299, now, now, null)
  const { catalog, of } = granted({ counters: new Map([['f', counter]]) }, numeric(100), numeric(300))
  const under = checkFlag(catalog, 'f', of, null, null, now)!
  t.same([under.value, under.ruleId], [true, 'rule_q'])
  addUsage(of.counters.get('f')!, 1, now, now, null)
  const at = checkFlag(catalog, 'f', of, null, null, now)!
  t.same([at.value, at.ruleId], [false, 'rule_p_over'])
  t.same([at.featureAllocation, at.entitlement?.allocation], [100, 300], 'EN-26')
})

t.test('EN-23 the most generous is reported, the earlier one on a tie', async t => {
  t.equal(reported({}, numeric(100), numeric(300)), 'q')
  t.equal(reported({}, numeric(300), numeric(10, 'current_day')), 'p', '300/month and 10/day are equal')
  t.equal(reported({}, numeric(10, 'current_day'), numeric(300)), 'p')
  t.equal(reported({}, numeric(5), { valueType: 'unlimited' }, { valueType: 'unlimited' }), 'q')
  t.equal(
    reported({ overrides: [override('f', numeric(100))] }, numeric(100)),
    'p',
    'the plan’s on an exact tie',
  )
  t.equal(reported({ overrides: [override('f', numeric(101))] }, numeric(100)), 'cmov_f')
  t.equal(
    reported({}, numeric(1_000, null), numeric(1, 'current_day')),
    'p',
    'no period reads all_time (EN-12)',
  )
})

t.test('EN-24 booleans: the override if any, else a true one, else false', async t => {
  t.equal(reported({}, { valueBool: false }, { valueBool: true }), 'q')
  t.equal(reported({}, { valueBool: false }, { valueBool: false }), 'p')
  t.equal(reported({ overrides: [override('f', { valueBool: true })] }, { valueBool: true }), 'cmov_f')
  t.equal(reported({ overrides: [override('f', { valueBool: false })] }, { valueBool: true }), 'cmov_f')
})

t.test('EN-25 mixed types: false override, unlimited, credit, number, true', async t => {
  const unlimited = { valueType: 'unlimited' } as const
  t.equal(reported({ overrides: [override('f', { valueBool: false })] }, unlimited), 'cmov_f')
  t.equal(reported({ overrides: [override('f', { valueBool: true })] }, numeric(1)), 'p')
  t.equal(reported({}, { valueBool: true }, numeric(1)), 'q')
  t.equal(reported({}, numeric(1), onCredit('c1'), unlimited), 'r')
  t.equal(reported({}, numeric(1), onCredit('c1')), 'q')
})

t.test('EN-43 credits: the lower rate on one credit, the more affordable units on two', async t => {
  t.equal(reported({}, onCredit('c1', 2), onCredit('c1', 1.5)), 'q')
  t.equal(reported({}, onCredit('c1', 1), onCredit('c1', null)), 'p', 'no rate is 1: a tie')
  const credits = new Map([balance('c1', 10), balance('c2', 6)])
  t.equal(reported({ credits }, onCredit('c1', 2), onCredit('c2', 1)), 'q', '5 units and 6')
  t.equal(reported({ credits }, onCredit('c1', 1), onCredit('c2', 0.6)), 'p', '10 and 10: a tie')
  t.equal(reported({ credits }, onCredit('c1', 1), onCredit('c2', 0)), 'q', 'free units never end')
  t.equal(reported({ credits }, onCredit('c1', 0), onCredit('c2', 0)), 'p')
  t.equal(reported({}, onCredit('c1', 2), onCredit('c2', 1)), 'p', 'none at all on either: a tie')
})

t.test('EN-61, EN-62 an override ends exactly, and the plan’s limit is back', async t => {
  const counter = newCounter(now)
  addUsage(counter, 120, now, now, null)
  const more = override('f', numeric(150), now + 1)
  const { catalog, of } = granted({ counters: new Map([['f', counter]]), overrides: [more] }, numeric(100))
  t.equal(checkFlag(catalog, 'f', of, null, null, now)!.value, true)
  const after = checkFlag(catalog, 'f', of, null, null, now + 1)!
  t.same([after.value, after.ruleType], [false, 'plan_entitlement_usage_exceeded'])
  t.equal(after.entitlement?.allocation, 100)
})

t.test('EN-63 overrides survive a change of plan and of definitions', async t => {
  const { catalog, of } = granted({ overrides: [override('f', numeric(150))] }, numeric(100))
  t.equal(checkFlag(catalog, 'f', of, null, null, now)!.entitlement?.allocation, 150)
  of.plan = null
  t.equal(checkFlag(catalog, 'f', of, null, null, now)!.entitlement?.allocation, 150)
  const renamed = compileCatalog({ ...catalog.data, version: 2, features: [feature('f', { name: 'New' })] })
  t.match(checkFlag(renamed, 'f', of, null, null, now)!.reason, /rule "New"/)
})

t.test('EN-70…73 limits of licenses come from the trait bought', async t => {
  const bought = feature('lic', { featureType: 'license', usageLimitTraitId: 'trt_limit' })
  const plans = [plan('P', [entitlement('lic', { priceBehavior: 'pay_in_advance' })])]
  const value = (of: Partial<typeof bought>, traits: Record<string, string>) => {
    const features = [{ ...bought, ...of }]
    const catalog = compileCatalog(world({ features, flags: [flag('lic')], plans }))
    return checkFlag(catalog, 'lic', company({ plan: holding('P'), traits }), null, null, now)!
  }
  const counted = { traitId: 'trt_seats' }
  t.equal(value(counted, { seats: '4', limit: '5' }).value, true)
  t.equal(value(counted, { seats: '5', limit: '5' }).value, false, 'EN-72 it denies growth')
  t.equal(value(counted, { seats: '1' }).value, false, 'EN-14 without the trait the limit is 0')
  t.same(
    [value({}, { limit: '1' }).value, value({}, { limit: '0' }).value],
    [true, false],
    'usage that nothing measures is 0',
  )
  t.equal(value({}, { limit: '1' }).featureUsage, null, 'and is not told')
})

t.test('EN-50 the report of each value type', async t => {
  const counter = newCounter(now)
  addUsage(counter, 3, now, now, null)
  const counters = new Map([['f', counter]])
  const told = (of: Parameters<typeof company>[0], value: Partial<EntitlementDef>) => {
    const { catalog, of: holder } = granted({ counters, ...of }, value)
    const live = new LiveCompany(holder, catalog, now)
    const report = reportEntitlement(resolveEntitlement(live, catalog.featuresById.get('f')!)!, live)
    return Object.fromEntries(Object.entries(report).filter(([, member]) => member !== null))
  }
  const always = { featureId: 'f', featureKey: 'f' }
  t.same(told({}, { valueBool: true }), { ...always, valueType: 'boolean' })
  const metered = { usage: 3, eventName: 'f', eventSubtype: 'f' }
  t.same(told({}, { valueType: 'unlimited' }), {
    ...always,
    ...metered,
    valueType: 'unlimited',
    metricPeriod: 'all_time',
  })
  const warned = { softLimit: 5, warningTiers: [{ key: 'near', value: 8 }] }
  t.same(
    told({}, { ...numeric(9, 'current_day'), ...warned }),
    {
      ...always,
      ...metered,
      ...warned,
      valueType: 'numeric',
      allocation: 9,
      metricPeriod: 'current_day',
      metricResetAtMs: Date.UTC(2026, 2, 16),
    },
    'month_reset for months only',
  )
  t.match(told({}, numeric(9)), { monthReset: 'first_of_month', metricResetAtMs: Date.UTC(2026, 3, 1) })
  const credits = new Map([balance('c1', 10)])
  t.same(told({ credits }, { ...onCredit('c1', 2.5), quantityRates: { input_tokens: 0.1 } }), {
    ...always,
    valueType: 'credit',
    eventName: 'f',
    eventSubtype: 'f',
    creditId: 'c1',
    consumptionRate: 2.5,
    quantityRates: { input_tokens: 0.1 },
    creditTotal: 10,
    creditUsed: 0,
    creditRemaining: 10,
    creditReserved: 0,
    creditSettled: 10,
  })
  t.match(
    told({}, { ...onCredit('c1'), quantityRates: { input_tokens: 1 } }),
    { consumptionRate: 0 },
    'EN-42',
  )
  t.match(told({}, onCredit('c1')), { consumptionRate: 1, creditRemaining: 0 }, 'EN-40')
})

t.test('EN-50 trait features: usage and limit from traits, no period', async t => {
  const plans = [plan('P', [entitlement('seat', { valueType: 'trait', valueTraitId: 'trt_limit' })])]
  const catalog = compileCatalog(world({ plans }))
  const told = (traits: Record<string, string>) => {
    const report = checkFlag(catalog, 'seat', company({ plan: holding('P'), traits }), null, null, now)!
    const { usage, allocation, metricPeriod, eventName } = report.entitlement!
    return [usage, allocation, metricPeriod, eventName]
  }
  t.same(told({ seats: '3', limit: '5' }), [3, 5, null, null])
  t.same(told({ seats: '3.5', limit: 'x' }), [0, 0, null, null], 'FE-68')
  t.same(told({}), [0, 0, null, null])
})

t.test('FE-73 settled is remaining and reserved, used is total less settled', async t => {
  const [id, account] = balance('c1', 100)
  const grant = account.grants[0]!
  grant.remaining = amountFromNumber(50)
  grant.held = amountFromNumber(10)
  account.reservations = account.reservations.concat({
    id: 'crlse_1',
    kind: 'reservation',
    slices: [{ seq: 1, left: amountFromNumber(10) }],
    granted: amountFromNumber(10),
    tracked: 0n,
    createdAtMs: now,
    updatedAtMs: now,
    expiresAtMs: now + 60_000,
    keys: [],
  })
  const { catalog, of } = granted({ credits: new Map([[id, account]]) }, onCredit('c1'))
  t.match(checkFlag(catalog, 'f', of, null, null, now)!.entitlement, {
    creditTotal: 100,
    creditUsed: 40,
    creditRemaining: 50,
    creditReserved: 10,
    creditSettled: 60,
  })
})

t.test('EN-32 tiers: the reported soft limit is the next boundary', async t => {
  const tiers = [100, 200, null].map(upTo => ({
    upTo,
    flatAmount: 0,
    perUnitPrice: 1,
    perUnitPriceDecimal: null,
  }))
  const softLimit = (usage: number) => {
    const counter = newCounter(now)
    addUsage(counter, usage, now, now, null)
    const value = { priceBehavior: 'tier', tiers } as const
    const { catalog, of } = granted({ counters: new Map([['f', counter]]) }, value)
    return checkFlag(catalog, 'f', of, null, null, now)!.entitlement!.softLimit
  }
  t.same([0, 99, 100, 200].map(softLimit), [100, 100, 200, null])
})

t.test('EN-31 overage: the soft limit never denies, the hard limit does', async t => {
  const value = (usage: number, valueNumeric: number | null) => {
    const counter = newCounter(now)
    addUsage(counter, usage, now, now, null)
    const over = { priceBehavior: 'overage', softLimit: 500, valueNumeric } as const
    const { catalog, of } = granted({ counters: new Map([['f', counter]]) }, over)
    return checkFlag(catalog, 'f', of, null, null, now)!.value
  }
  t.same(
    [value(499, null), value(501, null), value(4_999, 5_000), value(5_000, 5_000)],
    [true, true, true, false],
  )
})

t.test('EN-41, FE-47, CR-51 overdraft of the plan widens, a free feature needs a balance of 0', async t => {
  const value = (limit: string | null, overdrawn: number) => {
    const version = planVersion('P_v1', {
      entitlements: [entitlement('f', onCredit('c1', 5))],
      creditGrants: [postpaid('c1', limit)],
    })
    const catalog = compileCatalog(world({ plans: [plan('P', [], { versions: [version] })] }))
    const [id, account] = balance('c1', overdrawn)
    account.overdraft = account.grants[0]!
    account.grants = []
    return checkFlag(
      catalog,
      'f',
      company({ plan: holding('P'), credits: new Map([[id, account]]) }),
      null,
      null,
      now,
    )!.value
  }
  t.same([value('10', -5), value('10', -5.01), value(null, -1_000)], [true, false, true])
  const { catalog, of } = granted({}, onCredit('c1', 0))
  t.equal(checkFlag(catalog, 'f', of, null, null, now)!.value, true, 'a rate of 0 at a balance of 0')
})

t.test(
  'EN-85 the version held decides, whatever is published since; PB-12 an unknown one grants nothing',
  async t => {
    const version = (n: number, limit: number) =>
      planVersion(`P_v${n}`, {
        version: n,
        entitlements: [entitlement('f', { id: `v${n}`, ...numeric(limit) })],
      })
    const plans = [plan('P', [], { versions: [version(1, 10), version(2, 20)], publishedVersionId: 'P_v2' })]
    const catalog = compileCatalog(world({ plans }))
    const limit = (versionId: string) =>
      checkFlag(catalog, 'f', company({ plan: holding('P', { versionId }) }), null, null, now)!.entitlement
        ?.allocation
    t.same([limit('P_v1'), limit('P_v2'), limit('P_v9')], [10, 20, undefined])
  },
)

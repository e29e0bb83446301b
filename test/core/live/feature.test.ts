// Rows of feature usage and draws of events (US-5…8, EN-44, EN-45).
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { checkFlag } from '../../../src/core/checks/check.js'
import { drawsOf, trackCost } from '../../../src/core/live/company-accounts.js'
import { creditDraws, featureUsage, featureUsages } from '../../../src/core/live/feature.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import { Counters } from '../../../src/core/model/counters.js'
import type { CatalogData, EntitlementDef } from '../../../src/core/model/definitions.js'
import { addUsage, newCounter } from '../../../src/core/usage/counter.js'
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
  subscription,
  trait,
} from '../make.js'

const now = Date.UTC(2026, 2, 15, 10)
const world = (entitlements: readonly EntitlementDef[], some: Partial<CatalogData> = {}) =>
  compileCatalog(
    catalogData({
      traits: [trait('seats'), trait('limit')],
      features: [
        feature('f', { name: 'beta' }),
        feature('seat', {
          name: 'alpha',
          featureType: 'trait',
          traitId: 'trt_seats',
          usageLimitTraitId: 'trt_limit',
        }),
        feature('bare', { name: 'gamma', featureType: 'boolean' }),
      ],
      flags: [flag('f'), flag('seat')],
      plans: [plan('P', entitlements)],
      credits: [credit('c1')],
      ...some,
    }),
  )
const live = (catalog: ReturnType<typeof world>, some: Parameters<typeof company>[0] = {}) =>
  new LiveCompany(company({ plan: holding('P'), ...some }), catalog, now)
const used = (quantity: number): Company['counters'] => {
  const counter = newCounter(now)
  addUsage(counter, quantity, now, now, null)
  return Counters.of([['f', counter]])
}
const row = (value: Partial<EntitlementDef>, some: Parameters<typeof company>[0] = {}) => {
  const catalog = world([entitlement('f', value)])
  return featureUsage(live(catalog, some), catalog.featuresById.get('f')!)!
}

t.test('US-5, US-8 one row per entitled feature, by feature name', async t => {
  const catalog = world([
    entitlement('f', { valueType: 'unlimited' }),
    entitlement('seat', { valueType: 'numeric', valueNumeric: 3 }),
    entitlement('bare', { valueBool: false }),
  ])
  const names = (negative: boolean) =>
    featureUsages(live(catalog), { negative }).map(({ featureId }) => featureId)
  t.same(names(false), ['seat', 'f', 'bare'])
  t.same(names(true), ['seat', 'f'], 'without boolean-false ones')
  t.same(featureUsages(live(catalog, { plan: null }), { negative: false }), [], 'without entitlement no row')
  t.equal(
    featureUsage(live(catalog), catalog.featuresById.get('bare')!)?.access,
    false,
    'also without a flag',
  )
})

t.test('US-6 the worked example: overage within and at its hard limit', async t => {
  const over = {
    priceBehavior: 'overage',
    softLimit: 500,
    valueNumeric: 5_000,
    unitPriceDecimal: '2',
    metricPeriod: 'current_month',
  } as const
  t.match(row(over, { counters: used(1_500) }), {
    overuse: 1_000,
    percentUsed: 300,
    access: true,
    effectiveLimit: 500,
    softLimit: 500,
    allocation: 5_000,
    allocationType: 'numeric',
    effectivePrice: 2,
    priceBehavior: 'overage',
  })
  t.equal(row(over, { counters: used(5_000) }).access, false)
  t.equal(row(over, { counters: used(499) }).effectivePrice, 0)
})

t.test('US-6 figures by value type', async t => {
  t.match(row({ valueBool: true }), { access: true, usage: null, allocation: null, percentUsed: null })
  t.match(row({ valueType: 'unlimited' }, { counters: used(7) }), {
    isUnlimited: true,
    usage: 7,
    allocation: null,
    effectiveLimit: null,
    percentUsed: null,
    overuse: null,
    effectivePrice: null,
    period: 'all_time',
    monthReset: null,
    metricResetAtMs: null,
  })
  t.match(
    row({ valueType: 'numeric', valueNumeric: 8, metricPeriod: 'current_month' }, { counters: used(10) }),
    {
      access: false,
      percentUsed: 125,
      period: 'current_month',
      monthReset: 'first_of_month',
      metricResetAtMs: Date.UTC(2026, 3, 1),
      entitlementId: 'ent_f',
      entitlementType: 'plan_entitlement',
      planId: 'P',
      planVersionId: 'P_v1',
    },
  )
  t.match(row({ valueType: 'numeric', valueNumeric: 0 }), { percentUsed: 0, access: false })
  t.match(row({ valueType: 'credit', valueCreditId: 'c1', consumptionRate: 2 }), {
    usage: null,
    allocation: null,
    creditId: 'c1',
    creditConsumptionRate: 2,
    creditRemaining: 0,
    creditUsed: 0,
    creditTotal: 0,
    period: null,
  })
})

t.test('US-6, EN-32 tiers: the first boundary is the limit, the next unit has its tier’s price', async t => {
  const tiers = [
    { upTo: 100, flatAmount: 0, perUnitPrice: 10, perUnitPriceDecimal: null },
    { upTo: null, flatAmount: 0, perUnitPrice: 5, perUnitPriceDecimal: '4.5' },
  ]
  t.match(row({ priceBehavior: 'tier', tiers }, { counters: used(100) }), {
    effectiveLimit: 100,
    effectivePrice: 4.5,
    percentUsed: 100,
    access: true,
    softLimit: null,
    overuse: null,
  })
})

t.test('US-6 a limit trait that is absent or no number is no valid allocation', async t => {
  const catalog = world([entitlement('seat', { valueType: 'trait', valueTraitId: 'trt_limit' })])
  const valid = (traits: Record<string, string>) => {
    const one = featureUsage(live(catalog, { traits }), catalog.featuresById.get('seat')!)!
    return [one.hasValidAllocation, one.allocation, one.access]
  }
  t.same(valid({ seats: '1', limit: '5' }), [true, 5, true])
  t.same(valid({ seats: '1', limit: 'many' }), [false, 0, false])
  t.same(valid({}), [false, 0, false])
})

t.test('US-6 the row of an override names it and its end', async t => {
  const catalog = world([entitlement('f', { valueType: 'numeric', valueNumeric: 1 })])
  const more = override('f', { valueType: 'numeric', valueNumeric: 5 }, now + 1)
  t.match(featureUsage(live(catalog, { overrides: [more] }), catalog.featuresById.get('f')!), {
    entitlementType: 'company_override',
    entitlementId: 'cmov_f',
    entitlementExpiresAtMs: now + 1,
    planId: null,
    allocation: 5,
  })
})

t.test('US-6 access is the check’s answer, own rules of the flag included', async t => {
  const flags = [{ ...flag('f'), rules: [{ ...forced }] }]
  const catalog = world([entitlement('f', { valueBool: false })], { flags })
  t.equal(featureUsage(live(catalog), catalog.featuresById.get('f')!)?.access, true)
  t.equal(checkFlag(catalog, 'f', live(catalog).company, null, null, now)?.value, true)
})
const forced = {
  id: 'g',
  name: 'g',
  ruleType: 'global_override',
  priority: 0,
  value: true,
  flagId: null,
  conditions: [],
  conditionGroups: [],
} as const

t.test('EN-44, EN-45 an event draws once per feature whose reported entitlement is credit', async t => {
  const features = [
    feature('a', { eventSubtype: 'tokens' }),
    feature('b', { eventSubtype: 'tokens' }),
    feature('c', { eventSubtype: 'tokens' }),
    feature('ai', { eventSubtype: 'tokens', eventSource: 'inference' }),
  ]
  const onCredit = { valueType: 'credit', valueCreditId: 'c1' } as const
  const catalog = world(
    [
      entitlement('a', { ...onCredit, consumptionRate: 2 }),
      entitlement('b', onCredit),
      entitlement('c', { valueType: 'unlimited' }),
      entitlement('ai', { ...onCredit, quantityRates: { input_tokens: 0.001 } }),
    ],
    { features, flags: [] },
  )
  t.same(creditDraws(catalog, live(catalog), 'tokens', 'track'), [
    { featureId: 'a', creditId: 'c1', rate: 2, quantityRates: null },
    { featureId: 'b', creditId: 'c1', rate: 1, quantityRates: null },
  ])
  t.same(creditDraws(catalog, live(catalog), 'tokens', 'inference'), [
    { featureId: 'ai', creditId: 'c1', rate: 0, quantityRates: { input_tokens: 0.001 } },
  ])
  t.same(creditDraws(catalog, live(catalog), 'other', 'track'), [])
  const unlimited = live(catalog, { overrides: [override('a', { valueType: 'unlimited' })] })
  t.same(
    creditDraws(catalog, unlimited, 'tokens', 'track').map(({ featureId }) => featureId),
    ['b'],
    'an unlimited override is what is reported, so nothing is drawn',
  )
})

t.test('EN-44 a company’s draw does not depend on earlier requests of others', async t => {
  const onCredit = { valueType: 'credit', valueCreditId: 'c1' } as const
  const tokens = feature('a', { eventSubtype: 'tokens' })
  const made = () =>
    world([], {
      features: [tokens, feature('free', { eventSubtype: 'free' })],
      flags: [],
      plans: [
        plan('P', [entitlement('a', { ...onCredit, consumptionRate: 2 })]),
        plan('Q', [], {
          versions: [planVersion('Q_v1', { creditGrants: [postpaid('c1', '5')] })],
          planType: 'add_on',
        }),
        plan('F', [entitlement('a', { valueType: 'unlimited' })]),
      ],
      credits: [credit('c1')],
      fallbackPlanId: 'F',
      spendPolicies: [{ id: 's1', creditId: 'c1', companyId: 'comp_capped', userId: null, maxPerDraw: '1' }],
    })
  const trial = { endMs: now - 1, endSetting: 'cancel', status: 'active' } as const
  const companies = [
    company({ plan: holding('P') }),
    company({ plan: holding('P'), id: 'comp_capped' }),
    company({ plan: holding('P'), overrides: [override('a', { ...onCredit, consumptionRate: 7 })] }),
    company({ plan: holding('P'), overrides: [override('a', { valueType: 'unlimited' })] }),
    company({ plan: holding('P'), addOns: [holding('Q')] }),
    company({ plan: holding('P', { trial }) }),
    company({ plan: holding('P'), subscriptions: [subscription({ periodEndMs: now + 1 })] }),
    company({ plan: holding('F') }),
    company({ plan: null }),
  ]
  const of = { type: 'track', mode: 'normal', quantity: 3, userId: 'user_1', capturedAtMs: now } as const
  const drawn = (catalog: ReturnType<typeof world>, one: Company, subtype: string) => {
    const event = { ...of, id: 'evt_1', subtype, leaseId: null, reservationId: null }
    const drawn = drawsOf(one, catalog, event, trackCost(event), now)
    return typeof drawn === 'string' ? null : drawn
  }
  const alone = companies.map(one => drawn(made(), one, 'tokens'))
  t.same(
    alone.map(effects => effects?.map(({ t }) => t) ?? null),
    [
      ['credit_draw'],
      null, // decision 27: the cap fails it
      ['credit_draw'],
      [],
      ['credit_grant', 'credit_draw'],
      [],
      ['credit_draw'],
      [],
      [],
    ],
  )
  for (const order of [companies, [...companies].reverse()]) {
    const catalog = made()
    for (let round = 0; round < 2; round++)
      for (const one of order) {
        t.same(drawn(catalog, one, 'tokens'), alone[companies.indexOf(one)])
        t.same(drawn(catalog, one, 'free'), [])
      }
  }
})

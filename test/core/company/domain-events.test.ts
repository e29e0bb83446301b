// Domain events of actors: thresholds crossed, and events that follow from effects alone.
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { apply, decideCompany } from '../../../src/core/company/company.js'
import {
  companyNotices,
  creditCrossings,
  crossings,
  entityNotice,
  readCredits,
  readLimits,
  touchedFeatures,
} from '../../../src/core/company/domain-events.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import { emptyAccount } from '../../../src/core/model/account-state.js'
import type { Company } from '../../../src/core/model/company-state.js'
import type { EntitlementDef } from '../../../src/core/model/definitions.js'
import type { CompanyMessage, Effect } from '../../../src/core/model/message.js'
import type { LimitReading } from '../../../src/core/model/notices.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'
import { encodeAmount } from '../../../src/core/values/amount.js'
import {
  catalogData,
  company,
  credit,
  entitlement,
  feature,
  holding,
  override,
  plan,
  trait,
} from '../make.js'

const watches = { types: [], featureIds: null, creditIds: null }
const day = 86_400_000
const now = Date.parse('2024-03-10T12:00:00.000Z')

const reading = (usage: number, some: Partial<LimitReading> = {}): LimitReading => ({
  featureId: 'f',
  entitlementId: 'e',
  usage,
  allocation: null,
  softLimit: null,
  tierLimits: [],
  warningTiers: [],
  resetAtMs: null,
  ...some,
})

/** Types told between two usages, shortened. */
const told = (from: number, to: number, some: Partial<LimitReading>) =>
  crossings(reading(from, some), reading(to, some)).map(
    one => `${one.type.replace('entitlement.', '')} ${one.limit}`,
  )

t.test('EN-53 the fixed points: 80 and 100 % of hard and soft limits, 75 and 100 % of tiers', async t => {
  t.same(told(79, 80, { allocation: 100 }), ['limit.warning 100'])
  t.same(told(78, 79, { allocation: 100 }), [])
  t.same(told(99, 100, { allocation: 100 }), ['limit.reached 100'])
  t.same(told(0, 500, { allocation: 100 }), ['limit.warning 100', 'limit.reached 100'])
  t.same(told(100, 101, { allocation: 100 }), [], 'reached is told when it is reached, not on and on')
  t.same(told(7, 8, { softLimit: 10 }), ['soft_limit.warning 10'])
  t.same(told(9, 10, { softLimit: 10 }), ['soft_limit.reached 10'])
  t.same(told(74, 75, { tierLimits: [100, 200] }), ['tier_limit.warning 100'])
  t.same(told(99, 150, { tierLimits: [100, 200] }), ['tier_limit.reached 100', 'tier_limit.warning 200'])
  t.same(told(0, 5, { allocation: 0 }), [], 'a limit of nothing is not reached by use')
  t.same(told(0, 1_000_000, {}), [], 'without a limit nothing is crossed')
})

t.test('EN-52 warning tiers of the caller, re-armed by what takes usage below them', async t => {
  const tiers = { warningTiers: [{ key: 'half', value: 50 }] }
  const [crossed] = crossings(reading(49, tiers), reading(50, tiers))
  t.match(crossed, {
    type: 'entitlement.limit.warning',
    limit: 50,
    warningTier: { key: 'half', value: 50 },
    usage: 50,
  })
  t.same(told(50, 60, tiers), [])
  t.same(told(60, 40, tiers), [], 'going back is no crossing')
  t.same(told(40, 55, tiers), ['limit.warning 50'])
})

t.test('EN-53 a limit that was lowered below the usage is reached then', async t => {
  const crossed = crossings(reading(50, { allocation: 100 }), reading(50, { allocation: 40 }))
  t.same(
    crossed.map(one => one.type),
    ['entitlement.limit.warning', 'entitlement.limit.reached'],
  )
})

/** A company on a plan with one metered feature, and what each event tells. */
class World {
  readonly company: Company
  constructor(
    def: Partial<EntitlementDef>,
    private readonly catalog = compileCatalog(
      catalogData({
        features: [feature('api')],
        plans: [plan('pro', [entitlement('api', { valueType: 'numeric', ...def })])],
      }),
    ),
  ) {
    this.company = company({ plan: holding('pro') })
  }

  use(quantity: number, atMs = now): string[] {
    const event = {
      type: 'track',
      subtype: 'api',
      quantity,
      mode: 'normal',
      capturedAtMs: atMs,
    } as AcceptedEvent
    const message: CompanyMessage = {
      type: 'event',
      event: { ...event, failure: null, inference: null, userId: null, leaseId: null, reservationId: null },
    }
    const decision = decideCompany(this.company, this.catalog, message, atMs)
    if ('refused' in decision) throw new Error(decision.refused)
    const read = () => {
      const live = new LiveCompany(this.company, this.catalog, atMs)
      return readLimits(live, touchedFeatures(live, decision.effects, watches))
    }
    const [before] = read()
    for (const effect of decision.effects) apply(this.company, effect, atMs)
    return crossings(before!, read()[0]!).map(one => one.type.replace('entitlement.', ''))
  }
}

t.test('EN-53 once per period per crossing; a new period and a negative event arm it again', async t => {
  const daily = new World({ valueNumeric: 10, metricPeriod: 'current_day' })
  t.same(daily.use(7), [])
  t.same(daily.use(1), ['limit.warning'])
  t.same(daily.use(1), [])
  t.same(daily.use(1), ['limit.reached'])
  t.same(daily.use(5), [])
  t.same(daily.use(-6), [], 'below the limit, still beyond the warning')
  t.same(daily.use(1), ['limit.reached'])
  t.same(daily.use(-5), [])
  t.same(daily.use(4), ['limit.warning'])
  t.same(daily.use(9, now + day), ['limit.warning'], 'the next day counts from 0')
  const ever = new World({ valueNumeric: 10 })
  t.same(ever.use(10), ['limit.warning', 'limit.reached'])
  t.same(ever.use(10, now + day), [], 'all time has one period')
})

t.test('EN-53 the published limits of a feature: overage, tiers, traits, overrides', async t => {
  t.same(new World({ priceBehavior: 'overage', softLimit: 10 }).use(10), [
    'soft_limit.warning',
    'soft_limit.reached',
  ])
  const tier = { flatAmount: 0, perUnitPrice: 1, perUnitPriceDecimal: null }
  const tiers = [
    { ...tier, upTo: 100 },
    { ...tier, upTo: null },
  ]
  t.same(new World({ priceBehavior: 'tier', tiers }).use(80), ['tier_limit.warning'])
  const catalog = compileCatalog(
    catalogData({
      traits: [trait('seats')],
      features: [feature('seats', { featureType: 'trait', traitId: 'trt_seats' }), feature('api')],
      plans: [plan('pro', [entitlement('seats', { valueType: 'numeric', valueNumeric: 5 })])],
    }),
  )
  const seated = company({ plan: holding('pro'), traits: { seats: '4' } })
  const live = new LiveCompany(seated, catalog, now)
  const write: Effect = { t: 'trait', name: 'seats', value: '5', atMs: now }
  const touched = touchedFeatures(live, [write], watches)
  t.match(readLimits(live, touched), [{ featureId: 'seats', usage: 4, allocation: 5, resetAtMs: null }])
  t.same(touchedFeatures(live, [write], { ...watches, featureIds: ['api'] }), [], 'only features asked about')
  const generous = company({
    plan: holding('pro'),
    overrides: [override('seats', { valueType: 'numeric', valueNumeric: 50 })],
  })
  t.match(readLimits(new LiveCompany(generous, catalog, now), touched), [
    { entitlementId: 'cmov_seats', allocation: 50 },
  ])
})

t.test('EN-53 80 and 100 % of credits, by what was granted', async t => {
  const catalog = compileCatalog(catalogData({ credits: [credit('c1')] }))
  const owner = company()
  const live = new LiveCompany(owner, catalog, now)
  const draw = { t: 'credit_draw', c: 'c1', seq: 1, at: now, s: [] } as Effect
  t.same([...readCredits(live, [draw], watches).keys()], ['c1'])
  t.same([...readCredits(live, [draw], { ...watches, creditIds: ['c2'] }).keys()], [])
  const at = (used: number, total = 10) => ({
    used: BigInt(used) * 1_000_000_000n,
    total: BigInt(total) * 1_000_000_000n,
    remaining: BigInt(total - used) * 1_000_000_000n,
  })
  const types = (from: number, to: number, total = 10) =>
    creditCrossings('c1', at(from, total), at(to, total)).map(one => one.type)
  t.same(types(7, 8), ['credit.limit.warning'])
  t.same(types(8, 9), [])
  t.same(types(9, 10), ['credit.limit.reached'])
  t.same(types(0, 12), ['credit.limit.warning', 'credit.limit.reached'])
  t.same(types(0, 3, 0), [], 'without grants there is no limit')
  t.same(creditCrossings('c1', at(8), at(8, 20)), [], 'a grant re-arms')
  t.match(creditCrossings('c1', at(7), at(8))[0], { creditId: 'c1', balance: 2, limit: 10 })
})

t.test('events from effects alone', async t => {
  t.equal(entityNotice('company', [{ t: 'created', name: '', atMs: 0 }, { t: 'touched' }]), 'company.created')
  t.equal(entityNotice('user', [{ t: 'trait', name: 'a', value: '1', atMs: 0 }]), 'user.updated')
  t.equal(
    entityNotice('company', [
      { t: 'used', subtype: 'a', quantity: 1, atMs: 0 },
      { t: 'seen', atMs: 0 },
    ]),
    null,
  )
  const held = override('api', { valueType: 'unlimited' })
  const types = (overrides: Company['overrides'], effect: Effect) =>
    companyNotices(company({ overrides }), [effect]).map(one => one.type)
  t.same(types([], { t: 'override', override: held }), ['company.override.created'])
  t.same(types([held], { t: 'override', override: held }), ['company.override.updated'])
  t.same(types([held], { t: 'override_removed', overrideId: held.id }), ['company.override.deleted'])
  const grant = (reason: 'free' | 'purchased' | 'billing_credit_auto_topup', bundle?: string): Effect => ({
    t: 'credit_grant',
    c: 'c1',
    seq: 1,
    at: 0,
    g: { reason, q: encodeAmount(5_000_000_000n), ...(bundle && { bundle }) },
  })
  t.match(companyNotices(company(), [grant('billing_credit_auto_topup')]), [
    { type: 'auto.topup.success', creditId: 'c1', quantity: 5, bundleId: null },
  ])
  t.same(types([], grant('purchased', 'bndl_1')), ['credit.purchase.success'])
  t.same(types([], grant('purchased')), [], 'credits sold without a bundle have no such notice')
  t.same(types([], grant('free')), [])
  // CR-56 told when the failures reach the bound, once
  const failed = (failures: number): Effect => ({
    t: 'credit_topup',
    c: 'c1',
    at: 0,
    settings: null,
    pending: false,
    failures,
  })
  t.same(types([], failed(4)), [])
  t.same(types([], failed(5)), ['auto.topup.retry.exceeded'])
  const tired = { ...emptyAccount('comp_1', 'c1'), topup: { settings: null, pending: false, failures: 5 } }
  t.same(companyNotices(company({ credits: new Map([['c1', tired]]) }), [failed(5)]), [])
  const hard = (failures: number): Effect => ({ ...failed(failures), hard: 'no_price' }) as Effect
  t.same(types([], hard(1)), ['auto.topup.hard.failure'])
  t.same(types([], hard(5)), ['auto.topup.hard.failure', 'auto.topup.retry.exceeded'])
})

t.test('BU-6 a window of a spend policy that comes to its bound is told, once in the window', async t => {
  const nanos = 1_000_000_000n
  const drawn = (credits: bigint, startMs = now): Effect => ({
    t: 'credit_draw',
    c: 'c1',
    seq: 2,
    at: now,
    s: [],
    b: [['p1', startMs, encodeAmount(credits * nanos), encodeAmount(10n * nanos), startMs + day]],
  })
  const spent = (credits: bigint) => {
    const spending = [{ policyId: 'p1', startMs: now, spent: credits * nanos }]
    return company({ credits: new Map([['c1', { ...emptyAccount('comp_1', 'c1'), spending }]]) })
  }
  t.same(companyNotices(spent(4n), [drawn(5n)]), [])
  t.match(companyNotices(spent(4n), [drawn(4n), drawn(2n)]), [
    {
      type: 'spend_policy.reached',
      budget: { policyId: 'p1', creditId: 'c1', spent: 10, max: 10, resetAtMs: now + day },
    },
  ])
  t.same(companyNotices(spent(10n), [drawn(1n)]), [], 'it was told before')
  t.equal(companyNotices(spent(10n), [drawn(12n, now + day)]).length, 1, 'the next window')
})

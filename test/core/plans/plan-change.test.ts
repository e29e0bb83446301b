// Plans assigned, migrated and changed by time, each change with its record (EN-84…96, PB-13, PB-20…24, PB-30…35).

import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { apply, decideCompany } from '../../../src/core/company/company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import type { CompanyMessage, Effect } from '../../../src/core/model/message.js'
import type {
  MigrationReply,
  MigrationWanted,
  PlanChangeRecord,
  PlansWanted,
} from '../../../src/core/model/plan-messages.js'
import { settlePlans } from '../../../src/core/plans/settle.js'
import { dayMs } from '../../../src/core/values/period.js'
import { NamedTexts } from '../../../src/core/values/text-map.js'
import { catalogData, company, holding, plan, planVersion, subscription } from '../make.js'

const now = Date.UTC(2026, 2, 15, 10)
const catalog = compileCatalog(
  catalogData({
    plans: [
      plan('free', []),
      plan('pro', [], {
        versions: [planVersion('pro_v1', { status: 'archived' }), planVersion('pro_v2')],
        publishedVersionId: 'pro_v2',
      }),
      plan('tried', [], { versions: [planVersion('tried_v1', { isTrialable: true, trialDays: 14 })] }),
      plan('lapsed', []),
      plan('unpublished', [], { versions: [], publishedVersionId: null }),
      plan('custom', [], { companyId: 'comp_1' }),
      plan('foreign', [], { companyId: 'comp_2' }),
      plan('extra', [], { planType: 'add_on' }),
      plan('more', [], { planType: 'add_on' }),
    ],
    fallbackPlanId: 'free',
    trialExpiryPlanId: 'lapsed',
  }),
)
const cause = { action: 'manage_plan', actorType: 'api_key', apiKeyId: 'apik_1' } as const

const change = (some: Partial<PlansWanted>): PlansWanted => ({
  type: 'change_plans',
  basePlanId: 'pro',
  addOnIds: [],
  versionIds: {},
  priceIds: {},
  commitments: [],
  cause,
  ...some,
})

const migrate = (some: Partial<MigrationWanted> = {}): MigrationWanted => ({
  type: 'migrate_plan',
  migrationId: 'pvmg_1',
  planId: 'pro',
  versionId: 'pro_v2',
  fromVersionIds: null,
  when: 'now',
  priceIds: {},
  commitments: [],
  cause: { ...cause, action: 'plan_version_migration' },
  ...some,
})

/** Decide and apply; the reply, the effects, or the refusal. */
function tell(of: Company, message: CompanyMessage, atMs = now) {
  const decision = decideCompany(of, catalog, message, atMs)
  if ('refused' in decision) return { refused: decision.refused, reply: null, effects: [] }
  for (const effect of decision.effects) apply(of, effect, atMs)
  return { refused: null, reply: decision.reply, effects: decision.effects }
}

/** Everything time has changed, written down as a shard does. */
function settle(of: Company, atMs: number): Effect[] {
  const all: Effect[] = []
  for (let fx = settlePlans(of, catalog, atMs); fx.length > 0; fx = settlePlans(of, catalog, atMs)) {
    for (const effect of fx) apply(of, effect, atMs)
    all.push(...fx)
  }
  return all
}

const recordOf = (effects: readonly Effect[]): PlanChangeRecord | undefined =>
  effects.find(effect => effect.t === 'plan_changed')?.change

t.test(
  'EN-84, PB-31 a plan is taken at its published version, and kept at the one it is held at',
  async t => {
    const of = company()
    tell(of, change({}))
    t.match(of.plan, { planId: 'pro', versionId: 'pro_v2', addedAtMs: now })
    of.plan = holding('pro', { versionId: 'pro_v1', addedAtMs: 5 })
    t.same(tell(of, change({})).effects, [], 'nothing changes, so nothing is recorded')
    tell(of, change({ versionIds: { pro: 'pro_v2' } }))
    t.match(of.plan, { versionId: 'pro_v2', addedAtMs: 5 })
  },
)

t.test(
  'PB-30 the plans given are all there are: add-ons left out go, no base plan means the fallback plan',
  async t => {
    const of = company({ plan: holding('pro'), addOns: [holding('extra', { addedAtMs: 1 })] })
    const { effects } = tell(of, change({ basePlanId: null, addOnIds: ['more'] }))
    t.match(of.plan, { planId: 'free' })
    t.same(
      of.addOns.map(one => one.planId),
      ['more'],
    )
    t.match(recordOf(effects), {
      ...cause,
      atMs: now,
      basePlanAction: 'fallback',
      from: { planId: 'pro' },
      to: { planId: 'free' },
      addOnsAdded: ['more'],
      addOnsRemoved: ['extra'],
    })
    tell(of, change({ basePlanId: 'pro', addOnIds: ['extra', 'more', 'extra'] }), now + 1)
    t.same(
      of.addOns.map(one => [one.planId, one.addedAtMs]),
      [
        ['more', now],
        ['extra', now + 1],
      ],
      'EN-23 by date added',
    )
  },
)

t.test('PB-13, EN-84, PB-34 what cannot be held changes nothing', async t => {
  for (const refused of [
    change({ basePlanId: 'unpublished' }),
    change({ basePlanId: 'foreign' }),
    change({ basePlanId: 'extra' }),
    change({ basePlanId: 'nowhere' }),
    change({ addOnIds: ['pro'] }),
    change({ addOnIds: ['extra', 'nowhere'] }),
    change({ versionIds: { pro: 'nowhere' } }),
  ]) {
    const of = company({ plan: holding('free') })
    t.equal(tell(of, refused).refused, 'plan_not_assignable', JSON.stringify(refused))
    t.equal(of.plan?.planId, 'free')
  }
  const of = company()
  tell(of, change({ basePlanId: 'custom' }))
  t.equal(of.plan?.planId, 'custom')
  t.equal(tell({ ...company(), exists: false }, change({})).refused, 'not_found')
})

t.test('PB-34 every change has a record of its own', async t => {
  const of = company()
  const ids = [change({}), change({ basePlanId: 'free' }), change({})].map(
    (message, i) => recordOf(tell(of, message, now + i).effects)?.id,
  )
  t.equal(new Set(ids).size, 3)
  t.equal(of.idsMade, 3)
})

t.test('EN-97, PB-24 a migration takes version and price, and leaves the rest', async t => {
  const of = company({ plan: holding('pro', { versionId: 'pro_v1', priceId: 'bilpp_1', addedAtMs: 7 }) })
  const { reply, effects } = tell(of, migrate({ priceIds: { bilpp_1: 'bilpp_2' } }))
  t.same(reply, {
    outcome: 'completed',
    fromVersionId: 'pro_v1',
    effectiveAtMs: null,
  } satisfies MigrationReply)
  t.same(of.plan, holding('pro', { versionId: 'pro_v2', priceId: 'bilpp_2', addedAtMs: 7 }))
  t.match(recordOf(effects), {
    action: 'plan_version_migration',
    from: { versionId: 'pro_v1' },
    to: { versionId: 'pro_v2' },
  })
  t.same(
    tell(of, migrate()),
    {
      refused: null,
      reply: { outcome: 'completed', fromVersionId: 'pro_v2', effectiveAtMs: null },
      effects: [],
    },
    'once more does nothing',
  )
})

t.test('PB-23 a company that left the plan, or is on a version that is not meant, is skipped', async t => {
  t.match(tell(company({ plan: holding('free') }), migrate()).reply, {
    outcome: 'skipped',
    fromVersionId: null,
  })
  const of = company({ plan: holding('pro', { versionId: 'pro_v1' }) })
  t.match(tell(of, migrate({ fromVersionIds: ['pro_v0'] })).reply, { outcome: 'skipped' })
  t.equal(tell(of, migrate({ versionId: 'nowhere' })).refused, 'plan_not_assignable')
})

t.test('EN-35 a commitment raises what was bought, never lowers it', async t => {
  const of = company({ plan: holding('pro', { versionId: 'pro_v1' }), traits: { seats: '3', desks: '9' } })
  tell(
    of,
    migrate({
      commitments: [
        { trait: 'seats', atLeast: 5 },
        { trait: 'desks', atLeast: 5 },
        { trait: 'rooms', atLeast: 1 },
      ],
    }),
  )
  t.equal(of.traits.get('seats')?.value, '5')
  t.equal(of.traits.get('desks')?.value, '9')
  t.equal(of.traits.get('rooms')?.value, '1')
})

t.test('PB-21, EN-96 at the end of the billing period', async t => {
  const onPro = (some: Partial<Omit<Company, 'traits'>> = {}) =>
    company({ plan: holding('pro', { versionId: 'pro_v1' }), ...some })
  const deferred = migrate({ when: 'period_end' })

  const unbilled = onPro()
  t.match(tell(unbilled, deferred).reply, { outcome: 'completed' }, 'without subscription at once')

  const periodEndMs = now + 10 * dayMs
  const billed = onPro({ subscriptions: [subscription({ periodStartMs: now - dayMs, periodEndMs })] })
  t.match(tell(billed, deferred).reply, { outcome: 'scheduled', effectiveAtMs: periodEndMs })
  t.equal(billed.plan?.versionId, 'pro_v1')
  t.same(tell(billed, deferred).effects, [], 'asked again, nothing moves')
  t.same(settle(billed, periodEndMs - 1), [])
  const effects = settle(billed, periodEndMs + 5)
  t.match(recordOf(effects), { action: 'plan_version_migration', actorType: 'system', atMs: periodEndMs })
  t.equal(billed.plan?.versionId, 'pro_v2')
  t.equal(billed.schedule, null)
  t.match(tell(billed, deferred, periodEndMs + 6).reply, { outcome: 'completed' })

  for (const some of [
    { status: 'past_due' },
    { cancelAtPeriodEnd: true },
    { cancelAtMs: periodEndMs },
  ] as const) {
    const undated = onPro({
      subscriptions: [subscription({ periodStartMs: now - dayMs, periodEndMs, ...some })],
    })
    t.match(
      tell(undated, deferred).reply,
      { outcome: 'scheduled', effectiveAtMs: null },
      JSON.stringify(some),
    )
    t.same(settle(undated, now + 5 * dayMs), [])
  }
})

t.test('PB-23 what is agreed for a plan ends when it is left, withdrawn, or agreed anew', async t => {
  const periodEndMs = now + dayMs
  const planned = () => {
    const subscriptions = [subscription({ periodStartMs: now - dayMs, periodEndMs })]
    const of = company({ plan: holding('pro', { versionId: 'pro_v1' }), subscriptions })
    tell(of, migrate({ when: 'period_end' }))
    t.equal(of.schedule?.migrations.length, 1)
    return of
  }
  const left = planned()
  tell(left, change({ basePlanId: 'free' }))
  t.equal(left.schedule, null)
  const withdrawn = planned()
  tell(withdrawn, { type: 'cancel_migration', migrationId: 'another' })
  t.equal(withdrawn.schedule?.migrations.length, 1)
  tell(withdrawn, { type: 'cancel_migration', migrationId: 'pvmg_1' })
  t.equal(withdrawn.schedule, null)
  const anew = planned()
  tell(anew, migrate({ when: 'period_end', migrationId: 'pvmg_2' }))
  t.same(
    anew.schedule?.migrations.map(one => one.migrationId),
    ['pvmg_2'],
  )
  const kept = planned()
  tell(kept, change({ basePlanId: 'pro', addOnIds: ['extra'] }))
  t.equal(kept.schedule?.migrations.length, 1, 'the plan stays, and so does what is agreed')
})

t.test('EN-90, EN-91, EN-93 a trial ends at its instant, is recorded, and is not given twice', async t => {
  const of = company()
  const { effects } = tell(of, change({ basePlanId: 'tried' }))
  const endMs = now + 14 * dayMs
  t.match(recordOf(effects), { trialStatus: 'active', trialEndMs: endMs })
  t.same(settle(of, endMs - 1), [])
  const ended = recordOf(settle(of, endMs + 3))
  t.match(ended, {
    action: 'fallback_plan',
    basePlanAction: 'trial_expiry',
    atMs: endMs,
    trialStatus: 'expired',
    trialEndMs: endMs,
    from: { planId: 'tried' },
    to: { planId: 'lapsed' },
  })
  tell(of, change({ basePlanId: 'tried' }), endMs + 4)
  t.equal(of.plan?.trial, null)

  const keeping = company({
    plan: holding('tried', { trial: { endMs: now, endSetting: 'subscribe', status: 'active' } }),
  })
  t.match(recordOf(settle(keeping, now)), { trialStatus: 'converted', to: { planId: 'tried' } })
  t.equal(keeping.plan?.trial?.status, 'converted')
})

t.test('EN-80 the first plan of a company is recorded too', async t => {
  const write = {
    addKeys: [['id', 'x']],
    removeKeys: [],
    name: null,
    traits: [],
    introduces: [],
    lastSeenAtMs: null,
    atMs: now,
  } as const
  const made = { ...company(), exists: false, keys: new NamedTexts() }
  const { effects } = tell(made, { type: 'ensure', write })
  t.match(recordOf(effects), {
    action: 'company_upsert',
    actorType: 'system',
    basePlanAction: 'fallback',
    from: null,
    to: { planId: 'free' },
  })
})

t.test('EN-91 the end of a trial is a fact: by time, by leaving, not while it runs', async t => {
  const trialOf = (endMs: number, endSetting: 'cancel' | 'subscribe' = 'cancel') =>
    ({ endMs, endSetting, status: 'active' }) as const
  const tried = (changes: object = {}) =>
    company({ plan: holding('tried', { addedAtMs: 7, trial: trialOf(now), ...changes }) })
  const ended = (effects: readonly Effect[]) =>
    effects.flatMap(effect => (effect.t === 'trial_ended' ? [effect.trial] : []))
  t.match(ended(settle(tried(), now + 5)), [
    { planId: 'tried', subscriptionId: null, beganMs: 7, endMs: now, status: 'expired', atMs: now },
  ])
  const goesOver = tried({ trial: trialOf(now, 'subscribe'), subscriptionId: 'bilsub_1' })
  t.match(ended(settle(goesOver, now)), [{ subscriptionId: 'bilsub_1', status: 'converted' }])
  t.same(ended(settle(tried(), now - 1)), [], 'EN-93 not before its end')
  t.same(ended(settle(goesOver, now + dayMs)), [], 'once')
  t.match(ended(tell(tried({ trial: trialOf(now + dayMs) }), change({})).effects), [
    { planId: 'tried', status: 'expired', atMs: now },
  ])
})

t.test(
  'PB-51, EN-91 a subscription that is in its trial no more ends it, with or without a plan',
  async t => {
    const of = company()
    const put = (changes: object) =>
      tell(of, {
        type: 'put_subscription',
        subscription: subscription({ id: 's1', status: 'trialing', trialEndMs: now + dayMs, ...changes }),
        cause,
      }).effects.filter(effect => effect.t === 'trial_ended')
    t.same(put({}), [])
    t.same(put({ trialEndMs: now + 2 * dayMs }), [], 'a later end')
    t.match(put({ status: 'active' }), [
      { trial: { subscriptionId: 's1', planId: null, endMs: now + 2 * dayMs, status: 'converted' } },
    ])
    t.same(put({ status: 'active' }), [])
  },
)

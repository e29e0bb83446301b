// Which plans count at an instant, which cycle runs (EN-82, EN-91…96, PB-51…58, FE-52).
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import type { PlannedCompany, TrialState } from '../../../src/core/model/company-state.js'
import {
  billingSubscription,
  cycleOf,
  endsAt,
  isActive,
  plansChangeAt,
  plansInForce,
  trialEnd,
  trialStatus,
} from '../../../src/core/plans/plan.js'
import { dayMs } from '../../../src/core/values/period.js'
import { catalogData, company, holding, plan, planVersion, subscription } from '../make.js'

const now = Date.UTC(2026, 2, 15, 10)
const catalog = compileCatalog(
  catalogData({
    plans: [
      plan('free', []),
      plan('pro', [], {
        versions: [
          planVersion('pro_v1', { billingProductId: 'prod_old' }),
          planVersion('pro_v2', { billingProductId: 'prod_pro' }),
        ],
        publishedVersionId: 'pro_v2',
      }),
      plan('lapsed', []),
      plan('extra', [], {
        planType: 'add_on',
        versions: [planVersion('extra_v1', { billingProductId: 'prod_extra' })],
      }),
    ],
    fallbackPlanId: 'free',
    trialExpiryPlanId: 'lapsed',
  }),
)
const without = (some: object) => compileCatalog({ ...catalog.data, ...some })
const planAt = (of: PlannedCompany, nowMs: number, in_ = catalog) =>
  plansInForce(of, in_, nowMs).plan?.versionId ?? null
const trial = (some: Partial<TrialState> = {}): TrialState => ({
  endMs: now,
  endSetting: 'cancel',
  status: 'active',
  ...some,
})

t.test('EN-82, EN-84 a company without base plan is on the fallback plan, published version', async t => {
  t.equal(planAt(company(), now), 'free_v1')
  t.equal(planAt(company(), now, without({ fallbackPlanId: null })), null)
  t.equal(planAt(company(), now, without({ fallbackPlanId: 'gone' })), null)
  t.equal(planAt(company({ plan: holding('pro') }), now), 'pro_v1', 'EN-85 a holding stays at its version')
})

t.test('EN-93 a trial that cancels itself ends exactly at its end', async t => {
  const trialing = company({ plan: holding('pro', { trial: trial() }) })
  t.equal(planAt(trialing, now - 1), 'pro_v1')
  t.equal(planAt(trialing, now), 'lapsed_v1', 'EN-91 then the trial-expiry plan')
  t.equal(planAt(trialing, now, without({ trialExpiryPlanId: null })), 'free_v1', 'else the fallback plan')
})

t.test('EN-91 a trial that subscribes, and one that has converted, keep the plan', async t => {
  const subscribes = trial({ endSetting: 'subscribe' })
  t.equal(planAt(company({ plan: holding('pro', { trial: subscribes }) }), now), 'pro_v1')
  t.equal(trialStatus(subscribes, now), 'converted')
  t.equal(trialStatus(subscribes, now - 1), 'active')
  t.equal(trialStatus(trial(), now), 'expired')
  const converted = trial({ status: 'converted' })
  t.equal(planAt(company({ plan: holding('pro', { trial: converted }) }), now), 'pro_v1')
  const paid = company({
    plan: holding('pro', { trial: trial() }),
    subscriptions: [subscription({ productIds: ['prod_pro'], periodEndMs: now + dayMs })],
  })
  t.equal(planAt(paid, now), 'pro_v1', 'PB-51 a plan subscribed to meanwhile is held through that')
})

t.test('PB-56 a subscription cancelled for its period’s end gives access until then', async t => {
  const ending = subscription({
    productIds: ['prod_pro'],
    periodStartMs: now - 30 * dayMs,
    periodEndMs: now,
    cancelAtPeriodEnd: true,
  })
  const paying = company({ plan: holding('pro'), subscriptions: [ending] })
  t.equal(planAt(paying, now - 1), 'pro_v1')
  t.equal(planAt(paying, now), 'free_v1')
  t.equal(cycleOf(paying, now - 1)?.endMs, now)
  t.equal(cycleOf(paying, now), null, 'FE-52 and windows are calendar months from there')
  const byHand = company({ plan: holding('pro'), subscriptions: [{ ...ending, productIds: ['prod_else'] }] })
  t.equal(planAt(byHand, now), 'pro_v1', 'a plan that no subscription sells is not lost with one')
  const takenLater = company({ plan: holding('pro', { addedAtMs: now + dayMs }), subscriptions: [ending] })
  t.equal(planAt(takenLater, now + 2 * dayMs), 'pro_v1', 'nor one taken after that subscription was over')
  const two = [ending, subscription({ id: 'bilsub_2', productIds: ['prod_old'], periodEndMs: now + dayMs })]
  t.equal(
    planAt(company({ plan: holding('pro'), subscriptions: two }), now),
    'pro_v1',
    'another still sells it',
  )
})

t.test('PB-51 an add-on goes with its subscription, and has no fallback', async t => {
  const ending = subscription({ productIds: ['prod_extra'], cancelAtMs: now, periodEndMs: now + dayMs })
  const held = company({ plan: holding('pro'), addOns: [holding('extra')], subscriptions: [ending] })
  t.same(
    plansInForce(held, catalog, now - 1).addOns.map(({ planId }) => planId),
    ['extra'],
  )
  t.same(plansInForce(held, catalog, now).addOns, [])
  t.equal(planAt(held, now), 'pro_v1')
})

t.test('PB-57 the end of a period alone takes nothing away', async t => {
  const late = subscription({
    productIds: ['prod_pro'],
    periodStartMs: Date.UTC(2026, 0, 20),
    periodEndMs: Date.UTC(2026, 1, 20),
  })
  const paying = company({ plan: holding('pro'), subscriptions: [late] })
  t.equal(planAt(paying, now), 'pro_v1')
  t.match(cycleOf(paying, now), { startMs: late.periodStartMs, endMs: Date.UTC(2026, 2, 20) }, 'FE-52')
})

t.test('PB-58 a subscription’s trial that cancels ends it, while it is trialing', async t => {
  const trialing = subscription({
    status: 'trialing',
    productIds: ['prod_pro'],
    trialEndMs: now,
    trialEndSetting: 'cancel',
    periodEndMs: now + dayMs,
  })
  const held = company({ plan: holding('pro'), subscriptions: [trialing] })
  t.equal(planAt(held, now - 1), 'pro_v1')
  t.equal(planAt(held, now), 'lapsed_v1', 'EN-91')
  t.equal(trialEnd(plansInForce(held, catalog, now - 1), trialing, now - 1), now)
  t.equal(endsAt({ ...trialing, status: 'active' }), Number.POSITIVE_INFINITY, 'it has gone over to paid')
  t.equal(endsAt({ ...trialing, trialEndSetting: 'subscribe' }), Number.POSITIVE_INFINITY)
})

t.test('EN-82, PB-51 which statuses count as active', async t => {
  const active = (['active', 'trialing', 'past_due'] as const).map(status => subscription({ status }))
  const inactive = (
    ['incomplete', 'incomplete_expired', 'canceled', 'unpaid', 'paused', 'expired'] as const
  ).map(status => subscription({ status }))
  t.ok(active.every(one => isActive(one, now)))
  t.notOk(inactive.some(one => isActive(one, now)))
})

t.test('PB-53 of several active subscriptions the base plan’s, else the newest', async t => {
  const older = subscription({ id: 'older', periodStartMs: now - 20 * dayMs, periodEndMs: now + 10 * dayMs })
  const newer = subscription({ id: 'newer', periodStartMs: now - 2 * dayMs, periodEndMs: now + 28 * dayMs })
  const gone = subscription({ id: 'gone', status: 'canceled', periodStartMs: now - dayMs })
  const subscriptions = [older, newer, gone]
  t.equal(billingSubscription(company({ subscriptions }), now)?.id, 'newer')
  const named = { ...holding('pro'), subscriptionId: 'older' }
  t.equal(billingSubscription(company({ plan: named, subscriptions }), now)?.id, 'older')
  t.equal(billingSubscription(company({ subscriptions: [gone] }), now), null)
})

t.test('EN-95 a scheduled downgrade switches at its instant', async t => {
  const planned: PlannedCompany = {
    ...company({ plan: holding('pro'), addOns: [holding('extra')] }),
    schedule: { downgrade: { effectiveAtMs: now, plan: holding('free'), addOns: [] }, migrations: [] },
  }
  t.equal(planAt(planned, now - 1), 'pro_v1')
  t.same(plansInForce(planned, catalog, now), { plan: holding('free'), addOns: [] })
})

t.test('EN-96 a pending migration changes the version at its instant, without a date never', async t => {
  const migration = {
    migrationId: 'm',
    planId: 'pro',
    versionId: 'pro_v2',
    strategy: 'scheduled' as const,
    priceIds: {},
  }
  const planned = (effectiveAtMs: number | null): PlannedCompany => ({
    ...company({ plan: holding('pro'), addOns: [holding('extra')] }),
    schedule: { downgrade: null, migrations: [{ ...migration, effectiveAtMs }] },
  })
  t.equal(planAt(planned(now), now - 1), 'pro_v1')
  t.equal(planAt(planned(now), now), 'pro_v2')
  t.equal(planAt(planned(null), now + 365 * dayMs), 'pro_v1')
  t.same(plansInForce(planned(now), catalog, now).addOns, [holding('extra')])
})

t.test('results from the plans held are valid until the next instant that may change them', async t => {
  const held = company({
    plan: holding('pro', { trial: trial({ endMs: now + 5 }) }),
    subscriptions: [subscription({ cancelAtMs: now + 3, periodEndMs: now + dayMs }), subscription()],
  })
  t.same(
    [now, now + 3, now + 5].map(ms => plansChangeAt(held, ms)),
    [now + 3, now + 5, Number.POSITIVE_INFINITY],
  )
  const migration = {
    migrationId: 'm',
    planId: 'pro',
    versionId: 'pro_v2',
    effectiveAtMs: now + 2,
    strategy: 'scheduled' as const,
    priceIds: {},
  }
  const downgrade = { effectiveAtMs: now + 1, plan: null, addOns: [] }
  const planned: PlannedCompany = { ...held, schedule: { downgrade, migrations: [migration] } }
  t.same(
    [now, now + 1, now + 2].map(ms => plansChangeAt(planned, ms)),
    [now + 1, now + 2, now + 3],
  )
})

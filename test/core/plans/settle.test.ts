// Changes by time are recorded in the order in which they were due, however late they are looked for.
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { apply } from '../../../src/core/company/company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import { settleByTime } from '../../../src/core/plans/settle.js'
import { dayMs } from '../../../src/core/values/period.js'
import { catalogData, company, holding, plan, planVersion } from '../make.js'

const start = Date.UTC(2031, 0, 1)
const catalog = compileCatalog(
  catalogData({
    plans: [
      plan('free', []),
      plan('pro', [], {
        versions: [1, 2].map(n =>
          planVersion(`pro_v${n}`, {
            status: n === 2 ? 'published' : 'archived',
            billingProductId: 'bilp_1',
          }),
        ),
        publishedVersionId: 'pro_v2',
      }),
      plan('extra', [], {
        planType: 'add_on',
        versions: [planVersion('extra_v1', { billingProductId: 'bilp_2' })],
        publishedVersionId: 'extra_v1',
      }),
    ],
    fallbackPlanId: 'free',
  }),
)
const subscription = {
  id: 'bilsub_1',
  externalId: 'sub',
  status: 'active',
  periodStartMs: start,
  periodEndMs: start + 31 * dayMs,
  intervalMonths: 1,
  cancelAtPeriodEnd: false,
  cancelAtMs: null,
  trialEndMs: null,
  trialEndSetting: null,
  productIds: ['bilp_1'],
  items: [{ productId: 'bilp_1', priceId: 'bilpp_1', quantity: 1 }],
  anchorMs: start,
} as const
const migration = {
  migrationId: 'pvmg_1',
  planId: 'pro',
  versionId: 'pro_v2',
  effectiveAtMs: start + 10 * dayMs,
  priceIds: { bilpp_1: 'bilpp_2' },
  strategy: 'scheduled',
} as const
const subscribed = () =>
  holding('pro', { versionId: 'pro_v1', priceId: 'bilpp_1', subscriptionId: 'bilsub_1' })

/** Everything that is due, settled; what was recorded: version and day. */
function settled(of: Company, nowMs: number): string[] {
  const told: string[] = []
  for (let fx = settleByTime(of, catalog, nowMs); fx.length > 0; fx = settleByTime(of, catalog, nowMs))
    for (const effect of fx) {
      apply(of, effect, nowMs)
      if (effect.t === 'plan_changed')
        told.push(`${effect.change.to?.versionId} ${(effect.change.atMs - start) / dayMs}`)
    }
  return told
}

t.test('PB-34 a migration before the end of the subscription, both found late', async t => {
  const of = company({
    plan: subscribed(),
    subscriptions: [{ ...subscription, cancelAtPeriodEnd: true }],
    schedule: {
      downgrade: {
        effectiveAtMs: start + 31 * dayMs,
        plan: holding('free', { addedAtMs: start + 31 * dayMs }),
        addOns: [],
        subscription: { ...subscription, status: 'canceled' },
      },
      migrations: [migration],
    },
  })
  t.same(settled(of, start + 90 * dayMs), ['pro_v2 10', 'free_v1 31'])
})

t.test('EN-97 (D2) a migration at its date changes what the subscription sells', async t => {
  const of = company({
    plan: subscribed(),
    subscriptions: [subscription],
    schedule: { downgrade: null, migrations: [migration] },
  })
  t.same(settled(of, start + 40 * dayMs), ['pro_v2 10'])
  t.match(of.plan, { versionId: 'pro_v2', priceId: 'bilpp_2', subscriptionId: 'bilsub_1' })
  t.match(of.subscriptions, [
    {
      status: 'active',
      items: [{ priceId: 'bilpp_2', quantity: 1 }],
      periodStartMs: start + 31 * dayMs,
    },
  ])
  t.equal(of.schedule, null)
})

t.test('EN-97 a version that is not sold ends what was paid for it', async t => {
  const of = company({
    plan: subscribed(),
    subscriptions: [subscription],
    schedule: { downgrade: null, migrations: [{ ...migration, priceIds: {}, ended: ['bilpp_1'] }] },
  })
  settled(of, start + 10 * dayMs)
  t.match(of.plan, { versionId: 'pro_v2', priceId: null, subscriptionId: null })
  t.match(of.subscriptions, [{ status: 'canceled', items: [] }])
})

t.test('PB-34, EN-91 a trial and the add-on of its subscription end in one change', async t => {
  const endMs = start + 14 * dayMs
  const trial = { endMs, endSetting: 'cancel', status: 'active' } as const
  const of = company({
    plan: { ...subscribed(), trial },
    addOns: [holding('extra', { subscriptionId: 'bilsub_1' })],
    subscriptions: [
      {
        ...subscription,
        status: 'trialing',
        trialEndMs: endMs,
        trialEndSetting: 'cancel',
        productIds: ['bilp_1', 'bilp_2'],
      },
    ],
  })
  t.same(settled(of, start + 20 * dayMs), ['free_v1 14'])
  t.match(of, { plan: { planId: 'free' }, addOns: [] })
})

// The way back from a migration or move, beside what the company had agreed for later (MI-30…32).
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { apply } from '../../../src/core/company/company.js'
import type { Company, Moved } from '../../../src/core/model/company-state.js'
import type { MigrationReply, MigrationWanted } from '../../../src/core/model/plan-messages.js'
import { decidePlans } from '../../../src/core/plans/plan-change.js'
import { settleByTime } from '../../../src/core/plans/settle.js'
import { dayMs } from '../../../src/core/values/period.js'
import { catalogData, company, holding, plan, planVersion, subscription } from '../make.js'

const start = Date.UTC(2031, 0, 1)
const endMs = start + 365 * dayMs
/** A version with a price for the year and for the month; ids end in `y` and `m`. */
const sold = (id: string) =>
  planVersion(id, {
    chargeType: 'recurring',
    billingProductId: 'bilp_1',
    prices: [12, 1].map(months => ({
      id: `${id}${months === 12 ? 'y' : 'm'}`,
      currency: 'usd',
      months,
      productId: 'bilp_1',
    })),
  })
const catalog = compileCatalog(
  catalogData({
    plans: [
      plan('free', []),
      plan('pro', [], { versions: [sold('pro_v1'), sold('pro_v2')], publishedVersionId: 'pro_v2' }),
      plan('other', [], { versions: [sold('other_v1')] }),
      plan('low', [], { versions: [sold('low_v1')] }),
    ],
    fallbackPlanId: 'free',
  }),
)
const item = (priceId: string) => ({ productId: 'bilp_1', priceId, quantity: 1 })
const paid = (priceId: string) =>
  subscription({
    periodStartMs: start,
    periodEndMs: endMs,
    intervalMonths: 12,
    productIds: ['bilp_1'],
    items: [item(priceId)],
    anchorMs: start,
  })
const held = (planId: string, versionId: string, priceId: string) =>
  holding(planId, { versionId, priceId, subscriptionId: 'bilsub_1', addedAtMs: start })
/** At the end of the year the company pays a plan by the month. */
const byMonth = (planId: string, versionId: string) => ({
  effectiveAtMs: endMs,
  plan: held(planId, versionId, `${versionId}m`),
  addOns: [],
  subscription: {
    ...paid(`${versionId}m`),
    intervalMonths: 1,
    periodStartMs: endMs,
    periodEndMs: endMs + 31 * dayMs,
  },
})
const cause = { action: 'migration', actorType: 'system', apiKeyId: null } as const

function migrate(of: Company, some: Partial<MigrationWanted>, nowMs: number): Moved {
  const decision = decidePlans(
    of,
    catalog,
    {
      type: 'migrate_plan',
      migrationId: 'pvmg_1',
      planId: 'pro',
      versionId: 'pro_v2',
      fromVersionIds: null,
      when: 'now',
      priceIds: { pro_v1y: 'pro_v2y', pro_v1m: 'pro_v2m' },
      commitments: [],
      cause,
      ...some,
    },
    nowMs,
  )
  if ('refused' in decision) throw new Error(decision.refused)
  for (const effect of decision.effects) apply(of, effect, nowMs)
  const changed = decision.effects.find(one => one.t === 'plan_changed')
  if (changed?.t !== 'plan_changed') throw new Error('it did not move')
  return changed.change.moved!
}

function restore(of: Company, moved: Moved, nowMs: number): MigrationReply {
  const decision = decidePlans(
    of,
    catalog,
    { type: 'restore_plan', migrationId: 'pmov_1', moved, cause },
    nowMs,
  )
  if ('refused' in decision) throw new Error(decision.refused)
  for (const effect of decision.effects) apply(of, effect, nowMs)
  return decision.reply as MigrationReply
}

function settle(of: Company, nowMs: number): void {
  for (let fx = settleByTime(of, catalog, nowMs); fx.length > 0; fx = settleByTime(of, catalog, nowMs))
    for (const effect of fx) apply(of, effect, nowMs)
}

const payer = (some: Parameters<typeof company>[0] = {}) =>
  company({ plan: held('pro', 'pro_v1', 'pro_v1y'), subscriptions: [paid('pro_v1y')], ...some })
const agreed = (downgrade: ReturnType<typeof byMonth>) => ({ downgrade, migrations: [] })

t.test('MI-30 a downgrade that keeps its plan lands on the version that came back', async t => {
  const before = payer({ schedule: agreed(byMonth('pro', 'pro_v1')) })
  const moved = migrate(before, {}, start + dayMs)
  t.match(before.schedule?.downgrade, { plan: { versionId: 'pro_v2', priceId: 'pro_v2m' } })
  t.equal(restore(before, moved, start + 2 * dayMs).outcome, 'completed')
  const after = payer()
  const alike = migrate(after, {}, start + dayMs)
  after.schedule = agreed(byMonth('pro', 'pro_v2'))
  t.equal(restore(after, alike, start + 2 * dayMs).outcome, 'completed')
  for (const [one, when] of [
    [before, 'agreed before the migration'],
    [after, 'agreed after it'],
  ] as const) {
    t.match(one.plan, { versionId: 'pro_v1', priceId: 'pro_v1y' }, when)
    settle(one, endMs + dayMs)
    t.match(one.plan, { planId: 'pro', versionId: 'pro_v1', priceId: 'pro_v1m' }, when)
    t.match(one.subscriptions, [{ items: [{ priceId: 'pro_v1m' }], intervalMonths: 1 }], when)
  }
})

t.test('MI-14, MI-30, EN-95 a downgrade of a plan that is left is void, on the way back as well', async t => {
  const of = payer()
  const moved = migrate(
    of,
    { toPlanId: 'other', versionId: 'other_v1', priceIds: { pro_v1y: 'other_v1y' }, isPaid: true },
    start + dayMs,
  )
  of.schedule = agreed(byMonth('low', 'low_v1'))
  t.equal(restore(of, moved, start + 2 * dayMs).outcome, 'completed')
  t.equal(of.schedule, null)
  settle(of, endMs + dayMs)
  t.match(of.plan, { planId: 'pro', versionId: 'pro_v1', priceId: 'pro_v1y' })
})

t.test('MI-32 a subscription that was to end meanwhile does not run again', async t => {
  const ended = { toPlanId: 'free', versionId: 'free_v1', priceIds: {}, ended: ['pro_v1y'] }
  const of = payer({ subscriptions: [{ ...paid('pro_v1y'), cancelAtPeriodEnd: true }] })
  const moved = migrate(of, ended, start + dayMs)
  t.match(of.subscriptions, [{ status: 'canceled' }])
  t.match(restore(of, moved, endMs + dayMs), { outcome: 'skipped', reason: 'changed_since' })
  t.match(of.plan, { planId: 'free' })
  t.match(of.subscriptions, [{ status: 'canceled' }])
  t.equal(restore(of, moved, endMs - dayMs).outcome, 'completed', 'before its end it does')
  t.match(of.subscriptions, [{ status: 'active', cancelAtPeriodEnd: true, periodEndMs: endMs }])
})

t.test('MI-32 a subscription does not run again beside another of the service itself', async t => {
  const ended = { toPlanId: 'free', versionId: 'free_v1', priceIds: {}, ended: ['pro_v1y'] }
  const second = {
    id: 'bilsub_2',
    externalId: 'comp_1_2',
    anchorMs: start + dayMs,
    periodStartMs: start + dayMs,
  }
  const running = (of: Company) =>
    of.subscriptions.filter(one => one.status !== 'canceled').map(({ id }) => id)
  const of = payer()
  const moved = migrate(of, ended, start + dayMs)
  apply(of, { t: 'subscription', subscription: { ...paid('low_v1y'), ...second } }, start + 2 * dayMs)
  t.match(restore(of, moved, start + 3 * dayMs), { outcome: 'skipped', reason: 'changed_since' })
  t.same(running(of), ['bilsub_2'])
  t.match(of.plan, { planId: 'free' })
  const over = { ...paid('low_v1y'), ...second, status: 'canceled' as const }
  apply(of, { t: 'subscription', subscription: over }, start + 4 * dayMs)
  t.equal(restore(of, moved, start + 5 * dayMs).outcome, 'completed', 'once that is over it does')
  t.same(running(of), ['bilsub_1'])
  const reported = payer()
  const alike = migrate(reported, ended, start + dayMs)
  const provided = { ...paid('low_v1y'), ...second, anchorMs: null }
  apply(reported, { t: 'subscription', subscription: provided }, start + 2 * dayMs)
  t.equal(restore(reported, alike, start + 3 * dayMs).outcome, 'completed', "beside a provider's it does")
})

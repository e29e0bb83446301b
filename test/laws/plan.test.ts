// Laws of a company's plans over random lives. A change by time counts the same before and after it is
// recorded. Records have no gaps, and replay rebuilds the plans. The seed is printed; TOLLGATE_SEED repeats a
// run.

import fc from 'fast-check'
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply, decideCompany } from '../../src/core/company/company.js'
import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CompanyMessage, Effect } from '../../src/core/model/message.js'
import type { HeldVersion } from '../../src/core/model/plan-messages.js'
import { plansInForce } from '../../src/core/plans/plan.js'
import { settlePlans } from '../../src/core/plans/settle.js'
import { dayMs } from '../../src/core/values/period.js'
import { catalogData, company, holding, plan, planVersion } from '../core/make.js'
import { seed, times } from '../random.js'

const runs = times(200)
const start = Date.UTC(2026, 2, 1)

const versioned = (id: string, more: object = {}) =>
  plan(id, [], {
    versions: [1, 2, 3].map(n => planVersion(`${id}_v${n}`, { status: n === 3 ? 'published' : 'archived' })),
    publishedVersionId: `${id}_v3`,
    ...more,
  })
const catalog = compileCatalog(
  catalogData({
    plans: [
      plan('free', []),
      plan('lapsed', []),
      versioned('pro'),
      versioned('extra', { planType: 'add_on' }),
      plan('more', [], { planType: 'add_on' }),
      plan('tried', [], { versions: [planVersion('tried_v1', { isTrialable: true, trialDays: 3 })] }),
    ],
    fallbackPlanId: 'free',
    trialExpiryPlanId: 'lapsed',
  }),
)
const cause = { action: 'manage_plan', actorType: 'api_key', apiKeyId: null } as const

const versionOf = (id: string) => fc.constantFrom(1, 2, 3).map(n => `${id}_v${n}`)
const message: fc.Arbitrary<CompanyMessage> = fc.oneof(
  fc.record({
    type: fc.constant('change_plans' as const),
    basePlanId: fc.constantFrom(null, 'free', 'pro', 'tried'),
    addOnIds: fc.option(fc.uniqueArray(fc.constantFrom('extra', 'more'))),
    versionIds: fc.record({ pro: versionOf('pro'), extra: versionOf('extra') }, { requiredKeys: [] }),
    priceIds: fc.constant({}),
    commitments: fc.constant([]),
    cause: fc.constant(cause),
  }),
  fc
    .record({
      planId: fc.constantFrom('pro', 'extra'),
      to: fc.constantFrom(1, 2, 3),
      n: fc.nat(3),
      now: fc.boolean(),
    })
    .map(({ planId, to, n, now }) => ({
      type: 'migrate_plan' as const,
      migrationId: `pvmg_${n}`,
      planId,
      versionId: `${planId}_v${to}`,
      fromVersionIds: null,
      when: now ? ('now' as const) : ('period_end' as const),
      priceIds: {},
      commitments: [],
      cause,
    })),
  fc.nat(3).map(n => ({ type: 'cancel_migration' as const, migrationId: `pvmg_${n}` })),
  fc.constant({ type: 'settle' as const }),
)
const step = fc.record({ message, waitDays: fc.integer({ min: 0, max: 6 }) })

/** A company that pays monthly, so that migrations have dates to wait for. */
const paying = (): Company =>
  company({
    plan: holding('pro', { versionId: 'pro_v1' }),
    subscriptions: [
      {
        id: 'bilsub_1',
        externalId: 'sub',
        status: 'active',
        periodStartMs: start,
        periodEndMs: start + 10 * dayMs,
        intervalMonths: 1,
        cancelAtPeriodEnd: false,
        cancelAtMs: null,
        trialEndMs: null,
        trialEndSetting: null,
        productIds: [],
      },
    ],
  })

const named = (of: Company, atMs: number): string => {
  const { plan: base, addOns } = plansInForce(of, catalog, atMs)
  return [base, ...addOns].map(held => held && `${held.planId} ${held.versionId}`).join(', ')
}

t.test(`plans over random lives, seed ${seed}`, async t => {
  let changes = 0
  let migrations = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      const of = paying()
      const log: { effects: Effect[]; atMs: number; after: string }[] = []
      let last: HeldVersion | null = { planId: 'pro', versionId: 'pro_v1' }
      let atMs = start
      for (const { message, waitDays } of steps) {
        atMs += waitDays * dayMs
        const effects: Effect[] = []
        const carry = (some: readonly Effect[]) => {
          for (const effect of some) apply(of, effect, atMs)
          effects.push(...some)
        }
        const before = named(of, atMs)
        for (let fx = settlePlans(of, catalog, atMs); fx.length > 0; fx = settlePlans(of, catalog, atMs))
          carry(fx)
        if (named(of, atMs) !== before) throw new Error(`settling changed ${before} into ${named(of, atMs)}`)
        const decision = decideCompany(of, catalog, message, atMs)
        if (!('refused' in decision)) carry(decision.effects)
        for (const effect of effects) {
          if (effect.t !== 'plan_changed') continue
          const { from, to, action } = effect.change
          if (JSON.stringify(from) !== JSON.stringify(last))
            throw new Error('a record does not begin where the last ended')
          last = to
          changes++
          if (action === 'plan_version_migration') migrations++
        }
        const ids = of.addOns.map(held => held.planId)
        if (new Set(ids).size < ids.length) throw new Error('an add-on is held twice')
        for (const one of of.schedule?.migrations ?? []) {
          const held = [of.plan, ...of.addOns].find(each => each?.planId === one.planId)
          if (!held || held.versionId === one.versionId) throw new Error('something void is still agreed')
        }
        log.push({ effects, atMs, after: JSON.stringify(encodeCompany(of)) })
      }
      const again = decodeCompany(JSON.parse(JSON.stringify(encodeCompany(paying()))))
      for (const { effects, atMs, after } of log) {
        for (const effect of JSON.parse(JSON.stringify(effects))) apply(again, effect, atMs)
        if (JSON.stringify(encodeCompany(again)) !== after) throw new Error('replay differs')
      }
    }),
    { seed, numRuns: runs },
  )
  t.ok(changes > runs, `${changes} changes in ${runs} lives`)
  t.ok(migrations > 0, `${migrations} by time`)
})

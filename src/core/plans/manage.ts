// Plans, bought quantities and the company's own subscription changed as one: at once, or at the end of a period.
import type { Catalog } from '../catalog.js'
import type {
  BoughtQuantity,
  Company,
  PlanChangeCause,
  PlanHolding,
  PlanSchedule,
} from '../model/company-state.js'
import type { Decision, Effect } from '../model/message.js'
import type { PlansManaged, SubscriptionReply } from '../model/plan-messages.js'
import { holdingOf } from './holding.js'
import { landed } from './landing.js'
import { assembled } from './plan-change.js'
import { planEffects } from './plan-effects.js'
import { recountOf, withSubscription } from './subscription.js'

/**
 * Decide a managed change: everything or nothing.
 *
 * returns  SubscriptionReply with the counters to recount. `plan_not_assignable` for a plan this company cannot be on.
 * source   PB-30, PB-31, PB-33, PB-34, EN-86, EN-95.
 */
export function decideManaged(
  company: Readonly<Company>,
  catalog: Catalog,
  message: PlansManaged,
  nowMs: number,
): Decision<SubscriptionReply> {
  const { effectiveAtMs, cause, quantities } = message
  const atMs = effectiveAtMs ?? nowMs
  const next = assembled(company, catalog, message, atMs)
  if ('refused' in next) return next
  const expiry = effectiveAtMs === null ? null : afterTrial(company, catalog, message, effectiveAtMs)
  const plan = expiry ?? (next.plan && billed(next.plan, company.plan, message))
  const addOns = next.addOns.map(addOn => {
    const held = company.addOns.find(one => one.planId === addOn.planId)
    return billed(addOn, held ?? null, message)
  })
  let { subscriptions } = company
  const changed = message.subscriptions.map(one =>
    message.unprorated && effectiveAtMs === null ? { ...one, unproratedAtMs: nowMs } : one,
  )
  for (const one of changed) subscriptions = withSubscription(subscriptions, one)
  const told = changed.map((subscription): Effect => ({ t: 'subscription', subscription }))
  const migrations = company.schedule?.migrations ?? []
  if (effectiveAtMs !== null) {
    const { subscriptionThen: subscription } = message
    const ends = message.basePlanId === null && plan ? ('fallback' as const) : null
    const why = expiry ? ('trial_expiry' as const) : ends
    const downgrade = { effectiveAtMs, plan, addOns, quantities, subscription, cause, why }
    const schedule: PlanSchedule = { downgrade, migrations }
    return {
      reply: { accepted: true, recount: recountOf(company, { plan: company.plan, subscriptions }, nowMs) },
      effects: [...told, { t: 'schedule', schedule }],
    }
  }
  const schedule: PlanSchedule = { downgrade: null, migrations } // EN-95: a change now cancels any scheduled one
  return {
    reply: { accepted: true, recount: recountOf(company, { plan, subscriptions }, nowMs) },
    effects: [
      ...told,
      ...quantityEffects(company, quantities, nowMs),
      ...planEffects(company, { plan, addOns, schedule }, cause, next.why, nowMs),
    ],
  }
}

/** EN-91: a trial that is cancelled is left for the trial-expiry plan where there is one; null: nothing of the kind. */
function afterTrial(
  company: Readonly<Company>,
  catalog: Catalog,
  { basePlanId }: PlansManaged,
  atMs: number,
): PlanHolding | null {
  const trial = company.plan?.trial
  if (basePlanId !== null || trial?.status !== 'active' || trial.endMs !== atMs) return null
  return holdingOf(catalog, catalog.data.trialExpiryPlanId, null, atMs, company)
}

/** How a holding is billed: by the subscription named, whose trial is the holding's. */
function billed(holding: PlanHolding, held: PlanHolding | null, message: PlansManaged): PlanHolding {
  const { planId } = holding
  const subscriptionId = message.billedBy[planId] ?? null
  if (subscriptionId === null) return { ...holding, subscriptionId: null }
  const stays = held?.planId === planId
  const trial = planId === message.basePlanId ? message.trial : null
  // EN-91: a trial that runs on stays; paid for, it is converted
  const converted = stays && holding.trial ? { ...holding.trial, status: 'converted' as const } : null
  return { ...holding, subscriptionId, trial: trial ?? converted }
}

function quantityEffects(
  company: Readonly<Company>,
  quantities: readonly BoughtQuantity[],
  nowMs: number,
): Effect[] {
  return quantities.flatMap(({ trait, quantity }): Effect[] => {
    const had = company.traits.text(trait)
    if (had === String(quantity) || (had === undefined && quantity === 0)) return []
    return [{ t: 'trait', name: trait, value: String(quantity), atMs: nowMs }]
  })
}

/**
 * A scheduled change that is due, as state and record; none while it waits.
 *
 * source  EN-95, PB-34.
 */
export function settleDowngrade(company: Readonly<Company>, catalog: Catalog, nowMs: number): Effect[] {
  const agreed = company.schedule?.downgrade
  if (!company.schedule || !agreed || agreed.effectiveAtMs > nowMs) return []
  const downgrade = landed(company, catalog, agreed)
  const { effectiveAtMs: atMs, plan, addOns, subscription, quantities, cause, why } = downgrade
  const schedule: PlanSchedule = { ...company.schedule, downgrade: null }
  // the record of a plan left during its trial says how the trial ended
  const left = company.plan?.trial?.status === 'active' && company.plan.planId !== plan?.planId
  const trial = left ? { ...company.plan!.trial!, status: 'expired' as const } : (plan?.trial ?? null)
  return [
    ...(subscription ? [{ t: 'subscription', subscription } as const] : []),
    ...quantityEffects(company, quantities ?? [], atMs),
    ...planEffects(company, { plan, addOns, schedule }, cause ?? byTime, why ?? null, atMs, trial),
  ]
}

const byTime: PlanChangeCause = { action: 'manage_plan', actorType: 'system', apiKeyId: null }

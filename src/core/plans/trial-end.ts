// The end of a trial, as state and record: the plan is paid for from then on, or left.
import type { Catalog } from '../catalog.js'
import type { Company, PlanChangeCause, PlanHolding, TrialState } from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import { holdingOf } from './holding.js'
import { lostWithSubscription, trialIsOver } from './plan.js'
import { planEffects } from './plan-effects.js'

const byTime = { actorType: 'system', apiKeyId: null } as const

/** The end of the base plan's trial; no effects while the trial runs, nor after its end is recorded. source: EN-91, EN-93, PB-34 */
export function settleTrial(company: Readonly<Company>, catalog: Catalog, nowMs: number): Effect[] {
  const { plan } = company
  const trial = plan?.trial ?? null
  if (plan === null || trial === null || trial.status !== 'active' || trial.endMs > nowMs) return []
  return trialIsOver(plan, company, catalog, nowMs)
    ? leaveTrial(company, plan, trial, catalog)
    : convertTrial(company, plan, trial)
}

/** EN-91: the plan is subscribed to from here on. */
function convertTrial(company: Readonly<Company>, plan: PlanHolding, trial: TrialState): Effect[] {
  const { addOns, schedule } = company
  const converted: PlanHolding = { ...plan, trial: { ...trial, status: 'converted' } }
  const cause: PlanChangeCause = { ...byTime, action: 'subscription_change' }
  return planEffects(company, { plan: converted, addOns, schedule }, cause, null, trial.endMs)
}

/** EN-91: on to the trial-expiry plan, else the fallback plan. Add-ons of the same subscription end in the same change. */
function leaveTrial(
  company: Readonly<Company>,
  plan: PlanHolding,
  trial: TrialState,
  catalog: Catalog,
): Effect[] {
  const { schedule } = company
  const addOns = company.addOns.filter(addOn => !lostWithSubscription(addOn, company, catalog, trial.endMs))
  const { trialExpiryPlanId, fallbackPlanId } = catalog.data
  const tried = { trialedPlanIds: [...company.trialedPlanIds, plan.planId] }
  const expiry = holdingOf(catalog, trialExpiryPlanId, null, trial.endMs, tried)
  const next = expiry ?? holdingOf(catalog, fallbackPlanId, null, trial.endMs, tried)
  const cause: PlanChangeCause = { ...byTime, action: 'fallback_plan' }
  const why = expiry ? 'trial_expiry' : next ? 'fallback' : null
  const ended = { status: 'expired', endMs: trial.endMs } as const
  return planEffects(company, { plan: next, addOns, schedule }, cause, why, trial.endMs, ended)
}

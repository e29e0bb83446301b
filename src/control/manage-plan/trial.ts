// The trial of a company's own subscription, as a change begins it, keeps it or ends it (EN-90, EN-94).
import type { ManagePlanRequest } from '../../../schemas/billing.js'
import type { TrialState } from '../../core/model/company-state.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { dayMs } from '../../core/values/period.js'
import { requireTime, wholeSeconds } from '../../kit/time.js'
import type { SubscriptionRow } from '../billing/record-rows.js'
import { buysMore, conflict, invalid, type Selection } from './selection.js'

/**
 * The trial of a subscription after the change: the one that runs, where it goes on; of a new one the requested trial, else
 * the plan's own on the first subscription.
 *
 * source  EN-90, EN-94, decision 29: by default the paid plan follows the trial.
 */
export function trialOf(
  company: CompanyDescription,
  selection: Selection,
  body: ManagePlanRequest,
  had: SubscriptionRow | null,
  lines: readonly unknown[],
  nowMs: number,
): TrialState | null {
  const { base } = selection
  const { trial_end_setting: setting } = body
  const fits = fitsTrial(selection)
  const first = base !== null && !company.state.trialedPlanIds.includes(base.plan.id) && base.held === null
  if (had?.status === 'trialing' && had.trial_end !== null) {
    const addsNothing =
      base?.held != null &&
      selection.addOns.every(({ held }) => held !== null) &&
      !buysMore(company, selection)
    if (lines.length === 0 || addsNothing || (fits && first))
      return {
        endMs: Number(had.trial_end) * 1000,
        endSetting: setting ?? had.trial_end_setting ?? 'subscribe',
        status: 'active',
      }
  }
  const asked = body.trial_end == null ? null : requireTime(body.trial_end, 'trial_end')
  if (asked !== null) {
    if (asked <= nowMs) throw invalid('trial_end: must be in the future')
    if (!fits)
      throw conflict('trial_end: needs a trialable plan without add-ons and usage-based entitlements')
    if (!first) throw conflict('trial_end: the company has had its trial of this plan')
    return { endMs: wholeSeconds(asked), endSetting: setting ?? 'subscribe', status: 'active' }
  }
  const days = base?.version.trial_days ?? 0
  if (had !== null || !fits || !first || days === 0 || lines.length === 0) {
    if (setting != null) throw conflict('trial_end_setting: no trial begins or runs')
    return null
  }
  return { endMs: wholeSeconds(nowMs + days * dayMs), endSetting: setting ?? 'subscribe', status: 'active' }
}

/** Whether what is selected can be had for a trial. source: EN-94 */
function fitsTrial({ base, addOns, quantities }: Selection): boolean {
  const isUsageBased = base?.entitlements.some(one => one.price_behavior !== null) === true
  return (
    base?.version.is_trialable === true && addOns.length === 0 && !isUsageBased && quantities.length === 0
  )
}

/** A trial that the change ends has ended now, and is paid for. */
export function trialMembers(
  had: SubscriptionRow | null,
  trial: TrialState | null,
  nowMs: number,
): Pick<SubscriptionRow, 'trial_end' | 'trial_end_setting'> {
  if (trial) return { trial_end: trial.endMs / 1000, trial_end_setting: trial.endSetting }
  if (had?.status === 'trialing')
    return { trial_end: Math.floor(nowMs / 1000), trial_end_setting: 'subscribe' }
  return { trial_end: had?.trial_end ?? null, trial_end_setting: had?.trial_end_setting ?? null }
}

// Shows the trial of a plan without billing as a subscription that costs nothing.
import type { BillingSubscriptionView } from '../../../schemas/billing.js'
import type { BillingSubscriptionTrialEndSetting, TrialStatus } from '../../../schemas/enums.js'
import type { PlanHolding } from '../../core/model/company-state.js'
import { isoTime } from '../../kit/time.js'

/** A trial; instants are epoch ms. */
interface UnbilledTrial {
  readonly companyId: string
  readonly id: string
  readonly beganMs: number
  readonly endMs: number
  readonly endSetting: BillingSubscriptionTrialEndSetting
  readonly status: TrialStatus
}

const statuses = { active: 'trialing', converted: 'active', expired: 'expired' } as const

/** The running trial of a plan that has no subscription; null if there is none. */
export function runningTrial(
  companyId: string,
  plan: PlanHolding | null,
  nowMs: number,
): BillingSubscriptionView | null {
  const trial = plan?.trial
  if (!plan || !trial || plan.subscriptionId || trial.status !== 'active' || trial.endMs <= nowMs) return null
  const { endMs, endSetting, status } = trial
  return unbilledTrial({ companyId, id: plan.planId, beganMs: plan.addedAtMs, endMs, endSetting, status })
}

/**
 * A plan's own trial as a subscription without cost; the plan's id identifies it.
 *
 * source  interface document (Company.billing_subscription, trial_end); its members: decision.
 */
export function unbilledTrial(trial: UnbilledTrial): BillingSubscriptionView {
  const seconds = (ms: number) => Math.floor(ms / 1000)
  return {
    id: trial.id,
    subscription_external_id: trial.id,
    customer_external_id: trial.companyId,
    company_id: trial.companyId,
    status: statuses[trial.status],
    currency: 'usd',
    interval: 'month',
    total_price: 0,
    period_start: seconds(trial.beganMs),
    period_end: seconds(trial.endMs),
    trial_end: seconds(trial.endMs),
    trial_end_setting: trial.endSetting,
    cancel_at: null,
    cancel_at_period_end: trial.endSetting === 'cancel',
    expired_at: trial.status === 'expired' ? isoTime(trial.endMs) : null,
    application_id: null,
    default_payment_method_id: null,
    discounts: [],
    products: [],
    provider_type: 'native',
    created_at: isoTime(trial.beganMs),
  }
}

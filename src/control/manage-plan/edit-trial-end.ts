// The end of a running trial, moved or made now (EN-91, EN-94).
import type { TrialEndUpdate } from '../../../schemas/billing.js'
import { ServiceError } from '../../errors.js'
import type { Handler } from '../../kit/call.js'
import { isoTime, requireTime } from '../../kit/time.js'
import { currentSubscriptions } from '../billing/own-subscriptions.js'
import { findSubscription, type SubscriptionRow, subscriptionNow } from '../billing/record-rows.js'
import { inTurn, putSubscription } from '../billing/subscription-write.js'
import { fullSubscription } from '../billing/subscriptions.js'
import { isRunning } from '../billing/view.js'
import { companyTurn } from './handlers.js'
import { changeSubscription } from './plan-writes.js'

/**
 * A subscription with another end of its trial; null: now. The period of one that the service bills is its trial, and
 * the first paid one begins where that ends (decision 34). One that was cancelled ends with its trial (decision 29).
 */
function withTrialEnd(had: SubscriptionRow, endMs: number | null, nowMs: number): SubscriptionRow {
  const trialEnd = Math.floor((endMs ?? nowMs) / 1000)
  const scheduled = had.own?.scheduled && { ...had.own.scheduled, effective_at: trialEnd }
  const own = had.own && {
    period_end: Math.max(trialEnd, Number(had.period_start) + 1),
    own: { ...had.own, scheduled: scheduled ?? null },
  }
  const row: SubscriptionRow = { ...had, ...own, trial_end: trialEnd, status: 'trialing' }
  if (endMs !== null || had.trial_end_setting === 'cancel' || had.cancel_at_period_end) return row
  return { ...subscriptionNow(row, nowMs), status: 'active' }
}

/**
 * PUT /subscription/{subscription_id}/edit-trial-end. Without an instant the trial ends now, as its setting says.
 *
 * errors  404; 400 for a subscription that is not in a trial, and for a past instant.
 * source  EN-91, EN-94; the absent instant: decision. A kill between its steps leaves a note (decision 37).
 */
export const editTrialEnd: Handler<TrialEndUpdate> = async call => {
  const { services, environment, params, body, nowMs } = call
  const named = await findSubscription(services.sql, environment.id, { id: params.subscription_id! })
  if (!named) throw new ServiceError('not_found', 'Subscription not found')
  const endMs = body.trial_end == null ? null : requireTime(body.trial_end, 'trial_end')
  if (endMs !== null && endMs <= nowMs)
    throw new ServiceError('value_invalid', `trial_end: must be after ${isoTime(nowMs)}`)
  const change = () =>
    inTurn(call, named.external_id, async () => {
      const stored = await findSubscription(services.sql, environment.id, { externalId: named.external_id })
      const had = (await currentSubscriptions(call, [stored!]))[0]!
      if (had.status !== 'trialing' || !isRunning(had, nowMs))
        throw new ServiceError('state_conflict', 'The subscription is in no trial')
      const wanted = withTrialEnd({ ...had, updated_at: new Date(nowMs) }, endMs, nowMs)
      const isTaken = had.company_id !== null && (await changeSubscription(call, wanted))
      if (!isTaken) await putSubscription(call, had, wanted)
      return wanted
    })
  // what a kill left of an earlier change of the company is stored first
  const row = await (named.company_id === null ? change() : companyTurn(call, named.company_id, change))
  return { data: await fullSubscription(call, row) }
}

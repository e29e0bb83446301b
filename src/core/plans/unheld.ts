// Subscriptions that the service bills end with the last plan or add-on held through them (PB-51, EN-82).
import type { Company, PlanSchedule, SubscriptionState } from '../model/company-state.js'
import type { Decision, Effect } from '../model/message.js'
import type { PlansHeld } from '../model/plan-messages.js'
import { isActive } from './plan.js'
import { withSubscription } from './subscription.js'

/**
 * A decision with the end of every own subscription that it leaves without a plan or add-on, whichever way they were
 * left. Where some are held on, the price of those that are left is charged no more.
 *
 * source  PB-51, EN-82, N3
 */
export function decidedWithPayment(company: Readonly<Company>, decision: Decision, nowMs: number): Decision {
  if ('refused' in decision || !company.exists) return decision
  const effects = withEndedPayment(company, decision.effects, nowMs)
  return effects === decision.effects ? decision : { ...decision, effects }
}

function withEndedPayment(
  company: Readonly<Company>,
  effects: readonly Effect[],
  nowMs: number,
): readonly Effect[] {
  let { plan, addOns }: PlansHeld = company
  let { schedule } = company
  let subscriptions: readonly SubscriptionState[] = company.subscriptions
  for (const effect of effects)
    if (effect.t === 'plan') plan = effect.plan
    else if (effect.t === 'add_ons') addOns = effect.addOns
    else if (effect.t === 'schedule') schedule = effect.schedule
    else if (effect.t === 'subscription') subscriptions = withSubscription(subscriptions, effect.subscription)
  if (plan === company.plan && addOns === company.addOns) return effects
  const had = [company.plan, ...company.addOns]
  const holds = [plan, ...addOns]
  const ended: Effect[] = []
  for (const one of subscriptions) {
    if (one.anchorMs == null || !isActive(one, nowMs)) continue
    const kept = holds.filter(held => held?.subscriptionId === one.id)
    const left = had.filter(
      held => held?.subscriptionId === one.id && !kept.some(other => other?.planId === held.planId),
    )
    if (left.length === 0) continue
    if (kept.length === 0) {
      ended.push({ t: 'subscription', subscription: { ...one, status: 'canceled' } })
      if (schedule?.downgrade?.subscription?.id === one.id)
        ended.push({ t: 'schedule', schedule: withoutDowngrade(schedule) })
    } else
      ended.push({
        t: 'subscription',
        subscription: selling(
          one,
          left.map(held => held?.priceId),
        ),
      })
  }
  return ended.length === 0 ? effects : [...effects, ...ended]
}

/** A subscription without these prices. */
function selling(one: SubscriptionState, without: readonly (string | null | undefined)[]): SubscriptionState {
  const items = one.items?.filter(({ priceId }) => !without.includes(priceId))
  if (items === undefined || items.length === one.items?.length) return one
  return { ...one, items, productIds: items.map(({ productId }) => productId) }
}

function withoutDowngrade({ migrations }: PlanSchedule): PlanSchedule | null {
  return migrations.length === 0 ? null : { downgrade: null, migrations }
}

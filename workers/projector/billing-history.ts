// Changes of what a company holds, as rows of billing_history (RA-6).
import type { Effect, Fact } from '../../src/core/model/message.js'

/** A row of billing_history; null for an effect that changes nothing of it. */
export function historyOf(effect: Effect): Readonly<Record<string, unknown>> | null {
  switch (effect.t) {
    case 'plan':
      return { kind: 'plan', state: effect.plan }
    case 'add_ons':
      return { kind: 'add_ons', state: effect.addOns }
    case 'subscription':
      return { kind: 'subscription', subscription_id: effect.subscription.id, state: effect.subscription }
    case 'subscription_removed':
      return { kind: 'subscription', subscription_id: effect.subscriptionId, state: null }
    case 'deleted':
      return { kind: 'gone', state: null }
    case 'trait':
    case 'created':
    case 'key':
    case 'key_removed':
    case 'named':
    case 'trait_introduced':
    case 'client_trait':
    case 'traits_held':
    case 'touched':
    case 'once':
    case 'seen':
    case 'seen_set':
    case 'used':
    case 'joined':
    case 'left':
    case 'override':
    case 'override_removed':
    case 'override_over':
    case 'overdraft_limit':
    case 'plan_changed':
    case 'trial_ended':
    case 'schedule':
    case 'cycle_counted':
    case 'credit_grant':
    case 'credit_draw':
    case 'credit_refund':
    case 'credit_hold':
    case 'credit_commit':
    case 'credit_release':
    case 'credit_zero_out':
    case 'credit_transfer':
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      return null
  }
}

/** When an effect took effect: a change by time is written down later, with its own instant after it. */
export function tookEffect({ fx, at }: Fact, index: number): number {
  for (const effect of fx.slice(index)) {
    if (effect.t === 'plan_changed') return effect.change.atMs
    if (effect.t === 'trial_ended') return effect.trial.atMs
  }
  return at
}

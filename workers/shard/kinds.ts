// Kinds of messages, companies and records: the shard's tests before it handles them.

import type { ShardRequest } from '../../src/core/company/shard-request.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CompanyMessage, Decision, Effect, UserMessage } from '../../src/core/model/message.js'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { endsAt } from '../../src/core/plans/plan.js'
import { RecordFlag } from '../../src/journal/journal.js'

export type EventMessage = { readonly type: 'event'; readonly event: AcceptedEvent }
export type Write = (CompanyMessage | UserMessage | EventMessage) & { readonly type: string }

export type ActorRequest = Extract<ShardRequest, { readonly m: unknown }>

/** Whether time alone may change the plans of a company. */
export function isTimed({ plan, schedule, subscriptions }: Company): boolean {
  if (schedule !== null || plan?.trial?.status === 'active') return true
  return subscriptions.some(
    one => one.status !== 'canceled' && (one.anchorMs != null || endsAt(one) !== Number.POSITIVE_INFINITY),
  )
}

/**
 * Flags for the projectors: everything but use, last seen and the times of traits shows in Postgres; credit movements show in the ledger.
 */
export function flagsOf(fx: readonly Effect[]): number {
  let flags = 0
  let others = false
  for (const { t } of fx)
    if (t === 'used' || t === 'seen' || t === 'once' || t === 'traits_held') continue
    else if (t === 'credit_draw') flags |= RecordFlag.ledger
    else if (t.startsWith('credit_')) {
      flags |= RecordFlag.ledger
      others = true
    } else flags |= RecordFlag.identity
  return flags & RecordFlag.ledger && !others ? flags | RecordFlag.draws : flags
}

/**
 * Whether these effects bring no earlier change by time alone: uses, and draws on accounts without overdraft. `flags`
 * as `flagsOf` gives them; the company is in its state after them. source: CR-53, CR-76
 */
export function leavesTimeAlone(company: Company, fx: readonly Effect[], flags: number): boolean {
  if (flags === 0) return true
  if (flags !== (RecordFlag.ledger | RecordFlag.draws)) return false
  for (let i = 0; i < fx.length; i++) {
    const effect = fx[i]!
    if (effect.t === 'credit_draw' && company.credits.get(effect.c)?.overdraft !== null) return false
  }
  return true
}

/** A decision that changes something, with the claim of the idempotency key under which it was asked (decision 37). */
export function underClaim(decision: Decision, once: string | undefined): Decision {
  if (once === undefined || 'refused' in decision || decision.effects.length === 0) return decision
  return { ...decision, effects: [...decision.effects, { t: 'once', claim: once }] }
}

/** Whether every node keeps something of these effects in memory: entities, their keys and members, keys of holds. */
export function concernsAll(fx: readonly Effect[], flags: number): boolean {
  if (flags & RecordFlag.identity) return true
  return (
    (flags & RecordFlag.ledger) !== 0 &&
    fx.some(effect => effect.t === 'credit_hold' && effect.key !== undefined)
  )
}

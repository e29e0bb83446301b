// The history of a company, from when to when: plans, add-ons, subscriptions. Entries are facts of its journal, in order.
import type { PlanHolding, SubscriptionState } from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import { billingSubscription, endsAt, isActive } from '../plans/plan.js'

/** One change of what a company holds; `atMs` is when it took effect. */
export type HistoryEntry =
  | { readonly kind: 'plan'; readonly atMs: number; readonly plan: PlanHolding | null }
  | { readonly kind: 'add_ons'; readonly atMs: number; readonly addOns: readonly PlanHolding[] }
  /** Null: it is the company's no more. */
  | {
      readonly kind: 'subscription'
      readonly atMs: number
      readonly id: string
      readonly state: SubscriptionState | null
    }
  /** The company was deleted. */
  | { readonly kind: 'gone'; readonly atMs: number }

/** The holdings of a company over a stretch of time `[fromMs, untilMs)`. */
export interface HeldSpan {
  readonly fromMs: number
  /** Infinity on the last one. */
  readonly untilMs: number
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  readonly subscriptions: readonly SubscriptionState[]
  /** The billing subscription (PB-53); null: none. */
  readonly billing: SubscriptionState | null
}

/** A subscription as it was from an instant on; null: over. */
export interface SubscriptionSince {
  readonly fromMs: number
  readonly state: SubscriptionState | null
  /** The change that leads to it is not prorated (RA-29). */
  readonly isUnprorated: boolean
}

/** The change that an effect makes to the holdings of its company; null: none. */
export function historyOf(effect: Effect, atMs: number): HistoryEntry | null {
  switch (effect.t) {
    case 'plan':
      return { kind: 'plan', atMs, plan: effect.plan }
    case 'add_ons':
      return { kind: 'add_ons', atMs, addOns: effect.addOns }
    case 'subscription':
      return { kind: 'subscription', atMs, id: effect.subscription.id, state: effect.subscription }
    case 'subscription_removed':
      return { kind: 'subscription', atMs, id: effect.subscriptionId, state: null }
    case 'deleted':
      return { kind: 'gone', atMs }
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

/**
 * Entries with the instant at which each took effect, ascending.
 *
 * A subscription that ended by time, or whose trial did, may have been recorded later than that.
 * source  RA-6; PB-56, PB-58.
 */
export function effective(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const states = new Map<string, SubscriptionState>()
  let lastMs = Number.NEGATIVE_INFINITY
  return entries.map(entry => {
    const had = entry.kind === 'subscription' ? states.get(entry.id) : undefined
    const atMs = Math.max(
      lastMs,
      had && entry.kind === 'subscription' ? Math.min(entry.atMs, byTimeMs(had, entry)) : entry.atMs,
    )
    if (entry.kind === 'subscription' && entry.state) states.set(entry.id, entry.state)
    lastMs = atMs
    return { ...entry, atMs }
  })
}

/** When time alone changed a subscription into what an entry says; Infinity: something else did. */
function byTimeMs(had: SubscriptionState, { atMs, state }: HistoryEntry & { kind: 'subscription' }): number {
  if (!isActive(had, Math.min(endsAt(had) - 1, atMs))) return Number.POSITIVE_INFINITY
  const ended = endsAt(had) <= atMs && (state === null || !isActive(state, atMs))
  if (ended) return endsAt(had)
  const converted = had.status === 'trialing' && state?.status === 'active'
  return converted && had.trialEndMs !== null ? had.trialEndMs : Number.POSITIVE_INFINITY
}

/** The holdings of a company at each time, from its first entry on. `entries`: as `effective` gives them. */
export function heldSpans(entries: readonly HistoryEntry[]): HeldSpan[] {
  let plan: PlanHolding | null = null
  let addOns: readonly PlanHolding[] = []
  const subscriptions = new Map<string, SubscriptionState>()
  const spans: HeldSpan[] = []
  const add = (fromMs: number): void => {
    const all = [...subscriptions.values()]
    const span = { plan, addOns, subscriptions: all, billing: null, untilMs: Number.POSITIVE_INFINITY }
    // an end by time that nothing has recorded yet divides the span
    const ends = all.map(endsAt).filter(endMs => endMs > fromMs && endMs !== Number.POSITIVE_INFINITY)
    for (const atMs of [fromMs, ...ends.sort((a, b) => a - b)]) {
      while (spans.length > 0 && spans.at(-1)!.fromMs >= atMs) spans.pop()
      const last = spans.pop()
      if (last) spans.push({ ...last, untilMs: atMs })
      spans.push({ ...span, fromMs: atMs, billing: billingSubscription({ plan, subscriptions: all }, atMs) })
    }
  }
  for (const [i, entry] of entries.entries()) {
    if (entry.kind === 'plan') plan = entry.plan
    else if (entry.kind === 'add_ons') addOns = entry.addOns
    else if (entry.kind === 'gone') {
      plan = null
      addOns = []
      subscriptions.clear()
    } else if (entry.state) subscriptions.set(entry.id, entry.state)
    else subscriptions.delete(entry.id)
    if (entries[i + 1]?.atMs !== entry.atMs) add(entry.atMs)
  }
  return spans
}

/** When the company was deleted; Infinity: it was not. */
export function goneAt(entries: readonly HistoryEntry[]): number {
  return entries.find(({ kind }) => kind === 'gone')?.atMs ?? Number.POSITIVE_INFINITY
}

/**
 * The states of one subscription, ascending; its end by time is one of them. A period of the service's own begins on a whole
 * second, and with it the state that a change in that second leads to.
 */
export function statesOf(entries: readonly HistoryEntry[], id: string): SubscriptionSince[] {
  const states: SubscriptionSince[] = []
  for (const entry of entries) {
    if (entry.kind !== 'gone' && (entry.kind !== 'subscription' || entry.id !== id)) continue
    if (entry.kind === 'gone' && states.length === 0) continue
    endByTime(states, entry.atMs)
    const reported = entry.kind === 'subscription' ? entry.state : null
    const state = reported !== null && isActive(reported, entry.atMs) ? reported : null
    const fromMs = state !== null && beginsAt(state, entry.atMs) ? state.periodStartMs : entry.atMs
    while (states.length > 0 && states.at(-1)!.fromMs >= fromMs) states.pop()
    const isUnprorated = reported?.unproratedAtMs === entry.atMs
    states.push({ fromMs, state, isUnprorated })
  }
  endByTime(states, Number.POSITIVE_INFINITY)
  return states
}

const beginsAt = ({ anchorMs, periodStartMs }: SubscriptionState, atMs: number): boolean =>
  anchorMs != null && periodStartMs <= atMs && atMs - periodStartMs < 1000

function endByTime(states: SubscriptionSince[], beforeMs: number): void {
  const last = states.at(-1)
  if (!last?.state) return
  const endMs = endsAt(last.state)
  if (endMs < beforeMs && endMs > last.fromMs)
    states.push({ fromMs: endMs, state: null, isUnprorated: false })
}

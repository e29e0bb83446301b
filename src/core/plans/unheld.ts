// Subscriptions that the service bills end with the last plan or add-on held through them (PB-51, EN-82).
import type { Catalog } from '../catalog.js'
import type { Company, PlanHolding, PlanSchedule, SubscriptionState } from '../model/company-state.js'
import type { PlanDef, PlanVersionDef } from '../model/definitions.js'
import type { Decision, Effect } from '../model/message.js'
import type { PlansHeld } from '../model/plan-messages.js'
import { sellingItems } from './landing.js'
import { isActive } from './plan.js'
import { withSubscription } from './subscription.js'

/**
 * A decision with the end of every own subscription that it leaves without a plan or add-on, whichever way they were
 * left. Where some are held on, the prices of those that are left, and of their seats, are charged no more.
 *
 * source  PB-51, EN-82, N3
 */
export function decidedWithPayment(
  company: Readonly<Company>,
  catalog: Catalog,
  decision: Decision,
  nowMs: number,
): Decision {
  if ('refused' in decision || !company.exists) return decision
  const effects = withEndedPayment(company, catalog, decision.effects, nowMs)
  return effects === decision.effects ? decision : { ...decision, effects }
}

/** Whether a subscription bills a plan that is held: the plan, or seats of it. */
export function isBilledBy(
  held: PlanHolding,
  plan: PlanDef | undefined,
  { id, items = [] }: SubscriptionState,
): boolean {
  if (held.subscriptionId != null) return held.subscriptionId === id
  const version = plan?.versions.find(one => one.id === held.versionId)
  const sold = version === undefined ? [] : unitPrices(version)
  return items.some(({ priceId }) => sold.includes(priceId))
}

function withEndedPayment(
  company: Readonly<Company>,
  catalog: Catalog,
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
  const had = present([company.plan, ...company.addOns])
  const holds = present([plan, ...addOns])
  const ended: Effect[] = []
  for (const one of subscriptions) {
    if (one.anchorMs == null || !isActive(one, nowMs)) continue
    const billed = (held: PlanHolding) => isBilledBy(held, catalog.plans.get(held.planId)?.def, one)
    const kept = holds.filter(billed)
    const left = had.filter(held => billed(held) && !kept.some(other => other.planId === held.planId))
    if (left.length === 0) continue
    const subscription =
      kept.length === 0 ? { ...one, status: 'canceled' as const } : selling(one, left, kept, catalog)
    ended.push({ t: 'subscription', subscription })
    if (subscription.status === 'canceled' && schedule?.downgrade?.subscription?.id === one.id)
      ended.push({ t: 'schedule', schedule: withoutDowngrade(schedule) })
  }
  return ended.length === 0 ? effects : [...effects, ...ended]
}

const present = (holds: readonly (PlanHolding | null)[]): PlanHolding[] => holds.filter(held => held !== null)

/** A subscription without what plans that are left sold, and plans that are kept do not. */
function selling(
  one: SubscriptionState,
  left: readonly PlanHolding[],
  kept: readonly PlanHolding[],
  catalog: Catalog,
): SubscriptionState {
  const stays = new Set(kept.flatMap(held => paidFor(held, catalog)))
  const ends = new Set(left.flatMap(held => paidFor(held, catalog)))
  const items = one.items?.filter(({ priceId }) => stays.has(priceId) || !ends.has(priceId))
  if (items === undefined || items.length === one.items?.length) return one
  return sellingItems(one, items)
}

/** The prices that may be charged for a holding: its own and those of its seats. */
function paidFor({ planId, versionId, priceId }: PlanHolding, catalog: Catalog): string[] {
  const version = catalog.plans.get(planId)?.def.versions.find(one => one.id === versionId)
  return [...(priceId === null ? [] : [priceId]), ...(version === undefined ? [] : unitPrices(version))]
}

function unitPrices({ entitlements }: PlanVersionDef): string[] {
  return entitlements.flatMap(({ prices = [] }) => prices.map(({ id }) => id))
}

function withoutDowngrade({ migrations }: PlanSchedule): PlanSchedule | null {
  return migrations.length === 0 ? null : { downgrade: null, migrations }
}

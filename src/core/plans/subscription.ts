// Effects of a billing subscription on its company: plans follow the products, and billing cycles the periods.
import type { PlanChangeBasePlanAction } from '../../../schemas/enums.js'
import type { Catalog, CompiledPlan } from '../catalog.js'
import type {
  Company,
  PlanChangeCause,
  PlanHolding,
  PlanSchedule,
  SubscriptionState,
  TrialState,
} from '../model/company-state.js'
import type { Counters } from '../model/counters.js'
import type { Decision, Effect } from '../model/message.js'
import type {
  CycleRecount,
  EndedTrial,
  SubscriptionMessage,
  SubscriptionReply,
} from '../model/plan-messages.js'
import { cycleUsageSince, needsRecount } from '../usage/counter.js'
import { cycleStart, periodAt } from '../values/period.js'
import { holdingOf } from './holding.js'
import { cycleOf, endsAt, isActive, isGated, isLinked, renewsAt } from './plan.js'
import { planEffects } from './plan-effects.js'

/**
 * Decide a sync message about a company's subscriptions.
 *
 * returns  SubscriptionReply; null to `cycle_counted`.
 * source   PB-50, PB-51, PB-54, EN-82, EN-86, US-3.
 */
export function decideSubscriptions(
  company: Readonly<Company>,
  catalog: Catalog,
  message: SubscriptionMessage,
  nowMs: number,
): Decision {
  switch (message.type) {
    case 'put_subscription':
      return decidePut(company, catalog, message, nowMs)
    case 'drop_subscription':
      return decideDrop(company, catalog, message, nowMs)
    case 'cycle_counted':
      return decideCycleCounted(company, message, nowMs)
  }
}

/** PB-54: an earlier period of the same subscription arrives late, unless its status differs. */
export function isLate(
  had: Pick<SubscriptionState, 'periodStartMs' | 'status'>,
  now: Pick<SubscriptionState, 'periodStartMs' | 'status'>,
): boolean {
  return now.periodStartMs < had.periodStartMs && now.status === had.status
}

// An active subscription whose product is linked to a plan puts the company on it; one that is no longer active, or
// no longer sells the plan, takes it away. Usage and overrides stay with every change of plan.
function decidePut(
  company: Readonly<Company>,
  catalog: Catalog,
  { subscription, cause }: SubscriptionMessage & { type: 'put_subscription' },
  nowMs: number,
): Decision<SubscriptionReply> {
  const had = company.subscriptions.find(one => one.externalId === subscription.externalId) ?? null
  if (had && isLate(had, subscription)) return { reply: { accepted: false, recount: null }, effects: [] }
  const subscriptions = withSubscription(company.subscriptions, subscription)
  const next = followed({ company, catalog, had, now: subscription, subscriptions, nowMs })
  return {
    reply: { accepted: true, recount: recountOf(company, next, nowMs) },
    effects: [
      { t: 'subscription', subscription },
      ...changes(company, next, cause, nowMs, redated(company.schedule, had, subscription)),
      ...trialEnded(had, subscription, nowMs),
    ],
  }
}

/**
 * Changes agreed for later, after a change of a subscription: what waits for the end of its trial follows the end.
 *
 * source  EN-94, EN-95, decision 29
 */
function redated(
  schedule: PlanSchedule | null,
  had: SubscriptionState | null,
  now: SubscriptionState,
): PlanSchedule | null {
  const downgrade = schedule?.downgrade
  const then = downgrade?.subscription
  if (!downgrade || then?.id !== now.id || had?.status !== 'trialing' || now.anchorMs == null) return schedule
  const { trialEndMs, periodEndMs } = now
  if (trialEndMs === null || trialEndMs === had.trialEndMs) return schedule
  const effectiveAtMs = Math.min(trialEndMs, periodEndMs)
  return {
    ...schedule!,
    downgrade: { ...downgrade, effectiveAtMs, subscription: { ...then, trialEndMs, periodEndMs } },
  }
}

/**
 * The trial of a subscription that has left it. Where a plan depends on the subscription, the plan's own record
 * reports the same trial, so that webhooks hear of it once.
 */
function trialEnded(had: SubscriptionState | null, now: SubscriptionState, atMs: number): Effect[] {
  if (had?.status !== 'trialing' || had.trialEndMs === null || now.status === 'trialing') return []
  const trial: EndedTrial = {
    subscriptionId: had.id,
    planId: null,
    beganMs: had.periodStartMs,
    endMs: had.trialEndMs,
    endSetting: had.trialEndSetting ?? 'subscribe',
    status: isActive(now, atMs) ? 'converted' : 'expired',
    atMs,
  }
  return [{ t: 'trial_ended', trial }]
}

function decideDrop(
  company: Readonly<Company>,
  catalog: Catalog,
  { subscriptionId, cause }: SubscriptionMessage & { type: 'drop_subscription' },
  nowMs: number,
): Decision<SubscriptionReply> {
  const had = company.subscriptions.find(one => one.id === subscriptionId)
  if (!had) return { reply: { accepted: false, recount: null }, effects: [] }
  const subscriptions = company.subscriptions.filter(one => one !== had)
  const now = { ...had, status: 'canceled' as const }
  const next = followed({ company, catalog, had, now, subscriptions, nowMs })
  return {
    reply: { accepted: true, recount: recountOf(company, next, nowMs) },
    effects: [{ t: 'subscription_removed', subscriptionId }, ...changes(company, next, cause, nowMs)],
  }
}

// Uses counted meanwhile stay counted: the value is everything except what came before the cycle.
function decideCycleCounted(
  company: Readonly<Company>,
  { startMs, counted }: SubscriptionMessage & { type: 'cycle_counted' },
  nowMs: number,
): Decision {
  const cycle = cycleOf(company, nowMs)
  if (cycle === null || cycleStart(cycle, nowMs) !== startMs) return { reply: null, effects: [] } // rolled on
  const values = counted.flatMap(({ subtype, before, firstMs }) => {
    const counter = company.counters.get(subtype)
    return counter ? [{ subtype, ...cycleUsageSince(counter, before, firstMs, startMs, nowMs, cycle) }] : []
  })
  return { reply: null, effects: values.length > 0 ? [{ t: 'cycle_counted', startMs, values }] : [] }
}

/**
 * Changes of subscriptions by time, not yet recorded: one that is over by its own terms counts as canceled, one that
 * was overdue for too long as unpaid, and its plans go; one of the company's own is in its next period, its trial
 * over.
 *
 * returns  the effects of the first; call again until there are none.
 * source   PB-56, PB-58; renewal by time: decision, as no provider sends upserts for subscriptions that the service
 *          bills itself.
 */
export function settleSubscriptions(company: Readonly<Company>, catalog: Catalog, nowMs: number): Effect[] {
  let had: SubscriptionState | null = null
  for (const one of company.subscriptions)
    if (hasEnded(one, nowMs) && (had === null || endsAt(one) < endsAt(had))) had = one
  if (had === null) return renewal(company, nowMs)
  const endMs = endsAt(had)
  const now: SubscriptionState = { ...had, status: isGated(had, nowMs) ? 'unpaid' : 'canceled' }
  const subscriptions = withSubscription(company.subscriptions, now)
  const next = followed({ company, catalog, had, now, subscriptions, nowMs: endMs })
  return [
    { t: 'subscription', subscription: now },
    ...changes(company, next, byTime, endMs),
    ...trialEnded(had, now, endMs),
  ]
}

function renewal({ subscriptions }: Readonly<Company>, nowMs: number): Effect[] {
  for (const one of subscriptions) {
    if (one.anchorMs == null || !isActive(one, nowMs)) continue
    const trialOver = one.status === 'trialing' && one.trialEndMs !== null && one.trialEndMs <= nowMs
    if (renewsAt(one) > nowMs && !trialOver) continue
    const status = trialOver ? ('active' as const) : one.status
    const subscription = { ...one, status, ...renewed(one, nowMs) }
    return [{ t: 'subscription', subscription }, ...trialEnded(one, subscription, one.trialEndMs ?? nowMs)]
  }
  return []
}

/**
 * The period that a subscription which renews by itself is in, and its anchor.
 *
 * source  FE-51; decision 34: the periods that are paid for begin with the end of the trial.
 */
export function renewed(
  one: Pick<
    SubscriptionState,
    'anchorMs' | 'intervalMonths' | 'periodStartMs' | 'periodEndMs' | 'status' | 'trialEndMs'
  >,
  nowMs: number,
): { readonly periodStartMs: number; readonly periodEndMs: number; readonly anchorMs: number } {
  const { anchorMs, intervalMonths, periodStartMs, periodEndMs, status, trialEndMs } = one
  const convertedMs = status === 'trialing' && trialEndMs !== null && trialEndMs <= nowMs ? trialEndMs : null
  if (convertedMs === null && periodEndMs > nowMs) return { periodStartMs, periodEndMs, anchorMs: anchorMs! }
  const from = convertedMs ?? anchorMs!
  const { startMs, nextMs } = periodAt(from, intervalMonths, nowMs, convertedMs ?? periodEndMs)
  return { periodStartMs: startMs, periodEndMs: nextMs, anchorMs: from }
}

const byTime: PlanChangeCause = { action: 'subscription_change', actorType: 'system', apiKeyId: null }

function hasEnded(one: SubscriptionState, nowMs: number): boolean {
  const active = one.status === 'active' || one.status === 'trialing' || one.status === 'past_due'
  return active && endsAt(one) <= nowMs
}

/** Subscriptions with one in the place of the one of its external id. */
export function withSubscription(
  subscriptions: readonly SubscriptionState[],
  subscription: SubscriptionState,
): SubscriptionState[] {
  return [...subscriptions.filter(one => one.externalId !== subscription.externalId), subscription]
}

/** The counters whose billing-cycle value is an estimate once a company has these plans and subscriptions. */
export function recountOf(
  { counters }: { readonly counters: Counters },
  next: Pick<Company, 'plan' | 'subscriptions'>,
  nowMs: number,
): CycleRecount | null {
  const cycle = cycleOf(next, nowMs)
  if (cycle === null) return null
  const subtypes = [...counters].flatMap(([subtype, counter]) =>
    needsRecount(counter, nowMs, cycle) ? [subtype] : [],
  )
  return subtypes.length === 0 ? null : { startMs: cycleStart(cycle, nowMs), subtypes }
}

interface Following {
  readonly company: Readonly<Company>
  readonly catalog: Catalog
  /** The subscription as it was; null for a new one. */
  readonly had: SubscriptionState | null
  readonly now: SubscriptionState
  /** Every subscription there is from now on. */
  readonly subscriptions: SubscriptionState[]
  readonly nowMs: number
}

interface Followed {
  readonly plan: PlanHolding | null
  readonly addOns: PlanHolding[]
  readonly subscriptions: SubscriptionState[]
  /** Why this base plan, when no subscription sells it. */
  readonly why: PlanChangeBasePlanAction | null
  readonly trial: TrialState | null
}

function changes(
  company: Readonly<Company>,
  next: Followed,
  cause: PlanChangeCause,
  atMs: number,
  agreed = company.schedule,
): Effect[] {
  const left = company.plan?.planId !== next.plan?.planId
  // a change of base plan cancels changes agreed for the former one (EN-95)
  const schedule = agreed && { ...agreed, ...(left && { downgrade: null }) }
  const { plan, addOns, why, trial } = next
  return planEffects(company, { plan, addOns, schedule }, cause, why, atMs, trial)
}

function followed(following: Following): Followed {
  const { company, subscriptions } = following
  const base = basePlan(following)
  // the record of a plan that is left says how its trial ended
  const ended = base.why && company.plan?.trial ? { ...company.plan.trial, status: 'expired' as const } : null
  const trial = ended ?? base.plan?.trial ?? null
  return { ...base, trial, addOns: addOns(following), subscriptions }
}

function basePlan(following: Following): Pick<Followed, 'plan' | 'why'> {
  const { company, catalog, had, now, subscriptions, nowMs } = following
  const held = company.plan
  const brings = soldPlan(company, catalog, now, nowMs)
  if (brings !== null) {
    if (held?.planId === brings) return { plan: kept(held, now, catalog), why: null }
    const brought = had && soldPlan(company, catalog, had, nowMs)
    // a repeated report of a plan that another subscription has replaced meanwhile: the replacement stays
    const replaced =
      brought === brings && held !== null && soldBy(held, subscriptions, catalog, nowMs) !== null
    return { plan: replaced ? held : (taken(following, brings, now) ?? held), why: null }
  }
  if (held === null || !restsOn(held, following)) return { plan: held, why: null }
  const other = soldBy(held, subscriptions, catalog, nowMs)
  if (other) return { plan: kept(held, other, catalog), why: null }
  for (const one of [...subscriptions].sort((a, b) => b.periodStartMs - a.periodStartMs)) {
    const planId = soldPlan(company, catalog, one, nowMs)
    const plan = planId === null ? null : taken(following, planId, one)
    if (plan) return { plan, why: null } // PB-53
  }
  const { fallbackPlanId, trialExpiryPlanId } = catalog.data
  // EN-91: the end of a trial that was to cancel itself, or was cancelled; it may have been moved
  const cancels = had?.trialEndSetting === 'cancel' || had?.cancelAtPeriodEnd === true
  const overMs = now.trialEndMs ?? had?.trialEndMs ?? nowMs
  const expired = had?.status === 'trialing' && cancels && overMs <= nowMs
  const expiry = expired ? holdingOf(catalog, trialExpiryPlanId, null, nowMs, company) : null
  if (expiry) return { plan: expiry, why: 'trial_expiry' }
  const fallback = holdingOf(catalog, fallbackPlanId, null, nowMs, company)
  return { plan: fallback, why: fallback && 'fallback' }
}

function addOns(following: Following): PlanHolding[] {
  const { company, catalog, now, subscriptions, nowMs } = following
  const sold = isActive(now, nowMs) ? plansOf(company, catalog, now, 'add_on') : []
  const stay = company.addOns.flatMap(addOn => {
    if (sold.includes(addOn.planId)) return [kept(addOn, now, catalog)]
    if (!restsOn(addOn, following)) return [addOn]
    const other = soldBy(addOn, subscriptions, catalog, nowMs)
    return other ? [kept(addOn, other, catalog)] : []
  })
  const come = sold
    .filter(planId => !stay.some(addOn => addOn.planId === planId))
    .flatMap(planId => taken(following, planId, now) ?? [])
  return [...stay, ...come]
}

/** The base plan that a subscription sells now; among several the company's current one, or the subscription's own. */
function soldPlan(
  company: Readonly<Company>,
  catalog: Catalog,
  subscription: SubscriptionState,
  nowMs: number,
): string | null {
  if (!isActive(subscription, nowMs)) return null
  const plans = plansOf(company, catalog, subscription, 'plan')
  if (company.plan && plans.includes(company.plan.planId)) return company.plan.planId
  return plans.find(id => catalog.plans.get(id)?.def.companyId === company.id) ?? plans[0] ?? null
}

/** Plans whose product a subscription sells, and that this company may hold (PB-13). */
function plansOf(
  company: Readonly<Company>,
  catalog: Catalog,
  { productIds }: SubscriptionState,
  planType: 'plan' | 'add_on',
): string[] {
  const sells = ({ def, productIds: products, published }: CompiledPlan): boolean =>
    def.planType === planType &&
    published !== null &&
    (def.companyId === null || def.companyId === company.id) &&
    productIds.some(id => products.has(id))
  return [...catalog.plans.values()].filter(sells).map(plan => plan.def.id)
}

/** An active subscription that sells the plan of a holding. */
function soldBy(
  holding: PlanHolding,
  subscriptions: readonly SubscriptionState[],
  catalog: Catalog,
  nowMs: number,
): SubscriptionState | null {
  return subscriptions.find(one => isActive(one, nowMs) && isLinked(holding, one, catalog)) ?? null
}

/** Whether a holding came with the subscription that changes, as it was or as it is. */
function restsOn(holding: PlanHolding, { catalog, had, now }: Following): boolean {
  if (holding.subscriptionId === now.id) return true
  return isLinked(holding, now, catalog) || (had !== null && isLinked(holding, had, catalog))
}

/** A holding that goes on: its version is pinned (EN-85), its price and trial are the subscription's. */
function kept(holding: PlanHolding, subscription: SubscriptionState, catalog: Catalog): PlanHolding {
  // EN-91: paid for, the trial is over for good
  const converted = holding.trial && { ...holding.trial, status: 'converted' as const }
  return {
    ...holding,
    priceId: priceOf(catalog, holding.planId, subscription) ?? holding.priceId,
    trial: trialOf(subscription) ?? converted,
    subscriptionId: subscription.id,
  }
}

/** A plan taken up: its latest published version (EN-84), null when it has none. */
function taken(
  { company, catalog, nowMs }: Following,
  planId: string,
  subscription: SubscriptionState,
): PlanHolding | null {
  const holding = holdingOf(catalog, planId, null, nowMs, company)
  return (
    holding && {
      ...holding,
      priceId: priceOf(catalog, planId, subscription),
      trial: trialOf(subscription),
      subscriptionId: subscription.id,
    }
  )
}

/** The price at which a subscription sells a plan. */
function priceOf(catalog: Catalog, planId: string, { items }: SubscriptionState): string | null {
  const products = catalog.plans.get(planId)?.productIds
  return items?.find(({ productId }) => products?.has(productId))?.priceId ?? null
}

/** The trial of a plan held through a subscription is the subscription's. */
function trialOf({ status, trialEndMs, trialEndSetting }: SubscriptionState): TrialState | null {
  if (status !== 'trialing' || trialEndMs === null) return null
  return { endMs: trialEndMs, endSetting: trialEndSetting ?? 'subscribe', status: 'active' }
}

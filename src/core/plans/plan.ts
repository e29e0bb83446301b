// Plans of a company at an instant: trials, ends of subscriptions, fallback, changes agreed for later.

import type { TrialStatus } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import type {
  Company,
  MigrationTerms,
  PlanHolding,
  PlannedCompany,
  PlanSchedule,
  PlansInForce,
  ScheduledMigration,
  SubscriptionState,
  TrialState,
} from '../model/company-state.js'
import { anchoredAfter, anchorOf, type Cycle, runningCycle } from '../values/period.js'
import { landed } from './landing.js'

/**
 * Whether the service bills a company for a plan, now or after a downgrade that waits, in a currency or at an interval
 * for which the version has no price. Such a company cannot move.
 *
 * source  EN-97, PB-43, N6: the price charged belongs to the version held.
 */
export function lacksPrice(
  { plan, addOns, subscriptions, schedule }: PlannedCompany,
  { planId, toPlanId, unsold = [], commitments = [] }: MigrationTerms & { readonly planId: string },
): boolean {
  // a move takes the place of a downgrade that waits (EN-95)
  const downgrade = toPlanId === undefined ? schedule?.downgrade : null
  const isUnsold = (holds: readonly (PlanHolding | null)[], paid: SubscriptionState | null | undefined) => {
    const held = holds.find(one => one?.planId === planId)
    if (held == null || paid?.anchorMs == null || held.subscriptionId !== paid.id) return false
    if (held.priceId !== null && unsold.includes(held.priceId)) return true
    if (paid.items?.some(({ priceId }) => unsold.includes(priceId))) return true
    return commitments.some(({ sold }) => sold?.every(({ months }) => months !== paid.intervalMonths))
  }
  return (
    subscriptions.some(one => isUnsold([plan, ...addOns], one)) ||
    (downgrade != null && isUnsold([downgrade.plan, ...downgrade.addOns], downgrade.subscription))
  )
}

/**
 * Whether a company on a version that costs nothing would move to one that does, though nobody bills it for the plan.
 *
 * source  EN-97, decision.
 */
function needsPayment(
  { plan, addOns }: PlannedCompany,
  { planId, unpaidFrom = [] }: MigrationTerms & { readonly planId: string },
): boolean {
  const held = [plan, ...addOns].find(one => one?.planId === planId)
  return held != null && held.subscriptionId == null && unpaidFrom.includes(held.versionId)
}

/**
 * Why a company cannot go over, as it is billed now; null: it can.
 *
 * A move to a version that costs something needs a plan that the service bills already: its price takes the place of the
 * one paid, so no payment is begun or passed by (MI-13). A provider's bills are changed there. A migration from a
 * version that costs nothing to one that does needs a subscription that bills the plan (EN-97).
 */
export function billingBlock(
  company: PlannedCompany,
  terms: MigrationTerms & { readonly planId: string },
): 'no_price' | 'not_paid' | 'provider_billed' | null {
  const { plan, subscriptions } = company
  if (terms.toPlanId !== undefined && plan?.planId === terms.planId) {
    const by = subscriptions.find(({ id }) => id === plan.subscriptionId)
    const runs = by?.status === 'active' || by?.status === 'trialing' || by?.status === 'past_due'
    if (runs && by.anchorMs == null) return 'provider_billed'
    const isPaid = runs && plan.priceId !== null
    if (terms.isPaid && !isPaid) return 'not_paid'
    if (isPaid && !(plan.priceId! in terms.priceIds) && !terms.ended?.includes(plan.priceId!))
      return 'no_price'
  }
  if (lacksPrice(company, terms)) return 'no_price'
  return needsPayment(company, terms) ? 'not_paid' : null
}

/**
 * When a migration agreed for later is to happen, epoch ms; null while no date can be named.
 *
 * The date follows from the subscription as it is now: another interval moves it, a cancellation or an overdue
 * payment takes it away, and it comes back with either's end. So does an interval without a price.
 * source  PB-21, EN-96, N6.
 */
export function migrationDue(
  company: PlannedCompany,
  migration: ScheduledMigration,
  nowMs: number,
): number | null {
  const { strategy, effectiveAtMs, agreedAtMs = 0 } = migration
  if (billingBlock(company, migration) !== null) return null
  if (strategy === 'scheduled') return effectiveAtMs
  const subscription = billingSubscription(company, nowMs)
  if (subscription === null) return agreedAtMs
  const { status, cancelAtPeriodEnd, cancelAtMs, periodEndMs } = subscription
  if (status === 'past_due' || cancelAtPeriodEnd || cancelAtMs !== null) return null
  if (status === 'trialing' && subscription.trialEndSetting === 'cancel') return null
  return periodEndMs > agreedAtMs ? periodEndMs : anchoredAfter(billingAnchor(subscription), agreedAtMs)
}

/**
 * The plans that count now, all time rules applied, whether or not a sweep has written them down.
 *
 * A scheduled downgrade or migration that is due has happened. A trial that is over with `cancel` is left for the
 * trial-expiry plan, else the fallback plan. A plan held through a subscription that has ended by time is gone; a
 * company without base plan is on the fallback plan. A change of the stored subscription status moves the plan when
 * it is stored, not here (PB-51).
 * source  EN-82, EN-91, EN-93, EN-95, EN-96, PB-56…58.
 */
export function plansInForce(
  company: PlannedCompany & Partial<Pick<Company, 'trialedPlanIds'>>,
  catalog: Catalog,
  nowMs: number,
): PlansInForce {
  const { schedule, subscriptions } = company
  let { plan, addOns } = company as PlansInForce
  if (schedule) ({ plan, addOns } = scheduled(company, schedule, catalog, nowMs))
  let ended = false
  for (let i = 0; i < subscriptions.length; i++) if (endsAt(subscriptions[i]!) <= nowMs) ended = true
  if (ended && addOns.some(addOn => lostWithSubscription(addOn, company, catalog, nowMs)))
    addOns = addOns.filter(addOn => !lostWithSubscription(addOn, company, catalog, nowMs))
  if (plan === null) return { plan: catalog.fallback, addOns }
  if (trialIsOver(plan, company, catalog, nowMs))
    return { plan: catalog.trialExpiry ?? catalog.fallback, addOns }
  if (ended && lostWithSubscription(plan, company, catalog, nowMs)) {
    const trialing = subscriptions.some(one => one.status === 'trialing' && isLinked(plan!, one, catalog))
    return { plan: trialing ? (catalog.trialExpiry ?? catalog.fallback) : catalog.fallback, addOns }
  }
  return { plan, addOns }
}

/**
 * The next instant at which the result of `plansInForce` changes by time alone, epoch ms; Infinity when none is foreseen.
 *
 * It may be too early, never too late. For caches of the result.
 */
export function plansChangeAt(company: PlannedCompany, nowMs: number): number {
  const { plan, schedule, subscriptions } = company
  const instants = subscriptions.flatMap(one => [endsAt(one), renewsAt(one)])
  if (plan?.trial) instants.push(plan.trial.endMs)
  if (schedule?.downgrade) instants.push(schedule.downgrade.effectiveAtMs)
  for (const migration of schedule?.migrations ?? []) {
    const dueMs = migrationDue(company, migration, nowMs)
    if (dueMs !== null) instants.push(dueMs)
  }
  let next = Number.POSITIVE_INFINITY
  for (const atMs of instants) if (atMs > nowMs && atMs < next) next = atMs
  return next
}

/** EN-93: over from the instant of its end, unless the plan has been subscribed to meanwhile (PB-51). */
export function trialIsOver(
  holding: PlanHolding,
  { subscriptions }: PlannedCompany,
  catalog: Catalog,
  nowMs: number,
): boolean {
  if (holding.trial === null || trialStatus(holding.trial, nowMs) !== 'expired') return false
  return !subscriptions.some(
    one => one.status !== 'trialing' && isActive(one, nowMs) && isLinked(holding, one, catalog),
  )
}

/** The status of a trial as time has made it (EN-91, EN-93). */
export function trialStatus(trial: TrialState, nowMs: number): TrialStatus {
  if (trial.status !== 'active' || trial.endMs > nowMs) return trial.status
  return trial.endSetting === 'cancel' ? 'expired' : 'converted'
}

function scheduled(
  company: PlannedCompany & Partial<Pick<Company, 'trialedPlanIds'>>,
  { downgrade, migrations }: PlanSchedule,
  catalog: Catalog,
  nowMs: number,
): PlansInForce {
  const { subscriptions, trialedPlanIds = [] } = company
  let { plan, addOns } = company as PlansInForce
  if (downgrade !== null && downgrade.effectiveAtMs <= nowMs)
    ({ plan, addOns } = landed({ plan, addOns, subscriptions, trialedPlanIds }, catalog, downgrade))
  const present = (holding: PlanHolding): PlanHolding => {
    for (const one of migrations) {
      const dueMs = one.planId === holding.planId ? migrationDue(company, one, nowMs) : null
      if (dueMs === null || dueMs > nowMs || one.versionId === holding.versionId) continue
      return migrated(holding, one, subscriptions, dueMs)
    }
    return holding
  }
  if (migrations.length === 0) return { plan, addOns }
  return { plan: plan && present(plan), addOns: addOns.map(present) }
}

/**
 * A holding after its migration: another version, at that version's price. A provider's own price stays in force for
 * what it bills. Another plan is held from that instant on; a trial goes on with it where it is billed (MI-14).
 *
 * atMs    when it happens, epoch ms.
 * source  EN-97; PB-51 for the provider's price.
 */
export function migrated(
  holding: PlanHolding,
  { versionId, toPlanId, priceIds, ended }: MigrationTerms,
  subscriptions: readonly SubscriptionState[],
  atMs: number,
): PlanHolding {
  const { priceId, subscriptionId } = holding
  const moves = toPlanId !== undefined && toPlanId !== holding.planId
  const next = moves
    ? { ...holding, planId: toPlanId, versionId, addedAtMs: atMs }
    : { ...holding, versionId }
  const unbilled = moves ? { ...next, trial: null } : next
  const by = subscriptionId == null ? null : subscriptions.find(one => one.id === subscriptionId)
  if (priceId === null || (by && by.anchorMs == null)) return unbilled
  if (ended?.includes(priceId)) return { ...unbilled, priceId: null, subscriptionId: null }
  return { ...next, priceId: priceIds[priceId] ?? priceId }
}

/**
 * A subscription of the company's own after a migration: each price in the place of the one before, quantities kept
 * and at least what the version commits to. It is over when nothing is left that it sells.
 *
 * returns  the same object when nothing changes.
 * source   EN-35, EN-97, PB-24.
 */
export function migratedSubscription(
  subscription: SubscriptionState,
  { priceIds, productIds, ended, commitments }: MigrationTerms,
): SubscriptionState {
  const { items, anchorMs, intervalMonths } = subscription
  if (anchorMs == null || items === undefined) return subscription
  const concerned = items.some(({ priceId }) => priceId in priceIds || ended?.includes(priceId))
  const owed = (commitments ?? []).flatMap(({ atLeast, sold }) => {
    const price = sold?.find(({ months }) => months === intervalMonths)
    return price ? [{ productId: price.productId, priceId: price.priceId, quantity: atLeast }] : []
  })
  if (!concerned && owed.length === 0) return subscription
  const kept = items
    .filter(({ priceId }) => !ended?.includes(priceId))
    .map(item => {
      const priceId = priceIds[item.priceId] ?? item.priceId
      const productId = productIds?.[priceId] ?? item.productId
      const least = owed.find(one => one.priceId === priceId)?.quantity ?? 0
      return { ...item, productId, priceId, ...(least > (item.quantity ?? 1) && { quantity: least }) }
    })
  const next = [...kept, ...owed.filter(one => !kept.some(({ priceId }) => priceId === one.priceId))]
  if (JSON.stringify(next) === JSON.stringify(items)) return subscription
  const status = next.length === 0 ? 'canceled' : subscription.status
  return { ...subscription, status, items: next, productIds: next.map(({ productId }) => productId) }
}

/**
 * When a subscription ends by time alone, epoch ms; Infinity when it does not.
 *
 * source  PB-56, PB-57 (its period's end alone ends nothing), PB-58 (while it is still trialing); decision 29;
 *         interface document, CompanyBillingProfile: payment_gating.
 */
export function endsAt(subscription: SubscriptionState): number {
  const { cancelAtPeriodEnd, cancelAtMs, periodEndMs, status, trialEndMs, trialEndSetting } = subscription
  let end = Number.POSITIVE_INFINITY
  // a trial that is cancelled ends as one, before anything is paid for (decision 29)
  const trialing = status === 'trialing' && trialEndMs !== null
  if (cancelAtPeriodEnd) end = trialing ? Math.min(trialEndMs, periodEndMs) : periodEndMs
  if (cancelAtMs !== null && cancelAtMs < end) end = cancelAtMs
  if (trialing && trialEndSetting === 'cancel' && trialEndMs < end) end = trialEndMs
  return Math.min(end, gatedFrom(subscription))
}

/** From when on a subscription gives no access because its payment is overdue, epoch ms; Infinity when never. */
function gatedFrom({ status, gatedAtMs }: SubscriptionState): number {
  return status === 'past_due' && gatedAtMs !== undefined ? gatedAtMs : Number.POSITIVE_INFINITY
}

/** Whether a subscription gives no access because its payment is overdue, and for no other reason. */
export function isGated(subscription: SubscriptionState, nowMs: number): boolean {
  const from = gatedFrom(subscription)
  return from <= nowMs && endsAt(subscription) === from
}

/** When a subscription that renews by itself begins its next period, epoch ms; Infinity when it does not. */
export function renewsAt(subscription: SubscriptionState): number {
  const { anchorMs, cancelAtPeriodEnd, periodEndMs } = subscription
  return anchorMs == null || cancelAtPeriodEnd ? Number.POSITIVE_INFINITY : periodEndMs
}

/**
 * The instant at which time alone ends a subscription, or the trial of one without provider reports, epoch ms;
 * Infinity for never.
 */
export function changesAt(subscription: SubscriptionState): number {
  const { anchorMs, status, trialEndMs } = subscription
  if (status !== 'active' && status !== 'trialing' && status !== 'past_due') return Number.POSITIVE_INFINITY
  const trialEnd = anchorMs != null && status === 'trialing' ? trialEndMs : null
  return Math.min(endsAt(subscription), trialEnd ?? Number.POSITIVE_INFINITY)
}

/** Whether a subscription counts as active now (EN-82, PB-51, PB-56…58). */
export function isActive(subscription: SubscriptionState, nowMs: number): boolean {
  switch (subscription.status) {
    case 'active':
    case 'trialing':
    case 'past_due':
      return endsAt(subscription) > nowMs
    case 'canceled':
    case 'expired':
    case 'incomplete':
    case 'incomplete_expired':
    case 'paused':
    case 'unpaid':
      return false
  }
}

/** Whether a subscription sells the plan of a holding, in any of its versions. */
export function isLinked(holding: PlanHolding, subscription: SubscriptionState, catalog: Catalog): boolean {
  const products = catalog.plans.get(holding.planId)?.productIds
  return products !== undefined && subscription.productIds.some(id => products.has(id))
}

/**
 * Whether a holding rested on subscriptions that have all ended, at least one of them by time and after the plan
 * was taken. A holding assigned by hand rests on none.
 */
export function lostWithSubscription(
  holding: PlanHolding,
  company: PlannedCompany,
  catalog: Catalog,
  nowMs: number,
): boolean {
  const linked = company.subscriptions.filter(one => isLinked(holding, one, catalog))
  if (linked.some(one => isActive(one, nowMs))) return false
  return linked.some(one => isActive(one, holding.addedAtMs) && endsAt(one) <= nowMs)
}

/**
 * The billing subscription: the active one; among several the one that holds the base plan, else the newest period
 * start.
 *
 * It is found without the catalog, so that replay needs none: a holding may name its subscription.
 * source  PB-53.
 */
export function billingSubscription(
  company: Pick<Company, 'plan'> & { readonly subscriptions: readonly SubscriptionState[] },
  nowMs: number,
): SubscriptionState | null {
  const { subscriptions } = company
  let best: SubscriptionState | null = null
  const ofPlan = company.plan?.subscriptionId
  for (let i = 0; i < subscriptions.length; i++) {
    const one = subscriptions[i]!
    if (!isActive(one, nowMs)) continue
    if (one.id === ofPlan) return one
    if (best === null || one.periodStartMs > best.periodStartMs) best = one
  }
  return best
}

/** End of the trial that runs now, of the base plan or its subscription; null without one (CR-32). */
export function trialEnd(
  { plan }: PlansInForce,
  subscription: SubscriptionState | null,
  nowMs: number,
): number | null {
  const trial = plan?.trial ?? null
  if (trial !== null && trial.status === 'active' && trial.endMs > nowMs) return trial.endMs
  if (subscription === null || subscription.status !== 'trialing') return null
  const { trialEndMs } = subscription
  return trialEndMs !== null && trialEndMs > nowMs ? trialEndMs : null
}

/**
 * The running billing cycle of a company, or null: then billing-cycle windows are calendar months.
 *
 * The one both counting and reading use, so that they agree.
 * source  FE-51, FE-52, PB-53, PB-57.
 */
export function cycleOf(company: Pick<Company, 'plan' | 'subscriptions'>, nowMs: number): Cycle | null {
  if (company.subscriptions.length === 0) return null
  const subscription = billingSubscription(company, nowMs)
  if (subscription === null) return null
  const { periodStartMs, periodEndMs } = subscription
  return runningCycle(periodStartMs, periodEndMs, nowMs, billingAnchor(subscription))
}

/**
 * The instant whose day of month and time every month of a subscription begins on, epoch ms: from its first period,
 * from its provider, or as its bounds show it. A month that lacks the day does not move it.
 *
 * source  decision 34.
 */
export function billingAnchor({
  anchorMs,
  cycleAnchorMs,
  periodStartMs,
  periodEndMs,
}: Pick<SubscriptionState, 'anchorMs' | 'cycleAnchorMs' | 'periodStartMs' | 'periodEndMs'>): number {
  return anchorMs ?? cycleAnchorMs ?? anchorOf(periodStartMs, periodEndMs)
}

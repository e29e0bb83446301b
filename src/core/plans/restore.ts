// The way back from a migration or move: plan, price and payment as they were, where nothing else has changed since.
import type { Catalog } from '../catalog.js'
import type {
  BoughtQuantity,
  Company,
  Moved,
  PlanSchedule,
  SubscribedItem,
  SubscriptionState,
} from '../model/company-state.js'
import type { MigrationReply, NextPlans } from '../model/plan-messages.js'
import { periodAt } from '../values/period.js'
import { inVersion, sellingItems } from './landing.js'
import { endsAt, isActive } from './plan.js'

/** Plans, payment and quantities as they were before. */
interface Restored extends NextPlans {
  /** Subscriptions that change. */
  readonly subscriptions: readonly SubscriptionState[]
  readonly quantities: readonly BoughtQuantity[]
}

/**
 * A company's plans as they were before a migration or move.
 *
 * The holding is what it was, its day and price included. Prices come back one for one, with the quantities of now; what
 * was bought meanwhile stays. A subscription that the move ended runs again: in its period, or in the one of now if that
 * is over.
 *
 * returns  the reason why the company stays as it is: it holds another plan, version or price by now, its subscription
 *          has another interval, would have ended by itself meanwhile, or another takes its place, or the former version is gone.
 * source   MI-30…32.
 */
export function restoredPlans(
  company: Readonly<Company>,
  catalog: Catalog,
  moved: Moved,
  nowMs: number,
): Restored | Required<Pick<MigrationReply, 'outcome' | 'reason'>> {
  const { was, is, subscription: paid } = moved
  const { plan, addOns, schedule } = company
  const isBase = is === null || plan?.planId === is.planId
  const held = isBase ? plan : addOns.find(one => one.planId === is.planId)
  if (!held || held.planId !== is?.planId || held.versionId !== is.versionId || held.priceId !== is.priceId)
    return { outcome: 'skipped', reason: 'changed_since' }
  if (was !== null && !catalog.versions.has(was.versionId))
    return { outcome: 'failed', reason: 'version_gone' }
  const present = paid && company.subscriptions.find(one => one.id === paid.id)
  if (
    paid &&
    (!present ||
      present.intervalMonths !== paid.intervalMonths ||
      (present.anchorMs == null) !== (paid.anchorMs == null))
  )
    return { outcome: 'skipped', reason: 'changed_since' }
  if (paid && present && isAgain(present, paid)) {
    const isOver = endsAt({ ...present, status: paid.status }) <= nowMs
    // a company has one subscription of the service's own at most
    const other = company.subscriptions.find(
      one => one.id !== paid.id && one.anchorMs != null && isActive(one, nowMs),
    )
    if (isOver || other) return { outcome: 'skipped', reason: 'changed_since' }
  }
  const next = paid && present ? restoredSubscription(present, paid, moved, nowMs) : null
  return {
    plan: isBase ? was : plan,
    addOns: isBase ? addOns : addOns.flatMap(one => (one === held ? (was ?? []) : [one])),
    schedule: restoredSchedule(schedule, catalog, moved, isBase),
    subscriptions: next === null || next === present ? [] : [next],
    quantities: (moved.seats ?? []).filter(({ trait }) => (company.traits.text(trait) ?? '0') === '0'),
  }
}

/**
 * Changes agreed for later, after the way back. A downgrade that keeps the plan keeps its former version; one from a plan
 * that is left is void.
 *
 * source  MI-14, MI-30, EN-95.
 */
function restoredSchedule(
  schedule: PlanSchedule | null,
  catalog: Catalog,
  { was, is, prices }: Moved,
  isBase: boolean,
): PlanSchedule | null {
  if (!schedule?.downgrade) return schedule
  const pays = Object.values(prices).includes(null)
  if (was !== null && was.planId === is?.planId && !pays)
    return { ...schedule, downgrade: inVersion(schedule.downgrade, catalog, was) }
  return isBase ? { ...schedule, downgrade: null } : schedule
}

/** Whether a subscription that the move ended is to run again. */
function isAgain(present: SubscriptionState, paid: SubscriptionState): boolean {
  return paid.anchorMs != null && present.status === 'canceled' && paid.status !== 'canceled'
}

function restoredSubscription(
  present: SubscriptionState,
  paid: SubscriptionState,
  { prices, added }: Moved,
  nowMs: number,
): SubscriptionState {
  const had = paid.items ?? []
  if (Object.keys(prices).length === 0 && added.length === 0) return present
  const formerOf = new Map(Object.entries(prices).flatMap(([was, is]) => (is === null ? [] : [[is, was]])))
  const kept = (present.items ?? [])
    .filter(({ priceId }) => !added.includes(priceId))
    .map((item): SubscribedItem => {
      const former = had.find(one => one.priceId === formerOf.get(item.priceId))
      return former ? { ...item, priceId: former.priceId, productId: former.productId } : item
    })
  const back = had.filter(
    ({ priceId }) => prices[priceId] === null && !kept.some(one => one.priceId === priceId),
  )
  // in the order in which they were
  const place = ({ priceId }: SubscribedItem) => {
    const at = had.findIndex(one => one.priceId === priceId)
    return at === -1 ? had.length : at
  }
  const items = [...kept, ...back].sort((a, b) => place(a) - place(b))
  const again = sellingItems(present, items)
  if (!isAgain(present, paid)) return again
  return { ...again, status: paid.status, ...periodOf(paid, nowMs) }
}

/** The period that runs now of a subscription that stood still. */
function periodOf(
  { anchorMs, intervalMonths, periodStartMs, periodEndMs }: SubscriptionState,
  nowMs: number,
): Pick<SubscriptionState, 'periodStartMs' | 'periodEndMs'> {
  if (anchorMs == null || periodEndMs > nowMs) return { periodStartMs, periodEndMs }
  const { startMs, nextMs } = periodAt(anchorMs, intervalMonths, nowMs, periodStartMs)
  return { periodStartMs: startMs, periodEndMs: nextMs }
}

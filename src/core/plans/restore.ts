// The way back from a migration or move: plan, price and payment as they were, where nothing else has changed since.
import type { Catalog } from '../catalog.js'
import type {
  BoughtQuantity,
  Company,
  Moved,
  SubscribedItem,
  SubscriptionState,
} from '../model/company-state.js'
import type { MigrationReply, NextPlans } from '../model/plan-messages.js'
import { periodAt } from '../values/period.js'
import { sellingItems } from './landing.js'

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
 *          has another interval, or the former version is gone.
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
  const next = paid && present ? restoredSubscription(present, paid, moved, nowMs) : null
  return {
    plan: isBase ? was : plan,
    addOns: isBase ? addOns : addOns.flatMap(one => (one === held ? (was ?? []) : [one])),
    schedule,
    subscriptions: next === null || next === present ? [] : [next],
    quantities: (moved.seats ?? []).filter(({ trait }) => (company.traits.text(trait) ?? '0') === '0'),
  }
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
  const ended = present.status === 'canceled' && paid.status !== 'canceled'
  if (!ended) return again
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

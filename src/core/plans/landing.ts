// Where a downgrade that waits lands: plans that it takes up come in the version that is published then, at that
// version's prices, and not in the one that was published when it was agreed (EN-84, EN-95, N4).
import type { Catalog } from '../catalog.js'
import type {
  BoughtQuantity,
  Company,
  PlanHolding,
  PlanSchedule,
  SubscribedItem,
  SubscriptionState,
} from '../model/company-state.js'
import type { PlanVersionDef, SoldPriceDef } from '../model/definitions.js'
import { holdingOf } from './holding.js'

type Downgrade = NonNullable<PlanSchedule['downgrade']>

/** Prices of the version that was agreed → those of the one it lands on; null: it sells this no more. */
type Moved = ReadonlyMap<string, SoldPriceDef | null>

/**
 * A downgrade as it is to happen with the plans defined now.
 *
 * A plan that the company holds keeps its version (EN-85). One that it takes up comes in its published version, at the
 * price of the same currency and interval; where that version has none, it comes as agreed. A plan that is no more, and
 * the fallback plan, are the fallback plan of now. Quantities that nothing sells are 0, and those of a custom plan at
 * least what it commits to (EN-35).
 *
 * returns  the same object when nothing differs.
 * source   EN-84, EN-95; a version without the price: decision.
 */
export function landed(
  company: Pick<Company, 'addOns' | 'plan' | 'subscriptions' | 'trialedPlanIds'>,
  catalog: Catalog,
  downgrade: Downgrade,
): Downgrade {
  const moved = new Map<string, SoldPriceDef | null>()
  const place = (held: PlanHolding): PlanHolding => {
    if ([company.plan, ...company.addOns].some(one => one?.planId === held.planId)) return held
    return placed(held, catalog, downgrade.subscription ?? null, moved)
  }
  const { plan: agreed } = downgrade
  const isGone = agreed !== null && !catalog.plans.has(agreed.planId)
  const plan =
    downgrade.why === 'fallback' || isGone
      ? fallbackThen(company, catalog, downgrade)
      : agreed && place(agreed)
  const addOns = downgrade.addOns.filter(({ planId }) => catalog.plans.has(planId)).map(place)
  const next = { ...downgrade, plan, addOns }
  const then = downgrade.subscription && asOfNow(downgrade.subscription, company.subscriptions)
  const subscription = then && landedSubscription(then, moved)
  const committed = withCommitments(catalog, next, subscription ?? null)
  const landing: Downgrade = {
    ...next,
    ...(downgrade.quantities && { quantities: committed.quantities }),
    ...(subscription !== undefined && { subscription: committed.subscription }),
  }
  return JSON.stringify(landing) === JSON.stringify(downgrade) ? downgrade : landing
}

/** Changes agreed for later as they are to happen with the plans defined now: for views. */
export function scheduleShown(
  company: Pick<Company, 'addOns' | 'plan' | 'schedule' | 'subscriptions' | 'trialedPlanIds'>,
  catalog: Catalog,
): PlanSchedule | null {
  const { schedule } = company
  if (!schedule?.downgrade) return schedule
  return { ...schedule, downgrade: landed(company, catalog, schedule.downgrade) }
}

function fallbackThen(
  company: Pick<Company, 'plan' | 'trialedPlanIds'>,
  catalog: Catalog,
  { plan, effectiveAtMs }: Downgrade,
): PlanHolding | null {
  const { fallbackPlanId } = catalog.data
  if (company.plan !== null && company.plan.planId === fallbackPlanId) return company.plan
  const then = holdingOf(catalog, fallbackPlanId, null, effectiveAtMs, company)
  return then && plan?.planId === then.planId && plan.versionId === then.versionId ? plan : then
}

/**
 * A downgrade in which a plan has another version than was agreed: a migration that it was agreed after, or went along
 * with, is taken back. A price goes over to the one of the same currency and interval; where the version has none, the
 * plan comes as agreed.
 *
 * source  MI-30
 */
export function inVersion(
  downgrade: Downgrade,
  catalog: Catalog,
  { planId, versionId }: Pick<PlanHolding, 'planId' | 'versionId'>,
): Downgrade {
  const { plan, addOns, subscription } = downgrade
  const moved = new Map<string, SoldPriceDef | null>()
  const go = (held: PlanHolding): PlanHolding =>
    held.planId === planId ? placed(held, catalog, subscription ?? null, moved, versionId) : held
  const next = { ...downgrade, plan: plan && go(plan), addOns: addOns.map(go) }
  return subscription ? { ...next, subscription: landedSubscription(subscription, moved) } : next
}

/** A holding in a version of its plan, the published one by default; `moved` gets what becomes of the prices paid for it. */
function placed(
  held: PlanHolding,
  catalog: Catalog,
  subscription: SubscriptionState | null,
  moved: Map<string, SoldPriceDef | null>,
  versionId?: string,
): PlanHolding {
  const def = catalog.plans.get(held.planId)?.def
  const to = def?.versions.find(one => one.id === (versionId ?? def.publishedVersionId))
  if (!to || to.id === held.versionId) return held
  const from = def?.versions.find(one => one.id === held.versionId)
  const paid = new Set(subscription?.items?.map(({ priceId }) => priceId))
  if (held.priceId !== null) paid.add(held.priceId)
  const own = new Map<string, SoldPriceDef | null>()
  for (const priceId of paid) {
    const price = from && successor(from, to, priceId)
    if (price === 'unsold') return held
    if (price !== undefined) own.set(priceId, price)
  }
  for (const [priceId, price] of own) moved.set(priceId, price)
  const price = held.priceId === null ? null : own.get(held.priceId)
  if (price === null) return { ...held, versionId: to.id, priceId: null, subscriptionId: null }
  return { ...held, versionId: to.id, priceId: price?.id ?? held.priceId }
}

/** The price that takes the place of one; null: its object is no longer sold; undefined: no price of the version. */
function successor(
  from: PlanVersionDef,
  to: PlanVersionDef,
  priceId: string,
): SoldPriceDef | 'unsold' | null | undefined {
  const among = (prices: readonly SoldPriceDef[] = [], others: readonly SoldPriceDef[] | undefined) => {
    const had = prices.find(({ id }) => id === priceId)
    if (had === undefined) return undefined
    if (others === undefined) return null
    return others.find(one => one.currency === had.currency && one.months === had.months) ?? 'unsold'
  }
  const isFree = to.chargeType === 'free' || to.chargeType === 'none'
  const ofPlan = among(from.prices, isFree ? undefined : to.prices)
  if (ofPlan !== undefined) return ofPlan
  for (const { featureId, prices } of from.entitlements) {
    const next = to.entitlements.find(one => one.featureId === featureId && one.prices !== undefined)
    const price = among(prices, next?.prices)
    if (price !== undefined) return price
  }
  return undefined
}

/** Members that the change does not touch are as they are now: an invoice was paid, a payment is overdue. */
function asOfNow(then: SubscriptionState, subscriptions: readonly SubscriptionState[]): SubscriptionState {
  const now = subscriptions.find(({ id }) => id === then.id)
  if (now === undefined || then.status === 'canceled') return then
  const { cancelAtMs, gatedAtMs } = now
  const status = now.status === 'past_due' ? now.status : then.status
  return { ...then, status, cancelAtMs, ...(gatedAtMs !== undefined && { gatedAtMs }) }
}

function landedSubscription(subscription: SubscriptionState, moved: Moved): SubscriptionState {
  if (moved.size === 0 || subscription.items === undefined) return subscription
  const items = subscription.items.flatMap((item): SubscribedItem[] => {
    const price = moved.get(item.priceId)
    if (price === undefined) return [item]
    return price === null
      ? []
      : [{ ...item, priceId: price.id, productId: price.productId ?? item.productId }]
  })
  return sellingItems(subscription, items)
}

/** A subscription that sells these items; over when there are none. */
export function sellingItems(
  subscription: SubscriptionState,
  items: readonly SubscribedItem[],
): SubscriptionState {
  const status = items.length === 0 ? ('canceled' as const) : subscription.status
  return { ...subscription, status, items, productIds: items.map(({ productId }) => productId) }
}

/** Quantities, and what is paid for them, with those that the plans commit to, and without those that none sells. */
function withCommitments(
  catalog: Catalog,
  { plan, addOns, quantities = [] }: Downgrade,
  subscription: SubscriptionState | null,
): { readonly quantities: readonly BoughtQuantity[]; readonly subscription: SubscriptionState | null } {
  const sold = new Map<string, { readonly atLeast: number; readonly prices: readonly SoldPriceDef[] }>()
  const known: SoldPriceDef[] = []
  for (const held of plan === null ? addOns : [plan, ...addOns]) {
    const version = catalog.plans.get(held.planId)?.def.versions.find(one => one.id === held.versionId)
    known.push(...(version?.prices ?? []))
    for (const { featureId, priceBehavior, prices = [], committed = 0 } of version?.entitlements ?? []) {
      known.push(...prices)
      const trait = priceBehavior === 'pay_in_advance' ? limitTrait(catalog, featureId) : undefined
      if (trait === undefined) continue
      // of several plans that sell it the largest commitment counts, at the price of its plan
      const had = sold.get(trait)
      const isLargest = had === undefined || committed > had.atLeast
      const all = isLargest ? [...prices, ...(had?.prices ?? [])] : [...had.prices, ...prices]
      sold.set(trait, { atLeast: isLargest ? committed : had.atLeast, prices: all })
    }
  }
  const next = quantities.map(one => {
    const quantity = sold.has(one.trait) ? Math.max(one.quantity, sold.get(one.trait)!.atLeast) : 0
    return quantity === one.quantity ? one : { ...one, quantity }
  })
  let items = subscription?.items
  const currency = known.find(({ id }) => items?.some(({ priceId }) => priceId === id))?.currency
  for (const { atLeast, prices } of sold.values()) {
    const price = prices.find(
      one =>
        one.months === subscription?.intervalMonths && (currency === undefined || one.currency === currency),
    )
    if (atLeast === 0 || items === undefined || price?.productId == null) continue
    const own = items.filter(({ priceId }) => prices.some(({ id }) => id === priceId))
    const [item] = own
    const missing = own.reduce((rest, { quantity }) => rest - (quantity ?? 1), atLeast)
    if (item === undefined)
      items = [...items, { productId: price.productId, priceId: price.id, quantity: atLeast }]
    else if (missing > 0)
      items = items.map(one => (one === item ? { ...one, quantity: (one.quantity ?? 1) + missing } : one))
  }
  const changed = subscription !== null && items !== undefined && items !== subscription.items
  return { quantities: next, subscription: changed ? sellingItems(subscription, items!) : subscription }
}

/** The trait that carries the quantity of a feature bought in advance; undefined: none. */
export function limitTrait(catalog: Catalog, featureId: string): string | undefined {
  const traitId = catalog.featuresById.get(featureId)?.def.usageLimitTraitId
  return traitId == null ? undefined : catalog.traits.get(traitId)?.name
}

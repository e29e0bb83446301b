// Fees that are paid once: the one-time price of a plan or add-on, when a company comes to it.
import type { PlanHolding } from '../model/company-state.js'
import type { BillingFacts, ItemPrice } from './facts.js'
import { roundHalfUp } from './fraction.js'
import type { ChargeLine } from './line.js'
import { costOfUnits, tierParts } from './price.js'

/**
 * The lines of one-time fees up to an instant: one for each plan and add-on that is held at a one-time price, when that
 * begins; after a trial, when the trial ends. One that comes back as it was, as a revert brings it, is not charged again.
 *
 * source  RA-24.
 */
export function onceLines(facts: BillingFacts, upToMs: number): ChargeLine[] {
  const lines: ChargeLine[] = []
  const paid = new Set<string>()
  let plan: PlanHolding | null = null
  let addOns: readonly PlanHolding[] = []
  let had: ReadonlyMap<string, PlanHolding> = new Map()
  for (const entry of facts.history) {
    if (entry.atMs > upToMs) break
    if (entry.kind === 'plan') plan = entry.plan
    else if (entry.kind === 'add_ons') addOns = entry.addOns
    else if (entry.kind === 'gone') [plan, addOns] = [null, []]
    else continue
    const held: PlanHolding[] = plan === null ? [...addOns] : [plan, ...addOns]
    const charged = new Map<string, PlanHolding>()
    for (const holding of held) {
      const price = oncePrice(facts, holding.priceId, entry.atMs)
      if (price === null || holding.trial?.status === 'active') continue
      charged.set(holding.planId, holding)
      const purchase = `${holding.planId} ${holding.addedAtMs}`
      if (had.has(holding.planId) || paid.has(purchase)) continue
      paid.add(purchase)
      lines.push(feeLine(facts, holding, price, entry.atMs))
    }
    had = charged
  }
  return lines
}

/** The terms of a one-time price at an instant; null for other prices, and for one that is not known. */
export function oncePrice(
  { itemPrices }: BillingFacts,
  priceId: string | null,
  atMs: number,
): ItemPrice | null {
  const all = (priceId !== null && itemPrices.get(priceId)) || []
  const price = all.filter(one => one.fromMs <= atMs).at(-1) ?? all[0] ?? null
  return price !== null && price.months === null && !price.isMetered ? price : null
}

function feeLine(
  { versions }: BillingFacts,
  { versionId, subscriptionId }: PlanHolding,
  price: ItemPrice,
  atMs: number,
): ChargeLine {
  const version = versions.get(versionId)
  const exact = costOfUnits(price, 1n)
  return {
    kind: 'recurring',
    of: 'recurring',
    subscriptionId: subscriptionId ?? null,
    sold: version ? { planId: version.planId, versionId, version: version.version } : null,
    featureId: null,
    creditId: null,
    bundleId: null,
    quantity: { n: 1n, d: 1n },
    unit: 'item',
    price,
    currency: price.currency,
    tiers: tierParts(price, 0n, 1n),
    exact,
    amount: roundHalfUp(exact),
    fromMs: atMs,
    untilMs: atMs,
    dueMs: atMs,
    proration: null,
    events: null,
    window: null,
    couponId: null,
  }
}

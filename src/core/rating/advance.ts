// Charges in advance: fees of plans and add-ons, and units bought before use, with changes inside a period.
import type { SubscribedItem, SubscriptionState } from '../model/company-state.js'
import type { BillingFacts, ItemPrice } from './facts.js'
import { type Fraction, minus, roundHalfUp, times, zero } from './fraction.js'
import { type SubscriptionSince, statesOf } from './history.js'
import type { ChargeLine, SoldIn } from './line.js'
import { type Tile, tilesOf } from './periods.js'
import { costOfUnits, tierParts } from './price.js'

/**
 * The lines of one subscription that are charged in advance, up to an instant: everything it sells at the start of
 * each of its periods, and what changes inside one for the rest of it.
 *
 * source  RA-5, RA-13, RA-14, RA-15.
 */
export function advanceLines(facts: BillingFacts, subscriptionId: string, upToMs: number): ChargeLine[] {
  const states = statesOf(facts.history, subscriptionId)
  const lines: ChargeLine[] = []
  for (const tile of tilesOf(states, upToMs)) {
    if (!tile.isReported || tile.startMs > upToMs) continue
    const opening = openingOf(states, tile)
    if (opening === null) continue
    const scope = { facts, subscriptionId, tile }
    lines.push(...wholePeriod(scope, opening.state!, Math.max(tile.startMs, opening.reportedMs)))
    let before: SubscriptionState | null = opening.state
    for (const { fromMs, state } of states) {
      if (fromMs <= opening.fromMs || fromMs > tile.endMs || fromMs > upToMs) continue
      // a change at the very end of a period belongs to the next, unless it cut this one short
      if (fromMs === tile.endMs && tile.endMs === tile.dueEndMs) continue
      const after = fromMs === tile.endMs ? null : state
      lines.push(...changed(scope, before, after, fromMs))
      before = state
    }
  }
  return lines
}

/** The state that a period begins with, and from when on it may be charged. */
function openingOf(
  states: readonly SubscriptionSince[],
  { startMs, endMs }: Tile,
): (SubscriptionSince & { readonly reportedMs: number }) | null {
  const reported = states.find(
    ({ fromMs, state }) =>
      state !== null && fromMs < endMs && state.periodStartMs === startMs && fromMs > startMs,
  )
  const before = states.filter(({ fromMs }) => fromMs <= startMs).at(-1) ?? null
  if (before?.state) {
    // a provider reports a renewal after it took place: what it reports is what the period sells
    if (reported?.state && before.state.anchorMs == null && before.state.periodStartMs !== startMs)
      return { ...reported, reportedMs: startMs }
    return { ...before, reportedMs: startMs }
  }
  return reported ? { ...reported, reportedMs: startMs } : null
}

interface Scope {
  readonly facts: BillingFacts
  readonly subscriptionId: string
  readonly tile: Tile
}

function wholePeriod(scope: Scope, state: SubscriptionState, atMs: number): ChargeLine[] {
  const { tile } = scope
  return (state.items ?? []).flatMap(item => {
    const price = priceAt(scope.facts, item.priceId, atMs)
    if (price === null) return []
    const line = itemLine(scope, item, price, atMs, costOfUnits(price, unitsOf(item)), null)
    const whole = {
      ...line,
      fromMs: tile.startMs,
      untilMs: tile.dueEndMs,
      tiers: tierParts(price, 0n, unitsOf(item)),
    }
    return [state.status === 'trialing' ? inTrial(whole) : whole]
  })
}

function inTrial(line: ChargeLine): ChargeLine {
  return { ...line, kind: 'trial', of: line.kind, exact: zero, amount: 0n, tiers: [] }
}

/** The cost of a change inside a period for the rest of it; credits only where the plan group prorates. */
function changed(
  scope: Scope,
  before: SubscriptionState | null,
  after: SubscriptionState | null,
  atMs: number,
): ChargeLine[] {
  const { facts, tile } = scope
  const [had, has] = [itemsOf(before), itemsOf(after)]
  const ids = new Set([...had.keys(), ...has.keys()])
  return [...ids].flatMap(priceId => {
    const [was, is] = [had.get(priceId), has.get(priceId)]
    const price = priceAt(facts, priceId, atMs)
    if (price === null) return []
    const item = is ?? was!
    const [from, to] = [was ? unitsOf(was) : 0n, is ? unitsOf(is) : 0n]
    const difference = minus(costOfUnits(price, to), costOfUnits(price, from))
    if (difference.n === 0n) return []
    if (difference.n < 0n && !facts.prorates) return []
    const endMs = is && after ? Math.max(after.periodEndMs, tile.startMs + 1) : tile.dueEndMs
    const whole = is && after && after.periodStartMs === tile.startMs ? endMs : tile.dueEndMs
    const proration = { leftMs: Math.max(0, whole - atMs), wholeMs: whole - tile.startMs }
    const share = { n: BigInt(proration.leftMs), d: BigInt(proration.wholeMs) }
    const line = itemLine(scope, item, price, atMs, times(difference, share), proration)
    return [{ ...line, quantity: { n: to - from, d: 1n }, untilMs: whole }]
  })
}

/** Items that were paid for: none in a trial. */
function itemsOf(state: SubscriptionState | null): ReadonlyMap<string, SubscribedItem> {
  if (state === null || state.status === 'trialing') return new Map()
  return new Map((state.items ?? []).map(item => [item.priceId, item]))
}

function unitsOf({ quantity }: SubscribedItem): bigint {
  return BigInt(Math.ceil(quantity ?? 1))
}

/** The terms of a price at an instant; null for metered and one-time prices, and for one that is not known. */
function priceAt({ itemPrices }: BillingFacts, priceId: string, atMs: number): ItemPrice | null {
  const all = itemPrices.get(priceId) ?? []
  const price = all.filter(one => one.fromMs <= atMs).at(-1) ?? all[0] ?? null
  return price === null || price.isMetered || price.months === null ? null : price
}

function itemLine(
  { facts, subscriptionId }: Scope,
  item: SubscribedItem,
  price: ItemPrice,
  atMs: number,
  exact: Fraction,
  proration: ChargeLine['proration'],
): ChargeLine {
  const { sold, featureId } = soldAs(facts, item)
  const kind = featureId === null ? 'recurring' : 'seat'
  return {
    kind,
    of: kind,
    subscriptionId,
    sold,
    featureId,
    creditId: null,
    bundleId: null,
    quantity: { n: unitsOf(item), d: 1n },
    unit: kind === 'seat' ? 'seat' : 'item',
    price,
    currency: price.currency,
    tiers: [],
    exact,
    amount: roundHalfUp(exact),
    fromMs: atMs,
    untilMs: atMs,
    dueMs: atMs,
    proration,
    events: null,
    window: null,
    couponId: null,
  }
}

/** The version that sells an item, and the feature of units bought in advance. */
function soldAs(
  { versions }: BillingFacts,
  { priceId, productId }: SubscribedItem,
): { readonly sold: SoldIn | null; readonly featureId: string | null } {
  const all = [...versions.values()]
  const soldIn = ({ planId, versionId, version }: (typeof all)[number]): SoldIn => ({
    planId,
    versionId,
    version,
  })
  const seats = all.filter(one => one.seatPriceIds.has(priceId)).at(-1)
  if (seats) return { sold: soldIn(seats), featureId: seats.seatPriceIds.get(priceId)! }
  const fee =
    all.filter(one => one.feePriceIds.has(priceId)).at(-1) ??
    all.filter(one => one.feeProductId === productId).at(-1)
  return { sold: fee ? soldIn(fee) : null, featureId: null }
}

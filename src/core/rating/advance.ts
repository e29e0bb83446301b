// Charges in advance: fees of plans and add-ons, and units bought before use, with changes inside a period.
import type { SubscribedItem, SubscriptionState } from '../model/company-state.js'
import { dayMs, periodAt, type Window } from '../values/period.js'
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
 * source  RA-5, RA-13, RA-14, RA-15, RA-26.
 */
export function advanceLines(facts: BillingFacts, subscriptionId: string, upToMs: number): ChargeLine[] {
  const states = statesOf(facts.history, subscriptionId)
  const lines: ChargeLine[] = []
  for (const tile of tilesOf(states, upToMs)) {
    if (!tile.isReported || tile.startMs > upToMs) continue
    const opening = openingOf(states, tile)
    if (opening === null) continue
    const scope = { facts, subscriptionId, tile, upToMs, months: monthsIn(tile, opening.state!) }
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
  readonly upToMs: number
  /** Months in the period. */
  readonly months: number
}

function wholePeriod(scope: Scope, state: SubscriptionState, atMs: number): ChargeLine[] {
  const { tile } = scope
  return (state.items ?? []).flatMap(item => {
    const price = priceAt(scope.facts, item.priceId, atMs)
    if (price === null) return []
    const long = state.status !== 'trialing' && isLonger(price, scope)
    const paid = long ? beginningIn(scope, item.priceId, price.months!) : periodOf(tile)
    if (paid === null || paid.startMs > scope.upToMs) return []
    const exact = times(costOfUnits(price, unitsOf(item)), {
      n: long ? 1n : intervalsIn(price, scope),
      d: 1n,
    })
    const line = itemLine(scope, item, price, Math.max(atMs, paid.startMs), exact, null)
    const whole = {
      ...line,
      fromMs: paid.startMs,
      untilMs: paid.nextMs,
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
    const own = isLonger(price, scope) ? ownInterval(scope, priceId, price.months!, atMs) : null
    const [startMs, dueMs] = own ? [own.startMs, own.nextMs] : [tile.startMs, whole]
    const intervals = own ? 1n : intervalsIn(price, scope)
    const proration = { leftMs: Math.max(0, dueMs - atMs), wholeMs: dueMs - startMs }
    const part = { n: BigInt(proration.leftMs), d: BigInt(proration.wholeMs) }
    const line = itemLine(
      scope,
      item,
      price,
      atMs,
      times(times(difference, { n: intervals, d: 1n }), part),
      proration,
    )
    return [{ ...line, quantity: { n: to - from, d: 1n }, untilMs: dueMs }]
  })
}

const averageMonth = 30.4375

/** Months in a period: those of the own subscription, and what the bounds of a provider's show. */
function monthsIn({ startMs, dueEndMs }: Tile, { anchorMs, intervalMonths }: SubscriptionState): number {
  if (anchorMs != null) return intervalMonths
  return Math.max(1, Math.round((dueEndMs - startMs) / dayMs / averageMonth))
}

const periodOf = ({ startMs, dueEndMs }: Tile): Window => ({ startMs, nextMs: dueEndMs })

/** Whether a price is for longer than the subscription's period, as a year in a subscription by months. source: RA-26 */
const isLonger = ({ months, days }: ItemPrice, period: Scope): boolean =>
  days === undefined && months! > period.months

/** How often the interval of a price that is not longer lies in the subscription's period. source: RA-26 */
function intervalsIn({ months, days }: ItemPrice, { tile, months: all }: Scope): bigint {
  const [length, interval] =
    days === undefined ? [all, months!] : [(tile.dueEndMs - tile.startMs) / dayMs, days]
  return BigInt(Math.max(1, Math.round(length / interval)))
}

/** The interval of a longer price around an instant, counted from when the subscription began to sell it. */
function ownInterval(
  { facts, subscriptionId }: Scope,
  priceId: string,
  months: number,
  atMs: number,
): Window {
  const sinceMs = heldSince(statesOf(facts.history, subscriptionId), priceId, atMs)
  return periodAt(sinceMs ?? atMs, months, atMs)
}

/** The interval of a longer price that begins in the subscription's period; null: none does, or it began inside by a change. */
function beginningIn(scope: Scope, priceId: string, months: number): Window | null {
  const { facts, subscriptionId, tile } = scope
  const last = ownInterval(scope, priceId, months, tile.endMs - 1)
  if (last.startMs < tile.startMs) return null
  const states = statesOf(facts.history, subscriptionId)
  const sinceMs = heldSince(states, priceId, last.startMs)
  return last.startMs > tile.startMs && (sinceMs === null || sinceMs === last.startMs) ? null : last
}

/** When a subscription began to sell a price that it sells at an instant, or sold until then, without a gap; null: it did not. */
function heldSince(states: readonly SubscriptionSince[], priceId: string, atMs: number): number | null {
  let sinceMs: number | null = null
  let before: SubscriptionState | null = null
  for (const { fromMs, state } of states) {
    if (fromMs > atMs) break
    const isSold = itemsOf(state).has(priceId)
    if (!isSold && fromMs < atMs) sinceMs = null
    // a provider reports a period after it began
    if (isSold) sinceMs ??= before === null ? Math.min(fromMs, state!.periodStartMs) : fromMs
    before = state
  }
  return sinceMs
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

// Charges in advance: fees of plans and add-ons, and units bought before use, with changes inside a period.
import type { SubscribedItem, SubscriptionState } from '../model/company-state.js'
import { dayMs, periodAt, type Window } from '../values/period.js'
import { ChargedUnits, type TakenBack } from './charged-units.js'
import { isInForce } from './discount.js'
import { type BillingFacts, type ItemPrice, prorationAt } from './facts.js'
import { type Fraction, minus, roundHalfUp, times, zero } from './fraction.js'
import { type SubscriptionSince, statesOf } from './history.js'
import type { ChargeLine, SoldIn } from './line.js'
import { nextPeriod, type Tile, tilesOf } from './periods.js'
import { costOfUnits, tierParts } from './price.js'

/**
 * The lines of one subscription that are charged in advance, up to an instant: everything it sells at the start of
 * each of its periods, and what changes inside one for the rest of it. A longer price is charged by its own intervals.
 *
 * source  RA-5, RA-13, RA-14, RA-15, RA-26.
 */
export function advanceLines(facts: BillingFacts, subscriptionId: string, upToMs: number): ChargeLine[] {
  const states = paidFor(facts, statesOf(facts.history, subscriptionId))
  const lines: ChargeLine[] = []
  const moments: Moment[] = []
  for (const tile of tilesOf(states, upToMs)) {
    if (!tile.isReported || tile.startMs > upToMs) continue
    const opening = openingOf(states, tile)
    if (opening === null) continue
    const scope = scopeOf({ facts, subscriptionId, tile, upToMs }, opening.state!)
    // a subscription that was over begins anew
    if (moments.at(-1)?.atMs === tile.startMs) moments.pop()
    const said = opening.fromMs > tile.startMs && { saidMs: opening.fromMs }
    moments.push({ atMs: tile.startMs, state: opening.state, scope, isOpening: true, ...said })
    lines.push(...wholePeriod(scope, opening.state!, tile.startMs).map(line => ({ ...line, ...said })))
    let before: SubscriptionState | null = opening.state
    const units = new ChargedUnits(tile.startMs)
    for (const item of itemsOf(opening.state).values()) units.add(item.priceId, unitsOf(item), tile.startMs)
    for (const { fromMs, state, isUnprorated } of states) {
      if (fromMs <= opening.fromMs || fromMs > tile.endMs || fromMs > upToMs) continue
      const own = state === null ? scope : scopeOf(scope, state, true)
      if (fromMs < tile.endMs || state === null)
        moments.push({ atMs: fromMs, state, scope: own, isOpening: false })
      // a change at the very end of a period belongs to the next, unless it cut this one short
      if (fromMs === tile.endMs && tile.endMs === tile.dueEndMs) continue
      const after = fromMs === tile.endMs ? null : state
      const paid = before === null ? scope : scopeOf(scope, before)
      lines.push(...changed(paid, own, before, after, { atMs: fromMs, isUnprorated, units }))
      before = state
    }
  }
  const priceIds = new Set(moments.flatMap(({ state }) => [...itemsOf(state).keys()]))
  return [...lines, ...[...priceIds].flatMap(priceId => longerLines(moments, priceId))]
}

/**
 * States without those ends after which the subscription goes on in the same period, as one does that was not paid in time:
 * what was paid for counts on. An end that was credited stays.
 *
 * source  RA-14.
 */
function paidFor(facts: BillingFacts, states: readonly SubscriptionSince[]): readonly SubscriptionSince[] {
  return states.filter(({ fromMs, state }, i) => {
    const [before, after] = [states[i - 1]?.state, states[i + 1]?.state]
    const goesOn = state === null && before && after?.periodStartMs === before.periodStartMs
    return !goesOn || prorationAt(facts, fromMs).prorates
  })
}

/** The state that a period begins with; null: nothing is sold in it. */
function openingOf(states: readonly SubscriptionSince[], { startMs }: Tile): SubscriptionSince | null {
  const reported = states.find(
    ({ fromMs, state }) => state !== null && state.periodStartMs === startMs && fromMs > startMs,
  )
  const before = states.filter(({ fromMs }) => fromMs <= startMs).at(-1) ?? null
  if (before?.state) {
    // a provider reports a renewal after it took place: what it reports is what the period sells
    if (reported?.state && before.state.anchorMs == null && before.state.periodStartMs !== startMs)
      return reported
    return before
  }
  return reported ?? null
}

interface Scope {
  readonly facts: BillingFacts
  readonly subscriptionId: string
  readonly tile: Tile
  readonly upToMs: number
  /** Months in the period. */
  readonly months: number
  /** Where the period ends that is paid for, by the terms of the state. */
  readonly paidUntilMs: number
  /** Length of the whole interval that ends there: a subscription may begin inside it, before its anchor. */
  readonly intervalMs: number
}

/**
 * A period as a state of its subscription has it. With a longer interval a period of the service's own ends later
 * (PB-33), and what was paid for before ends where it did.
 *
 * pays  the state begins inside the period: what it adds is paid for until its end.
 */
function scopeOf(
  scope: Omit<Scope, 'intervalMs' | 'months' | 'paidUntilMs'>,
  state: SubscriptionState,
  pays = false,
): Scope {
  const { tile } = scope
  const { anchorMs, periodStartMs, periodEndMs, intervalMonths } = state
  const isOfPeriod = periodStartMs === tile.startMs
  const renews = anchorMs != null && !isOfPeriod
  const paidUntilMs = renews
    ? nextPeriod(anchorMs, intervalMonths, tile.startMs)
    : isOfPeriod && (pays || anchorMs != null)
      ? Math.max(periodEndMs, tile.startMs + 1)
      : tile.dueEndMs
  const months = monthsIn(tile, state)
  const intervalMs =
    anchorMs == null
      ? paidUntilMs - tile.startMs
      : paidUntilMs - periodAt(anchorMs, months, paidUntilMs - 1, paidUntilMs).startMs
  return { ...scope, months, paidUntilMs, intervalMs }
}

/** Whether the subscription begins before its anchor in this period, and it was agreed that this costs nothing. */
function isFree({ tile, intervalMs, paidUntilMs }: Scope, state: SubscriptionState | null): boolean {
  return state?.isFirstFree === true && intervalMs !== paidUntilMs - tile.startMs
}

function wholePeriod(scope: Scope, state: SubscriptionState, atMs: number): ChargeLine[] {
  const { startMs } = scope.tile
  const { paidUntilMs, intervalMs } = scope
  if (isFree(scope, state)) return []
  return (state.items ?? []).flatMap(item => {
    const price = priceAt(scope.facts, item.priceId, atMs)
    if (price === null || (state.status !== 'trialing' && isLonger(price, scope))) return []
    const cost = times(costOfUnits(price, unitsOf(item)), { n: intervalsIn(price, scope), d: 1n })
    const isPart = intervalMs !== paidUntilMs - startMs
    const exact = isPart ? times(cost, { n: BigInt(paidUntilMs - startMs), d: BigInt(intervalMs) }) : cost
    const line = itemLine(scope, item, price, atMs, exact, null)
    const whole = {
      ...line,
      fromMs: startMs,
      untilMs: paidUntilMs,
      tiers: tierParts(price, 0n, unitsOf(item)),
    }
    return [state.status === 'trialing' ? inTrial(whole) : whole]
  })
}

function inTrial(line: ChargeLine): ChargeLine {
  return { ...line, kind: 'trial', of: line.kind, exact: zero, amount: 0n, tiers: [] }
}

/** A change inside a period. */
interface Step {
  readonly atMs: number
  readonly isUnprorated: boolean
  readonly units: ChargedUnits
}

/**
 * The cost of a change inside a period for the rest of it; credits only where the plan group prorates, and the change is
 * prorated.
 *
 * paid, pays  the period as it was paid for before the change, and as it is afterwards.
 * source      RA-14, RA-29: one that is not prorated costs something where it makes the period longer.
 */
function changed(
  paid: Scope,
  pays: Scope,
  before: SubscriptionState | null,
  after: SubscriptionState | null,
  { atMs, isUnprorated, units }: Step,
): ChargeLine[] {
  const [had, has] = [itemsOf(before), itemsOf(after)]
  const ids = new Set([...had.keys(), ...has.keys()])
  const isLengthened = pays.paidUntilMs > paid.paidUntilMs
  return [...ids].flatMap(priceId => {
    const [was, is] = [had.get(priceId), has.get(priceId)]
    const scope = is ? pays : paid
    const price = priceAt(scope.facts, priceId, atMs)
    if (price === null || isLonger(price, scope) || isFree(scope, is ? after : before)) return []
    const [from, to] = [was ? unitsOf(was) : 0n, is ? unitsOf(is) : 0n]
    const { paidUntilMs: untilMs, intervalMs: wholeMs } = scope
    if (isUnprorated && !(isLengthened && to > from)) {
      if (to > from) units.add(priceId, to - from - units.comeBack(priceId, to - from, untilMs), null)
      else units.giveUp(priceId, units.take(priceId, from - to), untilMs)
      return []
    }
    const rest = { leftMs: Math.max(0, untilMs - atMs), wholeMs }
    const intervals = intervalsIn(price, scope)
    const item = (is ?? was)!
    return unitChanges(scope, { price, item, from, to, atMs, untilMs, rest, intervals }, units)
  })
}

/** The quantity of an item changes inside the time that was paid for. */
interface Change {
  readonly price: ItemPrice
  readonly item: SubscribedItem
  /** Units that were charged for, and those from then on. */
  readonly from: bigint
  readonly to: bigint
  readonly atMs: number
  readonly untilMs: number
  /** The part of that time that is left. */
  readonly rest: { readonly leftMs: number; readonly wholeMs: number }
  /** Intervals of the price in that time. */
  readonly intervals: bigint
}

/**
 * The lines of a change: one for units that come, and one for all units which go that were charged with the same discounts
 * and terms, the latest first. Units that nothing was charged for are not credited, and units that went without a credit
 * and come again are not charged. A price by volume may cost less with more units: without credits nothing is charged for
 * fewer, and what more units cost less counts as paid.
 *
 * units   notes the change.
 * source  RA-14, RA-16, RA-29.
 */
function unitChanges(scope: Scope, change: Change, units: ChargedUnits): ChargeLine[] {
  const { price, from, to, atMs, untilMs } = change
  const { prorates } = prorationAt(scope.facts, atMs)
  const costs = (a: bigint, b: bigint) => minus(costOfUnits(price, a), costOfUnits(price, b)).n
  if (to >= from) {
    const paid = from + units.comeBack(price.id, to - from, untilMs)
    if (to === paid) return []
    const charged = units.charged(price.id)
    const had = !prorates && costs(charged, paid) > 0n ? charged : paid
    const isUncharged = !prorates && costs(to, had) < 0n
    if (had !== paid && !isUncharged) units.settle(price.id, atMs)
    const lines = changeLine(scope, { ...change, from: had }, units.lastMs(price.id))
    units.add(price.id, to - paid, isUncharged ? null : atMs)
    return lines
  }
  const taken = alikeCharged(scope, price.id, units.take(price.id, from - to))
  if (!prorates) {
    units.giveUp(price.id, taken, untilMs)
    return []
  }
  let below = to + taken.reduce((sum, part) => sum + part.units, 0n)
  return taken.flatMap(part => {
    const above = below
    below -= part.units
    // the price may have changed since: a credit has the terms of its charge
    const charged = priceAt(scope.facts, price.id, part.atMs) ?? price
    return changeLine(scope, { ...change, price: charged, from: above, to: below }, part.atMs)
  })
}

/** Neighbours that were charged with the same discounts and terms, as one. */
function alikeCharged(
  { facts, subscriptionId }: Scope,
  priceId: string,
  parts: readonly TakenBack[],
): TakenBack[] {
  const asAt = (atMs: number): string => {
    const own = facts.discounts.filter(one => one.subscriptionId === subscriptionId)
    return [priceAt(facts, priceId, atMs)?.fromMs, ...own.map(one => isInForce(one, atMs))].join(' ')
  }
  const alike: TakenBack[] = []
  for (const part of parts) {
    const last = alike.at(-1)
    if (last && asAt(last.atMs) === asAt(part.atMs))
      alike[alike.length - 1] = { ...last, units: last.units + part.units }
    else alike.push(part)
  }
  return alike
}

/** chargedMs  when that was charged which the change takes back, if it does. */
function changeLine(
  scope: Scope,
  { price, item, from, to, atMs, untilMs, rest, intervals }: Change,
  chargedMs: number,
): ChargeLine[] {
  const difference = minus(costOfUnits(price, to), costOfUnits(price, from))
  if (difference.n === 0n || (difference.n < 0n && !prorationAt(scope.facts, atMs).prorates)) return []
  const part = { n: intervals * BigInt(rest.leftMs), d: BigInt(rest.wholeMs) }
  const line = itemLine(scope, item, price, atMs, times(difference, part), rest)
  const takesBack = difference.n < 0n && { takesBackMs: chargedMs }
  return [{ ...line, quantity: { n: to - from, d: 1n }, untilMs, ...takesBack }]
}

/** An item of a longer price, and the interval that it is paid for. */
interface PaidInterval {
  readonly item: SubscribedItem
  readonly interval: Window
}

/** A subscription's state from an instant on; null: it is over. */
interface Moment {
  readonly atMs: number
  readonly state: SubscriptionState | null
  readonly scope: Scope
  /** A period begins. */
  readonly isOpening: boolean
  /** When a provider reported it, if that was later. */
  readonly saidMs?: number
}

/**
 * The lines of a price that is for longer than the subscription's periods: whole at the start of each of its own
 * intervals, and what changes inside one for the rest of it.
 *
 * moments  ascending.
 * source   RA-14, RA-15, RA-26.
 */
function longerLines(moments: readonly Moment[], priceId: string): ChargeLine[] {
  const lines: ChargeLine[] = []
  let sinceMs = 0
  let paid = null as PaidInterval | null
  let lapsed = null as PaidInterval | null
  let units = new ChargedUnits(0)
  for (const [i, { atMs, state, scope, isOpening, saidMs }] of moments.entries()) {
    const price = priceAt(scope.facts, priceId, atMs)
    if (price === null) continue
    const is = isLonger(price, scope) ? itemsOf(state).get(priceId) : undefined
    // what was paid for, and was not credited when it was given up or its subscription was over, counts on
    if (is && paid === null && lapsed !== null && atMs < lapsed.interval.nextMs) paid = lapsed
    if (is) lapsed = null
    const isLeft: boolean = !is && (state !== null || moments[i - 1]?.state?.anchorMs == null)
    if (paid !== null && isLeft && !prorationAt(scope.facts, atMs).prorates) {
      lapsed = paid
      paid = null
    } else if (paid !== null && atMs < paid.interval.nextMs) {
      const { startMs, nextMs } = paid.interval
      const rest = { leftMs: nextMs - atMs, wholeMs: nextMs - startMs }
      const [from, to] = [unitsOf(paid.item), is ? unitsOf(is) : 0n]
      const change = { price, item: is ?? paid.item, from, to, atMs, untilMs: nextMs, rest, intervals: 1n }
      lines.push(...unitChanges(scope, change, units))
      paid = is ? { item: is, interval: paid.interval } : null
    } else if (is) {
      if (paid === null) sinceMs = atMs
      const interval = intervalAt(price, sinceMs, atMs)
      const wholeMs = interval.nextMs - interval.startMs
      const rest = paid === null && !isOpening ? { leftMs: wholeMs, wholeMs } : null
      const line = wholeInterval(scope, is, price, atMs, interval, rest)
      lines.push(saidMs === undefined ? line : { ...line, saidMs })
      paid = { item: is, interval }
      units = chargedWhole(is, interval)
    } else paid = null
    // intervals that begin while nothing changes
    const untilMs = Math.min(scope.tile.endMs, moments[i + 1]?.atMs ?? Number.POSITIVE_INFINITY)
    while (paid !== null && paid.interval.nextMs < untilMs && paid.interval.nextMs <= scope.upToMs) {
      const beginMs: number = paid.interval.nextMs
      const interval = intervalAt(price, sinceMs, beginMs)
      const terms = priceAt(scope.facts, priceId, beginMs) ?? price
      lines.push(wholeInterval(scope, paid.item, terms, beginMs, interval, null))
      paid = { item: paid.item, interval }
      units = chargedWhole(paid.item, interval)
    }
  }
  return lines
}

function chargedWhole(item: SubscribedItem, { startMs }: Window): ChargedUnits {
  const units = new ChargedUnits(startMs)
  units.add(item.priceId, unitsOf(item), startMs)
  return units
}

function wholeInterval(
  scope: Scope,
  item: SubscribedItem,
  price: ItemPrice,
  atMs: number,
  { startMs, nextMs }: Window,
  proration: ChargeLine['proration'],
): ChargeLine {
  const line = itemLine(scope, item, price, atMs, costOfUnits(price, unitsOf(item)), proration)
  return { ...line, fromMs: startMs, untilMs: nextMs, tiers: tierParts(price, 0n, unitsOf(item)) }
}

/** The interval of a price around an instant, counted from when the subscription began to sell it. */
function intervalAt({ months, days }: ItemPrice, sinceMs: number, atMs: number): Window {
  if (days === undefined) return periodAt(sinceMs, months!, atMs)
  const lengthMs = days * dayMs
  const startMs = sinceMs + Math.floor((atMs - sinceMs) / lengthMs) * lengthMs
  return { startMs, nextMs: startMs + lengthMs }
}

const averageMonth = 30.4375

/** Months in a period: those of the own subscription, and what the bounds of a provider's show. */
function monthsIn({ startMs, dueEndMs }: Tile, { anchorMs, intervalMonths }: SubscriptionState): number {
  if (anchorMs != null) return intervalMonths
  return Math.max(1, Math.round((dueEndMs - startMs) / dayMs / averageMonth))
}

const longestMonth = 31

/**
 * Whether a price is for longer than the subscription's period, as a year in a subscription by months. A price by
 * days is longer in every period of as many months, or in none: months are taken with 31 days.
 *
 * source  RA-26.
 */
const isLonger = ({ months, days }: ItemPrice, period: Scope): boolean =>
  days === undefined ? months! > period.months : days > longestMonth * period.months

/** How often the interval of a price that is not longer lies in the subscription's period. source: RA-26 */
function intervalsIn({ months, days }: ItemPrice, { tile, months: all }: Scope): bigint {
  const [length, interval] =
    days === undefined ? [all, months!] : [(tile.dueEndMs - tile.startMs) / dayMs, days]
  return BigInt(Math.max(1, Math.round(length / interval)))
}

/** Items that were paid for: none in a trial. Two of one price are one. */
function itemsOf(state: SubscriptionState | null): ReadonlyMap<string, SubscribedItem> {
  const items = new Map<string, SubscribedItem>()
  if (state === null || state.status === 'trialing') return items
  for (const item of state.items ?? []) {
    const same = items.get(item.priceId)
    const quantity = same && Number(unitsOf(same) + unitsOf(item))
    items.set(item.priceId, quantity === undefined ? item : { ...item, quantity })
  }
  return items
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

// The debt of a company in one billing period: every line, from facts and usage alone.
import type { PlanHolding } from '../model/company-state.js'
import { inOrder } from '../values/text-order.js'
import { advanceLines } from './advance.js'
import { correctionLines } from './corrections.js'
import { discountLines, isInForce, isOfCharge, isOffOf, ofOneCharge } from './discount.js'
import {
  type BillingFacts,
  type Discount,
  type Overdraft,
  type Purchase,
  prorationAt,
  type RatedVersion,
  type UsageReader,
} from './facts.js'
import { type Fraction, fractionOf, fractionText, roundHalfUp, times } from './fraction.js'
import { heldSpans } from './history.js'
import type { ChargeKind, ChargeLine, RatedPrice, SoldIn } from './line.js'
import { type BilledWindow, billedWindows, meteredLines, rateWindow } from './metered.js'
import { onceLines, oncePrice } from './once.js'
import { type BillingPeriod, billingPeriods } from './periods.js'
import { type Segment, segmentsOf } from './segments.js'

/** The debt of a company for a period, and what runs on in windows that end later. */
export interface RatedPeriod {
  readonly period: BillingPeriod
  readonly lines: readonly ChargeLine[]
  /** Overage of windows that close after the period, as of now: owed in a later one. */
  readonly accruing: readonly ChargeLine[]
  /** Windows of overage that closed inside the period. */
  readonly closed: readonly BilledWindow[]
}

/** The billing periods of a company up to an instant. source: RA-5 */
export function periodsOf(facts: BillingFacts, nowMs: number): BillingPeriod[] {
  return billingPeriods(facts.history, heldSpans(facts.history), nowMs)
}

/**
 * Ends of windows in which features are billed, and starts of periods, up to an instant; ascending. None where nothing is
 * billed by use: no event can be late then.
 *
 * source  RA-8, RA-12.
 */
export function windowEnds(facts: BillingFacts, nowMs: number): number[] {
  const spans = heldSpans(facts.history)
  const metered = segmentsOf(facts, spans)
  if (metered.size === 0) return []
  const periods = billingPeriods(facts.history, spans, nowMs)
  const ends = new Set(periods.map(({ startMs }) => startMs))
  for (const [featureId, segments] of metered)
    for (const { nextMs } of billedWindows(featureId, segments, periods, nowMs)) ends.add(nextMs)
  return [...ends].filter(atMs => atMs > 0 && atMs <= nowMs).sort((a, b) => a - b)
}

/** The next end of a billing period or of a window of overage after an instant; Infinity once the company is gone. */
export function nextEnd(facts: BillingFacts, nowMs: number): number {
  const spans = heldSpans(facts.history)
  const periods = billingPeriods(facts.history, spans, nowMs)
  const ends = periods.map(({ endMs }) => endMs)
  for (const [featureId, segments] of segmentsOf(facts, spans))
    for (const { nextMs } of billedWindows(featureId, segments, periods, nowMs)) ends.push(nextMs)
  return Math.min(...ends.filter(endMs => endMs > nowMs), Number.POSITIVE_INFINITY)
}

/** A threshold of an entitlement that the cost of a period has reached. */
interface ReachedThreshold {
  readonly entitlementId: string
  readonly featureId: string
  readonly currency: string
  readonly threshold: bigint
  readonly amount: bigint
}

/**
 * The entitlements whose use has cost as much as their threshold in a period.
 *
 * source  RA-22: what accrues in a window that closes later counts too.
 */
export function reachedThresholds(facts: BillingFacts, { lines, accruing }: RatedPeriod): ReachedThreshold[] {
  const reached: ReachedThreshold[] = []
  const sums = new Map<string, bigint>()
  for (const { kind, sold, featureId, currency, amount } of [...lines, ...accruing]) {
    if ((kind !== 'usage' && kind !== 'overage') || sold === null) continue
    const entitlement = facts.versions
      .get(sold.versionId)
      ?.entitlements.find(one => one.featureId === featureId)
    if (entitlement?.threshold == null) continue
    const key = `${entitlement.id} ${currency}`
    const before = sums.get(key) ?? 0n
    sums.set(key, before + amount)
    const { id: entitlementId, threshold } = entitlement
    if (before >= threshold || before + amount < threshold) continue
    reached.push({ entitlementId, featureId: featureId!, currency, threshold, amount: before + amount })
  }
  return reached.map(one => ({ ...one, amount: sums.get(`${one.entitlementId} ${one.currency}`)! }))
}

/** Whether a version that a company holds at an instant has a threshold. */
export function hasThreshold(facts: BillingFacts, nowMs: number): boolean {
  const spans = heldSpans(facts.history)
  for (const [, segments] of segmentsOf(facts, spans))
    if (segments.some(one => one.untilMs > nowMs && one.entitlement.threshold != null)) return true
  return false
}

/** A feature whose use costs money at an instant, with the use of the period so far. */
export interface MeteredUse {
  readonly subscriptionId: string
  readonly priceId: string
  readonly featureId: string
  /** Units used; of overage, those beyond what is included. */
  readonly units: bigint
  readonly threshold: bigint | null
}

/** The prices by use that the subscriptions of a company sell at an instant. */
export function meteredNow(facts: BillingFacts, nowMs: number): Segment[] {
  return [...segmentsOf(facts, heldSpans(facts.history)).values()].flatMap(segments => {
    const now = segments.find(one => one.fromMs <= nowMs && nowMs < one.untilMs)
    return now === undefined || now.subscriptionId === null ? [] : [now]
  })
}

/** The metered items of a company's subscriptions at an instant of an open period, with their use in it. source: RA-27 */
export function meteredUses(
  facts: BillingFacts,
  { lines, accruing }: RatedPeriod,
  nowMs: number,
): MeteredUse[] {
  const used = [...lines, ...accruing].filter(one => one.events !== null && one.kind !== 'correction')
  return meteredNow(facts, nowMs).map(({ price, entitlement, subscriptionId }) => {
    const { featureId, threshold = null } = entitlement
    const own = used.filter(one => one.featureId === featureId && one.price?.id === price.id)
    const units = own.reduce((sum, one) => sum + one.quantity.n, 0n)
    return { subscriptionId: subscriptionId!, priceId: price.id, featureId, units, threshold }
  })
}

/** Whether a company was ever sold anything with a price: it holds or held it, or bought it. */
export function isSold(facts: BillingFacts): boolean {
  const { history, versions, itemPrices, purchases, overdrafts } = facts
  if (purchases.length > 0 || overdrafts.length > 0) return true
  const costs = ({ versionId, priceId }: PlanHolding, atMs: number) =>
    hasPrices(versions.get(versionId)) || oncePrice(facts, priceId, atMs) !== null
  return history.some(entry => {
    if (entry.kind === 'plan') return entry.plan !== null && costs(entry.plan, entry.atMs)
    if (entry.kind === 'add_ons') return entry.addOns.some(one => costs(one, entry.atMs))
    return (
      entry.kind === 'subscription' &&
      entry.state?.items?.some(({ priceId }) => itemPrices.has(priceId)) === true
    )
  })
}

/** Whether anything that a company holds or held costs money, the fallback plan included. */
export function isPriced(facts: BillingFacts): boolean {
  const { versions, fallback } = facts
  return (
    isSold(facts) || fallback.some(one => one.versionId !== null && hasPrices(versions.get(one.versionId)))
  )
}

const hasPrices = (version: RatedVersion | undefined): boolean =>
  version?.entitlements.some(one => one.prices.length > 0) === true

/**
 * Rate one period: closed, or open as of now.
 *
 * period   one of `periodsOf`.
 * known    the facts.
 * nowMs    the present. Events received later, and windows that end later, do not count.
 * returns  lines by due time; the same for equal facts, whenever it is asked.
 * source   RA-1, RA-10, RA-12.
 */
export function ratePeriod(
  known: BillingFacts,
  period: BillingPeriod,
  reader: UsageReader,
  nowMs: number,
): RatedPeriod {
  const spans = heldSpans(known.history)
  const asOfMs = Math.min(nowMs, period.endMs)
  const periods = billingPeriods(known.history, spans, nowMs)
  const facts = withOnce(known, period.endMs, (discount, beforeMs) => {
    const untilMs = Math.min(beforeMs - 1, period.endMs)
    return firstUse(known, discount, { untilMs, asOfMs, periods, reader })
  })
  const lines: ChargeLine[] = []
  const accruing: ChargeLine[] = []
  const closed: BilledWindow[] = []
  const lateMs = facts.late.filter(one => one.receivedMs >= period.startMs && one.receivedMs < asOfMs)
  for (const [featureId, segments] of segmentsOf(facts, spans))
    for (const window of billedWindows(featureId, segments, periods, asOfMs)) {
      if (window.nextMs > period.startMs && window.nextMs <= period.endMs) {
        const rated = rateWindow(window, periods, reader, Math.min(window.nextMs, asOfMs))
        lines.push(...meteredLines(rated, window))
        if (window.segments.some(one => one.entitlement.behavior === 'overage') && window.nextMs <= asOfMs)
          closed.push(window)
      } else if (window.startMs < asOfMs && window.nextMs > period.endMs && nowMs < period.endMs) {
        accruing.push(...meteredLines(rateWindow(window, periods, reader, asOfMs), window))
      }
      const isLate = lateMs.some(
        ({ subtype, capturedMs, receivedMs }) =>
          capturedMs < window.nextMs &&
          window.nextMs <= receivedMs &&
          window.segments.some(({ entitlement }) => entitlement.subtype === subtype),
      )
      if (!isLate || window.nextMs > asOfMs) continue
      const before = rateWindow(window, periods, reader, Math.max(period.startMs, window.nextMs))
      const after = rateWindow(window, periods, reader, asOfMs)
      lines.push(...correctionLines(before, after, window, period.endMs))
    }
  lines.push(...boughtIn(facts, period, periods, nowMs))
  for (const overdraft of facts.overdrafts)
    if (overdraft.atMs > period.startMs && overdraft.atMs <= period.endMs)
      lines.push(overdraftLine(overdraft))
  lines.push(...discountsIn(facts, period, lines, periods, asOfMs))
  return { period, lines: lines.sort(byOrder), accruing: accruing.sort(byOrder), closed }
}

/**
 * Facts in which each discount that is for one charge alone knows that charge; without those that have none so far.
 *
 * firstUse  the end of the first window of use that costs before an instant; null: none.
 * source    RA-16.
 */
function withOnce(
  facts: BillingFacts,
  upToMs: number,
  firstUse: (discount: Discount, beforeMs: number) => number | null,
): BillingFacts {
  if (facts.discounts.every(one => one.once !== 'first')) return facts
  const charged = inAdvance({ ...facts, discounts: [] }, upToMs)
  const discounts = facts.discounts.flatMap(discount => {
    if (discount.once !== 'first') return [discount]
    const own = charged.filter(line => isOffOf(discount, line) && isInForce(discount, line.fromMs))
    const firstMs = Math.min(...own.map(line => line.fromMs), Number.POSITIVE_INFINITY)
    return ofOneCharge(discount, firstMs, firstUse(discount, firstMs)) ?? []
  })
  return { ...facts, discounts }
}

interface UseIn {
  /** Inclusive. */
  readonly untilMs: number
  readonly asOfMs: number
  readonly periods: readonly BillingPeriod[]
  readonly reader: UsageReader
}

/**
 * The end of the first window whose use costs something that a discount could be off. Use counts as it was written, where it
 * was: the values of a trait are kept for a year.
 */
function firstUse(
  facts: BillingFacts,
  discount: Discount,
  { untilMs, asOfMs, periods, reader }: UseIn,
): number | null {
  const windows = [...segmentsOf(facts, heldSpans(facts.history))].flatMap(([featureId, segments]) =>
    segments.some(one => one.subscriptionId === discount.subscriptionId)
      ? billedWindows(featureId, segments, periods, asOfMs)
      : [],
  )
  const own = windows.filter(({ nextMs }) => nextMs <= untilMs && isInForce(discount, nextMs - 1))
  const first = own
    .sort((a, b) => a.nextMs - b.nextMs)
    .find(window => {
      const rated = rateWindow(window, periods, reader, Math.min(window.nextMs, asOfMs))
      return meteredLines(rated, window).some(line => isOffOf(discount, line))
    })
  const written = (facts.paidUse ?? [])
    .filter(one => isOfCharge(discount, one) && one.endMs <= untilMs && isInForce(discount, one.endMs - 1))
    .map(one => one.endMs)
  const firstMs = Math.min(first?.nextMs ?? Number.POSITIVE_INFINITY, ...written)
  return firstMs === Number.POSITIVE_INFINITY ? null : firstMs
}

/**
 * The lines that a change of a company's holdings makes: what is charged in advance or at once, and its discounts, in the
 * running period and those that the change begins. A line that is there no more is taken back.
 *
 * before, after  without the change, and with it.
 * reader         use is asked for where a discount is for the first charge alone.
 * nowMs          its instant.
 * source         PB-33, RA-13, RA-14, RA-16, RA-24.
 */
export function linesOfChange(
  before: BillingFacts,
  after: BillingFacts,
  reader: UsageReader,
  nowMs: number,
): ChargeLine[] {
  const sinceMs = periodsOf(before, nowMs).findLast(one => one.startMs <= nowMs)?.startMs ?? 0
  const had = new Map<string, ChargeLine[]>()
  for (const line of boughtSince(before, sinceMs, reader, nowMs)) {
    const same = had.get(identityOf(line))
    if (same) same.push(line)
    else had.set(identityOf(line), [line])
  }
  const made = boughtSince(after, sinceMs, reader, nowMs).filter(line => !had.get(identityOf(line))?.pop())
  return [...made.sort(byOrder), ...[...had.values()].flat().map(takenBack)]
}

function boughtSince(known: BillingFacts, sinceMs: number, reader: UsageReader, nowMs: number): ChargeLine[] {
  const periods = periodsOf(known, nowMs)
  const facts = withOnce(known, nowMs, (discount, beforeMs) => {
    const untilMs = Math.min(beforeMs - 1, nowMs)
    return firstUse(known, discount, { untilMs, asOfMs: nowMs, periods, reader })
  })
  return periods.flatMap(period => {
    if (period.endMs <= sinceMs || period.startMs > nowMs) return []
    const lines = boughtIn(facts, period, periods, nowMs)
    return [...lines, ...discountsIn(facts, period, lines, periods, Math.min(nowMs, period.endMs))]
  })
}

/** All that tells two lines apart, but for when they fall due: another end of their period moves that. */
function identityOf({ kind, of, price, couponId, quantity, exact, fromMs, untilMs }: ChargeLine): string {
  const numbers = [fractionText(quantity), fractionText(exact), fromMs, untilMs]
  return [kind, of, price?.id, couponId, ...numbers].join(' ')
}

function takenBack(line: ChargeLine): ChargeLine {
  const minus = ({ n, d }: Fraction): Fraction => ({ n: -n, d })
  return { ...line, quantity: minus(line.quantity), exact: minus(line.exact), amount: -line.amount }
}

/** Lines of a period, up to an instant, that are charged in advance or at once. */
function boughtIn(
  facts: BillingFacts,
  period: BillingPeriod,
  periods: readonly BillingPeriod[],
  nowMs: number,
): ChargeLine[] {
  const asOfMs = Math.min(nowMs, period.endMs)
  const bought = facts.purchases.filter(
    ({ atMs }) => atMs >= period.startMs && atMs < period.endMs && atMs <= nowMs,
  )
  return [...arisingIn(period, periods, inAdvance(facts, asOfMs), facts), ...bought.map(purchaseLine)]
}

function discountsIn(
  facts: BillingFacts,
  period: BillingPeriod,
  lines: readonly ChargeLine[],
  periods: readonly BillingPeriod[],
  upToMs: number,
): ChargeLine[] {
  const { discounts } = facts
  return discounts.length === 0
    ? []
    : discountLines(discounts, period, lines, inAdvance(facts, upToMs), periods)
}

const inAdvance = (facts: BillingFacts, upToMs: number): ChargeLine[] => [
  ...advances(facts, upToMs),
  ...onceLines(facts, upToMs),
]

function advances(facts: BillingFacts, upToMs: number): ChargeLine[] {
  const ids = new Set(facts.history.flatMap(entry => (entry.kind === 'subscription' ? [entry.id] : [])))
  return [...ids].flatMap(id => advanceLines(facts, id, upToMs))
}

/**
 * Lines that arise inside a period: an instant at its end belongs to the next. A change inside it falls due at once, or
 * with the period's closing. A line that was reported when its period was over arises with the report.
 *
 * periods  all billing periods of the company.
 * source   RA-5, RA-10, RA-15.
 */
function arisingIn(
  { startMs, endMs }: BillingPeriod,
  periods: readonly BillingPeriod[],
  lines: readonly ChargeLine[],
  facts: BillingFacts,
): ChargeLine[] {
  const arisesAt = ({ dueMs, saidMs }: ChargeLine): number => {
    if (saidMs === undefined) return dueMs
    const own = periods.find(one => dueMs >= one.startMs && dueMs < one.endMs)
    return own === undefined || own.endMs <= saidMs ? saidMs : dueMs
  }
  return lines
    .filter(line => {
      const atMs = arisesAt(line)
      return atMs >= startMs && atMs < endMs
    })
    .map(line =>
      line.proration === null || prorationAt(facts, line.dueMs).invoicesAtOnce
        ? line
        : { ...line, dueMs: endMs },
    )
}

function byOrder(a: ChargeLine, b: ChargeLine): number {
  return (
    a.dueMs - b.dueMs ||
    a.fromMs - b.fromMs ||
    inOrder(a.kind, b.kind) ||
    inOrder(keyOf(a), keyOf(b)) ||
    Number(a.amount - b.amount)
  )
}

function keyOf({ featureId, creditId, bundleId, price, sold, window }: ChargeLine): string {
  return [featureId, creditId, bundleId, price?.id, sold?.versionId, window?.startMs].join(' ')
}

function purchaseLine({ atMs, creditId, bundleId, credits, price }: Purchase): ChargeLine {
  return creditLine('bundle', {
    creditId,
    bundleId,
    credits: fractionOf(credits),
    price,
    fromMs: atMs,
    untilMs: atMs,
    sold: null,
  })
}

function overdraftLine({ creditId, atMs, sinceMs, credits, price, sold }: Overdraft): ChargeLine {
  return creditLine('credit_overdraft', {
    creditId,
    bundleId: null,
    credits: fractionOf(credits),
    price,
    fromMs: sinceMs,
    untilMs: atMs,
    sold,
  })
}

interface Credits {
  readonly creditId: string
  readonly bundleId: string | null
  readonly credits: Fraction
  readonly price: RatedPrice
  readonly fromMs: number
  readonly untilMs: number
  readonly sold: SoldIn | null
}

function creditLine(kind: ChargeKind, { credits, price, untilMs, ...of }: Credits): ChargeLine {
  const exact = times(fractionOf(price.unit), credits)
  return {
    kind,
    of: kind,
    subscriptionId: null,
    featureId: null,
    ...of,
    quantity: credits,
    unit: 'credit',
    price,
    currency: price.currency,
    tiers: [],
    exact,
    amount: roundHalfUp(exact),
    untilMs,
    dueMs: untilMs,
    proration: null,
    events: null,
    window: null,
    couponId: null,
  }
}

// Stretches of time in which one entitlement of one version prices a feature: what each unit of use costs.
import type { PlanHolding, SubscriptionState } from '../model/company-state.js'
import { metricWindow, type Window } from '../values/period.js'
import {
  type BillingFacts,
  currencyAt,
  type OfferedPrice,
  paidInAt,
  type RatedEntitlement,
  type RatedVersion,
} from './facts.js'
import type { HeldSpan } from './history.js'
import type { RatedPrice, SoldIn } from './line.js'
import { type BillingPeriod, monthsAround } from './periods.js'

/** One feature, priced the same way over `[fromMs, untilMs)`. */
export interface Segment {
  readonly fromMs: number
  readonly untilMs: number
  readonly sold: SoldIn
  readonly entitlement: RatedEntitlement
  readonly price: RatedPrice
  readonly subscriptionId: string | null
  readonly isTrial: boolean
}

/**
 * The segments of every priced feature of a company, by feature, ascending.
 *
 * A feature is priced by the first of its plan and add-ons, in the order in which they came, that prices it or grants
 * it without limit. Prices are those of the version held, in the currency of the subscription, else of the version.
 * source  RA-6, RA-7; EN-23 (candidate order), PB-43.
 */
export function segmentsOf(facts: BillingFacts, spans: readonly HeldSpan[]): Map<string, Segment[]> {
  const found = new Map<string, Segment[]>()
  for (const span of divided(facts, spans))
    for (const segment of priced(facts, span).flatMap(dividedByTerms)) {
      const all = found.get(segment.entitlement.featureId) ?? []
      const last = all.at(-1)
      if (last && last.untilMs === segment.fromMs && sameTerms(last, segment))
        all[all.length - 1] = { ...last, untilMs: segment.untilMs }
      else all.push(segment)
      found.set(segment.entitlement.featureId, all)
    }
  return found
}

function sameTerms(a: Segment, b: Segment): boolean {
  return (
    a.sold.versionId === b.sold.versionId &&
    a.entitlement.id === b.entitlement.id &&
    isCountedAlike(a, b) &&
    isPricedAlike(a, b) &&
    a.subscriptionId === b.subscriptionId &&
    a.isTrial === b.isTrial
  )
}

/** Whether two segments count the same event or trait. */
export function isCountedAlike({ entitlement: a }: Segment, { entitlement: b }: Segment): boolean {
  return a.subtype === b.subtype && a.trait === b.trait
}

/** Whether two segments have one price, in packages of one size. */
export function isPricedAlike({ price: a }: Segment, { price: b }: Segment): boolean {
  return a.id === b.id && a.packageSize === b.packageSize
}

/** A segment whose price is as its version offers it. */
interface OfferedSegment extends Segment {
  readonly price: OfferedPrice
}

/** Segments that count one thing alone, in packages of one size: as both were at the instant of use. source: RA-6 */
function dividedByTerms(segment: OfferedSegment): Segment[] {
  const { entitlement, price, fromMs, untilMs } = segment
  const { formerly = [] } = entitlement
  const { formerSizes = [] } = price
  const ends = new Set([...formerly, ...formerSizes].map(one => one.untilMs))
  const cuts = [...ends].filter(atMs => atMs > fromMs && atMs < untilMs).sort((a, b) => a - b)
  return [fromMs, ...cuts].map((beginMs, i) => {
    const { subtype, trait } = formerly.find(one => beginMs < one.untilMs) ?? entitlement
    const { packageSize } = formerSizes.find(one => beginMs < one.untilMs) ?? price
    return {
      ...segment,
      entitlement: { ...entitlement, subtype, trait },
      price: { ...price, packageSize },
      fromMs: beginMs,
      untilMs: cuts[i] ?? untilMs,
    }
  })
}

/** Spans that no change of the fallback plan's version or of a currency is inside of. */
function divided(
  { fallback, formerCurrencies = [], formerlyPaid = new Map() }: BillingFacts,
  spans: readonly HeldSpan[],
): HeldSpan[] {
  const paid = [...formerCurrencies, ...[...formerlyPaid.values()].flat()]
  const all = [...fallback.map(one => one.fromMs), ...paid.map(one => one.untilMs)]
  const ascending = [...new Set(all)].sort((a, b) => a - b)
  return spans.flatMap(span => {
    const cuts = ascending.filter(atMs => atMs > span.fromMs && atMs < span.untilMs)
    return [span.fromMs, ...cuts].map((fromMs, i) => ({ ...span, fromMs, untilMs: cuts[i] ?? span.untilMs }))
  })
}

/** A holding of a version: of a plan or add-on, or of the fallback plan. */
interface Held {
  readonly version: RatedVersion
  readonly holding: PlanHolding | null
}

function heldIn(facts: BillingFacts, { plan, addOns, fromMs }: HeldSpan): Held[] {
  const fallbackId = facts.fallback.filter(one => one.fromMs <= fromMs).at(-1)?.versionId ?? null
  const holdings = plan === null ? addOns : [plan, ...addOns]
  const versions = holdings.map(holding => ({ holding, version: facts.versions.get(holding.versionId) }))
  const fallback = plan === null && fallbackId !== null ? facts.versions.get(fallbackId) : undefined
  return [...(fallback ? [{ holding: null, version: fallback }] : []), ...versions].filter(
    (one): one is Held => one.version !== undefined,
  )
}

function priced(facts: BillingFacts, span: HeldSpan): OfferedSegment[] {
  const segments: OfferedSegment[] = []
  const decided = new Set<string>()
  for (const { holding, version } of heldIn(facts, span))
    for (const entitlement of version.entitlements) {
      const { featureId, behavior, valueType } = entitlement
      if (decided.has(featureId)) continue
      const isMetered = behavior === 'pay_as_you_go' || behavior === 'tier' || behavior === 'overage'
      if (isMetered || (valueType === 'unlimited' && behavior === null)) decided.add(featureId)
      if (!isMetered) continue
      const by = subscriptionOf(span, holding)
      const currency =
        (by && paidInAt(facts, by.id, span.fromMs)) ?? currencyAt(facts, span.fromMs) ?? version.currency
      const price = priceIn(entitlement.prices, currency, by?.intervalMonths ?? 1)
      if (price === null) continue
      const { planId, versionId, version: number } = version
      segments.push({
        fromMs: span.fromMs,
        untilMs: span.untilMs,
        sold: { planId, versionId, version: number },
        entitlement,
        price,
        subscriptionId: by?.id ?? null,
        isTrial: holding?.trial?.status === 'active' || by?.status === 'trialing',
      })
    }
  return segments
}

function subscriptionOf(
  { subscriptions, billing }: HeldSpan,
  holding: PlanHolding | null,
): SubscriptionState | null {
  return subscriptions.find(one => one.id === holding?.subscriptionId) ?? billing
}

/** The price in a currency for an interval, else of the shortest interval; else that of another currency. source: PB-43, RA-6 */
export function priceIn(
  prices: readonly OfferedPrice[],
  currency: string,
  months: number,
): OfferedPrice | null {
  const own = prices.filter(price => price.currency === currency)
  const among = own.length > 0 ? own : prices
  return (
    among.find(price => price.months === months) ??
    [...among].sort((a, b) => (a.months ?? 1_000) - (b.months ?? 1_000))[0] ??
    null
  )
}

/**
 * The metric window around an instant: what is included is included once in each. All time has no bounds.
 *
 * source  RA-8; FE-50, FE-51.
 */
export function allowanceWindow(
  { metricPeriod, monthReset }: RatedEntitlement,
  periods: readonly BillingPeriod[],
  atMs: number,
): Window {
  const period = periods.find(one => one.startMs <= atMs && atMs < one.endMs)
  if (
    metricPeriod === 'current_month' &&
    monthReset === 'billing_cycle' &&
    period &&
    period.anchorMs !== null
  ) {
    const { startMs, nextMs } = monthsAround(period.anchorMs, 1, atMs)
    return { startMs: Math.max(startMs, period.startMs), nextMs: Math.min(nextMs, period.endMs) }
  }
  return (
    metricWindow(metricPeriod, 'first_of_month', null, atMs) ?? {
      startMs: 0,
      nextMs: Number.POSITIVE_INFINITY,
    }
  )
}

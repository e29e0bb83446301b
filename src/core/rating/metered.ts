// Units used, and what they cost: pay as you go, tiers, and overage beyond what is included.
import { monthStart, nextMonthStart, type Window } from '../values/period.js'
import type { UsageReader } from './facts.js'
import { type Fraction, minus, roundHalfUp, zero } from './fraction.js'
import type { ChargeKind, ChargeLine, EventSum } from './line.js'
import { type BillingPeriod, monthsAround } from './periods.js'
import { costOfUnits, tierParts } from './price.js'
import { allowanceWindow, isCountedAlike, isPricedAlike, type Segment } from './segments.js'

/** A window in which a feature is billed; its segments lie within it. */
export interface BilledWindow extends Window {
  readonly featureId: string
  readonly segments: readonly Segment[]
}

/** Segments of a feature cut to a stretch of time. */
function within(segments: readonly Segment[], { startMs, nextMs }: Window): Segment[] {
  return segments
    .filter(one => one.fromMs < nextMs && one.untilMs > startMs)
    .map(one => ({ ...one, fromMs: Math.max(one.fromMs, startMs), untilMs: Math.min(one.untilMs, nextMs) }))
}

/**
 * The windows in which a feature is billed, up to an instant: billing periods, and for overage the windows of its
 * cadence. A window ends where its company's billing period is cut.
 *
 * source  RA-8; EN-34.
 */
export function billedWindows(
  featureId: string,
  segments: readonly Segment[],
  periods: readonly BillingPeriod[],
  upToMs: number,
): BilledWindow[] {
  const windows = new Map<string, BilledWindow>()
  for (const segment of segments)
    for (const window of windowsOf(segment, periods, upToMs)) {
      const own = within([segment], window)
      if (own.length === 0) continue
      // windows of another cadence are others, even where they begin and end together
      const key = `${cadenceOf(segment)} ${window.startMs} ${window.nextMs}`
      const had = windows.get(key)
      windows.set(key, { ...window, featureId, segments: [...(had?.segments ?? []), ...own] })
    }
  return [...windows.values()]
}

function cadenceOf({ entitlement }: Segment): string {
  const { behavior, cadence, anchor } = entitlement
  return behavior === 'overage' && cadence !== 'end_of_billing_period' ? `${cadence} ${anchor}` : 'period'
}

function windowsOf(segment: Segment, periods: readonly BillingPeriod[], upToMs: number): Window[] {
  const { behavior, cadence, anchor } = segment.entitlement
  const calendar = anchor === 'month_end'
  const untilMs = Math.min(segment.untilMs, upToMs)
  const windows: Window[] = []
  for (const run of behavior === 'overage' && cadence !== 'end_of_billing_period'
    ? anchorRuns(periods)
    : periods) {
    if (run.startMs > untilMs || run.endMs <= segment.fromMs) continue
    if (behavior !== 'overage' || cadence === 'end_of_billing_period') {
      windows.push({ startMs: run.startMs, nextMs: run.endMs })
      continue
    }
    const months = cadence === 'quarterly' ? 3 : 1
    let startMs = run.startMs
    while (startMs < run.endMs && startMs <= untilMs) {
      const due = calendar
        ? calendarEnd(startMs, months)
        : monthsAround(run.anchorMs ?? monthStart(run.startMs), months, startMs).nextMs
      const nextMs = Math.min(due, run.endMs)
      if (nextMs > segment.fromMs) windows.push({ startMs, nextMs })
      startMs = nextMs
    }
  }
  return windows
}

/** Periods that follow each other on one anchor, as one: windows of several months go on through them. */
function anchorRuns(periods: readonly BillingPeriod[]): BillingPeriod[] {
  const runs: BillingPeriod[] = []
  for (const [i, period] of periods.entries()) {
    const last = runs.at(-1)
    const goesOn =
      last &&
      last.subscriptionId === period.subscriptionId &&
      last.anchorMs === period.anchorMs &&
      last.endMs === period.startMs
    // the running one goes on for as long as nothing cuts it
    const endMs = i === periods.length - 1 ? Number.POSITIVE_INFINITY : period.endMs
    if (goesOn) runs[runs.length - 1] = { ...last, endMs }
    else runs.push({ ...period, endMs })
  }
  return runs
}

function calendarEnd(startMs: number, months: number): number {
  if (months === 1) return nextMonthStart(startMs)
  const date = new Date(startMs)
  return Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3 + 3, 1)
}

/** The cost of a window's use: the unrounded part of a line for one segment. */
export interface Metered {
  readonly segment: Segment
  readonly kind: 'usage' | 'overage'
  readonly units: bigint
  /** Units of the run of equal prices before and after this segment. */
  readonly before: bigint
  readonly after: bigint
  readonly exact: Fraction
  readonly events: EventSum & { readonly before: bigint; readonly after: bigint }
}

/**
 * Rate one window, segment by segment, counting the events received before an instant.
 *
 * Tiers and packages go on through segments of one price, and begin anew with another. Units never fall below zero in
 * a window, so negative quantities lower what was used and no more.
 * source  RA-7, RA-8, RA-9.
 */
export function rateWindow(
  window: BilledWindow,
  periods: readonly BillingPeriod[],
  reader: UsageReader,
  receivedMs: number,
): Metered[] {
  const rated: Metered[] = []
  let run: { readonly last: Segment; readonly units: bigint; readonly fromMs: number } | null = null
  const last = window.segments.at(-1)!
  for (const segment of window.segments) {
    const { subtype, behavior } = segment.entitlement
    if (subtype === null && segment !== last) continue // a trait counts as it was last
    if (run === null || !goesOn(run.last, segment)) run = { last: segment, units: 0n, fromMs: segment.fromMs }
    const kind = behavior === 'overage' ? 'overage' : 'usage'
    const events = eventsOf(segment, reader, receivedMs)
    const counted =
      subtype === null
        ? countedTrait(segment, reader, Math.min(segment.untilMs, receivedMs))
        : countedIn(segment, subtype, run.fromMs, periods, reader, receivedMs)
    const units: bigint =
      behavior === 'overage' || subtype === null ? counted.over : counted.after - run.units
    const before: bigint = run.units
    const after: bigint = before + units
    run = { last: segment, units: after, fromMs: run.fromMs }
    rated.push({
      segment,
      kind,
      units,
      before,
      after,
      exact: minus(costOfUnits(segment.price, after), costOfUnits(segment.price, before)),
      events: { ...events, before: counted.from, after: counted.to },
    })
  }
  return rated
}

function goesOn(last: Segment, segment: Segment): boolean {
  return (
    last.untilMs === segment.fromMs &&
    isPricedAlike(last, segment) &&
    last.entitlement.behavior === segment.entitlement.behavior &&
    isCountedAlike(last, segment) &&
    last.isTrial === segment.isTrial
  )
}

interface Counted {
  /** Units used since the run of equal prices began, never below zero. */
  readonly after: bigint
  /** Units that the segment adds beyond what is included. */
  readonly over: bigint
  /** The counter before and after the segment. */
  readonly from: bigint
  readonly to: bigint
}

/** A trait counts as it was when the window closed or its plan was left, or as of now. source: RA-18 */
function countedTrait({ entitlement }: Segment, reader: UsageReader, beforeMs: number): Counted {
  const { trait, behavior, softLimit } = entitlement
  const value = trait === null ? 0n : atLeastZero(reader.trait(trait, beforeMs))
  const over = behavior === 'overage' ? atLeastZero(value - softLimit) : value
  return { after: over, over, from: 0n, to: value }
}

function countedIn(
  { entitlement, fromMs, untilMs }: Segment,
  subtype: string,
  runFromMs: number,
  periods: readonly BillingPeriod[],
  reader: UsageReader,
  receivedMs: number,
): Counted {
  const { behavior, softLimit } = entitlement
  const used = (from: number, until: number): bigint =>
    until <= from ? 0n : atLeastZero(reader.sum(subtype, from, until, receivedMs).quantity)
  if (behavior !== 'overage') {
    const after = used(runFromMs, untilMs)
    return { after, over: 0n, from: used(runFromMs, fromMs), to: after }
  }
  let over = 0n
  let first: bigint | null = null
  let to = 0n
  for (let atMs = fromMs; atMs < untilMs; ) {
    const { startMs, nextMs } = allowanceWindow(entitlement, periods, atMs)
    const endMs = Math.min(nextMs, untilMs)
    const from = used(startMs, atMs)
    to = used(startMs, endMs)
    first ??= from
    over += atLeastZero(to - softLimit) - atLeastZero(from - softLimit)
    atMs = endMs
  }
  return { after: over, over, from: first ?? 0n, to }
}

function eventsOf(
  { entitlement, fromMs, untilMs }: Segment,
  reader: UsageReader,
  receivedMs: number,
): EventSum {
  if (entitlement.subtype === null) return { quantity: 0n, count: 0, firstId: null, lastId: null }
  return reader.sum(entitlement.subtype, fromMs, untilMs, receivedMs)
}

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n)

/** The lines of a window as they are once it has closed, or as of now. source: RA-1, RA-10 */
export function meteredLines(rated: readonly Metered[], window: Window): ChargeLine[] {
  return rated.filter(({ units }) => units !== 0n).map(one => lineOf(one, one.kind, window))
}

export function lineOf(
  { segment, kind: of, units, before, after, exact, events }: Metered,
  kind: ChargeKind,
  { startMs, nextMs }: Window,
): ChargeLine {
  const { sold, entitlement, price, subscriptionId, isTrial, fromMs, untilMs } = segment
  const owed = isTrial ? zero : exact
  return {
    kind: isTrial && kind !== 'correction' ? 'trial' : kind,
    of,
    subscriptionId,
    sold,
    featureId: entitlement.featureId,
    creditId: null,
    bundleId: null,
    quantity: { n: units, d: 1n },
    unit: 'unit',
    price,
    currency: price.currency,
    tiers: isTrial ? [] : tierParts(price, before, after),
    exact: owed,
    amount: roundHalfUp(owed),
    fromMs,
    untilMs,
    dueMs: nextMs,
    proration: null,
    events: entitlement.subtype === null ? null : events,
    window: { startMs, nextMs },
    couponId: null,
  }
}

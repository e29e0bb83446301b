// Arithmetic of time series: buckets in UTC and the metric windows of their ends. No I/O.
import type { MetricPeriod, MonthReset, TimeSeriesGranularity } from '../../../schemas/enums.js'
import {
  anchorIn,
  type Cycle,
  dayMs,
  dayStart,
  hourMs,
  metricWindow,
  nextMonthStart,
  periodAt,
  type Window,
  weekMs,
  weekStart,
} from '../../core/values/period.js'
import { addQuantity, type Quantity, subtractQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'

/** Most buckets in one answer. source: US-12, US-22 */
export const bucketsMax = 366
/** Latest accepted instant, rounded down from the last hour that the stores can hold. */
const latestMs = Date.UTC(2100, 0, 1)

/** A requested range of time: [startMs, endMs), epoch ms. */
export interface Range {
  readonly startMs: number
  readonly endMs: number
}

/**
 * Check that a range is valid.
 *
 * errors  query_invalid (400) unless 1970 ≤ start < end ≤ 2100.
 * source  US-12; the limits: decision.
 */
export function requireRange({ startMs, endMs }: Range): void {
  if (startMs >= endMs) throw invalid('start_time must be before end_time')
  if (startMs < 0 || endMs > latestMs) throw invalid('start_time and end_time: from 1970 to 2100')
}

/**
 * requireRange, and ends that the stores know exactly: any instant since which events are kept, whole hours before.
 *
 * keptMs  the instant since which events are kept.
 * source  US-20.
 */
export function requireKnownEnds(range: Range, keptMs: number): void {
  requireRange(range)
  for (const [name, atMs] of [
    ['start_time', range.startMs],
    ['end_time', range.endMs],
  ] as const)
    if (atMs % hourMs !== 0 && atMs < keptMs)
      throw invalid(`${name} must lie on an hour boundary: events of that time are no longer kept`)
}

function invalid(message: string): ServiceError {
  return new ServiceError('query_invalid', message)
}

/**
 * The bounds of a range's buckets: its start, every boundary of the granularity inside it, its end.
 *
 * granularity  null: one bucket.
 * returns      ascending; bucket i is [bounds[i], bounds[i + 1]), the first and last clamped to the range.
 * errors       query_invalid (400) for more than 366 buckets.
 * source       US-11, US-12 (weeks begin on Sunday), US-20, US-22.
 */
export function bucketBounds({ startMs, endMs }: Range, granularity: TimeSeriesGranularity | null): number[] {
  const bounds = [startMs]
  if (granularity !== null)
    for (let at = boundaryAfter(startMs, granularity); at < endMs; at = boundaryAfter(at, granularity)) {
      if (bounds.length >= bucketsMax)
        throw invalid(`The window has more than ${bucketsMax} ${granularity} buckets`)
      bounds.push(at)
    }
  bounds.push(endMs)
  return bounds
}

function boundaryAfter(atMs: number, granularity: TimeSeriesGranularity): number {
  switch (granularity) {
    case 'hourly':
      return Math.floor(atMs / hourMs) * hourMs + hourMs
    case 'daily':
      return dayStart(atMs) + dayMs
    case 'weekly':
      return weekStart(atMs) + weekMs
    case 'monthly':
      return nextMonthStart(atMs)
  }
}

/**
 * The metric window that contains an instant, past or future.
 *
 * cycle    the current billing period; null: a billing cycle is the calendar month.
 * returns  null for all_time.
 * source   FE-50, FE-51. Earlier and later billing cycles are months of the subscription's anchor: decision, because
 *          older periods are not stored.
 */
export function windowAt(
  period: MetricPeriod,
  monthReset: MonthReset,
  cycle: Cycle | null,
  atMs: number,
): Window | null {
  if (period !== 'current_month' || monthReset !== 'billing_cycle' || cycle === null)
    return metricWindow(period, monthReset, cycle, atMs)
  if (atMs < cycle.startMs) {
    const { startMs, nextMs } = periodAt(anchorIn(cycle), 1, atMs)
    return { startMs, nextMs: Math.min(nextMs, cycle.startMs) }
  }
  const { startMs, nextMs } = periodAt(anchorIn(cycle), 1, atMs)
  if (atMs < cycle.endMs)
    return { startMs: Math.max(startMs, cycle.startMs), nextMs: Math.min(nextMs, cycle.endMs) }
  return { startMs: Math.max(startMs, cycle.endMs), nextMs }
}

/** One point of a series: its metric window and the end of its bucket. */
export interface Point {
  /** Exclusive. */
  readonly endMs: number
  readonly window: Window | null
}

/**
 * The points of a series: one per bucket, each in the window of the bucket's last instant.
 *
 * source  US-11; decision 16.
 */
export function pointsOf(
  bounds: readonly number[],
  metric: { readonly period: MetricPeriod; readonly monthReset: MonthReset } | null,
  cycle: Cycle | null,
): Point[] {
  return bounds.slice(1).map(endMs => ({
    endMs,
    window: metric && windowAt(metric.period, metric.monthReset, cycle, endMs - 1),
  }))
}

/** The instants between which usage must be known to compute every point. Ascending. */
export function boundsOfPoints(points: readonly Point[]): number[] {
  const bounds = new Set<number>()
  for (const { endMs, window } of points) bounds.add(window?.startMs ?? 0).add(endMs)
  return [...bounds].sort((a, b) => a - b)
}

/**
 * The value of each point: usage from the start of its window, or of all time, up to its end.
 *
 * bounds  as returned by `boundsOfPoints`.
 * usage   per interval between bounds, ascending; intervals without events may be missing. A start that was moved
 *         back to its hour, because the hour's events are gone, counts for the bound after it.
 */
export function cumulate(
  points: readonly Point[],
  bounds: readonly number[],
  usage: readonly { readonly startMs: number; readonly quantity: Quantity }[],
): Quantity[] {
  const before = new Map<number, Quantity>()
  let total: Quantity = 0
  let next = 0
  for (const bound of bounds) {
    before.set(bound, total)
    while (next < usage.length && usage[next]!.startMs <= bound)
      total = addQuantity(total, usage[next++]!.quantity)
  }
  return points.map(({ endMs, window }) =>
    subtractQuantity(before.get(endMs)!, before.get(window?.startMs ?? 0)!),
  )
}

// Periods in UTC milliseconds: metric windows, billing cycles, months that clamp and come back.
import type { MetricPeriod, MonthReset } from '../../../schemas/enums.js'

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000
export const weekMs = 7 * dayMs

/** A half-open stretch of time `[startMs, nextMs)`, epoch ms (FE-50). */
export interface Window {
  readonly startMs: number
  readonly nextMs: number
}

/** A billing period as windows need it: the subscription's start P and end Q, epoch ms (FE-51). */
export interface Cycle {
  readonly startMs: number
  readonly endMs: number
}

/** 00:00 UTC of the day. */
export function dayStart(atMs: number): number {
  return Math.floor(atMs / dayMs) * dayMs
}

/** 00:00 UTC of the last Sunday, today if Sunday (FE-50). */
export function weekStart(atMs: number): number {
  const day = Math.floor(atMs / dayMs)
  return (day - modulo(day + 4, 7)) * dayMs // day 0 was a Thursday
}

/** 00:00 UTC of the last Monday: the week of credit usage (US-7), not of metrics. */
export function mondayStart(atMs: number): number {
  const day = Math.floor(atMs / dayMs)
  return (day - modulo(day + 3, 7)) * dayMs
}

/** 00:00 UTC on the 1st of the month. */
export function monthStart(atMs: number): number {
  const days = Math.floor(atMs / dayMs)
  return (days - civil(days).day + 1) * dayMs
}

/** 00:00 UTC on the 1st of the next month. */
export function nextMonthStart(atMs: number): number {
  const { year, month } = civil(Math.floor(atMs / dayMs))
  return month === 12 ? daysOf(year + 1, 1, 1) * dayMs : daysOf(year, month + 1, 1) * dayMs
}

/**
 * The instant n months from an anchor, at the anchor's day of month and time.
 *
 * A day the month lacks is clamped to its last day; because every step is taken from the anchor, the original
 * day comes back afterwards (31 Jan → 28 Feb → 31 Mar). n may be negative.
 * source  FE-51, CR-40.
 */
export function addMonthsClamped(anchorMs: number, n: number): number {
  const days = Math.floor(anchorMs / dayMs)
  const { year, month, day } = civil(days)
  const months = year * 12 + (month - 1) + n
  const toYear = Math.floor(months / 12)
  const toMonth = modulo(months, 12) + 1
  return daysOf(toYear, toMonth, Math.min(day, daysIn(toYear, toMonth))) * dayMs + (anchorMs - days * dayMs)
}

/**
 * The latest recurrence of an anchor at or before an instant; the anchor itself when that lies before it.
 *
 * months  length of one step: 1, 3, 6, 12.
 */
export function recurrenceAtOrBefore(anchorMs: number, atMs: number, months = 1): number {
  if (atMs <= anchorMs) return anchorMs
  return addMonthsClamped(anchorMs, stepsTo(anchorMs, atMs, months) * months)
}

/** The first recurrence of an anchor after an instant; the anchor itself when that lies before it. */
export function recurrenceAfter(anchorMs: number, atMs: number, months = 1): number {
  if (atMs < anchorMs) return anchorMs
  return addMonthsClamped(anchorMs, (stepsTo(anchorMs, atMs, months) + 1) * months)
}

/** Whole steps of `months` from the anchor that fit before or at `atMs`, which is not before the anchor. */
function stepsTo(anchorMs: number, atMs: number, months: number): number {
  const from = civil(Math.floor(anchorMs / dayMs))
  const to = civil(Math.floor(atMs / dayMs))
  const steps = Math.floor(((to.year - from.year) * 12 + to.month - from.month) / months)
  return addMonthsClamped(anchorMs, steps * months) > atMs ? steps - 1 : steps
}

/**
 * The cycle to hand out while a subscription counts as active: never one that has ended.
 *
 * An end at or before now is replaced by the first monthly recurrence of the start after now.
 * source  FE-52, PB-57.
 */
export function runningCycle(startMs: number, endMs: number, nowMs: number): Cycle {
  return endMs > nowMs ? { startMs, endMs } : { startMs, endMs: recurrenceAfter(startMs, nowMs) }
}

/** The start of the billing-cycle window that holds now (FE-51). */
export function cycleStart(cycle: Cycle, nowMs: number): number {
  return cycle.startMs > nowMs ? monthStart(nowMs) : recurrenceAtOrBefore(cycle.startMs, nowMs)
}

/** The end of that window; capped at the cycle's end even when that is past (FE-51, FE-52). */
export function cycleNext(cycle: Cycle, nowMs: number): number {
  if (cycle.startMs > nowMs) return Math.min(cycle.startMs, nextMonthStart(nowMs))
  return Math.min(recurrenceAfter(cycle.startMs, nowMs), cycle.endMs)
}

/**
 * The bounds of a metric period at an instant.
 *
 * monthReset  has effect on `current_month` only (FE-53).
 * cycle       the running subscription's period, or null: then a billing cycle is the calendar month.
 * returns     the window, or null for `all_time`, which has no bounds.
 * source      FE-50, FE-51, FE-53.
 */
export function metricWindow(
  period: MetricPeriod,
  monthReset: MonthReset,
  cycle: Cycle | null,
  nowMs: number,
): Window | null {
  switch (period) {
    case 'all_time':
      return null
    case 'current_day': {
      const startMs = dayStart(nowMs)
      return { startMs, nextMs: startMs + dayMs }
    }
    case 'current_week': {
      const startMs = weekStart(nowMs)
      return { startMs, nextMs: startMs + weekMs }
    }
    case 'current_month':
      if (monthReset === 'billing_cycle' && cycle !== null)
        return { startMs: cycleStart(cycle, nowMs), nextMs: cycleNext(cycle, nowMs) }
      return { startMs: monthStart(nowMs), nextMs: nextMonthStart(nowMs) }
  }
}

/** The end of a metric period at an instant, or null for `all_time`: `metric_reset_at`. Allocates nothing. */
export function metricReset(
  period: MetricPeriod,
  monthReset: MonthReset,
  cycle: Cycle | null,
  nowMs: number,
): number | null {
  switch (period) {
    case 'all_time':
      return null
    case 'current_day':
      return dayStart(nowMs) + dayMs
    case 'current_week':
      return weekStart(nowMs) + weekMs
    case 'current_month':
      if (monthReset === 'billing_cycle' && cycle !== null) return cycleNext(cycle, nowMs)
      return nextMonthStart(nowMs)
  }
}

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
export function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** Days of a month, 28 to 31. */
export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Year, month and day of a day number: the inverse of `daysOf`. Date would do it too, five times slower. */
function civil(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

function modulo(value: number, by: number): number {
  return value - Math.floor(value / by) * by
}

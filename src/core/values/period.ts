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
  /** Its day of month and time begin every month of the subscription; absent: as the bounds show it (decision 34). */
  readonly anchorMs?: number
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
 * The billing period that holds an instant: the one arithmetic of months that windows, renewals, plan grants and
 * rating share.
 *
 * Periods begin on the day and time of the anchor, a day that a month lacks being its last one; so 31 Jan, 28 Feb,
 * 31 Mar follow each other, and a year has twelve months and four quarters from any anchor.
 *
 * anchorMs  gives day of month and time (`billingAnchor` of a subscription). It may lie before or after the instant.
 * months    length of a period: 1, 3, 6, 12.
 * atMs      the instant, before or after the anchor.
 * phaseMs   one period begins in the month of this instant, for periods of several months; absent: of the anchor.
 * returns   `[startMs, nextMs)`, epoch ms.
 * source    FE-51, CR-40, decision 34.
 */
export function periodAt(anchorMs: number, months: number, atMs: number, phaseMs = anchorMs): Window {
  const phase = monthOf(anchorMs, phaseMs)
  const current = phase + Math.floor((monthOf(anchorMs, atMs) - phase) / months) * months
  return { startMs: inMonth(anchorMs, current), nextMs: inMonth(anchorMs, current + months) }
}

/** The latest instant at or before another on which months of an anchor begin; the anchor may be later. */
function anchoredAtOrBefore(anchorMs: number, atMs: number): number {
  return inMonth(anchorMs, monthOf(anchorMs, atMs))
}

/** The first instant after another on which months of an anchor begin; the anchor may be later. */
export function anchoredAfter(anchorMs: number, atMs: number): number {
  return inMonth(anchorMs, monthOf(anchorMs, atMs) + 1)
}

/** Whether months of an anchor begin at an instant. */
export function isOn(anchorMs: number, atMs: number): boolean {
  return anchoredAtOrBefore(anchorMs, atMs) === atMs
}

/**
 * The anchor that the bounds of a period show: of both the one with the later day, if the other follows from it by
 * whole months (28 Feb to 31 Mar: the 31st), else the start.
 *
 * source  decision 34.
 */
export function anchorOf(startMs: number, endMs: number): number {
  return dayOfMonth(endMs) > dayOfMonth(startMs) && isOn(endMs, startMs) ? endMs : startMs
}

/**
 * The anchor of a period that follows another: the one known as long as either bound lies on it, else the one that
 * the bounds show.
 */
export function anchorKept(knownMs: number | null, startMs: number, endMs: number): number {
  if (knownMs !== null && (isOn(knownMs, startMs) || isOn(knownMs, endMs)))
    return laterDay(knownMs, startMs, endMs) ?? knownMs
  return anchorOf(startMs, endMs)
}

/**
 * The anchor that the bounds of a period show, where it has a later day than one that is known, which is then the last day
 * of a short month (28 Feb, and 28 Feb to 31 Mar: the 31st); null: they show no such day.
 *
 * source  decision 34.
 */
export function laterDay(knownMs: number, startMs: number, endMs: number): number | null {
  const shownMs = anchorOf(startMs, endMs)
  return dayOfMonth(shownMs) > dayOfMonth(knownMs) && isOn(shownMs, knownMs) ? shownMs : null
}

/** The month in which the latest month of an anchor before or at an instant begins, counted from year 0. */
function monthOf(anchorMs: number, atMs: number): number {
  const { year, month } = civil(Math.floor(atMs / dayMs))
  const own = year * 12 + month - 1
  return inMonth(anchorMs, own) > atMs ? own - 1 : own
}

/** Where the month of an anchor begins in a month counted from year 0. */
function inMonth(anchorMs: number, index: number): number {
  const days = Math.floor(anchorMs / dayMs)
  const [year, month] = [Math.floor(index / 12), modulo(index, 12) + 1]
  const day = Math.min(civil(days).day, daysIn(year, month))
  return daysOf(year, month, day) * dayMs + (anchorMs - days * dayMs)
}

function dayOfMonth(atMs: number): number {
  return civil(Math.floor(atMs / dayMs)).day
}

/**
 * The first recurrence of an anchor after an instant; the anchor itself when that lies before it.
 *
 * months  length of one step: 1, 3, 6, 12.
 */
export function recurrenceAfter(anchorMs: number, atMs: number, months = 1): number {
  return atMs < anchorMs ? anchorMs : periodAt(anchorMs, months, atMs).nextMs
}

/**
 * An anchor of the same day and time from which steps of several months reach an instant, though its month may lack
 * the day: 31 Aug for quarters that begin on 28 Feb with the 31st.
 *
 * returns  epoch ms, at or before phaseMs; with the longest day there is, where no such month has the anchor's.
 */
export function anchorInPhase(anchorMs: number, months: number, phaseMs: number): number {
  const phase = monthOf(anchorMs, phaseMs)
  const day = dayOfMonth(anchorMs)
  let best = inMonth(anchorMs, phase)
  for (let k = 1; k <= 8 && dayOfMonth(best) < day; k++) {
    const other = inMonth(anchorMs, phase - k * months)
    if (dayOfMonth(other) > dayOfMonth(best)) best = other
  }
  return best
}

/**
 * The cycle to hand out while a subscription counts as active: never one that has ended.
 *
 * An end at or before now is replaced by the next month of the anchor (absent: as the bounds show it).
 * source  FE-52, PB-57.
 */
export function runningCycle(
  startMs: number,
  endMs: number,
  nowMs: number,
  anchorMs = anchorOf(startMs, endMs),
): Cycle {
  return { startMs, endMs: endMs > nowMs ? endMs : anchoredAfter(anchorMs, nowMs), anchorMs }
}

/** The start of the billing-cycle window that holds now (FE-51). */
export function cycleStart(cycle: Cycle, nowMs: number): number {
  const { startMs } = cycle
  return startMs > nowMs ? monthStart(nowMs) : Math.max(startMs, anchoredAtOrBefore(anchorIn(cycle), nowMs))
}

/** The end of that window; capped at the cycle's end even when that is past (FE-51, FE-52). */
export function cycleNext(cycle: Cycle, nowMs: number): number {
  const { startMs, endMs } = cycle
  if (startMs > nowMs) return Math.min(startMs, nextMonthStart(nowMs))
  return Math.min(anchoredAfter(anchorIn(cycle), nowMs), endMs)
}

/** The anchor of a period. */
export function anchorIn({ startMs, endMs, anchorMs }: Cycle): number {
  return anchorMs ?? anchorOf(startMs, endMs)
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

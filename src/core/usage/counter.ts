// Counters: a company's use of one event, over all time and in the current windows (US-1, US-2).
import type { MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import {
  type Counter,
  type CounterReading,
  Counters,
  cycleLength,
  isAnyLarge,
  plainLength,
} from '../model/counters.js'
import type { EventMode } from '../model/requests.js'
import {
  type Cycle,
  cycleNext,
  cycleStart,
  dayMs,
  dayStart,
  monthStart,
  nextMonthStart,
  weekMs,
  weekStart,
} from '../values/period.js'
import { addQuantity, type Quantity, quantityMax, quantityOf, subtractQuantity } from '../values/quantity.js'

/**
 * The fields of one counter: all of them lie in one list per company (counters.ts). Change them by `addUsage` alone.
 *
 *   created | all time: value min max | day: start value min max | week: value min max | month: value min max
 *
 * and where a company has a running subscription:
 *
 *   billing cycle: start next value min max | estimated
 *
 * min and max are captured times in epoch ms, 0 before the first event. Week and month are those of the day. The cycle
 * is five zeros while the company has no running subscription: its billing cycle is then the calendar month (FE-51).
 * `estimated` is 1 when the cycle's start moved to where the windows cannot tell its value exactly: to be recounted
 * (US-3). Events dated after the end of a current window lie beside the fields (`Counter.ahead`).
 * Invariant: a window holds exactly the events seen so far whose effective time lies in it, whatever order they
 * came in; only a cycle whose start has moved may be estimated, and then says so.
 */
const created = 0
const allTime = 1
const dayAt = 4
/** Windows: index of value, min and max. */
const day = 5
const week = 8
const month = 11
const cycleAt = plainLength
const cycleEnd = 15
const cycleValues = 16
const estimate = 19

// Offsets inside a window.
const min = 1
const max = 2

/** A clock may step back by this much without a window being begun again. */
const stepBackMs = 300_000

/** A counter of its own that has seen nothing. */
export function newCounter(nowMs: number): Counter {
  return new Counters().add('', nowMs)
}

/** The latest time of any of its events, epoch ms; 0 before the first. */
export function lastUseMs(counter: Counter): number {
  return counter.number(allTime + max)
}

/** Whether the cycle's value waits to be recounted (US-3). */
export function isEstimated(counter: Counter): boolean {
  return counter.hasCycle && counter.number(estimate) === 1
}

/**
 * Count a quantity at its effective time.
 *
 * Adds to every window that holds the time: late events to the windows still open for them, events ahead of now
 * also to windows that have not begun yet, once they do. Commutative.
 * quantity  may be negative; `fitsUsage` has said that no value leaves 64 bits.
 * atMs      effective time (EV-15), epoch ms, at most five minutes after nowMs.
 * nowMs     epoch ms; windows roll by it.
 * cycle     the running subscription's period (`cycleOf`), or null.
 * source    EV-15…17, EV-46, EV-58…60, US-1.
 */
export function addUsage(
  counter: Counter,
  quantity: Quantity,
  atMs: number,
  nowMs: number,
  cycle: Cycle | null,
): void {
  roll(counter, nowMs, cycle)
  const n = counter
  if (nowMs < n.number(created)) n.setNumber(created, nowMs)
  n.count(allTime, quantity, atMs)
  const startMs = n.number(dayAt)
  const early = atMs >= startMs + dayMs
  if (!early && atMs >= startMs) {
    n.count(day, quantity, atMs)
    n.count(week, quantity, atMs)
    n.count(month, quantity, atMs)
  } else {
    if (isSameWeek(startMs, atMs)) n.count(week, quantity, atMs)
    if (isSameMonth(startMs, atMs)) n.count(month, quantity, atMs)
  }
  if (!n.hasCycle) {
    if (early) n.keepAhead(atMs, quantity)
    return
  }
  const endMs = n.number(cycleEnd)
  if (early || atMs >= endMs) n.keepAhead(atMs, quantity)
  if (atMs < endMs && atMs >= n.number(cycleAt)) n.count(cycleValues, quantity, atMs)
}

/**
 * Whether a quantity can be counted: every value stays within ±(2^63 − 1), now and as windows begin in which events
 * dated ahead lie. Changes nothing; arguments as those of `addUsage`.
 *
 * source  a long has 64 bits; a value that does not fit is refused, not cut off: decision.
 */
export function fitsUsage(
  counter: Readonly<Counter> | undefined,
  quantity: Quantity,
  atMs: number,
  nowMs: number,
  cycle: Cycle | null,
): boolean {
  if (counter === undefined || (typeof quantity === 'number' && !(isAnyLarge() && counter.isLarge)))
    return true
  const n = draftOf(counter)
  addUsage(n, quantity, atMs, nowMs, cycle)
  let more = 0n
  let less = 0n
  for (let i = 0; i < n.ahead.length; i += 2) {
    const ahead = BigInt(n.ahead[i + 1]!)
    if (ahead > 0n) more += ahead
    else less += ahead
  }
  return [allTime, day, week, month, ...(n.hasCycle ? [cycleValues] : [])].every(at => {
    const value = BigInt(n.value(at))
    return (
      value + (at === allTime ? 0n : more) <= quantityMax &&
      value + (at === allTime ? 0n : less) >= -quantityMax
    )
  })
}

/**
 * Value of a counter at an instant. Changes nothing.
 *
 * A window that has ended reads as the new one: 0 plus the events already dated into it (FE-5). A month reset other
 * than `first_of_month` on a period other than month reads 0 (FE-43).
 */
export function readCounter(
  counter: Counter,
  period: MetricPeriod,
  monthReset: MonthReset,
  nowMs: number,
  cycle: Cycle | null,
): Quantity {
  const n = counter
  if (period === 'current_month') {
    if (monthReset === 'first_of_month' || cycle === null) {
      if (holds(n, nowMs) || isSameMonth(n.number(dayAt), nowMs)) return n.value(month)
      return aheadWithin(counter, monthStart(nowMs), nextMonthStart(nowMs))
    }
    const startMs = cycleStart(cycle, nowMs)
    if (!keeps(n, startMs, nowMs)) return cycleReading(counter, startMs, cycleNext(cycle, nowMs)).value
    if (n.ahead.length === 0) return n.value(cycleValues)
    return addQuantity(n.value(cycleValues), aheadWithin(n, n.number(cycleEnd), cycleNext(cycle, nowMs)))
  }
  if (monthReset !== 'first_of_month') return 0
  if (period === 'all_time') return n.value(allTime)
  if (period === 'current_day') {
    if (holds(n, nowMs)) return n.value(day)
    return aheadWithin(counter, dayStart(nowMs), dayStart(nowMs) + dayMs)
  }
  if (holds(n, nowMs) || isSameWeek(n.number(dayAt), nowMs)) return n.value(week)
  return aheadWithin(counter, weekStart(nowMs), weekStart(nowMs) + weekMs)
}

/** All five windows as they read at an instant (US-1, US-2). Changes nothing. */
export function readAll(counter: Counter, nowMs: number, cycle: Cycle | null): CounterReading[] {
  const n = draftOf(counter)
  roll(n, nowMs, cycle)
  const reading = (
    period: MetricPeriod,
    monthReset: MonthReset,
    at: number,
    validUntilMs: number | null,
  ): CounterReading => ({
    period,
    monthReset,
    value: n.value(at),
    capturedAtMinMs: n.number(at + min) || null,
    capturedAtMaxMs: n.number(at + max) || null,
    createdAtMs: n.number(created),
    validUntilMs,
  })
  const startMs = n.number(dayAt)
  const monthEndMs = nextMonthStart(startMs)
  return [
    reading('all_time', 'first_of_month', allTime, null),
    reading('current_day', 'first_of_month', day, startMs + dayMs),
    reading('current_week', 'first_of_month', week, weekStart(startMs) + weekMs),
    reading('current_month', 'first_of_month', month, monthEndMs),
    cycle === null
      ? reading('current_month', 'billing_cycle', month, monthEndMs)
      : reading('current_month', 'billing_cycle', cycleValues, n.number(cycleEnd)),
  ]
}

/**
 * Whether the billing-cycle value would be an estimate at this instant: the cycle began inside windows whose
 * parts the counter did not keep. Then recount it from the hourly buckets and `setCycleUsage` (US-3).
 */
export function needsRecount(counter: Counter, nowMs: number, cycle: Cycle | null): boolean {
  if (cycle === null) return false
  const startMs = cycleStart(cycle, nowMs)
  if (keeps(counter, startMs, nowMs)) return isEstimated(counter)
  return !cycleReading(counter, startMs, cycleNext(cycle, nowMs)).exact
}

/**
 * Put a recounted billing-cycle value in place (US-3).
 *
 * startMs  the window it was counted for; a window that has rolled on meanwhile is left alone.
 * counted  events with time in [startMs, nowMs]; times 0 when there are none.
 */
export function setCycleUsage(
  counter: Counter,
  startMs: number,
  counted: { readonly value: Quantity; readonly minMs: number; readonly maxMs: number },
  nowMs: number,
  cycle: Cycle | null,
): void {
  roll(counter, nowMs, cycle)
  if (!counter.hasCycle || counter.number(cycleAt) !== startMs) return
  counter.setValue(cycleValues, counted.value)
  counter.setNumber(cycleValues + min, counted.minMs)
  counter.setNumber(cycleValues + max, counted.maxMs)
  counter.setNumber(estimate, 0)
}

/**
 * The value of a billing cycle: everything ever counted, less what came before the cycle, less what is dated after
 * it. Exact, whatever was counted since the question to the history.
 *
 * before   quantity of all events before startMs.
 * firstMs  time of the first event since, epoch ms; null without one.
 * source   US-3.
 */
export function cycleUsageSince(
  counter: Counter,
  before: Quantity,
  firstMs: number | null,
  startMs: number,
  nowMs: number,
  cycle: Cycle,
): { value: Quantity; minMs: number; maxMs: number } {
  const n = counter
  const last = n.number(allTime + max)
  const beyond = aheadWithin(counter, cycleNext(cycle, nowMs), Number.POSITIVE_INFINITY)
  const maxMs = last < startMs ? 0 : last
  const value = subtractQuantity(subtractQuantity(n.value(allTime), before), beyond)
  return { value, minMs: maxMs === 0 ? 0 : Math.min(firstMs ?? last, last), maxMs }
}

/** Effects of an event of each mode beside counting (EV-16). */
export function effectsOf(mode: EventMode): ModeEffects {
  return mode === 'backfill' ? past : live
}

interface ModeEffects {
  readonly draws: boolean
  readonly seen: boolean
}

const live: ModeEffects = { draws: true, seen: true }
const past: ModeEffects = { draws: false, seen: false }

/** Where one counter is rolled or counted on without a change of the company: used up before the next is asked for. */
const draft = new Counters().add('', 0)
draft.all.makeRoomForCycles()

function draftOf(counter: Counter): Counter {
  draft.all.become(counter)
  return draft
}

/** Bring every window to the one that holds now. */
function roll(n: Counter, nowMs: number, cycle: Cycle | null): void {
  // the cycle first: a new one is derived from the other windows, which know most before they turn
  if (cycle !== null) rollCycle(n, nowMs, cycle)
  else if (n.hasCycle) for (let field = cycleAt; field < cycleLength; field++) n.setNumber(field, 0)
  if (!holds(n, nowMs)) {
    const before = n.number(dayAt)
    const startMs = dayStart(nowMs)
    n.setNumber(dayAt, startMs)
    begin(n, day, startMs, startMs + dayMs)
    const weekMsFrom = weekStart(startMs)
    if (!isSameWeek(startMs, before)) begin(n, week, weekMsFrom, weekMsFrom + weekMs)
    if (!isSameMonth(startMs, before)) begin(n, month, monthStart(startMs), nextMonthStart(startMs))
  }
  const { ahead } = n
  if (ahead.length > 0) {
    // once the present has reached an event every window either holds it or is past it
    let passed = 0
    while (passed < ahead.length && (ahead[passed] as number) <= nowMs) passed += 2
    if (passed > 0) n.setAhead(ahead.slice(passed))
  }
}

function rollCycle(n: Counter, nowMs: number, cycle: Cycle): void {
  const startMs = cycleStart(cycle, nowMs)
  const endMs = cycleNext(cycle, nowMs)
  if (keeps(n, startMs, nowMs)) {
    if (n.number(cycleAt) !== startMs) return
    const was = n.number(cycleEnd)
    n.setNumber(cycleEnd, endMs) // the subscription's end may have moved
    takeAhead(n, cycleValues, was, endMs)
    return
  }
  const reading = cycleReading(n, startMs, endMs)
  n.all.makeRoomForCycles()
  n.setNumber(cycleAt, startMs)
  n.setNumber(cycleEnd, endMs)
  n.setValue(cycleValues, reading.value)
  n.setNumber(cycleValues + min, reading.minMs)
  n.setNumber(cycleValues + max, reading.maxMs)
  n.setNumber(estimate, reading.exact ? 0 : 1)
}

/** Whether the stored cycle window is the one with this start, or the clock only stepped back a little. */
function keeps(n: Counter, startMs: number, nowMs: number): boolean {
  if (!n.hasCycle) return false
  const had = n.number(cycleAt)
  return had === startMs || (startMs < had && nowMs < had && nowMs >= had - stepBackMs)
}

interface CycleReading {
  readonly value: Quantity
  readonly minMs: number
  readonly maxMs: number
  readonly exact: boolean
}

/**
 * Value of a billing-cycle window other than the stored one, derived from the existing windows.
 *
 * Exact, except when the cycle starts between events of one window that no other window separates, or before all
 * windows while older events exist.
 */
function cycleReading(n: Counter, startMs: number, nextMs: number): CycleReading {
  const total = n.value(allTime)
  const [first, last] = [n.number(allTime + min), n.number(allTime + max)]
  if (last < startMs) return { value: 0, minMs: 0, maxMs: 0, exact: true }
  if (first >= startMs && last < nextMs) return { value: total, minMs: first, maxMs: last, exact: true }
  // the ordinary turn: any event since the last window's end would have turned it
  if (n.hasCycle && startMs >= n.number(cycleEnd)) return withAhead(n, 0, 0, 0, startMs, nextMs, true)
  let around: Span | null = null // the smallest window that holds the start
  let inside: Span | null = null // the largest window that begins after it
  for (const span of spansOf(n)) {
    if (span.fromMs > startMs) inside = inside === null || span.fromMs < inside.fromMs ? span : inside
    else if (around === null || span.fromMs > around.fromMs) around = span
  }
  const { fromMs, toMs, at } = (around ?? inside)!
  const held = n.value(at)
  const [minMs, maxMs] = [n.number(at + min), n.number(at + max)]
  const restMs = Math.max(startMs, toMs)
  if (minMs === 0 || maxMs < startMs) return withAhead(n, 0, 0, 0, restMs, nextMs, around !== null)
  if (minMs >= startMs || fromMs === startMs)
    return withAhead(n, held, minMs, maxMs, restMs, nextMs, around !== null)
  // some lie before the start: as if they had come evenly, until they are recounted
  const share = portion(held, maxMs - startMs, maxMs - minMs)
  return withAhead(n, share, startMs, maxMs, restMs, nextMs, false)
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** Where its values lie. */
  readonly at: number
}

function spansOf(n: Counter): Span[] {
  const startMs = n.number(dayAt)
  const weekFromMs = weekStart(startMs)
  const spans = [
    { fromMs: startMs, toMs: startMs + dayMs, at: day },
    { fromMs: weekFromMs, toMs: weekFromMs + weekMs, at: week },
    { fromMs: monthStart(startMs), toMs: nextMonthStart(startMs), at: month },
  ]
  return n.hasCycle
    ? [...spans, { fromMs: n.number(cycleAt), toMs: n.number(cycleEnd), at: cycleValues }]
    : spans
}

/** A partial reading and the events dated into [fromMs, toMs) that no window holds yet. */
function withAhead(
  n: Counter,
  had: Quantity,
  minMs: number,
  maxMs: number,
  fromMs: number,
  toMs: number,
  exact: boolean,
): CycleReading {
  let sum = had
  let first = minMs
  let last = maxMs
  const { ahead } = n
  for (let i = 0; i < ahead.length; i += 2) {
    const atMs = ahead[i] as number
    if (atMs < fromMs || atMs >= toMs) continue
    sum = addQuantity(sum, ahead[i + 1]!)
    if (first === 0 || atMs < first) first = atMs
    if (atMs > last) last = atMs
  }
  return { value: sum, minMs: first, maxMs: last, exact }
}

/** Whether the windows are those of this instant. A clock that stepped back a little does not begin them again. */
function holds(n: Counter, nowMs: number): boolean {
  const startMs = n.number(dayAt)
  return nowMs < startMs + dayMs && nowMs >= startMs - stepBackMs
}

function isSameWeek(oneMs: number, otherMs: number): boolean {
  const startMs = weekStart(oneMs)
  return otherMs >= startMs && otherMs < startMs + weekMs
}

/** The month asked for last: it is nearly always the present one. */
let monthFromMs = 0
let monthToMs = 0

function isSameMonth(oneMs: number, otherMs: number): boolean {
  if (otherMs < monthFromMs || otherMs >= monthToMs) {
    monthFromMs = monthStart(otherMs)
    monthToMs = nextMonthStart(otherMs)
  }
  return oneMs >= monthFromMs && oneMs < monthToMs
}

function begin(n: Counter, w: number, startMs: number, nextMs: number): void {
  n.setValue(w, 0)
  n.setNumber(w + min, 0)
  n.setNumber(w + max, 0)
  takeAhead(n, w, startMs, nextMs)
}

function takeAhead(n: Counter, w: number, fromMs: number, toMs: number): void {
  const { ahead } = n
  for (let i = 0; i < ahead.length; i += 2) {
    const atMs = ahead[i] as number
    if (atMs >= fromMs && atMs < toMs) n.count(w, ahead[i + 1]!, atMs)
  }
}

function aheadWithin({ ahead }: Counter, fromMs: number, toMs: number): Quantity {
  let sum: Quantity = 0
  for (let i = 0; i < ahead.length; i += 2) {
    const atMs = ahead[i] as number
    if (atMs >= fromMs && atMs < toMs) sum = addQuantity(sum, ahead[i + 1]!)
  }
  return sum
}

/** value × part / whole, to the nearest integer. */
function portion(value: Quantity, part: number, whole: number): Quantity {
  const near = typeof value === 'number' ? Math.round((value * part) / whole) : Number.NaN
  return Number.isSafeInteger(near) ? near : quantityOf((BigInt(value) * BigInt(part)) / BigInt(whole))
}

// Counters: what a company used of one event, over all time and in the current windows (US-1, US-2).
import type { MetricPeriod, MonthReset } from '../../schemas/enums.js'
import type { EventMode } from './message.js'
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
} from './period.js'

/**
 * The counters of one (company, event subtype). Plain JSON; change it by `addUsage` alone.
 *
 * `n` is one flat list of numbers, because there are millions of these:
 *
 *   created | all time: value min max | day | week | month | billing cycle     each: start next value min max
 *
 * min and max are captured times in epoch ms, 0 before the first event. The cycle's five are absent while the
 * company has no running subscription: its billing cycle is then the calendar month (FE-51).
 * Invariant: a window holds exactly the events seen so far whose effective time lies in it, whatever order they
 * came in; only a cycle whose start has moved may be estimated, and then says so.
 */
export interface Counter {
  readonly n: number[]
  /** Events dated after the end of a current window, as time, quantity, time, quantity…, ascending. */
  ahead: number[] | null
  /** The cycle's start moved to where the windows cannot tell its value exactly: to be recounted (US-3). */
  estimated?: true
}

/** One window of a counter as it reads at an instant. */
export interface CounterReading {
  readonly period: MetricPeriod
  readonly monthReset: MonthReset
  readonly value: number
  /** First and last event time inside the window, epoch ms; null without events. */
  readonly capturedAtMinMs: number | null
  readonly capturedAtMaxMs: number | null
  readonly createdAtMs: number
  /** End of the window; null for all_time (US-2). */
  readonly validUntilMs: number | null
}

const allTime = 1
const day = 4
const week = 9
const month = 14
const cycleAt = 19
const withoutCycle = 19

// Offsets inside a window.
const next = 1
const value = 2
const min = 3
const max = 4

/** A clock may step back by this much without a window being begun again. */
const stepBackMs = 300_000

/** A counter that has seen nothing. */
export function newCounter(nowMs: number): Counter {
  return { n: [nowMs, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], ahead: null }
}

/**
 * Count a quantity at its effective time.
 *
 * Adds to every window that holds the time: late events to the windows still open for them, events ahead of now
 * also to windows that have not begun yet, once they do. Commutative.
 * quantity  integer, may be negative. A value that would leave ±(2^53 − 1) stays at that bound.
 * atMs      effective time (EV-15), epoch ms, at most five minutes after nowMs.
 * nowMs     epoch ms; windows roll by it.
 * cycle     the running subscription's period (`cycleOf`), or null.
 * source    EV-15…17, EV-46, EV-58…60, US-1.
 */
export function addUsage(
  counter: Counter,
  quantity: number,
  atMs: number,
  nowMs: number,
  cycle: Cycle | null,
): void {
  roll(counter, nowMs, cycle)
  const n = counter.n
  if (nowMs < n[0]!) n[0] = nowMs
  n[allTime] = bounded(n[allTime]! + quantity)
  if (n[allTime + 1] === 0 || atMs < n[allTime + 1]!) n[allTime + 1] = atMs
  if (atMs > n[allTime + 2]!) n[allTime + 2] = atMs
  let ahead = false
  for (let w = day; w < n.length; w += 5) {
    if (atMs >= n[w + next]!) ahead = true
    else if (atMs >= n[w]!) count(n, w, quantity, atMs)
  }
  if (ahead) keepAhead(counter, atMs, quantity)
}

/**
 * What a counter reads at an instant. Changes nothing.
 *
 * A window that has ended reads as the new one: 0 and what was already dated into it (FE-5). A month reset other
 * than `first_of_month` on a period that is no month finds nothing: 0 (FE-43).
 */
export function readCounter(
  counter: Counter,
  period: MetricPeriod,
  monthReset: MonthReset,
  nowMs: number,
  cycle: Cycle | null,
): number {
  const n = counter.n
  if (period === 'current_month') {
    if (monthReset === 'first_of_month' || cycle === null) {
      if (holds(n, month, nowMs)) return n[month + value]!
      return aheadWithin(counter, monthStart(nowMs), nextMonthStart(nowMs))
    }
    const startMs = cycleStart(cycle, nowMs)
    if (!keeps(n, startMs, nowMs)) return cycleReading(counter, startMs, cycleNext(cycle, nowMs)).value
    if (counter.ahead === null) return n[cycleAt + value]!
    return bounded(n[cycleAt + value]! + aheadWithin(counter, n[cycleAt + next]!, cycleNext(cycle, nowMs)))
  }
  if (monthReset !== 'first_of_month') return 0
  if (period === 'all_time') return n[allTime]!
  if (period === 'current_day') {
    if (holds(n, day, nowMs)) return n[day + value]!
    return aheadWithin(counter, dayStart(nowMs), dayStart(nowMs) + dayMs)
  }
  if (holds(n, week, nowMs)) return n[week + value]!
  return aheadWithin(counter, weekStart(nowMs), weekStart(nowMs) + weekMs)
}

/** All five windows as they read at an instant (US-1, US-2). Changes nothing. */
export function readAll(counter: Counter, nowMs: number, cycle: Cycle | null): CounterReading[] {
  const copy: Counter = { n: [...counter.n], ahead: counter.ahead && [...counter.ahead] }
  roll(copy, nowMs, cycle)
  const { n } = copy
  const reading = (
    period: MetricPeriod,
    monthReset: MonthReset,
    at: number,
    validUntilMs: number | null,
  ): CounterReading => ({
    period,
    monthReset,
    value: n[at]!,
    capturedAtMinMs: n[at + 1] || null,
    capturedAtMaxMs: n[at + 2] || null,
    createdAtMs: n[0]!,
    validUntilMs,
  })
  const billing = cycle === null ? month : cycleAt
  return [
    reading('all_time', 'first_of_month', allTime, null),
    reading('current_day', 'first_of_month', day + value, n[day + next]!),
    reading('current_week', 'first_of_month', week + value, n[week + next]!),
    reading('current_month', 'first_of_month', month + value, n[month + next]!),
    reading('current_month', 'billing_cycle', billing + value, n[billing + next]!),
  ]
}

/**
 * Whether the billing-cycle value would be an estimate at this instant: the cycle began inside windows whose
 * parts the counter did not keep. Then recount it from the hourly buckets and `setCycleUsage` (US-3).
 */
export function needsRecount(counter: Counter, nowMs: number, cycle: Cycle | null): boolean {
  if (cycle === null) return false
  const startMs = cycleStart(cycle, nowMs)
  if (keeps(counter.n, startMs, nowMs)) return counter.estimated === true
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
  counted: { readonly value: number; readonly minMs: number; readonly maxMs: number },
  nowMs: number,
  cycle: Cycle | null,
): void {
  roll(counter, nowMs, cycle)
  const n = counter.n
  if (n.length === withoutCycle || n[cycleAt] !== startMs) return
  n[cycleAt + value] = bounded(counted.value)
  n[cycleAt + min] = counted.minMs
  n[cycleAt + max] = counted.maxMs
  delete counter.estimated
}

/**
 * The value of a billing cycle, told from what came before it: all that was ever counted, less that, less what is
 * dated beyond the cycle. Exact whatever was counted since the question was asked.
 *
 * before   quantity of all events before startMs.
 * firstMs  time of the first event since, epoch ms; null without one.
 * source   US-3.
 */
export function cycleUsageSince(
  counter: Counter,
  before: number,
  firstMs: number | null,
  startMs: number,
  nowMs: number,
  cycle: Cycle,
): { value: number; minMs: number; maxMs: number } {
  const n = counter.n
  const last = n[allTime + 2]!
  const beyond = aheadWithin(counter, cycleNext(cycle, nowMs), Number.POSITIVE_INFINITY)
  const maxMs = last < startMs ? 0 : last
  const value = bounded(n[allTime]! - before - beyond)
  return { value, minMs: maxMs === 0 ? 0 : Math.min(firstMs ?? last, last), maxMs }
}

/** What an event of each mode does beside counting (EV-16). */
export function effectsOf(mode: EventMode): ModeEffects {
  return mode === 'backfill' ? past : live
}

interface ModeEffects {
  readonly draws: boolean
  readonly seen: boolean
}

const live: ModeEffects = { draws: true, seen: true }
const past: ModeEffects = { draws: false, seen: false }

/** Bring every window to the one that holds now. */
function roll(counter: Counter, nowMs: number, cycle: Cycle | null): void {
  const n = counter.n
  // the cycle first: a new one is told from the other windows, which know most before they turn
  if (cycle !== null) rollCycle(counter, nowMs, cycle)
  else if (n.length > withoutCycle) {
    n.length = withoutCycle
    delete counter.estimated
  }
  if (!holds(n, day, nowMs)) begin(counter, day, dayStart(nowMs), dayStart(nowMs) + dayMs)
  if (!holds(n, week, nowMs)) begin(counter, week, weekStart(nowMs), weekStart(nowMs) + weekMs)
  if (!holds(n, month, nowMs)) begin(counter, month, monthStart(nowMs), nextMonthStart(nowMs))
  const { ahead } = counter
  if (ahead !== null) {
    // once the present has reached an event every window either holds it or is past it
    let passed = 0
    while (passed < ahead.length && ahead[passed]! <= nowMs) passed += 2
    if (passed > 0) counter.ahead = passed === ahead.length ? null : ahead.slice(passed)
  }
}

function rollCycle(counter: Counter, nowMs: number, cycle: Cycle): void {
  const n = counter.n
  const startMs = cycleStart(cycle, nowMs)
  if (keeps(n, startMs, nowMs)) {
    if (n[cycleAt] !== startMs) return
    const was = n[cycleAt + next]!
    n[cycleAt + next] = cycleNext(cycle, nowMs) // the subscription's end may have moved
    takeAhead(counter, cycleAt, was, n[cycleAt + next]!)
    return
  }
  const reading = cycleReading(counter, startMs, cycleNext(cycle, nowMs))
  if (n.length === withoutCycle) n.push(0, 0, 0, 0, 0)
  n[cycleAt] = startMs
  n[cycleAt + next] = cycleNext(cycle, nowMs)
  n[cycleAt + value] = reading.value
  n[cycleAt + min] = reading.minMs
  n[cycleAt + max] = reading.maxMs
  if (reading.exact) delete counter.estimated
  else counter.estimated = true
}

/** Whether the stored cycle window is the one with this start, or the clock only stepped back a little. */
function keeps(n: readonly number[], startMs: number, nowMs: number): boolean {
  if (n.length === withoutCycle) return false
  const had = n[cycleAt]!
  return had === startMs || (startMs < had && nowMs < had && nowMs >= had - stepBackMs)
}

interface CycleReading {
  readonly value: number
  readonly minMs: number
  readonly maxMs: number
  readonly exact: boolean
}

/**
 * What a billing-cycle window that is not the stored one holds, told from the windows there are.
 *
 * Exact but for a start that falls between events of one window with no other window to tell them apart, or before
 * the windows there are while older events exist.
 */
function cycleReading(counter: Counter, startMs: number, nextMs: number): CycleReading {
  const n = counter.n
  const [total, first, last] = [n[allTime]!, n[allTime + 1]!, n[allTime + 2]!]
  if (last < startMs) return { value: 0, minMs: 0, maxMs: 0, exact: true }
  if (first >= startMs && last < nextMs) return { value: total, minMs: first, maxMs: last, exact: true }
  // the ordinary turn: whatever came since the last window's end would have turned it
  if (n.length > cycleAt && startMs >= n[cycleAt + next]!)
    return withAhead(counter, 0, 0, 0, startMs, nextMs, true)
  let around = 0 // the smallest window that holds the start
  let inside = 0 // the largest window that begins after it
  for (let w = day; w < n.length; w += 5) {
    const from = n[w]!
    if (from > startMs) inside = inside === 0 || from < n[inside]! ? w : inside
    else if (around === 0 || from > n[around]!) around = w
  }
  const w = around || inside
  const [held, minMs, maxMs] = [n[w + value]!, n[w + min]!, n[w + max]!]
  const restMs = Math.max(startMs, n[w + next]!)
  if (minMs === 0 || maxMs < startMs) return withAhead(counter, 0, 0, 0, restMs, nextMs, around !== 0)
  if (minMs >= startMs || n[w] === startMs)
    return withAhead(counter, held, minMs, maxMs, restMs, nextMs, around !== 0)
  // some lie before the start: as if they had come evenly, until they are recounted
  const share = Math.round((held * (maxMs - startMs)) / (maxMs - minMs))
  return withAhead(counter, share, startMs, maxMs, restMs, nextMs, false)
}

/** A partial reading and the events dated into [fromMs, toMs) that no window holds yet. */
function withAhead(
  counter: Counter,
  had: number,
  minMs: number,
  maxMs: number,
  fromMs: number,
  toMs: number,
  exact: boolean,
): CycleReading {
  let sum = had
  let first = minMs
  let last = maxMs
  const ahead = counter.ahead ?? []
  for (let i = 0; i < ahead.length; i += 2) {
    const atMs = ahead[i]!
    if (atMs < fromMs || atMs >= toMs) continue
    sum = bounded(sum + ahead[i + 1]!)
    if (first === 0 || atMs < first) first = atMs
    if (atMs > last) last = atMs
  }
  return { value: sum, minMs: first, maxMs: last, exact }
}

/** Whether a window is the one of this instant. A clock that stepped back a little does not begin it again. */
function holds(n: readonly number[], w: number, nowMs: number): boolean {
  return nowMs < n[w + next]! && nowMs >= n[w]! - stepBackMs
}

function begin(counter: Counter, w: number, startMs: number, nextMs: number): void {
  const n = counter.n
  n[w] = startMs
  n[w + next] = nextMs
  n[w + value] = 0
  n[w + min] = 0
  n[w + max] = 0
  takeAhead(counter, w, startMs, nextMs)
}

function takeAhead(counter: Counter, w: number, fromMs: number, toMs: number): void {
  const ahead = counter.ahead
  if (ahead === null) return
  for (let i = 0; i < ahead.length; i += 2)
    if (ahead[i]! >= fromMs && ahead[i]! < toMs) count(counter.n, w, ahead[i + 1]!, ahead[i]!)
}

function aheadWithin(counter: Counter, fromMs: number, toMs: number): number {
  const ahead = counter.ahead
  if (ahead === null) return 0
  let sum = 0
  for (let i = 0; i < ahead.length; i += 2)
    if (ahead[i]! >= fromMs && ahead[i]! < toMs) sum = bounded(sum + ahead[i + 1]!)
  return sum
}

function keepAhead(counter: Counter, atMs: number, quantity: number): void {
  counter.ahead ??= []
  const ahead = counter.ahead
  let i = ahead.length
  while (i > 0 && (ahead[i - 2]! > atMs || (ahead[i - 2] === atMs && ahead[i - 1]! > quantity))) i -= 2
  ahead.splice(i, 0, atMs, quantity)
}

function count(n: number[], w: number, quantity: number, atMs: number): void {
  n[w + value] = bounded(n[w + value]! + quantity)
  if (n[w + min] === 0 || atMs < n[w + min]!) n[w + min] = atMs
  if (atMs > n[w + max]!) n[w + max] = atMs
}

function bounded(total: number): number {
  if (total > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER
  return Math.max(total, -Number.MAX_SAFE_INTEGER)
}

// Billing periods: those of a subscription, and those of its company.
import type { SubscriptionState } from '../model/company-state.js'
import { billingAnchor } from '../plans/plan.js'
import { isOn, monthStart, nextMonthStart, periodAt, recurrenceAfter, type Window } from '../values/period.js'
import { goneAt, type HeldSpan, type HistoryEntry, type SubscriptionSince, statesOf } from './history.js'

/** A period of one subscription. */
export interface Tile {
  readonly startMs: number
  /** Where it ended: its due end, or the instant at which something cut it. */
  readonly endMs: number
  /** Where it would have ended. */
  readonly dueEndMs: number
  /** False: the provider has not reported it; nothing is charged in advance. */
  readonly isReported: boolean
  /** Day and time on which its months begin. */
  readonly anchorMs: number
}

/** A billing period of a company. */
export interface BillingPeriod {
  readonly startMs: number
  readonly endMs: number
  readonly subscriptionId: string | null
  /** Day and time on which its months begin; null: calendar months. */
  readonly anchorMs: number | null
}

/**
 * The periods of a subscription up to an instant, ascending; the last may go on beyond it.
 *
 * The service's own follow each other from the anchor on. A provider's are as reported; after the end of the last one
 * they go on by months until the next report (FE-52). A change that begins a new period cuts the one before.
 * source  RA-5; PB-33, PB-54, FE-51, FE-52.
 */
export function tilesOf(states: readonly SubscriptionSince[], upToMs: number): Tile[] {
  const tiles: Tile[] = []
  let tile: Tile | null = null
  let source: SubscriptionState | null = null
  let anchorMs: number | null = null
  const cut = (atMs: number): void => {
    if (tile !== null && tile.startMs < atMs) tiles.push({ ...tile, endMs: Math.min(tile.endMs, atMs) })
    tile = null
  }
  const roll = (toMs: number): void => {
    while (tile !== null && source !== null && tile.endMs <= toMs) {
      tiles.push(tile)
      tile = following(tile, source)
    }
  }
  for (const { fromMs, state } of states) {
    if (fromMs > upToMs) break
    roll(fromMs)
    source = state
    if (state === null) {
      cut(fromMs)
      continue
    }
    const { periodStartMs: startMs, periodEndMs: endMs } = state
    const now: Tile | null = tile
    // it was over, and goes on in the same period
    if (now === null && tiles.at(-1)?.startMs === startMs) tiles.pop()
    if (now === null || startMs >= (now as Tile).startMs) {
      if (now !== null && startMs > (now as Tile).startMs) cut(startMs)
      anchorMs = anchorKept(state, anchorMs)
      tile = { startMs, endMs, dueEndMs: endMs, isReported: true, anchorMs }
      roll(fromMs)
      continue
    }
    // a period that is over is reported late
    const late = tiles.findIndex(one => one.startMs === startMs)
    if (late >= 0) tiles[late] = { ...tiles[late]!, isReported: true }
  }
  roll(upToMs)
  if (tile !== null) tiles.push(tile)
  return tiles
}

function following(tile: Tile, source: SubscriptionState): Tile {
  const { anchorMs, intervalMonths } = source
  const startMs = tile.endMs
  const endMs =
    anchorMs == null ? recurrenceAfter(tile.anchorMs, startMs) : nextPeriod(anchorMs, intervalMonths, startMs)
  return { startMs, endMs, dueEndMs: endMs, isReported: anchorMs != null, anchorMs: tile.anchorMs }
}

/** The end of a period of the service's own that begins at an instant: a longer interval may have begun in another month. */
export function nextPeriod(anchorMs: number, months: number, startMs: number): number {
  return periodAt(anchorMs, months, startMs, startMs).nextMs
}

/** The anchor of a period: the known one goes on while periods begin on it. source: RA-5, decision 34 */
function anchorKept(state: SubscriptionState, knownMs: number | null): number {
  const { anchorMs, cycleAnchorMs, periodStartMs } = state
  const own = anchorMs ?? cycleAnchorMs
  if (own == null && knownMs !== null && isOn(knownMs, periodStartMs)) return knownMs
  return billingAnchor(state)
}

/**
 * The billing periods of a company up to an instant, without gaps, ascending; the last may go on beyond it. They are
 * those of its billing subscription, and calendar months without one. Another subscription begins another period, and a
 * deletion ends the last.
 *
 * source  RA-5; PB-53.
 */
export function billingPeriods(
  entries: readonly HistoryEntry[],
  spans: readonly HeldSpan[],
  upToMs: number,
): BillingPeriod[] {
  const goneMs = goneAt(entries)
  return allPeriods(entries, spans, Math.min(upToMs, goneMs)).flatMap(period =>
    period.startMs < goneMs ? [{ ...period, endMs: Math.min(period.endMs, goneMs) }] : [],
  )
}

function allPeriods(
  entries: readonly HistoryEntry[],
  spans: readonly HeldSpan[],
  upToMs: number,
): BillingPeriod[] {
  const periods: BillingPeriod[] = []
  let had: string | null | undefined
  for (const [i, span] of spans.entries()) {
    if (span.fromMs > upToMs) break
    const id = span.billing?.id ?? null
    if (id === had) continue
    had = id
    const next = spans.slice(i + 1).find(one => (one.billing?.id ?? null) !== id)
    const untilMs = Math.min(next?.fromMs ?? Number.POSITIVE_INFINITY, upToMs)
    const tiles: readonly Anchored[] =
      id === null ? calendarMonths(span.fromMs, untilMs) : tilesOf(statesOf(entries, id), untilMs)
    for (const tile of tiles) if (tile.endMs > span.fromMs) append(periods, tile, span)
  }
  return periods
}

function append(periods: BillingPeriod[], tile: Anchored, span: HeldSpan): void {
  const subscriptionId = span.billing?.id ?? null
  const { anchorMs } = tile
  let last = periods.at(-1)
  if (last && last.endMs > span.fromMs && last.endMs > tile.startMs) {
    // the running period ends here; a period that has ended stays as it is
    const atMs = Math.max(last.startMs, Math.min(tile.startMs, span.fromMs))
    const endMs = subscriptionId === null ? span.fromMs : atMs
    periods.pop()
    if (endMs > last.startMs) periods.push({ ...last, endMs })
    last = periods.at(-1)
  }
  const startMs = last?.endMs ?? tile.startMs
  if (tile.startMs > startMs) periods.push({ startMs, endMs: tile.startMs, subscriptionId, anchorMs })
  const fromMs = Math.max(startMs, tile.startMs)
  if (tile.endMs > fromMs) periods.push({ startMs: fromMs, endMs: tile.endMs, subscriptionId, anchorMs })
}

type Anchored = Pick<BillingPeriod, 'startMs' | 'endMs' | 'anchorMs'>

function calendarMonths(fromMs: number, untilMs: number): Anchored[] {
  const months: Anchored[] = []
  for (let startMs = monthStart(fromMs); months.length === 0 || startMs <= untilMs; ) {
    const endMs = nextMonthStart(startMs)
    months.push({ startMs, endMs, anchorMs: null })
    startMs = endMs
  }
  return months
}

/** The window of so many months around an instant, counted from an anchor before or after it. */
export function monthsAround(anchorMs: number, months: number, atMs: number): Window {
  return periodAt(anchorMs, months, atMs)
}

// TTL of a check's answer: the instant until which only an event or a change can alter it.

import type { Company } from '../model/company-state.js'
import { cycleOf } from '../plans/plan.js'
import { cycleNext, dayMs, dayStart, minuteMs } from '../values/period.js'

/**
 * The first instant after now at which time alone may change a check's answer, epoch ms. It may be too early, never
 * too late, and never beyond the minute: days, weeks and months begin with a minute, and checks are counted by
 * minute.
 *
 * settledUntilMs  as `settle` of the company's credits found it: plans, trials, grants that end, resets, holds.
 * source          FE-1, FE-50…53, EN-61, CR-76.
 */
export function cacheableUntil(company: Company | null, settledUntilMs: number, nowMs: number): number {
  const minute = nowMs - (nowMs % minuteMs) + minuteMs
  return company === null ? minute : Math.min(minute, changesAt(company, settledUntilMs, nowMs))
}

/**
 * The first instant after now at which a snapshot of a company may be another by time alone, epoch ms: as
 * `cacheableUntil`, but days bound it in place of minutes, and only where it counts something.
 */
export function snapshotUntil(company: Company, settledUntilMs: number, nowMs: number): number {
  const until = changesAt(company, settledUntilMs, nowMs)
  return company.counters.size === 0 ? until : Math.min(until, dayStart(nowMs) + dayMs)
}

function changesAt(company: Company, settledUntilMs: number, nowMs: number): number {
  let until = settledUntilMs
  const earlier = (atMs: number | null): void => {
    if (atMs !== null && atMs > nowMs && atMs < until) until = atMs
  }
  for (const override of company.overrides) earlier(override.expiresAtMs)
  for (const { grants, spent } of company.credits.values()) {
    for (const grant of grants) earlier(grant.validFromMs)
    // nothing is left of them to end, but they count until then
    for (const grant of spent) earlier(grant.expiresAtMs)
  }
  if (company.subscriptions.length > 0) {
    const cycle = cycleOf(company, nowMs)
    if (cycle !== null) earlier(cycleNext(cycle, nowMs))
  }
  return until
}

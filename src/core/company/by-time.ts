// Everything that time alone does to a company: its plans, its subscriptions and its credits, in the order in which it is due.
import type { Catalog } from '../catalog.js'
import { settle } from '../live/company-accounts.js'
import type { Company } from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import { changesByTime, settleByTime } from '../plans/settle.js'

/**
 * Changes that time has made up to now, and that are not recorded: each yield has the effects of one record. Apply them before
 * the next.
 *
 * Credits follow the plans at each instant, however late it is noticed: what is due before a change of plan or a renewal happens
 * under the plans and the period before it.
 *
 * returns  the instant until which time alone changes nothing more, epoch ms; Infinity when nothing is foreseen.
 * source   CR-39, CR-44, PB-24; decision 30
 */
export function* byTime(
  company: Company,
  catalog: Catalog,
  nowMs: number,
): Generator<readonly Effect[], number> {
  // what was recorded then has settled everything before
  let fromMs = company.timeMs
  for (;;) {
    const changeMs = changesByTime(company, fromMs, nowMs)
    if (changeMs === null) break
    yield* creditsAt(changeMs - 1)
    yield* plansAt(changeMs)
    yield* creditsAt(changeMs)
    fromMs = changeMs
  }
  yield* plansAt(nowMs)
  return yield* creditsAt(nowMs)

  /** One change of plan at a time: the next begins where it ended. */
  function* plansAt(atMs: number): Generator<readonly Effect[], void> {
    for (;;) {
      const effects = settleByTime(company, catalog, atMs)
      if (effects.length === 0) return
      yield effects
    }
  }

  function* creditsAt(atMs: number): Generator<readonly Effect[], number> {
    const { effects, untilMs } = settle(company, catalog, atMs)
    if (effects.length > 0) yield effects
    return untilMs
  }
}

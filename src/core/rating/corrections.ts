// Late events of a closed window become corrections: lines of the period in which they were received.
import type { Window } from '../values/period.js'
import { minus, roundHalfUp, zero } from './fraction.js'
import type { ChargeLine } from './line.js'
import { lineOf, type Metered } from './metered.js'

/**
 * Late events of a closed window as lines of the period in which they were received: what the window costs with them,
 * less what it cost without.
 *
 * source  RA-12.
 */
export function correctionLines(
  before: readonly Metered[],
  after: readonly Metered[],
  window: Window,
  dueMs: number,
): ChargeLine[] {
  return after.flatMap((now, i) => {
    const was = before[i]
    if (!was || (now.units === was.units && now.exact.n * was.exact.d === was.exact.n * now.exact.d))
      return []
    const line = lineOf(now, 'correction', window)
    const exact = now.segment.isTrial ? zero : minus(now.exact, was.exact)
    return [
      {
        ...line,
        quantity: { n: now.units - was.units, d: 1n },
        tiers: [],
        exact,
        amount: roundHalfUp(exact),
        dueMs,
        events: {
          ...now.events,
          count: now.events.count - was.events.count,
          quantity: now.events.quantity - was.events.quantity,
        },
      },
    ]
  })
}

// One line of the log for many connections that were closed beyond a bound.
import type { RefusedLine } from '../../../wire/passed.js'
import type { Bound } from './connections.js'

const tellEveryMs = 10_000

const reasons: Readonly<Record<Bound, string>> = {
  total: 'TOLLGATE_CONNECTIONS_MAX are open',
  address: 'TOLLGATE_CONNECTIONS_PER_ADDRESS of this address are open',
}

/** The message of the line. */
export const refusedMessage = 'connections closed at a bound'

/** Gathers closed connections, and has one line written in ten seconds. say: writes it. */
export function refusedTeller(say: (line: RefusedLine) => void): (bound: Bound, address: string) => void {
  let toldMs = Number.NEGATIVE_INFINITY
  let attempts = 0
  return (bound, peer) => {
    attempts++
    if (performance.now() - toldMs < tellEveryMs) return
    say({ peer, reason: reasons[bound], attempts })
    toldMs = performance.now()
    attempts = 0
  }
}

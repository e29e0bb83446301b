// One line of the log for many connections that were closed beyond a bound.
import type { Bound } from './connections.js'

const tellEveryMs = 10_000

/** Members of the line. */
export interface RefusedLine {
  readonly peer: string
  readonly reason: string
  /** Connections closed since the last line. */
  readonly attempts: number
}

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

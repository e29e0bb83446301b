// Requests that ask shards many questions at once: bulk checks, pages of companies. Their questions go a few at a time, and
// environments take turns, so that a check never finds a hundred of them before it at its shard (security H3).
import { FairGate } from '../../turns/fair-gate.js'
import { inParallel } from '../../turns/in-parallel.js'

/** Places of all environments together: so few that a check finds two or three of them before it at its shard. */
const turns = new FairGate({ places: 4, perGroup: 3, name: 'questions to shards' })
/** Questions of one request at once: further ones of its environment come in between. */
const togetherMax = 2

/**
 * Do something for each of many, a few at a time, in turn with other environments.
 *
 * returns  in their order.
 * errors   those of `work`; overloaded (503).
 */
export function inTurn<T, R>(
  environmentId: string,
  many: readonly T[],
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  return inParallel(many, togetherMax, one => turns.run(environmentId, () => work(one)))
}

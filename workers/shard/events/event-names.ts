// Names of events that companies of this shard use, by environment: a name that no company has used so far is one
// more, and there is a bound on them (security 7). Only a company's first use of a name costs a lookup.
import { quotaReportedFrom } from '../../../src/core/company/entity-bounds.js'
import type { ShardFigures } from '../../../src/core/company/shard-request.js'
import type { Decision } from '../../../src/core/model/message.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'
import type { Actor, Actors } from '../actors.js'

export class EventNames {
  private readonly names = new Map<string, Set<string>>()
  /** Uses that were refused. */
  private refused = 0

  /**
   * max        bound on an environment's names; none by default.
   * inMemory   names of companies in memory now count from the first question on.
   */
  constructor(
    private readonly max = Number.POSITIVE_INFINITY,
    private readonly inMemory: Pick<Actors, 'companies'>,
  ) {}

  /** Whether companies of the environment may use this name; one that may counts from now on. */
  admits(environmentId: string, name: string): boolean {
    let names = this.names.get(environmentId)
    if (names === undefined) {
      names = new Set()
      for (const { state } of this.inMemory.companies())
        if (state.environmentId === environmentId) for (const used of state.counters.keys()) names.add(used)
      this.names.set(environmentId, names)
    }
    if (names.has(name)) return true
    if (names.size >= this.max) return false
    names.add(name)
    return true
  }

  /** The refusal of a use whose name is one too many for its environment; null for any other event. */
  judged(actor: Actor | null, environmentId: string, event: AcceptedEvent): Decision | null {
    if (actor?.k !== 'c' || !actor.state.exists || event.type !== 'track' || event.failure !== null)
      return null
    const { subtype } = event
    if (subtype === null || actor.state.counters.has(subtype) || this.admits(environmentId, subtype))
      return null
    this.refused++
    const detail = `event: the environment has as many names of events as it may, ${this.max}`
    return { refused: 'entity_full', detail }
  }

  /** Environments that have nearly as many as they may, and which part of it; how many uses were refused. */
  figures(): Pick<ShardFigures, 'eventNames' | 'eventNamesRefused'> {
    const eventNames = [...this.names]
      .map(([environmentId, { size }]) => [environmentId, size / this.max] as const)
      .filter(([, part]) => part >= quotaReportedFrom)
    return { eventNames, eventNamesRefused: this.refused }
  }

  forget(environmentId: string): void {
    this.names.delete(environmentId)
  }
}

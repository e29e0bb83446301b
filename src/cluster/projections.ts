// Projections over all nodes. Each node projects the journals of the shards it owns, and reports its position
// on request.

import { ServiceError } from '../errors.js'
import type { Sequence } from '../journal/journal.js'
import { Projections } from '../recovery/projections.js'
import type { ProjectedStore } from '../wire/projector-messages.js'

/** Calls to other nodes. */
export interface Others {
  owns(shard: number): boolean
  /** Call the owner of a shard. */
  askOwner(shard: number, name: string, given: unknown): Promise<unknown>
  /** Call every other node. */
  askAll(name: string, given: unknown): Promise<unknown>
  /** Resolves when every shard is served. */
  whole(timeoutMs: number): Promise<void>
}

const waitMs = 10_000

export class ClusterProjections extends Projections {
  #others: Others | null = null

  with(others: Others): void {
    this.#others = others
  }

  override async reached(
    store: ProjectedStore,
    shard: number,
    sequence: Sequence,
    timeoutMs = waitMs,
  ): Promise<void> {
    const others = this.#others!
    if (others.owns(shard)) return super.reached(store, shard, sequence, timeoutMs)
    await timely(others.askOwner(shard, 'reached', [store, shard, sequence, timeoutMs]), timeoutMs, store)
  }

  override async barrier(store: ProjectedStore, timeoutMs = waitMs): Promise<void> {
    const others = this.#others!
    await others.whole(timeoutMs)
    await Promise.all([
      this.ownBarrier(store, timeoutMs),
      timely(others.askAll('barrier', [store, timeoutMs]), timeoutMs, store),
    ])
  }

  /** Waits for every environment: other nodes do not tell the environments of their records apart. */
  override barrierOf(store: ProjectedStore, _environmentId: string, timeoutMs = waitMs): Promise<void> {
    return this.barrier(store, timeoutMs)
  }

  override async seenBarrier(timeoutMs = waitMs): Promise<void> {
    const others = this.#others!
    await others.whole(timeoutMs)
    const asked = timely(others.askAll('seenBarrier', [timeoutMs]), timeoutMs, 'postgres')
    await Promise.all([super.seenBarrier(timeoutMs), asked])
  }

  /** Positions of each shard of this node, as sequences. */
  ownLags() {
    const { positions } = this
    return this.owned.map(shard => ({
      shard,
      committed: positions.get(shard, 'committed'),
      checkpointed: positions.get(shard, 'checkpointed'),
      postgres: positions.get(shard, 'postgres'),
      clickhouse: positions.get(shard, 'clickhouse'),
    }))
  }

  /** The barrier over the shards of this node alone. */
  ownBarrier(store: ProjectedStore, timeoutMs: number): Promise<void> {
    return super.barrier(store, timeoutMs)
  }

  ownSeenBarrier(timeoutMs: number): Promise<void> {
    return super.seenBarrier(timeoutMs)
  }
}

async function timely(asked: Promise<unknown>, timeoutMs: number, store: ProjectedStore): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const name = store === 'postgres' ? 'Postgres' : 'ClickHouse'
    const refuse = () => reject(new ServiceError('store_away', `${name} is away or behind; try again`))
    timer = setTimeout(refuse, timeoutMs)
  })
  try {
    await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}

// The cluster as an operator sees it: nodes and shards from Redis, and from each node the lags of its shards.
// The operator's process is no node. It connects as a visitor that knows the secret.

import { RedisClient } from '../redis/redis.js'
import type { RedisAddress } from '../wire/shard-options.js'
import { Members, type NodeInfo, type View } from './leases.js'
import { hearsNothing, Peer } from './link.js'
import type { OldWindowFigures } from './old-window.js'
import type { LinkSecurity } from './security.js'

/** Positions of a shard's journal, from its owner: records that are not yet in a checkpoint or a store. */
export interface ShardLag {
  readonly shard: number
  readonly committed: number
  readonly checkpointed: number
  readonly postgres: number
  readonly clickhouse: number
  /** The shard is starting, or comes to rest before it moves to another node. */
  readonly moves: boolean
}

export interface NodeOverview extends NodeInfo {
  readonly id: string
  /** How long its lease lasts unless it is renewed, ms; 0: it has ended. */
  readonly leaseMs: number
  /** The lags that the node reports; null: it does not answer. */
  readonly lags: readonly ShardLag[] | null
  /** Idempotency keys that left Redis, as the node has them; null: it does not answer. */
  readonly oldKeys: OldWindowFigures | null
}

const answerMs = 5_000

export class Overview {
  private constructor(
    private readonly redis: RedisClient,
    private readonly security: LinkSecurity,
  ) {}

  /** errors  those of Redis. Waits for Redis as long as a node would. */
  static async open(address: RedisAddress, security: LinkSecurity): Promise<Overview> {
    return new Overview(await RedisClient.open(address), security)
  }

  /** Reads the current state. */
  async look(): Promise<{ readonly nodes: readonly NodeOverview[]; readonly owners: View['owners'] }> {
    const seen = await Members.look(this.redis)
    const nodes = await Promise.all(
      [...seen.nodes].map(async ([id, info]) => ({
        id,
        ...info,
        leaseMs: seen.leases.get(id)!,
        lags: (await this.ask(id, info, 'lags').catch(() => null)) as readonly ShardLag[] | null,
        oldKeys: (await this.ask(id, info, 'oldWindow').catch(() => null)) as OldWindowFigures | null,
      })),
    )
    return { nodes: nodes.sort((a, b) => a.sinceMs - b.sinceMs), owners: seen.owners }
  }

  /**
   * Have a node give all its shards to others.
   *
   * errors  ServiceError: as the node reports it; Error when it does not answer.
   */
  async drain({ id, ...info }: NodeOverview): Promise<void> {
    await this.ask(id, info, 'drain')
  }

  async close(): Promise<void> {
    await this.redis.close()
  }

  private async ask(
    id: string,
    where: { readonly host: string; readonly port: number },
    name: string,
  ): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined
    let peer: Peer | undefined
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('it does not answer')), answerMs)
        const up = () => void peer!.call(name, null).then(resolve, reject)
        const refused = (reason: string) => reject(new Error(reason))
        const hears = { ...hearsNothing, up, refused }
        peer = new Peer(id, where, { node: 'operator', slot: -1 }, this.security, answerMs, hears)
      })
    } finally {
      clearTimeout(timer)
      peer?.close()
    }
  }
}

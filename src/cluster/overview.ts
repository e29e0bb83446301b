// The cluster as an operator sees it: what Redis says of nodes and shards, and what each node says of the shards it owns.
// The operator's process is no node: it asks them as a visitor that knows their secret.
import type { RedisAddress } from '../protocol/shard-options.js'
import { RedisClient } from '../redis/redis.js'
import { Peer } from './link.js'
import { Members, type NodeInfo, type View } from './members.js'

/** How far a shard's journal is, as its owner says: records that are not yet in a checkpoint or a store. */
export interface ShardLag {
  readonly shard: number
  readonly committed: number
  readonly checkpointed: number
  readonly postgres: number
  readonly clickhouse: number
  /** It is being started, or brought to rest to go to another node. */
  readonly moves: boolean
}

export interface NodeOverview extends NodeInfo {
  readonly id: string
  /** How long its lease holds unless it is renewed, ms; 0: it has ended. */
  readonly leaseMs: number
  /** What it says itself; null: it does not answer. */
  readonly lags: readonly ShardLag[] | null
}

const answerMs = 5_000

export class Overview {
  private constructor(
    private readonly redis: RedisClient,
    private readonly secret: string,
  ) {}

  /** errors  those of Redis: it is waited for as long as a node would. */
  static async open(address: RedisAddress, secret: string): Promise<Overview> {
    return new Overview(await RedisClient.open(address), secret)
  }

  /** What is known now. */
  async look(): Promise<{ readonly nodes: readonly NodeOverview[]; readonly owners: View['owners'] }> {
    const seen = await Members.look(this.redis)
    const nodes = await Promise.all(
      [...seen.nodes].map(async ([id, info]) => ({
        id,
        ...info,
        leaseMs: seen.leases.get(id)!,
        lags: (await this.ask(id, info, 'lags').catch(() => null)) as readonly ShardLag[] | null,
      })),
    )
    return { nodes: nodes.sort((a, b) => a.sinceMs - b.sinceMs), owners: seen.owners }
  }

  /** Have a node give all its shards to others. errors  ServiceError: what it says; Error when it does not answer. */
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
        const hears = { replies: () => {}, bounced: () => {}, up, down: () => {} }
        peer = new Peer(id, where, { node: 'operator', slot: -1 }, this.secret, answerMs, hears)
      })
    } finally {
      clearTimeout(timer)
      peer?.close()
    }
  }
}

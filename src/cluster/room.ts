// The fill level of the nodes' Redis, and its replicas. Beyond a bound, events are refused on arrival: otherwise Redis
// would refuse the journal.
import { Backlog } from '../engine/recovery/backlog.js'
import type { RedisClient } from '../redis/redis.js'

/** Share of Redis' maxmemory. */
const fullFrom = 0.9
/** A replica that was silent for longer counts as away, seconds. Replicas report once a second. */
const silentSeconds = 5

export class SharedBacklog extends Backlog {
  used = 0
  /** Replicas that answer; null: not known. */
  private replicas: number | null = null

  constructor(private readonly redis: RedisClient) {
    super([], 0)
  }

  override async look(): Promise<void> {
    try {
      const memory = await this.redis.info('memory')
      const most = Number(memory.get('maxmemory') ?? 0)
      this.used = most > 0 ? Number(memory.get('used_memory') ?? 0) / most : 0
      this.full = this.used >= fullFrom
      if (this.redis.address.replicas > 0) this.replicas = replicasIn(await this.redis.info('replication'))
    } catch {
      // The journal reports that Redis is away.
    }
  }

  /** Faults in words: writes are refused while too few replicas answer. */
  degraded(): string[] {
    const { replicas: wanted } = this.redis.address
    if (this.replicas === null || this.replicas >= wanted) return []
    return [`${this.replicas} of ${wanted} replicas of Redis answer`]
  }
}

function replicasIn(replication: ReadonlyMap<string, string>): number {
  return [...replication].filter(([name, value]) => {
    const lag = /,state=online,.*lag=(\d+)/.exec(value)
    return /^slave\d+$/.test(name) && lag !== null && Number(lag[1]) <= silentSeconds
  }).length
}

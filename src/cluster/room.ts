// The fill level of the nodes' Redis. Beyond a bound, events are refused on arrival: otherwise Redis would refuse the
// journal.
import { Backlog } from '../recovery/backlog.js'
import type { RedisClient } from '../redis/redis.js'

/** Share of Redis' maxmemory. */
const fullFrom = 0.9

export class SharedBacklog extends Backlog {
  used = 0

  /** Why events are refused, in words; null: they are not. */
  get lack(): string | null {
    return this.full ? `Redis is full: ${Math.floor(100 * this.used)} % of its maxmemory` : null
  }

  constructor(private readonly redis: RedisClient) {
    super([], 0)
  }

  override async look(): Promise<void> {
    try {
      const memory = await this.redis.info('memory')
      const most = Number(memory.get('maxmemory') ?? 0)
      this.used = most > 0 ? Number(memory.get('used_memory') ?? 0) / most : 0
      this.full = this.used >= fullFrom
    } catch {
      // The journal reports that Redis is away.
    }
  }
}

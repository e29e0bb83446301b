// The fill level of the nodes' Redis, of its fullest server. Beyond a bound, events are refused on arrival: otherwise Redis would refuse the
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

  constructor(private readonly slots: readonly RedisClient[]) {
    super([], 0)
  }

  override async look(): Promise<void> {
    try {
      this.used = Math.max(...(await Promise.all(this.slots.map(usedOf))))
      this.full = this.used >= fullFrom
    } catch {
      // The journal reports that Redis is away.
    }
  }
}

/** Share of a server's maxmemory that is used; 0 where it has none. */
async function usedOf(redis: RedisClient): Promise<number> {
  const memory = await redis.info('memory')
  const most = Number(memory.get('maxmemory') ?? 0)
  return most > 0 ? Number(memory.get('used_memory') ?? 0) / most : 0
}

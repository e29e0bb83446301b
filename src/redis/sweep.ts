// Deletes idempotency keys whose day is over (EV-26), where no filter took them out of Redis before: some in each turn, all of
// them in some hours.
import { keptMs } from './claims.js'
import type { RedisClient } from './redis.js'

/** Turns in which all keys are looked at: six hours of one in ten seconds. */
const turnsOfAll = 2_160
/** Keys of one script, about: Redis does nothing else meanwhile, for a ms or two. */
const atOnce = 1_000

export class Sweep {
  private readonly cursors: string[]

  constructor(private readonly slots: readonly Pick<RedisClient, 'run' | 'size'>[]) {
    this.cursors = slots.map(() => '0')
  }

  /**
   * Look at the next keys. Begun anew by another node it has the same effect. nowMs: the wall clock.
   *
   * returns  how many were deleted.
   */
  async turn(nowMs: number): Promise<number> {
    let gone = 0
    for (const [i, redis] of this.slots.entries())
      for (let left = (await redis.size()) / turnsOfAll; left >= 0; left -= atOnce) {
        const given = [this.cursors[i]!, atOnce, nowMs - keptMs]
        const [cursor, count] = await redis.run<[string, number]>('sweep', ...given)
        this.cursors[i] = cursor
        gone += count
        if (cursor === '0') break
      }
    return gone
  }
}

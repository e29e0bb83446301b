// Whether enough replicas of Redis take writes, known before a write is sent (`replicas:N`). A write waits for them, and
// one whose wait ended without them is sent again for ten seconds. Later ones are refused at once.

import { RedisClient } from '../redis/redis.js'
import type { RedisAddress } from '../wire/shard-options.js'

/** Pause between two probes while the replicas answer, and while they do not. */
const idleMs = 1_000
const againMs = 250

export class ReplicaWatch {
  private timer: NodeJS.Timeout
  private stopped = false
  /** Replicas that have the last probe; null: not known. */
  private reached: number | null = null

  private constructor(
    /** Its own connection, for writes that wait for replicas: Redis answers nothing else on it meanwhile. */
    readonly redis: RedisClient,
    private readonly wanted: number,
  ) {
    this.timer = this.later()
  }

  /** null: writes need no replicas. */
  static async open(address: RedisAddress): Promise<ReplicaWatch | null> {
    return address.replicas === 0 ? null : new ReplicaWatch(await RedisClient.open(address), address.replicas)
  }

  /** Why writes are refused; null: they are not. */
  get lack(): string | null {
    const { reached, wanted } = this
    return reached === null || reached >= wanted ? null : `${reached} of ${wanted} replicas of Redis answer`
  }

  async stop(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    await this.redis.close()
  }

  private later(): NodeJS.Timeout {
    return setTimeout(() => void this.look(), this.lack === null ? idleMs : againMs)
  }

  private async look(): Promise<void> {
    try {
      this.reached = await this.redis.replicasReached()
    } catch {
      // Redis itself is away: the lease ends.
    }
    if (!this.stopped) this.timer = this.later()
  }
}

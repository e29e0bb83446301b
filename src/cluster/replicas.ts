// Whether enough replicas of Redis take writes, known before a write is sent (`replicas:N`). A write waits for them, and
// one whose wait ended without them is sent again for ten seconds. Later ones are refused at once.

import type { RedisClient } from '../redis/redis.js'
import { RedisSlots } from '../redis/slots.js'
import type { RedisAddress } from '../wire/shard-options.js'

/** Pause between two probes while the replicas answer, and while they do not. */
const idleMs = 1_000
const againMs = 250

export class ReplicaWatch {
  private timer: NodeJS.Timeout
  private stopped = false
  /** Replicas that have the last probe, of the slot with the fewest; null: not known. */
  private reached: number | null = null

  private constructor(
    private readonly slots: RedisSlots,
    private readonly wanted: number,
  ) {
    this.timer = this.later()
  }

  /** null: writes need no replicas. */
  static async open(address: RedisAddress): Promise<ReplicaWatch | null> {
    return address.replicas === 0 ? null : new ReplicaWatch(await RedisSlots.open(address), address.replicas)
  }

  /** A connection to the root for writes that wait for replicas: Redis answers nothing else on it meanwhile. */
  get redis(): RedisClient {
    return this.slots.root
  }

  /** Why writes are refused; null: they are not. */
  get lack(): string | null {
    const { reached, wanted } = this
    return reached === null || reached >= wanted ? null : `${reached} of ${wanted} replicas of Redis answer`
  }

  async stop(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    await this.slots.close()
  }

  private later(): NodeJS.Timeout {
    return setTimeout(() => void this.look(), this.lack === null ? idleMs : againMs)
  }

  private async look(): Promise<void> {
    // where a primary is away, its own writes fail, and its lease ends if it has the root
    const probes = this.slots.clients.map(one => one.replicasReached().catch(() => null))
    const known = (await Promise.all(probes)).filter(one => one !== null)
    if (known.length > 0) this.reached = Math.min(...known)
    if (!this.stopped) this.timer = this.later()
  }
}

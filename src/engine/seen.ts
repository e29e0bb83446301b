// Times that move with every event or check and are written in bulk: when a user was last seen, when a flag was
// last checked. Best effort for checks (FE-101…103); for events the stored events themselves can tell them again.
import type { Shards } from './shards.js'

/** Users seen by events and checks that do not pass through their actor; told to it once a second. */
export class UserSeen {
  private readonly noted = new Map<string, { environmentId: string; atMs: number }>()

  /** Note that a user was seen; only ever later (CU-46). */
  note(userId: string, environmentId: string, atMs: number): void {
    const had = this.noted.get(userId)
    if (had === undefined) this.noted.set(userId, { environmentId, atMs })
    else if (had.atMs < atMs) had.atMs = atMs
  }

  /** What is noted and not told yet, epoch ms: a read of the user takes the later of this and its actor's. */
  of(userId: string): number | null {
    return this.noted.get(userId)?.atMs ?? null
  }

  /** Tell the actors; what could not be told stays noted. */
  async flush(shards: Shards, now: (environmentId: string) => number): Promise<void> {
    const batch = [...this.noted]
    await Promise.allSettled(
      batch.map(async ([userId, { environmentId, atMs }]) => {
        await shards.ask('u', environmentId, userId, { type: 'seen', atMs }, now(environmentId))
        if (this.noted.get(userId)?.atMs === atMs) this.noted.delete(userId)
      }),
    )
  }
}

/** Latest check of each flag by environment and flag key (FE-102). */
export class CheckedFlags {
  private readonly latest = new Map<string, number>()

  note(environmentId: string, flagKey: string, atMs: number): void {
    const name = `${environmentId}\0${flagKey}`
    const had = this.latest.get(name)
    if (had === undefined || had < atMs) this.latest.set(name, atMs)
  }

  /** Epoch ms; null when it was never checked. */
  of(environmentId: string, flagKey: string): number | null {
    return this.latest.get(`${environmentId}\0${flagKey}`) ?? null
  }
}

// Times that change with every event or check and are written in bulk: users' last_seen_at and flags'
// last_checked_at. Best effort for checks (FE-101…103); for events they can be restored from the stored events.
import type { Sql } from 'postgres'
import { Refused, type Shards } from '../shards/shards.js'

/** Times sent each second, where few wait. */
const fewUsers = 1_000
/** Where more wait, all are sent within so many seconds: a user who is seen again meanwhile is sent once. */
const spreadSeconds = 60
/** Times sent at once; the next follow when these are answered, so that checks need not wait for them. */
const sentTogether = 100

interface Noted {
  readonly userId: string
  readonly environmentId: string
  atMs: number
}

/** Last-seen times of users from events and checks that do not reach their actor; sent to it later. */
export class UserSeen {
  /** Oldest note first. */
  private readonly noted = new Map<string, Noted>()
  /** On their way. */
  private readonly sent = new Map<string, Noted>()

  /** Note that a user was seen; the time only grows (CU-46). */
  note(userId: string, environmentId: string, atMs: number): void {
    const had = this.noted.get(userId)
    if (had === undefined) this.noted.set(userId, { userId, environmentId, atMs })
    else if (had.atMs < atMs) had.atMs = atMs
  }

  /** The noted time that is not stored yet, epoch ms. Readers use the later of it and the actor's. */
  of(userId: string): number | null {
    const latest = this.noted.get(userId)?.atMs ?? null
    const sent = this.sent.get(userId)?.atMs ?? null
    return latest === null || (sent !== null && sent > latest) ? sent : latest
  }

  /** Drop and return the noted time of a user, because an explicit time or a deletion follows (CU-46). */
  drop(userId: string): number | null {
    const atMs = this.of(userId)
    this.noted.delete(userId)
    this.sent.delete(userId)
    return atMs
  }

  /**
   * Send the oldest times to the actors. Called once a second. Unsent times are kept.
   *
   * all  send every time: the service stops.
   */
  async flush(
    shards: Pick<Shards, 'ask'>,
    now: (environmentId: string) => number,
    all = false,
  ): Promise<void> {
    const { size } = this.noted
    let left = all ? size : Math.min(size, Math.max(fewUsers, Math.ceil(size / spreadSeconds)))
    while (left > 0 && this.noted.size > 0) {
      const part: Noted[] = []
      for (const one of this.noted.values()) {
        if (part.length === Math.min(left, sentTogether)) break
        part.push(one)
      }
      left -= part.length
      const kept = await Promise.all(part.map(one => this.send(one, shards, now(one.environmentId))))
      // The store is away: the rest waits with these.
      if (!kept.every(Boolean)) return
    }
  }

  /** Returns whether it arrived. */
  private async send(one: Noted, shards: Pick<Shards, 'ask'>, nowMs: number): Promise<boolean> {
    const { userId, environmentId, atMs } = one
    this.noted.delete(userId)
    this.sent.set(userId, one)
    const arrived = await shards.ask('u', environmentId, userId, { type: 'seen', atMs }, nowMs).then(
      () => true,
      // Refused: the user is deleted, and nobody waits for its time.
      error => error instanceof Refused,
    )
    // Dropped meanwhile: its time is not wanted any more.
    if (this.sent.get(userId) !== one) return arrived
    this.sent.delete(userId)
    if (!arrived) this.note(userId, environmentId, atMs)
    return arrived
  }
}

/** The latest check of each flag, by environment and flag key (FE-102), written to Postgres every few seconds. */
export class CheckedFlags {
  private readonly latest = new Map<string, number>()
  /** Noted since the last write. */
  private unwritten = new Map<string, Check>()

  note(environmentId: string, flagKey: string, atMs: number): void {
    const name = `${environmentId}\0${flagKey}`
    const had = this.latest.get(name)
    if (had !== undefined && had >= atMs) return
    this.latest.set(name, atMs)
    this.unwritten.set(name, { environment_id: environmentId, key: flagKey, at: atMs })
  }

  /** Epoch ms; null when this process saw no check of it. */
  of(environmentId: string, flagKey: string): number | null {
    return this.latest.get(`${environmentId}\0${flagKey}`) ?? null
  }

  /** Write the noted times, never over later ones. Unwritten times are kept. */
  async flush(sql: Sql): Promise<void> {
    const checks = this.unwritten
    if (checks.size === 0) return
    this.unwritten = new Map()
    const rows = [...checks.values()].map(check => ({ ...check, at: new Date(check.at).toISOString() }))
    try {
      await sql`
        insert into flag_last_checks (environment_id, flag_id, last_checked_at)
        select e.id, f.id, c.at
        from jsonb_to_recordset(${sql.json(rows)}) as c (environment_id text, key text, at timestamptz)
        join environments e on e.id = c.environment_id
        join flags f on f.account_id = e.account_id and f.key = c.key
        on conflict (environment_id, flag_id) do update
        set last_checked_at = greatest(flag_last_checks.last_checked_at, excluded.last_checked_at)`
    } catch {
      // Postgres is down; times noted in between are newer
      for (const [name, check] of checks) if (!this.unwritten.has(name)) this.unwritten.set(name, check)
    }
  }
}

interface Check {
  readonly environment_id: string
  readonly key: string
  readonly at: number
}

// Rate limits of single accounts: stored in Postgres, passed to the limiter at start and after changes.
import type { Sql } from 'postgres'
import type { LimitSetting } from '../config.js'

/** Rates and bursts as stored and on the wire: `[rate per second, burst]`. */
type LimitPairs = Readonly<Partial<Record<LimitName, readonly [ratePerSecond: number, burst: number]>>>
type LimitName = 'global' | 'mutation' | 'events_ingest' | 'analytics'

/** An account's own limits; null: the defaults. */
type OwnLimits = LimitPairs | 'off' | null

export class AccountLimits {
  private readonly own = new Map<string, OwnLimits>()

  /** tell  receives the limits of an account, at start and after changes; undefined: the defaults. */
  constructor(
    private readonly sql: Sql,
    private readonly tell: (accountId: string, setting: LimitSetting | undefined) => void,
  ) {}

  /** Load the stored limits, once, at start. */
  async load(): Promise<void> {
    const rows = await this.sql<{ account_id: string; limits: LimitPairs | 'off' }[]>`
      select account_id, limits from account_limits`
    const kept = new Set(rows.map(row => row.account_id))
    for (const accountId of [...this.own.keys()]) if (!kept.has(accountId)) this.put(accountId, null)
    for (const row of rows) {
      const had = this.own.get(row.account_id)
      if (JSON.stringify(had) !== JSON.stringify(row.limits)) this.put(row.account_id, row.limits)
    }
  }

  get(accountId: string): OwnLimits {
    return this.own.get(accountId) ?? null
  }

  /** The limits as they are stored. */
  async stored(sql: Sql, accountId: string): Promise<OwnLimits> {
    const [row] = await sql<{ limits: LimitPairs | 'off' }[]>`
      select limits from account_limits where account_id = ${accountId}`
    return row?.limits ?? null
  }

  /**
   * Set limits. They are in force once stored; buckets start full. Names of unknown buckets are left out.
   *
   * first  runs in its transaction before anything is changed, under its lock.
   */
  async set(
    accountId: string,
    wanted: OwnLimits,
    nowMs: number,
    first: (tx: Sql) => Promise<void> = async () => {},
  ): Promise<void> {
    const limits = ofBuckets(wanted)
    await this.sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      await tx`select pg_advisory_xact_lock(hashtextextended('limits ' || ${accountId}, 0))`
      await first(tx)
      if (limits === null) await tx`delete from account_limits where account_id = ${accountId}`
      else
        await tx`
          insert into account_limits (account_id, limits, updated_at)
          values (${accountId}, ${JSON.stringify(limits)}::text::jsonb, ${new Date(nowMs)})
          on conflict (account_id) do update set limits = excluded.limits, updated_at = excluded.updated_at`
    })
    this.put(accountId, limits)
  }

  private put(accountId: string, limits: OwnLimits): void {
    if (limits === null) this.own.delete(accountId)
    else this.own.set(accountId, limits)
    this.tell(accountId, limits === null ? undefined : settingOf(limits))
  }
}

const names: readonly LimitName[] = ['global', 'mutation', 'events_ingest', 'analytics']

function ofBuckets(limits: OwnLimits): OwnLimits {
  if (limits === null || limits === 'off') return limits
  return Object.fromEntries(names.flatMap(name => (limits[name] ? [[name, limits[name]]] : [])))
}

function settingOf(limits: LimitPairs | 'off'): LimitSetting {
  if (limits === 'off') return 'off'
  const entries = Object.entries(limits).map(([name, [ratePerSecond, burst]]) => [
    name,
    { ratePerSecond, burst },
  ])
  return Object.fromEntries(entries) as LimitSetting
}

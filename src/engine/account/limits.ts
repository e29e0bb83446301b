// Request limits of single accounts: kept in Postgres, told to the limiter at start and at every change.
import type { Sql } from 'postgres'
import type { LimitSetting } from '../../config.js'

/** Rates and bursts as they are stored and spoken: `[rate per second, burst]`. */
export type LimitPairs = Readonly<Partial<Record<LimitName, readonly [ratePerSecond: number, burst: number]>>>
export type LimitName = 'global' | 'mutation' | 'events_ingest' | 'analytics'

/** An account's own limits; null: those of everyone. */
export type OwnLimits = LimitPairs | 'off' | null

export class AccountLimits {
  private readonly own = new Map<string, OwnLimits>()

  /** tell  hears the limits of an account from now on; undefined: those of everyone. */
  constructor(
    private readonly sql: Sql,
    private readonly tell: (accountId: string, setting: LimitSetting | undefined) => void,
  ) {}

  /** Read what is stored, once, at start. */
  async load(): Promise<void> {
    const rows = await this.sql<{ account_id: string; limits: LimitPairs | 'off' }[]>`
      select account_id, limits from account_limits`
    for (const row of rows) this.put(row.account_id, row.limits)
  }

  get(accountId: string): OwnLimits {
    return this.own.get(accountId) ?? null
  }

  /**
   * In force once it is stored; budgets start full. Members that name no bucket are left out.
   *
   * record  writes what else belongs to the change, in its transaction.
   */
  async set(
    accountId: string,
    wanted: OwnLimits,
    nowMs: number,
    record: (tx: Sql) => Promise<void> = async () => {},
  ): Promise<void> {
    const limits = ofBuckets(wanted)
    await this.sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      if (limits === null) await tx`delete from account_limits where account_id = ${accountId}`
      else
        await tx`
          insert into account_limits (account_id, limits, updated_at)
          values (${accountId}, ${JSON.stringify(limits)}::text::jsonb, ${new Date(nowMs)})
          on conflict (account_id) do update set limits = excluded.limits, updated_at = excluded.updated_at`
      await record(tx)
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

// Files of the stores after erasures: removed rows lie in them until they are written anew (ER-9). Tollgate writes only
// files of the embedded stores, and journals on the disk.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReservedSql, Sql } from 'postgres'
import { isSegment } from '../../journal/segment.js'
import type { Services } from '../../kit/services.js'
import type { ClickHouse } from '../../storage/clickhouse.js'
import { clonePrefix } from '../../storage/dump.js'

/** Tables with nothing but ids, numbers, times and hashes. Their files stay as they are; all others are written anew. */
const withoutTexts: readonly string[] = [
  'billing_due',
  'billing_periods',
  'billing_told',
  'charge_lines',
  'checkpoints',
  'company_credits',
  'company_plans',
  'company_timers',
  'credit_grants',
  'credit_holds',
  'ended_trials',
  'flag_last_checks',
  'memberships',
  'paid_effects',
  'projections',
  'sealed_key_parts',
  'sealed_keys',
]

/** Erasures whose files are cleared at a time. */
interface Round {
  /** Erasures that ended before it. */
  readonly ids: readonly string[]
  /** Postgres's and ClickHouse's time: both run on this machine. */
  readonly begunAt: Date
  /** Segments that may hold records from before, as paths below the journal's directory. */
  readonly segments: ReadonlySet<string>
}

/** Waits until the stores have let go of old files, then has Postgres write its own anew. */
export class StoreFiles {
  private readonly services: Pick<Services, 'sql' | 'clickhouse' | 'shards'>
  private readonly journals: string
  private round: Round | null = null
  private hasRecycling = false

  /** journals: the directory of the journals of all shards. */
  constructor(services: Pick<Services, 'sql' | 'clickhouse' | 'shards'>, journals: string) {
    this.services = services
    this.journals = journals
  }

  /**
   * Go on with the erasures whose files are not clear. The next round takes erasures that end meanwhile.
   *
   * returns  whether records of erasures were marked as clear. source: ER-9
   * errors   a store's error; the next call tries again.
   */
  async clear(): Promise<boolean> {
    const { sql, clickhouse } = this.services
    this.round ??= await this.begin()
    if (this.round === null) return false
    const { ids, begunAt, segments } = this.round
    const left = await segmentsOf(this.journals)
    if (left.some(path => segments.has(path))) return false
    if (await holdsOldParts(clickhouse, begunAt)) return false
    if (await readsThePast(sql, begunAt)) return false
    await writeAnew(sql)
    await sql`update erasures set files_clear_at = now() where id = any(${ids as string[]})`
    this.round = null
    return true
  }

  private async begin(): Promise<Round | null> {
    const { sql, shards } = this.services
    // a process that was killed in `renewLog` has left the setting
    if (!this.hasRecycling && !(await recycles(sql))) await setRecycling(sql, true)
    this.hasRecycling = true
    const rows = await sql<{ id: string; at: Date }[]>`
      select id, now() as at from erasures where erased_at is not null and files_clear_at is null
      order by erased_at limit 10000`
    if (rows.length === 0) return null
    await shards.renewJournals()
    const paths = await segmentsOf(this.journals)
    const segments = new Set(paths.filter((path, i) => !isNewest(path, paths[i + 1])))
    return { ids: rows.map(row => row.id), begunAt: rows[0]!.at, segments }
  }
}

/** Whether a segment is the newest of its shard: the next path in order belongs to another shard, or there is no next path. */
function isNewest(path: string, next: string | undefined): boolean {
  return next === undefined || path.split('/')[0] !== next.split('/')[0]
}

/** Segments of all shards, as `shard-00/00…1.journal`, in order. */
async function segmentsOf(journals: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(journals, { withFileTypes: true }))
    if (entry.isDirectory())
      for (const name of await readdir(join(journals, entry.name)))
        if (isSegment(name)) found.push(`${entry.name}/${name}`)
  return found.sort()
}

/**
 * Whether the disk has parts of tables that were replaced before an instant, or put aside. ClickHouse drops the former within
 * ten minutes. A backup's clone keeps them for as long as it is read.
 */
async function holdsOldParts(clickhouse: ClickHouse, before: Date): Promise<boolean> {
  const at = Math.ceil(before.getTime() / 1_000)
  const [held] = await clickhouse.select<{ n: number }>(
    `SELECT
       (SELECT count() FROM system.parts
        WHERE database = currentDatabase() AND NOT active AND toUnixTimestamp(remove_time) <= {at:Int64}) +
       (SELECT count() FROM system.detached_parts
        WHERE database = currentDatabase() AND toUnixTimestamp(modification_time) <= {at:Int64}) +
       (SELECT count() FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${clonePrefix}')) +
       (SELECT count() FROM system.dropped_tables WHERE database = currentDatabase()) AS n`,
    { at },
  )
  return Number(held!.n) > 0
}

/** Whether a transaction from before an instant still reads: rows removed since are copied for it. */
async function readsThePast(sql: Sql, before: Date): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where pid <> pg_backend_pid() and backend_xmin is not null and xact_start <= ${before} limit 1`
  return rows.length > 0
}

/** Each table is locked while it is written anew. A table that others use for longer than the lock timeout is an error. */
async function writeAnew(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'
      and table_name <> all(${withoutTexts as string[]})
    order by table_name`
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await connection`set lock_timeout = '2s'`
    for (const { name } of tables) {
      await connection`vacuum (full, analyze) ${connection(name)}`
      await clearStatistics(connection, name)
    }
    // statistics hold samples of removed rows
    await connection`vacuum full pg_catalog.pg_statistic`
    await renewLog(connection)
  } finally {
    await connection`reset statement_timeout`.catch(() => {})
    await connection`reset lock_timeout`.catch(() => {})
    connection.release()
  }
}

/** Remove the statistics of an empty table: `analyze` replaces no samples of former rows where there are no rows. */
async function clearStatistics(sql: ReservedSql, table: string): Promise<void> {
  const rows = await sql`select from ${sql(table)} limit 1`
  if (rows.length > 0) return
  await sql`
    select pg_clear_attribute_stats(schemaname::text, tablename::text, attname::text, inherited) from pg_stats
    where schemaname = current_schema() and (tablename = ${table} or tablename in (
      select indexname from pg_indexes where schemaname = current_schema() and tablename = ${table}))`
}

/** How often it is looked whether the server has taken a setting, ms. */
const lookMs = 50

/** Whether the server uses files of its write-ahead log again. */
async function recycles(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ value: string }[]>`select current_setting('wal_recycle') as value`
  return row!.value === 'on'
}

/** Have the server use files of the log again, its default, or remove them. Resolves when it has taken the setting. */
async function setRecycling(sql: Sql, wanted: boolean): Promise<void> {
  await (wanted ? sql`alter system reset wal_recycle` : sql`alter system set wal_recycle = off`)
  await sql`select pg_reload_conf()`
  while ((await recycles(sql)) !== wanted) await sleep(lookMs)
}

/** Begin another file of the write-ahead log, and remove the others in place of using them again. */
async function renewLog(sql: ReservedSql): Promise<void> {
  try {
    await setRecycling(sql, false)
    // files that wait to be used again are used up first
    const [ahead] = await sql<{ files: number }[]>`
      select count(*)::int as files from pg_ls_waldir()
      where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_lsn())`
    for (let left = ahead!.files; left >= 0; left--) {
      // a switch leaves only a file that has a record
      await sql`select pg_create_restore_point('erased')`
      await sql`select pg_switch_wal()`
    }
    await sql`checkpoint`
    // a second checkpoint removes files that the first one still kept
    await sql`select pg_create_restore_point('erased')`
    await sql`select pg_switch_wal()`
    await sql`checkpoint`
  } finally {
    await setRecycling(sql, true)
  }
}

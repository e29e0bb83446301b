// One owner of a Postgres that is named by URL: a lease in one row, which the owner renews. Two Tollgates that know nothing
// of each other would both answer, and their states would differ.
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { ConfigError } from '../config.js'
import { leaseMs, moment, newLook, noteLook, type Ownership } from './ownership.js'
import { closePostgres, openPostgres, type PostgresAddress } from './postgres.js'
import { bootId, isStopped, startOf } from './process.js'
import { inTransaction } from './transactions.js'

/** Transactions that write have it shared; a new owner waits until none does. Any number that no other program would choose. */
const writersKey = 5_021_718_304_553
/** The session lock of builds before the lease. */
const formerKey = 5_021_718_304_552
const renewMs = 1_000
/** A Postgres that does not answer a renewal for so long is away. Two of these and a pause are less than the lease. */
const answerMs = 700
/** How long a start waits for an owner that does not renew its lease: one that was killed on another machine keeps it to the end. */
const patienceMs = leaseMs + 1_000
const againMs = 100
/** How long a start waits for transactions that a former owner left open, before it ends them. */
const leftOpenMs = 1_000
/** A statement about the lease takes no longer. */
const statementMs = 5_000

/** `alone`: nobody else may be here. `shared`: others that share it the same way may, as nodes of one cluster do. */
export type Holding = 'alone' | 'shared'

/**
 * The row is no part of the schema: it is taken before migrations run, and no backup has it. `must_own` ends a transaction of an
 * owner that was replaced, and keeps the next owner waiting until the transaction has ended.
 */
const schema = `
  create table if not exists ownership (
    one boolean primary key default true check (one),
    epoch bigint not null,
    -- nodes of one cluster
    shared boolean not null,
    -- what a second one is told
    name text not null,
    since timestamptz not null,
    until timestamptz not null,
    -- a process can be looked for where it is: empty for nodes, of which there are several
    machine text not null,
    process text not null
  );
  insert into ownership values (true, 0, false, '', now(), '-infinity', '', '') on conflict do nothing;
  create or replace function must_own(asked bigint) returns void language plpgsql as $$
  begin
    perform pg_advisory_xact_lock_shared(${writersKey});
    if not exists (select from ownership where epoch = asked) then
      raise exception 'another Tollgate owns this database' using errcode = 'TG503';
    end if;
  end $$`

interface Row {
  readonly epoch: string
  readonly shared: boolean
  readonly name: string
  readonly since: Date
  /** As text: a Date has no microseconds. */
  readonly until: string
  readonly live: boolean
  readonly machine: string
  readonly process: string
}

interface Held {
  readonly by: string
  readonly until: string
}

/** Held until released, or until its lease has run out and another took it. */
export class Holder {
  private readonly over = new AbortController()
  private readonly renewing: Promise<void>

  private constructor(
    private readonly sql: Sql,
    readonly ownership: Ownership,
    private readonly holding: Holding,
    private readonly log: Logger,
    private readonly lost: (message: string) => void,
  ) {
    this.renewing = this.renew()
  }

  /**
   * Hold a database.
   *
   * lost     told, once, when another took it after the lease had run out: nothing is written any more.
   * errors   ConfigError that says who holds it; those of the driver while Postgres is away.
   */
  static async take(
    address: PostgresAddress,
    holding: Holding,
    log: Logger,
    lost: (message: string) => void,
  ): Promise<Holder> {
    const sql = openPostgres(address, { max: 1, statementTimeoutMs: statementMs, lasts: nameOf(holding) })
    try {
      await makeRow(sql)
      const beganMs = performance.now()
      let seen: string | null = null
      for (;;) {
        const waitedMs = performance.now() - beganMs
        const began = moment()
        const outcome = await attempt(sql, holding, waitedMs > leftOpenMs)
        if (typeof outcome === 'number') {
          const ownership = { epoch: outcome, looked: newLook() }
          noteLook(ownership.looked, began)
          return new Holder(sql, ownership, holding, log, lost)
        }
        seen ??= outcome.until
        const isRenewed = outcome.until !== seen
        if (isRenewed || waitedMs > patienceMs) throw new ConfigError(refusal(outcome.by, holding))
        await sleep(againMs)
      }
    } catch (error) {
      await closePostgres(sql, 0).catch(() => {})
      throw error
    }
  }

  /** End the lease; nodes of a cluster leave theirs to those that remain. */
  async release(): Promise<void> {
    this.over.abort()
    await this.renewing
    if (this.holding === 'alone')
      await this.sql`
        update ownership set until = '-infinity', machine = '', process = ''
        where epoch = ${this.ownership.epoch}`.catch(() => {})
    await closePostgres(this.sql, 0).catch(() => {})
  }

  private async renew(): Promise<void> {
    const { signal } = this.over
    let away = false
    while (!signal.aborted) {
      await sleep(renewMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const began = moment()
      const isHeld = await this.renewed()
      if (isHeld === false) return this.end(await takenBy(this.sql, this.holding))
      // A database that is away has no other owner; a process that hung meanwhile looks once more, as it began before.
      noteLook(this.ownership.looked, began)
      if (away && isHeld) this.log.info('the lease of Postgres is renewed again')
      away = isHeld === null
    }
  }

  /** Renew the lease. Returns whether it is held; null when Postgres does not say. */
  private async renewed(): Promise<boolean | null> {
    const { sql, ownership } = this
    const renewal = sql`update ownership set until = ${leaseEnd(sql)} where epoch = ${ownership.epoch}`.then(
      ({ count }) => count > 0,
      () => null,
    )
    return Promise.race([renewal, sleep(answerMs, null)])
  }

  private end(message: string): void {
    if (!this.over.signal.aborted) this.lost(message)
  }
}

const nameOf = (holding: Holding): string =>
  `tollgate${holding === 'shared' ? ' node' : ''}, process ${process.pid} on ${hostname()}`.slice(0, 63)

const leaseEnd = (sql: Sql) => sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`

async function makeRow(sql: Sql): Promise<void> {
  const [made] =
    await sql`select to_regclass('ownership') is not null and to_regproc('must_own') is not null as made`
  if (made!.made) return
  await inTransaction(sql, async tx => {
    await tx`select pg_advisory_xact_lock(${writersKey})`
    await tx.unsafe(schema)
  })
}

const look = (sql: Sql) => sql<Row[]>`
  select epoch, shared, name, since, until::text, until > clock_timestamp() as live, machine, process from ownership`

/**
 * Try to take it.
 *
 * ends     end transactions that a former owner left open.
 * returns  the epoch, or who holds it and until when.
 */
async function attempt(sql: Sql, holding: Holding, ends: boolean): Promise<number | Held> {
  const former = await formerHolder(sql)
  if (former !== null) return { by: former, until: '' }
  const row = (await look(sql))[0]!
  const joins = holding === 'shared' && row.shared
  const held = { by: holderOf(row), until: row.until }
  if (!joins) {
    const fate = fateOf(row)
    if (fate === 'works' || (fate === 'unknown' && row.live)) return held
  }
  const own =
    holding === 'alone'
      ? { machine: machine(), process: processName(process.pid) }
      : { machine: '', process: '' }
  return inTransaction(sql, async tx => {
    const epoch = joins ? row.epoch : String(Number(row.epoch) + 1)
    // nodes that join take nothing from anybody
    const [lock] = joins
      ? [{ free: true }]
      : await tx<{ free: boolean }[]>`select pg_try_advisory_xact_lock(${writersKey}) as free`
    if (!lock!.free) {
      if (ends) await endWriters(tx)
      return { ...held, by: `${held.by}, whose last transactions have not ended` }
    }
    // it may have been renewed or taken since it was looked at
    const { count } = await tx`
      update ownership set epoch = ${epoch}, shared = ${holding === 'shared'}, name = ${nameOf(holding)},
        since = ${joins ? tx`since` : tx`clock_timestamp()`}, until = ${leaseEnd(tx)},
        machine = ${own.machine}, process = ${own.process}
      where epoch = ${row.epoch} and (${joins} or until::text = ${row.until})`
    return count === 0 ? held : Number(epoch)
  })
}

/** End what keeps a new owner waiting: its owner's lease has run out, or its process has ended. */
async function endWriters(sql: Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and granted and objsubid = 1 and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${writersKey}`
}

/** Identifies where pids mean the same: the boot of a machine, and a container on it. */
function machine(): string {
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

const processName = (pid: number): string => `${pid} ${startOf(pid) ?? ''}`

/**
 * Fate of the owner's process where it can be looked for. A machine that has no time for it may let its lease run out: here it
 * still owns the database, unless it is stopped.
 */
function fateOf(row: Row): 'gone' | 'works' | 'unknown' {
  if (row.machine === '' || row.machine !== machine()) return 'unknown'
  const pid = Number(row.process.split(' ')[0])
  if (processName(pid) !== row.process) return 'gone'
  return isStopped(pid) ? 'unknown' : 'works'
}

/** Find the holder of the session lock of builds before the lease; null: there is none. */
async function formerHolder(sql: Sql): Promise<string | null> {
  const rows = await sql<{ name: string; since: Date }[]>`
    select application_name as name, backend_start as since
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${formerKey}`
  return rows[0] === undefined ? null : holderOf(rows[0])
}

const holderOf = ({ name, since }: { readonly name: string; readonly since: Date }): string =>
  `${name || 'another Tollgate'}, since ${since.toISOString()}`

async function takenBy(sql: Sql, holding: Holding): Promise<string> {
  const [row] = await look(sql).catch(() => [])
  return refusal(row === undefined ? 'another Tollgate' : holderOf(row), holding)
}

function refusal(holder: string, holding: Holding): string {
  return (
    `The Postgres of DATABASE_URL is in use by ${holder}. Stop that one first, or give this one a database of its own` +
    (holding === 'shared' ? '.' : '. Several nodes on one Postgres need REDIS_URL.')
  )
}

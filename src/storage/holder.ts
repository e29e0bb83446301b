// One owner of a Postgres that is named by URL: an advisory lock for as long as the process lives. Two Tollgates that
// know nothing of each other would both answer, and their states would differ.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ReservedSql, Sql } from 'postgres'
import { ConfigError } from '../config.js'
import { closePostgres, openPostgres, type PostgresAddress } from './postgres.js'

/** Any number that no other program would choose. */
const lockKey = 5_021_718_304_552
/** How often the lock's connection is asked whether it is there. */
const lookMs = 1_000
/** How long a start waits for a lock that is held: a process that was killed lets go within moments. */
const patienceMs = 3_000
const againMs = 100
/** A statement of the lock's own connection takes no longer. */
const statementMs = 5_000

/** `alone`: nobody else may be here. `shared`: others that share it the same way may, as nodes of one cluster do. */
export type Holding = 'alone' | 'shared'

/** One connection, and whether it is there. */
class Line {
  isOpen = true
  readonly sql: Sql
  private reserved: ReservedSql | null = null

  constructor(address: PostgresAddress, holding: Holding) {
    const closed = (): void => {
      this.isOpen = false
    }
    this.sql = openPostgres(address, {
      max: 1,
      statementTimeoutMs: statementMs,
      lasts: nameOf(holding),
      closed,
    })
  }

  async open(): Promise<ReservedSql> {
    // the driver reserves no connection that is not open yet
    await this.sql`select 1`
    this.reserved = await this.sql.reserve()
    this.isOpen = true
    return this.reserved
  }

  get held(): Sql {
    return this.reserved ?? this.sql
  }

  /** Whether the server answers on it; what is closed is not asked, as the driver would connect anew. */
  async answers(): Promise<boolean> {
    if (!this.isOpen || this.reserved === null) return false
    try {
      await this.reserved`select 1`
      return this.isOpen
    } catch {
      return false
    }
  }

  async close(): Promise<void> {
    await closePostgres(this.sql, 0).catch(() => {})
  }
}

/** Held until released, or until the process ends, however it ends. */
export class Holder {
  private line: Line
  private epoch = 0
  private released = false
  private looking: Promise<void>

  private constructor(
    private readonly address: PostgresAddress,
    line: Line,
    private readonly holding: Holding,
    private readonly log: Logger,
    private readonly lost: (message: string) => void,
  ) {
    this.line = line
    this.looking = this.look()
  }

  /**
   * Hold a database.
   *
   * lost     told, once, when another took it while its connection was gone: nothing may be written any more.
   * errors   ConfigError that says who holds it; those of the driver while Postgres is away.
   */
  static async take(
    address: PostgresAddress,
    holding: Holding,
    log: Logger,
    lost: (message: string) => void,
  ): Promise<Holder> {
    const line = new Line(address, holding)
    try {
      const lock = await line.open()
      for (const untilMs = performance.now() + patienceMs; !(await tryLock(lock, holding)); ) {
        if (performance.now() > untilMs) throw new ConfigError(await refusal(lock, holding))
        await sleep(againMs)
      }
      return new Holder(address, line, holding, log, lost)
    } catch (error) {
      await line.close()
      throw error
    }
  }

  /** Note that it is held, once the schema is in place: from now on a lock that was lost and taken again is noticed. */
  async begin(): Promise<void> {
    if (this.holding === 'alone') this.epoch = await nextEpoch(this.line.held)
  }

  async release(): Promise<void> {
    this.released = true
    await this.line.close()
    await this.looking
  }

  private async look(): Promise<void> {
    while (!this.released) {
      await sleep(lookMs)
      if (!this.released && !(await this.line.answers()) && !this.released) await this.again()
    }
  }

  /** The connection is gone, and the lock with it. */
  private async again(): Promise<void> {
    while (!this.released) {
      await this.line.close()
      const line = new Line(this.address, this.holding)
      this.line = line
      try {
        const lock = await line.open()
        if (!(await tryLock(lock, this.holding))) return this.end(await refusal(lock, this.holding))
        if (this.epoch > 0) {
          const epoch = await nextEpoch(lock)
          if (epoch !== this.epoch + 1) return this.end('Another Tollgate used this Postgres meanwhile')
          this.epoch = epoch
        }
        this.log.info('the lock of Postgres is held again')
        return
      } catch {
        await sleep(againMs)
      }
    }
  }

  private end(message: string): void {
    if (this.released) return
    this.released = true
    this.lost(message)
  }
}

const nameOf = (holding: Holding): string =>
  `tollgate${holding === 'shared' ? ' node' : ''}, process ${process.pid} on ${hostname()}`.slice(0, 63)

async function tryLock(sql: Sql, holding: Holding): Promise<boolean> {
  const [row] =
    holding === 'alone'
      ? await sql<{ held: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as held`
      : await sql<{ held: boolean }[]>`select pg_try_advisory_lock_shared(${lockKey}) as held`
  return row!.held
}

async function nextEpoch(sql: Sql): Promise<number> {
  const [row] = await sql<{ epoch: string }[]>`select nextval('holder_epoch') as epoch`
  return Number(row!.epoch)
}

async function refusal(sql: Sql, holding: Holding): Promise<string> {
  const rows = await sql<{ name: string; since: Date; address: string | null }[]>`
    select application_name as name, backend_start as since, host(client_addr) as address
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${lockKey}`
  const holders = rows.map(
    ({ name, since, address }) =>
      `${name}${address === null ? '' : ` (${address})`}, since ${since.toISOString()}`,
  )
  const by = holders.length === 0 ? 'another Tollgate' : holders.join('; ')
  return (
    `The Postgres of DATABASE_URL is in use by ${by}. Stop that one first, or give this one a database of its own` +
    (holding === 'shared' ? '.' : '. Several nodes on one Postgres need REDIS_URL.')
  )
}

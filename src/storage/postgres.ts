// Connections to Postgres: open, health, close. Statements are elsewhere.
import { Socket } from 'node:net'
import postgres, { type Sql } from 'postgres'
import type { Ownership } from './ownership.js'
import { setLocally, withOpening } from './transactions.js'

/** Address of a Postgres; plain data, so that it can be sent to threads. */
export type PostgresAddress = PostgresPlace & {
  /** Time limit of a transaction in which nothing is asked, where statements have one; that of a statement unless set. */
  readonly idleTransactionMs?: number
  /** A pooler is between that gives a connection of the server to one transaction at a time. */
  readonly pooled?: boolean
  /** The owner that opens the connections (holder.ts). Each transaction that writes proves that this owner was not replaced. */
  readonly owner?: Ownership
  /** Connections of threads; absent: as many as they have use for. */
  readonly shares?: { readonly thread: number; readonly projector: number }
}

type PostgresPlace =
  | { readonly url: string }
  | {
      /** A host name, or the directory of a unix socket. */
      readonly host: string
      readonly port: number
      readonly user: string
      readonly password?: string | undefined
      readonly database: string
    }

interface PostgresOptions {
  /** Most connections; each is a process of the server. */
  readonly max?: number
  /** Server-side time limit of a statement; 0: none. */
  readonly statementTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Connections are kept while nothing is asked, under this name; absent: they are given up after a while. */
  readonly lasts?: string
  /** Told whenever a connection was closed. */
  readonly closed?: () => void
  /** Notices of the server; dropped unless asked for. */
  readonly onnotice?: (notice: postgres.Notice) => void
}

const idleSeconds = 20
/**
 * Lifetime of a connection. Each keeps its first 250 statements prepared (tools/patches), here and in the server's
 * process. Lists have more forms than that, so a new connection prepares those used now.
 */
const lifeSeconds = 600
/** Silence for longer than the time limit of statements plus this means that the server is gone. */
const silenceBeyondStatementMs = 5_000
const reconnectSecondsMax = 0.25
const healthMs = 3_000

/**
 * Open a pool. It connects at the first statement and reconnects by itself.
 *
 * While Postgres is down a statement rejects and never hangs: at once when the connection is refused, after
 * `connectTimeoutMs` when nothing answers, and after `statementTimeoutMs` plus 5 s when an open connection is silent.
 * `asStoreError` (away.ts) recognises these rejections. bigint columns are strings, timestamps are Dates.
 *
 * Behind a pooler each transaction sets the limits for itself. A single statement has no limit of the server there: one that
 * is silent for too long is given up here.
 */
export function openPostgres(address: PostgresAddress, options: PostgresOptions = {}): Sql {
  const {
    max = 10,
    statementTimeoutMs = 30_000,
    connectTimeoutMs = 5_000,
    lasts,
    closed,
    onnotice = () => {},
  } = options
  const { idleTransactionMs = statementTimeoutMs, pooled = false, owner, shares: _, ...place } = address
  const limits = {
    statement_timeout: statementTimeoutMs,
    // Pages of an index are in memory or on an SSD. As if on a disk, a write of ten companies by their ids read all of them
    // while there were fewer than 14,000.
    random_page_cost: 1.1,
    // long work has neither limit: a migration waits for another store in its transaction
    idle_in_transaction_session_timeout: statementTimeoutMs === 0 ? 0 : idleTransactionMs,
  }
  const silenceMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceBeyondStatementMs
  const settings: Settings = {
    max,
    onnotice,
    ...(closed === undefined ? {} : { onclose: closed }),
    // what such a connection is asked has no lists in it
    fetch_types: lasts === undefined,
    connect_timeout: connectTimeoutMs / 1_000,
    idle_timeout: lasts === undefined ? idleSeconds : 0,
    max_lifetime: lasts === undefined ? lifeSeconds : null,
    backoff: (attempt: number) => Math.min(0.01 * 2 ** attempt, reconnectSecondsMax),
    socket: watchedSocket(silenceMs),
    // A prepared statement belongs to a connection of the server.
    prepare: !pooled,
    // A pooler takes these two for each client, and refuses others.
    connection: { application_name: lasts ?? 'tollgate', TimeZone: 'UTC', ...(pooled ? {} : limits) },
  }
  const sql = poolOf(place, settings)
  const all = pooled ? setLocally(limits) : ''
  return withOpening(sql, { all, ...(owner && { writing: `select must_own(${owner.epoch})` }) })
}

function poolOf(place: PostgresPlace, settings: Settings): Sql {
  if ('url' in place) return postgres(place.url, settings)
  const { password, ...rest } = place
  return postgres({ ...rest, ...settings, ...(password === undefined ? {} : { password }) })
}

/** Whether Postgres answers, within a few seconds. Never rejects. */
export async function postgresHealthy(sql: Sql): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, healthMs, false)
  })
  const answered = sql`select 1`.then(
    () => true,
    () => false,
  )
  const healthy = await Promise.race([answered, late])
  clearTimeout(timer)
  return healthy
}

/** Close a pool. Running statements get `graceMs` to end. */
export async function closePostgres(sql: Sql, graceMs = 5_000): Promise<void> {
  await sql.end({ timeout: graceMs / 1_000 })
}

interface Settings extends postgres.Options<Record<string, never>> {
  /** Missing from the driver's types: creates the socket of a connection. */
  readonly socket: (options: Target) => Socket
}

interface Target {
  readonly host: readonly string[]
  readonly port: readonly number[]
  /** Path of a unix socket; else false. */
  readonly path: string | false
}

/**
 * Creates sockets that close after `silenceMs` without data. A socket is returned while it connects and buffers
 * writes.
 */
function watchedSocket(silenceMs: number): (target: Target) => Socket {
  let next = 0
  return target => {
    const index = next++ % target.host.length
    const host = target.host[index] ?? 'localhost'
    const port = target.port[index] ?? 5432
    const socket = new WatchedSocket()
    socket.setNoDelay(true)
    // the driver's own sockets wait forever for a server that vanished
    socket.setTimeout(silenceMs, () => socket.destroy())
    if (target.path === false) socket.connect(port, host)
    else socket.connect(target.path)
    // the driver uses these as server name for TLS
    return Object.assign(socket, { host, port })
  }
}

/**
 * A socket that emits an error only together with the close that follows. In between, the driver would still send a
 * statement on the connection, which would never be answered.
 */
class WatchedSocket extends Socket {
  private failure: Error | null = null

  override emit(event: string | symbol, ...details: unknown[]): boolean {
    if (event === 'error') {
      this.failure = details[0] as Error
      return true
    }
    if (event === 'close' && this.failure !== null) super.emit('error', this.failure)
    return super.emit(event, ...details)
  }
}

// Connections to Postgres: open, health, close. The statements are elsewhere.
import { Socket } from 'node:net'
import postgres, { type Sql } from 'postgres'

/** Where a Postgres is; plain data, so that it crosses to threads. */
export type PostgresAddress =
  | { readonly url: string }
  | {
      /** A host name, or the directory of a unix socket. */
      readonly host: string
      readonly port: number
      readonly user: string
      readonly password?: string | undefined
      readonly database: string
    }

export interface PostgresOptions {
  /** Connections at most; each is a process on the other side. */
  readonly max?: number
  /** A statement is ended by the server after this long; 0: never. */
  readonly statementTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Notices of the server; dropped unless asked for. */
  readonly onnotice?: (notice: postgres.Notice) => void
}

const idleSeconds = 20
/**
 * A connection keeps the first 250 statements it is given prepared (tools/patches), here and in its process on the
 * other side: lists have more forms than that. After this long it begins anew with those that are asked then.
 */
const lifeSeconds = 600
/** Longer than any statement may take: silence beyond it means that nobody is there. */
const silenceBeyondStatementMs = 5_000
const reconnectSecondsMax = 0.25
const healthMs = 3_000

/**
 * Open a pool. Connects at the first statement; comes back by itself when the server does.
 *
 * While Postgres is away a statement rejects, it never hangs: at once when nobody listens, after
 * `connectTimeoutMs` when nobody answers, and after `statementTimeoutMs` and 5 s more when an open connection falls
 * silent. `asStoreError` (away.ts) tells such a rejection from a wrong statement.
 * bigint columns come as strings, timestamps as Date.
 */
export function openPostgres(address: PostgresAddress, options: PostgresOptions = {}): Sql {
  const { max = 10, statementTimeoutMs = 30_000, connectTimeoutMs = 5_000, onnotice = () => {} } = options
  const silenceMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceBeyondStatementMs
  const settings: Settings = {
    max,
    onnotice,
    connect_timeout: connectTimeoutMs / 1_000,
    idle_timeout: idleSeconds,
    max_lifetime: lifeSeconds,
    backoff: (attempt: number) => Math.min(0.01 * 2 ** attempt, reconnectSecondsMax),
    socket: watchedSocket(silenceMs),
    connection: {
      application_name: 'tollgate',
      TimeZone: 'UTC',
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
    },
  }
  if ('url' in address) return postgres(address.url, settings)
  const { password, ...rest } = address
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

/** Close a pool: statements that run get `graceMs` to end. */
export async function closePostgres(sql: Sql, graceMs = 5_000): Promise<void> {
  await sql.end({ timeout: graceMs / 1_000 })
}

interface Settings extends postgres.Options<Record<string, never>> {
  /** Part of the driver, missing from its types: makes the socket of a connection. */
  readonly socket: (options: Target) => Socket
}

interface Target {
  readonly host: readonly string[]
  readonly port: readonly number[]
  /** Of a unix socket; false otherwise. */
  readonly path: string | false
}

/** Returned while it still connects: the driver's bytes wait in it, and its errors take the driver's usual path. */
function watchedSocket(silenceMs: number): (target: Target) => Socket {
  let next = 0
  return target => {
    const index = next++ % target.host.length
    const host = target.host[index] ?? 'localhost'
    const port = target.port[index] ?? 5432
    const socket = new WatchedSocket()
    socket.setNoDelay(true)
    // The driver's own sockets wait for ever on a server that vanished without a word.
    socket.setTimeout(silenceMs, () => socket.destroy())
    if (target.path === false) socket.connect(port, host)
    else socket.connect(target.path)
    // The driver names the server by this when it sets up TLS.
    return Object.assign(socket, { host, port })
  }
}

/**
 * Tells of an error only together with the close that follows it. In the moment between the two the driver would
 * still give the connection a statement, and nobody would ever answer that one.
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

// Connections to an embedded or external ClickHouse: open, query, insert, health, close. Statements are elsewhere.
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import { asStoreError } from './away.js'
import { writeIncoming } from './embedded/incoming.js'

/** Address of a ClickHouse; plain data, so that it can be sent to threads. */
export interface ClickHouseAddress {
  readonly url: string
  readonly user?: string
  readonly password?: string
  readonly database?: string
  /** Unix socket of the embedded one. The URL's host and port are ignored then. */
  readonly socketPath?: string
  /** Directory of the embedded one: it reads rows from files here instead of a socket. */
  readonly directory?: string
}

interface ClickHouseOptions {
  /** Concurrent requests; others wait. */
  readonly max?: number
  /** Longest wait for a response. */
  readonly requestTimeoutMs?: number
  /** Compress requests. Useful for a remote server, not for the embedded one. */
  readonly gzip?: boolean
  /** Called when a statement with a result begins (1) and ends (-1); not for inserts. */
  readonly asked?: (more: 1 | -1) => void
}

export type Parameters = Readonly<Record<string, unknown>>

export interface InsertOptions {
  readonly table: string
  /** The bytes to insert, one row per line; pieces are concatenated. */
  readonly rows: Buffer | string | readonly Buffer[]
  /** Default JSONEachRow. */
  readonly format?: 'JSONEachRow' | 'TabSeparated'
  /** Allowed columns; a row with another one is refused. Absent: every column of the table. */
  readonly columns?: readonly string[]
  /** The fastest way for the embedded engine to read these rows; the result is the same. */
  readonly reading?: Reading
  /** Deduplication token: the second of two inserts with one token is dropped, in the table and in its views. */
  readonly token?: string
  readonly settings?: ClickHouseSettings
}

/**
 * How the embedded engine reads rows: into plain columns, which are then converted as a whole. A LowCardinality
 * column that receives single values would build a column for each of them.
 */
export interface Reading {
  /** Names and types of the columns read. */
  readonly structure: string
  /** The columns of the table, and the expression for each. */
  readonly columns: readonly string[]
  readonly select: readonly string[]
  /** Converts lines for an external server, which reads table columns only; absent if the lines are the same. */
  readonly inFull?: (lines: Buffer) => Buffer
}

/** A ClickHouse store. Every method rejects with `store_away` while it is down. */
export interface ClickHouse {
  /** The underlying client, for other operations. Its errors do not name the store. */
  readonly client: ClickHouseClient
  /**
   * Rows of a query with `{name: Type}` placeholders.
   * 64-bit integers come as numbers (exact to 2^53), decimals as strings, times as RFC 3339 UTC.
   */
  select<Row>(sql: string, parameters?: Parameters, settings?: ClickHouseSettings): Promise<Row[]>
  /** The response of a query with a FORMAT clause, in ClickHouse's bytes. */
  bytes(sql: string, parameters?: Parameters): AsyncGenerator<Buffer>
  /** Insert serialised rows; resolves when they are on disk. */
  insertRaw(options: InsertOptions): Promise<void>
  /** Run a statement without a result. */
  command(sql: string, parameters?: Parameters, settings?: ClickHouseSettings): Promise<void>
  /** Whether it answers, within a few seconds. Never rejects. */
  healthy(): Promise<boolean>
  close(): Promise<void>
}

/** Settings of every statement, so that embedded and external servers behave alike. */
const everywhere: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  date_time_output_format: 'iso',
  date_time_input_format: 'best_effort',
  session_timezone: 'UTC',
}

const healthMs = 3_000

const insertSettings: ClickHouseSettings = {
  // A misspelt column is an error, not a default value.
  input_format_skip_unknown_fields: 0,
  async_insert: 0,
  // Deduplicate by token in the tables of views too.
  deduplicate_blocks_in_dependent_materialized_views: 1,
}

/** Agent that connects to one unix socket. The client closes idle connections itself, as with its own agents. */
class SocketAgent extends Agent {
  constructor(
    private readonly path: string,
    maxSockets: number,
  ) {
    super({ keepAlive: true, maxSockets })
  }

  override createConnection(): Socket {
    return connect(this.path)
  }
}

/** Open a client. It connects at the first statement and reconnects by itself. */
export function openClickHouse(address: ClickHouseAddress, options: ClickHouseOptions = {}): ClickHouse {
  const { max = 10, requestTimeoutMs = 60_000, gzip = false, asked = () => {} } = options
  const client = createClient({
    url: address.url,
    application: 'tollgate',
    max_open_connections: max,
    request_timeout: requestTimeoutMs,
    compression: { request: gzip, response: gzip },
    // less than the 3 s after which older servers close an idle connection
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    // errors reach the caller, which logs them
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: everywhere,
    ...(address.user === undefined ? {} : { username: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.database === undefined ? {} : { database: address.database }),
    ...(address.socketPath === undefined ? {} : { http_agent: new SocketAgent(address.socketPath, max) }),
  })

  const waited = <T>(work: () => Promise<T>): Promise<T> => {
    asked(1)
    return named(work).finally(() => asked(-1))
  }

  return {
    client,
    select: (sql, parameters = {}, settings = {}) =>
      waited(async () => {
        const result = await client.query({
          query: sql,
          format: 'JSONEachRow',
          query_params: { ...parameters },
          clickhouse_settings: settings,
        })
        return result.json()
      }),
    bytes: (sql, parameters = {}) => pieces(client, sql, parameters, asked),
    insertRaw: ({ table, rows, format = 'JSONEachRow', columns, reading, token, settings }) =>
      named(async () => {
        const pieces = typeof rows === 'string' ? [Buffer.from(rows)] : Buffer.isBuffer(rows) ? [rows] : rows
        if (pieces.every(piece => piece.length === 0)) return
        const insert = {
          table,
          columns,
          format,
          pieces,
          reading,
          settings: {
            ...insertSettings,
            ...(token === undefined ? {} : { insert_deduplication_token: token }),
            ...settings,
          },
        }
        await (address.directory === undefined
          ? post(client, insert)
          : handOver(client, insert, address.directory))
      }),
    command: (sql, parameters = {}, settings = {}) =>
      waited(async () => {
        await client.command({ query: sql, query_params: { ...parameters }, clickhouse_settings: settings })
      }),
    healthy: () => answers(client),
    close: () => client.close(),
  }
}

interface Insert {
  readonly table: string
  readonly columns: readonly string[] | undefined
  readonly format: string
  readonly pieces: readonly Buffer[]
  readonly reading: Reading | undefined
  readonly settings: ClickHouseSettings
}

/** A quoted table or column name. */
export const ticked = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

const into = (table: string, columns: readonly string[] | undefined): string =>
  columns === undefined
    ? `INSERT INTO ${ticked(table)}`
    : `INSERT INTO ${ticked(table)} (${columns.map(ticked).join(', ')})`

// Not client.insert, which serialises objects: the rows are bytes already.
async function post(client: ClickHouseClient, insert: Insert): Promise<void> {
  const { table, columns, format, pieces, reading, settings } = insert
  const { stream } = await client.exec({
    query: `${into(table, columns)} FORMAT ${format}`,
    values: Readable.from(reading?.inFull ? pieces.map(reading.inFull) : pieces, { objectMode: false }),
    clickhouse_settings: settings,
  })
  await finished(stream.resume())
}

/** Insert through a file that the embedded engine reads. */
async function handOver(client: ClickHouseClient, insert: Insert, directory: string): Promise<void> {
  const { table, columns, format, pieces, reading, settings } = insert
  const rows = await writeIncoming(directory, pieces)
  try {
    await client.command({
      query:
        reading === undefined
          ? `${into(table, columns)} FROM INFILE '${rows.path}' FORMAT ${format}`
          : `${into(table, reading.columns)} SELECT ${reading.select.join(', ')} ` +
            `FROM file('${rows.path}', '${format}', '${reading.structure.replaceAll("'", "\\'")}')`,
      clickhouse_settings: settings,
    })
  } finally {
    await rows.remove()
  }
}

async function* pieces(
  client: ClickHouseClient,
  sql: string,
  parameters: Parameters,
  asked: (more: 1 | -1) => void,
): AsyncGenerator<Buffer> {
  asked(1)
  try {
    const { stream } = await client.exec({ query: sql, query_params: { ...parameters } })
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    throw asStoreError(error, 'ClickHouse')
  } finally {
    asked(-1)
  }
}

async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asStoreError(error, 'ClickHouse')
  }
}

async function answers(client: ClickHouseClient): Promise<boolean> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), healthMs)
  try {
    return (await client.ping({ select: false, abort_signal: abort.signal })).success
  } finally {
    clearTimeout(timer)
  }
}

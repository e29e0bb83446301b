// Connections to ClickHouse, embedded or a server: open, health, close. The statements are elsewhere.
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

/** Where a ClickHouse is; plain data, so that it crosses to threads. */
export interface ClickHouseAddress {
  readonly url: string
  readonly user?: string
  readonly password?: string
  readonly database?: string
  /** The unix socket of the embedded one: the URL's host and port mean nothing then. */
  readonly socketPath?: string
  /** Of the embedded one: it takes rows from files in here, without a way through a socket. */
  readonly directory?: string
}

export interface ClickHouseOptions {
  /** Requests at once; the others wait. */
  readonly max?: number
  /** Longest wait for an answer. */
  readonly requestTimeoutMs?: number
  /** Compress what is sent: worth it to a server elsewhere, not to the embedded one. */
  readonly gzip?: boolean
  /** Told when a statement whose answer is waited for begins (1) and when it ends (-1); inserts of rows are none. */
  readonly asked?: (more: 1 | -1) => void
}

export type Parameters = Readonly<Record<string, unknown>>

export interface InsertOptions {
  readonly table: string
  /** The bytes as they are, one row per line; in pieces too, as they follow each other. */
  readonly rows: Buffer | string | readonly Buffer[]
  /** JSONEachRow unless given. */
  readonly format?: 'JSONEachRow' | 'TabSeparated'
  /** Columns the rows may have; a row with any other is refused. Without them: every column of the table. */
  readonly columns?: readonly string[]
  /** How the embedded engine reads them quickest; the rows in the table are the same. */
  readonly reading?: Reading
  /** Of two inserts with one token the second is dropped, in the table and in the views fed from it. */
  readonly token?: string
  readonly settings?: ClickHouseSettings
}

/**
 * Rows are read into plain columns, and these turned into the table's whole: a LowCardinality column that is given one
 * value at a time makes a column of its own for each.
 */
export interface Reading {
  /** Names and types of what is read. */
  readonly structure: string
  /** The columns of the table, and what becomes each of them. */
  readonly columns: readonly string[]
  readonly select: readonly string[]
  /** Whole lines as a server elsewhere takes them, which reads columns of the table alone: where what is read are others. */
  readonly inFull?: (lines: Buffer) => Buffer
}

/** One store of rows. Every method rejects with `store_away` while ClickHouse is away. */
export interface ClickHouse {
  /** The client below, for what the methods do not do. Its own errors do not name the store. */
  readonly client: ClickHouseClient
  /**
   * Rows of a query with `{name: Type}` placeholders.
   * 64-bit integers come as numbers (exact to 2^53), decimals as strings, times as RFC 3339 UTC.
   */
  select<Row>(sql: string, parameters?: Parameters, settings?: ClickHouseSettings): Promise<Row[]>
  /** The answer of a query that ends with its FORMAT, as ClickHouse writes it. */
  bytes(sql: string, parameters?: Parameters): AsyncGenerator<Buffer>
  /** Insert ready-made rows; resolves when they are on disk. */
  insertRaw(options: InsertOptions): Promise<void>
  /** A statement without an answer. */
  command(sql: string, parameters?: Parameters, settings?: ClickHouseSettings): Promise<void>
  /** Whether it answers, within a few seconds. Never rejects. */
  healthy(): Promise<boolean>
  close(): Promise<void>
}

/** Said with every statement, so that an embedded engine and any server answer alike. */
const everywhere: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  date_time_output_format: 'iso',
  date_time_input_format: 'best_effort',
  session_timezone: 'UTC',
}

const healthMs = 3_000

const insertSettings: ClickHouseSettings = {
  // A misspelt column is a mistake, not a default.
  input_format_skip_unknown_fields: 0,
  async_insert: 0,
  // With a token: exactly once in the views' tables too.
  deduplicate_blocks_in_dependent_materialized_views: 1,
}

/** Every connection goes to one unix socket. The client lets idle ones go itself, as it does with agents of its own. */
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

/** Open a client. Connects at the first statement; comes back by itself when the server does. */
export function openClickHouse(address: ClickHouseAddress, options: ClickHouseOptions = {}): ClickHouse {
  const { max = 10, requestTimeoutMs = 60_000, gzip = false, asked = () => {} } = options
  const client = createClient({
    url: address.url,
    application: 'tollgate',
    max_open_connections: max,
    request_timeout: requestTimeoutMs,
    compression: { request: gzip, response: gzip },
    // Below the 3 s after which older servers close an idle connection.
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    // The errors reach the caller; logged where they are handled.
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

/** A name of a table or column as a statement takes it, whatever it is. */
export const ticked = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

const into = (table: string, columns: readonly string[] | undefined): string =>
  columns === undefined
    ? `INSERT INTO ${ticked(table)}`
    : `INSERT INTO ${ticked(table)} (${columns.map(ticked).join(', ')})`

// Not client.insert: it would encode rows from objects, and these are bytes already.
async function post(client: ClickHouseClient, insert: Insert): Promise<void> {
  const { table, columns, format, pieces, reading, settings } = insert
  const { stream } = await client.exec({
    query: `${into(table, columns)} FORMAT ${format}`,
    values: Readable.from(reading?.inFull ? pieces.map(reading.inFull) : pieces, { objectMode: false }),
    clickhouse_settings: settings,
  })
  await finished(stream.resume())
}

/** The embedded engine reads a file. */
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

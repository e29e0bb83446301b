// The child process of the embedded ClickHouse. It serves the part of ClickHouse's HTTP interface that Tollgate
// uses, on the engine in this process. clickhouse.ts starts it and sends one `BridgeStart`; it ends when its parent
// does.
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { drainPending, Session } from 'chdb'
import { emptyIncoming, type IncomingRows, writeIncoming } from './incoming.js'

/** Message from parent to child, sent once. */
export interface BridgeStart {
  /** The engine's data directory, which the engine locks. */
  readonly directory: string
  /** Directory for the files of incoming.ts; also the working directory of this process. */
  readonly incoming: string
  readonly engineArguments: readonly string[]
  readonly listen: BridgePlace
  readonly user: string
  readonly password: string
  /** Concurrent statements: inserts, and others. The two kinds do not wait for each other. */
  readonly inserts: number
  readonly queries: number
}

/** Where it listens: a unix socket, or a port of 127.0.0.1 (0: any free one). */
export type BridgePlace = { readonly socketPath: string } | { readonly port: number }

/** Message from child to parent, sent once. */
export type BridgeAnswer = BridgePlace | { readonly failure: string }

// Behaviour of the engine and its connections (observed, not documented):
// - A connection runs one statement at a time, and SET persists on it. So each request gets its own connection
//   (0.1 ms), and settings, tokens and parameters of one request do not affect another.
// - Rows are read from a file (incoming.ts): inside the text of a statement they cost twice as much.
// - A statement cannot be abandoned, only killed by another. When a caller disconnects, its statement is killed.
// - The process must call drainPending() before it exits, else it crashes on exit.

const bodyBytesMax = 512 * 1024 * 1024
const waitingMax = 1_000
const gzipFromBytes = 1_024
const leaveMs = 3_000

/** URL parameters that are not settings of a statement. */
const reserved = new Set([
  ...['query', 'query_id', 'database', 'default_format', 'user', 'password', 'role', 'quota_key'],
  ...['session_id', 'session_timeout', 'session_check', 'compress', 'decompress', 'enable_http_compression'],
  ...[
    'wait_end_of_query',
    'send_progress_in_http_headers',
    'http_headers_progress_interval_ms',
    'buffer_size',
  ],
  ...['cancel_http_readonly_queries_on_client_close', 'http_zlib_compression_level', 'stacktrace'],
])

/** HTTP statuses of a real server; every other code is a 500. */
const statuses: Readonly<Record<number, number>> = {
  ...{
    6: 400,
    27: 400,
    36: 400,
    38: 400,
    41: 400,
    43: 400,
    44: 400,
    47: 400,
    53: 400,
    62: 400,
    69: 400,
    72: 400,
  },
  ...{
    115: 400,
    117: 400,
    386: 400,
    456: 400,
    46: 404,
    60: 404,
    81: 404,
    159: 408,
    202: 503,
    497: 403,
    516: 401,
  },
}

/** An error in ClickHouse's own words. */
class Refusal extends Error {
  constructor(
    readonly clickhouseCode: number,
    text: string,
    type: string,
  ) {
    super(`Code: ${clickhouseCode}. DB::Exception: ${text} (${type})`)
  }
}

/** Limits concurrency; others wait in order. */
class Gate {
  private readonly waiting: (() => void)[] = []
  constructor(private free: number) {}

  async enter(): Promise<void> {
    if (this.free > 0) {
      this.free--
      return
    }
    if (this.waiting.length >= waitingMax)
      throw new Refusal(202, 'Too many simultaneous queries', 'TOO_MANY_SIMULTANEOUS_QUERIES')
    await new Promise<void>(resolve => this.waiting.push(resolve))
  }

  leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.free++
    else next()
  }
}

interface Statement {
  readonly id: string
  readonly sql: string
  /** Rows to insert; null when the statement is in the body, or names a file. */
  readonly data: Buffer | null
  /** The file with the rows, if they came in the body. */
  readonly rows: IncomingRows | null
  readonly format: string
  readonly database: string | null
  readonly settings: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}

interface Outcome {
  readonly body: Buffer
  readonly summary: Readonly<Record<string, string>>
}

/** The engine, with limited concurrent statements. */
class Engine {
  /** Keeps the data directory open between requests. */
  private readonly anchor: Session
  private readonly inserts: Gate
  private readonly queries: Gate

  constructor(private readonly start: BridgeStart) {
    this.anchor = this.connect()
    this.inserts = new Gate(start.inserts)
    this.queries = new Gate(start.queries)
  }

  private connect(): Session {
    return new Session(this.start.directory, { connectionArgs: this.start.engineArguments })
  }

  async version(): Promise<string> {
    return (await this.anchor.queryAsync('SELECT version()', { format: 'TabSeparated' })).text().trim()
  }

  /** Run one statement. `gone` says whether its caller disconnected while it waited. */
  async run(statement: Statement, gone: () => boolean): Promise<Outcome> {
    const gate = isInsert(statement) ? this.inserts : this.queries
    await gate.enter()
    try {
      if (gone()) throw new Refusal(394, 'Query was cancelled', 'QUERY_WAS_CANCELLED')
      const session = this.connect()
      try {
        if (statement.database !== null && statement.database !== 'default')
          await session.queryAsync(`USE ${identifier(statement.database)}`)
        return await query(session, statement)
      } finally {
        session.close()
      }
    } finally {
      gate.leave()
    }
  }

  /** Ask the engine to cancel a statement; this takes up to a few hundred ms. */
  kill(id: string): void {
    const sql = `KILL QUERY WHERE startsWith(query, ${literal(mark(id))}) ASYNC`
    this.anchor.queryAsync(sql).catch(() => {})
  }

  async close(): Promise<void> {
    this.anchor.close()
    await drainPending()
  }
}

const plainInsert = /^\s*(INSERT\s+INTO\s+(?:TABLE\s+)?[\w`.]+\s*(?:\([\w`,\s]*\))?)\s*(FORMAT\s+\w+)\s*$/i

const isInsert = ({ sql }: Statement): boolean => /^\s*INSERT\b/i.test(sql)

async function query(session: Session, statement: Statement): Promise<Outcome> {
  const { id, sql, data, format, settings, parameters } = statement
  if (data?.length === 0 && /^\s*INSERT\b[^;]*\bFORMAT\s+\w+\s*$/i.test(sql))
    return { body: Buffer.alloc(0), summary: { written_rows: '0', written_bytes: '0' } }
  const given = [
    ...Object.entries(settings).map(([name, value]) => `${settingName(name)} = ${literal(value)}`),
    ...Object.entries(parameters).map(([name, value]) => `param_${settingName(name)} = ${literal(value)}`),
  ]
  if (given.length > 0) await session.queryAsync(`SET ${given.join(', ')}`)
  const text = data === null || data.length === 0 ? sql : `${sql}\n${data.toString('utf8')}`
  if (isInsert(statement)) {
    const { rowsRead } = await session.queryAsync(text)
    return { body: Buffer.alloc(0), summary: { written_rows: String(rowsRead) } }
  }
  const result = await session.queryAsync(`${mark(id)} ${text}`, { format })
  const bytes = result.bytes()
  return {
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    summary: { read_rows: String(result.rowsRead), read_bytes: String(result.bytesRead) },
  }
}

/** A comment before a statement that identifies it among the running ones. */
const mark = (id: string): string => `/* tollgate ${id} */`

const literal = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const identifier = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

function settingName(name: string): string {
  if (/^\w+$/.test(name)) return name
  throw new Refusal(115, `Unknown setting ${literal(name)}`, 'UNKNOWN_SETTING')
}

/** Handle one request from first to last byte. */
async function answer(
  engine: Engine,
  start: BridgeStart,
  version: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const id = randomUUID()
  const shown = url.searchParams.get('query_id') ?? id
  const began = process.hrtime.bigint()
  let running = false
  response.on('close', () => {
    if (running && !response.writableEnded) engine.kill(id)
  })
  try {
    if (url.pathname === '/ping') return respond(request, response, 200, {}, Buffer.from('Ok.\n'), false)
    if (!admitted(request, url, start))
      throw new Refusal(516, `${start.user}: Authentication failed`, 'AUTHENTICATION_FAILED')
    const statement = await readStatement(id, url, request, start.incoming)
    running = true
    const { body, summary } = await engine
      .run(statement, () => response.destroyed)
      .finally(() => statement.rows?.remove())
    running = false
    const headers = {
      'X-ClickHouse-Query-Id': shown,
      'X-ClickHouse-Format': statement.format,
      'X-ClickHouse-Summary': summaryText(summary, process.hrtime.bigint() - began),
      'Content-Type': 'text/plain; charset=UTF-8',
    }
    const compressible = url.searchParams.get('enable_http_compression') === '1'
    await respond(request, response, 200, headers, body, compressible)
  } catch (error) {
    running = false
    const { code, text } = told(error)
    const headers = { 'X-ClickHouse-Query-Id': shown, 'X-ClickHouse-Exception-Code': String(code) }
    const body = Buffer.from(`${text} (version ${version})\n`)
    await respond(request, response, statuses[code] ?? 500, headers, body, false)
  }
}

function admitted(request: IncomingMessage, url: URL, start: BridgeStart): boolean {
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const [user, password] =
    basic === undefined
      ? [
          request.headers['x-clickhouse-user'] ?? url.searchParams.get('user'),
          request.headers['x-clickhouse-key'] ?? url.searchParams.get('password'),
        ]
      : split(Buffer.from(basic, 'base64').toString('utf8'))
  return user === start.user && typeof password === 'string' && same(password, start.password)
}

function split(pair: string): [string, string] {
  const colon = pair.indexOf(':')
  return colon < 0 ? [pair, ''] : [pair.slice(0, colon), pair.slice(colon + 1)]
}

function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Read a statement from the URL, with rows in the body, or from the body. */
async function readStatement(
  id: string,
  url: URL,
  request: IncomingMessage,
  directory: string,
): Promise<Statement> {
  const settings: Record<string, string> = {}
  const parameters: Record<string, string> = {}
  for (const [name, value] of url.searchParams) {
    if (name.startsWith('param_')) parameters[name.slice('param_'.length)] = value
    else if (!reserved.has(name)) settings[name] = value
  }
  const inUrl = url.searchParams.get('query')
  const rest = {
    id,
    format: url.searchParams.get('default_format') ?? 'TabSeparated',
    database: url.searchParams.get('database'),
    settings,
    parameters,
  }
  const [, into, format] = (inUrl === null ? null : plainInsert.exec(inUrl)) ?? []
  if (into !== undefined) {
    const rows = await writeIncoming(directory, bodyOf(request))
    if (rows.bytes > 0)
      return { ...rest, sql: `${into} FROM INFILE '${rows.path}' ${format}`, data: null, rows }
    await rows.remove()
  }
  const body = await readBody(request)
  return inUrl === null
    ? { ...rest, sql: body.toString('utf8'), data: null, rows: null }
    : { ...rest, sql: inUrl, data: body, rows: null }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of bodyOf(request)) parts.push(part)
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

async function* bodyOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  const coding = request.headers['content-encoding'] ?? 'identity'
  if (coding !== 'identity' && coding !== 'gzip')
    throw new Refusal(48, `Content-Encoding ${coding} is not understood here`, 'NOT_IMPLEMENTED')
  const source = coding === 'gzip' ? request.pipe(createGunzip()) : request
  let bytes = 0
  for await (const part of source) {
    bytes += part.length
    if (bytes > bodyBytesMax) throw new Refusal(307, 'The body is too large', 'TOO_MANY_BYTES')
    yield part
  }
}

function summaryText(summary: Outcome['summary'], elapsedNs: bigint): string {
  const none = { read_rows: '0', read_bytes: '0', written_rows: '0', written_bytes: '0' }
  const unknown = { total_rows_to_read: '0', result_rows: '0', result_bytes: '0' }
  return JSON.stringify({ ...none, ...unknown, elapsed_ns: String(elapsedNs), ...summary })
}

function told(error: unknown): { code: number; text: string } {
  const message = (error instanceof Error ? error.message : String(error)).trim()
  const code = Number(
    (error as { clickhouseCode?: number }).clickhouseCode ?? /Code: (\d+)/.exec(message)?.[1] ?? 1000,
  )
  const text = message.startsWith('Code:')
    ? message
    : `Code: ${code}. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`
  return { code, text }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  compressible: boolean,
): Promise<void> {
  const wanted = compressible && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const zipped = wanted && body.length >= gzipFromBytes
  const bytes = zipped ? await promisify(gzip)(body, { level: 1 }) : body
  if (response.destroyed) return
  // an unread rest of a body would be taken for the next request
  const unread = request.complete ? {} : { Connection: 'close' }
  const coding = zipped ? { 'Content-Encoding': 'gzip' } : {}
  response.writeHead(status, { ...headers, ...coding, ...unread, 'Content-Length': bytes.length })
  response.end(bytes)
}

async function serve(start: BridgeStart): Promise<void> {
  const engine = new Engine(start)
  emptyIncoming(start.incoming)
  const version = await engine.version()
  const server = createServer((request, response) => {
    answer(engine, start, version, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 30_000
  server.requestTimeout = 0
  const place = await listen(server, start.listen)
  let leaving = false
  const leave = async () => {
    if (leaving) return
    leaving = true
    // statements still running now were not acknowledged
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), leaveMs)
    await new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeIdleConnections()
    })
    await engine.close()
    process.exit(0)
  }
  process.on('SIGTERM', leave)
  tell(place)
}

/** Listen. The caller holds the data lock, so an existing socket file is left over from a killed process. */
async function listen(server: Server, place: BridgePlace): Promise<BridgePlace> {
  const isSocket = 'socketPath' in place
  if (isSocket) rmSync(place.socketPath, { force: true })
  const at = isSocket ? { path: place.socketPath } : { host: '127.0.0.1', port: place.port }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(at, resolve)
  })
  return isSocket ? place : { port: (server.address() as AddressInfo).port }
}

const tell = (answered: BridgeAnswer): void => {
  process.send?.(answered)
}

// Only the parent handles Ctrl-C.
process.on('SIGINT', () => {})
let failed = false
// No caller is left, and the next Tollgate may wait for the data. Acknowledged inserts are on disk; the engine rolls
// back others when it opens again.
process.on('disconnect', () => {
  if (!failed) process.kill(process.pid, 'SIGKILL')
})
process.once('message', (start: BridgeStart) => {
  serve(start).catch(error => {
    failed = true
    tell({ failure: error instanceof Error ? error.message : String(error) })
    process.disconnect()
    process.exitCode = 1
  })
})

// A whole Tollgate for tests: stores of its own, two shards, real HTTP.
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { readConfig } from '../src/config.js'
import { createLogger } from '../src/log.js'
import { start, type Tollgate } from '../src/start.js'
import { clickhouseDatabase, postgresDatabase } from './databases.js'
import { endpointOf, faultsOf, takenFaults } from './documented.js'
import { listening } from './listening.js'
import { temporaryDirectory } from './stores.js'

/** Where successes are noted, for `tools/covered.mjs`. */
const coveredFile = process.env.TOLLGATE_COVERED_FILE

export const bootstrapKey = 'sk_dev_PthabixF41549qrkc845I9dtno2VHpTm3EGUjSo2NoQ'

/** A response: status, headers, and the parsed body. */
export interface Response {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  readonly body: any
}

/** Speaks to one running Tollgate. */
export class Client {
  constructor(
    readonly url: string,
    readonly key: string = bootstrapKey,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** The same Tollgate with another key or further headers. */
  as(key: string, headers: Readonly<Record<string, string>> = {}): Client {
    return new Client(this.url, key, headers)
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.key === '' ? {} : { 'X-Service-Api-Key': this.key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...this.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch(error => {
      throw new Error(`${method} ${path} had no answer: ${error.cause ?? error}`, { cause: error })
    })
    const text = await response.text()
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    }
    // the answer that `Prefer` asked for is another one; its test knows its members
    if (!answer.headers.has('preference-applied')) mustBeDocumented(method, path, answer)
    return answer
  }

  get = (path: string, headers?: Record<string, string>) => this.send('GET', path, undefined, headers)
  post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    this.send('POST', path, body, headers)
  put = (path: string, body?: unknown, headers?: Record<string, string>) =>
    this.send('PUT', path, body, headers)
  del = (path: string, headers?: Record<string, string>) => this.send('DELETE', path, undefined, headers)

  /** `data` of a request that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  async ok(method: string, path: string, body?: unknown): Promise<any> {
    const response = await this.send(method, path, body)
    if (response.status >= 300)
      throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(response.body)}`)
    return response.body.data
  }
}

/** Every success that a test hears has the members that are documented for it, no more and no fewer. */
function mustBeDocumented(method: string, path: string, { status, body }: Response): void {
  const endpoint = status < 300 ? endpointOf(method, path) : null
  const faults =
    status === 202 ? takenFaults(method, path, body) : endpoint === null ? [] : faultsOf(endpoint, body)
  if (faults.length > 0)
    throw new Error(`${method} ${path} does not answer as documented: ${faults.slice(0, 10).join('; ')}`)
  if (endpoint !== null && status !== 202 && coveredFile !== undefined)
    appendFileSync(coveredFile, `${endpoint.method} ${endpoint.path}\n`)
}

const settings = {
  TOLLGATE_HOST: '127.0.0.1',
  TOLLGATE_PORT: '0',
  TOLLGATE_SHARDS: '2',
  TOLLGATE_LIMITS: 'off',
  TOLLGATE_LOG_LEVEL: 'error',
  TOLLGATE_BOOTSTRAP_KEY: bootstrapKey,
  TOLLGATE_DRAIN_MS: '2000',
  // the same tests run on both HTTP servers
  TOLLGATE_HTTP: process.env.TOLLGATE_HTTP || 'auto',
}

/** Settings of one test over the usual ones. With `TOLLGATE_FRONTS=2` all tests run with several fronts, but for several nodes and Node's `http`: they have one. */
function withUsual(more: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...settings, ...more }
  const one = all.REDIS_URL !== undefined || all.TOLLGATE_HTTP === 'node'
  return { TOLLGATE_FRONTS: one ? '1' : process.env.TOLLGATE_FRONTS || '1', ...all }
}

/** Settings of a Tollgate that has the embedded stores, whatever the run shares: it is about them, or kills them. */
export const embedded = { DATABASE_URL: '', CLICKHOUSE_URL: '' }

const databases = new Map<string, Promise<Readonly<Record<string, string>>>>()

/**
 * Where the stores of a data directory are: databases on the servers that the run shares, the same for every start on
 * the directory, gone when the file has ended. Nothing where none are shared: they are embedded then.
 */
export function storesOf(
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const key = resolve(dataDir)
  const found = databases.get(key)
  if (found !== undefined) return found
  const made = makeDatabases(more)
  databases.set(key, made)
  return made
}

async function makeDatabases(named: Readonly<Record<string, string>>) {
  const made: Record<string, string> = {}
  const [postgres, clickhouse] = await Promise.all([
    named.DATABASE_URL === undefined ? postgresDatabase() : null,
    named.CLICKHOUSE_URL === undefined ? clickhouseDatabase() : null,
  ])
  if (postgres !== null) made.DATABASE_URL = postgres.url
  if (clickhouse !== null) made.CLICKHOUSE_URL = clickhouse.url
  if (postgres === null && clickhouse === null) return made
  // The file's last act: what uses them is torn down before, as it came later.
  const { default: file } = await import('tap')
  file.teardown(() => Promise.all([postgres?.drop(), clickhouse?.drop()]))
  return made
}

/** Tollgate in this process; stopped with the test. */
export async function startHere(
  t: Test,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly client: Client; readonly tollgate: Tollgate; readonly dataDir: string }> {
  const dataDir = more.TOLLGATE_DATA_DIR ?? (await temporaryDirectory(t))
  const stores = await storesOf(dataDir, more)
  const config = readConfig({ ...stores, TOLLGATE_DATA_DIR: dataDir, ...withUsual(more) })
  const tollgate = await start(config, createLogger(config, 2))
  t.teardown(() => tollgate.stop())
  return { client: new Client(`http://127.0.0.1:${tollgate.port}`), tollgate, dataDir }
}

/** Tollgate in a process of its own, to be killed. */
export class Process {
  private constructor(
    readonly child: ChildProcess,
    readonly client: Client,
    readonly exited: Promise<number | null>,
  ) {}

  /** Begin a start, on embedded stores unless named, and do not wait; `program`: another way to start it than its own. */
  static spawn(
    dataDir: string,
    more: Readonly<Record<string, string>> = {},
    program: readonly string[] = [fileURLToPath(new URL('../served/main.js', import.meta.url))],
    stderr: 'inherit' | 'pipe' = 'inherit',
  ): ChildProcess {
    return spawn(process.execPath, ['--enable-source-maps', ...program], {
      env: { ...process.env, TOLLGATE_DATA_DIR: dataDir, ...withUsual(more) },
      stdio: ['ignore', 'pipe', stderr],
    })
  }

  /** Start, on stores as `storesOf` says, and wait until it listens. */
  static async start(
    dataDir: string,
    more: Readonly<Record<string, string>> = {},
    program?: readonly string[],
  ): Promise<Process> {
    const child = Process.spawn(dataDir, { ...(await storesOf(dataDir, more)), ...more }, program)
    const { url, exited } = await listening(child, 'Tollgate')
    return new Process(child, new Client(url), exited)
  }

  /** Kill it with this signal and wait until it is gone. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal)
    return this.exited
  }
}

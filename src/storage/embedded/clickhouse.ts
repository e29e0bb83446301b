// The embedded ClickHouse, used when CLICKHOUSE_URL is absent: the engine in a child process (bridge.ts), and its
// supervisor.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseAddress } from '../clickhouse.js'
import type { BridgeAnswer, BridgePlace, BridgeStart } from './bridge.js'
import { makePrivate, socketDirectory } from './socket.js'
import { end, type StoreLog, type Supervised, supervise } from './supervise.js'

interface EmbeddedClickHouseOptions {
  /** Directory of everything it stores; created if absent. */
  readonly directory: string
  readonly log: StoreLog
  /** Memory bound of the engine, bytes; default a quarter of the machine's, 1 to 4 GiB. */
  readonly memoryBytesMax?: number
  /** false: for disposable data, as in tests. Inserts survive a kill, but not a power cut. */
  readonly durable?: boolean
  /** true: listen on a port of 127.0.0.1 instead of a socket, for tests that share a store by its URL. */
  readonly tcp?: boolean
}

export interface EmbeddedClickHouse extends Supervised {
  readonly address: ClickHouseAddress
}

const socketName = 'http'

const stopSignals = [
  ['SIGTERM', 5_000],
  ['SIGKILL', 5_000],
] as const

/** Longest wait for a child of an earlier, killed Tollgate to release the data. */
const lockedMs = 10_000
const gibibyte = 1024 ** 3
/** Longest wait for the last output of a failed child. */
const lastWordsMs = 1_000

/**
 * Start the embedded ClickHouse and keep it running.
 *
 * It listens on a unix socket in a directory that only our user may enter, at a path that stays the same when the
 * child restarts. It has one user, whose password is generated at every start of Tollgate and never written down.
 *
 * errors   Error in the engine's words: no engine for the platform, data locked by another process, …
 */
export async function startEmbeddedClickHouse(
  options: EmbeddedClickHouseOptions,
): Promise<EmbeddedClickHouse> {
  const directory = resolve(options.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await chmod(directory, 0o700)
  const configFile = join(directory, 'config.xml')
  const memoryBytesMax = options.memoryBytesMax ?? defaultMemory()
  await writeFile(configFile, config(memoryBytesMax, options.durable ?? true), { mode: 0o600 })
  const start = {
    directory: join(directory, 'data'),
    incoming: directory,
    engineArguments: [`--config-file=${configFile}`, ...statementBounds(memoryBytesMax)],
    user: 'tollgate',
    password: randomBytes(24).toString('base64url'),
    inserts: 2,
    queries: 4,
  }
  let listen: BridgePlace = options.tcp ? { port: 0 } : { socketPath: await socketPathFor(directory) }
  const startChild = async () => {
    const until = Date.now() + lockedMs
    for (;;) {
      try {
        const started = await serve({ ...start, listen }, options.log)
        listen = started.place
        return started.child
      } catch (error) {
        const locked = /Cannot lock file/.test((error as Error).message)
        if (!locked || Date.now() > until) throw error
        await sleep(20)
      }
    }
  }
  const supervised = await supervise({
    name: 'ClickHouse',
    start: startChild,
    stopSignals,
    log: options.log,
  })
  return {
    address: {
      ...addressOf(listen),
      user: start.user,
      password: start.password,
      database: 'default',
      directory,
    },
    get pid() {
      return supervised.pid
    },
    lower: nice => supervised.lower(nice),
    stop: () => supervised.stop(),
  }
}

async function socketPathFor(directory: string): Promise<string> {
  const place = socketDirectory(directory, socketName)
  await makePrivate(place, [process.getuid?.()])
  return join(place, socketName)
}

/** The client requires a URL; with a socket its host and port are ignored. */
const addressOf = (place: BridgePlace): Pick<ClickHouseAddress, 'url' | 'socketPath'> =>
  'port' in place
    ? { url: `http://127.0.0.1:${place.port}` }
    : { url: 'http://localhost', socketPath: place.socketPath }

function defaultMemory(): number {
  return Math.min(4 * gibibyte, Math.max(gibibyte, Math.floor(totalmem() / 4)))
}

/**
 * Settings of the engine. An insert is on disk before it is answered, and a merged part is on disk before its sources
 * are removed. Caches, pools and threads are sized for a laptop. The merge_tree numbers say how many places of the
 * pool must be free for a mutation or a large merge; the defaults assume a larger pool and would refuse this one.
 */
function config(memoryBytesMax: number, durable: boolean): string {
  const fsync = durable ? 1 : 0
  return `<clickhouse>
  <max_server_memory_usage>${memoryBytesMax}</max_server_memory_usage>
  <mark_cache_size>67108864</mark_cache_size>
  <index_mark_cache_size>16777216</index_mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>2</background_pool_size>
  <background_schedule_pool_size>4</background_schedule_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_move_pool_size>1</background_move_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <merge_tree>
    <fsync_after_insert>${fsync}</fsync_after_insert>
    <fsync_part_directory>${fsync}</fsync_part_directory>
    <min_rows_to_fsync_after_merge>${fsync}</min_rows_to_fsync_after_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`
}

/** Bounds of one statement; the engine accepts these on its command line only. */
function statementBounds(memoryBytesMax: number): readonly string[] {
  return [
    `--max_memory_usage=${Math.floor(memoryBytesMax / 2)}`,
    '--max_threads=2',
    '--max_result_bytes=268435456',
    '--max_execution_time=120',
  ]
}

/** Start the child; resolves once it answers requests. */
async function serve(
  start: BridgeStart,
  log: StoreLog,
): Promise<{ child: ChildProcess; place: BridgePlace }> {
  const child = fork(new URL('./bridge.js', import.meta.url), {
    cwd: start.incoming,
    // Statements run on libuv's threads (four by default). The rest of our environment is not passed on.
    env: { UV_THREADPOOL_SIZE: '16', LANG: 'C.UTF-8', TZ: 'UTC' },
    execArgv: [],
    // Same session as ours: Linux shares cores between sessions first, and with its own session the child got half of
    // them despite its priority. It receives Ctrl-C too but ignores it; we stop it after our last write.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const said = logOutput(child, log)
  try {
    const answered = await new Promise<BridgeAnswer>((resolve, reject) => {
      child.once('error', reject)
      child.once('message', message => resolve(message as BridgeAnswer))
      child.once('exit', (code, signal) => {
        reject(new Error(`ClickHouse did not start (${signal ?? code}): ${said().slice(-2_000)}`))
      })
      child.send(start)
    })
    if ('failure' in answered) {
      // the engine may have printed the reason when it exited
      await Promise.race([once(child, 'close'), sleep(lastWordsMs)])
      throw new Error(`ClickHouse did not start: ${answered.failure} ${said().slice(-2_000)}`.trim())
    }
    return { child, place: answered }
  } catch (error) {
    await end(child, [['SIGKILL', 5_000]])
    throw error
  }
}

/** Log the child's output, and keep its beginning for error messages. */
function logOutput(child: ChildProcess, log: StoreLog): () => string {
  let kept = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (kept.length < 4_000) kept += text
      log.warn({ store: 'clickhouse' }, text.trimEnd())
    })
  }
  return () => kept.trim()
}

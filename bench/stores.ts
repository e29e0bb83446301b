// Stores that several services share: a Redis, and one Postgres and one ClickHouse, reached by address.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { startEmbeddedClickHouse } from '../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../src/storage/embedded/postgres.js'
import { freePort, stop } from './product.js'

/** A Redis that keeps acknowledged writes. */
export interface Redis {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Both stores. */
export interface Stores {
  /** Variables of the Postgres driver: its socket and password are in no URL. */
  readonly client: Readonly<Record<string, string>>
  readonly postgresUrl: string
  readonly clickhouseUrl: string
  readonly pids: { readonly postgres: number; readonly clickhouse: number }
  stop(): Promise<void>
}

/** Whether a Redis is installed. */
export const hasRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0

/** Start a Redis with its files in a directory. Resolves before it answers. */
export async function startRedis(
  directory: string,
  more: readonly string[] = [],
  port?: number,
): Promise<Redis> {
  port ??= await freePort()
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory]
  // Its command line stays as it is: demo-guard.ts finds the directory there.
  const keeps = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--set-proc-title', 'no']
  // As deploy/compose.nodes.yaml: the file is rewritten seldom, and its rewriting compresses nothing.
  const rewrites = ['--auto-aof-rewrite-min-size', '1gb', '--rdbcompression', 'no']
  const child: ChildProcess = spawn(
    'redis-server',
    [...where, ...keeps, ...rewrites, '--maxmemory-policy', 'noeviction', ...more],
    {
      stdio: 'ignore',
    },
  )
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: () => stop(child) }
}

/** Start the primaries of a Redis Cluster, each with a part of the slots. Resolves when it is whole. */
export async function startPrimaries(directory: string, count: number): Promise<readonly Redis[]> {
  // a server of a Redis Cluster has a second port, 10 000 above
  const basePort = 16_000 + ((process.pid * 7) % 9_000)
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const files = join(directory, `redis-${i + 1}`)
      mkdirSync(files)
      return startRedis(files, ['--cluster-enabled', 'yes'], basePort + i)
    }),
  )
  const addresses = servers.map(({ url }) => new URL(url).host)
  const words = ['--cluster', 'create', ...addresses, '--cluster-yes']
  for (let tries = 1; ; tries++) {
    const { status, stdout } = spawnSync('redis-cli', words, { encoding: 'utf8' })
    if (status === 0) break
    if (tries === 20) throw new Error(`redis-cli made no Redis Cluster: ${stdout}`)
    await sleep(500)
  }
  await sleep(3_000) // every server hears of the others
  return servers
}

/** Start both stores with their files in a directory. durable: Postgres and ClickHouse call fsync. */
export async function startStores(directory: string, durable: boolean): Promise<Stores> {
  const log = pino({ level: 'error' }, pino.destination(2))
  const [postgres, clickhouse] = await Promise.all([
    startEmbeddedPostgres({ directory: join(directory, 'postgres'), log, durable, createsDatabases: true }),
    startEmbeddedClickHouse({
      directory: join(directory, 'clickhouse'),
      log,
      durable,
      memoryBytesMax: 2e9,
      tcp: true,
    }),
  ])
  const { url, user, password } = clickhouse.address
  if ('url' in postgres.address) throw new Error('the embedded Postgres listens on a socket')
  return {
    client: {
      PGHOST: postgres.address.host,
      PGUSER: postgres.address.user,
      PGPASSWORD: postgres.address.password ?? '',
    },
    postgresUrl: 'postgres:///postgres',
    clickhouseUrl: url.replace('//', `//${user}:${password}@`),
    pids: { postgres: postgres.pid!, clickhouse: clickhouse.pid! },
    stop: async () => {
      await Promise.all([postgres.stop(), clickhouse.stop()])
    },
  }
}

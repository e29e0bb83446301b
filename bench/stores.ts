// Stores that several services share: a Redis, and one Postgres and one ClickHouse, reached by address.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
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
export async function startRedis(directory: string): Promise<Redis> {
  const port = await freePort()
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory]
  // Its command line stays as it is: demo-guard.ts finds the directory there.
  const keeps = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--set-proc-title', 'no']
  const child: ChildProcess = spawn(
    'redis-server',
    [...where, ...keeps, '--maxmemory-policy', 'noeviction'],
    {
      stdio: 'ignore',
    },
  )
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: () => stop(child) }
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

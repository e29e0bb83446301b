// Stores of several nodes that a test kills or suspends: each in a process of its own, started again whenever it dies.
import { join } from 'node:path'
import type { Test } from 'tap'
import { startEmbeddedClickHouse } from '../../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { silent, temporaryDirectory } from '../stores.js'
import { until } from './nodes.js'

/** A store in a process of its own, started again whenever it dies. */
interface Killable {
  readonly pid: number | null
}

/** Both stores, for this file alone, and the settings of nodes that use them. */
export async function ownStores(t: Test) {
  const directory = await temporaryDirectory(t)
  const options = { log: silent, durable: false }
  const [postgres, clickhouse] = await Promise.all([
    startEmbeddedPostgres({ ...options, directory: join(directory, 'postgres') }),
    startEmbeddedClickHouse({
      ...options,
      directory: join(directory, 'clickhouse'),
      memoryBytesMax: 2e9,
      tcp: true,
    }),
  ])
  t.teardown(() => Promise.all([postgres.stop(), clickhouse.stop()]))
  const { url, user, password } = clickhouse.address
  if ('url' in postgres.address) throw new Error('the embedded Postgres listens on a socket')
  // The driver takes no socket in a URL: what the URL leaves out comes from its own variables.
  const settings = {
    PGHOST: postgres.address.host,
    PGUSER: postgres.address.user,
    PGPASSWORD: postgres.address.password ?? '',
    DATABASE_URL: 'postgres:///postgres',
    CLICKHOUSE_URL: url.replace('//', `//${user}:${password}@`),
  }
  return { postgres, clickhouse, settings }
}

/** Kill a store. Resolves when another process of it serves. */
export async function kill(store: Killable, name: string): Promise<void> {
  const { pid } = store
  process.kill(pid!, 'SIGKILL')
  await until(() => store.pid !== null && store.pid !== pid, `${name} is started again`)
}

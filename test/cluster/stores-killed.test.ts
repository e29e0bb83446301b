// Postgres and ClickHouse of three nodes are killed under load (promises 6 and 10). Each comes back on the data it kept.
// After each fault everything acknowledged is there once: usage, credits, ledger, idempotency keys, rows of ClickHouse.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startEmbeddedClickHouse } from '../../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { silent, temporaryDirectory } from '../stores.js'
import { skipped, TestCluster, until } from './nodes.js'
import { ClusterLoad } from './under-load.js'

/** Each store dies so many times: also while the nodes connect to it again. */
const kills = 3
/** Requests answered between two deaths of ClickHouse, which checks and events do not need. */
const answersBetween = 100

/** A store in a process of its own, started again whenever it dies. */
interface Killable {
  readonly pid: number | null
}

/** Both stores, for this file alone, and the settings of nodes that use them. */
async function ownStores(t: Test) {
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
async function kill(store: Killable, name: string): Promise<void> {
  const { pid } = store
  process.kill(pid!, 'SIGKILL')
  await until(() => store.pid !== null && store.pid !== pid, `${name} is started again`)
}

t.test('three nodes', { skip: skipped }, async t => {
  const { postgres, clickhouse, settings } = await ownStores(t)
  const cluster = await TestCluster.start(t, 3, settings)
  const load = await ClusterLoad.prepare(t, cluster)

  await t.test('Postgres is killed', async t => {
    await load.during(t, 'Postgres killed', async () => {
      for (let i = 0; i < kills; i++) await kill(postgres, 'Postgres')
    })
    t.equal(cluster.living.length, 3, 'no node ends for that')
  })

  await t.test('ClickHouse is killed', async t => {
    await load.during(t, 'ClickHouse killed', async () => {
      for (let i = 0; i < kills; i++) {
        await kill(clickhouse, 'ClickHouse')
        await load.load.answered(answersBetween)
      }
    })
    t.equal(cluster.living.length, 3, 'no node ends for that')
  })

  await t.test('both stores and a node are killed at once', async t => {
    await load.during(t, 'stores and a node killed', async () => {
      const node = cluster.living[1]!.process.end('SIGKILL')
      await Promise.all([node, kill(postgres, 'Postgres'), kill(clickhouse, 'ClickHouse')])
    })
    t.equal(cluster.living.length, 2)
  })
})

// Postgres and ClickHouse of three nodes are killed under load (promises 6 and 10). Each comes back on the data it kept.
// After each fault everything acknowledged is there once: usage, credits, ledger, idempotency keys, rows of ClickHouse.
import t from 'tap'
import { skipped, TestCluster } from './nodes.js'
import { kill, ownStores } from './own-stores.js'
import { ClusterLoad } from './under-load.js'

/** Each store dies so many times: also while the nodes connect to it again. */
const kills = 3
/** Requests answered between two deaths of ClickHouse, which checks and events do not need. */
const answersBetween = 100

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

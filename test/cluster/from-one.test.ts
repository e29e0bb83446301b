// From one node to several. A node without a cluster, with its journal in files, is killed under load. It is
// restarted as the first node of a cluster on the same data directory and stores. Its journal is drained
// first: nothing is lost or counted twice, and earlier idempotency keys are known.
import { existsSync } from 'node:fs'
import t from 'tap'
import { skipped, TestCluster } from './nodes.js'
import { ClusterLoad } from './under-load.js'

t.test('one node becomes two', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0)
  const alone = await cluster.addAlone()
  const load = await ClusterLoad.prepare(t, cluster)
  await load.during(t, 'from one node to two', async () => {
    t.equal(existsSync(`${alone.dataDir}/journal/shard-00`), true, 'its journal lies in files')
    await alone.process.end('SIGKILL')
    await cluster.add()
    t.equal(existsSync(`${alone.dataDir}/journal/shard-00`), false, 'and is drained')
    await cluster.add()
  })
  t.equal(cluster.living.length, 2)
})

// Three nodes under load, and the ways a node can fail (promise 10). After each fault everything acknowledged
// is there once: usage, credits, ledger, idempotency keys, rows of ClickHouse. TOLLGATE_RUNS repeats the loss of two
// nodes at once.
import t from 'tap'
import { times } from '../random.js'
import { skipped, TestCluster } from './nodes.js'
import { ClusterLoad } from './under-load.js'

const hangMs = 10_000
/** Exit code of a node that was removed from the cluster and is to be restarted. */
const putOut = 75

t.test('three nodes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 3)
  const load = await ClusterLoad.prepare(t, cluster)

  await t.test('a node is killed', async t => {
    await load.during(t, 'one killed', async () => {
      await cluster.living[0]!.process.end('SIGKILL')
    })
  })

  await t.test('a node hangs for ten seconds and wakes', async t => {
    await load.during(t, 'one hangs', async () => {
      const sleeper = cluster.living[0]!
      const { process, client } = sleeper
      load.leftOut.add(sleeper)
      process.child.kill('SIGSTOP')
      const stoppedMs = performance.now()
      // These requests wait at the node while it hangs.
      const asked = Array.from({ length: 20 }, (_, i) => {
        const keys = { slug: `co${i % 4}` }
        if (i % 2) return client.post('/flags/load/check', { company: keys })
        return client.post('/company-traits', { keys, trait: 'late', incr: 1 })
      })
      const answers = Promise.allSettled(asked)
      // The others serve every company without it: a hanging node holds no lock.
      await load.load.answeredAll()
      await load.whole()
      await new Promise(resolve => setTimeout(resolve, stoppedMs + hangMs - performance.now()))
      process.child.kill('SIGCONT')
      t.equal(await process.exited, putOut, 'it ends, to be started anew')
      load.leftOut.delete(sleeper)
      const said = (await answers).map(one => (one.status === 'fulfilled' ? one.value.status : 'reset'))
      const acknowledged = said.filter(status => status !== 503 && status !== 'reset')
      t.same(acknowledged, [], 'and acknowledges nothing')
    })
    const { client } = cluster.living[0]!
    for (const { slug } of load.load.accounts) {
      const { traits } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
      t.equal(traits.late, undefined, `${slug}: nothing that was asked of it was done`)
    }
  })

  for (let run = 1; run <= times(1); run++)
    await t.test(`two nodes of three are killed at once, run ${run}`, async t => {
      await Promise.all(Array.from({ length: 3 - cluster.living.length }, () => cluster.add()))
      await load.during(t, 'two killed', async () => {
        await Promise.all(cluster.living.slice(0, 2).map(({ process }) => process.end('SIGKILL')))
      })
      t.equal(cluster.living.length, 1, 'the third one stays')
    })
})

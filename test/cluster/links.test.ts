// Loss of connections under load: between two nodes, and to Redis (promise 10). After each fault everything
// acknowledged is there once.
import t from 'tap'
import { skipped, TestCluster } from './nodes.js'
import { ClusterLoad } from './under-load.js'

t.test('three nodes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0)
  const first = await cluster.addBehindProxy()
  const second = await cluster.addBehindProxy()
  const third = await cluster.addBehindProxy()
  const load = await ClusterLoad.prepare(t, cluster)

  await t.test('Redis is killed, and restarted on the data it kept', async t => {
    await load.during(t, 'Redis killed', async () => {
      await cluster.redis.end('SIGKILL')
      const before = load.load.refusals
      while (load.load.refusals < before + 20) await new Promise(resolve => setTimeout(resolve, 20))
      await cluster.redis.start()
    })
    t.equal(cluster.living.length, 3, 'no node ends for that')
  })

  await t.test('two nodes do not reach each other', async t => {
    await load.during(t, 'connection cut', async () => {
      second.proxy.silence(third.name)
      third.proxy.silence(second.name)
      t.equal(await third.process.exited, 75, 'the one that came last leaves, to be started anew')
    })
    second.proxy.heal()
    t.ok(cluster.living.includes(first) || cluster.living.length === 2)
  })

  await t.test('a node joins only when it reaches every other node', async t => {
    await load.during(t, 'joined', async () => {
      await cluster.add({ TOLLGATE_NODE_ID: third.name })
    })
    t.equal(cluster.living.length, 3)
  })
})

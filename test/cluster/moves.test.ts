// Nodes come and go under load (promise 11): a node is added, a node is stopped, all are restarted in turn.
// Shards move by themselves. A request for a moving shard gets 503 with Retry-After; nothing else is noticed.
// TOLLGATE_RUNS repeats the restarts.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { clusterShards } from '../../src/cluster/leases.js'
import { times } from '../random.js'
import { skipped, TestCluster, type TestNode, until } from './nodes.js'
import { LinkProxy } from './proxy.js'
import { ClusterLoad } from './under-load.js'

const settings = { TOLLGATE_DRAIN_MS: '30000' }

/** Companies to check: enough that some lie in shards that move. */
const probes = Array.from({ length: 12 }, (_, i) => `probe${i}`)

/** Requests answered while ClickHouse hangs: some events wait for it then in every shard. */
const answersOfHang = 200

/** Checks some companies at a node that stays. Prints the longest stretch of refusals of each. */
async function probing(t: Test, { client }: TestNode, during: () => Promise<void>): Promise<void> {
  const refused = new Map<string, number>()
  let going = true
  const ask = async (slug: string): Promise<void> => {
    for (let sinceMs: number | null = null; going; await sleep(20)) {
      const { status, headers } = await client.post('/flags/load/check', { company: { slug } })
      if (status === 503) {
        sinceMs ??= performance.now()
        if (!headers.has('retry-after')) t.fail('503 without Retry-After')
      } else if (status !== 200) t.fail(`a check heard ${status}`)
      else if (sinceMs !== null) {
        refused.set(slug, Math.max(refused.get(slug) ?? 0, performance.now() - sinceMs))
        sinceMs = null
      }
    }
  }
  const asking = probes.map(ask)
  try {
    await during()
  } finally {
    going = false
    await Promise.all(asking)
  }
  const told = [...refused].map(([slug, forMs]) => `${slug} ${Math.round(forMs)}`)
  t.comment(`refused at a stretch: ${told.join(', ') || 'nothing'} ms`)
}

t.test('nodes come and go', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2, settings)
  const clickhouse = new URL(cluster.clickhouseUrl)
  const proxy = await LinkProxy.start(t, Number(clickhouse.port))
  clickhouse.port = String(proxy.port)
  const load = await ClusterLoad.prepare(t, cluster)
  for (const slug of probes) await cluster.nodes[0]!.client.ok('POST', '/companies', { keys: { slug } })
  load.load.adopt(...probes)
  const stop = async (t: Test, { process }: TestNode): Promise<void> => {
    t.equal(await process.end('SIGTERM'), 0, 'it ends by itself')
  }

  await t.test('a new node gets its share of the shards', async t => {
    await load.during(t, 'added', async () => {
      await probing(t, cluster.living[0]!, async () => {
        await cluster.add({ CLICKHOUSE_URL: clickhouse.href })
        await load.whole()
      })
    })
  })

  await t.test('tollgate cluster shows nodes and shards; the metrics of a node show its own', async t => {
    const { code, out, err } = await cluster.command('cluster', '--json')
    t.equal(code, 0, err)
    const { nodes, shards } = JSON.parse(out)
    t.same(
      nodes.map((node: { name: string; state: string; answers: boolean }) => [
        node.name,
        node.state,
        node.answers,
      ]),
      cluster.living.map(({ name }) => [name, 'serving', true]),
    )
    t.equal(shards.length, clusterShards)
    for (const { node, epoch, checkpoint } of shards)
      t.ok(epoch > 0 && checkpoint >= 0 && cluster.living.some(({ name }) => name === node))
    const { out: text } = await cluster.command('cluster')
    t.match(text, /^NODE +ADDRESS +STATE +SHARDS .*\nnode-1 +127\.0\.0\.1:\d+ +serving +4 /)
    t.match(text, /\nSHARD +EPOCH +NODE +TO CHECKPOINT .*\n0 +\d+ +node-1 /)
    let told = ''
    await until(async () => {
      const pages = cluster.living.map(async ({ client }) => (await fetch(`${client.url}/metrics`)).text())
      told = (await Promise.all(pages)).join('')
      const owned = [...told.matchAll(/^tollgate_cluster_shards\{node="node-\d"\} (\d+)$/gm)]
      return owned.reduce((sum, [, count]) => sum + Number(count), 0) === clusterShards
    }, 'metrics tell of every shard once')
    t.match(told, /\ntollgate_cluster_lease_seconds\{node="node-1"\} [\d.]+\n/)
    t.match(told, /\ntollgate_cluster_passed_on_total [1-9]/)
    t.match(told, /\ntollgate_cluster_redis_seconds_count [1-9]/)
  })

  await t.test('tollgate cluster drain empties a node, also one whose ClickHouse hangs', async t => {
    const unknown = await cluster.command('cluster', 'drain', 'node-9')
    t.equal(unknown.code, 1)
    t.match(unknown.err, /There is no node node-9: there are node-1, node-2, node-3/)
    await load.during(t, 'drained', async () => {
      proxy.silence('')
      await load.load.answered(answersOfHang)
      const { code, err } = await cluster.command('cluster', 'drain', 'node-3', '--timeout', '180')
      t.equal(code, 0, err)
      t.match(err, /node-3 has 0 shards/)
      proxy.heal()
    })
    const { out } = await cluster.command('cluster')
    t.match(out, /\nnode-3 +\S+ +draining +0 /)
  })

  await t.test('SIGTERM hands all shards over before the process ends', async t => {
    const [stays, goes] = cluster.living
    await load.during(t, 'stopped', () => probing(t, stays!, () => stop(t, goes!)))
    t.same(load.load.wrong, [])
  })

  for (let run = 1; run <= times(1); run++)
    await t.test(`all nodes are restarted in turn, run ${run}`, async t => {
      const former = cluster.living
      await load.during(t, 'rolling restart', async () => {
        for (const node of former) {
          await stop(t, node)
          await cluster.add()
        }
      })
      t.equal(cluster.living.length, former.length)
      t.notOk(
        cluster.living.some(node => former.includes(node)),
        'each of them was replaced',
      )
    })
})

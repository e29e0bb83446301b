// A shard's thread ends at its node, which opens the shard again; the connection between the nodes stays. Requests that
// other nodes passed on to that thread are answered, and can be sent again.
import { Redis } from 'ioredis'
import t from 'tap'
import { clusterShards } from '../../src/cluster/leases.js'
import type { Client } from '../harness.js'
import { skipped, TestCluster, until, whole } from './nodes.js'

const slugs = Array.from({ length: 40 }, (_, i) => `co${i}`)
/** Far more than any wait of a node for Redis or for another node. */
const answeredMs = 60_000

t.test('shards that begin anew at the same node', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2)
  await whole(() => cluster.nodes)
  const clients = cluster.nodes.map(({ client }) => client)
  for (const slug of slugs) await clients[0]!.ok('POST', '/companies', { keys: { slug } })

  const redis = new Redis(cluster.redis.url)
  t.teardown(() => redis.disconnect())
  const [key] = await redis.keys('*marks')
  const marks = await redis.hgetall(key!)
  const raised = Object.entries(marks).map(([shard, mark]) => {
    const [epoch, node] = mark.split(/:(.*)/)
    return [shard, `${Number(epoch) + 1}:${node}`] as const
  })
  t.equal(raised.length, clusterShards)
  await redis.hset(key!, Object.fromEntries(raised))

  const send = ({ url, key }: Client, slug: string): Promise<number> =>
    fetch(`${url}/events`, {
      method: 'POST',
      headers: { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        event_type: 'track',
        idempotency_key: `${url} ${slug}`,
        body: { event: 'call', company: { slug } },
      }),
      signal: AbortSignal.timeout(answeredMs),
    }).then(
      ({ status }) => status,
      error => error.name,
    )
  const statuses = await Promise.all(clients.flatMap(client => slugs.map(slug => send(client, slug))))
  t.ok(statuses.includes(503), 'the shards of the former epoch are gone')
  t.same(
    statuses.filter(status => ![201, 503].includes(status)),
    [],
    'every request is answered',
  )
  await whole(() => cluster.nodes)
  for (const client of clients)
    for (const slug of slugs)
      await until(async () => (await send(client, slug)) === 201, `an event of ${slug} is sent again`)
  for (const client of clients)
    for (const slug of slugs) {
      const { metrics } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
      const total = metrics.find(({ period }: { period: string }) => period === 'all_time')
      t.equal(total.value, clients.length, `EV-27 ${slug}: each event is counted once`)
    }
})

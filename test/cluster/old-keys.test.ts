// Idempotency keys that leave Redis (TOLLGATE_REDIS_KEYS_MS is a second here): every node recognises repeats all the same,
// also when the node that seals is killed, when a node starts anew, and when ClickHouse was away.
import { Redis } from 'ioredis'
import t from 'tap'
import { skipped, TestCluster, type TestNode, until } from './nodes.js'
import { ownStores } from './own-stores.js'
import { ClusterLoad } from './under-load.js'

const events = 40
const company = { slug: 'old' }
/** Times that the node which seals is killed. */
const kills = 2
/** Repeats after that, and repeats sent at once. */
const repeats = 200
const atOnce = 10

const track = (key: string, quantity = 1) => ({
  event_type: 'track',
  idempotency_key: key,
  body: { event: 'call', company, quantity },
})

t.setTimeout(600_000)

t.test('keys leave Redis, and repeats are recognised', { skip: skipped }, async t => {
  const { clickhouse, settings } = await ownStores(t)
  const cluster = await TestCluster.start(t, 3, { ...settings, TOLLGATE_REDIS_KEYS_MS: '1000' })
  const redis = new Redis(cluster.redis.url)
  t.teardown(() => redis.disconnect())
  const any = (i: number): TestNode => cluster.living[i % cluster.living.length]!
  const left = async () => (await redis.keys('*:i:*')).length
  await any(0).client.ok('POST', '/companies', { keys: company })
  const usage = async (): Promise<number> => {
    const { metrics } = await any(0).client.ok('GET', '/companies/lookup?slug=old')
    return metrics.find((metric: { period: string }) => metric.period === 'all_time').value
  }
  const ids = new Map<string, string>()
  const send = async (node: TestNode, key: string): Promise<string> => {
    for (;;) {
      const { status, body } = await node.client.post('/events', track(key))
      if (status === 201) return body.data.event_id
      t.equal(status, 503)
    }
  }

  await t.test('EV-25 EV-27 a repeat on each node is the first event, which is counted once', async t => {
    for (let i = 0; i < events; i++) ids.set(`key ${i}`, await send(any(i), `key ${i}`))
    const counted = await usage()
    await until(async () => (await left()) === 0, 'all keys leave Redis')
    for (const node of cluster.living)
      for (const [key, id] of ids) t.equal(await send(node, key), id, `${key} on ${node.name}`)
    t.equal(await left(), 0, 'a repeat claims nothing')
    t.equal(await usage(), counted)
  })

  await t.test('a repeat with other content is dropped as ever', async t => {
    const counted = await usage()
    const { status } = await any(0).client.post('/events', track('key 0', 5))
    t.equal(status, 201)
    t.equal(await usage(), counted)
  })

  await t.test('with ClickHouse silent an old key hears 503, a new one is taken', async t => {
    process.kill(clickhouse.pid!, 'SIGSTOP')
    const old = await any(1).client.post('/events', track('key 1'))
    const fresh = await any(1).client.post('/events', track('fresh'))
    process.kill(clickhouse.pid!, 'SIGCONT')
    t.equal(old.status, 503)
    t.match(old.body.error, /ClickHouse does not answer/)
    t.ok(Number(old.headers.get('retry-after')) > 0)
    t.equal(fresh.status, 201)
    await until(
      async () => (await any(1).client.post('/events', track('key 1'))).status === 201,
      'it goes on',
    )
    t.equal(await send(any(1), 'key 1'), ids.get('key 1'))
  })

  await t.test('a node that starts anew knows old keys', async t => {
    const node = await cluster.add()
    for (const [key, id] of ids) t.equal(await send(node, key), id)
  })

  await t.test('the node that seals is killed under load, again and again', async t => {
    const load = await ClusterLoad.prepare(t, cluster)
    load.load.adopt(company.slug)
    await load.during(t, 'sealers killed', async () => {
      for (let i = 0; i < kills; i++) {
        await load.load.answered(100)
        const { out } = await cluster.command('cluster', '--json')
        const { shards } = JSON.parse(out) as { shards: { node: string | null }[] }
        const sealer = cluster.living.find(({ name }) => name === shards[0]!.node)
        await sealer?.process.end('SIGKILL')
        await cluster.add()
      }
    })
    await until(async () => (await left()) === 0, 'all keys leave Redis')
    for (const [key, id] of ids) t.equal(await send(any(0), key), id)
    const sent = [...load.load.events.values()].slice(-repeats)
    let wrong = 0
    for (let i = 0; i < sent.length; i += atOnce)
      await Promise.all(
        sent.slice(i, i + atOnce).map(async ({ body, eventId }, j) => {
          if ((await any(j).client.ok('POST', '/events', body)).event_id !== eventId) wrong++
        }),
      )
    t.equal(wrong, 0, `EV-27 each of ${sent.length} repeats is the first event`)
    await load.load.verify(t)
  })
})

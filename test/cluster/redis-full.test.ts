// A Redis without room (promise 12): events are refused at the door, readiness says why, and nothing acknowledged is lost.
import { Redis } from 'ioredis'
import t from 'tap'
import { skipped, TestCluster, until, whole } from './nodes.js'

/** Room beside what Redis holds when it is bounded. */
const roomBytes = 8 << 20
const junkBytes = 64 << 10

t.test('Redis is full', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 1)
  const redis = new Redis(cluster.redis.url)
  t.teardown(() => redis.disconnect())
  const { client } = cluster.nodes[0]!
  await client.ok('POST', '/companies', { keys: { slug: 'one' } })
  const acknowledged = new Map<string, string>()
  let made = 0
  const send = async (key = `key ${++made}`) => {
    const body = { event: 'call', company: { slug: 'one' } }
    const answer = await client.post('/events', { event_type: 'track', idempotency_key: key, body })
    if (answer.status === 201) acknowledged.set(key, answer.body.data.event_id)
    return answer
  }
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  const most = (await used()) + roomBytes
  await redis.config('SET', 'maxmemory', most)
  t.equal((await send()).status, 201)

  let junk = 0
  while ((await used()) < 0.93 * most) await redis.set(`junk:${junk++}`, Buffer.alloc(junkBytes))
  await until(async () => (await send()).status === 503, 'events are refused')
  const refused = await send()
  t.match(refused.body.error, /full/)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  const ready = await client.get('/health/ready')
  t.equal(ready.status, 200, 'checks are served')
  t.match(ready.body.degraded, [/Redis is full: \d+ % of its maxmemory/])

  // no room at all: what the door let through before is refused, too
  while (await redis.set(`junk:${junk++}`, Buffer.alloc(junkBytes)).catch(() => null));
  t.equal((await send()).status, 503)

  await redis.del(...Array.from({ length: junk }, (_, i) => `junk:${i}`))
  await until(async () => (await send()).status === 201, 'events are taken again')
  await whole(() => cluster.living)
  for (const [key, id] of [...acknowledged]) t.equal((await send(key)).body.data.event_id, id, 'each once')
})

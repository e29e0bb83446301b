// Durability in replicas (`TOLLGATE_REDIS_DURABILITY=replicas:1`): a write is acknowledged when the replica has it. With
// the replica away a write hears 503; after the primary is lost the replica has everything acknowledged, each once.

import { Redis } from 'ioredis'
import t from 'tap'
import { RedisClient } from '../../src/redis/redis.js'
import { skipped, TestCluster, TestRedis, until, whole } from './nodes.js'

/** Writes of one turn. */
const together = 20

t.test('writes of one turn wait for the replicas with one command', { skip: skipped }, async t => {
  const redis = await TestRedis.start(t)
  const replica = await TestRedis.start(t, redis.port)
  const client = await RedisClient.open({ url: redis.url, prefix: 'test:{t}:', replicas: 1 })
  t.teardown(() => client.close())
  const waits = async () =>
    Number(/calls=(\d+)/.exec((await client.info('commandstats')).get('cmdstat_wait') ?? '')?.[1] ?? 0)
  await until(async () => (await client.replicasReached()) === 1, 'it replicates')
  const before = await waits()
  const write = () => Promise.allSettled(Array.from({ length: together }, () => client.write('touch')))
  t.ok(
    (await write()).every(({ status }) => status === 'fulfilled'),
    'all are written',
  )
  t.equal((await waits()) - before, 1)
  replica.signal('SIGSTOP')
  const refused = await write()
  replica.signal('SIGCONT')
  t.equal((await waits()) - before, 2)
  for (const one of refused) t.match(one, { status: 'rejected', reason: /0 of 1 replicas have the write/ })
  await until(async () => (await write()).every(({ status }) => status === 'fulfilled'), 'it goes on')
})

const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
const slugs = ['one', 'two', 'three', 'four']

t.test('a primary and its replica', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0, { TOLLGATE_REDIS_DURABILITY: 'replicas:1' })
  const replica = await TestRedis.start(t, cluster.redis.port)
  const asked = new Redis(replica.url)
  t.teardown(() => asked.disconnect())
  await until(async () => /master_link_status:up/.test(await asked.info('replication')), 'it replicates')
  const node = await cluster.add()
  await whole(() => [node])
  const { client } = node
  await client.ok('POST', '/flags', flag)
  const acknowledged = new Map(slugs.map(slug => [slug, 0]))
  const use = async (slug: string, key: string): Promise<number> => {
    const body = { event: 'call', company: { slug }, quantity: 1 }
    const answer = await client.post('/events', { event_type: 'track', idempotency_key: key, body })
    if (answer.status === 201) acknowledged.set(slug, acknowledged.get(slug)! + 1)
    return answer.status
  }
  for (const slug of slugs) await client.ok('POST', '/companies', { keys: { slug } })
  for (const slug of slugs) t.equal(await use(slug, `before ${slug}`), 201)

  await t.test('writes hear 503 while the replica does not answer, and checks go on', async t => {
    replica.signal('SIGSTOP')
    const keys = { slug: 'one' }
    const write = () =>
      Promise.all([
        client.post('/events', {
          event_type: 'track',
          idempotency_key: 'refused',
          body: { event: 'call', company: keys },
        }),
        client.post('/company-traits', { keys: { slug: 'two' }, trait: 'n', incr: 1 }),
      ])
    const refused = (answers: Awaited<ReturnType<typeof write>>, error: RegExp) => {
      for (const { status, body, headers } of answers) {
        t.equal(status, 503)
        t.match(body.error, error)
        t.ok(headers.has('retry-after'))
      }
    }
    const first = write()
    let degraded: readonly string[] = []
    await until(async () => {
      degraded = (await client.get('/health/ready')).body.degraded
      return degraded.length > 0
    }, 'the node reports it')
    t.same(degraded, ['0 of 1 replicas of Redis answer'])
    // Later ones are not sent to Redis: they hear it at once, and not after the ten seconds of the first.
    for (let i = 0; i < 5; i++) refused(await write(), /^0 of 1 replicas of Redis answer; try again$/)
    refused(await first, /Redis/)
    t.equal((await client.post('/flags/f/check', { company: keys })).status, 200)
    replica.signal('SIGCONT')
    await whole(() => [node])
  })

  await t.test('the same requests are taken once the replica answers, each once', async t => {
    await until(async () => (await use('one', 'refused')) === 201, 'the event is taken')
    const add = () => client.post('/company-traits', { keys: { slug: 'two' }, trait: 'n', incr: 1 })
    await until(async () => (await add()).status === 200, 'the trait is counted up')
    const { traits } = await client.ok('GET', '/companies/lookup?slug=two')
    t.equal(traits.n, 1, 'the refused one was not applied')
  })

  await t.test('everything acknowledged is in the replica when the primary is lost', async t => {
    let number = 0
    let going = true
    const sending = slugs.map(async slug => {
      while (going) if ((await use(slug, `load ${++number}`).catch(() => 0)) !== 201) break
    })
    await until(() => number > 300, 'events are acknowledged')
    await cluster.redis.end('SIGKILL')
    going = false
    await node.process.end('SIGKILL')
    await Promise.all(sending)
    await asked.replicaof('NO', 'ONE')
    const next = await cluster.add({ REDIS_URL: replica.url, TOLLGATE_REDIS_DURABILITY: 'fsync' })
    await whole(() => [next])
    for (const [slug, count] of acknowledged) {
      const { metrics } = await next.client.ok('GET', `/companies/lookup?slug=${slug}`)
      const { value } = metrics.find(({ period }: { period: string }) => period === 'all_time')
      // One event of each sender was on its way when the primary was lost.
      t.ok(value === count || value === count + 1, `${slug}: ${value} of ${count}`)
    }
    t.equal((await next.client.post('/flags/f/check', { company: { slug: 'one' } })).status, 200)
  })
})

t.test('claims of keys that wait for a replica hold up no lease', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0, { TOLLGATE_REDIS_DURABILITY: 'replicas:1' })
  const replica = await TestRedis.start(t, cluster.redis.port)
  const [, node] = [await cluster.add(), await cluster.add()]
  await whole(() => cluster.nodes)
  replica.signal('SIGSTOP')
  // Each of them waits for the replica, in all for several leases.
  for (let i = 0; i < 4; i++) {
    const { status } = await node.client.post('/companies', { keys: { slug: `new-${i}` } })
    t.equal(status, 503)
  }
  t.equal(cluster.living.length, 2, 'no node ends for that')
  replica.signal('SIGCONT')
  await whole(() => cluster.nodes)
  for (let i = 0; i < 4; i++) await node.client.ok('POST', '/companies', { keys: { slug: `new-${i}` } })
})

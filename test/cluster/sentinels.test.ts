// Sentinels that do not agree, as after a fail-over of which one has not heard: a connection leads to the primary of the
// latest fail-over, and never to the former primary that runs again and takes writes.
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { leadingTo } from '../../src/redis/place.js'
import { RedisClient } from '../../src/redis/redis.js'
import { ask } from './ask-redis.js'
import { skipped, TestRedis, until } from './nodes.js'
import { LinkProxy } from './proxy.js'
import { primaryBy, primaryName, sentinelUrl, startSentinel, toldBy } from './sentinels.js'

async function open(t: Test, sentinels: readonly number[], replicas = 0): Promise<RedisClient> {
  const redis = await RedisClient.open({ url: sentinelUrl(sentinels), prefix: '{t}:', replicas })
  t.teardown(() => redis.close())
  return redis
}

const portOf = async (redis: RedisClient) => Number((await redis.info('server')).get('tcp_port'))

t.test('a Sentinel that did not hear of a fail-over is outvoted', { skip: skipped }, async t => {
  const first = await TestRedis.start(t)
  const second = await TestRedis.start(t, first.port)
  const hears = await startSentinel(t, first.port, { quorum: 1, downMs: 500 })
  const deaf = await startSentinel(t, first.port, { quorum: 2, deaf: true })
  await until(async () => (await toldBy(hears)).get('num-slaves') === '1', 'the Sentinel knows the replica')
  t.equal(await portOf(await open(t, [deaf, hears])), first.port)

  await first.end('SIGKILL')
  await until(
    async () => (await primaryBy(hears)) === second.port,
    'the replica takes the place of the primary',
  )
  await first.start()
  t.equal(await primaryBy(deaf), first.port, 'the other Sentinel names the former primary')
  for (const order of [
    [deaf, hears],
    [hears, deaf],
  ])
    t.equal(await portOf(await open(t, order)), second.port)
})

/** Two servers, and a Sentinel that is told by hand which one is the primary. */
async function twoAndSentinel(t: Test) {
  const [first, second] = [await TestRedis.start(t), await TestRedis.start(t)]
  const sentinel = await startSentinel(t, first.port, { quorum: 1, downMs: 600_000 })
  const says = async (port: number) => (await primaryBy(sentinel)) === port
  await until(() => says(first.port), 'the Sentinel answers')
  const nowIsSecond = async () => {
    await ask(sentinel, 'SENTINEL', 'REMOVE', primaryName)
    await ask(sentinel, 'SENTINEL', 'MONITOR', primaryName, '127.0.0.1', String(second.port), '1')
    await until(() => says(second.port), 'the Sentinel names the other server')
  }
  return { first, second, sentinel, nowIsSecond }
}

t.test('a former primary that takes writes, and has no replica, is left', { skip: skipped }, async t => {
  const { first, second, sentinel, nowIsSecond } = await twoAndSentinel(t)
  const redis = await open(t, [sentinel], 1)
  t.equal(await portOf(redis), first.port)
  await nowIsSecond()
  await t.rejects(redis.write('touch'), { message: '0 of 1 replicas have the write' })
  await until(async () => (await portOf(redis).catch(() => 0)) === second.port, 'it leads to the primary')
})

t.test('a primary that is replaced while a connection is made is left', { skip: skipped }, async t => {
  const { first, second, sentinel, nowIsSecond } = await twoAndSentinel(t)
  first.signal('SIGSTOP')
  const proxy = await LinkProxy.start(t, sentinel)
  const opened = open(t, [proxy.port])
  await until(() => proxy.gone === 1, 'the Sentinel has named the first server')
  await nowIsSecond()
  first.signal('SIGCONT')
  const redis = await opened
  await until(async () => (await portOf(redis).catch(() => 0)) === second.port, 'it leads to the primary')
})

t.test('Sentinels that are away do not keep a node from its primary', { skip: skipped }, async t => {
  const primary = await TestRedis.start(t)
  const runs = await startSentinel(t, primary.port, { quorum: 1 })
  const [hangs, ends] = await Promise.all([TestRedis.start(t), TestRedis.start(t)])
  hangs.signal('SIGSTOP')
  await ends.end('SIGKILL')
  await until(async () => (await primaryBy(runs)) === primary.port, 'the Sentinel answers')
  t.equal(await portOf(await open(t, [hangs.port, ends.port, runs])), primary.port)
})

t.test('no Sentinel answers', { skip: skipped }, async t => {
  const ends = await TestRedis.start(t)
  await ends.end('SIGKILL')
  const { options } = leadingTo({ url: sentinelUrl([ends.port]), prefix: '{t}:' })!
  const redis = new Redis({ ...options, lazyConnect: true, retryStrategy: () => null })
  const told: string[] = []
  redis.on('error', error => told.push(error.message))
  const failed = await redis.connect().catch(error => error)
  t.match([...told, failed.message].join(), /no Sentinel names the primary of tollgate: connect ECONNREFUSED/)
})

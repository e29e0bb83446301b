// Redis with Sentinels (`replicas:1`). The primary is killed, or hangs, under load, and its replica takes its place: nodes
// find it, and everything acknowledged is there once. The forms of REDIS_URL are here too.
import t from 'tap'
import { ConfigError, readConfig } from '../../src/config.js'
import { ask, lineOf } from './ask-redis.js'
import { skipped, TestCluster, TestRedis, until } from './nodes.js'
import { primaryBy, sentinelUrl, startSentinel, toldBy } from './sentinels.js'
import { ClusterLoad } from './under-load.js'

t.test('Sentinels', { skip: skipped }, async t => {
  const first = await TestRedis.start(t)
  const servers = [first, await TestRedis.start(t, first.port)]
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(t, first.port, { quorum: 2 })))
  const primaryNow = async (): Promise<TestRedis | undefined> => {
    const port = await primaryBy(sentinels[0]!)
    return servers.find(one => one.port === port)
  }
  await until(async () => {
    const told = await toldBy(sentinels[0]!)
    return told.get('num-slaves') === '1' && told.get('num-other-sentinels') === '2'
  }, 'the Sentinels know each other and the replica')
  const cluster = await TestCluster.start(t, 2, {
    REDIS_URL: sentinelUrl(sentinels),
    TOLLGATE_REDIS_DURABILITY: 'replicas:1',
  })
  const load = await ClusterLoad.prepare(t, cluster)
  t.equal(await primaryNow(), first)

  /** Resolves when the Sentinels name another primary than this one. */
  const replaced = (was: TestRedis) =>
    until(async () => ((await primaryNow()) ?? was) !== was, 'a replica takes the place of the primary')

  const isReplica = async ({ port }: TestRedis) => {
    const text = await ask<string>(port, 'INFO', 'replication').catch(() => '')
    return lineOf(text, 'role') === 'slave' && lineOf(text, 'master_link_status') === 'up'
  }

  await t.test('the primary is killed, and comes back as a replica', async t => {
    await load.during(t, 'primary killed', async () => {
      await first.end('SIGKILL')
      await replaced(first)
      await first.start()
      await until(() => isReplica(first), 'the former primary is a replica')
    })
    t.equal(cluster.living.length, 2, 'no node ends for that')
  })

  await t.test('the primary hangs, and wakes when it was replaced', async t => {
    const hangs = (await primaryNow())!
    await load.during(t, 'primary hangs', async () => {
      hangs.signal('SIGSTOP')
      await replaced(hangs)
      hangs.signal('SIGCONT')
      await until(() => isReplica(hangs), 'the former primary is a replica')
    })
    t.equal(cluster.living.length, 2, 'no node ends for that')
  })
})

t.test('the forms of REDIS_URL', async t => {
  const read = (url: string, durability = 'replicas:1') =>
    readConfig({
      REDIS_URL: url,
      TOLLGATE_REDIS_DURABILITY: durability,
      DATABASE_URL: 'postgres://127.0.0.1/t',
      CLICKHOUSE_URL: 'http://127.0.0.1:8123',
      TOLLGATE_PEPPER: 'a pepper that is the same on all nodes',
      TOLLGATE_CLUSTER_SECRET: 'a secret that only nodes of this test know',
    })
  for (const url of [
    'redis://a:1,redis://b:1',
    'rediss://u:p@a:1,rediss://b',
    'redis+sentinel://a:1,b/main',
    'rediss+sentinel://u:p@a:1,[::1]:2/main/3?sentinel_password=s%2Fs',
  ]) {
    t.equal(read(url).redisUrl, url)
    t.equal(read(url, 'accept-loss').redisUrl, url)
    t.throws(() => read(url, 'fsync'), {
      name: ConfigError.name,
      message: /a fail-over loses what no replica has/,
    })
  }
  for (const [url, error] of [
    ['redis+sentinel://a:1', /redis\+sentinel:\/\/user:password@host:port/],
    ['redis+sentinel:///main', /redis\+sentinel:\/\/user:password@host:port/],
    ['redis://a:1,b:1', /expected a URL of redis: or rediss:/],
    ['redis://a:1/2,redis://b:1', /has no databases/],
  ] as const)
    t.throws(() => read(url), { name: ConfigError.name, message: error })
})

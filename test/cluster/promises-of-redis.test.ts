// Promise 12: a start refuses a Redis that may lose acknowledged writes, unless the operator accepts that loss; and
// settings without which several nodes would diverge.
import { Redis } from 'ioredis'
import t from 'tap'
import { ConfigError, readConfig } from '../../src/config.js'
import { skipped, TestCluster, whole } from './nodes.js'

t.test('promise 12 a start names the setting of Redis that loses writes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0)
  const redis = new Redis(cluster.redis.url)
  t.teardown(() => redis.disconnect())
  const refused = async (name: string, value: string, good: string, error: RegExp) => {
    await redis.config('SET', name, value)
    const { code, err, out } = await cluster.command('start')
    t.not(code, 0, `${name} ${value}`)
    t.match(err + out, error)
    await redis.config('SET', name, good)
  }
  await refused(
    'maxmemory-policy',
    'allkeys-lru',
    'noeviction',
    /maxmemory-policy is allkeys-lru.*Set it to noeviction/,
  )
  await refused('appendfsync', 'everysec', 'always', /appendfsync is everysec.*could be lost/)
  await refused('appendonly', 'no', 'yes', /appendonly is no .*TOLLGATE_REDIS_DURABILITY=accept-loss/)
  await redis.config('SET', 'appendfsync', 'everysec')
  const node = await cluster.add({ TOLLGATE_REDIS_DURABILITY: 'accept-loss' })
  await whole(() => [node])
  t.equal((await node.client.post('/companies', { keys: { slug: 'one' } })).status, 200)
})

t.test('several nodes need more settings, and the error names the one that is missing', async t => {
  const all = {
    REDIS_URL: 'redis://127.0.0.1:6379',
    DATABASE_URL: 'postgres://127.0.0.1/t',
    CLICKHOUSE_URL: 'http://127.0.0.1:8123',
    TOLLGATE_PEPPER: 'a pepper that is the same on all nodes',
    TOLLGATE_CLUSTER_SECRET: 'a secret that only nodes of this test know',
  }
  t.doesNotThrow(() => readConfig(all))
  for (const name of Object.keys(all).slice(1)) {
    const error = { name: ConfigError.name, message: new RegExp(`^REDIS_URL: several nodes need ${name}`) }
    t.throws(() => readConfig({ ...all, [name]: '' }), error)
  }
})

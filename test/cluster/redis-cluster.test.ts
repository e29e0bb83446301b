// A Redis Cluster (`replicas:1`). The primary of the slot that has all keys is killed under load, and its replica takes its
// place: nodes find it, and everything acknowledged is there once.
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import t from 'tap'
import { leadingTo } from '../../src/redis/place.js'
import { ask, lineOf } from './ask-redis.js'
import { freePort, skipped, TestCluster, TestRedis, until } from './nodes.js'
import { ClusterLoad } from './under-load.js'

/** A server that does not answer for so long is replaced. */
const downMs = 3_000

/** A port with one 10 000 above it, where servers of a Redis Cluster speak to each other; both are free. */
async function clusterPort(): Promise<number> {
  for (;;) {
    const port = 16_000 + Math.floor(Math.random() * 6_000)
    const isFree = (one: number) =>
      new Promise<boolean>(resolve => {
        const server = createServer()
        server.once('error', () => resolve(false))
        server.listen(one, '127.0.0.1', () => server.close(() => resolve(true)))
      })
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port
  }
}

const withoutClient =
  skipped || (spawnSync('redis-cli', ['--version']).status === 0 ? false : 'redis-cli is not installed')

t.test('a Redis Cluster of three primaries, each with a replica', { skip: withoutClient }, async t => {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(downMs)]
  const servers: TestRedis[] = []
  for (let i = 0; i < 6; i++)
    servers.push(await TestRedis.start(t, null, { port: await clusterPort(), more: settings }))
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
  const creating = spawn('redis-cli', [
    '--cluster',
    'create',
    ...addresses,
    '--cluster-replicas',
    '1',
    '--cluster-yes',
  ])
  let said = ''
  creating.stdout.on('data', chunk => {
    said += chunk
  })
  t.equal(await new Promise(resolve => creating.on('close', resolve)), 0, said)
  const isWhole = async ({ port }: TestRedis) => {
    const [state, lines] = await Promise.all([
      ask<string>(port, 'CLUSTER', 'INFO'),
      ask<string>(port, 'CLUSTER', 'NODES'),
    ])
    return lineOf(state, 'cluster_state') === 'ok' && (lines.match(/slave/g) ?? []).length === 3
  }
  await until(
    async () => (await Promise.all(servers.map(isWhole))).every(Boolean),
    'the Redis Cluster is whole',
  )

  const one = { TOLLGATE_REDIS_DURABILITY: 'replicas:1', REDIS_URL: servers[0]!.url }
  const alone = await TestCluster.start(t, 0, one)
  const refused = await alone.command('start')
  t.not(refused.code, 0)
  t.match(refused.out + refused.err, /this is a server of a Redis Cluster. Name several/)

  const url = servers.map(server => server.url).join(',')
  const cluster = await TestCluster.start(t, 2, { ...one, REDIS_URL: url })
  const load = await ClusterLoad.prepare(t, cluster)
  const keysOf = async ({ port }: TestRedis) => Number(await ask(port, 'DBSIZE'))
  const isPrimary = async ({ port }: TestRedis) =>
    lineOf(await ask<string>(port, 'INFO', 'replication'), 'role') === 'master'
  const withKeys: TestRedis[] = []
  for (const server of servers)
    if ((await isPrimary(server)) && (await keysOf(server)) > 0) withKeys.push(server)
  t.equal(withKeys.length, 1, 'all keys lie in one slot')
  const [primary] = withKeys

  await t.test('the primary of the slot is killed, and comes back as a replica', async t => {
    await load.during(t, 'primary killed', async () => {
      await primary!.end('SIGKILL')
      const others = servers.filter(server => server !== primary)
      const took = async () =>
        (await Promise.all(others.map(async one => (await isPrimary(one)) && (await keysOf(one)) > 0))).some(
          Boolean,
        )
      await until(took, 'its replica takes its place')
      await primary!.start()
    })
    t.equal(cluster.living.length, 2, 'no node ends for that')
    t.notOk(await isPrimary(primary!))
  })
})

t.test('a Redis Cluster that is away fails a connection attempt with a reason', async t => {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port},redis://127.0.0.1:${port}`
  const { options } = leadingTo({ url, prefix: 'test:{t}:' })!
  const redis = new Redis({ ...options, lazyConnect: true, retryStrategy: () => null })
  const told: string[] = []
  redis.on('error', error => told.push(error.message))
  const failed = await redis.connect().catch(error => error)
  t.match(
    [...told, failed.message].join(),
    /no server of the Redis Cluster says who has the slot: .*ECONNREFUSED/,
  )
})

// A Redis Cluster (`replicas:1`). Its primaries share journals and keys of events. Two of them are killed under load, one after the
// other: the one that has what all nodes share, and another. Their replicas take their places: nodes find them, and everything
// acknowledged is there once.
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
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
  const isPrimary = async ({ port }: TestRedis) =>
    lineOf(await ask<string>(port, 'INFO', 'replication'), 'role') === 'master'
  const primaries = async (): Promise<readonly TestRedis[]> => {
    const are = await Promise.all(servers.map(server => isPrimary(server).catch(() => false)))
    return servers.filter((_, i) => are[i])
  }
  const keysOf = ({ port }: TestRedis, form: string) => ask<readonly string[]>(port, 'KEYS', form)
  const had = await primaries()
  const journals = await Promise.all(had.map(async one => (await keysOf(one, '*:file:*')).length))
  t.same(journals, [4, 4, 4], 'each primary has the journals of a third of the shards')
  const roots = await Promise.all(had.map(async one => (await keysOf(one, '*:nodes')).length))
  t.same([...roots].sort(), [0, 0, 1], 'one has what all nodes share')

  const killed = async (t: Test, primary: TestRedis): Promise<void> => {
    await load.during(t, 'primary killed', async () => {
      await primary.end('SIGKILL')
      await until(async () => (await primaries()).length === 3, 'its replica takes its place')
      await primary.start()
    })
    t.equal(cluster.living.length, 2, 'no node ends for that')
    t.notOk(await isPrimary(primary))
  }
  const root = had[roots.indexOf(1)]!
  const other = had.find(server => server !== root)!
  await t.test('the primary of some shards is killed, and comes back as a replica', t => killed(t, other))
  for (const one of await primaries())
    t.ok((await keysOf(one, '*:i:*')).length > 0, 'each primary has keys of events')
  await t.test('the primary with what all nodes share is killed', t => killed(t, root))
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

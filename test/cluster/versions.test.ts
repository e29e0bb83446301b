// Nodes of two builds side by side, and what another build left in Redis or in a data directory: where formats are equal both
// serve; where they differ the newcomer is refused with one line and has changed nothing, and the others go on.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { Members } from '../../src/cluster/leases.js'
import { linkVersion } from '../../src/cluster/protocol.js'
import { RedisClient } from '../../src/redis/redis.js'
import { sqlDirectory } from '../../src/storage/migrate.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { embedded, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { skipped, TestCluster, until, whole } from './nodes.js'
import { ClusterLoad } from './under-load.js'

/** The service as another build, by the settings of other-build-hooks.ts. */
const otherBuild = [
  '--import',
  new URL('./other-build.js', import.meta.url).href,
  fileURLToPath(new URL('../../served/main.js', import.meta.url)),
]

/** Start, expect that it ends by itself, and return what it said. */
async function refusal(t: Test, dataDir: string, settings: Record<string, string>, program?: string[]) {
  const child = Process.spawn(dataDir, settings, program, 'pipe')
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr!.on('data', piece => {
    said += piece
  })
  t.equal(await new Promise(resolve => child.on('close', resolve)), 1)
  t.equal(said.trim().split('\n').length, 1, said)
  return said
}

/** Migrations of a later build: columns of tables that every node reads and writes. */
async function laterSchema(t: Test): Promise<string> {
  const directory = join(await temporaryDirectory(t), 'sql')
  cpSync(sqlDirectory, directory, { recursive: true })
  const add = (store: 'postgres' | 'clickhouse', name: string, text: string): void => {
    const files = readdirSync(join(directory, store)).filter(file => file.endsWith('.sql'))
    const number = String(files.length + 1).padStart(4, '0')
    writeFileSync(join(directory, store, `${number}_${name}.sql`), text)
  }
  for (const table of ['companies', 'users', 'projections', 'features', 'plans', 'flags', 'cluster'])
    add('postgres', `later_${table}`, `alter table ${table} add column later text not null default 'x';\n`)
  for (const table of ['events', 'credit_ledger'])
    add('clickhouse', `later_${table}`, `ALTER TABLE ${table} ADD COLUMN later UInt8 DEFAULT 7;\n`)
  return directory
}

/** The versions of the protocol that the living nodes of a cluster speak, in order. */
async function spoken(t: Test, { redis: { url } }: TestCluster): Promise<number[]> {
  const asked = new Redis(url)
  t.teardown(() => asked.disconnect())
  const [key] = await asked.keys('*format')
  const client = await RedisClient.open({ url, prefix: key!.replace(/format$/, ''), replicas: 0 })
  t.teardown(() => client.close())
  const { nodes, leases } = await Members.look(client)
  const versions = [...nodes].flatMap(([id, { version }]) => (leases.get(id)! > 0 ? [version!] : []))
  return [...new Set(versions)].sort()
}

/** The last migration of a cluster's Postgres. */
async function lastMigration(t: Test, { databaseUrl: url }: TestCluster): Promise<string> {
  const sql = openPostgres({ url }, { max: 1 })
  t.teardown(() => closePostgres(sql))
  const [row] = await sql<{ name: string }[]>`select max(name) as name from schema_migrations`
  return row!.name
}

t.test('nodes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 1)
  const [first] = cluster.nodes
  const settings = {
    ...cluster.all,
    TOLLGATE_NODE_ID: 'other',
    OTHER_BUILD_LINK: '1',
    OTHER_BUILD_OLDEST: '1',
  }

  await t.test('a node whose build speaks otherwise is refused before it migrates', async t => {
    const before = await lastMigration(t, cluster)
    const OTHER_BUILD_SQL = await laterSchema(t)
    const said = await refusal(t, await temporaryDirectory(t), { ...settings, OTHER_BUILD_SQL }, otherBuild)
    t.match(
      said,
      `node-1 speaks version ${linkVersion} of the nodes' protocol, this build version ${linkVersion + 1}`,
    )
    t.match(said, /stop all nodes, then start them on one build/)
    t.equal(await lastMigration(t, cluster), before, 'the others can be started again')
    await first!.client.ok('POST', '/companies', { keys: { slug: 'goes-on' } })
  })

  await t.test('once all nodes have stopped, the other build starts on what they left', async t => {
    t.equal(await first!.process.end('SIGTERM'), 0)
    const next = await Process.start(await temporaryDirectory(t), settings, otherBuild)
    t.teardown(() => next.end('SIGKILL'))
    const finds = async () => (await next.client.get('/companies/lookup?slug=goes-on')).status === 200
    await until(finds, 'it shows what the others took')
    const said = await refusal(t, await temporaryDirectory(t), { ...settings, TOLLGATE_NODE_ID: 'former' })
    t.match(
      said,
      `other speaks version ${linkVersion + 1} of the nodes' protocol, this build version ${linkVersion}`,
    )
    t.equal(await next.end('SIGTERM'), 0)
  })

  await t.test('a Redis in another format is refused', async t => {
    const redis = new Redis(cluster.redis.url)
    t.teardown(() => redis.disconnect())
    const [key] = await redis.keys('*format')
    t.equal(await redis.get(key!), '2')
    await redis.set(key!, '3')
    const said = await refusal(t, await temporaryDirectory(t), settings)
    t.match(said, /REDIS_URL: .* in format 3, this build reads format 2/)
  })

  await t.test('what format 1 left in Redis is read, and is format 2 from then on', async t => {
    const redis = new Redis(cluster.redis.url)
    t.teardown(() => redis.disconnect())
    const [key] = await redis.keys('*format')
    await redis.set(key!, '1')
    // format 1 had the marks of owners with the owners
    await redis.del(...(await redis.keys('*marks')))
    const { client } = await cluster.add()
    await whole(() => cluster.living)
    t.equal((await client.get('/companies/lookup?slug=goes-on')).status, 200)
    t.equal(await redis.get(key!), '2')
  })
})

t.test('an upgrade of schema and protocol, one node after the other', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2)
  const settings = { OTHER_BUILD_SQL: await laterSchema(t), OTHER_BUILD_LINK: '1' }
  const load = await ClusterLoad.prepare(t, cluster)
  const former = [...cluster.nodes]
  await load.during(t, 'upgraded', async () => {
    for (const old of former) {
      await cluster.add(settings, otherBuild)
      await load.whole()
      t.same(await spoken(t, cluster), [linkVersion, linkVersion + 1], 'both versions are spoken')
      // both builds serve, under load
      await load.load.answered(120)
      t.equal(await old.process.end('SIGTERM'), 0, 'it hands over')
    }
  })
  t.same(await spoken(t, cluster), [linkVersion + 1])
  t.match(await lastMigration(t, cluster), 'later_')
  const said = await refusal(t, await temporaryDirectory(t), { ...cluster.all, TOLLGATE_NODE_ID: 'former' })
  t.match(said, /the store was made by a newer Tollgate/, 'the former build cannot be started again')
  await whole(() => cluster.living)
})

t.test('the first start of a cluster decides on the number of its shards', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 0)
  const told = async (shards: string) => {
    const { process, client } = await cluster.add({ TOLLGATE_CLUSTER_SHARDS: shards })
    let page = ''
    await until(async () => {
      page = await (await fetch(`${client.url}/metrics`)).text()
      return /^tollgate_cluster_shards_all [1-9]/m.test(page)
    }, 'metrics tell of the shards')
    await client.ok('POST', '/companies', { keys: { slug: `told-${shards}` } })
    t.equal(await process.end('SIGTERM'), 0)
    return Number(/^tollgate_cluster_shards_all (\d+)$/m.exec(page)?.[1])
  }
  t.equal(await told('5'), 5)
  t.equal(await told('7'), 5)
  // as a build left it before the number was noted
  const sql = openPostgres({ url: cluster.databaseUrl }, { max: 1 })
  t.teardown(() => closePostgres(sql))
  await sql`delete from cluster`
  await sql`insert into cluster (generation) values ('former')`
  t.equal(await told('6'), 32)
})

t.test('a journal in another format is refused', async t => {
  const dataDir = join(await temporaryDirectory(t), 'data')
  mkdirSync(join(dataDir, 'journal'), { recursive: true })
  writeFileSync(join(dataDir, 'journal', 'format'), '2\n')
  const said = await refusal(t, dataDir, { ...embedded })
  t.match(said, /journal is in format 2, this build reads format 1/)
})

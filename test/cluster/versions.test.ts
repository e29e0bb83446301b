// Nodes of two builds side by side, and what another build left in Redis or in a data directory: where formats are equal both
// serve; where they differ the newcomer is refused with one line, and the others go on.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { linkVersion } from '../../src/cluster/link.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { embedded, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { skipped, TestCluster, until, whole } from './nodes.js'

/** The service as a build with another version of what nodes say to each other. */
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

t.test('nodes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 1)
  const [first] = cluster.nodes
  const settings = { ...cluster.all, TOLLGATE_NODE_ID: 'other' }

  await t.test('a node whose build speaks otherwise is refused', async t => {
    const said = await refusal(t, await temporaryDirectory(t), settings, otherBuild)
    t.match(
      said,
      `node-1 speaks version ${linkVersion} of the nodes' protocol, this build version ${linkVersion + 1}`,
    )
    t.match(said, /stop all nodes, then start them on one build/)
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
    t.equal(await redis.get(key!), '1')
    await redis.set(key!, '2')
    const said = await refusal(t, await temporaryDirectory(t), settings)
    t.match(said, /REDIS_URL: .* in format 2, this build reads format 1/)
    await redis.del(key!)
    await cluster.add()
    await whole(() => cluster.living)
    t.equal(await redis.get(key!), '1', 'a build before formats were noted left format 1')
  })
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

// A whole service behind PgBouncer in transaction mode, with few connections to the server: one alone, and two nodes with Redis.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { skipped, TestCluster } from '../cluster/nodes.js'
import { ownStores } from '../cluster/own-stores.js'
import { ClusterLoad } from '../cluster/under-load.js'
import { command } from '../command.js'
import { Process } from '../harness.js'
import { noPooler, startPooler } from '../pooler.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'
import { reconciled } from './reconciled.js'

const clients = 6
/** Requests answered in each round. */
const answers = 120

/** Stores of the test's own, and the settings of a service that reaches Postgres through a pooler. */
async function behind(t: Test, size: number) {
  const { postgres, settings } = await ownStores(t)
  if ('url' in postgres.address) throw new Error('the embedded Postgres listens on a socket')
  const url = (await startPooler(t, postgres.address, size))('postgres')
  const { CLICKHOUSE_URL } = settings
  return { DATABASE_URL: url, TOLLGATE_POSTGRES_POOLER: 'true', CLICKHOUSE_URL }
}

t.test('one alone', { skip: noPooler }, async t => {
  const settings = await behind(t, 4)
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGKILL'))
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const load = new Load({ random, companies: 4, client: () => running.client })
  await load.prepare()
  load.start(clients)
  await load.answered(answers)

  await t.test('a second one is refused while the first serves', async t => {
    const child = Process.spawn(await temporaryDirectory(t), settings, undefined, 'pipe')
    let said = ''
    child.stderr!.on('data', piece => {
      said += piece
    })
    t.equal(await new Promise(resolve => child.on('close', resolve)), 1)
    t.match(said, new RegExp(`in use by tollgate, process ${running.child.pid}`))
  })

  await t.test('a kill under load, and a clean stop', async t => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const code = await running.end(signal)
      if (signal === 'SIGTERM') t.equal(code, 0)
      const began = performance.now()
      running = await Process.start(dataDir, settings)
      t.comment(`a start after ${signal} took ${Math.round(performance.now() - began)} ms`)
      await load.answered(answers)
    }
    await load.stop()
    await load.verify(t)
    await reconciled(t, running.client)
  })

  await t.test('more changes of definitions at once than there are connections', async t => {
    const { client } = running
    const make = async (n: number): Promise<void> => {
      const feature = { name: `f${n}`, description: '', feature_type: 'boolean' }
      const { status } = await client.post('/features', feature)
      // a busy machine: they take turns
      if (status === 503) return make(n)
      t.equal(status, 201)
    }
    await Promise.all(Array.from({ length: 20 }, (_, n) => make(n)))
    const lists = Array.from({ length: 20 }, () => client.get('/features?limit=50'))
    for (const { status } of await Promise.all(lists)) t.equal(status, 200)
  })

  await t.test('it keeps ten connections at most', { skip: process.platform !== 'linux' }, async t => {
    const port = Number(new URL(settings.DATABASE_URL).port).toString(16).toUpperCase().padStart(4, '0')
    const established = new RegExp(`^ *\\d+: \\S+ [0-9A-F]{8}:${port} 01 `, 'gm')
    const count = readFileSync('/proc/net/tcp', 'latin1').match(established)?.length ?? 0
    t.ok(count > 0 && count <= 10, `${count} connections`)
  })

  await t.test('a backup reads through it, and doctor finds nothing', async t => {
    const taken = await command(dataDir, ['backup', `${await temporaryDirectory(t)}/backup`], settings)
    t.equal(taken.code, 0, taken.said)
    const port = new URL(running.client.url).port
    const looked = await command(dataDir, ['doctor'], { ...settings, TOLLGATE_PORT: port })
    t.equal(looked.code, 0, looked.said)
  })
})

t.test('two nodes', { skip: noPooler || skipped }, async t => {
  const cluster = await TestCluster.start(t, 2, await behind(t, 6))
  const load = await ClusterLoad.prepare(t, cluster)
  await load.during(t, 'a node is killed', async () => {
    await cluster.nodes[0]!.process.end('SIGKILL')
    await cluster.add()
  })
})

// Stores that come after the node (a start does not need ClickHouse, and waits for Postgres): it serves what it can,
// says what it lacks, and afterwards everything is there once.
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import type { Client } from '../harness.js'
import { Process, startHere } from '../harness.js'
import { startStores, temporaryDirectory } from '../stores.js'
import { type Road, road } from './road.js'

/** Empty stores, and a way to each. */
async function stores(t: Test) {
  const { postgres, clickhouseAddress } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const { socketPath, user, password } = clickhouseAddress
  const toPostgres = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` })
  const toClickHouse = await road(t, { path: socketPath! })
  const postgresUrl = (secret: string) =>
    `postgres://${postgres.user}:${secret}@127.0.0.1:${toPostgres.port}/${postgres.database}`
  const settings = {
    DATABASE_URL: postgresUrl(postgres.password ?? ''),
    CLICKHOUSE_URL: `http://${user}:${password}@127.0.0.1:${toClickHouse.port}`,
  }
  return { toPostgres, toClickHouse, settings, wrong: postgresUrl('wrong') }
}

const degraded = async (client: Client): Promise<string[]> =>
  (await client.get('/health/ready')).body.degraded

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise(resolve => setTimeout(resolve, 20))
}

const event = (key?: string) => ({
  event_type: 'track',
  ...(key === undefined ? {} : { idempotency_key: key }),
  body: { event: 'call', company: { slug: 'acme' } },
})

async function counts(client: Client): Promise<{ counted: number; stored: number }> {
  const { metrics } = await client.ok('GET', '/companies/lookup?slug=acme')
  const counted = metrics.find((one: { period: string }) => one.period === 'all_time').value
  const stored = (await client.ok('GET', '/events?event_types=track&limit=250')).length
  return { counted, stored }
}

t.test('a start without ClickHouse', async t => {
  const { toClickHouse, settings } = await stores(t)
  const dataDir = await temporaryDirectory(t)
  const started = (directory: string) => startHere(t, { ...settings, TOLLGATE_DATA_DIR: directory })
  toClickHouse.cut()

  let { client, tollgate } = await started(dataDir)
  const ready = await client.get('/health/ready')
  t.match(ready, { status: 200, body: { degraded: ['ClickHouse'] } })
  const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
  await client.ok('POST', '/flags', flag)
  await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  for (const key of ['a', 'b', undefined]) t.equal((await client.post('/events', event(key))).status, 201)
  t.equal((await client.post('/events', event('a'))).status, 201)
  t.equal((await client.post('/flags/f/check', { company: { slug: 'acme' } })).status, 200)
  const refused = await client.get('/events')
  t.equal(refused.status, 503)
  t.ok(Number(refused.headers.get('retry-after')) >= 1)

  await t.test('it knows the keys of before from its journal', async t => {
    await tollgate.stop()
    ;({ client, tollgate } = await started(dataDir))
    t.match(await degraded(client), ['ClickHouse'])
    const repeat = await client.post('/events?report=true', event('b'))
    t.match(repeat, { status: 201, body: { data: { duplicate: true } } })
    t.equal((await client.post('/events', event('c'))).status, 201)
  })

  await t.test('when it comes it is migrated, and gets everything once', async t => {
    toClickHouse.mend()
    await until(async () => (await degraded(client)).length === 0)
    await until(async () => (await counts(client)).stored >= 4)
    t.same(await counts(client), { counted: 4, stored: 4 })
  })

  await t.test(
    'keys that ClickHouse alone has refuse events with unknown keys until it is there',
    async t => {
      await tollgate.stop()
      toClickHouse.cut()
      ;({ client, tollgate } = await started(await temporaryDirectory(t)))
      t.match(await degraded(client), ['ClickHouse', /^idempotency window/])
      const answer = await client.post('/events', event('a'))
      t.equal(answer.status, 503, 'it may be a repeat')
      t.ok(Number(answer.headers.get('retry-after')) >= 1)
      t.equal((await client.post('/events', event())).status, 201, 'one without a key is none')
      toClickHouse.mend()
      await until(async () => (await degraded(client)).length === 0)
      t.match(await client.post('/events?report=true', event('a')), { body: { data: { duplicate: true } } })
      t.equal((await client.post('/events', event('d'))).status, 201)
      await until(async () => (await counts(client)).stored >= 6)
      t.same(await counts(client), { counted: 6, stored: 6 })
      await tollgate.stop()
    },
  )
})

t.test('a start without Postgres', async t => {
  const { toPostgres, settings, wrong } = await stores(t)
  const port = String(await freePort())

  await t.test('waits: it lives, is not ready, and says why', async t => {
    toPostgres.cut()
    const starting = startHere(t, { ...settings, TOLLGATE_PORT: port })
    const url = `http://127.0.0.1:${port}`
    const asked = (path: string) => fetch(url + path).catch(() => null)
    await until(async () => (await asked('/health/live'))?.status === 200)
    const notReady = (await asked('/health/ready'))!
    t.equal(notReady.status, 503)
    t.match(await notReady.json(), { degraded: ['waiting for Postgres'] })
    t.ok(Number(notReady.headers.get('retry-after')) >= 1)
    t.equal((await fetch(`${url}/events`, { method: 'POST', body: '{}' })).status, 503)
    toPostgres.mend()
    const { client, tollgate } = await starting
    t.equal(client.url, url)
    t.equal((await client.post('/companies', { keys: { slug: 'acme' } })).status, 200)
    await tollgate.stop()
  })

  await t.test('a wrong password stops it at once', async t => {
    const started = startHere(t, { ...settings, DATABASE_URL: wrong })
    await t.rejects(started, { name: 'ConfigError', message: /does not let Tollgate in: password/ })
  })

  await t.test('SIGTERM ends the waiting', async t => {
    await endsWhileWaiting(t, toPostgres, { ...settings, TOLLGATE_PORT: port })
  })
})

async function endsWhileWaiting(t: Test, toPostgres: Road, settings: Readonly<Record<string, string>>) {
  toPostgres.cut()
  const child = Process.spawn(await temporaryDirectory(t), settings)
  const exited = new Promise(resolve => child.on('exit', resolve))
  const live = `http://127.0.0.1:${settings.TOLLGATE_PORT}/health/live`
  await until(async () => (await fetch(live).catch(() => null))?.status === 200)
  child.kill('SIGTERM')
  t.equal(await exited, 0)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise<void>(resolve => server.close(() => resolve()))
  return port
}

// A service that is killed and started again: a client goes on hearing of what it holds, without a question of its caller.
import postgres from 'postgres'
import t from 'tap'
import { freePort } from '../cluster/nodes.js'
import { Process, storesOf } from '../harness.js'
import { makeFlag, rule } from '../interface/flags.js'
import { temporaryDirectory } from '../stores.js'
import { StreamClient, type StreamMessage } from '../stream-client.js'
import { changeOf, clientOf, until } from './make.js'

t.setTimeout(180_000)

t.test('subscriptions survive a restart of the service', async t => {
  const dataDir = await temporaryDirectory(t)
  const settings = { TOLLGATE_PORT: String(await freePort()) }
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGKILL'))
  const company = { slug: 'kept' }
  await running.client.ok('POST', '/companies', { keys: company })
  await running.client.ok('POST', '/users', { keys: { mail: 'kept@example.com' }, traits: { age: 1 } })
  const fewer = {
    condition_type: 'metric',
    operator: 'lt',
    resource_ids: [],
    event_subtype: 'call',
    metric_period: 'all_time',
    metric_value: 3,
  }
  await makeFlag(running.client, 'calls', false, [rule('fewer than three', [fewer])])
  const tollgate = clientOf(t, running.client)
  await tollgate.ready()
  const context = { company, user: { mail: 'kept@example.com' } }
  t.match(await tollgate.check('calls', context), { value: true, source: 'local' })
  const lost = changeOf(tollgate, ({ type }) => type === 'disconnected')
  const back = changeOf(tollgate, ({ type }) => type === 'connected')
  await running.end('SIGKILL')
  await lost
  t.match(
    tollgate.checkHeld('calls', context),
    { value: true, stale: true },
    'what is held answers meanwhile',
  )
  running = await Process.start(dataDir, settings)
  const body = { event: 'call', company, quantity: 3 }
  await running.client.ok('POST', '/events', { event_type: 'track', body })
  await back
  await until(tollgate, () => tollgate.checkHeld('calls', context)!.value === false)
  await until(tollgate, () => tollgate.checkHeld('calls', context)!.stale === undefined)
  await running.client.ok('POST', '/events', { event_type: 'track', body: { ...body, quantity: -1 } })
  await until(tollgate, () => tollgate.checkHeld('calls', context)!.value === true)
  t.pass('what changed meanwhile and afterwards was told')
})

t.test('decision 24 a client that asks only for its flags goes on hearing of what its key holds', async t => {
  const dataDir = await temporaryDirectory(t)
  const settings = { TOLLGATE_PORT: String(await freePort()) }
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGKILL'))
  const [company, user] = ['rulesengine.Company', 'rulesengine.User']
  const keys = { slug: 'kept' }
  const put = (more: object) => running.client.ok('POST', '/companies', { keys: { ...keys, ...more } })
  const { id } = await put({})
  const left = await running.client.ok('POST', '/companies', { keys: { slug: 'left' } })
  await running.client.ok('POST', '/users', { keys: { mail: 'kept@example.com' } })
  const first = await StreamClient.open(running.client.url)
  first.ask(company, { slug: 'left' })
  await first.of(company, 'full')
  first.ask(company, { slug: 'left' }, { action: 'stop' })
  first.ask(company, keys)
  await first.of(company, 'full')
  first.ask(user, { mail: 'kept@example.com' })
  await first.of(user, 'full')
  const { DATABASE_URL: url } = await storesOf(dataDir)
  const sql = postgres(url!, { max: 1 })
  t.teardown(() => sql.end())
  const kept = async () => (await sql`select entity_id from stream_subscriptions`).map(row => row.entity_id)
  await waitFor(async () => {
    const ids = await kept()
    return ids.length === 2 && ids.includes(id)
  })
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await running.end(signal)
    running = await Process.start(dataDir, settings)
    await put({ away: signal })
    // Two at once, as of two processes with one key.
    const clients = await Promise.all([
      StreamClient.open(running.client.url),
      StreamClient.open(running.client.url),
    ])
    t.teardown(() => {
      for (const { ws } of clients) ws.terminate()
    })
    for (const stream of clients) {
      stream.ask('rulesengine.Flags')
      const told = await stream.next(one => one.entity_type === company && one.data.keys?.away === signal)
      t.equal(told.entity_id, id, `what changed before the connection is told (${signal})`)
    }
    await put({ after: signal })
    await running.client.ok('POST', '/users', { keys: { mail: 'kept@example.com', seat: signal } })
    await running.client.ok('POST', '/companies', { keys: { slug: 'left', more: signal } })
    for (const stream of clients) {
      const isOfUser = ({ entity_type: type, data }: StreamMessage) =>
        type === user && data.keys?.seat === signal
      const seen = stream.messages
      await waitFor(async () => seen.some(one => one.data.keys?.after === signal) && seen.some(isOfUser))
      t.notOk(
        seen.some(one => one.entity_id === left.id),
        'what was stopped is not told',
      )
    }
    const apart = await StreamClient.open(running.client.url, { protocols: ['tollgate'] })
    t.teardown(() => apart.ws.terminate())
    apart.ask('rulesengine.Flags')
    await apart.of('rulesengine.Flags')
    await put({ last: signal })
    for (const stream of clients) await stream.next(one => one.data.keys?.last === signal)
    t.notOk(
      apart.messages.some(one => one.entity_type === company),
      'a connection that asks for itself hears of nothing else',
    )
  }
  await running.client.ok('DELETE', `/companies/${id}`)
  await waitFor(async () => (await kept()).length === 1)
  t.pass('a deleted company is not kept')
})

/** Asks again until it holds; the test's timeout ends it. */
async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 20))
}

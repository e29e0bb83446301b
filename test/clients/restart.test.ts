// A service that is killed and started again: a client goes on hearing of what it holds, without a question of its caller.
import t from 'tap'
import { freePort } from '../cluster/nodes.js'
import { Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { makeFlag, rule } from '../wire/flags.js'
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

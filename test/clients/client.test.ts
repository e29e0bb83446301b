// The TypeScript client against a real Tollgate: what it works out here is what the service answers; what it cannot, it
// asks; what it is told of use reaches the service once.
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { makeFlag, rule } from '../interface/flags.js'
import { clientOf, until } from './make.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const world = new CreditWorld(client)
const metric = {
  condition_type: 'metric',
  operator: 'lt',
  resource_ids: [],
  event_subtype: 'call',
  metric_period: 'all_time',
  metric_value: 5,
}
await makeFlag(client, 'calls', false, [rule('fewer than five calls', [metric])])

/** A check over HTTP, without its source. */
const asked = (flag: string, body: object) => client.ok('POST', `/flags/${flag}/check`, body)

t.test('a company is held, and checked here as the service checks it', async t => {
  const company = { slug: 'held' }
  await client.ok('POST', '/companies', { keys: company, name: 'Held' })
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  t.equal(tollgate.checkHeld('calls', { company }), null, 'not held yet')
  const { source, ...checked } = await tollgate.check('calls', { company })
  t.equal(source, 'local')
  t.strictSame(checked, await asked('calls', { company }))
  t.equal(tollgate.checkHeld('calls', { company })?.value, true, 'held now')
  const preflight = { event_usage: { event_subtype: 'call', quantity: 5 } }
  const { source: _, ...supposed } = tollgate.checkHeld('calls', { company }, preflight)!
  t.strictSame(supposed, await asked('calls', { company, preflight }))
  const { source: by, ...nobody } = await tollgate.check('calls', {})
  t.equal(by, 'local')
  t.strictSame(nobody, await asked('calls', {}), 'without context (FE-75)')
})

t.test('a user and several keys', async t => {
  const company = { slug: 'two', ref: '2' }
  const user = { mail: 'b@example.com' }
  await client.ok('POST', '/companies', { keys: company })
  await client.ok('POST', '/users', { keys: user, companies: [company] })
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  const both = await tollgate.check('calls', { company, user })
  t.match(both, { source: 'local', company_id: String, user_id: String })
  const { source: _, ...rest } = both
  t.strictSame(rest, await asked('calls', { company, user }))
  const partly = await tollgate.check('calls', { company: { slug: 'two', ref: 'nobody’s' } })
  t.equal(partly.source, 'http', 'whose the other key is the service alone knows')
  const absent = await tollgate.check('calls', { company: { slug: 'absent' } })
  t.match(absent, { source: 'local', reason: 'Company not found' }, 'C7')
})

t.test('use counts here at once, and is the service’s figure when that arrives', async t => {
  const company = { slug: 'counting' }
  await client.ok('POST', '/companies', { keys: company })
  const tollgate = clientOf(t, client, { events: { flushMs: 60_000 } })
  await tollgate.ready()
  t.equal((await tollgate.check('calls', { company })).value, true)
  for (let i = 0; i < 5; i++) t.type(tollgate.track('call', { company }), 'string')
  t.equal(tollgate.checkHeld('calls', { company })!.value, false, 'counted here alone')
  t.equal((await asked('calls', { company })).value, true, 'not sent yet')
  t.equal(tollgate.pendingEvents, 5)
  await tollgate.flush()
  t.equal(tollgate.pendingEvents, 0)
  t.equal((await asked('calls', { company })).value, false)
  t.equal(tollgate.checkHeld('calls', { company })!.value, false)
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'call', company, quantity: -3 },
  })
  await until(tollgate, () => tollgate.checkHeld('calls', { company })!.value)
  t.pass('another’s event was told')
})

t.test('the caller sets the order of sources, and each result names its source', async t => {
  const company = { slug: 'ordered' }
  await client.ok('POST', '/companies', { keys: company })
  const remote = clientOf(t, client, { local: false, defaults: { calls: true } })
  t.equal((await remote.check('calls', { company })).source, 'http')
  t.match(await remote.check('none', { company }), { source: 'default', value: false, error: /not found/i })
  t.match(await remote.check('calls', { company }, { order: ['default'] }), {
    source: 'default',
    value: true,
  })
  t.match(await remote.check('none', { company }, { order: ['http'] }).catch(error => error), { status: 404 })
  const nobody = clientOf(t, client.as(client.key), { url: 'http://127.0.0.1:9', local: true })
  t.match(await nobody.check('calls', { company }, { default: true }), { source: 'default', value: true })
  t.equal(nobody.connected, false)
})

t.test('definitions, plans and credits that change are checked by here', async t => {
  const credit = await world.credit()
  const feature = await client.ok('POST', '/features', {
    name: 'Images',
    description: '',
    feature_type: 'event',
    event_subtype: 'image',
    flag: {
      key: 'images',
      name: 'i',
      description: '',
      flag_type: 'boolean',
      default_value: false,
      rules: [],
    },
  })
  const plan = await publishedPlan(client, 'Images', [
    {
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 2,
      price_behavior: 'credit_burndown',
    },
  ])
  const made = await world.company()
  const company = made.keys
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  t.equal((await tollgate.check('images', { company })).value, false)
  await client.ok('PUT', `/company-plans/${made.id}`, { base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 10)
  await until(tollgate, () => tollgate.checkHeld('images', { company })!.value)
  const { source: _, ...checked } = tollgate.checkHeld('images', { company })!
  t.strictSame(checked, await asked('images', { company }))
  tollgate.track('image', { company, quantity: 4 })
  t.match(tollgate.checkHeld('images', { company }), { entitlement: { credit_remaining: 2 } }, 'drawn here')
  await tollgate.flush()
  await until(tollgate, () => tollgate.checkHeld('images', { company })!.entitlement!.credit_used === 8)
  const { source: __, ...drawn } = tollgate.checkHeld('images', { company })!
  t.strictSame(drawn, await asked('images', { company }))
})

t.test('CR-70…75 a lease is drawn here, extended, settled and released', async t => {
  const credit = await world.credit()
  const feature = await client.ok('POST', '/features', {
    name: 'Words',
    description: '',
    feature_type: 'event',
    event_subtype: 'word',
  })
  const plan = await publishedPlan(client, 'Words', [
    {
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 1,
      price_behavior: 'credit_burndown',
    },
  ])
  const made = await world.company({ base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 100)
  const tollgate = clientOf(t, client)
  const lease = await tollgate.acquireLease({
    companyId: made.id,
    company: made.keys,
    creditId: credit.id,
    amount: 10,
  })
  t.same(await world.balance(made.id, credit.id), [90, 10, 100])
  t.equal(lease.draw(7), true)
  lease.track('word', 7)
  t.equal(lease.draw(4), false, 'three are left')
  await lease.extend(10)
  t.equal(lease.draw(4), true)
  lease.track('word', 4)
  t.equal(lease.remaining, 9)
  lease.undo(0)
  await lease.settle()
  t.same(await world.balance(made.id, credit.id), [80, 9, 89])
  await lease.release()
  t.same(await world.balance(made.id, credit.id), [89, 0, 89], 'CR-75')
  t.equal(lease.draw(1), false)
  await lease.release()
  const none = { companyId: 'comp_none', company: {}, creditId: credit.id, amount: 1 }
  t.match(await tollgate.acquireLease(none).catch(error => error), { status: 404 })
})

t.test('every call is typed by the interface’s document', async t => {
  const tollgate = clientOf(t, client, { local: false })
  const { data, error, response } = await tollgate.api.GET('/companies', { params: { query: { limit: 1 } } })
  t.equal(response.status, 200)
  t.equal(error, undefined)
  t.equal(data!.data.length, 1)
  const refused = await tollgate.api.POST('/companies', { body: { keys: {} } })
  t.equal(refused.response.status, 400)
  t.type(refused.error!.error, 'string')
})

t.test('a close that may not wait says what is left, and ends', async t => {
  const away = clientOf(t, client, { url: 'http://127.0.0.1:9', local: false, events: { flushMs: 1 } })
  away.track('call', { company: { slug: 'away' } })
  t.equal(await away.close(50), 1)
  t.equal(away.track('call', { company: { slug: 'away' } }), null, 'nothing is taken any more')
})

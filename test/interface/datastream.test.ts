// GET /datastream over a real connection (decision 24, docs/datastream.md): who may open it, what is told, and that what
// is told gives the answers that the service gives.
import t from 'tap'
import { evaluateWith, PreparedCompany, PreparedFlag } from '../../src/core/evaluator/evaluate-snapshot.js'
import { writeCheck } from '../../src/core/flags/flag.js'
import { publishedPlan } from '../control/planned.js'
import { bootstrapKey, startHere } from '../harness.js'
import { StreamClient, type StreamMessage, type StreamOptions } from '../stream-client.js'
import { CreditWorld } from './credit-world.js'
import { makeFlag, rule } from './flags.js'

t.setTimeout(300_000)

const company = 'rulesengine.Company'
const { client, tollgate } = await startHere(t, {
  TOLLGATE_STREAM_CONNECTIONS_PER_KEY_MAX: '12',
  TOLLGATE_STREAM_MESSAGES_PER_SECOND: '20',
  TOLLGATE_STREAM_BUFFER_BYTES: '16384',
})
const { environment_id: environmentId } = await client.ok('GET', '/whoami')

async function open(options: StreamOptions = {}): Promise<StreamClient> {
  const stream = await StreamClient.open(client.url, options)
  t.teardown(() => stream.ws.terminate())
  return stream
}

/** A connection that hears of nothing that others of its key asked for. */
const own = { protocols: ['tollgate'] }

const refusal = (options: StreamOptions) =>
  StreamClient.open(client.url, options).then(
    () => ({ status: 101, body: '' }),
    (error: { readonly status: number; readonly body: string }) => error,
  )

/** A member of the company, whichever kind of message brings it. */
const withMember = (name: string, value: (told: unknown) => boolean) => (message: StreamMessage) =>
  message.entity_type === company && name in message.data && value(message.data[name])

const track = (event: string, keys: object, quantity = 1) =>
  client.ok('POST', '/events', { event_type: 'track', body: { event, company: keys, quantity } })

t.test('decision 24 the upgrade is authenticated as any request', async t => {
  t.equal((await refusal({ key: '' })).status, 401)
  const unknown = await refusal({ key: 'sk_dev_nobodyhasthiskey' })
  t.equal(unknown.status, 401)
  t.match(JSON.parse(unknown.body), { error: String })
  const keys = await client.ok('GET', '/api-keys?require_environment=false')
  const publishable = keys.find((one: { kind: string }) => one.kind === 'publishable')?.secret
  if (publishable) t.equal((await refusal({ key: publishable })).status, 403, 'AL-22')
  const capture = await client.ok('POST', '/api-keys', {
    name: 'capture',
    scopes: ['capture'],
    environment_id: environmentId,
  })
  t.equal((await refusal({ key: capture.secret })).status, 403, 'AL-20')
  const plain = await client.get('/datastream')
  t.match(plain, { status: 400, body: { error: /WebSocket/ } })
  const named = await open({
    key: '',
    protocols: ['tollgate', `key.${Buffer.from(bootstrapKey).toString('base64url')}`],
  })
  t.equal(named.ws.protocol, 'tollgate', 'keys as subprotocols')
})

t.test('a key that is deleted opens nothing any more (AL-3)', async t => {
  const made = await client.ok('POST', '/api-keys', {
    name: 'short',
    scopes: ['read'],
    environment_id: environmentId,
  })
  const stream = await open({ key: made.secret })
  await client.ok('DELETE', `/api-keys/${made.id}`)
  const [code, reason] = await stream.closed
  t.equal(code, 4001)
  t.match(reason, /key/)
})

t.test('flags, companies and users are sent whole, and then every change of them', async t => {
  const metric = { condition_type: 'metric', operator: 'gte', resource_ids: [], event_subtype: 'call' }
  await makeFlag(client, 'busy', false, [
    rule('busy', [{ ...metric, metric_period: 'all_time', metric_value: 3 }]),
  ])
  const keys = { slug: 'streamed' }
  const made = await client.ok('POST', '/companies', { keys, traits: { seats: 3 } })
  await client.ok('POST', '/users', {
    keys: { mail: 'a@example.com' },
    companies: [keys],
    traits: { role: 'x' },
  })
  const stream = await open()
  stream.ask('rulesengine.Flags')
  const flags = await stream.of('rulesengine.Flags', 'full')
  t.match(flags.data, [{ key: 'busy', rules: [{ rule_type: 'standard' }] }])
  stream.ask(company, keys)
  const whole = await stream.of(company, 'full')
  t.match(whole, {
    entity_id: made.id,
    data: { id: made.id, keys, environment_id: environmentId, metrics: [] },
  })
  stream.ask('rulesengine.User', { mail: 'a@example.com' })
  const user = await stream.of('rulesengine.User', 'full')
  t.match(user.data, { keys: { mail: 'a@example.com' }, rules: [] })

  await track('call', keys, 2)
  const counted = await stream.next(withMember('metrics', told => (told as unknown[]).length > 0))
  t.equal(counted.message_type, 'partial')
  t.equal(counted.entity_id, made.id)
  t.ok(counted.data.metrics.every((one: { event_subtype: string; value: number }) => one.value === 2))
  await track('other', keys)
  await track('call', keys)
  const again = await stream.next(withMember('metrics', told => (told as unknown[]).length > 0))
  t.ok(
    again.data.metrics.every((one: { event_subtype: string }) => one.event_subtype === 'call'),
    'a counter that no rule reads is not told',
  )

  await client.ok('POST', '/companies', { keys, traits: { seats: 5 } })
  const definitions = await client.ok('GET', '/entity-trait-definitions?entity_type=company')
  const seats = definitions.find((one: { hierarchy: string[] }) => one.hierarchy[0] === 'seats')
  await makeFlag(client, 'roomy', false, [
    rule('roomy', [
      { condition_type: 'trait', operator: 'gte', resource_ids: [], trait_id: seats.id, trait_value: '5' },
    ]),
  ])
  const flag = await stream.next(one => one.entity_type === 'rulesengine.Flag' && one.data.rules.length > 0)
  t.match(flag, { message_type: 'full', data: { key: 'roomy' } })
  await client.ok('POST', '/companies', { keys, traits: { seats: 6 } })
  const traits = await stream.next(withMember('traits', told => JSON.stringify(told).includes('"6"')))
  t.match(traits.data.traits, [{ value: '6', trait_definition: { id: seats.id } }])

  await client.ok('POST', '/users', { keys: { mail: 'a@example.com', login: 'a' } })
  t.match(await stream.of('rulesengine.User'), { message_type: 'partial', data: { keys: { login: 'a' } } })
  const [{ id: roomy }] = await client.ok('GET', '/flags?q=roomy')
  await client.ok('DELETE', `/flags/${roomy}`)
  t.match(await stream.of('rulesengine.Flag', 'delete'), { data: { key: 'roomy' } })

  stream.ask(company, { slug: 'nobody' })
  t.match(await stream.next(one => one.message_type === 'error'), {
    data: { error: /not found/, keys: { slug: 'nobody' }, entity_type: company },
  })
  await client.ok('DELETE', `/companies/${made.id}`)
  t.match(await stream.of(company, 'delete'), { entity_id: made.id, data: { keys } })
})

t.test('streamed data gives the answers that the service gives', async t => {
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const feature = await client.ok('POST', '/features', {
    name: 'Tokens',
    description: '',
    feature_type: 'event',
    event_subtype: 'token',
    flag: {
      key: 'tokens',
      name: 'tokens',
      description: '',
      flag_type: 'boolean',
      default_value: false,
      rules: [],
    },
  })
  const plan = await publishedPlan(client, 'Metered', [
    {
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 2,
      price_behavior: 'credit_burndown',
    },
  ])
  const made = await world.company({ base_plan_id: plan.id })
  const { keys } = made
  const stream = await open()
  stream.ask('rulesengine.Flags')
  stream.ask(company, keys)
  const flags = await stream.of('rulesengine.Flags', 'full')
  const flag = new PreparedFlag(flags.data.find((one: { key: string }) => one.key === 'tokens'))
  let held = (await stream.of(company, 'full')).data
  const same = async (what: string) => {
    const checked = await client.ok('POST', '/flags/tokens/check', { company: keys })
    const local = writeCheck(evaluateWith(flag, new PreparedCompany(held), null, null, Date.now()))
    t.strictSame(JSON.parse(local), checked, what)
  }
  await same('without credits')
  const merge = ({ message_type, data }: StreamMessage) => {
    held = message_type === 'full' ? data : { ...held, ...data, keys: { ...held.keys, ...data.keys } }
  }
  const until = async (balance: number) => {
    for (;;) {
      const message = await stream.of(company)
      merge(message)
      if (held.credit_balances[credit.id] === balance) return
    }
  }
  await world.grant(made.id, credit.id, 10)
  await until(10)
  await same('with a grant')
  await track('token', keys, 3)
  await until(4)
  await same('after a draw')
  await track('token', keys, 2)
  await until(0)
  await same('with nothing left')
})

t.test('the end of a period is sent without a request (FE-5)', async t => {
  const keys = { slug: 'daily' }
  const metric = { condition_type: 'metric', operator: 'gte', resource_ids: [], event_subtype: 'daily' }
  await makeFlag(client, 'daily', false, [
    rule('daily', [{ ...metric, metric_period: 'current_day', metric_value: 1 }]),
  ])
  await track('daily', keys)
  const stream = await open(own)
  stream.ask(company, keys)
  const today = (await stream.of(company, 'full')).data.metrics.find(
    (one: { period: string }) => one.period === 'current_day',
  )
  t.equal(today.value, 1)
  await client.ok('PUT', `/environments/${environmentId}/clock`, { offset_seconds: 86_400 })
  t.teardown(() => client.del(`/environments/${environmentId}/clock`))
  const next = await stream.next(
    withMember('metrics', told => JSON.stringify(told).includes('"current_day"')),
  )
  const tomorrow = next.data.metrics.find((one: { period: string }) => one.period === 'current_day')
  t.equal(tomorrow.value, 0)
  t.ok(tomorrow.valid_until > today.valid_until)
})

t.test('subscriptions of a key survive a reconnect', async t => {
  const keys = { slug: 'kept' }
  const { id } = await client.ok('POST', '/companies', { keys, name: 'Kept' })
  const made = await client.ok('POST', '/api-keys', {
    name: 'app',
    scopes: ['read'],
    environment_id: environmentId,
  })
  const first = await open({ key: made.secret })
  first.ask(company, keys)
  await first.of(company, 'full')
  first.close()
  await first.closed
  await client.ok('POST', '/companies', { keys: { ...keys, second: 'while-away' } })
  const second = await open({ key: made.secret })
  const told = await second.next(one => one.entity_type === company && one.data.keys?.second === 'while-away')
  t.equal(told.entity_id, id, 'what changed meanwhile is told')
  await client.ok('POST', '/companies', { keys: { ...keys, third: 'after' } })
  await second.next(one => one.entity_type === company && one.data.keys?.third === 'after')
  const apart = await open({ key: made.secret, ...own })
  apart.ask('rulesengine.Flags')
  await apart.of('rulesengine.Flags')
  await client.ok('POST', '/companies', { keys: { ...keys, fourth: 'last' } })
  await second.next(one => one.entity_type === company && one.data.keys?.fourth === 'last')
  t.notOk(
    apart.messages.some(one => one.entity_type === company),
    'one that asks for itself hears of what it asked for alone',
  )
  second.ask(company, keys, { action: 'stop' })
  second.ask('rulesengine.Flags')
  await second.of('rulesengine.Flags')
  const before = second.messages.length
  await client.ok('POST', '/companies', { keys: { ...keys, fifth: 'unheard' } })
  second.ask('rulesengine.Flags')
  await second.of('rulesengine.Flags')
  t.notOk(second.messages.slice(before).some(one => one.entity_type === company))
})

t.test('decision 24 a confirmation says that what was acknowledged before has been told', async t => {
  const keys = { slug: 'confirmed' }
  const { id } = await client.ok('POST', '/companies', { keys })
  const stream = await open(own)
  stream.ask(company, keys)
  await stream.of(company, 'full')
  for (let i = 1; i <= 20; i++) {
    await track('call', keys)
    stream.ask(company, { id }, { action: 'confirm' })
    await stream.next(({ message_type, entity_id }) => message_type === 'confirmed' && entity_id === id)
    const figures = stream.messages
      .flatMap(({ data }) => data.metrics ?? [])
      .filter(({ period, event_subtype }) => period === 'all_time' && event_subtype === 'call')
    t.equal(figures.at(-1).value, i, 'the figure was told before it')
  }
  const other = await open(own)
  other.ask(company, keys, { action: 'confirm' })
  t.match((await other.next()).data, { error: /not subscribed/, keys, entity_type: company })
  other.ask(company, { slug: 'nobody' }, { action: 'confirm' })
  t.match((await other.next()).data, { error: /not found/ })
  other.ask(company, keys, { action: 'wait' })
  t.match((await other.next()).data, { error: /confirm/ })
})

t.test('requests are bounded', async t => {
  const stream = await open(own)
  stream.ws.send('{')
  t.match(await stream.next(), { message_type: 'error', data: { error: /JSON/ } })
  stream.ws.send('{"data":{"entity_type":"rulesengine.Plan"}}')
  t.match(await stream.next(), { message_type: 'error', data: { error: /entity_type/ } })
  stream.ws.send('{"data":{"entity_type":"rulesengine.Company","keys":{"a":1}}}')
  t.match(await stream.next(), { message_type: 'error', data: { error: /keys/ } })
  for (let i = 0; i < 400; i++) stream.ask('rulesengine.Flag', { key: 'none' })
  t.match(await stream.closed, [1008, /messages a second/])
  const binary = await open()
  binary.ws.send(Buffer.from([1, 2]))
  t.match(await binary.closed, [1003, /Text/])

  const made = await client.ok('POST', '/api-keys', {
    name: 'many',
    scopes: ['read'],
    environment_id: environmentId,
  })
  const many = await Promise.all(Array.from({ length: 12 }, () => open({ key: made.secret })))
  t.match(await refusal({ key: made.secret }), { status: 429, body: /connections/ })
  many[0]!.close()
  await many[0]!.closed
  const after = await refusal({ key: made.secret })
  t.equal(after.status, 101)
})

t.test('a slow reader gets each entity once, and is closed when it reads nothing', async t => {
  const keys = { slug: 'loud' }
  const long = 'x'.repeat(200_000)
  await client.ok('POST', '/companies', { keys, traits: { note: long } })
  await makeFlag(client, 'noted', false)
  const definitions = await client.ok('GET', '/entity-trait-definitions?entity_type=company')
  t.ok(definitions.some((one: { hierarchy: string[] }) => one.hierarchy[0] === 'note'))
  const slow = await open()
  slow.ask(company, keys)
  await slow.of(company, 'full')
  slow.ws.pause()
  const { slow: closed } = tollgate.services.metrics.stream
  // it hears the reason if it reads on within ten seconds of the close
  for (let i = 0; i < 60 && closed.count === 0; i++)
    await client.ok('POST', '/companies', { keys, traits: { note: `${i}${long}` } })
  while (closed.count === 0) await new Promise(resolve => setTimeout(resolve, 100))
  slow.ws.resume()
  const [code, reason] = await slow.closed
  t.equal(code, 4008)
  t.match(reason, /too slowly/)
  t.ok(slow.messages.length < 50, `${slow.messages.length} messages`)
})

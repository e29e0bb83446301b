// Events over HTTP, from the door to the stored record and the next check (events.md).
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type Client, startHere } from '../harness.js'

const { client, tollgate } = await startHere(t)

const track = (event: string, slug: string, more: object = {}, body: object = {}) => ({
  event_type: 'track',
  body: { event, company: { slug }, ...body },
  ...more,
})

/** Usage of one event as the company's actor counts it, all time. */
async function counted(slug: string, event: string): Promise<number> {
  const id = tollgate.services.directory.resolve('company', await environmentId(), { slug }).found
  if (id === null) return 0
  const question = { type: 'describe' } as const
  const { reply } = await tollgate.services.shards.ask<{
    metrics: { eventSubtype: string; period: string; value: number }[]
  }>('c', await environmentId(), id, question, Date.now())
  return reply.metrics.find(one => one.eventSubtype === event && one.period === 'all_time')?.value ?? 0
}

async function environmentId(): Promise<string> {
  return (await client.ok('GET', '/whoami')).environment_id
}

async function stored(query: string, from: Client = client) {
  return from.ok('GET', `/events?${query}`)
}

t.test('EV-1 one event is acknowledged, counted and readable at once', async t => {
  const posted = await client.post('/events', track('api_call', 'one', {}, { quantity: 3 }))
  t.equal(posted.status, 201)
  t.match(posted.body, { data: { event_id: /^evt_/, remote_ip: '127.0.0.1' }, params: {} })
  t.equal(await counted('one', 'api_call'), 3)
  const record = await client.ok('GET', `/events/${posted.body.data.event_id}`) // EV-73
  t.match(record, {
    type: 'track',
    subtype: 'api_call',
    quantity: 3,
    status: 'enriched',
    company: { name: 'one' },
  })
  t.equal((await client.get('/events/evt_22222222222')).status, 404)
})

t.test('AL-33 a batch is answered in the envelope, with the parameters that were given', async t => {
  const events = [track('echoed', 'one'), track('echoed', 'one')]
  for (const [query, params] of [
    ['', {}],
    ['?report=false', { report: false }],
    ['?report=true', { report: true }],
  ] as const) {
    const posted = await client.post(`/event-batch${query}`, { events })
    t.equal(posted.status, 201)
    t.strictSame(Object.keys(posted.body), ['data', 'params'])
    t.equal(posted.body.data.events.length, 2)
    t.strictSame(posted.body.params, params)
  }
})

t.test('EV-7 a batch is judged event by event: an invalid event does not affect the others', async t => {
  const events = [
    track('b', 'batch'),
    { event_type: 'track', body: { company: { slug: 'batch' } } },
    track('b', 'batch'),
  ]
  const posted = await client.post('/event-batch', { events })
  t.equal(posted.status, 201)
  t.equal(posted.body.data.events.length, 3)
  t.equal(await counted('batch', 'b'), 2)
  const bad = await client.ok('GET', `/events/${posted.body.data.events[1].event_id}`)
  t.match(bad, { status: 'failed', error_message: /body\.event/, processed_at: null })
  t.equal((await client.post('/event-batch', { events: [] })).body.data.events.length, 0) // EV-4
  t.equal((await client.post('/event-batch', { events: 'none' })).status, 400)
  t.equal((await client.post('/event-batch', '{"events":[')).status, 400)
  const many = await client.post('/event-batch', { events: Array.from({ length: 10_001 }, () => 1) })
  t.match(many, { status: 400, body: { error: 'batch too large', max_size: 10_000 } })
})

t.test(
  'decision 20: an event over 64 KiB in a batch is stored as failed with its first 1 000 characters',
  async t => {
    const large = track('large', 'large', {}, { traits: { text: 'x'.repeat(70_000) } })
    const posted = await client.post('/event-batch', { events: [large, track('large', 'large')] })
    t.equal(posted.status, 201)
    const record = await client.ok('GET', `/events/${posted.body.data.events[0].event_id}`)
    t.match(record, { status: 'failed', error_message: /65536/ })
    t.equal(await counted('large', 'large'), 1)
    t.equal((await client.post('/events', large)).status, 400, 'alone it is refused')
  },
)

t.test('EV-27 the same key twice counts once and is acknowledged with the first event', async t => {
  const event = track('once', 'once', { idempotency_key: 'k1' })
  const first = await client.ok('POST', '/events', event)
  const again = await client.ok('POST', '/events', {
    ...event,
    body: { event: 'other', company: { slug: 'x' } },
  })
  t.equal(again.event_id, first.event_id)
  t.equal(again.captured_at, first.captured_at)
  const racing = track('race', 'once', { idempotency_key: 'k2' })
  const acks = await Promise.all(Array.from({ length: 20 }, () => client.ok('POST', '/events', racing)))
  t.equal(new Set(acks.map(ack => ack.event_id)).size, 1, 'simultaneous ones too')
  const inBatch = await client.ok('POST', '/event-batch', {
    events: [racing, track('race', 'once', { idempotency_key: 'k3' })],
  })
  t.equal(inBatch.events[0].event_id, acks[0].event_id)
  t.equal(await counted('once', 'once'), 1)
  t.equal(await counted('once', 'race'), 2)
})

t.test('EV-28 an event that is refused or fails does not consume its key', async t => {
  const wrong = { event_type: 'track', body: {}, idempotency_key: 'free' }
  t.equal((await client.post('/events', wrong)).status, 400)
  await client.ok('POST', '/event-batch', { events: [wrong] })
  await client.ok('POST', '/events', track('free', 'free', { idempotency_key: 'free' }))
  t.equal(await counted('free', 'free'), 1)
})

t.test(
  'EV-31…33 companies and users are made from keys; an unknown service id and ambiguous keys fail the event',
  async t => {
    await client.ok('POST', '/events', track('made', 'made', {}, { user: { email: 'm@x' } }))
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'made', user: { email: 'm@x' } },
    })
    t.equal(await counted('made', 'made'), 2, 'EV-35 a user of one company stands for it')
    const unknown = await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'x', company: { id: 'comp_22222222222' } },
    })
    t.match(await client.ok('GET', `/events/${unknown.event_id}`), {
      status: 'failed',
      error_message: 'company not found',
    })
    await client.ok('POST', '/events', track('made', 'other'))
    const both = { event_type: 'track', body: { event: 'made', company: { slug: 'made', id: '' } } }
    t.equal((await client.post('/events', both)).status, 400, 'EV-9 an empty value')
  },
)

t.test('EV-6 an event by a read-only key is accepted, stored as failed and without effect', async t => {
  const environment = await environmentId()
  const key = await client.ok('POST', '/api-keys', {
    name: 'ro',
    readonly: true,
    environment_id: environment,
  })
  const posted = await client.as(key.secret).post('/events', track('ro', 'ro'))
  t.equal(posted.status, 201)
  t.match(await client.ok('GET', `/events/${posted.body.data.event_id}`), {
    status: 'failed',
    error_message: /read-only/,
  })
  t.equal(await counted('ro', 'ro'), 0)
})

t.test('EV-16 modes: a trusted event counts at its time, a backfill without last seen', async t => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  await client.ok(
    'POST',
    '/events',
    track('late', 'late', { trusted_client_clock: true, sent_at: yesterday }),
  )
  t.equal(await counted('late', 'late'), 1)
  const year = new Date(Date.now() - 300 * 86_400_000).toISOString()
  await client.ok(
    'POST',
    '/events',
    track('old', 'old', { backfill: true, trusted_client_clock: true, sent_at: year }),
  )
  t.equal(await counted('old', 'old'), 1, 'all time')
})

t.test('EV-66 an inference label fans out to one track event; EV-62 its cost is worked out', async t => {
  const body = { company: { slug: 'ai' }, provider: 'tollgate', response_model: 'sample-large', event: 'llm' }
  const event = {
    event_type: 'inference',
    body: { ...body, input_tokens: 1_000, output_tokens: 500, requests: 2 },
  }
  const { event_id: id } = await client.ok('POST', '/events', event)
  t.match(await client.ok('GET', `/events/${id}`), {
    type: 'inference',
    cost: '0.0105',
    currency: 'usd',
    quantity: 2,
  })
  t.equal(await counted('ai', 'llm'), 2, 'quantity = requests')
  const [derived] = await stored('event_types=track&event_subtype=llm')
  t.match(derived, { derived_from: id })
})

t.test('the collector takes lists whose events bring their own keys (decision 8)', async t => {
  const key = client.key
  const events = [
    { api_key: key, type: 'track', body: { event: 'c', company: { slug: 'collected' } } },
    { api_key: 'sk_dev_nobody', type: 'track', body: { event: 'c', company: { slug: 'collected' } } },
    'rubbish',
  ]
  const posted = await client.post('/batch', { events })
  t.ok(posted.status < 300, `answered ${posted.status}`)
  t.equal(await counted('collected', 'c'), 1)
})

t.test('gzip bodies are read, also of batches (decision 2)', async t => {
  const body = gzipSync(JSON.stringify({ events: [track('zip', 'zip'), track('zip', 'zip')] }))
  const response = await fetch(`${client.url}/event-batch`, {
    method: 'POST',
    headers: {
      'X-Service-Api-Key': client.key,
      'Content-Encoding': 'gzip',
      'Content-Type': 'application/json',
    },
    body,
  })
  t.equal(response.status, 201)
  t.equal(await counted('zip', 'zip'), 2)
})

t.test('EV-72 the list is newest first, filtered, and shows flag checks only on request', async t => {
  await client.ok('POST', '/flags', {
    key: 'listed',
    name: 'Listed',
    description: '',
    flag_type: 'boolean',
    default_value: true,
  })
  await client.ok('POST', '/flags/listed/check', { company: { slug: 'one' } })
  const all = await stored('limit=250')
  t.notOk(
    all.some((one: { type: string }) => one.type === 'flag_check'),
    'FE-104 checks only where they are asked for',
  )
  const times = all.map((one: { captured_at: string }) => one.captured_at)
  t.same(times, [...times].sort().reverse(), 'newest first')
  const once = await stored('idempotency_key=k1')
  t.equal(once.filter((one: { status: string }) => one.status !== 'failed').length, 1)
  t.equal((await stored('event_subtype=race')).length, 2)
  // FE-100, FE-101: a check leaves a record, best effort, a moment later
  let checks: { subtype: string; body: { value: boolean } }[] = []
  for (let i = 0; i < 50 && checks.length === 0; i++) {
    await new Promise(resolve => setTimeout(resolve, 100))
    checks = await stored('event_types=flag_check&event_subtype=listed')
  }
  t.match(checks[0], { subtype: 'listed', body: { flag_key: 'listed', value: true } })
  t.match(await client.ok('GET', '/event-types?q=rac'), [
    { event_subtype: 'race', event_count: 2, company_count: 1 },
  ])
})

t.test('rubbish is refused with 400 and leaves nothing behind', async t => {
  const before = (await stored('limit=250')).length
  for (const body of [
    '',
    '{',
    '[]',
    '5',
    'null',
    '{"event_type":"track"}',
    '{"event_type":"page","body":{}}',
  ])
    t.equal((await client.post('/events', body)).status, 400, body)
  t.equal((await client.as('').post('/events', track('x', 'x'))).status, 401)
  t.equal((await stored('limit=250')).length, before)
})

// Further shapes of events over HTTP: one per line, gzip, CloudEvents; and what is refused when too much comes.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type Client, type Response, startHere } from '../harness.js'

const { client } = await startHere(t, { TOLLGATE_IDEMPOTENCY_BYTES: '64000' })

const track = (event: string, slug: string, more: object = {}, body: object = {}) => ({
  event_type: 'track',
  body: { event, company: { slug }, ...body },
  ...more,
})

async function send(
  path: string,
  type: string,
  body: string | Buffer,
  headers: object = {},
  from: Client = client,
) {
  const response = await fetch(from.url + path, {
    method: 'POST',
    headers: { 'X-Service-Api-Key': from.key, 'Content-Type': type, ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as Response['body'] }
}

async function used(keys: string, event: string): Promise<number> {
  const found = await client.get(`/companies/lookup?${keys}`)
  if (found.status === 404) return 0
  const metric = found.body.data.metrics.find(
    (one: { event_subtype: string; period: string }) =>
      one.event_subtype === event && one.period === 'all_time',
  )
  return metric?.value ?? 0
}

t.test('EV-7 one event per line: each is judged alone, a line that is no JSON fails alone', async t => {
  const lines = [
    JSON.stringify(track('line', 'lines')),
    '{"event_type":"track","body":{"event":"li',
    '',
    JSON.stringify({ event_type: 'track', body: {} }),
    '  ',
    `${JSON.stringify(track('line', 'lines', {}, { quantity: 4 }))}\r`,
  ]
  const posted = await send('/event-batch', 'application/x-ndjson; charset=utf-8', lines.join('\n'))
  t.equal(posted.status, 201)
  t.equal(posted.body.data.events.length, 4, 'blank lines are no events')
  t.equal(await used('slug=lines', 'line'), 5)
  const ids = posted.body.data.events.map((one: { event_id: string }) => one.event_id)
  t.match(await client.ok('GET', `/events/${ids[1]}`), {
    status: 'failed',
    error_message: 'the line is not valid JSON',
    body: { raw: /event_type/ },
  })
  t.match(await client.ok('GET', `/events/${ids[2]}`), { status: 'failed', error_message: /body\.event/ })
  t.equal((await send('/event-batch', 'application/x-ndjson', '\n')).body.data.events.length, 0)
  const many = await send('/event-batch', 'application/x-ndjson', '1\n'.repeat(10_001))
  t.match(many, { status: 400, body: { error: 'batch too large', max_size: 10_000 } })
})

t.test('gzip of lines; a bomb is stopped at the bound (decision 2)', async t => {
  const lines = gzipSync(`${JSON.stringify(track('zip', 'zip'))}\n${JSON.stringify(track('zip', 'zip'))}`)
  const gzip = { 'Content-Encoding': 'gzip' }
  t.equal((await send('/event-batch', 'application/x-ndjson', lines, gzip)).status, 201)
  t.equal(await used('slug=zip', 'zip'), 2)
  const bomb = gzipSync(Buffer.alloc(9 << 20, '\n'))
  t.equal((await send('/event-batch', 'application/x-ndjson', bomb, gzip)).status, 400)
})

const cloud = (more: object = {}) => ({
  specversion: '1.0',
  id: 'a1',
  source: '/checkout',
  type: 'order.placed',
  subject: 'slug=cloud',
  time: new Date(Date.now() - 3_600_000).toISOString(),
  data: { quantity: 3, region: 'eu', user: { email: 'c@x' } },
  ...more,
})
const one = 'application/cloudevents+json; charset=utf-8'
const list = 'application/cloudevents-batch+json'

t.test('a CloudEvent is a track event', async t => {
  const event = cloud()
  const posted = await send('/events', one, JSON.stringify(event))
  t.equal(posted.status, 201)
  t.match(await client.ok('GET', `/events/${posted.body.data.event_id}`), {
    type: 'track',
    subtype: 'order.placed',
    quantity: 3,
    idempotency_key: '/checkout a1',
    captured_at: event.time,
    sent_at: event.time,
    body: { event: 'order.placed', traits: { region: 'eu' }, user: { email: 'c@x' } },
    company: { name: 'cloud' },
  })
  const again = await send('/events', one, JSON.stringify(cloud({ data: {} })))
  t.equal(again.body.data.event_id, posted.body.data.event_id, 'source and id name one occurrence')
  await send('/events', one, JSON.stringify(cloud({ source: '/other' })))
  t.equal(await used('slug=cloud', 'order.placed'), 6, 'the same id from another source is another')
})

t.test('CloudEvents: the subject, the time, and what is none', async t => {
  const posted = await send(
    '/events',
    list,
    JSON.stringify([
      cloud({ id: 'b1', subject: 'acme', data: null }),
      cloud({ id: 'b2', subject: undefined, data: { company: { slug: 'cloud2' }, quantity: 2 } }),
      cloud({ id: 'b3', subject: 'acme', data: { note: 'text' } }),
      cloud({ id: 'b4', subject: 'acme', time: '2001-01-01T00:00:00Z' }),
      { ...cloud(), specversion: '0.3' },
      cloud({ id: '' }),
      cloud({ id: 'x'.repeat(300) }),
      cloud({ id: 'b5', data_base64: 'AA==' }),
      7,
      cloud({ id: 'b6', subject: 'comp_22222222222' }),
    ]),
  )
  t.equal(posted.status, 201)
  const stored = await Promise.all(
    posted.body.data.events.map((ack: { event_id: string }) => client.ok('GET', `/events/${ack.event_id}`)),
  )
  t.equal(await used('subject=acme', 'order.placed'), 5, 'one, one and three')
  t.equal(await used('slug=cloud2', 'order.placed'), 2)
  t.strictSame(stored[2].body.traits, { note: 'text' })
  t.ok(Date.now() - Date.parse(stored[3].captured_at) < 60_000, 'out of bounds: the receipt is its time')
  t.equal(stored[3].sent_at, '2001-01-01T00:00:00.000Z')
  const failures = stored.slice(4).map((event: { error_message: string }) => event.error_message)
  t.match(failures, [
    /specversion/,
    /id/,
    /254 characters/,
    /data_base64/,
    /^event: expected an object, got the number 7/,
    'company not found',
  ])
  t.equal((await send('/events', one, JSON.stringify(cloud({ id: '' })))).status, 400)
  t.equal((await send('/events', list, '{}')).status, 400)
  t.equal((await send('/event-batch', list, JSON.stringify([cloud({ id: 'c1' })]))).status, 201)
})

t.test('EV-8 a publishable key has no say about the time of a CloudEvent', async t => {
  const keys = await client.ok('GET', '/api-keys?limit=250&require_environment=true')
  const publishable = keys.find((key: { secret?: string }) => key.secret?.startsWith('pk_dev_'))
  t.ok(publishable)
  const event = cloud({ id: 'p1' })
  const posted = await send('/events', one, JSON.stringify(event), {}, client.as(publishable.secret))
  t.equal(posted.status, 201)
  t.ok(Date.now() - Date.parse(posted.body.data.captured_at) < 60_000)
})

t.test('a full idempotency window refuses new keys with 503 and still knows its own', async t => {
  const events = Array.from({ length: 1_000 }, (_, n) =>
    track('full', 'full', { idempotency_key: `full-${n}` }),
  )
  const refused = await client.post('/event-batch', { events })
  t.equal(refused.status, 503, 'not all of them fit: none is taken')
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.equal(await used('slug=full', 'full'), 0)
  const fitting = await client.post('/event-batch', { events: events.slice(0, 900) })
  t.equal(fitting.status, 201)
  for (let n = 900; n < 1_000; n++) {
    const { status } = await client.post('/events', events[n])
    if (status === 503) break
  }
  t.equal((await client.post('/events', track('full', 'full', { idempotency_key: 'new' }))).status, 503)
  t.equal((await client.post('/events', events[0])).status, 201, 'a duplicate is acknowledged')
  t.equal(
    (await client.post('/events', track('full', 'other'))).status,
    201,
    'an event without a key is taken',
  )
})

// Large bodies are read on another thread; what comes of them is what comes of small ones. A body is made large by
// blanks, so that the same events are sent both ways.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { Thread } from '../../src/entities/shards/thread.js'
import { largeBytes } from '../../src/front/events/parsing/parser-pool.js'
import { type Client, type Response, startHere } from '../harness.js'
import { oddJson } from '../hostile/make.js'
import { Random } from '../random.js'

const { client, tollgate } = await startHere(t, {
  TOLLGATE_PARSE_THREADS: '1',
  TOLLGATE_BODIES_BYTES_MAX: '16777216',
})
const { services } = tollgate
const padding = ' '.repeat(largeBytes)

const parsed = async (): Promise<number> => {
  const text = await services.metrics.registry.metrics()
  return Number(/tollgate_large_bodies_total\{outcome="parsed"\} (\d+)/.exec(text)?.[1] ?? 0)
}

async function send(path: string, body: string | Buffer, headers: object = {}, from: Client = client) {
  const response = await fetch(from.url + path, {
    method: 'POST',
    headers: {
      ...(from.key === '' ? {} : { 'X-Service-Api-Key': from.key }),
      'Content-Type': 'application/json',
      ...headers,
    },
    body,
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Response['body'],
  }
}

const track = (event: string, slug: string, more: object = {}, body: object = {}) => ({
  event_type: 'track',
  body: { event, company: { slug }, ...body },
  ...more,
})

async function used(slug: string, event: string): Promise<number> {
  const found = await client.get(`/companies/lookup?slug=${slug}`)
  if (found.status === 404) return 0
  const metric = found.body.data.metrics.find(
    (one: { event_subtype: string; period: string }) =>
      one.event_subtype === event && one.period === 'all_time',
  )
  return metric?.value ?? 0
}

interface Ack {
  readonly event_id: string
  readonly error?: string | null
}

const compared = [
  'type',
  'subtype',
  'status',
  'error_message',
  'body',
  'quantity',
  'sent_at',
  'company_id',
  'user_id',
  'idempotency_key',
]

/** Fate of events: their errors as acknowledged, and the records as stored, without members that always differ. */
async function fates(acks: readonly Ack[]): Promise<readonly unknown[]> {
  const fates: unknown[] = []
  for (const { event_id, error } of acks) {
    const stored = await client.ok('GET', `/events/${event_id}`)
    fates.push({ error, ...Object.fromEntries(compared.map(member => [member, stored[member]])) })
  }
  return fates
}

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const inference = {
  company: { slug: 'both' },
  provider: 'p',
  response_model: 'm',
  input_tokens: 3,
  output_tokens: 4,
  event: 'labelled',
}

/** Events of every kind, right and wrong, as JSON text. */
const every: readonly string[] = [
  track('both', 'both'),
  track('both', 'both', { idempotency_key: '' }, { quantity: 7, user: { email: 'a@b' } }),
  track(
    'both',
    'both',
    { sent_at: ago(2), trusted_client_clock: true },
    { traits: { a: { b: ['ü', '\u{1f600}', 0.5] } } },
  ),
  track('both', 'both', { sent_at: ago(100), backfill: true, trusted_client_clock: true }),
  track('both', 'both', { sent_at: ago(400), backfill: true, trusted_client_clock: true }),
  track('both', 'both', { sent_at: 'yesterday' }),
  track('both', 'both', {}, { quantity: -2, lease_id: null, reservation_id: 'credres_none' }),
  track('both', 'both', {}, { quantity: 0 }),
  track('both', 'both', {}, { quantity: 1.5 }),
  track('', 'both'),
  track('both', 'both', {}, { traits: { text: 'x'.repeat(66_000) } }),
  track('both', 'both', {}, { company: null, user: null }),
  track('both', 'both', {}, { company: { id: 'comp_22222222222' } }),
  track('both', 'both', {}, { company: { '': 'x' } }),
  {
    event_type: 'identify',
    body: { keys: { email: 'i@b' }, traits: { level: 3 }, company: { keys: { slug: 'both' } } },
  },
  { event_type: 'identify', body: { keys: {} } },
  {
    event_type: 'identify',
    body: { keys: { email: 'i@b' }, traits: { a: { b: { c: { d: { e: { f: 1 } } } } } } },
  },
  {
    event_type: 'flag_check',
    body: { flag_key: 'none', reason: 'r', value: true, req_company: { slug: 'both' } },
  },
  { event_type: 'inference', body: inference },
  { event_type: 'inference', body: { ...inference, cost: '0.5', requests: 2 } },
  { event_type: 'inference', body: { ...inference, cached_input_tokens: 9 } },
  { event_type: 'unheard', body: {} },
  { event_type: 'track', body: null },
  {
    event_type: 'track',
    body: { event: 'both', company: { slug: 'both' } },
    idempotency_key: 'k'.repeat(256),
  },
]
  .map(one => JSON.stringify(one))
  .concat(
    oddJson.filter(one => one !== '1e999' && one !== '-1e999'),
    '{"event_type":"track","body":{"event":"both","company":{"slug":"both"},"traits":{"x":"\\u0000"}}}',
    '{"event_type":"track","body":{"event":"both","company":{"slug":"\\ud800"}}}',
    '{"event_type":"track","body":{"event":"both","company":{"__proto__":"both"}}}',
    `{"event_type":"track","body":{"event":"both","traits":{"deep":${'['.repeat(70)}${']'.repeat(70)}}}}`,
    `{"event_type":"track","body":{"event":"both","traits":{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`,
    `{"event_type":"other","x":"${'\u{1f600}'.repeat(600)}"}`,
  )

t.test('EV-7 a large batch comes to what a small one comes to, event by event', async t => {
  const text = `{"events":[${every.join(',')}]}`
  t.ok(text.length < largeBytes)
  const before = await parsed()
  const small = await send('/event-batch?report=true', text)
  t.equal(await parsed(), before, 'a small body is read where it comes in')
  const large = await send('/event-batch?report=true', padding + text)
  t.equal(await parsed(), before + 1, 'a large one is not')
  t.same([small.status, large.status], [201, 201])
  t.equal(large.body.data.events.length, every.length)
  await services.projections.barrier('clickhouse', 30_000)
  const [now, then] = [await fates(large.body.data.events), await fates(small.body.data.events)]
  // as text: members named __proto__ are data
  for (const [index, fate] of now.entries())
    t.equal(JSON.stringify(fate), JSON.stringify(then[index]), every[index]!.slice(0, 100))
})

t.test('EV-8, EV-10 what a publishable key may not say is refused in a large body too', async t => {
  const keys = await client.ok('GET', '/api-keys?limit=250&require_environment=true')
  const publishable = client.as(keys.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret)
  const text = `{"events":[${every.slice(0, 8).join(',')}]}`
  const errors = async (body: string) => {
    const { body: answer } = await send('/event-batch?report=true', body, {}, publishable)
    return answer.data.events.map((ack: Ack) => ack.error)
  }
  const small = await errors(text)
  t.strictSame(await errors(text + padding), small)
  t.ok(small.some((error: string | null) => /secret API key/.test(error ?? '')))
})

t.test('EV-7 lines, CloudEvents and gzip, large', async t => {
  const lines = ['{"event_type":', ...every.filter(one => !one.includes('\\n')), ''].join('\n')
  const type = { 'Content-Type': 'application/x-ndjson' }
  const errors = ({ body }: { body: Response['body'] }) => body.data.events.map((ack: Ack) => ack.error)
  const small = await send('/event-batch?report=true', lines, type)
  t.strictSame(errors(await send('/event-batch?report=true', `${padding}\n${lines}`, type)), errors(small))
  const packed = gzipSync(`${padding}\n${lines}`)
  t.ok(packed.length < largeBytes)
  const zipped = await send('/event-batch?report=true', packed, { ...type, 'Content-Encoding': 'gzip' })
  t.strictSame(errors(zipped), errors(small))

  const cloud = {
    specversion: '1.0',
    source: '/s',
    type: 'cloud',
    subject: 'slug=cloud',
    data: { quantity: 2 },
  }
  const list = [{ ...cloud, id: 'a' }, { ...cloud, id: 'b', time: ago(1) }, { ...cloud, id: '' }, 7]
  const cloudType = { 'Content-Type': 'application/cloudevents-batch+json' }
  const first = await send('/event-batch?report=true', JSON.stringify(list), cloudType)
  const again = await send('/events', padding + JSON.stringify(list), cloudType)
  t.same(again.status, 201)
  const ids = (answer: { body: Response['body'] }) => answer.body.data.events.map((ack: Ack) => ack.event_id)
  t.strictSame(ids(again).slice(0, 2), ids(first).slice(0, 2), 'EV-25: the same occurrences')
  t.equal(await used('cloud', 'cloud'), 4)
})

t.test('EV-4 errors of a whole body are the same', async t => {
  const bodies: readonly [string, object?][] = [
    ['{"events":7}'],
    ['{"events":['],
    ['[]'],
    [`{"events":[${'1,'.repeat(10_000)}1]}`],
    ['1\n'.repeat(10_001), { 'Content-Type': 'application/x-ndjson' }],
    ['{}', { 'Content-Type': 'application/cloudevents-batch+json' }],
    ['{"events":[]}'],
  ]
  for (const [text, headers] of bodies) {
    const small = await send('/event-batch', text, headers)
    const large = await send('/event-batch', padding + text, headers)
    t.equal(large.status, small.status)
    const told = ({ body }: typeof small) => ({ ...body, params: null, request_id: null })
    t.strictSame(told(large), told(small), text.slice(0, 20))
  }
})

t.test('decision 8 the collector, large: keys of its events beside the one in the header', async t => {
  const own = {
    api_key: client.key,
    type: 'track',
    body: { event: 'c', company: { slug: 'large-collected' } },
  }
  const events = [own, { ...own, api_key: 'sk_dev_nobody' }, 'rubbish', { ...own, api_key: '' }, own]
  const text = JSON.stringify({ events })
  const before = await parsed()
  const small = await send('/batch', text)
  const large = await send('/batch', padding + text)
  t.equal(large.status, small.status)
  t.equal(large.body.data.events.length, small.body.data.events.length)
  t.ok((await parsed()) > before)
  t.equal(await used('large-collected', 'c'), 6)
  t.equal(
    (await send('/batch', padding + text, {}, client.as(''))).status,
    401,
    'security 1: not read at all',
  )
})

t.test('EV-25, EV-27 keys of a large batch are claimed once, within it, beside it and after it', async t => {
  const events = Array.from({ length: 2_000 }, (_, n) =>
    track('once', 'once', { idempotency_key: `once-${n % 1_500}` }),
  )
  const text = padding + JSON.stringify({ events })
  const answers = await Promise.all([send('/event-batch', text), send('/event-batch', text)])
  const [one, other] = answers.map(({ body }) => body.data.events.map((ack: Ack) => ack.event_id))
  t.strictSame(one, other)
  t.equal(new Set(one).size, 1_500)
  t.equal(await used('once', 'once'), 1_500)
})

t.test('order is kept: a later event of a batch wins over an earlier one', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const sent_at = ago(1)
  const last = new Map<string, number>()
  const events = Array.from({ length: 3_000 }, (_, n) => {
    const email = `ordered-${random.below(20)}@x`
    last.set(email, n)
    return {
      event_type: 'identify',
      sent_at,
      trusted_client_clock: true,
      body: { keys: { email }, traits: { n } },
    }
  })
  t.equal((await send('/event-batch', padding + JSON.stringify({ events }))).status, 201)
  for (const [email, n] of last)
    t.equal((await client.ok('GET', `/users/lookup?email=${email}`)).traits.n, n, email)
})

t.test('a thread that dies costs its body alone: 503, and the next body starts another', async t => {
  const parsers = () => (services.parsers as unknown as { parsers: { thread: Thread }[] }).parsers
  const events = Array.from({ length: 9_000 }, (_, n) => track('died', 'died', { idempotency_key: `d-${n}` }))
  const text = padding + JSON.stringify({ events })
  let refused = 0
  for (let round = 0; round < 4; round++) {
    const sending = send('/event-batch', text)
    for (let i = 0; i < 200 && services.parsers.held === 0; i++) await sleep(1)
    await parsers()[0]?.thread.destroy()
    const { status, retryAfter } = await sending
    if (status === 503) {
      refused++
      t.equal(retryAfter, '1')
    } else t.equal(status, 201)
  }
  t.ok(refused > 0)
  t.equal((await send('/event-batch', text)).status, 201)
  t.equal(await used('died', 'died'), 9_000, 'each once')
})

t.test('more bytes than may be read at once: 503 and Retry-After, and it goes on', async t => {
  const filler = 'x'.repeat(800)
  const events = Array.from({ length: 9_000 }, () => track('bound', 'bound', {}, { traits: { filler } }))
  const text = JSON.stringify({ events })
  const packed = gzipSync(text)
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => send('/event-batch', packed, { 'Content-Encoding': 'gzip' })),
  )
  const refused = answers.filter(({ status }) => status === 503)
  t.ok(refused.length > 0, 'two of them fit at once')
  t.ok(refused.every(({ retryAfter }) => retryAfter === '1'))
  const taken = answers.filter(({ status }) => status === 201)
  t.equal(taken.length + refused.length, 6)
  t.equal(await used('bound', 'bound'), 9_000 * taken.length)
  t.equal(services.parsers.held, 0, 'nothing is held any more')
})

t.test('a caller who leaves while a body waits has sent nothing', async t => {
  const events = Array.from({ length: 9_000 }, () => track('before', 'before'))
  const sending = [send('/event-batch', padding + JSON.stringify({ events }))]
  for (let n = 0; n < 3; n++) sending.push(send('/event-batch', padding + JSON.stringify({ events })))
  for (let i = 0; i < 500 && services.parsers.held < 4 * largeBytes; i++) await sleep(1)
  const text = padding + JSON.stringify({ events: [track('gone', 'gone')] })
  const asked = request(`${client.url}/event-batch`, {
    method: 'POST',
    headers: { 'X-Service-Api-Key': client.key, 'Content-Type': 'application/json' },
  })
  asked.on('error', () => {})
  const held = services.parsers.held
  asked.end(text)
  for (let i = 0; i < 500 && services.parsers.held <= held; i++) await sleep(1)
  asked.destroy()
  await Promise.all(sending)
  for (let i = 0; i < 500 && services.parsers.held > 0; i++) await sleep(5)
  t.equal(services.parsers.held, 0)
  t.equal(await used('gone', 'gone'), 0)
})

t.test('checks are answered while a large body is taken', async t => {
  const filler = 'x'.repeat(500)
  const events = Array.from({ length: 10_000 }, () => track('during', 'during', {}, { traits: { filler } }))
  const sending = send('/event-batch', JSON.stringify({ events }))
  let during = 0
  let over = false
  void sending.then(() => {
    over = true
  })
  for (let i = 0; i < 500 && services.parsers.held === 0; i++) await sleep(1)
  while (!over) {
    await client.ok('GET', '/whoami')
    if (!over) during++
  }
  t.equal((await sending).status, 201)
  t.ok(during > 2, `${during} requests were answered meanwhile`)
})

t.test('a stop answers the large bodies that have come in', async t => {
  const { client: other, tollgate: stopping } = await startHere(t, { TOLLGATE_DRAIN_MS: '10000' })
  const events = Array.from({ length: 9_000 }, () => track('stop', 'stop'))
  const text = padding + JSON.stringify({ events })
  const sending = [send('/event-batch', text, {}, other), send('/event-batch', text, {}, other)]
  for (let i = 0; i < 1_000 && stopping.services.parsers.held < 2 * text.length; i++) await sleep(1)
  await stopping.stop()
  t.same(
    (await Promise.all(sending)).map(({ status }) => status),
    [201, 201],
  )
})

t.test('without a thread for them large bodies are read by the HTTP thread', async t => {
  const { client: other, tollgate: threadless } = await startHere(t, { TOLLGATE_PARSE_THREADS: '0' })
  const text = `${padding}{"events":[${every.join(',')}]}`
  const [here, there] = [
    await send('/event-batch?report=true', text, {}, other),
    await send('/event-batch?report=true', text),
  ]
  const errors = ({ body }: typeof here) => body.data.events.map((ack: Ack) => ack.error)
  t.strictSame(errors(here), errors(there))
  t.equal(threadless.services.metrics.largeBodies.parsed.count, 0)
})

// Idempotency keys over a whole Tollgate: namespaces of publishable and of secret keys, what a repeat is told, and all of
// it after restarts that know the keys from the journals' tails and from ClickHouse (decision 23, security 2 and 5).
import t from 'tap'
import type { Client } from '../harness.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const TOLLGATE_DATA_DIR = await temporaryDirectory(t)
let { client, tollgate } = await startHere(t, { TOLLGATE_DATA_DIR })
const again = async (): Promise<void> => {
  await tollgate.stop()
  const next = await startHere(t, { TOLLGATE_DATA_DIR })
  client = next.client
  tollgate = next.tollgate
}

const keys = await client.ok('GET', '/api-keys?limit=250&require_environment=true')
const { environment_id } = await client.ok('GET', '/whoami')
const publishableKey = keys.find(
  (key: { secret?: string; environment_id: string }) =>
    key.secret?.startsWith('pk_') && key.environment_id === environment_id,
).secret as string
const publishable = (): Client => client.as(publishableKey)

interface Said {
  readonly event?: string
  readonly quantity?: number
  readonly slug?: string
}
const track = (key: string, { event = 'call', quantity = 1, slug = 'acme' }: Said = {}) => ({
  event_type: 'track',
  idempotency_key: key,
  body: { event, quantity, company: { slug } },
})

await client.ok('POST', '/companies', { keys: { slug: 'acme' }, name: 'Acme' })
await client.ok('POST', '/companies', { keys: { slug: 'other' }, name: 'Other' })
const used = async (event = 'call', slug = 'acme'): Promise<number> => {
  const { metrics } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
  const all = metrics.find(
    (one: { event_subtype: string; period: string }) =>
      one.event_subtype === event && one.period === 'all_time',
  )
  return all?.value ?? 0
}
const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${client.url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

t.test('security 2 a public key that sent an idempotency key first takes nothing from a server', async t => {
  const { event_id: junk } = await publishable().ok(
    'POST',
    '/events',
    track('invoice-777', { event: 'junk' }),
  )
  const before = await used()
  const counted = await client.ok('POST', '/events', track('invoice-777', { quantity: 3 }))
  t.not(counted.event_id, junk)
  t.equal(counted.duplicate, undefined)
  t.equal(await used(), before + 3)
  t.match(await publishable().ok('POST', '/events', track('invoice-777', { event: 'junk' })), {
    event_id: junk,
    duplicate: true,
  })
  t.match(await client.ok('POST', '/events', track('invoice-777', { quantity: 3 })), {
    event_id: counted.event_id,
    duplicate: true,
  })
  t.equal(await used(), before + 3, 'each is counted once')
})

t.test('decision 23 a batch of a public key is a namespace of its own too, usual or not', async t => {
  const events = ['b-1', 'b-2'].map(key => track(key, { event: 'batched' }))
  const loose = [{ ...track('b-3', { event: 'batched' }), trusted_client_clock: false }]
  for (const [who, name] of [
    [publishable(), 'public'],
    [client, 'secret'],
  ] as const)
    for (let n = 0; n < 2; n++) {
      const acks = (await who.ok('POST', '/event-batch', { events: [...events, ...loose] })).events
      t.same(
        acks.map((ack: { duplicate?: boolean }) => ack.duplicate === true),
        [n === 1, n === 1, n === 1],
        `${name}, time ${n + 1}`,
      )
    }
  t.equal(await used('batched'), 6)
})

t.test('decision 23 a stored event shows its idempotency key as it was sent, and is found by it', async t => {
  const mine = await publishable().ok('POST', '/events', track('shown'))
  const theirs = await client.ok('POST', '/events', track('shown'))
  t.equal((await client.ok('GET', `/events/${mine.event_id}`)).idempotency_key, 'shown')
  const found = await client.ok('GET', '/events?idempotency_key=shown')
  t.same(
    found
      .map(({ id, idempotency_key }: { id: string; idempotency_key: string }) => [id, idempotency_key])
      .sort(),
    [
      [mine.event_id, 'shown'],
      [theirs.event_id, 'shown'],
    ].sort(),
  )
  const exported = await fetch(`${client.url}/export/events?format=csv`, {
    headers: { 'X-Service-Api-Key': client.key },
  })
  const text = await exported.text()
  t.match(text, 'shown')
  t.notMatch(text, '\\u0000')
  t.notOk(text.includes('\0'))
})

t.test(
  'decision 23 a repeat with other content is told of by the answer, a metric and a stored event',
  async t => {
    const first = await client.ok('POST', '/events', track('said', { quantity: 2, event: 'said' }))
    const differing = await metric('tollgate_events_differing_total')
    const others: readonly (readonly [string, Said])[] = [
      ['another quantity', { quantity: 3, event: 'said' }],
      ['another name', { quantity: 2, event: 'sagte' }],
      ['another company', { quantity: 2, event: 'said', slug: 'other' }],
      ['a company that is not there', { quantity: 2, event: 'said', slug: 'nobody-yet' }],
    ]
    for (const [what, said] of others) {
      const ack = await client.ok('POST', '/events', track('said', said))
      t.match(ack, { event_id: first.event_id, duplicate: true, content_differs: true }, what)
    }
    const same = await client.ok('POST', '/events', track('said', { quantity: 2, event: 'said' }))
    t.match(same, { event_id: first.event_id, duplicate: true })
    t.equal(same.content_differs, undefined)
    t.equal((await client.get('/companies/lookup?slug=nobody-yet')).status, 404, 'nobody is made for it')
    t.equal(await used('said'), 2)
    // the text of /metrics is kept for a second
    let counted = differing
    while (counted < differing + others.length) counted = await metric('tollgate_events_differing_total')
    t.equal(counted, differing + others.length)
    const stored = await client.ok('GET', '/events?idempotency_key=said')
    const failed = stored.filter((event: { status: string }) => event.status === 'failed')
    t.equal(failed.length, others.length)
    t.match(failed[0], { error_message: new RegExp(`other content by ${first.event_id}`) })
  },
)

t.test('decision 23 in a batch too, of any size and form', async t => {
  const filler = Array.from({ length: 2_500 }, (_, n) => track(`fill-${n}`, { event: 'fill' }))
  for (const [name, more] of [
    ['small', []],
    ['read on another thread', filler],
  ] as const) {
    const events = [
      track(`${name}-1`, { event: 'many' }),
      track(`${name}-1`, { event: 'many' }),
      track(`${name}-1`, { event: 'many', quantity: 5 }),
      track(`${name}-2`, { event: 'many' }),
      ...more,
    ]
    const { events: acks } = await client.ok('POST', '/event-batch?report=true', { events })
    t.match(acks.slice(0, 4), [
      { error: null },
      { event_id: acks[0].event_id, duplicate: true },
      { event_id: acks[0].event_id, duplicate: true, content_differs: true },
      { error: null },
    ])
    t.same(
      acks.slice(0, 4).map((ack: { content_differs?: boolean }) => ack.content_differs === true),
      [false, false, true, false],
      name,
    )
  }
  t.equal(await used('many'), 4)
})

t.test('decision 23 what an event of a company that it made said is known too', async t => {
  const made = { event: 'made', slug: `made-${Date.now()}` }
  const first = await client.ok('POST', '/events', track('makes', made))
  const repeated = await client.ok('POST', '/events', track('makes', made))
  t.match(repeated, { event_id: first.event_id, duplicate: true })
  t.equal(repeated.content_differs, undefined)
  t.match(await client.ok('POST', '/events', track('makes', { ...made, quantity: 2 })), {
    content_differs: true,
  })
})

t.test('decision 23 other types of events under one key differ', async t => {
  const first = await client.ok('POST', '/events', track('typed'))
  const identify = {
    event_type: 'identify',
    idempotency_key: 'typed',
    body: { keys: { mail: 'a' }, company: { keys: { slug: 'acme' } } },
  }
  t.match(await client.ok('POST', '/events', identify), { event_id: first.event_id, content_differs: true })
  const seen = { ...identify, idempotency_key: 'seen' }
  const { event_id } = await client.ok('POST', '/events', seen)
  const repeated = await client.ok('POST', '/events', seen)
  t.match(repeated, { event_id, duplicate: true })
  t.equal(repeated.content_differs, undefined)
})

for (const from of ['the stores', 'the end of the journals'])
  t.test(`decision 23 namespaces and content are known after a restart, from ${from}`, async t => {
    const name = `restart ${from} ü`
    const public1 = await publishable().ok('POST', '/events', track(name, { event: 'überall' }))
    const secret1 = await client.ok('POST', '/events', track(name, { event: 'überall', quantity: 7 }))
    // the projector is not asked to wait: what it has not written the journals tell
    if (from === 'the stores') await client.ok('GET', `/events/${secret1.event_id}`)
    else tollgate.services.projections.hold('clickhouse', 10_000).catch(() => {})
    const late = await client.ok('POST', '/events', track(`${name} late`, { event: 'late' }))
    await again()
    t.match(await publishable().ok('POST', '/events', track(name, { event: 'überall' })), {
      event_id: public1.event_id,
      duplicate: true,
    })
    const same = await client.ok('POST', '/events', track(name, { event: 'überall', quantity: 7 }))
    t.match(same, { event_id: secret1.event_id, duplicate: true })
    t.equal(same.content_differs, undefined)
    t.match(await client.ok('POST', '/events', track(`${name} late`, { event: 'later' })), {
      event_id: late.event_id,
      content_differs: true,
    })
    t.match(await client.ok('POST', '/events', track(name, { event: 'überall', quantity: 8 })), {
      event_id: secret1.event_id,
      content_differs: true,
    })
  })

// Rules of events that the other files do not name, over HTTP (events.md).
import t from 'tap'
import type { CompanyDescription } from '../../src/core/model/descriptions.js'
import { type Client, startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

const { client, tollgate } = await startHere(t)
const { services } = tollgate

const track = (event: string, slug: string, body: object = {}, more: object = {}) => ({
  event_type: 'track',
  body: { event, company: { slug }, ...body },
  ...more,
})
const company = (slug: string, from: Client = client) => from.ok('GET', `/companies/lookup?slug=${slug}`)
const stored = (id: string) => client.ok('GET', `/events/${id}`)

async function allTime(slug: string, event: string): Promise<number | undefined> {
  const { metrics } = await company(slug)
  return metrics.find(
    (one: { event_subtype: string; period: string }) =>
      one.event_subtype === event && one.period === 'all_time',
  )?.value
}

t.test('EV-3 events take from ingest, never from mutations, and a batch takes once', async t => {
  const limits = '{"global":[1,100],"mutation":[0.001,2],"events_ingest":[0.001,3]}'
  const { client } = await startHere(t, { TOLLGATE_LIMITS: limits })
  const events = Array.from({ length: 50 }, () => track('x', 'limited'))
  t.equal((await client.post('/event-batch', { events })).status, 201)
  t.equal((await client.post('/events', track('x', 'limited'))).status, 201)
  t.equal((await client.post('/events', track('x', 'limited'))).status, 201)
  const refused = await client.post('/events', track('x', 'limited'))
  t.match(refused, { status: 429, body: { bucket: 'events_ingest' } })
  t.equal((await client.post('/companies', { keys: { slug: 'limited' } })).status, 200, 'mutations are left')
})

t.test('EV-5 an event has 64 KiB and a request 1 MiB', async t => {
  const of = (bytes: number) => track('x', 'large', { traits: { text: 'x'.repeat(bytes) } })
  t.equal((await client.post('/events', of(65_000))).status, 201)
  t.match(await client.post('/events', of(65_537)), { status: 400, body: { error: /65536/ } })
  t.match(await client.post('/events', of(1_048_576)), { status: 400, body: { error: /1048576/ } })
})

t.test('EV-18 without the trusted clock the server says when it was', async t => {
  const sent = new Date(Date.now() - 3 * 86_400_000).toISOString()
  const posted = await client.ok('POST', '/events', track('x', 'skewed', {}, { sent_at: sent }))
  t.ok(Date.now() - Date.parse(posted.captured_at) < 60_000)
  t.match(await stored(posted.event_id), { sent_at: sent, captured_at: posted.captured_at })
})

t.test('EV-19 a backfill into a closed period changes its history', async t => {
  const then = Math.floor((Date.now() - 100 * 86_400_000) / 3_600_000) * 3_600_000
  const sent = { backfill: true, trusted_client_clock: true, sent_at: new Date(then + 1_000).toISOString() }
  await client.ok('POST', '/events', track('closed', 'closed', { quantity: 4 }, sent))
  const window = `from=${new Date(then).toISOString()}&to=${new Date(then + 3_600_000).toISOString()}`
  const response = await fetch(`${client.url}/export/usage?format=ndjson&${window}`, {
    headers: { 'X-Service-Api-Key': client.key },
  })
  t.match(JSON.parse(await response.text()), { event_subtype: 'closed', quantity: 4 })
})

t.test('EV-20 events expire after 365 days, sums do not', async t => {
  const tables = await services.clickhouse.select<{ name: string; engine_full: string }>(
    `SELECT name, engine_full FROM system.tables
      WHERE database = currentDatabase() AND name IN ('events', 'usage_by_hour') ORDER BY name`,
  )
  t.match(tables[0]!.engine_full, /TTL .*captured_at.*(365|toIntervalDay\(365\))/)
  t.notMatch(tables[1]!.engine_full, /TTL/)
})

t.test('EV-30 a key named id with a service id addresses the company itself', async t => {
  await client.ok('POST', '/events', track('x', 'by-id'))
  const { id } = await company('by-id')
  await client.ok('POST', '/events', { event_type: 'track', body: { event: 'x', company: { id } } })
  t.equal(await allTime('by-id', 'x'), 2)
})

t.test('EV-40, EV-41 identify needs no name or company, uses nothing, and names a user', async t => {
  const identify = (body: object) => client.post('/events', { event_type: 'identify', body })
  const of = { keys: { slug: 'identified' } }
  t.equal((await identify({ keys: { email: 'i@x' }, name: 'I', company: of })).status, 201)
  t.equal((await identify({ keys: { email: 'i@x' } })).status, 201)
  t.match(await client.ok('GET', '/users/lookup?email=i@x'), { name: 'I' })
  t.strictSame((await company('identified')).metrics, [])
  t.equal((await identify({ keys: {}, company: of })).status, 400)
})

t.test('EV-45 use and credits change in one step: every read sees both or neither', async t => {
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const { id, keys } = await world.company({ base_plan_id: plan.id })
  await world.grant(id, credit.id, 1_000)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const sums = new Set<number>()
  const seen = new Set<number>()
  const look = async () => {
    const question = { type: 'describe' } as const
    const { reply } = await services.shards.ask<CompanyDescription>(
      'c',
      environmentId,
      id,
      question,
      Date.now(),
    )
    const used = reply.metrics.find(one => one.eventSubtype === subtype && one.period === 'all_time')
    const value = Number(used?.value ?? 0)
    seen.add(value)
    sums.add(value + reply.balances[credit.id]!.remaining)
  }
  const event = { event_type: 'track', body: { event: subtype, company: keys, quantity: 3 } }
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => (n % 2 ? client.ok('POST', '/events', event) : look())),
  )
  await look()
  t.strictSame([...sums], [1_000], 'use and what is left are always the whole')
  t.ok(seen.size > 1, `${seen.size} states seen`)
})

t.test('EV-47 a track event without keys is stored and counts nowhere', async t => {
  const { event_id } = await client.ok('POST', '/events', { event_type: 'track', body: { event: 'nobody' } })
  t.match(await stored(event_id), {
    status: 'enriched',
    company_id: null,
    user_id: null,
    error_message: null,
  })
  t.strictSame(await client.ok('GET', '/event-types?q=nobody'), [
    { ...(await client.ok('GET', '/event-types?q=nobody'))[0], event_count: 1, company_count: 0 },
  ])
})

t.test('EV-48 traits of a track event change no entity', async t => {
  const { event_id } = await client.ok('POST', '/events', track('x', 'plain', { traits: { tier: 'gold' } }))
  t.strictSame((await company('plain')).traits, {})
  t.match((await stored(event_id)).body, { traits: { tier: 'gold' } })
})

t.test('EV-49 what no feature uses is counted, and a later feature sees it', async t => {
  await client.ok('POST', '/events', track('early', 'early', { quantity: 5 }))
  const feature = await client.ok('POST', '/features', {
    name: 'Early',
    description: '',
    feature_type: 'event',
    event_subtype: 'early',
  })
  const { id } = await company('early')
  await client.ok('POST', '/company-overrides', {
    company_id: id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 10,
  })
  const [usage] = (await client.ok('GET', `/feature-usage?company_id=${id}`)).filter(
    (one: { feature: { id: string } | null }) => one.feature?.id === feature.id,
  )
  t.equal(usage.usage, 5)
})

t.test(
  'EV-55 a reported flag check creates no entity and moves the last-seen and last-checked times',
  async t => {
    const flag = { key: 'seen', name: 'Seen', description: '', flag_type: 'boolean', default_value: true }
    const { id } = await client.ok('POST', '/flags', flag)
    const body = { flag_key: 'seen', reason: 'default', value: true }
    const report = (more: object) =>
      client.ok('POST', '/events', { event_type: 'flag_check', body: { ...body, ...more } })
    await report({ req_company: { slug: 'never-made' }, req_user: { email: 'never@x' } })
    t.equal((await client.get('/companies/lookup?slug=never-made')).status, 404)
    t.equal((await client.get('/users/lookup?email=never@x')).status, 404)
    let checked: string | null = null
    for (let i = 0; i < 60 && checked === null; i++) {
      await new Promise(resolve => setTimeout(resolve, 100))
      checked = (await client.ok('GET', `/flags/${id}`)).last_checked_at
    }
    t.ok(checked)
  },
)

t.test('EV-64, EV-68 an inference without a label meters nothing; corrections go another way', async t => {
  const inference = (more: object = {}) => ({
    event_type: 'inference',
    body: {
      company: { slug: 'inferring' },
      provider: 'p',
      response_model: 'm',
      input_tokens: 10,
      output_tokens: 5,
      ...more,
    },
  })
  const { event_id } = await client.ok('POST', '/events', inference())
  t.match(await stored(event_id), { type: 'inference', subtype: null, status: 'enriched' })
  t.strictSame((await company('inferring')).metrics, [])
  t.equal((await client.post('/events', inference({ input_tokens: -10 }))).status, 400)
  t.equal((await client.post('/events', inference({ requests: -1 }))).status, 400)
})

t.test('EV-71 events of a deleted company keep its id', async t => {
  const { event_id } = await client.ok('POST', '/events', track('x', 'deleted'))
  const { id } = await company('deleted')
  await client.ok('DELETE', `/companies/${id}`)
  t.match(await stored(event_id), { company_id: id, subtype: 'x' })
  t.equal((await client.ok('GET', `/events?company_id=${id}`)).length, 1)
})

t.test('EV-32, EV-55 the id of a user names no company, nor the other way round', async t => {
  const user = await client.ok('POST', '/users', { keys: { mail: 'kind' } })
  const owner = await client.ok('POST', '/companies', { keys: { slug: 'kind' } })
  const check = (ids: object) => ({
    event_type: 'flag_check',
    body: { flag_key: 'kinds', reason: 'r', value: true, ...ids },
  })
  const crossed = await client.ok('POST', '/events', check({ company_id: user.id, user_id: owner.id }))
  t.match(await stored(crossed.event_id), { company_id: null, user_id: null })
  const right = await client.ok('POST', '/events', check({ company_id: owner.id, user_id: user.id }))
  t.match(await stored(right.event_id), { company_id: owner.id, user_id: user.id })
  t.equal((await client.post('/custom-plans', { company_id: user.id, name: 'of a user' })).status, 404)
})

t.test('EV-32 an event that names by its id what is deleted meanwhile is stored as failed', async t => {
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const identify = { event_type: 'identify', idempotency_key: 'gone-1' }
  const reported = async (body: object): Promise<string | null> => {
    const answer = await client.post('/event-batch?report=true', { events: [{ ...identify, body }] })
    t.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.data.events[0].error
  }
  const user = await client.ok('POST', '/users', { keys: { mail: 'gone' } })
  const owner = await client.ok('POST', '/companies', { keys: { slug: 'gone' } })
  // as if the deletion came while a write before it was under way
  const gone = (id: string, kind: 'c' | 'u') =>
    services.shards.ask(kind, environmentId, id, { type: 'delete' }, services.clock.now(environmentId))
  await gone(user.id, 'u')
  t.equal(await reported({ keys: { id: user.id }, traits: { a: 1 } }), 'user not found')
  await gone(owner.id, 'c')
  t.equal(
    await reported({ keys: { mail: 'there' }, company: { keys: { id: owner.id }, traits: { a: 1 } } }),
    'company not found',
  )
  t.equal(await reported({ keys: { mail: 'there' }, traits: { a: 1 } }), null, 'the key is free')
})

t.test(
  'AL-13 what is on its way when its environment is deleted hears 404, and nobody else anything',
  async t => {
    const { shards } = services
    const [gone, id] = ['env_zzzzzzzzzzz', 'comp_zzzzzzzzzzz']
    const before = await shards.stats()
    const context = { companyGiven: false, userGiven: false, asked: '{}', userId: null, userTraits: null }
    const check = { type: 'check', timed: false, flagKey: 'x', preflight: null, context } as const
    await t.rejects(shards.ask('e', gone, gone, check, Date.now()), /Environment not found/)
    const write = {
      addKeys: [['slug', 'late'] as const],
      removeKeys: [],
      name: null,
      traits: [],
      introduces: [],
      lastSeenAtMs: null,
      atMs: Date.now(),
    }
    await t.rejects(
      shards.ask('c', gone, id, { type: 'ensure', write }, Date.now(), true),
      /Environment not found/,
    )
    t.same(shards.degraded, [], 'every shard serves')
    t.equal((await shards.stats()).length, before.length)
    t.equal((await client.post('/events', track('x', 'others'))).status, 201)
  },
)

t.test('decision 39 a body of any depth is looked through for unknown names', async t => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const list = `{"events":[{"event_type":"track","body":{"event":"x","company":{"slug":"deep"},"traits":{"a":${deep}}}}]}`
  for (const body of [list, `{"events":${deep}}`, deep])
    for (const query of ['report=true', 'report=true&any_age=true', 'strict=true']) {
      const answer = await client.post(`/event-batch?${query}`, body)
      // in a report each event is judged on its own (decision 20)
      const isList = body !== deep && query !== 'strict=true'
      t.equal(answer.status, isList ? 201 : 400, `${body.slice(0, 40)} ${query}`)
    }
})

t.test('security H5 the names of a body are not read before they are counted', async t => {
  const members = Array.from({ length: 60_000 }, (_, n) => `"n${n}":1`).join()
  const event = `{"event_type":"track","body":{"event":"x","traits":{${members}}}}`
  for (const [path, body] of [
    ['/events?strict=true', event],
    ['/event-batch?strict=true', `{"events":[${event}]}`],
  ] as const)
    t.match(await client.post(path, body), { status: 400, body: { error: /too many values/ } })
})

// Bounds that hold on every way in, over a whole Tollgate: pages, limits, entities, environments (security 5, 7, 21, 34).
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { startHere } from '../harness.js'

const { client, tollgate } = await startHere(t, {
  TOLLGATE_LIMITS:
    '{"global":[1000000,1000000],"mutation":[1000000,1000000],"events_ingest":[1000000,1000000]}',
  TOLLGATE_COMPANIES_MAX: '40',
  TOLLGATE_USERS_MAX: '40',
  TOLLGATE_KEY_NAMES_MAX: '130',
  TOLLGATE_EVENT_NAMES_MAX: '1020',
})

t.test('security 34 a filtered page too far from the start is refused with the bound', async t => {
  const plan = await client.ok('POST', '/plans', { name: 'Pro', description: '', plan_type: 'plan' })
  for (const path of [
    `/companies?plan_id=${plan.id}`,
    '/companies?q=a',
    '/users?q=a',
    '/events?event_types=track',
    '/audit-log?kind=change',
    '/audit-log?q=pla',
  ]) {
    t.match(await client.get(`${path}&offset=100001`), { status: 400, body: { error: /offset.*100000/ } })
    t.equal((await client.get(`${path}&offset=100000`)).status, 200, path)
  }
  t.equal((await client.get('/companies?offset=100001')).status, 200, 'without a filter any page is near')
})

t.test(
  'security 34 a text that no index finds is looked for in the newest entries of the audit log',
  async t => {
    const { audit, sql } = tollgate.services
    const found = async (q: string): Promise<number> =>
      (await client.ok('GET', `/audit-log/count?q=${encodeURIComponent(q)}`)).count
    await client.ok('GET', '/audit-log?limit=1')
    for (const q of ['pl', '/p', 'plans', '/plans']) t.not(await found(q), 0, q)
    t.same(await client.ok('GET', '/audit-log?q=%25%25'), [], 'signs of patterns are signs')
    await audit.flush()
    await sql`
    insert into audit_logs (id, account_id, actor_type, method, url, resp_code, started_at, ended_at)
    select gen_random_uuid(), account_id, actor_type, method, '/zz', 200, now(), now()
    from (select * from audit_logs order by n limit 1) as one cross join generate_series(1, 10000)`
    t.equal(await found('/zz'), 10_000)
    for (const q of ['pl', '/p']) t.equal(await found(q), 0, `${q} is not looked for in older ones`)
    for (const q of ['plans', '/plans', 'Pläne']) t.equal((await found(q)) > 0, q !== 'Pläne', q)
    const [{ resource_id_string: id }] = await client.ok('GET', '/audit-log?resource_type=plan&limit=1')
    t.match(await client.ok('GET', `/audit-log?resource_id=${id}`), [{ resource_id_string: id }])
    t.same(await client.ok('GET', `/audit-log?resource_id=${id.toUpperCase()}`), [], 'ids have capitals')
    await sql`delete from audit_logs where url = '/zz'`
  },
)

t.test('security 21 PUT /limits cannot lock its caller out', async t => {
  const tight = { limits: { global: [0.000001, 1], mutation: [0.000001, 1] } }
  await client.ok('PUT', '/limits', tight)
  for (let i = 0; i < 3; i++) await client.ok('PUT', '/limits', tight)
  await client.get('/companies')
  t.equal((await client.get('/companies')).status, 429)
  t.same((await client.ok('GET', '/limits')).limits, tight.limits)
  await client.ok('PUT', '/limits', { limits: null })
  t.equal((await client.get('/companies')).status, 200)
})

const identify = (company: object, keys: object = { mail: 'a' }) => ({
  event_type: 'identify',
  body: { keys, company },
})
const named = (count: number, from = 0, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${from + n}`, `v${from + n}`]))
const batch = (...events: object[]) =>
  client.ok('POST', '/event-batch?report=true', { events }).then(({ events: acks }) => acks)

t.test('security 7 a company has 100 keys at most, whichever way they come', async t => {
  t.match(await client.post('/companies', { keys: named(101) }), { status: 400 })
  await client.ok('POST', '/companies', { keys: { slug: 'keys', ...named(60) } })
  t.match(await client.post('/companies', { keys: { slug: 'keys', ...named(60, 60) } }), {
    status: 400,
    body: { error: /more than 100/ },
  })
  const acks = await batch(
    identify({ keys: { slug: 'keys', ...named(60, 60) } }),
    identify({ keys: { slug: 'keys', ...named(5, 60) } }),
    identify({ keys: named(101) }),
    { event_type: 'track', body: { event: 'call', company: named(101) } },
    identify({ keys: { slug: 'keys' } }, { mail: 'a', ...named(60) }),
    identify({ keys: { slug: 'keys' } }, { mail: 'a', ...named(60, 60) }),
  )
  t.same(
    acks.map(({ error }: { error: string | null }) => error !== null && /100/.test(error)),
    [true, false, true, true, false, true],
    'one event that asks for too much costs the others nothing',
  )
  t.equal((await client.ok('GET', '/companies/lookup?slug=keys')).keys.length, 66)
  t.equal((await client.ok('GET', '/users/lookup?mail=a')).keys.length, 61)
})

t.test('security 7 an identify event that is refused gives its idempotency key back', async t => {
  const much = { ...identify({ keys: { slug: 'keys', ...named(60, 60) } }), idempotency_key: 'much' }
  const [refused] = await batch(much)
  t.match(refused, { error: /100/ })
  const [taken] = await batch({ ...identify({ keys: { slug: 'keys' } }), idempotency_key: 'much' })
  t.match(taken, { error: null })
  t.equal(taken.duplicate, undefined)
})

t.test('security 7 a company has 1000 traits of a million characters at most', async t => {
  const keys = { slug: 'traits' }
  for (let from = 0; from < 1_000; from += 200)
    await client.ok('POST', '/companies', { keys, traits: named(200, from, 't') })
  t.match(await client.post('/companies', { keys, traits: { one: 'more' } }), {
    status: 400,
    body: { error: /more than 1000/ },
  })
  t.match(await client.post('/company-traits', { keys, trait: 'one', incr: 1 }), { status: 400 })
  t.match(await batch(identify({ keys, traits: { one: 'more' } })), [{ error: /more than 1000/ }])
  await client.ok('POST', '/companies', { keys, traits: { t0: null, one: 'more' } })
  const large = { slug: 'large' }
  let refused = null
  for (let n = 0; n < 25 && refused === null; n++) {
    const [ack] = await batch(identify({ keys: large, traits: { [`t${n}`]: 'x'.repeat(60_000) } }))
    refused = ack.error
  }
  t.match(refused, /1048576 characters/)
  t.match(await client.post('/users', { keys: large, traits: { t0: 'x'.repeat(1_000_000) } }), {
    status: 200,
  })
  t.match(await client.post('/users', { keys: large, traits: { t1: 'x'.repeat(60_000) } }), {
    status: 400,
    body: { error: /1048576 characters/ },
  })
})

t.test('security 7 a company has 10000 names of events at most, an environment its quota', async t => {
  const track = (event: string, slug: string) => ({ event_type: 'track', body: { event, company: { slug } } })
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)
  const [first] = await batch(track('first', 'names'))
  t.equal(first.error, null)
  for (const prefix of ['a', 'b'])
    await client.ok('POST', '/event-batch', {
      events: names(prefix === 'a' ? 500 : 499, prefix).map(name => track(name, 'names')),
    })
  const [over, known] = await batch(track('one more', 'names'), track('first', 'names'))
  t.match(over, { error: /1000 names/ })
  t.equal(known.error, null)
  const loose = { ...track('one more', 'names'), trusted_client_clock: false }
  t.match(await batch(loose), [{ error: /1000 names/ }])
  // each shard counts for its companies: one of these is of the shard that admitted the names above
  const slugs = Array.from({ length: 16 }, (_, n) => `other names ${n}`)
  const others = await batch(...slugs.flatMap(slug => names(60, 'other').map(name => track(name, slug))))
  t.ok(
    others.some(({ error }: { error: string | null }) => /as many names of events/.test(error ?? '')),
    'of the names of the environment a shard admits 1020',
  )
  const { environment_id } = await client.ok('GET', '/whoami')
  const told = async (): Promise<readonly string[]> => (await client.get('/health/ready')).body.degraded
  while (!(await told()).includes(`quota of event_names of ${environment_id}`)) await nextTurn()
  const shown = async () => (await fetch(`${client.url}/metrics`)).text()
  while (
    !(await shown()).includes(`tollgate_quota_used{environment="${environment_id}",quota="event_names"} 1\n`)
  )
    await nextTurn()
  t.match(await shown(), /tollgate_quota_refused_total\{quota="event_names"\} [1-9]/)
  await t.test('security H6 a company shows figures of the 100 used last, or all on request', async t => {
    const figures = async (path: string): Promise<number> => {
      const data = await client.ok('GET', path)
      const company = [data]
        .flat()
        .find((one: { keys: { value: string }[] }) => one.keys[0]!.value === 'names')
      return new Set(company.metrics.map((one: { event_subtype: string }) => one.event_subtype)).size
    }
    const { id } = await client.ok('GET', '/companies/lookup?slug=names')
    for (const path of [
      '/companies/lookup?slug=names',
      `/companies/${id}`,
      `/companies?ids=${id}`,
      '/companies?limit=250',
    ]) {
      t.equal(await figures(path), 100, path)
      t.equal(
        await figures(`${path}${path.includes('?') ? '&' : '?'}all_metrics=true`),
        1_000,
        `${path}, all`,
      )
    }
    const kept = await client.post('/companies', { keys: { slug: 'names' }, traits: { a: 'b' } })
    t.ok(JSON.stringify(kept.body).length < 500_000)
    t.equal(
      new Set(kept.body.data.metrics.map((one: { event_subtype: string }) => one.event_subtype)).size,
      100,
      'a write',
    )
  })
})

t.test('security 7 a page that comes to too many bytes is refused, and says what to do', async t => {
  for (let n = 0; n < 12; n++)
    for (const half of ['a', 'b'])
      await client.ok('POST', '/companies', {
        keys: { slug: `page${n}` },
        traits: { [half]: 'x'.repeat(500_000) },
      })
  const refused = await client.get('/companies?q=page&limit=250')
  t.match(refused, { status: 400, body: { error: /limit: .*ask for fewer/ } })
  t.equal((await client.ok('GET', '/companies?q=page&limit=2')).length, 2)
})

t.test('security 7 an environment has as many companies, users and names of keys as it may', async t => {
  const { environment_id } = await client.ok('GET', '/whoami')
  let made = 0
  for (; made < 60; made++) {
    const { status, body } = await client.post('/companies', { keys: { slug: `quota${made}` } })
    if (status === 200) continue
    t.match({ status, body }, { status: 429, body: { error: /companies: .*40/, bucket: 'mutation' } })
    break
  }
  t.ok(made < 60)
  t.match(
    await batch(
      { event_type: 'track', body: { event: 'first', company: { slug: 'new' } } },
      { event_type: 'track', body: { event: 'first', company: { slug: 'names' } } },
      identify({ keys: { slug: 'newer' } }, { mail: 'b' }),
    ),
    [{ error: /companies: / }, { error: null }, { error: /companies: / }],
  )
  t.equal((await client.post('/companies', { keys: { slug: 'names' }, name: 'there already' })).status, 200)
  t.match(await client.post('/companies', { keys: { slug: 'names', ...named(99, 500, 'n') } }), {
    status: 429,
    body: { error: /names of keys/ },
  })
  const { body: health } = await client.get('/health/ready')
  const degraded = health.degraded as readonly string[]
  t.ok(degraded.includes(`quota of companies of ${environment_id}`), degraded.join())
  t.ok(tollgate.services.quotas.refused.companies >= 3)
  await client.ok('POST', '/companies/delete', { keys: { slug: 'quota0' } })
  t.equal(
    (await client.post('/companies', { keys: { slug: 'quota-again' } })).status,
    200,
    'one that goes makes room',
  )
})

// Properties of a key over HTTP: scopes, times, addresses, a state, another value; and its reach.
import t from 'tap'
import { type Client, startHere } from '../harness.js'

const { client, tollgate } = await startHere(t, { TOLLGATE_TRUST_PROXY: 'true' })
const { sql } = tollgate.services
const { environments, environment_id: development } = await client.ok('GET', '/whoami')
const production = environments.find((one: { name: string }) => one.name === 'Production').id as string

const make = (body: object) => client.ok('POST', '/api-keys', { name: 'k', ...body })
const track = { event_type: 'track', body: { event: 'e', company: { slug: 'a' } } }
const from = (address: string) => ({ 'X-Forwarded-For': address })

/** Ask until it is so: what is bounded in time, and not timed here. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 50))
}

t.test('security 18 scopes are chosen: a producer, a checker, a reader that exports nothing', async t => {
  const statuses = async (scopes: readonly string[], more: object = {}) => {
    const { secret, scopes: shown } = await make({ scopes, environment_id: development, ...more })
    t.same(shown, [...scopes].sort())
    const as = client.as(secret)
    return [
      (await as.post('/events', track)).status,
      (await as.post('/flags/none/check', {})).status,
      (await as.get('/companies')).status,
      (await as.post('/companies', {})).status,
      (await fetch(`${client.url}/export/events?format=csv`, { headers: { 'X-Service-Api-Key': secret } }))
        .status,
      (await as.get('/api-keys?require_environment=false')).status,
      (await as.get('/whoami')).status,
    ]
  }
  t.same(await statuses(['capture']), [201, 404, 403, 403, 403, 403, 200])
  t.same(await statuses(['check']), [403, 404, 403, 403, 403, 403, 200])
  t.same(await statuses(['read']), [403, 404, 200, 403, 403, 403, 200])
  t.same(await statuses(['read', 'capture']), [201, 404, 200, 403, 403, 403, 200])
  t.same(await statuses(['admin']), [403, 404, 200, 400, 200, 200, 200])
  t.same(await statuses(['check'], { readonly: true }), [201, 404, 403, 403, 403, 403, 200], 'EV-6')
  for (const body of [
    { scopes: [] },
    { scopes: ['read', 'read'] },
    { scopes: ['export'] },
    { scopes: ['read', 'write'], readonly: true },
  ])
    t.equal((await client.post('/api-keys', { name: 'k', ...body })).status, 400, JSON.stringify(body))
})

t.test('security 18 expiry, not_before, disabled: 401 at once, and open again', async t => {
  const key = await make({ environment_id: development })
  const as = client.as(key.secret)
  const put = (body: object) => client.put(`/api-keys/${key.id}`, body)
  const status = async () => (await as.get('/companies')).status
  t.equal(await status(), 200)
  t.match((await put({ disabled: true })).body.data, { disabled: true })
  t.match((await as.get('/companies')).body, { error: /disabled/ })
  t.equal(await status(), 401)
  await put({ disabled: false })
  t.equal(await status(), 200)
  const later = new Date(Date.now() + 3_600_000).toISOString()
  t.match((await put({ not_before: later })).body.data, { not_before: later })
  t.equal(await status(), 401)
  await put({ not_before: null, expires_at: later })
  t.equal(await status(), 200)
  t.match((await put({})).body.data, { not_before: null, expires_at: later }, 'absent means unchanged')
  t.match(await put({ expires_at: '2020-01-01T00:00:00Z' }), { status: 400 })
  t.match(await put({ not_before: '2999-01-01T00:00:00Z' }), { status: 400 }, 'it would never be valid')
  await put({ expires_at: new Date(Date.now() + 200).toISOString() })
  await until(async () => (await status()) === 401)
  t.match((await as.get('/companies')).body, { error: /expired/ })
  t.match(await put({ expires_at: null }), { status: 200 })
  t.equal(await status(), 200)
})

t.test('security 18 addresses, in headers and in bodies of the collector', async t => {
  const key = await make({
    environment_id: development,
    allowed_addresses: ['198.51.100.0/24', '2001:db8::1'],
  })
  t.same(key.allowed_addresses, ['198.51.100.0/24', '2001:db8::1'])
  const as = client.as(key.secret)
  t.equal((await as.get('/companies', from('198.51.100.9'))).status, 200)
  t.equal((await as.get('/companies', from('2001:db8::1'))).status, 200)
  t.equal((await as.get('/companies', from('198.51.101.9'))).status, 401)
  t.equal((await as.get('/companies')).status, 401)
  const sent = { events: [{ ...track, type: 'track', api_key: key.secret }] }
  const taken = async (address: string) => {
    const { status, body } = await client.post('/batch', sent, from(address))
    return status === 200 || status === 201 ? body.data.events.length : 0
  }
  t.equal(await taken('198.51.100.9'), 1)
  t.equal(await taken('198.51.101.9'), 0)
  t.equal((await client.as('').post('/batch', sent, from('198.51.101.9'))).status, 401)
  for (const block of ['10.0.0.0/33', 'example.com', '::1/129', '', '10.0.0.0/-1', 'fe80::1%eth0'])
    t.equal((await client.put(`/api-keys/${key.id}`, { allowed_addresses: [block] })).status, 400, block)
  await client.ok('PUT', `/api-keys/${key.id}`, { allowed_addresses: null })
  t.equal((await as.get('/companies')).status, 200)
})

t.test('security 18 a key does not shut itself out', async t => {
  const own = await make({})
  const as = client.as(own.secret)
  for (const body of [{ disabled: true }, { allowed_addresses: ['192.0.2.1'] }])
    t.match(await as.put(`/api-keys/${own.id}`, body), { status: 400, body: { error: /itself/ } })
  t.equal((await as.get('/whoami')).status, 200)
})

t.test('security 18 a roll with overlap: both values, then the new one alone', async t => {
  const key = await make({ environment_id: development })
  const roll = (seconds?: number) => client.post(`/api-keys/${key.id}/roll`, { overlap_seconds: seconds })
  const status = async (secret: string) => (await client.as(secret).get('/companies')).status
  const first = (await roll(2_000)).body.data
  t.not(first.secret, key.secret)
  t.equal(first.id, key.id)
  t.equal(first.last_four, first.secret.slice(-4))
  t.ok(Date.parse(first.previous_value_until) > Date.now() + 1_900_000)
  t.same([await status(key.secret), await status(first.secret)], [200, 200])
  const sent = { events: [{ ...track, type: 'track', api_key: key.secret }] }
  t.equal((await client.as('').post('/batch', sent)).body.data.events.length, 1, 'in bodies, too')
  const second = (await roll(1)).body.data
  t.equal(await status(key.secret), 401, 'one value before the present one, no more')
  t.equal(await status(second.secret), 200)
  await until(async () => (await status(first.secret)) === 401)
  const third = (await roll()).body.data
  t.same([await status(second.secret), await status(third.secret)], [401, 200], 'without overlap: at once')
  t.equal(third.previous_value_until, null)
  const listed = await client.ok('GET', `/api-keys/${key.id}`)
  t.match(listed, { last_four: third.secret.slice(-4) })
  t.notOk('secret' in listed)
  t.equal((await roll(2_592_001)).status, 400)
  t.equal((await client.post('/api-keys/apik_22222222222/roll', {})).status, 404)

  const [publishable] = (
    await client.ok('GET', `/api-keys?require_environment=true&environment_id=${production}`)
  ).filter((one: { secret?: string }) => one.secret)
  const rolled = await client.ok('POST', `/api-keys/${publishable.id}/roll`, { overlap_seconds: 60 })
  t.match(rolled.secret, /^pk_prod_/)
  const check = (secret: string) => client.as(secret).post('/flags/none/check', {})
  t.same([(await check(publishable.secret)).status, (await check(rolled.secret)).status], [404, 404])
})

t.test('security 18 a key that SQL deletes is refused soon', async t => {
  const key = await make({ environment_id: development })
  t.equal((await client.as(key.secret).get('/companies')).status, 200)
  await sql`delete from api_keys where id = ${key.id}`
  await until(async () => (await client.as(key.secret).get('/companies')).status === 401)
})

t.test('security 18 an admin key of an environment means that one alone', async t => {
  const { secret, id } = await make({ environment_id: production, scopes: ['admin', 'capture'] })
  const as = client.as(secret)
  const [mine, other] = [
    await make({ environment_id: production }),
    await make({ environment_id: development }),
  ]
  const first = (await client.ok('GET', '/whoami')).api_key_id

  const seen = await as.ok('GET', '/api-keys?require_environment=false')
  t.ok(seen.length >= 2)
  t.ok(seen.every((one: { environment_id: string }) => one.environment_id === production))
  t.equal((await as.ok('GET', '/api-keys/count?require_environment=false')).count, seen.length)
  t.same(
    (await as.ok('GET', '/environments')).map((one: { id: string }) => one.id),
    [production],
  )
  t.equal((await as.get(`/environments/${development}`)).status, 404)
  t.equal((await as.put(`/environments/${development}`, { name: 'x' })).status, 404)
  t.equal((await as.del(`/environments/${development}`)).status, 404)
  t.equal((await as.get(`/environments/${development}/clock`)).status, 404)
  for (const unreached of [other.id, first])
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/roll'],
    ] as const) {
      const { status } = await as.send(
        method,
        `/api-keys/${unreached}${path}`,
        method === 'GET' ? undefined : {},
      )
      t.equal(status, 404, `${method} ${path}`)
    }
  t.equal((await as.post('/api-keys', { name: 'x' })).status, 403)
  t.equal((await as.post('/api-keys', { name: 'x', environment_id: development })).status, 404)
  t.equal((await as.post('/api-keys', { name: 'x', environment_id: production })).status, 201)
  t.equal((await as.del(`/api-keys/${mine.id}`)).status, 200)
  for (const [method, path] of [
    ['POST', '/environments'],
    ['GET', '/limits'],
    ['PUT', '/limits'],
    ['PUT', '/model-prices'],
    ['GET', '/account-members'],
  ] as const)
    t.equal((await as.send(method, path, method === 'GET' ? undefined : {})).status, 403, `${method} ${path}`)
  const log: Client = as
  const changes = await log.ok('GET', '/audit-log')
  t.ok(changes.length > 0)
  t.ok(changes.every((one: { environment_id: string }) => one.environment_id === production))
  t.same((await as.ok('GET', '/whoami')).environments.length, 1, 'security 32')
  await client.ok('DELETE', `/api-keys/${id}`)
})

// Postgres away: companies and users answer 503 and say when to come back, events and checks go on, and what was
// acknowledged is shown when it returns (promise 6, decision 5).
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { startStores } from '../stores.js'
import { road } from './road.js'

/** Resolves when nothing is degraded any more. */
async function whole(client: Client): Promise<void> {
  while ((await client.get('/health/ready')).body.degraded.length > 0)
    await new Promise(resolve => setTimeout(resolve, 20))
}

t.test('companies while Postgres is away', async t => {
  const { postgres } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const way = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` })
  const url = `postgres://${postgres.user}:${postgres.password}@127.0.0.1:${way.port}/${postgres.database}`
  const { client } = await startHere(t, { DATABASE_URL: url })
  const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' }, traits: { n: 1 } })
  await client.ok('POST', '/users', { keys: { mail: 'a' }, company: { slug: 'acme' } })
  const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
  await client.ok('POST', '/flags', flag)

  way.cut()
  while (!(await client.get('/health/ready')).body.degraded.includes('Postgres'))
    await new Promise(resolve => setTimeout(resolve, 20))
  const answers = await Promise.all([
    client.post('/companies', { keys: { slug: 'acme' }, traits: { n: 2 } }),
    client.post('/company-traits', { keys: { slug: 'acme' }, trait: 'm', incr: 1 }),
    client.post('/users', { keys: { mail: 'b' }, company: { slug: 'other' } }),
    client.get('/companies'),
    client.get('/users/count'),
    client.get(`/companies/${company.id}`),
    client.get('/company-memberships'),
  ])
  for (const { status, headers, body } of answers) {
    t.equal(status, 503)
    t.ok(Number(headers.get('retry-after')) >= 1)
    t.type(body.error, 'string')
  }
  t.equal((await client.post('/companies', { keys: 1 })).status, 400, 'what is wrong is still wrong')
  t.equal((await client.get('/companies/comp_22222222222')).status, 404)
  const event = { event_type: 'track', body: { event: 'e', company: { slug: 'late' } } }
  t.equal((await client.post('/events', event)).status, 201, 'events go on')
  t.equal((await client.post('/flags/f/check', { company: { slug: 'acme' } })).status, 200, 'checks go on')

  way.mend()
  await whole(client)
  const again = await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  t.equal(again.id, company.id)
  t.strictSame(again.traits, { n: 1 }, 'what was told 503 was not made')
  const slugs = (await client.ok('GET', '/companies')).map((one: { name: string }) => one.name)
  t.same(slugs.sort(), ['acme', 'late'])
  t.equal((await client.ok('GET', '/users/count')).count, 1)
  t.equal((await client.ok('GET', `/companies/${company.id}`)).user_count, 1)
})

t.test('a write of state with 503 was not made, and one that was made gets 2xx', async t => {
  const { postgres } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const way = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` })
  const url = `postgres://${postgres.user}:${postgres.password}@127.0.0.1:${way.port}/${postgres.database}`
  const { client } = await startHere(t, { DATABASE_URL: url })
  await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  let taken = 0
  const statuses = new Map<number, number>()
  const increment = async () => {
    const { status } = await client.post('/company-traits', { keys: { slug: 'acme' }, trait: 'n', incr: 1 })
    if (status < 300) taken++
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  // cut at another moment of a write each time
  for (let round = 0; round < 5; round++) {
    // each has its connection by then
    await Promise.all(Array.from({ length: 8 }, increment))
    const asked = Array.from({ length: 8 }, increment)
    for (let turn = 0; turn < 5 * round; turn++) await new Promise(resolve => setImmediate(resolve))
    way.cut()
    await Promise.all(asked)
    way.mend()
    await whole(client)
  }
  t.comment(JSON.stringify([...statuses]))
  t.same(
    [...statuses.keys()].filter(status => ![200, 202, 503].includes(status)),
    [],
  )
  const { traits } = await client.ok('GET', '/companies/lookup?slug=acme')
  t.equal(traits.n, taken, 'each that was taken is there once, and nothing else')
})

t.test('a start does not wait for Postgres to hold what the journals hold', async t => {
  const { postgres, sql } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const way = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` })
  const DATABASE_URL = `postgres://${postgres.user}:${postgres.password}@127.0.0.1:${way.port}/${postgres.database}`
  const first = await startHere(t, { DATABASE_URL })
  const event = { event_type: 'track', body: { event: 'e', company: { slug: 'late' } } }
  // nothing is written there until the lock goes
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let held = () => {}
  const holds = new Promise<void>(resolve => {
    held = resolve
  })
  const locking = sql.begin(async tx => {
    await tx`lock table companies in exclusive mode`
    held()
    await released
  })
  await holds
  t.equal((await first.client.post('/events', event)).status, 201)
  await first.tollgate.stop()
  const { client } = await startHere(t, { DATABASE_URL, TOLLGATE_DATA_DIR: first.dataDir })
  const again = await client.post('/events', { ...event, idempotency_key: 'once' })
  t.equal(again.status, 201, 'the company is found by its key, not made anew')
  const late = await client.get('/companies/lookup?slug=late')
  t.match(late, { status: 200 }, 'though Postgres does not show it')
  release()
  await locking
  t.equal((await client.ok('GET', '/companies/count')).count, 1)
  t.equal((await client.get('/companies/lookup?slug=late')).body.data.id, late.body.data.id)
})

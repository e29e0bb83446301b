// Erasures end though others go on with the keys of the entity, and though an event's name says what it was found by (ER-4).
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'

t.setTimeout(240_000)

const { client, tollgate } = await startHere(t)
const { sql, clickhouse } = tollgate.services
const track = (event: string, company: object, more: object = {}) =>
  client.ok('POST', '/events', { event_type: 'track', body: { event, company, ...more } })

t.test(
  'ER-4 names of events that say the keys of the company do not keep its erasure from ending',
  async t => {
    const keys = { event: 'sign-up', slug: 'acme' }
    const { id } = await client.ok('POST', '/companies', { keys })
    for (const event of ['sign-up', 'slug=acme', id])
      await track(event, { slug: 'other' }, { traits: { of: id } })
    const erased = await client.ok('POST', `/companies/${id}/erase`, {})
    t.ok(erased.erased_at, 'it ends')
    t.equal(erased.removed.events, 3, 'each is blanked once')
    const rows = await clickhouse.select<{ body: string }>(
      `SELECT body FROM events WHERE type = 'track' ORDER BY captured_at`,
    )
    t.same(
      rows.map(({ body }) => JSON.parse(body)),
      ['sign-up', 'slug=acme', id].map(event => ({ event })),
      'ER-3 names stay',
    )
  },
)

t.test('ER-4 requests for one entity at the same time are one erasure', async t => {
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'twice' } })
  const all = await Promise.all([1, 2, 3].map(() => client.ok('POST', `/companies/${id}/erase`, {})))
  t.same(new Set(all.map(one => one.id)).size, 1)
  const listed = await client.ok('GET', '/erasures?limit=250')
  t.equal(listed.filter((one: { entity_id: string }) => one.entity_id === id).length, 1)
})

t.test(
  'ER-4 an erasure ends while events, checks and writes use the keys, and leaves the next company alone',
  async t => {
    const company = { slug: 'busy' }
    const plan = await publishedPlan(client, 'Busy')
    const { id } = await client.ok('POST', '/companies', { keys: company, base_plan_id: plan.id })
    let stopped = false
    const going = ['event', 'write', 'other', 'check'].map(async kind => {
      for (let n = 0; !stopped; n++)
        if (kind === 'event')
          await client.post('/events', { event_type: 'track', body: { event: 'use', company } })
        else if (kind === 'write') await client.post('/companies', { keys: company, traits: { n } })
        else if (kind === 'check') await client.post('/flags/check', { company })
        else await track('use', { slug: 'another' }, { traits: { company, n } })
    })
    const erased = await client.ok('POST', `/companies/${id}/erase`, {}).finally(() => {
      stopped = true
    })
    await Promise.all(going)
    t.equal(erased.entity_id, id)
    for (let looked = erased; !looked.erased_at; )
      looked = (await client.ok('GET', '/erasures?limit=250')).find(
        (one: { id: string }) => one.id === erased.id,
      )
    t.equal((await client.get(`/companies/${id}`)).status, 404)
    const [left] = await clickhouse.select<{ n: number }>(
      'SELECT count() AS n FROM events WHERE company_id = {id:String} AND position(body, {slug:String}) > 0',
      { id, slug: 'busy' },
    )
    t.equal(Number(left!.n), 0, 'its own events have lost their texts')
    const after = await client.ok('POST', '/companies', { keys: company })
    t.not(after.id, id)
    await track('use', company, { traits: { kept: 'yes' } })
    const [held] = await sql`select 1 from companies where id = ${after.id}`
    t.ok(held)
  },
)

t.test(
  'ER-4 an erasure that waits for long is answered before its end, and leaves what others got with its keys meanwhile',
  async t => {
    await client.ok('POST', '/webhooks', {
      name: 'all',
      url: 'https://hooks.example/erasure',
      request_types: ['company.created', 'company.updated'],
    })
    const { environment_id } = await client.ok('GET', '/whoami')
    const keys = { slug: 'taken-over' }
    const { id } = await client.ok('POST', '/companies', { keys, name: 'Before' })
    // the definitions are held by another, so that the erasure cannot go on
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const holding = sql.begin(async tx => {
      await tx`select id from environments where id = ${environment_id} for no key update`
      for (let held = true; held; ) {
        held = await Promise.race([
          released.then(() => false),
          new Promise<true>(go => setTimeout(go, 500, true)),
        ])
        await tx`select 1`
      }
    })
    const asked = client.post(`/companies/${id}/erase`, {})
    while ((await client.get(`/companies/${id}`)).status !== 404);
    const removedAt = async () =>
      (await sql`select removed_at from erasures where entity_id = ${id}`)[0]?.removed_at ?? null
    while ((await removedAt()) === null);
    const after = await client.ok('POST', '/companies', { keys, name: 'After', traits: keys })
    const payloads = async () =>
      (
        await sql<{ payload: string }[]>`
        select payload from webhook_events where position(${after.id}::text in payload) > 0`
      ).map(one => one.payload)
    while ((await payloads()).length === 0);
    const mark = JSON.stringify(keys).slice(1, -1)
    t.ok(
      (await payloads()).every(payload => payload.includes(mark)),
      'they mention the keys',
    )
    const { status, body } = await asked
    t.equal(status, 200)
    t.match(body.data, { entity_id: id, erased_at: null }, 'its answer comes before its end')
    release()
    await holding
    const find = async () =>
      (await client.ok('GET', '/erasures?limit=250')).find((one: { id: string }) => one.id === body.data.id)
    while (!(await find()).erased_at);
    for (const payload of await payloads())
      t.match(payload, 'taken-over', 'a payload of the next company stays')
    t.ok((await payloads()).length > 0)
    const [left] = await sql`
      select 1 from webhook_events where position(${id}::text in payload) > 0 or payload like '%Before%'`
    t.equal(left, undefined, 'values of the erased company are blank')
    t.match((await client.ok('POST', `/companies/${id}/erase`, {})).erased_at, /^20/)
  },
)

// Idempotency keys of writes that grant, sell, hold or change what is paid (decision 37, N20).
import { request } from 'node:http'
import t from 'tap'
import { canonical } from '../../src/front/http/request/idempotency-key.js'
import { routes } from '../../src/serve/routes.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

const { client, tollgate } = await startHere(t)
const world = new CreditWorld(client)
const under = (key: string) => ({ 'Idempotency-Key': key })
const replayed = (answer: { headers: Headers }) => answer.headers.get('idempotency-replayed')

t.test('N20 a grant sent twice under one key is one grant, and the first answer again', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const path = '/billing/credits/grants/company'
  const body = { company_id: company.id, credit_id: credit.id, quantity: 10, reason: 'free' }
  const first = await client.post(path, body, under('g1'))
  t.equal(first.status, 201)
  t.equal(replayed(first), null)
  const second = await client.post(path, body, under('g1'))
  t.equal(second.status, 201)
  t.equal(replayed(second), 'true')
  t.same(second.body, first.body)
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(body).reverse()), null, 2)
  t.equal(replayed(await client.post(path, sorted, under('g1'))), 'true', 'members in another order')
  t.equal((await world.balance(company.id, credit.id))[0], 10)
  const other = await client.post(path, { ...body, quantity: 11 }, under('g1'))
  t.equal(other.status, 409)
  t.match(other.body.error, /idempotency key/)
  t.equal((await client.put(`/company-plans/${company.id}`, { add_on_ids: [] }, under('g1'))).status, 409)

  const member = { ...body, idempotency_key: 'g2' }
  const [one, two] = await Promise.all([client.post(path, member), client.post(path, member)])
  t.same(one.body, two.body)
  t.same([replayed(one), replayed(two)].sort(), [null, 'true'].sort(), 'at the same time')
  t.equal(replayed(await client.post(path, member, under('g2'))), 'true', 'header and member are one key')
  t.equal((await client.post(path, member, under('g3'))).status, 400, 'two keys')
  t.equal((await client.post(path, body, under('x'.repeat(256)))).status, 400)
  t.equal((await world.balance(company.id, credit.id))[0], 20)
})

t.test('decision 37 members of one name keep their order: the last one counts', async t => {
  const same = (one: string, other: string) => canonical(one, 'key') === canonical(other, 'key')
  t.ok(same('{"q":1,"r":{"b":2,"a":[1,{"d":4,"c":3}]}}', '{ "r": {"a": [1, {"c":3, "d":4}], "b":2}, "q":1 }'))
  t.ok(same('{"key":"x","q":1}', '{"q":1,"key":"y"}'), 'the key does not count')
  t.notOk(same('{"r":{"key":"x"}}', '{"r":{"key":"y"}}'), 'of the whole alone')
  t.notOk(same('{"q":1,"q":2}', '{"q":2,"q":1}'))
  t.notOk(same('{"r":{"q":1,"q":2}}', '{"r":{"q":2,"q":1}}'))
  t.notOk(same('{"q":1,"\\u0071":2}', '{"\\u0071":2,"q":1}'), 'one name, written in two ways')
  t.ok(same('{"\\u0071":1}', '{"q":1}'))
  const credit = await world.credit()
  const company = await world.company()
  const path = '/billing/credits/grants/company'
  const grant = (first: number, last: number) =>
    `{"company_id":"${company.id}","credit_id":"${credit.id}","reason":"free","quantity":${first},"quantity":${last}}`
  t.equal((await client.post(path, grant(1, 2), under('doubled'))).status, 201)
  t.equal((await client.post(path, grant(2, 1), under('doubled'))).status, 409)
  t.equal(replayed(await client.post(path, grant(1, 2), under('doubled'))), 'true')
  t.equal((await world.balance(company.id, credit.id))[0], 2)
})

for (const server of ['auto', 'node'])
  t.test(`decision 37 two keys in one request are refused (${server})`, async t => {
    const own = await startHere(t, { TOLLGATE_HTTP: server })
    const here = new CreditWorld(own.client)
    const [credit, company] = [await here.credit(), await here.company()]
    const text = JSON.stringify({
      company_id: company.id,
      credit_id: credit.id,
      quantity: 10,
      reason: 'free',
    })
    const send = (keys: string[]) =>
      new Promise<number>((resolve, reject) => {
        const headers = {
          'X-Service-Api-Key': own.client.key,
          'Content-Type': 'application/json',
          'Idempotency-Key': keys,
        }
        const path = `${own.client.url}/billing/credits/grants/company`
        const sent = request(path, { method: 'POST', headers }, res => {
          res.resume()
          res.once('end', () => resolve(res.statusCode!))
        })
        sent.once('error', reject)
        sent.end(text)
      })
    t.equal(await send(['one', 'two']), 400)
    t.equal(await send(['', 'one', 'two']), 400)
    t.equal(await send(['']), 400, 'a key of no characters')
    t.equal(await send(['é']), 400, 'a key beyond ASCII')
    t.equal((await here.balance(company.id, credit.id))[0], 0)
    t.equal(await send(['one', 'one']), 201, 'the same one twice is one')
    t.equal(await send(['', 'one']), 201)
    t.equal((await here.balance(company.id, credit.id))[0], 10)
  })

t.test('decision 37 the header and the member are one key, whichever is sent first', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const other = await world.company()
  const grants = '/billing/credits/grants/company'
  const grant = { company_id: company.id, credit_id: credit.id, quantity: 10, reason: 'free' }
  const both = async (path: string, body: object, key: string, headerFirst: boolean) => {
    const byHeader = () => client.post(path, body, under(key))
    const byMember = () => client.post(path, { ...body, idempotency_key: key })
    const first = await (headerFirst ? byHeader() : byMember())
    const second = await (headerFirst ? byMember() : byHeader())
    t.match([first.status, second.status], [201, 201], `${path} ${key}`)
    t.equal(second.body.data.id, first.body.data.id, `${path} ${key}`)
    t.equal(replayed(second), 'true')
  }
  await both(grants, grant, 'both1', true)
  await both(grants, grant, 'both2', false)
  t.equal((await world.balance(company.id, credit.id))[0], 20)
  const nested = { ...grant, idempotency_key: 'both1', quantity: 11 }
  t.equal((await client.post(grants, nested)).status, 409, 'another body')

  const reservations = '/billing/credits/reservations'
  const hold = { company_id: company.id, credit_type_id: credit.id, amount: 2 }
  await both(reservations, hold, 'hold1', true)
  await both(reservations, hold, 'hold2', false)
  t.equal((await world.balance(company.id, credit.id))[0], 16)
  const elsewhere = await client.post(reservations, { ...hold, company_id: other.id }, under('hold2'))
  t.equal(elsewhere.status, 409, 'a key of another company')

  const wanted = { company_id: company.id, credit_type_id: credit.id, requested_amount: 2 }
  const { id } = await client.ok('POST', '/billing/credits/lease', wanted)
  const extend = (body: object, headers?: Record<string, string>) =>
    client.put(`/billing/credits/lease/${id}/extend`, body, headers)
  t.equal((await extend({ additional_amount: 1 }, under('more1'))).body.data.granted_amount, 3)
  t.equal((await extend({ additional_amount: 1, idempotency_key: 'more1' })).body.data.granted_amount, 3)
})

t.test('decision 37 an answer of 4xx leaves the key free', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const path = '/billing/credits/lease'
  const body = { company_id: company.id, credit_type_id: credit.id, requested_amount: 3 }
  t.equal((await client.post(path, body, under('l1'))).status, 402)
  await world.grant(company.id, credit.id, 10)
  const lease = await client.post(path, body, under('l1'))
  t.equal(lease.status, 201)
  await client.put(`${path}/${lease.body.data.id}/release`, undefined, under('l2'))
  const again = await client.post(path, body, under('l1'))
  t.equal(replayed(again), 'true')
  t.equal(again.body.data.id, lease.body.data.id, 'a lease that is over is not taken anew')
})

t.test('N20 every route that is keyed answers a repetition with its first answer', async t => {
  const credit = await world.credit()
  const grant = {
    credit_id: credit.id,
    credit_amount: 5,
    reset_cadence: 'monthly',
    reset_start: 'billing_period',
    reset_type: 'plan_period',
  }
  const plan = await publishedPlan(client, 'Keyed', [])
  const company = await world.company({ base_plan_id: plan.id })
  const made = await client.post('/billing/credits/plan-grants', { plan_id: plan.id, ...grant }, under('k1'))
  t.equal(made.status, 201)
  const remade = await client.post(
    '/billing/credits/plan-grants',
    { plan_id: plan.id, ...grant },
    under('k1'),
  )
  t.same(remade.body, made.body)
  const path = `/plans/version/${made.body.data.plan_version_id}/publish`
  const publish = { migration_strategy: 'immediate', excluded_company_ids: [] }
  const published = await client.put(path, publish, under('k2'))
  t.equal(published.status, 200)
  const twice = await client.put(path, publish, under('k2'))
  t.equal(twice.status, 200, 'without the key it is no draft any more')
  t.same(twice.body, published.body)
  t.equal(replayed(twice), 'true')
  const manage = {
    company_id: company.id,
    base_plan_id: plan.id,
    add_on_selections: [],
    pay_in_advance_entitlements: [],
    credit_bundles: [],
    custom_field_values: [],
  }
  const bundle = await client.ok('POST', '/billing/credits/bundles', {
    credit_id: credit.id,
    bundle_name: 'B',
    currency: 'usd',
    quantity: 7,
    price_per_unit: 0,
  })
  const bought = { ...manage, credit_bundles: [{ bundle_id: bundle.id, quantity: 1 }] }
  const sales = await Promise.all([1, 2, 3].map(() => client.post('/manage-plan', bought, under('k3'))))
  t.same(
    sales.map(({ status }) => status),
    [200, 200, 200],
    JSON.stringify(sales[0]?.body).slice(0, 300),
  )
  const [remaining] = await world.balance(company.id, credit.id)
  t.equal(remaining, 12, 'the plan gave 5, the bundle 7 once')
  const named = routes.filter(route => route.keyed !== null)
  t.ok(named.every(route => route.mutates && route.environmentRequired))
})

t.test('decision 37 the key is free again after 24 hours of the environment', async t => {
  const [environment] = (await client.ok('GET', '/environments')).filter(
    (one: { environment_type: string }) => one.environment_type === 'development',
  )
  const credit = await world.credit()
  const company = await world.company()
  const body = { company_id: company.id, credit_id: credit.id, quantity: 10, reason: 'free' }
  const path = '/billing/credits/grants/company'
  await client.post(path, body, under('day'))
  await client.ok('PUT', `/environments/${environment.id}/clock`, { offset_seconds: 86_400 - 60 })
  t.equal(replayed(await client.post(path, body, under('day'))), 'true')
  await client.ok('PUT', `/environments/${environment.id}/clock`, { offset_seconds: 86_400 + 60 })
  t.equal(replayed(await client.post(path, body, under('day'))), null)
  t.equal((await world.balance(company.id, credit.id))[0], 20)
})

t.test('decision 37 a key is not free while its environment has the same day', async t => {
  const { sql, paidWrites } = tollgate.services
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (body: object) => client.ok('PUT', `/environments/${environmentId}/clock`, body)
  const credit = await world.credit()
  const company = await world.company()
  const body = { company_id: company.id, credit_id: credit.id, quantity: 10, reason: 'free' }
  const path = '/billing/credits/grants/company'
  await clock({ now: '2041-04-01T12:00:00.000Z', frozen: true })
  await client.post(path, body, under('still'))
  await client.post(path, body, under('unanswered'))
  await sql`update paid_writes set status = null, body = null, owner = 'dead' where key = 'unanswered'`
  /** Three days pass outside. */
  const later = async () => {
    await sql`update paid_writes set made_at = made_at - interval '3 days'`
    await sql`update paid_effects set made_at = made_at - interval '3 days'`
    await paidWrites.prune(sql)
  }
  await later()
  t.equal(replayed(await client.post(path, body, under('still'))), 'true')
  t.equal((await client.post(path, body, under('unanswered'))).status, 202, 'its change is known')
  t.equal((await world.balance(company.id, credit.id))[0], 20)
  const left = async () =>
    (await sql`select key from paid_writes where key in ('still', 'unanswered')`).length
  t.equal(await left(), 2)
  await clock({ now: '2041-04-02T12:00:00.000Z', frozen: true })
  await later()
  t.equal(await left(), 0, 'after a day of its time')
})

t.test('decision 37 the first answer again has its headers', async t => {
  const { keys } = await world.company()
  const body = { keys, trait: 'stored', set: '7' }
  const brief = { ...under('brief'), Prefer: 'return=minimal' }
  const applied = (answer: { headers: Headers }) => answer.headers.get('preference-applied')
  const first = await client.post('/company-traits', body, brief)
  t.equal(applied(first), 'return=minimal')
  const again = await client.post('/company-traits', body, brief)
  t.same([replayed(again), applied(again)], ['true', 'return=minimal'])
  t.same(again.body, first.body)
  await client.post('/company-traits', body, under('whole'))
  const whole = await client.post('/company-traits', body, { ...under('whole'), Prefer: 'return=minimal' })
  t.same([replayed(whole), applied(whole)], ['true', null], 'the whole answer was the first')
})

t.test('decision 37 a change whose answer was lost is not made again', async t => {
  const credit = await world.credit()
  const company = await world.company()
  const body = { company_id: company.id, credit_id: credit.id, quantity: 10, reason: 'free' }
  const path = '/billing/credits/grants/company'
  await client.post(path, body, under('lost'))
  // as a process leaves it that was killed after the change and before its answer was stored
  const { sql } = tollgate.services
  await sql`update paid_writes set status = null, body = null, owner = 'dead' where key = 'lost'`
  const again = await client.post(path, body, under('lost'))
  t.equal(again.status, 202)
  t.same(again.body.data, { taken: true })
  t.equal(replayed(again), 'true')
  // and before the change
  await client.post(path, body, under('before'))
  await sql`
    with gone as (update paid_writes set status = null, body = null, owner = 'dead', claim = 'unmade' where key = 'before' returning claim)
    select 1 from gone`
  t.equal((await client.post(path, body, under('before'))).status, 201)
  t.equal((await world.balance(company.id, credit.id))[0], 30)
})

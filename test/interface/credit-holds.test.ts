// Leases and reservations that inference events settle, what publishable keys may not send, spend policies, and holds
// read and listed.
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { isShaped } from '../control/shape.js'
import { startHere } from '../harness.js'
import { CreditWorld, creditShapes } from './credit-world.js'

const { client } = await startHere(t)
const world = new CreditWorld(client)

/** A company with credits, on a plan that prices an inference feature; each request of a model costs `rate` credits. */
async function inferenceCompany(quantity: number, rate: number) {
  const credit = await world.credit()
  const label = `model-${credit.id.slice(5)}`
  const feature = await client.ok('POST', '/features', {
    name: label,
    description: '',
    feature_type: 'event',
    event_subtype: label,
    event_source: 'inference',
  })
  const plan = await publishedPlan(client, `Plan ${label}`, [
    {
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: rate,
      price_behavior: 'credit_burndown',
    },
  ])
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, quantity)
  const inference = (more: object = {}) => ({
    event_type: 'inference',
    body: {
      company: company.keys,
      provider: 'tollgate',
      response_model: 'sample-large',
      input_tokens: 10,
      output_tokens: 5,
      event: label,
      ...more,
    },
  })
  return { credit, company, inference, figures: () => world.balance(company.id, credit.id) }
}

t.test('CR-71, CR-81 an inference event settles the lease or reservation that it names', async t => {
  const { credit, company, inference, figures } = await inferenceCompany(100, 5)
  const of = { company_id: company.id, credit_type_id: credit.id }
  const reserve = () => client.ok('POST', '/billing/credits/reservations', { ...of, amount: 40 })
  const reservation = await reserve()
  t.same(await figures(), [60, 40, 100])
  const settled = await client.ok(
    'POST',
    '/events',
    inference({ requests: 3, reservation_id: reservation.id }),
  )
  t.same(await figures(), [85, 0, 85], 'CR-81 15 taken from the hold, 25 came back')
  t.match(await client.ok('GET', `/events/${settled.event_id}`), {
    reservation_id: reservation.id,
    lease_id: null,
  })

  const lease = await client.ok('POST', '/billing/credits/lease', { ...of, requested_amount: 50 })
  const both = await reserve().catch(() => null)
  t.equal(both, null, '35 are left')
  const small = await client.ok('POST', '/billing/credits/reservations', { ...of, amount: 10 })
  await client.ok('POST', '/event-batch', {
    events: [inference({ requests: 2, lease_id: lease.id, reservation_id: small.id })],
  })
  t.same(await figures(), [25, 50, 75], 'CR-83 the lease pays, the reservation stays')
  t.match(await client.ok('PUT', `/billing/credits/lease/${lease.id}/release`), { tracked_amount: 10 })
  t.same(await figures(), [65, 10, 75])
  await client.ok('POST', '/events', inference({ lease_id: lease.id }))
  t.same(await figures(), [60, 10, 70], 'CR-77 a lease that is over: drawn directly')
  await world.agrees(t, company.id, credit.id, 'the ledger agrees')
})

t.test('decision 31 (D8) publishable keys send no inference events', async t => {
  const { inference, figures } = await inferenceCompany(10, 1)
  const [{ secret: publishable }] = await publishableKeys()
  const browser = client.as(publishable)
  const refused = await browser.post('/events', inference())
  t.match(refused, { status: 403, body: { error: /inference/ } })
  const failed = await browser.ok('POST', '/event-batch?report=true', { events: [inference()] })
  t.match(failed, { events: [{ error: /inference/ }] }, 'in a batch it alone fails')
  const collected = await client.ok('POST', '/batch', {
    events: [{ ...inference(), event_type: undefined, type: 'inference', api_key: publishable }],
  })
  for (const id of [failed.events[0].event_id, collected.events[0].event_id])
    t.match(await client.ok('GET', `/events/${id}`), { status: 'failed', error_message: /inference/ })
  const lines = Array.from({ length: 2_000 }, () => JSON.stringify(inference())).join('\n')
  const large = await browser.send('POST', '/event-batch?report=true', lines, {
    'Content-Type': 'application/x-ndjson',
  })
  t.equal(large.status, 201)
  t.ok(
    large.body.data.events.every((one: { error: string }) => /inference/.test(one.error)),
    'in a large one too',
  )
  t.same(await figures(), [10, 0, 10], 'nothing was drawn')
})

t.test('CR-98, decision 27 (D13) a spend policy holds for checks, holds and draws', async t => {
  const credit = await world.credit()
  const { subtype, flag, plan } = await world.metered(credit.id, 2)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 1_000)
  await client.ok('POST', '/billing/credits/spend-policies', {
    billing_credit_id: credit.id,
    max_per_draw: 20,
    company_id: company.id,
  })
  const figures = () => world.balance(company.id, credit.id)
  const check = async (preflight: object | null) => {
    const body = { company: company.keys, ...(preflight && { preflight }) }
    return (await client.ok('POST', `/flags/${flag.key}/check`, body)).value
  }
  t.equal(await check(null), true, 'a plain check names no use')
  t.equal(await check({ usage: 10 }), true)
  t.equal(await check({ usage: 11 }), false)
  t.equal(await check({ event_usage: { event_subtype: subtype, quantity: 11 } }), false)
  t.equal(await check({ credit_cost: { [credit.id]: 20.000000001 } }), false)
  t.equal(await check({ credit_cost: { [credit.id]: 20 } }), true)
  const of = { company_id: company.id, credit_type_id: credit.id }
  t.equal((await client.post('/billing/credits/lease', { ...of, requested_amount: 21 })).status, 402)
  t.equal((await client.post('/billing/credits/reservations', { ...of, amount: 21 })).status, 402)
  const lease = await client.ok('POST', '/billing/credits/lease', { ...of, requested_amount: 20 })
  const more = { additional_amount: 21 }
  t.equal((await client.put(`/billing/credits/lease/${lease.id}/extend`, more)).status, 402)
  await client.ok('PUT', `/billing/credits/lease/${lease.id}/release`)
  t.same(await figures(), [1_000, 0, 1_000])

  const event = (quantity: number, more: object = {}) => ({
    event_type: 'track',
    body: { event: subtype, company: company.keys, quantity, ...more },
    idempotency_key: `capped-${quantity}`,
  })
  const alone = await client.ok('POST', '/events', event(11))
  const failed = { status: 'failed', error_message: /spend policy/ }
  t.match(await client.ok('GET', `/events/${alone.event_id}`), failed)
  const { events } = await client.ok('POST', '/event-batch?report=true', {
    events: [event(10), event(12), event(13, { traits: { a: 1 } })],
  })
  t.match(
    events.map((one: { error: string | null }) => one.error),
    [null, /spend policy/, /spend policy/],
    'each is judged alone',
  )
  t.match(await client.ok('GET', `/events/${events[1].event_id}`), failed)
  const inHold = await client.ok('POST', '/billing/credits/reservations', { ...of, amount: 20 })
  await client.ok('POST', '/events', { ...event(14, { reservation_id: inHold.id }) })
  t.same(await figures(), [960, 20, 980], 'whatever would pay for it')
  await client.ok('PUT', `/billing/credits/reservations/${inHold.id}/release`)
  const usage = await client.ok('GET', `/feature-usage?company_id=${company.id}`)
  t.match(JSON.stringify(usage), /"usage":10|"credit_used":20/)
  t.same(await figures(), [980, 0, 980])

  const policies = await client.ok('GET', `/billing/credits/spend-policies?company_id=${company.id}`)
  await client.ok('PUT', `/billing/credits/spend-policies/${policies[0].id}`, { max_per_draw: 100 })
  const again = await client.ok('POST', '/event-batch?report=true', {
    events: [event(10), event(11), event(12), event(13)],
  })
  t.ok(again.events.every((one: { error: string | null }) => one.error === null))
  t.not(again.events[1].event_id, alone.event_id, 'EV-28 a failed event keeps no key')
  t.same(await figures(), [908, 0, 908], 'the first was counted before')
  await world.agrees(t, company.id, credit.id, 'the ledger agrees')
})

t.test('decision 27 a policy of a user holds where a user is named', async t => {
  const credit = await world.credit()
  const { subtype, flag, plan } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 100)
  const who = { mail: company.keys.slug }
  const user = await client.ok('POST', '/users', {
    keys: { mail: company.keys.slug },
    companies: [company.keys],
  })
  await client.ok('POST', '/billing/credits/spend-policies', {
    billing_credit_id: credit.id,
    max_per_draw: 5,
    user_id: user.id,
  })
  const check = async (who: object) =>
    (
      await client.ok('POST', `/flags/${flag.key}/check`, {
        company: company.keys,
        preflight: { usage: 6 },
        ...who,
      })
    ).value
  t.equal(await check({ user: who }), false)
  t.equal(await check({}), true)
  const of = { company_id: company.id, credit_type_id: credit.id }
  const hold = await client.ok('POST', '/billing/credits/reservations', { ...of, amount: 6 })
  await client.ok('PUT', `/billing/credits/reservations/${hold.id}/release`)
  const track = (who: object) => world.track(subtype, company.keys, { quantity: 6, ...who })
  const mine = await track({ user: who })
  t.match(await client.ok('GET', `/events/${mine.event_id}`), { status: 'failed' })
  await track({})
  t.same(await world.balance(company.id, credit.id), [94, 0, 94])
})

t.test('leases and reservations are read one by one and listed, by company, credit and state', async t => {
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  const other = await world.company()
  for (const { id } of [company, other]) await world.grant(id, credit.id, 100)
  const reserve = (company_id: string, amount: number, more: object = {}) =>
    client.ok('POST', '/billing/credits/reservations', {
      company_id,
      credit_type_id: credit.id,
      amount,
      ...more,
    })
  const path = '/billing/credits/reservations'
  const listed = async (query: string, at = path) =>
    (await client.ok('GET', `${at}?${query}`)).map((one: { id: string }) => one.id)
  const soon = new Date(Date.now() + 30 * 60_000).toISOString()
  const [open, settled, released] = [
    await reserve(company.id, 10, { expires_at: soon }),
    await reserve(company.id, 20, { expires_at: soon }),
    await reserve(company.id, 5, { expires_at: soon }),
  ]
  const others = await reserve(other.id, 7, { expires_at: soon })
  await world.track(subtype, company.keys, { quantity: 25, reservation_id: settled.id })
  const gone = await client.ok('PUT', `${path}/${released.id}/release`)
  t.same(await client.ok('GET', `${path}/${open.id}`), open)
  t.same(await client.ok('GET', `${path}/${released.id}`), gone)
  const over = await client.ok('GET', `${path}/${settled.id}`)
  isShaped(t, over, creditShapes.reservation, 'CreditReservation')
  t.match(over, { reserved_amount: 20, settled_amount: 25, released_at: String })
  const of = `company_id=${company.id}`
  t.same(await listed(of), [released.id, settled.id, open.id], 'newest first')
  t.same(await listed(`${of}&state=open`), [open.id])
  t.same(await listed(`${of}&state=settled`), [settled.id])
  t.same(await listed(`${of}&state=released`), [released.id])
  t.same(await listed(`${of}&state=expired`), [])
  t.same(await listed(`credit_type_id=${credit.id}&state=open`), [others.id, open.id])
  t.same(await listed(`credit_type_id=${(await world.credit()).id}`), [])
  t.same(await listed(`${of}&limit=1&offset=1`), [settled.id])
  t.same(await client.ok('GET', `${path}/count?${of}`), { count: 3 })
  t.match(await client.get(`${path}?state=lost`), { status: 400, body: { error: /state/ } })

  const lease = await client.ok('POST', '/billing/credits/lease', {
    company_id: company.id,
    credit_type_id: credit.id,
    requested_amount: 30,
  })
  await client.ok('PUT', `/billing/credits/lease/${lease.id}/extend`, {
    additional_amount: 10,
    expires_at: soon,
  })
  await world.track(subtype, company.keys, { quantity: 4, lease_id: lease.id })
  const leased = await client.ok('GET', `/billing/credits/lease/${lease.id}`)
  isShaped(t, leased, creditShapes.lease, 'CreditLease')
  t.match(leased, { granted_amount: 40, tracked_amount: 4, expires_at: soon, released_at: null })
  t.same(await listed(`${of}&state=open`, '/billing/credits/lease'), [lease.id])
  t.same(await client.ok('GET', `/billing/credits/lease/count?${of}`), { count: 1 })
  t.equal((await client.get(`/billing/credits/lease/${open.id}`)).status, 404, 'a reservation is no lease')
  t.equal((await client.get(`${path}/crlse_2222222222222222222222`)).status, 404)

  await world.clock(new Date(Date.now() + 3_600_000).toISOString())
  t.teardown(() => world.clock(null))
  t.same(await listed(`${of}&state=open`), [], 'CR-76 exact at the end, swept or not')
  t.same(await listed(`${of}&state=expired`), [open.id])
  t.match(await client.ok('GET', `${path}/${open.id}`), { released_at: soon, settled_amount: 0 })
  await world.balance(company.id, credit.id)
  t.match(await client.ok('GET', `${path}/${open.id}`), { released_at: soon, updated_at: soon })
})

async function publishableKeys() {
  const { environment_id: id } = await client.ok('GET', '/whoami')
  const keys = await client.ok('GET', `/api-keys?require_environment=true&environment_id=${id}`)
  return keys.filter((key: { secret?: string }) => key.secret?.startsWith('pk_'))
}

// Spend policies of windows and GET /costs over HTTP.
import t from 'tap'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'
import { isSigned, receiver } from './receiver.js'

const { client, tollgate } = await startHere(t, { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' })
const world = new CreditWorld(client)
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

const { environment_id: environmentId } = await client.ok('GET', '/whoami')
await client.ok('PUT', `/environments/${environmentId}/clock`, { now: '2031-05-05T10:30:00Z', frozen: true })
const credit = await world.credit({ currency_prices: [{ currency: 'usd', price_per_unit: 50 }] })
const metered = await world.metered(credit.id, 1)
const company = await world.company()
await client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: metered.plan.id })
await world.grant(company.id, credit.id, 1_000)
const policies = '/billing/credits/spend-policies'
const put = (body: object) => client.ok('POST', policies, { billing_credit_id: credit.id, ...body })
const statusOf = async (body: object) =>
  (await client.post(policies, { billing_credit_id: credit.id, ...body })).status
/** The event as it is stored: failed where a policy refuses it. */
const use = async (quantity: number, more: object = {}): Promise<{ error: string | null }> => {
  const { event_id } = await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: metered.subtype, company: company.keys, quantity, ...more },
  })
  const { error_message: error } = await client.ok('GET', `/events/${event_id}`)
  return { error }
}
const left = async () => (await world.balance(company.id, credit.id))[0]

t.test('BU-1 a policy bounds a draw or a window, of one company, user or group', async t => {
  const own = { company_id: company.id }
  t.equal(await statusOf({ ...own }), 400, 'no bound')
  t.equal(await statusOf({ ...own, max_per_draw: 1, max_spend: 1, period: 'day' }), 400, 'two bounds')
  t.equal(await statusOf({ ...own, max_spend: 1 }), 400, 'no period')
  t.equal(await statusOf({ max_spend: 1, period: 'day' }), 400, 'nobody')
  t.equal(await statusOf({ group_trait: 'team', max_spend: 1, period: 'day' }), 400, 'half a group')
  t.equal(
    await statusOf({ ...own, max_spend: 1, period: 'day', unit: 'cost', currency: 'eur' }),
    400,
    'no price',
  )
  const made = await put({
    ...own,
    max_spend: 600,
    period: 'month',
    unit: 'cost',
    currency: 'USD',
    mode: 'soft',
  })
  t.match(made, {
    period: 'month',
    max_spend: 600,
    unit: 'cost',
    currency: 'usd',
    mode: 'soft',
    max_per_draw: null,
  })
  t.equal(await statusOf({ ...own, max_spend: 2, period: 'month', mode: 'soft' }), 400, 'there is one')
  t.equal((await client.put(`${policies}/${made.id}`, { max_per_draw: 3 })).status, 400)
  t.match(await client.ok('PUT', `${policies}/${made.id}`, { max_spend: 700 }), {
    max_spend: 700,
    mode: 'soft',
  })
})

t.test(
  'BU-3 BU-4 BU-5 a hard policy refuses events, leases, reservations and preflights, and names itself',
  async t => {
    const { id } = await put({ company_id: company.id, max_spend: 10, period: 'hour', label: 'Hourly' })
    t.equal((await use(6)).error, null)
    const why = new RegExp(
      `^Spend policy Hourly \\(${id}\\) allows 10 credits in an hour, of which 6 are spent; it resets at 2031-05-05T11:00:00.000Z`,
    )
    t.match((await use(5)).error, why)
    t.equal(await left(), 994, 'the event that failed drew nothing')
    const lease = (amount: number) =>
      client.post('/billing/credits/lease', {
        company_id: company.id,
        credit_type_id: credit.id,
        requested_amount: amount,
      })
    const refused = await lease(5)
    t.equal(refused.status, 402)
    t.match(refused.body.error, why)
    const check = (quantity: number) =>
      client.ok('POST', `/flags/${metered.flag.key}/check`, {
        company: company.keys,
        preflight: { event_usage: { event_subtype: metered.subtype, quantity } },
      })
    t.match(await check(4), { value: true })
    t.match(await check(5), { value: false, reason: why })
    const taken = await lease(4)
    t.equal(taken.status, 201)
    t.match(await check(1), { value: false })
    await client.ok('PUT', `/billing/credits/lease/${taken.body.data.id}/release`)
    t.match(await check(4), { value: true }, 'what was given back may be spent')
    await client.ok('PUT', `/environments/${environmentId}/clock`, {
      now: '2031-05-05T11:00:00Z',
      frozen: true,
    })
    t.match(await check(10), { value: true }, 'the next hour')
    t.equal((await use(10)).error, null)
    t.match((await use(1)).error, /of which 10 are spent; it resets at 2031-05-05T12/)
    await client.ok('DELETE', `${policies}/${id}`)
    t.equal((await use(1)).error, null)
  },
)

t.test('BU-3 BU-4 what a lease pays counts for the policies of the user and group that use it', async t => {
  const leasing = await world.company()
  await client.ok('PUT', `/company-plans/${leasing.id}`, { base_plan_id: metered.plan.id })
  await world.grant(leasing.id, credit.id, 100)
  const user = await client.ok('POST', '/users', { keys: { id: 'heavy' }, company_ids: [leasing.id] })
  const { id } = await put({ user_id: user.id, max_spend: 3, period: 'day' })
  await put({ group_trait: 'crew', group_value: 'night', max_spend: 2, period: 'day' })
  const company = { company_id: leasing.id, credit_type_id: credit.id }
  const { id: lease } = await client.ok('POST', '/billing/credits/lease', {
    ...company,
    requested_amount: 50,
  })
  const spend = (quantity: number, more: object) =>
    use(quantity, { company: leasing.keys, lease_id: lease, ...more })
  const heavy = { user: { id: 'heavy' } }
  t.equal((await spend(2, heavy)).error, null)
  t.match((await spend(2, heavy)).error, `${id} allows 3 credits in a day, of which 2 are spent`)
  t.equal((await spend(1, heavy)).error, null)
  t.match((await spend(1, heavy)).error, /of which 3 are spent/)
  t.match((await spend(3, { traits: { crew: 'night' } })).error, /allows 2 credits in a day/)
  t.equal((await spend(10, {})).error, null, 'others go on')
  t.match(await client.ok('PUT', `/billing/credits/lease/${lease}/release`), { tracked_amount: 13 })
})

t.test('BU-2 groups go by a trait of the event', async t => {
  await put({ group_trait: 'agent', group_value: 'crawler', max_spend: 3, period: 'day' })
  const by = (agent: string, quantity: number) => use(quantity, { traits: { agent } })
  t.equal((await by('crawler', 3)).error, null)
  t.match((await by('crawler', 1)).error, /of which 3 are spent/)
  t.equal((await by('writer', 5)).error, null)
  t.equal((await use(1)).error, null, 'of no group')
  t.match(await client.ok('GET', `${policies}?scope_type=group`), [
    { scope_type: 'group', group_value: 'crawler' },
  ])
})

t.test('BU-7 costs, credits at their price, and the margin', async t => {
  const other = await world.company()
  await client.ok('PUT', `/company-plans/${other.id}`, { base_plan_id: metered.plan.id })
  await world.grant(other.id, credit.id, 100)
  const infer = (cost: string) =>
    client.ok('POST', '/events', {
      event_type: 'inference',
      body: {
        company: other.keys,
        provider: 'p',
        response_model: 'm1',
        input_tokens: 1,
        output_tokens: 1,
        cost,
        currency: 'usd',
        event: metered.subtype,
      },
    })
  await infer('0.10')
  await infer('0.15')
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: metered.subtype, company: other.keys, quantity: 4 },
  })
  const [row] = await client.ok('GET', `/costs?company_id=${other.id}`)
  t.match(row, {
    company_id: other.id,
    currency: 'usd',
    inference_count: 2,
    cost: '0.25',
    revenue: '3',
    margin: '2.75',
  })
  const models: Body[] = await client.ok('GET', `/costs?company_id=${other.id}&by=model`)
  t.match(
    models.find(one => one.model === 'm1'),
    { cost: '0.25', revenue: '1', margin: '0.75' },
  )
  t.match(
    models.find(one => one.model === null),
    { cost: '0', revenue: '2' },
  )
  const [euros] = await client.ok('GET', `/costs?company_id=${other.id}&currency=eur&by=day`)
  t.match(euros, { cost: '0', revenue: null, margin: null, other_costs: [{ currency: 'usd', cost: '0.25' }] })
  t.equal((await client.get('/costs?start_time=2020-01-01&end_time=2031-01-01')).status, 400)

  // a draw of a user's use; the model of it is asked for or is not
  const user = await client.ok('POST', '/users', { keys: { id: 'burner' }, company_ids: [other.id] })
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: metered.subtype, company: other.keys, user: { id: 'burner' }, quantity: 8 },
  })
  for (const by of ['user', 'user&by=model'])
    t.match(
      await client.ok('GET', `/costs?company_id=${other.id}&user_id=${user.id}&by=${by}`),
      [{ user_id: user.id, model: null, inference_count: 0, cost: '0', revenue: '4', margin: '4' }],
      by,
    )
  t.match(await client.ok('GET', `/costs?company_id=${other.id}&model=m1`), [{ cost: '0.25', revenue: '1' }])
  t.same(await client.ok('GET', `/costs?company_id=${other.id}&model=m2`), [])
})

t.test('BU-6 webhooks hear once in a window that a bound is reached, hard or soft', async t => {
  const here = await receiver(t)
  const { secret } = await client.ok('POST', '/webhooks', {
    name: 'budgets',
    url: here.url,
    request_types: ['spend_policy.reached'],
  })
  const spender = await world.company()
  await client.ok('PUT', `/company-plans/${spender.id}`, { base_plan_id: metered.plan.id })
  await world.grant(spender.id, credit.id, 1_000)
  const own = { company_id: spender.id }
  const soft = await put({ ...own, max_spend: 5, period: 'day', mode: 'soft' })
  const hard = await put({ ...own, max_spend: 8, period: 'hour' })
  const spend = (quantity: number) => use(quantity, { company: spender.keys })
  const heard = () => here.of('spend_policy.reached').map(({ json }) => json)
  const settled = async () => {
    await tollgate.services.projections.barrier('postgres')
    await tollgate.services.outbox.drain()
  }
  t.equal((await spend(4)).error, null)
  await settled()
  t.same(heard(), [], '4 of 5')
  t.equal((await spend(2)).error, null)
  await here.until(1)
  t.ok(isSigned(here.received[0]!, secret))
  t.match(heard()[0], {
    company_id: spender.id,
    body: { spend_policy_id: soft.id, spent: 6, max_spend: 5, resets_at: '2031-05-06T00:00:00.000Z' },
  })
  t.equal((await spend(2)).error, null, 'a soft policy denies nothing')
  await here.until(2)
  t.match(heard()[1], {
    body: { spend_policy_id: hard.id, spent: 8, max_spend: 8, resets_at: '2031-05-05T12:00:00.000Z' },
  })
  t.match((await spend(1)).error, /of which 8 are spent/, 'a hard one does')
  await settled()
  t.equal(heard().length, 2, 'each was told once')
  await client.ok('PUT', `/environments/${environmentId}/clock`, {
    now: '2031-05-05T12:00:00Z',
    frozen: true,
  })
  t.equal((await spend(8)).error, null)
  await here.until(3)
  await settled()
  t.match(heard().slice(2), [{ body: { spend_policy_id: hard.id } }], 'once more in the next hour')
  t.equal(heard().length, 3, 'the day is the same')
})

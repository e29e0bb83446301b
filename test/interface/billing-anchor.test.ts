// The day and time on which a subscription is billed: kept through short months, moved by a trial that converts.
import t, { type Test } from 'tap'
import { addMonthsClamped } from '../../src/core/values/period.js'
import { eventFeature, publishDraftOf } from '../control/planned.js'
import { type Client, startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'

const nothingElse = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}
const iso = (ms: number) => new Date(ms).toISOString()
const ms = (text: string) => Date.parse(text)

async function sold(client: Client, name: string, billing: object, entitlements: readonly object[] = []) {
  const plan = await client.ok('POST', '/plans', { name, description: '', plan_type: 'plan' })
  for (const one of entitlements) await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...one })
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    ...billing,
  })
  return publishDraftOf(client, plan.id)
}

async function world(t: Test) {
  const { client, tollgate } = await startHere(t)
  const { environment_id: id } = await client.ok('GET', '/whoami')
  const clock = (now: string | number) =>
    client.ok('PUT', `/environments/${id}/clock`, { now: iso(new Date(now).getTime()), frozen: true })
  const feature = await eventFeature(client, 'Calls', 'call')
  const monthly = {
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 100,
    metric_period: 'current_month',
    metric_period_month_reset: 'billing_cycle',
  }
  const subscription = async (company: string) => {
    const { billing_subscription: one } = await client.ok('GET', `/companies/${company}`)
    return { status: one.status, start: iso(one.period_start * 1000), end: iso(one.period_end * 1000) }
  }
  const resetsAt = async (company: string) => {
    const { entitlement } = await client.ok('POST', `/flags/${feature.flags[0].key}/check`, {
      company: { id: company },
    })
    return entitlement.metric_reset_at
  }
  return { client, tollgate, clock, monthly, subscription, resetsAt }
}

t.test('F1 a subscription of the 31st has twelve windows in a year, and comes back to the 31st', async t => {
  const { client, clock, monthly, subscription, resetsAt } = await world(t)
  const begins = ms('2027-01-31T09:00:00Z')
  await clock(begins)
  const plan = await sold(client, 'Paid', { monthly_price: 900 }, [monthly])
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'a' } })
  await client.ok('POST', '/manage-plan', {
    ...nothingElse,
    company_id: id,
    base_plan_id: plan.id,
    base_plan_price_id: plan.monthly_price.id,
  })
  for (let month = 0; month < 12; month++) {
    const [from, to] = [addMonthsClamped(begins, month), addMonthsClamped(begins, month + 1)]
    for (const at of [from, from + (to - from) / 2, to - 1]) {
      await clock(at)
      t.equal(ms(await resetsAt(id)), to, `the window at ${iso(at)}`)
    }
    t.match(await subscription(id), { status: 'active', start: iso(from), end: iso(to) })
  }
})

t.test('F1 a provider gives the anchor, or its bounds show it', async t => {
  const { client, clock, monthly, resetsAt } = await world(t)
  await clock('2027-02-28T09:00:00Z')
  const linked = await linkedPlan(client, 'Linked', [monthly])
  const companyOf = async (slug: string) => (await client.ok('POST', '/companies', { keys: { slug } })).id
  const tell = (id: string, company: string, more: object) =>
    client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody(id, company, [linked], { company_id: company, status: 'active', ...more }),
    )
  const [shown, told, late] = [await companyOf('shown'), await companyOf('told'), await companyOf('late')]
  const bounds = {
    period_start: seconds('2027-02-28T09:00:00Z'),
    period_end: seconds('2027-03-31T09:00:00Z'),
  }
  await tell('shown', shown, bounds)
  await tell('told', told, {
    interval: 'year',
    period_start: seconds('2027-02-28T09:00:00Z'),
    period_end: seconds('2028-02-28T09:00:00Z'),
    billing_cycle_anchor: seconds('2026-08-30T09:00:00Z'),
  })
  // a clamped month in a row: the day known before stays
  await tell('late', late, {
    period_start: seconds('2027-01-31T09:00:00Z'),
    period_end: seconds('2027-02-28T09:00:00Z'),
  })
  await tell('late', late, { period_start: seconds('2027-02-28T09:00:00Z'), period_end: null })
  t.equal(await resetsAt(shown), '2027-03-31T09:00:00.000Z')
  t.equal(await resetsAt(told), '2027-03-30T09:00:00.000Z')
  t.equal(await resetsAt(late), '2027-03-31T09:00:00.000Z')
  // the first day on which the provider billed, and the first day known, are the last of a short month
  const [first, known] = [await companyOf('first'), await companyOf('known')]
  const short = seconds('2027-02-28T09:00:00Z')
  await tell('first', first, { ...bounds, billing_cycle_anchor: short })
  await tell('known', known, { period_start: short, period_end: seconds('2027-03-28T09:00:00Z') })
  await tell('known', known, bounds)
  // without a renewal told
  for (const [at, ofThe30th, ofThe31st] of [
    ['2027-04-01', '2027-04-30', '2027-04-30'],
    ['2027-05-01', '2027-05-30', '2027-05-31'],
    ['2027-06-01', '2027-06-30', '2027-06-30'],
  ] as const) {
    await clock(`${at}T00:00:00Z`)
    for (const [company, day] of [
      [shown, ofThe31st],
      [told, ofThe30th],
      [late, ofThe31st],
      [first, ofThe31st],
      [known, ofThe31st],
    ])
      t.equal(await resetsAt(company!), `${day}T09:00:00.000Z`, `${company} on ${at}`)
  }
})

t.test('N16 a scheduled downgrade leaves the billing day', async t => {
  const { client, tollgate, clock, subscription } = await world(t)
  await clock('2027-01-31T09:00:00Z')
  const high = await sold(client, 'High', { monthly_price: 900 })
  const low = await sold(client, 'Low', { monthly_price: 100 })
  await offerPlans(client, tollgate, {}, { scheduled_downgrade_behavior: 'end_of_billing_period' })
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'a' } })
  const choose = (plan: { id: string; monthly_price: { id: string } }) =>
    client.ok('POST', '/manage-plan', {
      ...nothingElse,
      company_id: id,
      base_plan_id: plan.id,
      base_plan_price_id: plan.monthly_price.id,
    })
  await choose(high)
  await clock('2027-02-10T00:00:00Z')
  await choose(low)
  await clock('2027-03-01T00:00:00Z')
  t.equal((await client.ok('GET', `/companies/${id}`)).plan.id, low.id)
  t.match(await subscription(id), { start: '2027-02-28T09:00:00.000Z', end: '2027-03-31T09:00:00.000Z' })
})

t.test('F5 N15 a paid period begins where the trial ends, extended or not', async t => {
  const { client, clock, monthly, subscription, resetsAt } = await world(t)
  await clock('2027-06-15T10:00:00Z')
  const plan = await sold(client, 'Tried', { monthly_price: 900, is_trialable: true, trial_days: 30 }, [
    monthly,
  ])
  const begin = async (slug: string) => {
    const { id } = await client.ok('POST', '/companies', { keys: { slug } })
    await client.ok('POST', '/manage-plan', {
      ...nothingElse,
      company_id: id,
      base_plan_id: plan.id,
      base_plan_price_id: plan.monthly_price.id,
    })
    return id as string
  }
  const [plain, longer, shorter] = [await begin('plain'), await begin('longer'), await begin('shorter')]
  t.match(await subscription(plain), { status: 'trialing', end: '2027-07-15T10:00:00.000Z' })
  const trialOf = async (id: string) =>
    (await client.ok('GET', `/companies/${id}`)).billing_subscription.id as string
  await client.ok('PUT', `/subscription/${await trialOf(longer)}/edit-trial-end`, {
    trial_end: '2027-08-05T10:00:00Z',
  })
  await clock('2027-06-20T12:00:00Z')
  await client.ok('PUT', `/subscription/${await trialOf(shorter)}/edit-trial-end`, {})
  t.match(await subscription(shorter), {
    status: 'active',
    start: '2027-06-20T12:00:00.000Z',
    end: '2027-07-20T12:00:00.000Z',
  })
  await clock('2027-07-15T10:00:00Z')
  const paid = { status: 'active', start: '2027-07-15T10:00:00.000Z', end: '2027-08-15T10:00:00.000Z' }
  t.match(await subscription(plain), paid)
  t.equal(await resetsAt(plain), paid.end)
  t.match(await subscription(longer), { status: 'trialing', end: '2027-08-05T10:00:00.000Z' })
  await clock('2027-08-05T10:00:00Z')
  t.match(await subscription(longer), {
    status: 'active',
    start: '2027-08-05T10:00:00.000Z',
    end: '2027-09-05T10:00:00.000Z',
  })
  await clock('2027-10-04T00:00:00Z')
  t.match(await subscription(longer), { start: '2027-09-05T10:00:00.000Z', end: '2027-10-05T10:00:00.000Z' })
})

// Units that were paid for and not credited count until the end of its period: who takes it again pays only for more (RA-14).
import t from 'tap'
import { startHere } from '../harness.js'
import { type Linked, linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

/** Prices: 100 for each day of January. */
const daily = 3100

t.test('RA-14, RA-29 without proration, seats that come again are paid for already', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const entitlement = { feature_id: seats.id, value_type: 'trait', price_behavior: 'pay_in_advance' }
  const team = await world.sold('Team', [{ ...entitlement, monthly_unit_price: daily }], {
    monthly_price: 1000,
  })
  const [seat] = await client.ok('GET', `/plan-entitlements?plan_version_id=${team.active_version.id}`)
  const buying = (quantity: number, more: object = {}) => ({
    base_plan_id: team.id,
    base_plan_price_id: team.monthly_price.id,
    pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity }],
    ...more,
  })
  const company = await world.subscribed('team', team, buying(4))
  const other = await world.subscribed('untold', team, buying(4))
  const seatLines = async (id = company) =>
    told((await world.charges(id)).lines).filter(line => line.startsWith('seat'))
  const previewed = async (quantity: number) => {
    const { subscription_change_preview: said } = await client.ok('POST', '/manage-plan/preview', {
      credit_bundles: [],
      custom_field_values: [],
      add_on_selections: [],
      company_id: company,
      ...buying(quantity),
    })
    return said.finance.upcoming_invoice_line_items.map((one: { amount: number }) => one.amount)
  }
  await world.clock('2031-01-11T00:00:00.000Z')
  await world.manage(company, buying(2))
  await world.manage(other, buying(2, { prorate: false }))
  t.same(await seatLines(), ['seat 4 12400'])
  await world.clock('2031-01-16T00:00:00.000Z')
  t.same(await previewed(4), [])
  // two more than were paid for, for 16 days
  t.same(await previewed(6), [3200])
  await world.manage(company, buying(6))
  await world.manage(other, buying(6))
  const paid = ['seat 4 12400', 'seat 2 3200']
  t.same(await seatLines(), paid)
  t.same(await seatLines(other), paid, 'without prorate, too')
  await world.clock('2031-01-21T00:00:00.000Z')
  await world.manage(company, buying(1))
  await world.manage(company, buying(6))
  t.same(await seatLines(), paid)
  await world.manage(company, buying(3))
  await world.clock('2031-02-08T00:00:00.000Z')
  await world.manage(company, buying(4))
  t.same(await seatLines(), ['seat 3 9300', 'seat 1 2325'], 'the next period is paid for anew')
})

t.test('RA-14 without proration, a plan that is returned to in its period is paid for already', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const [one, other] = [await linkedPlan(client, 'one'), await linkedPlan(client, 'other')]
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'switching' } })
  const [period_start, period_end] = [1, 2].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
  const more = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
  const to = (plan: Linked) =>
    client.ok('POST', '/billing/subscription/upsert', subscriptionBody('sub', company, [plan], more))
  const lines = async () => told((await world.charges(company)).lines)
  await to(one)
  await world.clock('2031-01-11T00:00:00.000Z')
  await to(other)
  // 21 of 31 days
  const paid = ['recurring 1 1000', 'recurring 1 677']
  t.same(await lines(), paid)
  await world.clock('2031-01-16T00:00:00.000Z')
  await to(one)
  t.same(await lines(), paid)
  await world.clock('2031-01-21T00:00:00.000Z')
  await to(other)
  t.same(await lines(), paid)
})

t.test('RA-14, RA-26 without proration, a year is paid for until its end', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const plan = await linkedPlan(client, 'again')
  await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_help', name: 'Help', price: 10 })
  const help = { product_external_id: 'prod_help', price_external_id: 'price_help' }
  const terms = { currency: 'usd', interval: 'year', price: 36_500, usage_type: 'licensed' }
  await client.ok('POST', '/billing/price/upsert', {
    ...help,
    ...terms,
    external_account_id: 'acct',
    billing_scheme: 'per_unit',
    price_tiers: [],
    is_active: true,
  })
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'again' } })
  const report = (month: number, quantity: number) => {
    const [period_start, period_end] = [month, month + 1].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
    const more = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
    const body = subscriptionBody('sub', company, [plan], more)
    const sold = quantity === 0 ? [] : [{ ...help, ...terms, quantity }]
    const product_external_ids = [...body.product_external_ids, ...sold]
    return client.ok('POST', '/billing/subscription/upsert', { ...body, product_external_ids })
  }
  const lines = async () =>
    told((await world.charges(company)).lines)
      .filter(line => line !== 'recurring 1 1000')
      .sort()
  await report(1, 3)
  t.same(await lines(), ['recurring 3 109500'])
  await world.clock('2031-01-20T00:00:00.000Z')
  await report(1, 1)
  await world.clock('2031-02-20T00:00:00.000Z')
  await report(2, 0)
  await world.clock('2031-03-01T12:00:00.000Z')
  await report(3, 0)
  t.same(await lines(), [])
  await world.clock('2031-03-14T00:00:00.000Z')
  await report(3, 4)
  // the fourth for the 293 days that are left
  t.same(await lines(), ['recurring 1 29300'])
})

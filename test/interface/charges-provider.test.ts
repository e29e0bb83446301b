// A subscription that a provider reports by months, with an item that is paid by the year, over HTTP.
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

t.test('RA-14, RA-26 a year beside months: charged once, and what is left of it is credited', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {}, { proration_behavior: 'create_prorations' })
  await world.clock('2031-01-15T00:00:00.000Z')
  const plan = await linkedPlan(client, 'monthly')
  const support = { product_external_id: 'prod_support', price_external_id: 'price_support' }
  const terms = { currency: 'usd', interval: 'year', price: 36_500, usage_type: 'licensed' }
  await client.ok('POST', '/billing/product/upsert', {
    external_id: support.product_external_id,
    name: 'Support',
    price: 10,
  })
  await client.ok('POST', '/billing/price/upsert', {
    ...support,
    ...terms,
    external_account_id: 'acct',
    billing_scheme: 'per_unit',
    price_tiers: [],
    is_active: true,
  })
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'reported' } })
  /** The report of a month, with support or without. */
  const report = (month: number, isSupported: boolean) => {
    const [period_start, period_end] = [month, month + 1].map(n =>
      seconds(`2031-${String(n).padStart(2, '0')}-15T00:00:00Z`),
    )
    const more = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
    const body = subscriptionBody('sub', company, [plan], more)
    const sold = isSupported ? [{ ...support, ...terms, quantity: 1 }] : []
    return client.ok('POST', '/billing/subscription/upsert', {
      ...body,
      product_external_ids: [...body.product_external_ids, ...sold],
    })
  }
  const lines = async () => told((await world.charges(company)).lines).sort()

  await report(1, true)
  t.same(await lines(), ['recurring 1 1000', 'recurring 1 36500'])
  await world.clock('2031-02-15T01:00:00.000Z')
  await report(2, true)
  t.same(await lines(), ['recurring 1 1000'], 'not again with the next month')

  await world.clock('2031-02-20T00:00:00.000Z')
  await report(2, false)
  // 329 of 365 days are left
  t.same(await lines(), ['recurring -1 -32900', 'recurring 1 1000'])

  await world.clock('2031-03-15T01:00:00.000Z')
  await report(3, true)
  t.same(await lines(), ['recurring 1 1000', 'recurring 1 36500'], 'a renewal brings it back: a new year')
  t.same(told((await world.closed(company)).lines).sort(), ['recurring -1 -32900', 'recurring 1 1000'])

  await world.clock('2031-04-15T01:00:00.000Z')
  await report(4, false)
  // 335 of 366 days are left
  t.same(await lines(), ['recurring -1 -33408', 'recurring 1 1000'], 'a renewal is without it')
  const credit = (await world.charges(company)).lines.find((one: { amount: number }) => one.amount < 0)
  t.match(credit, { proration: { remaining_ms: 335 * 86_400_000, period_ms: 366 * 86_400_000 } })
})

t.test(
  'RA-14, RA-16 a credit is by the terms that its charge was by: nobody gets back more than was paid',
  async t => {
    const { client, tollgate } = await startHere(t)
    const world = await ChargesWorld.of(client)
    await offerPlans(client, tollgate, {}, { proration_behavior: 'create_prorations' })
    await world.clock('2031-01-01T00:00:00.000Z')
    const plan = await linkedPlan(client, 'terms')
    const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'terms' } })
    const period = {
      period_start: seconds('2031-01-01T00:00:00Z'),
      period_end: seconds('2031-02-01T00:00:00Z'),
    }
    const report = (quantity: number) => {
      const more = { company_id: company, status: 'active', expired_at: null, ...period }
      const body = subscriptionBody('sub', company, [plan], more)
      const [sold] = body.product_external_ids
      return client.ok('POST', '/billing/subscription/upsert', {
        ...body,
        product_external_ids: [{ ...sold, quantity }],
      })
    }
    const costs = (price: number) =>
      client.ok('POST', '/billing/price/upsert', {
        price_external_id: plan.price,
        product_external_id: plan.product,
        external_account_id: 'acct',
        currency: 'usd',
        interval: 'month',
        price,
        billing_scheme: 'per_unit',
        price_tiers: [],
        usage_type: 'licensed',
        is_active: true,
      })
    const lines = async () => told((await world.charges(company)).lines).sort()
    await costs(310)
    await report(2)
    await world.clock('2031-01-11T00:00:00.000Z')
    await costs(3100)
    // a third for 21 of 31 days, by the terms of now
    await report(3)
    t.same(await lines(), ['recurring 1 2100', 'recurring 2 620'])
    await world.clock('2031-01-22T00:00:00.000Z')
    await report(1)
    // for 10 of 31 days: what was charged last goes first
    t.same(await lines(), ['recurring -1 -100', 'recurring -1 -1000', 'recurring 1 2100', 'recurring 2 620'])
  },
)

t.test('RA-14 two items of one price are its units together', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const plan = await linkedPlan(client, 'twice')
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'twice' } })
  const period = {
    period_start: seconds('2031-01-01T00:00:00Z'),
    period_end: seconds('2031-02-01T00:00:00Z'),
  }
  const report = (...quantities: number[]) => {
    const more = { company_id: company, status: 'active', expired_at: null, ...period }
    const body = subscriptionBody('sub', company, [plan], more)
    const sold = quantities.map(quantity => ({ ...body.product_external_ids[0], quantity }))
    return client.ok('POST', '/billing/subscription/upsert', { ...body, product_external_ids: sold })
  }
  const lines = async () => told((await world.charges(company)).lines).sort()
  await report(2, 3)
  await world.clock('2031-01-11T00:00:00.000Z')
  await report(5)
  t.same(await lines(), ['recurring 2 2000', 'recurring 3 3000'])
  await world.clock('2031-01-12T00:00:00.000Z')
  await report(4, 2)
  // another for 20 of 31 days
  t.same(await lines(), ['recurring 1 645', 'recurring 2 2000', 'recurring 3 3000'])
})

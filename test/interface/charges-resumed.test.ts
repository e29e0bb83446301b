// A subscription that is over for a while and goes on in the same period, as after a late payment (RA-13, RA-14).
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

for (const proration_behavior of [undefined, 'create_prorations'])
  t.test(`RA-13, RA-14 a period that goes on is paid for once, ${proration_behavior}`, async t => {
    const { client, tollgate } = await startHere(t)
    const world = await ChargesWorld.of(client)
    await offerPlans(client, tollgate, {}, { proration_behavior })
    await world.clock('2031-01-01T00:00:00.000Z')
    const plan = await linkedPlan(client, 'resumed')
    const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'resumed' } })
    const report = (status: string, month = 1) => {
      const [period_start, period_end] = [month, month + 1].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
      const more = { company_id: company, status, expired_at: null, period_start, period_end }
      return client.ok('POST', '/billing/subscription/upsert', subscriptionBody('sub', company, [plan], more))
    }
    const isCredited = proration_behavior !== undefined
    const changes = async () =>
      told((await world.charges(company)).lines).filter(line => line !== 'recurring 1 1000')
    await report('active')
    await world.clock('2031-01-11T00:00:00.000Z')
    await report('unpaid')
    await world.clock('2031-01-11T00:01:00.000Z')
    await report('active')
    // 21 of 31 days are left, but for a minute
    const [first, second] = [
      ['recurring -1 -677', 'recurring 1 677'],
      ['recurring -1 -516', 'recurring 1 355'],
    ]
    t.same(await changes(), isCredited ? first : [])
    await world.clock('2031-01-16T00:00:00.000Z')
    await report('unpaid')
    await world.clock('2031-01-21T00:00:00.000Z')
    await report('active')
    t.same(await changes(), isCredited ? second : [])
    await world.clock('2031-02-01T00:00:00.000Z')
    await report('active', 2)
    await world.closed(company)
    const lines = await client.ok('GET', `/charges?company_ids=${company}`)
    t.same(told(lines), ['recurring 1 1000', ...(isCredited ? [...first!, ...second!] : [])])
  })

t.test('RA-26 a year that was paid for goes on when a late payment comes in a later month', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const plan = await linkedPlan(client, 'lapsed')
  await client.ok('POST', '/billing/product/upsert', {
    external_id: 'prod_support',
    name: 'Support',
    price: 10,
  })
  const support = { product_external_id: 'prod_support', price_external_id: 'price_support' }
  const terms = { currency: 'usd', interval: 'year', price: 36_500, usage_type: 'licensed' }
  await client.ok('POST', '/billing/price/upsert', {
    ...support,
    ...terms,
    external_account_id: 'acct',
    billing_scheme: 'per_unit',
    price_tiers: [],
    is_active: true,
  })
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'lapsed' } })
  const report = (status: string, month: number, quantity = 1) => {
    const [period_start, period_end] = [month, month + 1].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
    const more = { company_id: company, status, expired_at: null, period_start, period_end }
    const body = subscriptionBody('sub', company, [plan], more)
    const sold = [...body.product_external_ids, { ...support, ...terms, quantity }]
    return client.ok('POST', '/billing/subscription/upsert', { ...body, product_external_ids: sold })
  }
  const lines = async () => told((await world.charges(company)).lines).sort()
  await report('active', 1)
  t.same(await lines(), ['recurring 1 1000', 'recurring 1 36500'])
  await world.clock('2031-01-20T00:00:00.000Z')
  await report('unpaid', 1)
  await world.clock('2031-03-01T12:00:00.000Z')
  await report('active', 3)
  t.same(await lines(), ['recurring 1 1000'])
  await world.clock('2031-03-14T00:00:00.000Z')
  await report('active', 3, 2)
  // another for the 293 days that are left
  t.same(await lines(), ['recurring 1 1000', 'recurring 1 29300'])
})

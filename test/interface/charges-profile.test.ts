// Terms of billing profiles count from when they are said (RA-6, RA-14).
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { offerPlans } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

const { client, tollgate } = await startHere(t)
const here = await ChargesWorld.of(client)

/** The path of a company's profile, which comes with its customer. */
async function profileOf(company_id: string): Promise<string> {
  const customer = { external_id: `cus_${company_id}`, company_id, email: 'a@b.c', name: 'Billed', meta: {} }
  await client.ok('POST', '/billing/customer/upsert', customer)
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${company_id}`)
  return `/billing/profiles/${profile.id}`
}

t.test('RA-14 a profile that is changed leaves the changes before it as they were charged', async t => {
  await here.clock('2031-01-01T00:00:00.000Z')
  const { id: feature_id } = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
  const seat = { feature_id, price_behavior: 'pay_in_advance', monthly_unit_price: 310 }
  const plan = await here.sold('Low', [seat], { monthly_price: 1000 })
  const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
  const price_id = entitlement.metered_monthly_price.id
  const some = (quantity: number) => ({
    base_plan_id: plan.id,
    base_plan_price_id: plan.monthly_price.id,
    pay_in_advance_entitlements: [{ price_id, quantity }],
  })
  const lines = async (id: string) => told((await here.charges(id)).lines).sort()
  const id = await here.subscribed('before', plan, some(4))
  const profile = await profileOf(id)
  await here.clock('2031-01-11T00:00:00.000Z')
  await here.manage(id, some(3))
  const whole = ['recurring 1 1000', 'seat 4 1240']
  t.same(await lines(id), whole)
  await here.clock('2031-01-16T00:00:00.000Z')
  await client.ok('PUT', profile, { proration_behavior: 'create_prorations' })
  t.same(await lines(id), whole, 'a change before it')
  await here.clock('2031-01-21T00:00:00.000Z')
  await here.manage(id, some(2))
  // a seat for 11 of 31 days
  const credited = ['recurring 1 1000', 'seat -1 -110', 'seat 4 1240']
  t.same(await lines(id), credited)
  await here.clock('2031-01-26T00:00:00.000Z')
  await client.ok('PUT', profile, { proration_behavior: null })
  t.same(await lines(id), credited, 'what was credited stays so')
  await here.manage(id, some(1))
  t.same(await lines(id), credited)
  await here.clock('2031-01-27T00:00:00.000Z')
  await client.ok('POST', '/plan-groups', { proration_behavior: 'create_prorations' })
  t.same(await lines(id), credited, 'nor does a plan group count back')
})

t.test('RA-6 use before the currency of a profile was changed is charged in the former one', async t => {
  await here.clock('2031-03-01T00:00:00.000Z')
  const feature = await client.ok('POST', '/features', {
    name: 'Calls',
    feature_type: 'event',
    event_subtype: 'call',
  })
  const plan = await client.ok('POST', '/plans', { name: 'Free', plan_type: 'plan' })
  await client.ok('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    price_behavior: 'pay_as_you_go',
    monthly_unit_price: 10,
    currency_prices: [{ currency: 'eur', monthly_unit_price: 7 }],
  })
  await publishDraftOf(client, plan.id)
  await offerPlans(client, tollgate, { fallback: plan.id })
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'pays' } })
  const profile = await profileOf(id)
  const lines = async () =>
    (await here.charges(id)).lines
      .map((one: { quantity: string; amount: number; currency: string }) =>
        [one.quantity, one.amount, one.currency].join(' '),
      )
      .sort()
  await here.clock('2031-03-05T00:00:00.000Z')
  await here.use('pays', 'call', 3)
  await here.clock('2031-03-06T00:00:00.000Z')
  t.same(await lines(), ['3 30 usd'])
  await client.ok('PUT', profile, { currency: 'eur' })
  t.same(await lines(), ['3 30 usd'])
  await here.use('pays', 'call', 2)
  await here.clock('2031-03-07T00:00:00.000Z')
  t.same(await lines(), ['2 14 eur', '3 30 usd'])
})

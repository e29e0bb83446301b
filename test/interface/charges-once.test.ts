// One-time fees over HTTP: charged when the plan is bought, and not again (RA-24).
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, told } from './charges-world.js'

t.test('RA-24 a plan and an add-on at a one-time price are charged once', async t => {
  const { client } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await world.clock('2031-01-10T00:00:00.000Z')
  const once = async (name: string, plan_type: string, one_time_price: number) => {
    const { id } = await client.ok('POST', '/plans', { name, plan_type })
    const billing = { charge_type: 'one_time', is_trialable: false, one_time_price }
    await client.ok('PUT', `/plans/${id}/billing_products`, billing)
    return publishDraftOf(client, id)
  }
  const plan = await once('Lifetime', 'plan', 25_000)
  const addOn = await once('Setup', 'add_on', 900)
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'once' } })
  const bought = { base_plan_id: plan.id, base_plan_price_id: plan.one_time_price.id }
  await world.manage(company, bought)
  t.same(told((await world.charges(company)).lines), ['recurring 1 25000'])
  const setup = { plan_id: addOn.id, price_id: addOn.one_time_price.id }
  await world.manage(company, { ...bought, add_on_selections: [setup] })
  const { lines } = await world.charges(company)
  t.same(told(lines).sort(), ['recurring 1 25000', 'recurring 1 900'])
  const fee = lines.find((one: { plan_id: string }) => one.plan_id === plan.id)
  t.match(fee, { price_id: plan.one_time_price.id, amount: 25_000 })
  await world.clock('2031-02-01T00:00:00.000Z')
  const closed = await world.closed(company)
  t.same(told(closed.lines).sort(), ['recurring 1 25000', 'recurring 1 900'])
  t.same((await world.charges(company)).lines, [], 'not again')
  const drafts = await client.ok(
    'GET',
    `/billing/invoices?customer_external_id=${company}&subscription_external_id=${company}`,
  )
  t.match(drafts, [{ subtotal: 25_900, status: 'draft' }])
})

// Invoices that are paid later than anybody thought: the company gets what the invoice is for, whatever happened meanwhile
// (PB-60 to PB-62, PB-5).
import t from 'tap'
import { paymentWorld } from './payment-world.js'

const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }
const { client, clock, priced, publish, bill, manage, company, show } = await paymentWorld(t, behaviour)
const byInvoice = {
  collection_method: 'send_invoice',
  billing_email: 'pay@example.com',
  activate_on_payment: true,
  days_until_due: 60,
}

async function pay(id: string) {
  const [waits] = await client.ok('GET', `/custom-plan-billings?company_id=${id}&status=pending`)
  return client.put(`/custom-plan-billings/${waits.id}/mark-paid`, {})
}

t.test('PB-60 the version and price of the invoice, though another version is published by now', async t => {
  const plan = await priced('Invoiced', 100, null)
  const id = await company()
  await manage(id, plan.id, plan.monthly_price.id, byInvoice)
  await publish(plan.id, 150, null, 'leave')
  const version = plan.active_version.id
  const held = await client.del(`/plans/version/${version}`)
  t.match(held, { status: 400, body: { error: id } }, 'PB-12 it is not deleted')
  t.equal((await pay(id)).status, 200)
  t.match(await show(id), {
    plan: { id: plan.id, plan_version_id: version, plan_price: 100 },
    billing_subscription: { total_price: 100 },
  })
})

t.test('PB-60 at once, though the company took another plan, or a downgrade waits', async t => {
  const [asked, other, low] = [
    await priced('Asked', 500, null),
    await priced('Other', 300, null),
    await priced('Low', 10, null),
  ]
  for (const waits of [false, true]) {
    const id = await company()
    await manage(id, asked.id, asked.monthly_price.id, byInvoice)
    await manage(id, other.id, other.monthly_price.id)
    if (waits) await manage(id, low.id, low.monthly_price.id)
    t.equal((await show(id)).scheduled_downgrade !== undefined, waits)
    t.equal((await pay(id)).status, 200)
    const shown = await show(id)
    t.match(shown, { plan: { id: asked.id }, billing_subscription: { total_price: 500 } })
    t.notOk('scheduled_downgrade' in shown)
    t.equal(
      shown.billing_subscriptions.filter((one: { status: string }) => one.status === 'active').length,
      1,
    )
  }
})

t.test('PB-60, decision 34 an anchor that has passed counts from its next day', async t => {
  await clock('2031-03-05T09:00:00.000Z')
  const plan = await priced('Anchored', 100, null)
  const id = await company()
  await manage(id, plan.id, plan.monthly_price.id, {
    ...byInvoice,
    billing_cycle_anchor: '2031-03-31T09:00:00Z',
  })
  await clock('2031-04-03T00:00:00.000Z')
  t.equal((await pay(id)).status, 200)
  const period = async () => {
    const { period_start, period_end } = (await show(id)).billing_subscription
    return [period_start, period_end].map(seconds => new Date(seconds * 1000).toISOString().slice(0, 10))
  }
  t.same(await period(), ['2031-04-03', '2031-04-30'])
  await clock('2031-04-30T09:00:00.000Z')
  t.same(await period(), ['2031-04-30', '2031-05-31'])
})

t.test('PB-60 a custom plan takes the place of the base plan, beside the add-ons of now', async t => {
  const [first, then] = [await priced('First', 20, null, 'add_on'), await priced('Then', 30, null, 'add_on')]
  const base = await priced('Before', 100, null)
  const id = await company()
  const beside = (addOn: { id: string; monthly_price: { id: string } }) => ({
    add_on_selections: [{ plan_id: addOn.id, price_id: addOn.monthly_price.id }],
  })
  await manage(id, base.id, base.monthly_price.id, beside(first))
  const own = await client.ok('POST', '/custom-plans', { company_id: id, name: 'Own' })
  await bill(own.id, 400, null)
  await client.ok('PUT', `/plans/version/${own.draft_version.id}/publish`, {
    excluded_company_ids: [],
    activation_strategy: 'on_payment',
    customer_email: 'pay@example.com',
    days_until_due: 30,
  })
  await manage(id, base.id, base.monthly_price.id, beside(then))
  t.equal((await pay(id)).status, 200)
  const shown = await show(id)
  t.match(shown, { plan: { id: own.id }, billing_subscription: { total_price: 430 } })
  t.same(
    shown.add_ons.map((one: { id: string }) => one.id),
    [then.id],
  )
})

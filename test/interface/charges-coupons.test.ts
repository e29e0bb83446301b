// Coupons over time: the terms that a discount was redeemed with, over HTTP.
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

const coupon = { duration_in_months: 0, max_redemptions: 0, times_redeemed: 0 }

t.test('RA-16 a discount has the terms that its coupon had when it was redeemed', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T09:00:00.000Z')
  const plan = await here.sold('Low', [], { monthly_price: 1000 })
  const terms = { ...coupon, external_id: 'quarter', name: 'Quarter', duration: 'forever' }
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 0, percent_off: 25 })
  const lines = async (id: string, period = 'current') => told((await here.charges(id, period)).lines)
  const start = ['discount 1 -250', 'recurring 1 1000']
  const early = await here.subscribed('early', plan, { coupon_external_id: 'quarter' })
  t.same(await lines(early), start)

  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 700, percent_off: 0 })
  const late = await here.subscribed('late', plan, { coupon_external_id: 'quarter' })
  const shown = async (id: string) =>
    (await client.ok('GET', `/companies/${id}`)).billing_subscription.discounts[0]
  const check = async (what: string) => {
    t.same(await lines(early), start, `${what}: redeemed before`)
    t.same(await lines(late), ['discount 1 -700', 'recurring 1 1000'], `${what}: redeemed with the new terms`)
    t.match(await shown(early), { percent_off: 25, amount_off: null, duration: 'forever' })
    t.match(await shown(late), { percent_off: null, amount_off: 700, duration: 'forever' })
  }
  await check('changed in the same instant')
  await here.clock('2031-04-10T09:00:00.000Z')
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 1, percent_off: 0, duration: 'once' })
  await check('changed again')
  await here.clock('2031-06-01T09:00:00.000Z')
  await check('in a later period')
  await client.ok('DELETE', '/billing/coupons/quarter')
  await check('removed')
})

t.test('RA-16 a discount that a provider reports keeps its terms', async t => {
  const { client, tollgate } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await here.clock('2031-01-15T00:00:00.000Z')
  const plan = await linkedPlan(client, 'monthly')
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'reported' } })
  const terms = { ...coupon, external_id: 'some', name: 'Some', duration: 'forever', percent_off: 0 }
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 100 })
  const report = (month: number, more: object) => {
    const [period_start, period_end] = [month, month + 1].map(n =>
      seconds(`2031-${String(n).padStart(2, '0')}-15T00:00:00Z`),
    )
    const all = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
    return client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody('sub', company, [plan], { ...all, ...more }),
    )
  }
  const discounts = [
    {
      coupon_external_id: 'some',
      external_id: 'disc',
      is_active: true,
      started_at: '2031-01-15T00:00:00Z',
    },
  ]
  const lines = async () => told((await here.charges(company)).lines)
  await report(1, { discounts })
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'])
  await client.ok('POST', '/billing/coupons', { ...terms, amount_off: 900 })
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'], 'changed')
  await here.clock('2031-02-15T01:00:00.000Z')
  await report(2, { discounts })
  const { billing_subscription: shown } = await client.ok('GET', `/companies/${company}`)
  t.match(shown.discounts, [{ amount_off: 100 }])
  t.same(await lines(), ['discount 1 -100', 'recurring 1 1000'], 'reported again')
})

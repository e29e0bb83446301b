// Use is charged in the currency that its subscription had then (RA-6).
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld } from './charges-world.js'

const { client } = await startHere(t)
const world = await ChargesWorld.of(client)
const { id: feature_id } = await client.ok('POST', '/features', {
  name: 'Calls',
  feature_type: 'event',
  event_subtype: 'call',
})
const calls = {
  feature_id,
  price_behavior: 'pay_as_you_go',
  monthly_unit_price: 10,
  currency_prices: [{ currency: 'eur', monthly_unit_price: 7 }],
}
const used = async (company: string, period = 'current') =>
  (await world.charges(company, period)).lines
    .filter((one: { kind: string }) => one.kind === 'usage')
    .map((one: { quantity: string; amount: number; currency: string }) =>
      [one.quantity, one.amount, one.currency].join(' '),
    )

t.test(
  'RA-6 use before a provider changed the currency of a subscription stays as it was charged',
  async t => {
    await world.clock('2031-05-01T00:00:00.000Z')
    const plan = await linkedPlan(client, 'reported', [calls])
    const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'reported' } })
    const report = (month: number, currency: string) => {
      const [period_start, period_end] = [month, month + 1].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
      const more = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
      const body = subscriptionBody('sub', company, [plan], { ...more, currency })
      return client.ok('POST', '/billing/subscription/upsert', body)
    }
    await report(5, 'usd')
    await world.use('reported', 'call', 3)
    await world.clock('2031-05-11T00:00:00.000Z')
    t.same(await used(company), ['3 30 usd'])
    await report(5, 'eur')
    t.same(await used(company), ['3 30 usd'])
    await world.use('reported', 'call', 2)
    await world.clock('2031-06-01T01:00:00.000Z')
    await world.use('reported', 'call', 4)
    await world.clock('2031-06-01T02:00:00.000Z')
    await report(6, 'usd')
    t.same(await used(company), ['4 40 usd'], 'a message that begins a period tells its currency')
    await world.closed(company)
    t.same((await used(company, 'previous')).sort(), ['2 14 eur', '3 30 usd'])
  },
)

t.test('RA-6 a change to a price in another currency leaves the use before it', async t => {
  await world.clock('2031-07-01T00:00:00.000Z')
  const plan = await world.sold('Use', [calls], {
    monthly_price: 0,
    currency_prices: [{ currency: 'eur', monthly_price: 0 }],
  })
  const company = await world.subscribed('own', plan)
  await world.use('own', 'call', 3)
  await world.clock('2031-07-11T00:00:00.000Z')
  const [eur] = (await client.ok('GET', `/plans/${plan.id}`)).currency_prices.filter(
    (one: { currency: string }) => one.currency === 'eur',
  )
  await world.manage(company, { base_plan_id: plan.id, base_plan_price_id: eur.monthly_price.id })
  t.same(await used(company), ['3 30 usd'])
  await world.use('own', 'call', 2)
  await world.clock('2031-07-12T00:00:00.000Z')
  t.same((await used(company)).sort(), ['2 14 eur', '3 30 usd'])
})

t.test(
  'RA-6, RA-16 a subscription that becomes another company’s leaves the charges that it made',
  async t => {
    await world.clock('2031-09-01T00:00:00.000Z')
    const terms = { duration: 'forever', duration_in_months: 0, max_redemptions: 0, times_redeemed: 0 }
    const half = { external_id: 'half', name: 'Half', amount_off: 0, percent_off: 50 }
    await client.ok('POST', '/billing/coupons', { ...terms, ...half })
    const plan = await linkedPlan(client, 'moved', [calls])
    const [one, other] = [
      await client.ok('POST', '/companies', { keys: { slug: 'one' } }),
      await client.ok('POST', '/companies', { keys: { slug: 'other' } }),
    ]
    const report = (company_id: string) => {
      const [period_start, period_end] = [9, 10].map(n =>
        seconds(`2031-${String(n).padStart(2, '0')}-01T00:00:00Z`),
      )
      const started_at = '2031-09-01T00:00:00Z'
      const discount = { coupon_external_id: 'half', external_id: 'off', is_active: true, started_at }
      const more = {
        company_id,
        status: 'active',
        expired_at: null,
        period_start,
        period_end,
        currency: 'eur',
      }
      const body = subscriptionBody('moving', 'cus_moving', [plan], { ...more, discounts: [discount] })
      return client.ok('POST', '/billing/subscription/upsert', body)
    }
    await report(one.id)
    await world.use('one', 'call', 4)
    await world.clock('2031-09-11T00:00:00.000Z')
    const lines = async (period: string) =>
      (await world.charges(one.id, period)).lines
        .map((line: { kind: string; amount: number; currency: string }) =>
          [line.kind, line.amount, line.currency].join(' '),
        )
        .sort()
    const made = ['discount -14 eur', 'discount -500 usd', 'recurring 1000 usd', 'usage 28 eur']
    t.same(await lines('current'), made)
    await report(other.id)
    await world.closed(one.id)
    t.same(await lines('previous'), made)
  },
)

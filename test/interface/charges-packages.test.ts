// A provider's price that changes how many units it sells together: use counts by the packages of its time (RA-6).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered, told } from './charges-world.js'

t.test('RA-6, RA-7 packages of a linked price count as they were sold at the instant of use', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T00:00:00.000Z')
  const pages = await eventFeature(client, 'pages', 'page')
  await client.ok('POST', '/billing/product/upsert', { external_id: 'pages', name: 'Pages', price: 35 })
  const packs = (package_size: number) =>
    client.ok('POST', '/billing/price/upsert', {
      price_external_id: 'packs',
      product_external_id: 'pages',
      external_account_id: 'acct',
      currency: 'usd',
      interval: 'month',
      price: 35,
      billing_scheme: 'per_unit',
      price_tiers: [],
      usage_type: 'metered',
      package_size,
      is_active: true,
    })
  const { id: priceId } = await packs(100)
  const paid = {
    ...metered,
    feature_id: pages.id,
    price_behavior: 'pay_as_you_go',
    monthly_metered_price_id: priceId,
  }
  const plan = await here.sold('In packs', [paid], { monthly_price: 1000 })
  const company = await here.subscribed('packed', plan)
  const lines = async () => told((await here.charges(company)).lines).sort()
  await here.use('packed', 'page', 250)
  await here.clock('2031-04-11T00:00:00.000Z')
  t.same(await lines(), ['recurring 1 1000', 'usage 250 105'])
  await packs(10)
  t.same(await lines(), ['recurring 1 1000', 'usage 250 105'], 'use before it')
  await here.use('packed', 'page', 25)
  await here.clock('2031-04-21T00:00:00.000Z')
  t.same(await lines(), ['recurring 1 1000', 'usage 25 105', 'usage 250 105'])
  await here.clock('2031-05-01T00:00:00.000Z')
  const closed = await here.closed(company)
  t.same(told(closed.lines).sort(), ['recurring 1 1000', 'usage 25 105', 'usage 250 105'])
  const sizes = closed.lines.filter((one: { kind: string }) => one.kind === 'usage')
  t.same(
    sizes.map((one: { package_size: number }) => one.package_size),
    [100, 10],
  )

  await packs(1)
  await here.use('packed', 'page', 51, { sent_at: '2031-04-05T00:00:00.000Z', trusted_client_clock: true })
  t.same(await lines(), ['correction 51 35', 'recurring 1 1000'], 'a late one is in packages of its time')
})

// A window of overage that closes is told, whatever its use was sold as when it began (RA-21).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered } from './charges-world.js'
import { receiver } from './receiver.js'

t.test('RA-21 a window is told that began before its use was overage', async t => {
  const { client, tollgate } = await startHere(t, { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' })
  const world = await ChargesWorld.of(client)
  const here = await receiver(t)
  await world.clock('2031-01-01T00:00:00.000Z')
  await client.ok('POST', '/webhooks', {
    name: 'windows',
    url: here.url,
    request_types: ['billing.overage_window.closed'],
  })
  const calls = await eventFeature(client, 'calls', 'call')
  const used = { ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }
  const over = {
    ...used,
    value_type: 'numeric',
    value_numeric: 1_000,
    price_behavior: 'overage',
    soft_limit: 10,
    monthly_unit_price: 7,
  }
  const small = await world.sold('Small', [used], { monthly_price: 1000 })
  const large = await world.sold('Large', [over], { monthly_price: 5000 })
  const company = await world.subscribed('grown', small)
  await world.clock('2031-01-11T00:00:00.000Z')
  await world.manage(company, { base_plan_id: large.id, base_plan_price_id: large.monthly_price.id })
  await world.use('grown', 'call', 14)
  await world.clock('2031-02-01T00:00:00.000Z')
  await world.closed(company)
  await tollgate.services.outbox.drain()
  t.match(
    here.of('billing.overage_window.closed').map(one => one.json),
    [
      {
        company_id: company,
        feature_id: calls.id,
        body: {
          start_time: '2031-01-01T00:00:00.000Z',
          end_time: '2031-02-01T00:00:00.000Z',
          lines: [{ kind: 'overage', quantity: 4, amount: 28 }],
        },
      },
    ],
  )
})

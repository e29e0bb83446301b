// A feature that counts another event from now on: use before that is charged by the event that it counted then (RA-6).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered, told } from './charges-world.js'

t.test('RA-6 the event of a feature that is sold by use counts from when it is changed', async t => {
  const { client } = await startHere(t)
  const here = await ChargesWorld.of(client)
  await here.clock('2031-04-01T00:00:00.000Z')
  const calls = await eventFeature(client, 'calls', 'call')
  const paid = { ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }
  const plan = await here.sold('By use', [paid], { monthly_price: 1000 })
  const company = await here.subscribed('counted', plan)
  const lines = async () => told((await here.charges(company)).lines).sort()
  await here.use('counted', 'call', 4)
  await here.use('counted', 'dial', 50)
  await here.clock('2031-04-11T00:00:00.000Z')
  t.same(await lines(), ['recurring 1 1000', 'usage 4 12'])
  await client.ok('PUT', `/features/${calls.id}`, { event_subtype: 'dial' })
  t.same(await lines(), ['recurring 1 1000', 'usage 4 12'], 'use before it')
  await here.use('counted', 'dial', 2)
  await here.use('counted', 'call', 70)
  await here.clock('2031-04-21T00:00:00.000Z')
  t.same(await lines(), ['recurring 1 1000', 'usage 2 6', 'usage 4 12'])
  await client.ok('PUT', `/features/${calls.id}`, { name: 'Calls' })
  await here.clock('2031-05-01T00:00:00.000Z')
  t.same(told((await here.closed(company)).lines).sort(), ['recurring 1 1000', 'usage 2 6', 'usage 4 12'])
})

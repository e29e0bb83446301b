// Use is charged for although its events are kept no longer: sums stay (EV-20).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, told } from './charges-world.js'

const day = 86_400_000

t.test('EV-20, RA-8 what is included once counts use whose events are kept no longer', async t => {
  const { client, tollgate } = await startHere(t)
  const { clickhouse, projections } = tollgate.services
  const world = await ChargesWorld.of(client)
  const calls = await eventFeature(client, 'calls', 'call')
  const over = {
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric: 100,
    soft_limit: 100,
    metric_period: 'all_time',
    price_behavior: 'overage',
    monthly_unit_price: 7,
  }
  const plan = await world.sold('Once', [over], { monthly_price: 0 })
  const company = await world.subscribed('long', plan)
  const told400 = Date.now() - 400 * day
  const rows = [
    `('evt_a', ${told400}, 98, 'normal')`,
    `('evt_b', ${told400 + day}, 1000, 'backfill')`,
    `('evt_c', ${told400 + 90 * day}, 1, 'normal')`,
  ]
  for (const row of rows)
    await clickhouse.command(`
      INSERT INTO events (environment_id, company_id, type, subtype, status, loaded_at, id, captured_at, quantity, mode)
      SELECT '${world.environmentId}', '${company}', 'track', 'call', 'enriched', captured, one.1, captured, one.3, one.4
      FROM (SELECT ${row} AS one, fromUnixTimestamp64Milli(toInt64(one.2), 'UTC') AS captured)`)
  await world.use('long', 'call', 6)
  await projections.barrierOf('clickhouse', world.environmentId)
  const overage = async () =>
    told((await world.charges(company)).lines).filter(one => one.startsWith('overage'))
  t.same(await overage(), ['overage 5 35'])
  // as time does it
  await clickhouse.command('OPTIMIZE TABLE events FINAL')
  const left = await clickhouse.select(`SELECT id FROM events WHERE id IN ('evt_a', 'evt_b', 'evt_c')`)
  t.same(left, [{ id: 'evt_c' }])
  t.same(await overage(), ['overage 5 35'])
})

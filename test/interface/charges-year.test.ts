// Late use of a year that has closed: the next year corrects it once, although its events are kept no longer (RA-12, EV-20).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered, told } from './charges-world.js'

t.test('RA-12, EV-20 late use of a year is corrected by the next year when that closes', async t => {
  const { client, tollgate } = await startHere(t)
  const { clickhouse, clock, projections } = tollgate.services
  const here = await ChargesWorld.of(client)
  await here.clock('2031-01-15T10:30:00.000Z')
  const calls = await eventFeature(client, 'calls', 'call')
  const paid = { ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', yearly_unit_price: 3 }
  const plan = await here.sold('By year', [paid], { monthly_price: 100, yearly_price: 1000 })
  const company = await here.subscribed('yearly', plan, { base_plan_price_id: plan.yearly_price.id })
  const late = (sent_at: string) => ({ sent_at, trusted_client_clock: true })
  /** As time does it: events of a year ago are kept no longer. */
  const expired = async (now: string) => {
    await projections.barrierOf('clickhouse', here.environmentId)
    clock.wall = () => Date.parse(now)
    const before = Date.parse(now) - 365 * 86_400_000
    await clickhouse.command(
      `ALTER TABLE events DELETE WHERE toUnixTimestamp64Milli(captured_at) < ${before} SETTINGS mutations_sync = 1`,
    )
  }
  await here.use('yearly', 'call', 10)
  await here.clock('2031-06-10T00:00:00.000Z')
  await here.use('yearly', 'call', 3, late('2031-06-01T00:00:00.000Z'))
  await here.clock('2032-01-16T00:00:00.000Z')
  const first = ['recurring 1 1000', 'usage 13 39']
  t.same(told((await here.closed(company)).lines).sort(), first)
  await here.use('yearly', 'call', 4, late('2032-01-10T07:00:00.000Z'))
  await here.use('yearly', 'call', 5)
  const second = ['correction 4 12', 'recurring 1 1000', 'usage 5 15']
  t.same(told((await here.charges(company)).lines).sort(), second)

  await expired('2033-01-15T10:00:00.000Z')
  t.same(told((await here.charges(company)).lines).sort(), second, 'in the open year')
  await here.clock('2033-01-16T00:00:00.000Z')
  const closed = await here.closed(company)
  t.same(told(closed.lines).sort(), second, 'when it closes')
  t.match(
    closed.lines.find((one: { kind: string }) => one.kind === 'correction'),
    {
      window: { start_time: '2031-01-15T10:30:00.000Z', end_time: '2032-01-15T10:30:00.000Z' },
      events: { count: 1, quantity: 4 },
    },
  )
  t.same(told((await here.charges(company)).lines), ['recurring 1 1000'], 'and once')
})

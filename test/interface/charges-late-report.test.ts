// A subscription whose provider reports it after the billing period in which it began is closed (RA-10, RA-13).
import t from 'tap'
import { startHere } from '../harness.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { ChargesWorld, told } from './charges-world.js'

t.test(
  'RA-10, RA-13 a period that is reported when the one before it is closed is charged in the next',
  async t => {
    const { client, tollgate } = await startHere(t)
    const world = await ChargesWorld.of(client)
    await offerPlans(client, tollgate, {})
    await world.clock('2031-01-15T00:00:00.000Z')
    const plan = await linkedPlan(client, 'late')
    const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'late' } })
    await world.clock('2031-02-01T00:05:00.000Z')
    const more = {
      company_id: company,
      status: 'active',
      expired_at: null,
      period_start: seconds('2031-01-31T23:59:00Z'),
      period_end: seconds('2031-02-28T23:59:00Z'),
    }
    await client.ok('POST', '/billing/subscription/upsert', subscriptionBody('sub', company, [plan], more))
    const { period, lines } = await world.charges(company)
    t.match(period, { start_time: '2031-02-01T00:00:00.000Z', end_time: '2031-02-28T23:59:00.000Z' })
    t.match(lines, [{ kind: 'recurring', amount: 1000, start_time: '2031-01-31T23:59:00.000Z' }])
    await world.clock('2031-03-01T00:05:00.000Z')
    t.same(told((await world.closed(company)).lines), ['recurring 1 1000'])
  },
)

t.test('RA-13 periods that a provider reports when they are over are charged with the report', async t => {
  const { client, tollgate } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await offerPlans(client, tollgate, {})
  await world.clock('2031-01-01T00:00:00.000Z')
  const plan = await linkedPlan(client, 'missed')
  const { id: company } = await client.ok('POST', '/companies', { keys: { slug: 'missed' } })
  const report = (month: number) => {
    const [period_start, period_end] = [month, month + 1].map(n => seconds(`2031-0${n}-01T00:00:00Z`))
    const more = { company_id: company, status: 'active', expired_at: null, period_start, period_end }
    return client.ok('POST', '/billing/subscription/upsert', subscriptionBody('sub', company, [plan], more))
  }
  await report(1)
  await world.clock('2031-04-05T00:00:00.000Z')
  for (const month of [2, 3, 4]) {
    await report(month)
    await world.clock(`2031-04-05T00:0${month}:00.000Z`)
  }
  const { period, lines } = await world.charges(company)
  t.equal(period.start_time, '2031-04-01T00:00:00.000Z')
  t.same(
    lines.map(
      (one: { start_time: string; amount: number }) => `${one.start_time.slice(0, 10)} ${one.amount}`,
    ),
    ['2031-02-01 1000', '2031-03-01 1000', '2031-04-01 1000'],
  )
})

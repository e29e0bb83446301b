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

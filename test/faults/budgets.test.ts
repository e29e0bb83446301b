// kill -9 does not forget what was spent: a hard spend policy refuses what it refused before.
import t from 'tap'
import { Process } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(300_000)

t.test('BU-8 what was spent and held survives a kill and a start', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir)
  t.teardown(() => first.child.kill('SIGKILL'))
  const world = new CreditWorld(first.client)
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const company = await world.company()
  await first.client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 100)
  await first.client.ok('POST', '/billing/credits/spend-policies', {
    billing_credit_id: credit.id,
    company_id: company.id,
    period: 'month',
    max_spend: 10,
  })
  for (let i = 0; i < 6; i++) await world.track(subtype, company.keys)
  const hold = (amount: number) => ({
    company_id: company.id,
    credit_type_id: credit.id,
    amount,
    expires_at: new Date(Date.now() + 50 * 60_000).toISOString(),
  })
  await first.client.ok('POST', '/billing/credits/reservations', hold(3))
  await first.end('SIGKILL')
  const second = await Process.start(dataDir)
  t.teardown(() => second.child.kill('SIGKILL'))
  const refused = await second.client.post('/billing/credits/reservations', hold(2))
  t.equal(refused.status, 402)
  t.match(refused.body.error, /allows 10 credits in a month, of which 9 are spent/)
  await second.client.ok('POST', '/billing/credits/reservations', hold(1))
  const again = await second.client.post('/billing/credits/reservations', hold(1))
  t.match(again.body.error, /of which 10 are spent/)
  await second.end('SIGKILL')
})

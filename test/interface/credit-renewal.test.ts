// Grants that renew, over HTTP: of plans and by hand, over a kill, exact under a test clock (decision 30).
import t from 'tap'
import { Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { CreditWorld } from './credit-world.js'

t.test('decision 30 renewing grants of a plan and by hand, killed in between', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir)
  t.teardown(() => first.child.kill('SIGKILL'))
  let world = new CreditWorld(first.client)
  const credit = await world.credit()
  const renewing = {
    reset_type: 'no_reset',
    renewal_enabled: true,
    renewal_period: 'first_of_month',
    credit_amount: 50,
  }
  const { subtype, plan } = await world.metered(credit.id, 1, [renewing])
  const [grant] = plan.included_credit_grants
  t.match(grant, { renewal_enabled: true, renewal_period: 'first_of_month', reset_type: 'no_reset' })
  const terms = {
    plan_id: plan.id,
    credit_id: credit.id,
    credit_amount: 1,
    reset_cadence: 'monthly',
    reset_start: 'billing_period',
  }
  const refused = async (body: object) =>
    (await first.client.post('/billing/credits/plan-grants', { ...terms, ...body })).body.error
  t.match(await refused({ renewal_enabled: true }), /renewal_enabled/, 'what resets does not renew')
  t.match(await refused({ reset_type: 'no_reset', renewal_period: 'first_of_month' }), /renewal_period/)

  const year = new Date().getUTCFullYear() + 1
  const to = (month: number, day: number) =>
    world.clock(`${year}-0${month}-${String(day).padStart(2, '0')}T00:00:00.000Z`)
  await to(1, 10)
  const company = await world.company({ base_plan_id: plan.id })
  const by = { renewal_enabled: true, billing_periods_count: 2 }
  const given = await world.grant(company.id, credit.id, 20, by)
  t.match(given, {
    renewal_enabled: true,
    renewal_period: 'monthly',
    expires_at: `${year}-03-10T00:00:00.000Z`,
  })
  const direct = { company_id: company.id, credit_id: credit.id, quantity: 1, reason: 'free' }
  for (const wrong of [
    { renewal_period: 'first_of_month' },
    { renewal_enabled: true, expires_at: `${year}-09-01T00:00:00Z` },
  ])
    t.equal((await first.client.post('/billing/credits/grants/company', { ...direct, ...wrong })).status, 400)
  const balance = async () => (await world.balance(company.id, credit.id))[0]
  t.equal(await balance(), 70)
  await world.track(subtype, company.keys, { quantity: 30 })
  t.equal(await balance(), 40, 'the plan burns first')
  await to(2, 1)
  t.equal(await balance(), 90, 'beside what is left')
  await first.end('SIGKILL')

  const second = await Process.start(dataDir)
  t.teardown(() => second.end('SIGTERM'))
  world = new CreditWorld(second.client)
  t.equal(await balance(), 90, 'once, over the kill')
  await to(2, 10)
  t.equal(await balance(), 110, 'a month after the grant by hand')
  await to(3, 10)
  t.equal(await balance(), 160, 'the plan’s of March, a third by hand, and the first of those is over')
  const mine = (await world.grants(company.id)).filter(one => one.grant_reason === 'free')
  t.same(
    mine.map(one => [one.expires_at.slice(0, 10), one.quantity_remaining, one.renewal_period]),
    [
      [`${year}-05-10`, 20, 'monthly'],
      [`${year}-04-10`, 20, 'monthly'],
      [`${year}-03-10`, 0, 'monthly'],
    ],
  )
  await second.client.ok('PUT', `/billing/credits/grants/${mine[1].id}/zero-out`, {})
  t.equal(await balance(), 140)
  await to(4, 10)
  t.equal(await balance(), 190, 'no more by hand, as one was zeroed out')
  await second.client.ok('POST', '/manage-plan', {
    company_id: company.id,
    base_plan_id: null,
    add_on_selections: [],
    custom_field_values: [],
    credit_bundles: [],
    pay_in_advance_entitlements: [],
    cancel_immediately: true,
  })
  t.equal(await balance(), 20, 'CR-39 the plan’s are gone')
  await to(6, 1)
  t.equal(await balance(), 0, 'and come no more')
  await world.agrees(t, company.id, credit.id, 'CR-88 the ledger agrees')
})

// Plans that companies are to come to later: they are not deleted, and a downgrade lands on what is published then
// (PB-12, EN-84, EN-95, N4).
import t from 'tap'
import { offerPlans } from './billing-world.js'
import { paymentWorld } from './payment-world.js'

const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }

t.test('PB-12 (N4) the target of a move that waits is not deleted; the answer says who comes', async t => {
  const { client, tollgate, clock, free, priced, publish, manage, company, show } = await paymentWorld(
    t,
    behaviour,
  )
  const refused = async (path: string, ...ids: string[]) => {
    const answer = await client.del(path)
    t.equal(answer.status, 400, path)
    for (const id of ids) t.match(answer.body.error, id)
  }
  const deleted = async (path: string) => t.equal((await client.del(path)).status, 200, path)

  await t.test('a downgrade, until it is called off', async t => {
    const [high, low] = [await priced('High', 300, null), await priced('Low', 100, null)]
    const [one, two] = [await company(), await company()]
    for (const id of [one, two]) {
      await manage(id, high.id, high.monthly_price.id)
      await manage(id, low.id, low.monthly_price.id)
    }
    t.match(await show(one), { plan: { id: high.id }, scheduled_downgrade: { to_plan_id: low.id } })
    await refused(`/plans/${low.id}`, one, two)
    await publish(low.id, 120, null, 'leave')
    await refused(`/plans/version/${low.active_version.id}`, one, two)
    for (const id of [one, two]) await manage(id, high.id, high.monthly_price.id)
    await deleted(`/plans/version/${low.active_version.id}`)
    await deleted(`/plans/${low.id}`)
  })

  await t.test('a move, paused too, until it is cancelled', async t => {
    const [from, to] = [await priced('From', 300, null), await priced('To', 100, null)]
    const id = await company()
    await manage(id, from.id, from.monthly_price.id)
    const asked = { plan_id: to.id, filter: { company_ids: [id] }, when: 'at_period_end' }
    const move = await client.ok('POST', '/plan-moves', asked)
    await client.ok('GET', `/plan-moves/${move.id}`)
    await refused(`/plans/${to.id}`, id)
    await client.ok('POST', `/plan-moves/${move.id}/pause`)
    await refused(`/plans/${to.id}`, id)
    await client.ok('POST', `/plan-moves/${move.id}/cancel`)
    await deleted(`/plans/${to.id}`)
    t.equal((await show(id)).plan.id, from.id)
  })

  await t.test('a company that is deleted comes no more', async () => {
    const [high, low] = [await priced('High 2', 300, null), await priced('Low 2', 100, null)]
    const id = await company()
    await manage(id, high.id, high.monthly_price.id)
    await manage(id, low.id, low.monthly_price.id)
    await refused(`/plans/${low.id}`, id)
    await client.ok('DELETE', `/companies/${id}`)
    await deleted(`/plans/${low.id}`)
  })

  await t.test('an invoice that is to be paid first', async t => {
    const [plan, extra] = [await priced('Invoiced', 300, null), await priced('Extra', 30, null, 'add_on')]
    const id = await company()
    await manage(id, plan.id, plan.monthly_price.id, {
      add_on_selections: [{ plan_id: extra.id, price_id: extra.monthly_price.id }],
      collection_method: 'send_invoice',
      billing_email: 'pay@example.com',
      activate_on_payment: true,
      days_until_due: 10,
    })
    t.equal((await show(id)).plan.id, free.id)
    await refused(`/plans/${plan.id}`, id)
    await refused(`/plans/${extra.id}`, id)
    await clock('2031-01-20T00:00:00.000Z')
    await deleted(`/plans/${plan.id}`)
    await deleted(`/plans/${extra.id}`)
  })

  await t.test('the end of a trial, and the role itself', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Tried', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: true,
      trial_days: 10,
      monthly_price: 100,
    })
    const expiry = await client.ok('POST', '/plans', { name: 'After', plan_type: 'plan' })
    for (const { id } of [plan, expiry]) {
      const { draft_version: draft } = await client.ok('GET', `/plans/${id}`)
      const leave = { migration_strategy: 'leave', excluded_company_ids: [] }
      await client.ok('PUT', `/plans/version/${draft.id}/publish`, leave)
    }
    const tried = await client.ok('GET', `/plans/${plan.id}`)
    await offerPlans(client, tollgate, { fallback: free.id, expiry: expiry.id }, behaviour)
    const id = await company()
    await manage(id, plan.id, tried.monthly_price.id)
    await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id, cancel_immediately: false })
    await refused(`/plans/${expiry.id}`)
    await offerPlans(client, tollgate, { fallback: free.id }, behaviour)
    await refused(`/plans/${expiry.id}`, id)
    await clock('2031-02-10T00:00:00.000Z')
    t.match(await show(id), { plan: { id: expiry.id } })
    await refused(`/plans/${expiry.id}`, id)
  })

  await t.test(
    'the fallback plan of then: a cancellation does not hold on to the one of its day',
    async t => {
      const plan = await priced('Ends', 100, null)
      const other = await client.ok('POST', '/plans', { name: 'Other', plan_type: 'plan' })
      const leave = { migration_strategy: 'leave', excluded_company_ids: [] }
      await client.ok('PUT', `/plans/version/${other.draft_version.id}/publish`, leave)
      const id = await company()
      await manage(id, plan.id, plan.monthly_price.id)
      await client.ok('POST', '/manage-plan/subscription/cancel', {
        company_id: id,
        cancel_immediately: false,
      })
      await offerPlans(client, tollgate, { fallback: other.id }, behaviour)
      const { billing_subscription: subscription } = await show(id)
      await clock(new Date(subscription.period_end * 1000).toISOString())
      t.match(await show(id), { plan: { id: other.id } })
      await offerPlans(client, tollgate, { fallback: free.id }, behaviour)
    },
  )

  await t.test('EN-84, EN-95 a downgrade lands on the published version, at its price', async t => {
    const seats = await client.ok('POST', '/features', {
      name: 'Seats',
      description: '',
      feature_type: 'license',
    })
    const sold = (monthly_unit_price: number) => ({
      feature_id: seats.id,
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      monthly_unit_price,
    })
    const high = await priced('High 3', 500, null)
    const made = await client.ok('POST', '/plans', { name: 'Low 3', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', { plan_id: made.id, ...sold(30) })
    await publish(made.id, 100, null, 'leave')
    const low = await client.ok('GET', `/plans/${made.id}`)
    const seatOf = async () =>
      (await client.ok('GET', `/plan-entitlements?plan_id=${made.id}&feature_id=${seats.id}`))[0]
    const seat = await seatOf()
    // the company has two seats of the high plan, so that they are no purchase
    await client.ok('POST', '/plan-entitlements', { plan_id: high.id, ...sold(30) })
    await publish(high.id, 500, null, 'leave')
    const dear = await client.ok('GET', `/plans/${high.id}`)
    const [dearSeat] = await client.ok('GET', `/plan-entitlements?plan_id=${high.id}&feature_id=${seats.id}`)
    const two = (price: string) => ({ pay_in_advance_entitlements: [{ price_id: price, quantity: 2 }] })
    const [moves, stays] = [await company(), await company()]
    for (const id of [moves, stays]) {
      await manage(id, high.id, dear.monthly_price.id, two(dearSeat.metered_monthly_price.id))
      await manage(id, made.id, low.monthly_price.id, two(seat.metered_monthly_price.id))
      t.match(await show(id), { scheduled_downgrade: { to_plan_id: made.id, scheduled_price: 160 } })
    }
    await client.ok('PUT', `/plan-entitlements/${seat.id}`, sold(40))
    const v2 = await publish(made.id, 110, null, 'leave')
    const { scheduled_downgrade: waits } = await show(moves)
    t.equal(waits.scheduled_price, 190, 'it is shown as it will be')
    await manage(stays, high.id, dear.monthly_price.id, two(dearSeat.metered_monthly_price.id))
    await clock(waits.effective_after)
    t.match(await show(moves), {
      plan: { id: made.id, plan_version_id: v2, plan_price: 110 },
      billing_subscription: { total_price: 190 },
    })
    t.match(
      await show(stays),
      { plan: { id: high.id }, billing_subscription: { total_price: 560 } },
      'called off',
    )
    await t.test('without its price there, it lands as agreed', async t => {
      const now = await client.ok('GET', `/plans/${made.id}`)
      const price = (await seatOf()).metered_monthly_price.id
      await manage(stays, made.id, now.monthly_price.id, two(price))
      await publish(made.id, null, 1000, 'leave')
      const { scheduled_downgrade: then } = await show(stays)
      t.equal(then.scheduled_price, 190)
      await clock(then.effective_after)
      t.match(await show(stays), {
        plan: { plan_version_id: v2 },
        billing_subscription: { total_price: 190 },
      })
    })
  })
})

// Seats written as a trait (EN-73) and a plan that begins to cost (EN-97) change nothing that is paid without a payment. A
// refused change of plans leaves no company behind (decision 41).
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { paymentWorld } from './payment-world.js'

t.test('nothing changes what is paid without payment', async t => {
  const { client, clock, free, priced, publish, manage, body, company, show } = await paymentWorld(t)

  await t.test('EN-73 seats that a subscription bills follow a change of plans, not a trait', async t => {
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const { name: trait } = await client
      .ok('GET', `/entity-trait-definitions/${seats.usage_limit_trait_id}`)
      .then(({ hierarchy }: { hierarchy: string[] }) => ({ name: hierarchy.join('.') }))
    const plan = await client.ok('POST', '/plans', { name: 'Team', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      feature_id: seats.id,
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      monthly_unit_price: 30,
    })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 100,
    })
    const version = await publish(plan.id, 100, null)
    const sold = await client.ok('GET', `/plans/${plan.id}`)
    const [seat] = await client.ok(
      'GET',
      `/plan-entitlements?plan_version_id=${version}&feature_id=${seats.id}`,
    )
    const id = await company()
    const buy = (quantity: number) =>
      manage(id, plan.id, sold.monthly_price.id, {
        pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity }],
      })
    const stands = async (of = id) => {
      const shown = await show(of)
      return [
        shown.entitlements.find((one: { feature_id: string }) => one.feature_id === seats.id)?.allocation ??
          0,
        shown.billing_subscription?.total_price ?? 0,
      ]
    }
    await buy(3)
    t.same(await stands(), [3, 190])
    const { keys } = await show(id)
    const named = Object.fromEntries(keys.map((one: { key: string; value: string }) => [one.key, one.value]))
    const traits = { [trait]: 50, colour: 'blue' }
    const refused = { status: 400, body: { error: /subscription bills these seats; POST \/manage-plan/ } }
    t.match(await client.post('/companies', { keys: named, traits }), refused)
    t.match(await client.post('/company-traits', { keys: named, trait, set: '50' }), refused)
    t.match(await client.post('/company-traits', { keys: named, trait, incr: 1 }), refused)
    t.match(await client.post('/companies', { keys: named, traits: { [trait]: null } }), refused)
    t.equal(
      (await client.post('/companies', { keys: named, traits: { [trait]: 3 } })).status,
      200,
      'the same',
    )
    await client.ok('POST', '/events', {
      event_type: 'identify',
      body: { keys: { user_id: 'u1' }, company: { keys: named, traits } },
    })
    t.same(await stands(), [3, 190])
    const shown = await show(id)
    t.equal(shown.traits.colour, 'blue', 'the rest of an identify event is taken')
    await buy(5)
    t.same(await stands(), [5, 250])
    await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id, cancel_immediately: true })
    t.equal(
      (await client.post('/companies', { keys: named, traits })).status,
      200,
      'nobody bills them any more',
    )
    const other = await company()
    await client.ok('POST', '/companies', { id: other, traits })
    t.equal((await show(other)).traits[trait], 50, 'nor here')
  })

  await t.test('EN-97 a plan that begins to cost moves who is billed for it, and nobody else', async t => {
    const plan = await publishedPlan(client, 'Solo', [])
    const v1 = plan.active_version.id
    const unbilled = await company()
    await client.ok('PUT', `/company-plans/${unbilled}`, { base_plan_id: plan.id, add_on_ids: [] })
    const v2 = await publish(plan.id, 40, null, 'immediate')
    const [migration] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${v2}`)
    t.match(await client.ok('GET', `/plan-version-migrations/${migration.id}`), { failed_companies: 1 })
    const [row] = await client.ok('GET', `/plan-version-company-migrations?migration_id=${migration.id}`)
    t.match(row, { status: 'failed', error_code: 'permanent_config', error: /POST \/manage-plan/ })
    t.match(await show(unbilled), { plan: { plan_version_id: v1 } })

    const zero = await priced('Zero', 0, null)
    const billed = await company()
    await manage(billed, zero.id, zero.monthly_price.id)
    const paid = await publish(zero.id, 40, null, 'immediate')
    await client.ok('GET', `/plan-version-migrations?plan_version_id=${paid}`)
    t.match(
      await show(billed),
      { plan: { plan_version_id: paid }, billing_subscription: { total_price: 40 } },
      'a subscription bills it',
    )
    const { companies } = await client.ok('POST', '/plan-version-migrations/preview', {
      plan_id: plan.id,
      plan_version_id_to: v2,
      target_plan_type: 'plan',
    })
    t.match(companies, [{ company_id: unbilled, would_fail: true, note: /costs something/ }])
    const now = await client.ok('GET', `/plans/${plan.id}`)
    await manage(unbilled, plan.id, now.monthly_price.id, { base_plan_version_id: v2 })
    t.match(await show(unbilled), {
      plan: { plan_version_id: v2 },
      billing_subscription: { total_price: 40 },
    })

    const later = await company()
    const waiting = await publishedPlan(client, 'Later', [])
    await client.ok('PUT', `/company-plans/${later}`, { base_plan_id: waiting.id, add_on_ids: [] })
    await publish(waiting.id, 40, null)
    await clock('2031-06-10T00:00:00.000Z')
    t.match(
      await show(later),
      { plan: { plan_version_id: waiting.active_version.id } },
      'nor at a later date',
    )
    const again = await publish(waiting.id, 0, null, 'immediate')
    t.match(await show(later), { plan: { plan_version_id: again } }, 'one that costs nothing again')
  })

  await t.test('decision 41 a refused change of plans leaves no company behind', async t => {
    const plan = await priced('Paid', 70, null)
    const change = (more: object) => {
      const { company_id: _, ...rest } = body('', plan.id, plan.monthly_price.id, more)
      return client.post('/manage-plan', { ...rest, company: { slug: 'never' } })
    }
    const refusals = [
      { base_plan_price_id: 'bilpp_none' },
      { base_plan_price_id: plan.id },
      { add_on_selections: [{ plan_id: free.id }] },
      { coupon_external_id: 'none' },
      { payment_method_external_id: 'none' },
      { custom_field_values: [{ id: 'none', value: 'x' }] },
    ]
    for (const more of refusals) {
      const { status, body: answer } = await change(more)
      t.ok(status === 400 || status === 404, `${JSON.stringify(more)}: ${status} ${answer.error}`)
      t.equal((await client.get('/companies/lookup?slug=never')).status, 404)
    }
    t.same(await client.ok('GET', '/companies?q=never'), [])
    t.equal((await change({})).status, 200)
    t.match(await client.ok('GET', '/companies/lookup?slug=never'), { plan: { id: plan.id } })
    t.equal((await change({ base_plan_price_id: 'bilpp_none' })).status, 400)
    t.equal((await client.get('/companies/lookup?slug=never')).status, 200, 'one that was there stays')
  })
})

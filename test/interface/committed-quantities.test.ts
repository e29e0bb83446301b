// Seats: what a subscription of the service sells is what its company has, and of a custom plan never less than the
// plan commits to, at every door (EN-35, N7).
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { offerPlans } from './billing-world.js'
import { paymentWorld } from './payment-world.js'

t.test('EN-35 (N7) quantity sold = seats granted ≥ commitment', async t => {
  const { client, tollgate, clock, free, bill, manage, body, company, show } = await paymentWorld(t)
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  const terms = (more: object) => ({
    feature_id: seats.id,
    value_type: 'trait',
    price_behavior: 'pay_in_advance',
    ...more,
  })
  const publish = async (planId: string, more: object = {}) => {
    const { draft_version: draft } = await client.ok('GET', `/plans/${planId}`)
    return client.put(`/plans/version/${draft.id}/publish`, {
      migration_strategy: 'immediate',
      excluded_company_ids: [],
      ...more,
    })
  }
  const seatOf = async (planId: string) =>
    (await client.ok('GET', `/plan-entitlements?plan_id=${planId}&feature_id=${seats.id}`))[0]
  /** A company with a custom plan at 100 a month, 30 for each seat, that commits to five. */
  async function custom(
    monthly: number | null = 100,
    commitment = 5,
    prices: object = { monthly_unit_price: 30 },
  ) {
    const id = await company()
    const plan = await client.ok('POST', '/custom-plans', { company_id: id, name: `Own ${id}` })
    await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      ...terms({ usage_quantity: commitment, ...prices }),
    })
    if (monthly !== null) await bill(plan.id, monthly, monthly * 10)
    return { id, planId: plan.id as string }
  }
  const stands = async (id: string) => {
    const shown = await show(id)
    const seat = shown.entitlements.find((one: { feature_id: string }) => one.feature_id === seats.id)
    const sold = shown.billing_subscription?.products.find((one: { price: number }) =>
      [30, 300].includes(one.price),
    )
    return {
      granted: seat?.allocation ?? 0,
      paid: sold?.quantity ?? 0,
      total: shown.billing_subscription?.total_price ?? 0,
    }
  }
  const five = { granted: 5, paid: 5, total: 250 }

  await t.test('a publish, and manage-plan that asks for fewer, for none, for more', async t => {
    const { id, planId } = await custom()
    t.equal((await publish(planId)).status, 200)
    t.same(await stands(id), five)
    const plan = await client.ok('GET', `/plans/${planId}`)
    const seat = await seatOf(planId)
    const asked = (quantity: number | null) => ({
      pay_in_advance_entitlements:
        quantity === null ? [] : [{ price_id: seat.metered_monthly_price.id, quantity }],
    })
    for (const quantity of [2, 0, null]) {
      const wanted = body(id, planId, plan.monthly_price.id, asked(quantity))
      const preview = await client.ok('POST', '/manage-plan/preview', wanted)
      t.match(
        preview.subscription_change_preview,
        { due_now: 0, finance: { total_per_billing_period: 250 } },
        'the preview says the same',
      )
      await manage(id, planId, plan.monthly_price.id, asked(quantity))
      t.same(await stands(id), five, `${quantity} asked`)
    }
    await manage(id, planId, plan.monthly_price.id, asked(8))
    t.same(await stands(id), { granted: 8, paid: 8, total: 340 })
  })

  await t.test('a new version raises to the larger, now and in a downgrade that waits', async t => {
    await offerPlans(
      client,
      tollgate,
      { fallback: free.id },
      { scheduled_downgrade_behavior: 'end_of_billing_period' },
    )
    const prices = { monthly_unit_price: 30, yearly_unit_price: 300 }
    const { id, planId } = await custom(100, 5, prices)
    await publish(planId)
    const plan = await client.ok('GET', `/plans/${planId}`)
    const seat = await seatOf(planId)
    const asked = (price: { id: string }, quantity: number) => ({
      pay_in_advance_entitlements: [{ price_id: price.id, quantity }],
    })
    await manage(id, planId, plan.yearly_price.id, asked(seat.metered_yearly_price, 9))
    await manage(id, planId, plan.monthly_price.id, asked(seat.metered_monthly_price, 3))
    t.same(await stands(id), { granted: 9, paid: 9, total: 3700 }, 'a downgrade waits')
    t.equal((await show(id)).scheduled_downgrade.scheduled_price, 250, 'for five')
    await client.ok('PUT', `/plan-entitlements/${seat.id}`, terms({ usage_quantity: 7, ...prices }))
    t.equal((await publish(planId)).status, 200)
    t.same(await stands(id), { granted: 9, paid: 9, total: 3700 })
    const { scheduled_downgrade: waits } = await show(id)
    t.equal(waits.scheduled_price, 100 + 7 * 30)
    for (const { id: billing } of await client.ok(
      'GET',
      `/custom-plan-billings?company_id=${id}&status=active`,
    ))
      await client.ok('PUT', `/custom-plan-billings/${billing}/mark-paid`, {})
    await clock(waits.effective_after)
    t.same(await stands(id), { granted: 7, paid: 7, total: 310 })
    const again = await seatOf(planId)
    await client.ok('PUT', `/plan-entitlements/${again.id}`, terms({ usage_quantity: 10, ...prices }))
    await publish(planId)
    t.same(await stands(id), { granted: 10, paid: 10, total: 400 })
  })

  await t.test('a version that waits for its payment takes the larger of then', async t => {
    const { id, planId } = await custom()
    await publish(planId)
    const plan = await client.ok('GET', `/plans/${planId}`)
    const seat = await seatOf(planId)
    await client.ok(
      'PUT',
      `/plan-entitlements/${seat.id}`,
      terms({ usage_quantity: 6, monthly_unit_price: 30 }),
    )
    await publish(planId, { activation_strategy: 'on_payment' })
    t.same(await stands(id), five)
    await manage(id, planId, plan.monthly_price.id, {
      pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity: 8 }],
    })
    const [billing] = await client.ok('GET', `/custom-plan-billings?company_id=${id}&status=pending`)
    await client.ok('PUT', `/custom-plan-billings/${billing.id}/mark-paid`, {})
    t.same(await stands(id), { granted: 8, paid: 8, total: 340 })
  })

  await t.test('a plan without a price whose seats cost is billed for them', async t => {
    const { id, planId } = await custom(null)
    t.equal((await publish(planId)).status, 200)
    t.same(await stands(id), { granted: 5, paid: 5, total: 150 })
    t.match(await client.ok('GET', `/custom-plan-billings?company_id=${id}`), [{ status: 'active' }])
    await t.test('N3 and its subscription ends with it', async t => {
      t.equal(
        (await client.put(`/company-plans/${id}`, { base_plan_id: free.id, add_on_ids: [] })).status,
        200,
      )
      const shown = await show(id)
      t.notOk('billing_subscription' in shown)
      t.same(await stands(id), { granted: 0, paid: 0, total: 0 })
    })
    const other = await custom(null)
    await publish(other.planId)
    await client.ok('PUT', `/company-plans/${other.id}`, { base_plan_id: free.id, add_on_ids: [] })
    t.equal(
      (await client.put(`/company-plans/${other.id}`, { base_plan_id: other.planId })).status,
      400,
      'PUT /company-plans changes no payment',
    )
  })

  await t.test('a free plan that is held is billed from the version that costs on', async t => {
    const { id, planId } = await custom(null, 0, {})
    await publish(planId)
    t.same(await stands(id), { granted: 0, paid: 0, total: 0 })
    const seat = await seatOf(planId)
    await client.ok(
      'PUT',
      `/plan-entitlements/${seat.id}`,
      terms({ usage_quantity: 5, monthly_unit_price: 30 }),
    )
    await bill(planId, 100, null)
    t.equal((await publish(planId)).status, 200)
    t.same(await stands(id), five)
    t.match(await client.ok('GET', `/custom-plan-billings?company_id=${id}`), [{ status: 'active' }])
  })

  await t.test('seats that cost nothing are granted as committed, by PUT /company-plans too', async t => {
    const { id, planId } = await custom(null, 4, {})
    await publish(planId)
    t.equal((await stands(id)).granted, 4)
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: free.id })
    t.equal((await stands(id)).granted, 0)
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: planId })
    t.equal((await stands(id)).granted, 4)
  })

  await t.test('a committed quantity without a price for the interval is refused', async t => {
    const { id, planId } = await custom(100, 5, { yearly_unit_price: 300 })
    t.match(await publish(planId), { status: 400, body: { error: /no price/ } })
    t.notOk((await client.ok('GET', `/plans/${planId}`)).active_version)
    t.same(await stands(id), { granted: 0, paid: 0, total: 0 })
    const seat = await seatOf(planId)
    await client.ok(
      'PUT',
      `/plan-entitlements/${seat.id}`,
      terms({ usage_quantity: 5, monthly_unit_price: 30, yearly_unit_price: null }),
    )
    await publish(planId)
    const plan = await client.ok('GET', `/plans/${planId}`)
    const yearly = await client.post('/manage-plan', body(id, planId, plan.yearly_price.id))
    t.match(yearly, { status: 400, body: { error: /no price/ } })
    t.same(await stands(id), five)
  })
})

t.test(
  'EN-35 seats that base plan and add-on sell are bought of one of them: all that is paid for is granted',
  async t => {
    const { client, bill, body, company } = await paymentWorld(t)
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const selling = async (name: string, plan_type: string) => {
      const plan = await client.ok('POST', '/plans', { name, plan_type })
      await bill(plan.id, 100, null)
      await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        feature_id: seats.id,
        price_behavior: 'pay_in_advance',
        monthly_unit_price: 10,
      })
      const sold = await publishDraftOf(client, plan.id)
      const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
      return { ...sold, seat: entitlement.metered_monthly_price.id }
    }
    const [base, addOn] = [await selling('Base', 'plan'), await selling('Extra', 'add_on')]
    const wanted = (id: string, bought: object[]) =>
      body(id, base.id, base.monthly_price.id, {
        add_on_selections: [{ plan_id: addOn.id, price_id: addOn.monthly_price.id }],
        pay_in_advance_entitlements: bought,
      })
    const id = await company()
    const both = wanted(id, [
      { price_id: base.seat, quantity: 2 },
      { price_id: addOn.seat, quantity: 3 },
    ])
    t.match(await client.post('/manage-plan', both), { status: 400, body: { error: /named twice/ } })
    t.equal((await client.post('/manage-plan/preview', both)).status, 400)
    const { company: shown } = await client.ok(
      'POST',
      '/manage-plan',
      wanted(id, [{ price_id: addOn.seat, quantity: 3 }]),
    )
    t.equal(shown.billing_subscription.total_price, 230)
    t.equal(
      shown.entitlements.find((one: { feature_id: string }) => one.feature_id === seats.id).allocation,
      3,
    )
  },
)

// Payment follows the plans held: dates of migrations are those of the subscription now, and a subscription of the
// service ends with the last plan held through it.
import t from 'tap'
import { linkedPlan, subscriptionBody } from './billing-world.js'
import { paymentWorld as world } from './payment-world.js'

t.setTimeout(300_000)

t.test('PB-21 (N1) the date of a migration follows from the subscription as it is now', async t => {
  const { client, clock, priced, publish, manage, company, show, due } = await world(t)
  const plan = await priced('Pro', 100, 1000)
  const [yearly, cancelled] = [await company(), await company()]
  for (const id of [yearly, cancelled]) await manage(id, plan.id, plan.monthly_price.id)
  const v2 = await publish(plan.id, 150, 1500)
  for (const id of [yearly, cancelled]) t.equal(await due(id), '2031-02-10T00:00:00.000Z')
  await manage(yearly, plan.id, plan.yearly_price.id, { base_plan_version_id: plan.active_version.id })
  t.equal(await due(yearly), '2032-01-10T00:00:00.000Z', 'a longer interval moves it')
  const nextDue = async () => {
    const [listed] = await client.ok('GET', `/plan-version-migrations?plan_version_id=${v2}`)
    const one = await client.ok('GET', `/plan-version-migrations/${listed.id}`)
    t.equal(one.next_due_at, listed.next_due_at)
    return listed.next_due_at
  }
  t.equal(await nextDue(), '2031-02-10T00:00:00.000Z')
  await client.ok('POST', '/manage-plan/subscription/cancel', {
    company_id: cancelled,
    cancel_immediately: false,
  })
  t.equal(await due(cancelled), null, 'a cancellation takes it away')
  t.equal(await nextDue(), '2032-01-10T00:00:00.000Z', 'the migration itself says the same')
  const list = await client.ok('GET', `/plan-version-migrations?plan_version_id=${v2}`)
  const waiting = await client.ok('GET', `/plan-version-company-migrations?migration_id=${list[0].id}`)
  const told = (id: string) =>
    waiting.find((one: { company_id: string }) => one.company_id === id).scheduled_for
  t.equal(told(yearly), '2032-01-10T00:00:00.000Z', 'lists say the same')
  t.equal(told(cancelled), null)
  await clock('2031-02-11T00:00:00.000Z')
  t.match(await show(yearly), {
    plan: { plan_version_id: plan.active_version.id },
    billing_subscription: { total_price: 1000 },
  })
  await clock('2032-01-10T00:00:00.000Z')
  t.match(await show(yearly), { plan: { plan_version_id: v2 }, billing_subscription: { total_price: 1500 } })
})

t.test('PB-21 (N1) a version that is due with a downgrade that keeps its plan comes with it', async t => {
  const { client, clock, priced, publish, manage, company, show, due } = await world(t, {
    scheduled_downgrade_behavior: 'end_of_billing_period',
  })
  const plan = await priced('Pro', 100, 1000)
  const other = await priced('Basic', 50, 500)
  const [shorter, left] = [await company(), await company()]
  for (const id of [shorter, left]) await manage(id, plan.id, plan.yearly_price.id)
  const v2 = await publish(plan.id, 150, 1500)
  await manage(shorter, plan.id, plan.monthly_price.id, { base_plan_version_id: plan.active_version.id })
  await manage(left, other.id, other.yearly_price.id)
  t.match(await show(shorter), { scheduled_downgrade: { scheduled_interval: 'month' } })
  t.equal(await due(shorter), '2032-01-10T00:00:00.000Z')
  await clock('2032-01-10T00:00:00.000Z')
  t.match(await show(shorter), {
    plan: { plan_version_id: v2 },
    billing_subscription: { total_price: 150, interval: 'month' },
  })
  t.equal(await due(shorter), undefined)
  t.match(await show(left), { plan: { id: other.id }, billing_subscription: { total_price: 500 } })
  const changes = await client.ok('GET', `/plan-changes?company_id=${left}`)
  t.notOk(
    changes.some((one: { base_plan_version?: { id: string } }) => one.base_plan_version?.id === v2),
    'a plan that is left takes no version before',
  )
})

t.test('PB-21 (N2) a migration that waited runs when a date can be named again', async t => {
  const { client, clock, priced, publish, manage, company, show, due } = await world(t)
  const plan = await priced('Pro', 100, null)
  const id = await company()
  await manage(id, plan.id, plan.monthly_price.id)
  await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id, cancel_immediately: false })
  const v2 = await publish(plan.id, 150, null)
  t.equal(await due(id), null)
  await manage(id, plan.id, plan.monthly_price.id)
  t.match(await show(id), { billing_subscription: { cancel_at_period_end: false } })
  t.equal(await due(id), '2031-02-10T00:00:00.000Z')
  await clock('2031-02-10T00:00:00.000Z')
  t.match(await show(id), { plan: { plan_version_id: v2 }, billing_subscription: { total_price: 150 } })
})

t.test('PB-51, EN-82 (N3) no subscription of the service is left without a plan', async t => {
  const { client, clock, free, priced, publish, manage, company, show } = await world(t)
  const plan = await priced('Pro', 100, null)
  const extra = await priced('Extra', 20, null, 'add_on')
  const withExtra = { add_on_selections: [{ plan_id: extra.id, price_id: extra.monthly_price.id }] }
  const put = (id: string, body: object) => client.put(`/company-plans/${id}`, body)

  await t.test('PUT /company-plans', async t => {
    for (const base of [free.id, null]) {
      const id = await company()
      await manage(id, plan.id, plan.monthly_price.id, withExtra)
      t.match(await put(id, { base_plan_id: base }), { status: 400, body: { error: /manage-plan/ } })
      t.match(await put(id, { add_on_ids: [] }), { status: 400, body: { error: /manage-plan/ } })
      t.match(await show(id), { billing_subscription: { total_price: 120 } }, 'PB-34')
      t.equal((await put(id, { base_plan_id: base, add_on_ids: [] })).status, 200)
      const shown = await show(id)
      t.notOk('billing_subscription' in shown)
      t.match(shown, { plan: { id: free.id }, billing_subscriptions: [{ status: 'canceled' }] })
    }
  })

  await t.test('a provider’s subscription in its place', async t => {
    const linked = await linkedPlan(client, 'Linked')
    const id = await company()
    await manage(id, plan.id, plan.monthly_price.id)
    await client.ok(
      'POST',
      '/billing/subscription/upsert',
      subscriptionBody('sub_1', 'c1', [linked], {
        company_id: id,
        status: 'active',
        period_start: Date.parse('2031-01-10T00:00:00Z') / 1000,
        period_end: Date.parse('2031-02-10T00:00:00Z') / 1000,
      }),
    )
    const shown = await show(id)
    t.equal(shown.plan.id, linked.plan.id)
    t.same(
      shown.billing_subscriptions
        .map((one: { provider_type: string; status: string }) => `${one.provider_type} ${one.status}`)
        .filter((one: string) => one.startsWith('native')),
      ['native canceled'],
    )
    await t.test('and seats of the plan that is left, where an add-on stays', async t => {
      const seats = await client.ok('POST', '/features', {
        name: 'Seats',
        description: '',
        feature_type: 'license',
      })
      const made = await client.ok('POST', '/plans', { name: 'Seated', plan_type: 'plan' })
      await client.ok('POST', '/plan-entitlements', {
        plan_id: made.id,
        feature_id: seats.id,
        value_type: 'trait',
        price_behavior: 'pay_in_advance',
        monthly_unit_price: 30,
      })
      await publish(made.id, 100, null, 'leave')
      const seated = await client.ok('GET', `/plans/${made.id}`)
      const [seat] = await client.ok('GET', `/plan-entitlements?plan_id=${made.id}`)
      const other = await company()
      await manage(other, made.id, seated.monthly_price.id, {
        ...withExtra,
        pay_in_advance_entitlements: [{ price_id: seat.metered_monthly_price.id, quantity: 3 }],
      })
      t.match(await show(other), { billing_subscription: { total_price: 210 } })
      await client.ok(
        'POST',
        '/billing/subscription/upsert',
        subscriptionBody('sub_2', 'c2', [linked], {
          company_id: other,
          status: 'active',
          period_start: Date.parse('2031-01-10T00:00:00Z') / 1000,
          period_end: Date.parse('2031-02-10T00:00:00Z') / 1000,
        }),
      )
      const { plan: now, billing_subscriptions: all } = await show(other)
      t.equal(now.id, linked.plan.id)
      t.match(
        all.find((one: { provider_type: string }) => one.provider_type === 'native'),
        { status: 'active', total_price: 20, products: [{ price: 20 }] },
        'the add-on alone is charged',
      )
    })
    await clock('2031-03-15T00:00:00.000Z')
    t.match(
      (await show(id)).billing_subscriptions.find(
        (one: { provider_type: string }) => one.provider_type === 'native',
      ),
      { status: 'canceled' },
      'it does not renew',
    )
  })
})

t.test('PB-5, PB-31 (N5) the price charged belongs to the version held', async t => {
  const { client, priced, publish, body, manage, company, show } = await world(t)
  const plan = await priced('Pro', 100, 1000)
  const [old, fresh] = [await company(), await company()]
  await manage(old, plan.id, plan.monthly_price.id)
  await publish(plan.id, 150, 1500)
  const now = await client.ok('GET', `/plans/${plan.id}`)
  const asked = (id: string, price: string, more: object = {}) =>
    client.post('/manage-plan', body(id, plan.id, price, more))
  t.equal((await asked(fresh, plan.monthly_price.id)).status, 400, 'a price of the former version')
  t.equal((await asked(old, now.yearly_price.id)).status, 400, 'a price of the next version')
  t.match(await show(old), { billing_subscription: { total_price: 100 } })
  t.equal((await asked(old, plan.yearly_price.id)).status, 200, 'its own prices remain')
  t.equal((await asked(fresh, now.monthly_price.id)).status, 200)

  await t.test('and so do prices of seats', async t => {
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    const terms = { feature_id: seats.id, price_behavior: 'pay_in_advance', monthly_unit_price: 10 }
    const made = await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...terms })
    await publish(plan.id, 150, 1500, 'leave')
    const [before] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&feature_id=${seats.id}`)
    await client.ok('PUT', `/plan-entitlements/${made.id}`, { monthly_unit_price: 12 })
    await publish(plan.id, 150, 1500, 'leave')
    const { monthly_price: price } = await client.ok('GET', `/plans/${plan.id}`)
    const buy = async (priceId: string) =>
      asked(await company(), price.id, {
        pay_in_advance_entitlements: [{ price_id: priceId, quantity: 2 }],
      })
    t.match(await buy(before.metered_monthly_price.id), { status: 400, body: { error: /another version/ } })
    t.equal((await buy('bilpp_nothing')).status, 404)
  })
})

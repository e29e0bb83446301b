// Managing plans over HTTP: subscribed, changed, scheduled and cancelled, and what the next check sees of it.
import t from 'tap'
import { eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import { isShaped } from '../control/shape.js'
import { startHere } from '../harness.js'
import { billingShapes } from './billing-shapes.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'

const downgrade = {
  required: `currency from_plan_id from_plan_name id interval to_plan_id to_plan_name effective_after
    from_subscription_price`,
  nullable: 'scheduled_interval scheduled_price',
}
const preview = {
  required: `amount_off due_now new_charges proration is_scheduled_downgrade opt_in_required payment_method_required
    promo_code_applied percent_off period_start usage_violations`,
  nullable: 'opt_in_text opt_in_title scheduled_change_time trial_end',
  optional: 'finance',
}
const finance = {
  required: `amount_off discount_amount due_now new_charges proration total_per_billing_period discounts percent_off
    period_end period_start promo_code_applied tax_require_billing_details upcoming_invoice_line_items`,
  nullable: 'proration_billed_at trial_end tax_amount tax_display_name',
}

t.test('managing plans', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  let present = ''
  const clock = (iso: string) => {
    present = iso
    return client.ok('PUT', `/environments/${environmentId}/clock`, { now: iso, frozen: true })
  }
  /** A second on, so that records have an order. */
  const later = () => clock(new Date(Date.parse(present) + 1000).toISOString())
  await clock('2031-01-01T00:00:00.000Z')

  const calls = await eventFeature(client, 'calls', 'call')
  const limit = (value_numeric: number) => ({
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric,
    metric_period: 'current_month',
    metric_period_month_reset: 'billing_cycle',
  })
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  const seatEntitlement = {
    feature_id: seats.id,
    value_type: 'trait',
    price_behavior: 'pay_in_advance',
    monthly_unit_price: 300,
  }
  /** A plan that the service bills itself. */
  const sold = async (name: string, entitlements: object[], billing: object, more: object = {}) => {
    const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan', ...more })
    for (const one of entitlements)
      await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...one })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      ...billing,
    })
    return publishDraftOf(client, plan.id)
  }
  const free = await publishedPlan(client, 'Free', [limit(5)])
  const basic = await sold('Basic', [limit(10)], { monthly_price: 1000, yearly_price: 10000 })
  const pro = await sold('Pro', [limit(100), seatEntitlement], { monthly_price: 3100, yearly_price: 30000 })
  const extra = await sold('Extra', [], { monthly_price: 500 }, { plan_type: 'add_on' })
  const gift = await publishedPlan(client, 'Gift', [], { plan_type: 'add_on' })
  const seatPrice = (await client.ok('GET', `/plan-entitlements?plan_id=${pro.id}&feature_id=${seats.id}`))[0]
    .metered_monthly_price.id
  const none = {
    credit_bundles: [],
    custom_field_values: [],
    pay_in_advance_entitlements: [],
    add_on_selections: [],
  }
  await offerPlans(client, tollgate, { fallback: free.id })

  let made = 0
  const company = async () => {
    const slug = `managed-${++made}`
    const { id } = await client.ok('POST', '/companies', { keys: { slug } })
    return { slug, id: id as string }
  }
  const manage = (id: string, body: object) =>
    client.post('/manage-plan', { ...none, company_id: id, ...body })
  const managed = async (id: string, body: object) => {
    const answer = await manage(id, body)
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.data.company
  }
  const previewed = async (id: string, body: object) => {
    const answer = await client.post('/manage-plan/preview', { ...none, company_id: id, ...body })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.data.subscription_change_preview
  }
  const show = (id: string) => client.ok('GET', `/companies/${id}`)
  const check = (slug: string) => client.ok('POST', '/flags/calls/check', { company: { slug } })
  const use = (slug: string, quantity: number) =>
    client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: { slug }, quantity },
    })
  const onBasic = { base_plan_id: basic.id, base_plan_price_id: basic.monthly_price.id }
  const onPro = { base_plan_id: pro.id, base_plan_price_id: pro.monthly_price.id }
  const withExtra = { add_on_selections: [{ plan_id: extra.id, price_id: extra.monthly_price.id }] }
  const actions = async (id: string) => {
    // A check does not wait for the disk, and a change of plan may be due at one; what is acknowledged comes after it.
    const { keys } = await show(id)
    await client.ok('POST', '/company-traits', {
      keys: { slug: keys[0].value },
      trait: 'last',
      set: 'asked',
    })
    await tollgate.services.projections.barrier('postgres')
    const rows = await tollgate.services.sql`
      select subscription_change_action as action from plan_changes where company_id = ${id} order by created_at, id`
    return rows.map(row => row.action)
  }

  await t.test('PB-30, PB-31 the state is written as a whole; omitted parts are removed', async t => {
    const { slug, id } = await company()
    const answer = await manage(id, {
      ...onBasic,
      add_on_selections: [...withExtra.add_on_selections, { plan_id: gift.id }],
    })
    t.equal(answer.status, 200)
    t.equal(answer.body.data.success, true)
    const first = answer.body.data.company
    t.match(first.plan, { id: basic.id, plan_price: 1000, plan_version_id: basic.active_version.id })
    t.same(new Set(first.add_ons.map((addOn: { id: string }) => addOn.id)), new Set([extra.id, gift.id]))
    isShaped(t, first.billing_subscription, billingShapes.subscriptionView, 'BillingSubscriptionView')
    t.match(first.billing_subscription, {
      provider_type: 'native',
      status: 'active',
      total_price: 1500,
      period_start: seconds('2031-01-01T00:00:00Z'),
      period_end: seconds('2031-02-01T00:00:00Z'),
    })
    t.equal((await check(slug)).feature_allocation, 10)
    await later()
    const second = await managed(id, { base_plan_id: basic.id })
    t.same(second.add_ons, [])
    t.match(second.billing_subscription, { id: first.billing_subscription.id, total_price: 1000 })
    await later()
    const third = await managed(id, {})
    t.equal(third.plan.id, free.id, 'no base plan: the fallback plan')
    t.notOk('billing_subscription' in third)
    t.match(third.billing_subscriptions, [{ status: 'canceled' }])
    t.same((await actions(id)).slice(-2), ['upgrade', 'unsubscribe'], 'PB-32, PB-34')
  })

  await t.test('PB-34 a refused change leaves everything as it was', async t => {
    const { id } = await company()
    await managed(id, { ...onPro, pay_in_advance_entitlements: [{ price_id: seatPrice, quantity: 3 }] })
    const before = await show(id)
    const named = async (title: string, status: number, body: object) =>
      t.equal((await manage(id, body)).status, status, title)
    await named('unknown plan', 404, { base_plan_id: 'plan_none' })
    await named('unknown version', 404, { ...onBasic, base_plan_version_id: 'plvr_none' })
    await named('unknown add-on', 404, { ...onBasic, add_on_selections: [{ plan_id: 'plan_none' }] })
    await named('an add-on as base plan', 400, { base_plan_id: gift.id })
    await named('a base plan as add-on', 400, { ...onPro, add_on_selections: [{ plan_id: basic.id }] })
    await named('a linked plan without price', 400, { base_plan_id: basic.id })
    await named('a price of another plan', 400, {
      base_plan_id: basic.id,
      base_plan_price_id: pro.monthly_price.id,
    })
    await named('a price for a plan without', 400, {
      base_plan_id: free.id,
      base_plan_price_id: basic.monthly_price.id,
    })
    await named('two intervals', 400, {
      base_plan_id: basic.id,
      base_plan_price_id: basic.yearly_price.id,
      ...withExtra,
    })
    await named('unknown bundle', 404, {
      ...onPro,
      credit_bundles: [{ bundle_id: 'bcbn_none', quantity: 1 }],
    })
    await named('unknown quantity', 404, {
      ...onBasic,
      pay_in_advance_entitlements: [{ price_id: 'price_none', quantity: 1 }],
    })
    await named('a quantity of another plan (N5)', 400, {
      ...onBasic,
      pay_in_advance_entitlements: [{ price_id: seatPrice, quantity: 1 }],
    })
    await named('anchor of a subscription there is', 400, {
      ...onPro,
      billing_cycle_anchor: '2031-02-01T00:00:00Z',
    })
    await named('unknown payment method', 404, { ...onBasic, payment_method_external_id: 'pm_none' })
    await named('unknown coupon', 400, { ...onBasic, coupon_external_id: 'none' })
    await named('unknown checkout field', 400, { ...onBasic, custom_field_values: [{ id: 'x', value: '' }] })
    t.equal((await client.post('/manage-plan', { company_id: id })).status, 400)
    t.equal((await manage('comp_none', onBasic)).status, 404)
    const after = await show(id)
    t.same([after.plan, after.add_ons, after.traits], [before.plan, before.add_ons, before.traits])
    t.same(after.billing_subscriptions, before.billing_subscriptions)
  })

  await t.test(
    'a subscription billed by a provider cannot be managed without a payment processor',
    async t => {
      const { id } = await company()
      const elsewhere = await linkedPlan(client, 'Elsewhere', [limit(50)])
      const [price] = await client.ok('GET', `/billing/price?product_id=${elsewhere.productId}`)
      t.equal(
        (await manage(id, { base_plan_id: elsewhere.plan.id, base_plan_price_id: price.id })).status,
        400,
      )
      await client.ok('POST', '/billing/subscription/upsert', {
        ...subscriptionBody('sub_elsewhere', 'cus_elsewhere', [elsewhere]),
        company_id: id,
      })
      const kept = await managed(id, {
        base_plan_id: elsewhere.plan.id,
        add_on_selections: [{ plan_id: gift.id }],
      })
      t.match(
        kept,
        { plan: { id: elsewhere.plan.id }, add_ons: [{ id: gift.id }] },
        'a plan that stays may be billed there',
      )
      t.equal(kept.billing_subscriptions.length, 1)
      const cancel = await client.post('/manage-plan/subscription/cancel', { company_id: id })
      t.equal(cancel.status, 400)
    },
  )

  await t.test('EN-71, PB-30 quantities bought in advance go into the usage-limit trait', async t => {
    const { id } = await company()
    const bought = (quantity: number) => ({
      pay_in_advance_entitlements: [{ price_id: seatPrice, quantity }],
    })
    const allocation = async () =>
      (await show(id)).entitlements.find((one: { feature_id: string }) => one.feature_id === seats.id)
        ?.allocation
    const first = await managed(id, { ...onPro, ...bought(4) })
    t.equal(await allocation(), 4)
    t.equal(first.billing_subscription.total_price, 3100 + 4 * 300)
    const second = await managed(id, { base_plan_id: pro.id, ...bought(2) })
    t.equal(await allocation(), 2, 'EN-72 fewer, by an administrator')
    t.match(second.billing_subscription.products, [{ quantity: 1 }, { quantity: 2 }])
    await managed(id, { base_plan_id: pro.id })
    t.equal(await allocation(), 0, 'left out: none')
  })

  await t.test(
    'EN-86, PB-33 an upgrade keeps the period and counters, an immediate downgrade restarts them',
    async t => {
      await offerPlans(client, tollgate, { fallback: free.id }, { proration_behavior: 'create_prorations' })
      await clock('2031-01-02T00:00:00.000Z')
      const { slug, id } = await company()
      await managed(id, onBasic)
      await use(slug, 8)
      await clock('2031-01-12T00:00:00.000Z')
      await use(slug, 1)
      const up = await previewed(id, onPro)
      isShaped(t, up, preview, 'PreviewSubscriptionChange')
      isShaped(t, up.finance, finance, 'PreviewSubscriptionFinance')
      // 21 of 31 days are left: 3100 and 1000 by that share
      t.match(up, { new_charges: 2100, proration: -677, due_now: 1423, is_scheduled_downgrade: false })
      t.equal(up.finance.proration_billed_at, '2031-02-02T00:00:00.000Z', 'RA-15 with the closing')
      t.match(up.finance, {
        total_per_billing_period: 3100,
        upcoming_invoice_line_items: [{ amount: 2100 }, { amount: -677, proration: true }],
      })
      t.equal((await previewed(id, { ...onPro, prorate: false })).due_now, 0)
      await offerPlans(client, tollgate, { fallback: free.id })
      t.match(
        await previewed(id, onPro),
        { new_charges: 2100, proration: 0, due_now: 2100 },
        'RA-14 a plan group that does not prorate credits nothing',
      )
      t.equal((await show(id)).plan.id, basic.id, 'a preview changes nothing')
      const period = {
        period_start: seconds('2031-01-02T00:00:00Z'),
        period_end: seconds('2031-02-02T00:00:00Z'),
      }
      t.match((await managed(id, onPro)).billing_subscription, { ...period, total_price: 3100 })
      t.match(await check(slug), { feature_usage: 9, feature_allocation: 100 })
      await clock('2031-01-13T06:30:00.000Z')
      const down = await managed(id, onBasic)
      t.match(down.billing_subscription, {
        period_start: seconds('2031-01-13T06:30:00Z'),
        period_end: seconds('2031-02-13T06:30:00Z'),
      })
      t.match(await check(slug), { feature_usage: 0, feature_allocation: 10 }, 'counted from the restart on')
      await use(slug, 2)
      t.equal((await check(slug)).feature_usage, 2)
      t.same((await actions(id)).slice(-2), ['upgrade', 'downgrade'])
    },
  )

  await t.test('PB-32 what is an upgrade, in order', async t => {
    const action = async (from: object, to: object) => {
      const { id } = await company()
      await managed(id, from)
      await later()
      await managed(id, to)
      return (await actions(id)).at(-1)
    }
    const yearly = { base_plan_id: basic.id, base_plan_price_id: basic.yearly_price.id }
    t.equal(await action(onPro, yearly), 'upgrade', 'longer period, though a lower plan')
    t.equal(await action(onBasic, onPro), 'upgrade', 'higher base price')
    t.equal(
      await action(onPro, { ...onBasic, ...withExtra }),
      'upgrade',
      'lower base price, but a new add-on',
    )
    t.equal(await action(onPro, onBasic), 'downgrade')
    t.equal(await action(yearly, onBasic), 'downgrade', 'shorter period')
    t.equal(await action(onPro, { base_plan_id: free.id }), 'unsubscribe')
    t.equal(await action({ base_plan_id: free.id }, onPro), 'subscribe')
  })

  await t.test('the periods of an own subscription follow each other by themselves', async t => {
    const { slug, id } = await company()
    await clock('2031-01-31T12:00:00.000Z')
    await managed(id, onBasic)
    await use(slug, 4)
    t.equal((await check(slug)).feature_usage, 4)
    await clock('2031-02-28T12:00:00.000Z')
    t.match(await check(slug), { feature_usage: 0, feature_allocation: 10 })
    await use(slug, 1)
    t.match(
      (await show(id)).billing_subscription,
      {
        period_start: seconds('2031-02-28T12:00:00Z'),
        period_end: seconds('2031-03-31T12:00:00Z'),
      },
      'FE-51 the day comes back',
    )
    t.equal((await check(slug)).feature_usage, 1)
  })

  await t.test('EN-95 a downgrade waits for the end of the period', async t => {
    await offerPlans(
      client,
      tollgate,
      { fallback: free.id },
      { scheduled_downgrade_behavior: 'end_of_billing_period' },
    )
    await clock('2031-03-01T00:00:00.000Z')
    const { slug, id } = await company()
    await managed(id, onPro)
    await clock('2031-03-10T00:00:00.000Z')
    const shown = await previewed(id, onBasic)
    t.match(shown, {
      is_scheduled_downgrade: true,
      due_now: 0,
      scheduled_change_time: '2031-04-01T00:00:00.000Z',
    })
    const waiting = await managed(id, onBasic)
    isShaped(t, waiting.scheduled_downgrade, downgrade, 'ScheduledDowngrade')
    t.match(waiting, {
      plan: { id: pro.id },
      scheduled_downgrade: {
        from_plan_name: 'Pro',
        to_plan_name: 'Basic',
        effective_after: '2031-04-01T00:00:00.000Z',
        from_subscription_price: 3100,
        scheduled_price: 1000,
      },
    })
    t.match(await client.ok('GET', '/companies?has_scheduled_downgrade=true'), [{ id }])
    t.equal((await check(slug)).feature_allocation, 100)
    const seat = { pay_in_advance_entitlements: [{ price_id: seatPrice, quantity: 1 }] }
    t.equal((await manage(id, { base_plan_id: pro.id, ...withExtra })).status, 400, 'no add-ons meanwhile')
    t.equal((await manage(id, { base_plan_id: pro.id, ...seat })).status, 400, 'no quantities meanwhile')
    await clock('2031-03-31T23:59:59.000Z')
    t.equal((await check(slug)).feature_allocation, 100)
    await clock('2031-04-01T00:00:00.000Z')
    t.equal((await check(slug)).feature_allocation, 10)
    const after = await show(id)
    t.match(after, {
      plan: { id: basic.id },
      billing_subscription: { total_price: 1000, period_start: seconds('2031-04-01T00:00:00Z') },
    })
    t.notOk('scheduled_downgrade' in after)
    t.same(await client.ok('GET', '/companies?has_scheduled_downgrade=true'), [])
    t.equal((await actions(id)).at(-1), 'downgrade', 'PB-34 recorded when it happens')
  })

  await t.test('EN-95 an upgrade or the same plan again cancels what waits', async t => {
    const max = await sold('Max', [limit(1000)], { monthly_price: 9000 })
    const [one, two] = [await company(), await company()]
    for (const { id } of [one, two]) {
      await managed(id, onPro)
      t.ok('scheduled_downgrade' in (await managed(id, onBasic)))
    }
    const again = await managed(one.id, { base_plan_id: pro.id })
    t.notOk('scheduled_downgrade' in again)
    const up = await managed(two.id, { base_plan_id: max.id, base_plan_price_id: max.monthly_price.id })
    t.notOk('scheduled_downgrade' in up)
    await clock('2031-05-02T00:00:00.000Z')
    t.match([await show(one.id), await show(two.id)], [{ plan: { id: pro.id } }, { plan: { id: max.id } }])
    await offerPlans(client, tollgate, { fallback: free.id })
  })

  await t.test('PB-56, EN-82 a subscription is cancelled at once, or at the end of its period', async t => {
    const cancel = (company_id: string, more: object = {}) =>
      client.post('/manage-plan/subscription/cancel', { company_id, ...more })
    const [one, two] = [await company(), await company()]
    t.equal((await cancel(one.id)).status, 400, 'nothing to cancel')
    t.equal((await cancel('comp_none')).status, 404)
    t.equal((await client.post('/manage-plan/subscription/cancel', {})).status, 400)
    for (const { id } of [one, two])
      await managed(id, { ...onPro, add_on_selections: [{ plan_id: gift.id }] })
    const now = await cancel(one.id)
    t.equal(now.status, 200)
    t.match(
      now.body.data.company,
      { plan: { id: free.id }, add_ons: [{ id: gift.id }] },
      'what it did not bill stays',
    )
    const later = await cancel(two.id, { cancel_immediately: false })
    t.match(later.body.data.company, {
      plan: { id: pro.id },
      billing_subscription: { cancel_at_period_end: true },
    })
    await clock('2031-06-01T23:59:59.000Z')
    t.equal((await check(two.slug)).feature_allocation, 100)
    await clock('2031-06-02T00:00:00.000Z')
    t.equal((await check(two.slug)).feature_allocation, 5)
    t.match(await show(two.id), { plan: { id: free.id }, billing_subscriptions: [{ status: 'canceled' }] })
    t.equal((await actions(two.id)).at(-1), 'unsubscribe')
    const back = await managed(two.id, onBasic)
    t.equal(back.billing_subscriptions.length, 2, 'a new subscription')
  })

  await t.test('EN-90, EN-94 trials', async t => {
    const tried = await sold('Tried', [{ ...limit(20) }], {
      monthly_price: 700,
      is_trialable: true,
      trial_days: 14,
    })
    const priced = { base_plan_id: tried.id, base_plan_price_id: tried.monthly_price.id }
    const [one, two] = [await company(), await company()]
    const until = { trial_end: '2031-06-20T00:00:00Z' }
    const status = async (body: object) => (await manage(one.id, body)).status
    t.equal(await status({ ...onBasic, ...until }), 400, 'not a trialable plan')
    t.equal(await status({ ...priced, trial_end: '2031-06-01T00:00:00Z' }), 400, 'in the past')
    t.equal(await status({ ...priced, ...until, ...withExtra }), 400, 'with an add-on')
    t.equal((await previewed(one.id, { ...priced, ...until })).due_now, 0)
    const started = await managed(one.id, { ...priced, ...until })
    t.match(started.billing_subscription, { status: 'trialing', trial_end: seconds('2031-06-20T00:00:00Z') })
    const own = await managed(two.id, priced)
    t.match(
      own.billing_subscription,
      { status: 'trialing', trial_end: seconds('2031-06-16T00:00:00Z') },
      'EN-90 by itself',
    )
    await clock('2031-06-20T00:00:00.000Z')
    t.match(
      await show(one.id),
      { plan: { id: tried.id }, billing_subscription: { status: 'active' } },
      'EN-91 converted',
    )
    await managed(one.id, {})
    t.equal(await status({ ...priced, trial_end: '2031-07-20T00:00:00Z' }), 400, 'EN-90 once')
    t.match((await managed(one.id, priced)).billing_subscription, { status: 'active', trial_end: null })
  })

  await t.test(
    'EN-87 limits already exceeded: told in the preview, refused where the environment says so',
    async t => {
      const { slug, id } = await company()
      await managed(id, onPro)
      await use(slug, 60)
      await clock('2031-06-20T01:00:00.000Z')
      const shown = await previewed(id, { base_plan_id: free.id })
      t.match(shown.usage_violations, [{ usage: 60, allocation: 5 }])
      t.same((await previewed(id, { base_plan_id: pro.id })).usage_violations, [])
      await offerPlans(client, tollgate, { fallback: free.id }, { prevent_downgrades_when_over_limit: true })
      t.equal((await manage(id, { base_plan_id: free.id })).status, 400)
      t.equal((await show(id)).plan.id, pro.id)
      await offerPlans(client, tollgate, { fallback: free.id })
      t.equal((await managed(id, { base_plan_id: free.id })).plan.id, free.id, 'allowed for administrators')
      t.equal((await check(slug)).value, false)
    },
  )

  await t.test('coupons lower what is due, and are shown', async t => {
    const { id } = await company()
    const coupon = {
      external_id: 'half',
      name: 'Half',
      amount_off: 0,
      percent_off: 50,
      duration: 'once',
      duration_in_months: 0,
      max_redemptions: 0,
      times_redeemed: 0,
    }
    await client.ok('POST', '/billing/coupons', coupon)
    const body = { ...onBasic, coupon_external_id: 'half' }
    const shown = await previewed(id, body)
    t.match(shown, {
      percent_off: 50,
      new_charges: 1000,
      due_now: 500,
      finance: { discount_amount: 500, discounts: [{ coupon_name: 'Half' }] },
    })
    t.match((await managed(id, body)).billing_subscription.discounts, [
      { coupon_name: 'Half', percent_off: 50 },
    ])
    const other = await company()
    const coded = { ...onBasic, promo_code: 'HALF' }
    t.match(await previewed(other.id, coded), {
      promo_code_applied: true,
      due_now: 500,
      finance: { promo_code_applied: true, discounts: [{ customer_facing_code: 'HALF' }] },
    })
    t.match(await previewed(other.id, onBasic), { promo_code_applied: false, due_now: 1000 })
    t.match(await manage(other.id, { ...onBasic, promo_code: 'none' }), {
      status: 400,
      body: { error: /promo_code/ },
    })
    t.match((await managed(other.id, coded)).billing_subscription.discounts, [
      { coupon_name: 'Half', customer_facing_code: 'HALF' },
    ])
    await client.ok('POST', '/billing/coupons', { ...coupon, max_redemptions: 2, times_redeemed: 2 })
    t.equal((await manage((await company()).id, coded)).status, 400, 'redeemed as often as it may be')
    await client.ok('POST', '/billing/coupons', coupon)
  })

  await t.test('billing_cycle_anchor: a shortened first period', async t => {
    const { id } = await company()
    const anchored = { ...onPro, billing_cycle_anchor: '2031-07-01T00:00:00Z' }
    const shown = await previewed(id, anchored)
    t.equal(shown.finance.period_end, '2031-07-01T00:00:00.000Z')
    t.ok(shown.new_charges > 1000 && shown.new_charges < 1200, 'the 11 days that are left of 30')
    t.equal((await previewed(id, { ...anchored, prorate_first_period: false })).due_now, 0)
    t.equal((await manage(id, { ...onPro, billing_cycle_anchor: '2031-01-01T00:00:00Z' })).status, 400)
    await managed(id, anchored)
    await clock('2031-07-02T00:00:00.000Z')
    t.match((await show(id)).billing_subscription, {
      period_start: seconds('2031-07-01T00:00:00Z'),
      period_end: seconds('2031-08-01T00:00:00Z'),
    })
  })

  await t.test('PB-60, PB-61, PB-62 plans that are invoiced', async t => {
    const invoiced = {
      ...onPro,
      collection_method: 'send_invoice',
      billing_email: 'pay@example.com',
      days_until_due: 10,
    }
    const of = async (id: string) => (await client.ok('GET', `/custom-plan-billings?company_id=${id}`))[0]
    const paid = (billing: { id: string }) => client.put(`/custom-plan-billings/${billing.id}/mark-paid`, {})
    const retry = (billing: { id: string }, more: object = {}) =>
      client.put(`/custom-plan-billings/${billing.id}/retry`, { customer_email: 'pay@example.com', ...more })
    const [one, two, three] = [await company(), await company(), await company()]
    t.equal((await manage(one.id, { ...invoiced, billing_email: null })).status, 400, 'needs an address')
    t.equal((await manage(one.id, { ...onPro, activate_on_payment: true })).status, 400, 'invoiced only')
    for (const { id } of [one, two])
      t.equal((await managed(id, invoiced)).plan.id, pro.id, 'on_publish: at once')
    t.equal(
      (await managed(three.id, { ...invoiced, activate_on_payment: true })).plan.id,
      free.id,
      'on_payment: not yet',
    )
    const [active, other, pending] = [await of(one.id), await of(two.id), await of(three.id)]
    isShaped(t, active, billingShapes.customPlanBilling, 'CustomPlanBilling')
    t.match([active.status, pending.status], ['active', 'pending'])
    t.equal((await retry(active)).status, 400, 'PB-61 only what has expired')
    t.match(await paid(other), {
      status: 200,
      body: { data: { status: 'paid', paid_at: '2031-07-02T00:00:00.000Z' } },
    })
    t.equal((await paid(other)).status, 400)
    t.match(await paid(pending), { status: 200, body: { data: { status: 'paid' } } })
    t.equal((await show(three.id)).plan.id, pro.id, 'access starts when it is paid')
    await clock('2031-07-12T00:00:00.000Z')
    t.match(
      [await show(one.id), await show(two.id), await show(three.id)],
      [
        { plan: { id: free.id }, custom_plan_billings: [{ status: 'expired' }] },
        { plan: { id: pro.id } },
        { plan: { id: pro.id } },
      ],
    )
    t.match(await client.ok('GET', '/custom-plan-billings?status=expired'), [{ id: active.id }])
    t.same(await client.ok('GET', '/custom-plan-billings?statuses=active&statuses=pending'), [])
    t.equal((await paid(active)).status, 400)
    t.match(await retry(active, { days_until_due: 5 }), {
      status: 200,
      body: { data: { status: 'active', days_until_due: 5, plan_id: pro.id } },
    })
    t.equal((await show(one.id)).plan.id, pro.id)
    await clock('2031-07-17T00:00:00.000Z')
    t.equal((await show(one.id)).plan.id, free.id)
    t.match(await retry(active, { activation_strategy: 'on_payment' }), {
      body: { data: { status: 'pending' } },
    })
    t.equal((await show(one.id)).plan.id, free.id)
    t.equal((await paid(active)).status, 200)
    t.equal((await show(one.id)).plan.id, pro.id)
    t.equal((await client.put('/custom-plan-billings/cpbl_none/mark-paid', {})).status, 404)
    t.equal((await retry({ id: 'cpbl_none' })).status, 404)
    t.equal((await client.put(`/custom-plan-billings/${active.id}/retry`, {})).status, 400)
  })

  await t.test('CR-13, PB-70, PB-71, PB-73 credit bundles are bought with a change, once', async t => {
    const { id } = await company()
    const credit = await client.ok('POST', '/billing/credits', {
      name: 'Tokens',
      description: '',
      currency: 'usd',
      burn_strategy: 'first_in_first_out',
      default_expiry_unit: 'days',
      default_rollover_policy: 'none',
    })
    const bundle = (name: string, more: object = {}) =>
      client.ok('POST', '/billing/credits/bundles', {
        bundle_name: name,
        bundle_type: 'fixed',
        credit_id: credit.id,
        currency: 'usd',
        expiry_type: 'no_expiry',
        expiry_unit: 'days',
        price_per_unit: 2,
        quantity: 50,
        ...more,
      })
    const fifty = await bundle('Fifty')
    const elsewhere = await bundle('On Pro', { compatible_plan_ids: [pro.id] })
    const gone = await bundle('Gone', { status: 'inactive' })
    const buy = (bundle_id: string, quantity: number) => ({
      ...onBasic,
      credit_bundles: [{ bundle_id, quantity }],
    })
    const shown = await previewed(id, buy(fifty.id, 3))
    t.match(shown, {
      new_charges: 1000 + 3 * 50 * 2,
      due_now: 1300,
      finance: { total_per_billing_period: 1000 },
    })
    t.equal((await manage(id, buy(elsewhere.id, 1))).status, 400, 'not on this plan')
    t.equal((await manage(id, buy(gone.id, 1))).status, 400, 'not for sale')
    t.equal((await show(id)).plan.id, free.id, 'PB-34 and no plan either')
    const balance = async () => (await show(id)).billing_credit_balances[credit.id]
    await managed(id, buy(fifty.id, 3))
    t.equal(await balance(), 150)
    await managed(id, { base_plan_id: basic.id })
    t.equal(await balance(), 150, 'PB-30 purchases are no state')
    const grants = await client.ok('GET', `/billing/credits/grants/company/list?company_id=${id}`)
    t.match(
      grants,
      [1, 2, 3].map(() => ({ quantity: 50, credit_bundle_id: fifty.id, grant_reason: 'purchased' })),
    )
  })

  await t.test(
    'EN-87 an administrator is warned of limits that are exceeded, and shown them before',
    async t => {
      const warned: { company_id: string; exceeded: unknown }[] = []
      const { log } = tollgate.services
      t.intercept(log, 'warn', { value: (about: (typeof warned)[number]) => void warned.push(about) })
      const { slug, id } = await company()
      await managed(id, onPro)
      await use(slug, 10)
      await managed(id, onBasic)
      t.same(warned, [], 'as much as the limit is not over it')
      await managed(id, onPro)
      await use(slug, 1)
      const shown = await previewed(id, onBasic)
      t.match(shown.usage_violations, [
        { usage: 11, allocation: 10, feature: { id: calls.id, name: 'calls' } },
      ])
      t.same(warned, [])
      await managed(id, onBasic)
      t.same(
        warned.map(({ company_id, exceeded }) => ({ company_id, exceeded })),
        [{ company_id: id, exceeded: [{ feature: 'calls', usage: 11, allocation: 10 }] }],
      )
      await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id })
      await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: null })
      t.equal(warned.length, 3, 'and whichever way the plans are changed')
    },
  )

  await t.test('PB-34 an add-on is taken only beside the base plans it goes with', async t => {
    const going = { add_on_compatibilities: [{ source_plan_id: extra.id, compatible_plan_ids: [pro.id] }] }
    const { id } = await company()
    await managed(id, { ...onBasic, ...withExtra })
    await offerPlans(client, tollgate, { fallback: free.id }, going)
    const kept = await managed(id, {
      ...onBasic,
      ...withExtra,
      add_on_selections: withExtra.add_on_selections,
    })
    t.match(kept.add_ons, [{ id: extra.id }], 'what is held together stays')
    t.equal((await managed(id, { ...onPro, ...withExtra })).plan.id, pro.id)
    const refused = await manage(id, { ...onBasic, ...withExtra })
    t.match(refused, { status: 400, body: { error: /Extra does not go with Basic/ } })
    t.equal(
      (await client.post('/manage-plan/preview', { ...none, company_id: id, ...onBasic, ...withExtra }))
        .status,
      400,
      'and the preview says so',
    )
    t.match(
      await show(id),
      { plan: { id: pro.id }, add_ons: [{ id: extra.id }] },
      'PB-34 nothing has changed',
    )
    t.equal(
      (await managed(id, { ...onBasic, add_on_selections: [{ plan_id: gift.id }] })).add_ons[0].id,
      gift.id,
    )
    const other = await company()
    const put = (body: object) => client.put(`/company-plans/${other.id}`, body)
    await offerPlans(
      client,
      tollgate,
      { fallback: free.id },
      { add_on_compatibilities: [{ source_plan_id: free.id, compatible_plan_ids: [extra.id] }] },
    )
    t.match(await put({ base_plan_id: free.id, add_on_ids: [gift.id] }), {
      status: 400,
      body: { error: /add_on_ids: Gift does not go with Free/ },
    })
    t.match(await put({ add_on_ids: [gift.id] }), { status: 400 }, 'the fallback plan is a plan too')
    await offerPlans(client, tollgate, { fallback: free.id })
    t.equal((await put({ base_plan_id: free.id, add_on_ids: [gift.id] })).status, 200)
    await offerPlans(client, tollgate, { fallback: free.id }, going)
    await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id })
    t.match(await show(id), { plan: { id: free.id }, add_ons: [{ id: gift.id }] })
    await offerPlans(client, tollgate, { fallback: free.id })
  })

  await t.test('AL-21 a preview is open to readonly keys, a change is not', async t => {
    const { id } = await company()
    const { secret } = await client.ok('POST', '/api-keys', {
      name: 'reader',
      readonly: true,
      environment_id: environmentId,
    })
    const reader = client.as(secret)
    const seen = await reader.post('/manage-plan/preview', { ...none, company_id: id, ...onBasic })
    t.equal(seen.status, 200)
    t.equal((await reader.post('/manage-plan', { ...none, company_id: id, ...onBasic })).status, 403)
    t.equal((await reader.post('/manage-plan/subscription/cancel', { company_id: id })).status, 403)
  })
})

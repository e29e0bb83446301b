// Billing records over HTTP: what sync upserts and lists, and how subscriptions put companies on plans (PB-50…58).
import t from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { isShaped, shapes } from '../control/shape.js'
import { startHere } from '../harness.js'
import { billingShapes } from './billing-shapes.js'
import { linkedPlan, offerPlans, seconds, subscriptionBody } from './billing-world.js'

t.test('billing', async t => {
  const { client, tollgate } = await startHere(t)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (iso: string) =>
    client.ok('PUT', `/environments/${environmentId}/clock`, { now: iso, frozen: true })
  await clock('2030-01-10T00:00:00.000Z')

  const calls = await eventFeature(client, 'calls', 'call')
  const limit = (value_numeric: number) => ({
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric,
    metric_period: 'current_month',
    metric_period_month_reset: 'billing_cycle',
  })
  const free = await publishedPlan(client, 'Free', [limit(1)])
  const expired = await publishedPlan(client, 'After the trial', [limit(2)])
  const pro = await linkedPlan(client, 'Pro', [limit(100)])
  const max = await linkedPlan(client, 'Max', [limit(1000)])
  const extra = await linkedPlan(client, 'Extra', [], { plan_type: 'add_on' })
  await offerPlans(client, tollgate, { fallback: free.id, expiry: expired.id })

  let made = 0
  /** A company, and the customer that is billed for it. */
  const billed = async () => {
    const slug = `company-${++made}`
    const customer = `cus_${made}`
    const company = await client.ok('POST', '/companies', { keys: { slug } })
    await client.ok('POST', '/billing/customer/upsert', {
      external_id: customer,
      name: slug,
      email: `${slug}@example.com`,
      meta: {},
      company_id: company.id,
    })
    return { slug, customer, id: company.id as string }
  }
  const upsert = (body: object) => client.ok('POST', '/billing/subscription/upsert', body)
  const show = (id: string) => client.ok('GET', `/companies/${id}`)
  const check = (slug: string) => client.ok('POST', '/flags/calls/check', { company: { slug } })
  const use = (slug: string, quantity: number) =>
    client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: { slug }, quantity },
    })
  const january = {
    period_start: seconds('2030-01-05T00:00:00Z'),
    period_end: seconds('2030-02-05T00:00:00Z'),
  }
  const february = {
    period_start: seconds('2030-02-05T00:00:00Z'),
    period_end: seconds('2030-03-05T00:00:00Z'),
  }

  /** Records of changed plans, oldest first. */
  const changesOf = async (id: string) => {
    await tollgate.services.projections.barrier('postgres')
    return tollgate.services.sql`
      select action, base_plan_action, trial_status, previous_plan_id, plan_id from plan_changes
      where company_id = ${id} order by created_at, id`
  }

  await t.test('products, prices and customers are upserted by their external id and listed', async t => {
    const body = { external_id: 'prod_seat', name: 'Seat', price: 12.5, is_active: true }
    const first = await client.post('/billing/product/upsert', body)
    t.equal(first.status, 201)
    isShaped(t, first.body.data, shapes.billingProduct, 'BillingProduct')
    const second = await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_seat', price: 13 })
    t.match(second, { product_id: first.body.data.product_id, name: 'Seat', price: 13, provider_type: 'psp' })
    t.equal((await client.post('/billing/product/upsert', { price: 1 })).status, 400)

    const price = {
      price_external_id: 'price_seat',
      product_external_id: 'prod_seat',
      external_account_id: 'acct',
      currency: 'usd',
      interval: 'month',
      price: 1,
      price_decimal: '1.5',
      billing_scheme: 'tiered',
      tiers_mode: 'volume',
      price_tiers: [
        { price_external_id: 'price_seat', up_to: 10, per_unit_price: 5 },
        { price_external_id: 'price_seat', per_unit_price: 3 },
      ],
      usage_type: 'licensed',
      is_active: true,
    }
    const priced = await client.post('/billing/price/upsert', price)
    t.equal(priced.status, 201)
    isShaped(t, priced.body.data, shapes.billingPrice, 'BillingPrice')
    t.equal(priced.body.data.price, 2, 'PB-41 the decimal wins, rounded half up')
    const again = await client.ok('POST', '/billing/price/upsert', { ...price, nickname: 'per seat' })
    t.equal(again.id, priced.body.data.id)
    const [listed] = await client.ok('GET', `/billing/price?ids=${again.id}`)
    isShaped(t, listed, shapes.billingPriceView, 'BillingPriceView')
    t.match(listed, {
      tiers_mode: 'volume',
      currency: 'usd',
      nickname: 'per seat',
      price_tier: [{ up_to: 10 }, {}],
    })
    t.same(await client.ok('GET', `/billing/product/prices?ids=${again.id}`), [listed])
    t.same(await client.ok('GET', `/billing/price?q=per%20SEAT&with_meter=true`), [])
    const status = async (more: object) =>
      (await client.post('/billing/price/upsert', { ...price, ...more })).status
    t.equal(await status({ interval: 'fortnight' }), 400)
    t.equal(await status({ product_external_id: 'prod_none' }), 404)
    t.equal(
      await status({ price_tiers: [{ price_external_id: 'x', up_to: 10 }] }),
      400,
      'PB-40 the last is open',
    )

    const found = await client.ok('GET', '/billing/products?q=SEAT&with_prices_only=true')
    isShaped(
      t,
      found[0],
      { ...shapes.billingProduct, required: `${shapes.billingProduct.required} prices subscription_count` },
      'detail',
    )
    t.match(found, [{ external_id: 'prod_seat', prices: [{ id: again.id }], subscription_count: 0 }])
    t.equal((await client.ok('GET', '/billing/products/count?without_linked_to_plan=true')).count, 1)
    t.same(await client.ok('GET', '/billing/products?with_one_time_charges=true'), [])

    const company = await billed()
    const customers = await client.ok('GET', `/billing/customers?company_ids=${company.id}`)
    isShaped(t, customers[0], billingShapes.customerWithSubscriptions, 'BillingCustomerWithSubscriptions')
    t.match(customers, [{ external_id: company.customer, company_id: company.id, subscriptions: [] }])
    t.same(await client.ok('GET', '/billing/customers/count?name=no%20such'), { count: 0 })
    const customer = { external_id: 'cus_x', name: 'x', email: '', meta: {} }
    t.equal(
      (await client.post('/billing/customer/upsert', { ...customer, company_id: 'comp_none' })).status,
      404,
    )
    t.equal((await client.post('/billing/customer/upsert', { name: 'x' })).status, 400)
  })

  await t.test('records are deleted by external id first, and not while they are sold', async t => {
    t.equal((await client.del('/billing/product/prod_Pro')).status, 400)
    t.equal((await client.del('/billing/product/prices/price_seat')).status, 200)
    t.equal((await client.del('/billing/product/prices/price_seat')).status, 404)
    t.equal((await client.del('/billing/product/prod_seat')).status, 200)
    const customer = { external_id: 'cus_gone', name: 'gone', email: '', meta: {} }
    const { id } = await client.ok('POST', '/billing/customer/upsert', customer)
    t.same((await client.del(`/billing/customer/${id}`)).body.data, { deleted: true })
    t.equal((await client.del('/billing/customer/cus_gone')).status, 404)
    t.same(await client.ok('GET', '/billing/customers?q=cus_gone'), [])
  })

  await t.test('PB-50, PB-51 an active subscription puts the company on the plan of its product', async t => {
    const { slug, id, customer } = await billed()
    t.equal((await show(id)).plan.id, free.id, 'EN-82 without one: the fallback plan')
    const body = subscriptionBody('sub_1', customer, [pro, extra], { ...january, metadata: { from: 'test' } })
    const posted = await client.post('/billing/subscription/upsert', body)
    t.equal(posted.status, 201)
    t.match(posted.body.data, { ...january, company_id: id, status: 'active', metadata: { from: 'test' } })
    const company = await show(id)
    t.match(company.plan, {
      id: pro.plan.id,
      plan_price: 1000,
      plan_period: 'month',
      billing_product_id: pro.productId,
    })
    t.match(company.add_ons, [{ id: extra.plan.id }])
    t.match(company.billing_subscription, { id: posted.body.data.id })
    t.equal(company.billing_subscriptions.length, 1)
    t.equal((await check(slug)).allocation ?? (await check(slug)).feature_allocation, 100)
    const again = await upsert({
      ...body,
      product_external_ids: subscriptionBody('', '', [max]).product_external_ids,
    })
    t.equal(again.id, posted.body.data.id, 'PB-50 the same subscription, its products as a set')
    t.match(await show(id), { plan: { id: max.plan.id }, add_ons: [] })
    t.match(await client.ok('GET', `/billing/products?ids=${max.productId}`), [{ subscription_count: 1 }])
    const changes = await changesOf(id)
    t.ok(
      changes.some(
        one =>
          one.action === 'subscription_change' &&
          one.previous_plan_id === pro.plan.id &&
          one.plan_id === max.plan.id,
      ),
      'PB-34 each change of plan has its record',
    )
  })

  await t.test('PB-51 companies that pay for what a plan is sold as are listed, on it or not', async t => {
    const [one, two] = [await billed(), await billed()]
    for (const { customer } of [one, two])
      await upsert(subscriptionBody(`match_${customer}`, customer, [max], { status: 'active' }))
    await client.ok('PUT', `/company-plans/${two.id}`, { base_plan_id: free.id, add_on_ids: [] })
    const path = '/plans/billing-product-match-companies'
    const matches = async (query: string) => {
      const found = await client.ok('GET', `${path}?${query}`)
      t.same(await client.ok('GET', `${path}/count?${query}`), { count: found.length })
      const ids = found.map((company: { id: string }) => company.id)
      return [one, two].filter(({ id }) => ids.includes(id)).map(({ slug }) => slug)
    }
    t.same(await matches(`plan_id=${max.plan.id}&q=company-`), [one.slug, two.slug])
    t.same(await matches(`plan_id=${max.plan.id}&q=${two.slug}`), [two.slug])
    t.same(await matches(`plan_id=${free.id}`), [], 'a plan that nobody is billed for')
    await upsert(subscriptionBody(`match_${one.customer}`, one.customer, [max], { status: 'canceled' }))
    t.same(await matches(`plan_id=${max.plan.id}`), [two.slug])
    t.equal((await client.get(`${path}?plan_id=plan_none`)).status, 404)
    t.equal((await client.get(path)).status, 400)
  })

  await t.test('PB-50 by company id; a customer known later; a subscription that moves', async t => {
    const [one, two] = [await billed(), await billed()]
    const body = subscriptionBody('sub_2', 'cus_late', [pro], january)
    t.equal((await upsert(body)).company_id, null, 'nobody knows whose it is')
    await client.ok('POST', '/billing/customer/upsert', {
      external_id: 'cus_late',
      name: 'late',
      email: '',
      meta: {},
      company_id: one.id,
    })
    t.equal((await show(one.id)).plan.id, pro.plan.id)
    t.equal((await upsert({ ...body, company_id: two.id })).company_id, two.id)
    t.equal((await show(one.id)).plan.id, free.id)
    t.equal((await show(two.id)).plan.id, pro.plan.id)
    t.same(await client.ok('GET', `/company-subscriptions?company_id=${one.id}`), [])
    const [held] = await client.ok('GET', `/company-subscriptions?company_ids=${two.id}`)
    isShaped(t, held, billingShapes.companySubscription, 'CompanySubscription')
    t.match(await client.ok('GET', `/companies?ids=${one.id}&ids=${two.id}&with_subscription=true`), [
      { id: two.id },
    ])
  })

  await t.test(
    'EN-82, PB-51 each inactive status leads to the fallback plan, each active one keeps the plan',
    async t => {
      const { id, customer } = await billed()
      for (const status of ['canceled', 'unpaid', 'incomplete', 'incomplete_expired', 'paused', 'expired']) {
        await upsert(subscriptionBody('sub_3', customer, [pro], { ...january, status: 'active' }))
        t.equal((await show(id)).plan.id, pro.plan.id)
        await upsert(subscriptionBody('sub_3', customer, [pro], { ...january, status }))
        t.equal((await show(id)).plan.id, free.id, status)
      }
      for (const status of ['past_due', 'trialing', 'active']) {
        await upsert(subscriptionBody('sub_3', customer, [pro], { ...january, status }))
        t.equal((await show(id)).plan.id, pro.plan.id, status)
      }
      t.equal(
        (
          await client.post(
            '/billing/subscription/upsert',
            subscriptionBody('sub_3', customer, [pro], { status: 'odd' }),
          )
        ).status,
        400,
      )
    },
  )

  await t.test('PB-52 a period ends after it begins; named resources must exist', async t => {
    const { customer } = await billed()
    const status = async (more: object) =>
      (await client.post('/billing/subscription/upsert', subscriptionBody('sub_4', customer, [pro], more)))
        .status
    t.equal(await status({ period_start: 10, period_end: 10 }), 400)
    t.equal(await status({ company_id: 'comp_none' }), 404)
    t.equal(await status({ discounts: [{ coupon_external_id: 'x' }] }), 400)
    t.equal(await status({ expired_at: 'soon' }), 400)
    const unknown = { ...pro, product: 'prod_none' }
    t.equal(
      (await client.post('/billing/subscription/upsert', subscriptionBody('sub_4', customer, [unknown])))
        .status,
      404,
    )
    t.same(await tollgate.services.sql`select id from billing_subscriptions where external_id = 'sub_4'`, [])
  })

  await t.test('PB-54 an earlier period of the same status comes late and changes nothing', async t => {
    const { id, customer } = await billed()
    await upsert(subscriptionBody('sub_5', customer, [max], february))
    t.match(await upsert(subscriptionBody('sub_5', customer, [pro], january)), { ...february })
    t.equal((await show(id)).plan.id, max.plan.id)
    await upsert(subscriptionBody('sub_5', customer, [pro], { ...january, status: 'canceled' }))
    t.equal((await show(id)).plan.id, free.id, 'unless it tells another status')
  })

  await t.test(
    'PB-53 with several, a plan told of again does not push out the one that replaced it',
    async t => {
      const { id, customer } = await billed()
      const old = subscriptionBody('sub_6a', customer, [pro], january)
      await upsert(old)
      await upsert(
        subscriptionBody('sub_6b', customer, [max], { ...january, period_start: january.period_start + 60 }),
      )
      t.equal((await show(id)).plan.id, max.plan.id)
      await upsert(old)
      const company = await show(id)
      t.equal(company.plan.id, max.plan.id)
      t.equal(company.billing_subscription.subscription_external_id, 'sub_6b')
      await upsert(subscriptionBody('sub_6b', customer, [max], { ...january, status: 'canceled' }))
      t.equal((await show(id)).plan.id, pro.plan.id, 'the other one still sells a plan')
    },
  )

  await t.test(
    'US-3 a period that begins in the middle of a window is counted again from history',
    async t => {
      const { slug, customer } = await billed()
      await clock('2030-01-10T00:00:00.000Z')
      await use(slug, 5)
      await clock('2030-01-10T06:00:00.000Z')
      await use(slug, 7)
      await clock('2030-01-10T09:00:00.000Z')
      await use(slug, 11)
      // the 1st, the 9th or the 10th at 5:30: none of them is told by a window of the counter
      const from = (iso: string) => ({
        period_start: seconds(iso),
        period_end: seconds('2030-02-10T05:30:00Z'),
      })
      await upsert(subscriptionBody('sub_7', customer, [pro], from('2030-01-10T05:30:00Z')))
      t.equal((await check(slug)).feature_usage, 18)
      await upsert(subscriptionBody('sub_7', customer, [pro], from('2030-01-10T08:00:00Z')))
      t.equal((await check(slug)).feature_usage, 11, 'exact inside an hour and a day')
      await use(slug, 1)
      t.equal((await check(slug)).feature_usage, 12)
    },
  )

  await t.test('PB-54, PB-56, PB-57 a company through renewal, overdue renewal and cancellation', async t => {
    const { slug, id, customer } = await billed()
    await clock('2030-01-20T00:00:00.000Z')
    await upsert(subscriptionBody('sub_8', customer, [pro], january))
    await use(slug, 40)
    t.equal((await check(slug)).feature_usage, 40)
    await clock('2030-02-05T00:00:00.000Z')
    t.match(
      await check(slug),
      { feature_usage: 0, feature_allocation: 100 },
      'PB-57 no renewal yet: the plan stays',
    )
    await use(slug, 3)
    await upsert(subscriptionBody('sub_8', customer, [pro], february))
    t.equal((await check(slug)).feature_usage, 3, 'PB-54 from the new start on')
    await upsert(subscriptionBody('sub_8', customer, [pro], { ...february, cancel_at_period_end: true }))
    await clock('2030-03-04T23:59:59.000Z')
    t.equal((await check(slug)).feature_allocation, 100)
    await clock('2030-03-05T00:00:00.000Z')
    t.equal((await check(slug)).feature_allocation, 1, 'PB-56 over without any update')
    const company = await show(id)
    t.match(company, { plan: { id: free.id }, billing_subscriptions: [{ status: 'canceled' }] })
    t.notOk('billing_subscription' in company)
    t.same(await client.ok('GET', `/company-subscriptions?company_id=${id}`), [])
    t.same(await client.ok('GET', `/companies?ids=${id}&with_subscription=true`), [])
  })

  await t.test('PB-58, EN-91 the end of a trial', async t => {
    const trial = { status: 'trialing', trial_end: seconds('2030-03-10T00:00:00Z') }
    const march = {
      period_start: seconds('2030-03-05T00:00:00Z'),
      period_end: seconds('2030-04-05T00:00:00Z'),
    }
    const [one, two, three] = [await billed(), await billed(), await billed()]
    await upsert(
      subscriptionBody('sub_9', one.customer, [pro], { ...march, ...trial, trial_end_setting: 'cancel' }),
    )
    await upsert(
      subscriptionBody('sub_10', two.customer, [pro], { ...march, ...trial, trial_end_setting: 'subscribe' }),
    )
    const last = await upsert(subscriptionBody('sub_11', three.customer, [pro], { ...march, ...trial }))
    t.equal((await check(one.slug)).feature_allocation, 100)
    const edit = (id: string, body: object) => client.put(`/subscription/${id}/edit-trial-end`, body)
    t.equal((await edit('bilsub_none', {})).status, 404)
    t.equal((await edit(last.id, { trial_end: '2030-03-01T00:00:00Z' })).status, 400, 'EN-94 in the future')
    const edited = await edit(last.id, { trial_end: '2030-03-20T00:00:00Z' })
    t.match(edited, { status: 200, body: { data: { trial_end: seconds('2030-03-20T00:00:00Z') } } })
    await clock('2030-03-10T00:00:00.000Z')
    t.equal((await check(one.slug)).feature_allocation, 2, 'EN-91 cancel: the trial-expiry plan')
    t.equal((await check(two.slug)).feature_allocation, 100, 'EN-91 subscribe: the plan goes on')
    t.equal((await show(one.id)).plan.id, expired.id)
    const record = (await changesOf(one.id)).find(change => change.plan_id === expired.id)
    t.match(record, { base_plan_action: 'trial_expiry', trial_status: 'expired' })
    t.match(await edit(last.id, {}), { body: { data: { status: 'active' } } }, 'ended now')
    t.equal((await edit(last.id, {})).status, 400, 'in no trial')
    t.equal((await show(three.id)).plan.id, pro.plan.id)
  })

  await t.test('PB-59 discounts are shown and influence nothing', async t => {
    const { id, customer } = await billed()
    const discount = {
      coupon_external_id: 'coupon',
      external_id: 'di_1',
      is_active: true,
      started_at: '2030-03-01T00:00:00Z',
    }
    const body = (one: object) =>
      subscriptionBody('sub_12', customer, [pro], { ...january, discounts: [{ ...discount, ...one }] })
    await upsert(body({}))
    const { plan, billing_subscription: shown } = await show(id)
    isShaped(t, shown, billingShapes.subscriptionView, 'BillingSubscriptionView')
    isShaped(t, shown.products[0], billingShapes.subscribedProduct, 'BillingProductForSubscription')
    isShaped(t, shown.discounts[0], billingShapes.discountView, 'BillingSubscriptionDiscountView')
    t.equal(shown.discounts[0].started_at, '2030-03-01T00:00:00.000Z', 'decision 9 a time like all others')
    t.equal(plan.id, pro.plan.id)
    const wrong = await client.post('/billing/subscription/upsert', body({ ended_at: 'some day' }))
    t.equal(wrong.status, 400, 'an end that is no time')
  })

  await t.test('AL-20, AL-22 a key that may only read or capture upserts nothing', async t => {
    const key = await client.ok('POST', '/api-keys', {
      name: 'reader',
      readonly: true,
      environment_id: environmentId,
    })
    const reader = client.as(key.secret)
    t.equal((await reader.get('/billing/products')).status, 200)
    t.equal((await reader.post('/billing/product/upsert', { external_id: 'x', price: 1 })).status, 403)
  })
})

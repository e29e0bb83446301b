// Rules at the edges of plans: purchases while a downgrade waits, paid products, features in use, links of products,
// messages of providers out of order, lines of a preview, overrides and subscriptions that ended.
import t from 'tap'
import { eventFeature, publishDraftOf } from '../control/planned.js'
import { offerPlans, seconds, subscriptionBody } from './billing-world.js'
import { paymentWorld } from './payment-world.js'

const behaviour = { scheduled_downgrade_behavior: 'end_of_billing_period' }
const leave = { migration_strategy: 'leave', excluded_company_ids: [] }

t.test('rules at the edges of plans', async t => {
  const { client, tollgate, clock, free, priced, bill, body, manage, company, show } = await paymentWorld(
    t,
    behaviour,
  )

  await t.test('EN-95 (N18) no credits are purchased while a downgrade waits', async t => {
    const credit = await client.ok('POST', '/billing/credits', {
      name: 'Token',
      description: '',
      currency: 'usd',
    })
    const bundle = await client.ok('POST', '/billing/credits/bundles', {
      bundle_name: 'Ten',
      credit_id: credit.id,
      currency: 'usd',
      price_per_unit: 10,
      quantity: 10,
    })
    const [high, low] = [await priced('High', 300, null), await priced('Low', 100, null)]
    const id = await company()
    const grant = (more: object) =>
      client.post('/billing/credits/grants/company', {
        company_id: id,
        credit_id: credit.id,
        quantity: 10,
        ...more,
      })
    const bought = { reason: 'purchased', credit_bundle_id: bundle.id, currency: 'usd' }
    await manage(id, high.id, high.monthly_price.id)
    t.equal((await grant(bought)).status, 201)
    await manage(id, low.id, low.monthly_price.id)
    t.match(await grant(bought), { status: 400, body: { error: /downgrade is pending/ } })
    t.equal((await grant({ reason: 'purchased' })).status, 400)
    t.equal((await grant({ reason: 'free' })).status, 201, 'a gift is no purchase')
    const withBundle = (plan: typeof low, door = '/manage-plan') =>
      client.post(
        door,
        body(id, plan.id, plan.monthly_price.id, { credit_bundles: [{ bundle_id: bundle.id, quantity: 1 }] }),
      )
    for (const door of ['/manage-plan/preview', '/manage-plan'])
      t.match(await withBundle(low, door), { status: 400, body: { error: /downgrade is pending/ } })
    t.ok((await show(id)).scheduled_downgrade, 'a purchase makes no cheaper plan an upgrade')
    await manage(id, high.id, high.monthly_price.id)
    t.equal((await grant(bought)).status, 201, 'an upgrade calls the downgrade off')
    await client.ok('POST', '/manage-plan/subscription/cancel', { company_id: id, cancel_immediately: false })
    t.equal((await grant(bought)).status, 400, 'a cancellation that waits')
  })

  await t.test(
    'PB-43 a running subscription keeps its currency, now and at the end of the period',
    async t => {
      const inEuros = async (name: string, amount: number) => {
        const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan' })
        const euros = [{ currency: 'eur', monthly_price: amount, yearly_price: 10 * amount }]
        await bill(plan.id, amount, 10 * amount, { currency_prices: euros })
        return publishDraftOf(client, plan.id, leave)
      }
      const [high, low] = [await inEuros('High in two', 300), await inEuros('Low in two', 100)]
      const euro = (plan: typeof high, price = 'monthly_price') =>
        plan.currency_prices.find((one: { currency: string }) => one.currency === 'eur')[price].id
      const id = await company()
      await manage(id, high.id, high.monthly_price.id)
      for (const [plan, price] of [
        [low, euro(low)],
        [high, euro(high)],
        [high, euro(high, 'yearly_price')],
      ])
        for (const door of ['/manage-plan/preview', '/manage-plan'])
          t.match(await client.post(door, body(id, plan.id, price)), {
            status: 400,
            body: { error: /is paid in usd/ },
          })
      t.match(await show(id), { billing_subscription: { currency: 'usd', total_price: 300 } })
      await client.ok('POST', '/manage-plan/subscription/cancel', {
        company_id: id,
        cancel_immediately: true,
      })
      await manage(id, low.id, euro(low))
      t.match(await show(id), { billing_subscription: { currency: 'eur', total_price: 100 } })
    },
  )

  await t.test('N17 a plan whose product costs nothing has no paid product', async t => {
    const named = async (query: string) =>
      (await client.ok('GET', `/plans?without_paid_product_id=true&${query}`)).map(
        (one: { name: string }) => one.name,
      )
    await priced('Zero', 0, 0)
    await priced('Zero or ten', 0, 10)
    await priced('Ten', 10, null)
    const found = await named('limit=100')
    t.ok(found.includes('Zero'))
    t.notOk(found.includes('Zero or ten'))
    t.notOk(found.includes('Ten'))
    const product = async (external_id: string, price: number, tiers: object[] = []) => {
      const made = await client.ok('POST', '/billing/product/upsert', {
        external_id,
        name: external_id,
        price,
      })
      await client.ok('POST', '/billing/price/upsert', {
        price_external_id: `price_${external_id}`,
        product_external_id: external_id,
        external_account_id: 'acct',
        currency: 'usd',
        interval: 'month',
        price,
        billing_scheme: tiers.length > 0 ? 'tiered' : 'per_unit',
        price_tiers: tiers,
        usage_type: 'licensed',
        is_active: true,
      })
      const plan = await client.ok('POST', '/plans', { name: external_id, plan_type: 'plan' })
      const linked = { charge_type: 'recurring', is_trialable: false, billing_product_id: made.product_id }
      await client.ok('PUT', `/plans/${plan.id}/billing_products`, linked)
      await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`, leave)
    }
    await product('told_zero', 0)
    await product('told_ten', 10)
    await product('told_tiers', 0, [
      { price_external_id: 'price_told_tiers', up_to: null, flat_amount: 5, per_unit_price: 0 },
    ])
    const told = await named('q=told_')
    t.same(told, ['told_zero'])
  })

  await t.test('EN-64 a feature that companies have is not deleted; its flag goes with it', async t => {
    const feature = await eventFeature(client, 'Calls', 'call')
    const [{ key }] = feature.flags
    const made = await client.ok('POST', '/plans', { name: 'With calls', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', {
      plan_id: made.id,
      feature_id: feature.id,
      value_type: 'numeric',
      value_numeric: 5,
      metric_period: 'all_time',
    })
    await bill(made.id, 100, null)
    const plan = await publishDraftOf(client, made.id, leave)
    const id = await company()
    await manage(id, plan.id, plan.monthly_price.id)
    const gone = () => client.del(`/features/${feature.id}`)
    const refused = await gone()
    t.equal(refused.status, 400)
    t.match(refused.body.error, /With calls/)
    t.match(refused.body.error, id)
    t.match(
      (await show(id)).entitlements.find((one: { feature_id: string }) => one.feature_id === feature.id),
      { allocation: 5 },
      'nothing was stripped',
    )
    t.equal((await client.post(`/flags/${key}/check`, { company: { id } })).status, 200)
    const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('DELETE', `/plan-entitlements/${entitlement.id}`)
    await publishDraftOf(client, plan.id, { migration_strategy: 'immediate', excluded_company_ids: [] })
    t.equal((await gone()).status, 200)
    t.equal((await client.post(`/flags/${key}/check`, { company: { id } })).status, 404, 'its flag is gone')
  })

  await t.test('EN-64, EN-82 so is one that companies without a plan have by the fallback plan', async t => {
    const feature = await client.ok('POST', '/features', {
      name: 'Basics',
      description: '',
      feature_type: 'boolean',
    })
    const other = await client.ok('POST', '/plans', { name: 'Basic', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', {
      plan_id: other.id,
      feature_id: feature.id,
      value_type: 'boolean',
      value_bool: true,
    })
    await client.ok('PUT', `/plans/version/${other.draft_version.id}/publish`, leave)
    await offerPlans(client, tollgate, { fallback: other.id }, behaviour)
    const id = await company()
    t.match(await client.del(`/features/${feature.id}`), { status: 400, body: { error: /Basic/ } })
    await offerPlans(client, tollgate, { fallback: free.id }, behaviour)
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: free.id })
    t.equal((await client.del(`/features/${feature.id}`)).status, 200)
  })

  await t.test('EN-64 nor one that a migration, a downgrade or the end of a trial is to bring', async t => {
    const feature = async (name: string) =>
      (await client.ok('POST', '/features', { name, description: '', feature_type: 'boolean' })).id as string
    const entitle = (plan_id: string, feature_id: string) =>
      client.ok('POST', '/plan-entitlements', {
        plan_id,
        feature_id,
        value_type: 'boolean',
        value_bool: true,
      })
    const refused = async (featureId: string, name: RegExp, companyId: string) => {
      const { status, body: heard } = await client.del(`/features/${featureId}`)
      t.equal(status, 400, `${name}`)
      t.match(heard.error, name)
      t.match(heard.error, companyId)
    }
    const [soon, lower, last] = [await feature('Soon'), await feature('Lower'), await feature('Last')]
    const [high, low] = [await priced('Highest', 300, null), await priced('Lowest', 100, null)]
    const id = await company()
    await manage(id, high.id, high.monthly_price.id)
    await entitle(high.id, soon)
    await publishDraftOf(client, high.id, { ...leave, migration_strategy: 'end_of_billing_period' })
    await refused(soon, /Highest/, id)
    const down = await company()
    await manage(down, high.id, high.monthly_price.id)
    await manage(down, low.id, low.monthly_price.id)
    await entitle(low.id, lower)
    await publishDraftOf(client, low.id, leave)
    await refused(lower, /Lowest/, down)
    const expiry = await client.ok('POST', '/plans', { name: 'After trials', plan_type: 'plan' })
    await entitle(expiry.id, last)
    await publishDraftOf(client, expiry.id, leave)
    const tried = await client.ok('POST', '/plans', { name: 'Tried', plan_type: 'plan' })
    await bill(tried.id, 100, null, { is_trialable: true, trial_days: 10 })
    const trialable = await publishDraftOf(client, tried.id, leave)
    const trial = await company()
    await manage(trial, trialable.id, trialable.monthly_price.id, {
      trial_end: '2031-01-20T00:00:00Z',
      trial_end_setting: 'cancel',
    })
    await offerPlans(client, tollgate, { fallback: free.id, expiry: expiry.id }, behaviour)
    await refused(last, /After trials/, trial)
    await offerPlans(client, tollgate, { fallback: free.id }, behaviour)
    t.equal((await client.del(`/features/${last}`)).status, 200, 'nobody is to get it')
  })

  await t.test('PB-51 a product linked to a plan applies at the link', async t => {
    const product = await client.ok('POST', '/billing/product/upsert', {
      external_id: 'late',
      name: 'Late',
      price: 10,
    })
    const sold = [{ product: 'late', price: 'price_late', plan: free, productId: product.product_id }]
    const [one, moved] = [await company(), await company()]
    for (const [i, id] of [one, moved].entries())
      await client.ok('POST', '/billing/subscription/upsert', {
        ...subscriptionBody(`sub_late_${i}`, `cus_late_${i}`, sold as never, {
          company_id: id,
          status: 'active',
          period_start: seconds('2031-01-10T00:00:00Z'),
          period_end: seconds('2031-02-10T00:00:00Z'),
        }),
      })
    t.equal((await show(one)).plan.id, free.id)
    const plan = await client.ok('POST', '/plans', { name: 'Late', plan_type: 'plan' })
    const linked = { charge_type: 'recurring', is_trialable: false, billing_product_id: product.product_id }
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, linked)
    await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`, leave)
    t.match(await show(one), { plan: { id: plan.id }, billing_subscription: { status: 'active' } })
    t.equal((await show(moved)).plan.id, plan.id)
    await client.ok('PUT', `/company-plans/${moved}`, { base_plan_id: free.id })
    await client.ok('PUT', `/plans/${plan.id}`, { name: 'Later' })
    await publishDraftOf(client, plan.id, leave)
    t.equal((await show(moved)).plan.id, free.id, 'a version of a plan that was linked before moves nobody')
    t.same(await tollgate.services.sql`select * from plan_links`, [])
  })

  await t.test('PB-54 a provider’s older message is ignored, and the answer says so', async t => {
    const product = await client.ok('POST', '/billing/product/upsert', {
      external_id: 'ev',
      name: 'Ev',
      price: 10,
    })
    const plan = await client.ok('POST', '/plans', { name: 'Told', plan_type: 'plan' })
    const linked = { charge_type: 'recurring', is_trialable: false, billing_product_id: product.product_id }
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, linked)
    await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`, leave)
    const id = await company()
    const sold = [{ product: 'ev', price: 'price_ev', plan, productId: product.product_id }]
    const tell = async (status: string, at: string | null) => {
      const answer = await client.post('/billing/subscription/upsert', {
        ...subscriptionBody('sub_ev', 'cus_ev', sold as never, {
          company_id: id,
          status,
          period_start: seconds('2031-01-10T00:00:00Z'),
          period_end: seconds('2031-02-10T00:00:00Z'),
          ...(at !== null && { provider_event_at: at }),
        }),
      })
      return { answer, warning: answer.headers.get('x-service-warning') }
    }
    const planId = async () => (await show(id)).plan.id
    t.equal((await tell('active', '2031-01-09T10:00:00Z')).warning, null)
    t.equal(await planId(), plan.id)
    const late = await tell('incomplete', '2031-01-09T09:59:59Z')
    t.match(late, {
      answer: { status: 201, body: { data: { status: 'active' } } },
      warning: /ignored.*provider_event_at/,
    })
    t.equal(await planId(), plan.id, 'a late `incomplete` takes nothing')
    t.equal((await tell('active', '2031-01-09T10:00:00Z')).warning, null, 'the same once more is applied')
    await tell('canceled', '2031-01-09T11:00:00Z')
    t.equal(await planId(), free.id)
    t.match((await tell('active', '2031-01-09T10:30:00Z')).warning, /ignored/)
    t.equal(await planId(), free.id, 'a late `active` revives nothing')
    t.equal((await tell('active', null)).warning, null, 'without a time it is applied as ever')
    t.equal(await planId(), plan.id)
    t.match((await tell('canceled', '2031-01-09T10:30:00Z')).warning, /ignored/, 'the last known time stays')
    t.equal((await tell('active', '2039-01-01T00:00:00Z')).answer.status, 400, 'no time of the future')
    t.equal((await tell('active', 'yesterday')).answer.status, 400)
  })

  await t.test('the lines of a preview sum to what is due now', async t => {
    await clock('2031-01-21T07:00:00.000Z')
    const [low, high] = [await priced('Lower', 900, null), await priced('Higher', 9001, 90_000)]
    const extra = await priced('Extra', 333, null, 'add_on')
    const add = { add_on_selections: [{ plan_id: extra.id, price_id: extra.monthly_price.id }] }
    await client.ok('POST', '/billing/coupons', {
      external_id: 'third',
      name: 'Third',
      amount_off: 0,
      percent_off: 33,
      duration: 'once',
      duration_in_months: 0,
      max_redemptions: 0,
      times_redeemed: 0,
    })
    const id = await company()
    const sums = async (planId: string, price: string, more: object = {}) => {
      const { subscription_change_preview: preview } = await client.ok(
        'POST',
        '/manage-plan/preview',
        body(id, planId, price, more),
      )
      const { upcoming_invoice_line_items: lines, due_now: due } = preview.finance
      const sum = lines.reduce((all: number, one: { amount: number }) => all + one.amount, 0)
      t.equal(sum, due, JSON.stringify(preview.finance))
      t.equal(due, preview.due_now)
      return preview
    }
    await sums(low.id, low.monthly_price.id)
    await sums(low.id, low.monthly_price.id, { ...add, coupon_external_id: 'third' })
    await sums(low.id, low.monthly_price.id, { ...add, billing_cycle_anchor: '2031-02-03T00:00:00Z' })
    await manage(id, low.id, low.monthly_price.id)
    await clock('2031-02-02T11:13:17.000Z')
    await sums(high.id, high.monthly_price.id)
    await sums(high.id, high.monthly_price.id, { ...add, coupon_external_id: 'third' })
    await sums(high.id, high.yearly_price.id)
    await manage(id, high.id, high.monthly_price.id, add)
    const waits = await sums(low.id, low.monthly_price.id)
    t.equal(waits.is_scheduled_downgrade, true)
    await offerPlans(client, tollgate, { fallback: free.id }, { proration_behavior: 'create_prorations' })
    const now = await sums(low.id, low.monthly_price.id)
    t.match(now, { is_scheduled_downgrade: false, due_now: 0 }, 'the credit is more than the charge')
  })

  await t.test('EN-4 filters for those without an override do not count one that has expired', async t => {
    await clock('2031-03-01T00:00:00.000Z')
    const calls = await eventFeature(client, 'Lapsing calls', 'lapsing-call')
    const [id, other] = [await company(), await company()]
    const expiration_date = '2031-03-02T00:00:00Z'
    const override = { company_id: id, feature_id: calls.id, value_numeric: 5, expiration_date }
    await client.ok('POST', '/company-overrides', override)
    const found = async () => {
      const without = `/companies?without_feature_override_for=${calls.id}&ids=${id}&ids=${other}`
      const features = `without_company_override_for=${id}&ids=${calls.id}`
      const [companies, count] = [
        await client.ok('GET', without),
        await client.ok('GET', without.replace('?', '/count?')),
      ]
      t.equal(count.count, companies.length)
      const listed = await client.ok('GET', `/features?${features}`)
      t.equal((await client.ok('GET', `/features/count?${features}`)).count, listed.length)
      return [companies.map((one: { id: string }) => one.id).sort(), listed.length]
    }
    t.same(await found(), [[other], 0])
    await clock(expiration_date)
    t.same(await found(), [[id, other].sort(), 1])
    await client.ok('POST', '/company-overrides', {
      ...override,
      expiration_date: null,
    })
    t.same(await found(), [[other], 0], 'the new one has its place')
  })

  await t.test('CU-61 a company whose subscriptions have ended is not paid, but free', async t => {
    await clock('2031-04-01T00:00:00.000Z')
    const sold = await priced('Typed price', 2_000, null)
    const trial = await client.ok('POST', '/plans', { name: 'Typed trial', plan_type: 'plan' })
    await bill(trial.id, 1_500, null, { is_trialable: true, trial_days: 14 })
    const tried = await publishDraftOf(client, trial.id)
    const names = ['fresh', 'paying', 'at once', 'at the end', 'trying'] as const
    const ids = new Map<string, string>()
    for (const name of names) ids.set(await company(), name)
    const [, paying, atOnce, atEnd, trying] = [...ids.keys()] as [string, string, string, string, string]
    for (const id of [paying, atOnce, atEnd]) await manage(id, sold.id, sold.monthly_price.id)
    await manage(trying, tried.id, tried.monthly_price.id, { trial_end_setting: 'cancel' })
    const cancel = (company_id: string, cancel_immediately: boolean) =>
      client.ok('POST', '/manage-plan/subscription/cancel', { company_id, cancel_immediately })
    await cancel(atOnce, true)
    await cancel(atEnd, false)
    const among = names.map((_, i) => `ids=${[...ids.keys()][i]}`).join('&')
    const ofType = async (filter: string) => {
      const query = `${among}&${filter}`
      const listed = await client.ok('GET', `/companies?${query}`)
      t.equal((await client.ok('GET', `/companies/count?${query}`)).count, listed.length, filter)
      return listed.map((one: { id: string }) => ids.get(one.id)).sort()
    }
    const types = async () => ({
      free: await ofType('subscription_types=free'),
      paid: await ofType('subscription_types=paid'),
      trial: await ofType('subscription_types=trial'),
      monetized: await ofType('monetized_subscriptions=true'),
    })
    t.same(await types(), {
      free: ['at once'],
      paid: ['at the end', 'paying'],
      trial: ['trying'],
      monetized: ['at the end', 'paying'],
    })
    const product = (await client.ok('GET', `/plans/${sold.id}`)).billing_product
    t.equal(product.subscription_count, 2, 'so the product counts those that run')
    await clock('2031-06-01T00:00:00.000Z')
    t.same(await types(), {
      free: ['at once', 'at the end', 'trying'],
      paid: ['paying'],
      trial: [],
      monetized: ['paying'],
    })
    t.same(await ofType('subscription_types=free&subscription_types=paid'), [
      'at once',
      'at the end',
      'paying',
      'trying',
    ])
  })
})

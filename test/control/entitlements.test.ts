// Plan entitlements over HTTP: every value type and price behaviour, what is corrected and what is refused, and that a
// published one is seen by the very next check.
import t from 'tap'
import { startHere } from '../harness.js'
import { booleanFeature, companyOf, eventFeature, publishDraftOf, publishedPlan } from './planned.js'
import { isShaped, shapes } from './shape.js'

t.test('plan entitlements', async t => {
  const { client, tollgate } = await startHere(t)
  const exports_ = await eventFeature(client, 'Exports', 'export')
  const tokens = await eventFeature(client, 'Tokens', 'completion', { event_source: 'inference' })
  const dark = await booleanFeature(client, 'Dark mode')
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'trait',
  })
  const licence = await client.ok('POST', '/features', {
    name: 'Editor',
    description: '',
    feature_type: 'license',
  })
  const limit = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'company',
    trait_type: 'number',
    hierarchy: ['seat_limit'],
  })
  const ofUser = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'user',
    trait_type: 'number',
    hierarchy: ['age'],
  })
  let made = 0
  const newPlan = () => client.ok('POST', '/plans', { name: `Plan ${++made}`, plan_type: 'plan' })

  /** An entitlement on a plan of its own. */
  async function entitle(body: object) {
    const plan = await newPlan()
    return client.post('/plan-entitlements', { plan_id: plan.id, ...body })
  }
  const refused = async (body: object) => (await entitle(body)).status

  await t.test('EN-10 boolean; EN-18 what is of another type is stored null', async t => {
    const answer = await entitle({
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: true,
      value_numeric: 7,
      metric_period: 'current_day',
      credit_consumption_rate: 3,
    })
    t.equal(answer.status, 201)
    isShaped(t, answer.body.data, shapes.planEntitlement, 'PlanEntitlement')
    isShaped(t, answer.body.data.plan, shapes.plan, 'Plan')
    t.match(answer.body.data, {
      id: /^pltl_/,
      rule_id: /^rule_/,
      rule_id_usage_exceeded: null,
      value_type: 'boolean',
      value_bool: true,
      value_numeric: null,
      metric_period: null,
      consumption_rate: null,
      feature: { id: dark.id },
      currency_prices: [],
      warning_tiers: [],
    })
    t.equal(await refused({ feature_id: dark.id, value_type: 'boolean' }), 400, 'needs value_bool')
  })

  await t.test('EN-12 numeric: a month without reset is the calendar’s', async t => {
    const { body } = await entitle({
      feature_id: exports_.id,
      value_type: 'numeric',
      value_numeric: 1000,
      metric_period: 'current_month',
    })
    t.match(body.data, {
      value_numeric: 1000,
      metric_period: 'current_month',
      metric_period_month_reset: 'first_of_month',
      rule_id_usage_exceeded: /^rule_/,
    })
    const daily = await entitle({
      feature_id: exports_.id,
      value_type: 'numeric',
      value_numeric: 0,
      metric_period: 'current_day',
      metric_period_month_reset: 'billing_cycle',
    })
    t.match(daily.body.data, { value_numeric: 0, metric_period_month_reset: null })
    t.equal(
      await refused({ feature_id: exports_.id, value_type: 'numeric' }),
      400,
      'EN-18 needs value_numeric',
    )
    t.equal(
      await refused({ feature_id: exports_.id, value_type: 'numeric', value_numeric: -1 }),
      400,
      'EN-18',
    )
    t.equal(await refused({ feature_id: exports_.id, value_type: 'numeric', value_numeric: 1.5 }), 400)
    t.equal(
      await refused({
        feature_id: exports_.id,
        value_type: 'numeric',
        value_numeric: 1,
        metric_period: 'current_year',
      }),
      400,
    )
  })

  await t.test('EN-14, EN-18 trait: the limit is a company trait', async t => {
    const { body } = await entitle({ feature_id: seats.id, value_type: 'trait', value_trait_id: limit.id })
    t.match(body.data, {
      value_trait_id: limit.id,
      value_trait: { id: limit.id, hierarchy: ['seat_limit'] },
      metric_period: null,
    })
    t.equal(await refused({ feature_id: seats.id, value_type: 'trait' }), 400)
    t.equal(await refused({ feature_id: seats.id, value_type: 'trait', value_trait_id: ofUser.id }), 400)
    t.equal(await refused({ feature_id: seats.id, value_type: 'trait', value_trait_id: 'trt_none' }), 404)
  })

  await t.test(
    'EN-15, EN-18, EN-42 credit needs a credit that is there, and rates of known quantities',
    async t => {
      const tokenCredit = await client.ok('POST', '/billing/credits', {
        name: 'Tokens',
        description: '',
        currency: 'usd',
      })
      const none = { feature_id: tokens.id, value_type: 'credit' }
      t.equal(await refused({ ...none, credit_consumption_rate: 1 }), 400, 'no credit named')
      t.equal(await refused({ ...none, value_credit_id: 'bcrd_none', credit_consumption_rate: 1 }), 404)
      const credit = { ...none, value_credit_id: tokenCredit.id }
      t.equal(await refused({ ...credit, credit_consumption_rate: -1 }), 400)
      t.equal(await refused({ ...credit, quantity_rates: { input_tokens: -0.1 } }), 400)
      t.equal(await refused({ ...credit, quantity_rates: { images: 1 } }), 400, 'no such quantity')
      const tracked = { ...credit, feature_id: exports_.id, quantity_rates: { input_tokens: 1 } }
      t.equal(await refused(tracked), 400, 'only inference has quantities')
      const { body } = await entitle({
        ...credit,
        quantity_rates: { input_tokens: 0.001, output_tokens: 0.004 },
      })
      isShaped(t, body.data, shapes.planEntitlement, 'PlanEntitlement')
      t.match(body.data, {
        value_credit: { id: tokenCredit.id },
        consumption_rate: 0,
        quantity_rates: { input_tokens: 0.001, output_tokens: 0.004 },
        rule_id_usage_exceeded: /^rule_/,
      })
      const burnt = await entitle({
        feature_id: exports_.id,
        value_type: 'numeric',
        value_numeric: 3,
        price_behavior: 'credit_burndown',
        value_credit_id: tokenCredit.id,
        credit_consumption_rate: 0.5,
      })
      t.match(
        burnt.body.data,
        { value_type: 'credit', consumption_rate: 0.5, value_numeric: null },
        'EN-30 corrected',
      )
      t.notOk('quantity_rates' in burnt.body.data)
    },
  )

  await t.test('EN-16 no caller may write `unknown`; EN-11 unlimited', async t => {
    t.equal(await refused({ feature_id: dark.id, value_type: 'unknown' }), 400)
    const { body } = await entitle({
      feature_id: exports_.id,
      value_type: 'unlimited',
      metric_period: 'current_week',
    })
    t.match(body.data, {
      value_type: 'unlimited',
      metric_period: 'current_week',
      rule_id_usage_exceeded: null,
    })
  })

  await t.test('EN-30 a price behaviour fixes the value type', async t => {
    const typeOf = async (body: object) => (await entitle({ feature_id: exports_.id, ...body })).body.data
    t.match(await typeOf({ value_type: 'boolean', price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }), {
      value_type: 'unlimited',
      price_behavior: 'pay_as_you_go',
    })
    t.match(
      await typeOf({ value_type: 'unlimited', price_behavior: 'overage', value_numeric: 50, soft_limit: 10 }),
      {
        value_type: 'numeric',
        value_numeric: 50,
        soft_limit: 10,
      },
    )
    t.match(await typeOf({ value_type: 'numeric', price_behavior: 'tier', value_numeric: 0 }), {
      value_type: 'unlimited',
      value_numeric: null,
      soft_limit: null,
    })
    const advance = await typeOf({
      value_type: 'numeric',
      price_behavior: 'pay_in_advance',
      usage_quantity: 5,
      monthly_unit_price: 200,
    })
    t.match(
      advance,
      {
        value_type: 'trait',
        value_trait: { hierarchy: ['exports_limit'] },
        usage_quantity: 5,
        feature: { usage_limit_trait_id: advance.value_trait_id },
        metered_monthly_price: { usage_type: 'licensed', price: 200, is_active: false },
      },
      'EN-2 the feature gets its limit trait when first sold in advance',
    )
    const unsold = await typeOf({ value_type: 'unlimited', usage_quantity: 5, soft_limit: 3 })
    t.match(
      unsold,
      { usage_quantity: null, soft_limit: null },
      'EN-35 means nothing unless bought in advance',
    )
  })

  await t.test('EN-33 what may be sold how', async t => {
    const sold = (feature: { id: string }, price_behavior: string) =>
      refused({ feature_id: feature.id, value_type: 'unlimited', price_behavior })
    t.equal(await sold(seats, 'credit_burndown'), 400)
    t.equal(await sold(dark, 'tier'), 400)
    t.equal(await sold(seats, 'tier'), 201)
    t.equal(await sold(licence, 'overage'), 400)
    t.equal(await sold(licence, 'pay_in_advance'), 201)
    t.equal(await sold(tokens, 'pay_as_you_go'), 400, 'inference features only through credits')
    t.equal(await refused({ feature_id: tokens.id, value_type: 'numeric', value_numeric: 5 }), 400)
    t.equal(await sold(exports_, 'none'), 400, 'unknown behaviour')
  })

  await t.test('EN-34 the anchor of an overage window follows the reset', async t => {
    const overage = (more: object) =>
      entitle({
        feature_id: exports_.id,
        value_type: 'unlimited',
        price_behavior: 'overage',
        soft_limit: 10,
        metric_period: 'current_month',
        ...more,
      })
    const cycle = { metric_period_month_reset: 'billing_cycle' }
    t.match((await overage({ ...cycle, overage_billing_cadence: 'monthly' })).body.data, {
      overage_billing_cadence: 'monthly',
      overage_invoice_anchor: 'billing_period_start',
    })
    t.match((await overage({ overage_billing_cadence: 'quarterly' })).body.data, {
      overage_invoice_anchor: 'month_end',
    })
    t.equal(
      (await overage({ ...cycle, overage_billing_cadence: 'monthly', overage_invoice_anchor: 'month_end' }))
        .status,
      400,
    )
    t.match((await overage({ overage_billing_cadence: 'end_of_billing_period' })).body.data, {
      overage_invoice_anchor: null,
    })
    const other = await entitle({
      feature_id: exports_.id,
      value_type: 'unlimited',
      overage_billing_cadence: 'monthly',
    })
    t.equal(other.body.data.overage_billing_cadence, null, 'of overage only')
  })

  await t.test('EN-52 warning tiers', async t => {
    const tiers = (warning_tiers: object[]) =>
      entitle({ feature_id: exports_.id, value_type: 'numeric', value_numeric: 9, warning_tiers })
    const { body } = await tiers([
      { key: 'soon', value: 7 },
      { key: 'late', value: 9 },
    ])
    t.match(body.data.warning_tiers, [
      { id: /^wtir_/, key: 'soon', value: 7 },
      { id: /^wtir_/, key: 'late', value: 9 },
    ])
    t.equal((await tiers([{ key: 'a', value: 0 }])).status, 400)
    t.equal(
      (
        await tiers([
          { key: 'a', value: 1 },
          { key: 'a', value: 2 },
        ])
      ).status,
      400,
      'keys are unique',
    )
    const eleven = Array.from({ length: 11 }, (_, i) => ({ key: `${i}`, value: i + 1 }))
    t.equal((await tiers(eleven)).status, 400, 'ten at most')
    t.equal((await tiers(eleven.slice(1))).status, 201)
  })

  await t.test('PB-40, PB-41, PB-43 unit prices', async t => {
    const priced = (more: object) =>
      entitle({ feature_id: exports_.id, value_type: 'unlimited', price_behavior: 'tier', ...more })
    const { body } = await priced({
      tier_mode: 'volume',
      monthly_price_tiers: [
        { up_to: 100, flat_amount: 10, per_unit_price_decimal: '0.5' },
        { per_unit_price: 2 },
      ],
      yearly_unit_price: 7,
      yearly_unit_price_decimal: '7.5',
      currency_prices: [{ currency: 'eur', monthly_unit_price: 3 }],
    })
    const entitlement = body.data
    isShaped(t, entitlement.metered_monthly_price, shapes.billingPriceView, 'BillingPriceView')
    t.match(entitlement.metered_monthly_price, {
      billing_scheme: 'tiered',
      tiers_mode: 'volume',
      usage_type: 'metered',
      price_tier: [
        { up_to: 100, flat_amount: 10, per_unit_price: 1, per_unit_price_decimal: '0.5' },
        { up_to: null, flat_amount: 0, per_unit_price: 2, per_unit_price_decimal: null },
      ],
    })
    t.match(
      entitlement.metered_yearly_price,
      { price: 8, price_decimal: '7.5' },
      'the decimal wins, rounded half-up',
    )
    t.match(entitlement.currency_prices, [
      { currency: 'usd', monthly_price: { billing_scheme: 'tiered' } },
      { currency: 'eur', monthly_price: { price: 3 } },
    ])
    const status = async (more: object) => (await priced(more)).status
    t.equal(await status({ monthly_price_tiers: [{ up_to: 5 }] }), 400, 'the last tier is open')
    t.equal(await status({ monthly_price_tiers: [{ up_to: 5 }, { up_to: 5 }, {}] }), 400, 'tiers ascend')
    t.equal(await status({ monthly_price_tiers: [{}, {}] }), 400)
    t.equal(await status({ monthly_unit_price_decimal: '1e3' }), 400)
    t.equal(await status({ billing_product_id: 'bilp_none' }), 404)
    t.equal(await status({ monthly_metered_price_id: 'bilpp_none' }), 404)

    const plan = await publishDraftOf(client, entitlement.plan_id)
    const sold = plan.entitlements[0]
    t.match(sold, {
      metered_monthly_price: { id: entitlement.metered_monthly_price.id, is_active: true },
      usage_based_product: { name: `${plan.name}: Exports` },
    })
    isShaped(t, sold.usage_based_product, shapes.billingProduct, 'BillingProduct')
    const reused = await entitle({
      feature_id: exports_.id,
      value_type: 'unlimited',
      price_behavior: 'pay_as_you_go',
      monthly_metered_price_id: sold.metered_monthly_price.id,
    })
    t.equal(
      reused.body.data.metered_monthly_price.id,
      sold.metered_monthly_price.id,
      'a price that exists is named',
    )
  })

  await t.test('EN-4 one entitlement per version and feature; PB-3, PB-7 edits go to the draft', async t => {
    const body = { feature_id: dark.id, value_type: 'boolean', value_bool: true }
    const plan = await publishedPlan(client, 'Edited', [body])
    const [published] = plan.entitlements
    t.equal((await client.post('/plan-entitlements', { ...body, plan_id: plan.id })).status, 400, 'EN-4')
    const onPublished = {
      ...body,
      plan_id: plan.id,
      feature_id: seats.id,
      plan_version_id: plan.active_version.id,
    }
    t.equal((await client.post('/plan-entitlements', onPublished)).status, 400, 'PB-7 not in place')
    const elsewhere = { ...body, plan_id: plan.id, plan_version_id: 'plvr_none' }
    t.equal((await client.post('/plan-entitlements', elsewhere)).status, 404)

    const changed = await client.ok('PUT', `/plan-entitlements/${published.id}`, {
      value_type: 'boolean',
      value_bool: false,
    })
    t.not(changed.id, published.id, 'the copy on the draft')
    t.equal(changed.value_bool, false)
    t.equal((await client.ok('GET', `/plan-entitlements/${published.id}`)).value_bool, true, 'PB-3')
    const again = await client.ok('PUT', `/plan-entitlements/${changed.id}`, {
      value_type: 'boolean',
      value_bool: true,
    })
    t.equal(again.id, changed.id)
    const now = await publishDraftOf(client, plan.id)
    t.equal(now.entitlements[0].id, changed.id)
    t.equal(
      (await client.put(`/plan-entitlements/${published.id}`, { value_type: 'unlimited' })).status,
      400,
      'archived',
    )
    t.same((await client.del(`/plan-entitlements/${changed.id}`)).body.data, { deleted: true })
    t.equal((await client.del(`/plan-entitlements/${changed.id}`)).status, 404, 'AL-34 twice')
    t.equal(
      (await client.ok('GET', `/plans/${plan.id}`)).entitlements.length,
      1,
      'granted until the next publish',
    )
    t.equal((await publishDraftOf(client, plan.id)).entitlements.length, 0)
    for (const [method, path] of [
      ['GET', '/plan-entitlements/pltl_none'],
      ['PUT', '/plan-entitlements/pltl_none'],
      ['DELETE', '/plan-entitlements/pltl_none'],
    ] as const)
      t.equal(
        (await client.send(method, path, method === 'PUT' ? { value_type: 'unlimited' } : undefined)).status,
        404,
      )
    t.equal(await refused({ feature_id: 'feat_none', value_type: 'unlimited' }), 404)
    t.equal((await client.post('/plan-entitlements', { ...body, plan_id: 'plan_none' })).status, 404)
  })

  await t.test('the filters of GET /plan-entitlements', async t => {
    const unlimited = (feature: { id: string }) => ({ feature_id: feature.id, value_type: 'unlimited' })
    const first = await publishedPlan(client, 'Filter one', [unlimited(exports_), unlimited(seats)])
    const second = await publishedPlan(client, 'Filter two', [unlimited(exports_)])
    const drafted = await client.ok('POST', '/plan-entitlements', { plan_id: second.id, ...unlimited(dark) })
    const ids = async (filter: string) => {
      const listed = await client.ok('GET', `/plan-entitlements?${filter}`)
      t.equal((await client.ok('GET', `/plan-entitlements/count?${filter}`)).count, listed.length)
      return listed.map((each: { plan_id: string; feature_id: string }) => [each.plan_id, each.feature_id])
    }
    t.same(await ids(`plan_id=${first.id}`), [
      [first.id, seats.id],
      [first.id, exports_.id],
    ])
    t.same(await ids(`plan_ids=${first.id}&plan_ids=${second.id}&feature_id=${exports_.id}`), [
      [second.id, exports_.id],
      [first.id, exports_.id],
    ])
    t.same(await ids(`plan_id=${second.id}`), [[second.id, exports_.id]], 'of the published version')
    const { draft_version: draft } = await client.ok('GET', `/plans/${second.id}`)
    t.equal((await ids(`plan_version_id=${draft.id}`)).length, 2)
    t.equal((await ids(`plan_version_ids=${draft.id}&plan_version_ids=${first.active_version.id}`)).length, 4)
    t.same(await ids(`ids=${drafted.id}`), [[second.id, dark.id]])
    t.same(await ids(`feature_ids=${seats.id}&q=filter%20one`), [[first.id, seats.id]])
    t.equal((await ids(`plan_id=${first.id}&with_metered_products=true`)).length, 0)
    t.same((await client.get(`/plan-entitlements?ids=${drafted.id}`)).body.params, { ids: [drafted.id] })
  })

  await t.test('POST /plan-entitlements/duplicate copies what the target does not have', async t => {
    const source = await publishedPlan(client, 'Original', [
      { feature_id: dark.id, value_type: 'boolean', value_bool: true },
      {
        feature_id: exports_.id,
        value_type: 'numeric',
        value_numeric: 5,
        price_behavior: 'overage',
        monthly_unit_price: 1,
      },
    ])
    const target = await newPlan()
    await client.ok('POST', '/plan-entitlements', {
      plan_id: target.id,
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: false,
    })
    const answer = await client.post('/plan-entitlements/duplicate', {
      source_plan_id: source.id,
      target_plan_id: target.id,
    })
    t.equal(answer.status, 201)
    isShaped(t, answer.body.data, { required: 'data issues skipped' }, 'DuplicatePlanEntitlementsResult')
    t.match(answer.body.data, {
      data: [{ plan_id: target.id, feature_id: exports_.id, value_numeric: 5 }],
      issues: [],
      skipped: [{ feature_id: dark.id, feature_name: 'Dark mode', errors: [{ message: String }] }],
    })
    t.not(answer.body.data.data[0].metered_monthly_price.id, source.entitlements[1].metered_monthly_price.id)
    t.equal(
      (
        await client.post('/plan-entitlements/duplicate', {
          source_plan_id: 'plan_none',
          target_plan_id: target.id,
        })
      ).status,
      404,
    )
  })

  await t.test('POST /plan-entitlements/billing-linked finds its entitlement again', async t => {
    const plan = await newPlan()
    const body = {
      billing_provider: 'ext_b',
      external_resource_id: 'item 1',
      plan_id: plan.id,
      feature_id: exports_.id,
      value_type: 'numeric',
      value_numeric: 1,
    }
    const created = await client.post('/plan-entitlements/billing-linked', body)
    t.equal(created.status, 201)
    t.match(created.body.data, {
      billing_linked_resource: {
        billing_provider: 'ext_b',
        external_resource_id: 'item 1',
        originator: 'ext_b',
      },
    })
    const again = await client.ok('POST', '/plan-entitlements/billing-linked', { ...body, value_numeric: 2 })
    t.match(again, { id: created.body.data.id, value_numeric: 2 })
  })

  await t.test(
    'EN-17, EN-84, PB-4 a draft grants nothing; what is published is in force for the next check',
    async t => {
      const plan = await client.ok('POST', '/plans', { name: 'Live', plan_type: 'plan' })
      await client.ok('POST', '/plan-entitlements', {
        plan_id: plan.id,
        feature_id: exports_.id,
        value_type: 'numeric',
        value_numeric: 2,
        metric_period: 'current_month',
      })
      const company = { slug: 'live' }
      const draft = await client.post('/companies', { keys: company, base_plan_id: plan.id })
      t.equal(draft.status, 400, 'EN-84 a draft is not assigned')
      const published = await publishDraftOf(client, plan.id)
      await client.ok('POST', '/companies', { keys: company, base_plan_id: plan.id })
      const check = () => client.ok('POST', '/flags/exports/check', { company })
      t.match(await check(), {
        value: true,
        rule_id: published.entitlements[0].rule_id,
        rule_type: 'plan_entitlement',
        entitlement: { allocation: 2, usage: 0, metric_period: 'current_month' },
      })
      for (let i = 0; i < 2; i++)
        await client.ok('POST', '/events', { event_type: 'track', body: { event: 'export', company } })
      t.match(await check(), {
        value: false,
        rule_id: published.entitlements[0].rule_id_usage_exceeded,
        rule_type: 'plan_entitlement_usage_exceeded',
      })
      t.equal((await client.ok('GET', `/plans/${plan.id}`)).company_count, 1, 'PB-12')
      t.equal((await client.del(`/plans/${plan.id}`)).status, 400, 'PB-12 a company is on it')
      t.equal(
        (await client.del(`/plans/version/${published.active_version.id}?promote_archived_version=true`))
          .status,
        400,
        'PB-7',
      )
      await client.ok('PUT', `/plan-entitlements/${published.entitlements[0].id}`, {
        value_type: 'numeric',
        value_numeric: 9,
      })
      t.match(await check(), { value: false }, 'PB-4')
      await publishDraftOf(client, plan.id)
      t.match(await check(), { value: false }, 'EN-85 the company is pinned to its version')
      t.ok(await companyOf(client, tollgate, 'live'))
    },
  )
})

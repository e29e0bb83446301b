// S2 A first plan as a newcomer makes it, over HTTP with nothing but what the task itself needs (decision 41): four
// calls, then what they bring about; and the mistakes that a first plan invites, each with its line.
import t from 'tap'
import { startHere } from '../harness.js'

const { client } = await startHere(t)
const company = { slug: 'acme' }

t.test('four calls put a company on a plan with a price, and the limit holds', async t => {
  const feature = await client.ok('POST', '/features', {
    name: 'API calls',
    event_subtype: 'api_call',
    flag: { key: 'api-calls' },
  })
  t.match(feature, {
    feature_type: 'event',
    description: '',
    flags: [{ key: 'api-calls', default_value: false }],
  })
  const plan = await client.ok('POST', '/plans', {
    name: 'Pro',
    entitlements: [{ feature_id: feature.id, value_numeric: 5, metric_period: 'current_month' }],
    billing_product: { monthly_price: 1900 },
  })
  t.match(plan, {
    plan_type: 'plan',
    charge_type: 'recurring',
    billing_strategy: 'service_managed',
    is_trialable: false,
    monthly_price: { price: 1900, currency: 'usd' },
    entitlements: [{ value_type: 'numeric', value_numeric: 5 }],
  })
  const published = await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`)
  t.equal(published.status, 'published')
  const managed = await client.ok('POST', '/manage-plan', { company, base_plan_id: plan.id })
  t.match(managed, { success: true, company: { plan: { id: plan.id, name: 'Pro' } } })

  const check = () => client.ok('POST', '/flags/api-calls/check', { company })
  t.match(await check(), { value: true, feature_allocation: 5, feature_usage: 0 })
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'api_call', company, quantity: 5 },
  })
  t.match(await check(), { value: false, feature_allocation: 5, feature_usage: 5 })
})

t.test('the kind of each value follows from what is given', async t => {
  const feature = async (body: object) => (await client.ok('POST', '/features', body)).id as string
  const credit = await client.ok('POST', '/billing/credits', { name: 'Tokens' })
  t.match(credit, { description: '' })
  const [sso, calls, messages, tokens] = await Promise.all([
    feature({ name: 'SSO' }),
    feature({ name: 'Exports', event_subtype: 'export' }),
    feature({ name: 'Messages', event_subtype: 'message' }),
    feature({ name: 'Answers', event_subtype: 'answer' }),
  ])
  const plan = await client.ok('POST', '/plans', {
    name: 'Team',
    entitlements: [
      { feature_id: sso },
      { feature_id: calls, value_type: 'unlimited' },
      { feature_id: messages, price_behavior: 'pay_as_you_go', monthly_unit_price: 2 },
      { feature_id: tokens, value_credit_id: credit.id, credit_consumption_rate: 3 },
    ],
    billing_product: { trial_days: 14, yearly_price: 20_000, currency: 'eur' },
    credit_grants: [{ credit_id: credit.id, credit_amount: 100 }],
  })
  const values = Object.fromEntries(
    (plan.entitlements as { feature_id: string }[]).map(one => [one.feature_id, one]),
  )
  t.match(values[sso], { value_type: 'boolean', value_bool: true })
  t.match(values[calls], { value_type: 'unlimited' })
  t.match(values[messages], { value_type: 'unlimited', price_behavior: 'pay_as_you_go' })
  t.match(values[tokens], { value_type: 'credit', consumption_rate: 3 })
  t.match(plan, {
    charge_type: 'recurring',
    is_trialable: true,
    trial_days: 14,
    yearly_price: { currency: 'eur' },
  })
  t.match(plan.included_credit_grants, [
    { credit_amount: 100, reset_cadence: 'monthly', reset_start: 'billing_period' },
  ])
  const addOn = await client.ok('POST', '/plans', {
    name: 'Setup',
    plan_type: 'add_on',
    billing_product: { one_time_price: 500 },
  })
  t.match(addOn, { charge_type: 'one_time', one_time_price: { price: 500 } })
  const free = await client.ok('POST', '/plans', { name: 'Free' })
  t.match(free, { charge_type: 'none', billing_strategy: 'no_billing', entitlements: [] })
  const priced = await client.ok('PUT', `/plans/${free.id}/billing_products`, { monthly_price: 900 })
  t.match(priced, { charge_type: 'recurring' }, 'a price on a free plan is not dropped')
  const override = await client.ok('POST', '/company-overrides', {
    company_id: (await client.ok('POST', '/companies', { keys: company })).id,
    feature_id: sso,
  })
  t.match(override, { value_type: 'boolean', value_bool: true })
})

t.test('empty lists and texts may be left out', async t => {
  t.match(await client.ok('POST', '/flags', { key: 'beta' }), { name: 'beta', default_value: false })
  const flag = await client.ok('GET', '/flags?q=beta')
  const rules = await client.ok('PUT', `/flags/${flag[0].id}/rules`, {
    rules: [{ name: 'all', priority: 1, value: true }],
  })
  t.match(rules.rules, [{ name: 'all', conditions: [], condition_groups: [] }])
  const kept = await client.ok('PUT', `/flags/${flag[0].id}/rules`, {
    rules: [{ id: rules.rules[0].id, name: 'each', priority: 1, value: true, conditions: [] }],
  })
  t.match(kept.rules, [{ id: rules.rules[0].id, name: 'each' }])
  t.match(await client.ok('POST', '/plan-groups', {}), { id: /^plgr_/ })
  const bundle = await client.ok('POST', '/plan-bundles', { plan: { name: 'Bundled' } })
  t.match(bundle, { plan: { name: 'Bundled', plan_type: 'plan' }, entitlements: [] })
})

t.test('a plan with parts is made whole or not at all, once under its key', async t => {
  const feature = await client.ok('POST', '/features', { name: 'Seats of a room' })
  const count = async () => (await client.ok('GET', '/plans/count')).count as number
  const before = await count()
  const body = { name: 'Once', entitlements: [{ feature_id: feature.id }] }
  const bad = [
    [
      { ...body, entitlements: [{ feature_id: feature.id }, { feature_id: 'feat_x' }] },
      404,
      /^entitlements\[1\]\.feature_id: no such feature$/,
    ],
    [
      { ...body, entitlements: [{ feature_id: feature.id }, { feature_id: feature.id }] },
      400,
      /^entitlements\[1\]\.feature_id: the plan version already entitles/,
    ],
    [
      { ...body, entitlements: [{ feature_id: feature.id, value_credit_id: 'bcrd_x' }] },
      404,
      /^entitlements\[0\]\.value_credit_id: no such credit$/,
    ],
    [
      { ...body, billing_product: { billing_product_id: 'prod_x' } },
      404,
      /^billing_product\.billing_product_id: no such product$/,
    ],
    [
      { ...body, billing_product: { monthly_price: 1, one_time_price: 1 } },
      400,
      /^billing_product\.charge_type: needed where/,
    ],
    [
      { ...body, credit_grants: [{ credit_id: 'bcrd_x', credit_amount: 1 }] },
      404,
      /^credit_grants\[0\]\.credit_id: no such credit/,
    ],
    [{ ...body, credit_grants: [{ credit_amount: 1 }] }, 400, /^credit_grants\[0\]\.credit_id/],
  ] as const
  for (const [wrong, status, says] of bad) {
    const answer = await client.send('POST', '/plans', wrong, {})
    t.equal(answer.status, status, answer.body.error)
    t.match(answer.body.error, says)
  }
  t.equal(await count(), before, 'nothing was made')
  const key = { 'Idempotency-Key': 'plan-once' }
  const [first, again] = [
    await client.send('POST', '/plans', body, key),
    await client.send('POST', '/plans', body, key),
  ]
  t.equal(first.body.data.id, again.body.data.id)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await count(), before + 1)
  const { id } = first.body.data
  const audited = await client
    .ok('GET', `/audit-log?q=${id}`)
    .catch(() => client.ok('GET', '/audit-log?limit=20'))
  t.match(JSON.stringify(audited), id, 'the audit log has the plan')
})

t.test('what a first plan is often asked with, and the line that says what is right', async t => {
  const feature = await client.ok('POST', '/features', { name: 'Calls of a day', event_subtype: 'daily' })
  const draft = await client.ok('POST', '/plans', { name: 'Draft' })
  const asks = [
    ['POST', '/plans', {}, 400, /^name is required: a text/],
    ['POST', '/features', { name: 'x', feature_type: 'metered' }, 400, /^feature_type: expected one of/],
    ['POST', '/features', { name: 'x', feature_type: 'event' }, 400, /event_subtype/],
    [
      'POST',
      '/plan-entitlements',
      { plan_id: draft.id, feature_id: feature.id },
      400,
      /^value_type: needed by a new entitlement without a value/,
    ],
    [
      'POST',
      '/plan-entitlements',
      { plan_id: draft.id, feature_id: feature.id, value_numeric: 1, value_bool: true },
      400,
      /^value_type: needed where value_bool and value_numeric are given/,
    ],
    ['PUT', `/plans/version/${draft.id}/publish`, {}, 404, /version/i],
    [
      'POST',
      '/manage-plan',
      { base_plan_id: draft.id },
      400,
      /^company_id is required: an id, or the keys as company$/,
    ],
    [
      'POST',
      '/manage-plan',
      { company: { slug: 'nobody' }, base_plan_id: 'plan_x' },
      404,
      /^base_plan_id: no such plan$/,
    ],
    ['POST', '/manage-plan', { company, base_plan_id: draft.id }, 400, /base_plan_id/],
    [
      'POST',
      '/manage-plan',
      { company, company_id: 'comp_x', base_plan_id: draft.id },
      400,
      /^company: not together with company_id$/,
    ],
    [
      'POST',
      '/manage-plan',
      { company_id: company, base_plan_id: draft.id },
      400,
      /^company_id: expected a text/,
    ],
    [
      'POST',
      '/manage-plan/preview',
      { company: { slug: 'nobody' }, base_plan_id: draft.id },
      404,
      /Company not found/,
    ],
  ] as const
  for (const [method, path, body, status, says] of asks) {
    const answer = await client.send(method, path, body, {})
    t.equal(answer.status, status, `${method} ${path}: ${answer.body.error}`)
    t.match(answer.body.error, says)
  }
  t.equal((await client.send('GET', '/companies/lookup?slug=nobody', undefined, {})).status, 404, 'not made')
})

// Single members and refusals of the interface document, where answers once differed: each test names the finding of
// the audit (D…) or the rule it holds.
import t from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

const { client, tollgate } = await startHere(t)
const world = new CreditWorld(client)

t.test('(D14) Environment: the answer to its creation has require_context_signature', async t => {
  const made = await client.ok('POST', '/environments', { name: 'second', environment_type: 'staging' })
  t.equal(made.require_context_signature, false)
})

t.test('(D15) every BillingPrice has an id of its own, and GET /billing/price?ids finds each', async t => {
  const credit = await world.credit({ per_unit_price: 3 })
  const bundle = await client.ok('POST', '/billing/credits/bundles', {
    bundle_name: 'Hundred',
    credit_id: credit.id,
    currency: 'usd',
    price_per_unit: 10,
    quantity: 100,
    currency_prices: [{ currency: 'eur', price_per_unit_decimal: '9.505' }],
  })
  t.not(bundle.price.id, bundle.unit_price.id)
  const euro = bundle.currency_prices.find((one: { currency: string }) => one.currency === 'eur').price
  const found = await client.ok(
    'GET',
    `/billing/price?ids=${bundle.price.id}&ids=${bundle.unit_price.id}&ids=${euro.id}`,
  )
  const amount = (id: string) => found.find((one: { id: string }) => one.id === id)?.price
  t.same([bundle.price.price, bundle.unit_price.price, euro.price], [1000, 10, 951])
  t.same([amount(bundle.price.id), amount(bundle.unit_price.id), amount(euro.id)], [1000, 10, 951])

  await client.ok('PUT', `/billing/credits/bundles/${bundle.id}`, {
    bundle_name: 'Hundred',
    price_per_unit: 10,
    quantity: 50,
  })
  const [changed] = await client.ok('GET', `/billing/price?ids=${bundle.price.id}`)
  t.equal(changed.price, 500, 'it follows the quantity')
})

t.test('(D16) a subscription shows the id of the payment method that its external id names', async t => {
  await world.company({ keys: { slug: 'payer' } })
  await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_pay', price: 10, name: 'Pay' })
  const subscription = (more: object) =>
    client.ok('POST', '/billing/subscription/upsert', {
      subscription_external_id: 'sub_pay',
      customer_external_id: 'cus_pay',
      product_external_ids: [],
      discounts: [],
      currency: 'usd',
      total_price: 10,
      cancel_at_period_end: false,
      expired_at: '0001-01-01T00:00:00Z',
      ...more,
    })
  const before = await subscription({ default_payment_method_external_id: 'pm_1' })
  t.equal(before.default_payment_method_id, null, 'nobody has told of it yet')
  const method = await client.ok('POST', '/billing/payment-methods', {
    external_id: 'pm_1',
    customer_external_id: 'cus_pay',
    payment_method_type: 'card',
  })
  t.equal((await subscription({})).default_payment_method_id, method.id, 'told of later')
  const other = await client.ok('POST', '/billing/payment-methods', {
    external_id: 'pm_2',
    customer_external_id: 'cus_pay',
    payment_method_type: 'card',
  })
  const moved = await subscription({ default_payment_method_external_id: 'pm_2' })
  t.equal(moved.default_payment_method_id, other.id)
})

t.test('(D17) a lookup without keys finds nothing: 404, as the document lists', async t => {
  for (const path of ['/companies/lookup', '/users/lookup']) {
    for (const query of ['', '?keys=', '?keys=%7B', '?keys=%7B%22a%22%3A1%7D'])
      t.equal((await client.get(path + query)).status, 404, path + query)
  }
})

t.test('(D17) lists of ids may be repeated, bracketed or joined by commas', async t => {
  const [one, two] = [await world.company(), await world.company()]
  await world.company()
  const ids = async (query: string) =>
    (await client.ok('GET', `/companies?${query}`)).map((company: { id: string }) => company.id).sort()
  const both = [one.id, two.id].sort()
  for (const query of [
    `ids=${one.id}&ids=${two.id}`,
    `ids=${one.id},${two.id}`,
    `ids=${one.id}%2C${two.id}`,
    `ids[]=${one.id}&ids[]=${two.id}`,
    `ids%5B0%5D=${one.id}&ids%5B1%5D=${two.id}`,
  ])
    t.same(await ids(query), both, query)
  const { body } = await client.get(`/companies?ids[]=${one.id}`)
  t.same([body.data.length, body.params.ids], [1, [one.id]])
})

t.test('CU-50 (D12) the ledger of a deleted company stays readable', async t => {
  const credit = await world.credit()
  const company = await world.company()
  await world.grant(company.id, credit.id, 25)
  await client.ok('DELETE', `/companies/${company.id}`)
  for (const path of ['/billing/credits/ledger', '/v2/billing/credits/ledger']) {
    const entries = await client.ok('GET', `${path}?company_id=${company.id}`)
    t.ok(entries.some((one: { amount: number; event_type: string }) => one.event_type === 'grant'))
  }
  const count = `/v2/billing/credits/ledger/count?company_id=${company.id}`
  t.ok((await client.ok('GET', count)).count >= 2)
  t.equal((await client.get('/billing/credits/ledger?company_id=comp_nobody')).status, 404)
  const staging = await client.ok('POST', '/environments', { name: 'third', environment_type: 'staging' })
  const key = await client.ok('POST', '/api-keys', { name: 'k', environment_id: staging.id })
  const elsewhere = await client.as(key.secret).get(`/billing/credits/ledger?company_id=${company.id}`)
  t.equal(elsewhere.status, 404, 'another environment sees nothing of it')
})

t.test('(D10) rules inside flags are Rules: account_id, and traits as trait_definition', async t => {
  const { account_id: accountId } = await client.ok('GET', '/whoami')
  const define = (hierarchy: string[]) =>
    client.ok('POST', '/entity-trait-definitions', {
      entity_type: 'company',
      trait_type: 'number',
      hierarchy,
    })
  const [seats, most] = [await define(['seats']), await define(['most_seats'])]
  const feature = await eventFeature(client, 'Ruled', 'ruled')
  const condition = {
    condition_type: 'trait',
    operator: 'gt',
    resource_ids: [],
    trait_id: seats.id,
    comparison_trait_id: most.id,
  }
  await client.ok('PUT', `/flags/${feature.flags[0].id}/rules`, {
    rules: [
      {
        name: 'by seats',
        priority: 1,
        value: true,
        conditions: [condition],
        condition_groups: [{ conditions: [condition] }],
      },
    ],
  })
  const credit = await world.credit()
  const inference = await client.ok('POST', '/features', {
    name: 'Model',
    description: '',
    feature_type: 'event',
    event_source: 'inference',
    event_subtype: 'model',
  })
  const plan = await publishedPlan(client, 'Ruled plan', [
    { feature_id: feature.id, value_type: 'numeric', value_numeric: 5 },
    {
      feature_id: inference.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      quantity_rates: { input_tokens: 0.5 },
    },
  ])
  const definition = { id: seats.id, entity_type: 'company', comparable_type: 'int' }
  const shown = [
    await client.ok('GET', `/flags/${feature.flags[0].id}`),
    ...(await client.ok('GET', `/features/${feature.id}`)).flags,
    ...(await client.ok('GET', `/plans/${plan.id}`)).features.find(
      (one: { id: string }) => one.id === feature.id,
    ).flags,
  ]
  for (const flag of shown) {
    t.ok(flag.rules.length >= 3)
    for (const rule of flag.rules) {
      t.equal(rule.account_id, accountId, rule.name)
      const conditions = [
        ...rule.conditions,
        ...rule.condition_groups.flatMap((group: { conditions: object[] }) => group.conditions),
      ]
      for (const one of conditions) t.equal(one.account_id, accountId)
    }
    const [own] = flag.rules
    t.match(own.conditions[0], {
      trait_definition: definition,
      comparison_trait_definition: { ...definition, id: most.id },
    })
    t.match(own.condition_groups[0].conditions[0], { trait_definition: definition })
  }
  const metered = await client.ok('GET', `/flags/${inference.flags[0].id}`)
  const rates = metered.rules.flatMap((rule: { conditions: { quantity_rates?: object }[] }) =>
    rule.conditions.flatMap(one => one.quantity_rates ?? []),
  )
  t.same(rates, [{ input_tokens: 0.5 }, { input_tokens: 0.5 }], 'Condition.quantity_rates')
})

t.test('the interface carries the label 1.0.0, the product its own version', async t => {
  const response = await fetch(`${client.url}/openapi.json`)
  const { info } = (await response.json()) as { info: { version: string; 'x-product-version': string } }
  t.equal(info.version, '1.0.0')
  t.match(info['x-product-version'], /^\d+\.\d+\.\d+/)
})

t.test(
  'EN-40 (decision 21) a credit entitlement without a rate has the rate 1, or 0 beside quantity rates',
  async t => {
    const credit = await world.credit()
    const company = await world.company()
    const feature = await eventFeature(client, 'Rated', 'rated')
    const model = await client.ok('POST', '/features', {
      name: 'Rated model',
      description: '',
      feature_type: 'event',
      event_source: 'inference',
      event_subtype: 'rated-model',
    })
    const plan = await client.ok('POST', '/plans', { name: 'Rated', plan_type: 'plan' })
    const body = { value_type: 'credit', value_credit_id: credit.id }
    const entitled = (more: object) =>
      client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...body, ...more })
    const plain = await entitled({ feature_id: feature.id })
    t.equal(plain.consumption_rate, 1)
    const priced = await entitled({ feature_id: model.id, quantity_rates: { input_tokens: 0.5 } })
    t.equal(priced.consumption_rate, 0)
    const put = (id: string, more: object) => client.ok('PUT', `/plan-entitlements/${id}`, more)
    t.equal((await put(plain.id, { credit_consumption_rate: 3 })).consumption_rate, 3)
    t.equal((await put(plain.id, {})).consumption_rate, 3)
    t.equal((await put(plain.id, { credit_consumption_rate: null })).consumption_rate, 1, 'null clears')
    const override = await client.ok('POST', '/company-overrides', {
      company_id: company.id,
      feature_id: feature.id,
      ...body,
    })
    t.equal(override.consumption_rate, 1)
  },
)

t.test(
  'decision 26 (D6) a plan entitlement keeps its period, tiers and prices when another member is changed',
  async t => {
    const feature = await eventFeature(client, 'Kept', 'kept')
    const plan = await client.ok('POST', '/plans', { name: 'Kept', plan_type: 'plan' })
    const made = await client.ok('POST', '/plan-entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      value_type: 'unlimited',
      price_behavior: 'overage',
      soft_limit: 100,
      metric_period: 'current_month',
      metric_period_month_reset: 'billing_cycle',
      overage_billing_cadence: 'monthly',
      warning_tiers: [{ key: 'half', value: 50 }],
      monthly_unit_price_decimal: '0.25',
      currency_prices: [{ currency: 'eur', monthly_unit_price: 2 }],
    })
    const put = (body: object) => client.ok('PUT', `/plan-entitlements/${made.id}`, body)
    const changed = await put({ soft_limit: 200 })
    t.match(changed, {
      soft_limit: 200,
      price_behavior: 'overage',
      metric_period: 'current_month',
      metric_period_month_reset: 'billing_cycle',
      overage_billing_cadence: 'monthly',
      overage_invoice_anchor: 'billing_period_start',
      warning_tiers: made.warning_tiers,
      metered_monthly_price: { id: made.metered_monthly_price.id, price_decimal: '0.25' },
    })
    t.same(
      changed.currency_prices.map((one: { currency: string }) => one.currency),
      ['usd', 'eur'],
    )
    const repriced = await put({ monthly_unit_price: 7 })
    t.match(
      repriced.metered_monthly_price,
      { price: 7, price_decimal: null },
      'a new amount outlives the old decimal',
    )
    t.match(await put({ metric_period_month_reset: 'first_of_month' }), {
      overage_invoice_anchor: 'month_end',
    })
    t.equal((await put({ warning_tiers: null })).warning_tiers.length, 0, 'null clears')
    const cleared = await put({ currency_prices: null, monthly_unit_price: null })
    t.same([cleared.currency_prices, cleared.metered_monthly_price], [[], undefined])
    const boolean = await put({ price_behavior: null, value_type: 'boolean', value_bool: true })
    t.match(boolean, {
      value_bool: true,
      soft_limit: null,
      metric_period: null,
      overage_billing_cadence: null,
    })
  },
)

t.test('(D9) a currency is one of CurrencyCode', async t => {
  const credit = await world.credit()
  const plan = await client.ok('POST', '/plans', { name: 'Priced', plan_type: 'plan' })
  const named = { name: 'n', description: '' }
  const bundle = { bundle_name: 'b', credit_id: credit.id, price_per_unit: 1 }
  const billing = { charge_type: 'recurring', is_trialable: false, monthly_price: 1 }
  const prices = (currency: string) => ({ currency_prices: [{ currency, price_per_unit: 1 }] })
  const requests = (currency: string) =>
    [
      ['post', '/billing/credits', { ...named, currency }],
      ['post', '/billing/credits', { ...named, currency: 'usd', ...prices(currency) }],
      ['put', `/billing/credits/${credit.id}`, prices(currency)],
      ['post', '/billing/credits/bundles', { ...bundle, currency }],
      ['put', `/plans/${plan.id}/billing_products`, { ...billing, currency }],
    ] as const
  for (const [method, path, body] of requests('xyz'))
    t.equal((await client[method](path, body)).status, 400, `${method} ${path} ${JSON.stringify(body)}`)
  for (const [method, path, body] of requests('eur'))
    t.ok((await client[method](path, body)).status < 300, `${method} ${path} ${JSON.stringify(body)}`)
})

t.test('FeatureInPlan.event_summary: wherever a read shows a feature that is tied to an event', async t => {
  const feature = await eventFeature(client, 'Counted', 'counted')
  const plan = await publishedPlan(client, 'Counting', [
    { feature_id: feature.id, value_type: 'numeric', value_numeric: 5 },
  ])
  const company = await world.company({ base_plan_id: plan.id })
  for (const quantity of [1, 2])
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'counted', company: company.keys, quantity },
    })
  await tollgate.services.projections.barrier('clickhouse')
  type Shown = {
    id: string
    event_subtype: string
    event_summary?: { event_count: number; company_count: number }
  }
  const own = (features: Shown[]) => features.find(one => one.id === feature.id)!
  const reads = {
    '/plans': own((await client.ok('GET', `/plans?ids=${plan.id}`))[0].features),
    '/plans/{plan_id}': own((await client.ok('GET', `/plans/${plan.id}`)).features),
    '/feature-usage': (await client.ok('GET', `/feature-usage?company_id=${company.id}`))[0].feature,
    '/features': own(await client.ok('GET', `/features?ids=${feature.id}`)),
  }
  for (const [path, shown] of Object.entries(reads))
    t.match(shown.event_summary, { event_count: 2, company_count: 1, event_subtype: 'counted' }, path)
})

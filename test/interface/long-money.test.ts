// Money and counts of type `long` beyond 2^53 − 1: prices, totals, coupons, thresholds, token counts. They are
// read, kept, calculated with and shown with all digits, in lists, webhooks and the audit log, after a restart too.
import t from 'tap'
import { companyOf, eventFeature, publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import {
  askText,
  digits,
  largest,
  longPrice,
  longProduct,
  longSubscription,
  makeCustomer,
  one,
} from '../long-values.js'
import { offerPlans } from './billing-world.js'
import { receiver } from './receiver.js'

const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' }
const first = await startHere(t, settings)
let { client, tollgate } = first

const ask = (method: string, path: string, body?: object | string) => askText(client, method, path, body)
async function good(method: string, path: string, body?: object | string): Promise<string> {
  const answer = await ask(method, path, body)
  t.ok(answer.status < 300, `${method} ${path}: ${answer.status}`, { found: answer.text })
  return answer.text
}
const idOf = (answer: string): string => JSON.parse(answer).data.id

/** Answers and texts in them, before a restart and after it. */
const shown: { path: string; has: string }[] = []
async function stillShown(): Promise<void> {
  for (const { path, has } of shown) t.match(await good('GET', path), has, `${path}: ${has}`)
}
const shows = (path: string, ...has: string[]) => {
  for (const text of has) shown.push({ path, has: text })
}
const none = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

const companyId = await companyOf(client, tollgate, 'acme')
const price = {
  ...longPrice,
  price: `#${largest}`,
  billing_scheme: 'tiered',
  price_tiers: [
    { price_external_id: 'price_long', up_to: 5, flat_amount: `#${one}`, per_unit_price: `#${largest}` },
    { price_external_id: 'price_long', per_unit_price: 1 },
  ],
}
const subscription = {
  ...longSubscription,
  discounts: [
    { coupon_external_id: 'off', external_id: 'off', is_active: true, started_at: '2024-01-01T00:00:00Z' },
  ],
  product_external_ids: [{ ...longProduct, billing_threshold: `#${largest}` }],
}
const coupon = {
  external_id: 'off',
  name: 'Off',
  amount_off: `#${one}`,
  percent_off: null,
  duration: 'repeating',
  duration_in_months: `#${one}`,
  max_redemptions: `#${largest}`,
  times_redeemed: `#${one}`,
}

t.test('long: a provider’s prices, subscriptions and coupons', async t => {
  await makeCustomer(client, companyId)
  const made = await good('POST', '/billing/price/upsert', price)
  t.match(made, `"price":${largest}`)
  const kept = { price_external_id: 'price_long', product_external_id: 'prod_long', nickname: 'n' }
  t.match(await good('POST', '/billing/price/upsert', kept), `"price":${largest}`, 'decision 26')
  t.match(await good('POST', '/billing/coupons', coupon), `"amount_off":${one}`)
  t.match(await good('POST', '/billing/coupons', { external_id: 'off' }), `"max_redemptions":${largest}`)
  const brief = await good('POST', '/billing/subscription/upsert', subscription)
  t.match(brief, `"total_price":${largest}`)
  const again = { subscription_external_id: 'sub_long', status: 'active' }
  t.match(
    await good('POST', '/billing/subscription/upsert', again),
    `"total_price":${largest}`,
    'decision 26',
  )
  t.match(JSON.parse(await good('GET', `/billing/price?price=${largest}`)).data, [{ id: idOf(made) }])
  t.same(JSON.parse(await good('GET', '/billing/price?price=9223372036854775806')).data, [])
  shows(
    `/billing/price?price=${largest}`,
    `"price":${largest}`,
    `"flat_amount":${one}`,
    `"per_unit_price":${largest}`,
  )
  shows('/billing/products', `"price":${largest}`)
  shows(
    `/companies/${companyId}`,
    `"total_price":${largest}`,
    `"price":${one}`,
    `"billing_threshold":${largest}`,
  )
  shows(`/companies/${companyId}`, `"amount_off":${one}`, `"duration_in_months":${one}`)
  shows(`/companies?ids=${companyId}`, `"total_price":${largest}`)
  shows('/companies/lookup?keys[slug]=acme', `"total_price":${largest}`)
  shows(`/company-subscriptions?company_id=${companyId}`, `"total_price":${largest}`)
  shows(`/billing/customers?company_ids=${companyId}`, `"total_price":${largest}`, `"per_unit_price":${one}`)
  shows('/billing/coupons', `"times_redeemed":${one}`, `"max_redemptions":${largest}`)
  await stillShown()
})

t.test('PB-41: a decimal of 19 digits is a price; beyond 64 bits it is refused', async t => {
  const decimal = (text: string) =>
    digits({ ...price, price_external_id: 'price_exact', price_decimal: text })
  t.match(
    (await ask('POST', '/billing/price/upsert', decimal('9223372036854775806.5'))).text,
    `"price":${largest}`,
  )
  const beyond = await ask('POST', '/billing/price/upsert', decimal('9223372036854775807.5'))
  t.equal(beyond.status, 400)
  t.match(beyond.text, 'beyond 64 bits')
})

t.test('long: overdraft limits of billing profiles', async t => {
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${companyId}`)
  const path = `/billing/profiles/${profile.id}`
  t.match(await good('PUT', path, { overdraft_limit: `#${largest}` }), `"overdraft_limit":${largest}`)
  t.match(await good('PUT', path, { name: 'n' }), `"overdraft_limit":${largest}`, 'decision 26')
  shows(`/billing/profiles?company_id=${companyId}`, `"overdraft_limit":${largest}`)
  await stillShown()
})

t.test('long: prices of plans, entitlements, credits, bundles and plan grants', async t => {
  const plan = await client.ok('POST', '/plans', { name: 'Long', plan_type: 'plan' })
  const billing = {
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price: `#${one}`,
    yearly_price: `#${largest}`,
  }
  await good('PUT', `/plans/${plan.id}/billing_products`, billing)
  await good('PUT', `/plans/${plan.id}/billing_products`, { monthly_price: `#${one}` })
  const calls = await eventFeature(client, 'Calls', 'calls')
  const entitlement = {
    plan_id: plan.id,
    feature_id: calls.id,
    value_type: 'unlimited',
    price_behavior: 'tier',
    metric_period: 'all_time',
    monthly_price_tiers: [
      { up_to: 5, flat_amount: `#${one}`, per_unit_price: `#${largest}` },
      { per_unit_price: 3 },
    ],
    billing_threshold: `#${one}`,
  }
  const made = await good('POST', '/plan-entitlements', entitlement)
  t.match(made, `"flat_amount":${one}`)
  t.match(made, `"billing_threshold":${one}`)
  const paid = await eventFeature(client, 'Paid', 'paid')
  const asYouGo = {
    plan_id: plan.id,
    feature_id: paid.id,
    value_type: 'unlimited',
    price_behavior: 'pay_as_you_go',
    metric_period: 'all_time',
    monthly_unit_price: `#${largest}`,
    currency_prices: [{ currency: 'eur', monthly_unit_price: `#${one}` }],
  }
  t.match(await good('POST', '/plan-entitlements', asYouGo), `"price":${largest}`)
  const credit = { name: 'C', description: '', currency: 'usd', per_unit_price: `#${one}` }
  const creditMade = await good('POST', '/billing/credits', {
    ...credit,
    currency_prices: [{ currency: 'eur', price_per_unit: `#${largest}` }],
  })
  t.match(creditMade, `"price":${largest}`)
  const creditId = idOf(creditMade)
  t.match(await good('PUT', `/billing/credits/${creditId}`, { name: 'D' }), `"price":${one}`, 'decision 26')
  const bundle = {
    bundle_name: 'B',
    credit_id: creditId,
    currency: 'usd',
    price_per_unit: `#${one}`,
    quantity: 3,
  }
  const bundleMade = await good('POST', '/billing/credits/bundles', bundle)
  t.match(bundleMade, '"price":27021597764222979', 'PB-73: three times the price of one')
  t.match(bundleMade, `"price":${one}`)
  const tooMuch = await ask(
    'POST',
    '/billing/credits/bundles',
    digits({ ...bundle, price_per_unit: `#${largest}` }),
  )
  t.equal(tooMuch.status, 400)
  t.match(tooMuch.text, 'beyond 64 bits')
  const grant = {
    credit_id: creditId,
    plan_id: plan.id,
    credit_amount: 1,
    reset_cadence: 'monthly',
    reset_start: 'first_of_month',
    postpaid_enabled: true,
    postpaid_rate_per_unit: `#${largest}`,
  }
  const grantMade = await good('POST', '/billing/credits/plan-grants', grant)
  t.match(grantMade, `"postpaid_rate_per_unit":${largest}`)
  const custom = await client.ok('POST', '/custom-plans', { company_id: companyId, name: 'Own' })
  const billed = { ...grant, plan_id: custom.id, billing_mode: 'billed', unit_price: `#${one}` }
  const billedMade = await good('POST', '/billing/credits/plan-grants', billed)
  t.match(billedMade, `"unit_price":${one}`)
  await publishDraftOf(client, plan.id)
  shows(
    `/plans/${plan.id}`,
    `"price":${one}`,
    `"price":${largest}`,
    `"flat_amount":${one}`,
    `"billing_threshold":${one}`,
  )
  shows(`/plan-entitlements?plan_id=${plan.id}`, `"price":${largest}`, `"per_unit_price":${largest}`)
  shows(`/billing/credits/${creditId}`, `"price":${one}`, `"price":${largest}`)
  shows(`/billing/credits/bundles/${idOf(bundleMade)}`, '"price":27021597764222979')
  shows(`/billing/credits/plan-grants/${idOf(grantMade)}`, `"postpaid_rate_per_unit":${largest}`)
  shows(`/billing/credits/plan-grants/${idOf(billedMade)}`, `"unit_price":${one}`)
  await stillShown()
})

t.test('long: what the service bills is calculated exactly', async t => {
  const free = await client.ok('POST', '/plans', { name: 'Free', plan_type: 'plan' })
  await publishDraftOf(client, free.id)
  await offerPlans(client, tollgate, { fallback: free.id })
  const plan = await client.ok('POST', '/plans', { name: 'Dear', plan_type: 'plan' })
  const seats = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'license',
  })
  await good('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price: `#${one}`,
  })
  await good('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: seats.id,
    value_type: 'trait',
    price_behavior: 'pay_in_advance',
    monthly_unit_price: `#${one}`,
  })
  await publishDraftOf(client, plan.id)
  const { monthly_price: monthly } = await client.ok('GET', `/plans/${plan.id}`)
  const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
  const id = await companyOf(client, tollgate, 'dear')
  const change = (quantity: number, more: object = {}) => ({
    ...none,
    company_id: id,
    base_plan_id: plan.id,
    base_plan_price_id: monthly.id,
    pay_in_advance_entitlements: [{ price_id: entitlement.metered_monthly_price.id, quantity }],
    ...more,
  })
  const seen = await good('POST', '/manage-plan/preview', change(2))
  t.match(seen, '"total_per_billing_period":27021597764222979', 'the plan and two seats')
  t.match(seen, '"due_now":27021597764222979')
  t.match(seen, '"amount":18014398509481986')
  const half = { external_id: 'half', name: 'half', amount_off: null, percent_off: 50, duration: 'once' }
  await good('POST', '/billing/coupons', {
    ...half,
    duration_in_months: null,
    max_redemptions: null,
    times_redeemed: 0,
  })
  const cheaper = await good('POST', '/manage-plan/preview', change(2, { coupon_external_id: 'half' }))
  t.match(cheaper, '"discount_amount":13510798882111490', 'half of it, rounded half-up')
  t.match(cheaper, '"due_now":13510798882111489')
  const beyond = await ask('POST', '/manage-plan', digits(change(1023)))
  t.equal(beyond.status, 400, 'the total is beyond 64 bits', { found: beyond.text })
  t.match(beyond.text, 'beyond 64 bits')
  await good('POST', '/manage-plan', change(2))
  t.match(await good('GET', `/companies/${id}`), '"total_price":27021597764222979')
  await good('POST', '/manage-plan', change(1022))
  const total = String(1023n * BigInt(one))
  shows(`/companies/${id}`, `"total_price":${total}`, `"plan_price":${one}`, `"price":${one}`)
  shows(`/company-subscriptions?company_id=${id}`, `"total_price":${total}`)
  shows(`/feature-usage?company_id=${id}`, `"price":${one}`)
  await stillShown()
})

t.test('long: token counts of inference events, their cost and their credits', async t => {
  const price = {
    provider: 'tollgate',
    model: 'long',
    currency: 'usd',
    effective_at: '2020-01-01T00:00:00.000Z',
    input: '1',
    cached_input: '1',
    cache_write: '1',
    output: '1',
    reasoning: '1',
    per_request: null,
  }
  await client.ok('PUT', '/model-prices', [price])
  const credit = await client.ok('POST', '/billing/credits', { name: 'T', description: '', currency: 'usd' })
  const feature = await client.ok('POST', '/features', {
    name: 'Model',
    description: '',
    feature_type: 'event',
    event_subtype: 'model',
    event_source: 'inference',
  })
  const plan = await client.ok('POST', '/plans', { name: 'Model', plan_type: 'plan' })
  await client.ok('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    value_type: 'credit',
    value_credit_id: credit.id,
    credit_consumption_rate: 0,
    quantity_rates: { input_tokens: 0.000000001 },
    price_behavior: 'credit_burndown',
  })
  await publishDraftOf(client, plan.id)
  const id = await companyOf(client, tollgate, 'model')
  await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
  const grant = { company_id: id, credit_id: credit.id, quantity: 9_999_999, reason: 'free' }
  await client.ok('POST', '/billing/credits/grants/company', grant)
  const counts = (input: string, more: object = {}) => ({
    event_type: 'inference',
    body: {
      company: { slug: 'model' },
      provider: 'tollgate',
      response_model: 'long',
      event: 'model',
      input_tokens: `#${input}`,
      output_tokens: `#${one}`,
      reasoning_tokens: `#${one}`,
      ...more,
    },
  })
  const sent = JSON.parse(await good('POST', '/events', counts(one, { cached_input_tokens: 3 }))).data
    .event_id
  await tollgate.services.projections.barrier('clickhouse')
  shows(
    `/events/${sent}`,
    `"input_tokens":${one}`,
    `"reasoning_tokens":${one}`,
    '"cost":"18014398509.481986"',
  )
  t.match(await good('GET', `/companies/${id}`), `"${credit.id}":992799.745259007`, 'EV-65')
  await stillShown()
  const batch = { events: [counts(largest, { cached_input_tokens: `#${largest}`, cost: '1' })] }
  t.match(await good('POST', '/event-batch', batch), 'event_id')
  const refused = [
    counts('9223372036854775808'),
    counts('1e17'),
    counts('99999999999999999999'),
    counts('-9007199254740993'),
    counts(one, { cached_input_tokens: '#9007199254740994' }),
    counts(largest, { cached_input_tokens: `#${largest}`, cache_creation_input_tokens: `#${largest}` }),
    counts('1', { reasoning_tokens: '#9007199254740994' }),
    counts('1', { requests: '#0' }),
  ]
  for (const body of refused) t.equal((await ask('POST', '/events', digits(body))).status, 400, digits(body))
})

t.test('webhooks and the audit log tell every digit', async t => {
  const hook = await receiver(t)
  const types = ['company.updated', 'plan.updated', 'company.deleted']
  await client.ok('POST', '/webhooks', { name: 'hook', url: hook.url, request_types: types })
  await good('POST', '/companies', { keys: { slug: 'acme' }, name: 'Acme again' })
  const told = () => hook.received.find(({ json }) => json.action === 'company.updated')
  await tollgate.services.projections.barrier('postgres')
  await tollgate.services.outbox.drain()
  for (let count = hook.received.length + 1; !told(); count++) await hook.until(count)
  t.match(told()!.text, `"total_price":${largest}`)
  t.match(told()!.text, `"billing_threshold":${largest}`)
  const log: { id: string; method: string; url: string }[] = await client.ok('GET', '/audit-log?limit=250')
  const written = log.find(({ url }) => url.endsWith('/billing/coupons'))
  t.ok(written)
  const upserts = log.filter(({ url }) => url.endsWith('/billing/subscription/upsert'))
  const texts = await Promise.all(upserts.map(({ id }) => good('GET', `/audit-log/${id}`)))
  t.ok(
    texts.some(text => text.includes(`\\"total_price\\":${largest}`)),
    'what was asked, as it was asked',
  )
})

t.test('long: beyond 64 bits is refused with 400, never rounded, and leaves nothing behind', async t => {
  const plan = await client.ok('POST', '/plans', { name: 'Refused', plan_type: 'plan' })
  const [profile] = await client.ok('GET', `/billing/profiles?company_id=${companyId}`)
  const credit = await client.ok('POST', '/billing/credits', { name: 'R', description: '', currency: 'usd' })
  const item = subscription.product_external_ids[0]!
  const bodies: readonly (readonly [method: string, path: string, body: (given: string) => object])[] = [
    ['POST', '/billing/price/upsert', d => ({ ...price, price_external_id: 'refused', price: d })],
    [
      'POST',
      '/billing/price/upsert',
      d => ({
        ...price,
        price_external_id: 'refused',
        price: 1,
        price_tiers: [{ ...price.price_tiers[1], per_unit_price: d }],
      }),
    ],
    [
      'POST',
      '/billing/subscription/upsert',
      d => ({ ...subscription, subscription_external_id: 'refused', total_price: d }),
    ],
    [
      'POST',
      '/billing/subscription/upsert',
      d => ({
        ...subscription,
        subscription_external_id: 'refused',
        product_external_ids: [{ ...item, price: d }],
      }),
    ],
    // a `double`: docs/empty-fields.md
    [
      'POST',
      '/billing/subscription/upsert',
      d => ({
        ...subscription,
        subscription_external_id: 'refused',
        product_external_ids: [{ ...item, quantity: d === '#1e17' ? d : `#${one}` }],
      }),
    ],
    ['POST', '/billing/coupons', d => ({ ...coupon, external_id: 'refused', amount_off: d })],
    ['PUT', `/billing/profiles/${profile.id}`, d => ({ name: 'refused', overdraft_limit: d })],
    [
      'PUT',
      `/plans/${plan.id}/billing_products`,
      d => ({ charge_type: 'recurring', is_trialable: false, monthly_price: d }),
    ],
    [
      'POST',
      '/billing/credits',
      d => ({ name: 'refused', description: '', currency: 'usd', per_unit_price: d }),
    ],
    [
      'POST',
      '/billing/credits/bundles',
      d => ({ bundle_name: 'refused', credit_id: credit.id, currency: 'usd', price_per_unit: d }),
    ],
  ]
  for (const [method, path, body] of bodies)
    for (const given of [
      '#9223372036854775808',
      '#1e17',
      '#99999999999999999999',
      '#9007199254740993.5',
      '#-1',
    ]) {
      const answer = await ask(method, path, digits(body(given)))
      t.equal(answer.status, 400, `${path} ${digits(body(given))}`, { found: answer.text })
    }
  t.notMatch(await good('GET', '/billing/price'), 'refused')
  t.notMatch(await good('GET', '/billing/coupons'), 'refused')
  t.notMatch(await good('GET', '/billing/credits'), 'refused')
  t.notMatch(await good('GET', `/company-subscriptions?company_id=${companyId}`), 'refused')
  t.equal((await ask('GET', '/billing/price?price=9223372036854775808')).status, 400)
})

t.test('a restart keeps every digit', async () => {
  await tollgate.stop()
  const after = await startHere(t, { ...settings, TOLLGATE_DATA_DIR: first.dataDir })
  client = after.client
  tollgate = after.tollgate
  await stillShown()
})

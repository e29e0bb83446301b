// Money and quantities beyond 2^53 − 1 as a test makes them on one service, and finds every digit of them on another.
import type { Test } from 'tap'
import { eventFeature, publishDraftOf } from './api/planned.js'
import type { Client } from './harness.js'

const one = '9007199254740993'
const two = '18014398509481986'
const largest = '9223372036854775807'

/** A path whose answer has this text. */
export interface LongShown {
  readonly path: string
  readonly has: string | RegExp
}

/** The answer as text, because JSON.parse would lose digits. Texts of digits behind a `#` in the body are integers. */
async function ask(client: Client, method: string, path: string, body?: object): Promise<string> {
  const response = await fetch(client.url + path, {
    method,
    headers: { 'X-Service-Api-Key': client.key, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body).replace(/"#(-?\d+)"/g, '$1') }),
  })
  const text = await response.text()
  if (response.status >= 300) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text
}

/** Make a company with the slug `long`, a plan with long prices, a provider's price and subscription, and usage. */
export async function makeLong(client: Client): Promise<readonly LongShown[]> {
  const company = await client.ok('POST', '/companies', { keys: { slug: 'long' } })
  await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_long', price: 1, name: 'Long' })
  const customer = { external_id: 'cus_long', name: 'C', email: 'c@x', meta: {}, company_id: company.id }
  await client.ok('POST', '/billing/customer/upsert', customer)
  const sold = {
    price_external_id: 'price_long',
    product_external_id: 'prod_long',
    currency: 'usd',
    interval: 'month',
    price: `#${one}`,
    usage_type: 'licensed',
  }
  await ask(client, 'POST', '/billing/price/upsert', {
    ...sold,
    external_account_id: 'acct',
    billing_scheme: 'per_unit',
    is_active: true,
    price_tiers: [],
  })
  await ask(client, 'POST', '/billing/subscription/upsert', {
    subscription_external_id: 'sub_long',
    customer_external_id: 'cus_long',
    currency: 'usd',
    total_price: `#${largest}`,
    cancel_at_period_end: false,
    expired_at: null,
    period_start: 1_700_000_000,
    period_end: 4_000_000_000,
    product_external_ids: [{ ...sold, quantity: 1, billing_threshold: `#${two}` }],
    discounts: [],
  })
  const plan = await client.ok('POST', '/plans', { name: 'Long', plan_type: 'plan' })
  await ask(client, 'PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price: `#${one}`,
    yearly_price: `#${largest}`,
  })
  const feature = await eventFeature(client, 'Long', 'long')
  const limit = { value_type: 'numeric', value_numeric: `#${largest}`, metric_period: 'all_time' }
  await ask(client, 'POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    ...limit,
  })
  await publishDraftOf(client, plan.id)
  const override = { company_id: company.id, feature_id: feature.id, ...limit }
  await ask(client, 'POST', '/company-overrides', override)
  let eventId = ''
  for (const quantity of [one, one, '1']) {
    const body = { event: 'long', company: { slug: 'long' }, quantity: `#${quantity}` }
    const sent = JSON.parse(await ask(client, 'POST', '/events', { event_type: 'track', body }))
    eventId ||= sent.data.event_id
  }
  // It answers when everything acknowledged is in both stores.
  while ((await client.get('/reconcile')).status === 503)
    await new Promise(resolve => setTimeout(resolve, 100))
  const counted = /"event_subtype":"long","period":"all_time"[^}]*?"value":18014398509481987\b/
  return [
    { path: `/billing/price?price=${one}`, has: `"price":${one}` },
    { path: `/companies/${company.id}`, has: `"total_price":${largest}` },
    { path: `/companies/${company.id}`, has: `"billing_threshold":${two}` },
    { path: `/companies/${company.id}`, has: counted },
    { path: `/plans/${plan.id}`, has: `"price":${one}` },
    { path: `/plans/${plan.id}`, has: `"price":${largest}` },
    { path: `/plan-entitlements?plan_id=${plan.id}`, has: `"value_numeric":${largest}` },
    { path: `/feature-usage?company_id=${company.id}`, has: '"usage":18014398509481987' },
    { path: `/feature-usage?company_id=${company.id}`, has: `"allocation":${largest}` },
    { path: `/events/${eventId}`, has: `"quantity":${one}` },
  ]
}

/** Every digit is shown. */
export async function sameLong(t: Test, client: Client, shown: readonly LongShown[]): Promise<void> {
  for (const { path, has } of shown) t.match(await ask(client, 'GET', path), has, `long: ${path}: ${has}`)
}

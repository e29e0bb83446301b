// Money and quantities beyond 2^53 − 1 as a test makes them on one service, and finds every digit of them on another.
import type { Test } from 'tap'
import { eventFeature, publishDraftOf } from './control/planned.js'
import type { Client } from './harness.js'

export const one = '9007199254740993'
export const two = '18014398509481986'
export const largest = '9223372036854775807'

/** A provider's price with an amount beyond 2^53 − 1; texts of digits behind a `#` are integers (`digits`). */
export const longPrice = {
  price_external_id: 'price_long',
  product_external_id: 'prod_long',
  external_account_id: 'acct',
  currency: 'usd',
  interval: 'month',
  price: `#${one}`,
  billing_scheme: 'per_unit',
  usage_type: 'licensed',
  is_active: true,
  price_tiers: [],
}

/** That price as a product of a subscription. */
export const longProduct = {
  product_external_id: 'prod_long',
  price_external_id: 'price_long',
  currency: 'usd',
  interval: 'month',
  price: `#${one}`,
  quantity: 1,
  usage_type: 'licensed',
  billing_threshold: `#${two}`,
}

/** A subscription to it, of the customer of `makeCustomer`. */
export const longSubscription = {
  subscription_external_id: 'sub_long',
  customer_external_id: 'cus_long',
  currency: 'usd',
  total_price: `#${largest}`,
  cancel_at_period_end: false,
  expired_at: null,
  period_start: 1_700_000_000,
  period_end: 4_000_000_000,
  product_external_ids: [longProduct],
  discounts: [],
}

/** A path whose answer has this text. */
export interface LongShown {
  readonly path: string
  readonly has: string | RegExp
}

/** JSON of a body in which texts of digits behind a `#` stand for integers. */
export const digits = (body: object): string => JSON.stringify(body).replace(/"#(-?\d[\d.e]*)"/g, '$1')

/** The answer as text, because JSON.parse would lose digits. An object is sent as `digits` writes it. */
export async function askText(
  client: Client,
  method: string,
  path: string,
  body?: object | string,
  type = 'application/json',
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(client.url + path, {
    method,
    headers: { 'X-Service-Api-Key': client.key, ...(body !== undefined && { 'Content-Type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : digits(body) }),
  })
  return { status: response.status, text: await response.text() }
}

async function ask(client: Client, method: string, path: string, body?: object): Promise<string> {
  const { status, text } = await askText(client, method, path, body)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`)
  return text
}

/** The provider's product of `longPrice`, and a company as a customer of the provider. */
export async function makeCustomer(client: Client, companyId: string): Promise<void> {
  await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_long', price: 1, name: 'Long' })
  const customer = { external_id: 'cus_long', name: 'C', email: 'c@x', meta: {}, company_id: companyId }
  await client.ok('POST', '/billing/customer/upsert', customer)
}

/** Make a company with the slug `long`, a plan with long prices, a provider's price and subscription, and usage. */
export async function makeLong(client: Client): Promise<readonly LongShown[]> {
  const company = await client.ok('POST', '/companies', { keys: { slug: 'long' } })
  await makeCustomer(client, company.id)
  await ask(client, 'POST', '/billing/price/upsert', longPrice)
  await ask(client, 'POST', '/billing/subscription/upsert', longSubscription)
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

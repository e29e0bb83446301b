// Builders for tests of billing: plans linked to products, and a provider's sync of subscriptions.
import type { Tollgate } from '../../src/start.js'
import { publishDraftOf } from '../control/planned.js'
import type { Client } from '../harness.js'

/** Epoch seconds of an instant. */
export const seconds = (iso: string) => Date.parse(iso) / 1000

export interface Linked {
  readonly plan: { readonly id: string; readonly active_version: { readonly id: string } }
  readonly productId: string
  readonly product: string
  readonly price: string
}

/** A published plan that is sold as a product of the provider at one monthly price. */
export async function linkedPlan(
  client: Client,
  name: string,
  entitlements: readonly object[] = [],
  more: object = {},
): Promise<Linked> {
  const product = `prod_${name}`
  const price = `price_${name}`
  const made = await client.ok('POST', '/billing/product/upsert', { external_id: product, name, price: 10 })
  await client.ok('POST', '/billing/price/upsert', {
    price_external_id: price,
    product_external_id: product,
    external_account_id: 'acct',
    currency: 'usd',
    interval: 'month',
    price: 1000,
    billing_scheme: 'per_unit',
    price_tiers: [],
    usage_type: 'licensed',
    is_active: true,
  })
  const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan', ...more })
  for (const entitlement of entitlements)
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...entitlement })
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    billing_product_id: made.product_id,
  })
  return { plan: await publishDraftOf(client, plan.id), productId: made.product_id, product, price }
}

/** A subscription to these plans as sync tells of it. */
export function subscriptionBody(
  externalId: string,
  customer: string,
  sold: readonly Linked[],
  more: object = {},
) {
  return {
    subscription_external_id: externalId,
    customer_external_id: customer,
    currency: 'usd',
    total_price: 1000,
    cancel_at_period_end: false,
    expired_at: '2031-01-01T00:00:00Z',
    discounts: [],
    product_external_ids: sold.map(({ product, price }) => ({
      product_external_id: product,
      price_external_id: price,
      currency: 'usd',
      interval: 'month',
      price: 1000,
      quantity: 1,
      usage_type: 'licensed',
    })),
    ...more,
  }
}

/** Which plans an environment falls back to. */
export async function offerPlans(
  client: Client,
  { services }: Tollgate,
  plans: { readonly fallback?: string; readonly initial?: string; readonly expiry?: string },
  settings: object = {},
): Promise<void> {
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const { accountId } = services.catalogs.get(environmentId)
  await services.catalogs.change({ accountId, environmentId }, async tx => {
    await tx`
      insert into plan_groups (
        id, environment_id, fallback_plan_id, initial_plan_id, trial_expiry_plan_id, settings, created_at, updated_at)
      values (
        ${`plgr_${environmentId}`}, ${environmentId}, ${plans.fallback ?? null}, ${plans.initial ?? null},
        ${plans.expiry ?? null}, ${JSON.stringify(settings)}::text::jsonb, now(), now())
      on conflict (environment_id) do update set fallback_plan_id = excluded.fallback_plan_id,
        initial_plan_id = excluded.initial_plan_id, trial_expiry_plan_id = excluded.trial_expiry_plan_id, settings = excluded.settings`
  })
}

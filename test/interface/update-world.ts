// A world in which everything that can be updated is there, each with members that an update could lose.
import { randomUUID } from 'node:crypto'
import { booleanFeature, eventFeature, publishedPlan, publishOnly } from '../control/planned.js'
import type { Client } from '../harness.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

export async function updateWorld(client: Client) {
  const ok = (method: string, path: string, body?: unknown) => client.ok(method, path, body)
  const { environment_id: environmentId } = await ok('GET', '/whoami')
  const company = await ok('POST', '/companies', {
    keys: { slug: 'acme', ref: 'a-1' },
    name: 'Acme',
    traits: { seats: 5, tier: 'gold', since: '2024-01-02T03:04:05.000Z', active: true },
    last_seen_at: '2026-01-02T03:04:05.000Z',
  })
  const user = await ok('POST', '/users', {
    keys: { email: 'ada@acme' },
    name: 'Ada',
    traits: { role: 'dev' },
  })
  const [metered, dark] = [await eventFeature(client, 'Calls', 'call'), await booleanFeature(client, 'Dark')]
  const seats = await ok('POST', '/features', { name: 'Seats', description: 'd', feature_type: 'trait' })
  const licence = await ok('POST', '/features', { name: 'Licence', description: '', feature_type: 'license' })
  const inference = await ok('POST', '/features', {
    name: 'Model',
    description: '',
    feature_type: 'event',
    event_source: 'inference',
    event_subtype: 'model',
    lifecycle_phase: 'beta',
    plural_name: 'models',
    singular_name: 'model',
    icon: 'star',
  })
  const credit = await ok('POST', '/billing/credits', {
    name: 'Credit',
    description: 'd',
    currency: 'usd',
    per_unit_price_decimal: '1.255',
    currency_prices: [{ currency: 'eur', price_per_unit: 2 }],
    icon: 'coin',
    plural_name: 'credits',
    default_expiry_unit_count: 30,
  })
  const plan = await ok('POST', '/plans', { name: 'Pro', description: 'd', icon: 'cyan', plan_type: 'plan' })
  const entitle = (feature: Body, body: object) =>
    ok('POST', '/plan-entitlements', { plan_id: plan.id, feature_id: feature.id, ...body })
  const tiers = [{ up_to: 10, flat_amount: 5, per_unit_price_decimal: '0.55' }, { per_unit_price: 1 }]
  const entitlements = [
    await entitle(metered, {
      value_type: 'numeric',
      value_numeric: 1000,
      price_behavior: 'overage',
      soft_limit: 100,
      metric_period: 'current_month',
      metric_period_month_reset: 'billing_cycle',
      overage_billing_cadence: 'monthly',
      warning_tiers: [{ key: 'half', value: 50 }],
      monthly_unit_price_decimal: '0.125',
      yearly_price_tiers: tiers,
      tier_mode: 'volume',
      billing_threshold: 5000,
      currency_prices: [{ currency: 'eur', monthly_unit_price: 7, quarterly_price_tiers: tiers }],
    }),
    await entitle(dark, { value_type: 'boolean', value_bool: true }),
    await entitle(seats, {
      value_type: 'trait',
      price_behavior: 'pay_in_advance',
      usage_quantity: 3,
      monthly_unit_price: 900,
    }),
    await entitle(inference, {
      value_type: 'credit',
      value_credit_id: credit.id,
      quantity_rates: { input_tokens: 0.5 },
    }),
  ]
  await ok('PUT', `/plans/${plan.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: true,
    trial_days: 14,
    monthly_price: 1000,
    yearly_price: 10_000,
    currency_prices: [{ currency: 'eur', monthly_price: 900 }],
  })
  const planGrant = (more: object) =>
    ok('POST', '/billing/credits/plan-grants', {
      plan_id: plan.id,
      credit_id: credit.id,
      credit_amount: 100,
      reset_cadence: 'monthly',
      reset_start: 'billing_period',
      ...more,
    })
  const grants = [
    await planGrant({
      rollover_percentage: 50,
      postpaid_enabled: true,
      postpaid_rate_per_unit_decimal: '1.5',
      overdraft_limit: 20.5,
      arrears_cadence: 'monthly',
      arrears_anchor: 'month_end',
      auto_topup_availability: 'user_controlled',
      auto_topup_amount: 10,
      auto_topup_threshold_percent: 20,
      auto_topup_expiry_type: 'duration',
      auto_topup_expiry_unit: 'days',
      auto_topup_expiry_unit_count: 9,
      can_buy_bundles: false,
    }),
    await planGrant({
      scaling: 'per_license',
      license_id: licence.license_id,
      company_credit_amount: 5,
      reset_type: 'no_reset',
      expiry_type: 'duration',
      expiry_unit: 'days',
      expiry_unit_count: 30,
    }),
  ]
  const sold = await publishedPlan(client, 'Sold', [
    { feature_id: dark.id, value_type: 'boolean', value_bool: true },
  ])
  const addOn = await ok('POST', '/plans', { name: 'Extra', plan_type: 'add_on' })
  await ok('PUT', `/plans/version/${addOn.draft_version.id}/publish`, publishOnly)
  await ok('PUT', `/company-plans/${company.id}`, { base_plan_id: sold.id, add_on_ids: [addOn.id] })
  const bundle = await ok('POST', '/billing/credits/bundles', {
    bundle_name: 'Ten',
    credit_id: credit.id,
    currency: 'usd',
    price_per_unit: 1,
    price_per_unit_decimal: '0.755',
    quantity: 10,
    expiry_type: 'duration',
    expiry_unit: 'days',
    expiry_unit_count: 7,
    compatible_plan_ids: [sold.id],
    currency_prices: [{ currency: 'eur', price_per_unit: 3 }],
  })
  const policy = await ok('POST', '/billing/credits/spend-policies', {
    billing_credit_id: credit.id,
    max_per_draw: 2.5,
    label: 'most',
    company_id: company.id,
  })
  const override = (feature: Body, body: object) =>
    ok('POST', '/company-overrides', { company_id: company.id, feature_id: feature.id, ...body })
  const overrides = [
    await override(metered, {
      value_type: 'numeric',
      value_numeric: 6,
      metric_period: 'current_month',
      metric_period_month_reset: 'billing_cycle',
      expiration_date: '2030-01-01T00:00:00.000Z',
    }),
    await override(inference, {
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 0.25,
      quantity_rates: { output_tokens: 2 },
    }),
  ]
  await ok('POST', '/billing/customer/upsert', {
    external_id: 'cus_1',
    name: 'Acme',
    email: 'pay@acme.example',
    meta: { a: 'b' },
    company_id: company.id,
  })
  await ok('POST', '/billing/payment-methods', {
    external_id: 'pm_1',
    customer_external_id: 'cus_1',
    payment_method_type: 'card',
    card_last4: '4242',
    card_exp_month: 5,
    card_exp_year: 2030,
    billing_email: 'pay@acme.example',
  })
  await ok('POST', '/billing/product/upsert', { external_id: 'prod_1', name: 'Product', price: 10 })
  await ok('POST', '/billing/meter/upsert', {
    external_id: 'mtr_1',
    display_name: 'Calls',
    event_name: 'call',
    event_payload_key: 'value',
  })
  const priced = {
    product_external_id: 'prod_1',
    external_account_id: 'acct',
    currency: 'usd',
    interval: 'quarter',
    billing_scheme: 'per_unit',
    price_tiers: [],
    usage_type: 'licensed',
    is_active: true,
  }
  await ok('POST', '/billing/price/upsert', {
    ...priced,
    price_external_id: 'price_1',
    price: 10,
    price_decimal: '10.4',
    package_size: 5,
    meter_id: 'mtr_1',
    nickname: 'ten',
  })
  await ok('POST', '/billing/price/upsert', {
    ...priced,
    interval: 'month',
    price_external_id: 'price_tiers',
    price: 0,
    billing_scheme: 'tiered',
    tiers_mode: 'volume',
    price_tiers: [
      { price_external_id: 'price_tiers', up_to: 10, per_unit_price: 3 },
      { price_external_id: 'price_tiers', per_unit_decimal: '2.5', flat_amount: 1 },
    ],
  })
  await ok('POST', '/billing/coupons', {
    external_id: 'cpn_1',
    name: 'Ten off',
    amount_off: 10,
    percent_off: 0,
    duration: 'repeating',
    duration_in_months: 3,
    max_redemptions: 0,
    times_redeemed: 1,
    currency: 'usd',
  })
  const subscribed = {
    subscription_external_id: 'sub_1',
    customer_external_id: 'cus_1',
    product_external_ids: [
      {
        product_external_id: 'prod_1',
        price_external_id: 'price_1',
        currency: 'usd',
        interval: 'month',
        price: 10,
        quantity: 2,
        usage_type: 'licensed',
      },
    ],
    discounts: [
      {
        coupon_external_id: 'cpn_1',
        external_id: 'di_1',
        is_active: true,
        started_at: '2026-01-01T00:00:00.000Z',
      },
    ],
    currency: 'usd',
    total_price: 20,
    cancel_at_period_end: false,
    expired_at: null,
  }
  await ok('POST', '/billing/subscription/upsert', {
    ...subscribed,
    status: 'active',
    interval: 'month',
    period_start: 1_790_000_000,
    period_end: 1_795_000_000,
    cancel_at: 1_795_000_000,
    application_id: 'app',
    default_payment_method_external_id: 'pm_1',
    metadata: { a: 1 },
  })
  const invoiced = {
    external_id: 'in_1',
    customer_external_id: 'cus_1',
    amount_due: 10,
    amount_paid: 4,
    amount_remaining: 6,
    subtotal: 10,
    collection_method: 'send_invoice',
    currency: 'usd',
  }
  await ok('POST', '/billing/invoices', {
    ...invoiced,
    subscription_external_id: 'sub_1',
    payment_method_external_id: 'pm_1',
    starting_balance: 1,
    ending_balance: 2,
    due_date: '2026-12-01T00:00:00.000Z',
    status: 'open',
    url: 'https://example.com/in_1',
  })
  const [profile] = await ok('GET', `/billing/profiles?company_id=${company.id}`)
  await ok('PUT', `/billing/profiles/${profile.id}`, { name: 'Main', days_until_due: 14 })
  const details = `/companies/${company.id}/billing-details`
  await ok('PUT', details, {
    email: 'money@acme.example',
    phone: '+47 1',
    address: { city: 'Oslo', country: 'NO', line1: 'Gate 1', line2: '', postal_code: '0150', state: '' },
    tax_id: { type: 'no_vat', value: '123' },
  })
  const flag = await ok('POST', '/flags', {
    key: 'own',
    name: 'Own',
    description: 'd',
    default_value: true,
    flag_type: 'boolean',
  })
  const [seatTrait] = await ok('GET', '/entity-trait-definitions?q=seats&entity_type=company')
  await ok('PUT', `/flags/${flag.id}/rules`, {
    rules: [
      {
        name: 'big',
        priority: 3,
        value: true,
        conditions: [
          {
            condition_type: 'trait',
            operator: 'gte',
            resource_ids: [],
            trait_id: seatTrait.id,
            trait_value: '10',
          },
          {
            condition_type: 'metric',
            operator: 'lt',
            resource_ids: [],
            event_subtype: 'call',
            metric_period: 'current_month',
            metric_period_month_reset: 'billing_cycle',
            metric_value: 9,
          },
        ],
        condition_groups: [
          { conditions: [{ condition_type: 'company', operator: 'eq', resource_ids: [company.id] }] },
        ],
      },
    ],
  })
  const group = {
    ...Object.fromEntries(
      `checkout_collect_address checkout_collect_email checkout_collect_phone checkout_collect_tax_id
       enable_tax_collection opt_in_enabled prevent_downgrades_when_over_limit prevent_self_service_downgrade
       show_as_monthly_prices show_credits show_feature_description show_hard_limit show_period_toggle
       show_zero_price_as_free sync_customer_billing_details`
        .split(/\s+/)
        .map((member, i) => [member, i % 2 === 0]),
    ),
    proration_behavior: 'create_prorations',
    add_on_ids: [],
    ordered_add_ons: [{ plan_id: addOn.id }],
    ordered_bundle_list: [{ bundleId: bundle.id }],
    ordered_plans: [{ plan_id: sold.id }],
    fallback_plan_id: sold.id,
    scheduled_downgrade_behavior: 'none',
    trial_days: 5,
    opt_in_text: 'yes?',
    opt_in_title: 'Yes',
    checkout_bundle_purchase_behavior: 'individual',
    custom_checkout_fields: [{ name: 'Order', psp_metadata_key: 'order', required: true, helper_text: 'h' }],
  }
  const { id: groupId } = await ok('POST', '/plan-groups', group)
  const webhook = await ok('POST', '/webhooks', {
    name: 'Hook',
    url: 'https://example.com/hook',
    request_types: ['company.created'],
    credit_trigger_configs: [{ credit_id: credit.id }],
  })
  const key = await ok('POST', '/api-keys', {
    name: 'key',
    description: 'd',
    rate_limit_percent: 50,
    expires_at: '2030-01-01T00:00:00.000Z',
    allowed_addresses: ['203.0.113.0/24'],
  })
  await ok('PUT', '/limits', { limits: { global: [1_000_000, 2_000_000] } })
  const linked = { billing_provider: 'ext_a', external_resource_id: randomUUID() }
  const linkedPlan = await ok('POST', '/plans/billing-linked', {
    ...linked,
    name: 'Linked',
    description: 'd',
    icon: 'teal',
    plan_type: 'plan',
  })
  const linkedFeature = await ok('POST', '/features/billing-linked', {
    ...linked,
    name: 'Linked feature',
    description: 'd',
    feature_type: 'event',
    event_subtype: 'linked',
    lifecycle_phase: 'ga',
  })
  const linkedEntitlement = await ok('POST', '/plan-entitlements/billing-linked', {
    ...linked,
    plan_id: linkedPlan.id,
    feature_id: linkedFeature.id,
    value_type: 'numeric',
    value_numeric: 9,
    metric_period: 'current_day',
  })

  return {
    environmentId,
    company,
    user,
    metered,
    dark,
    seats,
    licence,
    inference,
    credit,
    plan,
    entitlements,
    grants,
    bundle,
    policy,
    overrides,
    profile,
    details,
    flag,
    seatTrait,
    groupId,
    webhook,
    key,
    linked,
    linkedPlan,
    linkedFeature,
    linkedEntitlement,
  }
}

// Every operation that updates something, with a thing it updates: how it is read, and what a body would say of it.
// Operations that make, tell or move something are listed beside them with the reason why they update nothing.
import { randomUUID } from 'node:crypto'
import { booleanFeature, eventFeature, publishedPlan, publishOnly } from '../api/planned.js'
import type { Client } from '../harness.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

/** One thing that an operation updates. */
export interface UpdateCase {
  /** Where its update goes. */
  readonly path: string
  /** As it is now. */
  readonly read: () => Promise<Body>
  /** The members of a body that say what was read; undefined: the read does not tell it. */
  readonly said: (read: Body) => Readonly<Record<string, unknown>>
  /** Members that name the thing, and are said in every body. */
  readonly naming?: Readonly<Record<string, unknown>>
}

/** Operations that update nothing that is there, and what they do. */
export const notUpdates: Readonly<Record<string, string>> = {
  'POST /api-keys': 'makes',
  'POST /billing/credits': 'makes',
  'POST /billing/credits/bundles': 'makes',
  'POST /billing/credits/grants/company': 'makes',
  'POST /billing/credits/lease': 'makes',
  'POST /billing/credits/plan-grants': 'makes',
  'POST /billing/credits/reservations': 'makes',
  'POST /billing/credits/spend-policies': 'makes',
  'POST /companies/create': 'makes',
  'POST /companies/delete': 'deletes',
  'POST /company-memberships': 'makes, or finds',
  'POST /company-overrides': 'makes',
  'POST /custom-plan-bundles': 'makes',
  'POST /custom-plans': 'makes',
  'POST /entity-trait-definitions': 'makes, or finds',
  'POST /environments': 'makes',
  'POST /features': 'makes',
  'POST /flags': 'makes',
  'POST /plan-bundles': 'makes',
  'POST /plan-entitlements': 'makes',
  'POST /plan-entitlements/duplicate': 'makes',
  'POST /plan-groups': 'makes',
  'POST /plan-version-migrations': 'makes',
  'POST /plans': 'makes',
  'POST /users/create': 'makes',
  'POST /users/delete': 'deletes',
  'POST /webhooks': 'makes',
  'PUT /billing/credits/grants/{grant_id}/zero-out': 'takes what is left',
  'PUT /billing/credits/lease/{lease_id}/extend': 'adds to the hold',
  'PUT /billing/credits/lease/{lease_id}/release': 'ends the hold',
  'PUT /billing/credits/reservations/{reservation_id}/release': 'ends the hold',
  'PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid': 'records a payment',
  'PUT /custom-plan-billings/{custom_plan_billing_id}/retry': 'tries again',
  'PUT /environments/{environment_id}/clock': 'sets the clock as a whole (decision 11)',
  'PUT /plans/version/{plan_version_id}/publish': 'publishes',
  'PUT /subscription/{subscription_id}/edit-trial-end': 'ends the trial now, or then',
  'POST /flags/{key}/check-and-reserve': 'makes a hold',
  'POST /manage-plan': 'the state as a whole, with what it costs (PB-30)',
  'POST /manage-plan/subscription/cancel': 'cancels',
  'POST /plan-version-company-migrations/{plan_version_company_migration_id}/retry': 'tries again',
  'POST /plan-version-migrations/{plan_version_migration_id}/cancel': 'cancels',
  'POST /plan-version-migrations/{plan_version_migration_id}/complete-now': 'completes',
  'POST /plan-version-migrations/{plan_version_migration_id}/retry': 'tries again',
  'POST /webhooks/{webhook_id}/test': 'sends a test',
}

/** The members of this name, as they are. */
function same(read: Body, ...members: string[]): Record<string, unknown> {
  return Object.fromEntries(members.map(member => [member, read[member]]))
}

/** The one of a list. */
async function only(list: Promise<Body>, fits: (one: Body) => boolean): Promise<Body> {
  const found = (await list).find(fits)
  if (!found) throw new Error('nothing of the list fits')
  return found
}

/** A world in which everything that can be updated is there; by the title of each operation. */
export async function updateCases(client: Client): Promise<Readonly<Record<string, readonly UpdateCase[]>>> {
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
    discounts: [],
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
  const key = await ok('POST', '/api-keys', { name: 'key',
    description: 'd',
    rate_limit_percent: 50,
    expires_at: '2030-01-01T00:00:00.000Z',
    allowed_addresses: ['203.0.113.0/24'],
  })
  await ok('PUT', '/limits', { limits: { global: [100, 200] } })
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

  const get = (path: string) => () => ok('GET', path)
  const entitlementCase = (id: string, path: string, naming?: UpdateCase['naming']): UpdateCase => ({
    path,
    ...(naming && { naming }),
    read: get(`/plan-entitlements/${id}`),
    said: saidOfEntitlement,
  })
  const overrideCases = overrides.map(({ id }) => ({
    path: `/company-overrides/${id}`,
    read: get(`/company-overrides/${id}`),
    said: (read: Body) => ({ ...saidOfValue(read), expiration_date: read.expiration_date }),
  }))
  const planSaid = (read: Body) => same(read, 'name', 'description', 'icon')
  const readPlan = (id: string) =>
    get(
      `/plans/${id}?plan_version_id=${id === plan.id ? plan.draft_version.id : linkedPlan.draft_version.id}`,
    )
  const entityCase = (kind: 'companies' | 'users', one: Body, keys: object): UpdateCase => ({
    path: `/${kind}`,
    naming: { keys },
    read: get(`/${kind}/${one.id}`),
    said: read => same(read, 'id', 'name', 'traits', 'last_seen_at'),
  })
  const traitCase = (kind: 'company' | 'user', keys: object, trait: string): UpdateCase => ({
    path: `/${kind}-traits`,
    naming: { keys, trait, set: kind === 'company' ? 'gold' : 'dev' },
    read: get(kind === 'company' ? `/companies/${company.id}` : `/users/${user.id}`),
    said: () => ({ update_only: true }),
  })
  const record = (
    path: string,
    list: string,
    fits: (one: Body) => boolean,
    naming: object,
    said: UpdateCase['said'],
  ): UpdateCase => ({ path, naming: { ...naming }, read: () => only(ok('GET', list), fits), said })

  return {
    'PUT /api-keys/{api_key_id}': [
      {
        path: `/api-keys/${key.id}`,
        read: get(`/api-keys/${key.id}`),
        said: read => ({
          ...same(read, 'name', 'description', 'rate_limit_percent', 'disabled', 'not_before', 'expires_at'),
          allowed_addresses: read.allowed_addresses,
        }),
      },
    ],
    'POST /billing/coupons': [
      record(
        '/billing/coupons',
        '/billing/coupons',
        one => one.external_id === 'cpn_1',
        { external_id: 'cpn_1' },
        read =>
          same(
            read,
            'name',
            'amount_off',
            'percent_off',
            'duration',
            'duration_in_months',
            'max_redemptions',
            'times_redeemed',
            'currency',
          ),
      ),
    ],
    'PUT /billing/credits/bundles/{bundle_id}': [
      {
        path: `/billing/credits/bundles/${bundle.id}`,
        read: get(`/billing/credits/bundles/${bundle.id}`),
        said: read => ({
          ...same(read, 'status', 'quantity', 'expiry_type', 'expiry_unit', 'expiry_unit_count'),
          bundle_name: read.name,
          price_per_unit: read.unit_price.price,
          price_per_unit_decimal: read.unit_price.price_decimal,
          compatible_plan_ids: read.compatible_plan_ids,
        }),
      },
    ],
    'PUT /billing/credits/plan-grants/{plan_grant_id}': grants.map(({ id }) => ({
      path: `/billing/credits/plan-grants/${id}`,
      read: get(`/billing/credits/plan-grants/${id}`),
      said: saidOfPlanGrant,
    })),
    'PUT /billing/credits/spend-policies/{spend_policy_id}': [
      {
        path: `/billing/credits/spend-policies/${policy.id}`,
        read: get(`/billing/credits/spend-policies/${policy.id}`),
        said: read => same(read, 'label', 'max_per_draw'),
      },
    ],
    'PUT /billing/credits/{credit_id}': [
      {
        path: `/billing/credits/${credit.id}`,
        read: get(`/billing/credits/${credit.id}`),
        said: read => ({
          ...same(read, 'name', 'description', 'burn_strategy', 'icon', 'plural_name', 'singular_name'),
          ...same(read, 'default_expiry_unit', 'default_expiry_unit_count', 'default_rollover_policy'),
          per_unit_price: read.price.price,
          per_unit_price_decimal: read.price.price_decimal,
          currency_prices: read.currency_prices.map(({ currency, price }: Body) => ({
            currency,
            price_per_unit: price.price,
            price_per_unit_decimal: price.price_decimal,
          })),
        }),
      },
    ],
    'POST /billing/customer/upsert': [
      record(
        '/billing/customer/upsert',
        '/billing/customers',
        one => one.external_id === 'cus_1',
        { external_id: 'cus_1' },
        read => same(read, 'name', 'email', 'company_id', 'provider_type'),
      ),
    ],
    'POST /billing/invoices': [
      record(
        '/billing/invoices',
        '/billing/invoices?customer_external_id=cus_1&subscription_external_id=sub_1',
        one => one.external_id === 'in_1',
        invoiced,
        read => ({
          ...same(read, 'subscription_external_id', 'payment_method_external_id', 'starting_balance'),
          ...same(read, 'ending_balance', 'due_date', 'status', 'url'),
        }),
      ),
    ],
    'POST /billing/meter/upsert': [
      record(
        '/billing/meter/upsert',
        '/billing/meter',
        one => one.event_name === 'call',
        { external_id: 'mtr_1' },
        read => ({
          ...same(read, 'event_name', 'event_payload_key', 'provider_type'),
          display_name: read.dispaly_name,
        }),
      ),
    ],
    'POST /billing/payment-methods': [
      record(
        '/billing/payment-methods',
        '/billing/payment-methods?customer_external_id=cus_1',
        one => one.external_id === 'pm_1',
        { external_id: 'pm_1' },
        read => ({
          ...same(read, 'customer_external_id', 'payment_method_type', 'account_last4', 'account_name'),
          ...same(read, 'bank_name', 'billing_email', 'billing_name', 'card_brand', 'card_last4'),
          ...same(read, 'card_exp_month', 'card_exp_year'),
        }),
      ),
    ],
    'POST /billing/price/upsert': [
      record(
        '/billing/price/upsert',
        '/billing/price?limit=250',
        one => one.price_external_id === 'price_1',
        { ...priced, interval: 'month', price_external_id: 'price_1', price: 10 },
        read => ({
          ...same(read, 'price', 'price_decimal', 'package_size', 'meter_id', 'nickname', 'tiers_mode'),
          interval: read.interval,
          interval_count: read.interval_count,
        }),
      ),
    ],
    'POST /billing/product/upsert': [
      record(
        '/billing/product/upsert',
        '/billing/products?limit=250',
        one => one.external_id === 'prod_1',
        { external_id: 'prod_1', price: 10 },
        read => same(read, 'name', 'is_active', 'provider_type'),
      ),
    ],
    'PUT /billing/profiles/{billing_profile_id}': [
      {
        path: `/billing/profiles/${profile.id}`,
        read: () =>
          only(ok('GET', `/billing/profiles?company_id=${company.id}`), one => one.id === profile.id),
        said: read => ({
          ...same(read, 'collection_method', 'days_until_due', 'is_default', 'name', 'payment_method_id'),
          proration_behavior: read.proration_behavior,
        }),
      },
    ],
    'POST /billing/subscription/upsert': [
      {
        path: '/billing/subscription/upsert',
        naming: subscribed,
        read: async () => (await ok('GET', `/companies/${company.id}`)).billing_subscriptions[0],
        said: read => ({
          ...same(read, 'status', 'interval', 'period_start', 'period_end', 'trial_end', 'trial_end_setting'),
          ...same(read, 'cancel_at', 'company_id', 'application_id', 'default_payment_method_id', 'metadata'),
          provider_type: read.provider_type,
        }),
      },
    ],
    'POST /companies': [entityCase('companies', company, { slug: 'acme' })],
    'PUT /companies/{company_id}/billing-details': [
      {
        path: details,
        read: get(details),
        said: read => ({
          ...same(read, 'email', 'phone', 'address'),
          values: [],
          tax_id: { type: read.tax_ids[0].type, value: read.tax_ids[0].value },
        }),
      },
    ],
    'POST /company-overrides/{company_override_id}': overrideCases,
    'PUT /company-overrides/{company_override_id}': overrideCases,
    'PUT /company-plans/{company_id}': [
      {
        path: `/company-plans/${company.id}`,
        read: get(`/companies/${company.id}`),
        said: read => ({
          base_plan_id: read.plan.id,
          add_on_ids: read.add_ons.map((one: Body) => one.id),
        }),
      },
    ],
    'POST /company-traits': [traitCase('company', { slug: 'acme' }, 'tier')],
    'PUT /entity-trait-definitions/{entity_trait_definition_id}': [
      {
        path: `/entity-trait-definitions/${seatTrait.id}`,
        read: get(`/entity-trait-definitions/${seatTrait.id}`),
        said: read => same(read, 'trait_type', 'display_name'),
      },
    ],
    'PUT /environments/{environment_id}': [
      {
        path: `/environments/${environmentId}`,
        read: get(`/environments/${environmentId}`),
        said: read => same(read, 'name', 'environment_type', 'require_context_signature'),
      },
    ],
    'POST /features/billing-linked': [
      {
        path: '/features/billing-linked',
        naming: { ...linked, name: 'Linked feature', description: 'd', feature_type: 'event' },
        read: get(`/features/${linkedFeature.id}`),
        said: saidOfFeature,
      },
    ],
    'PUT /features/{feature_id}': [metered, seats, licence, inference, dark].map(({ id }) => ({
      path: `/features/${id}`,
      read: get(`/features/${id}`),
      said: saidOfFeature,
    })),
    'PUT /flags/{flag_id}': [
      {
        path: `/flags/${flag.id}`,
        read: get(`/flags/${flag.id}`),
        said: read => ({
          ...same(read, 'key', 'name', 'description', 'default_value', 'flag_type', 'feature_id'),
          maintainer_account_member_id: read.maintainer_account_member_id,
        }),
      },
    ],
    'PUT /flags/{flag_id}/rules': [
      {
        path: `/flags/${flag.id}/rules`,
        read: get(`/flags/${flag.id}`),
        said: read => ({ rules: read.rules.map(saidOfRule) }),
      },
    ],
    'PUT /limits': [{ path: '/limits', read: get('/limits'), said: read => same(read, 'limits') }],
    'PUT /model-prices': [],
    'PUT /plan-bundles/{plan_id}': [
      {
        path: `/plan-bundles/${plan.id}`,
        read: readPlan(plan.id),
        said: read => ({
          plan: planSaid(read),
          entitlements: read.entitlements.map((one: Body) => ({
            action: 'update',
            entitlement_id: one.id,
            req: saidOfEntitlement(one),
          })),
          credit_grants: read.included_credit_grants.map((one: Body) => ({
            action: 'update',
            credit_grant_id: one.id,
            update_req: saidOfPlanGrant(one),
          })),
          billing_product: saidOfBilling(read),
        }),
      },
    ],
    'POST /plan-entitlements/billing-linked': [
      entitlementCase(linkedEntitlement.id, '/plan-entitlements/billing-linked', {
        ...linked,
        plan_id: linkedPlan.id,
        feature_id: linkedFeature.id,
      }),
    ],
    'PUT /plan-entitlements/{plan_entitlement_id}': entitlements.map(({ id }) =>
      entitlementCase(id, `/plan-entitlements/${id}`),
    ),
    'PUT /plan-groups/{plan_group_id}': [
      { path: `/plan-groups/${groupId}`, read: get('/plan-groups'), said: saidOfGroup },
    ],
    'POST /plans/billing-linked': [
      {
        path: '/plans/billing-linked',
        naming: { ...linked, plan_type: 'plan', name: 'Linked' },
        read: readPlan(linkedPlan.id),
        said: planSaid,
      },
    ],
    'PUT /plans/{plan_id}': [{ path: `/plans/${plan.id}`, read: readPlan(plan.id), said: planSaid }],
    'PUT /plans/{plan_id}/billing_products': [
      { path: `/plans/${plan.id}/billing_products`, read: readPlan(plan.id), said: saidOfBilling },
    ],
    'POST /user-traits': [traitCase('user', { email: 'ada@acme' }, 'role')],
    'POST /users': [entityCase('users', user, { email: 'ada@acme' })],
    'PUT /webhooks/{webhook_id}': [
      {
        path: `/webhooks/${webhook.id}`,
        read: get(`/webhooks/${webhook.id}`),
        said: read => ({
          ...same(read, 'name', 'url', 'status', 'request_types', 'credit_trigger_configs'),
          entitlement_trigger_configs: read.entitlement_trigger_configs,
        }),
      },
    ],
  }
}

function saidOfValue(read: Body): Record<string, unknown> {
  return {
    ...same(read, 'value_type', 'value_bool', 'value_numeric', 'value_trait_id'),
    value_credit_id: read.value_credit?.id,
    credit_consumption_rate: read.consumption_rate,
    quantity_rates: read.quantity_rates,
    metric_period: read.metric_period,
    metric_period_month_reset: read.metric_period_month_reset,
  }
}

const cadences = ['monthly', 'quarterly', 'yearly'] as const

function unitPricesOf(prices: Body, nameOf: (cadence: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    cadences.flatMap(cadence => {
      const price = prices[nameOf(cadence)]
      if (!price) return []
      return [
        [`${cadence}_unit_price`, price.price],
        [`${cadence}_unit_price_decimal`, price.price_decimal],
        [`${cadence}_price_tiers`, price.price_tier],
      ]
    }),
  )
}

function saidOfEntitlement(read: Body): Record<string, unknown> {
  const metered = cadences.flatMap(cadence => read[`metered_${cadence}_price`] ?? [])
  const mode = metered.find((price: Body) => price.tiers_mode !== null)?.tiers_mode
  return {
    ...saidOfValue(read),
    ...same(read, 'price_behavior', 'soft_limit', 'usage_quantity', 'billing_threshold'),
    ...same(read, 'overage_billing_cadence', 'overage_invoice_anchor'),
    warning_tiers: read.warning_tiers.map(({ key, value }: Body) => ({ key, value })),
    ...unitPricesOf(read, cadence => `metered_${cadence}_price`),
    ...Object.fromEntries(
      cadences.map(cadence => [`${cadence}_metered_price_id`, read[`metered_${cadence}_price`]?.id]),
    ),
    tier_mode: mode,
    currency: metered[0]?.currency,
    currency_prices: others(read).map((prices: Body) => ({
      currency: prices.currency,
      ...unitPricesOf(prices, cadence => `${cadence}_price`),
    })),
  }
}

/** Prices in other currencies than the one that is shown without: a body says each price once. */
function others(read: Body): Body[] {
  return read.currency_prices.filter((prices: Body) => prices.currency !== 'usd')
}

function saidOfBilling(read: Body): Record<string, unknown> {
  return {
    ...same(read, 'charge_type', 'is_trialable', 'trial_days', 'billing_strategy'),
    billing_product_id: read.billing_product?.product_id,
    monthly_price: read.monthly_price?.price,
    yearly_price: read.yearly_price?.price,
    monthly_price_id: read.monthly_price?.id,
    currency: 'usd',
    currency_prices: others(read).map((prices: Body) => ({
      currency: prices.currency,
      monthly_price: prices.monthly_price?.price,
    })),
  }
}

function saidOfPlanGrant(read: Body): Record<string, unknown> {
  return {
    ...same(
      read,
      'credit_amount',
      'company_credit_amount',
      'billing_mode',
      'scaling',
      'license_id',
      'reset_type',
    ),
    ...same(read, 'reset_cadence', 'reset_start', 'rollover_percentage', 'expiry_type', 'expiry_unit'),
    ...same(read, 'expiry_unit_count', 'postpaid_enabled', 'postpaid_rate_per_unit'),
    ...same(read, 'postpaid_rate_per_unit_decimal', 'overdraft_limit', 'arrears_cadence', 'arrears_anchor'),
    ...same(read, 'auto_topup_availability', 'auto_topup_enabled', 'auto_topup_self_service'),
    ...same(read, 'auto_topup_amount', 'auto_topup_amount_type', 'auto_topup_threshold_credits'),
    ...same(read, 'auto_topup_threshold_percent', 'auto_topup_expiry_type', 'auto_topup_expiry_unit'),
    ...same(
      read,
      'auto_topup_expiry_unit_count',
      'can_buy_bundles',
      'unit_price',
      'unit_price_decimal',
      'tier_mode',
    ),
  }
}

function saidOfFeature(read: Body): Record<string, unknown> {
  const [flag] = read.flags
  return {
    ...same(read, 'name', 'description', 'icon', 'feature_type', 'event_source', 'event_subtype', 'trait_id'),
    ...same(read, 'lifecycle_phase', 'maintainer_account_member_id', 'plural_name', 'singular_name'),
    flag: flag && same(flag, 'id', 'key', 'name', 'description', 'default_value'),
  }
}

function saidOfRule(rule: Body): Record<string, unknown> {
  return {
    ...same(rule, 'id', 'name', 'priority', 'value', 'rule_type'),
    conditions: rule.conditions.map(saidOfCondition),
    condition_groups: rule.condition_groups.map((group: Body) => ({
      id: group.id,
      conditions: group.conditions.map(saidOfCondition),
    })),
  }
}

/** What an entry may leave out is left out. */
function saidOfCondition(condition: Body): Record<string, unknown> {
  return same(condition, 'id', 'condition_type', 'operator', 'resource_ids')
}

function saidOfGroup(read: Body): Record<string, unknown> {
  const { checkout_settings: checkout, component_settings: shown } = read
  const ids = (list: Body[]) => list.map(one => ({ plan_id: one.plan_id }))
  return {
    ...Object.fromEntries(
      ['address', 'email', 'phone', 'tax_id'].map(one => [
        `checkout_collect_${one}`,
        checkout[`collect_${one}`],
      ]),
    ),
    ...same(checkout, 'opt_in_enabled', 'opt_in_text', 'opt_in_title'),
    checkout_bundle_purchase_behavior: checkout.bundle_purchase_behavior,
    ...shown,
    enable_tax_collection: read.tax_collection_enabled,
    ...same(
      read,
      'prevent_downgrades_when_over_limit',
      'prevent_self_service_downgrade',
      'proration_behavior',
    ),
    ...same(
      read,
      'sync_customer_billing_details',
      'fallback_plan_id',
      'initial_plan_id',
      'trial_expiry_plan_id',
    ),
    ...same(read, 'scheduled_downgrade_behavior', 'trial_days', 'trial_payment_method_required'),
    ...same(read, 'trial_eligibility_per_plan', 'custom_plan_id', 'ordered_bundle_list'),
    ordered_plans: ids(read.ordered_plan_list),
    ordered_add_ons: ids(read.ordered_add_on_list),
    add_on_ids: read.ordered_add_on_list.map((one: Body) => one.plan_id),
    custom_checkout_fields: read.custom_checkout_fields.map((field: Body) =>
      same(field, 'id', 'name', 'psp_metadata_key', 'required'),
    ),
  }
}

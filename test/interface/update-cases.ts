// Every operation that updates something, with a thing it updates: how it is read, and what a body would say of it.
// Operations that make, tell or move something are listed beside them with the reason why they update nothing.
import type { Client } from '../harness.js'
import {
  saidOfBilling,
  saidOfEntitlement,
  saidOfFeature,
  saidOfGroup,
  saidOfPlanGrant,
  saidOfRule,
  saidOfValue,
  same,
} from './update-bodies.js'
import { updateWorld } from './update-world.js'

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
  'POST /account-members': 'makes',
  'POST /account-members/{account_member_id}/sign-in-link': 'makes',
  'POST /api-keys': 'makes',
  'POST /api-keys/{api_key_id}/roll': 'replaces the value',
  'POST /billing/credits': 'makes',
  'POST /billing/credits/bundles': 'makes',
  'POST /billing/credits/grants/company': 'makes',
  'POST /billing/credits/lease': 'makes',
  'POST /billing/credits/plan-grants': 'makes',
  'POST /billing/credits/reservations': 'makes',
  'POST /billing/credits/spend-policies': 'makes',
  'POST /catalog/apply': 'says the definitions as a whole (CA-5)',
  'POST /companies/create': 'makes',
  'POST /companies/delete': 'deletes',
  'POST /companies/{company_id}/erase': 'erases',
  'POST /company-memberships': 'makes, or finds',
  'POST /company-overrides': 'makes',
  'POST /console-links': 'makes',
  'POST /custom-plan-bundles': 'makes',
  'POST /custom-plans': 'makes',
  'POST /entity-trait-definitions': 'makes, or finds',
  'POST /environments': 'makes',
  'POST /environments/{environment_id}/context-secret': 'replaces the secret',
  'POST /features': 'makes',
  'POST /flags': 'makes',
  'POST /plan-bundles': 'makes',
  'POST /plan-entitlements': 'makes',
  'POST /plan-entitlements/duplicate': 'makes',
  'POST /plan-groups': 'makes',
  'POST /plan-version-migrations': 'makes',
  'POST /plans': 'makes',
  'POST /signed-contexts': 'makes',
  'POST /temporary-access-tokens': 'makes',
  'POST /users/create': 'makes',
  'POST /users/delete': 'deletes',
  'POST /users/{user_id}/erase': 'erases',
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
  'POST /plan-version-migrations/{plan_version_migration_id}/pause': 'pauses',
  'POST /plan-version-migrations/{plan_version_migration_id}/resume': 'resumes',
  'POST /plan-version-migrations/{plan_version_migration_id}/revert': 'makes a move back',
  'POST /plan-moves': 'makes',
  'POST /plan-moves/preview': 'changes nothing',
  'POST /plan-moves/{plan_move_id}/cancel': 'cancels',
  'POST /plan-moves/{plan_move_id}/pause': 'pauses',
  'POST /plan-moves/{plan_move_id}/resume': 'resumes',
  'POST /plan-moves/{plan_move_id}/retry': 'tries again',
  'POST /plan-moves/{plan_move_id}/revert': 'makes a move back',
  'POST /webhook-events/{webhook_event_id}/redeliver': 'sends again',
  'POST /webhooks/{webhook_id}/roll-secret': 'replaces the secret',
  'POST /webhooks/{webhook_id}/test': 'sends a test',
}

/** The one of a list. */
async function only(list: Promise<Body>, fits: (one: Body) => boolean): Promise<Body> {
  const found = (await list).find(fits)
  if (!found) throw new Error('nothing of the list fits')
  return found
}

/** By the title of each operation. */
export async function updateCases(client: Client): Promise<Readonly<Record<string, readonly UpdateCase[]>>> {
  const ok = (method: string, path: string, body?: unknown) => client.ok(method, path, body)
  const {
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
  } = await updateWorld(client)
  const member = await ok('POST', '/account-members', {
    name: 'Ada',
    email: 'ada@example.com',
    console_roles: { '*': 'viewer' },
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

  const statedPrice: UpdateCase['said'] = read => ({
    ...same(read, 'currency', 'billing_scheme', 'usage_type', 'is_active'),
    ...same(read, 'price', 'price_decimal', 'package_size', 'meter_id', 'nickname', 'tiers_mode'),
    ...same(read, 'product_external_id', 'interval', 'interval_count'),
  })

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
        { external_id: 'in_1' },
        read => ({
          ...same(read, 'customer_external_id', 'amount_due', 'amount_paid', 'amount_remaining', 'subtotal'),
          ...same(read, 'collection_method', 'currency'),
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
        { price_external_id: 'price_1' },
        statedPrice,
      ),
      record(
        '/billing/price/upsert',
        '/billing/price?limit=250',
        one => one.price_external_id === 'price_tiers',
        { price_external_id: 'price_tiers', product_external_id: 'prod_1' },
        statedPrice,
      ),
    ],
    'POST /billing/product/upsert': [
      record(
        '/billing/product/upsert',
        '/billing/products?limit=250',
        one => one.external_id === 'prod_1',
        { external_id: 'prod_1' },
        read => same(read, 'name', 'price', 'is_active', 'provider_type'),
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
        naming: { subscription_external_id: 'sub_1' },
        read: async () => (await ok('GET', `/companies/${company.id}`)).billing_subscriptions[0],
        said: read => ({
          ...same(
            read,
            'customer_external_id',
            'currency',
            'total_price',
            'cancel_at_period_end',
            'expired_at',
          ),
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
    'PUT /company-overrides': overrides.map(({ id, company_id, feature_id }) => ({
      path: '/company-overrides',
      naming: { company_id, feature_id },
      read: get(`/company-overrides/${id}`),
      said: (read: Body) => ({ ...saidOfValue(read), expiration_date: read.expiration_date }),
    })),
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
    'PUT /account-members/{account_member_id}': [
      {
        path: `/account-members/${member.id}`,
        read: get(`/account-members/${member.id}`),
        said: read => same(read, 'name', 'email', 'console_roles', 'disabled'),
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

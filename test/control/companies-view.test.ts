// A company with everything: plans, entitlements, overrides, metrics, credits, as the wire shows it.
import t from 'tap'
import type { CompanyDetail } from '../../schemas/companies.js'
import { TraitRegistry } from '../../src/catalog/traits.js'
import { noHeldCredits } from '../../src/control/companies/held-credits.js'
import { companyDetail, type Surroundings } from '../../src/control/companies/view.js'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply } from '../../src/core/company/company.js'
import { encodeAmount, wholeCredits } from '../../src/core/values/amount.js'
import { dayMs } from '../../src/core/values/period.js'
import { jsonText } from '../../src/json.js'
import { unpackOutline } from '../../src/wire/company-outline.js'
import { outlineCompany } from '../../workers/shard/checks/describe.js'
import {
  catalogData,
  company,
  credit,
  entitlement,
  feature,
  flag,
  holding,
  override,
  plan,
  planVersion,
  postpaid,
  trait,
} from '../core/make.js'

const now = Date.parse('2026-03-15T10:00:00Z')
const iso = (ms: number) => new Date(ms).toISOString()

const seats = trait('seats')
const limit = trait('seat_limit')
const definitions = catalogData({
  traits: [seats, limit],
  features: [
    feature('calls'),
    feature('seats', { featureType: 'trait', traitId: seats.id }),
    feature('sso', { featureType: 'boolean' }),
    feature('draws'),
  ],
  flags: ['calls', 'seats', 'sso', 'draws'].map(key => flag(key)),
  credits: [credit('gold', { description: 'shiny', pluralName: 'coins' })],
  plans: [
    plan('pro', [], {
      name: 'Pro',
      description: 'for some',
      versions: [
        planVersion('pro_v1', {
          billingProductId: 'bilp_1',
          entitlements: [
            entitlement('calls', {
              valueType: 'numeric',
              valueNumeric: 10,
              metricPeriod: 'current_day',
              warningTiers: [{ key: 'half', value: 5 }],
            }),
            entitlement('sso', { valueBool: true }),
            entitlement('draws', { valueType: 'credit', valueCreditId: 'gold', consumptionRate: 0.5 }),
          ],
          creditGrants: [{ ...postpaid('gold', '2.5'), createdAtMs: 1_000, updatedAtMs: 2_000 }],
        }),
      ],
    }),
    plan('extra', [], { name: 'Extra', planType: 'add_on' }),
    plan('free', [], { name: 'Free' }),
  ],
  fallbackPlanId: 'free',
})

const surroundings = (some: Partial<Surroundings> = {}): Surroundings => ({
  catalog: definitions,
  registry: new TraitRegistry(),
  definitions: { keys: new Map(), traits: new Map() },
  billing: { prices: new Map(), externalProductIds: new Map(), ofCatalog: true, held: noHeldCredits },
  nowMs: now,
  ...some,
})

const catalog = compileCatalog(definitions)

/** The view as it is read on the wire; the outline crosses as between the threads. */
function detailOf(
  asked: Parameters<typeof outlineCompany>,
  users: number,
  around: Surroundings,
): CompanyDetail {
  return JSON.parse(jsonText(companyDetail(unpackOutline(outlineCompany(...asked)).outline, users, around)))
}

t.test('plans, entitlements, rules, metrics and balances', async t => {
  const acme = company({
    plan: holding('pro', { addedAtMs: now - dayMs, priceId: 'bilpp_1' }),
    addOns: [holding('extra', { addedAtMs: now })],
    overrides: [
      override('seats', { valueType: 'trait', valueTraitId: limit.id }),
      override('sso', { valueBool: false }, now),
    ],
    traits: { seats: '3', seat_limit: '5' },
  })
  apply(acme, { t: 'used', subtype: 'calls', quantity: 4, atMs: now - dayMs }, now - dayMs)
  apply(acme, { t: 'used', subtype: 'calls', quantity: 2, atMs: now }, now)
  const detail = detailOf(
    [acme, catalog, now],
    7,
    surroundings({
      billing: {
        prices: new Map([['bilpp_1', { price: 1_000, period: 'month' }]]),
        externalProductIds: new Map([['bilp_1', 'prod_9']]),
        ofCatalog: false,
        held: noHeldCredits,
      },
    }),
  )
  t.equal(detail.user_count, 7)
  t.strictSame(detail.plans, [
    { id: 'pro', name: 'Pro', description: 'for some', image_url: null },
    { id: 'extra', name: 'Extra', description: '', image_url: null },
  ])
  const { included_credit_grants: grants, ...pro } = detail.plan!
  t.strictSame(pro, {
    id: 'pro',
    name: 'Pro',
    description: 'for some',
    image_url: null,
    plan_version_id: 'pro_v1',
    plan_period: 'month',
    plan_price: 1_000,
    added_on: iso(now - dayMs),
    billing_product_id: 'bilp_1',
    billing_product_external_id: 'prod_9',
  })
  t.strictSame(grants, [
    {
      id: 'pcgr_gold',
      plan_id: 'pro',
      plan_version_id: 'pro_v1',
      credit_id: 'gold',
      credit_name: 'gold',
      credit_description: 'shiny',
      credit_icon: null,
      plural_name: 'coins',
      singular_name: null,
      plan: { id: 'pro', name: 'Pro', description: 'for some', image_url: null },
      credit_amount: 1,
      company_credit_amount: 0,
      billing_mode: 'granted',
      scaling: 'fixed',
      license_id: null,
      reset_type: 'no_reset',
      reset_cadence: null,
      reset_start: null,
      rollover_percentage: 0,
      expiry_type: null,
      expiry_unit: null,
      expiry_unit_count: null,
      billing_product_price_id: null,
      billing_credit_postpaid_enabled: true,
      billing_credit_postpaid_rate_per_unit: null,
      billing_credit_postpaid_rate_per_unit_decimal: null,
      billing_credit_overdraft_limit: 2.5,
      billing_credit_arrears_anchor: null,
      billing_credit_arrears_cadence: null,
      billing_credit_can_buy_bundles: true,
      billing_credit_auto_topup_enabled: false,
      billing_credit_auto_topup_self_service: false,
      billing_credit_auto_topup_availability: 'off',
      billing_credit_auto_topup_amount: null,
      billing_credit_auto_topup_amount_type: null,
      billing_credit_auto_topup_threshold_credits: null,
      billing_credit_auto_topup_threshold_percent: null,
      billing_credit_auto_topup_expiry_type: null,
      billing_credit_auto_topup_expiry_unit: null,
      billing_credit_auto_topup_expiry_unit_count: null,
      company_auto_topup_enabled: null,
      company_auto_topup_amount: null,
      company_auto_topup_threshold_credits: null,
      created_at: iso(1_000),
      updated_at: iso(2_000),
    },
  ])
  t.strictSame(
    detail.add_ons.map(({ id, added_on }) => [id, added_on]),
    [['extra', iso(now)]],
  )
  // EN-50, by feature name; members that mean nothing are absent
  t.strictSame(detail.entitlements, [
    {
      feature_id: 'calls',
      feature_key: 'calls',
      value_type: 'numeric',
      allocation: 10,
      usage: 2,
      event_name: 'calls',
      event_subtype: 'calls',
      metric_period: 'current_day',
      metric_reset_at: '2026-03-16T00:00:00.000Z',
      warning_tiers: [{ key: 'half', value: 5 }],
    },
    {
      feature_id: 'draws',
      feature_key: 'draws',
      value_type: 'credit',
      event_name: 'draws',
      event_subtype: 'draws',
      credit_id: 'gold',
      consumption_rate: 0.5,
      credit_total: 0,
      credit_used: 0,
      credit_remaining: 0,
      credit_reserved: 0,
      credit_settled: 0,
    },
    { feature_id: 'seats', feature_key: 'seats', value_type: 'trait', allocation: 5, usage: 3 },
    { feature_id: 'sso', feature_key: 'sso', value_type: 'boolean' },
  ])
  // EN-61: the override that ends now has ended, so only the other's rules are shown
  t.strictSame(
    detail.rules.map(({ id, flag_id, rule_type, value }) => ({ id, flag_id, rule_type, value })),
    [
      { id: 'rule_cmov_seats', flag_id: 'flag_seats', rule_type: 'company_override', value: true },
      {
        id: 'rule_cmov_seats_over',
        flag_id: 'flag_seats',
        rule_type: 'company_override_usage_exceeded',
        value: false,
      },
    ],
  )
  const [granting] = detail.rules
  t.strictSame([granting!.account_id, granting!.environment_id, granting!.priority], ['acct_1', 'env_1', 0])
  t.strictSame(granting!.condition_groups, [])
  t.match(granting!.conditions, [
    { condition_type: 'company', operator: 'eq', resource_ids: ['comp_1'], account_id: 'acct_1' },
    { condition_type: 'trait', operator: 'lt', trait_value: '0' },
  ])
  // US-1: windows that hold an event
  t.strictSame(
    detail.metrics.map(({ period, month_reset, value, valid_until }) => [
      period,
      month_reset,
      value,
      valid_until,
    ]),
    [
      ['all_time', 'first_of_month', 6, null],
      ['current_day', 'first_of_month', 2, '2026-03-16T00:00:00.000Z'],
      ['current_week', 'first_of_month', 2, '2026-03-22T00:00:00.000Z'],
      ['current_month', 'first_of_month', 6, '2026-04-01T00:00:00.000Z'],
      ['current_month', 'billing_cycle', 6, '2026-04-01T00:00:00.000Z'],
    ],
  )
  t.strictSame(detail.billing_credit_balances, {})
})

t.test('traits of rules say how they compare', async t => {
  const registry = new TraitRegistry()
  const { trait: known } = registry.introduce('env_1', 'company', 'seats', ['seats'], 'number')
  const counted = { ...feature('seats', { featureType: 'trait', traitId: known.id }) }
  const data = catalogData({ features: [counted], flags: [flag('seats')] })
  const acme = company({ overrides: [override('seats', { valueType: 'numeric', valueNumeric: 3 })] })
  const { rules } = detailOf([acme, compileCatalog(data), now], 0, surroundings({ catalog: data, registry }))
  t.strictSame(rules[0]!.conditions[1]!.trait_definition, {
    id: known.id,
    entity_type: 'company',
    comparable_type: 'int',
  })
})

t.test('EN-82 a company without a plan is shown on the fallback plan, without an assignment', async t => {
  const { plan, plans } = detailOf([company(), catalog, now], 0, surroundings())
  t.match(plan, { id: 'free', added_on: null, plan_version_id: 'free_v1' })
  t.equal(plans.length, 1)
})

t.test('EN-93 a trial that cancels itself has ended at its end', async t => {
  const trial = { endMs: now, endSetting: 'cancel', status: 'active' } as const
  const acme = company({ plan: holding('pro', { trial, addedAtMs: 1 }) })
  const at = (ms: number) => detailOf([acme, catalog, ms], 0, surroundings()).plan?.id
  t.equal(at(now - 1), 'pro')
  t.equal(at(now), 'free')
})

t.test('a plan that left the catalog is shown by its id', async t => {
  const acme = company({ plan: holding('gone', { addedAtMs: 1 }) })
  const detail = detailOf([acme, catalog, now], 0, surroundings())
  t.match(detail.plan, { id: 'gone', name: 'gone', description: null, included_credit_grants: [] })
  t.strictSame(detail.plans, [])
})

t.test('CR-4 balances are what is left to draw', async t => {
  const acme = company({ plan: holding('pro') })
  const grant = { reason: 'free', q: encodeAmount(wholeCredits(5)) } as const
  apply(acme, { t: 'credit_grant', c: 'gold', seq: 1, at: now, g: grant }, now)
  const detail = detailOf([acme, catalog, now], 0, surroundings())
  t.strictSame(detail.billing_credit_balances, { gold: 5 })
})

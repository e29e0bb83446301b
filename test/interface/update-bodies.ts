// The write body of a resource that was read: the members of its write, from those of its view.

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

/** The members of this name, as they are. */
export function same(read: Body, ...members: string[]): Record<string, unknown> {
  return Object.fromEntries(members.map(member => [member, read[member]]))
}

export function saidOfValue(read: Body): Record<string, unknown> {
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

export function saidOfEntitlement(read: Body): Record<string, unknown> {
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

export function saidOfBilling(read: Body): Record<string, unknown> {
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

export function saidOfPlanGrant(read: Body): Record<string, unknown> {
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

export function saidOfFeature(read: Body): Record<string, unknown> {
  const [flag] = read.flags
  return {
    ...same(read, 'name', 'description', 'icon', 'feature_type', 'event_source', 'event_subtype', 'trait_id'),
    ...same(read, 'lifecycle_phase', 'maintainer_account_member_id', 'plural_name', 'singular_name'),
    flag: flag && same(flag, 'id', 'key', 'name', 'description', 'default_value'),
  }
}

export function saidOfRule(rule: Body): Record<string, unknown> {
  return {
    ...same(rule, 'id', 'name', 'priority', 'value', 'rule_type'),
    conditions: rule.conditions.map(saidOfCondition),
    condition_groups: rule.condition_groups.map((group: Body) => ({
      id: group.id,
      conditions: group.conditions.map(saidOfCondition),
    })),
  }
}

/** Optional members of an entry are left out. */
export function saidOfCondition(condition: Body): Record<string, unknown> {
  return same(condition, 'id', 'condition_type', 'operator', 'resource_ids')
}

export function saidOfGroup(read: Body): Record<string, unknown> {
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

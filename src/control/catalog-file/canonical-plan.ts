// The one form of a plan version in a catalogue: its entitlements, credit grants and prices.
import type * as file from '../../../schemas/catalog.js'
import { correctedValueType } from '../../core/entitlements/entitlement.js'
import { amountFromNumber, amountToDecimal } from '../../core/values/amount.js'
import { quantityFromText } from '../../core/values/quantity.js'
import { type FeatureTypes, plain, prices, quantity, quantityOrNone, sorted, tier } from './members.js'
import { canonicalReference } from './references.js'

const versionTable = {
  name: null,
  description: '',
  icon: 'gray',
  charge_type: 'none',
  billing_strategy: null,
  product: null,
  is_trialable: false,
  trial_days: null,
  currency: 'usd',
  prices: null,
  entitlements: null,
  credit_grants: null,
} as const

const entitlementTable = {
  feature: null,
  value_type: null,
  value_bool: null,
  value_numeric: null,
  value_trait: null,
  value_credit: null,
  credit_consumption_rate: null,
  quantity_rates: null,
  metric_period: null,
  metric_period_month_reset: null,
  price_behavior: null,
  soft_limit: null,
  usage_quantity: null,
  billing_threshold: null,
  overage_billing_cadence: null,
  product: null,
  overage_product: null,
  prices: null,
  warning_tiers: null,
  provider: null,
  external_resource_id: null,
} as const

const grantTable = {
  credit: null,
  credit_amount: null,
  company_credit_amount: 0,
  billing_mode: 'granted',
  scaling: 'fixed',
  license: null,
  reset_type: 'plan_period',
  reset_cadence: null,
  reset_start: null,
  rollover_percentage: 0,
  renewal_enabled: false,
  renewal_period: 'billing_period',
  expiry_type: null,
  expiry_unit: 'days',
  expiry_unit_count: null,
  postpaid_enabled: false,
  postpaid_rate_per_unit: null,
  postpaid_rate_per_unit_decimal: null,
  overdraft_limit: null,
  arrears_cadence: null,
  arrears_anchor: null,
  auto_topup_availability: 'off',
  auto_topup_amount: null,
  auto_topup_threshold_credits: null,
  auto_topup_threshold_percent: null,
  auto_topup_expiry_type: null,
  auto_topup_expiry_unit: null,
  auto_topup_expiry_unit_count: null,
  can_buy_bundles: true,
  unit_price: null,
  unit_price_decimal: null,
  tier_mode: null,
  price_tiers: null,
} as const

export function isCharged(version: Pick<file.CatalogPlanVersion, 'charge_type'>): boolean {
  return version.charge_type === 'recurring' || version.charge_type === 'one_time'
}

/** The strategy of a version that names none: the provider's with a product, the service's own where it charges. */
export function usualStrategy(version: file.CatalogPlanVersion) {
  return version.product != null ? 'provider_managed' : isCharged(version) ? 'service_managed' : 'no_billing'
}

/** `planName`: the default name. */
export function canonicalVersion(
  given: file.CatalogPlanVersion,
  planName: string,
  types: FeatureTypes,
): file.CatalogPlanVersion {
  return plain(
    {
      ...given,
      name: given.name === planName ? null : given.name,
      billing_strategy: given.billing_strategy === usualStrategy(given) ? null : given.billing_strategy,
      product: product(given.product),
      trial_days: given.is_trialable === true ? given.trial_days : null,
      prices: prices(given.prices, 'licensed'),
      entitlements: sorted(
        (given.entitlements ?? []).map(one => canonicalEntitlement(one, types)),
        one => one.feature,
      ),
      credit_grants: sorted((given.credit_grants ?? []).map(canonicalGrant), one => one.credit),
    },
    versionTable,
  )
}

function product(given: file.CatalogProduct | null | undefined): file.CatalogProduct | null {
  return given == null ? null : { provider: given.provider, external_id: given.external_id }
}

/** The usage type of an entitlement's prices. */
export function usageType(behavior: file.CatalogEntitlement['price_behavior']) {
  return behavior === 'pay_in_advance' ? 'licensed' : 'metered'
}

function canonicalEntitlement(given: file.CatalogEntitlement, types: FeatureTypes): file.CatalogEntitlement {
  const feature = canonicalReference(given.feature)
  const behavior = given.price_behavior ?? null
  return plain(
    {
      ...given,
      feature,
      ...canonicalValue(given, types.get(feature) === 'event'),
      soft_limit: behavior === 'overage' ? quantityOrNone(given.soft_limit) : null,
      usage_quantity: behavior === 'pay_in_advance' ? quantityOrNone(given.usage_quantity) : null,
      billing_threshold: quantityOrNone(given.billing_threshold),
      overage_billing_cadence: behavior === 'overage' ? given.overage_billing_cadence : null,
      product: product(given.product),
      overage_product: product(given.overage_product),
      prices: prices(given.prices, usageType(behavior)),
      warning_tiers: given.warning_tiers?.map(({ key, value }) => ({ key, value })),
    },
    entitlementTable,
  )
}

/** The value members that belong to the value type, as `normaliseValue` keeps them (EN-18, EN-30). */
function canonicalValue(
  given: file.CatalogEntitlement,
  isMetered: boolean,
): Partial<file.CatalogEntitlement> {
  const behavior = given.price_behavior ?? null
  const numeric = quantityOrNone(given.value_numeric)
  const type = correctedValueType(
    behavior,
    given.value_type,
    typeof numeric === 'string' ? quantityFromText(numeric) : numeric,
  ) as file.CatalogEntitlement['value_type']
  const none = {
    value_type: type,
    value_bool: null,
    value_numeric: null,
    value_trait: null,
    value_credit: null,
    credit_consumption_rate: null,
    quantity_rates: null,
  }
  const period = isMetered ? (given.metric_period ?? null) : null
  const reset = given.metric_period_month_reset
  const metered = {
    ...none,
    metric_period: period,
    metric_period_month_reset: period === 'current_month' && reset !== 'first_of_month' ? reset : null,
  }
  const unmetered = { ...none, metric_period: null, metric_period_month_reset: null }
  switch (type) {
    case 'boolean':
      return { ...unmetered, value_bool: given.value_bool }
    case 'unlimited':
      return metered
    case 'numeric':
      return { ...metered, value_numeric: numeric }
    case 'trait':
      return { ...metered, value_trait: behavior === 'pay_in_advance' ? null : given.value_trait }
    case 'credit': {
      const rates = Object.entries(given.quantity_rates ?? {})
      const usual = rates.length === 0 ? 1 : 0
      const rate = given.credit_consumption_rate
      return {
        ...unmetered,
        value_credit: given.value_credit == null ? null : canonicalReference(given.value_credit),
        credit_consumption_rate: rate === usual ? null : rate,
        quantity_rates: rates.length === 0 ? null : Object.fromEntries(sorted(rates, ([name]) => name)),
      }
    }
  }
}

/** The terms that belong together, as `normaliseTerms` keeps them (CR-32…CR-55). */
function canonicalGrant(given: file.CatalogPlanGrant): file.CatalogPlanGrant {
  const resets = (given.reset_type ?? 'plan_period') === 'plan_period'
  const lasts = !resets && given.expiry_type === 'duration'
  return plain(
    {
      ...given,
      credit: canonicalReference(given.credit),
      license:
        given.scaling === 'per_license' && given.license != null ? canonicalReference(given.license) : null,
      renewal_enabled: resets ? null : given.renewal_enabled,
      renewal_period: !resets && given.renewal_enabled === true ? given.renewal_period : null,
      expiry_type: resets ? null : given.expiry_type,
      expiry_unit: lasts ? given.expiry_unit : null,
      expiry_unit_count: lasts ? given.expiry_unit_count : null,
      postpaid_rate_per_unit:
        given.postpaid_rate_per_unit_decimal == null ? quantityOrNone(given.postpaid_rate_per_unit) : null,
      overdraft_limit:
        given.overdraft_limit == null
          ? null
          : amountToDecimal(amountFromNumber(Number(given.overdraft_limit))),
      arrears_anchor: given.arrears_cadence === 'monthly' ? given.arrears_anchor : null,
      ...grantPrice(given),
    },
    grantTable,
  )
}

function grantPrice(given: file.CatalogPlanGrant): Partial<file.CatalogPlanGrant> {
  const none = { unit_price: null, unit_price_decimal: null, tier_mode: null, price_tiers: null }
  if (given.billing_mode !== 'billed') return none
  if (given.price_tiers?.length)
    return { ...none, tier_mode: given.tier_mode, price_tiers: given.price_tiers.map(tier) }
  const exact = given.unit_price_decimal
  return {
    ...none,
    unit_price: exact == null && given.unit_price != null ? quantity(given.unit_price) : null,
    unit_price_decimal: exact,
  }
}

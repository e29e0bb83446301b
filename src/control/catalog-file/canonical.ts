// The one form of a catalogue document: members in a fixed order, lists sorted, defaults left out, members that do not
// belong to their object dropped as the service drops them. Equal catalogues have equal text (CA-2).
import type * as file from '../../../schemas/catalog.js'
import { isoTime, requireTime } from '../../kit/time.js'
import { canonicalVersion } from './canonical-plan.js'
import { type FeatureTypes, labelled, plain, price, quantity, sorted } from './members.js'
import { canonicalReference } from './references.js'

const traitTable = {
  entity_type: null,
  name: null,
  hierarchy: null,
  trait_type: null,
  display_name: '',
  publishable_writes: false,
} as const

const featureTable = {
  name: null,
  description: '',
  feature_type: null,
  event_source: 'track',
  event_subtype: '',
  icon: '',
  lifecycle_phase: null,
  plural_name: null,
  singular_name: null,
  trait: null,
  usage_limit_trait: null,
  provider: null,
  external_resource_id: null,
} as const

const conditionTable = {
  condition_type: null,
  operator: null,
  resources: null,
  trait: null,
  trait_value: '',
  comparable_type: null,
  comparison_trait: null,
  event_subtype: '',
  metric_period: 'all_time',
  metric_period_month_reset: null,
  metric_value: null,
  credit: null,
  credit_cost: null,
} as const

const ruleTable = {
  name: null,
  rule_type: 'standard',
  priority: null,
  value: null,
  conditions: null,
  condition_groups: null,
} as const

const flagTable = {
  key: null,
  name: null,
  description: '',
  default_value: false,
  feature: null,
  rules: null,
} as const

const creditTable = {
  name: null,
  description: '',
  currency: null,
  burn_strategy: 'plan_first_then_credit_bundles_first_in_first_out',
  default_expiry_unit: 'days',
  default_expiry_unit_count: null,
  default_rollover_policy: 'none',
  icon: null,
  plural_name: null,
  singular_name: null,
  prices: null,
} as const

const bundleTable = {
  name: null,
  credit: null,
  currency: null,
  status: 'active',
  quantity: null,
  expiry_type: 'no_expiry',
  expiry_unit: 'days',
  expiry_unit_count: null,
  compatible_plans: null,
  prices: null,
} as const

const planTable = {
  name: null,
  plan_type: null,
  provider: null,
  external_resource_id: null,
  external_resource_version: null,
  published: null,
  draft: null,
} as const

const groupTable = {
  initial_plan: null,
  initial_plan_price: null,
  fallback_plan: null,
  trial_expiry_plan: null,
  trial_expiry_plan_price: null,
  custom_plan: null,
  plans: null,
  add_ons: null,
  bundles: null,
  add_on_compatibilities: null,
  custom_checkout_fields: null,
  proration_behavior: 'create_prorations',
  checkout_collect_address: false,
  checkout_collect_email: false,
  checkout_collect_phone: false,
  checkout_collect_tax_id: false,
  enable_tax_collection: false,
  opt_in_enabled: false,
  prevent_downgrades_when_over_limit: false,
  prevent_self_service_downgrade: false,
  show_as_monthly_prices: false,
  show_credits: false,
  show_feature_description: false,
  show_hard_limit: false,
  show_period_toggle: false,
  show_zero_price_as_free: false,
  sync_customer_billing_details: false,
  checkout_bundle_purchase_behavior: 'quantity',
  custom_plan_config: null,
  scheduled_downgrade_behavior: null,
  scheduled_downgrade_prevent_when_over_limit: null,
  trial_eligibility_per_plan: false,
  trial_payment_method_required: null,
  trial_days: null,
  opt_in_text: null,
  opt_in_title: null,
  prevent_self_service_downgrade_button_text: null,
  prevent_self_service_downgrade_url: null,
} as const

const limitTable = {
  create_companies: null,
  add_company_keys: null,
  create_users: null,
  add_user_keys: null,
  name_events: null,
  name_traits: null,
  quantity_max: null,
} as const

const modelPriceTable = {
  provider: null,
  model: null,
  currency: null,
  effective_at: null,
  input: null,
  cached_input: null,
  cache_write: null,
  output: null,
  reasoning: null,
  per_request: null,
} as const

/**
 * The canonical form of a document. Sections that it lacks stay away.
 *
 * features  types of features that the document does not define itself.
 * errors    400 for a time that is none.
 */
export function canonical(given: file.Catalog, features: FeatureTypes): file.Catalog {
  const list = <T, R>(
    items: readonly T[] | null | undefined,
    name: string,
    made: (items: readonly T[]) => R,
  ) => (items == null ? {} : { [name]: made(items) })
  const types = new Map(features)
  for (const [ref, feature] of labelled(given.features ?? [])) types.set(ref, feature.feature_type)
  return {
    catalog: 1,
    ...list(given.traits, 'traits', all =>
      sorted(all.map(canonicalTrait), one => `${one.entity_type} ${one.name}`),
    ),
    ...list(given.features, 'features', all => sorted(all.map(canonicalFeature), one => one.name)),
    ...list(given.flags, 'flags', all => sorted(all.map(canonicalFlag), one => one.key)),
    ...list(given.credits, 'credits', all => sorted(all.map(canonicalCredit), one => one.name)),
    ...list(given.plans, 'plans', all =>
      sorted(
        all.map(one => canonicalPlan(one, types)),
        one => one.name,
      ),
    ),
    ...list(given.bundles, 'bundles', all => sorted(all.map(canonicalBundle), one => one.name)),
    ...(given.plan_group == null ? {} : { plan_group: canonicalGroup(given.plan_group) }),
    ...list(given.model_prices, 'model_prices', all => sorted(all.map(canonicalModelPrice), modelPriceName)),
    ...(given.publishable_limits == null
      ? {}
      : { publishable_limits: plain(given.publishable_limits, limitTable) }),
  }
}

/** The name of a model price among others. */
export function modelPriceName(one: NonNullable<file.Catalog['model_prices']>[number]): string {
  return `${one.provider} ${one.model} ${one.currency} ${one.effective_at}`
}

function canonicalTrait(given: file.CatalogTrait): file.CatalogTrait {
  const { hierarchy, name, display_name } = given
  return plain(
    {
      ...given,
      hierarchy: hierarchy?.length === 1 && hierarchy[0] === name ? null : hierarchy,
      display_name: display_name === name ? null : display_name,
    },
    traitTable,
  )
}

function canonicalFeature(given: file.CatalogFeature): file.CatalogFeature {
  const { feature_type: type } = given
  const counts = type === 'event' || type === 'boolean'
  return plain({ ...given, event_subtype: counts ? given.event_subtype : null }, featureTable)
}

function canonicalFlag(given: file.CatalogFlag): file.CatalogFlag {
  return plain(
    {
      ...given,
      feature: given.feature == null ? null : canonicalReference(given.feature),
      rules: given.rules?.map(canonicalRule),
    },
    flagTable,
  )
}

function canonicalRule(given: file.CatalogRule): file.CatalogRule {
  return plain(
    {
      ...given,
      priority: quantity(given.priority),
      conditions: given.conditions?.map(canonicalCondition),
      condition_groups: given.condition_groups?.map(group => group.map(canonicalCondition)),
    },
    ruleTable,
  )
}

/** Members of the condition's type alone (EN-5, FE-42…44). */
function canonicalCondition(given: file.CatalogCondition): file.CatalogCondition {
  const { condition_type, operator } = given
  return plain({ condition_type, operator, ...ofType(given) }, conditionTable)
}

function ofType(given: file.CatalogCondition): Partial<file.CatalogCondition> {
  switch (given.condition_type) {
    case 'trait':
      return {
        trait: given.trait,
        trait_value: given.trait_value,
        comparable_type: given.comparable_type,
        comparison_trait: given.comparison_trait,
      }
    case 'metric': {
      const period = given.metric_period ?? 'all_time'
      const reset = given.metric_period_month_reset
      const unused =
        given.comparison_trait != null || given.operator === 'is_empty' || given.operator === 'not_empty'
      const value = given.metric_value == null ? null : quantity(given.metric_value)
      return {
        event_subtype: given.event_subtype,
        metric_period: period,
        metric_period_month_reset:
          period === 'current_month'
            ? reset === 'first_of_month'
              ? null
              : reset
            : reset == null
              ? null
              : 'first_of_month',
        metric_value: unused && value === 0 ? null : value,
        comparison_trait: given.comparison_trait,
      }
    }
    case 'credit':
      return {
        credit: given.credit == null ? null : canonicalReference(given.credit),
        credit_cost: given.credit_cost,
        event_subtype: given.event_subtype,
      }
    case 'base_plan':
    case 'billing_product':
    case 'company':
    case 'plan':
    case 'plan_version':
    case 'user':
      return { resources: [...new Set((given.resources ?? []).map(canonicalReference))] }
  }
}

function canonicalCredit(given: file.CatalogCredit): file.CatalogCredit {
  return plain({ ...given, prices: unitPrices(given.prices) }, creditTable)
}

/** Prices of one credit: one for each currency. */
function unitPrices(given: file.CatalogCredit['prices']): file.CatalogPrice[] {
  return sorted(
    (given ?? []).map(one => price(one, 'licensed')),
    one => one.currency,
  )
}

function canonicalBundle(given: file.CatalogBundle): file.CatalogBundle {
  return plain(
    {
      ...given,
      credit: canonicalReference(given.credit),
      expiry_unit_count: given.expiry_type === 'duration' ? given.expiry_unit_count : null,
      compatible_plans: given.compatible_plans?.map(canonicalReference),
      prices: unitPrices(given.prices),
    },
    bundleTable,
  )
}

function canonicalPlan(given: file.CatalogPlan, types: FeatureTypes): file.CatalogPlan {
  const version = (one: file.CatalogPlan['draft']) =>
    one == null ? null : canonicalVersion(one, given.name, types)
  return plain({ ...given, published: version(given.published), draft: version(given.draft) }, planTable)
}

function canonicalGroup(given: file.CatalogPlanGroup): file.CatalogPlanGroup {
  const ref = (one: string | null | undefined) => (one == null ? null : canonicalReference(one))
  const plans = (all: file.CatalogPlanGroup['plans']) =>
    all?.map(one => ({
      plan: canonicalReference(one.plan),
      ...(one.entitlements?.length && {
        entitlements: one.entitlements.map(each => ({
          feature: canonicalReference(each.feature),
          ...(each.visible == null ? {} : { visible: each.visible }),
        })),
      }),
    }))
  const { custom_plan_config: config } = given
  const priceRef = (one: file.CatalogPlanGroup['initial_plan_price']) =>
    one == null ? null : { currency: one.currency, cadence: one.cadence }
  return plain(
    {
      ...given,
      initial_plan: ref(given.initial_plan),
      initial_plan_price: priceRef(given.initial_plan_price),
      fallback_plan: ref(given.fallback_plan),
      trial_expiry_plan: ref(given.trial_expiry_plan),
      trial_expiry_plan_price: priceRef(given.trial_expiry_plan_price),
      custom_plan: ref(given.custom_plan),
      plans: plans(given.plans),
      add_ons: plans(given.add_ons),
      bundles: given.bundles?.map(canonicalReference),
      add_on_compatibilities: given.add_on_compatibilities?.map(one => ({
        plan: canonicalReference(one.plan),
        compatible_plans: one.compatible_plans.map(canonicalReference),
      })),
      custom_checkout_fields: given.custom_checkout_fields?.map(one => ({
        name: one.name,
        psp_metadata_key: one.psp_metadata_key,
        required: one.required,
        trait: one.trait,
        ...(one.helper_text == null ? {} : { helper_text: one.helper_text }),
      })),
      custom_plan_config: config && {
        cta_text: config.cta_text,
        cta_web_site: config.cta_web_site,
        price_text: config.price_text,
      },
    },
    groupTable,
  )
}

type ModelPrice = NonNullable<file.Catalog['model_prices']>[number]

function canonicalModelPrice(given: ModelPrice): ModelPrice {
  return plain(
    {
      ...given,
      currency: given.currency.toLowerCase(),
      effective_at: isoTime(requireTime(given.effective_at, 'model_prices.effective_at')),
    },
    modelPriceTable,
  )
}

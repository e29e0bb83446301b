// The catalogue document of an environment, made from its rows (CA-1, CA-2).
import type * as file from '../../../schemas/catalog.js'
import type { PlanCreditGrantRow } from '../../catalog/credits.js'
import { type EntitlementRow, numberOrNull, type PlanVersionRow } from '../../catalog/plans.js'
import { nativeProductId, type StoredPrice } from '../../catalog/prices.js'
import type { StoredCondition } from '../../catalog/rules.js'
import { traitId } from '../../catalog/traits.js'
import { quantityOrNull, storedOrNull, storedQuantity } from '../../core/values/quantity.js'
import { isoTime } from '../../kit/time.js'
import type { RuleRow } from '../flags/rows.js'
import type { PlanGroupRow } from '../plan-groups/store.js'
import { canonical } from './canonical.js'
import { type Definitions, type PlanHere, versionOf } from './read.js'

/** The canonical document. */
export function documentOf(world: Definitions): file.Catalog {
  return canonical(
    {
      catalog: 1,
      traits: [...world.traits.values()].map(row => ({
        entity_type: row.entity_type,
        name: row.name,
        hierarchy: [...row.hierarchy],
        trait_type: row.trait_type,
        display_name: row.display_name,
        publishable_writes: row.publishable_writes,
      })),
      features: world.featureRows.map(row => ({
        name: row.name,
        description: row.description,
        feature_type: row.feature_type,
        event_source: row.event_source,
        event_subtype: row.event_subtype,
        icon: row.icon,
        lifecycle_phase: row.lifecycle_phase,
        plural_name: row.plural_name,
        singular_name: row.singular_name,
        trait: companyTrait(row.trait_hierarchy),
        usage_limit_trait: companyTrait(row.usage_limit_trait_hierarchy),
        ...linkOf(row.managed_by, row.external_resource_id),
      })),
      flags: world.flagRows.map(row => ({
        key: row.key,
        name: row.name,
        description: row.description,
        default_value: row.default_value,
        feature: world.features.refOrNull(row.feature_id),
        rules: (world.rules.get(row.id) ?? []).map(rule => ruleOf(world, rule)),
      })),
      credits: world.creditRows.map(row => ({
        name: row.name,
        description: row.description,
        currency: row.currency as file.CatalogCredit['currency'],
        burn_strategy: row.burn_strategy,
        default_expiry_unit: row.default_expiry_unit,
        default_expiry_unit_count: numberOrNull(row.default_expiry_unit_count),
        default_rollover_policy: row.default_rollover_policy,
        icon: row.icon,
        plural_name: row.plural_name,
        singular_name: row.singular_name,
        prices: row.prices.map(priceOf),
      })),
      plans: world.planRows.map(row => planOf(world, row)),
      bundles: world.bundleRows.map(row => ({
        name: row.name,
        credit: world.credits.refOf(row.credit_id),
        currency: row.currency as file.CatalogBundle['currency'],
        status: row.status,
        quantity: numberOrNull(row.quantity),
        expiry_type: row.expiry_type,
        expiry_unit: row.expiry_unit,
        expiry_unit_count: numberOrNull(row.expiry_unit_count),
        compatible_plans: row.compatible_plan_ids.map(id => world.plans.refOf(id)),
        prices: row.prices.map(priceOf),
      })),
      plan_group: world.group && groupOf(world, world.group),
      model_prices: world.modelPrices.map(({ effective_at, ...row }) => ({
        provider: row.provider,
        model: row.model,
        currency: row.currency,
        effective_at: isoTime(effective_at.getTime()),
        input: row.input,
        cached_input: row.cached_input,
        cache_write: row.cache_write,
        output: row.output,
        reasoning: row.reasoning,
        per_request: row.per_request,
      })),
      publishable_limits: world.publishableLimits ?? {},
    },
    new Map(),
  )
}

function companyTrait(hierarchy: readonly string[] | null): string | null {
  return hierarchy === null ? null : `company:${hierarchy.join('.')}`
}

/** A trait definition by its id; one that was never stored stands for itself. */
function traitOf(world: Definitions, id: string | null): string | null {
  if (id === null) return null
  const row = world.traits.get(id)
  return row ? `${row.entity_type}:${row.name}` : id
}

function linkOf(provider: file.CatalogProduct['provider'], resource: string | null) {
  return resource === null ? {} : { provider, external_resource_id: resource }
}

function ruleOf(world: Definitions, row: RuleRow): file.CatalogRule {
  const conditions = (all: readonly StoredCondition[]) => all.map(one => conditionOf(world, one))
  return {
    name: row.name,
    rule_type: row.rule_type as file.CatalogRule['rule_type'],
    priority: storedQuantity(quantityOrNull(row.priority)!),
    value: row.value,
    conditions: conditions(row.conditions),
    condition_groups: row.condition_groups.map(group => conditions(group.conditions)),
  }
}

function conditionOf(world: Definitions, one: StoredCondition): file.CatalogCondition {
  return {
    condition_type: one.condition_type,
    operator: one.operator,
    resources: one.resource_ids.map(id => resourceOf(world, one.condition_type, id)),
    trait: traitOf(world, one.trait_id),
    trait_value: one.trait_value,
    comparable_type: one.comparable_type ?? null,
    comparison_trait: traitOf(world, one.comparison_trait_id),
    event_subtype: one.event_subtype,
    metric_period: one.metric_period,
    metric_period_month_reset: one.metric_period_month_reset,
    metric_value: one.metric_value,
    credit: world.credits.refOrNull(one.credit_id),
    credit_cost: one.consumption_rate,
  }
}

function resourceOf(world: Definitions, type: StoredCondition['condition_type'], id: string): string {
  switch (type) {
    case 'plan':
    case 'base_plan':
      return world.plans.refOf(id)
    case 'plan_version':
      return versionRef(world, id)
    case 'billing_product':
      return productRef(world, id)
    case 'company':
    case 'credit':
    case 'metric':
    case 'trait':
    case 'user':
      return world.keys.get(id) ?? id
  }
}

/** `Name@published`, `Name@draft`, or `Name@3` for an archived version. */
function versionRef(world: Definitions, id: string): string {
  for (const plan of world.planRows) {
    const version = plan.versions.find(one => one.id === id)
    if (version)
      return `${world.plans.refOf(plan.id)}@${version.status === 'archived' ? version.version : version.status}`
  }
  return id
}

/** `plan:Name` for the own product of a plan, `provider:id` for a provider's. */
function productRef(world: Definitions, id: string): string {
  const plan = world.planRows.find(one => nativeProductId(world.environmentId, one.id, null) === id)
  if (plan) return `plan:${world.plans.refOf(plan.id)}`
  const product = world.products.get(id)
  return product && product.provider_type !== 'native'
    ? `${product.provider_type}:${product.external_id}`
    : id
}

function priceOf(one: StoredPrice): file.CatalogPrice {
  return {
    currency: one.currency as file.CatalogPrice['currency'],
    cadence: one.cadence,
    price: one.price,
    price_decimal: one.price_decimal,
    tiers: one.tiers?.map(tier => ({ ...tier })),
    tiers_mode: one.tiers_mode,
    usage_type: one.usage_type,
    provider: one.provider_type,
    external_id: one.external_id,
  }
}

function planOf(world: Definitions, plan: PlanHere): file.CatalogPlan {
  const version = (status: 'draft' | 'published') => {
    const row = versionOf(plan.versions, status)
    return row && documentOfVersion(world, row)
  }
  return {
    name: plan.title,
    plan_type: plan.plan_type,
    ...linkOf(plan.controlled_by, plan.external_resource_id),
    external_resource_version: plan.external_resource_version,
    published: version('published'),
    draft: version('draft'),
  }
}

/** A version as the document has it, not yet canonical. */
function documentOfVersion(world: Definitions, row: PlanVersionRow): file.CatalogPlanVersion {
  return {
    name: row.name,
    description: row.description,
    icon: row.icon,
    charge_type: row.charge_type,
    billing_strategy: row.billing_strategy,
    product: productOf(world, row.billing_product_id, nativeProductId(row.environment_id, row.plan_id, null)),
    is_trialable: row.is_trialable,
    trial_days: row.trial_days,
    currency: row.currency as file.CatalogPlanVersion['currency'],
    prices: row.prices.map(priceOf),
    entitlements: (world.entitlements.get(row.id) ?? []).map(one => entitlementOf(world, one)),
    credit_grants: (world.grants.get(row.id) ?? []).map(one => grantOf(world, one)),
  }
}

/** A product that is not the object's own. */
function productOf(world: Definitions, id: string | null, own: string | null): file.CatalogProduct | null {
  const product = id === null || id === own ? undefined : world.products.get(id)
  return product ? { provider: product.provider_type, external_id: product.external_id } : null
}

function entitlementOf(world: Definitions, row: EntitlementRow): file.CatalogEntitlement {
  const link = row.billing_provider === null ? {} : linkOf(row.billing_provider, row.external_resource_id)
  return {
    feature: world.features.refOf(row.feature_id),
    value_type: row.value_type as file.CatalogEntitlement['value_type'],
    value_bool: row.value_bool,
    value_numeric: storedOrNull(quantityOrNull(row.value_numeric)),
    value_trait: traitOf(world, row.value_trait_id),
    value_credit: world.credits.refOrNull(row.value_credit_id),
    credit_consumption_rate: row.consumption_rate,
    quantity_rates: row.quantity_rates,
    metric_period: row.metric_period,
    metric_period_month_reset: row.metric_period_month_reset,
    price_behavior: row.price_behavior,
    soft_limit: storedOrNull(quantityOrNull(row.soft_limit)),
    usage_quantity: storedOrNull(quantityOrNull(row.usage_quantity)),
    billing_threshold: storedOrNull(quantityOrNull(row.billing_threshold)),
    overage_billing_cadence: row.overage_billing_cadence,
    product: productOf(world, row.billing_product_id, null),
    overage_product: productOf(world, row.overage_billing_product_id, null),
    prices: row.prices.map(priceOf),
    warning_tiers: row.warning_tiers.map(({ key, value }) => ({ key, value })),
    ...link,
  }
}

function grantOf(world: Definitions, row: PlanCreditGrantRow): file.CatalogPlanGrant {
  const { id: _, origin_id, environment_id, plan_id, plan_version_id, created_at, updated_at, ...terms } = row
  const { credit_id, license_id, auto_topup_amount_type, ...rest } = terms
  const license = world.featureRows.find(one => one.license_id === license_id && license_id !== null)
  return {
    ...rest,
    credit: world.credits.refOf(credit_id),
    license: license ? world.features.refOf(license.id) : license_id,
    credit_amount: Number(row.credit_amount),
    company_credit_amount: Number(row.company_credit_amount),
    expiry_unit_count: numberOrNull(row.expiry_unit_count),
    postpaid_rate_per_unit: storedOrNull(quantityOrNull(row.postpaid_rate_per_unit)),
    auto_topup_amount: numberOrNull(row.auto_topup_amount),
    auto_topup_threshold_credits: numberOrNull(row.auto_topup_threshold_credits),
    auto_topup_expiry_unit_count: numberOrNull(row.auto_topup_expiry_unit_count),
    unit_price: storedOrNull(quantityOrNull(row.unit_price)),
    price_tiers: row.price_tiers.map(tier => ({ ...tier })),
  }
}

function groupOf(world: Definitions, row: PlanGroupRow): file.CatalogPlanGroup {
  const { ordered_plans, ordered_add_ons, ordered_bundle_list, ...settings } = row.settings
  const { add_on_compatibilities, custom_checkout_fields, ...plain } = settings
  const features = new Map<string, string>()
  for (const rows of world.entitlements.values())
    for (const one of rows) features.set(one.id, world.features.refOf(one.feature_id))
  const ordered = (all: typeof ordered_plans) =>
    all.map(one => ({
      plan: world.plans.refOf(one.plan_id),
      entitlements: one.entitlements?.flatMap(each => {
        const feature = features.get(each.entitlement_id)
        return feature === undefined ? [] : [{ feature, visible: each.visible }]
      }),
    }))
  return {
    ...plain,
    initial_plan: world.plans.refOrNull(row.initial_plan_id),
    initial_plan_price: priceRef(world, row.initial_plan_id, row.initial_plan_price_id),
    fallback_plan: world.plans.refOrNull(row.fallback_plan_id),
    trial_expiry_plan: world.plans.refOrNull(row.trial_expiry_plan_id),
    trial_expiry_plan_price: priceRef(world, row.trial_expiry_plan_id, row.trial_expiry_plan_price_id),
    custom_plan: world.plans.refOrNull(row.custom_plan_id),
    plans: ordered(ordered_plans),
    add_ons: ordered(ordered_add_ons),
    bundles: ordered_bundle_list.map(one => world.bundles.refOf(one.bundleId)),
    add_on_compatibilities: (add_on_compatibilities ?? []).map(one => ({
      plan: world.plans.refOf(one.source_plan_id),
      compatible_plans: one.compatible_plan_ids.map(id => world.plans.refOf(id)),
    })),
    custom_checkout_fields: custom_checkout_fields.map(one => ({
      name: one.name,
      psp_metadata_key: one.psp_metadata_key,
      required: one.required,
      trait: traitOf(world, one.definition_id) ?? traitId(world.environmentId, 'company', one.name),
      helper_text: one.helper_text,
    })),
  }
}

function priceRef(
  world: Definitions,
  planId: string | null,
  priceId: string | null,
): file.CatalogPriceRef | null {
  if (planId === null || priceId === null) return null
  const plan = world.planRows.find(one => one.id === planId)
  const price = plan?.versions.flatMap(version => version.prices).find(one => one.id === priceId)
  return price
    ? { currency: price.currency as file.CatalogPriceRef['currency'], cadence: price.cadence }
    : null
}

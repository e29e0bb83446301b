// Builds the wire form of a company from its actor's description and the stored data beside it.
import type {
  CompanyDetail,
  CompanyEventPeriodMetrics,
  CompanyPlan,
  CompanyPlanCreditGrant,
  ComparedTrait,
  Condition,
  FeatureEntitlement,
  Rule,
} from '../../../schemas/companies.js'
import type { TraitRegistry } from '../../catalog/traits.js'
import { overrideEntitlement } from '../../core/catalog.js'
import { generatedRules } from '../../core/entitlements/entitlement.js'
import type { PlanHolding } from '../../core/model/company-state.js'
import type {
  CatalogData,
  ConditionDef,
  FeatureDef,
  PlanCreditGrantDef,
  PlanDef,
  PlanVersionDef,
  RuleDef,
} from '../../core/model/definitions.js'
import type { CompanyHead } from '../../core/model/descriptions.js'
import { comparableType } from '../../core/values/trait.js'
import { asWritten, jsonText } from '../../json.js'
import { long } from '../../kit/long.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import type { CompanyOutline } from '../../wire/company-outline.js'
import { type CompanyBilling, noBilling } from '../billing/view.js'
import { companyBrief, type Definitions, keyViews, traitDetails, traitMap } from '../entities/view.js'
import { planPreview } from '../flags/feature-view.js'
import type { HeldCredits } from './held-credits.js'

/** Billing data of the plans that companies hold. */
export interface HeldBilling {
  /** By price id. */
  readonly prices: ReadonlyMap<string, { readonly price: number; readonly period: string }>
  /** By product id. */
  readonly externalProductIds: ReadonlyMap<string, string>
  /** Nothing but the catalog was asked for prices and products. */
  readonly ofCatalog: boolean
  readonly held: HeldCredits
}

/** Data that the views of companies need beside the descriptions. */
export interface Surroundings {
  readonly catalog: CatalogData
  readonly registry: TraitRegistry
  readonly definitions: Definitions
  readonly billing: HeldBilling
  /** By company id. */
  readonly companyBilling?: ReadonlyMap<string, CompanyBilling>
  readonly nowMs: number
}

/**
 * A company in full.
 *
 * source  interface document, `CompanyDetail`.
 */
export function companyDetail(
  { state, plan, addOns, metrics, entitlements, balances }: CompanyOutline,
  userCount: number,
  surroundings: Surroundings,
): CompanyDetail {
  const { catalog, registry, definitions, billing } = surroundings
  const held = (holding: PlanHolding) => companyPlan(holding, state, catalog, billing)
  const holdings = plan === null ? addOns : [plan, ...addOns]
  return {
    ...companyBrief(state),
    keys: keyViews('company', state, definitions),
    entity_traits: traitDetails('company', state, definitions, registry),
    traits: traitMap('company', state, registry),
    user_count: userCount,
    plans: holdings.flatMap(holding => {
      const known = planOf(catalog, holding.planId)
      return known ? [planPreview(known)] : []
    }),
    ...(plan && { plan: held(plan) }),
    add_ons: addOns.map(held),
    ...pendingMigration(state, catalog),
    entitlements: asWritten<FeatureEntitlement[]>(entitlements),
    metrics: asWritten<CompanyEventPeriodMetrics[]>(metrics),
    rules: overrideRules(state, surroundings),
    billing_credit_balances: asWritten<Record<string, number>>(balances),
    ...(surroundings.companyBilling?.get(state.id) ?? noBilling),
  }
}

/** The pending migration of the base plan, else of an add-on. source: PB-21, EN-96 */
function pendingMigration(
  { plan, schedule }: CompanyHead,
  catalog: CatalogData,
): Pick<CompanyDetail, 'pending_migration'> {
  const migrations = schedule?.migrations ?? []
  const pending = migrations.find(one => one.planId === plan?.planId) ?? migrations[0]
  if (!pending) return {}
  const to = planOf(catalog, pending.toPlanId ?? pending.planId)
  const effectiveAt = isoTimeOrNull(pending.effectiveAtMs)
  return {
    pending_migration: {
      migration_id: pending.migrationId,
      to_plan_id: pending.toPlanId ?? pending.planId,
      to_plan_name: to?.name ?? pending.planId,
      to_plan_version_id: pending.versionId,
      to_plan_version_number: to?.versions.find(one => one.id === pending.versionId)?.version ?? null,
      strategy: pending.strategy ?? 'end_of_billing_period',
      effective_at: effectiveAt,
      scheduled_for: effectiveAt,
      proration_behavior: pending.strategy === 'scheduled' ? (pending.proration ?? null) : 'none', // PB-22
    },
  }
}

function planOf(catalog: CatalogData, planId: string): PlanDef | undefined {
  return catalog.plans.find(plan => plan.id === planId)
}

/** A plan that is no longer in the catalog shows its id as its name. */
function companyPlan(
  holding: PlanHolding,
  state: CompanyHead,
  catalog: CatalogData,
  billing: HeldBilling,
): CompanyPlan {
  const plan = planOf(catalog, holding.planId)
  const version = plan?.versions.find(one => one.id === holding.versionId)
  const productId = version?.billingProductId ?? null
  const price = billing.prices.get(holding.priceId ?? '') ?? null
  return {
    id: holding.planId,
    name: plan?.name ?? holding.planId,
    description: plan?.description ?? null,
    image_url: null,
    plan_version_id: holding.versionId,
    plan_period: price?.period ?? null,
    plan_price: price?.price ?? null,
    // the fallback plan of a company without a plan has no time of assignment (EN-82)
    added_on: holding.addedAtMs === 0 ? null : isoTime(holding.addedAtMs),
    billing_product_id: productId,
    billing_product_external_id: billing.externalProductIds.get(productId ?? '') ?? null,
    included_credit_grants:
      plan && version ? grantViews({ holding, plan, version }, state, catalog, billing.held) : [],
  }
}

/** A plan that a company holds, with its definitions. */
interface HeldPlan {
  readonly holding: PlanHolding
  readonly plan: PlanDef
  readonly version: PlanVersionDef
}

/** By catalog and plan version: the grants as every company shows them that has nothing of its own in them. */
const commonGrants = new WeakMap<CatalogData, Map<string, CompanyPlanCreditGrant[]>>()

function grantViews(
  held: HeldPlan,
  state: CompanyHead,
  catalog: CatalogData,
  credits: HeldCredits,
): CompanyPlanCreditGrant[] {
  const { id, creditGrants } = held.version
  const views = () => creditGrants.map(grant => creditGrantView(grant, held, state, catalog, credits))
  const isCommon =
    credits.ofCatalog &&
    state.topups.length === 0 &&
    state.overdraftLimit === undefined &&
    creditGrants.every(
      ({ creditId, createdAtMs, updatedAtMs }) =>
        createdAtMs != null && updatedAtMs != null && credits.credits.has(creditId),
    )
  if (!isCommon) return views()
  const common = commonGrants.get(catalog) ?? new Map<string, CompanyPlanCreditGrant[]>()
  commonGrants.set(catalog, common)
  const written = common.get(id) ?? asWritten<CompanyPlanCreditGrant[]>(jsonText(views()))
  common.set(id, written)
  return written
}

function creditGrantView(
  grant: PlanCreditGrantDef,
  { holding, plan, version }: HeldPlan,
  state: CompanyHead,
  catalog: CatalogData,
  held: HeldCredits,
): CompanyPlanCreditGrant {
  const shown = { credit: held.credits.get(grant.creditId), price: held.prices.get(grant.id) }
  const credit = catalog.credits.find(one => one.id === grant.creditId)
  const chosen = state.topups.find(([creditId]) => creditId === grant.creditId)?.[1] ?? null
  // a postpaid credit has the overdraft limit of the company's billing profile
  const overdraftLimit = (grant.postpaidEnabled ? state.overdraftLimit : null) ?? grant.overdraftLimit
  return {
    id: grant.id,
    plan_id: plan.id,
    plan_version_id: version.id,
    credit_id: grant.creditId,
    credit_name: credit?.name ?? '',
    credit_description: credit?.description ?? '',
    credit_icon: credit?.icon ?? null,
    plural_name: credit?.pluralName ?? null,
    singular_name: credit?.singularName ?? null,
    plan: planPreview(plan),
    ...(shown.credit && { credit: shown.credit }),
    ...(shown.price && { price: shown.price }),
    credit_amount: grant.creditAmount,
    company_credit_amount: grant.companyCreditAmount,
    billing_mode: grant.billingMode,
    scaling: grant.scaling,
    license_id: grant.licenseId,
    reset_type: grant.resetType,
    reset_cadence: grant.resetCadence,
    reset_start: grant.resetStart,
    rollover_percentage: grant.rolloverPercentage,
    expiry_type: grant.expiryType,
    expiry_unit: grant.expiryUnit,
    expiry_unit_count: grant.expiryUnitCount,
    billing_product_price_id: grant.priceId ?? null,
    billing_credit_postpaid_enabled: grant.postpaidEnabled,
    billing_credit_postpaid_rate_per_unit: long(grant.postpaidRatePerUnit ?? null),
    billing_credit_postpaid_rate_per_unit_decimal: grant.postpaidRatePerUnitDecimal ?? null,
    billing_credit_overdraft_limit: overdraftLimit === null ? null : Number(overdraftLimit),
    billing_credit_arrears_anchor: grant.arrearsAnchor,
    billing_credit_arrears_cadence: grant.arrearsCadence,
    billing_credit_can_buy_bundles: grant.canBuyBundles ?? true,
    billing_credit_auto_topup_enabled: grant.autoTopupAvailability !== 'off',
    billing_credit_auto_topup_self_service: grant.autoTopupAvailability === 'user_controlled',
    billing_credit_auto_topup_availability: grant.autoTopupAvailability,
    billing_credit_auto_topup_amount: grant.autoTopupAmount,
    billing_credit_auto_topup_amount_type: grant.autoTopupAmount === null ? null : 'credit',
    billing_credit_auto_topup_threshold_credits: grant.autoTopupThresholdCredits,
    billing_credit_auto_topup_threshold_percent: grant.autoTopupThresholdPercent,
    billing_credit_auto_topup_expiry_type: grant.autoTopupExpiryType,
    billing_credit_auto_topup_expiry_unit: grant.autoTopupExpiryUnit,
    billing_credit_auto_topup_expiry_unit_count: grant.autoTopupExpiryUnitCount,
    company_auto_topup_enabled: chosen?.enabled ?? null,
    company_auto_topup_amount: chosen?.amount ?? null,
    company_auto_topup_threshold_credits: chosen?.thresholdCredits ?? null,
    // without a date in the catalog: the date the company got the plan
    created_at: isoTime(grant.createdAtMs ?? holding.addedAtMs),
    updated_at: isoTime(grant.updatedAtMs ?? holding.addedAtMs),
  }
}

/** Rules that the active overrides add to flags (EN-5, EN-60, EN-61). */
function overrideRules(state: CompanyHead, { catalog, registry, nowMs }: Surroundings): Rule[] {
  return state.overrides.flatMap(override => {
    const { entitlement, expiresAtMs } = override
    const feature: FeatureDef | undefined = catalog.features.find(one => one.id === entitlement.featureId)
    if (!feature || (expiresAtMs !== null && expiresAtMs <= nowMs)) return []
    const flagId = catalog.flags.find(flag => flag.featureId === feature.id)?.id ?? null
    const rules = generatedRules(feature, overrideEntitlement(entitlement), {
      type: 'company',
      companyId: state.id,
      override,
    })
    return rules.map(rule => ruleView({ ...rule, flagId }, catalog, registry))
  })
}

function ruleView(rule: RuleDef, catalog: CatalogData, registry: TraitRegistry): Rule {
  const { accountId, environmentId } = catalog
  const condition = (def: ConditionDef) => conditionView(def, accountId, environmentId, registry)
  return {
    id: rule.id,
    account_id: accountId,
    environment_id: environmentId,
    flag_id: rule.flagId,
    name: rule.name,
    rule_type: rule.ruleType,
    priority: long(rule.priority),
    value: rule.value,
    conditions: rule.conditions.map(condition),
    condition_groups: rule.conditionGroups.map(group => ({ conditions: group.map(condition) })),
  }
}

function conditionView(
  def: ConditionDef,
  accountId: string,
  environmentId: string,
  registry: TraitRegistry,
): Condition {
  const trait = comparedTrait(def.traitId, environmentId, registry)
  const comparison = comparedTrait(def.comparisonTraitId, environmentId, registry)
  return {
    id: def.id,
    account_id: accountId,
    environment_id: environmentId,
    condition_type: def.conditionType,
    operator: def.operator,
    resource_ids: def.resourceIds,
    ...(trait && { trait_definition: trait }),
    trait_value: def.traitValue,
    ...(def.comparableType && { comparable_type: def.comparableType }),
    ...(comparison && { comparison_trait_definition: comparison }),
    event_subtype: def.eventSubtype,
    metric_period: def.metricPeriod,
    metric_period_month_reset: def.monthReset,
    metric_value: long(def.metricValue),
    credit_id: def.creditId,
    consumption_rate: def.consumptionRate,
    ...(def.quantityRates && { quantity_rates: def.quantityRates }),
  }
}

function comparedTrait(
  traitId: string | null,
  environmentId: string,
  registry: TraitRegistry,
): ComparedTrait | null {
  const trait = traitId === null ? null : registry.byId(environmentId, traitId)
  return (
    trait && { id: trait.id, entity_type: trait.entityType, comparable_type: comparableType(trait.traitType) }
  )
}

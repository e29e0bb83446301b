// The catalogue of an environment as one document: everything that a product team defines, by keys and names instead
// of ids. GET /catalog, POST /catalog/diff and POST /catalog/apply speak it (docs/rules/catalog.md).
import typia, { type tags } from 'typia'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBundleStatus,
  BillingCreditBurnStrategy,
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingCreditRolloverPolicy,
  BillingPlanCreditGrantBillingMode,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  BillingPlanCreditGrantResetType,
  BillingPriceUsageType,
  BillingProviderType,
  BillingStrategy,
  BillingTiersMode,
  ChargeType,
  ComparableOperator,
  ComparableType,
  ConditionType,
  CurrencyCode,
  EntitlementPriceBehavior,
  EntityType,
  FeatureEventSource,
  FeatureLifecyclePhase,
  FeatureType,
  IconColor,
  MetricPeriod,
  MonthReset,
  PlanCreditGrantScaling,
  PlanType,
  ProrationBehavior,
  TraitType,
} from './enums.js'
import type { PublishableLimitsWrite } from './environments.js'
import type { Keyed } from './keyed.js'
import type { DecimalText } from './long.js'
import type { ModelPriceView } from './model-prices.js'
import type { CustomPlanConfig } from './plan-groups.js'

/** Absent and null members have their default. */
type May<T> = T | null | undefined

/** A whole number of 64 bits: decimal text beyond ±(2^53 − 1), so that every reader keeps its digits. */
export type CatalogQuantity =
  | (number & tags.Type<'int64'> & tags.Minimum<-9007199254740991> & tags.Maximum<9007199254740991>)
  | (string & tags.Pattern<'^-?[0-9]{16,19}$'>)

/** The name of another object of the document. The second of two with one name is `Name#2`, the third `Name#3`. */
type Ref = string & tags.MinLength<1> & tags.MaxLength<600>
/** A trait: `company:` or `user:`, and its name. */
type TraitRef = string & tags.Pattern<'^(company|user):.'> & tags.MaxLength<600>
type Text = string & tags.MaxLength<1024>
type Label = string & tags.MaxLength<512>
type Rate = number & tags.Minimum<0> & tags.Maximum<1_000_000_000>
type Days = number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<3_650>
type Count = number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999>
type Credits = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<9_999_999_999>

export interface CatalogTrait {
  entity_type: EntityType
  /** Parts of a nested name are joined by a dot. */
  name: string & tags.MinLength<1> & tags.MaxLength<255>
  /** The parts of a nested name; default: the name alone. */
  hierarchy?: May<
    (string & tags.MinLength<1> & tags.MaxLength<255>)[] & tags.MinItems<1> & tags.MaxItems<100>
  >
  trait_type: TraitType
  display_name?: May<string & tags.MaxLength<255>>
  publishable_writes?: May<boolean>
}

export interface CatalogFeature {
  name: string & tags.MinLength<1> & tags.MaxLength<512>
  description?: May<Text>
  feature_type: FeatureType
  /** Default: track. */
  event_source?: May<FeatureEventSource>
  event_subtype?: May<string & tags.MaxLength<255>>
  icon?: May<string & tags.MaxLength<255>>
  lifecycle_phase?: May<FeatureLifecyclePhase>
  plural_name?: May<string & tags.MaxLength<255>>
  singular_name?: May<string & tags.MaxLength<255>>
  /** The company trait that carries the usage. */
  trait?: May<TraitRef>
  /** The company trait that carries the quantity bought in advance. */
  usage_limit_trait?: May<TraitRef>
  /** The provider's resource that the feature belongs to. */
  provider?: May<BillingProviderType>
  external_resource_id?: May<string & tags.MinLength<1> & tags.MaxLength<255>>
}

/** Members of other condition types are absent. */
export interface CatalogCondition {
  condition_type: ConditionType
  operator: ComparableOperator
  /**
   * Plans by name; versions as `published Name` or `draft Name`; companies and users as `key=value`, or by id without keys;
   * products as `provider id`.
   */
  resources?: May<Ref[] & tags.MaxItems<1000>>
  trait?: May<TraitRef>
  trait_value?: May<Text>
  /** Default: as the type of the trait says. */
  comparable_type?: May<ComparableType>
  comparison_trait?: May<TraitRef>
  event_subtype?: May<string & tags.MaxLength<255>>
  /** Default: all_time. */
  metric_period?: May<MetricPeriod>
  metric_period_month_reset?: May<MonthReset>
  metric_value?: May<CatalogQuantity>
  credit?: May<Ref>
  credit_cost?: May<number & tags.Minimum<0>>
}

export interface CatalogRule {
  name: string & tags.MaxLength<512>
  /** Default: standard. */
  rule_type?: May<'default' | 'global_override' | 'standard'>
  priority: CatalogQuantity
  value: boolean
  conditions?: May<CatalogCondition[] & tags.MaxItems<100>>
  condition_groups?: May<(CatalogCondition[] & tags.MaxItems<100>)[] & tags.MaxItems<100>>
}

export interface CatalogFlag {
  key: string & tags.MinLength<1> & tags.MaxLength<512>
  name: string & tags.MinLength<1> & tags.MaxLength<512>
  description?: May<Text>
  /** Default: false. */
  default_value?: May<boolean>
  feature?: May<Ref>
  /** In order of evaluation. */
  rules?: May<CatalogRule[] & tags.MaxItems<100>>
}

export interface CatalogTier {
  /** Inclusive; absent on the last one. */
  up_to?: May<CatalogQuantity>
  flat_amount?: May<CatalogQuantity>
  per_unit_price?: May<CatalogQuantity>
  per_unit_price_decimal?: May<DecimalText>
}

/** A price; amounts in the smallest unit of its currency. */
export interface CatalogPrice {
  currency: CurrencyCode
  /** Default: one_time. */
  cadence?: May<'monthly' | 'quarterly' | 'yearly' | 'one_time'>
  price?: May<CatalogQuantity>
  /** The exact amount; it takes precedence. */
  price_decimal?: May<DecimalText>
  tiers?: May<CatalogTier[] & tags.MaxItems<100>>
  /** Default: graduated. */
  tiers_mode?: May<BillingTiersMode>
  usage_type?: May<BillingPriceUsageType>
  /** A price of a payment provider, by its id there; its terms are the provider's. */
  provider?: May<BillingProviderType>
  external_id?: May<string & tags.MaxLength<255>>
}

/** A product that was stored before, by its id with its provider. */
export interface CatalogProduct {
  provider: BillingProviderType
  external_id: string & tags.MaxLength<255>
}

export interface CatalogCredit {
  name: string & tags.MinLength<1> & tags.MaxLength<255>
  description?: May<Text>
  currency: CurrencyCode
  /** Default: plan_first_then_credit_bundles_first_in_first_out. */
  burn_strategy?: May<BillingCreditBurnStrategy>
  /** Default: days. */
  default_expiry_unit?: May<BillingCreditExpiryUnit>
  default_expiry_unit_count?: May<Count>
  /** Default: none. */
  default_rollover_policy?: May<BillingCreditRolloverPolicy>
  icon?: May<string & tags.MaxLength<64>>
  plural_name?: May<Label>
  singular_name?: May<Label>
  /** The prices of one credit. */
  prices?: May<CatalogPrice[] & tags.MaxItems<50>>
}

export interface CatalogBundle {
  name: string & tags.MinLength<1> & tags.MaxLength<255>
  credit: Ref
  currency: CurrencyCode
  /** Default: active. */
  status?: May<BillingCreditBundleStatus>
  /** Credits of one bundle; absent: the buyer says how many. */
  quantity?: May<Count>
  /** Default: no_expiry. */
  expiry_type?: May<BillingCreditExpiryType>
  /** Default: days. */
  expiry_unit?: May<BillingCreditExpiryUnit>
  expiry_unit_count?: May<Count>
  /** Default: every plan. */
  compatible_plans?: May<Ref[] & tags.MaxItems<100>>
  /** The prices of one credit. */
  prices?: May<CatalogPrice[] & tags.MaxItems<50>>
}

export interface CatalogWarningTier {
  key: string & tags.MinLength<1> & tags.MaxLength<255>
  value: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999_999>
}

export interface CatalogEntitlement {
  feature: Ref
  value_type: 'boolean' | 'credit' | 'numeric' | 'trait' | 'unlimited'
  value_bool?: May<boolean>
  value_numeric?: May<CatalogQuantity>
  value_trait?: May<TraitRef>
  value_credit?: May<Ref>
  /** Default: 1, or 0 beside quantity rates. */
  credit_consumption_rate?: May<Rate>
  quantity_rates?: May<{ [quantity: string]: Rate }>
  metric_period?: May<MetricPeriod>
  /** Default of a month: first_of_month. */
  metric_period_month_reset?: May<MonthReset>
  price_behavior?: May<EntitlementPriceBehavior>
  soft_limit?: May<CatalogQuantity>
  usage_quantity?: May<CatalogQuantity>
  billing_threshold?: May<CatalogQuantity>
  overage_billing_cadence?: May<BillingArrearsCadence>
  product?: May<CatalogProduct>
  overage_product?: May<CatalogProduct>
  prices?: May<CatalogPrice[] & tags.MaxItems<150>>
  warning_tiers?: May<CatalogWarningTier[] & tags.MaxItems<10>>
  /** The provider's resource that manages the entitlement. */
  provider?: May<BillingProviderType>
  external_resource_id?: May<string & tags.MinLength<1> & tags.MaxLength<255>>
}

/** The grant of one credit by a plan. Members as in POST /billing/credits/plan-grants. */
export interface CatalogPlanGrant {
  credit: Ref
  credit_amount: Credits
  company_credit_amount?: May<Credits>
  /** Default: granted. */
  billing_mode?: May<BillingPlanCreditGrantBillingMode>
  /** Default: fixed. */
  scaling?: May<PlanCreditGrantScaling>
  /** The feature whose licences it scales with. */
  license?: May<Ref>
  /** Default: plan_period. */
  reset_type?: May<BillingPlanCreditGrantResetType>
  reset_cadence?: May<BillingPlanCreditGrantResetCadence>
  reset_start?: May<BillingPlanCreditGrantResetStart>
  rollover_percentage?: May<number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<100>>
  renewal_enabled?: May<boolean>
  renewal_period?: May<BillingPlanCreditGrantResetStart>
  expiry_type?: May<BillingCreditExpiryType>
  expiry_unit?: May<BillingCreditExpiryUnit>
  expiry_unit_count?: May<Count>
  postpaid_enabled?: May<boolean>
  postpaid_rate_per_unit?: May<CatalogQuantity>
  postpaid_rate_per_unit_decimal?: May<DecimalText>
  /** Credits below zero, as decimal text; absent: unlimited. */
  overdraft_limit?: May<DecimalText>
  arrears_cadence?: May<BillingArrearsCadence>
  arrears_anchor?: May<BillingArrearsAnchor>
  /** Default: off. */
  auto_topup_availability?: May<BillingCreditAutoTopupAvailability>
  auto_topup_amount?: May<Count>
  auto_topup_threshold_credits?: May<Credits>
  auto_topup_threshold_percent?: May<number & tags.Type<'int32'> & tags.Minimum<1> & tags.Maximum<100>>
  auto_topup_expiry_type?: May<BillingCreditExpiryType>
  auto_topup_expiry_unit?: May<BillingCreditExpiryUnit>
  auto_topup_expiry_unit_count?: May<Count>
  /** Default: true. */
  can_buy_bundles?: May<boolean>
  unit_price?: May<CatalogQuantity>
  unit_price_decimal?: May<DecimalText>
  tier_mode?: May<BillingTiersMode>
  price_tiers?: May<CatalogTier[] & tags.MaxItems<100>>
}

/** A version of a plan: everything it grants and costs. The version does not have what is absent. */
export interface CatalogPlanVersion {
  /** Default: the name of the plan. */
  name?: May<string & tags.MinLength<1> & tags.MaxLength<256>>
  description?: May<Text>
  /** Default: gray. */
  icon?: May<IconColor>
  /** Default: none. */
  charge_type?: May<ChargeType>
  /** Default: the service's own where the plan charges, else none. */
  billing_strategy?: May<BillingStrategy>
  product?: May<CatalogProduct>
  is_trialable?: May<boolean>
  trial_days?: May<Days>
  /** Default: usd. */
  currency?: May<CurrencyCode>
  prices?: May<CatalogPrice[] & tags.MaxItems<150>>
  entitlements?: May<CatalogEntitlement[] & tags.MaxItems<1000>>
  credit_grants?: May<CatalogPlanGrant[] & tags.MaxItems<100>>
}

export interface CatalogPlan {
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  plan_type: PlanType
  /** The provider's resource that the plan belongs to. */
  provider?: May<BillingProviderType>
  external_resource_id?: May<string & tags.MinLength<1> & tags.MaxLength<255>>
  external_resource_version?: May<string & tags.MaxLength<64>>
  published?: May<CatalogPlanVersion>
  draft?: May<CatalogPlanVersion>
}

/** A price of a plan, in a plan group. */
export interface CatalogPriceRef {
  currency: CurrencyCode
  cadence: 'monthly' | 'quarterly' | 'yearly' | 'one_time'
}

export interface CatalogOrderedPlan {
  plan: Ref
  /** The order of its entitlements, by feature. */
  entitlements?: May<{ feature: Ref; visible?: May<boolean> }[] & tags.MaxItems<1_000>>
}

export interface CatalogCheckoutField {
  name: string & tags.MinLength<1> & tags.MaxLength<255>
  psp_metadata_key: string & tags.MaxLength<255>
  required: boolean
  trait: TraitRef
  helper_text?: May<Text>
}

/** How the environment offers its plans. Settings as in POST /plan-groups; absent: false, none. */
export interface CatalogPlanGroup {
  initial_plan?: May<Ref>
  initial_plan_price?: May<CatalogPriceRef>
  fallback_plan?: May<Ref>
  trial_expiry_plan?: May<Ref>
  trial_expiry_plan_price?: May<CatalogPriceRef>
  custom_plan?: May<Ref>
  plans?: May<CatalogOrderedPlan[] & tags.MaxItems<100>>
  add_ons?: May<CatalogOrderedPlan[] & tags.MaxItems<100>>
  bundles?: May<Ref[] & tags.MaxItems<100>>
  add_on_compatibilities?: May<
    { plan: Ref; compatible_plans: Ref[] & tags.MaxItems<1_000> }[] & tags.MaxItems<100>
  >
  custom_checkout_fields?: May<CatalogCheckoutField[] & tags.MaxItems<100>>
  /** Default: create_prorations. */
  proration_behavior?: May<ProrationBehavior>
  checkout_collect_address?: May<boolean>
  checkout_collect_email?: May<boolean>
  checkout_collect_phone?: May<boolean>
  checkout_collect_tax_id?: May<boolean>
  enable_tax_collection?: May<boolean>
  opt_in_enabled?: May<boolean>
  prevent_downgrades_when_over_limit?: May<boolean>
  prevent_self_service_downgrade?: May<boolean>
  show_as_monthly_prices?: May<boolean>
  show_credits?: May<boolean>
  show_feature_description?: May<boolean>
  show_hard_limit?: May<boolean>
  show_period_toggle?: May<boolean>
  show_zero_price_as_free?: May<boolean>
  sync_customer_billing_details?: May<boolean>
  /** Default: quantity. */
  checkout_bundle_purchase_behavior?: May<'individual' | 'quantity'>
  custom_plan_config?: May<CustomPlanConfig>
  scheduled_downgrade_behavior?: May<'end_of_billing_period' | 'none'>
  scheduled_downgrade_prevent_when_over_limit?: May<boolean>
  trial_eligibility_per_plan?: May<boolean>
  trial_payment_method_required?: May<boolean>
  trial_days?: May<Days>
  opt_in_text?: May<Text>
  opt_in_title?: May<string & tags.MaxLength<80>>
  prevent_self_service_downgrade_button_text?: May<string & tags.MaxLength<255>>
  prevent_self_service_downgrade_url?: May<Label>
}

/**
 * A catalogue. A section that is absent is left alone; a list that is there is the whole list, and what it lacks is
 * removed with `prune` alone.
 */
export interface Catalog {
  /** The version of this form. */
  catalog: 1
  traits?: May<CatalogTrait[] & tags.MaxItems<20_000>>
  features?: May<CatalogFeature[] & tags.MaxItems<10_000>>
  flags?: May<CatalogFlag[] & tags.MaxItems<10_000>>
  credits?: May<CatalogCredit[] & tags.MaxItems<10_000>>
  plans?: May<CatalogPlan[] & tags.MaxItems<10_000>>
  bundles?: May<CatalogBundle[] & tags.MaxItems<10_000>>
  plan_group?: May<CatalogPlanGroup>
  /** Prices of inference models that the account added. */
  model_prices?: May<ModelPriceView[] & tags.MaxItems<10_000>>
  /** Limits of publishable keys; absent members have the defaults of this type of environment. */
  publishable_limits?: May<PublishableLimitsWrite>
}

/** Companies on older versions stay, move at once, or move with their billing period. Absent: the draft waits. */
export type CatalogPublish = 'end_of_billing_period' | 'immediate' | 'leave'

/** Body of POST /catalog/diff and POST /catalog/apply. */
export interface CatalogWrite extends Keyed {
  catalog: Catalog
  /** Remove what the lists of the document lack. */
  prune?: May<boolean>
  /** How changes of published plans are published. Absent: they wait in the draft. */
  publish?: May<CatalogPublish>
}

export const parseCatalogWrite = typia.json.createValidateParse<CatalogWrite>()

/** The JSON schema of a catalogue document, for editors. */
export const catalogSchema = typia.json.schemas<[Catalog], '3.1'>()

export interface CatalogMemberChange {
  /** Where, e.g. `published.entitlements[API calls].value_numeric`. */
  path: string
  /** null: it was not there. */
  from: unknown
  /** null: it is removed. */
  to: unknown
}

/** One object that differs. */
export interface CatalogChange {
  section: string
  name: string
  /** `keep`: the document does not have it, and without `prune` it stays. */
  action: 'archive' | 'change' | 'keep' | 'make'
  /** The members that differ; empty for a new object. */
  changes: CatalogMemberChange[]
  /** The plan is published with it; else the change waits in its draft. */
  publishes?: boolean
  /** Companies that feel it; absent: none does before a publish. */
  companies?: CatalogCompanies
}

export interface CatalogCompanies {
  /** How many. */
  count: number
  /** The first hundred, by name. */
  companies: { id: string; name: string }[]
}

export interface CatalogDiff {
  changes: CatalogChange[]
  /** All companies that feel any of it. */
  companies: CatalogCompanies
  /** Why it cannot be applied; empty: it can. */
  problems: string[]
}

export interface CatalogApplied extends CatalogDiff {
  /** Objects made, changed and archived. */
  made: number
  changed: number
  archived: number
}

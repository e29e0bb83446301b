// Companies, memberships, keys and traits.

import typia, { type tags } from 'typia'
import type {
  BillingSubscriptionView,
  CustomPlanBilling,
  PaymentMethod,
  ScheduledDowngrade,
} from './billing.js'
import type { CompanyBillingProfile } from './billing-profile.js'
import type { BillingCreditView } from './credits.js'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingPlanCreditGrantBillingMode,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  BillingPlanCreditGrantResetType,
  ComparableOperator,
  ComparableType,
  ConditionType,
  EntitlementValueType,
  EntityType,
  MetricPeriod,
  MigrationProrationBehavior,
  MonthReset,
  PlanCreditGrantScaling,
  RuleType,
} from './enums.js'
import type { PreviewObject } from './envelope.js'
import type { Keyed } from './keyed.js'
import type { Long } from './long.js'
import type { BillingPriceView } from './prices.js'
import type { EntityTraitDefinition } from './traits.js'

/** Name to value; names also have 1 to 255 characters. */
export type Keys = Record<string, string & tags.MinLength<1> & tags.MaxLength<255>>

/** Body of POST /companies and /companies/create. */
export interface CompanyUpsert {
  /** Optional if `id` is given. */
  keys?: Keys | undefined
  id?: string | null | undefined
  name?: (string & tags.MaxLength<256>) | null | undefined
  /** Nested objects are paths; null removes the value. */
  traits?: Record<string, unknown> | undefined
  remove_keys?: (string[] & tags.MaxItems<100>) | undefined
  last_seen_at?: string | null | undefined
  /** When it was made elsewhere: used only if the call creates it; in the past. */
  created_at?: string | null | undefined
  /** Used only if the call creates the company. */
  base_plan_id?: string | null | undefined
  base_plan_price_id?: string | null | undefined
  prevent_key_remap?: boolean | null | undefined
  update_only?: boolean | null | undefined
}

export const parseCompanyUpsert = typia.json.createValidateParse<CompanyUpsert>()

/** Body of POST /companies/delete and /users/delete. */
export interface KeysBody {
  keys: Keys
}

export const parseKeysBody = typia.json.createValidateParse<KeysBody>()

/** Body of POST /company-traits and /user-traits: exactly one of `set` and `incr`. */
export interface TraitUpsert extends Keyed {
  keys: Keys
  /** The parts of a nested name are joined by ".". */
  trait: string & tags.MinLength<1> & tags.MaxLength<255>
  set?: (string & tags.MaxLength<1024>) | null | undefined
  incr?: Long | null | undefined
  update_only?: boolean | null | undefined
}

export const parseTraitUpsert = typia.json.createValidateParse<TraitUpsert>()

/** Body of POST /company-memberships. */
export interface MembershipCreate {
  company_id: string
  user_id: string
}

export const parseMembershipCreate = typia.json.createValidateParse<MembershipCreate>()

/** A company in short form. */
export interface Company {
  id: string
  environment_id: string
  name: string
  last_seen_at: string | null
  logo_url: string | null
  created_at: string
  updated_at: string
}

export interface CompanyMembershipDetail {
  id: string
  company_id: string
  user_id: string
  company?: Company
  created_at: string
  updated_at: string
}

export interface EntityKeyDefinition {
  id: string
  entity_type: EntityType
  key: string
  created_at: string
  updated_at: string
}

export interface EntityKeyDetail {
  id: string
  definition_id: string
  definition?: EntityKeyDefinition
  entity_id: string
  entity_type: EntityType
  environment_id: string
  key: string
  value: string
  created_at: string
  updated_at: string
}

export interface EntityTraitDetail {
  id: string
  definition_id: string
  definition?: EntityTraitDefinition
  environment_id: string
  value: string
  created_at: string
  updated_at: string
}

export interface EntityTraitValue {
  definition_id: string
  value: string
}

/** Trait name (parts joined by ".") to value; a number or boolean if the trait's definition says so. */
export type TraitMap = Record<string, string | number | boolean>

/** One metric window of one event counter. */
export interface CompanyEventPeriodMetrics {
  account_id: string
  environment_id: string
  company_id: string
  event_subtype: string
  period: MetricPeriod
  month_reset: MonthReset
  value: number
  captured_at_min: string
  captured_at_max: string
  created_at: string
  /** End of the window; null for all_time. */
  valid_until: string | null
}

/** A company's entitlement to a feature. Members without meaning for the value type are absent. */
export interface FeatureEntitlement {
  feature_id: string
  /** Key of the feature's flag. */
  feature_key: string
  value_type: EntitlementValueType
  allocation?: number
  usage?: number
  soft_limit?: number
  event_name?: string
  event_subtype?: string
  metric_period?: MetricPeriod
  month_reset?: MonthReset
  metric_reset_at?: string
  credit_id?: string
  /** Credits per unit. */
  consumption_rate?: number
  quantity_rates?: Readonly<Record<string, number>>
  credit_total?: number
  credit_used?: number
  /** Credits that can be drawn or held now. */
  credit_remaining?: number
  /** Credits in open holds. */
  credit_reserved?: number
  /** Remaining plus reserved. */
  credit_settled?: number
  warning_tiers?: readonly { readonly key: string; readonly value: number }[]
}

/** A plan or add-on of a company. */
export interface CompanyPlan {
  id: string
  name: string
  description: string | null
  image_url: string | null
  plan_version_id: string | null
  plan_period: string | null
  plan_price: number | null
  /** null: the environment's fallback plan, not assigned by anyone. */
  added_on: string | null
  billing_product_id: string | null
  billing_product_external_id: string | null
  included_credit_grants: CompanyPlanCreditGrant[]
}

/** A credit grant that comes with a plan of a company. */
export interface CompanyPlanCreditGrant {
  id: string
  credit?: BillingCreditView
  /** Present for a billed grant. */
  price?: BillingPriceView
  plan_id: string
  plan_version_id: string | null
  credit_id: string
  credit_name: string
  credit_description: string
  credit_icon: string | null
  plural_name: string | null
  singular_name: string | null
  plan?: PreviewObject
  credit_amount: number
  company_credit_amount: number
  billing_mode: BillingPlanCreditGrantBillingMode
  scaling: PlanCreditGrantScaling
  license_id: string | null
  reset_type: BillingPlanCreditGrantResetType
  reset_cadence: BillingPlanCreditGrantResetCadence | null
  reset_start: BillingPlanCreditGrantResetStart | null
  rollover_percentage: number
  expiry_type: BillingCreditExpiryType | null
  expiry_unit: BillingCreditExpiryUnit | null
  expiry_unit_count: number | null
  billing_product_price_id: string | null
  billing_credit_postpaid_enabled: boolean
  billing_credit_postpaid_rate_per_unit: number | null
  billing_credit_postpaid_rate_per_unit_decimal: string | null
  billing_credit_overdraft_limit: number | null
  billing_credit_arrears_anchor: BillingArrearsAnchor | null
  billing_credit_arrears_cadence: BillingArrearsCadence | null
  billing_credit_can_buy_bundles: boolean
  billing_credit_auto_topup_enabled: boolean
  billing_credit_auto_topup_self_service: boolean
  billing_credit_auto_topup_availability: BillingCreditAutoTopupAvailability
  billing_credit_auto_topup_amount: number | null
  billing_credit_auto_topup_amount_type: string | null
  billing_credit_auto_topup_threshold_credits: number | null
  billing_credit_auto_topup_threshold_percent: number | null
  billing_credit_auto_topup_expiry_type: BillingCreditExpiryType | null
  billing_credit_auto_topup_expiry_unit: BillingCreditExpiryUnit | null
  billing_credit_auto_topup_expiry_unit_count: number | null
  /** The company's own setting; null: as in the plan. */
  company_auto_topup_enabled: boolean | null
  company_auto_topup_amount: number | null
  company_auto_topup_threshold_credits: number | null
  created_at: string
  updated_at: string
}

/** A rule for evaluators: ids instead of full objects. */
export interface Rule {
  id: string
  account_id: string
  environment_id: string
  flag_id: string | null
  name: string
  rule_type: RuleType
  priority: number
  value: boolean
  conditions: Condition[]
  condition_groups: { conditions: Condition[] }[]
}

export interface Condition {
  id: string
  account_id: string
  environment_id: string
  condition_type: ConditionType
  operator: ComparableOperator
  resource_ids: readonly string[]
  trait_definition?: ComparedTrait
  trait_value: string
  /** How the condition compares; absent: as the type of the trait says. */
  comparable_type?: ComparableType
  comparison_trait_definition?: ComparedTrait
  event_subtype: string | null
  metric_period: MetricPeriod | null
  metric_period_month_reset: MonthReset | null
  metric_value: number | null
  credit_id: string | null
  consumption_rate: number | null
  quantity_rates?: Readonly<Record<string, number>>
}

/** A trait and the type its values compare as. */
export interface ComparedTrait {
  id: string
  entity_type: EntityType
  comparable_type: ComparableType
}

/** A scheduled move to another version of a plan (PB-21). */
export interface PendingMigration {
  migration_id: string
  to_plan_id: string
  to_plan_name: string
  to_plan_version_id: string
  to_plan_version_number: number | null
  strategy: 'end_of_billing_period' | 'scheduled'
  /** Null if no date is known (EN-96). */
  effective_at: string | null
  /** Deprecated: same as `effective_at`. */
  scheduled_for: string | null
  proration_behavior: MigrationProrationBehavior | null
}

/** A company after a write, as `Prefer: return=minimal` answers it. */
export interface CompanyWritten extends Company {
  /** Values by key name. */
  keys: Record<string, string>
}

/** A company in full. */
export interface CompanyDetail extends Company {
  keys: EntityKeyDetail[]
  entity_traits: EntityTraitDetail[]
  traits: TraitMap
  user_count: number
  /** Base plan and add-ons. */
  plans: PreviewObject[]
  plan?: CompanyPlan
  add_ons: CompanyPlan[]
  pending_migration?: PendingMigration
  entitlements: FeatureEntitlement[]
  metrics: CompanyEventPeriodMetrics[]
  /** Rules of the company's active overrides. */
  rules: Rule[]
  /** Remaining credits, by credit id. */
  billing_credit_balances: Record<string, number>
  billing_email: string | null
  billing_profile?: CompanyBillingProfile
  billing_profiles: CompanyBillingProfile[]
  /** The subscription that sets billing periods (PB-53). */
  billing_subscription?: BillingSubscriptionView
  billing_subscriptions: BillingSubscriptionView[]
  custom_plan_billings: CustomPlanBilling[]
  default_payment_method?: PaymentMethod
  payment_methods: PaymentMethod[]
  scheduled_downgrade?: ScheduledDowngrade
}

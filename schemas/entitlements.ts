// Plan entitlements and company overrides.
import typia, { type tags } from 'typia'
import type { CompanyDetail } from './companies.js'
import type { Credit } from './credits.js'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingProviderType,
  EntitlementPriceBehavior,
  EntitlementValueType,
  MetricPeriod,
  MonthReset,
} from './enums.js'
import type { Feature } from './features.js'
import type { Keyed } from './keyed.js'
import type { Long } from './long.js'
import type { Plan, PlanIssue } from './plans.js'
import type {
  BillingLinkedResource,
  BillingPriceView,
  BillingProduct,
  EntitlementCurrencyPrices,
  EntitlementPriceWrite,
} from './prices.js'
import type { EntityTraitDefinition } from './traits.js'

/** Units of a limit. */
type Units = Long & tags.Minimum<0>
type Rate = number & tags.Minimum<0> & tags.Maximum<1_000_000_000>

/** The value of an entitlement; members of other value types are ignored (EN-18). */
export interface EntitlementValueWrite {
  value_type: EntitlementValueType
  value_bool?: boolean | null | undefined
  value_numeric?: Units | null | undefined
  value_trait_id?: string | null | undefined
  value_credit_id?: string | null | undefined
  /** Credits per unit. */
  credit_consumption_rate?: Rate | null | undefined
  /** Credits per unit of each quantity of an inference event (EN-42, decision 12). */
  quantity_rates?: { [key: string]: Rate } | null | undefined
  metric_period?: MetricPeriod | null | undefined
  metric_period_month_reset?: MonthReset | null | undefined
}

export interface WarningTierWrite {
  key: string & tags.MinLength<1> & tags.MaxLength<255>
  value: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999_999>
}

/**
 * The value in an update: absent members are unchanged, null clears (decision 26). Without `value_type` a value that is
 * given says it (decision 41).
 */
interface EntitlementValueUpdate extends Omit<EntitlementValueWrite, 'value_type'> {
  value_type?: EntitlementValueType | undefined
}

/** Members of a plan entitlement besides its value. */
interface PlanEntitlementTerms extends EntitlementPriceWrite {
  price_behavior?: EntitlementPriceBehavior | null | undefined
  /** For overage: the included amount. */
  soft_limit?: Units | null | undefined
  /** For pay in advance: units committed or pre-filled (EN-35). */
  usage_quantity?: Units | null | undefined
  billing_threshold?: (Long & tags.Minimum<50>) | null | undefined
  overage_billing_cadence?: BillingArrearsCadence | null | undefined
  overage_invoice_anchor?: BillingArrearsAnchor | null | undefined
  /** Thresholds that publish a warning (EN-52). */
  warning_tiers?: (WarningTierWrite[] & tags.MaxItems<10>) | null | undefined
}

/**
 * Body of PUT /plan-entitlements/{plan_entitlement_id}. Another value type clears the members it does not have
 * (decision 26).
 */
export interface PlanEntitlementUpdate extends EntitlementValueUpdate, PlanEntitlementTerms {}

export const parsePlanEntitlementUpdate = typia.json.createValidateParse<PlanEntitlementUpdate>()

/**
 * An entitlement of a new plan. Without `value_type` the value that is given says it; a boolean feature without one is
 * granted.
 */
export interface NewPlanEntitlement extends PlanEntitlementUpdate {
  feature_id: string
}

/** Body of POST /plan-entitlements. Without `value_type` the value that is given says it. */
export interface PlanEntitlementCreate extends PlanEntitlementUpdate {
  feature_id: string
  plan_id: string
  plan_version_id?: string | null | undefined
}

export const parsePlanEntitlementCreate = typia.json.createValidateParse<PlanEntitlementCreate>()

/**
 * Body of POST /plan-entitlements/billing-linked. Provider and resource identify the entitlement; an existing one
 * is updated.
 */
export interface BillingLinkedEntitlementCreate extends PlanEntitlementUpdate {
  feature_id: string
  plan_id: string
  plan_version_id?: string | null | undefined
  billing_provider: BillingProviderType
  external_resource_id: string & tags.MinLength<1> & tags.MaxLength<255>
}

export const parseBillingLinkedEntitlementCreate =
  typia.json.createValidateParse<BillingLinkedEntitlementCreate>()

/** Body of POST /plan-entitlements/duplicate. */
export interface EntitlementsDuplicate {
  source_plan_id: string
  target_plan_id: string
}

export const parseEntitlementsDuplicate = typia.json.createValidateParse<EntitlementsDuplicate>()

export interface BundledEntitlement extends PlanEntitlementUpdate {
  feature_id?: string | undefined
  plan_id?: string | undefined
  plan_version_id?: string | null | undefined
}

/** One entitlement of a bundle. */
export interface BundleEntitlementWrite {
  action: 'create' | 'update' | 'delete'
  entitlement_id?: string | null | undefined
  /** A new entitlement needs `feature_id` and `value_type`. */
  req?: BundledEntitlement | undefined
}

export interface WarningTierRecord {
  id: string
  key: string
  value: number
}

export interface PlanEntitlement {
  id: string
  environment_id: string
  plan_id: string
  plan?: Plan
  feature_id: string
  feature?: Feature
  rule_id: string
  rule_id_usage_exceeded: string | null
  value_type: EntitlementValueType
  value_bool: boolean | null
  value_numeric: number | null
  value_trait_id: string | null
  value_trait?: EntityTraitDefinition
  value_credit?: Credit
  consumption_rate: number | null
  quantity_rates?: Readonly<Record<string, number>>
  metric_period: MetricPeriod | null
  metric_period_month_reset: MonthReset | null
  price_behavior: EntitlementPriceBehavior | null
  soft_limit: number | null
  usage_quantity: number | null
  billing_threshold: number | null
  overage_billing_cadence: BillingArrearsCadence | null
  overage_invoice_anchor: BillingArrearsAnchor | null
  billing_linked_resource?: BillingLinkedResource
  usage_based_product?: BillingProduct
  currency_prices: EntitlementCurrencyPrices[]
  metered_monthly_price?: BillingPriceView
  metered_quarterly_price?: BillingPriceView
  metered_yearly_price?: BillingPriceView
  warning_tiers: WarningTierRecord[]
  created_at: string
  updated_at: string
}

export interface SkippedEntitlement {
  entitlement_id: string
  feature_id: string
  feature_name: string
  errors: { message: string }[]
}

export interface DuplicatedEntitlements {
  data: PlanEntitlement[]
  issues: PlanIssue[]
  skipped: SkippedEntitlement[]
}

interface OverrideTerms extends Keyed {
  /** The override ends at this instant (EN-60). */
  expiration_date?: string | null | undefined
  note?: (string & tags.MaxLength<1024>) | null | undefined
}

/** Body of POST and PUT /company-overrides. Without `value_type` the value that is given says it. */
export interface CompanyOverrideCreate extends EntitlementValueUpdate, OverrideTerms {
  company_id: string
  feature_id: string
}

export const parseCompanyOverrideCreate = typia.json.createValidateParse<CompanyOverrideCreate>()

/**
 * Body of POST and PUT /company-overrides/{company_override_id} (EN-64, decisions 6 and 26). A note is added to the
 * notes.
 */
export interface CompanyOverrideUpdate extends EntitlementValueUpdate, OverrideTerms {}

export const parseCompanyOverrideUpdate = typia.json.createValidateParse<CompanyOverrideUpdate>()

export interface CompanyOverrideNote {
  id: string
  note: string
  external_user_id: string
  external_user_name: string
  created_at: string
  updated_at: string
}

export interface CompanyOverride {
  id: string
  environment_id: string
  company_id: string
  /** Never sent: the company's own view shows the effects of its overrides. */
  company?: CompanyDetail
  feature_id: string
  feature?: Feature
  rule_id: string | null
  rule_id_usage_exceeded: string | null
  value_type: EntitlementValueType
  value_bool: boolean | null
  value_numeric: number | null
  value_trait_id: string | null
  value_trait?: EntityTraitDefinition
  value_credit_id: string | null
  value_credit?: Credit
  consumption_rate: number | null
  quantity_rates?: Readonly<Record<string, number>>
  metric_period: MetricPeriod | null
  metric_period_month_reset: MonthReset | null
  expiration_date: string | null
  notes: CompanyOverrideNote[]
  created_at: string
  updated_at: string
}

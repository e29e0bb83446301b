// Plans and add-ons, their versions, publishing and migrations; plan changes of companies.
import typia, { type tags } from 'typia'
import type { BillingAddress } from './billing.js'
import type { Credit, NewPlanGrant, PlanCreditGrant } from './credits.js'
import type { BundleEntitlementWrite, NewPlanEntitlement, PlanEntitlement } from './entitlements.js'
import type {
  ActorType,
  BillingProviderType,
  BillingStrategy,
  ChargeType,
  IconColor,
  MigrationErrorCode,
  MigrationProrationBehavior,
  MigrationStrategy,
  PlanChangeAction,
  PlanChangeBasePlanAction,
  PlanChangeSubscriptionAction,
  PlanType,
  PlanVersionCompanyMigrationStatus,
  PlanVersionMigrationStatus,
  PlanVersionStatus,
  TaxIdType,
  TrialStatus,
} from './enums.js'
import type { PreviewObject } from './envelope.js'
import type { EventSummary } from './events.js'
import type { Feature } from './features.js'
import type { FlagDetail } from './flags.js'
import type { Keyed } from './keyed.js'
import type { ApiKey } from './keys.js'
import type { PreviewCompanyChange, PreviewTotals } from './plan-moves.js'
import type {
  BillingLinkedResource,
  BillingPrice,
  BillingProductDetail,
  BillingProductPlan,
  BillingProductUpdate,
  BillingProductWrite,
  PlanCurrencyPrices,
} from './prices.js'
import type { EntityTraitDefinition } from './traits.js'

type Name = string & tags.MinLength<1> & tags.MaxLength<256>
type Description = string & tags.MaxLength<1024>

/** A new plan without its parts. */
export interface PlanCreate {
  /** Default: plan. */
  plan_type?: PlanType | null | undefined
  name: Name
  description?: Description | null | undefined
  icon?: IconColor | null | undefined
}

/** Body of POST /plans: a plan, and what it grants and costs. All of it is made, or nothing. */
export interface PlanCreateRequestBody extends PlanCreate, Keyed {
  /** Its entitlements; each as for POST /plan-entitlements. */
  entitlements?: (NewPlanEntitlement[] & tags.MaxItems<100>) | null | undefined
  /** Its prices, as for PUT /plans/{plan_id}/billing_products. */
  billing_product?: BillingProductWrite | null | undefined
  /** Credits that the plan grants; each as for POST /billing/credits/plan-grants, without `plan_id`. */
  credit_grants?: (NewPlanGrant[] & tags.MaxItems<100>) | null | undefined
}

export const parsePlanCreate = typia.json.createValidateParse<PlanCreateRequestBody>()

/**
 * Body of PUT /plans/{plan_id}. Absent members are unchanged; null clears the description; a null icon is
 * unchanged.
 */
export interface PlanUpdate {
  name?: Name | undefined
  description?: Description | null | undefined
  icon?: IconColor | null | undefined
}

export const parsePlanUpdate = typia.json.createValidateParse<PlanUpdate>()

/** Body of POST /plans/billing-linked. Provider and resource identify the plan. */
export interface BillingLinkedPlanCreate {
  billing_provider: BillingProviderType
  /** Default: plan. */
  plan_type?: PlanType | null | undefined
  external_resource_id: string & tags.MinLength<1> & tags.MaxLength<255>
  external_resource_version?: (string & tags.MaxLength<64>) | null | undefined
  name: Name
  description?: Description | null | undefined
  icon?: IconColor | null | undefined
}

export const parseBillingLinkedPlanCreate = typia.json.createValidateParse<BillingLinkedPlanCreate>()

/** Body of POST /custom-plans. */
export interface CustomPlanCreate extends Keyed {
  company_id: string
  name: Name
  description?: Description | null | undefined
  icon?: IconColor | null | undefined
  /** Copy entitlements and prices from this plan. */
  copied_from_plan_id?: string | null | undefined
  /** The only price to copy; absent: all. */
  copied_price_id?: string | null | undefined
}

export const parseCustomPlanCreate = typia.json.createValidateParse<CustomPlanCreate>()

/** One plan credit grant of a bundle; its members are those of /billing/credits/plan-grants. */
export interface BundleCreditGrantWrite {
  action: 'create' | 'update' | 'delete'
  credit_grant_id?: string | null | undefined
  create_req?: { [member: string]: unknown } | undefined
  delete_req?: { [member: string]: unknown } | undefined
  update_req?: { [member: string]: unknown } | undefined
}

interface BundleParts {
  entitlements?: (BundleEntitlementWrite[] & tags.MaxItems<100>) | null | undefined
  credit_grants?: (BundleCreditGrantWrite[] & tags.MaxItems<100>) | null | undefined
}

/** Body of POST /plan-bundles: a plan with all its parts. */
export interface PlanBundleCreate extends BundleParts, Keyed {
  plan: PlanCreate
  billing_product?: BillingProductWrite | null | undefined
}

export const parsePlanBundleCreate = typia.json.createValidateParse<PlanBundleCreate>()

/** Body of PUT /plan-bundles/{plan_id}. */
export interface PlanBundleUpdate extends BundleParts, Keyed {
  plan?: PlanUpdate | undefined
  plan_version_id?: string | null | undefined
  billing_product?: BillingProductUpdate | null | undefined
}

export const parsePlanBundleUpdate = typia.json.createValidateParse<PlanBundleUpdate>()

/** Body of POST /custom-plan-bundles. */
export interface CustomPlanBundleCreate extends BundleParts, Keyed {
  plan: CustomPlanCreate
  billing_product?: BillingProductWrite | null | undefined
}

export const parseCustomPlanBundleCreate = typia.json.createValidateParse<CustomPlanBundleCreate>()

/** A publish with its defaults. Members for payment providers only are ignored. */
export interface PlanPublish extends Keyed {
  migration_strategy: MigrationStrategy
  /** When companies move. Required by, and only for, strategy `scheduled` (decision 28). */
  migration_scheduled_at?: string | null | undefined
  /** Companies that keep their version. */
  excluded_company_ids: string[] & tags.MaxItems<1000>
  activation_strategy?: 'on_payment' | 'on_publish' | null | undefined
  proration_behavior?: MigrationProrationBehavior | null | undefined
  /** Refuse the publish if any company would move. */
  require_no_migration?: boolean | null | undefined
  customer_email?: (string & tags.MaxLength<255>) | null | undefined
  days_until_due?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<365>) | null | undefined
  send_invoice?: boolean | null | undefined
  // for a custom plan: terms of the subscription that its first publish starts, and its billing details
  address?: BillingAddress | null | undefined
  billing_cycle_anchor?: string | null | undefined
  coupon_external_id?: (string & tags.MaxLength<255>) | null | undefined
  custom_field_values?: ({ id: string; value: string }[] & tags.MaxItems<100>) | null | undefined
  phone?: (string & tags.MaxLength<255>) | null | undefined
  /** False: the first period, shortened by the anchor, is free. */
  prorate_first_period?: boolean | null | undefined
  tax_id?: { type: TaxIdType; value: string & tags.MinLength<1> & tags.MaxLength<255> } | null | undefined
}

/** Body of PUT /plans/version/{plan_version_id}/publish. */
export interface PlanPublishRequestBody
  extends Omit<PlanPublish, 'migration_strategy' | 'excluded_company_ids'> {
  /** The way companies on older versions go. Default: leave. */
  migration_strategy?: MigrationStrategy | null | undefined
  /** Companies that keep their version. Default: none. */
  excluded_company_ids?: (string[] & tags.MaxItems<1000>) | null | undefined
}

export const parsePlanPublish = typia.json.createValidateParse<PlanPublishRequestBody>()

/** A plan inside other resources. */
export interface Plan {
  id: string
  name: string
  description: string
  icon: IconColor
  plan_type: PlanType
  audience_type: string | null
  company_id: string | null
  copied_from_plan_id: string | null
  created_at: string
  updated_at: string
}

export interface PlanVersion {
  id: string
  environment_id: string
  name: string
  description: string
  icon: IconColor
  plan_type: PlanType
  status: PlanVersionStatus
  version: number
  original_plan_id: string | null
  created_at: string
  updated_at: string
}

/** A feature inside plans that entitle to it. */
export interface FeatureInPlan extends Feature {
  flags: FlagInPlan[]
  plans: PreviewObject[]
  billing_linked_resource?: BillingLinkedResource
  trait?: EntityTraitDefinition
  event_summary?: EventSummary
}

export type FlagInPlan = Omit<FlagDetail, 'maintainer'>

export interface PlanCatalogMembership {
  id: string
  name: string
}

export interface PlanDetail extends Plan {
  /** Never sent: there are no catalogs. */
  catalogs?: PlanCatalogMembership[]
  billing_strategy: BillingStrategy
  charge_type: ChargeType
  controlled_by: BillingProviderType
  company_count: number
  company_logo_url: string | null
  company_name: string | null
  is_default: boolean
  is_free: boolean
  is_trialable: boolean
  trial_days: number | null
  credits: Credit[]
  currency_prices: PlanCurrencyPrices[]
  monthly_price?: BillingPrice
  one_time_price?: BillingPrice
  quarterly_price?: BillingPrice
  yearly_price?: BillingPrice
  billing_linked_resource?: BillingLinkedResource
  billing_product?: BillingProductDetail
  features: FeatureInPlan[]
  entitlements: PlanEntitlement[] | null
  included_credit_grants?: PlanCreditGrant[]
  versions: PlanVersion[]
  active_version?: PlanVersion
  draft_version?: PlanVersion
}

export interface PlanBundle {
  plan?: Plan
  plan_version?: PlanVersion
  billing_product?: BillingProductPlan
  entitlements?: PlanEntitlement[]
  credit_grants?: PlanCreditGrant[]
}

export interface PlanIssue {
  code: string
  description: string
  detail?: string
  id?: string
}

/**
 * Body of PUT /company-plans/{company_id}: the base plan and the complete list of add-ons (PB-30). Absent members
 * are unchanged (decision 26).
 */
export interface CompanyPlansUpdate extends Keyed {
  add_on_ids?: (string[] & tags.MaxItems<100>) | null | undefined
  base_plan_id?: string | null | undefined
}

export const parseCompanyPlansUpdate = typia.json.createValidateParse<CompanyPlansUpdate>()

export interface PlanSnapshot {
  id: string
  name: string
  description: string
  icon: string
  deleted: boolean
}

export interface PlanVersionSnapshot {
  id: string
  name: string
  version: number
}

export interface PlanChange {
  id: string
  environment_id: string
  company_id: string
  company?: object
  action: PlanChangeAction
  actor_type: ActorType
  api_key?: ApiKey
  base_plan?: PlanSnapshot
  base_plan_version?: PlanVersionSnapshot
  previous_base_plan?: PlanSnapshot
  previous_base_plan_version?: PlanVersionSnapshot
  base_plan_action: PlanChangeBasePlanAction | null
  add_ons_added: PlanSnapshot[]
  add_ons_removed: PlanSnapshot[]
  is_version_upgrade: boolean
  subscription_change_action: PlanChangeSubscriptionAction | null
  traits_updated: object[]
  trial_status: TrialStatus | null
  trial_converted_at: string | null
  trial_expires_at: string | null
  request_id: string | null
  user_id: string | null
  user_name: string | null
  created_at: string
  updated_at: string
}

/** A new migration with its defaults. */
export interface MigrationCreate extends Keyed {
  plan_id: string
  plan_version_id_to: string
  strategy: MigrationStrategy
  /** When companies move. Required by, and only for, strategy `scheduled` (decision 28). */
  migration_scheduled_at?: string | null | undefined
  /** Default: the type of the plan. */
  target_plan_type?: PlanType | null | undefined
  company_ids?: (string[] & tags.MaxItems<1000>) | null | undefined
  excluded_company_ids?: (string[] & tags.MaxItems<1000>) | null | undefined
  plan_version_ids_from?: (string[] & tags.MaxItems<100>) | null | undefined
  proration_behavior?: MigrationProrationBehavior | null | undefined
}

/** Body of POST /plan-version-migrations. */
export interface MigrationCreateRequestBody extends Omit<MigrationCreate, 'strategy'> {
  /** Default: immediate. */
  strategy?: MigrationStrategy | null | undefined
}

export const parseMigrationCreate = typia.json.createValidateParse<MigrationCreateRequestBody>()

/** Body of POST /plan-version-migrations/preview. */
export interface MigrationPreviewRequest {
  plan_id: string
  plan_version_id_to: string
  /** Default: the type of the plan. */
  target_plan_type?: PlanType | null | undefined
  company_ids?: (string[] & tags.MaxItems<100>) | null | undefined
  plan_version_ids_from?: (string[] & tags.MaxItems<20>) | null | undefined
}

export const parseMigrationPreviewRequest = typia.json.createValidateParse<MigrationPreviewRequest>()

/** Body of POST /plan-version-migrations/{plan_version_migration_id}/complete-now. */
export interface MigrationCompleteNow extends Keyed {
  proration_behavior?: MigrationProrationBehavior | null | undefined
}

export const parseMigrationCompleteNow = typia.json.createValidateParse<MigrationCompleteNow>()

/** Body of POST /plan-version-migrations/{plan_version_migration_id}/retry. */
export interface MigrationRetry extends Keyed {
  /** Default: all. */
  error_codes?: (MigrationErrorCode[] & tags.MaxItems<12>) | null | undefined
}

export const parseMigrationRetry = typia.json.createValidateParse<MigrationRetry>()

export interface PlanVersionMigration {
  id: string
  plan_id: string
  plan_version_id_to: string
  plan_version_id_from: string | null
  plan_version_ids_from: string[]
  strategy: MigrationStrategy
  proration_behavior: MigrationProrationBehavior | null
  status: PlanVersionMigrationStatus
  total_companies: number
  completed_companies: number
  failed_companies: number
  skipped_companies: number
  feature_id: string | null
  feature_plan_rollout_id: string | null
  error: string | null
  next_due_at: string | null
  /** While it is paused no company moves. */
  paused_at: string | null
  started_at: string | null
  completed_at: string | null
  created_at: string
  updated_at: string
}

export interface PlanVersionCompanyMigration {
  id: string
  migration_id: string
  company_id: string
  company_name: string
  plan_version_id_from: string | null
  status: PlanVersionCompanyMigrationStatus
  scheduled_for: string | null
  error: string | null
  error_code: MigrationErrorCode | null
  started_at: string | null
  completed_at: string | null
  created_at: string
  updated_at: string
}

export interface PlanVersionMigrationPreviewCompany extends PreviewCompanyChange {
  company_id: string
  plan_version_id_from: string | null
  has_billing_changes: boolean
  has_custom_pricing: boolean
  will_update_subscription: boolean
  would_fail: boolean
  note: string | null
}

export interface PlanVersionMigrationPreview {
  companies: PlanVersionMigrationPreviewCompany[]
  has_billing_changes: boolean
  totals: PreviewTotals
}

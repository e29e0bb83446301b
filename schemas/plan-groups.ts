// Plan groups: an environment's initial and fallback plans, the order of its plans, and settings that are stored for
// the applications that show them.
import typia, { type tags } from 'typia'
import type { PlanPriceCadence, ProrationBehavior } from './enums.js'
import type { PlanDetail } from './plans.js'
import type { BillingPriceView } from './prices.js'

export interface EntitlementInPlan {
  entitlement_id: string
  visible?: boolean | null | undefined
}

/** A plan at its position. */
export interface OrderedPlan {
  plan_id: string
  entitlements?: (EntitlementInPlan[] & tags.MaxItems<1_000>) | null | undefined
}

export interface OrderedBundle {
  bundleId: string
}

/** Plans an add-on may be combined with. */
export interface CompatiblePlans {
  source_plan_id: string
  compatible_plan_ids: string[] & tags.MaxItems<1_000>
}

export interface CheckoutFieldInput {
  name: string & tags.MinLength<1> & tags.MaxLength<255>
  psp_metadata_key: string & tags.MaxLength<255>
  required: boolean
  /** The company trait that stores the answer; created by name if absent. */
  definition_id?: string | null | undefined
  helper_text?: (string & tags.MaxLength<1024>) | null | undefined
  id?: string | null | undefined
}

export interface CustomPlanConfig {
  cta_text: string & tags.MaxLength<255>
  cta_web_site: string & tags.MaxLength<512>
  price_text: string & tags.MaxLength<255>
}

/** A plan group with its defaults. */
export interface PlanGroupWrite {
  checkout_collect_address: boolean
  checkout_collect_email: boolean
  checkout_collect_phone: boolean
  checkout_collect_tax_id: boolean
  enable_tax_collection: boolean
  opt_in_enabled: boolean
  prevent_downgrades_when_over_limit: boolean
  prevent_self_service_downgrade: boolean
  show_as_monthly_prices: boolean
  show_credits: boolean
  show_feature_description: boolean
  show_hard_limit: boolean
  show_period_toggle: boolean
  show_zero_price_as_free: boolean
  sync_customer_billing_details: boolean
  proration_behavior: ProrationBehavior
  /** Deprecated: use `ordered_add_ons`. */
  add_on_ids: string[] & tags.MaxItems<100>
  ordered_add_ons: OrderedPlan[] & tags.MaxItems<100>
  ordered_bundle_list: OrderedBundle[] & tags.MaxItems<100>
  ordered_plans: OrderedPlan[] & tags.MaxItems<100>
  checkout_bundle_purchase_behavior?: 'individual' | 'quantity' | null | undefined
  custom_plan_config?: CustomPlanConfig | null | undefined
  custom_plan_id?: string | null | undefined
  fallback_plan_id?: string | null | undefined
  initial_plan_id?: string | null | undefined
  initial_plan_price_id?: string | null | undefined
  trial_expiry_plan_id?: string | null | undefined
  trial_expiry_plan_price_id?: string | null | undefined
  scheduled_downgrade_behavior?: 'end_of_billing_period' | 'none' | null | undefined
  scheduled_downgrade_prevent_when_over_limit?: boolean | null | undefined
  trial_eligibility_per_plan?: boolean | null | undefined
  trial_payment_method_required?: boolean | null | undefined
  trial_days?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<3_650>) | null | undefined
  add_on_compatibilities?: (CompatiblePlans[] & tags.MaxItems<100>) | null | undefined
  custom_checkout_fields?: (CheckoutFieldInput[] & tags.MaxItems<100>) | null | undefined
  opt_in_text?: (string & tags.MaxLength<1024>) | null | undefined
  opt_in_title?: (string & tags.MaxLength<80>) | null | undefined
  prevent_self_service_downgrade_button_text?: (string & tags.MaxLength<255>) | null | undefined
  prevent_self_service_downgrade_url?: (string & tags.MaxLength<512>) | null | undefined
}

/** Body of POST /plan-groups. */
export interface PlanGroupCreateRequestBody extends Partial<PlanGroupWrite> {}

export const parsePlanGroupWrite = typia.json.createValidateParse<PlanGroupCreateRequestBody>()

/** Body of PUT /plan-groups/{plan_group_id}. Absent members are unchanged, null clears (decision 26). */
export interface PlanGroupUpdate extends Partial<PlanGroupWrite> {}

export const parsePlanGroupUpdate = typia.json.createValidateParse<PlanGroupUpdate>()

export interface CheckoutField {
  id: string
  definition_id: string
  trait_hierarchy: readonly string[]
  name: string
  psp_metadata_key: string
  position: number
  required: boolean
  helper_text: string | null
  created_at: string
  updated_at: string
}

/** Members of both views of a plan group. */
interface PlanGroupCommon {
  id: string
  proration_behavior: string
  checkout_settings: {
    bundle_purchase_behavior: 'individual' | 'quantity'
    collect_address: boolean
    collect_email: boolean
    collect_phone: boolean
    collect_tax_id: boolean
    opt_in_enabled: boolean
    opt_in_text: string | null
    opt_in_title: string | null
  }
  component_settings: {
    show_as_monthly_prices: boolean
    show_credits: boolean
    show_feature_description: boolean
    show_hard_limit: boolean
    show_period_toggle: boolean
    show_zero_price_as_free: boolean
  }
  prevent_downgrades_when_over_limit: boolean
  prevent_self_service_downgrade: boolean
  prevent_self_service_downgrade_button_text: string | null
  prevent_self_service_downgrade_url: string | null
  show_as_monthly_prices: boolean
  show_credits: boolean
  show_period_toggle: boolean
  show_zero_price_as_free: boolean
  sync_customer_billing_details: boolean
  tax_collection_enabled: boolean
  trial_eligibility_per_plan: boolean
  default_plan_id: string | null
  fallback_plan_id: string | null
  initial_plan_id: string | null
  initial_plan_price_id: string | null
  trial_expiry_plan_id: string | null
  trial_expiry_plan_price_id: string | null
  scheduled_downgrade_behavior: string | null
  scheduled_downgrade_prevent_when_over_limit: boolean | null
  trial_payment_method_required: boolean | null
  trial_days: number | null
}

/** Response of a write. */
export interface PlanGroup extends PlanGroupCommon {
  add_on_compatibilities: CompatiblePlans[]
  add_on_ids: string[]
  ordered_add_on_ids: OrderedPlan[]
  plan_ids: OrderedPlan[]
}

export interface PlanGroupPlanDetail extends PlanDetail {
  available_periods: PlanPriceCadence[]
  compatible_plan_ids: string[]
  custom_plan_config?: CustomPlanConfig
  is_custom: boolean
}

/** A plan at its position, with the order of its entitlements. */
export interface PlanEntitlementsOrder {
  plan_id: string
  entitlements: { plan_entitlement_id: string; visible: boolean | null }[] | null
}

/** Response of GET /plan-groups. */
export interface PlanGroupDetail extends PlanGroupCommon {
  plans: PlanGroupPlanDetail[]
  add_ons: PlanGroupPlanDetail[]
  ordered_plan_list: PlanEntitlementsOrder[]
  ordered_add_on_list: PlanEntitlementsOrder[]
  ordered_bundle_list: OrderedBundle[]
  custom_checkout_fields: CheckoutField[]
  custom_plan_id: string | null
  custom_plan_config?: CustomPlanConfig
  default_plan?: PlanGroupPlanDetail
  fallback_plan?: PlanGroupPlanDetail
  initial_plan?: PlanGroupPlanDetail
  initial_plan_price?: BillingPriceView
  trial_expiry_plan?: PlanGroupPlanDetail
  trial_expiry_plan_price?: BillingPriceView
}

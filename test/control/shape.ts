// Whole bodies held against the documented members: nothing missing, nothing undocumented, nothing undefined.
import type { Test } from 'tap'

/** Member names, separated by blanks: always there and not null; always there, perhaps null; there or not. */
export interface Shape {
  readonly required: string
  readonly nullable?: string
  readonly optional?: string
}

const words = (text = '') => text.split(/\s+/).filter(word => word !== '')

/** One assertion: the members of an object are those of the shape. */
export function isShaped(t: Test, value: unknown, shape: Shape, title: string): void {
  const found = value as Readonly<Record<string, unknown>>
  const required = words(shape.required)
  const nullable = words(shape.nullable)
  const known = new Set([...required, ...nullable, ...words(shape.optional)])
  const faults = [
    ...required
      .filter(name => found[name] === undefined || found[name] === null)
      .map(name => `${name} missing`),
    ...nullable.filter(name => found[name] === undefined).map(name => `${name} absent`),
    ...Object.keys(found)
      .filter(name => !known.has(name))
      .map(name => `${name} undocumented`),
    ...words(shape.optional)
      .filter(name => found[name] === null)
      .map(name => `${name} null`),
  ]
  t.same(faults, [], title)
}

export const shapes = {
  plan: {
    required: 'created_at updated_at description id name icon plan_type',
    nullable: 'audience_type company_id copied_from_plan_id',
  },
  planDetail: {
    required: `billing_strategy charge_type company_count controlled_by created_at updated_at credits currency_prices
      description id name features icon is_trialable plan_type versions is_default`,
    nullable:
      'company_id company_logo_url company_name copied_from_plan_id entitlements trial_days audience_type is_free',
    optional: `active_version draft_version billing_linked_resource billing_product catalogs included_credit_grants
      monthly_price one_time_price quarterly_price yearly_price`,
  },
  planVersion: {
    required: 'created_at updated_at description environment_id id name icon plan_type status version',
    nullable: 'original_plan_id',
  },
  billingPrice: {
    required: 'currency external_price_id id interval interval_count price provider_type scheme',
    nullable: 'nickname price_decimal',
  },
  billingPriceView: {
    required: `billing_scheme created_at updated_at currency id price_external_id price_id product_external_id product_id
      product_name interval interval_count package_size price is_active price_tier provider_type usage_type`,
    nullable: 'meter_event_name meter_event_payload_key meter_id nickname price_decimal tiers_mode',
  },
  billingProduct: {
    required: `account_id environment_id external_id name product_id created_at updated_at is_active price quantity
      provider_type`,
    nullable: 'price_decimal currency',
  },
  billingProductDetail: {
    required: `account_id environment_id external_id name product_id created_at updated_at is_active price quantity
      provider_type prices subscription_count`,
    nullable: 'price_decimal currency',
  },
  billingProductPlan: {
    required: `account_id billing_product_id environment_id plan_id billing_strategy charge_type controlled_by
      is_trialable`,
    nullable: 'monthly_price_id one_time_price_id yearly_price_id trial_days',
  },
  planEntitlement: {
    required: `created_at updated_at currency_prices environment_id feature_id id plan_id rule_id value_type
      warning_tiers`,
    nullable: `billing_threshold soft_limit value_numeric consumption_rate metric_period metric_period_month_reset
      price_behavior rule_id_usage_exceeded value_trait_id value_bool overage_billing_cadence overage_invoice_anchor
      usage_quantity`,
    optional: `billing_linked_resource feature metered_monthly_price metered_quarterly_price metered_yearly_price plan
      usage_based_product value_credit value_trait quantity_rates`,
  },
  featureInPlan: {
    required: 'created_at updated_at description icon id name feature_type flags plans event_source',
    nullable: `event_subtype maintainer_account_member_id plural_name singular_name trait_id lifecycle_phase license_id
      usage_limit_trait_id`,
    optional: 'billing_linked_resource event_summary trait',
  },
  flagInPlan: {
    required: 'created_at updated_at default_value flag_type description id key name rules',
    nullable: 'feature_id last_checked_at maintainer_account_member_id',
    optional: 'feature',
  },
  companyOverride: {
    required: 'company_id environment_id feature_id id created_at updated_at notes value_type',
    nullable: `consumption_rate expiration_date metric_period metric_period_month_reset rule_id rule_id_usage_exceeded
      value_credit_id value_trait_id value_bool value_numeric`,
    optional: 'company feature value_trait value_credit quantity_rates',
  },
  companyOverrideNote: {
    required: 'created_at updated_at external_user_id external_user_name id note',
  },
  planGroup: {
    required: `add_on_compatibilities add_on_ids checkout_settings component_settings id proration_behavior
      ordered_add_on_ids plan_ids prevent_downgrades_when_over_limit prevent_self_service_downgrade
      show_as_monthly_prices show_credits show_period_toggle show_zero_price_as_free sync_customer_billing_details
      tax_collection_enabled trial_eligibility_per_plan`,
    nullable: `default_plan_id fallback_plan_id initial_plan_id initial_plan_price_id
      prevent_self_service_downgrade_button_text prevent_self_service_downgrade_url scheduled_downgrade_behavior
      trial_expiry_plan_id trial_expiry_plan_price_id scheduled_downgrade_prevent_when_over_limit
      trial_payment_method_required trial_days`,
  },
  planGroupDetail: {
    required: `add_ons plans checkout_settings component_settings custom_checkout_fields id proration_behavior
      ordered_add_on_list ordered_plan_list ordered_bundle_list prevent_downgrades_when_over_limit
      prevent_self_service_downgrade show_as_monthly_prices show_credits show_period_toggle show_zero_price_as_free
      sync_customer_billing_details tax_collection_enabled trial_eligibility_per_plan`,
    nullable: `custom_plan_id default_plan_id fallback_plan_id initial_plan_id initial_plan_price_id
      prevent_self_service_downgrade_button_text prevent_self_service_downgrade_url scheduled_downgrade_behavior
      trial_expiry_plan_id trial_expiry_plan_price_id scheduled_downgrade_prevent_when_over_limit
      trial_payment_method_required trial_days`,
    optional: `custom_plan_config default_plan fallback_plan initial_plan trial_expiry_plan initial_plan_price
      trial_expiry_plan_price`,
  },
  planGroupPlanDetail: {
    required: `available_periods billing_strategy charge_type company_count compatible_plan_ids controlled_by created_at
      updated_at credits currency_prices description id name features icon is_custom is_default is_trialable plan_type
      versions`,
    nullable: `audience_type company_id company_logo_url company_name copied_from_plan_id entitlements is_free
      trial_days`,
    optional: `active_version draft_version billing_linked_resource billing_product catalogs custom_plan_config
      included_credit_grants monthly_price one_time_price quarterly_price yearly_price`,
  },
  planChange: {
    required: `action actor_type add_ons_added add_ons_removed company_id environment_id id created_at updated_at
      traits_updated is_version_upgrade`,
    nullable: `request_id user_id user_name trial_converted_at trial_expires_at base_plan_action
      subscription_change_action trial_status`,
    optional: `api_key audit_log base_plan previous_base_plan base_plan_version previous_base_plan_version company
      integration`,
  },
  planSnapshot: { required: 'deleted description icon id name' },
  planVersionSnapshot: { required: 'id name version' },
  migration: {
    required: `completed_companies failed_companies skipped_companies total_companies created_at updated_at id plan_id
      plan_version_id_to plan_version_ids_from status strategy`,
    nullable: `completed_at next_due_at paused_at started_at error feature_id feature_plan_rollout_id plan_version_id_from
      proration_behavior`,
  },
  companyMigration: {
    required: 'company_id company_name id migration_id created_at updated_at status',
    nullable: 'completed_at started_at error plan_version_id_from error_code scheduled_for',
  },
  migrationPreview: { required: 'companies has_billing_changes totals' },
  migrationPreviewCompany: {
    required:
      'company_id exceeded_limits gains has_billing_changes has_custom_pricing losses prices will_update_subscription would_fail',
    nullable: 'end_of_billing_period_at failure_reason note plan_version_id_from',
  },
} as const satisfies Readonly<Record<string, Shape>>

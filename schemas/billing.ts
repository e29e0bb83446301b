// Billing records as a provider's sync writes them and as they are shown: customers, products, prices, subscriptions,
// invoices, coupons, payment methods, meters, profiles and details. Amounts are in the currency's smallest unit.
import typia, { type tags } from 'typia'
import type { ChargeLineView } from './charges.js'
import type { CheckoutProblem } from './checkout.js'
import type { Company, CompanyDetail, Keys } from './companies.js'
import type {
  BillingCollectionMethod,
  BillingPriceScheme,
  BillingPriceUsageType,
  BillingProviderType,
  BillingSubscriptionTrialEndSetting,
  BillingTiersMode,
  CurrencyCode,
  CustomPlanBillingStatus,
  InvoiceStatus,
  TaxIdType,
} from './enums.js'
import type { Keyed } from './keyed.js'
import type { DecimalText, Long, Money } from './long.js'
import type { PriceTierView } from './prices.js'
import type { FeatureUsage } from './usage.js'

type Count = Long & tags.Minimum<0>
/** A `double` of the interface document that is whole here: exact up to 2^53 − 1. */
type Units = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<9_007_199_254_740_991>
type Int32 = number & tags.Type<'int32'>
/** Epoch seconds, up to the year 9999. */
type Seconds = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<253_370_764_800>
type Text255 = string & tags.MaxLength<255>
type ExternalId = string & tags.MinLength<1> & tags.MaxLength<255>

// ── requests ─────────────────────────────────────────────────────────────────────────────────────

/** Body of POST /billing/customer/upsert. */
export interface BillingCustomerWrite {
  external_id: ExternalId
  name: Text255
  email: Text255
  meta: Readonly<Record<string, string>>
  company_id?: string | null | undefined
  default_payment_method_id?: string | null | undefined
  provider_type?: BillingProviderType | null | undefined
}

/** Body of POST /billing/product/upsert. */
export interface BillingProductWrite {
  external_id: ExternalId
  price: number & tags.Minimum<0>
  name?: Text255 | null | undefined
  is_active?: boolean | null | undefined
  provider_type?: BillingProviderType | null | undefined
}

export interface BillingPriceTierWrite {
  price_external_id: Text255
  flat_amount?: Money | null | undefined
  per_unit_price?: Money | null | undefined
  per_unit_decimal?: DecimalText | null | undefined
  up_to?: (Long & tags.Minimum<0>) | null | undefined
  provider_type?: BillingProviderType | null | undefined
}

/** Body of POST /billing/price/upsert. */
export interface BillingPriceWrite {
  price_external_id: ExternalId
  product_external_id: ExternalId
  external_account_id: Text255
  currency: CurrencyCode
  interval: Text255
  interval_count?: (Int32 & tags.Minimum<1> & tags.Maximum<1000>) | null | undefined
  price: Money
  price_decimal?: DecimalText | null | undefined
  billing_scheme: BillingPriceScheme
  tiers_mode?: BillingTiersMode | null | undefined
  price_tiers: BillingPriceTierWrite[] & tags.MaxItems<100>
  usage_type: BillingPriceUsageType
  is_active: boolean
  package_size?: (Int32 & tags.Minimum<1>) | null | undefined
  meter_id?: Text255 | null | undefined
  nickname?: (string & tags.MaxLength<512>) | null | undefined
  provider_type?: BillingProviderType | null | undefined
}

/** A product in a subscription. */
export interface BillingProductPricing {
  product_external_id: Text255
  price_external_id: Text255
  currency: CurrencyCode
  interval: Text255
  price: Money
  quantity: Units
  usage_type: BillingPriceUsageType
  billing_threshold?: Long | null | undefined
  meter_id?: string | null | undefined
  package_size?: (Int32 & tags.Minimum<1>) | null | undefined
  price_decimal?: DecimalText | null | undefined
  subscription_item_external_id?: string | null | undefined
}

export interface BillingSubscriptionDiscount {
  coupon_external_id: string
  external_id: string
  is_active: boolean
  started_at: string
  ended_at?: string | null | undefined
  customer_facing_code?: string | null | undefined
  promo_code_external_id?: string | null | undefined
}

/** Body of POST /billing/subscription/upsert. */
export interface BillingSubscriptionWrite {
  subscription_external_id: ExternalId
  customer_external_id: Text255
  product_external_ids: BillingProductPricing[] & tags.MaxItems<100>
  discounts: BillingSubscriptionDiscount[] & tags.MaxItems<100>
  currency: CurrencyCode
  total_price: Money
  cancel_at_period_end: boolean
  /** Null, or the zero time that some languages send instead: not expired. */
  expired_at: string | null
  status?: Text255 | null | undefined
  interval?: Text255 | null | undefined
  period_start?: Seconds | null | undefined
  period_end?: Seconds | null | undefined
  /** Day of month and time of its periods; absent: the one known, else as the bounds show it. */
  billing_cycle_anchor?: Seconds | null | undefined
  /** When the provider made this message; an older one than the last that was applied is ignored. */
  provider_event_at?: string | null | undefined
  started_at?: string | null | undefined
  trial_end?: Seconds | null | undefined
  trial_end_setting?: BillingSubscriptionTrialEndSetting | null | undefined
  cancel_at?: Seconds | null | undefined
  company_id?: string | null | undefined
  application_id?: Text255 | null | undefined
  default_payment_method_id?: string | null | undefined
  default_payment_method_external_id?: Text255 | null | undefined
  metadata?: { readonly [member: string]: unknown } | null | undefined
  provider_type?: BillingProviderType | null | undefined
}

/** Body of PUT /subscription/{subscription_id}/edit-trial-end; null or absent: the trial ends now. */
export interface TrialEndUpdate extends Keyed {
  trial_end?: string | null | undefined
}

export const parseTrialEndUpdate = typia.json.createValidateParse<TrialEndUpdate>()

/** Body of POST /billing/coupons. */
export interface CouponWrite {
  external_id: ExternalId
  name: Text255
  /** 0 or null: no amount of this kind. The other amounts likewise. */
  amount_off: Money | null
  percent_off: (number & tags.Minimum<0> & tags.Maximum<100>) | null
  duration: (string & tags.MaxLength<50>) | null
  duration_in_months: Count | null
  max_redemptions: Count | null
  times_redeemed: Count
  currency?: (string & tags.MaxLength<3>) | null | undefined
}

/** Body of POST /billing/invoices. */
export interface InvoiceWrite {
  customer_external_id: ExternalId
  amount_due: Long
  amount_paid: Long
  amount_remaining: Long
  subtotal: Long
  collection_method: string & tags.MaxLength<32>
  currency: string & tags.MaxLength<16>
  external_id?: ExternalId | null | undefined
  subscription_external_id?: Text255 | null | undefined
  payment_method_external_id?: Text255 | null | undefined
  starting_balance?: Long | null | undefined
  ending_balance?: Long | null | undefined
  due_date?: string | null | undefined
  status?: InvoiceStatus | null | undefined
  url?: (string & tags.MaxLength<512>) | null | undefined
}

/** Body of POST /billing/meter/upsert. */
export interface MeterWrite {
  external_id: ExternalId
  display_name: Text255
  event_name: Text255
  event_payload_key: Text255
  provider_type?: BillingProviderType | null | undefined
}

/** Body of POST /billing/payment-methods. */
export interface PaymentMethodWrite {
  external_id: ExternalId
  customer_external_id: ExternalId
  payment_method_type: string & tags.MaxLength<32>
  account_last4?: (string & tags.MaxLength<4>) | null | undefined
  account_name?: Text255 | null | undefined
  bank_name?: Text255 | null | undefined
  billing_email?: Text255 | null | undefined
  billing_name?: Text255 | null | undefined
  card_brand?: (string & tags.MaxLength<32>) | null | undefined
  card_last4?: (string & tags.MaxLength<4>) | null | undefined
  card_exp_month?: (Int32 & tags.Minimum<1> & tags.Maximum<12>) | null | undefined
  card_exp_year?: (Int32 & tags.Minimum<0> & tags.Maximum<9999>) | null | undefined
}

export interface BillingAddress {
  city: string
  country: string
  line1: string
  line2: string
  postal_code: string
  state: string
}

/** Body of PUT /companies/{company_id}/billing-details. */
export interface BillingDetailsUpdate {
  values?: ({ id: string; value: string }[] & tags.MaxItems<100>) | null | undefined
  address?: BillingAddress | null | undefined
  email?: Text255 | null | undefined
  phone?: Text255 | null | undefined
  tax_id?: { type: TaxIdType; value: string & tags.MinLength<1> & tags.MaxLength<255> } | null | undefined
}

export const parseBillingDetailsUpdate = typia.json.createValidateParse<BillingDetailsUpdate>()

/** Body of PUT /custom-plan-billings/{custom_plan_billing_id}/retry. */
export interface CustomPlanBillingRetry extends Keyed {
  customer_email: ExternalId
  activation_strategy?: 'on_payment' | 'on_publish' | null | undefined
  billing_cycle_anchor?: string | null | undefined
  days_until_due?: (Int32 & tags.Minimum<0> & tags.Maximum<365>) | null | undefined
  prorate_first_period?: boolean | null | undefined
  send_invoice?: boolean | null | undefined
}

export const parseCustomPlanBillingRetry = typia.json.createValidateParse<CustomPlanBillingRetry>()
/** Body of PUT /custom-plan-billings/{custom_plan_billing_id}/mark-paid: empty. */
export interface CustomPlanBillingPaid extends Keyed {
  readonly [member: string]: unknown
}

export const parseCustomPlanBillingPaid = typia.json.createValidateParse<CustomPlanBillingPaid>()

export interface PlanSelection {
  plan_id: string
  price_id?: string | null | undefined
  version_id?: string | null | undefined
}

/**
 * A company's own automatic top-up of a credit, where its plan allows the choice; whole credits. Null: as in the
 * plan.
 */
export interface AutoTopupOverride {
  credit_id: string
  enabled: boolean
  amount?: (number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999>) | null | undefined
  threshold_credits?: Units | null | undefined
}

/** The complete wanted state of a company (PB-30). */
export interface ManagePlanRequest extends Keyed {
  company_id: string
  add_on_selections: PlanSelection[] & tags.MaxItems<100>
  credit_bundles: { bundle_id: string; quantity: Int32 & tags.Minimum<1> }[] & tags.MaxItems<100>
  custom_field_values: { id: string; value: string }[] & tags.MaxItems<100>
  pay_in_advance_entitlements: {
    price_id: string
    quantity: Int32 & tags.Minimum<0>
  }[] &
    tags.MaxItems<100>
  activate_on_payment?: boolean | null | undefined
  /** The company's own settings of automatic top-up; credits not listed are unchanged. */
  auto_topup_overrides?: (AutoTopupOverride[] & tags.MaxItems<100>) | null | undefined
  base_plan_id?: string | null | undefined
  base_plan_price_id?: string | null | undefined
  base_plan_version_id?: string | null | undefined
  billing_cycle_anchor?: string | null | undefined
  billing_email?: Text255 | null | undefined
  billing_entity_id?: string | null | undefined
  cancel_immediately?: boolean | null | undefined
  collection_method?: BillingCollectionMethod | null | undefined
  coupon_external_id?: Text255 | null | undefined
  days_until_due?: (Int32 & tags.Minimum<0> & tags.Maximum<365>) | null | undefined
  payment_method_external_id?: Text255 | null | undefined
  promo_code?: Text255 | null | undefined
  /**
   * False: the running period is neither charged nor credited for the change, whose prices count from the next one; a new
   * or longer period is charged. Default: true.
   */
  prorate?: boolean | null | undefined
  prorate_first_period?: boolean | null | undefined
  send_invoice?: boolean | null | undefined
  trial_end?: string | null | undefined
  /** The change at the end of the trial; default `subscribe` (decision 29). */
  trial_end_setting?: BillingSubscriptionTrialEndSetting | null | undefined
}

type ManagePlanLists =
  | 'add_on_selections'
  | 'credit_bundles'
  | 'custom_field_values'
  | 'pay_in_advance_entitlements'

/**
 * Body of POST /manage-plan and its preview. The company is named by `company_id` or by `company`; lists that are left out
 * are empty.
 */
export interface ManagePlanRequestBody extends Omit<ManagePlanRequest, 'company_id' | ManagePlanLists> {
  company_id?: string | null | undefined
  /** Keys of the company, in place of its id. An unknown company is made; its preview is 404. */
  company?: Keys | null | undefined
  add_on_selections?: ManagePlanRequest['add_on_selections'] | null | undefined
  credit_bundles?: ManagePlanRequest['credit_bundles'] | null | undefined
  custom_field_values?: ManagePlanRequest['custom_field_values'] | null | undefined
  pay_in_advance_entitlements?: ManagePlanRequest['pay_in_advance_entitlements'] | null | undefined
}

export const parseManagePlanRequest = typia.json.createValidateParse<ManagePlanRequestBody>()

/** Body of POST /manage-plan/subscription/cancel. */
export interface SubscriptionCancel extends Keyed {
  company_id: string
  cancel_immediately?: boolean | null | undefined
  /** False: nothing is credited. Default: true. */
  prorate?: boolean | null | undefined
}

export const parseSubscriptionCancel = typia.json.createValidateParse<SubscriptionCancel>()

// ── responses ────────────────────────────────────────────────────────────────────────────────────

export interface BillingCustomer {
  id: string
  external_id: string
  name: string
  email: string
  provider_type: BillingProviderType
  company_id: string | null
  updated_at: string
  deleted_at: string | null
}

export interface BillingCustomerWithSubscriptions extends BillingCustomer {
  subscriptions: BillingCustomerSubscription[]
}

export interface BillingCustomerSubscription {
  currency: string
  interval: string
  metered_usage: boolean
  per_unit_price: number
  total_price: number
  expired_at: string | null
}

export interface BillingSubscriptionDiscountView {
  coupon_id: string
  coupon_name: string
  discount_external_id: string
  duration: string
  subscription_external_id: string
  is_active: boolean
  started_at: string
  ended_at: string | null
  amount_off: number | null
  percent_off: number | null
  currency: string | null
  duration_in_months: number | null
  customer_facing_code: string | null
  promo_code_external_id: string | null
}

export interface BillingProductForSubscription {
  id: string
  external_id: string
  environment_id: string
  name: string
  subscription_id: string
  price_id: string
  price_external_id: string
  price: number
  price_decimal: string | null
  price_tier: PriceTierView[]
  billing_scheme: BillingPriceScheme
  usage_type: BillingPriceUsageType
  currency: string
  interval: string
  interval_count: number | null
  package_size: number
  quantity: number
  provider_type: BillingProviderType
  billing_threshold: number | null
  meter_id: string | null
  subscription_item_external_id: string | null
  created_at: string
  updated_at: string
}

export interface Invoice {
  id: string
  environment_id: string
  external_id: string | null
  customer_external_id: string
  subscription_external_id: string | null
  payment_method_external_id: string | null
  company_id: string | null
  status: InvoiceStatus | null
  collection_method: string
  currency: string
  amount_due: number
  amount_paid: number
  amount_remaining: number
  subtotal: number
  total: number
  starting_balance: number
  ending_balance: number
  due_date: string | null
  url: string | null
  provider_type: BillingProviderType
  /** The closed billing period that a draft was made for, and its lines in the currency; summaries have no lines. */
  billing_period_id?: string
  lines?: ChargeLineView[]
  created_at: string
  updated_at: string
}

export interface PaymentMethod {
  id: string
  environment_id: string
  external_id: string
  customer_external_id: string
  company_id: string | null
  payment_method_type: string
  provider_type: BillingProviderType
  account_last4: string | null
  account_name: string | null
  bank_name: string | null
  billing_email: string | null
  billing_name: string | null
  card_brand: string | null
  card_last4: string | null
  card_exp_month: number | null
  card_exp_year: number | null
  created_at: string
  updated_at: string
}

export interface BillingSubscription {
  id: string
  subscription_external_id: string
  customer_external_id: string
  company_id: string | null
  status: string
  currency: string
  interval: string
  total_price: number
  period_start: number
  period_end: number
  trial_end: number | null
  trial_end_setting: BillingSubscriptionTrialEndSetting | null
  cancel_at: number | null
  cancel_at_period_end: boolean
  expired_at: string | null
  application_id: string | null
  default_payment_method_id: string | null
  metadata?: { readonly [member: string]: unknown }
  provider_type: BillingProviderType
  created_at: string
}

export interface BillingSubscriptionView extends BillingSubscription {
  discounts: BillingSubscriptionDiscountView[]
  products: BillingProductForSubscription[]
  latest_invoice?: Invoice
  payment_method?: PaymentMethod
}

export interface CompanySubscription {
  subscription_external_id: string
  customer_external_id: string
  status: string
  currency: string
  interval: string
  total_price: number
  cancel_at_period_end: boolean
  is_initial: boolean
  discounts: BillingSubscriptionDiscountView[]
  products: BillingProductForSubscription[]
  provider_type: BillingProviderType
  latest_invoice?: Invoice
  payment_method?: PaymentMethod
  cancel_at: string | null
  expired_at: string | null
  trial_end: string | null
}

export interface CompanyBillingEntity {
  billing_entity?: Company
  has_own_psp_customer: boolean
}

export interface CompanyBillingEntitySubscription extends CompanySubscription {
  company?: Company
  plan_name: string
}

export interface BillingCoupon {
  id: string
  account_id: string
  environment_id: string
  external_id: string
  name: string
  is_active: boolean
  metadata: { readonly [member: string]: unknown }
  provider_type: BillingProviderType
  times_redeemed: number
  amount_off: number | null
  percent_off: number | null
  currency: string | null
  duration: string | null
  duration_in_months: number | null
  max_redemptions: number | null
  valid_from: string | null
  valid_until: string | null
}

export interface BillingMeter {
  id: string
  /** Spelled as in the interface document. */
  dispaly_name: string
  event_name: string
  event_payload_key: string
  external_price_id: string
  provider_type: BillingProviderType
}

export interface CompanyBillingDetails {
  checkout_settings: {
    collect_address: boolean
    collect_email: boolean
    collect_phone: boolean
    collect_tax_id: boolean
  }
  custom_fields: CheckoutFieldWithValue[]
  tax_ids: CompanyTaxIdView[]
  address?: BillingAddress
  email: string | null
  phone: string | null
}

export interface CheckoutFieldWithValue {
  id: string
  definition_id: string
  name: string
  psp_metadata_key: string
  required: boolean
  helper_text: string | null
  value: string | null
}

export interface CompanyTaxIdView {
  id: string
  type: string
  value: string
  country: string
  verification_status: string | null
}

export interface CustomPlanBilling {
  id: string
  company_id: string
  plan_id: string
  plan_billing_source: 'amendment' | 'custom_plan' | 'manage_plan'
  activation_strategy: 'on_payment' | 'on_publish'
  status: CustomPlanBillingStatus
  days_until_due: number
  send_invoice: boolean
  problems: CheckoutProblem[]
  external_invoice_id: string | null
  psp_invoice_url: string | null
  paid_at: string | null
  published_at: string | null
  billing_cycle_anchor: string | null
  prorate_first_period: boolean | null
  billing_start_date: string | null
  checkout_id: string | null
  migration_id: string | null
  created_at: string
  updated_at: string
}

/** A change of plans agreed for the end of the period (EN-95). */
export interface ScheduledDowngrade {
  id: string
  currency: string
  effective_after: string
  from_plan_id: string
  from_plan_name: string
  from_subscription_price: number
  interval: string
  to_plan_id: string
  to_plan_name: string
  scheduled_interval: string | null
  scheduled_price: number | null
}

export interface ManagePlanResult {
  success: boolean
  company?: CompanyDetail
}

export interface ManagePlanPreview {
  subscription_change_preview?: PreviewSubscriptionChange
}

/** The cost of a change of plans: the charge lines that it makes, in the smallest unit of the subscription's currency. */
export interface PreviewSubscriptionChange {
  amount_off: number
  percent_off: number
  due_now: number
  /** Sum of the lines that are charged. */
  new_charges: number
  /** Credit for unused time, 0 or less: only where the plan group prorates. */
  proration: number
  period_start: string
  trial_end: string | null
  is_scheduled_downgrade: boolean
  scheduled_change_time: string | null
  opt_in_required: boolean
  opt_in_text: string | null
  opt_in_title: string | null
  payment_method_required: boolean
  promo_code_applied: boolean
  /** Features whose usage exceeds the limits of the new plans (EN-87). */
  usage_violations: FeatureUsage[]
  finance?: PreviewSubscriptionFinance
}

export interface PreviewSubscriptionFinance {
  amount_off: number
  percent_off: number
  discount_amount: number
  discounts: PreviewSubscriptionDiscount[]
  due_now: number
  new_charges: number
  proration: number
  total_per_billing_period: number
  period_start: string
  period_end: string
  promo_code_applied: boolean
  tax_require_billing_details: boolean
  upcoming_invoice_line_items: PreviewLineItem[]
  /** When parts of a period are invoiced: with its closing, or at once (`invoice_immediately`). */
  proration_billed_at: string | null
  trial_end: string | null
  tax_amount: number | null
  tax_display_name: string | null
}

export interface PreviewSubscriptionDiscount {
  coupon_name: string
  duration: string
  is_active: boolean
  started_at: string
  ended_at: string | null
  amount_off: number | null
  percent_off: number | null
  currency: string | null
  duration_in_months: number | null
  customer_facing_code: string | null
  promo_code_external_id: string | null
}

export interface PreviewLineItem {
  amount: number
  quantity: number
  description: string
  price_id: string
  proration: boolean
}

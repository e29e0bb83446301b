// Requests and responses of credits: definitions, bundles, grants, plan grants, leases, reservations, the ledger,
// spend policies. Amounts of credits are JSON numbers; amounts of money as in prices.ts.
import typia, { type tags } from 'typia'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBundleStatus,
  BillingCreditBurnStrategy,
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingCreditGrantReason,
  BillingCreditGrantZeroedOutReason,
  BillingCreditLedgerAuthority,
  BillingCreditRolloverPolicy,
  BillingPlanCreditGrantBillingMode,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  BillingPlanCreditGrantResetType,
  BillingProviderType,
  BillingTiersMode,
  BudgetMode,
  BudgetPeriod,
  BudgetUnit,
  CreditEventType,
  CreditTransferReason,
  CreditUsageReason,
  CurrencyCode,
  PlanCreditGrantScaling,
} from './enums.js'
import type { PreviewObject } from './envelope.js'
import type { Keyed } from './keyed.js'
import type { DecimalText, Long, Money } from './long.js'
import type { BillingPrice, BillingPriceView, BillingProduct } from './prices.js'

type Count = number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999>
type Name = string & tags.MinLength<1> & tags.MaxLength<255>
type Label = (string & tags.MaxLength<512>) | null | undefined

export interface CreditCurrencyPriceWrite {
  currency: CurrencyCode
  price_per_unit?: Money | null | undefined
  price_per_unit_decimal?: DecimalText | null | undefined
}

interface CreditTerms {
  burn_strategy?: BillingCreditBurnStrategy | null | undefined
  default_expiry_unit?: BillingCreditExpiryUnit | null | undefined
  default_expiry_unit_count?: Count | null | undefined
  default_rollover_policy?: BillingCreditRolloverPolicy | null | undefined
  /** In the smallest unit of the credit's currency; the decimal form takes precedence. */
  per_unit_price?: Money | null | undefined
  per_unit_price_decimal?: DecimalText | null | undefined
  currency_prices?: (CreditCurrencyPriceWrite[] & tags.MaxItems<50>) | null | undefined
  icon?: (string & tags.MaxLength<64>) | null | undefined
  plural_name?: Label
  singular_name?: Label
}

/** Body of PUT /billing/credits/{credit_id}. Absent members are unchanged, null clears (decision 26). */
export interface CreditUpdate extends CreditTerms {
  name?: Name | undefined
  description?: (string & tags.MaxLength<1024>) | undefined
}

export const parseCreditUpdate = typia.json.createValidateParse<CreditUpdate>()

/** A new credit with its defaults. */
export interface CreditCreate extends CreditTerms {
  name: Name
  description: string & tags.MaxLength<1024>
  currency: CurrencyCode
}

/** Body of POST /billing/credits. */
export interface CreditCreateRequestBody extends Omit<CreditCreate, 'description' | 'currency'> {
  description?: CreditCreate['description'] | null | undefined
  /** Currency of its prices. Default: usd. */
  currency?: CurrencyCode | null | undefined
}

export const parseCreditCreate = typia.json.createValidateParse<CreditCreateRequestBody>()

export interface CreditCurrencyPrice {
  currency: string
  price?: BillingPrice
}

export interface Credit {
  id: string
  name: string
  description: string
  burn_strategy: BillingCreditBurnStrategy
  cost_editable: boolean
  currency_prices: CreditCurrencyPrice[]
  default_expiry_unit: BillingCreditExpiryUnit
  default_expiry_unit_count: number | null
  default_rollover_policy: BillingCreditRolloverPolicy
  icon: string | null
  ledger_authority: BillingCreditLedgerAuthority
  plural_name: string | null
  singular_name: string | null
  price?: BillingPrice
  /** The product, if the credit has a price. */
  product?: BillingProduct
  created_at: string
  updated_at: string
}

/** A credit inside other objects. */
export interface BillingCreditView extends Omit<Credit, 'currency_prices' | 'price' | 'product'> {
  account_id: string
  environment_id: string
  currency_prices: { currency: string; price?: BillingPriceView }[]
  price?: BillingPriceView
  price_per_unit?: number | null
  price_per_unit_decimal?: string | null
  product?: BillingProductRecord
}

/** A product without its prices. */
export interface BillingProductRecord {
  id: string
  account_id: string
  environment_id: string
  external_id: string
  name: string
  is_active: boolean
  provider_type: BillingProviderType
  created_at: string
  updated_at: string
}

interface CreditBundleTerms {
  price_per_unit_decimal?: DecimalText | null | undefined
  status?: BillingCreditBundleStatus | null | undefined
  quantity?: Count | null | undefined
  expiry_type?: BillingCreditExpiryType | null | undefined
  expiry_unit?: BillingCreditExpiryUnit | null | undefined
  expiry_unit_count?: Count | null | undefined
  /** Absent: unchanged; empty: every plan (PB-71). */
  compatible_plan_ids?: (string[] & tags.MaxItems<100>) | null | undefined
  currency_prices?: (CreditCurrencyPriceWrite[] & tags.MaxItems<50>) | null | undefined
}

/** Body of PUT /billing/credits/bundles/{bundle_id}. Absent members are unchanged (decision 26). */
export interface CreditBundleUpdate extends CreditBundleTerms {
  bundle_name?: Name | undefined
  price_per_unit?: Money | undefined
}

export const parseCreditBundleUpdate = typia.json.createValidateParse<CreditBundleUpdate>()

/** A new bundle with its defaults. */
export interface CreditBundleCreate extends CreditBundleTerms {
  bundle_name: Name
  price_per_unit: Money
  credit_id: string
  currency: CurrencyCode
  bundle_type?: 'fixed' | null | undefined
}

/** Body of POST /billing/credits/bundles. */
export interface CreditBundleCreateRequestBody extends Omit<CreditBundleCreate, 'currency'> {
  /** Default: usd. */
  currency?: CurrencyCode | null | undefined
}

export const parseCreditBundleCreate = typia.json.createValidateParse<CreditBundleCreateRequestBody>()

export interface CreditBundle {
  id: string
  name: string
  bundle_type: 'fixed'
  credit_id: string
  credit_name: string
  credit_description?: string
  credit_icon: string | null
  plural_name: string | null
  singular_name: string | null
  billing_invoice_id: string | null
  compatible_plan_ids: string[]
  currency_prices: CreditCurrencyPrice[]
  expiry_type: BillingCreditExpiryType
  expiry_unit: BillingCreditExpiryUnit
  expiry_unit_count: number | null
  has_grants: boolean
  /** Price of the whole bundle in its own currency. */
  price?: BillingPrice
  /** Price of one credit. */
  unit_price?: BillingPrice
  quantity: number | null
  status: BillingCreditBundleStatus
  created_at: string
  updated_at: string
}

/** Body of POST /billing/credits/grants/company. */
export interface CompanyGrantCreate extends Keyed {
  company_id: string
  credit_id: string
  reason: BillingCreditGrantReason
  /** Whole credits. */
  quantity: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_999_999_999>
  credit_bundle_id?: string | null | undefined
  /** Takes precedence over expiry_type. */
  expires_at?: string | null | undefined
  expiry_type?: BillingCreditExpiryType | null | undefined
  expiry_unit?: BillingCreditExpiryUnit | null | undefined
  expiry_unit_count?: Count | null | undefined
  billing_periods_count?: Count | null | undefined
  currency?: CurrencyCode | null | undefined
  /**
   * Repeat the grant at each boundary of `renewal_period`, in addition to what is left, until one grant is zeroed
   * out.
   */
  renewal_enabled?: boolean | null | undefined
  /** Default: billing_period. */
  renewal_period?: BillingPlanCreditGrantResetStart | null | undefined
}

export const parseCompanyGrantCreate = typia.json.createValidateParse<CompanyGrantCreate>()

/** Body of PUT /billing/credits/grants/{grant_id}/zero-out. */
export interface GrantZeroOut extends Keyed {
  reason?: BillingCreditGrantZeroedOutReason | null | undefined
}

export const parseGrantZeroOut = typia.json.createValidateParse<GrantZeroOut>()

/** Credits that moved to or from another grant. */
export interface CreditTransfer {
  id: string
  amount: number
  direction: string
  reason: string
  related_grant_id: string
  created_at: string
}

export interface CreditGrant {
  /** Never sent: transfers are in the ledger. */
  transfers?: CreditTransfer[]
  id: string
  company_id: string
  company_name: string
  credit_id: string
  credit_name: string
  credit_icon: string | null
  grant_reason: BillingCreditGrantReason
  source_label: string
  quantity: number
  quantity_remaining: number
  quantity_used: number
  /** Credits in open holds. */
  reserved: number | null
  settled: number | null
  valid_from: string | null
  expires_at: string | null
  renewal_enabled: boolean
  renewal_period: BillingPlanCreditGrantResetCadence | null
  plan_id: string | null
  plan_name: string | null
  license_name: string | null
  company_license_id: string | null
  credit_bundle_id: string | null
  source_grant_id: string | null
  currency: string | null
  postpaid_charge_amount: number | null
  postpaid_charge_currency: string | null
  postpaid_charged_credits: number | null
  zeroed_out_date: string | null
  zeroed_out_reason: BillingCreditGrantZeroedOutReason | null
  /** Price of one credit, if they were bought. */
  price?: BillingPrice
  created_at: string
  updated_at: string
}

export interface CompanyCreditBalanceRecord {
  credit_id: string
  remaining: number
  reserved: number
  settled: number
  source: BillingProviderType
  total: number | null
}

/** Body of POST /billing/credits/lease. */
export interface LeaseAcquire extends Keyed {
  company_id: string
  credit_type_id: string
  requested_amount: number
  expires_at?: string | null | undefined
}

export const parseLeaseAcquire = typia.json.createValidateParse<LeaseAcquire>()

/** Body of PUT /billing/credits/lease/{lease_id}/extend. */
export interface LeaseExtend extends Keyed {
  additional_amount: number
  expires_at?: string | null | undefined
}

export const parseLeaseExtend = typia.json.createValidateParse<LeaseExtend>()

export interface CreditLease {
  id: string
  company_id: string
  credit_type_id: string
  granted_amount: number
  tracked_amount: number
  expires_at: string
  released_at: string | null
  created_at: string
  updated_at: string
}

/** Body of POST /billing/credits/reservations. */
export interface CreditsReserve extends Keyed {
  company_id: string
  credit_type_id: string
  amount: number
  expires_at?: string | null | undefined
}

export const parseCreditsReserve = typia.json.createValidateParse<CreditsReserve>()

export interface CreditReservation {
  id: string
  company_id: string
  credit_type_id: string
  reserved_amount: number
  settled_amount: number
  expires_at: string
  released_at: string | null
  created_at: string
  updated_at: string
}

export interface CreditGrantTierWrite {
  up_to?: (Long & tags.Minimum<1>) | null | undefined
  per_unit_price?: Money | null | undefined
  per_unit_price_decimal?: DecimalText | null | undefined
}

type Credits = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<9_999_999_999>
type Percent = number & tags.Type<'int32'> & tags.Minimum<1> & tags.Maximum<100>

/** Members that both writes of a plan credit grant accept. */
interface PlanGrantTerms {
  reset_type?: BillingPlanCreditGrantResetType | null | undefined
  scaling?: PlanCreditGrantScaling | null | undefined
  license_id?: string | null | undefined
  company_credit_amount?: Credits | null | undefined
  rollover_percentage?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<100>) | null | undefined
  expiry_type?: BillingCreditExpiryType | null | undefined
  expiry_unit?: BillingCreditExpiryUnit | null | undefined
  expiry_unit_count?: Count | null | undefined
  /**
   * With reset_type no_reset: repeat the grant at each boundary of `renewal_period`, in addition to what is left
   * (decision 30).
   */
  renewal_enabled?: boolean | null | undefined
  /** Default: billing_period. */
  renewal_period?: BillingPlanCreditGrantResetStart | null | undefined
  /** Lifetime of each grant in billing periods, unless expiry_type is given. */
  billing_periods_count?: Count | null | undefined
  billing_mode?: BillingPlanCreditGrantBillingMode | null | undefined
  unit_price?: Money | null | undefined
  unit_price_decimal?: DecimalText | null | undefined
  tier_mode?: BillingTiersMode | null | undefined
  price_tiers?: (CreditGrantTierWrite[] & tags.MaxItems<100>) | null | undefined
  postpaid_enabled?: boolean | null | undefined
  postpaid_rate_per_unit?: Money | null | undefined
  postpaid_rate_per_unit_decimal?: DecimalText | null | undefined
  /** Credits below zero; null: unlimited. */
  overdraft_limit?: (number & tags.Minimum<0> & tags.Maximum<9_999_999_999>) | null | undefined
  arrears_cadence?: BillingArrearsCadence | null | undefined
  arrears_anchor?: BillingArrearsAnchor | null | undefined
  auto_topup_availability?: BillingCreditAutoTopupAvailability | null | undefined
  /** Deprecated, like self_service. Used only if the availability is absent. */
  auto_topup_enabled?: boolean | null | undefined
  auto_topup_self_service?: boolean | null | undefined
  auto_topup_amount?: Count | null | undefined
  auto_topup_amount_type?: 'credit' | null | undefined
  auto_topup_threshold_credits?: Credits | null | undefined
  auto_topup_threshold_percent?: Percent | null | undefined
  auto_topup_expiry_type?: BillingCreditExpiryType | null | undefined
  auto_topup_expiry_unit?: BillingCreditExpiryUnit | null | undefined
  auto_topup_expiry_unit_count?: Count | null | undefined
  can_buy_bundles?: boolean | null | undefined
  /** Takes effect with the publish of the draft, for companies that move to it. */
  apply_to_existing?: boolean | null | undefined
}

/** A credit grant of a new plan. */
export interface NewPlanGrant extends PlanGrantTerms {
  credit_id: string
  credit_amount: Credits
  /** Default: monthly, where it resets. */
  reset_cadence?: BillingPlanCreditGrantResetCadence | null | undefined
  /** Default: billing_period, where it resets. */
  reset_start?: BillingPlanCreditGrantResetStart | null | undefined
}

/** Body of POST /billing/credits/plan-grants. */
export interface PlanGrantCreate extends NewPlanGrant, Keyed {
  plan_id: string
  plan_version_id?: string | null | undefined
}

export const parsePlanGrantCreate = typia.json.createValidateParse<PlanGrantCreate>()
export const validatePlanGrantCreate = typia.createValidate<PlanGrantCreate>()

/**
 * Body of PUT /billing/credits/plan-grants/{plan_grant_id}. Absent members are unchanged, null resets to the
 * default.
 */
export interface PlanGrantUpdate extends PlanGrantTerms, Keyed {
  reset_cadence?: BillingPlanCreditGrantResetCadence | null | undefined
  reset_start?: BillingPlanCreditGrantResetStart | null | undefined
  credit_amount?: Credits | null | undefined
}

export const parsePlanGrantUpdate = typia.json.createValidateParse<PlanGrantUpdate>()
export const validatePlanGrantUpdate = typia.createValidate<PlanGrantUpdate>()

export interface PlanGrantTier {
  from: number
  to: number | null
  per_unit_price: number | null
  per_unit_price_decimal: string | null
}

export interface PlanCreditGrant {
  id: string
  plan_id: string
  plan_name: string
  plan?: PreviewObject
  plan_version_id: string | null
  credit_id: string
  credit_name: string
  credit_plural_name: string | null
  credit_singular_name: string | null
  credit?: Credit
  credit_amount: number
  company_credit_amount: number
  billing_mode: BillingPlanCreditGrantBillingMode
  scaling: PlanCreditGrantScaling
  license_id: string | null
  reset_type: BillingPlanCreditGrantResetType | null
  reset_cadence: BillingPlanCreditGrantResetCadence | null
  reset_start: BillingPlanCreditGrantResetStart | null
  rollover_percentage: number
  /** Present for a repeated grant. */
  renewal_enabled?: boolean
  renewal_period?: BillingPlanCreditGrantResetStart
  expiry_type: BillingCreditExpiryType | null
  expiry_unit: BillingCreditExpiryUnit | null
  expiry_unit_count: number | null
  postpaid_enabled: boolean
  postpaid_rate_per_unit: number | null
  postpaid_rate_per_unit_decimal: string | null
  overdraft_limit: number | null
  arrears_cadence: BillingArrearsCadence | null
  arrears_anchor: BillingArrearsAnchor | null
  auto_topup_availability: BillingCreditAutoTopupAvailability
  auto_topup_enabled: boolean
  auto_topup_self_service: boolean
  auto_topup_amount: number | null
  auto_topup_amount_type: string | null
  auto_topup_threshold_credits: number | null
  auto_topup_threshold_percent: number | null
  auto_topup_expiry_type: BillingCreditExpiryType | null
  auto_topup_expiry_unit: BillingCreditExpiryUnit | null
  auto_topup_expiry_unit_count: number | null
  can_buy_bundles: boolean
  price?: BillingPrice
  unit_price: number | null
  unit_price_decimal: string | null
  tier_mode: BillingTiersMode | null
  price_tiers: PlanGrantTier[]
  created_at: string
  updated_at: string
}

/**
 * Body of POST /billing/credits/spend-policies: names one company, one user or one group, and bounds a single draw
 * (`max_per_draw`) or what is spent in a window (`period` and `max_spend`).
 */
export interface SpendPolicyCreate {
  billing_credit_id: string
  max_per_draw?: SpendBound | null | undefined
  period?: BudgetPeriod | null | undefined
  max_spend?: SpendBound | null | undefined
  /** Unit of `max_spend`: credits (the default), or the smallest unit of `currency` at the credit's price. */
  unit?: BudgetUnit | null | undefined
  currency?: (string & tags.Pattern<'^[A-Za-z]{3}$'>) | null | undefined
  /** hard denies (the default); soft tells webhooks alone. */
  mode?: BudgetMode | null | undefined
  label?: (string & tags.MaxLength<255>) | null | undefined
  company_id?: string | null | undefined
  user_id?: string | null | undefined
  /** Uses whose trait has `group_value`: in `traits` of the event, else of the company. */
  group_trait?: (string & tags.MinLength<1> & tags.MaxLength<255>) | null | undefined
  group_value?: (string & tags.MinLength<1> & tags.MaxLength<255>) | null | undefined
}

type SpendBound = number & tags.ExclusiveMinimum<0> & tags.Maximum<9_999_999_999>

export const parseSpendPolicyCreate = typia.json.createValidateParse<SpendPolicyCreate>()

/** Body of PUT /billing/credits/spend-policies/{spend_policy_id}. */
export interface SpendPolicyUpdate {
  label?: (string & tags.MaxLength<255>) | null | undefined
  max_per_draw?: SpendBound | null | undefined
  max_spend?: SpendBound | null | undefined
  mode?: BudgetMode | null | undefined
}

export const parseSpendPolicyUpdate = typia.json.createValidateParse<SpendPolicyUpdate>()

export interface CreditSpendPolicy {
  id: string
  billing_credit_id: string
  scope_type: 'company' | 'user' | 'group'
  company_id: string | null
  user_id: string | null
  label: string | null
  max_per_draw: number | null
  /** Present on a bound on a window. */
  period?: BudgetPeriod
  max_spend?: number
  unit?: BudgetUnit
  currency?: string
  mode?: BudgetMode
  /** Present on a policy of a group. */
  group_trait?: string
  group_value?: string
  created_at: string
  updated_at: string
}

/** A day of UTC of one credit of one company. */
export interface CreditDay {
  day: string
  /** Credits that events consumed. */
  consumed: number
  /** Remaining at the end of the day, or now; null: nothing moved in the days asked for up to then. */
  balance: number | null
}

export interface CreditLedgerEntry {
  source_id: number
  event_id: string
  environment_id: string
  event_type: CreditEventType
  event_at: string
  amount: number
  billing_credit_id: string
  credit_name: string
  credit?: {
    id: string
    name: string
    description: string | null
    icon: string | null
    plural_name: string | null
    singular_name: string | null
  }
  company_id: string
  company?: { id: string; name: string; logo_url: string | null }
  feature_id: string | null
  feature?: { id: string; name: string; description: string | null; icon: string | null }
  grant_id: string | null
  from_grant_id: string | null
  to_grant_id: string | null
  plan_id: string | null
  billing_credit_bundle_id: string | null
  usage_event_id: string | null
  auto_topup_log_id: string | null
  quantity_consumed: number | null
  usage_reason: CreditUsageReason | null
  transfer_reason: CreditTransferReason | null
  zeroed_out_reason: BillingCreditGrantZeroedOutReason | null
  quantity_remaining_at_zero_out: number | null
  grant_reason: BillingCreditGrantReason | null
  grant_quantity: number | null
  grant_quantity_remaining: number | null
  grant_valid_from: string | null
  grant_expires_at: string | null
  expiry_type: BillingCreditExpiryType | null
  expiry_unit: BillingCreditExpiryUnit | null
  expiry_unit_count: number | null
}

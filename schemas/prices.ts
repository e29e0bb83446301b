// Products, prices and tiers. Amounts are in the smallest unit of their currency; a `_decimal` member carries the
// exact amount (PB-41).
import typia, { type tags } from 'typia'
import type {
  BillingPriceScheme,
  BillingPriceUsageType,
  BillingProductPriceInterval,
  BillingProviderType,
  BillingStrategy,
  BillingTiersMode,
  ChargeType,
  CurrencyCode,
} from './enums.js'
import type { DecimalText, Long, Money } from './long.js'

/** A tier in a request; the last one has no `up_to`. */
export interface PriceTierWrite {
  up_to?: (Long & tags.Minimum<1>) | null | undefined
  flat_amount?: Money | null | undefined
  per_unit_price?: Money | null | undefined
  per_unit_price_decimal?: DecimalText | null | undefined
}

type Tiers = (PriceTierWrite[] & tags.MaxItems<100>) | null | undefined

/** Unit prices in one currency. */
interface UnitPrices {
  monthly_unit_price?: Money | null | undefined
  monthly_unit_price_decimal?: DecimalText | null | undefined
  monthly_price_tiers?: Tiers
  quarterly_unit_price?: Money | null | undefined
  quarterly_unit_price_decimal?: DecimalText | null | undefined
  quarterly_price_tiers?: Tiers
  yearly_unit_price?: Money | null | undefined
  yearly_unit_price_decimal?: DecimalText | null | undefined
  yearly_price_tiers?: Tiers
}

export interface CurrencyPriceWrite extends UnitPrices {
  currency: CurrencyCode
}

/** The prices of an entitlement. */
export interface EntitlementPriceWrite extends UnitPrices {
  /** Currency of the members here; entries of `currency_prices` have their own. */
  currency?: CurrencyCode | null | undefined
  currency_prices?: (CurrencyPriceWrite[] & tags.MaxItems<50>) | null | undefined
  tier_mode?: BillingTiersMode | null | undefined
  /** Deprecated: monthly tiers. */
  price_tiers?: Tiers
  billing_product_id?: string | null | undefined
  overage_billing_product_id?: string | null | undefined
  /** Ids of existing prices. */
  monthly_metered_price_id?: string | null | undefined
  quarterly_metered_price_id?: string | null | undefined
  yearly_metered_price_id?: string | null | undefined
}

export interface PlanCurrencyPriceWrite {
  currency: CurrencyCode
  monthly_price?: Money | null | undefined
  one_time_price?: Money | null | undefined
  quarterly_price?: Money | null | undefined
  yearly_price?: Money | null | undefined
}

/** The prices of a plan. Prices whose cadence does not fit the charge type are removed. */
interface BillingTerms {
  trial_days?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<3_650>) | null | undefined
  billing_strategy?: BillingStrategy | null | undefined
  /** Id of an existing product. */
  billing_product_id?: string | null | undefined
  /** Currency of the members here. */
  currency?: CurrencyCode | null | undefined
  monthly_price?: Money | null | undefined
  one_time_price?: Money | null | undefined
  quarterly_price?: Money | null | undefined
  yearly_price?: Money | null | undefined
  /** Ids of existing prices. */
  monthly_price_id?: string | null | undefined
  one_time_price_id?: string | null | undefined
  quarterly_price_id?: string | null | undefined
  yearly_price_id?: string | null | undefined
  currency_prices?: (PlanCurrencyPriceWrite[] & tags.MaxItems<50>) | null | undefined
}

/** The prices of a new plan. */
export interface BillingProductWrite extends BillingTerms {
  /** Default: recurring or one_time, as the prices say; none without any. */
  charge_type?: ChargeType | undefined
  /** Default: whether there are trial days. */
  is_trialable?: boolean | undefined
}

/** Body of PUT /plans/{plan_id}/billing_products. Absent members are unchanged; null clears (decision 26). */
export interface BillingProductUpdate extends BillingTerms {
  charge_type?: ChargeType | undefined
  is_trialable?: boolean | undefined
}

export const parseBillingProductUpdate = typia.json.createValidateParse<BillingProductUpdate>()

export interface BillingPrice {
  id: string
  external_price_id: string
  currency: string
  interval: BillingProductPriceInterval
  interval_count: number
  price: number
  price_decimal: string | null
  provider_type: BillingProviderType
  scheme: BillingPriceScheme
  nickname: string | null
}

export interface PriceTierView {
  /** Inclusive; null on the last one. */
  up_to: number | null
  flat_amount: number | null
  per_unit_price: number | null
  per_unit_price_decimal: string | null
}

export interface BillingPriceView {
  id: string
  price_id: string
  price_external_id: string
  product_id: string
  product_external_id: string
  product_name: string
  currency: string
  interval: BillingProductPriceInterval
  interval_count: number
  package_size: number
  price: number
  price_decimal: string | null
  price_tier: PriceTierView[]
  tiers_mode: BillingTiersMode | null
  billing_scheme: BillingPriceScheme
  usage_type: BillingPriceUsageType
  is_active: boolean
  provider_type: BillingProviderType
  meter_id: string | null
  meter_event_name: string | null
  meter_event_payload_key: string | null
  nickname: string | null
  created_at: string
  updated_at: string
}

export interface BillingProduct {
  account_id: string
  environment_id: string
  product_id: string
  external_id: string
  name: string
  is_active: boolean
  price: number
  price_decimal: string | null
  quantity: number
  provider_type: BillingProviderType
  /** Deprecated: prices have currencies. */
  currency: string | null
  created_at: string
  updated_at: string
}

export interface BillingProductDetail extends BillingProduct {
  prices: BillingPrice[]
  subscription_count: number
}

/** The prices of a plan, as response to a write. */
export interface BillingProductPlan {
  account_id: string
  environment_id: string
  plan_id: string
  billing_product_id: string
  billing_strategy: BillingStrategy
  charge_type: ChargeType
  controlled_by: BillingProviderType
  is_trialable: boolean
  trial_days: number | null
  monthly_price_id: string | null
  one_time_price_id: string | null
  yearly_price_id: string | null
}

export interface PlanCurrencyPrices {
  currency: string
  monthly_price?: BillingPrice
  one_time_price?: BillingPrice
  quarterly_price?: BillingPrice
  yearly_price?: BillingPrice
}

export interface EntitlementCurrencyPrices {
  currency: string
  monthly_price?: BillingPriceView
  quarterly_price?: BillingPriceView
  yearly_price?: BillingPriceView
}

export interface BillingLinkedResource {
  billing_provider: BillingProviderType
  external_resource_id: string
  originator: BillingProviderType
}

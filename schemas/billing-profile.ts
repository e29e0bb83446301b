// Billing profiles: how a company pays.
import typia, { type tags } from 'typia'
import type {
  BillingCollectionMethod,
  BillingCollector,
  BillingProviderType,
  CurrencyCode,
  PaymentGating,
  ProrationBehavior,
} from './enums.js'
import type { Long } from './long.js'

type Int32 = number & tags.Type<'int32'>

/** Body of PUT /billing/profiles/{billing_profile_id}. */
export interface BillingProfileUpdate {
  collection_method?: BillingCollectionMethod | undefined
  collector?: BillingCollector | null | undefined
  currency?: CurrencyCode | null | undefined
  days_until_due?: (Int32 & tags.Minimum<0> & tags.Maximum<365>) | null | undefined
  gating_days?: (Int32 & tags.Minimum<0> & tags.Maximum<3650>) | null | undefined
  is_default?: boolean | null | undefined
  name?: string | null | undefined
  overdraft_limit?: (Long & tags.Minimum<0>) | null | undefined
  payment_gating?: PaymentGating | null | undefined
  payment_method_id?: string | null | undefined
  proration_behavior?: ProrationBehavior | null | undefined
  purchase_order?: (string & tags.MaxLength<255>) | null | undefined
}

export const parseBillingProfileUpdate = typia.json.createValidateParse<BillingProfileUpdate>()

export interface CompanyBillingProfile {
  id: string
  account_id: string
  environment_id: string
  company_id: string
  name: string | null
  is_default: boolean
  provider_type: BillingProviderType
  collection_method: BillingCollectionMethod
  days_until_due: number | null
  proration_behavior: ProrationBehavior | null
  payment_method_id: string | null
  billing_customer_id: string | null
  gating_days: number
  payment_gating: PaymentGating
  collector: BillingCollector | null
  currency: string | null
  overdraft_limit: number | null
  purchase_order: string | null
  created_at: string
  updated_at: string
}

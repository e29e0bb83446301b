// Usage of entitled features: present, over time, and by user.
import type { Company, CompanyDetail } from './companies.js'
import type { CompanyOverride, PlanEntitlement } from './entitlements.js'
import type {
  BillingCreditGrantReason,
  EntitlementPriceBehavior,
  EntitlementType,
  EntitlementValueType,
  FeatureType,
  MetricPeriod,
  MonthReset,
} from './enums.js'
import type { Feature, FeatureDetail } from './features.js'
import type { FeatureInPlan, Plan } from './plans.js'
import type { BillingPriceView } from './prices.js'
import type { User } from './users.js'

/** Credits consumed by track events, net of refunds; holds do not count. */
export interface CreditUsageAggregation {
  usage_today: number
  /** Monday to Sunday, unlike metric weeks. */
  usage_this_week: number
  usage_this_calendar_month: number
  usage_this_billing_period: number
}

export interface CreditGrantDetail {
  grant_reason: BillingCreditGrantReason
  quantity: number
  expires_at: string | null
  credit_type_icon: string | null
}

/** An entitled feature of a company with its present figures. */
export interface FeatureUsage {
  /** The value that a check of the feature's flag returns. */
  access: boolean
  /** null: unlimited, or paid by credit. */
  allocation: number | null
  allocation_type: EntitlementValueType
  /** Never sent: credits have no icons. */
  credit_type_icon?: string | null
  entitlement_id: string
  entitlement_type: EntitlementType
  entitlement_source: 'plan' | 'company_override'
  entitlement_expiration_date: string | null
  has_valid_allocation: boolean
  is_unlimited: boolean
  /** null: not measured, or paid by credit. */
  usage: number | null
  /** For overage: the included amount. */
  soft_limit: number | null
  /** For overage: the soft limit; for tiers: the first tier's bound; else the allocation. */
  effective_limit: number | null
  /** Price of the next unit. */
  effective_price: number | null
  /** Percentage of the effective limit; may exceed 100. */
  percent_used: number | null
  /** Units above the soft limit. */
  overuse: number | null
  price_behavior: EntitlementPriceBehavior | null
  period: MetricPeriod | null
  month_reset: MonthReset | null
  metric_reset_at: string | null
  credit_consumption_rate: number | null
  credit_remaining: number | null
  credit_used: number | null
  credit_total: number | null
  /** Reason of the oldest grant with credits left. */
  credit_grant_reason: BillingCreditGrantReason | null
  /** Credits of the listed grants, by reason. */
  credit_grant_counts?: Record<string, number>
  /** Grants that can be drawn from, oldest first. */
  credit_grant_details?: CreditGrantDetail[]
  credit_usage_aggregation?: CreditUsageAggregation
  feature?: FeatureInPlan
  plan?: Plan
  plan_entitlement?: PlanEntitlement
  company_override?: CompanyOverride
  monthly_usage_based_price?: BillingPriceView
  quarterly_usage_based_price?: BillingPriceView
  yearly_usage_based_price?: BillingPriceView
}

/** Response of GET /usage-by-company. */
export interface FeatureUsageDetail {
  features: FeatureUsage[]
}

/** The value just before `timestamp`, counted from `period_start`. */
export interface UsageTimeSeriesPoint {
  timestamp: string
  usage: number
  /** Start of the metric window; null if usage is never reset. */
  period_start: string | null
  period_end: string | null
}

export interface LimitTimeSeriesPoint {
  effective_at: string
  is_soft_limit: boolean
  limit_source: EntitlementType
  /** null: unlimited. */
  limit_value: number | null
  plan_id: string | null
  price_behavior: EntitlementPriceBehavior | null
}

export interface FeatureUsageTimeSeries {
  feature_id: string
  feature_type: FeatureType
  period_type: MetricPeriod | null
  limits: LimitTimeSeriesPoint[]
  usage_points: UsageTimeSeriesPoint[]
}

/** Usage in [period_start, period_end); rows can be summed. */
export interface FeatureUsageHistory {
  company_id: string
  feature_id: string
  event_subtype: string
  period_start: string
  period_end: string
  usage: number
}

export interface UserFeatureUsage {
  /** null: events without a user. */
  user_id: string | null
  user?: User
  feature?: Feature
  value: number
  /** Share of the company's total, 0 to 1. */
  share: number
  last_seen: string
}

export interface UserCreditUsage {
  user_id: string | null
  user?: User
  billing_credit_id: string
  credit_name: string
  /** Net of refunds. */
  credits_used: number
  share: number
}

export interface UserUsageByCompany {
  start_time: string
  /** Exclusive. */
  end_time: string
  rows: UserFeatureUsage[]
  credits: UserCreditUsage[]
}

export interface UserDailyUsagePoint {
  date: string
  value: number
  feature?: Feature
}

export interface UserDailyCreditPoint {
  date: string
  credits_used: number
}

export interface UserUsageDetail {
  start_time: string
  end_time: string
  user?: User
  feature_totals: UserFeatureUsage[]
  daily_points: UserDailyUsagePoint[]
  credits: UserCreditUsage[]
  daily_credit_points: UserDailyCreditPoint[]
}

/** A company entitled to a feature. */
export interface FeatureCompany extends FeatureUsage {
  company?: Company | CompanyDetail
}

/** A user of an entitled company; the figures are the company's. */
export interface FeatureCompanyUser {
  access: boolean
  allocation: number | null
  allocation_type: EntitlementValueType
  entitlement_id: string
  entitlement_type: EntitlementType
  usage: number | null
  period: MetricPeriod | null
  month_reset: MonthReset | null
  metric_reset_at: string | null
  company?: Company | CompanyDetail
  feature?: FeatureDetail
  plan?: Plan
  user?: User
}

// Usage rows in their wire form, from the core's figures and the stored feature, plan and override.
import type { CompanyOverride, PlanEntitlement } from '../../../schemas/entitlements.js'
import type { BillingCreditGrantReason } from '../../../schemas/enums.js'
import type { FeatureInPlan } from '../../../schemas/plans.js'
import type { CreditGrantDetail, CreditUsageAggregation, FeatureUsage } from '../../../schemas/usage.js'
import type { Company } from '../../core/company/company-state.js'
import { amountToNumber } from '../../core/credits/amount.js'
import { usable } from '../../core/credits/grant.js'
import type { CatalogData } from '../../core/definitions.js'
import type { FeatureUsage as FeatureUsageRow } from '../../core/entitlements/feature.js'
import { long } from '../kit/long.js'
import { isoTimeOrNull } from '../kit/time.js'

/** Data shown beside the figures, by id. */
export interface Surroundings {
  readonly features: ReadonlyMap<string, FeatureInPlan>
  readonly entitlements: ReadonlyMap<string, PlanMembers>
  readonly overrides: ReadonlyMap<string, CompanyOverride>
}

/** Data of the company shown beside the figures. */
export interface CompanySurroundings {
  /** By credit id. */
  readonly grants: ReadonlyMap<string, readonly CreditGrantDetail[]>
  /** By credit id; absent unless requested. */
  readonly aggregations: ReadonlyMap<string, CreditUsageAggregation>
}

/** One row. source: US-5…7 */
export function featureUsageView(
  row: FeatureUsageRow,
  surroundings: Surroundings,
  company: CompanySurroundings,
): FeatureUsage {
  const feature = surroundings.features.get(row.featureId)
  const entitlement = surroundings.entitlements.get(row.entitlementId)
  const override = surroundings.overrides.get(row.entitlementId)
  return {
    access: row.access,
    allocation: long(row.allocation),
    allocation_type: row.allocationType,
    entitlement_id: row.entitlementId,
    entitlement_type: row.entitlementType,
    entitlement_source: row.entitlementType === 'company_override' ? 'company_override' : 'plan',
    entitlement_expiration_date: isoTimeOrNull(row.entitlementExpiresAtMs),
    has_valid_allocation: row.hasValidAllocation,
    is_unlimited: row.isUnlimited,
    usage: long(row.usage),
    soft_limit: long(row.softLimit),
    effective_limit: long(row.effectiveLimit),
    effective_price: row.effectivePrice,
    percent_used: row.percentUsed,
    overuse: long(row.overuse),
    price_behavior: row.priceBehavior,
    period: row.period,
    month_reset: row.monthReset,
    metric_reset_at: isoTimeOrNull(row.metricResetAtMs),
    credit_consumption_rate: row.creditConsumptionRate,
    credit_remaining: row.creditRemaining,
    credit_used: row.creditUsed,
    credit_total: row.creditTotal,
    ...ofCredit(row.creditId, company),
    ...(feature && { feature }),
    ...entitlement,
    ...(override && { company_override: override }),
  }
}

function ofCredit(creditId: string | null, { grants, aggregations }: CompanySurroundings) {
  if (creditId === null) return { credit_grant_reason: null }
  const details = grants.get(creditId) ?? []
  const counts = new Map<BillingCreditGrantReason, number>()
  for (const { grant_reason, quantity } of details)
    counts.set(grant_reason, (counts.get(grant_reason) ?? 0) + quantity)
  const aggregation = aggregations.get(creditId)
  return {
    credit_grant_reason: details[0]?.grant_reason ?? null,
    credit_grant_counts: Object.fromEntries(counts),
    credit_grant_details: [...details],
    ...(aggregation && { credit_usage_aggregation: aggregation }),
  }
}

/** Members of a usage row that repeat its plan entitlement. */
export type PlanMembers = Pick<
  FeatureUsage,
  | 'plan_entitlement'
  | 'plan'
  | 'monthly_usage_based_price'
  | 'quarterly_usage_based_price'
  | 'yearly_usage_based_price'
>

export function planMembers(entitlement: PlanEntitlement): PlanMembers {
  const { plan, metered_monthly_price, metered_quarterly_price, metered_yearly_price } = entitlement
  return {
    plan_entitlement: entitlement,
    ...(plan && { plan }),
    ...(metered_monthly_price && { monthly_usage_based_price: metered_monthly_price }),
    ...(metered_quarterly_price && { quarterly_usage_based_price: metered_quarterly_price }),
    ...(metered_yearly_price && { yearly_usage_based_price: metered_yearly_price }),
  }
}

/** The company's grants that can be drawn from now, oldest first, by credit id. */
export function grantDetails(
  company: Company,
  catalog: CatalogData,
  nowMs: number,
): Map<string, CreditGrantDetail[]> {
  return new Map(
    [...company.credits].map(([creditId, { grants }]) => {
      const icon = catalog.credits.find(credit => credit.id === creditId)?.icon ?? null
      const details = grants
        .filter(grant => usable(grant, nowMs))
        .map(grant => ({
          grant_reason: grant.reason,
          quantity: amountToNumber(grant.quantity),
          expires_at: isoTimeOrNull(grant.expiresAtMs),
          credit_type_icon: icon,
        }))
      return [creditId, details]
    }),
  )
}

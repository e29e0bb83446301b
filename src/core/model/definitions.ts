// Definitions of an environment as plain data: features, flags, rules, plans, entitlements, credits, prices.
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBurnStrategy,
  BillingCreditExpiryType,
  BillingCreditExpiryUnit,
  BillingCreditLedgerAuthority,
  BillingCreditRolloverPolicy,
  BillingPlanCreditGrantBillingMode,
  BillingPlanCreditGrantResetCadence,
  BillingPlanCreditGrantResetStart,
  BillingPlanCreditGrantResetType,
  BillingTiersMode,
  BudgetPeriod,
  ChargeType,
  ComparableOperator,
  ComparableType,
  ConditionType,
  EntitlementPriceBehavior,
  EntitlementValueType,
  EntityType,
  EnvironmentType,
  FeatureEventSource,
  FeatureType,
  MetricPeriod,
  MonthReset,
  PlanCreditGrantScaling,
  PlanType,
  RuleType,
  TraitType,
  WebhookRequestType,
} from '../../../schemas/enums.js'
import type { Quantity, StoredQuantity } from '../values/quantity.js'

/** All definitions of one environment at one version. Immutable; structured-cloneable. */
export interface CatalogData {
  readonly environmentId: string
  readonly accountId: string
  readonly environmentType: EnvironmentType
  /** Raised by every transaction that changes a definition. */
  readonly version: number
  readonly traits: readonly TraitDef[]
  readonly features: readonly FeatureDef[]
  readonly flags: readonly FlagDef[]
  readonly plans: readonly PlanDef[]
  readonly credits: readonly CreditDef[]
  readonly spendPolicies: readonly SpendPolicyDef[]
  readonly initialPlanId: string | null
  readonly fallbackPlanId: string | null
  readonly trialExpiryPlanId: string | null
  /** Domain events that actors publish; absent or null: none. */
  readonly watches?: Watches | null
}

/** Event types that an environment's webhooks ask for, among those that actors decide (company/domain-events.ts). */
export interface Watches {
  readonly types: readonly WebhookRequestType[]
  /** Features whose limits matter; null: all. */
  readonly featureIds: readonly string[] | null
  /** Credits whose limits matter; null: all. */
  readonly creditIds: readonly string[] | null
}

/** A trait definition. `name` is the hierarchy joined by "."; its identity within (environment, entity type). */
export interface TraitDef {
  readonly id: string
  readonly entityType: EntityType
  readonly name: string
  readonly traitType: TraitType
}

export interface FeatureDef {
  readonly id: string
  readonly name: string
  readonly featureType: FeatureType
  readonly eventSource: FeatureEventSource
  readonly eventSubtype: string | null
  /** Trait definition that carries the usage of a trait or license feature. */
  readonly traitId: string | null
  /** Trait definition that carries the pay-in-advance quantity. */
  readonly usageLimitTraitId: string | null
  readonly licenseId: string | null
}

export interface FlagDef {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly defaultValue: boolean
  readonly featureId: string | null
  /** Rules written by callers; entitlement rules are generated at compile time (EN-5). */
  readonly rules: readonly RuleDef[]
}

export interface RuleDef {
  readonly id: string
  readonly name: string
  readonly ruleType: RuleType
  readonly priority: Quantity
  readonly value: boolean
  /** The flag a company- or user-scoped rule belongs to (FE-14); null in a flag's own list. */
  readonly flagId: string | null
  readonly conditions: readonly ConditionDef[]
  readonly conditionGroups: readonly (readonly ConditionDef[])[]
}

export interface ConditionDef {
  readonly id: string
  readonly conditionType: ConditionType
  readonly operator: ComparableOperator
  readonly resourceIds: readonly string[]
  readonly traitId: string | null
  readonly traitValue: string
  /** How a trait condition compares; absent: as the type of the trait says (FE-69). */
  readonly comparableType?: ComparableType | null
  readonly comparisonTraitId: string | null
  readonly eventSubtype: string | null
  readonly metricPeriod: MetricPeriod | null
  readonly monthReset: MonthReset | null
  readonly metricValue: Quantity | null
  readonly creditId: string | null
  readonly consumptionRate: number | null
  readonly quantityRates: Readonly<Record<string, number>> | null
}

export interface PlanDef {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly planType: PlanType
  /** Custom plans belong to one company (PB-13). */
  readonly companyId: string | null
  /** Published and archived versions; drafts grant nothing (PB-4) and are not here. */
  readonly versions: readonly PlanVersionDef[]
  readonly publishedVersionId: string | null
}

export interface PlanVersionDef {
  readonly id: string
  readonly version: number
  readonly status: 'published' | 'archived'
  readonly billingProductId: string | null
  readonly chargeType: ChargeType
  readonly isTrialable: boolean
  readonly trialDays: number | null
  /** The prices at which the service bills it; absent in catalogs made by hand. */
  readonly prices?: readonly SoldPriceDef[]
  readonly entitlements: readonly EntitlementDef[]
  readonly creditGrants: readonly PlanCreditGrantDef[]
}

/** A price at which a version, or a unit that it sells in advance, is sold. */
export interface SoldPriceDef {
  readonly id: string
  readonly currency: string
  /** Null: paid once. */
  readonly months: number | null
  readonly productId: string | null
}

/** The grant of one feature by one plan version or override (EN-3). Value members of other types are null. */
export interface EntitlementDef {
  readonly id: string
  readonly featureId: string
  readonly ruleId: string
  readonly ruleIdUsageExceeded: string | null
  readonly valueType: EntitlementValueType
  readonly valueBool: boolean | null
  readonly valueNumeric: Quantity | null
  readonly valueTraitId: string | null
  readonly valueCreditId: string | null
  readonly consumptionRate: number | null
  readonly quantityRates: Readonly<Record<string, number>> | null
  readonly metricPeriod: MetricPeriod | null
  readonly monthReset: MonthReset | null
  readonly priceBehavior: EntitlementPriceBehavior | null
  /** For units bought in advance: their prices, and the quantity that a custom plan commits to (EN-35). */
  readonly prices?: readonly SoldPriceDef[]
  readonly committed?: number
  readonly softLimit: Quantity | null
  readonly tiers: readonly PriceTier[] | null
  readonly tiersMode: BillingTiersMode | null
  readonly unitPriceDecimal: string | null
  readonly warningTiers: readonly { readonly key: string; readonly value: number }[]
}

/** One price tier; amounts in the smallest unit, decimals as text where finer (PB-40, PB-41). */
export interface PriceTier {
  /** Inclusive; null on the last tier. */
  readonly upTo: Quantity | null
  readonly flatAmount: Quantity
  readonly perUnitPrice: Quantity
  readonly perUnitPriceDecimal: string | null
}

export interface CreditDef {
  readonly id: string
  readonly name: string
  /** These four are shown with the plans of a company. */
  readonly description?: string
  readonly icon?: string | null
  readonly pluralName?: string | null
  readonly singularName?: string | null
  readonly burnStrategy: BillingCreditBurnStrategy
  readonly ledgerAuthority: BillingCreditLedgerAuthority
  readonly defaultExpiryUnit: BillingCreditExpiryUnit
  readonly defaultExpiryUnitCount: number | null
  readonly defaultRolloverPolicy: BillingCreditRolloverPolicy
  /** Has a unit price; absent: yes. A credit without one cannot be topped up by a payment (CR-55). */
  readonly priced?: boolean
}

export interface PlanCreditGrantDef {
  readonly id: string
  readonly creditId: string
  readonly creditAmount: number
  readonly companyCreditAmount: number
  readonly scaling: PlanCreditGrantScaling
  readonly licenseId: string | null
  readonly billingMode: BillingPlanCreditGrantBillingMode
  readonly resetType: BillingPlanCreditGrantResetType
  readonly resetCadence: BillingPlanCreditGrantResetCadence | null
  readonly resetStart: BillingPlanCreditGrantResetStart | null
  readonly rolloverPercentage: number
  /** Renewed at each boundary of this period, beside the rest (decision 30); absent or null: not renewed. */
  readonly renewalPeriod?: BillingPlanCreditGrantResetStart | null
  readonly expiryType: BillingCreditExpiryType | null
  readonly expiryUnit: BillingCreditExpiryUnit | null
  readonly expiryUnitCount: number | null
  readonly postpaidEnabled: boolean
  /** Decimal text of credits; null = no floor (CR-51). */
  readonly overdraftLimit: string | null
  readonly arrearsCadence: BillingArrearsCadence | null
  readonly arrearsAnchor: BillingArrearsAnchor | null
  readonly autoTopupAvailability: BillingCreditAutoTopupAvailability
  readonly autoTopupAmount: number | null
  readonly autoTopupThresholdCredits: number | null
  readonly autoTopupThresholdPercent: number | null
  readonly autoTopupExpiryType: BillingCreditExpiryType | null
  readonly autoTopupExpiryUnit: BillingCreditExpiryUnit | null
  readonly autoTopupExpiryUnitCount: number | null
  /** Shown with the plans of a company; nothing is decided by them. */
  readonly canBuyBundles?: boolean
  readonly postpaidRatePerUnit?: Quantity | null
  readonly postpaidRatePerUnitDecimal?: string | null
  readonly priceId?: string | null
  readonly createdAtMs?: number
  readonly updatedAtMs?: number
}

export interface SpendPolicyDef {
  readonly id: string
  readonly creditId: string
  readonly companyId: string | null
  readonly userId: string | null
  /** Decimal text of credits; null: it bounds a window. */
  readonly maxPerDraw: string | null
  /** In place of company and user: uses whose trait has this value. Absent or null: none. */
  readonly group?: { readonly trait: string; readonly value: string } | null
  /** Absent or null: it bounds single draws. */
  readonly window?: BudgetTerms | null
}

/** The bound of a window. */
interface BudgetTerms {
  readonly period: BudgetPeriod
  /** Decimal text of credits; a bound in money is converted at the credit's price. */
  readonly max: string
  /** Denies; else it is only told. */
  readonly hard: boolean
  readonly label: string | null
}

/** An override's entitlement, which has no price, as facts, snapshots and Postgres keep it: JSON knows no bigint. */
export interface StoredEntitlement
  extends Omit<EntitlementDef, 'valueNumeric' | 'softLimit' | 'tiers' | 'prices' | 'committed'> {
  readonly valueNumeric: StoredQuantity | null
  readonly softLimit: null
  readonly tiers: null
}

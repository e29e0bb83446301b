// Rows of plans, and the loader of an environment's plans. Drafts grant nothing and are not loaded (PB-4).
import type { Sql } from 'postgres'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingProviderType,
  BillingStrategy,
  BillingTiersMode,
  ChargeType,
  EntitlementPriceBehavior,
  EntitlementValueType,
  IconColor,
  MetricPeriod,
  MonthReset,
  PlanType,
  PlanVersionStatus,
} from '../../schemas/enums.js'
import type {
  EntitlementDef,
  PlanCreditGrantDef,
  PlanDef,
  PlanVersionDef,
  SoldPriceDef,
} from '../core/model/definitions.js'
import { type Quantity, quantityOrNull } from '../core/values/quantity.js'
import type { LoadedEnvironment, LoadedPlans } from './load.js'
import { cadenceMonths, leadingPrice, priceTiers, type StoredPrice, unitPriceDecimal } from './prices.js'

/** A row of plans. */
export interface PlanRow {
  readonly id: string
  readonly account_id: string
  readonly plan_type: PlanType
  readonly name: string
  readonly description: string
  readonly icon: IconColor
  readonly company_id: string | null
  readonly environment_id: string | null
  readonly copied_from_plan_id: string | null
  readonly controlled_by: BillingProviderType
  readonly external_resource_id: string | null
  readonly external_resource_version: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly deleted_at: Date | null
}

/** A row of plan_versions. */
export interface PlanVersionRow {
  readonly id: string
  readonly plan_id: string
  readonly environment_id: string
  readonly version: number
  readonly status: PlanVersionStatus
  readonly name: string
  readonly description: string
  readonly icon: IconColor
  readonly charge_type: ChargeType
  readonly billing_strategy: BillingStrategy
  readonly billing_product_id: string | null
  readonly is_trialable: boolean
  readonly trial_days: number | null
  readonly currency: string
  readonly prices: readonly StoredPrice[]
  readonly created_at: Date
  readonly updated_at: Date
  readonly published_at: Date | null
  readonly deleted_at: Date | null
}

export interface StoredWarningTier {
  readonly id: string
  readonly key: string
  readonly value: number
}

/** A row of plan_entitlements. */
export interface EntitlementRow {
  readonly id: string
  readonly environment_id: string
  readonly plan_id: string
  readonly plan_version_id: string
  readonly feature_id: string
  readonly rule_id: string
  readonly rule_id_usage_exceeded: string | null
  readonly value_type: EntitlementValueType
  readonly value_bool: boolean | null
  readonly value_numeric: string | Quantity | null
  readonly value_trait_id: string | null
  readonly value_credit_id: string | null
  readonly consumption_rate: number | null
  readonly quantity_rates: Readonly<Record<string, number>> | null
  readonly metric_period: MetricPeriod | null
  readonly metric_period_month_reset: MonthReset | null
  readonly price_behavior: EntitlementPriceBehavior | null
  readonly soft_limit: string | Quantity | null
  readonly usage_quantity: string | Quantity | null
  readonly billing_threshold: string | number | null
  readonly overage_billing_cadence: BillingArrearsCadence | null
  readonly overage_invoice_anchor: BillingArrearsAnchor | null
  readonly billing_product_id: string | null
  readonly overage_billing_product_id: string | null
  readonly tier_mode: BillingTiersMode | null
  readonly prices: readonly StoredPrice[]
  readonly warning_tiers: readonly StoredWarningTier[]
  readonly billing_provider: BillingProviderType | null
  readonly external_resource_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Loads credit grants of plan versions, by version id. */
type PlanCreditGrantLoader = (
  sql: Sql,
  environment: LoadedEnvironment,
) => Promise<ReadonlyMap<string, readonly PlanCreditGrantDef[]>>

/**
 * The loader of plans.
 *
 * creditGrants  loads the credit grants of the versions; absent: none.
 */
export function plansLoader(creditGrants?: PlanCreditGrantLoader) {
  return async (sql: Sql, environment: LoadedEnvironment): Promise<LoadedPlans> => {
    const plans = await sql<PlanRow[]>`
      select * from plans
      where account_id = ${environment.accountId} and deleted_at is null
        and (environment_id is null or environment_id = ${environment.id})
      order by created_at, id`
    const versions = await sql<PlanVersionRow[]>`
      select * from plan_versions
      where environment_id = ${environment.id} and status <> 'draft' and deleted_at is null
      order by plan_id, version`
    const entitlements = await sql<EntitlementRow[]>`
      select e.* from plan_entitlements e join plan_versions v on v.id = e.plan_version_id
      where e.environment_id = ${environment.id} and v.status <> 'draft' and v.deleted_at is null
      order by e.plan_version_id, e.created_at, e.id`
    const grants = await creditGrants?.(sql, environment)
    const [group] = await sql<GroupRow[]>`
      select initial_plan_id, fallback_plan_id, trial_expiry_plan_id from plan_groups
      where environment_id = ${environment.id}`
    const versionsOf = grouped(versions, version => version.plan_id)
    const entitlementsOf = grouped(entitlements, entitlement => entitlement.plan_version_id)
    return {
      plans: plans.map(plan => {
        const own = versionsOf.get(plan.id) ?? []
        return planDef(
          plan,
          own,
          own.map(version =>
            versionDef(plan, version, entitlementsOf.get(version.id) ?? [], grants?.get(version.id) ?? []),
          ),
        )
      }),
      initialPlanId: group?.initial_plan_id ?? null,
      fallbackPlanId: group?.fallback_plan_id ?? null,
      trialExpiryPlanId: group?.trial_expiry_plan_id ?? null,
    }
  }
}

/** A version as it would be if it were published now: for previews of a draft. */
export async function draftDef(sql: Sql, plan: PlanRow, version: PlanVersionRow): Promise<PlanVersionDef> {
  const entitlements = await sql<EntitlementRow[]>`
    select * from plan_entitlements where plan_version_id = ${version.id} order by created_at, id`
  return versionDef(plan, version, entitlements, [])
}

interface GroupRow {
  readonly initial_plan_id: string | null
  readonly fallback_plan_id: string | null
  readonly trial_expiry_plan_id: string | null
}

function planDef(
  row: PlanRow,
  rows: readonly PlanVersionRow[],
  versions: readonly PlanVersionDef[],
): PlanDef {
  const published = rows.find(version => version.status === 'published')
  return {
    id: row.id,
    name: published?.name ?? row.name,
    description: published?.description ?? row.description,
    planType: row.plan_type,
    companyId: row.company_id,
    versions,
    publishedVersionId: published?.id ?? null,
  }
}

function versionDef(
  plan: PlanRow,
  row: PlanVersionRow,
  entitlements: readonly EntitlementRow[],
  creditGrants: readonly PlanCreditGrantDef[],
): PlanVersionDef {
  return {
    id: row.id,
    version: row.version,
    status: row.status === 'published' ? 'published' : 'archived',
    billingProductId: row.billing_product_id,
    chargeType: row.charge_type,
    isTrialable: row.is_trialable,
    trialDays: row.trial_days,
    prices: soldPrices(row.prices, row.billing_product_id),
    entitlements: entitlements.map(entitlement => ({
      ...entitlementDef(entitlement, row.currency),
      ...soldInAdvance(plan, entitlement),
    })),
    creditGrants,
  }
}

function soldPrices(prices: readonly StoredPrice[], productId: string | null): SoldPriceDef[] {
  return prices.map(price => ({
    id: price.id,
    currency: price.currency,
    months: cadenceMonths(price.cadence),
    productId: price.product_id ?? productId,
  }))
}

/** Prices and commitment of units bought in advance (EN-35); nothing for other entitlements. */
function soldInAdvance(
  { company_id: companyId }: PlanRow,
  { price_behavior, prices, billing_product_id, usage_quantity }: EntitlementRow,
): Pick<EntitlementDef, 'committed' | 'prices'> {
  if (price_behavior !== 'pay_in_advance') return {}
  const committed = companyId === null ? 0 : Number(usage_quantity ?? 0)
  return { prices: soldPrices(prices, billing_product_id), ...(committed > 0 && { committed }) }
}

/** The core's form of a stored entitlement. `currency`: preferred currency of its tiers and unit price. */
function entitlementDef(row: EntitlementRow, currency: string): EntitlementDef {
  const price = leadingPrice(row.prices, currency)
  return {
    id: row.id,
    featureId: row.feature_id,
    ruleId: row.rule_id,
    ruleIdUsageExceeded: row.rule_id_usage_exceeded,
    valueType: row.value_type,
    valueBool: row.value_bool,
    valueNumeric: quantityOrNull(row.value_numeric),
    valueTraitId: row.value_trait_id,
    valueCreditId: row.value_credit_id,
    consumptionRate: row.consumption_rate,
    quantityRates: row.quantity_rates,
    metricPeriod: row.metric_period,
    monthReset: row.metric_period_month_reset,
    priceBehavior: row.price_behavior,
    softLimit: quantityOrNull(row.soft_limit),
    tiers: priceTiers(price),
    tiersMode: price?.tiers_mode ?? null,
    unitPriceDecimal: unitPriceDecimal(price),
    warningTiers: row.warning_tiers.map(({ key, value }) => ({ key, value })),
  }
}

/** A bigint column as a number: the driver returns text. */
export function numberOrNull(value: string | number | null): number | null {
  return value === null ? null : Number(value)
}

/** Rows grouped by a key, in their order. */
export function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const others = found.get(keyOf(row))
    if (others) others.push(row)
    else found.set(keyOf(row), [row])
  }
  return found
}

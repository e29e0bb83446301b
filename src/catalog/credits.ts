// Rows of credits: definitions, bundles, grants of plan versions, spend policies; and the loader of the part that
// checks and draws need.
import type { Sql } from 'postgres'
import type {
  BillingArrearsAnchor,
  BillingArrearsCadence,
  BillingCreditAutoTopupAvailability,
  BillingCreditBundleStatus,
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
  BudgetMode,
  BudgetPeriod,
  BudgetUnit,
  PlanCreditGrantScaling,
} from '../../schemas/enums.js'
import type { CreditDef, PlanCreditGrantDef, SpendPolicyDef } from '../core/model/definitions.js'
import { amountToDecimal, parseDecimal } from '../core/values/amount.js'
import { derivedId } from '../core/values/id.js'
import { quantityOrNull, readQuantity, type StoredQuantity, storedQuantity } from '../core/values/quantity.js'
import type { LoadedCredits, LoadedEnvironment } from './load.js'
import { grouped, numberOrNull } from './plans.js'
import { type StoredPrice, unitPriceDecimal } from './prices.js'

/** A row of billing_credits. */
export interface CreditRow {
  readonly id: string
  readonly environment_id: string
  readonly name: string
  readonly description: string
  readonly burn_strategy: BillingCreditBurnStrategy
  readonly ledger_authority: BillingCreditLedgerAuthority
  readonly default_expiry_unit: BillingCreditExpiryUnit
  readonly default_expiry_unit_count: string | number | null
  readonly default_rollover_policy: BillingCreditRolloverPolicy
  readonly icon: string | null
  readonly plural_name: string | null
  readonly singular_name: string | null
  readonly currency: string
  readonly prices: readonly StoredPrice[]
  readonly created_at: Date
  readonly updated_at: Date
  readonly deleted_at: Date | null
}

/** A row of credit_bundles. */
export interface CreditBundleRow {
  readonly id: string
  readonly environment_id: string
  readonly credit_id: string
  readonly name: string
  readonly bundle_type: 'fixed'
  readonly status: BillingCreditBundleStatus
  readonly quantity: string | number | null
  readonly expiry_type: BillingCreditExpiryType
  readonly expiry_unit: BillingCreditExpiryUnit
  readonly expiry_unit_count: string | number | null
  readonly compatible_plan_ids: readonly string[]
  readonly currency: string
  readonly prices: readonly StoredPrice[]
  readonly created_at: Date
  readonly updated_at: Date
  readonly deleted_at: Date | null
}

/** A price tier of plan credits; `up_to` null on the last. */
export interface StoredCreditTier {
  readonly up_to: StoredQuantity | null
  readonly per_unit_price: StoredQuantity
  readonly per_unit_price_decimal: string | null
}

/** A row of plan_credit_grants. */
export interface PlanCreditGrantRow {
  readonly id: string
  /** Shared by a grant and its copies on later versions. */
  readonly origin_id: string
  readonly environment_id: string
  readonly plan_id: string
  readonly plan_version_id: string
  readonly credit_id: string
  readonly billing_mode: BillingPlanCreditGrantBillingMode
  readonly scaling: PlanCreditGrantScaling
  readonly license_id: string | null
  readonly credit_amount: string | number
  readonly company_credit_amount: string | number
  readonly reset_type: BillingPlanCreditGrantResetType
  readonly reset_cadence: BillingPlanCreditGrantResetCadence | null
  readonly reset_start: BillingPlanCreditGrantResetStart | null
  readonly rollover_percentage: number
  readonly renewal_enabled: boolean
  readonly renewal_period: BillingPlanCreditGrantResetStart | null
  readonly expiry_type: BillingCreditExpiryType | null
  readonly expiry_unit: BillingCreditExpiryUnit | null
  readonly expiry_unit_count: string | number | null
  readonly postpaid_enabled: boolean
  readonly postpaid_rate_per_unit: string | number | null
  readonly postpaid_rate_per_unit_decimal: string | null
  readonly overdraft_limit: string | null
  readonly arrears_cadence: BillingArrearsCadence | null
  readonly arrears_anchor: BillingArrearsAnchor | null
  readonly auto_topup_availability: BillingCreditAutoTopupAvailability
  readonly auto_topup_amount: string | number | null
  readonly auto_topup_amount_type: string | null
  readonly auto_topup_threshold_credits: string | number | null
  readonly auto_topup_threshold_percent: number | null
  readonly auto_topup_expiry_type: BillingCreditExpiryType | null
  readonly auto_topup_expiry_unit: BillingCreditExpiryUnit | null
  readonly auto_topup_expiry_unit_count: string | number | null
  readonly can_buy_bundles: boolean
  readonly unit_price: string | number | null
  readonly unit_price_decimal: string | null
  readonly tier_mode: BillingTiersMode | null
  readonly price_tiers: readonly StoredCreditTier[]
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of credit_spend_policies. */
export interface SpendPolicyRow {
  readonly id: string
  readonly environment_id: string
  readonly credit_id: string
  readonly company_id: string | null
  readonly user_id: string | null
  readonly label: string | null
  readonly max_per_draw: string | null
  readonly group_trait: string | null
  readonly group_value: string | null
  readonly period: BudgetPeriod | null
  /** Decimal text: credits, or the smallest unit of the currency. */
  readonly max_spend: string | null
  readonly unit: BudgetUnit | null
  readonly currency: string | null
  readonly mode: BudgetMode | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The price of one credit of a billed plan grant, as a monthly price (CR-38). */
export function planGrantPrice(row: PlanCreditGrantRow, currency: string): StoredPrice {
  const [first] = row.price_tiers
  return {
    id: derivedId('bilpp_', row.id, currency),
    currency,
    cadence: 'monthly',
    price: storedQuantity(readQuantity(first?.per_unit_price ?? row.unit_price ?? 0)),
    price_decimal: first ? first.per_unit_price_decimal : row.unit_price_decimal,
    tiers: first ? row.price_tiers.map(tier => ({ ...tier, flat_amount: 0 })) : null,
    tiers_mode: row.tier_mode,
    usage_type: 'licensed',
    provider_type: 'native',
    external_id: null,
    product_id: null,
    minted_at: null,
  }
}

/** The loader of credits and spend policies. */
export async function loadCredits(sql: Sql, environment: LoadedEnvironment): Promise<LoadedCredits> {
  const credits = await sql<CreditRow[]>`
    select * from billing_credits
    where environment_id = ${environment.id} and deleted_at is null order by created_at, id`
  const policies = await sql<SpendPolicyRow[]>`
    select * from credit_spend_policies where environment_id = ${environment.id} order by created_at, id`
  return {
    credits: credits.map(creditDef),
    spendPolicies: policies.map(row => policyDef(row, credits)),
  }
}

function policyDef(row: SpendPolicyRow, credits: readonly CreditRow[]): SpendPolicyDef {
  const { group_trait: trait, group_value: value, period, max_spend: most, label } = row
  const credit = credits.find(({ id }) => id === row.credit_id)
  return {
    id: row.id,
    creditId: row.credit_id,
    companyId: row.company_id,
    userId: row.user_id,
    maxPerDraw: row.max_per_draw,
    ...(trait !== null && value !== null && { group: { trait, value } }),
    ...(period !== null &&
      most !== null && {
        window: {
          period,
          max: row.unit === 'cost' ? creditsFor(most, credit?.prices ?? [], row.currency) : most,
          hard: row.mode === 'hard',
          label,
        },
      }),
  }
}

/**
 * The credits that an amount of money buys at the price of one credit, rounded down to a billionth; without a price none.
 *
 * amount  decimal text in the smallest unit of the currency.
 */
export function creditsFor(amount: string, prices: readonly StoredPrice[], currency: string | null): string {
  const price = unitPriceDecimal(prices.find(one => one.currency === currency) ?? null)
  const each = price === null ? null : parseDecimal(price)
  const most = parseDecimal(amount)
  if (!each || !most || each.units <= 0n) return '0'
  return amountToDecimal(
    (most.units * 10n ** BigInt(9 + each.scale)) / (each.units * 10n ** BigInt(most.scale)),
  )
}

function creditDef(row: CreditRow): CreditDef {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    icon: row.icon,
    pluralName: row.plural_name,
    singularName: row.singular_name,
    burnStrategy: row.burn_strategy,
    ledgerAuthority: row.ledger_authority,
    defaultExpiryUnit: row.default_expiry_unit,
    defaultExpiryUnitCount: numberOrNull(row.default_expiry_unit_count),
    defaultRolloverPolicy: row.default_rollover_policy,
    priced: row.prices.length > 0,
  }
}

/** Credit grants of plan versions, by version. Drafts grant nothing (PB-4). */
export async function loadPlanCreditGrants(
  sql: Sql,
  environment: LoadedEnvironment,
): Promise<ReadonlyMap<string, readonly PlanCreditGrantDef[]>> {
  const rows = await sql<(PlanCreditGrantRow & { readonly plan_currency: string })[]>`
    select g.*, v.currency as plan_currency from plan_credit_grants g join plan_versions v on v.id = g.plan_version_id
    where g.environment_id = ${environment.id} and v.status <> 'draft' and v.deleted_at is null
    order by g.plan_version_id, g.created_at, g.id`
  const byVersion = grouped(rows, row => row.plan_version_id)
  return new Map([...byVersion].map(([versionId, of]) => [versionId, of.map(planCreditGrantDef)]))
}

function planCreditGrantDef(
  row: PlanCreditGrantRow & { readonly plan_currency: string },
): PlanCreditGrantDef {
  return {
    id: row.id,
    creditId: row.credit_id,
    creditAmount: Number(row.credit_amount),
    companyCreditAmount: Number(row.company_credit_amount),
    scaling: row.scaling,
    licenseId: row.license_id,
    billingMode: row.billing_mode,
    resetType: row.reset_type,
    resetCadence: row.reset_cadence,
    resetStart: row.reset_start,
    rolloverPercentage: row.rollover_percentage,
    renewalPeriod: row.renewal_enabled ? row.renewal_period : null,
    expiryType: row.expiry_type,
    expiryUnit: row.expiry_unit,
    expiryUnitCount: numberOrNull(row.expiry_unit_count),
    postpaidEnabled: row.postpaid_enabled,
    overdraftLimit: row.overdraft_limit,
    arrearsCadence: row.arrears_cadence,
    arrearsAnchor: row.arrears_anchor,
    autoTopupAvailability: row.auto_topup_availability,
    autoTopupAmount: numberOrNull(row.auto_topup_amount),
    autoTopupThresholdCredits: numberOrNull(row.auto_topup_threshold_credits),
    autoTopupThresholdPercent: row.auto_topup_threshold_percent,
    autoTopupExpiryType: row.auto_topup_expiry_type,
    autoTopupExpiryUnit: row.auto_topup_expiry_unit,
    autoTopupExpiryUnitCount: numberOrNull(row.auto_topup_expiry_unit_count),
    canBuyBundles: row.can_buy_bundles,
    postpaidRatePerUnit: quantityOrNull(row.postpaid_rate_per_unit),
    postpaidRatePerUnitDecimal: row.postpaid_rate_per_unit_decimal,
    priceId: row.billing_mode === 'billed' ? planGrantPrice(row, row.plan_currency).id : null,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

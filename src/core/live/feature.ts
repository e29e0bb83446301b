// Features as a company has them now: the rows of feature usage, and what an event of theirs draws.
import type {
  EntitlementPriceBehavior,
  EntitlementValueType,
  FeatureEventSource,
  MetricPeriod,
  MonthReset,
} from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  type CreditDraw,
  consumptionRateOf,
  limitOf,
  resolveEntitlement,
  usageOf,
} from '../entitlements/entitlement.js'
import { decide } from '../flags/flag.js'
import { effectivePrice, overuse, percentUsed } from '../pricing/price.js'
import { nothingAsked } from '../rules/rule.js'
import { amountToNumber } from '../values/amount.js'
import type { Quantity } from '../values/quantity.js'
import { strictInteger } from '../values/trait.js'
import type { LiveCompany } from './live-company.js'

/** One feature a company is entitled to, with its current figures (US-5, US-6). Credits as the wire shows them. */
export interface FeatureUsage {
  readonly featureId: string
  /** Id of the plan entitlement or of the override. */
  readonly entitlementId: string
  readonly entitlementType: 'plan_entitlement' | 'company_override'
  readonly planId: string | null
  readonly planVersionId: string | null
  readonly entitlementExpiresAtMs: number | null
  readonly access: boolean
  readonly allocationType: EntitlementValueType
  readonly allocation: Quantity | null
  readonly isUnlimited: boolean
  readonly hasValidAllocation: boolean
  readonly usage: Quantity | null
  readonly softLimit: Quantity | null
  readonly effectiveLimit: Quantity | null
  readonly percentUsed: number | null
  readonly overuse: Quantity | null
  /** Price of the next unit, in the smallest unit of money. */
  readonly effectivePrice: number | null
  readonly priceBehavior: EntitlementPriceBehavior | null
  readonly period: MetricPeriod | null
  readonly monthReset: MonthReset | null
  readonly metricResetAtMs: number | null
  readonly creditId: string | null
  readonly creditConsumptionRate: number | null
  readonly creditRemaining: number | null
  readonly creditUsed: number | null
  readonly creditTotal: number | null
}

/**
 * The row of one feature, or null when the company has no entitlement for it.
 *
 * `access` is decided by the code a flag check runs, on the feature's flag, without user and preflight.
 * source  US-5, US-6, EN-31, EN-32.
 */
export function featureUsage(company: LiveCompany, feature: CompiledFeature): FeatureUsage | null {
  const entitlement = resolveEntitlement(company, feature)
  if (entitlement === null) return null
  const { def, valueType, override } = entitlement
  const limited = valueType === 'numeric' || valueType === 'trait'
  const measured = limited || valueType === 'unlimited'
  const usage = measured ? usageOf(entitlement, company) : null
  const allocation = limitOf(entitlement, company)
  const soft = def.priceBehavior === 'overage' ? def.softLimit : null
  const effectiveLimit = effectiveLimitOf(entitlement, allocation)
  const metered = measured && entitlement.subtype !== null
  const { period, monthReset } = entitlement
  const creditId = valueType === 'credit' ? def.valueCreditId : null
  const figures = creditId === null ? null : company.figures(creditId)
  return {
    featureId: feature.def.id,
    entitlementId: override?.id ?? def.id,
    entitlementType: entitlement.source,
    planId: entitlement.planId,
    planVersionId: entitlement.versionId,
    entitlementExpiresAtMs: override?.expiresAtMs ?? null,
    access: hasAccess(company, feature),
    allocationType: valueType,
    allocation,
    isUnlimited: valueType === 'unlimited',
    hasValidAllocation: valueType !== 'trait' || limitIsSet(entitlement, company),
    usage,
    softLimit: soft,
    effectiveLimit,
    percentUsed: usage === null || effectiveLimit === null ? null : percentUsed(usage, effectiveLimit),
    overuse: usage === null || soft === null ? null : overuse(usage, soft),
    effectivePrice: usage === null ? null : effectivePrice(def, usage),
    priceBehavior: def.priceBehavior,
    period: metered ? period : null,
    monthReset: metered && period === 'current_month' ? monthReset : null,
    metricResetAtMs: metered && period !== null ? company.resetsAt(period, monthReset) : null,
    creditId,
    creditConsumptionRate: creditId === null ? null : consumptionRateOf(def),
    creditRemaining: figures && amountToNumber(figures.remaining),
    creditUsed: figures && amountToNumber(figures.total - figures.settled),
    creditTotal: figures && amountToNumber(figures.total),
  }
}

/**
 * The rows of all features, ordered by feature name.
 *
 * without  negative: drop entitlements that are a boolean false.
 * only     ids of the features asked about; absent: all.
 * source   US-5, US-8.
 */
export function featureUsages(
  company: LiveCompany,
  without: { readonly negative: boolean },
  only?: readonly string[],
): FeatureUsage[] {
  const rows: FeatureUsage[] = []
  for (const feature of company.catalog.features) {
    if (only && !only.includes(feature.def.id)) continue
    const row = featureUsage(company, feature)
    if (row === null) continue
    if (without.negative && row.allocationType === 'boolean' && isNegative(company, feature)) continue
    rows.push(row)
  }
  return rows
}

/** A limited feature of which a company uses more than it may. */
interface ExceededLimit {
  readonly featureId: string
  readonly usage: Quantity
  readonly limit: Quantity
}

/** The features whose use is beyond their limit. source: EN-87, over the limit means usage > limit */
export function exceededLimits(company: LiveCompany): ExceededLimit[] {
  const exceeded: ExceededLimit[] = []
  for (const feature of company.catalog.features) {
    const entitlement = resolveEntitlement(company, feature)
    const over = entitlement && exceededLimit(entitlement, company)
    if (over) exceeded.push({ featureId: feature.def.id, ...over })
  }
  return exceeded
}

/** The use and limit of an entitlement whose use is beyond its limit (EN-87); null: its use is not. */
export function exceededLimit(
  entitlement: CompiledEntitlement,
  company: LiveCompany,
): Omit<ExceededLimit, 'featureId'> | null {
  const limit = limitOf(entitlement, company)
  const usage = limit === null ? null : usageOf(entitlement, company)
  return limit !== null && usage !== null && usage > limit ? { usage, limit } : null
}

function isNegative(company: LiveCompany, feature: CompiledFeature): boolean {
  return resolveEntitlement(company, feature)?.def.valueBool !== true
}

/** The result that a check of the feature's flag would have now (US-6). */
export function hasAccess(company: LiveCompany, feature: CompiledFeature): boolean {
  const flag = company.catalog.featureFlags[feature.index]!
  return decide(flag, company, null, nothingAsked)?.value ?? flag.defaultValue
}

/** EN-31, EN-32, US-6: overage → soft limit; tier → first boundary; else the allocation. */
function effectiveLimitOf({ def }: CompiledEntitlement, allocation: Quantity | null): Quantity | null {
  if (def.priceBehavior === 'overage') return def.softLimit ?? allocation
  if (def.priceBehavior === 'tier') return def.tiers?.[0]?.upTo ?? allocation
  return allocation
}

function limitIsSet({ limitTrait }: CompiledEntitlement, company: LiveCompany): boolean {
  const text = limitTrait === null ? null : company.traitText(limitTrait)
  return text !== null && strictInteger(text) !== null
}

/**
 * The draws of an event: one per feature with this subtype whose reported entitlement is credit.
 *
 * eventSource  track events meter track features, inference events inference features (EV-64, EV-66).
 * source       EN-44, EN-45.
 */
export function creditDraws(
  catalog: Catalog,
  company: LiveCompany,
  subtype: string,
  eventSource: FeatureEventSource,
): CreditDraw[] {
  const draws: CreditDraw[] = []
  for (const feature of catalog.featuresBySubtype.get(subtype) ?? []) {
    if (feature.def.eventSource !== eventSource) continue
    const entitlement = resolveEntitlement(company, feature)
    if (entitlement === null || entitlement.valueType !== 'credit') continue
    const { def } = entitlement
    if (def.valueCreditId === null) continue
    draws.push({
      featureId: feature.def.id,
      creditId: def.valueCreditId,
      rate: consumptionRateOf(def),
      quantityRates: def.quantityRates,
    })
  }
  return draws
}

// Entitlements: the rules that a plan or override makes, the choice between several, and the figures that are
// reported.
import type {
  EntitlementPriceBehavior,
  EntitlementValueType,
  MetricPeriod,
  MonthReset,
} from '../../../schemas/enums.js'
import type { CreditConfig, CreditFigures } from '../model/account-state.js'
import type { OverrideState } from '../model/company-state.js'
import type {
  ConditionDef,
  EntitlementDef,
  FeatureDef,
  PlanCreditGrantDef,
  PlanVersionDef,
  RuleDef,
} from '../model/definitions.js'
import type { EntitlementReport } from '../model/entitlement-report.js'
import { nextTierBoundary } from '../pricing/price.js'
import {
  type CompanyFacts,
  type CompiledRule,
  compileRule,
  type FiguresText,
  type TraitResolver,
  traitLimit,
} from '../rules/rule.js'
import { amountToNumber, type Decimal, decimalOf } from '../values/amount.js'
import { derivedId } from '../values/id.js'
import type { Quantity } from '../values/quantity.js'
import { quotedName } from '../values/quoted.js'
import { strictInteger, type TraitRef } from '../values/trait.js'
import { type Allocation, isMoreGenerous } from './generosity.js'

/** A feature as checks need it. */
export interface CompiledFeature {
  /** Its place in the catalog: the key entitlements are found by. */
  readonly index: number
  readonly def: FeatureDef
  /** Key of its flag, by which results name it; empty while it has none. */
  readonly flagKey: string
  /** Trait that carries its usage, of trait and license features. */
  readonly usageTrait: TraitRef | null
}

/** An entitlement of a plan version or override, ready to run. */
export interface CompiledEntitlement {
  readonly def: EntitlementDef
  readonly feature: CompiledFeature
  readonly source: 'plan_entitlement' | 'company_override'
  /** The plan version that grants it; null for an override. */
  readonly versionId: string | null
  readonly planId: string | null
  readonly override: OverrideState | null
  /** As its price behaviour fixes it (EN-30). */
  readonly valueType: EntitlementValueType
  /** Grants; for a boolean false: denies. Null for `unknown` (EN-16). */
  readonly rule: CompiledRule | null
  /** Denies once the limit is reached (EN-5). */
  readonly exceeded: CompiledRule | null
  /** Event counted; null for features that are not metered by events. */
  readonly subtype: string | null
  /** Null for features without periods (EN-23). */
  readonly period: MetricPeriod | null
  readonly monthReset: MonthReset
  readonly limitTrait: TraitRef | null
  readonly rate: Decimal
  /** Writes its report; made when first needed (flags/all-flags.ts). */
  text: (FiguresText & { readonly flagKey: string }) | null
}

/** A plan version, ready to run. */
export class CompiledVersion {
  readonly id: string
  readonly creditGrants: readonly PlanCreditGrantDef[]
  /** By credit, collected on first use. */
  private readonly grantsByCredit = new Map<string, readonly PlanCreditGrantDef[]>()
  /**
   * Configuration of each credit for companies without subscription, trial or cap, cached on first use (LiveCompany).
   */
  readonly configs = new Map<string, CreditConfig>()
  /**
   * Draws of a track event for companies that this version alone decides, by subtype, cached on first use (drawsOf).
   */
  readonly draws = new Map<string, readonly CreditDraw[]>()
  /** By feature index: compiled when first asked for, since most of a large catalog is not between two changes. */
  private readonly granted = new Map<
    number,
    { readonly def: EntitlementDef; made: CompiledEntitlement | null }
  >()

  constructor(
    version: PlanVersionDef,
    readonly planId: string,
    private readonly planName: string,
    private readonly features: readonly CompiledFeature[],
    private readonly traits: TraitResolver,
    indexOf: ReadonlyMap<string, CompiledFeature>,
  ) {
    this.id = version.id
    this.creditGrants = version.creditGrants
    for (const def of version.entitlements) {
      const feature = indexOf.get(def.featureId)
      if (feature) this.granted.set(feature.index, { def, made: null })
    }
  }

  /** Its grants of one credit. */
  grantsOf(creditId: string): readonly PlanCreditGrantDef[] {
    let grants = this.grantsByCredit.get(creditId)
    if (grants === undefined) {
      grants = this.creditGrants.filter(grant => grant.creditId === creditId)
      this.grantsByCredit.set(creditId, grants)
    }
    return grants
  }

  /** The version's entitlement to a feature. */
  entitlement(featureIndex: number): CompiledEntitlement | null {
    const grant = this.granted.get(featureIndex)
    if (grant === undefined) return null
    grant.made ??= compileEntitlement(
      this.features[featureIndex]!,
      grant.def,
      { type: 'plan_version', versionId: this.id, planId: this.planId, planName: this.planName },
      this.traits,
    )
    return grant.made
  }
}

/** Facts of a company together with what entitles it, in the order of candidates (EN-23). */
export interface EntitledFacts extends CompanyFacts {
  /** Base plan, then add-ons by date added. */
  readonly versions: readonly CompiledVersion[]
  /** The override in force for a feature, expiry exact (EN-61). */
  override(feature: CompiledFeature): CompiledEntitlement | null
}

/**
 * The value type a price behaviour fixes; a mismatch is corrected, not refused.
 *
 * source  EN-30.
 */
export function correctedValueType(
  priceBehavior: EntitlementPriceBehavior | null,
  valueType: EntitlementValueType,
  valueNumeric: Quantity | null,
): EntitlementValueType {
  switch (priceBehavior) {
    case null:
      return valueType
    case 'pay_in_advance':
      return 'trait'
    case 'credit_burndown':
      return 'credit'
    case 'pay_as_you_go':
    case 'overage':
    case 'tier':
      return valueNumeric !== null && valueNumeric > 0 ? 'numeric' : 'unlimited'
  }
}

/**
 * Why a feature cannot be entitled this way, or null.
 *
 * valueType  as corrected (EN-30). An inference feature may also be boolean or unlimited, which meters nothing
 *            (source: decision).
 * source     EN-33.
 */
export function saleProblem(
  { featureType, eventSource }: Pick<FeatureDef, 'featureType' | 'eventSource'>,
  priceBehavior: EntitlementPriceBehavior | null,
  valueType: EntitlementValueType,
): string | null {
  if (featureType === 'license' && priceBehavior !== null && priceBehavior !== 'pay_in_advance')
    return 'a license feature is sold pay-in-advance only'
  if (priceBehavior === 'credit_burndown' && featureType !== 'event')
    return 'credit_burndown needs an event feature'
  if (priceBehavior === 'tier' && featureType !== 'event' && featureType !== 'trait')
    return 'tier needs an event or trait feature'
  const inferred = featureType === 'event' && eventSource === 'inference'
  const uncounted = valueType === 'credit' || valueType === 'boolean' || valueType === 'unlimited'
  if (inferred && (!uncounted || (priceBehavior !== null && priceBehavior !== 'credit_burndown')))
    return 'an inference feature is metered through credits only'
  return null
}

/** Which plan version or company an entitlement is tied to. */
export type Gate =
  | {
      readonly type: 'plan_version'
      readonly versionId: string
      readonly planName: string
      readonly planId?: string
    }
  | { readonly type: 'company'; readonly companyId: string; readonly override?: OverrideState }

/** Where an entitlement comes from. */
export type Source =
  | (Extract<Gate, { type: 'plan_version' }> & { readonly planId: string })
  | (Extract<Gate, { type: 'company' }> & { readonly override: OverrideState })

/**
 * The rules an entitlement makes on its feature's flag.
 *
 * returns  none for `unknown`; one for boolean and unlimited; else two, the second its usage-exceeded twin. The
 *          first condition of each is the gate. Named after the plan, or after the feature for an override.
 * source   EN-5, EN-10…18, section 2.
 */
export function generatedRules(feature: FeatureDef, def: EntitlementDef, gate: Gate): RuleDef[] {
  const valueType = correctedValueType(def.priceBehavior, def.valueType, def.valueNumeric)
  if (valueType === 'unknown') return []
  const ofPlan = gate.type === 'plan_version'
  const name = ofPlan ? gate.planName : feature.name
  const gated: ConditionDef = {
    ...blank(def.id, 'gate'),
    conditionType: gate.type,
    resourceIds: [ofPlan ? gate.versionId : gate.companyId],
  }
  const common = { name, priority: 0, flagId: null }
  const granting: RuleDef = {
    ...common,
    id: def.ruleId,
    ruleType: ofPlan ? 'plan_entitlement' : 'company_override',
    value: valueType === 'boolean' ? def.valueBool === true : true,
    conditions: [gated],
    conditionGroups: [],
  }
  if (valueType === 'boolean' || valueType === 'unlimited') return [granting]
  const exceeded: RuleDef = {
    ...common,
    id: def.ruleIdUsageExceeded ?? derivedId('rule_', def.id, 'usage_exceeded'),
    ruleType: ofPlan ? 'plan_entitlement_usage_exceeded' : 'company_override_usage_exceeded',
    value: false,
    conditions: [gated],
    conditionGroups: [],
  }
  if (valueType === 'credit') {
    const condition = creditLimit(feature, def)
    return [
      { ...granting, conditions: [gated, { ...condition, operator: 'lt' }] },
      { ...exceeded, conditions: [gated, { ...condition, operator: 'gte' }] },
    ]
  }
  const limitTraitId = valueType === 'trait' ? (def.valueTraitId ?? feature.usageLimitTraitId) : null
  const limit = usageLimit(feature, def, valueType === 'trait', limitTraitId)
  if (limit)
    return [
      { ...granting, conditions: [gated, { ...limit, operator: 'lt' }] },
      { ...exceeded, conditions: [gated, { ...limit, operator: 'gte' }] },
    ]
  // nothing measures the usage, so it is 0 (EN-70): granted while the limit is above 0
  if (limitTraitId === null) {
    const granted = valueType === 'numeric' && (def.valueNumeric ?? 0) > 0
    return granted ? [granting] : [{ ...exceeded }]
  }
  // in a group, so that it supplies no usage figures (FE-71)
  const bought: ConditionDef = {
    ...blank(def.id, 'limit'),
    conditionType: 'trait',
    traitId: limitTraitId,
    traitValue: '0',
  }
  return [
    { ...granting, conditionGroups: [[{ ...bought, operator: 'gt' }]] },
    { ...exceeded, conditionGroups: [[{ ...bought, operator: 'lte' }]] },
  ]
}

/** EN-15. */
function creditLimit(feature: FeatureDef, def: EntitlementDef): ConditionDef {
  return {
    ...blank(def.id, 'limit'),
    conditionType: 'credit',
    creditId: def.valueCreditId,
    consumptionRate: def.consumptionRate,
    quantityRates: def.quantityRates,
    eventSubtype: feature.eventSubtype,
  }
}

/** EN-12, EN-13, EN-14: usage against a number or a trait, or null when nothing measures the usage. */
function usageLimit(
  feature: FeatureDef,
  def: EntitlementDef,
  byTrait: boolean,
  limitTraitId: string | null,
): ConditionDef | null {
  const compared = { ...blank(def.id, 'limit'), comparisonTraitId: limitTraitId }
  const literal = byTrait ? 0 : (def.valueNumeric ?? 0)
  if (feature.featureType === 'event' && feature.eventSubtype !== null)
    return {
      ...compared,
      conditionType: 'metric',
      eventSubtype: feature.eventSubtype,
      metricPeriod: def.metricPeriod ?? 'all_time',
      monthReset: monthResetOf(def),
      metricValue: literal,
    }
  if (feature.traitId === null) return null
  return { ...compared, conditionType: 'trait', traitId: feature.traitId, traitValue: String(literal) }
}

/** EN-12, FE-43: a month reset means something for months only, where it defaults to the calendar's. */
function monthResetOf(def: EntitlementDef): MonthReset {
  return def.metricPeriod === 'current_month' ? (def.monthReset ?? 'first_of_month') : 'first_of_month'
}

function blank(entitlementId: string, part: string): ConditionDef {
  return {
    id: derivedId('cond_', entitlementId, part),
    conditionType: 'company',
    operator: 'eq',
    resourceIds: [],
    traitId: null,
    traitValue: '',
    comparisonTraitId: null,
    eventSubtype: null,
    metricPeriod: null,
    monthReset: null,
    metricValue: null,
    creditId: null,
    consumptionRate: null,
    quantityRates: null,
  }
}

/**
 * Compile an entitlement. Its rules run without their gate: they are looked up by version or override, so the lookup
 * has passed it.
 */
export function compileEntitlement(
  feature: CompiledFeature,
  def: EntitlementDef,
  source: Source,
  traits: TraitResolver,
): CompiledEntitlement {
  const rules = generatedRules(feature.def, def, source).map(rule =>
    compileRule({ ...rule, conditions: rule.conditions.slice(1) }, traits),
  )
  const exceeded = rules.find(({ ruleType }) => ruleType.endsWith('usage_exceeded')) ?? null
  const valueType = correctedValueType(def.priceBehavior, def.valueType, def.valueNumeric)
  const subtype = feature.def.featureType === 'event' ? feature.def.eventSubtype : null
  const limitTraitId = valueType === 'trait' ? (def.valueTraitId ?? feature.def.usageLimitTraitId) : null
  return {
    def,
    feature,
    source: source.type === 'company' ? 'company_override' : 'plan_entitlement',
    versionId: source.type === 'company' ? null : source.versionId,
    planId: source.type === 'company' ? null : source.planId,
    override: source.type === 'company' ? source.override : null,
    valueType,
    rule: rules.find(rule => rule !== exceeded) ?? null,
    exceeded,
    subtype,
    period: subtype === null ? null : (def.metricPeriod ?? 'all_time'),
    monthReset: monthResetOf(def),
    limitTrait: limitTraitId === null ? null : traits(limitTraitId),
    rate: decimalOf(consumptionRateOf(def)),
    text: null,
  }
}

/**
 * The one entitlement reported for a feature: the most generous, the earlier one on a tie.
 *
 * Candidates: base plan, add-ons by date added, the override last.
 * source  EN-20…25, EN-43.
 */
export function resolveEntitlement(
  company: EntitledFacts,
  feature: CompiledFeature,
): CompiledEntitlement | null {
  const { versions } = company
  let best: CompiledEntitlement | null = null
  let onlyBoolean = true
  for (let i = 0; i < versions.length; i++) {
    const candidate = versions[i]!.entitlement(feature.index)
    if (candidate === null) continue
    if (candidate.valueType !== 'boolean') onlyBoolean = false
    if (best === null || beats(candidate, best, company)) best = candidate
  }
  const override = company.override(feature)
  if (override === null) return best
  if (best === null) return override
  // EN-24, EN-25: among booleans the override wins, and a false one denies even if a plan allows
  if (override.valueType === 'boolean' && (onlyBoolean || override.def.valueBool !== true)) return override
  return beats(override, best, company) ? override : best
}

/** EN-25: the order of value types. */
function rank(entitlement: CompiledEntitlement): number {
  switch (entitlement.valueType) {
    case 'unlimited':
      return 5
    case 'credit':
      return 4
    case 'numeric':
    case 'trait':
      return 3
    case 'boolean':
      return entitlement.def.valueBool === true ? 2 : 1
    case 'unknown':
      return 0
  }
}

function beats(later: CompiledEntitlement, earlier: CompiledEntitlement, company: CompanyFacts): boolean {
  const [mine, theirs] = [rank(later), rank(earlier)]
  if (mine !== theirs) return mine > theirs
  if (mine === 4) return morePayable(later, earlier, company)
  if (mine !== 3) return false
  return isMoreGenerous(allocationOf(later, company), allocationOf(earlier, company))
}

function allocationOf(entitlement: CompiledEntitlement, company: CompanyFacts): Allocation {
  return { allocation: limitOf(entitlement, company), period: entitlement.period }
}

/** The current limit of a numeric or trait entitlement; null for other value types. */
export function limitOf(entitlement: CompiledEntitlement, company: CompanyFacts): Quantity | null {
  if (entitlement.valueType === 'numeric') return entitlement.def.valueNumeric ?? 0
  return entitlement.valueType === 'trait' ? traitLimit(company, entitlement.limitTrait) : null
}

/** EN-43: on one credit the lower rate; on two the one with more affordable units. */
function morePayable(
  later: CompiledEntitlement,
  earlier: CompiledEntitlement,
  company: CompanyFacts,
): boolean {
  const [a, b] = [later.rate, earlier.rate]
  const scale = Math.max(a.scale, b.scale)
  const rateA = a.units * 10n ** BigInt(scale - a.scale)
  const rateB = b.units * 10n ** BigInt(scale - b.scale)
  if (later.def.valueCreditId === earlier.def.valueCreditId) return rateA < rateB
  const balanceA = company.remaining(later.def.valueCreditId ?? '')
  const balanceB = company.remaining(earlier.def.valueCreditId ?? '')
  // a free unit is affordable without end while the balance is not below zero (EN-41)
  const endlessA = rateA === 0n && balanceA >= 0n
  const endlessB = rateB === 0n && balanceB >= 0n
  if (endlessA || endlessB) return endlessA && !endlessB
  if (balanceA <= 0n || rateA === 0n) return false // no unit at all is affordable
  return balanceB <= 0n || rateB === 0n || balanceA * rateB > balanceB * rateA
}

/** Whether a report of this value type shows usage (EN-50). */
export function isMeasured(valueType: EntitlementValueType): boolean {
  return valueType === 'numeric' || valueType === 'trait' || valueType === 'unlimited'
}

/** A report that says nothing yet. */
export const nothingReported: EntitlementReport = {
  featureId: '',
  featureKey: '',
  valueType: 'unknown',
  allocation: null,
  usage: null,
  softLimit: null,
  eventName: null,
  eventSubtype: null,
  metricPeriod: null,
  monthReset: null,
  metricResetAtMs: null,
  creditId: null,
  consumptionRate: null,
  quantityRates: null,
  creditTotal: null,
  creditUsed: null,
  creditRemaining: null,
  creditReserved: null,
  creditSettled: null,
  warningTiers: null,
}

/**
 * The report of an entitlement, with current figures.
 *
 * source  EN-50…52, EN-32 (soft limit of tiers), FE-68, FE-73.
 */
export function reportEntitlement(
  entitlement: CompiledEntitlement,
  company: CompanyFacts,
  featureKey: string = entitlement.feature.flagKey,
): EntitlementReport {
  const { def, feature, valueType, subtype, period, monthReset } = entitlement
  const credit = valueType === 'credit' && def.valueCreditId !== null
  const measured = isMeasured(valueType)
  const metered = measured && subtype !== null && period !== null
  const usage = measured ? usageOf(entitlement, company) : null
  const figures = credit ? shownFigures(company.figures(def.valueCreditId!)) : null
  return {
    featureId: feature.def.id,
    featureKey,
    valueType,
    allocation: limitOf(entitlement, company),
    usage,
    softLimit: usage === null ? null : softLimitOf(def, usage),
    eventName: metered || credit ? subtype : null,
    eventSubtype: metered || credit ? subtype : null,
    metricPeriod: metered ? period : null,
    monthReset: metered && period === 'current_month' ? monthReset : null,
    metricResetAtMs: metered ? company.resetsAt(period, monthReset) : null,
    creditId: credit ? def.valueCreditId : null,
    consumptionRate: credit ? consumptionRateOf(def) : null,
    quantityRates: credit && metersQuantities(def) ? def.quantityRates : null,
    creditTotal: figures?.total ?? null,
    creditUsed: figures?.used ?? null,
    creditRemaining: figures?.remaining ?? null,
    creditReserved: figures?.reserved ?? null,
    creditSettled: figures?.settled ?? null,
    warningTiers: measured && def.warningTiers.length > 0 ? def.warningTiers : null,
  }
}

/** Figures of a credit as reports show them. */
interface ShownFigures {
  readonly total: number
  readonly used: number
  readonly remaining: number
  readonly reserved: number
  readonly settled: number
}

// Entitlements of one company are mostly paid from one credit: its figures are turned into numbers once.
let lastFigures: CreditFigures | null = null
let lastShown: ShownFigures | null = null

/** The figures of a credit as numbers. */
export function shownFigures(figures: CreditFigures): ShownFigures {
  if (figures === lastFigures && lastShown !== null) return lastShown
  const { total, remaining, reserved, settled } = figures
  lastFigures = figures
  lastShown = {
    total: amountToNumber(total),
    used: amountToNumber(total - settled),
    remaining: amountToNumber(remaining),
    reserved: amountToNumber(reserved),
    settled: amountToNumber(settled),
  }
  return lastShown
}

/** Current usage of the feature: its counter, or its trait read strictly; null when nothing measures it. */
export function usageOf(entitlement: CompiledEntitlement, company: CompanyFacts): Quantity | null {
  const { subtype, period, monthReset, feature } = entitlement
  if (subtype !== null && period !== null) return company.counter(subtype, period, monthReset)
  if (feature.usageTrait === null) return null
  const text = company.traitText(feature.usageTrait)
  return text === null ? 0 : (strictInteger(text) ?? 0)
}

/** EN-31, EN-32: the included amount; for tiers the next boundary above the usage. */
export function softLimitOf(def: EntitlementDef, usage: Quantity): Quantity | null {
  if (def.priceBehavior === 'tier' && def.tiers !== null) return nextTierBoundary(def.tiers, usage)
  return def.softLimit
}

/** Credits per unit: as given, else 1, or 0 where quantities are priced (EN-40, EN-42). */
export function consumptionRateOf(def: Pick<EntitlementDef, 'consumptionRate' | 'quantityRates'>): number {
  return def.consumptionRate ?? (metersQuantities(def) ? 0 : 1)
}

/** Whether quantities beside requests have a price (EN-42). */
export function metersQuantities(def: Pick<EntitlementDef, 'quantityRates'>): boolean {
  return def.quantityRates !== null && Object.keys(def.quantityRates).length > 0
}

/** An entitlement report as the wire spells it, serialised; null members omitted. */
export function writeEntitlement(report: EntitlementReport, instant: (ms: number) => string): string {
  let json = `{"feature_id":${quotedName(report.featureId)},"feature_key":${quotedName(report.featureKey)},"value_type":"${report.valueType}"`
  if (report.allocation !== null) json += `,"allocation":${report.allocation}`
  if (report.usage !== null) json += `,"usage":${report.usage}`
  if (report.softLimit !== null) json += `,"soft_limit":${report.softLimit}`
  if (report.eventName !== null) json += `,"event_name":${quotedName(report.eventName)}`
  if (report.eventSubtype !== null) json += `,"event_subtype":${quotedName(report.eventSubtype)}`
  if (report.metricPeriod !== null) json += `,"metric_period":"${report.metricPeriod}"`
  if (report.monthReset !== null) json += `,"month_reset":"${report.monthReset}"`
  if (report.metricResetAtMs !== null) json += `,"metric_reset_at":"${instant(report.metricResetAtMs)}"`
  if (report.creditId !== null) {
    json += `,"credit_id":${quotedName(report.creditId)},"consumption_rate":${report.consumptionRate},"credit_total":${report.creditTotal},"credit_used":${report.creditUsed},"credit_remaining":${report.creditRemaining},"credit_reserved":${report.creditReserved},"credit_settled":${report.creditSettled}`
    if (report.quantityRates !== null) json += `,"quantity_rates":${JSON.stringify(report.quantityRates)}`
  }
  if (report.warningTiers !== null) json += `,"warning_tiers":${JSON.stringify(report.warningTiers)}`
  return `${json}}`
}

/** Draw of one unit of an event for one feature. */
export interface CreditDraw {
  readonly featureId: string
  readonly creditId: string
  /** Credits per unit, or per request. */
  readonly rate: number
  readonly quantityRates: Readonly<Record<string, number>> | null
}

// Snapshots in the wire's Engine* shapes, for clients that evaluate by themselves: the types, and live state as them.

import type {
  ComparableOperator,
  ComparableType,
  ConditionType,
  EntitlementValueType,
  EntityType,
  MetricPeriod,
  MonthReset,
  RuleType,
} from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import {
  generatedRules,
  reportEntitlement,
  resolveEntitlement,
  writeEntitlement,
} from '../entitlements/entitlement.js'
import type { CompiledFlag } from '../flags/flag.js'
import type { LiveCompany } from '../live/live-company.js'
import type { Counter } from '../model/counters.js'
import type { ConditionDef, RuleDef, SpendPolicyDef } from '../model/definitions.js'
import type { EntitlementReport } from '../model/entitlement-report.js'
import type { User } from '../model/entity-state.js'
import { billingSubscription, isActive } from '../plans/plan.js'
import { readAll } from '../usage/counter.js'
import { type Amount, amountFromNumber, amountToDecimal, amountToNumber } from '../values/amount.js'
import { anchorOf } from '../values/period.js'
import type { Quantity } from '../values/quantity.js'
import { instantText, quotedName } from '../values/quoted.js'
import type { NamedTexts } from '../values/text-map.js'
import type { TraitRef } from '../values/trait.js'

export interface EngineTraitDefinition {
  readonly id: string
  readonly comparable_type: ComparableType
  readonly entity_type: EntityType
}

export interface EngineTrait {
  readonly value: string
  readonly trait_definition?: EngineTraitDefinition | null
}

export interface EngineCondition {
  readonly account_id: string
  readonly environment_id: string
  readonly id: string
  readonly condition_type: ConditionType
  readonly operator: ComparableOperator
  readonly resource_ids: readonly string[]
  readonly trait_value: string
  /** How a trait condition compares; absent: as the type of the trait says. Beyond the protocol (FE-69). */
  readonly comparable_type?: ComparableType | null
  readonly trait_definition?: EngineTraitDefinition | null
  readonly comparison_trait_definition?: EngineTraitDefinition | null
  readonly event_subtype?: string | null
  readonly metric_period?: MetricPeriod | null
  readonly metric_period_month_reset?: MonthReset | null
  readonly metric_value?: Quantity | null
  readonly credit_id?: string | null
  readonly consumption_rate?: number | null
  readonly quantity_rates?: Readonly<Record<string, number>> | null
}

export interface EngineRule {
  readonly account_id: string
  readonly environment_id: string
  readonly id: string
  readonly flag_id?: string | null
  readonly name: string
  readonly rule_type: RuleType
  readonly priority: Quantity
  readonly value: boolean
  readonly conditions: readonly EngineCondition[]
  readonly condition_groups: readonly { readonly conditions: readonly EngineCondition[] }[]
}

export interface EngineFlag {
  readonly account_id: string
  readonly environment_id: string
  readonly id: string
  readonly key: string
  readonly default_value: boolean
  /** The feature whose entitlement a check reports; beyond the protocol. */
  readonly feature_id?: string | null
  readonly rules: readonly EngineRule[]
}

export interface EngineCompanyMetric {
  readonly account_id: string
  readonly environment_id: string
  readonly company_id: string
  readonly event_subtype: string
  readonly period: MetricPeriod
  readonly month_reset: MonthReset
  readonly value: Quantity
  readonly created_at: string
  readonly valid_until?: string | null
}

export interface EngineSubscription {
  readonly id: string
  readonly period_start: string
  readonly period_end: string
  /** Day of month and time of its months; absent: as the bounds show it. */
  readonly billing_cycle_anchor?: string
}

export interface EngineFeatureEntitlement {
  readonly feature_id: string
  readonly feature_key: string
  readonly value_type: EntitlementValueType
  readonly allocation?: Quantity | null
  readonly usage?: Quantity | null
  readonly soft_limit?: Quantity | null
  readonly event_name?: string | null
  readonly event_subtype?: string | null
  readonly metric_period?: MetricPeriod | null
  readonly month_reset?: MonthReset | null
  readonly metric_reset_at?: string | null
  readonly credit_id?: string | null
  readonly consumption_rate?: number | null
  readonly quantity_rates?: Readonly<Record<string, number>> | null
  readonly credit_total?: number | null
  readonly credit_used?: number | null
  readonly credit_remaining?: number | null
  readonly credit_reserved?: number | null
  readonly credit_settled?: number | null
  readonly warning_tiers?: readonly { readonly key: string; readonly value: number }[] | null
}

interface EngineCreditPostpaidConfig {
  readonly overdraft_limit?: number | null
  /** The limit as decimal text, where a JSON number would lose digits; beyond the protocol. */
  readonly overdraft_limit_text?: string | null
}

/** A spend policy (decision 27). `max_per_draw` is decimal text of credits. */
export interface EngineSpendPolicy {
  readonly credit_id: string
  readonly max_per_draw: string
}

export interface EngineCompany {
  readonly account_id: string
  readonly environment_id: string
  readonly id: string
  readonly base_plan_id?: string | null
  readonly billing_product_ids: readonly string[]
  readonly credit_balances: Readonly<Record<string, number>>
  /** Balances as decimal text, where a JSON number would lose digits; beyond the protocol. */
  readonly credit_balance_texts?: Readonly<Record<string, string>> | null
  readonly credit_postpaid?: Readonly<Record<string, EngineCreditPostpaidConfig>> | null
  readonly entitlements?: readonly EngineFeatureEntitlement[] | null
  readonly keys: Readonly<Record<string, string>>
  readonly metrics: readonly EngineCompanyMetric[]
  readonly plan_ids: readonly string[]
  readonly plan_version_ids: readonly string[]
  readonly rules: readonly EngineRule[]
  /** Limits of a single draw of the company; beyond the protocol. */
  readonly spend_policies?: readonly EngineSpendPolicy[] | null
  readonly subscription?: EngineSubscription | null
  readonly traits: readonly EngineTrait[]
}

export interface EngineUser {
  readonly account_id: string
  readonly environment_id: string
  readonly id: string
  readonly keys: Readonly<Record<string, string>>
  readonly traits: readonly EngineTrait[]
  readonly rules: readonly EngineRule[]
  /** Limits of a single draw for the user; beyond the protocol. */
  readonly spend_policies?: readonly EngineSpendPolicy[] | null
}

/** A flag with its own rules and those of plan entitlements, base plans first. */
export function engineFlag(catalog: Catalog, flag: CompiledFlag): EngineFlag {
  return engineFlags(catalog).find(({ id }) => id === flag.id)!
}

/** Every flag of an environment, ordered by key, each as `engineFlag` says. */
export function engineFlags(catalog: Catalog): EngineFlag[] {
  const { data } = catalog
  const own = new Map(data.flags.map(({ id, rules }) => [id, rules]))
  const versionIds = [...data.plans]
    .sort((a, b) => Number(a.planType === 'add_on') - Number(b.planType === 'add_on'))
    .flatMap(plan => plan.versions.map(({ id }) => id))
  return catalog.flags.map(flag => {
    const made = versionIds.flatMap(id => planRules(catalog, flag, id))
    return {
      ...scopeOf(catalog),
      id: flag.id,
      key: flag.key,
      default_value: flag.defaultValue,
      feature_id: flag.feature?.def.id ?? null,
      rules: [...(own.get(flag.id) ?? []), ...made].map(rule => engineRule(rule, flag.id, catalog)),
    }
  })
}

/** The rules a plan version makes on a flag (EN-5). */
function planRules(catalog: Catalog, flag: CompiledFlag, versionId: string): RuleDef[] {
  const version = catalog.versions.get(versionId)
  const compiled = flag.feature && version?.entitlement(flag.feature.index)
  if (!version || !compiled) return []
  const planName = catalog.plans.get(version.planId)!.def.name
  return generatedRules(compiled.feature.def, compiled.def, { type: 'plan_version', versionId, planName })
}

/**
 * A company as it is now. Its counters are rolled to now and its subscription's period still runs (FE-5, FE-52);
 * overrides are its own rules (FE-14). Counters that no rule of the environment reads are left out: no check shows them.
 */
export function engineCompany(live: LiveCompany): EngineCompany {
  const { company, catalog } = live
  const counted = countedSubtypes(catalog)
  return {
    ...engineRest(live),
    ...engineBalances(live),
    entitlements: engineEntitlements(live),
    metrics: [...company.counters].flatMap(([subtype, counter]) =>
      counted.has(subtype) ? engineMetrics(live, subtype, counter) : [],
    ),
  }
}

/** The part of a snapshot that use does not change. */
type EngineRest = Omit<EngineCompany, 'credit_balances' | 'credit_balance_texts' | 'entitlements' | 'metrics'>

/** The members of `EngineRest`. */
export function engineRest(live: LiveCompany): EngineRest {
  const { company, catalog, nowMs, inForce } = live
  const { plan, addOns } = inForce
  const holdings = plan === null ? addOns : [plan, ...addOns]
  const overdrafts = [...catalog.credits.keys()].flatMap(id => {
    const overdraft = live.overdraft(id)
    if (overdraft === null) return []
    return [[id, overdraftConfig(overdraft.limit)] as const]
  })
  const billing = billingSubscription(company, nowMs)
  const cycle = live.cycle()
  const policies = catalog.data.spendPolicies.filter(({ companyId }) => companyId === company.id)
  return {
    ...scopeOf(catalog),
    id: company.id,
    base_plan_id: live.basePlanId,
    billing_product_ids: [
      ...new Set(company.subscriptions.filter(one => isActive(one, nowMs)).flatMap(one => one.productIds)),
    ],
    credit_postpaid: Object.fromEntries(overdrafts),
    keys: Object.fromEntries([...company.keys].map(([name, { value }]) => [name, value])),
    plan_ids: holdings.map(({ planId }) => planId),
    plan_version_ids: holdings.map(({ versionId }) => versionId),
    rules: overrideRules(live),
    ...(policies.length > 0 && { spend_policies: policies.flatMap(enginePolicy) }),
    subscription:
      billing === null || cycle === null
        ? null
        : {
            id: billing.id,
            period_start: instantText(cycle.startMs),
            period_end: instantText(cycle.endMs),
            ...(cycle.anchorMs !== undefined &&
              cycle.anchorMs !== anchorOf(cycle.startMs, cycle.endMs) && {
                billing_cycle_anchor: instantText(cycle.anchorMs),
              }),
          },
    traits: engineTraits(company.traits, 'company', catalog),
  }
}

/** The balances of a snapshot. */
export function engineBalances(
  live: LiveCompany,
): Pick<EngineCompany, 'credit_balances' | 'credit_balance_texts'> {
  const balances = [...live.company.credits.keys()].map(id => [id, live.remaining(id)] as const)
  const inexact = balances.filter(([, amount]) => !isExact(amount))
  return {
    credit_balances: Object.fromEntries(balances.map(([id, amount]) => [id, amountToNumber(amount)])),
    ...(inexact.length > 0 && {
      credit_balance_texts: Object.fromEntries(inexact.map(([id, amount]) => [id, amountToDecimal(amount)])),
    }),
  }
}

/** The metrics of one counter. */
function engineMetrics(live: LiveCompany, subtype: string, counter: Counter): EngineCompanyMetric[] {
  const { company, catalog, nowMs } = live
  const scope = scopeOf(catalog)
  return readAll(counter, nowMs, live.cycle()).map(reading => ({
    ...scope,
    company_id: company.id,
    event_subtype: subtype,
    period: reading.period,
    month_reset: reading.monthReset,
    value: reading.value,
    created_at: instantText(reading.createdAtMs),
    valid_until: reading.validUntilMs === null ? null : instantText(reading.validUntilMs),
  }))
}

/** The metrics of one counter as JSON texts, each as `engineMetrics` has it: a list of objects costs ten times as much. */
export function metricTexts(live: LiveCompany, subtype: string, counter: Counter): string[] {
  const { company, catalog, nowMs } = live
  const { account_id, environment_id } = scopeOf(catalog)
  const scope = `{"account_id":${quotedName(account_id)},"environment_id":${quotedName(environment_id)}`
  const of = `${scope},"company_id":"${company.id}","event_subtype":${JSON.stringify(subtype)}`
  return readAll(counter, nowMs, live.cycle()).map(
    ({ period, monthReset, value, createdAtMs, validUntilMs }) =>
      `${of},"period":"${period}","month_reset":"${monthReset}","value":${value},` +
      `"created_at":"${instantText(createdAtMs)}",` +
      `"valid_until":${validUntilMs === null ? 'null' : `"${instantText(validUntilMs)}"`}}`,
  )
}

/** A user as it is now. */
export function engineUser(user: User, catalog: Catalog): EngineUser {
  const policies = catalog.data.spendPolicies.filter(({ userId }) => userId === user.id)
  return {
    ...scopeOf(catalog),
    id: user.id,
    keys: Object.fromEntries([...user.keys].map(([name, { value }]) => [name, value])),
    traits: engineTraits(user.traits, 'user', catalog),
    rules: [],
    ...(policies.length > 0 && { spend_policies: policies.flatMap(enginePolicy) }),
  }
}

const counted = new WeakMap<Catalog, ReadonlySet<string>>()

/** Names of events that a rule or an entitlement of the environment may read the count of. */
export function countedSubtypes(catalog: Catalog): ReadonlySet<string> {
  let found = counted.get(catalog)
  if (found === undefined) {
    const rules = catalog.data.flags.flatMap(flag => flag.rules)
    const conditions = rules.flatMap(rule => [rule.conditions, ...rule.conditionGroups].flat())
    found = new Set([
      ...conditions.flatMap(({ eventSubtype }) => eventSubtype ?? []),
      ...catalog.featuresBySubtype.keys(),
    ])
    counted.set(catalog, found)
  }
  return found
}

/** Whether a JSON number gives the amount back. */
const isExact = (amount: Amount): boolean => amountFromNumber(amountToNumber(amount)) === amount

function overdraftConfig(limit: Amount | null): EngineCreditPostpaidConfig {
  if (limit === null) return { overdraft_limit: null }
  const config = { overdraft_limit: amountToNumber(limit) }
  return isExact(limit) ? config : { ...config, overdraft_limit_text: amountToDecimal(limit) }
}

/** A snapshot does not say what was spent in a window: clients do not judge such a policy. */
function enginePolicy({ creditId, maxPerDraw }: SpendPolicyDef): EngineSpendPolicy[] {
  return maxPerDraw === null ? [] : [{ credit_id: creditId, max_per_draw: maxPerDraw }]
}

/** The resolved entitlements of a company as the wire spells them, by flag key; also for its detail view (EN-50). */
function engineEntitlements(live: LiveCompany): EngineFeatureEntitlement[] {
  return live.catalog.features.flatMap(feature => {
    const entitlement = resolveEntitlement(live, feature)
    if (entitlement === null) return []
    return [shownEntitlement(reportEntitlement(entitlement, live))]
  })
}

/** The entitlements of a snapshot as JSON text. */
export function entitlementsText(live: LiveCompany): string {
  const texts: string[] = []
  for (const feature of live.catalog.features) {
    const entitlement = resolveEntitlement(live, feature)
    if (entitlement !== null) texts.push(writeEntitlement(reportEntitlement(entitlement, live), instantText))
  }
  return `[${texts.join(',')}]`
}

/** As `writeEntitlement` spells it, but not as text; figures beyond 2^53 − 1 are exact too. */
function shownEntitlement(report: EntitlementReport): EngineFeatureEntitlement {
  const shown: EngineFeatureEntitlement = JSON.parse(writeEntitlement(report, instantText))
  const { allocation, usage, softLimit } = report
  return {
    ...shown,
    ...(allocation !== null && { allocation }),
    ...(usage !== null && { usage }),
    ...(softLimit !== null && { soft_limit: softLimit }),
  }
}

function overrideRules(live: LiveCompany): EngineRule[] {
  const { catalog, company } = live
  return catalog.flags.flatMap(flag => {
    const compiled = flag.feature && live.override(flag.feature)
    if (!compiled?.override) return []
    const gate = { type: 'company', companyId: company.id } as const
    return generatedRules(compiled.feature.def, compiled.def, gate).map(rule =>
      engineRule(rule, flag.id, catalog),
    )
  })
}

function engineRule(rule: RuleDef, flagId: string, catalog: Catalog): EngineRule {
  const scope = scopeOf(catalog)
  const convert = (condition: ConditionDef) => engineCondition(condition, catalog)
  return {
    ...scope,
    id: rule.id,
    flag_id: flagId,
    name: rule.name,
    rule_type: rule.ruleType,
    priority: rule.priority,
    value: rule.value,
    conditions: rule.conditions.map(convert),
    condition_groups: rule.conditionGroups.map(group => ({ conditions: group.map(convert) })),
  }
}

function engineCondition(condition: ConditionDef, catalog: Catalog): EngineCondition {
  return {
    ...scopeOf(catalog),
    id: condition.id,
    condition_type: condition.conditionType,
    operator: condition.operator,
    resource_ids: condition.resourceIds,
    trait_value: condition.traitValue,
    ...(condition.comparableType && { comparable_type: condition.comparableType }),
    trait_definition: definitionOf(condition.traitId, catalog),
    comparison_trait_definition: definitionOf(condition.comparisonTraitId, catalog),
    event_subtype: condition.eventSubtype,
    metric_period: condition.metricPeriod,
    metric_period_month_reset: condition.monthReset,
    metric_value: condition.metricValue,
    credit_id: condition.creditId,
    consumption_rate: condition.consumptionRate,
    quantity_rates: condition.quantityRates,
  }
}

function engineTraits(traits: NamedTexts, entityType: EntityType, catalog: Catalog): EngineTrait[] {
  const found: EngineTrait[] = []
  for (const ref of catalog.traits.values()) {
    const stored = ref.entityType === entityType ? traits.text(ref.name) : undefined
    if (stored !== undefined) found.push({ value: stored, trait_definition: definition(ref) })
  }
  return found
}

function definitionOf(traitId: string | null, catalog: Catalog): EngineTraitDefinition | null {
  const ref = traitId === null ? undefined : catalog.traits.get(traitId)
  return ref ? definition(ref) : null
}

function definition({ id, entityType, comparableType }: TraitRef): EngineTraitDefinition {
  return { id, comparable_type: comparableType, entity_type: entityType }
}

function scopeOf({ data }: Catalog): { readonly account_id: string; readonly environment_id: string } {
  return { account_id: data.accountId, environment_id: data.environmentId }
}

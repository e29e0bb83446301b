// The evaluator over snapshots in the wire's shapes: one flag, at most one company, one user, one preflight.
import type { ComparableType, MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import type { ConditionDef } from '../catalog.js'
import type { Preflight } from '../company/message.js'
import { amountFromNumber } from '../credits/amount.js'
import type { EntitlementReport } from '../entitlements/entitlement.js'
import { type CheckResult, CompiledFlag, decideByRules, result } from '../flags/flag.js'
import type { CounterTest } from '../flags/read-set.js'
import {
  type CompanyFacts,
  type CompiledRule,
  compileRule,
  groupRules,
  hypothesis,
  nothingAsked,
  preflightError,
  type TraitResolver,
  type UserFacts,
} from '../flags/rule.js'
import { readInstant, type TraitRef } from '../flags/trait.js'
import { type Cycle, metricReset } from '../usage/period.js'
import type { Quantity } from '../usage/quantity.js'
import type {
  EngineCompany,
  EngineCondition,
  EngineFeatureEntitlement,
  EngineFlag,
  EngineRule,
  EngineSubscription,
  EngineTrait,
  EngineTraitDefinition,
  EngineUser,
} from './engine-shapes.js'

/** Preflight as the wire spells it (FE-80…87). */
export interface PreflightBody {
  readonly usage?: Quantity | null
  readonly event_usage?: { readonly event_subtype: string; readonly quantity: Quantity } | null
  readonly credit_cost?: Readonly<Record<string, number>> | null
}

/** A preflight body with every member settled. */
function readPreflight(body: PreflightBody): Preflight {
  const used = body.event_usage
  return {
    usage: body.usage ?? null,
    eventUsage: used ? { eventSubtype: used.event_subtype, quantity: used.quantity } : null,
    creditCost: body.credit_cost ?? null,
  }
}

/**
 * Evaluate a flag over snapshots: the whole input is in the arguments (FE-1).
 *
 * Runs the code live checks run; only where the facts come from differs. Snapshots are trusted but for counters
 * whose `valid_until` has come, which count as 0 (FE-5).
 * returns  a result; `error` for a negative preflight, with the default value and no entitlement (FE-86).
 */
export function evaluate(
  flag: EngineFlag,
  company: EngineCompany | null,
  user: EngineUser | null,
  preflight: PreflightBody | null,
  nowMs: number,
): CheckResult {
  const own = { id: flag.id, key: flag.key, defaultValue: flag.default_value, rules: [] }
  const compiled = new CompiledFlag(own, null, () => null)
  const companyFacts = company && new CompanySnapshot(company, nowMs)
  const userFacts = user && userSnapshot(user)
  let asked = nothingAsked
  if (preflight !== null) {
    const given = readPreflight(preflight)
    const error = preflightError(given)
    if (error !== null) return result(compiled, null, companyFacts, userFacts, null, error)
    asked = hypothesis(given)
  }
  // FE-14: scoped rules take part only if they name the flag
  const scoped = [...(company?.rules ?? []), ...(user?.rules ?? [])].filter(rule => rule.flag_id === flag.id)
  const rules = [...flag.rules, ...scoped].map(rule => ({
    rule: compileEngineRule(rule),
    priority: rule.priority,
  }))
  const decided = decideByRules(groupRules(rules), { company: companyFacts, user: userFacts, asked })
  const entitlement = company?.entitlements?.find(({ feature_key }) => feature_key === flag.key)
  const report = entitlement ? reportOf(entitlement) : null
  return result(compiled, decided, companyFacts, userFacts, report, null)
}

function compileEngineRule(rule: EngineRule): CompiledRule {
  // a definition travels with each condition; two conditions may carry one id with different types
  const definitions: TraitRef[] = []
  const convert = (condition: EngineCondition): ConditionDef => ({
    id: condition.id,
    conditionType: condition.condition_type,
    operator: condition.operator,
    resourceIds: condition.resource_ids,
    traitId: noted(condition.trait_definition, definitions),
    traitValue: condition.trait_value,
    comparisonTraitId: noted(condition.comparison_trait_definition, definitions),
    eventSubtype: condition.event_subtype ?? null,
    metricPeriod: condition.metric_period ?? null,
    monthReset: condition.metric_period_month_reset ?? null,
    metricValue: condition.metric_value ?? null,
    creditId: condition.credit_id ?? null,
    consumptionRate: condition.consumption_rate ?? null,
    quantityRates: condition.quantity_rates ?? null,
  })
  const resolve: TraitResolver = place => definitions[Number(place)] ?? null
  return compileRule(
    {
      id: rule.id,
      name: rule.name,
      ruleType: rule.rule_type,
      priority: rule.priority,
      value: rule.value,
      flagId: rule.flag_id ?? null,
      conditions: rule.conditions.map(convert),
      conditionGroups: rule.condition_groups.map(({ conditions }) => conditions.map(convert)),
    },
    resolve,
  )
}

function noted(definition: EngineTraitDefinition | null | undefined, into: TraitRef[]): string | null {
  if (!definition) return null
  const { id, entity_type: entityType, comparable_type } = definition
  into.push({ id, entityType, name: id, comparableType: comparable_type })
  return String(into.length - 1)
}

/** A company snapshot as facts. */
class CompanySnapshot implements CompanyFacts {
  readonly id: string
  readonly basePlanId: string | null
  readonly #traits: ReadonlyMap<string, EngineTrait>

  constructor(
    readonly company: EngineCompany,
    readonly nowMs: number,
  ) {
    this.id = company.id
    this.basePlanId = company.base_plan_id ?? null
    this.#traits = traitsById(company.traits)
  }

  onPlan(planIds: ReadonlySet<string>): boolean {
    return this.company.plan_ids.some(id => planIds.has(id))
  }

  onVersion(versionIds: ReadonlySet<string>): boolean {
    return this.company.plan_version_ids.some(id => versionIds.has(id))
  }

  hasProduct(productIds: ReadonlySet<string>): boolean {
    return this.company.billing_product_ids.some(id => productIds.has(id))
  }

  counter(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity {
    const found = this.company.metrics.find(
      metric =>
        metric.event_subtype === subtype && metric.period === period && metric.month_reset === monthReset,
    )
    if (!found) return 0
    const until = found.valid_until ? readInstant(found.valid_until) : null
    return until !== null && until.ms <= this.nowMs ? 0 : found.value // FE-5
  }

  test(test: CounterTest, more: Quantity, than: Quantity): boolean {
    return test.holds(this.counter(test.subtype, test.period, test.monthReset), more, than)
  }

  resetsAt(period: MetricPeriod, monthReset: MonthReset): number | null {
    return metricReset(period, monthReset, cycleFrom(this.company.subscription ?? null), this.nowMs)
  }

  traitText(trait: TraitRef): string | null {
    return this.#traits.get(trait.id)?.value ?? null
  }

  traitType(trait: TraitRef): ComparableType {
    return this.#traits.get(trait.id)?.trait_definition?.comparable_type ?? trait.comparableType
  }

  remaining(creditId: string): bigint {
    const balances = this.company.credit_balances
    return Object.hasOwn(balances, creditId) ? amountFromNumber(balances[creditId]!) : 0n
  }

  figures(creditId: string) {
    const remaining = this.remaining(creditId)
    return { remaining, reserved: 0n, settled: remaining, total: remaining }
  }

  /** Snapshots carry no spend policies. */
  spendCap(): null {
    return null
  }

  overdraft(creditId: string) {
    const configured = this.company.credit_postpaid ?? {}
    if (!Object.hasOwn(configured, creditId)) return null
    const limit = configured[creditId]!.overdraft_limit ?? null
    return { limit: limit === null ? null : amountFromNumber(limit) }
  }
}

function userSnapshot(user: EngineUser): UserFacts {
  const traits = traitsById(user.traits)
  return {
    id: user.id,
    traitText: trait => traits.get(trait.id)?.value ?? null,
    traitType: trait => traits.get(trait.id)?.trait_definition?.comparable_type ?? trait.comparableType,
  }
}

/** The first trait of a definition counts. */
function traitsById(traits: readonly EngineTrait[]): Map<string, EngineTrait> {
  const found = new Map<string, EngineTrait>()
  for (const trait of traits) {
    const id = trait.trait_definition?.id
    if (id !== undefined && !found.has(id)) found.set(id, trait)
  }
  return found
}

function cycleFrom(subscription: EngineSubscription | null): Cycle | null {
  if (subscription === null) return null
  const [start, end] = [readInstant(subscription.period_start), readInstant(subscription.period_end)]
  return start && end ? { startMs: start.ms, endMs: end.ms } : null
}

function reportOf(entitlement: EngineFeatureEntitlement): EntitlementReport {
  const resetAt = entitlement.metric_reset_at ? readInstant(entitlement.metric_reset_at) : null
  return {
    featureId: entitlement.feature_id,
    featureKey: entitlement.feature_key,
    valueType: entitlement.value_type,
    allocation: entitlement.allocation ?? null,
    usage: entitlement.usage ?? null,
    softLimit: entitlement.soft_limit ?? null,
    eventName: entitlement.event_name ?? null,
    eventSubtype: entitlement.event_subtype ?? null,
    metricPeriod: entitlement.metric_period ?? null,
    monthReset: entitlement.month_reset ?? null,
    metricResetAtMs: resetAt?.ms ?? null,
    creditId: entitlement.credit_id ?? null,
    consumptionRate: entitlement.consumption_rate ?? null,
    quantityRates: entitlement.quantity_rates ?? null,
    creditTotal: entitlement.credit_total ?? null,
    creditUsed: entitlement.credit_used ?? null,
    creditRemaining: entitlement.credit_remaining ?? null,
    creditReserved: entitlement.credit_reserved ?? null,
    creditSettled: entitlement.credit_settled ?? null,
    warningTiers: entitlement.warning_tiers ?? null,
  }
}

// Rules: conditions compiled once per catalog to closures over facts; grouping, AND / OR, preflight.
import type {
  ComparableOperator,
  ComparableType,
  MetricPeriod,
  MonthReset,
  RuleType,
} from '../../../schemas/enums.js'
import type { CreditFigures } from '../model/account-state.js'
import type { ConditionDef, RuleDef } from '../model/definitions.js'
import type { Preflight } from '../model/requests.js'
import { amountFromNumber, costOf } from '../values/amount.js'
import { isQuantity, type Quantity } from '../values/quantity.js'
import {
  compareNumbers,
  compareTexts,
  plusUsage,
  readNumber,
  strictInteger,
  type TraitRef,
  testAgainst,
} from '../values/trait.js'
import { CounterTest } from './read-set.js'

/** An overdraft configuration: how far below zero, in billionths of a credit; null = no floor (FE-47, CR-51). */
export interface Overdraft {
  readonly limit: bigint | null
}

/**
 * Facts of a company that conditions may read at one instant; no other input decides a check (FE-1).
 *
 * Implemented by live state and by the snapshots of the wire; both must answer alike.
 */
export interface CompanyFacts {
  readonly id: string
  readonly basePlanId: string | null
  /** Whether any plan, add-ons included, is in the set. */
  onPlan(planIds: ReadonlySet<string>): boolean
  onVersion(versionIds: ReadonlySet<string>): boolean
  hasProduct(productIds: ReadonlySet<string>): boolean
  /** The counter of exactly this subtype, period and month reset; 0 when there is none (FE-41, FE-43). */
  counter(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity
  /** Whether the comparison holds for that counter plus `more` (FE-40, FE-80). */
  test(counter: CounterTest, more: Quantity, than: Quantity): boolean
  /** When that counter starts again, epoch ms; null for all_time. */
  resetsAt(period: MetricPeriod, monthReset: MonthReset): number | null
  /** The stored text of a trait of this entity, or null. */
  traitText(trait: TraitRef): string | null
  /** The type the stored trait compares as; asked only when there is one. */
  traitType(trait: TraitRef): ComparableType
  /** Remaining credits in billionths; 0 without any. */
  remaining(creditId: string): bigint
  /** All figures of a credit; zeros without any. */
  figures(creditId: string): CreditFigures
  overdraft(creditId: string): Overdraft | null
  /** The most that one draw may take, in billionths, for the company or for it and this user; null: no policy says. */
  spendCap(creditId: string, user: UserFacts | null): bigint | null
  /** Told that a hypothetical use needs more than the cap. */
  overCap?(creditId: string, user: UserFacts | null, need: bigint): void
}

/** Facts of a user that conditions may read. */
export interface UserFacts {
  readonly id: string
  traitText(trait: TraitRef): string | null
  traitType(trait: TraitRef): ComparableType
}

/** Everything one evaluation looks at (FE-1). */
export interface Check {
  readonly company: CompanyFacts | null
  readonly user: UserFacts | null
  readonly asked: Hypothesis
}

/** Preflight made ready: zeros are as if absent (FE-83), costs are exact. */
export interface Hypothesis {
  readonly usage: Quantity
  readonly subtype: string | null
  readonly quantity: Quantity
  readonly costs: ReadonlyMap<string, bigint> | null
}

/** No preflight. */
export const nothingAsked: Hypothesis = { usage: 0, subtype: null, quantity: 0, costs: null }

/** Why a preflight is refused, or null (FE-86). */
export function preflightError(preflight: Preflight): string | null {
  const { usage, eventUsage, creditCost: costs } = preflight
  const numbers = [usage ?? 0, eventUsage?.quantity ?? 0]
  if (numbers.some(number => number < 0)) return 'preflight usage cannot be negative'
  if (!numbers.every(isQuantity)) return 'preflight usage must be an integer'
  const amounts = costs === null ? [] : Object.values(costs)
  if (amounts.some(cost => cost < 0)) return 'preflight credit cost cannot be negative'
  return amounts.every(Number.isFinite) ? null : 'preflight credit cost must be a number'
}

/** A preflight without error, ready to use (FE-80…83). */
export function hypothesis(preflight: Preflight): Hypothesis {
  const { usage, eventUsage, creditCost: costs } = preflight
  return {
    usage: usage ?? 0,
    subtype: eventUsage?.eventSubtype ?? null,
    quantity: eventUsage?.quantity ?? 0,
    costs: costs && new Map(Object.entries(costs).map(([id, cost]) => [id, amountFromNumber(cost)])),
  }
}

/** Whether a condition holds. */
export type Condition = (check: Check) => boolean

/** Trait definitions by id; null for one that does not exist. */
export type TraitResolver = (traitId: string) => TraitRef | null

/** Source of the deprecated usage members when its rule matched (FE-71). */
export type UsageSource =
  | {
      readonly kind: 'metric'
      readonly subtype: string
      readonly period: MetricPeriod
      readonly monthReset: MonthReset
      readonly literal: Quantity
      readonly comparison: TraitRef | null
    }
  | {
      readonly kind: 'trait'
      readonly trait: TraitRef
      readonly literal: Quantity
      readonly comparison: TraitRef | null
    }

/** A rule, ready to run. */
export interface CompiledRule {
  readonly id: string
  readonly ruleType: RuleType
  readonly value: boolean
  readonly reason: string
  readonly conditions: readonly Condition[]
  readonly groups: readonly (readonly Condition[])[]
  readonly usage: UsageSource | null
  /** The members of a result that follow from the rule alone, serialised. */
  readonly json: string
  /** The outcome for the flag that it decided last (flag.ts): nearly every rule is of one flag. */
  shown: Outcome | null
  /** Writes the figures of `usage`; made when first needed (all-flags.ts). */
  usageText: FiguresText | null
}

/** Figures of a company as a part of an answer's text. */
export interface FiguresText {
  of(company: CompanyFacts): string
}

/** The part of a result that definitions alone decide: its flag, and the rule that decided it, if any. Figures are apart. */
export interface Outcome {
  /** The compiled flag. */
  readonly of: object
  /** Key of the flag. */
  readonly flag: string
  readonly flagId: string
  readonly value: boolean
  readonly reason: string
  /** null: none matched. */
  readonly ruleId: string | null
  /** flag, flag_id, value, reason, rule_id and rule_type, serialised. */
  readonly json: string
  /** For hashes of lists: no other outcome of this thread has it. */
  readonly serial: number
}

const never: Condition = () => false

/**
 * Compile one condition.
 *
 * returns  a pure closure; always false for an unknown type or operator, missing members or an absent entity.
 * source   FE-30…48, FE-60…68, FE-80…84.
 */
export function compileCondition(def: ConditionDef, traits: TraitResolver): Condition {
  if (!isOperator(def.operator)) return never
  switch (def.conditionType) {
    case 'company': {
      const ids = new Set(def.resourceIds)
      const ne = def.operator === 'ne'
      return ({ company }) => company !== null && ids.has(company.id) !== ne
    }
    case 'user': {
      const ids = new Set(def.resourceIds)
      const ne = def.operator === 'ne'
      return ({ user }) => user !== null && ids.has(user.id) !== ne
    }
    case 'plan': {
      const ids = new Set(def.resourceIds)
      const ne = def.operator === 'ne'
      return ({ company }) => company !== null && company.onPlan(ids) !== ne
    }
    case 'plan_version': {
      const ids = new Set(def.resourceIds)
      const ne = def.operator === 'ne'
      return ({ company }) => company !== null && company.onVersion(ids) !== ne
    }
    case 'billing_product': {
      const ids = new Set(def.resourceIds)
      const ne = def.operator === 'ne'
      return ({ company }) => company !== null && company.hasProduct(ids) !== ne
    }
    case 'base_plan':
      return basePlanCondition(def)
    case 'metric':
      return metricCondition(def, traits)
    case 'credit':
      return creditCondition(def)
    case 'trait':
      return traitCondition(def, traits)
  }
  // data of a newer build may hold one that this build does not know
  def.conditionType satisfies never
  return never
}

/** FE-32. */
function basePlanCondition(def: ConditionDef): Condition {
  const ids = new Set(def.resourceIds)
  switch (def.operator) {
    case 'eq':
      return ({ company }) => company !== null && company.basePlanId !== null && ids.has(company.basePlanId)
    case 'ne':
      return ({ company }) =>
        company !== null && (company.basePlanId === null || !ids.has(company.basePlanId))
    case 'is_empty':
      return ({ company }) => company !== null && company.basePlanId === null
    case 'not_empty':
      return ({ company }) => company !== null && company.basePlanId !== null
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return never
  }
}

/** FE-40…44, FE-80. */
function metricCondition(def: ConditionDef, traits: TraitResolver): Condition {
  const { operator, eventSubtype: subtype, metricValue: literal } = def
  if (subtype === null || literal === null) return never
  const period = def.metricPeriod ?? 'all_time'
  const monthReset = def.monthReset ?? 'first_of_month'
  const counter = new CounterTest(operator, subtype, period, monthReset)
  const comparison = def.comparisonTraitId === null ? null : traits(def.comparisonTraitId)
  // the write path has made sure that the trait exists; an unknown one reads as one the company lacks: 0
  const compares = def.comparisonTraitId !== null
  return ({ company, asked }) => {
    if (company === null) return false
    let more: Quantity = 0
    if (asked.quantity > 0 && asked.subtype === subtype) more = asked.quantity
    else if (asked.usage > 0) more = asked.usage
    return company.test(counter, more, compares ? traitLimit(company, comparison) : literal)
  }
}

/** A limit read from a company's trait; 0 where it has none or no integer (FE-44, FE-68, EN-14). */
export function traitLimit(company: CompanyFacts, trait: TraitRef | null): Quantity {
  const text = trait === null ? null : company.traitText(trait)
  return text === null ? 0 : (strictInteger(text) ?? 0)
}

/** FE-45…48, FE-81, FE-82; decision 27: use that a preflight names is held to spend policies. */
function creditCondition(def: ConditionDef): Condition {
  const { creditId, eventSubtype: subtype, quantityRates } = def
  if (creditId === null) return never
  const metersQuantities = quantityRates !== null && Object.keys(quantityRates).length > 0
  const rate = def.consumptionRate ?? (metersQuantities ? 0 : 1)
  const one = costOf(1, rate)
  const exceeded = def.operator === 'gt' || def.operator === 'gte'
  return ({ company, user, asked }) => {
    if (company === null) return false
    let need = one
    let known = !metersQuantities
    if (asked !== nothingAsked) {
      const cost = asked.costs?.get(creditId)
      let named = true
      if (cost !== undefined) {
        need = cost
        known = true
      } else if (asked.quantity > 0 && subtype !== null && asked.subtype === subtype)
        need = costOf(asked.quantity, rate)
      else if (asked.usage > 0) need = costOf(asked.usage, rate)
      else named = false
      const cap = named ? company.spendCap(creditId, user) : null
      if (cap !== null && need > cap) {
        company.overCap?.(creditId, user, need)
        return exceeded
      }
    }
    const overdraft = company.overdraft(creditId)
    if (overdraft !== null && overdraft.limit === null) return !exceeded
    const room = company.remaining(creditId) + (overdraft?.limit ?? 0n)
    return (room >= need && (known || room > 0n)) !== exceeded
  }
}

/** FE-60…62, FE-69, FE-84. */
function traitCondition(def: ConditionDef, traits: TraitResolver): Condition {
  const { operator, traitValue } = def
  const trait = def.traitId === null ? null : traits(def.traitId)
  if (trait === null) return never
  const ofCompany = trait.entityType === 'company'
  const compares = def.comparisonTraitId !== null
  const comparison = def.comparisonTraitId === null ? null : traits(def.comparisonTraitId)
  const said = def.comparableType ?? null // FE-69
  const own = said ?? trait.comparableType
  const literalTest = testAgainst(own, operator, traitValue)
  return ({ company, user, asked }) => {
    const entity = ofCompany ? company : user
    if (entity === null) return false
    const stored = entity.traitText(trait)
    const type = said ?? (stored === null ? own : entity.traitType(trait))
    const left = stored ?? ''
    if (!compares && asked.usage === 0 && type === own) return literalTest(left)
    const right = compares ? ((comparison && entity.traitText(comparison)) ?? '') : traitValue
    if (asked.usage > 0 && type === 'int')
      return compareNumbers(operator, plusUsage(left, asked.usage), readNumber(right))
    return compareTexts(type, operator, left, right)
  }
}

/** The wire's snapshots may carry an operator that is none (section 4). */
function isOperator(operator: ComparableOperator): boolean {
  switch (operator) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'is_empty':
    case 'not_empty':
      return true
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

/** Rule types whose matched rule fills the deprecated usage members (FE-71). */
export function isEntitlementRule(type: RuleType): boolean {
  return (
    type === 'company_override' ||
    type === 'plan_entitlement' ||
    type === 'company_override_usage_exceeded' ||
    type === 'plan_entitlement_usage_exceeded'
  )
}

/** Compile one rule. */
export function compileRule(def: RuleDef, traits: TraitResolver): CompiledRule {
  const reason = `Matched ${def.ruleType.replaceAll('_', ' ')} rule "${def.name}" (${def.id})`
  return {
    id: def.id,
    ruleType: def.ruleType,
    value: def.value,
    reason,
    conditions: def.conditions.map(condition => compileCondition(condition, traits)),
    groups: def.conditionGroups.map(group => group.map(condition => compileCondition(condition, traits))),
    usage: isEntitlementRule(def.ruleType) ? usageSource(def.conditions, traits) : null,
    json: verdictJson(def.value, reason, def.id, def.ruleType),
    shown: null,
    usageText: null,
  }
}

/** The members of a result that follow from what decided it, serialised. */
export function verdictJson(
  value: boolean,
  reason: string,
  ruleId: string | null,
  ruleType: RuleType | null,
): string {
  const rule = JSON.stringify({ value, reason, rule_id: ruleId, rule_type: ruleType })
  return rule.slice(1, -1)
}

/** FE-71: the first metric or trait condition among the direct ones. */
function usageSource(conditions: readonly ConditionDef[], traits: TraitResolver): UsageSource | null {
  const def = conditions.find(({ conditionType }) => conditionType === 'metric' || conditionType === 'trait')
  if (!def) return null
  const comparison = def.comparisonTraitId === null ? null : traits(def.comparisonTraitId)
  if (def.conditionType === 'metric')
    return {
      kind: 'metric',
      subtype: def.eventSubtype ?? '',
      period: def.metricPeriod ?? 'all_time',
      monthReset: def.monthReset ?? 'first_of_month',
      literal: def.metricValue ?? 0,
      comparison,
    }
  const trait = def.traitId === null ? null : traits(def.traitId)
  if (trait === null) return null
  return { kind: 'trait', trait, literal: strictInteger(def.traitValue) ?? 0, comparison }
}

/** Whether a rule matches: every condition, and of every group at least one (FE-20, FE-21). */
export function matches(rule: CompiledRule, check: Check): boolean {
  const { conditions, groups } = rule
  for (let i = 0; i < conditions.length; i++) if (!conditions[i]!(check)) return false
  for (let i = 0; i < groups.length; i++) if (!holdsAny(groups[i]!, check)) return false
  return true
}

function holdsAny(conditions: readonly Condition[], check: Check): boolean {
  for (let i = 0; i < conditions.length; i++) if (conditions[i]!(check)) return true
  return false
}

/** Rules by type, each list in the order it is tried (FE-10…13). */
export type RuleGroups = { readonly [Type in RuleType]: readonly CompiledRule[] }

/**
 * Group rules that take part in one flag, given in the order flag → company → user (FE-14).
 *
 * priority  priority of each rule, beside it, since compiled rules no longer need it.
 */
export function groupRules(rules: readonly { rule: CompiledRule; priority: Quantity }[]): RuleGroups {
  const ofType = (type: RuleType) => rules.filter(({ rule }) => rule.ruleType === type)
  const asListed = (type: RuleType) => ofType(type).map(({ rule }) => rule)
  // sorts are stable: equal rules keep their order
  const trueFirst = (type: RuleType) => asListed(type).sort((a, b) => Number(b.value) - Number(a.value))
  return {
    global_override: asListed('global_override'),
    company_override: trueFirst('company_override'),
    plan_entitlement: trueFirst('plan_entitlement'),
    company_override_usage_exceeded: trueFirst('company_override_usage_exceeded'),
    plan_entitlement_usage_exceeded: trueFirst('plan_entitlement_usage_exceeded'),
    standard: ofType('standard')
      .sort((a, b) => (a.priority < b.priority ? -1 : a.priority > b.priority ? 1 : 0))
      .map(({ rule }) => rule),
    default: asListed('default'),
  }
}

/** The first rule of a list that matches. */
export function firstMatch(rules: readonly CompiledRule[], check: Check): CompiledRule | null {
  for (let i = 0; i < rules.length; i++) if (matches(rules[i]!, check)) return rules[i]!
  return null
}

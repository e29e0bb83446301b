// Why a flag has its value for a company and user: each rule in the order it is tried, each condition with the value it
// saw, the rule that decided, and the smallest change that would change the result. It changes and counts nothing.
import type { RuleType } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import { type CompiledEntitlement, type Gate, generatedRules } from '../entitlements/entitlement.js'
import { type CompiledFlag, checkWith, inContext, namingBudget } from '../flags/flag.js'
import { LiveCompany } from '../live/live-company.js'
import type { Company } from '../model/company-state.js'
import type { ConditionDef, RuleDef } from '../model/definitions.js'
import type { CheckContext, Preflight } from '../model/requests.js'
import {
  type Check,
  type CompiledRule,
  compileCondition,
  compileRule,
  groupRules,
  hypothesis,
  nothingAsked,
  preflightError,
  type TraitResolver,
  traitLimit,
} from '../rules/rule.js'
import { amountToNumber } from '../values/amount.js'
import { addQuantity, type Quantity } from '../values/quantity.js'
import { compareNumbers } from '../values/trait.js'
import type { ExplainedCondition, ExplainedRule, RuleOrigin } from './explained.js'
import { userFacts } from './reserve.js'
import { type SmallestChange, smallestChange } from './smallest-change.js'

export interface Explanation {
  readonly flag: string
  readonly flagId: string
  readonly value: boolean
  readonly defaultValue: boolean
  readonly reason: string
  readonly error: string | null
  /** The rule that decided; null: the default value. */
  readonly ruleId: string | null
  readonly companyId: string | null
  readonly userId: string | null
  readonly rules: readonly ExplainedRule[]
  readonly change: SmallestChange | null
}

/** A rule with its definition, in the order it is tried. */
interface Candidate {
  readonly def: RuleDef
  readonly origin: RuleOrigin
  readonly planId: string | null
  readonly overrideId: string | null
  /** FE-11: it matches whatever its conditions say. */
  readonly always: boolean
}

/**
 * Explain a flag. Null for an unknown key.
 *
 * source  FE-1, FE-10…14, EN-23. The rule that decided is the one of `checkWith`.
 */
export function explainFlag(
  catalog: Catalog,
  company: Company | null,
  {
    flagKey,
    preflight,
    context,
  }: { readonly flagKey: string; readonly preflight: Preflight | null; readonly context: CheckContext },
  atMs: number,
): Explanation | null {
  const flag = catalog.flagsByKey.get(flagKey)
  if (flag === undefined) return null
  const live = company && new LiveCompany(company, catalog, atMs)
  const user = userFacts(context)
  const checked = namingBudget(inContext(checkWith(flag, live, user, preflight), context), live?.overBudget)
  const asked =
    preflight === null || preflightError(preflight) !== null ? nothingAsked : hypothesis(preflight)
  const check: Check = { company: live, user, asked }
  const traits: TraitResolver = id => catalog.traits.get(id) ?? null
  const judged = candidates(catalog, flag, live, traits).map(one => judge(one, check, traits, catalog))
  const at = judged.findIndex(({ matched }) => matched)
  const rules = judged.map((rule, i) => ({ ...rule, decided: i === at && checked.error === null }))
  return {
    flag: flag.key,
    flagId: flag.id,
    value: checked.value,
    defaultValue: flag.defaultValue,
    reason: checked.reason,
    error: checked.error,
    ruleId: checked.ruleId,
    companyId: checked.companyId,
    userId: checked.userId,
    rules,
    change: checked.error === null ? smallestChange(rules, flag.defaultValue) : null,
  }
}

/** Every rule that may decide the flag for this company, in the order of FE-10 and FE-13. */
function candidates(
  catalog: Catalog,
  flag: CompiledFlag,
  live: LiveCompany | null,
  traits: TraitResolver,
): Candidate[] {
  const defs = catalog.data.flags.find(({ id }) => id === flag.id)?.rules ?? []
  const byRule = new Map<CompiledRule, RuleDef>(defs.map(def => [compileRule(def, traits), def]))
  const groups = groupRules([...byRule].map(([rule, { priority }]) => ({ rule, priority })))
  const own = (type: RuleType): Candidate[] =>
    groups[type].map(rule => ({
      def: byRule.get(rule)!,
      origin: 'flag',
      planId: null,
      overrideId: null,
      always: type === 'global_override' || type === 'default',
    }))
  const { feature } = flag
  const override = live !== null && feature !== null ? live.override(feature) : null
  const plans =
    live === null || feature === null
      ? []
      : live.versions.flatMap(version => version.entitlement(feature.index) ?? [])
  const granting = plans.flatMap(one => ofEntitlement(catalog, one, false))
  return [
    ...own('global_override'),
    ...own('company_override'),
    ...(override ? ofEntitlement(catalog, override, false) : []),
    ...own('plan_entitlement'),
    // rules that allow before rules that deny
    ...granting.filter(({ def }) => def.value),
    ...granting.filter(({ def }) => !def.value),
    ...own('company_override_usage_exceeded'),
    ...(override ? ofEntitlement(catalog, override, true) : []),
    ...own('plan_entitlement_usage_exceeded'),
    ...plans.flatMap(one => ofEntitlement(catalog, one, true)),
    ...own('standard'),
    ...own('default'),
  ]
}

/** The rule that an entitlement makes, without its gate, which the look-up has passed (EN-5). */
function ofEntitlement(catalog: Catalog, entitlement: CompiledEntitlement, exceeded: boolean): Candidate[] {
  const { def, feature, override, planId, versionId } = entitlement
  const compiled = exceeded ? entitlement.exceeded : entitlement.rule
  if (compiled === null) return []
  const planName = catalog.plans.get(planId ?? '')?.def.name ?? ''
  const gate: Gate =
    override === null
      ? { type: 'plan_version', versionId: versionId ?? '', planName }
      : { type: 'company', companyId: '', override }
  const made = generatedRules(feature.def, def, gate).find(
    rule => rule.ruleType.endsWith('usage_exceeded') === exceeded,
  )
  if (made === undefined) return []
  return [
    {
      def: { ...made, id: compiled.id, conditions: made.conditions.slice(1) },
      origin: override === null ? 'plan' : 'override',
      planId,
      overrideId: override?.id ?? null,
      always: false,
    },
  ]
}

function judge(
  { def, origin, planId, overrideId, always }: Candidate,
  check: Check,
  traits: TraitResolver,
  catalog: Catalog,
): ExplainedRule {
  const explain = (one: ConditionDef) => explainCondition(one, check, traits, catalog)
  const conditions = def.conditions.map(explain)
  const conditionGroups = def.conditionGroups.map(group => group.map(explain))
  const matched =
    always ||
    (conditions.every(({ held }) => held) && conditionGroups.every(group => group.some(({ held }) => held)))
  return {
    id: def.id,
    name: def.name,
    ruleType: def.ruleType,
    value: def.value,
    origin,
    planId,
    overrideId,
    always,
    matched,
    decided: false,
    conditions,
    conditionGroups,
  }
}

function explainCondition(
  def: ConditionDef,
  check: Check,
  traits: TraitResolver,
  catalog: Catalog,
): ExplainedCondition {
  const told = tellValues(def, check, traits, catalog)
  return {
    id: def.id,
    conditionType: def.conditionType,
    operator: def.operator,
    held: compileCondition(def, traits)(check),
    resourceIds: def.resourceIds,
    resetAtMs: null,
    turnsAtReset: false,
    ...told,
  }
}

type Told = Pick<ExplainedCondition, 'subject' | 'expected' | 'saw'> &
  Partial<Pick<ExplainedCondition, 'resetAtMs' | 'turnsAtReset'>>

function tellValues(def: ConditionDef, check: Check, traits: TraitResolver, catalog: Catalog): Told {
  const { company, user } = check
  const ids = def.resourceIds.join(', ')
  switch (def.conditionType) {
    case 'company':
      return { subject: 'company', expected: ids, saw: company?.id ?? null }
    case 'user':
      return { subject: 'user', expected: ids, saw: user?.id ?? null }
    case 'base_plan':
      return { subject: 'base plan', expected: ids, saw: company?.basePlanId ?? null }
    case 'plan':
      return { subject: 'plan', expected: ids, saw: heldPlans(company, catalog) }
    case 'plan_version':
      return { subject: 'plan version', expected: ids, saw: heldVersions(company) }
    case 'billing_product':
      return { subject: 'billing product', expected: ids, saw: null }
    case 'metric':
      return tellMetric(def, check, traits)
    case 'credit':
      return tellCredit(def, check, catalog)
    case 'trait':
      return tellTrait(def, check, traits)
  }
  // data of a newer build may hold one that this build does not know
  def.conditionType satisfies never
  return { subject: def.conditionType, expected: '', saw: null }
}

function heldPlans(company: Check['company'], catalog: Catalog): string | null {
  if (company === null) return null
  const held = [...catalog.plans.keys()].filter(id => company.onPlan(new Set([id])))
  return held.length === 0 ? null : held.join(', ')
}

function heldVersions(company: Check['company']): string | null {
  if (!(company instanceof LiveCompany) || company.versions.length === 0) return null
  return company.versions.map(({ id }) => id).join(', ')
}

function tellMetric(def: ConditionDef, { company, asked }: Check, traits: TraitResolver): Told {
  const subtype = def.eventSubtype ?? ''
  const period = def.metricPeriod ?? 'all_time'
  const reset = def.monthReset ?? 'first_of_month'
  const subject = `usage of ${subtype}, ${period}`
  const literal = String(def.metricValue ?? 0)
  if (company === null) return { subject, expected: literal, saw: null }
  const comparison = def.comparisonTraitId === null ? null : traits(def.comparisonTraitId)
  const limit = def.comparisonTraitId === null ? (def.metricValue ?? 0) : traitLimit(company, comparison)
  const more = asked.quantity > 0 && asked.subtype === subtype ? asked.quantity : asked.usage
  const used = company.counter(subtype, period, reset)
  const holds = (counted: Quantity) => compareNumbers(def.operator, addQuantity(counted, more), limit)
  return {
    subject,
    expected: String(limit),
    saw: more > 0 ? `${used} + ${more}` : String(used),
    resetAtMs: company.resetsAt(period, reset),
    turnsAtReset: holds(0) !== holds(used),
  }
}

function tellCredit(def: ConditionDef, { company }: Check, catalog: Catalog): Told {
  const name = catalog.credits.get(def.creditId ?? '')?.name ?? def.creditId ?? ''
  const subject = `credits ${name}`
  const expected = String(def.consumptionRate ?? 1)
  if (company === null || def.creditId === null) return { subject, expected, saw: null }
  return { subject, expected, saw: String(amountToNumber(company.remaining(def.creditId))) }
}

function tellTrait(def: ConditionDef, { company, user }: Check, traits: TraitResolver): Told {
  const trait = def.traitId === null ? null : traits(def.traitId)
  if (trait === null) return { subject: 'trait', expected: def.traitValue, saw: null }
  const entity = trait.entityType === 'company' ? company : user
  const comparison = def.comparisonTraitId === null ? null : traits(def.comparisonTraitId)
  return {
    subject: `${trait.entityType} trait ${trait.name}${def.comparableType ? ` as ${def.comparableType}` : ''}`,
    expected: comparison === null ? def.traitValue : (entity?.traitText(comparison) ?? ''),
    saw: entity?.traitText(trait) ?? null,
  }
}

// Why a flag has its value for a company and user: each rule in the order it is tried, each condition with the value it
// saw, the rule that decided, and the smallest change that would change the result. It changes and counts nothing.
import type { ComparableOperator, RuleType } from '../../../schemas/enums.js'
import type { Catalog } from '../catalog.js'
import { type CompiledEntitlement, type Gate, generatedRules } from '../entitlements/entitlement.js'
import { type CompiledFlag, checkWith, inContext } from '../flags/flag.js'
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
import { userFacts } from './reserve.js'

/** A condition and the value it saw. */
export interface ExplainedCondition {
  readonly id: string
  readonly conditionType: ConditionDef['conditionType']
  readonly operator: ComparableOperator
  readonly held: boolean
  /** In words: `usage of api_call, current_month`. */
  readonly subject: string
  /** The value it was compared with, as text; of a list of ids, the ids. */
  readonly expected: string
  readonly resourceIds: readonly string[]
  /** The value found; null: the company or user has none, or none was named. */
  readonly saw: string | null
  /** When the counter starts again, epoch ms; null: it is none, or never. */
  readonly resetAtMs: number | null
}

/** Where a rule comes from. */
export type RuleOrigin = 'flag' | 'override' | 'plan'

export interface ExplainedRule {
  readonly id: string
  readonly name: string
  readonly ruleType: RuleType
  readonly value: boolean
  readonly origin: RuleOrigin
  /** The plan whose version has the rule; null: none. */
  readonly planId: string | null
  readonly overrideId: string | null
  /** Every condition held, and of each group at least one. Rules after the one that decided are judged, too. */
  readonly matched: boolean
  readonly decided: boolean
  readonly conditions: readonly ExplainedCondition[]
  readonly conditionGroups: readonly (readonly ExplainedCondition[])[]
}

/** The change of fewest conditions after which the flag has the other value. */
export interface SmallestChange {
  readonly ruleId: string
  /** `match`: the rule must match; `no_match`: it must not. */
  readonly needs: 'match' | 'no_match'
  /** Ids of the conditions that must turn. */
  readonly conditionIds: readonly string[]
  readonly text: string
  /** When time alone brings it, epoch ms; null: it does not. */
  readonly atMs: number | null
}

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
  const checked = inContext(checkWith(flag, live, user, preflight), context)
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
    ...told,
  }
}

type Told = Pick<ExplainedCondition, 'subject' | 'expected' | 'saw'> & { readonly resetAtMs?: number | null }

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
    default:
      return { subject: def.conditionType, expected: '', saw: null }
  }
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
  const limit = def.comparisonTraitId === null ? literal : String(traitLimit(company, comparison))
  const more = asked.quantity > 0 && asked.subtype === subtype ? asked.quantity : asked.usage
  const used = String(company.counter(subtype, period, reset))
  return {
    subject,
    expected: limit,
    saw: more > 0 ? `${used} + ${more}` : used,
    resetAtMs: company.resetsAt(period, reset),
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
    subject: `${trait.entityType} trait ${trait.name}`,
    expected: comparison === null ? def.traitValue : (entity?.traitText(comparison) ?? ''),
    saw: entity?.traitText(trait) ?? null,
  }
}

/**
 * The smallest change: let a rule of the other value match that is tried before the one that decided, or stop those that
 * match before the next rule, or default, of the other value. The first in the order wins among equal ones.
 */
function smallestChange(rules: readonly ExplainedRule[], defaultValue: boolean): SmallestChange | null {
  const at = rules.findIndex(({ decided }) => decided)
  const value = at < 0 ? defaultValue : rules[at]!.value
  const found: SmallestChange[] = []
  for (const rule of at < 0 ? rules : rules.slice(0, at)) {
    const failed = failures(rule)
    if (rule.value === value || failed.length === 0) continue
    found.push(changeOf(rule, 'match', failed))
  }
  const decider = rules[at]
  if (decider !== undefined) {
    const next = rules.slice(at + 1).find(({ matched }) => matched)
    const turns = (next?.value ?? defaultValue) !== value
    const [turned] = decider.conditions
    if (turns && turned !== undefined) found.push(changeOf(decider, 'no_match', [turned]))
  }
  return found.reduce<SmallestChange | null>(
    (least, one) => (least === null || one.conditionIds.length < least.conditionIds.length ? one : least),
    null,
  )
}

/** Conditions that must turn for a rule to match: those that failed, and the first of each group that failed. */
function failures({ conditions, conditionGroups }: ExplainedRule): ExplainedCondition[] {
  const failed = conditions.filter(({ held }) => !held)
  for (const group of conditionGroups)
    if (group.length > 0 && !group.some(({ held }) => held)) failed.push(group[0]!)
  return failed
}

function changeOf(
  rule: ExplainedRule,
  needs: SmallestChange['needs'],
  turned: readonly ExplainedCondition[],
): SmallestChange {
  const resets = turned.map(({ resetAtMs }) => resetAtMs)
  const byTime = needs === 'match' && resets.every(atMs => atMs !== null)
  return {
    ruleId: rule.id,
    needs,
    conditionIds: turned.map(({ id }) => id),
    text: turned.map(one => turnOf(one)).join(' and '),
    atMs: byTime ? Math.max(...resets.map(atMs => atMs!)) : null,
  }
}

/** How a condition would turn, in words. */
function turnOf({
  conditionType,
  operator,
  subject,
  expected,
  saw,
  held,
  resourceIds,
}: ExplainedCondition): string {
  if (conditionType === 'metric' && saw !== null) {
    const used = saw.split(' + ').reduce((sum, part) => sum + BigInt(part), 0n)
    if (!held && operator === 'lt') return `${subject}: a limit of at least ${used + 1n}`
    if (!held && operator === 'lte') return `${subject}: a limit of at least ${used}`
    return `${subject} ${held ? 'not ' : ''}${operator} ${expected}`
  }
  if (conditionType === 'credit') return `${subject}: ${held ? 'fewer' : 'more'} than ${saw ?? 0} remaining`
  const wanted = resourceIds.length > 3 ? `one of ${resourceIds.length}` : expected
  return `${subject} ${held ? 'not ' : ''}${operator} ${wanted}`
}

// A flag check: which rule decides, the value, the reason, and the figures that go with it.
import type { MetricPeriod, RuleType } from '../../../schemas/enums.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  type EntitledFacts,
  reportEntitlement,
  resolveEntitlement,
  writeEntitlement,
} from '../entitlements/entitlement.js'
import type { FlagDef } from '../model/definitions.js'
import type { EntitlementReport } from '../model/entitlement-report.js'
import type { CheckContext, Preflight } from '../model/requests.js'
import {
  type Check,
  type CompanyFacts,
  type CompiledRule,
  compileRule,
  firstMatch,
  groupRules,
  type Hypothesis,
  hypothesis,
  matches,
  nothingAsked,
  type Outcome,
  preflightError,
  type RuleGroups,
  type TraitResolver,
  type UserFacts,
  verdictJson,
} from '../rules/rule.js'
import type { Quantity } from '../values/quantity.js'
import { instantText, quotedName } from '../values/quoted.js'
import { strictInteger } from '../values/trait.js'

/** A flag, ready to run. */
export class CompiledFlag {
  readonly id: string
  readonly key: string
  readonly defaultValue: boolean
  /** The members of a result that name the flag, serialised. */
  readonly json: string
  /** Outcomes of checks in which no rule matches, by their reason: there are few (FE-75, FE-76). */
  private readonly withoutRule = new Map<string, Outcome>()
  private grouped: RuleGroups | null = null

  constructor(
    private readonly def: Pick<FlagDef, 'id' | 'key' | 'defaultValue' | 'rules'>,
    readonly feature: CompiledFeature | null,
    private readonly traits: TraitResolver,
  ) {
    this.id = def.id
    this.key = def.key
    this.defaultValue = def.defaultValue
    this.json = `"flag":${JSON.stringify(def.key)},"flag_id":${JSON.stringify(def.id)}`
  }

  /** The outcome of a check in which no rule matches, made once for each reason. */
  unmatched(reason: string): Outcome {
    let outcome = this.withoutRule.get(reason)
    if (outcome === undefined) {
      outcome = newOutcome(this, null, reason)
      this.withoutRule.set(reason, outcome)
    }
    return outcome
  }

  /**
   * The flag's own rules, compiled on first use, whatever their `flagId` (FE-14). Entitlement rules are found through
   * versions and overrides.
   */
  get rules(): RuleGroups {
    this.grouped ??= groupRules(
      this.def.rules.map(rule => ({ rule: compileRule(rule, this.traits), priority: rule.priority })),
    )
    return this.grouped
  }
}

/** Result of one check (FE-70…73). Unknown members are null. */
export interface CheckResult {
  /** Key of the flag. */
  readonly flag: string
  readonly flagId: string
  readonly value: boolean
  readonly reason: string
  readonly error: string | null
  readonly ruleId: string | null
  readonly ruleType: RuleType | null
  readonly companyId: string | null
  readonly userId: string | null
  readonly featureUsage: Quantity | null
  readonly featureAllocation: Quantity | null
  readonly featureUsageEvent: string | null
  readonly featureUsagePeriod: MetricPeriod | null
  readonly featureUsageResetAtMs: number | null
  readonly entitlement: EntitlementReport | null
  /** flag, flag_id, value, reason, rule_id and rule_type, already serialised. */
  readonly json: string
}

let outcomesMade = 0

/** The outcome for a flag that this rule decides; null: none matched, for this reason. */
function newOutcome(flag: CompiledFlag, rule: CompiledRule | null, reason: string): Outcome {
  const value = rule === null ? flag.defaultValue : rule.value
  const verdict = rule === null ? verdictJson(value, reason, null, null) : rule.json
  return {
    of: flag,
    flag: flag.key,
    flagId: flag.id,
    value,
    reason,
    ruleId: rule === null ? null : rule.id,
    // one flat text, as it is joined again and again
    json: Buffer.from(`${flag.json},${verdict}`).toString(),
    serial: ++outcomesMade,
  }
}

const noRuleMatched = 'No rules matched; default value for flag'

/** The same with given facts, which several checks of one instant share. */
export function checkWith(
  flag: CompiledFlag,
  company: EntitledFacts | null,
  user: UserFacts | null,
  preflight: Preflight | null,
): CheckResult {
  let asked = nothingAsked
  if (preflight !== null) {
    const error = preflightError(preflight)
    if (error !== null) return result(flag, null, company, user, null, error)
    asked = hypothesis(preflight)
  }
  const rule = decide(flag, company, user, asked)
  const { feature } = flag
  const reported = company === null || feature === null ? null : resolveEntitlement(company, feature)
  const report = reported && reportEntitlement(reported, company!, flag.key)
  return result(flag, rule, company, user, report, null)
}

/**
 * The rule that decides a flag, or null for its default value.
 *
 * The order of FE-10, with the rules of entitlements taken from the company's override and versions: base plan
 * first, add-ons by date added (EN-23).
 */
export function decide(
  flag: CompiledFlag,
  company: EntitledFacts | null,
  user: UserFacts | null,
  asked: Hypothesis,
): CompiledRule | null {
  return decideIn(flag, company, { company, user, asked })
}

/** The same for a check that several flags share; `company` is its company. */
export function decideIn(
  flag: CompiledFlag,
  company: EntitledFacts | null,
  check: Check,
): CompiledRule | null {
  const { rules, feature } = flag
  if (rules.global_override.length > 0) return rules.global_override[0]! // FE-11
  if (company === null || feature === null) return decideByRules(rules, check)
  const override = company.override(feature)
  return (
    firstMatch(rules.company_override, check) ??
    (override && granting(override, check)) ??
    firstMatch(rules.plan_entitlement, check) ??
    grantingPlan(company, feature, check) ??
    firstMatch(rules.company_override_usage_exceeded, check) ??
    (override && exceeding(override, check)) ??
    firstMatch(rules.plan_entitlement_usage_exceeded, check) ??
    exceedingPlan(company, feature, check) ??
    firstMatch(rules.standard, check) ??
    rules.default[0] ??
    null
  )
}

/** The order of FE-10 over lists alone; default rules match unconditionally (FE-11). */
export function decideByRules(rules: RuleGroups, check: Check): CompiledRule | null {
  return (
    rules.global_override[0] ??
    firstMatch(rules.company_override, check) ??
    firstMatch(rules.plan_entitlement, check) ??
    firstMatch(rules.company_override_usage_exceeded, check) ??
    firstMatch(rules.plan_entitlement_usage_exceeded, check) ??
    firstMatch(rules.standard, check) ??
    rules.default[0] ??
    null
  )
}

function granting({ rule }: CompiledEntitlement, check: Check): CompiledRule | null {
  return rule !== null && matches(rule, check) ? rule : null
}

function exceeding({ exceeded }: CompiledEntitlement, check: Check): CompiledRule | null {
  return exceeded !== null && matches(exceeded, check) ? exceeded : null
}

/** FE-13: rules with value true before a boolean false. */
function grantingPlan(company: EntitledFacts, feature: CompiledFeature, check: Check): CompiledRule | null {
  const { versions } = company
  let denied: CompiledRule | null = null
  for (let i = 0; i < versions.length; i++) {
    const rule = versions[i]!.entitlement(feature.index)?.rule
    if (!rule || !matches(rule, check)) continue
    if (rule.value) return rule
    denied ??= rule
  }
  return denied
}

function exceedingPlan(company: EntitledFacts, feature: CompiledFeature, check: Check): CompiledRule | null {
  const { versions } = company
  for (let i = 0; i < versions.length; i++) {
    const rule = versions[i]!.entitlement(feature.index)?.exceeded
    if (rule && matches(rule, check)) return rule
  }
  return null
}

/** Put a result together (FE-70, FE-71). */
export function result(
  flag: CompiledFlag,
  rule: CompiledRule | null,
  company: CompanyFacts | null,
  user: UserFacts | null,
  entitlement: EntitlementReport | null,
  error: string | null,
): CheckResult {
  let usage: Quantity | null = null
  let allocation: Quantity | null = null
  let event: string | null = null
  let period: MetricPeriod | null = null
  let resetAtMs: number | null = null
  const source = rule?.usage ?? null
  if (source !== null && company !== null) {
    allocation = source.literal
    if (source.comparison !== null) {
      const text = company.traitText(source.comparison)
      allocation = (text === null ? null : strictInteger(text)) ?? allocation
    }
    if (source.kind === 'metric') {
      usage = company.counter(source.subtype, source.period, source.monthReset)
      event = source.subtype
      period = source.period
      resetAtMs = company.resetsAt(source.period, source.monthReset)
    } else {
      const text = source.trait.entityType === 'company' ? company.traitText(source.trait) : null
      usage = text === null ? 0 : (strictInteger(text) ?? 0)
    }
  }
  return {
    flag: flag.key,
    flagId: flag.id,
    value: rule === null ? flag.defaultValue : rule.value,
    reason: rule === null ? noRuleMatched : rule.reason,
    error,
    ruleId: rule === null ? null : rule.id,
    ruleType: rule === null ? null : rule.ruleType,
    companyId: company === null ? null : company.id,
    userId: user === null ? null : user.id,
    featureUsage: usage,
    featureAllocation: allocation,
    featureUsageEvent: event,
    featureUsagePeriod: period,
    featureUsageResetAtMs: resetAtMs,
    entitlement,
    json: rule === null ? flag.unmatched(noRuleMatched).json : outcomeOf(flag, rule).json,
  }
}

/** The outcome for a flag that this rule decides. */
export function outcomeOf(flag: CompiledFlag, rule: CompiledRule): Outcome {
  if (rule.shown === null || rule.shown.of !== flag) rule.shown = newOutcome(flag, rule, rule.reason)
  return rule.shown
}

/** The reason of a check in which nothing matched, by its context: the API's replacement text (FE-75, FE-76). */
export function contextReason(
  context: Pick<CheckContext, 'companyGiven' | 'userGiven'>,
  companyFound: boolean,
  userFound: boolean,
): string {
  if (!context.companyGiven && !context.userGiven) return 'No company or user context; default value for flag'
  if (context.companyGiven && !companyFound) return 'Company not found'
  if (context.userGiven && !userFound) return 'User not found'
  return noRuleMatched
}

/** A result with its context's reason in place, where no rule matched and nothing failed (FE-76). */
export function inContext(
  checked: CheckResult,
  context: Pick<CheckContext, 'companyGiven' | 'userGiven'>,
): CheckResult {
  if (checked.ruleId !== null || checked.error !== null) return checked
  const reason = contextReason(context, checked.companyId !== null, checked.userId !== null)
  if (reason === checked.reason) return checked
  const flag = JSON.stringify({ flag: checked.flag, flag_id: checked.flagId }).slice(1, -1)
  return { ...checked, reason, json: `${flag},${verdictJson(checked.value, reason, null, null)}` }
}

/**
 * A result as the wire spells it (`CheckFlag`), serialised. ON members without value are null, `entitlement` is
 * omitted when absent.
 */
export function writeCheck(checked: CheckResult, who = whoJson(checked)): string {
  let json = `{${checked.json}${who}`
  if (checked.error !== null) json += `,"error":${JSON.stringify(checked.error)}`
  else json += ',"error":null'
  if (checked.featureUsage === null) json += unusedJson
  else {
    const { featureUsagePeriod: period, featureUsageResetAtMs: resetAtMs } = checked
    json += `,"feature_allocation":${checked.featureAllocation},"feature_usage":${checked.featureUsage},"feature_usage_event":${checked.featureUsageEvent === null ? 'null' : quotedName(checked.featureUsageEvent)}`
    json += period === null ? ',"feature_usage_period":null' : `,"feature_usage_period":"${period}"`
    json +=
      resetAtMs === null
        ? ',"feature_usage_reset_at":null'
        : `,"feature_usage_reset_at":"${instantText(resetAtMs)}"`
  }
  if (checked.entitlement !== null)
    json += `,"entitlement":${writeEntitlement(checked.entitlement, instantText)}`
  return `${json}}`
}

export const unusedJson =
  ',"feature_allocation":null,"feature_usage":null,"feature_usage_event":null,"feature_usage_period":null,"feature_usage_reset_at":null'

export function whoJson({ companyId, userId }: CheckResult): string {
  return `,"company_id":${quoted(companyId)},"user_id":${quoted(userId)}`
}

/** The same result; where a spend policy denied it, with the policy as its reason (BU-5). */
export function namingBudget(checked: CheckResult, overBudget: string | null | undefined): CheckResult {
  if (overBudget == null || checked.value || checked.error !== null) return checked
  return denied(checked, overBudget)
}

/** A result that turned out false after all, for another reason (CR-85). */
export function denied(checked: CheckResult, reason: string): CheckResult {
  const { flag, flagId, ruleId, ruleType } = checked
  const named = JSON.stringify({ flag, flag_id: flagId }).slice(1, -1)
  return {
    ...checked,
    value: false,
    reason,
    json: `${named},${verdictJson(false, reason, ruleId, ruleType)}`,
  }
}

export function quoted(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text)
}

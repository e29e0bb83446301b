// The evaluator over snapshots in the wire's shapes: one flag, at most one company, one user, one preflight.
import type { ComparableType, MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import { type CheckResult, CompiledFlag, decideByRules, result } from '../flags/flag.js'
import type { ConditionDef } from '../model/definitions.js'
import type { EntitlementReport } from '../model/entitlement-report.js'
import type { Preflight } from '../model/requests.js'
import type { CounterTest } from '../rules/read-set.js'
import {
  type CompanyFacts,
  type CompiledRule,
  compileRule,
  groupRules,
  hypothesis,
  nothingAsked,
  preflightError,
  type RuleGroups,
  type TraitResolver,
  type UserFacts,
} from '../rules/rule.js'
import { amountFromDecimal, amountFromNumber, amountToNumber, costOf, lesser } from '../values/amount.js'
import { type Cycle, metricReset } from '../values/period.js'
import { addQuantity, type Quantity } from '../values/quantity.js'
import { readInstant, type TraitRef } from '../values/trait.js'
import type {
  EngineCompany,
  EngineCondition,
  EngineFeatureEntitlement,
  EngineFlag,
  EngineRule,
  EngineSpendPolicy,
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

/** A preflight body with every default filled in. */
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
 * Runs the code of live checks; only the source of the facts differs. Snapshots are trusted, except that counters
 * whose `valid_until` has passed count as 0 (FE-5). For repeated evaluation, keep the prepared forms and call
 * `evaluateWith`.
 * returns  a result; `error` for a negative preflight, with the default value and no entitlement (FE-86).
 */
export function evaluate(
  flag: EngineFlag,
  company: EngineCompany | null,
  user: EngineUser | null,
  preflight: PreflightBody | null,
  nowMs: number,
): CheckResult {
  return evaluateWith(
    new PreparedFlag(flag),
    company && new PreparedCompany(company),
    user && new PreparedUser(user),
    preflight,
    nowMs,
  )
}

/** As `evaluate`, over prepared forms. */
export function evaluateWith(
  flag: PreparedFlag,
  company: PreparedCompany | null,
  user: PreparedUser | null,
  preflight: PreflightBody | null,
  nowMs: number,
): CheckResult {
  if (company !== null) company.nowMs = nowMs
  let asked = nothingAsked
  if (preflight !== null) {
    const given = readPreflight(preflight)
    const error = preflightError(given)
    if (error !== null) return result(flag.compiled, null, company, user, null, error)
    asked = hypothesis(given)
  }
  const decided = decideByRules(flag.rulesFor(company, user), { company, user, asked })
  return result(flag.compiled, decided, company, user, company?.report(flag) ?? null, null)
}

interface Ranked {
  readonly rule: CompiledRule
  readonly priority: Quantity
}

/** Sets of plan versions for which a flag keeps its rules in order. */
const orderedMax = 1_000

/** A flag snapshot with its rules compiled. */
export class PreparedFlag {
  readonly compiled: CompiledFlag
  readonly #common: readonly Ranked[]
  /** Rules that hold for one plan version alone, by its id. */
  readonly #gated = new Map<string, Ranked[]>()
  /** Rules in the order they are tried, by the plan versions of a company. */
  readonly #ordered = new Map<string, RuleGroups>()

  constructor(readonly flag: EngineFlag) {
    const own = { id: flag.id, key: flag.key, defaultValue: flag.default_value, rules: [] }
    this.compiled = new CompiledFlag(own, null, () => null)
    const common: Ranked[] = []
    for (const rule of flag.rules) {
      const ranked = { rule: compileEngineRule(rule), priority: rule.priority }
      const version = versionOf(rule)
      if (version === null) common.push(ranked)
      else {
        const gated = this.#gated.get(version)
        if (gated) gated.push(ranked)
        else this.#gated.set(version, [ranked])
      }
    }
    this.#common = common
  }

  /**
   * The rules that may decide, in the order they are tried: first those of plan versions, in the company's order;
   * then the company's and the user's own rules for this flag (FE-10…14, EN-23).
   */
  rulesFor(company: PreparedCompany | null, user: PreparedUser | null): RuleGroups {
    const scoped = [...(company?.rulesOf(this.flag.id) ?? []), ...(user?.rulesOf(this.flag.id) ?? [])]
    const name = company?.versionNames ?? ''
    if (scoped.length > 0) return groupRules([...this.#held(company), ...scoped])
    let ordered = this.#ordered.get(name)
    if (ordered === undefined) {
      ordered = groupRules(this.#held(company))
      if (this.#ordered.size >= orderedMax) this.#ordered.clear()
      this.#ordered.set(name, ordered)
    }
    return ordered
  }

  #held(company: PreparedCompany | null): readonly Ranked[] {
    if (this.#gated.size === 0 || company === null) return this.#common
    const versions = company.company.plan_version_ids
    return [...this.#common, ...versions.flatMap(id => this.#gated.get(id) ?? [])]
  }
}

/** The plan version without which a rule of an entitlement cannot match; null: there is no such one. */
function versionOf({ conditions, rule_type: type }: EngineRule): string | null {
  if (type !== 'plan_entitlement' && type !== 'plan_entitlement_usage_exceeded') return null
  const gate = conditions[0]
  if (gate?.condition_type !== 'plan_version' || gate.operator !== 'eq') return null
  return gate.resource_ids.length === 1 ? gate.resource_ids[0]! : null
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
    ...(condition.comparable_type && { comparableType: condition.comparable_type }),
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

/** Scoped rules take part only where they name the flag (FE-14). */
function scopedRules(rules: readonly EngineRule[]): ReadonlyMap<string, readonly Ranked[]> {
  const found = new Map<string, Ranked[]>()
  for (const rule of rules) {
    if (!rule.flag_id) continue
    const ranked = { rule: compileEngineRule(rule), priority: rule.priority }
    const others = found.get(rule.flag_id)
    if (others) others.push(ranked)
    else found.set(rule.flag_id, [ranked])
  }
  return found
}

const noUse: ReadonlyMap<string, number> = new Map()

interface Metric {
  readonly period: MetricPeriod
  readonly monthReset: MonthReset
  readonly value: Quantity
  readonly untilMs: number | null
}

/** A company snapshot as facts. */
export class PreparedCompany implements CompanyFacts {
  readonly id: string
  readonly basePlanId: string | null
  /** Its plan versions as one name: companies of equal ones try the same rules. */
  readonly versionNames: string
  /** When it is evaluated, epoch ms. */
  nowMs = 0
  readonly #traits: ReadonlyMap<string, EngineTrait>
  readonly #rules: ReadonlyMap<string, readonly Ranked[]>
  readonly #metrics = new Map<string, Metric[]>()
  readonly #cycle: Cycle | null
  readonly #balances = new Map<string, bigint>()

  /** uncounted  use that its figures do not show yet, by the name of the event; read at each evaluation. */
  constructor(
    readonly company: EngineCompany,
    readonly uncounted: ReadonlyMap<string, number> = noUse,
  ) {
    this.id = company.id
    this.basePlanId = company.base_plan_id ?? null
    this.versionNames = company.plan_version_ids.join(' ')
    this.#traits = traitsById(company.traits)
    this.#rules = scopedRules(company.rules)
    this.#cycle = cycleFrom(company.subscription ?? null)
    for (const metric of company.metrics) {
      const read = {
        period: metric.period,
        monthReset: metric.month_reset,
        value: metric.value,
        untilMs: metric.valid_until ? (readInstant(metric.valid_until)?.ms ?? null) : null,
      }
      const others = this.#metrics.get(metric.event_subtype)
      if (others) others.push(read)
      else this.#metrics.set(metric.event_subtype, [read])
    }
  }

  /** Its own rules of one flag. */
  rulesOf(flagId: string): readonly Ranked[] {
    return this.#rules.get(flagId) ?? noRules
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
    const more = this.uncounted.get(subtype) ?? 0
    const counted = this.#counted(subtype, period, monthReset)
    return more === 0 ? counted : addQuantity(counted, more)
  }

  #counted(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity {
    const found = this.#metric(subtype, period, monthReset)
    if (found === null) return 0
    return found.untilMs !== null && found.untilMs <= this.nowMs ? 0 : found.value // FE-5
  }

  #metric(subtype: string, period: MetricPeriod, monthReset: MonthReset): Metric | null {
    const metrics = this.#metrics.get(subtype)
    return metrics?.find(one => one.period === period && one.monthReset === monthReset) ?? null
  }

  test(test: CounterTest, more: Quantity, than: Quantity): boolean {
    return test.holds(this.counter(test.subtype, test.period, test.monthReset), more, than)
  }

  resetsAt(period: MetricPeriod, monthReset: MonthReset): number | null {
    return metricReset(period, monthReset, this.#cycle, this.nowMs)
  }

  traitText(trait: TraitRef): string | null {
    return this.#traits.get(trait.id)?.value ?? null
  }

  traitType(trait: TraitRef): ComparableType {
    return this.#traits.get(trait.id)?.trait_definition?.comparable_type ?? trait.comparableType
  }

  remaining(creditId: string): bigint {
    const told = this.#balance(creditId)
    return this.uncounted.size === 0 ? told : told - this.#drawn(creditId)
  }

  #balance(creditId: string): bigint {
    let balance = this.#balances.get(creditId)
    if (balance === undefined) {
      const { credit_balances: numbers, credit_balance_texts: texts } = this.company
      balance = Object.hasOwn(numbers, creditId) ? amountFromNumber(numbers[creditId]!) : 0n
      if (texts && Object.hasOwn(texts, creditId)) balance = amountFromDecimal(texts[creditId]!) ?? balance
      this.#balances.set(creditId, balance)
    }
    return balance
  }

  /** Credits drawn by uses that only this client has counted so far. */
  #drawn(creditId: string): bigint {
    let drawn = 0n
    for (const entitlement of this.company.entitlements ?? []) {
      if (entitlement.credit_id !== creditId || !entitlement.event_subtype) continue
      const more = this.uncounted.get(entitlement.event_subtype) ?? 0
      if (more > 0) drawn += costOf(more, entitlement.consumption_rate ?? 1)
    }
    return drawn
  }

  figures(creditId: string) {
    const remaining = this.remaining(creditId)
    return { remaining, reserved: 0n, settled: remaining, total: remaining }
  }

  spendCap(creditId: string, user: UserFacts | null): bigint | null {
    const own = smallestCap(this.company.spend_policies, creditId)
    const theirs = user instanceof PreparedUser ? smallestCap(user.user.spend_policies, creditId) : null
    if (own === null || theirs === null) return own ?? theirs
    return lesser(own, theirs)
  }

  overdraft(creditId: string) {
    const configured = this.company.credit_postpaid ?? {}
    if (!Object.hasOwn(configured, creditId)) return null
    const { overdraft_limit: limit = null, overdraft_limit_text: text } = configured[creditId]!
    if (text) return { limit: amountFromDecimal(text) }
    return { limit: limit === null ? null : amountFromNumber(limit) }
  }

  /**
   * Report of a flag's entitlement: figures of an ended period restart at zero, and uses counted by this client are
   * added.
   */
  report({ flag }: PreparedFlag): EntitlementReport | null {
    const { feature_id: featureId } = flag
    const entitlement = this.company.entitlements?.find(one =>
      featureId ? one.feature_id === featureId : one.feature_key === flag.key,
    )
    if (entitlement === undefined) return null
    const told = { ...reportOf(entitlement), featureKey: flag.key }
    const { eventSubtype, metricPeriod, creditId } = told
    if (metricPeriod !== null && eventSubtype !== null && told.usage !== null) {
      const monthReset = told.monthReset ?? 'first_of_month'
      const more = this.uncounted.get(eventSubtype) ?? 0
      const isOver = told.metricResetAtMs !== null && told.metricResetAtMs <= this.nowMs
      const usage = addQuantity(isOver ? 0 : told.usage, more)
      return { ...told, usage, ...(isOver && { metricResetAtMs: this.resetsAt(metricPeriod, monthReset) }) }
    }
    if (creditId === null || this.uncounted.size === 0 || told.creditRemaining === null) return told
    const drawn = amountToNumber(this.#drawn(creditId))
    const less = (figure: number | null) => figure && figure - drawn
    return {
      ...told,
      creditRemaining: less(told.creditRemaining),
      creditSettled: less(told.creditSettled),
      creditUsed: told.creditUsed === null ? null : told.creditUsed + drawn,
    }
  }
}

const noRules: readonly Ranked[] = []

function smallestCap(
  policies: readonly EngineSpendPolicy[] | null | undefined,
  creditId: string,
): bigint | null {
  let smallest: bigint | null = null
  for (const policy of policies ?? []) {
    const cap = policy.credit_id === creditId ? amountFromDecimal(policy.max_per_draw) : null
    if (cap !== null && (smallest === null || cap < smallest)) smallest = cap
  }
  return smallest
}

/** A user snapshot as facts. */
export class PreparedUser implements UserFacts {
  readonly id: string
  readonly #traits: ReadonlyMap<string, EngineTrait>
  readonly #rules: ReadonlyMap<string, readonly Ranked[]>

  constructor(readonly user: EngineUser) {
    this.id = user.id
    this.#traits = traitsById(user.traits)
    this.#rules = scopedRules(user.rules)
  }

  /** Its own rules of one flag. */
  rulesOf(flagId: string): readonly Ranked[] {
    return this.#rules.get(flagId) ?? noRules
  }

  traitText(trait: TraitRef): string | null {
    return this.#traits.get(trait.id)?.value ?? null
  }

  traitType(trait: TraitRef): ComparableType {
    return this.#traits.get(trait.id)?.trait_definition?.comparable_type ?? trait.comparableType
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
  if (!start || !end) return null
  const anchor = subscription.billing_cycle_anchor && readInstant(subscription.billing_cycle_anchor)
  return { startMs: start.ms, endMs: end.ms, ...(anchor && { anchorMs: anchor.ms }) }
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

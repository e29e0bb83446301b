// A second evaluator, written straight from the rules and as plainly as possible: no compiling, no caches, no
// tables; counters are summed from raw events. It shares only the shapes of definitions with the core.
import type { ComparableOperator, MetricPeriod, MonthReset, RuleType } from '../../schemas/enums.js'
import { overrideEntitlement } from '../../src/core/catalog.js'
import type { Company, PlanHolding, SubscriptionState } from '../../src/core/model/company-state.js'
import type {
  CatalogData,
  ConditionDef,
  EntitlementDef,
  FeatureDef,
  FlagDef,
  RuleDef,
  TraitDef,
} from '../../src/core/model/definitions.js'
import type { Preflight } from '../../src/core/model/requests.js'
import type { Quantity } from '../../src/core/values/quantity.js'

/** One use of an event. */
export interface Use {
  readonly subtype: string
  readonly quantity: Quantity
  readonly atMs: number
}

/** The whole input of an evaluation (FE-1). Balances are decimal texts by credit id. */
export interface World {
  readonly data: CatalogData
  readonly company: Company | null
  readonly uses: readonly Use[]
  readonly balances: Readonly<Record<string, string>>
  readonly user: { readonly id: string; readonly traits: Readonly<Record<string, string>> } | null
  readonly preflight: Preflight | null
  readonly nowMs: number
}

export interface Verdict {
  readonly value: boolean
  readonly ruleId: string | null
  readonly ruleType: RuleType | null
  readonly reason: string
  readonly usage: Quantity | null
  readonly allocation: Quantity | null
  readonly event: string | null
  readonly period: MetricPeriod | null
  readonly resetAtMs: number | null
  readonly entitlement: Readonly<Record<string, unknown>> | null
}

interface Candidate {
  readonly def: EntitlementDef
  readonly feature: FeatureDef
  readonly override: boolean
  readonly name: string
}

export function interpret(world: World, flag: FlagDef): Verdict {
  const candidates = candidatesOf(world, flag)
  const rules = [...flag.rules, ...candidates.flatMap(candidate => rulesOf(candidate))]
  const matched = firstMatching(world, rules)
  const best = reportedOf(world, candidates)
  const figures = matched && world.company ? deprecated(world, matched) : nothing
  return {
    value: matched ? matched.value : flag.defaultValue,
    ruleId: matched?.id ?? null,
    ruleType: matched?.ruleType ?? null,
    reason: matched
      ? `Matched ${matched.ruleType.split('_').join(' ')} rule "${matched.name}" (${matched.id})`
      : 'No rules matched; default value for flag',
    ...figures,
    entitlement: best && entitlementOf(world, best, flag.key),
  }
}

/** FE-10…13, FE-2. */
function firstMatching(world: World, rules: readonly RuleDef[]): RuleDef | null {
  const order: RuleType[] = [
    'global_override',
    'company_override',
    'plan_entitlement',
    'company_override_usage_exceeded',
    'plan_entitlement_usage_exceeded',
    'standard',
    'default',
  ]
  for (const type of order) {
    const group = rules.filter(rule => rule.ruleType === type)
    if (type === 'standard')
      group.sort((a, b) => (BigInt(a.priority) < BigInt(b.priority) ? -1 : a.priority === b.priority ? 0 : 1))
    else if (type !== 'global_override' && type !== 'default')
      group.sort((a, b) => (a.value === b.value ? 0 : a.value ? -1 : 1))
    for (const rule of group) {
      if (type === 'global_override' || type === 'default') return rule
      const all = rule.conditions.every(condition => holds(world, condition))
      const any = rule.conditionGroups.every(group => group.some(condition => holds(world, condition)))
      if (all && any) return rule
    }
  }
  return null
}

// Conditions: section 4.

function holds(world: World, condition: ConditionDef): boolean {
  const { company, user, data } = world
  const { operator, resourceIds } = condition
  const member = (ids: readonly string[]) => {
    const shared = ids.some(id => resourceIds.includes(id))
    return operator === 'ne' ? !shared : shared
  }
  if (condition.conditionType === 'user') return user !== null && member([user.id])
  if (condition.conditionType === 'trait') return holdsTrait(world, condition)
  if (company === null) return false
  const plans = plansOf(world)
  switch (condition.conditionType) {
    case 'company':
      return member([company.id])
    case 'plan':
      return member(plans.all.map(holding => holding.planId))
    case 'plan_version':
      return member(plans.all.map(holding => holding.versionId))
    case 'billing_product':
      return member(
        company.subscriptions.filter(one => subscribed(one, world.nowMs)).flatMap(one => one.productIds),
      )
    case 'base_plan': {
      const base = plans.base?.planId
      if (operator === 'is_empty') return base === undefined
      if (operator === 'not_empty') return base !== undefined
      if (operator === 'eq') return base !== undefined && resourceIds.includes(base)
      return operator === 'ne' && (base === undefined || !resourceIds.includes(base))
    }
    case 'metric': {
      if (condition.eventSubtype === null || condition.metricValue === null) return false
      const right =
        condition.comparisonTraitId === null
          ? condition.metricValue
          : whole(companyText(world, condition.comparisonTraitId))
      const used = counted(world, condition.eventSubtype, condition.metricPeriod, condition.monthReset)
      const left = BigInt(used) + BigInt(preflightUnits(world, condition.eventSubtype, 0))
      return ordered(operator, shown(left), right)
    }
    case 'credit': {
      const { creditId } = condition
      if (creditId === null) return false
      const priced = condition.quantityRates !== null && Object.keys(condition.quantityRates).length > 0
      const rate = condition.consumptionRate ?? (priced ? 0 : 1)
      const cost = world.preflight?.creditCost?.[creditId]
      const need =
        cost === undefined
          ? nanos(rate.toFixed(9)) * BigInt(preflightUnits(world, condition.eventSubtype, 1))
          : nanos(cost.toFixed(9))
      const exceeded = operator === 'gt' || operator === 'gte'
      const named = cost !== undefined || preflightUnits(world, condition.eventSubtype, -1) > 0
      const capped = data.spendPolicies.some(
        policy =>
          policy.creditId === creditId &&
          (policy.companyId === company?.id || (world.user !== null && policy.userId === world.user.id)) &&
          policy.maxPerDraw !== null &&
          nanos(policy.maxPerDraw) < need,
      )
      if (named && capped) return exceeded // decision 27
      const limits = plans.all
        .flatMap(
          holding =>
            data.plans.flatMap(plan => plan.versions).find(({ id }) => id === holding.versionId) ?? [],
        )
        .flatMap(version => version.creditGrants)
        .filter(grant => grant.creditId === creditId && grant.postpaidEnabled)
        .map(grant => grant.overdraftLimit)
      const own = limits.length === 0 ? null : (company?.overdraftLimit ?? null)
      if (own === null && limits.includes(null)) return !exceeded
      const deepest = limits.map(limit => nanos(own ?? limit!)).sort((a, b) => (a > b ? -1 : 1))[0] ?? 0n
      const room = nanos(world.balances[creditId] ?? '0') + deepest
      const sufficient = room >= need && (!priced || cost !== undefined || room > 0n)
      return sufficient !== exceeded
    }
  }
}

function holdsTrait(world: World, condition: ConditionDef): boolean {
  const def = definition(world.data, condition.traitId)
  if (!def) return false
  const entity = def.entityType === 'company' ? world.company : world.user
  if (entity === null) return false
  const text = (trait: TraitDef | undefined): string =>
    !trait || trait.entityType !== def.entityType
      ? ''
      : def.entityType === 'company'
        ? (world.company!.traits.get(trait.name)?.value ?? '')
        : (world.user!.traits[trait.name] ?? '')
  const left = text(def)
  const right =
    condition.comparisonTraitId === null
      ? condition.traitValue
      : text(definition(world.data, condition.comparisonTraitId))
  const { operator } = condition
  switch (def.traitType) {
    case 'string':
    case 'url':
      if (operator === 'is_empty' || operator === 'not_empty')
        return (left === '') === (operator === 'is_empty')
      return ordered(operator, Buffer.compare(Buffer.from(left), Buffer.from(right)), 0)
    case 'boolean': {
      const same = (left === 'true' || left === '1') === (right === 'true' || right === '1')
      return operator === 'eq' ? same : operator === 'ne' ? !same : operator === 'not_empty'
    }
    case 'number':
    case 'currency': {
      const usage = world.preflight?.usage ?? 0
      const base = usage > 0 ? String((strict(left) ?? 0n) + BigInt(usage)) : left
      const [a, b] = [strict(base), strict(right)]
      if (a !== null && operator === 'is_empty') return a === 0n
      if (a !== null && operator === 'not_empty') return a > 0n
      if (a !== null && b !== null) return ordered(operator, a < b ? -1 : a > b ? 1 : 0, 0)
      return ordered(operator, double(base), double(right))
    }
    case 'date': {
      const [a, b] = [instant(left), instant(right)]
      if (operator === 'is_empty') return a === null
      if (operator === 'not_empty') return a !== null
      const same = a === b
      const later = a !== null && (b === null || a > b)
      const earlier = b !== null && (a === null || a < b)
      switch (operator) {
        case 'eq':
          return same
        case 'ne':
          return !same
        case 'gt':
          return later
        case 'lt':
          return earlier
        case 'gte':
          return same || later
        case 'lte':
          return same || earlier
      }
    }
  }
  return false
}

function ordered(operator: ComparableOperator, left: Quantity, right: Quantity): boolean {
  switch (operator) {
    case 'eq':
      return left === right
    case 'ne':
      return left !== right
    case 'gt':
      return left > right
    case 'gte':
      return left >= right
    case 'lt':
      return left < right
    case 'lte':
      return left <= right
    case 'is_empty':
      return left === 0
    case 'not_empty':
      return left > 0
  }
}

/** FE-80, FE-82, FE-83: units of a preflight that apply to a subtype. */
function preflightUnits(world: World, subtype: string | null, otherwise: Quantity): Quantity {
  const { usage, eventUsage } = world.preflight ?? { usage: null, eventUsage: null }
  if (eventUsage && eventUsage.quantity > 0 && eventUsage.eventSubtype === subtype) return eventUsage.quantity
  return usage !== null && usage > 0 ? usage : otherwise
}

// Texts.

/** FE-68: an integer text within 64 bits. */
function strict(text: string | null): bigint | null {
  if (text === null || !/^[+-]?[0-9]+$/.test(text)) return null
  const value = BigInt(text.replace('+', ''))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : null
}

/** Reported units: 0 for a text that is no integer, a number where that is exact (FE-68). */
function whole(text: string | null): Quantity {
  return shown(strict(text) ?? 0n)
}

/** An integer in a result's shape: a number where that is exact. */
function shown(value: bigint): Quantity {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function double(text: string): number {
  if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)) return 0
  const value = Number.parseFloat(text)
  return Math.abs(value) === Number.POSITIVE_INFINITY ? 0 : value
}

/** The RFC 3339 form only: the worlds contain no other dates. */
function instant(text: string): number | null {
  return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : null
}

/** Billionths of a decimal text with at most nine fractional digits. */
function nanos(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const value = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
  return text.startsWith('-') ? -value : value
}

function definition(data: CatalogData, id: string | null): TraitDef | undefined {
  return data.traits.find(trait => trait.id === id)
}

function companyText(world: World, traitId: string | null): string | null {
  const def = definition(world.data, traitId)
  if (def?.entityType !== 'company') return null
  return world.company!.traits.get(def.name)?.value ?? null
}

// Plans: EN-82, EN-91, EN-93, PB-51…58.

function plansOf(world: World): { base: PlanHolding | null; all: PlanHolding[] } {
  const { company, data, nowMs } = world
  if (company === null) return { base: null, all: [] }
  const sold = (holding: PlanHolding) => {
    const products = data.plans
      .filter(plan => plan.id === holding.planId)
      .flatMap(plan => plan.versions.map(version => version.billingProductId))
    return company.subscriptions.filter(one => one.productIds.some(id => products.includes(id)))
  }
  const lost = (holding: PlanHolding) =>
    sold(holding).some(one => subscribed(one, holding.addedAtMs) && !subscribed(one, nowMs)) &&
    !sold(holding).some(one => subscribed(one, nowMs))
  const fallback = assigned(data, data.fallbackPlanId)
  let base = company.plan
  if (base === null) base = fallback
  else if (
    base.trial?.status === 'active' &&
    base.trial.endSetting === 'cancel' &&
    base.trial.endMs <= nowMs &&
    !sold(base).some(one => one.status !== 'trialing' && subscribed(one, nowMs))
  )
    base = assigned(data, data.trialExpiryPlanId) ?? fallback
  else if (lost(base)) {
    const trialed = sold(base).some(one => one.status === 'trialing')
    base = (trialed ? assigned(data, data.trialExpiryPlanId) : null) ?? fallback
  }
  const addOns = company.addOns.filter(addOn => !lost(addOn))
  return { base, all: base === null ? addOns : [base, ...addOns] }
}

function assigned(data: CatalogData, planId: string | null): PlanHolding | null {
  const version = data.plans.find(plan => plan.id === planId)?.publishedVersionId ?? null
  if (version === null) return null
  return { planId: planId!, versionId: version, addedAtMs: 0, priceId: null, trial: null }
}

function subscribed(one: SubscriptionState, nowMs: number): boolean {
  if (!['active', 'trialing', 'past_due'].includes(one.status)) return false
  if (one.cancelAtPeriodEnd && one.periodEndMs <= nowMs) return false
  if (one.cancelAtMs !== null && one.cancelAtMs <= nowMs) return false
  const ends = one.trialEndSetting === 'cancel' || one.cancelAtPeriodEnd // decision 29
  return !(ends && one.status === 'trialing' && one.trialEndMs !== null && one.trialEndMs <= nowMs)
}

// Counters and windows: section 5.

function counted(
  world: World,
  subtype: string,
  period: MetricPeriod | null,
  monthReset: MonthReset | null,
): Quantity {
  if (period !== 'current_month' && (monthReset ?? 'first_of_month') !== 'first_of_month') return 0
  const [start, next] = windowOf(world, period, monthReset)
  let sum = 0n
  for (const use of world.uses)
    if (use.subtype === subtype && use.atMs >= start && use.atMs < next) sum += BigInt(use.quantity)
  return shown(sum)
}

function windowOf(
  world: World,
  period: MetricPeriod | null,
  monthReset: MonthReset | null,
): readonly [start: number, next: number] {
  const now = new Date(world.nowMs)
  const [y, m, d] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  if (period === null || period === 'all_time') return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  if (period === 'current_day') return [Date.UTC(y, m, d), Date.UTC(y, m, d + 1)]
  if (period === 'current_week')
    return [Date.UTC(y, m, d - now.getUTCDay()), Date.UTC(y, m, d - now.getUTCDay() + 7)]
  const active = (world.company?.subscriptions ?? []).filter(one => subscribed(one, world.nowMs))
  const newest = active.reduce<SubscriptionState | null>(
    (best, one) => (best === null || one.periodStartMs > best.periodStartMs ? one : best),
    null,
  )
  if (monthReset !== 'billing_cycle' || newest === null) return [Date.UTC(y, m, 1), Date.UTC(y, m + 1, 1)]
  const { periodStartMs: p, periodEndMs: q } = newest
  if (p > world.nowMs) return [Date.UTC(y, m, 1), Math.min(p, Date.UTC(y, m + 1, 1))]
  let k = 0
  while (monthsOn(p, k + 1) <= world.nowMs) k++
  const following = monthsOn(p, k + 1)
  return [monthsOn(p, k), q > world.nowMs ? Math.min(following, q) : following]
}

function monthsOn(fromMs: number, months: number): number {
  const from = new Date(fromMs)
  const to = new Date(fromMs)
  to.setUTCDate(1)
  to.setUTCMonth(to.getUTCMonth() + months)
  const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), last))
  return to.getTime()
}

// Entitlements: EN-10…25, EN-30, EN-50.

function candidatesOf(world: World, flag: FlagDef): Candidate[] {
  const { company, data, nowMs } = world
  const feature = data.features.find(({ id }) => id === flag.featureId)
  if (!feature || company === null) return []
  const found: Candidate[] = []
  for (const holding of plansOf(world).all)
    for (const plan of data.plans)
      for (const version of plan.versions)
        for (const def of version.entitlements)
          if (version.id === holding.versionId && def.featureId === feature.id)
            found.push({ def, feature, override: false, name: plan.name })
  for (const { entitlement: def, expiresAtMs } of company.overrides)
    if (def.featureId === feature.id && (expiresAtMs === null || expiresAtMs > nowMs))
      found.push({ def: overrideEntitlement(def), feature, override: true, name: feature.name })
  return found
}

function typeOf({ priceBehavior, valueType, valueNumeric }: EntitlementDef): EntitlementDef['valueType'] {
  if (priceBehavior === null) return valueType
  if (priceBehavior === 'pay_in_advance') return 'trait'
  if (priceBehavior === 'credit_burndown') return 'credit'
  return valueNumeric ? 'numeric' : 'unlimited'
}

function rulesOf({ def, feature, override, name }: Candidate): RuleDef[] {
  const type = typeOf(def)
  const source = override ? 'company_override' : 'plan_entitlement'
  const make = (
    id: string,
    exceeded: boolean,
    value: boolean,
    condition: Partial<ConditionDef> | null,
  ): RuleDef => ({
    id,
    name,
    ruleType: exceeded ? `${source}_usage_exceeded` : source,
    priority: 0,
    value,
    flagId: null,
    conditions: condition === null ? [] : [{ ...blank, ...condition, operator: exceeded ? 'gte' : 'lt' }],
    conditionGroups: [],
  })
  if (type === 'unknown') return []
  if (type === 'boolean') return [make(def.ruleId, false, def.valueBool === true, null)]
  if (type === 'unlimited') return [make(def.ruleId, false, true, null)]
  const comparisonTraitId = type === 'trait' ? (def.valueTraitId ?? feature.usageLimitTraitId) : null
  const limit = type === 'trait' ? 0 : (def.valueNumeric ?? 0)
  const condition: Partial<ConditionDef> =
    type === 'credit'
      ? {
          conditionType: 'credit',
          creditId: def.valueCreditId,
          consumptionRate: def.consumptionRate,
          quantityRates: def.quantityRates,
          eventSubtype: feature.eventSubtype,
        }
      : feature.featureType === 'event'
        ? {
            conditionType: 'metric',
            eventSubtype: feature.eventSubtype,
            metricPeriod: def.metricPeriod,
            monthReset: def.metricPeriod === 'current_month' ? def.monthReset : null,
            metricValue: limit,
            comparisonTraitId,
          }
        : { conditionType: 'trait', traitId: feature.traitId, traitValue: String(limit), comparisonTraitId }
  return [make(def.ruleId, false, true, condition), make(def.ruleIdUsageExceeded!, true, false, condition)]
}

const blank: ConditionDef = {
  id: 'cond',
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

function limitOf(world: World, { def, feature }: Candidate): Quantity {
  if (typeOf(def) !== 'trait') return def.valueNumeric ?? 0
  return whole(companyText(world, def.valueTraitId ?? feature.usageLimitTraitId))
}

function reportedOf(world: World, candidates: readonly Candidate[]): Candidate | null {
  const override = candidates.find(one => one.override)
  const allBoolean = candidates.every(one => one.override || typeOf(one.def) === 'boolean')
  if (override && typeOf(override.def) === 'boolean' && (allBoolean || override.def.valueBool !== true))
    return override
  const class_ = ({ def }: Candidate) =>
    ({ unlimited: 5, credit: 4, numeric: 3, trait: 3, boolean: def.valueBool === true ? 2 : 1, unknown: 0 })[
      typeOf(def)
    ]
  let best: Candidate | null = null
  for (const one of candidates) {
    if (best === null || class_(one) > class_(best)) best = one
    else if (class_(one) === class_(best) && class_(one) === 3 && moreGenerous(world, one, best)) best = one
    else if (class_(one) === class_(best) && class_(one) === 4 && cheaper(world, one, best)) best = one
  }
  return best
}

function moreGenerous(world: World, one: Candidate, than: Candidate): boolean {
  const period = ({ def, feature }: Candidate) =>
    feature.featureType === 'event' ? (def.metricPeriod ?? 'all_time') : null
  const [a, b] = [period(one), period(than)]
  const [x, y] = [limitOf(world, one), limitOf(world, than)]
  if (a === null || a === 'all_time' || b === 'all_time') return x > y // one feature: both have periods or neither
  const days = { current_day: 1, current_week: 7, current_month: 30, all_time: 1 }
  return BigInt(x) * BigInt(days[b!]) > BigInt(y) * BigInt(days[a])
}

/** EN-43. */
function cheaper(world: World, one: Candidate, than: Candidate): boolean {
  const rate = ({ def }: Candidate) =>
    def.consumptionRate ?? (def.quantityRates && Object.keys(def.quantityRates).length > 0 ? 0 : 1)
  if (one.def.valueCreditId === than.def.valueCreditId) return rate(one) < rate(than)
  const units = (candidate: Candidate) => {
    const balance = nanos(world.balances[candidate.def.valueCreditId ?? ''] ?? '0')
    if (rate(candidate) === 0) return balance >= 0n ? Number.POSITIVE_INFINITY : 0
    return Math.max(0, Number(balance)) / Number(nanos(rate(candidate).toFixed(9)))
  }
  return units(one) > units(than)
}

function entitlementOf(world: World, candidate: Candidate, key: string): Record<string, unknown> {
  const { def, feature } = candidate
  const type = typeOf(def)
  const told: Record<string, unknown> = { feature_id: feature.id, feature_key: key, value_type: type }
  if (type === 'boolean' || type === 'unknown') return told
  if (type === 'credit') {
    const priced = def.quantityRates !== null && Object.keys(def.quantityRates).length > 0
    const remaining = Number(world.balances[def.valueCreditId!] ?? '0')
    told.credit_id = def.valueCreditId
    told.consumption_rate = def.consumptionRate ?? (priced ? 0 : 1)
    told.credit_remaining = remaining
    told.credit_settled = remaining
    told.credit_reserved = 0
    if (priced) told.quantity_rates = def.quantityRates
    if (feature.eventSubtype !== null) {
      told.event_name = feature.eventSubtype
      told.event_subtype = feature.eventSubtype
    }
    return told
  }
  if (type === 'numeric' || type === 'trait') told.allocation = limitOf(world, candidate)
  if (feature.featureType === 'event') {
    const period = def.metricPeriod ?? 'all_time'
    const monthReset = period === 'current_month' ? (def.monthReset ?? 'first_of_month') : null
    told.usage = counted(world, feature.eventSubtype!, period, monthReset)
    told.event_name = feature.eventSubtype
    told.event_subtype = feature.eventSubtype
    told.metric_period = period
    if (monthReset !== null) told.month_reset = monthReset
    const reset = windowOf(world, period, monthReset)[1]
    if (reset !== Number.POSITIVE_INFINITY) told.metric_reset_at = new Date(reset).toISOString()
  } else if (feature.traitId !== null) told.usage = whole(companyText(world, feature.traitId))
  if (told.usage !== undefined && def.softLimit !== null) told.soft_limit = def.softLimit
  if (def.warningTiers.length > 0) told.warning_tiers = def.warningTiers
  return told
}

// Deprecated members: FE-71.

const nothing = { usage: null, allocation: null, event: null, period: null, resetAtMs: null }

function deprecated(
  world: World,
  rule: RuleDef,
): Omit<Verdict, 'value' | 'ruleId' | 'ruleType' | 'reason' | 'entitlement'> {
  if (!/override$|entitlement|exceeded/.test(rule.ruleType) || rule.ruleType === 'global_override')
    return nothing
  const source = rule.conditions.find(({ conditionType }) => /metric|trait/.test(conditionType))
  if (!source) return nothing
  const limit = companyText(world, source.comparisonTraitId)
  const literal = source.conditionType === 'metric' ? source.metricValue! : whole(source.traitValue)
  const allocation = strict(limit) === null ? literal : whole(limit)
  if (source.conditionType === 'trait')
    return { ...nothing, allocation, usage: whole(companyText(world, source.traitId)) }
  const reset = windowOf(world, source.metricPeriod, source.monthReset)[1]
  return {
    allocation,
    usage: counted(world, source.eventSubtype!, source.metricPeriod, source.monthReset),
    event: source.eventSubtype,
    period: source.metricPeriod ?? 'all_time',
    resetAtMs: reset === Number.POSITIVE_INFINITY ? null : reset,
  }
}

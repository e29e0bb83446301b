// Live state as the facts a check asks for. Nothing is copied: it reads the company where it is.
import type { ComparableType, MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import { type Catalog, overrideEntitlement } from '../catalog.js'
import { figures } from '../credits/balance.js'
import { budgetRoom, budgetWindows, overBudget } from '../credits/budget.js'
import { creditConfig, spendCap } from '../credits/config.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  type CompiledVersion,
  compileEntitlement,
  type EntitledFacts,
} from '../entitlements/entitlement.js'
import { type CreditConfig, type CreditFigures, emptyAccount } from '../model/account-state.js'
import type { Company, OverrideState, PlansInForce } from '../model/company-state.js'
import type { CreditDef } from '../model/definitions.js'
import type { UseTraits } from '../model/requests.js'
import {
  billingAnchor,
  billingSubscription,
  cycleOf,
  isActive,
  plansInForce,
  trialEnd,
} from '../plans/plan.js'
import type { CounterTest, ReadSet } from '../rules/read-set.js'
import type { Overdraft, UserFacts } from '../rules/rule.js'
import { readCounter } from '../usage/counter.js'
import { lesser } from '../values/amount.js'
import { type Cycle, metricReset } from '../values/period.js'
import type { Quantity } from '../values/quantity.js'
import type { TraitRef } from '../values/trait.js'

const noFigures: CreditFigures = { remaining: 0n, reserved: 0n, settled: 0n, total: 0n }

/**
 * A company as it is at one instant. Make one per check, or one for all checks that must agree (FE-91); it must
 * not outlive the message, since it reads the company live.
 */
export class LiveCompany implements EntitledFacts {
  readonly id: string
  readonly inForce: PlansInForce
  readonly versions: readonly CompiledVersion[]
  /** undefined: not asked for yet. */
  private cycleNow: Cycle | null | undefined
  /** Configs asked for: the first, which mostly is the only one, and the others. */
  private firstCredit: string | null = null
  private firstConfig: CreditConfig | null = null
  private configs: Map<string, CreditConfig | null> | undefined
  /** The credit whose figures were counted last, and these. */
  private countedCredit: string | null = null
  private counted: CreditFigures = noFigures
  /** The counter read last, and its value. */
  private readSubtype: string | null = null
  private readPeriod: MetricPeriod = 'all_time'
  private readReset: MonthReset = 'first_of_month'
  private readValue: Quantity = 0
  /** The spend policy that a hypothetical use would exceed, as a sentence. */
  overBudget: string | null = null

  constructor(
    readonly company: Company,
    readonly catalog: Catalog,
    readonly nowMs: number,
    /** Records each read of the company's usage; null: no recording. */
    private readonly reads: ReadSet | null = null,
  ) {
    this.id = company.id
    this.inForce = plansInForce(company, catalog, nowMs)
    this.versions = versionsOf(this.inForce, catalog)
  }

  get basePlanId(): string | null {
    return this.inForce.plan?.planId ?? null
  }

  onPlan(planIds: ReadonlySet<string>): boolean {
    const { plan, addOns } = this.inForce
    return (plan !== null && planIds.has(plan.planId)) || addOns.some(({ planId }) => planIds.has(planId))
  }

  onVersion(versionIds: ReadonlySet<string>): boolean {
    const { plan, addOns } = this.inForce
    return (
      (plan !== null && versionIds.has(plan.versionId)) ||
      addOns.some(({ versionId }) => versionIds.has(versionId))
    )
  }

  hasProduct(productIds: ReadonlySet<string>): boolean {
    return this.company.subscriptions.some(
      one => isActive(one, this.nowMs) && one.productIds.some(id => productIds.has(id)),
    )
  }

  counter(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity {
    if (this.reads !== null) this.reads.figures = true
    return this.count(subtype, period, monthReset)
  }

  test(test: CounterTest, more: Quantity, than: Quantity): boolean {
    const held = test.holds(this.count(test.subtype, test.period, test.monthReset), more, than)
    this.reads?.tested(test, more, than, held)
    return held
  }

  /** A condition, a rule's figures and a report read the same counter one after the other: it is looked up once. */
  private count(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity {
    if (subtype === this.readSubtype && period === this.readPeriod && monthReset === this.readReset)
      return this.readValue
    this.readSubtype = subtype
    this.readPeriod = period
    this.readReset = monthReset
    this.readValue = this.look(subtype, period, monthReset)
    return this.readValue
  }

  private look(subtype: string, period: MetricPeriod, monthReset: MonthReset): Quantity {
    const counter = this.company.counters.get(subtype)
    if (counter === undefined) return 0
    const cycle = monthReset === 'billing_cycle' ? this.cycle() : null
    return readCounter(counter, period, monthReset, this.nowMs, cycle)
  }

  resetsAt(period: MetricPeriod, monthReset: MonthReset): number | null {
    return metricReset(period, monthReset, monthReset === 'billing_cycle' ? this.cycle() : null, this.nowMs)
  }

  traitText(trait: TraitRef): string | null {
    if (trait.entityType !== 'company') return null
    return this.company.traits.text(trait.name) ?? null
  }

  traitType(trait: TraitRef): ComparableType {
    return trait.comparableType
  }

  remaining(creditId: string): bigint {
    return this.figures(creditId).remaining
  }

  figures(creditId: string): CreditFigures {
    if (this.reads !== null) this.reads.figures = true
    if (creditId === this.countedCredit) return this.counted
    const account = this.company.credits.get(creditId)
    const config = account === undefined ? null : this.creditConfig(creditId)
    this.countedCredit = creditId
    this.counted = config === null ? noFigures : figures(account!, config, this.nowMs)
    return this.counted
  }

  overdraft(creditId: string): Overdraft | null {
    return this.creditConfig(creditId)?.overdraft ?? null
  }

  spendCap(creditId: string, user: UserFacts | null): bigint | null {
    const { spendPolicies } = this.catalog.data
    if (spendPolicies.length === 0) return null
    const userId = user === null ? null : user.id
    const cap = spendCap(spendPolicies, creditId, this.id, userId)
    const windows = this.budgetWindows(creditId, userId)
    if (windows.length === 0) return cap
    if (this.reads !== null) this.reads.figures = true
    const room = budgetRoom(this.company.credits.get(creditId), windows)
    return cap === null || room === null ? (cap ?? room) : lesser(cap, room)
  }

  /** Notes which spend policy a hypothetical use would exceed: the denial names it (BU-5). */
  overCap(creditId: string, user: UserFacts | null, need: bigint): void {
    const windows = this.budgetWindows(creditId, user === null ? null : user.id)
    if (windows.length === 0) return
    const account = this.company.credits.get(creditId) ?? emptyAccount(this.id, creditId)
    this.overBudget = overBudget(account, windows, need)
  }

  /** Windows of spend policies that a use counts in. `traits`: of the event. */
  budgetWindows(creditId: string, userId: string | null, traits: UseTraits | null = null) {
    const { spendPolicies } = this.catalog.data
    const trait = (name: string) => traits?.[name] ?? this.company.traits.text(name) ?? null
    return budgetWindows(spendPolicies, creditId, { companyId: this.id, userId, trait }, this.nowMs)
  }

  /** Configuration of one credit from definitions and subscription; null for a credit the environment does not have. */
  creditConfig(creditId: string): CreditConfig | null {
    if (creditId === this.firstCredit) return this.firstConfig
    const known = this.configs?.get(creditId)
    if (known !== undefined) return known
    const credit = this.catalog.credits.get(creditId)
    const config = credit === undefined ? null : this.configOf(credit)
    if (this.firstCredit === null) {
      this.firstCredit = creditId
      this.firstConfig = config
      return config
    }
    this.configs ??= new Map()
    this.configs.set(creditId, config)
    return config
  }

  private configOf(credit: CreditDef): CreditConfig {
    const { company, nowMs, versions, catalog } = this
    const billing = billingSubscription(company, nowMs)
    const trialEndMs = trialEnd(this.inForce, billing, nowMs)
    const cap = spendCap(catalog.data.spendPolicies, credit.id, company.id, null)
    const only = versions.length === 1 ? versions[0]! : null
    // nothing of the company's own: the same for all who are on this version
    const { overdraftLimit } = company
    const alike = billing === null && trialEndMs === null && cap === null && overdraftLimit === null
    const shared = alike ? only : null
    const made = shared?.configs.get(credit.id)
    if (made !== undefined) return made
    const grants = only === null ? versions.flatMap(one => one.grantsOf(credit.id)) : only.grantsOf(credit.id)
    const period = billing && {
      startMs: billing.periodStartMs,
      endMs: billing.periodEndMs,
      intervalMonths: billing.intervalMonths,
      anchorMs: billingAnchor(billing),
    }
    const config = creditConfig(credit, grants, period, trialEndMs, cap, overdraftLimit)
    shared?.configs.set(credit.id, config)
    return config
  }

  override(feature: CompiledFeature): CompiledEntitlement | null {
    const { overrides } = this.company
    for (let i = 0; i < overrides.length; i++) {
      const override = overrides[i]!
      if (override.entitlement.featureId !== feature.def.id) continue
      if (override.expiresAtMs !== null && override.expiresAtMs <= this.nowMs) continue // EN-61
      return compiledOverride(override, feature, this.id, this.catalog)
    }
    return null
  }

  /** The running billing cycle (FE-52). */
  cycle(): Cycle | null {
    if (this.cycleNow === undefined) this.cycleNow = cycleOf(this.company, this.nowMs)
    return this.cycleNow
  }
}

/**
 * The one version that decides everything for a company until its state changes: it has no add-on, override, trial,
 * subscription, schedule or overdraft limit of its own. null: ask a LiveCompany.
 */
export function soleVersion(company: Company, catalog: Catalog): CompiledVersion | null {
  const { plan } = company
  if (plan === null || plan.trial !== null || !isPlanAlone(company)) return null
  return catalog.versions.get(plan.versionId) ?? null
}

/** Whether a company has nothing but its plan, if any. */
export function isPlanAlone({
  addOns,
  overrides,
  subscriptions,
  schedule,
  overdraftLimit,
}: Company): boolean {
  const none = addOns.length + overrides.length + subscriptions.length === 0
  return none && schedule === null && overdraftLimit === null
}

function versionsOf({ plan, addOns }: PlansInForce, catalog: Catalog): readonly CompiledVersion[] {
  const base = plan === null ? undefined : catalog.versions.get(plan.versionId)
  const versions = base === undefined ? [] : [base]
  for (let i = 0; i < addOns.length; i++) {
    const version = catalog.versions.get(addOns[i]!.versionId)
    if (version !== undefined) versions.push(version)
  }
  return versions
}

function compiledOverride(
  override: OverrideState,
  feature: CompiledFeature,
  companyId: string,
  catalog: Catalog,
): CompiledEntitlement {
  let compiled = catalog.overrides.get(override)
  if (compiled === undefined) {
    const gate = { type: 'company', companyId, override } as const
    const traits = (id: string) => catalog.traits.get(id) ?? null
    compiled = compileEntitlement(feature, overrideEntitlement(override.entitlement), gate, traits)
    catalog.overrides.set(override, compiled)
  }
  return compiled
}

/** A user as checks see it: its traits as text by name, from its state or as sent along with a check. */
export function userOf(id: string, textOf: (name: string) => string | null): UserFacts {
  return {
    id,
    traitText: trait => (trait.entityType === 'user' ? textOf(trait.name) : null),
    traitType: trait => trait.comparableType,
  }
}

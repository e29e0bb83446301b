// Live state as the facts a check asks for. Nothing is copied: it reads the company where it is.
import type { ComparableType, MetricPeriod, MonthReset } from '../../schemas/enums.js'
import type { Catalog } from './catalog.js'
import type { Company, OverrideState } from './company.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  type CompiledVersion,
  compileEntitlement,
  type EntitledFacts,
} from './entitlement.js'
import { type Cycle, metricReset } from './period.js'
import { cycleOf, isActive, type Standing, standing } from './plan.js'
import { type CreditFigures, deeper, type Overdraft, type UserFacts } from './rule.js'
import type { TraitRef } from './trait.js'
import { readCounter } from './usage.js'

/** Reads the balances of one credit of a company at an instant. */
export type CreditReader = (company: Company, creditId: string, nowMs: number) => CreditFigures

const noFigures: CreditFigures = { remaining: 0n, reserved: 0n, settled: 0n, total: 0n }
const noCredits: CreditReader = () => noFigures

/**
 * A company as it is at one instant. Make one per check, or one for all checks that must agree (FE-91); it must
 * not outlive the message, since it reads the company live.
 */
export class LiveCompany implements EntitledFacts {
  readonly id: string
  readonly standing: Standing
  readonly versions: readonly CompiledVersion[]
  /** undefined: not asked for yet. */
  #cycle: Cycle | null | undefined

  constructor(
    readonly company: Company,
    readonly catalog: Catalog,
    readonly nowMs: number,
    readonly credits: CreditReader = noCredits,
  ) {
    this.id = company.id
    this.standing = standing(company, catalog, nowMs)
    this.versions = versionsOf(this.standing, catalog)
  }

  get basePlanId(): string | null {
    return this.standing.plan?.planId ?? null
  }

  onPlan(planIds: ReadonlySet<string>): boolean {
    const { plan, addOns } = this.standing
    return (plan !== null && planIds.has(plan.planId)) || addOns.some(({ planId }) => planIds.has(planId))
  }

  onVersion(versionIds: ReadonlySet<string>): boolean {
    const { plan, addOns } = this.standing
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

  counter(subtype: string, period: MetricPeriod, monthReset: MonthReset): number {
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
    return this.company.traits.get(trait.name)?.value ?? null
  }

  traitType(trait: TraitRef): ComparableType {
    return trait.comparableType
  }

  remaining(creditId: string): bigint {
    return this.figures(creditId).remaining
  }

  figures(creditId: string): CreditFigures {
    return this.credits(this.company, creditId, this.nowMs)
  }

  overdraft(creditId: string): Overdraft | null {
    let found: Overdraft | null = null
    for (let i = 0; i < this.versions.length; i++) {
      const overdraft = this.versions[i]!.overdrafts.get(creditId)
      if (overdraft !== undefined) found = deeper(found, overdraft)
    }
    return found
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
    if (this.#cycle === undefined) this.#cycle = cycleOf(this.company, this.nowMs)
    return this.#cycle
  }
}

function versionsOf({ plan, addOns }: Standing, catalog: Catalog): readonly CompiledVersion[] {
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
    const gate = { type: 'company', companyId } as const
    const traits = (id: string) => catalog.traits.get(id) ?? null
    compiled = compileEntitlement(feature, override.entitlement, gate, null, traits)
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

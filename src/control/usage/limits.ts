// The limits of a time series: a company's past entitlement to one feature, as far as it is stored. No I/O.
//
//   holdings now ──(plan changes, undone one by one)──▶ holdings at each instant ─┐
//   overrides, each from its writing to its end ──────────────────────────────────┴─▶ entitlement ──▶ limits
import type { LimitTimeSeriesPoint } from '../../../schemas/usage.js'
import { overrideEntitlement } from '../../core/catalog.js'
import {
  type CompiledEntitlement,
  type CompiledFeature,
  CompiledVersion,
  compileEntitlement,
  type EntitledFacts,
  limitOf,
  resolveEntitlement,
} from '../../core/entitlements/entitlement.js'
import type { Company, OverrideState, PlanHolding } from '../../core/model/company-state.js'
import type { CatalogData, EntitlementDef, FeatureDef } from '../../core/model/definitions.js'
import type { HeldVersion } from '../../core/model/plan-messages.js'
import { endsAt } from '../../core/plans/plan.js'
import type { Quantity } from '../../core/values/quantity.js'
import { comparableType, type TraitRef } from '../../core/values/trait.js'
import { jsonText } from '../../json.js'
import { long } from '../../kit/long.js'
import { isoTime } from '../../kit/time.js'
import type { Range } from './buckets.js'

/** A recorded change of a company's plans (PB-34). */
export interface HoldingChange {
  readonly atMs: number
  readonly previous: HeldVersion | null
  /** Plan ids. */
  readonly addOnsAdded: readonly string[]
  readonly addOnsRemoved: readonly string[]
}

/** An override from one writing of it to the next. */
export interface OverrideSpan {
  readonly override: OverrideState
  readonly fromMs: number
  /** Exclusive; null: still in force. */
  readonly untilMs: number | null
}

/** The stored history of a company's entitlements. */
export interface EntitledPast {
  readonly company: Company
  /** The present holdings, with all time rules applied. */
  readonly plan: PlanHolding | null
  readonly addOns: readonly PlanHolding[]
  /** Newest first. */
  readonly changes: readonly HoldingChange[]
  readonly overrides: readonly OverrideSpan[]
}

/** The entitlement from an instant on; null: none. `limit`: the most that may be used; null: unlimited. */
export interface EntitledSince {
  readonly sinceMs: number
  readonly entitlement: CompiledEntitlement | null
  readonly limit: Quantity | null
}

/**
 * The entitlement to one feature over a range: at its start, then at every change up to now.
 *
 * source  US-13, EN-23. Trait limits use present values, because past traits are not stored.
 */
export function entitledOver(
  past: EntitledPast,
  featureId: string,
  catalog: CatalogData,
  { startMs, endMs }: Range,
  nowMs: number,
): EntitledSince[] {
  const feature = catalog.features.find(one => one.id === featureId)
  if (feature === undefined) return []
  const compiler = new FeatureCompiler(feature, catalog)
  const inside = changeInstants(past).filter(atMs => atMs > startMs && atMs < endMs && atMs <= nowMs)
  return [startMs, ...new Set(inside.sort((a, b) => a - b))].map(sinceMs => {
    const facts = factsAt(past, sinceMs, nowMs, compiler)
    const entitlement = resolveEntitlement(facts, compiler.feature)
    return { sinceMs, entitlement, limit: entitlement && limitOf(entitlement, facts) }
  })
}

/**
 * The limits of a range in wire form: those at its start, then those of each change.
 *
 * source  US-10, US-13, EN-31, EN-32. Entitlements without a number (unlimited, by credit, boolean) have limit
 *         null; a denying one and the end of an entitlement have 0: decisions.
 */
export function limitPoints(entitled: readonly EntitledSince[]): LimitTimeSeriesPoint[] {
  const points: LimitTimeSeriesPoint[] = []
  let told = '[]'
  for (const { sinceMs, entitlement, limit } of entitled) {
    const limits = entitlement ? limitsOf(entitlement, limit) : told === '[]' ? [] : [nothing]
    const text = jsonText(limits)
    if (text === told) continue
    told = text
    points.push(...limits.map(one => ({ effective_at: isoTime(sinceMs), ...one })))
  }
  return points
}

type Limit = Omit<LimitTimeSeriesPoint, 'effective_at'>

const nothing: Limit = {
  is_soft_limit: false,
  limit_source: 'unknown',
  limit_value: 0,
  plan_id: null,
  price_behavior: null,
}

function limitsOf({ def, source, planId, valueType }: CompiledEntitlement, limit: Quantity | null): Limit[] {
  const common = { limit_source: source, plan_id: planId, price_behavior: def.priceBehavior }
  const soft = softLimitOf(def)
  const denied = valueType === 'boolean' && def.valueBool !== true
  const hard = { ...common, is_soft_limit: false, limit_value: denied ? 0 : long(limit) }
  if (soft === null) return [hard]
  const included = { ...common, is_soft_limit: true, limit_value: long(soft) }
  return limit === null ? [included] : [included, hard]
}

function softLimitOf({ priceBehavior, softLimit, tiers }: EntitlementDef): Quantity | null {
  if (priceBehavior === 'overage') return softLimit
  return priceBehavior === 'tier' ? (tiers?.[0]?.upTo ?? null) : null
}

/** Every instant at which the entitlement may have changed. */
function changeInstants({ company, plan, addOns, changes, overrides }: EntitledPast): number[] {
  const ends = company.subscriptions.map(endsAt).filter(Number.isFinite)
  return [
    ...changes.map(change => change.atMs),
    ...[plan, company.plan, ...addOns, ...company.addOns].flatMap(holding =>
      holding === null ? [] : [holding.addedAtMs, ...(holding.trial === null ? [] : [holding.trial.endMs])],
    ),
    ...ends,
    ...overrides.flatMap(({ fromMs, untilMs, override }) => [
      fromMs,
      ...(untilMs === null ? [] : [untilMs]),
      ...(override.expiresAtMs === null ? [] : [override.expiresAtMs]),
    ]),
  ]
}

function factsAt(past: EntitledPast, atMs: number, nowMs: number, compiler: FeatureCompiler): EntitledFacts {
  const override = past.overrides.find(
    span =>
      span.override.entitlement.featureId === compiler.feature.def.id &&
      span.fromMs <= atMs &&
      (span.untilMs === null || atMs < span.untilMs) &&
      (span.override.expiresAtMs === null || atMs < span.override.expiresAtMs),
  )
  const ofOverride = override ? compiler.override(override.override, past.company.id) : null
  const { plan, addOns } = holdingsAt(past, atMs, nowMs, compiler)
  const held = plan === null ? addOns : [plan, ...addOns]
  return {
    id: past.company.id,
    basePlanId: plan?.planId ?? null,
    versions: compiler.versions(held),
    override: () => ofOverride,
    traitText: trait => past.company.traits.get(trait.name)?.value ?? null,
    traitType: trait => trait.comparableType,
    // rules are not evaluated here, so what only rules need is left empty
    onPlan: () => false,
    onVersion: () => false,
    hasProduct: () => false,
    counter: () => 0,
    test: () => false,
    resetsAt: () => null,
    remaining: () => 0n,
    figures: () => ({ remaining: 0n, reserved: 0n, settled: 0n, total: 0n }),
    overdraft: () => null,
    spendCap: () => null,
  }
}

interface Holdings {
  readonly plan: HeldVersion | null
  readonly addOns: readonly HeldVersion[]
}

/**
 * The plans at an instant: the present ones with every later change undone.
 *
 * A holding counts from when it was added. The stored plan counts up to the end of its trial or subscription.
 */
function holdingsAt(past: EntitledPast, atMs: number, nowMs: number, compiler: FeatureCompiler): Holdings {
  const { company } = past
  const stored = atMs < lapsedMs(company, nowMs)
  let plan: HeldVersion | null = since(stored ? company.plan : past.plan, atMs)
  let addOns: HeldVersion[] = (stored ? company.addOns : past.addOns).filter(one => one.addedAtMs <= atMs)
  for (const change of past.changes) {
    if (change.atMs <= atMs) break
    plan = change.previous
    addOns = addOns.filter(one => !change.addOnsAdded.includes(one.planId))
    addOns.push(...change.addOnsRemoved.flatMap(planId => compiler.published(planId)))
  }
  return { plan, addOns }
}

function since(holding: PlanHolding | null, atMs: number): PlanHolding | null {
  return holding !== null && holding.addedAtMs <= atMs ? holding : null
}

/** When time alone ended the stored plan: at the end of its trial, or of the last subscription. */
function lapsedMs({ plan, subscriptions }: Company, nowMs: number): number {
  const ends = subscriptions.map(endsAt)
  if (plan?.trial) ends.push(plan.trial.endMs)
  const over = ends.filter(endMs => endMs <= nowMs)
  return over.length === 0 ? Number.NEGATIVE_INFINITY : Math.max(...over)
}

/** Compiles the grants of one feature only. */
class FeatureCompiler {
  readonly feature: CompiledFeature
  private readonly traits: ReadonlyMap<string, TraitRef>
  private readonly compiled = new Map<string, CompiledVersion | null>()

  constructor(
    feature: FeatureDef,
    private readonly catalog: CatalogData,
  ) {
    this.traits = new Map(
      catalog.traits.map(({ id, entityType, name, traitType }) => [
        id,
        { id, entityType, name, comparableType: comparableType(traitType) },
      ]),
    )
    this.feature = { index: 0, def: feature, flagKey: '', usageTrait: this.trait(feature.traitId) }
  }

  override(override: OverrideState, companyId: string): CompiledEntitlement {
    const source = { type: 'company', companyId, override } as const
    return compileEntitlement(this.feature, overrideEntitlement(override.entitlement), source, id =>
      this.trait(id),
    )
  }

  /** The compiled version; empty if it left the catalog, because its grants are unknown then. */
  versions(held: readonly HeldVersion[]): CompiledVersion[] {
    return held.flatMap(one => this.version(one) ?? [])
  }

  private version({ planId, versionId }: HeldVersion): CompiledVersion | null {
    const known = this.compiled.get(versionId)
    if (known !== undefined) return known
    const plan = this.catalog.plans.find(one => one.id === planId)
    const def = plan?.versions.find(version => version.id === versionId)
    const features = new Map([[this.feature.def.id, this.feature]])
    const compiled =
      plan && def
        ? new CompiledVersion(def, planId, plan.name, [this.feature], id => this.trait(id), features)
        : null
    this.compiled.set(versionId, compiled)
    return compiled
  }

  /** The published version of an add-on, because add-ons are recorded without version. */
  published(planId: string): HeldVersion[] {
    const versionId = this.catalog.plans.find(one => one.id === planId)?.publishedVersionId
    return versionId ? [{ planId, versionId }] : []
  }

  private trait(id: string | null): TraitRef | null {
    return (id && this.traits.get(id)) || null
  }
}

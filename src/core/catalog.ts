// An environment's definitions, as plain data and compiled.
// CatalogData is what storage gives and what crosses to the shards; Catalog is what a check runs on.

import {
  type CompiledEntitlement,
  type CompiledFeature,
  CompiledVersion,
} from './entitlements/entitlement.js'
import { CompiledFlag } from './flags/flag.js'
import type { OverrideState, PlanHolding } from './model/company-state.js'
import type {
  CatalogData,
  CreditDef,
  EntitlementDef,
  PlanDef,
  StoredEntitlement,
  TraitDef,
} from './model/definitions.js'
import type { TraitResolver } from './rules/rule.js'
import { readQuantity } from './values/quantity.js'
import { byteOrder, comparableType, type TraitRef } from './values/trait.js'

/** The entitlement of an override, ready to be compiled. */
export function overrideEntitlement(stored: StoredEntitlement): EntitlementDef {
  const { valueNumeric } = stored
  return { ...stored, valueNumeric: valueNumeric === null ? null : readQuantity(valueNumeric) }
}

/** A plan, ready to run. */
export interface CompiledPlan {
  readonly def: PlanDef
  readonly published: CompiledVersion | null
  /** Billing products of all its versions (PB-51). */
  readonly productIds: ReadonlySet<string>
}

/**
 * An environment's definitions, compiled. Immutable except for a cache of overrides; a change of definitions makes a
 * new catalog, and no company is rewritten for it.
 */
export interface Catalog {
  readonly data: CatalogData
  readonly version: number
  /** Ordered by key (FE-91). */
  readonly flags: readonly CompiledFlag[]
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  /** Ordered by name, then id (US-8). */
  readonly features: readonly CompiledFeature[]
  readonly featuresById: ReadonlyMap<string, CompiledFeature>
  /**
   * The flag of each feature, by feature index; a feature without one gets an internal flag that no key names (US-5).
   */
  readonly featureFlags: readonly CompiledFlag[]
  /** Event features by the subtype they count (EV-49). */
  readonly featuresBySubtype: ReadonlyMap<string, readonly CompiledFeature[]>
  readonly traits: ReadonlyMap<string, TraitRef>
  readonly plans: ReadonlyMap<string, CompiledPlan>
  readonly versions: ReadonlyMap<string, CompiledVersion>
  readonly credits: ReadonlyMap<string, CreditDef>
  /** The plan a company without one is on, at its published version (EN-82, EN-84). */
  readonly fallback: PlanHolding | null
  /** The plan after a trial that cancels itself (EN-91). */
  readonly trialExpiry: PlanHolding | null
  /** Whether any rule reads traits of users: otherwise they need not be fetched for a check. */
  readonly readsUserTraits: boolean
  /** Overrides compiled against this catalog, at first sight. */
  readonly overrides: WeakMap<OverrideState, CompiledEntitlement>
}

/**
 * Compile an environment's definitions, once per version and thread. Rules and entitlements wait until the first check
 * that needs them.
 *
 * source  FE-10…14, EN-10…18, PB-4 (drafts are not in `data`).
 */
export function compileCatalog(data: CatalogData): Catalog {
  const traits = new Map(data.traits.map(def => [def.id, traitRef(def)]))
  const resolve: TraitResolver = id => traits.get(id) ?? null
  const flagKeys = new Map<string, string>()
  for (const flag of data.flags)
    if (flag.featureId !== null && !flagKeys.has(flag.featureId)) flagKeys.set(flag.featureId, flag.key)
  const features = [...data.features]
    .sort((a, b) => byteOrder(a.name, b.name) || byteOrder(a.id, b.id))
    .map(
      (def, index): CompiledFeature => ({
        index,
        def,
        flagKey: flagKeys.get(def.id) ?? '',
        usageTrait: def.traitId === null ? null : resolve(def.traitId),
      }),
    )
  const featuresById = new Map(features.map(feature => [feature.def.id, feature]))
  const flags = data.flags
    .map(def => new CompiledFlag(def, (def.featureId && featuresById.get(def.featureId)) || null, resolve))
    .sort((a, b) => byteOrder(a.key, b.key))
  const flagsByKey = new Map(flags.map(flag => [flag.key, flag]))
  const versions = new Map<string, CompiledVersion>()
  const plans = new Map<string, CompiledPlan>()
  for (const plan of data.plans) {
    for (const version of plan.versions)
      versions.set(
        version.id,
        new CompiledVersion(version, plan.id, plan.name, features, resolve, featuresById),
      )
    plans.set(plan.id, {
      def: plan,
      published: (plan.publishedVersionId && versions.get(plan.publishedVersionId)) || null,
      productIds: new Set(plan.versions.flatMap(({ billingProductId }) => billingProductId ?? [])),
    })
  }
  const holding = (planId: string | null): PlanHolding | null => {
    const version = planId === null ? null : plans.get(planId)?.published
    if (!version) return null
    return { planId: version.planId, versionId: version.id, addedAtMs: 0, priceId: null, trial: null }
  }
  return {
    data,
    version: data.version,
    flags,
    flagsByKey,
    features,
    featuresById,
    featureFlags: features.map(
      feature => flagsByKey.get(feature.flagKey) ?? new CompiledFlag(noFlag, feature, resolve),
    ),
    featuresBySubtype: bySubtype(features),
    traits,
    plans,
    versions,
    credits: new Map(data.credits.map(credit => [credit.id, credit])),
    fallback: holding(data.fallbackPlanId),
    trialExpiry: holding(data.trialExpiryPlanId),
    readsUserTraits: data.flags.some(flag =>
      flag.rules.some(rule =>
        [rule.conditions, ...rule.conditionGroups].some(conditions =>
          conditions.some(({ traitId }) => traitId !== null && resolve(traitId)?.entityType === 'user'),
        ),
      ),
    ),
    overrides: new WeakMap(),
  }
}

const noFlag = { id: '', key: '', defaultValue: false, rules: [] }

function traitRef({ id, entityType, name, traitType }: TraitDef): TraitRef {
  return { id, entityType, name, comparableType: comparableType(traitType) }
}

function bySubtype(features: readonly CompiledFeature[]): Map<string, CompiledFeature[]> {
  const found = new Map<string, CompiledFeature[]>()
  for (const feature of features) {
    const { featureType, eventSubtype } = feature.def
    if (featureType !== 'event' || eventSubtype === null) continue
    const others = found.get(eventSubtype)
    if (others) others.push(feature)
    else found.set(eventSubtype, [feature])
  }
  return found
}

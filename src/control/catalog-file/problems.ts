// Why a document cannot be applied: references to nothing, objects named twice, members that are fixed at creation.
import type * as file from '../../../schemas/catalog.js'
import { type ListSection, type ObjectChange, objectsOf } from './compare.js'
import { canonicalReference } from './references.js'

/** `current` and `wanted` in canonical form; `changes` between them. */
export function problemsOf(
  current: file.Catalog,
  wanted: file.Catalog,
  changes: readonly ObjectChange[],
): string[] {
  const check = new Check(current, wanted)
  check.duplicates()
  check.flags()
  check.plans()
  check.bundles()
  check.group()
  for (const change of changes) if (change.action === 'change') check.fixed(change)
  for (const name of wanted.features ?? []) check.feature(name)
  return [...new Set(check.problems)]
}

/** Members that never change, by section. */
const fixedMembers: Readonly<Partial<Record<string, readonly string[]>>> = {
  features: ['feature_type', 'event_source', 'provider', 'external_resource_id'],
  credits: ['currency'],
  bundles: ['currency', 'credit'],
  plans: ['plan_type', 'provider', 'external_resource_id'],
  traits: ['hierarchy'],
}

class Check {
  readonly problems: string[] = []
  private readonly known = new Map<ListSection, ReadonlySet<string>>()

  constructor(
    private readonly current: file.Catalog,
    private readonly wanted: file.Catalog,
  ) {}

  private tell(at: string, why: string): void {
    this.problems.push(`${at}: ${why}`)
  }

  /** Names of a section that can be referred to: those of the document and those that are there. */
  private names(section: ListSection): ReadonlySet<string> {
    let names = this.known.get(section)
    if (names === undefined) {
      names = new Set([...objectsOf(this.wanted, section).keys(), ...objectsOf(this.current, section).keys()])
      this.known.set(section, names)
    }
    return names
  }

  private exists(at: string, section: ListSection, ref: string | null | undefined, what: string): void {
    if (ref == null || this.names(section).has(canonicalReference(ref)) || isId(ref)) return
    this.tell(at, `there is no ${what} ${ref}`)
  }

  private trait(at: string, ref: string | null | undefined, companyOnly = false): void {
    if (ref == null) return
    if (companyOnly && !ref.startsWith('company:')) this.tell(at, `${ref} must be a company trait`)
    const isFeatures = (this.wanted.features ?? this.current.features ?? []).some(
      one => one.trait === ref || one.usage_limit_trait === ref,
    )
    if (!isFeatures && !this.names('traits').has(ref)) this.tell(at, `there is no trait ${ref}`)
  }

  duplicates(): void {
    const { traits, flags, model_prices: prices } = this.wanted
    this.twice(
      'traits',
      traits?.map(one => `${one.entity_type}:${one.name}`),
    )
    this.twice(
      'flags',
      flags?.map(one => one.key),
    )
    this.twice(
      'flags',
      flags?.flatMap(one => one.feature ?? []),
      'has two flags',
    )
    this.twice(
      'model_prices',
      prices?.map(one => `${one.provider} ${one.model} ${one.currency} ${one.effective_at}`),
    )
  }

  private twice(at: string, names: readonly string[] | undefined, why = 'is there twice'): void {
    const seen = new Set<string>()
    for (const name of names ?? []) {
      if (seen.has(name)) this.tell(`${at}[${name}]`, why)
      seen.add(name)
    }
  }

  feature(one: file.CatalogFeature): void {
    const at = `features[${one.name}]`
    if (one.feature_type === 'event' && !one.event_subtype)
      this.tell(at, 'event_subtype: needed by an event feature')
    if (one.event_source === 'inference' && one.feature_type !== 'event')
      this.tell(at, 'event_source: only event features are metered by inference events')
    for (const ref of [one.trait, one.usage_limit_trait])
      if (ref != null && !ref.startsWith('company:')) this.tell(at, `${ref} must be a company trait`)
  }

  fixed({ section, ref, changes }: ObjectChange): void {
    for (const { path } of changes)
      if (fixedMembers[section]?.includes(path))
        this.tell(`${section}[${ref}]`, `${path} is fixed at creation`)
  }

  flags(): void {
    for (const flag of this.wanted.flags ?? []) {
      const at = `flags[${flag.key}]`
      this.exists(at, 'features', flag.feature, 'feature')
      for (const rule of flag.rules ?? []) {
        const conditions = [...(rule.conditions ?? []), ...(rule.condition_groups ?? []).flat()]
        for (const condition of conditions) this.condition(`${at}.rules[${rule.name}]`, condition)
      }
    }
  }

  private condition(at: string, one: file.CatalogCondition): void {
    this.trait(at, one.trait)
    this.trait(at, one.comparison_trait)
    this.exists(at, 'credits', one.credit, 'credit')
    for (const ref of one.resources ?? []) {
      if (one.condition_type === 'plan' || one.condition_type === 'base_plan')
        this.exists(at, 'plans', ref, 'plan')
      if (one.condition_type === 'plan_version')
        this.exists(at, 'plans', ref.slice(0, Math.max(0, ref.lastIndexOf('@'))) || ref, 'plan')
    }
  }

  plans(): void {
    for (const plan of this.wanted.plans ?? [])
      for (const part of ['published', 'draft'] as const)
        if (plan[part]) this.version(`plans[${plan.name}].${part}`, plan[part])
  }

  private version(at: string, version: file.CatalogPlanVersion): void {
    this.priced(at, version.prices)
    this.twice(
      `${at}.entitlements`,
      version.entitlements?.map(one => one.feature),
    )
    for (const one of version.entitlements ?? []) {
      const place = `${at}.entitlements[${one.feature}]`
      this.exists(place, 'features', one.feature, 'feature')
      this.exists(place, 'credits', one.value_credit, 'credit')
      this.trait(place, one.value_trait, true)
      this.priced(place, one.prices)
    }
    for (const one of version.credit_grants ?? []) {
      const place = `${at}.credit_grants[${one.credit}]`
      this.exists(place, 'credits', one.credit, 'credit')
      this.exists(place, 'features', one.license, 'feature')
    }
    const charges = version.charge_type ?? 'none'
    for (const { cadence } of version.prices ?? []) {
      const isOnce = (cadence ?? 'one_time') === 'one_time'
      const fits = charges === 'recurring' ? !isOnce : charges === 'one_time' && isOnce
      if (!fits) this.tell(at, `prices: a ${cadence ?? 'one_time'} price does not fit charge_type ${charges}`)
    }
  }

  private priced(at: string, prices: readonly file.CatalogPrice[] | null | undefined): void {
    this.twice(
      `${at}.prices`,
      prices?.map(one => `${one.currency} ${one.cadence ?? 'one_time'}`),
    )
  }

  bundles(): void {
    for (const one of this.wanted.bundles ?? []) {
      const at = `bundles[${one.name}]`
      this.exists(at, 'credits', one.credit, 'credit')
      for (const ref of one.compatible_plans ?? []) this.exists(at, 'plans', ref, 'plan')
      this.priced(at, one.prices)
    }
    for (const one of this.wanted.credits ?? []) this.priced(`credits[${one.name}]`, one.prices)
  }

  group(): void {
    const { plan_group: group } = this.wanted
    if (!group) return
    const at = 'plan_group'
    const named = [group.initial_plan, group.fallback_plan, group.trial_expiry_plan, group.custom_plan]
    const listed = [...(group.plans ?? []), ...(group.add_ons ?? [])].map(one => one.plan)
    const compatible = (group.add_on_compatibilities ?? []).flatMap(one => [
      one.plan,
      ...one.compatible_plans,
    ])
    for (const ref of [...named, ...listed, ...compatible]) this.exists(at, 'plans', ref, 'plan')
    for (const ref of group.bundles ?? []) this.exists(at, 'bundles', ref, 'bundle')
    for (const field of group.custom_checkout_fields ?? []) this.trait(at, field.trait, true)
  }
}

/** An id stands for an object that has no name here: one that is archived, or a custom plan. */
function isId(ref: string): boolean {
  return /^(plan|plvr|bcrd|bcbn|feat|lice|comp|user|trt)_[0-9A-Za-z]{11}$/.test(ref)
}

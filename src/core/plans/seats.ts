// Quantities bought in advance: they end with the last version held that sells them (EN-71), and while the service bills
// them only a change of plans changes them (EN-73).
import type { Catalog } from '../catalog.js'
import type { BoughtQuantity, Company, PlanHolding } from '../model/company-state.js'
import type { Decision, Effect, EntityWrite } from '../model/message.js'
import type { PlansHeld } from '../model/plan-messages.js'
import { isActive } from './plan.js'
import { isBilledBy } from './unheld.js'

/**
 * These effects, with the end of quantities that none of the plans held afterwards sells: the next version or plan that
 * sells the feature begins with none. A quantity that no held version sold is left alone.
 *
 * source  EN-71, CR-36, N8
 */
export function withEndedSeats(
  company: Readonly<Company>,
  catalog: Catalog,
  effects: readonly Effect[],
  nowMs: number,
): readonly Effect[] {
  let { plan, addOns }: PlansHeld = company
  let changes = false
  for (const effect of effects)
    if (effect.t === 'plan') {
      plan = effect.plan
      changes = true
    } else if (effect.t === 'add_ons') {
      addOns = effect.addOns
      changes = true
    }
  if (!changes) return effects
  const sold = soldInAdvance(catalog, { plan, addOns })
  const ended: BoughtQuantity[] = []
  for (const name of soldInAdvance(catalog, company)) {
    if (sold.has(name)) continue
    const told = effects.findLast(one => one.t === 'trait' && one.name === name)
    const had = told?.t === 'trait' ? told.value : company.traits.text(name)
    if (had != null && had !== '0') ended.push({ trait: name, quantity: Number(had) })
  }
  if (ended.length === 0) return effects
  return [
    ...withEnded(effects, ended),
    ...ended.map(({ trait }): Effect => ({ t: 'trait', name: trait, value: '0', atMs: nowMs })),
  ]
}

/** The record of a migration or move keeps the quantities that it ended (MI-30). */
function withEnded(effects: readonly Effect[], ended: readonly BoughtQuantity[]): readonly Effect[] {
  return effects.map(effect => {
    if (effect.t !== 'plan_changed' || !effect.change.moved) return effect
    const moved = { ...effect.change.moved, seats: ended }
    return { ...effect, change: { ...effect.change, moved } }
  })
}

/** The same for a decision. */
export function decidedWithSeats(
  company: Readonly<Company>,
  catalog: Catalog,
  decision: Decision,
  nowMs: number,
): Decision {
  if ('refused' in decision || !company.exists) return decision
  const effects = withEndedSeats(company, catalog, decision.effects, nowMs)
  return effects === decision.effects ? decision : { ...decision, effects }
}

/**
 * Why a write of a company's traits is refused: it would change seats without payment; null: it does not.
 *
 * source  EN-73
 */
export function changesPaidSeats(
  company: Readonly<Company>,
  catalog: Catalog,
  write: EntityWrite,
  nowMs: number,
): string | null {
  const names = paidSeatsIn(company, catalog, write, nowMs)
  const changed = write.traits.find(
    ({ name, value }) => names.has(name) && value !== (company.traits.text(name) ?? null),
  )
  return changed === undefined
    ? null
    : `${changed.name}: a subscription bills these seats; POST /manage-plan changes them`
}

/** The write of an event without the traits that it must not change: an event is not refused for one of its traits. */
export function withoutPaidSeats(
  company: Readonly<Company>,
  catalog: Catalog,
  write: EntityWrite,
  nowMs: number,
): EntityWrite {
  const names = paidSeatsIn(company, catalog, write, nowMs)
  if (names.size === 0) return write
  return { ...write, traits: write.traits.filter(({ name, client }) => client || !names.has(name)) }
}

const noNames: ReadonlySet<string> = new Set()

/** The traits of a write, publishable keys' own part excepted, whose quantities the service bills. */
function paidSeatsIn(
  company: Readonly<Company>,
  catalog: Catalog,
  { traits }: EntityWrite,
  nowMs: number,
): ReadonlySet<string> {
  if (traits.length === 0 || !company.exists) return noNames
  const billing = company.subscriptions.filter(one => one.anchorMs != null && isActive(one, nowMs))
  if (billing.length === 0) return noNames
  const isBilled = (held: PlanHolding | null) =>
    held !== null && billing.some(one => isBilledBy(held, catalog.plans.get(held.planId)?.def, one))
  const sold = soldInAdvance(catalog, {
    plan: isBilled(company.plan) ? company.plan : null,
    addOns: company.addOns.filter(isBilled),
  })
  return new Set(traits.filter(({ name, client }) => !client && sold.has(name)).map(({ name }) => name))
}

/** Names of the traits with quantities that these plans sell in advance. */
function soldInAdvance(catalog: Catalog, { plan, addOns }: PlansHeld): Set<string> {
  const names = new Set<string>()
  for (const held of plan === null ? addOns : [plan, ...addOns]) {
    const version = catalog.plans.get(held.planId)?.def.versions.find(one => one.id === held.versionId)
    for (const { featureId, priceBehavior } of version?.entitlements ?? []) {
      if (priceBehavior !== 'pay_in_advance') continue
      const traitId = catalog.data.features.find(one => one.id === featureId)?.usageLimitTraitId
      const trait = traitId == null ? undefined : catalog.traits.get(traitId)
      if (trait) names.add(trait.name)
    }
  }
  return names
}

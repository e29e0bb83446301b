// Quantities bought in advance end with the last version held that sells them (EN-71).
import type { Catalog } from '../catalog.js'
import type { Company } from '../model/company-state.js'
import type { Decision, Effect } from '../model/message.js'
import type { PlansHeld } from '../model/plan-messages.js'

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
  const ended: Effect[] = []
  for (const name of soldInAdvance(catalog, company)) {
    if (sold.has(name)) continue
    const told = effects.findLast(one => one.t === 'trait' && one.name === name)
    const had = told?.t === 'trait' ? told.value : company.traits.text(name)
    if (had != null && had !== '0') ended.push({ t: 'trait', name, value: '0', atMs: nowMs })
  }
  return ended.length === 0 ? effects : [...effects, ...ended]
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

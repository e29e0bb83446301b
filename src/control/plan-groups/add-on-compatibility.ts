// Compatibility of add-ons and base plans, from the environment's plan group.
import type { CompatiblePlans } from '../../../schemas/plan-groups.js'
import { goTogether } from '../../catalog/compatibility.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { ServiceError } from '../../errors.js'

/**
 * Refuse add-ons that are incompatible with the base plan.
 *
 * An add-on's entry lists its base plans; a base plan's entry lists its add-ons. A missing or empty entry allows all.
 * Plans that the company already holds together may stay together.
 *
 * basePlanId  null: the fallback plan.
 * errors      400.
 * source      decision: the interface stores `add_on_compatibilities` without saying more; empty as PB-71; PB-34.
 */
export function requireCompatible(
  { plans, fallbackPlanId }: CatalogData,
  { state }: CompanyDescription,
  compatibilities: readonly CompatiblePlans[],
  { basePlanId, addOnIds }: { readonly basePlanId: string | null; readonly addOnIds: readonly string[] },
  member: 'add_on_selections' | 'add_on_ids',
): void {
  const base = basePlanId ?? fallbackPlanId
  // a company that falls back keeps its add-ons, else it could not leave its plan
  const stays = basePlanId === null || basePlanId === state.plan?.planId
  const held = new Set(stays ? state.addOns.map(({ planId }) => planId) : [])
  for (const addOnId of addOnIds) {
    if (base === null || held.has(addOnId) || goTogether(compatibilities, addOnId, base)) continue
    const nameOf = (id: string) => plans.find(plan => plan.id === id)?.name ?? id
    throw new ServiceError('state_conflict', `${member}: ${nameOf(addOnId)} does not go with ${nameOf(base)}`)
  }
}

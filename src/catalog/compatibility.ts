// Compatibility of one add-on with one base plan, by the settings of a plan group.
import type { CompatiblePlans } from '../../schemas/plan-groups.js'

/** Whether an add-on and a base plan allow each other. */
export function goTogether(
  compatibilities: readonly CompatiblePlans[],
  addOnId: string,
  basePlanId: string,
): boolean {
  const allows = (source: string, other: string): boolean => {
    const named = compatibilities
      .filter(one => one.source_plan_id === source)
      .flatMap(one => one.compatible_plan_ids)
    return named.length === 0 || named.includes(other)
  }
  return allows(addOnId, basePlanId) && allows(basePlanId, addOnId)
}

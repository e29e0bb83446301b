// Roles of plans in an environment: initial plan, fallback plan, trial-expiry plan.
import type { Sql } from 'postgres'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'

export type PlanRole = 'initial' | 'fallback' | 'trial_expiry'

/** Whether a version is linked to billing: it names a product, or will get one when it is published. */
function isLinked(version: PlanVersionRow): boolean {
  return version.billing_product_id !== null || isCharged(version)
}

function isCharged({ charge_type: type }: PlanVersionRow): boolean {
  return type === 'recurring' || type === 'one_time'
}

/**
 * Why a plan version cannot have a role, in words; null if it can.
 *
 * needsPayment  whether trials require a payment method, so that none ends by itself.
 * source        EN-82, EN-83, PB-13.
 */
export function unfit(
  role: PlanRole,
  plan: PlanRow,
  version: PlanVersionRow | null,
  needsPayment: boolean,
): string | null {
  if (plan.plan_type !== 'plan') return 'is an add-on'
  if (plan.company_id !== null) return 'is the plan of one company'
  if (version === null) return null
  const linked = isLinked(version)
  const free = version.charge_type === 'free'
  switch (role) {
    case 'fallback':
      return linked ? 'is linked to billing' : null
    case 'initial': {
      const endsItself = version.is_trialable && (version.trial_days ?? 0) > 0 && !needsPayment
      return linked && !free && !endsItself ? 'is neither free nor a trial that ends by itself' : null
    }
    case 'trial_expiry':
      if (linked && !free) return 'is linked to billing and not free'
      return version.is_trialable ? 'can be tried itself' : null
  }
}

/** The present roles of a plan in an environment. */
async function rolesOf(
  sql: Sql,
  environmentId: string,
  planId: string,
): Promise<{ readonly roles: readonly PlanRole[]; readonly needsPayment: boolean }> {
  const [group] = await sql<
    {
      initial_plan_id: string | null
      fallback_plan_id: string | null
      trial_expiry_plan_id: string | null
      needs_payment: boolean | null
    }[]
  >`
    select initial_plan_id, fallback_plan_id, trial_expiry_plan_id,
      (settings ->> 'trial_payment_method_required')::boolean as needs_payment
    from plan_groups where environment_id = ${environmentId}`
  const all = ['initial', 'fallback', 'trial_expiry'] as const
  return {
    roles: all.filter(role => group?.[`${role}_plan_id`] === planId),
    needsPayment: group?.needs_payment ?? false,
  }
}

/** Throws 400 if a version about to be published does not fit the roles of its plan. */
export async function requireFit(sql: Sql, plan: PlanRow, version: PlanVersionRow): Promise<void> {
  const { roles, needsPayment } = await rolesOf(sql, version.environment_id, plan.id)
  for (const role of roles) {
    const why = unfit(role, plan, version, needsPayment)
    if (why)
      throw new ServiceError(
        'state_conflict',
        `The plan is the ${role.replace('_', '-')} plan, and this version ${why}`,
      )
  }
}

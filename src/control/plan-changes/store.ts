// Statements of plan changes.
import type { Sql } from 'postgres'
import type {
  ActorType,
  PlanChangeAction,
  PlanChangeBasePlanAction,
  PlanChangeSubscriptionAction,
  TrialStatus,
} from '../../../schemas/enums.js'
import { among, newest } from '../../kit/sql.js'

/** A row of plan_changes. */
export interface PlanChangeRow {
  readonly id: string
  readonly environment_id: string
  readonly company_id: string
  readonly action: PlanChangeAction
  readonly base_plan_action: PlanChangeBasePlanAction | null
  readonly subscription_change_action: PlanChangeSubscriptionAction | null
  readonly actor_type: ActorType
  readonly api_key_id: string | null
  readonly previous_plan_id: string | null
  readonly previous_version_id: string | null
  readonly plan_id: string | null
  readonly version_id: string | null
  readonly add_ons_added: readonly string[]
  readonly add_ons_removed: readonly string[]
  readonly trial_status: TrialStatus | null
  readonly trial_ends_at: Date | null
  readonly created_at: Date
}

/** Filters of a list of changes. */
interface PlanChangeFilter {
  readonly action?: PlanChangeAction
  readonly base_plan_action?: PlanChangeBasePlanAction
  readonly company_id?: string
  readonly company_ids?: readonly string[]
}

export function listPlanChangeRows(
  sql: Sql,
  environmentId: string,
  filter: PlanChangeFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly PlanChangeRow[]> {
  const { action, base_plan_action: why, company_id: companyId, company_ids: companyIds } = filter
  return sql<PlanChangeRow[]>`
    select * from plan_changes where environment_id = ${environmentId}
      ${action ? sql`and action = ${action}` : sql``}
      ${why ? sql`and base_plan_action = ${why}` : sql``}
      ${companyId ? sql`and company_id = ${companyId}` : sql``}
      ${companyIds ? sql`and company_id in ${among(sql, companyIds)}` : sql``}
    ${newest(sql, page)}`
}

export async function findPlanChange(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<PlanChangeRow | null> {
  const [row] = await sql<PlanChangeRow[]>`
    select * from plan_changes where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

// Settings for changes of plan, from the environment's plan group.
import type { Sql } from 'postgres'
import type { CompatiblePlans } from '../../../schemas/plan-groups.js'

/** An environment's settings for changes of plan. */
export interface GroupSettings {
  readonly scheduled_downgrade_behavior?: 'end_of_billing_period' | 'none' | null
  readonly prevent_downgrades_when_over_limit?: boolean
  readonly scheduled_downgrade_prevent_when_over_limit?: boolean | null
  readonly add_on_compatibilities?: readonly CompatiblePlans[] | null
  readonly opt_in_enabled?: boolean
  readonly opt_in_text?: string | null
  readonly opt_in_title?: string | null
}

/** The settings; empty without a plan group. */
export async function groupSettings(sql: Sql, environmentId: string): Promise<GroupSettings> {
  const [group] = await sql<{ settings: GroupSettings }[]>`
    select settings from plan_groups where environment_id = ${environmentId}`
  return group?.settings ?? {}
}

// Statements of plan groups.
import type { Sql } from 'postgres'
import type { CheckoutField, PlanGroupWrite } from '../../../schemas/plan-groups.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import { among, asJson } from '../../kit/sql.js'
import { type Place, visiblePlans } from '../plan-versions/version-rows.js'

/** Members of a group that name a plan or a price. */
export const references = [
  'custom_plan_id',
  'fallback_plan_id',
  'initial_plan_id',
  'initial_plan_price_id',
  'trial_expiry_plan_id',
  'trial_expiry_plan_price_id',
] as const
export type References = Readonly<Record<(typeof references)[number], string | null>>

/** Members of a group that are only stored and shown, under their wire names; none is absent. */
export type Settings = {
  [Member in Exclude<
    keyof PlanGroupWrite,
    keyof References | 'add_on_ids' | 'custom_checkout_fields'
  >]-?: Exclude<PlanGroupWrite[Member], undefined>
} & { readonly custom_checkout_fields: readonly CheckoutField[] }

/** A row of plan_groups. */
export interface PlanGroupRow extends References {
  readonly id: string
  readonly environment_id: string
  readonly settings: Settings
  readonly created_at: Date
  readonly updated_at: Date
}

export async function findGroup(sql: Sql, environmentId: string): Promise<PlanGroupRow | null> {
  const [row] = await sql<PlanGroupRow[]>`
    select * from plan_groups where environment_id = ${environmentId}`
  return row ?? null
}

/** Insert or replace the group of an environment. */
export async function putGroup(tx: Sql, row: PlanGroupRow): Promise<void> {
  const columns = { ...row, settings: asJson(tx, row.settings) }
  const { id: _, environment_id: __, created_at: ___, ...changed } = columns
  await tx`
    insert into plan_groups ${tx(columns)}
    on conflict (environment_id) do update set ${tx(changed)}`
}

/** Plans by id, each with the version that decides: the published one, else the draft. */
export async function offeredPlans(
  sql: Sql,
  place: Place & { readonly environmentId: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly plan: PlanRow; readonly version: PlanVersionRow | null }>> {
  const plans = await sql<PlanRow[]>`
    select * from plans where id in ${among(sql, ids)} and ${visiblePlans(sql, place)}`
  const versions = await sql<PlanVersionRow[]>`
    select distinct on (plan_id) * from plan_versions
    where plan_id in ${among(sql, ids)} and environment_id = ${place.environmentId} and deleted_at is null
      and status in ('published', 'draft')
    order by plan_id, status = 'published' desc`
  const byPlan = new Map(versions.map(version => [version.plan_id, version]))
  return new Map(plans.map(plan => [plan.id, { plan, version: byPlan.get(plan.id) ?? null }]))
}

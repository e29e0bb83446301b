// Looks up the names of objects that conditions list by id.
import type { Sql } from 'postgres'
import type { ConditionType, PlanVersionStatus } from '../../../schemas/enums.js'
import type { PreviewObject } from '../../../schemas/envelope.js'
import type { Catalogs } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { planPreview } from './feature-view.js'

export interface PlanVersionPreview {
  readonly id: string
  readonly name: string
  readonly status: PlanVersionStatus
  readonly version: number
}

/** Previews by id. An id carries its kind, so one map holds all kinds. */
export interface Previews {
  readonly resources: ReadonlyMap<string, PreviewObject>
  readonly planVersions: ReadonlyMap<string, PlanVersionPreview>
}

/** The ids that a condition lists. */
interface Listing {
  readonly condition_type: ConditionType
  readonly resource_ids: readonly string[]
}

/**
 * Look up everything that conditions list, in these environments.
 *
 * returns  companies and users from Postgres, plans and their published and archived versions from the catalog.
 *          Billing products have no names here.
 */
export async function previewsOf(
  sql: Sql,
  catalogs: Catalogs,
  environmentIds: readonly string[],
  listings: readonly Listing[],
): Promise<Previews> {
  const resources = new Map<string, PreviewObject>()
  const planVersions = new Map<string, PlanVersionPreview>()
  const listed = (...types: readonly ConditionType[]) => [
    ...new Set(
      listings.filter(each => types.includes(each.condition_type)).flatMap(each => each.resource_ids),
    ),
  ]
  for (const [table, ids] of [
    ['companies', listed('company')],
    ['users', listed('user')],
  ] as const) {
    if (ids.length === 0) continue
    const rows = await sql<{ id: string; name: string }[]>`
      select id, name from ${sql(table)}
      where id in ${among(sql, ids)} and environment_id in ${among(sql, environmentIds)}`
    for (const { id, name } of rows) resources.set(id, { id, name, description: null, image_url: null })
  }
  if (listed('plan', 'base_plan', 'plan_version').length === 0) return { resources, planVersions }
  for (const plan of environmentIds.flatMap(id => catalogs.get(id).plans)) {
    resources.set(plan.id, planPreview(plan))
    for (const { id, version, status } of plan.versions) {
      resources.set(id, { ...planPreview(plan), id })
      planVersions.set(id, { id, name: plan.name, status, version })
    }
  }
  return { resources, planVersions }
}

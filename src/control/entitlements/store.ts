// Statements of plan entitlements.
import type { Sql } from 'postgres'
import type { EntitlementRow } from '../../catalog/plans.js'
import type { Page } from '../../kit/query.js'
import { among } from '../../kit/sql.js'

/** Filters of GET /plan-entitlements. */
interface EntitlementFilter {
  readonly feature_id?: string
  readonly feature_ids?: readonly string[]
  readonly ids?: readonly string[]
  readonly plan_id?: string
  readonly plan_ids?: readonly string[]
  readonly plan_version_id?: string
  readonly plan_version_ids?: readonly string[]
  readonly q?: string
  readonly with_metered_products?: boolean
}

/**
 * Without a version in the filter: entitlements of the version a plan is shown by, which is the published one, else
 * the draft (PB-3). A filter by id matches on any version.
 */
function matching(sql: Sql, environmentId: string, filter: EntitlementFilter) {
  const { feature_ids, ids, plan_ids, plan_version_ids: versionIds, q } = filter
  const named = ids || filter.plan_version_id || versionIds
  return sql`e.environment_id = ${environmentId} and v.deleted_at is null and p.deleted_at is null
    ${
      named
        ? sql``
        : sql`and (v.status = 'published' or (v.status = 'draft' and not exists (
            select 1 from plan_versions o where o.plan_id = v.plan_id and o.environment_id = v.environment_id
              and o.status = 'published' and o.deleted_at is null)))`
    }
    ${filter.feature_id ? sql`and e.feature_id = ${filter.feature_id}` : sql``}
    ${feature_ids ? sql`and e.feature_id in ${among(sql, feature_ids)}` : sql``}
    ${ids ? sql`and e.id in ${among(sql, ids)}` : sql``}
    ${filter.plan_id ? sql`and e.plan_id = ${filter.plan_id}` : sql``}
    ${plan_ids ? sql`and e.plan_id in ${among(sql, plan_ids)}` : sql``}
    ${filter.plan_version_id ? sql`and e.plan_version_id = ${filter.plan_version_id}` : sql``}
    ${versionIds ? sql`and e.plan_version_id in ${among(sql, versionIds)}` : sql``}
    ${filter.with_metered_products ? sql`and (e.billing_product_id is not null or jsonb_array_length(e.prices) > 0)` : sql``}
    ${
      q
        ? sql`and (position(lower(${q}) in lower(f.name)) > 0 or position(lower(${q}) in lower(v.name)) > 0
            or position(lower(${q}) in lower(e.id)) > 0)`
        : sql``
    }`
}

function source(sql: Sql) {
  return sql`plan_entitlements e join plan_versions v on v.id = e.plan_version_id
    join plans p on p.id = e.plan_id join features f on f.id = e.feature_id`
}

export function listEntitlementRows(
  sql: Sql,
  environmentId: string,
  filter: EntitlementFilter,
  page: Page,
): Promise<readonly EntitlementRow[]> {
  return sql<EntitlementRow[]>`
    select e.* from ${source(sql)} where ${matching(sql, environmentId, filter)}
    order by e.created_at desc, e.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countEntitlementRows(
  sql: Sql,
  environmentId: string,
  filter: EntitlementFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${source(sql)} where ${matching(sql, environmentId, filter)}`
  return row!.count
}

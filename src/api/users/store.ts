// What Postgres is asked about users: which there are, by what a list may be narrowed.
import type { Sql } from 'postgres'
import type { CatalogData } from '../../core/catalog.js'
import { allOf, type Fragment, mentions, ordered, type Sort } from '../entity-list.js'
import { PlanColumns } from '../plan-columns.js'
import { among } from '../sql.js'

/** What a list of users is narrowed by; absent members do not narrow. All must hold. */
export interface UserFilter {
  readonly companyId?: string | undefined
  readonly ids?: readonly string[] | undefined
  /** Members of a company on this plan. */
  readonly planId?: string | undefined
  readonly q?: string | undefined
}

const newestFirst: Sort = { column: 'created_at', direction: 'desc' }

/** Ids of one page, newest first. `nowMs` decides which trials are over. */
export async function listUserIds(
  sql: Sql,
  catalog: CatalogData,
  filter: UserFilter,
  page: { readonly limit: number; readonly offset: number },
  nowMs: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.id from users e where ${matching(sql, catalog, filter, nowMs)}
    ${ordered(sql, newestFirst)} limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.id)
}

export async function countUserRows(
  sql: Sql,
  catalog: CatalogData,
  filter: UserFilter,
  nowMs: number,
): Promise<number> {
  const [row] = await sql<{ count: string }[]>`
    select count(*) from users e where ${matching(sql, catalog, filter, nowMs)}`
  return Number(row!.count)
}

function matching(sql: Sql, catalog: CatalogData, filter: UserFilter, nowMs: number): Fragment {
  const conditions = [sql`e.environment_id = ${catalog.environmentId}`]
  const { companyId, ids, planId, q } = filter
  if (ids) conditions.push(sql`e.id in ${among(sql, ids)}`)
  if (q) conditions.push(mentions(sql, 'user', q))
  // one condition for both: a company that is the one and on the plan
  if (companyId !== undefined || planId !== undefined) {
    const plans = new PlanColumns(sql, catalog, 'c', nowMs)
    conditions.push(sql`exists (
      select 1 from memberships m join companies c on c.id = m.company_id where m.user_id = e.id
        ${companyId === undefined ? sql`` : sql`and c.id = ${companyId}`}
        ${planId === undefined ? sql`` : sql`and ${plans.on('plan_id', [planId])}`})`)
  }
  return allOf(sql, conditions)
}

// Statements of users: the conditions of list filters.

import type { Sql } from 'postgres'
import type { CatalogData } from '../../core/model/definitions.js'
import type { Page } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import { type Condition, countOf, type Listed, mentions, newestFirst, pageOfIds } from '../entities/list.js'
import { PlanColumns } from '../plan-versions/columns.js'

/** Filters of a list of users. Absent members do not filter; all given ones must hold. */
export interface UserFilter {
  readonly companyId?: string | undefined
  readonly ids?: readonly string[] | undefined
  /** Members of a company on this plan. */
  readonly planId?: string | undefined
  readonly q?: string | undefined
}

/** Ids of one page, newest first. `nowMs` decides which trials have ended. */
export function listUserIds(
  sql: Sql,
  catalog: CatalogData,
  filter: UserFilter,
  page: Page,
  nowMs: number,
): Promise<string[]> {
  return pageOfIds(sql, listed(sql, catalog, filter, nowMs), newestFirst, page)
}

export function countUserRows(
  sql: Sql,
  catalog: CatalogData,
  filter: UserFilter,
  nowMs: number,
): Promise<number> {
  return countOf(sql, listed(sql, catalog, filter, nowMs))
}

function listed(sql: Sql, catalog: CatalogData, filter: UserFilter, nowMs: number): Listed {
  const kind = 'user'
  const { environmentId } = catalog
  const conditions: Condition[] = []
  const { companyId, ids, planId, q } = filter
  if (ids) conditions.push({ test: sql`e.id = any(${ids as string[]}::text[])`, hits: among(sql, ids) })
  if (q) conditions.push(mentions(sql, { kind, environmentId }, q))
  // both in one condition: the same company must match id and plan
  if (companyId !== undefined || planId !== undefined) {
    const one = companyId === undefined ? sql`true` : sql`c.id = ${companyId}`
    const plan =
      planId === undefined ? null : new PlanColumns(sql, catalog, 'c', nowMs).on('plan_id', [planId])
    conditions.push({
      test: sql`exists (
        select 1 from memberships m join listed c on c.id = m.company_id
        where m.user_id = e.id and ${one} and ${plan?.test ?? sql`true`} offset 0)`,
      apart: true,
      hits: sql`
        select m.user_id from ${plan?.hits ? sql`(${plan.hits}) h (id) join listed c on c.id = h.id` : sql`listed c`}
        join memberships m on m.company_id = c.id
        where m.environment_id = ${environmentId} and ${one}`,
    })
  }
  return { kind, environmentId, conditions }
}

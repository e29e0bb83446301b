// Statements of usage: filters of features, entitled companies, users, plan changes and overrides.

import type { Sql } from 'postgres'
import type { BillingProviderType } from '../../../schemas/enums.js'
import type { EntitlementRow } from '../../catalog/plans.js'
import type { CatalogData, StoredEntitlement } from '../../core/model/definitions.js'
import type { EntityBrief } from '../../core/model/entity-state.js'
import type { Page } from '../../kit/query.js'
import { among, contains } from '../../kit/sql.js'
import {
  allOf,
  countOf,
  type Fragment,
  type Listed,
  mentions,
  newestFirst,
  pageOfIds,
} from '../entities/list.js'
import { PlanColumns } from '../plan-versions/columns.js'
import type { HoldingChange, OverrideSpan } from './limits.js'

/** Filters of a list of features; absent members do not filter. */
export interface FeatureFilter {
  readonly q?: string | undefined
  readonly managedBy?: BillingProviderType | undefined
}

/** The features that match a filter, out of these. source: q as for the list of features */
export async function matchingFeatures(
  sql: Sql,
  ids: readonly string[],
  { q, managedBy }: FeatureFilter,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0 || (!q && !managedBy)) return new Set(ids)
  const rows = await sql<{ id: string }[]>`
    select id from features where id in ${among(sql, ids)}
      ${managedBy ? sql`and managed_by = ${managedBy}` : sql``}
      ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'id', q)})` : sql``}`
  return new Set(rows.map(row => row.id))
}

export async function entitlementRows(sql: Sql, ids: readonly string[]): Promise<readonly EntitlementRow[]> {
  if (ids.length === 0) return []
  return sql<EntitlementRow[]>`select * from plan_entitlements where id in ${among(sql, ids)}`
}

/** Recorded changes of a company's plans, newest first (PB-34). */
export async function holdingChanges(sql: Sql, companyId: string): Promise<HoldingChange[]> {
  const rows = await sql<
    {
      previous_plan_id: string | null
      previous_version_id: string | null
      add_ons_added: readonly string[]
      add_ons_removed: readonly string[]
      created_at: Date
    }[]
  >`
    select previous_plan_id, previous_version_id, add_ons_added, add_ons_removed, created_at
    from plan_changes where company_id = ${companyId} order by created_at desc, id desc`
  return rows.map(row => ({
    atMs: row.created_at.getTime(),
    previous:
      row.previous_plan_id !== null && row.previous_version_id !== null
        ? { planId: row.previous_plan_id, versionId: row.previous_version_id }
        : null,
    addOnsAdded: row.add_ons_added,
    addOnsRemoved: row.add_ons_removed,
  }))
}

/** The values of each override of a company, from one change to the next. */
export async function overrideSpans(sql: Sql, companyId: string): Promise<OverrideSpan[]> {
  const rows = await sql<
    {
      override_id: string
      entitlement: StoredEntitlement | null
      expires_at: Date | null
      from_at: Date
      until_at: Date | null
    }[]
  >`
    select override_id, entitlement, expires_at, changed_at as from_at,
      lead(changed_at) over (partition by override_id order by changed_at) as until_at
    from override_changes where company_id = ${companyId} order by changed_at`
  return rows.flatMap(({ override_id: id, entitlement, expires_at, from_at, until_at }) => {
    if (entitlement === null) return []
    const fromMs = from_at.getTime()
    const expiresAtMs = expires_at?.getTime() ?? null
    const override = { id, entitlement, expiresAtMs, createdAtMs: fromMs, updatedAtMs: fromMs }
    return [{ override, fromMs, untilMs: until_at?.getTime() ?? null }]
  })
}

/** Users by id from Postgres; deleted ones are left out. */
export async function userRows(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<EntityBrief[]> {
  if (ids.length === 0) return []
  const rows = await sql<
    { id: string; name: string; created_at: Date; updated_at: Date; last_seen_at: Date | null }[]
  >`
    select id, name, created_at, updated_at, last_seen_at from users
    where environment_id = ${environmentId} and id in ${among(sql, ids)}`
  return rows.map(row => ({
    id: row.id,
    environmentId,
    name: row.name,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    lastSeenAtMs: row.last_seen_at?.getTime() ?? null,
  }))
}

/** Companies entitled to a feature, newest first. `q`: part of a name, key or trait. */
export function entitledCompanyIds(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
  page: Page,
): Promise<string[]> {
  return pageOfIds(sql, entitledCompanies(sql, catalog, featureId, q, nowMs), newestFirst, page)
}

export function countEntitledCompanies(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
): Promise<number> {
  return countOf(sql, entitledCompanies(sql, catalog, featureId, q, nowMs))
}

function entitledCompanies(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
): Listed {
  const of = { kind: 'company', environmentId: catalog.environmentId } as const
  const entitled = new PlanColumns(sql, catalog, 'e', nowMs).entitledTo(featureId)
  return { ...of, conditions: q ? [entitled, mentions(sql, of, q)] : [entitled] }
}

/** Members of entitled companies, newest membership first. `q`: part of the user's name, key or trait. */
export async function entitledMembers(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
  { limit, offset }: Page,
): Promise<{ readonly userId: string; readonly companyId: string }[]> {
  const rows = await sql<{ user_id: string; company_id: string }[]>`
    select m.user_id, m.company_id ${entitledMember(sql, catalog, featureId, q, nowMs)}
    order by m.created_at desc, m.id desc limit ${limit} offset ${offset}`
  return rows.map(row => ({ userId: row.user_id, companyId: row.company_id }))
}

export async function countEntitledMembers(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count ${entitledMember(sql, catalog, featureId, q, nowMs)}`
  return row!.count
}

function entitledMember(
  sql: Sql,
  catalog: CatalogData,
  featureId: string,
  q: string | undefined,
  nowMs: number,
): Fragment {
  const conditions = [
    sql`m.environment_id = ${catalog.environmentId}`,
    new PlanColumns(sql, catalog, 'c', nowMs).entitledTo(featureId).test,
    ...(q ? [mentions(sql, { kind: 'user', environmentId: catalog.environmentId }, q).test] : []),
  ]
  return sql`
    from memberships m join listed c on c.id = m.company_id join listed e on e.id = m.user_id
    where ${allOf(sql, conditions)}`
}

// What Postgres is asked about usage: which features a list is narrowed to, what entitles to them, who used them.
import type { Sql } from 'postgres'
import type { BillingProviderType } from '../../../schemas/enums.js'
import type { EntitlementRow } from '../../catalog/plans.js'
import { among, contains } from '../sql.js'
import type { HoldingChange } from './limits.js'

/** What a list of features is narrowed by; absent members do not narrow. */
export interface FeatureFilter {
  readonly q?: string | undefined
  readonly managedBy?: BillingProviderType | undefined
}

/** Those of some features that a filter leaves. source: q as for the list of features */
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

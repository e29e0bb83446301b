// Statements of company overrides.
import type { Sql } from 'postgres'
import type { Page } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import type { OverrideRow } from '../entitlements/override-view.js'

/** Filters of GET /company-overrides. */
interface OverrideFilter {
  readonly company_id?: string
  readonly company_ids?: readonly string[]
  readonly feature_id?: string
  readonly feature_ids?: readonly string[]
  readonly ids?: readonly string[]
  readonly without_expired?: boolean
  readonly q?: string
}

function matchingOverrides(sql: Sql, environmentId: string, filter: OverrideFilter, now: Date) {
  const { company_ids, feature_ids, ids, q } = filter
  return sql`o.environment_id = ${environmentId}
    ${filter.company_id ? sql`and o.company_id = ${filter.company_id}` : sql``}
    ${company_ids ? sql`and o.company_id in ${among(sql, company_ids)}` : sql``}
    ${filter.feature_id ? sql`and o.feature_id = ${filter.feature_id}` : sql``}
    ${feature_ids ? sql`and o.feature_id in ${among(sql, feature_ids)}` : sql``}
    ${ids ? sql`and o.id in ${among(sql, ids)}` : sql``}
    ${filter.without_expired ? sql`and (o.expires_at is null or o.expires_at > ${now})` : sql``}
    ${
      q
        ? sql`and (position(lower(${q}) in lower(f.name)) > 0 or position(lower(${q}) in lower(c.name)) > 0
            or position(lower(${q}) in lower(o.id)) > 0)`
        : sql``
    }`
}

// An override of a deleted feature grants nothing and is not shown (EN-64).
function overrideSource(sql: Sql) {
  return sql`company_overrides o join companies c on c.id = o.company_id join features f on f.id = o.feature_id`
}

export function listOverrideRows(
  sql: Sql,
  environmentId: string,
  filter: OverrideFilter,
  now: Date,
  page: Page,
): Promise<readonly OverrideRow[]> {
  return sql<OverrideRow[]>`
    select o.* from ${overrideSource(sql)} where ${matchingOverrides(sql, environmentId, filter, now)}
    order by o.created_at desc, o.id desc limit ${page.limit} offset ${page.offset}`
}

export async function countOverrideRows(
  sql: Sql,
  environmentId: string,
  filter: OverrideFilter,
  now: Date,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${overrideSource(sql)}
    where ${matchingOverrides(sql, environmentId, filter, now)}`
  return row!.count
}

export async function findOverride(sql: Sql, environmentId: string, id: string): Promise<OverrideRow | null> {
  const [row] = await sql<OverrideRow[]>`
    select o.* from ${overrideSource(sql)} where o.id = ${id} and o.environment_id = ${environmentId}`
  return row ?? null
}

/** The override of a company and feature that has not expired, or null; there is one at most (EN-4). */
export async function findOverrideInForce(
  sql: Sql,
  environmentId: string,
  companyId: string,
  featureId: string,
  now: Date,
): Promise<OverrideRow | null> {
  const [row] = await sql<OverrideRow[]>`
    select o.* from ${overrideSource(sql)} where o.environment_id = ${environmentId}
      and o.company_id = ${companyId} and o.feature_id = ${featureId} and (o.expires_at is null or o.expires_at > ${now})`
  return row ?? null
}

export async function insertNote(
  sql: Sql,
  note: {
    readonly id: string
    readonly environmentId: string
    readonly overrideId: string
    readonly text: string
  },
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  await sql`
    insert into company_override_notes ${sql({
      id: note.id,
      environment_id: note.environmentId,
      override_id: note.overrideId,
      note: note.text,
      created_at: now,
      updated_at: now,
    })}`
}

export async function deleteNotes(sql: Sql, overrideId: string): Promise<void> {
  await sql`delete from company_override_notes where override_id = ${overrideId}`
}

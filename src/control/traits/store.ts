// Statements of trait definitions.
import type { Sql } from 'postgres'
import type { EntityType, TraitType } from '../../../schemas/enums.js'
import { among, contains, newest } from '../../kit/sql.js'
import type { TraitDefinitionRow } from './rows.js'

export interface TraitFilter {
  readonly environmentId: string
  readonly entityType: EntityType | undefined
  readonly ids: readonly string[] | undefined
  /** Part of a name or display name. */
  readonly q: string | undefined
  readonly traitTypes: readonly TraitType[] | undefined
}

function matching(sql: Sql, filter: TraitFilter) {
  const { entityType, ids, q, traitTypes } = filter
  return sql`environment_id = ${filter.environmentId}
    ${entityType ? sql`and entity_type = ${entityType}` : sql``}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'display_name', q)})` : sql``}
    ${traitTypes ? sql`and trait_type in ${among(sql, traitTypes)}` : sql``}`
}

export function listTraitRows(
  sql: Sql,
  filter: TraitFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly TraitDefinitionRow[]> {
  return sql<TraitDefinitionRow[]>`
    select * from trait_definitions where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countTraitRows(sql: Sql, filter: TraitFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from trait_definitions where ${matching(sql, filter)}`
  return row!.count
}

export async function findTraitRow(
  sql: Sql,
  environmentId: string,
  id: string,
): Promise<TraitDefinitionRow | null> {
  const [row] = await sql<TraitDefinitionRow[]>`
    select * from trait_definitions where id = ${id} and environment_id = ${environmentId}`
  return row ?? null
}

/** Update a definition; undefined members are unchanged. */
export async function updateTraitRow(
  sql: Sql,
  id: string,
  change: {
    readonly traitType: TraitType
    readonly displayName: string | undefined
    readonly publishableWrites: boolean | undefined
  },
  nowMs: number,
): Promise<TraitDefinitionRow> {
  const [row] = await sql<TraitDefinitionRow[]>`
    update trait_definitions set trait_type = ${change.traitType}, updated_at = ${new Date(nowMs)}
      ${change.displayName === undefined ? sql`` : sql`, display_name = ${change.displayName}`}
      ${change.publishableWrites === undefined ? sql`` : sql`, publishable_writes = ${change.publishableWrites}`}
    where id = ${id} returning *`
  return row!
}

const listedAtOnce = 2_000

/** Rebuild the searchable rows of entities after a trait's type changed, some thousands at a time. */
export async function listAgainWith(sql: Sql, definitionId: string): Promise<void> {
  const rows = await sql<{ entity_id: string }[]>`
    select entity_id from entity_traits where definition_id = ${definitionId}`
  for (let at = 0; at < rows.length; at += listedAtOnce) {
    const ids = rows.slice(at, at + listedAtOnce).map(row => row.entity_id)
    await sql`select list_again(${ids}::text[])`
  }
}

export async function deleteTraitRow(sql: Sql, id: string): Promise<void> {
  await sql`delete from trait_definitions where id = ${id}`
}

/** The uses of a definition. Features name traits by path, whatever the environment. */
export async function traitUses(
  sql: Sql,
  accountId: string,
  trait: TraitDefinitionRow,
): Promise<{ readonly features: number; readonly conditions: number; readonly overrides: number }> {
  const [row] = await sql<{ features: number; conditions: number; overrides: number }[]>`
    select
      (select count(*)::int from features
        where account_id = ${accountId} and ${trait.entity_type} = 'company'
          and (trait_hierarchy = ${sql.json([...trait.hierarchy])}
            or usage_limit_trait_hierarchy = ${sql.json([...trait.hierarchy])})) as features,
      (select count(*)::int from rules, jsonb_path_query(
          jsonb_build_array(conditions, condition_groups),
          'strict $.** ? (@.trait_id == $id || @.comparison_trait_id == $id)',
          jsonb_build_object('id', ${trait.id}::text))
        where environment_id = ${trait.environment_id}) as conditions,
      (select count(*)::int from company_overrides
        where environment_id = ${trait.environment_id} and entitlement ->> 'valueTraitId' = ${trait.id}) as overrides`
  return row!
}

// Pieces of the statements that list companies and users.
import type { PendingQuery, Row, Sql } from 'postgres'
import type { SortDirection } from '../../schemas/enums.js'
import type { DirectoryKind } from '../engine/directory.js'
import { ServiceError } from '../errors.js'
import { contains } from './sql.js'

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>

/** All of them hold; none: everything does. */
export function allOf(sql: Sql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`)
}

/**
 * Whether the name, a key value or a string trait of an entity (a row named `e`) contains a text, whatever their case.
 *
 * source  CU-60. Traits of type url are strings too: decision (FE-67 compares them as such).
 */
export function mentions(sql: Sql, kind: DirectoryKind, q: string): Fragment {
  return sql`(
    ${contains(sql, 'e.name', q)}
    or exists (select 1 from entity_keys k where k.entity_id = e.id and ${contains(sql, 'k.value', q)})
    or exists (
      select 1 from entity_traits t join trait_definitions d on d.id = t.definition_id
      where t.entity_id = e.id and d.entity_type = ${kind} and d.trait_type in ('string', 'url')
        and ${contains(sql, 't.value', q)}))`
}

const sortColumns = ['name', 'created_at', 'last_seen_at'] as const
type SortColumn = (typeof sortColumns)[number]

export interface Sort {
  readonly column: SortColumn
  readonly direction: SortDirection
}

/**
 * The order asked for.
 *
 * returns  newest first by default; without a direction names ascend and times descend.
 * errors   query_invalid (400) for any other column.
 * source   CU-60; the directions by default: decision.
 */
export function sortOf(column: string | undefined, direction: SortDirection | undefined): Sort {
  const known = sortColumns.find(one => one === (column ?? 'created_at'))
  if (known === undefined)
    throw new ServiceError('query_invalid', `sort_order_column: expected one of ${sortColumns.join(', ')}`)
  return { column: known, direction: direction ?? (known === 'name' ? 'asc' : 'desc') }
}

/** `order by` of rows named `e`: nulls last, ties by id in the same direction (AL-51 for the default). */
export function ordered(sql: Sql, { column, direction }: Sort): Fragment {
  const by = sql(`e.${column}`)
  return direction === 'asc'
    ? sql`order by ${by} asc nulls last, e.id asc`
    : sql`order by ${by} desc nulls last, e.id desc`
}

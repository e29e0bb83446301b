// Which companies or users a page of a list shows, and how many there are on all pages.
//
// A filter may be met by almost everybody or by three in a million, and which of the two decides what is quick:
// walking along the order of the list until the page is full, or gathering everybody who meets the filter and sorting
// them. The planner would have to guess; so it is found out, within bounds, before either is begun.
import type { PendingQuery, Row, Sql } from 'postgres'
import type { SortDirection } from '../../schemas/enums.js'
import type { DirectoryKind } from '../engine/directory.js'
import { ServiceError } from '../errors.js'
import { contains } from './sql.js'

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>

/** What an entity (a row named `e`) has to meet. */
export interface Condition {
  readonly test: Fragment
  /**
   * A select of one column, along an index: the ids of all who meet the test, some perhaps twice, and some perhaps
   * that are gone. Absent: there is no such index, the test is asked of one after the other.
   */
  readonly hits?: Fragment
}

/** What a list is of: `kind` names the table. */
export interface Listed {
  readonly kind: DirectoryKind
  readonly environmentId: string
  /** All of them must hold; none: everybody. */
  readonly conditions: readonly Condition[]
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

const tables = { company: 'companies', user: 'users' } as const

export interface Bounds {
  /** So many are gathered and sorted at once, where that is all there are. */
  readonly gatheredMax: number
  /** Along the order of the list so many are looked at before everybody is. */
  readonly walkedMax: number
}
const usual: Bounds = { gatheredMax: 10_000, walkedMax: 20_000 }

/** Ids of one page. */
export async function pageOfIds(
  sql: Sql,
  listed: Listed,
  sort: Sort,
  page: Page,
  bounds: Bounds = usual,
): Promise<string[]> {
  const few = await fewest(sql, listed.conditions, bounds.gatheredMax)
  if (few === null) {
    const walked = await walk(sql, listed, sort, page, bounds)
    if (walked.length === page.limit) return walked
  }
  // either not many meet the condition, or they lie far along the order
  const rows = await sql<{ id: string }[]>`
    ${from(sql, listed, few)} ${ordered(sql, sort)} limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.id)
}

/** How many the list has on all its pages. */
export async function countOf(sql: Sql, listed: Listed): Promise<number> {
  const few = await fewest(sql, listed.conditions, usual.gatheredMax)
  const [row] = await sql<{ count: string }[]>`select count(*) from (${from(sql, listed, few, true)}) e`
  return Number(row!.count)
}

/** The condition met by the fewest, of those met by at most `max`; null when there is none. */
async function fewest(sql: Sql, conditions: readonly Condition[], max: number): Promise<Condition | null> {
  const known = conditions.filter(({ hits }) => hits !== undefined)
  if (known.length === 0) return null
  const counts = known.map(({ hits }) => sql`(select count(*) from (${hits!} limit ${max + 1}) h)`)
  const [row] = await sql<{ counts: string[] }[]>`select array[${separated(sql, counts)}] as counts`
  const found = row!.counts.map(Number)
  const least = Math.min(...found)
  return least > max ? null : known[found.indexOf(least)]!
}

function separated(sql: Sql, parts: readonly Fragment[]): Fragment {
  return parts.reduce((all, one) => sql`${all}, ${one}`)
}

/** Everybody listed, in no order; gathered by the hits of `few` where there are any, and of all with `byAll`. */
function from(sql: Sql, listed: Listed, few: Condition | null, byAll = false): Fragment {
  const { kind, environmentId, conditions } = listed
  const tests = conditions
    .filter(one => one !== few)
    .map(one => (byAll && one.hits ? sql`e.id in (${one.hits})` : one.test))
  const gathered = few?.hits && sql`and e.id in (select * from (${few.hits}) h offset 0)`
  return sql`
    select e.id from ${sql(tables[kind])} e
    where e.environment_id = ${environmentId} ${gathered ?? sql``} and ${allOf(sql, tests)}`
}

/** A page from the first so many of the order; less than a page when it is not to be filled from them. */
async function walk(
  sql: Sql,
  { kind, environmentId, conditions }: Listed,
  sort: Sort,
  { limit, offset }: Page,
  { walkedMax }: Bounds,
): Promise<string[]> {
  const max = conditions.length === 0 ? offset + limit : walkedMax + 2 * (offset + limit)
  // who was never seen comes last in both directions: ascending, they are beyond what is walked
  const seen = sort.column === 'last_seen_at' && sort.direction === 'asc'
  const order = seen ? sql`order by e.last_seen_at asc nulls first, e.id asc` : ordered(sql, sort)
  const tests = conditions.map(({ test }) => test)
  const rows = await sql<{ id: string }[]>`
    select e.id from (
      select * from ${sql(tables[kind])} e
      where e.environment_id = ${environmentId} ${seen ? sql`and e.last_seen_at is not null` : sql``}
      ${order} limit ${max}) e
    where ${allOf(sql, tests)} ${order} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** All of them hold; none: everything does. */
export function allOf(sql: Sql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`)
}

/** Whether it is true, or not. */
export function whether(sql: Sql, { test, hits }: Condition, wanted: boolean): Condition {
  if (!wanted) return { test: sql`not ${test}` }
  return hits === undefined ? { test } : { test, hits }
}

/**
 * Whether the name, a key value or a string trait of an entity (a row named `e`) contains a text, whatever their case.
 *
 * source  CU-60. Traits of type url are strings too: decision (FE-67 compares them as such).
 */
export function mentions(sql: Sql, kind: DirectoryKind, environmentId: string, q: string): Condition {
  const here = sql`environment_id = ${environmentId} and entity_type = ${kind}`
  const textual = sql`
    select id from trait_definitions where ${here} and trait_type in ('string', 'url')`
  return {
    test: sql`(
      ${contains(sql, 'e.name', q)}
      or exists (select 1 from entity_keys k where k.entity_id = e.id and ${contains(sql, 'k.value', q)})
      or exists (
        select 1 from entity_traits t
        where t.entity_id = e.id and t.definition_id in (${textual}) and ${contains(sql, 't.value', q)}))`,
    hits: sql`
      select entity_id from entity_names where ${here} and ${contains(sql, 'name', q)}
      union all select entity_id from entity_keys where ${here} and ${contains(sql, 'value', q)}
      union all select entity_id from entity_traits
      where ${here} and ${contains(sql, 'value', q)} and definition_id in (${textual})`,
  }
}

const sortColumns = ['name', 'created_at', 'last_seen_at'] as const
type SortColumn = (typeof sortColumns)[number]

export interface Sort {
  readonly column: SortColumn
  readonly direction: SortDirection
}

/** The order of lists that know no other (AL-51). */
export const newestFirst: Sort = { column: 'created_at', direction: 'desc' }

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

/**
 * `order by` of rows named `e`: nulls last, ties by id in the same direction (AL-51 for the default). Where there are
 * no nulls none are mentioned: an index says on which side it has them, even if it has none.
 */
function ordered(sql: Sql, { column, direction }: Sort): Fragment {
  const by = sql(`e.${column}`)
  const nulls = column === 'last_seen_at' ? sql`nulls last` : sql``
  return direction === 'asc'
    ? sql`order by ${by} asc ${nulls}, e.id asc`
    : sql`order by ${by} desc ${nulls}, e.id desc`
}

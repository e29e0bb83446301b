// Which companies or users a page of a list shows, and how many there are on all pages.
//
// A filter may be met by almost everybody or by three in a million, and which of the two decides what is quick:
// walking along the order of the list until the page is full, or gathering everybody who meets the filter and sorting
// them. The planner would have to guess; so it is found out, within bounds, before either is begun.
import type { PendingQuery, Row, Sql } from 'postgres'
import type { SortDirection } from '../../schemas/enums.js'
import type { DirectoryKind } from '../engine/directory.js'
import { ServiceError } from '../errors.js'
import { anywhere } from './sql.js'

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>

/**
 * What an entity (its row of `listed`, named `e`) has to meet.
 *
 * A test is asked of one after the other; `exists` in it ends with `offset 0`, else the planner may answer it for
 * everybody at once. `hits` and `misses` are selects of one column along an index: the ids of all who meet the test, or
 * of all who do not; some perhaps twice, and some perhaps that are gone.
 */
export interface Condition {
  readonly test: Fragment
  readonly hits?: Fragment
  readonly misses?: Fragment
  /** The test asks another table: where everybody is asked, hits or misses are looked up instead. */
  readonly apart?: boolean
}

/** What a list is of. */
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

export interface Bounds {
  /** So many are looked at first of all: what many meet fills a page from them. */
  readonly glancedMax: number
  /** So many are gathered and sorted at once, where that is all there are. */
  readonly gatheredMax: number
  /** Along the order of the list so many are looked at before everybody is. */
  readonly walkedMax: number
}
const usual: Bounds = { glancedMax: 4_000, gatheredMax: 4_000, walkedMax: 50_000 }

/** Ids of one page. */
export async function pageOfIds(
  sql: Sql,
  listed: Listed,
  sort: Sort,
  page: Page,
  bounds: Bounds = usual,
): Promise<string[]> {
  const glanced = await walk(sql, listed, sort, page, bounds.glancedMax)
  if (glanced.length === page.limit) return glanced
  const few = await fewest(sql, listed.conditions, bounds.gatheredMax)
  if (few === null && listed.conditions.length > 0) {
    const walked = await walk(sql, listed, sort, page, bounds.walkedMax)
    if (walked.length === page.limit) return walked
  }
  // either not many meet the condition, or they lie far along the order
  const seen = sort.column === 'last_seen_at' ? sql`join companies s on s.id = e.id` : sql``
  const rows = await sql<{ id: string }[]>`
    select e.id from listed e ${seen} where ${everybody(sql, listed, few)}
    ${ordered(sql, sort)} limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.id)
}

/** How many the list has on all its pages. */
export async function countOf(sql: Sql, listed: Listed): Promise<number> {
  const few = await fewest(sql, listed.conditions, usual.gatheredMax)
  const [row] = await sql<{ count: string }[]>`
    select count(*) from listed e where ${everybody(sql, listed, few)}`
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

/** Everybody who is listed. `few`: those who meet it are looked at alone. */
function everybody(sql: Sql, { kind, environmentId, conditions }: Listed, few: Condition | null): Fragment {
  const tests = conditions.filter(one => one !== few).map(one => (few === null ? atOnce(sql, one) : one.test))
  const gathered = few?.hits && sql`and e.id in (select * from (${few.hits}) h offset 0)`
  return sql`
    e.environment_id = ${environmentId} and e.kind = ${kind} ${gathered ?? sql``} and ${allOf(sql, tests)}`
}

function atOnce(sql: Sql, { test, hits, misses, apart }: Condition): Fragment {
  if (apart && hits !== undefined) return sql`e.id in (${hits})`
  if (apart && misses !== undefined)
    return sql`not exists (select 1 from (${misses}) m (id) where m.id = e.id)`
  return test
}

/** A page from the first so many of the order; less than a page when it is not to be filled from them. */
async function walk(
  sql: Sql,
  { kind, environmentId, conditions }: Listed,
  sort: Sort,
  { limit, offset }: Page,
  most: number,
): Promise<string[]> {
  const max = conditions.length === 0 ? offset + limit : most + 2 * (offset + limit)
  const tests = conditions.map(({ test }) => test)
  // who was never seen comes last in both directions: ascending, they are beyond what is walked
  const ascending = sort.direction === 'asc'
  const order =
    sort.column === 'last_seen_at' && ascending
      ? sql`order by s.last_seen_at asc nulls first, s.id asc`
      : ordered(sql, sort)
  const seen = sql`
    select s.id, s.last_seen_at from companies s
    where s.environment_id = ${environmentId} ${ascending ? sql`and s.last_seen_at is not null` : sql``}
    ${order} limit ${max}`
  const along = sql`
    select * from listed e where e.environment_id = ${environmentId} and e.kind = ${kind}
    ${order} limit ${max}`
  const walked =
    sort.column === 'last_seen_at' ? sql`(${seen}) s join listed e on e.id = s.id` : sql`(${along}) e`
  const rows = await sql<{ id: string }[]>`
    select e.id from ${walked} where ${allOf(sql, tests)} ${order} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** All of them hold; none: everything does. */
export function allOf(sql: Sql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`)
}

/** Whether it is true, or not. */
export function whether(sql: Sql, condition: Condition, wanted: boolean): Condition {
  if (wanted) return condition
  const { test, hits, apart } = condition
  return { test: sql`not ${test}`, ...(hits && { misses: hits }), ...(apart && { apart }) }
}

/**
 * Whether the name, a key value or a string trait of an entity contains a text, whatever their case.
 *
 * source  CU-60. Traits of type url are strings too: decision (FE-67 compares them as such).
 */
export function mentions(
  sql: Sql,
  { kind, environmentId }: Omit<Listed, 'conditions'>,
  q: string,
): Condition {
  const pattern = sql`lower(${anywhere(q)})`
  return {
    test: sql`e.text like ${pattern}`,
    hits: sql`
      select id from listed where environment_id = ${environmentId} and kind = ${kind} and text like ${pattern}`,
  }
}

/** Companies with a subscription (a row named `s`) that meets a condition. */
export function withSubscription(sql: Sql, environmentId: string, condition: Fragment): Condition {
  return {
    test: sql`(e.subscribed <> '{}' and exists (
      select 1 from company_subscriptions s where s.company_id = e.id and ${condition} offset 0))`,
    apart: true,
    hits: sql`
      select s.company_id from company_subscriptions s where s.environment_id = ${environmentId} and ${condition}`,
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
 * `order by`: nulls last, ties by id in the same direction (AL-51 for the default). Where there are no nulls none are
 * mentioned: an index says on which side it has them, even if it has none. Rows are named `e`, those of companies `s`.
 */
function ordered(sql: Sql, { column, direction }: Sort): Fragment {
  if (column === 'last_seen_at')
    return direction === 'asc'
      ? sql`order by s.last_seen_at asc nulls last, s.id asc`
      : sql`order by s.last_seen_at desc nulls last, s.id desc`
  const by = sql(`e.${column}`)
  return direction === 'asc' ? sql`order by ${by} asc, e.id asc` : sql`order by ${by} desc, e.id desc`
}

// Pages and counts of the lists of companies and users.
//
// A filter may match almost every entity or three in a million, and each case needs another query plan: walking along
// the list's order until the page is full, or collecting all matches and sorting them. Postgres would have to guess.
// This file measures first, within bounds, and then chooses.
import type { PendingQuery, Row, Sql } from 'postgres'
import type { SortDirection } from '../../../schemas/enums.js'
import type { DirectoryKind } from '../../entities/directory/directory.js'
import { ServiceError } from '../../errors.js'
import type { Page } from '../../kit/query.js'
import { requireNear } from '../../kit/query.js'
import { anywhere } from '../../kit/sql.js'

/** Part of an SQL statement. */
export type Fragment = PendingQuery<Row[]>

/**
 * A condition on an entity: its row of `listed`, named `e`.
 *
 * `test` is evaluated per row; an `exists` in it ends with `offset 0`, else the planner may evaluate it for all
 * rows at once. `hits` and `misses` are selects of one id column along an index: all entities that meet the test,
 * or all that do not. They may contain duplicates and deleted entities.
 */
export interface Condition {
  readonly test: Fragment
  readonly hits?: Fragment
  readonly misses?: Fragment
  /** The test reads another table. When all rows are tested, `hits` or `misses` are looked up instead. */
  readonly apart?: boolean
  /** Select of id and created_at: the first `most` matches, newest or oldest first. It may contain duplicates. */
  readonly inOrder?: (direction: SortDirection, most: number) => Fragment
}

/** A list: the kind, the environment and the conditions. */
export interface Listed {
  readonly kind: DirectoryKind
  readonly environmentId: string
  /** All conditions must hold; an empty list matches every entity. */
  readonly conditions: readonly Condition[]
}

export interface Bounds {
  /** Rows tested in the first walk. A condition that many rows meet fills a page from them. */
  readonly glancedMax: number
  /** If a condition has at most this many hits, they are collected and sorted. */
  readonly gatheredMax: number
  /** Rows tested along the list's order before all matches are collected. */
  readonly walkedMax: number
}
const usual: Bounds = { glancedMax: 4_000, gatheredMax: 4_000, walkedMax: 50_000 }

/** A longer walk starts only if the estimated number of rows is below this share of walkedMax. */
const hopeful = 0.6

/** Ids of one page. Throws 400 for an offset that is too large (`requireNear`). */
export async function pageOfIds(
  sql: Sql,
  listed: Listed,
  sort: Sort,
  page: Page,
  bounds: Bounds = usual,
): Promise<string[]> {
  const { conditions } = listed
  const end = page.offset + page.limit
  if (conditions.length === 0) return everyPage(sql, listed, sort, page)
  requireNear(page)
  const inOrder = sort.column === 'created_at' ? conditions.find(one => one.inOrder)?.inOrder : undefined
  if (inOrder && conditions.length === 1 && end > bounds.glancedMax)
    return firstOf(sql, inOrder(sort.direction, end), sort, page)
  const glanced = await walk(sql, listed, sort, page, bounds.glancedMax)
  if (glanced.length === page.limit) return glanced
  if (inOrder && conditions.length === 1) return firstOf(sql, inOrder(sort.direction, end), sort, page)
  // extrapolated from the matches so far: rows to walk until the page is full
  const met = glanced.length === 0 ? 0 : page.offset + glanced.length
  const enough = ((bounds.glancedMax + 2 * end) * end) / met
  if (enough < hopeful * bounds.walkedMax) {
    const walked = await walk(sql, listed, sort, page, bounds.walkedMax)
    if (walked.length === page.limit) return walked
  }
  const few = await fewest(sql, conditions, bounds.gatheredMax)
  if (few !== null) return sorted(sql, amongFew(sql, listed, few), sort, page)
  if (inOrder || !conditions.some(({ hits }) => hits)) {
    const walked = await walk(sql, listed, sort, page, bounds.walkedMax, inOrder)
    if (walked.length === page.limit) return walked
  }
  return amongMany(sql, listed, sort, page, bounds)
}

/** A page of a list without conditions. */
async function everyPage(sql: Sql, listed: Listed, sort: Sort, page: Page): Promise<string[]> {
  if (sort.column === 'last_seen_at') {
    const walked = await walk(sql, listed, sort, page, 0)
    if (walked.length === page.limit) return walked
  }
  return sorted(sql, here(sql, listed), sort, page)
}

/** One sorted page of the rows of `listed` that meet a condition. */
async function sorted(sql: Sql, condition: Fragment, sort: Sort, { limit, offset }: Page): Promise<string[]> {
  const seen = sort.column === 'last_seen_at' ? sql`join companies s on s.id = e.id` : sql``
  const rows = await sql<{ id: string }[]>`
    select e.id from listed e ${seen} where ${condition} ${ordered(sql, sort)} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** One sorted page of the rows of a select. */
async function firstOf(sql: Sql, some: Fragment, sort: Sort, page: Page): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.id from (${some}) e group by e.id, e.created_at
    ${ordered(sql, sort)} limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.id)
}

/**
 * A page far along the order of a list with many matches. Collects all matches before it sorts, because the planner
 * would otherwise walk the order again, which was tried already. A sample of matches bounds the sort column from one
 * side, so that rows surely behind the page are not collected.
 */
async function amongMany(
  sql: Sql,
  listed: Listed,
  sort: Sort,
  { limit, offset }: Page,
  { gatheredMax }: Bounds,
): Promise<string[]> {
  const all = everybody(sql, listed)
  const { column, direction } = sort
  if (column === 'last_seen_at') {
    const rows = await sql<{ id: string }[]>`
      with met as materialized (select e.id from listed e where ${all})
      select e.id from met e join companies s on s.id = e.id ${ordered(sql, sort)} limit ${limit} offset ${offset}`
    return rows.map(row => row.id)
  }
  const by = sql(`e.${column}`)
  const [far] = listed.conditions.some(({ apart }) => apart)
    ? []
    : await sql<{ by: string }[]>`
        select ${by}::text as by from (select e.* from listed e where ${all} limit ${gatheredMax}) e
        ${ordered(sql, sort)} limit 1 offset ${offset + limit - 1}`
  const type = column === 'name' ? sql`text` : sql`timestamptz`
  const within =
    far === undefined
      ? sql``
      : direction === 'asc'
        ? sql`and ${by} <= ${far.by}::text::${type}`
        : sql`and ${by} >= ${far.by}::text::${type}`
  const rows = await sql<{ id: string }[]>`
    with met as materialized (
      select e.id, ${by} from listed e where ${everybody(sql, listed, 'another index')} ${within})
    select e.id from met e ${ordered(sql, sort)} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** The number of entities on all pages of the list. */
export async function countOf(sql: Sql, listed: Listed): Promise<number> {
  const few = await fewest(sql, listed.conditions, usual.gatheredMax)
  const [row] = await sql<{ count: string }[]>`
    select count(*) from listed e where ${few === null ? everybody(sql, listed) : amongFew(sql, listed, few)}`
  return Number(row!.count)
}

/** The ids of all entities that meet a condition. */
interface FewEntities {
  readonly condition: Condition
  readonly ids: readonly string[]
}

/** The condition with the fewest hits, if they are at most `max`; else null. */
async function fewest(sql: Sql, conditions: readonly Condition[], max: number): Promise<FewEntities | null> {
  const known = conditions.filter(({ hits }) => hits !== undefined)
  const found = await Promise.all(
    known.map(async condition => {
      const rows = await sql<{ id: string }[]>`select * from (${condition.hits!} limit ${max + 1}) h (id)`
      return { condition, ids: rows.map(row => row.id) }
    }),
  )
  const least = found.sort((a, b) => a.ids.length - b.ids.length)[0]
  return least === undefined || least.ids.length > max ? null : least
}

/** Condition: listed entities among these ids. */
function amongFew(sql: Sql, listed: Listed, { condition, ids }: FewEntities): Fragment {
  const tests = listed.conditions.filter(one => one !== condition).map(one => one.test)
  return sql`${here(sql, listed)} and e.id = any(${ids as string[]}::text[]) and ${allOf(sql, tests)}`
}

/** Condition: all listed entities. `beside`: see `here`. */
function everybody(sql: Sql, listed: Listed, beside?: 'another index'): Fragment {
  const tests = listed.conditions.map(one => atOnce(sql, one))
  return sql`${here(sql, listed, beside)} and ${allOf(sql, tests)}`
}

/**
 * Condition: environment and kind. The kind is a literal, because partial indexes match literals only. With
 * `beside` it is written as in the index of names: the planner never combines two indexes that contain the same
 * condition.
 */
function here(
  sql: Sql,
  { kind, environmentId }: Omit<Listed, 'conditions'>,
  beside?: 'another index',
): Fragment {
  const [is, isAny] =
    kind === 'company'
      ? [sql`= 'company'`, sql`= any('{company}'::text[])`]
      : [sql`= 'user'`, sql`= any('{user}'::text[])`]
  return sql`e.environment_id = ${environmentId} and e.kind ${beside ? isAny : is}`
}

function atOnce(sql: Sql, { test, hits, misses, apart }: Condition): Fragment {
  if (apart && hits !== undefined) return sql`e.id in (${hits})`
  if (apart && misses !== undefined)
    return sql`not exists (select 1 from (${misses}) m (id) where m.id = e.id)`
  return test
}

/**
 * A page from the first rows of the list's order; fewer ids than a page if these rows do not fill it. `inOrder` walks
 * only the rows that meet this condition and thus gets further along the order.
 */
async function walk(
  sql: Sql,
  listed: Listed,
  sort: Sort,
  { limit, offset }: Page,
  most: number,
  inOrder?: Condition['inOrder'],
): Promise<string[]> {
  const max = most + 2 * (offset + limit)
  const tests = listed.conditions.map(({ test }) => test)
  // rows never seen are last in both directions; an ascending walk leaves them out
  const ascending = sort.direction === 'asc'
  const order =
    sort.column === 'last_seen_at' && ascending
      ? sql`order by s.last_seen_at asc nulls first, s.id asc`
      : ordered(sql, sort)
  const seen = sql`
    select s.id, s.last_seen_at from companies s
    where s.environment_id = ${listed.environmentId} ${ascending ? sql`and s.last_seen_at is not null` : sql``}
    ${order} limit ${max}`
  const along = sql`select * from listed e where ${here(sql, listed)} ${order} limit ${max}`
  const walked = inOrder
    ? sql`(
        select e.id from (${inOrder(sort.direction, max)}) e group by e.id, e.created_at ${order} limit ${max}
      ) h join listed e on e.id = h.id`
    : sort.column === 'last_seen_at'
      ? sql`(${seen}) s join listed e on e.id = s.id`
      : sql`(${along}) e`
  const rows = await sql<{ id: string }[]>`
    select e.id from ${walked} where ${allOf(sql, tests)} ${order} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** All fragments must hold; an empty list is true. */
export function allOf(sql: Sql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql`true`)
}

/** The condition or its negation. */
export function whether(sql: Sql, condition: Condition, wanted: boolean): Condition {
  if (wanted) return condition
  const { test, hits, apart } = condition
  return { test: sql`not ${test}`, ...(hits && { misses: hits }), ...(apart && { apart }) }
}

/**
 * Whether the name, a key value or a string trait of an entity contains a text, ignoring case.
 *
 * source  CU-60. Traits of type url count as strings: decision (FE-67 compares them as such).
 */
export function mentions(
  sql: Sql,
  { kind, environmentId }: Omit<Listed, 'conditions'>,
  q: string,
): Condition {
  const pattern = sql`lower(${anywhere(q)})`
  const listed = here(sql, { kind, environmentId })
  // an index lookup costs the same for a common piece as for a rare one, so common pieces are dropped
  const pieces = q.match(/[a-z]{3,}|[0-9]{3,}/gi)?.length ?? 0
  const hits =
    pieces < 2
      ? sql`select e.id from listed e where ${listed} and e.text like ${pattern}`
      : sql`
          select e.id from listed e where ${listed} and e.text || '' like ${pattern}
            and e.text like (${rarePieces(sql, listed, q)})`
  return { test: sql`e.text like ${pattern}`, hits }
}

/** Select of a weaker pattern than `q`: its pieces, without those found in half of the newest texts. */
function rarePieces(sql: Sql, listed: Fragment, q: string): Fragment {
  return sql`
    with known as materialized (
      select e.text from listed e where ${listed} order by e.created_at desc, e.id desc limit ${sampled})
    select coalesce('%' || string_agg(p.piece[1], '%' order by p.at) || '%', lower(${anywhere(q)}))
    from regexp_matches(lower(${q}), '[a-z]{3,}|[0-9]{3,}', 'g') with ordinality p (piece, at)
    where (select count(*) from known where strpos(known.text, p.piece[1]) > 0) <= ${sampled / 2}`
}
const sampled = 200

/** Companies with a subscription (its row is named `s`) that meets a condition. */
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

/** The default order (AL-51). */
export const newestFirst: Sort = { column: 'created_at', direction: 'desc' }

/**
 * The requested order.
 *
 * returns  newest first by default; without a direction names ascend and times descend.
 * errors   query_invalid (400) for any other column.
 * source   CU-60; the default directions: decision.
 */
export function sortOf(column: string | undefined, direction: SortDirection | undefined): Sort {
  const known = sortColumns.find(one => one === (column ?? 'created_at'))
  if (known === undefined)
    throw new ServiceError('query_invalid', `sort_order_column: expected one of ${sortColumns.join(', ')}`)
  return { column: known, direction: direction ?? (known === 'name' ? 'asc' : 'desc') }
}

/**
 * `order by`: nulls last, ties by id in the same direction (AL-51 for the default). A column without nulls gets no
 * nulls clause, because the clause must match the index. Rows are named `e`, those of companies `s`.
 */
function ordered(sql: Sql, { column, direction }: Sort): Fragment {
  if (column === 'last_seen_at')
    return direction === 'asc'
      ? sql`order by s.last_seen_at asc nulls last, s.id asc`
      : sql`order by s.last_seen_at desc nulls last, s.id desc`
  const by = sql(`e.${column}`)
  return direction === 'asc' ? sql`order by ${by} asc, e.id asc` : sql`order by ${by} desc, e.id desc`
}

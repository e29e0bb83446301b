// Which companies or users a page of a list shows, and how many there are on all pages.
//
// A filter may be met by almost everybody or by three in a million, and which of the two decides what is quick:
// walking along the order of the list until the page is full, or gathering everybody who meets the filter and sorting
// them. The planner would have to guess; so it is found out, within bounds, before either is begun.
import type { PendingQuery, Row, Sql } from 'postgres'
import type { SortDirection } from '../../../schemas/enums.js'
import type { DirectoryKind } from '../../engine/directory/directory.js'
import { ServiceError } from '../../errors.js'
import { requireNear } from '../kit/query.js'
import { anywhere } from '../kit/sql.js'

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
  /** Select of id and created_at: the first `most` of all who meet the test, newest or oldest, some perhaps twice. */
  readonly inOrder?: (direction: SortDirection, most: number) => Fragment
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

/** Walking on is begun when so much of what may be walked ought to be enough. */
const hopeful = 0.6

/** Ids of one page. 400 when it lies beyond what may be looked for (`requireNear`). */
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
  // as many again as were met so far, and the page is full after so many
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

/** A page of the rows of `listed` that a condition leaves. */
async function sorted(sql: Sql, condition: Fragment, sort: Sort, { limit, offset }: Page): Promise<string[]> {
  const seen = sort.column === 'last_seen_at' ? sql`join companies s on s.id = e.id` : sql``
  const rows = await sql<{ id: string }[]>`
    select e.id from listed e ${seen} where ${condition} ${ordered(sql, sort)} limit ${limit} offset ${offset}`
  return rows.map(row => row.id)
}

/** A page of those a select in this order brings. */
async function firstOf(sql: Sql, some: Fragment, sort: Sort, page: Page): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.id from (${some}) e group by e.id, e.created_at
    ${ordered(sql, sort)} limit ${page.limit} offset ${page.offset}`
  return rows.map(row => row.id)
}

/**
 * A page of many that lie far along the order: all of them are gathered, for the order has been tried and the planner
 * would go on along it. The first few that are found say how far at most the page lies, and nobody behind is gathered.
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

/** How many the list has on all its pages. */
export async function countOf(sql: Sql, listed: Listed): Promise<number> {
  const few = await fewest(sql, listed.conditions, usual.gatheredMax)
  const [row] = await sql<{ count: string }[]>`
    select count(*) from listed e where ${few === null ? everybody(sql, listed) : amongFew(sql, listed, few)}`
  return Number(row!.count)
}

/** Everybody who meets a condition. */
interface Few {
  readonly condition: Condition
  readonly ids: readonly string[]
}

/** The condition met by the fewest, of those met by at most `max`; null when there is none. */
async function fewest(sql: Sql, conditions: readonly Condition[], max: number): Promise<Few | null> {
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

/** Everybody who is listed and among these few. */
function amongFew(sql: Sql, listed: Listed, { condition, ids }: Few): Fragment {
  const tests = listed.conditions.filter(one => one !== condition).map(one => one.test)
  return sql`${here(sql, listed)} and e.id = any(${ids as string[]}::text[]) and ${allOf(sql, tests)}`
}

/** Everybody who is listed; `beside`: this is not all that narrows them, see `here`. */
function everybody(sql: Sql, listed: Listed, beside?: 'another index'): Fragment {
  const tests = listed.conditions.map(one => atOnce(sql, one))
  return sql`${here(sql, listed, beside)} and ${allOf(sql, tests)}`
}

/**
 * The kind stands in the statement itself: indexes of one kind are known to do. `beside`: said as the index of names
 * says it, for the planner never combines two indexes with what says the same of both.
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
 * A page from the first so many of the order; less than a page when it is not to be filled from them. `inOrder`: only
 * those are looked at who meet this condition, and so further along the order.
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
  // who was never seen comes last in both directions: ascending, they are beyond what is walked
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
  const listed = here(sql, { kind, environmentId })
  // the index looks a piece up that everybody has as thoroughly as one that hardly anybody has
  const pieces = q.match(/[a-z]{3,}|[0-9]{3,}/gi)?.length ?? 0
  const hits =
    pieces < 2
      ? sql`select e.id from listed e where ${listed} and e.text like ${pattern}`
      : sql`
          select e.id from listed e where ${listed} and e.text || '' like ${pattern}
            and e.text like (${rarePieces(sql, listed, q)})`
  return { test: sql`e.text like ${pattern}`, hits }
}

/** Select of a pattern that says less than `q` does: its pieces, without those that every other of some texts has. */
function rarePieces(sql: Sql, listed: Fragment, q: string): Fragment {
  return sql`
    with known as materialized (
      select e.text from listed e where ${listed} order by e.created_at desc, e.id desc limit ${sampled})
    select coalesce('%' || string_agg(p.piece[1], '%' order by p.at) || '%', lower(${anywhere(q)}))
    from regexp_matches(lower(${q}), '[a-z]{3,}|[0-9]{3,}', 'g') with ordinality p (piece, at)
    where (select count(*) from known where strpos(known.text, p.piece[1]) > 0) <= ${sampled / 2}`
}
const sampled = 200

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

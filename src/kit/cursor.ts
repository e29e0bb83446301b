// Cursors of lists, beside the offset: a page that begins after the rows the caller has, though others write meanwhile.
//
// Every list is in a total order, so a cursor names the last rows of the page before and where they were. The next page
// looks there first. Where rows came or went before them, it looks around until it finds the last of them that is still
// there, and goes on after it. So a row is neither repeated nor skipped.
import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import type { Answer } from './call.js'

/** Rows that a cursor names: as many may be deleted at once before it is lost. */
const anchorsMax = 20
/** Rows read at once while a place is looked for. */
const windowRows = 250
/** Windows looked through for one page, before and after the old place together. */
const windowsMax = 400
/** Pages read for one answer, where others write between looking and reading. */
const triesMax = 8
const cursorLengthMax = 2_048

/** The page that a list is asked for. */
interface PageQuery {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string
}

/** The place of a cursor. */
interface Place {
  /** The offset after the last row, as it was. */
  readonly at: number
  /** Prints of the last rows, the last first. */
  readonly anchors: readonly string[]
  /** Prints of rows that were given and may follow again, where the page began after an earlier row than the last. */
  readonly ahead: readonly string[]
}

/** One list and its rows at an offset. */
export type Rows = (offset: number, limit: number) => Promise<readonly unknown[]>

const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 12)

/** Members that identify a row without an id: in every list, its members of these names tell it from all other rows. */
export const identities = [
  'id',
  'event_id',
  'flag_key',
  'reason',
  'minute',
  'model',
  'day',
  'currency',
  'period_id',
  'period_start',
  'line',
  'subscription_external_id',
  'key',
  'billing_id',
  'external_id',
  'feature_id',
  'company_id',
  'user_id',
  'event_subtype',
  'period',
  'value',
] as const

/** The print of a row: of its id; else of the members that identify it, or their ids. */
function printOf(row: unknown): string {
  if (typeof row !== 'object' || row === null) return shortHash(JSON.stringify(row) ?? '')
  const members = row as Readonly<Record<string, unknown>>
  if (typeof members.id === 'string') return shortHash(members.id)
  // an explanation: all else of it may change at any time
  if (typeof members.flag_id === 'string') return shortHash(members.flag_id)
  const parts: unknown[] = identities.map(name => members[name] ?? null)
  for (const [name, value] of Object.entries(members))
    if (typeof value === 'object' && value !== null && 'id' in value) parts.push([name, value.id])
  return shortHash(JSON.stringify(parts))
}

function encode(list: string, { at, anchors, ahead }: Place): string {
  return Buffer.from(JSON.stringify([1, list, at, anchors, ahead])).toString('base64url')
}

/** errors  query_invalid (400) for a text that is no cursor, or one of another list. */
function decode(cursor: string, list: string): Place {
  const [version, of, at, anchors, ahead] = partsOf(cursor)
  const isPlace = Number.isSafeInteger(at) && (at as number) >= 1 && isPrints(anchors) && isPrints(ahead)
  if (version !== 1 || !isPlace || anchors.length === 0)
    throw new ServiceError('query_invalid', 'cursor: take it as X-Next-Cursor of the page before gave it')
  if (of !== list)
    throw new ServiceError(
      'query_invalid',
      'cursor: it is of another list, or of other filters; begin without it',
    )
  return { at: at as number, anchors, ahead }
}

const isPrints = (given: unknown): given is readonly string[] =>
  Array.isArray(given) && given.length <= anchorsMax && given.every(one => typeof one === 'string')

function partsOf(cursor: string): readonly unknown[] {
  if (cursor.length > cursorLengthMax) return []
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** The print of a list: its path and filters. A cursor is good for that list alone. */
function listPrint(path: string, query: object): string {
  const { limit: _, offset: __, cursor: ___, ...filters } = query as Readonly<Record<string, unknown>>
  return shortHash(
    `${path} ${JSON.stringify(filters, (____, one: unknown) => (typeof one === 'bigint' ? String(one) : one))}`,
  )
}

/**
 * One page of a list.
 *
 * rows     the list.
 * returns  its rows, and the cursor of the next page; null: there is none.
 * errors   query_invalid (400) for a cursor that is none, or the place of which is not found any more.
 * source   decision 38
 */
export async function pageOf(
  list: string,
  { limit, offset, cursor }: PageQuery,
  rows: Rows,
): Promise<{ readonly data: readonly unknown[]; readonly next: string | null }> {
  if (cursor === undefined) {
    const data = await rows(offset, limit)
    return { data, next: data.length < limit ? null : nextOf(list, data, offset, nowhere) }
  }
  if (offset !== 0) throw new ServiceError('query_invalid', 'offset: give a cursor or an offset, not both')
  const place = decode(cursor, list)
  const { anchors } = place
  let from: number | null = place.at
  for (let i = 0; i < triesMax && from !== null; i++) {
    // the row before the page is read with it: only then it is certain where the page begins
    const [before, ...data] = await rows(from - 1, limit + 1)
    const print = before === undefined ? '' : printOf(before)
    const met = anchors.indexOf(print)
    if (met === 0 || (i > 0 && met > 0)) {
      const given = new Set([...anchors, ...place.ahead])
      const next = data.length === 0 ? null : nextOf(list, data, from, passed(place, met))
      return { data: data.filter(row => !given.has(printOf(row))), next }
    }
    from = await startOf(place, rows)
  }
  throw new ServiceError('query_invalid', 'cursor: the rows it stands after are gone; begin without it')
}

/** The place of which the row `met` is the last: what was given after that row may follow again. */
function passed({ at, anchors, ahead }: Place, met: number): Place {
  return { at, anchors: anchors.slice(met), ahead: [...anchors.slice(0, met), ...ahead] }
}

const nowhere: Place = { at: 0, anchors: [], ahead: [] }

function nextOf(list: string, data: readonly unknown[], from: number, before: Place): string {
  const all = data.map(printOf)
  const given = new Set(all)
  const prints = all.slice(-anchorsMax).reverse()
  return encode(list, {
    at: from + data.length,
    anchors: [...prints, ...before.anchors].slice(0, anchorsMax),
    ahead: before.ahead.filter(one => !given.has(one)).slice(0, anchorsMax),
  })
}

/** The offset after the last of a place's rows that is still there; null: none is. */
async function startOf({ at, anchors }: Place, rows: Rows): Promise<number | null> {
  const last = anchors[0]!
  /** Offsets after anchors that were met, by anchor. */
  const met = new Map<string, number>()
  const look = async (from: number, count: number): Promise<number> => {
    const window = await rows(from, count)
    for (const [index, row] of window.entries()) {
      const print = printOf(row)
      if (anchors.includes(print)) met.set(print, from + index + 1)
    }
    return window.length
  }
  let near = Math.max(0, at - anchorsMax)
  const found = await look(near, at - near + 1)
  if (met.has(last)) return met.get(last)!
  let isEnded = found === 0 && near > 0
  // the list ends before the place: nothing is looked for beyond its end
  if (found === 0 && near > 0) near = await endBefore(near, rows)
  let before = near
  let after = near
  for (let i = 0; i < windowsMax && !met.has(last); i++) {
    if (before === 0 && isEnded) break
    if (!isEnded) {
      const count = await look(after, windowRows)
      after += count
      isEnded = count < windowRows
    }
    if (before > 0) {
      const from = Math.max(0, before - windowRows)
      await look(from, before - from)
      before = from
    }
    // the last row is gone where an earlier one is there and everything around was seen
    if (met.size > 0 && i >= 1) break
  }
  for (const anchor of anchors) {
    const found = met.get(anchor)
    if (found !== undefined) return found
  }
  return null
}

/** The length of a list that has no row at this offset, and so is not longer. */
async function endBefore(offset: number, rows: Rows): Promise<number> {
  let [from, to] = [0, offset]
  while (from < to) {
    const middle = from + Math.floor((to - from) / 2)
    if ((await rows(middle, 1)).length > 0) from = middle + 1
    else to = middle
  }
  return from
}

/** Whether a route answers a list in pages. */
export function isPaged(path: string, query: unknown): query is PageQuery {
  const isPage = typeof query === 'object' && query !== null && 'limit' in query && 'offset' in query
  return isPage && !path.endsWith('/count')
}

/**
 * Answer a list by its handler, in pages.
 *
 * handle  the handler of the list, for a call with another page.
 * path    of the request, with its parameters: which list it is.
 * charge  takes tokens of the caller's budget: a token for each read after the first. A cursor may be made so that its place is
 *         looked for in all of the list.
 * errors  rate_limited (429) when that budget is used up before the place is found; the errors of `pageOf`.
 */
export async function pagedAnswer(
  path: string,
  query: PageQuery,
  handle: (query: PageQuery) => Promise<Answer>,
  charge: (tokens: number) => void = () => {},
): Promise<Answer> {
  let latest: Answer | null = null
  let reads = 0
  const rows: Rows = async (offset, limit) => {
    if (reads++ > 0) charge(1)
    const answer = await handle({ ...query, offset, limit })
    latest = answer
    return Array.isArray(answer.data) ? (answer.data as readonly unknown[]) : []
  }
  const { data, next } = await pageOf(listPrint(path, query), query, rows)
  const answer = latest as Answer | null
  if (answer === null || !Array.isArray(answer.data)) return answer ?? {}
  return { ...answer, data, ...(next !== null && { headers: { ...answer.headers, 'X-Next-Cursor': next } }) }
}

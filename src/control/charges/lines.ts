// Charge lines of many companies, in a fixed order: company, period, line. Pages and exports go along it.
import type { CompanyChargeLine, CompanyCharges } from '../../../schemas/charges.js'
import { monthStart } from '../../core/values/period.js'
import { inOrder } from '../../core/values/text-order.js'
import { ServiceError } from '../../errors.js'
import { among } from '../../kit/sql.js'
import { type ChargesPlace, chargesOf, debtsOf, type WantedPeriod } from './charges.js'
import { type ClosedRow, closedView, never, storedLine } from './closed.js'
import { meteredOfFallback } from './facts.js'
import { usingFallback } from './fallback.js'

/** Companies rated for one step, and written lines read for one. */
const companiesPerStep = 25
const linesPerStep = 1_000
/** Steps for one page. The page is short if few lines pass the filter. */
const stepsPerPage = 20
/** Companies found at a time. */
const idsAtOnce = 1_000
/** The number of a line behind all lines of its company. */
const lastLine = 2 ** 31 - 1

/** The lines that are asked for. */
export interface LineFilter {
  /** Null: every closed period that ended in the range. */
  readonly period: WantedPeriod | null
  readonly companyIds: readonly string[] | null
  /** Ends of periods, `[fromMs, toMs)`; for closed periods. */
  readonly fromMs: number
  readonly toMs: number
  readonly kinds: readonly string[] | null
  readonly currency: string | null
  readonly featureId: string | null
  readonly planId: string | null
}

/** A place in the order: after this line. */
interface LinePlace {
  readonly companyId: string
  readonly startMs: number
  readonly line: number
}

const begin: LinePlace = { companyId: '', startMs: 0, line: lastLine }

/** A line with its place. */
interface PlacedLine {
  readonly line: CompanyChargeLine
  readonly place: LinePlace
}

/** The cursor of a page that ends at a place. */
export function cursorOf({ companyId, startMs, line }: LinePlace): string {
  return Buffer.from(JSON.stringify([companyId, startMs, line])).toString('base64url')
}

/** errors  query_invalid (400) for a text that is no cursor. */
export function placeOf(cursor: string | undefined): LinePlace {
  if (cursor === undefined) return begin
  try {
    const [companyId, startMs, line, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isPlace =
      typeof companyId === 'string' &&
      Number.isSafeInteger(startMs) &&
      Number.isSafeInteger(line) &&
      line >= 0 &&
      line <= lastLine
    if (isPlace && more.length === 0) return { companyId, startMs, line }
  } catch {
    // not a cursor
  }
  throw new ServiceError('query_invalid', 'cursor: take it as X-Next-Cursor of the page before gave it')
}

/** A few companies or written lines were looked at. */
interface Step {
  readonly lines: readonly PlacedLine[]
  /** The next step begins after this place. */
  readonly reached: LinePlace
}

/**
 * All lines of a filter, in order.
 *
 * errors  store_away (503) while a store is down.
 */
export async function* linesOf(place: ChargesPlace, filter: LineFilter): AsyncGenerator<CompanyChargeLine> {
  for await (const { lines } of stepsAfter(place, filter, begin)) for (const { line } of lines) yield line
}

/**
 * A page of the lines after a place, in order. Its work is bounded: it may have fewer lines than `limit`, or none, and a
 * page may follow nevertheless.
 *
 * returns  the lines, and the place that the next page begins after; null: there is no more.
 * errors   store_away (503) while a store is down.
 */
export async function pageAfter(
  place: ChargesPlace,
  filter: LineFilter,
  after: LinePlace,
  limit: number,
): Promise<{ readonly lines: readonly CompanyChargeLine[]; readonly next: LinePlace | null }> {
  const lines: CompanyChargeLine[] = []
  let steps = 0
  for await (const step of stepsAfter(place, filter, after)) {
    for (const one of step.lines) if (lines.push(one.line) === limit) return { lines, next: one.place }
    if (++steps === stepsPerPage) return { lines, next: step.reached }
  }
  return { lines, next: null }
}

async function* stepsAfter(place: ChargesPlace, filter: LineFilter, after: LinePlace): AsyncGenerator<Step> {
  const steps = filter.period === null ? writtenSteps(place, filter, after) : ratedSteps(place, filter, after)
  for await (const { lines, reached } of steps)
    yield { lines: lines.filter(({ line }) => passes(line, filter)), reached }
}

function passes(line: CompanyChargeLine, { kinds, currency, featureId, planId }: LineFilter): boolean {
  return (
    (kinds === null || kinds.includes(line.kind)) &&
    (currency === null || line.currency === currency) &&
    (featureId === null || line.feature_id === featureId) &&
    (planId === null || line.plan_id === planId)
  )
}

/** Lines of closed periods. */
async function* writtenSteps(
  { services, environment }: ChargesPlace,
  { companyIds, fromMs, toMs, kinds, currency }: LineFilter,
  after: LinePlace,
): AsyncGenerator<Step> {
  const { sql } = services
  for (let last = after; ; ) {
    const rows = await sql<(ClosedRow & { readonly line: number; readonly body: string })[]>`
      select p.*, l.line, l.body from charge_lines l join billing_periods p on p.id = l.period_id
      where l.environment_id = ${environment.id}
        and (l.company_id, l.period_start_ms, l.line) > (${last.companyId}, ${last.startMs}, ${last.line})
        and p.end_ms >= ${fromMs} and p.end_ms < ${toMs}
        ${companyIds === null ? sql`` : sql`and l.company_id in ${among(sql, companyIds)}`}
        ${kinds === null ? sql`` : sql`and l.kind in ${among(sql, kinds)}`}
        ${currency === null ? sql`` : sql`and l.currency = ${currency}`}
      order by l.company_id, l.period_start_ms, l.line limit ${linesPerStep}`
    const lines = rows.map((row): PlacedLine => {
      const charges = { company_id: row.company_id, period: closedView(row) }
      const here = { companyId: row.company_id, startMs: Number(row.start_ms), line: row.line }
      return { line: { ...ofCompany(charges), ...storedLine(row.body) }, place: here }
    })
    last = lines.at(-1)?.place ?? last
    if (lines.length > 0) yield { lines, reached: last }
    if (rows.length < linesPerStep) return
  }
}

/** Lines of one period of each company: written where it is closed, else rated now. */
async function* ratedSteps(place: ChargesPlace, filter: LineFilter, after: LinePlace): AsyncGenerator<Step> {
  for await (const ids of inLots(companiesFrom(place, filter, after), companiesPerStep)) {
    const debts = filter.period === 'current' ? await debtsOf(place, ids) : new Map()
    const charged = await chargesOf(place, ids, filter.period!, debts)
    const lines = charged.flatMap(charges => {
      const { company_id: companyId, period } = charges
      const startMs = Date.parse(period.start_time)
      const left = charges.lines.filter(({ line }) => companyId !== after.companyId || line > after.line)
      return left.map(line => ({
        line: { ...ofCompany(charges), ...line },
        place: { companyId, startMs, line: line.line },
      }))
    })
    yield { lines, reached: { companyId: ids.at(-1)!, startMs: 0, line: lastLine } }
  }
}

async function* inLots<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let lot: T[] = []
  for await (const item of items) {
    if (lot.push(item) < size) continue
    yield lot
    lot = []
  }
  if (lot.length > 0) yield lot
}

/**
 * Companies by id that hold or bought something that costs money, or have used what the fallback plan prices; named
 * ones in any case. The company of the place comes first while lines of it may be left.
 */
async function* companiesFrom(
  { services, environment, nowMs }: ChargesPlace,
  { companyIds }: LineFilter,
  { companyId: after, line }: LinePlace,
): AsyncGenerator<string> {
  const { sql } = services
  const known = async (ids: readonly string[]): Promise<string[]> => {
    const rows = await sql<{ id: string }[]>`
      select company_id as id from billing_due
      where environment_id = ${environment.id} and due_ms < ${never} and company_id in ${among(sql, ids)}
      union select id from companies where environment_id = ${environment.id} and id in ${among(sql, ids)}`
    return rows.map(({ id }) => id).sort(inOrder)
  }
  const isLeft = line < lastLine
  if (companyIds !== null) {
    const ids = await known(companyIds)
    yield* ids.filter(id => id > after || (isLeft && id === after))
    return
  }
  if (isLeft) yield* await known([after])
  const metered = await meteredOfFallback(sql, environment.id)
  const sinceMs = monthStart(monthStart(nowMs) - 1)
  const billed = idsAfter(after, async last => {
    const rows = await sql<{ id: string }[]>`
      select company_id collate "C" as id from billing_due
      where environment_id = ${environment.id} and due_ms < ${never} and company_id collate "C" > ${last}
      order by 1 limit ${idsAtOnce}`
    return rows.map(({ id }) => id)
  })
  const users = idsAfter(after, last =>
    usingFallback(services, environment.id, metered, sinceMs, last, idsAtOnce),
  )
  yield* merged(billed, users)
}

/** Ids after one, ascending, in pages of `idsAtOnce`. */
async function* idsAfter(
  after: string,
  pageOf: (last: string) => Promise<readonly string[]>,
): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const ids = await pageOf(last)
    yield* ids
    if (ids.length < idsAtOnce) return
    last = ids.at(-1)!
  }
}

/** The ids of two ascending lists, ascending, each once. */
async function* merged(left: AsyncGenerator<string>, right: AsyncGenerator<string>): AsyncGenerator<string> {
  const next = async (from: AsyncGenerator<string>): Promise<string | null> => {
    const { done, value } = await from.next()
    return done === true ? null : value
  }
  let [a, b] = await Promise.all([next(left), next(right)])
  while (a !== null || b !== null) {
    const id = b === null || (a !== null && inOrder(a, b) <= 0) ? a! : b
    yield id
    if (a === id) a = await next(left)
    if (b === id) b = await next(right)
  }
}

function ofCompany({ company_id, period }: Pick<CompanyCharges, 'company_id' | 'period'>) {
  return {
    company_id,
    period_id: period.id,
    period_start: period.start_time,
    period_end: period.end_time,
    period_status: period.status,
  }
}

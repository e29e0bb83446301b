// Charge lines of many companies, in a fixed order: company, period, line. Pages and exports go along it.
import type { CompanyChargeLine, CompanyCharges } from '../../../schemas/charges.js'
import { monthStart } from '../../core/values/period.js'
import { inOrder } from '../../core/values/text-order.js'
import { ServiceError } from '../../errors.js'
import { among } from '../../kit/sql.js'
import { type ChargesPlace, chargesOf, debtsOf, type WantedPeriod } from './charges.js'
import { type ClosedRow, closedView, never, storedLine } from './closed.js'
import { type MeteredNames, meteredOfFallback } from './facts.js'
import { usingFallback } from './fallback.js'

/** Companies rated for one step, and written lines read at once. */
const companiesAtOnce = 25
const linesAtOnce = 1_000

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

const begin: LinePlace = { companyId: '', startMs: 0, line: 0 }

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
      typeof companyId === 'string' && Number.isSafeInteger(startMs) && Number.isSafeInteger(line)
    if (isPlace && more.length === 0) return { companyId, startMs, line }
  } catch {
    // not a cursor
  }
  throw new ServiceError('query_invalid', 'cursor: take it as X-Next-Cursor of the page before gave it')
}

/**
 * The lines after a place, in order, a few at a time.
 *
 * errors  store_away (503) while a store is down.
 */
export async function* linesAfter(
  place: ChargesPlace,
  filter: LineFilter,
  after: LinePlace,
): AsyncGenerator<PlacedLine> {
  const all = filter.period === null ? writtenLines(place, filter, after) : ratedLines(place, filter, after)
  for await (const one of all) if (passes(one.line, filter)) yield one
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
async function* writtenLines(
  { services, environment }: ChargesPlace,
  { companyIds, fromMs, toMs, kinds, currency }: LineFilter,
  after: LinePlace,
): AsyncGenerator<PlacedLine> {
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
      order by l.company_id, l.period_start_ms, l.line limit ${linesAtOnce}`
    for (const row of rows) {
      last = { companyId: row.company_id, startMs: Number(row.start_ms), line: row.line }
      const charges = { company_id: row.company_id, period: closedView(row) }
      yield { line: { ...ofCompany(charges), ...storedLine(row.body) }, place: last }
    }
    if (rows.length < linesAtOnce) return
  }
}

/** Lines of one period of each company: written where it is closed, else rated now. */
async function* ratedLines(
  place: ChargesPlace,
  filter: LineFilter,
  after: LinePlace,
): AsyncGenerator<PlacedLine> {
  // the company of the place first: some of its lines may be left
  const metered = await meteredOfFallback(place.services.sql, place.environment.id)
  for (let last = { ...after, isWithin: after.companyId !== '' }; ; ) {
    const ids = await companiesAfter(place, filter, last, metered)
    if (ids.length === 0) return
    const debts = filter.period === 'current' ? await debtsOf(place, ids) : new Map()
    for (const charges of await chargesOf(place, ids, filter.period!, debts)) {
      const startMs = Date.parse(charges.period.start_time)
      for (const line of charges.lines) {
        const isPassed = charges.company_id === after.companyId && line.line <= after.line
        const here = { companyId: charges.company_id, startMs, line: line.line }
        if (!isPassed) yield { line: { ...ofCompany(charges), ...line }, place: here }
      }
    }
    last = { companyId: ids.at(-1)!, startMs: 0, line: 0, isWithin: false }
  }
}

/** Companies by id that hold or bought something that costs money, or have used what the fallback plan prices. */
async function companiesAfter(
  { services, environment, nowMs }: ChargesPlace,
  { companyIds }: LineFilter,
  { companyId, isWithin }: LinePlace & { readonly isWithin: boolean },
  metered: MeteredNames,
): Promise<string[]> {
  const { sql } = services
  const rows = await sql<{ id: string }[]>`
    select company_id collate "C" as id from billing_due
    where environment_id = ${environment.id} and due_ms < ${never}
      and ${isWithin ? sql`company_id collate "C" >= ${companyId}` : sql`company_id collate "C" > ${companyId}`}
      ${companyIds === null ? sql`` : sql`and company_id in ${among(sql, companyIds)}`}
    order by 1 limit ${companiesAtOnce}`
  const known = rows.map(({ id }) => id)
  if (companyIds !== null) {
    const named = await sql<{ id: string }[]>`
      select id from companies where environment_id = ${environment.id} and id in ${among(sql, companyIds)}`
    const more = named.flatMap(({ id }) => (id > companyId || (isWithin && id === companyId) ? [id] : []))
    return [...new Set([...known, ...more])].sort(inOrder).slice(0, companiesAtOnce)
  }
  const sinceMs = monthStart(monthStart(nowMs) - 1)
  const users = await usingFallback(services, environment.id, metered, sinceMs, companyId, companiesAtOnce)
  return [...new Set([...known, ...users])].sort(inOrder).slice(0, companiesAtOnce)
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

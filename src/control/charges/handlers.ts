// Debts of companies: one company's charges, and the lines of all for finance.
import { chargeKinds } from '../../../schemas/charges.js'
import { currencyCodes } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { entityUnknown, isKnown } from '../../kit/entities.js'
import { cursor, datetime, integer, list, type QueryOf, query, string, withDefault } from '../../kit/query.js'
import { parseTimeOrDate } from '../../kit/time.js'
import { awaitStores, chargesOf, debtsOf, type WantedPeriod } from './charges.js'
import { cursorOf, type LineFilter, pageAfter, placeOf } from './lines.js'
import { totalViews } from './view.js'

/** The last instant that Postgres compares. */
const endOfTimeMs = Date.UTC(9999, 0, 1)
/** Lines of one page. */
const pageMax = 1_000

const companyShape = { period: withDefault(string, 'current'), currency: string } as const
export const companyChargesQuery = query(companyShape)

/**
 * GET /companies/{company_id}/charges: what a company owes in one billing period.
 *
 * returns  a closed period as it was written; an open one as of now.
 * errors   400 for a period that is none of current, previous and an instant; 404 for an unknown company, and for one
 *          without such a period; 503 while a store is down.
 * source   RA-1, RA-10, RA-20.
 */
export const getCompanyCharges: Handler<undefined, QueryOf<typeof companyShape>> = async call => {
  const { services, environment, query: asked, nowMs } = call
  const companyId = call.params.company_id!
  if (!isKnown(call, 'company', companyId)) throw entityUnknown('company')
  const wanted = periodIn(asked.period)
  const currency = currencyIn(asked.currency)
  // what time has changed is written down first
  await services.shards.ask('c', environment.id, companyId, { type: 'settle' }, nowMs)
  await awaitStores(call)
  const debts = await debtsOf(call, [companyId])
  const [charges] = await chargesOf(call, [companyId], wanted, debts)
  if (charges === undefined)
    throw new ServiceError('not_found', `period: the company has no billing period ${asked.period}`)
  if (currency === null) return { data: charges }
  const lines = charges.lines.filter(one => one.currency === currency)
  const accruing = charges.accruing.filter(one => one.currency === currency)
  return { data: { ...charges, lines, accruing, totals: totalViews(lines) } }
}

function periodIn(given: string): WantedPeriod {
  if (given === 'current' || given === 'previous') return given
  const atMs = parseTimeOrDate(given.replace(/ (\d{2}:?\d{2})$/, '+$1'))
  if (atMs === null)
    throw new ServiceError('query_invalid', 'period: expected current, previous, or the start of a period')
  return atMs
}

function currencyIn(given: string | undefined): string | null {
  if (given === undefined) return null
  const currency = given.toLowerCase()
  if (!currencyCodes.some(one => one === currency))
    throw new ServiceError('query_invalid', 'currency: expected a code of three letters, as usd')
  return currency
}

export const linesShape = {
  period: string,
  start_time: datetime,
  end_time: datetime,
  company_ids: list,
  kinds: list,
  currency: string,
  feature_id: string,
  plan_id: string,
} as const

const listShape = { ...linesShape, limit: withDefault(integer(1), 100), cursor } as const
export const chargesQuery = query(listShape)

/** The filter in a query of lines. errors  query_invalid (400) */
export function filterIn(asked: QueryOf<typeof linesShape>): LineFilter {
  const kinds = asked.kinds ?? null
  const unknown = kinds?.find(kind => !chargeKinds.some(one => one === kind))
  if (unknown !== undefined)
    throw new ServiceError('query_invalid', `kinds: ${unknown} is none of ${chargeKinds.join(', ')}`)
  const [fromMs, toMs] = [asked.start_time ?? 0, asked.end_time ?? endOfTimeMs]
  if (fromMs >= toMs) throw new ServiceError('query_invalid', 'start_time must be before end_time')
  return {
    period: asked.period === undefined ? null : periodIn(asked.period),
    companyIds: asked.company_ids ?? null,
    fromMs,
    toMs,
    kinds,
    currency: currencyIn(asked.currency),
    featureId: asked.feature_id ?? null,
    planId: asked.plan_id ?? null,
  }
}

/**
 * GET /charges: lines of all companies, by company, period and line.
 *
 * Without `period` the lines of closed periods that ended in `[start_time, end_time)`. With one, the lines of that period
 * of each company, written or as of now.
 * returns  at most `limit` lines, fewer or none if few lines pass the filter; `X-Next-Cursor` where there may be more.
 * source   RA-1, RA-20.
 */
export const listCharges: Handler<undefined, QueryOf<typeof listShape>> = async call => {
  const { query: asked } = call
  const filter = filterIn(asked)
  const limit = Math.min(asked.limit, pageMax)
  const after = placeOf(asked.cursor)
  await ready(call, filter)
  const { lines, next } = await pageAfter(call, filter, after, limit)
  return { data: lines, ...(next !== null && { headers: { 'X-Next-Cursor': cursorOf(next) } }) }
}

/** Wait for the stores that a filter's lines are read from. */
export async function ready(call: Call<undefined, unknown>, filter: LineFilter): Promise<void> {
  if (filter.period !== null) await awaitStores(call)
}

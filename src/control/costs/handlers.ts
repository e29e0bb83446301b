// GET /costs: costs of models, the credits that use burned at their price, and the margin between them (BU-7).
import type { CostAndMargin } from '../../../schemas/costs.js'
import { type CostPart, type CostRow, costParts, costRowsMax, costs } from '../../analytics/costs.js'
import { type StoredPrice, unitPriceDecimal } from '../../catalog/prices.js'
import { decimalToText, multiply, parseDecimal, sum } from '../../core/values/amount.js'
import { dayMs } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { datetime, listOf, page, type QueryOf, query, string, text } from '../../kit/query.js'
import { isoTime, requireWindow } from '../../kit/time.js'
import { digitsOf } from '../charges/currency.js'
import { companyNames } from '../entities/names.js'

/** Longest window of one question. */
const windowDaysMax = 366

const costsShape = {
  by: listOf(costParts),
  company_id: string,
  currency: text(3),
  end_time: datetime,
  model: text(255),
  start_time: datetime,
  user_id: string,
  ...page,
} as const
export const costsQuery = query(costsShape)

/**
 * GET /costs: the last 30 days unless a window is named, by company unless `by` says otherwise (company, model, user, day).
 * Money is decimal text in whole units of `currency` (usd where none is named), as the costs of inference events are.
 *
 * errors  query_invalid for a window that is empty or longer than 366 days, and for more rows than one answer holds.
 */
export async function listCosts(call: Call<undefined, QueryOf<typeof costsShape>>): Promise<Answer> {
  const { services, environment, query, nowMs } = call
  const { fromMs, toMs } = requireWindow(query, { toMs: nowMs + 1, lengthMs: 30 * dayMs }, windowDaysMax)
  const currency = (query.currency ?? 'usd').toLowerCase()
  const by = (query.by ?? ['company']) as readonly CostPart[]
  await services.projections.barrierOf('clickhouse', environment.id)
  const rows = await costs(services.clickhouse, environment.id, {
    fromMs,
    toMs,
    companyId: query.company_id,
    userId: query.user_id,
    model: query.model,
    by,
  })
  if (rows.length >= costRowsMax)
    throw new ServiceError(
      'query_invalid',
      `by: more than ${costRowsMax} rows; name a shorter window or fewer parts`,
    )
  const groups = new Map<string, CostRow[]>()
  for (const row of rows) {
    const name = `${row.dayMs} ${row.companyId} ${row.model} ${row.userId}`
    const others = groups.get(name)
    if (others) others.push(row)
    else groups.set(name, [row])
  }
  const shown = [...groups.values()].slice(query.offset, query.offset + query.limit)
  const prices = await creditPrices(call, currency)
  const names = await companyNames(
    services.sql,
    shown.map(([first]) => first!.companyId),
  )
  return { data: shown.map(group => viewOf(group, by, currency, prices, names)) }
}

/** Prices of one credit in the smallest unit of a currency, by credit. */
async function creditPrices(
  { services, environment }: Call<undefined, unknown>,
  currency: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await services.sql<{ id: string; prices: readonly StoredPrice[] }[]>`
    select id, prices from billing_credits where environment_id = ${environment.id}`
  return new Map(
    rows.flatMap(({ id, prices }) => {
      const price = unitPriceDecimal(prices.find(one => one.currency === currency) ?? null)
      return price === null ? [] : [[id, price]]
    }),
  )
}

function viewOf(
  group: readonly CostRow[],
  by: readonly CostPart[],
  currency: string,
  prices: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): CostAndMargin {
  const first = group[0]!
  const told = (part: CostPart, value: string) => (by.includes(part) ? value || null : null)
  const digits = digitsOf(currency)
  let cost = zero
  let revenue = zero
  let unpriced = false
  const credits = group.filter(row => row.creditId !== '')
  for (const row of group)
    if (row.currency.toLowerCase() === currency) cost = sum(cost, parseDecimal(row.cost)!)
  for (const row of credits) {
    const price = prices.get(row.creditId)
    if (price === undefined) unpriced = true
    else {
      const { units, scale } = multiply(parseDecimal(row.credits)!, parseDecimal(price)!)
      revenue = sum(revenue, { units, scale: scale + digits })
    }
  }
  const margin = sum(revenue, { units: -cost.units, scale: cost.scale })
  return {
    company_id: told('company', first.companyId),
    company_name: names.get(first.companyId) ?? null,
    model: told('model', first.model),
    user_id: told('user', first.userId),
    day: by.includes('day') ? isoTime(first.dayMs) : null,
    currency,
    inference_count: group.reduce((all, row) => all + row.events, 0),
    cost: decimalToText(cost),
    other_costs: group.flatMap(row =>
      row.currency !== '' && row.currency.toLowerCase() !== currency
        ? [{ currency: row.currency.toLowerCase(), cost: decimalToText(parseDecimal(row.cost)!) }]
        : [],
    ),
    credits: credits.map(row => ({
      credit_id: row.creditId,
      quantity: decimalToText(parseDecimal(row.credits)!),
    })),
    revenue: unpriced ? null : decimalToText(revenue),
    margin: unpriced ? null : decimalToText(margin),
  }
}

const zero = { units: 0n, scale: 0 }

// Credits of one kind that one company consumed on each day, and had left at its end.
import type { CreditDay } from '../../../schemas/credits.js'
import { creditByDay } from '../../analytics/history.js'
import { amountToNumber } from '../../core/values/amount.js'
import { dayMs, dayStart } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { integer, type QueryOf, query, required, string, withDefault } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import { amount } from './credits.js'

const shape = {
  billing_credit_id: required(string),
  company_id: required(string),
  days: withDefault(integer(1, 366), 30),
} as const
export const creditDaysQuery = query(shape)

/**
 * GET /credits-by-day: the last days of UTC, ascending, after settling what time alone has changed (CR-88).
 *
 * errors  404 for an unknown company.
 * source  CR-99; balances go by the entries of the ledger (CR-89).
 */
export async function listCreditDays(call: Call<undefined, QueryOf<typeof shape>>): Promise<Answer> {
  const { services, environment, nowMs, query } = call
  const { company_id: companyId, billing_credit_id: creditId, days } = query
  if (!isKnown(call, 'company', companyId)) throw new ServiceError('not_found', 'company_id: no such company')
  await services.shards.ask('c', environment.id, companyId, { type: 'credits' }, nowMs)
  await services.projections.barrierOf('clickhouse', environment.id)
  const toMs = dayStart(nowMs) + dayMs
  const fromMs = toMs - days * dayMs
  const rows = await creditByDay(services.clickhouse, environment.id, companyId, creditId, { fromMs, toMs })
  const consumed = new Map<number, bigint>()
  const balances = new Map<number, bigint>()
  for (const row of rows) {
    consumed.set(row.dayMs, (consumed.get(row.dayMs) ?? 0n) + amount(row.consumed))
    balances.set(row.dayMs, amount(row.balance))
  }
  let balance: bigint | null = null
  const data: CreditDay[] = Array.from({ length: days }, (_, i) => {
    const atMs = fromMs + i * dayMs
    balance = balances.get(atMs) ?? balance
    return {
      day: isoTime(atMs),
      consumed: amountToNumber(consumed.get(atMs) ?? 0n),
      balance: balance === null ? null : amountToNumber(balance),
    }
  })
  return { data }
}

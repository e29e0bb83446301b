// Credits consumed, for usage rows.
import type { CreditUsageAggregation } from '../../../schemas/usage.js'
import { creditByDay, userCredits } from '../../analytics/history.js'
import type { Company } from '../../core/model/company-state.js'
import { cycleOf } from '../../core/plans/plan.js'
import { amountFromDecimal, amountToNumber } from '../../core/values/amount.js'
import { dayMs, dayStart, mondayStart, monthStart } from '../../core/values/period.js'
import type { EntityCall } from '../../kit/entities.js'

/**
 * Credits a company consumed today, this week, this month and this billing period.
 *
 * returns  by credit id, for the whole company, like the other credit figures of its rows.
 * source   US-7, US-40. Without a subscription the billing period is the calendar month: decision, as FE-51.
 */
export async function creditAggregations(
  { services, environment, nowMs }: EntityCall,
  company: Company,
  creditIds: readonly string[],
): Promise<Map<string, CreditUsageAggregation>> {
  if (creditIds.length === 0) return new Map()
  const { clickhouse, projections } = services
  await projections.barrierOf('clickhouse', environment.id)
  const monthMs = monthStart(nowMs)
  const cycle = cycleOf(company, nowMs)
  const periodMs = cycle !== null && cycle.startMs <= nowMs ? cycle.startMs : monthMs
  const weekMs = mondayStart(nowMs)
  const window = { fromMs: Math.min(monthMs, weekMs, dayStart(periodMs)), toMs: dayStart(nowMs) + dayMs }
  // consumption before the billing period began, on the same day
  const early = await consumedBetween(services, environment.id, company.id, dayStart(periodMs), periodMs)
  const aggregations = creditIds.map(async creditId => {
    const days = await creditByDay(clickhouse, environment.id, company.id, creditId, window)
    const since = (fromMs: number): bigint =>
      days.reduce((sum, { dayMs: day, consumed }) => (day >= fromMs ? sum + amount(consumed) : sum), 0n)
    const ofPeriod = since(dayStart(periodMs)) - (early.get(creditId) ?? 0n)
    return [
      creditId,
      {
        usage_today: amountToNumber(since(dayStart(nowMs))),
        usage_this_week: amountToNumber(since(weekMs)),
        usage_this_calendar_month: amountToNumber(since(monthMs)),
        usage_this_billing_period: amountToNumber(ofPeriod),
      },
    ] as const
  })
  return new Map(await Promise.all(aggregations))
}

/** By credit id. */
async function consumedBetween(
  { clickhouse }: EntityCall['services'],
  environmentId: string,
  companyId: string,
  fromMs: number,
  toMs: number,
): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>()
  if (fromMs === toMs) return sums
  for (const { creditId, consumed } of await userCredits(
    clickhouse,
    environmentId,
    companyId,
    { fromMs, toMs },
    false,
  ))
    sums.set(creditId, (sums.get(creditId) ?? 0n) + amount(consumed))
  return sums
}

/** Stored decimal text of credits, as a number of billionths. */
export function amount(text: string): bigint {
  const value = amountFromDecimal(text)
  if (value === null) throw new RangeError(`not an amount of credits: ${text}`)
  return value
}

// Which of two allocations is more generous. The console shows the same choice, so this file imports types alone.
import type { MetricPeriod } from '../../../schemas/enums.js'
import type { Quantity } from '../values/quantity.js'

/** An allocation as generosity is judged: null = unlimited; period null = none (trait features). */
export interface Allocation {
  readonly allocation: Quantity | null
  readonly period: MetricPeriod | null
}

/**
 * Whether the first allocation is more generous than the second.
 *
 * source  EN-23. An unlimited first one always is, also against another unlimited one.
 */
export function isMoreGenerous(first: Allocation, second: Allocation): boolean {
  if (first.allocation === null) return true
  if (second.allocation === null) return false
  if (first.period === null || second.period === null) {
    if (first.period !== second.period) return first.period !== null
    return first.allocation > second.allocation
  }
  if (first.period === 'all_time' || second.period === 'all_time') return first.allocation > second.allocation
  // allocation per day, compared without dividing
  const [one, other] = [first.allocation, second.allocation]
  const [days, otherDays] = [daysIn(first.period), daysIn(second.period)]
  const [mine, theirs] = [Number(one) * otherDays, Number(other) * days]
  if (Number.isSafeInteger(mine) && Number.isSafeInteger(theirs)) return mine > theirs
  return BigInt(one) * BigInt(otherDays) > BigInt(other) * BigInt(days)
}

function daysIn(period: MetricPeriod): number {
  if (period === 'current_day') return 1
  return period === 'current_week' ? 7 : 30
}

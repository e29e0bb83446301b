// Coupons: percent off each line, or an amount off the sum of a period.
import { lesser } from '../values/amount.js'
import type { Discount } from './facts.js'
import { type Fraction, fractionOf, roundHalfUp, times } from './fraction.js'
import type { ChargeLine } from './line.js'
import type { BillingPeriod } from './periods.js'

/**
 * The lines of discounts on the lines of one period.
 *
 * Percent off makes a line beside each charge of its subscription that costs something. Amount off makes one line for
 * each period and currency, at most as large as those charges are with their percents off.
 * source  RA-16.
 */
export function discountLines(
  discounts: readonly Discount[],
  { startMs, endMs }: BillingPeriod,
  lines: readonly ChargeLine[],
): ChargeLine[] {
  const made: ChargeLine[] = []
  for (const discount of discounts) {
    const own = lines.filter(line => isOn(discount, line))
    if (own.length === 0) continue
    if (discount.percentOff !== null) {
      const { n, d } = fractionOf(discount.percentOff)
      for (const line of own) {
        const exact = times(line.exact, { n: -n, d: d * 100n })
        if (exact.n !== 0n) made.push(discountLine(discount, line, exact, line.quantity))
      }
    }
    if (discount.amountOff === null) continue
    for (const currency of new Set(own.map(line => line.currency))) {
      if (discount.currency !== null && discount.currency !== currency) continue
      const charged = [
        ...own,
        ...made.filter(line => line.couponId !== null && line.subscriptionId === discount.subscriptionId),
      ]
      const sum = charged.reduce((all, line) => (line.currency === currency ? all + line.amount : all), 0n)
      const off = lesser(sum, discount.amountOff)
      if (off <= 0n) continue
      const first = own.find(line => line.currency === currency)!
      const line = discountLine(discount, first, { n: -off, d: 1n }, { n: 1n, d: 1n })
      made.push({ ...line, of: 'discount', featureId: null, sold: null, fromMs: startMs, untilMs: endMs })
    }
  }
  return made
}

function isOn({ subscriptionId, fromMs, untilMs }: Discount, line: ChargeLine): boolean {
  if (line.subscriptionId !== subscriptionId || line.kind === 'trial' || line.amount === 0n) return false
  // what is owed in arrears was used before its window ended
  const atMs = line.kind === 'usage' || line.kind === 'overage' ? line.untilMs - 1 : line.fromMs
  return atMs >= fromMs && (untilMs === null || atMs < untilMs)
}

function discountLine(
  { couponId }: Discount,
  line: ChargeLine,
  exact: Fraction,
  quantity: Fraction,
): ChargeLine {
  const amount = roundHalfUp(exact)
  return {
    ...line,
    kind: 'discount',
    of: line.kind,
    quantity,
    exact,
    amount,
    tiers: [],
    events: null,
    proration: null,
    couponId,
  }
}

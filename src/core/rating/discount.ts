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
 * each period and currency, at most as large as those charges are with their percents off. A credit of an earlier period's
 * charge takes back what was off only because of it.
 *
 * charged  lines in advance of all periods, with their own due times.
 * periods  all billing periods of the company.
 * source   RA-16.
 */
export function discountLines(
  discounts: readonly Discount[],
  { startMs, endMs }: BillingPeriod,
  lines: readonly ChargeLine[],
  charged: readonly ChargeLine[] = [],
  periods: readonly BillingPeriod[] = [],
): ChargeLine[] {
  const made: ChargeLine[] = []
  for (const discount of discounts) {
    const own = lines.filter(line => isOn(discount, line))
    if (own.length === 0) continue
    if (discount.percentOff !== null) {
      for (const line of own) {
        const exact = percentOf(discount, line)
        if (exact.n !== 0n) made.push(discountLine(discount, line, exact, line.quantity))
      }
    }
    if (discount.amountOff === null) continue
    for (const currency of new Set(own.map(line => line.currency))) {
      if (discount.currency !== null && discount.currency !== currency) continue
      const here = [
        ...own,
        ...made.filter(line => line.couponId !== null && line.subscriptionId === discount.subscriptionId),
      ].filter(
        // late use was no part of the one charge
        line =>
          (line.takesBackMs ?? startMs) >= startMs &&
          !(discount.once && (line.kind === 'correction' || line.of === 'correction')),
      )
      const sum = here.reduce((all, line) => (line.currency === currency ? all + line.amount : all), 0n)
      const off = lesser(sum, discount.amountOff)
      if (off <= 0n) continue
      const first = own.find(line => line.currency === currency)!
      const line = discountLine(discount, first, { n: -off, d: 1n }, { n: 1n, d: 1n })
      made.push({ ...line, of: 'discount', featureId: null, sold: null, fromMs: startMs, untilMs: endMs })
    }
    for (const former of periods)
      if (former.startMs < startMs) {
        const credits = own.filter(line => isIn(former, line.takesBackMs))
        made.push(...amountsBack(discounts, discount, former, { startMs, endMs }, credits, charged))
      }
  }
  return made
}

type Stretch = Pick<BillingPeriod, 'startMs' | 'endMs'>

function percentOf({ percentOff }: Discount, { exact }: ChargeLine): Fraction {
  const { n, d } = fractionOf(percentOff!)
  return times(exact, { n: -n, d: d * 100n })
}

const isIn = ({ startMs, endMs }: Stretch, atMs = Number.NaN): boolean => atMs >= startMs && atMs < endMs

/**
 * An amount was off the charges of a former period. Credits of them leave less to pay there, and what was off beyond that is
 * taken back: nobody gets back more than was paid.
 *
 * credits  of the period that is rated
 * source   RA-16; use is not looked at: decision.
 */
function amountsBack(
  discounts: readonly Discount[],
  discount: Discount,
  former: Stretch,
  { startMs, endMs }: Stretch,
  credits: readonly ChargeLine[],
  charged: readonly ChargeLine[],
): ChargeLine[] {
  const percents = discounts.filter(one => one.percentOff !== null)
  const net = (of: readonly ChargeLine[]): bigint =>
    of.reduce((all, line) => {
      const offs = percents.filter(one => isOn(one, line)).map(one => percentOf(one, line))
      return offs.reduce((sum, off) => sum + roundHalfUp(off), all + line.amount)
    }, 0n)
  return [...new Set(credits.map(line => line.currency))].flatMap(currency => {
    if (discount.currency !== null && discount.currency !== currency) return []
    const own = charged.filter(line => line.currency === currency && isOn(discount, line))
    const paid = net(own.filter(line => isIn(former, line.dueMs)))
    const before = net(
      own.filter(
        ({ dueMs, takesBackMs }) => dueMs >= former.endMs && dueMs < startMs && isIn(former, takesBackMs),
      ),
    )
    const now = net(credits.filter(line => line.currency === currency))
    const earlier = discounts
      .slice(0, discounts.indexOf(discount))
      .filter(one => one.amountOff !== null && (one.currency ?? currency) === currency)
      .filter(one => own.some(line => isOn(one, line)))
    const off = (sum: bigint): bigint => {
      const left = earlier.reduce(
        (rest, { amountOff }) => rest - lesser(rest, amountOff!),
        sum > 0n ? sum : 0n,
      )
      return lesser(left, discount.amountOff!)
    }
    const back = off(paid + before) - off(paid + before + now)
    if (back <= 0n) return []
    const first = credits.find(line => line.currency === currency)!
    const line = discountLine(discount, first, { n: back, d: 1n }, { n: 1n, d: 1n })
    return [
      { ...line, of: 'discount' as const, featureId: null, sold: null, fromMs: startMs, untilMs: endMs },
    ]
  })
}

/** Whether a discount counts for what is charged at an instant. */
export function isInForce({ fromMs, untilMs }: Discount, atMs: number): boolean {
  return atMs >= fromMs && (untilMs === null || atMs < untilMs)
}

function isOn(discount: Discount, line: ChargeLine): boolean {
  if (line.subscriptionId !== discount.subscriptionId || line.kind === 'trial' || line.amount === 0n)
    return false
  const { once } = discount
  if (once === 'first' || (once !== undefined && (once === 'use') !== (line.window !== null))) return false
  return isInForce(discount, once === 'use' ? line.window!.nextMs - 1 : chargedAt(line))
}

/**
 * A discount that is for one charge alone, with the time of that charge: all that is charged in advance in one second, or the
 * use of one window.
 *
 * chargedMs  the first charge in advance; Infinity: none so far.
 * usedMs     end of the first window of use that costs before it; null: none.
 * returns    null where nothing is charged yet.
 * source     RA-16.
 */
export function ofOneCharge(discount: Discount, chargedMs: number, usedMs: number | null): Discount | null {
  if (usedMs !== null) return { ...discount, once: 'use', fromMs: usedMs - 1, untilMs: usedMs }
  if (chargedMs === Number.POSITIVE_INFINITY) return null
  // what a request changes is charged in its second, in which a period of the service's own begins
  const fromMs = Math.floor(chargedMs / 1000) * 1000
  return { ...discount, once: 'advance', fromMs, untilMs: fromMs + 1000 }
}

/** Whether a charge costs something that a discount could take something off. */
export function isOffOf(discount: Discount, line: ChargeLine): boolean {
  return line.kind !== 'trial' && line.amount > 0n && isOfCharge(discount, line)
}

/** Whether a discount is of a charge's subscription and currency. */
export function isOfCharge(
  { subscriptionId, percentOff, currency }: Discount,
  charge: Pick<ChargeLine, 'subscriptionId' | 'currency'>,
): boolean {
  if (charge.subscriptionId !== subscriptionId) return false
  return percentOff !== null || currency === null || currency === charge.currency
}

/** When a line is charged. A credit has the discounts of what it takes back. source: RA-16 */
function chargedAt({ of, fromMs, untilMs, takesBackMs }: ChargeLine): number {
  // what is owed in arrears was used before its window ended
  return takesBackMs ?? (of === 'usage' || of === 'overage' ? untilMs - 1 : fromMs)
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

// Charge lines, totals and periods on the wire.
import type {
  ChargeLineView,
  ChargePeriod,
  ChargePeriodStatus,
  ChargeTotal,
} from '../../../schemas/charges.js'
import { type Fraction, fractionText } from '../../core/rating/fraction.js'
import type { ChargeLine, EventSum } from '../../core/rating/line.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import { quantityOf } from '../../core/values/quantity.js'
import { long } from '../../kit/long.js'
import { isoTime } from '../../kit/time.js'
import { digitsOf } from './currency.js'

const whole = (value: bigint): number => long(quantityOf(value))

/** A line; `line` is its place from 1. */
export function lineView(line: ChargeLine, place: number): ChargeLineView {
  const { price, sold, proration, window } = line
  return {
    line: place,
    kind: line.kind,
    charge_kind: line.of,
    subscription_id: line.subscriptionId,
    plan_id: sold?.planId ?? null,
    plan_version_id: sold?.versionId ?? null,
    plan_version: sold?.version ?? null,
    feature_id: line.featureId,
    credit_id: line.creditId,
    bundle_id: line.bundleId,
    coupon_id: line.couponId,
    quantity: numberOf(line.quantity),
    quantity_decimal: fractionText(line.quantity),
    unit: line.unit,
    price_id: price?.id ?? null,
    unit_price: price === null || price.tiers !== null ? null : price.unit,
    package_size: price?.packageSize ?? null,
    tiers_mode: price === null || price.tiers === null ? null : price.mode,
    tiers: line.tiers.map(tier => ({
      up_to: tier.upTo === null ? null : whole(BigInt(tier.upTo)),
      units: whole(tier.units),
      unit_price: tier.unit,
      flat_amount: tier.flat,
      amount: tier.amount,
    })),
    amount: whole(line.amount),
    amount_decimal: fractionText(line.exact),
    currency: line.currency,
    start_time: isoTime(line.fromMs),
    end_time: isoTime(line.untilMs),
    due_at: isoTime(line.dueMs),
    proration: proration && { remaining_ms: proration.leftMs, period_ms: proration.wholeMs },
    events: line.events && eventsView(line.events),
    window: window && { start_time: isoTime(window.startMs), end_time: isoTime(window.nextMs) },
  }
}

function eventsView(events: EventSum & { readonly before: bigint; readonly after: bigint }) {
  return {
    count: events.count,
    quantity: whole(events.quantity),
    first_event_id: events.firstId,
    last_event_id: events.lastId,
    counter_before: whole(events.before),
    counter_after: whole(events.after),
  }
}

/** A whole number with all its digits; a fraction as the nearest double. */
function numberOf(quantity: Fraction): number {
  return quantity.n % quantity.d === 0n ? whole(quantity.n / quantity.d) : Number(fractionText(quantity))
}

/** Sums of rounded lines, by currency in its order. source: RA-2 */
export function totalViews(lines: readonly ChargeLineView[]): ChargeTotal[] {
  const sums = new Map<string, bigint>()
  for (const { currency, amount } of lines) sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(amount))
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) => ({ currency, digits: digitsOf(currency), amount: whole(amount) }))
}

/** A period that is not closed. */
export function periodView(
  { startMs, endMs, subscriptionId }: BillingPeriod,
  status: ChargePeriodStatus,
): ChargePeriod {
  return {
    id: null,
    start_time: isoTime(startMs),
    end_time: isoTime(endMs),
    status,
    subscription_id: subscriptionId,
    closed_at: null,
    hash: null,
  }
}

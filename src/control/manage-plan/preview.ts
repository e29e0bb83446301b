// Previews the cost and the limit violations of a change of plans. Taxes are not included.
import type {
  PreviewLineItem,
  PreviewSubscriptionChange,
  PreviewSubscriptionFinance,
} from '../../../schemas/billing.js'
import type { FeatureUsage } from '../../../schemas/usage.js'
import { partOf, percentOf } from '../../core/pricing/price.js'
import { addMonthsClamped } from '../../core/values/period.js'
import {
  addQuantity,
  greaterQuantity,
  lesserQuantity,
  type Quantity,
  quantityOrNull,
  subtractQuantity,
} from '../../core/values/quantity.js'
import { long, storedLong, storedLongOrNull } from '../../kit/long.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { monthsOf } from '../billing/sold-price.js'
import { type Change, sum } from './change.js'

/** Options of a preview besides the change itself. */
export interface PreviewWish {
  readonly prorate: boolean
  /** For a new subscription with an anchor. False: the shortened first period is free. */
  readonly prorateFirstPeriod: boolean
  readonly paymentMethods: number
}

/**
 * The cost of a change. Amounts in the smallest unit, rounded half-up; partial periods are charged pro rata.
 *
 * source  PB-33. The pro-rata rule: decision.
 */
export function previewOf(
  change: Change,
  violations: FeatureUsage[],
  wish: PreviewWish,
  nowMs: number,
): PreviewSubscriptionChange {
  const { settings, scheduledAtMs, coupon } = change
  const money = amountsOf(change, wish, nowMs)
  const percentOff = coupon?.percent_off ?? 0
  return {
    amount_off: storedLong(coupon?.amount_off ?? 0),
    percent_off: percentOff,
    due_now: long(money.due),
    new_charges: long(money.charges),
    proration: long(money.proration),
    period_start: isoTime(change.startMs),
    trial_end: isoTimeOrNull(change.trialEndMs),
    is_scheduled_downgrade: scheduledAtMs !== null,
    scheduled_change_time: isoTimeOrNull(scheduledAtMs),
    opt_in_required: settings.opt_in_enabled === true,
    opt_in_text: settings.opt_in_text ?? null,
    opt_in_title: settings.opt_in_title ?? null,
    payment_method_required: money.due > 0 && wish.paymentMethods === 0,
    promo_code_applied: change.promoCode !== null,
    usage_violations: violations,
    finance: financeOf(change, money, nowMs),
  }
}

interface Amounts {
  readonly charges: Quantity
  readonly proration: Quantity
  readonly discount: Quantity
  readonly due: Quantity
}

function amountsOf(change: Change, wish: PreviewWish, nowMs: number): Amounts {
  const { had, lines, once, total, totalBefore, scheduledAtMs, coupon } = change
  const oneTime = sum(once)
  let recurring: Quantity = 0
  let proration: Quantity = 0
  if (scheduledAtMs === null && change.trialEndMs === null) {
    if (had !== null && wish.prorate) {
      const unused = remaining(
        totalBefore,
        nowMs,
        Number(had.period_start) * 1000,
        Number(had.period_end) * 1000,
      )
      proration = subtractQuantity(0, unused)
    }
    if (had === null) recurring = firstPeriod(change, wish)
    else if (change.restarts) recurring = total
    else if (lines.length > 0 && wish.prorate)
      recurring = remaining(total, nowMs, change.startMs, change.endMs)
  }
  const charges = addQuantity(recurring, oneTime)
  const percent = percentOf(charges, coupon?.percent_off ?? 0)
  const off = addQuantity(percent, quantityOrNull(coupon?.amount_off ?? 0) ?? 0)
  const discount = lesserQuantity(charges, off)
  const due = addQuantity(subtractQuantity(charges, discount), proration)
  return { charges, proration, discount, due: greaterQuantity(due, 0) }
}

/** Charge for the first period of a new subscription: whole, or the part until its anchor. */
function firstPeriod({ lines, total, startMs, endMs }: Change, wish: PreviewWish): Quantity {
  const months = lines.length === 0 ? null : monthsOf(lines[0]!.price)
  if (months === null || endMs === addMonthsClamped(startMs, months)) return total
  if (!wish.prorateFirstPeriod) return 0
  const wholeMs = endMs - addMonthsClamped(endMs, -months)
  return partOf(total, endMs - startMs, wholeMs)
}

/** The part of an amount for what remains of a period. */
function remaining(amount: Quantity, nowMs: number, startMs: number, endMs: number): Quantity {
  if (endMs <= startMs) return 0
  return partOf(amount, Math.min(endMs - startMs, Math.max(0, endMs - nowMs)), endMs - startMs)
}

function financeOf(change: Change, money: Amounts, nowMs: number): PreviewSubscriptionFinance {
  const { coupon, had, lines, once, total } = change
  const items: PreviewLineItem[] = [...lines, ...once].map(line => ({
    amount: long(line.amount),
    quantity: line.quantity,
    description: line.description,
    price_id: line.price.id,
    proration: false,
  }))
  if (money.proration !== 0)
    items.push({
      amount: long(money.proration),
      quantity: 1,
      description: 'Unused time of the present plans',
      price_id: had?.products[0]?.price_id ?? '',
      proration: true,
    })
  return {
    amount_off: storedLong(coupon?.amount_off ?? 0),
    percent_off: coupon?.percent_off ?? 0,
    discount_amount: long(money.discount),
    discounts: coupon
      ? [
          {
            coupon_name: coupon.name,
            duration: coupon.duration ?? '',
            is_active: coupon.is_active,
            started_at: isoTime(nowMs),
            ended_at: null,
            amount_off: storedLongOrNull(coupon.amount_off),
            percent_off: coupon.percent_off,
            currency: coupon.currency,
            duration_in_months: storedLongOrNull(coupon.duration_in_months),
            customer_facing_code: change.promoCode,
            promo_code_external_id: null,
          },
        ]
      : [],
    due_now: long(money.due),
    new_charges: long(money.charges),
    proration: long(money.proration),
    total_per_billing_period: long(total),
    period_start: isoTime(change.startMs),
    period_end: isoTime(change.endMs),
    promo_code_applied: change.promoCode !== null,
    tax_require_billing_details: false,
    upcoming_invoice_line_items: items,
    proration_billed_at: money.proration === 0 ? null : isoTime(nowMs),
    trial_end: isoTimeOrNull(change.trialEndMs),
    tax_amount: null,
    tax_display_name: null,
  }
}

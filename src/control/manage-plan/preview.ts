// Previews the cost and the limit violations of a change of plans. Taxes are not included.
import type {
  PreviewLineItem,
  PreviewSubscriptionChange,
  PreviewSubscriptionFinance,
} from '../../../schemas/billing.js'
import type { FeatureUsage } from '../../../schemas/usage.js'
import { partOf, percentOf } from '../../core/pricing/price.js'
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
import { type Change, intervalStart, type Line, sum } from './change.js'

/** Options of a preview besides the change itself. */
interface PreviewWish {
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
    finance: financeOf(change, money, wish, nowMs),
  }
}

interface Amounts {
  readonly charges: Quantity
  readonly proration: Quantity
  readonly discount: Quantity
  readonly due: Quantity
}

function amountsOf(change: Change, wish: PreviewWish, nowMs: number): Amounts {
  const { had, once, total, totalBefore, scheduledAtMs, coupon } = change
  const oneTime = sum(once)
  const recurring = dueOf(change, wish, nowMs, total)
  let proration: Quantity = 0
  if (scheduledAtMs === null && change.trialEndMs === null) {
    if (had !== null && wish.prorate) {
      const endMs = Number(had.period_end) * 1000
      const { anchor, months, first_free: isFirstFree } = had.own!
      const startMs = intervalStart(anchor * 1000, months, endMs)
      const isFree = isFirstFree === true && startMs !== Number(had.period_start) * 1000
      const unused = isFree ? 0 : remaining(totalBefore, nowMs, startMs, endMs)
      proration = subtractQuantity(0, unused)
    }
  }
  const charges = addQuantity(recurring, oneTime)
  const percent = percentOf(charges, coupon?.percent_off ?? 0)
  const off = addQuantity(percent, quantityOrNull(coupon?.amount_off ?? 0) ?? 0)
  const discount = lesserQuantity(charges, off)
  const due = addQuantity(subtractQuantity(charges, discount), proration)
  return { charges, proration, discount, due: greaterQuantity(due, 0) }
}

/** The part of a recurring amount that is due now. */
function dueOf(change: Change, wish: PreviewWish, nowMs: number, amount: Quantity): Quantity {
  const { had, row, lines, restarts, scheduledAtMs, trialEndMs, startMs, intervalStartMs, endMs } = change
  if (scheduledAtMs !== null || trialEndMs !== null) return 0
  if (had === null) return firstPeriod(change, wish, amount)
  if (restarts) return amount
  if (row?.own?.first_free && intervalStartMs !== startMs) return 0
  return lines.length > 0 && wish.prorate ? remaining(amount, nowMs, intervalStartMs, endMs) : 0
}

/** Charge for the first period of a new subscription: whole, or the part until its anchor. */
function firstPeriod(
  { lines, startMs, endMs, intervalStartMs }: Change,
  wish: PreviewWish,
  total: Quantity,
): Quantity {
  if (lines.length === 0 || intervalStartMs === startMs) return total
  return wish.prorateFirstPeriod ? partOf(total, endMs - startMs, endMs - intervalStartMs) : 0
}

/** The part of an amount for what remains of an interval. */
function remaining(amount: Quantity, nowMs: number, startMs: number, endMs: number): Quantity {
  if (endMs <= startMs) return 0
  return partOf(amount, Math.min(endMs - startMs, Math.max(0, endMs - nowMs)), endMs - startMs)
}

/**
 * The lines of the invoice that is due now. They sum to `due_now`: recurring lines show the part that is due, and what
 * a credit leaves over is carried to the next invoice. Nothing due yet (a trial, a change at the period's end): no line.
 *
 * source  decision.
 */
function itemsOf(change: Change, money: Amounts, wish: PreviewWish, nowMs: number): PreviewLineItem[] {
  const { had, lines, once } = change
  const items: PreviewLineItem[] = []
  const add = ({ description, price, quantity }: Line, amount: Quantity) =>
    items.push({ amount: long(amount), quantity, description, price_id: price.id, proration: false })
  let before: Quantity = 0
  let until: Quantity = 0
  for (const line of lines) {
    // parts of running sums: no cent is lost or made by rounding each line
    until = addQuantity(until, line.amount)
    const due = dueOf(change, wish, nowMs, until)
    const part = subtractQuantity(due, before)
    before = due
    if (part !== 0 || due !== 0) add(line, part)
  }
  for (const line of once) add(line, line.amount)
  const other = (description: string, amount: Quantity, proration: boolean) => {
    const price = had?.products[0]?.price_id ?? lines[0]?.price.id ?? once[0]?.price.id ?? ''
    if (amount !== 0)
      items.push({ amount: long(amount), quantity: 1, description, price_id: price, proration })
  }
  other('Unused time of the present plans', money.proration, true)
  other('Discount', subtractQuantity(0, money.discount), false)
  const sumOfAll = addQuantity(subtractQuantity(money.charges, money.discount), money.proration)
  other('Credit carried to the next invoice', subtractQuantity(money.due, sumOfAll), false)
  return items
}

function financeOf(
  change: Change,
  money: Amounts,
  wish: PreviewWish,
  nowMs: number,
): PreviewSubscriptionFinance {
  const { coupon, total } = change
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
    upcoming_invoice_line_items: itemsOf(change, money, wish, nowMs),
    proration_billed_at: money.proration === 0 ? null : isoTime(nowMs),
    trial_end: isoTimeOrNull(change.trialEndMs),
    tax_amount: null,
    tax_display_name: null,
  }
}

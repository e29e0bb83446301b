// Discounts of a subscription: how long they count, and what becomes of them when another coupon is redeemed.
import type { Sql } from 'postgres'
import type { Discount } from '../../core/rating/facts.js'
import type { HistoryEntry } from '../../core/rating/history.js'
import { addMonthsClamped } from '../../core/values/period.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { type CouponRow, type CouponTerms, type RedeemedDiscount, termsOf } from './coupon-terms.js'

/** A subscription that a coupon is redeemed with. */
interface RedeemingRow {
  readonly discounts: readonly RedeemedDiscount[]
  readonly status: string
  readonly trial_end: string | number | null
}

interface DiscountedRow {
  readonly id: string
  readonly company_id: string
  readonly discounts: readonly RedeemedDiscount[]
}

/** Most discounts of a subscription, as of a request. */
const discountsMax = 100

/** Discounts that are over are kept as long as a price by years may be credited. */
const keptMonths = 13

/**
 * When a discount counts, epoch ms; untilMs null: for good. In a trial nothing is paid, so it counts from the trial's end.
 *
 * trialEndMs  of a subscription of the service's own; null: none
 * source      RA-16; decision 34.
 */
function spanOfDiscount(
  { started_at, ended_at }: Pick<RedeemedDiscount, 'started_at' | 'ended_at'>,
  { duration, duration_in_months }: Pick<CouponTerms, 'duration' | 'duration_in_months'>,
  trialEndMs: number | null,
): { readonly fromMs: number; readonly untilMs: number | null } {
  const fromMs = Math.max(Date.parse(started_at), trialEndMs ?? 0)
  // `once` is for one charge, whenever that is
  const months = duration === 'once' ? null : duration_in_months
  const ends = [
    ...(ended_at == null ? [] : [Date.parse(ended_at)]),
    ...(months === null ? [] : [addMonthsClamped(fromMs, Number(months))]),
  ]
  return { fromMs, untilMs: ends.length === 0 ? null : Math.min(...ends) }
}

/**
 * The discounts of a subscription with a coupon that is redeemed now. It takes the place of the one before, which ends, and
 * keeps what it took off. A coupon that is in force goes on as it was.
 *
 * nowMs   whole seconds
 * source  RA-16; decision.
 */
export function redeemed(
  row: RedeemingRow | null,
  coupon: CouponRow,
  nowMs: number,
  code: string | null,
): readonly RedeemedDiscount[] {
  const { external_id: id } = coupon
  const had = row?.discounts ?? []
  const trialEndMs = row?.trial_end == null ? null : Number(row.trial_end) * 1000
  // one that was paid for before its end is no trial any more
  const isOf = row?.status === 'trialing' || (trialEndMs ?? 0) <= nowMs
  const isInForce = had.some(
    one =>
      one.coupon_external_id === id &&
      one.is_active &&
      (spanOfDiscount(one, one.terms ?? termsOf(coupon), isOf ? trialEndMs : null).untilMs ??
        Number.POSITIVE_INFINITY) > nowMs,
  )
  if (isInForce) return had
  return [
    ...ended(had, nowMs, nowMs),
    {
      coupon_external_id: id,
      external_id: id,
      is_active: true,
      started_at: isoTime(nowMs),
      terms: termsOf(coupon),
      ...(code !== null && { customer_facing_code: code }),
    },
  ]
}

/**
 * The discounts of a subscription as its provider reports them. One that is reported no more ends, and keeps what it took off.
 *
 * atMs    when what the provider says began
 * source  RA-16; decision.
 */
export function asReported(
  reported: readonly RedeemedDiscount[],
  had: readonly RedeemedDiscount[],
  atMs: number,
  nowMs: number,
): readonly RedeemedDiscount[] {
  const isReported = (one: RedeemedDiscount) =>
    reported.some(
      it => it.coupon_external_id === one.coupon_external_id && it.external_id === one.external_id,
    )
  const over = ended(
    had.filter(one => !isReported(one)),
    atMs,
    nowMs,
  )
  const kept = over.map(one => ({ ...one, unreported: true as const }))
  return [...kept, ...reported].slice(-discountsMax)
}

/** Discounts that end at an instant, but for those that are off nothing that may still be credited. */
function ended(had: readonly RedeemedDiscount[], atMs: number, nowMs: number): readonly RedeemedDiscount[] {
  return had
    .map(one =>
      one.is_active && (one.ended_at == null || Date.parse(one.ended_at) > atMs)
        ? { ...one, is_active: false, ended_at: isoTime(atMs) }
        : one,
    )
    .filter(one => one.ended_at == null || mattersAt(one, one.ended_at, nowMs))
}

function mattersAt({ started_at }: RedeemedDiscount, endedAt: string, nowMs: number): boolean {
  const endMs = Date.parse(endedAt)
  return endMs > Date.parse(started_at) && addMonthsClamped(endMs, keptMonths) > nowMs
}

/** The discounts of subscriptions, by id. */
export async function discountsOf(
  sql: Sql,
  environmentId: string,
  subscriptions: readonly DiscountedRow[],
  histories: ReadonlyMap<string, readonly HistoryEntry[]>,
): Promise<ReadonlyMap<string, readonly Discount[]>> {
  const names = [...new Set(subscriptions.flatMap(one => one.discounts.map(it => it.coupon_external_id)))]
  if (names.length === 0) return new Map()
  const coupons = await sql<CouponRow[]>`
    select * from billing_coupons where environment_id = ${environmentId} and external_id in ${among(sql, names)}`
  return new Map(
    subscriptions.map(({ id, company_id: companyId, discounts }) => {
      const trialEndMs = trialEndOf(histories.get(companyId) ?? [], id)
      const counting = discounts.flatMap(discount => {
        const coupon = coupons.find(one => one.external_id === discount.coupon_external_id)
        const terms = discount.terms ?? (coupon && termsOf(coupon))
        // one that is over still counts for what was charged before its end
        const counts = discount.is_active || discount.ended_at != null
        return terms && counts ? [discountOf(id, discount, terms, trialEndMs)] : []
      })
      return [id, counting]
    }),
  )
}

/** When the trial of an own subscription ended, or is to end, epoch ms; null: it had none. */
function trialEndOf(entries: readonly HistoryEntry[], id: string): number | null {
  let endMs: number | null = null
  let isTrial = false
  for (const entry of entries) {
    if (entry.kind !== 'subscription' || entry.id !== id) continue
    if (entry.state?.status === 'trialing' && entry.state.anchorMs != null) {
      isTrial = true
      endMs = entry.state.trialEndMs
    } else if (isTrial) {
      isTrial = false
      endMs = entry.atMs
    }
  }
  return endMs
}

function discountOf(
  subscriptionId: string,
  discount: RedeemedDiscount,
  coupon: CouponTerms,
  trialEndMs: number | null,
): Discount {
  return {
    couponId: coupon.id,
    subscriptionId,
    ...spanOfDiscount(discount, coupon, trialEndMs),
    ...(coupon.duration === 'once' && { once: 'first' as const }),
    percentOff: coupon.percent_off === null ? null : decimalText(coupon.percent_off),
    amountOff: coupon.amount_off === null ? null : BigInt(coupon.amount_off),
    currency: coupon.currency,
  }
}

/** A double as decimal text without an exponent. */
const decimalText = (value: number): string => {
  const text = String(value)
  return text.includes('e') ? value.toFixed(12) : text
}

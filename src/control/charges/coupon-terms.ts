// The terms of coupons that discounts were redeemed with: a coupon that is changed or removed later leaves them.
import type { Sql } from 'postgres'
import type { BillingSubscriptionDiscount } from '../../../schemas/billing.js'
import { among } from '../../kit/sql.js'

/** The terms of a coupon when a discount was redeemed. Amounts and counts are decimal text. */
export interface CouponTerms {
  /** Id of the record. */
  readonly id: string
  readonly name: string
  readonly percent_off: number | null
  readonly amount_off: string | null
  readonly currency: string | null
  readonly duration: string | null
  readonly duration_in_months: string | null
}

/** A discount of a subscription as it is stored. Without terms, its coupon was not known. */
export interface RedeemedDiscount extends BillingSubscriptionDiscount {
  readonly terms?: CouponTerms
  /** Its provider reports it no more: it is kept for what it took off, and is not shown. */
  readonly unreported?: true
}

/** The members of a row of billing_coupons that make its terms. */
export interface CouponRow {
  readonly id: string
  readonly external_id: string
  readonly name: string
  readonly percent_off: number | null
  readonly amount_off: string | number | null
  readonly currency: string | null
  readonly duration: string | null
  readonly duration_in_months: string | number | null
}

export function termsOf(coupon: CouponRow): CouponTerms {
  const { id, name, percent_off, amount_off, currency, duration, duration_in_months } = coupon
  const text = (value: string | number | null) => (value === null ? null : String(value))
  return {
    id,
    name,
    percent_off,
    amount_off: text(amount_off),
    currency,
    duration,
    duration_in_months: text(duration_in_months),
  }
}

/**
 * Discounts as a provider reports them, with the terms of their coupons. One that is known keeps those it has; one whose
 * coupon is not known yet has none, and counts as that coupon is.
 *
 * had     the discounts known before.
 * source  RA-16.
 */
export async function withTerms(
  sql: Sql,
  environmentId: string,
  reported: readonly BillingSubscriptionDiscount[],
  had: readonly RedeemedDiscount[],
): Promise<readonly RedeemedDiscount[]> {
  if (reported.length === 0) return []
  const coupons = await sql<CouponRow[]>`
    select * from billing_coupons where environment_id = ${environmentId} and external_id in ${among(
      sql,
      reported.map(one => one.coupon_external_id),
    )}`
  return reported.map(one => {
    const { coupon_external_id, external_id, is_active, started_at, ended_at } = one
    const { customer_facing_code, promo_code_external_id } = one
    const known = had.find(
      it =>
        it.coupon_external_id === coupon_external_id &&
        it.external_id === external_id &&
        Date.parse(it.started_at) === Date.parse(started_at),
    )
    const coupon = coupons.find(it => it.external_id === coupon_external_id)
    const terms = known?.terms ?? (coupon && termsOf(coupon))
    return {
      coupon_external_id,
      external_id,
      is_active,
      started_at,
      ...(ended_at !== undefined && { ended_at }),
      ...(customer_facing_code !== undefined && { customer_facing_code }),
      ...(promo_code_external_id !== undefined && { promo_code_external_id }),
      ...(terms && { terms }),
    }
  })
}

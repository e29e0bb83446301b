// Bodies of upserts of billing records. For an existing record absent members are unchanged (decision 26); a new one
// must have all members that its write requires.
import typia from 'typia'
import type { BillingCustomerWrite, CouponWrite, MeterWrite, PaymentMethodWrite } from './billing.js'

export const validateBillingCustomerWrite = typia.createValidate<BillingCustomerWrite>()

/** Body of POST /billing/customer/upsert; `external_id` names the record. */
export interface BillingCustomerUpsert
  extends Pick<BillingCustomerWrite, 'external_id'>,
    Partial<Omit<BillingCustomerWrite, 'external_id'>> {}

export const parseBillingCustomerUpsert = typia.json.createValidateParse<BillingCustomerUpsert>()

export const validateCouponWrite = typia.createValidate<CouponWrite>()

/** Body of POST /billing/coupons; `external_id` names the record. */
export interface CouponUpsert
  extends Pick<CouponWrite, 'external_id'>,
    Partial<Omit<CouponWrite, 'external_id'>> {}

export const parseCouponUpsert = typia.json.createValidateParse<CouponUpsert>()

export const validateMeterWrite = typia.createValidate<MeterWrite>()

/** Body of POST /billing/meter/upsert; `external_id` names the record. */
export interface MeterUpsert
  extends Pick<MeterWrite, 'external_id'>,
    Partial<Omit<MeterWrite, 'external_id'>> {}

export const parseMeterUpsert = typia.json.createValidateParse<MeterUpsert>()

export const validatePaymentMethodWrite = typia.createValidate<PaymentMethodWrite>()

/** Body of POST /billing/payment-methods; `external_id` names the record. */
export interface PaymentMethodUpsert
  extends Pick<PaymentMethodWrite, 'external_id'>,
    Partial<Omit<PaymentMethodWrite, 'external_id'>> {}

export const parsePaymentMethodUpsert = typia.json.createValidateParse<PaymentMethodUpsert>()

// Bodies of upserts of billing records. For an existing record absent members are unchanged (decision 26); a new one
// must have all members that its write requires.
import typia from 'typia'
import type {
  BillingCustomerWrite,
  BillingPriceWrite,
  BillingProductWrite,
  BillingSubscriptionWrite,
  CouponWrite,
  InvoiceWrite,
  MeterWrite,
  PaymentMethodWrite,
} from './billing.js'

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

export const validateBillingProductWrite = typia.createValidate<BillingProductWrite>()

/** Body of an upsert: `external_id` names the record. */
export interface BillingProductUpsert
  extends Pick<BillingProductWrite, 'external_id'>,
    Partial<Omit<BillingProductWrite, 'external_id'>> {}

export const parseBillingProductUpsert = typia.json.createValidateParse<BillingProductUpsert>()

export const validateBillingPriceWrite = typia.createValidate<BillingPriceWrite>()

/** Body of an upsert: the two external ids name the record; the product's may be left out where the price's is of one alone. */
export interface BillingPriceUpsert
  extends Pick<BillingPriceWrite, 'price_external_id'>,
    Partial<Omit<BillingPriceWrite, 'price_external_id'>> {}

export const parseBillingPriceUpsert = typia.json.createValidateParse<BillingPriceUpsert>()

export const validateBillingSubscriptionWrite = typia.createValidate<BillingSubscriptionWrite>()

/** Body of an upsert: `subscription_external_id` names the record. */
export interface BillingSubscriptionUpsert
  extends Pick<BillingSubscriptionWrite, 'subscription_external_id'>,
    Partial<Omit<BillingSubscriptionWrite, 'subscription_external_id'>> {}

export const parseBillingSubscriptionUpsert = typia.json.createValidateParse<BillingSubscriptionUpsert>()

export const validateInvoiceWrite = typia.createValidate<InvoiceWrite>()

/** Body of an upsert: `external_id` names the record; without it the invoice is a new one. */
export interface InvoiceUpsert extends Partial<InvoiceWrite> {}

export const parseInvoiceUpsert = typia.json.createValidateParse<InvoiceUpsert>()

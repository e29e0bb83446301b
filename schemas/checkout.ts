// Problems of a checkout.

/** A problem that blocks a checkout. */
export interface CheckoutProblem {
  blocking: boolean
  code: string
  message: string
  source: string
  bundle_id?: string | null
  currency?: string | null
  detail?: string | null
  feature_id?: string | null
  field_id?: string | null
  payment_method_id?: string | null
  plan_id?: string | null
  price_id?: string | null
}

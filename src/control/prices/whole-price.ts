// A price in whole smallest units, from a body that may also give it as a decimal.

import { roundHalfUp } from '../../core/pricing/price.js'
import { parseDecimal } from '../../core/values/amount.js'
import { isQuantity, type Quantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'

/**
 * The price in whole smallest units. The decimal takes precedence and is rounded half-up.
 *
 * decimal  text without sign or exponent, as the schema has checked; null: none.
 * errors   400 for a decimal beyond 64 bits.
 * source   PB-41.
 */
export function wholePrice(amount: Quantity | null, decimal: string | null): Quantity {
  const exact = decimal === null ? null : parseDecimal(decimal)
  const price = exact === null ? (amount ?? 0) : roundHalfUp(exact)
  if (!isQuantity(price))
    throw new ServiceError('value_invalid', `A price of ${decimal} smallest units is beyond 64 bits`)
  return price
}

// Quantities as members of answers: type `long` on the wire.
import { type Quantity, readQuantity, type StoredQuantity } from '../../core/usage/quantity.js'

/**
 * A quantity where the schema's type is number. Values beyond ±(2^53 − 1) stay bigints, which `jsonText` writes as
 * digits. Do not calculate with the result.
 */
export function long(quantity: Quantity): number
export function long(quantity: Quantity | null): number | null
export function long(quantity: Quantity | null): number | null {
  return quantity as number | null
}

/** `long` for a quantity from a fact. */
export function storedLong(quantity: Quantity | StoredQuantity): number {
  return long(typeof quantity === 'bigint' ? quantity : readQuantity(quantity))
}

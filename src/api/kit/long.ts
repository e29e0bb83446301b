// Quantities as members of answers: `long` on the wire (service.md section 2).
import { type Quantity, readQuantity, type StoredQuantity } from '../../core/usage/quantity.js'

/**
 * A quantity where a schema says number. One beyond ±(2^53 − 1) stays the bigint that it is, which no schema of JSON can
 * name: `jsonText` writes its digits. Nothing may reckon with what this gives.
 */
export function long(quantity: Quantity): number
export function long(quantity: Quantity | null): number | null
export function long(quantity: Quantity | null): number | null {
  return quantity as number | null
}

/** The same of one that a fact has kept. */
export function storedLong(quantity: Quantity | StoredQuantity): number {
  return long(typeof quantity === 'bigint' ? quantity : readQuantity(quantity))
}

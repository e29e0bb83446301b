// Quantities and sums of them: signed 64-bit integers, exact. A number while it is a safe integer, which nearly all are;
// a bigint beyond. So each value has one form, and equal values are `===`.

/** An integer of at most 64 bits: a number within ±(2^53 − 1), else a bigint. */
export type Quantity = number | bigint

/** The same in facts and snapshots, whose readers know no bigint: decimal text where JSON's number would lose digits. */
export type StoredQuantity = number | string

/** The largest quantity and the largest sum of them; the least is its negative. */
export const quantityMax = 9_223_372_036_854_775_807n

const safe = BigInt(Number.MAX_SAFE_INTEGER)

/** An integer in the one form it has. */
export function quantityOf(exact: bigint): Quantity {
  return exact <= safe && exact >= -safe ? Number(exact) : exact
}

/** Decimal text of an integer, as stores and readers of digits give it. errors: SyntaxError when it is none. */
export function quantityFromText(text: string): Quantity {
  return quantityOf(BigInt(text))
}

/** Whether a value is a quantity: an integer within ±(2^63 − 1), with all its digits. */
export function isQuantity(value: number | bigint): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return value <= quantityMax && value >= -quantityMax
}

/** The exact sum. It may exceed 64 bits: the caller has checked with `fitsUsage`. */
export function addQuantity(one: Quantity, other: Quantity): Quantity {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER) return sum
  }
  return quantityOf(BigInt(one) + BigInt(other))
}

/** The exact difference. */
export function subtractQuantity(one: Quantity, other: Quantity): Quantity {
  return addQuantity(one, typeof other === 'number' ? 0 - other : -other)
}

/** The exact product. It may be beyond 64 bits. */
export function multiplyQuantity(one: Quantity, other: Quantity): Quantity {
  return quantityOf(BigInt(one) * BigInt(other))
}

export function lesserQuantity(one: Quantity, other: Quantity): Quantity {
  return other < one ? other : one
}

/** The exact sum of many. It may be beyond 64 bits. */
export function sumOf(all: readonly Quantity[]): Quantity {
  return all.reduce(addQuantity, 0)
}

/** A quantity as facts and snapshots keep it. */
export function storedQuantity(quantity: Quantity): StoredQuantity {
  return typeof quantity === 'number' ? quantity : String(quantity)
}

/** A quantity as facts and snapshots kept it. */
export function readQuantity(stored: StoredQuantity): Quantity {
  return typeof stored === 'number' ? stored : quantityFromText(stored)
}

/** The same where there may be none. A bigint column is text too. */
export function quantityOrNull(stored: StoredQuantity | Quantity | null): Quantity | null {
  return typeof stored === 'string' ? quantityFromText(stored) : stored
}

/** A quantity where there may be none, as it is kept. */
export function storedOrNull(quantity: Quantity | null): StoredQuantity | null {
  return quantity === null ? null : storedQuantity(quantity)
}

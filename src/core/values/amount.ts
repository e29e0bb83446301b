// Exact credits: bigint counts of a billionth of a credit (CR-2), and the exact decimals they are made from.
// bigint was measured against a pair of limbs and against number-or-string (bench/core/amount.bench.ts).
import type { Quantity } from './quantity.js'

/** Nano-credits: 1 credit is 1_000_000_000n. Survives structuredClone; in JSON it is spelled as `Nanos`. */
export type Amount = bigint

/**
 * An amount in JSON (facts, snapshots): nano-credits as an integer while it is a safe one, else as its decimal
 * digits in a string. `decodeAmount` reads both.
 */
export type Nanos = number | string

/** An exact decimal: units × 10^-scale, scale ≥ 0. */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

const digitsAfterPoint = 9
const nanosPerCredit = 1_000_000_000
const largest = BigInt(Number.MAX_SAFE_INTEGER)
const smallest = -largest
/** Below this a count of nanos has at most 15 digits, and every decimal of 15 digits is a double of its own. */
const exactBelow = 1e15

export function encodeAmount(amount: Amount): Nanos {
  return amount <= largest && amount >= smallest ? Number(amount) : amount.toString()
}

export function decodeAmount(nanos: Nanos): Amount {
  return nanos === 0 ? 0n : BigInt(nanos)
}

export function lesser(a: Amount, b: Amount): Amount {
  return b < a ? b : a
}

/** Whole credits, at most 2^53 - 1, as an amount. */
export function wholeCredits(count: number): Amount {
  return BigInt(count) * 1_000_000_000n
}

/**
 * The amount of a JSON number, read as its shortest decimal; finer than nine digits is rounded half-even.
 * Throws RangeError unless finite. source: CR-2
 */
export function amountFromNumber(value: number): Amount {
  const nanos = nanosOf(value)
  return nanos === null ? roundHalfEven(decimalOf(value), digitsAfterPoint) : BigInt(nanos)
}

/** The amount of a decimal text ("12.5", "-3", "1e-7"), rounded half-even to nine digits; null when it is none. */
export function amountFromDecimal(text: string): Amount | null {
  const decimal = parseDecimal(text)
  return decimal === null ? null : roundHalfEven(decimal, digitsAfterPoint)
}

/**
 * Credits of `quantity` units at `rate` credits each: exact, then rounded half-even to nine digits.
 * Both are read as their shortest decimal; a negative quantity gives a negative amount. source: CR-2, CR-48
 */
export function costOf(quantity: Quantity, rate: number): Amount {
  const nanos = nanosOf(rate)
  if (nanos !== null && typeof quantity === 'bigint') return quantity * BigInt(nanos)
  if (nanos !== null && Number.isSafeInteger(quantity)) {
    const product = (quantity as number) * nanos
    return Number.isSafeInteger(product) ? BigInt(product) : BigInt(quantity) * BigInt(nanos)
  }
  return roundHalfEven(
    multiply(
      typeof quantity === 'bigint' ? { units: quantity, scale: 0 } : decimalOf(quantity),
      decimalOf(rate),
    ),
    digitsAfterPoint,
  )
}

/** The double nearest to an amount: exact up to 15 digits. For JSON replies. */
export function amountToNumber(amount: Amount): number {
  return amount <= largest && amount >= smallest
    ? Number(amount) / nanosPerCredit
    : Number(amountToDecimal(amount))
}

/** An amount as its shortest exact decimal, which is also a JSON number. */
export function amountToDecimal(amount: Amount): string {
  return decimalToText({ units: amount, scale: digitsAfterPoint })
}

/** `amountToDecimal` of an amount as JSON keeps it, without the detour of a bigint where it fits a number. */
export function nanosToDecimal(nanos: Nanos): string {
  if (typeof nanos === 'string') return amountToDecimal(BigInt(nanos))
  const part = nanos % nanosPerCredit
  if (part === 0) return `${nanos / nanosPerCredit}`
  if (nanos < 0) return `-${nanosToDecimal(-nanos)}`
  let digits = digitsAfterPoint
  let left = part
  for (; left % 10 === 0; left /= 10) digits--
  return `${(nanos - part) / nanosPerCredit}.${`${left}`.padStart(digits, '0')}`
}

/** Nanos of a number that has them exactly and safely, else null. Saves the parsing of nearly every rate. */
function nanosOf(value: number): number | null {
  const nanos = Math.round(value * nanosPerCredit)
  // -0 is 0 here: BigInt has no other.
  return nanos < exactBelow && nanos > -exactBelow && nanos / nanosPerCredit === value ? nanos : null
}

/** The shortest decimal that reads back to this double. Throws RangeError unless finite. */
export function decimalOf(value: number): Decimal {
  const decimal = parseDecimal(String(value))
  if (decimal === null) throw new RangeError(`not a finite number: ${value}`)
  return decimal
}

const decimalText = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/

/** An exact decimal from text; null when the text is none. At most 200 characters. */
export function parseDecimal(text: string): Decimal | null {
  const match = text.length <= 200 ? decimalText.exec(text) : null
  if (match === null) return null
  const fraction = match[3] ?? ''
  const units = BigInt(match[2] + fraction)
  const scale = fraction.length - Number(match[4] ?? 0)
  const signed = match[1] === '-' ? -units : units
  return scale >= 0 ? { units: signed, scale } : { units: signed * 10n ** BigInt(-scale), scale: 0 }
}

/** The shortest text of an exact decimal: no exponent, no trailing zeros, "0" rather than "-0". */
export function decimalToText(decimal: Decimal): string {
  const negative = decimal.units < 0n
  const digits = (negative ? -decimal.units : decimal.units).toString().padStart(decimal.scale + 1, '0')
  const point = digits.length - decimal.scale
  const fraction = digits.slice(point).replace(/0+$/, '')
  const text = fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
  return negative ? `-${text}` : text
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale }
}

export function sum(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale }
}

function unitsAt(decimal: Decimal, scale: number): bigint {
  return decimal.units * 10n ** BigInt(scale - decimal.scale)
}

/** Units of a decimal at `scale` digits after the point, ties to the even one. */
export function roundHalfEven(decimal: Decimal, scale: number): bigint {
  if (decimal.scale <= scale) return unitsAt(decimal, scale)
  const divisor = 10n ** BigInt(decimal.scale - scale)
  const negative = decimal.units < 0n
  const magnitude = negative ? -decimal.units : decimal.units
  const whole = magnitude / divisor
  const twice = (magnitude % divisor) * 2n
  const up = twice > divisor || (twice === divisor && (whole & 1n) === 1n)
  const rounded = up ? whole + 1n : whole
  return negative ? -rounded : rounded
}

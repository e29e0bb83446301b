// Exact fractions for money: shares of periods are rarely decimals. Rounded once, at the end of a line.
import { parseDecimal } from '../values/amount.js'

/** n ÷ d, d > 0. Not reduced: a line multiplies a few factors. */
export interface Fraction {
  readonly n: bigint
  readonly d: bigint
}

export const zero: Fraction = { n: 0n, d: 1n }

/** A decimal text as a fraction. Throws RangeError on other text: schemas have excluded it. */
export function fractionOf(text: string): Fraction {
  const decimal = parseDecimal(text)
  if (decimal === null) throw new RangeError(`not a decimal: ${text}`)
  return { n: decimal.units, d: 10n ** BigInt(decimal.scale) }
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return a.d === b.d ? { n: a.n + b.n, d: a.d } : { n: a.n * b.d + b.n * a.d, d: a.d * b.d }
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, { n: -b.n, d: b.d })
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.n, d: a.d * b.d }
}

/**
 * The nearest whole number; halves go away from zero, so that a credit is as large as the charge it takes back.
 *
 * source  RA-2, PB-41.
 */
export function roundHalfUp({ n, d }: Fraction): bigint {
  const doubled = 2n * n + (n < 0n ? -d : d)
  return doubled / (2n * d)
}

/** Digits after the point of an amount that no decimal text holds exactly. source: RA-2 */
const digitsMax = 12

/** The shortest decimal text: exact where the fraction is a decimal of at most 12 digits, else rounded to 12. */
export function fractionText({ n, d }: Fraction): string {
  const scaled = roundHalfUp({ n: n * 10n ** BigInt(digitsMax), d })
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(digitsMax + 1, '0')
  const fraction = digits.slice(-digitsMax).replace(/0+$/, '')
  const whole = digits.slice(0, -digitsMax)
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

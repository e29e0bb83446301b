// Versions as texts, and their order (FE-69): numbers by value, a pre-release before its release.

/** A version, read. */
export interface Version {
  /** Decimal digits without leading zeros, "" for zero; zeros at the end are dropped, so that 1.2 is 1.2.0. */
  readonly numbers: readonly string[]
  /** Identifiers of the pre-release; none for a release. */
  readonly pre: readonly string[]
}

// Each text matches in one way, so it is read in one pass.
const form =
  /^[vV]?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/

/**
 * A text as a version, or null when it is none: numbers between dots, as many as there are; a pre-release after `-`; a
 * build after `+`, which has no part in the order; `v` before it is dropped.
 *
 * source  FE-69: semantic versions 2.0, and any count of numbers.
 */
export function readVersion(text: string): Version | null {
  const found = form.exec(text)
  if (found === null) return null
  const numbers = found[1]!.split('.').map(digits => digits.replace(/^0+/, ''))
  while (numbers.at(-1) === '') numbers.pop()
  return { numbers, pre: found[2]?.split('.') ?? [] }
}

/** Below zero: left is earlier. Zero: neither is. */
export function compareVersions(left: Version, right: Version): number {
  const count = Math.max(left.numbers.length, right.numbers.length)
  for (let i = 0; i < count; i++) {
    const order = compareDigits(left.numbers[i] ?? '', right.numbers[i] ?? '')
    if (order !== 0) return order
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length
  return comparePre(left.pre, right.pre)
}

function comparePre(left: readonly string[], right: readonly string[]): number {
  const shorter = Math.min(left.length, right.length)
  for (let i = 0; i < shorter; i++) {
    const [a, b] = [left[i]!, right[i]!]
    if (a === b) continue
    const order = compareIdentifiers(a, b)
    if (order !== 0) return order
  }
  return left.length - right.length
}

const digits = /^\d+$/

/** Numbers by value and before words; words in the order of ASCII. */
function compareIdentifiers(left: string, right: string): number {
  const [isLeft, isRight] = [digits.test(left), digits.test(right)]
  if (isLeft !== isRight) return isLeft ? -1 : 1
  if (isLeft) return compareDigits(left.replace(/^0+/, ''), right.replace(/^0+/, ''))
  return left < right ? -1 : 1
}

/** Numbers of any length by value, without leading zeros. */
function compareDigits(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length
  if (left === right) return 0
  return left < right ? -1 : 1
}

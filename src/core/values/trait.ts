// Traits: how a trait's text is read as string, number, bool or date, and compared (FE-60…68).
import type { ComparableOperator, ComparableType, EntityType, TraitType } from '../../../schemas/enums.js'
import { dayMs, daysIn, daysOf } from './period.js'
import { addQuantity, type Quantity, quantityOf } from './quantity.js'
import { compareVersions, readVersion, type Version } from './version.js'

/** A trait definition as conditions need it. */
export interface TraitRef {
  readonly id: string
  readonly entityType: EntityType
  /** The hierarchy joined by ".": how an entity stores it. */
  readonly name: string
  readonly comparableType: ComparableType
}

/** A trait condition's test of the left text, ready to run. */
type TextTest = (left: string) => boolean

/** How values of a trait type compare (FE-67). */
export function comparableType(type: TraitType): ComparableType {
  switch (type) {
    case 'number':
    case 'currency':
      return 'int'
    case 'boolean':
      return 'bool'
    case 'date':
      return 'date'
    case 'string':
    case 'url':
      return 'string'
  }
}

/**
 * Compare two texts as a type.
 *
 * returns  false for a type or operator that is not known.
 * source   FE-63…66, FE-69.
 */
export function compareTexts(
  type: ComparableType,
  operator: ComparableOperator,
  left: string,
  right: string,
): boolean {
  switch (type) {
    case 'string':
      return compareStrings(operator, left, right)
    case 'int':
      return compareNumbers(operator, readNumber(left), readNumber(right))
    case 'bool':
      return compareBools(operator, readBool(left), readBool(right))
    case 'date':
      return compareInstants(operator, readInstant(left), readInstant(right))
    case 'version':
      return testVersions(operator, readVersion(left), readVersion(right))
  }
  // data of a newer build may hold one that this build does not know
  void (type satisfies never)
  return false
}

/** The same against a literal, which is read once. */
export function testAgainst(type: ComparableType, operator: ComparableOperator, literal: string): TextTest {
  switch (type) {
    case 'string':
      if (operator === 'eq') return left => left === literal
      if (operator === 'ne') return left => left !== literal
      return left => compareStrings(operator, left, literal)
    case 'int': {
      const right = readNumber(literal)
      return left => compareNumbers(operator, readNumber(left), right)
    }
    case 'bool': {
      const right = readBool(literal)
      return left => compareBools(operator, readBool(left), right)
    }
    case 'date': {
      const right = readInstant(literal)
      return left => compareInstants(operator, readInstant(left), right)
    }
    case 'version': {
      const right = readVersion(literal)
      return left => testVersions(operator, readVersion(left), right)
    }
  }
  // data of a newer build may hold one that this build does not know
  void (type satisfies never)
  return () => false
}

/** FE-63: byte-wise; JavaScript orders by UTF-16 unit, which differs from UTF-8 above U+D7FF. */
function compareStrings(operator: ComparableOperator, left: string, right: string): boolean {
  switch (operator) {
    case 'eq':
      return left === right
    case 'ne':
      return left !== right
    case 'gt':
      return byteOrder(left, right) > 0
    case 'gte':
      return byteOrder(left, right) >= 0
    case 'lt':
      return byteOrder(left, right) < 0
    case 'lte':
      return byteOrder(left, right) <= 0
    case 'is_empty':
      return left === ''
    case 'not_empty':
      return left !== ''
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

/** Order of two texts by their UTF-8 bytes. */
export function byteOrder(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length)
  for (let i = 0; i < shorter; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a !== b) return byteRank(a) - byteRank(b)
  }
  return left.length - right.length
}

/** Surrogates represent code points beyond U+FFFF, so they rank above every other unit. */
function byteRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/**
 * A text as a number.
 *
 * returns  integer texts within 64 bits exactly, as bigint where a double could not hold them; other finite
 *          decimals as double; anything else 0.
 * source   FE-64.
 */
export function readNumber(text: string): number | bigint {
  const integer = readInteger(text)
  if (integer !== null) return integer
  if (!decimal.test(text)) return 0
  const value = Number(text)
  return Number.isFinite(value) ? value : 0
}

// Each text matches in one way: one of a million digits and a letter is refused in one pass (security H5).
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** A text that is an integer within 64 bits (optional sign, digits), or null. Longer ones never become a bigint. */
function readInteger(text: string): Quantity | null {
  const sign = text.charCodeAt(0)
  const first = sign === 43 || sign === 45 ? 1 : 0
  const digits = text.length - first
  if (digits < 1) return null
  let value = 0
  for (let i = first; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return null
    value = value * 10 + digit
    if (value > beyondLong) return null
  }
  if (digits <= 15) return sign === 45 && value !== 0 ? -value : value
  // without leading zeros it has 19 digits at most
  const size = BigInt(text.slice(first).replace(/^0+(?=\d)/, ''))
  const exact = sign === 45 ? -size : size
  if (exact !== BigInt.asIntN(64, exact)) return null
  return quantityOf(exact)
}

/** More than any integer of 64 bits. */
const beyondLong = 1e19

/**
 * A text that is an integer within 64 bits, or null: the strict reading of limits, usage and preflight bases.
 *
 * source  FE-68.
 */
export function strictInteger(text: string): Quantity | null {
  return readInteger(text)
}

/** FE-84: the strict reading of a text plus preflight usage, as a number to compare. */
export function plusUsage(text: string, usage: Quantity): Quantity {
  return addQuantity(readInteger(text) ?? 0, usage)
}

/** FE-64; also metric conditions (FE-40), whose sides are integers. */
export function compareNumbers(
  operator: ComparableOperator,
  left: number | bigint,
  right: number | bigint,
): boolean {
  if (typeof left !== typeof right) {
    // one is no integer text, so both are read as decimals
    left = Number(left)
    right = Number(right)
  }
  switch (operator) {
    case 'eq':
      return left === right
    case 'ne':
      return left !== right
    case 'gt':
      return left > right
    case 'gte':
      return left >= right
    case 'lt':
      return left < right
    case 'lte':
      return left <= right
    case 'is_empty':
      return left === 0
    case 'not_empty':
      return left > 0
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

/** FE-65. */
function readBool(text: string): boolean {
  return text === 'true' || text === '1'
}

function compareBools(operator: ComparableOperator, left: boolean, right: boolean): boolean {
  switch (operator) {
    case 'eq':
      return left === right
    case 'ne':
      return left !== right
    case 'not_empty':
      return true
    case 'gt':
    case 'gte':
    case 'is_empty':
    case 'lt':
    case 'lte':
      return false
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

/** An instant to the nanosecond. */
export interface Instant {
  readonly ms: number
  /** Nanoseconds beyond `ms`, 0…999 999. */
  readonly nanos: number
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const plain = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?: UTC|Z)?)?$/
const worded =
  /^(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d\d) (\d{4})(?: (\d\d):(\d\d):(\d\d)(?: UTC| GMT([+-])(\d\d)(\d\d))(?: \([^()]*\))?)?$/
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * A text as an instant, or null when it is none.
 *
 * source  FE-66. Digits of a fraction beyond nanoseconds are dropped; a leap second is no instant.
 */
export function readInstant(text: string): Instant | null {
  const exact = rfc3339.exec(text)
  if (exact) {
    const [, y, mo, d, h, mi, s, fraction = '', sign, oh, om] = exact
    const ms = instantMs(y!, mo!, d!, h, mi, s, sign, oh, om)
    if (ms === null) return null
    const nanos = Number(fraction.slice(0, 9).padEnd(9, '0'))
    return { ms: ms + Math.floor(nanos / 1_000_000), nanos: nanos % 1_000_000 }
  }
  const simple = plain.exec(text)
  if (simple) {
    const [, y, mo, d, h, mi, s] = simple
    const ms = instantMs(y!, mo!, d!, h, mi, s)
    return ms === null ? null : { ms, nanos: 0 }
  }
  const words = worded.exec(text)
  if (words) {
    const [, name, d, y, h, mi, s, sign, oh, om] = words
    const ms = instantMs(y!, String(months.indexOf(name!) + 1), d!, h, mi, s, sign, oh, om)
    return ms === null ? null : { ms, nanos: 0 }
  }
  return null
}

function instantMs(
  year: string,
  month: string,
  day: string,
  hour = '0',
  minute = '0',
  second = '0',
  sign?: string,
  offsetHour = '0',
  offsetMinute = '0',
): number | null {
  const [y, mo, d, h, mi, s] = [+year, +month, +day, +hour, +minute, +second]
  const [oh, om] = [+offsetHour, +offsetMinute]
  if (mo < 1 || mo > 12 || d < 1 || d > daysIn(y, mo)) return null
  if (h > 23 || mi > 59 || s > 59 || oh > 23 || om > 59) return null
  const offsetMs = (oh * 60 + om) * 60_000
  const localMs = daysOf(y, mo, d) * dayMs + ((h * 60 + mi) * 60 + s) * 1_000
  return sign === '-' ? localMs + offsetMs : localMs - offsetMs
}

/** FE-66: none is before every instant for `lt` and after none for `gt`; both none are equal. */
function compareInstants(operator: ComparableOperator, left: Instant | null, right: Instant | null): boolean {
  switch (operator) {
    case 'eq':
      return sameInstant(left, right)
    case 'ne':
      return !sameInstant(left, right)
    case 'gt':
      return later(left, right)
    case 'gte':
      return sameInstant(left, right) || later(left, right)
    case 'lt':
      return earlier(left, right)
    case 'lte':
      return sameInstant(left, right) || earlier(left, right)
    case 'is_empty':
      return left === null
    case 'not_empty':
      return left !== null
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

/** FE-69: a text that is no version is neither equal to one nor before or after it. */
function testVersions(operator: ComparableOperator, left: Version | null, right: Version | null): boolean {
  const order = left === null || right === null ? Number.NaN : compareVersions(left, right)
  switch (operator) {
    case 'eq':
      return order === 0
    case 'ne':
      return order !== 0
    case 'gt':
      return order > 0
    case 'gte':
      return order >= 0
    case 'lt':
      return order < 0
    case 'lte':
      return order <= 0
    case 'is_empty':
      return left === null
    case 'not_empty':
      return left !== null
  }
  // data of a newer build may hold one that this build does not know
  operator satisfies never
  return false
}

function sameInstant(left: Instant | null, right: Instant | null): boolean {
  return left?.ms === right?.ms && left?.nanos === right?.nanos
}

function later(left: Instant | null, right: Instant | null): boolean {
  if (left === null) return false
  if (right === null) return true
  return left.ms > right.ms || (left.ms === right.ms && left.nanos > right.nanos)
}

function earlier(left: Instant | null, right: Instant | null): boolean {
  if (right === null) return false
  if (left === null) return true
  return left.ms < right.ms || (left.ms === right.ms && left.nanos < right.nanos)
}

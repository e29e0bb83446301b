// Quantities as members of answers: type `long` on the wire.
import type { IValidation } from 'typia'
import {
  isQuantity,
  type Quantity,
  quantityOrNull,
  readQuantity,
  type StoredQuantity,
} from '../core/values/quantity.js'
import { mayBeRounded, parseExactly } from '../json.js'

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

/** The same where there may be none. */
export function storedLongOrNull(quantity: Quantity | StoredQuantity | null): number | null {
  return long(quantityOrNull(quantity))
}

/** Members of bodies that are `long` and have 64 bits. A body read by `exactly` has no others of these names, but doubles that its schema keeps within 2^53. */
const longMembers = [
  'value_numeric',
  'soft_limit',
  'usage_quantity',
  'metric_value',
  'priority',
  'incr',
  'up_to',
  'usage',
  'quantity',
  'amount_due',
  'amount_paid',
  'amount_remaining',
  'subtotal',
  'starting_balance',
  'ending_balance',
  'price',
  'total_price',
  'flat_amount',
  'per_unit_price',
  'price_per_unit',
  'unit_price',
  'postpaid_rate_per_unit',
  'monthly_price',
  'one_time_price',
  'quarterly_price',
  'yearly_price',
  'monthly_unit_price',
  'quarterly_unit_price',
  'yearly_unit_price',
  'billing_threshold',
  'amount_off',
  'duration_in_months',
  'max_redemptions',
  'times_redeemed',
  'overdraft_limit',
] as const
const members: ReadonlySet<string> = new Set(longMembers)

/** A body with its `long` members as they are read: a bigint beyond ±(2^53 − 1), which a schema of JSON cannot say. */
export type Exact<Body> = unknown extends Body
  ? Body
  : Body extends string | number | boolean | null | undefined
    ? Body
    : Body extends readonly (infer Item)[]
      ? Exact<Item>[]
      : {
          [Name in keyof Body]: Name extends (typeof longMembers)[number]
            ? Body[Name] | bigint
            : Exact<Body[Name]>
        }

/** Validate a body with the exact quantities that `exactly` kept. */
export function validExactly<Body>(
  validate: (body: unknown) => IValidation<Body>,
  body: unknown,
): IValidation<Exact<Body>> {
  const valid = validate(rounded(body))
  return (valid.success ? { ...valid, data: body } : valid) as unknown as IValidation<Exact<Body>>
}

function rounded(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)]))
}

/**
 * A parser that keeps the digits of the body's `long` members, which JSON.parse rounds.
 *
 * parse    the parser of the body: its schema bounds these members by 64 bits alone.
 * part     the part of a body that has such members; null: this body has none. Absent: the whole.
 * returns  the body, a member beyond ±(2^53 − 1) as bigint; invalid where one is beyond ±(2^63 − 1), or that large and
 *          not written as plain digits.
 */
export function exactly<Body>(
  parse: (text: string) => IValidation<Body>,
  part: (body: Body) => unknown = body => body,
): (text: string) => IValidation<Exact<Body>> {
  return text => {
    const parsed = parse(text)
    if (parsed.success && holdsRounded(part(parsed.data))) {
      const errors: IValidation.IError[] = []
      putDigits(parsed.data, parseExactly(text, members), '$input', errors)
      if (errors.length > 0) return { success: false, data: parsed.data, errors }
    }
    return parsed as unknown as IValidation<Exact<Body>>
  }
}

/**
 * A parser that keeps the digits of whole numbers beyond ±(2^53 − 1) in traits, as bigints (CU-32).
 *
 * names  the members of the body that are maps of traits.
 */
export function exactTraits<Body extends object>(
  parse: (text: string) => IValidation<Body>,
  ...names: readonly (keyof Body & string)[]
): (text: string) => IValidation<Body> {
  return text => {
    const parsed = parse(text)
    if (!parsed.success || !mayBeRounded(text)) return parsed
    const exact = parseExactly(text) as Body
    for (const name of names) if (parsed.data[name] != null) parsed.data[name] = exact[name]
    return parsed
  }
}

const isRounded = (name: string, value: unknown): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && members.has(name)

function holdsRounded(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, one]) => isRounded(name, one) || holdsRounded(one))
}

/** Puts the digits of `exact` in the place of the rounded numbers of the same body. */
function putDigits(body: unknown, exact: unknown, path: string, errors: IValidation.IError[]): void {
  if (typeof body !== 'object' || body === null || typeof exact !== 'object' || exact === null) return
  for (const [name, value] of Object.entries(body)) {
    const at = `${path}.${name}`
    const digits: unknown = Reflect.get(exact, name)
    if (!isRounded(name, value)) putDigits(value, digits, at, errors)
    else if (typeof digits === 'bigint' && isQuantity(digits)) Reflect.set(body, name, digits)
    else errors.push({ path: at, expected: 'an integer of 64 bits', value })
  }
}

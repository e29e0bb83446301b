// The type of an entitlement's value where a body does not state it.
import type { EntitlementValueWrite } from '../../../schemas/entitlements.js'
import type { EntitlementPriceBehavior, EntitlementValueType } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Exact } from '../../kit/long.js'
import type { FeatureRow } from '../flags/feature-view.js'

/** A body's value, whose type may be left out. */
type UntypedValue = Exact<Omit<EntitlementValueWrite, 'value_type'>> & {
  readonly value_type?: EntitlementValueType | undefined
  readonly price_behavior?: EntitlementPriceBehavior | null | undefined
}

const typeOfMember = {
  value_bool: 'boolean',
  value_numeric: 'numeric',
  value_trait_id: 'trait',
  value_credit_id: 'credit',
} as const

const typeOfBehavior = {
  pay_in_advance: 'trait',
  credit_burndown: 'credit',
  pay_as_you_go: 'unlimited',
  overage: 'unlimited',
  tier: 'unlimited',
} as const satisfies Record<EntitlementPriceBehavior, EntitlementValueType>

/**
 * The body of a new entitlement or override with its value type. Without one, the value that is given says it, then the
 * price behaviour; a boolean feature is granted.
 *
 * errors  400 where none of these says it, or two values are given.
 * source  EN-18, EN-30, decision 41.
 */
export function withValueType<Body extends UntypedValue>(
  feature: Pick<FeatureRow, 'feature_type'>,
  body: Body,
): Body & Exact<EntitlementValueWrite> {
  const given = withGivenType(body)
  if (given.value_type !== undefined) return { ...given, value_type: given.value_type }
  if (given.price_behavior != null) return { ...given, value_type: typeOfBehavior[given.price_behavior] }
  if (feature.feature_type === 'boolean') return { ...given, value_type: 'boolean', value_bool: true }
  throw new ServiceError(
    'value_invalid',
    'value_type: needed by a new entitlement without a value: numeric with value_numeric, or unlimited',
  )
}

/**
 * The body of a write with the type of the one value that it gives; unchanged where it states a type or gives no value.
 * So a value of another type alone changes the type of an entitlement or override.
 *
 * errors  400 where two values are given.
 * source  decision 41.
 */
export function withGivenType<Body extends UntypedValue>(given: Body): Body {
  if (given.value_type !== undefined) return given
  const members = Object.keys(typeOfMember) as (keyof typeof typeOfMember)[]
  const [member, another] = members.filter(name => given[name] != null)
  if (another !== undefined)
    throw new ServiceError('value_invalid', `value_type: needed where ${member} and ${another} are given`)
  return member === undefined ? given : { ...given, value_type: typeOfMember[member] }
}

/** Refuses with 400 an update whose value the price behaviour that it keeps has no use for: decision 41. */
export function requireUsed(given: UntypedValue, behavior: EntitlementPriceBehavior | null): void {
  if (behavior === null || given.price_behavior !== undefined || given.value_type !== undefined) return
  const told = withGivenType(given).value_type
  const fixed = typeOfBehavior[behavior]
  if (told === undefined || told === fixed || (told === 'numeric' && fixed === 'unlimited')) return
  throw new ServiceError('value_invalid', `value_type: ${told} does not go with price_behavior ${behavior}`)
}

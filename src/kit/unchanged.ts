// The meaning of updates: absent members are unchanged, null clears (decision 26). Every update uses these
// functions, so that all routes agree.

import type { IValidation } from 'typia'
import { ServiceError } from '../errors.js'

/** One member of an update: absent is unchanged, null clears. */
export function kept<T>(input: T | undefined, had: T): T {
  return input === undefined ? had : input
}

/**
 * Complete an update with the present members of the object.
 *
 * given    the update; undefined is absent.
 * had      the members of a body that would write the object unchanged.
 * exact    pairs of members for one amount, the second exact (PB-41). A new amount without its decimal replaces both;
 *          an equal amount changes neither.
 * returns  null where the body clears. The caller decides what a cleared member means.
 */
export function whole<Given extends object, Had extends object>(
  given: Given,
  had: Had,
  exact: readonly (readonly [amount: keyof Given & keyof Had, decimal: keyof Given & keyof Had])[] = [],
): Said<Given, Had> {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const restated = exact.filter(
    ([amount, decimal]) =>
      given[amount] !== undefined && given[decimal] === undefined && !same(given[amount], had[amount]),
  )
  const dropped = Object.fromEntries(restated.map(([, decimal]) => [decimal, null]))
  // spreading defines own members, so "__proto__" is an ordinary name
  return { ...had, ...said, ...dropped } as unknown as Said<Given, Had>
}

/** Members that are certainly present, and members that only the body may have. */
type Said<Given, Had> = Omit<Given, keyof Had> & {
  [Member in keyof Had]: Member extends keyof Given
    ? Had[Member] | Exclude<Given[Member], undefined>
    : Had[Member]
}

function same(given: unknown, had: unknown): boolean {
  return given === had || (given == null && had == null)
}

/**
 * The complete body of an upsert: completed from the existing object, or, for a new one, required to pass `validate`.
 *
 * errors  400 naming the first required member that is missing or cleared.
 */
export function told<Body extends object>(
  given: Partial<Body>,
  had: Partial<Body> | null,
  validate: (body: unknown) => IValidation<Body>,
): Body {
  const said = validate(had ? whole(given, had) : given)
  if (said.success) return said.data
  const [first] = said.errors
  const member = first?.path.replace('$input.', '') ?? 'body'
  throw new ServiceError('value_invalid', `${member}: needed${had ? '' : ' by a new one'}`)
}

// What an update says: what it leaves out is as it was, null clears (decision 26). Every update passes here, so that no
// route has a meaning of its own for a member that is absent.

import type { IValidation } from 'typia'
import { ServiceError } from '../../errors.js'

/** One member of an update: absent is as it was, null clears. */
export function kept<T>(given: T | undefined, had: T): T {
  return given === undefined ? had : given
}

/**
 * The body of an update as if all of it had been said.
 *
 * given    as it came; undefined is absent.
 * had      what a body would say of the object as it is: the members that would write it again.
 * exact    members that say one amount twice, the second exactly (PB-41): another amount without its decimal takes the
 *          place of both, the same amount says nothing new.
 * returns  null where the body clears; what a cleared member comes to is the business of who settles the body.
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
  // spreading defines members, so that "__proto__" is a name like any other
  return { ...had, ...said, ...dropped } as unknown as Said<Given, Had>
}

/** What is there for certain in the one, and what only the other may say. */
type Said<Given, Had> = Omit<Given, keyof Had> & {
  [Member in keyof Had]: Member extends keyof Given
    ? Had[Member] | Exclude<Given[Member], undefined>
    : Had[Member]
}

function same(given: unknown, had: unknown): boolean {
  return given === had || (given == null && had == null)
}

/**
 * The body of an upsert: of what is there already it says what it says; of something new it has to say all that its
 * `validate` asks for.
 *
 * errors  400 naming the first member that is missing or cleared although it is needed.
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

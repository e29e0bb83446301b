// Defaults of members that a body may leave out, put in before its handler sees it.
import type { IValidation } from 'typia'

/**
 * A parser that gives absent and null members their defaults.
 *
 * parse     the parser of the body as callers send it.
 * defaults  the members, or a function of the body that makes them.
 * returns   the body with them. Its faults are those of `parse`.
 * source    decision 41.
 */
export function filled<Body extends object, Defaults extends object>(
  parse: (text: string) => IValidation<Body>,
  defaults: Defaults | ((body: Body) => Defaults),
): (text: string) => IValidation<Filled<Body, Defaults>> {
  const made = typeof defaults === 'function' ? (defaults as (body: Body) => Defaults) : () => defaults
  return text => {
    const parsed = parse(text)
    if (!parsed.success) return parsed
    const given = Object.entries(parsed.data).filter(([, value]) => value != null)
    // null stays where no default stands: there it clears or means none
    const data = { ...parsed.data, ...made(parsed.data), ...Object.fromEntries(given) }
    return { ...parsed, data: data as unknown as Filled<Body, Defaults> }
  }
}

/** A body with the members of its defaults present. */
type Filled<Body, Defaults> = Omit<Body, keyof Defaults> & {
  [Name in keyof Defaults & keyof Body]: Exclude<Body[Name], null | undefined>
}

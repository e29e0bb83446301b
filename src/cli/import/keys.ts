// Keys of companies and users in records: as text, for people, and as a query.
import type { Row } from './members.js'

/** Keys as text, whatever their order. */
export function keysText(keys: unknown): string {
  return JSON.stringify(Object.entries((keys ?? {}) as Row).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Keys for people: `slug=acme`. */
export function keysLabel(keys: unknown): string {
  return Object.entries((keys ?? {}) as Row)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

/** The query of a lookup by keys. */
export function keysQuery(keys: unknown): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries((keys ?? {}) as Row)) query.set(`keys[${name}]`, String(value))
  return query.toString()
}

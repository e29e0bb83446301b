// Bounds of one company or user, held in every way of writing: the API, events, batches and imports (security 7; the
// numbers are decisions). Data stored before these bounds stays, and may shrink.
import type { NamedTexts } from '../values/text-map.js'

/** Keys of an entity, and of one call or event. */
export const keysMax = 100
/** Traits of an entity. */
export const traitsMax = 1_000
/** Characters of the names and values of its traits, together. */
const traitsLengthMax = 1_048_576
/** Removed traits whose time is remembered; beyond it the oldest is forgotten. */
export const removedTraitsMax = 1_000
/** The same of the traits that publishable keys wrote of it (security H4). */
export const clientTraitsLengthMax = 65_536
/** Names of events that a company has counters of. A view of it has some two kilobytes of figures for each (security H6). */
export const eventNamesMax = 1_000
/** Names among them whose figures a view shows unless all are asked for: those used last. source: decision */
export const shownEventNamesMax = 100

/**
 * Why a change of traits would make an entity too large, or null.
 *
 * writes     each name at most once more than it is there; null removes.
 * lengthMax  characters of all names and values.
 */
export function traitsRefusal(
  traits: NamedTexts,
  writes: readonly { readonly name: string; readonly value: string | null }[],
  lengthMax = traitsLengthMax,
): string | null {
  if (writes.length === 0) return null
  let count = traits.size
  let added = 0
  const seen = new Map<string, string | null | undefined>()
  for (const { name, value } of writes) {
    const had = seen.has(name) ? seen.get(name) : traits.text(name)
    seen.set(name, value)
    if (had == null && value !== null) count++
    if (had != null && value === null) count--
    added += lengthOf(name, value) - lengthOf(name, had ?? null)
  }
  if (count > traitsMax && count > traits.size) return `traits: more than ${traitsMax}`
  if (added <= 0) return null
  let length = added
  for (const [name, { value }] of traits) length += lengthOf(name, value)
  return length > lengthMax ? `traits: more than ${lengthMax} characters together` : null
}

const lengthOf = (name: string, value: string | null): number =>
  value === null ? 0 : name.length + value.length

/** Part of an environment's quota from which on its use is reported. */
export const quotaReportedFrom = 0.9

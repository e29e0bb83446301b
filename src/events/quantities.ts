// Restores quantities beyond 2^53 − 1, which JSON.parse has rounded, from the text.
import { parseExactly } from '../json.js'

/** Members of a track event's body that are `long`. */
export const longMembers: ReadonlySet<string> = new Set(['quantity'])

/**
 * Restore the rounded quantities of a parsed event, list of events or `{events: […]}`.
 *
 * parsed   the result of JSON.parse for the text.
 * returns  the same value, where quantities beyond ±(2^53 − 1), which are rare, are exact bigints.
 */
export function withExactQuantities(parsed: unknown, text: string): unknown {
  const events = eventsOf(parsed)
  let exact: readonly unknown[] | null = null
  for (let i = 0; i < events.length; i++) {
    const part = rounded(events[i])
    if (part === null) continue
    exact ??= eventsOf(parseExactly(text, longMembers))
    part.quantity = partOf(exact[i])!.quantity
  }
  return parsed
}

function eventsOf(parsed: unknown): readonly unknown[] {
  if (Array.isArray(parsed)) return parsed
  if (typeof parsed === 'object' && parsed !== null && 'events' in parsed && Array.isArray(parsed.events))
    return parsed.events
  return [parsed]
}

type Part = { quantity?: unknown }

/** The part of an event with its quantity: its body, or a CloudEvent's data. */
function partOf(event: unknown): Part | null {
  if (typeof event !== 'object' || event === null) return null
  const { body, data } = event as { readonly body?: unknown; readonly data?: unknown }
  const part = body ?? data
  return typeof part === 'object' && part !== null ? part : null
}

/** partOf if the quantity was rounded, else null. */
function rounded(event: unknown): Part | null {
  const part = partOf(event)
  const quantity = part?.quantity
  const isLong =
    typeof quantity === 'number' &&
    (quantity > Number.MAX_SAFE_INTEGER || quantity < -Number.MAX_SAFE_INTEGER)
  return isLong ? part : null
}

// Restores whole numbers of events beyond 2^53 − 1, which JSON.parse has rounded, from the text.
import { parseExactly } from '../json.js'

/**
 * Restore the rounded numbers of a parsed event, list of events or `{events: […]}`: quantities, counts and traits.
 *
 * parsed   the result of JSON.parse for the text.
 * returns  the same value, where those beyond ±(2^53 − 1), which are rare, are exact bigints.
 */
export function withExactQuantities(parsed: unknown, text: string): unknown {
  const events = eventsOf(parsed)
  let exact: readonly unknown[] | null = null
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as Whole
    const part = partOf(event)
    if (part === null || !holdsRounded(part)) continue
    exact ??= eventsOf(parseExactly(text))
    const { body, data } = exact[i] as Whole
    if (event.body === part) event.body = body
    else event.data = data
  }
  return parsed
}

function eventsOf(parsed: unknown): readonly unknown[] {
  if (Array.isArray(parsed)) return parsed
  if (typeof parsed === 'object' && parsed !== null && 'events' in parsed && Array.isArray(parsed.events))
    return parsed.events
  return [parsed]
}

interface Whole {
  body?: unknown
  data?: unknown
}

/** The part of an event with its numbers: its body, or a CloudEvent's data. */
function partOf(event: Whole | null): object | null {
  if (typeof event !== 'object' || event === null) return null
  const part = event.body ?? event.data
  return typeof part === 'object' && part !== null ? part : null
}

/** Whether a whole number in it may have lost digits. */
function holdsRounded(part: object): boolean {
  for (const name in part) {
    const value: unknown = (part as Readonly<Record<string, unknown>>)[name]
    if (typeof value === 'number') {
      if (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER) return true
    } else if (typeof value === 'object' && value !== null && holdsRounded(value)) return true
  }
  return false
}

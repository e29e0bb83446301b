// Restores quantities beyond 2^53 − 1, which JSON.parse has rounded, from the text.
import { parseExactly } from '../json.js'

/** Members of the bodies of track and inference events that are `long`. */
const longNames = [
  'quantity',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_creation_input_tokens',
  'reasoning_tokens',
  'requests',
] as const
const quantityAlone = ['quantity'] as const
export const longMembers: ReadonlySet<string> = new Set(longNames)

/**
 * Restore the rounded quantities and counts of a parsed event, list of events or `{events: […]}`.
 *
 * parsed   the result of JSON.parse for the text.
 * returns  the same value, where those beyond ±(2^53 − 1), which are rare, are exact bigints.
 */
export function withExactQuantities(parsed: unknown, text: string): unknown {
  const events = eventsOf(parsed)
  let exact: readonly unknown[] | null = null
  for (let i = 0; i < events.length; i++) {
    const part = partOf(events[i])
    if (part === null) continue
    const names = part.input_tokens === undefined ? quantityAlone : longNames
    for (const name of names) {
      if (!isRounded(part[name])) continue
      exact ??= eventsOf(parseExactly(text, longMembers))
      part[name] = partOf(exact[i])![name]
    }
  }
  return parsed
}

function eventsOf(parsed: unknown): readonly unknown[] {
  if (Array.isArray(parsed)) return parsed
  if (typeof parsed === 'object' && parsed !== null && 'events' in parsed && Array.isArray(parsed.events))
    return parsed.events
  return [parsed]
}

type Part = { [name in (typeof longNames)[number]]?: unknown }

/** The part of an event with its quantity and counts: its body, or a CloudEvent's data. */
function partOf(event: unknown): Part | null {
  if (typeof event !== 'object' || event === null) return null
  const { body, data } = event as { readonly body?: unknown; readonly data?: unknown }
  const part = body ?? data
  return typeof part === 'object' && part !== null ? part : null
}

function isRounded(value: unknown): boolean {
  return typeof value === 'number' && (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER)
}

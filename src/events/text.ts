// The stored text of an event's body.
import type { EventType } from '../../schemas/enums.js'
import { ServiceError } from '../errors.js'
import { hasHalfPair, jsonText } from '../json.js'
import { assertPlain, depthMax } from '../json-bounds.js'
import { eventBytesMax } from './judge.js'

/**
 * The body as stored: compact JSON within its bound, with text that every store can keep.
 *
 * plain   it is known to pass `assertPlain`.
 * errors  body_malformed, body_invalid (400).
 * source  decision 2.
 */
export function bodyText(body: object, plain: boolean): string {
  const text = compact(body)
  if (text.length > eventBytesMax / 3 && Buffer.byteLength(text) > eventBytesMax)
    throw new ServiceError('body_invalid', `an event is at most ${eventBytesMax} bytes`)
  if (!plain) assertPlain(text, true)
  // Stores would replace it with U+FFFD, and a company with such a key would not be found after a restart (CU-2).
  if (hasHalfPair(text)) throw new ServiceError('body_invalid', 'body: half a surrogate pair is no text')
  return text
}

// Serialising thousands of levels exhausts the stack. The exact level depends on the thread; the refusal does not.
function compact(body: object): string {
  try {
    return jsonText(body)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ServiceError('body_malformed', `The request body is nested deeper than ${depthMax}`)
  }
}

/** The stored text of an event that was never parsed: its first thousand characters (decision 20). */
export function failedBody(event: unknown): string {
  try {
    const text = jsonText(event) ?? 'null'
    return text.length > failedCharactersMax ? whole(text.slice(0, failedCharactersMax)) : text
  } catch {
    return '' // nested too deep to serialise
  }
}

const failedCharactersMax = 1_000

// Drops half of a surrogate pair left by the cut.
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')

/** The type of a failed event as it claims; track if the claim is invalid. */
export function typeOf(event: unknown): EventType {
  const type = typeof event === 'object' && event !== null && 'event_type' in event ? event.event_type : null
  return type === 'identify' || type === 'inference' || type === 'flag_check' ? type : 'track'
}

// What is kept of an event's body, as text.
import type { EventType } from '../../schemas/enums.js'
import { ServiceError } from '../errors.js'
import { assertPlain, depthMax, hasHalfPair, jsonText } from '../json.js'
import { eventBytesMax } from './judge.js'

/**
 * The body as it is stored: compact JSON within its bound, nothing that no store can keep.
 *
 * plain   it is known to hold nothing that `assertPlain` refuses.
 * errors  body_malformed, body_invalid (400).
 * source  decision 2.
 */
export function bodyText(body: object, plain: boolean): string {
  const text = compact(body)
  if (text.length > eventBytesMax / 3 && Buffer.byteLength(text) > eventBytesMax)
    throw new ServiceError('body_invalid', `an event is at most ${eventBytesMax} bytes`)
  if (!plain) assertPlain(text)
  // Stores would keep it as U+FFFD: a company named by it would not be found again after a restart (CU-2).
  if (hasHalfPair(text)) throw new ServiceError('body_invalid', 'body: half a surrogate pair is no text')
  return text
}

// Serialising thousands of levels exhausts the stack; where exactly is the thread's matter, the refusal is not.
function compact(body: object): string {
  try {
    return jsonText(body)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ServiceError('body_malformed', `The request body is nested deeper than ${depthMax}`)
  }
}

/** What is kept of an event that was never read: its first thousand characters (decision 20). */
export function failedBody(event: unknown): string {
  try {
    const text = jsonText(event) ?? 'null'
    return text.length > failedCharactersMax ? whole(text.slice(0, failedCharactersMax)) : text
  } catch {
    return '' // nested too deep to be written
  }
}

const failedCharactersMax = 1_000

// Without the half of a pair that a cut may leave behind.
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')

/** The type a failed event claims to be; track when it claims none that exists. */
export function typeOf(event: unknown): EventType {
  const type = typeof event === 'object' && event !== null && 'event_type' in event ? event.event_type : null
  return type === 'identify' || type === 'inference' || type === 'flag_check' ? type : 'track'
}

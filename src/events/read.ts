// Reads lists of events from bodies: a body is read completely or refused. Single events are validated elsewhere.
import { ServiceError } from '../errors.js'
import { manyValues, outline, tooManyInLines } from '../json-bounds.js'
import { fromCloudEvent } from './cloud-event.js'
import { readLines } from './formats.js'
import { withExactQuantities } from './quantities.js'

/** Most events in one batch (decision 2). */
const batchEventsMax = 10_000

/** `{events: […]}`, one event per line, or a list of CloudEvents. */
export type BatchFormat = 'events' | 'lines' | 'cloud_events'

/** Facts about the sender that validation needs. */
export interface Submitter {
  /** Whether a secret key sends. */
  readonly secret: boolean
  /** Server receipt, epoch ms. */
  readonly nowMs: number
  /** Backfill may be of any age (EV-8). */
  readonly anyAge?: boolean
}

/**
 * The events of a batch, in order; one that is unreadable in its format is an `Unparsable`.
 *
 * errors  body_malformed, body_invalid, batch_too_large (400).
 * source  EV-4, EV-7, decision 3.
 */
export function readBatch(
  text: string,
  format: BatchFormat,
  { secret, nowMs }: Submitter,
): readonly unknown[] {
  if (format === 'events') return readEvents(text)
  if (format === 'lines') {
    if (tooManyInLines(text)) throw manyValues()
    return bounded(readLines(text, batchEventsMax))
  }
  const list = parseList(text)
  if (!Array.isArray(list)) throw new ServiceError('body_invalid', 'A batch of CloudEvents is a list')
  return bounded(list).map(one => fromCloudEvent(one, secret, nowMs))
}

/** The members of `{events: […]}`. Errors as `readBatch`. */
export function readEvents(text: string): readonly unknown[] {
  const parsed = parseList(text)
  const events =
    typeof parsed === 'object' && parsed !== null && 'events' in parsed
      ? (parsed.events as unknown)
      : undefined
  if (!Array.isArray(events)) throw new ServiceError('body_invalid', 'events must be a list')
  return bounded(events)
}

/** Parse any JSON with exact event quantities. errors: body_malformed (400). */
export function parse(text: string): unknown {
  try {
    return withExactQuantities(JSON.parse(text), text)
  } catch {
    throw new ServiceError('body_malformed')
  }
}

/** parse for a list of events: depth and length are checked before it is parsed. */
function parseList(text: string): unknown {
  const { text: plain, entries, isCrowded } = outline(text)
  if (entries > batchEventsMax) throw tooMany()
  if (isCrowded) throw manyValues()
  return parse(plain)
}

function bounded(events: readonly unknown[]): readonly unknown[] {
  if (events.length > batchEventsMax) throw tooMany()
  return events
}

/** EV-4. */
const tooMany = () => new ServiceError('batch_too_large', undefined, { extra: { max_size: batchEventsMax } })

/** The key that an event in a collector's body names; '' for none (decision 8). */
export function secretOf(event: unknown): string {
  const secret = typeof event === 'object' && event !== null && 'api_key' in event ? event.api_key : null
  return typeof secret === 'string' ? secret : ''
}

/** The distinct keys that events in a collector's body name. */
export function secretsOf(events: readonly unknown[]): readonly string[] {
  const secrets = new Set(events.map(secretOf))
  secrets.delete('')
  return [...secrets]
}

/** The collector uses `type` instead of `event_type`. */
export function asEvent(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
  const { api_key: _, type, ...rest } = event as Record<string, unknown>
  return { ...rest, event_type: rest.event_type ?? type }
}

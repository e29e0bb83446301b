// CloudEvents 1.0 as track events, for systems that already produce them.
//
//   type            the event's name
//   source + id     the idempotency key: together they identify one occurrence (CloudEvents 1.0, "id")
//   subject         the company: a service id (comp_…), pairs of keys (slug=acme&region=eu), else the value of the
//                   key "subject"
// time            sent_at; also the effective time if a secret key sends it and it is within the trusted clock's
// bounds
//   data.company    the company's keys; takes precedence over subject
//   data.user       the user's keys
//   data.quantity   default 1
//   data.lease_id, data.reservation_id
//   other data      the event's traits
import { type CloudEvent, isCloudEvent, validateCloudEvent } from '../../schemas/events.js'
import { parseTime } from '../core/values/instant.js'
import { Unparsable } from './formats.js'
import { aheadMsMax, firstError, trustedBackMsMax } from './judge.js'

/** Media types of one CloudEvent, and of a list. */
export const cloudEventType = 'application/cloudevents+json'
export const cloudEventBatchType = 'application/cloudevents-batch+json'

const keyCharactersMax = 255

/**
 * A CloudEvent in binary mode: its attributes are headers `ce-…`, the body is its data.
 *
 * attributes  by name without `ce-`, percent-encoded as the protocol says.
 * data        the body, parsed; undefined: it is empty.
 */
export function fromHeaders(attributes: Readonly<Record<string, string>>, data: unknown): object {
  const decoded = Object.entries(attributes).map(([name, value]) => [name, unescaped(value)])
  return { ...Object.fromEntries(decoded), data }
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * Convert a CloudEvent to an event.
 *
 * given    parsed JSON of any shape.
 * secret   whether a secret key sends it. nowMs: server receipt, epoch ms.
 * returns  the event, or the reason why it is invalid.
 * source   decision: the mapping above; bounds of the time as EV-8.
 */
export function fromCloudEvent(input: unknown, secret: boolean, nowMs: number): object {
  if (!isCloudEvent(input)) return new Unparsable(input, firstError(validateCloudEvent(input)))
  if ('data_base64' in input) return new Unparsable(input, 'data_base64 is not read: send data as JSON')
  const key = `${input.source} ${input.id}`
  if (key.length > keyCharactersMax)
    return new Unparsable(input, `source and id together have at most ${keyCharactersMax - 1} characters`)
  if (input.time != null && parseTime(input.time) === null)
    return new Unparsable(input, 'time must be an RFC 3339 date-time with its zone, as 2024-01-02T03:04:05Z')
  const { data } = input
  if (data != null && (typeof data !== 'object' || Array.isArray(data)))
    return new Unparsable(
      input,
      `data must be an object, not ${Array.isArray(data) ? 'a list' : `a ${typeof data}`}`,
    )
  const sentAtMs = input.time == null ? null : parseTime(input.time)
  const trusted =
    secret && sentAtMs !== null && sentAtMs <= nowMs + aheadMsMax && sentAtMs >= nowMs - trustedBackMsMax
  return {
    event_type: 'track',
    idempotency_key: key,
    ...(input.time == null ? {} : { sent_at: input.time }),
    ...(trusted ? { trusted_client_clock: true } : {}),
    body: bodyOf(input),
  }
}

function bodyOf({ type, subject, data }: CloudEvent): object {
  const named = subject ? { company: companyOf(subject) } : {}
  if (data === undefined || data === null) return { event: type, ...named }
  const { company, user, quantity, lease_id, reservation_id, ...traits } = data as Record<string, unknown>
  const own = Object.entries({ company, user, quantity, lease_id, reservation_id })
  return {
    event: type,
    ...named,
    ...Object.fromEntries(own.filter(([, value]) => value !== undefined && value !== null)),
    traits,
  }
}

function companyOf(subject: string): Record<string, string> {
  if (subject.startsWith('comp_')) return { id: subject }
  if (!subject.includes('=')) return { subject }
  return Object.fromEntries(new URLSearchParams(subject))
}

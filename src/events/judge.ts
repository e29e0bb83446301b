// Validates a single event: its shape, its time, and the rights of its key (EV-6…10, EV-15). No I/O.

import {
  type CreateEventRequestBody,
  type EventBodyFlagCheck,
  type EventBodyIdentify,
  type InferenceRead,
  isEvent,
  isFlagCheck,
  isIdentify,
  isInference,
  isTrack,
  type TrackRead,
  validateEvent,
  validateFlagCheck,
  validateIdentify,
  validateInference,
  validateTrack,
} from '../../schemas/events.js'
import { keysMax } from '../core/company/entity-bounds.js'
import type { EventMode } from '../core/model/requests.js'
import { parseTime } from '../core/values/instant.js'
import { dayMs } from '../core/values/period.js'
import { addQuantity, isQuantity } from '../core/values/quantity.js'
import { faultText, type SchemaFault } from '../faults.js'
import { allFinite, halfPair } from '../json.js'

/** Longest event, in bytes of compact JSON (decision 2). */
export const eventBytesMax = 64 * 1024

export const aheadMsMax = 5 * 60_000
export const trustedBackMsMax = 34 * dayMs
const backfillBackMsMax = 365 * dayMs

/** A valid event of any type, with its effective time. */
export type Judged = {
  readonly mode: EventMode
  /** Effective time, epoch ms (EV-15). */
  readonly capturedAtMs: number
  readonly sentAtMs: number | null
  readonly idempotencyKey: string | null
} & (
  | { readonly type: 'track'; readonly body: TrackRead }
  | { readonly type: 'identify'; readonly body: EventBodyIdentify }
  | { readonly type: 'flag_check'; readonly body: EventBodyFlagCheck }
  | { readonly type: 'inference'; readonly body: InferenceRead }
)

/** `forbidden`: the key may never send such an event. */
export type Judgement = Judged | { readonly error: string; readonly forbidden?: true }

/**
 * Validate one event.
 *
 * event    parsed JSON of any shape.
 * secret   whether a secret key sends it.
 * nowMs    server receipt, epoch ms.
 * anyAge   backfill may be older than 365 days.
 * returns  the event with its effective time, or the message of the first broken rule.
 * source   EV-7…10, EV-15; bounds inclusive; AL-22, decision 31: publishable keys send no inference events.
 */
export function judge(event: unknown, secret: boolean, nowMs: number, anyAge = false): Judgement {
  if (!isEvent(event)) return { error: firstError(validateEvent(event)) }
  if (event.event_type === 'inference' && !secret)
    return { error: 'inference events require a secret API key', forbidden: true }
  const time = resolveTimes(event, secret, nowMs, anyAge)
  if ('error' in time) return time
  const { body } = event
  switch (event.event_type) {
    case 'track': {
      if (!isTrack(body)) return { error: firstError(validateTrack(body), 'body') }
      const error = quantityError(body, secret)
      if (error !== null) return { error }
      const { mode, capturedAtMs, sentAtMs, idempotencyKey } = time // spelled out: three times faster than spread
      return { type: 'track', mode, capturedAtMs, sentAtMs, idempotencyKey, body }
    }
    case 'identify':
      if (!isIdentify(body)) return { error: firstError(validateIdentify(body), 'body') }
      if (isEmpty(body.keys)) return { error: 'body.keys must name the user' } // EV-9, EV-41
      if (body.company && isEmpty(body.company.keys))
        return { error: 'body.company.keys must name the company' }
      {
        const error = namesError(body.keys) ?? namesError(body.company?.keys)
        if (error !== null) return { error }
        // a parser hands the body on as JSON, where such a number would be null and take the trait away (CU-32)
        if (!allFinite(body.traits) || !allFinite(body.company?.traits))
          return { error: 'body.traits has a number beyond 1e308' }
      }
      return { ...time, type: 'identify', body }
    case 'flag_check':
      if (!isFlagCheck(body)) return { error: firstError(validateFlagCheck(body), 'body') }
      return { ...time, type: 'flag_check', body }
    case 'inference': {
      if (!isInference(body)) return { error: firstError(validateInference(body), 'body') }
      const error = inferenceError(body)
      return error === null ? { ...time, type: 'inference', body } : { error }
    }
  }
}

type EventTimes = Pick<Judged, 'mode' | 'capturedAtMs' | 'sentAtMs' | 'idempotencyKey'>

function resolveTimes(
  event: CreateEventRequestBody,
  secret: boolean,
  nowMs: number,
  anyAge: boolean,
): EventTimes | { readonly error: string } {
  const backfill = event.backfill === true
  const trusted = event.trusted_client_clock === true
  const idempotencyKey = event.idempotency_key || null // an empty string is no key (EV-29)
  // A store would change the key, and a retry after a restart would count again.
  if (idempotencyKey !== null && halfPair.test(idempotencyKey))
    return { error: 'idempotency_key: half a surrogate pair is no text' }
  const sentAtMs = event.sent_at == null ? null : parseTime(event.sent_at)
  if (sentAtMs === null && event.sent_at != null)
    return { error: 'sent_at must be an RFC 3339 date-time with its zone, as 2024-01-02T03:04:05Z' }
  if (!backfill && !trusted) return { mode: 'normal', capturedAtMs: nowMs, sentAtMs, idempotencyKey }
  if (!secret) return { error: 'trusted_client_clock and backfill require a secret API key' }
  if (!trusted) return { error: 'backfill requires trusted_client_clock' } // decision 25
  if (sentAtMs === null) return { error: 'sent_at is required when trusted_client_clock or backfill is true' }
  if (sentAtMs > nowMs + aheadMsMax) return { error: 'sent_at cannot be more than 5 minutes in the future' }
  if (backfill) {
    // the hours that usage is summed by begin in 1970
    if (anyAge && sentAtMs < 0) return { error: 'sent_at cannot be before 1970' }
    if (!anyAge && sentAtMs < nowMs - backfillBackMsMax)
      return { error: 'sent_at cannot be more than 365 days in the past' }
    return { mode: 'backfill', capturedAtMs: sentAtMs, sentAtMs, idempotencyKey }
  }
  if (sentAtMs < nowMs - trustedBackMsMax)
    return {
      error:
        'sent_at cannot be more than 34 days in the past for trusted_client_clock; for older events use backfill (analytics-only, no billing side effects)',
    }
  return { mode: 'trusted', capturedAtMs: sentAtMs, sentAtMs, idempotencyKey }
}

/** EV-10. Settling a hold with 0 returns all of it, so 0 is allowed with a lease or reservation. */
function quantityError(body: TrackRead, secret: boolean): string | null {
  const quantity = body.quantity ?? 1
  if (!isQuantity(quantity)) return 'body.quantity is out of range'
  if (quantity === 0 && !body.lease_id && !body.reservation_id)
    return 'body.quantity must not be 0 without lease_id or reservation_id'
  if (quantity < 0 && !secret) return 'negative quantity requires a secret API key'
  if (body.traits && !allFinite(body.traits)) return 'body.traits has a number beyond 1e308'
  return namesError(body.company) ?? namesError(body.user)
}

/** EV-9: subsets cannot exceed the whole. */
function inferenceError(body: InferenceRead): string | null {
  if (isEmpty(body.company)) return 'body.company must name the company'
  for (const count of countsOf(body))
    if (!isQuantity(count ?? 0) || (count ?? 0) < 0) return 'a count of tokens or requests is out of range'
  if ((body.requests ?? 1) < 1) return 'body.requests must be at least 1'
  const subset = addQuantity(body.cached_input_tokens ?? 0, body.cache_creation_input_tokens ?? 0)
  if (subset > body.input_tokens) return 'cached and cache-written tokens exceed body.input_tokens'
  if ((body.reasoning_tokens ?? 0) > body.output_tokens)
    return 'body.reasoning_tokens exceeds body.output_tokens'
  return namesError(body.company) ?? namesError(body.user)
}

/** Counts of tokens and requests: 64 bits, exact. */
const countsOf = (body: InferenceRead) => [
  body.input_tokens,
  body.output_tokens,
  body.cached_input_tokens,
  body.cache_creation_input_tokens,
  body.reasoning_tokens,
  body.requests,
]

/** An error in key names, or null (CU-2; decision for their number). */
function namesError(keys: Readonly<Record<string, string>> | null | undefined): string | null {
  if (!keys) return null
  const names = Object.keys(keys)
  if (names.length > keysMax) return `keys: more than ${keysMax}`
  for (const name of names)
    if (name.length === 0 || name.length > 255) return 'key names have 1 to 255 characters'
  return null
}

const isEmpty = (keys: object): boolean => Object.keys(keys).length === 0

/** The first validation error as text; `at` is the path of the value. */
export function firstError(
  validation: { readonly success: boolean; readonly errors?: readonly SchemaFault[] },
  at?: string,
): string {
  const fault = validation.errors?.[0]
  if (fault === undefined) return `${at ?? 'event'}: expected an object`
  const path = fault.path.replace(/^\$input\.?/, '')
  return faultText({ ...fault, path: [at, path].filter(Boolean).join('.') }, 'event')
}

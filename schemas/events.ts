// Requests and responses of events. The parsers validate one event at a time: an invalid event never fails its
// batch (EV-7).
import typia, { type tags } from 'typia'
import type { ApiKey } from './keys.js'

/** Keys of a company or user: names and values of 1 to 255 characters (CU-2, EV-9). */
export interface Keys {
  [name: string]: string & tags.MinLength<1> & tags.MaxLength<255>
}

/** Body of POST /events; `body` is validated by type afterwards. */
export interface CreateEventRequestBody {
  event_type: 'flag_check' | 'identify' | 'inference' | 'track'
  body: object
  /** Import without billing effect; needs `trusted_client_clock: true` (EV-8, decision 25). */
  backfill?: boolean | null
  idempotency_key?: (string & tags.MaxLength<255>) | null
  sent_at?: string | null
  /** Use `sent_at` as the time of the event. */
  trusted_client_clock?: boolean | null
}

export interface EventBodyTrack {
  event: string & tags.MinLength<1> & tags.MaxLength<255>
  company?: Keys | null
  user?: Keys | null
  /** Default 1; negative only with a secret key (EV-10). */
  quantity?: (number & tags.Type<'int64'>) | null
  traits?: { [name: string]: unknown } | null
  lease_id?: string | null
  reservation_id?: string | null
}

/** A parsed track event: quantities beyond 2^53 − 1 are bigints, which JSON Schema cannot express. */
export interface TrackRead extends Omit<EventBodyTrack, 'quantity'> {
  quantity?: (number & tags.Type<'int64'>) | bigint | null
}

/** A parsed inference event, with counts like quantities. */
export interface InferenceRead
  extends Omit<
    EventBodyInference,
    | 'input_tokens'
    | 'output_tokens'
    | 'cached_input_tokens'
    | 'cache_creation_input_tokens'
    | 'reasoning_tokens'
    | 'requests'
  > {
  input_tokens: CountRead
  output_tokens: CountRead
  cached_input_tokens?: CountRead | null
  cache_creation_input_tokens?: CountRead | null
  reasoning_tokens?: CountRead | null
  requests?: CountRead | null
}

type CountRead = (number & tags.Type<'int64'> & tags.Minimum<0>) | bigint

export interface EventBodyIdentifyCompany {
  keys: Keys
  name?: (string & tags.MaxLength<256>) | null
  traits?: { [name: string]: unknown } | null
}

export interface EventBodyIdentify {
  keys: Keys
  name?: (string & tags.MaxLength<255>) | null
  traits?: { [name: string]: unknown } | null
  company?: EventBodyIdentifyCompany | null
}

export interface EventBodyFlagCheck {
  flag_key: string & tags.MinLength<1> & tags.MaxLength<512>
  reason: string
  value: boolean
  preflight?: boolean | null
  company_id?: string | null
  error?: string | null
  flag_id?: string | null
  rule_id?: string | null
  user_id?: string | null
  req_company?: { [name: string]: string } | null
  req_user?: { [name: string]: string } | null
}

export interface EventBodyInference {
  company: Keys
  user?: Keys | null
  provider: string & tags.MinLength<1> & tags.MaxLength<255>
  response_model: string & tags.MinLength<1> & tags.MaxLength<255>
  request_model?: string | null
  /** Including cached and cache-written tokens (EV-61). */
  input_tokens: number & tags.Type<'int64'> & tags.Minimum<0>
  output_tokens: number & tags.Type<'int64'> & tags.Minimum<0>
  cached_input_tokens?: (number & tags.Type<'int64'> & tags.Minimum<0>) | null
  cache_creation_input_tokens?: (number & tags.Type<'int64'> & tags.Minimum<0>) | null
  reasoning_tokens?: (number & tags.Type<'int64'> & tags.Minimum<0>) | null
  /** Decimal text. */
  cost?: (string & tags.Pattern<'^\\d{1,18}(\\.\\d{1,18})?$'>) | null
  currency?: (string & tags.Pattern<'^[A-Za-z]{3}$'>) | null
  /** Name of a track event to derive (EV-66). */
  event?: (string & tags.MaxLength<255>) | null
  operation?: string | null
  requests?: (number & tags.Type<'int64'> & tags.Minimum<1>) | null
  /** The lease that pays (CR-71). */
  lease_id?: string | null
  /** The reservation to settle (CR-81); `lease_id` takes precedence. */
  reservation_id?: string | null
}

/** A CloudEvent 1.0 in JSON format. Only these members are read; extensions are ignored. */
export interface CloudEvent {
  specversion: '1.0'
  id: string & tags.MinLength<1>
  source: string & tags.MinLength<1>
  type: string & tags.MinLength<1> & tags.MaxLength<255>
  subject?: string | null
  time?: string | null
  data?: unknown
}

/** Acknowledgement of one event. */
export interface RawEvent {
  captured_at: string
  remote_ip: string
  user_agent: string
  event_id: string | null
  remote_addr: string | null
  /** With `report`: the reason if the event is stored as failed, else null. */
  error?: string | null
  /**
   * The idempotency key was used within 24 hours. The event is not counted again; this acknowledges the first one.
   */
  duplicate?: true
  /** The first event differed in type, name, quantity or company. This one is stored as failed. */
  content_differs?: true
}

interface Preview {
  id: string
  name: string
  description?: string | null
  image_url?: string | null
}

/** A stored event (EV-70). */
export interface EventDetail {
  id: string
  /** Never sent: `api_key` names the key. */
  api_key_view?: ApiKey
  type: 'flag_check' | 'identify' | 'inference' | 'track'
  subtype: string | null
  status: 'enriched' | 'failed' | 'pending' | 'processed' | 'unknown'
  error_message: string | null
  body: { [name: string]: unknown }
  /** First 100 characters of the compact body. */
  body_preview: string
  quantity: number
  captured_at: string
  sent_at: string | null
  loaded_at: string | null
  processed_at: string | null
  enriched_at: string | null
  updated_at: string | null
  api_key: string | null
  environment_id: string | null
  idempotency_key: string | null
  company_id: string | null
  user_id: string | null
  company?: Preview
  user?: Preview
  feature_ids: string[]
  features: Preview[]
  lease_id: string | null
  reservation_id: string | null
  /** Cost of an inference event as decimal text, and its source (decision 18). */
  cost?: string | null
  currency?: string | null
  price_id?: string | null
  /** The inference event that this track event was derived from (EV-66). */
  derived_from?: string | null
}

/** Statistics of one event name. */
export interface EventSummary {
  company_count: number
  environment_id: string
  event_count: number
  event_subtype: string
  user_count: number
  last_seen_at: string | null
}

export const validateEvent = typia.createValidate<CreateEventRequestBody>()
export const validateTrack = typia.createValidate<TrackRead>()
export const validateIdentify = typia.createValidate<EventBodyIdentify>()
export const validateFlagCheck = typia.createValidate<EventBodyFlagCheck>()
export const validateInference = typia.createValidate<InferenceRead>()

export const validateCloudEvent = typia.createValidate<CloudEvent>()

export const isEvent = typia.createIs<CreateEventRequestBody>()
export const isTrack = typia.createIs<TrackRead>()
export const isIdentify = typia.createIs<EventBodyIdentify>()
export const isFlagCheck = typia.createIs<EventBodyFlagCheck>()
export const isInference = typia.createIs<InferenceRead>()
export const isCloudEvent = typia.createIs<CloudEvent>()

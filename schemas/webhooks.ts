// Webhooks and their deliveries.
import typia, { type tags } from 'typia'
import type { WebhookEventStatus, WebhookRequestType, WebhookStatus } from './enums.js'

export interface CreditTriggerConfig {
  credit_id: string
}

export interface EntitlementTriggerConfig {
  feature_id: string
}

type Name = string & tags.MinLength<1> & tags.MaxLength<256>
type Url = string & tags.MinLength<1> & tags.MaxLength<2048>
type RequestTypes = WebhookRequestType[] & tags.MaxItems<50>
type CreditTriggers = CreditTriggerConfig[] & tags.MaxItems<100>
type EntitlementTriggers = EntitlementTriggerConfig[] & tags.MaxItems<100>

/** Body of POST /webhooks. */
export interface WebhookCreate {
  name: Name
  request_types: RequestTypes
  url: Url
  /** Credits whose limits are reported; absent or empty: all. */
  credit_trigger_configs?: CreditTriggers | null | undefined
  /** Features whose limits are reported; absent or empty: all. */
  entitlement_trigger_configs?: EntitlementTriggers | null | undefined
}

export const parseWebhookCreate = typia.json.createValidateParse<WebhookCreate>()

/** Body of PUT /webhooks/{webhook_id}: absent members are unchanged; null clears a list of triggers. */
export interface WebhookUpdate {
  name?: Name | null | undefined
  request_types?: RequestTypes | null | undefined
  url?: Url | null | undefined
  status?: WebhookStatus | null | undefined
  credit_trigger_configs?: CreditTriggers | null | undefined
  entitlement_trigger_configs?: EntitlementTriggers | null | undefined
}

export const parseWebhookUpdate = typia.json.createValidateParse<WebhookUpdate>()

/** Body of POST /webhooks/{webhook_id}/test. */
export interface WebhookTest {
  request_type: WebhookRequestType
}

export const parseWebhookTest = typia.json.createValidateParse<WebhookTest>()

/** Body of POST /webhooks/{webhook_id}/roll-secret. */
export interface WebhookRoll {
  /** Seconds for which the former secret signs too; default one day. */
  overlap_seconds?: (number & tags.Type<'uint32'> & tags.Maximum<604800>) | null | undefined
}

export const parseWebhookRoll = typia.json.createValidateParse<WebhookRoll>()

export interface Webhook {
  id: string
  name: string
  url: string
  /** Complete in the responses of create and roll-secret, else masked except for the last four characters. */
  secret: string
  status: WebhookStatus
  request_types: readonly WebhookRequestType[]
  credit_trigger_configs: readonly CreditTriggerConfig[] | null
  entitlement_trigger_configs: readonly EntitlementTriggerConfig[] | null
  created_at: string
  updated_at: string
}

/** Result of a test; the code is 0 without a response. */
export interface TestWebhook {
  success: boolean
  response_code: number
  failure_reason: string | null
}

export interface WebhookEventDetail {
  id: string
  webhook_id: string
  webhook?: Webhook
  request_type: WebhookRequestType
  status: WebhookEventStatus
  attempt_count: number
  /** The request body, as JSON text. */
  payload: string | null
  /** Status of the last attempt; null without a response. */
  response_code: number | null
  /** Time of the last attempt. */
  sent_at: string | null
  created_at: string
  updated_at: string
}

// The record of who changed what.
import type { ActorType, AuditKind } from './enums.js'
import type { Environment } from './environments.js'
import type { ApiKey } from './keys.js'

/** A change as a list shows it. */
export interface AuditLogList {
  id: string
  /** What it is: of a request that changes, of one that reads secrets or exports, of failed authentications, of the operator. */
  kind: AuditKind
  actor_type: ActorType
  /** While the key exists. */
  api_key?: ApiKey
  api_key_id: string | null
  /** While the environment exists. */
  environment?: Environment
  environment_id: string | null
  method: string
  url: string
  /** Always null: ids are texts. */
  resource_id: null
  resource_id_string: string | null
  resource_name: string | null
  resource_type: string | null
  /** What of the resource was changed, e.g. `rules`. */
  secondary_resource: string | null
  resp_code: number
  /** From where it was asked; null for what no request asked. */
  remote_ip: string | null
  user_agent: string | null
  /** As in the answer's X-Request-Id and in the log. */
  request_id: string | null
  /** Its place in the chain and its hash; null for a moment, until it is in it. */
  seq: number | null
  hash: string | null
  started_at: string
  ended_at: string
  user_name: null
}

/** A change with what was sent and answered: at most 16 KiB each, secrets taken out. */
export interface AuditLog extends AuditLogList {
  account_member_id: null
  req_body: string | null
  resp_body: string | null
  user_id: null
}

/** The end of the chain of hashes. */
export interface AuditHead {
  /** 0 while nothing is in it. */
  seq: number
  hash: string
}

/** A row as its hash covers it: SHA-256 of the previous hash, a line feed, and the other members as a JSON list. */
export interface AuditChainRow {
  seq: number
  previous_hash: string
  hash: string
  id: string
  kind: string
  account_id: string
  environment_id: string | null
  actor_type: string
  api_key_id: string | null
  method: string
  url: string
  resource_type: string | null
  resource_id: string | null
  resource_name: string | null
  secondary_resource: string | null
  req_body: string | null
  resp_body: string | null
  resp_code: number
  remote_ip: string | null
  user_agent: string | null
  request_id: string | null
  started_at: string
  ended_at: string
}

// The audit log: who changed what, and when.
import type { ActorType, AuditKind } from './enums.js'
import type { Environment } from './environments.js'
import type { ApiKey } from './keys.js'

/** An audit log entry in lists. */
export interface AuditLogList {
  id: string
  /**
   * The entry's kind: a change, a read of secrets or an export, failed authentications, or an action of the
   * operator.
   */
  kind: AuditKind
  actor_type: ActorType
  /** Present while the key exists. */
  api_key?: ApiKey
  api_key_id: string | null
  /** Present while the environment exists. */
  environment?: Environment
  environment_id: string | null
  method: string
  url: string
  /** Always null: ids are strings. */
  resource_id: null
  resource_id_string: string | null
  /** Name of the resource. A resource without a name has the id of its company here, if it belongs to a company. */
  resource_name: string | null
  resource_type: string | null
  /** The changed part of the resource, e.g. `rules`. */
  secondary_resource: string | null
  /** Name of the feature of an override or of a plan's entitlement, while that exists. Otherwise null. */
  feature_name: string | null
  /** Name of the plan of an entitlement, while that exists. Otherwise null. */
  plan_name: string | null
  resp_code: number
  /** The caller's address; null if there was no request. */
  remote_ip: string | null
  user_agent: string | null
  /** As in the X-Request-Id header and in the log. */
  request_id: string | null
  /** Position in the hash chain, and hash; null until the entry is in the chain, a moment later. */
  seq: number | null
  hash: string | null
  started_at: string
  ended_at: string
  /** Name of the person, while their record exists; null: a key or the operator. */
  user_name: string | null
}

/** An audit log entry with request and response bodies: at most 16 KiB each, without secrets. */
export interface AuditLog extends AuditLogList {
  account_member_id: string | null
  req_body: string | null
  /** The resource after the change. */
  resp_body: string | null
  /** The resource after the change before this one, so before this change; null: none is kept. */
  before: string | null
  user_id: null
}

/** The end of the hash chain. */
export interface AuditHead {
  /** 0 while the chain is empty. */
  seq: number
  hash: string
}

/**
 * A row of the hash chain. Its hash is the SHA-256 of the previous hash, a line feed, and the other members as a
 * JSON array.
 */
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
  /** Its texts were removed by an erasure, whose own row names it; its hash cannot be made again. Present only if true. */
  erased?: boolean
}

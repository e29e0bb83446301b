// The record of who changed what.
import type { ActorType } from './enums.js'
import type { Environment } from './environments.js'
import type { ApiKey } from './keys.js'

/** A change as a list shows it. */
export interface AuditLogList {
  id: string
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

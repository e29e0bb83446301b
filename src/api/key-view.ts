// Keys and environments as the wire shows them.
import type { Environment } from '../../schemas/environments.js'
import type { ApiKey } from '../../schemas/keys.js'
import type { KeyRow } from '../engine/keys.js'
import type { EnvironmentRecord } from './call.js'
import type { Keys } from './services.js'
import { isoTime, isoTimeOrNull } from './time.js'

/** A row of api_keys with what the memory of keys has no use for. */
export interface ApiKeyRow extends KeyRow {
  readonly publishable_value: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_used_at: Date | null
}

export function environmentView(environment: EnvironmentRecord): Environment {
  return {
    id: environment.id,
    name: environment.name,
    environment_type: environment.environmentType,
    require_context_signature: environment.requireContextSignature,
    created_at: isoTime(environment.createdAtMs),
    updated_at: isoTime(environment.updatedAtMs),
  }
}

/** A key; the value of a publishable one is no secret (decision 13). */
export function apiKeyView(row: ApiKeyRow, keys: Keys): ApiKey {
  const environment = row.environment_id === null ? null : keys.environment(row.environment_id)
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    environment_id: row.environment_id,
    ...(environment && { environment: environmentView(environment) }),
    readonly: row.readonly,
    scopes: row.scopes,
    rate_limit_percent: row.rate_limit_percent,
    last_used_at: isoTimeOrNull(row.last_used_at?.getTime()),
    ...(row.publishable_value !== null && { secret: row.publishable_value }),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

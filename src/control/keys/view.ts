// API keys and environments in their wire form.
import type { Environment, PublishableLimits } from '../../../schemas/environments.js'
import type { ApiKey } from '../../../schemas/keys.js'
import type { KeyRow } from '../../account/keys.js'
import type { EnvironmentRecord, PublishableKeyLimits } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'

/** A row of api_keys, including columns that the in-memory key table does not need. */
export interface ApiKeyRow extends KeyRow {
  readonly publishable_value: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_used_at: Date | null
  readonly last_four: string | null
}

export function environmentView(environment: EnvironmentRecord): Environment {
  return {
    id: environment.id,
    name: environment.name,
    environment_type: environment.environmentType,
    require_context_signature: environment.requireContextSignature,
    ...(environment.publishable.isOwn && { publishable_limits: limitsView(environment.publishable) }),
    ...(environment.lowercaseKeys && {
      lowercase_keys: {
        company: [...environment.lowercaseKeys.company],
        user: [...environment.lowercaseKeys.user],
      },
    }),
    created_at: isoTime(environment.createdAtMs),
    updated_at: isoTime(environment.updatedAtMs),
  }
}

function limitsView(limits: PublishableKeyLimits): PublishableLimits {
  return {
    create_companies: limits.createCompanies,
    add_company_keys: limits.addCompanyKeys,
    create_users: limits.createUsers,
    add_user_keys: limits.addUserKeys,
    name_events: limits.nameEvents,
    name_traits: limits.nameTraits,
    quantity_max: limits.quantityMax,
  }
}

/** A key; the value of a publishable key is shown, because it is not secret (decision 13). */
export function apiKeyView(row: ApiKeyRow, { keys, clock }: Pick<Services, 'keys' | 'clock'>): ApiKey {
  const environment = row.environment_id === null ? null : keys.environment(row.environment_id)
  const untilMs = row.previous_until?.getTime()
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    environment_id: row.environment_id,
    ...(environment && { environment: environmentView(environment) }),
    readonly: row.readonly,
    scopes: row.scopes,
    rate_limit_percent: row.rate_limit_percent,
    disabled: row.disabled,
    not_before: isoTimeOrNull(row.not_before?.getTime()),
    expires_at: isoTimeOrNull(row.expires_at?.getTime()),
    allowed_addresses: row.allowed_addresses,
    last_four: row.last_four,
    previous_value_until: untilMs !== undefined && untilMs > clock.wall() ? isoTime(untilMs) : null,
    last_used_at: isoTimeOrNull(row.last_used_at?.getTime()),
    ...(row.publishable_value !== null && { secret: row.publishable_value }),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

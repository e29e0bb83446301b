// API keys and whoami.
import typia, { type tags } from 'typia'
import type { ActorType, ConsoleRole, KeyScope } from './enums.js'
import type { Environment } from './environments.js'

/** 1…99: percentage of the account's rate limits; 0: no cap (AL-45). */
type Percent = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<99>

/** Blocks of addresses as 203.0.113.0/24 or 2001:db8::/32, or single addresses. */
type Addresses = string[] & tags.MinItems<1> & tags.MaxItems<100>

/** When and from where a key is accepted. */
interface Conditions {
  /** Accepted from this time on; may be in the past. */
  not_before?: string | null | undefined
  /** Accepted until this time, which must be in the future. */
  expires_at?: string | null | undefined
  /** Accepted from these addresses only. */
  allowed_addresses?: Addresses | null | undefined
}

/** Body of POST /api-keys. Default scopes follow from the other members (AL-5). */
export interface ApiKeyCreate extends Conditions {
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  description?: (string & tags.MaxLength<256>) | null | undefined
  environment_id?: string | null | undefined
  readonly?: boolean | null | undefined
  rate_limit_percent?: Percent | null | undefined
  /** The key's scopes; they never change. */
  scopes?: (KeyScope[] & tags.MinItems<1> & tags.UniqueItems) | null | undefined
}

export const parseApiKeyCreate = typia.json.createValidateParse<ApiKeyCreate>()

/**
 * Body of PUT /api-keys/{api_key_id}. Absent members are unchanged; null clears the description, the times and the
 * addresses; a cap of 0 removes it.
 */
export interface ApiKeyUpdate extends Conditions {
  name?: (string & tags.MinLength<1> & tags.MaxLength<256>) | null | undefined
  description?: (string & tags.MaxLength<256>) | null | undefined
  rate_limit_percent?: Percent | null | undefined
  disabled?: boolean | null | undefined
}

export const parseApiKeyUpdate = typia.json.createValidateParse<ApiKeyUpdate>()

/** Body of POST /api-keys/{api_key_id}/roll. */
export interface ApiKeyRoll {
  /** Seconds for which the present value is still accepted, at most 30 days; 0 or absent: it ends at once. */
  overlap_seconds?:
    | (number & tags.Type<'uint32'> & tags.Minimum<0> & tags.Maximum<2_592_000>)
    | null
    | undefined
}

export const parseApiKeyRoll = typia.json.createValidateParse<ApiKeyRoll>()

/** The integration that created a key. */
export interface ApiKeyIntegration {
  id: string
  state: 'active' | 'created' | 'pending'
  type: 'ext_a' | 'ext_b' | 'idp_a' | 'idp_b' | 'psp' | 'unknown'
}

export interface ApiKey {
  id: string
  name: string
  description: string | null
  environment_id: string | null
  environment?: Environment
  readonly: boolean
  scopes: readonly KeyScope[]
  /** null: no cap. */
  rate_limit_percent: number | null
  /** While true, the key is refused with 401. */
  disabled: boolean
  not_before: string | null
  expires_at: string | null
  /** null: from any address. */
  allowed_addresses: readonly string[] | null
  /** Last characters of the value; null if unknown. */
  last_four: string | null
  /** Until when the value before the last roll is accepted; null: not accepted. */
  previous_value_until: string | null
  last_used_at: string | null
  /** Never sent: there are no integrations. */
  integration?: ApiKeyIntegration
  /** The value. Always shown for a publishable key; for a secret key only in the response to create or roll. */
  secret?: string
  created_at: string
  updated_at: string
}

/** A person in the console. */
export interface WhoAmIMember {
  id: string
  name: string
  /** By environment id; `*`: in every environment without one of its own. */
  console_roles: Readonly<Record<string, ConsoleRole>>
}

export interface WhoAmI {
  account_id: string
  account_name: string
  actor_type: ActorType
  /** null: a person, who is `account_member`. */
  api_key_id: string | null
  /** The person who is signed in to the console; null: a key. */
  account_member: WhoAmIMember | null
  /** Name of the key or the person. */
  name: string
  scopes: readonly KeyScope[]
  readonly: boolean
  /** When the key ends; null: it does not end. */
  expires_at: string | null
  environment_id: string | null
  /** The account's environments; for a key bound to one, only that one. */
  environments: Environment[]
  onboarding_complete: boolean
}

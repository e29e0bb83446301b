// API keys, and who a key is.
import typia, { type tags } from 'typia'
import type { ActorType, KeyScope } from './enums.js'
import type { Environment } from './environments.js'

/** 1…99: a cap; 0: none (AL-45). */
type Percent = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<99>

/** Blocks of addresses as 203.0.113.0/24 or 2001:db8::/32, or single addresses. */
type Addresses = string[] & tags.MinItems<1> & tags.MaxItems<100>

/** When and from where a key is taken. */
interface Conditions {
  /** From this time on; it may lie in the past. */
  not_before?: string | null | undefined
  /** Until this time, which lies in the future. */
  expires_at?: string | null | undefined
  /** From these addresses alone. */
  allowed_addresses?: Addresses | null | undefined
}

/** Body of POST /api-keys. Without `scopes` they follow from the rest (AL-5). */
export interface ApiKeyCreate extends Conditions {
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  description?: (string & tags.MaxLength<256>) | null | undefined
  environment_id?: string | null | undefined
  readonly?: boolean | null | undefined
  rate_limit_percent?: Percent | null | undefined
  /** What it may do; never changed later. */
  scopes?: (KeyScope[] & tags.MinItems<1> & tags.UniqueItems) | null | undefined
}

export const parseApiKeyCreate = typia.json.createValidateParse<ApiKeyCreate>()

/**
 * Body of PUT /api-keys/{api_key_id}: absent members stay; null clears the description, the times and the addresses; a
 * cap of 0 lifts it.
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
  /** How long the present value is still taken, at most 30 days; 0 or absent: no longer. */
  overlap_seconds?:
    | (number & tags.Type<'uint32'> & tags.Minimum<0> & tags.Maximum<2_592_000>)
    | null
    | undefined
}

export const parseApiKeyRoll = typia.json.createValidateParse<ApiKeyRoll>()

/** What made a key. */
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
  /** null: uncapped. */
  rate_limit_percent: number | null
  /** It is refused with 401 while this is true. */
  disabled: boolean
  not_before: string | null
  expires_at: string | null
  /** null: from any address. */
  allowed_addresses: readonly string[] | null
  /** The end of its value; null while that is not known. */
  last_four: string | null
  /** Until when the value before the last roll is taken; null when it is not. */
  previous_value_until: string | null
  last_used_at: string | null
  /** Of keys that an integration made; there are none here. */
  integration?: ApiKeyIntegration
  /** The value: of a publishable key always, of a secret key in the answer to its creation or roll alone. */
  secret?: string
  created_at: string
  updated_at: string
}

export interface WhoAmI {
  account_id: string
  account_name: string
  actor_type: ActorType
  api_key_id: string
  environment_id: string | null
  /** Of the account; of a key that is bound to one, that one. */
  environments: Environment[]
  onboarding_complete: boolean
}

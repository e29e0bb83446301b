// API keys, and who a key is.
import typia, { type tags } from 'typia'
import type { ActorType, ApiKeyScope } from './enums.js'
import type { Environment } from './environments.js'

/** 1…99: a cap; 0: none (AL-45). */
type Percent = number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<99>

/** Body of POST /api-keys. Scopes follow from the rest (AL-5). */
export interface ApiKeyCreate {
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  description?: (string & tags.MaxLength<256>) | null | undefined
  environment_id?: string | null | undefined
  readonly?: boolean | null | undefined
  rate_limit_percent?: Percent | null | undefined
}

export const parseApiKeyCreate = typia.json.createValidateParse<ApiKeyCreate>()

/** Body of PUT /api-keys/{api_key_id}: absent members stay; a null description clears it; a cap of 0 lifts it. */
export interface ApiKeyUpdate {
  name?: (string & tags.MinLength<1> & tags.MaxLength<256>) | null | undefined
  description?: (string & tags.MaxLength<256>) | null | undefined
  rate_limit_percent?: Percent | null | undefined
}

export const parseApiKeyUpdate = typia.json.createValidateParse<ApiKeyUpdate>()

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
  scopes: readonly ApiKeyScope[]
  /** null: uncapped. */
  rate_limit_percent: number | null
  last_used_at: string | null
  /** Of keys that an integration made; there are none here. */
  integration?: ApiKeyIntegration
  /** The value: of a publishable key always, of a secret key in the answer to its creation alone. */
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
  environments: Environment[]
  onboarding_complete: boolean
}

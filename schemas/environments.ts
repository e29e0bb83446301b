// Environments and their test clocks.
import typia, { type tags } from 'typia'
import type { EnvironmentType } from './enums.js'
import type { ApiKey } from './keys.js'

/** Body of POST /environments. */
export interface EnvironmentCreate {
  name: string & tags.MinLength<1> & tags.MaxLength<256>
  environment_type: EnvironmentType
}

export const parseEnvironmentCreate = typia.json.createValidateParse<EnvironmentCreate>()

/** Body of PUT /environments/{environment_id}: absent and null members are unchanged. */
export interface EnvironmentUpdate {
  name?: (string & tags.MinLength<1> & tags.MaxLength<256>) | null | undefined
  environment_type?: EnvironmentType | null | undefined
  require_context_signature?: boolean | null | undefined
  /** Absent and null members return to the defaults of this type of environment. */
  publishable_limits?: PublishableLimitsWrite | undefined
  /** Names of keys whose values are kept in lower case (CU-4). Null: none; an absent kind is unchanged. */
  lowercase_keys?: LowercaseKeysWrite | null | undefined
}

type KeyNames = (string & tags.MinLength<1> & tags.MaxLength<255>)[] & tags.MaxItems<100> & tags.UniqueItems

/** Names of keys whose values are kept in lower case: the whole list of each kind. Null: none. */
export interface LowercaseKeysWrite {
  company?: KeyNames | null | undefined
  user?: KeyNames | null | undefined
}

/** Names of keys whose values are kept in lower case. */
export interface LowercaseKeys {
  company: string[]
  user: string[]
}

/** Rights and limits of an environment's publishable keys, besides checking flags, identifying and tracking. */
export interface PublishableLimitsWrite {
  create_companies?: boolean | null | undefined
  add_company_keys?: boolean | null | undefined
  /** Most users that publishable keys create in an hour; 0: none. */
  create_users?:
    | (number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<1_000_000_000>)
    | null
    | undefined
  /** Add keys to users, and give a new one more than one. */
  add_user_keys?: boolean | null | undefined
  /** Send events with names that no feature or rule counts. */
  name_events?: boolean | null | undefined
  /** Write traits with new names. */
  name_traits?: boolean | null | undefined
  /** Largest quantity of one event. */
  quantity_max?:
    | (number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<9_007_199_254_740_991>)
    | null
    | undefined
}

/** The limits in force. */
export interface PublishableLimits {
  create_companies: boolean
  add_company_keys: boolean
  create_users: number
  add_user_keys: boolean
  name_events: boolean
  name_traits: boolean
  quantity_max: number
}

export const parseEnvironmentUpdate = typia.json.createValidateParse<EnvironmentUpdate>()

/** Body of PUT /environments/{environment_id}/clock: exactly one of `now` and `offset_seconds` (decisions 10, 11). */
export interface ClockUpdate {
  /** The new present; the clock continues from there. */
  now?: string | null | undefined
  /** Distance from the wall clock, seconds. */
  offset_seconds?: number | null | undefined
  /** Stop the clock. */
  frozen?: boolean | null | undefined
}

export const parseClockUpdate = typia.json.createValidateParse<ClockUpdate>()

export interface Environment {
  id: string
  name: string
  environment_type: EnvironmentType
  require_context_signature: boolean
  /** Present only if any were set. */
  publishable_limits?: PublishableLimits
  /** Present only if there are any. */
  lowercase_keys?: LowercaseKeys
  created_at: string
  updated_at: string
}

/** A created environment with its publishable key. */
export interface EnvironmentDetail extends Environment {
  api_keys: ApiKey[]
}

/** The clock of an environment; `offset_seconds` is null unless a running test clock is set. */
export interface EnvironmentClock {
  environment_id: string
  now: string
  test_clock: boolean
  frozen: boolean
  offset_seconds: number | null
}

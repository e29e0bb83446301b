// Users.
import typia, { type tags } from 'typia'
import type {
  CompanyMembershipDetail,
  EntityKeyDetail,
  EntityTraitDetail,
  Keys,
  TraitMap,
} from './companies.js'

/** Body of POST /users and /users/create. */
export interface UserUpsert {
  /** Optional if `id` is given. */
  keys?: Keys | undefined
  id?: string | null | undefined
  name?: (string & tags.MaxLength<255>) | null | undefined
  /** Nested objects are paths; null removes the value. */
  traits?: Record<string, unknown> | undefined
  remove_keys?: (string[] & tags.MaxItems<100>) | undefined
  last_seen_at?: string | null | undefined
  /** When it was made elsewhere: used only if the call creates it; in the past. */
  created_at?: string | null | undefined
  update_only?: boolean | null | undefined
  /** Keys of one company to join; the lists below are then ignored. */
  company?: Keys | null | undefined
  company_id?: string | null | undefined
  /** Keys of all the user's companies: the user leaves others. */
  companies?: (Keys[] & tags.MaxItems<100>) | null | undefined
  company_ids?: (string[] & tags.MaxItems<100>) | null | undefined
}

export const parseUserUpsert = typia.json.createValidateParse<UserUpsert>()

/** A user in short form. */
export interface User {
  id: string
  environment_id: string
  name: string
  last_seen_at: string | null
  created_at: string
  updated_at: string
}

/** A user after a write, as `Prefer: return=minimal` answers it. */
export interface UserWritten extends User {
  /** Values by key name. */
  keys: Record<string, string>
}

/** A user in full. */
export interface UserDetail extends User {
  keys: EntityKeyDetail[]
  entity_traits: EntityTraitDetail[]
  traits: TraitMap
  company_memberships: CompanyMembershipDetail[]
}

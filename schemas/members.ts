// Members of an account, and the links that sign them in to the console.
import typia, { type tags } from 'typia'
import type { AccountMemberPermission, AccountMemberRole, ConsoleRole, MemberSource } from './enums.js'

/** `permissions`: by environment id, or "account". They apply to people, not to keys; an admin has all. */
export interface AccountMember {
  id: string
  email: string | null
  name: string | null
  first_name: string | null
  last_name: string | null
  image_url: string | null
  role: AccountMemberRole | null
  permissions: Readonly<Record<string, readonly AccountMemberPermission[]>>
  /** Roles in the console, by environment id; `*`: in every environment without one of its own. */
  console_roles: Readonly<Record<string, ConsoleRole>>
  /** While true, the member cannot sign in. */
  disabled: boolean
  /** The origin of the record: the members file, the console, sign-on, or the operator's link. */
  source: MemberSource
  signed_in_at: string | null
  created_at: string
  updated_at: string
}

type Roles = Readonly<Record<string, ConsoleRole>>
type Text = string & tags.MinLength<1> & tags.MaxLength<256>

/** Body of POST /account-members. */
export interface AccountMemberCreate {
  name: Text
  email?: (string & tags.MaxLength<256>) | null | undefined
  /** By environment id, or `*` for every environment. */
  console_roles: Roles
}
export const parseAccountMemberCreate = typia.json.createValidateParse<AccountMemberCreate>()

/** Body of PUT /account-members/{account_member_id}. Absent members are unchanged. */
export interface AccountMemberUpdate {
  name?: Text | null | undefined
  email?: (string & tags.MaxLength<256>) | null | undefined
  console_roles?: Roles | null | undefined
  disabled?: boolean | null | undefined
}
export const parseAccountMemberUpdate = typia.json.createValidateParse<AccountMemberUpdate>()

/** A one-time link. The console takes `token` at `console/#/sign-in?token=…`. */
export interface SignInLink {
  account_member_id: string
  /** Shown only here. */
  token: string
  /** Where the console takes it, from the address of the service on. */
  path: string
  expires_at: string
}

/** A member and the link that invites them. */
export interface InvitedMember extends AccountMember {
  invitation: SignInLink
}

/** Body of POST /console-links. */
export type ConsoleLinkCreate = Record<string, never>
export const parseConsoleLinkCreate = typia.json.createValidateParse<ConsoleLinkCreate>()

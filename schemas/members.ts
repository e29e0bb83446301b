// Members of an account.
import type { AccountMemberPermission, AccountMemberRole } from './enums.js'

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
  created_at: string
  updated_at: string
}

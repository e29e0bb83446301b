// Rows and views of account members.
import type { Sql } from 'postgres'
import type {
  AccountMemberPermission,
  AccountMemberRole,
  ConsoleRole,
  MemberSource,
} from '../../../schemas/enums.js'
import type { AccountMember } from '../../../schemas/members.js'
import { memberAccess } from '../../account/member-access.js'
import { ServiceError } from '../../errors.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'

/** A row of account_members. */
export interface MemberRow {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly image_url: string | null
  readonly role: AccountMemberRole | null
  readonly permissions: Readonly<Record<string, readonly AccountMemberPermission[]>>
  readonly console_roles: Readonly<Record<string, ConsoleRole>>
  readonly disabled: boolean
  readonly source: MemberSource
  readonly signed_in_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export function memberView(row: MemberRow): AccountMember {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    first_name: row.first_name,
    last_name: row.last_name,
    image_url: row.image_url,
    role: row.role,
    permissions: row.permissions,
    console_roles: memberAccess(row).roles,
    disabled: row.disabled,
    source: row.source,
    signed_in_at: isoTimeOrNull(row.signed_in_at?.getTime() ?? null),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Members by id, in wire form. */
export async function memberViews(sql: Sql, ids: readonly string[]): Promise<Map<string, AccountMember>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<MemberRow[]>`select * from account_members where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, memberView(row)]))
}

/** Throws 404 unless the account has this member; null is accepted (AL-32). */
export async function requireMember(sql: Sql, accountId: string, id: string | null): Promise<void> {
  if (id === null) return
  const rows = await sql`select 1 from account_members where id = ${id} and account_id = ${accountId}`
  if (rows.length === 0)
    throw new ServiceError('not_found', 'maintainer_account_member_id: the account has no such member')
}

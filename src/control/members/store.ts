// Statements of account members.
import type { Sql } from 'postgres'
import type { AccountMemberRole } from '../../../schemas/enums.js'
import type { RoleMap } from '../../core/console-role.js'
import { among, contains, newest } from '../../kit/sql.js'
import type { MemberRow } from './rows.js'

export interface MemberFilter {
  readonly accountId: string
  readonly ids: readonly string[] | undefined
  readonly role: AccountMemberRole | undefined
  /** Part of a name or e-mail address. */
  readonly q: string | undefined
}

function matching(sql: Sql, filter: MemberFilter) {
  const { ids, role, q } = filter
  return sql`account_id = ${filter.accountId}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${role ? sql`and role = ${role}` : sql``}
    ${
      q
        ? sql`and (${contains(sql, 'email', q)} or ${contains(sql, 'name', q)} or ${contains(sql, 'first_name', q)}
            or ${contains(sql, 'last_name', q)} or ${contains(sql, 'id', q)})`
        : sql``
    }`
}

export function listMembers(
  sql: Sql,
  filter: MemberFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly MemberRow[]> {
  return sql<MemberRow[]>`select * from account_members where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countMembers(sql: Sql, filter: MemberFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from account_members where ${matching(sql, filter)}`
  return row!.count
}

export async function findMember(sql: Sql, accountId: string, id: string): Promise<MemberRow | null> {
  const [row] = await sql<MemberRow[]>`
    select * from account_members where id = ${id} and account_id = ${accountId}`
  return row ?? null
}

export async function insertMember(
  sql: Sql,
  made: {
    readonly id: string
    readonly accountId: string
    readonly name: string
    readonly email: string | null
    readonly roles: RoleMap
    readonly nowMs: number
  },
): Promise<MemberRow> {
  const now = new Date(made.nowMs)
  const [row] = await sql<MemberRow[]>`
    insert into account_members ${sql({
      id: made.id,
      account_id: made.accountId,
      name: made.name,
      email: made.email,
      role: made.roles['*'] === 'admin' ? 'admin' : 'member',
      source: 'console',
      console_roles: sql.json(made.roles),
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** The member, locked until the transaction ends. */
export async function lockMember(sql: Sql, accountId: string, id: string): Promise<MemberRow | null> {
  const [row] = await sql<MemberRow[]>`
    select * from account_members where id = ${id} and account_id = ${accountId} for update`
  return row ?? null
}

export async function updateMember(
  sql: Sql,
  id: string,
  change: {
    readonly name: string | null
    readonly email: string | null
    readonly roles: RoleMap
    readonly disabled: boolean
  },
  nowMs: number,
): Promise<MemberRow> {
  const [row] = await sql<MemberRow[]>`
    update account_members set name = ${change.name}, email = ${change.email},
      console_roles = ${sql.json(change.roles)}, disabled = ${change.disabled}, updated_at = ${new Date(nowMs)}
    where id = ${id} returning *`
  return row!
}

export async function deleteMember(sql: Sql, id: string): Promise<void> {
  await sql`delete from account_members where id = ${id}`
}

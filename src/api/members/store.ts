// Statements of account members.
import type { Sql } from 'postgres'
import type { AccountMemberRole } from '../../../schemas/enums.js'
import { among, contains, newest } from '../kit/sql.js'
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

// The members file: account members as listed by the operator.
import { readFile } from 'node:fs/promises'
import type { Sql } from 'postgres'
import { accountMemberPermissions, accountMemberRoles } from '../../schemas/enums.js'
import { derivedId } from '../core/values/id.js'

interface MemberEntry {
  readonly id?: string
  readonly email?: string | null
  readonly name?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly image_url?: string | null
  readonly role?: string | null
  readonly permissions?: Readonly<Record<string, readonly string[]>>
}

/** Read the members file: a JSON list in the form of GET /account-members; `email` or `id` identifies a member. */
export async function readMembers(path: string): Promise<readonly MemberEntry[]> {
  const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(parsed)) throw new Error(`${path}: not a list of members`)
  parsed.forEach((member: unknown, index) => {
    const fault = memberFault(member)
    if (fault) throw new Error(`${path}: member ${index}: ${fault}`)
  })
  return parsed as readonly MemberEntry[]
}

const memberTexts = ['id', 'email', 'name', 'first_name', 'last_name', 'image_url'] as const

function memberFault(member: unknown): string | null {
  if (typeof member !== 'object' || member === null) return 'not an object'
  const entry = member as Record<string, unknown>
  for (const name of memberTexts)
    if (entry[name] !== undefined && entry[name] !== null && typeof entry[name] !== 'string')
      return `${name}: not a text`
  if (!entry.email && !entry.id) return 'email or id is needed'
  if (entry.role && !accountMemberRoles.some(role => role === entry.role))
    return `role: one of ${accountMemberRoles}`
  if (entry.permissions === undefined) return null
  if (typeof entry.permissions !== 'object' || entry.permissions === null) return 'permissions: not an object'
  for (const [where, list] of Object.entries(entry.permissions)) {
    const known =
      Array.isArray(list) && list.every(item => accountMemberPermissions.some(name => name === item))
    if (!known) return `permissions.${where}: not a list of permissions`
  }
  return null
}

/** Replace the members that came from the file by its present ones. References to removed maintainers become empty. */
export async function seeToMembers(
  sql: Sql,
  accountId: string,
  members: readonly MemberEntry[],
): Promise<void> {
  const now = new Date()
  const ids: string[] = []
  for (const member of members) {
    const id = member.id ?? derivedId('acme_', accountId, member.email ?? '')
    const row = {
      id,
      account_id: accountId,
      email: member.email ?? null,
      name: member.name ?? null,
      first_name: member.first_name ?? null,
      last_name: member.last_name ?? null,
      image_url: member.image_url ?? null,
      role: member.role ?? 'member',
      permissions: sql.json(member.permissions ?? {}),
      created_at: now,
      updated_at: now,
    }
    await sql`
      insert into account_members ${sql(row)}
      on conflict (id) do update set email = excluded.email, name = excluded.name, first_name = excluded.first_name,
        last_name = excluded.last_name, image_url = excluded.image_url, role = excluded.role,
        permissions = excluded.permissions, updated_at = excluded.updated_at
      where (account_members.email, account_members.name, account_members.first_name, account_members.last_name,
        account_members.image_url, account_members.role, account_members.permissions)
        is distinct from (excluded.email, excluded.name, excluded.first_name, excluded.last_name,
        excluded.image_url, excluded.role, excluded.permissions)`
    ids.push(id)
  }
  await sql`
    delete from account_members where account_id = ${accountId} and source = 'file'
      and id not in (select jsonb_array_elements_text(${sql.json(ids)}))`
}

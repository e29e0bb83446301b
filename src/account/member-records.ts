// Members as records: made by an admin, by sign-on, or by the operator's link; and the one-time links that let them in.
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import type { RoleMap } from '../core/console-role.js'
import { derivedId } from '../core/values/id.js'
import type { Keys } from './key-types.js'

/** How long the operator's link is good for. */
export const operatorLinkMs = 15 * 60_000
/** How long an invitation is good for. */
export const invitationMs = 7 * 24 * 3_600_000

/** A link's secret, which is shown once, and its end. */
export interface Link {
  readonly token: string
  readonly expiresAtMs: number
}

/** Make a one-time link for a member. */
export async function makeLink(
  sql: Sql,
  keys: Pick<Keys, 'hash'>,
  who: { readonly accountId: string; readonly memberId: string },
  nowMs: number,
  forMs: number,
): Promise<Link> {
  const token = `l_${randomBytes(32).toString('base64url')}`
  const expiresAtMs = nowMs + forMs
  await sql`insert into console_links ${sql({
    hash: keys.hash(token),
    account_id: who.accountId,
    member_id: who.memberId,
    expires_at: new Date(expiresAtMs),
  })}`
  return { token, expiresAtMs }
}

/** Use a link: it is gone afterwards. Null: unknown, used, over, or of a member who may not sign in. */
export async function useLink(
  sql: Sql,
  keys: Pick<Keys, 'hash'>,
  token: string,
  nowMs: number,
): Promise<{ readonly accountId: string; readonly memberId: string } | null> {
  const [row] = await sql<{ account_id: string; member_id: string }[]>`
    delete from console_links l using account_members m
    where l.hash = ${keys.hash(token)} and m.id = l.member_id and l.expires_at > ${new Date(nowMs)} and not m.disabled
    returning l.account_id, l.member_id`
  return row === undefined ? null : { accountId: row.account_id, memberId: row.member_id }
}

/** The member that the operator of the machine signs in as: an admin of the account, made at first need. */
export async function operatorMember(sql: Sql, accountId: string, nowMs: number): Promise<string> {
  const id = derivedId('acme_', accountId, 'operator of the machine')
  const now = new Date(nowMs)
  await sql`
    insert into account_members ${sql({
      id,
      account_id: accountId,
      name: 'Operator',
      role: 'admin',
      source: 'operator',
      console_roles: sql.json({ '*': 'admin' }),
      created_at: now,
      updated_at: now,
    })} on conflict (id) do nothing`
  return id
}

/** The operator's link, which `tollgate start` prints on a terminal. */
export async function operatorLink(
  sql: Sql,
  keys: Pick<Keys, 'hash'>,
  accountId: string,
  nowMs: number,
): Promise<Link> {
  const memberId = await operatorMember(sql, accountId, nowMs)
  return makeLink(sql, keys, { accountId, memberId }, nowMs, operatorLinkMs)
}

/** A person as the provider of sign-on describes them. */
export interface Claimed {
  readonly subject: string
  readonly email: string | null
  readonly name: string | null
  readonly roles: RoleMap
}

/**
 * The member for a sign-on: found by subject, made at the first one. Name, address and roles follow the provider.
 *
 * returns  the id, or null for a member whom an admin has disabled.
 */
export async function memberOfSignOn(
  sql: Sql,
  accountId: string,
  { subject, email, name, roles }: Claimed,
  nowMs: number,
): Promise<string | null> {
  const id = derivedId('acme_', accountId, `oidc ${subject}`)
  const now = new Date(nowMs)
  const [row] = await sql<{ id: string; disabled: boolean }[]>`
    insert into account_members ${sql({
      id,
      account_id: accountId,
      email,
      name,
      role: 'member',
      source: 'oidc',
      oidc_subject: subject,
      console_roles: sql.json(roles),
      created_at: now,
      updated_at: now,
    })} on conflict (account_id, oidc_subject) do update set email = excluded.email, name = excluded.name,
      console_roles = excluded.console_roles, updated_at = excluded.updated_at
    returning id, disabled`
  return row!.disabled ? null : row!.id
}

// The account's members: of the members file, of sign-on, or made here, with roles in the console and one-time links.
import { accountMemberRoles } from '../../../schemas/enums.js'
import type {
  AccountMemberCreate,
  AccountMemberUpdate,
  InvitedMember,
  SignInLink,
} from '../../../schemas/members.js'
import { newId } from '../../account/ids.js'
import {
  invitationMs,
  type Link,
  makeLink,
  operatorLinkMs,
  operatorMember,
} from '../../account/member-records.js'
import type { RoleMap } from '../../core/console-role.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { mustBeUnbound } from '../keys/inherited.js'
import { memberView } from './rows.js'
import {
  countMembers,
  deleteMember,
  findMember,
  insertMember,
  listMembers,
  lockMember,
  type MemberFilter,
  updateMember,
} from './store.js'

const listShape = { ids: list, q: string, role: oneOf(accountMemberRoles), ...page } as const
export const memberListQuery = query(listShape)
type MemberListQuery = QueryOf<typeof listShape>

function filterOf({ key, query }: Call<undefined, MemberListQuery>): MemberFilter {
  return { accountId: key.accountId, ids: query.ids, role: query.role, q: query.q }
}

/** GET /account-members. */
export const listAccountMembers: Handler<undefined, MemberListQuery> = async call => {
  const rows = await listMembers(call.services.sql, filterOf(call), call.query)
  return { data: rows.map(memberView) }
}

/** GET /account-members/count. */
export const countAccountMembers: Handler<undefined, MemberListQuery> = async call => ({
  data: { count: await countMembers(call.services.sql, filterOf(call)) },
})

/** GET /account-members/{account_member_id}. */
export const getAccountMember: Handler = async ({ services, key, params }) => {
  const row = await findMember(services.sql, key.accountId, params.account_member_id!)
  if (!row) throw new ServiceError('not_found', 'Account member not found')
  return { data: memberView(row) }
}

const unknownMember = () => new ServiceError('not_found', 'Account member not found')

/** errors: 404 for an environment that the account does not have; 400 without any role. */
function mustBeRoles({ services, key }: Call<unknown>, roles: RoleMap): void {
  const names = Object.keys(roles)
  if (names.length === 0)
    throw new ServiceError('value_invalid', 'console_roles: a member needs at least one role')
  for (const id of names)
    if (id !== '*' && services.keys.environment(id)?.accountId !== key.accountId)
      throw new ServiceError('not_found', `console_roles: no environment ${id}`)
}

function linkView(memberId: string, { token, expiresAtMs }: Link): SignInLink {
  return {
    account_member_id: memberId,
    token,
    path: `/console/#/sign-in?token=${token}`,
    expires_at: isoTime(expiresAtMs),
  }
}

/** POST /account-members: a member, and the link that invites them: it works once, within seven days. */
export const createAccountMember: Handler<AccountMemberCreate> = async call => {
  const { services, key, body } = call
  mustBeUnbound(key)
  mustBeRoles(call, body.console_roles)
  const nowMs = services.clock.wall()
  const id = newId('acme_')
  const made = await inTransaction(services.sql, async tx => {
    const row = await insertMember(tx, {
      id,
      accountId: key.accountId,
      name: body.name,
      email: body.email ?? null,
      roles: body.console_roles,
      nowMs,
    })
    const who = { accountId: key.accountId, memberId: id }
    const link = await makeLink(tx, services.keys, who, nowMs, invitationMs)
    await call.record?.(tx)
    return { row, link }
  })
  return { data: { ...memberView(made.row), invitation: linkView(id, made.link) } satisfies InvitedMember }
}

/**
 * PUT /account-members/{account_member_id}: absent members are unchanged. Roles and names of a member of sign-on come back
 * with their next sign-on; `disabled` stays.
 *
 * errors  400 for a change of the caller's own roles, which could lock everybody out.
 */
export const updateAccountMember: Handler<AccountMemberUpdate> = async call => {
  const { services, key, params, body } = call
  const id = params.account_member_id!
  mustBeUnbound(key)
  if (body.console_roles) mustBeRoles(call, body.console_roles)
  if (id === key.actor?.id && (body.console_roles || body.disabled))
    throw new ServiceError('state_conflict', 'A member cannot change their own roles')
  const row = await inTransaction(services.sql, async tx => {
    const present = await lockMember(tx, key.accountId, id)
    if (present === null) throw unknownMember()
    const changed = await updateMember(
      tx,
      id,
      {
        name: body.name ?? present.name,
        email: body.email === undefined ? present.email : body.email,
        roles: body.console_roles ?? present.console_roles,
        disabled: body.disabled ?? present.disabled,
      },
      services.clock.wall(),
    )
    if (changed.disabled) await tx`delete from console_sessions where member_id = ${id}`
    await call.record?.(tx)
    return changed
  })
  services.sessions.forgetMember(id)
  return { data: memberView(row) }
}

/** DELETE /account-members/{account_member_id}: their sessions end, and what they maintained has no maintainer. */
export const deleteAccountMember: Handler = async call => {
  const { services, key, params } = call
  const id = params.account_member_id!
  if (id === key.actor?.id) throw new ServiceError('state_conflict', 'A member cannot delete themselves')
  const { name, email } = await inTransaction(services.sql, async tx => {
    const row = await lockMember(tx, key.accountId, id)
    if (row === null) throw unknownMember()
    await deleteMember(tx, id)
    await call.record?.(tx)
    return row
  })
  services.sessions.forgetMember(id)
  return { data: { deleted: true }, noted: { deleted: true, name: name ?? email } }
}

/** POST /account-members/{account_member_id}/sign-in-link: another invitation. */
export const createSignInLink: Handler = async call => {
  const { services, key, params } = call
  mustBeUnbound(key)
  const id = params.account_member_id!
  const nowMs = services.clock.wall()
  const link = await inTransaction(services.sql, async tx => {
    const present = await lockMember(tx, key.accountId, id)
    if (present === null) throw unknownMember()
    if (present.disabled) throw new ServiceError('state_conflict', 'This member is disabled')
    const made = await makeLink(
      tx,
      services.keys,
      { accountId: key.accountId, memberId: id },
      nowMs,
      invitationMs,
    )
    await call.record?.(tx)
    return made
  })
  return { data: linkView(id, link) }
}

/** POST /console-links: the link of the operator, an admin; it works once, within 15 minutes. */
export const createConsoleLink: Handler<object> = async call => {
  const { services, key } = call
  mustBeUnbound(key)
  const nowMs = services.clock.wall()
  const made = await inTransaction(services.sql, async tx => {
    const memberId = await operatorMember(tx, key.accountId, nowMs)
    const link = await makeLink(
      tx,
      services.keys,
      { accountId: key.accountId, memberId },
      nowMs,
      operatorLinkMs,
    )
    await call.record?.(tx)
    return { memberId, link }
  })
  return { data: linkView(made.memberId, made.link) }
}

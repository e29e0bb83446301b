// The account's members. They are read from the members file at start and cannot be changed here.
import { accountMemberRoles } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../kit/call.js'
import { list, oneOf, page, type QueryOf, query, string } from '../kit/query.js'
import { memberView } from './rows.js'
import { countMembers, findMember, listMembers, type MemberFilter } from './store.js'

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

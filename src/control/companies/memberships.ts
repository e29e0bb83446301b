// Memberships: which users belong to which companies. A membership is part of its user's state.
import type { CompanyMembershipDetail, MembershipCreate } from '../../../schemas/companies.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import { ServiceError } from '../../errors.js'
import type { Handler } from '../../kit/call.js'
import { type EntityCall, entityUnknown, isKnown, type Refusals } from '../../kit/entities.js'
import { page, type QueryOf, query, string } from '../../kit/query.js'
import { companyBriefs } from '../entities/read.js'
import { membershipView } from '../entities/view.js'
import { replyWhenShown } from '../entities/write.js'
import { findMembership, listMemberships } from './store.js'

const listShape = { company_id: string, user_id: string, ...page } as const
export const membershipListQuery = query(listShape)
type MembershipListQuery = QueryOf<typeof listShape>

/** GET /company-memberships, newest first. */
export const listCompanyMemberships: Handler<undefined, MembershipListQuery> = async call => {
  const { services, environment, query } = call
  await services.projections.barrier('postgres')
  const filter = { companyId: query.company_id, userId: query.user_id }
  const rows = await listMemberships(services.sql, environment.id, filter, query)
  const companies = await companyBriefs(
    call,
    rows.map(row => row.company_id),
  )
  return {
    data: rows.flatMap(({ user_id, company_id, created_at }) => {
      const company = companies.get(company_id)
      return company ? [membershipView(user_id, company_id, created_at.getTime(), company)] : []
    }),
  }
}

/** POST /company-memberships: the membership of a user in a company, created if absent. source: CU-40, CU-41 */
export const getOrCreateMembership: Handler<MembershipCreate> = async call => {
  const { company_id: companyId, user_id: userId } = call.body
  if (!isKnown(call, 'company', companyId)) throw entityUnknown('company')
  if (!isKnown(call, 'user', userId)) throw entityUnknown('user')
  await replyWhenShown(call, changeMemberships(call, userId, { type: 'join', companyId }), {
    not_found: ['not_found', 'User not found'],
  })
  return { data: await membership(call, userId, companyId) }
}

async function membership(
  call: EntityCall,
  userId: string,
  companyId: string,
): Promise<CompanyMembershipDetail> {
  const { services, environment, nowMs } = call
  const [companies, user] = await Promise.all([
    companyBriefs(call, [companyId]),
    services.shards.ask<UserSnapshot | null>('u', environment.id, userId, { type: 'describe' }, nowMs),
  ])
  const company = companies.get(companyId)
  const joined = user.reply?.memberships.find(([id]) => id === companyId)
  if (!company || !joined) throw membershipUnknown()
  return membershipView(userId, companyId, joined[1], company)
}

const leaving: Refusals = { not_found: ['not_found', 'Company membership not found'] }

function membershipUnknown(): ServiceError {
  return new ServiceError('not_found', 'Company membership not found')
}

/** DELETE /company-memberships/{company_membership_id}. User and company remain. source: CU-40, AL-34 */
export const deleteCompanyMembership: Handler = async call => {
  const { services, environment, params } = call
  await services.projections.barrier('postgres')
  const row = await findMembership(services.sql, environment.id, params.company_membership_id!)
  if (!row || !isKnown(call, 'company', row.company_id) || !isKnown(call, 'user', row.user_id))
    throw membershipUnknown()
  await replyWhenShown(
    call,
    changeMemberships(call, row.user_id, { type: 'leave', companyId: row.company_id }),
    leaving,
  )
  return { data: { deleted: true } }
}

function changeMemberships(
  { services, environment, nowMs }: EntityCall,
  userId: string,
  message: { readonly type: 'join' | 'leave'; readonly companyId: string },
) {
  const target = services.entities.target('user', environment.id, userId, {})
  return services.entities.ask(target, message, nowMs)
}

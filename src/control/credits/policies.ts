// Spend policies: the largest single draw allowed to a company or a user.
import type { CreditSpendPolicy, SpendPolicyCreate, SpendPolicyUpdate } from '../../../schemas/credits.js'
import { newId } from '../../account/ids.js'
import type { SpendPolicyRow } from '../../catalog/credits.js'
import { amountFromNumber, amountToDecimal } from '../../core/values/amount.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { scopeOf } from './handlers.js'
import { countPolicyRows, listPolicyRows, requireCredit } from './store.js'

const listShape = {
  billing_credit_id: string,
  company_id: string,
  scope_type: oneOf(['company', 'user', 'group']),
  user_id: string,
  user_ids: list,
  ...page,
} as const
export const policyListQuery = query(listShape)
type PolicyListQuery = QueryOf<typeof listShape>

function policyView(row: SpendPolicyRow): CreditSpendPolicy {
  return {
    id: row.id,
    billing_credit_id: row.credit_id,
    scope_type: row.company_id === null ? 'user' : 'company',
    company_id: row.company_id,
    user_id: row.user_id,
    label: row.label,
    max_per_draw: Number(row.max_per_draw),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** GET /billing/credits/spend-policies, newest first. */
export const listPolicies: Handler<undefined, PolicyListQuery> = async call => {
  const rows = await listPolicyRows(call.services.sql, call.environment.id, call.query, call.query)
  return { data: rows.map(policyView) }
}

/** GET /billing/credits/spend-policies/count. */
export const countPolicies: Handler<undefined, PolicyListQuery> = async call => ({
  data: { count: await countPolicyRows(call.services.sql, call.environment.id, call.query) },
})

/** GET /billing/credits/spend-policies/{spend_policy_id}. */
export const getPolicy: Handler = async call => {
  const [row] = await call.services.sql<SpendPolicyRow[]>`
    select * from credit_spend_policies
    where id = ${call.params.spend_policy_id!} and environment_id = ${call.environment.id}`
  if (!row) throw unknownPolicy()
  return { data: policyView(row) }
}

function unknownPolicy(): ServiceError {
  return new ServiceError('not_found', 'Spend policy not found')
}

function decimal(credits: number): string {
  return amountToDecimal(amountFromNumber(credits))
}

/**
 * POST /billing/credits/spend-policies.
 *
 * errors  400 unless exactly one of company and user is named, and for a second policy of the same credit and target.
 */
export const createPolicy: Handler<SpendPolicyCreate> = async call => {
  const { body, services, environment } = call
  const { companyId, userId } = target(call, body)
  const now = new Date(services.clock.wall())
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    await requireCredit(tx, environment.id, body.billing_credit_id, 'billing_credit_id')
    const [row] = await tx<SpendPolicyRow[]>`
      insert into credit_spend_policies ${tx({
        id: newId('cspl_'),
        environment_id: environment.id,
        credit_id: body.billing_credit_id,
        company_id: companyId,
        user_id: userId,
        label: body.label ?? null,
        max_per_draw: decimal(body.max_per_draw),
        created_at: now,
        updated_at: now,
      })} on conflict do nothing returning *`
    if (!row)
      throw new ServiceError(
        'state_conflict',
        'The credit already has a spend policy for this company or user',
      )
    return policyView(row)
  })
  return { status: 201, data }
}

function target(call: Call<SpendPolicyCreate, unknown>, body: SpendPolicyCreate) {
  const companyId = body.company_id || null
  const userId = body.user_id || null
  if ((companyId === null) === (userId === null))
    throw new ServiceError('value_invalid', 'company_id, user_id: exactly one of them is needed')
  if (companyId !== null && !isKnown(call, 'company', companyId))
    throw new ServiceError('not_found', 'company_id: no such company')
  if (userId !== null && !isKnown(call, 'user', userId))
    throw new ServiceError('not_found', 'user_id: no such user')
  return { companyId, userId }
}

/**
 * PUT /billing/credits/spend-policies/{spend_policy_id}. Absent members are unchanged. To remove the cap, delete
 * the policy.
 */
export const changePolicy: Handler<SpendPolicyUpdate> = async call => {
  const { body, services, environment } = call
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    const [former] = await tx<SpendPolicyRow[]>`
      select * from credit_spend_policies
      where id = ${call.params.spend_policy_id!} and environment_id = ${environment.id} for update`
    if (!former) throw unknownPolicy()
    const { label, max_per_draw: most } = former
    const said = whole(body, { label, max_per_draw: Number(most) })
    const [row] = await tx<SpendPolicyRow[]>`
      update credit_spend_policies set ${tx({
        label: said.label,
        max_per_draw: said.max_per_draw === null ? most : decimal(said.max_per_draw),
        updated_at: new Date(services.clock.wall()),
      })} where id = ${former.id} returning *`
    return policyView(row!)
  })
  return { data }
}

/** DELETE /billing/credits/spend-policies/{spend_policy_id}. */
export const deletePolicy: Handler = async call => {
  await call.services.catalogs.change(scopeOf(call), async tx => {
    const rows = await tx`
      delete from credit_spend_policies
      where id = ${call.params.spend_policy_id!} and environment_id = ${call.environment.id} returning id`
    if (rows.length === 0) throw unknownPolicy()
  })
  return { data: { deleted: true } }
}

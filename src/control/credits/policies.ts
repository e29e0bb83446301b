// Spend policies: the largest single draw, and the most that is spent in a window, of a company, a user or a group.
import type { CreditSpendPolicy, SpendPolicyCreate, SpendPolicyUpdate } from '../../../schemas/credits.js'
import { newId } from '../../account/ids.js'
import { creditsFor, type SpendPolicyRow } from '../../catalog/credits.js'
import { amountFromNumber, amountToDecimal } from '../../core/values/amount.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import { kept } from '../../kit/unchanged.js'
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
    scope_type: row.group_trait !== null ? 'group' : row.company_id === null ? 'user' : 'company',
    company_id: row.company_id,
    user_id: row.user_id,
    label: row.label,
    max_per_draw: row.max_per_draw === null ? null : Number(row.max_per_draw),
    ...(row.group_trait !== null && { group_trait: row.group_trait, group_value: row.group_value! }),
    ...(row.period !== null && {
      period: row.period,
      max_spend: Number(row.max_spend),
      unit: row.unit!,
      ...(row.currency !== null && { currency: row.currency }),
      mode: row.mode!,
    }),
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
 * errors  400 unless exactly one of company, user and group is named, and one bound; for money without a price of the
 *         credit; for a second policy of the same credit, target, period and mode.
 * source  decision 27, BU-1.
 */
export const createPolicy: Handler<SpendPolicyCreate> = async call => {
  const { body, services, environment } = call
  const named = target(call, body)
  const bound = boundOf(body)
  const now = new Date(services.clock.wall())
  const data = await services.catalogs.change(scopeOf(call), async tx => {
    const credit = await requireCredit(tx, environment.id, body.billing_credit_id, 'billing_credit_id')
    if (bound.currency !== null && creditsFor('1', credit.prices, bound.currency) === '0')
      throw new ServiceError('value_invalid', 'currency: the credit has no price in it')
    const [row] = await tx<SpendPolicyRow[]>`
      insert into credit_spend_policies ${tx({
        id: newId('cspl_'),
        environment_id: environment.id,
        credit_id: body.billing_credit_id,
        ...named,
        label: body.label ?? null,
        ...bound,
        created_at: now,
        updated_at: now,
      })} on conflict do nothing returning *`
    if (!row)
      throw new ServiceError(
        'state_conflict',
        'The credit already has such a spend policy for this company, user or group',
      )
    return policyView(row)
  })
  return { status: 201, data }
}

function target(call: Call<SpendPolicyCreate, unknown>, body: SpendPolicyCreate) {
  // an empty text is an unknown id: read as absent it would widen the policy
  const companyId = body.company_id ?? null
  const userId = body.user_id ?? null
  const group_trait = body.group_trait ?? null
  const group_value = body.group_value ?? null
  if ((group_trait === null) !== (group_value === null))
    throw new ServiceError('value_invalid', 'group_trait, group_value: a group needs both')
  if ([companyId, userId, group_trait].filter(one => one !== null).length !== 1)
    throw new ServiceError('value_invalid', 'company_id, user_id, group_trait: exactly one of them is needed')
  if (companyId !== null && !isKnown(call, 'company', companyId))
    throw new ServiceError('not_found', 'company_id: no such company')
  if (userId !== null && !isKnown(call, 'user', userId))
    throw new ServiceError('not_found', 'user_id: no such user')
  return { company_id: companyId, user_id: userId, group_trait, group_value }
}

/** The columns of a bound: on a single draw, or on a window. */
function boundOf(body: SpendPolicyCreate) {
  const { max_per_draw: draw = null, max_spend: most = null, period = null, mode = null } = body
  const currency = body.currency?.toLowerCase() ?? null
  if ((draw === null) === (most === null))
    throw new ServiceError('value_invalid', 'max_per_draw, max_spend: exactly one of them is needed')
  if ((most === null) !== (period === null))
    throw new ServiceError('value_invalid', 'period, max_spend: a bound on a window needs both')
  const unit = most === null ? null : (body.unit ?? 'credits')
  if ((unit === 'cost') !== (currency !== null))
    throw new ServiceError('value_invalid', 'currency: goes with a max_spend in cost')
  if (draw !== null && (mode === 'soft' || body.unit != null))
    throw new ServiceError('value_invalid', 'mode, unit: a bound on single draws is hard, and in credits')
  return {
    max_per_draw: draw === null ? null : decimal(draw),
    period,
    max_spend: most === null ? null : decimal(most),
    unit,
    currency,
    mode: most === null ? null : (mode ?? 'hard'),
  }
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
    const { label, max_per_draw: draw, max_spend: most, mode } = former
    const other = draw === null ? 'max_per_draw' : body.max_spend != null ? 'max_spend' : 'mode'
    if (body[other] != null) throw new ServiceError('value_invalid', `${other}: not of this policy`)
    const [row] = await tx<SpendPolicyRow[]>`
      update credit_spend_policies set ${tx({
        label: kept(body.label, label),
        max_per_draw: body.max_per_draw == null ? draw : decimal(body.max_per_draw),
        max_spend: body.max_spend == null ? most : decimal(body.max_spend),
        mode: body.mode ?? mode,
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

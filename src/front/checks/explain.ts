// POST /flags/{key}/explain and GET /companies/{company_id}/explain: why flags have, or had, their values. Nothing is
// counted, recorded or seen.
import type { ExplainBody, ExplainedCondition, FlagExplanation } from '../../../schemas/console.js'
import { type Explanation, explainFlag as explain } from '../../core/checks/explain.js'
import type { ExplainedCondition as Told } from '../../core/checks/explained.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import type { CheckContext, Preflight } from '../../core/model/requests.js'
import { preflightError } from '../../core/rules/rule.js'
import { givenKeys } from '../../entities/directory/entities.js'
import { inTurn } from '../../entities/turns/many-turns.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { type EntityPlace, entityUnknown, isKnown } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { datetime, page, type QueryOf, query, string, text } from '../../kit/query.js'
import { isoTime, isoTimeOrNull, requireTime } from '../../kit/time.js'
import { preflightOf } from './handlers.js'
import { Past } from './past.js'

/**
 * POST /flags/{key}/explain: every rule in the order it is tried, each condition with the value it saw, the rule that decided,
 * and the smallest change that would change the result; now, or at a past instant.
 *
 * errors  those of a check; 404 for an unknown `company_id`; 400 for an instant from which not everything is kept (EX-7).
 */
export async function explainFlag(call: Call<Exact<ExplainBody>>): Promise<Answer> {
  const { body, nowMs } = call
  const preflight = body.preflight ? preflightOf(body.preflight) : null
  const fault = preflight && preflightError(preflight)
  if (fault) throw new ServiceError('body_invalid', fault)
  if (body.company_id != null && !isKnown(call, 'company', body.company_id)) throw entityUnknown('company')
  const past = body.at == null ? null : await Past.at(call, requireTime(body.at, 'at'))
  const told = past === null ? await present(call, preflight) : await atThen(call, past, preflight)
  if (told === null) throw new ServiceError('not_found', 'Flag not found')
  const name = await nameOf(call, told.companyId)
  return { data: viewOf(told, name, past?.atMs ?? nowMs) }
}

async function present(call: Call<Exact<ExplainBody>>, preflight: Preflight | null) {
  const { services, environment, params, body, nowMs } = call
  const companyKeys = givenKeys(body.company)
  const companyId =
    body.company_id ?? (companyKeys && services.entities.find('company', environment.id, companyKeys))
  const userKeys = givenKeys(body.user)
  const userId = userKeys && services.entities.find('user', environment.id, userKeys)
  const context = contextOf(
    companyKeys !== null || body.company_id != null,
    userKeys !== null,
    userId,
    userId === null ? null : await traitsOf(call, userId),
  )
  const question = { type: 'explain', flagKey: params.key!, preflight, context } as const
  const { reply } = await services.shards.ask<Explanation | null>(
    companyId === null ? 'e' : 'c',
    environment.id,
    companyId ?? environment.id,
    question,
    nowMs,
  )
  return reply
}

async function atThen(call: Call<Exact<ExplainBody>>, past: Past, preflight: Preflight | null) {
  const { params, body } = call
  if (preflight !== null) past.requireNoBudgets()
  const flagKey = params.key!
  const companyKeys = givenKeys(body.company)
  const companyId = body.company_id ?? (companyKeys && (await past.find('company', companyKeys)))
  const userKeys = givenKeys(body.user)
  const foundId = userKeys && (await past.find('user', userKeys))
  const userTraits = foundId === null ? null : await past.userTraits(foundId)
  const userId = userTraits === null ? null : foundId
  const flags = past.catalog.data.flags.filter(({ key }) => key === flagKey)
  const company = companyId === null ? null : await past.company(companyId, flags)
  if (company === null && body.company_id != null) throw unknownThen(past)
  const isCompanyGiven = companyKeys !== null || body.company_id != null
  const context = contextOf(isCompanyGiven, userKeys !== null, userId, userTraits)
  return explain(past.catalog, company, { flagKey, preflight, context }, past.atMs)
}

const unknownThen = ({ atMs }: Past): ServiceError =>
  new ServiceError('not_found', `There was no such company at ${isoTime(atMs)}`)

const explainShape = { at: datetime, flag_key: text(512), user_id: string, ...page } as const
export const companyExplainQuery = query(explainShape)

/** Explanations that cost one token of the caller's budget. */
const explanationsPerToken = 10

/**
 * GET /companies/{company_id}/explain: the same of each flag, by key; `flag_key` names one.
 *
 * errors  404 for an unknown company, user or flag; 400 as above.
 */
export async function explainCompany(call: Call<undefined, QueryOf<typeof explainShape>>): Promise<Answer> {
  const { services, environment, params, query, nowMs } = call
  const companyId = params.company_id!
  if (!isKnown(call, 'company', companyId)) throw entityUnknown('company')
  if (query.user_id !== undefined && !isKnown(call, 'user', query.user_id)) throw entityUnknown('user')
  const past = query.at === undefined ? null : await Past.at(call, query.at)
  const all = (past?.catalog.data ?? services.catalogs.get(environment.id)).flags
  const wanted = all.filter(({ key }) => query.flag_key === undefined || key === query.flag_key)
  if (wanted.length === 0 && query.flag_key !== undefined)
    throw new ServiceError('not_found', 'Flag not found')
  const flags = wanted.slice(query.offset, query.offset + query.limit)
  call.charge?.(Math.floor(flags.length / explanationsPerToken))
  const userId = query.user_id ?? null
  const userTraits =
    userId === null ? null : past === null ? await traitsOf(call, userId) : await past.userTraits(userId)
  if (userId !== null && userTraits === null) throw entityUnknown('user')
  const context = contextOf(true, userId !== null, userId, userTraits)
  const name = await nameOf(call, companyId)
  const company = past && (await past.company(companyId, flags))
  if (past !== null && company === null) throw unknownThen(past)
  const told = await inTurn(environment.id, flags, async ({ key: flagKey }) => {
    const question = { type: 'explain', flagKey, preflight: null, context } as const
    if (past !== null) return explain(past.catalog, company, question, past.atMs)
    const asked = services.shards.ask<Explanation | null>('c', environment.id, companyId, question, nowMs)
    return (await asked).reply
  })
  return { data: told.flatMap(one => (one === null ? [] : [viewOf(one, name, past?.atMs ?? nowMs)])) }
}

function contextOf(
  companyGiven: boolean,
  userGiven: boolean,
  userId: string | null,
  userTraits: CheckContext['userTraits'],
): CheckContext {
  return { companyGiven, userGiven, asked: '{}', userId, userTraits }
}

async function traitsOf({ services, environment, nowMs }: EntityPlace, userId: string) {
  const { reply } = await services.shards.ask<UserSnapshot | null>(
    'u',
    environment.id,
    userId,
    { type: 'describe' },
    nowMs,
  )
  return reply?.traits.map(([name, text]) => [name, text] as const) ?? null
}

async function nameOf({ services }: EntityPlace, companyId: string | null): Promise<string | null> {
  if (companyId === null) return null
  const [company] = await services.sql<{ name: string }[]>`select name from companies where id = ${companyId}`
  return company?.name ?? null
}

function viewOf(told: Explanation, companyName: string | null, atMs: number): FlagExplanation {
  const { companyId, change } = told
  return {
    flag: told.flag,
    flag_id: told.flagId,
    value: told.value,
    default_value: told.defaultValue,
    reason: told.reason,
    error: told.error,
    rule_id: told.ruleId,
    company_id: companyId,
    company_name: companyName,
    user_id: told.userId,
    at: isoTime(atMs),
    rules: told.rules.map(rule => ({
      id: rule.id,
      name: rule.name,
      rule_type: rule.ruleType,
      value: rule.value,
      origin: rule.origin,
      plan_id: rule.planId,
      company_override_id: rule.overrideId,
      matched: rule.matched,
      decided: rule.decided,
      conditions: rule.conditions.map(conditionView),
      condition_groups: rule.conditionGroups.map(group => group.map(conditionView)),
    })),
    smallest_change: change && {
      rule_id: change.ruleId,
      needs: change.needs,
      condition_ids: change.conditionIds,
      text: change.text,
      at: isoTimeOrNull(change.atMs),
    },
  }
}

function conditionView(told: Told): ExplainedCondition {
  return {
    id: told.id,
    condition_type: told.conditionType,
    operator: told.operator,
    held: told.held,
    subject: told.subject,
    expected: told.expected,
    resource_ids: told.resourceIds,
    saw: told.saw,
    resets_at: isoTimeOrNull(told.resetAtMs),
  }
}

// POST /flags/{key}/explain: why a flag has its value now. Nothing is counted, recorded or seen.
import type { ExplainBody, ExplainedCondition, FlagExplanation } from '../../../schemas/console.js'
import type { Explanation } from '../../core/checks/explain.js'
import type { ExplainedCondition as Told } from '../../core/checks/explained.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import type { CheckContext } from '../../core/model/requests.js'
import { preflightError } from '../../core/rules/rule.js'
import { givenKeys } from '../../entities/directory/entities.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../../kit/call.js'
import { entityUnknown, isKnown } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { preflightOf } from './handlers.js'

/**
 * POST /flags/{key}/explain: every rule in the order it is tried, each condition with the value it saw, the rule that decided,
 * and the smallest change that would change the result.
 *
 * errors  those of a check; 404 for an unknown `company_id`.
 */
export async function explainFlag(call: Call<Exact<ExplainBody>>): Promise<Answer> {
  const { services, environment, params, body, nowMs } = call
  const preflight = body.preflight ? preflightOf(body.preflight) : null
  const fault = preflight && preflightError(preflight)
  if (fault) throw new ServiceError('body_invalid', fault)
  const companyId = companyOf(call)
  const userKeys = givenKeys(body.user)
  const userId = userKeys && services.entities.find('user', environment.id, userKeys)
  const context: CheckContext = {
    companyGiven: givenKeys(body.company) !== null || body.company_id != null,
    userGiven: userKeys !== null,
    asked: '{}',
    userId,
    userTraits: userId === null ? null : await traitsOf(call, userId),
  }
  const question = { type: 'explain', flagKey: params.key!, preflight, context } as const
  const { reply } = await services.shards.ask<Explanation | null>(
    companyId === null ? 'e' : 'c',
    environment.id,
    companyId ?? environment.id,
    question,
    nowMs,
  )
  if (reply === null) throw new ServiceError('not_found', 'Flag not found')
  return { data: await viewOf(call, reply) }
}

function companyOf(call: Call<Exact<ExplainBody>>): string | null {
  const { body, services, environment } = call
  if (body.company_id != null) {
    if (!isKnown(call, 'company', body.company_id)) throw entityUnknown('company')
    return body.company_id
  }
  const keys = givenKeys(body.company)
  return keys && services.entities.find('company', environment.id, keys)
}

async function traitsOf({ services, environment, nowMs }: Call<unknown>, userId: string) {
  const { reply } = await services.shards.ask<UserSnapshot | null>(
    'u',
    environment.id,
    userId,
    { type: 'describe' },
    nowMs,
  )
  return reply?.traits.map(([name, text]) => [name, text] as const) ?? null
}

async function viewOf({ services, nowMs }: Call<unknown>, told: Explanation): Promise<FlagExplanation> {
  const { companyId, change } = told
  const [company] =
    companyId === null
      ? []
      : await services.sql<{ name: string }[]>`select name from companies where id = ${companyId}`
  return {
    flag: told.flag,
    flag_id: told.flagId,
    value: told.value,
    default_value: told.defaultValue,
    reason: told.reason,
    error: told.error,
    rule_id: told.ruleId,
    company_id: companyId,
    company_name: company?.name ?? null,
    user_id: told.userId,
    at: isoTime(nowMs),
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

// Flag checks: the hot path. Keys to ids in the directory, one question to the company's actor, its text as it comes.
import {
  type CheckAndReserveRequestBody,
  type CheckFlagRequestBody,
  type CheckFlagsBulkRequestBody,
  type PreflightRequestBody,
  validateContext,
} from '../../../schemas/checks.js'
import type { CatalogData } from '../../core/catalog.js'
import type { CheckContext, Preflight, Question } from '../../core/message.js'
import { preflightError } from '../../core/rule.js'
import type { UserSnapshot } from '../../core/state.js'
import type { Keys } from '../../engine/entities.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call } from '../call.js'
import { orRefused, type Refusals } from '../entity-write.js'
import { requireTime } from '../time.js'

/**
 * POST /flags/{key}/check: one flag, with an optional preflight.
 *
 * errors  400 for keys that match two entities (FE-77) and for a preflight that is negative or no integer (FE-86);
 *         404 for an unknown flag (FE-77).
 */
export async function checkFlag(call: Call<CheckFlagRequestBody>): Promise<Answer> {
  const preflight = call.body.preflight ? preflightOf(call.body.preflight) : null
  const json = await ask<string | null>(call, call.body, context => ({
    type: 'check',
    flagKey: call.params.key!,
    preflight,
    context,
  }))
  if (json === null) throw new ServiceError('not_found', 'Flag not found')
  return { json }
}

/** POST /flags/check: every flag of the environment from one snapshot of the company (FE-90, FE-91). */
export async function checkFlags(call: Call<CheckFlagRequestBody>): Promise<Answer> {
  if (call.body.preflight) throw new ServiceError('body_invalid', 'preflight is for single checks only')
  return { json: await ask<string>(call, call.body, context => ({ type: 'check_all', context })) }
}

/** Most contexts of one bulk check (FE-92). */
const contextsMax = 100

/** POST /flags/check-bulk: one result list per context, in request order; a bad context fails alone (FE-92). */
export async function checkFlagsBulk(call: Call<CheckFlagsBulkRequestBody>): Promise<Answer> {
  if (call.body.contexts.length > contextsMax)
    throw new ServiceError('body_invalid', `contexts: at most ${contextsMax}`)
  const results = await Promise.all(call.body.contexts.map(context => checkContext(call, context)))
  return { json: `{"data":[${results.join(',')}]}` }
}

async function checkContext(call: Call<CheckFlagsBulkRequestBody>, context: unknown): Promise<string> {
  try {
    const valid = validateContext(context)
    if (!valid.success) throw new ServiceError('body_invalid', `${valid.errors[0]?.path.slice(7)} is invalid`)
    if (valid.data.preflight) throw new ServiceError('body_invalid', 'preflight is for single checks only')
    return await ask<string>(call, valid.data, found => ({ type: 'check_all', context: found }))
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 400)) throw error
    return JSON.stringify({ flags: [], error: error.message })
  }
}

/**
 * POST /flags/{key}/check-and-reserve: where the flag allows use that costs credits, they are held in the same step.
 *
 * errors  as of a check; 400 for an end that is over or more than an hour away; 409 for a key that held another amount.
 * source  CR-84, CR-85; api/flags.md. Short of credits is an answer, not an error: value false.
 */
export async function checkAndReserveFlag(call: Call<CheckAndReserveRequestBody>): Promise<Answer> {
  const { services, environment, params, body, nowMs } = call
  const preflight = body.preflight ? preflightOf(body.preflight) : null
  const { companyId, context } = await found(call, body)
  const flagKey = params.key!
  const json = await orRefused(
    companyId
      ? services.shards.ask<string | null>(
          'c',
          environment.id,
          companyId,
          {
            type: 'check_and_reserve',
            flagKey,
            preflight,
            context,
            quantity: body.quantity ?? null,
            expiresAtMs: body.expires_at == null ? null : requireTime(body.expires_at, 'expires_at'),
            key: body.idempotency_key ?? null,
          },
          nowMs,
        )
      : services.shards.ask<string | null>(
          'e',
          environment.id,
          environment.id,
          { type: 'check', flagKey, preflight, context },
          nowMs,
        ),
    reserveRefusals,
  )
  if (json.reply === null) throw new ServiceError('not_found', 'Flag not found')
  return { json: json.reply }
}

const reserveRefusals: Refusals = {
  expiry_invalid: ['value_invalid', 'expires_at: must be later than now, and at most an hour'],
  amount_invalid: ['value_invalid', 'quantity: out of bounds'],
  idempotency_reused: ['idempotency_reused', 'The idempotency key was used with other inputs'],
}

/** Put a question to the company named, or to the environment's own actor when there is none. */
export async function ask<Reply>(
  call: Call<unknown>,
  body: Pick<CheckFlagRequestBody, 'company' | 'user'>,
  question: (context: CheckContext) => Question,
): Promise<Reply> {
  const { shards, metrics, catalogs } = call.services
  const environmentId = call.environment.id
  const { companyId, context } = await found(call, body)
  const asked = question(context)
  metrics.checks.count += asked.type === 'check_all' ? catalogs.get(environmentId).flags.length : 1
  const answered = companyId
    ? shards.ask<Reply>('c', environmentId, companyId, asked, call.nowMs)
    : shards.ask<Reply>('e', environmentId, environmentId, asked, call.nowMs)
  return (await answered).reply
}

/** Whom a check names: the company found, and everything else its actor needs to know. */
async function found(
  call: Call<unknown>,
  body: CheckFlagRequestBody,
): Promise<{ readonly companyId: string | null; readonly context: CheckContext }> {
  const { entities } = call.services
  const environmentId = call.environment.id
  const companyKeys = given(body.company)
  const userKeys = given(body.user)
  const companyId = companyKeys && entities.find('company', environmentId, companyKeys)
  const userId = userKeys && entities.find('user', environmentId, userKeys)
  const context: CheckContext = {
    companyGiven: companyKeys !== null,
    userGiven: userKeys !== null,
    companyKeys,
    userKeys,
    userId,
    userTraits: userId === null ? null : await traitsOf(call, userId),
  }
  return { companyId, context }
}

/** The user's traits, fetched from its actor only where some rule of the environment reads users' traits. */
async function traitsOf(call: Call<unknown>, userId: string): Promise<CheckContext['userTraits']> {
  const environmentId = call.environment.id
  if (!readsUserTraits(call.services.catalogs.get(environmentId))) return null
  const question = { type: 'describe' } as const
  const { reply } = await call.services.shards.ask<UserSnapshot | null>(
    'u',
    environmentId,
    userId,
    question,
    call.nowMs,
  )
  return reply?.traits.map(([name, text]) => [name, text] as const) ?? null
}

const readers = new WeakMap<CatalogData, boolean>()

function readsUserTraits(catalog: CatalogData): boolean {
  let reads = readers.get(catalog)
  if (reads === undefined) {
    const ofUsers = new Set(
      catalog.traits.filter(trait => trait.entityType === 'user').map(trait => trait.id),
    )
    reads = catalog.flags.some(flag =>
      flag.rules.some(rule =>
        [rule.conditions, ...rule.conditionGroups]
          .flat()
          .some(one => one.traitId !== null && ofUsers.has(one.traitId)),
      ),
    )
    readers.set(catalog, reads)
  }
  return reads
}

function preflightOf(body: PreflightRequestBody): Preflight {
  const preflight: Preflight = {
    usage: body.usage ?? null,
    eventUsage: body.event_usage
      ? { eventSubtype: body.event_usage.event_subtype, quantity: body.event_usage.quantity }
      : null,
    creditCost: body.credit_cost ?? null,
  }
  const error = preflightError(preflight)
  if (error !== null) throw new ServiceError('value_invalid', error)
  return preflight
}

/** Keys as given; an empty map is as if absent. */
function given(keys: Keys | null | undefined): Keys | null {
  if (!keys) return null
  for (const _ in keys) return keys
  return null
}

// Flag checks, the hot path: find ids in the directory, ask the company's shard once, return its text unchanged.
import {
  type CheckAndReserveRequestBody,
  type CheckFlagRequestBody,
  type CheckFlagsBulkRequestBody,
  type PreflightRequestBody,
  validateContext,
} from '../../../schemas/checks.js'
import type { EntityType } from '../../../schemas/enums.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import type { Question } from '../../core/model/message.js'
import type { CheckContext, Preflight } from '../../core/model/requests.js'
import { preflightError } from '../../core/rules/rule.js'
import { givenKeys, type Keys } from '../../entities/directory/entities.js'
import type { Answered, Waiting } from '../../entities/shards/shards.js'
import { inTurn } from '../../entities/turns/many-turns.js'
import { ServiceError } from '../../errors.js'
import { type Answer, type Call, Deferred } from '../../kit/call.js'
import { orRefused, type Refusals } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { requireTime } from '../../kit/time.js'
import { chargeFor, contextsFor, flagsOf, isHeavy } from './many.js'

/**
 * POST /flags/{key}/check: one flag, with an optional preflight.
 *
 * errors  400 for keys that match two entities (FE-77) and for a preflight that is negative or no integer (FE-86);
 *         404 for an unknown flag (FE-77).
 */
export function checkFlag(
  call: Call<Exact<CheckFlagRequestBody>>,
  send: Send<CheckOfFlag> = sendCheck,
): Deferred | Promise<Answer> {
  const preflight = call.body.preflight ? preflightOf(call.body.preflight) : null
  const flagKey = call.params.key!
  const question = (context: CheckContext): CheckOfFlag => ({
    type: 'check',
    timed: false,
    flagKey,
    preflight,
    context,
  })
  return answerTo(call, answerOfFlag, question, send)
}

/** The question of one flag. */
export type CheckOfFlag = Extract<Question, { readonly type: 'check' }>

/** Sends a question to the shard of its subject; `waiting` hears the reply. */
type Send<Asked extends Question> = (
  call: Call<unknown>,
  subject: Subject,
  question: Asked,
  waiting: Waiting,
) => void

function answerOfFlag(json: string | null): Answer {
  if (json === null) throw new ServiceError('not_found', 'Flag not found')
  return { json }
}

/** POST /flags/check: every flag of the environment from one snapshot of the company (FE-90, FE-91). */
export function checkFlags(call: Call<Exact<CheckFlagRequestBody>>): Deferred | Promise<Answer> {
  if (call.body.preflight) throw new ServiceError('body_invalid', 'preflight is for single checks only')
  if (isHeavy(call))
    return askAll<string | Uint8Array>(call, call.body, context => ({
      type: 'check_all',
      whole: true,
      context,
    })).then(answerOfAll)
  return answerTo(call, answerOfAll, context => ({ type: 'check_all', whole: true, context }), sendCheck)
}

function answerOfAll(body: string | Uint8Array): Answer {
  return typeof body === 'string' ? { whole: body } : { bytes: body }
}

/** Longest body that goes to the shard unchanged; from a longer one only company and user are sent. */
const askedMax = 2_048

/** The text of a body as it goes to the shard; null: company and user are sent. */
export const askedIn = (text: string): string | null => (text !== '' && text.length <= askedMax ? text : null)

/** Send a check to its company's shard. Returns a promise only if the user's traits must be fetched first. */
function answerTo<Reply, Asked extends Question>(
  call: Call<Exact<CheckFlagRequestBody>>,
  answer: (reply: Reply) => Answer,
  question: (context: CheckContext) => Asked,
  send: Send<Asked>,
): Deferred | Promise<Answer> {
  const { body, text } = call
  const subject = subjectIn(call, body, askedIn(text))
  if (needsTraits(call, subject)) return replyWithTraits<Reply>(call, subject, question).then(answer)
  const later = new Deferred(({ reply }: Answered<Reply>) => answer(reply))
  send(call, subject, question(subject.context), later)
  return later as Deferred
}

/** Number of flags a check evaluates. */
function flagsIn(call: Call<unknown>, { type }: Question): number {
  return type === 'check_all' ? flagsOf(call) : 1
}

/** POST /flags/check-bulk: one result list per context, in request order; a bad context fails alone (FE-92). */
export async function checkFlagsBulk(call: Call<CheckFlagsBulkRequestBody>): Promise<Answer> {
  const { contexts } = call.body
  const max = contextsFor(flagsOf(call), call.key.kind === 'publishable')
  if (contexts.length > max)
    throw new ServiceError('body_invalid', `contexts: at most ${max}, for ${flagsOf(call)} flags each`)
  chargeFor(call, contexts.length)
  const results = await inTurn(call.environment.id, contexts, context => checkContext(call, context))
  return { pieces: ['{"data":[', ...results.flatMap((json, i) => (i === 0 ? [json] : [',', json])), ']}'] }
}

async function checkContext(call: Call<CheckFlagsBulkRequestBody>, context: unknown): Promise<string> {
  try {
    const valid = validateContext(context)
    if (!valid.success) throw new ServiceError('body_invalid', `${valid.errors[0]?.path.slice(7)} is invalid`)
    if (valid.data.preflight) throw new ServiceError('body_invalid', 'preflight is for single checks only')
    return await ask<string>(call, valid.data, found => ({ type: 'check_all', whole: false, context: found }))
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 400)) throw error
    return JSON.stringify({ flags: [], error: error.message })
  }
}

/**
 * POST /flags/{key}/check-and-reserve: check a flag and, if it allows use that costs credits, hold them in the same
 * step.
 *
 * errors  those of a check; 400 for an end in the past or more than an hour away; 409 for an idempotency key that
 *         held another amount, or was used for another company.
 * source  CR-84, CR-85. Too few credits is an answer, not an error: value false.
 */
export async function checkAndReserveFlag(call: Call<Exact<CheckAndReserveRequestBody>>): Promise<Answer> {
  const { services, environment, params, body, nowMs } = call
  const preflight = body.preflight ? preflightOf(body.preflight) : null
  const subject = subjectIn(call, body, null)
  const { companyId, context } = needsTraits(call, subject) ? await withTraits(call, subject) : subject
  const flagKey = params.key!
  const expiresAtMs = body.expires_at == null ? null : requireTime(body.expires_at, 'expires_at')
  const key = body.idempotency_key ?? null
  const reserve = async (used: boolean) => {
    const message = {
      type: 'check_and_reserve',
      flagKey,
      preflight,
      context,
      quantity: body.quantity ?? null,
      expiresAtMs,
      key,
      ...(used && { used }),
    } as const
    const asked = services.shards.ask<string | null>('c', environment.id, companyId!, message, nowMs)
    const { reply } = await orRefused(asked, reserveRefusals)
    return { value: reply, made: holds(reply) }
  }
  const json = companyId
    ? await services.holdKeys.with(environment.id, 'reservation', key, companyId, nowMs, reserve)
    : (
        await services.shards.ask<string | null>(
          'e',
          environment.id,
          environment.id,
          { type: 'check', timed: false, flagKey, preflight, context },
          nowMs,
        )
      ).reply
  if (json === null) throw new ServiceError('not_found', 'Flag not found')
  return { json, madeNothing: !holds(json) }
}

const holds = (json: string | null) => json?.includes(',"reservation":{') === true

const reserveRefusals: Refusals = {
  expiry_invalid: ['value_invalid', 'expires_at: must be later than now, and at most an hour'],
  amount_invalid: ['value_invalid', 'quantity: out of bounds'],
  idempotency_reused: ['idempotency_reused', 'The idempotency key was used with other inputs'],
  idempotency_over: ['idempotency_reused', 'What the idempotency key held is over'],
}

/** Ask the named company's shard, or the environment's own actor if no company was found. */
export function ask<Reply>(
  call: Call<unknown>,
  body: Named,
  question: (context: CheckContext) => Question,
): Promise<Reply> {
  const subject = subjectIn(call, body, null)
  return needsTraits(call, subject)
    ? replyWithTraits(call, subject, question)
    : replyTo(call, subject, question(subject.context))
}

/** Ask for every flag, charged and in the turn of the environment: as `ask`, which it is where flags are few. */
export async function askAll<Reply>(
  call: Call<unknown>,
  body: Named,
  question: (context: CheckContext) => Question,
): Promise<Reply> {
  if (!isHeavy(call)) return ask(call, body, question)
  chargeFor(call, 1)
  const [reply] = await inTurn(call.environment.id, [body], () => ask<Reply>(call, body, question))
  return reply!
}

/** The company a check names, and what its actor needs to evaluate it. The user's traits are added later. */
export interface Subject {
  readonly companyId: string | null
  readonly context: CheckContext
}

/** The keys of a company and a user, as a check names them. */
export type Named = Pick<Exact<CheckFlagRequestBody>, 'company' | 'user'>

/** The subject of a call. A signed context overrides what the body names (AL-14). */
const subjectIn = ({ signed, services, environment }: Call<unknown>, named: Named, text: string | null) =>
  subjectOf(services.entities, environment.id, signed ?? named, signed ? null : text)

/**
 * The subject of a check, its company and user found by their keys.
 *
 * entities  finds an entity in an environment; null: there is none.
 * text      the text sent to the shard; null: it is built from company and user.
 */
export function subjectOf<Environment>(
  entities: { find(kind: EntityType, environment: Environment, keys: Keys): string | null },
  environment: Environment,
  { company, user }: Named,
  text: string | null,
): Subject {
  const asked = text ?? JSON.stringify({ company, user })
  const companyKeys = givenKeys(company)
  const userKeys = givenKeys(user)
  const companyId = companyKeys && entities.find('company', environment, companyKeys)
  const userId = userKeys && entities.find('user', environment, userKeys)
  const companyGiven = companyKeys !== null
  const userGiven = userKeys !== null
  return { companyId, context: { companyGiven, userGiven, asked, userId, userTraits: null } }
}

/** Ask the named company's shard, or the environment's own actor. */
export function sendCheck(
  call: Call<unknown>,
  { companyId }: Subject,
  asked: Question,
  waiting: Waiting,
): void {
  const { shards, metrics } = call.services
  const environmentId = call.environment.id
  metrics.checks.count += flagsIn(call, asked)
  if (companyId !== null) shards.put('c', environmentId, companyId, asked, call.nowMs, waiting)
  else shards.put('e', environmentId, environmentId, asked, call.nowMs, waiting)
}

/** Traits of the user are fetched only if a rule of the environment reads traits of users. */
function needsTraits(call: Call<unknown>, { context }: Subject): boolean {
  return context.userId !== null && readsUserTraits(call.services.catalogs.get(call.environment.id))
}

function replyTo<Reply>(call: Call<unknown>, subject: Subject, asked: Question): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // bytes are valid until this returns
    const own = (reply: unknown) => (reply instanceof Uint8Array ? Buffer.from(reply) : reply) as Reply
    sendCheck(call, subject, asked, { resolve: ({ reply }) => resolve(own(reply)), reject })
  })
}

async function replyWithTraits<Reply>(
  call: Call<unknown>,
  bare: Subject,
  question: (context: CheckContext) => Question,
): Promise<Reply> {
  const subject = await withTraits(call, bare)
  return replyTo(call, subject, question(subject.context))
}

/** The subject completed with the user's traits, fetched from the user's actor. */
async function withTraits(call: Call<unknown>, { companyId, context }: Subject): Promise<Subject> {
  const { reply } = await call.services.shards.ask<UserSnapshot | null>(
    'u',
    call.environment.id,
    context.userId!,
    { type: 'describe' },
    call.nowMs,
  )
  const userTraits = reply?.traits.map(([name, text]) => [name, text] as const) ?? null
  return { companyId, context: { ...context, userTraits } }
}

const readers = new WeakMap<CatalogData, boolean>()

/** Whether a rule reads a trait of users. */
export function readsUserTraits(catalog: CatalogData): boolean {
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

export function preflightOf(body: Exact<PreflightRequestBody>): Preflight {
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

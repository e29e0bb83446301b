// The OpenFeature Remote Evaluation Protocol: flag checks with that protocol's requests and responses.
import { createHash } from 'node:crypto'
import type { CheckFlag, CheckFlags } from '../../../schemas/checks.js'
import {
  type OfrepContext,
  type OfrepEvaluation,
  type OfrepFailure,
  validateOfrep,
} from '../../../schemas/ofrep.js'
import { ServiceError } from '../../errors.js'
import { faultsText } from '../../faults.js'
import { hasHalfPair, jsonText, parseExactly } from '../../json.js'
import { assertPlain } from '../../json-bounds.js'
import type { Answer, Call, RawBody } from '../../kit/call.js'
import { long } from '../../kit/long.js'
import { ask, askAll } from './handlers.js'

/** The evaluated company and user, in the form a check takes. */
export interface Evaluated {
  readonly company: Record<string, string> | null
  readonly user: Record<string, string> | null
}

/** An error that the protocol itself defines. */
class Refusal extends Error {
  constructor(
    readonly code: OfrepFailure['errorCode'],
    details: string,
  ) {
    super(details)
  }
}

/**
 * POST /ofrep/v1/evaluate/flags/{key}: one flag.
 *
 * errors  400 PARSE_ERROR, INVALID_CONTEXT; 404 FLAG_NOT_FOUND; in the protocol's error form.
 * source  decision (the protocol's text); FE-77 for ambiguous keys and unknown flags.
 */
export function evaluateFlag(call: Call<RawBody>): Promise<Answer> {
  const key = call.params.key!
  return answering(key, async () => {
    const subject = evaluatedIn(call.body.text())
    const json = await ask<string | null>(call, subject, context => ({
      type: 'check',
      timed: false,
      flagKey: key,
      preflight: null,
      context,
    }))
    if (json === null) throw unknownFlag(key)
    return tagged(call, subject, evaluationOf(json))
  })
}

/** POST /ofrep/v1/evaluate/flags: every flag of the environment, from one snapshot of the company (FE-90). */
export function evaluateFlags(call: Call<RawBody>): Promise<Answer> {
  return answering(undefined, async () => {
    const subject = evaluatedIn(call.body.text())
    const json = await askAll<string>(call, subject, context => ({
      type: 'check_all',
      whole: false,
      context,
    }))
    return tagged(call, subject, evaluationsOf(json))
  })
}

async function answering(key: string | undefined, evaluate: () => Promise<Answer>): Promise<Answer> {
  try {
    return await evaluate()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null) throw error
    return { status: refusal.code === 'FLAG_NOT_FOUND' ? 404 : 400, whole: failureText(key, refusal) }
  }
}

const unknownFlag = (key: string): Refusal => new Refusal('FLAG_NOT_FOUND', `There is no flag ${key}`)

function failureText(key: string | undefined, refusal: Refusal): string {
  const failure: OfrepFailure = { key, errorCode: refusal.code, errorDetails: refusal.message }
  return JSON.stringify(failure)
}

/** The body of the 404 for a flag that does not exist. */
export const unknownFlagText = (key: string): string => failureText(key, unknownFlag(key))

function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  if (!(error instanceof ServiceError)) return null
  if (error.code === 'body_malformed') return new Refusal('PARSE_ERROR', error.message)
  return error.code === 'keys_ambiguous' ? new Refusal('INVALID_CONTEXT', error.message) : null
}

/** As `evaluatedIn`; null where that fails with an error of the protocol. */
export function evaluatedOrNull(text: string): Evaluated | null {
  try {
    return evaluatedIn(text)
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return null
  }
}

/** The company and user of a body. */
function evaluatedIn(text: string): Evaluated {
  const valid = validateOfrep(parse(text))
  if (!valid.success) {
    throw new Refusal('INVALID_CONTEXT', faultsText(valid.errors.slice(0, 1)))
  }
  const { company, companyKey, companyKeyName, user, userKey, userKeyName, targetingKey }: OfrepContext =
    valid.data.context ?? {}
  return {
    company: company ?? named(companyKey, companyKeyName),
    user: user ?? named(userKey ?? targetingKey, userKeyName),
  }
}

function named(value: string | undefined, name = 'id'): Record<string, string> | null {
  return value === undefined || value === '' ? null : { [name]: value }
}

function parse(text: string): unknown {
  assertPlain(text, true)
  if (hasHalfPair(text)) throw new Refusal('PARSE_ERROR', 'The request body contains half a surrogate pair')
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('PARSE_ERROR', 'The request body is not valid JSON')
  }
}

/** The body of an answer. json: the reply to a check of one flag. */
export const evaluationOf = (json: string): string =>
  jsonText(evaluation(parseExactly(json, figures) as CheckFlag))

/** The same of a check of all flags. */
export function evaluationsOf(json: string): string {
  const { flags } = parseExactly(json, figures) as CheckFlags
  return jsonText({ flags: flags.map(evaluation) })
}

function evaluation(check: CheckFlag): OfrepEvaluation {
  const { flag, value, error, rule_id } = check
  return {
    key: flag,
    value,
    variant: value ? 'on' : 'off',
    reason: error !== null ? 'ERROR' : rule_id !== null ? 'TARGETING_MATCH' : 'DEFAULT',
    metadata: metadataOf(check),
  }
}

/** Members of a check that are `long`. */
const figures: ReadonlySet<string> = new Set(['feature_allocation', 'feature_usage'])

// Metadata of the protocol are plain values only. Bigints become numbers.
function metadataOf({ flag: _, value: __, ...rest }: CheckFlag): OfrepEvaluation['metadata'] {
  const metadata: OfrepEvaluation['metadata'] = {}
  for (const [name, member] of Object.entries(rest) as [string, unknown][])
    if (typeof member === 'bigint') metadata[name] = long(member)
    else if (typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean')
      metadata[name] = member
  return metadata
}

/** The answer with its tag; 304 if the caller's tag matches. */
function tagged(call: Call<RawBody>, subject: Evaluated, whole: string): Answer {
  const { version } = call.services.catalogs.get(call.environment.id)
  const etag = tagOf(version, subject, whole)
  const headers = { ETag: etag }
  return isKnown(etag, call.ifNoneMatch) ? { status: 304, headers } : { headers, whole }
}

/** The ETag of an answer: it covers the definitions' version, the context and the result. */
export function tagOf(version: number, subject: Evaluated, whole: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([version, subject]))
    .update(whole)
  return `"${hash.digest('base64url')}"`
}

/** Whether an If-None-Match header names a tag. */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.split(',').some(one => one.trim().replace(/^W\//, '') === etag) === true
}

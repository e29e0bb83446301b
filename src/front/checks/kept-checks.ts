// The wrapper of POST /flags/{key}/check: the same question gets the same bytes while nothing that the answer rests on has
// changed, without a message to the company's shard.
import type { CheckFlagRequestBody } from '../../../schemas/checks.js'
import { haveBudgets } from '../../core/credits/budget.js'
import type { Keys } from '../../entities/directory/entities.js'
import type { Answered, Waiting } from '../../entities/shards/shards.js'
import {
  AskedCheck,
  bodyBytesMax,
  type CheckRequest,
  type KeyedStamp,
  type ResponseCache,
} from '../../kept/response-cache.js'
import type { Call, EnvironmentRecord, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import type { Services } from '../../kit/services.js'
import { echoOf, enveloped } from '../http/request/envelope.js'
import type { Wrapper } from '../http/routing/wrapper.js'
import { type CheckOfFlag, checkFlag, type Named, type Subject, sendCheck } from './handlers.js'

type CheckCall = Call<Exact<CheckFlagRequestBody>>

export class KeptChecks implements Wrapper {
  private readonly request = new AskedCheck()

  constructor(private readonly answers: Pick<ResponseCache, 'find' | 'repeated' | 'keep' | 'stamp'>) {}

  before(
    { clock, metrics }: Services,
    environment: EnvironmentRecord,
    flagKey: string,
    body: DataView,
  ): Uint8Array | Handler<never, never> | null {
    if (body.byteLength > bodyBytesMax) return null
    const { request, answers } = this
    request.become(environment.id, flagKey, body, clock.now(environment.id))
    const bytes = answers.find(request)
    if (bytes !== null) {
      metrics.checks.count++
      metrics.checksAgain.count++
      return bytes
    }
    const kept = answers.repeated(request)
    if (kept === null) return null
    return (call: CheckCall) =>
      checkFlag(call, (_, subject, question, waiting) => this.send(kept, call, subject, question, waiting))
  }

  /** Send a check whose answer is kept when it comes. */
  private send(
    request: CheckRequest,
    call: CheckCall,
    subject: Subject,
    question: CheckOfFlag,
    waiting: Waiting,
  ): void {
    const stamp = this.stampOf(call, subject, question)
    if (stamp === null) return sendCheck(call, subject, question, waiting)
    const resolve = (answered: Answered<unknown>): void => {
      const { reply, untilMs, figures = true } = answered
      if (typeof reply === 'string' && untilMs)
        this.answers.keep(request, enveloped(reply, echoOf(call.params)), { ...stamp, untilMs, figures })
      waiting.resolve(answered)
    }
    sendCheck(
      call,
      subject,
      { ...question, timed: true },
      { resolve, reject: error => waiting.reject(error) },
    )
  }

  /** The version numbers that an answer rests on; null if it must not be kept. */
  private stampOf(
    { body, environment, nowMs, services }: CheckCall,
    subject: Subject,
    { flagKey, preflight }: CheckOfFlag,
  ): KeyedStamp | null {
    // room in a budget also changes with time (BU-5)
    if (preflight !== null && haveBudgets(services.catalogs.get(environment.id).spendPolicies)) return null
    if (!isPlainlyNamed(subject, body)) return null
    return this.answers.stamp(environment.id, subject.companyId, flagKey, nowMs)
  }
}

/**
 * Whether each entity that a check names is known, and named by exactly one key: then only a removal of that key can change
 * who is meant.
 */
export function isPlainlyNamed({ companyId, context }: Subject, { company, user }: Named): boolean {
  const { companyGiven, userGiven, userId } = context
  if (companyGiven && (companyId === null || !isOne(company))) return false
  return !userGiven || (userId !== null && isOne(user))
}

const isOne = (keys: Keys | null | undefined): boolean => Object.keys(keys ?? {}).length === 1

// Checks that a front answers itself. A check in doubt is passed on to the main thread, and its token is given back: one
// with an unknown key or name, or with a body that is refused; one that a write under way concerns; one of a company that
// is not in memory.
//
//   head ─▶ what is known of the key ─▶ token ─▶ kept answer ─ or ─▶ names ─▶ shard ─▶ answer
//        └───────────────┴─────────────────────────────────────┴────────┴──▶ main thread
import { parseCheck } from '../../schemas/checks.js'
import type { Preflight } from '../../src/core/model/requests.js'
import { presentOf } from '../../src/core/values/test-clock.js'
import type { NameReader } from '../../src/entities/directory/name-reader.js'
import { ServiceError } from '../../src/errors.js'
import { askedIn, type Named, preflightOf, type Subject, subjectOf } from '../../src/front/checks/handlers.js'
import { isPlainlyNamed } from '../../src/front/checks/kept-checks.js'
import { flagsPerToken } from '../../src/front/checks/many.js'
import { overLimit } from '../../src/front/http/admission/admit.js'
import type { Cors } from '../../src/front/http/admission/cors.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import { echoOf, enveloped } from '../../src/front/http/request/envelope.js'
import { Head } from '../../src/front/http/request/head.js'
import { longBytes } from '../../src/front/http/request/long-bodies.js'
import { parseBody } from '../../src/front/http/request/parse-body.js'
import { allowanceHeaders, failure, headOf } from '../../src/front/http/request/respond.js'
import type { WallClock } from '../../src/host/wall-clock.js'
import { decodeUtf8 } from '../../src/json.js'
import {
  AskedCheck,
  bodyBytesMax,
  type CheckRequest,
  type KeyedStamp,
  type ResponseCache,
} from '../../src/kept/response-cache.js'
import { exactly } from '../../src/kit/long.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'
import { type FrontFigures, frontRoutes, type frontStatuses } from '../../src/wire/front-figures.js'
import type { FromFront, Gathered } from '../../src/wire/passed.js'
import type { FrontBudgets } from './budget.js'
import type { KnownKeys } from './known-keys.js'
import type { Passing } from './passing.js'
import type { Asker, ShardPorts } from './shard-ports.js'

/** Names of flags that stand in a path as they are. */
const plainName = /^[\w.~-]+$/

/** Only the preflight of a check has 64-bit members. */
const parse = exactly(parseCheck, ({ preflight }) => preflight)

/** The routes, by their place in `frontRoutes`. */
const ofFlag = 0
const ofAll = 1
const successes = [200, 201] as const

interface ChecksParts {
  readonly passing: Passing
  readonly out: Gathered<FromFront>
  readonly known: KnownKeys
  readonly budgets: FrontBudgets
  readonly answers: ResponseCache
  readonly names: NameReader
  readonly shards: ShardPorts
  readonly figures: FrontFigures
  readonly cors: Cors
  readonly wall: WallClock
  /** By how much the main thread's `performance.now()` is ahead of this thread's, ms. */
  readonly aheadMs: number
  readonly keyHeaders: readonly string[]
  readonly environmentHeaders: readonly string[]
  readonly slowRequestMs: number
  /** Distinguishes request ids of this front. */
  readonly name: string
}

export class FrontChecks {
  /** Connections are closed after their answers. */
  draining = false
  /** Keys whose checks were answered here lately. */
  readonly used = new Set<string>()
  private readonly head: Head
  private inFlight = 0
  private requests = 0
  private readonly request = new AskedCheck()

  constructor(readonly parts: ChecksParts) {
    this.head = new Head(parts.keyHeaders, parts.environmentHeaders)
  }

  /** POST /flags/{key}/check */
  readonly ofFlag = (res: AppResponse, req: AppRequest): void =>
    this.begin(ofFlag, req.getParameter(0), res, req)

  /** POST /flags/check */
  readonly ofAll = (res: AppResponse, req: AppRequest): void => this.begin(ofAll, '', res, req)

  private begin(route: number, flagKey: string, res: AppResponse, req: AppRequest): void {
    const { head, parts } = this
    head.read(req)
    const { key, environmentId } = head
    const facts = this.isPlain(route, flagKey, req) ? parts.known.find(key, environmentId) : null
    if (facts === null) {
      // a key that the main thread takes is worth knowing
      const then = key === '' ? null : () => parts.known.want(key, environmentId)
      return parts.passing.begin(res, req, then)
    }
    const { contentLength, origin, forwardedFor } = head
    const check = new Check(this, route, flagKey, facts, res, {
      key,
      environmentId,
      contentLength,
      origin,
      forwardedFor,
    })
    check.headers = parts.cors.linesOf(origin)
    this.entered()
    res.onAborted(() => check.abort())
    res.onData((chunk, isLast) => check.data(chunk, isLast))
  }

  /** Whether the key and the body of a request are all that must be looked at. */
  private isPlain(route: number, flagKey: string, req: AppRequest): boolean {
    const { head } = this
    if (head.key === '' || head.isChunked || head.contentEncoding !== '' || head.signedContext !== '')
      return false
    if (!(Number(head.contentLength) < longBytes)) return false
    if ((req.getQuery() ?? '') !== '' || (route === ofFlag && !plainName.test(flagKey))) return false
    try {
      head.assertFramed()
    } catch {
      return false
    }
    return true
  }

  /** The bytes of an answer that is still true; else `repeated` says whether this one is worth keeping. */
  find(flagKey: string, { environmentId }: KeyFacts, body: DataView, nowMs: number): Uint8Array | null {
    const { request } = this
    request.become(environmentId, flagKey, body, nowMs)
    return this.parts.answers.find(request)
  }

  /** A copy of the request of the last `find`, where it came before; else null. */
  repeated(): CheckRequest | null {
    return this.parts.answers.repeated(this.request)
  }

  now({ clock }: KeyFacts): number {
    return presentOf(clock, this.parts.wall.now())
  }

  requestId(): string {
    this.requests++
    return `req_${this.parts.name}_${this.requests.toString(36)}`
  }

  private entered(): void {
    this.inFlight++
    this.parts.figures.inFlight = this.inFlight
  }

  left(): void {
    this.inFlight--
    this.parts.figures.inFlight = this.inFlight
  }
}

type Status = (typeof frontStatuses)[number]

/** One check on its way. */
class Check implements Asker {
  /** Header lines of the answer. */
  headers = ''
  private readonly startedMs = performance.now()
  private pieces: Buffer[] | null = null
  /** Inside a callback of the server, which gathers writes. */
  private corked = false
  private isOver = false
  /** Its token is taken. */
  private isPaid = false
  /** The main thread answers it: it hears when the caller leaves. */
  private passed: (() => void) | null = null
  private text = ''
  private requestId: string | null = null
  private stamp: KeyedStamp | null = null
  private kept: CheckRequest | null = null

  constructor(
    private readonly front: FrontChecks,
    private readonly route: number,
    private readonly flagKey: string,
    private readonly facts: KeyFacts,
    private readonly res: AppResponse,
    private readonly head: PlainHead,
  ) {}

  abort(): void {
    if (this.passed !== null) return this.passed()
    if (this.isOver) return
    this.end()
    this.front.parts.figures.aborted()
  }

  data(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.isOver) return
    if (!isLast || this.pieces !== null) {
      this.pieces ??= []
      this.pieces.push(Buffer.from(chunk.slice(0)))
      if (!isLast) return
    }
    const body = this.pieces === null ? Buffer.from(chunk) : Buffer.concat(this.pieces)
    this.corked = true
    try {
      this.judge(body)
    } catch (error) {
      if (!(error instanceof ServiceError)) this.front.parts.out.say(['failed', error])
      this.passOn(body)
    } finally {
      this.corked = false
    }
  }

  heard(reply: unknown, untilMs: number, figures: boolean): void {
    if (this.isOver) return
    const { front, facts } = this
    // the definitions or the clock are others than those it was asked under
    if (!front.parts.known.holds(facts)) return this.passOn(Buffer.from(this.text))
    // a check that is passed on is counted there
    front.parts.figures.checked(this.route === ofAll ? facts.flags : 1)
    if (reply === null) return this.refuse(new ServiceError('not_found', 'Flag not found'))
    const echo = this.route === ofFlag ? echoOf({ key: this.flagKey }) : '{}'
    const answer = enveloped(reply as string, echo)
    if (this.kept !== null && this.stamp !== null && untilMs > 0)
      front.parts.answers.keep(this.kept, answer, { ...this.stamp, untilMs, figures })
    this.answer(successes[this.route]!, this.headers, answer)
  }

  unheard(): void {
    if (!this.isOver) this.passOn(Buffer.from(this.text))
  }

  /** errors  ServiceError: the body is refused; the main thread says why. */
  private judge(body: Buffer): void {
    const { front, facts, route, flagKey } = this
    const { parts } = front
    const allowance = parts.budgets.admit(facts, this.startedMs + parts.aheadMs)
    if (allowance === 'stale') return this.passOn(body)
    this.headers = allowanceHeaders(allowance, this.headers)
    if (allowance !== null && allowance.refused !== null) {
      parts.figures.refused()
      front.used.add(facts.keyId)
      return this.refuse(overLimit(allowance))
    }
    this.isPaid = true
    if (!parts.known.holds(facts)) return this.passOn(body)
    const nowMs = front.now(facts)
    if (route === ofFlag && body.length <= bodyBytesMax) {
      const view = new DataView(body.buffer, body.byteOffset, body.length)
      const bytes = front.find(flagKey, facts, view, nowMs)
      if (bytes !== null) {
        parts.figures.again()
        return this.answer(200, this.headers, bytes)
      }
      this.kept = front.repeated()
    }
    this.text = decodeUtf8(body)
    const named = parseBody(this.text, parse, true)
    const { preflight } = named
    if (route === ofAll && (preflight || facts.flags > flagsPerToken)) return this.passOn(body)
    const subject = this.subjectOf(named)
    if (subject === null) return this.passOn(body)
    this.ask(subject, preflight ? preflightOf(preflight) : null, named, nowMs)
  }

  /** The company and user, found; null: the main thread must look. */
  private subjectOf(named: Named): Subject | null {
    const { facts, text } = this
    const subject = subjectOf(this.front.parts.names, facts, named, askedIn(text))
    const { companyGiven, userGiven, userId } = subject.context
    if (companyGiven && subject.companyId === null) return null
    return userGiven && (userId === null || facts.readsUserTraits) ? null : subject
  }

  private ask(subject: Subject, preflight: Preflight | null, named: Named, nowMs: number): void {
    const { front, facts, flagKey } = this
    const { companyId, context } = subject
    const { answers, shards } = front.parts
    const { environmentId } = facts
    const mayMeetBudget = preflight !== null && facts.haveBudgets
    if (this.kept !== null && !mayMeetBudget && isPlainlyNamed(subject, named))
      this.stamp = answers.stamp(environmentId, companyId, flagKey, nowMs)
    const timed = this.stamp !== null
    shards.ask(
      companyId === null ? 'e' : 'c',
      environmentId,
      companyId ?? environmentId,
      this.route === ofAll
        ? { type: 'check_all', whole: false, context }
        : { type: 'check', timed, flagKey, preflight, context },
      nowMs,
      this,
    )
  }

  /** Leave it to the main thread. body: it may be used again. */
  private passOn(body: Buffer): void {
    const { front, facts, res } = this
    if (this.isPaid) front.parts.budgets.giveBack(facts)
    this.end()
    const url = this.route === ofFlag ? `/flags/${this.flagKey}/check` : '/flags/check'
    const copy = new Uint8Array(body).buffer as ArrayBuffer
    const { known, passing } = front.parts
    const { key, environmentId } = this.head
    const then = known.holds(facts) ? null : () => known.want(key, environmentId)
    this.passed = passing.resume(res, url, headersIn(this.head, front.parts), copy, then)
  }

  private refuse(error: ServiceError): void {
    const { status, headers, body } = failure(error, `${this.headers}\r\nX-Request-Id: ${this.ownId()}`)
    this.answer(status as Status, headers, body)
  }

  private answer(status: Status, headers: string, body: string | Uint8Array): void {
    const { front, res, facts, startedMs } = this
    const write = () => res.writeStatus(headOf(status, headers)).end(body, front.draining)
    if (this.corked) write()
    else res.cork(write)
    this.end()
    front.used.add(facts.keyId)
    const elapsedMs = performance.now() - startedMs
    const { figures, slowRequestMs, out } = front.parts
    figures.answered(this.route, status, elapsedMs / 1_000)
    if (elapsedMs > slowRequestMs)
      out.say([
        'slow',
        {
          request_id: this.ownId(),
          route: frontRoutes[this.route]!,
          status,
          duration_ms: Math.round(elapsedMs * 1_000) / 1_000,
          environment_id: facts.environmentId,
        },
      ])
  }

  /** The request's id in logs and responses. */
  private ownId(): string {
    this.requestId ??= this.front.requestId()
    return this.requestId
  }

  private end(): void {
    this.isOver = true
    this.pieces = null
    this.front.left()
  }
}

/** The parts of a head that the answer to a check rests on. */
interface PlainHead {
  readonly key: string
  readonly environmentId: string
  readonly contentLength: string
  readonly origin: string
  readonly forwardedFor: string
}

/** The same as headers: others are not looked at where a check is answered. */
function headersIn(head: PlainHead, { keyHeaders, environmentHeaders }: ChecksParts): string[] {
  const headers = [keyHeaders[0]!.toLowerCase(), head.key]
  if (head.environmentId !== '') headers.push(environmentHeaders[0]!.toLowerCase(), head.environmentId)
  if (head.contentLength !== '') headers.push('content-length', head.contentLength)
  if (head.origin !== '') headers.push('origin', head.origin)
  if (head.forwardedFor !== '') headers.push('x-forwarded-for', head.forwardedFor)
  return headers
}

// A request that a front may answer itself, from its head to its answer. One in doubt is passed on to the main thread, and its
// token is given back.
//
//   head ─▶ what is known of the key ─▶ body ─▶ token ─▶ `read`, of its kind ─▶ answer
//        └───────────────┴───────────────┴─────────┴───────────┴──▶ main thread
import { ServiceError } from '../../src/errors.js'
import { overLimit } from '../../src/front/http/admission/admit.js'
import type { Allowance } from '../../src/front/http/admission/allowance.js'
import type { Cors } from '../../src/front/http/admission/cors.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import { GatheredBody } from '../../src/front/http/request/gathered-body.js'
import { Head } from '../../src/front/http/request/head.js'
import { allowanceHeaders, bytesOf, failure, headOf } from '../../src/front/http/request/respond.js'
import { largeLength } from '../../src/front/http/request/streamed-response.js'
import type { Unread, UnreadAnswers } from '../../src/front/http/request/unread-answers.js'
import { bearerOf } from '../../src/front/http/routing/headers.js'
import type { Budgets, KeyFacts } from '../../src/wire/front-facts.js'
import {
  type FrontFigures,
  frontRoutes,
  type frontStatuses,
  type PassReason,
} from '../../src/wire/front-figures.js'
import type { FromFront, Gathered } from '../../src/wire/passed.js'
import type { FrontBudgets } from './budget.js'
import type { KnownKeys } from './known-keys.js'
import type { Passing } from './passing.js'

/** The routes, by their place in `frontRoutes`. */
export const routes = {
  ofFlag: 0,
  ofAll: 1,
  event: 2,
  batch: 3,
  bulk: 4,
  ofrepAll: 5,
  ofrepFlag: 6,
} as const
/** Routes that also take a key as `Authorization: Bearer`. */
const bearerRoutes: ReadonlySet<number> = new Set([routes.ofrepAll, routes.ofrepFlag])
/** A path parameter that stands in a path as it is. */
export const plainName = /^[\w.~-]+$/

interface OwnParts {
  readonly passing: Passing
  readonly out: Gathered<FromFront>
  readonly known: KnownKeys
  readonly budgets: FrontBudgets
  readonly figures: FrontFigures
  readonly cors: Cors
  /** By how much the main thread's `performance.now()` is ahead of this thread's, ms. */
  readonly aheadMs: number
  readonly keyHeaders: readonly string[]
  readonly environmentHeaders: readonly string[]
  readonly slowRequestMs: number
  readonly unread: UnreadAnswers
  /** Distinguishes request ids of this front. */
  readonly name: string
}

/** Knowledge that all requests of a front share. */
export class OwnRequests {
  /** Connections are closed after their answers. */
  draining = false
  /** Keys whose requests were answered here lately. */
  readonly used = new Set<string>()
  readonly head: Head
  private inFlight = 0
  private requests = 0

  constructor(readonly parts: OwnParts) {
    this.head = new Head(parts.keyHeaders, parts.environmentHeaders)
  }

  /**
   * Begin a request.
   *
   * route    its place in `frontRoutes`.
   * isPlain  whether its head, which was read, asks for nothing that the main thread must see.
   * bodyMax  bytes of its body, below.
   * make     null: the main thread takes such requests of the key.
   */
  begin(
    route: number,
    res: AppResponse,
    req: AppRequest,
    bodyMax: number,
    isPlain: (head: Head) => boolean,
    make: (facts: KeyFacts, head: PlainHead) => OwnRequest | null,
  ): void {
    const { head, parts } = this
    head.read(req)
    const { environmentId } = head
    const key = head.key || (bearerRoutes.has(route) ? bearerOf(head.authorization) : '')
    const asksMore = key === '' || !this.isPlain(req, bodyMax) || !isPlain(head)
    const facts = asksMore ? null : parts.known.find(key, environmentId)
    const request = facts && make(facts, plainHeadOf(head, key))
    if (request === null) {
      parts.figures.passed(route, asksMore ? 'head' : 'key')
      // a key that the main thread takes is worth knowing
      const then = key === '' ? null : () => parts.known.want(key, environmentId)
      return parts.passing.begin(res, req, then)
    }
    request.headers = parts.cors.linesOf(head.origin)
    this.inFlight++
    parts.figures.inFlight = this.inFlight
    res.onAborted(() => request.abort())
    res.onData((chunk, isLast) => request.data(chunk, isLast))
  }

  /** Whether key and body of a request are all that must be looked at. */
  private isPlain(req: AppRequest, bodyMax: number): boolean {
    const { head } = this
    if (head.isChunked || head.contentEncoding !== '' || head.signedContext !== '') return false
    if (!(Number(head.contentLength) < bodyMax)) return false
    if ((req.getQuery() ?? '') !== '') return false
    try {
      head.assertFramed()
    } catch {
      return false
    }
    return true
  }

  requestId(): string {
    this.requests++
    return `req_${this.parts.name}_${this.requests.toString(36)}`
  }

  left(): void {
    this.inFlight--
    this.parts.figures.inFlight = this.inFlight
  }
}

export type Status = (typeof frontStatuses)[number]

/** One request on its way. */
export abstract class OwnRequest {
  /** Header lines of the answer. */
  headers = ''
  protected isOver = false
  protected readonly startedMs = performance.now()
  private pieces: GatheredBody | null = null
  /** Its answer, while its caller has not taken it. */
  private unread: Unread | null = null
  /** Inside a callback of the server, which gathers writes. */
  private corked = false
  /** Tokens that were taken. */
  private paid = 0
  /** The main thread answers it: it hears when the caller leaves. */
  private passed: (() => void) | null = null
  private requestId: string | null = null

  constructor(
    private readonly requests: OwnRequests,
    private readonly route: number,
    protected readonly facts: KeyFacts,
    protected readonly head: PlainHead,
    protected readonly res: AppResponse,
    private readonly budgets: Budgets | null,
  ) {}

  /** The path, as it is passed on. */
  protected abstract get url(): string

  /**
   * Answer it, now or later, or pass it on. It is paid, and its facts hold.
   *
   * errors  ServiceError: the body is refused; the main thread says why.
   */
  protected abstract read(body: Buffer): void

  abort(): void {
    if (this.passed !== null) return this.passed()
    this.unread?.over()
    if (this.isOver) return
    this.end()
    this.requests.parts.figures.aborted()
  }

  data(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.isOver) return
    if (!isLast || this.pieces !== null) {
      this.pieces ??= new GatheredBody(Number(this.head.contentLength))
      this.pieces.add(chunk)
      if (!isLast) return
    }
    const body = this.pieces === null ? Buffer.from(chunk) : this.pieces.whole()
    this.corked = true
    this.attempt(body, () => {
      if (this.pays(body)) this.read(body)
    })
    this.corked = false
  }

  /** Do something with a body; where it throws, the main thread judges the body. */
  protected attempt(body: Buffer, work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!(error instanceof ServiceError)) this.requests.parts.out.say(['failed', error])
      this.passOn(body, 'body')
    }
  }

  /** Whether its token is taken, and its facts hold; else it is answered, or passed on. */
  private pays(body: Buffer): boolean {
    const { requests, facts } = this
    const { budgets, aheadMs, known } = requests.parts
    const allowance = budgets.admit(facts, this.budgets, this.startedMs + aheadMs)
    if (allowance === 'stale') this.passOn(body, 'key')
    else if (this.isAllowed(allowance)) {
      this.paid = 1
      if (known.holds(facts)) return true
      this.passOn(body, 'key')
    } else this.refuseBy(allowance!)
    return false
  }

  /** Whether further tokens are taken; else it is answered, or passed on. */
  protected charges(body: Buffer, tokens: number): boolean {
    if (tokens <= 0) return true
    const { facts } = this
    const { budgets, aheadMs } = this.requests.parts
    const refused = budgets.charge(facts, this.budgets, tokens, performance.now() + aheadMs)
    if (refused === null) {
      this.paid += tokens
      return true
    }
    if (refused === 'stale') this.passOn(body, 'key')
    else this.refuseBy(refused)
    return false
  }

  private refuseBy(allowance: Allowance): void {
    const { requests, facts } = this
    requests.parts.figures.refused(allowance.refused!.bucket)
    requests.used.add(facts.keyId)
    this.refuse(overLimit(allowance))
  }

  private isAllowed(allowance: Allowance | null): boolean {
    this.headers = allowanceHeaders(allowance, this.headers)
    return allowance === null || allowance.refused === null
  }

  /** Leave it to the main thread. body: it may be used again. */
  protected passOn(body: Buffer, reason: PassReason): void {
    const { requests, facts, res, head } = this
    const { known, passing, budgets, figures } = requests.parts
    figures.passed(this.route, reason)
    budgets.giveBack(this.budgets, this.paid)
    this.end()
    const copy = new Uint8Array(body).buffer as ArrayBuffer
    const { key, environmentId } = head
    const then = known.holds(facts) ? null : () => known.want(key, environmentId)
    this.passed = passing.resume(res, this.url, headersIn(head, requests.parts), copy, then)
  }

  protected refuse(error: ServiceError): void {
    const { status, headers, body } = failure(error, `${this.headers}\r\nX-Request-Id: ${this.ownId()}`)
    this.answer(status as Status, headers, body)
  }

  protected answer(status: Status, headers: string, body: string | Uint8Array): void {
    const { requests, res, facts, startedMs } = this
    const write = () => {
      res.writeStatus(headOf(status, headers))
      if (status === 304) res.endWithoutBody()
      else if (body.length > largeLength) this.answerLarge(bytesOf([body]))
      else res.end(body, requests.draining)
    }
    if (this.corked) write()
    else res.cork(write)
    this.end()
    requests.used.add(facts.keyId)
    const elapsedMs = performance.now() - startedMs
    const { figures, slowRequestMs, out } = requests.parts
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

  private answerLarge(bytes: Uint8Array): void {
    const { requests, res, facts } = this
    this.unread = requests.parts.unread.send(res, bytes, facts.environmentId, () => this.unread?.over())
  }

  /** The request's id in logs and responses. */
  private ownId(): string {
    this.requestId ??= this.requests.requestId()
    return this.requestId
  }

  protected end(): void {
    this.isOver = true
    this.pieces = null
    this.requests.left()
  }
}

/** The parts of a head that an answer rests on. */
export interface PlainHead {
  readonly key: string
  readonly environmentId: string
  readonly contentLength: string
  readonly contentType: string
  readonly ifNoneMatch: string
  readonly origin: string
  readonly forwardedFor: string
  readonly userAgent: string
}

function plainHeadOf(head: Head, key: string): PlainHead {
  const { environmentId, contentLength, contentType, ifNoneMatch, origin, forwardedFor, userAgent } = head
  return { key, environmentId, contentLength, contentType, ifNoneMatch, origin, forwardedFor, userAgent }
}

/** The same as headers: others are not looked at where a front answers. */
function headersIn(head: PlainHead, { keyHeaders, environmentHeaders }: OwnParts): string[] {
  const headers = [keyHeaders[0]!.toLowerCase(), head.key]
  const add = (name: string, value: string) => {
    if (value !== '') headers.push(name, value)
  }
  add(environmentHeaders[0]!.toLowerCase(), head.environmentId)
  add('content-length', head.contentLength)
  add('content-type', head.contentType)
  add('if-none-match', head.ifNoneMatch)
  add('origin', head.origin)
  add('user-agent', head.userAgent)
  add('x-forwarded-for', head.forwardedFor)
  return headers
}

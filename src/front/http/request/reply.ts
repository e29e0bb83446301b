// Stage 5 of a request, reply: its one answer, or failure, is written; then the request is counted, logged and audited. The
// response must not be used after it has ended or was aborted.
import { performance } from 'node:perf_hooks'
import { ServiceError } from '../../../errors.js'
import type { Answer, Listener, Stream } from '../../../kit/call.js'
import type { RequestLine } from '../../../log.js'
import { toFailure } from '../../../storage/failure.js'
import { type Admission, groupOf } from '../admission/admit.js'
import { chargeAnswer } from '../admission/charges.js'
import type { AppResponse } from '../apps/app.js'
import { takenAnswer } from './begin-anew.js'
import { cutOff, type Misframed } from './framing.js'
import { tagOf } from './precondition.js'
import type { Incoming } from './read.js'
import { noParameters, nothing } from './request.js'
import type { RequestAudit } from './request-audit.js'
import {
  attachment,
  bytesForNow,
  echoed,
  failure,
  headersOf,
  internalError,
  joined,
  partsLength,
  type Reply,
  replyLength,
  success,
} from './respond.js'
import { slicedJson } from './sliced-json.js'
import { largeLength, StreamedResponse } from './streamed-response.js'
import type { Unread } from './unread-answers.js'
import { isLong, varyLine, zipped } from './zipped.js'

/** The answer to one request. */
export class ReplyStage implements Listener {
  /** Inside a callback of the server, which gathers writes. */
  corked = true
  /** Answered or aborted: the response must not be used any more. */
  isFinished = false
  /** The response is sent in a later turn of the event loop. */
  isDeferred = false
  /** Close the connection after the response. */
  cuts = false
  /** Header lines of every answer. */
  headers = ''
  params = noParameters
  echo: Readonly<Record<string, unknown>> = nothing
  admission: Admission | null = null
  audit: RequestAudit | null = null
  /** Released when the request is answered. */
  body: { release(): void } | null = null
  /** A check that was sent to its shard. */
  isChecking = false
  /** The request is durable: a later failure is told as such (decision 32). */
  isTaken = false
  /** The peer has disconnected, or the response has ended. */
  private isGone = false
  /** Answered, but not completely sent. */
  private leaving = false
  private stream: StreamedResponse | null = null
  /** A large answer that its reader has not taken. */
  private unread: Unread | null = null
  private requestId: string | null = null

  constructor(
    protected readonly incoming: Incoming,
    private readonly res: AppResponse,
    private readonly headOnly: boolean,
  ) {}

  /** The peer's address; '' once answered. */
  peerAddress(): string {
    return this.isFinished ? '' : this.incoming.shared.app.addressOf(this.res)
  }

  /** Continue when a promise settles, unless the caller has disconnected (`always`: even then). */
  after<T>(promise: Promise<T>, next: (value: T) => void, always = false): void {
    promise.then(
      value => {
        if (this.isFinished && !always) return
        try {
          next(value)
        } catch (error) {
          this.fail(error)
        }
      },
      error => this.fail(error),
    )
  }

  /** Called by a Deferred among other replies, so errors must stay within this request. */
  succeed(answer: Answer): void {
    if (this.isFinished && !this.incoming.compiled.route.mutates) return
    try {
      this.conclude(answer)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Answer with a complete body. */
  bytes(bytes: Uint8Array): void {
    this.answer({ status: this.incoming.compiled.route.status, headers: this.headers, body: '', bytes })
  }

  /** A read costs what it answers. */
  private charge(bytes: number): void {
    if (this.admission === null) return
    const { shared, compiled } = this.incoming
    chargeAnswer(shared.options.limits, compiled.route, this.admission, bytes)
  }

  /** Answer with a handler's answer. */
  conclude(answer: Answer): void {
    if (answer.stream !== undefined) return this.pour(answer.stream)
    const { compiled, rawQuery, zips } = this.incoming
    const { status, noted, tagged, limit } = compiled.route
    const isRead = compiled.route.method === 'get' && (limit === 'read' || limit === 'analytics')
    if (isRead && !tagged && hasData(answer)) {
      const json = slicedJson(answer.data, groupOf(this.admission), length => this.charge(length))
      const told = (pieces: readonly string[]) =>
        this.conclude({
          ...answer,
          data: undefined,
          isPaid: true,
          ...(this.headOnly ? { json: pieces.join('') } : written(pieces)),
        })
      return json instanceof Promise ? this.after(json, told) : told(json)
    }
    const echo = echoed(this.echo, this.params)
    let headers = noted ? `${this.headers}\r\nX-Request-Id: ${this.ownId()}` : this.headers
    if (compiled.mayZip) headers += varyLine
    if (tagged && rawQuery === '') headers += `\r\nETag: ${tagOf(answer)}`
    const reply = success(answer, status, echo, headers)
    if (isRead && answer.isPaid !== true) this.charge(replyLength(reply))
    // a completed change is audited even if the caller has disconnected
    if (this.isFinished) this.note(reply)
    else if (zips && !this.headOnly && isLong(reply))
      this.after(zipped(reply, groupOf(this.admission)), made => this.answer(made))
    else this.answer(reply)
  }

  fail(thrown: unknown): void {
    const error = toFailure(thrown)
    const known = error instanceof ServiceError
    if (this.isTaken && known && error.status === 503) return this.conclude(takenAnswer)
    const requestId = this.ownId()
    if (!known || error.status >= 500)
      this.incoming.shared.logFailure(this.line(requestId, known ? error.status : 500), error)
    const told = known ? error : internalError
    const reply = failure(told, `${this.headers}\r\nX-Request-Id: ${requestId}`)
    if (this.isFinished) this.note(reply)
    else this.answer(reply)
  }

  /** Answer a request that does not say plainly where it ends, and read nothing more of its connection. */
  cut(error: Misframed): void {
    const { shared, compiled } = this.incoming
    this.finish()
    shared.left()
    compiled.answered(error.status)
    cutOff(this.res, shared.writeHead, failure(error, this.headers), () => this.isGone)
  }

  protected answer(reply: Reply): void {
    const { res, headOnly } = this
    const { shared, compiled } = this.incoming
    if (this.cuts && this.corked) return this.defer(reply)
    this.finish()
    const length = reply.bytes?.length ?? reply.body.length
    const isLarge = reply.pieces !== undefined || length > largeLength
    if (isLarge && !headOnly && !this.cuts) res.cork(() => this.writeLarge(reply))
    else {
      if (this.corked) shared.write(res, reply, headOnly)
      else res.cork(() => shared.write(res, joined(reply), headOnly, this.cuts))
      shared.left()
    }
    compiled.answered(reply.status)
    this.note(reply)
    this.measured(reply.status)
  }

  /** The request is over: its duration, and a line of the log where it is slow or each is logged. */
  private measured(status: number): void {
    const { shared, compiled, startedMs } = this.incoming
    const elapsedMs = performance.now() - startedMs
    compiled.seconds.observe(elapsedMs / 1_000)
    if (shared.logsRequests) shared.log.debug(this.line(this.ownId(), status), 'request')
    else if (elapsedMs > shared.options.config.slowRequestMs && shared.mayTell('slow'))
      shared.log.warn(this.line(this.ownId(), status), 'slow request')
  }

  /** Delay the response: until then the server closes the connection if more data follows the request. */
  private defer(reply: Reply): void {
    if (this.isDeferred) return
    this.isDeferred = true
    setImmediate(() => {
      if (!this.isFinished) this.answer(reply)
    })
  }

  private note({ status, body, noted = body }: Reply): void {
    this.audit?.noting.answered(status, noted)
  }

  /** The request's id in logs and responses. */
  ownId(): string {
    this.requestId ??= this.incoming.shared.nextRequestId()
    return this.requestId
  }

  // A large response is in flight until its last byte is sent.
  private writeLarge(reply: Reply): void {
    const { res } = this
    const { shared } = this.incoming
    shared.writeHead(res, reply)
    const bytes = reply.bytes ?? bytesForNow(reply.pieces ?? [reply.body])
    this.leaving = true
    this.unread = shared.unread.send(res, bytes, groupOf(this.admission), () => this.gone())
    if (this.unread === null) this.gone()
  }

  // A stream. An error before its first piece is still answered with a status.
  private pour({ type, name, pieces }: Stream): void {
    const iterator = pieces[Symbol.asyncIterator]()
    this.after(iterator.next(), first => {
      const { res } = this
      const { shared, compiled } = this.incoming
      this.finish()
      this.leaving = true
      this.note({ status: 200, headers: '', body: '' })
      compiled.answered(200)
      res.cork(() =>
        res.writeHeader(
          'Content-Type',
          headersOf(type) + (name === undefined ? '' : attachment(name)) + this.headers,
        ),
      )
      this.stream = new StreamedResponse(res, iterator, error => {
        if (error !== null) shared.logFailure(this.line(this.ownId(), 200), toFailure(error))
        this.gone()
      })
      void this.stream.run(this.headOnly ? { done: true, value: undefined } : first)
    })
  }

  protected gone(): void {
    this.unread?.over()
    if (!this.leaving) return
    this.leaving = false
    this.incoming.shared.left()
  }

  /** The peer has disconnected. */
  abort(): void {
    const { shared } = this.incoming
    this.isGone = true
    this.stream?.abort()
    this.gone()
    if (this.isFinished) return
    this.finish()
    shared.left()
    shared.options.metrics.http.aborted.count++
  }

  private finish(): void {
    this.isFinished = true
    if (this.isChecking) this.incoming.shared.longBodies.checked()
    this.body?.release()
  }

  protected line(requestId: string, status: number): RequestLine {
    const { compiled, startedMs } = this.incoming
    return {
      request_id: requestId,
      route: compiled.label,
      status,
      duration_ms: Math.round((performance.now() - startedMs) * 1_000) / 1_000,
      environment_id: this.admission?.environment?.id ?? null,
    }
  }
}

/** Whether an answer is data that is to be written as JSON. */
function hasData({ data, json, pieces, whole, bytes }: Answer): boolean {
  const isWritten = json ?? pieces ?? whole ?? bytes
  return isWritten === undefined && typeof data === 'object' && data !== null
}

/** A short text is written with its head at once. */
function written(pieces: readonly string[]): Pick<Answer, 'json' | 'pieces'> {
  return partsLength(pieces) <= largeLength ? { json: pieces.join('') } : { pieces }
}

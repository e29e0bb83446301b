// One request from first to last byte: reading, admission, body, handler, response. The request object is invalid
// after its callback returns, the response after it is answered or aborted.

import { Buffer } from 'node:buffer'
import { performance } from 'node:perf_hooks'
import type { Sql } from 'postgres'
import { ServiceError } from '../../../errors.js'
import { decodeUtf8 } from '../../../json.js'
import {
  type Answer,
  Deferred,
  type KeyRecord,
  type Listener,
  type NamedKey,
  type Stream,
} from '../../../kit/call.js'
import { isPaged, pagedAnswer } from '../../../kit/cursor.js'
import type { Services } from '../../../kit/services.js'
import type { RequestLine } from '../../../log.js'
import { toFailure } from '../../../storage/failure.js'
import { type Admission, groupOf, type Judgement } from '../admission/admit.js'
import { Noting } from '../admission/audit-notes.js'
import { charge, tokensOfBody } from '../admission/charges.js'
import { exposedLine } from '../admission/cors.js'
import { whyNoKey } from '../admission/key-faults.js'
import { keylessBytesMax, namedContext, namedKeys } from '../admission/keys-in-body.js'
import { admitNamed, type Caller } from '../admission/named-keys.js'
import type { AppRequest } from '../apps/app.js'
import { decodeParameters } from '../routing/headers.js'
import type { Route } from '../routing/route.js'
import type { Wrapper } from '../routing/wrapper.js'
import { Asked } from './asked.js'
import { decompress, encodingOf, parseBody, rawBody, SmallBody, tooLarge } from './body.js'
import { cutOff, Misframed } from './framing.js'
import type { Head } from './head.js'
import { longBytes } from './long-bodies.js'
import { once } from './once.js'
import { largeLength, Outflow, sendLarge } from './outflow.js'
import { Precondition, tagOf } from './precondition.js'
import { emptyInput, noParameters, nothing, Request } from './request.js'
import {
  allowanceHeaders,
  attachment,
  bytesForNow,
  echoed,
  failure,
  headersOf,
  internalError,
  type Reply,
  success,
  whole,
} from './respond.js'
import { mustDocumentTaken, retried, takenAnswer } from './retried.js'
import { unknownNames } from './unknown-names.js'
import { isLong, varyLine, zipped } from './zipped.js'

// Bytes of bodies of unauthenticated callers, in total.
const strangeBytesMax = 4_194_304

/** One request. Admission and body may complete in either order; then come the handler and the response. */
export class Exchange extends Asked implements Listener, Caller {
  /** Inside a callback of the server, which gathers writes. */
  private corked = true
  private headOnly = false
  /** A check that was sent to its shard. */
  private isChecking = false
  /** Answered, but not completely sent. */
  private leaving = false
  private outflow: Outflow | null = null
  protected admission: Admission | null = null
  private headers = ''
  /** CORS header lines. */
  private cors = ''
  /** The peer has disconnected, or the response has ended. */
  private isGone = false
  /** Close the connection after the response. */
  private cuts = false
  /** The response is sent in a later turn of the event loop. */
  private isDeferred = false
  private pieces: Buffer[] | null = null
  private received = 0
  private reserved = 0
  private group = ''
  /** No header has a key: the body is searched for one, and until then the caller is unauthenticated. */
  private keyless = false
  /** Bytes received of such a body. */
  private strange = 0
  /** A complete body that waits for admission. */
  private waiting: Buffer | null = null
  private params = noParameters
  private echo: Readonly<Record<string, unknown>> = nothing
  // for the audit log; set for changes only
  private asker: KeyRecord | null = null
  private requestBody: string | null = null
  private noted: Noting | null = null
  private requestId: string | null = null
  /** The request is durable: the answer says at least that, even if a later step fails (decision 32). */
  private isTaken = false
  /** In place of the route's; null: that one. */
  private handler: Route['handle'] | null = null

  /** Everything up to the first await. Only here may the request object be read. */
  begin(req: AppRequest, headOnly: boolean): void {
    const { shared, compiled, res } = this
    const { head } = shared
    this.headOnly = headOnly
    shared.inFlight++
    // first, because an aborted response without this callback would end the process
    res.onAborted(() => this.abort())
    try {
      head.read(req)
      this.secret = this.secretOf(head)
      this.cors = compiled.isOpen ? shared.cors.linesOf(head.origin) : exposedLine
      this.headers = this.cors
      this.frame(head)
      if (shared.services === null) throw new ServiceError('starting')
      if (!shared.mayAnswer()) throw new ServiceError('starting', 'Redis does not answer; try again')
      // without a "?" it is undefined, despite its type
      this.rawQuery = req.getQuery() ?? ''
      if (this.secret === '') this.beginKeyless(head)
      this.copy(req, head)
      if (compiled.route.body !== 'none') res.onData((chunk, last) => this.data(chunk, last))
      if (!this.keyless) this.find(this.secret)
    } catch (error) {
      if (error instanceof Misframed) this.cut(error)
      else this.fail(error)
    } finally {
      this.corked = false
    }
  }

  private frame(head: Head): void {
    const { trustProxy, chunkedBodies } = this.shared.options.config
    head.assertFramed()
    if (trustProxy > 0) this.forwardedFor = head.forwardedFor
    if (!head.isChunked) return
    if (!chunkedBodies) throw new Misframed('length_required')
    if (this.compiled.route.body === 'none') throw new Misframed('framing_invalid', 'No body is taken here')
    // trailers are not visible here, so nothing after them is read
    this.cuts = true
  }

  private cut(error: Misframed): void {
    const { res, shared, compiled } = this
    this.finish()
    shared.left()
    compiled.answered(error.status)
    cutOff(res, shared.writeHead, failure(error, this.headers), () => this.isGone)
  }

  /**
   * Start a request without a key. If the route accepts keys in the body, the body is read within the limit of the
   * caller's address; a compressed or large one is refused unread (source: decision).
   */
  private beginKeyless(head: Head): void {
    const { shared } = this
    this.keyFault = whyNoKey(this.keyHeader, head.authorization, this.rawQuery)
    if (!this.compiled.route.keysInBody) throw this.unknown('')
    const long = Number(head.contentLength) > keylessBytesMax
    if (long || encodingOf(head.contentEncoding) !== 'identity') throw this.unread()
    shared.strangers.take(this.remoteIp(), this.startedMs)
    this.keyless = true
  }

  // Admission, then the rest: at once when the key is in memory. Meanwhile the body arrives.
  protected find(secret: string): void {
    const found = this.shared.find(this.compiled.route, secret, this)
    if (found instanceof Promise) this.resume(found, key => this.enter(key))
    else this.enter(found)
  }

  protected enter(key: KeyRecord | null): void {
    this.admit(key)
    this.admitted()
  }

  private admitted(): void {
    if (this.compiled.route.body === 'none') this.handle(undefined)
    else if (this.waiting !== null) this.complete(this.waiting)
  }

  private admit(key: KeyRecord | null): void {
    if (key === null) throw this.unknown(this.secret)
    this.asker = key
    const { options, services } = this.shared
    const { keys } = services!
    const { allowance, outcome } = this.judge(key)
    this.headers = allowanceHeaders(allowance, this.cors)
    keys.used(key.id, this.startedMs)
    if (outcome instanceof ServiceError) {
      if (allowance?.refused) options.metrics.http.rejected[allowance.refused.bucket].count++
      throw outcome
    }
    this.admission = outcome
  }

  private judge(key: KeyRecord): Judgement {
    const { options, services } = this.shared
    const { route, last } = this.compiled
    try {
      return last.admit(route, key, this.environmentId, services!.keys, options.limits, this.startedMs, this)
    } catch (error) {
      // a disabled or expired key counts as unknown
      const failed = this.unknown(this.secret)
      throw failed.status === 401 ? error : failed
    }
  }

  private data(chunk: ArrayBuffer, last: boolean): void {
    // the server still delivers the rest of a body that was answered early; it is dropped
    if (this.isFinished || this.isDeferred) return
    this.corked = true
    try {
      this.received += chunk.byteLength
      if (this.keyless) this.hold(chunk.byteLength)
      if (this.received > this.compiled.bodyBytesMax) throw tooLarge(this.compiled.route)
      if (last && this.pieces === null) this.whole(chunk)
      else this.piece(chunk, last)
    } catch (error) {
      this.fail(error)
    } finally {
      this.corked = false
    }
  }

  // The usual case: the body in one piece. It is read in place if that is possible at once.
  private whole(chunk: ArrayBuffer): void {
    const inPlace = chunk.byteLength < longBytes && this.admission !== null && this.encoding === 'identity'
    if (inPlace && this.compiled.wrapper !== null && this.answered(this.compiled.wrapper, chunk)) return
    this.complete(inPlace ? Buffer.from(chunk) : Buffer.from(chunk.slice(0)))
  }

  /** Show a body to the wrapper of its route. Returns whether that has answered. */
  private answered(wrapper: Wrapper, chunk: ArrayBuffer): boolean {
    const { environment, signed } = this.admission!
    if (signed !== null || environment === null || this.rawQuery !== '' || !this.shared.mayAnswer())
      return false
    const name = this.parameters.length === 0 ? '' : this.parameters[0]!
    const early = wrapper.before(this.shared.services!, environment, name, new DataView(chunk))
    if (early instanceof Uint8Array) {
      this.answer({ status: this.compiled.route.status, headers: this.headers, body: '', bytes: early })
      return true
    }
    this.handler = early as Route['handle'] | null
    return false
  }

  private piece(chunk: ArrayBuffer, last: boolean): void {
    this.reserve(chunk.byteLength)
    this.pieces ??= []
    this.pieces.push(Buffer.from(chunk.slice(0)))
    if (last) this.complete(Buffer.concat(this.pieces, this.received))
  }

  // Bodies of unauthenticated callers are short, and few at a time.
  private hold(bytes: number): void {
    if (this.received > keylessBytesMax) throw this.unread(true)
    const { shared } = this
    this.strange += bytes
    shared.strange += bytes
    if (shared.strange > strangeBytesMax) throw new ServiceError('overloaded')
  }

  // Runs after all bodies of known callers.
  private searchKeys(bytes: Buffer): void {
    const { keys } = this.shared.services!
    const secrets = namedKeys(bytes)
    const search = (records: readonly (KeyRecord | null)[]): void => {
      const key = records.find(record => record !== null)
      if (key === undefined) throw this.unknown(secrets[0] ?? '', true)
      this.shared.strangers.giveBack(this.remoteIp(), this.startedMs)
      this.keyless = false
      this.contextToken = namedContext(bytes)
      this.admit(key)
      this.take(bytes)
    }
    this.resume(Promise.all(secrets.map(secret => keys.find(secret, this))), search)
  }

  // The complete body, as received.
  private complete(bytes: Buffer): void {
    if (this.keyless) {
      this.shared.longBodies.addLast(bytes.length, () => {
        if (!this.isFinished) this.searchKeys(bytes)
      })
      return
    }
    if (this.admission === null) {
      this.waiting = bytes
      return
    }
    if (this.encoding instanceof ServiceError) throw this.encoding
    if (this.encoding === 'identity') {
      this.take(bytes)
      return
    }
    if (this.reserved === 0) this.reserve(bytes.length)
    this.resume(decompress(bytes, this.compiled.route, groupOf(this.admission)), plain => this.take(plain))
  }

  // Long bodies wait for their turn, so that other requests need not wait for them.
  private take(bytes: Buffer): void {
    if (bytes.length < longBytes) return this.read(bytes)
    if (bytes.length > this.reserved) this.reserve(bytes.length - this.reserved)
    this.charge(tokensOfBody(this.compiled.route, this.admission!.key, bytes.length))
    this.shared.longBodies.add(bytes.length, () => {
      if (this.isFinished) return
      try {
        this.read(bytes)
      } catch (error) {
        this.fail(error)
      }
    })
  }

  private read(bytes: Buffer): void {
    this.pieces = null
    this.waiting = null
    const { parse } = this.compiled.route
    const text = parse === null ? null : decodeUtf8(bytes)
    if (this.compiled.route.mutates) this.requestBody = text
    const body =
      parse === null
        ? rawBody(bytes, this.contentType, this.attributes)
        : parseBody(text!, parse, this.compiled.isHot)
    this.handle(body, text ?? '')
  }

  /** The keys that a body's events name, each admitted like a key in a header. */
  named(secrets: readonly string[]): Promise<ReadonlyMap<string, NamedKey | null>> {
    const { shared, compiled, admission, environmentId } = this
    const { limits } = shared.options
    const { keys } = shared.services!
    return admitNamed(
      { route: compiled.route, admission: admission!, environmentId, keys, limits },
      this,
      secrets,
    )
  }

  charge(tokens: number): void {
    charge(this.shared.options, this.compiled.route, this.admission!, tokens)
  }

  taken(): void {
    mustDocumentTaken(this.compiled.route)
    this.isTaken = true
  }

  /** Report that a key in a known caller's body is unknown. */
  notKnown(secret: string): void {
    if (!this.isFinished) this.unknown(secret)
  }

  // Bodies in pieces or compressed share one bound, so that many slow ones cannot fill the memory.
  private reserve(bytes: number): void {
    if (this.reserved === 0) this.group = groupOf(this.admission)
    if (!this.shared.buffered.take(this.group, bytes)) throw new ServiceError('overloaded')
    this.reserved += bytes
  }

  protected handle(body: unknown, text = ''): void {
    const { route } = this.compiled
    const { key, environment, environmentUnknown } = this.admission!
    const asked = route.query === null ? emptyInput : route.query.read(this.rawQuery)
    const warning = unknownNames(this.compiled, this.rawQuery, body, () =>
      environment === null ? null : this.shared.services!.catalogs.get(environment.id),
    )
    if (warning !== '') this.headers += `\r\nX-Service-Warning: ${warning}`
    if (environmentUnknown) throw new ServiceError('not_found', 'No such environment')
    const params = route.parameters.length === 0 ? noParameters : decodeParameters(route, this.parameters)
    this.params = params
    this.echo =
      params === noParameters ? asked.echo : asked.echo === nothing ? params : { ...asked.echo, ...params }
    const guard = this.precondition()
    const stores = this.services()
    const shared = guard === null ? stores : guard.services(stores, () => call)
    const noting = route.noted ? this.noting() : null
    const services = route.mutates && noting !== null ? noting.services(shared) : shared
    const nowMs = environment === null ? services.clock.wall() : services.clock.now(environment.id)
    const call: Request = new Request(
      this,
      services,
      key,
      environment,
      params,
      asked.query,
      body,
      text,
      nowMs,
      this.userAgent,
      this.admission!.signed,
    )
    const proven = route.waitsForPostgres ? (services.postgres?.proven() ?? null) : null
    if (proven !== null) return this.resume(proven, () => this.give(call, body, guard), true)
    this.give(call, body, guard)
  }

  /** The If-Match of the request; null: it has none, or the route honours none. */
  private precondition(): Precondition | null {
    const { ifMatch, compiled, shared } = this
    if (compiled.tagged === null || ifMatch === '') return null
    return new Precondition(compiled.tagged, ifMatch, shared.services!.catalogs)
  }

  /** The handler's answer; a list answers in pages. */
  private answerOf(route: Route, call: Request): ReturnType<Route['handle']> {
    if (!isPaged(route.path, call.query)) return (this.handler ?? route.handle)(call)
    const name = `${route.path} ${JSON.stringify(call.params)}`
    return pagedAnswer(
      name,
      call.query,
      async query => route.handle(call.withQuery(query)) as Answer | Promise<Answer>,
    )
  }

  private give(call: Request, body: unknown, guard: Precondition | null): void {
    const route = guard === null ? this.compiled.route : guard.route(this.compiled.route)
    const { idempotencyKey: header, url: path, rawQuery: query } = this
    const under = route.keyed && once(route, call, { header, path, query, text: call.text }, this.echo)
    const answer = under || this.answerOf(route, call)
    if (answer instanceof Deferred) this.wait(answer)
    else if (answer instanceof Promise) {
      // a handler with a promise may read its body later
      if (body instanceof SmallBody) body.keep()
      const settling = call.services.entities?.isShared === true ? retried(route, call, answer) : answer
      this.resume(settling, settled => this.conclude(settled), route.mutates)
    } else this.conclude(answer)
  }

  /** The services for the handler, with store access in the environment's turn. */
  private services(): Services {
    const { services } = this.shared
    const { turns } = services!
    if (this.compiled.isHot || turns === undefined) return services!
    return turns.services(services!, groupOf(this.admission))
  }

  private wait(answer: Deferred): void {
    if (this.compiled.route.limit === 'check') {
      this.isChecking = true
      this.shared.longBodies.checking()
    }
    answer.listen(this)
  }

  // Continue when a promise settles, unless the caller has disconnected (`always`: even then).
  protected resume<T>(promise: Promise<T>, next: (value: T) => void, always = false): void {
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

  /** Called by a Later among other replies, so errors must stay within this request. */
  succeed(answer: Answer): void {
    if (this.isFinished && !this.compiled.route.mutates) return
    try {
      this.conclude(answer)
    } catch (error) {
      this.fail(error)
    }
  }

  private conclude(answer: Answer): void {
    if (answer.stream !== undefined) return this.pour(answer.stream)
    const echo = echoed(this.echo, this.params)
    const { status, noted, tagged } = this.compiled.route
    let headers = noted ? `${this.headers}\r\nX-Request-Id: ${this.ownId()}` : this.headers
    if (this.compiled.mayZip) headers += varyLine
    if (tagged && this.rawQuery === '') headers += `\r\nETag: ${tagOf(answer)}`
    const reply = success(answer, status, echo, headers)
    // a completed change is audited even if the caller has disconnected
    if (this.isFinished) this.note(reply)
    else if (this.zips && !this.headOnly && isLong(reply))
      this.resume(zipped(reply, groupOf(this.admission)), made => this.answer(made))
    else this.answer(reply)
  }

  fail(thrown: unknown): void {
    const error = toFailure(thrown)
    const known = error instanceof ServiceError
    if (this.isTaken && known && error.status === 503) return this.conclude(takenAnswer)
    const requestId = this.ownId()
    if (!known || error.status >= 500)
      this.shared.logFailure(this.line(requestId, known ? error.status : 500), error)
    const told = known ? error : internalError
    const reply = failure(told, `${this.headers}\r\nX-Request-Id: ${requestId}`)
    if (this.isFinished) this.note(reply)
    else this.answer(reply)
  }

  protected answer(reply: Reply): void {
    const { res, shared, headOnly } = this
    if (this.cuts && this.corked) return this.defer(reply)
    this.finish()
    const length = reply.bytes?.length ?? reply.body.length
    const isLarge = reply.pieces !== undefined || length > largeLength
    if (isLarge && !headOnly && !this.cuts) res.cork(() => this.writeLarge(reply))
    else {
      if (this.corked) shared.write(res, reply, headOnly)
      else res.cork(() => shared.write(res, whole(reply), headOnly, this.cuts))
      shared.left()
    }
    this.compiled.answered(reply.status)
    this.note(reply)
    const elapsedMs = performance.now() - this.startedMs
    this.compiled.seconds.observe(elapsedMs / 1_000)
    if (shared.logsRequests) shared.log.debug(this.line(this.ownId(), reply.status), 'request')
    else if (elapsedMs > shared.options.config.slowRequestMs && shared.mayTell('slow')) {
      shared.log.warn(this.line(this.ownId(), reply.status), 'slow request')
    }
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
    if (this.asker !== null && this.compiled.route.noted) this.noting()?.answered(status, noted)
  }

  // The audit row of a request with a known key; null without an audit log.
  private noting(): Noting | null {
    const { compiled, shared, asker } = this
    const { audit } = shared.options
    if (audit === undefined || asker === null) return null
    this.noted ??= new Noting(audit, {
      kind: compiled.route.mutates ? 'change' : 'read',
      key: asker,
      environmentId: this.admission?.environment?.id ?? asker.environmentId,
      method: compiled.method,
      path: compiled.route.path,
      parameters: this.parameters,
      url: this.rawQuery === '' ? this.url : `${this.url}?${this.rawQuery}`,
      requestBody: this.requestBody,
      remoteIp: this.remoteIp(),
      userAgent: this.userAgent,
      requestId: this.ownId(),
      expectedStatus: compiled.route.status,
      startedMs: this.startedMs,
      wallMs: () => shared.services!.clock.wall(),
    })
    return this.noted
  }

  /** The request's id in logs and responses. */
  private ownId(): string {
    this.requestId ??= this.shared.nextRequestId()
    return this.requestId
  }

  /** Write the audit row in the transaction of the change. */
  async record(tx: Sql): Promise<void> {
    await this.noting()?.within(tx)
  }

  // A large response is in flight until its last byte is sent.
  private writeLarge(reply: Reply): void {
    const { res, shared } = this
    shared.writeHead(res, reply)
    const bytes = reply.bytes ?? bytesForNow(reply.pieces ?? [reply.body])
    this.leaving = !sendLarge(res, bytes, () => this.gone())
    if (!this.leaving) shared.left()
  }

  // A stream. An error before its first piece is still answered with a status.
  private pour({ type, name, pieces }: Stream): void {
    const iterator = pieces[Symbol.asyncIterator]()
    this.resume(iterator.next(), first => {
      const { res, shared, compiled } = this
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
      this.outflow = new Outflow(res, iterator, error => {
        if (error !== null) shared.logFailure(this.line(this.ownId(), 200), toFailure(error))
        this.gone()
      })
      void this.outflow.run(this.headOnly ? { done: true, value: undefined } : first)
    })
  }

  protected gone(): void {
    if (!this.leaving) return
    this.leaving = false
    this.shared.left()
  }

  protected abort(): void {
    this.isGone = true
    this.outflow?.abort()
    this.gone()
    if (this.isFinished) return
    this.finish()
    this.shared.left()
    this.shared.options.metrics.http.aborted.count++
  }

  private finish(): void {
    this.isFinished = true
    if (this.isChecking) this.shared.longBodies.checked()
    this.pieces = null
    this.waiting = null
    this.shared.buffered.give(this.group, this.reserved)
    this.reserved = 0
    this.shared.strange -= this.strange
    this.strange = 0
  }

  protected line(requestId: string, status: number): RequestLine {
    return {
      request_id: requestId,
      route: this.compiled.label,
      status,
      duration_ms: Math.round((performance.now() - this.startedMs) * 1_000) / 1_000,
      environment_id: this.admission?.environment?.id ?? null,
    }
  }
}

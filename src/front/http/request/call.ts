// Stage 4 of a request, call: the handler is given the request, under its preconditions, its idempotency key and its audit row.
import type { Sql } from 'postgres'
import { ServiceError } from '../../../errors.js'
import { type Answer, Deferred, type NamedKey } from '../../../kit/call.js'
import { isPaged, pagedAnswer } from '../../../kit/cursor.js'
import type { Services } from '../../../kit/services.js'
import { groupOf } from '../admission/admit.js'
import { decodeParameters } from '../routing/headers.js'
import type { Route } from '../routing/route.js'
import type { AdmitStage, Next } from './admit.js'
import { mustDocumentTaken, retried } from './begin-anew.js'
import { once } from './idempotency-key.js'
import { SmallBody } from './parse-body.js'
import { Precondition } from './precondition.js'
import type { Incoming } from './read.js'
import type { ReplyStage } from './reply.js'
import { emptyInput, noParameters, nothing, type Origin, Request } from './request.js'
import { unknownNames } from './unknown-names.js'

/** The call of one handler. */
export class CallStage implements Next, Origin {
  /** In place of the route's handler; null: that one. */
  private handler: Route['handle'] | null = null
  /** The If-Match of the request; null: it has none, or the route honours none. */
  private guard: Precondition | null = null

  constructor(
    private readonly incoming: Incoming,
    private readonly admit: AdmitStage,
    protected readonly reply: ReplyStage,
  ) {}

  /** The route takes no body. */
  admitted(): void {
    this.handle(undefined, '')
  }

  /** Show a body to the wrapper of the route. Returns whether that has answered. */
  answersEarly(chunk: ArrayBuffer): boolean {
    const { compiled, rawQuery, parameters, shared } = this.incoming
    if (compiled.wrapper === null) return false
    const { environment, signed } = this.admit.admission!
    if (signed !== null || environment === null || rawQuery !== '' || !shared.mayAnswer()) return false
    const name = parameters.length === 0 ? '' : parameters[0]!
    const early = compiled.wrapper.before(shared.services!, environment, name, new DataView(chunk))
    if (early instanceof Uint8Array) {
      this.reply.bytes(early)
      return true
    }
    this.handler = early as Route['handle'] | null
    return false
  }

  /** Call the handler. `text`: the body's; '' where the handler parses it itself. */
  handle(body: unknown, text: string): void {
    const { incoming, reply } = this
    const { compiled, rawQuery } = incoming
    const { route } = compiled
    const { key, environment, environmentUnknown, signed } = this.admit.admission!
    const asked = route.query === null ? emptyInput : route.query.read(rawQuery)
    const warning = unknownNames(compiled, rawQuery, body, () =>
      environment === null ? null : incoming.shared.services!.catalogs.get(environment.id),
    )
    if (warning !== '') reply.headers += `\r\nX-Service-Warning: ${warning}`
    if (environmentUnknown) throw new ServiceError('not_found', 'No such environment')
    const params = route.parameters.length === 0 ? noParameters : decodeParameters(route, incoming.parameters)
    reply.params = params
    reply.echo =
      params === noParameters ? asked.echo : asked.echo === nothing ? params : { ...asked.echo, ...params }
    this.guard = this.precondition()
    const services = this.servicesFor(() => call)
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
      incoming.userAgent,
      signed,
    )
    const proven = route.waitsForPostgres ? (services.postgres?.proven() ?? null) : null
    if (proven !== null) return reply.after(proven, () => this.give(call, body), true)
    this.give(call, body)
  }

  /** Ask the If-Match in the transaction of the change. `call` is an argument: a field would keep its body until the reply. */
  async holds(tx: Sql, call: Request): Promise<void> {
    await this.guard?.holdWithin(tx, call)
  }

  private precondition(): Precondition | null {
    const { ifMatch, compiled, shared } = this.incoming
    if (compiled.tagged === null || ifMatch === '') return null
    return new Precondition(compiled.tagged, ifMatch, shared.services!.catalogs)
  }

  /** The services for the handler: stores in the environment's turn, changes under the precondition and with their audit row. */
  private servicesFor(call: () => Request): Services {
    const { guard } = this
    const { shared, compiled } = this.incoming
    const own = shared.services!
    const stores =
      compiled.isHot || own.turns === undefined ? own : own.turns.services(own, groupOf(this.admit.admission))
    const guarded = guard === null ? stores : guard.services(stores, call)
    const noting = this.reply.audit?.noting ?? null
    return compiled.route.mutates && noting !== null ? noting.services(guarded) : guarded
  }

  private give(call: Request, body: unknown): void {
    const { idempotencyKey: header, url: path, rawQuery: query, compiled } = this.incoming
    const { reply, guard } = this
    const route = guard === null ? compiled.route : guard.route(compiled.route)
    const under = route.keyed && once(route, call, { header, path, query, text: call.text }, reply.echo)
    const answer = under || this.answerOf(route, call)
    if (answer instanceof Deferred) this.wait(answer)
    else if (answer instanceof Promise) {
      // a handler with a promise may read its body later
      if (body instanceof SmallBody) body.keep()
      const settling = call.services.entities?.isShared === true ? retried(route, call, answer) : answer
      reply.after(settling, settled => reply.conclude(settled), route.mutates)
    } else reply.conclude(answer)
  }

  /** The handler's answer; a list answers in pages. */
  private answerOf(route: Route, call: Request): ReturnType<Route['handle']> {
    if (!isPaged(route.path, call.query)) return (this.handler ?? route.handle)(call)
    const name = `${route.path} ${JSON.stringify(call.params)}`
    return pagedAnswer(
      name,
      call.query,
      async query => route.handle(call.withQuery(query)) as Answer | Promise<Answer>,
      tokens => this.charge(tokens),
    )
  }

  private wait(answer: Deferred): void {
    const { compiled, shared } = this.incoming
    if (compiled.route.limit === 'check') {
      this.reply.isChecking = true
      shared.longBodies.checking()
    }
    answer.listen(this.reply)
  }

  // The request as its handler may ask it.

  remoteIp(): string {
    return this.admit.remoteIp()
  }

  get ifNoneMatch(): string {
    return this.incoming.ifNoneMatch
  }

  get minimal(): boolean {
    return this.incoming.minimal
  }

  get isFinished(): boolean {
    return this.reply.isFinished
  }

  /** Write the audit row in the transaction of the change. */
  async record(tx: Sql): Promise<void> {
    await this.reply.audit?.noting.within(tx)
  }

  /** The request is durable: the answer says at least that, even if a later step fails (decision 32). */
  taken(): void {
    mustDocumentTaken(this.incoming.compiled.route)
    this.reply.isTaken = true
  }

  charge(tokens: number): void {
    this.admit.charge(tokens)
  }

  chargeAdded(bytes: number): void {
    this.admit.chargeAdded(bytes)
  }

  named(secrets: readonly string[]): Promise<ReadonlyMap<string, NamedKey | null>> {
    return this.admit.named(secrets)
  }
}

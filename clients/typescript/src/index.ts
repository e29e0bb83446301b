// The client: checks in this process or over HTTP, events, leases, and every call of the interface, typed.
import type { EngineCompanyMetric } from '../../../src/core/evaluator/engine-shapes.js'
import { evaluateWith } from '../../../src/core/evaluator/evaluate.js'
import { inContext } from '../../../src/core/flags/flag.js'
import { type Api, type Connection, headersOf, makeApi } from './api.js'
import { Events, type OutgoingEvent } from './events.js'
import { Lease, type LeaseCalls, type LeaseRequest, type LeaseView } from './leases.js'
import type { Change, CheckOptions, ClientOptions, Context, Preflight } from './options.js'
import { type Check, type Checked, checkOf, type Source } from './result.js'
import { type Keys, Store, type StreamMessage } from './store.js'
import { type OpenSocket, type SocketLike, Stream } from './stream.js'
import { Usage } from './usage.js'

export type { Api } from './api.js'
export type { EventOptions, OutgoingEvent } from './events.js'
export { parseExact } from './exact.js'
export { Lease, LeaseError, type LeaseRequest } from './leases.js'
export type { Change, CheckOptions, ClientOptions, Context, Preflight } from './options.js'
export type { Check, Checked, Entitlement, Source } from './result.js'
export type { EntityKind, Keys } from './store.js'
export type { OpenSocket, SocketLike } from './stream.js'

const dayMs = 86_400_000

/** A call that failed with an HTTP status. */
export class TollgateError extends Error {
  override readonly name = 'TollgateError'

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export class Tollgate {
  /** Every call of the interface: `api.GET('/companies/{company_id}', { params: … })`. */
  readonly api: Api
  private readonly connection: Connection
  private readonly events: Events
  private readonly usage: Usage
  private readonly store: Store
  private readonly stream: Stream | null
  private readonly listeners = new Set<(change: Change) => void>()
  /** Sources of a check, when the check gives none. */
  readonly order: readonly Source[]
  /** When the stream was disconnected, epoch ms; null: it is connected. */
  private downSinceMs: number | null = null
  private readonly whenReady: Promise<void>
  private tellReady: () => void = () => {}
  private readonly leave = () => this.events.leave()

  constructor(private readonly options: ClientOptions) {
    const { url, key, environmentId, signedContext } = options
    const given = options.fetch ?? globalThis.fetch
    this.connection = {
      url: url.replace(/\/$/, ''),
      key,
      environmentId,
      signedContext,
      fetch: (input, init) => given(input, init),
    }
    this.api = makeApi(this.connection)
    this.events = new Events(
      (path, body, keepAlive) => this.post(path, body, keepAlive),
      options.events ?? {},
      events => this.usage.sent(events.map(one => one.idempotency_key)),
      events => this.usage.taken(events.map(one => one.idempotency_key)),
    )
    this.usage = new Usage(
      companyIds => this.stream?.confirm(companyIds) === true,
      () => this.tell({ type: 'entity' }),
    )
    this.store = new Store(
      options.entitiesMax ?? 10_000,
      (kind, keys) => this.stream?.forget(kind, keys),
      this.usage,
    )
    this.order = options.order ?? (options.local ? ['local', 'http', 'default'] : ['http', 'default'])
    this.stream = options.local ? this.openStream() : null
    this.whenReady =
      this.stream === null
        ? Promise.resolve()
        : new Promise(resolve => {
            this.tellReady = resolve
          })
    this.stream?.start()
    const page = globalThis as {
      addEventListener?: (type: string, listener: () => void) => void
      document?: unknown
    }
    if (page.document !== undefined) page.addEventListener?.('pagehide', this.leave)
  }

  /** Resolves when flags can be checked in this process, or at once where that is switched off. */
  ready(): Promise<void> {
    return this.whenReady
  }

  /** Whether the stream is connected. */
  get connected(): boolean {
    return this.stream?.isConnected === true
  }

  /** Events that the service has not acknowledged. */
  get pendingEvents(): number {
    return this.events.size
  }

  /** Subscribe to changes. Returns the function that ends the subscription. */
  onChange(listener: (change: Change) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  // ── checks ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Check a flag with the sources in `order`, one after the other. Never rejects when `default` is among
   * them.
   */
  async check(flagKey: string, context: Context = {}, options: CheckOptions = {}): Promise<Checked> {
    const order = options.order ?? this.order
    let failure: unknown = new Error(`No source in order could check ${flagKey}`)
    for (const source of order) {
      try {
        const checked = await this.checkBy(source, flagKey, context, options, failure)
        if (checked !== null) return checked
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /** Whether a flag is on. */
  async isOn(flagKey: string, context: Context = {}, options: CheckOptions = {}): Promise<boolean> {
    return (await this.check(flagKey, context, options)).value
  }

  /**
   * Check every flag with the first source in `order` that can. Rejects when none can: there are no defaults
   * for all flags.
   */
  async checkAll(context: Context = {}): Promise<readonly Checked[]> {
    if (this.order.includes('local') && this.stream !== null) {
      await this.holdContext(context)
      const checks = [...this.store.flags.keys()].map(key => this.checkHeld(key, context))
      const all = checks.filter(one => one !== null)
      if (this.store.isComplete && all.length === checks.length) return all
    }
    const withinMs = this.options.httpMs ?? 2_000
    const { flags } = (await this.call('POST', '/flags/check', context, withinMs)) as {
      readonly flags: Check[]
    }
    return flags.map(one => ({ ...one, source: 'http' }))
  }

  /** Check a flag with the data in memory, now; null: some of it is missing. */
  checkHeld(flagKey: string, context: Context = {}, preflight: Preflight | null = null): Checked | null {
    const flag = this.store.flags.get(flagKey)
    if (flag === undefined || !this.mayAnswer()) return null
    const companyKeys = given(context.company)
    const userKeys = given(context.user)
    const company = companyKeys && this.store.companies.find(companyKeys)
    const user = userKeys && this.store.users.find(userKeys)
    if ((companyKeys !== null && company === null) || (userKeys !== null && user === null)) return null
    const result = evaluateWith(flag, company, user, preflight, Date.now() + this.store.aheadMs)
    const asked = { companyGiven: companyKeys !== null, userGiven: userKeys !== null }
    const checked = { ...checkOf(inContext(result, asked)), source: 'local' as const }
    const isCurrent = this.downSinceMs === null && this.store.isCurrent(company, user)
    return isCurrent ? checked : { ...checked, stale: true }
  }

  private checkBy(
    source: Source,
    flagKey: string,
    context: Context,
    options: CheckOptions,
    failure: unknown,
  ): Promise<Checked | null> | Checked | null {
    switch (source) {
      case 'local':
        return (
          this.checkHeld(flagKey, context, options.preflight) ?? this.checkHere(flagKey, context, options)
        )
      case 'http':
        return this.checkOverHttp(flagKey, context, options)
      case 'default':
        return this.defaultOf(flagKey, options, failure)
    }
  }

  /** As `checkHeld`, after a request for missing data. */
  private async checkHere(flagKey: string, context: Context, options: CheckOptions): Promise<Checked | null> {
    await this.holdContext(context)
    return this.checkHeld(flagKey, context, options.preflight)
  }

  /** Request a context's company and user from the stream when they are missing. */
  private async holdContext({ company, user }: Context): Promise<void> {
    const { stream, store } = this
    if (stream === null || !stream.isConnected) return
    const waitMs = this.options.entityMs ?? 1_000
    const [companyKeys, userKeys] = [given(company), given(user)]
    const wanted: Promise<void>[] = []
    if (companyKeys !== null && store.companies.find(companyKeys) === null)
      wanted.push(stream.want('company', companyKeys, waitMs))
    if (userKeys !== null && store.users.find(userKeys) === null)
      wanted.push(stream.want('user', userKeys, waitMs))
    await Promise.all(wanted)
  }

  private mayAnswer(): boolean {
    const { downSinceMs } = this
    return downSinceMs === null || Date.now() - downSinceMs < (this.options.staleMs ?? dayMs)
  }

  private async checkOverHttp(flagKey: string, context: Context, options: CheckOptions): Promise<Checked> {
    const { preflight = null } = options
    const body = { ...context, ...(preflight !== null && { preflight }) }
    const path = `/flags/${encodeURIComponent(flagKey)}/check`
    const data = (await this.call('POST', path, body, this.options.httpMs ?? 2_000)) as Check
    return { ...data, source: 'http' }
  }

  private defaultOf(flagKey: string, options: CheckOptions, failure: unknown): Checked {
    const value = options.default ?? this.options.defaults?.[flagKey] ?? false
    return {
      flag: flagKey,
      flag_id: null,
      value,
      reason: 'Default of the client',
      rule_id: null,
      rule_type: null,
      company_id: null,
      user_id: null,
      error: failure instanceof Error ? failure.message : String(failure),
      feature_allocation: null,
      feature_usage: null,
      feature_usage_event: null,
      feature_usage_period: null,
      feature_usage_reset_at: null,
      source: 'default',
    }
  }

  // ── events ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Report use. It counts at once in checks of this process.
   *
   * returns  its idempotency key; null: the queue is full, and the event was refused.
   */
  track(
    event: string,
    {
      company,
      user,
      quantity = 1,
      ...more
    }: Context & { readonly quantity?: number; readonly traits?: object } = {},
  ): string | null {
    const body = { event, ...(company && { company }), ...(user && { user }), quantity, ...more }
    return this.put('track', body)
  }

  /** Report a user's identity and company. */
  identify(body: {
    readonly keys: Keys
    readonly name?: string
    readonly traits?: object
    readonly company?: { readonly keys: Keys; readonly name?: string; readonly traits?: object }
  }): string | null {
    return this.put('identify', body)
  }

  /** Report a model's answer. */
  inference(body: {
    readonly company: Keys
    readonly provider: string
    readonly response_model: string
    readonly input_tokens: number
    readonly output_tokens: number
    readonly [more: string]: unknown
  }): string | null {
    return this.put('inference', body)
  }

  private put(type: OutgoingEvent['event_type'], body: object): string | null {
    const key = this.events.add(type, body)
    const { event, company, quantity = 1 } = body as { event?: string; company?: Keys; quantity?: number }
    if (key === null || type !== 'track' || event === undefined || !company || this.stream === null)
      return key
    const held = this.store.companies.find(company)
    if (held !== null) this.usage.add(key, held.id, event, quantity, held.company.metrics)
    return key
  }

  /** Send the queue of events. Resolves when it is acknowledged. */
  flush(): Promise<void> {
    return this.events.flush()
  }

  // ── leases ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Hold credits of a company for this process.
   *
   * errors  TollgateError, with status 402 when there are no credits.
   */
  async acquireLease(request: LeaseRequest): Promise<Lease> {
    const calls: LeaseCalls = {
      send: async (method, path, body) => (await this.call(method, path, body, 30_000)) as LeaseView,
      track: (type, body) => this.put(type, body),
      flush: () => this.flush(),
    }
    const view = await calls.send('POST', '/billing/credits/lease', {
      company_id: request.companyId,
      credit_type_id: request.creditId,
      requested_amount: request.amount,
      ...(request.expiresAt !== undefined && { expires_at: request.expiresAt }),
    })
    return new Lease(view, request, calls, () => Date.now() + this.store.aheadMs)
  }

  /**
   * Send the queue of events and close the stream. Call it before the process ends.
   *
   * returns  the number of events that were not acknowledged in time.
   */
  async close(withinMs = 10_000): Promise<number> {
    const left = await this.events.close(withinMs)
    this.stream?.close()
    this.listeners.clear()
    return left
  }

  // ── HTTP ─────────────────────────────────────────────────────────────────────────────────────

  private async call(method: string, path: string, body: object | null, withinMs: number): Promise<unknown> {
    const response = await this.connection.fetch(this.connection.url + path, {
      method,
      headers: {
        ...(await headersOf(this.connection)),
        ...(body !== null && { 'Content-Type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(withinMs),
    })
    const told = (await response.json()) as { readonly data?: unknown; readonly error?: string }
    if (!response.ok) throw new TollgateError(response.status, told.error ?? `Answered ${response.status}`)
    return told.data
  }

  private async post(path: string, body: string, keepAlive: boolean): Promise<Response> {
    return this.connection.fetch(this.connection.url + path, {
      method: 'POST',
      headers: { ...(await headersOf(this.connection)), 'Content-Type': 'application/json' },
      body,
      ...(keepAlive ? { keepalive: true } : { signal: AbortSignal.timeout(30_000) }),
    })
  }

  // ── the stream ───────────────────────────────────────────────────────────────────────────────

  private openStream(): Stream {
    const { url, key, environmentId, webSocket } = this.options
    return new Stream({
      url,
      key,
      environmentId,
      open: webSocket ?? globalWebSocket,
      held: kind => this.store.entities(kind).ids(),
      heard: message => this.heard(message),
      refused: (kind, keys) => {
        const id = this.store.refuse(kind, keys)
        if (id === null) return
        if (kind === 'company') this.usage.confirmed(id)
        this.tell({ type: 'entity' })
      },
      changed: (connected, reason) => {
        this.downSinceMs = connected ? null : (this.downSinceMs ?? Date.now())
        if (connected) {
          this.store.reconnected()
          this.usage.reconnected()
        }
        this.tell(connected ? { type: 'connected' } : { type: 'disconnected', reason })
      },
    })
  }

  private heard(message: StreamMessage): void {
    const wasComplete = this.store.isComplete
    const keys = this.store.take(message, Date.now())
    if (message.entity_type === 'rulesengine.Company' && message.entity_id !== undefined)
      this.figuresTold(message.entity_id, message)
    if (!wasComplete && this.store.isComplete) {
      this.tellReady()
      this.tell({ type: 'ready' })
    } else if (keys !== null && keys.length > 0) this.tell({ type: 'flags', keys })
    else if (keys === null) this.tell({ type: 'entity' })
  }

  private figuresTold(companyId: string, { message_type: kind, data }: StreamMessage): void {
    const { metrics = [] } = data as { readonly metrics?: readonly EngineCompanyMetric[] }
    if (kind === 'delete') this.usage.forget(companyId)
    else if (kind === 'confirmed') this.usage.confirmed(companyId)
    else this.usage.told(companyId, metrics)
  }

  private tell(change: Change): void {
    for (const listener of [...this.listeners]) listener(change)
  }
}

function given(keys: Keys | null | undefined): Keys | null {
  if (!keys) return null
  for (const _ in keys) return keys
  return null
}

const globalWebSocket: OpenSocket = (url, protocols) => {
  const { WebSocket } = globalThis as {
    readonly WebSocket?: new (url: string, protocols: string[]) => SocketLike
  }
  if (WebSocket === undefined) throw new Error('This runtime has no WebSocket: pass one as `webSocket`')
  return new WebSocket(url, protocols)
}

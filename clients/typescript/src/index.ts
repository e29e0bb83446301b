// The client: checks in this process or over HTTP, events, leases, and every call of the interface, typed.
import type { EngineCompanyMetric } from '../../../src/core/evaluator/engine-shapes.js'
import { evaluateWith } from '../../../src/core/evaluator/evaluate-snapshot.js'
import { inContext } from '../../../src/core/flags/flag.js'
import { type Api, makeApi } from './api.js'
import { reasonOf, TollgateError } from './errors.js'
import { type EventIdentity, Events, type OutgoingEvent } from './events.js'
import type { Http, KeySource } from './http.js'
import { Lease, type LeaseCalls, type LeaseRequest, type LeaseView } from './leases.js'
import { Teller } from './logger.js'
import type {
  Change,
  CheckOptions,
  ClientOptions,
  Context,
  FixedValue,
  Preflight,
  TrackOptions,
} from './options.js'
import { Readiness } from './readiness.js'
import { type ReservationView, Reserved, type ReserveOptions } from './reservations.js'
import { type Check, type Checked, checkOf, type Source } from './result.js'
import { httpOf, keyOf } from './settings.js'
import { type Keys, Store, type StreamMessage } from './store.js'
import { type OpenSocket, type SocketLike, Stream } from './stream.js'
import { Usage } from './usage.js'
import { type CreditBalance, type Standing, Watch, type WatchOptions } from './watch.js'

export type { Api } from './api.js'
export { type ErrorCode, TollgateError } from './errors.js'
export type { EventIdentity, EventOptions, OutgoingEvent } from './events.js'
export { parseExact } from './exact.js'
export type { KeySource } from './http.js'
export { Lease, LeaseError, type LeaseRequest } from './leases.js'
export type { Logger } from './logger.js'
export type {
  Change,
  CheckOptions,
  ClientOptions,
  Context,
  FixedValue,
  Preflight,
  TrackOptions,
} from './options.js'
export { type ReservationView, Reserved, type ReserveOptions, type Settlement } from './reservations.js'
export type { Check, Checked, Entitlement, Source } from './result.js'
export type { EntityKind, Keys } from './store.js'
export type { OpenSocket, SocketLike } from './stream.js'
export { type CreditBalance, type Standing, Watch, type Watched, type WatchOptions } from './watch.js'
export { verifyWebhook, type WebhookRequest } from './webhook.js'

const dayMs = 86_400_000
/** Default limits of `ready` and `flush`, ms. */
const readyMs = 10_000
const flushMs = 30_000
/** Most events that an offline client keeps. */
const recordedMax = 10_000

export class Tollgate {
  /** Every call of the interface: `api.GET('/companies/{company_id}', { params: … })`. */
  readonly api: Api
  private readonly http: Http
  private readonly events: Events
  private readonly usage: Usage
  private readonly store: Store
  private readonly stream: Stream | null
  private readonly listeners = new Set<(change: Change) => void>()
  private readonly teller: Teller
  private readonly fixed: Map<string, FixedValue>
  private readonly recorded: OutgoingEvent[] = []
  /** Sources of a check, when the check gives none. */
  readonly order: readonly Source[]
  /** When the stream was disconnected, epoch ms; null: it is connected. */
  private downSinceMs: number | null = null
  private readonly readiness: Readiness
  private readonly leave = () => this.events.leave()

  /** errors  TollgateError `options_invalid`: an option is missing or wrong. */
  constructor(private readonly options: ClientOptions) {
    const isOnline = options.offline !== true
    this.http = httpOf(options)
    this.teller = new Teller(options.logger)
    this.fixed = new Map(Object.entries(options.values ?? {}))
    this.api = makeApi(this.http)
    this.events = new Events(
      (path, body, keepAlive) => this.http.post(path, body, keepAlive),
      options.events ?? {},
      this.teller,
      {
        sent: keys => this.usage.sent(keys),
        taken: keys => this.usage.taken(keys),
      },
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
    const isLocal = options.local === true && isOnline
    this.order =
      options.order ?? (isLocal ? ['local', 'http', 'default'] : isOnline ? ['http', 'default'] : ['default'])
    const isPage =
      !isLocal &&
      isOnline &&
      options.signedContext !== undefined &&
      options.push !== false &&
      hasSocket(options)
    this.stream = isLocal || isPage ? this.openStream(isPage) : null
    this.readiness = new Readiness(this.stream === null, this.http.url)
    // A page's stream opens with the first listener: modules of pages are loaded on servers, too, to render them.
    if (isLocal) this.stream?.start()
    const page = globalThis as {
      addEventListener?: (type: string, listener: () => void) => void
      document?: unknown
    }
    if (page.document !== undefined) page.addEventListener?.('pagehide', this.leave)
  }

  /**
   * Resolves when flags can be checked in this process (`local`) or changes are pushed (pages), or at once where neither
   * is on.
   *
   * errors  TollgateError: `key_refused` or `forbidden` as soon as the service says so; `not_ready` with the reason after
   *         `timeoutMs`, default 10 000. The client goes on trying, and `ready` may be asked again.
   */
  ready({ timeoutMs = readyMs }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.stream?.start()
    return this.readiness.wait(timeoutMs)
  }

  /** Use another key from now on. Events that wait are sent with it at once. */
  setKey(key: KeySource): void {
    this.http.setKey(keyOf(key))
    this.readiness.again()
    this.events.keyChanged()
    this.stream?.retry()
  }

  /** Whether the stream is connected. */
  get connected(): boolean {
    return this.stream?.isConnected === true
  }

  /** Events that the service has not acknowledged. */
  get pendingEvents(): number {
    return this.events.size
  }

  /** Events of an offline client, the latest 10 000. */
  get recordedEvents(): readonly OutgoingEvent[] {
    return this.recorded
  }

  /** Fix a flag's value, for tests and development; null: it is asked for again. */
  setValue(flagKey: string, value: FixedValue | null): void {
    if (value === null) this.fixed.delete(flagKey)
    else this.fixed.set(flagKey, value)
    this.tell({ type: 'flags', keys: [flagKey] })
  }

  /** Subscribe to changes. Returns the function that ends the subscription. */
  onChange(listener: (change: Change) => void): () => void {
    this.listeners.add(listener)
    this.stream?.start()
    return () => this.listeners.delete(listener)
  }

  // ── checks ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Check a flag with the sources in `order`, one after the other. Never rejects when `default` is among
   * them.
   */
  async check(flagKey: string, context: Context = {}, options: CheckOptions = {}): Promise<Checked> {
    const fixed = this.fixedOf(flagKey)
    if (fixed !== null) return fixed
    const order = options.order ?? this.order
    let failure: unknown = this.options.offline
      ? new TollgateError(0, 'The client is offline by its options', 'offline')
      : new Error(`No source in order could check ${flagKey}`)
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
   * Check several flags of one context: over HTTP in one request. A flag that no source can check has its default and an
   * `error`.
   *
   * returns  the checks by the flags' keys.
   */
  async checkFlags(
    flagKeys: readonly string[],
    context: Context = {},
    options: Omit<CheckOptions, 'preflight'> = {},
  ): Promise<Readonly<Record<string, Checked>>> {
    const order = options.order ?? this.order
    const found = new Map<string, Checked>()
    let failure: unknown = null
    for (const key of flagKeys) {
      const fixed = this.fixedOf(key)
      if (fixed !== null) found.set(key, fixed)
    }
    for (const source of order) {
      const missing = flagKeys.filter(key => !found.has(key))
      if (missing.length === 0) break
      try {
        for (const one of await this.severalBy(source, missing, context, options, failure))
          found.set(one.flag, one)
      } catch (error) {
        failure = error
      }
    }
    for (const key of flagKeys)
      if (!found.has(key))
        found.set(key, this.defaultOf(key, options, failure ?? new Error('Flag not found')))
    return Object.fromEntries(flagKeys.map(key => [key, found.get(key)!]))
  }

  private async severalBy(
    source: Source,
    keys: readonly string[],
    context: Context,
    options: CheckOptions,
    failure: unknown,
  ): Promise<readonly Checked[]> {
    if (source === 'local') await this.holdContext(context)
    if (source === 'local') return keys.map(key => this.checkHeld(key, context)).filter(one => one !== null)
    if (source === 'http') {
      const { flags } = await this.askAll(context, options.timeoutMs)
      return flags.filter(one => keys.includes(one.flag))
    }
    return keys.map(key => this.defaultOf(key, options, failure ?? new Error('Flag not found')))
  }

  /**
   * Check every flag with the first source in `order` that can. Rejects when none can: there are no defaults
   * for all flags.
   */
  async checkAll(context: Context = {}): Promise<readonly Checked[]> {
    return (await this.standing(context)).flags
  }

  /**
   * All checks of a context, its plan and its credits, from one moment.
   *
   * errors  the same as `checkAll`.
   */
  async standing(context: Context = {}): Promise<Standing> {
    const standing = (await this.standingHeld(context)) ?? (await this.askAll(context))
    if (this.fixed.size === 0) return standing
    const flags = new Map(standing.flags.map(one => [one.flag, one]))
    for (const key of this.fixed.keys()) flags.set(key, this.fixedOf(key)!)
    return { ...standing, flags: [...flags.values()] }
  }

  private async standingHeld(context: Context): Promise<Standing | null> {
    if (this.options.offline) {
      const keys = new Set([...this.fixed.keys(), ...Object.keys(this.options.defaults ?? {})])
      const flags = [...keys].map(key => this.fixedOf(key) ?? this.defaultOf(key, {}, new Error('offline')))
      return { flags, plan: null, credits: {} }
    }
    if (!this.order.includes('local') || this.stream === null) return null
    await this.holdContext(context)
    const checks = [...this.store.flags.keys()].sort().map(key => this.evaluate(key, context, null))
    const flags = checks.filter(one => one !== null)
    if (!this.store.isComplete || flags.length < checks.length) return null
    const company = given(context.company)
    const held = company && this.store.companies.find(company)?.company
    const credits = Object.entries(held?.credit_balances ?? {}).map(([id, remaining]) => [
      id,
      { remaining: Number(remaining) },
    ])
    return {
      flags,
      plan: held?.base_plan_id ? { id: held.base_plan_id } : null,
      credits: Object.fromEntries(credits) as Record<string, CreditBalance>,
    }
  }

  private async askAll(context: Context, timeoutMs?: number): Promise<Standing> {
    const told = (await this.http.call('POST', '/flags/check', named(context), timeoutMs ?? this.httpMs)) as {
      readonly flags: Check[]
      readonly plan?: { readonly id: string; readonly name: string }
      readonly credit_balances?: Readonly<Record<string, CreditBalance>>
    }
    return {
      flags: told.flags.map(one => ({ ...one, source: 'http' })),
      plan: told.plan ?? null,
      credits: told.credit_balances ?? {},
    }
  }

  /** Keep all checks of a context current; see `Watch`. Close it, or end its last subscription, when it is not needed. */
  watch(context: Context = {}, options: WatchOptions = {}): Watch {
    return new Watch(this, context, options)
  }

  /** Check a flag with the data in memory, now; null: some of it is missing. */
  checkHeld(flagKey: string, context: Context = {}, preflight: Preflight | null = null): Checked | null {
    return this.fixedOf(flagKey) ?? this.evaluate(flagKey, context, preflight)
  }

  private evaluate(flagKey: string, context: Context, preflight: Preflight | null): Checked | null {
    const flag = this.store.flags.get(flagKey)
    if (flag === undefined || !this.mayAnswer()) return null
    const companyKeys = given(context.company)
    const userKeys = given(context.user)
    const company = companyKeys && this.store.companies.find(companyKeys)
    const user = userKeys && this.store.users.find(userKeys)
    if (companyKeys !== null && company === null && !this.store.unknown.has('company', companyKeys))
      return null
    if (userKeys !== null && user === null && !this.store.unknown.has('user', userKeys)) return null
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
        if (!this.options.offline)
          this.teller.warn(
            `default ${flagKey}`,
            `${flagKey} is answered with its default: ${reasonOf(failure)}`,
          )
        return this.defaultOf(flagKey, options, failure)
      case 'fixed':
        return this.fixedOf(flagKey)
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
    const isMissing = (kind: 'company' | 'user', keys: Keys) =>
      !store.unknown.has(kind, keys) && store.entities(kind).find(keys) === null
    if (companyKeys !== null && isMissing('company', companyKeys))
      wanted.push(stream.want('company', companyKeys, waitMs))
    if (userKeys !== null && isMissing('user', userKeys)) wanted.push(stream.want('user', userKeys, waitMs))
    await Promise.all(wanted)
  }

  private mayAnswer(): boolean {
    const { downSinceMs } = this
    return downSinceMs === null || Date.now() - downSinceMs < (this.options.staleMs ?? dayMs)
  }

  private async checkOverHttp(flagKey: string, context: Context, options: CheckOptions): Promise<Checked> {
    const { preflight = null } = options
    const body = { ...named(context), ...(preflight !== null && { preflight }) }
    const path = `/flags/${encodeURIComponent(flagKey)}/check`
    const data = (await this.http.call('POST', path, body, options.timeoutMs ?? this.httpMs)) as Check
    return { ...data, source: 'http' }
  }

  private get httpMs(): number {
    return this.options.httpMs ?? 2_000
  }

  private fixedOf(flagKey: string): Checked | null {
    const fixed = this.fixed.get(flagKey)
    if (fixed === undefined) return null
    const members = typeof fixed === 'boolean' ? { value: fixed } : fixed
    const plain = this.defaultOf(flagKey, {}, '')
    return {
      ...plain,
      error: null,
      reason: 'Fixed in the client',
      ...members,
      flag: flagKey,
      source: 'fixed',
    }
  }

  private defaultOf(flagKey: string, options: CheckOptions, failure: unknown): Checked {
    const { defaults = {} } = this.options
    const value = options.default ?? (Object.hasOwn(defaults, flagKey) ? defaults[flagKey]! : false)
    return {
      flag: flagKey,
      flag_id: null,
      value,
      reason: 'Default of the client',
      rule_id: null,
      rule_type: null,
      company_id: null,
      user_id: null,
      error: reasonOf(failure),
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
   * Report use. It counts at once in checks of this process; past use (`at`, `backfill`) when the service has it.
   *
   * returns  its idempotency key; null: the event was not taken (the queue is full, or it is no JSON), and `events.failed` has it.
   * errors   TollgateError `options_invalid` for an `at` that is no time.
   */
  track(event: string, options: TrackOptions = {}): string | null {
    const { company, user, quantity = 1, idempotencyKey, at, backfill, ...more } = options
    const body = { event, ...(company && { company }), ...(user && { user }), quantity, ...more }
    return this.put('track', body, { idempotencyKey, at, backfill })
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

  private put(type: OutgoingEvent['event_type'], body: object, identity: EventIdentity = {}): string | null {
    if (this.options.offline) return this.record(type, body, identity)
    const key = this.events.add(type, body, identity)
    const { event, company, quantity = 1 } = body as { event?: string; company?: Keys; quantity?: number }
    const isPresent = identity.at === undefined && identity.backfill !== true
    if (key === null || type !== 'track' || event === undefined || !company || !isPresent) return key
    const held = this.stream === null ? null : this.store.companies.find(company)
    if (held !== null) this.usage.add(key, held.id, event, quantity, held.company.metrics)
    return key
  }

  private record(
    type: OutgoingEvent['event_type'],
    body: object,
    { idempotencyKey, at }: EventIdentity,
  ): string {
    const key = idempotencyKey ?? crypto.randomUUID()
    const sent_at = new Date(at ?? Date.now()).toISOString()
    this.recorded.push({ event_type: type, body, idempotency_key: key, sent_at })
    if (this.recorded.length > recordedMax) this.recorded.shift()
    return key
  }

  /** Put events that `events.failed` received into the queue again, under their keys. Returns those that did not fit. */
  resend(events: readonly OutgoingEvent[]): readonly OutgoingEvent[] {
    return events.filter(event => !this.events.put(event))
  }

  /**
   * Send the queue of events. Resolves when it is acknowledged.
   *
   * errors  TollgateError `events_waiting`: at once when the key is refused, else after `timeoutMs`, default 30 000. The
   *         events stay in the queue and are sent again.
   */
  flush({ timeoutMs = flushMs }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.events.flush(timeoutMs)
  }

  // ── reservations ─────────────────────────────────────────────────────────────────────────────

  /**
   * Check a flag and hold what it allows (`POST /flags/{key}/check-and-reserve`). Settle it after the use, or release it.
   *
   * errors  TollgateError. There are no defaults: nothing would be held.
   */
  async reserve(flagKey: string, context: Context, options: ReserveOptions = {}): Promise<Reserved> {
    const { quantity, expiresAt, idempotencyKey, preflight, timeoutMs } = options
    const body = {
      ...named(context),
      ...(preflight && { preflight }),
      ...(quantity !== undefined && { quantity }),
      ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
      idempotency_key: idempotencyKey ?? crypto.randomUUID(),
    }
    const path = `/flags/${encodeURIComponent(flagKey)}/check-and-reserve`
    const { reservation = null, ...checked } = (await this.http.call(
      'POST',
      path,
      body,
      timeoutMs ?? this.httpMs,
    )) as Check & {
      readonly reservation?: ReservationView
    }
    return new Reserved(checked, reservation, context, {
      track: (event, identity) => this.put('track', event, identity),
      release: id =>
        this.http.call(
          'PUT',
          `/billing/credits/reservations/${encodeURIComponent(id)}/release`,
          null,
          30_000,
        ),
    })
  }

  // ── leases ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Hold credits of a company for this process.
   *
   * errors  TollgateError, with status 402 when there are no credits.
   */
  async acquireLease(request: LeaseRequest): Promise<Lease> {
    const calls: LeaseCalls = {
      send: async (method, path, body) => (await this.http.call(method, path, body, 30_000)) as LeaseView,
      track: (type, body) => this.put(type, body),
      flush: () => this.flush(),
    }
    const view = await calls.send('POST', '/billing/credits/lease', {
      company_id: request.companyId,
      credit_type_id: request.creditId,
      requested_amount: request.amount,
      ...(request.expiresAt !== undefined && { expires_at: request.expiresAt }),
    })
    const now = () => Date.now() + (this.connected ? this.store.aheadMs : this.http.clock.aheadMs)
    return new Lease(view, request, calls, now)
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

  // ── the stream ───────────────────────────────────────────────────────────────────────────────

  private openStream(isPage: boolean): Stream {
    return new Stream({
      http: this.http,
      isPage,
      open: this.options.webSocket ?? openSocket,
      held: kind => this.store.entities(kind).ids(),
      heard: message => this.heard(message),
      isHeld: (kind, keys) => this.store.entities(kind).find(keys) !== null,
      refused: (kind, keys, isWatched) => {
        const id = this.store.refuse(kind, keys)
        if (isWatched) this.store.unknown.add(kind, keys)
        if (id === null) return
        if (kind === 'company') this.usage.confirmed(id)
        this.tell({ type: 'entity' })
      },
      changed: (connected, reason) => {
        this.downSinceMs = connected ? null : (this.downSinceMs ?? Date.now())
        if (connected) {
          this.store.reconnected()
          this.usage.reconnected()
          if (isPage) this.readiness.reached()
          if (this.teller.over('stream')) this.teller.info('the data stream is connected again')
        } else this.teller.warn('stream', `the data stream is down: ${reason}`)
        this.tell(connected ? { type: 'connected' } : { type: 'disconnected', reason })
      },
      inVain: (reason, error) => {
        const isRefused = error !== null && (error.status === 401 || error.status === 403)
        if (isRefused) this.teller.error('stream refused', `the data stream is refused: ${reason}`)
        else this.teller.warn('stream', `the data stream cannot be opened: ${reason}`)
        this.readiness.failed(reason, isRefused ? error : null)
      },
    })
  }

  private heard(message: StreamMessage): void {
    const wasComplete = this.store.isComplete
    const keys = this.store.take(message, Date.now())
    if (message.entity_type === 'rulesengine.Company' && message.entity_id !== undefined)
      this.figuresTold(message.entity_id, message)
    if (!wasComplete && this.store.isComplete) {
      this.readiness.reached()
      this.tell({ type: 'ready' })
    } else if (keys !== null && keys.length > 0) this.tell({ type: 'flags', keys })
    else if (keys === null) this.tell({ type: 'entity' })
  }

  private figuresTold(companyId: string, { message_type: kind, data }: StreamMessage): void {
    const { metrics = [] } = data as { readonly metrics?: readonly EngineCompanyMetric[] }
    if (kind === 'delete') this.usage.forget(companyId)
    else if (kind === 'confirmed') this.usage.confirmed(companyId)
    else if (kind !== 'found') this.usage.told(companyId, metrics)
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

/** Company and user as the interface takes them: without members that are absent. */
function named({ company, user }: Context): Context {
  return { ...(company && { company }), ...(user && { user }) }
}

const runtime = globalThis as {
  readonly WebSocket?: new (url: string, protocols: string[]) => SocketLike
  readonly process?: { readonly versions?: { readonly node?: string } }
}

const hasSocket = ({ webSocket }: ClientOptions): boolean =>
  webSocket !== undefined || runtime.WebSocket !== undefined || runtime.process?.versions?.node !== undefined

/** The runtime's WebSocket, or in Node before 22 the one of the package `ws`. */
const openSocket: OpenSocket = async (url, protocols) => {
  if (runtime.WebSocket !== undefined) return new runtime.WebSocket(url, protocols)
  if (runtime.process?.versions?.node === undefined)
    throw new TollgateError(
      0,
      'This runtime has no WebSocket: pass one as the option `webSocket`',
      'options_invalid',
    )
  const { openNodeSocket } = await import('./node-socket.js')
  return openNodeSocket(url, protocols)
}

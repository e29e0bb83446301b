// Event intake: validate each event, claim its key, find or create its company and user, send its record to its
// actor. Answers once everything accepted is durable.
import type { EventBodyFlagCheck, EventBodyIdentify } from '../../../schemas/events.js'
import { newId } from '../../account/ids.js'
import type { EntityWrite, FailedEvent, IngestItem, UserMessage } from '../../core/model/message.js'
import type { AcceptedEvent } from '../../core/model/requests.js'
import { differ, printOfText, unknownPrint } from '../../core/values/fingerprint.js'
import { decodeId } from '../../core/values/id.js'
import { type DirectoryKind, isServiceId } from '../../entities/directory/directory.js'
import { claimedKeys, type Target, type Wanted } from '../../entities/directory/entities.js'
import type { Claim } from '../../entities/idempotency/dedupe.js'
import type { Undelivered } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import { type Judged, judge } from '../../events/judge.js'
import { bodyText, failedBody, typeOf } from '../../events/text.js'
import type { Pieces } from '../../json.js'
import { type Answer, Deferred } from '../../kit/call.js'
import { isoTime } from '../../kit/time.js'
import { callerJson, otherJson, repeatJson } from './acknowledgements.js'
import { withContext } from './applied-context.js'
import { Claims, type Failure, nameOf, nothingUndone, type Sender, type Undone } from './claims.js'
import { type Draft, describe } from './draft.js'
import { isPublic, refuseBeyond, unnamed } from './publishable.js'
import { refusalOf, unlessGone } from './refusals.js'

/** Data of one acknowledgement. `failure` is null unless the event is stored as failed. */
interface Acknowledged {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly failure: string | null
  /** The idempotency key was used before, by the `same` event or one with `other` content. It is not counted again. */
  readonly repeats?: 'same' | 'other'
}

interface IdentifyWrites {
  readonly user: EntityWrite
  readonly company: EntityWrite | null
}

/** Number of writes to users and companies sent together, within the environment's allowance. */
const writesAtOnce = 128

const readonlyFailure = 'a read-only key was used'

/**
 * Take one event (POST /events), parsed from text that passed `assertPlain`.
 *
 * returns  its acknowledgement, a RawEvent.
 * errors   body_invalid (400) or forbidden (403) with the rule's message, nothing stored; 503 when it could not be
 *          made durable.
 * source   EV-1, EV-7, EV-27.
 */
export function ingestOne(sender: Sender, event: unknown): Deferred | Promise<Answer> {
  sender.services.backlog.admit()
  const judged = judge(event, sender.key.kind === 'secret', sender.nowMs)
  if ('error' in judged) throw new ServiceError(judged.forbidden ? 'forbidden' : 'body_invalid', judged.error)
  const batch = new Batch(sender, false, true)
  batch.take(judged)
  return batch.commitLater() ?? batch.commit().then(acks => ({ json: acks[0]! }))
}

/** The answer to a list of events. `acks`: acknowledgements as JSON, single or already joined by commas. */
export function acknowledged(acks: readonly string[]): Answer {
  return { json: `{"events":[${acks.join(',')}]}` }
}

/** The answer to a long list of events. `acks`: acknowledgements as JSON with their commas. */
export function acknowledgedInPieces(acks: Pieces): Answer {
  return { pieces: ['{"events":[', ...acks, ']}'] }
}

/** Events acknowledged together. */
export class Batch {
  private readonly acks: Acknowledged[] = []
  private items: IngestItem[] = []
  /** Writes to users and companies that must be durable before the events. Each is idempotent. */
  private readonly preludes: (() => Promise<unknown>)[] = []
  /** Identify events: the record is part of the write to the user. */
  private readonly identifies: { readonly eventId: string; readonly run: () => Promise<unknown> }[] = []
  private readonly claims: Claims
  /** Characters that a signed context has added. */
  private added = 0
  private joined: Set<string> | null = null
  /** Entities that the preludes and identify events write. */
  private readonly targets: Target[] = []
  /** Why events became durable as failed, by their ids. */
  private failures: Map<string, string> | null = null

  /** `plain`: the events are known to pass `assertPlain`. */
  constructor(
    private readonly sender: Sender,
    private readonly report = false,
    private readonly plain = false,
  ) {
    this.claims = new Claims(sender)
  }

  /** Store an invalid event as failed, without effect; its idempotency key stays free (EV-28). */
  fail(event: unknown, message: string): void {
    this.failAs(typeOf(event), failedBody(event), message)
  }

  /** `fail` for an event that another thread validated: its type and the text to store. */
  failAs(type: AcceptedEvent['type'], body: string, message: string): void {
    this.sender.services.metrics.events.failed.count++
    const draft = this.draft(type, body)
    draft.failure = message
    this.keep(draft)
  }

  /**
   * Take a valid event. Throws before any claim if its body or traits are unacceptable (CU-33).
   *
   * text  the body as it is stored.
   */
  take(given: Judged, givenText = bodyText(given.body, this.plain)): void {
    const { sender } = this
    const { judged, text } = sender.signed
      ? withContext(given, givenText, sender.signed)
      : { judged: given, text: givenText }
    this.added += text.length - givenText.length
    if (isPublic(sender)) refuseBeyond(sender, judged)
    const writes = judged.type === 'identify' && !sender.key.readonly ? this.writesOf(judged) : null
    const event = this.draft(judged.type, text)
    event.mode = judged.mode
    event.capturedAtMs = judged.capturedAtMs
    event.sentAtMs = judged.sentAtMs
    event.idempotencyKey = judged.idempotencyKey === null ? null : nameOf(sender, judged.idempotencyKey)
    describe(event, judged)
    if (sender.key.readonly) {
      event.failure = readonlyFailure // EV-6
      return this.keep(event)
    }
    const print = event.idempotencyKey === null ? unknownPrint : this.printOf(event, judged)
    const first = this.claim(event, print)
    if (first) return this.repeat(first, event, judged, print)
    switch (judged.type) {
      case 'track':
        return this.measured(event, judged.body.company ?? null, judged.body.user ?? null)
      case 'inference':
        event.inference = this.priced(judged)
        return this.measured(event, judged.body.company, judged.body.user ?? null)
      case 'flag_check':
        return this.checked(event, judged.body)
      case 'identify':
        return this.identified(event, judged.body, writes!)
    }
  }

  /**
   * Make everything durable, in an order in which a crash does no harm.
   *
   * returns  the acknowledgements as JSON.
   * errors   the first failure. Keys of events that became durable stay claimed, so that a retry finds them; the
   *          others are free again.
   */
  async commit(): Promise<readonly string[]> {
    const applied = this.items.length + this.identifies.length
    if (this.added > 0) this.sender.chargeAdded?.(this.added)
    const undone = await this.deliver()
    if (undone !== nothingUndone) this.claims.giveUp(undone)
    this.committed(applied)
    if (this.claims.waits) await this.claims.others()
    return this.acknowledgements()
  }

  /** Whether `commit` sends its events at once, because nothing must be durable before them. */
  get leavesAtOnce(): boolean {
    return this.preludes.length + this.identifies.length === 0
  }

  private committed(applied: number): void {
    const { metrics } = this.sender.services
    this.claims.confirm()
    metrics.events.accepted.count += this.acks.length
    metrics.events.applied.count += applied
  }

  /** `commit` without a promise, for the usual single event without preludes; null for any other. */
  commitLater(): Deferred | null {
    const { items, preludes, identifies, claims } = this
    if (items.length !== 1 || preludes.length + identifies.length > 0 || claims.waits) return null
    const later = new Deferred(() => {
      this.committed(1)
      return { json: this.acknowledgements()[0]! }
    })
    const waiting = claims.waitingFor(later, failed => this.failed(failed))
    this.sender.services.shards.putEvent(items[0]!, this.sender.nowMs, waiting)
    return later
  }

  /** Release all claims; nothing was sent. */
  abandon(): void {
    this.claims.abandon()
  }

  /** Send everything. Returns what failed to become durable. Never rejects. */
  private deliver(): Promise<Undone> {
    if (this.preludes.length > 0 || this.identifies.length > 0) return this.deliverInOrder()
    if (this.items.length === 0) return Promise.resolve(nothingUndone)
    return this.deliverItems().then(shards =>
      shards.length === 0 ? nothingUndone : { ...nothingUndone, shards },
    )
  }

  private async deliverInOrder(): Promise<Undone> {
    const { entities } = this.sender.services
    if (entities.isShared)
      try {
        await entities.secure(this.targets)
      } catch (error) {
        return { ...nothingUndone, whole: { error } }
      }
    const failure = await this.inPieces(this.preludes)
    if (failure !== null) return { ...nothingUndone, whole: failure }
    const identifies = new Map<string, Failure>()
    const identifying = this.inPieces(
      this.identifies.map(({ eventId, run }) => async () => {
        await run().catch(error => identifies.set(eventId, { error }))
      }),
    )
    const shards = this.items.length > 0 ? await this.deliverItems() : []
    await identifying
    return shards.length + identifies.size === 0 ? nothingUndone : { whole: null, shards, identifies }
  }

  /**
   * Run the writes, as many at a time as the environment may have ahead of Postgres. Every write runs, even after a
   * failure, because each releases its own key claims.
   *
   * returns  the first failure.
   */
  private async inPieces(writes: readonly (() => Promise<unknown>)[]): Promise<Failure | null> {
    const { services, environmentId } = this.sender
    let failure: Failure | null = null
    const run = async (write: () => Promise<unknown>): Promise<void> => {
      await write().catch(error => {
        failure ??= { error }
      })
    }
    for (let from = 0; from < writes.length; from += writesAtOnce) {
      const piece = writes.slice(from, from + writesAtOnce)
      await services.entities.paced(environmentId, piece.length, () => Promise.all(piece.map(run)))
    }
    return failure
  }

  /** References to posted items are dropped, so that they do not grow old in memory during the journal write. */
  private deliverItems(): Promise<readonly Undelivered[]> {
    const { items } = this
    this.items = []
    return this.sender.services.shards.ingest(items, this.sender.nowMs, failed => this.failed(failed))
  }

  /** Handle events that became durable as failed, because their company cannot use them (decision 27). */
  private failed(events: readonly FailedEvent[]): void {
    const failed = this.claims.failed(events)
    this.failures = new Map([
      ...(this.failures ?? []),
      ...failed.map(([id, reason]) => [id, reason] as const),
    ])
    for (const [id, , first] of events) {
      if (first === undefined) continue
      const place = this.acks.findIndex(({ eventId }) => eventId === id)
      const { eventId, capturedAtMs, other } = first
      this.acks[place] = { eventId, capturedAtMs, failure: null, repeats: other ? 'other' : 'same' }
    }
  }

  private claim({ id, idempotencyKey, capturedAtMs }: Draft, print: number): Claim | null {
    if (idempotencyKey === null) return null
    const [high, low] = decodeId('evt_', id)!
    return this.claims.claim(idempotencyKey, high, low, capturedAtMs, print)
  }

  /** Hash of an event's content, including its company if already known. */
  private printOf(event: Draft, judged: Judged): number {
    const name = event.subtype ?? ''
    if (judged.type !== 'track' && judged.type !== 'inference') return printOfText(event.type, name, 1, '')
    const { company, user } = judged.body
    return printOfText(event.type, name, event.quantity, this.knownCompany(company, user) ?? '')
  }

  private knownCompany(
    company: Readonly<Record<string, string>> | null | undefined,
    user: Readonly<Record<string, string>> | null | undefined,
  ): string | null {
    const found = this.resolve('company', company ?? null)
    if (found.id !== null || found.make) return found.id
    const userId = this.resolve('user', user ?? null).id
    if (userId === null) return null
    const companies = this.sender.services.directory.companiesOf(this.sender.environmentId, userId)
    return companies.length === 1 ? companies[0]! : null // EV-35
  }

  /**
   * Acknowledge a duplicate as its first event was, once that is durable. A duplicate with other content is also
   * stored as failed, without effect, so that one can find out why it was not counted (decision 23).
   */
  private repeat(first: Claim, event: Draft, judged: Judged, print: number): void {
    const { events } = this.sender.services.metrics
    const { eventId, capturedAtMs } = first
    events.duplicate.count++
    const repeats = differ(first.print, print) ? 'other' : 'same'
    this.acks.push({ eventId, capturedAtMs, failure: null, repeats })
    if (repeats === 'same') return
    events.differing.count++
    if (judged.type === 'track' || judged.type === 'inference')
      event.companyId = this.knownCompany(judged.body.company, judged.body.user)
    event.failure = `dropped: its idempotency key was used with other content by ${eventId}`
    this.items.push(this.item(event))
  }

  /** track and inference: find or create company and user, and ensure their membership (EV-30…35). */
  private measured(
    event: Draft,
    companyKeys: Readonly<Record<string, string>> | null,
    userKeys: Readonly<Record<string, string>> | null,
  ): void {
    const { directory } = this.sender.services
    const company = this.resolve('company', companyKeys)
    const user = this.resolve('user', userKeys)
    const failure = company.failure ?? user.failure
    if (failure !== null) return this.unclaim(event, failure)

    const over =
      (company.make ? this.overQuota('company', true, companyKeys!) : null) ??
      (user.make ? this.overQuota('user', true, userKeys!) : null)
    if (over !== null) return this.unclaim(event, over)

    let companyId = company.id
    const makeUser = user.make || (user.id !== null && directory.isUnconfirmed(user.id))
    const userTarget = makeUser ? this.target('user', user.id, userKeys!) : null
    const userId = userTarget?.id ?? user.id
    if (companyId === null && !company.make && userId !== null) {
      const companies = directory.companiesOf(this.sender.environmentId, userId)
      if (companies.length === 1) companyId = companies[0]! // EV-35
    }
    if (company.make || (company.id !== null && directory.isUnconfirmed(company.id)))
      companyId = this.ensureCompany(company.id, companyKeys!)
    if (userId !== null) {
      this.ensureUser(userId, userTarget, companyId)
      if (event.mode !== 'backfill')
        this.sender.services.userSeen.note(userId, this.sender.environmentId, event.capturedAtMs)
    }
    event.companyId = companyId
    event.userId = userId
    if (company.make && event.idempotencyKey !== null) this.printAgain(event)
    this.keep(event)
    if (event.type === 'inference' && event.subtype !== null) this.derive(event)
  }

  /** Update the content hash of a claimed event whose company is now known. */
  private printAgain({ id, type, subtype, quantity, companyId, idempotencyKey }: Draft): void {
    const { services, environmentId } = this.sender
    const print = printOfText(type, subtype ?? '', quantity, companyId ?? '')
    services.dedupe.print(environmentId, idempotencyKey!, id, print)
  }

  /** The usage of an inference and its cost: as given, else by the price in force at its time (EV-61…63). */
  private priced({
    body,
    capturedAtMs,
  }: Judged & { readonly type: 'inference' }): AcceptedEvent['inference'] {
    const tokens = {
      input: body.input_tokens,
      output: body.output_tokens,
      cachedInput: body.cached_input_tokens ?? 0,
      cacheWrite: body.cache_creation_input_tokens ?? 0,
      reasoning: body.reasoning_tokens ?? 0,
      requests: body.requests ?? 1,
    }
    const currency = (body.currency ?? 'usd').toLowerCase()
    if (body.cost) return { tokens, cost: { amount: body.cost, currency, priceId: null } }
    const { modelPrices } = this.sender.services
    const { accountId } = this.sender.key
    return {
      tokens,
      cost: modelPrices.cost(accountId, body.provider, body.response_model, currency, capturedAtMs, tokens),
    }
  }

  /** The track event derived from a label (EV-66). It has its parent's time and mode and no acknowledgement. */
  private derive(parent: AcceptedEvent): void {
    const event: AcceptedEvent = {
      ...parent,
      id: newId('evt_'),
      type: 'track',
      idempotencyKey: null,
      derivedFrom: parent.id,
      inference: null,
    }
    this.items.push(this.item(event))
  }

  /** flag_check: creates no entity; updates last_seen_at of the company and user (EV-55). */
  private checked(event: Draft, check: EventBodyFlagCheck): void {
    const { directory, checkedFlags } = this.sender.services
    const environmentId = this.sender.environmentId
    const named = (
      kind: DirectoryKind,
      id: string | null | undefined,
      keys: Readonly<Record<string, string>> | null | undefined,
    ) => {
      // an id of the other kind is nobody's
      if (id && isServiceId(kind, 'id', id) && directory.has(environmentId, id)) return id
      return keys ? directory.resolve(kind, environmentId, keys).found : null
    }
    const companyId = named('company', check.company_id, check.req_company)
    const userId = named('user', check.user_id, check.req_user)
    checkedFlags.note(environmentId, check.flag_key, event.capturedAtMs)
    if (userId !== null && event.mode !== 'backfill')
      this.sender.services.userSeen.note(userId, environmentId, event.capturedAtMs)
    event.companyId = companyId
    event.userId = userId
    this.keep(event)
  }

  /** identify: write the company first, then the user together with the event's record (EV-40…42). */
  private identified(event: Draft, body: EventBodyIdentify, writes: IdentifyWrites): void {
    const { services, environmentId, nowMs } = this.sender
    const { entities } = services
    const user = this.resolve('user', body.keys)
    const company = body.company
      ? this.resolve('company', body.company.keys)
      : { id: null, make: false, failure: null }
    const failure = user.failure ?? company.failure
    if (failure !== null) return this.unclaim(event, failure)

    const over =
      this.overQuota('user', user.make, body.keys) ??
      (body.company ? this.overQuota('company', company.make, body.company.keys) : null)
    if (over !== null) return this.unclaim(event, over)

    const seenAtMs = event.mode === 'backfill' ? null : event.capturedAtMs
    const userTarget = entities.target('user', environmentId, user.id, body.keys)
    /** Why a write was refused. */
    let refusal: string | null = null
    const companyTarget = body.company
      ? entities.target('company', environmentId, company.id, body.company.keys)
      : null
    this.targets.push(userTarget, ...(companyTarget ? [companyTarget] : []))
    if (companyTarget && writes.company) {
      const write = writes.company
      this.preludes.push(async () => {
        refusal = await refusalOf(
          'company',
          entities.ask(companyTarget, { type: 'identify', write, seenAtMs }, nowMs),
        )
      })
    }
    const companyId = companyTarget?.id ?? null
    event.companyId = companyId
    event.userId = userTarget.id
    const message: UserMessage = {
      type: 'event',
      event,
      write: writes.user,
      joins: companyId === null ? [] : [companyId],
    }
    this.acks.push({ eventId: event.id, capturedAtMs: event.capturedAtMs, failure: null })
    this.claims.ownedBy(event.id, userTarget.id)
    const run = async () => {
      if (refusal === null)
        refusal = await refusalOf('user', entities.ask(userTarget, message, nowMs), repeats =>
          this.failed(repeats),
        )
      else entities.release(userTarget)
      if (refusal !== null) return this.keepFailed(event, userTarget.minted, refusal)
      if (companyId !== null) services.directory.join(userTarget.id, companyId)
    }
    this.identifies.push({ eventId: event.id, run })
  }

  /** Why an entity cannot be created or get these keys in this environment; null if it can. */
  private overQuota(
    kind: DirectoryKind,
    makes: boolean,
    keys: Readonly<Record<string, string>>,
  ): string | null {
    const { services, environmentId } = this.sender
    return services.entities.quotas.refusal(
      kind,
      environmentId,
      makes,
      Object.entries(keys),
      isPublic(this.sender),
    )
  }

  /** Store an identify event as failed that its user or company refuses; release its key (EV-28). */
  private async keepFailed(event: AcceptedEvent, userIsNew: boolean, failure: string): Promise<void> {
    const { services, nowMs } = this.sender
    const failed = { ...event, failure, companyId: null, userId: userIsNew ? null : event.userId }
    const [undelivered] = await services.shards.ingest([this.item(failed)], nowMs, () => {})
    if (undelivered !== undefined) throw undelivered.error
    this.failed([[event.id, failure]])
  }

  private writesOf({ body, capturedAtMs }: Judged & { readonly type: 'identify' }): IdentifyWrites {
    const { services, environmentId } = this.sender
    const { company } = body
    const client = isPublic(this.sender) && !this.sender.signed
    const write = (kind: DirectoryKind, wanted: Wanted) =>
      services.entities.write(kind, environmentId, wanted, capturedAtMs, client)
    return {
      user: write('user', body),
      company: company ? write('company', client ? unnamed(this.sender, company) : company) : null,
    }
  }

  /** Queue the creation of a company that is new, or being created by another request. Returns its id. */
  private ensureCompany(id: string | null, keys: Readonly<Record<string, string>>): string {
    const { services, environmentId, nowMs } = this.sender
    const target = services.entities.target('company', environmentId, id, keys)
    this.targets.push(target)
    const write = services.entities.write('company', environmentId, { keys: claimedKeys(target) }, nowMs)
    this.preludes.push(() =>
      services.entities.ask(target, { type: 'ensure', write }, nowMs).catch(unlessGone),
    )
    return target.id
  }

  /** Queue the write of a user that is new, or new to the company. */
  private ensureUser(userId: string, target: Target | null, companyId: string | null): void {
    const { services, environmentId, nowMs } = this.sender
    const joins = companyId !== null && !services.directory.isMember(userId, companyId) ? [companyId] : []
    if (target === null && joins.length === 0) return
    const member = `${userId} ${companyId}`
    if (target === null && this.joined?.has(member)) return
    this.joined ??= new Set()
    this.joined.add(member)
    if (target) this.targets.push(target)
    this.preludes.push(async () => {
      if (target) {
        const write = services.entities.write('user', environmentId, { keys: claimedKeys(target) }, nowMs)
        await services.entities.ask(target, { type: 'ensure', write, joins }, nowMs).catch(unlessGone)
      } else
        await services.shards
          .ask('u', environmentId, userId, { type: 'join', companyId: companyId! }, nowMs)
          .catch(unlessGone)
      for (const joined of joins) services.directory.join(userId, joined)
    })
  }

  private resolve(
    kind: DirectoryKind,
    keys: Readonly<Record<string, string>> | null,
  ): { readonly id: string | null; readonly make: boolean; readonly failure: string | null } {
    if (keys === null || Object.keys(keys).length === 0) return { id: null, make: false, failure: null }
    const resolution = this.sender.services.directory.resolve(kind, this.sender.environmentId, keys)
    if (resolution.found !== null) return { id: resolution.found, make: false, failure: null }
    switch (resolution.reason) {
      case 'unknown':
        return { id: null, make: true, failure: null }
      case 'ambiguous':
        return {
          id: null,
          make: false,
          failure: `keys match multiple ${kind === 'company' ? 'companies' : 'users'}`,
        }
      case 'unknown_id':
        return { id: null, make: false, failure: `${kind} not found` }
    }
  }

  private target(kind: DirectoryKind, id: string | null, keys: Readonly<Record<string, string>>): Target {
    return this.sender.services.entities.target(kind, this.sender.environmentId, id, keys)
  }

  /** Release the idempotency key of an event whose entity keys are invalid; its record is kept (EV-28, EV-33). */
  private unclaim(event: Draft, failure: string): void {
    if (event.idempotencyKey !== null) this.claims.unclaim(event.idempotencyKey, event.id)
    event.failure = failure
    this.keep(event)
  }

  /** Send an event's record to its company, else its user, else its environment. */
  private keep(event: AcceptedEvent): void {
    this.acks.push({ eventId: event.id, capturedAtMs: event.capturedAtMs, failure: event.failure })
    const item = this.item(event)
    this.claims.ownedBy(event.id, item.id)
    this.items.push(item)
  }

  private item(event: AcceptedEvent): IngestItem {
    const env = this.sender.environmentId
    if (event.companyId !== null)
      return { k: 'c', id: event.companyId, env, fresh: false, m: { type: 'event', event } }
    if (event.userId !== null)
      return {
        k: 'u',
        id: event.userId,
        env,
        fresh: false,
        m: { type: 'event', event, write: null, joins: [] },
      }
    return { k: 'e', id: env, env, fresh: true, m: { type: 'event', event } }
  }

  private draft(type: AcceptedEvent['type'], body: string): Draft {
    const { sender } = this
    return {
      id: newId('evt_'),
      type,
      subtype: null,
      body,
      quantity: 1,
      mode: 'normal',
      capturedAtMs: sender.nowMs,
      sentAtMs: null,
      receivedAtMs: sender.nowMs,
      apiKeyId: sender.key.id,
      idempotencyKey: null,
      companyId: null,
      userId: null,
      leaseId: null,
      reservationId: null,
      failure: null,
      derivedFrom: null,
      inference: null,
    }
  }

  /** RawEvents as JSON. They differ only in id, time and failure. */
  private acknowledgements(): readonly string[] {
    const end = `"${callerJson(this.sender)}`
    return this.acks.map(
      ({ eventId, capturedAtMs, failure, repeats }) =>
        `{"captured_at":"${isoTime(capturedAtMs)}","event_id":"${eventId}${end}` +
        (this.report ? `,"error":${JSON.stringify(failure ?? this.failures?.get(eventId) ?? null)}` : '') +
        (repeats === undefined ? '}' : repeats === 'same' ? `${repeatJson}}` : `${otherJson}}`),
    )
  }
}

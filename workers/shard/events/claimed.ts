// Events whose idempotency keys are claimed in a store that nodes share, before anything of their request is decided.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ShardRequest } from '../../../src/core/company/shard-request.js'
import type { FailedEvent, IngestItem } from '../../../src/core/model/message.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'
import { itemsOf, UsageBatch, type UsesRequest } from '../../../src/core/usage/batch.js'
import { differ, printOfText } from '../../../src/core/values/fingerprint.js'
import type { Claimed, ClaimedEvent, FirstEvent, Held } from '../../../src/redis/claims.js'
import type { OldClaims } from '../../../src/redis/old-claims.js'
import { nameOf } from '../../../src/redis/old-keys.js'
import type { Packet } from '../../../src/wire/message-codec.js'

/** Where a shard claims keys. */
export type EventClaims = Pick<OldClaims, 'begin' | 'claim' | 'write' | 'free' | 'needed'>

type NamedEvent = ClaimedEvent & { readonly name: string }

/** A request whose keys are claimed: the part that is to be decided, and the answers for the rest. */
interface ClaimedRequest {
  /** Rows are opened when they are decided, each with its claim. */
  readonly request: ShardRequest | (() => UsesRequest)
  readonly held: readonly HeldEvent[]
  readonly repeats: readonly FailedEvent[]
}

interface HeldEvent {
  readonly eventId: string
  readonly held: Held
}

/** Why a request is refused before anything of it is decided. */
const busyDetail = 'An event with this idempotency key is on its way; try again'
const unsureDetail =
  'ClickHouse does not answer, and an idempotency key may be that of an event some hours ago; try again'
/** Pause before a busy key is claimed again, and how often it is. */
const busyMs = 10
const busyTries = 100

/** A request whose keys are to be claimed. */
export type Keyed = ShardRequest | KeptUses

/** Requests, each with its part to decide, or its refusal. */
type ClaimedRequests = readonly (readonly [request: Keyed, left: ClaimedRequest['request'] | Error])[]

/** The rows of one packet as texts, for all its requests. They are opened again where another packet was opened since. */
class KeptPacket {
  private uses: UsageBatch | null = null

  constructor(
    private readonly text: string,
    private readonly rows: string,
  ) {}

  open(): UsageBatch {
    if (this.uses === null || !this.uses.isOpen) this.uses = new UsageBatch(this.text, this.rows)
    return this.uses
  }
}

/**
 * Events that cross as rows, until their keys are claimed. The rows of a packet are valid only until the next packet is
 * opened: they stay texts meanwhile.
 */
class KeptUses {
  readonly n: number
  /** The claim of each row; null where it has no key. */
  readonly claims: readonly (NamedEvent | null)[]

  /** request: its rows are open now. */
  constructor(
    private readonly request: UsesRequest,
    private readonly packet: KeptPacket,
  ) {
    this.n = request.n
    this.claims = Array.from({ length: request.count }, (_, i) => claimOfRow(request, request.from + i))
  }

  /** The request with its rows, until another packet is opened. `held`: as in `UsesRequest`. */
  opened(held?: UsesRequest['held']): UsesRequest {
    const uses = this.packet.open()
    return held === undefined ? { ...this.request, uses } : { ...this.request, uses, held }
  }
}

/** Requests of one packet, in their order: those that need no claim, and those that do. */
export function sorted(requests: readonly ShardRequest[], [, , , text = '', rows = '']: Packet) {
  const packet = new KeptPacket(text, rows)
  const free: ShardRequest[] = []
  const keyed: Keyed[] = []
  for (const request of requests)
    if ('uses' in request) {
      if (hasKeys(request)) keyed.push(new KeptUses(request, packet))
      else free.push(request)
    } else if (keyedEvents(request).length > 0) keyed.push(request)
    else free.push(request)
  return { free, keyed }
}

function hasKeys({ uses, from, count }: UsesRequest): boolean {
  for (let i = 0; i < count; i++) if (uses.keyLength(from + i) > 0) return true
  return false
}

/** Events of a request that claim a key, each with its environment. */
function keyedEvents(request: ShardRequest) {
  const items =
    'events' in request ? request.events : 'm' in request && request.m.type === 'event' ? [request] : []
  return items.flatMap(({ env, m }) => {
    const { event } = m as { readonly event: AcceptedEvent }
    return hasKey(event) ? [{ env, event }] : []
  })
}

const hasKey = ({ idempotencyKey, failure }: AcceptedEvent): boolean =>
  idempotencyKey !== null && failure === null

/** Claims of requests that are no rows: each name is hashed once. */
const claimsMade = new WeakMap<ShardRequest, readonly NamedEvent[]>()

/** The claims of a request, in the order of its events. */
function claimsOf(request: Keyed): readonly NamedEvent[] {
  if (request instanceof KeptUses) return request.claims.filter(one => one !== null)
  let claims = claimsMade.get(request)
  if (claims === undefined) {
    claims = keyedEvents(request).map(({ env, event }) => claimOf(env, event))
    claimsMade.set(request, claims)
  }
  return claims
}

/** The fate of a claim; null: its whole request has to wait, or is refused. */
type FateOf = (claim: NamedEvent) => Exclude<Claimed, string> | null

/**
 * Claim the keys of some requests together.
 *
 * returns  the part left of each request. It holds nothing where a key is busy (null), or refused (Error).
 * errors   errors of the store: then nothing is known to be held.
 */
export async function claimAll(
  requests: readonly Keyed[],
  claims: EventClaims,
): Promise<readonly (ClaimedRequest | Error | null)[]> {
  // one name once: its second event in a request is a repeat of the first. In another request it waits for the fate of that
  // one, which may be told to come later, or fail.
  const places = new Map<string, number>()
  const wanted: NamedEvent[] = []
  const askers: Keyed[] = []
  for (const request of requests)
    for (const claim of claimsOf(request)) {
      if (places.has(claim.name)) continue
      places.set(claim.name, wanted.length)
      wanted.push(claim)
      askers.push(request)
    }
  const answers = await claims.claim(wanted)
  return requests.map(request => {
    const undecided = new Set<'busy' | 'unsure'>()
    const fateOf: FateOf = claim => {
      const place = places.get(claim.name)!
      const leader = wanted[place]!
      let fate = answers[place]!
      if (leader !== claim && leader.eventId !== claim.eventId && typeof fate !== 'string' && 'held' in fate)
        fate = askers[place] === request ? { first: firstOf(leader) } : 'busy'
      if (typeof fate !== 'string') return fate
      undecided.add(fate)
      return null
    }
    const left = request instanceof KeptUses ? rowsLeft(request, fateOf) : eventsLeft(request, fateOf)
    if (undecided.size === 0) return left
    claims.free(left.held.map(one => one.held))
    return undecided.has('unsure') ? new Error(unsureDetail) : null
  })
}

function eventsLeft(request: ShardRequest, fateOf: FateOf): ClaimedRequest {
  const held: HeldEvent[] = []
  const repeats: FailedEvent[] = []
  const claims = claimsOf(request)
  let next = 0
  const kept = (event: AcceptedEvent): AcceptedEvent | null => {
    if (!hasKey(event)) return event
    const claim = claims[next++]!
    const found = fateOf(claim)
    if (found === null) return null
    if ('held' in found) {
      held.push({ eventId: event.id, held: found.held })
      return event
    }
    const other = differ(found.first.print, claim.print)
    repeats.push([event.id, '', { ...found.first, other }])
    if (!other) return null
    const failure = `dropped: its idempotency key was used with other content by ${found.first.eventId}`
    return { ...event, failure }
  }
  return { request: reduced(request, kept), held, repeats }
}

/** As `eventsLeft`, for rows. A repeat that differs from its first event is recorded as failed: such rows become events. */
function rowsLeft(kept: KeptUses, fateOf: FateOf): ClaimedRequest {
  const held: HeldEvent[] = []
  const repeats: FailedEvent[] = []
  const rows: (Held | null | undefined)[] = []
  for (const claim of kept.claims) {
    if (claim === null) {
      rows.push(undefined)
      continue
    }
    const found = fateOf(claim)
    if (found === null) continue
    if ('held' in found) {
      held.push({ eventId: claim.eventId, held: found.held })
      rows.push(found.held)
    } else if (differ(found.first.print, claim.print)) {
      const request = kept.opened()
      return eventsLeft({ n: request.n, at: request.at, events: itemsOf(request) }, fateOf)
    } else {
      repeats.push([claim.eventId, '', { ...found.first, other: false }])
      rows.push(null)
    }
  }
  return { request: () => kept.opened(rows), held, repeats }
}

/** The request with those of its events that are kept. */
function reduced(request: ShardRequest, kept: (event: AcceptedEvent) => AcceptedEvent | null): ShardRequest {
  if ('events' in request) {
    const events: IngestItem[] = []
    for (const item of request.events) {
      const m = item.m as { readonly event: AcceptedEvent }
      const event = kept(m.event)
      if (event === m.event) events.push(item)
      else if (event !== null) events.push({ ...item, m: { ...item.m, event } as IngestItem['m'] })
    }
    return { n: request.n, at: request.at, events }
  }
  const { n, at, k, id, env, m } = request as Extract<ShardRequest, { readonly m: unknown }>
  const was = (m as { readonly event: AcceptedEvent }).event
  const event = kept(was)
  // the event is not written a second time: only its record is kept, when its content differs
  if (event === was) return request
  if (event === null) return { n, at, events: [] }
  const item = { k, id, env, fresh: false, m: { type: 'event', event, write: null, joins: [] } } as IngestItem
  return { n, at, events: [item] }
}

function claimOf(env: string, event: AcceptedEvent): NamedEvent {
  const { id: eventId, capturedAtMs, receivedAtMs } = event
  const key = event.idempotencyKey!
  return { env, key, name: nameOf(env, key), eventId, capturedAtMs, receivedAtMs, print: printOfEvent(event) }
}

function claimOfRow({ uses, env, at }: UsesRequest, row: number): NamedEvent | null {
  const key = uses.key(row)
  if (key === null) return null
  const print = printOfText('track', uses.name(row), uses.quantity(row), uses.companyId(row))
  const name = nameOf(env, key)
  return { env, key, name, eventId: uses.id(row), capturedAtMs: at, receivedAtMs: at, print }
}

const firstOf = ({ eventId, capturedAtMs, print }: NamedEvent): FirstEvent => ({
  eventId,
  capturedAtMs,
  print,
})

/** As the sender computes it: for use only quantity and company count. */
function printOfEvent({ type, subtype, quantity, companyId }: AcceptedEvent): number {
  const used = type === 'track' || type === 'inference'
  return printOfText(type, subtype ?? '', used ? quantity : 1, used ? (companyId ?? '') : '')
}

/** A request whose events have no fate yet. */
interface UnderWay {
  readonly names: readonly string[]
  /** Resolves when its records are durable, or it was refused. */
  readonly over: Promise<void>
  readonly end: () => void
}

/** Claims between the moment in which a shard has them and the record of their event. */
export class HeldKeys {
  /** Requests of this shard by the names of their keys. */
  private readonly byName = new Map<string, UnderWay>()
  private readonly underWay = new Map<Keyed, UnderWay>()
  private readonly held = new Map<string, Held>()
  private readonly repeated = new Map<number, readonly FailedEvent[]>()

  /** durable: settles when the records of all that was decided are durable, or will never be. */
  constructor(
    private readonly claims: EventClaims | null,
    private readonly durable: () => Promise<unknown>,
  ) {}

  /**
   * Requests whose keys can be claimed now. One with a key that an earlier request of this shard has holds nothing while it
   * waits: were it claimed, all its keys would be given back and claimed again until then.
   *
   * again  called with such a request when its wait is over; its keys may be another request's again by then.
   */
  apart(requests: readonly Keyed[], again: (request: Keyed) => void): readonly Keyed[] {
    return requests.filter(request => {
      const names = claimsOf(request).map(({ name }) => name)
      const before = names.find(name => this.byName.has(name))
      if (before === undefined) this.begin(request, names)
      else void this.byName.get(before)!.over.then(() => again(request))
      return before === undefined
    })
  }

  private begin(request: Keyed, names: readonly string[]): void {
    let end!: () => void
    const over = new Promise<void>(resolve => {
      end = resolve
    })
    const one = { names, over, end }
    this.underWay.set(request, one)
    for (const name of names) this.byName.set(name, one)
  }

  /** Some requests were decided or refused just now. */
  passed(claimed: ClaimedRequests): void {
    const pass = (): void => {
      for (const [request] of claimed) this.end(request)
    }
    this.durable().then(pass, pass)
  }

  private end(request: Keyed): void {
    const { names, end } = this.underWay.get(request)!
    this.underWay.delete(request)
    for (const name of names) this.byName.delete(name)
    end()
  }

  /**
   * Claim the keys of some requests. A request with a key whose event is under way comes later, when the fate of that
   * event is known, or a second has passed. source: EV-27
   *
   * again   as in `apart`.
   * yields  those that can be decided or are refused, which is done before the next are asked for.
   */
  async *claim(
    requests: readonly Keyed[],
    claims: EventClaims,
    again: (request: Keyed) => void,
  ): AsyncGenerator<ClaimedRequests> {
    let asked = this.apart(requests, again)
    for (let tries = 0; asked.length > 0; tries++) {
      if (tries > 0) await sleep(busyMs)
      const claimed = await claimAll(asked, claims).catch((error: Error) => error)
      const busy: Keyed[] = []
      const fates: ClaimedRequests[number][] = []
      for (const [i, request] of asked.entries()) {
        const one =
          claimed instanceof Error
            ? new Error('Redis does not answer; try again', { cause: claimed })
            : claimed[i]!
        if (one === null && tries < busyTries) busy.push(request)
        else if (one === null) fates.push([request, new Error(busyDetail)])
        else if (one instanceof Error) fates.push([request, one])
        else fates.push([request, this.hold(request.n, one)])
      }
      yield fates
      this.passed(fates)
      asked = busy
    }
  }

  /** Returns the part to decide. */
  private hold(n: number, { request, held, repeats }: ClaimedRequest): ClaimedRequest['request'] {
    // rows carry their claims themselves
    if (typeof request !== 'function') for (const one of held) this.held.set(one.eventId, one.held)
    if (repeats.length > 0) this.repeated.set(n, repeats)
    return request
  }

  /** A row becomes an event, which holds the row's claim. */
  holdAs(eventId: string, held: Held): void {
    this.held.set(eventId, held)
  }

  /** The row is recorded at this sequence, which is appended in this tick. */
  writtenRow(held: Held, sequence: number): void {
    this.claims!.write(held, sequence)
  }

  /** Rows as events one by one, without repeats. */
  itemsOf(request: UsesRequest): Extract<ShardRequest, { readonly events: unknown }> {
    const { n, at, held } = request
    const events = itemsOf(request)
    if (held === undefined) return { n, at, events }
    for (const [i, one] of held.entries())
      if (one) this.held.set((events[i]!.m as { readonly event: AcceptedEvent }).event.id, one)
    return { n, at, events: events.filter((_, i) => held[i] !== null) }
  }

  /** Nothing of these rows was done. */
  forgoRows({ n, held }: UsesRequest): void {
    this.repeated.delete(n)
    if (held !== undefined) this.claims!.free(held.filter(one => one != null))
  }

  /** The event is recorded at this sequence, which is appended in this tick. One that failed gives its key back (EV-28). */
  written({ id, failure }: AcceptedEvent, sequence: number): void {
    const held = this.held.size === 0 ? undefined : this.take(id)
    if (held === undefined) return
    if (failure === null) this.claims!.write(held, sequence)
    else this.claims!.free([held])
  }

  /** The event was refused. */
  free({ id }: AcceptedEvent): void {
    const held = this.take(id)
    if (held !== undefined) this.claims!.free([held])
  }

  /** Nothing of the request was done. */
  forgo(request: ShardRequest): void {
    this.repeated.delete(request.n)
    if (this.held.size === 0) return
    for (const { event } of keyedEvents(request)) this.free(event)
  }

  /** The reply to a request: its failed events, and its repeats. */
  repeats(n: number, failed: readonly FailedEvent[] | null): readonly FailedEvent[] | null {
    if (this.repeated.size === 0) return failed
    const repeats = this.repeated.get(n)
    if (repeats === undefined) return failed
    this.repeated.delete(n)
    return [...(failed ?? []), ...repeats]
  }

  private take(id: string): Held | undefined {
    const held = this.held.get(id)
    this.held.delete(id)
    return held
  }
}

// Claims on the idempotency keys of events that are acknowledged together. They are confirmed or released afterwards.

import type { SignedContext } from '../../account/signed-contexts.js'
import type { FailedEvent } from '../../core/model/message.js'
import { encodeId } from '../../core/values/id.js'
import { type Claim, type KeyPlace, publishableMark } from '../../entities/idempotency/dedupe.js'
import { Lost, type Undelivered, type Waiting } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Deferred, KeyRecord } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'

/** The sender of events, and how errors reach it. */
export interface Sender {
  readonly services: Services
  readonly key: KeyRecord
  readonly environmentId: string
  readonly nowMs: number
  readonly remoteIp: string
  readonly userAgent: string
  /** Signed context of a publishable key's holder: all its events get this company and user. */
  readonly signed?: SignedContext | null
  /** Charges what the signed context adds to its events, bytes. */
  readonly chargeAdded?: ((bytes: number) => void) | null
}

/** The part that failed to become durable: everything, or the items of some shards, or some identify events. */
export interface Undone {
  readonly whole: Failure | null
  readonly shards: readonly Undelivered[]
  readonly identifies: ReadonlyMap<string, Failure>
}

export interface Failure {
  readonly error: unknown
}

export const nothingUndone: Undone = { whole: null, shards: [], identifies: new Map() }

/** The name a key is claimed under: publishable API keys have their own namespace (decision 23). */
export function nameOf({ key }: Pick<Sender, 'key'>, idempotencyKey: string): string {
  return key.kind === 'publishable' ? publishableMark + idempotencyKey : idempotencyKey
}

/** The 503 for events when the idempotency window has no room for their keys, or does not know all keys yet. */
export function windowFull({ lacksSome }: Pick<Services['dedupe'], 'lacksSome'>): ServiceError {
  if (lacksSome)
    return new ServiceError(
      'store_away',
      'ClickHouse is away: whether idempotency keys were used is not known',
    )
  return new ServiceError('overloaded', 'The idempotency window is full', { retryAfterSeconds: 60 })
}

// Words of a claim: its key's place, and the 64 bits of its event's id.
const [tagWord, middleWord, segmentAndPart, highWord, lowWord, claimWords] = [0, 1, 2, 3, 4, 5]
const partShift = 16

/**
 * Keys that were first claimed here. They are kept by their places, in numbers: a text would hold the whole body that it
 * is a part of, until the journal has written.
 */
export class Claims {
  private words: Uint32Array
  private count = 0
  /** The actor that stores the event's record of each; null until known. */
  private readonly owners: (string | null)[] = []
  /** Promises of first events still in flight, for duplicates in this batch. */
  private readonly awaited: Promise<void>[] = []
  private outcome!: { resolve: () => void; reject: (error: unknown) => void }
  private durable: Promise<void> | null = null
  /** Ticket of `Dedupe.begin`; 0 before the first claim. */
  private ticket = 0

  /** expected: claims that will probably be made. */
  constructor(
    private readonly sender: Sender,
    expected = 1,
  ) {
    this.words = new Uint32Array(expected * claimWords)
  }

  /** Whether a duplicate here must wait for its first event. */
  get waits(): boolean {
    return this.awaited.length > 0
  }

  /**
   * Claim a key. Returns the existing claim if the key was used before (EV-25…27).
   *
   * key        as `nameOf` gives it.
   * high, low  the 64 bits of the event's id.
   * print      hash of the event's content.
   */
  claim(key: string, high: number, low: number, capturedAtMs: number, print: number): Claim | null {
    const { dedupe, metrics } = this.sender.services
    const { environmentId, nowMs } = this.sender
    if (dedupe.isFull(environmentId, key) && !dedupe.find(environmentId, key, nowMs)) {
      metrics.events.windowFull.count++
      throw windowFull(dedupe)
    }
    this.begin()
    const first = dedupe.claimFor(environmentId, key, high, low, capturedAtMs, this.ticket, nowMs, print)
    return this.note(first, high, low, null)
  }

  /**
   * The same of a key that was prepared under a number (`Dedupe.prepare`), for an event of this moment. The window has
   * room for it.
   *
   * owner  the actor that will store the event's record.
   */
  claimPrepared(n: number, high: number, low: number, print: number, owner: string): Claim | null {
    this.begin()
    const { nowMs, services } = this.sender
    const first = services.dedupe.claimPrepared(n, high, low, nowMs, this.ticket, nowMs, print)
    return this.note(first, high, low, owner)
  }

  private begin(): void {
    if (this.durable !== null) return
    this.durable = this.newOutcome()
    this.ticket = this.sender.services.dedupe.begin(this.durable)
  }

  private end(): void {
    this.sender.services.dedupe.end(this.ticket)
    this.durable = null
  }

  private note(first: Claim | null, high: number, low: number, owner: string | null): Claim | null {
    if (first !== null) {
      if (first.durable && first.durable !== this.durable) this.awaited.push(first.durable)
      // a ticket without claims has nobody who ends it
      if (this.count === 0) this.end()
      return first
    }
    const at = this.count * claimWords
    if (at === this.words.length) this.grow()
    const { words } = this
    const { segment, tag, middle, part } = this.sender.services.dedupe.place
    words[at + tagWord] = tag
    words[at + middleWord] = middle
    words[at + segmentAndPart] = segment | (part << partShift)
    words[at + highWord] = high
    words[at + lowWord] = low
    this.owners.push(owner)
    this.count++
    return null
  }

  private grow(): void {
    const { words } = this
    this.words = new Uint32Array(Math.max(4 * claimWords, 2 * words.length))
    this.words.set(words)
  }

  /** Set the actor that stores an event's record, if the event made the last claim. */
  ownedBy(eventId: string, owner: string): void {
    const last = this.count - 1
    if (last >= 0 && this.eventId(last) === eventId) this.owners[last] = owner
  }

  /** Release the key of an event that failed (EV-28). */
  unclaim(key: string, eventId: string): void {
    const drop = (i: number) => this.eventId(i) === eventId
    this.keepBut(drop)
    this.sender.services.dedupe.release(this.sender.environmentId, key, eventId)
  }

  /**
   * Events that became durable as failed: those give their keys back (EV-28), and are stored once more when sent again.
   * Returns them without those that repeat a key which another node knows.
   */
  failed(failures: readonly FailedEvent[]): readonly FailedEvent[] {
    const { metrics } = this.sender.services
    const events = failures.filter(([, , repeats]) => repeats === undefined)
    const repeats = failures.flatMap(([, , first]) => first ?? [])
    metrics.events.duplicate.count += repeats.length
    metrics.events.differing.count += repeats.filter(({ other }) => other).length
    metrics.events.failed.count += events.length
    if (events.length === 0) return events
    const ids = new Set(events.map(([eventId]) => eventId))
    this.keepBut(i => {
      if (!ids.has(this.eventId(i))) return false
      this.release(i)
      return true
    })
    return events
  }

  /** Keep no claims for which `drop` is true. */
  private keepBut(drop: (i: number) => boolean): void {
    let kept = 0
    for (let i = 0; i < this.count; i++) {
      if (drop(i)) continue
      this.words.copyWithin(kept * claimWords, i * claimWords, (i + 1) * claimWords)
      this.owners[kept] = this.owners[i]!
      kept++
    }
    this.count = kept
    this.owners.length = kept
  }

  /** All events are durable. */
  confirm(): void {
    if (this.durable === null) return
    this.end()
    this.outcome.resolve()
  }

  /** Resolves when the first events of all duplicates here are durable. */
  async others(): Promise<void> {
    await Promise.all(this.awaited)
  }

  /** Release all claims; no event was sent. */
  abandon(): void {
    for (let i = 0; i < this.count; i++) this.release(i)
    if (this.durable === null) return
    this.end()
    this.outcome.reject(new ServiceError('overloaded'))
  }

  /** A caller that waits at the shard for its single event: its keys are given back before it gets the failure. */
  waitingFor(later: Deferred, failed: (events: readonly FailedEvent[]) => void): Waiting {
    return {
      resolve: answered => {
        if (answered.reply !== null) failed(answered.reply as readonly FailedEvent[])
        later.resolve(answered)
      },
      reject: error => {
        try {
          this.giveUp({ ...nothingUndone, shards: [{ owns: () => true, error }] })
        } catch {
          later.reject(error)
        }
      },
    }
  }

  /** Confirm the keys of durable events, release the others, then throw the first failure. */
  giveUp({ whole, shards, identifies }: Undone): never {
    const unknown: Promise<void>[] = []
    for (let i = 0; i < this.count; i++) {
      const owner = this.owners[i]!
      const shard = shards.find(({ owns }) => owner !== null && owns(owner))
      const failure = whole ?? identifies.get(this.eventId(i)) ?? shard
      const waiting = this.confirmClaim(i, owner, failure, whole !== null)
      if (waiting !== null) unknown.push(waiting)
    }
    const [identify] = identifies.values()
    const { error } = (whole ?? shards[0] ?? identify)!
    if (this.durable !== null) {
      if (unknown.length === 0) this.end()
      else void Promise.all(unknown).then(() => this.end())
      this.outcome.reject(error)
    }
    throw error
  }

  /**
   * Confirm a durable event's key, or release that of a lost one. Where the outcome is unknown, the claim stays under way
   * until it is known; resolves then.
   */
  private confirmClaim(
    i: number,
    owner: string | null,
    failure: Failure | undefined,
    neverSent: boolean,
  ): Promise<void> | null {
    const { dedupe, shards } = this.sender.services
    if (failure === undefined) dedupe.confirmAt(this.placeOf(i))
    else if (!(failure.error instanceof Lost) || neverSent || owner === null) this.release(i)
    else
      return shards.restarted(owner).then(() => {
        if (!dedupe.isConfirmedAt(this.placeOf(i), this.high(i), this.low(i))) this.release(i)
      })
    return null
  }

  private release(i: number): void {
    this.sender.services.dedupe.releaseAt(this.placeOf(i), this.high(i), this.low(i))
  }

  private placeOf(i: number): KeyPlace {
    const { words } = this
    const at = i * claimWords
    const both = words[at + segmentAndPart]!
    return {
      segment: both & (2 ** partShift - 1),
      tag: words[at + tagWord]!,
      middle: words[at + middleWord]!,
      part: both >>> partShift,
    }
  }

  private high(i: number): number {
    return this.words[i * claimWords + highWord]!
  }

  private low(i: number): number {
    return this.words[i * claimWords + lowWord]!
  }

  private eventId(i: number): string {
    return encodeId('evt_', this.high(i), this.low(i))
  }

  private newOutcome(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      this.outcome = { resolve, reject }
    })
    promise.catch(() => {})
    return promise
  }
}

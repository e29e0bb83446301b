// Claims on the idempotency keys of events that are acknowledged together. They are confirmed or released afterwards.

import type { FailedEvent } from '../../core/company/message.js'
import { encodeId } from '../../core/id.js'
import type { SignedContext } from '../../engine/account/signed-contexts.js'
import { type Claim, publishableMark } from '../../engine/idempotency/dedupe.js'
import { Lost, type Undelivered, type Waiting } from '../../engine/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Deferred, KeyRecord } from '../kit/call.js'
import type { Services } from '../kit/services.js'

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

export class Claims {
  // One entry per key that was first claimed here. Parallel arrays, to save an object per event.
  private readonly keys: string[] = []
  /** The 64 bits of each event's id. */
  private readonly ids: number[] = []
  /** The actor that stores the event's record; null until known. */
  private readonly owners: (string | null)[] = []
  /** Promises of first events still in flight, for duplicates in this batch. */
  private readonly awaited: Promise<void>[] = []
  private outcome!: { resolve: () => void; reject: (error: unknown) => void }
  private durable: Promise<void> | null = null

  constructor(private readonly sender: Sender) {}

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
  claim(
    key: string,
    high: number,
    low: number,
    capturedAtMs: number,
    print: number,
    owner: string | null = null,
  ): Claim | null {
    const { dedupe, metrics } = this.sender.services
    const { environmentId, nowMs } = this.sender
    if (dedupe.isFull(environmentId, key) && !dedupe.find(environmentId, key, nowMs)) {
      metrics.events.windowFull.count++
      throw windowFull(dedupe)
    }
    this.durable ??= this.newOutcome()
    const first = dedupe.claimFor(environmentId, key, high, low, capturedAtMs, this.durable, nowMs, print)
    if (first === null) {
      this.keys.push(key)
      this.ids.push(high, low)
      this.owners.push(owner)
    } else if (first.durable && first.durable !== this.durable) this.awaited.push(first.durable)
    return first
  }

  /** Set the actor that stores an event's record, if the event made the last claim. */
  ownedBy(eventId: string, owner: string): void {
    const last = this.keys.length - 1
    if (last >= 0 && this.eventId(last) === eventId) this.owners[last] = owner
  }

  /** Release the key of an event that failed (EV-28). */
  unclaim(key: string, eventId: string): void {
    const place = this.keys.findIndex((_, i) => this.eventId(i) === eventId)
    if (place >= 0) {
      this.keys.splice(place, 1)
      this.ids.splice(2 * place, 2)
      this.owners.splice(place, 1)
    }
    this.sender.services.dedupe.release(this.sender.environmentId, key, eventId)
  }

  /**
   * Events that became durable as failed: those give their keys back (EV-28), and are stored once more when sent again.
   * Returns them without those that repeat a key which another node knows.
   */
  failed(failures: readonly FailedEvent[]): readonly FailedEvent[] {
    const { metrics, dedupe } = this.sender.services
    const events = failures.filter(([, , repeats]) => repeats === undefined)
    const repeats = failures.flatMap(([, , first]) => first ?? [])
    metrics.events.duplicate.count += repeats.length
    metrics.events.differing.count += repeats.filter(({ other }) => other).length
    metrics.events.failed.count += events.length
    const ids = new Set(events.map(([eventId]) => eventId))
    let kept = 0
    for (let i = 0; i < this.keys.length; i++) {
      const eventId = this.eventId(i)
      if (ids.has(eventId)) {
        dedupe.release(this.sender.environmentId, this.keys[i]!, eventId)
        continue
      }
      this.keys[kept] = this.keys[i]!
      this.ids[2 * kept] = this.ids[2 * i]!
      this.ids[2 * kept + 1] = this.ids[2 * i + 1]!
      this.owners[kept] = this.owners[i]!
      kept++
    }
    this.keys.length = kept
    this.ids.length = 2 * kept
    this.owners.length = kept
    return events
  }

  /** All events are durable. */
  confirm(): void {
    const { dedupe } = this.sender.services
    const { ids } = this
    for (let i = 0; i < ids.length; i += 2) dedupe.markDurable(ids[i]!, ids[i + 1]!)
    this.outcome?.resolve()
  }

  /** Resolves when the first events of all duplicates here are durable. */
  async others(): Promise<void> {
    await Promise.all(this.awaited)
  }

  /** Release all claims; no event was sent. */
  abandon(): void {
    for (const [i, key] of this.keys.entries())
      this.sender.services.dedupe.release(this.sender.environmentId, key, this.eventId(i))
    this.outcome?.reject(new ServiceError('overloaded'))
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
    for (const [i, key] of this.keys.entries()) {
      const owner = this.owners[i]!
      const eventId = this.eventId(i)
      const shard = shards.find(({ owns }) => owner !== null && owns(owner))
      this.confirmClaim(key, eventId, owner, whole ?? identifies.get(eventId) ?? shard, whole !== null)
    }
    const [identify] = identifies.values()
    const { error } = (whole ?? shards[0] ?? identify)!
    this.outcome?.reject(error)
    throw error
  }

  /** Confirm a durable event's key, release that of a lost one, and wait if the outcome is unknown. */
  private confirmClaim(
    key: string,
    eventId: string,
    owner: string | null,
    failure: Failure | undefined,
    neverSent: boolean,
  ): void {
    const { dedupe, shards } = this.sender.services
    const { environmentId } = this.sender
    if (failure === undefined) return dedupe.confirm(environmentId, key)
    if (!(failure.error instanceof Lost) || neverSent || owner === null)
      return dedupe.release(environmentId, key, eventId)
    void shards.restarted(owner).then(() => {
      if (!dedupe.isConfirmed(environmentId, key, eventId)) dedupe.release(environmentId, key, eventId)
    })
  }

  private eventId(place: number): string {
    return encodeId('evt_', this.ids[2 * place]!, this.ids[2 * place + 1]!)
  }

  private newOutcome(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      this.outcome = { resolve, reject }
    })
    promise.catch(() => {})
    return promise
  }
}

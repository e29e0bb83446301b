// Idempotency keys of events that are acknowledged together: claimed as they come, kept or given back by their fate.
import type { Claim } from '../../engine/dedupe.js'
import { Lost, type Undelivered } from '../../engine/shards.js'
import { ServiceError } from '../../errors.js'
import type { KeyRecord } from '../call.js'
import type { Services } from '../services.js'

/** Who sends, and how failures are told. */
export interface Sender {
  readonly services: Services
  readonly key: KeyRecord
  readonly environmentId: string
  readonly nowMs: number
  readonly remoteIp: string
  readonly userAgent: string
}

/** An idempotency key that one of the events here was the first to claim. */
interface Claimed {
  readonly key: string
  readonly eventId: string
  /** The actor that keeps the event's record; null until it is known. */
  owner: string | null
}

/** What did not become durable: everything, the items of some shards, some identify events. */
export interface Undone {
  readonly whole: Failure | null
  readonly shards: readonly Undelivered[]
  readonly identifies: ReadonlyMap<string, Failure>
}

export interface Failure {
  readonly error: unknown
}

export const nothingUndone: Undone = { whole: null, shards: [], identifies: new Map() }

/** 503 of events whose keys the idempotency window has no room for. */
export function windowFull(): ServiceError {
  return new ServiceError('overloaded', 'The idempotency window is full', { retryAfterSeconds: 60 })
}

export class Claims {
  private readonly claimed: Claimed[] = []
  /** First events, still under way, of the duplicates here. */
  private readonly awaited: Promise<void>[] = []
  private settle!: { resolve: () => void; reject: (error: unknown) => void }
  private settled: Promise<void> | null = null

  constructor(private readonly sender: Sender) {}

  /** Whether a duplicate here waits for its first event. */
  get waits(): boolean {
    return this.awaited.length > 0
  }

  /** Claim a key; the first event's claim when there is one (EV-25…27). */
  claim(key: string, eventId: string, capturedAtMs: number): Claim | null {
    const { dedupe } = this.sender.services
    const { environmentId, nowMs } = this.sender
    if (dedupe.full && !dedupe.find(environmentId, key, nowMs)) throw windowFull()
    this.settled ??= this.newSettled()
    const claim = { eventId, capturedAtMs, settled: this.settled }
    const first = dedupe.claim(environmentId, key, claim, nowMs)
    if (first === null) this.claimed.push({ key, eventId, owner: null })
    else if (first.settled && first.settled !== this.settled) this.awaited.push(first.settled)
    return first
  }

  /** Tell who keeps the record of an event whose key was just claimed: the last one in the list. */
  ownedBy(eventId: string, owner: string): void {
    const claim = this.claimed.at(-1)
    if (claim?.eventId === eventId) claim.owner = owner
  }

  /** An event that failed gives its key back (EV-28). */
  unclaim(key: string, eventId: string): void {
    const claim = this.claimed.findIndex(one => one.eventId === eventId)
    if (claim >= 0) this.claimed.splice(claim, 1)
    this.sender.services.dedupe.release(this.sender.environmentId, key, eventId)
  }

  /** All events are durable. */
  confirm(): void {
    const { dedupe } = this.sender.services
    for (const { key } of this.claimed) dedupe.confirm(this.sender.environmentId, key)
    this.settle?.resolve()
  }

  /** Resolves when the first events of all duplicates here are durable. */
  async others(): Promise<void> {
    await Promise.all(this.awaited)
  }

  /** Nothing was sent: all are free again. */
  abandon(): void {
    for (const { key, eventId } of this.claimed)
      this.sender.services.dedupe.release(this.sender.environmentId, key, eventId)
    this.settle?.reject(new ServiceError('overloaded'))
  }

  /** Keep the keys of events that are durable, give back those of events that are not; throws the first failure. */
  giveUp({ whole, shards, identifies }: Undone): never {
    for (const claim of this.claimed) {
      const shard = shards.find(({ owns }) => claim.owner !== null && owns(claim.owner))
      this.settleClaim(claim, whole ?? identifies.get(claim.eventId) ?? shard, whole !== null)
    }
    const [identify] = identifies.values()
    const { error } = (whole ?? shards[0] ?? identify)!
    this.settle?.reject(error)
    throw error
  }

  /** Keep the key of an event that is durable, give back that of one that is not, and wait where it is not known. */
  private settleClaim(
    { key, eventId, owner }: Claimed,
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

  private newSettled(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject }
    })
    promise.catch(() => {})
    return promise
  }
}

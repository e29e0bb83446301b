// Idempotency keys of events that are acknowledged together: claimed as they come, kept or given back by their fate.

import type { FailedEvent } from '../../core/company/message.js'
import { encodeId } from '../../core/id.js'
import type { SignedContext } from '../../engine/account/signed-contexts.js'
import { type Claim, publishableMark } from '../../engine/idempotency/dedupe.js'
import { Lost, type Undelivered, type Waiting } from '../../engine/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { KeyRecord, Later } from '../kit/call.js'
import type { Services } from '../kit/services.js'

/** Who sends, and how failures are told. */
export interface Sender {
  readonly services: Services
  readonly key: KeyRecord
  readonly environmentId: string
  readonly nowMs: number
  readonly remoteIp: string
  readonly userAgent: string
  /** What a server signed for the holder of a publishable key: events are of this company and user alone. */
  readonly signed?: SignedContext | null
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

/** The name under which a sender's key is claimed: keys of publishable API keys are a namespace of their own (decision 23). */
export function nameOf({ key }: Pick<Sender, 'key'>, idempotencyKey: string): string {
  return key.kind === 'publishable' ? publishableMark + idempotencyKey : idempotencyKey
}

/** 503 of events whose keys the idempotency window has no room for. */
export function windowFull(): ServiceError {
  return new ServiceError('overloaded', 'The idempotency window is full', { retryAfterSeconds: 60 })
}

export class Claims {
  // One entry each for every key that an event here was the first to claim; no object for any.
  private readonly keys: string[] = []
  /** The 64 bits of each event's id. */
  private readonly ids: number[] = []
  /** The actor that keeps the event's record; null until it is known. */
  private readonly owners: (string | null)[] = []
  /** First events, still under way, of the duplicates here. */
  private readonly awaited: Promise<void>[] = []
  private settle!: { resolve: () => void; reject: (error: unknown) => void }
  private settled: Promise<void> | null = null

  constructor(private readonly sender: Sender) {}

  /** Whether a duplicate here waits for its first event. */
  get waits(): boolean {
    return this.awaited.length > 0
  }

  /**
   * Claim a key; the first event's claim when there is one (EV-25…27).
   *
   * key        as `nameOf` gives it.
   * high, low  the 64 bits of the event's id.
   * print      what the event says, in small.
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
      throw windowFull()
    }
    this.settled ??= this.newSettled()
    const first = dedupe.claimFor(environmentId, key, high, low, capturedAtMs, this.settled, nowMs, print)
    if (first === null) {
      this.keys.push(key)
      this.ids.push(high, low)
      this.owners.push(owner)
    } else if (first.settled && first.settled !== this.settled) this.awaited.push(first.settled)
    return first
  }

  /** Tell who keeps the record of an event, when its key was the last that was claimed. */
  ownedBy(eventId: string, owner: string): void {
    const last = this.keys.length - 1
    if (last >= 0 && this.eventId(last) === eventId) this.owners[last] = owner
  }

  /** An event that failed gives its key back (EV-28). */
  unclaim(key: string, eventId: string): void {
    const place = this.keys.findIndex((_, i) => this.eventId(i) === eventId)
    if (place >= 0) {
      this.keys.splice(place, 1)
      this.ids.splice(2 * place, 2)
      this.owners.splice(place, 1)
    }
    this.sender.services.dedupe.release(this.sender.environmentId, key, eventId)
  }

  /** Events that became durable as failed: those give their keys back (EV-28), and are stored once more when sent again. */
  failed(events: readonly FailedEvent[]): void {
    const { metrics, dedupe } = this.sender.services
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
  }

  /** All events are durable. */
  confirm(): void {
    const { dedupe } = this.sender.services
    const { ids } = this
    for (let i = 0; i < ids.length; i += 2) dedupe.settle(ids[i]!, ids[i + 1]!)
    this.settle?.resolve()
  }

  /** Resolves when the first events of all duplicates here are durable. */
  async others(): Promise<void> {
    await Promise.all(this.awaited)
  }

  /** Nothing was sent: all are free again. */
  abandon(): void {
    for (const [i, key] of this.keys.entries())
      this.sender.services.dedupe.release(this.sender.environmentId, key, this.eventId(i))
    this.settle?.reject(new ServiceError('overloaded'))
  }

  /** Who waits at the shard for the one event here: its keys are given back before its caller hears that it failed. */
  waitingFor(later: Later): Waiting {
    return {
      resolve: answered => {
        if (answered.reply !== null) this.failed(answered.reply as readonly FailedEvent[])
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

  /** Keep the keys of events that are durable, give back those of events that are not; throws the first failure. */
  giveUp({ whole, shards, identifies }: Undone): never {
    for (const [i, key] of this.keys.entries()) {
      const owner = this.owners[i]!
      const eventId = this.eventId(i)
      const shard = shards.find(({ owns }) => owner !== null && owns(owner))
      this.settleClaim(key, eventId, owner, whole ?? identifies.get(eventId) ?? shard, whole !== null)
    }
    const [identify] = identifies.values()
    const { error } = (whole ?? shards[0] ?? identify)!
    this.settle?.reject(error)
    throw error
  }

  /** Keep the key of an event that is durable, give back that of one that is not, and wait where it is not known. */
  private settleClaim(
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

  private newSettled(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject }
    })
    promise.catch(() => {})
    return promise
  }
}

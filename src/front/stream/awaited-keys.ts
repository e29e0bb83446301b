// Keys that connections asked for and that are nobody's yet: told when they become somebody's.
import { ByteShares } from '../../turns/byte-shares.js'
import type { EntityKind } from './frames.js'
import type { StreamServices } from './services.js'
import type { Subscriber } from './subscriber.js'

type Keys = Readonly<Record<string, string>>

interface Entry {
  readonly name: string
  readonly environmentId: string
  readonly kind: EntityKind
  readonly keys: Keys
  readonly subscribers: Set<Subscriber>
}

/**
 * Most lists of keys of one connection, and of all, of which an environment has three quarters at most. Beyond them a client
 * asks again.
 */
const ofConnectionMax = 2_000
const allMax = 20_000
/** Longest list of keys that is kept, characters: with the number of lists it bounds the memory. */
const nameMax = 1_024
/** Lists looked up in one tick. */
const tickMax = 500
/** Keys of an entity that is being created are looked up again after this long, ms. */
const againMs = 100

export class AwaitedKeys {
  private readonly entries = new Map<string, Entry>()
  private readonly ofSubscriber = new Map<Subscriber, Set<Entry>>()
  private readonly shares = new ByteShares(allMax)
  /** The pass over the entries; null: none is being made. */
  private pass: Iterator<Entry> | null = null
  /** Changes of keys before the last pass. */
  private seen = 0
  /** A pass is made at this time, ms of the process's clock, whatever changed; 0: not so. */
  private againAtMs = 0

  constructor(
    private readonly entities: StreamServices['entities'],
    private readonly found: (subscriber: Subscriber, kind: EntityKind, keys: Keys) => void,
  ) {}

  /** Tell the subscriber when these keys become somebody's. Returns false at a bound. */
  add(subscriber: Subscriber, kind: EntityKind, keys: Keys): boolean {
    const { id: environmentId } = subscriber.environment
    const name = `${environmentId} ${kind} ${JSON.stringify(Object.entries(keys).sort())}`
    if (name.length > nameMax) return false
    const own = this.ofSubscriber.get(subscriber) ?? new Set()
    let entry = this.entries.get(name)
    if (entry !== undefined && own.has(entry)) return true
    if (own.size >= ofConnectionMax) return false
    if (entry === undefined && !this.shares.take(environmentId, 1)) return false
    if (this.entries.size === 0) this.seen = this.entities.keyChanges
    if (entry === undefined) {
      entry = { name, environmentId, kind, keys, subscribers: new Set() }
      this.entries.set(name, entry)
    }
    entry.subscribers.add(subscriber)
    own.add(entry)
    this.ofSubscriber.set(subscriber, own)
    // found, and unknown to its shard: it is being created or deleted
    if (this.idOf(entry) !== null) this.againAtMs = performance.now() + againMs
    return true
  }

  /** A connection ended. */
  left(subscriber: Subscriber): void {
    for (const entry of this.ofSubscriber.get(subscriber) ?? []) {
      entry.subscribers.delete(subscriber)
      if (entry.subscribers.size === 0) this.drop(entry)
    }
    this.ofSubscriber.delete(subscriber)
  }

  /** Look up a part of the keys, if any pair got an owner since the last pass. */
  look(nowMs: number): void {
    if (this.entries.size === 0) return
    const isAgain = this.againAtMs > 0 && nowMs >= this.againAtMs
    if (this.pass === null && (isAgain || this.entities.keyChanges !== this.seen)) {
      this.seen = this.entities.keyChanges
      if (isAgain) this.againAtMs = 0
      this.pass = this.entries.values()
    }
    for (let count = 0; this.pass !== null && count < tickMax; count++) {
      const { value: entry, done } = this.pass.next()
      if (done) this.pass = null
      else if (this.idOf(entry) !== null) this.tell(entry)
    }
  }

  private drop({ name, environmentId }: Entry): void {
    if (this.entries.delete(name)) this.shares.give(environmentId, 1)
  }

  private tell(entry: Entry): void {
    this.drop(entry)
    for (const subscriber of entry.subscribers) {
      this.ofSubscriber.get(subscriber)?.delete(entry)
      this.found(subscriber, entry.kind, entry.keys)
    }
  }

  /** Keys of two entities are nobody's: the service refuses them. */
  private idOf({ kind, environmentId, keys }: Entry): string | null {
    try {
      return this.entities.find(kind, environmentId, keys)
    } catch {
      return null
    }
  }
}

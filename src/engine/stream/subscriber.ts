// One connection of the data stream: its subscriptions, and the frames that wait until it reads on.

import type { Metrics } from '../../metrics.js'
import { confirmedFrame, type EntityKind, errorFrame, type HeldParts } from './frames.js'

/** Settings of the stream. */
export interface StreamOptions {
  /** Companies and users of one environment that are subscribed to at once. */
  readonly streamEntitiesMax: number
  /** Bytes that wait for one connection before its changes are gathered instead of sent. */
  readonly streamBufferBytes: number
}

/** An entity that somebody is subscribed to. */
export interface Held {
  readonly kind: EntityKind
  readonly id: string
  readonly environment: Environment
  readonly shard: number
  readonly place: number
  /** Version numbers before the last request to its actor. */
  era: number
  change: number
  uses: number
  /** Under which version of the catalog it was last asked. */
  version: number
  /** Not to be asked before, epoch ms of the process's clock; 0: whenever it changes. */
  retryAtMs: number
  asking: boolean
  /** Something changed since the request in flight left. */
  again: boolean
  /** Requests to its shard. */
  questions: number
  /** Its last snapshot that was sent; null: none yet. */
  parts: HeldParts | null
  /** The shard's mark of this snapshot. */
  mark: string
  /** The first instant at which it may change by time alone, epoch ms. */
  untilMs: number
  /** The same as a frame, once somebody needed it. */
  frame: Uint8Array | null
  /** Rises with every change of it. */
  sequence: number
  /** Time of the snapshot's last change, ms of the process's clock. */
  changedAtMs: number
  readonly subscribers: Set<Subscriber>
  /** Keys that are remembered to be subscribed. */
  readonly keys: Set<KeyMemory>
  /** Requests for it that have no answer yet. */
  waiting: Waiting[]
}

/** A subscriber that waits for the shard's answer. */
export interface Waiting {
  readonly subscriber: Subscriber
  readonly keys: Readonly<Record<string, string>>
  readonly entityType: string
  /** The entity whole, or that it has been told. */
  readonly wants: 'entity' | 'confirmation'
  /** The first question whose answer will do: one put before shows what was acknowledged before. */
  readonly from: number
}

/** Subscriptions of all connections of one key. */
export interface KeyMemory {
  readonly keyId: string
  readonly held: Set<Held>
  connections: number
  idleSinceMs: number
}

/** An environment that somebody is connected to, or was lately. */
export interface Environment {
  readonly id: string
  readonly held: Map<string, Held>
  readonly subscribers: Set<Subscriber>
  readonly memories: Map<string, KeyMemory>
  /** Entities by the block of the version counters that their numbers are in. */
  readonly blocks: Map<number, Set<Held>>
  /** Look at every entity at the next tick. */
  lookAll: boolean
  /** Version of the catalog that its flags were told of; -1: none yet. */
  version: number
  /** JSON text of every flag by its id. */
  flags: ReadonlyMap<string, string>
  /** All of them as a frame, and when it was made, ms of the process's clock; null: not asked for yet. */
  flagsTold: { readonly version: number; readonly madeMs: number; readonly frame: Uint8Array } | null
}

/** Figures for metrics. */
export type StreamFigures = Metrics['stream']

/** Where connections come together (streams.ts). */
export interface Hub {
  readonly figures: StreamFigures
  readonly options: StreamOptions
  /** A connection has ended. */
  left(subscriber: Subscriber): void
  /** The whole of an entity as a frame; null: its state is not known yet. */
  frameOf(held: Held): Uint8Array | null
}

/** The connection as the stream sees it. */
export interface StreamSink {
  send(frame: Uint8Array): void
  /** Bytes that wait for the peer. */
  buffered(): number
  end(code: number, reason: string): void
}

/** The peer may take this long for what waits before it counts as one that reads too slowly, ms. */
const stalledMs = 10_000
/** Its code on close. */
export const slowReader = 4008

/**
 * A connection. Frames for a slow connection are not queued: the changed entities are noted, and each is sent whole,
 * as it is by then, when there is room again. So the backlog is bounded by the buffer, one message, and the entities
 * held.
 */
export class Subscriber {
  /** Its subscriptions, each with the sequence of the last change sent; -1: the whole entity was not sent yet. */
  readonly held = new Map<Held, number>()
  /** Version of the catalog whose flags were sent. */
  flagsVersion = -1
  /** Entities to be sent whole. */
  private readonly late = new Set<Held>()
  /** Late entities to be confirmed once they are sent. */
  private readonly unconfirmed = new Set<Held>()
  /** Since when something waits, ms of the process's clock; 0: nothing does. */
  private stalledSinceMs = 0
  private ended = false

  constructor(
    private readonly streams: Hub,
    readonly environment: Environment,
    readonly memory: KeyMemory,
    private readonly sink: StreamSink,
    private readonly resumes: boolean,
  ) {}

  subscribe(held: Held): void {
    this.enlist(held)
    if (!this.resumes) return
    // connections of one key that resume receive every entity that one of them asks for
    for (const other of this.environment.subscribers)
      if (other.resumes && other.memory === this.memory) other.enlist(held)
  }

  private enlist(held: Held): void {
    if (!this.held.has(held)) this.held.set(held, -1)
    held.subscribers.add(this)
  }

  unsubscribe(held: Held): void {
    this.held.delete(held)
    this.late.delete(held)
    this.unconfirmed.delete(held)
    held.subscribers.delete(this)
  }

  /** A change of an entity: sent, or noted where the connection is behind. One that was told whole since is told. */
  push(held: Held, frame: Uint8Array, sequence: number): void {
    const told = this.held.get(held)
    if (told === undefined || told >= sequence || this.late.has(held)) return
    if (told < 0 || this.isFull()) this.behind(held)
    else {
      this.held.set(held, sequence)
      this.tell(frame)
    }
  }

  /** Send the entity whole, now or when there is room. */
  behind(held: Held): void {
    this.late.add(held)
    this.catchUp()
  }

  /** Say that the entity has been told as it is, once that is so. */
  confirm(held: Held): void {
    if (this.late.has(held)) this.unconfirmed.add(held)
    else this.tell(confirmedFrame(held.kind, held.id))
  }

  /** A message that cannot wait and is small or was asked for. */
  tell(frame: Uint8Array): void {
    if (this.ended) return
    this.streams.figures.messages.count++
    this.sink.send(frame)
    if (this.stalledSinceMs === 0 && this.isFull()) this.stalledSinceMs = performance.now()
  }

  fail(error: string, keys: Readonly<Record<string, string>> | null, entityType: string | null): void {
    this.tell(errorFrame(error, keys, entityType))
  }

  /** The peer has taken something. */
  drained(): void {
    if (!this.isFull()) this.stalledSinceMs = 0
    this.catchUp()
  }

  lookOver(nowMs: number): void {
    if (!this.isFull()) this.drained()
    else if (this.stalledSinceMs > 0 && nowMs - this.stalledSinceMs > stalledMs) {
      this.streams.figures.slow.count++
      this.end(slowReader, 'The connection reads too slowly')
    }
  }

  end(code: number, reason: string): void {
    if (this.ended) return
    this.left()
    this.sink.end(code, reason)
  }

  /** The connection is over. */
  left(): void {
    this.ended = true
    this.late.clear()
    this.unconfirmed.clear()
    this.streams.left(this)
  }

  private isFull(): boolean {
    return !this.ended && this.sink.buffered() > this.streams.options.streamBufferBytes
  }

  private catchUp(): void {
    for (const held of this.late) {
      if (this.isFull()) return
      this.late.delete(held)
      const frame = this.streams.frameOf(held)
      // an entity requested just now is sent when its answer comes
      if (frame === null) continue
      this.held.set(held, held.sequence)
      this.tell(frame)
      if (this.unconfirmed.delete(held)) this.tell(confirmedFrame(held.kind, held.id))
    }
  }
}

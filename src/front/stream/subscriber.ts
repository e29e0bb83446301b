// One connection of the data stream: its subscriptions, and the frames that wait until it reads on.

import type { Metrics } from '../../metrics.js'
import {
  confirmedFrame,
  type EntityKind,
  entityTypes,
  errorFrame,
  foundFrame,
  type HeldParts,
} from './frames.js'

/** Settings of the stream. */
export interface StreamOptions {
  /** Most companies and users of one environment with subscriptions at once. */
  readonly streamEntitiesMax: number
  /** Bytes that wait for one connection before its changes are gathered instead of sent. */
  readonly streamBufferBytes: number
}

/** An entity with subscriptions. */
export interface Held {
  readonly kind: EntityKind
  readonly id: string
  readonly environment: Environment
  readonly shard: number
  readonly place: number
  /** Version counters before the last request to its actor. */
  era: number
  change: number
  uses: number
  /** Version of the catalog at the last request. */
  version: number
  /** No request before this instant, epoch ms of the process's clock; 0: at any change. */
  retryAtMs: number
  asking: boolean
  /** Its last change is still being told. It is asked about again afterwards, so that changes do not queue behind slow telling. */
  telling: boolean
  /** Something changed since the request in flight was sent. */
  again: boolean
  /** Requests to its shard. */
  questions: number
  /** The last snapshot that was sent; null: none yet. */
  parts: HeldParts | null
  /** The shard's mark of this snapshot. */
  mark: string
  /** The first instant at which it may change by time alone, epoch ms. */
  untilMs: number
  /** The same as a frame; null: not needed yet. */
  frame: Uint8Array | null
  /** Rises with every change of it. */
  sequence: number
  /** Time of the snapshot's last change, ms of the process's clock. */
  changedAtMs: number
  readonly subscribers: Set<Subscriber>
  /** Keys with a kept subscription to it. */
  readonly keys: Set<KeyMemory>
  /** Requests of subscribers that have no answer yet. */
  waiting: Waiting[]
}

/** A subscriber that waits for the shard's answer. */
export interface Waiting {
  readonly subscriber: Subscriber
  readonly keys: Readonly<Record<string, string>>
  readonly entityType: string
  /** The entity whole, or its confirmation. */
  readonly wants: 'entity' | 'confirmation'
  /** The first request whose answer is enough. An earlier answer may miss acknowledged changes. */
  readonly from: number
}

/** Subscriptions of all connections of one key. */
export interface KeyMemory {
  readonly keyId: string
  readonly held: Set<Held>
  /** Entities among them that hold over a restart. */
  readonly kept: Set<Held>
  connections: number
  /** Connections among them that belong to servers, not to pages. */
  servers: number
  idleSinceMs: number
}

/** An environment with connections now or lately. */
export interface Environment {
  readonly id: string
  readonly held: Map<string, Held>
  readonly subscribers: Set<Subscriber>
  readonly memories: Map<string, KeyMemory>
  /** Entities by the block of their version counters. */
  readonly blocks: Map<number, Set<Held>>
  /** Look at every entity at the next tick. */
  lookAll: boolean
  /** Version of the catalog of the last sent flags; -1: none yet. */
  version: number
  /** JSON text of every flag by its id. */
  flags: ReadonlyMap<string, string>
  /** All flags as a frame, and when it was made, ms of the process's clock; null: not needed yet. */
  flagsTold: { readonly version: number; readonly madeMs: number; readonly frame: Uint8Array } | null
}

/** Figures for metrics. */
export type StreamFigures = Metrics['stream']

/** The meeting point of all connections (streams.ts). */
export interface Hub {
  readonly figures: StreamFigures
  readonly options: StreamOptions
  /** A connection ended. */
  left(subscriber: Subscriber): void
  /** An entity whole, as a frame; null: its state is not known yet. */
  frameOf(held: Held): Uint8Array | null
  /** Bytes more, or fewer, wait for a connection of the environment. */
  waits(environmentId: string, bytes: number): void
  /** Whether connections of the environment together may have no more bytes waiting. */
  isCrowded(environmentId: string): boolean
  /** Another subscription of a connection; false: there may be no more. */
  mayHold(environment: Environment): boolean
  /** Subscriptions ended. */
  letGoOf(environment: Environment, subscriptions: number): void
}

/** The connection as the stream sees it. */
export interface StreamSink {
  send(frame: Uint8Array): void
  /** Bytes that wait for the peer. */
  buffered(): number
  end(code: number, reason: string): void
  /** Work on something for its peer, at the expense of its key: each step yields its cost, in names of entities. */
  later(steps: Generator<number, void>): void
}

/** A peer that does not read its waiting frames for this long is closed as a slow reader, ms. */
const stalledMs = 10_000
/** A peer with so many times the bytes waiting that gather its changes is closed at once. */
const hardTimes = 8
/** Bytes that may wait for a connection whatever waits for others. */
const ownBytes = 16_384
/** Answers of different questions that may wait for one connection. */
const owedMax = 1_000
/** Longest keys that an error gives back, characters: enough for a client to know its question by. */
const echoMax = 1_024
/** The code of that close. */
export const slowReader = 4008
/** Subscriptions of all connections together: each is of one connection to one entity, and takes some 100 bytes. */
export const subscriptionsMax = 4_000_000
/** The refusal of a subscription beyond what connections of the environment may have. */
export const crowded = `All connections together have ${subscriptionsMax} subscriptions at most; one environment has three quarters of them at most`

/**
 * A connection. Frames for a slow connection are not queued. The changed entities are noted, and each is sent
 * whole, in its latest state, when there is room again. Answers wait in the same way, one for each question, however often
 * it was asked. So the backlog is bounded by the buffer, one message, and the entities held (security H1).
 */
export class Subscriber {
  /** Its subscriptions, each with the sequence of the last change sent; -1: not sent whole yet. */
  readonly held = new Map<Held, number>()
  /** Version of the catalog whose flags were sent. */
  flagsVersion = -1
  /** Entities to be sent whole. */
  private readonly late = new Set<Held>()
  /** Answers to be made and sent when there is room, by their question. */
  private readonly owed = new Map<string, () => Uint8Array | null>()
  /** Bytes that waited when they were last counted. */
  private counted = 0
  /** Late entities to be confirmed once they are sent. */
  private readonly unconfirmed = new Set<Held>()
  /** Since when frames wait, ms of the process's clock; 0: none wait. */
  private stalledSinceMs = 0
  private ended = false
  /** Whether it was subscribed to what its key held before a restart. */
  isRecalled: boolean

  constructor(
    private readonly streams: Hub,
    readonly environment: Environment,
    readonly memory: KeyMemory,
    private readonly sink: StreamSink,
    readonly resumes: boolean,
    /** Whether its key remembers what it subscribed to. Pages of one key are many, and share nothing. */
    readonly isRemembered = true,
  ) {
    this.isRecalled = !resumes
  }

  /** Subscribe it to an entity, and all resuming connections of its key with it. Returns false when it is one too many. */
  subscribe(held: Held): boolean {
    if (!this.enlist(held)) return false
    if (!this.resumes) return true
    // Resuming connections of one key receive every entity that one of them subscribes to.
    for (const other of this.environment.subscribers)
      if (other.resumes && other.memory === this.memory && !other.enlist(held))
        other.fail(crowded, { id: held.id }, entityTypes[held.kind].wire)
    return true
  }

  /** Subscribe it alone. Returns false when it is one too many. */
  enlist(held: Held): boolean {
    if (!this.held.has(held)) {
      if (!this.streams.mayHold(this.environment)) return false
      this.held.set(held, -1)
    }
    held.subscribers.add(this)
    return true
  }

  unsubscribe(held: Held): void {
    if (this.held.delete(held)) this.streams.letGoOf(this.environment, 1)
    this.late.delete(held)
    this.unconfirmed.delete(held)
    held.subscribers.delete(this)
  }

  /**
   * Send a change of an entity, or note it when the connection is behind. Skipped when the entity was sent
   * whole since.
   */
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

  /** Send the confirmation, after the entity when that is still to be sent. */
  confirm(held: Held): void {
    if (this.late.has(held)) this.unconfirmed.add(held)
    else this.answer(`confirmed ${held.id}`, () => confirmedFrame(held.kind, held.id))
  }

  /**
   * Answer a question, now or when there is room: once, if it is asked again meanwhile.
   *
   * make  the answer as it is when it is sent; null: none any more.
   */
  answer(question: string, make: () => Uint8Array | null): void {
    if (this.ended) return
    if (this.owed.size >= owedMax && !this.owed.has(question)) {
      this.endSlow()
      return
    }
    this.owed.set(question, make)
    this.catchUp()
  }

  /** Send a change that is not noted: a small one, or a deletion. A peer that reads nothing is closed at a hard bound. */
  tell(frame: Uint8Array): void {
    if (this.ended) return
    if (this.buffered() > hardTimes * this.streams.options.streamBufferBytes) {
      this.endSlow()
      return
    }
    this.streams.figures.messages.count++
    this.sink.send(frame)
    if (this.stalledSinceMs === 0 && this.isFull()) this.stalledSinceMs = performance.now()
  }

  /**
   * Answer that a question has no other answer. Keys are given back while the peer reads, and never long ones.
   *
   * watched  the entity is sent whole when it comes to be.
   */
  fail(
    error: string,
    keys: Readonly<Record<string, string>> | null,
    entityType: string | null,
    watched = false,
  ): void {
    if (this.isFull()) {
      this.answer(`error ${entityType} ${error} ${watched}`, () =>
        errorFrame(error, null, entityType, watched),
      )
      return
    }
    const isShort = keys !== null && JSON.stringify(keys).length <= echoMax
    this.tell(errorFrame(error, isShort ? keys : null, entityType, watched))
  }

  /** Tell which pairs of a request are found in lower case (CU-4). A slow peer is not told, and asks again. */
  foundLower(held: Held, keys: Readonly<Record<string, string>>): void {
    if (this.isFull() || this.owed.size > 0 || JSON.stringify(keys).length > echoMax) return
    this.tell(foundFrame(held.kind, held.id, keys))
  }

  /** The peer has read some frames. */
  drained(): void {
    if (!this.isFull()) this.stalledSinceMs = 0
    this.catchUp()
  }

  /** Bytes that waited when they were last counted. */
  get unread(): number {
    return this.counted
  }

  /** Whether changes are to be gathered instead of sent. */
  get isBehind(): boolean {
    return this.isFull()
  }

  private endSlow(): void {
    this.streams.figures.slow.count++
    this.end(slowReader, 'The connection reads too slowly')
  }

  lookOver(nowMs: number): void {
    if (!this.isFull()) this.drained()
    // full of what it was not told by this one: answers to its pings
    else if (this.stalledSinceMs === 0) this.stalledSinceMs = nowMs
    else if (nowMs - this.stalledSinceMs > stalledMs) this.endSlow()
  }

  end(code: number, reason: string): void {
    if (this.ended) return
    this.left()
    this.sink.end(code, reason)
  }

  /** Work on something at the expense of its key. */
  later(steps: Generator<number, void>): void {
    if (!this.ended) this.sink.later(steps)
  }

  /** The connection ended. */
  left(): void {
    this.ended = true
    this.streams.waits(this.environment.id, -this.counted)
    this.counted = 0
    this.owed.clear()
    this.late.clear()
    this.unconfirmed.clear()
    this.streams.letGoOf(this.environment, this.held.size)
    this.streams.left(this)
    this.held.clear()
  }

  private isFull(): boolean {
    if (this.ended) return false
    const bytes = this.buffered()
    if (bytes > this.streams.options.streamBufferBytes) return true
    return bytes > ownBytes && this.streams.isCrowded(this.environment.id)
  }

  private buffered(): number {
    const bytes = this.sink.buffered()
    if (bytes !== this.counted) this.streams.waits(this.environment.id, bytes - this.counted)
    this.counted = bytes
    return bytes
  }

  private catchUp(): void {
    for (const [question, make] of this.owed) {
      if (this.isFull()) return
      this.owed.delete(question)
      const frame = make()
      if (frame !== null) this.tell(frame)
    }
    for (const held of this.late) {
      if (this.isFull()) return
      this.late.delete(held)
      const frame = this.streams.frameOf(held)
      // The entity is sent when the shard's answer comes.
      if (frame === null) continue
      this.held.set(held, held.sequence)
      this.tell(frame)
      if (this.unconfirmed.delete(held)) this.tell(confirmedFrame(held.kind, held.id))
    }
  }
}

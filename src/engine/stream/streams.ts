// The data stream: subscriptions to companies and users, the last state sent of each, and the next.
//
//   version counters ──(every tick)──▶ changed? ──▶ request to its shard ──▶ one frame for all subscribers
//
// A tick compares the counters of blocks, and of the entities in blocks that changed. Without subscribers no
// timer runs. Changes between two ticks are sent as one.
import { compileCatalog } from '../../core/catalog.js'
import { engineFlags } from '../../core/evaluator/engine-shapes.js'
import { jsonText } from '../../json.js'
import type { Metrics } from '../../metrics.js'
import { ownText } from '../../protocol/message-codec.js'
import { readParts, type SnapshotParts } from '../../protocol/snapshot-parts.js'
import type { Changes } from '../../protocol/version-counters.js'
import type { Answered } from '../shards/shards.js'
import {
  deleteFrame,
  type EntityKind,
  entityTypes,
  flagDeleteFrame,
  flagFrame,
  flagsFrame,
  fullFrame,
  type HeldParts,
  nameOfMetric,
  partialFrame,
} from './frames.js'
import type { KeptSubscriptions } from './kept-subscriptions.js'
import {
  type Environment,
  type Held,
  type Hub,
  type KeyMemory,
  type StreamFigures,
  type StreamOptions,
  type StreamSink,
  Subscriber,
  type Waiting,
} from './subscriber.js'
import { Turns } from './turns.js'

/** Interval between two comparisons of the counters, ms. */
const tickMs = 10
/** Every so many ticks all entities are compared: time changes some of them without raising a counter. */
const allTicks = 10
/** Subscribers that receive a change in one turn. */
const toldTogether = 32
/** Most requests of the stream in flight to shards. Few, because checks queue behind them. */
const askingMax = 32
/** How long the subscriptions of a key without connections are kept, ms. */
const rememberedMs = 600_000
/** Delay before a shard that did not answer gets another request, ms. */
const retryMs = 100
/** Every so many ticks the keys with connections are noted in Postgres: once a minute. */
const seenTicks = 6_000

/** The version counters, of this node or of all. */
export interface StreamChanges
  extends Pick<
    Changes,
    'shards' | 'blocks' | 'placeOf' | 'placeOfUser' | 'blockOf' | 'block' | 'at' | 'usageVersion' | 'epoch'
  > {
  /** Follow the counters of other nodes, for as long as this is called. */
  follow?(): void
}

/** The services that the stream needs. */
export interface StreamServices {
  readonly shards: {
    put(
      kind: 'c' | 'u',
      environmentId: string,
      id: string,
      message: { readonly type: 'engine'; readonly since: string; readonly usedOnly: boolean },
      nowMs: number,
      waiting: { resolve(answered: Answered<unknown>): void; reject(error: Error): void },
    ): void
    indexOf(id: string): number
    /**
     * Whether this node owns the shard; absent: it owns all. Counters raised on another node arrive a little
     * later.
     */
    owns?(index: number): boolean
  }
  readonly catalogs: { get(environmentId: string): Parameters<typeof compileCatalog>[0] }
  readonly clock: {
    now(environmentId: string): number
    onJump(jumped: (environmentId: string) => void): void
  }
  readonly entities: {
    /**
     * The company or user with these keys; null: none.
     *
     * errors  ServiceError when the keys match two.
     */
    find(kind: EntityKind, environmentId: string, keys: Readonly<Record<string, string>>): string | null
  }
  readonly changes: StreamChanges
  readonly metrics: Pick<Metrics, 'stream'>
  /** Subscriptions that hold over a restart. */
  readonly kept: Pick<KeptSubscriptions, 'set' | 'seen' | 'read'>
}

export class Streams implements Hub {
  readonly figures: StreamFigures
  private connections = 0
  private held = 0
  private readonly environments = new Map<string, Environment>()
  private asking = 0
  /** Entities that wait until fewer requests are in flight. */
  private readonly wanted = new Set<Held>()
  private timer: NodeJS.Timeout | null = null
  private ticks = 0
  /** Counters of blocks and epochs of shards at the last comparison. */
  private readonly blocks: Int32Array
  private readonly epochs: Int32Array
  /** Requests and messages of connections. Each turn of the event loop does a bounded part. */
  readonly turns = new Turns()

  constructor(
    private readonly services: StreamServices,
    readonly options: StreamOptions,
  ) {
    this.figures = services.metrics.stream
    this.blocks = new Int32Array(services.changes.blocks)
    this.epochs = new Int32Array(services.changes.shards)
    services.clock.onJump(environmentId => this.jumped(environmentId))
  }

  /**
   * Adds a connection of a key.
   *
   * resumes  as the protocol has it: the client requests only its flags after a reconnect, and receives what
   *          connections of its key subscribed to. false: it subscribes again to everything it holds.
   */
  connect(environmentId: string, keyId: string, sink: StreamSink, resumes: boolean): Subscriber {
    const environment = this.environment(environmentId)
    let memory = environment.memories.get(keyId)
    if (memory === undefined) {
      memory = { keyId, held: new Set(), kept: new Set(), connections: 0, idleSinceMs: 0 }
      environment.memories.set(keyId, memory)
    }
    memory.connections++
    const subscriber = new Subscriber(this, environment, memory, sink, resumes)
    // Without subscribers no changes were compared.
    if (environment.subscribers.size === 0) environment.lookAll = true
    environment.subscribers.add(subscriber)
    this.figures.connections.set(++this.connections)
    this.timer ??= setInterval(() => this.tick(), tickMs)
    if (!resumes) return subscriber
    for (const held of memory.held) {
      subscriber.subscribe(held)
      this.tellLate(subscriber, held)
    }
    this.recall(subscriber)
    return subscriber
  }

  /** Send an entity whole to a connection that resumes, unless it is as its key's connections heard it last. */
  private tellLate(subscriber: Subscriber, held: Held): void {
    if (subscriber.held.get(held) !== -1) return
    if (held.parts === null)
      this.await(held, subscriber, { id: held.id }, entityTypes[held.kind].wire, 'entity')
    else if (held.changedAtMs > performance.now() - rememberedMs) subscriber.behind(held)
  }

  /** Subscribe a connection to what connections of its key subscribed to before a restart, or on another node. */
  private recall(subscriber: Subscriber): void {
    const { environment, memory } = subscriber
    const { kept } = this.services
    subscriber.isRecalled = true
    kept.read(environment.id, memory.keyId).then(
      rows => {
        if (!environment.subscribers.has(subscriber)) return
        for (const { kind, id } of rows) this.turns.run(() => this.resume(subscriber, kind, id))
        kept.seen(environment.id, memory.keyId)
      },
      // Another try follows within a second (`lookOver`).
      () => {
        subscriber.isRecalled = false
      },
    )
  }

  private resume(subscriber: Subscriber, kind: EntityKind, id: string): void {
    const { environment, memory } = subscriber
    if (!environment.subscribers.has(subscriber)) return
    const held = environment.held.get(id)
    if (held !== undefined && memory.kept.has(held) && subscriber.held.has(held)) {
      this.tellLate(subscriber, held)
      return
    }
    const { wire } = entityTypes[kind]
    const problem = this.start(subscriber, kind, wire, { id })
    if (problem === null) return
    this.services.kept.set(environment.id, memory.keyId, kind, id, false)
    subscriber.fail(problem, { id }, wire)
  }

  /** Number of connections of an environment, and of one key among them. */
  connectionsOf(environmentId: string, keyId: string): { readonly all: number; readonly ofKey: number } {
    const environment = this.environments.get(environmentId)
    return {
      all: environment?.subscribers.size ?? 0,
      ofKey: environment?.memories.get(keyId)?.connections ?? 0,
    }
  }

  /** A connection ended. */
  left(subscriber: Subscriber): void {
    const { environment, memory } = subscriber
    if (!environment.subscribers.delete(subscriber)) return
    this.figures.connections.set(--this.connections)
    memory.connections--
    memory.idleSinceMs = performance.now()
    if (memory.kept.size > 0) this.services.kept.seen(environment.id, memory.keyId)
    for (const held of [...subscriber.held.keys()]) this.unsubscribe(held, subscriber)
    if (this.connections > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }

  /** An environment's clock jumped: the state of its companies may differ from the last one sent. */
  private jumped(environmentId: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    for (const held of environment.held.values()) held.version = -1
    environment.lookAll = true
    for (const subscriber of environment.subscribers) this.tellFlags(subscriber)
  }

  // ── requests of a connection ─────────────────────────────────────────────────────────────────

  /** Send all flags. */
  tellFlags(subscriber: Subscriber): void {
    const { environment } = subscriber
    this.readFlags(environment)
    subscriber.flagsVersion = environment.version
    subscriber.tell(this.flagsOf(environment))
  }

  /** All flags as a frame, rebuilt when its time is a tick old. */
  private flagsOf(environment: Environment): Uint8Array {
    const { version } = environment
    const madeMs = performance.now()
    const told = environment.flagsTold
    if (told !== null && told.version === version && madeMs - told.madeMs < tickMs) return told.frame
    const frame = flagsFrame([...environment.flags.values()], this.services.clock.now(environment.id))
    environment.flagsTold = { version, madeMs, frame }
    return frame
  }

  /** Send one flag by its key. Returns false when there is no such flag. */
  tellFlag(subscriber: Subscriber, key: string): boolean {
    const { environment } = subscriber
    this.readFlags(environment)
    const { flags } = this.services.catalogs.get(environment.id)
    const id = flags.find(flag => flag.key === key)?.id
    const text = id === undefined ? undefined : environment.flags.get(id)
    if (text === undefined) return false
    subscriber.tell(flagFrame(id!, text))
    return true
  }

  /**
   * Send an entity whole, and its changes from then on.
   *
   * returns  the reason for a refusal, in words, or null.
   */
  start(
    subscriber: Subscriber,
    kind: EntityKind,
    entityType: string,
    keys: Readonly<Record<string, string>>,
  ): string | null {
    const { environment, memory } = subscriber
    const id = this.services.entities.find(kind, environment.id, keys)
    if (id === null) return `${entityTypes[kind].name} not found`
    let held = environment.held.get(id)
    if (held === undefined) {
      if (environment.held.size >= this.options.streamEntitiesMax)
        return `More than ${this.options.streamEntitiesMax} companies and users are subscribed to`
      held = this.hold(environment, kind, id)
    }
    memory.held.add(held)
    held.keys.add(memory)
    if (subscriber.resumes && !memory.kept.has(held)) {
      memory.kept.add(held)
      this.services.kept.set(environment.id, memory.keyId, kind, id, true)
    }
    subscriber.subscribe(held)
    this.await(held, subscriber, keys, entityType, 'entity')
    return null
  }

  /**
   * Send a confirmation once everything that is acknowledged of an entity by now has been sent.
   *
   * returns  the reason for a refusal, in words, or null.
   */
  confirm(
    subscriber: Subscriber,
    kind: EntityKind,
    entityType: string,
    keys: Readonly<Record<string, string>>,
  ): string | null {
    const { environment } = subscriber
    const id = this.services.entities.find(kind, environment.id, keys)
    if (id === null) return `${entityTypes[kind].name} not found`
    const held = environment.held.get(id)
    if (held === undefined || !subscriber.held.has(held))
      return `${entityTypes[kind].name} is not subscribed to`
    this.await(held, subscriber, keys, entityType, 'confirmation')
    return null
  }

  /** Answer at once when the last sent state is current, else with the first answer that is. */
  private await(
    held: Held,
    subscriber: Subscriber,
    keys: Readonly<Record<string, string>>,
    entityType: string,
    wants: Waiting['wants'],
  ): void {
    const { clock, shards } = this.services
    if (shards.owns?.(held.shard) === false) held.version = -1
    const isDue = held.parts === null || this.isDue(held, clock.now(held.environment.id))
    if (!isDue && !held.asking) this.satisfy(held, subscriber, wants)
    else {
      // The answer in flight is enough when nothing has changed since its request.
      const from = held.asking && !isDue ? held.questions : held.questions + 1
      held.waiting.push({ subscriber, keys, entityType, wants, from })
      if (!held.asking) this.wanted.add(held)
      this.askWanted()
    }
  }

  /** Runs behind the messages that are being sent, so that a confirmation follows what it confirms. */
  private satisfy(held: Held, subscriber: Subscriber, wants: Waiting['wants']): void {
    this.turns.run(() => {
      if (!subscriber.held.has(held)) return
      if (wants === 'entity') subscriber.behind(held)
      else subscriber.confirm(held)
    })
  }

  /** End a subscription. */
  stop(subscriber: Subscriber, kind: EntityKind, keys: Readonly<Record<string, string>>): void {
    const { environment, memory } = subscriber
    const id = this.services.entities.find(kind, environment.id, keys)
    const held = id === null ? undefined : environment.held.get(id)
    if (held === undefined) return
    this.forget(memory, held)
    held.keys.delete(memory)
    subscriber.unsubscribe(held)
    this.unsubscribe(held, subscriber)
  }

  /** A key is not subscribed to an entity any more. */
  private forget(memory: KeyMemory, held: Held): void {
    memory.held.delete(held)
    if (memory.kept.delete(held))
      this.services.kept.set(held.environment.id, memory.keyId, held.kind, held.id, false)
  }

  /** An entity whole, as a frame. */
  frameOf(held: Held): Uint8Array | null {
    if (held.frame === null && held.parts !== null) held.frame = fullFrame(held.kind, held.id, held.parts)
    return held.frame
  }

  // ── looking ──────────────────────────────────────────────────────────────────────────────────

  private tick(): void {
    this.ticks++
    this.services.changes.follow?.()
    const nowMs = performance.now()
    const blocks = this.changedBlocks()
    const lookAll = this.ticks % allTicks === 0 || this.shardsChanged()
    for (const environment of this.environments.values()) {
      if (environment.subscribers.size === 0) continue
      const { version } = environment
      this.readFlags(environment)
      const presentMs = this.services.clock.now(environment.id)
      const look = (held: Held) => {
        if (held.retryAtMs > nowMs || !this.isDue(held, presentMs)) return
        if (held.asking) held.again = true
        else this.wanted.add(held)
      }
      if (lookAll || version !== environment.version || environment.lookAll) {
        environment.lookAll = false
        for (const held of environment.held.values()) look(held)
      } else
        for (const block of blocks) for (const held of environment.blocks.get(block) ?? noneHeld) look(held)
    }
    this.askWanted()
    if (this.ticks % 100 === 0) this.lookOver(nowMs)
  }

  /** Blocks of the version counters that changed since the last comparison. */
  private changedBlocks(): number[] {
    const { changes } = this.services
    const changed: number[] = []
    for (let block = 0; block < this.blocks.length; block++) {
      const number = changes.block(block)
      if (number === this.blocks[block]) continue
      this.blocks[block] = number
      changed.push(block)
    }
    return changed
  }

  /** Whether the epoch of a shard changed: all its answers may differ. */
  private shardsChanged(): boolean {
    const { changes } = this.services
    let changed = false
    for (let shard = 0; shard < this.epochs.length; shard++) {
      const epoch = changes.epoch(shard)
      changed ||= epoch !== this.epochs[shard]
      this.epochs[shard] = epoch
    }
    return changed
  }

  /** Whether an entity may differ from its last sent state. */
  private isDue(held: Held, presentMs: number): boolean {
    const { changes } = this.services
    if (held.parts === null || held.version !== held.environment.version) return true
    if (changes.at(held.place) !== held.change || changes.epoch(held.shard) !== held.era) return true
    return (
      held.kind === 'company' && (changes.usageVersion(held.place) !== held.uses || presentMs >= held.untilMs)
    )
  }

  private askWanted(): void {
    for (const held of this.wanted) {
      if (this.asking >= askingMax) return
      this.wanted.delete(held)
      if (held.environment.held.get(held.id) === held) this.ask(held)
    }
  }

  private ask(held: Held): void {
    const { changes, shards, clock } = this.services
    const { environment, kind, id } = held
    held.asking = true
    held.questions++
    this.asking++
    this.readFlags(environment)
    const nowMs = clock.now(environment.id)
    const before = [held.era, held.change, held.version]
    held.era = changes.epoch(held.shard)
    held.change = changes.at(held.place)
    if (kind === 'company') held.uses = changes.usageVersion(held.place)
    held.version = environment.version
    const [era, change, version] = before
    const usedOnly =
      held.parts !== null &&
      era === held.era &&
      change === held.change &&
      version === held.version &&
      nowMs < held.untilMs
    const answered = () => {
      held.asking = false
      this.asking--
    }
    shards.put(
      kind === 'company' ? 'c' : 'u',
      environment.id,
      id,
      { type: 'engine', since: held.parts === null ? '' : held.mark, usedOnly },
      nowMs,
      {
        resolve: ({ reply }) => {
          answered()
          this.heard(held, reply as string | null)
          this.askWanted()
        },
        reject: () => {
          answered()
          held.version = -1
          held.retryAtMs = performance.now() + retryMs
        },
      },
    )
  }

  private heard(held: Held, reply: string | null): void {
    if (held.environment.held.get(held.id) !== held) return
    if (reply === null) {
      this.gone(held)
      return
    }
    const answered = held.waiting.filter(({ from }) => from <= held.questions)
    held.waiting = held.waiting.filter(({ from }) => from > held.questions)
    if (held.waiting.length > 0) this.wanted.add(held)
    const frame = this.take(held, readParts(ownText(reply)))
    if (frame !== null) {
      const { sequence } = held
      const asked = new Set(answered.filter(one => one.wants === 'entity').map(one => one.subscriber))
      const others = [...held.subscribers].filter(subscriber => !asked.has(subscriber))
      this.tellAll(others, subscriber => subscriber.push(held, frame, sequence))
    }
    for (const { subscriber, wants } of answered) this.satisfy(held, subscriber, wants)
    if (held.again && this.isDue(held, this.services.clock.now(held.environment.id))) this.wanted.add(held)
    held.again = false
  }

  /** Merge a shard's answer. Returns the frame for the other subscribers; null: nothing changed. */
  private take(held: Held, told: SnapshotParts): Uint8Array | null {
    const before = held.parts
    held.mark = told.mark
    held.untilMs = told.untilMs
    if (told.isWhole || before === null) {
      const parts = {
        members: new Map(told.members),
        metrics: new Map(told.metrics.map(text => [nameOfMetric(text), text])),
      }
      held.parts = parts
      if (before !== null && areEqual(before, parts)) return null
      this.changed(held)
      return before === null ? null : this.frameOf(held)
    }
    if (told.members.size + told.metrics.length === 0) return null
    for (const [name, text] of told.members) before.members.set(name, text)
    for (const text of told.metrics) before.metrics.set(nameOfMetric(text), text)
    this.changed(held)
    return partialFrame(held.kind, held.id, told)
  }

  private changed(held: Held): void {
    held.frame = null
    held.sequence++
    held.changedAtMs = performance.now()
  }

  private gone(held: Held): void {
    const { parts, waiting } = held
    const frame = parts && deleteFrame(held.kind, held.id, parts)
    for (const subscriber of [...held.subscribers]) {
      if (frame !== null) subscriber.tell(frame)
      subscriber.unsubscribe(held)
    }
    for (const { subscriber, keys, entityType } of waiting)
      subscriber.fail(`${entityTypes[held.kind].name} not found`, keys, entityType)
    for (const memory of held.keys) this.forget(memory, held)
    this.drop(held)
  }

  private drop(held: Held): void {
    const { environment, id, place } = held
    if (!environment.held.delete(id)) return
    const block = this.services.changes.blockOf(place)
    const neighbours = environment.blocks.get(block)!
    neighbours.delete(held)
    if (neighbours.size === 0) environment.blocks.delete(block)
    this.figures.held.set(--this.held)
  }

  /** Read the flags again when the catalog changed, and send those that differ. */
  private readFlags(environment: Environment): void {
    const data = this.services.catalogs.get(environment.id)
    if (data.version === environment.version) return
    const before = environment.flags
    const isFirst = environment.version < 0
    environment.version = data.version
    const flags = engineFlags(compileCatalog(data))
    environment.flags = new Map(flags.map(flag => [flag.id, jsonText(flag)]))
    if (isFirst) return
    const { version } = environment
    const frames: Uint8Array[] = []
    for (const [id, text] of environment.flags) if (before.get(id) !== text) frames.push(flagFrame(id, text))
    for (const [id, text] of before) if (!environment.flags.has(id)) frames.push(flagDeleteFrame(id, text))
    if (frames.length === 0) return
    this.tellAll(environment.subscribers, subscriber => {
      if (subscriber.flagsVersion >= version) return
      for (const frame of frames) subscriber.tell(frame)
    })
  }

  /** Send to many subscribers, a part in each turn. */
  private tellAll(subscribers: Iterable<Subscriber>, tell: (subscriber: Subscriber) => void): void {
    const all = [...subscribers]
    for (let from = 0; from < all.length; from += toldTogether)
      this.turns.run(() => {
        for (const subscriber of all.slice(from, from + toldTogether)) tell(subscriber)
      })
  }

  // ── environments and entities ────────────────────────────────────────────────────────────────

  private environment(id: string): Environment {
    let environment = this.environments.get(id)
    if (environment === undefined) {
      environment = {
        id,
        held: new Map(),
        subscribers: new Set(),
        memories: new Map(),
        blocks: new Map(),
        lookAll: false,
        version: -1,
        flags: new Map(),
        flagsTold: null,
      }
      this.environments.set(id, environment)
    }
    return environment
  }

  private hold(environment: Environment, kind: EntityKind, id: string): Held {
    const { changes, shards } = this.services
    const held: Held = {
      kind,
      id,
      environment,
      shard: shards.indexOf(id),
      place: kind === 'company' ? changes.placeOf(id) : changes.placeOfUser(id),
      era: 0,
      change: 0,
      uses: 0,
      version: -1,
      retryAtMs: 0,
      asking: false,
      again: false,
      questions: 0,
      parts: null,
      mark: '',
      untilMs: 0,
      sequence: 0,
      frame: null,
      changedAtMs: 0,
      subscribers: new Set(),
      keys: new Set(),
      waiting: [],
    }
    environment.held.set(id, held)
    const block = changes.blockOf(held.place)
    const neighbours = environment.blocks.get(block)
    if (neighbours) neighbours.add(held)
    else environment.blocks.set(block, new Set([held]))
    this.figures.held.set(++this.held)
    return held
  }

  private unsubscribe(held: Held, subscriber: Subscriber): void {
    held.subscribers.delete(subscriber)
    held.waiting = held.waiting.filter(one => one.subscriber !== subscriber)
    this.letGo(held)
  }

  private letGo(held: Held): void {
    if (held.subscribers.size === 0 && held.keys.size === 0) this.drop(held)
  }

  /**
   * Once a second: close connections that read too slowly, and drop old subscriptions of keys without
   * connections.
   */
  private lookOver(nowMs: number): void {
    for (const environment of this.environments.values()) {
      for (const subscriber of [...environment.subscribers]) {
        subscriber.lookOver(nowMs)
        if (!subscriber.isRecalled && environment.subscribers.has(subscriber)) this.recall(subscriber)
      }
      for (const memory of environment.memories.values()) {
        if (memory.connections > 0 && memory.kept.size > 0 && this.ticks % seenTicks === 0)
          this.services.kept.seen(environment.id, memory.keyId)
        if (memory.connections > 0 || nowMs - memory.idleSinceMs < rememberedMs) continue
        environment.memories.delete(memory.keyId)
        for (const held of memory.held) {
          held.keys.delete(memory)
          this.letGo(held)
        }
      }
      if (environment.subscribers.size + environment.memories.size === 0)
        this.environments.delete(environment.id)
    }
  }
}

const noneHeld: ReadonlySet<Held> = new Set()

/** Whether two snapshots are equal. */
function areEqual(one: HeldParts, other: HeldParts): boolean {
  for (const part of ['members', 'metrics'] as const) {
    if (one[part].size !== other[part].size) return false
    for (const [name, text] of one[part]) if (other[part].get(name) !== text) return false
  }
  return true
}

// The data stream: subscriptions to companies and users, the last state sent of each, and the next.
//
//   version counters ──(every tick)──▶ changed? ──▶ request to its shard ──▶ one frame for all subscribers
//
// A tick compares the counters of blocks, and of the entities in blocks that changed. Without subscribers no
// timer runs. Changes between two ticks are sent as one.

import { ByteShares } from '../../turns/byte-shares.js'
import { ownText } from '../../wire/message-codec.js'
import { readParts } from '../../wire/snapshot-parts.js'
import { AwaitedKeys } from './awaited-keys.js'
import { StreamFlags } from './flags.js'
import { deleteFrame, type EntityKind, entityTypes } from './frames.js'
import { Questions } from './questions.js'
import type { StreamServices } from './services.js'
import { frameOf, merged } from './snapshots.js'
import {
  crowded,
  type Environment,
  type Held,
  type Hub,
  type KeyMemory,
  type StreamFigures,
  type StreamOptions,
  type StreamSink,
  Subscriber,
  subscriptionsMax,
  type Waiting,
} from './subscriber.js'
import { Turns, toldTogether } from './turns.js'
import { WatchedCounters } from './watched-counters.js'

/** Interval between two comparisons of the counters, ms. */
const tickMs = 10
/** Every so many ticks all entities are compared: time changes some of them without raising a counter. */
const allTicks = 10
/** How long the subscriptions of a key without connections are kept, ms. */
const rememberedMs = 600_000
/** Every so many ticks the keys with connections are noted in Postgres: once a minute. */
const seenTicks = 6_000
/**
 * Bytes that wait for all connections together; of these an environment may have three times what is free, so that the next
 * finds room (security H1).
 */
const waitingBytesMax = 134_217_728
const timesFree = 3
/** Connections that are subscribed to an entity at the cost of naming one. */
const subscribedPerName = 32

export class Streams implements Hub {
  readonly frameOf = frameOf
  readonly figures: StreamFigures
  private connections = 0
  private held = 0
  private waitingBytes = 0
  private readonly waitingOf = new Map<string, number>()
  private readonly subscriptions = new ByteShares(subscriptionsMax)
  private readonly environments = new Map<string, Environment>()
  private readonly questions: Questions
  private timer: NodeJS.Timeout | null = null
  private ticks = 0
  private readonly counters: WatchedCounters
  /** Requests and messages of connections. Each turn of the event loop does a bounded part. */
  readonly turns = new Turns()
  readonly flags: StreamFlags
  private readonly awaited: AwaitedKeys

  constructor(
    private readonly services: StreamServices,
    readonly options: StreamOptions,
  ) {
    this.figures = services.metrics.stream
    this.flags = new StreamFlags(services, this.turns)
    this.questions = new Questions(
      services,
      environment => this.flags.read(environment),
      (held, reply) => this.heard(held, reply),
    )
    this.awaited = new AwaitedKeys(services.entities, (subscriber, kind, keys) => {
      const { wire } = entityTypes[kind]
      const problem = this.start(subscriber, kind, wire, keys)
      if (problem !== null) subscriber.fail(problem, keys, wire)
    })
    this.counters = new WatchedCounters(services.changes)
    services.clock.onJump(environmentId => this.jumped(environmentId))
  }

  /**
   * Adds a connection of a key.
   *
   * resumes  as the protocol has it: the client requests only its flags after a reconnect, and receives what
   *          connections of its key subscribed to. false: it subscribes again to everything it holds.
   * isPage   its key remembers nothing of it.
   */
  connect(
    environmentId: string,
    keyId: string,
    sink: StreamSink,
    resumes: boolean,
    isPage = false,
  ): Subscriber {
    const environment = this.environment(environmentId)
    let memory = environment.memories.get(keyId)
    if (memory === undefined) {
      memory = { keyId, held: new Set(), kept: new Set(), connections: 0, servers: 0, idleSinceMs: 0 }
      environment.memories.set(keyId, memory)
    }
    memory.connections++
    if (!isPage) memory.servers++
    const subscriber = new Subscriber(this, environment, memory, sink, resumes, !isPage)
    // Without subscribers no changes were compared.
    if (environment.subscribers.size === 0) environment.lookAll = true
    environment.subscribers.add(subscriber)
    this.figures.connections.set(++this.connections)
    this.timer ??= setInterval(() => this.tick(), tickMs)
    if (resumes) sink.later(this.resuming(subscriber))
    else if (!isPage) this.services.kept.seen(environmentId, keyId)
    return subscriber
  }

  /**
   * Subscribe a connection to what connections of its key are subscribed to: first to what this process knows of, then to what
   * Postgres has. Each entity costs its key what naming it does, so that many handshakes do not make more work than many
   * messages (security H2).
   */
  private *resuming(subscriber: Subscriber): Generator<number, void> {
    const { environment, memory } = subscriber
    for (const held of [...memory.held]) {
      if (!environment.subscribers.has(subscriber)) return
      if (!memory.held.has(held) || environment.held.get(held.id) !== held) continue
      if (subscriber.enlist(held)) this.tellLate(subscriber, held)
      else subscriber.fail(crowded, { id: held.id }, entityTypes[held.kind].wire)
      yield 1
    }
    this.recall(subscriber)
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
        if (environment.subscribers.has(subscriber)) subscriber.later(this.recalled(subscriber, rows))
      },
      // Another try follows within a second (`lookOver`).
      () => {
        subscriber.isRecalled = false
      },
    )
  }

  private *recalled(
    subscriber: Subscriber,
    rows: readonly { readonly kind: EntityKind; readonly id: string }[],
  ): Generator<number, void> {
    const { environment, memory } = subscriber
    // all of them at once: they have been read
    yield rows.length * (1 + this.costOf(subscriber))
    for (const { kind, id } of rows) {
      if (!environment.subscribers.has(subscriber)) return
      this.resume(subscriber, kind, id)
      yield 0
    }
    this.services.kept.seen(environment.id, memory.keyId)
  }

  private resume(subscriber: Subscriber, kind: EntityKind, id: string): void {
    const { environment, memory } = subscriber
    if (!environment.subscribers.has(subscriber)) return
    const held = environment.held.get(id)
    if (held !== undefined && memory.kept.has(held) && subscriber.held.has(held)) {
      this.tellLate(subscriber, held)
      return
    }
    const { entities, kept } = this.services
    if (entities.find(kind, environment.id, { id }) === null)
      kept.set(environment.id, memory.keyId, kind, id, false)
    const { wire } = entityTypes[kind]
    const problem = this.start(subscriber, kind, wire, { id })
    if (problem !== null) subscriber.fail(problem, { id }, wire)
  }

  waits(environmentId: string, bytes: number): void {
    if (bytes === 0) return
    this.waitingBytes += bytes
    const waiting = (this.waitingOf.get(environmentId) ?? 0) + bytes
    if (waiting > 0) this.waitingOf.set(environmentId, waiting)
    else this.waitingOf.delete(environmentId)
  }

  mayHold({ id }: Environment): boolean {
    return this.subscriptions.take(id, 1)
  }

  letGoOf({ id }: Environment, subscriptions: number): void {
    this.subscriptions.give(id, subscriptions)
  }

  /** The cost of one more entity beside its name: each resuming connection of its key is subscribed to it. */
  costOf({ resumes, memory }: Subscriber): number {
    return resumes ? memory.connections / subscribedPerName : 0
  }

  isCrowded(environmentId: string): boolean {
    return this.waitingIn(environmentId) > timesFree * (waitingBytesMax - this.waitingBytes)
  }

  /** Bytes that wait for connections of an environment. */
  waitingIn(environmentId: string): number {
    return this.waitingOf.get(environmentId) ?? 0
  }

  /**
   * Whether the environment's flags are read at this node, or were within ten minutes: each flag is in use.
   * Reads at other nodes, and reads before a restart, are in `stream_keys`.
   */
  isRead(environmentId: string): boolean {
    const environment = this.environments.get(environmentId)
    return environment !== undefined && environment.subscribers.size + environment.memories.size > 0
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
    if (subscriber.isRemembered) {
      memory.servers--
      this.services.kept.seen(environment.id, memory.keyId)
    }
    this.awaited.left(subscriber)
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
    this.tellFlags(environment)
  }

  /** The setting `lowercase_keys` of an environment changed (CU-4). Its names are sent with all flags. */
  lowercased(environmentId: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    environment.flagsTold = null
    this.tellFlags(environment)
  }

  private tellFlags({ subscribers, id }: Environment): void {
    this.turns.forEach(subscribers, toldTogether, subscriber => this.flags.tellAll(subscriber), id)
  }

  // ── requests of a connection ─────────────────────────────────────────────────────────────────

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
    if (id === null) {
      this.absent(subscriber, kind, entityType, keys)
      return null
    }
    let held = environment.held.get(id)
    if (held === undefined) {
      const fault = this.entityFault(environment, memory)
      if (fault !== null) return fault
      held = this.hold(environment, kind, id)
    }
    if (!subscriber.subscribe(held)) {
      this.letGo(held)
      return crowded
    }
    if (subscriber.isRemembered) {
      memory.held.add(held)
      held.keys.add(memory)
    }
    if (subscriber.resumes && !memory.kept.has(held)) {
      memory.kept.add(held)
      this.services.kept.set(environment.id, memory.keyId, kind, id, true)
    }
    // A client that evaluates flags itself finds entities by the keys of its callers.
    const isOwn = subscriber.isRemembered && !subscriber.resumes
    const read = isOwn ? this.services.entities.readLower(kind, environment.id, keys) : null
    if (read !== null) subscriber.foundLower(held, read)
    this.await(held, subscriber, keys, entityType, 'entity')
    return null
  }

  /**
   * Why a key may subscribe to no entity more that nobody is subscribed to, in words, or null. Keys share what an environment
   * may hold: one alone has three quarters of it (security H1).
   */
  private entityFault({ held }: Environment, memory: KeyMemory): string | null {
    const { streamEntitiesMax: max } = this.options
    const free = max - held.size
    if (free <= 0) return `More than ${max} companies and users are subscribed to`
    const own = memory.held.size
    if (own === 0 || own + 1 <= timesFree * free) return null
    return `This key is subscribed to ${own} of at most ${max} companies and users: the rest is for other keys`
  }

  /**
   * These keys are nobody's. A client that asks for each entity itself is told when they become somebody's, so that it
   * need not ask again.
   */
  private absent(
    subscriber: Subscriber,
    kind: EntityKind,
    entityType: string,
    keys: Readonly<Record<string, string>>,
  ): void {
    const watched = !subscriber.resumes && this.awaited.add(subscriber, kind, keys)
    subscriber.fail(`${entityTypes[kind].name} not found`, keys, entityType, watched)
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
    const isDue = held.parts === null || this.questions.isDue(held, clock.now(held.environment.id))
    if (!isDue && !held.asking) this.satisfy(held, subscriber, wants)
    else {
      // The answer in flight is enough when nothing has changed since its request.
      const from = held.asking && !isDue ? held.questions : held.questions + 1
      const isSame = (one: Waiting) =>
        one.subscriber === subscriber && one.wants === wants && one.from === from
      if (!held.waiting.some(isSame)) held.waiting.push({ subscriber, keys, entityType, wants, from })
      if (!held.asking && !held.telling) this.questions.want(held)
      this.questions.askWanted()
    }
  }

  /** Runs behind the messages that are being sent, so that a confirmation follows what it confirms. */
  private satisfy(held: Held, subscriber: Subscriber, wants: Waiting['wants']): void {
    this.turns.run(() => {
      if (!subscriber.held.has(held)) return
      if (wants === 'entity') subscriber.behind(held)
      else subscriber.confirm(held)
    }, held.environment.id)
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

  // ── looking ──────────────────────────────────────────────────────────────────────────────────

  private tick(): void {
    this.ticks++
    this.services.changes.follow?.()
    const nowMs = performance.now()
    this.awaited.look(nowMs)
    const blocks = this.counters.changedBlocks()
    const lookAll = this.ticks % allTicks === 0 || this.counters.shardsChanged()
    for (const environment of this.environments.values()) {
      if (environment.subscribers.size === 0) continue
      const { version } = environment
      this.flags.read(environment)
      const presentMs = this.services.clock.now(environment.id)
      const look = (held: Held) => {
        if (held.retryAtMs > nowMs || !this.questions.isDue(held, presentMs)) return
        if (held.asking || held.telling) held.again = true
        else this.questions.want(held)
      }
      if (lookAll || version !== environment.version || environment.lookAll) {
        environment.lookAll = false
        for (const held of environment.held.values()) look(held)
      } else
        for (const block of blocks) for (const held of environment.blocks.get(block) ?? noneHeld) look(held)
    }
    this.questions.askWanted()
    if (this.ticks % 100 === 0) this.lookOver(nowMs)
  }

  private heard(held: Held, reply: string | null): void {
    if (held.environment.held.get(held.id) !== held) return
    if (reply === null) {
      this.gone(held)
      return
    }
    const answered = held.waiting.filter(({ from }) => from <= held.questions)
    held.waiting = held.waiting.filter(({ from }) => from > held.questions)
    const frame = merged(held, readParts(ownText(reply)))
    if (frame !== null) {
      const { sequence } = held
      const asked = new Set(answered.filter(one => one.wants === 'entity').map(one => one.subscriber))
      const others = [...held.subscribers].filter(subscriber => !asked.has(subscriber))
      const { id } = held.environment
      held.telling = true
      this.turns.forEach(others, toldTogether, subscriber => subscriber.push(held, frame, sequence), id)
      this.turns.run(() => this.told(held), id)
    }
    for (const { subscriber, wants } of answered) this.satisfy(held, subscriber, wants)
    if (!held.telling) this.askAgain(held)
  }

  /** A change was told to all: what changed meanwhile is asked for now. */
  private told(held: Held): void {
    held.telling = false
    if (held.environment.held.get(held.id) !== held) return
    this.askAgain(held)
    this.questions.askWanted()
  }

  private askAgain(held: Held): void {
    const isDue = held.again && this.questions.isDue(held, this.services.clock.now(held.environment.id))
    if (isDue || held.waiting.length > 0) this.questions.want(held)
    held.again = false
  }

  private gone(held: Held): void {
    const { parts, waiting } = held
    const frame = parts && deleteFrame(held.kind, held.id, parts)
    for (const subscriber of [...held.subscribers]) {
      if (frame !== null) subscriber.tell(frame)
      subscriber.unsubscribe(held)
    }
    for (const { subscriber, keys, entityType } of waiting)
      this.absent(subscriber, held.kind, entityType, keys)
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
      telling: false,
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
        if (memory.servers > 0 && this.ticks % seenTicks === 0)
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

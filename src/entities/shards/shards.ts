// The HTTP thread's way to the actors, and the only way: an id belongs to one shard, a shard to one thread.
// A tick's requests leave as one batch per shard (single events soon after) and their replies come back as batches.
//
//   ask ──▶ outbox[shard] ──(one post per tick)──▶ worker ──▶ replies ──▶ waiting[n]
//
// An actor needs the same thread each time: a shard is one long task on a thread of its own (thread.ts).
import { performance } from 'node:perf_hooks'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { ShardControl, ShardFigures, ShardNotice } from '../../core/company/shard-request.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type {
  BackupFreeze,
  CompanyMessage,
  EnvironmentMessage,
  FailedEvent,
  IngestItem,
  OutlookQuestion,
  Question,
  UserMessage,
} from '../../core/model/message.js'
import type { Refusal } from '../../core/model/requests.js'
import type { OutgoingUses } from '../../core/usage/batch.js'
import { shardOf } from '../../core/values/id.js'
import type { TestClock } from '../../core/values/test-clock.js'
import { ServiceError } from '../../errors.js'
import {
  decodeReplies,
  Encoder,
  type Outgoing,
  type OutgoingLodged,
  type Packet,
  type ReplyHandler,
} from '../../wire/message-codec.js'
import type { AskerPort, LodgingOver, Port } from '../../wire/port.js'
import { ReplyRing } from '../../wire/reply-ring.js'
import type { ShardOptions } from '../../wire/shard-options.js'
import { Changes } from '../../wire/version-counters.js'
import { PendingReplies } from './pending-replies.js'
import { type StartThread, startThread, type Thread } from './thread.js'

/** A reply, and where it became durable (sequence 0 for reads). */
export interface Answered<Reply> {
  readonly reply: Reply
  readonly shard: number
  readonly sequence: number
  /** TTL: the answer holds until this instant if nothing happens, epoch ms; 0: unknown. */
  readonly untilMs?: number
  /** Whether it may show figures of its company's use. */
  readonly figures?: boolean
}

/** An actor refused; the API turns the refusal into a status and message. */
export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    readonly detail?: string,
  ) {
    super(detail ?? refusal)
  }
}

/**
 * The thread died with the request, or its disk failed under it: whether it became durable shows only when the shard
 * has replayed its journal, or mended it (`restarted`).
 */
export class Lost extends ServiceError {}

/** Events of one shard did not become durable, or it is not known whether they did (`Lost`). */
export interface Undelivered {
  /** Whether an actor is of that shard. */
  readonly owns: (id: string) => boolean
  readonly error: unknown
}

const allDelivered: readonly Undelivered[] = []

/** Receives events that became durable as failed. */
type TellFailed = (events: readonly FailedEvent[]) => void
const nobody: TellFailed = () => {}

/** Requests, each event of a batch counted, that may wait for one shard before new ones are refused with 503. */
const waitingMax = 100_000

/** Events that are posted without waiting for more. */
const longList = 64

/** Single events that are posted without waiting for more, and how long the first of them waits at most, ms. */
const gatheredMax = 24
const gatherMs = 0.5

/** A shard's own figures. */
interface ShardStats extends ShardFigures {
  readonly shard: number
  /** Requests posted and not answered. */
  readonly waiting: number
}

/** A caller that waits for a reply. Neither function may throw. */
export interface Waiting {
  resolve(answered: Answered<unknown>): void
  reject(error: Error): void
}

interface Starting {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** One shard as this thread sees it. */
export interface Shard {
  readonly index: number
  /** A new one for every thread that died. */
  thread: Thread | null
  port: Port | null
  readonly outbox: Encoder
  /** Where its thread writes long replies; null: nowhere. */
  ring: ReplyRing | null
  /** Set while the thread is dead or replaying; resolved by its next ready, or by a first start that fails. */
  starting: Starting | null
  /** Set while it is not known what of a failed write is on the disk. */
  mending: Starting | null
  ready: boolean
  served: boolean
  readonly waiting: PendingReplies<Waiting>
  /** Events of batches that wait. */
  events: number
  deaths: number
  /** Threads that were started. */
  launches: number
  /** The highest sequence in any reply: records beyond it may have lost their reply. */
  heard: number
}

export interface ShardsOptions {
  readonly shards: readonly ShardOptions[]
  readonly workerFile: URL
  readonly log: Logger
  /** Catalogs to give a shard that starts. */
  readonly catalogs: () => readonly CatalogData[]
  readonly onNotice: (notice: ShardNotice, shard: number) => void
  readonly startThread?: StartThread
}

export class Shards {
  protected readonly shards: Shard[]
  private flushing = false
  /** Single events in the outboxes, and how many they were a turn of the loop ago. */
  private gathered = 0
  private seen = 0
  private sinceMs = 0
  /** Something else is in the outboxes: all leaves with it at the end of this tick. */
  private urgent = false
  protected closing = false

  protected constructor(
    protected readonly options: ShardsOptions,
    waiters: () => PendingReplies<Waiting> = () => new PendingReplies(),
  ) {
    this.shards = options.shards.map((_, index) => ({
      index,
      thread: null,
      port: null,
      outbox: new Encoder(),
      ring: null,
      starting: null,
      mending: null,
      ready: false,
      served: false,
      waiting: waiters(),
      events: 0,
      deaths: 0,
      launches: 0,
      heard: 0,
    }))
  }

  /** Start every shard thread; resolves when all have replayed their journals and hold the catalogs. */
  static async start(options: ShardsOptions): Promise<Shards> {
    const shards = new this(options)
    await Promise.all(shards.shards.map(shard => shards.launch(shard)))
    return shards
  }

  get count(): number {
    return this.shards.length
  }

  /** Whether the events of a batch go to so many shards that each gets a text of its own events alone. */
  get areMany(): boolean {
    return false
  }

  /** Shards whose threads are of this process. */
  protected get here(): readonly Shard[] {
    return this.shards
  }

  /** Requests waiting for a reply, over all shards. */
  get waiting(): number {
    return this.shards.reduce((sum, shard) => sum + shard.waiting.size, 0)
  }

  /** Shards that are not serving now. */
  get degraded(): readonly number[] {
    return this.here.filter(shard => !shard.ready).map(shard => shard.index)
  }

  /**
   * Resolves when the shard of this id serves and its journal is whole, or at once when it is so: by then it has sent
   * its notices of the facts found there.
   */
  async restarted(id: string): Promise<void> {
    const { starting, mending } = this.shards[shardOf(id, this.shards.length)]!
    await Promise.allSettled([starting?.promise, mending?.promise])
  }

  /** Whether a request for this id would be refused at the door. */
  busy(id: string): boolean {
    return this.shards[shardOf(id, this.shards.length)]!.waiting.size >= waitingMax
  }

  /**
   * Ask one actor.
   *
   * kind     c company, u user, e the environment's own actor.
   * nowMs    the environment's present.
   * fresh    the id was made for this request: there is nothing to load.
   * once     the claim of an idempotency key: the record of the message names it (decision 37).
   * returns  the reply; writes only after their record is durable.
   * errors   Refused; ServiceError 503 when the shard is dead, replaying or full, or its store is away.
   */
  ask<Reply>(
    kind: 'c' | 'u' | 'e',
    environmentId: string,
    id: string,
    message: CompanyMessage | UserMessage | EnvironmentMessage | Question,
    nowMs: number,
    fresh = false,
    once?: string,
  ): Promise<Answered<Reply>> {
    return new Promise((resolve, reject) => {
      const waiting = { resolve: resolve as Waiting['resolve'], reject }
      this.put(kind, environmentId, id, message, nowMs, waiting, fresh, once)
    })
  }

  /** As `ask`, with callbacks in place of a promise; they are called at once when the request is refused here. */
  put(
    kind: 'c' | 'u' | 'e',
    environmentId: string,
    id: string,
    message: CompanyMessage | UserMessage | EnvironmentMessage | Question,
    nowMs: number,
    waiting: Waiting,
    fresh = false,
    once?: string,
  ): void {
    const shard = this.shards[shardOf(id, this.shards.length)]!
    const request = { k: kind, id, env: environmentId, at: nowMs, fresh, m: message }
    this.enter(shard, once === undefined ? request : { ...request, once }, waiting)
  }

  /** Ask many companies of a shard (`indexOf`) what a migration or move would do to them: PlanOutlooks as text. */
  async outlooks(
    index: number,
    environmentId: string,
    companyIds: readonly string[],
    question: OutlookQuestion,
    nowMs: number,
  ): Promise<string> {
    const request = { env: environmentId, at: nowMs, companyIds, question }
    return (await this.post<string>(this.shards[index]!, request)).reply
  }

  /**
   * Give events to their actors; resolves when the fate of every one is known.
   *
   * failed   called with events that became durable as failed, before this resolves.
   * returns  the events that did not become durable, by shard; undefined when all did. Never rejects.
   */
  ingest(
    items: readonly IngestItem[],
    nowMs: number,
    failed: TellFailed = nobody,
  ): Promise<readonly Undelivered[]> {
    if (items.length === 1 || this.shards.length === 1)
      return this.deliver(this.shards[shardOf(items[0]!.id, this.shards.length)]!, items, nowMs, failed)
    const byShard = new Map<Shard, IngestItem[]>()
    for (const item of items) {
      const shard = this.shards[shardOf(item.id, this.shards.length)]!
      const list = byShard.get(shard)
      if (list) list.push(item)
      else byShard.set(shard, [item])
    }
    const fates = [...byShard].map(([shard, events]) => this.deliver(shard, events, nowMs, failed))
    return Promise.all(fates).then(undelivered => undelivered.flat())
  }

  /** One event, for one who waits: as `ingest`, without the detour of a promise. */
  putEvent(item: IngestItem, nowMs: number, waiting: Waiting): void {
    const shard = this.shards[shardOf(item.id, this.shards.length)]!
    this.enter(shard, { at: nowMs, events: [item] }, waiting, true)
  }

  /** The number of the shard that an actor belongs to. */
  indexOf(id: string): number {
    const { length } = this.shards
    return length === 1 ? 0 : shardOf(id, length)
  }

  /** One event of the usual kind to its company's shard, for one who waits: as `putEvent`. The rows may be used again. */
  putUse(index: number, uses: OutgoingUses, waiting: Waiting): void {
    this.enter(this.shards[index]!, uses, waiting, true)
  }

  /** Events of the usual kind to the shard of their companies; as `ingest`. The rows may be used again. */
  ingestUses(
    index: number,
    uses: OutgoingUses,
    failed: TellFailed = nobody,
  ): Promise<readonly Undelivered[]> {
    return this.deliverAll(this.shards[index]!, uses, uses.rows.count, failed)
  }

  private deliver(
    shard: Shard,
    events: readonly IngestItem[],
    nowMs: number,
    failed: TellFailed,
  ): Promise<readonly Undelivered[]> {
    return this.deliverAll(shard, { at: nowMs, events }, events.length, failed)
  }

  private deliverAll(
    shard: Shard,
    request: Outgoing,
    count: number,
    failed: TellFailed,
  ): Promise<readonly Undelivered[]> {
    const posted = this.post(shard, request)
    shard.events += count
    // a long list leaves at once: kept for the end of the tick it would only grow old in memory
    if (count >= longList) this.send(shard)
    const owns = (id: string) => this.shards[shardOf(id, this.shards.length)] === shard
    return posted.then(
      ({ reply }) => {
        shard.events -= count
        if (reply !== null) failed(reply as readonly FailedEvent[])
        return allDelivered
      },
      error => {
        shard.events -= count
        return [{ owns, error }]
      },
    )
  }

  /** One event whose row lies at a shard: as `putUse`. */
  putLodged(index: number, uses: OutgoingLodged, waiting: Waiting): void {
    this.enter(this.shards[index]!, uses, waiting, true)
  }

  /** Events whose rows lie at a shard: as `ingestUses`. */
  ingestLodged(index: number, uses: OutgoingLodged, failed: TellFailed): Promise<readonly Undelivered[]> {
    return this.deliverAll(this.shards[index]!, uses, uses.count, failed)
  }

  /** Number of a shard's thread: rows of a front lie at the thread that they were posted to. */
  generationOf(index: number): number {
    return this.shards[index]!.launches
  }

  /** Whether a shard's thread of this number takes requests. */
  takesFrom(index: number, generation: number): boolean {
    const { launches, ready, waiting, events } = this.shards[index]!
    return ready && launches === generation && waiting.size + events < waitingMax
  }

  /**
   * Another port over which a front asks a shard checks, and lodges rows; null: it does not serve, and tells by its notice
   * when it does.
   */
  connect(index: number, front: number): MessagePort | null {
    const { ready, port } = this.shards[index]!
    if (!ready || port === null) return null
    const { port1: asker, port2 } = new MessageChannel()
    port.postMessage({ asker, front } satisfies AskerPort, [asker])
    return port2
  }

  /** Nothing of a front's packet is taken from a shard; null: nothing more of the front. */
  lodgingOver(index: number, front: number, packet: number | null): void {
    this.shards[index]!.port?.postMessage({ over: front, packet } satisfies LodgingOver)
  }

  /** Hand a new catalog to every shard; resolves when all serve it. */
  async announce(data: CatalogData): Promise<void> {
    await this.controlAll({ type: 'catalog', data })
  }

  /** An environment is deleted: no shard keeps its catalog or actors. A shard that starts meanwhile never has them. */
  async forgetEnvironment(environmentId: string): Promise<void> {
    await this.controlAll({ type: 'catalog_gone', environmentId })
  }

  /**
   * Have every shard write the snapshots of what changed, and begin its journal anew: the segments until now go as soon as
   * they may be trimmed, and are not recycled.
   */
  async renewJournals(): Promise<void> {
    await this.controlAll({ type: 'renew' })
  }

  /** Have every shard write the snapshots of what changed. */
  async checkpoint(): Promise<void> {
    await this.controlAll({ type: 'checkpoint' })
  }

  /** Freeze every shard's snapshots or journal for a backup. Returns the freeze in force until now, by shard. */
  async hold(still: BackupFreeze): Promise<readonly BackupFreeze[]> {
    const answers = this.here.map(shard => this.control<BackupFreeze>(shard, { type: 'hold', still }))
    return (await Promise.all(answers)).map(({ reply }) => reply)
  }

  /**
   * The sequence of each shard behind which it has no record of an environment; it may not be durable yet. null: it is not
   * known, the shard does not serve.
   */
  async lastOf(environmentId: string): Promise<readonly (number | null)[]> {
    const ask = async (shard: Shard): Promise<number | null> => {
      if (!shard.ready) return null
      const { reply } = await this.control<number>(shard, { type: 'last', environmentId })
      return reply
    }
    return Promise.all(this.shards.map(shard => ask(shard).catch(() => null)))
  }

  /** Figures of every shard that serves, for metrics. */
  async stats(): Promise<readonly ShardStats[]> {
    const serving = this.here.filter(shard => shard.ready)
    const answers = await Promise.allSettled(
      serving.map(shard => this.control<ShardFigures>(shard, { type: 'stats' })),
    )
    return answers.flatMap((answer, index) => {
      const { index: shard, waiting } = serving[index]!
      return answer.status === 'fulfilled' ? [{ ...answer.value.reply, shard, waiting: waiting.size }] : []
    })
  }

  /** Have every shard write down what has ended by time alone. Arguments as of the message. */
  async sweep(wallMs: number, clocks: Readonly<Record<string, TestClock>>): Promise<void> {
    const serving = this.here.filter(shard => shard.ready)
    await Promise.allSettled(serving.map(shard => this.control(shard, { type: 'sweep', wallMs, clocks })))
  }

  /** Have every shard report the checks that it still counts (FE-101). */
  async tellChecks(): Promise<void> {
    await Promise.allSettled(this.here.map(shard => this.control(shard, { type: 'checks' })))
  }

  /** Let every shard finish, checkpoint and stop. Requests without an answer, and later ones, are refused. */
  async close(): Promise<void> {
    await Promise.allSettled(this.here.map(shard => this.control(shard, { type: 'checkpoint' })))
    this.closing = true
    for (const shard of this.shards) {
      shard.ready = false
      shard.port?.close()
    }
    await Promise.all(this.shards.map(shard => shard.thread?.close()))
    for (const shard of this.shards) this.refuseAll(shard.waiting.takeAll())
  }

  private async controlAll(control: ShardControl): Promise<void> {
    await Promise.all(
      this.here.map(async shard => {
        // a shard that is starting takes the current catalogs with its start
        while (shard.starting) await shard.starting.promise
        try {
          await this.control(shard, control)
        } catch (error) {
          const { starting } = shard as Shard
          if (control.type !== 'catalog' || !starting) throw error
          await starting.promise
        }
      }),
    )
  }

  protected control<Reply>(shard: Shard, control: ShardControl): Promise<Answered<Reply>> {
    return this.post<Reply>(shard, { control })
  }

  private post<Reply>(shard: Shard, request: Outgoing): Promise<Answered<Reply>> {
    return new Promise((resolve, reject) => {
      this.enter(shard, request, { resolve: resolve as Waiting['resolve'], reject })
    })
  }

  /**
   * Give a request its number, and a place in the packet at the end of this tick, or, `single`, soon after; or refuse
   * it here with a reason.
   */
  protected enter(shard: Shard, request: Outgoing, waiting: Waiting, single = false): void {
    if (!shard.ready || shard.waiting.size + shard.events >= waitingMax) {
      waiting.reject(new ServiceError(shard.ready ? 'overloaded' : 'starting'))
      return
    }
    shard.outbox.add(shard.waiting.add(waiting), request)
    if (single) this.gathered++
    else this.urgent = true
    if (!this.flushing) {
      this.flushing = true
      setImmediate(this.flush)
    }
  }

  private readonly flush = (): void => {
    if (this.awaitsMore()) {
      setImmediate(this.flush)
      return
    }
    this.flushing = false
    this.urgent = false
    this.gathered = 0
    this.seen = 0
    for (const shard of this.shards) this.send(shard)
  }

  /**
   * Whether the packet waits for another turn of the loop: single events do, as long as each turn brings more of
   * them. The cost of a packet (posting, the shard's wake, the journal's write) is ten times that of an event.
   */
  private awaitsMore(): boolean {
    const { gathered, seen } = this
    if (this.urgent || gathered === seen || gathered >= gatheredMax) return false
    if (seen === 0) this.sinceMs = performance.now()
    else if (performance.now() - this.sinceMs > gatherMs) return false
    this.seen = gathered
    return true
  }

  private send(shard: Shard): void {
    if (!shard.outbox.isEmpty) shard.port?.postMessage(shard.outbox.take())
  }

  protected launch(shard: Shard): Promise<void> {
    shard.launches++
    shard.starting ??= newStarting()
    const { startThread: start = startThread, workerFile } = this.options
    const ring = this.newRing()
    const thread = start(workerFile, port => ({
      port,
      options: this.options.shards[shard.index]!,
      again: this.again(shard),
      heard: shard.heard,
      catalogs: this.options.catalogs(),
      ring,
    }))
    shard.ring = ring && new ReplyRing(ring)
    shard.thread = thread
    shard.port = thread.port
    const hearing = hearingOf(shard)
    const take = (message: Packet | ShardNotice): void => {
      if (Array.isArray(message)) return this.heard(shard, message as unknown as Packet, hearing)
      const notice = message as ShardNotice
      if (notice.notice === 'durable') return this.durable(shard, notice, hearing)
      if (notice.notice === 'ready') {
        shard.ready = !this.closing
        shard.served = true
        shard.deaths = 0
        shard.starting?.resolve()
        shard.starting = null
      }
      if (notice.notice === 'ready' || notice.notice === 'mended') {
        shard.mending?.resolve()
        shard.mending = null
      }
      this.noticed(notice, shard.index)
    }
    thread.port.on('message', take)
    const end = (error: Error): void => {
      // its replies are durable, and may precede the checkpoint that the next thread replays from
      for (const message of thread.rest()) take(message as Packet | ShardNotice)
      if (!this.closing) void thread.destroy()
      this.revive(shard, error)
    }
    thread.ended.then(() => end(new Error('the shard ended by itself')), end)
    return shard.starting.promise
  }

  /** Whether a starting thread sends the facts of its journal's tail. */
  protected again(shard: Shard): boolean {
    return shard.served
  }

  /** Replies of a shard's thread. */
  protected heard(shard: Shard, replies: Packet, hearing: ReplyHandler): void {
    decodeReplies(replies, hearing, shard.ring)
  }

  /** Memory for the long replies of a thread that starts; null: they cross as texts. */
  protected newRing(): SharedArrayBuffer | null {
    return ReplyRing.make(this.options.shards.length)
  }

  /** A group is durable, and other nodes need its entities. */
  protected durable(
    shard: Shard,
    { replies }: Extract<ShardNotice, { readonly notice: 'durable' }>,
    hearing: ReplyHandler,
  ): void {
    if (replies !== null) this.heard(shard, replies as Packet, hearing)
  }

  /** Whether a shard whose thread ended gets another one. */
  protected revives(_shard: Shard): boolean {
    return true
  }

  protected noticed(notice: ShardNotice, shard: number): void {
    this.options.onNotice(notice, shard)
  }

  /** Waiting callers get an error that says that the fate of their request is unknown. */
  protected refuseAll(lost: readonly Waiting[]): void {
    for (const waiting of lost) waiting.reject(new Lost('starting', 'The shard moves; try again'))
  }

  /** The thread of a shard ended, and all its replies were read. */
  protected ended(_shard: Shard): void {}

  /** The thread died: every waiting caller gets 503, and a new thread replays the journal. */
  private revive(shard: Shard, error: Error): void {
    this.ended(shard)
    shard.ready = false
    // its replies may depend on records that are not in its journal
    new Changes(this.options.shards[shard.index]!.changes).close(shard.index)
    shard.port?.close()
    shard.outbox.take()
    shard.deaths++
    const lost = shard.waiting.takeAll()
    if (!this.revives(shard)) return this.refuseAll(lost)
    // first: a caller that hears of its lost request asks at once when the fate will be known
    if (shard.served && !this.closing) shard.starting ??= newStarting()
    for (const waiting of lost) waiting.reject(new Lost('starting', 'The shard restarts; try again'))
    if (this.closing) return
    this.options.log.error({ shard: shard.index, err: error }, 'shard died')
    if (!shard.served) return shard.starting?.reject(error)
    const delayMs = shard.deaths === 1 ? 0 : Math.min(5_000, 50 * 2 ** shard.deaths)
    setTimeout(() => this.launch(shard), delayMs)
  }
}

/** Settles what waits for the replies of a shard. */
export function hearingOf(shard: Shard): ReplyHandler {
  return {
    answered(n, reply, sequence) {
      if (sequence > shard.heard) shard.heard = sequence
      shard.waiting.take(n)?.resolve({ reply, shard: shard.index, sequence, untilMs: 0, figures: false })
    },
    cacheable: (n, reply, untilMs, figures) =>
      shard.waiting.take(n)?.resolve({ reply, shard: shard.index, sequence: 0, untilMs, figures }),
    refused: (n, refusal, detail) => shard.waiting.take(n)?.reject(new Refused(refusal, detail)),
    failed(n, reason, detail) {
      if (reason === 'doubtful') shard.mending ??= newStarting()
      shard.waiting
        .take(n)
        ?.reject(reason === 'doubtful' ? new Lost('overloaded', detail) : new ServiceError(reason, detail))
    },
  }
}

function newStarting(): Starting {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

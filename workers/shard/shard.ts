// The entry of a shard: one thread, one journal, the companies and users whose ids hash to it.
//
//   batch ─▶ find or load ─▶ decide ─▶ effects ─▶ apply ─▶ records ─▶ journal (one group) ─▶ replies
//                                        reads are answered at once ─┘
//
// Effects are applied before the journal answers, so two messages of one batch see each other. If the append
// then fails the actors it touched are forgotten and loaded again: memory never outlives storage.
import { type CheckedAndReserved, writeCheckAndReserve } from '../../src/core/checks/reserve.js'
import { byTime } from '../../src/core/company/by-time.js'
import { apply, decideCompany, presentOf } from '../../src/core/company/company.js'
import type { ShardControl, ShardNotice, ShardRequest } from '../../src/core/company/shard-request.js'
import { applyToUser, decideUser } from '../../src/core/company/user.js'
import type { CatalogData } from '../../src/core/model/definitions.js'
import type { WriteReply } from '../../src/core/model/entity-state.js'
import {
  type BackupFreeze,
  type CompanyMessage,
  type Decision,
  type Effect,
  type Fact,
  isQuestion,
  type Question,
  type ShownQuestion,
  type UserMessage,
} from '../../src/core/model/message.js'
import type { DomainEvent } from '../../src/core/model/notices.js'
import type { AcceptedEvent, CheckAndReserve } from '../../src/core/model/requests.js'
import type { UsesRequest } from '../../src/core/usage/batch.js'
import { presentOf as environmentPresent } from '../../src/core/values/test-clock.js'
import { mechanisms } from '../../src/host/few-cores.js'
import { collectWhenIdle } from '../../src/host/idle-gc.js'
import { nodeDisk } from '../../src/journal/disk.js'
import { type FileJournal, openFileJournal } from '../../src/journal/file-journal.js'
import type { FramedRecords, NewRecord } from '../../src/journal/journal.js'
import { isFenced } from '../../src/redis/claims.js'
import { acknowledging } from '../../src/storage/ownership.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { allFailed, type Packet, Replies, unpack } from '../../src/wire/message-codec.js'
import { closed } from '../../src/wire/port.js'
import { Positions } from '../../src/wire/positions.js'
import { Changes } from '../../src/wire/version-counters.js'
import { type Actor, Actors, timeOf } from './actors.js'
import { Catalogs } from './catalogs.js'
import { answerExpiresAt, answerOf, raiseRecorded, rememberAnswer, tellSeen } from './checks/answer.js'
import { type Asked, hearing } from './checks/askers.js'
import { FlagChecks, reportMs } from './checks/checks.js'
import { Outlines, type Shown } from './checks/describe.js'
import { WholeAnswers } from './checks/whole-answers.js'
import { type EventClaims, HeldKeys, type Keyed, sorted } from './events/claimed.js'
import { lookAfter, lookBefore } from './events/event-detector.js'
import { EventNames } from './events/event-names.js'
import { FailedEvents } from './events/failed-events.js'
import { PlainUses } from './events/uses.js'
import { figuresOf } from './figures.js'
import { handleUnlessGone } from './gone.js'
import type { ActorRequest, EventMessage, Write } from './kinds.js'
import { concernsAll, flagsOf, isTimed, leavesTimeAlone, underClaim } from './kinds.js'
import { LodgedRows } from './lodged.js'
import { Mailbox } from './mailbox.js'
import { tellOutlooks } from './outlooks.js'
import { type Groups, groupWritten, noteGroup } from './records/group.js'
import { LastRecords } from './records/last-records.js'
import { recordOf } from './records/record.js'
import { replayTail } from './records/replay.js'
import { loadSnapshots, postgresSnapshots, storeChanged } from './snapshots/snapshots.js'
import { Fate, type ShardStorage, type ShardTask, unwritten } from './task.js'

/** Runs until the port closes. Rejects, and the thread is replaced, when the shard cannot go on. */
export default function shard(task: ShardTask): Promise<void> {
  const sql = openPostgres(task.options.postgres, { max: task.options.postgres.shares?.thread ?? 2 })
  if (mechanisms().idleCollections) collectWhenIdle()
  return runShard(task, { disk: nodeDisk, snapshots: postgresSnapshots(sql) })
}

/** The same over any storage. */
export async function runShard(task: ShardTask, storage: ShardStorage): Promise<void> {
  const over = closed(task.port)
  const running = await Shard.start(task, storage)
  try {
    await Promise.race([over, running.fate.failed])
  } finally {
    await running.stop()
  }
}

/** Changed actors that start a checkpoint before its time. */
const dirtyMax = 50_000
/** Records handed to the journal at once, within a batch that has more. */
const recordsAtOnce = 256

class Shard implements Asked {
  readonly catalogs = new Catalogs()
  readonly actors: Actors
  private readonly checks: FlagChecks
  private readonly changes: Changes
  /** Requests that wait for an actor to be loaded, and the ids wanted. */
  private parked: ShardRequest[] = []
  private wanted = new Set<string>()
  private loading = false
  /** The sequence the next record gets; agrees with the journal's. */
  private next: number
  private readonly last: LastRecords
  /** Gathered while a batch is handled, appended at its end. */
  private records: (NewRecord | FramedRecords)[] = []
  readonly plainUses: PlainUses
  readonly lodged = new LodgedRows(n => this.reads.failed(n, 'starting'))
  private readonly writes = new Replies()
  readonly reads: Replies
  readonly wholes: WholeAnswers
  private readonly failedEvents = new FailedEvents()
  private broken = false
  /** Actors asked of storage since the thread started. */
  coldLoads = 0
  /** Appends that failed, each with actors forgotten. */
  private failures = 0
  private checkpointing: Promise<void> | null = null
  /** The part that a backup reads now. */
  private still: BackupFreeze = 'nothing'
  private readonly timers: NodeJS.Timeout[] = []
  /** Idempotency keys claimed for events that are not recorded yet, and what requests repeat. */
  readonly keys: HeldKeys
  /** Facts of this batch that other nodes must know before its replies leave. */
  private told: Fact[] = []
  private readonly outlines: Outlines
  private covered = 0 // how far the checkpoint before this one came
  /** Fails when the shard is another node's by now. */
  readonly fate = new Fate()

  private constructor(
    readonly task: ShardTask,
    readonly journal: FileJournal,
    readonly storage: ShardStorage,
    private readonly positions: Positions,
    /** Sizes and times of the groups written since they were last asked for. */
    readonly groups: Groups,
  ) {
    const { options } = task
    this.actors = new Actors(options.actorsMax)
    this.changes = new Changes(options.changes)
    this.plainUses = new PlainUses(this.changes, new EventNames(options.eventNamesMax, this.actors))
    const run = `${options.generation} ${options.index} ${journal.committed} ${Date.now()}`
    this.outlines = new Outlines(run)
    this.checks = storage.checks ?? new FlagChecks(run, options.records)
    this.reads = new Replies(task.ring)
    this.wholes = new WholeAnswers(this.checks, this.reads, this.changes)
    this.next = journal.committed + 1
    this.last = new LastRecords(journal.committed)
    this.keys = new HeldKeys(storage.shared ?? null, () => journal.append([]))
    for (const data of task.catalogs) this.hold(data)
  }

  static async start(task: ShardTask, storage: ShardStorage): Promise<Shard> {
    const { options, port } = task
    const positions = new Positions(options.positions)
    const groups: Groups = []
    const { journal } = await openFileJournal({
      directory: options.journalDir,
      disk: storage.disk,
      segmentBytes: options.segmentBytes,
      mustReach: positions.stored(options.index),
      committed: sequence => positions.set(options.index, 'committed', sequence),
      held: acknowledging(options.redis === undefined ? options.postgres.owner : undefined),
      measured: (records, seconds) => {
        noteGroup(groups, records, seconds)
        if (options.tellsGroups) port.postMessage(groupWritten(journal.committed, records, seconds))
      },
    })
    await storage.shared?.begin(journal.committed)
    const shard = new Shard(task, journal, storage, positions, groups)
    const replayed = await shard.replay(null)
    port.on('message', hearing(shard, new Mailbox(cells => shard.post(cells))))
    shard.timers.push(setInterval(() => shard.checkpointDue(), options.checkpointMs))
    if (storage.checks === undefined) shard.timers.push(setInterval(() => shard.tellChecks(), reportMs))
    shard.changes.open(options.index)
    shard.tell({ notice: 'ready', replayed })
    return shard
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    await this.checkpointing?.catch(() => {})
    await this.journal.close()
    await this.storage.snapshots.close()
  }

  // ── messages ─────────────────────────────────────────────────────────────────────────────────

  /** Requests of one packet: those without shared idempotency keys at once, the rest when their keys are claimed. */
  private post(cells: Packet): void {
    const { shared } = this.storage
    if (shared === undefined) return this.turn(take => unpack(cells, take, this.lodged))
    const requests: ShardRequest[] = []
    unpack(cells, request => requests.push(request))
    const { free, keyed } = sorted(requests, cells)
    if (free.length > 0) this.turn(take => free.forEach(take))
    if (keyed.length > 0) void this.claim(keyed, shared)
  }

  private async claim(keyed: readonly Keyed[], shared: EventClaims): Promise<void> {
    for await (const claimed of this.keys.claim(keyed, shared, one => void this.claim([one], shared))) {
      this.turn(take => {
        for (const [{ n }, left] of claimed)
          if (left instanceof Error) this.reads.failed(n, 'overloaded', left.message)
          else take(typeof left === 'function' ? left() : left)
      })
    }
  }

  /** Deal with what came together. */
  turn(give: (take: (request: ShardRequest) => void) => void): void {
    this.actors.tick++
    give(request => this.take(request))
    this.finish()
  }

  private take(request: ShardRequest): void {
    handleUnlessGone(this, request)
    // the records of a long batch go into the journal's buffer while it is still being decided
    if (this.records.length >= recordsAtOnce || this.plainUses.isMuch) this.finishWrites()
  }

  /** Write down what has ended by time alone. source: CR-76, decision 11 */
  private sweep({ wallMs, clocks }: Extract<ShardControl, { readonly type: 'sweep' }>): void {
    for (const company of this.actors.companies()) {
      const { state } = company
      if (state.credits.size === 0 && !isTimed(state)) continue
      if (this.actors.lost.has(state.id)) continue
      const at = presentOf(state, environmentPresent(clocks[state.environmentId], wallMs))
      if (at >= company.settledUntilMs) this.settle(company, state.environmentId, at)
    }
  }

  handle(request: ShardRequest): void {
    if ('control' in request) return this.control(request.n, request.control)
    if ('question' in request) return tellOutlooks(this, request)
    if ('uses' in request) return this.ingestUses(request)
    if ('events' in request) return this.ingest(request)
    const { n, m } = request
    if (request.k === 'e') {
      if (isQuestion(m)) this.answerTo(n, null, request.env, m, request.at)
      else this.write(request, null, m as Write, request.at)
      return
    }
    const actor = this.find(request.k, request.id, request.env, request.fresh)
    if (!actor) return void this.parked.push(request)
    const at = timeOf(actor, request.at)
    this.settle(actor, request.env, at)
    if (m.type === 'credits') {
      // figures may depend on changes journaled just now: the reply leaves once they are durable
      const reply = answerOf(this.checks, this.catalogs.of(request.env), actor, m, at)
      this.writes.answered(n, reply, actor.state.sequence)
    } else if (isQuestion(m)) this.answerTo(n, actor, request.env, m, at)
    else this.write(request, actor, m as Write, at)
  }

  private ingest(request: Extract<ShardRequest, { readonly events: unknown }>): void {
    let missing = false
    for (const item of request.events)
      if (item.k !== 'e' && !this.find(item.k, item.id, item.env, item.fresh)) missing = true
    if (missing) return void this.parked.push(request)
    if (this.refuses) {
      this.keys.forgo(request)
      this.reads.failed(request.n, 'overloaded', 'The journal does not take writes now')
      return
    }
    for (const { k, id, env, m } of request.events) {
      const actor = k === 'e' ? null : this.actors.get(id)!
      const at = actor ? timeOf(actor, request.at) : request.at
      if (actor) this.settle(actor, env, at)
      this.ingestEvent(actor, env, id, at, m as EventMessage)
    }
    this.writes.answered(request.n, this.keys.repeats(request.n, this.failedEvents.take()), this.next - 1)
  }

  private ingestEvent(actor: Actor | null, env: string, id: string, at: number, m: EventMessage): void {
    const decision =
      this.plainUses.eventNames.judged(actor, env, m.event) ?? this.decide(actor, env, m as Write, at)
    // an actor refuses no event: it records an unusable one without effect (CR-49, CU-53), or as failed (decision 27)
    const effects = 'refused' in decision ? [] : decision.effects
    this.record(actor, env, id, at, effects, this.failedEvents.judged(m.event, decision))
  }

  /** As `ingest`; an event that only counts never becomes an object. */
  private ingestUses(request: UsesRequest): void {
    const { n, at, env, from, count, uses, held } = request
    const actors = this.plainUses.actorsOf(request, id => this.find('c', id, env, false))
    if (actors === null) return void this.parked.push(this.keys.itemsOf(request))
    if (this.refuses) {
      this.keys.forgoRows(request)
      this.reads.failed(n, 'overloaded', 'The journal does not take writes now')
      return
    }
    this.plainUses.begin(request, this.catalogs.of(env))
    for (let i = 0; i < count; i++) {
      const claim = held?.[i]
      if (claim === null) continue
      const actor = actors[i]!
      const present = timeOf(actor, at)
      this.settle(actor, env, present)
      if (actor.k === 'c' && this.plainUses.add(actor, request, from + i, present)) {
        if (claim) this.keys.writtenRow(claim, this.next)
        actor.state.sequence = this.next++
        this.actors.dirty.add(actor)
        continue
      }
      const event = uses.event(from + i, request)
      if (claim) this.keys.holdAs(event.id, claim)
      this.ingestEvent(actor, env, actor.state.id, present, { type: 'event', event })
    }
    this.last.note(env, this.next - 1)
    this.writes.answered(n, this.keys.repeats(n, this.failedEvents.take()), this.next - 1)
  }

  /** Plain uses counted so far have their place before the record that comes now. */
  private gatherUses(): void {
    if (this.plainUses.count > 0) this.records.push(this.plainUses.take())
  }

  private write({ n, env, id, once }: ActorRequest, actor: Actor | null, m: Write, at: number): void {
    if (this.refuses) {
      if (m.type === 'event') this.keys.free(m.event)
      this.reads.failed(n, 'overloaded', 'The journal does not take writes now')
      return
    }
    const decision = underClaim(this.decide(actor, env, m, at), once)
    if ('refused' in decision) {
      if (m.type === 'event') this.keys.free(m.event)
      this.reads.refused(n, decision.refused, decision.detail)
      return
    }
    if (m.type === 'check_and_reserve') {
      this.checkedAndReserved(n, actor, env, m, decision, at)
      return
    }
    const event = m.type === 'event' ? m.event : null
    if (decision.effects.length > 0 || event) this.record(actor, env, id, at, decision.effects, event)
    if (actor) this.settle(actor, env, at) // a change of plan brings its credits at once (CR-39)
    const shown = 'shows' in m && m.shows ? this.shown(actor, env, m.shows, at) : null
    const reply = shown === null ? decision.reply : { ...(decision.reply as WriteReply), ...shown }
    this.writes.answered(n, reply, actor ? actor.state.sequence : this.next - 1)
  }

  /** Leaves what a check leaves; the reply is its text (CR-84), or null for an unknown flag. */
  private checkedAndReserved(
    n: number,
    actor: Actor | null,
    env: string,
    m: CheckAndReserve,
    decision: Extract<Decision, { readonly reply: unknown }>,
    at: number,
  ): void {
    const reply = decision.reply as CheckedAndReserved | null
    const company = actor?.k === 'c' && actor.state.exists ? actor.state : null
    if (reply) this.checks.note(this.catalogs.of(env), company, m.context, reply.checked, m.preflight, at)
    tellSeen(actor, this.changes)
    const json = reply && writeCheckAndReserve(reply)
    if (!actor || decision.effects.length === 0) {
      this.reads.answered(n, json, 0)
      return
    }
    this.record(actor, env, actor.state.id, at, decision.effects, null)
    this.writes.answered(n, json, actor.state.sequence)
  }

  /** Apply and journal all changes by time of a company's plans and credits, before any message. */
  settle(actor: Actor, env: string, at: number): void {
    if (actor.k !== 'c' || !actor.state.exists || this.broken) return
    const catalog = this.catalogs.of(env)
    const edition = this.catalogs.editionOf(env)
    if (at < actor.settledUntilMs && actor.settledUnder === edition) return
    const steps = byTime(actor.state, catalog, at)
    let step = steps.next()
    for (; step.done !== true; step = steps.next())
      this.record(actor, env, actor.state.id, at, step.value, null)
    actor.settledUntilMs = step.value
    actor.settledUnder = edition
  }

  /** The journal is broken, or more bytes wait for the disk than may be lost: new writes are refused at once. */
  private get refuses(): boolean {
    return this.broken || this.journal.pendingBytes > this.task.options.pendingBytesMax
  }

  private decide(actor: Actor | null, env: string, m: Write, at: number): Decision {
    if (actor === null) return { reply: null, effects: [] }
    if (actor.k === 'u') return decideUser(actor.state, m as UserMessage, at)
    return decideCompany(actor.state, this.catalogs.of(env), m as CompanyMessage, at)
  }

  /** Apply effects and gather their record for the group that ends this batch. */
  private record(
    actor: Actor | null,
    env: string,
    id: string,
    at: number,
    fx: readonly Effect[],
    event: AcceptedEvent | null,
  ): void {
    this.gatherUses()
    const sequence = this.next++
    this.last.note(env, sequence)
    const flags = flagsOf(fx)
    let tell: readonly DomainEvent[] = []
    if (actor) {
      raiseRecorded(actor, fx, flags, this.changes)
      const sight = lookBefore(actor, this.catalogs.get(env), fx, at)
      if (actor.k === 'c') {
        for (const effect of fx) apply(actor.state, effect, at)
        actor.state.timeMs = at
      } else for (const effect of fx) applyToUser(actor.state, effect, at)
      actor.state.sequence = sequence
      this.actors.dirty.add(actor)
      if (actor.k === 'c' && !leavesTimeAlone(actor.state, fx, flags)) actor.settledUntilMs = 0
      if (sight) tell = lookAfter(actor, sight, fx, at)
    }
    const k = actor?.k ?? 'e'
    const fact: Fact = tell.length === 0 ? { k, id, env, at, fx } : { k, id, env, at, tell, fx }
    if (this.storage.shared !== undefined && concernsAll(fx, flags)) this.told.push(fact)
    if (event) this.keys.written(event, sequence)
    this.records.push(recordOf(fact, flags, event, this.catalogs.get(env)))
  }

  /** The end of a batch: reads leave at once, writes when their group is durable. */
  private finish(): void {
    if (!this.reads.isEmpty) this.task.port.postMessage(this.reads.take())
    this.finishWrites()
    if (this.wanted.size > 0 && !this.loading) void this.load()
    if (this.actors.dirty.size > dirtyMax) this.checkpointDue()
  }

  private finishWrites(): void {
    this.gatherUses()
    if (this.writes.isEmpty && this.records.length === 0) return
    const writes = this.writes.isEmpty ? null : this.writes.take()
    const { records, told } = this
    this.records = []
    this.told = []
    const appended = this.journal.append(records)
    this.plainUses.clear()
    appended.then(
      () => {
        if (told.length > 0) this.tell({ notice: 'durable', facts: told, replies: writes })
        else if (writes !== null) this.task.port.postMessage(writes)
      },
      () => {
        if (writes !== null)
          this.task.port.postMessage(allFailed(writes, 'doubtful', unwritten(this.storage)))
        void this.recover()
      },
    )
  }

  // ── reads ────────────────────────────────────────────────────────────────────────────────────

  answerTo(n: number, actor: Actor | null, env: string, asked: Question, at: number, to = this.reads): void {
    const catalog = this.catalogs.of(env)
    if (asked.type === 'check_all' && asked.whole)
      return this.wholes.answer(n, actor, catalog, this.catalogs.editionOf(env), asked.context, at)
    const reply =
      asked.type === 'outline' && asked.known !== undefined
        ? (this.shown(actor, env, asked, at).outline ?? null)
        : answerOf(this.checks, catalog, actor, asked, at)
    const figures = reply && rememberAnswer(actor, asked, this.checks.reads, at, this.changes)
    if (typeof figures !== 'boolean') return to.answered(n, reply, 0)
    to.cacheable(n, reply as string, answerExpiresAt(actor, at), figures)
  }

  private shown(actor: Actor | null, env: string, question: ShownQuestion, at: number): Shown {
    return this.outlines.shown(actor, this.catalogs.of(env), this.catalogs.editionOf(env), at, question)
  }

  private hold(data: CatalogData): void {
    const flags = this.catalogs.hold(data)
    this.changes.definitionsChanged(this.task.options.index, data.environmentId, flags)
  }

  // ── loading ──────────────────────────────────────────────────────────────────────────────────

  /** The actor in memory; a fresh one is made; else it is wanted from storage. */
  private find(k: 'c' | 'u', id: string, env: string, fresh: boolean): Actor | undefined {
    // one that is being loaded with the journal's tail is not whole before its last fact
    const actor = this.actors.lost.has(id) ? undefined : this.actors.get(id)
    if (actor) return actor
    if (fresh && !this.actors.lost.has(id)) return this.actors.make(k, id, env)
    this.wanted.add(id)
    return undefined
  }

  /** Load what the parked requests want, then handle them in their order. */
  private async load(): Promise<void> {
    this.loading = true
    // Asked for again while the load before this one ran: it is here, and has changed since its snapshot.
    const ids = [...this.wanted].filter(id => this.actors.lost.has(id) || !this.actors.get(id))
    const parked = this.parked
    this.wanted = new Set()
    this.parked = []
    try {
      await this.loadAbsent(ids)
      const lost = ids.filter(id => this.actors.lost.has(id))
      if (lost.length > 0) await this.replay(new Set(lost))
      const absent = new Set(ids)
      for (const request of parked)
        if ('m' in request || 'events' in request) this.actors.makeAbsent(request, absent)
      this.loading = false
      this.turn(take => parked.forEach(take))
    } catch {
      this.loading = false
      for (const request of parked) {
        this.keys.forgo(request)
        this.reads.failed(request.n, 'store_away', 'A company cannot be loaded now')
      }
      this.finish()
    }
  }

  /**
   * Fold the journal's tail over the snapshots: every actor it names at start (`only` null), or the ones given.
   * Returns the records read.
   */
  private async replay(only: ReadonlySet<string> | null): Promise<number> {
    const { options, again, heard } = this.task
    const count = await replayTail({
      directory: options.journalDir,
      disk: this.storage.disk,
      actors: this.actors,
      from: this.positions.get(options.index, 'checkpointed'),
      upTo: this.journal.committed,
      only,
      load: ids => this.loadAbsent(ids),
      again: again && only === null ? facts => this.tell({ notice: 'identity', facts }) : null,
      heard,
    })
    if (only) for (const id of only) this.actors.lost.delete(id)
    return count
  }

  /** Add actors from their snapshots; never over one in memory, which may have changed since. */
  private async loadAbsent(ids: readonly string[]): Promise<readonly Actor[]> {
    if (ids.length === 0) return []
    const actors = await loadSnapshots(this.storage.snapshots, this.task.options.generation, ids)
    this.coldLoads += ids.length
    return actors.map(actor => this.actors.addAbsent(actor))
  }

  /** After a failed append: forget everything not durable, and open the journal again, however long it takes. */
  private async recover(): Promise<void> {
    if (this.broken) return
    this.broken = true
    this.failures++
    this.changes.renew(this.task.options.index)
    this.actors.forgetAfter(this.journal.committed)
    for (let delayMs = 50; ; delayMs = Math.min(5_000, delayMs * 2)) {
      try {
        await this.journal.reopen()
        await this.storage.shared?.begin(this.journal.committed)
        break
      } catch (error) {
        if (isFenced(error)) return this.fate.fail(error)
        await new Promise(resolve => setTimeout(resolve, delayMs))
      }
    }
    this.next = this.journal.committed + 1
    this.broken = false
    this.tell({ notice: 'mended' })
  }

  // ── checkpoints ──────────────────────────────────────────────────────────────────────────────

  private checkpointDue(): void {
    if (this.still !== 'snapshots') void this.checkpoint().catch(() => {})
  }

  /** Write the snapshots of changed actors, then move the checkpoint to where the journal was when it began. */
  private async checkpoint(renews = false): Promise<void> {
    this.checkpointing ??= this.writeCheckpoint().finally(() => {
      this.checkpointing = null
    })
    await this.checkpointing
    if (renews) await this.journal.renew?.().then(() => this.trim())
  }

  private async writeCheckpoint(): Promise<void> {
    const { options } = this.task
    await this.loadLost()
    const { failures } = this
    const upTo = this.next - 1
    const dirty = [...this.actors.dirty]
    try {
      // a snapshot may hold facts of a group under way: it is stored only once they are durable
      await storeChanged(this.storage.snapshots, options.generation, dirty, this.actors.dirty, () =>
        this.journal.append([]),
      )
    } catch (error) {
      for (const actor of dirty) if (this.actors.get(actor.state.id) === actor) this.actors.dirty.add(actor)
      throw error
    }
    // a full backlog accepts no record: it must shrink by what the stores have taken, without a new record
    if (upTo <= this.positions.get(options.index, 'checkpointed')) return this.trim()
    // records that are no actor's may still be under way
    await this.journal.append([])
    if (this.failures !== failures) throw new Error('the journal failed while a checkpoint was written')
    // the next owner sends the tail's facts to other nodes: facts that may be unsent stay in the tail
    const covers = this.storage.shared === undefined ? upTo : this.covered
    this.covered = upTo
    await this.storage.snapshots.checkpointed(options.generation, options.index, covers)
    this.positions.set(
      options.index,
      'checkpointed',
      Math.max(covers, this.positions.get(options.index, 'checkpointed')),
    )
    await this.trim()
    this.actors.evict()
  }

  private async trim(): Promise<void> {
    const upTo = this.positions.trimmable(this.task.options.index)
    if (this.still === 'nothing') await this.journal.trim(Math.min(upTo, this.storage.shared?.needed ?? upTo))
  }

  /** Actors forgotten after a failed append are brought back first: their last facts are in the journal alone. */
  async loadLost(): Promise<void> {
    if (this.actors.lost.size === 0) return
    for (const id of this.actors.lost) this.wanted.add(id)
    if (!this.loading) await this.load()
    if (this.actors.lost.size > 0) throw new Error('actors are not loaded again yet')
  }

  // ── control ──────────────────────────────────────────────────────────────────────────────────

  private control(n: number, control: ShardControl): void {
    switch (control.type) {
      case 'catalog':
        if (!this.catalogs.hasLater(control.data)) this.hold(control.data)
        return this.reads.answered(n, null, 0)
      case 'catalog_gone':
        this.catalogs.forget(control.environmentId)
        this.changes.renew(this.task.options.index)
        this.last.forget(control.environmentId)
        this.actors.forgetEnvironment(control.environmentId)
        this.plainUses.eventNames.forget(control.environmentId)
        return this.reads.answered(n, null, 0)
      case 'hold': {
        const { still } = this
        this.still = control.still
        const held = () => this.tellReply(replies => replies.answered(n, still, 0))
        // the one under way may still trim
        ;(this.checkpointing ?? Promise.resolve()).then(held, held)
        return
      }
      case 'checks':
        this.tellChecks(true)
        return this.reads.answered(n, null, 0)
      case 'sweep':
        this.sweep(control)
        return this.reads.answered(n, null, 0)
      case 'settle':
        return this.writes.answered(n, null, 0)
      case 'renew':
      case 'checkpoint':
        this.tellChecks(true)
        this.checkpoint(control.type === 'renew').then(
          () => this.tellReply(replies => replies.answered(n, null, 0)),
          () =>
            this.tellReply(replies => replies.failed(n, 'store_away', 'The checkpoint could not be written')),
        )
        return
      case 'last':
        return this.reads.answered(n, this.last.of(control.environmentId), 0)
      case 'stats':
        return this.reads.answered(n, figuresOf(this), 0)
    }
  }

  /** A reply outside of any batch. */
  tellReply(write: (replies: Replies) => void): void {
    const replies = new Replies()
    write(replies)
    this.task.port.postMessage(replies.take())
  }

  private tellChecks(all = false): void {
    this.checks.report(Date.now(), all, checks => this.tell({ notice: 'checks', checks }))
  }

  private tell(notice: ShardNotice): void {
    this.task.port.postMessage(notice)
  }
}

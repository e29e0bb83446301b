// Shards of a cluster: those of this node in its threads, all others behind the nodes that own them. Callers
// see no difference. A shard's thread receives the requests of all nodes unchanged. Its replies are separated
// by node: the number of a request tells its node.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ShardNotice } from '../core/company/shard-request.js'
import { type Fact, isQuestion } from '../core/model/message.js'
import { PendingReplies } from '../entities/shards/pending-replies.js'
import { hearingOf, type Shard, Shards, type ShardsOptions, type Waiting } from '../entities/shards/shards.js'
import { ServiceError } from '../errors.js'
import {
  allFailed,
  decodeReplies,
  type Outgoing,
  type Packet,
  Replies,
  type ReplyHandler,
  unpack,
} from '../wire/message-codec.js'
import type { Port } from '../wire/port.js'
import type { ShardOptions } from '../wire/shard-options.js'
import { Changes } from '../wire/version-counters.js'
import { nodesMax } from './leases.js'
import type { Due, Guest, Peer } from './link.js'

/** How often a request is passed on when the shard has another owner by then. */
const triesMax = 2
/**
 * A request that was passed on may be begun so long, and no longer than a lease: a connection without a word for a
 * lease is given up, and its callers have heard 503.
 */
const passedOnMs = 10_000
/** How long a node that stops waits for the snapshots of a shard that it hands over, and then for the shard's last answers. */
const snapshotsMs = 2_000
const settleMs = 250
const tooLate = 'The request came too late to its node; try again'

interface ClusterShardsOptions extends Omit<ShardsOptions, 'shards'> {
  /** The slot of this node. It tells its requests from those of other nodes. */
  readonly slot: number
  readonly changes: SharedArrayBuffer
  /** Shards of the cluster. */
  readonly count: number
  readonly leaseMs: number
  /** Whether this node may answer from what it holds in memory. */
  readonly isAlive: () => boolean
  /** Why no write can become durable now; null: writes are taken. */
  readonly lack: () => string | null
  /** Sends facts to every node. Resolves when all have them. */
  readonly tell: (facts: readonly Fact[]) => Promise<void>
}

/** The port of a shard of another node. */
class RemotePort {
  constructor(
    private readonly index: number,
    readonly peer: Peer,
    private readonly leaseMs: number,
    private readonly refused: (cells: Packet) => void,
  ) {}

  postMessage(cells: unknown): void {
    const dueMs = performance.now() + Math.min(passedOnMs, this.leaseMs)
    if (!this.peer.post(this.index, cells as Packet, 0, dueMs)) this.refused(cells as Packet)
  }

  on(): this {
    return this
  }

  close(): void {}
}

export class ClusterShards extends Shards {
  /** Requests that were passed on to other nodes. */
  passedOn = 0
  private readonly owned = new Set<number>()
  /** Shards that are about to move. They take no new requests. */
  private readonly moving = new Set<number>()
  private readonly remote = new Map<number, RemotePort>()
  private readonly guests = new Map<number, Guest>()
  private readonly relays = new Map<number, Replies>()
  /** Facts being sent to every node, by shard. */
  private readonly telling = new Map<number, Set<Promise<void>>>()

  private constructor(
    private readonly cluster: ClusterShardsOptions,
    private readonly entries: ShardOptions[],
  ) {
    super({ ...cluster, shards: entries }, () => new PendingReplies<Waiting>(nodesMax, cluster.slot))
  }

  /** At first no shard is owned, and none has a place. */
  static open(options: ClusterShardsOptions): ClusterShards {
    const { count: length, changes } = options
    const entries = Array.from({ length }, (_, index) => ({ index, changes }))
    return new ClusterShards(options, entries as ShardOptions[])
  }

  override get areMany(): boolean {
    return true
  }

  protected override get here(): readonly Shard[] {
    return this.shards.filter(({ index }) => this.owned.has(index))
  }

  get ownedCount(): number {
    return this.owned.size
  }

  owns(index: number): boolean {
    return this.owned.has(index)
  }

  /** Shards without an owner, as far as this node knows. */
  get unplaced(): number {
    return this.shards.filter(({ ready }) => !ready).length
  }

  /**
   * Start a shard here. Resolves when it serves. Rejects when it did not start; it is not owned here then.
   */
  async own(index: number, options: ShardOptions): Promise<void> {
    const shard = this.shards[index]!
    this.leave(shard)
    this.entries[index] = options
    this.owned.add(index)
    shard.served = false
    shard.heard = Number.MAX_SAFE_INTEGER
    try {
      await this.launch(shard)
    } catch (error) {
      shard.starting = null
      this.owned.delete(index)
      throw error
    }
  }

  /** The mark of a shard of this node has changed. The next thread that opens the shard uses this mark. */
  marked(index: number, mark: string): void {
    const options = this.entries[index]!
    if (options.redis !== undefined) this.entries[index] = { ...options, redis: { ...options.redis, mark } }
  }

  /** Drop a shard without a message to its thread: another node owns it, or will. */
  async drop(index: number): Promise<void> {
    const shard = this.shards[index]!
    if (!this.owned.delete(index)) return
    new Changes(this.cluster.changes).close(index)
    shard.ready = false
    this.moving.delete(index)
    shard.starting?.reject(new ServiceError('starting', 'The shard moves; try again'))
    shard.starting = null
    const { thread } = shard
    void thread?.close()
    await thread?.ended.catch(() => {})
    if (this.owned.has(index)) return
    // a request that waits for the next owner is answered by it
    if (!this.remote.has(index)) this.refuseAll(shard.waiting.takeAll())
    this.mended(shard)
  }

  /**
   * Bring a shard to rest: snapshots are written while it serves, then every request is answered, and every fact is sent to
   * all nodes.
   *
   * leaving  its node stops: a step that takes long is not awaited. The next owner then finds the rest in the journal, as
   *          after a kill, and requests without an answer are refused as doubtful.
   */
  async rest(index: number, leaving: boolean): Promise<void> {
    const shard = this.shards[index]!
    const within = (ms: number, work: Promise<unknown>) => (leaving ? noLonger(ms, work) : work)
    await within(snapshotsMs, this.twoCheckpoints(shard))
    this.moving.add(index)
    new Changes(this.cluster.changes).close(index)
    await within(settleMs, this.control(shard, { type: 'settle' }))
    await Promise.allSettled(this.telling.get(index) ?? [])
  }

  /** The second begins the journal's tail where the first ended: facts before that place have been sent to all nodes. */
  private async twoCheckpoints(shard: Shard): Promise<void> {
    await this.control(shard, { type: 'checkpoint' })
    await Promise.allSettled(this.telling.get(shard.index) ?? [])
    await this.control(shard, { type: 'checkpoint' })
  }

  /** The shard did not move: take requests again. */
  stay(index: number): void {
    this.moving.delete(index)
    if (this.owned.has(index)) new Changes(this.cluster.changes).open(index)
  }

  /** Place a shard at another node; null: it has no owner. */
  place(index: number, peer: Peer | null): void {
    if (this.owned.has(index)) return
    const shard = this.shards[index]!
    if (peer !== null && this.remote.get(index)?.peer === peer) {
      shard.ready = peer.isUp
      return
    }
    this.leave(shard)
    if (peer === null) return
    const port = new RemotePort(index, peer, this.cluster.leaseMs, cells => this.refuse(index, cells))
    this.remote.set(index, port)
    shard.port = port as unknown as Port
    shard.ready = peer.isUp
  }

  /** The connection to a node is up. */
  up(peer: Peer): void {
    for (const [index, port] of this.remote) if (port.peer === peer) this.shards[index]!.ready = true
  }

  /** The connection to a node is down. Requests that were sent may have been done. */
  down(peer: Peer): void {
    for (const [index, port] of this.remote) {
      if (port.peer !== peer) continue
      const shard = this.shards[index]!
      shard.ready = false
      this.refuseAll(shard.waiting.takeAll())
    }
  }

  /** Replies from the owner of a shard. */
  replied(index: number, cells: Packet): void {
    const shard = this.shards[index]!
    decodeReplies(cells, hearingOf(shard))
    this.mended(shard)
  }

  /**
   * Ends the wait for a shard to be mended. Its owner tells only its own node when it is; another node finds the fate of a
   * key pair in Redis and in what it is told.
   */
  private mended(shard: Shard): void {
    shard.mending?.resolve()
    shard.mending = null
  }

  /**
   * The thread of a shard ended at its node, which may open the shard again: the connection stays, and so may the owner.
   * Requests that were sent there may have been done.
   */
  lost(index: number, from: Peer): void {
    if (this.remote.get(index)?.peer !== from) return
    const shard = this.shards[index]!
    this.refuseAll(shard.waiting.takeAll())
    this.mended(shard)
  }

  /** A node that received requests does not own the shard. They are sent to the owner, once more. */
  bounced(index: number, cells: Packet, tries: number, dueMs: number, from: Peer): void {
    const shard = this.shards[index]!
    if (performance.now() > dueMs) return this.refuse(index, cells, tooLate)
    const port = this.remote.get(index)
    if (
      tries < triesMax &&
      port !== undefined &&
      port.peer !== from &&
      port.peer.post(index, cells, tries + 1, dueMs)
    )
      return
    if (this.serves(shard)) return shard.port!.postMessage(cells)
    this.refuse(index, cells)
  }

  /** Requests of another node. They are refused, and nothing is done, when their deadline has passed. */
  receive(guest: Guest, index: number, cells: Packet, tries: number, due: Due): void {
    if (due.hasPassed) return guest.reply(index, lateReplies(cells))
    const shard = this.shards[index]
    if (shard === undefined || !this.serves(shard)) return guest.bounce(index, cells, tries, due)
    this.guests.set(guest.slot, guest)
    shard.port!.postMessage(cells)
  }

  /** A node's connection to this one ended. Replies to it are dropped. */
  left(guest: Guest): void {
    if (this.guests.get(guest.slot) === guest) this.guests.delete(guest.slot)
  }

  protected override enter(shard: Shard, request: Outgoing, waiting: Waiting, single = false): void {
    if (this.moving.has(shard.index) && !('control' in request))
      return waiting.reject(new ServiceError('starting', 'The shard moves; try again'))
    if (this.owned.has(shard.index) && !this.cluster.isAlive())
      return waiting.reject(new ServiceError('starting', 'Redis does not answer; try again'))
    const lack = this.cluster.lack()
    if (lack !== null && changes(request))
      return waiting.reject(new ServiceError('store_away', `${lack}; try again`))
    if (!this.owned.has(shard.index)) this.passedOn++
    super.enter(shard, request, waiting, single)
  }

  protected override again(): boolean {
    return true
  }

  /** Replies may be another node's. */
  protected override newRing(): null {
    return null
  }

  protected override revives(shard: Shard): boolean {
    return this.owned.has(shard.index)
  }

  protected override ended({ index }: Shard): void {
    for (const guest of this.guests.values()) guest.lost(index)
  }

  protected override heard(shard: Shard, replies: Packet, hearing: ReplyHandler): void {
    const { slot } = this.cluster
    const alive = this.cluster.isAlive()
    const to = (n: number): ReplyHandler => (n % nodesMax === slot ? hearing : this.relay(n % nodesMax))
    decodeReplies(replies, {
      answered: (n, reply, sequence) => {
        // A read may be out of date: another node may own the shard. A write was accepted, so it counts.
        if (alive || sequence > 0) to(n).answered(n, reply, sequence)
        else to(n).failed(n, 'starting', 'The shard moves; try again')
      },
      cacheable: (n, reply, untilMs, figures) => {
        if (alive) to(n).cacheable(n, reply, untilMs, figures)
        else to(n).failed(n, 'starting', 'The shard moves; try again')
      },
      refused: (n, refusal, detail) => to(n).refused(n, refusal, detail),
      failed: (n, reason, detail) => to(n).failed(n, reason, detail),
    })
    for (const [slot, relay] of this.relays)
      if (!relay.isEmpty) this.guests.get(slot)?.reply(shard.index, relay.take())
  }

  protected override durable(
    shard: Shard,
    { facts, replies }: Extract<ShardNotice, { readonly notice: 'durable' }>,
    hearing: ReplyHandler,
  ): void {
    const telling = this.cluster.tell(facts).then(
      () => {
        if (replies !== null) this.heard(shard, replies as Packet, hearing)
      },
      error => {
        this.cluster.log.warn({ err: error, shard: shard.index }, 'facts were not sent to other nodes')
        if (replies === null) return
        const failed = allFailed(replies as Packet, 'starting', 'Other nodes are not reached; try again')
        this.heard(shard, failed, hearing)
      },
    )
    const all = this.telling.get(shard.index) ?? new Set()
    this.telling.set(shard.index, all)
    all.add(telling)
    void telling.finally(() => all.delete(telling))
  }

  private serves({ index, ready }: Shard): boolean {
    return ready && this.owned.has(index) && !this.moving.has(index) && this.cluster.isAlive()
  }

  private relay(slot: number): Replies {
    let relay = this.relays.get(slot)
    if (relay === undefined) {
      relay = new Replies()
      this.relays.set(slot, relay)
    }
    return relay
  }

  /** The shard has no place from now on. Requests that wait for its former node are refused. */
  private leave(shard: Shard): void {
    this.remote.delete(shard.index)
    shard.ready = false
    shard.port = null
    shard.outbox.take()
    this.refuseAll(shard.waiting.takeAll())
  }

  /** Refuse requests that were not done, and will not be. */
  private refuse(index: number, cells: Packet, why = 'The shard moves; try again'): void {
    const { waiting } = this.shards[index]!
    unpack(cells, ({ n }) => {
      waiting.take(n)?.reject(new ServiceError('starting', why))
    })
  }
}

/** Resolves when the work ends, well or not, or the time is over. */
const noLonger = (ms: number, work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work.catch(() => {}), sleep(ms)])

/** The refusals of requests whose deadline has passed. */
function lateReplies(cells: Packet): Packet {
  const replies = new Replies()
  unpack(cells, ({ n }) => replies.failed(n, 'starting', tooLate))
  return replies.take()
}

/** Whether a request changes something, so that its answer waits for the journal. */
const changes = (request: Outgoing): boolean =>
  !('control' in request) && !('question' in request) && !('m' in request && isQuestion(request.m))

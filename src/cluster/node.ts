// One node of a cluster: the other nodes, the connections to them, and the shards that move.
//
//   join ─▶ be known to every node ─▶ read what stores and journals hold ─▶ serve ─▶ take shards, give shards
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Fact } from '../core/model/message.js'
import type { Spent } from '../core/values/bucket.js'
import { ServiceError } from '../errors.js'
import { limitConcurrency } from '../host/concurrency.js'
import { RedisClient } from '../redis/redis.js'
import type { Packet } from '../wire/message-codec.js'
import type { RedisAddress, ShardOptions } from '../wire/shard-options.js'
import type { SharedBudgets } from './budgets.js'
import type { ChangeReports } from './changes.js'
import { cutOff } from './cut-off.js'
import { Members, planOf, type View } from './leases.js'
import { Door, type Due, type Guest, Peer, type Visitor } from './link.js'
import type { OldWindow } from './old-window.js'
import type { PairClaims } from './pairs.js'
import type { ClusterProjections, Others } from './projections.js'
import { speech } from './protocol.js'
import { faultsOf, reachAll } from './reach.js'
import type { LinkSecurity } from './security.js'
import type { ClusterShards } from './shards.js'
import { FaultLog } from './tls-faults.js'

interface NodeSettings {
  readonly redis: RedisAddress
  readonly name: string | null
  readonly security: LinkSecurity
  /** The address where other nodes connect. */
  readonly listen: { readonly host: string; readonly port: number }
  /** The address published to other nodes; null: the one it listens at. */
  readonly announce: { readonly host: string; readonly port: number } | null
  readonly leaseMs: number
  /** Shards of the cluster. */
  readonly shards: number
}

/** The parts that handle requests of other nodes. */
interface NodeParts {
  readonly shards: ClusterShards
  readonly projections: ClusterProjections
  readonly pairs: PairClaims
  readonly budgets: SharedBudgets
  /** Counters raised here, for other nodes. */
  readonly changes: ChangeReports
  readonly oldWindow: OldWindow
  /** Applies facts to the memory of this thread. */
  readonly apply: (facts: readonly Fact[]) => void
  /** Options to start a shard with. Reads its positions from the stores. */
  readonly optionsOf: (shard: number, mark: string) => Promise<ShardOptions>
  /** Read again what has changed, by its name. */
  readonly reload: (what: string, given: unknown) => Promise<void>
}

const againMs = 50
/**
 * A shard that moves waits this long for its projections to end. A longer insert goes on meanwhile, and the next owner
 * finds out what it has done, as after a kill.
 */
const disownMs = 100
/** Shards that a node which stops hands over at once: as many as its threads write snapshots at once. */
const leavingAtOnce = 4
/** Pause before a shard that did not start is started again. */
const restartMs = 250
/** A node is reported to Redis as unreachable after this many leases. A dead one was removed by then. */
const unreachedLeases = 2

export class ClusterNode implements Others {
  private readonly peers = new Map<string, Peer>()
  private parts: NodeParts | null = null
  /** Facts that arrived before `begin`. */
  private early: Fact[] = []
  /** Shards that are being started or brought to rest. */
  private readonly busy = new Set<number>()
  private stopping = false
  private planned: Promise<void> | null = null
  private replan = false
  private readonly reaching: NodeJS.Timeout

  private constructor(
    readonly redis: RedisClient,
    private readonly settings: NodeSettings,
    private readonly log: Logger,
    readonly members: Members,
    private readonly door: Door,
    private readonly out: () => void,
    private readonly faults: FaultLog,
  ) {
    this.reaching = setInterval(() => this.reach(), settings.leaseMs / 4)
  }

  /**
   * Join the cluster. Resolves when every other node knows this one.
   *
   * out      called when this node was removed: it must not answer any more.
   * errors   those of Redis, of the address to listen at, and of a cluster that is full.
   */
  static async join(settings: NodeSettings, log: Logger, out: () => void): Promise<ClusterNode> {
    let told = 0
    const redis = await RedisClient.open(settings.redis, error => {
      if (told++ % 40 === 0) log.warn({ err: error }, 'Redis does not answer')
    })
    let node: ClusterNode | null = null
    const faults = faultsOf(log)
    await reachAll(redis, settings.security, log, faults)
    const refused = new FaultLog((peer, reason) => log.warn({ peer, reason }, 'refused another node'))
    const door = await Door.listen(settings.listen, settings.security, settings.leaseMs, {
      cells: (guest, shard, cells, tries, due) => node?.cells(guest, shard, cells, tries, due),
      call: (guest, name, given) => {
        if (node === null) throw new ServiceError('starting')
        return node.answer(guest, name, given)
      },
      left: guest => node?.parts?.shards.left(guest),
      refused: (address, reason) => refused.tell(address, reason),
    })
    const where = settings.announce ?? { host: settings.listen.host, port: door.port }
    const name = settings.name ?? `${where.host}:${where.port}`
    const about = { name, ...where, sinceMs: Date.now(), ...speech }
    const id = `${name.replace(/[^\w.:-]/g, '-')}~${randomBytes(6).toString('base64url')}`
    const members = await Members.join(redis, id, about, settings.leaseMs, settings.shards)
    node = new ClusterNode(redis, settings, log, members, door, out, faults)
    members.on('out', out)
    members.on('changed', view => node!.changed(view))
    node.changed(members.now)
    await node.greet()
    log.info({ node: name, host: hostname(), nodes: members.now.nodes.size }, 'joined the cluster')
    return node
  }

  get id(): string {
    return this.members.id
  }

  get name(): string {
    return this.members.now.nodes.get(this.id)?.name ?? this.id
  }

  /** Sets the parts to work with, and applies the facts that arrived before. */
  begin(parts: NodeParts): void {
    this.parts = parts
    parts.projections.with(this)
    const { early } = this
    this.early = []
    parts.apply(early)
  }

  /** Own shards from now on. Resolves when every shard is served. */
  async serve(): Promise<void> {
    await this.members.become('serving')
    this.changed(this.members.now)
    await this.whole(60_000)
  }

  /** The connections to all other nodes. */
  get others(): Iterable<Peer> {
    return this.peers.values()
  }

  /** Whether the tasks that run once in the cluster run here. */
  get isFirst(): boolean {
    return this.members.isAlive && this.parts?.shards.owns(0) === true
  }

  /** Faults of the cluster, in words. */
  degraded(): string[] {
    const found: string[] = []
    if (!this.redis.answers) found.push('Redis')
    const unserved = this.parts?.shards.unplaced ?? this.settings.shards
    if (unserved > 0) found.push(`${unserved} shards are not served`)
    for (const [id, { name }] of this.members.now.nodes)
      if (id !== this.id && this.peers.get(id)?.isUp !== true) found.push(`node ${name} is not reached`)
    return found
  }

  /** Figures for the metrics. */
  figures() {
    const { members, parts } = this
    return {
      node: this.name,
      shards: parts?.shards.ownedCount ?? 0,
      allShards: this.settings.shards,
      passedOn: parts?.shards.passedOn ?? 0,
      epochChanges: members.epochChanges,
      leaseSeconds: members.leaseLeftMs / 1_000,
      redisSeconds: members.takeLooks(),
    }
  }

  get isReady(): boolean {
    const { parts } = this
    return parts !== null && this.members.isAlive && parts.shards.degraded.length === 0
  }

  /** Hand every shard to other nodes. This node still passes requests on. */
  async drain(timeoutMs: number): Promise<void> {
    this.takeNoMore()
    await this.giveAll(timeoutMs)
  }

  private async giveAll(timeoutMs: number): Promise<void> {
    await this.members.become('draining')
    const untilMs = performance.now() + timeoutMs
    while (this.ownsAny && this.hasOthers && this.members.isAlive && performance.now() < untilMs) {
      this.plan()
      await sleep(againMs)
    }
  }

  /** Take and open no more shards: this node is about to stop. */
  takeNoMore(): void {
    this.stopping = true
  }

  async close(): Promise<void> {
    this.takeNoMore()
    clearInterval(this.reaching)
    await this.planned
    await this.members.leave().catch(() => this.members.stop())
    for (const peer of this.peers.values()) peer.close()
    await this.door.close()
    await this.redis.close()
  }

  // ── others ───────────────────────────────────────────────────────────────────────────────────

  owns(shard: number): boolean {
    return this.parts!.shards.owns(shard)
  }

  async askOwner(shard: number, name: string, given: unknown): Promise<unknown> {
    const owner = this.members.now.owners[shard]!.node
    if (owner === this.id) return this.answer({ node: this.id, slot: this.members.slot }, name, given)
    const peer = this.peers.get(owner)
    if (peer === undefined) throw new ServiceError('starting', 'The shard moves; try again')
    return peer.call(name, given)
  }

  /**
   * Call every other node. Resolves when all current nodes have answered. A node that was suspended may know
   * old nodes only: it looks again before it trusts that it called all of them.
   */
  async askAll(name: string, given: unknown): Promise<unknown> {
    const asked = new Set<string>()
    for (;;) {
      const more = [...this.peers.keys()].filter(id => !asked.has(id))
      for (const id of more) asked.add(id)
      await Promise.all(more.map(id => this.surely(id, name, given)))
      if (this.members.isAlive && [...this.peers.keys()].every(id => asked.has(id))) return null
      if (this.members.isOver) throw new ServiceError('starting', 'This node left; try again')
      await this.members.tick()
      if (!this.members.isAlive) await sleep(againMs)
    }
  }

  async whole(timeoutMs: number): Promise<void> {
    const untilMs = performance.now() + timeoutMs
    while (this.parts!.shards.unplaced > 0) {
      if (performance.now() > untilMs || (this.stopping && !this.hasOthers))
        throw new ServiceError('starting', 'Some shards are not served; try again')
      await sleep(againMs / 5)
    }
  }

  /** Send facts to every node, this one first. Resolves when all live nodes have them. */
  readonly tell = async (facts: readonly Fact[]): Promise<void> => {
    this.parts!.apply(facts)
    const freed = this.parts!.pairs.free(facts).catch(error => {
      this.log.warn({ err: error }, 'freed key pairs stay claimed for some minutes')
    })
    for (;;)
      try {
        await Promise.all([freed, this.askAll('facts', facts)])
        return
      } catch (error) {
        if (this.members.isOver) throw error
        this.log.warn({ err: error }, 'facts are sent to other nodes again')
        await sleep(restartMs)
      }
  }

  /** Have every other node read something again. Resolves when all live nodes have done so. */
  async changedHere(what: string, given: unknown = null): Promise<void> {
    await this.askAll('reload', [what, given])
  }

  /** Call a node until it answers or has left. A node that comes back reads everything. */
  private async surely(id: string, name: string, given: unknown): Promise<void> {
    while (this.members.now.nodes.has(id) && !this.members.isOver) {
      try {
        const peer = this.peers.get(id)
        if (peer === undefined) return
        await peer.call(name, given)
        return
      } catch (error) {
        if (error instanceof ServiceError && error.code !== 'starting') throw error
        await sleep(againMs)
      }
    }
  }

  private async answer(guest: Visitor, name: string, given: unknown): Promise<unknown> {
    if (name === 'hello') {
      // The caller receives every change from now on.
      await this.members.tick()
      while (!this.members.now.nodes.has(guest.node)) await this.members.tick()
      return this.id
    }
    if (name === 'look') return this.members.lookAgain()
    if (name === 'facts') {
      if (this.parts === null) for (const fact of given as readonly Fact[]) this.early.push(fact)
      else this.parts.apply(given as readonly Fact[])
      return null
    }
    const { parts } = this
    if (parts === null) {
      // This node has read nothing yet.
      if (['reload', 'oldKeys', 'barrier', 'seenBarrier', 'spent'].includes(name)) return null
      throw new ServiceError('starting')
    }
    switch (name) {
      case 'reached': {
        const [store, shard, sequence, timeoutMs] = given as Parameters<ClusterProjections['reached']>
        if (!this.owns(shard)) throw new ServiceError('starting', 'The shard moves; try again')
        return parts.projections.reached(store, shard, sequence, timeoutMs)
      }
      case 'barrier':
        return parts.projections.ownBarrier(...(given as Parameters<ClusterProjections['ownBarrier']>))
      case 'seenBarrier':
        return parts.projections.ownSeenBarrier((given as [number])[0])
      case 'changes':
        return parts.changes.next(guest.node, given as number)
      case 'spent':
        parts.budgets.take(given as readonly Spent[])
        return null
      case 'lags':
        return parts.projections.ownLags().map(lag => ({ ...lag, moves: this.busy.has(lag.shard) }))
      case 'oldKeys':
        return parts.oldWindow.load()
      case 'oldWindow':
        return parts.oldWindow.figures
      case 'drain': {
        if (!this.hasOthers) throw new ServiceError('state_conflict', 'no other node serves')
        void this.giveAll(Number.POSITIVE_INFINITY)
        return null
      }
      case 'reload':
        return parts.reload(...(given as [what: string, more: unknown]))
      default:
        throw new ServiceError('internal', `there is no call ${name}`)
    }
  }

  private cells(guest: Guest, shard: number, cells: Packet, tries: number, due: Due): void {
    if (this.parts === null) guest.bounce(shard, cells, tries, due)
    else this.parts.shards.receive(guest, shard, cells, tries, due)
  }

  private async greet(): Promise<void> {
    await Promise.all([...this.peers.keys()].map(id => this.surely(id, 'hello', null)))
  }

  private get ownsAny(): boolean {
    return this.members.now.owners.some(({ node }) => node === this.id)
  }

  private get hasOthers(): boolean {
    return [...this.members.now.nodes].some(([id, { state }]) => id !== this.id && state === 'serving')
  }

  /** Publish the nodes that this one cannot reach. The node that is cut off leaves and is restarted. */
  private reach(): void {
    const { members } = this
    if (!members.isAlive) return
    const unreached = [...this.peers].filter(([, peer]) =>
      peer.isLost(this.settings.leaseMs * unreachedLeases),
    )
    members.misses(unreached.map(([id]) => id).sort())
    if (!cutOff(members.now.nodes).has(this.id)) return
    this.log.error('this node and another do not reach each other')
    // Other nodes then need not wait for the lease to end.
    void members.leave().then(this.out, this.out)
  }

  // ── owners of shards ─────────────────────────────────────────────────────────────────────────

  private changed(view: View): void {
    for (const [id, { host, port }] of view.nodes)
      if (id !== this.id && !this.peers.has(id)) this.meet(id, { host, port })
    for (const [id, peer] of this.peers)
      if (!view.nodes.has(id)) {
        peer.close()
        this.peers.delete(id)
        this.door.expel(id)
      }
    const { parts } = this
    if (parts === null) return
    for (const [shard, { node, mark }] of view.owners.entries()) {
      if (node === this.id) this.open(shard, mark)
      else {
        if (parts.shards.owns(shard) && !this.busy.has(shard)) void this.lose(shard)
        parts.shards.place(shard, this.peers.get(node) ?? null)
      }
    }
    this.plan()
  }

  private meet(id: string, where: { readonly host: string; readonly port: number }): void {
    const self = { node: this.id, slot: this.members.slot }
    const { security, leaseMs } = this.settings
    const peer: Peer = new Peer(id, where, self, security, leaseMs, {
      replies: (shard, cells) => this.parts?.shards.replied(shard, cells),
      bounced: (shard, cells, tries, dueMs) => {
        void this.members.tick()
        this.parts?.shards.bounced(shard, cells, tries, dueMs, peer)
      },
      lost: shard => this.parts?.shards.lost(shard, peer),
      up: () => this.parts?.shards.up(peer),
      down: () => this.parts?.shards.down(peer),
      refused: reason => this.faults.tell(this.members.now.nodes.get(id)?.name ?? id, reason),
    })
    this.peers.set(id, peer)
  }

  /** Start a shard of this node. Retries until it serves or has another owner. */
  private open(shard: number, mark: string): void {
    const { shards, projections, optionsOf } = this.parts!
    if (shards.owns(shard)) shards.marked(shard, mark)
    if (shards.owns(shard) || this.busy.has(shard) || this.stopping) return
    this.busy.add(shard)
    const run = async (): Promise<void> => {
      try {
        await shards.own(shard, await optionsOf(shard, mark))
        projections.own(shard)
      } catch (error) {
        this.log.warn({ err: error, shard }, 'a shard did not start')
        await sleep(restartMs)
      }
      this.busy.delete(shard)
      this.changed(this.members.now)
    }
    void run()
  }

  /** A shard of this node has another owner now. */
  private async lose(shard: number): Promise<void> {
    this.busy.add(shard)
    void this.parts!.projections.disown(shard)
    await this.parts!.shards.drop(shard)
    this.busy.delete(shard)
    this.changed(this.members.now)
  }

  /** Take shards without owner, give surplus shards; one plan at a time. */
  private plan(): void {
    if (this.planned !== null) {
      this.replan = true
      return
    }
    this.planned = this.act().finally(() => {
      this.planned = null
      if (this.replan) {
        this.replan = false
        this.plan()
      }
    })
  }

  private async act(): Promise<void> {
    const { take, give } = planOf(this.members.now, this.id)
    try {
      if (!this.stopping) await Promise.all(take.map(shard => this.members.take(shard)))
      if (take.length > 0) this.tellMoved()
      const inTurn = limitConcurrency(this.stopping ? leavingAtOnce : 1)
      await Promise.all(give.map(([shard, to]) => inTurn(() => this.give(shard, to))))
    } catch (error) {
      this.log.warn({ err: error }, 'shards are not placed: Redis failed')
      await sleep(restartMs)
      this.replan = !this.stopping && !this.members.isOver // nothing else may ask for it
    }
  }

  /** Have other nodes look at the owners sooner than they would by themselves. */
  private tellMoved(): void {
    for (const peer of this.peers.values()) peer.call('look', null).catch(() => {})
  }

  private async give(shard: number, to: string): Promise<void> {
    const { shards, projections } = this.parts!
    if (this.busy.has(shard) || !shards.owns(shard) || to === '') return
    this.busy.add(shard)
    try {
      await shards.rest(shard, this.stopping)
      const left = Promise.race([projections.disown(shard), sleep(disownMs)])
      const ended = shards.drop(shard)
      // writes of a thread whose shard has its next owner are refused
      await Promise.all([this.stopping ? Promise.race([ended, sleep(disownMs)]) : ended, left])
      await this.members.give(shard, this.members.now.owners[shard]!.mark, to)
      this.tellMoved()
    } catch (error) {
      this.log.warn({ err: error, shard }, 'a shard was not handed over')
      shards.stay(shard)
    }
    this.busy.delete(shard)
    this.changed(this.members.now)
  }
}

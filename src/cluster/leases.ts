// The nodes of the cluster and the owner of each shard, as Redis keeps them. A node lives as long as it
// renews its lease. Any node that finds an expired lease removes its node; only then are the shards of that
// node free. A node's own view ends with its lease, by its own monotonic clock: however late it wakes, it
// knows that it may have been replaced.
import { EventEmitter } from 'node:events'
import type { RedisClient } from '../redis/redis.js'

/**
 * Shards of a new cluster, unless its first start says otherwise: each has a journal, its projections and a checkpoint of its
 * own, so few cost less; so many nodes own some. 2, 3, 4 and 6 nodes have equal shares.
 */
export const clusterShards = 12
/** Nodes at once. */
export const nodesMax = 64
/** Part of a lease: a node stops answering so long before it may be removed. */
const margin = 0.1
/** After a break of Redis other nodes have this many leases to renew theirs. */
const graceLeases = 2
/** Most durations of looks that are kept until they are collected. */
const looksMax = 1_000

/** The entry that a node writes about itself. */
export interface NodeInfo {
  /** The name that the operator gave. The id is new at every start. */
  readonly name: string
  /** The address where other nodes connect. */
  readonly host: string
  readonly port: number
  readonly sinceMs: number
  /** Version of what nodes say to each other; absent: of a build before it was noted. */
  readonly version?: number
  /** The oldest version that it works beside; absent: its own. */
  readonly oldest?: number
  /** `loading`: owns no shards yet. `draining`: is to own none any more. */
  readonly state: 'loading' | 'serving' | 'draining'
  /** Ids of nodes that it cannot reach. */
  readonly unreached?: readonly string[]
}

export interface Owner {
  readonly epoch: number
  /** '' when the shard has no owner. */
  readonly node: string
  readonly mark: string
}

export interface View {
  readonly nodes: ReadonlyMap<string, NodeInfo>
  readonly owners: readonly Owner[]
}

/** The answer of the script `look`. */
type Seen = readonly [changes: string, nodes: readonly string[], shards: readonly string[]]

const nobody: Owner = { epoch: 0, node: '', mark: '' }

interface Events {
  /** Nodes or owners have changed. */
  readonly changed: [view: View]
  /** This node was removed from the cluster. */
  readonly out: []
}

export class Members extends EventEmitter<Events> {
  private view: View
  private changes = ''
  private leaseUntilMs = 0
  /** Since when Redis answers without a break, of the monotonic clock; null: the last look failed. */
  private answersSinceMs: number | null = Number.NEGATIVE_INFINITY
  /** When the first lease of another node ends unless it is renewed, of the monotonic clock. */
  private firstEndMs = Number.POSITIVE_INFINITY
  private timer: NodeJS.Timeout | null = null
  private ticking: Promise<void> | null = null
  /** How far the epochs of all shards rose since this node joined. */
  epochChanges = 0
  /** Durations of looks since they were last collected, seconds. */
  private looks: number[] = []
  private stopped = false
  private info: NodeInfo
  private told: string

  private constructor(
    private readonly redis: RedisClient,
    readonly id: string,
    /** Its number among the nodes, which no other node has meanwhile. */
    readonly slot: number,
    info: NodeInfo,
    private readonly leaseMs: number,
    private readonly shards: number,
  ) {
    super()
    this.view = viewOf([], [], shards)
    this.info = info
    this.told = JSON.stringify(info)
  }

  /**
   * Join as a node.
   *
   * shards  of the cluster.
   * errors  Error when the cluster is full; those of Redis.
   */
  static async join(
    redis: RedisClient,
    id: string,
    about: Omit<NodeInfo, 'state'>,
    leaseMs: number,
    shards = clusterShards,
  ): Promise<Members> {
    const beganMs = performance.now()
    // Others may look at once and connect to this address.
    const info: NodeInfo = { ...about, state: 'loading' }
    const slot = await redis.run<number>('join', id, JSON.stringify(info), leaseMs, nodesMax)
    if (slot < 0) throw new Error(`there are ${nodesMax} nodes already`)
    const members = new Members(redis, id, slot, info, leaseMs, shards)
    members.leaseUntilMs = beganMs + leaseMs
    await members.tick()
    members.next()
    return members
  }

  get now(): View {
    return this.view
  }

  get state(): NodeInfo['state'] {
    return this.info.state
  }

  /** Whether this node may answer from what it holds in memory: its lease has not run out. */
  get isAlive(): boolean {
    return !this.stopped && performance.now() < this.leaseUntilMs - this.leaseMs * margin
  }

  /** Whether this node left or was removed. */
  get isOver(): boolean {
    return this.stopped
  }

  /** Publish another state of this node. */
  async become(state: NodeInfo['state']): Promise<void> {
    this.info = { ...this.info, state }
    await this.lookAgain()
  }

  /** How long the lease lasts unless it is renewed, ms; 0: it has ended. */
  get leaseLeftMs(): number {
    return this.stopped ? 0 : Math.max(0, this.leaseUntilMs - performance.now())
  }

  /** Returns the durations of looks at Redis since the last call, seconds. */
  takeLooks(): readonly number[] {
    const { looks } = this
    this.looks = []
    return looks
  }

  /** Every node with the number of its shards. `self`: the name of this one. */
  seen(self: string): { readonly node: string; readonly shards: number; readonly isSelf: boolean }[] {
    const { nodes, owners } = this.view
    return [...nodes].map(([id, { name }]) => ({
      node: name,
      shards: owners.filter(({ node }) => node === id).length,
      isSelf: name === self,
    }))
  }

  /** Publish, from the next look on, the nodes that this one cannot reach. */
  misses(unreached: readonly string[]): void {
    this.info = { ...this.info, unreached }
  }

  /** The view of a process that is no node, with the time left of each lease, ms (0: it has ended). */
  static async look(redis: RedisClient): Promise<View & { readonly leases: ReadonlyMap<string, number> }> {
    const [, nodes, shards] = await redis.run<Seen>('look')
    const leases = new Map<string, number>()
    for (let i = 0; i < nodes.length; i += 3) leases.set(nodes[i]!, Number(nodes[i + 2]))
    return { ...viewOf(nodes, shards, shards.length / 2), leases }
  }

  /** Take a shard that has no owner. Returns its mark; '' when another node was quicker. */
  async take(shard: number): Promise<string> {
    const mark = await this.redis.run<string>('take', this.id, shard)
    await this.lookAgain()
    return mark
  }

  /** Give a shard to a node, or to no node (''). */
  async give(shard: number, mark: string, to: string): Promise<void> {
    await this.redis.run('give', shard, mark, to)
    await this.lookAgain()
  }

  /** Look now, or join the look under way. */
  tick(): Promise<void> {
    this.ticking ??= this.look().finally(() => {
      this.ticking = null
    })
    return this.ticking
  }

  /** Read the state as of now: a look under way may have been answered before. */
  async lookAgain(): Promise<void> {
    await this.ticking
    await this.tick()
  }

  /** Leave. The shards of this node have no owner from now on. */
  async leave(): Promise<void> {
    this.stop()
    await this.redis.run('leave', this.id, '1')
  }

  stop(): void {
    this.stopped = true
    if (this.timer !== null) clearTimeout(this.timer)
  }

  /** Look ten times per lease, and at once when the lease of another node has ended. */
  private next(): void {
    const endsInMs = Math.max(1, this.firstEndMs - performance.now())
    this.timer = setTimeout(
      () => {
        void this.tick().finally(() => {
          if (!this.stopped) this.next()
        })
      },
      Math.min(this.leaseMs / 10, endsInMs),
    )
  }

  private async look(): Promise<void> {
    const beganMs = performance.now()
    const text = JSON.stringify(this.info)
    try {
      const [renewed, seen] = await Promise.all([
        this.redis.run<number>('renew', this.id, this.leaseMs, text === this.told ? '' : text),
        this.redis.run<Seen>('look'),
      ])
      if (this.looks.length < looksMax) this.looks.push((performance.now() - beganMs) / 1_000)
      if (renewed !== 1) {
        if (!this.stopped) {
          this.stop()
          this.emit('out')
        }
        return
      }
      this.told = text
      const nowMs = performance.now()
      const isLate = nowMs - beganMs > this.leaseMs / 2 || beganMs > this.leaseUntilMs
      if (this.answersSinceMs === null || isLate) this.answersSinceMs = nowMs
      this.leaseUntilMs = beganMs + this.leaseMs
      await this.see(seen)
    } catch {
      // The next tick tries again. Without an answer the lease runs out.
      this.answersSinceMs = null
    }
  }

  private async see([changes, nodes, shards]: Seen): Promise<void> {
    const lost: string[] = []
    const nowMs = performance.now()
    // Before, the break of Redis alone may have ended the lease, or this is a Redis where it was not renewed.
    const sinceMs = Math.max(this.answersSinceMs ?? nowMs, this.redis.reconnectedMs)
    const isSure = nowMs - sinceMs >= this.leaseMs * graceLeases
    this.firstEndMs = Number.POSITIVE_INFINITY
    for (let i = 0; i < nodes.length; i += 3) {
      if (nodes[i] === this.id) continue
      const leftMs = Number(nodes[i + 2])
      if (leftMs > 0) this.firstEndMs = Math.min(this.firstEndMs, nowMs + leftMs + 1)
      else if (isSure) lost.push(nodes[i]!)
    }
    if (lost.length > 0) {
      await Promise.all(lost.map(node => this.redis.run('leave', node, '')))
      return this.see(await this.redis.run<Seen>('look'))
    }
    if (changes === this.changes) return
    this.changes = changes
    const before = this.view
    this.view = viewOf(nodes, shards, this.shards)
    for (const [shard, { epoch }] of this.view.owners.entries())
      if (before.owners[shard]!.epoch > 0) this.epochChanges += epoch - before.owners[shard]!.epoch
    this.emit('changed', this.view)
  }
}

function viewOf(nodes: readonly string[], shards: readonly string[], count: number): View {
  const known = new Map<string, NodeInfo>()
  for (let i = 0; i < nodes.length; i += 3) known.set(nodes[i]!, JSON.parse(nodes[i + 1]!) as NodeInfo)
  const owners = Array.from({ length: count }, () => nobody)
  for (let i = 0; i < shards.length; i += 2) owners[Number(shards[i])] = ownerOf(shards[i + 1]!)
  return { nodes: known, owners }
}

function ownerOf(mark: string): Owner {
  const at = mark.indexOf(':')
  return { epoch: Number(mark.slice(0, at)), node: mark.slice(at + 1), mark }
}

/**
 * Plans the next moves of a node's shards. Each node gets an equal share; a draining node hands over all it
 * has.
 *
 * returns  shards to take, and shards to give, each with its next owner ('' when there is none).
 */
export function planOf(
  { nodes, owners }: View,
  self: string,
): { readonly take: readonly number[]; readonly give: readonly (readonly [shard: number, to: string])[] } {
  const serving = [...nodes].filter(([, { state }]) => state === 'serving').map(([id]) => id)
  const counts = new Map(serving.map(id => [id, 0]))
  for (const { node } of owners) if (counts.has(node)) counts.set(node, counts.get(node)! + 1)
  const mine = owners.flatMap(({ node }, shard) => (node === self ? [shard] : []))
  const share = serving.length === 0 ? 0 : Math.ceil(owners.length / serving.length)
  const least = serving.length === 0 ? 0 : Math.floor(owners.length / serving.length)
  const give: (readonly [number, string])[] = []
  const serves = counts.has(self)
  // The first shard stays where it is: the tasks that run once in the cluster run beside it.
  for (const shard of mine.toReversed()) {
    const own = counts.get(self) ?? 0
    const [to, has] = [...counts]
      .filter(([id]) => id !== self)
      .reduce<readonly [string, number]>((a, b) => (b[1] < a[1] ? b : a), ['', Number.POSITIVE_INFINITY])
    if (serves && (own <= least || own - has < 2)) break
    give.push([shard, to])
    if (to !== '') counts.set(to, has + 1)
    if (serves) counts.set(self, own - 1)
  }
  const room = serves ? share - counts.get(self)! : 0
  const free = owners.flatMap(({ node }, shard) => (node === '' ? [shard] : []))
  // Each node begins at another shard, so that two nodes do not take the same ones.
  const from = Math.floor((free.length * serving.toSorted().indexOf(self)) / serving.length)
  const turned = [...free.slice(from), ...free.slice(0, from)]
  return { take: room > 0 && give.length === 0 ? turned.slice(0, room) : [], give }
}

// Who the nodes are, and which of them owns which shard, as Redis keeps it. A node lives as long as it renews its lease;
// whoever finds one without puts it out, and only then are its shards free. What a node believes of itself ends with its
// lease, by its own monotonic clock: however late it wakes, it knows that it may have been replaced.
import { EventEmitter } from 'node:events'
import type { RedisClient } from '../redis/redis.js'

/** Shards of a cluster: each has a journal, its projections and a checkpoint of its own. */
export const clusterShards = 32
/** Nodes at once. */
export const nodesMax = 64
/** Of a lease: a node stops answering so much before it may be put out. */
const margin = 0.1
/** Times of looks that are kept until they are asked for. */
const looksMax = 1_000

/** What a node says of itself. */
export interface NodeInfo {
  /** As its operator calls it; the id is of one start. */
  readonly name: string
  /** Where other nodes ask it. */
  readonly host: string
  readonly port: number
  readonly sinceMs: number
  readonly slot: number
  /** It owns no shards yet, or is to own none any more. */
  readonly state: 'loading' | 'serving' | 'draining'
  /** Ids of nodes that it does not reach. */
  readonly unreached?: readonly string[]
}

export interface Owner {
  readonly epoch: number
  /** '' for nobody. */
  readonly node: string
  readonly mark: string
}

export interface View {
  readonly nodes: ReadonlyMap<string, NodeInfo>
  readonly owners: readonly Owner[]
}

/** An answer of the script `look`. */
type Seen = readonly [changes: string, nodes: readonly string[], shards: readonly string[]]

const nobody: Owner = { epoch: 0, node: '', mark: '' }

interface Events {
  /** Nodes or owners are others than before. */
  readonly changed: [view: View]
  /** This node is none any more. */
  readonly out: []
}

export class Members extends EventEmitter<Events> {
  private view: View = { nodes: new Map(), owners: Array.from({ length: clusterShards }, () => nobody) }
  private changes = ''
  private leaseUntilMs = 0
  /** Redis was away until then: others may have lost their leases for that alone. */
  private lenientUntilMs = 0
  /** When the first lease of another ends unless it is renewed, of the monotonic clock. */
  private firstEndMs = Number.POSITIVE_INFINITY
  private timer: NodeJS.Timeout | null = null
  private ticking: Promise<void> | null = null
  /** By how much the epochs of all shards rose since this node came. */
  epochChanges = 0
  /** Seconds that looks took, since they were last asked for. */
  private looks: number[] = []
  private stopped = false
  private info: NodeInfo
  private told: string

  private constructor(
    private readonly redis: RedisClient,
    readonly id: string,
    info: NodeInfo,
    private readonly leaseMs: number,
  ) {
    super()
    this.info = info
    this.told = JSON.stringify(info)
  }

  /**
   * Become a node.
   *
   * errors  Error when there are as many as there may be; those of Redis.
   */
  static async join(
    redis: RedisClient,
    id: string,
    about: Omit<NodeInfo, 'slot' | 'state'>,
    leaseMs: number,
  ): Promise<Members> {
    const beganMs = performance.now()
    const slot = await redis.run<number>('join', id, '{}', leaseMs, nodesMax)
    if (slot < 0) throw new Error(`there are ${nodesMax} nodes already`)
    const members = new Members(redis, id, { ...about, slot, state: 'loading' }, leaseMs)
    members.leaseUntilMs = beganMs + leaseMs
    members.told = ''
    await members.tick()
    members.next()
    return members
  }

  get slot(): number {
    return this.info.slot
  }

  get now(): View {
    return this.view
  }

  get state(): NodeInfo['state'] {
    return this.info.state
  }

  /** Whether this node may answer for what it holds in memory: its lease has not run out. */
  get isAlive(): boolean {
    return !this.stopped && performance.now() < this.leaseUntilMs - this.leaseMs * margin
  }

  /** Whether this node left, or was put out. */
  get isOver(): boolean {
    return this.stopped
  }

  /** Say something else of this node from now on. */
  async become(state: NodeInfo['state']): Promise<void> {
    this.info = { ...this.info, state }
    await this.lookAgain()
  }

  /** How long the lease holds unless it is renewed, ms; 0: it has ended. */
  get leaseLeftMs(): number {
    return this.stopped ? 0 : Math.max(0, this.leaseUntilMs - performance.now())
  }

  /** Seconds that each look at Redis took since this was last asked. */
  takeLooks(): readonly number[] {
    const { looks } = this
    this.looks = []
    return looks
  }

  /** Say from the next look on whom this node does not reach. */
  misses(unreached: readonly string[]): void {
    this.info = { ...this.info, unreached }
  }

  /** What Redis says, for one that is no node: also how long each lease holds, ms (0: it has ended). */
  static async look(redis: RedisClient): Promise<View & { readonly leases: ReadonlyMap<string, number> }> {
    const [, nodes, shards] = await redis.run<Seen>('look')
    const leases = new Map<string, number>()
    for (let i = 0; i < nodes.length; i += 3) leases.set(nodes[i]!, Number(nodes[i + 2]))
    return { ...viewOf(nodes, shards), leases }
  }

  /** Take a shard that is nobody's. Returns its mark; '' when another was quicker. */
  async take(shard: number): Promise<string> {
    const mark = await this.redis.run<string>('take', this.id, shard)
    await this.lookAgain()
    return mark
  }

  /** Give a shard to a node, or to nobody (''). */
  async give(shard: number, mark: string, to: string): Promise<void> {
    await this.redis.run('give', shard, mark, to)
    await this.lookAgain()
  }

  /** Look now. */
  tick(): Promise<void> {
    this.ticking ??= this.look().finally(() => {
      this.ticking = null
    })
    return this.ticking
  }

  /** See what holds after now: a look under way may have been answered before. */
  async lookAgain(): Promise<void> {
    await this.ticking
    await this.tick()
  }

  /** Leave: its shards are nobody's from now on. */
  async leave(): Promise<void> {
    this.stop()
    await this.redis.run('leave', this.id, '1')
  }

  stop(): void {
    this.stopped = true
    if (this.timer !== null) clearTimeout(this.timer)
  }

  /** Look ten times in a lease, and at once when another's has ended. */
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
      const gapMs = beganMs - this.leaseUntilMs
      if (gapMs > 0) this.lenientUntilMs = performance.now() + this.leaseMs
      this.leaseUntilMs = beganMs + this.leaseMs
      await this.see(seen)
    } catch {
      // the next tick asks again; without an answer the lease runs out
    }
  }

  private async see([changes, nodes, shards]: Seen): Promise<void> {
    const lost: string[] = []
    const nowMs = performance.now()
    this.firstEndMs = Number.POSITIVE_INFINITY
    for (let i = 0; i < nodes.length; i += 3) {
      if (nodes[i] === this.id) continue
      const leftMs = Number(nodes[i + 2])
      if (leftMs > 0) this.firstEndMs = Math.min(this.firstEndMs, nowMs + leftMs + 1)
      else if (nowMs >= this.lenientUntilMs) lost.push(nodes[i]!)
    }
    if (lost.length > 0) {
      await Promise.all(lost.map(node => this.redis.run('leave', node, '')))
      return this.see(await this.redis.run<Seen>('look'))
    }
    if (changes === this.changes) return
    this.changes = changes
    const before = this.view
    this.view = viewOf(nodes, shards)
    for (const [shard, { epoch }] of this.view.owners.entries())
      if (before.owners[shard]!.epoch > 0) this.epochChanges += epoch - before.owners[shard]!.epoch
    this.emit('changed', this.view)
  }
}

function viewOf(nodes: readonly string[], shards: readonly string[]): View {
  const known = new Map<string, NodeInfo>()
  for (let i = 0; i < nodes.length; i += 3) known.set(nodes[i]!, JSON.parse(nodes[i + 1]!) as NodeInfo)
  const owners = Array.from({ length: clusterShards }, () => nobody)
  for (let i = 0; i < shards.length; i += 2) owners[Number(shards[i])] = ownerOf(shards[i + 1]!)
  return { nodes: known, owners }
}

function ownerOf(mark: string): Owner {
  const at = mark.indexOf(':')
  return { epoch: Number(mark.slice(0, at)), node: mark.slice(at + 1), mark }
}

/**
 * What a node should do next about shards: each gets an equal share, and one that is to go hands over all it has.
 *
 * returns  shards to take, and shards to give, each with whom it goes to ('' when nobody is there).
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
  // the first shard stays where it is: what runs once in the cluster runs beside it
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
  // each begins elsewhere, so that two do not reach for the same ones
  const from = Math.floor((free.length * serving.toSorted().indexOf(self)) / serving.length)
  const turned = [...free.slice(from), ...free.slice(0, from)]
  return { take: room > 0 && give.length === 0 ? turned.slice(0, room) : [], give }
}

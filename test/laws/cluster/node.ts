// A node of a simulation: the product's membership, placement, journal and claims over a simulated Redis. A
// shard counts the events in its journal. Everything else of a shard is simulated by test/laws/simulation.
import { Members, planOf, type View } from '../../../src/cluster/leases.js'
import type { OldWindow } from '../../../src/cluster/old-window.js'
import { openFileJournal } from '../../../src/journal/file-journal.js'
import type { Journal } from '../../../src/journal/journal.js'
import { FileJournalReader } from '../../../src/journal/reader.js'
import { shardDirectory } from '../../../src/journal/segment.js'
import { isFenced, ShardClaims } from '../../../src/redis/claims.js'
import { OwnedDisk, RedisDisk, redisRoot } from '../../../src/redis/disk.js'
import { OldClaims } from '../../../src/redis/old-claims.js'
import type { RedisSlots } from '../../../src/redis/slots.js'
import type { Life } from '../simulation/world.js'
import type { SimulatedStores, StoredEvent } from './old-keys.js'

/** Shards that receive requests. The others are placed and stay empty. */
export const shardsAsked = 3
export const leaseMs = 2_000
const segmentBytes = 600
const againMs = 50
const sealMs = 300
/** How long a node is called that does not answer, before it is called again. */
const callMs = 500

/** The node cannot answer: the caller tries again, here or at another node. */
export class Unavailable extends Error {}

export interface KeyedEvent {
  readonly key: string
  readonly eventId: string
}

interface Recorded extends KeyedEvent {
  readonly shard: number
  readonly receivedAtMs: number
}

/** How shards of a node claim keys. */
interface Claiming {
  readonly stores: SimulatedStores
  claims(inRedis: ShardClaims): OldClaims
}

export class SimulatedNode {
  readonly shards = new Map<number, OwnedShard>()
  private readonly busy = new Set<number>()
  private planned: Promise<void> | null = null
  private replan = false
  private stopping = false

  private constructor(
    readonly life: Life,
    private readonly slots: RedisSlots,
    readonly members: Members,
    private readonly window: OldWindow,
    private readonly claiming: Claiming,
    /** Any node by its id. */
    private readonly nodeOf: (id: string) => SimulatedNode | undefined,
  ) {}

  /**
   * Join. `out` is called when the node was removed; its process ends then.
   *
   * believedMs  lease duration in the node's own view; Redis keeps `leaseMs`.
   */
  static async start(
    life: Life,
    slots: RedisSlots,
    name: string,
    believedMs: number,
    out: () => void,
    stores: SimulatedStores,
    nodeOf: (id: string) => SimulatedNode | undefined,
  ): Promise<SimulatedNode> {
    const about = { name, host: name, port: 1, sinceMs: 0 }
    const members = await Members.join(slots.root, name, about, believedMs)
    const { window, keys } = stores.window(life, slots)
    const claiming: Claiming = {
      stores,
      claims: inRedis => new OldClaims(inRedis, keys, stores.find, () => void window.load()),
    }
    const node = new SimulatedNode(life, slots, members, window, claiming, nodeOf)
    members.on('out', out)
    await window.load()
    void node.seals()
    members.on('changed', view => node.changed(view))
    await members.become('serving')
    node.changed(members.now)
    return node
  }

  get id(): string {
    return this.members.id
  }

  get isAlive(): boolean {
    return this.members.isAlive
  }

  /** The owner of a shard, as this node sees it. */
  ownerOf(shard: number): string {
    return this.members.now.owners[shard]!.node
  }

  /** errors  Unavailable. */
  shard(index: number): OwnedShard {
    const shard = this.shards.get(index)
    if (shard === undefined || !shard.isOpen || !this.isAlive) throw new Unavailable()
    return shard
  }

  /** Hand everything over, and leave. */
  async leave(): Promise<void> {
    this.stopping = true
    await this.members.become('draining')
    while ([...this.shards.keys()].length > 0 && this.isAlive && this.members.now.nodes.size > 1) {
      this.plan()
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
    await this.members.leave()
  }

  /** The job of the node that does what is done once. */
  private async seals(): Promise<void> {
    for (;;) {
      await new Promise(resolve => setTimeout(resolve, sealMs))
      const isHere = () => this.isAlive && this.ownerOf(0) === this.id
      const sealing = { isHere, projected: async () => {}, told: () => this.tellAll() }
      await this.window.turn(sealing, Date.now()).catch(() => {})
    }
  }

  /** Every other node has the filters. Now and then nobody is told: no key may be counted twice all the same. */
  private async tellAll(): Promise<void> {
    if (this.life.world.random.chance(0.2)) return
    for (const id of this.members.now.nodes.keys())
      while (id !== this.id && this.members.now.nodes.has(id) && !(await this.tell(id)));
  }

  private tell(id: string): Promise<boolean> {
    const { world } = this.life
    return new Promise(resolve => {
      world.after(callMs, this.life, () => resolve(false))
      const node = this.nodeOf(id)
      if (node === undefined) return
      world.after(world.delay(0.5), node.life, () => {
        const answer = () => void world.after(world.delay(0.5), this.life, () => resolve(true))
        node.window.load().then(answer, () => {})
      })
    })
  }

  private changed({ owners }: View): void {
    for (let shard = 0; shard < shardsAsked; shard++) {
      if (this.busy.has(shard)) continue
      const mine = owners[shard]!.node === this.id
      if (mine && !this.shards.has(shard)) void this.open(shard)
      if (!mine && this.shards.has(shard)) this.drop(shard)
    }
    this.plan()
  }

  private async open(index: number): Promise<void> {
    this.busy.add(index)
    try {
      const died = () => {
        this.drop(index)
        void this.members.tick().then(() => this.changed(this.members.now))
      }
      this.shards.set(index, await OwnedShard.open(this.slots, index, this.id, died, this.claiming))
    } catch {
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
    this.busy.delete(index)
    this.changed(this.members.now)
  }

  private drop(index: number): void {
    this.shards.get(index)?.close()
    this.shards.delete(index)
  }

  private plan(): void {
    this.replan = this.planned !== null
    this.planned ??= this.act().finally(() => {
      this.planned = null
      if (this.replan) this.plan()
    })
  }

  private async act(): Promise<void> {
    const { take, give } = planOf(this.members.now, this.id)
    try {
      if (!this.stopping) await Promise.all(take.map(shard => this.members.take(shard)))
      for (const [shard, to] of give) await this.give(shard, to)
    } catch {
      await new Promise(resolve => setTimeout(resolve, againMs))
      this.replan = !this.stopping && !this.members.isOver
    }
  }

  private async give(index: number, to: string): Promise<void> {
    if (this.busy.has(index) || to === '') return
    this.busy.add(index)
    try {
      await this.shards.get(index)?.rest()
      this.drop(index)
      await this.members.give(index, this.members.now.owners[index]!.mark, to)
    } finally {
      this.busy.delete(index)
    }
  }
}

/** One shard on its owner: the events of its journal, counted in memory. */
export class OwnedShard {
  private readonly counted = new Map<string, string>()
  private next: number
  private broken = false
  private closed = false
  private readonly underWay = new Set<Promise<unknown>>()

  private constructor(
    private readonly index: number,
    private readonly journal: Journal,
    private readonly inRedis: ShardClaims,
    private readonly died: () => void,
    private readonly stores: SimulatedStores,
    private readonly claims: OldClaims,
  ) {
    this.next = journal.committed + 1
  }

  static async open(
    slots: RedisSlots,
    index: number,
    node: string,
    died: () => void,
    { stores, claims }: Claiming,
  ): Promise<OwnedShard> {
    const disk = await OwnedDisk.reopen(slots, index, node)
    const directory = shardDirectory(redisRoot, index)
    const { journal } = await openFileJournal({ directory, disk, segmentBytes, padBytes: 0 })
    const inRedis = new ShardClaims(slots, index, disk, async function* (from, upTo) {
      yield (await recordsOf(slots, index, upTo, from)).map(record => ({ env: 'env', ...record }))
    })
    await inRedis.begin(journal.committed)
    const shard = new OwnedShard(index, journal, inRedis, died, stores, claims(inRedis))
    const records = await recordsOf(slots, index, journal.committed)
    for (const { eventId, key } of records) shard.counted.set(eventId, key)
    stores.project(records.map(storedOf))
    return shard
  }

  get isOpen(): boolean {
    return !this.broken && !this.closed
  }

  /** Number of its events now. */
  get count(): number {
    return this.counted.size
  }

  /**
   * Count an event once by its key. Returns the id of the first event with the key.
   *
   * errors  Unavailable.
   */
  take(event: KeyedEvent): Promise<string> {
    const taking = this.taken(event)
    this.underWay.add(taking)
    const over = () => void this.underWay.delete(taking)
    taking.then(over, over)
    return taking
  }

  /** Take no new events. Resolves when every event taken has its answer. */
  async rest(): Promise<void> {
    this.closed = true
    await Promise.allSettled(this.underWay)
  }

  close(): void {
    this.closed = true
    this.inRedis.close()
  }

  private async taken({ key, eventId }: KeyedEvent): Promise<string> {
    const claim = { env: 'env', key, eventId, capturedAtMs: 1, receivedAtMs: Date.now(), print: 7 }
    const [fate] = await this.claims.claim([claim]).catch(error => this.failed(error))
    if (typeof fate === 'string') throw new Unavailable()
    if ('first' in fate!) return fate.first.eventId
    if (this.broken || this.stores.refuses()) {
      this.claims.free([fate!.held])
      throw new Unavailable()
    }
    this.claims.write(fate!.held, this.next++)
    const recorded: Recorded = { key, eventId, shard: this.index, receivedAtMs: claim.receivedAtMs }
    const record = { flags: 0, month: 0, row: '', fact: JSON.stringify(recorded) }
    try {
      await this.journal.append([record])
    } catch (error) {
      void this.recover()
      return this.failed(error)
    }
    this.counted.set(eventId, key)
    this.stores.project([storedOf(recorded)])
    return eventId
  }

  private failed(error: unknown): never {
    if (isFenced(error)) this.die()
    throw new Unavailable()
  }

  private die(): void {
    if (this.closed) return
    this.close()
    this.died()
  }

  /** As in workers/shard/shard.ts: open the journal again, however long it takes. */
  private async recover(): Promise<void> {
    if (this.broken) return
    this.broken = true
    for (;;)
      try {
        await this.journal.reopen()
        await this.inRedis.begin(this.journal.committed)
        break
      } catch (error) {
        if (isFenced(error)) return this.die()
        if (this.closed) return
        await new Promise(resolve => setTimeout(resolve, againMs))
      }
    this.next = this.journal.committed + 1
    this.broken = false
  }
}

const storedOf = ({ key, eventId, receivedAtMs }: Recorded): StoredEvent => ({
  env: 'env',
  key,
  eventId,
  receivedAtMs,
})

/** Records of a journal behind a sequence, up to another. */
export async function recordsOf(
  slots: RedisSlots,
  shard: number,
  upTo: number,
  from = 0,
): Promise<readonly Recorded[]> {
  const directory = shardDirectory(redisRoot, shard)
  const reader = new FileJournalReader({ directory, disk: new RedisDisk(slots) })
  const found: Recorded[] = []
  for await (const records of reader.read(from, upTo))
    for (const { fact } of records) found.push(JSON.parse(fact.toString()) as Recorded)
  await reader.close()
  return found
}

// One simulation of several nodes from one seed: nodes that come, go, hang and die, clocks that drift, a
// Redis that fails over, clients that repeat requests, and the final checks.
import { journalEnd, shardDirectory } from '../../../src/journal/segment.js'
import { RedisDisk, redisRoot } from '../../../src/redis/disk.js'
import { Random } from '../../random.js'
import { Life, World } from '../simulation/world.js'
import { leaseMs, recordsOf, SimulatedNode, shardsAsked, Unavailable } from './node.js'
import { SimulatedStores } from './old-keys.js'
import { SimulatedRedis, SimulatedSlots } from './redis.js'

/** A fault injected on purpose, to test the checks. */
export type Fault =
  | 'no epoch check'
  | 'a lease kept too long'
  | 'a claim taken over without asking'
  | 'a claim with filters out of date'
  | 'records behind the floor are not marked'
  | 'a floor beyond a claim under way'
  | 'a call without an answer counts as settled'
  | 'claims of another connection are not looked for'
  | null

/** The trouble that shows an injected fault. */
const showing: Readonly<Record<Exclude<Fault, null>, 'hangs' | 'breaks' | 'fail-overs'>> = {
  'no epoch check': 'hangs',
  'a lease kept too long': 'hangs',
  'a claim taken over without asking': 'hangs',
  'a claim with filters out of date': 'hangs',
  'records behind the floor are not marked': 'breaks',
  'a floor beyond a claim under way': 'breaks',
  'a call without an answer counts as settled': 'breaks',
  'claims of another connection are not looked for': 'fail-overs',
}

export interface Outcome {
  /** Violations; empty when there were none. */
  readonly wrong: readonly string[]
  readonly acknowledged: number
  readonly nodes: number
  /** Keys that left Redis for filters. */
  readonly gone: number
}

const nodesMost = 4
/** Largest difference in speed between monotonic clocks and Redis' clock. */
const drift = 0.02
const patienceMs = 120_000
const stepsMax = 400_000

/** Run a seed. Never rejects. */
export async function simulateNodes(seed: number, fault: Fault = null): Promise<Outcome> {
  const simulation = new Simulation(new World(new Random(seed)), fault)
  try {
    await simulation.run()
  } catch (error) {
    simulation.wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  const { wrong, acknowledged, nodesMade, stores } = simulation
  return { wrong, acknowledged: acknowledged.size, nodes: nodesMade, gone: stores.gone }
}

class Simulation {
  readonly wrong: string[] = []
  /** The acknowledged event of each key. */
  readonly acknowledged = new Map<string, string>()
  nodesMade = 0
  readonly stores: SimulatedStores
  private readonly slots: SimulatedSlots
  private readonly nodes = new Set<SimulatedNode>()
  private readonly starting = new Set<Life>()
  /** Events of each shard that were acknowledged as new. */
  private readonly counted = Array.from({ length: shardsAsked }, () => new Set<string>())
  private clients = 0
  private ending = false
  private calm = false
  private numbers = 0
  private events = 0

  constructor(
    private readonly world: World,
    private readonly fault: Fault,
  ) {
    const { random } = world
    const left = {
      epochs: fault === 'no epoch check',
      asking: fault === 'a claim taken over without asking',
      filters: fault === 'a claim with filters out of date',
      marks: fault === 'records behind the floor are not marked',
      floors: fault === 'a floor beyond a claim under way',
      voids: fault === 'a call without an answer counts as settled',
      connections: fault === 'claims of another connection are not looked for',
      leaseMs,
    }
    const replicas = left.connections ? 1 : random.pick([0, 1] as const)
    const make = () => new SimulatedRedis(world, 1 + drift * (random.next() - 0.5), left, replicas)
    this.slots = new SimulatedSlots(make, random.pick([1, 3]))
    this.stores = new SimulatedStores(world)
  }

  async run(): Promise<void> {
    const { world } = this
    const { random } = world
    for (let i = 0; i < 2 + random.below(2); i++) this.add()
    await this.until(() => this.nodes.size >= 2 && this.isServed)
    for (let i = 0; i < 3 + random.below(4); i++) this.client(() => this.sends())
    const readers = this.fault === null ? 2 : 8
    for (let i = 0; i < readers; i++) this.client(() => this.reads())
    this.faults()
    const endsMs = world.nowMs + (this.fault === null ? 2_000 + random.below(8_000) : 20_000)
    await this.until(() => world.nowMs >= endsMs)
    this.calm = true
    for (const server of this.slots.servers) {
      server.losing = 0
      server.away = false
    }
    this.stores.isAway = false
    if (this.nodes.size + this.starting.size === 0) this.add()
    this.ending = true
    await this.until(() => this.clients === 0 && this.isServed)
    await this.judge()
  }

  // ── clients ──────────────────────────────────────────────────────────────────────────────────

  private client(work: () => Promise<void>): void {
    this.clients++
    this.world.nature.run(() => {
      const loop = async (): Promise<void> => {
        while (!this.ending) {
          await work()
          await this.world.pause(this.world.delay(20, 400))
        }
      }
      loop()
        .catch(error => this.wrong.push(String(error instanceof Error ? error.stack : error)))
        .finally(() => {
          this.clients--
        })
    })
  }

  /**
   * Sends a new key or an old one until it is acknowledged, to any node, sometimes from two clients at once.
   */
  private async sends(): Promise<void> {
    const { random } = this.world
    const old = this.numbers > 0 && random.chance(0.4)
    const key = `key ${old ? 1 + random.below(this.numbers) : ++this.numbers}`
    const shard = random.below(shardsAsked)
    const send = () => this.send(key, random.chance(0.8) ? shard : random.below(shardsAsked))
    await Promise.all(random.chance(0.2) ? [send(), send()] : [send()])
  }

  private async send(key: string, shard: number): Promise<void> {
    for (let tries = 0; ; tries++) {
      const eventId = `evt_${String(++this.events).padStart(11, '0')}`
      const first = await this.ask(shard, async owner => owner.take({ key, eventId }))
      if (first !== null) return this.told(key, first, eventId, shard)
      if (this.ending && tries > 200) return
      await this.world.pause(this.world.delay(30, 500))
    }
  }

  private told(key: string, first: string, sent: string, shard: number): void {
    const known = this.acknowledged.get(key)
    if (known !== undefined && known !== first)
      this.wrong.push(`EV-27 ${key} was acknowledged as ${known} and as ${first}`)
    this.acknowledged.set(key, first)
    if (first === sent) this.counted[shard]!.add(first)
  }

  /**
   * Promise 9: an answer contains everything acknowledged before the read was sent, whichever node answers.
   */
  private async reads(): Promise<void> {
    const { random } = this.world
    const shard = random.below(shardsAsked)
    const least = this.counted[shard]!.size
    // A late answer counts too.
    await this.ask(shard, async ({ count }) => {
      if (count < least)
        this.wrong.push(`promise 9: a node without its lease answers: ${count} of ${least} of shard ${shard}`)
      return count
    })
  }

  /** Calls the owner of a shard in the view of any node; null: no answer, or a refusal. */
  private ask<T>(
    shard: number,
    work: (owner: ReturnType<SimulatedNode['shard']>) => Promise<T>,
  ): Promise<T | null> {
    const { world } = this
    const { random } = world
    const any = [...this.nodes]
    if (any.length === 0) return Promise.resolve(null)
    // A stale view leads to a former owner, which refuses.
    const asked = random.pick(any)
    const owner = any.find(({ id }) => id === asked.ownerOf(shard)) ?? asked
    return new Promise((resolve, reject) => {
      world.after(random.pick([300, 3_000]), world.nature, () => resolve(null))
      world.after(world.delay(0.5), owner.life, () => {
        const answer = (value: T | null) => world.after(world.delay(0.5), world.nature, () => resolve(value))
        Promise.resolve()
          .then(() => work(owner.shard(shard)))
          .then(answer, error => (error instanceof Unavailable ? answer(null) : reject(error)))
      })
    })
  }

  // ── nodes ────────────────────────────────────────────────────────────────────────────────────

  private add(): void {
    const { world, slots } = this
    const name = `node${++this.nodesMade}`
    const life = new Life(world, name)
    life.rate = 1 + drift * (world.random.next() - 0.5)
    this.starting.add(life)
    const over = (): void => this.end(life)
    // With the fault, the node believes in a lease longer than the one in Redis.
    const believedMs = this.fault === 'a lease kept too long' ? 3 * leaseMs : leaseMs
    life.run(() => {
      const nodeOf = (id: string) => [...this.nodes].find(node => node.id === id)
      SimulatedNode.start(life, slots.client(), name, believedMs, over, this.stores, nodeOf).then(node => {
        if (this.starting.delete(life)) this.nodes.add(node)
      }, over)
    })
  }

  private end(life: Life): void {
    life.end()
    this.starting.delete(life)
    for (const node of this.nodes) if (node.life === life) this.nodes.delete(node)
    this.world.after(this.world.delay(300, 3_000), this.world.nature, () => {
      if (this.nodes.size + this.starting.size < 2) this.add()
    })
  }

  /** Whether each shard with requests is open on its owner. */
  private get isServed(): boolean {
    const open = [...this.nodes].filter(node => node.life.run(() => node.isAlive))
    return Array.from({ length: shardsAsked }, (_, shard) =>
      open.some(node => node.shards.get(shard)?.isOpen && node.ownerOf(shard) === node.id),
    ).every(Boolean)
  }

  // ── faults ───────────────────────────────────────────────────────────────────────────────────

  private faults(): void {
    const { world, slots } = this
    const { random } = world
    /** One primary, or now and then all of them. */
    const some = (): readonly SimulatedRedis[] =>
      random.chance(0.3) ? slots.servers : [random.pick(slots.servers)]
    const any = (): SimulatedNode | null => (this.nodes.size === 0 ? null : random.pick([...this.nodes]))
    const kinds: readonly (() => void)[] = [
      () => {
        const node = any()
        if (node !== null) this.end(node.life)
      },
      () => {
        const node = any()
        if (node !== null)
          node.life.hungUntilMs = world.nowMs + random.pick([200, 2_500, 6_000]) * (0.5 + random.next() / 2)
      },
      () => {
        if (this.nodes.size + this.starting.size < nodesMost) this.add()
      },
      () => {
        const node = any()
        if (node === null || this.nodes.size < 2) return
        node.life.run(
          () =>
            void node.leave().then(
              () => this.end(node.life),
              () => this.end(node.life),
            ),
        )
      },
      () => {
        for (const server of some()) server.failOver()
      },
      () => {
        for (const server of some()) server.breakAll()
      },
      () => {
        const losing = some()
        for (const server of losing) server.losing = random.pick([0.01, 0.1])
        world.after(random.next() * 1_000, world.nature, () => {
          for (const server of losing) server.losing = 0
        })
      },
      () => {
        this.stores.isAway = true
        world.after(random.next() * 3_000, world.nature, () => {
          this.stores.isAway = false
        })
      },
      () => {
        const away = some()
        for (const server of away) {
          server.away = true
          server.breakAll()
        }
        world.after(random.next() * random.pick([200, 3_000]), world.nature, () => {
          for (const server of away) server.away = false
        })
      },
    ]
    const [hang, failOver, breakAll] = [kinds[1]!, kinds[4]!, kinds[5]!]
    // Injected faults show when nodes hang, or connections break.
    const shown = this.fault === null ? null : showing[this.fault]
    const chosen =
      shown === null
        ? kinds.filter(() => random.chance(0.6))
        : shown === 'hangs'
          ? [hang]
          : shown === 'breaks'
            ? [breakAll]
            : [failOver]
    if (chosen.length === 0) return
    const usualMs = this.fault === null ? random.pick([100, 400, 1_500]) : shown === 'hangs' ? 3_000 : 500
    const next = (): void => {
      world.after(random.next() * 2 * usualMs, world.nature, () => {
        if (this.calm) return
        random.pick(chosen)()
        next()
      })
    }
    next()
  }

  // ── laws ─────────────────────────────────────────────────────────────────────────────────────

  /** Every acknowledged event is in a journal once, and no key is there twice. */
  private async judge(): Promise<void> {
    let done = false
    this.world.nature.run(() => {
      this.judged()
        .catch(error => this.wrong.push(String(error instanceof Error ? error.stack : error)))
        .finally(() => {
          done = true
        })
    })
    await this.until(() => done)
  }

  private async judged(): Promise<void> {
    const client = this.slots.client()
    const disk = new RedisDisk(client)
    const events = new Map<string, number>()
    const keys = new Map<string, string>()
    for (let shard = 0; shard < shardsAsked; shard++) {
      const end = await journalEnd(disk, shardDirectory(redisRoot, shard))
      for (const { key, eventId } of await recordsOf(client, shard, end)) {
        events.set(eventId, (events.get(eventId) ?? 0) + 1)
        if (keys.has(key)) this.wrong.push(`${key} is counted as ${keys.get(key)} and as ${eventId}`)
        keys.set(key, eventId)
      }
    }
    for (const [key, eventId] of this.acknowledged)
      if (events.get(eventId) !== 1)
        this.wrong.push(`${key}, acknowledged as ${eventId}, is counted ${events.get(eventId) ?? 0} times`)
  }

  /** Run the simulation until a condition holds. A violation ends the run. */
  private async until(done: () => boolean): Promise<void> {
    const { world } = this
    await world.drive(() => this.wrong.length > 0 || done(), world.nowMs + patienceMs, stepsMax)
  }
}

// A Redis of a simulation: commands of one connection run in order, answers are late or lost, connections
// break with commands in flight. It has its own clock, and can fail over to a replica that lacks the latest
// writes.

import { Fenced } from '../../../src/redis/fenced.js'
import type { RedisClient } from '../../../src/redis/redis.js'
import { claimsText, type ScriptName } from '../../../src/redis/scripts.js'
import { RedisSlots } from '../../../src/redis/slots.js'
import { current, type Life, type World } from '../simulation/world.js'
import { type Argument, type Left, runScript, ScriptError, Values } from './scripts.js'

/** The effect of a command on the values at an instant of Redis' clock. */
type Command = (values: Values, nowMs: number) => unknown

interface Sent {
  readonly command: Command
  readonly told: (answer: () => unknown) => void
  readonly failed: (error: Error) => void
}

const prefix = '{sim}:'
const answerMs = 3_000

export class SimulatedRedis {
  private primary = new Values()
  private replica = new Values()
  /** Commands that the replica has not run yet, with the instants at which they ran. */
  private lag: (readonly [command: Command, nowMs: number])[] = []
  private written = 0
  private replicated = 0
  private readonly waiting = new Set<() => void>()
  private readonly connections = new Set<Connection>()
  /** Share of commands whose answer and connection are lost. */
  losing = 0
  away = false
  /** Number of fail-overs so far. */
  generation = 0

  constructor(
    readonly world: World,
    /** Speed of its clock. */
    private readonly rate: number,
    readonly left: Left,
    /** Number of replicas that writes wait for. A replica may take over. */
    readonly replicas: 0 | 1,
  ) {}

  get nowMs(): number {
    return this.world.nowMs * this.rate
  }

  /** A client of this Redis for the current life. */
  client(): RedisClient {
    const connection = new Connection(this, current())
    this.connections.add(connection)
    return connection as unknown as RedisClient
  }

  run(command: Command): unknown {
    const { nowMs } = this
    const answer = command(this.primary, nowMs)
    this.written++
    if (this.replicas === 1) {
      this.lag.push([command, nowMs])
      this.world.after(this.world.delay(1, 400), this.world.nature, () => this.replicate())
    }
    return answer
  }

  /**
   * Waits until the replica has everything that is written now. Returns false when Redis failed over
   * meanwhile.
   */
  async reached(generation: number): Promise<boolean> {
    const wanted = this.written
    const untilMs = this.world.nowMs + answerMs - 500
    while (this.replicated < wanted && this.world.nowMs < untilMs && this.generation === generation)
      await new Promise<void>(resolve => {
        this.waiting.add(resolve)
        this.world.after(answerMs, this.world.nature, resolve)
      })
    return this.generation === generation && this.replicated >= wanted
  }

  /** The replica takes over with the data it has. */
  failOver(): void {
    if (this.replicas === 0) return this.breakAll()
    // what the former primary still runs is not in the data of its successor
    const former = this.generation++
    this.primary = this.replica
    this.replica = this.primary.copy()
    this.lag = []
    this.written = 0
    this.replicated = 0
    this.breakAll(former)
    this.wake()
  }

  /** Break every connection. Commands in flight run later, or never, on the server of this generation. */
  breakAll(generation = this.generation): void {
    for (const one of this.connections) one.break(generation)
  }

  /** Every value, for the final checks: no command is in flight any more. */
  get values(): Values {
    return this.primary
  }

  private replicate(): void {
    const next = this.lag.shift()
    if (next === undefined) return
    const [command, nowMs] = next
    try {
      command(this.replica, nowMs)
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error
    }
    this.replicated++
    this.wake()
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve()
    this.waiting.clear()
  }
}

/** Slots of one cluster of nodes, each on a server of its own; a single one has everything. */
export class SimulatedSlots {
  readonly servers: readonly SimulatedRedis[]

  /** count: 1, or more beside the root. */
  constructor(make: () => SimulatedRedis, count: number) {
    this.servers = Array.from({ length: count === 1 ? 1 : count + 1 }, make)
  }

  /** A client of all slots for the current life. */
  client(): RedisSlots {
    const [root, ...others] = this.servers.map(server => server.client())
    return new RedisSlots(root!, others.length === 0 ? [root!] : others)
  }
}

/** The methods of `RedisClient` that nodes, journals and claims use. */
class Connection {
  readonly address = { url: 'simulated', prefix, replicas: 0 }
  readonly reconnectedMs = Number.NEGATIVE_INFINITY
  /** Connections that broke. */
  connection = 0
  private onTheirWay = new Set<Sent>()
  private arrivesMs = 0
  private toldMs = 0

  constructor(
    private readonly redis: SimulatedRedis,
    private readonly life: Life,
  ) {
    this.address.replicas = redis.replicas
  }

  key(name: string): string {
    return prefix + name
  }

  async run(name: ScriptName, ...given: readonly Argument[]): Promise<unknown> {
    // Copied: the caller may reuse its buffer.
    const kept = given.map(one => (Buffer.isBuffer(one) ? Buffer.from(one) : one))
    const { left } = this.redis
    return this.ask((values, nowMs) => runScript(values, nowMs, prefix, name, kept, left))
  }

  async claim(
    ttlMs: number,
    sealedMs: number,
    words: readonly string[],
  ): Promise<readonly string[] | 'unsealed'> {
    const given = ['claim', ttlMs, sealedMs, claimsText(words)] as const
    const { left } = this.redis
    const claiming = left.connections === true ? this.run(...given) : this.write(...given)
    return (await claiming) as readonly string[] | 'unsealed'
  }

  async append(connection: number, ...given: readonly Argument[]): Promise<void> {
    this.mustBe(connection)
    const { generation } = this.redis
    const [status] = (await this.run('write', ...given)) as readonly string[]
    if (status !== 'OK') throw new Fenced(status)
    await this.mustReach(generation)
  }

  async write(name: ScriptName, ...given: readonly Argument[]): Promise<unknown> {
    const { generation } = this.redis
    const answer = await this.run(name, ...given)
    await this.mustReach(generation)
    return answer
  }

  private mustBe(connection: number): void {
    if (connection !== this.connection) throw new Error('the connection was made anew')
  }

  private async mustReach(generation: number): Promise<void> {
    if (this.redis.replicas > 0 && !(await this.reached(generation)))
      throw new Error('0 of 1 replicas have the write')
  }

  async writeOn(connection: number, name: ScriptName, ...given: readonly Argument[]): Promise<void> {
    this.mustBe(connection)
    await this.write(name, ...given)
  }

  field(key: string, name: string): Promise<string | null> {
    return this.ask(values => values.hash(key).get(name) ?? null)
  }

  values(keys: readonly string[]): Promise<(string | null)[]> {
    return this.ask((values, nowMs) => keys.map(key => values.text(key, nowMs)))
  }

  bytes(key: string, from: number, to: number): Promise<Buffer> {
    return this.ask((values, nowMs) =>
      Buffer.from((values.get(key, nowMs) ?? Buffer.alloc(0)).subarray(from, to + 1)),
    )
  }

  length(key: string): Promise<number> {
    return this.ask((values, nowMs) => values.get(key, nowMs)?.length ?? 0)
  }

  exists(key: string): Promise<boolean> {
    return this.ask((values, nowMs) => values.get(key, nowMs) !== null)
  }

  members(key: string): Promise<string[]> {
    return this.ask(values => [...values.members(key)])
  }

  get(key: string): Promise<string | null> {
    return this.ask((values, nowMs) => values.text(key, nowMs))
  }

  /** Whether the replica has everything that this connection wrote. */
  private async reached(generation: number): Promise<boolean> {
    const { world } = this.redis
    const reached = await this.redis.reached(generation)
    return new Promise(resolve => {
      world.after(world.delay(0.3), this.life, () => resolve(reached))
    })
  }

  /** generation: of the server that it leads to. */
  break(generation = this.redis.generation): void {
    const { world } = this.redis
    const left = [...this.onTheirWay]
    if (this.redis.left.connections !== true) this.connection++
    this.onTheirWay = new Set()
    // Commands that the server has read are run in order. The rest never run.
    const kept = world.random.below(left.length + 1)
    let atMs = world.delay(5, 1_500)
    left.forEach(({ command, failed }, i) => {
      world.after(world.delay(1), this.life, () => failed(new Error('Connection is closed.')))
      if (i >= kept) return
      atMs += world.delay(0.1)
      world.after(atMs, world.nature, () => {
        if (generation !== this.redis.generation) return
        try {
          this.redis.run(command)
        } catch (error) {
          if (!(error instanceof ScriptError)) throw error
        }
      })
    })
  }

  private ask<Answer>(command: Command): Promise<Answer> {
    const { world } = this.redis
    return new Promise((resolve, reject) => {
      if (this.redis.away) {
        world.after(world.delay(1), this.life, () => reject(new Error('connect ECONNREFUSED')))
        return
      }
      const sent: Sent = {
        command,
        told: answer => {
          try {
            resolve(answer() as Answer)
          } catch (error) {
            reject(error instanceof ScriptError ? new Fenced(error.message) : error)
          }
        },
        failed: reject,
      }
      this.onTheirWay.add(sent)
      this.arrivesMs = Math.max(this.arrivesMs, world.nowMs + world.delay(0.3, 30)) + 1e-6
      world.after(this.arrivesMs - world.nowMs, world.nature, () => this.arrived(sent))
    })
  }

  private arrived(sent: Sent): void {
    const { world } = this.redis
    if (!this.onTheirWay.delete(sent)) return
    const answer = this.outcome(sent.command)
    if (world.random.chance(this.redis.losing)) {
      world.after(world.delay(5, answerMs), this.life, () => sent.failed(new Error('Command timed out')))
      return this.break()
    }
    this.toldMs = Math.max(this.toldMs, world.nowMs + world.delay(0.3, 30)) + 1e-6
    world.after(this.toldMs - world.nowMs, this.life, () => sent.told(answer))
  }

  private outcome(command: Command): () => unknown {
    try {
      const answer = this.redis.run(command)
      return () => answer
    } catch (error) {
      return () => {
        throw error
      }
    }
  }
}

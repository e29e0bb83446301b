// The client of a slot of Redis: one connection. Its commands fail when Redis is away, and never wait for it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Redis, type RedisOptions } from 'ioredis'
import type { SlotAddress } from '../wire/shard-options.js'
import { Fenced } from './fenced.js'
import { Gathering } from './gathering.js'
import { type Lead, leadingTo } from './place.js'
import { claimsText, type ScriptName, scriptOf, scripts } from './scripts.js'

type Argument = string | number | Buffer

/** A command without an answer after this long fails. Redis may still run it. */
const answerMs = 3_000
/** Longest wait for replicas: Redis answers within `answerMs` then. */
const replicasMs = answerMs - 500
const connectMs = 2_000
const retryMsMax = 250
/** How long a connection that is given up may take to end. */
const disconnectMs = 100
/** Errors of a server that another one has replaced. */
const replaced = /\b(READONLY|MOVED|MASTERDOWN|CLUSTERDOWN)\b/

/** A call that claims keys: pairs of a key and its value. */
interface Claim {
  readonly ttlMs: number
  readonly sealedMs: number
  readonly words: readonly string[]
  readonly resolve: (taken: readonly string[] | 'unsealed') => void
  readonly reject: (error: unknown) => void
}

/** Keys claimed by one script, about: Redis does nothing else meanwhile, for a ms or two. */
const claimedAtOnce = 1_000

interface Write {
  readonly name: ScriptName
  readonly given: readonly Argument[]
  /** The connection that it is for; null: any. */
  readonly connection: number | null
  readonly resolve: (answer?: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A connection. Commands of one tick are sent together. */
export class RedisClient {
  readonly #redis: Redis
  /** Writes of this turn that wait for replicas. */
  #writes: Write[] = []
  readonly #appends = new Gathering<Write>(writes => this.#appendAll(writes))
  readonly #claims = new Gathering<Claim>(claims => this.#claimAll(claims))
  #writing: Promise<void> | null = null
  /** Since when no command was answered, of the monotonic clock; null: the last one was answered. */
  #awaySinceMs: number | null = null
  /** When a command was answered last, of the monotonic clock. */
  #answeredMs = performance.now()
  #reconnectedMs = Number.NEGATIVE_INFINITY
  /** Connections that have closed. */
  #closed = 0
  /** This connection was given up, and has not closed yet. */
  #leaving = false
  /** The commands of this turn are being gathered. */
  #gathering = false

  /** Somebody is asked who is the primary now. */
  #following = false
  /** Leads to the primary; null: there is one server only. */
  readonly #lead: Lead | null

  private constructor(
    redis: Redis,
    readonly address: SlotAddress,
    lead: Lead | null,
  ) {
    this.#redis = redis
    this.#lead = lead
    for (const name of Object.keys(scripts) as ScriptName[])
      redis.defineCommand(name, { numberOfKeys: 1, lua: scriptOf(name) })
  }

  /**
   * Connects to the server that has the keys (place.ts), however long it takes. `failed` is called for every failed
   * attempt.
   */
  static async open(address: SlotAddress, failed: (error: Error) => void = () => {}): Promise<RedisClient> {
    const lead = leadingTo(address)
    const options: RedisOptions = {
      ...lead?.options,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMs,
      connectTimeout: connectMs,
      retryStrategy: times => Math.min(20 * times, retryMsMax),
      disconnectTimeout: disconnectMs,
      reconnectOnError: ({ message }) => lead !== null && replaced.test(message),
    }
    const redis = lead === null ? new Redis(address.url, options) : new Redis(options)
    redis.on('error', failed)
    const client = new RedisClient(redis, address, lead)
    const ready = new Promise<void>(resolve => redis.once('ready', resolve))
    redis.connect().catch(failed)
    await ready
    void client.#follow()
    redis.on('ready', () => {
      client.#reconnectedMs = performance.now()
      void client.#follow()
    })
    redis.on('close', () => {
      client.#closed++
      client.#leaving = false
    })
    return client
  }

  /** When the connection was last made anew, of the monotonic clock; -Infinity: it is the first one. */
  get reconnectedMs(): number {
    return this.#reconnectedMs
  }

  /** Number of this connection: what was written on an earlier one may be lost, if another server answers on this. */
  get connection(): number {
    return this.#closed
  }

  /** Whether the last command was answered. */
  get answers(): boolean {
    return this.#awaySinceMs === null
  }

  /** Since when Redis does not answer, of the monotonic clock; null: it answers. */
  get awaySinceMs(): number | null {
    return this.#awaySinceMs
  }

  /** The key of this name, with the prefix. */
  key(name: string): string {
    return this.address.prefix + name
  }

  /**
   * Run a script. The texts of its answer are read as UTF-8.
   *
   * errors  Fenced; those of the driver: the script may have run, or may still run.
   */
  run<Answer>(name: ScriptName, ...given: readonly Argument[]): Promise<Answer> {
    const commands = this.#redis as unknown as Record<string, (...all: Argument[]) => Promise<Answer>>
    this.#gather()
    return this.#told(commands[name]!(this.address.prefix, ...given))
  }

  /** The same. Resolves when the configured number of replicas has the write. */
  write<Answer = void>(name: ScriptName, ...given: readonly Argument[]): Promise<Answer> {
    return this.#write(null, name, given)
  }

  /** The same. errors: Error, and nothing is sent, where this is not the connection any more. */
  writeOn(connection: number, name: ScriptName, ...given: readonly Argument[]): Promise<void> {
    return this.#write(connection, name, given)
  }

  async #write<Answer>(
    connection: number | null,
    name: ScriptName,
    given: readonly Argument[],
  ): Promise<Answer> {
    if (this.address.replicas > 0)
      return new Promise((resolve, reject) => {
        const told = (answer: unknown) => resolve(answer as Answer)
        this.#writes.push({ name, given, connection, resolve: told, reject })
        this.#writing ??= this.#writeAll()
      })
    if (this.#isAnother(connection)) throw anotherConnection()
    return this.run<Answer>(name, ...given)
  }

  #isAnother(connection: number | null): boolean {
    return connection !== null && connection !== this.connection
  }

  /**
   * Write to the journal of a shard (scripts.ts, `write`), as `writeOn`. Writes of all shards in one turn are one script; those
   * of later turns gather while it is under way.
   *
   * errors  Fenced; those of `writeOn`.
   */
  append(connection: number, ...given: readonly Argument[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Write = { name: 'write', given, connection, resolve: () => resolve(), reject }
      if (this.address.replicas > 0) {
        this.#writes.push(one)
        this.#writing ??= this.#writeAll()
        return
      }
      this.#appends.add(one)
    })
  }

  async #appendAll(all: readonly Write[]): Promise<void> {
    const writes = all.filter(one => {
      const isAnother = this.#isAnother(one.connection)
      if (isAnother) one.reject(anotherConnection())
      return !isAnother
    })
    if (writes.length === 0) return
    try {
      settleAppends(
        writes,
        await this.run<readonly string[]>('write', ...writes.flatMap(({ given }) => given)),
      )
    } catch (error) {
      for (const { reject } of writes) reject(error)
    }
  }

  /**
   * Claim keys (scripts.ts, `claim`). Claims of all shards in one turn are one script, where they asked the same filters. While
   * that script is under way, claims of later turns gather for the next one. Resolves when the configured number of replicas has
   * the claims: their records may lie in another slot, so a write of those does not wait for them.
   *
   * ttlMs  0 for keys that are swept.
   * words  pairs of a key and its value.
   *
   * errors  those of the driver: keys may be claimed, or may still be.
   */
  claim(ttlMs: number, sealedMs: number, words: readonly string[]): Promise<readonly string[] | 'unsealed'> {
    return new Promise((resolve, reject) => {
      this.#claims.add({ ttlMs, sealedMs, words, resolve, reject })
    })
  }

  async #claimAll(claims: readonly Claim[]): Promise<void> {
    const asked: Promise<void>[] = []
    let some: Claim[] = []
    let keys = 0
    for (const one of claims) {
      const isOther = some.length > 0 && (one.sealedMs !== some[0]!.sealedMs || one.ttlMs !== some[0]!.ttlMs)
      if (isOther || keys >= claimedAtOnce) {
        asked.push(this.#claimTogether(some))
        some = []
        keys = 0
      }
      some.push(one)
      keys += one.words.length / 2
    }
    asked.push(this.#claimTogether(some))
    await Promise.all(asked)
  }

  async #claimTogether(claims: readonly Claim[]): Promise<void> {
    try {
      const { ttlMs, sealedMs } = claims[0]!
      const text = claims.map(one => claimsText(one.words)).join('')
      const taken = await this.write<readonly string[] | 'unsealed'>('claim', ttlMs, sealedMs, text)
      let from = 0
      let next = 0
      for (const { words, resolve } of claims) {
        const end = from + words.length / 2
        const mine: string[] = []
        for (; taken !== 'unsealed' && next < taken.length && Number(taken[next]) < end; next += 2)
          mine.push(String(Number(taken[next]) - from), taken[next + 1]!)
        resolve(taken === 'unsealed' ? taken : mine)
        from = end
      }
    } catch (error) {
      for (const { reject } of claims) reject(error)
    }
  }

  /** Number of replicas that have a write made now, of the configured number. Takes as long as a write may wait. */
  async replicasReached(): Promise<number> {
    await this.run('touch')
    const reached = await this.#told(this.#redis.wait(this.address.replicas, replicasMs))
    if (reached < this.address.replicas) void this.#follow()
    return reached
  }

  /** Writes of one turn leave together, and wait for the replicas together; the next ones leave after them. */
  async #writeAll(): Promise<void> {
    while (this.#writes.length > 0) {
      await nextTurn()
      const writes: Write[] = []
      for (const one of this.#writes)
        if (this.#isAnother(one.connection)) one.reject(anotherConnection())
        else writes.push(one)
      this.#writes = []
      if (writes.length === 0) continue
      await this.#writeTogether(writes).catch(error => {
        for (const one of writes) one.reject(error)
      })
    }
    this.#writing = null
  }

  async #writeTogether(writes: readonly Write[]): Promise<void> {
    const { replicas, prefix } = this.address
    const pipeline = this.#redis.pipeline()
    const commands = pipeline as unknown as Record<string, (...all: Argument[]) => unknown>
    const appends = writes.filter(({ name }) => name === 'write')
    const others = writes.filter(({ name }) => name !== 'write')
    for (const { name, given } of others) commands[name]!(prefix, ...given)
    if (appends.length > 0) commands.write!(prefix, ...appends.flatMap(({ given }) => given))
    const answers = await this.#told(pipeline.wait(replicas, replicasMs).exec())
    const [failure, reached] = answers!.at(-1)!
    const lacks =
      failure ??
      (Number(reached) < replicas ? new Error(`${reached} of ${replicas} replicas have the write`) : null)
    if (lacks !== null) void this.#follow()
    for (const [i, { resolve, reject }] of others.entries()) {
      const [failed, answer] = answers![i]!
      const error = failed ?? lacks
      if (error === null) resolve(answer)
      else this.#told(Promise.reject(error)).catch(reject)
    }
    if (appends.length === 0) return
    const [error, statuses] = answers![others.length]!
    if (error === null) settleAppends(appends, statuses as readonly string[], lacks)
    else for (const { reject } of appends) this.#told(Promise.reject(error)).catch(reject)
  }

  /** Part of a value, as bytes. */
  bytes(key: string, from: number, to: number): Promise<Buffer> {
    return this.#told(this.#redis.getrangeBuffer(key, from, to))
  }

  length(key: string): Promise<number> {
    return this.#told(this.#redis.strlen(key))
  }

  members(key: string): Promise<string[]> {
    return this.#told(this.#redis.smembers(key))
  }

  exists(key: string): Promise<boolean> {
    return this.#told(this.#redis.exists(key)).then(count => count > 0)
  }

  /** Set a value unless there is one. Returns whether it was set. Without `ttlMs` it never expires. */
  async keep(key: string, value: string, ttlMs?: number): Promise<boolean> {
    const kept =
      ttlMs === undefined ? this.#redis.set(key, value, 'NX') : this.#redis.set(key, value, 'PX', ttlMs, 'NX')
    return (await this.#told(kept)) === 'OK'
  }

  /** Number of all keys of the server. */
  size(): Promise<number> {
    return this.#told(this.#redis.dbsize())
  }

  get(key: string): Promise<string | null> {
    return this.#told(this.#redis.get(key))
  }

  /** A field of a hash. */
  field(key: string, name: string): Promise<string | null> {
    return this.#told(this.#redis.hget(key, name))
  }

  /** The values of these keys. */
  values(keys: readonly string[]): Promise<(string | null)[]> {
    return this.#told(this.#redis.mget(...keys))
  }

  /** A section of INFO, by name. */
  async info(section: string): Promise<ReadonlyMap<string, string>> {
    const text = await this.#told(this.#redis.info(section))
    return new Map(
      text
        .split('\r\n')
        .filter(line => line.includes(':'))
        .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    )
  }

  /** A setting of the server; null when the server does not reveal it. */
  async setting(name: string): Promise<string | null> {
    const answer = (await this.#told(this.#redis.config('GET', name)).catch(() => [])) as readonly string[]
    return answer[1] ?? null
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  /**
   * Commands of this turn leave in one write. The driver's own pipelines cost a shard a sixth of its time where most turns have
   * one command (bench/notes/2026-11-24-cost-of-several-nodes.md).
   */
  #gather(): void {
    const { stream } = this.#redis
    if (this.#gathering || stream === undefined) return
    this.#gathering = true
    stream.cork()
    process.nextTick(() => {
      this.#gathering = false
      stream.uncork()
    })
  }

  async #told<T>(answer: Promise<T>): Promise<T> {
    try {
      const told = await answer
      this.#awaySinceMs = null
      this.#answeredMs = performance.now()
      return told
    } catch (error) {
      const message = error instanceof Error ? error.message : ''
      if (/\b(FENCED|STOLEN|GAP)\b/.test(message)) {
        this.#awaySinceMs = null
        throw new Fenced(message)
      }
      this.#awaySinceMs ??= performance.now()
      if (message === 'Command timed out') this.#unanswered()
      throw error
    }
  }

  /** A server that hangs keeps its connections: this one is ended, and the next leads to its successor. */
  #unanswered(): void {
    if (this.#lead !== null && performance.now() - this.#answeredMs >= answerMs) this.#leave()
  }

  /** End this connection if another server is the primary now: the former one may run and not know of it. */
  async #follow(): Promise<void> {
    if (this.#lead === null || this.#following) return
    this.#following = true
    try {
      if (await this.#lead.moved()) this.#leave()
    } catch {
      // nobody names a primary: this one stays
    } finally {
      this.#following = false
    }
  }

  #leave(): void {
    if (this.#redis.status !== 'ready' || this.#leaving) return
    this.#leaving = true
    this.#redis.disconnect(true)
  }
}

const anotherConnection = (): Error => new Error('the connection to Redis was made anew; try again')

/** lacks: why writes that were done do not count; null: they do. */
function settleAppends(
  writes: readonly Write[],
  statuses: readonly string[],
  lacks: Error | null = null,
): void {
  for (const [i, { resolve, reject }] of writes.entries())
    if (statuses[i] !== 'OK') reject(new Fenced(statuses[i]!))
    else if (lacks === null) resolve()
    else reject(lacks)
}

// The client of Redis: one connection. Its commands fail when Redis is away, and never wait for it.
import { Redis } from 'ioredis'
import type { RedisAddress } from '../protocol/shard-options.js'
import { Fenced } from './fenced.js'
import { type ScriptName, scriptOf, scripts } from './scripts.js'

type Argument = string | number | Buffer

/** A command without an answer after this long fails. Redis may still run it. */
const answerMs = 3_000
const connectMs = 2_000
const retryMsMax = 250

/** A connection. Commands of one tick are sent together. */
export class RedisClient {
  readonly #redis: Redis
  /** Since when no command was answered, of the monotonic clock; null: the last one was answered. */
  #awaySinceMs: number | null = null

  private constructor(
    redis: Redis,
    readonly address: RedisAddress,
  ) {
    this.#redis = redis
    for (const name of Object.keys(scripts) as ScriptName[])
      redis.defineCommand(name, { numberOfKeys: 1, lua: scriptOf(name) })
  }

  /** Connects, however long it takes. `failed` is called for every failed attempt. */
  static async open(address: RedisAddress, failed: (error: Error) => void = () => {}): Promise<RedisClient> {
    const redis = new Redis(address.url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableAutoPipelining: true,
      commandTimeout: answerMs,
      connectTimeout: connectMs,
      retryStrategy: times => Math.min(20 * times, retryMsMax),
    })
    redis.on('error', failed)
    const client = new RedisClient(redis, address)
    const ready = new Promise<void>(resolve => redis.once('ready', resolve))
    redis.connect().catch(failed)
    await ready
    return client
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
    return this.#told(commands[name]!(this.address.prefix, ...given))
  }

  /** The same. Resolves when the configured number of replicas has the write. */
  async write(name: ScriptName, ...given: readonly Argument[]): Promise<void> {
    const { replicas } = this.address
    const written = this.run(name, ...given)
    if (replicas === 0) return void (await written)
    const [, reached] = await Promise.all([written, this.#told(this.#redis.wait(replicas, answerMs - 500))])
    if (reached < replicas) throw new Error(`${reached} of ${replicas} replicas have the write`)
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

  get(key: string): Promise<string | null> {
    return this.#told(this.#redis.get(key))
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

  async #told<T>(answer: Promise<T>): Promise<T> {
    try {
      const told = await answer
      this.#awaySinceMs = null
      return told
    } catch (error) {
      const message = error instanceof Error ? error.message : ''
      if (/\b(FENCED|STOLEN|GAP)\b/.test(message)) {
        this.#awaySinceMs = null
        throw new Fenced(message)
      }
      this.#awaySinceMs ??= performance.now()
      throw error
    }
  }
}

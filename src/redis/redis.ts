// The one way to Redis: a connection whose commands fail when it is away, and never wait for it.
import { Redis } from 'ioredis'
import type { RedisAddress } from '../protocol/shard-options.js'
import { Fenced } from './fenced.js'
import { type ScriptName, scriptOf, scripts } from './scripts.js'

type Argument = string | number | Buffer

/** A command that has no answer by then is given up; it may still be run. */
const answerMs = 3_000
const connectMs = 2_000
const retryMsMax = 250

/** A connection. Commands of one tick leave together. */
export class RedisClient {
  readonly #redis: Redis
  /** Since when no command was answered, of the monotonic clock; null: the last one was. */
  #awaySinceMs: number | null = null

  private constructor(
    redis: Redis,
    readonly address: RedisAddress,
  ) {
    this.#redis = redis
    for (const name of Object.keys(scripts) as ScriptName[])
      redis.defineCommand(name, { numberOfKeys: 1, lua: scriptOf(name) })
  }

  /** Connect, however long it takes; `failed` hears of every try that failed. */
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

  /** Since when Redis does not answer, of the monotonic clock; null: it does. */
  get awaySinceMs(): number | null {
    return this.#awaySinceMs
  }

  /** The key of this name. */
  key(name: string): string {
    return this.address.prefix + name
  }

  /**
   * Run a script; its answer's texts as UTF-8.
   *
   * errors  Fenced; those of the driver: the script may have run then, or may yet.
   */
  run<Answer>(name: ScriptName, ...given: readonly Argument[]): Promise<Answer> {
    const commands = this.#redis as unknown as Record<string, (...all: Argument[]) => Promise<Answer>>
    return this.#told(commands[name]!(this.address.prefix, ...given))
  }

  /** The same; resolves when as many replicas as were asked for have what it wrote. */
  async write(name: ScriptName, ...given: readonly Argument[]): Promise<void> {
    const { replicas } = this.address
    const written = this.run(name, ...given)
    if (replicas === 0) return void (await written)
    const [, reached] = await Promise.all([written, this.#told(this.#redis.wait(replicas, answerMs - 500))])
    if (reached < replicas) throw new Error(`${reached} of ${replicas} replicas have the write`)
  }

  /** A part of a value, as bytes. */
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

  /** Keep a value unless there is one; returns whether it was kept. Without `ttlMs` it stays. */
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

  /** A setting of the server; null when it does not tell. */
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

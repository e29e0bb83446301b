// The HTTP thread's side of the projectors: starts their thread, waits for projected positions, reports the lag.
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type StartThread, startThread, type Thread } from '../entities/shards/thread.js'
import { ServiceError } from '../errors.js'
import type { Sequence } from '../journal/journal.js'
import { shardDirectory } from '../journal/segment.js'
import type { ClickHouseAddress } from '../storage/clickhouse.js'
import type { PostgresAddress } from '../storage/postgres.js'
import type { Port } from '../wire/port.js'
import type { Positions } from '../wire/positions.js'
import type {
  ProjectedChunk,
  ProjectedStore,
  ProjectorNotice,
  ProjectorOptions,
  ProjectorRequest,
} from '../wire/projector-messages.js'
import type { RedisAddress } from '../wire/shard-options.js'

export interface ProjectionsOptions {
  readonly positions: Positions
  readonly generation: string
  /** The journals' root: shard-00, shard-01… lie in it. */
  readonly journalDirectory: string
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
  readonly log: Logger
  /** Several nodes only: the Redis with the journals. The node owns none when it starts. */
  readonly redis?: RedisAddress
  /** Called for every chunk, where traces are made. */
  readonly chunk?: ((chunk: ProjectedChunk) => void) | undefined
  /** The sequence of each shard behind which it has no record of an environment; null: not known. */
  readonly lastOf?: (environmentId: string) => Promise<readonly (Sequence | null)[]>
  /** Stores that lack their schema: nothing is written there until `begin`. */
  readonly waiting?: readonly ProjectedStore[]
  /** Called when rows came into the outbox of webhooks. */
  readonly announced?: () => void
  readonly workerFile?: URL
  readonly startThread?: StartThread
  /** Bounds and pauses for tests; see ProjectorOptions. */
  readonly bounds?: Pick<ProjectorOptions, 'rowsMax' | 'bytesMax' | 'postgresMs' | 'clickhouseMs'>
}

/** How far a store is behind the journals. */
interface ProjectionLag {
  readonly records: number
  /** Age of the oldest record that is not projected, to about a second. */
  readonly seconds: number
}

interface Waiter {
  readonly store: ProjectedStore
  readonly shard: number
  readonly sequence: Sequence
  readonly patient: boolean
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

const projectorFile = new URL('../../served/projector.js', import.meta.url)
const stores = ['postgres', 'clickhouse'] as const
const names = { postgres: 'Postgres', clickhouse: 'ClickHouse' } as const
const lateError = (store: ProjectedStore): ServiceError =>
  new ServiceError('store_away', `${names[store]} is away or behind; try again`)
const waitMs = 10_000
const seenPollMs = 20
const sampleMs = 1_000
const samplesMax = 3_600

export class Projections {
  readonly #options: ProjectionsOptions
  readonly #positions: Positions
  readonly #waiters = new Set<Waiter>()
  /** Callers that wait until checks are sent. */
  readonly #checksSent: (() => void)[] = []
  /** Streams that fail now, by store and shard, with the message. */
  readonly #failing = new Map<string, string>()
  /** Shards whose store does not answer, by store. */
  readonly #away = new Set<string>()
  /** Committed sequences at recent times, oldest first. */
  readonly #samples: { readonly atMs: number; readonly committed: readonly Sequence[] }[] = []
  readonly #sampling: NodeJS.Timeout
  #thread: Thread | null = null
  #port: Port | null = null
  #life: Promise<void> = Promise.resolve()
  #stopping = false
  #deaths = 0
  /** The hold asked for, and those that hold; all are lost with their thread. */
  #holding: { readonly held: () => void; readonly lost: (error: Error) => void } | null = null
  readonly #held = new Set<ProjectedStore>()
  /** Stores that lack their schema. */
  readonly #waiting: Set<ProjectedStore>
  /** Journals that are projected. */
  readonly #owned = new Set<number>()
  /** Callers of `disown` by shard, in the order of their calls. */
  readonly #leaving = new Map<number, (() => void)[]>()

  protected constructor(options: ProjectionsOptions) {
    this.#options = options
    this.#positions = options.positions
    this.#waiting = new Set(options.waiting)
    if (options.redis === undefined)
      for (let shard = 0; shard < options.positions.shards; shard++) this.#owned.add(shard)
    this.#sampling = setInterval(() => this.#sample(), sampleMs)
    this.#sampling.unref()
    this.#sample()
  }

  /** Start the projectors' thread. Resolves at once: stores may be away. */
  static async start(options: ProjectionsOptions): Promise<Projections> {
    const projections = new this(options)
    projections.#launch()
    return projections
  }

  /**
   * Wait until a record is in a store: acknowledged data can then be read there.
   *
   * timeoutMs  longest wait.
   * errors     store_away (503) naming the store: after that time, or as soon as it is known not to answer.
   */
  reached(store: ProjectedStore, shard: number, sequence: Sequence, timeoutMs = waitMs): Promise<void> {
    if (this.#positions.get(shard, store) >= sequence) return Promise.resolve()
    // a caller with a long timeout waits for the store to come back
    const patient = timeoutMs > waitMs
    if (!patient && (this.#waiting.has(store) || this.#away.has(`${store} ${shard}`)))
      return Promise.reject(lateError(store))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(lateError(store))
      }, timeoutMs)
      const waiter: Waiter = { store, shard, sequence, patient, resolve, reject, timer }
      this.#waiters.add(waiter)
      this.#post({ type: 'want', store, shard, sequence })
    })
  }

  /** Wait until everything committed so far, in every shard, is in a store. Errors as `reached`. */
  async barrier(store: ProjectedStore, timeoutMs = waitMs): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#positions.shards }, (_, shard) =>
        this.reached(store, shard, this.#positions.get(shard, 'committed'), timeoutMs),
      ),
    )
  }

  /**
   * Wait until everything of an environment that is committed so far is in a store. Records of others are waited for only
   * where they lie before its own. Errors as `reached`.
   */
  async barrierOf(store: ProjectedStore, environmentId: string, timeoutMs = waitMs): Promise<void> {
    const shards = Array.from({ length: this.#positions.shards }, (_, shard) => shard)
    const committed = shards.map(shard => this.#positions.get(shard, 'committed'))
    if (shards.every(shard => this.#positions.get(shard, store) >= committed[shard]!)) return
    const last = (await this.#options.lastOf?.(environmentId)) ?? []
    const wanted = (shard: number) => Math.min(committed[shard]!, last[shard] ?? committed[shard]!)
    await Promise.all(shards.map(shard => this.reached(store, shard, wanted(shard), timeoutMs)))
  }

  /**
   * Wait until every last_seen_at committed so far is in Postgres; they are gathered, and written at once where somebody
   * waits. Errors as `reached`.
   */
  async seenBarrier(timeoutMs = waitMs): Promise<void> {
    const shards = Array.from({ length: this.#positions.shards }, (_, shard) => shard)
    const wanted = shards.map(shard => this.#positions.get(shard, 'committed'))
    const untilMs = performance.now() + timeoutMs
    for (const [shard, sequence] of wanted.entries())
      if (this.#positions.get(shard, 'seen') < sequence) this.#post({ type: 'want_seen', shard, sequence })
    while (shards.some(shard => this.#positions.get(shard, 'seen') < wanted[shard]!)) {
      const away = shards.some(shard => this.#away.has(`postgres ${shard}`))
      if (away || performance.now() >= untilMs) throw lateError('postgres')
      await new Promise(resolve => setTimeout(resolve, seenPollMs))
    }
  }

  /**
   * Flag checks for ClickHouse: lines of tables events (samples of single checks) and flag_checks (counts).
   * Best effort: kept while ClickHouse is away up to a bound, not through a crash (FE-101…103).
   */
  recordChecks(rows: readonly string[], counts: readonly string[]): void {
    if (rows.length + counts.length > 0) this.#post({ type: 'checks', rows, counts })
  }

  /** Send the checks that wait. Resolves when ClickHouse has them, or after a time: it may be away. */
  async sendChecks(timeoutMs = waitMs): Promise<void> {
    const sent = new Promise<void>(resolve => this.#checksSent.push(resolve))
    this.#post({ type: 'send_checks' })
    const late = new AbortController()
    await Promise.race([
      sent,
      delay(timeoutMs, undefined, { signal: late.signal, ref: false }).catch(() => {}),
    ])
    late.abort()
  }

  /** How far a store is behind, over all shards. */
  lag(store: ProjectedStore): ProjectionLag {
    let records = 0
    let sinceMs = Date.now()
    for (let shard = 0; shard < this.#positions.shards; shard++) {
      const position = this.#positions.get(shard, store)
      const behind = this.#positions.get(shard, 'committed') - position
      if (behind <= 0) continue
      records += behind
      sinceMs = Math.min(sinceMs, this.#coveredAt(shard, position))
    }
    return { records, seconds: Math.max(0, (Date.now() - sinceMs) / 1_000) }
  }

  /** Present problems, in words, for /health/ready; empty when there are none. */
  degraded(): string[] {
    return stores
      .filter(store => [...this.#failing.keys()].some(key => key.startsWith(store)))
      .map(store => `${names[store]} projection`)
  }

  /**
   * Let nothing more be written into a store until `release`: its rows then agree with its positions in Postgres,
   * unless the last attempt failed. One hold at a time.
   *
   * errors  store_away when the write in progress does not end in time.
   */
  async hold(store: ProjectedStore, timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        this.#holding = { held: resolve, lost: reject }
        timer = setTimeout(() => reject(lateError(store)), timeoutMs)
        this.#post({ type: 'hold', store })
      })
      this.#held.add(store)
    } finally {
      this.#holding = null
      clearTimeout(timer)
    }
  }

  /** Go on. Returns the stores that were held until now. */
  release(): readonly ProjectedStore[] {
    const held = [...this.#held]
    this.#held.clear()
    this.#post({ type: 'release' })
    return held
  }

  /** A store that was waited for has its schema: write into it from now on. */
  begin(store: ProjectedStore): void {
    this.#waiting.delete(store)
    this.#post({ type: 'begin', store })
  }

  /** Project what is committed, for at most `drainMs`, and end the thread. Waiting callers get `starting` (503). */
  async stop(drainMs = 5_000): Promise<void> {
    if (this.#stopping) return this.#life
    this.#stopping = true
    clearInterval(this.#sampling)
    this.#post({ type: 'stop', drainMs })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, drainMs + 2_000)
    })
    await Promise.race([this.#life, late])
    clearTimeout(timer)
    for (const waiter of [...this.#waiters])
      this.#end(waiter, new ServiceError('starting', 'Stopping; try again'))
    this.#port?.close()
    await this.#thread?.destroy()
  }

  #launch(): void {
    const { generation, redis, postgres, clickhouse, bounds, chunk } = this.#options
    const options: ProjectorOptions = {
      generation,
      shards: [...this.#owned].map(index => this.#shard(index)),
      redis,
      positions: this.#positions.memory,
      postgres,
      clickhouse,
      waiting: [...this.#waiting],
      tellsChunks: chunk !== undefined,
      ...bounds,
    }
    const { startThread: start = startThread, workerFile = projectorFile } = this.#options
    const thread = start(workerFile, port => ({ port, options }))
    this.#thread = thread
    this.#port = thread.port
    thread.port.on('message', (notice: ProjectorNotice) => this.#hear(notice))
    this.#life = thread.ended.then(
      () => this.#ended(null),
      (error: unknown) => this.#ended(error),
    )
    // Callers that waited when the last thread died still wait.
    for (const { store, shard, sequence } of this.#waiters)
      this.#post({ type: 'want', store, shard, sequence })
  }

  #shard(index: number) {
    return { index, directory: shardDirectory(this.#options.journalDirectory, index) }
  }

  /** Journals that are projected here. */
  protected get owned(): readonly number[] {
    return [...this.#owned]
  }

  protected get positions(): Positions {
    return this.#positions
  }

  /**
   * Project a shard's journal from now on: its positions are as Postgres has them. Writes of an earlier ownership end
   * first.
   */
  own(index: number): void {
    this.#owned.add(index)
    this.#post({ type: 'own', shard: this.#shard(index) })
  }

  /**
   * Project it no more; resolves when none of its writes is in progress. Waiting callers get an error that asks for a
   * retry.
   */
  async disown(index: number): Promise<void> {
    if (!this.#owned.delete(index)) return
    const isRunning = this.#port !== null
    const waiters = [...this.#waiters].filter(waiter => waiter.shard === index)
    const left = new Promise<void>(resolve => {
      if (isRunning) this.#leaving.set(index, [...(this.#leaving.get(index) ?? []), resolve])
      else resolve()
    })
    this.#post({ type: 'disown', index })
    await left
    for (const waiter of waiters)
      if (this.#waiters.has(waiter))
        this.#end(waiter, new ServiceError('starting', 'The shard moves; try again'))
    for (const store of stores) this.#failing.delete(`${store} ${index}`)
    for (const store of stores) this.#away.delete(`${store} ${index}`)
  }

  #left(index: number): void {
    const [first, ...later] = this.#leaving.get(index) ?? []
    if (later.length > 0) this.#leaving.set(index, later)
    else this.#leaving.delete(index)
    first?.()
  }

  #ended(error: unknown): void {
    const leaving = [...this.#leaving.values()].flat()
    this.#leaving.clear()
    for (const left of leaving) left()
    this.#port?.close()
    this.#port = null
    this.#held.clear()
    this.#away.clear()
    this.#holding?.lost(new ServiceError('starting', 'The projectors restart; try again'))
    if (this.#stopping) return
    void this.#thread?.destroy()
    this.#options.log.error({ err: error }, 'the projectors died and are started again')
    const delayMs = Math.min(10_000, 100 * 2 ** Math.min(10, this.#deaths++))
    setTimeout(() => {
      if (!this.#stopping) this.#launch()
    }, delayMs)
  }

  #post(request: ProjectorRequest): void {
    this.#port?.postMessage(request)
  }

  #hear(notice: ProjectorNotice): void {
    const { log } = this.#options
    switch (notice.type) {
      case 'moved':
        this.#release(notice.store, notice.shard)
        return
      case 'held':
        this.#holding?.held()
        return
      case 'failing':
        this.#failing.set(`${notice.store} ${notice.shard}`, notice.error)
        if (notice.away) this.#isAway(notice.store, notice.shard)
        log.warn({ store: notice.store, shard: notice.shard, err: notice.error }, 'a projection fails')
        return
      case 'recovered':
        this.#failing.delete(`${notice.store} ${notice.shard}`)
        this.#away.delete(`${notice.store} ${notice.shard}`)
        log.info({ store: notice.store, shard: notice.shard }, 'a projection goes on')
        return
      case 'disowned':
        return this.#left(notice.index)
      case 'announced':
        this.#options.announced?.()
        return
      case 'checks_sent':
        for (const resolve of this.#checksSent.splice(0)) resolve()
        return
      case 'checks_dropped':
        log.warn({ rows: notice.rows }, 'flag check records were dropped: ClickHouse is away')
        return
      case 'chunk':
        this.#options.chunk?.(notice)
        return
    }
  }

  /** A wait would be in vain while the store refuses connections. */
  #isAway(store: ProjectedStore, shard: number): void {
    this.#away.add(`${store} ${shard}`)
    for (const waiter of [...this.#waiters])
      if (waiter.store === store && waiter.shard === shard && !waiter.patient)
        this.#end(waiter, lateError(store))
  }

  #release(store: ProjectedStore, shard: number): void {
    const position = this.#positions.get(shard, store)
    for (const waiter of [...this.#waiters])
      if (waiter.store === store && waiter.shard === shard && waiter.sequence <= position)
        this.#end(waiter, null)
  }

  #end(waiter: Waiter, error: Error | null): void {
    clearTimeout(waiter.timer)
    this.#waiters.delete(waiter)
    if (error === null) waiter.resolve()
    else waiter.reject(error)
  }

  #sample(): void {
    const committed = Array.from({ length: this.#positions.shards }, (_, shard) =>
      this.#positions.get(shard, 'committed'),
    )
    this.#samples.push({ atMs: Date.now(), committed })
    if (this.#samples.length > samplesMax) this.#samples.shift()
  }

  // The latest time at which a position was all there was.
  #coveredAt(shard: number, position: Sequence): number {
    const sample = this.#samples.findLast(one => one.committed[shard]! <= position)
    return sample?.atMs ?? this.#samples[0]?.atMs ?? Date.now()
  }
}

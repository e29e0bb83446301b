// The entry of the projectors: one thread that brings the journals of all shards into Postgres and ClickHouse, behind
// the committed ends. Nothing else writes companies, users, events or usage to a store.
import { ServiceError } from '../../src/errors.js'
import { limitConcurrency } from '../../src/host/concurrency.js'
import { mechanisms } from '../../src/host/few-cores.js'
import { collectWhenIdle } from '../../src/host/idle-gc.js'
import { monotonicMs } from '../../src/host/monotonic.js'
import { afterRequests, lowerThread } from '../../src/host/thread-priority.js'
import { type JournalDisk, nodeDisk } from '../../src/journal/disk.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { isAway } from '../../src/storage/away.js'
import { type ClickHouse, openClickHouse } from '../../src/storage/clickhouse.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import type { Port } from '../../src/wire/port.js'
import { Positions } from '../../src/wire/positions.js'
import type {
  ProjectedShard,
  ProjectedStore,
  ProjectorNotice,
  ProjectorOptions,
  ProjectorRequest,
} from '../../src/wire/projector-messages.js'
import type { RedisAddress } from '../../src/wire/shard-options.js'
import { CheckWriter } from './checks.js'
import { type ChunkStore, postgresChunks } from './chunks.js'
import { ClickHouseProjection } from './clickhouse.js'
import { gatherMs } from './gather.js'
import { PostgresProjection } from './postgres.js'
import { postgresRows, type RowStore } from './rows.js'
import { type Attempt, type Projection, Stream } from './stream.js'

interface ProjectorTask {
  readonly port: Port
  readonly options: ProjectorOptions
}

/** How often flag checks may be sent. */
const checksMs = 1_000
/** Readers that read nothing for so long free the memory of their chunks, ms. */
const restMs = 10_000

/** Chunks for ClickHouse in memory at once, over all shards. */
const chunksAtOnce = 2

/** The projectors' stores and journals; a simulation replaces them. */
interface ProjectorStorage {
  readonly disk: JournalDisk
  readonly rows: RowStore
  readonly chunks: ChunkStore
  readonly clickhouse: Pick<ClickHouse, 'insertRaw'>
  close(): Promise<unknown>
}

/** Runs until it gets `stop` or the port closes. */
export default async function project(task: ProjectorTask): Promise<void> {
  const { options } = task
  const journals = options.redis === undefined ? null : await journalsIn(options.redis)
  const sql = openPostgres(options.postgres, {
    max: Math.min(options.postgres.shares?.projector ?? 8, journals === null ? 1 + options.shards.length : 8),
  })
  const clickhouse = openClickHouse(options.clickhouse, { max: 4 })
  if (mechanisms().idleCollections) collectWhenIdle()
  if (mechanisms().threadPriorities) lowerThread(afterRequests)
  return runProjectors(task, {
    disk: journals?.disk ?? nodeDisk,
    rows: postgresRows(sql),
    chunks: postgresChunks(sql),
    clickhouse,
    close: () => Promise.all([closePostgres(sql, 1_000), clickhouse.close(), journals?.close()]),
  })
}

/** Loaded by a node among several alone. */
async function journalsIn(address: RedisAddress) {
  const { RedisSlots } = await import('../../src/redis/slots.js')
  const { RedisDisk } = await import('../../src/redis/disk.js')
  const slots = await RedisSlots.open(address)
  return { disk: new RedisDisk(slots), close: () => slots.close() }
}

/** The same over any storage. */
export function runProjectors(task: ProjectorTask, storage: ProjectorStorage): Promise<void> {
  return new Projectors(task, storage).run()
}

class Projectors {
  readonly #port: Port
  readonly #options: ProjectorOptions
  readonly #positions: Positions
  readonly #storage: ProjectorStorage
  readonly #readers = new Map<number, FileJournalReader[]>()
  readonly #streams = new Map<string, Stream>()
  /** Shards whose streams end after a move, with what was asked for such a shard in the meantime. */
  readonly #leaving = new Map<number, ProjectorRequest[]>()
  /** Stores into which nothing is written for now. */
  readonly #holding = new Set<ProjectedStore>()
  /** The held stores that lack their schema: a release does not concern them. */
  readonly #waiting: Set<ProjectedStore>
  /** The highest sequence somebody waits for, by store and shard. */
  readonly #wanted = new Map<string, number>()
  readonly #checks: CheckWriter
  readonly #turns = limitConcurrency(chunksAtOnce)
  #ending = false
  readonly #stopped: Promise<void>
  #stop: () => void = () => {}

  constructor({ port, options }: ProjectorTask, storage: ProjectorStorage) {
    this.#port = port
    this.#options = options
    this.#storage = storage
    this.#positions = new Positions(options.positions)
    this.#checks = new CheckWriter(storage.clickhouse, rows => this.#tell({ type: 'checks_dropped', rows }))
    this.#waiting = new Set(options.waiting)
    for (const store of this.#waiting) this.#holding.add(store)
    this.#checks.held = this.#waiting.has('clickhouse')
    this.#stopped = new Promise(resolve => {
      this.#stop = resolve
    })
  }

  async run(): Promise<void> {
    for (const shard of this.#options.shards) this.#own(shard)
    this.#port.on('message', (request: ProjectorRequest) => this.#take(request))
    this.#port.on('close', () => this.#end(0))
    const checking = setInterval(() => this.#checks.tick(), checksMs)
    const resting = setInterval(() => {
      for (const reader of [...this.#readers.values()].flat()) reader.rest()
    }, restMs)
    await this.#stopped
    clearInterval(checking)
    clearInterval(resting)
    await Promise.all([...this.#streams.values()].map(stream => stream.ended))
    this.#checks.held = this.#waiting.has('clickhouse')
    await this.#checks.finish()
    await Promise.all([...this.#readers.values()].flat().map(reader => reader.close()))
    await this.#storage.close()
    this.#port.close()
  }

  #own({ index, directory }: ProjectedShard): void {
    this.#start(this.#postgresOf(index, directory))
    this.#start(this.#clickhouseOf(index, directory))
  }

  /** Returns false for a shard whose former streams still end: the request is done after that. */
  #isFree(index: number, request: ProjectorRequest): boolean {
    const later = this.#leaving.get(index)
    later?.push(request)
    return later === undefined
  }

  async #disown(index: number): Promise<void> {
    this.#leaving.set(index, [])
    const streams = [`postgres ${index}`, `clickhouse ${index}`].flatMap(key => this.#streams.get(key) ?? [])
    for (const stream of streams) stream.stop(true)
    await Promise.all(streams.map(stream => stream.ended))
    for (const key of [`postgres ${index}`, `clickhouse ${index}`]) {
      this.#streams.delete(key)
      this.#wanted.delete(key)
    }
    await Promise.all((this.#readers.get(index) ?? []).map(reader => reader.close()))
    this.#readers.delete(index)
    this.#tell({ type: 'disowned', index })
    const later = this.#leaving.get(index)!
    this.#leaving.delete(index)
    if (!this.#ending) for (const request of later) this.#take(request)
  }

  #postgresOf(shard: number, directory: string): Projection {
    const { generation, postgres } = this.#bounds()
    return new PostgresProjection({
      store: this.#storage.rows,
      reader: this.#reader(shard, directory),
      positions: this.#positions,
      generation,
      shard,
      announced: () => this.#tell({ type: 'announced' }),
      now: Date.now,
      ...postgres,
    })
  }

  #clickhouseOf(shard: number, directory: string): Projection {
    const { generation, clickhouse } = this.#bounds()
    return new ClickHouseProjection({
      turn: this.#turns,
      chunks: this.#storage.chunks,
      clickhouse: this.#storage.clickhouse,
      reader: this.#reader(shard, directory),
      positions: this.#positions,
      generation,
      shard,
      ...clickhouse,
    })
  }

  #bounds() {
    const { generation, rowsMax = 100_000, bytesMax = 48 << 20 } = this.#options
    return {
      generation,
      postgres: {
        factsMax: 2_000,
        recordsMax: 500_000,
        seenMs: 1_000,
        manySeenMs: 10_000,
        seenAtOnce: 1_000,
      },
      clickhouse: { recordsMax: rowsMax, bytesMax },
    }
  }

  #reader(shard: number, directory: string): FileJournalReader {
    const reader = new FileJournalReader({ directory, disk: this.#storage.disk })
    this.#readers.set(shard, [...(this.#readers.get(shard) ?? []), reader])
    return reader
  }

  #start(projection: Projection): void {
    const { store, shard } = projection
    const stream = new Stream(projection, {
      positions: this.#positions,
      gatherMs: records => gatherMs(store, records, this.#readers.size, this.#options),
      gatherMax: this.#options.rowsMax ?? 100_000,
      retryMinMs: 100,
      retryMaxMs: 2_000,
      now: Date.now,
      held: this.#holding.has(store),
      moved: () => this.#moved(store, shard),
      failing: (_, error) =>
        this.#tell({ type: 'failing', store, shard, error: text(error), away: saysAway(error) }),
      recovered: () => this.#tell({ type: 'recovered', store, shard }),
      attempted: this.#options.tellsChunks
        ? (_, attempt) => this.#attempted(store, shard, attempt)
        : undefined,
    })
    this.#streams.set(`${store} ${shard}`, stream)
  }

  #take(request: ProjectorRequest): void {
    switch (request.type) {
      case 'want': {
        if (!this.#isFree(request.shard, request)) return
        const key = `${request.store} ${request.shard}`
        this.#wanted.set(key, Math.max(this.#wanted.get(key) ?? 0, request.sequence))
        // It may have been reached while the request was on its way.
        this.#moved(request.store, request.shard)
        this.#streams.get(key)?.want(request.sequence)
        return
      }
      case 'want_seen':
        if (this.#isFree(request.shard, request))
          this.#streams.get(`postgres ${request.shard}`)?.wantSeen(request.sequence)
        return
      case 'checks':
        this.#checks.add(request.counts, request.rows)
        return
      case 'send_checks':
        void this.#checks.finish().then(() => this.#tell({ type: 'checks_sent' }))
        return
      case 'own':
        if (this.#isFree(request.shard.index, request)) this.#own(request.shard)
        return
      case 'disown':
        if (this.#isFree(request.index, request)) void this.#disown(request.index)
        return
      case 'hold':
        void this.#hold(request.store)
        return
      case 'release':
        return this.#release()
      case 'begin':
        this.#waiting.delete(request.store)
        return this.#release()
      case 'stop':
        this.#end(request.drainMs)
        return
    }
  }

  async #hold(store: ProjectedStore): Promise<void> {
    this.#holding.add(store)
    const streams = [...this.#streams].filter(([key]) => key.startsWith(store)).map(([, stream]) => stream)
    if (store === 'clickhouse') this.#checks.held = true
    await Promise.all([...streams.map(stream => stream.hold()), this.#checks.sent])
    this.#tell({ type: 'held', store })
  }

  #release(): void {
    for (const store of this.#holding) if (!this.#waiting.has(store)) this.#holding.delete(store)
    this.#checks.held = this.#holding.has('clickhouse')
    for (const [key, stream] of this.#streams)
      if (![...this.#holding].some(store => key.startsWith(store))) stream.release()
  }

  #moved(store: ProjectedStore, shard: number): void {
    const key = `${store} ${shard}`
    const wanted = this.#wanted.get(key)
    if (wanted === undefined) return
    this.#tell({ type: 'moved', store, shard })
    if (this.#positions.get(shard, store) >= wanted) this.#wanted.delete(key)
  }

  #attempted(store: ProjectedStore, shard: number, { records, failed, ms }: Attempt): void {
    const toMs = monotonicMs()
    this.#tell({ type: 'chunk', store, shard, records, failed, fromMs: toMs - ms, toMs })
  }

  #end(drainMs: number): void {
    this.#ending = true
    const streams = [...this.#streams.values()]
    for (const [key, stream] of this.#streams)
      stream.stop(drainMs === 0 || [...this.#waiting].some(store => key.startsWith(store)))
    if (drainMs > 0)
      setTimeout(() => {
        for (const stream of streams) stream.stop(true)
      }, drainMs).unref()
    this.#stop()
  }

  #tell(notice: ProjectorNotice): void {
    this.#port.postMessage(notice)
  }
}

const saysAway = (error: unknown): boolean =>
  isAway(error) || (error instanceof ServiceError && error.code === 'store_away')

function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause}`.slice(0, 1_000)
}

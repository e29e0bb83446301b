// Extra fronts, as the main thread sees them: it starts them, leaves the connections to them, tells them what they must know,
// answers what they pass on, and replaces one that dies.
import { MessageChannel } from 'node:worker_threads'
import type { CheckCounts } from '../../core/model/message.js'
import type { Shards } from '../../entities/shards/shards.js'
import { type StartThread, startThread, type Thread } from '../../entities/shards/thread.js'
import type { Logger, RequestLine } from '../../log.js'
import { latencyBounds } from '../../metrics.js'
import type { KeyFacts } from '../../wire/front-facts.js'
import { FrontFigures } from '../../wire/front-figures.js'
import type { FrontOptions, FrontSettings, FrontTask, SharedNames } from '../../wire/front-task.js'
import type { UsesPacket } from '../../wire/front-uses.js'
import type { FromFront, ToFront } from '../../wire/passed.js'
import type { Passage, PassedApp } from '../http/apps/passed-app.js'
import { refusedMessage } from '../http/apps/refused-connections.js'
import type { FrontMemory } from './shared-memory.js'

/** How often it is looked whether the fronts live, and how many looks find no beat of a front that is silent, or hangs. */
interface Looks {
  readonly everyMs: number
  readonly silent: number
  readonly hanging: number
}
const usualLooks: Looks = { everyMs: 1_000, silent: 10, hanging: 60 }
/** A front that dies sooner is replaced after a pause. */
const livedMs = 10_000

/** Hears a front where it does not pass a request on. */
interface FrontListener {
  /** The facts of a key that a front may know; null: none. */
  factsOf(secret: string, environmentId: string): KeyFacts | null
  counted(counts: CheckCounts): void
  /** Take the events that a front has read. */
  uses(packet: UsesPacket, front: number, say: (one: ToFront) => void): void
  used(keyIds: readonly string[]): void
  slow(line: RequestLine): void
}

export interface FrontsOptions {
  readonly app: PassedApp
  readonly workerFile: URL
  /** Fronts. */
  readonly count: number
  readonly memory: FrontMemory
  /** The directory as it is now. */
  readonly names: () => SharedNames
  readonly shards: Pick<Shards, 'connect' | 'count' | 'generationOf' | 'lodgingOver'>
  readonly listener: FrontListener
  /** The settings of all fronts. */
  readonly start: FrontSettings
  readonly log: Logger
  /**
   * A front hangs. Its server cannot be closed from outside, and the system goes on giving it connections: the process must
   * end.
   */
  readonly hangs: () => void
  readonly startThread?: StartThread
  /** A test does not wait for a minute. */
  readonly looks?: Looks
}

/** One extra front. */
interface Front {
  readonly index: number
  /** No other front ever has it, neither one in its place. */
  readonly number: number
  readonly thread: Thread
  readonly passage: Passage
  /** Fronts before it that died soon. */
  readonly deaths: number
  /** When it was started, ms of `performance.now()`. */
  readonly sinceMs: number
  /** It takes connections. */
  listens: boolean
  /** The beat at the last look, and how many looks saw no other. */
  beat: number
  silent: number
}

export class Fronts {
  private readonly fronts: Front[] = []
  private readonly beats: Int32Array
  /** Figures that were reported, by front. A front that follows another counts on in the same memory. */
  private readonly reported: readonly { readonly figures: FrontFigures; readonly before: Float64Array }[]
  private readonly looks: Looks
  private readonly timer: NodeJS.Timeout
  private closing = false
  private launches = 0

  constructor(private readonly options: FrontsOptions) {
    const { count } = options
    this.beats = new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
    this.reported = Array.from({ length: count }, () => {
      const figures = FrontFigures.make(latencyBounds)
      return { figures, before: figures.numbers.slice() }
    })
    this.looks = options.looks ?? usualLooks
    this.timer = setInterval(() => this.look(), this.looks.everyMs)
    this.timer.unref()
  }

  /** Start the fronts; resolves when all listen. errors: a front that does not start. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.count }, (_, index) => this.launch(index, 0)))
  }

  /** Fronts that do not answer now, in words. */
  get degraded(): readonly string[] {
    return this.fronts.filter(one => one.silent >= this.looks.silent).map(({ index }) => `front ${index + 1}`)
  }

  /** Checks that fronts are answering. */
  get inFlight(): number {
    return this.reported.reduce((sum, { figures }) => sum + figures.inFlight, 0)
  }

  /** Answers of each front since the last call. */
  report(): readonly ReturnType<FrontFigures['since']>[] {
    return this.reported.map(({ figures, before }) => figures.since(before))
  }

  /** A shard's thread serves: every front asks it over a port of its own. */
  meet(shard: number): void {
    for (const front of this.fronts) this.connect(front, shard)
  }

  /** Cut the connections that are left, and end the threads. */
  async close(): Promise<void> {
    this.closing = true
    clearInterval(this.timer)
    for (const { passage } of this.fronts) passage.say(['close'])
    await Promise.allSettled(this.fronts.map(({ thread }) => thread.ended))
    await Promise.all(this.fronts.map(({ thread }) => thread.close()))
  }

  private connect({ passage, number }: Front, shard: number): void {
    const { shards } = this.options
    const port = shards.connect(shard, number)
    if (port !== null) passage.say(['shard', shard, port, shards.generationOf(shard)], port)
  }

  private launch(index: number, deaths: number): Promise<void> {
    const { app, memory, names, shards, start, workerFile, count } = this.options
    const { port1: chunks, port2 } = new MessageChannel()
    const { figures } = this.reported[index]!
    const options: FrontOptions = {
      ...start,
      index,
      threads: count + 1,
      sockets: app.sockets,
      beats: this.beats.buffer as SharedArrayBuffer,
      shards: shards.count,
      names: names(),
      chunks: port2,
      editions: memory.editions.memory,
      buckets: memory.buckets.memory,
      figures: figures.memory,
    }
    // in the same turn: memory that comes from now on comes over the port
    memory.ports.add(chunks)
    const begin = this.options.startThread ?? startThread
    const thread = begin(workerFile, port => ({ port, options }) satisfies FrontTask, [port2])
    const passage = app.connect(thread.port)
    const front: Front = {
      index,
      number: ++this.launches,
      thread,
      passage,
      deaths,
      sinceMs: performance.now(),
      listens: false,
      beat: 0,
      silent: 0,
    }
    this.fronts[index] = front
    for (let shard = 0; shard < shards.count; shard++) this.connect(front, shard)
    return new Promise((resolve, reject) => {
      thread.port.on('message', (list: readonly FromFront[]) => {
        for (const said of list) {
          if (said[0] === 'listens') {
            front.listens = true
            this.share()
            resolve()
          } else this.hear(front, said)
        }
      })
      const end = (error: Error): void => {
        passage.end()
        memory.ports.delete(chunks)
        chunks.close()
        figures.inFlight = 0
        const { listens } = front
        front.listens = false
        if (this.closing || app.isStopping) return
        void thread.destroy()
        this.forget(front)
        this.share()
        if (!listens && deaths === 0) return reject(error)
        this.revive(front, error)
      }
      thread.ended.then(() => end(new Error('the front ended by itself')), end)
    })
  }

  /** The main thread takes connections while no front does. */
  private share(): void {
    const { app, log } = this.options
    app
      .take(!this.fronts.some(({ listens }) => listens))
      .catch(error => log.error({ err: error }, 'no thread takes connections'))
  }

  private hear({ passage, number }: Front, said: Exclude<FromFront, readonly [op: 'listens']>): void {
    const { listener, memory, log } = this.options
    switch (said[0]) {
      case 'ask': {
        const [, secret, environmentId] = said
        const edition = memory.editions.ofAll
        passage.say(['told', secret, environmentId, listener.factsOf(secret, environmentId), edition])
        return
      }
      case 'counts':
        return listener.counted(said[1])
      case 'uses':
        return listener.uses(said[1], number, one => passage.say(one))
      case 'used':
        return listener.used(said[1])
      case 'slow':
        return listener.slow(said[1])
      case 'failed':
        return log.error({ err: said[1] }, 'a front failed in a check, and passed it on')
      case 'refused':
        return log.warn(said[1], refusedMessage)
      case 'head':
      case 'data':
      case 'gone':
      case 'taken':
      case 'text':
      case 'closed':
        return passage.hear(said)
    }
  }

  /** A front is gone, and no shard keeps rows of it. Its last messages are heard first. */
  private forget({ number }: Front): void {
    const { shards } = this.options
    const tell = (): void => {
      for (let shard = 0; shard < shards.count; shard++) shards.lodgingOver(shard, number, null)
    }
    setTimeout(tell, livedMs).unref()
  }

  /** Its callers have lost their connections; a new one takes those that come. */
  private revive({ index, deaths, sinceMs }: Front, error: Error): void {
    const { log, app } = this.options
    log.error({ front: index + 1, err: error }, 'front died')
    // one that lived for a while begins anew
    const before = performance.now() - sinceMs > livedMs ? 0 : deaths
    const delayMs = before === 0 ? 0 : Math.min(5_000, 50 * 2 ** before)
    setTimeout(() => {
      if (!this.closing && !app.isStopping) void this.launch(index, before + 1)
    }, delayMs)
  }

  /** A front beats several times between two looks. */
  private look(): void {
    const { log, hangs } = this.options
    for (const front of this.fronts) {
      const beat = Atomics.load(this.beats, front.index)
      front.silent = front.listens && beat === front.beat ? front.silent + 1 : 0
      front.beat = beat
      if (front.silent === this.looks.silent) log.error({ front: front.index + 1 }, 'front does not answer')
      if (front.silent === this.looks.hanging) hangs()
    }
  }
}

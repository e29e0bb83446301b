// Large bodies are read on threads of their own: parsed, judged, and back as sub-batches of numbers and text.
//
//   body ─▶ bound on bytes ─▶ turn ─▶ thread ─▶ sub-batches, one a turn of the event loop ─▶ shards
//
// A thread starts with the first large body, and ends when no body has come for a time: it takes some 15 MB. One that dies
// costs the body it was reading (503). The next body starts another.
import type { Logger } from 'pino'
import { type StartThread, startThread, type Thread } from '../../../entities/shards/thread.js'
import { ServiceError } from '../../../errors.js'
import type { ParseJob, ParseReply } from '../../../events/parsing.js'
import type { Metrics } from '../../../metrics.js'
import { ByteShares } from '../../../turns/byte-shares.js'
import { FairGate } from '../../../turns/fair-gate.js'
import { TurnLimiter } from './turn-limiter.js'

/** Bodies from this size on are large: reading one smaller takes the HTTP thread less than two milliseconds. */
export const largeBytes = 262_144

/** A thread without a body for so long ends, ms. */
const idleMsMax = 20_000

/** Chunks on their way to one shard: it works on one while the next is parsed and the disk writes the last. */
const subBatchesPerShard = 2

interface ParsersOptions {
  readonly workerFile: URL
  /** 0: the HTTP thread reads all bodies itself. */
  readonly threads: number
  readonly shards: number
  /** Bytes of bodies that wait, are read, or whose events are not durable yet: environments share them. */
  readonly bytesMax: number
  readonly log: Logger
  readonly metrics: Metrics['largeBodies']
  readonly startThread?: StartThread
  /** A thread without a body for so long ends, ms. */
  readonly idleMs?: number
}

interface Job {
  readonly job: ParseJob
  readonly resolve: (reply: ParseReply) => void
  readonly reject: (error: Error) => void
}

interface Parser {
  readonly thread: Thread
  /** Its current job. */
  job: Job | null
  /** Ends it unless a job comes. */
  idle: NodeJS.Timeout | undefined
}

export class Parsers {
  readonly turns: TurnLimiter
  private parsers: Parser[] = []
  private readonly jobs: Job[] = []
  private readonly shares: ByteShares
  /** One read by each thread, one of which the events are taken, one ready for that. */
  private readonly gate: FairGate
  private closing = false

  constructor(private readonly options: ParsersOptions) {
    const { bytesMax, shards, threads } = options
    this.turns = new TurnLimiter(subBatchesPerShard * shards)
    this.shares = new ByteShares(bytesMax)
    // how many wait is bounded by their bytes, and who has waited long is served all the same
    const endless = { waitingMax: Number.POSITIVE_INFINITY, patienceMs: null }
    this.gate = new FairGate({ places: threads + 2, perGroup: threads + 1, name: 'large bodies', ...endless })
  }

  /** Whether large bodies are read elsewhere. */
  get takes(): boolean {
    return this.options.threads > 0
  }

  /** Bytes of bodies held now. */
  get held(): number {
    return this.shares.held
  }

  /**
   * Do what there is to do with a large body, its bytes counted until that is done.
   *
   * group   owner: an environment.
   * errors  overloaded (503) at the bound, or at the group's share of it.
   */
  async hold<T>(group: string, bytes: number, work: () => Promise<T>): Promise<T> {
    if (!this.shares.take(group, bytes)) {
      this.options.metrics.refused.count++
      throw new ServiceError('overloaded', 'Too many large bodies are being read; try again')
    }
    try {
      return await work()
    } finally {
      this.shares.give(group, bytes)
    }
  }

  /**
   * Read a body, and ingest its events, in its turn: a few bodies at a time; groups take turns, the bodies of one in
   * order of arrival.
   *
   * gone     whether its caller has left by then: nothing of it is done.
   * returns  result of `work`; null when the caller left.
   */
  async inTurn<T>(group: string, gone: () => boolean, work: () => Promise<T>): Promise<T | null> {
    return this.gate.run(group, async () => {
      if (!gone()) return work()
      this.options.metrics.left.count++
      return null
    })
  }

  /**
   * Have a body read; its bytes are gone from here.
   *
   * errors  overloaded (503) when the thread died over it.
   */
  parse(job: ParseJob): Promise<ParseReply> {
    return new Promise((resolve, reject) => {
      if (this.closing) return reject(new ServiceError('starting'))
      this.jobs.push({ job, resolve, reject })
      this.pump()
    })
  }

  /** End the threads; no job is waiting for them any more. */
  async close(): Promise<void> {
    this.closing = true
    const stopping = new ServiceError('starting')
    for (const { reject } of this.jobs.splice(0)) reject(stopping)
    for (const { thread, job, idle } of this.parsers) {
      clearTimeout(idle)
      job?.reject(stopping)
      thread.port.close()
    }
    await Promise.all(this.parsers.map(({ thread }) => thread.close()))
  }

  private pump(): void {
    for (;;) {
      if (this.jobs.length === 0 || this.closing) return
      const parser =
        this.parsers.find(({ job }) => job === null) ??
        (this.parsers.length < this.options.threads ? this.launch() : undefined)
      if (parser === undefined) return
      const next = this.jobs.shift()!
      clearTimeout(parser.idle)
      parser.job = next
      parser.thread.port.postMessage(next.job, [next.job.bytes.buffer as ArrayBuffer])
    }
  }

  private launch(): Parser {
    const { startThread: start = startThread, workerFile, idleMs = idleMsMax, log, metrics } = this.options
    const thread = start(workerFile, port => ({ port }))
    const parser: Parser = { thread, job: null, idle: undefined }
    const take = (reply: ParseReply) => {
      parser.job?.resolve(reply)
      parser.job = null
      metrics.parsed.count++
      this.pump()
      if (parser.job === null) parser.idle = setTimeout(() => this.retire(parser), idleMs).unref()
    }
    thread.port.on('message', take)
    const end = (error: Error) => {
      // it was retired
      if (!this.parsers.includes(parser)) return
      this.parsers = this.parsers.filter(other => other !== parser)
      for (const reply of thread.rest()) take(reply as ParseReply)
      clearTimeout(parser.idle)
      if (this.closing) return
      log.error({ err: error }, 'parser died')
      thread.port.close()
      void thread.destroy()
      if (parser.job !== null) metrics.lost.count++
      parser.job?.reject(new ServiceError('overloaded', 'What read the body died; try again'))
      parser.job = null
      this.pump()
    }
    thread.ended.then(() => end(new Error('the parser ended by itself')), end)
    this.parsers.push(parser)
    return parser
  }

  /** End a thread that has nothing to read. */
  private retire(parser: Parser): void {
    this.parsers = this.parsers.filter(other => other !== parser)
    parser.thread.port.close()
    parser.thread.close().catch(err => this.options.log.error({ err }, 'an idle parser did not end'))
  }
}

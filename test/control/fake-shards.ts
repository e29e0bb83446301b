// Shards whose threads are the test: it sees what is posted, answers what and when it likes, and lets them die.
import { setImmediate as tick } from 'node:timers/promises'
import { newId } from '../../src/account/ids.js'
import type { ShardNotice, ShardRequest } from '../../src/core/company/shard-request.js'
import { itemsOf } from '../../src/core/usage/batch.js'
import { shardOf } from '../../src/core/values/id.js'
import { Lost, Refused, Shards, type ShardsOptions } from '../../src/entities/shards/shards.js'
import { createLogger } from '../../src/log.js'
import { type Packet, Replies, unpack } from '../../src/wire/message-codec.js'
import type { Port } from '../../src/wire/port.js'
import type { ShardOptions } from '../../src/wire/shard-options.js'
import { Changes } from '../../src/wire/version-counters.js'

/** A request that is looked at later than when it comes: what lies in its post's bytes is taken out of them. */
function kept(request: ShardRequest): ShardRequest {
  return 'uses' in request ? { n: request.n, at: request.at, events: itemsOf(request) } : request
}

/** One thread of a shard, from its start to its death. */
class FakeThread {
  /** Posted and not answered, in order. */
  readonly asked: ShardRequest[] = []
  readonly replies = new Replies()
  private listener: (message: unknown) => void = () => {}
  private unheard: unknown[] = []
  readonly ended: Promise<void>
  private end!: (error: Error) => void

  constructor(
    /** Its messages before the restart. */
    readonly task: { readonly again: boolean; readonly heard: number },
  ) {
    this.ended = new Promise((_, reject) => {
      this.end = reject
    })
  }

  get thread() {
    const port = {
      postMessage: (cells: Packet) => unpack(cells, request => this.asked.push(kept(request))),
      on: (name: string, listener: (message: unknown) => void) => {
        if (name === 'message') this.listener = listener
      },
      close: () => {},
    } as unknown as Port
    const ends = async () => {}
    return { port, ended: this.ended, rest: () => this.unheard.splice(0), close: ends, destroy: ends }
  }

  tell(notice: ShardNotice): void {
    this.listener(notice)
  }

  ready(): void {
    this.tell({ notice: 'ready', replayed: 0 })
  }

  /** Send the replies that were put together; `unheard`: it dies before they arrive. */
  reply(unheard = false): void {
    if (unheard) this.unheard.push(this.replies.take())
    else this.listener(this.replies.take())
  }

  /** Everything asked so far is durable. */
  commit(sequence = 1, unheard = false): void {
    for (const request of this.asked.splice(0)) this.replies.answered(request.n, null, sequence)
    this.reply(unheard)
  }

  fail(reason: 'doubtful' | 'overloaded'): void {
    for (const request of this.asked.splice(0)) this.replies.failed(request.n, reason)
    this.reply()
  }

  die(): void {
    this.end(new Error('killed by the test'))
  }
}

/** Shards and their threads, oldest first. */
export class House {
  readonly threads: FakeThread[][]
  shards!: Shards

  private constructor(readonly count: number) {
    this.threads = Array.from({ length: count }, () => [])
  }

  /** `onNotice`: what the shards tell. */
  static async start(count: number, onNotice: ShardsOptions['onNotice'] = () => {}): Promise<House> {
    const house = new House(count)
    const starting = house.begin(onNotice)
    for (const [thread] of house.threads) thread!.ready()
    house.shards = await starting
    return house
  }

  /** Begin a start that the test has to answer. */
  static begin(count: number): { readonly house: House; readonly starting: Promise<Shards> } {
    const house = new House(count)
    return { house, starting: house.begin(() => {}) }
  }

  private begin(onNotice: ShardsOptions['onNotice']): Promise<Shards> {
    const changes = Changes.make(this.count).memory
    return Shards.start({
      shards: Array.from({ length: this.count }, (_, index) => ({ index, changes }) as ShardOptions),
      workerFile: new URL('file:///nowhere.js'),
      log: createLogger({ logLevel: 'silent' }),
      catalogs: () => [],
      onNotice,
      startThread: (_file, task) => {
        const told = task({} as Port) as { options: ShardOptions; again: boolean; heard: number }
        const thread = new FakeThread(told)
        this.threads[told.options.index]!.push(thread)
        return thread.thread
      },
    })
  }

  /** The thread of a shard that lives now. */
  thread(index = 0): FakeThread {
    return this.threads[index]!.at(-1)!
  }

  /** An id of a company that is this shard's. */
  idOf(index: number): string {
    for (;;) {
      const id = newId('comp_')
      if (shardOf(id, this.count) === index) return id
    }
  }

  /** The thread dies, and what comes of it has happened; the next one is there and replays. */
  async killed(index = 0): Promise<void> {
    const { length } = this.threads[index]!
    this.thread(index).die()
    while (this.threads[index]!.length === length) await tick()
  }
}

/** A promise that may fail before anybody looks at it. */
export function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** How a promise stands after what can happen by itself has happened: the code of the error when it failed. */
export async function fateOf(promise: Promise<unknown>): Promise<string> {
  let fate = 'pending'
  promise.then(
    () => {
      fate = 'resolved'
    },
    error => {
      fate = error instanceof Lost ? 'lost' : error instanceof Refused ? error.refusal : error.code
    },
  )
  for (let ticks = 0; ticks < 5; ticks++) await tick()
  return fate
}

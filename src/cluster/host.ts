// Threads that hold the shards of this node, many to a thread. Each shard looks as if it had a thread of its
// own (src/entities/shards/thread.ts), with its own port and its own end.
import { EventEmitter } from 'node:events'
import type { CheckCounts } from '../core/model/message.js'
import { type StartThread, startThread, type Thread } from '../entities/shards/thread.js'
import type { SealedSpans } from '../redis/old-keys.js'
import type { HostMessage, HostReply, HostTask } from '../redis/shard-thread-messages.js'
import type { Port } from '../wire/port.js'
import type { ShardOptions } from '../wire/shard-options.js'

/** The file that such a thread runs. */
const hostFile = new URL('../../served/node-shards.js', import.meta.url)

interface Held {
  readonly port: HeldPort
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A thread, and the shards it holds now. */
interface Place {
  readonly thread: Thread
  readonly held: Map<number, Held>
  posted: HostMessage[]
  /** Resolves when the thread can open shards at once, or has ended. */
  readonly ready: Promise<void>
  readonly isReady: () => void
}

class HeldPort extends EventEmitter {
  /** The shard's number; -1 until it is known. */
  index = -1

  constructor(private readonly post: (message: HostMessage) => void) {
    super()
  }

  postMessage(value: unknown): void {
    this.post([this.index, 'said', value])
  }

  close(): void {
    this.post([this.index, 'close', null])
  }
}

export class Host {
  private readonly places: (Place | null)[]
  /** Called with counts of the checks of a thread. */
  heardChecks: (checks: CheckCounts) => void = () => {}
  /** Called when the filters of a thread are out of date. */
  heardBehind: () => void = () => {}
  private oldKeys: SealedSpans = { untilMs: 0, spans: [] }

  constructor(
    private readonly task: Omit<HostTask, 'port' | 'oldKeys'>,
    threads: number,
    private readonly start: StartThread = startThread,
  ) {
    this.places = Array.from({ length: threads }, () => null)
  }

  /** Starts a shard in one of the threads. The given file is ignored. */
  readonly startShard: StartThread = (_file, make) => {
    let place!: Place
    const port = new HeldPort(message => this.post(place, message))
    const task = make(port as unknown as Port) as { readonly options: ShardOptions }
    const { index } = task.options
    port.index = index
    place = this.emptiest()
    const { port: _, ...rest } = task as unknown as { readonly port: Port }
    let held!: Held
    const ended = new Promise<void>((resolve, reject) => {
      held = { port, resolve, reject }
    })
    place.held.set(index, held)
    this.post(place, [index, 'open', rest])
    const close = async (): Promise<void> => port.close()
    return { port: port as unknown as Port, ended, rest: () => [], close, destroy: async () => {} }
  }

  /**
   * Start all threads. Resolves when they can open shards at once, so that the first shards do not wait for
   * it.
   */
  async warm(): Promise<void> {
    await Promise.all(this.places.map((place, at) => (place ?? this.open(at)).ready))
  }

  /** Have all threads, and those to come, know these filters of keys that left Redis. */
  knowOldKeys(spans: SealedSpans): void {
    this.oldKeys = spans
    for (const place of this.places) if (place !== null) this.post(place, [-1, 'old', spans])
  }

  async close(): Promise<void> {
    await Promise.all(
      this.places.map(async place => {
        if (place === null) return
        place.thread.port.close()
        await place.thread.close()
      }),
    )
  }

  /** The thread that holds the fewest shards: a node owns any of them, and few. */
  private emptiest(): Place {
    const counts = this.places.map(place => place?.held.size ?? 0)
    const at = counts.indexOf(Math.min(...counts))
    return this.places[at] ?? this.open(at)
  }

  private open(at: number): Place {
    const thread = this.start(hostFile, port => ({ ...this.task, oldKeys: this.oldKeys, port }))
    let isReady = (): void => {}
    const ready = new Promise<void>(resolve => {
      isReady = resolve
    })
    const place: Place = { thread, held: new Map(), posted: [], ready, isReady }
    this.places[at] = place
    thread.port.on('message', (replies: readonly HostReply[]) => {
      for (const reply of replies) this.take(place, reply)
    })
    const end = (error: Error): void => {
      if (this.places[at] === place) this.places[at] = null
      isReady()
      for (const held of [...place.held.values()]) held.reject(error)
      place.held.clear()
      void thread.destroy()
    }
    thread.ended.then(() => end(new Error('the thread ended')), end)
    return place
  }

  private take(place: Place, [index, what, value]: HostReply): void {
    if (what === 'ready') return place.isReady()
    if (what === 'checks') return this.heardChecks(value as CheckCounts)
    if (what === 'behind') return this.heardBehind()
    const held = place.held.get(index)
    if (held === undefined) return
    if (what === 'said') {
      held.port.emit('message', value)
      return
    }
    place.held.delete(index)
    if (value === null) held.resolve()
    else held.reject(new Error(String(value)))
  }

  private post(place: Place, message: HostMessage): void {
    if (place.posted.length === 0) queueMicrotask(() => this.flush(place))
    place.posted.push(message)
  }

  private flush(place: Place): void {
    const { posted } = place
    place.posted = []
    place.thread.port.postMessage(posted)
  }
}

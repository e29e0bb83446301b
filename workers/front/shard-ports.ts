// The way of a front to the shards: one packet per shard and turn of the loop, as from the main thread.
import type { MessagePort } from 'node:worker_threads'
import type { Question } from '../../src/core/model/message.js'
import { shardOf } from '../../src/core/values/id.js'
import { PendingReplies } from '../../src/entities/shards/pending-replies.js'
import type { LodgedUses } from '../../src/wire/front-uses.js'
import {
  decodeReplies,
  Encoder,
  type Outgoing,
  type Packet,
  type ReplyHandler,
} from '../../src/wire/message-codec.js'

/** A check that waits for its shard. Neither function may throw. */
export interface Asker {
  /** untilMs: the answer holds until then if nothing happens, epoch ms; 0: unknown. figures: it may show use. */
  heard(reply: unknown, untilMs: number, figures: boolean): void
  /** The shard does not answer it: the main thread must be asked. */
  unheard(): void
}

/** Checks that may wait for one shard; beyond, the main thread is asked. */
const waitingMax = 50_000

interface Way {
  port: MessagePort | null
  /** Number of the shard's thread. */
  generation: number
  readonly outbox: Encoder
  readonly waiting: PendingReplies<Asker>
}

export class ShardPorts {
  private readonly ways: readonly Way[]
  private flushing = false

  constructor(shards: number) {
    this.ways = Array.from({ length: shards }, () => ({
      port: null,
      generation: 0,
      outbox: new Encoder(),
      waiting: new PendingReplies<Asker>(),
    }))
  }

  /** A shard's thread has started, perhaps in place of another. */
  connect(index: number, port: MessagePort, generation: number): void {
    const way = this.ways[index]!
    this.lose(way)
    way.port = port
    way.generation = generation
    const hearing = hearingOf(way)
    port.on('message', (packet: Packet) => decodeReplies(packet, hearing))
    port.on('close', () => {
      if (way.port === port) this.lose(way)
    })
  }

  /** Ask a company, or an environment's own actor where the company is null. */
  ask(companyId: string | null, environmentId: string, m: Question, at: number, asker: Asker): void {
    const k = companyId === null ? 'e' : 'c'
    const id = companyId ?? environmentId
    const way = this.ways[shardOf(id, this.ways.length)]!
    this.send(way, { k, id, env: environmentId, at, fresh: false, m }, asker)
  }

  /** Lodge rows of events at a shard, at once. Returns the number of its thread; 0: there is none. */
  readonly lodge = (index: number, uses: LodgedUses): number => {
    const { port, generation } = this.ways[index]!
    if (port === null) return 0
    port.postMessage(uses)
    return generation
  }

  /** Whether all of these companies are in memory, and their shards answer. */
  async arePresent(companyIds: ReadonlySet<string>): Promise<boolean> {
    const byShard = new Map<number, string[]>()
    for (const id of companyIds) {
      const index = shardOf(id, this.ways.length)
      byShard.set(index, [...(byShard.get(index) ?? []), id])
    }
    const answers = await Promise.all(
      [...byShard].map(([index, present]) => {
        const way = this.ways[index]!
        return new Promise<boolean>(resolve => {
          this.send(
            way,
            { present },
            { heard: reply => resolve(reply === true), unheard: () => resolve(false) },
          )
        })
      }),
    )
    return answers.every(isPresent => isPresent)
  }

  private send(way: Way, request: Outgoing, asker: Asker): void {
    if (way.port === null || way.waiting.size >= waitingMax) return asker.unheard()
    way.outbox.add(way.waiting.add(asker), request)
    if (this.flushing) return
    this.flushing = true
    setImmediate(this.flush)
  }

  close(): void {
    for (const way of this.ways) this.lose(way)
  }

  private readonly flush = (): void => {
    this.flushing = false
    for (const { port, outbox } of this.ways) if (!outbox.isEmpty) port?.postMessage(outbox.take())
  }

  /** Its thread is gone, with what it was asked. */
  private lose(way: Way): void {
    const { port } = way
    way.port = null
    way.outbox.take()
    port?.close()
    for (const asker of way.waiting.takeAll()) asker.unheard()
  }
}

function hearingOf({ waiting }: Way): ReplyHandler {
  return {
    answered: (n, reply) => waiting.take(n)?.heard(reply, 0, false),
    cacheable: (n, reply, untilMs, figures) => waiting.take(n)?.heard(reply, untilMs, figures),
    refused: n => waiting.take(n)?.unheard(),
    failed: n => waiting.take(n)?.unheard(),
  }
}

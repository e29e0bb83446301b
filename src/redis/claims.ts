// Idempotency keys of events in Redis: one window per environment, whichever node receives the repeat. The owner of the
// event's shard claims a key before it decides. The journal alone says whether the event was kept: its write touches no
// key. README.md beside this file has the protocol, and its failures.
import type { ClaimCall, HeldKey } from '../core/usage/batch.js'
import type { Sequence } from '../journal/journal.js'
import { epochOf, type OwnedDisk } from './disk.js'
import { Fenced } from './fenced.js'
import { nameOf } from './old-keys.js'
import type { RedisClient } from './redis.js'
import type { Tail } from './tail.js'

/** How long a key is kept after its first receipt (EV-26). */
const windowMs = 24 * 3_600_000
/** How long it stays in Redis: clocks of nodes differ, and receipts are compared exactly. */
export const keptMs = windowMs + 3_600_000
/** A receipt this far from the clock comes from a test clock. */
const apartMs = 60_000
const againMs = 100
/** Keys marked by one script. */
const markedAtOnce = 250

/** An event with a key. */
export interface ClaimedEvent {
  readonly env: string
  /** Includes the mark of publishable keys where such a key sent the event. */
  readonly key: string
  /** Name of environment and key (`nameOf`), where it is known already. */
  readonly name?: string
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  readonly print: number
}

/** The first event with a key. */
export interface FirstEvent {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly print: number
}

/** A key that is claimed for this event. */
export type Held = HeldKey

/**
 * Result of one claim: held, taken by an earlier event, or busy: another shard is processing an event with
 * this key. `unsure`: an earlier event may have it, and the store that knows does not answer.
 */
export type Claimed = { readonly held: Held } | { readonly first: FirstEvent } | 'busy' | 'unsure'

/** The value of a key that was taken: `p<shard>:<epoch>:<call>|…`, or `d|…` of an event that is in a journal for certain. */
const claimed = /^p(\d+):(\d+)(?::(\d+))?\|/

/** A key that was taken before. */
interface Taken {
  readonly at: number
  readonly value: string
}

export class ShardClaims {
  private closed = false

  constructor(
    private readonly redis: RedisClient,
    private readonly shard: number,
    private readonly disk: OwnedDisk,
    private readonly tail: Tail,
  ) {}

  /**
   * Decide the claims of former epochs of this shard: those of events in the journal hold for good, all others are free.
   * Keys can be claimed afterwards. Begun anew, it has the same effect.
   *
   * committed  the end of the journal; nothing is appended meanwhile.
   * errors     Fenced; those of the driver; JournalCorrupt.
   */
  async begin(committed: Sequence): Promise<void> {
    const { redis, shard, disk } = this
    const epoch = epochOf(disk.mark)
    for (;;) {
      const { connection } = redis
      const [since = '', n = '1', behind = committed] =
        (await redis.get(redis.key(`floor:${shard}`)))?.split(':') ?? []
      if (since !== epoch) {
        for await (const some of this.tail(Number(behind), committed))
          for (let from = 0; from < some.length; from += markedAtOnce) {
            const marks = some.slice(from, from + markedAtOnce)
            await redis.run('mark', ...marks.flatMap(one => [claimKey(redis, one.env, one.key), one.eventId]))
          }
        // another Redis may lack what was marked
        if (redis.connection !== connection) continue
        const floor = `${epoch}:1:${committed}`
        await redis.writeOn(connection, 'settled', shard, disk.mark, since, n, keptMs, floor)
      }
      return disk.calls.begin(epoch, since === epoch ? Number(n) : 1, committed)
    }
  }

  /**
   * Claim keys. All names must differ.
   *
   * sealedMs  end of the filters of old keys that the names are not in (old-claims.ts), epoch ms.
   * returns   for each, or `unsealed`: keys have left Redis that only later filters know, and nothing is claimed.
   * errors    those of the driver; Error when the epoch is over, or has not begun.
   */
  async claim(events: readonly ClaimedEvent[], sealedMs: number): Promise<readonly Claimed[] | 'unsealed'> {
    const { redis } = this
    const { calls } = this.disk
    if (calls.epoch === '') throw new Error('claims of a former epoch are not decided yet')
    const call = calls.call(events.length, redis.connection)
    const head = `p${this.shard}:${call.epoch}:${call.n}|`
    const keys = redis.key('i:')
    const nowMs = Date.now()
    let ttlMs = 0
    const held: Held[] = []
    const words: string[] = []
    for (const event of events) {
      const one = {
        key: keys + (event.name ?? nameOf(event.env, event.key)),
        value: head + payloadOf(event),
        call,
      }
      held.push(one)
      words.push(one.key, one.value)
      // the sweep finds old keys by their receipt, which says nothing under a test clock: Redis expires such keys
      if (Math.abs(event.receivedAtMs - nowMs) > apartMs) ttlMs = keptMs
    }
    try {
      const answer = await redis.claim(ttlMs, sealedMs, words)
      if (answer === 'unsealed') {
        this.settle(call, held.length)
        return answer
      }
      const fates = held.map((one): Claimed => ({ held: one }))
      if (answer.length > 0) await this.resolve(takenOf(answer), events, held, fates)
      if (call.epoch !== calls.epoch) throw new Error('the epoch ended')
      const count = fates.reduce((sum, fate) => sum + (typeof fate === 'object' && 'held' in fate ? 1 : 0), 0)
      if (count < held.length) this.settle(call, held.length - count)
      return fates
    } catch (error) {
      // some keys may be claimed in spite of the error, or later
      void this.voidSoon(call)
      throw error
    }
  }

  /** Find the fates of keys that were taken, and take those that are free by now. Other fates stay. */
  private async resolve(
    taken: readonly Taken[],
    events: readonly ClaimedEvent[],
    held: readonly Held[],
    fates: Claimed[],
  ): Promise<void> {
    const free: Taken[] = []
    const known = (one: Taken): void => {
      const { first, receivedAtMs } = firstOf(one.value)
      if (receivedAtMs <= events[one.at]!.receivedAtMs - windowMs) free.push(one)
      else fates[one.at] = { first }
    }
    const asked: Taken[] = []
    const questions: string[] = []
    for (const one of taken) {
      const [, shard, epoch, n] = claimed.exec(one.value) ?? []
      fates[one.at] = 'busy'
      if (shard === undefined) known(one)
      else {
        const isOurs = Number(shard) === this.shard && epoch === this.disk.calls.epoch
        if (isOurs && this.disk.calls.isOpen(Number(n))) continue
        asked.push(one)
        // a claim of a build that did not number its calls
        questions.push(held[one.at]!.key, one.value, shard, epoch!, n ?? 'none', isOurs ? 'settled' : '')
      }
    }
    if (asked.length > 0) {
      const answers = await this.redis.run<readonly string[]>('fates', ...questions)
      for (const [i, answer] of answers.entries())
        if (answer === 'kept') known(asked[i]!)
        else if (answer === 'free') free.push(asked[i]!)
    }
    if (free.length === 0) return
    const words = free.flatMap(({ at, value }) => [held[at]!.key, value, held[at]!.value])
    const got = await this.redis.run<readonly number[]>('swap', keptMs, ...words)
    for (const [i, { at }] of free.entries()) if (got[i] === 1) fates[at] = { held: held[at]! }
  }

  /** The event is recorded at this sequence, which is appended in this tick. */
  write(held: Held, sequence: Sequence): void {
    this.disk.add(held, sequence)
  }

  /** Give keys back: their events were not kept, or were kept as failed. */
  free(held: readonly Held[]): void {
    const ours = held.filter(({ call }) => call.epoch === this.disk.calls.epoch)
    if (ours.length > 0) void this.freeSoon(ours)
  }

  private freeSoon(held: readonly Held[]): Promise<void> {
    const { epoch } = held[0]!.call
    const pairs = held.flatMap(({ key, value }) => [key, value])
    return this.untilDone(epoch, async () => {
      await this.redis.write('free', ...pairs)
      for (const { call } of held) this.settle(call, 1)
    })
  }

  private voidSoon(call: ClaimCall): Promise<void> {
    const name = `${call.epoch}:${call.n}`
    return this.untilDone(call.epoch, async () => {
      await this.redis.write('void', this.shard, name, keptMs)
      this.disk.calls.void(call)
      this.disk.tellSoon()
    })
  }

  /** Retries until Redis has done it, or the epoch is over: its open claims are free then. */
  private async untilDone(epoch: string, work: () => Promise<void>): Promise<void> {
    while (this.disk.calls.epoch === epoch && !this.closed)
      try {
        return await work()
      } catch {
        await new Promise(resolve => setTimeout(resolve, againMs))
      }
  }

  private settle(call: ClaimCall, keys: number): void {
    this.disk.calls.settle(call, keys)
    this.disk.tellSoon()
  }

  /** Records after this sequence stay in the journal. */
  get needed(): Sequence {
    return this.disk.calls.needed
  }

  close(): void {
    this.closed = true
    this.disk.close()
  }
}

/** Whether an error means that another node owns the shard now. */
export const isFenced = (error: unknown): boolean =>
  error instanceof Fenced || (error instanceof Error && error.cause instanceof Fenced)

/** A permanent claim from before the cluster, as key and value. */
export function doneClaim(
  redis: RedisClient,
  packedHash: string,
  payload: Payload,
): readonly [string, string] {
  return [redis.key(`i:${packedHash}`), `d|${payloadOf(payload)}`]
}

export type Payload = Pick<ClaimedEvent, 'eventId' | 'capturedAtMs' | 'receivedAtMs' | 'print'>

export const claimKey = (redis: Pick<RedisClient, 'key'>, env: string, key: string): string =>
  redis.key(`i:${nameOf(env, key)}`)

/** The key in Redis of a name with this hash. */
export const keyOfHash = (redis: Pick<RedisClient, 'key'>, hash: Buffer): string =>
  redis.key(`i:${hash.toString('base64url')}`)

const payloadOf = ({ eventId, capturedAtMs, receivedAtMs, print }: Payload): string =>
  `${eventId}|${capturedAtMs}|${receivedAtMs}|${print}`

function firstOf(value: string): { readonly first: FirstEvent; readonly receivedAtMs: number } {
  const [, eventId, capturedAt, receivedAt, print] = value.split('|')
  const first = { eventId: eventId!, capturedAtMs: Number(capturedAt), print: Number(print) }
  return { first, receivedAtMs: Number(receivedAt) }
}

/** Pairs of a place, from 0, and the value found there. */
const takenOf = (answer: readonly string[]): readonly Taken[] =>
  Array.from({ length: answer.length / 2 }, (_, i) => ({
    at: Number(answer[2 * i]),
    value: answer[2 * i + 1]!,
  }))

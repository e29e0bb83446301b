// Idempotency keys of events in Redis: one window per environment, whichever node receives the repeat. The owner of the
// event's shard claims a key before it decides. The journal alone says whether the event was kept: its write touches no
// key. README.md beside this file has the protocol, and its failures.
import type { ClaimCall, HeldKey } from '../core/usage/batch.js'
import type { Sequence } from '../journal/journal.js'
import { epochOf, type OwnedDisk } from './disk.js'
import { Fenced } from './fenced.js'
import { nameOf } from './old-keys.js'
import type { RedisClient } from './redis.js'
import type { RedisSlots } from './slots.js'
import type { RecordedClaim, Tail } from './tail.js'

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

/** The keys of a call in one slot: pairs of a key and its value, and the places of these keys in the call. */
interface Part {
  readonly slot: number
  readonly words: string[]
  readonly places: number[]
}

/** A key that was taken by a claim whose fate its shard knows. */
interface Asked {
  readonly one: Taken
  readonly shard: number
  /** As the script `fates` takes it. */
  readonly question: readonly string[]
}

export class ShardClaims {
  private closed = false

  /** The slot of the shard. */
  private readonly redis: RedisClient

  constructor(
    private readonly slots: RedisSlots,
    private readonly shard: number,
    private readonly disk: OwnedDisk,
    private readonly tail: Tail,
  ) {
    this.redis = slots.ofShard(shard)
  }

  /**
   * Decide the claims of former epochs of this shard: those of events in the journal hold for good, all others are free.
   * Keys can be claimed afterwards. Begun anew, it has the same effect.
   *
   * committed  the end of the journal; nothing is appended meanwhile.
   * errors     Fenced; those of the driver; JournalCorrupt.
   */
  async begin(committed: Sequence): Promise<void> {
    const { redis, slots, shard, disk } = this
    const epoch = epochOf(disk.mark)
    const connections = (): string => slots.all.map(one => one.connection).join()
    for (;;) {
      const { connection } = redis
      const were = connections()
      const [since = '', n = '1', behind = committed] =
        (await redis.get(redis.key(`floor:${shard}`)))?.split(':') ?? []
      if (since !== epoch) {
        for await (const some of this.tail(Number(behind), committed))
          for (let from = 0; from < some.length; from += markedAtOnce)
            await this.mark(some.slice(from, from + markedAtOnce))
        // another Redis may lack what was marked
        if (connections() !== were) continue
        const floor = `${epoch}:1:${committed}`
        await redis.writeOn(connection, 'settled', shard, disk.mark, since, n, keptMs, floor)
      }
      return disk.calls.begin(epoch, since === epoch ? Number(n) : 1, committed)
    }
  }

  private async mark(records: readonly RecordedClaim[]): Promise<void> {
    const named = records.map(({ env, key, eventId }) => ({ name: nameOf(env, key), eventId }))
    const marked = [...this.slots.bySlot(named, ({ name }) => this.slots.slotOf(name))].map(([redis, some]) =>
      redis.write('mark', ...some.flatMap(({ name, eventId }) => [redis.key(`i:${name}`), eventId])),
    )
    await Promise.all(marked)
  }

  /**
   * Claim keys. All names must differ.
   *
   * sealedMs  end of the filters of old keys that the names are not in (old-claims.ts), epoch ms.
   * returns   for each, or `unsealed`: keys have left Redis that only later filters know, and nothing is claimed.
   * errors    those of the driver; Error when the epoch is over, or has not begun.
   */
  async claim(events: readonly ClaimedEvent[], sealedMs: number): Promise<readonly Claimed[] | 'unsealed'> {
    const { slots } = this
    const { calls } = this.disk
    if (calls.epoch === '') throw new Error('claims of a former epoch are not decided yet')
    const call = calls.call(events.length)
    const head = `p${this.shard}:${call.epoch}:${call.n}|`
    const keys = slots.all.map(one => one.key('i:'))
    const connections = slots.all.map(one => one.connection)
    const nowMs = Date.now()
    let ttlMs = 0
    const held: Held[] = []
    const parts: Part[] = []
    for (const event of events) {
      const name = event.name ?? nameOf(event.env, event.key)
      const slot = slots.slotOf(name)
      const key = keys[slot]! + name
      const value = head + payloadOf(event)
      parts[slot] ??= { slot, words: [], places: [] }
      const part = parts[slot]
      part.words.push(key, value)
      part.places.push(held.length)
      held.push({ key, value, call, slot, connection: connections[slot]! })
      // the sweep finds old keys by their receipt, which says nothing under a test clock: Redis expires such keys
      if (Math.abs(event.receivedAtMs - nowMs) > apartMs) ttlMs = keptMs
    }
    try {
      const taken = await this.claimed(ttlMs, sealedMs, parts)
      if (taken === 'unsealed') {
        this.free(held)
        return taken
      }
      const fates = held.map((one): Claimed => ({ held: one }))
      if (taken.length > 0) await this.resolve(taken, events, held, fates)
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

  /** Claim keys, each in its slot. Returns those that were taken; `unsealed`: some are not claimed. */
  private async claimed(
    ttlMs: number,
    sealedMs: number,
    parts: readonly Part[],
  ): Promise<readonly Taken[] | 'unsealed'> {
    // slots without a part are left out
    const asked = parts.filter(Boolean).map(async ({ slot, words, places }) => {
      const answer = await this.slots.all[slot]!.claim(ttlMs, sealedMs, words)
      return answer === 'unsealed' ? answer : takenOf(answer, places)
    })
    const answers = await Promise.all(asked)
    const taken = answers.filter(answer => answer !== 'unsealed')
    return taken.length < answers.length ? 'unsealed' : taken.flat()
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
      // one of a later day was used under a test clock that was removed since
      if (Math.abs(events[one.at]!.receivedAtMs - receivedAtMs) >= windowMs) free.push(one)
      else fates[one.at] = { first }
    }
    const asked: Asked[] = []
    for (const one of taken) {
      const [, shard, epoch, n] = claimed.exec(one.value) ?? []
      fates[one.at] = 'busy'
      if (shard === undefined) known(one)
      else {
        const isOurs = Number(shard) === this.shard && epoch === this.disk.calls.epoch
        if (isOurs && this.disk.calls.isOpen(Number(n))) continue
        // a claim of a build that did not number its calls
        const question = [shard, epoch!, n ?? 'none', isOurs ? 'settled' : '']
        asked.push({ one, shard: Number(shard), question })
      }
    }
    const settled = (await this.fatesOf(asked, free)).map(one => ({ one, ...held[one.at]! }))
    // A key that was given back before its call was settled does not have this value any more.
    await this.eachSlot(settled, async (redis, some) => {
      const values = await redis.values(some.map(({ key }) => key))
      for (const [i, { one }] of some.entries()) if (values[i] === one.value) known(one)
    })
    const wanted = free.map(one => ({ one, ...held[one.at]! }))
    await this.eachSlot(wanted, async (redis, some) => {
      const words = some.flatMap(({ key, value, one }) => [key, one.value, value])
      const got = await redis.write<readonly number[]>('swap', keptMs, ...words)
      for (const [i, { one }] of some.entries()) if (got[i] === 1) fates[one.at] = { held: held[one.at]! }
    })
  }

  /** Ask the slots of shards for the fates of their claims. Returns the claims of settled calls; adds those that are free. */
  private async fatesOf(asked: readonly Asked[], free: Taken[]): Promise<readonly Taken[]> {
    const settled: Taken[] = []
    const { slots } = this
    for (const [redis, some] of slots.bySlot(asked, ({ shard }) => slots.numberOfShard(shard))) {
      const questions = some.flatMap(({ question }) => question)
      const answers = await redis.run<readonly string[]>('fates', ...questions)
      for (const [i, answer] of answers.entries())
        if (answer === 'kept') settled.push(some[i]!.one)
        else if (answer === 'free') free.push(some[i]!.one)
    }
    return settled
  }

  private async eachSlot<T extends { readonly slot: number }>(
    things: readonly T[],
    work: (redis: RedisClient, some: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const parts = [...this.slots.bySlot(things, ({ slot }) => slot)]
    await Promise.all(parts.map(([redis, some]) => work(redis, some)))
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
    return this.untilDone(epoch, async () => {
      await this.eachSlot(held, (redis, some) =>
        redis.write('free', ...some.flatMap(({ key, value }) => [key, value])),
      )
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

/** Keep a permanent claim from before the cluster for some time. name: hash of its key as a text. */
export async function keepDone(
  slots: RedisSlots,
  name: string,
  payload: Payload,
  ttlMs: number,
): Promise<void> {
  const redis = slots.all[slots.slotOf(name)]!
  await redis.keep(redis.key(`i:${name}`), `d|${payloadOf(payload)}`, ttlMs)
}

export type Payload = Pick<ClaimedEvent, 'eventId' | 'capturedAtMs' | 'receivedAtMs' | 'print'>

const payloadOf = ({ eventId, capturedAtMs, receivedAtMs, print }: Payload): string =>
  `${eventId}|${capturedAtMs}|${receivedAtMs}|${print}`

function firstOf(value: string): { readonly first: FirstEvent; readonly receivedAtMs: number } {
  const [, eventId, capturedAt, receivedAt, print] = value.split('|')
  const first = { eventId: eventId!, capturedAtMs: Number(capturedAt), print: Number(print) }
  return { first, receivedAtMs: Number(receivedAt) }
}

/** Pairs of a place among some claims, from 0, and the value found there. places: of these claims among all. */
const takenOf = (answer: readonly string[], places: readonly number[]): readonly Taken[] =>
  Array.from({ length: answer.length / 2 }, (_, i) => ({
    at: places[Number(answer[2 * i])]!,
    value: answer[2 * i + 1]!,
  }))

// The slots of the nodes' Redis. The root has what all nodes share: nodes, owners of shards, key pairs, keys of holds. Journals and
// keys of events lie in other slots, one for each primary of a Redis Cluster. Where there is one server the root has everything.
import calculateSlot from 'cluster-key-slot'
import type { RedisAddress } from '../wire/shard-options.js'
import { RedisClient } from './redis.js'

/** Slots of a Redis Cluster. */
const allSlots = 16_384
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const digits = new Map([...base64url].map((digit, value) => [digit, value]))

/** Connections to the root and to each slot. */
export class RedisSlots {
  constructor(
    readonly root: RedisClient,
    /** The root alone where it has everything. */
    readonly all: readonly RedisClient[],
  ) {}

  /**
   * Connect to all slots, however long it takes.
   *
   * root  a connection to the root that is there already; it is closed with the others.
   */
  static async open(address: RedisAddress, root?: RedisClient): Promise<RedisSlots> {
    const { prefix, slots } = address
    const first = root ?? (await RedisClient.open(address))
    const open = (slot: string) => (slot === prefix ? first : RedisClient.open({ ...address, prefix: slot }))
    return new RedisSlots(first, await Promise.all(slots.map(open)))
  }

  /** All connections, each once. */
  get clients(): readonly RedisClient[] {
    return [...new Set([this.root, ...this.all])]
  }

  /** Number of the slot of a shard's journal. */
  numberOfShard(shard: number): number {
    return shard % this.all.length
  }

  /** The slot of a shard's journal. */
  ofShard(shard: number): RedisClient {
    return this.all[this.numberOfShard(shard)]!
  }

  /** Number of the slot of an event's key. name: its hash as a text (`nameOf`). */
  slotOf(name: string): number {
    const count = this.all.length
    return count === 1 ? 0 : (64 * digits.get(name[0]!)! + digits.get(name[1]!)!) % count
  }

  /** These things, for each slot that has some. slotOf: the number of a thing's slot. */
  bySlot<T>(things: readonly T[], slotOf: (thing: T) => number): ReadonlyMap<RedisClient, readonly T[]> {
    const found = new Map<RedisClient, T[]>()
    for (const thing of things) {
      const redis = this.all[slotOf(thing)]!
      const others = found.get(redis)
      if (others === undefined) found.set(redis, [thing])
      else others.push(thing)
    }
    return found
  }

  /** Whether the last command to each slot was answered. */
  get answer(): boolean {
    return this.clients.every(({ answers }) => answers)
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map(one => one.close()))
  }
}

/**
 * The prefixes of the keys of a cluster: of the root, and of its slots.
 *
 * count  1: the root has everything.
 */
export function prefixesOf(
  generation: string,
  count: number,
): { readonly prefix: string; readonly slots: readonly string[] } {
  const prefix = `tollgate:{${generation}}:`
  if (count === 1) return { prefix, slots: [prefix] }
  return { prefix, slots: Array.from({ length: count }, (_, i) => spreadPrefix(generation, i, count)) }
}

/** The prefix whose slot is in the i-th of `count` equal parts of all slots: primaries have equal parts of them. */
function spreadPrefix(generation: string, i: number, count: number): string {
  for (let n = 0; ; n++) {
    const prefix = `tollgate:{${generation}.${i}.${n}}:`
    if (Math.floor((calculateSlot(prefix) * count) / allSlots) === i) return prefix
  }
}

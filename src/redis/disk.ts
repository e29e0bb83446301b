// The journal in Redis. The segments are the same as on a disk (src/journal), each in a text of its own, so
// readers, replay and projectors need no change. A write is a script that compares the shard's mark first: when an owner was
// replaced, late writes of it are refused from the instant at which its successor reads the journal. The last group of a segment is
// always whole, as a script runs as one step.
import { basename, dirname } from 'node:path'
import type { HeldKey } from '../core/usage/batch.js'
import type { JournalDisk, JournalFile } from '../journal/disk.js'
import { groupHeaderBytes, readGroupHeader } from '../journal/frame.js'
import type { Sequence } from '../journal/journal.js'
import { Calls } from './calls.js'
import { Fenced } from './fenced.js'
import type { RedisClient } from './redis.js'
import type { RedisSlots } from './slots.js'

/** How long an unanswered write is sent again, and how often. */
const patienceMs = 10_000
const againMs = 50

/** The root of the journals' paths: `<root>/shard-07`, as on a disk. */
export const redisRoot = 'redis'

/** A record that is not written yet, and the key that it claimed. */
interface Mark {
  readonly sequence: Sequence
  readonly held: HeldKey
}

/** The floor goes with the next write when a call is settled, or so many records were written; else after this time. */
const floorRecords = 1_024
const floorMs = 200

export const epochOf = (mark: string): string => mark.slice(0, mark.indexOf(':'))

/** The segments of all shards, read only. */
export class RedisDisk implements JournalDisk {
  readonly isRemote = true

  constructor(protected readonly slots: RedisSlots) {}

  async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    if (how !== 'read') throw new Error('another node owns this journal')
    const redis = this.slots.ofShard(shardIn(dirname(path)))
    const key = this.keyOf(path)
    if (!(await redis.exists(key))) throw new Error(`there is no segment ${path}`)
    return new RedisFile(redis, key)
  }

  list(directory: string): Promise<string[]> {
    const shard = shardIn(directory)
    const redis = this.slots.ofShard(shard)
    return redis.members(redis.key(`files:${shard}`))
  }

  remove(_path: string): Promise<void> {
    return Promise.reject(new Error('another node owns this journal'))
  }

  rename(): Promise<void> {
    return Promise.reject(new Error('segments in Redis keep their names'))
  }

  async syncDirectory(): Promise<void> {}

  protected keyOf(path: string): string {
    const shard = shardIn(dirname(path))
    return this.slots.ofShard(shard).key(`file:${shard}:${basename(path)}`)
  }
}

/** The segments of one shard, for its owner. */
export class OwnedDisk extends RedisDisk {
  /** In the order of their sequences. */
  private marks: Mark[] = []
  /** A record that waits has a claim of an epoch that is over. */
  private isStolen = false
  private telling: NodeJS.Timeout | null = null
  /** Claims of the shard in its present epoch. */
  readonly calls = new Calls()

  /** The connection for the slot of the shard. */
  private readonly redis: RedisClient

  /** mark: the shard's slot is fenced with it. */
  constructor(
    slots: RedisSlots,
    private readonly shard: number,
    public mark: string,
  ) {
    super(slots)
    this.redis = slots.ofShard(shard)
  }

  /**
   * Opens the journal of a shard for a new thread of the owner. Late writes of an earlier thread, or of an earlier owner, are
   * refused from now on. With replicas it waits for them: a Redis that was replaced, and does not know it yet, has none, and its
   * journal is not read.
   *
   * errors  Fenced when another node owns the shard; those of the driver.
   */
  static async reopen(slots: RedisSlots, shard: number, node: string): Promise<OwnedDisk> {
    const disk = new OwnedDisk(slots, shard, `0:${node}`)
    await disk.fence()
    return disk
  }

  /** Begin a new epoch. */
  private async fence(): Promise<void> {
    const { redis, shard } = this
    const { root } = this.slots
    const node = this.mark.slice(this.mark.indexOf(':') + 1)
    // a root that lost its latest writes may be behind the slot
    const had = epochOf((await redis.field(redis.key('marks'), String(shard))) ?? '0:')
    const mark = await root.run<string>('reopen', shard, node, had)
    if (root.address.replicas > 0) await root.write('touch')
    await redis.write('fence', shard, mark)
    this.mark = mark
  }

  /** The record of this sequence, which is appended in this tick, has this key. */
  add(held: HeldKey, sequence: Sequence): void {
    if (held.call.epoch !== this.calls.epoch) this.isStolen = true
    this.marks.push({ sequence, held })
  }

  override async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    if (how === 'read') return super.open(path, how)
    const key = this.keyOf(path)
    if (how === 'new')
      await this.redis.write('begin', this.shard, this.mark, key, basename(path)).catch(async error => {
        // The command was sent before, and its answer was lost.
        if (!String(error).includes('EXISTS') || (await this.redis.length(key)) > 0) throw error
      })
    return new OwnedFile(this, this.redis, key)
  }

  override async remove(path: string): Promise<void> {
    await this.redis.write('drop', this.shard, this.mark, this.keyOf(path), basename(path))
  }

  /** errors  Fenced, also where a record's claim does not count any more; those of the driver. */
  async write(key: string, bytes: Buffer, position: number): Promise<void> {
    const header = bytes.length >= groupHeaderBytes ? readGroupHeader(bytes, 0) : null
    const last = header === null ? 0 : header.first + header.count - 1
    const later = this.marks.findIndex(({ sequence }) => sequence > last)
    const marks = this.marks.splice(0, later < 0 ? this.marks.length : later)
    if (this.isStolen) throw new Fenced('STOLEN: the claim of a record is of an epoch that is over')
    const floor = this.calls.beyond(floorRecords)
    await this.answered(() => this.send(key, position, bytes, marks, floor?.text ?? ''))
    if (floor !== null) this.calls.keep(floor)
    this.calls.reached(last)
    for (const { held } of marks) this.calls.settle(held.call, 1)
    // as long as writes follow each other they keep the floor
    this.stopTelling()
    this.tellSoon()
  }

  /** Sends a write on the connection on which its records' claims are known to stand. */
  private async send(key: string, position: number, bytes: Buffer, marks: readonly Mark[], floor: string) {
    const { redis, shard, mark } = this
    for (;;) {
      const { connection } = redis
      const moved = marks.filter(({ held }) => held.connection !== this.slots.all[held.slot]!.connection)
      if (moved.length > 0) await this.mustStand(moved)
      if (redis.connection === connection)
        return redis.append(connection, shard, mark, key, position, bytes, floor)
    }
  }

  /** Claims made on an earlier connection: the Redis of that time may have been replaced by one that lacks them. */
  private async mustStand(marks: readonly Mark[]): Promise<void> {
    for (const [redis, some] of this.slots.bySlot(marks, ({ held }) => held.slot)) {
      const values = await redis.values(some.map(({ held }) => held.key))
      if (some.some(({ held }, i) => values[i] !== held.value))
        throw new Fenced('STOLEN: Redis lost the claim of a record')
    }
  }

  /** Keep the floor of the claims in Redis, unless the next write does so first. */
  tellSoon(): void {
    this.telling ??= setTimeout(() => void this.tell(), floorMs)
  }

  /** Keep the floor in Redis now, if it is beyond the one kept. */
  async tell(): Promise<void> {
    this.stopTelling()
    const floor = this.calls.beyond(1)
    if (floor === null) return
    const { connection } = this.redis
    await this.redis.append(connection, this.shard, this.mark, '', 0, '', floor.text).then(
      () => this.calls.keep(floor),
      error => {
        if (!(error instanceof Fenced)) this.tellSoon()
      },
    )
  }

  private stopTelling(): void {
    if (this.telling !== null) clearTimeout(this.telling)
    this.telling = null
  }

  /** Nothing more is told to Redis by itself. */
  close(): void {
    this.calls.end()
    this.stopTelling()
  }

  /**
   * Sends a write again until it is answered. The write may have been done, so it must not be cut. Sending it again has
   * the same effect.
   *
   * errors  Fenced; those of the driver when Redis does not answer for long. A node without contact to Redis
   *         is replaced by then. If it was not replaced, Redis answered no other node either.
   */
  private async answered(write: () => Promise<void>): Promise<void> {
    const untilMs = performance.now() + patienceMs
    for (;;)
      try {
        return await write()
      } catch (error) {
        if (error instanceof Fenced || performance.now() >= untilMs) throw error
        await new Promise(resolve => setTimeout(resolve, againMs))
      }
  }

  /** Cut a segment. Writes sent before are refused from now on, and the epoch of their claims is over. */
  async cut(key: string, length: number): Promise<void> {
    this.calls.end()
    this.marks = []
    this.isStolen = false
    await this.fence()
    await this.redis.run('cut', this.shard, this.mark, key, length)
  }
}

class RedisFile implements JournalFile {
  constructor(
    protected readonly redis: RedisClient,
    protected readonly key: string,
  ) {}

  write(_bytes: Buffer, _position: number, _zeros: number): Promise<void> {
    return Promise.reject(new Error('another node owns this journal'))
  }

  async read(into: Buffer, length: number, position: number): Promise<number> {
    if (length === 0) return 0
    const bytes = await this.redis.bytes(this.key, position, position + length - 1)
    return bytes.copy(into)
  }

  truncate(_length: number): Promise<void> {
    return Promise.reject(new Error('another node owns this journal'))
  }

  size(): Promise<number> {
    return this.redis.length(this.key)
  }

  async close(): Promise<void> {}
}

class OwnedFile extends RedisFile {
  constructor(
    private readonly disk: OwnedDisk,
    redis: RedisClient,
    key: string,
  ) {
    super(redis, key)
  }

  /** The buffer is reused for the next group during this write, so it is copied into the command at once. */
  override write(bytes: Buffer, position: number, _zeros: number): Promise<void> {
    return this.disk.write(this.key, bytes, position)
  }

  override truncate(length: number): Promise<void> {
    return this.disk.cut(this.key, length)
  }
}

function shardIn(directory: string): number {
  const found = /^shard-(\d+)$/.exec(basename(directory))
  if (found === null) throw new Error(`${directory} is not the directory of a shard`)
  return Number(found[1])
}

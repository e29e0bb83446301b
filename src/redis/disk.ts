// The journal in Redis. The segments are the same as on a disk (src/journal), each in a text of its own, so
// readers, replay and projectors need no change. A write is a script that compares the shard's mark first: an
// owner that was replaced writes nothing, and a late write of it is refused. The last group of a segment is
// always whole, as a script runs as one step.
import { basename, dirname } from 'node:path'
import type { JournalDisk, JournalFile } from '../journal/disk.js'
import { groupHeaderBytes, readGroupHeader } from '../journal/frame.js'
import type { Sequence } from '../journal/journal.js'
import { Fenced } from './fenced.js'
import type { RedisClient } from './redis.js'

/** How long an unanswered write is sent again, and how often. */
const patienceMs = 10_000
const againMs = 50

/** The root of the journals' paths: `<root>/shard-07`, as on a disk. */
export const redisRoot = 'redis'

/** The claim of a record. It becomes permanent when the record is written. */
export interface Mark {
  /** Sequence of the record. */
  readonly sequence: Sequence
  readonly key: string
  /** The claim's value before the record is written. */
  readonly claimed: string
  readonly done: string
}

/** The segments of all shards, read only. */
export class RedisDisk implements JournalDisk {
  constructor(protected readonly redis: RedisClient) {}

  async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    if (how !== 'read') throw new Error('another node owns this journal')
    const key = this.keyOf(path)
    if (!(await this.redis.exists(key))) throw new Error(`there is no segment ${path}`)
    return new RedisFile(this.redis, key)
  }

  list(directory: string): Promise<string[]> {
    return this.redis.members(this.redis.key(`files:${shardIn(directory)}`))
  }

  remove(_path: string): Promise<void> {
    return Promise.reject(new Error('another node owns this journal'))
  }

  rename(): Promise<void> {
    return Promise.reject(new Error('segments in Redis keep their names'))
  }

  async syncDirectory(): Promise<void> {}

  protected keyOf(path: string): string {
    return this.redis.key(`file:${shardIn(dirname(path))}:${basename(path)}`)
  }
}

/** The segments of one shard, for its owner. */
export class OwnedDisk extends RedisDisk {
  /** Claims of records that are not written yet, in the order of their sequences. */
  private marks: Mark[] = []
  /** Claims of a write without an answer, or with an error: its record may be in this file. */
  private sent: { readonly file: string; readonly marks: readonly Mark[] } | null = null

  /** mark: from taking or reopening the shard. */
  constructor(
    redis: RedisClient,
    private readonly shard: number,
    public mark: string,
  ) {
    super(redis)
  }

  /**
   * Opens the journal of a shard for a new thread of the owner. Late writes of an earlier thread are refused
   * from now on. With replicas it waits for them: a Redis that was replaced, and does not know it yet, has none, and its
   * journal is not read.
   *
   * errors  Fenced when another node owns the shard; those of the driver.
   */
  static async reopen(redis: RedisClient, shard: number, node: string): Promise<OwnedDisk> {
    const mark = await redis.run<string>('reopen', shard, node)
    if (redis.address.replicas > 0) await redis.write('touch')
    return new OwnedDisk(redis, shard, mark)
  }

  /** Make these claims permanent with their records, which are appended in this tick. */
  add(marks: readonly Mark[]): void {
    for (const one of marks) this.marks.push(one)
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
    const key = this.keyOf(path)
    await this.redis.write('drop', this.shard, this.mark, key, basename(path), ...this.unsure(key))
    if (this.sent?.file === key) this.sent = null
  }

  async write(key: string, bytes: Buffer, position: number): Promise<void> {
    const header = bytes.length >= groupHeaderBytes ? readGroupHeader(bytes, 0) : null
    const last = header === null ? 0 : header.first + header.count - 1
    const later = this.marks.findIndex(({ sequence }) => sequence > last)
    const marks = this.marks.splice(0, later < 0 ? this.marks.length : later)
    this.sent = { file: key, marks }
    const { mark } = this
    const write = () => this.redis.write('write', this.shard, mark, key, position, bytes, ...wordsOf(marks))
    await this.answered(write)
    this.sent = null
  }

  /**
   * Sends a write again until it is answered. The write may have been done, and a repeat of its event
   * acknowledged for that, so it must not be cut. Sending it again has the same effect.
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

  /** Cut a segment. Writes sent before are refused from now on, and their keys are freed in the same step. */
  async cut(key: string, length: number): Promise<void> {
    const claims = [...this.unsure(key), ...wordsOf(this.marks)]
    this.mark = await this.redis.run<string>('cut', this.shard, this.mark, key, length, ...claims)
    this.marks = []
    if (this.sent?.file === key) this.sent = null
  }

  /** Claims of records that may be in this file and must not stay there. */
  private unsure(file: string): readonly string[] {
    return this.sent?.file === file ? wordsOf(this.sent.marks) : []
  }
}

const wordsOf = (marks: readonly Mark[]): readonly string[] =>
  marks.flatMap(({ key, claimed, done }) => [key, claimed, done])

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

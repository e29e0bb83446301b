// The journal in Redis: the same segments as on a disk (src/journal), each a text of its own, so that readers, replay and
// projectors need not know. A write is a script that compares the shard's mark first: who was replaced writes nothing,
// and what it sent before and arrives late is refused. A segment's last group is whole, as a script runs whole.
import { basename, dirname } from 'node:path'
import type { JournalDisk, JournalFile } from '../journal/disk.js'
import { groupHeaderBytes, readGroupHeader } from '../journal/frame.js'
import type { Sequence } from '../journal/journal.js'
import type { RedisClient } from './redis.js'

/** Where journals are said to lie: `<root>/shard-07`, as on a disk. */
export const redisRoot = 'redis'

/** A claim of a record, for good once the record is written. */
export interface Mark {
  /** Of the record. */
  readonly sequence: Sequence
  readonly key: string
  /** Its value while it is under way. */
  readonly claimed: string
  readonly done: string
}

/** The segments of all shards, to be read. */
export class RedisDisk implements JournalDisk {
  constructor(protected readonly redis: RedisClient) {}

  async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    if (how !== 'read') throw new Error('this journal is another node’s')
    const key = this.keyOf(path)
    if (!(await this.redis.exists(key))) throw new Error(`there is no segment ${path}`)
    return new RedisFile(this.redis, key)
  }

  list(directory: string): Promise<string[]> {
    return this.redis.members(this.redis.key(`files:${shardIn(directory)}`))
  }

  remove(_path: string): Promise<void> {
    return Promise.reject(new Error('this journal is another node’s'))
  }

  rename(): Promise<void> {
    return Promise.reject(new Error('segments in Redis keep their names'))
  }

  async syncDirectory(): Promise<void> {}

  protected keyOf(path: string): string {
    return this.redis.key(`file:${shardIn(dirname(path))}:${basename(path)}`)
  }
}

/** The same for the owner of one shard. */
export class OwnedDisk extends RedisDisk {
  /** Claims of records on their way, in the order of their sequences. */
  private marks: Mark[] = []
  /** Claims of writes that failed: they may hold, though their records are cut. */
  private doubtful: Mark[] = []

  /** mark: as the shard was taken. */
  constructor(
    redis: RedisClient,
    private readonly shard: number,
    public mark: string,
  ) {
    super(redis)
  }

  /** These claims hold for good with their records, which are appended in this tick. */
  add(marks: readonly Mark[]): void {
    for (const one of marks) this.marks.push(one)
  }

  override async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    if (how === 'read') return super.open(path, how)
    const key = this.keyOf(path)
    if (how === 'new')
      await this.redis.write('begin', this.shard, this.mark, key, basename(path)).catch(async error => {
        // sent before, and the answer was lost
        if (!String(error).includes('EXISTS') || (await this.redis.length(key)) > 0) throw error
      })
    return new OwnedFile(this, this.redis, key)
  }

  override async remove(path: string): Promise<void> {
    await this.redis.write('drop', this.shard, this.mark, this.keyOf(path), basename(path))
  }

  async write(key: string, bytes: Buffer, position: number): Promise<void> {
    const header = bytes.length >= groupHeaderBytes ? readGroupHeader(bytes, 0) : null
    const last = header === null ? 0 : header.first + header.count - 1
    const later = this.marks.findIndex(({ sequence }) => sequence > last)
    const marks = this.marks.splice(0, later < 0 ? this.marks.length : later)
    const claims = marks.flatMap(({ key, claimed, done }) => [key, claimed, done])
    try {
      await this.redis.write('write', this.shard, this.mark, key, position, bytes, ...claims)
    } catch (error) {
      this.doubtful.push(...marks)
      throw error
    }
  }

  /**
   * Cut a segment; whatever was sent before is refused from now on. Claims of writes that failed are free in the same
   * step: a write whose answer was lost may have made them hold, and their records are cut here.
   */
  async cut(key: string, length: number): Promise<void> {
    this.marks = []
    const claims = this.doubtful.flatMap(({ key, claimed, done }) => [key, claimed, done])
    this.mark = await this.redis.run<string>('cut', this.shard, this.mark, key, length, ...claims)
    this.doubtful = []
  }
}

class RedisFile implements JournalFile {
  constructor(
    protected readonly redis: RedisClient,
    protected readonly key: string,
  ) {}

  write(_bytes: Buffer, _position: number, _zeros: number): Promise<void> {
    return Promise.reject(new Error('this journal is another node’s'))
  }

  async read(into: Buffer, length: number, position: number): Promise<number> {
    if (length === 0) return 0
    const bytes = await this.redis.bytes(this.key, position, position + length - 1)
    return bytes.copy(into)
  }

  truncate(_length: number): Promise<void> {
    return Promise.reject(new Error('this journal is another node’s'))
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

  /** The buffer is filled again by the next group while this one is under way: it is copied into the command at once. */
  override write(bytes: Buffer, position: number, _zeros: number): Promise<void> {
    return this.disk.write(this.key, bytes, position)
  }

  override truncate(length: number): Promise<void> {
    return this.disk.cut(this.key, length)
  }
}

function shardIn(directory: string): number {
  const found = /^shard-(\d+)$/.exec(basename(directory))
  if (found === null) throw new Error(`${directory} is no directory of a shard`)
  return Number(found[1])
}

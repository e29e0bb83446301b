// The journal in Redis: the same segments as on a disk (src/journal), each a text of its own, so that readers, replay and
// projectors need not know. A write is a script that compares the shard's mark first: who was replaced writes nothing,
// and what it sent before and arrives late is refused. A segment's last group is whole, as a script runs whole.
import { basename, dirname } from 'node:path'
import type { JournalDisk, JournalFile } from '../journal/disk.js'
import { groupHeaderBytes, readGroupHeader } from '../journal/frame.js'
import type { Sequence } from '../journal/journal.js'
import { Fenced } from './fenced.js'
import type { RedisClient } from './redis.js'

/** How long a write is sent again while it is not answered, and how often. */
const patienceMs = 10_000
const againMs = 50

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
  /** Those of the write that was not answered, or whose answer was an error: its record may be in this file. */
  private sent: { readonly file: string; readonly marks: readonly Mark[] } | null = null

  /** mark: as the shard was taken, or opened again. */
  constructor(
    redis: RedisClient,
    private readonly shard: number,
    public mark: string,
  ) {
    super(redis)
  }

  /**
   * The journal of a shard for a thread of the node that owns it, the first or a further one: what an earlier one sent
   * is refused from now on.
   *
   * errors  Fenced when the shard is another node's; those of the driver.
   */
  static async reopen(redis: RedisClient, shard: number, node: string): Promise<OwnedDisk> {
    return new OwnedDisk(redis, shard, await redis.run<string>('reopen', shard, node))
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
   * Send a write again until it is answered: it may have been done, and a repeat of its event been acknowledged for that,
   * so that it is not to be cut. Sent again it does the same again.
   *
   * errors  Fenced; those of the driver when Redis does not answer for long: a node of which Redis does not hear is
   *         replaced by then, and one that was not is alone with a Redis that answered nobody.
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

  /** Cut a segment; whatever was sent before is refused from now on, and its keys are free in the same step. */
  async cut(key: string, length: number): Promise<void> {
    const claims = [...this.unsure(key), ...wordsOf(this.marks)]
    this.mark = await this.redis.run<string>('cut', this.shard, this.mark, key, length, ...claims)
    this.marks = []
    if (this.sent?.file === key) this.sent = null
  }

  /** Claims whose record may be in this file, and is not to be. */
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

// How much journal is kept because a store or a checkpoint is behind. Beyond its bound events are refused at the
// door rather than filling the disk (promises 6 and 8).
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../errors.js'
import { isSegment } from '../journal/segment.js'

export class Backlog {
  /** Bytes of every shard's segments, as last measured. */
  private kept: readonly KeptBytes[] = []
  /** The newest segment of a shard is there with or without a backlog: it does not count. */
  full = false
  private readonly timer: NodeJS.Timeout

  /** `directories`: one per shard. Looks once a second. */
  constructor(
    private readonly directories: readonly string[],
    private readonly bytesMax: number,
  ) {
    this.timer = setInterval(() => void this.look(), 1_000)
    this.timer.unref()
  }

  /** Bytes per shard. */
  get perShard(): readonly number[] {
    return this.kept.map(({ bytes }) => bytes)
  }

  /** Throws `overloaded` (503) when the bound is reached. */
  admit(): void {
    if (this.full)
      throw new ServiceError('overloaded', 'The backlog of events is full; try again later', {
        retryAfterSeconds: 5,
      })
  }

  stop(): void {
    clearInterval(this.timer)
  }

  /** Look now, and not only when the second is over. */
  async look(): Promise<void> {
    this.kept = await Promise.all(this.directories.map(keptIn))
    this.full = this.kept.reduce((sum, { closed }) => sum + closed, 0) >= this.bytesMax
  }
}

/** Bytes of a shard's segments, and of those that are closed. */
interface KeptBytes {
  readonly bytes: number
  readonly closed: number
}

async function keptIn(directory: string): Promise<KeptBytes> {
  const names = (await readdir(directory).catch(() => [])).filter(isSegment).sort()
  const sizes = await Promise.all(
    names.map(name =>
      stat(join(directory, name)).then(
        found => found.size,
        () => 0,
      ),
    ),
  )
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return { bytes, closed: bytes - (sizes.at(-1) ?? 0) }
}

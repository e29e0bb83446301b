// How much journal is kept because a store or a checkpoint is behind. Beyond its bound events are refused at the
// door rather than filling the disk (promises 6 and 8).
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../errors.js'

export class Backlog {
  /** Bytes of every shard's segments, as last looked at. */
  private bytes: readonly number[] = []
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
    return this.bytes
  }

  get full(): boolean {
    return this.bytes.reduce((sum, bytes) => sum + bytes, 0) >= this.bytesMax
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

  private async look(): Promise<void> {
    this.bytes = await Promise.all(this.directories.map(bytesOf))
  }
}

async function bytesOf(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => [])
  const sizes = await Promise.all(
    names.map(name =>
      stat(join(directory, name)).then(
        found => found.size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

// Rows on their way into the embedded ClickHouse: files that it reads. What stands in the text of a statement instead is
// copied several times and taken apart into tokens to its end before a row of it is read.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Of the embedded ClickHouse's directory, in which its process stands. */
const incoming = 'incoming'

/** As many are written at once. */
const gatherBytes = 1 << 20

/** Rows that lie ready; for who gave them to remove. */
export interface IncomingRows {
  /** As a statement names it. */
  readonly path: string
  readonly bytes: number
  remove(): Promise<void>
}

/** Make the place, or remove what a process that was killed has left there. */
export function emptyIncoming(directory: string): void {
  const folder = join(directory, incoming)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true })
}

/**
 * Write rows to a file of their own. They need not survive a crash: who sends them sends them again.
 *
 * errors   those of the file system, and of the source; nothing is left behind then.
 */
export async function writeIncoming(
  directory: string,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<IncomingRows> {
  const path = `${incoming}/${randomUUID()}`
  const place = join(directory, path)
  const remove = () => rm(place, { force: true })
  try {
    const file = await open(place, 'wx', 0o600)
    try {
      return { path, bytes: await writeAll(file, pieces), remove }
    } finally {
      await file.close()
    }
  } catch (error) {
    await remove().catch(() => {})
    throw error
  }
}

async function writeAll(file: FileHandle, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<number> {
  let written = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    // it may write less than it was given
    for (let left = waiting; left.length > 0; ) {
      const { bytesWritten } = await file.writev(left)
      left = behind(left, bytesWritten)
    }
    written += bytes
    waiting = []
    bytes = 0
  }
  for await (const piece of pieces) {
    if (piece.length === 0) continue
    waiting.push(piece)
    bytes += piece.length
    if (bytes >= gatherBytes) await flush()
  }
  await flush()
  return written
}

function behind(pieces: Buffer[], written: number): Buffer[] {
  let skip = written
  let index = 0
  for (; index < pieces.length && skip >= pieces[index]!.length; index++) skip -= pieces[index]!.length
  const left = pieces.slice(index)
  if (skip > 0) left[0] = left[0]!.subarray(skip)
  return left
}

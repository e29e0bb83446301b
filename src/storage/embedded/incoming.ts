// Rows for the embedded ClickHouse, in files that it reads. Inside the text of a statement they would be copied
// several times and tokenised completely before the first row is read.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Subdirectory of the embedded ClickHouse's directory, which is the working directory of its process. */
const incoming = 'incoming'

/** Bytes gathered per write. */
const gatherBytes = 1 << 20

/** Rows in a file. The creator removes it. */
export interface IncomingRows {
  /** The path as used in a statement. */
  readonly path: string
  readonly bytes: number
  remove(): Promise<void>
}

/** Create the directory, or empty it after a killed process. */
export function emptyIncoming(directory: string): void {
  const folder = join(directory, incoming)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true })
}

/**
 * Write rows to a new file. It need not survive a crash, because the sender would send the rows again.
 *
 * errors   those of the file system and of the source; the file is removed then.
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
    // a write may be partial
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

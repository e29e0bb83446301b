// The part of a file system that the journal needs, so that a simulated disk can replace the real one.
import fs from 'node:fs'
import { open as openFile, readdir, rename, rm } from 'node:fs/promises'

/** One open file of the journal. */
export interface JournalFile {
  /**
   * Write all of `bytes` at `position`, followed by `zeros` zero bytes; resolves when they are durable.
   * On rejection nothing is known about what reached the disk.
   */
  write(bytes: Buffer, position: number, zeros: number): Promise<void>
  /** Read up to `length` bytes into `into` from its start; fewer only at the end of the file. */
  read(into: Buffer, length: number, position: number): Promise<number>
  /** Cut or grow to this length, durably. */
  truncate(length: number): Promise<void>
  size(): Promise<number>
  close(): Promise<void>
}

/** Paths are whole; a `new` file must not exist yet and its name is durable only after `syncDirectory`. */
export interface JournalDisk {
  /** Files are texts elsewhere: nothing is gained by writing ahead, and no file is recycled. */
  readonly isRemote?: true
  open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile>
  /** File names of a directory, in any order; the directory is made when missing. */
  list(directory: string): Promise<string[]>
  remove(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  syncDirectory(directory: string): Promise<void>
}

const { O_RDWR, O_CREAT, O_EXCL, O_RDONLY, O_DSYNC } = fs.constants
const modes = {
  read: O_RDONLY,
  write: O_RDWR | O_DSYNC,
  new: O_RDWR | O_DSYNC | O_CREAT | O_EXCL,
} as const
const zeroBytes = Buffer.alloc(1 << 20)

/**
 * The real disk. Files are opened with O_DSYNC: one system call is the write and its fdatasync, which on the
 * machine measured is 15–20 % quicker than the two in turn.
 */
export const nodeDisk: JournalDisk = {
  open: (path, how) =>
    new Promise((resolve, reject) => {
      fs.open(path, modes[how], 0o600, (error, descriptor) =>
        error ? reject(error) : resolve(nodeFile(descriptor)),
      )
    }),
  async list(directory) {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    return readdir(directory)
  },
  remove: path => rm(path),
  rename: (from, to) => rename(from, to),
  async syncDirectory(directory) {
    const handle = await openFile(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

function nodeFile(descriptor: number): JournalFile {
  let closed = false
  return {
    write: (bytes, position, zeros) =>
      new Promise((resolve, reject) => {
        writeAll(descriptor, bytes, position, zeros, error => (error ? reject(error) : resolve()))
      }),
    read: (into, length, position) => readAll(descriptor, into, length, position),
    truncate: length =>
      new Promise((resolve, reject) => {
        fs.ftruncate(descriptor, length, cut => {
          if (cut) reject(cut)
          else fs.fsync(descriptor, error => (error ? reject(error) : resolve()))
        })
      }),
    size: () =>
      new Promise((resolve, reject) => {
        fs.fstat(descriptor, (error, stats) => (error ? reject(error) : resolve(stats.size)))
      }),
    close: () =>
      new Promise((resolve, reject) => {
        // Closing a number twice could close somebody else's file.
        if (closed) return resolve()
        closed = true
        fs.close(descriptor, error => (error ? reject(error) : resolve()))
      }),
  }
}

// A short write is not an error yet: the next call either finishes it or says why it cannot.
function writeAll(
  descriptor: number,
  bytes: Buffer,
  position: number,
  zeros: number,
  done: (error: Error | null) => void,
): void {
  const parts: Buffer[] = [bytes]
  for (let left = zeros; left > 0; left -= zeroBytes.length)
    parts.push(left < zeroBytes.length ? zeroBytes.subarray(0, left) : zeroBytes)
  const total = bytes.length + zeros
  const written = (error: Error | null, count: number): void => {
    if (error !== null || count === total) done(error)
    else if (count === 0) done(new Error('the disk took no more bytes'))
    else
      writeAll(
        descriptor,
        bytes.subarray(Math.min(count, bytes.length)),
        position + count,
        remaining(count),
        done,
      )
  }
  const remaining = (count: number): number => Math.max(0, zeros - Math.max(0, count - bytes.length))
  if (parts.length === 1) fs.write(descriptor, bytes, 0, bytes.length, position, written)
  else fs.writev(descriptor, parts, position, written)
}

async function readAll(descriptor: number, into: Buffer, length: number, position: number): Promise<number> {
  let filled = 0
  while (filled < length) {
    const count = await readSome(descriptor, into, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

function readSome(
  descriptor: number,
  into: Buffer,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(descriptor, into, offset, length, position, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}

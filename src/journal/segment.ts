// A shard's journal on disk: its directory, its segment files named by their first sequence, its generation.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { JournalDisk, JournalFile } from './disk.js'
import { type GroupHeader, groupHeaderBytes, groupIsWhole, groupMagic, readGroupHeader } from './frame.js'
import { JournalCorrupt, type Sequence } from './journal.js'

const suffix = '.journal'
const spareSuffix = '.spare'
const magicBytes = Buffer.alloc(4)
magicBytes.writeUInt32LE(groupMagic)
const zeros = Buffer.alloc(4_096)
/** Read at once to find where a segment ends. */
const pieceBytes = 4 << 20

/** The directory of one shard under the journal's root. */
export function shardDirectory(root: string, shard: number): string {
  return join(root, `shard-${String(shard).padStart(2, '0')}`)
}

export function segmentPath(directory: string, first: Sequence): string {
  return join(directory, String(first).padStart(20, '0') + suffix)
}

/** A file that waits to become a segment. */
export function sparePath(directory: string, number: number): string {
  return join(directory, number + spareSuffix)
}

/** Paths of all such files in a directory. */
export async function listSpares(disk: JournalDisk, directory: string): Promise<string[]> {
  const names = await disk.list(directory)
  return names.filter(name => name.endsWith(spareSuffix)).map(name => join(directory, name))
}

/** Whether a file of this name is a segment. */
export function isSegment(name: string): boolean {
  return /^\d{20}\.journal$/.test(name)
}

/** First sequences of the segments in a directory, ascending. */
export async function listSegments(disk: JournalDisk, directory: string): Promise<Sequence[]> {
  const names = await disk.list(directory)
  return names
    .filter(isSegment)
    .map(name => Number(name.slice(0, 20)))
    .sort((a, b) => a - b)
}

/** Index of the segment that holds `sequence`: the last that begins at or before it; -1 when all begin later. */
export function segmentHolding(segments: readonly Sequence[], sequence: Sequence): number {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (segments[middle]! <= sequence) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * The identity of this journal, made at its first start. Sequences of another generation mean other records, so
 * every stored position and every deduplication token carries it.
 */
export async function journalGeneration(disk: JournalDisk, root: string): Promise<string> {
  const names = await disk.list(root)
  const path = join(root, 'generation')
  if (!names.includes('generation')) {
    const draft = `${path}.new`
    if (names.includes('generation.new')) await disk.remove(draft)
    const file = await disk.open(draft, 'new')
    await file.write(Buffer.from(randomBytes(9).toString('base64url')), 0, 0)
    await file.close()
    await disk.rename(draft, path)
    await disk.syncDirectory(root)
  }
  const file = await disk.open(path, 'read')
  const bytes = Buffer.alloc(64)
  const length = await file.read(bytes, bytes.length, 0)
  await file.close()
  if (length === 0) throw new JournalCorrupt(path, 0, 'the generation is empty')
  return bytes.toString('latin1', 0, length)
}

/** Where the whole groups of a segment end. */
interface SegmentEnd {
  /** Bytes of whole groups. */
  readonly bytes: number
  /** Sequence of the last record in them, or the one before the segment when it has none. */
  readonly last: Sequence
  /** Bytes after them that a torn write left: neither zeros nor what the file held before it became this segment. */
  readonly torn: number
}

/**
 * Whether a group is older than the segment that begins with `first`, from an earlier use of its file
 * (segment-pool.ts): every record left in such a file is older than its new segment.
 */
export function isOfBefore(header: GroupHeader, first: Sequence): boolean {
  return header.first < first
}

/**
 * Find the end of the newest segment. One write is under way at a time, so a torn write can only be the last
 * thing in the file: anything whole after a broken group means the break is no torn write, and stops the start.
 */
export async function findEnd(file: JournalFile, path: string, first: Sequence): Promise<SegmentEnd> {
  const size = await file.size()
  let room = Buffer.allocUnsafeSlow(Math.min(size, pieceBytes))
  let offset = 0
  let next = first
  let broken: GroupHeader | null
  // a piece at a time: memory for all of it would take longer to be had than the file to be read
  for (;;) {
    const piece = room.subarray(0, await file.read(room, Math.min(room.length, size - offset), offset))
    let at = 0
    for (let header = wholeGroup(piece, at); header?.first === next; header = wholeGroup(piece, at)) {
      at += groupHeaderBytes + header.bytes
      next += header.count
    }
    offset += at
    if (at > 0) continue
    broken = headerAt(piece, 0)
    if (broken?.first !== next) broken = null
    const whole = groupHeaderBytes + (broken?.bytes ?? 0)
    if (whole <= room.length || whole > size - offset) break
    room = Buffer.allocUnsafeSlow(whole)
  }
  const behind = await lookBehind(file, room, offset, size, first)
  if (behind.follows)
    throw new JournalCorrupt(path, offset, `record ${next} is broken and whole groups follow it`)
  if (!behind.reused) return { bytes: offset, last: next - 1, torn: behind.used }
  const torn = broken === null ? 0 : Math.min(groupHeaderBytes + broken.bytes, size - offset)
  return { bytes: offset, last: next - 1, torn }
}

/**
 * The bytes behind the whole groups of a segment.
 *
 * follows  a group of this segment
 * reused   a group of an earlier segment
 * used     bytes up to the last that is not zero
 */
async function lookBehind(file: JournalFile, room: Buffer, from: number, size: number, first: Sequence) {
  const behind = { follows: false, reused: false, used: 0 }
  for (let start = from; start < size; ) {
    const piece = room.subarray(0, await file.read(room, Math.min(room.length, size - start), start))
    const used = lastUsed(piece)
    if (used > 0) behind.used = start - from + used
    for (let at = piece.indexOf(magicBytes); at !== -1; at = piece.indexOf(magicBytes, at + 1)) {
      const header = headerAt(piece, at)
      if (header === null) break
      const before = isOfBefore(header, first)
      if ((before && behind.reused) || !(await liesWhole(file, start + at, header, size))) continue
      if (before) behind.reused = true
      else behind.follows = true
    }
    if (behind.follows || start + piece.length >= size || piece.length <= groupHeaderBytes) break
    // a header may lie across two pieces
    start += piece.length - groupHeaderBytes + 1
  }
  return behind
}

async function liesWhole(file: JournalFile, at: number, header: GroupHeader, size: number): Promise<boolean> {
  const length = groupHeaderBytes + header.bytes
  if (at + length > size) return false
  const bytes = Buffer.allocUnsafeSlow(length)
  return (await file.read(bytes, length, at)) === length && groupIsWhole(bytes, 0, header)
}

/** The last record of a journal that is not written to now; 0 for one that does not exist. Errors as `findEnd`. */
export async function journalEnd(disk: JournalDisk, directory: string): Promise<Sequence> {
  const first = (await listSegments(disk, directory)).at(-1)
  if (first === undefined) return 0
  const path = segmentPath(directory, first)
  const file = await disk.open(path, 'read')
  try {
    return (await findEnd(file, path, first)).last
  } finally {
    await file.close()
  }
}

function headerAt(bytes: Buffer, at: number): GroupHeader | null {
  return at + groupHeaderBytes > bytes.length ? null : readGroupHeader(bytes, at)
}

function wholeGroup(bytes: Buffer, at: number): GroupHeader | null {
  const header = headerAt(bytes, at)
  if (header === null || at + groupHeaderBytes + header.bytes > bytes.length) return null
  return groupIsWhole(bytes, at, header) ? header : null
}

// One past the last byte that is not zero.
function lastUsed(bytes: Buffer): number {
  let at = bytes.length
  while (at >= zeros.length && zeros.equals(bytes.subarray(at - zeros.length, at))) at -= zeros.length
  while (at > 0 && bytes[at - 1] === 0) at--
  return at
}

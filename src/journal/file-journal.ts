// The embedded journal: segment files of one shard, written by its thread alone.
//
//   append ─▶ filling ──(one write + fdatasync)──▶ committed
//              ▲ grows while the previous group is being written
import { dirname } from 'node:path'
import { type JournalDisk, type JournalFile, nodeDisk } from './disk.js'
import { Group } from './frame.js'
import {
  type FramedRecords,
  type Journal,
  JournalCorrupt,
  JournalFailed,
  type NewRecord,
  type Sequence,
} from './journal.js'
import { findEnd, listSegments, segmentPath } from './segment.js'
import { SegmentPool } from './segment-pool.js'

export interface FileJournalOptions {
  /** The shard's own directory; made when missing. */
  readonly directory: string
  /** Size at which a segment is closed and the next begun; default 64 MiB. */
  readonly segmentBytes?: number
  /**
   * Zeros written ahead of small groups, so that the next ones change no file size and their fdatasync is one
   * disk operation instead of two (measured: 0.12 ms instead of 0.20). Default 1 MiB, 0 on a disk that is remote; 0:
   * nothing is written ahead, no segment either (segment-pool.ts).
   */
  readonly padBytes?: number
  /** A sequence known to be stored elsewhere: opening a journal that ends before it throws. Default 0. */
  readonly mustReach?: Sequence
  /** Called after each group, before its callers are answered. */
  readonly committed?: (sequence: Sequence) => void
  /** Asked for each durable group: null when it may be told, else it waits. */
  readonly held?: (() => Promise<void> | null) | undefined
  /** Called for each group: its records, and the seconds until its write was durable. */
  readonly measured?: (records: number, seconds: number) => void
  readonly disk?: JournalDisk
}

/** A group this large gains nothing from padding: its bytes cost more than the metadata. */
const paddedGroupBytes = 64 << 10
const defaultSegmentBytes = 64 << 20
const defaultPadBytes = 1 << 20

interface Waiter {
  readonly last: Sequence
  readonly resolve: (sequence: Sequence) => void
  readonly reject: (error: Error) => void
}

/**
 * Open the journal of one shard, cutting a torn tail at the last whole group.
 *
 * returns  { journal; cutBytes: bytes of a torn write that were cut, 0 after a clean stop }.
 * errors   JournalCorrupt when a broken group is followed by whole ones, or the journal ends before `mustReach`.
 * source   README.md beside this file.
 */
export async function openFileJournal(
  options: FileJournalOptions,
): Promise<{ readonly journal: FileJournal; readonly cutBytes: number }> {
  const disk = options.disk ?? nodeDisk
  const { directory } = options
  const segments = await listSegments(disk, directory)
  await SegmentPool.clear(disk, directory)
  if (segments.length === 0) {
    if (options.mustReach) throw ended(directory, 0, 0, options.mustReach)
    const file = await createSegment(disk, directory, 1, undefined)
    await syncNames(disk, directory)
    return { journal: new FileJournal(options, disk, [1], file, 0, 0, 0), cutBytes: 0 }
  }
  const first = segments.at(-1)!
  const path = segmentPath(directory, first)
  const file = await disk.open(path, 'write')
  try {
    const end = await findEnd(file, path, first)
    if (end.last < (options.mustReach ?? 0)) throw ended(path, end.bytes, end.last, options.mustReach ?? 0)
    if (end.torn > 0) await file.truncate(end.bytes)
    // the process that made the segment may have died before its name was durable
    await syncNames(disk, directory)
    const size = await file.size()
    const journal = new FileJournal(options, disk, segments, file, end.bytes, size, end.last)
    return { journal, cutBytes: end.torn }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Make the names of the segments durable. Their directory may be new too, and so may its parent. */
async function syncNames(disk: JournalDisk, directory: string): Promise<void> {
  await disk.syncDirectory(directory)
  await disk.syncDirectory(dirname(directory))
  await disk.syncDirectory(dirname(dirname(directory)))
}

function ended(file: string, offset: number, last: Sequence, known: Sequence): JournalCorrupt {
  return new JournalCorrupt(
    file,
    offset,
    `the journal ends at record ${last}, but ${known} is stored elsewhere`,
  )
}

/** spare: the file it is made of, or undefined. Nothing is written into that before its name is durable. */
async function createSegment(
  disk: JournalDisk,
  directory: string,
  first: Sequence,
  spare: string | undefined,
): Promise<JournalFile> {
  const path = segmentPath(directory, first)
  if (spare !== undefined) await disk.rename(spare, path)
  const file = await disk.open(path, spare === undefined ? 'new' : 'write')
  try {
    await disk.syncDirectory(directory)
    return file
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

/** Made by openFileJournal. Invariant: bytes [0, #offset) of the newest segment are durable whole groups. */
export class FileJournal implements Journal {
  readonly #directory: string
  readonly #disk: JournalDisk
  readonly #segmentBytes: number
  readonly #padBytes: number
  readonly #told: (sequence: Sequence) => void
  readonly #held: () => Promise<void> | null
  readonly #measured: (records: number, seconds: number) => void
  /** First sequences, ascending; the last is being written. */
  readonly #segments: Sequence[]
  readonly #spares: SegmentPool
  #file: JournalFile
  #offset: number
  /** File size as far as we know: below it a write changes no metadata. */
  #allocated: number
  #committed: Sequence
  /** Sequence the next record gets. */
  #next: Sequence
  /** The next turn of writing begins a new segment. */
  #renews = false
  /** Files of segments that begin before this are removed, not recycled: their old bytes must go. */
  #unrecycled: Sequence = 0
  #filling = new Group()
  #writing = new Group()
  #waiting: Waiter[] = []
  #writingBytes = 0
  #run: Promise<void> | null = null
  #refuses: JournalFailed | null = null

  constructor(
    options: FileJournalOptions,
    disk: JournalDisk,
    segments: Sequence[],
    file: JournalFile,
    offset: number,
    allocated: number,
    committed: Sequence,
  ) {
    this.#directory = options.directory
    this.#disk = disk
    this.#segmentBytes = options.segmentBytes ?? defaultSegmentBytes
    this.#padBytes = options.padBytes ?? (disk.isRemote ? 0 : defaultPadBytes)
    this.#told = options.committed ?? (() => {})
    this.#held = options.held ?? (() => null)
    this.#measured = options.measured ?? (() => {})
    this.#segments = segments
    this.#file = file
    // the last group of a segment goes beyond its bound
    const beyond = Math.min(this.#padBytes, this.#segmentBytes >> 4)
    this.#spares = new SegmentPool(disk, options.directory, beyond && this.#segmentBytes + beyond)
    this.#offset = offset
    this.#allocated = allocated
    this.#committed = committed
    this.#next = committed + 1
    this.#told(committed)
  }

  get committed(): Sequence {
    return this.#committed
  }

  get pendingBytes(): number {
    return this.#filling.byteLength + this.#writingBytes
  }

  append(records: readonly (NewRecord | FramedRecords)[]): Promise<Sequence> {
    if (this.#refuses !== null) return Promise.reject(this.#refuses)
    const group = this.#filling
    if (group.count === 0) group.begin(this.#next)
    const had = group.count
    for (const record of records)
      if ('bytes' in record) group.addFramed(record)
      else group.add(record)
    this.#next += group.count - had
    const last = this.#next - 1
    if (last === this.#committed) return Promise.resolve(last)
    // A write under way may already carry everything asked for (an empty append): the group after it, itself
    // empty, answers the caller in order.
    const promise = new Promise<Sequence>((resolve, reject) => {
      this.#waiting.push({ last, resolve, reject })
    })
    this.#run ??= this.#writeGroups()
    return promise
  }

  async reopen(): Promise<void> {
    await this.#run
    if (this.#refuses === null || this.#refuses === closed) return
    const first = this.#segments.at(-1)!
    await this.#spares.drop()
    await this.#file.close().catch(() => {})
    for (const other of await listSegments(this.#disk, this.#directory))
      if (other > first) await this.#disk.remove(segmentPath(this.#directory, other))
    this.#file = await this.#disk.open(segmentPath(this.#directory, first), 'write')
    await this.#file.truncate(this.#offset)
    await this.#disk.syncDirectory(this.#directory)
    this.#allocated = this.#offset
    this.#refuses = null
  }

  async trim(upTo: Sequence): Promise<void> {
    await this.#spares.weigh()
    // Oldest first: a crash in between leaves no hole.
    while (this.#segments.length > 1 && this.#segments[1]! - 1 <= upTo) {
      const first = this.#segments.shift()!
      const path = segmentPath(this.#directory, first)
      if (first < this.#unrecycled) await this.#disk.remove(path)
      else await this.#spares.put(path)
    }
  }

  async renew(): Promise<void> {
    if (this.#refuses !== null) throw this.#refuses
    this.#renews = true
    const promise = new Promise<Sequence>((resolve, reject) => {
      this.#waiting.push({ last: this.#next - 1, resolve, reject })
    })
    this.#run ??= this.#writeGroups()
    await promise
  }

  async close(): Promise<void> {
    await this.#run
    if (this.#refuses === closed) return
    this.#refuses = closed
    await this.#spares.drop().catch(() => {})
    // the recycled bytes behind the segment are cut off
    if (this.#allocated - this.#offset > this.#padBytes)
      await this.#file.truncate(this.#offset).catch(() => {})
    await this.#file.close().catch(() => {})
  }

  async #writeGroups(): Promise<void> {
    // Records appended in the rest of this tick join the first group.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#writeGroup()
    this.#run = null
  }

  async #writeGroup(): Promise<void> {
    const group = this.#filling
    const waiters = this.#waiting
    this.#filling = this.#writing
    this.#filling.begin(this.#next)
    this.#writing = group
    this.#waiting = []
    try {
      if (this.#renews) await this.#begin(group.count > 0 ? group.first : this.#committed + 1)
      if (group.count > 0) await this.#put(group)
    } catch (error) {
      this.#fail(error, waiters)
      return
    }
    for (const waiter of waiters) waiter.resolve(waiter.last)
  }

  async #put(group: Group): Promise<void> {
    this.#writingBytes = group.byteLength
    if (this.#offset >= this.#segmentBytes) await this.#rotate(group.first)
    const bytes = group.seal()
    const end = this.#offset + bytes.length
    const zeros = end > this.#allocated && bytes.length <= paddedGroupBytes ? this.#padBytes : 0
    const began = performance.now()
    await this.#file.write(bytes, this.#offset, zeros)
    this.#measured(group.count, (performance.now() - began) / 1_000)
    const held = this.#held()
    if (held !== null) await held
    this.#writingBytes = 0
    this.#offset = end
    this.#allocated = Math.max(this.#allocated, end + zeros)
    this.#committed = group.first + group.count - 1
    this.#told(this.#committed)
    // begun when a quarter of this segment is full, ready when three are
    const share = (2 * end) / this.#segmentBytes - 0.5
    if (share > 0) this.#spares.prepare(share)
  }

  /** The segment is whole as it is; one without records stays the newest. */
  async #begin(first: Sequence): Promise<void> {
    this.#renews = false
    await this.#spares.drop()
    if (this.#offset > 0) await this.#rotate(first)
    this.#unrecycled = this.#segments.at(-1)!
  }

  async #rotate(first: Sequence): Promise<void> {
    const spare = this.#spares.take()
    const file = await createSegment(this.#disk, this.#directory, first, spare)
    const old = this.#file
    this.#file = file
    this.#segments.push(first)
    this.#offset = 0
    this.#allocated = spare === undefined ? 0 : await file.size()
    await old.close().catch(() => {})
  }

  // Nothing after the failed group can be durable either: sequences would have a hole.
  #fail(cause: unknown, waiters: readonly Waiter[]): void {
    const error = new JournalFailed('the journal could not be written', { cause })
    this.#refuses = error
    const all = [...waiters, ...this.#waiting]
    this.#waiting = []
    this.#writingBytes = 0
    this.#next = this.#committed + 1
    this.#filling.begin(this.#next)
    for (const waiter of all) waiter.reject(error)
  }
}

const closed = new JournalFailed('the journal is closed')

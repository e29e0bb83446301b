// Reads a shard's journal from any thread, behind its committed end.
import { type JournalDisk, type JournalFile, nodeDisk } from './disk.js'
import { Chunk, type GroupHeader, groupHeaderBytes, groupIsWhole, readGroupHeader } from './frame.js'
import { JournalCorrupt, type JournalRecord, type Sequence } from './journal.js'
import { isOfBefore, listSegments, segmentHolding, segmentPath } from './segment.js'

interface FileJournalReaderOptions {
  readonly directory: string
  /** Bytes read from the file at once; default 4 MiB. A larger group is read whole. */
  readonly chunkBytes?: number
  readonly disk?: JournalDisk
}

const firstLoadBytes = 128 << 10

/**
 * One `read` at a time. A read that starts where the last one ended goes on from there without looking for its place.
 * Invariant: #offset is the start of the group whose first record is #next, in segment #segment.
 */
export class FileJournalReader {
  readonly #directory: string
  readonly #disk: JournalDisk
  readonly #chunkBytes: number
  #segments: Sequence[] = []
  #segment: Sequence = 0
  #file: JournalFile | null = null
  #offset = 0
  #next: Sequence = 0
  #bytes = Buffer.alloc(0)
  /** Offset of #bytes in the file, and its filled length. */
  #start = 0
  #filled = 0
  /** The start of the last load: a reader that stopped inside it goes back no further. */
  #loaded = { segment: 0, offset: 0, next: 0 }
  /** Size of the next load: a reader at the committed end mostly finds little. */
  #ask = 0
  /** Reads under way. */
  #reading = 0
  /** Something was read since the last `rest`. */
  #used = false

  constructor(options: FileJournalReaderOptions) {
    this.#directory = options.directory
    this.#disk = options.disk ?? nodeDisk
    this.#chunkBytes = options.chunkBytes ?? 4 << 20
  }

  /**
   * Records after `from`, up to and including `upTo`, in order, some megabytes at a time.
   * `upTo` must be committed. Throws JournalCorrupt with file and offset on a bad checksum or a gap; never skips
   * silently.
   */
  async *read(from: Sequence, upTo: Sequence): AsyncGenerator<readonly JournalRecord[]> {
    for await (const chunk of this.chunks(from, upTo))
      yield Array.from({ length: chunk.count }, (_, index) => chunk.record(index))
  }

  /**
   * The same records, without making anything for one that is not looked at.
   *
   * kept  chunks that stay as they are at a time: one is filled again when `kept` others have been asked for.
   */
  async *chunks(from: Sequence, upTo: Sequence, kept = 1): AsyncGenerator<Chunk> {
    if (from >= upTo) return
    this.#used = true
    this.#reading++
    try {
      yield* this.#chunksAfter(from, upTo, kept)
    } finally {
      this.#reading--
    }
  }

  /** Free the memory of chunks, unless something was read since the last call. A later read takes new memory. */
  rest(): void {
    if (!this.#used && this.#reading === 0) this.#bytes = Buffer.alloc(0)
    this.#used = false
  }

  async *#chunksAfter(from: Sequence, upTo: Sequence, kept: number): AsyncGenerator<Chunk> {
    this.#ask = Math.min(firstLoadBytes, this.#chunkBytes)
    await this.#seek(from + 1)
    const ring = Array.from({ length: kept }, (_, index) => ({
      chunk: new Chunk(),
      bytes: index === 0 ? this.#bytes : Buffer.alloc(0),
    }))
    for (let turn = 0; this.#next <= upTo; turn = (turn + 1) % kept) {
      const place = ring[turn]!
      const { chunk } = place
      this.#bytes = place.bytes
      await this.#fill()
      place.bytes = this.#bytes
      chunk.begin(this.#bytes)
      for (;;) {
        const header = this.#groupInMemory()
        if (header === null) break
        const last = header.first + header.count - 1
        if (last > from) this.#take(header, from, upTo, chunk)
        if (last > upTo) {
          yield chunk
          return
        }
        this.#offset += groupHeaderBytes + header.bytes
        this.#next = last + 1
        if (last === upTo) break
      }
      if (chunk.count > 0) yield chunk
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }

  async #seek(sequence: Sequence): Promise<void> {
    this.#filled = 0
    if (this.#file !== null && this.#next > sequence && this.#loaded.segment === this.#segment) {
      this.#offset = this.#loaded.offset
      this.#next = this.#loaded.next
    }
    if (this.#file !== null && this.#next <= sequence && !this.#liesInALaterSegment(sequence)) return
    await this.#find(sequence)
  }

  async #find(sequence: Sequence): Promise<void> {
    this.#segments = await listSegments(this.#disk, this.#directory)
    const index = segmentHolding(this.#segments, sequence)
    if (index < 0)
      throw new JournalCorrupt(this.#directory, 0, `the journal no longer holds record ${sequence}`)
    await this.#enter(this.#segments[index]!)
  }

  /** Whether this segment was trimmed: a file that stays open may have become a later one since. */
  async #isGone(): Promise<boolean> {
    return !(await listSegments(this.#disk, this.#directory)).includes(this.#segment)
  }

  #liesInALaterSegment(sequence: Sequence): boolean {
    const index = segmentHolding(this.#segments, sequence)
    return index >= 0 && this.#segments[index]! > this.#segment
  }

  async #enter(segment: Sequence): Promise<void> {
    await this.close()
    this.#file = await this.#disk.open(segmentPath(this.#directory, segment), 'read')
    this.#segment = segment
    this.#offset = 0
    this.#next = segment
    this.#filled = 0
  }

  // Brings at least the whole group at #offset into memory, entering the next segment at the end of this one.
  async #fill(): Promise<void> {
    for (;;) {
      const available = await this.#load(this.#ask)
      this.#ask = this.#chunkBytes
      const header = available < groupHeaderBytes ? null : this.#headerAt(0)
      if (header !== null && header.first !== this.#next && (await this.#isGone())) {
        await this.#find(this.#next)
        continue
      }
      if (header !== null) {
        const whole = groupHeaderBytes + header.bytes
        if (available < whole) {
          const size = await this.#file!.size()
          if (this.#offset + whole > size || (await this.#load(whole)) < whole)
            throw this.#corrupt('a group is longer than its file')
        }
        this.#loaded = { segment: this.#segment, offset: this.#offset, next: this.#next }
        return
      }
      await this.#enterNext()
    }
  }

  async #load(length: number): Promise<number> {
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(length)
    else if (this.#bytes.length > 4 * this.#chunkBytes && length <= this.#chunkBytes)
      this.#bytes = Buffer.allocUnsafeSlow(length)
    this.#start = this.#offset
    this.#filled = await this.#file!.read(this.#bytes, length, this.#offset)
    return this.#filled
  }

  // The end of a segment is the end of its file, its zero padding or what the file held before; the next must begin with
  // the next record.
  async #enterNext(): Promise<void> {
    if (!this.#segments.includes(this.#next)) this.#segments = await listSegments(this.#disk, this.#directory)
    if (this.#next === this.#segment || !this.#segments.includes(this.#next))
      throw this.#corrupt(`record ${this.#next} is missing`)
    await this.#enter(this.#next)
  }

  // The group at #offset when memory holds all of it.
  #groupInMemory(): GroupHeader | null {
    const at = this.#offset - this.#start
    if (at + groupHeaderBytes > this.#filled) return null
    const header = this.#headerAt(at)
    if (header === null || at + groupHeaderBytes + header.bytes > this.#filled) return null
    if (header.first !== this.#next)
      throw this.#corrupt(`record ${header.first} where ${this.#next} should be`)
    return header
  }

  #headerAt(at: number): GroupHeader | null {
    const header = readGroupHeader(this.#bytes, at)
    return header === null || isOfBefore(header, this.#segment) ? null : header
  }

  #take(header: GroupHeader, from: Sequence, upTo: Sequence, into: Chunk): void {
    const at = this.#offset - this.#start
    if (!groupIsWhole(this.#bytes, at, header))
      throw this.#corrupt(`the checksum of record ${header.first} is wrong`)
    into.add(at, header, from, upTo)
  }

  #corrupt(what: string): JournalCorrupt {
    return new JournalCorrupt(segmentPath(this.#directory, this.#segment), this.#offset, what)
  }
}

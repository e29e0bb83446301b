// A file of idempotency keys of past hours: immutable, exact, and found through filters that stay in memory.
//
//   records of segment 0, 1, … 4095   32 bytes each, by tag
//   filters of the segments           one after the other
//   index                             records, different keys and seed of each segment
//   header                            JSON
//   length of the header, SHA-256 of filters, index and header
//
// A file that is cut short or changed after its records is not opened; the keys of its hours are then read from ClickHouse.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildFilter, filterCells, mayHold, shapeOf } from '../../bytes/fuse-filter.js'

/** Tables of the window, and of each file: the first 12 bits of a key's hash. */
export const segmentCount = 4_096
/** Words of a record: tag, then as the window keeps it. */
export const recordWords = 8
const recordBytes = recordWords * 4
const indexWords = 3
const footerBytes = 36
// Words of a segment in memory: where its filter and its records begin, and the filter's sizes and seed.
const [filterAt, recordAt, lengthAt, firstsAt, seedAt, placeWords] = [0, 1, 2, 3, 4, 8]
/** Filters put into one array in a turn of the loop. */
const segmentsPerTurn = 128
/** Records read at once where one is looked for. */
const readRecords = 512

/** Keys of one class of one environment. */
interface FilePart {
  /** Four bytes that identify the environment (window-shares.ts). */
  readonly code: number
  readonly publishable: boolean
  count: number
}

export interface KeyFileHeader {
  /** How often files were merged into it. */
  readonly level: number
  /** All keys received from here on … */
  readonly fromMs: number
  /** … until before here are in this file, wall clock, epoch ms. */
  readonly untilMs: number
  /** The last receipt. */
  lastMs: number
  readonly parts: readonly FilePart[]
}

/** Writes a file, segment by segment in order. */
export class KeyFileWriter {
  private readonly fd: number
  private readonly index = new Uint32Array(segmentCount * indexWords)
  private readonly filters: Uint8Array[] = []
  private readonly sum = createHash('sha256')
  private lastMs = 0
  private ended = false
  private readonly counts: number[] = []

  constructor(private readonly path: string) {
    this.fd = openSync(`${path}.new`, 'w', 0o600)
  }

  /**
   * The records of the next segment.
   *
   * words  by tag, each `recordWords`; the third word's high half is the number of its part in the header.
   */
  add(words: Uint32Array): void {
    const count = words.length / recordWords
    const highs = new Uint32Array(count)
    const lows = new Uint32Array(count)
    let different = 0
    for (let i = 0; i < count; i++) {
      const at = i * recordWords
      const part = words[at + 2]! >>> 16
      this.counts[part] = (this.counts[part] ?? 0) + 1
      this.lastMs = Math.max(this.lastMs, receivedIn(words, at))
      // the same hash in two parts is one key of the filter
      let isThere = false
      for (let back = different - 1; back >= 0 && highs[back] === words[at]; back--)
        if (lows[back] === words[at + 1]) isThere = true
      if (isThere) continue
      highs[different] = words[at]!
      lows[different++] = words[at + 1]!
    }
    const filter = new Uint8Array(filterCells(different))
    const seed = buildFilter(highs, lows, different, filter)
    this.index.set([count, different, seed], this.filters.length * indexWords)
    this.filters.push(filter)
    this.sum.update(filter)
    write(this.fd, bytesOf(words))
  }

  /** Make it durable under its name. parts: in the order of their numbers. Resolves to the open file. */
  async end(
    header: Omit<KeyFileHeader, 'lastMs' | 'parts'> & { readonly parts: readonly Omit<FilePart, 'count'>[] },
  ): Promise<KeyFile> {
    const { path, filters, index, lastMs } = this
    this.ended = true
    closeSync(this.fd)
    const parts = header.parts.map((part, number) => ({ ...part, count: this.counts[number] ?? 0 }))
    const whole: KeyFileHeader = { ...header, lastMs, parts }
    const text = Buffer.from(JSON.stringify(whole))
    const footer = Buffer.alloc(footerBytes)
    footer.writeUInt32LE(text.length)
    this.sum.update(bytesOf(index)).update(text).digest().copy(footer, 4)
    await inFile(`${path}.new`, 'a', async file => {
      await file.writev([...filters, bytesOf(index), text, footer])
      await file.sync()
    })
    await rename(`${path}.new`, path)
    await inFile(dirname(path), 'r', folder => folder.sync())
    const all = new Uint8Array(filters.reduce((sum, filter) => sum + filter.length, 0))
    let into = 0
    for (const [segment, filter] of filters.entries()) {
      all.set(filter, into)
      into += filter.length
      // a file of hours has a hundred megabytes of them: not in one turn
      if (segment % segmentsPerTurn === 0) await new Promise(resolve => setImmediate(resolve))
    }
    return new KeyFile(path, openSync(path, 'r'), whole, all, index)
  }

  /** Leave nothing behind. */
  abandon(): void {
    if (!this.ended) closeSync(this.fd)
    rmSync(`${this.path}.new`, { force: true })
  }
}

async function inFile(path: string, flags: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

/** An open file. */
export class KeyFile {
  private readonly block = new Uint32Array(readRecords * recordWords)
  private readonly bytes = new Uint8Array(this.block.buffer)
  /** All that a look-up needs of a segment lies together: a file is asked of each new key. */
  private readonly places = new Uint32Array((segmentCount + 1) * placeWords)
  /** Bytes in memory. */
  readonly memory: number

  constructor(
    readonly path: string,
    private readonly fd: number,
    readonly header: KeyFileHeader,
    private readonly filters: Uint8Array,
    index: Uint32Array,
  ) {
    const { places } = this
    let filter = 0
    let record = 0
    for (let segment = 0; segment <= segmentCount; segment++) {
      const at = segment * placeWords
      places[at + filterAt] = filter
      places[at + recordAt] = record
      if (segment === segmentCount) break
      const keys = index[segment * indexWords + 1]!
      const shape = shapeOf(keys)
      places[at + lengthAt] = keys === 0 ? 0 : shape.segmentLength
      places[at + firstsAt] = shape.firsts
      places[at + seedAt] = index[segment * indexWords + 2]!
      filter += filterCells(keys)
      record += index[segment * indexWords]!
    }
    this.memory = filters.length + places.byteLength
  }

  /** Open a file; null when it is not whole. */
  static open(path: string): KeyFile | null {
    const fd = openSync(path, 'r')
    const file = KeyFile.read(path, fd)
    if (file === null) closeSync(fd)
    return file
  }

  private static read(path: string, fd: number): KeyFile | null {
    const { size } = fstatSync(fd)
    if (size < footerBytes) return null
    const footer = Buffer.alloc(footerBytes)
    read(fd, footer, size - footerBytes)
    const headerBytes = footer.readUInt32LE()
    const indexBytes = segmentCount * indexWords * 4
    const indexAt = size - footerBytes - headerBytes - indexBytes
    if (indexAt < 0) return null
    const rest = new Uint8Array(indexBytes + headerBytes)
    read(fd, rest, indexAt)
    const index = new Uint32Array(rest.buffer, 0, segmentCount * indexWords)
    let records = 0
    let filtersBytes = 0
    for (let at = 0; at < index.length; at += indexWords) {
      records += index[at]!
      filtersBytes += index[at + 1]! > index[at]! ? Number.NaN : filterCells(index[at + 1]!)
    }
    if (records * recordBytes + filtersBytes !== indexAt) return null
    const all = new Uint8Array(filtersBytes)
    read(fd, all, records * recordBytes)
    const sum = createHash('sha256').update(all).update(rest).digest()
    if (!sum.equals(footer.subarray(4))) return null
    const header = JSON.parse(Buffer.from(rest.buffer, indexBytes).toString()) as KeyFileHeader
    return new KeyFile(path, fd, header, all, index)
  }

  get count(): number {
    return this.firstOf(segmentCount)
  }

  /** Whether the file may hold a key; once in 256 times it does not. */
  mayHold(segment: number, tag: number, middle: number): boolean {
    const { places } = this
    const at = segment * placeWords
    const length = places[at + lengthAt]!
    if (length === 0) return false
    const filter = places[at + filterAt]!
    return mayHold(this.filters, filter, length, places[at + firstsAt]!, places[at + seedAt]!, tag, middle)
  }

  /**
   * Look on disk for a key that the file may hold.
   *
   * part     its part's number in the header.
   * returns  where its record begins in `record`, or -1.
   */
  find(segment: number, tag: number, middle: number, part: number): number {
    const first = this.firstOf(segment)
    const count = this.firstOf(segment + 1) - first
    // tags are spread evenly: the record is near its share of the segment
    let from = Math.max(0, Math.floor((tag / 0x1_0000_0000) * count) - readRecords / 2)
    for (;;) {
      const length = Math.min(readRecords, count - from)
      this.load(first + from, length)
      const { block } = this
      if (block[0]! > tag || (block[0] === tag && from > 0)) {
        // it begins before the records read so far
        if (from === 0) return -1
        from = Math.max(0, from - readRecords + 1)
        continue
      }
      let low = 0
      let high = length
      while (low < high) {
        const half = (low + high) >>> 1
        if (block[half * recordWords]! < tag) low = half + 1
        else high = half
      }
      for (; low < length && block[low * recordWords] === tag; low++) {
        const word = low * recordWords
        if (block[word + 1] === middle && block[word + 2]! >>> 16 === part) return word
      }
      if (low < length || from + length >= count) return -1
      from += length - 1
      if (length === 1) return -1
    }
  }

  /** The record read last. */
  get record(): Uint32Array {
    return this.block
  }

  /** All records of a segment, by tag. */
  recordsOf(segment: number): Uint32Array {
    const from = this.firstOf(segment)
    const words = new Uint32Array((this.firstOf(segment + 1) - from) * recordWords)
    read(this.fd, new Uint8Array(words.buffer), from * recordBytes)
    return words
  }

  close(): void {
    closeSync(this.fd)
  }

  remove(): void {
    this.close()
    unlinkSync(this.path)
  }

  /** The number of a segment's first record. */
  private firstOf(segment: number): number {
    return this.places[segment * placeWords + recordAt]!
  }

  private load(record: number, count: number): void {
    read(this.fd, this.bytes.subarray(0, count * recordBytes), record * recordBytes)
  }
}

/** When the key of a record was received, epoch ms. */
export function receivedIn(words: Uint32Array, at: number): number {
  return (words[at + 7]! & 0xffff) * 0x1_0000_0000 + words[at + 6]!
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

function write(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at)
}

function read(fd: number, into: Uint8Array, position: number): void {
  for (let at = 0; at < into.length; ) {
    const got = readSync(fd, into, at, into.length - at, position + at)
    if (got === 0) throw new Error('a file of idempotency keys is shorter than it says')
    at += got
  }
}

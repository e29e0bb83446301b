// Idempotency keys older than some minutes: in immutable files, found through filters in memory. A large window moves
// its old keys here every ten minutes; files of the same length are merged, so that a lookup reads few.
//
// A key is in the window, in a file, or in both: it leaves the window when its file is durable. At a start the window is
// read from ClickHouse from where the files end; a file that is missing or broken only makes that start longer.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  KeyFile,
  type KeyFileHeader,
  KeyFileWriter,
  receivedIn,
  recordWords,
  segmentCount,
} from './key-file.js'
import type { Part, WindowShares } from './window-shares.js'

/** A window, as the archive takes keys from it. */
export interface KeySource {
  /** Keys in memory. */
  readonly inMemory: number
  /**
   * Records of a segment that were received before an instant, by tag; null while one of them is under way.
   *
   * numberOf  the number of a part in the file.
   */
  recordsBefore(segment: number, untilMs: number, numberOf: (part: number) => number): Uint32Array | null
  /** Forget records of a segment that are in a file now. `partOf`: the part of a number. */
  forget(segment: number, records: Uint32Array, partOf: (number: number) => number): void
}

interface ArchiveOptions {
  readonly directory: string
  readonly shares: WindowShares
  readonly windowMs: number
  /** Keys received so lately stay in memory, ms. */
  readonly keptMs?: number
  /** No file is begun while fewer keys are in memory. */
  readonly keysMin?: number
  /** With so many in memory, keys leave it after a minute. */
  readonly keysMany?: number
}

/** A key that a file holds. */
export interface Archived {
  idHigh: number
  idLow: number
  capturedAtMs: number
  receivedAtMs: number
  print: number
}

/** Names by their hashes. */
export interface Names {
  readonly segments: Uint16Array
  readonly tags: Uint32Array
  readonly middles: Uint32Array
}

interface OpenFile {
  readonly file: KeyFile
  /** Numbers in the file of a part of the window. */
  readonly numbers: ReadonlyMap<number, readonly number[]>
}

/** Files of one level that become one of the next. */
const mergedAtOnce = [6, 4] as const
/** How long keys stay in memory when there are many, ms. */
const pressedMs = 60_000
const suffix = '.keys'
const behindName = 'behind.json'

export class KeyArchive {
  /** Newest first. */
  private files: OpenFile[] = []
  /** All keys received before are in files, but those of environments in `behind`; epoch ms. */
  private untilMs = 0
  /** Environments whose clock was behind `untilMs`, by code: the last time this was seen, wall clock. */
  private readonly behind = new Map<number, number>()
  private busy = false
  private isClosed = false
  private readonly hit: Archived = { idHigh: 0, idLow: 0, capturedAtMs: 0, receivedAtMs: 0, print: 0 }

  private constructor(private readonly options: Required<ArchiveOptions>) {}

  /**
   * Open the existing files.
   *
   * nowMs  the wall clock.
   */
  static open(options: ArchiveOptions, nowMs: number): KeyArchive {
    const archive = new KeyArchive({
      keptMs: 600_000,
      keysMin: 1_000_000,
      keysMany: Number.POSITIVE_INFINITY,
      ...options,
    })
    archive.read(nowMs)
    return archive
  }

  /** Keys in files. */
  get size(): number {
    return this.files.reduce((sum, { file }) => sum + file.count, 0)
  }

  /** Bytes of the filters. */
  get memory(): number {
    return this.files.reduce((sum, { file }) => sum + file.memory, 0)
  }

  /** From where on the keys of a window that opened at an instant must be read elsewhere, epoch ms. */
  missingSince(openedMs: number): number {
    return this.behind.size > 0 ? openedMs : Math.max(openedMs, this.untilMs)
  }

  /**
   * Which of the first `count` names a file may hold; the others are in none. One file is asked for all of them before the
   * next: so the processor waits for their places in memory together.
   *
   * found  becomes 1 for those, 0 for the others.
   */
  sift({ segments, tags, middles }: Names, count: number, found: Uint8Array): void {
    found.fill(0, 0, count)
    for (const { file } of this.files)
      for (let n = 0; n < count; n++) if (file.mayHold(segments[n]!, tags[n]!, middles[n]!)) found[n] = 1
  }

  /** The key as a file has it, until the next call; null for one that none has. */
  find(segment: number, tag: number, middle: number, part: number): Archived | null {
    for (const { file, numbers } of this.files) {
      if (!file.mayHold(segment, tag, middle)) continue
      for (const number of numbers.get(part) ?? none) {
        const at = file.find(segment, tag, middle, number)
        if (at < 0) continue
        const { record } = file
        const { hit } = this
        hit.print = record[at + 2]! & 0xffff
        hit.idHigh = record[at + 3]!
        hit.idLow = record[at + 4]!
        hit.capturedAtMs = (record[at + 7]! >>> 16) * 0x1_0000_0000 + record[at + 5]!
        hit.receivedAtMs = receivedIn(record, at)
        return hit
      }
    }
    return null
  }

  /**
   * A key is claimed at an instant of its environment. Where that is before the end of the files, it is noted on disk
   * first: the next start reads all keys of the environment.
   *
   * nowMs  present of the environment.
   */
  claimed(code: number, nowMs: number): void {
    if (nowMs >= this.untilMs) return
    const wallMs = Date.now()
    const noted = this.behind.get(code)
    if (noted !== undefined && wallMs - noted < this.options.keptMs) return
    this.behind.set(code, wallMs)
    this.writeBehind()
  }

  /**
   * Move old keys from the window into a file, merge files, and remove expired ones. Works a little in each turn of
   * the loop. A second call meanwhile does nothing.
   *
   * nowMs  the wall clock.
   */
  async rotate(source: KeySource, nowMs: number): Promise<void> {
    if (this.busy) return
    this.busy = true
    try {
      this.expire(nowMs)
      const { keysMin, keysMany } = this.options
      const keptMs =
        source.inMemory < keysMany ? this.options.keptMs : Math.min(pressedMs, this.options.keptMs)
      const untilMs = nowMs - keptMs
      if (source.inMemory >= keysMin && untilMs - this.untilMs >= keptMs) await this.take(source, untilMs)
      for (const [level, atOnce] of mergedAtOnce.entries()) await this.merge(level, atOnce, nowMs)
    } finally {
      this.busy = false
    }
  }

  /** Rotate no more. The next start repeats an unfinished rotation. */
  close(): void {
    this.isClosed = true
    for (const { file } of this.files) file.close()
    this.files = []
  }

  private async take(source: KeySource, untilMs: number): Promise<void> {
    const fromMs = this.untilMs
    const parts = new Numbers()
    const writer = new KeyFileWriter(this.path(fromMs, untilMs, 0))
    // from here on a claim before this end is noted, so that none falls between the scan and the file
    this.untilMs = untilMs
    let file: KeyFile
    try {
      for (let segment = 0; segment < segmentCount; segment++) {
        const records = source.recordsBefore(segment, untilMs, part => parts.numberOf(part))
        if (records === null) throw new Deferred()
        writer.add(records)
        await this.turn()
      }
      file = await writer.end({ level: 0, fromMs, untilMs, parts: parts.all.map(part => this.named(part)) })
    } catch (error) {
      this.untilMs = fromMs
      writer.abandon()
      if (error instanceof Deferred) return
      throw error
    }
    this.add(file)
    for (let segment = 0; segment < segmentCount && !this.isClosed; segment++) {
      source.forget(segment, file.recordsOf(segment), number => parts.all[number]!)
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  /** Merge the oldest files of a level into one, without expired keys. */
  private async merge(level: number, atOnce: number, nowMs: number): Promise<void> {
    const old = this.files.filter(({ file }) => file.header.level === level).slice(-atOnce)
    if (old.length < atOnce) return
    const fromMs = Math.min(...old.map(({ file }) => file.header.fromMs))
    const untilMs = Math.max(...old.map(({ file }) => file.header.untilMs))
    const parts = new Numbers()
    const writer = new KeyFileWriter(this.path(fromMs, untilMs, level + 1))
    let merged: KeyFile
    try {
      for (let segment = 0; segment < segmentCount; segment++) {
        const records = old.map(({ file }) => this.renumbered(file, segment, parts))
        writer.add(sortedRecords(records, nowMs - this.options.windowMs))
        await this.turn()
      }
      merged = await writer.end({
        level: level + 1,
        fromMs,
        untilMs,
        parts: parts.all.map(part => this.named(part)),
      })
    } catch (error) {
      writer.abandon()
      if (error instanceof Deferred) return
      throw error
    }
    this.add(merged)
    for (const one of old) this.drop(one)
  }

  /** The next turn of the loop. */
  private async turn(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    if (this.isClosed) throw new Deferred()
  }

  private renumbered(file: KeyFile, segment: number, parts: Numbers): Uint32Array {
    const records = file.recordsOf(segment)
    for (let at = 2; at < records.length; at += recordWords) {
      const { code, publishable } = file.header.parts[records[at]! >>> 16]!
      const number = parts.numberOf(this.options.shares.ofCode(code, publishable).index)
      records[at] = ((number << 16) | (records[at]! & 0xffff)) >>> 0
    }
    return records
  }

  private named(index: number): Pick<Part, 'code' | 'publishable'> {
    const { code, publishable } = this.options.shares.at(index)
    return { code, publishable }
  }

  private add(file: KeyFile): void {
    const numbers = new Map<number, number[]>()
    for (const [number, { code, publishable, count }] of file.header.parts.entries()) {
      const part = this.options.shares.ofCode(code, publishable)
      this.options.shares.archived(part, count)
      numbers.set(part.index, [...(numbers.get(part.index) ?? []), number])
    }
    this.files.push({ file, numbers })
    this.files.sort((a, b) => b.file.header.untilMs - a.file.header.untilMs)
  }

  private drop(one: OpenFile): void {
    this.files = this.files.filter(other => other !== one)
    for (const { code, publishable, count } of one.file.header.parts)
      this.options.shares.archived(this.options.shares.ofCode(code, publishable), -count)
    one.file.remove()
  }

  private expire(nowMs: number): void {
    const { windowMs } = this.options
    for (const one of this.files) if (one.file.header.lastMs + windowMs <= nowMs) this.drop(one)
    const before = this.behind.size
    for (const [code, atMs] of this.behind) if (nowMs - atMs > windowMs) this.behind.delete(code)
    if (this.behind.size < before) this.writeBehind()
  }

  private read(nowMs: number): void {
    const { directory, windowMs } = this.options
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // earlier versions made it as open as the umask allowed
    chmodSync(directory, 0o700)
    const opened: KeyFile[] = []
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      if (name.endsWith('.new')) unlinkSync(path)
      if (!name.endsWith(suffix)) continue
      const file = KeyFile.open(path)
      if (file !== null) opened.push(file)
      else unlinkSync(path)
    }
    // an interrupted merge left its inputs
    const isMerged = (file: KeyFile) => opened.some(other => contains(other.header, file.header))
    for (const file of opened) if (isMerged(file)) file.remove()
    for (const file of opened.filter(one => !isMerged(one))) this.add(file)
    this.expire(nowMs)
    this.untilMs = nowMs - windowMs
    for (const { file } of this.files.toReversed())
      if (file.header.fromMs <= this.untilMs) this.untilMs = Math.max(this.untilMs, file.header.untilMs)
    this.readBehind()
  }

  private path(fromMs: number, untilMs: number, level: number): string {
    return join(this.options.directory, `${fromMs}-${untilMs}-${level}${suffix}`)
  }

  private readBehind(): void {
    try {
      const text = readFileSync(join(this.options.directory, behindName), 'utf8')
      for (const [code, atMs] of JSON.parse(text) as [number, number][]) this.behind.set(code, atMs)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error
    }
  }

  /** Durable when this returns. Environments come here once in ten minutes, and only those with a clock of their own. */
  private writeBehind(): void {
    const path = join(this.options.directory, behindName)
    writeFileSync(`${path}.new`, JSON.stringify([...this.behind]), { mode: 0o600, flush: true })
    renameSync(`${path}.new`, path)
  }
}

const none: readonly number[] = []

/** Not now: an event is under way, or the service stops. */
class Deferred extends Error {}

/** Parts by the order in which a file meets them. */
class Numbers {
  readonly all: number[] = []
  private readonly numbers = new Map<number, number>()

  numberOf(part: number): number {
    let number = this.numbers.get(part)
    if (number === undefined) {
      number = this.all.length
      this.all.push(part)
      this.numbers.set(part, number)
    }
    return number
  }
}

const contains = (outer: KeyFileHeader, inner: KeyFileHeader): boolean =>
  outer.level > inner.level && outer.fromMs <= inner.fromMs && outer.untilMs >= inner.untilMs

/**
 * Records of several lists, by tag; among two with one key the later receipt; none received at or before an instant.
 */
export function sortedRecords(lists: readonly Uint32Array[], overMs = Number.NEGATIVE_INFINITY): Uint32Array {
  const count = lists.reduce((sum, list) => sum + list.length / recordWords, 0)
  const all = new Uint32Array(count * recordWords)
  let end = 0
  for (const list of lists) {
    all.set(list, end)
    end += list.length
  }
  // a tag and its place as one number: numbers are sorted without a call for each pair
  const order = new Float64Array(count)
  for (let i = 0; i < count; i++) order[i] = all[i * recordWords]! * placesMax + i
  order.sort()
  const sorted = new Uint32Array(all.length)
  let kept = 0
  for (const place of order) {
    const from = (place % placesMax) * recordWords
    if (receivedIn(all, from) <= overMs) continue
    let into = kept * recordWords
    for (let back = into - recordWords; back >= 0 && sorted[back] === all[from]; back -= recordWords)
      if (sorted[back + 1] === all[from + 1] && sorted[back + 2]! >>> 16 === all[from + 2]! >>> 16)
        into = back
    if (into < kept * recordWords && receivedIn(sorted, into) >= receivedIn(all, from)) continue
    if (into === kept * recordWords) kept++
    for (let word = 0; word < recordWords; word++) sorted[into + word] = all[from + word]!
  }
  return sorted.slice(0, kept * recordWords)
}

/** Records of one segment, at most: a tag and a place fit into 53 bits. */
const placesMax = 2 ** 21

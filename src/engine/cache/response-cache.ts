// Response cache for checks of one flag: identical requests get identical bytes while the entry is valid, without a
// message to the company's actor. Checks of all flags are not cached: storing and counting such an answer costs more
// than it saves (bench/core/response-cache.bench.ts). An answer is valid while the company's version number in shared
// memory (`Changes`) and the directory's key epoch are unchanged, and until the instant at which time would change it.
// Entries lie in one block of memory: storing one costs a copy, and the garbage collector sees none of them.
import { randomUUID } from 'node:crypto'
import type { CheckFlag, CheckFlagRequestBody } from '../../../schemas/checks.js'
import type { CheckCounts } from '../../core/company/message.js'
import { derivedId, shardOf } from '../../core/id.js'
import { minuteMs } from '../../core/usage/period.js'
import { type Checked, type CheckQuestion, checkCountRow, checkRecordRow } from '../../protocol/check-rows.js'
import type { Changes } from '../../protocol/version-counters.js'
import { givenKeys } from '../directory/entities.js'

/** Version numbers that an answer depends on, taken before its request left. */
export interface VersionStamp {
  readonly environmentId: string
  /** The environment's present, epoch ms. */
  readonly sinceMs: number
  readonly shard: number
  readonly epoch: number
  /** Index of the company's version number, and its value; -1 without company. */
  readonly place: number
  readonly change: number
  /** The number of the company's use. */
  readonly uses: number
  readonly keyEpoch: number
}

/** A cacheable answer's meta data, from its handler. */
export interface CacheMeta {
  readonly stamp: VersionStamp
  /** When time alone may change it, epoch ms. */
  readonly untilMs: number
  /** It may show figures of the company's use: it rests on the number of that, too. */
  readonly figures: boolean
}

/** The question that an answer is kept for. */
export interface CacheKey {
  /** Hash of name and body, by `hashOfRequest`. */
  readonly hash: number
  /** The flag's key. */
  readonly name: string
  /** As it was received; UTF-8. */
  readonly body: string
}

/** Places of entries by their hashes. A later entry takes the place of an earlier one. */
const places = 1 << 17
/** Bytes of all entries. They lie one behind the other in one ring: the oldest make room for the newest. */
const ringBytes = 32 << 20
/** Longest cached answer. */
const answerBytesMax = 65_536
/** Longest body whose answer is kept. */
export const bodyBytesMax = 2_048
/** Longest life of an entry: an active company's actor must see a check now and then (FE-103). */
const keptMs = 5_000
/** Counts of hits are reported so often, and when an entry ends for good. */
const reportSeconds = 10
/** Bytes of answers whose hits are reported at once: each is parsed again for the report. */
const reportedBytes = 128 << 10

/** Source of the number that changes when keys may resolve to another entity. */
export interface KeyEpochSource {
  readonly keyEpoch: number
}

// Layout of an entry. It begins at a multiple of eight, with four numbers of 64 bits …
const untilMsAt = 0
const sinceMsAt = 1
const lastAtMsAt = 2
const keyEpochAt = 3
// … then fifteen of 32 bits; body, name and answer follow as bytes.
const sizeAt = 8
const placeAt = 9
const hashAt = 10
const hitsAt = 11
const nameLengthAt = 12
const bodyLengthAt = 13
const answerLengthAt = 14
const shardAt = 15
const epochAt = 16
const changePlaceAt = 17
const changeAt = 18
const usesAt = 19
const environmentAt = 20
const figuresAt = 21
const secondAt = 22
const headBytes = 96
const nothing = -1

export class ResponseCache {
  /** Where the entry of a place begins; `nothing` when it has none. */
  private readonly entries = new Int32Array(places).fill(nothing)
  private readonly bytes = Buffer.from(new ArrayBuffer(ringBytes))
  private readonly view = new DataView(this.bytes.buffer)
  private readonly ints = new Int32Array(this.bytes.buffer)
  private readonly doubles = new Float64Array(this.bytes.buffer)
  /** Where the next entry begins, and where the oldest does. */
  private head = 0
  private tail = 0
  /** Entries in the ring, those that lost their place among them. */
  private count = 0
  /** The end of the oldest entries when the newest begin at 0 again; `nothing`: they do not. */
  private wrapAt = nothing
  /** Environments by the number that entries name. */
  private readonly environments: string[] = []
  private readonly environmentNumbers = new Map<string, number>()
  /** Places whose entries were hit since the last report. */
  private unreported: number[] = []
  /** Places whose hits are to be reported now. */
  private due: number[] = []
  /** Hits of entries that are over. */
  private told = new Report()
  /** When flags were hit since the last report (FE-102), epoch ms, by the number of the environment. */
  private readonly flags: Map<string, number>[] = []
  /** When hits were recorded (FE-100), epoch ms, by place. */
  private readonly recorded = new Map<number, number[]>()
  /** Records that may still be made in this second. */
  private recordsLeft: number
  private recordsMade = 0
  private second = 0
  /** Names this run: record ids are derived from it. */
  private readonly run = `answers ${randomUUID()}`

  constructor(
    private readonly changes: Changes,
    private readonly directory: KeyEpochSource,
    /** Checks answered from here that are recorded one by one, beside their counts. */
    private readonly recordsPerSecond: number,
  ) {
    this.recordsLeft = recordsPerSecond
  }

  /**
   * A copy of the valid answer to a question, or null.
   *
   * hash  hash of the name and the body, by `hashOfRequest`.
   */
  find(hash: number, environmentId: string, name: string, body: DataView, nowMs: number): Buffer | null {
    const place = hash & (places - 1)
    const at = this.entries[place]!
    if (at === nothing) return null
    const { ints, doubles } = this
    const int = at >> 2
    const double = at >> 3
    if (ints[int + hashAt] !== hash || this.environments[ints[int + environmentAt]!] !== environmentId)
      return null
    if (nowMs >= doubles[double + untilMsAt]! || nowMs < doubles[double + sinceMsAt]!) return null
    // this clock runs even when the environment's test clock is stopped
    if ((this.second - ints[int + secondAt]!) * 1_000 > keptMs) return null
    if (!this.isFresh(at) || !this.isAsked(at, name, body)) return null
    if (ints[int + hitsAt]!++ === 0) this.unreported.push(place)
    if (this.recordsLeft > 0) this.recordHit(place, nowMs)
    if (nowMs > doubles[double + lastAtMsAt]!) doubles[double + lastAtMsAt] = nowMs
    this.flags[ints[int + environmentAt]!]!.set(name, nowMs)
    return this.answerAt(at)
  }

  /**
   * The version numbers for a request that leaves now; null when its answer may not be cached.
   *
   * companyId  null: the request goes to the environment's own actor.
   */
  stamp(environmentId: string, companyId: string | null, sinceMs: number): VersionStamp | null {
    const { changes } = this
    const shard = shardOf(companyId ?? environmentId, changes.shards)
    const epoch = changes.epoch(shard)
    if (epoch % 2 === 0) return null
    const place = companyId === null ? -1 : changes.placeOf(companyId)
    const change = place < 0 ? 0 : changes.at(place)
    const uses = place < 0 ? 0 : changes.usageVersion(place)
    const { keyEpoch } = this.directory
    return { environmentId, sinceMs, shard, epoch, place, change, uses, keyEpoch }
  }

  /** Store an answer while it is valid. */
  keep({ hash, name, body }: CacheKey, { stamp, untilMs, figures }: CacheMeta, text: string): void {
    if (text.length > answerBytesMax || !this.isValid(stamp, figures)) return
    const bodyLength = Buffer.byteLength(body)
    const answerLength = Buffer.byteLength(text)
    if (bodyLength > bodyBytesMax || answerLength > answerBytesMax) return
    const place = hash & (places - 1)
    const size = (headBytes + bodyLength + name.length + answerLength + 7) & ~7
    const at = this.take(size)
    const { bytes, ints, doubles } = this
    const int = at >> 2
    const double = at >> 3
    doubles[double + untilMsAt] = Math.min(untilMs, stamp.sinceMs + keptMs)
    doubles[double + sinceMsAt] = stamp.sinceMs
    doubles[double + lastAtMsAt] = stamp.sinceMs
    doubles[double + keyEpochAt] = stamp.keyEpoch
    ints[int + sizeAt] = size
    ints[int + placeAt] = place
    ints[int + hashAt] = hash
    ints[int + hitsAt] = 0
    ints[int + nameLengthAt] = name.length
    ints[int + bodyLengthAt] = bodyLength
    ints[int + answerLengthAt] = answerLength
    ints[int + shardAt] = stamp.shard
    ints[int + epochAt] = stamp.epoch
    ints[int + changePlaceAt] = stamp.place
    ints[int + changeAt] = stamp.change
    ints[int + usesAt] = stamp.uses
    ints[int + environmentAt] = this.numberOf(stamp.environmentId)
    ints[int + figuresAt] = figures ? 1 : 0
    ints[int + secondAt] = this.second
    const from = at + headBytes
    bytes.write(body, from)
    bytes.write(name, from + bodyLength, 'latin1')
    bytes.write(text, from + bodyLength + name.length)
    this.replace(place, at)
  }

  /** Give a place to a new entry. One that says the same as its predecessor goes on with the hits of that one. */
  private replace(place: number, at: number): void {
    const { bytes, ints, doubles } = this
    const old = this.entries[place]!
    if (old !== nothing && ints[(old >> 2) + hitsAt] !== 0) {
      // counts are by minute
      const minute = (entry: number) => Math.floor(doubles[(entry >> 3) + sinceMsAt]! / minuteMs)
      const same = (member: number) => ints[(old >> 2) + member] === ints[(at >> 2) + member]
      const isSame =
        [environmentAt, bodyLengthAt, nameLengthAt, answerLengthAt].every(same) &&
        minute(old) === minute(at) &&
        bytes.compare(bytes, at + headBytes, this.endOf(at), old + headBytes, this.endOf(old)) === 0
      if (isSame) ints[(at >> 2) + hitsAt] = ints[(old >> 2) + hitsAt]!
      else this.tell(place)
    }
    this.entries[place] = at
  }

  /** A second is over. */
  tick(): void {
    this.second++
    this.recordsLeft = this.recordsPerSecond
    if (this.second % reportSeconds === 0) this.makeDue()
  }

  /**
   * Some of the hits that are due for a report, and when flags were last hit; null: none.
   *
   * all  also those that are not due: the process may end.
   */
  takeCounts(all = false): CheckCounts | null {
    if (all) this.makeDue()
    for (const { told } = this; told.bytes < reportedBytes; ) {
      const place = this.due.pop()
      if (place === undefined) break
      this.tell(place)
    }
    const flags = this.takeFlags()
    if (this.told.bytes === 0 && flags.length === 0) return null
    const { told } = this
    this.told = new Report()
    return { ...told.counts(), flags }
  }

  private takeFlags(): CheckCounts['flags'] {
    const found: (readonly [string, string, number])[] = []
    for (const [number, flags] of this.flags.entries()) {
      for (const [flag, atMs] of flags) found.push([this.environments[number]!, flag, atMs])
      flags.clear()
    }
    return found
  }

  private makeDue(): void {
    for (const place of this.unreported) this.due.push(place)
    this.unreported = []
  }

  /** Whether nothing has changed that an answer rests on, time apart. */
  private isValid({ shard, epoch, place, change, uses, keyEpoch }: VersionStamp, figures: boolean): boolean {
    const { changes } = this
    if (changes.epoch(shard) !== epoch || this.directory.keyEpoch !== keyEpoch) return false
    return place < 0 || (changes.at(place) === change && (!figures || changes.usageVersion(place) === uses))
  }

  /** The same of an entry. */
  private isFresh(at: number): boolean {
    const { changes, ints } = this
    const int = at >> 2
    if (changes.epoch(ints[int + shardAt]!) !== ints[int + epochAt]) return false
    if (this.directory.keyEpoch !== this.doubles[(at >> 3) + keyEpochAt]) return false
    const place = ints[int + changePlaceAt]!
    if (place < 0) return true
    if (changes.at(place) !== ints[int + changeAt]) return false
    return ints[int + figuresAt] === 0 || changes.usageVersion(place) === ints[int + usesAt]
  }

  /** Whether an entry is of this question. */
  private isAsked(at: number, name: string, body: DataView): boolean {
    const { ints, view, bytes } = this
    const int = at >> 2
    const length = body.byteLength
    if (ints[int + bodyLengthAt] !== length || ints[int + nameLengthAt] !== name.length) return false
    const from = at + headBytes
    let i = 0
    for (; i < length - 3; i += 4) if (body.getInt32(i) !== view.getInt32(from + i)) return false
    for (; i < length; i++) if (body.getUint8(i) !== bytes[from + i]) return false
    for (let j = 0; j < name.length; j++) if (name.charCodeAt(j) !== bytes[from + length + j]) return false
    return true
  }

  private answerAt(at: number): Buffer {
    const end = this.endOf(at)
    return Buffer.from(this.bytes.subarray(end - this.ints[(at >> 2) + answerLengthAt]!, end))
  }

  /** Where the last bytes of an entry end. */
  private endOf(at: number): number {
    const { ints } = this
    const int = at >> 2
    return (
      at + headBytes + ints[int + bodyLengthAt]! + ints[int + nameLengthAt]! + ints[int + answerLengthAt]!
    )
  }

  private recordHit(place: number, nowMs: number): void {
    this.recordsLeft--
    const times = this.recorded.get(place)
    if (times === undefined) this.recorded.set(place, [nowMs])
    else times.push(nowMs)
  }

  private numberOf(environmentId: string): number {
    let number = this.environmentNumbers.get(environmentId)
    if (number === undefined) {
      number = this.environments.push(environmentId) - 1
      this.flags.push(new Map())
      this.environmentNumbers.set(environmentId, number)
    }
    return number
  }

  /** Room for an entry in the ring; the oldest entries make it where they must. */
  private take(size: number): number {
    for (;;) {
      if (this.count === 0) {
        this.head = this.tail = 0
        this.wrapAt = nothing
      }
      const end = this.wrapAt === nothing ? ringBytes : this.tail
      if (this.head + size <= end) {
        const at = this.head
        this.head += size
        this.count++
        return at
      }
      if (this.wrapAt === nothing) {
        this.wrapAt = this.head
        this.head = 0
      } else this.endOldest()
    }
  }

  private endOldest(): void {
    const at = this.tail
    const place = this.ints[(at >> 2) + placeAt]!
    if (this.entries[place] === at) {
      this.tell(place)
      this.entries[place] = nothing
    }
    this.tail += this.ints[(at >> 2) + sizeAt]!
    this.count--
    if (this.tail !== this.wrapAt) return
    this.tail = 0
    this.wrapAt = nothing
  }

  /** Report the hits of an entry. */
  private tell(place: number): void {
    const at = this.entries[place]!
    if (at === nothing) return
    const { ints, doubles } = this
    const int = at >> 2
    const hits = ints[int + hitsAt]!
    if (hits === 0) return
    ints[int + hitsAt] = 0
    const environmentId = this.environments[ints[int + environmentAt]!]!
    const answer = this.answerAt(at)
    const checked = checkIn(answer)
    const { told } = this
    const recorded = this.recorded.get(place)
    if (recorded !== undefined) {
      this.recorded.delete(place)
      const from = at + headBytes
      const question = questionIn(this.bytes.toString('utf8', from, from + ints[int + bodyLengthAt]!))
      for (const atMs of recorded) {
        const id = derivedId('evt_', this.run, ++this.recordsMade)
        told.rows.push(checkRecordRow({ environmentId, id, atMs, ...question, ...checked }))
      }
    }
    const sinceMs = doubles[(at >> 3) + sinceMsAt]!
    const row = checkCountRow({ environmentId, minuteMs: sinceMs, checks: hits, ...checked })
    told.add(row, answer.length)
    if (checked.userId !== null) told.see(environmentId, checked.userId, doubles[(at >> 3) + lastAtMsAt]!)
  }
}

/** Hits, as they are reported. */
class Report {
  /** Bytes of the answers that were parsed for it. */
  bytes = 0
  readonly rows: string[] = []
  private readonly lines: string[] = []
  private readonly users = new Map<string, readonly [string, string, number]>()

  add(line: string, bytes: number): void {
    this.bytes += bytes
    this.lines.push(line)
  }

  /** Note when a user was last seen (FE-103). */
  see(environmentId: string, userId: string, atMs: number): void {
    const known = this.users.get(userId)
    if (known === undefined || known[2] < atMs) this.users.set(userId, [environmentId, userId, atMs])
  }

  counts(): Omit<CheckCounts, 'flags'> {
    return { counts: this.lines, rows: this.rows, users: [...this.users.values()] }
  }
}

function checkIn(answer: Buffer): Checked {
  const { data } = JSON.parse(answer.toString()) as { readonly data: CheckFlag }
  return {
    flag: data.flag,
    flagId: data.flag_id,
    value: data.value,
    reason: data.reason,
    ruleId: data.rule_id ?? null,
    companyId: data.company_id ?? null,
    userId: data.user_id ?? null,
    error: data.error ?? null,
  }
}

/** The question in a body, as records have it. */
function questionIn(text: string): CheckQuestion {
  const asked = (text === '' ? {} : JSON.parse(text)) as CheckFlagRequestBody
  return {
    company: givenKeys(asked.company),
    user: givenKeys(asked.user),
    preflight: asked.preflight != null,
  }
}

/** Hash of a flag's key and a body, never 0. */
export function hashOfRequest(name: string, body: DataView): number {
  let hash = 0x811c9dc5 ^ body.byteLength
  let at = 0
  for (const end = body.byteLength - 3; at < end; at += 4) {
    hash = Math.imul(hash ^ body.getInt32(at), 0x01000193)
    hash ^= hash >>> 15
  }
  for (; at < body.byteLength; at++) hash = Math.imul(hash ^ body.getUint8(at), 0x01000193)
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 15
  return hash === 0 ? 1 : hash
}

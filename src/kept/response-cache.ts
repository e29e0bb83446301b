// Response cache for checks of one flag: identical requests get identical bytes while the entry is valid, without a
// message to the company's actor. Checks of all flags are not cached: storing and counting such an answer costs more
// than it saves (bench/core/response-cache.bench.ts). An answer is stored from its second request on. It is valid
// while the version numbers of the company and the flag in shared memory (`Changes`) and the directory's key epoch are unchanged, and
// until the instant at which time would change it.
import { randomUUID } from 'node:crypto'
import type { CheckFlag, CheckFlagRequestBody } from '../../schemas/checks.js'
import type { CheckResult } from '../core/flags/flag.js'
import type { CheckCounts, SeenUsers } from '../core/model/message.js'
import { derivedId } from '../core/values/id.js'
import { givenKeys } from '../entities/directory/entities.js'
import { type Checked, type CheckQuestion, checkRecordRow, shownKeys } from '../wire/check-rows.js'
import { ReportedCounts } from '../wire/check-tally.js'
import { noRecords, RecordBudget, type RecordRates } from '../wire/record-budget.js'
import type { Changes } from '../wire/version-counters.js'
import type { Kept } from './contract.js'
import { isFresh, stampOf, type VersionStamp } from './version-stamp.js'

/** Version numbers that an answer depends on, taken before its request left. */
export interface KeyedStamp extends VersionStamp {
  readonly environmentId: string
  readonly keyEpoch: number
}

/** Everything that an answer depends on. */
interface CheckStamp extends KeyedStamp {
  /** When time alone may change it, epoch ms. */
  readonly untilMs: number
  /** It may show figures of the company's use: it rests on the number of that, too. */
  readonly figures: boolean
}

/** One check. */
export interface CheckRequest {
  /** By `hashOfRequest`. */
  readonly hash: number
  readonly environmentId: string
  /** The flag's key, as it came in the path. */
  readonly name: string
  readonly body: DataView
  /** The environment's present, epoch ms. */
  readonly nowMs: number
}

/** The check that is looked at: one object for all. `repeated` copies those that are kept. */
export class AskedCheck implements CheckRequest {
  hash = 0
  environmentId = ''
  name = ''
  body = new DataView<ArrayBufferLike>(new ArrayBuffer(0))
  nowMs = 0

  become(environmentId: string, name: string, body: DataView, nowMs: number): void {
    this.hash = hashOfRequest(name, body)
    this.environmentId = environmentId
    this.name = name
    this.body = body
    this.nowMs = nowMs
  }
}

/** An answer kept, whole. */
interface CacheEntry {
  readonly hash: number
  readonly name: string
  readonly body: DataView
  readonly stamp: CheckStamp
  readonly untilMs: number
  readonly answer: Buffer
  /** Hits since the last report. */
  hits: number
  lastAtMs: number
  /** When it was given, where that is recorded (FE-100), epoch ms. */
  recorded: number[]
  /** In which second of this process it came. */
  readonly second: number
  /** Its content, read at its first report, or when it is kept where it denies. */
  told: Told | null
  /** It denies: the company's id, or the environment's without company. null: it allows. */
  readonly denied: string | null
}

/** The content of an answer, as counts and records have it. */
type Told = Checked & Pick<CheckResult, 'json'>

/** Answers, and bodies seen once, at most. A later one takes the place of an earlier one. */
const places = 1 << 14
/** Bytes of answers kept, at most. */
const bytesMax = 32 << 20
/** Longest cached answer. */
const answerBytesMax = 65_536
/** Longest body whose answer is kept. */
export const bodyBytesMax = 2_048
/** Longest life of an entry: an active company's actor must see a check now and then (FE-103). */
const keptMs = 5_000
/** Places that are swept at once: a part costs some tenths of a millisecond. */
const sweptAtOnce = 1 << 10
/** Bytes of answers whose hits are reported at once: each is read at its first report. */
const reportedBytes = 32 << 10
/** One that was read before costs as much as so many bytes. */
const againBytes = 100

/** Source of the number that changes when keys may resolve to another entity. */
interface KeyEpochSource {
  readonly keyEpoch: number
}

export class ResponseCache implements Kept<CheckRequest, string, CheckStamp> {
  /** Hashes of requested bodies, by their last bits: only a repeated body is cached. */
  private readonly seen = new Int32Array(places)
  private readonly kept: (CacheEntry | null)[] = new Array(places).fill(null)
  private bytes = 0
  /** Entries with hits since the last report. */
  private unreported: CacheEntry[] = []
  private readonly budget: RecordBudget
  private recordsMade = 0
  private second = 0
  /** Places that were not swept in this second: those before this one. */
  private unswept = 0
  private readonly counts = new ReportedCounts()
  /** Names this run: record ids are derived from it. */
  private readonly run = `answers ${randomUUID()}`

  constructor(
    private readonly changes: Changes,
    private readonly directory: KeyEpochSource,
    /** Checks answered from here that are recorded one by one, beside their counts. */
    records: RecordRates = noRecords,
    /** Threads that keep answers: each has a part of the memory. */
    private readonly threads = 1,
  ) {
    this.budget = new RecordBudget(records)
  }

  /** The bytes of a valid answer, or null. */
  find({ hash, environmentId, name, body, nowMs }: CheckRequest): Uint8Array | null {
    const kept = this.kept[hash & (places - 1)]!
    if (kept === null || kept.hash !== hash || kept.name !== name) return null
    if (kept.stamp.environmentId !== environmentId || !isSame(kept.body, body)) return null
    if (nowMs >= kept.untilMs || nowMs < kept.stamp.sinceMs || !this.isFresh(kept.stamp)) return null
    if (kept.hits++ === 0) this.unreported.push(kept)
    if (this.budget.take(kept.denied, nowMs)) kept.recorded.push(nowMs)
    if (nowMs > kept.lastAtMs) kept.lastAtMs = nowMs
    return kept.answer
  }

  /** Note a request. Returns a copy if it came before: its answer is worth keeping. */
  repeated({ hash, environmentId, name, body, nowMs }: CheckRequest): CheckRequest | null {
    const place = hash & (places - 1)
    if (this.seen[place] === hash) return { hash, environmentId, name, body: copyOf(body), nowMs }
    this.seen[place] = hash
    return null
  }

  /**
   * The version numbers for a request that leaves now; null when its answer may not be cached.
   *
   * companyId  null: the request goes to the environment's own actor.
   */
  stamp(
    environmentId: string,
    companyId: string | null,
    flagKey: string,
    sinceMs: number,
  ): KeyedStamp | null {
    const stamp = stampOf(this.changes, environmentId, companyId, sinceMs, flagKey)
    return stamp && { ...stamp, environmentId, keyEpoch: this.directory.keyEpoch }
  }

  /** Store an answer, whole, while it is valid. */
  keep({ hash, name, body }: CheckRequest, text: string, stamp: CheckStamp): void {
    if (text.length > answerBytesMax || this.bytes > bytesMax / this.threads || !this.isFresh(stamp)) return
    const untilMs = Math.min(stamp.untilMs, stamp.sinceMs + keptMs)
    const answer = Buffer.from(text)
    const place = hash & (places - 1)
    const told = text.includes('"value":false') ? toldIn(text) : null
    this.drop(place)
    this.kept[place] = {
      hash,
      name,
      body,
      answer,
      stamp,
      untilMs,
      hits: 0,
      lastAtMs: stamp.sinceMs,
      recorded: [],
      second: this.second,
      told,
      denied: told === null || told.value ? null : (told.companyId ?? stamp.environmentId),
    }
    this.bytes += answer.length
  }

  /** Whether nothing has changed that an answer rests on, time apart. */
  private isFresh(stamp: CheckStamp): boolean {
    return this.directory.keyEpoch === stamp.keyEpoch && isFresh(this.changes, stamp, stamp.figures)
  }

  /**
   * Remove invalid entries of some places: only now and then, as later answers overwrite them anyway.
   *
   * returns  whether places are left in this second.
   */
  sweepSome(): boolean {
    if (this.bytes === 0) this.unswept = 0
    const end = Math.max(0, this.unswept - sweptAtOnce)
    for (let place = this.unswept - 1; place >= end; place--) {
      const kept = this.kept[place]!
      if (kept !== null && (this.isOld(kept) || !this.isFresh(kept.stamp))) this.drop(place)
    }
    this.unswept = end
    return end > 0
  }

  /** This clock runs even when the environment's test clock is stopped. */
  private isOld({ second }: CacheEntry): boolean {
    return (this.second - second) * 1_000 > keptMs
  }

  /** A second is over: all places are swept again, by `sweepSome`. */
  tick(): void {
    this.second++
    this.budget.tick()
    this.unswept = places
  }

  private drop(place: number): void {
    const kept = this.kept[place]!
    if (kept === null) return
    this.bytes -= kept.answer.length
    this.kept[place] = null
  }

  /**
   * Some of the hits since the last report, and of their counts what is due; null: none.
   *
   * nowMs  of any clock that never goes back.
   * all    counts that are not due, too: the process ends.
   */
  takeCounts(nowMs: number, all = false): CheckCounts | null {
    const rows: string[] = []
    const flags = new Map<string, readonly [string, string, number]>()
    const users = new Map<string, SeenUsers>()
    for (let read = 0; read < reportedBytes; ) {
      const kept = this.unreported.pop()
      if (kept === undefined) break
      read += kept.told === null ? kept.answer.length : againBytes
      kept.told ??= toldIn(kept.answer.toString())
      const { stamp, hits, lastAtMs, recorded, told } = kept
      kept.hits = 0
      kept.recorded = []
      const { environmentId } = stamp
      const question = recorded.length === 0 ? null : questionIn(kept.body)
      for (const atMs of recorded) {
        const id = derivedId('evt_', this.run, ++this.recordsMade)
        rows.push(checkRecordRow({ environmentId, id, atMs, ...question!, ...told }))
      }
      this.counts.tally.add(environmentId, told.companyId ?? '', told, stamp.sinceMs, hits)
      const { flag, userId } = told
      const known = flags.get(`${environmentId} ${flag}`)
      if (known === undefined || known[2] < lastAtMs)
        flags.set(`${environmentId} ${flag}`, [environmentId, flag, lastAtMs])
      if (userId !== null) users.set(userId, { environmentId, ids: [userId], atMs: [lastAtMs] })
    }
    const counts = this.unreported.length > 0 ? [] : this.counts.take(nowMs, all)
    if (counts.length === 0 && flags.size === 0) return null
    return { counts, rows, flags: [...flags.values()], users: [...users.values()] }
  }
}

/** The content of an answer but its figures: nothing before them has their name, as quotes in texts are escaped. */
function toldIn(text: string): Told {
  const [from, to] = [text.indexOf('{', 1), text.indexOf(',"feature_allocation":')]
  const data = JSON.parse(`${text.slice(from, to)}}`) as CheckFlag
  return {
    flag: data.flag,
    flagId: data.flag_id,
    value: data.value,
    reason: data.reason,
    ruleId: data.rule_id ?? null,
    companyId: data.company_id ?? null,
    userId: data.user_id ?? null,
    error: data.error ?? null,
    json: text.slice(from + 1, text.indexOf(',"company_id":')),
  }
}

/** The question in a body, as records have it. */
function questionIn({ buffer, byteOffset, byteLength }: DataView): CheckQuestion {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString()
  const asked = (text === '' ? {} : JSON.parse(text)) as CheckFlagRequestBody
  return {
    company: shownKeys(givenKeys(asked.company)),
    user: shownKeys(givenKeys(asked.user)),
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

function isSame(one: DataView, other: DataView): boolean {
  const length = one.byteLength
  if (length !== other.byteLength) return false
  let at = 0
  for (; at < length - 3; at += 4) if (one.getInt32(at) !== other.getInt32(at)) return false
  for (; at < length; at++) if (one.getUint8(at) !== other.getUint8(at)) return false
  return true
}

function copyOf({ buffer, byteOffset, byteLength }: DataView): DataView {
  return new DataView(buffer.slice(byteOffset, byteOffset + byteLength))
}

// Answers to checks of one flag that stand for a moment: who asks the same again hears the same bytes, without a question
// to the company's actor. Checks of all flags are not kept: an answer costs more to keep and to count than it saves
// (bench/core/response-cache.bench.ts). Kept for what is asked more than once, and only as long as nothing has changed: a place in shared
// memory says whether the company did (`Changes`), the directory whether keys found somebody else, the answer itself when
// time would change it.
import { randomUUID } from 'node:crypto'
import type { CheckFlag, CheckFlagRequestBody } from '../../../schemas/checks.js'
import type { CheckCounts } from '../../core/company/message.js'
import { derivedId, shardOf } from '../../core/id.js'
import { type Checked, type CheckQuestion, checkCountRow, checkRecordRow } from '../../protocol/check-rows.js'
import type { Changes } from '../../protocol/version-counters.js'
import { givenKeys } from '../directory/entities.js'

/** What an answer rests on, as it was before its question left. */
export interface VersionStamp {
  readonly environmentId: string
  /** The environment's present, epoch ms. */
  readonly sinceMs: number
  readonly shard: number
  readonly epoch: number
  /** Where the company's number is, and what it was; -1 without company. */
  readonly place: number
  readonly change: number
  /** The number of the company's use. */
  readonly uses: number
  readonly keyEpoch: number
}

/** An answer that stands, as its handler tells of it. */
export interface CacheMeta {
  readonly stamp: VersionStamp
  /** When time alone may change it, epoch ms. */
  readonly untilMs: number
  /** It may show figures of the company's use: it rests on the number of that, too. */
  readonly figures: boolean
}

/** A body that was asked before, and may be asked again. */
export interface CacheKey {
  readonly hash: number
  /** What was asked for beside the body: the flag's key as it came. */
  readonly name: string
  readonly body: DataView
}

/** An answer kept, whole. */
export interface CacheEntry extends CacheKey, CacheMeta {
  readonly answer: Buffer
  /** How often it was given since that was last told. */
  given: number
  lastAtMs: number
  /** When it was given, where that is recorded (FE-100), epoch ms. */
  recorded: number[]
  /** In which second of this process it came. */
  readonly second: number
}

/** Answers, and bodies seen once, at most. A later one takes the place of an earlier one. */
const places = 1 << 14
/** Bytes of answers kept, at most. */
const bytesMax = 32 << 20
/** Of one answer. */
const answerBytesMax = 65_536
/** Longest body whose answer is kept. */
export const askedBytesMax = 2_048
/** An answer is asked for anew after so long at the latest: a company that is checked is seen by its actor (FE-103). */
const keptMs = 5_000
/** Bytes of answers whose counts are told at once: each is read again for it. */
const toldBytes = 128 << 10

/** Who knows whether keys may find somebody else than they did. */
export interface KeyEpochSource {
  readonly keyEpoch: number
}

export class ResponseCache {
  /** Of bodies asked, by the last bits of the same number: whoever asks twice may ask again. */
  private readonly seen = new Int32Array(places)
  private readonly kept: (CacheEntry | null)[] = new Array(places).fill(null)
  private bytes = 0
  /** Given since that was last told. */
  private toTell: CacheEntry[] = []
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
   * The answer to a body that still stands, or null.
   *
   * hash  of the name and the body, by `hashOfAsked`.
   */
  find(hash: number, environmentId: string, name: string, body: DataView, nowMs: number): CacheEntry | null {
    const kept = this.kept[hash & (places - 1)]!
    if (kept === null || kept.hash !== hash || kept.name !== name) return null
    if (kept.stamp.environmentId !== environmentId || !isSame(kept.body, body)) return null
    if (nowMs >= kept.untilMs || nowMs < kept.stamp.sinceMs || !this.isFresh(kept)) return null
    if (kept.given++ === 0) this.toTell.push(kept)
    if (this.recordsLeft > 0) {
      this.recordsLeft--
      kept.recorded.push(nowMs)
    }
    if (nowMs > kept.lastAtMs) kept.lastAtMs = nowMs
    return kept
  }

  /** Notes that a body was asked; a copy of it when it was before, which may be worth to be kept. */
  admit(hash: number, name: string, body: DataView): CacheKey | null {
    const place = hash & (places - 1)
    if (this.seen[place] === hash) return { hash, name, body: copyOf(body) }
    this.seen[place] = hash
    return null
  }

  /**
   * What an answer to a question that leaves now will rest on; null when none may be kept.
   *
   * companyId  null: the environment's own actor is asked.
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

  /** Keep an answer for as long as it stands. */
  keep({ hash, name, body }: CacheKey, standing: CacheMeta, text: string): void {
    if (text.length > answerBytesMax || this.bytes > bytesMax || !this.isFresh(standing)) return
    const { stamp, figures } = standing
    const untilMs = Math.min(standing.untilMs, stamp.sinceMs + keptMs)
    const answer = Buffer.from(text)
    const place = hash & (places - 1)
    this.drop(place)
    this.kept[place] = {
      hash,
      name,
      body,
      answer,
      stamp,
      untilMs,
      figures,
      given: 0,
      lastAtMs: stamp.sinceMs,
      recorded: [],
      second: this.second,
    }
    this.bytes += answer.length
  }

  /** Whether nothing has changed that an answer rests on, time apart. */
  private isFresh({ stamp: { shard, epoch, place, change, uses, keyEpoch }, figures }: CacheMeta): boolean {
    const { changes } = this
    if (changes.epoch(shard) !== epoch || this.directory.keyEpoch !== keyEpoch) return false
    return place < 0 || (changes.at(place) === change && (!figures || changes.usageVersion(place) === uses))
  }

  /** Let go of what does not stand any more: once in a while, as a later answer takes its place anyway. */
  private sweep(): void {
    if (this.bytes === 0) return
    for (let place = 0; place < places; place++) {
      const kept = this.kept[place]!
      if (kept !== null && (this.isOld(kept) || !this.isFresh(kept))) this.drop(place)
    }
  }

  /** Its environment's clock may stand still; this one does not. */
  private isOld({ second }: CacheEntry): boolean {
    return (this.second - second) * 1_000 > keptMs
  }

  /** A second is over. */
  tick(): void {
    this.second++
    this.recordsLeft = this.recordsPerSecond
    this.sweep()
  }

  private drop(place: number): void {
    const kept = this.kept[place]!
    if (kept === null) return
    this.bytes -= kept.answer.length
    this.kept[place] = null
  }

  /** What was answered from here since the last time and is not told of yet, a part of it; null: nothing. */
  takeCounts(): CheckCounts | null {
    if (this.toTell.length === 0) return null
    const counts: string[] = []
    const rows: string[] = []
    const flags = new Map<string, readonly [string, string, number]>()
    const users = new Map<string, readonly [string, string, number]>()
    for (let read = 0; read < toldBytes; ) {
      const kept = this.toTell.pop()
      if (kept === undefined) break
      read += kept.answer.length
      const { stamp, given, lastAtMs, recorded } = kept
      kept.given = 0
      kept.recorded = []
      const { environmentId } = stamp
      const question = recorded.length === 0 ? null : questionIn(kept.body)
      const checked = checkIn(kept.answer)
      for (const atMs of recorded) {
        const id = derivedId('evt_', this.run, ++this.recordsMade)
        rows.push(checkRecordRow({ environmentId, id, atMs, ...question!, ...checked }))
      }
      counts.push(checkCountRow({ environmentId, minuteMs: stamp.sinceMs, checks: given, ...checked }))
      const { flag, userId } = checked
      const known = flags.get(`${environmentId} ${flag}`)
      if (known === undefined || known[2] < lastAtMs)
        flags.set(`${environmentId} ${flag}`, [environmentId, flag, lastAtMs])
      if (userId !== null) users.set(userId, [environmentId, userId, lastAtMs])
    }
    return { counts, rows, flags: [...flags.values()], users: [...users.values()] }
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

/** What a body asked, as records have it. */
function questionIn({ buffer, byteOffset, byteLength }: DataView): CheckQuestion {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString()
  const asked = (text === '' ? {} : JSON.parse(text)) as CheckFlagRequestBody
  return {
    company: givenKeys(asked.company),
    user: givenKeys(asked.user),
    preflight: asked.preflight != null,
  }
}

/** A number of a question: of its name and its body, never 0. */
export function hashOfAsked(name: string, body: DataView): number {
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

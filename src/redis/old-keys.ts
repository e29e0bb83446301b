// Idempotency keys that left Redis: filters of past hours, in memory that all threads of a node share. A key of a span is
// always found by its filter; another key is found once in 65,536 times, so each hit is confirmed in ClickHouse.
//
//   name ─ sha256 ─▶ first bits choose the part │ 64 bits are looked for in the part's filter
import { hash } from 'node:crypto'
import { buildFilter, filterCells, mayHold, shapeOf } from '../bytes/fuse-filter.js'

/** Bytes of a name's hash that are kept, the same as in ClickHouse and in the window in memory. */
export const hashBytes = 10
/** Keys of one part, about: a part is built and stored at once. */
const partKeys = 131_072

/** Bytes of the hash of a name: an environment's id and a key, with its mark where a publishable key sent it. */
export const hashOf = (env: string, key: string): Buffer =>
  hash('sha256', `${env}\0${key}`, 'buffer').subarray(0, hashBytes)

/** The same as a text: the name of a key among nodes. */
export function nameOf(env: string, key: string): string {
  // as `hashOf(…).toString('base64url')`, without the buffers: half its time
  const digest = hash('sha256', `${env}\0${key}`, 'base64url')
  return digest.slice(0, nameLength - 1) + lastCharacters[base64url.indexOf(digest[nameLength - 1]!) >> 4]!
}

/** Characters of a name: the last one has two bits of the hash. */
const nameLength = Math.ceil((8 * hashBytes) / 6)
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const lastCharacters = ['A', 'Q', 'g', 'w'] as const

/** The filter of the keys of a span whose hashes begin with the same bits. */
export interface FilterPart {
  /** Different keys. */
  readonly keys: number
  readonly seed: number
  readonly cells: Uint16Array
}

/** Keys by receipt: those received from `fromMs` on and before `toMs`, epoch ms, as far as ClickHouse had them then. */
export interface SealedSpan {
  readonly fromMs: number
  readonly toMs: number
  /** A power of two, in the order of the first bits; none: there were no keys. */
  readonly parts: readonly FilterPart[]
}

/** Spans without a gap, oldest first. */
export interface SealedSpans {
  /** The end of the last one, epoch ms; 0: there is none. */
  readonly untilMs: number
  readonly spans: readonly SealedSpan[]
}

/** The spans as one thread knows them now. */
export class OldKeys {
  private waiting: (() => void)[] = []

  constructor(private now: SealedSpans = { untilMs: 0, spans: [] }) {}

  get untilMs(): number {
    return this.now.untilMs
  }

  get spans(): readonly SealedSpan[] {
    return this.now.spans
  }

  /** Know these spans from now on. Older ones change nothing. */
  replace(spans: SealedSpans): void {
    if (spans.untilMs < this.untilMs) return
    this.now = spans
    const { waiting } = this
    this.waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves at the next change, or after this time. */
  async changed(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.waiting.push(resolve)
      timer = setTimeout(resolve, mostMs)
    })
    clearTimeout(timer)
  }

  /**
   * Spans that may hold a key.
   *
   * name     as `nameOf` gives it.
   * afterMs  receipts up to this instant do not count, epoch ms.
   */
  spansOf(name: string, afterMs: number): readonly SealedSpan[] {
    let found: SealedSpan[] | null = null
    const high = ((bitsOf(name, 0) << 2) | (sixBits(name, 5) >> 4)) >>> 0
    const low = ((sixBits(name, 5) << 28) | (bitsOf(name, 6) >>> 2)) >>> 0
    for (const span of this.now.spans)
      if (span.toMs > afterMs && holds(span, high, low)) {
        found ??= []
        found.push(span)
      }
    return found ?? noSpans
  }
}

const noSpans: readonly SealedSpan[] = []

/** Values of the characters of a name. */
const values = new Uint8Array(128)
for (let value = 0; value < base64url.length; value++) values[base64url.charCodeAt(value)] = value

const sixBits = (name: string, at: number): number => values[name.charCodeAt(at)]!

/** The bits of five characters. */
function bitsOf(name: string, from: number): number {
  let bits = 0
  for (let at = from; at < from + 5; at++) bits = (bits << 6) | sixBits(name, at)
  return bits
}

/** Whether a span may hold the key with these two words of its hash. */
export function holds({ parts }: Pick<SealedSpan, 'parts'>, high: number, low: number): boolean {
  if (parts.length === 0) return false
  const { cells, keys, seed } = parts[partOf(high, parts.length)]!
  const { segmentLength, firsts } = shapeOf(keys)
  return mayHold(cells, 0, segmentLength, firsts, seed, high, low)
}

const partOf = (high: number, parts: number): number => Math.floor((high / 0x1_0000_0000) * parts)

/** Bytes of the filters of some spans. */
export const bytesOf = (spans: readonly SealedSpan[]): number =>
  spans.reduce((sum, { parts }) => sum + parts.reduce((all, { cells }) => all + cells.byteLength, 0), 0)

/** Keys of some spans. */
export const keysOf = (spans: readonly SealedSpan[]): number =>
  spans.reduce((sum, { parts }) => sum + parts.reduce((all, { keys }) => all + keys, 0), 0)

/**
 * Build the filters of a span. A few ms of CPU for each part; another part begins in the next turn of the loop.
 *
 * words    the first two words of each key's hash, one key after another; a key may be there more than once. The first
 *          `count` keys are read.
 * partMax  keys of one part, about; for tests.
 */
export async function buildParts(
  words: Uint32Array,
  count: number,
  partMax = partKeys,
): Promise<readonly FilterPart[]> {
  if (count === 0) return []
  const parts = 2 ** Math.max(0, Math.ceil(Math.log2(count / partMax)))
  const ends = new Uint32Array(parts)
  for (let i = 0; i < count; i++) ends[partOf(words[2 * i]!, parts)]!++
  for (let part = 1; part < parts; part++) ends[part]! += ends[part - 1]!
  const places = ends.slice()
  const keys = new BigUint64Array(count)
  for (let i = 0; i < count; i++) {
    const at = --places[partOf(words[2 * i]!, parts)]!
    keys[at] = (BigInt(words[2 * i]!) << 32n) | BigInt(words[2 * i + 1]!)
  }
  const built: FilterPart[] = []
  for (let part = 0; part < parts; part++) {
    built.push(partOfKeys(keys.subarray(places[part]!, ends[part]!)))
    await new Promise(resolve => setImmediate(resolve))
  }
  return built
}

/** The filter of some keys; sorts them. */
function partOfKeys(sorted: BigUint64Array): FilterPart {
  sorted.sort()
  const highs = new Uint32Array(sorted.length)
  const lows = new Uint32Array(sorted.length)
  let keys = 0
  for (const [i, key] of sorted.entries()) {
    if (i > 0 && key === sorted[i - 1]) continue
    highs[keys] = Number(key >> 32n)
    lows[keys++] = Number(key & 0xffff_ffffn)
  }
  const cells = sharedCells(filterCells(keys))
  return { keys, seed: buildFilter(highs, lows, keys, cells), cells }
}

/** Cells that threads share when they are sent to one. */
export const sharedCells = (count: number): Uint16Array => new Uint16Array(new SharedArrayBuffer(2 * count))

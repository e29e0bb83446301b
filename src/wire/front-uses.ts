// Usual events that an extra front has read, on their way to the main thread: the window of idempotency keys is there, and the
// way to the shards. All of a turn go in one message, because a message costs as much as several events.
//
//   front        reads, admits, finds companies, hashes keys ─▶ main thread   claims keys, has the shards append
//   front        acknowledges                                ◀─              the outcome
import { Buffer } from 'node:buffer'
import { PackedRows, UsageBatchWriter } from '../core/usage/batch.js'
import type { ErrorCode } from '../errors.js'

/** A message: numbers of all requests, their texts, a row and a claim for each event. */
export type UsesPacket = readonly [numbers: readonly number[], text: string, rows: string, claims: string]

/** One request as it is packed. */
export interface PackedRequest {
  /** Its number, which the outcome names. */
  readonly n: number
  /** The number of its key (`KeyFacts.events`). */
  readonly key: number
  /** The editions and the directory's epoch under which it was read. */
  readonly edition: number
  readonly keyEpoch: number
  /** Events. */
  readonly count: number
  /** Characters of its body. */
  readonly length: number
}

const requestNumbers = 6

// A claim, in words: 64 bits of the key's hash, its segment of 12 bits beside the event's print of 16, and the event's shard.
const tagAt = 0
const middleAt = 1
const segmentAndPrint = 2
const shardAt = 3
const claimWords = 4
const printBits = 16

/** A key's place in the window. */
interface Place {
  readonly segment: number
  readonly tag: number
  readonly middle: number
}

/** Packs the events of one turn. */
export class UsesWriter {
  readonly rows = new UsageBatchWriter()
  private numbers: number[] = []
  private text = ''
  private words = new Uint32Array(64 * claimWords)
  /** Events of complete requests. */
  private complete = 0

  get isEmpty(): boolean {
    return this.complete === 0
  }

  /** Events of the request that is being added. */
  get adding(): number {
    return this.rows.count - this.complete
  }

  /** The claim of the event whose row was added last. */
  claim({ segment, tag, middle }: Place, print: number): void {
    const at = this.last()
    const { words } = this
    words[at + tagAt] = tag
    words[at + middleAt] = middle
    words[at + segmentAndPrint] = (segment << printBits) | print
  }

  /** The shard of the event whose row was added last. */
  toShard(shard: number): void {
    this.words[this.last() + shardAt] = shard
  }

  private last(): number {
    const at = (this.rows.count - 1) * claimWords
    if (at + claimWords > this.words.length) {
      const { words } = this
      this.words = new Uint32Array(2 * words.length)
      this.words.set(words)
    }
    return at
  }

  /** All events of a request are added. */
  end({ n, key, edition, keyEpoch }: Omit<PackedRequest, 'count' | 'length'>, text: string): void {
    this.numbers.push(n, key, edition, keyEpoch, this.adding, text.length)
    this.text += text
    this.complete = this.rows.count
  }

  /** The request that is being added cannot be packed. */
  drop(): void {
    this.rows.count = this.complete
  }

  take(): UsesPacket {
    const bytes = Buffer.from(this.words.buffer, 0, this.complete * claimWords * 4)
    const packet: UsesPacket = [this.numbers, this.text, this.rows.take(), bytes.toString('latin1')]
    this.numbers = []
    this.text = ''
    this.complete = 0
    if (this.words.length > 1 << 18) this.words = new Uint32Array(64 * claimWords)
    return packet
  }
}

/** Reads one message after the other. */
export class UsesReader {
  readonly rows = new PackedRows()
  private words = new Uint32Array(64 * claimWords)
  private bytes = Buffer.from(this.words.buffer)

  /** Visit each request: the number of its first row, and its body. */
  read(
    [numbers, text, rows, claims]: UsesPacket,
    visit: (request: PackedRequest, from: number, text: string) => void,
  ): void {
    this.rows.open(rows)
    if (claims.length > this.bytes.length || this.bytes.length > 1 << 20) {
      this.words = new Uint32Array(Math.max(64 * claimWords, claims.length >> 1))
      this.bytes = Buffer.from(this.words.buffer)
    }
    this.bytes.write(claims, 0, 'latin1')
    let [row, from] = [0, 0]
    for (let at = 0; at < numbers.length; at += requestNumbers) {
      const [n, key, edition, keyEpoch] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!]
      const [count, length] = [numbers[at + 4]!, numbers[at + 5]!]
      visit({ n, key, edition, keyEpoch, count, length }, row, text.slice(from, from + length))
      row += count
      from += length
    }
    this.rows.close()
  }

  tag(row: number): number {
    return this.words[row * claimWords + tagAt]!
  }

  middle(row: number): number {
    return this.words[row * claimWords + middleAt]!
  }

  segment(row: number): number {
    return this.words[row * claimWords + segmentAndPrint]! >>> printBits
  }

  print(row: number): number {
    return this.words[row * claimWords + segmentAndPrint]! & (2 ** printBits - 1)
  }

  shard(row: number): number {
    return this.words[row * claimWords + shardAt]!
  }
}

/** An event that repeats an earlier one: its place in the request, and the event it is acknowledged as. */
export type Repeat = readonly [place: number, high: number, low: number, capturedAtMs: number]

/** Why the events of a request were not taken: as a ServiceError has it. */
export interface UsesRefusal {
  readonly code: ErrorCode
  readonly message: string
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterSeconds: number | undefined
}

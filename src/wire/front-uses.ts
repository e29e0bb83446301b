// Usual events that an extra front has read. Their rows and texts go to the shards at once, and lie there. The main thread gets
// what it needs to claim their keys: the window of idempotency keys is there. Then it has each shard take the rows of a request,
// by a message in the place where its own rows would stand. So order, durability, and what a death costs are those of its own
// events. All of a turn go in one message to each, because a message costs as much as several events.
//
//   front ─ rows, texts ──────────────────────▶ shard: they lie there
//         ─ claims, then ─▶ main thread ─ take ─▶ shard: appended, as if they had come just then
//         ◀─ the outcome ─              ◀─ reply ─
//
// A front posts the rows first: they are in the shard's queue before the claims are in the main thread's.
// - A front dies: the rows that it had posted are there, and the main thread has them taken or not. Others have no claim.
// - A shard dies: the rows are gone with it. Requests for rows that it was told to take are lost requests: its journal settles them. Claims
//   for rows that went to an earlier thread of the shard are not made (`generations`), and the front passes the request on.
// - The process dies: the journals have all that was acknowledged.
import { Buffer } from 'node:buffer'
import { actorIdLength, UsageBatchWriter, type Use } from '../core/usage/batch.js'
import type { ErrorCode } from '../errors.js'

/** A message to a shard: the events of one packet that are of its companies. */
export interface LodgedUses {
  /** Number of the packet; each of a front's is higher than the one before. */
  readonly packet: number
  /** Texts of its requests. */
  readonly text: string
  readonly rows: string
}

/** A message to the main thread: numbers of all requests; claims, and ids of companies and users, of all events. */
export interface UsesPacket {
  readonly packet: number
  /** By shard: the thread of it that has the rows (`ToFront` shard); 0: none has. */
  readonly generations: readonly number[]
  readonly numbers: readonly number[]
  readonly claims: string
  readonly ids: string
}

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
}

const requestNumbers = 5

// A claim, in words: 64 bits of the key's hash, its segment of 12 bits beside the event's print of 16, the 64 bits of the
// event's id, and its shard beside two bits.
const tagAt = 0
const middleAt = 1
const segmentAndPrint = 2
const highAt = 3
const lowAt = 4
const shardAndBits = 5
const claimWords = 6
const printBits = 16
const ofKey = 1
const ofUser = 2
const shardShift = 2

/** Characters of the ids of one event. */
const idsLength = 2 * actorIdLength
const noId = ' '.repeat(actorIdLength)

/** A key's place in the window. */
interface Place {
  readonly segment: number
  readonly tag: number
  readonly middle: number
}

/** The events for one shard. */
class ShardWriter {
  text = ''
  readonly rows = new UsageBatchWriter()
  /** Rows of the request that is being added. */
  readonly adding = new UsageBatchWriter()

  take(packet: number): LodgedUses {
    const { text } = this
    this.text = ''
    return { packet, text, rows: this.rows.take() }
  }
}

/** Packs the events of one turn. */
export class UsesWriter {
  private readonly shards: readonly ShardWriter[]
  private numbers: number[] = []
  private ids = ''
  private addingIds = ''
  private words = new Uint32Array(64 * claimWords)
  private count = 0
  /** Events of complete requests. */
  private complete = 0
  private packet = 0

  constructor(shards: number) {
    this.shards = Array.from({ length: shards }, () => new ShardWriter())
  }

  /** Add an event. place: its key's; null: it has none. */
  add(use: Use, shard: number, place: Place | null, print: number): void {
    this.shards[shard]!.adding.add(use)
    const at = this.count * claimWords
    if (at + claimWords > this.words.length) this.grow()
    const { words } = this
    if (place !== null) {
      words[at + tagAt] = place.tag
      words[at + middleAt] = place.middle
      words[at + segmentAndPrint] = (place.segment << printBits) | print
    }
    words[at + highAt] = use.idHigh
    words[at + lowAt] = use.idLow
    words[at + shardAndBits] =
      (shard << shardShift) | (place === null ? 0 : ofKey) | (use.userId === null ? 0 : ofUser)
    this.addingIds += use.companyId
    this.addingIds += use.userId ?? noId
    this.count++
  }

  private grow(): void {
    const { words } = this
    this.words = new Uint32Array(2 * words.length)
    this.words.set(words)
  }

  /** All events of a request are added. */
  end({ n, key, edition, keyEpoch }: Omit<PackedRequest, 'count'>, text: string): void {
    this.numbers.push(n, key, edition, keyEpoch, this.count - this.complete)
    this.ids += this.addingIds
    this.addingIds = ''
    this.complete = this.count
    for (const shard of this.shards) {
      if (shard.adding.count === 0) continue
      shard.rows.append(shard.adding, shard.text.length)
      shard.adding.clear()
      shard.text += text
    }
  }

  /** The request that is being added cannot be packed. */
  drop(): void {
    this.count = this.complete
    this.addingIds = ''
    for (const { adding } of this.shards) adding.clear()
  }

  /**
   * The packet so far; the next one begins empty.
   *
   * lodge  gives the rows of a shard to it; returns its thread's number, 0 where there is none.
   */
  take(lodge: (shard: number, uses: LodgedUses) => number): UsesPacket {
    const packet = ++this.packet
    const generations = this.shards.map((shard, index) =>
      shard.rows.count === 0 ? 0 : lodge(index, shard.take(packet)),
    )
    const bytes = Buffer.from(this.words.buffer, 0, this.complete * claimWords * 4)
    const { numbers, ids } = this
    this.numbers = []
    this.ids = ''
    this.complete = 0
    this.count = 0
    const claims = bytes.toString('latin1')
    if (this.words.length > 1 << 18) this.words = new Uint32Array(64 * claimWords)
    return { packet, generations, numbers, claims, ids }
  }
}

/** Reads one message after the other. */
export class UsesReader {
  private words = new Uint32Array(64 * claimWords)
  private bytes = Buffer.from(this.words.buffer)
  private ids = ''

  /** Visit each request: the number of its first event. */
  read({ numbers, claims, ids }: UsesPacket, visit: (request: PackedRequest, from: number) => void): void {
    if (claims.length > this.bytes.length || this.bytes.length > 1 << 20) {
      this.words = new Uint32Array(Math.max(64 * claimWords, claims.length >> 1))
      this.bytes = Buffer.from(this.words.buffer)
    }
    this.bytes.write(claims, 0, 'latin1')
    this.ids = ids
    let from = 0
    for (let at = 0; at < numbers.length; at += requestNumbers) {
      const [n, key, edition, keyEpoch] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!]
      const count = numbers[at + 4]!
      visit({ n, key, edition, keyEpoch, count }, from)
      from += count
    }
    this.ids = ''
  }

  tag(event: number): number {
    return this.words[event * claimWords + tagAt]!
  }

  middle(event: number): number {
    return this.words[event * claimWords + middleAt]!
  }

  segment(event: number): number {
    return this.words[event * claimWords + segmentAndPrint]! >>> printBits
  }

  print(event: number): number {
    return this.words[event * claimWords + segmentAndPrint]! & (2 ** printBits - 1)
  }

  idHigh(event: number): number {
    return this.words[event * claimWords + highAt]!
  }

  idLow(event: number): number {
    return this.words[event * claimWords + lowAt]!
  }

  shard(event: number): number {
    return this.words[event * claimWords + shardAndBits]! >>> shardShift
  }

  isKeyed(event: number): boolean {
    return (this.words[event * claimWords + shardAndBits]! & ofKey) !== 0
  }

  companyId(event: number): string {
    return this.ids.slice(event * idsLength, event * idsLength + actorIdLength)
  }

  userId(event: number): string | null {
    if ((this.words[event * claimWords + shardAndBits]! & ofUser) === 0) return null
    return this.ids.slice(event * idsLength + actorIdLength, (event + 1) * idsLength)
  }
}

/** Why the events of a request were not taken: as a ServiceError has it. */
export interface UsesRefusal {
  readonly code: ErrorCode
  readonly message: string
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterSeconds: number | undefined
}

// Columnar batch of plain track events on their way to a shard. The received bytes stay one text; for each event only
// offsets into it cross, in rows of fixed length. Texts here have one byte per character: they are copied, never
// encoded. The receiver makes objects only for events that need more than counting.
import { dataViewOf } from '../../bytes/data-view.js'
import type { IngestItem } from '../model/message.js'
import type { AcceptedEvent } from '../model/requests.js'
import { encodeId } from '../values/id.js'

/** Company and user ids, as made by `newId`. */
export const actorIdLength = 16

// A row, in words of 32 bits; the time sent is a number of 64 at its two words.
const bodyAt = 0
const bodyLength = 1
const nameAt = 2
const nameLength = 3
const keyAt = 4
const keyLength = 5
const quantityAt = 6
const bits = 7
const idHigh = 8
const idLow = 9
const sentAt = 10
const companyAt = 12
const userAt = 16
const rowWords = 20
const rowBytes = 4 * rowWords

const ofUser = 1
const isSent = 2

/** One event as it is added: places in the request's text. */
export interface Use {
  readonly bodyAt: number
  readonly bodyLength: number
  readonly nameAt: number
  readonly nameLength: number
  readonly keyAt: number
  /** 0 without a key. */
  readonly keyLength: number
  readonly quantity: number
  /** The 64 bits of its id. */
  readonly idHigh: number
  readonly idLow: number
  readonly sentAtMs: number | null
  readonly companyId: string
  readonly userId: string | null
}

/** Rows on the sending side. */
export class UsageBatchWriter {
  private words = new Int32Array(rowWords)
  private doubles = new Float64Array(this.words.buffer)
  private bytes = Buffer.from(this.words.buffer)
  count = 0

  add(use: Use): void {
    const from = this.count * rowWords
    if (from + rowWords > this.words.length) this.grow()
    const { words } = this
    words[from + bodyAt] = use.bodyAt
    words[from + bodyLength] = use.bodyLength
    words[from + nameAt] = use.nameAt
    words[from + nameLength] = use.nameLength
    words[from + keyAt] = use.keyAt
    words[from + keyLength] = use.keyLength
    words[from + quantityAt] = use.quantity
    words[from + bits] = (use.userId === null ? 0 : ofUser) + (use.sentAtMs === null ? 0 : isSent)
    words[from + idHigh] = use.idHigh
    words[from + idLow] = use.idLow
    this.doubles[(from + sentAt) >> 1] = use.sentAtMs ?? 0
    this.put(use.companyId, from + companyAt)
    if (use.userId !== null) this.put(use.userId, from + userAt)
    this.count++
  }

  /** Add all rows of another list; their places lie `base` further on. */
  append(other: UsageBatchWriter, base: number): void {
    const from = this.count * rowWords
    const added = other.count * rowWords
    while (from + added > this.words.length) this.grow()
    const { words } = this
    words.set(added === other.words.length ? other.words : other.words.subarray(0, added), from)
    if (base > 0)
      for (let row = from; row < from + added; row += rowWords) {
        words[row + bodyAt]! += base
        words[row + nameAt]! += base
        words[row + keyAt]! += base
      }
    this.count += other.count
  }

  clear(): void {
    this.count = 0
    if (this.bytes.length > 1 << 20) this.resize(rowWords)
  }

  /** Every row as a text; begins anew. */
  take(): string {
    const text = this.bytes.toString('latin1', 0, this.count * rowBytes)
    this.clear()
    return text
  }

  private put(id: string, word: number): void {
    const { bytes } = this
    for (let i = 0; i < actorIdLength; i++) bytes[4 * word + i] = id.charCodeAt(i)
  }

  private grow(): void {
    const { words } = this
    this.resize(2 * words.length)
    this.words.set(words)
  }

  private resize(words: number): void {
    this.words = new Int32Array(words)
    this.doubles = new Float64Array(this.words.buffer)
    this.bytes = Buffer.from(this.words.buffer)
  }
}

/** Events of one request, on the sending side. Their places are such in its text. */
export interface OutgoingUses {
  readonly at: number
  readonly env: string
  readonly apiKeyId: string
  /** One character for each byte. */
  readonly text: string
  readonly rows: UsageBatchWriter
}

/** The same, received: rows `from` to `from + count` of its post, valid until the next is opened. */
export interface UsesRequest {
  readonly n: number
  /** When they were received, epoch ms. */
  readonly at: number
  readonly env: string
  readonly apiKeyId: string
  readonly from: number
  readonly count: number
  readonly uses: UsageBatch
  /**
   * Several nodes: what each row's key holds; null: the row repeats an earlier event and is left out; undefined: it has no
   * key.
   */
  readonly held?: readonly (HeldKey | null | undefined)[]
}

/** A key that is claimed in the store that nodes share: its place there, its value, and the call that claimed it. */
export interface HeldKey {
  readonly key: string
  readonly value: string
  readonly call: ClaimCall
  /** Number of the slot that has the key, and of the connection on which it was claimed. */
  readonly slot: number
  readonly connection: number
}

/** One call that claimed keys (src/redis/calls.ts). */
export interface ClaimCall {
  /** Epoch of its shard. */
  readonly epoch: string
  /** Its number in the epoch, from 1. */
  readonly n: number
  /** Records of its events come after this sequence. */
  readonly behind: number
  /** Its keys that have neither a record nor were given back. */
  left: number
}

/**
 * Ids of companies as texts, by their four words: the same companies come again and again, and a text made of bytes
 * costs more than the look. One that comes takes the place of another with the same hash.
 */
class CompanyIds {
  private readonly words = new Int32Array(4 * places)
  private readonly ids = new Array<string>(places).fill('')

  /** The id that lies at a word of rows. */
  of(rows: Int32Array, word: number, bytes: Buffer): string {
    const a = rows[word]!
    const b = rows[word + 1]!
    const c = rows[word + 2]!
    const d = rows[word + 3]!
    // the first word is the prefix's; the letters of an id are random
    const mixed = Math.imul(b ^ Math.imul(c, 0x9e3779b1) ^ (d >>> 7), 0x85ebca6b)
    const place = (mixed ^ (mixed >>> 15)) & (places - 1)
    const { words } = this
    const at = 4 * place
    if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d)
      return this.ids[place]!
    const id = bytes.toString('latin1', 4 * word, 4 * word + actorIdLength)
    words[at] = a
    words[at + 1] = b
    words[at + 2] = c
    words[at + 3] = d
    this.ids[place] = id
    return id
  }
}

const places = 1 << 15
const companyIds = new CompanyIds()

// Buffer of the last packet received: a thread handles one packet after the other.
let textBytes = Buffer.alloc(0)
let textView = dataViewOf(textBytes)
let words = new Int32Array(0)
let doubles = new Float64Array(0)
let rows = Buffer.alloc(0)
let rowsView = dataViewOf(rows)

/** The events that lie there. */
let open: UsageBatch | null = null

const keptBytesMax = 1 << 21
/** Readable bytes behind a text, at least: copies read eight at once. */
const textRest = 8

/** The events of one post on the receiving side, by the number of their row; valid until another is opened. */
export class UsageBatch {
  /** The bytes that all offsets refer to. */
  readonly bytes: Buffer
  readonly view: DataView
  /** The rows, in which ids lie. */
  readonly rows: Buffer
  readonly rowsView: DataView
  private readonly words: Int32Array

  constructor(text: string, rowsText: string) {
    if (text.length + textRest > textBytes.length || textBytes.length > keptBytesMax) {
      textBytes = Buffer.allocUnsafeSlow(Math.max(4_096, 2 * text.length + textRest))
      textView = dataViewOf(textBytes)
    }
    const { length } = rowsText
    if (length > rows.length || rows.length > keptBytesMax) {
      words = new Int32Array(Math.max(rowWords * 64, length >> 1))
      doubles = new Float64Array(words.buffer)
      rows = Buffer.from(words.buffer)
      rowsView = dataViewOf(rows)
    }
    textBytes.write(text, 0, 'latin1')
    rows.write(rowsText, 0, 'latin1')
    this.bytes = textBytes
    this.view = textView
    this.rows = rows
    this.rowsView = rowsView
    this.words = words
    open = this
  }

  /** Whether no other was opened since. */
  get isOpen(): boolean {
    return open === this
  }

  bodyAt(i: number): number {
    return this.words[i * rowWords + bodyAt]!
  }

  bodyEnd(i: number): number {
    return this.words[i * rowWords + bodyAt]! + this.words[i * rowWords + bodyLength]!
  }

  nameAt(i: number): number {
    return this.words[i * rowWords + nameAt]!
  }

  nameLength(i: number): number {
    return this.words[i * rowWords + nameLength]!
  }

  keyAt(i: number): number {
    return this.words[i * rowWords + keyAt]!
  }

  keyLength(i: number): number {
    return this.words[i * rowWords + keyLength]!
  }

  quantity(i: number): number {
    return this.words[i * rowWords + quantityAt]!
  }

  idHigh(i: number): number {
    return this.words[i * rowWords + idHigh]! >>> 0
  }

  idLow(i: number): number {
    return this.words[i * rowWords + idLow]! >>> 0
  }

  sentAtMs(i: number): number | null {
    const row = i * rowWords
    return (this.words[row + bits]! & isSent) === 0 ? null : doubles[(row + sentAt) >> 1]!
  }

  hasUser(i: number): boolean {
    return (this.words[i * rowWords + bits]! & ofUser) !== 0
  }

  /** Offset of the company's id in `rows`. */
  companyAt(i: number): number {
    return i * rowBytes + 4 * companyAt
  }

  userAt(i: number): number {
    return i * rowBytes + 4 * userAt
  }

  /** Whether this event is of the same company as the one before it, which there must be. */
  isSameCompany(i: number): boolean {
    const { words } = this
    const at = i * rowWords + companyAt
    const before = at - rowWords
    return (
      words[at] === words[before] &&
      words[at + 1] === words[before + 1] &&
      words[at + 2] === words[before + 2] &&
      words[at + 3] === words[before + 3]
    )
  }

  /** Whether this event has the same name as the one before it, which there must be. */
  isSameName(i: number): boolean {
    const length = this.nameLength(i)
    if (length !== this.nameLength(i - 1)) return false
    const { bytes } = this
    const at = this.nameAt(i)
    const before = this.nameAt(i - 1)
    for (let n = 0; n < length; n++) if (bytes[at + n] !== bytes[before + n]) return false
    return true
  }

  companyId(i: number): string {
    return companyIds.of(this.words, i * rowWords + companyAt, this.rows)
  }

  /** The event's name, as a string of its own. */
  name(i: number): string {
    const at = this.nameAt(i)
    return this.bytes.toString('latin1', at, at + this.nameLength(i))
  }

  id(i: number): string {
    return encodeId('evt_', this.idHigh(i), this.idLow(i))
  }

  /** The event's idempotency key; null when it has none. */
  key(i: number): string | null {
    const length = this.keyLength(i)
    const at = this.keyAt(i)
    return length === 0 ? null : unescaped(this.bytes.toString('latin1', at, at + length))
  }

  /** The whole event. */
  event(i: number, { at, apiKeyId }: Pick<UsesRequest, 'at' | 'apiKeyId'>): AcceptedEvent {
    const user = this.userAt(i)
    return {
      id: this.id(i),
      type: 'track',
      subtype: this.name(i),
      body: this.bytes.toString('utf8', this.bodyAt(i), this.bodyEnd(i)),
      quantity: this.quantity(i),
      mode: 'normal',
      capturedAtMs: at,
      sentAtMs: this.sentAtMs(i),
      receivedAtMs: at,
      apiKeyId,
      idempotencyKey: this.key(i),
      companyId: this.companyId(i),
      userId: this.hasUser(i) ? this.rows.toString('latin1', user, user + actorIdLength) : null,
      leaseId: null,
      reservationId: null,
      failure: null,
      derivedFrom: null,
      inference: null,
    }
  }
}

/** A key is plain text; behind a mark (dedupe.ts) it is escaped as in JSON. */
function unescaped(key: string): string {
  return key.startsWith('\\') ? (JSON.parse(`"${key}"`) as string) : key
}

/** The events of a request as they cross one by one. */
export function itemsOf(request: UsesRequest): readonly IngestItem[] {
  const { uses, from, count, env } = request
  return Array.from({ length: count }, (_, i) => {
    const event = uses.event(from + i, request)
    return { k: 'c', id: event.companyId!, env, fresh: false, m: { type: 'event', event } }
  })
}

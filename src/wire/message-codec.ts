// Codec of requests and replies between threads. The cost of a structured clone grows with the number of values: a
// text costs as much as a value, up to twenty times its length. So a packet is one list of numbers, one text that
// joins all texts, and the few values that are neither.
import { type EventType, eventTypes } from '../../schemas/enums.js'
import type { PresenceQuestion, ShardRequest } from '../core/company/shard-request.js'
import type { IngestItem, Question, Unnumbered } from '../core/model/message.js'
import type { AcceptedEvent, CheckContext, Refusal } from '../core/model/requests.js'
import { type OutgoingUses, UsageBatch, UsageBatchWriter, type UsesRequest } from '../core/usage/batch.js'
import { type Quantity, quantityFromText } from '../core/values/quantity.js'
import { type Place, ReplyRing } from './reply-ring.js'

/**
 * Content of one packet: requests one after the other, or replies; with the text and rows of a usage batch where
 * there is one.
 */
export type Packet =
  | readonly [numbers: readonly number[], text: string, things: readonly unknown[]]
  | readonly [
      numbers: readonly number[],
      text: string,
      things: readonly unknown[],
      received: string,
      uses: string,
    ]

const plain = 0
const events = 1
const check = 2
const checkAll = 3
/** Above the two bits of the others. */
const uses = 4
const lodged = events + uses

const kinds = ['c', 'u', 'e'] as const
const kindNumbers = { c: 0, u: 1, e: 2 } as const
const typeNumbers = new Map<EventType, number>(eventTypes.map((type, number) => [type, number]))

// Bits of a request's first number, above its kind.
const companyGiven = 1 << 4
const userGiven = 1 << 5
const hasThings = 1 << 6
const otherEnv = 1 << 7
const otherKey = 1 << 8
const ofEnv = 1 << 9
/** `keeps` of one flag, `whole` of all. */
const isSpecial = 1 << 10

// Bits of an event's first number, above its actor's kind and its type.
const typeShift = 2
const hasKey = 1 << 5
const hasUser = 1 << 6
const hasCompany = 1 << 7
const sameCompany = 1 << 8
const hasSubtype = 1 << 9
const isRare = 1 << 10
const hasQuantity = 1 << 11

/** Members of an event that few events have. */
type Rare = readonly [
  mode: AcceptedEvent['mode'],
  capturedAtMs: number,
  sentAtMs: number | null,
  failure: string | null,
  derivedFrom: string | null,
  leaseId: string | null,
  reservationId: string | null,
  inference: AcceptedEvent['inference'],
  fresh: boolean,
]

/** A packet under construction, on the sending side. */
class Writing {
  protected numbers: number[] = []
  protected text = ''
  protected things: unknown[] = []

  get isEmpty(): boolean {
    return this.numbers.length === 0
  }

  /** The packet so far; the next one begins empty. */
  take(): Packet {
    const cells: Packet = [this.numbers, this.text, this.things]
    this.numbers = []
    this.text = ''
    this.things = []
    return cells
  }
}

/** A request as it leaves. */
export type Outgoing =
  | Unnumbered<Exclude<ShardRequest, UsesRequest> | PresenceQuestion>
  | OutgoingUses
  | OutgoingLodged

/** Events of a request whose rows lie at the shard (front-uses.ts): those of a packet, from a row on. */
export interface OutgoingLodged {
  readonly at: number
  readonly env: string
  readonly apiKeyId: string
  readonly front: number
  readonly packet: number
  readonly from: number
  readonly count: number
}

/** Rows that lie at the shard. */
export interface Lodged {
  find(front: number, packet: number): { readonly text: string; readonly rows: string } | null
  /** They do not lie there: the request with this number fails. */
  missing(n: number): void
}
const nothingLodged: Lodged = { find: () => null, missing: () => {} }

/** Requests that leave together; `unpack` gives equal ones, in order. */
export class Encoder extends Writing {
  /** Said once for all requests that follow each other with the same. */
  private env = ''
  private apiKeyId = ''
  /** The received text of the events that cross as rows. */
  private received = ''
  private readonly rows = new UsageBatchWriter()
  /** Events whose rows lie at the shard. */
  private lodged = 0

  /** n: the number of the request, which its reply will name. */
  add(n: number, request: Outgoing): void {
    if ('rows' in request) this.addUses(n, request)
    else if ('events' in request) this.addEvents(n, request)
    else if ('m' in request && (request.m.type === 'check' || request.m.type === 'check_all'))
      this.addCheck(n, request, request.m)
    else if ('front' in request) this.addLodged(n, request)
    else {
      this.numbers.push(plain, n)
      this.things.push(request)
    }
  }

  override take(): Packet {
    this.env = ''
    this.apiKeyId = ''
    if (this.lodged >= longLodgedMin) this.things.push(longMark)
    this.lodged = 0
    if (this.rows.count === 0) return super.take()
    const { received } = this
    this.received = ''
    const [numbers, text, things] = super.take()
    return [numbers, text, things, received, this.rows.take()]
  }

  private addUses(n: number, { at, env, apiKeyId, text, rows }: OutgoingUses): void {
    const newEnv = env !== this.env
    const newKey = apiKeyId !== this.apiKeyId
    this.numbers.push(uses + (newEnv ? otherEnv : 0) + (newKey ? otherKey : 0), n, at, rows.count)
    if (newEnv) this.addText(env)
    if (newKey) this.addText(apiKeyId)
    this.env = env
    this.apiKeyId = apiKeyId
    this.rows.append(rows, this.received.length)
    this.received += text
  }

  private addLodged(n: number, { at, env, apiKeyId, front, packet, from, count }: OutgoingLodged): void {
    const newEnv = env !== this.env
    const newKey = apiKeyId !== this.apiKeyId
    const head = lodged + (newEnv ? otherEnv : 0) + (newKey ? otherKey : 0)
    this.numbers.push(head, n, at, front, packet, from, count)
    this.lodged += count
    if (newEnv) this.addText(env)
    if (newKey) this.addText(apiKeyId)
    this.env = env
    this.apiKeyId = apiKeyId
  }

  private addEvents(n: number, request: Extract<Outgoing, { readonly events: unknown }>): void {
    const { numbers } = this
    const first = request.events[0]!
    const { env } = first
    const { apiKeyId, receivedAtMs } = first.m.event
    const newEnv = env !== this.env
    const newKey = apiKeyId !== this.apiKeyId
    numbers.push(
      events + (newEnv ? otherEnv : 0) + (newKey ? otherKey : 0),
      n,
      request.at,
      receivedAtMs,
      request.events.length,
    )
    if (newEnv) this.addText(env)
    if (newKey) this.addText(apiKeyId)
    this.env = env
    this.apiKeyId = apiKeyId
    for (const item of request.events) this.addEvent(item)
  }

  private addEvent(item: IngestItem): void {
    const { numbers } = this
    const { id, k } = item
    const { event } = item.m
    const { subtype, idempotencyKey, userId, companyId, quantity, body } = event
    const rare = rareOf(item)
    const same = companyId === id
    numbers.push(
      kindNumbers[k] +
        (typeNumbers.get(event.type)! << typeShift) +
        (idempotencyKey === null ? 0 : hasKey) +
        (userId === null ? 0 : hasUser) +
        (same ? sameCompany : companyId === null ? 0 : hasCompany) +
        (subtype === null ? 0 : hasSubtype) +
        (rare === null ? 0 : isRare) +
        (quantity === 1 ? 0 : hasQuantity),
      id.length,
      event.id.length,
      body.length,
    )
    this.text += id
    this.text += event.id
    this.text += body
    if (idempotencyKey !== null) this.addText(idempotencyKey)
    if (userId !== null) this.addText(userId)
    if (!same && companyId !== null) this.addText(companyId)
    if (subtype !== null) this.addText(subtype)
    if (typeof quantity === 'bigint') {
      numbers.push(Number.NaN)
      this.addText(String(quantity))
    } else if (quantity !== 1) numbers.push(quantity)
    if (rare !== null) this.things.push(rare)
  }

  private addCheck(
    n: number,
    request: Extract<Outgoing, { readonly m: unknown }>,
    m: Extract<Question, { readonly type: 'check' | 'check_all' }>,
  ): void {
    const { id, env, k, at } = request
    const { context } = m
    const { userId, userTraits, asked } = context
    const preflight = m.type === 'check' ? m.preflight : null
    const newEnv = env !== this.env
    const things = userTraits !== null || preflight !== null
    this.numbers.push(
      (m.type === 'check' ? check : checkAll) +
        (kindNumbers[k] << 2) +
        (context.companyGiven ? companyGiven : 0) +
        (context.userGiven ? userGiven : 0) +
        (things ? hasThings : 0) +
        (newEnv ? otherEnv : 0) +
        (id === env ? ofEnv : 0) +
        ((m.type === 'check' ? m.timed : m.whole) ? isSpecial : 0),
      n,
      at,
      userId === null ? 0 : userId.length,
      asked.length,
    )
    if (userId !== null) this.text += userId
    this.text += asked
    if (newEnv) this.addText(env)
    this.env = env
    if (id !== env) this.addText(id)
    if (m.type === 'check') this.addText(m.flagKey)
    if (things) this.things.push(userTraits, preflight)
  }

  private addText(text: string): void {
    this.numbers.push(text.length)
    this.text += text
  }
}

function rareOf({ fresh, m: { event } }: IngestItem): Rare | null {
  if (
    !fresh &&
    event.mode === 'normal' &&
    event.capturedAtMs === event.receivedAtMs &&
    event.sentAtMs === null &&
    event.failure === null &&
    event.derivedFrom === null &&
    event.leaseId === null &&
    event.reservationId === null &&
    event.inference === null
  )
    return null
  return [
    event.mode,
    event.capturedAtMs,
    event.sentAtMs,
    event.failure,
    event.derivedFrom,
    event.leaseId,
    event.reservationId,
    event.inference,
    fresh,
  ]
}

/**
 * Decode every request of one packet, in order; members are decoded when they are read.
 *
 * Texts are slices of the packet's one text, which stays in memory as long as one of them does: an id kept for longer
 * must be a copy (`ownText`). Environments, keys and subtypes are copies already.
 *
 * lying  the rows that fronts have lodged.
 */
export function unpack(
  cells: Packet,
  take: (request: ShardRequest) => void,
  lying: Lodged = nothingLodged,
): void {
  const reading = new Decoder(cells, lying)
  for (let request = reading.next(); request !== null; request = reading.next()) take(request)
}

/** Characters of events from which on a post is a long one: it takes a shard a tenth of a millisecond and more. */
const longTextMin = 16_384
/** Values of their own from which on it is: most are writes of entities, which take a few microseconds each. */
const longThingsMin = 32

/** Events whose rows lie at the shard, from which on it is: then this is the last of its values, which nobody reads. */
const longLodgedMin = 64
const longMark = 'long'

export function isLong([, text, things, received = '']: Packet): boolean {
  if (text.length + received.length >= longTextMin || things.length >= longThingsMin) return true
  return things.length > 0 && things[things.length - 1] === longMark
}

/** The same text on its own, not as a part of a longer one. */
export function ownText(text: string): string {
  return Buffer.from(text).toString()
}

/** Names that come again and again, each kept once. */
const namesMax = 20_000
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= namesMax) names.clear()
  const own = ownText(text)
  names.set(own, own)
  return own
}

/** A packet, on the receiving side. */
class Reading {
  protected at = 0
  private textAt = 0
  private thingAt = 0
  protected readonly numbers: readonly number[]
  private readonly text: string
  private readonly things: readonly unknown[]

  constructor(cells: Packet) {
    this.numbers = cells[0]
    this.text = cells[1]
    this.things = cells[2]
  }

  protected number(): number {
    return this.numbers[this.at++]!
  }

  protected piece(length: number): string {
    const from = this.textAt
    this.textAt = from + length
    return this.text.slice(from, from + length)
  }

  protected pieceOf(): string {
    return this.piece(this.number())
  }

  protected thing(): unknown {
    return this.things[this.thingAt++]
  }
}

class Decoder extends Reading {
  private env = ''
  private apiKeyId = ''
  private received: UsageBatch | null
  private nextRow = 0
  /** Rows of a front that were opened last. */
  private lodging: { readonly front: number; readonly packet: number; readonly uses: UsageBatch } | null =
    null

  constructor(
    private readonly cells: Packet,
    private readonly lying: Lodged,
  ) {
    super(cells)
    this.received = cells.length === 5 ? new UsageBatch(cells[3], cells[4]) : null
  }

  next(): ShardRequest | null {
    if (this.at >= this.numbers.length) return null
    const head = this.number()
    switch (head & 3) {
      case plain:
        return head & uses ? this.uses(head) : this.plain()
      case events:
        return head & uses ? this.lodged(head) : this.events(head)
      default:
        return this.check(head)
    }
  }

  private plain(): ShardRequest {
    const n = this.number()
    return { ...(this.thing() as Unnumbered<ShardRequest>), n } as ShardRequest
  }

  private events(head: number): ShardRequest {
    const n = this.number()
    const at = this.number()
    const receivedAtMs = this.number()
    const count = this.number()
    if (head & otherEnv) this.env = nameOf(this.pieceOf())
    if (head & otherKey) this.apiKeyId = nameOf(this.pieceOf())
    const items: IngestItem[] = []
    for (let i = 0; i < count; i++) items.push(this.event(receivedAtMs))
    return { n, at, events: items }
  }

  private uses(head: number): ShardRequest {
    const n = this.number()
    const at = this.number()
    const count = this.number()
    if (head & otherEnv) this.env = nameOf(this.pieceOf())
    if (head & otherKey) this.apiKeyId = nameOf(this.pieceOf())
    const from = this.nextRow
    this.nextRow += count
    // a front's rows were opened since
    if (this.lodging !== null && !this.received!.isOpen)
      this.received = new UsageBatch(this.cells[3]!, this.cells[4]!)
    return { n, at, env: this.env, apiKeyId: this.apiKeyId, from, count, uses: this.received! }
  }

  private lodged(head: number): ShardRequest | null {
    const n = this.number()
    const at = this.number()
    const front = this.number()
    const packet = this.number()
    const from = this.number()
    const count = this.number()
    if (head & otherEnv) this.env = nameOf(this.pieceOf())
    if (head & otherKey) this.apiKeyId = nameOf(this.pieceOf())
    const uses = this.openLodged(front, packet)
    if (uses === null) {
      this.lying.missing(n)
      return this.next()
    }
    return { n, at, env: this.env, apiKeyId: this.apiKeyId, from, count, uses }
  }

  private openLodged(front: number, packet: number): UsageBatch | null {
    const { lodging } = this
    if (lodging?.front === front && lodging.packet === packet && lodging.uses.isOpen) return lodging.uses
    const found = this.lying.find(front, packet)
    if (found === null) return null
    const uses = new UsageBatch(found.text, found.rows)
    this.lodging = { front, packet, uses }
    return uses
  }

  private event(receivedAtMs: number): IngestItem {
    const head = this.number()
    const idLength = this.number()
    const eventIdLength = this.number()
    const bodyLength = this.number()
    const actorId = this.piece(idLength)
    const id = this.piece(eventIdLength)
    const body = this.piece(bodyLength)
    const idempotencyKey = head & hasKey ? this.pieceOf() : null
    const userId = head & hasUser ? this.pieceOf() : null
    const companyId = head & sameCompany ? actorId : head & hasCompany ? this.pieceOf() : null
    const subtype = head & hasSubtype ? nameOf(this.pieceOf()) : null
    const quantity = head & hasQuantity ? this.quantity() : 1
    const rare = head & isRare ? (this.thing() as Rare) : null
    const event: AcceptedEvent = {
      id,
      type: eventTypes[(head >> typeShift) & 7]!,
      subtype,
      body,
      quantity,
      mode: rare === null ? 'normal' : rare[0],
      capturedAtMs: rare === null ? receivedAtMs : rare[1],
      sentAtMs: rare === null ? null : rare[2],
      receivedAtMs,
      apiKeyId: this.apiKeyId,
      idempotencyKey,
      companyId,
      userId,
      leaseId: rare === null ? null : rare[5],
      reservationId: rare === null ? null : rare[6],
      failure: rare === null ? null : rare[3],
      derivedFrom: rare === null ? null : rare[4],
      inference: rare === null ? null : rare[7],
    }
    return {
      k: kinds[head & 3]!,
      id: actorId,
      env: this.env,
      fresh: rare?.[8] ?? false,
      m: { type: 'event', event, write: null, joins: [] },
    }
  }

  /** One that no number holds is NaN, and its digits. */
  private quantity(): Quantity {
    const quantity = this.number()
    return Number.isNaN(quantity) ? quantityFromText(this.pieceOf()) : quantity
  }

  private check(head: number): ShardRequest {
    const n = this.number()
    const at = this.number()
    const userLength = this.number()
    const askedLength = this.number()
    const userId = userLength === 0 ? null : this.piece(userLength)
    const asked = this.piece(askedLength)
    if (head & otherEnv) this.env = nameOf(this.pieceOf())
    const id = head & ofEnv ? this.env : this.pieceOf()
    const flagKey = (head & 3) === check ? this.pieceOf() : ''
    const userTraits = head & hasThings ? (this.thing() as CheckContext['userTraits']) : null
    const preflight = head & hasThings ? this.thing() : null
    const context: CheckContext = {
      companyGiven: (head & companyGiven) !== 0,
      userGiven: (head & userGiven) !== 0,
      asked,
      userId,
      userTraits,
    }
    const m: Question =
      (head & 3) === check
        ? {
            type: 'check',
            timed: (head & isSpecial) !== 0,
            flagKey,
            preflight: preflight as Extract<Question, { readonly type: 'check' }>['preflight'],
            context,
          }
        : { type: 'check_all', whole: (head & isSpecial) !== 0, context }
    return { n, k: kinds[(head >> 2) & 3]!, id, env: this.env, at, fresh: false, m }
  }
}

/**
 * Why a request failed for now (503). `doubtful`: its record was being written when the disk failed, and may be found
 * there after all; the shard says when it is known (notice `mended`). `not_found`: its environment is deleted (404).
 */
export type Unavailable = 'store_away' | 'overloaded' | 'starting' | 'doubtful' | 'not_found'

/** Callbacks for each reply of a packet. */
export interface ReplyHandler {
  /** `sequence`: where it became durable, 0 for reads. A reply in bytes is valid until this returns. */
  answered(n: number, reply: unknown, sequence: number): void
  /**
   * A cacheable text, valid until `untilMs` (epoch ms) if nothing happens.
   *
   * figures  it may show usage figures of its company: then any use ends it, too.
   */
  cacheable(n: number, reply: string, untilMs: number, figures: boolean): void
  refused(n: number, refusal: Refusal, detail: string | undefined): void
  failed(n: number, reason: Unavailable, detail: string | undefined): void
}

// Layout of a reply: its number, one of these kinds, its sequence or TTL, then the kind's own values.
const empty = 0
const text = 1
const thing = 2
const refusal = 3
const failure = 4
const cacheable = 5
const cacheableFigures = 6
const longCacheable = 7
const longCacheableFigures = 8
const placed = 9
/**
 * Longer replies are texts of their own. Ten answers of 20 kB in one text cost both threads four times as much: such a
 * text has pages of its own, which are mapped and zeroed each time.
 */
const joinedMax = 2_048

/** Replies that leave together. */
export class Replies extends Writing implements ReplyHandler {
  private readonly ring: ReplyRing | null

  /** ring: the memory that takes whole bodies of responses (reply-ring.ts); null: they cross as texts. */
  constructor(ring: SharedArrayBuffer | null = null) {
    super()
    this.ring = ring && new ReplyRing(ring)
  }

  answered(n: number, reply: unknown, sequence: number): void {
    if (reply === null) this.numbers.push(n, empty, sequence)
    else if (typeof reply === 'string' && reply.length <= joinedMax) {
      this.numbers.push(n, text, sequence, reply.length)
      this.text += reply
    } else {
      this.numbers.push(n, thing, sequence)
      this.things.push(reply)
    }
  }

  cacheable(n: number, reply: string, untilMs: number, figures: boolean): void {
    if (reply.length > joinedMax) {
      this.numbers.push(n, figures ? longCacheableFigures : longCacheable, untilMs)
      this.things.push(reply)
      return
    }
    this.numbers.push(n, figures ? cacheableFigures : cacheable, untilMs, reply.length)
    this.text += reply
  }

  /**
   * The data of a read, as the whole body of its response: bytes in the ring where there is room for it.
   *
   * stays    it will be given again.
   * returns  their place, until the next call; null: the body crosses as a text.
   */
  whole(n: number, data: string, stays: boolean): Place | null {
    const body = `{"data":${data},"params":{}}`
    const place = this.ring === null ? null : this.ring.write(body, stays)
    if (place === null) this.answered(n, body, 0)
    else this.numbers.push(n, placed, place.from, place.length)
    return place
  }

  /** A whole body once more, if it is still in the ring; else false. */
  again(n: number, place: Place): boolean {
    if (!this.has(place)) return false
    this.ring!.again(place)
    this.numbers.push(n, placed, place.from, place.length)
    return true
  }

  /** Whether a whole body is still in the ring. */
  has(place: Place): boolean {
    return this.ring?.isThere(place) ?? false
  }

  refused(n: number, reason: Refusal, detail?: string): void {
    this.numbers.push(n, refusal, 0)
    this.things.push(reason, detail)
  }

  failed(n: number, reason: Unavailable, detail?: string): void {
    this.numbers.push(n, failure, 0)
    this.things.push(reason, detail)
  }
}

/** Hand over every reply of one post, in order. `ring`: the shard's, where it has one. */
export function decodeReplies(cells: Packet, hearing: ReplyHandler, ring: ReplyRing | null = null): void {
  new Heard(cells).tell(hearing, ring)
}

class Heard extends Reading {
  tell(hearing: ReplyHandler, ring: ReplyRing | null): void {
    while (this.at < this.numbers.length) {
      const n = this.number()
      const how = this.number()
      const sequence = this.number()
      if (how === placed) {
        const place = { from: sequence, length: this.number() }
        hearing.answered(n, ring!.view(place), 0)
        ring!.release()
      } else if (how === empty) hearing.answered(n, null, sequence)
      else if (how === text) hearing.answered(n, this.pieceOf(), sequence)
      else if (how === cacheable || how === cacheableFigures)
        hearing.cacheable(n, this.pieceOf(), sequence, how === cacheableFigures)
      else if (how === longCacheable || how === longCacheableFigures)
        hearing.cacheable(n, this.thing() as string, sequence, how === longCacheableFigures)
      else if (how === thing) hearing.answered(n, this.thing(), sequence)
      else if (how === refusal)
        hearing.refused(n, this.thing() as Refusal, this.thing() as string | undefined)
      else hearing.failed(n, this.thing() as Unavailable, this.thing() as string | undefined)
    }
  }
}

/** Every one of these replies as a failure. */
export function allFailed(replies: Packet, reason: Unavailable, detail: string): Packet {
  const failed = new Replies()
  const fail = (n: number) => failed.failed(n, reason, detail)
  decodeReplies(replies, { answered: fail, cacheable: fail, refused: fail, failed: fail })
  return failed.take()
}

// Events that a front reads and acknowledges itself: of the usual kind, from a server's key. Their rows go to the shards, and the
// main thread claims their keys and has the shards append them (wire/front-uses.ts). All others are passed on: a body in another
// format or too long, an event of another type, a company or user that is not known, a key that was used before.
//
//   body ─▶ scanned ─▶ companies, users, hashes of keys ─▶ shards and main thread, one message per turn ─▶ acknowledgement
import { nextRandom, random } from '../../src/account/ids.js'
import { printOf } from '../../src/core/values/fingerprint.js'
import { shardOf } from '../../src/core/values/id.js'
import type { NameReader } from '../../src/entities/directory/name-reader.js'
import { NamePlace } from '../../src/entities/idempotency/name-place.js'
import { PendingReplies } from '../../src/entities/shards/pending-replies.js'
import { ServiceError } from '../../src/errors.js'
import type { Scanned, ScannedKeys } from '../../src/events/scan.js'
import {
  acknowledgement,
  acknowledgements,
  answerEnd,
  answerStart,
} from '../../src/front/events/acknowledgements.js'
import { largeBytes } from '../../src/front/events/parsing/parser-pool.js'
import { fill, found, scan, scanList, scanOne, use } from '../../src/front/events/usual-body.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import type { Head } from '../../src/front/http/request/head.js'
import { LongBodies, longBytes } from '../../src/front/http/request/long-bodies.js'
import { forwardedAddress } from '../../src/front/http/routing/headers.js'
import { decodeUtf8 } from '../../src/json.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'
import { type UsesRefusal, UsesWriter } from '../../src/wire/front-uses.js'
import type { ToFront } from '../../src/wire/passed.js'
import { OwnRequest, type OwnRequests, type PlainHead, routes } from './own-request.js'
import type { ShardPorts } from './shard-ports.js'

interface EventsParts {
  readonly requests: OwnRequests
  readonly names: NameReader
  readonly shards: ShardPorts
  /** Number of shards. */
  readonly count: number
  /** Proxies in front. */
  readonly trustProxy: number
  /** Bytes of long bodies that may be read here at a time. */
  readonly bodiesBytesMax: number
}

/** The outcome of the events of requests, from the main thread. */
type Outcome = Extract<ToFront, readonly [op: 'durable' | 'untaken' | 'undone', ...unknown[]]>

export class FrontEvents {
  readonly longBodies = new LongBodies()
  private readonly packet: UsesWriter
  private readonly waiting = new PendingReplies<Events>()
  private readonly place = new NamePlace()
  private flushing = false
  /** Bytes of long bodies of requests without an answer. */
  heldBytes = 0

  constructor(readonly parts: EventsParts) {
    this.packet = new UsesWriter(parts.count)
  }

  /** POST /events */
  readonly one = (res: AppResponse, req: AppRequest): void => this.begin(routes.event, res, req, longBytes)

  /** POST /event-batch */
  readonly batch = (res: AppResponse, req: AppRequest): void => this.begin(routes.batch, res, req, largeBytes)

  private begin(route: 2 | 3, res: AppResponse, req: AppRequest, bodyMax: number): void {
    this.parts.requests.begin(route, res, req, bodyMax, this.isPlain, (facts, head) =>
      facts.events === null ? null : new Events(this, route, facts, head, res),
    )
  }

  private readonly isPlain = ({ contentType, contentLength, cloudVersion }: Head): boolean => {
    if (cloudVersion !== '' || !(contentType === '' || contentType === 'application/json')) return false
    const bytes = Number(contentLength)
    return bytes < longBytes || this.heldBytes + bytes <= this.parts.bodiesBytesMax
  }

  hear(said: Outcome): void {
    if (said[0] === 'durable') {
      for (const n of said[1]) this.waiting.take(n)?.durable(said[2])
      return
    }
    const waiting = this.waiting.take(said[1])
    if (said[0] === 'untaken') waiting?.untaken()
    else waiting?.undone(said[2])
  }

  /**
   * Send events that were scanned.
   *
   * returns  the 64 bits of each one's id; null: one asks for more than is done here.
   */
  send(request: Events, facts: KeyFacts, count: number): Uint32Array | null {
    const { packet, parts } = this
    // before anything is looked up: what moves or is deleted meanwhile raises it
    const { keyEpoch } = parts.names
    const ids = new Uint32Array(2 * count)
    let { text } = scan
    for (let i = 0; i < count; i++) {
      const one = found[i]!
      if (!this.findWhose(facts, one)) {
        packet.drop()
        return null
      }
      nextRandom()
      ids[2 * i] = random.high
      ids[2 * i + 1] = random.low
      text = fill(one, text)
      const shard = parts.count === 1 ? 0 : shardOf(use.companyId, parts.count)
      if (one.keyEnd > one.keyAt) packet.add(use, shard, this.placeOf(facts, one), this.printOf(one))
      else packet.add(use, shard, null, 0)
    }
    const n = this.waiting.add(request)
    packet.end({ n, key: facts.events!.number, edition: facts.edition, keyEpoch }, text)
    if (!this.flushing) {
      this.flushing = true
      setImmediate(this.flush)
    }
    return ids
  }

  private readonly flush = (): void => {
    this.flushing = false
    const { shards, requests } = this.parts
    // the rows first: a shard has them when the main thread says that it takes them
    requests.parts.out.sayNow(['uses', this.packet.take(shards.lodge)])
  }

  private placeOf({ environmentId }: KeyFacts, { keyAt, keyEnd }: Scanned): NamePlace {
    this.place.hash(environmentId, scan.text.slice(keyAt, keyEnd))
    return this.place
  }

  private printOf({ nameAt, nameEnd, quantity }: Scanned): number {
    return printOf('track', scan.text, nameAt, nameEnd, quantity, use.companyId)
  }

  /** Find whose event it is: in `use` then. The main thread looks whether its user is the company's. */
  private findWhose(facts: KeyFacts, one: Scanned): boolean {
    const companyId = this.find('company', facts, one.company)
    if (companyId === null) return false
    use.companyId = companyId
    use.userId = one.user.count === 0 ? null : this.find('user', facts, one.user)
    return use.userId !== null || one.user.count === 0
  }

  private find(kind: 'company' | 'user', facts: KeyFacts, keys: ScannedKeys): string | null {
    const { names } = this.parts
    if (keys.count === 1) return names.findSent(kind, facts, scan, keys)
    if (keys.count === 0) return null
    return names.find(kind, facts, JSON.parse(scan.text.slice(keys.at, keys.end)))
  }
}

/** The events of one request. */
class Events extends OwnRequest {
  /** The body, one character for each byte. */
  private text = ''
  private ids: Uint32Array = noIds
  private remoteIp = ''
  private reserved = 0

  constructor(
    private readonly front: FrontEvents,
    private readonly kind: 2 | 3,
    facts: KeyFacts,
    head: PlainHead,
    res: AppResponse,
  ) {
    super(front.parts.requests, kind, facts, head, res, facts.events!.budgets)
    const bytes = Number(head.contentLength)
    if (bytes < longBytes) return
    this.reserved = bytes
    front.heldBytes += bytes
  }

  protected get url(): string {
    return this.kind === routes.event ? '/events' : '/event-batch'
  }

  protected read(body: Buffer): void {
    this.remoteIp = this.address()
    if (body.length < longBytes) return this.scanned(body)
    // the server uses its memory again
    const own = Buffer.from(body)
    this.front.longBodies.add(own.length, () => {
      if (!this.isOver) this.attempt(own, () => this.scanned(own))
    })
  }

  private scanned(body: Buffer): void {
    const count = this.kind === routes.event ? (scanOne(body, true) === null ? 0 : 1) : listed(body)
    const ids = count === 0 ? null : this.front.send(this, this.facts, count)
    const { text } = scan
    scan.end()
    if (ids === null) return this.passOn(body, count === 0 ? 'body' : 'names')
    this.text = text
    this.ids = ids
  }

  /** The address of its caller, as the main thread would tell it. */
  private address(): string {
    const { trustProxy, requests } = this.front.parts
    const { forwardedFor } = this.head
    const forwarded = trustProxy > 0 && forwardedFor !== '' ? forwardedAddress(forwardedFor, trustProxy) : ''
    return forwarded !== '' ? forwarded : requests.parts.passing.addressOf(this.res)
  }

  durable(nowMs: number): void {
    if (this.isOver) return
    const { ids, kind, remoteIp } = this
    const to = { nowMs, remoteIp, userAgent: this.head.userAgent }
    if (kind === routes.event) return this.answer(201, this.headers, acknowledgement(to, ids[0]!, ids[1]!))
    const listed = { ids, count: ids.length / 2 }
    this.answer(201, this.headers, acknowledgements(to, listed, false, [], answerStart, answerEnd))
  }

  untaken(): void {
    if (!this.isOver) this.passOn(Buffer.from(this.text, 'latin1'), 'claims')
  }

  undone({ code, message, extra, retryAfterSeconds }: UsesRefusal): void {
    if (this.isOver) return
    const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
    this.refuse(
      new ServiceError(code, message, { ...more, ...(extra !== undefined && { extra: { ...extra } }) }),
    )
  }

  protected override end(): void {
    super.end()
    this.text = ''
    this.front.heldBytes -= this.reserved
    this.reserved = 0
  }
}

/** Events of a body that are all usual, and in `found`; 0: they are not. */
function listed(body: Buffer): number {
  const { count, whole } = scanList(decodeUtf8(body), body.length, true, null)
  return whole ? count : 0
}

const noIds = new Uint32Array(0)

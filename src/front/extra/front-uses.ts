// Events that extra fronts have read. Their keys are claimed here, in the one window that all fronts share, and in the same turn
// the shards are told to take the rows that lie there (wire/front-uses.ts). So what a death of a front, a shard or the process
// costs is the same for all: claims belong to this thread, and rows are appended in the order of its messages.
import type { FailedEvent } from '../../core/model/message.js'
import type { Undelivered } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Services } from '../../kit/services.js'
import type { Logger } from '../../log.js'
import { toFailure } from '../../storage/failure.js'
import { type PackedRequest, type UsesPacket, UsesReader } from '../../wire/front-uses.js'
import type { OutgoingLodged } from '../../wire/message-codec.js'
import type { ToFront } from '../../wire/passed.js'
import { Claims, nothingUndone, type Sender } from '../events/claims.js'
import { internalError } from '../http/request/respond.js'
import type { ToldKeys } from './told-keys.js'

/** How often failures are logged, ms. */
const tellMs = 1_000

type Say = (one: ToFront) => void

const reader = new UsesReader()

/** Rows of events at one shard, which follow each other. */
interface Part {
  readonly shard: number
  /** The first one in the packet. */
  readonly from: number
  count: number
}

/** A request of one event, until all of its packet are claimed. */
interface Single {
  readonly n: number
  readonly sender: Sender
  /** Its event in the packet. */
  readonly event: number
  /** Its row at the shard. */
  readonly row: number
  readonly companyId: string
  readonly userId: string | null
}

/** A packet while its requests are looked at. */
interface Lodging {
  readonly front: number
  readonly packet: number
  readonly generations: readonly number[]
  readonly say: Say
  /** By shard: rows of the requests until now. */
  readonly rows: number[]
  /** By shard. */
  readonly singles: readonly Single[][]
  /** Shards that take some of them. */
  readonly takers: Set<number>
  /** The last request that was looked at, and its sender. */
  last: { readonly request: PackedRequest; readonly sender: Sender | null } | null
}

export class FrontUses {
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly services: Services,
    private readonly told: ToldKeys,
    private readonly log: Logger,
  ) {}

  /**
   * Take the events of each request, or tell that they must be passed on. Single events whose rows follow each other at a
   * shard are taken by one message, and told of by another one.
   *
   * front  the number of the one that has read them.
   */
  take(packet: UsesPacket, front: number, say: Say): void {
    const { shards } = this.services
    const { generations } = packet
    const lodging: Lodging = {
      front,
      packet: packet.packet,
      generations,
      say,
      rows: generations.map(() => 0),
      singles: generations.map(() => []),
      takers: new Set(),
      last: null,
    }
    reader.read(packet, (request, from) => {
      if (request.count === 1) this.lookAtSingle(lodging, request, from)
      else this.takeRequest(lodging, request, from)
    })
    for (const [shard, singles] of lodging.singles.entries())
      if (singles.length > 0) this.takeSingles(lodging, shard, singles)
    for (const [shard, rows] of lodging.rows.entries())
      if (rows > 0 && !lodging.takers.has(shard)) shards.lodgingOver(shard, front, lodging.packet)
  }

  private lookAtSingle(lodging: Lodging, request: PackedRequest, event: number): void {
    const shard = reader.shard(event)
    const row = lodging.rows[shard]!++
    const sender = this.senderOf(lodging, request)
    const { n } = request
    const serves = this.services.shards.takesFrom(shard, lodging.generations[shard]!)
    if (sender === null || !serves || !mayTake(sender, request, event)) return lodging.say(['untaken', n])
    const companyId = reader.companyId(event)
    lodging.singles[shard]!.push({ n, sender, event, row, companyId, userId: reader.userId(event) })
  }

  private takeSingles(lodging: Lodging, shard: number, singles: readonly Single[]): void {
    const { dedupe, userSeen } = this.services
    for (const [i, { event, sender }] of singles.entries()) this.prepare(i, event, sender)
    dedupe.siftPrepared(singles.length)
    let taking: Taking | null = null
    for (const [i, { n, sender, event, row, companyId, userId }] of singles.entries()) {
      if (taking === null || !taking.isFollowedBy(sender, row)) {
        taking?.send()
        taking = new Taking(sender, lodging, [{ shard, from: row, count: 0 }], singles.length - i, this.fails)
      }
      taking.numbers.push(n)
      try {
        // those before it in the packet may have had the last places
        const hasRoom = dedupe.room(sender.environmentId, false) > 0
        if (hasRoom && taking.claim(i, event, companyId)) {
          taking.parts[0]!.count++
          if (userId !== null) userSeen.note(userId, sender.environmentId, sender.nowMs)
          continue
        }
        taking.numbers.pop()
        lodging.say(['untaken', n])
      } catch (error) {
        taking.drop()
        this.fails(taking, error)
        taking = null
      }
    }
    taking?.send()
  }

  private takeRequest(lodging: Lodging, request: PackedRequest, from: number): void {
    const parts = partsOf(lodging, request, from)
    const sender = this.senderOf(lodging, request)
    const { shards } = this.services
    const serve = parts.every(({ shard }) => shards.takesFrom(shard, lodging.generations[shard]!))
    if (sender === null || !serve || !mayTake(sender, request, from))
      return lodging.say(['untaken', request.n])
    const taking = new Taking(sender, lodging, parts, request.count, this.fails)
    taking.numbers.push(request.n)
    try {
      if (this.claimAll(taking, request, from)) return taking.send()
    } catch (error) {
      taking.drop()
      return this.fails(taking, error)
    }
    taking.drop()
    lodging.say(['untaken', request.n])
  }

  /** Claim the keys of the events from one on; false: one of them was used before. The usual way acknowledges it. */
  private claimAll(taking: Taking, { count }: PackedRequest, from: number): boolean {
    const { sender } = taking
    const { dedupe, userSeen } = this.services
    for (let i = 0; i < count; i++) this.prepare(i, from + i, sender)
    dedupe.siftPrepared(count)
    /** An actor of each shard: claims are settled by shard. */
    const owners: string[] = []
    for (let i = 0; i < count; i++) {
      const event = from + i
      const shard = reader.shard(event)
      owners[shard] ??= reader.companyId(event)
      if (!taking.claim(i, event, owners[shard])) return false
    }
    for (let event = from; event < from + count; event++) {
      const userId = reader.userId(event)
      if (userId !== null) userSeen.note(userId, sender.environmentId, sender.nowMs)
    }
    return true
  }

  /** Prepare the key of an event under a number. */
  private prepare(n: number, event: number, { environmentId }: Sender): void {
    if (!reader.isKeyed(event)) return
    const { dedupe } = this.services
    dedupe.preparePlace(n, environmentId, reader.segment(event), reader.tag(event), reader.middle(event))
  }

  /** The sender of a request; null: what the front knew of it holds no longer. */
  private senderOf(lodging: Lodging, request: PackedRequest): Sender | null {
    const { key, edition, keyEpoch } = request
    const before = lodging.last?.request
    if (before?.key !== key || before.edition !== edition || before.keyEpoch !== keyEpoch)
      lodging.last = { request, sender: this.findSender(request) }
    return lodging.last!.sender
  }

  private findSender({ key, edition, keyEpoch }: PackedRequest): Sender | null {
    const { services } = this
    const known = this.told.find(key, edition)
    if (known === null || services.directory.keyEpoch !== keyEpoch) return null
    const { environmentId } = known
    const nowMs = services.clock.now(environmentId)
    return { services, key: known.key, environmentId, nowMs, remoteIp: '', userAgent: '', signed: null }
  }

  /** Tell that the events of requests did not become durable, or that it is not known. */
  private readonly fails = ({ numbers, say }: Taking, thrown: unknown): void => {
    const error = toFailure(thrown)
    const isKnown = error instanceof ServiceError
    if (!isKnown) this.log.error({ err: error }, 'failed')
    else if (performance.now() - this.toldMs > tellMs) {
      this.toldMs = performance.now()
      this.log.warn({ reason: error.message, err: error.cause }, 'unavailable')
    }
    const { code, message, extra, retryAfterSeconds } = isKnown ? error : internalError
    for (const n of numbers) say(['undone', n, { code, message, extra, retryAfterSeconds }])
  }
}

/** Whether nothing stands in the way of a request's events; the usual way tells what does. */
function mayTake({ services, environmentId }: Sender, { count }: PackedRequest, from: number): boolean {
  const { backlog, dedupe, directory } = services
  if (backlog.full || dedupe.room(environmentId, false) < count) return false
  const isStill = !directory.hasUnconfirmed
  for (let event = from; event < from + count; event++) {
    const userId = reader.userId(event)
    if (userId === null && isStill) continue
    const companyId = reader.companyId(event)
    if (userId !== null && !directory.isMember(userId, companyId)) return false
    if (isStill) continue
    if (directory.isUnconfirmed(companyId) || (userId !== null && directory.isUnconfirmed(userId)))
      return false
  }
  return true
}

/** The rows of a request by shard; the packet's are counted on. */
function partsOf({ rows }: Lodging, { count }: PackedRequest, from: number): readonly Part[] {
  const parts: Part[] = []
  for (let event = from; event < from + count; event++) {
    const shard = reader.shard(event)
    let part = parts.find(one => one.shard === shard)
    if (part === undefined) {
      part = { shard, from: rows[shard]!, count: 0 }
      parts.push(part)
    }
    part.count++
    rows[shard]!++
  }
  return parts
}

/** Events that are claimed together: all events of one request, or single events whose rows follow each other at a shard. */
class Taking {
  /** The requests. */
  readonly numbers: number[] = []
  readonly say: Say
  private readonly claims: Claims
  private count = 0

  /** expected: events that will probably be claimed. */
  constructor(
    readonly sender: Sender,
    private readonly lodging: Lodging,
    readonly parts: readonly Part[],
    expected: number,
    private readonly fails: (taking: Taking, error: unknown) => void,
  ) {
    this.say = lodging.say
    this.claims = new Claims(sender, expected)
  }

  /** Whether a single event is one more of these. row: at their shard. */
  isFollowedBy(sender: Sender, row: number): boolean {
    const { from, count } = this.parts[0]!
    return sender === this.sender && row === from + count
  }

  /**
   * Claim the key of an event, prepared under a number; false: it was used before, and the event is none of these.
   *
   * owner  an actor of its shard.
   */
  claim(prepared: number, event: number, owner: string): boolean {
    const { claims } = this
    const isClaimed =
      !reader.isKeyed(event) ||
      claims.claimPrepared(
        prepared,
        reader.idHigh(event),
        reader.idLow(event),
        reader.print(event),
        owner,
      ) === null
    if (isClaimed) this.count++
    return isClaimed
  }

  /** Nothing is sent: the keys are free again. */
  drop(): void {
    this.claims.abandon()
  }

  /** Have the shards take the rows. */
  send(): void {
    const { sender, lodging, parts, count } = this
    if (count === 0) return
    const { shards } = sender.services
    for (const { shard } of parts) lodging.takers.add(shard)
    if (count === 1) {
      const [part] = parts
      shards.putLodged(part!.shard, this.lodged(part!), {
        resolve: ({ reply }) => {
          if (reply !== null) this.failed(reply as readonly FailedEvent[])
          this.committed()
        },
        reject: error => this.giveUp([{ owns: () => true, error }]),
      })
      return
    }
    const fates = parts.map(part =>
      shards.ingestLodged(part.shard, this.lodged(part), failed => this.failed(failed)),
    )
    Promise.all(fates)
      .then(all => {
        const undelivered = all.flat()
        if (undelivered.length > 0) this.giveUp(undelivered)
        else this.committed()
      })
      .catch(error => this.fails(this, error))
  }

  private lodged({ from, count }: Part): OutgoingLodged {
    const { environmentId, key, nowMs } = this.sender
    const { front, packet } = this.lodging
    return { at: nowMs, env: environmentId, apiKeyId: key.id, front, packet, from, count }
  }

  private failed(events: readonly FailedEvent[]): void {
    this.claims.failed(events)
  }

  private committed(): void {
    const { count, numbers, say, sender } = this
    const { events } = sender.services.metrics
    this.claims.confirm()
    events.accepted.count += count
    events.applied.count += count
    say(['durable', numbers, sender.nowMs])
  }

  private giveUp(shards: readonly Undelivered[]): void {
    try {
      this.claims.giveUp({ ...nothingUndone, shards })
    } catch (error) {
      this.fails(this, error)
    }
  }
}

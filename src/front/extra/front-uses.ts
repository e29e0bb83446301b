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

/** A part of a request: its rows at one shard. */
interface Part {
  readonly shard: number
  /** Its first row in the packet. */
  readonly from: number
  count: number
}

/** A packet while its requests are looked at. */
interface Lodging {
  readonly front: number
  readonly packet: number
  readonly generations: readonly number[]
  /** By shard: rows of the requests until now. */
  readonly rows: number[]
  /** Shards that take some of them. */
  readonly takers: Set<number>
}

export class FrontUses {
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly services: Services,
    private readonly told: ToldKeys,
    private readonly log: Logger,
  ) {}

  /** Take the events of each request, or tell that they must be passed on. front: the number of the one that has read them. */
  take(packet: UsesPacket, front: number, say: Say): void {
    const { shards } = this.services
    const { generations } = packet
    const lodging: Lodging = {
      front,
      packet: packet.packet,
      generations,
      rows: generations.map(() => 0),
      takers: new Set(),
    }
    reader.read(packet, (request, from) => this.takeRequest(lodging, request, from, say))
    for (const [shard, rows] of lodging.rows.entries())
      if (rows > 0 && !lodging.takers.has(shard)) shards.lodgingOver(shard, front, lodging.packet)
  }

  private takeRequest(lodging: Lodging, request: PackedRequest, from: number, say: Say): void {
    const parts = partsOf(lodging, request, from)
    const sender = this.senderOf(request)
    const { shards } = this.services
    const serve = parts.every(({ shard }) => shards.takesFrom(shard, lodging.generations[shard]!))
    if (sender === null || !serve || !mayTake(sender, request, from)) return say(['untaken', request.n])
    const fails = (error: unknown) => this.failed(request.n, error, say)
    const taking = new Taking(sender, request, lodging, parts, say, fails)
    let isTaken = false
    try {
      isTaken = taking.claim(from)
    } catch (error) {
      taking.drop()
      return fails(error)
    }
    if (isTaken) taking.send()
    else say(['untaken', request.n])
  }

  /** The sender of a request; null: what the front knew of it holds no longer. */
  private senderOf({ key, edition, keyEpoch }: PackedRequest): Sender | null {
    const { services } = this
    const known = this.told.find(key, edition)
    if (known === null || services.directory.keyEpoch !== keyEpoch) return null
    const { environmentId } = known
    const nowMs = services.clock.now(environmentId)
    return { services, key: known.key, environmentId, nowMs, remoteIp: '', userAgent: '', signed: null }
  }

  private failed(n: number, thrown: unknown, say: Say): void {
    const error = toFailure(thrown)
    const isKnown = error instanceof ServiceError
    if (!isKnown) this.log.error({ err: error }, 'failed')
    else if (performance.now() - this.toldMs > tellMs) {
      this.toldMs = performance.now()
      this.log.warn({ reason: error.message, err: error.cause }, 'unavailable')
    }
    const { code, message, extra, retryAfterSeconds } = isKnown ? error : internalError
    say(['undone', n, { code, message, extra, retryAfterSeconds }])
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

/** The events of one request. */
class Taking {
  private readonly claims: Claims

  constructor(
    private readonly sender: Sender,
    private readonly request: PackedRequest,
    private readonly lodging: Lodging,
    private readonly parts: readonly Part[],
    private readonly say: Say,
    private readonly fails: (error: unknown) => void,
  ) {
    this.claims = new Claims(sender, request.count)
  }

  /**
   * Claim the keys of the events from one on; false: one of them was used before, and nothing was done. The usual way
   * acknowledges it.
   */
  claim(from: number): boolean {
    const { sender, request, claims } = this
    const { dedupe, userSeen } = sender.services
    for (let i = 0; i < request.count; i++) {
      const event = from + i
      if (reader.isKeyed(event))
        dedupe.preparePlace(
          i,
          sender.environmentId,
          reader.segment(event),
          reader.tag(event),
          reader.middle(event),
        )
    }
    dedupe.siftPrepared(request.count)
    /** An actor of each shard: claims are settled by shard. */
    const owners: string[] = []
    for (let i = 0; i < request.count; i++) {
      const event = from + i
      if (!reader.isKeyed(event)) continue
      const shard = reader.shard(event)
      owners[shard] ??= reader.companyId(event)
      const [high, low, print] = [reader.idHigh(event), reader.idLow(event), reader.print(event)]
      if (claims.claimPrepared(i, high, low, print, owners[shard]) === null) continue
      this.drop()
      return false
    }
    for (let event = from; event < from + request.count; event++) {
      const userId = reader.userId(event)
      if (userId !== null) userSeen.note(userId, sender.environmentId, sender.nowMs)
    }
    return true
  }

  /** Nothing is sent: the keys are free again. */
  drop(): void {
    this.claims.abandon()
  }

  /** Have the shards take the rows. */
  send(): void {
    const { sender, request, lodging, parts } = this
    const { shards } = sender.services
    for (const { shard } of parts) lodging.takers.add(shard)
    if (request.count === 1) {
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
      .catch(this.fails)
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
    const { count, n } = this.request
    const { events } = this.sender.services.metrics
    this.claims.confirm()
    events.accepted.count += count
    events.applied.count += count
    this.say(['durable', n, this.sender.nowMs])
  }

  private giveUp(shards: readonly Undelivered[]): void {
    try {
      this.claims.giveUp({ ...nothingUndone, shards })
    } catch (error) {
      this.fails(error)
    }
  }
}

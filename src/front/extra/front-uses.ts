// Events that extra fronts have read. Their keys are claimed here, in the one window that all fronts share, and they leave for
// the shards in the same turn, as the main thread's own do. So what a death of a front, a shard or the process costs is the
// same for all: claims belong to this thread.
import type { FailedEvent } from '../../core/model/message.js'
import { UsageBatchWriter } from '../../core/usage/batch.js'
import { differ } from '../../core/values/fingerprint.js'
import { decodeId } from '../../core/values/id.js'
import type { Claim } from '../../entities/idempotency/dedupe.js'
import type { Undelivered } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Services } from '../../kit/services.js'
import type { Logger } from '../../log.js'
import { toFailure } from '../../storage/failure.js'
import { type PackedRequest, type Repeat, type UsesPacket, UsesReader } from '../../wire/front-uses.js'
import type { ToFront } from '../../wire/passed.js'
import { Claims, nothingUndone, type Sender } from '../events/claims.js'
import { internalError } from '../http/request/respond.js'
import type { ToldKeys } from './told-keys.js'

/** How often failures are logged, ms. */
const tellMs = 1_000

type Say = (one: ToFront) => void

const reader = new UsesReader()
/** Rows by shard; taken before anything else runs. */
const lists: UsageBatchWriter[] = []

export class FrontUses {
  private toldMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly services: Services,
    private readonly told: ToldKeys,
    private readonly log: Logger,
  ) {}

  /** Take the events of each request, or tell that they must be passed on. */
  take(packet: UsesPacket, say: Say): void {
    reader.read(packet, (request, from, text) => {
      const sender = this.senderOf(request)
      const fails = (error: unknown) => this.failed(request.n, error, say)
      if (sender === null || !mayTake(sender, request, from)) return say(['untaken', request.n])
      const taking = new Taking(sender, request, say, fails)
      let isTaken = false
      try {
        isTaken = taking.take(from)
      } catch (error) {
        taking.drop()
        return fails(error)
      }
      if (isTaken) taking.send(text)
      else say(['untaken', request.n])
    })
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
  const { rows } = reader
  const isStill = !directory.hasUnconfirmed
  for (let row = from; row < from + count; row++) {
    const userId = rows.userId(row)
    if (userId === null && isStill) continue
    const companyId = rows.companyId(row)
    if (userId !== null && !directory.isMember(userId, companyId)) return false
    if (isStill) continue
    if (directory.isUnconfirmed(companyId) || (userId !== null && directory.isUnconfirmed(userId)))
      return false
  }
  return true
}

/** The events of one request. */
class Taking {
  private readonly claims: Claims
  private repeats: Repeat[] | null = null
  private applied = 0
  /** Rows that follow each other to one shard, and were not added yet. */
  private run = 0
  private shard = 0

  constructor(
    private readonly sender: Sender,
    private readonly request: PackedRequest,
    private readonly say: Say,
    private readonly fails: (error: unknown) => void,
  ) {
    this.claims = new Claims(sender, request.count)
  }

  /** Claim the keys of the events from a row on; false: one repeats a key with other content, and nothing was done. */
  take(from: number): boolean {
    const { sender, request, claims } = this
    const { dedupe, userSeen } = sender.services
    const { rows } = reader
    for (let i = 0; i < request.count; i++) {
      const row = from + i
      if (rows.isKeyed(row))
        dedupe.preparePlace(i, sender.environmentId, reader.segment(row), reader.tag(row), reader.middle(row))
    }
    dedupe.siftPrepared(request.count)
    /** An actor of each shard: claims are settled by shard. */
    const owners: string[] = []
    for (let i = 0; i < request.count; i++) {
      const row = from + i
      const shard = reader.shard(row)
      if (rows.isKeyed(row)) {
        const [high, low, print] = [rows.idHigh(row), rows.idLow(row), reader.print(row)]
        owners[shard] ??= rows.companyId(row)
        const first = claims.claimPrepared(i, high, low, print, owners[shard])
        if (first !== null && differ(first.print, print)) {
          this.drop()
          return false
        }
        if (first !== null) {
          this.repeat(i, first)
          this.add(row)
          continue
        }
      }
      if (this.run === 0 || shard !== this.shard) {
        this.add(row)
        this.shard = shard
      }
      this.run++
      const userId = rows.userId(row)
      if (userId !== null) userSeen.note(userId, sender.environmentId, sender.nowMs)
    }
    this.add(from + request.count)
    return true
  }

  /** Nothing is sent: the keys are free again. */
  drop(): void {
    for (const list of lists) list.clear()
    this.claims.abandon()
  }

  /** Add the rows of the run that ends before a row to their shard's. */
  private add(row: number): void {
    const { run, shard } = this
    if (run === 0) return
    while (lists.length <= shard) lists.push(new UsageBatchWriter())
    lists[shard]!.addPacked(reader.rows, row - run, run)
    this.run = 0
  }

  private repeat(place: number, { eventId, capturedAtMs }: Claim): void {
    const [high, low] = decodeId('evt_', eventId)!
    this.repeats ??= []
    this.repeats.push([place, high, low, capturedAtMs])
  }

  /** Send the events that were taken to their shards. text: the request's body. */
  send(text: string): void {
    const { sender, request, claims } = this
    const { shards } = sender.services
    const { count } = request
    const list = lists.find(one => one.count > 0)
    if (count === 1 && list !== undefined) {
      const uses = this.posted(list, text)
      shards.putUse(lists.indexOf(list), uses, {
        resolve: ({ reply }) => {
          if (reply !== null) this.failed(reply as readonly FailedEvent[])
          this.committed()
        },
        reject: error => this.giveUp([{ owns: () => true, error }]),
      })
      list.clear()
      return
    }
    const fates: Promise<readonly Undelivered[]>[] = []
    for (const [index, one] of lists.entries()) {
      if (one.count === 0) continue
      fates.push(shards.ingestUses(index, this.posted(one, text), failed => this.failed(failed)))
      one.clear()
    }
    Promise.all(fates)
      .then(async all => {
        const undelivered = all.flat()
        if (undelivered.length > 0) return this.giveUp(undelivered)
        if (!claims.waits) return this.committed()
        claims.confirm()
        await claims.others()
        this.committed()
      })
      .catch(this.fails)
  }

  private posted(rows: UsageBatchWriter, text: string) {
    const { environmentId, key, nowMs } = this.sender
    this.applied += rows.count
    return { at: nowMs, env: environmentId, apiKeyId: key.id, text, rows }
  }

  private failed(events: readonly FailedEvent[]): void {
    this.claims.failed(events)
  }

  private committed(): void {
    const { events } = this.sender.services.metrics
    this.claims.confirm()
    events.accepted.count += this.request.count
    events.applied.count += this.applied
    events.duplicate.count += this.repeats?.length ?? 0
    this.say(['durable', this.request.n, this.sender.nowMs, this.repeats])
  }

  private giveUp(shards: readonly Undelivered[]): void {
    try {
      this.claims.giveUp({ ...nothingUndone, shards })
    } catch (error) {
      this.fails(error)
    }
  }
}

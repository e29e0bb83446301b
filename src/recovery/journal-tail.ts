// State of the HTTP thread that the stores do not have yet: read from the end of the journals at start, so that a
// start waits for no projector.
import type { Effect, Fact, TraitIntroduction } from '../core/model/message.js'
import type { Directory, DirectoryKind } from '../entities/directory/directory.js'
import type { UsedKey } from '../entities/idempotency/hold-keys.js'
import { type JournalDisk, nodeDisk } from '../journal/disk.js'
import type { Chunk } from '../journal/frame.js'
import { RecordFlag } from '../journal/journal.js'
import { FileJournalReader } from '../journal/reader.js'
import { loadedAt } from '../journal/records/event-row.js'
import { type FactClaim, FactReader } from '../journal/records/fact-reader.js'
import { journalEnd, listSegments, shardDirectory } from '../journal/segment.js'
import type { Positions } from '../wire/positions.js'

/** The journals of all shards. */
export interface Journals {
  /** Their root. */
  readonly directory: string
  /** Positions of the stores; no projector may move them meanwhile. */
  readonly positions: Positions
  readonly disk?: JournalDisk
}

/** Receives claims that are not yet in ClickHouse. */
export interface ClaimSink {
  /** Called for each, in no order; the object is reused. */
  claim(claim: FactClaim, receivedAtMs: number): void
  /** About how many will come, once that shows: further ones each time. */
  expect(claims: number): void
  /**
   * ClickHouse is away: those that it has are told too, as far back as the journals go (`Tail.claimsSinceMs`).
   * `begins`: there were no other journals before these.
   */
  readonly all?: { readonly begins: boolean } | undefined
}

/** Events received within so long of each other may lie in the journal in either order. */
const disorderMs = 300_000
/** Records after which it shows how many of them claim a key. */
const sampled = 4_096

/**
 * Read every journal from the stores' positions on.
 *
 * returns  changes of entities that Postgres does not have.
 * errors   JournalCorrupt.
 * source   EV-25, EV-26.
 */
export async function readTail(journals: Journals, { claim, expect, all }: ClaimSink): Promise<Tail> {
  const { directory, positions, disk = nodeDisk } = journals
  const tail = new Tail()
  const facts = new FactReader()
  const paths = Array.from({ length: positions.shards }, (_, shard) => shardDirectory(directory, shard))
  // before any shard has begun to write
  const ends = await Promise.all(paths.map(path => journalEnd(disk, path)))
  for (let shard = 0; shard < positions.shards; shard++) {
    const shown = positions.get(shard, 'postgres')
    const first = all ? ((await listSegments(disk, paths[shard]!))[0] ?? 1) : 1
    const stored = all ? first - 1 : positions.get(shard, 'clickhouse')
    let sinceMs = all && (first > 1 || !all.begins) ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    const reader = new FileJournalReader({ directory: paths[shard]!, disk })
    let behind = 0
    let claims = 0
    try {
      for await (const chunk of reader.chunks(Math.min(shown, stored), ends[shard]!))
        for (let i = 0; i < chunk.count; i++) {
          if (chunk.sequence(i) > shown && concerns(chunk, i))
            tail.add(facts.read(chunk.bytes, chunk.factAt(i), chunk.factEnd(i)))
          if (chunk.sequence(i) > stored) {
            if (++behind === sampled) expect((claims / behind) * (ends[shard]! - stored))
            if ((chunk.flags(i) & RecordFlag.event) === 0) continue
            // the window runs by the receipt, which only the row knows; `at` may be shifted by a test clock
            const receivedAtMs = loadedAt(chunk.bytes, chunk.rowAt(i))
            if (sinceMs === Number.POSITIVE_INFINITY) sinceMs = receivedAtMs + disorderMs
            const found = facts.claimed(chunk.bytes, chunk.factAt(i), chunk.factEnd(i))
            if (found === null) continue
            claims++
            claim(found, receivedAtMs)
          }
        }
      tail.claimsSinceMs = Math.max(tail.claimsSinceMs, sinceMs)
    } finally {
      await reader.close()
    }
  }
  return tail
}

/** In a fact with a hold, in either form; and perhaps in others, whose texts are anything. */
const hold = Buffer.from('credit_hold')

/** Whether a record carries what the HTTP thread remembers, but for claims: entities, or a hold that may have a key. */
function concerns(chunk: Chunk, index: number): boolean {
  const flags = chunk.flags(index)
  if (flags & RecordFlag.identity) return true
  return (flags & RecordFlag.ledger) !== 0 && chunk.record(index).fact.includes(hold)
}

/** A pair that rows show with two entities. */
export interface DoublePair {
  readonly kind: DirectoryKind
  readonly environmentId: string
  readonly name: string
  readonly value: string
  readonly owners: readonly [string, string]
}

/** One entity at the end of its journal, as far as the tail says. */
interface Tailed {
  readonly kind: DirectoryKind
  readonly environmentId: string
  /** null: the tail neither made nor deleted it. */
  exists: boolean | null
  /** It was deleted in between. */
  deleted: boolean
  /** Pairs it has now. */
  readonly held: Map<string, string>
  /** Pairs it gave up at some time; it may have taken one back. */
  readonly freed: (readonly [name: string, value: string])[]
  /** Companies that a user joined and left, in order. */
  joins: (readonly [companyId: string, joined: boolean])[]
}

/**
 * Entities as they are after the tail. Facts of one entity are in order, those of two are not: so pairs belong to
 * their last holder, in whatever order the journals are read.
 */
export class Tail {
  private readonly entities = new Map<string, Tailed>()
  private readonly introduced: (readonly [environmentId: string, DirectoryKind, TraitIntroduction])[] = []

  /** All claims of events received since were told; they were read as far back as the journals go. */
  claimsSinceMs = Number.NEGATIVE_INFINITY

  /** Idempotency keys of holds. */
  readonly holdKeys: UsedKey[] = []

  /** A fact that carries more than use. */
  add(fact: Fact): void {
    if (fact.k === 'e') return
    const kind = fact.k === 'c' ? 'company' : 'user'
    for (const effect of fact.fx) this.effect(kind, fact, effect)
  }

  /**
   * Bring a directory filled from Postgres up to here. It may show some of the tail already.
   *
   * doubles  pairs that two entities were shown with: one of them gave it up in the tail.
   */
  applyTo(directory: Directory, doubles: readonly DoublePair[]): void {
    for (const [id, { kind, environmentId, freed, deleted, exists }] of this.entities) {
      directory.free(kind, environmentId, id, freed)
      if (deleted) directory.forget(environmentId, id)
      if (exists === true) directory.load(environmentId, id)
    }
    for (const { kind, environmentId, name, value, owners } of doubles)
      for (const owner of owners)
        if (!this.gaveUp(owner, name, value)) directory.loadPair(kind, environmentId, owner, name, value)
    for (const [id, { kind, environmentId, held, joins }] of this.entities) {
      for (const [name, value] of held) directory.loadPair(kind, environmentId, id, name, value)
      for (const [companyId, joined] of joins)
        if (!joined) directory.leave(id, companyId)
        else if (this.entities.get(companyId)?.exists !== false) directory.join(id, companyId)
    }
  }

  /** Traits that the tail saw for the first time. */
  traits(): readonly (readonly [environmentId: string, DirectoryKind, TraitIntroduction])[] {
    return this.introduced
  }

  private gaveUp(id: string, name: string, value: string): boolean {
    const freed = this.entities.get(id)?.freed
    return freed?.some(pair => pair[0] === name && pair[1] === value) ?? false
  }

  private effect(kind: DirectoryKind, fact: Fact, effect: Effect): void {
    switch (effect.t) {
      case 'created':
        this.of(kind, fact).exists = true
        break
      case 'key': {
        const entity = this.of(kind, fact)
        if (effect.was !== null) entity.freed.push([effect.name, effect.was])
        entity.held.set(effect.name, effect.value)
        break
      }
      case 'key_removed': {
        const entity = this.of(kind, fact)
        entity.freed.push([effect.name, effect.value])
        entity.held.delete(effect.name)
        break
      }
      case 'joined':
        this.of(kind, fact).joins.push([effect.companyId, true])
        break
      case 'left':
        this.of(kind, fact).joins.push([effect.companyId, false])
        break
      case 'deleted': {
        const entity = this.of(kind, fact)
        entity.freed.push(...effect.keys)
        entity.held.clear()
        entity.joins = []
        entity.deleted = true
        entity.exists = false
        break
      }
      case 'credit_hold':
        if (effect.key !== undefined)
          this.holdKeys.push({
            environmentId: fact.env,
            kind: effect.k === 'lease' ? 'extension' : 'reservation',
            key: effect.key,
            companyId: fact.id,
            usedMs: fact.at,
          })
        break
      case 'trait_introduced':
        this.introduced.push([fact.env, kind, effect.trait])
        break
      case 'plan':
      case 'trait':
      case 'named':
      case 'client_trait':
      case 'traits_held':
      case 'touched':
      case 'once':
      case 'seen':
      case 'seen_set':
      case 'used':
      case 'override':
      case 'override_removed':
      case 'override_over':
      case 'overdraft_limit':
      case 'add_ons':
      case 'plan_changed':
      case 'trial_ended':
      case 'schedule':
      case 'subscription':
      case 'subscription_removed':
      case 'cycle_counted':
      case 'credit_grant':
      case 'credit_draw':
      case 'credit_refund':
      case 'credit_commit':
      case 'credit_release':
      case 'credit_zero_out':
      case 'credit_transfer':
      case 'credit_enrol':
      case 'credit_renew':
      case 'credit_topup':
      case 'credit_external':
        break
    }
  }

  private of(kind: DirectoryKind, { id, env }: Fact): Tailed {
    let entity = this.entities.get(id)
    if (entity === undefined) {
      entity = {
        kind,
        environmentId: env,
        exists: null,
        deleted: false,
        held: new Map(),
        freed: [],
        joins: [],
      }
      this.entities.set(id, entity)
    }
    return entity
  }
}

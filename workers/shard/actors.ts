// The actors of one shard: in memory or not, changed since their snapshot or not; loading and eviction.
import type { Catalog } from '../../src/core/catalog.js'
import { newCompany, presentOf } from '../../src/core/company/company.js'
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import { newUser } from '../../src/core/company/user.js'
import type { CompiledVersion } from '../../src/core/entitlements/entitlement.js'
import type { CreditAccount } from '../../src/core/model/account-state.js'
import type { Company, PlanHolding } from '../../src/core/model/company-state.js'
import type { User } from '../../src/core/model/entity-state.js'
import { CachedPredicates } from '../../src/core/rules/read-set.js'
import type { GrantIdBytes } from '../../src/journal/records/draw-encoder.js'
import { ownText } from '../../src/wire/message-codec.js'

/** An actor in memory. An environment's own actor has no state: it only keeps records. */
export type Actor =
  | {
      readonly k: 'c'
      readonly state: Company
      tick: number
      /** Until when nothing happens to it by time alone, epoch ms, as found under an edition of the catalog. */
      settledUntilMs: number
      settledUnder: number
      /** Where its last simple draw came from; null before the first. */
      drawing: Drawing | null
      /**
       * Read set of the cacheable answers: which of them show usage figures, and their comparisons; null: no answers.
       */
      answeredFigures: Answered
      answeredTests: CachedPredicates | null
      /** The figures of its last outline, which the asker keeps; null: none. They hold while `answeredFigures` is `view`. */
      outlined: Outlined | null
    }
  | { readonly k: 'u'; readonly state: User; tick: number }

/** Cacheable answers with usage figures that were given of a company: none, checks, or its view as well. */
export const answered = { none: 0, checks: 1, view: 2 } as const
export type Answered = (typeof answered)[keyof typeof answered]

/** A view of a company is given: any use ends what it shows. Figures given before a change are no longer the same. */
export function showFigures(actor: CompanyActor): void {
  if (actor.answeredFigures === answered.view) return
  actor.answeredFigures = answered.view
  actor.outlined = null
}

/** When a message of this time counts for an actor, epoch ms (decision 22). */
export function timeOf(actor: Actor, atMs: number): number {
  return actor.k === 'c' ? presentOf(actor.state, atMs) : atMs
}

/** That of a company. */
export type CompanyActor = Extract<Actor, { readonly k: 'c' }>

/** Figures of a company's outline, and what they rest on beside its use. */
interface Outlined {
  /** Names them. */
  readonly mark: string
  /** That of the catalog. */
  readonly edition: number
  /** When they hold, [fromMs, untilMs), epoch ms. */
  readonly fromMs: number
  readonly untilMs: number
  /** Names of the traits that entitlements read. */
  readonly traits: ReadonlySet<string>
}

/** The grants a company draws from, while it has this plan alone, under this catalog. */
interface Drawing {
  readonly plan: PlanHolding
  readonly catalog: Catalog
  readonly version: CompiledVersion
  readonly account: CreditAccount
  /** The id of the grant drawn from last; null before the first. */
  grant: GrantIdBytes | null
}

/** A company just loaded: its next change by time and the read set of earlier answers are unknown. */
export function companyActor(state: Company, tick: number): CompanyActor {
  return {
    k: 'c',
    state,
    tick,
    settledUntilMs: 0,
    settledUnder: 0,
    drawing: null,
    answeredFigures: answered.view,
    answeredTests: CachedPredicates.unknown,
    outlined: null,
  }
}

/**
 * Actors by id. Invariant: an actor that is not in memory has a snapshot in Postgres that includes all its facts,
 * unless its id is in `lost`: then the facts after its snapshot are still only in the journal.
 */
export class Actors {
  private readonly byId = new Map<string, Actor>()
  /** Changed since their last snapshot. */
  readonly dirty = new Set<Actor>()
  /** Forgotten after a failed append: to be loaded with the journal's tail. */
  readonly lost = new Set<string>()
  /** Raised by every batch; an actor's tick is the last batch that touched it. */
  tick = 0
  /** Raised when actors leave memory. While it stands, an actor that was absent and still is was not in memory in between. */
  departures = 0

  constructor(private readonly actorsMax: number) {}

  get size(): number {
    return this.byId.size
  }

  get(id: string): Actor | undefined {
    const actor = this.byId.get(id)
    if (actor) actor.tick = this.tick
    return actor
  }

  /** An actor that has no facts yet. */
  make(k: 'c' | 'u', givenId: string, environmentId: string): Actor {
    const id = ownText(givenId)
    const actor: Actor =
      k === 'c'
        ? companyActor(newCompany(id, environmentId), this.tick)
        : { k, state: newUser(id, environmentId), tick: this.tick }
    this.byId.set(id, actor)
    return actor
  }

  /** Actors that do not exist, for those ids in a request that storage does not know. */
  makeAbsent(request: ShardRequest, ids: ReadonlySet<string>): void {
    const wanted = 'events' in request ? request.events : 'm' in request ? [request] : []
    for (const { k, id, env } of wanted) if (k !== 'e' && ids.has(id) && !this.get(id)) this.make(k, id, env)
  }

  /** One that was loaded, unless it is in memory already, where it may have changed since; returns the one in memory. */
  addAbsent(actor: Actor): Actor {
    const had = this.get(actor.state.id)
    if (had !== undefined) return had
    this.byId.set(actor.state.id, actor)
    return actor
  }

  /** Companies in memory. */
  *companies(): Generator<CompanyActor> {
    for (const actor of this.byId.values()) if (actor.k === 'c') yield actor
  }

  /** Forget actors whose last facts are not durable; they are loaded again when asked for. */
  forgetAfter(sequence: number): void {
    this.departures++
    // all of them: one that a checkpoint is writing is not among the dirty
    for (const actor of this.byId.values())
      if (actor.state.sequence > sequence) {
        this.byId.delete(actor.state.id)
        this.dirty.delete(actor)
        this.lost.add(actor.state.id)
      }
  }

  /** Forget every actor of an environment that is deleted (AL-13): nothing of them is written any more. */
  forgetEnvironment(environmentId: string): void {
    this.departures++
    for (const [id, actor] of this.byId)
      if (actor.state.environmentId === environmentId) {
        this.byId.delete(id)
        this.dirty.delete(actor)
      }
  }

  /** Let go of clean actors that were idle longest, down to nine tenths of the bound. */
  evict(): number {
    if (this.byId.size <= this.actorsMax) return 0
    const idle = [...this.byId.values()]
      .filter(actor => !this.dirty.has(actor))
      .sort((a, b) => a.tick - b.tick)
    const surplus = this.byId.size - Math.floor(this.actorsMax * 0.9)
    this.departures++
    for (const actor of idle.slice(0, surplus)) this.byId.delete(actor.state.id)
    return Math.min(surplus, idle.length)
  }
}

// Maps key pairs of companies and users to ids, per environment. On one node the directory is the authority for who
// owns a pair: it lives on the HTTP thread, is filled from Postgres at start, and decides every claim before a
// message is sent. The actors hold the keys of each entity; the directory only finds them. Pairs and entities lie in
// shared memory (pair-index.ts, entity-table.ts); state that only writes under way need is here.

import { newId } from '../../account/ids.js'
import type { LowercaseNames } from '../../account/key-types.js'
import type { KeyPair } from '../../core/model/entity-state.js'
import type { Fact } from '../../core/model/message.js'
import type { SharedNames } from '../../wire/front-task.js'
import { ownText } from '../../wire/message-codec.js'
import { EntityTable } from './entity-table.js'
import { EnvironmentNumbers } from './environment-numbers.js'
import { KeyIndex } from './key-index.js'
import { KeyLookupCache, type Sent, type SentKey } from './key-lookup-cache.js'
import type { NamesChunk } from './name-reader.js'
import { PairIndex, servicePrefix } from './pair-index.js'

export type DirectoryKind = 'company' | 'user'

/** The result of resolving keys (and perhaps an id). */
type Resolution =
  | { readonly found: string }
  | { readonly found: null; readonly reason: 'unknown' | 'ambiguous' | 'unknown_id' }

/** A pair's claim by writes in flight. */
interface Claim {
  readonly id: string
  count: number
  /** Whether the entity owns the pair by durable writes: the state that remains if the claim is released. */
  durable: boolean
  /** Former owners, latest first, whose deletions were in flight. Until those are durable the pair may be theirs. */
  readonly from: readonly string[]
}

/** An entity whose deletion is in flight. */
interface Retired {
  readonly kind: DirectoryKind
  readonly environmentId: string
  /** Pairs returned by lost writes: they are free once the entity is deleted. */
  readonly returned: KeyPair[]
}

/** Names of keys whose values are kept in lower case. */
interface LoweredNames {
  readonly company: ReadonlySet<string>
  readonly user: ReadonlySet<string>
}

const fromNobody: readonly string[] = []

/**
 * Owned pairs, and pairs claimed by requests in flight. A claim counts at once, so that two simultaneous upserts with
 * one new key get the same id (CU-19). It is kept when the write is durable and released when it was refused or lost.
 *
 * Invariant: writes to one entity are confirmed in the order they were decided, so the last one confirmed decides whether
 * a pair belongs to the entity.
 */
export class Directory {
  private readonly numbers = new EnvironmentNumbers()
  /** Ids by pair. */
  readonly pairs = new PairIndex(this.numbers)
  private readonly entities = new EntityTable(this.numbers)
  private readonly claims = new KeyIndex<Claim>()
  /** Ids that own a pair by a fact that came while another entity had it here: theirs once that one gives it up. */
  private readonly heirs = new KeyIndex<string>()
  /** Entities whose creation is not known to be durable. */
  private readonly unconfirmed = new Set<string>()
  /** Entities whose deletion is in flight. They are not found any more. */
  private readonly retired = new Map<string, Retired>()
  /** Claims, by entity, on pairs of entities whose deletion is in flight. */
  private readonly taking = new Map<string, Set<Claim>>()
  /** The key epoch, where other threads see it. */
  private readonly epochs = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Whether other threads find entities by their pairs: those that writes under way concern are marked then. */
  private isLent = false
  /** Names of keys whose values are in lower case, of the environments that have any (CU-4). */
  private readonly lowered = new Map<string, LoweredNames>()
  private readonly met = { company: new KeyLookupCache(), user: new KeyLookupCache() }

  /** Epoch: another one when a pair may have moved or an id been removed. Caches compare it. */
  get keyEpoch(): number {
    return Atomics.load(this.epochs, 0)
  }

  private raiseKeyEpoch(): void {
    Atomics.add(this.epochs, 0, 1)
  }

  /**
   * Let other threads find entities by their pairs, from before there are any.
   *
   * hand  gives them memory that is made later, before it is used.
   */
  lend(hand: (chunk: NamesChunk) => void): void {
    this.isLent = true
    this.pairs.hand = memory => hand({ table: 'pairs', memory })
    this.entities.hand = memory => hand({ table: 'entities', memory })
  }

  /** The tables as they are now, for a thread that finds entities in them. */
  get lent(): SharedNames {
    const { pairs, entities, epochs } = this
    return { pairs: pairs.shared, entities: entities.shared, hashKey: pairs.hashKey, epochs }
  }

  /** The number of an environment in shared tables. */
  numberOf(environmentId: string): number {
    return this.numbers.of(environmentId)
  }

  /** Other threads do not answer for an entity whose creation or deletion is not durable. */
  private mark(id: string): void {
    if (this.isLent) this.entities.mark(id, this.unconfirmed.has(id) || this.retired.has(id))
  }

  /** Number of companies and users. */
  get size(): number {
    return this.entities.size
  }

  /** Number of companies or users of an environment, including those being created or deleted. */
  countOf(kind: DirectoryKind, environmentId: string): number {
    const { entities, users } = this.entities.countOf(environmentId)
    return kind === 'user' ? users : entities - users
  }

  /** Number of distinct key names of companies or users of an environment. */
  keyNames(kind: DirectoryKind, environmentId: string): number {
    return this.pairs.names(kind, environmentId)
  }

  hasKeyName(kind: DirectoryKind, environmentId: string, name: string): boolean {
    return this.pairs.hasName(kind, environmentId, name)
  }

  /** Whether the entity exists in this environment. */
  has(environmentId: string, id: string): boolean {
    return this.entities.has(environmentId, id) && !this.isRetired(id)
  }

  private isRetired(id: string): boolean {
    return this.retired.size > 0 && this.retired.has(id)
  }

  /** Whether the entity's deletion is in flight in this environment. */
  isEnding(environmentId: string, id: string): boolean {
    return this.isRetired(id) && this.retired.get(id)!.environmentId === environmentId
  }

  /** An entity with any of these keys whose deletion is in flight, or null. Pairs taken by others do not count. */
  findEnding(
    kind: DirectoryKind,
    environmentId: string,
    keys: Readonly<Record<string, string>>,
  ): string | null {
    for (const [name, value] of Object.entries(keys)) {
      const id = isServiceId(kind, name, value) ? value : this.owner(kind, environmentId, name, value)
      if (id !== undefined && this.isEnding(environmentId, id)) return id
    }
    return null
  }

  /**
   * Find an entity by its keys.
   *
   * keys     name → value; the reserved name `id` with a service id addresses the entity (CU-2, EV-30).
   * returns  the id, or the reason: no pair matches, pairs match two entities, or a service id is unknown.
   * source   CU-2, CU-3, EV-30, EV-32, EV-33.
   */
  resolve(kind: DirectoryKind, environmentId: string, keys: Readonly<Record<string, string>>): Resolution {
    let found: string | null = null
    for (const name of Object.keys(keys)) {
      const value = keys[name]!
      let id: string | undefined
      if (isServiceId(kind, name, value)) {
        if (!this.has(environmentId, value)) return { found: null, reason: 'unknown_id' }
        id = value
      } else id = this.owner(kind, environmentId, name, value)
      if (id === undefined || this.isRetired(id)) continue
      if (found !== null && found !== id) return { found: null, reason: 'ambiguous' }
      found = id
    }
    return found === null ? { found: null, reason: 'unknown' } : { found }
  }

  /** `resolve` for one pair; null for any failure. */
  find(kind: DirectoryKind, environmentId: string, name: string, value: string): string | null {
    if (isServiceId(kind, name, value)) return this.has(environmentId, value) ? ownText(value) : null
    const id = this.owner(kind, environmentId, name, value)
    return id === undefined || this.isRetired(id) ? null : id
  }

  /**
   * Keep values of these names in lower case from now on; null: of none.
   *
   * returns  false when they were these before.
   * source   CU-4.
   */
  lowercase(environmentId: string, names: LowercaseNames | null): boolean {
    const before = JSON.stringify(this.lowercaseNames(environmentId))
    if (names === null) this.lowered.delete(environmentId)
    else this.lowered.set(environmentId, { company: new Set(names.company), user: new Set(names.user) })
    if (JSON.stringify(this.lowercaseNames(environmentId)) === before) return false
    // what was found under other letters, or was not found, is looked for again
    this.raiseKeyEpoch()
    this.pairs.changes++
    return true
  }

  /** Names whose values are kept in lower case; null: none. source: CU-4 */
  lowercaseNames(environmentId: string): LowercaseNames | null {
    const names = this.lowered.get(environmentId)
    return names === undefined ? null : { company: [...names.company], user: [...names.user] }
  }

  /**
   * Pairs among these that are somebody's in lower case, and nobody's as they are given; null: none.
   *
   * source  CU-4.
   */
  readLower(
    kind: DirectoryKind,
    environmentId: string,
    keys: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> | null {
    if (!this.lowered.has(environmentId)) return null
    const read = Object.entries(keys).filter(([name, value]) => {
      const lower = isServiceId(kind, name, value) ? value : this.lowerOf(kind, environmentId, name, value)
      const owned = (text: string) => this.pairs.get(kind, environmentId, name, text) !== undefined
      return lower !== value && !owned(value) && owned(lower)
    })
    return read.length === 0 ? null : Object.fromEntries(read)
  }

  /** The owner of a pair as it is given, else in lower case where values of the name are kept so (CU-4). */
  private owner(kind: DirectoryKind, environmentId: string, name: string, value: string): string | undefined {
    const id = this.pairs.get(kind, environmentId, name, value)
    if (this.lowered.size === 0 || (id !== undefined && !this.isRetired(id))) return id
    const lower = this.lowerOf(kind, environmentId, name, value)
    return lower === value ? id : (this.pairs.get(kind, environmentId, name, lower) ?? id)
  }

  /** A value as it is kept where no entity has it as it is given. source: CU-4 */
  lowerOf(kind: DirectoryKind, environmentId: string, name: string, value: string): string {
    const names = this.lowered.get(environmentId)
    return names === undefined || !names[kind].has(name) ? value : value.toLowerCase()
  }

  /**
   * Pairs as they are kept: in lower case where values of the name are, but for a pair that an entity has as it is given.
   * Ask in the tick of the claim.
   *
   * source  CU-4.
   */
  kept(kind: DirectoryKind, environmentId: string, keys: Readonly<Record<string, string>>): KeyPair[] {
    const pairs = Object.entries(keys)
    if (!this.lowered.has(environmentId)) return pairs
    return pairs.map(([name, value]): KeyPair => {
      if (isServiceId(kind, name, value)) return [name, value]
      const owner = this.pairs.get(kind, environmentId, name, value)
      if (owner !== undefined && !this.isRetired(owner)) return [name, value]
      return [name, this.lowerOf(kind, environmentId, name, value)]
    })
  }

  /**
   * `find` for one key at its position in a body; null also for a removed entity.
   *
   * body  its text has one character per byte.
   */
  findSent(kind: DirectoryKind, environmentId: string, { text, view }: Sent, key: SentKey): string | null {
    const met = kind === 'company' ? this.met.company : this.met.user
    const { at, end } = key
    const known = met.get(environmentId, view, at, end, this.keyEpoch)
    if (known !== null) return known
    const name = text.slice(key.nameAt, key.nameEnd)
    const id = this.find(kind, environmentId, name, text.slice(key.valueAt, key.valueEnd))
    if (id === null || !this.has(environmentId, id)) return null
    met.put(view, at, end, this.keyEpoch, id)
    return id
  }

  /** A new id for an entity about to be created. Known at once, forgotten if the creation fails. */
  mint(kind: DirectoryKind, environmentId: string): string {
    const id = newId(servicePrefix[kind])
    this.load(environmentId, id)
    this.unconfirmed.add(id)
    this.mark(id)
    return id
  }

  /** Whether the entity's creation, or its claim on a pair of an entity being deleted, is not durable yet. */
  isUnconfirmed(id: string): boolean {
    if (this.unconfirmed.size > 0 && this.unconfirmed.has(id)) return true
    return this.taking.size > 0 && this.awaited(id).length > 0
  }

  /** Whether `isUnconfirmed` may be true of any. */
  get hasUnconfirmed(): boolean {
    return this.unconfirmed.size > 0 || this.taking.size > 0
  }

  /** Entities whose deletion must be durable before a write to this one is sent, because it claims their pairs. */
  awaited(id: string): readonly string[] {
    const claims = this.taking.get(id)
    if (claims === undefined) return fromNobody
    return [...new Set([...claims].flatMap(claim => claim.from))].filter(from => this.isRetired(from))
  }

  /** Whether an entity that exists or is being created still owns or claims all these pairs. */
  holds(kind: DirectoryKind, environmentId: string, id: string, pairs: readonly KeyPair[]): boolean {
    if (this.isRetired(id)) return false
    return pairs.every(([name, value]) => this.pairs.get(kind, environmentId, name, value) === id)
  }

  /** Claim pairs for a write in flight. The caller has resolved them to this entity or to none. */
  claim(kind: DirectoryKind, environmentId: string, id: string, pairs: readonly KeyPair[]): void {
    for (const [name, value] of pairs) {
      const owner = this.pairs.get(kind, environmentId, name, value)
      const claim = this.claims.get(kind, environmentId, name, value)
      if (owner === undefined || (owner !== id && this.isRetired(owner))) {
        const from = owner === undefined ? fromNobody : [owner, ...(claim?.from ?? fromNobody)]
        const made = { id, count: 1, durable: false, from }
        if (claim) this.untake(claim)
        if (from !== fromNobody) this.take(made)
        this.pairs.set(kind, environmentId, name, value, id)
        this.claims.set(kind, environmentId, name, value, made)
        continue
      }
      if (owner !== id) throw new Error('a claimed pair belongs to another entity')
      if (claim) claim.count++
      else
        this.claims.set(kind, environmentId, name, value, { id, count: 1, durable: true, from: fromNobody })
    }
  }

  private take(claim: Claim): void {
    const claims = this.taking.get(claim.id)
    if (claims) claims.add(claim)
    else this.taking.set(claim.id, new Set([claim]))
  }

  private untake(claim: Claim): void {
    if (claim.from === fromNobody) return
    const claims = this.taking.get(claim.id)
    if (claims?.delete(claim) && claims.size === 0) this.taking.delete(claim.id)
  }

  /** Pairs that are claimed and not known to be anybody's for good. */
  undecided(kind: DirectoryKind, environmentId: string, pairs: readonly KeyPair[]): readonly KeyPair[] {
    return pairs.filter(
      ([name, value]) => this.claims.get(kind, environmentId, name, value)?.durable === false,
    )
  }

  /** An entity that another node is about to make, or has made, has these pairs. */
  adopt(kind: DirectoryKind, environmentId: string, id: string, pairs: readonly KeyPair[]): void {
    if (!this.has(environmentId, id)) {
      this.load(environmentId, id)
      this.unconfirmed.add(id)
      this.mark(id)
    }
    for (const [name, value] of pairs)
      if (this.pairs.get(kind, environmentId, name, value) === undefined)
        this.pairs.set(kind, environmentId, name, value, id)
  }

  /** Settle a durable write: its pairs stay, the freed ones are removed. */
  confirm(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    pairs: readonly KeyPair[],
    freed: readonly KeyPair[],
  ): void {
    // a write after a deletion has created the entity again
    this.load(environmentId, id)
    if (this.unconfirmed.delete(id)) this.mark(id)
    for (const [name, value] of pairs) {
      if (this.pairs.get(kind, environmentId, name, value) === undefined)
        this.pairs.set(kind, environmentId, name, value, id)
      const claim = this.claims.get(kind, environmentId, name, value)
      if (claim?.id !== id) continue
      claim.durable = true
      if (--claim.count > 0) continue
      this.claims.delete(kind, environmentId, name, value)
      this.untake(claim)
    }
    this.free(kind, environmentId, id, freed)
  }

  /** Settle a refused or lost write: pairs without another holder are removed, and an id that was never created. */
  release(kind: DirectoryKind, environmentId: string, id: string, pairs: readonly KeyPair[]): void {
    let held = false
    for (const [name, value] of pairs) {
      const claim = this.claims.get(kind, environmentId, name, value)
      if (claim?.id !== id) continue
      if (--claim.count > 0) held = true
      else {
        this.claims.delete(kind, environmentId, name, value)
        this.untake(claim)
        if (claim.durable) held = true
        else this.giveBack(kind, environmentId, [name, value], claim)
      }
    }
    if (held || !this.unconfirmed.delete(id)) return
    this.raiseKeyEpoch()
    this.entities.remove(environmentId, id)
  }

  /** Release a pair: it is free, or belongs again to the entity whose deletion is still in flight. */
  private giveBack(
    kind: DirectoryKind,
    environmentId: string,
    [name, value]: KeyPair,
    { from }: Claim,
  ): void {
    this.raiseKeyEpoch()
    const former = from.find(id => this.isRetired(id))
    if (former === undefined) return this.unset(kind, environmentId, name, value)
    this.pairs.set(kind, environmentId, name, value, former)
    this.retired.get(former)!.returned.push([name, value])
  }

  /** Free the pairs that an entity gave up, unless a later write of its own claims them. */
  free(kind: DirectoryKind, environmentId: string, id: string, freed: readonly KeyPair[]): void {
    for (const [name, value] of freed) {
      if (this.heirs.get(kind, environmentId, name, value) === id)
        this.heirs.delete(kind, environmentId, name, value)
      if (this.pairs.get(kind, environmentId, name, value) !== id) continue
      const claim = this.claims.get(kind, environmentId, name, value)
      if (claim) claim.durable = false
      else this.unset(kind, environmentId, name, value)
    }
  }

  /** A pair has no owner any more, or the one whose fact came too early. */
  private unset(kind: DirectoryKind, environmentId: string, name: string, value: string): void {
    this.raiseKeyEpoch()
    const heir = this.heirs.get(kind, environmentId, name, value)
    if (heir === undefined) return this.pairs.delete(kind, environmentId, name, value)
    this.heirs.delete(kind, environmentId, name, value)
    this.pairs.set(kind, environmentId, name, value, heir)
  }

  /**
   * Mark an entity whose deletion starts: its pairs may be claimed by others from now on (CU-50). Their writes must
   * wait until the deletion is durable (`awaited`).
   */
  retire(kind: DirectoryKind, environmentId: string, id: string): void {
    this.raiseKeyEpoch()
    if (!this.retired.has(id)) this.retired.set(id, { kind, environmentId, returned: [] })
    this.mark(id)
  }

  /** Remove a deleted entity (CU-50, CU-52); its pairs were freed with its deletion. */
  forget(environmentId: string, id: string): void {
    this.raiseKeyEpoch()
    const retired = this.retired.get(id)
    if (retired !== undefined) this.free(retired.kind, retired.environmentId, id, retired.returned)
    for (const companyId of this.entities.companiesOf(id)) this.entities.countUsers(companyId, -1)
    this.entities.remove(environmentId, id)
    this.unconfirmed.delete(id)
    this.retired.delete(id)
    this.taking.delete(id)
  }

  /** Remove everything of a deleted environment (AL-13). */
  forgetEnvironment(environmentId: string): void {
    this.raiseKeyEpoch()
    for (const id of this.entities.idsOf(environmentId)) this.forget(environmentId, id)
    this.entities.forgetEnvironment(environmentId)
    this.pairs.forgetEnvironment(environmentId)
    this.claims.forgetEnvironment(environmentId)
    this.heirs.forgetEnvironment(environmentId)
    this.lowered.delete(environmentId)
  }

  /** Existing companies of a user, oldest membership first. */
  companiesOf(environmentId: string, userId: string): readonly string[] {
    return this.entities.companiesOf(userId).filter(companyId => this.has(environmentId, companyId))
  }

  /** Whether the user is a member of the company. */
  isMember(userId: string, companyId: string): boolean {
    return this.entities.isMember(userId, companyId)
  }

  /** Number of users of a company. */
  membersOf(companyId: string): number {
    return this.entities.usersOf(companyId)
  }

  join(userId: string, companyId: string): void {
    if (this.isMember(userId, companyId)) return
    this.entities.keep(userId, [...this.entities.companiesOf(userId), companyId])
    this.entities.countUsers(companyId, 1)
  }

  leave(userId: string, companyId: string): void {
    if (!this.isMember(userId, companyId)) return
    const left = this.entities.companiesOf(userId).filter(one => one !== companyId)
    this.entities.keep(userId, left)
    this.entities.countUsers(companyId, -1)
  }

  /** Add an entity from Postgres, at start. errors: Error for a text that is no id. */
  load(environmentId: string, id: string): void {
    this.entities.add(environmentId, id)
  }

  /** Add a key pair from Postgres, at start. Returns its former owner, or null. */
  loadPair(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    name: string,
    value: string,
  ): string | null {
    const had = this.pairs.get(kind, environmentId, name, value) ?? null
    if (had !== null && had !== id) this.raiseKeyEpoch()
    this.pairs.set(kind, environmentId, name, value, id)
    return had
  }

  /**
   * Apply the identity effects of a fact again: a restarted shard may find facts in its journal whose replies were
   * lost. Facts of other nodes come here too. Two shards have no common order: a fact that gives a pair may come before
   * the one that frees it, or while a write under way here claims it.
   */
  replay(fact: Fact): void {
    if (fact.k === 'e') return
    const kind = fact.k === 'c' ? 'company' : 'user'
    for (const effect of fact.fx)
      switch (effect.t) {
        case 'created':
          this.load(fact.env, fact.id)
          if (this.unconfirmed.delete(fact.id)) this.mark(fact.id)
          break
        case 'key': {
          const { name, value } = effect
          const owner = this.pairs.get(kind, fact.env, name, value)
          if (owner === undefined) this.pairs.set(kind, fact.env, name, value, fact.id)
          else if (owner !== fact.id) this.heirs.set(kind, fact.env, name, value, fact.id)
          const claim = this.claims.get(kind, fact.env, name, value)
          if (claim?.id === fact.id) claim.durable = true
          if (effect.was !== null) this.free(kind, fact.env, fact.id, [[effect.name, effect.was]])
          break
        }
        case 'key_removed':
          this.free(kind, fact.env, fact.id, [[effect.name, effect.value]])
          break
        case 'joined':
          this.join(fact.id, effect.companyId)
          break
        case 'left':
          this.leave(fact.id, effect.companyId)
          break
        case 'deleted':
          this.free(kind, fact.env, fact.id, effect.keys)
          this.forget(fact.env, fact.id)
          break
        case 'plan':
        case 'trait':
        case 'named':
        case 'trait_introduced':
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
        case 'credit_hold':
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
}

/** Whether a key is a service id: the reserved name `id` with the service's prefix (CU-2). */
export function isServiceId(kind: DirectoryKind, name: string, value: string): boolean {
  return name === 'id' && value.startsWith(kind === 'company' ? servicePrefix.company : servicePrefix.user)
}

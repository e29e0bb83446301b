// Key pairs of companies and users → ids, within an environment. On one node the directory is the authority
// for who owns a pair: it lives on the HTTP thread, is filled from Postgres at start, and every claim is settled
// here before a message leaves. The actors hold the keys of each entity; the directory only finds them.
import type { KeyPair } from '../core/entity.js'
import type { Fact } from '../core/message.js'
import { newId } from './ids.js'

export type DirectoryKind = 'company' | 'user'

const servicePrefix = { company: 'comp_', user: 'user_' } as const

/** What keys (and perhaps an id) resolve to. */
export type Resolution =
  | { readonly found: string }
  | { readonly found: null; readonly reason: 'unknown' | 'ambiguous' | 'unknown_id' }

/**
 * Pairs in use and pairs claimed by requests under way. A claim counts at once, so that two simultaneous
 * upserts with the same new key meet the same id (CU-19); it is kept when the write is durable and given
 * back when it was refused or lost.
 */
export class Directory {
  /** "c" or "u", environment, name and value → id. */
  private readonly pairs = new Map<string, string>()
  /** Requests under way per pair that is not yet known to be durable. */
  private readonly claims = new Map<string, number>()
  /** Entity id → environment id. */
  private readonly entities = new Map<string, string>()
  /** Entities whose creation is under way and not known to be durable. */
  private readonly unconfirmed = new Set<string>()
  /** Company id or ids of each user (EV-35). */
  private readonly memberships = new Map<string, string | string[]>()

  /** Companies and users known. */
  get size(): number {
    return this.entities.size
  }

  /** Whether the entity exists, in this environment. */
  has(environmentId: string, id: string): boolean {
    return this.entities.get(id) === environmentId
  }

  /**
   * Find an entity by any of its keys.
   *
   * keys     name → value; the reserved name `id` with a service id addresses the entity (CU-2, EV-30).
   * returns  the id; or why there is none: no pair matches, pairs match two entities, or a service id is unknown.
   * source   CU-2, CU-3, EV-30, EV-32, EV-33.
   */
  resolve(kind: DirectoryKind, environmentId: string, keys: Readonly<Record<string, string>>): Resolution {
    let found: string | null = null
    for (const name of Object.keys(keys)) {
      const value = keys[name]!
      let id: string | undefined
      if (isServiceId(kind, name, value)) {
        if (this.entities.get(value) !== environmentId) return { found: null, reason: 'unknown_id' }
        id = value
      } else id = this.pairs.get(pairKey(kind, environmentId, name, value))
      if (id === undefined) continue
      if (found !== null && found !== id) return { found: null, reason: 'ambiguous' }
      found = id
    }
    return found === null ? { found: null, reason: 'unknown' } : { found }
  }

  /** A new id for an entity that is about to be created; known at once, forgotten if the creation fails. */
  mint(kind: DirectoryKind, environmentId: string): string {
    const id = newId(servicePrefix[kind])
    this.entities.set(id, environmentId)
    this.unconfirmed.add(id)
    return id
  }

  /** Whether the entity's creation is not known to be durable yet. */
  isUnconfirmed(id: string): boolean {
    return this.unconfirmed.size > 0 && this.unconfirmed.has(id)
  }

  /** Claim pairs for an entity while a write is under way; the caller has resolved them to it or to nobody. */
  claim(kind: DirectoryKind, environmentId: string, id: string, pairs: readonly KeyPair[]): void {
    for (const [name, value] of pairs) {
      const key = pairKey(kind, environmentId, name, value)
      const owner = this.pairs.get(key)
      if (owner === undefined) {
        this.pairs.set(key, id)
        this.claims.set(key, 1)
      } else {
        if (owner !== id) throw new Error('a claimed pair belongs to another entity')
        const count = this.claims.get(key)
        if (count !== undefined) this.claims.set(key, count + 1)
      }
    }
  }

  /** The write is durable: its pairs stay, the freed ones go. */
  confirm(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    pairs: readonly KeyPair[],
    freed: readonly KeyPair[],
  ): void {
    for (const [name, value] of pairs) this.claims.delete(pairKey(kind, environmentId, name, value))
    this.unconfirmed.delete(id)
    this.free(kind, environmentId, id, freed)
  }

  /** The write was refused or lost: claims that nobody else holds go; so does an id that was never created. */
  release(
    kind: DirectoryKind,
    environmentId: string,
    id: string,
    pairs: readonly KeyPair[],
    minted: boolean,
  ): void {
    let held = false
    for (const [name, value] of pairs) {
      const key = pairKey(kind, environmentId, name, value)
      const count = this.claims.get(key)
      if (count === undefined || count > 1) held = true
      if (count === undefined) continue
      if (count > 1) this.claims.set(key, count - 1)
      else {
        this.claims.delete(key)
        this.pairs.delete(key)
      }
    }
    if (minted && !held && this.unconfirmed.delete(id)) this.entities.delete(id)
  }

  /** Pairs that an entity gave up are free for others. */
  free(kind: DirectoryKind, environmentId: string, id: string, freed: readonly KeyPair[]): void {
    for (const [name, value] of freed) {
      const key = pairKey(kind, environmentId, name, value)
      if (this.pairs.get(key) === id) this.pairs.delete(key)
    }
  }

  /** The entity is gone (CU-50, CU-52); its pairs were freed with its deletion. */
  forget(id: string): void {
    this.entities.delete(id)
    this.unconfirmed.delete(id)
    this.memberships.delete(id)
  }

  /** Everything of an environment is gone (AL-13). */
  forgetEnvironment(environmentId: string): void {
    for (const [id, environment] of this.entities) if (environment === environmentId) this.forget(id)
    for (const key of this.pairs.keys())
      if (key.startsWith(`${environmentId}\0`, 2)) {
        this.pairs.delete(key)
        this.claims.delete(key)
      }
  }

  /** Companies of a user that still exist, oldest membership first. */
  companiesOf(userId: string): readonly string[] {
    const held = this.memberships.get(userId)
    const companies = held === undefined ? [] : typeof held === 'string' ? [held] : held
    return companies.filter(companyId => this.entities.has(companyId))
  }

  /** Whether the user is a member of the company. */
  isMember(userId: string, companyId: string): boolean {
    const held = this.memberships.get(userId)
    return typeof held === 'string' ? held === companyId : (held?.includes(companyId) ?? false)
  }

  join(userId: string, companyId: string): void {
    const held = this.memberships.get(userId)
    if (held === undefined) this.memberships.set(userId, companyId)
    else if (typeof held !== 'string') {
      if (!held.includes(companyId)) held.push(companyId)
    } else if (held !== companyId) this.memberships.set(userId, [held, companyId])
  }

  leave(userId: string, companyId: string): void {
    const held = this.memberships.get(userId)
    if (held === companyId) this.memberships.delete(userId)
    else if (Array.isArray(held))
      this.memberships.set(
        userId,
        held.filter(one => one !== companyId),
      )
  }

  /** One entity as Postgres knows it, at start. */
  load(environmentId: string, id: string): void {
    this.entities.set(id, environmentId)
  }

  /** One key pair as Postgres knows it, at start. */
  loadPair(kind: DirectoryKind, environmentId: string, id: string, name: string, value: string): void {
    this.pairs.set(pairKey(kind, environmentId, name, value), id)
  }

  /**
   * Apply the identity effects of a fact once more: what a shard met in its journal after it died between
   * making a write durable and telling us.
   */
  replay(fact: Fact): void {
    if (fact.k === 'e') return
    const kind = fact.k === 'c' ? 'company' : 'user'
    for (const effect of fact.fx)
      switch (effect.t) {
        case 'created':
          this.entities.set(fact.id, fact.env)
          this.unconfirmed.delete(fact.id)
          break
        case 'key': {
          const key = pairKey(kind, fact.env, effect.name, effect.value)
          if (!this.pairs.has(key)) this.pairs.set(key, fact.id)
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
          this.forget(fact.id)
          break
      }
  }
}

/** Whether a key addresses an entity by its service id: the reserved name `id` with the service's prefix (CU-2). */
export function isServiceId(kind: DirectoryKind, name: string, value: string): boolean {
  return name === 'id' && value.startsWith(servicePrefix[kind])
}

const pairKey = (kind: DirectoryKind, environmentId: string, name: string, value: string): string =>
  `${kind === 'company' ? 'c' : 'u'}\0${environmentId}\0${name}\0${value}`

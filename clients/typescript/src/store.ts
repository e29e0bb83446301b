// The data received over the stream, ready to be evaluated: flags by key, companies and users by their keys.
import type { EngineCompany, EngineFlag, EngineUser } from '../../../src/core/evaluator/engine-shapes.js'
import { PreparedCompany, PreparedFlag, PreparedUser } from '../../../src/core/evaluator/evaluate-snapshot.js'
import { nameOf } from './stream.js'

export type Keys = Readonly<Record<string, string>>
export type EntityKind = 'company' | 'user'

interface Snapshot {
  readonly id: string
  readonly keys: Keys
}

interface Entry<Data extends Snapshot, Prepared> {
  data: Data
  /** Prepared on first use. */
  prepared: Prepared | null
}

/**
 * Entities of one kind. Beyond a bound the least recently used one is dropped.
 *
 * An entity is found by keys that all belong to it. Other keys may belong to another entity; only the service
 * can decide that.
 */
export class Entities<Data extends Snapshot, Prepared> {
  private readonly byId = new Map<string, Entry<Data, Prepared>>()
  private readonly byKey = new Map<string, string>()

  constructor(
    private readonly max: number,
    private readonly prepare: (data: Data) => Prepared,
    private readonly merge: (held: Data, changed: Partial<Data>) => Data,
    /** Called with keys of an entity that is dropped. */
    private readonly forgotten: (keys: Keys) => void,
    /** Pairs of name and value that the service reads in lower case. */
    private readonly lowered: ReadonlySet<string>,
    /** Called with the id of an entity whose prepared form is given up. */
    private readonly released: (id: string) => void = () => {},
  ) {}

  get size(): number {
    return this.byId.size
  }

  /** The entity with all of these keys, ready to be evaluated; null: not in memory. */
  find(keys: Keys): Prepared | null {
    let found: Entry<Data, Prepared> | null = null
    for (const name in keys) {
      const entry = this.entryOf(name, keys[name]!)
      if (entry === null || (found !== null && entry !== found)) return null
      found = entry
    }
    if (found === null) return null
    const { id } = found.data
    if (this.byId.size >= this.max) {
      this.byId.delete(id)
      this.byId.set(id, found)
    }
    found.prepared ??= this.prepare(found.data)
    return found.prepared
  }

  private entryOf(name: string, value: string): Entry<Data, Prepared> | null {
    const pair = `${name}\0${value}`
    let id = this.byKey.get(pair) ?? (name === 'id' ? value : undefined)
    if (id === undefined && this.lowered.has(pair)) id = this.byKey.get(`${name}\0${value.toLowerCase()}`)
    return (id === undefined ? undefined : this.byId.get(id)) ?? null
  }

  /** Store an entity whole. */
  put(data: Data): void {
    this.drop(data.id)
    this.byId.set(data.id, { data, prepared: null })
    for (const [name, value] of Object.entries(data.keys)) this.byKey.set(`${name}\0${value}`, data.id)
    if (this.byId.size <= this.max) return
    const [oldest] = this.byId.values()
    this.drop(oldest!.data.id)
    this.forgotten(oldest!.data.keys)
  }

  /** Merge a change of an entity. Does nothing when the entity is not in memory. */
  change(id: string, changed: Partial<Data>): void {
    const entry = this.byId.get(id)
    if (entry !== undefined) this.put(this.merge(entry.data, changed))
  }

  drop(id: string): void {
    const entry = this.byId.get(id)
    if (entry === undefined) return
    this.byId.delete(id)
    this.released(id)
    for (const [name, value] of Object.entries(entry.data.keys))
      if (this.byKey.get(`${name}\0${value}`) === id) this.byKey.delete(`${name}\0${value}`)
  }

  /** Ids of every entity in memory. */
  ids(): string[] {
    return [...this.byId.keys()]
  }
}

/** Merges a change of a company, as docs/datastream.md describes. */
export function mergeCompany(held: EngineCompany, changed: Partial<EngineCompany>): EngineCompany {
  const merged = { ...held, ...changed }
  if (changed.keys) merged.keys = { ...held.keys, ...changed.keys }
  if (changed.credit_balances)
    merged.credit_balances = { ...held.credit_balances, ...changed.credit_balances }
  if (!changed.metrics) return merged
  const nameOf = (one: EngineCompany['metrics'][number]) =>
    `${one.event_subtype}\0${one.period}\0${one.month_reset}`
  const metrics = new Map(held.metrics.map(one => [nameOf(one), one]))
  for (const one of changed.metrics) metrics.set(nameOf(one), one)
  merged.metrics = [...metrics.values()]
  return merged
}

/** The same for a user. */
export function mergeUser(held: EngineUser, changed: Partial<EngineUser>): EngineUser {
  return { ...held, ...changed, keys: { ...held.keys, ...changed.keys } }
}

/** A text for comparisons. JSON alone cannot write a bigint. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ?? ''

/** A message of the stream. */
export interface StreamMessage {
  readonly message_type: string
  readonly entity_type: string
  readonly entity_id?: string
  readonly server_time?: string
  /** Names of keys whose values the service keeps in lower case. */
  readonly lowercase_keys?: object
  readonly data: unknown
}

/**
 * Keys that the service knows to be nobody's, until it says otherwise. Beyond the bound the oldest is dropped, and asked
 * about again.
 */
class Unknown {
  /** Names of lists of keys by each pair in them. */
  private readonly byPair = new Map<string, Set<string>>()
  private readonly pairs = new Map<string, readonly string[]>()

  constructor(private readonly max: number) {}

  has(kind: EntityKind, keys: Keys): boolean {
    return this.pairs.size > 0 && this.pairs.has(nameOf(kind, keys))
  }

  add(kind: EntityKind, keys: Keys): void {
    const name = nameOf(kind, keys)
    if (this.pairs.size >= this.max) for (const oldest of this.pairs.keys()) if (this.drop(oldest)) break
    const pairs = pairsOf(kind, keys)
    this.pairs.set(name, pairs)
    for (const pair of pairs) {
      const names = this.byPair.get(pair)
      if (names) names.add(name)
      else this.byPair.set(pair, new Set([name]))
    }
  }

  /** These keys are somebody's. */
  found(kind: EntityKind, keys: Keys): void {
    if (this.pairs.size === 0) return
    for (const pair of pairsOf(kind, keys))
      for (const name of [...(this.byPair.get(pair) ?? [])]) this.drop(name)
  }

  clear(): void {
    this.byPair.clear()
    this.pairs.clear()
  }

  private drop(name: string): boolean {
    for (const pair of this.pairs.get(name) ?? []) {
      const names = this.byPair.get(pair)
      names?.delete(name)
      if (names?.size === 0) this.byPair.delete(pair)
    }
    return this.pairs.delete(name)
  }
}

const pairsOf = (kind: EntityKind, keys: Keys): string[] =>
  Object.entries(keys).map(([name, value]) => `${kind}\0${name}\0${value}`)

/** All data in memory. */
export class Store {
  readonly flags = new Map<string, PreparedFlag>()
  /** Whether all flags were received once. */
  isComplete = false
  /**
   * Data of a former connection that this one has not sent yet: entities' ids, and the empty text for all
   * flags.
   */
  private readonly untold = new Set<string>()
  /** Keys that are nobody's. */
  readonly unknown: Unknown
  /**
   * Pairs of name and value that the service reads in lower case, by kind. No entity has such a pair as it is written, and
   * none can get it while the setting stays (CU-4). For a pair that is not in the set, the service is asked.
   */
  private readonly lowered: Readonly<Record<EntityKind, Set<string>>> = {
    company: new Set(),
    user: new Set(),
  }
  /** The names of keys whose values are kept in lower case, as text. */
  private lowercaseNames = ''
  /** How far the service's clock is ahead of this one, ms. */
  aheadMs = 0
  readonly companies: Entities<EngineCompany, PreparedCompany>
  readonly users: Entities<EngineUser, PreparedUser>

  constructor(
    private readonly entitiesMax: number,
    forgotten: (kind: EntityKind, keys: Keys) => void,
    usage: { of(companyId: string): ReadonlyMap<string, number>; release(companyId: string): void },
  ) {
    this.unknown = new Unknown(entitiesMax)
    this.companies = new Entities(
      entitiesMax,
      data => new PreparedCompany(data, usage.of(data.id)),
      mergeCompany,
      keys => forgotten('company', keys),
      this.lowered.company,
      id => usage.release(id),
    )
    this.users = new Entities(
      entitiesMax,
      data => new PreparedUser(data),
      mergeUser,
      keys => forgotten('user', keys),
      this.lowered.user,
    )
  }

  entities(kind: EntityKind): Entities<EngineCompany, PreparedCompany> | Entities<EngineUser, PreparedUser> {
    return kind === 'company' ? this.companies : this.users
  }

  /** The connection is new: data in memory may be out of date until it is received again. */
  reconnected(): void {
    this.unknown.clear()
    this.forgetLowered()
    if (this.isComplete) this.untold.add('')
    for (const id of [...this.companies.ids(), ...this.users.ids()]) this.untold.add(id)
  }

  /** Whether this connection has sent flags, company and user. */
  isCurrent(company: { readonly id: string } | null, user: { readonly id: string } | null): boolean {
    const { untold } = this
    if (untold.size === 0) return true
    return (
      !untold.has('') &&
      (company === null || !untold.has(company.id)) &&
      (user === null || !untold.has(user.id))
    )
  }

  /**
   * The service refused a subscription to these keys. Returns the id of the entity dropped for that, or null.
   */
  refuse(kind: EntityKind, keys: Keys): string | null {
    const id = this.entities(kind).find(keys)?.id ?? null
    if (id !== null) this.drop(kind, id)
    return id
  }

  private drop(kind: EntityKind, id: string): void {
    this.untold.delete(id)
    this.entities(kind).drop(id)
  }

  /** Applies a message. Returns the keys of the flags that it changes; null: none. */
  take(message: StreamMessage, nowMs: number): readonly string[] | null {
    const { entity_type: type, message_type: kind } = message
    if (message.server_time) this.aheadMs = Date.parse(message.server_time) - nowMs
    if (type === 'rulesengine.Flags' && kind === 'full') {
      const names = message.lowercase_keys === undefined ? '' : JSON.stringify(message.lowercase_keys)
      const changed = this.takeFlags(message.data as EngineFlag[])
      if (names === this.lowercaseNames) return changed
      this.lowercaseNames = names
      this.forgetLowered()
      return [...new Set([...changed, ...this.flags.keys()])]
    }
    if (type === 'rulesengine.Flag') return this.takeFlag(kind, message.data as EngineFlag)
    if (kind === 'full' && message.entity_id !== undefined) this.untold.delete(message.entity_id)
    if (kind === 'found') this.takeFound(type, (message.data as { readonly keys: Keys }).keys)
    else if (type === 'rulesengine.Company')
      this.takeEntity(this.companies, kind, message, message.data as EngineCompany)
    else if (type === 'rulesengine.User')
      this.takeEntity(this.users, kind, message, message.data as EngineUser)
    return null
  }

  /** Keep the pairs that the service finds in lower case. */
  private takeFound(type: string, keys: Keys): void {
    const kind = type === 'rulesengine.Company' ? 'company' : 'user'
    const lowered = this.lowered[kind]
    if (lowered.size >= this.entitiesMax) lowered.clear()
    for (const [name, value] of Object.entries(keys)) lowered.add(`${name}\0${value}`)
    this.unknown.found(kind, keys)
  }

  private forgetLowered(): void {
    this.lowered.company.clear()
    this.lowered.user.clear()
  }

  private takeFlags(flags: readonly EngineFlag[]): readonly string[] {
    const before = [...this.flags.keys()]
    const changed = flags.filter(flag => textOf(this.flags.get(flag.key)?.flag) !== textOf(flag))
    const present = new Set(flags.map(flag => flag.key))
    for (const key of before) if (!present.has(key)) this.flags.delete(key)
    for (const flag of changed) this.flags.set(flag.key, new PreparedFlag(flag))
    this.isComplete = true
    this.untold.delete('')
    return [...changed.map(flag => flag.key), ...before.filter(key => !present.has(key))]
  }

  private takeFlag(kind: string, flag: EngineFlag): readonly string[] | null {
    for (const [key, { flag: held }] of this.flags)
      if (held.id === flag.id && (kind === 'delete' || key !== flag.key)) this.flags.delete(key)
    if (kind === 'full') this.flags.set(flag.key, new PreparedFlag(flag))
    return [flag.key]
  }

  private takeEntity<Data extends Snapshot, Prepared>(
    entities: Entities<Data, Prepared>,
    kind: string,
    { entity_id: id }: StreamMessage,
    data: Data,
  ): void {
    if (kind === 'full' || kind === 'partial') {
      const named = this.companies === (entities as unknown) ? 'company' : 'user'
      this.unknown.found(named, kind === 'full' ? { ...data.keys, id: data.id } : (data.keys ?? {}))
    }
    if (kind === 'full') entities.put(data)
    else if (kind === 'partial' && id !== undefined) entities.change(id, data)
    else if (kind === 'delete') {
      this.untold.delete(data.id)
      entities.drop(data.id)
    }
  }
}

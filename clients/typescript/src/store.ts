// What the stream has told, ready to be evaluated: flags by key, companies and users by their keys.
import type { EngineCompany, EngineFlag, EngineUser } from '../../../src/core/evaluator/engine-shapes.js'
import { PreparedCompany, PreparedFlag, PreparedUser } from '../../../src/core/evaluator/evaluate.js'

export type Keys = Readonly<Record<string, string>>
export type EntityKind = 'company' | 'user'

interface Snapshot {
  readonly id: string
  readonly keys: Keys
}

interface Entry<Data extends Snapshot, Prepared> {
  data: Data
  /** Made when first asked for. */
  prepared: Prepared | null
}

/**
 * Entities of one kind, the least recently used forgotten beyond a bound.
 *
 * An entity is found by keys that are all its own: others may belong to another entity, which only the service knows.
 */
export class Entities<Data extends Snapshot, Prepared> {
  private readonly byId = new Map<string, Entry<Data, Prepared>>()
  private readonly byKey = new Map<string, string>()

  constructor(
    private readonly max: number,
    private readonly prepare: (data: Data) => Prepared,
    private readonly merge: (held: Data, changed: Partial<Data>) => Data,
    /** Told of an entity that is forgotten, with keys that find it. */
    private readonly forgotten: (keys: Keys) => void,
  ) {}

  get size(): number {
    return this.byId.size
  }

  /** The entity with all of these keys, ready to be evaluated; null: it is not held. */
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
    const id = this.byKey.get(`${name}\0${value}`) ?? (name === 'id' ? value : undefined)
    return (id === undefined ? undefined : this.byId.get(id)) ?? null
  }

  /** Take an entity over as it is told. */
  put(data: Data): void {
    this.drop(data.id)
    this.byId.set(data.id, { data, prepared: null })
    for (const [name, value] of Object.entries(data.keys)) this.byKey.set(`${name}\0${value}`, data.id)
    if (this.byId.size <= this.max) return
    const [oldest] = this.byId.values()
    this.drop(oldest!.data.id)
    this.forgotten(oldest!.data.keys)
  }

  /** Take what changed of an entity; nothing where it is not held. */
  change(id: string, changed: Partial<Data>): void {
    const entry = this.byId.get(id)
    if (entry !== undefined) this.put(this.merge(entry.data, changed))
  }

  drop(id: string): void {
    const entry = this.byId.get(id)
    if (entry === undefined) return
    this.byId.delete(id)
    for (const [name, value] of Object.entries(entry.data.keys))
      if (this.byKey.get(`${name}\0${value}`) === id) this.byKey.delete(`${name}\0${value}`)
  }

  /** Ids of every entity held. */
  ids(): string[] {
    return [...this.byId.keys()]
  }
}

/** What changed of a company, as the stream's page says it is merged. */
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

/** The same of a user. */
export function mergeUser(held: EngineUser, changed: Partial<EngineUser>): EngineUser {
  return { ...held, ...changed, keys: { ...held.keys, ...changed.keys } }
}

/** A text for comparing: JSON alone knows no bigint. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ?? ''

/** A message of the stream. */
export interface StreamMessage {
  readonly message_type: string
  readonly entity_type: string
  readonly entity_id?: string
  readonly server_time?: string
  readonly data: unknown
}

/** Everything that is held. */
export class Store {
  readonly flags = new Map<string, PreparedFlag>()
  /** Whether all flags were told once. */
  isComplete = false
  /** What was told on a former connection and not on this one yet: entities' ids, and of all flags the empty text. */
  private readonly untold = new Set<string>()
  /** By how much the service's clock is ahead of this one, ms. */
  aheadMs = 0
  readonly companies: Entities<EngineCompany, PreparedCompany>
  readonly users: Entities<EngineUser, PreparedUser>

  constructor(
    entitiesMax: number,
    forgotten: (kind: EntityKind, keys: Keys) => void,
    usage: { of(companyId: string): ReadonlyMap<string, number> },
  ) {
    this.companies = new Entities(
      entitiesMax,
      data => new PreparedCompany(data, usage.of(data.id)),
      mergeCompany,
      keys => forgotten('company', keys),
    )
    this.users = new Entities(
      entitiesMax,
      data => new PreparedUser(data),
      mergeUser,
      keys => forgotten('user', keys),
    )
  }

  entities(kind: EntityKind): Entities<EngineCompany, PreparedCompany> | Entities<EngineUser, PreparedUser> {
    return kind === 'company' ? this.companies : this.users
  }

  /** The connection is another: what is held may have changed until it is told again. */
  reconnected(): void {
    if (this.isComplete) this.untold.add('')
    for (const id of [...this.companies.ids(), ...this.users.ids()]) this.untold.add(id)
  }

  /** Whether this connection has told of flags, company and user. */
  isCurrent(company: { readonly id: string } | null, user: { readonly id: string } | null): boolean {
    const { untold } = this
    if (untold.size === 0) return true
    return (
      !untold.has('') &&
      (company === null || !untold.has(company.id)) &&
      (user === null || !untold.has(user.id))
    )
  }

  /** The service tells nothing of who has these keys. returns: the id of the entity that was held with them, or null. */
  refuse(kind: EntityKind, keys: Keys): string | null {
    const id = this.entities(kind).find(keys)?.id ?? null
    if (id !== null) this.drop(kind, id)
    return id
  }

  private drop(kind: EntityKind, id: string): void {
    this.untold.delete(id)
    this.entities(kind).drop(id)
  }

  /** Keys of the flags that a message changes; null: of none. */
  take(message: StreamMessage, nowMs: number): readonly string[] | null {
    const { entity_type: type, message_type: kind } = message
    if (message.server_time) this.aheadMs = Date.parse(message.server_time) - nowMs
    if (type === 'rulesengine.Flags' && kind === 'full') return this.takeFlags(message.data as EngineFlag[])
    if (type === 'rulesengine.Flag') return this.takeFlag(kind, message.data as EngineFlag)
    if (kind === 'full' && message.entity_id !== undefined) this.untold.delete(message.entity_id)
    if (type === 'rulesengine.Company')
      this.takeEntity(this.companies, kind, message, message.data as EngineCompany)
    else if (type === 'rulesengine.User')
      this.takeEntity(this.users, kind, message, message.data as EngineUser)
    return null
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
    if (kind === 'full') entities.put(data)
    else if (kind === 'partial' && id !== undefined) entities.change(id, data)
    else if (kind === 'delete') {
      this.untold.delete(data.id)
      entities.drop(data.id)
    }
  }
}

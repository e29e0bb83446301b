// All keys and environments, in memory on the HTTP thread, so that authentication costs one Map lookup.
import { timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { EnvironmentType, KeyScope } from '../../schemas/enums.js'
import type { PublishableLimitsWrite } from '../../schemas/environments.js'
import { ServiceError } from '../errors.js'
import { addressList } from './address-blocks.js'
import type {
  EnvironmentRecord,
  FormerValue,
  KeyAsker,
  KeyConditions,
  KeyRecord,
  Keys,
  LowercaseNames,
  PublishableKeyLimits,
} from './key-types.js'
import { hashKey, lastFour, mayBeOurs, pepperId } from './key-value.js'
import type { ContextSecrets } from './signed-contexts.js'

const valueLengthMax = 256
const unknownMax = 10_000
const unknownForMs = 5_000
const lookupsMax = 1_000
const usedEveryMs = 60_000
const flushAfterMs = 1_000
/** Interval at which plain values are dropped from memory. Values in use come back and cost one hash. */
const valuesKeptMs = 60_000
/** Interval at which changes of keys by other processes are detected. */
const lookEveryMs = 2_000

/** A value of a key. */
interface Entry {
  record: KeyRecord
  readonly hash: Buffer
  /** The plain value after its first use: later requests find the entry without hashing. */
  value: string | null
}

/** A key in memory. */
interface Held {
  entry: Entry
  /** The value before the last roll. */
  former: (Entry & { readonly untilMs: number }) | null
  /** Monotonic time of the last noted use. */
  usedAtMs: number
}

interface Lookup {
  readonly promise: Promise<KeyRecord | null>
  readonly resolve: (key: KeyRecord | null) => void
  readonly fail: (error: unknown) => void
  readonly value: string
}

interface Use {
  readonly atMs: number
  readonly lastFour: string | null
}

/** A row of api_keys, as `keyColumns` selects it. */
export interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string | null
  readonly name: string
  readonly description: string | null
  readonly kind: 'secret' | 'publishable'
  readonly scopes: readonly KeyScope[]
  readonly readonly: boolean
  readonly rate_limit_percent: number | null
  readonly secret_hash: Uint8Array
  readonly bootstrap: boolean
  readonly not_before: Date | null
  readonly expires_at: Date | null
  readonly disabled: boolean
  readonly allowed_addresses: readonly string[] | null
  readonly previous_hash: Uint8Array | null
  readonly previous_until: Date | null
}

/** A row of environments. */
export interface EnvironmentRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly environment_type: EnvironmentType
  readonly require_context_signature: boolean
  readonly publishable_limits: PublishableLimitsWrite | null
  readonly lowercase_keys: LowercaseNames | null
  readonly context_secret: string | null
  readonly former_context_secret: string | null
  readonly former_context_secret_until: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export function keyRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    description: row.description,
    kind: row.kind,
    scopes: row.scopes,
    readonly: row.readonly,
    environmentId: row.environment_id,
    rateLimitPercent: row.rate_limit_percent,
    bootstrap: row.bootstrap,
    conditions: conditionsOf(row),
  }
}

function conditionsOf(row: KeyRow): KeyConditions | null {
  const { disabled, not_before, expires_at, allowed_addresses } = row
  if (!disabled && !not_before && !expires_at && !allowed_addresses) return null
  return {
    disabled,
    notBeforeMs: not_before?.getTime() ?? null,
    expiresAtMs: expires_at?.getTime() ?? null,
    addresses: allowed_addresses && addressList(allowed_addresses),
    replaced: false,
  }
}

/** The value replaced by the last roll; null: none. */
export function formerValue(row: KeyRow): FormerValue | null {
  if (row.previous_hash === null || row.previous_until === null) return null
  return { hash: row.previous_hash, untilMs: row.previous_until.getTime() }
}

/** The key's record for its former value: it expires at the end of the overlap, or earlier. */
function formerRecord(record: KeyRecord, untilMs: number): KeyRecord {
  const own = record.conditions ?? null
  const expires = own?.expiresAtMs ?? null
  const conditions: KeyConditions = {
    disabled: own?.disabled ?? false,
    notBeforeMs: own?.notBeforeMs ?? null,
    addresses: own?.addresses ?? null,
    expiresAtMs: expires === null ? untilMs : Math.min(expires, untilMs),
    replaced: true,
  }
  return { ...record, conditions }
}

export function environmentRecord(row: EnvironmentRow): EnvironmentRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    environmentType: row.environment_type,
    requireContextSignature: row.require_context_signature,
    publishable: publishableLimits(row.environment_type, row.publishable_limits),
    contextSecrets: contextSecrets(row),
    lowercaseKeys: row.lowercase_keys,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

/** Default of the largest quantity of one event of a publishable key. */
const quantityMaxDefault = 10_000

/** Default of the users that publishable keys create in an hour. */
const createUsersDefault = 10_000

/**
 * Limits with defaults: in production a publishable key creates and names nothing but users with one key; nowhere does it
 * name traits (source: decision).
 */
function publishableLimits(type: EnvironmentType, set: PublishableLimitsWrite | null): PublishableKeyLimits {
  const free = type !== 'production'
  return {
    createCompanies: set?.create_companies ?? free,
    addCompanyKeys: set?.add_company_keys ?? free,
    createUsers: set?.create_users ?? createUsersDefault,
    addUserKeys: set?.add_user_keys ?? free,
    nameEvents: set?.name_events ?? free,
    nameTraits: set?.name_traits ?? false,
    quantityMax: set?.quantity_max ?? quantityMaxDefault,
    isOwn: set !== null,
  }
}

function contextSecrets(row: EnvironmentRow): ContextSecrets | null {
  const { context_secret: secret, former_context_secret: former, former_context_secret_until: until } = row
  if (secret === null) return null
  return {
    secret,
    former: former === null || until === null ? null : { secret: former, untilMs: until.getTime() },
  }
}

/**
 * All keys and environments. Postgres is the source of truth and is read for keys that another process wrote. A
 * writer of a key or environment updates the ring after its commit; the ring itself writes only `last_used_at`. A
 * flood of unknown values costs one hash each and one statement at a time.
 */
export class KeyRing implements Keys {
  readonly #sql: Sql
  readonly #pepper: Buffer
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #former: Buffer | null
  readonly #byId = new Map<string, Held>()
  readonly #byHash = new Map<string, Entry>()
  /** At most two values per key, which bounds its size. */
  readonly #byValue = new Map<string, Entry>()
  /** The entry found last: a caller usually repeats. */
  #last: Entry | null = null
  /** The key used last. */
  #lastHeld: Held | null = null
  /** Hash of an unknown value → epoch ms until which it counts as unknown. */
  readonly #unknown = new Map<string, number>()
  readonly #environments = new Map<string, EnvironmentRecord>()
  readonly #byAccount = new Map<string, readonly EnvironmentRecord[]>()
  readonly #removed: ((environmentId: string) => void)[] = []
  readonly #put: ((environment: EnvironmentRecord) => void)[] = []
  #onChange: () => void = () => {}
  #lookups = new Map<string, Lookup>()
  #looking = false
  #line: Promise<unknown> = Promise.resolve()
  #used = new Map<string, Use>()
  #flushing: NodeJS.Timeout | null = null
  /** Number of updates of the ring. A load that overlapped with one is repeated. */
  #told = 0
  /** Value of key_version at the last load. */
  #version: string | null = null
  readonly #timers: NodeJS.Timeout[] = []

  /** formerPepper  tried for values unknown under the pepper; the keys found are rehashed. */
  constructor(options: {
    sql: Sql
    pepper: Buffer
    formerPepper?: Buffer | null
    log: Logger
    nowMs?: () => number
  }) {
    this.#sql = options.sql
    this.#pepper = options.pepper
    this.#former = options.formerPepper ?? null
    this.#log = options.log
    this.#nowMs = options.nowMs ?? Date.now
  }

  /**
   * Load all keys and environments, at start and after changes by another process.
   *
   * errors   errors of the database; memory is unchanged then.
   */
  async load(): Promise<void> {
    for (;;) {
      const told = this.#told
      const version = await this.#storedVersion()
      const environments = await this.#sql<EnvironmentRow[]>`
        select id, account_id, name, environment_type, require_context_signature, publishable_limits, lowercase_keys,
          context_secret, former_context_secret, former_context_secret_until, created_at, updated_at
        from environments order by created_at, id`
      const keys = await this.#sql<KeyRow[]>`select ${this.#columns()} from api_keys`
      if (told !== this.#told) continue
      const present = new Set([...environments, ...keys].map(row => row.id))
      for (const id of [...this.#byId.keys()]) if (!present.has(id)) this.forget(id)
      for (const id of [...this.#environments.keys()]) if (!present.has(id)) this.forgetEnvironment(id)
      for (const row of environments) this.putEnvironment(environmentRecord(row))
      for (const row of keys) this.put(keyRecord(row), row.secret_hash, formerValue(row))
      this.#version = version
      return
    }
  }

  /**
   * Start to detect changes by others, such as manual SQL, within two seconds while Postgres is up; and to drop plain
   * values once a minute.
   *
   * source  AL-3, at most five seconds everywhere.
   */
  watch(): void {
    let looking = false
    const look = async (): Promise<void> => {
      looking = true
      await this.lookAgain().catch(error => this.#log.debug({ err: error }, 'keys are not read again'))
      looking = false
    }
    this.#timers.push(
      setInterval(() => {
        if (!looking) void look()
      }, lookEveryMs),
      setInterval(() => this.forgetValues(), valuesKeptMs),
    )
    for (const timer of this.#timers) timer.unref()
  }

  /** Stop watching. */
  stop(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }

  /** Reload the keys if they changed since the last load. */
  async lookAgain(): Promise<void> {
    if ((await this.#storedVersion()) !== this.#version) await this.load()
  }

  /** Drop plain values. Their next use is found by hash. */
  forgetValues(): void {
    for (const entry of this.#byValue.values()) entry.value = null
    this.#byValue.clear()
    this.#last = null
  }

  async #storedVersion(): Promise<string | null> {
    const [row] = await this.#sql<{ n: string }[]>`select n::text from key_version`
    return row?.n ?? null
  }

  find(value: string, asker?: KeyAsker): KeyRecord | null | Promise<KeyRecord | null> {
    const last = this.#last
    if (last !== null && last.value === value) return last.record
    const entry = this.#byValue.get(value)
    if (entry === undefined) return this.#search(value, asker)
    this.#last = entry
    return entry.record
  }

  byId(keyId: string): KeyRecord | null {
    return this.#byId.get(keyId)?.entry.record ?? null
  }

  ofValue(keyId: string, hash: Uint8Array): KeyRecord | null {
    const held = this.#byId.get(keyId)
    if (held === undefined) return null
    if (held.entry.hash.equals(hash)) return held.entry.record
    const { former } = held
    return former !== null && former.untilMs > this.#nowMs() && former.hash.equals(hash)
      ? former.record
      : null
  }

  environment(environmentId: string): EnvironmentRecord | null {
    return this.#environments.get(environmentId) ?? null
  }

  environments(accountId: string): readonly EnvironmentRecord[] {
    return this.#byAccount.get(accountId) ?? []
  }

  used(keyId: string, monotonicMs: number): void {
    let held = this.#lastHeld
    if (held === null || held.entry.record.id !== keyId) {
      held = this.#byId.get(keyId) ?? null
      if (held === null) return
      this.#lastHeld = held
    }
    if (monotonicMs - held.usedAtMs < usedEveryMs) return
    held.usedAtMs = monotonicMs
    const { value } = held.entry
    this.#used.set(keyId, { atMs: this.#nowMs(), lastFour: value === null ? null : lastFour(value) })
    this.#flushing ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }

  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work)
    this.#line = turn.catch(() => {})
    return turn
  }

  get pepperId(): string {
    return pepperId(this.#pepper)
  }

  hash(value: string): Buffer {
    return hashKey(this.#pepper, value)
  }

  put(record: KeyRecord, hash: Uint8Array | null, former?: FormerValue | null): void {
    this.#changed()
    const known = this.#byId.get(record.id)
    if (known === undefined) {
      if (hash === null) return
      const held: Held = {
        entry: this.#enter(record, hash),
        former: null,
        usedAtMs: Number.NEGATIVE_INFINITY,
      }
      this.#byId.set(record.id, held)
      this.#putFormer(held, former ?? null)
      return
    }
    const rolled = hash !== null && !known.entry.hash.equals(hash)
    if (rolled) {
      this.#leave(known.entry)
      known.entry = this.#enter(record, hash)
    } else known.entry.record = record
    if (former !== undefined || rolled) this.#putFormer(known, former ?? null)
    else if (known.former !== null) known.former.record = formerRecord(record, known.former.untilMs)
  }

  #putFormer(held: Held, former: FormerValue | null): void {
    if (held.former !== null) this.#leave(held.former)
    held.former = null
    if (former === null || former.untilMs <= this.#nowMs()) return
    const { untilMs } = former
    const entry = this.#enter(formerRecord(held.entry.record, untilMs), former.hash)
    held.former = Object.assign(entry, { untilMs })
  }

  #enter(record: KeyRecord, hash: Uint8Array): Entry {
    const entry: Entry = { record, hash: Buffer.from(hash), value: null }
    const hex = entry.hash.toString('hex')
    this.#byHash.set(hex, entry)
    this.#unknown.delete(hex)
    return entry
  }

  #leave(entry: Entry): void {
    const hex = entry.hash.toString('hex')
    if (this.#byHash.get(hex) === entry) this.#byHash.delete(hex)
    if (entry.value !== null) this.#byValue.delete(entry.value)
    if (this.#last === entry) this.#last = null
  }

  forget(keyId: string): void {
    this.#changed()
    const held = this.#byId.get(keyId)
    if (!held) return
    this.#byId.delete(keyId)
    if (this.#lastHeld === held) this.#lastHeld = null
    this.#leave(held.entry)
    if (held.former !== null) this.#leave(held.former)
    this.#used.delete(keyId)
  }

  putEnvironment(record: EnvironmentRecord): void {
    const known = this.#environments.get(record.id)
    if (known && known.updatedAtMs > record.updatedAtMs) return
    this.#changed()
    this.#environments.set(record.id, record)
    this.#arrange(record.accountId)
    for (const listener of this.#put) listener(record)
  }

  forgetEnvironment(environmentId: string): void {
    this.#changed()
    const environment = this.#environments.get(environmentId)
    if (!environment) return
    this.#environments.delete(environmentId)
    this.#arrange(environment.accountId)
    for (const [id, { entry }] of [...this.#byId])
      if (entry.record.environmentId === environmentId) this.forget(id)
    for (const listener of this.#removed) listener(environmentId)
  }

  #changed(): void {
    this.#told++
    this.#onChange()
  }

  /** The listener is called in the same tick for every change of a key or environment. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Register a listener, called in the same tick for every removed environment. */
  onEnvironmentRemoved(listener: (environmentId: string) => void): void {
    this.#removed.push(listener)
  }

  /** Register a listener, called now for every environment, and in the same tick for each that is new or changed. */
  onEnvironment(listener: (environment: EnvironmentRecord) => void): void {
    this.#put.push(listener)
    for (const record of this.#environments.values()) listener(record)
  }

  /** Write the noted uses now. After a failure they are kept for the next time. */
  async flush(): Promise<void> {
    if (this.#flushing) clearTimeout(this.#flushing)
    this.#flushing = null
    const uses = this.#used
    if (uses.size === 0) return
    this.#used = new Map()
    try {
      const rows = [...uses].map(([id, use]) => ({
        id,
        at: new Date(use.atMs).toISOString(),
        last_four: use.lastFour,
      }))
      await this.#sql`
        update api_keys set last_used_at = u.at, last_four = coalesce(api_keys.last_four, u.last_four)
        from jsonb_to_recordset(${this.#sql.json(rows)}) as u (id text, at timestamptz, last_four text)
        where api_keys.id = u.id`
    } catch (error) {
      this.#log.warn({ err: error }, 'last use of keys not written')
      for (const [id, use] of uses) if (!this.#used.has(id) && this.#byId.has(id)) this.#used.set(id, use)
    }
  }

  #columns() {
    return this.#sql`id, account_id, environment_id, name, description, kind, scopes, readonly,
      rate_limit_percent, secret_hash, bootstrap, not_before, expires_at, disabled, allowed_addresses,
      previous_hash, previous_until`
  }

  #arrange(accountId: string): void {
    const of = [...this.#environments.values()].filter(environment => environment.accountId === accountId)
    of.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
    this.#byAccount.set(accountId, of)
  }

  #search(value: string, asker?: KeyAsker): KeyRecord | null | Promise<KeyRecord | null> {
    if (value.length > valueLengthMax) return null
    const known = this.#hashed(value)
    if (known !== null) return known
    const hex = this.hash(value).toString('hex')
    // only the bootstrap key, which is always in memory, may have another format
    if ((this.#unknown.get(hex) ?? 0) > this.#nowMs() || !mayBeOurs(value)) return null
    if (asker !== undefined && !asker.mayAsk()) return null
    return this.#lookUp(hex, value)
  }

  /** The key in memory with this value, found by hash; null: none. */
  #hashed(value: string): KeyRecord | null {
    const entry = this.#entryOf(this.hash(value))
    if (entry !== null) return this.#recognise(entry, value)
    if (this.#former === null) return null
    const old = this.#entryOf(hashKey(this.#former, value))
    return old === null ? null : this.#recognise(this.#hashAnew(old, value), value)
  }

  #entryOf(hash: Buffer): Entry | null {
    const entry = this.#byHash.get(hash.toString('hex'))
    return entry !== undefined && timingSafeEqual(entry.hash, hash) ? entry : null
  }

  #recognise(entry: Entry, value: string): KeyRecord {
    entry.value = value
    this.#byValue.set(value, entry)
    this.#last = entry
    return entry.record
  }

  /** Rehash a value known only under the former pepper, in memory and in Postgres. */
  #hashAnew(old: Entry, value: string): Entry {
    const held = this.#byId.get(old.record.id)!
    this.#leave(old)
    const entry = this.#enter(old.record, this.hash(value))
    if (held.entry === old) held.entry = entry
    else held.former = Object.assign(entry, { untilMs: held.former!.untilMs })
    const { id } = old.record
    const column = held.entry === entry ? 'secret_hash' : 'previous_hash'
    void this.inOrder(
      () => this.#sql`
        update api_keys set ${this.#sql({ [column]: entry.hash, pepper_id: pepperId(this.#pepper) })}
        where id = ${id} and ${this.#sql(column)} = ${old.hash}`,
    ).catch(error => this.#log.warn({ err: error }, 'a key stays under the former pepper'))
    return entry
  }

  /** Look up a hash in Postgres. Callers during a running statement share the next one. */
  #lookUp(hex: string, value: string): Promise<KeyRecord | null> {
    const running = this.#lookups.get(hex)
    if (running) return running.promise
    if (this.#lookups.size >= lookupsMax) throw new ServiceError('overloaded')
    let succeed: Lookup['resolve'] = () => {}
    let fail: Lookup['fail'] = () => {}
    const promise = new Promise<KeyRecord | null>((resolve, reject) => {
      succeed = resolve
      fail = reject
    })
    this.#lookups.set(hex, { promise, resolve: succeed, fail, value })
    if (!this.#looking) void this.#lookAll()
    return promise
  }

  async #lookAll(): Promise<void> {
    this.#looking = true
    // lookups of this tick join the first statement
    await Promise.resolve()
    while (this.#lookups.size > 0) {
      const asked = this.#lookups
      this.#lookups = new Map()
      try {
        await this.#readKeys([...asked].flatMap(([hex, { value }]) => this.#hexesOf(hex, value)))
        for (const [hex, lookup] of asked) lookup.resolve(this.#hashed(lookup.value) ?? this.#remember(hex))
      } catch (error) {
        const away = new ServiceError('store_away', undefined, { cause: error })
        for (const lookup of asked.values()) lookup.fail(away)
      }
    }
    this.#looking = false
  }

  #hexesOf(hex: string, value: string): readonly string[] {
    return this.#former === null ? [hex] : [hex, hashKey(this.#former, value).toString('hex')]
  }

  async #readKeys(hexes: readonly string[]): Promise<void> {
    for (;;) {
      const told = this.#told
      const rows = await this.#sql<KeyRow[]>`
        with asked as (
          select decode(hash, 'hex') as hash from jsonb_array_elements_text(${this.#sql.json(hexes)}) as hash)
        select ${this.#columns()} from api_keys
        where secret_hash in (select hash from asked) or previous_hash in (select hash from asked)`
      // rows read before an update must not restore a deleted key
      if (told !== this.#told) continue
      for (const row of rows) this.put(keyRecord(row), row.secret_hash, formerValue(row))
      return
    }
  }

  #remember(hex: string): null {
    if (this.#unknown.size >= unknownMax) {
      for (const oldest of this.#unknown.keys()) {
        this.#unknown.delete(oldest)
        break
      }
    }
    this.#unknown.set(hex, this.#nowMs() + unknownForMs)
    return null
  }
}

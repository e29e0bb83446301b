// Keys and environments: all of them in memory on the HTTP thread, so that asking who calls costs one look into a Map.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { ApiKeyScope, EnvironmentType } from '../../schemas/enums.js'
import type { EnvironmentRecord, KeyRecord } from '../api/call.js'
import type { Keys } from '../api/services.js'
import { ServiceError } from '../errors.js'

const valueLengthMax = 256
const unknownMax = 10_000
const unknownForMs = 5_000
const lookupsMax = 1_000
const usedEveryMs = 60_000
const flushAfterMs = 1_000

interface Entry {
  record: KeyRecord
  readonly hash: Buffer
  /** The value, once somebody has shown it: the next request finds the entry by it without hashing. */
  value: string | null
  /** Of the monotonic clock, when a use was noted last. */
  usedAtMs: number
}

interface Lookup {
  readonly promise: Promise<KeyRecord | null>
  readonly settle: (key: KeyRecord | null) => void
  readonly fail: (error: unknown) => void
}

/** A row of api_keys, as `keyColumns` selects it. */
export interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string | null
  readonly name: string
  readonly description: string | null
  readonly kind: 'secret' | 'publishable'
  readonly scopes: readonly ApiKeyScope[]
  readonly readonly: boolean
  readonly rate_limit_percent: number | null
  readonly secret_hash: Uint8Array
}

/** A row of environments. */
export interface EnvironmentRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly environment_type: EnvironmentType
  readonly require_context_signature: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const kindPrefix = { secret: 'sk', publishable: 'pk' } as const
const typePrefix = { production: 'prod', staging: 'stag', development: 'dev' } as const

/**
 * A new key value: its prefix and 256 random bits.
 *
 * source   AL-2.
 */
export function newKeyValue(kind: KeyRecord['kind'], type: EnvironmentType | null): string {
  return `${kindPrefix[kind]}_${type === null ? 'acct' : typePrefix[type]}_${randomBytes(32).toString('base64url')}`
}

/**
 * What is stored of a key's value: HMAC-SHA-256 under the server's pepper.
 *
 * pepper   the server's own secret; another pepper knows none of the keys.
 * source   AL-2.
 */
export function hashKey(pepper: Buffer, value: string): Buffer {
  return createHmac('sha256', pepper).update(value).digest()
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
  }
}

export function environmentRecord(row: EnvironmentRow): EnvironmentRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    environmentType: row.environment_type,
    requireContextSignature: row.require_context_signature,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

/** Only values of our own making, and the bootstrap key, which is always in memory, can be known to Postgres alone. */
const ownForm = /^(sk|pk)_(prod|stag|dev|acct)_[\w-]{43}$/

/**
 * All keys and environments, in memory; Postgres is the truth and is asked for a key this process did not make.
 * Whoever writes a key or environment tells the ring after the commit; nothing here writes but `last_used_at`.
 * A flood of unknown values costs one hash each and at most one statement at a time.
 */
export class KeyRing implements Keys {
  readonly #sql: Sql
  readonly #pepper: Buffer
  readonly #log: Logger
  readonly #nowMs: () => number
  readonly #byId = new Map<string, Entry>()
  readonly #byHash = new Map<string, Entry>()
  /** At most one value per key, so no larger than the keys are many. */
  readonly #byValue = new Map<string, Entry>()
  /** Found last: one caller asks again and again. */
  #last: Entry | null = null
  /** Hash of a value nobody has → epoch ms until which that is believed. */
  readonly #unknown = new Map<string, number>()
  readonly #environments = new Map<string, EnvironmentRecord>()
  readonly #byAccount = new Map<string, readonly EnvironmentRecord[]>()
  readonly #removed: ((environmentId: string) => void)[] = []
  #lookups = new Map<string, Lookup>()
  #looking = false
  #line: Promise<unknown> = Promise.resolve()
  #used = new Map<string, number>()
  #flushing: NodeJS.Timeout | null = null
  /** Counts what was told to the ring, so that a load that overlapped is repeated rather than believed. */
  #told = 0

  constructor(options: { sql: Sql; pepper: Buffer; log: Logger; nowMs?: () => number }) {
    this.#sql = options.sql
    this.#pepper = options.pepper
    this.#log = options.log
    this.#nowMs = options.nowMs ?? Date.now
  }

  /**
   * Read every key and environment, at start and whenever another process may have changed them.
   *
   * errors   whatever the database throws; memory is then as it was.
   */
  async load(): Promise<void> {
    for (;;) {
      const told = this.#told
      const environments = await this.#sql<EnvironmentRow[]>`
        select id, account_id, name, environment_type, require_context_signature, created_at, updated_at
        from environments order by created_at, id`
      const keys = await this.#sql<KeyRow[]>`select ${this.#columns()} from api_keys`
      if (told !== this.#told) continue
      const present = new Set([...environments, ...keys].map(row => row.id))
      for (const id of [...this.#byId.keys()]) if (!present.has(id)) this.forget(id)
      for (const id of [...this.#environments.keys()]) if (!present.has(id)) this.forgetEnvironment(id)
      for (const row of environments) this.putEnvironment(environmentRecord(row))
      for (const row of keys) this.put(keyRecord(row), row.secret_hash)
      return
    }
  }

  find(value: string): KeyRecord | null | Promise<KeyRecord | null> {
    const last = this.#last
    if (last !== null && last.value === value) return last.record
    const entry = this.#byValue.get(value)
    if (entry === undefined) return this.#search(value)
    this.#last = entry
    return entry.record
  }

  environment(environmentId: string): EnvironmentRecord | null {
    return this.#environments.get(environmentId) ?? null
  }

  environments(accountId: string): readonly EnvironmentRecord[] {
    return this.#byAccount.get(accountId) ?? []
  }

  used(keyId: string, monotonicMs: number): void {
    const last = this.#last
    const entry = last !== null && last.record.id === keyId ? last : this.#byId.get(keyId)
    if (!entry || monotonicMs - entry.usedAtMs < usedEveryMs) return
    entry.usedAtMs = monotonicMs
    this.#used.set(keyId, this.#nowMs())
    this.#flushing ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }

  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work)
    this.#line = turn.catch(() => {})
    return turn
  }

  hash(value: string): Buffer {
    return hashKey(this.#pepper, value)
  }

  put(record: KeyRecord, hash: Uint8Array | null): void {
    this.#told++
    const known = this.#byId.get(record.id)
    if (known && (hash === null || known.hash.equals(hash))) {
      known.record = record
      return
    }
    if (hash === null) return
    this.forget(record.id)
    const entry: Entry = { record, hash: Buffer.from(hash), value: null, usedAtMs: Number.NEGATIVE_INFINITY }
    const hex = entry.hash.toString('hex')
    this.#byId.set(record.id, entry)
    this.#byHash.set(hex, entry)
    this.#unknown.delete(hex)
  }

  forget(keyId: string): void {
    this.#told++
    const entry = this.#byId.get(keyId)
    if (!entry) return
    this.#byId.delete(keyId)
    if (this.#last === entry) this.#last = null
    this.#byHash.delete(entry.hash.toString('hex'))
    if (entry.value !== null) this.#byValue.delete(entry.value)
    this.#used.delete(keyId)
  }

  putEnvironment(record: EnvironmentRecord): void {
    const known = this.#environments.get(record.id)
    if (known && known.updatedAtMs > record.updatedAtMs) return
    this.#told++
    this.#environments.set(record.id, record)
    this.#arrange(record.accountId)
  }

  forgetEnvironment(environmentId: string): void {
    this.#told++
    const environment = this.#environments.get(environmentId)
    if (!environment) return
    this.#environments.delete(environmentId)
    this.#arrange(environment.accountId)
    for (const [id, { record }] of [...this.#byId])
      if (record.environmentId === environmentId) this.forget(id)
    for (const listener of this.#removed) listener(environmentId)
  }

  /** Be told, in the same tick, of every environment that is gone; for those who keep anything of it. */
  onEnvironmentRemoved(listener: (environmentId: string) => void): void {
    this.#removed.push(listener)
  }

  /** Write the noted uses now. A failure keeps them for the next time. */
  async flush(): Promise<void> {
    if (this.#flushing) clearTimeout(this.#flushing)
    this.#flushing = null
    const uses = this.#used
    if (uses.size === 0) return
    this.#used = new Map()
    try {
      const rows = [...uses].map(([id, ms]) => ({ id, at: new Date(ms).toISOString() }))
      await this.#sql`
        update api_keys set last_used_at = u.at
        from jsonb_to_recordset(${this.#sql.json(rows)}) as u (id text, at timestamptz) where api_keys.id = u.id`
    } catch (error) {
      this.#log.warn({ err: error }, 'last use of keys not written')
      for (const [id, ms] of uses) if (!this.#used.has(id) && this.#byId.has(id)) this.#used.set(id, ms)
    }
  }

  #columns() {
    return this.#sql`id, account_id, environment_id, name, description, kind, scopes, readonly,
      rate_limit_percent, secret_hash`
  }

  #arrange(accountId: string): void {
    const of = [...this.#environments.values()].filter(environment => environment.accountId === accountId)
    of.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
    this.#byAccount.set(accountId, of)
  }

  #search(value: string): KeyRecord | null | Promise<KeyRecord | null> {
    if (value.length > valueLengthMax) return null
    const hash = this.hash(value)
    const hex = hash.toString('hex')
    const entry = this.#byHash.get(hex)
    if (entry && timingSafeEqual(entry.hash, hash)) return this.#recognise(entry, value)
    if ((this.#unknown.get(hex) ?? 0) > this.#nowMs() || !ownForm.test(value)) return null
    return this.#lookUp(hex)
  }

  #recognise(entry: Entry, value: string): KeyRecord {
    entry.value = value
    this.#byValue.set(value, entry)
    return entry.record
  }

  /** Everyone who waits while a statement runs is answered by the next one. */
  #lookUp(hex: string): Promise<KeyRecord | null> {
    const running = this.#lookups.get(hex)
    if (running) return running.promise
    if (this.#lookups.size >= lookupsMax) throw new ServiceError('overloaded')
    let settle: Lookup['settle'] = () => {}
    let fail: Lookup['fail'] = () => {}
    const promise = new Promise<KeyRecord | null>((resolve, reject) => {
      settle = resolve
      fail = reject
    })
    this.#lookups.set(hex, { promise, settle, fail })
    if (!this.#looking) void this.#lookAll()
    return promise
  }

  async #lookAll(): Promise<void> {
    this.#looking = true
    while (this.#lookups.size > 0) {
      const asked = this.#lookups
      this.#lookups = new Map()
      try {
        await this.#readKeys([...asked.keys()])
        for (const [hex, lookup] of asked) lookup.settle(this.#byHash.get(hex)?.record ?? this.#remember(hex))
      } catch (error) {
        const away = new ServiceError('store_away', undefined, { cause: error })
        for (const lookup of asked.values()) lookup.fail(away)
      }
    }
    this.#looking = false
  }

  async #readKeys(hexes: readonly string[]): Promise<void> {
    for (;;) {
      const told = this.#told
      const rows = await this.#sql<KeyRow[]>`
        select ${this.#columns()} from api_keys
        where secret_hash in (
          select decode(hash, 'hex') from jsonb_array_elements_text(${this.#sql.json(hexes)}) as hash)`
      // A key deleted meanwhile must not come back by what was read before.
      if (told !== this.#told) continue
      for (const row of rows) this.put(keyRecord(row), row.secret_hash)
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

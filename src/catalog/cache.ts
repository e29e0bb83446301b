// The current definitions of every environment on the HTTP thread, and the only way to change them.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { CatalogData } from '../core/model/definitions.js'
import { ServiceError } from '../errors.js'
import { toFailure } from '../storage/failure.js'
import { FairGate } from '../turns/fair-gate.js'
import { type Announce, logFailure, retryDelayMs } from './announce.js'
import { type Loaders, loadCatalog, loadWithin } from './load.js'
import type { TraitRegistry } from './traits.js'

/** Changes of one environment that may wait for their turn. */
const waitingMax = 500
const patienceMs = 10_000

/** The account or environment whose definitions change. */
export interface ChangeScope {
  readonly accountId: string
  /** null: all environments of the account. */
  readonly environmentId: string | null
  /** The queue of the change: the caller's environment. Default: the changed environment, or the account. */
  readonly group?: string
}

/** The current catalog of every environment on the HTTP thread, and the one way to change definitions. */
export interface DefinitionChanges {
  /** Current definitions of an environment. Throws when the environment is unknown. */
  get(environmentId: string): CatalogData
  /**
   * Run a definitions transaction, raise the version of the environments it touches (one, or all of the account),
   * load their new catalogs, hand them to every shard, and resolve once every shard has them: the caller reads its
   * own write on any connection. Rejections of `work` roll back and pass through.
   */
  change<T>(scope: ChangeScope, work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * The definitions as the transaction of a change sees them, before the shards have them. Absent: `get` shows them. null:
   * the environment is deleted.
   */
  within?(tx: Sql, environmentId: string): Promise<CatalogData | null>
}

/** Keeps former definitions (history.ts). */
interface KeptHistory {
  /** The environment's present, epoch ms. */
  present(environmentId: string): number
  /** Resolves when a version that the shards got at an instant is kept, or could not be kept. Never rejects. */
  keep(data: CatalogData, sinceMs: number): Promise<void>
  forgetEnvironment(environmentId: string): void
}

interface Waiter {
  readonly version: number
  readonly resolve: () => void
}

/** State of one environment's catalog between Postgres and the shards. */
interface Course {
  /** The value of `get`; null before the first load. */
  data: CatalogData | null
  /** The newest version that every shard has. */
  announced: number
  /** The newest version known to be committed. */
  wanted: number
  running: boolean
  readonly waiters: Set<Waiter>
}

/**
 * The catalogs.
 *
 * A change is committed before it is announced. A committed change is never lost: the environment retries until every
 * shard has that version or a newer one. `data` changes in the tick in which it is posted to the shards, so a message
 * sent after reading it arrives after it.
 */
export class CatalogCache implements DefinitionChanges {
  readonly #sql: Sql
  readonly #log: Logger
  readonly #traits: TraitRegistry
  readonly #announce: Announce
  readonly #loaders: Loaders
  readonly #patienceMs: number
  readonly #history: KeptHistory | null
  readonly #told: ((versions: readonly Version[]) => Promise<void>) | null
  readonly #courses = new Map<string, Course>()
  /** One transaction of an account at a time, its environments in turn: one connection each, however many wait. */
  readonly #gates = new Map<string, FairGate>()
  #closed = false

  constructor(options: {
    sql: Sql
    log: Logger
    traits: TraitRegistry
    announce: Announce
    loaders?: Loaders
    /** Longest wait of a caller for the shards. After it the caller gets an error; the change continues. */
    patienceMs?: number
    /** Tells other nodes of what was changed here; resolves when they have it. */
    told?: (versions: readonly Version[]) => Promise<void>
    /** Absent: former definitions are not kept. */
    history?: KeptHistory
  }) {
    this.#history = options.history ?? null
    this.#told = options.told ?? null
    this.#sql = options.sql
    this.#log = options.log
    this.#traits = options.traits
    this.#announce = options.announce
    this.#loaders = options.loaders ?? {}
    this.#patienceMs = options.patienceMs ?? patienceMs
  }

  /** Load and announce every environment, at start. Resolves when the shards have all of them. */
  async start(): Promise<void> {
    const rows = await this.#sql<VersionRow[]>`select id, catalog_version from environments order by id`
    await Promise.all(rows.map(row => this.#reach(row.id, Number(row.catalog_version))))
  }

  /** Stop retrying. The next start loads what is committed. */
  close(): void {
    this.#closed = true
  }

  /** Environments that have a catalog. */
  ids(): readonly string[] {
    return [...this.#courses].filter(([, course]) => course.data !== null).map(([id]) => id)
  }

  get(environmentId: string): CatalogData {
    const data = this.#courses.get(environmentId)?.data
    if (!data) throw new ServiceError('not_found', 'Environment not found')
    return data
  }

  /**
   * Run a definitions transaction and bring its outcome to every shard.
   *
   * Changes of one account are in one order, also across processes: each transaction locks the account's row.
   * Environments that ask take turns: one waits for one change of each other (security 5).
   *
   * scope    one environment, or (`environmentId` null) all environments the account has when the work is done.
   * work     its statements. Errors it throws roll back and are passed on; database refusals become 400 or 503.
   * returns  the result of `work`, once every shard has the version it made or a newer one.
   * errors   `overloaded` when its turn does not come in time, or too many of the environment wait: nothing is done. Also
   *          when the shards are not reached in time: the change is committed and will reach them.
   */
  async change<T>(scope: ChangeScope, work: (sql: Sql) => Promise<T>): Promise<T> {
    const { result, versions } = await this.#inTurn(scope, () => this.#transact(scope, work))
    await Promise.all([
      ...versions.map(({ id, version }) => this.#reach(id, version)),
      ...(this.#told === null ? [] : [this.#told(versions)]),
    ])
    return result
  }

  /**
   * Handle a notice of another process: an environment has this version, or had the one before when it was deleted.
   */
  heard(environmentId: string, version: number): Promise<void> {
    return this.#reach(environmentId, version)
  }

  /** Drop the catalog of a deleted environment. Waiting callers are released. */
  forgetEnvironment(environmentId: string): void {
    this.#history?.forgetEnvironment(environmentId)
    const course = this.#courses.get(environmentId)
    this.#courses.delete(environmentId)
    for (const waiter of course?.waiters ?? []) waiter.resolve()
  }

  async within(tx: Sql, environmentId: string): Promise<CatalogData | null> {
    const loaded = await loadWithin(tx, environmentId, this.#loaders)
    return loaded && { ...loaded.data, traits: this.#traits.list(environmentId) }
  }

  async #inTurn<T>(scope: ChangeScope, run: () => Promise<T>): Promise<T> {
    const { accountId, environmentId, group = environmentId ?? accountId } = scope
    let gate = this.#gates.get(accountId)
    if (gate === undefined) {
      gate = new FairGate({ places: 1, perGroup: 1, waitingMax, patienceMs, name: 'changes of definitions' })
      this.#gates.set(accountId, gate)
    }
    try {
      return await gate.run(group, run)
    } finally {
      if (gate.isIdle && this.#gates.get(accountId) === gate) this.#gates.delete(accountId)
    }
  }

  async #transact<T>(
    scope: ChangeScope,
    work: (sql: Sql) => Promise<T>,
  ): Promise<{ readonly result: T; readonly versions: readonly { id: string; version: number }[] }> {
    const { accountId, environmentId } = scope
    try {
      const outcome = await this.#sql.begin(async transaction => {
        const tx = transaction as unknown as Sql
        if (environmentId === null)
          await tx`select id from accounts where id = ${accountId} for no key update`
        else {
          await tx`select id from accounts where id = ${accountId} for share`
          await tx`select id from environments where id = ${environmentId} for no key update`
        }
        const result = await work(tx)
        const rows = await tx<VersionRow[]>`
          update environments set catalog_version = catalog_version + 1
          where account_id = ${accountId} ${environmentId === null ? tx`` : tx`and id = ${environmentId}`}
          returning id, catalog_version`
        return { result, versions: rows.map(row => ({ id: row.id, version: Number(row.catalog_version) })) }
      })
      return outcome as { result: T; versions: { id: string; version: number }[] }
    } catch (error) {
      throw toFailure(error)
    }
  }

  #reach(environmentId: string, version: number): Promise<void> {
    let course = this.#courses.get(environmentId)
    if (!course) {
      course = { data: null, announced: 0, wanted: 0, running: false, waiters: new Set() }
      this.#courses.set(environmentId, course)
    }
    if (course.announced >= version) return Promise.resolve()
    course.wanted = Math.max(course.wanted, version)
    const reached = this.#wait(course, version)
    if (!course.running) void this.#run(environmentId, course)
    return reached
  }

  #wait(course: Course, version: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        version,
        resolve: () => {
          clearTimeout(timer)
          course.waiters.delete(waiter)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        course.waiters.delete(waiter)
        reject(new ServiceError('overloaded', 'The change is stored and takes effect shortly'))
      }, this.#patienceMs)
      course.waiters.add(waiter)
    })
  }

  async #run(environmentId: string, course: Course): Promise<void> {
    course.running = true
    let failures = 0
    while (course.announced < course.wanted && !this.#closed && this.#courses.get(environmentId) === course) {
      try {
        await this.#advance(environmentId, course)
        failures = 0
      } catch (error) {
        logFailure(this.#log, environmentId, ++failures, error)
        await new Promise(resolve => setTimeout(resolve, retryDelayMs(failures)).unref())
      }
    }
    course.running = false
  }

  async #advance(environmentId: string, course: Course): Promise<void> {
    const { wanted } = course
    const loaded = await loadCatalog(this.#sql, environmentId, this.#loaders)
    if (this.#courses.get(environmentId) !== course) return
    if (!loaded) {
      this.forgetEnvironment(environmentId)
      return
    }
    for (const row of loaded.traits) this.#traits.define(row)
    // No await from here to announce: traits introduced so far are included, later ones are posted afterwards.
    const data: CatalogData = { ...loaded.data, traits: this.#traits.list(environmentId) }
    course.data = data
    const sinceMs = this.#history?.present(environmentId) ?? 0
    await this.#announce(data)
    course.announced = data.version
    await this.#history?.keep(data, sinceMs)
    // An announced version that is not visible was never committed; do not wait for it.
    if (course.wanted === wanted) course.wanted = data.version
    for (const waiter of [...course.waiters])
      if (waiter.version <= Math.max(data.version, wanted)) waiter.resolve()
  }
}

/** An environment's version. */
export interface Version {
  readonly id: string
  readonly version: number
}

interface VersionRow {
  readonly id: string
  readonly catalog_version: string | number
}

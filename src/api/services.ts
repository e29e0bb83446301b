// What handlers work with, wired once in main.ts. Each member's own file says more.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { TraitRegistry } from '../catalog/traits.js'
import type { CatalogData } from '../core/catalog.js'
import type { AccountLimits } from '../engine/account-limits.js'
import type { Answers } from '../engine/answers.js'
import type { AuditLog } from '../engine/audit.js'
import type { Backlog } from '../engine/backlog.js'
import type { TestClock } from '../engine/clock.js'
import type { Dedupe } from '../engine/dedupe.js'
import type { Deliveries } from '../engine/deliveries.js'
import type { Directory } from '../engine/directory.js'
import type { Entities } from '../engine/entities.js'
import type { HoldKeys } from '../engine/hold-keys.js'
import type { Migrations } from '../engine/migrations.js'
import type { ModelPrices } from '../engine/model-prices.js'
import type { Outbox } from '../engine/outbox.js'
import type { Parsers } from '../engine/parsers.js'
import type { Projections } from '../engine/projections.js'
import type { Quotas } from '../engine/quotas.js'
import type { CheckedFlags, UserSeen } from '../engine/seen.js'
import type { Shards } from '../engine/shards.js'
import type { StoreTurns } from '../engine/store-turns.js'
import type { Webhooks } from '../engine/webhooks.js'
import type { Metrics } from '../metrics.js'
import type { ClickHouse } from '../storage/clickhouse.js'
import type { EnvironmentRecord, KeyRecord } from './call.js'

/** A value that a roll replaced, as it is stored, and until when it is taken, epoch ms. */
export interface FormerValue {
  readonly hash: Uint8Array
  readonly untilMs: number
}

/** For whom an unknown key is looked up. */
export interface KeyAsker {
  mayAsk(): boolean
}

/** Keys and environments, in memory on the HTTP thread, backed by Postgres (src/engine/keys.ts). */
export interface Keys {
  /**
   * The key with this secret, or null. A known secret answers at once; an unknown one costs at most one look
   * into Postgres and is remembered briefly; all that are asked for in one tick share a statement. Throws `store_away`
   * when Postgres is needed and away.
   *
   * asker  whoever has asked too often for keys that nobody has is not looked up for; absent: always.
   */
  find(secret: string, asker?: KeyAsker): KeyRecord | null | Promise<KeyRecord | null>
  /** The environment, or null. Always in memory. */
  environment(environmentId: string): EnvironmentRecord | null
  /** Environments of the account, oldest first. */
  environments(accountId: string): readonly EnvironmentRecord[]
  /** Notes a use at this time of the monotonic clock, ms; written at most once a minute per key (AL-4). */
  used(keyId: string, monotonicMs: number): void
  /** Writes to keys take turns, so that memory takes them over in the order of Postgres. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** What Postgres keeps of a value. */
  hash(value: string): Buffer
  /** Names the pepper of these hashes without telling it. */
  readonly pepperId: string
  /**
   * Takes over a key that was written; `hash` null: a key already known, changed. `former`: the value its last roll
   * replaced; left out, that of a key already known stays.
   */
  put(record: KeyRecord, hash: Uint8Array | null, former?: FormerValue | null): void
  /** The key is gone: from this tick nobody is let in by it (AL-3). */
  forget(keyId: string): void
  /** Takes over an environment that was written; one older than what is known is ignored. */
  putEnvironment(record: EnvironmentRecord): void
  /** The environment is gone, and its keys with it. */
  forgetEnvironment(environmentId: string): void
}

/** Time, per environment: the wall clock, never backwards, shifted by the environment's test clock (decisions 10, 11). */
export interface Clock {
  /** The wall clock, never backwards, epoch ms. */
  wall(): number
  /** The present of an environment, never backwards except when its test clock is removed, epoch ms. */
  now(environmentId: string): number
  /** The environment's test clock, or null without one. */
  testClock(environmentId: string): TestClock | null
  /**
   * Sets or (null) removes a test clock: in force from this tick, resolves when it is stored.
   * Who calls has made sure that the environment is not production and time does not go back.
   * `record` writes what else belongs to the change, in its transaction.
   * Rejects, with the former clock back in force, when it cannot be stored.
   */
  setTestClock(
    environmentId: string,
    clock: TestClock | null,
    record?: (tx: Sql) => Promise<void>,
  ): Promise<void>
}

/** The current catalog of every environment on the HTTP thread, and the one way to change definitions. */
export interface Catalogs {
  /** Current definitions of an environment. Throws when the environment is unknown. */
  get(environmentId: string): CatalogData
  /**
   * Run a definitions transaction, raise the version of the environments it touches (one, or all of the account),
   * load their new catalogs, hand them to every shard, and resolve once every shard has them: the caller reads its
   * own write on any connection. Rejections of `work` roll back and pass through.
   */
  change<T>(
    scope: { readonly accountId: string; readonly environmentId: string | null },
    work: (sql: Sql) => Promise<T>,
  ): Promise<T>
}

export interface Services {
  readonly log: Logger
  readonly sql: Sql
  readonly clickhouse: ClickHouse
  /** Gives a request the stores in the turn of its environment; absent: it asks the two above as they are. */
  readonly turns?: StoreTurns
  readonly keys: Keys
  readonly clock: Clock
  readonly catalogs: Catalogs
  readonly traits: TraitRegistry
  readonly shards: Shards
  readonly parsers: Parsers
  readonly directory: Directory
  readonly entities: Entities
  readonly answers: Answers
  readonly dedupe: Dedupe
  readonly holdKeys: HoldKeys
  readonly projections: Projections
  readonly migrations: Migrations
  readonly userSeen: UserSeen
  readonly checkedFlags: CheckedFlags
  readonly modelPrices: ModelPrices
  readonly metrics: Metrics
  readonly backlog: Backlog
  readonly audit: AuditLog
  readonly accountLimits: AccountLimits
  readonly quotas: Quotas
  readonly webhooks: Webhooks
  readonly outbox: Outbox
  readonly deliveries: Deliveries
  /** Whether webhooks of production environments may be plain http. */
  readonly webhookPlainHttp: boolean
  /** Whether webhooks may reach private networks. */
  readonly webhookPrivateAddresses: boolean
}

// The services that handlers use, wired once in serve.ts. Each member is documented in its own file.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { AccessTokens } from '../account/access-tokens.js'
import type { AuditLog } from '../account/audit/audit.js'
import type { Keys } from '../account/key-types.js'
import type { AccountLimits } from '../account/limits.js'
import type { ModelPrices } from '../account/model-prices.js'
import type { Sessions } from '../account/sessions.js'
import type { DefinitionChanges } from '../catalog/cache.js'
import type { TraitRegistry } from '../catalog/traits.js'
import type { Migrations } from '../control/migrations/migrations.js'
import type { SelfReport } from '../control/self-report.js'
import type { Deliveries } from '../control/webhooks/deliveries.js'
import type { Outbox } from '../control/webhooks/outbox.js'
import type { Webhooks } from '../control/webhooks/subscriptions.js'
import type { TestClock } from '../core/values/test-clock.js'
import type { Directory } from '../entities/directory/directory.js'
import type { Entities } from '../entities/directory/entities.js'
import type { CheckedFlags, UserSeen } from '../entities/directory/last-seen.js'
import type { Quotas } from '../entities/directory/quotas.js'
import type { Dedupe } from '../entities/idempotency/dedupe.js'
import type { HoldKeys } from '../entities/idempotency/hold-keys.js'
import type { PaidWrites } from '../entities/idempotency/paid-writes.js'
import type { Shards } from '../entities/shards/shards.js'
import type { StoreTurns } from '../entities/turns/store-turns.js'
import type { Parsers } from '../front/events/parsing/parser-pool.js'
import type { Streams } from '../front/stream/streams.js'
import type { CompanyViews } from '../kept/company-views.js'
import type { Metrics } from '../metrics.js'
import type { Backlog } from '../recovery/backlog.js'
import type { PostgresWatch } from '../recovery/postgres-watch.js'
import type { Projections } from '../recovery/projections.js'
import type { ClickHouse } from '../storage/clickhouse.js'
import type { SharedReads } from './shared-reads.js'

export type { FormerValue, KeyAsker, Keys } from '../account/key-types.js'

/**
 * Time per environment: the wall clock, never backwards, shifted by the environment's test clock (decisions 10,
 * 11).
 */
export interface Clock {
  /** The wall clock, never backwards, epoch ms. */
  wall(): number
  /** The present of an environment, never backwards except when its test clock is removed, epoch ms. */
  now(environmentId: string): number
  /** The environment's test clock, or null without one. */
  testClock(environmentId: string): TestClock | null
  /**
   * Set a test clock, or remove it (null). It is in force at once; the promise resolves when it is stored. The caller
   * has checked that the environment is not production and that time does not go back. `record` writes other rows of
   * the change in the same transaction. Rejects when it cannot be stored; the former clock is then in force again.
   */
  setTestClock(
    environmentId: string,
    clock: TestClock | null,
    record?: (tx: Sql) => Promise<void>,
  ): Promise<void>
}

/** The current catalog of every environment on the HTTP thread, and the one way to change definitions. */
export type Catalogs = DefinitionChanges

export interface Services {
  readonly log: Logger
  readonly sql: Sql
  readonly clickhouse: ClickHouse
  /** Wraps the two stores in the environment's turn queue; absent: requests use them directly. */
  readonly turns?: StoreTurns
  /** Reads that several requests make at the same time. */
  readonly reads: SharedReads
  readonly keys: Keys
  /** Sessions of the console. */
  readonly sessions: Sessions
  /** Short-lived tokens of companies. */
  readonly accessTokens: AccessTokens
  readonly clock: Clock
  readonly catalogs: Catalogs
  readonly traits: TraitRegistry
  readonly shards: Shards
  readonly parsers: Parsers
  readonly directory: Directory
  readonly entities: Entities
  readonly companyViews: CompanyViews
  /** The connections of the data stream. */
  readonly streams: Streams
  readonly dedupe: Dedupe
  readonly holdKeys: HoldKeys
  readonly paidWrites: PaidWrites
  readonly projections: Projections
  /** Whether Postgres answers; absent: nobody looks. */
  readonly postgres?: PostgresWatch
  readonly migrations: Migrations
  readonly userSeen: UserSeen
  readonly checkedFlags: CheckedFlags
  readonly modelPrices: ModelPrices
  readonly metrics: Metrics
  /** The process about itself. */
  readonly self: SelfReport
  readonly backlog: Backlog
  readonly audit: AuditLog
  readonly accountLimits: AccountLimits
  readonly quotas: Quotas
  readonly webhooks: Webhooks
  readonly outbox: Outbox
  readonly deliveries: Deliveries
  /** Whether webhooks of production environments may use plain http. */
  readonly webhookPlainHttp: boolean
  /** Whether webhooks may reach private networks. */
  readonly webhookPrivateAddresses: boolean
}

// The parts that every opener of this folder is given.
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { Outbox } from '../control/webhooks/outbox.js'
import type { Shards } from '../entities/shards/shards.js'
import type { Fronts } from '../front/extra/fronts.js'
import type { Addresses, Opened } from '../opened.js'
import type { Yielding } from '../recovery/clickhouse-throttle.js'
import type { PostgresWatch } from '../recovery/postgres-watch.js'
import type { Projections } from '../recovery/projections.js'
import type { Phases } from '../recovery/start-phases.js'

/** A start over running stores. */
export interface Start {
  readonly config: Config
  readonly log: Logger
  /** Collects what must be closed again, also when the start fails. Closed in the opposite order. */
  readonly opened: Opened
  readonly phases: Phases
  /** Earliest possible present, epoch ms. */
  readonly floorMs: number
  /** Where the stores are. */
  readonly addresses: Addresses
}

export interface Opening extends Start {
  readonly later: Later
}

/** Parts that callbacks of earlier parts reach; null until they are open. */
export interface Later {
  shards: Shards | null
  projections: Projections | null
  yielding: Yielding | null
  postgres: PostgresWatch | null
  outbox: Outbox | null
  fronts: Fronts | null
}

export const nothingYet = (): Later => ({
  shards: null,
  projections: null,
  yielding: null,
  postgres: null,
  outbox: null,
  fronts: null,
})

// Messages between the HTTP thread and a thread that holds shards.

import type { ClickHouseAddress } from '../storage/clickhouse.js'
import type { PostgresAddress } from '../storage/postgres.js'
import type { Port } from '../wire/port.js'
import type { RecordRates } from '../wire/record-budget.js'
import type { RedisAddress } from '../wire/shard-options.js'
import type { SealedSpans } from './old-keys.js'

/** The task of such a thread. */
export interface HostTask {
  readonly port: Port
  readonly redis: RedisAddress
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
  /** Filters of keys that left Redis; newer ones come as `old`. */
  readonly oldKeys: SealedSpans
  /** Checks of flags kept as single records, over all shards of the thread (FE-101, EX-5). */
  readonly records: RecordRates
}

/**
 * To a shard: its task, its end, or a message as on a port of its own. `old` belongs to no shard: the filters of keys that
 * left Redis.
 */
export type HostMessage = readonly [shard: number, what: 'open' | 'close' | 'said' | 'old', value: unknown]

/**
 * From a shard: a message, or that it ended, with the error (null: it was closed). These belong to no shard: `ready`, the
 * thread can open shards at once; `checks`, counts of the checks of all its shards; `behind`, its filters are out of date.
 */
export type HostReply = readonly [
  shard: number,
  what: 'said' | 'ended' | 'ready' | 'checks' | 'behind',
  value: unknown,
]

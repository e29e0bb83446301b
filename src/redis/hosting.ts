// Messages between the HTTP thread and a thread that holds shards.
import type { Port } from '../protocol/port.js'
import type { RedisAddress } from '../protocol/shard-options.js'
import type { PostgresAddress } from '../storage/postgres.js'

/** The task of such a thread. */
export interface HostTask {
  readonly port: Port
  readonly redis: RedisAddress
  readonly postgres: PostgresAddress
  /** Checks of flags kept as single records each second, over all shards of the thread (FE-101). */
  readonly checkRowsPerSecond: number
}

/** To a shard: its task, its end, or a message as on a port of its own. */
export type HostMessage = readonly [shard: number, what: 'open' | 'close' | 'said', value: unknown]

/**
 * From a shard: a message, or that it ended, with the error (null: it was closed). These belong to no shard: `ready`, the
 * thread can open shards at once; `checks`, counts of the checks of all its shards.
 */
export type HostReply = readonly [shard: number, what: 'said' | 'ended' | 'ready' | 'checks', value: unknown]

// Messages between the HTTP thread and a thread that holds shards.
import type { Port } from '../protocol/port.js'
import type { RedisAddress } from '../protocol/shard-options.js'
import type { PostgresAddress } from '../storage/postgres.js'

/** The task of such a thread. */
export interface HostTask {
  readonly port: Port
  readonly redis: RedisAddress
  readonly postgres: PostgresAddress
}

/** To a shard: its task, its end, or a message as on a port of its own. */
export type HostMessage = readonly [shard: number, what: 'open' | 'close' | 'said', value: unknown]

/**
 * From a shard: a message, or that it ended, with the error (null: it was closed). `ready` belongs to no
 * shard: the thread can open shards at once.
 */
export type HostReply = readonly [shard: number, what: 'said' | 'ended' | 'ready', value: unknown]

// What the HTTP thread and a thread that holds shards say to each other.
import type { Port } from '../protocol/port.js'
import type { RedisAddress } from '../protocol/shard-options.js'
import type { PostgresAddress } from '../storage/postgres.js'

/** What such a thread is started with. */
export interface HostTask {
  readonly port: Port
  readonly redis: RedisAddress
  readonly postgres: PostgresAddress
}

/** To a shard: its task, the end, or a message as on a port of its own. */
export type HostMessage = readonly [shard: number, what: 'open' | 'close' | 'said', value: unknown]

/**
 * From a shard: a message, or that it ended and why (null: as it was told to). `ready`, of no shard: the thread can open
 * shards at once.
 */
export type HostReply = readonly [shard: number, what: 'said' | 'ended' | 'ready', value: unknown]

// Messages between the HTTP thread and the projectors' thread. Neither imports the other.

import type { Sequence } from '../journal/journal.js'
import type { ClickHouseAddress } from '../storage/clickhouse.js'
import type { PostgresAddress } from '../storage/postgres.js'
import type { RedisAddress } from './shard-options.js'

export type ProjectedStore = 'postgres' | 'clickhouse'

/** One shard as the projectors need it. */
export interface ProjectedShard {
  readonly index: number
  /** Directory of its journal segments. */
  readonly directory: string
}

export interface ProjectorOptions {
  /** Which journals these are: part of every stored position and every token. */
  readonly generation: string
  readonly shards: readonly ProjectedShard[]
  /** Shared positions of all shards (positions.ts). */
  readonly positions: SharedArrayBuffer
  /** Several nodes only: the Redis with the journals; `shards` are those the node owns when the thread starts. */
  readonly redis?: RedisAddress | undefined
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
  /** Bounds of one chunk for ClickHouse; defaults 100 000 rows, 48 MiB. */
  readonly rowsMax?: number
  readonly bytesMax?: number
  /**
   * Longest time that records gather before they are projected, when no caller waits; defaults 200 ms and 1 s. It is longer
   * with more than four shards, and for few records (workers/projector/gather.ts).
   */
  readonly postgresMs?: number
  readonly clickhouseMs?: number
  /** Stores into which nothing is written until `begin`: they lack their schema. */
  readonly waiting?: readonly ProjectedStore[]
  /** Whether each chunk is reported. */
  readonly tellsChunks?: boolean
}

export type ProjectorRequest =
  /** Somebody waits until these sequences are in the store. */
  | {
      readonly type: 'want'
      readonly store: ProjectedStore
      readonly shard: number
      readonly sequence: Sequence
    }
  /** Somebody waits until every last-seen time up to this sequence is in Postgres. */
  | { readonly type: 'want_seen'; readonly shard: number; readonly sequence: Sequence }
  /** Flag checks: JSONEachRow lines of tables flag_checks and events, not journaled. */
  | { readonly type: 'checks'; readonly counts: readonly string[]; readonly rows: readonly string[] }
  /** Send the checks that wait; answered by `checks_sent`. */
  | { readonly type: 'send_checks' }
  /** Project this journal too. */
  | { readonly type: 'own'; readonly shard: ProjectedShard }
  /** Project it no more; the reply is `disowned`, when none of its writes is in progress. */
  | { readonly type: 'disown'; readonly index: number }
  /** Begin nothing more for this store; the reply is `held`, when no write is in progress. */
  | { readonly type: 'hold'; readonly store: ProjectedStore }
  /** Go on with both stores. */
  | { readonly type: 'release' }
  /** A store that was waited for has its schema. */
  | { readonly type: 'begin'; readonly store: ProjectedStore }
  /** Project everything committed, for at most this long, then end. */
  | { readonly type: 'stop'; readonly drainMs: number }

export type ProjectorNotice =
  /** The position of a shard somebody waited for has moved; it is in the shared positions. */
  | { readonly type: 'moved'; readonly store: ProjectedStore; readonly shard: number }
  | { readonly type: 'disowned'; readonly index: number }
  | { readonly type: 'held'; readonly store: ProjectedStore }
  | {
      readonly type: 'failing'
      readonly store: ProjectedStore
      readonly shard: number
      readonly error: string
      /** The store does not answer, rather than that it refuses. */
      readonly away: boolean
    }
  /** Rows are in the outbox of webhooks. */
  | { readonly type: 'announced' }
  | { readonly type: 'recovered'; readonly store: ProjectedStore; readonly shard: number }
  /** Check rows dropped because ClickHouse was away for too long. */
  | { readonly type: 'checks_dropped'; readonly rows: number }
  /** Checks that were there at the request are in ClickHouse, or wait for it. */
  | { readonly type: 'checks_sent' }
  | ({ readonly type: 'chunk' } & ProjectedChunk)

/** One attempt to bring a chunk of a journal into a store. */
export interface ProjectedChunk {
  readonly store: ProjectedStore
  readonly shard: number
  /** Records that are in the store since. */
  readonly records: number
  readonly failed: boolean
  /** When it began and ended, ms of the clock that all threads share. */
  readonly fromMs: number
  readonly toMs: number
}

// Options of a shard thread at its start, as plain data.
import type { PostgresAddress } from '../storage/postgres.js'
import type { RecordRates } from './record-budget.js'

/** Where a slot of the nodes' Redis is. */
export interface SlotAddress {
  readonly url: string
  /** In front of every key of the slot; carries a hash tag. */
  readonly prefix: string
  /** Replicas that must have a write before it counts; 0: the server itself alone. */
  readonly replicas: number
}

/** Where the nodes' Redis is: its root, which has what all nodes share. */
export interface RedisAddress extends SlotAddress {
  /** Prefixes of the slots of journals and keys of events (src/redis/slots.ts); the root's alone: it has everything. */
  readonly slots: readonly string[]
}

export interface ShardOptions {
  readonly index: number
  readonly count: number
  /** Directory of this shard's journal segments. */
  readonly journalDir: string
  readonly segmentBytes: number
  /** Names this run of journals: a new one begins when the number of shards changes. */
  readonly generation: string
  readonly postgres: PostgresAddress
  /** Shared positions of all shards (positions.ts). */
  readonly positions: SharedArrayBuffer
  /** Shared version counters (version-counters.ts). */
  readonly changes: SharedArrayBuffer
  /** Bytes taken but not yet durable beyond which writes are refused at the door: the disk has stalled. */
  readonly pendingBytesMax: number
  /** How often changed actors' snapshots are written, ms. */
  readonly checkpointMs: number
  /** Actors kept in memory before idle, clean ones are let go. */
  readonly actorsMax: number
  /** Checks kept as single records; the others are only counted (FE-101, EX-5). */
  readonly records: RecordRates
  /** Names of events of one environment that companies of this shard may use; no bound by default. */
  readonly eventNamesMax?: number
  /** Several nodes only: the Redis that holds the journal, and the shard's mark there. */
  readonly redis?: { readonly address: RedisAddress; readonly mark: string }
  /** Whether the shard reports each group it writes. */
  readonly tellsGroups?: boolean
}

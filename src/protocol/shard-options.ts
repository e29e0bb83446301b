// What a shard thread is told at its start, as plain data.
import type { PostgresAddress } from '../storage/postgres.js'

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
  /** Shared numbers that tell what changes (changes.ts). */
  readonly changes: SharedArrayBuffer
  /** Bytes taken but not yet durable beyond which writes are refused at the door: a disk that stands still. */
  readonly pendingBytesMax: number
  /** How often changed actors' snapshots are written, ms. */
  readonly checkpointMs: number
  /** Actors kept in memory before idle, clean ones are let go. */
  readonly actorsMax: number
  /** Raw flag check rows kept per second; beyond it checks are only counted (FE-101). */
  readonly checkRowsPerSecond: number
  /** Names of events of one environment that companies of this shard may use; no bound unless told. */
  readonly eventNamesMax?: number
  /** Whether the shard tells of each group it writes. */
  readonly tellsGroups?: boolean
}

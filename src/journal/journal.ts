// The contract of the journal: records in order, durable before they are acknowledged. One journal per shard. Nothing
// outside this folder knows which implementation runs.

/** A position in one shard's journal: the sequence of a record. 0 = before the first record. */
export type Sequence = number

/** One record as read back. The bytes are valid until the next read. */
export interface JournalRecord {
  readonly sequence: Sequence
  /** RecordFlag bits, readable without parsing. */
  readonly flags: number
  /**
   * Months since 1970-01 (UTC) of the event's captured_at: the ClickHouse partition of its row and of its rows of the
   * ledger. 0 without an event row.
   */
  readonly month: number
  /** The event's row for ClickHouse as one line of JSONEachRow, no newline; empty without one. */
  readonly row: Buffer
  /** Rows of the ledger as ledger-rows.ts writes them, each with its newline; empty where they follow from the fact. */
  readonly ledger: Buffer
  /** The fact (core/company/message.ts), as records/fact-bytes.ts writes it, or as JSON where an earlier version wrote it. */
  readonly fact: Buffer
}

/** Properties of a record that a reader knows without parsing it. */
export const RecordFlag = {
  /** Carries an event row for ClickHouse. */
  event: 1,
  /** Carries effects that Postgres shows (entities, keys, traits, memberships, overrides, plans, grants…). */
  identity: 2,
  /** Carries credit movements for the ledger. */
  ledger: 4,
  /** Its credit movements are draws alone: nothing of them shows in Postgres. */
  draws: 8,
  /**
   * Carries the rows of its draws ready-made: all that the ledger gets of it. The fact omits these draws, except an
   * uncovered rest. Set where the record is written.
   */
  rows: 16,
  /**
   * Plain usage: Postgres needs only last_seen_at, from the fact as use-record-encoder.ts writes it. Other facts of
   * use may lack the flag.
   */
  use: 64,
  /** Its fact has domain events (Fact.tell): Postgres keeps them in the outbox. */
  tells: 128,
} as const

/** One record to append. */
export interface NewRecord {
  readonly flags: number
  readonly month: number
  /** '' without an event row. Bytes are UTF-8. */
  readonly row: string | Uint8Array
  /** Rows of the ledger of the partition `month`, each with its newline, ASCII; '' or absent without. */
  readonly ledger?: string
  readonly fact: string | Uint8Array
}

/** Records to append that lie ready in bytes, headers and all. */
export interface FramedRecords {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  readonly count: number
}

/** The writing side, owned by one shard. */
export interface Journal {
  /** Sequence of the last durable record. */
  readonly committed: Sequence
  /**
   * Bytes taken but not yet durable. A caller that sees this above its bound refuses new work at the door
   * (overloaded, 503) instead of appending: the journal itself has no bound.
   */
  readonly pendingBytes: number
  /**
   * Append records as part of the next group, their bytes copied before it returns; resolves when they are durable, with the sequence of the last.
   * Groups that gather while an fsync runs leave as one. Order of calls = order of records.
   * Rejects with JournalFailed when the write or the fsync failed: then none of the records of that group, nor of
   * any later call, is durable, and the journal refuses everything until `reopen`.
   */
  append(records: readonly (NewRecord | FramedRecords)[]): Promise<Sequence>
  /**
   * After a failed append: cut off everything that was not acknowledged and go on. May itself fail; then try again
   * later.
   */
  reopen(): Promise<void>
  /** Forget whole segments at or before this sequence. */
  trim(upTo: Sequence): Promise<void>
  /**
   * Begin a new segment, also without a record, and recycle no file that is older: once trimmed, nothing of the records
   * until now is left. Absent where records do not lie in files.
   */
  renew?(): Promise<void>
  /** Waits until all appended records are written, then closes. */
  close(): Promise<void>
}

/** The append did not become durable; nothing of it was acknowledged. */
export class JournalFailed extends Error {
  override readonly name = 'JournalFailed'
}

/** The bytes on disk are not those written. An operator must look; going on would skip records silently. */
export class JournalCorrupt extends Error {
  override readonly name = 'JournalCorrupt'
  constructor(
    readonly file: string,
    readonly offset: number,
    what: string,
  ) {
    super(`${what}: ${file} at byte ${offset}`)
  }
}

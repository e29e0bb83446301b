// One shard's journal into Postgres: rows of companies and users, exactly once.
//
// Every transaction begins by moving the shard's position from where it must be; a position that is elsewhere
// means that another projector was here, and nothing is written.
import type { Chunk as JournalChunk } from '../../src/journal/frame.js'
import { type JournalRecord, RecordFlag, type Sequence } from '../../src/journal/journal.js'
import type { FileJournalReader } from '../../src/journal/reader.js'
import { FactReader } from '../../src/journal/records/fact-reader.js'
import type { Positions } from '../../src/wire/positions.js'
import { Fold } from './fold.js'
import type { RowStore } from './rows.js'
import { type Seen, SeenTimes } from './seen.js'
import type { Projection } from './stream.js'

interface PostgresProjectionOptions {
  readonly store: RowStore
  readonly reader: FileJournalReader
  readonly positions: Positions
  readonly generation: string
  readonly shard: number
  /** Facts written by one transaction. */
  readonly factsMax: number
  /** Records looked at for one transaction, most of which write nothing. */
  readonly recordsMax: number
  /** Longest wait of a last_seen_at before it is written, ms: where few wait, and where many do. */
  readonly seenMs: number
  readonly manySeenMs: number
  /** Times written by one transaction; facts are written between two. */
  readonly seenAtOnce: number
  readonly now: () => number
  /** Rows are in the outbox of webhooks. */
  readonly announced?: () => void
  /** Tests stop here: called before and after each step with its name. */
  readonly step?: (name: string) => void
}

/** Entities whose times are not many yet. More are written less often: those seen again meanwhile are written once. */
const fewSeen = 1_000
/** Entities whose times are written before their time is up. */
const seenMax = 20_000

interface Chunk {
  readonly upTo: Sequence
  readonly fold: Fold
  readonly records: readonly JournalRecord[]
}

/** A fact that makes no rows: a time that is none, bytes that are no fact. Our mistake, but it must stop nothing. */
class BadFact extends Error {
  override readonly name = 'BadFact'
  constructor(
    readonly record: JournalRecord,
    cause: unknown,
  ) {
    super(`record ${record.sequence} makes no rows: ${cause}`, { cause })
  }
}

export class PostgresProjection implements Projection {
  readonly store = 'postgres'
  readonly #options: PostgresProjectionOptions
  #sequence: Sequence | null = null
  #seenSequence: Sequence = 0
  #seen = new SeenTimes()
  #seenWrittenMs = 0
  /** Times that are being written, and up to where all are theirs; null: none. Later ones are gathered meanwhile. */
  #leaving: { readonly times: Map<string, Seen>; readonly upTo: Sequence } | null = null
  /** Somebody waits for the times up to here. */
  #seenWanted: Sequence = 0
  /** Up to here one record at a time: one of them is refused. */
  #carefulUpTo: Sequence = 0

  constructor(options: PostgresProjectionOptions) {
    this.#options = options
  }

  get shard(): number {
    return this.#options.shard
  }

  async project(upTo: Sequence): Promise<void> {
    const from = this.#sequence ?? (await this.#start())
    try {
      if (from < upTo) await this.#projectChunk(from, upTo)
      if (this.#seenDue()) await this.writeSeen()
    } catch (error) {
      // The committed position is unknown: read it again before the next attempt.
      this.#sequence = null
      throw error
    }
  }

  get position(): Sequence {
    return this.#sequence ?? 0
  }

  /** Whether there is something to write though every record was read. */
  get owes(): boolean {
    if (this.#leaving !== null) return true
    const { size } = this.#seen.times
    if (size === 0) return false
    const { now, seenMs, manySeenMs } = this.#options
    const waitMs = size < fewSeen ? seenMs : manySeenMs
    return this.#seenWanted > this.#seenSequence || now() - this.#seenWrittenMs >= waitMs
  }

  wantSeen(sequence: Sequence): void {
    this.#seenWanted = Math.max(this.#seenWanted, sequence)
  }

  /** Write everything gathered; before a stop. */
  async finish(): Promise<void> {
    while (this.#sequence !== null && this.#gathered) await this.writeSeen()
  }

  async #start(): Promise<Sequence> {
    const { store, reader } = this.#options
    const { sequence, seenSequence } = await store.start(this.#options)
    this.#seenSequence = seenSequence
    this.#seen = new SeenTimes()
    this.#leaving = null
    for await (const records of reader.read(this.#seenSequence, sequence))
      for (const record of records) this.#seen.addAgain(record)
    this.#moved(sequence)
    return sequence
  }

  async #projectChunk(from: Sequence, upTo: Sequence): Promise<void> {
    let chunk: Chunk
    try {
      chunk = await this.#gather(from, upTo)
    } catch (error) {
      if (!(error instanceof BadFact)) throw error
      await this.#isolate(from, error.record.sequence, error.record, error)
      return
    }
    try {
      await this.#write(from, chunk)
    } catch (error) {
      if (!isRefusedData(error)) throw error
      await this.#isolate(from, chunk.upTo, chunk.records[0], error)
      return
    }
    this.#moved(chunk.upTo)
  }

  async #gather(from: Sequence, upTo: Sequence): Promise<Chunk> {
    const { reader, factsMax, recordsMax } = this.#options
    const careful = from < this.#carefulUpTo
    const end = Math.min(upTo, from + (careful ? 1 : recordsMax))
    const fold = new Fold()
    const seen = new SeenTimes()
    const kept: JournalRecord[] = []
    let last = from
    for await (const records of reader.chunks(from, end)) {
      if (careful) kept.push(factAlone(records.record(0)))
      last = this.#foldChunk(records, fold, seen)
      if (fold.facts >= factsMax) break
    }
    this.#pending = seen
    return { upTo: last, fold, records: kept }
  }

  /** Until there are enough facts. Returns the last sequence that was taken. */
  #foldChunk(records: JournalChunk, fold: Fold, seen: SeenTimes): Sequence {
    const { factsMax } = this.#options
    const { bytes, count } = records
    for (let i = 0; i < count; i++) {
      if (records.flags(i) & RecordFlag.use) {
        seen.addUse(bytes, records.factAt(i), records.factEnd(i))
        continue
      }
      const record = records.record(i)
      if (showsInPostgres(record)) this.#fold(record, fold, seen)
      else seen.add(record)
      if (fold.facts >= factsMax) return record.sequence
    }
    return records.sequence(count - 1)
  }

  #fold(record: JournalRecord, fold: Fold, seen: SeenTimes): void {
    try {
      const fact = facts.read(record.fact, 0, record.fact.length)
      const { generation, shard } = this.#options
      fold.add(fact, `${generation}.${shard}.${record.sequence}`)
      seen.addFact(fact)
    } catch (error) {
      throw new BadFact(factAlone(record), error)
    }
  }

  /** Times of the chunk being written; merged once it is committed. */
  #pending = new SeenTimes()

  async #write(from: Sequence, { upTo, fold }: Chunk): Promise<void> {
    this.#step('gathered')
    const seenToo = !this.#gathered && this.#pending.times.size === 0
    await this.#options.store.write(this.#options, { from, upTo, seenToo, fold }, () => this.#step('written'))
    if (fold.notices.rows.size > 0) this.#options.announced?.()
    this.#step('committed')
  }

  #moved(sequence: Sequence): void {
    const { positions, shard } = this.#options
    for (const [id, seen] of this.#pending.times) {
      // an explicit time is in the row already, and no earlier one may come over it
      if (seen.absolute) this.#leaving?.times.delete(id)
      mergeSeen(this.#seen, id, seen)
    }
    this.#pending = new SeenTimes()
    this.#sequence = sequence
    if (!this.#gathered) this.#seenSequence = sequence
    positions.set(shard, 'postgres', sequence)
    positions.set(shard, 'seen', this.#seenSequence)
  }

  // A refused chunk goes record by record; a refused record is put aside, so that it holds up nothing else.
  async #isolate(
    from: Sequence,
    upTo: Sequence,
    record: JournalRecord | undefined,
    error: unknown,
  ): Promise<void> {
    this.#pending = new SeenTimes()
    if (upTo - from > 1 || record === undefined) {
      this.#carefulUpTo = upTo
      return
    }
    await this.#options.store.putAside(this.#options, from, upTo, record, error)
    this.#moved(upTo)
  }

  #seenDue(): boolean {
    return this.owes || this.#seen.times.size >= seenMax
  }

  /** Whether there are times that are not written. */
  get #gathered(): boolean {
    return this.#leaving !== null || this.#seen.times.size > 0
  }

  /** Write some of the gathered last_seen_at; with the last of them the position up to which they are complete. */
  async writeSeen(): Promise<void> {
    const { store, shard, positions, now, seenAtOnce } = this.#options
    this.#step('seen gathered')
    if (this.#leaving === null) {
      this.#leaving = { times: new Map(this.#seen.times), upTo: this.#sequence ?? 0 }
      this.#seen = new SeenTimes()
    }
    const { times, upTo } = this.#leaving
    const some = new Map([...times].slice(0, seenAtOnce))
    const isLast = some.size === times.size
    await store.writeSeen(this.#options, isLast ? upTo : this.#seenSequence, some)
    this.#step('seen committed')
    for (const id of some.keys()) times.delete(id)
    if (!isLast) return
    this.#leaving = null
    this.#seenSequence = upTo
    this.#seenWrittenMs = now()
    positions.set(shard, 'seen', upTo)
  }

  #step(name: string): void {
    this.#options.step?.(name)
  }
}

/** A record to keep: its fact in a copy of its own. */
function factAlone(record: JournalRecord): JournalRecord {
  return { ...record, row: nothing, ledger: nothing, fact: Buffer.from(record.fact) }
}

const nothing = Buffer.alloc(0)

const facts = new FactReader()

/**
 * Credit effects that Postgres shows; draws, which are many, are not among them. Their names lie in a fact with one, and
 * perhaps in others, whose texts are anything: those make no rows.
 */
const shownEffects = [
  'credit_grant',
  'credit_zero_out',
  'credit_refund',
  'credit_hold',
  'credit_commit',
  'credit_release',
].map(t => Buffer.from(t))

function showsInPostgres(record: JournalRecord): boolean {
  if (record.flags & (RecordFlag.identity | RecordFlag.tells)) return true
  if ((record.flags & RecordFlag.ledger) === 0 || record.flags & RecordFlag.draws) return false
  return shownEffects.some(effect => record.fact.includes(effect))
}

function mergeSeen(
  into: SeenTimes,
  id: string,
  seen: { kind: 'c' | 'u'; atMs: number; absolute: boolean },
): void {
  const had = into.times.get(id)
  if (had === undefined || seen.absolute) into.set(id, seen)
  else if (had.atMs < seen.atMs) into.set(id, { ...seen, absolute: had.absolute })
}

// Classes 22 and 23: the data itself; trying again changes nothing.
function isRefusedData(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^2[23]/.test(code)
}

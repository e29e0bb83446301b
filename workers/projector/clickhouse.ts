// One shard's journal into ClickHouse, exactly once.
//
//   bounds of the chunk ─▶ position row in Postgres ─▶ inserts, one per table, form and month ─▶ position moves
//
// Each insert carries a token made from the bounds. After a crash at any step the bounds say which chunk to send
// again, and ClickHouse drops the parts it has: here and in the tables its views feed.
import type { ClickHouseSettings } from '@clickhouse/client'
import type { Chunk as JournalChunk } from '../../src/journal/frame.js'
import { RecordFlag, type Sequence } from '../../src/journal/journal.js'
import type { FileJournalReader } from '../../src/journal/reader.js'
import { monthOf } from '../../src/journal/records/event-row.js'
import { FactReader } from '../../src/journal/records/fact-reader.js'
import { fullDrawColumns } from '../../src/journal/records/ledger-rows.js'
import type { ClickHouse, InsertOptions } from '../../src/storage/clickhouse.js'
import type { Positions } from '../../src/wire/positions.js'
import type { ChunkStore } from './chunks.js'
import { ledgerRows } from './ledger.js'
import { Lines, Pieces } from './lines.js'
import { drawReading, eventReading } from './reading.js'
import type { Projection } from './stream.js'

const facts = new FactReader()

interface ClickHouseProjectionOptions {
  readonly chunks: ChunkStore
  readonly clickhouse: Pick<ClickHouse, 'insertRaw'>
  readonly reader: FileJournalReader
  readonly positions: Positions
  readonly generation: string
  readonly shard: number
  /** Runs a chunk when there is room for it in memory. The signal ends the wait for it. */
  readonly turn?: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>
  /** Bounds of one chunk. */
  readonly recordsMax: number
  readonly bytesMax: number
  /** Tests stop here: called before and after each step with its name. */
  readonly step?: (name: string) => void
}

interface Chunk {
  readonly upTo: Sequence
  /** By name and month, as `#insertInto` numbers them. */
  readonly inserts: ReadonlyMap<number, Insert>
}

/** A chunk in the making. */
interface Gathered {
  readonly inserts: Map<number, Insert>
  upTo: Sequence
  /** Counts of events. */
  lines: number
  bytes: number
}

/** Kinds of inserts: the name is a part of the token. Pre-encoded draws have a form of their own. */
const names = ['events', 'credit_ledger', 'credit_ledger draws in rows'] as const
type Name = (typeof names)[number]

interface Insert {
  readonly name: Name
  readonly month: number
  readonly lines: Lines
}

const forms: Readonly<Record<Name, Pick<InsertOptions, 'table' | 'format' | 'columns' | 'reading'>>> = {
  events: { table: 'events', reading: eventReading },
  credit_ledger: { table: 'credit_ledger' },
  'credit_ledger draws in rows': {
    table: 'credit_ledger',
    format: 'TabSeparated',
    columns: fullDrawColumns,
    reading: drawReading,
  },
}

/**
 * One thread parses, so that a chunk is one block and its token covers it whole, in either way of reading the rows;
 * half a surrogate pair is kept unchanged.
 */
export const insertSettings: ClickHouseSettings = {
  input_format_parallel_parsing: 0,
  max_block_size: '10000000',
  max_insert_block_size: '10000000',
  min_insert_block_size_rows: '10000000',
  input_format_json_throw_on_bad_escape_sequence: 0,
}

/** Rows of one insert that may be refused and put aside before the whole is given up for now. */
const refusedMax = 100

export class ClickHouseProjection implements Projection {
  readonly store = 'clickhouse'
  readonly owes = false
  readonly #options: ClickHouseProjectionOptions
  readonly #pieces = new Pieces()
  #sequence: Sequence | null = null
  /** The end of a chunk that may be partly there. */
  #chunkUpTo: Sequence | null = null
  readonly #abandoned = new AbortController()

  constructor(options: ClickHouseProjectionOptions) {
    this.#options = options
  }

  get shard(): number {
    return this.#options.shard
  }

  get position(): Sequence {
    return this.#sequence ?? 0
  }

  async project(upTo: Sequence): Promise<void> {
    const from = this.#sequence ?? (await this.#start())
    if (from >= upTo) return
    const { turn = work => work() } = this.#options
    try {
      await turn(() => this.#projectChunk(from, upTo), this.#abandoned.signal)
    } catch (error) {
      // How far it came is in the position row: ask again before the next attempt.
      this.#sequence = null
      throw error
    }
  }

  async finish(): Promise<void> {}

  abandon(): void {
    this.#abandoned.abort()
  }

  async #projectChunk(from: Sequence, upTo: Sequence): Promise<void> {
    const begun = this.#chunkUpTo
    const chunk = await this.#gather(from, begun ?? upTo, begun !== null)
    if (begun === null && chunk.inserts.size > 0) await this.#begin(from, chunk.upTo)
    for (const insert of chunk.inserts.values()) await this.#insert(from, chunk.upTo, insert)
    this.#pieces.release([...chunk.inserts.values()].flatMap(({ lines }) => lines.taken))
    await this.#finish(from, chunk.upTo)
  }

  async #start(): Promise<Sequence> {
    const { sequence, chunkUpTo } = await this.#options.chunks.start(this.#options)
    this.#chunkUpTo = chunkUpTo
    return this.#moved(sequence)
  }

  async #begin(from: Sequence, upTo: Sequence): Promise<void> {
    this.#step('gathered')
    await this.#options.chunks.begin(this.#options, from, upTo)
    this.#chunkUpTo = upTo
    this.#step('begun')
  }

  async #finish(from: Sequence, upTo: Sequence): Promise<void> {
    await this.#options.chunks.finish(this.#options, from, upTo, this.#chunkUpTo)
    this.#chunkUpTo = null
    this.#moved(upTo)
    this.#step('finished')
  }

  #moved(sequence: Sequence): Sequence {
    this.#sequence = sequence
    this.#options.positions.set(this.#options.shard, 'clickhouse', sequence)
    return sequence
  }

  // `whole`: the chunk was begun before; its bounds are fixed and its content must be the same.
  async #gather(from: Sequence, upTo: Sequence, whole: boolean): Promise<Chunk> {
    const gathered: Gathered = { inserts: new Map(), upTo: from, lines: 0, bytes: 0 }
    this.#pieces.begin()
    for await (const records of this.#options.reader.chunks(from, upTo))
      if (!this.#add(records, gathered, whole)) break
    return gathered
  }

  /** Returns false where the chunk is full, unless its bounds are fixed. */
  #add(records: JournalChunk, into: Gathered, whole: boolean): boolean {
    const { recordsMax, bytesMax } = this.#options
    const { bytes, count } = records
    let events: Insert | null = null
    let draws: Insert | null = null
    for (let i = 0; i < count; i++) {
      if (!whole && (into.lines >= recordsMax || into.bytes >= bytesMax)) return false
      const flags = records.flags(i)
      const rowAt = records.rowAt(i)
      const ledgerAt = records.ledgerAt(i)
      if (ledgerAt > rowAt) {
        const month = records.month(i)
        if (events?.month !== month) events = this.#insertInto(into, 'events', month)
        events.lines.add(bytes, rowAt, ledgerAt)
        into.lines++
        into.bytes += ledgerAt - rowAt
      }
      if (flags & RecordFlag.rows) {
        const factAt = records.factAt(i)
        const month = records.month(i)
        if (draws?.month !== month) draws = this.#insertInto(into, 'credit_ledger draws in rows', month)
        draws.lines.addWhole(bytes, ledgerAt, factAt)
        into.bytes += factAt - ledgerAt
      } else if (flags & RecordFlag.ledger) this.#ledger(into, records, i)
      into.upTo = records.sequence(i)
    }
    return true
  }

  #ledger(into: Gathered, records: JournalChunk, i: number): void {
    const fact = facts.read(records.bytes, records.factAt(i), records.factEnd(i))
    for (const { atMs, line } of ledgerRows(fact))
      this.#insertInto(into, 'credit_ledger', monthOf(atMs)).lines.addText(line)
  }

  #insertInto(into: Gathered, name: Name, month: number): Insert {
    const key = month * names.length + names.indexOf(name)
    let insert = into.inserts.get(key)
    if (insert === undefined) {
      insert = { name, month, lines: new Lines(this.#pieces) }
      into.inserts.set(key, insert)
    }
    return insert
  }

  async #insert(from: Sequence, upTo: Sequence, { name, month, lines }: Insert): Promise<void> {
    const { clickhouse, generation, shard } = this.#options
    const token = `${generation}:${shard}:${from}-${upTo}:${name}:${month}`
    const form = forms[name]
    for (let refused = 0; ; refused++)
      try {
        await clickhouse.insertRaw({ ...form, rows: lines.pieces(), token, settings: insertSettings })
        this.#step(`inserted ${name}`)
        return
      } catch (error) {
        const row = refusedRow(error)
        if (row === null || refused >= refusedMax) throw error
        // a line ClickHouse cannot take would hold up everything behind it
        await this.#options.chunks.putAside(this.#options, from, form.table, lines.remove(row), error)
      }
  }

  #step(name: string): void {
    this.#options.step?.(name)
  }
}

/** The row, counted from 0, whose text ClickHouse could not read; null for every other error. */
function refusedRow(error: unknown): number | null {
  const found = error instanceof Error ? /\(at row (\d+)\)/.exec(error.message) : null
  return found === null ? null : Number(found[1]) - 1
}

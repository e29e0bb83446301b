// Where the ClickHouse projector keeps how far it has come: rows of table projections, in Postgres.
import type { Sql, TransactionSql } from 'postgres'
import type { Sequence } from '../../src/journal/journal.js'

/** One shard's journal. */
export interface Place {
  readonly generation: string
  readonly shard: number
}

/** The position is not where this projector left it: another was here. */
export class PositionMoved extends Error {
  override readonly name = 'PositionMoved'
  constructor(store: string, { shard }: Place, from: Sequence) {
    super(`${store} position of shard ${shard} is not ${from}`)
  }
}

/** A position, and the end of a chunk that may be partly in ClickHouse. */
interface ChunkPosition {
  readonly sequence: Sequence
  readonly chunkUpTo: Sequence | null
}

/** Every change is from where the position must be; elsewhere it throws PositionMoved and changes nothing. */
export interface ChunkStore {
  /** The position, made when there is none. */
  start(place: Place): Promise<ChunkPosition>
  begin(place: Place, from: Sequence, upTo: Sequence): Promise<void>
  finish(place: Place, from: Sequence, upTo: Sequence, chunkUpTo: Sequence | null): Promise<void>
  /** Keep a line that ClickHouse refuses, once. */
  putAside(place: Place, from: Sequence, table: string, line: string, error: unknown): Promise<void>
}

export function postgresChunks(sql: Sql): ChunkStore {
  return {
    async start({ generation, shard }) {
      const [row] = await sql<{ sequence: string; chunk_upto: string | null }[]>`
        insert into projections (generation, shard, store) values (${generation}, ${shard}, 'clickhouse')
        on conflict (generation, shard, store) do update set store = excluded.store
        returning sequence, chunk_upto`
      const { sequence, chunk_upto } = row!
      return { sequence: Number(sequence), chunkUpTo: chunk_upto === null ? null : Number(chunk_upto) }
    },
    async begin(place, from, upTo) {
      const begun = await sql`
        update projections set chunk_upto = ${upTo}
        where generation = ${place.generation} and shard = ${place.shard} and store = 'clickhouse'
          and sequence = ${from} and chunk_upto is null`
      if (begun.count !== 1) throw new PositionMoved('clickhouse', place, from)
    },
    async finish(place, from, upTo, chunkUpTo) {
      const moved = await sql`
        update projections set sequence = ${upTo}, chunk_upto = null
        where generation = ${place.generation} and shard = ${place.shard} and store = 'clickhouse'
          and sequence = ${from} and chunk_upto is not distinct from ${chunkUpTo}`
      if (moved.count !== 1) throw new PositionMoved('clickhouse', place, from)
    },
    async putAside({ generation, shard }, from, table, line, error) {
      const text = line.slice(0, failureTextMax).replaceAll('\0', '\ufffd')
      await sql`
        insert into projection_failures (generation, shard, store, sequence, error, record)
        values (${generation}, ${shard}, ${'clickhouse'}, ${from + 1}, ${reasonOf(`${table}: ${error}`)}, ${text})
        on conflict (generation, shard, store, sequence) do update set
          record = case when position(excluded.record in projection_failures.record) > 0
            then projection_failures.record
            else left(projection_failures.record || chr(10) || excluded.record, ${failureTextMax}) end`
      await forgetFailures(sql)
    },
  }
}

/** Characters kept of the records that a store refused at one place. */
export const failureTextMax = 65_536
/** Characters kept of its reason, which may quote the record. */
const reasonMax = 4_096

/** A store's reason as it is kept. */
export const reasonOf = (error: unknown): string =>
  String(error).slice(0, reasonMax).replaceAll('\0', '\ufffd')
/** Records kept that a store refused: the newest. */
const failuresMax = 10_000

/** Let go of the oldest records that were put aside. */
export async function forgetFailures(sql: Sql | TransactionSql): Promise<void> {
  await sql`
    delete from projection_failures where ctid in (
      select ctid from projection_failures order by failed_at desc offset ${failuresMax})`
}

// The filters of old idempotency keys as Postgres keeps them: one row per span, and its parts.
import type { Sql } from 'postgres'
import { type FilterPart, type SealedSpan, sharedCells } from './old-keys.js'

/** Hours that filters are kept once they are sealed: every claim in them was made before, and lasts 24 hours (EV-26). */
const keptHours = 25
/** Parts that are read at once. */
const partsAtOnce = 16
const cellBytes = 2

/** A span, without its filters. */
export interface SpanRow {
  readonly fromMs: number
  readonly toMs: number
  /** Whether its keys are deleted from Redis. */
  readonly isForgotten: boolean
}

/** All spans, oldest first. */
async function sealedRows(sql: Sql): Promise<readonly SpanRow[]> {
  const rows = await sql<{ from_ms: string; to_ms: string; forgotten: boolean }[]>`
    select from_ms, to_ms, forgotten_at is not null as forgotten from sealed_keys order by to_ms`
  return rows.map(({ from_ms, to_ms, forgotten }) => ({
    fromMs: Number(from_ms),
    toMs: Number(to_ms),
    isForgotten: forgotten,
  }))
}

/** A span with its filters. */
async function readSpan(sql: Sql, { fromMs, toMs }: SpanRow): Promise<SealedSpan> {
  const parts: FilterPart[] = []
  const rows = sql<{ keys: number; seed: number; cells: Buffer }[]>`
    select keys, seed, cells from sealed_key_parts where to_ms = ${toMs} order by part`
  for await (const some of rows.cursor(partsAtOnce))
    for (const { keys, seed, cells } of some) {
      const shared = sharedCells(cells.length / cellBytes)
      new Uint8Array(shared.buffer).set(cells)
      parts.push({ keys, seed, cells: shared })
    }
  return { fromMs, toMs, parts }
}

/** Keep a span, unless another node has kept one from the same instant on, or to the same. */
export async function storeSpan(sql: Sql, { fromMs, toMs, parts }: SealedSpan): Promise<void> {
  await sql.begin(async tx => {
    const made = await tx`
      insert into sealed_keys (from_ms, to_ms) values (${fromMs}, ${toMs}) on conflict do nothing returning to_ms`
    if (made.length === 0) return
    for (const [part, { keys, seed, cells }] of parts.entries()) {
      const bytes = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength)
      await tx`
        insert into sealed_key_parts (to_ms, part, keys, seed, cells)
        values (${toMs}, ${part}, ${keys}, ${seed}, ${bytes})`
    }
  })
}

/** The filters in a Postgres. */
export const sealedKeysIn = (sql: Sql) => ({
  rows: () => sealedRows(sql),
  read: (row: SpanRow) => readSpan(sql, row),
  prune: () => pruneSealed(sql),
})

/** The keys of a span are deleted from Redis. */
export async function markForgotten(sql: Sql, toMs: number): Promise<void> {
  await sql`update sealed_keys set forgotten_at = now() where to_ms = ${toMs}`
}

/** Remove filters whose keys are free again by any clock; the last row stays. */
async function pruneSealed(sql: Sql): Promise<void> {
  await sql`
    delete from sealed_keys
    where sealed_at < now() - make_interval(hours => ${keptHours})
      and to_ms < (select max(to_ms) from sealed_keys)`
}

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
  readonly version: number
  readonly fromMs: number
  readonly toMs: number
  /** Whether its keys are deleted from Redis. */
  readonly isForgotten: boolean
}

/** All spans, in the order of their versions. */
async function sealedRows(sql: Sql): Promise<readonly SpanRow[]> {
  const rows = await sql<{ version: string; from_ms: string; to_ms: string; forgotten: boolean }[]>`
    select version, from_ms, to_ms, forgotten_at is not null as forgotten from sealed_keys order by version`
  return rows.map(({ version, from_ms, to_ms, forgotten }) => ({
    version: Number(version),
    fromMs: Number(from_ms),
    toMs: Number(to_ms),
    isForgotten: forgotten,
  }))
}

/** A span with its filters. */
async function readSpan(sql: Sql, { version, fromMs, toMs }: SpanRow): Promise<SealedSpan> {
  const parts: FilterPart[] = []
  const rows = sql<{ keys: number; seed: number; cells: Buffer }[]>`
    select keys, seed, cells from sealed_key_parts where version = ${version} order by part`
  for await (const some of rows.cursor(partsAtOnce))
    for (const { keys, seed, cells } of some) {
      const shared = sharedCells(cells.length / cellBytes)
      new Uint8Array(shared.buffer).set(cells)
      parts.push({ keys, seed, cells: shared })
    }
  return { version, fromMs, toMs, parts }
}

/**
 * Keep a span under the next version.
 *
 * returns  its version; null: another node has sealed from the same instant on, or at the same time.
 */
export async function storeSpan(
  sql: Sql,
  { fromMs, toMs, parts }: Omit<SealedSpan, 'version'>,
): Promise<number | null> {
  try {
    return await sql.begin(async tx => {
      const [row] = await tx<{ version: string }[]>`
        insert into sealed_keys (version, from_ms, to_ms)
        select coalesce(max(version), 0) + 1, ${fromMs}, ${toMs} from sealed_keys
        returning version`
      const { version } = row!
      for (const [part, { keys, seed, cells }] of parts.entries()) {
        const bytes = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength)
        await tx`
          insert into sealed_key_parts (version, part, keys, seed, cells)
          values (${version}, ${part}, ${keys}, ${seed}, ${bytes})`
      }
      return Number(version)
    })
  } catch (error) {
    if ((error as { code?: unknown }).code === '23505') return null
    throw error
  }
}

/** The filters in a Postgres. */
export const sealedKeysIn = (sql: Sql) => ({
  rows: () => sealedRows(sql),
  read: (row: SpanRow) => readSpan(sql, row),
  prune: () => pruneSealed(sql),
})

/** The keys of a span are deleted from Redis. */
export async function markForgotten(sql: Sql, version: number): Promise<void> {
  await sql`update sealed_keys set forgotten_at = now() where version = ${version}`
}

/** Remove filters whose keys are free again by any clock; the last row stays. */
async function pruneSealed(sql: Sql): Promise<void> {
  await sql`
    delete from sealed_keys
    where sealed_at < now() - make_interval(hours => ${keptHours})
      and version < (select max(version) from sealed_keys)`
}

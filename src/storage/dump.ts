// Dumps all tables of both stores as text and loads them again, for backups that do not depend on server versions.
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql, TransactionSql } from 'postgres'
import { type ClickHouse, ticked } from './clickhouse.js'

/** A table and its dumped columns. */
export interface DumpedTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** A migration file that a store has applied. */
export interface Migrated {
  readonly name: string
  readonly checksum: string
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

// ── Postgres ─────────────────────────────────────────────────────────────────────────────────────

type Asks = Sql | TransactionSql

/** Every table except the list of migrations. */
export async function postgresTables(sql: Asks): Promise<readonly DumpedTable[]> {
  return sql<DumpedTable[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname not in ('schema_migrations', 'ownership')
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname`
}

export async function postgresMigrations(sql: Asks): Promise<readonly Migrated[]> {
  return sql<Migrated[]>`select name, checksum from schema_migrations order by name`
}

/** The rows of a table in the text format of COPY. */
export async function* copyOut(sql: Asks, table: DumpedTable): AsyncGenerator<Buffer> {
  const rows: Readable = await sql
    .unsafe(`copy ${quoted(table.name)} (${list(table.columns)}) to stdout`)
    .readable()
  yield* rows
  // The driver pauses its socket until more is read, which nobody does after the end of a stream; the next
  // statement of this connection would wait forever.
  rows._read(0)
}

/**
 * Fill the tables of a freshly migrated database in one transaction, referenced tables first.
 *
 * rows     the rows of a table, as from `copyOut`.
 * errors   Error naming the first table that this schema does not have; those of the database.
 */
export async function loadPostgres(
  sql: Sql,
  tables: readonly DumpedTable[],
  rows: (table: DumpedTable) => AsyncIterable<Buffer>,
  done: (table: DumpedTable) => void,
): Promise<void> {
  const known = await postgresTables(sql)
  const unknown = tables.find(({ name }) => !known.some(one => one.name === name))
  if (unknown !== undefined) throw new Error(`Postgres: there is no table ${unknown.name}`)
  await sql.begin(async tx => {
    await tx`select set_config('tollgate.unbounded', 'on', true)`
    // Rows inserted by migrations are in the backup too, in their present form.
    await tx.unsafe(`truncate ${list(known.map(({ name }) => name))}`)
    for (const table of await referencedFirst(tx, tables)) {
      const into = await tx
        .unsafe(`copy ${quoted(table.name)} (${list(table.columns)}) from stdin`)
        .writable()
      await pipeline(rows(table), into)
      done(table)
    }
    await countOn(tx)
  })
}

async function referencedFirst(
  tx: TransactionSql,
  tables: readonly DumpedTable[],
): Promise<readonly DumpedTable[]> {
  const references = await tx<{ name: string; to: string }[]>`
    select f.relname as name, t.relname as to from pg_constraint k
    join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
    where k.contype = 'f' and k.conrelid <> k.confrelid and f.relnamespace = current_schema()::regnamespace`
  const sorted: DumpedTable[] = []
  const left = new Set(tables)
  while (left.size > 0) {
    const free = [...left].filter(
      ({ name }) => !references.some(one => one.name === name && [...left].some(of => of.name === one.to)),
    )
    if (free.length === 0) throw new Error('Postgres: tables refer to each other in a circle')
    for (const table of free) left.delete(table)
    sorted.push(...free)
  }
  return sorted
}

/** Set sequences to continue after the highest stored value. */
async function countOn(tx: TransactionSql): Promise<void> {
  const columns = await tx<{ table: string; column: string; sequence: string }[]>`
    select c.relname as table, a.attname as column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attidentity <> ''`
  for (const { table, column, sequence } of columns)
    await tx`
      select setval(${sequence}::regclass, highest) from (select max(${tx(column)}) as highest from ${tx(table)}) as of
      where highest is not null`
}

// ── ClickHouse ───────────────────────────────────────────────────────────────────────────────────

/** Name prefix of the clones that a backup reads. */
export const clonePrefix = 'backup_'
const stagingPrefix = 'restore_'
/**
 * Target size of a page, by the part's average row size. Finding the start of a page takes longer the later it is.
 */
const pageBytes = 64 << 20
const pageRowsMax = 1_000_000
const insertBytes = 16 << 20
/** ClickHouse error code: the result exceeds max_result_bytes. */
const tooLarge = '396'

/** Every table with rows except the list of migrations. */
export async function clickhouseTables(clickhouse: ClickHouse): Promise<readonly DumpedTable[]> {
  return clickhouse.select<DumpedTable>(
    `SELECT t.name AS name, arrayMap(x -> x.2, arraySort(groupArray((c.position, c.name)))) AS columns
     FROM system.tables AS t JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
     WHERE t.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND t.name != 'schema_migrations'
       AND NOT startsWith(t.name, '${clonePrefix}') AND NOT startsWith(t.name, '${stagingPrefix}')
       AND c.default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL')
     GROUP BY t.name ORDER BY t.name`,
  )
}

export async function clickhouseMigrations(clickhouse: ClickHouse): Promise<readonly Migrated[]> {
  return clickhouse.select<Migrated>(
    `SELECT name, any(checksum) AS checksum FROM schema_migrations
     GROUP BY name HAVING max(statement) = max(statements) ORDER BY name`,
  )
}

/** Clone all tables in their present state. It takes milliseconds, because clones share parts. */
export async function cloneTables(clickhouse: ClickHouse): Promise<readonly DumpedTable[]> {
  const tables = await clickhouseTables(clickhouse)
  for (const { name } of tables) {
    const clone = ticked(clonePrefix + name)
    await clickhouse.command(`CREATE TABLE ${clone} AS ${ticked(name)}`)
    // read part by part, so merges must not change the parts
    await clickhouse.command(`SYSTEM STOP MERGES ${clone}`)
    await clickhouse.command(`ALTER TABLE ${clone} ATTACH PARTITION ALL FROM ${ticked(name)}`)
  }
  return tables
}

/** Drop the clones of any backup. */
export async function dropClones(clickhouse: ClickHouse): Promise<void> {
  const clones = await clickhouse.select<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${clonePrefix}')`,
  )
  for (const { name } of clones) await clickhouse.command(`DROP TABLE ${ticked(name)} SYNC`)
}

/**
 * The rows of a table's clone in TabSeparated format, one line each.
 *
 * counted  called with the number of rows in each page.
 * errors   Error when the total differs from the clone's number of rows.
 */
export async function* cloneRows(
  clickhouse: ClickHouse,
  table: DumpedTable,
  counted: (rows: number) => void,
): AsyncGenerator<Buffer> {
  const clone = clonePrefix + table.name
  const parts = await clickhouse.select<{ name: string; rows: number; bytes: number }>(
    `SELECT name, rows, data_uncompressed_bytes AS bytes FROM system.parts
     WHERE database = currentDatabase() AND table = {table: String} AND active ORDER BY name`,
    { table: clone },
  )
  const rows = await cloneSize(clickhouse, table)
  let came = 0
  for (const part of parts) {
    let most = Math.max(1, Math.min(pageRowsMax, Math.floor((pageBytes * part.rows) / (part.bytes + 1))))
    for (let from = 0; from < part.rows; ) {
      const page = await readPage(clickhouse, table, part.name, from, from + most)
      if (page === null) {
        if (most === 1) throw new Error(`ClickHouse: a row of ${table.name} is larger than an answer may be`)
        most = Math.ceil(most / 2)
        continue
      }
      from += most
      const lines = page.reduce((sum, piece) => sum + countLines(piece), 0)
      came += lines
      counted(lines)
      yield* page
    }
  }
  if (came !== rows) throw new Error(`ClickHouse: ${came} of ${rows} rows of ${table.name} came`)
}

/** Number of rows in a table's clone. */
export async function cloneSize(clickhouse: ClickHouse, table: DumpedTable): Promise<number> {
  const [found] = await clickhouse.select<{ rows: number }>(
    `SELECT count() AS rows FROM ${ticked(clonePrefix + table.name)}`,
  )
  return found!.rows
}

/** Null when they are too many for one result. */
async function readPage(
  clickhouse: ClickHouse,
  table: DumpedTable,
  part: string,
  from: number,
  to: number,
): Promise<readonly Buffer[] | null> {
  const pieces: Buffer[] = []
  const sql = `SELECT ${table.columns.map(ticked).join(', ')} FROM ${ticked(clonePrefix + table.name)}
    WHERE _part = {part: String} AND _part_offset >= {from: UInt64} AND _part_offset < {to: UInt64} FORMAT TabSeparated`
  try {
    for await (const piece of clickhouse.bytes(sql, { part, from, to })) pieces.push(piece)
    return pieces
  } catch (error) {
    if ((error as { code?: string }).code === tooLarge) return null
    throw error
  }
}

const newline = 0x0a

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}

/**
 * Fill a table of a freshly migrated database. Rows are inserted into a second table whose parts are then attached,
 * so that materialized views do not count them again.
 */
export async function loadClickHouse(
  clickhouse: ClickHouse,
  table: DumpedTable,
  rows: AsyncIterable<Buffer>,
  counted: (rows: number) => void,
): Promise<void> {
  const staging = stagingPrefix + table.name
  await clickhouse.command(`CREATE TABLE ${ticked(staging)} AS ${ticked(table.name)}`)
  for await (const lines of wholeLines(rows)) {
    await clickhouse.insertRaw({
      table: staging,
      columns: table.columns,
      rows: lines,
      format: 'TabSeparated',
      settings: { max_partitions_per_insert_block: '0' },
    })
    counted(countLines(lines))
  }
  await clickhouse.command(`ALTER TABLE ${ticked(table.name)} ATTACH PARTITION ALL FROM ${ticked(staging)}`)
  await clickhouse.command(`DROP TABLE ${ticked(staging)} SYNC`)
}

/** The same bytes in pieces of some megabytes that end at a line end. */
async function* wholeLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(newline) + 1
    if (bytes + piece.length < insertBytes || end === 0) {
      kept.push(piece)
      bytes += piece.length
      continue
    }
    yield Buffer.concat([...kept, piece.subarray(0, end)])
    kept = [piece.subarray(end)]
    bytes = piece.length - end
  }
  if (bytes > 0) yield Buffer.concat(kept)
}

// Brings both stores to the schema this Tollgate knows: the numbered files of sql/, in order, each once, forward only.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql } from 'postgres'
import type { ClickHouse } from './clickhouse.js'
import { closePostgres, openPostgres, type PostgresAddress } from './postgres.js'

export interface MigrateOptions {
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouse
  /** Holds postgres/ and clickhouse/; the project's own sql/ unless given. */
  readonly directory?: string
  /** Go no further than where these had run: the schema a backup was taken of. */
  readonly ran?: Readonly<Record<'postgres' | 'clickhouse', readonly Applied[]>>
}

export interface MigrateResult {
  /** Files applied by this call, as `postgres/0001_accounts.sql`, in order. */
  readonly applied: readonly string[]
}

/** The schema on disk and the one in a store do not belong together; nothing was changed. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** sql/ beside dist/. */
export const sqlDirectory = fileURLToPath(new URL('../../../sql/', import.meta.url))

/** Any number that no other program would choose: the lock of all starts on this database. */
const lockKey = 5_021_718_304_551

/**
 * Apply what is missing. Safe to call from several processes at once: one works, the others wait and find it done.
 *
 * Each store keeps its own list of what was applied, so that a store restored from a backup, or begun anew, is
 * brought up from where it really is. A Postgres file is one transaction together with its line in the list.
 * A ClickHouse file is applied statement by statement, each noted when done; after a crash between the two, the
 * statement that comes next is the only one that may find its work done.
 *
 * errors   MigrationError naming the file: changed after it ran, missing on disk, numbered with a gap, or failed
 *          (the driver's error is its cause).
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const { postgres, clickhouse, directory = sqlDirectory, ran } = options
  const files = {
    postgres: upTo(ran?.postgres, await readFiles(directory, 'postgres'), 'postgres'),
    clickhouse: upTo(ran?.clickhouse, await readFiles(directory, 'clickhouse'), 'clickhouse'),
  }
  // Connections of its own, without bounds: waiting for another start, or changing a large table, takes its time.
  const sql = openPostgres(postgres, { max: 2, statementTimeoutMs: 0 })
  try {
    // The lock is one connection's open transaction; the work is done on the other.
    return await sql.begin(async lock => {
      await lock`select pg_advisory_xact_lock(${lockKey})`
      return {
        applied: [
          ...(await migratePostgres(sql, files.postgres)),
          ...(await migrateClickHouse(clickhouse, files.clickhouse)),
        ],
      }
    })
  } finally {
    await closePostgres(sql)
  }
}

interface File {
  /** `postgres/0001_accounts.sql`. */
  readonly path: string
  readonly name: string
  readonly text: string
  readonly checksum: string
}

async function readFiles(directory: string, store: 'postgres' | 'clickhouse'): Promise<readonly File[]> {
  const folder = join(directory, store)
  if (!existsSync(folder)) return []
  const names = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
  const files = names.map(async (name, index): Promise<File> => {
    const path = `${store}/${name}`
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
    if (number === undefined) throw new MigrationError(`${path}: the name is not <4 digits>_<words>.sql`)
    if (Number(number) !== index + 1)
      throw new MigrationError(
        `${path}: expected number ${String(index + 1).padStart(4, '0')}; numbers have no gap and no repeat`,
      )
    const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n')
    return { path, name, text, checksum: createHash('sha256').update(text).digest('hex') }
  })
  return Promise.all(files)
}

interface Applied {
  readonly name: string
  readonly checksum: string
}

/** What is still to do, once it is certain that the rest was done as it stands on disk. */
function missing<T extends Applied>(
  files: readonly File[],
  applied: readonly T[],
  store: string,
): readonly File[] {
  for (const [index, one] of applied.entries()) {
    const file = files[index]
    if (file?.name !== one.name)
      throw new MigrationError(
        `${store}/${one.name} was applied to this store but is not among the files: the store was made by a newer Tollgate`,
      )
    if (file.checksum !== one.checksum)
      throw new MigrationError(
        `${file.path} was changed after it ran: a migration is never edited, add a new one`,
      )
  }
  return files.slice(applied.length)
}

function upTo(ran: readonly Applied[] | undefined, files: readonly File[], store: string): readonly File[] {
  if (ran === undefined) return files
  missing(files, ran, store)
  return files.slice(0, ran.length)
}

async function migratePostgres(sql: Sql, files: readonly File[]): Promise<string[]> {
  await sql`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  const applied = await sql<Applied[]>`select name, checksum from schema_migrations order by name`
  const done: string[] = []
  for (const file of missing(files, applied, 'postgres')) {
    const apply = sql.begin(async sql => {
      // Without parameters the text goes as it is, all its statements at once.
      await sql.unsafe(file.text).simple()
      await sql`insert into schema_migrations (name, checksum) values (${file.name}, ${file.checksum})`
    })
    await apply.catch(cause => {
      throw failed(file, cause)
    })
    done.push(file.path)
  }
  return done
}

/** One row per statement that ran; `statements`: of the whole file. */
interface Step extends Applied {
  readonly statement: number
  readonly statements: number
}

/** A table, view or dictionary is there already. */
const existsAlready = '57'

async function migrateClickHouse(clickhouse: ClickHouse, files: readonly File[]): Promise<string[]> {
  await clickhouse.command(`
    CREATE TABLE IF NOT EXISTS schema_migrations
    (
      name String,
      checksum String,
      statement UInt32,
      statements UInt32,
      applied_at DateTime DEFAULT now()
    )
    ENGINE = MergeTree ORDER BY (name, statement)`)
  const steps = await clickhouse.select<Step>(
    `SELECT name, checksum, max(statement) AS statement, any(statements) AS statements
     FROM schema_migrations GROUP BY name, checksum ORDER BY name`,
  )
  const last = steps.at(-1)
  const begun = last !== undefined && last.statement < last.statements ? last : null
  if (begun !== null) missing(files, steps, 'clickhouse')
  const done: string[] = []
  for (const file of missing(files, begun === null ? steps : steps.slice(0, -1), 'clickhouse')) {
    await applyToClickHouse(clickhouse, file, file.name === begun?.name ? begun.statement : 0)
    done.push(file.path)
  }
  return done
}

/** `from`: statements of the file that are noted as done. */
async function applyToClickHouse(clickhouse: ClickHouse, file: File, from: number): Promise<void> {
  const statements = splitStatements(file.text)
  if (statements.length === 0) throw new MigrationError(`${file.path} holds no statement`)
  for (const [index, text] of statements.entries()) {
    if (index < from) continue
    await clickhouse.command(text).catch(cause => {
      // Only the first one tried can have run before, unnoted.
      if (index === from && (cause as { code?: string }).code === existsAlready) return
      throw failed(file, cause)
    })
    const step = {
      name: file.name,
      checksum: file.checksum,
      statement: index + 1,
      statements: statements.length,
    }
    await clickhouse.insertRaw({ table: 'schema_migrations', rows: JSON.stringify(step) })
  }
}

function failed(file: File, cause: unknown): MigrationError {
  return new MigrationError(`${file.path} failed: ${cause instanceof Error ? cause.message : cause}`, {
    cause,
  })
}

/**
 * The statements of a ClickHouse file, which takes one at a time. A statement ends with `;` at the end of a line
 * (a comment may follow it); a text constant must not hold such a line end.
 */
export function splitStatements(text: string): readonly string[] {
  return text
    .split(/;[ \t]*(?:--[^\n]*)?(?:\n|$)/)
    .map(part => part.trim())
    .filter(part => part.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '')
}

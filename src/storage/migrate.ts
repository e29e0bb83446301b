// Migrates both stores: applies the numbered files of sql/ in order, each once, forward only.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Sql } from 'postgres'
import { MigrationError, ServiceError } from '../errors.js'
import type { ClickHouse } from './clickhouse.js'
import { closePostgres, openPostgres, type PostgresAddress } from './postgres.js'
import { inTransaction } from './transactions.js'

interface MigrateOptions {
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouse
  /** The directory with postgres/ and clickhouse/; default the project's sql/. */
  readonly directory?: string
  /** Stop where these had stopped: the schema of a backup. */
  readonly ran?: Readonly<Record<'postgres' | 'clickhouse', readonly Applied[]>>
  /** ClickHouse may be away: it is then left as it is, and the result says so. */
  readonly clickhouseMayBeAway?: boolean
}

interface MigrateResult {
  /** Files applied by this call, in order, such as `postgres/0001_accounts.sql`. */
  readonly applied: readonly string[]
  /** ClickHouse did not answer: some of its files may be missing. */
  readonly clickhouseAway?: true
}

/** The directory sql/ beside dist/. */
export const sqlDirectory = fileURLToPath(new URL('../../../sql/', import.meta.url))

/** Advisory lock of all starts on this database. An arbitrary number. */
const lockKey = 5_021_718_304_551
const againMs = 50

/**
 * Apply the missing files. Several processes may call it at once: each file is applied by one of them, the others wait.
 *
 * Each store keeps its own list of applied files, so that a restored or new store is migrated from its actual
 * state. A Postgres file is one transaction together with its entry in the list. A ClickHouse file is applied
 * statement by statement, each recorded when done. After a crash in between, only the next statement may have run
 * already.
 *
 * errors   MigrationError naming the file: changed after it ran, missing on disk, a gap in the numbers, failed
 *          (with the driver's error as cause), or another first file, as unreleased versions had.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const { postgres, clickhouse, directory = sqlDirectory, ran } = options
  const files = {
    postgres: upTo(ran?.postgres, await readFiles(directory, 'postgres'), 'postgres'),
    clickhouse: upTo(ran?.clickhouse, await readFiles(directory, 'clickhouse'), 'clickhouse'),
  }
  // a connection without time limits: changing a large table takes long
  const sql = openPostgres(postgres, { max: 1, statementTimeoutMs: 0 })
  const applied: string[] = []
  try {
    for (;;) {
      const path = await inTurn(sql, tx => migrateOnce(tx, files.postgres))
      if (path === null) break
      applied.push(path)
    }
    // before a long time limit would end
    if (options.clickhouseMayBeAway && !(await clickhouse.healthy())) return away(applied)
    const more = await inTurn(sql, () => migrateClickHouse(clickhouse, files.clickhouse))
    return { applied: [...applied, ...more] }
  } catch (error) {
    if (options.clickhouseMayBeAway && isAwayError(error)) return away(applied)
    throw error
  } finally {
    await closePostgres(sql)
  }
}

/**
 * Work in a transaction while no other start does. One that waits keeps no transaction open: behind a pooler it would keep a
 * connection of the server from the one that works.
 */
async function inTurn<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  for (;;) {
    const done = await inTransaction(sql, async tx => {
      const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lockKey}) as mine`
      return row!.mine ? { value: await work(tx) } : null
    })
    if (done !== null) return done.value
    await sleep(againMs)
  }
}

const away = (applied: readonly string[]): MigrateResult => ({ applied, clickhouseAway: true })

/** Whether a store was away, or a file failed for that. */
function isAwayError(error: unknown): boolean {
  if (error instanceof MigrationError) return isAwayError(error.cause)
  return error instanceof ServiceError && error.code === 'store_away'
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

/** The files still to apply, after checking that the applied ones are unchanged on disk. */
function missing<T extends Applied>(
  files: readonly File[],
  applied: readonly T[],
  store: string,
): readonly File[] {
  const first = applied[0]
  if (first !== undefined && files[0] !== undefined && first.name !== files[0].name)
    throw new MigrationError(
      `${store}/${first.name} was applied to this store first, but the first migration is ${files[0].path}: an unreleased version of Tollgate made this data, and no version can read it. Begin with an empty data directory and, where DATABASE_URL or CLICKHOUSE_URL name databases, empty databases`,
    )
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

/** Apply the first missing file. Returns its path; null when there is none. */
async function migrateOnce(tx: Sql, files: readonly File[]): Promise<string | null> {
  await tx`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  const applied = await tx<Applied[]>`select name, checksum from schema_migrations order by name`
  const file = missing(files, applied, 'postgres')[0]
  if (file === undefined) return null
  try {
    // without parameters all statements of the text are sent at once
    await tx.unsafe(file.text).simple()
    await tx`insert into schema_migrations (name, checksum) values (${file.name}, ${file.checksum})`
  } catch (cause) {
    throw failed(file, cause)
  }
  return file.path
}

/** One row per applied statement; `statements`: their number in the file. */
interface Step extends Applied {
  readonly statement: number
  readonly statements: number
}

/** ClickHouse error code: a table, view or dictionary exists already. */
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

/** `from`: number of statements already recorded as done. */
async function applyToClickHouse(clickhouse: ClickHouse, file: File, from: number): Promise<void> {
  const statements = splitStatements(file.text)
  if (statements.length === 0) throw new MigrationError(`${file.path} holds no statement`)
  for (const [index, text] of statements.entries()) {
    if (index < from) continue
    await clickhouse.command(text).catch(cause => {
      // only the first statement can have run without being recorded
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
 * Split a ClickHouse file into statements, because the server takes one at a time. A statement ends with `;` at the
 * end of a line (a comment may follow). A string literal must not contain such a line end.
 */
export function splitStatements(text: string): readonly string[] {
  return text
    .split(/;[ \t]*(?:--[^\n]*)?(?:\n|$)/)
    .map(part => part.trim())
    .filter(part => part.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '')
}

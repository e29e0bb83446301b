// The table of contents of a backup (backup.json): its seal and its validation. Nothing in it is used before it is
// authenticated, and only names that this program would have written are accepted. No I/O.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Sequence } from '../journal/journal.js'
import type { DumpedTable, Migrated } from '../storage/dump.js'
import { Failure } from './io.js'

/** The contents of a backup, and its time. */
export interface Contents {
  /** The format's version. */
  readonly format: typeof format
  /** The version of Tollgate that took it. */
  readonly tollgate: string
  readonly taken_at: string
  readonly journal: {
    readonly generation: string
    /** By shard: the sequence where it ends, and its segments by their first sequence. */
    readonly shards: readonly { readonly committed: Sequence; readonly segments: readonly Sequence[] }[]
  }
  readonly postgres: Store
  readonly clickhouse: Store
  /** Files copied from the data directory. */
  readonly secrets: readonly string[]
  /** By path: size and checksum of the uncompressed file. */
  readonly files: Readonly<Record<string, Sum>>
}

interface Store {
  readonly migrations: readonly Migrated[]
  readonly tables: readonly DumpedTable[]
}

/** Size and checksum of one file, uncompressed. */
export interface Sum {
  readonly bytes: number
  readonly sha256: string
}

export const format = 1

/** Secret files of the data directory, if Tollgate generated them. */
export const secretFiles = ['pepper', 'bootstrap-key'] as const

/** Path of a journal segment in a backup. */
export const segmentFile = (shard: number, first: number): string => `journal/${shard}-${first}`

/** Path of a table in a backup. */
export const tableFile = (store: 'postgres' | 'clickhouse', table: string): string => `${store}/${table}`

// ── seal ─────────────────────────────────────────────────────────────────────────────────────────

/** The name of the secret that seals a table of contents. */
export type Voucher = 'TOLLGATE_BACKUP_KEY' | 'pepper'

/** The line in the seal file: name of the secret, and HMAC-SHA256 of the contents' bytes, hex. */
export function seal(text: string, voucher: Voucher, secret: string): string {
  return `${voucher} ${macOf(text, secret)}\n`
}

/**
 * Whether one of the known secrets sealed a table of contents.
 *
 * line     as written by `seal`.
 * secrets  the known secrets; there may be several of one name.
 */
export function isSealed(
  text: string,
  line: string,
  secrets: readonly (readonly [Voucher, string])[],
): boolean {
  const [, voucher, given] = /^(TOLLGATE_BACKUP_KEY|pepper) ([0-9a-f]{64})\n$/.exec(line) ?? []
  if (given === undefined) return false
  return secrets.some(
    ([kind, secret]) =>
      kind === voucher && timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(macOf(text, secret), 'hex')),
  )
}

// The secret also hashes API keys; a derived key keeps the two uses apart.
function macOf(text: string, secret: string): string {
  const key = hkdfSync('sha256', secret, '', 'tollgate backup contents', 32)
  return createHmac('sha256', Buffer.from(key)).update(text).digest('hex')
}

// ── validation ───────────────────────────────────────────────────────────────────────────────────

const identifier = /^[a-z_][a-z0-9_]{0,62}$/
const migrationName = /^\d{4}_[a-z0-9_]{1,100}\.sql$/
const sha256 = /^[0-9a-f]{64}$/
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const shardsMax = 256
const listMax = 1_000_000

/**
 * Parse a table of contents. Every member must have the form that this program writes, and the named files must be
 * exactly the listed ones.
 *
 * errors  Failure naming the member.
 */
export function checkedContents(text: string): Contents {
  const given = object(parsed(text), 'backup.json')
  if (given.format !== format)
    throw new Failure('the backup is of a form that this Tollgate does not know: a newer one took it')
  const journal = object(given.journal, 'journal')
  const contents: Contents = {
    format,
    tollgate: like(given.tollgate, /^\d[\w.+-]{0,63}$/, 'tollgate'),
    taken_at: like(given.taken_at, instant, 'taken_at'),
    journal: {
      generation: like(journal.generation, /^[\w-]{1,64}$/, 'journal.generation'),
      shards: list(journal.shards, 'journal.shards', shardsMax).map((one, n) => shardOf(one, n)),
    },
    postgres: storeOf(given.postgres, 'postgres'),
    clickhouse: storeOf(given.clickhouse, 'clickhouse'),
    secrets: distinct(
      list(given.secrets, 'secrets', secretFiles.length).map(one =>
        like(one, /^(pepper|bootstrap-key)$/, 'secrets'),
      ),
      'secrets',
    ),
    files: Object.fromEntries(
      Object.entries(object(given.files, 'files')).map(([path, sum]) => [
        path,
        sumOf(sum, `files of ${path}`),
      ]),
    ),
  }
  if (contents.journal.shards.length === 0) throw wrong('journal.shards')
  const named = new Set([
    ...contents.journal.shards.flatMap(({ segments }, shard) =>
      segments.map(first => segmentFile(shard, first)),
    ),
    ...contents.postgres.tables.map(({ name }) => tableFile('postgres', name)),
    ...contents.clickhouse.tables.map(({ name }) => tableFile('clickhouse', name)),
    ...contents.secrets,
  ])
  for (const path of Object.keys(contents.files))
    if (!named.has(path)) throw new Failure(`the backup lists a file that belongs to nothing: ${shown(path)}`)
  for (const path of named)
    if (!Object.hasOwn(contents.files, path)) throw new Failure(`the backup lists no ${path}`)
  return contents
}

/**
 * Check that tables and columns are exactly those of the schema that the backup's migrations create.
 *
 * errors  Failure naming the table.
 */
export function mustFitSchema(
  store: 'Postgres' | 'ClickHouse',
  tables: readonly DumpedTable[],
  schema: readonly DumpedTable[],
): void {
  for (const { name, columns } of tables) {
    const known = schema.find(one => one.name === name)
    if (known === undefined) throw new Failure(`${store}: there is no table ${name}`)
    const same = columns.length === known.columns.length && columns.every(one => known.columns.includes(one))
    if (!same) throw new Failure(`${store}: the columns of ${name} are not those of its schema`)
  }
  const missing = schema.find(({ name }) => !tables.some(one => one.name === name))
  if (missing !== undefined) throw new Failure(`${store}: the backup has no table ${missing.name}`)
}

function shardOf(given: unknown, shard: number): Contents['journal']['shards'][number] {
  const what = `journal.shards ${shard}`
  const { committed, segments } = object(given, what)
  const firsts = list(segments, what, listMax).map(one => whole(one, 1, what))
  for (const [n, first] of firsts.entries()) if (n > 0 && first <= firsts[n - 1]!) throw wrong(what)
  return { committed: whole(committed, 0, what), segments: firsts }
}

function storeOf(given: unknown, what: string): Store {
  const { migrations, tables } = object(given, what)
  const checked = list(tables, `${what}.tables`, 1_000).map((one, n): DumpedTable => {
    const { name, columns } = object(one, `${what}.tables ${n}`)
    const columnsOf = list(columns, `${what}.tables ${n}`, 1_600)
    return {
      name: like(name, identifier, `${what}.tables ${n}`),
      columns: distinct(
        columnsOf.map(column => like(column, identifier, `columns of ${what}.tables ${n}`)),
        `columns of ${what}.tables ${n}`,
      ),
    }
  })
  distinct(
    checked.map(({ name }) => name),
    `${what}.tables`,
  )
  return {
    migrations: list(migrations, `${what}.migrations`, 10_000).map((one, n) => {
      const { name, checksum } = object(one, `${what}.migrations ${n}`)
      return {
        name: like(name, migrationName, `${what}.migrations ${n}`),
        checksum: like(checksum, sha256, `${what}.migrations ${n}`),
      }
    }),
    tables: checked,
  }
}

function sumOf(given: unknown, what: string): Sum {
  const { bytes, sha256: sum } = object(given, what)
  return { bytes: whole(bytes, 0, what), sha256: like(sum, sha256, what) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function object(given: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return given as Readonly<Record<string, unknown>>
  throw wrong(what)
}

function list(given: unknown, what: string, most: number): readonly unknown[] {
  if (Array.isArray(given) && given.length <= most) return given
  throw wrong(what)
}

function like(given: unknown, pattern: RegExp, what: string): string {
  if (typeof given === 'string' && pattern.test(given)) return given
  throw wrong(what)
}

function whole(given: unknown, least: number, what: string): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= least) return given
  throw wrong(what)
}

function distinct(texts: readonly string[], what: string): readonly string[] {
  if (new Set(texts).size === texts.length) return texts
  throw wrong(what)
}

const wrong = (what: string): Failure =>
  new Failure(`the backup is not one that Tollgate wrote: ${shown(what)}`)

/** Foreign text, escaped so that it is safe to print. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 200)).slice(1, -1)

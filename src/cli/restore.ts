// `tollgate restore`: restores a backup into an empty data directory. The next start continues from there.
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SingleBar } from 'cli-progress'
import { restoredFile } from '../account/bootstrap.js'
import { backupKeyFile } from '../account/secret-file.js'
import type { Config } from '../config.js'
import { segmentPath, shardDirectory } from '../journal/segment.js'
import { createLogger } from '../log.js'
import { Opened } from '../opened.js'
import { openStores, restoringFile } from '../start.js'
import { type ClickHouse, openClickHouse } from '../storage/clickhouse.js'
import { clickhouseTables, loadClickHouse, loadPostgres, postgresTables } from '../storage/dump.js'
import { lockDataDir } from '../storage/lock.js'
import { migrate } from '../storage/migrate.js'
import { closePostgres, openPostgres } from '../storage/postgres.js'
import { ArchiveReader, syncDirectory, type Trust } from './archive.js'
import { mustFitSchema, segmentFile, tableFile, type Voucher } from './contents.js'
import { type Exit, exit, Failure, type Io } from './io.js'

/**
 * Restore a backup into the embedded stores, or those named by DATABASE_URL and CLICKHOUSE_URL, whichever the
 * backup was taken from. They get the schema of the backup; the next start migrates it.
 *
 * The data directory may hold one file already: the secret that sealed the backup.
 *
 * The backup is not trusted. Its table of contents is authenticated and validated before anything is created, and its
 * tables are compared with the schema before they are filled.
 *
 * errors   Failure: the backup is incomplete, the data directory or a store is not empty, a file is corrupt. A partly
 *          restored data directory is refused by a start.
 */
export async function restore(
  config: Config,
  directory: string,
  trust: Omit<Trust, 'secrets'>,
  io: Io,
): Promise<Exit> {
  const archive = await ArchiveReader.open(directory, { ...trust, secrets: await secretsOf(config) })
  const { dataDir } = config
  const names = await readdir(dataDir).catch(error => {
    if (error.code === 'ENOENT') return []
    throw new Failure(`${dataDir}: ${error.message}`)
  })
  if (names.some(name => name !== 'lost+found' && name !== backupKeyFile))
    throw new Failure(`${dataDir} is not empty: name another TOLLGATE_DATA_DIR, or move that one away`)
  const lock = await lockDataDir(dataDir)
  try {
    await writeFile(join(dataDir, restoringFile), `${archive.contents.taken_at}\n`, {
      mode: 0o600,
      flush: true,
    })
    await fill(config, archive, io)
    // the next start records the restore in the audit log
    const { taken_at, tollgate } = archive.contents
    await writeFile(join(dataDir, restoredFile), JSON.stringify({ taken_at, tollgate }), {
      mode: 0o600,
      flush: true,
    })
    await rm(join(dataDir, restoringFile))
    await syncDirectory(dataDir)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure(`the restore broke off: ${cause instanceof Error ? cause.message : cause}`, { cause })
  } finally {
    lock.release()
  }
  const { taken_at: takenAt, tollgate } = archive.contents
  io.print(`${dataDir}: as it was at ${takenAt} under Tollgate ${tollgate}; start it`)
  if (archive.vouched !== 'known')
    io.note(
      'Nothing of yours vouches for this backup: whoever could change it where it was kept may have. ' +
        'TOLLGATE_BACKUP_KEY or --fingerprint tells.',
    )
  if (!archive.contents.secrets.includes('pepper') && config.pepper === null)
    io.note('Start it with the TOLLGATE_PEPPER that it had: no key is known without it')
  return exit.done
}

/** Secrets that may have sealed the backup. */
async function secretsOf({ backupKey, pepper, dataDir }: Config): Promise<Trust['secrets']> {
  if (backupKey !== null) return [['TOLLGATE_BACKUP_KEY', backupKey]]
  const kept = await readFile(join(dataDir, backupKeyFile), 'utf8').catch(() => '')
  const secrets: (readonly [Voucher, string])[] = []
  if (kept.trim() !== '') secrets.push(['TOLLGATE_BACKUP_KEY', kept.trim()])
  if (pepper !== null) secrets.push(['pepper', pepper])
  return secrets
}

async function fill(config: Config, archive: ArchiveReader, io: Io): Promise<void> {
  const { contents } = archive
  const log = createLogger(config, 2)
  const opened = new Opened()
  try {
    const addresses = await openStores(config, log, opened)
    const sql = openPostgres(addresses.postgres, { max: 2, statementTimeoutMs: 0 })
    opened.add(() => closePostgres(sql))
    const clickhouse = openClickHouse(addresses.clickhouse)
    opened.add(() => clickhouse.close())
    if ((await postgresTables(sql)).length > 0 || (await clickhouseTables(clickhouse)).length > 0)
      throw new Failure('the stores named by DATABASE_URL and CLICKHOUSE_URL are not empty')
    const { postgres: inPostgres, clickhouse: inClickHouse } = contents
    await migrate({
      postgres: addresses.postgres,
      clickhouse,
      ran: { postgres: inPostgres.migrations, clickhouse: inClickHouse.migrations },
    })
    mustFitSchema('Postgres', inPostgres.tables, await postgresTables(sql))
    mustFitSchema('ClickHouse', inClickHouse.tables, await clickhouseTables(clickhouse))
    await fillClickHouse(clickhouse, archive, io)
    await loadPostgres(
      sql,
      inPostgres.tables,
      table => archive.read(tableFile('postgres', table.name)),
      () => {},
    )
    io.note(`Postgres: ${inPostgres.tables.length} tables`)
    await fillJournals(config.dataDir, archive, io)
    for (const name of contents.secrets) await writeOut(join(config.dataDir, name), archive.read(name))
  } finally {
    await opened.close(log)
  }
}

async function fillClickHouse(clickhouse: ClickHouse, archive: ArchiveReader, io: Io): Promise<void> {
  const { tables } = archive.contents.clickhouse
  const bar = io.bar === null ? null : new SingleBar({ stream: io.bar, format: barFormat, hideCursor: true })
  const files = tables.map(({ name }) => archive.contents.files[tableFile('clickhouse', name)]?.bytes ?? 0)
  bar?.start(
    files.reduce((sum, bytes) => sum + bytes, 0),
    0,
  )
  let rows = 0
  try {
    for (const table of tables)
      await loadClickHouse(
        clickhouse,
        table,
        counting(archive.read(tableFile('clickhouse', table.name)), bytes => bar?.increment(bytes)),
        more => {
          rows += more
        },
      )
  } finally {
    bar?.stop()
  }
  io.note(`ClickHouse: ${rows} rows of ${tables.length} tables`)
}

const barFormat = '{bar} {percentage}% of ClickHouse  {eta_formatted} left'

async function* counting(
  pieces: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    count(piece.length)
    yield piece
  }
}

/** The generation file is written last: it declares that journals and stores belong together. */
async function fillJournals(dataDir: string, archive: ArchiveReader, io: Io): Promise<void> {
  const root = join(dataDir, 'journal')
  const { generation, shards } = archive.contents.journal
  let files = 0
  await mkdir(root, { recursive: true })
  for (const [shard, { segments }] of shards.entries()) {
    const directory = shardDirectory(root, shard)
    await mkdir(directory, { mode: 0o700 })
    for (const first of segments) {
      await writeOut(segmentPath(directory, first), archive.read(segmentFile(shard, first)))
      files++
    }
    await syncDirectory(directory)
  }
  await writeFile(join(root, 'shards'), `${shards.length}\n`, { mode: 0o600, flush: true })
  await writeFile(join(root, 'generation'), generation, { mode: 0o600, flush: true })
  await syncDirectory(root)
  io.note(`journals: ${files} files`)
}

function writeOut(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  return pipeline(pieces, createWriteStream(path, { mode: 0o600, flush: true, flags: 'wx' }))
}

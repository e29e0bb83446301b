// `tollgate backup`: everything acknowledged up to one moment, read from a running Tollgate.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SingleBar } from 'cli-progress'
import type { TransactionSql } from 'postgres'
import { backupKeyFile } from '../account/secret-file.js'
import type { Config } from '../config.js'
import { version } from '../host/version.js'
import { copySegments } from '../journal/backup-copy.js'
import { shardDirectory } from '../journal/segment.js'
import type { BackupPoint } from '../recovery/backup.js'
import { Control } from '../recovery/control.js'
import { openClickHouse } from '../storage/clickhouse.js'
import {
  clickhouseMigrations,
  cloneRows,
  cloneSize,
  copyOut,
  postgresMigrations,
  postgresTables,
} from '../storage/dump.js'
import { closePostgres, openPostgres } from '../storage/postgres.js'
import { ArchiveWriter } from './archive.js'
import { type Contents, secretFiles, segmentFile, tableFile, type Voucher } from './contents.js'
import { type Exit, exit, Failure, type Io } from './io.js'

/**
 * Take a backup into a directory that is empty or does not exist.
 *
 * The service only finds the moment (src/recovery/backup.ts) and keeps its data; this process does all the
 * reading. On failure, everything it wrote is removed.
 *
 * errors   Failure: no Tollgate runs on the data directory, the directory is not empty, a store is down, …
 */
export async function backup(config: Config, directory: string, io: Io): Promise<Exit> {
  const control = await Control.connect(config.dataDir)
  if (control === null)
    throw new Failure(
      `No Tollgate runs on ${config.dataDir} that could be asked for a backup: start it first. ` +
        '(TOLLGATE_DATA_DIR says where it is; a copy of the directory of a stopped one is a backup as well.)',
    )
  try {
    const archive = await ArchiveWriter.create(directory)
    try {
      await take(config, control, archive, io)
    } catch (cause) {
      await archive.discard()
      if (cause instanceof Failure) throw cause
      throw new Failure(`no backup was taken: ${cause instanceof Error ? cause.message : cause}`, { cause })
    }
    io.print(
      `${directory}: everything acknowledged until it began, ${archive.bytes} bytes before compression`,
    )
    return exit.done
  } finally {
    control.close()
  }
}

async function take(config: Config, control: Control, archive: ArchiveWriter, io: Io): Promise<void> {
  const began = performance.now()
  const answer = await control.ask('backup')
  if (!('point' in answer)) throw new Error('the service gave no point')
  const { point } = answer
  io.note(`one moment of both stores and the journals found in ${Math.round(performance.now() - began)} ms`)
  const sql = openPostgres(point.postgres, { max: 1, statementTimeoutMs: 0 })
  try {
    await sql.begin('isolation level repeatable read read only', async tx => {
      await tx.unsafe(`set transaction snapshot '${point.snapshot.replaceAll("'", "''")}'`)
      const shards = await copyJournals(config, point, archive, io)
      await control.ask('journal_read')
      const clickhouse = await copyClickHouse(point, archive, io)
      const postgres = await copyPostgres(tx, archive, io)
      const secrets = await copySecrets(config, archive, io)
      const contents = {
        tollgate: version(),
        taken_at: new Date(point.takenAtMs).toISOString(),
        journal: { generation: point.generation, shards },
        postgres,
        clickhouse,
        secrets,
      }
      const fingerprint = await archive.finish(contents, await voucher(config))
      io.note(
        `fingerprint ${fingerprint}: keep it elsewhere, and a restore with --fingerprint takes this backup alone`,
      )
      if (config.backupKey === null && config.pepper === null)
        io.note(
          `sealed with ${join(config.dataDir, backupKeyFile)}, which is not in the backup: keep a copy elsewhere. ` +
            'A restore asks for it (TOLLGATE_BACKUP_KEY_FILE) or for the fingerprint.',
        )
    })
  } finally {
    await closePostgres(sql, 1_000)
  }
}

async function copyJournals(
  { dataDir }: Config,
  { committed }: BackupPoint,
  archive: ArchiveWriter,
  io: Io,
): Promise<Contents['journal']['shards']> {
  const shards: { committed: number; segments: number[] }[] = []
  let bytes = 0
  for (const [shard, upTo] of committed.entries()) {
    const segments: number[] = []
    for await (const { first, pieces } of copySegments(
      shardDirectory(join(dataDir, 'journal'), shard),
      upTo,
    )) {
      bytes += await archive.write(segmentFile(shard, first), pieces)
      segments.push(first)
    }
    shards.push({ committed: upTo, segments })
  }
  io.note(`journals: ${bytes} bytes`)
  return shards
}

async function copyClickHouse(
  { clickhouse: address, tables }: BackupPoint,
  archive: ArchiveWriter,
  io: Io,
): Promise<Contents['clickhouse']> {
  const clickhouse = openClickHouse(address, { max: 2 })
  const bar = io.bar === null ? null : new SingleBar({ stream: io.bar, format: barFormat, hideCursor: true })
  try {
    const sizes = await Promise.all(tables.map(table => cloneSize(clickhouse, table)))
    const all = sizes.reduce((sum, rows) => sum + rows, 0)
    bar?.start(all, 0)
    for (const table of tables)
      await archive.write(
        tableFile('clickhouse', table.name),
        cloneRows(clickhouse, table, rows => bar?.increment(rows)),
      )
    bar?.stop()
    io.note(`ClickHouse: ${all} rows of ${tables.length} tables`)
    return { migrations: await clickhouseMigrations(clickhouse), tables }
  } finally {
    bar?.stop()
    await clickhouse.close()
  }
}

const barFormat = '{bar} {percentage}%  {value} of {total} rows of ClickHouse  {eta_formatted} left'

async function copyPostgres(
  tx: TransactionSql,
  archive: ArchiveWriter,
  io: Io,
): Promise<Contents['postgres']> {
  const tables = await postgresTables(tx)
  let bytes = 0
  for (const table of tables)
    bytes += await archive.write(tableFile('postgres', table.name), copyOut(tx, table))
  io.note(`Postgres: ${tables.length} tables, ${bytes} bytes`)
  return { migrations: await postgresMigrations(tx), tables }
}

async function copySecrets({ dataDir }: Config, archive: ArchiveWriter, io: Io): Promise<readonly string[]> {
  const kept: string[] = []
  for (const name of secretFiles) {
    const bytes = await readFile(join(dataDir, name)).catch(error => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (bytes === null) continue
    await archive.write(name, [bytes])
    kept.push(name)
  }
  if (!kept.includes('pepper')) io.note('TOLLGATE_PEPPER is not in the backup: no key is known without it')
  return kept
}

/**
 * The secret that seals a backup: TOLLGATE_BACKUP_KEY, else TOLLGATE_PEPPER, else the secret generated for this. None of
 * them is in the backup: a secret that is would let anyone who can write to it seal another (security L1).
 */
async function voucher({ backupKey, pepper, dataDir }: Config): Promise<readonly [Voucher, string]> {
  if (backupKey !== null) return ['TOLLGATE_BACKUP_KEY', backupKey]
  if (pepper !== null) return ['pepper', pepper]
  return ['TOLLGATE_BACKUP_KEY', (await readFile(join(dataDir, backupKeyFile), 'utf8')).trim()]
}

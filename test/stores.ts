// Real stores for a test: an embedded Postgres and an embedded ClickHouse in a directory of their own, migrated.
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import type { Sql } from 'postgres'
import type { Test } from 'tap'
import { type ClickHouse, type ClickHouseAddress, openClickHouse } from '../src/storage/clickhouse.js'
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../src/storage/embedded/clickhouse.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/storage/embedded/postgres.js'
import { migrate } from '../src/storage/migrate.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../src/storage/postgres.js'

export interface Stores {
  /** As TOLLGATE_DATA_DIR: postgres/ and clickhouse/ are in use, the rest is the test's. Gone after the test. */
  readonly dataDir: string
  readonly postgres: PostgresAddress
  readonly sql: Sql
  readonly clickhouse: ClickHouse
  readonly clickhouseAddress: ClickHouseAddress
  /** The children: `pid` to kill one, `stop()` to take a store away for good. */
  readonly servers: { readonly postgres: EmbeddedPostgres; readonly clickhouse: EmbeddedClickHouse }
}

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' })

/**
 * Start both stores for the length of a test; takes a second or two. Share one between subtests.
 *
 * migrated   false: leave them empty.
 */
export async function startStores(t: Test, options: { migrated?: boolean } = {}): Promise<Stores> {
  const dataDir = await temporaryDirectory(t)
  const [postgresServer, clickhouseServer] = await Promise.all([
    startEmbeddedPostgres({ directory: join(dataDir, 'postgres'), log: silent, durable: false }),
    startEmbeddedClickHouse({
      directory: join(dataDir, 'clickhouse'),
      log: silent,
      memoryBytesMax: 2e9,
      durable: false,
    }),
  ])
  const sql = openPostgres(postgresServer.address)
  const clickhouse = openClickHouse(clickhouseServer.address)
  t.teardown(async () => {
    await Promise.all([closePostgres(sql, 1_000), clickhouse.close()])
    await Promise.all([postgresServer.stop(), clickhouseServer.stop()])
  })
  if (options.migrated !== false) await migrate({ postgres: postgresServer.address, clickhouse })
  return {
    dataDir,
    postgres: postgresServer.address,
    sql,
    clickhouse,
    clickhouseAddress: clickhouseServer.address,
    servers: { postgres: postgresServer, clickhouse: clickhouseServer },
  }
}

/** A directory that other users can pass through, as a server that is not root must; removed after the test. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-'))
  await chmod(directory, 0o711)
  // tap runs teardowns last in, first out: the servers have stopped by then.
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

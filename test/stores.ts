// Real stores for a test: an embedded Postgres and an embedded ClickHouse in a directory of their own, migrated.
import { randomBytes } from 'node:crypto'
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
  /** The children: `pid` to kill one, `stop()` to take a store away for good. Throws where a server was given. */
  readonly servers: { readonly postgres: EmbeddedPostgres; readonly clickhouse: EmbeddedClickHouse }
}

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' })

/**
 * Start both stores for the length of a test; takes a second or two. Share one between subtests.
 * With TOLLGATE_TEST_DATABASE_URL or TOLLGATE_TEST_CLICKHOUSE_URL that server is used, in a database of the test's own.
 *
 * migrated   false: leave them empty.
 */
export async function startStores(t: Test, options: { migrated?: boolean } = {}): Promise<Stores> {
  const dataDir = await temporaryDirectory(t)
  const [postgres, clickhouse] = await Promise.all([startPostgres(t, dataDir), startClickHouse(t, dataDir)])
  const sql = openPostgres(postgres.address)
  const client = openClickHouse(clickhouse.address)
  t.teardown(() => Promise.all([closePostgres(sql, 1_000), client.close()]))
  if (options.migrated !== false) await migrate({ postgres: postgres.address, clickhouse: client })
  return {
    dataDir,
    postgres: postgres.address,
    sql,
    clickhouse: client,
    clickhouseAddress: clickhouse.address,
    get servers() {
      if (postgres.server === null || clickhouse.server === null)
        throw new Error('this test kills its stores: it needs the embedded ones')
      return { postgres: postgres.server, clickhouse: clickhouse.server }
    },
  }
}

async function startPostgres(t: Test, dataDir: string) {
  const url = process.env.TOLLGATE_TEST_DATABASE_URL
  if (url === undefined) {
    const directory = join(dataDir, 'postgres')
    const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
    t.teardown(() => server.stop())
    return { address: server.address, server }
  }
  const database = newName()
  const admin = openPostgres({ url }, { max: 1 })
  await admin`create database ${admin(database)}`
  t.teardown(async () => {
    await admin`drop database ${admin(database)} with (force)`
    await closePostgres(admin)
  })
  return { address: { url: String(Object.assign(new URL(url), { pathname: database })) }, server: null }
}

async function startClickHouse(t: Test, dataDir: string) {
  const url = process.env.TOLLGATE_TEST_CLICKHOUSE_URL
  if (url === undefined) {
    const directory = join(dataDir, 'clickhouse')
    const settings = { directory, log: silent, memoryBytesMax: 2e9, durable: false }
    const server = await startEmbeddedClickHouse(settings)
    t.teardown(() => server.stop())
    return { address: server.address, server }
  }
  const database = newName()
  const admin = openClickHouse({ url })
  await admin.command('CREATE DATABASE {database: Identifier}', { database })
  t.teardown(async () => {
    await admin.command('DROP DATABASE {database: Identifier}', { database })
    await admin.close()
  })
  return { address: { url, database }, server: null }
}

const newName = (): string => `tollgate_test_${randomBytes(6).toString('hex')}`

/** A directory that other users can pass through, as a server that is not root must; removed after the test. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-'))
  await chmod(directory, 0o711)
  // tap runs teardowns last in, first out: the servers have stopped by then.
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

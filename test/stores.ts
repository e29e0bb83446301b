// Real stores for a test, migrated: databases of its own on the servers that a run shares, or embedded ones.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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
import { clickhouseDatabase, postgresDatabase } from './databases.js'

export interface Stores {
  /** As TOLLGATE_DATA_DIR: postgres/ and clickhouse/ are in use, the rest is the test's. Gone after the test. */
  readonly dataDir: string
  readonly postgres: PostgresAddress
  readonly sql: Sql
  readonly clickhouse: ClickHouse
  readonly clickhouseAddress: ClickHouseAddress
  /** The children: `pid` to kill one, `stop()` to take a store away for good. Throws unless they are the test's own. */
  readonly servers: { readonly postgres: EmbeddedPostgres; readonly clickhouse: EmbeddedClickHouse }
}

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' })

/**
 * Both stores for the length of a test. Share one pair between subtests.
 * The servers are those of TOLLGATE_TEST_DATABASE_URL and TOLLGATE_TEST_CLICKHOUSE_URL (`tools/test` gives a whole run
 * one of each), on which the test has databases of its own; without them embedded ones start, which takes a second or two.
 *
 * migrated   false: leave them empty.
 * own        true: embedded ones in any case, for a test that kills them or looks at them.
 */
export async function startStores(
  t: Test,
  { migrated = true, own = false }: { migrated?: boolean; own?: boolean } = {},
): Promise<Stores> {
  const dataDir = await temporaryDirectory(t)
  const [postgres, clickhouse] = await Promise.all([
    startPostgres(t, dataDir, { own, empty: !migrated }),
    startClickHouse(t, dataDir, { own, empty: !migrated }),
  ])
  const sql = openPostgres(postgres.address)
  const client = openClickHouse(clickhouse.address)
  t.teardown(() => Promise.all([closePostgres(sql, 1_000), client.close()]))
  if (migrated && !(postgres.migrated && clickhouse.migrated))
    await migrate({ postgres: postgres.address, clickhouse: client })
  return {
    dataDir,
    postgres: postgres.address,
    sql,
    clickhouse: client,
    clickhouseAddress: clickhouse.address,
    get servers() {
      if (postgres.server === null || clickhouse.server === null)
        throw new Error('this test kills its stores: it needs its own')
      return { postgres: postgres.server, clickhouse: clickhouse.server }
    },
  }
}

interface Wanted {
  readonly own: boolean
  readonly empty: boolean
}

async function startPostgres(t: Test, dataDir: string, { own, empty }: Wanted) {
  const shared = own ? null : await postgresDatabase(empty)
  if (shared !== null) {
    t.teardown(() => shared.drop())
    return { address: { url: shared.url }, server: null, migrated: shared.migrated }
  }
  const directory = join(dataDir, 'postgres')
  const server = await startEmbeddedPostgres({ directory, log: silent, durable: false })
  t.teardown(() => server.stop())
  return { address: server.address, server, migrated: false }
}

async function startClickHouse(t: Test, dataDir: string, { own, empty }: Wanted) {
  const shared = own ? null : await clickhouseDatabase(empty)
  if (shared !== null) {
    t.teardown(() => shared.drop())
    return { address: { url: shared.url }, server: null, migrated: shared.migrated }
  }
  const directory = join(dataDir, 'clickhouse')
  const settings = { directory, log: silent, memoryBytesMax: 2e9, durable: false }
  const server = await startEmbeddedClickHouse(settings)
  t.teardown(() => server.stop())
  return { address: server.address, server, migrated: false }
}

/** A directory that other users can pass through, as a server that is not root must; removed after the test. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-'))
  await chmod(directory, 0o711)
  // tap runs teardowns last in, first out: the servers have stopped by then. A Postgres of a killed Tollgate is ended here;
  // it may write a last file while the rest is removed.
  t.teardown(() => {
    endPostgres(directory)
    rmSync(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  })
  return directory
}

/** End each Postgres whose data lies in a directory, or one level below. */
function endPostgres(directory: string): void {
  if (!existsSync(directory)) return
  const below = readdirSync(directory, { withFileTypes: true }).filter(entry => entry.isDirectory())
  for (const one of [directory, ...below.map(({ name }) => join(directory, name))]) {
    const file = join(one, 'postgres', 'data', 'postmaster.pid')
    if (!existsSync(file)) continue
    const pid = Number.parseInt(readFileSync(file, 'latin1'), 10)
    try {
      // the file of one that was killed may name a process of somebody else by now
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(one)) process.kill(pid, 'SIGQUIT')
    } catch {
      // it is gone
    }
  }
}

// Databases of a test on servers that it shares with others: copies of a migrated template where there is one.
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { type ClickHouse, openClickHouse } from '../src/storage/clickhouse.js'
import { migrate } from '../src/storage/migrate.js'
import { closePostgres, openPostgres } from '../src/storage/postgres.js'

/** A database on a server, and how it goes. */
export interface Database {
  readonly url: string
  /** Whether it has the whole schema already. */
  readonly migrated: boolean
  drop(): Promise<void>
}

/** The name of a migrated database on both shared servers; undefined where the servers are somebody's own. */
const template = process.env.TOLLGATE_TEST_TEMPLATE

const newName = (): string => `tollgate_test_${randomBytes(6).toString('hex')}`

const withPath = (url: string, database: string): string =>
  String(Object.assign(new URL(url), { pathname: database }))

/** Make a database on the Postgres of TOLLGATE_TEST_DATABASE_URL; null without one. `empty`: without a schema. */
export async function postgresDatabase(empty = false): Promise<Database | null> {
  const url = process.env.TOLLGATE_TEST_DATABASE_URL
  if (url === undefined) return null
  const name = newName()
  const admin = openPostgres({ url }, { max: 1 })
  const migrated = template !== undefined && !empty
  if (migrated) await admin`create database ${admin(name)} template ${admin(template)}`
  else await admin`create database ${admin(name)}`
  return {
    url: withPath(url, name),
    migrated,
    drop: async () => {
      await dropDatabase(admin, name)
      await closePostgres(admin)
    },
  }
}

/**
 * Drop a database and end all its connections. `with (force)` is refused while an autovacuum worker is in the database,
 * as the worker has no role; a drop without force ends the worker, but no other connection.
 */
export async function dropDatabase(admin: Sql, name: string, triesLeft = 20): Promise<void> {
  const again = (error: { code?: string }) => {
    if (triesLeft === 0 || (error.code !== autovacuumInIt && error.code !== othersInIt)) throw error
    return dropDatabase(admin, name, triesLeft - 1)
  }
  if (triesLeft % 2 === 0) return admin`drop database ${admin(name)} with (force)`.then(() => {}, again)
  await admin`select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where datname = ${name} and usename = current_user`
  await admin`drop database ${admin(name)}`.catch(again)
}

/** SQLSTATE insufficient_privilege: a drop with force met an autovacuum worker. */
const autovacuumInIt = '42501'
/** SQLSTATE object_in_use: a drop without force met a connection. */
const othersInIt = '55006'

/** Make a database on the ClickHouse of TOLLGATE_TEST_CLICKHOUSE_URL; null without one. `empty`: without a schema. */
export async function clickhouseDatabase(empty = false): Promise<Database | null> {
  const url = process.env.TOLLGATE_TEST_CLICKHOUSE_URL
  if (url === undefined) return null
  const name = newName()
  const admin = openClickHouse({ url })
  await admin.command('CREATE DATABASE {name: Identifier}', { name })
  const migrated = template !== undefined && !empty
  if (migrated) await copyTables(admin, template, name)
  return {
    url: withPath(url, name),
    migrated,
    drop: async () => {
      await admin.command('DROP DATABASE {name: Identifier} SYNC', { name })
      await admin.close()
    },
  }
}

/** Make both databases of the template on these servers, with the whole schema. */
export async function makeTemplate(urls: { postgres: string; clickhouse: string }, name: string) {
  const [sql, admin] = [
    openPostgres({ url: urls.postgres }, { max: 1 }),
    openClickHouse({ url: urls.clickhouse }),
  ]
  await sql`create database ${sql(name)}`
  await admin.command('CREATE DATABASE {name: Identifier}', { name })
  const clickhouse = openClickHouse({ url: withPath(urls.clickhouse, name) })
  await migrate({ postgres: { url: withPath(urls.postgres, name) }, clickhouse })
  await Promise.all([closePostgres(sql), admin.close(), clickhouse.close()])
}

/** A quarter of what the migrations take. Views come last: they are fed from tables into tables. */
async function copyTables(clickhouse: ClickHouse, from: string, to: string): Promise<void> {
  const made = await clickhouse.select<{ engine: string; statement: string }>(
    'SELECT engine, create_table_query AS statement FROM system.tables WHERE database = {from: String}',
    { from },
  )
  const isView = ({ engine }: { engine: string }) => engine === 'MaterializedView'
  for (const some of [made.filter(one => !isView(one)), made.filter(isView)])
    await Promise.all(some.map(one => clickhouse.command(one.statement.replaceAll(`${from}.`, `${to}.`))))
  const names = { from, to }
  await clickhouse.command(
    'INSERT INTO {to: Identifier}.schema_migrations SELECT * FROM {from: Identifier}.schema_migrations',
    names,
  )
}

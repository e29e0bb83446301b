// Migrations: each once, in order, by one process at a time; nothing runs when disk and store disagree.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { migrate, splitStatements } from '../../src/storage/migrate.js'
import { embedded, Process } from '../harness.js'
import { startStores, temporaryDirectory } from '../stores.js'

t.test('statements end with a semicolon at the end of a line', async t => {
  t.same(
    splitStatements(`-- first; not an end
CREATE TABLE a (x String DEFAULT ';') -- why; not
ENGINE = Memory;  -- done
;
CREATE TABLE b (y Int8)
ENGINE = Memory;
-- nothing more
`),
    [
      "-- first; not an end\nCREATE TABLE a (x String DEFAULT ';') -- why; not\nENGINE = Memory",
      'CREATE TABLE b (y Int8)\nENGINE = Memory',
    ],
  )
})

t.test('migrate', async t => {
  const stores = await startStores(t, { migrated: false })
  const { sql: postgres, clickhouse } = stores

  /** Empty stores, and a directory with these files. */
  const begin = async (t: Test, files: Record<string, string>) => {
    await postgres`drop schema public cascade`
    await postgres`create schema public`
    for (const { name } of await clickhouse.select<{ name: string }>('SHOW TABLES'))
      await clickhouse.command(`DROP TABLE ${name}`)
    const directory = await temporaryDirectory(t)
    const write = (more: Record<string, string>) => {
      for (const [path, text] of Object.entries(more)) {
        mkdirSync(join(directory, path, '..'), { recursive: true })
        writeFileSync(join(directory, path), text)
      }
    }
    write(files)
    return { directory, write, run: () => migrate({ postgres: stores.postgres, clickhouse, directory }) }
  }

  const two = {
    'postgres/0001_people.sql': 'create table people (id int);\ninsert into people values (1);\n',
    'postgres/0002_names.sql': 'alter table people add name text;\n',
    'clickhouse/0001_events.sql':
      'CREATE TABLE a (x Int8) ENGINE = MergeTree ORDER BY x;\nCREATE TABLE b (x Int8) ENGINE = MergeTree ORDER BY x;\n',
  }

  await t.test('each file once, in order', async t => {
    const { run, write } = await begin(t, two)
    t.same(await run(), {
      applied: ['postgres/0001_people.sql', 'postgres/0002_names.sql', 'clickhouse/0001_events.sql'],
    })
    t.same(await run(), { applied: [] })
    write({ 'postgres/0003_more.sql': 'create table more (id int);' })
    t.same(await run(), { applied: ['postgres/0003_more.sql'] })
    t.same(await postgres`select id, name from people`, [{ id: 1, name: null }])
  })

  await t.test('among several at once each file is applied by one, and the others find it done', async t => {
    const { directory } = await begin(t, {
      ...two,
      'postgres/0003_slow.sql': 'select pg_sleep(0.3); create table slow (id int);',
    })
    const starts = [1, 2, 3, 4].map(() => migrate({ postgres: stores.postgres, clickhouse, directory }))
    const results = await Promise.all(starts)
    t.same(results.flatMap(result => result.applied).sort(), [
      'clickhouse/0001_events.sql',
      'postgres/0001_people.sql',
      'postgres/0002_names.sql',
      'postgres/0003_slow.sql',
    ])
  })

  await t.test('a file that was changed after it ran is refused by name, and nothing runs', async t => {
    const { run, write } = await begin(t, two)
    await run()
    write({
      'postgres/0001_people.sql': 'create table people (id bigint);',
      'postgres/0003_more.sql': 'create table more (id int);',
    })
    await t.rejects(run(), { name: 'MigrationError', message: /^postgres\/0001_people\.sql was changed/ })
    t.same(await postgres`select to_regclass('more') as more`, [{ more: null }])
  })

  await t.test('the same for a ClickHouse file; line ends do not count', async t => {
    const { run, write } = await begin(t, two)
    await run()
    write({ 'clickhouse/0001_events.sql': two['clickhouse/0001_events.sql'].replaceAll('\n', '\r\n') })
    t.same(await run(), { applied: [] })
    write({ 'clickhouse/0001_events.sql': 'CREATE TABLE a (x Int16) ENGINE = MergeTree ORDER BY x;\n' })
    await t.rejects(run(), { message: /^clickhouse\/0001_events\.sql was changed/ })
  })

  await t.test('gaps, repeats and strange names are refused before anything runs', async t => {
    const { run, directory, write } = await begin(t, two)
    renameSync(join(directory, 'postgres/0002_names.sql'), join(directory, 'postgres/0003_names.sql'))
    await t.rejects(run(), { message: /^postgres\/0003_names\.sql: expected number 0002/ })
    write({ 'postgres/0001_again.sql': 'select 1' })
    await t.rejects(run(), { message: /0001_people\.sql: expected number 0002/ })
    rmSync(join(directory, 'postgres'), { recursive: true })
    write({ 'postgres/notes.sql': 'select 1' })
    await t.rejects(run(), { message: /notes\.sql: the name/ })
    t.same(await postgres`select to_regclass('people') as people`, [{ people: null }])
  })

  await t.test('a store that is ahead of the files is refused', async t => {
    const { run, directory } = await begin(t, two)
    await run()
    rmSync(join(directory, 'postgres/0002_names.sql'))
    await t.rejects(run(), { message: /postgres\/0002_names\.sql was applied .*newer Tollgate/ })
  })

  await t.test('a store that an unreleased version made is refused, and nothing runs', async t => {
    const { run, directory } = await begin(t, two)
    await run()
    for (const [store, first, other] of [
      ['clickhouse', '0001_events.sql', '0001_claims.sql'],
      ['postgres', '0001_people.sql', '0001_persons.sql'],
    ] as const) {
      renameSync(join(directory, store, first), join(directory, store, other))
      await t.rejects(run(), {
        name: 'MigrationError',
        message: new RegExp(
          `^${store}/${first} was applied .* the first migration is ${store}/${other}: an unreleased `,
        ),
      })
    }
  })

  await t.test('a Postgres file that fails leaves nothing of itself', async t => {
    const { run, write } = await begin(t, {
      ...two,
      'postgres/0002_names.sql': 'create table half (id int); select no_such_function();',
    })
    await t.rejects(run(), { message: /^postgres\/0002_names\.sql failed: .*no_such_function/ })
    t.same(await postgres`select to_regclass('half') as half`, [{ half: null }])
    write(two)
    t.equal((await run()).applied.length, 2)
  })

  await t.test('a ClickHouse file that was cut short goes on where it stopped', async t => {
    const { run } = await begin(t, two)
    await run()
    // As if the process died after the second table was made and before that was noted.
    await clickhouse.command(
      'ALTER TABLE schema_migrations DELETE WHERE statement = 2 SETTINGS mutations_sync = 1',
    )
    t.same(await run(), { applied: ['clickhouse/0001_events.sql'] })
    // As if it died before the second table.
    await clickhouse.command(
      'ALTER TABLE schema_migrations DELETE WHERE statement = 2 SETTINGS mutations_sync = 1',
    )
    await clickhouse.command('DROP TABLE b')
    await run()
    t.same(await clickhouse.select('SELECT count() AS n FROM b'), [{ n: 0 }])
    t.same(await run(), { applied: [] })
  })

  await t.test("the project's own files apply to empty stores", async t => {
    await begin(t, {})
    const { applied } = await migrate({ postgres: stores.postgres, clickhouse })
    t.ok(applied.includes('postgres/0001_accounts.sql'))
    t.ok(applied.includes('clickhouse/0001_events_and_keys.sql'))
    t.same(await migrate({ postgres: stores.postgres, clickhouse }), { applied: [] })
  })
})

t.test('a data directory that an unreleased version made is refused in one line that says so', async t => {
  const { dataDir, sql, servers } = await startStores(t, { own: true })
  await sql`update schema_migrations set name = '0001_accounts_environments_keys.sql' where name = '0001_accounts.sql'`
  await Promise.all([servers.postgres.stop(), servers.clickhouse.stop()])
  const child = Process.spawn(dataDir, embedded, undefined, 'pipe')
  let said = ''
  child.stderr!.on('data', text => {
    said += text
  })
  t.equal(await new Promise(resolve => child.on('close', resolve)), 1)
  t.match(
    said,
    /did not start: postgres\/0001_accounts_environments_keys\.sql .*unreleased.*empty data directory/,
  )
  t.notMatch(said, /\n\s+at /, 'without a stack')
})

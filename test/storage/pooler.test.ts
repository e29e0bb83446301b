// Behind a pooler in transaction mode: what a connection cannot be given, each transaction is given.
import t from 'tap'
import { connectionsOf } from '../../src/storage/connections.js'
import { migrate } from '../../src/storage/migrate.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { untilPostgresAnswers } from '../../src/storage/postgres-wait.js'
import { noPooler, startPooler } from '../pooler.js'
import { startStores } from '../stores.js'

t.test('behind a pooler', { skip: noPooler }, async t => {
  const { postgres, clickhouse } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const url = (await startPooler(t, postgres, 2))(postgres.database)
  const address = { url, pooled: true }

  await t.test('a start without the setting ends with a line that names the setting', async t => {
    const started = untilPostgresAnswers({ url }, async () => void t.fail('it waits'))
    await t.rejects(started, { name: 'ConfigError', message: /Set TOLLGATE_POSTGRES_POOLER=true/ })
    await untilPostgresAnswers(address, async () => void t.fail('it waits'))
  })

  await t.test('limits hold in a transaction, and nothing is left on the connection', async t => {
    const sql = openPostgres({ ...address, idleTransactionMs: 1_234 }, { max: 4, statementTimeoutMs: 200 })
    t.teardown(() => closePostgres(sql))
    const limits = (tx: Pick<typeof sql, 'unsafe'>) =>
      tx.unsafe(`select current_setting('statement_timeout') as statement, current_setting('random_page_cost') as page,
        current_setting('idle_in_transaction_session_timeout') as idle`)
    t.match(await sql.begin(tx => limits(tx)), [{ statement: '200ms', page: '1.1', idle: '1234ms' }])
    t.match(await sql.begin('read only', async tx => await limits(tx)), [{ statement: '200ms' }])
    t.match(await limits(sql), [{ statement: '0', page: '4', idle: '0' }])
    await t.rejects(
      sql.begin(tx => tx`select pg_sleep(10)`),
      { code: '57014' },
    )
    t.match(await sql.begin(tx => [tx`select 1 as a`, tx`select 2 as b`]), [[{ a: 1 }], [{ b: 2 }]])
    await sql.begin(async () => {})
  })

  await t.test('statements with parameters go on whichever connection of the server they meet', async t => {
    const pools = [1, 2, 3].map(() => openPostgres(address, { max: 3 }))
    t.teardown(() => Promise.all(pools.map(pool => closePostgres(pool))))
    for (let round = 0; round < 30; round++)
      await Promise.all(
        pools.flatMap(pool => [
          pool`select ${round}::int as n`.then(rows => t.same([...rows], [{ n: round }])),
          pool.begin(async tx => {
            await tx`select ${'a'}::text`
            t.same([...(await tx`select ${round}::int as n`)], [{ n: round }])
          }),
        ]),
      )
  })

  await t.test('more starts than connections of the server migrate one after another', async t => {
    const starts = [1, 2, 3, 4, 5].map(() => migrate({ postgres: address, clickhouse }))
    const done = await Promise.all(starts)
    t.equal(done.filter(({ applied }) => applied.length > 0).length > 0, true)
    t.same(await migrate({ postgres: address, clickhouse }), { applied: [] })
  })
})

t.test('connections are divided: ten behind a pooler, and never too few', async t => {
  const of = (postgresConnections: number, postgresPooler: boolean, shards: number) => {
    const { requests, own, thread, projector } = connectionsOf({
      postgresConnections,
      postgresPooler,
      shards,
    })
    return { requests, own, thread, projector, all: 1 + requests + own + shards * thread + projector }
  }
  t.same(of(0, true, 2), { requests: 3, own: 3, thread: 1, projector: 1, all: 10 })
  t.same(
    of(1, true, 16),
    { requests: 3, own: 3, thread: 1, projector: 1, all: 24 },
    'each part has its least',
  )
  for (let most = 10; most < 60; most++) {
    const { all, ...parts } = of(most, false, 2)
    t.ok(all <= most, `${most}: ${JSON.stringify(parts)}`)
  }
  t.match(of(40, false, 2), { requests: 12, own: 8, thread: 2, projector: 8 })
})

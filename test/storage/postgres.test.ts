// Postgres away, in each of its ways: a statement rejects, it never hangs, and goes on when the server is back.

import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { asStoreError, isAway, within } from '../../src/storage/away.js'
import { closePostgres, openPostgres, postgresHealthy } from '../../src/storage/postgres.js'
import { road } from '../faults/road.js'
import { startStores } from '../stores.js'
import { eventually, killHard } from './embedded/hold.js'

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => t.fail('it succeeded'),
    error => error,
  )

t.test('Postgres', async t => {
  const { sql, postgres, servers } = await startStores(t, { migrated: false, own: true })

  await t.test('a wrong statement is our own bug, not an absence', async t => {
    const error = await failureOf(sql`select nothing from nowhere`)
    t.notOk(isAway(error))
    t.equal(asStoreError(error), error)
    const refusal = new ServiceError('not_found')
    t.equal(asStoreError(refusal), refusal)
  })

  await t.test('a write of some rows by their ids does not read the whole table', async t => {
    await sql`create table many (id text primary key, text text not null)`
    await sql`insert into many select 'row_' || n, repeat('x', 200) from generate_series(1, 10000) as n`
    await sql`analyze many`
    const plan = await sql`
      explain update many set text = change.text
      from jsonb_to_recordset('[]') as change (id text, text text) where many.id = change.id`
    t.match(JSON.stringify(plan), /Index Scan using many_pkey/)
  })

  await t.test('a statement that takes too long is ended', async t => {
    const quick = openPostgres(postgres, { statementTimeoutMs: 200 })
    t.teardown(() => closePostgres(quick))
    const error = await failureOf(quick`select pg_sleep(10)`)
    t.match(asStoreError(error), { code: 'store_away', cause: { code: '57014' } })
    t.same(await quick`select 1 as one`, [{ one: 1 }])
  })

  await t.test('a transaction whose client hangs lets go of its locks', async t => {
    const hanging = openPostgres({ ...postgres, idleTransactionMs: 100 }, { max: 1 })
    t.teardown(() => closePostgres(hanging, 0))
    const unlimited = openPostgres({ ...postgres, idleTransactionMs: 100 }, { max: 1, statementTimeoutMs: 0 })
    t.teardown(() => closePostgres(unlimited, 0))
    const [row] = await unlimited`select current_setting('idle_in_transaction_session_timeout') as none`
    t.equal(row!.none, '0', 'where statements have no limit, as those of a migration, there is none')
    await sql`create table locked (id int)`
    await sql`insert into locked values (1)`
    const held = await hanging.reserve()
    await held`begin`
    await held`update locked set id = 2`
    t.equal(
      (await sql`update locked set id = id + 1 returning id`)[0]!.id,
      2,
      'what it did not commit is undone',
    )
  })

  await t.test(
    'a connection that dies while the driver asks for its types fails its statement alone',
    async t => {
      if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
      let dies = true
      const way = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` }, bytes => {
        if (!dies || !bytes.includes('pg_catalog.pg_type')) return true
        dies = false
        return false
      })
      const { user, database } = postgres
      const password = postgres.password ?? ''
      const url = `postgres://${user}:${password}@127.0.0.1:${way.port}/${database}`
      const over = openPostgres({ url }, { max: 1 })
      t.teardown(() => closePostgres(over))
      t.ok(isAway(await failureOf(over`select 1 as one`)))
      t.notOk(dies, 'the connection was cut')
      t.same(await over`select 1 as one`, [{ one: 1 }], 'over a new connection')
    },
  )

  await t.test('a server that fell silent is given up', async t => {
    const quick = openPostgres(postgres, { max: 1, statementTimeoutMs: 100 })
    t.teardown(() => closePostgres(quick))
    const [row] = await quick<{ pid: number }[]>`select pg_backend_pid() as pid`
    process.kill(row!.pid, 'SIGSTOP')
    t.teardown(() => process.kill(row!.pid, 'SIGCONT'))
    // the backend stands still until the end of this test: only giving up answers
    const error = await failureOf(quick`select 1`)
    t.ok(isAway(error))
    t.same(await quick`select 1 as one`, [{ one: 1 }], 'over a new connection')
  })

  await t.test(
    'between a kill and the restart statements reject with store_away, then work again',
    async t => {
      t.ok(await postgresHealthy(sql))
      await killHard(servers.postgres.pid!)
      const failures = await Promise.all(
        Array.from({ length: 30 }, () => sql`select 1`.then(() => null, asStoreError)),
      )
      const others = failures.filter(error => error !== null && !(error instanceof ServiceError))
      t.same(
        others.map(error => [(error as { code?: string }).code, String(error)]),
        [],
      )
      t.same(await eventually(() => sql`select 1 as one`), [{ one: 1 }])
      t.ok(await eventually(async () => (await postgresHealthy(sql)) || Promise.reject(new Error('not yet'))))
    },
  )
})

// As published, the driver keeps every statement that a connection was ever given, and so does the server.
t.test('a connection keeps no more than some hundred statements', async t => {
  const { postgres } = await startStores(t, { migrated: false })
  const one = openPostgres(postgres, { max: 1 })
  t.teardown(() => closePostgres(one))
  for (let index = 0; index < 600; index++) {
    const rows = await one`select ${index}::int + ${1}::int as ${one(`c${index}`)}`
    t.same(rows[0], { [`c${index}`]: index + 1 })
  }
  const [{ kept }] = (await one`select count(*)::int as kept from pg_prepared_statements`) as unknown as [
    { kept: number },
  ]
  t.ok(kept > 100 && kept <= 250, `${kept} of 600`)
  t.same(
    await one`select ${7}::int as ${one('c3')}`,
    [{ c3: 7 }],
    'one that is not kept is asked all the same',
  )
  await one
    .begin(async tx => {
      t.same(await tx`select ${'a'}::text as ${one('c700')}`, [{ c700: 'a' }])
      await t.rejects(tx`select ${1}::int / 0 as ${one('c701')}`, { code: '22012' })
    })
    .catch(error => t.equal(error.code, '22012'))
})

// Behaviour of the driver as published when a connection dies under a transaction: the statement after it ends the
// process, or runs on another use of the connection. tools/patches mends it.
t.test('connections that die under the driver', async t => {
  const { sql, postgres, servers } = await startStores(t, { migrated: false, own: true })
  await sql`create table kept (id int primary key)`

  await t.test('a transaction whose connection died does nothing more, on no connection', async t => {
    const one = openPostgres(postgres, { max: 1 })
    t.teardown(() => closePostgres(one))
    let afterwards: Promise<unknown> = Promise.resolve()
    let proceed = () => {}
    const gate = new Promise<void>(resolve => {
      proceed = resolve
    })
    const outcome = one.begin(async tx => {
      await tx`insert into kept values (1)`
      await tx`select pg_terminate_backend(pg_backend_pid())`.catch(() => {})
      await gate
      afterwards = tx`insert into kept values (2)`
      await afterwards
    })
    await t.rejects(outcome)
    // the same connection of the pool, open again and in a transaction of its own
    await one.begin(async tx => {
      await tx`insert into kept values (3)`
      proceed()
      await nextTurn()
      await t.rejects(afterwards, { code: /CONNECTION_CLOSED|57P01/ })
      await tx`insert into kept values (4)`
    })
    t.same(await sql`select id from kept order by id`, [{ id: 3 }, { id: 4 }])
  })

  await t.test('statements and transactions under way when the server is killed', async t => {
    const pool = openPostgres(postgres, { max: 5 })
    t.teardown(() => closePostgres(pool))
    const work = Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0
        ? pool`select pg_sleep(5)`
        : pool.begin(async tx => {
            await tx`select 1`
            await tx`select pg_sleep(5)`
          }),
    ).map(failureOf)
    const running = () => sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where state = 'active' and query = 'select pg_sleep(5)'`
    await eventually(async () => {
      if ((await running())[0]!.count < 5) throw new Error('not yet')
    })
    await killHard(servers.postgres.pid!)
    for (const error of await Promise.all(work)) t.match(asStoreError(error), { code: 'store_away' })
    t.same(await eventually(() => pool`select 1 as one`), [{ one: 1 }])
  })

  await t.test('a connection cut while a statement waits to be sent serves again', async t => {
    const through = new Set<Socket>()
    const relay = createServer(client => {
      const target = postgres as { host: string; port: number }
      const server = connect(`${target.host}/.s.PGSQL.${target.port}`)
      for (const socket of [client, server]) {
        through.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          through.delete(socket)
          client.destroy()
          server.destroy()
        })
      }
      client.pipe(server).pipe(client)
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => relay.once('listening', resolve))
    t.teardown(() => relay.close())
    const { port } = relay.address() as AddressInfo
    const address = { ...(postgres as { user: string; database: string }), host: '127.0.0.1', port }
    const pool = openPostgres(address, { max: 2, connectTimeoutMs: 500 })
    t.teardown(() => closePostgres(pool))
    for (let round = 0; round < 50; round++) {
      await eventually(() => pool`select 1`)
      const asked: Promise<unknown>[] = []
      for (const socket of through) socket.destroy()
      // some are written just before the cut is noticed, some just after
      for (let turn = 0; turn < 20; turn++) {
        asked.push(pool`select 1`.catch(() => {}))
        await nextTurn()
      }
      await Promise.all(asked)
    }
    for (let index = 0; index < 4; index++)
      t.same(await Promise.all([pool`select 1 as one`, pool`select 1 as one`]), [[{ one: 1 }], [{ one: 1 }]])
  })
})

t.test('a closed port: away at once', async t => {
  for (const address of [
    { url: 'postgres://a:b@127.0.0.1:9/x' },
    { host: '/nowhere', port: 5432, user: 'a', database: 'x' },
  ]) {
    const sql = openPostgres(address)
    t.match(asStoreError(await failureOf(sql`select 1`)), {
      code: 'store_away',
      status: 503,
      message: 'Postgres is away; try again',
    })
    t.equal(await postgresHealthy(sql), false)
    await closePostgres(sql)
  }
})

t.test('somebody listens and says nothing: away after the connect timeout', async t => {
  const deaf = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise(resolve => deaf.once('listening', resolve))
  t.teardown(() => deaf.close())
  const { port } = deaf.address() as AddressInfo
  const sql = openPostgres({ host: '127.0.0.1', port, user: 'a', database: 'x' }, { connectTimeoutMs: 200 })
  t.match(asStoreError(await failureOf(sql`select 1`)), { code: 'store_away' })
  await closePostgres(sql, 0)
})

t.test('a wait is bounded whatever the store does', async t => {
  await t.rejects(within(20, new Promise(() => {}), 'ClickHouse'), {
    code: 'store_away',
    message: /ClickHouse/,
  })
  t.equal(await within(1_000, Promise.resolve(7)), 7)
})

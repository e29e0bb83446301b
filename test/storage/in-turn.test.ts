// Statements of requests pass a gate: with the real stores, told by the order in which they are answered (security 5).
import t from 'tap'
import type { DefinitionChanges } from '../../src/catalog/cache.js'
import { StoreTurns } from '../../src/entities/turns/store-turns.js'
import { clickHouseInTurn, sqlInTurn } from '../../src/storage/in-turn.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { FairGate } from '../../src/turns/fair-gate.js'
import { startStores } from '../stores.js'

t.test('statements in turn', async t => {
  const { sql: plain, postgres, clickhouse } = await startStores(t, { migrated: false })
  const four = openPostgres(postgres, { max: 4 })
  t.teardown(() => closePostgres(four, 1_000))
  const gateOf = () => new FairGate({ places: 4, perGroup: 3, name: 'Postgres' })
  const pool = (gate: FairGate) => ({ a: sqlInTurn(four, gate, 'A'), b: sqlInTurn(four, gate, 'B') })

  await t.test(
    'security 5: slow statements of one environment fill their part, and that of another is answered before them',
    async t => {
      const { a, b } = pool(gateOf())
      const answered: string[] = []
      const slow = Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? a`select pg_sleep(0.2)` : a.begin(tx => tx`select pg_sleep(0.2)`)).then(
          () => void answered.push('A'),
        ),
      )
      await Promise.all(Array.from({ length: 3 }, () => b`select 1`.then(() => void answered.push('B'))))
      t.ok(answered.lastIndexOf('B') < 20, `answered: ${answered.join('')}`)
      t.ok(answered.filter(who => who === 'A').length < 20, 'while the queue of A is there')
      await Promise.all(slow)
    },
  )

  await t.test('pieces, values, names, raw text and transactions do what they do without a gate', async t => {
    const gate = gateOf()
    const { a } = pool(gate)
    const ids = a`select jsonb_array_elements_text(${a.json(['x', 'y'])})`
    t.same([...(await a`select ${'x'} in (${ids}) as ${a('found')}`)], [{ found: true }])
    t.same([...(await a.unsafe('select 1 as one'))], [{ one: 1 }])
    t.same([...(await a`select ${a.unsafe('2')}::int as two`)], [{ two: 2 }])
    t.equal((await a`select 1 where false`).count, 0)
    const undone = a.begin(async tx => {
      await tx`create table never (id int)`
      throw new Error('no')
    })
    await t.rejects(undone, /no/)
    await t.rejects(a`select * from never`, { code: '42P01' })
    t.equal(await a.begin(async tx => (await tx`select 1`).count), 1)
    t.throws(() => a`select 1`.cursor(1), /no cursor/)
    t.equal(gate.waiting, 0)
    // every place is back: as many as one may have run at once, again
    await Promise.all(Array.from({ length: 9 }, () => a`select 1`))
  })

  await t.test('a statement that gets no place is not sent', async t => {
    const gate = new FairGate({ places: 1, perGroup: 1, waitingMax: 1, patienceMs: 20, name: 'Postgres' })
    await plain`create table sent (id int)`
    const leave = await gate.enter('A')
    const a = sqlInTurn(four, gate, 'A')
    const [late, refused] = await Promise.allSettled([
      a`insert into sent values (1)`,
      a`insert into sent values (2)`,
    ])
    t.match(late, { status: 'rejected', reason: { code: 'overloaded' } })
    t.match(refused, { status: 'rejected', reason: { code: 'overloaded' } })
    leave()
    await a`insert into sent values (3)`
    t.same([...(await plain`select id from sent`)], [{ id: 3 }])
  })

  await t.test(
    'security 5: ClickHouse is asked in turn; an answer that is taken slowly holds no place',
    async t => {
      const gate = new FairGate({ places: 2, perGroup: 1, name: 'ClickHouse' })
      const a = clickHouseInTurn(clickhouse, gate, 'A')
      const b = clickHouseInTurn(clickhouse, gate, 'B')
      const answered: string[] = []
      const slow = Array.from({ length: 6 }, () =>
        a.select('SELECT sleep(0.2)').then(() => void answered.push('A')),
      )
      t.same(await b.select('SELECT 1 AS one'), [{ one: 1 }])
      t.ok(answered.length < 6, 'while the queue of A is there')
      await Promise.all(slow)
      const pieces = a.bytes('SELECT number FROM numbers(100000) FORMAT TabSeparated')
      t.notOk((await pieces.next()).done)
      t.same(await a.select('SELECT 1 AS one'), [{ one: 1 }])
      await pieces.return(undefined)
      await a.command('SELECT 1')
      t.equal(gate.waiting, 0)
    },
  )

  await t.test('security 5: a request is given the stores of its environment, all else as it is', async t => {
    const turns = new StoreTurns({ sql: four, clickhouse }, 4)
    const asked: unknown[] = []
    const catalogs: DefinitionChanges = {
      get: () => {
        throw new Error('not asked')
      },
      change: async (scope, work) => {
        asked.push(scope)
        return work(plain)
      },
    }
    const services = turns.services({ sql: plain, clickhouse, catalogs, other: 1 }, 'env_a')
    t.equal(services.other, 1)
    t.not(services.sql, plain)
    t.same([...(await services.sql`select 1 as one`)], [{ one: 1 }])
    t.same(await services.clickhouse.select('SELECT 1 AS one'), [{ one: 1 }])
    await services.catalogs.change({ accountId: 'acct_1', environmentId: null }, async () => {})
    t.same(asked, [{ accountId: 'acct_1', environmentId: null, group: 'env_a' }])
  })
})

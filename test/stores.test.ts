// The two embedded stores as every test gets them: migrated, reachable, and gone afterwards.
import t from 'tap'
import { startStores } from './stores.js'

t.test('both stores answer, with the whole schema in place', async t => {
  const began = performance.now()
  const { sql, clickhouse } = await startStores(t)
  t.comment(`started in ${Math.round(performance.now() - began)} ms`)
  t.same(await sql`select 1 as one`, [{ one: 1 }])
  t.same(await clickhouse.select('SELECT {x: String} AS x, 1 AS one', { x: "it's" }), [{ x: "it's", one: 1 }])
  const tables = await clickhouse.select<{ name: string }>('SHOW TABLES')
  t.ok(tables.some(table => table.name === 'events'))
})

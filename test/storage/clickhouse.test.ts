// ClickHouse as the projector uses it: exactly once by token, in the views' tables too.
import t from 'tap'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { insertSettings } from '../../workers/projector/clickhouse.js'
import { startStores } from '../stores.js'

t.test('ClickHouse', async t => {
  const { clickhouse } = await startStores(t, { migrated: false })
  await clickhouse.command(`CREATE TABLE used (company String, quantity Int64) ENGINE = MergeTree ORDER BY company
    SETTINGS non_replicated_deduplication_window = 100`)
  await clickhouse.command(`CREATE TABLE used_sum (company String, quantity Int64) ENGINE = SummingMergeTree
    ORDER BY company SETTINGS non_replicated_deduplication_window = 100`)
  await clickhouse.command(`CREATE MATERIALIZED VIEW used_fold TO used_sum AS
    SELECT company, sum(quantity) AS quantity FROM used GROUP BY company`)
  const sums = () =>
    clickhouse.select(
      `SELECT (SELECT sum(quantity) FROM used) AS direct, (SELECT sum(quantity) FROM used_sum) AS folded`,
    )

  await t.test('a chunk sent again with its token is counted once, in the table and in its view', async t => {
    const rows = '{"company":"a","quantity":2}\n{"company":"b","quantity":3}'
    for (let i = 0; i < 3; i++) await clickhouse.insertRaw({ table: 'used', rows, token: '0:1-2' })
    t.same(await sums(), [{ direct: 5, folded: 5 }])
  })

  await t.test('another chunk with the same rows is counted too', async t => {
    const rows = '{"company":"a","quantity":2}\n{"company":"b","quantity":3}'
    await clickhouse.insertRaw({ table: 'used', rows, token: '0:3-4' })
    t.same(await sums(), [{ direct: 10, folded: 10 }])
  })

  await t.test('a token that looks like a number is a text', async t => {
    for (let i = 0; i < 2; i++)
      await clickhouse.insertRaw({ table: 'used', rows: '{"company":"c","quantity":1}', token: '12' })
    t.same(await sums(), [{ direct: 11, folded: 11 }])
  })

  await t.test('the first token is still known after many others', async t => {
    for (let i = 0; i < 20; i++)
      await clickhouse.insertRaw({ table: 'used', rows: '{"company":"d","quantity":1}', token: `1:${i}` })
    await clickhouse.insertRaw({ table: 'used', rows: '{"company":"d","quantity":1}', token: '1:0' })
    t.same(await sums(), [{ direct: 31, folded: 31 }])
  })

  await t.test('a row with a column that is not there is refused whole', async t => {
    const rows = '{"company":"e","quantity":1}\n{"company":"e","quantitty":1}'
    await t.rejects(clickhouse.insertRaw({ table: 'used', rows }), { code: '117' })
    t.same(await sums(), [{ direct: 31, folded: 31 }])
  })

  await t.test(
    'EV-70: a body that stands as an object is kept as the same text as one that is quoted',
    async t => {
      await clickhouse.command(`CREATE TABLE bodies (id Int64, body String) ENGINE = MergeTree ORDER BY id`)
      const bodies = [
        {},
        { event: 'api_call', company: { id: 'a' }, quantity: 1 },
        {
          event: '"}],{[\\',
          traits: { 'a"b': '\n\t\u0001/\u2028', list: [1, -0.5, 1e21, 1e-7, null, true, [{}]] },
        },
        {
          event: 'Zürich 東京 😀',
          traits: { ' spaced  out ': '  ', __proto__x: { deep: { deeper: { n: 9007199254740991 } } } },
        },
        { event: 'x'.repeat(60_000) },
      ].map(body => JSON.stringify(body))
      const rows = bodies.flatMap((body, i) => [
        `{"id":${2 * i},"body":${body}}`,
        `{"id":${2 * i + 1},"body":${JSON.stringify(body)}}`,
      ])
      // as the projector inserts
      await clickhouse.insertRaw({ table: 'bodies', rows: rows.join('\n'), settings: insertSettings })
      const stored = await clickhouse.select<{ body: string }>('SELECT body FROM bodies ORDER BY id')
      t.strictSame(
        stored.map(({ body }) => body),
        bodies.flatMap(body => [body, body]),
      )
    },
  )

  await t.test('columns narrow what a row may hold', async t => {
    await clickhouse.insertRaw({ table: 'used', columns: ['company'], rows: '{"company":"f"}' })
    await t.rejects(
      clickhouse.insertRaw({ table: 'used', columns: ['company'], rows: '{"company":"f","quantity":1}' }),
    )
  })
})

t.test('a server that is not there is away, by name, at once', async t => {
  const clickhouse = openClickHouse({ url: 'http://127.0.0.1:9' })
  t.teardown(() => clickhouse.close())
  t.equal(await clickhouse.healthy(), false)
  const away = { code: 'store_away', status: 503, message: 'ClickHouse is away; try again' }
  await t.rejects(clickhouse.select('SELECT 1'), away)
  await t.rejects(clickhouse.command('SELECT 1'), away)
  await t.rejects(clickhouse.insertRaw({ table: 'x', rows: '{}' }), away)
})

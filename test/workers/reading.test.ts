// Rows read into plain columns first are the rows of the table, and a token means the same whichever way they come.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Effect } from '../../src/core/model/message.js'
import { eventRow } from '../../src/journal/records/event-row.js'
import { drawColumns, drawRows, fullDrawColumns } from '../../src/journal/records/ledger-rows.js'
import { type ClickHouse, type InsertOptions, openClickHouse } from '../../src/storage/clickhouse.js'
import { insertSettings } from '../../workers/projector/clickhouse.js'
import { drawReading, eventReading } from '../../workers/projector/reading.js'
import { startStores } from '../stores.js'

const at = Date.UTC(2026, 2, 15, 12)

const usual = {
  id: 'evt_00000000001',
  type: 'track' as const,
  subtype: 'call',
  body: '{"event":"call"}',
  quantity: 1,
  mode: 'normal' as const,
  capturedAtMs: at,
  sentAtMs: null,
  receivedAtMs: at + 1,
  apiKeyId: 'key_00000000001',
  idempotencyKey: null,
  companyId: 'comp_0000000001',
  userId: null,
  leaseId: null,
  reservationId: null,
  failure: null,
  derivedFrom: null,
}
const plain = { environmentId: 'env_reading', featureIds: [], at: at + 2 }

/** One of each kind: every member left out, and every member there. */
const eventRows = [
  eventRow(usual, plain),
  eventRow(
    {
      ...usual,
      id: 'evt_00000000002',
      body: '{"event":"call","deep":{"list":[1,"\\"two\\"",null],"wide":"\u{1f994}\\n"}}',
      quantity: -7,
      mode: 'backfill',
      sentAtMs: at - 5,
      idempotencyKey: 'a "key"\ttab\\',
      userId: 'user_0000000001',
      leaseId: 'lease 1',
      reservationId: 'reservation 1',
      derivedFrom: 'evt_00000000001',
    },
    {
      ...plain,
      featureIds: ['feat_0000000001', 'feat_0000000002'],
      flagId: 'flag_0000000001',
      cost: { amount: '0.000000000123', currency: 'eur', priceId: 'price 1' },
    },
  ),
  eventRow({ ...usual, id: 'evt_00000000003', body: '[1,2', failure: 'half \ud800 of a pair' }, plain),
]

t.test('reading', async t => {
  const { clickhouse, clickhouseAddress } = await startStores(t)
  const { directory, ...elsewhere } = clickhouseAddress
  const server = openClickHouse(elsewhere)
  t.teardown(() => server.close())
  const settings = insertSettings
  const drawsInRows = {
    table: 'credit_ledger',
    format: 'TabSeparated',
    columns: fullDrawColumns,
    reading: drawReading,
  } as const
  const draws: readonly Effect[] = [
    { t: 'credit_draw', c: 'bcrd_0000000001', seq: 1, at, s: [[1, 1_500_000_000, 2e15]], f: 'feat_1' },
    { t: 'credit_draw', c: 'bcrd_0000000001', seq: 2, at, s: [[1, 0, 0]], u: 'user_1', e: 'evt_1' },
  ]

  await t.test('the columns read are those of the tables', async t => {
    const types = async (table: string) =>
      Object.fromEntries(
        (
          await clickhouse.select<{ name: string; type: string }>(
            "SELECT name, replaceRegexpAll(type, 'LowCardinality.String.', 'String') AS type FROM system.columns WHERE database = currentDatabase() AND table = {table: String}",
            { table },
          )
        ).map(({ name, type }) => [name, type]),
      )
    const events = await types('events')
    t.same(eventReading.columns, Object.keys(events))
    t.equal(
      eventReading.structure,
      Object.entries({ ...events, quantity: 'Nullable(Int64)' })
        .map(([name, type]) => `${name} ${type}`)
        .join(', '),
    )
    const ledger: Record<string, string> = { ...(await types('credit_ledger')) }
    ledger.grant_quantity_remaining = 'Decimal(38, 9)'
    t.same([...drawReading.columns].sort(), [...fullDrawColumns].sort())
    t.same(
      fullDrawColumns.filter(name => ledger[name] === undefined),
      [],
    )
    ledger.grant_sequence = 'UInt64'
    t.equal(drawReading.structure, drawColumns.map(name => `${name} ${ledger[name]}`).join(', '))
  })

  const form = { table: 'events', reading: eventReading } as const satisfies Omit<InsertOptions, 'rows'>
  const ways: readonly (readonly [string, ClickHouse, Omit<InsertOptions, 'rows'>])[] = [
    ['read into plain columns', clickhouse, form],
    ['read from a file', clickhouse, { ...form, reading: undefined }],
    ['sent in a body', server, form],
  ]

  await t.test('rows of events are the same whichever way they come', async t => {
    const found: unknown[] = []
    for (const [name, store, form] of ways) {
      await clickhouse.command('TRUNCATE TABLE events')
      await store.insertRaw({ ...form, rows: eventRows.join('\n'), settings })
      const stored = await clickhouse.select('SELECT * FROM events ORDER BY ALL')
      t.equal(stored.length, 3, name)
      found.push(stored)
    }
    t.same(found[1], found[0])
    t.same(found[2], found[0])
  })

  await t.test('CR-87 rows of draws are the same for either reader', async t => {
    const found: unknown[] = []
    for (const store of [clickhouse, server]) {
      await clickhouse.command('TRUNCATE TABLE credit_ledger')
      const rows = drawRows('env_reading', 'comp_0000000001', at, draws)
      await store.insertRaw({ ...drawsInRows, rows, settings })
      const stored = await clickhouse.select('SELECT * FROM credit_ledger ORDER BY sequence')
      t.match(stored, [
        { amount: -1.5, quantity_consumed: 1.5, event_type: 'usage', usage_reason: 'track' },
        { amount: 0, quantity_consumed: 0, event_type: 'usage', usage_reason: 'track' },
      ])
      t.equal(stored.length, 2)
      found.push(stored)
    }
    t.same(found[1], found[0])
  })

  await t.test('EV-25 a token counts once, in the views too, whichever way its rows come again', async t => {
    const count = 70_001
    const before = await counts()
    const line = (i: number): string =>
      eventRow({ ...usual, id: `evt_${String(i).padStart(11, '0')}` }, plain)
    const rows = Buffer.from(Array.from({ length: count }, (_, i) => line(i)).join('\n'))
    const pieces = [rows.subarray(0, 1_000_000), Buffer.alloc(0), rows.subarray(1_000_000)]
    for (const first of ways)
      for (const [name, store, form] of [first, ...ways]) {
        await store.insertRaw({ ...form, rows: pieces, token: `first ${first[0]}`, settings })
        const expected = (ways.indexOf(first) + 1) * count
        const now = await counts()
        t.same(
          [now[0]! - before[0]!, now[1]! - before[1]!],
          [expected, expected],
          `${first[0]}, then ${name}`,
        )
      }
    async function counts(): Promise<number[]> {
      const [row] = await clickhouse.select<{ events: number; counted: number }>(
        'SELECT (SELECT count() FROM events) AS events, (SELECT sum(events) FROM usage_by_hour) AS counted',
      )
      return [row!.events, row!.counted]
    }
  })

  await t.test('CR-89 a token of draws counts once, in the view too, for either reader', async t => {
    const count = 70_001
    const rows = Array.from({ length: count }, (_, i) =>
      drawRows('env_token', 'comp_0000000001', at, [
        { t: 'credit_draw', c: 'bcrd_0000000001', seq: i + 1, at, s: [[1, 2_000_000_000, 5]], f: 'feat_1' },
      ]),
    ).join('')
    const bytes = Buffer.from(rows)
    const cut = bytes.indexOf('\n', 1_000_000) + 1
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
    const counts = async () =>
      (
        await clickhouse.select<{ n: number; days: number }>(
          `SELECT (SELECT count() FROM credit_ledger WHERE environment_id = 'env_token') AS n,
            (SELECT sum(entries) FROM credit_usage_by_day WHERE environment_id = 'env_token') AS days`,
        )
      )[0]
    for (const [i, first] of [clickhouse, server].entries())
      for (const store of [first, server, clickhouse]) {
        await store.insertRaw({ ...drawsInRows, rows: pieces, token: `draws ${i}`, settings })
        t.same(await counts(), { n: (i + 1) * count, days: (i + 1) * count })
      }
    const bad = `${rows.slice(0, rows.indexOf('\n') + 1)}env_token\tcomp_1\n`
    for (const store of [clickhouse, server])
      await t.rejects(store.insertRaw({ ...drawsInRows, rows: bad, settings }), { message: /\(at row 2\)/ })
  })

  await t.test('neither read nor refused rows are kept', async t => {
    const refused = { ...form, rows: '{"id":', settings }
    await t.rejects(clickhouse.insertRaw(refused), { message: /\(at row 1\)/ })
    await t.rejects(server.insertRaw(refused), { message: /\(at row 1\)/ })
    await t.rejects(clickhouse.insertRaw({ table: 'absent', rows: '{}' }), { code: '60' })
    // a server elsewhere was given
    if (directory !== undefined) t.same(readdirSync(join(directory, 'incoming')), [])
  })
})

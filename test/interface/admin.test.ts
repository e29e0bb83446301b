// Operators' requests: exports, reconciliation, limits of the account.
import t from 'tap'
import { type Client, startHere } from '../harness.js'

const { client, tollgate } = await startHere(t)
const { services } = tollgate
const { environment_id: environmentId } = await client.ok('GET', '/whoami')

async function download(path: string, from: Client = client) {
  const response = await fetch(from.url + path, { headers: { 'X-Service-Api-Key': from.key } })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

const posted = 3_000
for (let at = 0; at < posted; at += 1_000)
  await client.ok('POST', '/event-batch', {
    events: Array.from({ length: 1_000 }, (_, n) => ({
      event_type: 'track',
      idempotency_key: `k${at + n}`,
      body: { event: n % 2 ? 'odd, "quoted"' : 'even', company: { slug: `co${(at + n) % 5}` }, quantity: 2 },
    })),
  })

t.test('GET /export: lines of events, everything acknowledged, each once', async t => {
  const { status, type, text } = await download('/export/events?format=ndjson')
  t.equal(status, 200)
  t.match(type, /application\/x-ndjson/)
  const events = lines(text)
  t.equal(new Set(events.map(event => event.id)).size, posted)
  t.equal(events.length, posted)
  t.match(events[0], { type: 'track', quantity: 2, status: 'enriched', captured_at: /Z$/ })
  const company = events[0].company_id
  const some = lines((await download(`/export/events?format=ndjson&company_id=${company}`)).text)
  t.equal(some.length, posted / 5)
  t.equal((await download('/export/events?format=ndjson&to=2001-01-01T00:00:00Z')).text, '')
})

t.test('GET /export: CSV has one header however many pages; sums per hour; Parquet', async t => {
  const csv = (await download('/export/usage?format=csv')).text.trim().split('\n')
  t.equal(csv[0], '"company_id","event_subtype","hour","quantity","events"')
  t.equal(csv.filter(line => line.startsWith('"company_id"')).length, 1)
  const usage = lines((await download('/export/usage?format=ndjson')).text)
  t.equal(
    usage.reduce((sum, row) => sum + row.quantity, 0),
    posted * 2,
  )
  const parquet = await fetch(`${client.url}/export/events?format=parquet`, {
    headers: { 'X-Service-Api-Key': client.key },
  })
  const bytes = Buffer.from(await parquet.arrayBuffer())
  t.equal(bytes.subarray(0, 4).toString(), 'PAR1')
  t.equal(bytes.subarray(-4).toString(), 'PAR1')
  t.equal((await download('/export/ledger?format=ndjson')).text, '')
  t.equal((await download('/export/events?format=xml')).status, 400)
  t.equal((await download('/export/events?format=csv', client.as('sk_dev_nobody_at_all'))).status, 401)
})

t.test('pages follow the sorting key and meet every row once', async t => {
  const { exports, pageEnd, pageRows } = await import('../../src/control/export/statements.js')
  const selection = { environmentId, companyId: '', fromMs: 0, toMs: Date.now() + 1_000 }
  for (const name of ['events', 'usage'] as const) {
    const one = exports[name]
    const met: string[] = []
    let pages = 0
    let after: readonly (string | number)[] | null = null
    do {
      const end = pageEnd(one, selection, after, name === 'events' ? 700 : 3)
      const [row] = await services.clickhouse.select<Record<string, string | number>>(end.sql, end.parameters)
      const upTo: readonly (string | number)[] | null = row
        ? one.key.map((_, index) => row[`k${index}`]!)
        : null
      const page = pageRows(one, selection, after, upTo)
      met.push(
        ...(await services.clickhouse.select(page.sql, page.parameters)).map(one => JSON.stringify(one)),
      )
      after = upTo
      pages++
    } while (after !== null)
    const whole = pageRows(one, selection, null, null)
    const all = (await services.clickhouse.select(whole.sql, whole.parameters)).map(one =>
      JSON.stringify(one),
    )
    t.strictSame(met, all, `${name} in ${pages} pages`)
    t.ok(pages > 1)
  }
})

t.test('a reader that leaves in the middle does no harm', async t => {
  const abort = new AbortController()
  const response = await fetch(`${client.url}/export/events?format=ndjson`, {
    headers: { 'X-Service-Api-Key': client.key },
    signal: abort.signal,
  })
  await response.body!.getReader().read()
  abort.abort()
  t.equal((await client.get('/whoami')).status, 200)
})

t.test('GET /reconcile: actors, hours and events agree, also while events come in', async t => {
  const sending = (async () => {
    for (let n = 0; n < 100; n++)
      await client.ok('POST', '/events', {
        event_type: 'track',
        body: { event: 'even', company: { slug: `co${n % 5}` } },
      })
  })()
  const answer = await download('/reconcile')
  t.equal(answer.status, 200)
  t.match(lines(answer.text), [{ companies: 5, differences: 0 }])
  await sending
  t.strictSame(lines((await download('/reconcile')).text), [{ companies: 5, pairs: 10, differences: 0 }])
})

t.test('GET /reconcile names what does not agree', async t => {
  const company = await client.ok('GET', '/companies/lookup?slug=co0')
  const row = {
    environment_id: environmentId,
    company_id: company.id,
    subtype: 'even',
    hour: 0,
    quantity: 7,
    events: 1,
  }
  await services.clickhouse.insertRaw({ table: 'usage_by_hour', rows: JSON.stringify(row) })
  const stored = lines((await download('/reconcile')).text)
  t.match(stored, [
    { company_id: company.id, event_subtype: 'even' },
    { companies: 5, pairs: 10, differences: 1 },
  ])
  t.equal(stored[0].hours - stored[0].actor, 7)
  t.equal(stored[0].recent_hours, stored[0].recent_events, 'the events themselves are all there')
  t.strictSame(lines((await download(`/reconcile?company_id=${company.id}`)).text).at(-1), {
    companies: 1,
    pairs: 2,
    differences: 1,
  })
})

t.test('POST /event-batch?report=true lists the events stored as failed (EV-7)', async t => {
  const { events } = await client.ok('POST', '/event-batch?report=true', {
    events: [
      { event_type: 'track', body: { event: 'even', company: { slug: 'co1' } } },
      { event_type: 'track', body: {} },
      { event_type: 'track', body: { event: 'even', company: { id: 'comp_22222222222' } } },
    ],
  })
  t.match(
    events.map((ack: { error: string | null }) => ack.error),
    [null, /body\.event/, 'company not found'],
  )
  const plain = await client.ok('POST', '/event-batch', { events: [{ event_type: 'track', body: {} }] })
  t.notOk('error' in plain.events[0])
})

t.test('limits of an account are its own, in force at once and after a restart', async t => {
  const before = await startHere(t, { TOLLGATE_LIMITS: 'default' })
  t.match(await before.client.ok('GET', '/limits'), { limits: null })
  t.equal((await before.client.get('/whoami')).headers.get('x-ratelimit-limit'), '600')
  const limits = { global: [5, 7], mutation: [50, 50] }
  t.match(await before.client.ok('PUT', '/limits', { limits }), { limits })
  t.equal((await before.client.get('/whoami')).headers.get('x-ratelimit-limit'), '7')
  t.equal((await before.client.put('/limits', { limits: { global: [0, 7] } })).status, 400)
  t.equal(
    (await before.client.put('/limits', { limits: { others: [1, 7] } })).status,
    200,
    'unknown members are ignored',
  )
  await before.client.ok('PUT', '/limits', { limits })
  await before.tollgate.stop()
  const after = await startHere(t, { TOLLGATE_LIMITS: 'default', TOLLGATE_DATA_DIR: before.dataDir })
  t.equal((await after.client.get('/whoami')).headers.get('x-ratelimit-limit'), '7')
  await after.client.ok('PUT', '/limits', { limits: 'off' })
  t.equal((await after.client.get('/whoami')).headers.get('x-ratelimit-limit'), null)
  await after.client.ok('PUT', '/limits', { limits: null })
  t.equal((await after.client.get('/whoami')).headers.get('x-ratelimit-limit'), '600')
})

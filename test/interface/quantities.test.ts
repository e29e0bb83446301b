// A `long` has 64 bits: quantities beyond 2^53 − 1 are counted, compared and shown with all digits.
import t from 'tap'
import { companyOf, eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { askText, largest, one, two } from '../long-values.js'

const hourMs = 3_600_000
const hour = Math.floor(Date.now() / hourMs) * hourMs
const iso = (ms: number): string => new Date(ms).toISOString()

const first = await startHere(t)
let { client } = first

const text = (method: string, path: string, body?: string, type?: string) =>
  askText(client, method, path, body, type)
const get = async (path: string): Promise<string> => (await text('GET', path)).text
const track = (event: string, slug: string, quantity: string, more = '', members = '') =>
  `{"event_type":"track",${members}"body":{"event":"${event}","company":{"slug":"${slug}"},"quantity":${quantity}${more}}}`
async function send(event: string, slug: string, quantity: string, members = ''): Promise<string> {
  const sent = await text('POST', '/events', track(event, slug, quantity, '', members))
  t.equal(sent.status, 201, sent.text)
  return JSON.parse(sent.text).data.event_id
}
/** Digits of the all-time value. */
async function counted(event: string, slug: string): Promise<string> {
  const shown = await get(`/companies/lookup?keys[slug]=${slug}`)
  const metric = new RegExp(`"event_subtype":"${event}","period":"all_time"[^}]*?"value":(-?\\d+)`).exec(
    shown,
  )
  return metric?.[1] ?? shown
}

t.test('long: quantities of 64 bits are counted exactly, whichever way they come', async t => {
  const id = await send('single', 'ways', one)
  t.equal(await counted('single', 'ways'), one)
  await send('single', 'ways', one)
  t.equal(await counted('single', 'ways'), two)
  await send('single', 'ways', `-${one}`)
  t.equal(await counted('single', 'ways'), one, 'a correction takes it back')
  await send('single', 'ways', '1')
  t.equal(await counted('single', 'ways'), '9007199254740994', 'a small event of the usual kind too')
  const record = await get(`/events/${id}`)
  t.match(record, `"quantity":${one},"captured_at"`)
  t.match(record, `"slug":"ways"},"quantity":${one}}`, 'the body as it was sent')
  t.match(await get('/events?event_subtype=single'), `"quantity":-${one},"captured_at"`)

  const events = [track('batch', 'ways', '1'), track('batch', 'ways', one), track('batch', 'ways', one)]
  t.equal((await text('POST', '/event-batch', `{"events":[${events}]}`)).status, 201)
  t.equal(await counted('batch', 'ways'), '18014398509481987')
  const lines = `${track('lines', 'ways', one)}\n${track('lines', 'ways', '2')}`
  t.equal((await text('POST', '/event-batch', lines, 'application/x-ndjson')).status, 201)
  t.equal(await counted('lines', 'ways'), '9007199254740995')
  const cloud = `{"specversion":"1.0","id":"1","source":"/x","type":"cloud","subject":"slug=ways","data":{"quantity":${one}}}`
  t.equal((await text('POST', '/events', cloud, 'application/cloudevents+json')).status, 201)
  t.equal(await counted('cloud', 'ways'), one)
  t.equal((await text('POST', '/batch', `{"events":[${track('collected', 'ways', one)}]}`)).status, 200)
  t.equal(await counted('collected', 'ways'), one)
  const filler = Array.from({ length: 300 }, () =>
    track('large', 'ways', '1', `,"traits":{"x":"${'y'.repeat(900)}"}`),
  )
  t.equal(
    (await text('POST', '/event-batch', `{"events":[${[...filler, track('large', 'ways', one)]}]}`)).status,
    201,
  )
  t.equal(await counted('large', 'ways'), '9007199254741293', 'a body that a thread of its own reads')
  const backfill = `"backfill":true,"trusted_client_clock":true,"sent_at":"${iso(hour - 48 * hourMs)}",`
  await send('backfilled', 'ways', one, backfill)
  t.equal(await counted('backfilled', 'ways'), one)
})

t.test('long: a trait named quantity in the same batch stays what JSON says', async t => {
  const identify = `{"event_type":"identify","body":{"keys":{"email":"a@x"},"traits":{"quantity":9007199254740992}}}`
  const batch = `{"events":[${identify},${track('beside', 'beside', one)}]}`
  t.equal((await text('POST', '/event-batch', batch)).status, 201)
  t.equal(await counted('beside', 'beside'), one)
  t.match(await get('/users/lookup?keys[email]=a@x'), '9007199254740992')
})

t.test('long: beyond 64 bits is refused, alone with 400, in a batch as failed; sums too', async t => {
  t.match(await text('POST', '/events', track('over', 'over', '9223372036854775808')), {
    status: 400,
    text: /body\.quantity is out of range/,
  })
  t.equal((await text('POST', '/events', track('over', 'over', '-9223372036854775808'))).status, 400)
  t.equal((await text('POST', '/events', track('over', 'over', '1e30'))).status, 400)
  await send('over', 'over', largest)
  t.equal(await counted('over', 'over'), largest)
  const events = [
    track('over', 'over', '9223372036854775808'),
    track('over', 'over', one),
    track('over', 'over', '1'),
  ]
  const batch = await text('POST', '/event-batch?report=true', `{"events":[${events}]}`)
  const told = JSON.parse(batch.text).data.events.map((ack: { error: string | null }) => ack.error)
  const full = 'body.quantity: the usage of the event would be out of range'
  t.same(told, ['body.quantity is out of range', full, full])
  t.equal(await counted('over', 'over'), largest, 'nothing of them is counted')
  const id = await send('over', 'over', '1')
  t.match(await get(`/events/${id}`), '"status":"failed"', 'stored as failed')
  await send('over', 'over', '-1')
  await send('over', 'over', '1')
  t.equal(await counted('over', 'over'), largest, 'what there is room for is counted')
})

t.test('FE-40, FE-44, EN-17: limits above 2^53 are reached exactly', async t => {
  const feature = await eventFeature(client, 'Wide', 'wide')
  const limit = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'company',
    hierarchy: ['wide_limit'],
    trait_type: 'number',
  })
  const id = await companyOf(client, first.tollgate, 'wide')
  await client.ok('POST', '/companies', { keys: { slug: 'wide' }, traits: { wide_limit: one } })
  const override = { company_id: id, feature_id: feature.id, value_type: 'trait', value_trait_id: limit.id }
  await client.ok('POST', '/company-overrides', { ...override, metric_period: 'all_time' })
  const key = (await client.ok('GET', `/features/${feature.id}`)).flags[0].key
  const check = () => text('POST', `/flags/${key}/check`, '{"company":{"slug":"wide"}}').then(one => one.text)
  await send('wide', 'wide', '9007199254740992')
  const below = await check()
  t.match(below, '"value":true')
  t.match(below, `"allocation":${one},"usage":9007199254740992`)
  await send('wide', 'wide', '1')
  const at = await check()
  t.match(at, '"value":false')
  t.match(at, `"allocation":${one},"usage":${one}`)
  t.match(at, `"feature_allocation":${one},"feature_usage":${one}`)
  const ofrep = await text(
    'POST',
    `/ofrep/v1/evaluate/flags/${key}`,
    '{"context":{"company":{"slug":"wide"}}}',
  )
  t.match(ofrep.text, `"feature_usage":${one}`, ofrep.text)
  const usage = await get(`/feature-usage?company_id=${id}`)
  t.match(usage, `"allocation":${one}`)
  t.match(usage, `"usage":${one}`)
  t.match(usage, `"effective_limit":${one}`)

  const window = `start_time=${iso(hour - hourMs)}&end_time=${iso(hour + hourMs)}`
  const series = `company_id=${id}&feature_id=${feature.id}&${window}&granularity=hourly`
  const points = await get(`/feature-usage-timeseries?${series}`)
  t.match(points, `"usage":${one}`)
  t.match(points, `"limit_value":${one}`)
  t.match(await get(`/feature-usage-history?feature_ids=${feature.id}&${window}`), `"usage":${one}`)
  t.match(await get(`/user-usage-by-company?company_id=${id}&feature_id=${feature.id}`), `"value":${one}`)
  t.match(await get(`/reconcile?company_id=${id}`), '"differences":0')
})

t.test('a restart keeps every digit', async t => {
  const again = async (): Promise<void> => {
    t.equal(await counted('single', 'ways'), '9007199254740994')
    t.equal(await counted('over', 'over'), largest)
    t.equal(await counted('wide', 'wide'), one)
  }
  await first.tollgate.stop()
  const after = await startHere(t, { TOLLGATE_DATA_DIR: first.dataDir })
  client = after.client
  await again()
  await send('wide', 'wide', one)
  t.equal(await counted('wide', 'wide'), two)
})

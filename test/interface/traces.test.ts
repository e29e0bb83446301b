// Traces, against a collector of the test's own: what a check and an event leave there, what of it is a secret (nothing),
// and that without an endpoint none of the packages is even loaded.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import t from 'tap'
import { bootstrapKey, startHere } from '../harness.js'

/** Files of the packages that are loaded; without the interface alone, which the metrics' library brings. */
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter(path => /@opentelemetry\/(?!api\/)/.test(path))

interface Seen {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: number | string }
  }[]
  readonly status: { readonly code: number }
}

/** Takes OTLP over HTTP with JSON, as a collector does. */
async function collector() {
  const texts: string[] = []
  const paths: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', piece => pieces.push(piece))
    request.on('end', () => {
      paths.push(request.url)
      texts.push(Buffer.concat(pieces).toString())
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const resources = () => texts.flatMap(text => JSON.parse(text).resourceSpans)
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    text: () => texts.join('\n'),
    resources,
    spans: (): readonly Seen[] =>
      resources().flatMap(one => one.scopeSpans.flatMap((scope: { spans: readonly Seen[] }) => scope.spans)),
  }
}

const of = (span: Seen, name: string) => {
  const value = span.attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : Number(value.intValue))
}

async function defineFeature(client: Awaited<ReturnType<typeof startHere>>['client']): Promise<void> {
  await client.ok('POST', '/features', {
    name: 'Calls',
    description: '',
    feature_type: 'event',
    event_subtype: 'call',
    flag: { key: 'calls', name: 'Calls', description: '', flag_type: 'boolean', default_value: true },
  })
}

const event = (key: string) => ({
  event_type: 'track',
  idempotency_key: key,
  body: { event: 'call', company: { slug: 'acme-of-the-secret-name' } },
})

t.test('without an endpoint nothing of it is loaded', async t => {
  const { client, tollgate } = await startHere(t)
  await defineFeature(client)
  const caller = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
  t.equal((await client.post('/events', event('off'), caller)).status, 201)
  t.equal((await client.post('/flags/calls/check', {}, caller)).status, 200)
  await tollgate.stop()
  t.same(loaded(), [])
})

t.test('a check and an event, part of their callers’ traces', async t => {
  const collected = await collector()
  const { client, tollgate } = await startHere(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collected.url })
  t.not(loaded().length, 0, 'where the test before looked, it would have found them')
  await defineFeature(client)
  const checkTrace = 'c'.repeat(32)
  const eventTrace = 'e'.repeat(32)
  const parent = '1234567890abcdef'
  const from = (trace: string, flags = '01') => ({ traceparent: `00-${trace}-${parent}-${flags}` })
  await client.post('/events', event('first'), from(eventTrace))
  await client.post('/flags/calls/check', { company: { slug: 'acme-of-the-secret-name' } }, from(checkTrace))
  await client.post('/flags/none/check', {}, from('d'.repeat(32)))
  await client.get('/companies/lookup?slug=acme-of-the-secret-name', from('9'.repeat(32)))
  await client.as('sk_dev_nobody').get('/whoami', from('8'.repeat(32)))
  await client.get('/whoami', from('7'.repeat(32), '00'))
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  await tollgate.stop()

  const spans = collected.spans()
  const one = (trace: string, name: string): Seen => {
    const found = spans.filter(span => span.traceId === trace && span.name === name)
    t.equal(found.length, 1, `one span ${name} of ${trace.slice(0, 4)}…`)
    return found[0]!
  }
  t.ok(collected.paths.every(path => path === '/v1/traces'))
  t.match(collected.resources()[0].resource.attributes, [
    { key: 'service.name', value: { stringValue: 'tollgate' } },
  ])

  const check = one(checkTrace, 'POST /flags/:key/check')
  t.equal(check.parentSpanId, parent, 'the caller is its parent')
  t.equal(check.kind, 2, 'a server’s')
  t.equal(of(check, 'http.request.method'), 'POST')
  t.equal(of(check, 'http.route'), '/flags/:key/check')
  t.equal(of(check, 'http.response.status_code'), 200)
  t.equal(of(check, 'tollgate.environment_id'), environment)
  const asked = one(checkTrace, 'shard')
  t.equal(asked.parentSpanId, check.spanId)
  t.equal(of(asked, 'tollgate.message'), 'check')
  t.ok([0, 1].includes(of(asked, 'tollgate.shard') as number))
  t.notOk(spans.some(span => span.traceId === checkTrace && span.name === 'journal write'))

  const taken = one(eventTrace, 'POST /events')
  t.equal(taken.parentSpanId, parent)
  t.equal(of(taken, 'http.response.status_code'), 201)
  const posts = spans.filter(span => span.traceId === eventTrace && span.name === 'shard')
  t.same(posts.map(span => of(span, 'tollgate.message')).sort(), ['ensure', 'events'])
  const posted = posts.find(span => of(span, 'tollgate.message') === 'events')!
  const written = spans.find(span => span.name === 'journal write' && span.parentSpanId === posted.spanId)!
  t.equal(written.traceId, eventTrace)
  t.equal(of(written, 'tollgate.records'), 1)
  for (const [outer, inner] of [
    [taken, posted],
    [posted, written],
  ] as const) {
    t.ok(BigInt(outer.startTimeUnixNano) <= BigInt(inner.startTimeUnixNano), `${inner.name} begins within`)
    t.ok(BigInt(inner.startTimeUnixNano) < BigInt(inner.endTimeUnixNano), `${inner.name} takes time`)
    t.ok(BigInt(inner.endTimeUnixNano) <= BigInt(outer.endTimeUnixNano), `${inner.name} ends within`)
  }

  t.equal(of(one('d'.repeat(32), 'POST /flags/:key/check'), 'http.response.status_code'), 404)
  const stranger = spans.find(span => of(span, 'http.response.status_code') === 401)
  t.match(stranger, { name: 'GET /whoami' })
  t.not(stranger?.traceId, '8'.repeat(32), 'security 33: a caller whose key is unknown has no say')
  t.notOk(
    spans.some(span => span.traceId === '7'.repeat(32)),
    'a caller that does not record is followed in that',
  )
  t.ok(
    spans.some(span => span.name === 'GET /whoami' && span.parentSpanId === undefined),
    'without a traceparent a trace of its own',
  )
  for (const store of ['postgres', 'clickhouse']) {
    const chunk = spans.find(span => span.name === `project to ${store}`)!
    t.ok(chunk, `a chunk for ${store}`)
    t.ok((of(chunk, 'tollgate.records') as number) > 0)
    t.equal(chunk.parentSpanId, undefined)
  }
  for (const secret of [bootstrapKey, 'sk_dev_nobody', 'acme-of-the-secret-name', '"first"'])
    t.notMatch(collected.text(), secret, `nothing of ${secret}`)
})

t.test('a collector that is away costs no request, and a stop is not held up', async t => {
  const { client, tollgate } = await startHere(t, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/anywhere',
    TOLLGATE_LOG_LEVEL: 'silent',
  })
  t.equal((await client.get('/whoami')).status, 200)
  await tollgate.stop()
})

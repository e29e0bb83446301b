// Callers whom no key has let in: what they send is neither decompressed nor parsed, and each address has a budget.
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { namedKeys } from '../../../src/front/http/admission/keys-in-body.js'
import { defaultLimits } from '../../../src/front/http/admission/limits.js'
import { UnauthenticatedLimiter } from '../../../src/front/http/admission/unauthenticated-limiter.js'
import { LongBodies } from '../../../src/front/http/request/long-bodies.js'
import { post, type Route } from '../../../src/front/http/routing/route.js'
import type { Call, RawBody } from '../../../src/kit/call.js'
import { createLogger } from '../../../src/log.js'
import { createMetrics } from '../../../src/metrics.js'
import { routes } from '../../../src/serve/routes.js'
import { type Ask, ask, dial, hear, type Reply, type Setup, secretOf, start } from './make.js'

/** A collector that answers how many keys it was told of, and reads its body with JSON.parse. */
const collector: Route = post('/batch', {
  scope: 'capture',
  limit: 'ingest',
  raw: 'batch',
  environment: 'optional',
  keysInBody: true,
  handle: async (call: Call<RawBody>) => {
    const { events } = JSON.parse(call.body.text()) as { events: { api_key: string }[] }
    const secrets = [...new Set(events.map(event => event.api_key))]
    const admitted = await call.named!(secrets)
    return { data: [...admitted].map(([secret, key]) => [secret, key?.key.id ?? null]) }
  },
})

async function collect(t: Test, setup: Setup = {}, rows: readonly Route[] = [collector]) {
  const running = await start(rows, setup)
  t.teardown(() => running.server.close())
  const send = (over: Partial<Ask>): Promise<Reply> =>
    ask(running.port, { method: 'POST', path: '/batch', ...over })
  return { ...running, send }
}

/** How often JSON.parse was called meanwhile. */
async function parses(work: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON
  let calls = 0
  JSON.parse = (...given) => {
    calls++
    return parse(...given)
  }
  try {
    await work()
    return calls
  } finally {
    JSON.parse = parse
  }
}

const named = (...secrets: readonly string[]) =>
  JSON.stringify({ events: secrets.map(secret => ({ api_key: secret })) })
const gzip = { 'content-encoding': 'gzip' }

t.test('security 1 the body of a caller without a key is neither inflated nor parsed', async t => {
  const { send, port } = await collect(t)
  const deep = `{"events":[${'['.repeat(30_000)}${']'.repeat(30_000)}]}`
  const hostile: readonly Partial<Ask>[] = [
    { body: deep },
    { body: '{"events":[' },
    { body: named('sk_dev_nobody') },
    { body: gzipSync(deep), headers: gzip },
    { body: Buffer.from('no gzip at all'), headers: gzip },
    { body: gzipSync(named(secretOf.development)), headers: gzip },
    { body: ' '.repeat(65_537) + named(secretOf.development) },
    { body: Buffer.alloc(9_000_000, 0x20) },
  ]
  for (const [index, over] of hostile.entries()) {
    let reply: Reply | null = null
    const count = await parses(async () => {
      reply = await send(over)
    })
    t.match(reply, { status: 401 }, `body ${index}`)
    t.equal(count, 1, 'the one call is the test client reading the answer')
  }
  const slow = await dial(port)
  slow.write(`POST /batch HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n`)
  for (let sent = 0; sent < 70_000; sent += 10_000) slow.write(`2710\r\n${' '.repeat(10_000)}\r\n`)
  t.match(await hear(slow), { text: /^HTTP\/1.1 401/ }, 'of unknown length: refused where it is too long')
  slow.destroy()
})

t.test('security 1 every route refuses a caller without a key before it looks at the body', async t => {
  const { port } = await collect(t, {}, routes)
  const verbs = { get: 'GET', post: 'POST', put: 'PUT', del: 'DELETE' } as const
  for (const route of routes) {
    if (route.body === 'none') continue
    const path = route.path.replaceAll(/:[^/]+/g, 'x')
    for (const body of ['{"events":[', gzipSync('{'), Buffer.from('{"\xff', 'latin1')])
      for (const headers of [{}, gzip]) {
        const reply = await ask(port, { method: verbs[route.method], path, body, headers })
        if (reply.status !== 401) t.fail(`${route.method} ${route.path}`, { status: reply.status })
      }
  }
  t.pass(`${routes.length} rows`)
})

t.test('security 1 keys are found in the bytes of a body', async t => {
  const find = (text: string) => namedKeys(Buffer.from(text))
  t.same(find('{"events":[{"api_key":"a"},{"api_key" : \n"b"},{"api_key":"a"}]}'), ['a', 'b'])
  t.same(find('{"api_key":""},{"api_key":null},{"api_key":7},{"api_key":"x\\u0041"},{"api_key"'), [])
  t.same(find(`{"api_key":"${'k'.repeat(257)}"}`), [], 'longer than any key')
  t.same(find(`{"api_key":"${'k'.repeat(256)}"}`), ['k'.repeat(256)])
  t.same(find('{"api_key":"ä"},{"api_key":"a b"},{"api_key":"cut'), [])
  t.equal(find(named(...Array.from({ length: 50 }, (_, n) => `k${n}`))).length, 10)
})

t.test('security 1 bodies without a valid key wait behind all others', async t => {
  const bodies = new LongBodies()
  const done: string[] = []
  for (const name of ['nobody 1', 'nobody 2']) bodies.addLast(10, () => void done.push(name))
  for (let n = 0; n < 3; n++) bodies.add(40_000, () => void done.push(`known ${n}`))
  await new Promise<void>(resolve => bodies.addLast(10, resolve))
  t.same(done, ['known 0', 'known 1', 'known 2', 'nobody 1', 'nobody 2'])
})

t.test('security 4 every key of a body passes what a key in the header passes', async t => {
  const limits = { ...defaultLimits, events_ingest: { ratePerSecond: 0.001, burst: 150 } }
  const { send } = await collect(t, { limits })
  const key = secretOf.development
  const others = [secretOf.production, secretOf.signed, secretOf.writer, secretOf.account, secretOf.orphan]
  t.strictSame((await send({ key, body: named(key, ...others) })).json.data, [
    [key, 'apik_dev'],
    [secretOf.production, 'apik_prod'],
    [secretOf.signed, null],
    [secretOf.writer, null],
    [secretOf.account, null],
    [secretOf.orphan, null],
  ])
  t.equal((await send({ body: named(secretOf.signed, key) })).status, 403, 'the first known key is judged')
  // 10 % of 150 requests at once: the sixteenth is over
  const statuses: number[] = []
  for (let n = 0; n < 16; n++) statuses.push((await send({ key, body: named(secretOf.capped) })).status)
  t.same(statuses, [...Array.from({ length: 15 }, () => 200), 429], 'AL-43 its cap holds in a body too')
  t.match((await send({ key: secretOf.capped, body: named(key) })).json, { bucket: 'events_ingest' })
})

t.test('security 14 at most ten keys in a body, and unknown ones count against the caller', async t => {
  const { send } = await collect(t, {
    limits: { ...defaultLimits, global: { ratePerSecond: 0.001, burst: 10 } },
  })
  const key = secretOf.development
  const strange = (count: number) => named(...Array.from({ length: count }, (_, n) => `sk_dev_nobody_${n}`))
  t.match(await send({ key, body: strange(11) }), { status: 400, json: { error: /at most 10/ } })
  t.match(await send({ key, body: strange(6) }), { status: 200 }, 'one, one, and six')
  t.match(await send({ key, body: strange(6) }), { status: 429, json: { bucket: 'global' } })
})

t.test('security 15 an address that fails too often gets 429; a caller with a key is admitted', async t => {
  const { send, metrics } = await collect(t, { authFailuresPerSecond: 1 })
  const statuses: number[] = []
  for (let n = 0; n < 22; n++) statuses.push((await send({ key: `sk_dev_nobody_${n}`, body: '{}' })).status)
  t.equal(statuses.filter(status => status === 401).length >= 20, true, 'twenty at once')
  t.match(await send({ body: named('sk_dev_nobody') }), {
    status: 429,
    json: { bucket: 'failed_authentication' },
    headers: { 'retry-after': '1' },
  })
  t.equal((await send({ key: secretOf.development, body: named() })).status, 200, 'a known key opens')
  t.ok(metrics.authFailures.unknown.count >= 20)
  t.ok(metrics.authFailures.limited.count >= 1)
})

t.test('security 15 one line a second reports failures, and of a key only its beginning', async t => {
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const strangers = new UnauthenticatedLimiter({
    ratePerSecond: 1,
    log,
    metrics: createMetrics().authFailures,
  })
  for (let n = 0; n < 30; n++) strangers.failed('10.0.0.1', 'sk_prod_abcdefghijkl', n)
  strangers.failed('10.0.0.2', 'chosen by the operator', 1_500)
  t.same(
    lines.map(({ peer, key_prefix, failures }) => [peer, key_prefix, failures]),
    [
      ['10.0.0.1', 'sk_prod_abcd', 1],
      ['10.0.0.2', '', 30],
    ],
  )
})

t.test('security 15 budgets by address: one IPv6 network has one, the table is bounded', async t => {
  const log = createLogger({ logLevel: 'silent' })
  const strangers = new UnauthenticatedLimiter({
    ratePerSecond: 1,
    log,
    metrics: createMetrics().authFailures,
  })
  for (let n = 0; n < 20; n++) strangers.failed(`2001:db8::${n.toString(16)}`, '', 0)
  t.notOk(strangers.may('2001:db8:0:0:ffff::1', 0), 'the same 64 bits')
  t.ok(strangers.may('2001:db8:0:1::1', 0))
  t.ok(strangers.may('2001:db8::1', 2_000), 'it is filled again')
  for (let n = 0; n < 20_000; n++) strangers.take(`address ${n}`, 0)
  t.ok(strangers.may('2001:db8::1', 0), 'forgotten for newer ones')
})

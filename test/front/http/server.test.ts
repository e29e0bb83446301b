// The running server, asked over real connections.
import { Agent } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import typia from 'typia'
import { ServiceError } from '../../../src/errors.js'
import { defaultLimits } from '../../../src/front/http/admission/limits.js'
import { openApp } from '../../../src/front/http/apps/open-app.js'
import { also, assertDistinct, del, get, post, put } from '../../../src/front/http/routing/route.js'
import type { Handler, RawBody } from '../../../src/kit/call.js'
import { list, page, type QueryShape, query, string } from '../../../src/kit/query.js'
import { type Ask, ask, dial, hear, secretOf, serverOfTests, start } from './make.js'

interface Thing {
  name: string
  tags?: Record<string, string>
}
type QueryIn<S> = S extends QueryShape<infer Q> ? Q : never
const parseThing = typia.json.createValidateParse<Thing>()
const listQuery = query({ ...page, ids: list, q: string })

const whoAsks: Handler = call => ({
  data: {
    key: call.key.id,
    environment: call.environmentOrNull?.id ?? null,
    now: call.nowMs,
    ip: call.remoteIp,
    agent: call.userAgent,
  },
})
const readPath: Handler = call => ({ data: call.params })
const needsEnvironment: Handler = call => ({ data: call.environment.id })
const listThings: Handler<undefined, QueryIn<typeof listQuery>> = call => ({ data: call.query })
const makeThing: Handler<Thing> = call => ({ data: call.body })
const makeLater: Handler<Thing> = async call => {
  await pause(5)
  return { data: call.body, headers: { 'X-Own': 'a\r\nX-Smuggled: b' } }
}
const rawLength: Handler<RawBody> = async call => {
  await pause(1)
  return { data: { bytes: call.body.byteLength, start: call.body.text().slice(0, 20), ip: call.remoteIp } }
}
const refuse: Handler = call => {
  switch (call.params.what) {
    case 'state':
      throw new ServiceError('state_conflict', 'It is used', { extra: { used_by: 2 } })
    case 'credit':
      throw new ServiceError('insufficient_credits')
    case 'away':
      throw new ServiceError('store_away', undefined, { retryAfterSeconds: 7 })
    case 'later':
      return Promise.reject(new ServiceError('not_found'))
    case 'circle': {
      const circle: unknown[] = []
      circle.push(circle)
      return { data: circle }
    }
    default:
      throw new Error('a secret of the implementation')
  }
}

const everyRoute = [
  get('/things', { scope: 'read', query: listQuery, handle: listThings }),
  post('/things', { scope: 'write', status: 201, body: parseThing, handle: makeThing }),
  post('/things/later', { scope: 'write', status: 201, body: parseThing, handle: makeLater }),
  get('/things/count', { scope: 'read', handle: () => ({ json: '{"count":3}' }) }),
  get('/things/:thing_id', { scope: 'read', handle: readPath }),
  put('/things/:thing_id', { scope: 'write', body: parseThing, handle: makeThing }),
  del('/things/:thing_id', { scope: 'write', handle: () => ({ data: { deleted: true } }) }),
  post('/things/:thing_id/empty', { scope: 'write', handle: () => ({ status: 204 }) }),
  get('/things/:thing_id/parts/:part_id', { scope: 'read', handle: readPath }),
  get('/usage', { scope: 'read', limit: 'analytics', handle: () => ({}) }),
  post('/flags/:key/check', { scope: 'check', limit: 'check', body: parseThing, handle: makeThing }),
  post('/events', { scope: 'capture', limit: 'ingest', raw: 'one', status: 201, handle: rawLength }),
  post('/event-batch', { scope: 'capture', limit: 'ingest', raw: 'batch', status: 201, handle: rawLength }),
  get('/who', { scope: 'any', environment: 'optional', handle: whoAsks }),
  get('/late', { scope: 'any', environment: 'optional', handle: needsEnvironment }),
  get('/refuse/:what', { scope: 'read', handle: refuse }),
]
assertDistinct(everyRoute)

const dev = secretOf.development
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

t.test('a server without limits', async t => {
  const { server, port } = await start([
    ...everyRoute,
    also('/v2/who', everyRoute.find(r => r.path === '/who')!),
  ])
  t.teardown(() => server.close())
  const say = (asked: Ask) => ask(port, asked)
  const status = async (asked: Ask) => (await say(asked)).status

  await t.test('AL-33 data and params, both always there', async t => {
    const listed = await say({ path: '/things?limit=7&ids=a&colour=red', key: dev })
    t.equal(listed.status, 200)
    t.same(listed.json, {
      data: { limit: 7, offset: 0, ids: ['a'] },
      params: { limit: 7, ids: ['a'] },
    })
    t.same((await say({ path: '/things', key: dev })).json.params, {})
    t.same((await say({ path: '/things/t_1', key: dev })).json.params, { thing_id: 't_1' })
    const made = await say({ method: 'POST', path: '/things', key: dev, body: '{"name":"a"}' })
    t.same([made.status, made.json], [201, { data: { name: 'a' }, params: {} }])
    t.equal((await say({ path: '/things/count', key: dev })).text, '{"data":{"count":3},"params":{}}')
    t.same((await say({ path: '/usage', key: dev })).json, { data: null, params: {} })
    t.same((await say({ method: 'DELETE', path: '/things/t_1', key: dev })).json.data, { deleted: true })
    const none = await say({ method: 'POST', path: '/things/t_1/empty', key: dev })
    t.same([none.status, none.text], [204, ''])
  })

  await t.test('paths: words win over parameters, which are decoded', async t => {
    t.same((await say({ path: '/things/a%2Fb%20%C3%BC', key: dev })).json.data, { thing_id: 'a/b ü' })
    t.same((await say({ path: '/things/count/parts/p', key: dev })).json.data, {
      thing_id: 'count',
      part_id: 'p',
    })
    t.equal(await status({ path: '/v2/who', key: dev }), 200)
    for (const path of ['/', '/nope', '/things/a/b', '//things', '/Things']) {
      t.same(
        await say({ path, key: dev }).then(r => [r.status, r.json]),
        [404, { error: 'No such route' }],
        path,
      )
    }
    t.equal(await status({ path: '/things/', key: dev }), 200, 'S5 a slash at the end changes nothing')
    const patch = await say({ method: 'PATCH', path: '/things/a', key: dev })
    t.equal(patch.status, 405, 'S5')
    t.match(patch.headers.allow, /DELETE/)
    for (const path of ['/things/%E0%A4%A', '/things/%', '/things/a%00b']) {
      t.equal(await status({ path, key: dev }), 404, `${path} names nothing`)
    }
  })

  await t.test(
    'AL-1, AL-30 404 unknown route before 401; 401 for a missing, empty, unknown or orphaned key',
    async t => {
      t.equal(await status({ path: '/nope' }), 404)
      for (const key of [undefined, '', 'wrong', 'later:wrong']) {
        const refused = await say({ path: '/things', key })
        t.same(
          [refused.status, refused.json.error],
          [
            401,
            key
              ? 'X-Service-Api-Key is not a key of this service: keys begin with sk_ or pk_'
              : 'X-Service-Api-Key is missing: send the API key in this header',
          ],
          String(key),
        )
        t.notOk(refused.headers['x-ratelimit-limit'])
      }
      t.equal(await status({ path: '/things', key: secretOf.orphan }), 401)
      t.equal(await status({ path: `/things?X-Service-Api-Key=${dev}` }), 401, 'AL-1 no query parameter')
      t.equal(
        await status({ path: '/things', headers: { authorization: `Bearer ${dev}` } }),
        401,
        'AL-1 no other credential',
      )
    },
  )

  await t.test('decision 7 further header names are accepted', async t => {
    t.equal(await status({ path: '/things', headers: { 'x-other-key': dev } }), 200)
    const named = await say({
      path: '/who',
      key: secretOf.account,
      headers: { 'x-other-environment': 'env_prod' },
    })
    t.match(named.json.data, { environment: 'env_prod', now: 3_000 })
  })

  await t.test('AL-11, AL-30 environments: 403, 400, 400 body, 404, in this order', async t => {
    const post = { method: 'POST', path: '/things', key: secretOf.account }
    const unknown = { 'x-service-environment-id': 'env_nowhere' }
    t.equal(await status({ ...post, key: dev, headers: { 'x-service-environment-id': 'env_prod' } }), 403)
    t.match(await say({ ...post, body: '{' }), { status: 400, json: { error: /^environment required/ } })
    t.match(await say({ ...post, body: '{', headers: unknown }), { status: 400, json: { error: /JSON/ } })
    t.equal(await status({ ...post, body: '{"name":"a"}', headers: unknown }), 404)
    t.match((await say({ path: '/who', key: secretOf.account })).json.data, { environment: null, now: 1_000 })
    t.match(await say({ path: '/late', key: secretOf.account }), {
      status: 400,
      json: { error: /^environment required/ },
    })
    t.equal(
      await status({
        path: '/things',
        key: secretOf.account,
        headers: { 'x-service-environment-id': 'env_other' },
      }),
      404,
    )
  })

  await t.test('AL-20…22 403 before the body is looked at', async t => {
    const post = { method: 'POST', path: '/things', body: '{' }
    for (const key of [secretOf.reader, secretOf.capturer, secretOf.publishable, secretOf.signed]) {
      t.equal(await status({ ...post, key }), 403, key)
    }
    t.equal(await status({ ...post, key: secretOf.writer }), 400)
    const check = { method: 'POST', path: '/flags/f/check', body: '{"name":"a"}' }
    for (const key of [secretOf.reader, secretOf.capturer, secretOf.publishable, secretOf.writer]) {
      t.equal(await status({ ...check, key }), 200, key)
    }
    t.equal(await status({ ...check, key: secretOf.signed }), 403, 'AL-14')
    t.equal(await status({ method: 'POST', path: '/events', body: '{}', key: secretOf.reader }), 201, 'AL-21')
    t.equal(await status({ path: '/who', key: secretOf.publishable }), 403, 'AL-22')
  })

  await t.test('AL-32 a body: malformed, of the wrong type, missing, unknown members', async t => {
    const put = { method: 'PUT', path: '/things/t_1', key: dev }
    for (const body of [
      '{',
      'null',
      '[]',
      '"a"',
      '{"name":1}',
      '',
      '{"name":"\\u0000"}',
      '['.repeat(1_000),
    ]) {
      const refused = await say({ ...put, body })
      t.equal(refused.status, 400, body.slice(0, 20))
      t.ok(refused.json.error)
    }
    t.match((await say({ ...put, body: '' })).json.error, /^name is required/)
    t.match(await say({ ...put, body: '{"name":"a","more":1}' }), { status: 200 })
    t.match(await say({ ...put, headers: { 'content-type': 'text/plain' }, body: '{"name":"a"}' }), {
      status: 200,
    })
    const proto = await say({ ...put, body: '{"name":"a","tags":{"__proto__":"x"}}' })
    t.match(proto.text, /"__proto__":"x"/)
    t.match(await say({ path: '/things?limit=0', key: dev }), { status: 400, json: { error: /^limit/ } })
    t.match(await say({ path: '/things?q=%zz', key: dev }), { status: 400 })
  })

  await t.test(
    'AL-31 errors are told as {error} with their status; what is not ours to tell is 500',
    async t => {
      t.match(await say({ path: '/refuse/state', key: dev }), {
        status: 400,
        json: { error: 'It is used', used_by: 2 },
      })
      t.match(await say({ path: '/refuse/credit', key: dev }), {
        status: 402,
        json: { error: 'insufficient credits' },
      })
      t.match(await say({ path: '/refuse/later', key: dev }), { status: 404 })
      t.match(await say({ path: '/refuse/away', key: dev }), { status: 503, headers: { 'retry-after': '7' } })
      for (const what of ['bug', 'circle']) {
        const bug = await say({ path: `/refuse/${what}`, key: dev })
        t.same([bug.status, bug.text], [500, '{"error":"Server error"}'])
        t.match(bug.headers['x-request-id'], /^req_/)
      }
    },
  )

  await t.test('decision 2 bodies are bounded, compressed or not', async t => {
    const padded = (bytes: number) => `{"name":"${'a'.repeat(bytes - 11)}"}`
    const post = { method: 'POST', path: '/things', key: dev }
    t.equal(await status({ ...post, body: padded(1_048_576) }), 201)
    t.match(await say({ ...post, body: padded(1_048_577) }), {
      status: 400,
      json: { error: /1048576 bytes/ },
    })
    const batch = { method: 'POST', path: '/event-batch', key: dev }
    t.match((await say({ ...batch, body: padded(8_388_608) })).json.data, { bytes: 8_388_608 })
    t.match(await say({ ...batch, body: padded(8_388_609) }), {
      status: 400,
      json: { error: /^batch too large/, max_size: 10_000 },
    })
    const gzip = { 'content-encoding': 'gzip' }
    t.match(await say({ ...post, headers: gzip, body: gzipSync('{"name":"zipped"}') }), {
      status: 201,
      json: { data: { name: 'zipped' } },
    })
    t.match((await say({ ...batch, headers: gzip, body: gzipSync(padded(8_388_608)) })).json.data, {
      bytes: 8_388_608,
    })
    const bomb = gzipSync(Buffer.alloc(256 * 1_048_576, 0x20), { level: 9 })
    t.match(await say({ ...batch, headers: gzip, body: bomb }), {
      status: 400,
      json: { error: /^batch too large/ },
    })
    t.match(await say({ ...post, headers: gzip, body: bomb }), { status: 400 })
    t.equal(await status({ ...post, headers: gzip, body: '{"name":"plain"}' }), 400)
    t.equal(await status({ ...post, headers: { 'content-encoding': 'br' }, body: '{"name":"a"}' }), 400)
    t.equal(await status({ ...post, key: 'wrong', headers: gzip, body: bomb.subarray(0, 1_000) }), 401)
  })

  await t.test('a key that is looked up slowly, with and without a body', async t => {
    t.equal(await status({ path: '/things', key: `later:${dev}` }), 200)
    const slow = { method: 'POST', path: '/things/later', key: `later:${dev}` }
    t.match((await say({ ...slow, body: '{"name":"a"}' })).json.data, { name: 'a' })
    t.equal(await status({ ...slow, body: '{' }), 400)
    t.match(
      (await say({ method: 'POST', path: '/event-batch', key: `later:${dev}`, body: 'x'.repeat(300_000) }))
        .json.data,
      {
        bytes: 300_000,
      },
    )
    t.match(
      (await say({ ...slow, headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"name":"z"}') })).json
        .data,
      { name: 'z' },
    )
  })

  await t.test('a header value of a handler cannot start another header', async t => {
    const made = await say({ method: 'POST', path: '/things/later', key: dev, body: '{"name":"a"}' })
    t.equal(made.headers['x-own'], 'a  X-Smuggled: b')
    t.notOk(made.headers['x-smuggled'])
  })

  await t.test('HEAD says what GET would, without saying it', async t => {
    const head = await say({ method: 'HEAD', path: '/things/t_1', key: dev })
    const full = await say({ path: '/things/t_1', key: dev })
    t.same([head.status, head.text], [200, ''])
    t.equal(head.headers['content-length'], full.headers['content-length'])
    for (const path of ['/nope', '/health/live', '/things?limit=0']) {
      t.same((await say({ method: 'HEAD', path, key: dev })).text, '', path)
    }
  })

  await t.test('every answer is JSON; security 28 nobody guesses its type or keeps it', async t => {
    for (const path of ['/things', '/nope', '/things/%', '/refuse/bug', '/health/live']) {
      const { headers } = await say({ path, key: dev, headers: { origin: 'https://shop.example' } })
      t.equal(headers['content-type'], 'application/json', path)
      t.equal(headers['x-content-type-options'], 'nosniff', path)
      t.equal(headers['cache-control'], 'no-store', path)
      t.equal(headers['access-control-allow-origin'], undefined, 'security 27 no page reads it')
    }
  })

  await t.test('a preflight needs no key', async t => {
    const asked = {
      method: 'OPTIONS',
      headers: { origin: 'https://a', 'access-control-request-method': 'POST' },
    }
    const { status, headers } = await say({ ...asked, path: '/flags/f/check' })
    t.equal(status, 204)
    t.match(headers['access-control-allow-methods'], /POST/)
    t.match(
      headers['access-control-allow-headers'],
      /X-Service-Api-Key, X-Other-Key, X-Service-Environment-Id/,
    )
    t.ok(headers['access-control-max-age'])
  })

  await t.test('the caller: address, agent, and the environment’s present', async t => {
    const told = await say({
      path: '/who',
      key: dev,
      headers: { 'user-agent': 'me/1', 'x-forwarded-for': '1.2.3.4' },
    })
    t.same(told.json.data, {
      key: 'apik_dev',
      environment: 'env_dev',
      now: 2_000,
      ip: '127.0.0.1',
      agent: 'me/1',
    })
  })

  await t.test('a connection is kept and used again', async t => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < 50; i++) {
      const asked =
        i % 2 === 0 ? { path: '/things' } : { method: 'POST', path: '/things/later', body: '{"name":"a"}' }
      const { headers } = await say({ ...asked, key: dev, agent })
      if (headers.connection === 'close') t.fail('closed')
    }
    t.equal(Object.values(agent.freeSockets).flat().length, 1)
    agent.destroy()
  })
})

t.test('connections that behave badly', async t => {
  const aborted: string[] = []
  let entered = 0
  let goOn = () => {}
  const left = new Promise<void>(resolve => {
    goOn = resolve
  })
  const slow: Handler<RawBody> = async () => {
    entered++
    await left
    aborted.push('finished')
    return {}
  }
  const { server, port, metrics } = await start([
    ...everyRoute,
    post('/slow', { scope: 'capture', limit: 'ingest', raw: 'one', handle: slow }),
  ])
  t.teardown(() => server.close())
  const alive = async () => (await ask(port, { path: '/things/count', key: dev })).status === 200
  const head = (line: string, ...more: string[]) =>
    `${[`${line} HTTP/1.1`, 'Host: a', `X-Service-Api-Key: ${dev}`, ...more].join('\r\n')}\r\n\r\n`
  const send = async (text: string) => {
    const socket = await dial(port)
    socket.write(text)
    const heard = await hear(socket)
    socket.destroy()
    return heard
  }

  await t.test('bytes that are no HTTP are refused and the connection closed', async t => {
    const cases = [
      'hello\r\n\r\n',
      'GET / HTTP/1.0\r\n\r\n',
      'GET /things/\0 HTTP/1.1\r\nHost: a\r\n\r\n',
      head('POST /things', 'Content-Length: -2'),
      head('POST /things', 'Content-Length: 99999999999999999999'),
      head('POST /things', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
      `${head('POST /things', 'Transfer-Encoding: chunked')}zz\r\n`,
    ]
    for (const text of cases) t.ok((await send(text)).closed, JSON.stringify(text.slice(0, 40)))
    t.ok(await alive())
  })

  await t.test('long heads are read up to 16 KiB in pieces', async t => {
    const socket = await dial(port)
    const text = head('GET /things/count', `X-Long: ${'a'.repeat(12_000)}`)
    for (let i = 0; i < text.length; i += 4_000) {
      socket.write(text.slice(i, i + 4_000))
      await pause(10)
    }
    t.match((await hear(socket)).text, /^HTTP\/1\.1 200 OK/)
    socket.destroy()
  })

  await t.test('a body in small pieces, and chunked, is put together', async t => {
    const body = '{"name":"ümlaut"}'
    const bytes = Buffer.from(body)
    const socket = await dial(port)
    socket.write(head('POST /things', `Content-Length: ${bytes.length}`))
    for (const byte of bytes) {
      socket.write(Buffer.of(byte))
      await pause(2)
    }
    t.match((await hear(socket)).text, /"name":"ümlaut"/)
    socket.destroy()
    const chunked = head('POST /things', 'Transfer-Encoding: chunked')
    t.match((await send(`${chunked}5\r\n{"nam\r\n7\r\ne":"a"}\r\n0\r\n\r\n`)).text, /"name":"a"/)
  })

  await t.test('requests in a row on one connection are answered in order', async t => {
    const three = head('GET /things/1') + head('GET /things/2') + head('GET /things/3')
    const { text } = await send(three)
    t.same(
      [...text.matchAll(/"data":\{"thing_id":"(\d)"\}/g)].map(m => m[1]),
      ['1', '2', '3'],
    )
  })

  await t.test('an answer before the end of the body leaves the connection usable', async t => {
    const socket = await dial(port)
    socket.write(`${head('POST /nope', 'Content-Length: 5')}he`)
    t.match((await hear(socket)).text, /^HTTP\/1\.1 404/)
    socket.write(`llo${head('GET /things/count')}`)
    t.match((await hear(socket)).text, /^HTTP\/1\.1 200/)
    socket.destroy()
  })

  await t.test('a body without end is refused at its bound and nothing more of it is kept', async t => {
    const socket = await dial(port)
    socket.write(head('POST /things', 'Content-Length: 9999999999'))
    const chunk = Buffer.alloc(262_144, 0x20)
    for (let i = 0; i < 8; i++) socket.write(chunk)
    t.match((await hear(socket)).text, /^HTTP\/1\.1 400 /)
    socket.destroy()
    t.ok(await alive())
  })

  await t.test('a caller that leaves costs nothing', async t => {
    const before = metrics.http.aborted.count
    const half = await dial(port)
    half.write(`${head('POST /things', 'Content-Length: 100')}{"na`)
    // what was written before is read before
    t.ok(await alive())
    half.destroy()
    const whole = await dial(port)
    whole.write(`${head('POST /slow', 'Content-Length: 2')}{}`)
    while (entered === 0) await pause(5)
    whole.destroy()
    while (metrics.http.aborted.count - before < 2) await pause(5)
    goOn()
    while (aborted.length === 0) await pause(5)
    t.same(aborted, ['finished'], 'the handler went on to its end')
    t.equal(metrics.http.aborted.count - before, 2)
    t.ok(await alive())
  })
})

t.test('AL-40…43 budgets as the caller sees them', async t => {
  const { server, port, metrics } = await start(everyRoute, { limits: defaultLimits })
  t.teardown(() => server.close())
  const figures = (headers: Record<string, unknown>) =>
    ['limit', 'remaining', 'reset'].map(name => Number(headers[`x-ratelimit-${name}`]))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const say = (asked: Ask) => ask(port, { key: dev, agent, ...asked })

  t.same(figures((await say({ path: '/things' })).headers), [600, 599, 1], 'one GET')
  const write = { method: 'POST', path: '/things', body: '{"name":"a"}' }
  t.same(figures((await say(write)).headers), [120, 119, 1], 'one write')
  const refused = await say({ ...write, body: '{' })
  t.equal(refused.status, 400)
  t.equal(figures(refused.headers)[0], 120, 'errors of a limited route carry the figures too')
  t.equal(
    figures((await say({ path: '/things', key: secretOf.capped })).headers)[0],
    60,
    'a capped key sees its own',
  )
  t.notOk((await say({ path: '/nope' })).headers['x-ratelimit-limit'])
  t.notOk(
    (await say({ path: '/things', key: 'wrong' })).headers['x-ratelimit-limit'],
    'AL-30 401 consumes nothing',
  )
  t.notOk((await say({ path: '/health/live' })).headers['x-ratelimit-limit'])

  let last = await say({ path: '/usage' })
  for (let i = 0; i < 40 && last.status === 200; i++) last = await say({ path: '/usage' })
  t.match(last, { status: 429, json: { bucket: 'analytics' }, headers: { 'retry-after': '1' } })
  t.match(last.json.error, /analytics/)
  t.same(figures(last.headers), [30, 0, 3])
  t.equal(metrics.http.rejected.analytics.count, 1)
  const page = { path: '/usage', key: secretOf.publishable }
  t.equal((await say(page)).status, 403, 'AL-41 publishable keys have budgets of their own')
  for (let i = 0; i < 40 && last.status !== 403; i++) last = await say(page)
  for (let i = 0; i < 40 && last.status === 403; i++) last = await say(page)
  t.equal(last.status, 429, 'AL-30 429 before 403')
})

t.test('decision 8 a key in the body opens the routes that say so', async t => {
  const collect = post('/batch', {
    scope: 'capture',
    limit: 'ingest',
    raw: 'batch',
    keysInBody: true,
    handle: rawLength,
  })
  const { server, port } = await start([...everyRoute, collect], { limits: defaultLimits })
  t.teardown(() => server.close())
  const batch = { method: 'POST', path: '/batch' }
  const body = (secret: string) => JSON.stringify({ events: [{ api_key: secret }] })
  t.match(await ask(port, { ...batch, body: body(dev) }), {
    status: 200,
    headers: { 'x-ratelimit-limit': '150' },
  })
  t.equal((await ask(port, { ...batch, body: body(`later:${dev}`) })).status, 200)
  t.equal((await ask(port, { ...batch, body: body('wrong') })).status, 401)
  t.equal(
    (await ask(port, { ...batch, body: `${body('wrong')}${body(dev)}` })).status,
    200,
    'the first known one',
  )
  t.equal((await ask(port, { ...batch, body: '{}' })).status, 401)
  t.equal(
    (await ask(port, { ...batch, body: body('wrong'), key: dev })).status,
    200,
    'the header comes first',
  )
  t.equal(
    (await ask(port, { method: 'POST', path: '/events', body: body(dev) })).status,
    401,
    'others say no such thing',
  )
})

t.test('before it serves', async t => {
  const { server, port } = await start(everyRoute, { services: null, degraded: ['clickhouse'] })
  t.teardown(() => server.close())
  t.match(await ask(port, { path: '/things', key: dev }), { status: 503, headers: { 'retry-after': '1' } })
  t.equal((await ask(port, { path: '/health/live' })).status, 200)
  t.match(await ask(port, { path: '/health/ready' }), {
    status: 503,
    json: { error: 'Starting', degraded: ['clickhouse'] },
  })
})

t.test('health and numbers', async t => {
  const { server, port } = await start(everyRoute, { degraded: ['clickhouse'] })
  t.teardown(() => server.close())
  t.match(await ask(port, { path: '/health/ready' }), {
    status: 200,
    json: { status: 'ready', degraded: ['clickhouse'] },
  })
  await ask(port, { path: '/things/t_1', key: dev })
  await ask(port, { path: '/things/t_2', key: dev })
  await ask(port, { path: '/nope' })
  const { text, headers } = await ask(port, { path: '/metrics' })
  t.match(headers['content-type'], /^text\/plain/)
  t.match(text, 'tollgate_http_requests_total{route="GET /things/:thing_id",status="200"} 2')
  t.match(text, 'tollgate_http_requests_total{route="unknown",status="404"} 1')
  t.match(text, 'tollgate_http_request_seconds_count{route="GET /things/:thing_id"} 2')
})

t.test('bodies being received are bounded together', async t => {
  const { server, port } = await start(everyRoute, { bodiesBytesMax: 100_000 })
  t.teardown(() => server.close())
  const big = { method: 'POST', path: '/event-batch', key: dev, body: 'x'.repeat(500_000) }
  t.match(await ask(port, big), { status: 503, headers: { 'retry-after': '1' } })
  t.equal((await ask(port, { ...big, body: 'x'.repeat(1_000) })).status, 201, 'and given back')
  t.match(await ask(port, big), { status: 503 })
})

t.test('a port is taken once', async t => {
  const { server, port } = await start([])
  t.teardown(() => server.close())
  const { app } = await openApp(serverOfTests)
  t.teardown(() => app.close())
  await t.rejects(app.listen('127.0.0.1', port, false), /Cannot listen on 127\.0\.0\.1/)
})

t.test('rows that do not fit do not compile', async t => {
  const needsQuery: Handler<undefined, QueryIn<typeof listQuery>> = () => ({})
  const wrongParser = typia.json.createValidateParse<{ colour: string }>()
  // @ts-expect-error a handler that reads its query needs the shape
  get('/a', { scope: 'read', handle: needsQuery })
  // @ts-expect-error a handler that reads its body needs the parser
  post('/a', { scope: 'write', handle: makeThing })
  // @ts-expect-error of the right type
  post('/a', { scope: 'write', body: wrongParser, handle: makeThing })
  // @ts-expect-error a raw body is asked for
  post('/a', { scope: 'write', handle: rawLength })
  t.throws(
    () =>
      assertDistinct([
        get('/a/:b', { scope: 'read', handle: readPath }),
        get('/a/:c', { scope: 'read', handle: readPath }),
      ]),
    /Two routes/,
  )
})

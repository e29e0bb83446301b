// The edge: where requests end, who may read answers, whose address counts. Raw sockets, since no proper client sends this.
import t, { type Test } from 'tap'
import { tracedStages } from '../../../src/front/http/request/traced.js'
import { forwardedAddress } from '../../../src/front/http/routing/headers.js'
import { get, post, type Route } from '../../../src/front/http/routing/route.js'
import type { Call, Handler, RawBody } from '../../../src/kit/call.js'
import type { Tracing } from '../../../src/tracing.js'
import { ask, dial, hear, type Setup, secretOf, start } from './make.js'

const who: Handler = call => ({ data: { ip: call.remoteIp } })
const length: Handler<RawBody> = (call: Call<RawBody>) => ({ data: call.body.text().length })
const rows: readonly Route[] = [
  post('/check', { scope: 'check', limit: 'check', raw: 'one', environment: 'optional', handle: length }),
  get('/who', { scope: 'any', environment: 'optional', handle: who }),
  get('/who/:name', { scope: 'any', environment: 'optional', handle: who }),
]
const dev = secretOf.development
const pub = secretOf.publishable

async function open(t: Test, setup: Setup = {}) {
  const { server, port, metrics } = await start(rows, setup)
  t.teardown(() => server.close())
  /** All that is answered to these bytes, and whether the connection was closed. */
  const say = async (...parts: readonly string[]) => {
    const socket = await dial(port)
    for (const part of parts) {
      socket.write(part)
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    const heard = await hear(socket, 400)
    socket.destroy()
    const statuses = [...heard.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(found => Number(found[1]))
    return { ...heard, statuses }
  }
  return { port, metrics, say }
}

const smuggled = 'GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n'
const head = (path: string, key: string, ...lines: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\n${key === '' ? '' : `X-Service-Api-Key: ${key}\r\n`}${lines.map(line => `${line}\r\n`).join('')}\r\n`

t.test(
  'security 11 what two readers could take differently is refused, and nothing behind it is read',
  async t => {
    const { say } = await open(t)
    const lines: readonly (readonly string[])[] = [
      ['Content-Length: 2', 'Content-Length: 60'],
      ['Content-Length: 2', 'Content-Length: 2'],
      ['Content-Length: 2', 'Host: other'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding: gzip, chunked'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ]
    for (const path of ['/check', '/nope', '/health/live'])
      for (const key of ['', pub, dev])
        for (const given of lines) {
          const body = given[0]!.startsWith('T') ? '2\r\n{}\r\n0\r\n\r\n' : '{}'
          for (const parts of [
            [head(path, key, ...given) + body + smuggled],
            [head(path, key, ...given) + body, smuggled],
          ]) {
            const heard = await say(...parts)
            t.match(heard, { statuses: [400], closed: true }, `${path} ${given.join(', ')}`)
          }
        }
  },
)

t.test('security 11 trailers and odd ends of chunks give no caller another’s answer', async t => {
  const { say } = await open(t)
  const chunked = (key: string, body: string) => head('/check', key, 'Transfer-Encoding: chunked') + body
  for (const key of ['', pub, dev])
    for (const body of [`2\r\n{}\r\n0\r\nX:${smuggled}`, `2\r\n{}\r\n0\r\n\r\n${smuggled}`]) {
      const heard = await say(chunked(key, body))
      t.ok(heard.statuses.length <= 1, 'at most its own')
      t.ok(heard.closed, 'and the connection is closed')
      t.notMatch(heard.text, /tollgate_http/)
    }
  for (const key of [pub, dev]) {
    const heard = await say(chunked(key, '2\r\n{}\r\n0\r\n\r\n'), smuggled)
    t.match(heard, { statuses: [200], closed: true }, 'a plain chunked body is taken, and is the last')
  }
})

t.test('security 11 bodies without a length can be refused; heads are bounded', async t => {
  const { say } = await open(t, { chunkedBodies: false })
  const heard = await say(`${head('/check', pub, 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`)
  t.match(heard, { statuses: [411], closed: true })
  const large = await say(head('/nope', '', `A: ${'x'.repeat(15_000)}`, `B: ${'x'.repeat(15_000)}`))
  t.equal(large.statuses[0], 431)
})

t.test('security 11 a head of too many fields does nothing', async t => {
  let asked = 0
  const count: Handler = () => {
    asked++
    return { data: null }
  }
  const { server, port } = await start([
    get('/who', { scope: 'any', environment: 'optional', handle: count }),
  ])
  t.teardown(() => server.close())
  for (const fields of [101, 150]) {
    const socket = await dial(port)
    const lines = Array.from({ length: fields }, (_, n) => `A${n}: b\r\n`).join('')
    socket.write(`GET /who HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${dev}\r\n${lines}\r\n`)
    const { text } = await hear(socket, 400)
    socket.destroy()
    // the native server says nothing and closes after its ten seconds; Node's own answers
    t.match(text, /^(HTTP\/1\.1 431|$)/, `${fields} fields`)
  }
  t.equal(asked, 0)
})

t.test('security 38 of requests that do not wait for an answer none is done out of sight', async t => {
  let asked = 0
  let answer = () => {}
  let answered = Promise.resolve()
  const slow: Handler = async () => {
    asked++
    await answered
    return { data: null }
  }
  const { server, port } = await start([
    get('/slow', { scope: 'any', environment: 'optional', handle: slow }),
  ])
  t.teardown(() => server.close())
  const line = `GET /slow HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${dev}\r\n\r\n`
  for (const parts of [[line + line], [line, line]]) {
    asked = 0
    answered = new Promise(resolve => {
      answer = resolve
    })
    const socket = await dial(port)
    let heard = ''
    let isClosed = false
    socket.on('data', bytes => {
      heard += bytes
    })
    socket.on('close', () => {
      isClosed = true
    })
    const waitFor = async (holds: () => boolean) => {
      while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
    }
    for (const [index, part] of parts.entries()) {
      // The second part follows when the first request is under way.
      if (index > 0) await waitFor(() => asked > 0)
      socket.write(part)
    }
    await waitFor(() => isClosed || asked === 2)
    answer()
    const answers = () => heard.match(/HTTP\/1\.1 200/g)?.length ?? 0
    // The native server closes the connection; Node's own does both, and answers both in order.
    if (!isClosed) await waitFor(() => isClosed || answers() === 2)
    t.same([asked, answers()], isClosed ? [Math.min(asked, 1), 0] : [2, 2])
    socket.destroy()
  }
})

t.test('security 29 the address is the one the nearest trusted proxy saw', async t => {
  t.equal(forwardedAddress('1.1.1.1, 2.2.2.2, 3.3.3.3', 1), '3.3.3.3')
  t.equal(forwardedAddress('1.1.1.1, 2.2.2.2, 3.3.3.3', 2), '2.2.2.2')
  t.equal(forwardedAddress('1.1.1.1', 5), '1.1.1.1')
  t.equal(forwardedAddress('2.2.2.2, evil', 1), '', 'no address')
  const { say, port } = await open(t, { trustProxy: 1 })
  const told = (header: string) =>
    ask(port, { path: '/who', key: dev, headers: { 'x-forwarded-for': header } })
  t.match((await told('6.6.6.6, 5.6.7.8')).json.data, { ip: '5.6.7.8' })
  t.match((await told('<script>')).json.data, { ip: '127.0.0.1' })
  t.match((await ask(port, { path: '/who', key: dev })).json.data, { ip: '127.0.0.1' })
  const lines = `X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 5.6.7.8\r\nX-Service-Api-Key: ${dev}`
  t.match(
    (await say(`GET /who HTTP/1.1\r\nHost: h\r\n${lines}\r\n\r\n`)).text,
    /"ip":"5\.6\.7\.8"/,
    'the last line',
  )
})

t.test('security 22 what is no UTF-8 is 400', async t => {
  const { port } = await open(t)
  const send = (body: Buffer) => ask(port, { method: 'POST', path: '/check', key: dev, body })
  for (const bytes of ['"\xff\xfe"', '"\xc0\xaf"', '"\xed\xa0\x80"'])
    t.match(await send(Buffer.from(bytes, 'latin1')), { status: 400, json: { error: /UTF-8/ } })
  t.equal((await send(Buffer.from('"\ufffd ü"'))).status, 200, 'U+FFFD itself is text')
  for (const path of ['/who/%ff', '/who/%c0%af', '/who?name=%ff'])
    t.equal((await ask(port, { path, key: dev })).status, path.includes('?') ? 200 : 400, path)
})

t.test(
  'security 27 pages of the origins that are set read what a publishable key opens, and nothing else',
  async t => {
    const { port } = await open(t, { corsOrigins: ['https://app.example'] })
    const allowed = async (method: string, path: string, origin: string) =>
      (
        await ask(port, {
          method,
          path,
          key: dev,
          headers: { origin },
          ...(method === 'POST' && { body: '1' }),
        })
      ).headers['access-control-allow-origin']
    t.equal(await allowed('POST', '/check', 'https://app.example'), 'https://app.example')
    t.equal(await allowed('POST', '/check', 'https://evil.example'), undefined)
    t.equal(await allowed('OPTIONS', '/check', 'https://app.example'), 'https://app.example')
    t.equal(await allowed('OPTIONS', '/check', 'https://evil.example'), undefined)
    t.equal(await allowed('GET', '/who', 'https://app.example'), undefined)
    t.equal(await allowed('OPTIONS', '/who', 'https://app.example'), undefined)
    const { port: any } = await open(t)
    const { headers } = await ask(any, { method: 'POST', path: '/check', key: dev, body: '1' })
    t.equal(headers['access-control-allow-origin'], '*', 'any, unless they are set')
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'])
      t.ok(String(headers['access-control-expose-headers']).includes(name), `AL-42 exposes ${name}`)
  },
)

t.test('security 28 no answer is guessed at or kept', async t => {
  const { port } = await open(t)
  for (const [method, path] of [
    ['POST', '/check'],
    ['GET', '/who'],
    ['GET', '/nope'],
    ['GET', '/health/live'],
    ['GET', '/metrics'],
    ['OPTIONS', '/check'],
  ] as const) {
    const { headers } = await ask(port, { method, path, key: dev, ...(method === 'POST' && { body: '1' }) })
    t.match(
      headers,
      { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      `${method} ${path}`,
    )
  }
})

t.test('security 16 the figures: for holders of the token, made once a second, in little time', async t => {
  const { port, metrics } = await open(t, { metricsToken: 'a token' })
  t.equal((await ask(port, { path: '/metrics' })).status, 401)
  t.equal((await ask(port, { path: '/metrics', headers: { authorization: 'Bearer other' } })).status, 401)
  const headers = { authorization: 'Bearer a token' }
  let made = 0
  const { text } = metrics
  Object.assign(metrics, {
    text: () => {
      made++
      return text()
    },
  })
  for (let n = 0; n < 20; n++) t.equal((await ask(port, { path: '/metrics', headers })).status, 200)
  t.ok(made <= 2, 'made once, or twice where a second passed meanwhile')
})

t.test('security 33 whether a request is traced is for callers to say whose key is known', async t => {
  const parents: string[] = []
  const kept = { kept: false, id: '', end() {} }
  const tracing = {
    request: (_label: string, _attributes: object, traceparent: string) => {
      parents.push(traceparent)
      return kept
    },
  }
  const { port } = await open(t, { stages: tracedStages(tracing as unknown as Tracing) })
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  await ask(port, { path: '/who', headers })
  await ask(port, { path: '/who', key: 'sk_dev_nobody', headers })
  await ask(port, { path: '/who', key: dev, headers })
  t.same(parents, ['', '', headers.traceparent])
})

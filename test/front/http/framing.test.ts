// A law: every bad framing × every path and upgrade × key is refused, the connection is closed, and nothing behind the
// request is answered (security M1). Raw sockets: no client sends this.
import t from 'tap'
import { get, post, type Route } from '../../../src/front/http/routing/route.js'
import type { Call, Handler, RawBody } from '../../../src/kit/call.js'
import { dial, hear, secretOf, serverOfTests, start } from './make.js'

const length: Handler<RawBody> = (call: Call<RawBody>) => ({ data: call.body.text().length })
const rows: readonly Route[] = [
  post('/check', { scope: 'check', limit: 'check', raw: 'one', environment: 'optional', handle: length }),
  get('/who/:name', { scope: 'any', environment: 'optional', handle: () => ({ data: null }) }),
]

const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const targets: readonly (readonly [method: string, path: string, lines?: readonly string[]])[] = [
  ['POST', '/check'],
  ['GET', '/who/me'],
  ['HEAD', '/who/me'],
  ['GET', '/health/live'],
  ['GET', '/health/ready'],
  ['GET', '/metrics'],
  ['GET', '/docs'],
  ['GET', '/docs/'],
  ['GET', '/docs/start.js'],
  ['GET', '/docs/swagger-ui-bundle.js'],
  ['GET', '/openapi.json'],
  ['GET', '/console'],
  ['GET', '/console/'],
  ['GET', '/console/session'],
  ['POST', '/console/session'],
  ['GET', '/console/api/companies'],
  ['GET', '/console/datastream', upgrade],
  ['GET', '/datastream'],
  ['GET', '/datastream', upgrade],
  ['GET', '/health/live', upgrade],
  ['POST', '/check', upgrade],
  ['OPTIONS', '/check'],
  ['OPTIONS', '/nope'],
  ['DELETE', '/metrics'],
  ['GET', '/nope'],
]

const chunked = '2\r\n{}\r\n0\r\n\r\n'
const framings: readonly (readonly [body: string, ...lines: readonly string[]])[] = [
  ['{}', 'Content-Length: 2', 'Content-Length: 60'],
  ['{}', 'Content-Length: 2', 'Content-Length: 2'],
  ['', 'Content-Length: 0', 'Content-Length: 40'],
  ['{}', 'Content-Length: 2, 2'],
  ['{}', 'Content-Length: +2'],
  ['{}', 'Content-Length: 0x2'],
  ['{}', 'Content-Length: 2', 'Host: other'],
  [chunked, 'Transfer-Encoding: xchunked'],
  [chunked, 'Transfer-Encoding: identity'],
  [chunked, 'Transfer-Encoding: gzip, chunked'],
  [chunked, 'Transfer-Encoding: chunked, identity'],
  [chunked, 'Transfer-Encoding: "chunked"'],
  [chunked, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  [chunked, 'Transfer-Encoding: chunked', 'Content-Length: 4'],
  [chunked, 'Content-Length: 4', 'Transfer-Encoding: chunked'],
  [chunked, 'Content-Length: 2', 'Transfer-Encoding: xchunked'],
]

const smuggled = 'GET /health/live HTTP/1.1\r\nHost: h\r\nX-Smuggled: 1\r\n\r\n'

t.test(`security M1 no bad framing passes any path or upgrade (${serverOfTests})`, async t => {
  const { server, port } = await start(rows)
  t.teardown(() => server.close())
  const say = async (...parts: readonly string[]) => {
    const socket = await dial(port)
    socket.on('error', () => {})
    for (const part of parts) {
      socket.write(part)
      if (parts.length > 1) await new Promise(resolve => setTimeout(resolve, 10))
    }
    const heard = await hear(socket, 3_000)
    socket.destroy()
    return { ...heard, statuses: [...heard.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(one => Number(one[1])) }
  }
  for (const [method, path, own = []] of targets)
    await Promise.all(
      ['', secretOf.development].flatMap(key =>
        framings.flatMap(([body, ...lines]) => {
          const fields = ['Host: h', ...own, ...(key === '' ? [] : [`X-Service-Api-Key: ${key}`]), ...lines]
          const head = `${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`
          return [[head + body + smuggled], [head + body, smuggled]].map(async parts => {
            const { statuses, closed, text } = await say(...parts)
            const what = `${method} ${path} ${own.length > 0 ? 'upgrade ' : ''}${lines.join(', ')} in ${parts.length}`
            // the native server may add its own refusal of what follows
            t.ok(statuses.length > 0 && statuses.every(status => status === 400), `${what}: ${statuses}`)
            t.ok(closed, `${what}: closed`)
            t.notMatch(text, /"live"/, what)
          })
        }),
      ),
    )
})

t.test('security M1 a handshake that is refused is the last of its connection', async t => {
  const { server, port } = await start(rows)
  t.teardown(() => server.close())
  for (const more of [[], ['Content-Length: 4']]) {
    const socket = await dial(port)
    socket.write(
      `GET /datastream HTTP/1.1\r\n${['Host: h', ...upgrade, ...more].join('\r\n')}\r\n\r\n${smuggled}`,
    )
    const { text, closed } = await hear(socket, 3_000)
    // the native server may close it unanswered, as with any request that others follow
    t.match(text, /^(HTTP\/1\.1 40[01]|$)/)
    t.ok(closed)
    t.notMatch(text, /HTTP\/1\.1 [23]/)
    t.notMatch(text, /"live"/)
  }
})

// security L4: a body that comes a byte now and then does not keep a connection, on either server, with a key or without, on a
// route that takes a body or not, answered or not; security L9: a line of a head that is none is never part of a request.
import type { Socket } from 'node:net'
import t from 'tap'
import { chooseServer } from '../../../src/front/http/apps/native.js'
import { get, post } from '../../../src/front/http/routing/route.js'
import type { Call, RawBody } from '../../../src/kit/call.js'
import { ask, dial, hear, secretOf, serverOfTests, start } from './make.js'

t.setTimeout(120_000)

const { server, port } = await start([
  post('/length', {
    scope: 'capture',
    raw: 'one',
    environment: 'optional',
    handle: (call: Call<RawBody>) => ({ data: call.body.text().length }),
  }),
  get('/who', { scope: 'any', environment: 'optional', handle: () => ({ data: null }) }),
])
t.teardown(() => server.close())
/** Resolves when a connection is closed, in whatever way. */
const closedOf = (socket: Socket) => new Promise(resolve => socket.once('close', resolve))
const key = `X-Service-Api-Key: ${secretOf.development}`

t.test(`L4 slow bodies are cut (${serverOfTests})`, async t => {
  const heads = [
    ['with a key', 'POST /length', key, 'Content-Length: 1000'],
    ['without a key', 'POST /length', 'Content-Length: 1000'],
    ['in chunks', 'POST /length', key, 'Transfer-Encoding: chunked'],
    ['on a route that takes none', 'GET /who', key, 'Content-Length: 1000'],
    ['on a path that is none', 'POST /nope', key, 'Content-Length: 1000'],
  ] as const
  await Promise.all(
    heads.map(async ([what, line, ...lines]) => {
      const socket = await dial(port)
      socket.on('error', () => {})
      socket.resume()
      socket.write(`${line} HTTP/1.1\r\nHost: h\r\n${lines.join('\r\n')}\r\n\r\n`)
      const piece = what === 'in chunks' ? '1\r\nx\r\n' : 'x'
      const timer = setInterval(() => socket.write(piece), 500)
      await closedOf(socket)
      clearInterval(timer)
      t.pass(what)
    }),
  )
})

t.test('a body that comes fast enough is taken whole, however long it takes', async t => {
  const socket = await dial(port)
  const bytes = 900_000
  socket.write(`POST /length HTTP/1.1\r\nHost: h\r\n${key}\r\nContent-Length: ${bytes}\r\n\r\n`)
  for (let sent = 0; sent < bytes; sent += 75_000) {
    socket.write('x'.repeat(75_000))
    await new Promise(resolve => setTimeout(resolve, 1_000))
  }
  t.match((await hear(socket, 1_000)).text, /^HTTP\/1.1 200 OK.*900000/s)
  socket.destroy()
})

t.test('L9 a head with a line that is none is refused or cut, and nothing behind it is answered', async t => {
  const bad = [
    'no colon at all',
    'X-A : space',
    ' folded: first',
    'X-A: a\r\n folded',
    'X-A: a\r\n\tfolded',
    'X A: blank',
    // the native server ends its list of headers at a name of no letters, and takes the rest of the head as it is
    ...(chooseServer(serverOfTests).native ? [] : [': no name']),
  ]
  await Promise.all(
    bad.map(async line => {
      const socket = await dial(port)
      socket.on('error', () => {})
      const closed = closedOf(socket)
      let text = ''
      socket.on('data', piece => {
        text += piece
      })
      socket.write(
        `GET /who HTTP/1.1\r\nHost: h\r\n${key}\r\n${line}\r\n\r\nGET /health/live HTTP/1.1\r\nHost: h\r\nX-Smuggled: 1\r\n\r\n`,
      )
      await closed
      t.notMatch(text, /HTTP\/1.1 2/, JSON.stringify(line))
    }),
  )
  t.equal((await ask(port, { path: '/who', key: secretOf.development })).status, 200, 'the server goes on')
})

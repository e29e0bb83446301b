// security H1: a caller that does not read its answer is cut, on either server: what waits for it is memory.
import { once } from 'node:events'
import t from 'tap'
import { get } from '../../../src/front/http/routing/route.js'
import { dial, secretOf, serverOfTests, start } from './make.js'

t.setTimeout(120_000)

const text = 'x'.repeat(12_000_000)
const { server, port } = await start([
  get('/long', { scope: 'any', environment: 'optional', handle: () => ({ data: text }) }),
])
t.teardown(() => server.close())

t.test(`an answer that is not read cuts its connection (${serverOfTests})`, async t => {
  const socket = await dial(port)
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET /long HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${secretOf.development}\r\n\r\n`)
  // Longer than the server waits for a reader: Node looks twice, 10 s apart, where the system has taken a part of the answer.
  await new Promise(resolve => setTimeout(resolve, serverOfTests === 'uws' ? 16_000 : 26_000))
  let bytes = 0
  socket.on('data', piece => {
    bytes += piece.length
  })
  const closed = once(socket, 'close')
  socket.resume()
  const first = await Promise.race([
    closed.then(() => 'closed'),
    new Promise(resolve => setTimeout(resolve, 5_000)),
  ])
  t.equal(first, 'closed')
  t.ok(bytes < text.length, `${bytes} bytes came`)
})

t.test('an answer that is read slowly, but steadily, comes whole', async t => {
  const socket = await dial(port)
  let bytes = 0
  socket.on('data', piece => {
    bytes += piece.length
    socket.pause()
    setTimeout(() => socket.resume(), 20)
  })
  socket.write(`GET /long HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${secretOf.development}\r\n\r\n`)
  const endMs = performance.now() + 60_000
  while (bytes < text.length && performance.now() < endMs)
    await new Promise(resolve => setTimeout(resolve, 50))
  t.ok(bytes >= text.length, `${bytes} bytes came`)
  socket.destroy()
})

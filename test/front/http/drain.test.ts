// Stopping: what is in flight is answered, then everything is closed.
import { Agent } from 'node:http'
import t from 'tap'
import { get } from '../../../src/front/http/routing/route.js'
import type { Handler } from '../../../src/kit/call.js'
import { ask, dial, hear, secretOf, start } from './make.js'

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
let entered = 0
const slow: Handler = async call => {
  entered++
  // what nobody waits for any more holds up no end of the tests
  await new Promise(resolve => setTimeout(resolve, Number(call.params.ms)).unref())
  return { data: 'done' }
}
const largeLength = 15_000_000
const large: Handler = () => ({ data: 'é'.repeat(largeLength) })
const largeBytes: Handler = () => ({ bytes: Buffer.from(`{"data":"${'é'.repeat(largeLength)}"}`) })
const routes = [
  get('/slow/:ms', { scope: 'read', handle: slow }),
  get('/large', { scope: 'read', handle: large }),
  get('/large-bytes', { scope: 'read', handle: largeBytes }),
]
const key = secretOf.development

t.test('requests in flight are answered, idle connections closed, new ones refused', async t => {
  const { server, port } = await start(routes)
  const idle = await dial(port)
  const agent = new Agent({ keepAlive: true })
  const flying = Array.from({ length: 20 }, (_, i) =>
    ask(port, { path: `/slow/${400 + i * 10}`, key, agent }),
  )
  while (entered < flying.length) await pause(5)
  const closing = server.close()
  t.notOk(server.serving)
  await t.rejects(ask(port, { path: '/slow/1', key }))
  for (const { status, headers } of await Promise.all(flying)) {
    t.equal(status, 200)
    t.equal(headers.connection, 'close')
  }
  await closing
  t.ok((await hear(idle)).closed)
  await server.close()
})

t.test('under load every request is answered or never accepted', async t => {
  const { server, port } = await start(routes)
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let answered = 0
  let refused = 0
  let stopping = false
  const worker = async () => {
    while (refused < 64) {
      try {
        const { status } = await ask(port, { path: '/slow/2', key, agent })
        if (status === 200) answered++
      } catch {
        if (!stopping) t.fail('refused before the stop')
        refused++
      }
    }
  }
  const workers = Array.from({ length: 16 }, worker)
  while (answered < 100) await pause(5)
  stopping = true
  await server.close()
  await Promise.all(workers)
  t.ok(answered > 0, `${answered} answered`)
  agent.destroy()
})

for (const path of ['/large', '/large-bytes'])
  t.test(`a large answer on its way to a slow reader is not cut: ${path}`, async t => {
    const { server, port } = await start(routes, { drainMs: 10_000 })
    const socket = await dial(port)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-Service-Api-Key: ${key}\r\n\r\n`)
    // its first bytes are here, the rest waits for a reader
    await new Promise<void>(resolve => socket.once('readable', () => resolve()))
    const closing = server.close()
    await pause(600)
    socket.resume()
    const { text } = await hear(socket, 2_000)
    const [head, body] = text.split('\r\n\r\n')
    t.match(head, `Content-Length: ${Buffer.byteLength(body ?? '')}`)
    t.equal(JSON.parse(body ?? '{}').data, 'é'.repeat(largeLength))
    await closing
  })

t.test('a reader of a large answer who leaves does not hold up a stop', async t => {
  // longer than the test may take
  const { server, port } = await start(routes, { drainMs: 3_600_000 })
  const socket = await dial(port)
  socket.write(`GET /large HTTP/1.1\r\nHost: a\r\nX-Service-Api-Key: ${key}\r\n\r\n`)
  // its first bytes are here, the rest waits for a reader
  await new Promise<void>(resolve => socket.once('readable', () => resolve()))
  const closing = server.close()
  socket.destroy()
  await closing
  t.notOk(server.serving, 'the stop came to its end')
})

t.test('a large answer on a connection that goes on', async t => {
  const { server, port } = await start(routes)
  t.teardown(() => server.close())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (const path of ['/large', '/slow/1', '/large', '/slow/1']) {
    t.equal((await ask(port, { path, key, agent })).status, 200)
  }
  agent.destroy()
})

t.test('a stop does not wait longer than it may', async t => {
  const { server, port } = await start(routes, { drainMs: 100 })
  const before = entered
  const hanging = ask(port, { path: '/slow/3600000', key })
  hanging.catch(() => {})
  while (entered === before) await pause(5)
  await server.close()
  await t.rejects(hanging)
})

// Stopping: what is in flight is answered, then everything is closed.
import { Agent } from 'node:http'
import t from 'tap'
import type { Handler } from '../../src/api/call.js'
import { get } from '../../src/http/route.js'
import { ask, dial, hear, secretOf, start } from './make.js'

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
let entered = 0
const slow: Handler = async call => {
  entered++
  await pause(Number(call.params.ms))
  return { data: 'done' }
}
const large: Handler = () => ({ data: 'x'.repeat(5_000_000) })
const routes = [
  get('/slow/:ms', { scope: 'read', handle: slow }),
  get('/large', { scope: 'read', handle: large }),
]
const key = secretOf.development

t.test('requests in flight are answered, idle connections closed, new ones refused', async t => {
  const { server, port } = await start(routes)
  const idle = await dial(port)
  const agent = new Agent({ keepAlive: true })
  const flying = Array.from({ length: 20 }, (_, i) => ask(port, { path: `/slow/${50 + i * 10}`, key, agent }))
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
  await pause(200)
  stopping = true
  await server.close()
  await Promise.all(workers)
  t.ok(answered > 100, `${answered} answered`)
  agent.destroy()
})

t.test('a large answer on its way is not cut', async t => {
  const { server, port } = await start(routes)
  const socket = await dial(port)
  socket.pause()
  socket.write(`GET /large HTTP/1.1\r\nHost: a\r\nX-Service-Api-Key: ${key}\r\n\r\n`)
  await pause(50)
  const closing = server.close()
  socket.resume()
  const { text } = await hear(socket, 500)
  t.ok(text.length > 5_000_000, `${text.length} of 5000000`)
  await closing
})

t.test('a stop does not wait longer than it may', async t => {
  const { server, port } = await start(routes, { drainMs: 100 })
  const hanging = ask(port, { path: '/slow/2000', key })
  hanging.catch(() => {})
  await pause(100)
  const started = Date.now()
  await server.close()
  t.ok(Date.now() - started < 1_000)
  await t.rejects(hanging)
})

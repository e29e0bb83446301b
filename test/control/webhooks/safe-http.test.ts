// Calls to webhooks end, whatever the endpoint and the garbage collector do.
import dns from 'node:dns/promises'
import { setMaxListeners } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import os from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { deliver, urlProblem } from '../../../src/control/webhooks/safe-http.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('security 23: an own public address is closed however it is spelled', async t => {
  const { networkInterfaces } = os
  const address = { netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null } as const
  const { now } = performance
  os.networkInterfaces = () => ({ eth0: [{ ...address, address: '8.8.4.4' }] })
  syncBuiltinESMExports()
  // the list of own addresses is read once a minute, and another file of this process may have read it
  performance.now = () => now.call(performance) + 120_000
  t.teardown(() => {
    performance.now = now
    os.networkInterfaces = networkInterfaces
    syncBuiltinESMExports()
  })
  for (const host of ['8.8.4.4', '134743044', '[::ffff:8.8.4.4]', '[::FFFF:808:404]'])
    t.equal(urlProblem(`http://${host}/`, false), 'names a private address', host)
  t.equal(urlProblem('http://[::ffff:8.8.4.5]/', false), null)
})

t.test('security 23: a port of another protocol is no endpoint', async t => {
  const said = 'names a port of another protocol'
  for (const port of [0, 22, 23, 25, 53, 110, 143, 465, 587, 993, 2049, 6000, 6667])
    for (const scheme of ['http', 'https'])
      t.equal(urlProblem(`${scheme}://hooks.example.com:${port}/`, false), said, `${scheme} ${port}`)
  for (const port of [80, 443, 3000, 5000, 8000, 8080, 8443, 9000, 49_152, 65_535])
    t.equal(urlProblem(`https://hooks.example.com:${port}/`, false), null, String(port))
  t.equal(urlProblem('https://hooks.example.com/', false), null)
  t.equal(urlProblem('http://127.0.0.1:9/', true), null, 'where private addresses are open, ports are too')
})

t.test('security 12: a name that nobody waits for any more is not looked up', async t => {
  const { lookup, Resolver } = dns
  const unknown = async () => {
    throw new Error('unknown')
  }
  const asked: string[] = []
  let answer = () => {}
  dns.Resolver = class {
    resolve4 = unknown
    resolve6 = unknown
    cancel() {}
  } as never
  dns.lookup = ((host: string) => {
    asked.push(host)
    return new Promise((_, reject) => {
      answer = () => reject(new Error('unknown'))
    })
  }) as never
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(dns, { lookup, Resolver })
    syncBuiltinESMExports()
  })
  const call = (host: string) =>
    deliver(
      {
        url: `http://${host}/`,
        secret: 'whsec_c2VjcmV0',
        previous_secret: null,
        previous_secret_until: null,
      },
      { id: 'whev_1', payload: '{}' },
      { privateAddresses: true, nowMs: 0, signal: new AbortController().signal, timeoutMs: 50 },
    )
  await Promise.all(['a.example', 'b.example', 'c.example'].map(call))
  t.same(asked, ['a.example'], 'one at a time')
  answer()
  await call('d.example')
  t.same(asked, ['a.example', 'd.example'])
})

t.test('security 12: a call without an answer ends at its timeout, also after a collection', async t => {
  const server = createServer(() => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const endpoint = {
    url: `http://127.0.0.1:${port}/`,
    secret: 'whsec_c2VjcmV0',
    previous_secret: null,
    previous_secret_until: null,
  }
  const stop = new AbortController()
  setMaxListeners(50, stop.signal)
  const call = (timeoutMs: number) =>
    deliver(
      endpoint,
      { id: 'whev_1', payload: '{}' },
      { privateAddresses: true, nowMs: 0, signal: stop.signal, timeoutMs },
    )
  const arrived = new Promise(resolve => server.once('request', resolve))
  const silent = Array.from({ length: 20 }, () => call(1_000))
  await arrived
  collect()
  for (const { status, reason } of await Promise.all(silent)) {
    t.equal(status, null)
    t.match(reason, /no answer/)
  }
  const stopped = call(600_000)
  stop.abort()
  t.match(await stopped, { status: null, reason: 'stopped' })
  t.match(await call(600_000), { status: null, reason: 'stopped' }, 'nothing leaves after the stop')
})

t.test('security 12: an answer that changes the protocol ends the call', async t => {
  const server = createTcpServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const outcome = await deliver(
    {
      url: `http://127.0.0.1:${port}/`,
      secret: 'whsec_c2VjcmV0',
      previous_secret: null,
      previous_secret_until: null,
    },
    { id: 'whev_1', payload: '{}' },
    { privateAddresses: true, nowMs: 0, signal: new AbortController().signal, timeoutMs: 5_000 },
  )
  t.same(outcome, { status: 101, reason: null })
})

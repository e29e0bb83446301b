// security H7: connections are bounded, in total and by address, on either server: each is a file handle, and a process without
// any can open no journal and start no thread.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { WebSocket } from 'ws'
import { type Bound, Connections } from '../../../src/front/http/apps/connections.js'
import { openApp } from '../../../src/front/http/apps/open-app.js'
import { countOf } from '../../../src/front/http/apps/system-connections.js'
import { ask, hear, serverOfTests, start } from './make.js'

t.setTimeout(60_000)

/** A silent connection from an address. */
async function dialFrom(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** How many of so many new connections stay open; those that do. */
async function opened(port: number, count: number, address: string): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => dialFrom(port, address)))
  const taken = await Promise.all(sockets.map(isTaken))
  return sockets.filter((_, place) => taken[place])
}

const request = 'GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n'

/** Whether a request is answered, and the connection not closed. */
function isTaken(socket: Socket): Promise<boolean> {
  socket.write(request)
  return new Promise(resolve => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

async function answers(socket: Socket): Promise<boolean> {
  socket.write(request)
  return (await hear(socket)).text.includes('200 OK')
}

async function close(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy()
  // until the server has seen it
  await wait(500)
}

t.test(
  `security: connections beyond the bound are closed, those within go on (${serverOfTests})`,
  async t => {
    const bounds = { total: 4, perAddress: Number.POSITIVE_INFINITY }
    const { server, port, metrics } = await start([], { connections: bounds })
    t.teardown(() => server.close())
    const held = await opened(port, 10, '127.0.0.2')
    t.equal(held.length, 4)
    t.equal(metrics.connectionsRefused.total.count, 6)
    t.equal((await opened(port, 3, '127.0.0.3')).length, 0, 'from wherever they come')
    for (const socket of held) t.ok(await answers(socket), 'it is answered')
    await close(held.slice(0, 2))
    const more = await opened(port, 5, '127.0.0.3')
    t.equal(more.length, 2, 'as many as were closed')
    for (const socket of more) t.ok(await answers(socket))
    await close([...held, ...more])
    t.equal((await ask(port, { path: '/health/live' })).status, 200)
  },
)

t.test('security: one address has a part of the connections', async t => {
  const { server, port, metrics } = await start([], { connections: { total: 10, perAddress: 3 } })
  t.teardown(() => server.close())
  const held = await opened(port, 8, '127.0.0.2')
  t.equal(held.length, 3)
  t.equal(metrics.connectionsRefused.address.count, 5)
  const others = await opened(port, 2, '127.0.0.3')
  t.equal(others.length, 2, 'another address finds room')
  for (const socket of [...held, ...others]) t.ok(await answers(socket), 'it is answered')
  await close([held[0]!])
  const again = await opened(port, 1, '127.0.0.2')
  t.equal(again.length, 1, 'one that was closed makes room')
  const beyond = await opened(port, 1, '127.0.0.2')
  t.ok(serverOfTests === 'uws' || beyond.length === 0)
  await close([...beyond, ...again, ...held, ...others])
  // on the native server the system is asked again a second after it was asked last
  let free = await opened(port, 3, '127.0.0.2')
  for (let tries = 0; free.length < 3 && tries < 10; tries++) {
    await close(free)
    free = await opened(port, 3, '127.0.0.2')
  }
  t.equal(free.length, 3, 'when all were closed')
})

t.test('security: a connection that sends nothing is closed after ten seconds', async t => {
  const { server, port } = await start([])
  t.teardown(() => server.close())
  const [silent, heard] = await Promise.all([dialFrom(port, '127.0.0.2'), dialFrom(port, '127.0.0.2')])
  await wait(7_000)
  t.ok(await answers(heard))
  silent.resume()
  await once(silent, 'close')
  t.notOk(heard.closed, 'ten seconds begin anew with each answer')
  heard.destroy()
})

t.test('security: a WebSocket counts until it is closed', async t => {
  const { app } = await openApp(serverOfTests, { total: 2, perAddress: 2, threads: 1, refused: () => {} })
  t.teardown(() => app.close())
  const listener = { opened: () => {}, received: () => {}, drained: () => {}, closed: () => {} }
  app.socket('/ws', {
    frameBytesMax: 100,
    upgrade: (res, _, accept) => {
      res.onAborted(() => {})
      accept(listener, '')
    },
  })
  app.on('any', '/*', res => res.end())
  const port = await app.listen('127.0.0.1', 0, false)
  for (let round = 0; round < 4; round++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
    await once(socket, 'open')
    const beside = await opened(port, 2, '127.0.0.1')
    t.equal(beside.length, 1, 'it has the place of a connection')
    socket.close()
    await once(socket, 'close')
    await close(beside)
  }
})

t.test('where the server does not tell whose connection has closed', async t => {
  const refused: Bound[] = []
  let held = new Map([['127.0.0.2', 2]])
  let recounts = 0
  const connections = new Connections(
    { total: 100, perAddress: 4, threads: 2, refused: bound => void refused.push(bound) },
    async () => {
      recounts++
      return held
    },
  )
  t.ok(connections.came('127.0.0.2'))
  t.ok(connections.came('127.0.0.2'))
  t.notOk(connections.came('127.0.0.2'), 'two are the share of a thread')
  t.equal(recounts, 0, 'as none was closed, that is certain')
  t.ok(connections.came('127.0.0.3'))
  connections.left(null)
  t.ok(connections.came('127.0.0.2'), 'it may have been one of these')
  await wait(10)
  t.equal(recounts, 1)
  t.ok(connections.came('127.0.0.2'), 'the system counts two, one of each thread')
  t.notOk(connections.came('127.0.0.2'))
  held = new Map([['127.0.0.2', 8]])
  connections.left(null)
  t.notOk(connections.came('127.0.0.2'), 'after a recount what is open stays closed until the next')
  t.equal(recounts, 1, 'which comes after a pause')
  await wait(1_100)
  t.notOk(connections.came('127.0.0.2'))
  await wait(10)
  t.equal(recounts, 2)
  t.same(refused, ['address', 'address', 'address', 'address'])
})

t.test('a recount that ends after all connections have closed is of none of them', async t => {
  let told = (_: ReadonlyMap<string, number>): void => {}
  const connections = new Connections(
    { total: 100, perAddress: 2, threads: 1, refused: () => {} },
    () => new Promise(resolve => (told = resolve)),
  )
  t.ok(connections.came('127.0.0.2'))
  t.ok(connections.came('127.0.0.2'))
  t.ok(connections.came('127.0.0.3'))
  connections.left(null)
  t.ok(connections.came('127.0.0.2'), 'the system is asked')
  for (let n = 0; n < 3; n++) connections.left(null)
  told(new Map([['127.0.0.2', 2]]))
  await wait(1)
  t.ok(connections.came('127.0.0.2'))
})

t.test('networks of IPv6 count as one address, however the server writes them', async t => {
  const connections = new Connections({ total: 100, perAddress: 2, threads: 1, refused: () => {} })
  t.ok(connections.came('2001:db8::1'))
  t.ok(connections.came('2001:0db8:0000:0000:0000:0000:0000:0002'))
  t.notOk(connections.came('2001:db8::3'))
  t.ok(connections.came('2001:db8:0:1::3'))
})

t.test('the list of the system', async t => {
  const lists = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1018 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 1
   1: 0100007F:1018 0200007F:9C40 01 00000000:00000000 00:00000000 00000000  0  0 2
   2: 0100007F:1018 0200007F:9C41 08 00000000:00000000 00:00000000 00000000  0  0 3
   3: 0100007F:1018 0200007F:9C42 06 00000000:00000000 00:00000000 00000000  0  0 4
   4: 0200007F:9C40 0100007F:1018 01 00000000:00000000 00:00000000 00000000  0  0 5
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000001000000:1018 B80D0120000000000000000001000000:9C40 01 00000000:00000000 00:00000000 00000000  0  0 6
   1: 0000000000000000FFFF00000100007F:1018 0000000000000000FFFF00000200007F:9C40 01 00000000:00000000 00:00000000 00000000  0  0 7
`
  t.same(
    [...countOf(lists, 0x1018)],
    [
      ['127.0.0.2', 3],
      ['2001:db8:0:0', 1],
    ],
  )
})

// Every request tells the address of its own peer, whoever else is connected.

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import t from 'tap'
import { get } from '../../../../src/front/http/routing/route.js'
import type { Handler } from '../../../../src/kit/call.js'
import { secretOf, start } from '../make.js'

const who: Handler = call => ({ data: call.remoteIp })

t.test('addresses of peers that come and go', async t => {
  const { server, port } = await start([get('/who', { scope: 'any', environment: 'optional', handle: who })])
  t.teardown(() => server.close())

  /** A peer with this address, and what it is told that it is; its connection stays open. */
  const peer = (localAddress: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const told = async (): Promise<string> => {
      const headers = { 'x-service-api-key': secretOf.development }
      const asked = request({ host: '127.0.0.1', port, path: '/who', agent, localAddress, headers }).end()
      const [answer] = await once(asked, 'response')
      let text = ''
      for await (const piece of answer) text += piece
      return JSON.parse(text).data
    }
    /** Close the connection, until it is closed. */
    const leave = async () => {
      const open = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? [])
      const closed = open.map(socket => once(socket, 'close'))
      agent.destroy()
      await Promise.all(closed)
    }
    return { told, leave }
  }
  const first = peer('127.0.0.1')
  const second = peer('127.0.0.2')
  t.equal(await first.told(), '127.0.0.1')
  t.equal(await second.told(), '127.0.0.2')
  t.same(await Promise.all([first.told(), second.told()]), ['127.0.0.1', '127.0.0.2'])
  await first.leave()
  t.equal(await second.told(), '127.0.0.2')
  await second.leave()
  const third = peer('127.0.0.3')
  t.equal(await third.told(), '127.0.0.3', 'alone, after everybody has left')
  t.equal(await first.told(), '127.0.0.1', 'come back')
  for (const one of [first, third]) await one.leave()
})

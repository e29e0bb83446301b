// Bodies that take long leave room for others in between, in the server that hears them.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ServiceError } from '../../../../src/errors.js'
import { LongBodies } from '../../../../src/front/http/request/long-bodies.js'
import { ReplyStage } from '../../../../src/front/http/request/reply.js'
import { plainStages } from '../../../../src/front/http/request/stages.js'
import { get, post } from '../../../../src/front/http/routing/route.js'
import { Deferred, type Handler, type RawBody } from '../../../../src/kit/call.js'
import { dial, hear, secretOf, start } from '../make.js'

const dev = secretOf.development

t.test('in the order they came, a few a turn', async t => {
  const bodies = new LongBodies()
  const done: string[] = []
  const turns: string[][] = []
  const work = (name: string) => () => void done.push(name)
  for (const name of ['a', 'b', 'c', 'd']) bodies.add(20_000, work(name))
  bodies.add(1_000_000, work('e'))
  bodies.add(1, () => {
    done.push('f')
    bodies.add(1, work('g'))
  })
  t.strictSame(done, [], 'none at once')
  while (done.length < 7 && turns.length < 20) {
    await new Promise(setImmediate)
    turns.push([...done])
  }
  t.strictSame(done, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  const sizes = turns.map(turn => turn.length)
  const steps = sizes.map((size, i) => size - (sizes[i - 1] ?? 0)).filter(step => step > 0)
  t.strictSame(steps, [2, 2, 1, 2], '48 KiB or one body a turn')
})

const turn = () => new Promise(setImmediate)

t.test('checks that went to their shards are answered first', async t => {
  const bodies = new LongBodies(60_000)
  let done = 0
  bodies.checking()
  bodies.checking()
  bodies.add(1, () => void done++)
  await turn()
  bodies.checking() // came later than the turn: it is not waited for
  bodies.checked()
  await turn()
  t.equal(done, 0, 'one of the first two is not answered yet')
  bodies.checked()
  bodies.checked()
  bodies.add(1, () => void done++)
  await turn()
  t.equal(done, 2, 'both in one turn, once')
  await turn()
  t.equal(done, 2)
})

t.test('a check that takes long is not waited for', async t => {
  const bodies = new LongBodies()
  let done = 0
  bodies.checking()
  bodies.add(1, () => void done++)
  while (done === 0) await sleep(1)
  bodies.checked()
  await turn()
  t.equal(done, 1, 'its answer changes nothing any more')
  bodies.add(1, () => void done++)
  await turn()
  t.equal(done, 2, 'nothing is under way')
})

t.test('where there are always checks, long bodies come in turns', async t => {
  const bodies = new LongBodies(60_000)
  let done = 0
  for (let i = 0; i < 4; i++) bodies.add(50_000, () => void done++)
  let turns = 0
  for (; done < 4 && turns < 50; turns++) {
    bodies.checking()
    await turn()
    bodies.checking()
    bodies.checked()
  }
  t.equal(done, 4, `in ${turns} turns`)
})

t.test('a short request waits for one long body, not for all that came with it', async t => {
  const order: string[] = []
  const long: Handler<RawBody> = call => {
    order.push(`${call.body.byteLength}`)
    return { data: null }
  }
  const short: Handler = () => {
    order.push('short')
    return { data: null }
  }
  const { server, port } = await start([
    post('/event-batch', { scope: 'capture', limit: 'ingest', raw: 'batch', status: 201, handle: long }),
    get('/who', { scope: 'read', handle: short }),
  ])
  t.teardown(() => server.close())
  const sockets = await Promise.all(Array.from({ length: 9 }, () => dial(port)))
  const key = `Host: h\r\nX-Service-Api-Key: ${dev}`
  // one request on each, so that the server has accepted them all
  for (const socket of sockets) {
    socket.write(`GET /who HTTP/1.1\r\n${key}\r\n\r\n`)
    await once(socket, 'data')
  }
  order.length = 0
  const answers = sockets.map(socket => hear(socket))
  // all of it lies in the sockets before the server, which shares our loop, reads any
  for (const socket of sockets.slice(0, 8))
    socket.write(`POST /event-batch HTTP/1.1\r\n${key}\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`)
  sockets[8]!.write(`GET /who HTTP/1.1\r\n${key}\r\n\r\n`)
  for (const { text } of await Promise.all(answers)) t.match(text, /^HTTP\/1\.1 20[01] /)
  t.equal(order.length, 9)
  t.ok(order.indexOf('short') <= 1, `the short one was number ${order.indexOf('short') + 1} of 9`)
})

t.test('a caller that left while waiting for a turn leaves nothing behind', async t => {
  const taken: number[] = []
  const long: Handler<RawBody> = call => {
    taken.push(call.body.byteLength)
    // long enough that the next one's caller is gone before its turn
    const untilMs = performance.now() + 50
    while (performance.now() < untilMs);
    return { data: null }
  }
  const { server, port } = await start([
    post('/event-batch', { scope: 'capture', limit: 'ingest', raw: 'batch', status: 201, handle: long }),
  ])
  t.teardown(() => server.close())
  const [stays, leaves] = [await dial(port), await dial(port)]
  const said = (length: number) =>
    `POST /event-batch HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${dev}\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`
  const answer = hear(stays)
  stays.write(said(60_000))
  leaves.write(said(50_000), () => leaves.destroy())
  await once(leaves, 'close')
  t.match((await answer).text, /^HTTP\/1\.1 201 /)
  t.strictSame(taken, [60_000])
})

t.test('a check is under way until it is answered, or its caller leaves', async t => {
  const asked: Deferred[] = []
  const check: Handler = () => {
    asked.push(new Deferred(() => ({ data: null })))
    return asked.at(-1)!
  }
  let bodies!: LongBodies
  class Watched extends ReplyStage {
    constructor(...[incoming, res, headOnly]: ConstructorParameters<typeof ReplyStage>) {
      super(incoming, res, headOnly)
      bodies = incoming.shared.longBodies
    }
  }
  const { server, port } = await start([get('/check', { scope: 'check', limit: 'check', handle: check })], {
    stages: { ...plainStages, Reply: Watched },
  })
  t.teardown(() => server.close())
  const sockets = await Promise.all([dial(port), dial(port), dial(port)])
  for (const socket of sockets)
    socket.write(`GET /check HTTP/1.1\r\nHost: h\r\nX-Service-Api-Key: ${dev}\r\n\r\n`)
  while (asked.length < 3) await turn()
  t.equal(bodies.checks, 3)
  const answers = sockets.map(socket => hear(socket))
  asked[0]!.resolve(null)
  asked[1]!.reject(new ServiceError('starting'))
  const statuses = (await Promise.all(answers)).map(({ text }) => text.slice(9, 12))
  t.strictSame(statuses.sort(), ['', '200', '503'])
  t.equal(bodies.checks, 1)
  for (const socket of sockets) socket.destroy()
  while (bodies.checks > 0) await turn()
  asked[2]!.resolve(null)
  t.equal(bodies.checks, 0, 'once each')
})

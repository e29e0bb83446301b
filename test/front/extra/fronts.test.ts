// Extra fronts without a service behind them: what they pass on, and a front whose code throws.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { MessageChannel } from 'node:worker_threads'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { Directory } from '../../../src/entities/directory/directory.js'
import { type StartThread, startThread } from '../../../src/entities/shards/thread.js'
import { Fronts, type FrontsOptions } from '../../../src/front/extra/fronts.js'
import { FrontMemory } from '../../../src/front/extra/shared-memory.js'
import type { AppResponse } from '../../../src/front/http/apps/app.js'
import { chooseServer } from '../../../src/front/http/apps/native.js'
import { type Passage, PassedApp } from '../../../src/front/http/apps/passed-app.js'
import { sendLarge } from '../../../src/front/http/request/streamed-response.js'
import { monotonicMs } from '../../../src/host/monotonic.js'
import type { KeyFacts } from '../../../src/wire/front-facts.js'
import { noRecords } from '../../../src/wire/record-budget.js'
import { Changes } from '../../../src/wire/version-counters.js'

const skip = chooseServer('auto').native ? false : 'the native server does not load here'
const workerFile = new URL('../../../served/front.js', import.meta.url)

interface World {
  readonly port: number
  readonly memory: FrontMemory
  readonly fronts: Fronts
  readonly log: readonly string[]
  /** A connection that came before the front: the main thread has it. */
  readonly own: Agent
  send(
    path: string,
    body?: Buffer,
    agent?: Agent,
    key?: string,
  ): Promise<{ readonly status: number; readonly body: Buffer }>
}

/** A main thread with some paths, and one front before it. */
async function world(t: Test, more: Partial<FrontsOptions> = {}): Promise<World> {
  const { UwsApp } = await import('../../../src/front/http/apps/uws-app.js')
  const app = new PassedApp(new UwsApp())
  const name = (res: AppResponse) => (res.constructor.name === 'PassedResponse' ? 'passed' : 'own')
  app.on('get', '/who', res => {
    res.onAborted(() => {})
    res.end(name(res))
  })
  app.on('post', '/echo/:what', (res, req) => {
    const pieces: Buffer[] = [Buffer.from(`${name(res)} ${req.getParameter(0)} ${req.getQuery()} `)]
    res.onAborted(() => {})
    res.onData((chunk, isLast) => {
      pieces.push(Buffer.from(chunk.slice(0)))
      // a connection may not take it at once
      if (isLast) sendLarge(res, Buffer.concat(pieces), () => {})
    })
  })
  app.on('get', '/pieces', res => {
    let left = 40
    const piece = Buffer.alloc(65_536, 'x')
    const write = (): boolean => {
      while (left > 0) {
        left--
        if (!res.write(piece)) return false
      }
      res.end('')
      return true
    }
    res.onAborted(() => {})
    res.onWritable(write)
    write()
  })
  app.on('post', '/flags/:key/check', res => {
    res.onAborted(() => {})
    res.onData((_, isLast) => {
      if (isLast) res.writeStatus('200 OK').end('ok')
    })
  })
  app.on('get', '/never', res => res.onAborted(() => {}))
  app.on('any', '/*', res => {
    res.onAborted(() => {})
    res.writeStatus('404 Not Found').end('none')
  })
  app.socket('/echo', {
    frameBytesMax: 1_024,
    upgrade: (res, _req, accept) => {
      res.onAborted(() => {})
      let say: (text: string) => void
      accept(
        {
          opened: socket => {
            say = text => socket.send(Buffer.from(text))
            say('hello')
          },
          received: text => (text === 'end' ? undefined : say(text)),
          drained: () => {},
          closed: () => {},
        },
        '',
      )
    },
  })
  const port = await app.listen('127.0.0.1', 0)
  const memory = new FrontMemory()
  const directory = new Directory()
  directory.lend(memory.hand)
  const log: string[] = []
  const fronts = new Fronts({
    app,
    workerFile,
    count: 1,
    memory,
    names: () => directory.lent,
    shards: { connect: () => null, count: 1, generationOf: () => 1, lodgingOver: () => {} },
    listener: { factsOf: () => null, counted: () => {}, uses: () => {}, used: () => {}, slow: () => {} },
    start: {
      host: '127.0.0.1',
      listenOn: port,
      connections: { total: 1_000, perAddress: 1_000 },
      bodiesBytesMax: 4 << 20,
      answers: true,
      changes: Changes.make(1).memory,
      zeroMs: monotonicMs() - performance.now(),
      floorMs: 0,
      apiKeyHeaders: ['X-Service-Api-Key'],
      environmentHeaders: ['X-Service-Environment-Id'],
      trustProxy: 0,
      corsOrigins: null,
      slowRequestMs: 1_000,
      records: noRecords,
    },
    log: pino({ level: 'error' }, { write: line => void log.push(line) }),
    hangs: () => log.push('hangs'),
    ...more,
  })
  const own = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(async () => {
    own.destroy()
    app.stopListening()
    app.close()
    await fronts.close()
  })
  const send: World['send'] = (path, body, agent, key) =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const headers = key === undefined ? {} : { 'X-Service-Api-Key': key }
      const sent = request(
        { host: '127.0.0.1', port, path, method, agent, headers },
        (res: IncomingMessage) => {
          const pieces: Buffer[] = []
          res.on('data', piece => pieces.push(piece))
          res.on('error', reject)
          res.on('end', () => resolve({ status: res.statusCode!, body: Buffer.concat(pieces) }))
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  t.equal((await send('/who', undefined, own)).body.toString(), 'own')
  await fronts.start()
  return { port, memory, fronts, log, own, send }
}

/** A connection that a front has, or the main thread. */
async function connectionTo({ send }: World, who: 'passed' | 'own'): Promise<Agent> {
  for (let tries = 0; tries < 2_000; tries++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    // where a front has just ended, a connection may be refused
    const answer = await send('/who', undefined, agent).catch(() => null)
    if (answer?.body.toString() === who) return agent
    agent.destroy()
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`no connection came to ${who}`)
}

const passageOf = ({ fronts }: World): Passage =>
  (fronts as unknown as { fronts: { passage: Passage }[] }).fronts[0]!.passage

t.test('requests, bodies, answers in pieces and WebSockets are the same over a front', { skip }, async t => {
  const here = await world(t)
  for (const who of ['own', 'passed'] as const) {
    const agent = who === 'own' ? here.own : await connectionTo(here, who)
    const long = Buffer.alloc(1_500_000, 'long ')
    const echoed = await here.send('/echo/some%20thing?a=1', long, agent)
    t.equal(echoed.body.toString(), `${who} some%20thing a=1 ${long}`)
    t.equal((await here.send('/pieces', undefined, agent)).body.length, 40 * 65_536)
    t.match(await here.send('/nothing', undefined, agent), { status: 404, body: Buffer.from('none') })
    agent.destroy()
  }
  // one whose connection kept its place in memory was closed as it opened, now and then
  for (let i = 0; i < 24; i++) {
    const socket = new WebSocket(`ws://127.0.0.1:${here.port}/echo`)
    const heard: string[] = []
    socket.on('message', data => heard.push(String(data)))
    const closed = once(socket, 'close')
    const told = async (count: number): Promise<void> => {
      const isClosing = () => socket.readyState > WebSocket.OPEN
      while (heard.length < count && !isClosing()) await Promise.race([once(socket, 'message'), closed])
    }
    await once(socket, 'open')
    await told(1)
    socket.send('again')
    await told(2)
    socket.close()
    const [code] = await closed
    t.same([...heard, code], ['hello', 'again', 1005])
  }
})

t.test(
  'a body beyond the bytes that may be on their way is refused, and the rest goes on',
  { skip },
  async t => {
    const here = await world(t)
    const agent = await connectionTo(here, 'passed')
    const refused = await here.send('/echo/much', Buffer.alloc(5 << 20, 'x'), agent).catch(error => error)
    t.ok(refused instanceof Error || refused.status === 503, 'it hears 503, or is cut while it still sends')
    const again = await connectionTo(here, 'passed')
    t.equal(
      (await here.send('/echo/less', Buffer.from('x'), again)).body.toString(),
      'passed less undefined x',
    )
    again.destroy()
  },
)

t.test(
  'a front whose code throws costs its callers their connections; another one comes',
  { skip },
  async t => {
    const here = await world(t)
    const passed = await connectionTo(here, 'passed')
    const waiting = here.send('/never', undefined, passed).then(
      () => 'answered',
      () => 'reset',
    )
    // what no main thread says: the front cannot read it
    passageOf(here).say(null as never)
    t.equal(await waiting, 'reset')
    t.equal((await here.send('/who', undefined, here.own)).body.toString(), 'own', 'the main thread goes on')
    const again = await connectionTo(here, 'passed')
    t.equal((await here.send('/echo/x', Buffer.from('y'), again)).body.toString(), 'passed x undefined y')
    t.match(here.log.join(), /front died/)
    for (const agent of [passed, again]) agent.destroy()
  },
)

t.test('the log names a front that hangs, and then the process must end', { skip }, async t => {
  const limit = { ratePerSecond: 1, burst: 1_000 }
  const facts: KeyFacts = {
    edition: 0,
    keyId: 'key_1',
    environmentId: 'env_1',
    environment: 1,
    environmentEdition: 0,
    clock: null,
    budgets: { shared: [{ name: 'global', place: 0, limit }], own: [] },
    events: null,
    readsUserTraits: false,
    haveBudgets: false,
    flags: 1,
    isPublic: false,
    version: 1,
  }
  const looks = { everyMs: 400, silent: 2, hanging: 4 }
  let isTold = false
  const here = await world(t, {
    looks,
    listener: {
      factsOf: () => {
        isTold = true
        return facts
      },
      counted: () => {},
      uses: () => {},
      used: () => {},
      slow: () => {},
    },
  })
  const agent = await connectionTo(here, 'passed')
  // a success makes the front ask for the facts of the key
  while (!isTold) await here.send('/flags/one/check', Buffer.from('{}'), agent, 'sk_1')
  // the facts are on their way before this answer
  await here.send('/who', undefined, agent)
  t.same(here.fronts.degraded, [])
  const lock = new Int32Array(here.memory.buckets.memory)
  Atomics.store(lock, 0, 1)
  // it waits for the lock of the budgets, which nobody gives back
  const waiting = here.send('/flags/one/check', Buffer.from('{}'), agent, 'sk_1').catch(() => null)
  while (!here.log.includes('hangs')) await new Promise(resolve => setTimeout(resolve, 20))
  t.match(here.log.join(), /front does not answer/)
  t.same(here.fronts.degraded, ['front 1'])
  Atomics.store(lock, 0, 0)
  await waiting
  while (here.fronts.degraded.length > 0) await new Promise(resolve => setTimeout(resolve, 20))
  agent.destroy()
})

t.test('the main thread takes connections while no front does, and none beside them', { skip }, async t => {
  /** Threads that were started: the second one is no front, and ends when it is told. */
  let launches = 0
  let die = (_: Error): void => {}
  const begin: StartThread = (...task) => {
    if (++launches !== 2) return startThread(...task)
    const ended = new Promise<void>((_, reject) => {
      die = reject
    })
    const { port1: port } = new MessageChannel()
    return { port, ended, rest: () => [], close: async () => {}, destroy: async () => port.close() }
  }
  const here = await world(t, { startThread: begin })
  const who = async (): Promise<string> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { body } = await here.send('/who', undefined, agent)
    agent.destroy()
    return body.toString()
  }
  for (let i = 0; i < 32; i++) t.equal(await who(), 'passed')
  passageOf(here).say(null as never)
  const own = await connectionTo(here, 'own')
  t.equal(await who(), 'own', 'no front is left')
  while (launches < 2) await new Promise(resolve => setTimeout(resolve, 10))
  t.equal(await who(), 'own', 'the next one is on its way')
  die(new Error('it does not come'))
  const passed = await connectionTo(here, 'passed')
  for (let i = 0; i < 32; i++) t.equal(await who(), 'passed')
  t.equal((await here.send('/who', undefined, own)).body.toString(), 'own', 'what came stays')
  for (const agent of [own, passed]) agent.destroy()
})

t.test('four fronts serve at once', { skip }, async t => {
  const here = await world(t, { count: 4 })
  const { fronts } = here.fronts as unknown as { fronts: { readonly passage: Passage }[] }
  const heard = new Set<number>()
  for (const [index, { passage }] of fronts.entries()) {
    const { hear } = passage
    passage.hear = said => {
      heard.add(index)
      hear.call(passage, said)
    }
  }
  for (let tries = 0; heard.size < 4 && tries < 2_000; tries++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.match((await here.send('/who', undefined, agent)).body.toString(), /^passed$/)
    agent.destroy()
  }
  t.equal(heard.size, 4, 'each has connections')
})

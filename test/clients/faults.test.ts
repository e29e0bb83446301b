// Failures between the client and its service: nothing is lost in silence, and whoever waits hears why.
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type OutgoingEvent, Tollgate, type TollgateError } from '../../clients/typescript/src/index.js'
import { socketPingSeconds } from '../../src/front/http/apps/app.js'
import { bootstrapKey, startHere } from '../harness.js'
import { makeFlag, rule } from '../interface/flags.js'
import { StreamClient } from '../stream-client.js'
import { changeOf, clientOf, until } from './make.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const metric = {
  condition_type: 'metric',
  operator: 'lt',
  resource_ids: [],
  event_subtype: 'call',
  metric_period: 'all_time',
  metric_value: 1_000,
}
await makeFlag(client, 'calls', false, [rule('fewer', [metric])])

/** A logger whose lines are kept. */
class Lines {
  readonly lines: string[] = []
  readonly warn = (line: string) => void this.lines.push(line)
  readonly error = (line: string) => void this.lines.push(line)
  readonly info = (line: string) => void this.lines.push(line)
  get text(): string {
    return this.lines.join('\n')
  }
}

/** Events that a client was told of. */
class Told {
  readonly calls: {
    readonly error: TollgateError
    readonly events: readonly OutgoingEvent[]
    readonly kept: boolean
  }[] = []
  private readonly waiting = new Set<() => void>()
  readonly failed = (error: TollgateError, events: readonly OutgoingEvent[], kept: boolean) => {
    this.calls.push({ error, events, kept })
    for (const look of [...this.waiting]) look()
  }

  async hears(code: string): Promise<void> {
    while (!this.calls.some(({ error }) => error.code === code))
      await new Promise<void>(resolve => {
        this.waiting.add(resolve)
      })
  }
}

/** The way to the service, which a test closes and opens. */
class Gate {
  private readonly sockets = new Set<Socket>()
  private isOpen = true

  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  static async open(t: Test): Promise<Gate> {
    const target = Number(new URL(client.url).port)
    let gate: Gate | null = null
    const server = createServer(socket => {
      if (!gate!.isOpen) return socket.destroy()
      const other = connectTo(target, '127.0.0.1')
      for (const one of [socket, other]) {
        gate!.sockets.add(one)
        one.on('error', () => {})
        one.on('close', () => {
          gate!.sockets.delete(one)
          socket.destroy()
          other.destroy()
        })
      }
      socket.pipe(other).pipe(socket)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    gate = new Gate(server, `http://127.0.0.1:${(server.address() as { port: number }).port}`)
    t.teardown(() => {
      gate!.shut()
      server.close()
    })
    return gate
  }

  shut(): void {
    this.isOpen = false
    for (const socket of this.sockets) socket.destroy()
  }

  letThrough(): void {
    this.isOpen = true
  }
}

/** A company, and how often it has used what it was reported to use. */
async function companyOf(slug: string) {
  const company = { slug }
  const { id } = await client.ok('POST', '/companies', { keys: company })
  const used = async (): Promise<number> => {
    const { metrics } = await client.ok('GET', `/companies/${id}`)
    return (
      metrics.find(
        (one: { event_subtype: string; period: string }) =>
          one.event_subtype === 'call' && one.period === 'all_time',
      )?.value ?? 0
    )
  }
  return { company, used }
}

/** A new key of the environment, and its end. */
async function newKey() {
  const { environment_id } = await client.ok('GET', '/whoami')
  const { id, secret } = await client.ok('POST', '/api-keys', { name: 'a client', environment_id })
  return { secret: secret as string, revoke: () => client.ok('DELETE', `/api-keys/${id}`) }
}

const failureOf = (promise: Promise<unknown>): Promise<TollgateError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    error => error,
  )

t.test('C6 a missing url or key is named at once', t => {
  const wrong = (options: object) => {
    try {
      new Tollgate(options)
    } catch (error) {
      return error
    }
    return null
  }
  const invalid = (message: RegExp) => ({ name: 'TollgateError', code: 'options_invalid', message })
  t.match(wrong({ key: 'k' }), invalid(/`url` is missing.*https:/))
  t.match(wrong({ url: 'tollgate:8080', key: 'k' }), invalid(/`url` is "tollgate:8080"/))
  t.match(wrong({ url: client.url }), invalid(/`key` is missing/))
  t.match(wrong({ url: client.url, key: '' }), invalid(/`key` is missing/))
  const spaced = wrong({ url: client.url, key: 'sk_secret\n' }) as Error
  t.match(spaced, invalid(/character that no key has/))
  t.notMatch(spaced.message, 'sk_secret')
  t.end()
})

t.test('C2 ready rejects a wrong key at once, and says why', async t => {
  const logger = new Lines()
  const tollgate = clientOf(t, client, { key: 'sk_dev_wrong', logger })
  const error = await failureOf(tollgate.ready({ timeoutMs: Number.POSITIVE_INFINITY }))
  t.match(error, { code: 'key_refused', status: 401 })
  t.match(logger.text, /stream is refused/)
  t.match(await failureOf(tollgate.ready()), { code: 'key_refused' }, 'asked again')
  tollgate.setKey(bootstrapKey)
  await tollgate.ready()
  t.equal(tollgate.connected, true, 'another key is let in')
})

t.test('C2 ready says that the key lacks the scope', async t => {
  const { environment_id } = await client.ok('GET', '/whoami')
  const { secret } = await client.ok('POST', '/api-keys', {
    name: 'events alone',
    environment_id,
    scopes: ['capture'],
  })
  const tollgate = clientOf(t, client, { key: secret, logger: null })
  t.match(await failureOf(tollgate.ready()), { code: 'forbidden', status: 403, message: /scope/ })
})

t.test('C2 ready rejects after its time where nobody answers, and is ready when somebody does', async t => {
  const gate = await Gate.open(t)
  gate.shut()
  const tollgate = clientOf(t, client, { url: gate.url, logger: null })
  const error = await failureOf(tollgate.ready({ timeoutMs: 200 }))
  t.match(error, { code: 'not_ready', message: /not ready within 200 ms: .*(cannot be reached|closed with)/ })
  gate.letThrough()
  await tollgate.ready({ timeoutMs: 60_000 })
  t.equal(tollgate.connected, true)
})

t.test('C3 a rotated key: nothing is lost, everything is told', async t => {
  const { company, used } = await companyOf('rotated')
  const key = await newKey()
  const logger = new Lines()
  const told = new Told()
  const tollgate = clientOf(t, client, {
    key: key.secret,
    local: false,
    logger,
    events: { flushMs: 1, failed: told.failed },
  })
  tollgate.track('call', { company })
  await tollgate.flush()
  await key.revoke()
  for (let i = 0; i < 10; i++) t.type(tollgate.track('call', { company }), 'string')
  t.match(await failureOf(tollgate.flush({ timeoutMs: Number.POSITIVE_INFINITY })), {
    code: 'events_waiting',
    status: 401,
    message: /10 events are not acknowledged .*stay in the queue/,
  })
  t.equal(tollgate.pendingEvents, 10)
  t.match(told.calls, [{ error: { code: 'key_refused' }, kept: true }])
  t.match(logger.text, /events wait and are sent again/)
  const next = await newKey()
  tollgate.setKey(next.secret)
  await tollgate.flush()
  t.equal(await used(), 11)
  t.match(logger.text, /acknowledged again/)
})

t.test('C3 a function that gives the key that is valid now', async t => {
  const { company, used } = await companyOf('rotating')
  let key = await newKey()
  const tollgate = clientOf(t, client, { key: async () => key.secret, logger: null, events: { flushMs: 1 } })
  await tollgate.ready()
  tollgate.track('call', { company })
  await tollgate.flush()
  const lost = changeOf(tollgate, ({ type }) => type === 'disconnected')
  const back = changeOf(tollgate, ({ type }) => type === 'connected')
  const former = key
  key = await newKey()
  await former.revoke()
  tollgate.track('call', { company })
  await tollgate.flush()
  t.equal(await used(), 2)
  await lost
  await back
  t.equal((await tollgate.check('calls', { company })).source, 'local')
})

t.test('C3 an outage: every event counts once, whatever was in flight', async t => {
  const { company, used } = await companyOf('outage')
  const gate = await Gate.open(t)
  const logger = new Lines()
  const told = new Told()
  const tollgate = clientOf(t, client, {
    url: gate.url,
    logger,
    events: { flushMs: 1, batchMax: 7, failed: told.failed },
  })
  await tollgate.ready()
  let tracked = 0
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) {
      tollgate.track('call', { company })
      tracked++
      if (i % 5 === 0) await new Promise(resolve => setImmediate(resolve))
    }
    gate.shut()
    for (let i = 0; i < 20; i++) tracked += tollgate.track('call', { company }) === null ? 0 : 1
    t.match(await failureOf(tollgate.flush({ timeoutMs: 300 })), { code: 'events_waiting' })
    gate.letThrough()
  }
  await tollgate.flush()
  t.equal(tollgate.pendingEvents, 0)
  t.equal(await used(), tracked)
  t.ok(
    told.calls.length > 0 && told.calls.every(({ kept }) => kept),
    'each outage is told, and no event given up',
  )
  t.match(logger.text, /cannot be reached/)
})

t.test('C3 a full buffer: the event that was not taken is told, and can be sent later', async t => {
  const { company, used } = await companyOf('full')
  const gate = await Gate.open(t)
  gate.shut()
  const logger = new Lines()
  const told = new Told()
  const tollgate = clientOf(t, client, {
    url: gate.url,
    local: false,
    logger,
    events: { flushMs: 1, bufferMax: 3, failed: told.failed },
  })
  const keys = [1, 2, 3, 4, 5].map(() => tollgate.track('call', { company }))
  t.strictSame(
    keys.map(key => key !== null),
    [true, true, true, false, false],
  )
  const full = told.calls.filter(({ error }) => error.code === 'queue_full')
  t.equal(full.length, 2)
  t.ok(full.every(({ kept }) => !kept))
  t.match(logger.text, /3 events wait already: an event was not taken/)
  gate.letThrough()
  await tollgate.flush()
  t.strictSame(tollgate.resend(full.flatMap(({ events }) => events)), [])
  await tollgate.flush()
  t.equal(await used(), 5)
})

t.test('C3 an invalid event does not take others with it', async t => {
  const { company, used } = await companyOf('mixed')
  const told = new Told()
  const tollgate = clientOf(t, client, { local: false, logger: null, events: { failed: told.failed } })
  for (let i = 0; i < 10; i++) tollgate.track('call', { company })
  tollgate.track('call', { company, quantity: 0.5 })
  tollgate.track('call', { company })
  await tollgate.flush()
  t.equal(await used(), 11)
  t.equal(told.calls.length, 1)
  t.match(told.calls[0], { kept: false, events: [{ body: { quantity: 0.5 } }] })
})

t.test('C4 an event that is stored as failed is told', async t => {
  const logger = new Lines()
  const told = new Told()
  const { environment_id } = await client.ok('GET', '/whoami')
  const { secret } = await client.ok('POST', '/api-keys', { name: 'reads', environment_id, readonly: true })
  const tollgate = clientOf(t, client, { key: secret, local: false, logger, events: { failed: told.failed } })
  const key = tollgate.track('call', { company: { slug: 'read-only' } })
  await tollgate.flush()
  t.match(told.calls, [{ error: { code: 'event_failed' }, kept: false, events: [{ idempotency_key: key }] }])
  t.match(logger.text, new RegExp(`counted nowhere.*${key}`))
})

t.test('C3 an answer that is not Tollgate’s acknowledges nothing', async t => {
  const { company, used } = await companyOf('captive')
  let isCaptive = true
  const given: typeof fetch = (input, init) =>
    isCaptive ? Promise.resolve(new Response('<html>Sign in</html>', { status: 200 })) : fetch(input, init)
  const tollgate = clientOf(t, client, { local: false, logger: null, fetch: given })
  tollgate.track('call', { company })
  t.match(await failureOf(tollgate.flush({ timeoutMs: 100 })), {
    code: 'events_waiting',
    message: /is it Tollgate/,
  })
  isCaptive = false
  await tollgate.flush()
  t.equal(await used(), 1)
})

t.test('C7 an unknown company is remembered until the stream says otherwise', async t => {
  let asked = 0
  const counted: typeof fetch = (input, init) => {
    asked++
    return fetch(input, init)
  }
  const tollgate = clientOf(t, client, { fetch: counted })
  await tollgate.ready()
  const company = { slug: 'unknown-yet', ref: 'u-1' }
  const first = await tollgate.check('calls', { company })
  t.match(first, { source: 'local', reason: 'Company not found', company_id: null })
  const { source: _, ...checked } = first
  t.strictSame(checked, await client.ok('POST', '/flags/calls/check', { company }), 'as the service answers')
  for (let i = 0; i < 20; i++) await tollgate.check('calls', { company })
  t.equal(asked, 0)
  const { id } = await client.ok('POST', '/companies', { keys: { ref: 'u-1' } })
  await until(tollgate, () => tollgate.checkHeld('calls', { company: { ref: 'u-1' } })?.company_id === id)
  await client.ok('POST', '/companies', { keys: { ref: 'u-1', slug: 'unknown-yet' } })
  await until(tollgate, () => tollgate.checkHeld('calls', { company })?.company_id === id)
  t.equal(asked, 0, 'nothing was asked over HTTP')
  const met = { slug: 'met-by-an-event' }
  t.match(await tollgate.check('calls', { company: met }), { company_id: null, source: 'local' })
  await client.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company: met } })
  await until(tollgate, () => tollgate.checkHeld('calls', { company: met })?.company_id != null)
  await client.ok('DELETE', `/companies/${id}`)
  await until(tollgate, () => tollgate.checkHeld('calls', { company }) === null)
  t.match(await tollgate.check('calls', { company }), { company_id: null, source: 'local' }, 'unknown again')
})

t.test('C5 pings are answered', async t => {
  const stream = await StreamClient.open(client.url)
  t.teardown(() => stream.ws.terminate())
  stream.ws.send('{"data":{"action":"ping"}}')
  t.match(await stream.next(({ message_type: type }) => type === 'pong'), { data: {} })
  const pinged = new Promise(resolve => stream.ws.on('ping', resolve))
  t.ok(socketPingSeconds <= 25, 'a proxy that waits for 30 s sees each connection alive')
  await pinged
  t.equal(stream.ws.readyState, stream.ws.OPEN)
})

t.test('C2 the client brings a WebSocket of its own where the runtime has none', async t => {
  const tollgate = new Tollgate({ url: client.url, key: bootstrapKey, local: true, logger: null })
  t.teardown(() => tollgate.close(0))
  await tollgate.ready()
  t.equal(tollgate.connected, true, process.version)
})

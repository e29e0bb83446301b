// The queue of events against answers that Tollgate does not give, and events that are none.
import { createServer, type Server } from 'node:http'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  type EventOptions,
  type OutgoingEvent,
  Tollgate,
  type TollgateError,
} from '../../clients/typescript/src/index.js'

t.setTimeout(60_000)

type Told = { readonly code: string; readonly names: readonly string[]; readonly kept: boolean }

const nameOf = ({ body }: OutgoingEvent) => (body as { readonly event: string }).event

/**
 * Make a client whose requests are answered by `answer`. `told` collects the failures that the client reports to its caller; `sent`
 * collects the event names of each batch.
 */
function queueOf(t: Test, answer: (names: string[]) => Response, more: EventOptions = {}) {
  const told: Told[] = []
  const sent: string[][] = []
  const answering = async (_: unknown, init?: RequestInit) => {
    const { events } = JSON.parse(String(init!.body)) as { readonly events: readonly OutgoingEvent[] }
    sent.push(events.map(nameOf))
    return answer(sent.at(-1)!)
  }
  const failed = ({ code }: TollgateError, events: readonly OutgoingEvent[], kept: boolean) =>
    void told.push({ code, names: events.map(nameOf), kept })
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    logger: null,
    fetch: answering as typeof fetch,
    events: { flushMs: 1, failed, ...more },
  })
  t.teardown(() => tollgate.close(0))
  return { tollgate, told, sent }
}

const acknowledge = (names: readonly string[]) =>
  new Response(JSON.stringify({ data: { events: names.map(() => ({})) } }), { status: 201 })

/** Everything that waits for no timer happens. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

t.test('security 45 an answer that asks for a wait is not asked again before', async t => {
  const date = 'Sat, 28 Nov 2026 12:00:00 GMT'
  const cases: readonly (readonly [string, Record<string, string>, number])[] = [
    ['seconds', { 'retry-after': '60' }, 60_000],
    ['a date on the clock of who answers', { 'retry-after': 'Sat, 28 Nov 2026 12:01:00 GMT', date }, 60_000],
    ['longer than a timer can wait', { 'retry-after': '3000000' }, 3_600_000],
    ['no time', { 'retry-after': 'soon' }, 100],
    ['a date that is over', { 'retry-after': 'Sat, 28 Nov 2026 11:00:00 GMT', date }, 100],
    ['none', {}, 100],
  ]
  for (const [name, headers, waitMs] of cases) {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const { tollgate, sent } = queueOf(t, () => new Response('{"error":"later"}', { status: 503, headers }))
      tollgate.track('call')
      mock.timers.tick(1)
      await settled()
      t.equal(sent.length, 1, `${name}: sent`)
      mock.timers.tick(waitMs / 2 - 1)
      await settled()
      if (waitMs >= 60_000) {
        tollgate.flush().catch(() => {})
        await settled()
      }
      t.equal(sent.length, 1, `${name}: not again before its time, flushed or not`)
      mock.timers.tick(waitMs)
      await settled()
      t.equal(sent.length, 2, `${name}: again`)
    } finally {
      mock.timers.reset()
    }
  }
})

t.test('security 46 an event that is no JSON is given up alone', async t => {
  const circle: { it?: object } = {}
  circle.it = circle
  const { tollgate, told, sent } = queueOf(t, acknowledge)
  tollgate.track('first')
  tollgate.track('large', { traits: { sum: 10n } })
  tollgate.track('second')
  tollgate.track('circle', { traits: { circle } })
  tollgate.track('third')
  await tollgate.flush()
  t.equal(tollgate.pendingEvents, 0)
  t.strictSame(sent.flat().sort(), ['first', 'second', 'third'], 'the others are sent, once')
  t.strictSame(told, [
    { code: 'event_refused', names: ['large'], kept: false },
    { code: 'event_refused', names: ['circle'], kept: false },
  ])
})

t.test('security 50 the queue is bounded by bytes, as by number', async t => {
  const told: Told[] = []
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    logger: null,
    fetch: () => new Promise<never>(() => {}),
    events: {
      bufferBytesMax: 10_000,
      failed: ({ code }, events, kept) => void told.push({ code, names: events.map(nameOf), kept }),
    },
  })
  t.teardown(() => tollgate.close(0))
  // two bytes each in the queue and on the wire
  const large = { traits: { note: 'é'.repeat(2_000) } }
  t.not(tollgate.track('first', large), null)
  t.not(tollgate.track('second', large), null)
  t.equal(tollgate.track('third', large), null)
  t.not(tollgate.track('small'), null, 'what fits is taken')
  t.strictSame(told, [{ code: 'queue_full', names: ['third'], kept: false }])
  t.equal(tollgate.pendingEvents, 3)
})

t.test('security 50 bytes of what is acknowledged, refused or given up are free again', async t => {
  const answer = (names: string[]) =>
    names.includes('bad') ? new Response('{"error":"invalid"}', { status: 400 }) : acknowledge(names)
  const { tollgate, sent } = queueOf(t, answer, { bufferBytesMax: 5_000 })
  const large = { traits: { note: 'a'.repeat(1_000) } }
  for (let round = 0; round < 5; round++) {
    for (const name of ['call', 'bad', 'call']) t.not(tollgate.track(name, large), null)
    await tollgate.flush()
  }
  t.equal(sent.flat().filter(name => name === 'bad').length, 15, 'with others, halved, alone')
  t.equal(tollgate.pendingEvents, 0)
})

t.test('an event is sent as it was when it was tracked', async t => {
  let isAway = true
  const bodies: string[] = []
  const given: OutgoingEvent[] = []
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    logger: null,
    fetch: async (_, init) => {
      if (isAway) throw new Error('away')
      bodies.push(String(init!.body))
      return acknowledge(['call'])
    },
    events: { flushMs: 1, failed: (_, events) => void given.push(...events) },
  })
  t.teardown(() => tollgate.close(0))
  const traits = { plan: 'free' }
  const company = { slug: 'acme' }
  tollgate.track('call', { company, traits })
  traits.plan = 'paid'
  company.slug = 'other'
  while (given.length === 0) await turn()
  t.match(given[0]!.body, { company: { slug: 'acme' }, traits: { plan: 'free' } }, 'told as it was')
  isAway = false
  await tollgate.flush()
  const { events } = JSON.parse(bodies[0]!) as { readonly events: readonly OutgoingEvent[] }
  t.match(events[0]!.body, { company: { slug: 'acme' }, traits: { plan: 'free' } })
})

t.test('security 46 a proxy that refuses throws no event away', async t => {
  let isBroken = true
  const { tollgate, told, sent } = queueOf(t, names =>
    isBroken ? new Response('<html>Bad Request</html>', { status: 400 }) : acknowledge(names),
  )
  for (const name of ['first', 'second', 'third']) tollgate.track(name)
  const names = ['first', 'second', 'third']
  while (told.length === 0) await turn()
  isBroken = false
  await tollgate.flush()
  t.strictSame(told, [{ code: 'unexpected_answer', names, kept: true }])
  t.strictSame(sent.at(-1), names, 'the same events, together')
})

t.test('security 47 the key goes to no other host', async t => {
  const seen: string[] = []
  const listen = async (server: Server): Promise<string> => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`
  }
  const other = await listen(
    createServer((req, res) => {
      seen.push(`${req.method} ${req.url}`)
      res.end('{}')
    }),
  )
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await listen(
      createServer((req, res) => {
        req.resume()
        res.writeHead(status, { Location: `${other}${req.url}` }).end()
      }),
    )
    const told: TollgateError[] = []
    const events = { flushMs: 1, failed: (error: TollgateError) => void told.push(error) }
    const tollgate = new Tollgate({ url, key: 'sk_none', logger: null, events })
    const expected = { status, code: 'unexpected_answer', message: /sends elsewhere/ }
    await t.rejects(tollgate.checkAll(), expected)
    await t.rejects(tollgate.api.GET('/companies'), expected)
    tollgate.track('call')
    while (told.length === 0) await turn()
    t.match(told, [expected])
    t.equal(tollgate.pendingEvents, 1, 'the event stays')
    await tollgate.close(0)
  }
  t.strictSame(seen, [])
})

t.test('a flag without a default has none by its name', async t => {
  const tollgate = new Tollgate({ offline: true, defaults: { beta: true } })
  for (const name of ['constructor', 'toString', '__proto__']) t.equal(await tollgate.isOn(name), false, name)
  t.equal(await tollgate.isOn('beta'), true)
})

t.test('security 49 a key that no header takes is in no line and no error', async t => {
  const lines: string[] = []
  const line = (text: string) => void lines.push(text)
  const secret = 'sk_prod_none'
  for (const value of [`${secret}\nsecond`, `${secret} second`, `${secret}…`, '', undefined]) {
    const told: TollgateError[] = []
    const options = {
      url: 'http://127.0.0.1:9',
      key: () => value as string,
      logger: { warn: line, error: line },
      events: { flushMs: 1, failed: (error: TollgateError) => void told.push(error) },
    }
    const tollgate = new Tollgate(options)
    tollgate.track('call')
    while (told.length === 0) await turn()
    const checked = await tollgate.check('exports')
    t.match(told, [{ code: 'options_invalid' }])
    t.equal(tollgate.pendingEvents, 1, 'the event stays')
    t.notMatch(`${told[0]!.message} ${checked.error} ${lines.join(' ')}`, secret)
    const context = new Tollgate({
      ...options,
      key: 'pk_none',
      signedContext: () => value as string,
      push: false,
    })
    await t.rejects(context.checkAll(), { code: 'options_invalid' })
    for (const one of [tollgate, context]) await one.close(0)
  }
})

t.test('security 49 a function that gives no key holds nothing up for ever', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const told: TollgateError[] = []
  let asked = 0
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: () => (++asked === 1 ? new Promise<string>(() => {}) : 'sk_none\n'),
    logger: null,
    fetch: async () => acknowledge(['call']),
    events: { flushMs: 1, failed: error => void told.push(error) },
  })
  tollgate.track('call')
  mock.timers.tick(1)
  await settled()
  mock.timers.tick(30_000)
  await settled()
  t.match(told, [{ code: 'timeout' }])
  mock.timers.tick(100)
  await settled()
  t.equal(tollgate.pendingEvents, 0, 'sent with the next key that is given')
})

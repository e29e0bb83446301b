// The client where its clock is wrong, and where its stream does not stay open.
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type SocketLike, Tollgate } from '../../clients/typescript/src/index.js'

t.setTimeout(60_000)

/** Everything that waits for no timer happens. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

const hourMs = 3_600_000
const startMs = Date.parse('2026-11-28T12:00:00.250Z')

t.test('security 51 a lease ends by the clock of the service, as each answer tells it', async t => {
  mock.timers.enable({ apis: ['Date'], now: startMs })
  t.teardown(() => mock.timers.reset())
  /** How far the service's clock is ahead of the client's. */
  let aheadMs = hourMs
  let headers: (serviceMs: number) => Record<string, string> = ms => ({ date: new Date(ms).toUTCString() })
  const answer = async (_url: unknown, init?: RequestInit) => {
    const nowMs = Date.now() + aheadMs
    const { requested_amount: granted_amount = 20 } = JSON.parse(String(init?.body ?? '{}'))
    const data = {
      id: 'lease_1',
      company_id: 'comp_1',
      credit_type_id: 'bcrd_1',
      granted_amount,
      tracked_amount: 0,
      expires_at: new Date(nowMs + 60_000).toISOString(),
      updated_at: new Date(nowMs).toISOString(),
    }
    return new Response(JSON.stringify({ data }), { headers: headers(nowMs) })
  }
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    logger: null,
    fetch: answer as typeof fetch,
  })
  t.teardown(() => tollgate.close(0))
  const acquire = () =>
    tollgate.acquireLease({ companyId: 'comp_1', company: { slug: 'a' }, creditId: 'bcrd_1', amount: 10 })
  /** A lease of a minute is open for 58 s, and over when the minute is. */
  const lasts = async (name: string) => {
    const lease = await acquire()
    mock.timers.tick(58_000)
    t.equal(lease.draw(1), true, `${name}: open`)
    mock.timers.tick(2_000)
    t.equal(lease.draw(1), false, `${name}: over`)
    t.equal(lease.remaining, 0)
  }
  await lasts('an hour behind')
  aheadMs = -hourMs
  await lasts('set to an hour ahead')
  aheadMs = 0
  await lasts('set right')

  // pages and some proxies keep the header away
  headers = () => ({})
  aheadMs = hourMs
  await lasts('an hour behind, told by the lease alone')

  headers = ms => ({ date: new Date(ms).toUTCString() })
  const lease = await acquire()
  mock.timers.tick(30_000)
  // the machine wakes up: its clock stood still
  aheadMs += 40_000
  t.equal(lease.draw(1), true, 'nothing was told since')
  await tollgate.api.GET('/whoami')
  t.equal(lease.draw(1), false, 'an answer of any call tells the time')
})

t.test('a stream that is closed as soon as it is open is opened ever more rarely', async t => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: startMs })
  t.teardown(() => mock.timers.reset())
  const sockets: SocketLike[] = []
  const lines: string[] = []
  const line = (text: string) => void lines.push(text)
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    local: true,
    logger: { error: line, warn: line, info: line },
    webSocket: () => {
      const socket: SocketLike = {
        onopen: null,
        onmessage: null,
        onclose: null,
        onerror: null,
        send: () => {},
        close: () => {},
      }
      sockets.push(socket)
      return socket
    },
    fetch: () => Promise.reject(new Error('away')),
  })
  t.teardown(() => tollgate.close(0))
  const changes: string[] = []
  tollgate.onChange(({ type }) => changes.push(type))
  /** The next socket opens, and closes after this time. Returns the seconds until the one after it. */
  const livesFor = async (ms: number): Promise<number> => {
    const at = sockets.length - 1
    await settled()
    sockets[at]!.onopen!({} as never)
    t.equal(tollgate.connected, true)
    mock.timers.tick(ms)
    sockets[at]!.onclose!({ code: 1000 } as never)
    t.equal(tollgate.connected, false)
    let seconds = 0
    while (sockets.length === at + 1 && seconds < 100) {
      mock.timers.tick(1_000)
      seconds++
      await settled()
    }
    return seconds
  }
  await settled()
  const waits: number[] = []
  for (let i = 0; i < 8; i++) waits.push(await livesFor(0))
  t.ok(
    waits.slice(-2).every(wait => wait >= 15),
    `seconds between the attempts: ${waits}`,
  )
  t.strictSame(changes.slice(-2), ['connected', 'disconnected'], 'each end is told')
  t.ok((await livesFor(20_000)) <= 2, 'one that lived is opened again at once')
  t.ok((await livesFor(0)) <= 3, 'and the waits grow anew')
})

// The machine's clock is earlier at the second start than it was at the first: time goes on from where it was, nothing
// is counted twice or forgotten; far too early is refused until somebody says what is right.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { command } from '../command.js'
import { type Client, Process } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { temporaryDirectory } from '../stores.js'

const hour = 3_600_000

/** Every thread of a Tollgate that is started with it has a clock that is ahead. */
function ahead(ms: number): Record<string, string> {
  const program = `const real = Date.now; Date.now = () => real() + ${ms};`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` }
}

interface Sent {
  readonly captured_at: string
  readonly event_id: string
}

function send(client: Client, key: string, event = 'call'): Promise<Sent> {
  const body = { event, company: { slug: 'a' }, user: { mail: 'a' } }
  return client.ok('POST', '/events', { event_type: 'track', idempotency_key: key, body })
}

async function counted(client: Client, period: string): Promise<number> {
  const { metrics } = await client.ok('GET', '/companies/lookup?slug=a')
  const found = metrics.find(
    (one: { period: string; event_subtype: string }) => one.period === period && one.event_subtype === 'call',
  )
  return found.value
}

async function reconciled(t: Test, dataDir: string, client: Client): Promise<void> {
  const compared = await command(dataDir, ['reconcile'], {
    TOLLGATE_URL: client.url,
    TOLLGATE_KEY: client.key,
  })
  t.match(compared, { code: 0, said: / 0 differ/ })
}

async function remaining(client: Client, company: string): Promise<number> {
  const [balance] = await client.ok('GET', `/billing/credits/balance?company_id=${company}`)
  return balance?.remaining ?? 0
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  t.test(`23 hours earlier after ${signal}`, async t => {
    const dataDir = join(await temporaryDirectory(t), 'data')
    const first = await Process.start(dataDir, ahead(23 * hour))
    t.teardown(() => first.end('SIGKILL'))
    const before: Sent[] = []
    for (let n = 0; n < 5; n++) before.push(await send(first.client, `k${n}`))
    const world = new CreditWorld(first.client)
    const credit = await world.credit()
    const company = await first.client.ok('GET', '/companies/lookup?slug=a')
    const soon = { expires_at: new Date(Date.now() + 23 * hour + 1_500).toISOString() }
    await world.grant(company.id, credit.id, 10, soon)
    while ((await remaining(first.client, company.id)) > 0) await sleep(50)
    await first.end(signal)

    const second = await Process.start(dataDir)
    t.teardown(() => second.end('SIGKILL'))
    const { client } = second
    t.equal(await counted(client, 'current_day'), 5, 'the day goes on')
    const again = await send(client, 'k0')
    t.equal(again.event_id, before[0]!.event_id, 'EV-27 a key is remembered')
    const after = await send(client, 'k new')
    const lag = Date.parse(before[0]!.captured_at) - Date.parse(after.captured_at)
    t.ok(lag <= 10_000, 'time is where it was, to ten seconds')
    if (signal === 'SIGTERM') t.ok(after.captured_at >= before[4]!.captured_at, 'exactly, after a stop')
    for (const period of ['current_day', 'all_time']) t.equal(await counted(client, period), 6, period)
    t.equal(await remaining(client, company.id), 0, 'a grant that has expired does not come back')
    t.equal((await client.ok('GET', '/events?event_types=track&limit=50')).length, 6, 'each is stored once')
    await reconciled(t, dataDir, client)
    t.equal(await second.end('SIGTERM'), 0)
  })

t.test('forty days earlier: refused with what to do, and done so', async t => {
  const dataDir = join(await temporaryDirectory(t), 'data')
  const first = await Process.start(dataDir, ahead(40 * 24 * hour))
  t.teardown(() => first.end('SIGKILL'))
  const before = await send(first.client, 'k')
  await first.end('SIGKILL')
  const refused = await command(dataDir, ['start'], { TOLLGATE_PORT: '0' })
  t.match(refused, {
    code: 1,
    said: /did not start: The clock of this machine says .*TOLLGATE_CLOCK_BACK=true/,
  })
  t.notMatch(refused.said, /\n\s+at /, 'without a stack')

  for (const back of ['true', 'false']) {
    const running = await Process.start(dataDir, { TOLLGATE_CLOCK_BACK: back })
    t.teardown(() => running.end('SIGKILL'))
    const { client } = running
    t.equal((await send(client, 'k')).event_id, before.event_id, 'EV-27 a key is remembered')
    const after = await send(client, `k ${back}`)
    t.ok(Math.abs(Date.parse(after.captured_at) - Date.now()) < hour, 'time is that of the machine')
    await reconciled(t, dataDir, client)
    t.equal(await running.end('SIGTERM'), 0)
  }
})

// Postgres and ClickHouse stopped and killed for seconds under load: checks and events of companies in memory go on,
// what needs the store says 503 and when to come back, and the backlog drains exactly (promise 6).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embedded, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const companies = Array.from({ length: 6 }, (_, index) => `co${index}`)
/** So many events and checks of each company are answered while a store is away: none of them waits for it. */
const pairsWhileAway = 50

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** The postmaster and its children. */
function postgresOf(dataDir: string): readonly number[] {
  const root = join(dataDir, 'postgres')
  const found = readdirSync(root, { recursive: true }).find(name => String(name).endsWith('postmaster.pid'))
  const pid = Number(readFileSync(join(root, String(found)), 'utf8').split('\n', 1)[0])
  return [pid, ...childrenOf(pid)]
}

function clickhouseOf(pid: number): readonly number[] {
  const bridge = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('bridge.js')
  return childrenOf(pid).filter(bridge)
}

const signal = (pids: readonly number[], name: NodeJS.Signals): void => {
  for (const pid of pids) process.kill(pid, name)
}

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Fault of a store; `more`: resolves once so many pairs more of each company were answered. */
type Fault = (more: (pairs: number) => Promise<void>) => Promise<void>

t.test('stores that are stopped and stores that die', async t => {
  const dataDir = await temporaryDirectory(t)
  const running = await Process.start(dataDir, embedded)
  t.teardown(() => running.end('SIGTERM'))
  const { client, child } = running
  const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
  await client.ok('POST', '/flags', flag)
  let sent = 0
  const send = async (slug: string) => {
    const body = { event: 'call', company: { slug }, user: { mail: slug } }
    const event = { event_type: 'track', idempotency_key: `k${sent++}`, body }
    return client.post('/events', event)
  }
  await Promise.all(companies.map(send))

  /** Events and checks while `during` goes on; none may fail or wait. */
  const under = async (t: Test, during: Fault): Promise<void> => {
    let going = true
    const answered = new Map(companies.map(slug => [slug, 0]))
    const more = async (pairs: number) => {
      const enough = companies.map(slug => [slug, answered.get(slug)! + pairs] as const)
      while (enough.some(([slug, count]) => answered.get(slug)! < count)) await wait(5)
    }
    const wrong = new Set<string>()
    const work = async (slug: string) => {
      while (going) {
        const event = await send(slug)
        if (event.status !== 201) wrong.add(`event: ${event.status} ${event.body.error}`)
        const check = await client.post('/flags/f/check', { company: { slug } })
        if (check.status !== 200) wrong.add(`check: ${check.status} ${check.body.error}`)
        answered.set(slug, answered.get(slug)! + 1)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    }
    const working = companies.map(work)
    await during(more).finally(() => {
      going = false
    })
    await Promise.all(working)
    const pairs = [...answered.values()].reduce((sum, count) => sum + count, 0)
    t.same([...wrong], [], `${pairs} events and checks went on`)
  }

  /** A read of a store answers, or gets Retry-After. */
  const asked = async (t: Test, requests: readonly Promise<Awaited<ReturnType<typeof client.get>>>[]) => {
    for (const { status, headers } of await Promise.all(requests)) {
      const told = status === 503 ? Number(headers.get('retry-after')) >= 1 : status < 300
      if (!told) t.fail(`a request that needs the store answered ${status}`)
    }
  }
  let flags = 0
  const needPostgres = () => [
    client.post('/flags', { ...flag, key: `f${++flags}` }),
    client.get('/companies'),
    client.post('/companies', { keys: { slug: 'co0' }, traits: { n: flags } }),
  ]
  const needClickHouse = () => [client.get('/events?limit=1'), client.get('/event-types')]

  const faults: Readonly<Record<string, Fault>> = {
    'Postgres stands still': async more => {
      const pids = postgresOf(dataDir)
      signal(pids, 'SIGSTOP')
      const requests = needPostgres()
      await more(pairsWhileAway)
      signal(pids, 'SIGCONT')
      await asked(t, requests)
    },
    'Postgres dies': async more => {
      signal(postgresOf(dataDir).slice(0, 1), 'SIGKILL')
      for (let asks = 0; asks < 10; asks++) {
        await asked(t, needPostgres())
        await more(pairsWhileAway / 10)
      }
    },
    'ClickHouse stands still': async more => {
      const pids = clickhouseOf(child.pid!)
      signal(pids, 'SIGSTOP')
      const requests = needClickHouse()
      await more(pairsWhileAway)
      signal(pids, 'SIGCONT')
      await asked(t, requests)
    },
    'ClickHouse dies': async more => {
      signal(clickhouseOf(child.pid!), 'SIGKILL')
      for (let asks = 0; asks < 10; asks++) {
        await asked(t, needClickHouse())
        await more(pairsWhileAway / 10)
      }
    },
  }
  for (const [name, fault] of Object.entries(faults)) {
    await t.test(name, async t => {
      await under(t, fault)
      const untilMs = performance.now() + 60_000
      while ((await client.get('/health/ready')).body.degraded.length > 0 && performance.now() < untilMs)
        await wait(100)
      let counted = 0
      for (const slug of companies) {
        const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
        counted += company.metrics.find((one: { period: string }) => one.period === 'all_time').value
      }
      t.equal(counted, sent, 'each event is counted once')
      let stored = 0
      for (let offset = 0; ; offset += 250) {
        const page = await client.ok('GET', `/events?event_types=track&limit=250&offset=${offset}`)
        stored += page.length
        if (page.length < 250) break
      }
      t.equal(stored, sent, 'and stored once')
      t.match((await client.get('/health/ready')).body, { status: 'ready', degraded: [] })
    })
  }
  t.equal(await running.end('SIGTERM'), 0)
})

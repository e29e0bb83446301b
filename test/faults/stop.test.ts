// Stops and starts: SIGTERM under load, a second start on one data directory, a start killed while it makes its
// stores, and a clock that is set back.
import t from 'tap'
import { embedded, Process, startHere } from '../harness.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'

/** Requests sent this shortly before a stop may not have arrived yet. */
const onItsWayMs = 20

t.test('SIGTERM under load: accepted requests are answered, exit 0, and a restart shows all', async t => {
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir, { TOLLGATE_DRAIN_MS: '10000' })
  t.teardown(() => running.end('SIGTERM'))
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const load = new Load({ random, client: () => running.client })
  await load.prepare()
  for (let round = 0; round < 2; round++) {
    load.start(10)
    await load.answered(100 + random.below(400))
    const stoppedAtMs = performance.now()
    t.equal(await running.end('SIGTERM'), 0)
    const unanswered = load.broken.filter(sentAtMs => sentAtMs < stoppedAtMs - onItsWayMs)
    t.equal(unanswered.length, 0, 'every request sent before the stop was answered')
    running = await Process.start(dataDir)
    load.broken.length = 0
    await load.stop()
    load.broken.length = 0
    await load.verify(t)
  }
  t.equal(await running.end('SIGTERM'), 0)
})

t.test('a second start on one data directory is refused and says why', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir)
  t.teardown(() => first.end('SIGTERM'))
  const second = Process.spawn(dataDir, {}, undefined, 'pipe')
  let said = ''
  second.stderr!.on('data', text => {
    said += text
  })
  const code = await new Promise(resolve => second.on('close', resolve))
  t.equal(code, 1)
  const pid = first.child.pid!
  t.match(said, new RegExp(`did not start: .*in use by another Tollgate \\(process ${pid}\\)`))
  t.match(said, /TOLLGATE_DATA_DIR/, 'it says what to do')
  t.notMatch(said, /\n\s+at /, 'without a stack')
  const body = { keys: { slug: 'a' } }
  t.equal((await first.client.post('/companies', body)).status, 200, 'the first one goes on')
})

t.test('a first start that is killed again and again while it makes its stores', async t => {
  const dataDir = await temporaryDirectory(t)
  const random = new Random()
  const moments = Array.from({ length: 4 }, () => 200 + random.below(5_000))
  t.comment(`seed ${random.seed}: killed after ${moments.join(', ')} ms`)
  for (const afterMs of moments) {
    const child = Process.spawn(dataDir)
    await new Promise(resolve => setTimeout(resolve, afterMs))
    const gone = new Promise(resolve => child.on('exit', resolve))
    if (child.exitCode === null) child.kill('SIGKILL')
    else t.fail(`the start ended by itself with ${child.exitCode}`)
    await gone
  }
  const running = await Process.start(dataDir, embedded)
  t.teardown(() => running.end('SIGTERM'))
  const made = await running.client.ok('POST', '/companies', { keys: { slug: 'a' } })
  const found = await running.client.ok('GET', '/companies')
  t.same(
    found.map((one: { id: string }) => one.id),
    [made.id],
  )
  t.equal((await running.client.ok('GET', '/whoami')).environments.length, 2, 'one account was made')
  t.equal(await running.end('SIGTERM'), 0)
})

t.test('a clock that is set back by an hour does not take anybody back', async t => {
  const { client } = await startHere(t)
  const send = () => {
    const event = { event_type: 'track', body: { event: 'call', company: { slug: 'a' } } }
    return client.ok('POST', '/events', event)
  }
  const before = await send()
  const real = Date.now
  t.teardown(() => {
    Date.now = real
  })
  Date.now = () => real() - 3_600_000
  const after = await send()
  t.ok(after.captured_at >= before.captured_at, 'captured_at')
  const company = await client.ok('POST', '/companies', { keys: { slug: 'a' }, traits: { n: 1 } })
  t.ok(company.updated_at >= before.captured_at, 'updated_at')
  t.ok(company.last_seen_at >= before.captured_at, 'last_seen_at')
  const metric = company.metrics.find((one: { period: string }) => one.period === 'current_day')
  t.equal(metric.value, 2)
})

// Requests beyond a bound are refused at the door, with 503 and Retry-After, and a retry counts once (promises 3, 6 and
// 8): the journal's backlog, what waits for the disk, the idempotency window.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { command } from '../command.js'
import { type Client, embedded, Process, type Response } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const slugs = ['a', 'b', 'c', 'd']
const attemptsMax = 600

interface Made {
  readonly key: string
  readonly body: object
}

let made = 0
function event(padding: number): Made {
  const key = `k${made++}`
  const body = {
    event: 'call',
    company: { slug: slugs[made % slugs.length] },
    traits: { x: 'x'.repeat(padding) },
  }
  return { key, body: { event_type: 'track', idempotency_key: key, body } }
}

async function begun(t: Test, settings: Readonly<Record<string, string>>) {
  const dataDir = join(await temporaryDirectory(t), 'data')
  const running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGKILL'))
  const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
  await running.client.ok('POST', '/flags', flag)
  for (const slug of slugs) await running.client.ok('POST', '/companies', { keys: { slug } })
  return { dataDir, running, client: running.client }
}

/** Refused as it must be: 503, and when to come back. */
function mustBeRefusal(t: Test, { status, headers, body }: Response): void {
  if (status !== 503 || !(Number(headers.get('retry-after')) >= 1))
    t.fail(`an event was answered ${status} ${JSON.stringify(body)}`)
}

/** Send a body until it is taken, or fail; `refusals` is counted up while this goes on. */
async function insist(
  t: Test,
  client: Client,
  path: string,
  body: object,
  told = { refusals: 0 },
): Promise<number> {
  for (; told.refusals < attemptsMax; told.refusals++) {
    const answer = await client.post(path, body)
    if (answer.status === 201) return told.refusals
    mustBeRefusal(t, answer)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`${path} was never taken`)
}

/** Each event is counted and stored once, in every place. */
async function countedOnce(t: Test, client: Client, dataDir: string, sent: number): Promise<void> {
  let counted = 0
  for (const slug of slugs) {
    const { metrics } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    counted += metrics.find((one: { period: string }) => one.period === 'all_time')?.value ?? 0
  }
  t.equal(counted, sent, 'each event is counted once')
  const settings = { TOLLGATE_URL: client.url, TOLLGATE_KEY: client.key }
  t.match(await command(dataDir, ['reconcile'], settings), { code: 0, said: / 0 differ/ }, 'and stored once')
}

function clickhouseOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const isBridge = (child: string) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('bridge.js')
  return Number(children.find(isBridge))
}

t.test('a backlog that has reached its bound', async t => {
  const { dataDir, running, client } = await begun(t, {
    ...embedded,
    TOLLGATE_JOURNAL_BACKLOG_BYTES: String(64 << 20),
    TOLLGATE_JOURNAL_SEGMENT_BYTES: String(1 << 20),
    TOLLGATE_CHECKPOINT_INTERVAL_MS: '300',
  })
  const clickhouse = clickhouseOf(running.child.pid!)
  process.kill(clickhouse, 'SIGSTOP')
  let sent = 0
  let refused: object | null = null
  try {
    while (refused === null && sent < 3_000) {
      const events = Array.from({ length: 50 }, () => event(50_000).body)
      const answer = await client.post('/event-batch', { events })
      if (answer.status === 201) sent += events.length
      else {
        mustBeRefusal(t, answer)
        refused = { events }
      }
    }
    t.ok(refused !== null, `refused after ${sent} events of 50 kB`)
    const single = event(0)
    mustBeRefusal(t, await client.post('/events', single.body))
    const check = await client.post('/flags/f/check', { company: { slug: 'a' } })
    t.match(check, { status: 200, body: { data: { value: true } } }, 'checks go on')
    const changed = await client.post('/companies', { keys: { slug: 'a' }, traits: { n: 1 } })
    t.equal(changed.status, 200, 'changes, too')
    // what had been refused is sent again and again until there is room
    const [batch, one] = [{ refusals: 0 }, { refusals: 0 }]
    const insisting = Promise.all([
      insist(t, client, '/event-batch', refused!, batch),
      insist(t, client, '/events', single.body, one),
    ])
    while (batch.refusals === 0 || one.refusals === 0) await new Promise(resolve => setTimeout(resolve, 20))
    process.kill(clickhouse, 'SIGCONT')
    await insisting
    t.comment(`taken after ${batch.refusals} and ${one.refusals} more refusals`)
    sent += 51
  } finally {
    process.kill(clickhouse, 'SIGCONT')
  }
  await countedOnce(t, client, dataDir, sent)
  t.equal(await running.end('SIGTERM'), 0)
})

t.test('more waits for the disk than may', async t => {
  const { dataDir, running, client } = await begun(t, { TOLLGATE_JOURNAL_PENDING_BYTES: '4096' })
  let sent = 0
  let all = 0
  // a quick disk and a slow sender may need several rounds
  for (let round = 0; round < 10 && all === 0; round++) {
    const events = Array.from({ length: 600 }, () => event(3_000))
    const refusals = await Promise.all(events.map(({ body }) => insist(t, client, '/events', body)))
    all = refusals.reduce((sum, count) => sum + count, 0)
    sent += events.length
  }
  t.ok(all > 0, `${all} refusals before ${sent} events were taken`)
  await countedOnce(t, client, dataDir, sent)
  t.equal(await running.end('SIGTERM'), 0)
})

t.test('a full idempotency window', async t => {
  const { dataDir, running, client } = await begun(t, { TOLLGATE_IDEMPOTENCY_BYTES: '70400' })
  const first = Array.from({ length: 1_000 }, () => event(0))
  await insist(t, client, '/event-batch', { events: first.map(({ body }) => body) })
  mustBeRefusal(t, await client.post('/events', event(0).body))
  t.equal((await client.post('/events', first[0]!.body)).status, 201, 'a key that is known is known')
  const without = { event_type: 'track', body: { event: 'call', company: { slug: 'a' } } }
  t.equal((await client.post('/events', without)).status, 201, 'an event without a key needs no place')
  await countedOnce(t, client, dataDir, 1_001)
  t.equal(await running.end('SIGTERM'), 0)
})

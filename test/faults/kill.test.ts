// kill -9 right after the last acknowledgement: everything acknowledged is counted, each once (promises 1 and 3).
import t from 'tap'
import { Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const events = 1_000

t.test(
  'EV-2 1 000 events, SIGKILL at once, restart: exactly 1 000 in the actor and in ClickHouse',
  async t => {
    const dataDir = await temporaryDirectory(t)
    const first = await Process.start(dataDir)
    t.teardown(() => first.child.kill('SIGKILL'))
    const post = (index: number) =>
      first.client.ok('POST', '/events', {
        event_type: 'track',
        idempotency_key: `k${index}`,
        body: { event: 'api_call', company: { slug: `co${index % 7}` }, user: { email: `u${index % 3}@x` } },
      })
    const acks = await Promise.all(Array.from({ length: events }, (_, index) => post(index)))
    await first.end('SIGKILL')

    const second = await Process.start(dataDir)
    t.teardown(() => second.end('SIGTERM'))
    const { client } = second
    let counted = 0
    for (let company = 0; company < 7; company++) {
      const found = await client.ok('GET', `/companies/lookup?slug=co${company}`)
      counted += found.metrics.find((one: { period: string }) => one.period === 'all_time').value
    }
    t.equal(counted, events, 'the actors count each once')

    // the idempotency window survived: a retry is acknowledged as the first and counts nothing
    const again = await client.ok('POST', '/events', {
      event_type: 'track',
      idempotency_key: 'k5',
      body: { event: 'api_call', company: { slug: 'co5' } },
    })
    t.equal(again.event_id, acks[5].event_id, 'EV-27 after a restart')

    let stored = 0
    for (let offset = 0; ; offset += 250) {
      const page = await client.ok('GET', `/events?event_types=track&limit=250&offset=${offset}`)
      stored += page.length
      if (page.length < 250) break
    }
    t.equal(stored, events, 'ClickHouse holds each once')
    const told = await fetch(`${client.url}/reconcile`, { headers: { 'X-Service-Api-Key': client.key } })
    t.strictSame(
      JSON.parse((await told.text()).trim().split('\n').at(-1)!),
      { companies: 7, pairs: 7, differences: 0 },
      'actors, hours and events agree',
    )
    t.equal(await second.end('SIGTERM'), 0, 'SIGTERM exits 0')
  },
)

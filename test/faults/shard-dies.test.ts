// A shard thread that dies: its callers hear 503 and Retry-After, a new thread replays the journal, and what was
// acknowledged is counted once, whatever was tried again (promises 1 to 3).
import t from 'tap'
import type { Shard } from '../../src/entities/shards/shards.js'
import { startHere } from '../harness.js'

const { client, tollgate } = await startHere(t)

/** Ends the thread of a shard from outside, whatever it is doing, as a fault would. */
async function endThread(index: number): Promise<void> {
  const { shards } = tollgate.services.shards as unknown as { shards: Shard[] }
  await shards[index % shards.length]!.thread!.destroy()
}

t.test('events sent while threads die are counted once each', async t => {
  const companies = ['a', 'b', 'c', 'd', 'e']
  const perCompany = 60
  let refused = 0
  let retryAfter = true

  const send = async (slug: string, index: number): Promise<void> => {
    const event = {
      event_type: 'track',
      idempotency_key: `${slug}-${index}`,
      body: { event: 'call', company: { slug }, user: { email: `${slug}@x` } },
    }
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const response = await client.post('/events', event)
      if (response.status === 201) return
      t.equal(response.status, 503, response.body.error)
      refused++
      retryAfter &&= response.headers.has('retry-after')
      await new Promise(resolve => setTimeout(resolve, 25))
    }
    t.fail(`${slug}-${index} was never accepted`)
  }

  let sending = true
  const killer = (async () => {
    for (let kill = 0; kill < 8 && sending; kill++) {
      await new Promise(resolve => setTimeout(resolve, kill % 2 ? 5 : 150)) // also one that is only starting
      await endThread(kill >> 1)
    }
  })()
  await Promise.all(
    companies.map(async slug => {
      for (let index = 0; index < perCompany; index++) await send(slug, index)
    }),
  )
  sending = false
  await killer

  for (const slug of companies) {
    const response = await retried(() => client.get(`/companies/lookup?slug=${slug}`))
    const metric = response.body.data.metrics.find((one: { period: string }) => one.period === 'all_time')
    t.equal(metric?.value, perCompany, `${slug}: each once`)
    t.equal(response.body.data.user_count, 1)
  }
  t.ok(refused > 0, 'threads died under requests')
  t.ok(retryAfter, `every one of ${refused} refusals says when to come back`)
  const stored = await client.ok('GET', '/events?limit=250&event_subtype=call')
  const more = await client.ok('GET', '/events?limit=250&offset=250&event_subtype=call')
  t.equal(stored.length + more.length, companies.length * perCompany, 'ClickHouse holds each once')
  t.same((await client.get('/health/ready')).body, { status: 'ready', degraded: [] })
})

/** A read, repeated while its shard restarts. */
async function retried(read: () => ReturnType<typeof client.get>): ReturnType<typeof client.get> {
  for (let attempt = 0; ; attempt++) {
    const response = await read()
    if (response.status !== 503 || attempt > 100) return response
    await new Promise(resolve => setTimeout(resolve, 25))
  }
}

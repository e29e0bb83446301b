// Two nodes. Both give the same answers, and each shows what the other acknowledged (promise 9). One is
// killed: nothing acknowledged is lost or counted twice, and the other serves its companies (promise 10).
import t from 'tap'
import { makeLong, sameLong } from '../long-values.js'
import { ownAll, skipped, TestCluster, until, whole } from './nodes.js'

const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
const slugs = Array.from({ length: 40 }, (_, index) => `co${index}`)

t.test('two nodes', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2)
  const [one, other] = cluster.nodes.map(({ client }) => client)
  await whole(() => cluster.nodes)

  await t.test('definitions, companies and events of one node are visible at the other', async t => {
    await one!.ok('POST', '/flags', flag)
    t.equal(
      (await other!.post('/flags/f/check', {})).status,
      200,
      'a flag is known everywhere once it is made',
    )
    const made = await Promise.all(
      slugs.map((slug, i) =>
        (i % 2 ? one! : other!).ok('POST', '/companies', { keys: { slug }, traits: { n: i } }),
      ),
    )
    for (const [i, slug] of slugs.entries()) {
      const { body } = await (i % 2 ? other! : one!).get(`/companies/lookup?slug=${slug}`)
      t.match(body.data, { id: made[i]!.id, traits: { n: i } }, `${slug} is the same on the other`)
    }
    t.equal((await other!.ok('GET', '/companies/count')).count, slugs.length)
    t.match((await one!.ok('GET', '/system')).stores, [
      { name: 'postgres', answers: true },
      { name: 'clickhouse', answers: true },
      { name: 'redis', answers: true },
    ])
  })

  await t.test('a key belongs to one company, whichever node receives it first', async t => {
    const both = await Promise.all(
      Array.from({ length: 20 }, (_, i) => [
        one!.post('/companies', { keys: { slug: `both${i}` } }),
        other!.post('/companies', { keys: { slug: `both${i}` } }),
      ]).flat(),
    )
    for (let i = 0; i < both.length; i += 2) {
      t.same([both[i]!.status, both[i + 1]!.status], [200, 200])
      t.equal(both[i]!.body.data.id, both[i + 1]!.body.data.id)
    }
    const events = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        [one!, other!].map(client =>
          client.post('/events', {
            event_type: 'track',
            body: { event: 'seen', company: { slug: `by-event${i}` } },
          }),
        ),
      ).flat(),
    )
    t.same([...new Set(events.map(({ status }) => status))], [201])
    for (let i = 0; i < 20; i++) {
      const company = await one!.ok('GET', `/companies/lookup?slug=by-event${i}`)
      const total = company.metrics.find((metric: { period: string }) => metric.period === 'all_time')
      t.equal(total.value, 2)
    }
  })

  await t.test('an idempotency key counts once, whichever node receives it', async t => {
    const send = (client: typeof one, key: string, slug: string) =>
      client!.post('/events', {
        event_type: 'track',
        idempotency_key: key,
        body: { event: 'once', company: { slug } },
      })
    for (const [i, slug] of slugs.entries()) {
      const first = await send(i % 2 ? one : other, `k${i}`, slug)
      t.equal(first.status, 201)
      const again = await send(i % 2 ? other : one, `k${i}`, slug)
      t.equal(again.status, 201)
      t.match(again.body.data, { event_id: first.body.data.event_id, duplicate: true })
      const elsewhere = await send(i % 2 ? other : one, `k${i}`, slugs[(i + 1) % slugs.length]!)
      t.match(elsewhere.body.data, { event_id: first.body.data.event_id, content_differs: true })
    }
    for (const slug of slugs) {
      const company = await other!.ok('GET', `/companies/lookup?slug=${slug}`)
      const total = company.metrics.find((metric: { period: string }) => metric.period === 'all_time')
      t.equal(total.value, 1, slug)
    }
  })

  await t.test('EV-25 a batch again at the other node: each event counts once, and keeps its id', async t => {
    const name = (i: number) => `batched${i % 3}`
    const event = (i: number, quantity = 1) => ({
      event_type: 'track',
      ...(i % 7 === 0 ? {} : { idempotency_key: `batch "${i}" ü` }),
      body: { event: name(i), company: { slug: slugs[i % slugs.length] }, quantity, traits: { i } },
    })
    const all = Array.from({ length: 80 }, (_, i) => event(i))
    const first = await one!.ok('POST', '/event-batch', { events: all.slice(0, 60) })
    // the keyless ones are left out, and one says something else
    const again = all.flatMap((_, i) => (i % 7 === 0 ? [] : [event(i, i === 4 ? 9 : 1)]))
    const second = await other!.ok('POST', '/event-batch', { events: again })
    for (const [at, sent] of again.entries()) {
      const i = Number(sent.body.traits.i)
      const answer = second.events[at] as Record<string, unknown>
      if (i < 60) t.equal(answer.event_id, first.events[i].event_id, `event ${i}`)
      if (i === 4) t.match(answer, { content_differs: true })
      else t.equal(answer.duplicate === true, i < 60, `event ${i}`)
    }
    const counts = new Map<string, number>()
    for (const [i] of all.entries())
      if (i < 60 || i % 7 !== 0) {
        const key = `${slugs[i % slugs.length]} ${name(i)}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    const found = new Map<string, number>()
    for (const slug of slugs) {
      const company = await one!.ok('GET', `/companies/lookup?slug=${slug}`)
      for (const { event_subtype, period, value } of company.metrics)
        if (period === 'all_time' && event_subtype.startsWith('batched'))
          found.set(`${slug} ${event_subtype}`, value)
    }
    t.same([...found].sort(), [...counts].sort())
  })

  await t.test('EV-27 a repeat that arrives beside the first event hears the same id', async t => {
    for (let i = 0; i < 20; i++) {
      const sent = [one, other, one, other].map(client =>
        client!.post('/events', {
          event_type: 'track',
          idempotency_key: `beside${i}`,
          body: { event: 'beside', company: { slug: slugs[0] } },
        }),
      )
      const answers = await Promise.all(sent)
      t.same(
        answers.map(({ status }) => status),
        [201, 201, 201, 201],
      )
      t.equal(new Set(answers.map(({ body }) => body.data.event_id)).size, 1)
      t.equal(answers.filter(({ body }) => body.data.duplicate === true).length, 3)
    }
  })

  await t.test('keys, deletions and users reach the other node before the answer', async t => {
    const [{ id: environment_id }] = await one!.ok('GET', '/environments')
    const key = await one!.ok('POST', '/api-keys', { name: 'k', scopes: ['read'], environment_id })
    const reader = other!.as(key.secret)
    t.equal((await reader.get('/companies/count')).status, 200)
    await one!.ok('DELETE', `/api-keys/${key.id}`)
    t.equal((await reader.get('/companies/count')).status, 401)
    await one!.ok('POST', '/users', { keys: { mail: 'a' }, company: { slug: 'co0' } })
    const company = await other!.ok('GET', '/companies/lookup?slug=co0')
    t.equal(company.user_count, 1)
    t.equal((await other!.ok('GET', '/users/lookup?mail=a')).keys[0].value, 'a')
    const gone = await one!.ok('GET', '/companies/lookup?slug=both0')
    await one!.ok('DELETE', `/companies/${gone.id}`)
    t.equal((await other!.get('/companies/lookup?slug=both0')).status, 404)
    const anew = await other!.ok('POST', '/companies', { keys: { slug: 'both0' } })
    t.not(anew.id, gone.id)
  })

  const long = await makeLong(other!)
  await t.test('long: money and quantities of 64 bits have all their digits on both nodes', async t => {
    for (const client of [one!, other!]) await sameLong(t, client, long)
  })

  await t.test('a node is killed under load', async t => {
    const sent = new Map<string, number>()
    const statuses = new Map<number, number>()
    let going = true
    let number = 0
    let quietMs = 0
    const { client } = cluster.nodes[0]!
    const work = async (slug: string) => {
      while (going) {
        const idempotency_key = `load${number++}`
        const event = { event_type: 'track', idempotency_key, body: { event: 'load', company: { slug } } }
        const beganMs = performance.now()
        // A sender repeats its event until it is acknowledged.
        for (;;) {
          const { status } = await client.post('/events', event)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 201) break
          await new Promise(resolve => setTimeout(resolve, 20))
        }
        quietMs = Math.max(quietMs, performance.now() - beganMs)
        sent.set(slug, (sent.get(slug) ?? 0) + 1)
      }
    }
    const before = await Promise.all(slugs.map(slug => one!.ok('GET', `/companies/lookup?slug=${slug}`)))
    const working = slugs.slice(0, 16).map(work)
    await until(() => number > 300, 'some events are acknowledged')
    await cluster.nodes[1]!.process.end('SIGKILL')
    const killedAt = number
    await until(() => ownAll(cluster.living), 'the node that is left has all shards')
    await whole(() => cluster.living)
    await until(() => number > killedAt + 300, 'more events are acknowledged')
    going = false
    await Promise.all(working)
    t.comment(`longest wait of a sender: ${Math.round(quietMs)} ms; ${JSON.stringify([...statuses])}`)
    t.same(
      [...statuses.keys()].filter(status => status !== 201 && status !== 503),
      [],
    )
    for (const [i, slug] of slugs.entries()) {
      const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
      const all = (one: { metrics: { period: string; event_subtype: string; value: number }[] }) =>
        one.metrics.filter(({ period }) => period === 'all_time').reduce((sum, { value }) => sum + value, 0)
      t.equal(all(company) - all(before[i]!), sent.get(slug) ?? 0, `${slug}: each once`)
    }
    const [total] = await Promise.all([
      client.ok('GET', '/companies/count'),
      until(async () => (await client.get('/health/ready')).status === 200, 'ready'),
    ])
    t.equal(total.count, slugs.length + 41)
    await sameLong(t, client, long)
  })
})

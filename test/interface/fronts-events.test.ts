// Two fronts have one window of idempotency keys: whichever connections an event and its repeats come on, it counts once
// (EV-25…28), and each caller hears of the same event.
import t, { type Test } from 'tap'
import { Fronts } from '../../src/front/extra/fronts.js'
import { chooseServer } from '../../src/front/http/apps/native.js'
import { Passage } from '../../src/front/http/apps/passed-app.js'
import { UsesReader } from '../../src/wire/front-uses.js'
import { type Client, startHere } from '../harness.js'
import { Random, times } from '../random.js'
import { type Answer, Connections, mainThreadTakesToo } from './connections.js'
import { makeFlag } from './flags.js'

const skip = chooseServer('auto').native ? false : 'the native server does not load here'

// its answers are what the fronts' are compared with
mainThreadTakesToo(t)

// what the extra front reads itself comes to the main thread here
let readElsewhere = 0
const { read } = UsesReader.prototype
UsesReader.prototype.read = function (packet, visit) {
  read.call(this, packet, (request, from) => {
    readElsewhere += request.count
    visit(request, from)
  })
}
/** Requests that were told of by a message for several. */
let toldTogether = 0
const { say } = Passage.prototype
Passage.prototype.say = function (one, transfer) {
  if (one?.[0] === 'durable' && one[1].length > 1) toldTogether += one[1].length
  say.call(this, one, transfer)
}
t.teardown(() => {
  UsesReader.prototype.read = read
  Passage.prototype.say = say
})

const slugs = ['c0', 'c1', 'c2']

interface Said {
  readonly key?: string
  readonly slug: string
  readonly event?: string
  readonly quantity?: number
  readonly user?: boolean
}
const track = ({ key, slug, event = 'call', quantity, user = false }: Said) => ({
  event_type: 'track',
  ...(key !== undefined && { idempotency_key: key }),
  body: {
    event,
    company: { slug },
    ...(user && { user: { email: `${slug}@x` } }),
    ...(quantity !== undefined && { quantity }),
  },
})

async function usedOf(client: Client, slug: string, event = 'call'): Promise<number> {
  const { metrics } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
  return (
    metrics.find(
      (one: { event_subtype: string; period: string }) =>
        one.event_subtype === event && one.period === 'all_time',
    )?.value ?? 0
  )
}

/** The same while a thread that died starts again: until then its requests fail. */
async function usedAfterDeath(client: Client, slug: string, event: string): Promise<number> {
  for (let tries = 0; ; tries++)
    try {
      return await usedOf(client, slug, event)
    } catch (error) {
      if (tries === 100) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
}

/** Both fronts know the key; there are the companies, each with a user. */
async function prepare(t: Test, client: Client, connections: Connections): Promise<readonly boolean[]> {
  await makeFlag(client, 'first', true)
  for (const slug of slugs) {
    await client.ok('POST', '/companies', { keys: { slug } })
    await client.ok('POST', '/users', { keys: { email: `${slug}@x` }, company: { slug } })
  }
  const are = await connections.elsewhere()
  t.ok(are.includes(true) && are.includes(false), `connections of both: ${are}`)
  return are
}

interface Acknowledged {
  readonly event_id: string
  readonly captured_at: string
  readonly duplicate?: boolean
  readonly content_differs?: boolean
}
const acksOf = ({ body }: Answer): readonly Acknowledged[] => body.data.events ?? [body.data]

t.test('EV-25 EV-27 a key counts once, whichever front an event comes to', { skip }, async t => {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_SHARDS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await prepare(t, client, connections)
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const firsts = new Map<string, string>()
  const expected = new Map<string, number>(slugs.map(slug => [slug, 0]))
  const before = readElsewhere
  const toldBefore = toldTogether
  let keys = 0
  for (let step = 0; step < times(8); step++) {
    // a few keys, each with one content, sent many times at once
    const pool = Array.from({ length: 1 + random.below(12) }, (): Said => {
      const isOld = keys > 0 && random.chance(0.3)
      const number = isOld ? random.below(keys) : keys++
      const slug = slugs[number % slugs.length]!
      return { key: `key-${number}`, slug, quantity: 1 + (number % 3), user: number % 5 === 0 }
    })
    const sent = await Promise.all(
      Array.from({ length: 32 }, async (_, on) => {
        const isBatch = random.chance(0.4)
        const said = Array.from({ length: isBatch ? 1 + random.below(60) : 1 }, () => random.pick(pool))
        const events = said.map(track)
        const [path, body] = isBatch ? ['/event-batch', { events }] : ['/events', events[0]]
        return { said, answer: await connections.send(on, 'POST', path as string, body) }
      }),
    )
    const acknowledged = new Map<string, Acknowledged[]>()
    for (const { said, answer } of sent) {
      t.equal(answer.status, 201, JSON.stringify(answer.body))
      const acks = acksOf(answer)
      t.equal(acks.length, said.length)
      for (const [place, { key }] of said.entries())
        acknowledged.set(key!, [...(acknowledged.get(key!) ?? []), acks[place]!])
    }
    for (const [key, acks] of acknowledged) {
      const { slug, quantity } = pool.find(one => one.key === key)!
      const isNew = !firsts.has(key)
      firsts.set(key, firsts.get(key) ?? acks[0]!.event_id)
      if (isNew) expected.set(slug, expected.get(slug)! + quantity!)
      t.ok(
        acks.every(({ event_id }) => event_id === firsts.get(key)),
        `${key} is one event`,
      )
      t.equal(acks.filter(({ duplicate }) => duplicate !== true).length, isNew ? 1 : 0, `${key} is new once`)
    }
    for (const slug of slugs) t.equal(await usedOf(client, slug), expected.get(slug), `step ${step}: ${slug}`)
    if (!t.passing()) return
  }
  t.ok(readElsewhere > before, `${readElsewhere - before} events were read by extra fronts`)
  // sent together until a front has read two in one turn
  let sent = 0
  for (let round = 0; round < 100 && toldTogether === toldBefore; round++) {
    const fresh = Array.from({ length: 32 }, () => track({ key: `fresh-${sent++}`, slug: 'c0' }))
    const answers = await Promise.all(fresh.map((one, on) => connections.send(on, 'POST', '/events', one)))
    for (const { status } of answers) t.equal(status, 201)
  }
  t.ok(toldTogether > toldBefore, `${toldTogether - toldBefore} single events were taken with others`)
  t.equal(await usedOf(client, 'c0'), expected.get('c0')! + sent)
})

t.test('what a front leaves to the main thread has the same answer', { skip }, async t => {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  const are = await prepare(t, client, connections)
  const elsewhere = are.indexOf(true)
  const here = are.indexOf(false)
  const post = (on: number, path: string, body: unknown) => connections.send(on, 'POST', path, body)
  for (const [name, on, other] of [
    ['elsewhere', elsewhere, here],
    ['here', here, elsewhere],
  ] as const) {
    const key = (text: string) => `${name} ${text}`
    const first = await post(on, '/events', track({ key: key('a'), slug: 'c0' }))
    const [{ event_id, captured_at }] = acksOf(first) as [Acknowledged]
    const again = acksOf(await post(other, '/events', track({ key: key('a'), slug: 'c0' })))
    t.match(again, [{ event_id, captured_at, duplicate: true }])
    // EV-25: the key is the environment's, not the company's
    const differs = acksOf(await post(other, '/events', track({ key: key('a'), slug: 'c1' })))
    t.match(differs, [{ event_id, duplicate: true, content_differs: true }])
    const batch = await post(on, '/event-batch', {
      events: [
        track({ key: key('b'), slug: 'c0' }),
        track({ key: key('a'), slug: 'c2' }),
        track({ key: key('c'), slug: 'new', event: name }),
        { event_type: 'track' },
        track({ slug: 'c0', event: 'keyless' }),
      ],
    })
    t.equal(batch.status, 201)
    const acks = acksOf(batch)
    t.equal(acks.length, 5)
    t.match(acks[1], { event_id, content_differs: true })
    t.equal(await usedOf(client, 'new', name), 1, 'a new company is made')
    t.equal((await post(on, '/events', { event_type: 'track' })).status, 400)
    t.equal((await post(on, '/events', 'text')).status, 400)
    t.equal((await post(on, '/event-batch', { events: [] })).status, 201)
    const one = await post(on, '/events', track({ slug: 'c0', event: `keyless ${name}` }))
    t.same(Object.keys(one.body), ['data', 'params'])
    t.same(Object.keys(one.body.data), ['captured_at', 'event_id', 'remote_addr', 'remote_ip', 'user_agent'])
    t.equal(one.body.data.remote_ip, '127.0.0.1')
  }
  t.equal(await usedOf(client, 'c0'), 4)
  t.equal(await usedOf(client, 'c0', 'keyless'), 2)
  t.equal(await usedOf(client, 'c1'), 0)
  t.equal(await usedOf(client, 'c2'), 0)
})

t.test('AL-41 budgets of events are exact over fronts', { skip }, async t => {
  // so slow a rate that time adds no token while the test runs
  const { tollgate, client } = await startHere(t, {
    TOLLGATE_FRONTS: '2',
    TOLLGATE_LIMITS: '{"global":[0.0001,2000],"events_ingest":[0.0001,300]}',
  })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await prepare(t, client, connections)
  const event = track({ slug: 'c0', event: 'limited' })
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, on) => connections.send(on, 'POST', '/events', event)),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 300, 'admitted is what there was')
  const refused = answers.filter(({ status }) => status === 429)
  t.equal(refused.length, 100)
  t.ok(refused.every(({ body }) => body.bucket === 'events_ingest'))
  t.ok(
    refused.some(({ headers }) => /-f\d+_/.test(String(headers['x-request-id']))),
    'the extra front refuses some',
  )
  t.equal(await usedOf(client, 'c0', 'limited'), 300)
})

t.test('promises 1 to 3 events of two fronts are counted once while shards die', { skip }, async t => {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_SHARDS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await prepare(t, client, connections)
  const { shards } = tollgate.services.shards as unknown as {
    shards: { readonly thread: { destroy(): Promise<unknown> } | null }[]
  }
  let sending = true
  const killer = (async () => {
    for (let kill = 0; kill < 6 && sending; kill++) {
      await new Promise(resolve => setTimeout(resolve, kill % 2 ? 5 : 120))
      await shards[kill % 2]!.thread!.destroy()
    }
  })()
  let refused = 0
  const perConnection = 30
  await Promise.all(
    Array.from({ length: connections.count }, async (_, on) => {
      for (let i = 0; i < perConnection; i++) {
        const slug = slugs[i % slugs.length]!
        const event = track({ key: `dies ${on} ${i}`, slug, event: 'dies' })
        for (let tries = 0; ; tries++) {
          const { status, headers, body } = await connections.send(on + tries, 'POST', '/events', event)
          if (status === 201) break
          if (tries > 1_000) throw new Error('never taken')
          t.equal(status, 503, body.error)
          t.ok(Number(headers['retry-after']) >= 1)
          refused++
          await new Promise(resolve => setTimeout(resolve, 20))
        }
        const { status } = await connections.send(on, 'POST', '/flags/first/check', { company: { slug } })
        if (status !== 200) t.equal(status, 503)
      }
    }),
  )
  sending = false
  await killer
  t.comment(`${refused} were refused`)
  for (const slug of slugs)
    t.equal(
      await usedAfterDeath(client, slug, 'dies'),
      (connections.count * perConnection) / slugs.length,
      `${slug}: each once`,
    )
})

t.test('promises 1 to 3 events of a front that dies are counted once', { skip }, async t => {
  let fronts: { readonly fronts: readonly { readonly passage: Passage }[] } | null = null
  const { start } = Fronts.prototype
  Fronts.prototype.start = function () {
    fronts = this as unknown as typeof fronts
    return start.call(this)
  }
  t.teardown(() => {
    Fronts.prototype.start = start
  })
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_SHARDS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await prepare(t, client, connections)
  const before = readElsewhere
  let sending = true
  const killer = (async () => {
    for (let kill = 0; kill < 4 && sending; kill++) {
      await new Promise(resolve => setTimeout(resolve, 150))
      // what no main thread says: the front cannot read it, and ends
      fronts!.fronts[0]!.passage.say(null as never)
    }
  })()
  const perConnection = 24
  let lost = 0
  await Promise.all(
    Array.from({ length: connections.count }, async (_, on) => {
      for (let i = 0; i < perConnection; i++) {
        const slug = slugs[i % slugs.length]!
        const events = [0, 1, 2].map(n => track({ key: `front ${on} ${i} ${n}`, slug, event: 'front' }))
        for (let tries = 0; tries < 1_000; tries++) {
          const answer = await connections.send(on, 'POST', '/event-batch', { events }).catch(() => null)
          if (answer?.status === 201) break
          lost++
          if (answer !== null) t.equal(answer.status, 503, JSON.stringify(answer.body))
          await new Promise(resolve => setTimeout(resolve, 10))
        }
        if (i % 8 === 0) await connections.send(on, 'POST', '/flags/first/check', {}).catch(() => null)
      }
    }),
  )
  sending = false
  await killer
  t.comment(`${lost} had no answer, or 503; ${readElsewhere - before} events were read by the extra front`)
  const counts = await Promise.all(slugs.map(slug => usedAfterDeath(client, slug, 'front')))
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    3 * perConnection * connections.count,
    'each once',
  )
})

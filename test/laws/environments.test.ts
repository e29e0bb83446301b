// A law: the work of one environment changes no status in another (security 5, 7). Development sends random
// hostile and heavy work with all its keys, against small bounds. Meanwhile Production sends its usual
// requests and receives the same statuses as without Development. The seed is printed; TOLLGATE_SEED repeats
// a run.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { Random } from '../random.js'

const random = new Random()
t.comment(`TOLLGATE_SEED=${random.seed}`)

const { client } = await startHere(t, {
  TOLLGATE_LIMITS: '{"global":[50,100],"mutation":[40,80],"events_ingest":[2,80],"analytics":[5,20]}',
  TOLLGATE_LIMITS_SCOPE: 'environment',
  TOLLGATE_IDEMPOTENCY_BYTES: '40000',
  TOLLGATE_COMPANIES_MAX: '200',
  TOLLGATE_USERS_MAX: '200',
  TOLLGATE_KEY_NAMES_MAX: '50',
  TOLLGATE_EVENT_NAMES_MAX: '400',
})

const { environments } = await client.ok('GET', '/whoami')
const production = environments.find((one: { name: string }) => one.name === 'Production').id as string
const secret = await client.ok('POST', '/api-keys', { name: 'p', environment_id: production })
const shown = await client.ok('GET', '/api-keys?limit=250&require_environment=true')
const publicOf = (mine: (environmentId: string) => boolean): string =>
  shown.find(
    (key: { secret?: string; environment_id: string }) =>
      key.secret?.startsWith('pk_') && mine(key.environment_id),
  ).secret
const theirs = [client, client.as(publicOf(id => id !== production))]
const ours = client.as(secret.secret)
const ourPublic = client.as(publicOf(id => id === production))

const many = (count: number, event: (n: number) => object) => ({
  events: Array.from({ length: count }, (_, n) => event(n)),
})
const tag = () => random.below(1_000_000).toString(36)

/** Requests of Development. */
const hostile: readonly ((of: Client) => Promise<unknown>)[] = [
  of =>
    of.post(
      '/event-batch',
      many(300, n => ({
        event_type: 'track',
        idempotency_key: `invoice-${n}-${random.chance(0.5) ? tag() : ''}`,
        body: { event: 'call', company: { slug: `a${n % 5}` } },
      })),
    ),
  of =>
    of.post(
      '/event-batch',
      many(150, n => ({ event_type: 'track', body: { event: tag(), company: { slug: `${tag()}${n}` } } })),
    ),
  of =>
    of.post(
      '/event-batch',
      many(40, () => ({
        event_type: 'identify',
        body: {
          keys: { [tag()]: tag() },
          traits: { big: 'x'.repeat(20_000) },
          company: { keys: { [tag()]: tag() } },
        },
      })),
    ),
  of =>
    of.post(
      '/event-batch',
      many(200, () => ({})),
    ),
  of => of.post('/event-batch', '{"events":['.repeat(2_000)),
  of => of.post('/events', `{"event_type":${'['.repeat(5_000)}`),
  of => Promise.all(Array.from({ length: 30 }, () => of.post('/events', {}))),
  of => of.get(`/events?limit=250&offset=${random.below(90_000)}`),
  of => of.get(`/companies?q=${tag()}&limit=250&offset=${random.below(200_000)}`),
  of => of.get('/companies?limit=250&all_metrics=true'),
  of => of.post('/flags/nobody/check', { company: { slug: tag() } }),
  of => of.post('/companies', { keys: { slug: tag() }, traits: Object.fromEntries([[tag(), tag()]]) }),
  of => of.del(`/companies/comp_${tag()}`),
  // Many changes of definitions at once.
  of =>
    Promise.all(
      Array.from({ length: 12 }, () =>
        of.post('/flags', {
          key: tag(),
          name: 'f',
          description: '',
          flag_type: 'boolean',
          default_value: false,
        }),
      ),
    ),
  // Several large bodies at once, which another thread parses.
  of =>
    Promise.all(
      Array.from({ length: 3 }, () =>
        of.post('/event-batch', `{"events":[${'{"event_type":"track"},'.repeat(30_000)}{}]}`),
      ),
    ),
  // Reads of a store that all environments share.
  of => of.get('/events?limit=1'),
  of => of.get('/event-types'),
]

const flagOf = (key: string) => ({
  key,
  name: key,
  description: '',
  flag_type: 'boolean',
  default_value: false,
})

/** A batch that another thread parses: few events, much text. */
const large = many(5, () => ({
  event_type: 'track',
  body: { event: 'large', company: { slug: 'ours' }, traits: { note: 'x'.repeat(60_000) } },
}))

/** Requests of Production, with the expected statuses. */
const ordinary = (
  round: number,
): readonly (readonly [string, number, () => Promise<{ readonly status: number }>])[] => [
  [
    'a keyed event',
    201,
    () =>
      ours.post('/events', {
        event_type: 'track',
        idempotency_key: `invoice-${round}-`,
        body: { event: 'call', company: { slug: 'ours' } },
      }),
  ],
  [
    'a keyed event of a public key',
    201,
    () =>
      ourPublic.post('/events', {
        event_type: 'track',
        idempotency_key: `invoice-${round}-`,
        body: { event: 'seen', company: { slug: 'ours' } },
      }),
  ],
  [
    'a batch',
    201,
    () =>
      ours.post(
        '/event-batch',
        many(3, n => ({
          event_type: 'track',
          idempotency_key: `batch-${round}-${n}`,
          body: { event: 'call', company: { slug: 'ours' } },
        })),
      ),
  ],
  ['a new company', 200, () => ours.post('/companies', { keys: { slug: `ours-${round}` } })],
  ['a look-up', 200, () => ours.get('/companies/lookup?slug=ours')],
  ['a list', 200, () => ours.get('/companies?q=ours&limit=5')],
  ['a change of a definition', 201, () => ours.post('/flags', flagOf(`ours-${round}`))],
  ['its own events', 200, () => ours.get('/events?limit=1')],
  ['a large batch', 201, () => ours.post('/event-batch', large)],
  ['a check', 404, () => ours.post('/flags/nobody/check', { company: { slug: 'ours' } })],
  ['a check of all flags', 201, () => ours.post('/flags/check', { company: { slug: 'ours' } })],
]

await ours.ok('POST', '/companies', { keys: { slug: 'ours' } })
await client.ok('PUT', `/environments/${production}`, { publishable_limits: { name_events: true } })

t.test('the work of Development changes no status in Production', async t => {
  const heard = new Map<number, number>()
  const rounds = 12
  for (let round = 0; round < rounds; round++) {
    const work = Array.from({ length: 6 }, async () => {
      const answers = [await random.pick(hostile)(random.pick(theirs))].flat() as { status: number }[]
      for (const { status } of answers) heard.set(status, (heard.get(status) ?? 0) + 1)
    })
    // A few requests per round: Production may only use up its own budget.
    for (const [what, expected, send] of ordinary(round)) {
      const { status } = await send()
      if (status !== expected) t.equal(status, expected, `round ${round}: ${what}`)
    }
    await Promise.all(work)
  }
  // More than its burst at once, however slow the machine is.
  for (const { status } of await Promise.all(
    Array.from({ length: 150 }, () => theirs[0]!.post('/events', {})),
  ))
    heard.set(status, (heard.get(status) ?? 0) + 1)
  const { metrics } = await ours.ok('GET', '/companies/lookup?slug=ours')
  const counted = metrics.find(
    (one: { event_subtype: string; period: string }) =>
      one.event_subtype === 'call' && one.period === 'all_time',
  )
  t.equal(counted?.value, rounds * 4, 'and every event of Production is counted once')
  t.comment(
    `Development heard ${[...heard]
      .sort()
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ')}`,
  )
  t.ok((heard.get(429) ?? 0) + (heard.get(503) ?? 0) > 0, 'some bound was reached')
})

t.test(
  'security 5: a mutation waits for few of the companies that a batch of another environment makes',
  async t => {
    const made = 4_000
    const { client, tollgate } = await startHere(t, { TOLLGATE_WRITES_BEHIND_MAX: '50' })
    const { sql } = tollgate.services
    const { environments } = await client.ok('GET', '/whoami')
    const production = environments.find((one: { name: string }) => one.name === 'Production').id as string
    const { secret } = await client.ok('POST', '/api-keys', { name: 'p', environment_id: production })
    const ours = client.as(secret)
    const shown = async (): Promise<number> => {
      const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from companies where environment_id <> ${production}`
      return row!.n
    }
    const batch = client.post(
      '/event-batch',
      many(made, n => ({ event_type: 'track', body: { event: 'call', company: { slug: `new-${n}` } } })),
    )
    while ((await shown()) === 0) await nextTurn()
    // Companies that are durable by now precede this one in its journal.
    await ours.ok('POST', '/companies', { keys: { slug: 'ours' } })
    const before = await shown()
    t.ok(before < made, `answered when ${before} of ${made} were there`)
    t.equal((await batch).status, 201)
    const behind = made - (await shown())
    // At most 50 and a piece, plus the writes during a stall of Postgres on a busy machine. Without the bound
    // it would be half.
    t.ok(behind <= made / 4, `the batch is acknowledged when Postgres lacks ${behind} of it`)
  },
)

t.test('security 5: a read waits for the rows of its own environment, not for those of another', async t => {
  const { client, tollgate } = await startHere(t)
  const { projections } = tollgate.services
  const { environments } = await client.ok('GET', '/whoami')
  const production = environments.find((one: { name: string }) => one.name === 'Production').id as string
  const { secret } = await client.ok('POST', '/api-keys', { name: 'p', environment_id: production })
  const ours = client.as(secret)
  const event = (of: Client) =>
    of.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company: { slug: 'one' } } })
  await event(ours)
  await event(client)
  const before = (await ours.ok('GET', '/events')).length
  await client.ok('GET', '/events')
  await projections.hold('clickhouse', 30_000)
  await event(client)
  let isRead = false
  const theirs = client.ok('GET', '/events').then(rows => {
    isRead = true
    return rows
  })
  t.equal((await ours.ok('GET', '/events')).length, before, 'answered while the other cannot be')
  t.notOk(isRead)
  projections.release()
  t.equal((await theirs).length, 2)
})

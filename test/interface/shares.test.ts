// Bounds of one key's use (security H3, H5): requests that stand for many are charged by what they make, bodies by their
// length (AL-52). Counted in tokens: the budgets of this Tollgate are not refilled.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type Response, startHere } from '../harness.js'

const { client } = await startHere(t, {
  TOLLGATE_LIMITS:
    '{"global":[0.001,2000],"mutation":[0.001,2000],"events_ingest":[0.001,2000],"analytics":[0.001,2000]}',
})
const { environment_id } = await client.ok('GET', '/whoami')
const account = client.as((await client.ok('POST', '/api-keys', { name: 'account' })).secret)
const listed = await account.ok(
  'GET',
  `/api-keys?limit=250&require_environment=true&environment_id=${environment_id}`,
)
const pub = client.as(listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret)
for (let n = 0; n < 101; n++)
  await client.ok('POST', '/flags', {
    name: `f${n}`,
    key: `f${n}`,
    description: 'x'.repeat(1_000),
    default_value: false,
    flag_type: 'boolean',
  })

const left = ({ headers }: Response): number => Number(headers.get('x-ratelimit-remaining'))
/** Tokens that a request takes of its key's budget. */
async function costOf(key: typeof client, send: () => Promise<Response>): Promise<number> {
  const one = { company: { slug: 'none' } }
  const before = left(await key.post('/flags/f1/check', one))
  await send()
  return before - left(await key.post('/flags/f1/check', one)) - 1
}
const contexts = (count: number) => Array.from({ length: count }, (_, n) => ({ company: { slug: `c${n}` } }))

t.test('AL-52 security H3 every flag for many contexts costs what it makes', async t => {
  const all = () => client.post('/flags/check', { company: { slug: 'none' } })
  t.equal(await costOf(client, all), 2, '101 flags')
  const ofrep = () => client.post('/ofrep/v1/evaluate/flags', { context: { company: { slug: 'none' } } })
  t.equal(await costOf(client, ofrep), 2, 'by the other protocol')
  const bulk = () => client.post('/flags/check-bulk', { contexts: contexts(99) })
  t.equal(await costOf(client, bulk), 198)
  t.equal((await bulk()).body.data.data.length, 99)
  const tooMany = await client.post('/flags/check-bulk', { contexts: contexts(100) })
  t.match(
    tooMany,
    { status: 400, body: { error: /at most 99, for 101 flags/ } },
    '10,000 evaluations at most',
  )
  t.equal((await pub.post('/flags/check-bulk', { contexts: contexts(10) })).status, 201)
  const public11 = await pub.post('/flags/check-bulk', { contexts: contexts(11) })
  t.match(public11, { status: 400, body: { error: /at most 10/ } }, 'a page checks for few')
})

t.test('security H3 a page of many costs what it reads', async t => {
  for (let n = 0; n < 26; n++) await client.ok('POST', '/companies', { keys: { slug: `page${n}` } })
  t.equal(await costOf(client, () => client.get('/companies?limit=20')), 1)
  t.equal(await costOf(client, () => client.get('/companies?limit=250')), 2)
})

t.test('security H3 a list costs its bytes', async t => {
  const list = () => client.get('/flags?limit=250')
  const { body } = await list()
  const tokens = Math.floor(JSON.stringify(body).length / 32_768)
  t.ok(tokens >= 1, 'longer than what one token pays for')
  t.equal(await costOf(client, list), 1 + tokens)
  t.equal(await costOf(client, () => client.get('/flags?limit=1')), 1)
})

t.test('AL-14 security H5 a signed context costs in each event that it is written into', async t => {
  const { environment_id: id } = await client.ok('GET', '/whoami')
  await client.ok('POST', `/environments/${id}/context-secret`, {})
  const keys = (of: string) =>
    Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${of}${n}`, 'c'.repeat(240)]))
  const signed = await client.ok('POST', '/signed-contexts', { company: keys('c'), user: keys('u') })
  const body = { events: Array.from({ length: 200 }, () => ({ event_type: 'track', body: { event: 'e' } })) }
  const send = (context: string) => () =>
    pub.post('/event-batch', body, context === '' ? {} : { 'X-Service-Signed-Context': context })
  t.equal(await costOf(pub, send('')), 1)
  const cost = await costOf(pub, send(signed.signed_context))
  t.ok(cost >= 30, `${cost} for 600 kB`)
})

t.test('security H5 a body costs what it holds, however short it came', async t => {
  const padded = JSON.stringify({ company: { slug: 'none' }, more: 'x'.repeat(100_000) })
  t.equal(await costOf(client, () => client.post('/flags/f1/check', padded)), 7)
  const zipped = () =>
    fetch(`${client.url}/flags/f1/check`, {
      method: 'POST',
      headers: {
        'X-Service-Api-Key': client.key,
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
      },
      body: gzipSync(padded),
    }) as unknown as Promise<Response>
  t.equal(await costOf(client, zipped), 7)
})

t.test('security H5 numerals and values beyond any use are refused at every door', async t => {
  for (const digits of [21, 400, 1_000_000]) {
    const number = '9'.repeat(digits)
    const event = `{"event_type":"track","body":{"event":"call","company":{"slug":"a"},"quantity":${number}}}`
    t.equal((await client.post('/events', event)).status, 400, `an event, ${digits}`)
    const { body } = await client.post(
      '/event-batch?report=true',
      `{"events":[${event},{"event_type":"none"}]}`,
    )
    if (digits < 1_000) t.match(body.data.events[0].error, /quantity/, `a batch, ${digits}`)
    for (const at of ['usage', 'credit_cost'])
      t.equal(
        (await client.post('/flags/f1/check', `{"company":{"slug":"a"},"preflight":{"${at}":${number}}}`))
          .status,
        400,
        `${at}, ${digits}`,
      )
    const incr = `{"keys":{"slug":"page1"},"trait":"n","incr":${number}}`
    t.equal((await client.post('/company-traits', incr)).status, 400, `incr, ${digits}`)
  }
  for (const filler of ['{}', '[]', '1', '"a"', '[[]]']) {
    const many = `[${Array(200_000).fill(filler).join(',')}]`
    for (const [path, body] of [
      ['/flags/f1/check', `{"company":{"slug":"a"},"more":${many}}`],
      ['/flags/check-bulk', `{"contexts":[{}],"more":${many}}`],
      ['/ofrep/v1/evaluate/flags', `{"context":{"more":${many}}}`],
      ['/events', `{"event_type":"track","body":{"event":"a","more":${many}}}`],
      ['/event-batch', `{"events":[{"event_type":"track","body":{"event":"a","more":${many}}}]}`],
      ['/companies', `{"keys":{"slug":"page1"},"traits":{"more":${many}}}`],
    ] as const)
      t.equal((await client.post(path, body)).status, 400, `${path} ${filler}`)
  }
})

// The collector of a whole Tollgate: what was found against it, each held by a request of its own.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type Client, startHere } from '../harness.js'

const { client, tollgate } = await startHere(t)
const { keys } = tollgate.services
const whoami = await client.ok('GET', '/whoami')
const production = whoami.environments.find((one: { name: string }) => one.name === 'Production').id as string
const account = client.as((await client.ok('POST', '/api-keys', { name: 'account' })).secret)
const inProduction = client.as(account.key, { 'X-Service-Environment-Id': production })
const publicKey = async (environmentId: string): Promise<string> => {
  const listed = await account.ok(
    'GET',
    `/api-keys?limit=250&require_environment=true&environment_id=${environmentId}`,
  )
  return listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret
}
const pkDev = await publicKey(whoami.environment_id)
const pkProd = await publicKey(production)

const nobody = client.as('')
const track = (api_key: string, slug: string) => ({
  api_key,
  type: 'track',
  body: { event: 'call', company: { slug } },
})
const batch = (from: Client, ...events: readonly object[]) => from.post('/batch', { events })
const found = async (from: Client, slug: string) => (await from.get(`/companies/lookup?slug=${slug}`)).status

t.test('security 4 a signed context is required of a key that a body names, too', async t => {
  await account.ok('PUT', `/environments/${production}`, { require_context_signature: true })
  t.equal((await batch(nobody, track(pkProd, 'victim'))).status, 403)
  const owned = { keys: { mail: 'm' }, company: { keys: { slug: 'victim' }, name: 'OWNED' } }
  for (const from of [client.as(pkDev), client, nobody]) {
    const identify = { api_key: pkProd, type: 'identify', body: owned }
    const sent = await batch(from, track(pkDev, 'mine'), track(pkProd, 'victim'), identify)
    t.equal(sent.status, 200)
    t.equal(sent.body.data.events.length, 1, 'the first event alone')
  }
  t.equal(await found(inProduction, 'victim'), 404, 'nothing was made in Production')
  t.equal(await found(client, 'mine'), 200)
  await account.ok('PUT', `/environments/${production}`, { require_context_signature: false })
})

t.test('security 4 a key that is used in bodies alone has a last use', async t => {
  const made = await client.ok('POST', '/api-keys', {
    name: 'in bodies',
    environment_id: whoami.environment_id,
  })
  t.equal((await batch(client, track(made.secret, 'used'))).status, 200)
  let lastUsed: string | null = null
  while (lastUsed === null) {
    await new Promise(resolve => setTimeout(resolve, 200))
    lastUsed = (await client.ok('GET', `/api-keys/${made.id}`)).last_used_at
  }
  t.ok(lastUsed)
})

t.test('security 14 more than ten keys in a body are refused, and none is looked up', async t => {
  const strange = Array.from({ length: 10_000 }, (_, n) =>
    track(`sk_prod_${String(n).padStart(43, 'x')}`, 'strange'),
  )
  const asked = keys.find
  let lookups = 0
  keys.find = (...given) => {
    lookups++
    return asked.apply(keys, given)
  }
  t.teardown(() => {
    keys.find = asked
  })
  t.match(await batch(client, ...strange), { status: 400, body: { error: /at most 10/ } })
  t.equal(lookups, 1, 'the header’s')
  t.equal((await batch(nobody, ...strange.slice(0, 300))).status, 401)
  t.equal(lookups, 11, 'ten of a caller without a header')
})

t.test('security 1 deep and endless lists are refused before they are parsed', async t => {
  const send = async (body: Buffer, path: string, from: Client, headers: Record<string, string> = {}) => {
    const own: Record<string, string> = from.key === '' ? {} : { 'X-Service-Api-Key': from.key }
    const { status } = await fetch(client.url + path, {
      method: 'POST',
      headers: { ...own, ...headers },
      body,
    })
    return status
  }
  const gzip = { 'Content-Encoding': 'gzip' }
  const deep = `{"events":[${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}]}`
  const many = `{"events":[${'{},'.repeat(2_700_000)}{}]}`
  for (const text of [deep, many, `{"events":${'['.repeat(4_000_000)}`])
    for (const path of ['/batch', '/event-batch']) {
      t.equal(await send(gzipSync(text), path, nobody, gzip), 401, 'nobody')
      t.ok([200, 201, 400].includes(await send(gzipSync(text), path, client, gzip)), 'somebody')
    }
  const { parse } = JSON
  let longest = 0
  JSON.parse = (text, ...rest) => {
    longest = Math.max(longest, text.length)
    return parse(text, ...rest)
  }
  t.teardown(() => {
    JSON.parse = parse
  })
  const list = (event: string) => Buffer.from(`{"events":[${event}]}`)
  for (const path of ['/batch', '/event-batch']) {
    t.equal(await send(list('{},'.repeat(15_000)), path, client), 400, 'too many')
    t.equal(await send(list('['.repeat(60_000)), path, client), 400, 'it never ends')
    const nested = (lists: number) => list('['.repeat(lists) + ']'.repeat(lists))
    t.ok((await send(nested(60_000), path, client)) < 300, 'one bad event')
  }
  t.ok(longest < 10_000, 'none of them was parsed')
})

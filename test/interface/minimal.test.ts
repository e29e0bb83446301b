// Prefer: return=minimal on writes of companies, users and their traits: a short answer, and the same write.
import t from 'tap'
import { prefersMinimal } from '../../src/front/http/routing/headers.js'
import { titleOf } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'

const { client } = await startHere(t)
const short = { Prefer: 'return=minimal' }

/** Every route that honours the preference, with a body that makes something of its own. */
const writes: Readonly<Record<string, (n: number) => object>> = {
  'POST /companies': n => ({
    keys: { slug: `c${n}`, crm: `x${n}` },
    name: `Company ${n}`,
    traits: { seats: n },
  }),
  'POST /companies/create': n => ({ keys: { slug: `c${n}` }, name: `Company ${n}` }),
  'POST /company-traits': n => ({ keys: { slug: `c${n}` }, trait: 'seats', set: String(n) }),
  'POST /users': n => ({ keys: { email: `u${n}` }, name: `User ${n}`, company: { slug: `of-user-${n}` } }),
  'POST /users/create': n => ({ keys: { email: `u${n}` }, name: `User ${n}` }),
  'POST /user-traits': n => ({ keys: { email: `u${n}` }, trait: 'age', set: String(n) }),
}
const members = ['created_at', 'environment_id', 'id', 'keys', 'last_seen_at', 'name', 'updated_at']

t.test('every route that prefers has a case here', async t => {
  const prefer = routes.filter(({ prefers }) => prefers).map(titleOf)
  t.strictSame(prefer.sort(), Object.keys(writes).sort())
})

for (const [n, [title, bodyOf]] of Object.entries(writes).entries())
  t.test(`${title}: the short answer agrees with the full one`, async t => {
    const path = title.slice('POST '.length)
    const isUser = path.startsWith('/user')
    const body = bodyOf(n) as { keys: Record<string, string> }
    const { status, headers, body: answer } = await client.post(path, body, short)
    t.equal(status, path.endsWith('/create') ? 201 : 200, JSON.stringify(answer))
    t.equal(headers.get('preference-applied'), 'return=minimal')
    const { data } = answer as { data: Record<string, unknown> }
    t.strictSame(
      Object.keys(data)
        .filter(name => name !== 'logo_url')
        .sort(),
      members,
    )
    t.match(data.keys, body.keys)
    const noun = isUser ? 'users' : 'companies'
    const full = await client.get(`/${noun}/${data.id as string}`)
    const { keys, ...rest } = (full.body as { data: Record<string, unknown> }).data
    for (const name of members)
      if (name !== 'keys') t.equal(data[name], rest[name], `${name} of the full answer`)
    const pairs = (keys as { key: string; value: string }[]).map(({ key, value }) => [key, value])
    t.strictSame(data.keys, Object.fromEntries(pairs))
    t.equal(full.headers.get('preference-applied'), null, 'a read knows no preference')
  })

t.test('without the preference, or with another one, the answer is full', async t => {
  for (const prefer of [undefined, 'return=representation', 'respond-async'])
    t.ok(
      (
        await client.post(
          '/companies',
          { keys: { slug: 'full' } },
          prefer === undefined ? {} : { Prefer: prefer },
        )
      ).body.data.entitlements,
      String(prefer),
    )
})

t.test('refusals and lists are what they are without it', async t => {
  const before = await client.get('/companies/count')
  const refused = await client.post('/companies', { keys: {} }, short)
  t.equal(refused.status, 400)
  t.equal(refused.headers.get('preference-applied'), null)
  t.equal((await client.post('/companies/create', { keys: { slug: 'c0' } }, short)).status, 400)
  t.equal((await client.post('/users', { keys: { email: 'nobody' }, update_only: true }, short)).status, 404)
  t.equal((await client.post('/companies', { keys: { slug: 'listed' } }, short)).status, 200)
  const after = await client.get('/companies/count')
  t.equal(after.body.data.count, before.body.data.count + 1, 'the next list shows it')
})

t.test('the header is read as RFC 7240 says', async t => {
  for (const yes of [
    'return=minimal',
    'Return = "minimal"',
    'respond-async, return=minimal; x=1',
    'return=minimal, return=representation',
  ])
    t.ok(prefersMinimal(yes), yes)
  for (const no of [
    '',
    'minimal',
    'return=representation',
    'return=representation, return=minimal',
    'xreturn=minimal',
    'return=minimalist',
  ])
    t.notOk(prefersMinimal(no), no)
})

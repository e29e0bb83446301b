// CU-4 in the client: it compares keys whose values are kept in lower case as the service does.
import t from 'tap'
import { startHere } from '../harness.js'
import { makeFlag } from '../interface/flags.js'
import { Random } from '../random.js'
import { clientOf, until } from './make.js'

t.setTimeout(300_000)

const { client } = await startHere(t)
const { environment_id: environment } = await client.ok('GET', '/whoami')
const settings = (lowercase_keys: object | null) =>
  client.ok('PUT', `/environments/${environment}`, { lowercase_keys })
await makeFlag(client, 'asked', true)
const made = async (mail: string, kind = 'companies') =>
  (await client.ok('POST', `/${kind}`, { keys: { mail } })).id as string

await t.test('CU-4 values that were stored before the setting are found exactly first', async t => {
  const [upper, lower] = [await made('Two@x'), await made('two@x')]
  await settings({ company: ['mail'], user: ['mail'] })
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  const id = async (mail: string) => {
    const { source, company_id } = await tollgate.check('asked', { company: { mail } })
    t.equal(source, 'local', mail)
    return company_id
  }
  t.equal(await id('two@x'), lower)
  t.equal(await id('TWO@x'), lower, 'only the one in lower case is in memory')
  t.equal(await id('Two@x'), upper, 'the service has another for these letters')
  t.equal(tollgate.checkHeld('asked', { company: { mail: 'TWO@x' } })?.company_id, lower)
  await client.ok('DELETE', `/companies/${upper}`)
  await until(tollgate, () => tollgate.checkHeld('asked', { company: { mail: 'Two@x' } }) === null)
  t.equal(await id('Two@x'), lower)
})

await t.test('CU-4 companies and users, several keys, and use', async t => {
  const company = await made('Acme@X')
  const user = await made('Ann@X', 'users')
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  const context = { company: { mail: 'ACME@x' }, user: { mail: 'aNN@X' } }
  const both = await tollgate.check('asked', context)
  t.match(both, { source: 'local', company_id: company, user_id: user })
  const { source: _, ...checked } = both
  t.strictSame(checked, await client.ok('POST', '/flags/asked/check', context))
  t.match(await tollgate.check('asked', { company: { mail: 'ACME@x', other: 'o' } }), { source: 'http' })
  t.match(await tollgate.check('asked', { company: { slug: 'ACME@x' } }), {
    source: 'local',
    reason: 'Company not found',
  })
})

await t.test('CU-4 keys that were nobody’s become somebody’s in other letters', async t => {
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  const company = { mail: 'Later@X' }
  t.match(await tollgate.check('asked', { company }), { source: 'local', reason: 'Company not found' })
  const id = await made('lATER@x')
  await until(tollgate, () => tollgate.checkHeld('asked', { company })?.company_id === id)
  t.pass('the service told the client by itself')
})

await t.test('CU-4 the setting changes while the client is connected', async t => {
  await settings(null)
  const id = await made('on@x')
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  const company = { mail: 'On@X' }
  const held = () => tollgate.checkHeld('asked', { company })
  t.match(await tollgate.check('asked', { company }), { source: 'local', reason: 'Company not found' })
  await settings({ company: ['mail'] })
  await until(tollgate, () => held()?.company_id === id)
  await settings(null)
  await until(tollgate, () => held() === null)
  t.match(await tollgate.check('asked', { company }), { source: 'local', reason: 'Company not found' })
})

await t.test('CU-4 law: the client’s answers are the service’s answers', async t => {
  await settings(null)
  const draw = new Random()
  const letters = ['a', 'A', 'ß', 'İ', 'Σ', 'É', 'é']
  const text = () => `${draw.pick(letters)}${draw.pick(letters)}`
  for (let n = 0; n < 12; n++) await made(`law-${text()}`)
  await settings({ company: ['mail'] })
  for (let n = 0; n < 12; n++) await made(`law-${text()}`)
  const tollgate = clientOf(t, client)
  await tollgate.ready()
  for (let n = 0; n < 40; n++) {
    const company = { mail: `law-${text()}` }
    const { source, ...checked } = await tollgate.check('asked', { company })
    t.equal(source, 'local', company.mail)
    t.strictSame(checked, await client.ok('POST', '/flags/asked/check', { company }), company.mail)
  }
})

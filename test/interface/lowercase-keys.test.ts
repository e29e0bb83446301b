// CU-4: values of some key names are kept in lower case, at every door that takes keys.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { command } from '../command.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { StreamClient } from '../stream-client.js'

const { client } = await startHere(t)
const { environment_id: environment } = await client.ok('GET', '/whoami')
const settings = (lowercase_keys: object | null) =>
  client.ok('PUT', `/environments/${environment}`, { lowercase_keys })
const company = (mail: string, more: object = {}) =>
  client.ok('POST', '/companies', { keys: { mail }, ...more })
const lookup = async (mail: string, kind = 'companies') => {
  const { status, body } = await client.get(`/${kind}/lookup?mail=${mail}`)
  return status === 200 ? (body.data.id as string) : status
}
const keysOf = async (id: string) =>
  (await client.ok('GET', `/companies/${id}`)).keys.map(
    (one: { key: string; value: string }) => `${one.key}=${one.value}`,
  )
const count = async (kind: string) => (await client.ok('GET', `/${kind}/count`)).count as number
await client.ok('POST', '/flags', {
  key: 'asked',
  name: 'Asked',
  description: '',
  flag_type: 'boolean',
  default_value: true,
})
const checked = async (body: object) => (await client.ok('POST', '/flags/asked/check', body)).company_id

t.test('CU-4 the names are a setting of the environment', async t => {
  t.notOk('lowercase_keys' in (await client.ok('GET', `/environments/${environment}`)))
  t.match(await settings({ company: ['mail'] }), { lowercase_keys: { company: ['mail'], user: [] } })
  t.match(await settings({ user: ['mail'] }), { lowercase_keys: { company: ['mail'], user: ['mail'] } })
  t.match(await client.ok('PUT', `/environments/${environment}`, { name: 'Development' }), {
    lowercase_keys: { company: ['mail'] },
  })
  t.notOk('lowercase_keys' in (await settings({ company: [], user: null })))
  t.equal(
    (await client.put(`/environments/${environment}`, { lowercase_keys: { company: [''] } })).status,
    400,
  )
})

t.test('CU-4 keys of before are found exactly first, then in lower case, and stay as they are', async t => {
  const old = (await company('Old@x')).id
  const [upper, lower] = [(await company('Two@x')).id, (await company('two@x')).id]
  await settings({ company: ['mail'], user: ['mail'] })
  t.equal(await lookup('Old@x'), old)
  t.equal(await lookup('old@x'), 404, 'it has no such key')
  t.equal((await company('Old@x')).id, old)
  t.same(await keysOf(old), ['mail=Old@x'])
  t.equal(await lookup('Two@x'), upper)
  t.equal(await lookup('two@x'), lower)
  t.equal(await lookup('TWO@x'), lower)
  t.equal((await company('Two@x')).id, upper, 'and no pair has two owners')
  await client.ok('DELETE', `/companies/${upper}`)
  t.equal((await company('Two@x')).id, lower)
  t.same(await keysOf(lower), ['mail=two@x'])
})

t.test('CU-4 every door takes them in any case', async t => {
  const made = await company('Acme@X')
  const { id } = made
  t.same(await keysOf(id), ['mail=acme@x'])
  t.equal(made.name, 'acme@x')
  const before = await count('companies')
  for (const form of ['mail=ACME@x', 'keys[mail]=acmE@x', `keys=${encodeURIComponent('{"mail":"ACME@X"}')}`])
    t.equal((await client.ok('GET', `/companies/lookup?${form}`)).id, id, form)
  t.equal((await company('aCME@x', { prevent_key_remap: true })).id, id)
  t.equal((await client.post('/companies/create', { keys: { mail: 'ACME@X' } })).status, 400)
  const trait = { keys: { mail: 'ACME@x' }, trait: 'tier', set: 'gold' }
  t.equal((await client.ok('POST', '/company-traits', trait)).id, id)
  const user = await client.ok('POST', '/users', { keys: { mail: 'Ann@X' }, company: { mail: 'ACME@x' } })
  t.equal(await lookup('ANN@x', 'users'), user.id)
  t.equal(
    (await client.ok('POST', '/users', { keys: { mail: 'ANN@x' }, companies: [{ mail: 'Acme@x' }] })).id,
    user.id,
  )
  t.equal(await checked({ company: { mail: 'ACME@X' } }), id)
  const all = await client.ok('POST', '/flags/check', {
    company: { mail: 'ACME@X' },
    user: { mail: 'ANN@X' },
  })
  t.match(all.flags[0], { company_id: id, user_id: user.id })
  const contexts = [{ company: { mail: 'ACME@X' } }]
  t.match(await client.ok('POST', '/flags/check-bulk', { contexts }), {
    data: [{ flags: [{ company_id: id }] }],
  })
  t.match(await client.ok('POST', '/flags/asked/explain', { company: { mail: 'ACME@X' } }), {
    company_id: id,
  })
  const track = (mail: string) => ({ event_type: 'track', body: { event: 'call', company: { mail } } })
  const identify = (mail: string) => ({
    event_type: 'identify',
    body: { keys: { mail: 'ANN@X' }, company: { keys: { mail, further: 'f' } } },
  })
  const pair = { event_type: 'track', body: { event: 'call', company: { mail: 'ACME@x', other: 'o' } } }
  for (const event of [track('ACME@x'), track('acme@X'), identify('AcMe@x'), pair]) {
    await client.ok('POST', '/events', event)
    await client.ok('POST', '/event-batch', { events: [event, event] })
    await client.ok('POST', '/batch', {
      events: [{ api_key: client.key, type: event.event_type, body: event.body }],
    })
  }
  const { metrics } = await client.ok('GET', `/companies/${id}`)
  const allTime = metrics.find((one: { period: string }) => one.period === 'all_time')
  t.equal(allTime.value, 12, 'nothing was counted elsewhere')
  t.equal(await count('companies'), before, 'nobody else was made')
  t.equal(await count('users'), 1)

  await t.test('keys that are new to events', async t => {
    await client.ok('POST', '/event-batch', { events: [track('New@x'), track('NEW@x'), track('new@X')] })
    t.equal(await count('companies'), before + 1)
    t.same(await keysOf((await lookup('nEw@x')) as string), ['mail=new@x'])
    await Promise.all(['Many@x', 'MANY@x', 'many@x', 'mANY@x'].map(mail => company(mail)))
    t.equal(await count('companies'), before + 2, 'four upserts at once make one')
  })

  await t.test('signed contexts, plans, the data stream, publishable keys', async t => {
    const { secret } = await client.ok('POST', `/environments/${environment}/context-secret`, {})
    t.ok(secret)
    const context = { company: { mail: 'ACME@X' }, user: { mail: 'ANN@X' } }
    const { signed_context: token } = await client.ok('POST', '/signed-contexts', context)
    const listed = await client.ok(
      'GET',
      `/api-keys?limit=250&require_environment=true&environment_id=${environment}`,
    )
    const { secret: publishable } = listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_'))
    const page = client.as(publishable, { 'X-Service-Signed-Context': token })
    t.equal((await page.ok('POST', '/flags/asked/check', {})).company_id, id)
    await client.as(publishable).ok('POST', '/events', identify('ACME@X'))
    t.equal(await count('companies'), before + 2)
    const plan = await client.ok('POST', '/plans', { name: 'Plan' })
    await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`, {})
    const body = { company: { mail: 'ACME@X' }, base_plan_id: plan.id }
    t.equal((await client.ok('POST', '/manage-plan', body)).company.id, id)
    const stream = await StreamClient.open(client.url)
    stream.ask('rulesengine.Company', { mail: 'AcMe@x' })
    t.equal((await stream.of('rulesengine.Company', 'full')).data.id, id)
    stream.close()
  })

  await t.test('an import, and its second run', async t => {
    const path = join(await temporaryDirectory(t), 'companies.csv')
    await writeFile(path, 'keys.mail,name\nACME@X,Acme\nBob@X,Bob\n')
    const run = () =>
      command('/nowhere', ['import', path, '--kind', 'companies'], {
        TOLLGATE_URL: client.url,
        TOLLGATE_KEY: client.key,
      })
    t.match(await run(), { code: 0, said: /1 made/ })
    t.equal(await count('companies'), before + 3)
    t.match(await run(), { code: 0, said: /2 as they were|2 unchanged/ })
  })

  await t.test('and deletions free them', async t => {
    t.equal((await client.ok('POST', '/companies/delete', { keys: { mail: 'ACME@X' } })).id, id)
    t.equal(await lookup('acme@x'), 404)
    t.not((await company('ACME@x')).id, id)
    await settings(null)
    t.equal(await lookup('Acme@x'), 404)
    t.type(await lookup('acme@x'), 'string')
  })
})

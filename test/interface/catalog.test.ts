// The catalogue of an environment as a file: by command and over HTTP.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { parse } from 'yaml'
import { command } from '../command.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const { client } = await startHere(t)
const directory = await temporaryDirectory(t)
const file = join(directory, 'catalog.yaml')
const tollgate = (...args: string[]) =>
  command(join(directory, 'data'), ['catalog', ...args], {
    TOLLGATE_URL: client.url,
    TOLLGATE_KEY: client.key,
  })

const first = `
catalog: 1
features:
  - name: API calls
    feature_type: event
    event_subtype: api_call
  - name: Reports
    feature_type: boolean
flags:
  - key: api-calls
    name: API calls
    feature: API calls
  - key: beta
    name: Beta
    rules:
      - name: Pro has it
        priority: 1
        value: true
        conditions:
          - {condition_type: plan, operator: eq, resources: [Pro]}
plans:
  - name: Pro
    plan_type: plan
    published:
      entitlements:
        - {feature: API calls, value_type: numeric, value_numeric: 100, metric_period: current_month}
        - {feature: Reports, value_type: boolean, value_bool: true}
`

t.test('CA-6 a file makes everything; a plan that was never published is published', async t => {
  await writeFile(file, first)
  const diff = await tollgate('diff', file)
  t.equal(diff.code, 3, 'CA-4 a difference is a finding')
  t.match(diff.said, '+ plans Pro (published)')
  t.equal((await client.ok('GET', '/plans')).length, 0, 'CA-4 a diff changes nothing')
  const applied = await tollgate('apply', file)
  t.equal(applied.code, 0, applied.said)
  t.match(applied.said, '5 made, 0 changed, 0 archived.')
  await client.ok('POST', '/companies', { keys: { slug: 'acme' }, name: 'Acme' })
  const company = await client.ok('GET', '/companies/lookup?slug=acme')
  const [plan] = await client.ok('GET', '/plans')
  await client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: plan.id })
  const check = await client.ok('POST', '/flags/api-calls/check', { company: { slug: 'acme' } })
  t.same([check.value, check.feature_allocation], [true, 100])
  t.equal((await client.ok('POST', '/flags/beta/check', { company: { slug: 'acme' } })).value, true)
})

t.test('CA-8 the same file again differs in nothing', async t => {
  const again = await tollgate('diff', file)
  t.equal(again.code, 0, again.said)
  t.match(again.said, 'Nothing differs.')
  t.match((await tollgate('apply', file)).said, 'Nothing to do.')
})

t.test('CA-2 the export is the whole catalogue, and fits its schema', async t => {
  const out = join(directory, 'export.yaml')
  t.equal((await tollgate('export', out)).code, 0)
  const document = parse(await readFile(out, 'utf8'))
  t.same(document, await client.ok('GET', '/catalog'), 'CA-1 command and API say the same')
  const json = join(directory, 'export.json')
  await tollgate('export', json)
  t.same(JSON.parse(await readFile(json, 'utf8')), document)
  const schema = await (await fetch(`${client.url}/catalog.schema.json`)).json()
  t.same(JSON.parse((await tollgate('schema')).said), schema, 'CA-9')
  const validate = new Ajv2020({ strict: false }).compile(schema as object)
  t.ok(validate(document), JSON.stringify(validate.errors))
  t.notOk(validate({ catalog: 1, plans: [{ name: 'x' }] }), 'CA-9 the schema refuses what lacks a member')
})

t.test('CA-7 a diff names the companies that feel it; CA-6 changes wait in the draft', async t => {
  await writeFile(file, first.replace('value_numeric: 100', 'value_numeric: 50'))
  const diff = await tollgate('diff', file)
  t.match(diff.said, '~ plans Pro (in the draft)')
  t.match(diff.said, 'published.entitlements[API calls].value_numeric: 100 → 50')
  t.match(diff.said, 'felt by 1 company: Acme')
  await tollgate('apply', file)
  const check = () => client.ok('POST', '/flags/api-calls/check', { company: { slug: 'acme' } })
  t.equal((await check()).feature_allocation, 100, 'CA-6 the published version is what it was')
  t.match((await client.ok('GET', '/catalog')).plans[0].draft.entitlements[0].value_numeric, 50)
  const published = await tollgate('apply', file, '--publish', 'immediate')
  t.equal(published.code, 0, published.said)
  t.equal((await check()).feature_allocation, 50, 'CA-6 the company has moved')
  t.notOk((await client.ok('GET', '/catalog')).plans[0].draft, 'CA-6 the draft that waited is done')
})

t.test('CA-5 nothing is deleted without prune', async t => {
  const rest = `${first.replace('value_numeric: 100', 'value_numeric: 50').split('  - key: beta')[0]}plans: []\n`
  await writeFile(file, rest)
  const kept = await tollgate('apply', file)
  t.equal(kept.code, 0, kept.said)
  t.match(kept.said, '= flags beta')
  t.same(
    (await client.ok('GET', '/catalog')).flags.map((one: { key: string }) => one.key),
    ['api-calls', 'beta'],
  )
  const refused = await tollgate('apply', file, '--prune')
  t.equal(refused.code, 1, 'a plan with companies is not archived')
  t.match(refused.said, 'plans[Pro]: Companies are on the plan')
  t.match(
    refused.said,
    'Applied before it: archived flags: beta. The same document, applied again, goes on from there.',
    'CA-6',
  )
  await writeFile(file, rest.replace('plans: []\n', ''))
  t.equal((await tollgate('apply', file, '--prune')).code, 0)
  t.same(
    (await client.ok('GET', '/catalog')).flags.map((one: { key: string }) => one.key),
    ['api-calls'],
  )
})

t.test('CA-4 problems are told before anything is applied', async t => {
  const before = await client.ok('GET', '/catalog')
  const wrong = {
    catalog: 1,
    features: [{ name: 'New', feature_type: 'boolean' }],
    flags: [{ key: 'x', name: 'X', feature: 'Nothing' }],
    plans: [{ name: 'Pro', plan_type: 'add_on' }],
  }
  const diff = await client.ok('POST', '/catalog/diff', { catalog: wrong })
  t.same(diff.problems, [
    'flags[x]: there is no feature Nothing',
    'plans[Pro]: plan_type is fixed at creation',
  ])
  const applied = await client.post('/catalog/apply', { catalog: wrong })
  t.equal(applied.status, 400)
  t.match(applied.body.error, 'there is no feature Nothing')
  t.same(await client.ok('GET', '/catalog'), before)
})

t.test('CA-3 names that repeat are told apart', async t => {
  const plans = [
    { name: 'Twin', plan_type: 'plan', draft: { description: 'one' } },
    { name: 'Twin', plan_type: 'add_on', draft: { description: 'two' } },
  ]
  await client.ok('POST', '/catalog/apply', { catalog: { catalog: 1, plans } })
  const diff = await client.ok('POST', '/catalog/diff', {
    catalog: { catalog: 1, plans: [plans[0]] },
    prune: true,
  })
  t.same(
    diff.changes.filter((one: { name: string }) => one.name.startsWith('Twin')),
    [
      {
        section: 'plans',
        name: 'Twin#2',
        action: 'archive',
        changes: [],
        companies: { count: 0, companies: [] },
      },
    ],
  )
})

t.test('CA-10 a key of an environment changes no prices of models', async t => {
  const [environment] = await client.ok('GET', '/environments')
  const { secret } = await client.ok('POST', '/api-keys', {
    name: 'team',
    environment_id: environment.id,
    scopes: ['read', 'write'],
  })
  const catalog = {
    catalog: 1,
    model_prices: [
      {
        provider: 'a',
        model: 'b',
        currency: 'usd',
        effective_at: '2026-01-01T00:00:00Z',
        input: '1',
        output: '2',
      },
    ],
    publishable_limits: { create_users: 5 },
  }
  const diff = await client.as(secret).ok('POST', '/catalog/diff', { catalog })
  t.match(diff.problems, [/^model_prices/, /^publishable_limits/])
})

t.test(
  'CA-11 how an environment takes requests, and its spend policies, are not in the catalogue',
  async t => {
    const before = await client.ok('GET', '/catalog')
    const { environment_id: id } = await client.ok('GET', '/whoami')
    await client.ok('PUT', `/environments/${id}`, { lowercase_keys: { user: ['email'] } })
    const now = await client.ok('GET', '/catalog')
    t.same(now, before)
    await client.ok('POST', '/catalog/apply', { catalog: now })
    t.match(await client.ok('GET', `/environments/${id}`), { lowercase_keys: { user: ['email'] } })
  },
)

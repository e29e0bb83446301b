// OpenFeature: its own client and provider against Tollgate, unchanged; and the protocol's answers by hand.
import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature } from '@openfeature/server-sdk'
import t from 'tap'
import { bootstrapKey, startHere } from '../harness.js'

const { client } = await startHere(t)

const plan = await client.ok('POST', '/plans', { name: 'Starter', description: '', plan_type: 'plan' })
const feature = await client.ok('POST', '/features', {
  name: 'API calls',
  description: '',
  feature_type: 'event',
  event_subtype: 'api_call',
  flag: { key: 'api-calls', name: 'API calls', description: '', flag_type: 'boolean', default_value: false },
})
const company = await client.ok('POST', '/companies', { keys: { slug: 'acme', id: 'c-1' } })
await client.ok('POST', '/company-overrides', {
  company_id: company.id,
  feature_id: feature.id,
  value_type: 'numeric',
  value_numeric: 2,
  metric_period: 'all_time',
})
t.ok(plan.id)

const use = () =>
  client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'api_call', company: { slug: 'acme' } },
  })
const evaluate = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  client.post(`/ofrep/v1/evaluate/flags/${key}`, body, headers)
const acme = { context: { company: { slug: 'acme' } } }

t.test('the client of OpenFeature: true, then false once the limit is reached', async t => {
  await OpenFeature.setProviderAndWait(
    new OFREPProvider({ baseUrl: client.url, headers: [['Authorization', `Bearer ${bootstrapKey}`]] }),
  )
  t.teardown(() => OpenFeature.close())
  const flags = OpenFeature.getClient()
  const context = { targetingKey: 'ada', company: { slug: 'acme' } }
  await use()
  t.match(await flags.getBooleanDetails('api-calls', false, context), {
    value: true,
    variant: 'on',
    reason: 'TARGETING_MATCH',
    flagMetadata: { feature_usage: 1, feature_allocation: 2, company_id: company.id },
  })
  await use()
  t.equal(await flags.getBooleanValue('api-calls', true, context), false, 'the very next evaluation')
  t.match(await flags.getBooleanDetails('nothing', true, context), {
    value: true,
    reason: 'ERROR',
    errorCode: 'FLAG_NOT_FOUND',
  })
  t.match(await flags.getStringDetails('api-calls', 'x', context), { value: 'x', errorCode: 'TYPE_MISMATCH' })
})

t.test('a context names who asks by keys, or by one key', async t => {
  const by = async (context: object) => (await evaluate('api-calls', { context })).body.metadata.company_id
  t.equal(await by({ company: { slug: 'acme' } }), company.id)
  t.equal(await by({ companyKey: 'c-1' }), company.id)
  t.equal(await by({ companyKey: 'acme', companyKeyName: 'slug', other: 5 }), company.id)
  t.equal(await by({ targetingKey: 'c-1' }), undefined)
  const user = await client.ok('POST', '/users', { keys: { id: 'ada', email: 'ada@acme' } })
  const who = async (context: object) => (await evaluate('api-calls', { context })).body.metadata.user_id
  t.equal(await who({ targetingKey: 'ada' }), user.id)
  t.equal(await who({ targetingKey: 'nobody', userKey: 'ada@acme', userKeyName: 'email' }), user.id)
  t.equal(await who({ user: { email: 'ada@acme' } }), user.id)
})

t.test('failures are worded as the protocol has them', async t => {
  t.match(await evaluate('nothing', acme), {
    status: 404,
    body: { key: 'nothing', errorCode: 'FLAG_NOT_FOUND', errorDetails: String },
  })
  t.match(await evaluate('api-calls', '{'), { status: 400, body: { errorCode: 'PARSE_ERROR' } })
  const half = '{"context": {"company": {"slug": "\\ud800"}}}'
  t.match(await evaluate('api-calls', half), { status: 400, body: { errorCode: 'PARSE_ERROR' } }, 'no text')
  t.match(await evaluate('api-calls', { context: { company: 'acme' } }), {
    status: 400,
    body: { key: 'api-calls', errorCode: 'INVALID_CONTEXT', errorDetails: /context\.company/ },
  })
  await client.ok('POST', '/companies', { keys: { tax: '7' } })
  t.match(await evaluate('api-calls', { context: { company: { slug: 'acme', tax: '7' } } }), {
    status: 400,
    body: { errorCode: 'INVALID_CONTEXT' },
  })
  const all = await client.post('/ofrep/v1/evaluate/flags', '[')
  t.match(all, { status: 400, body: { errorCode: 'PARSE_ERROR' } })
  t.notOk('key' in all.body)
})

t.test('all flags at once, with an ETag over definitions, context and result', async t => {
  const all = (body: unknown, etag?: string) =>
    client.post('/ofrep/v1/evaluate/flags', body, etag ? { 'If-None-Match': etag } : {})
  const first = await all(acme)
  t.match(first.body.flags, [
    { key: 'api-calls', value: false, variant: 'off', metadata: { feature_usage: 2 } },
  ])
  const etag = first.headers.get('etag')!
  const again = await all(acme, etag)
  t.match(again, { status: 304, body: null })
  t.equal(again.headers.get('etag'), etag)
  t.equal((await all({ context: {} }, etag)).status, 200, 'another context')
  await use()
  const later = await all(acme, etag)
  t.equal(later.status, 200, 'another result')
  await client.ok('POST', '/plans', { name: 'Other', description: '', plan_type: 'plan' })
  t.equal((await all(acme, later.headers.get('etag')!)).status, 200, 'other definitions')
})

t.test('a bearer key opens these routes and no others', async t => {
  const bearer = { Authorization: `Bearer ${bootstrapKey}` }
  const none = client.as('')
  t.equal((await none.post('/ofrep/v1/evaluate/flags', acme, bearer)).status, 200)
  t.equal((await none.post('/ofrep/v1/evaluate/flags', acme)).status, 401)
  t.equal((await none.post('/ofrep/v1/evaluate/flags', acme, { Authorization: 'Bearer sk_x' })).status, 401)
  t.equal((await none.get('/flags', bearer)).status, 401)
})

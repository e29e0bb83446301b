// The audit log over HTTP, and its writer while Postgres is away.
import type { Sql } from 'postgres'
import t from 'tap'
import { AuditLog } from '../../src/account/audit/audit.js'
import { redactBody } from '../../src/account/audit/redact.js'
import { type RequestedChange, resourceOf } from '../../src/account/audit/row.js'
import { createLogger } from '../../src/log.js'
import { type Client, startHere } from '../harness.js'

const { client } = await startHere(t)

const newest = async (query = '') => (await client.ok('GET', `/audit-log?limit=1${query}`))[0]

t.test('a change is in the log at once: caller, request, time, and result', async t => {
  const flag = await client.ok('POST', '/flags', {
    key: 'audited',
    name: 'Audited',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const entry = await newest()
  const who = await client.ok('GET', '/whoami')
  t.match(entry, {
    id: /^[0-9a-f-]{36}$/,
    actor_type: 'api_key',
    api_key_id: who.api_key_id,
    api_key: { id: who.api_key_id },
    environment_id: who.environment_id,
    environment: { id: who.environment_id },
    method: 'POST',
    url: '/flags',
    resource_type: 'flag',
    resource_id: null,
    resource_id_string: flag.id,
    resource_name: 'Audited',
    resp_code: 201,
  })
  t.ok(entry.started_at <= entry.ended_at)
  t.notOk('req_body' in entry, 'a list is without bodies')
  const whole = await client.ok('GET', `/audit-log/${entry.id}`)
  t.equal(JSON.parse(whole.req_body).key, 'audited')
  t.equal(JSON.parse(whole.resp_body).data.id, flag.id)
})

t.test('before a change of rules there are the rules of the flag, also before the first', async t => {
  const flag = await client.ok('POST', '/flags', {
    key: 'ruled',
    name: 'Ruled',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const rule = (name: string) => ({ name, priority: 1, value: true, rule_type: 'standard', conditions: [] })
  const rulesBefore = async (name: string) => {
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [rule(name)] })
    const { id, resource_name } = await newest()
    t.equal(resource_name, 'Ruled', 'rules have the name of their flag')
    const { before } = await client.ok('GET', `/audit-log/${id}`)
    return JSON.parse(before).data.rules.map((one: { name: string }) => one.name)
  }
  t.same(await rulesBefore('First'), [])
  t.same(await rulesBefore('Second'), ['First'])
})

t.test('a refused change is in the log with its status; reads, events and checks are not', async t => {
  const before = (await client.ok('GET', '/audit-log/count')).count
  t.equal((await client.put('/flags/flag_22222222222?x=1', { key: 'a' })).status, 404)
  t.match(await newest(), {
    method: 'PUT',
    url: '/flags/flag_22222222222?x=1',
    resource_id_string: 'flag_22222222222',
    resp_code: 404,
  })
  t.equal((await client.del('/companies/comp_22222222222')).status, 404)
  t.match(await newest(), { method: 'DELETE', resource_type: 'company', resp_code: 404 })
  t.equal((await client.as('sk_dev_nobody').post('/flags', {})).status, 401)
  await client.post('/flags/audited/check', {})
  await client.post('/events', { event_type: 'track', body: { event: 'x' } })
  await client.get('/flags')
  t.equal((await client.ok('GET', '/audit-log/count')).count, before + 2)
})

t.test('a refused deletion of a key definition is in the log with its status', async t => {
  await client.ok('POST', '/companies', { keys: { in_use: '1' } })
  const [used] = (await client.ok('GET', '/entity-key-definitions')).filter(
    (one: { key: string }) => one.key === 'in_use',
  )
  for (const [id, status] of [
    ['ekey_22222222222', 404],
    [used.id, 400],
  ] as const) {
    t.equal((await client.del(`/entity-key-definitions/${id}`)).status, status)
    t.match(await newest(), { method: 'DELETE', url: `/entity-key-definitions/${id}`, resp_code: status })
  }
})

t.test('the log keeps of a write to a company what the write can change', async t => {
  const body = { keys: { slug: 'kept' }, name: 'Kept', traits: { seats: 3 } }
  for (const path of ['/companies', '/companies/create', '/company-traits']) {
    const made = await client.ok(
      'POST',
      path,
      path === '/companies'
        ? body
        : path === '/companies/create'
          ? { ...body, keys: { slug: 'made' } }
          : { keys: { slug: 'kept' }, trait: 'seats', set: '4' },
    )
    const { resp_body: text } = await client.ok('GET', `/audit-log/${(await newest()).id}`)
    const { keys, traits, name } = made
    t.match(JSON.parse(text).data, { id: made.id, keys, traits, name }, path)
    t.notOk('metrics' in JSON.parse(text).data, path)
    t.ok('metrics' in made, 'the caller hears all')
  }
})

t.test('secrets are taken out', async t => {
  const key = await client.ok('POST', '/api-keys', { name: 'audited key' })
  const whole = await client.ok('GET', `/audit-log/${(await newest()).id}`)
  t.notOk(JSON.stringify(whole).includes(key.secret))
  t.equal(JSON.parse(whole.resp_body).data.secret, '***')
  t.equal(
    redactBody('{"a":"\\"secret\\":\\"x\\"","client_secret" : "a\\"b","n":1}'),
    '{"a":"\\"secret\\":\\"x\\"","client_secret":"***","n":1}',
  )
  t.equal(redactBody('{"secret":"cut of'), '{"secret":"***"')
})

t.test('security 10 secrets in paths and names are taken out', async t => {
  const drawn = Array.from({ length: 43 }, (_, i) => 'abcdefghijklmnopqrstuvwxyzABCDEFG'[(i * 7) % 33]).join(
    '',
  )
  const key = await client.ok('POST', '/api-keys', { name: 'lost' })
  const secrets = [
    key.secret,
    `tat_${drawn}`,
    `l_${drawn}`,
    `s_${drawn}`,
    `ctx_${drawn}`,
    'whsec_MfKQ9r8GKYqrTwjUPD8',
  ]
  for (const secret of secrets)
    for (const path of [
      secret,
      encodeURIComponent(secret),
      secret.replaceAll('_', '%5F'),
      `x${'%20'}${secret}`,
    ]) {
      t.equal((await client.del(`/api-keys/${path}`)).status, 404)
      const row = await newest()
      t.match(row, { method: 'DELETE', url: /^\/api-keys\/.*\*\*\*/, resource_id_string: /\*\*\*/ }, path)
      t.notOk(decodeURIComponent(JSON.stringify(row)).includes(secret.slice(4)), path)
    }
  await client.ok('POST', '/companies', { name: key.secret, keys: { slug: 'secretive' } })
  t.equal((await newest()).resource_name, '***')
  const { id } = await client.ok('POST', '/companies', { name: 'Plain', keys: { slug: 'plainly' } })
  await client.ok('DELETE', `/companies/${id}`)
  t.match(await newest(), { url: `/companies/${id}`, resource_id_string: id }, 'ids stay')
})

t.test('filters: environment, words, times, actor; newest first, in pages', async t => {
  const from = new Date().toISOString()
  for (const name of ['one', 'two', 'three'])
    await client.ok('POST', '/companies', { keys: { slug: `audit-${name}` }, name: `Audit ${name}` })
  const names = async (query: string, by: Client = client) =>
    (await by.ok('GET', `/audit-log?${query}`)).map((entry: { resource_name: string }) => entry.resource_name)
  t.same(await names(`start_time=${from}`), ['Audit three', 'Audit two', 'Audit one'])
  t.same(await names(`start_time=${from}&limit=1&offset=1`), ['Audit two'])
  t.same(await names(`q=AUDIT TWO`), ['Audit two'])
  t.same(await names(`end_time=${from}&q=audit%20one`), [])
  t.same(await names('actor_type=app_user'), [])
  t.same(await names('environment_id=env_22222222222'), [])
  t.equal((await client.get('/audit-log?actor_type=nobody')).status, 400)
  t.equal((await client.get('/audit-log/nothing')).status, 404)
  t.equal((await client.get('/audit-log/00000000-0000-4000-8000-000000000000')).status, 404)
  const weak = await client.ok('POST', '/api-keys', { name: 'reader', readonly: true })
  t.equal((await client.as(weak.secret).get('/audit-log')).status, 403, 'only for admin keys')
})

t.test('the changes of a company include the changes of its overrides, deletions too', async t => {
  const [acme, other] = await Promise.all(
    ['acme', 'other'].map(slug => client.ok('POST', '/companies', { keys: { owner: slug }, name: slug })),
  )
  const feature = await client.ok('POST', '/features', {
    name: 'Owned',
    description: '',
    feature_type: 'event',
    event_subtype: 'owned',
  })
  const override = { feature_id: feature.id, value_type: 'numeric', value_numeric: 5 }
  const made = await client.ok('POST', '/company-overrides', { ...override, company_id: acme.id })
  await client.ok('POST', '/company-overrides', { ...override, company_id: other.id })
  await client.ok('PUT', `/company-overrides/${made.id}`, { value_numeric: 6 })
  await client.ok('DELETE', `/company-overrides/${made.id}`)
  await client.ok('POST', '/companies', { keys: { owner: 'acme' }, name: 'Acme' })
  const rows = await client.ok('GET', `/audit-log?company_id=${acme.id}`)
  const inShort = (row: Record<string, string>) => [
    row.method,
    row.resource_type,
    row.resource_name,
    row.feature_name,
    row.plan_name,
  ]
  t.same(rows.map(inShort), [
    ['POST', 'company', 'Acme', null, null],
    ['DELETE', 'company_override', acme.id, 'Owned', null],
    ['PUT', 'company_override', acme.id, 'Owned', null],
    ['POST', 'company_override', acme.id, 'Owned', null],
    ['POST', 'company', 'acme', null, null],
  ])
  t.equal((await client.ok('GET', `/audit-log/count?company_id=${acme.id}`)).count, 5)
  t.same(await client.ok('GET', '/audit-log?company_id=comp_33333333333'), [])
})

t.test('entries about an entitlement name its feature and its plan, about a deleted one too', async t => {
  const feature = await client.ok('POST', '/features', {
    name: 'Planned',
    description: '',
    feature_type: 'event',
    event_subtype: 'planned',
  })
  const entitled = { feature_id: feature.id, value_type: 'numeric', value_numeric: 5 }
  const plan = await client.ok('POST', '/plans', { name: 'Holder', description: '', plan_type: 'plan' })
  const made = await client.ok('POST', '/plan-entitlements', { ...entitled, plan_id: plan.id })
  await client.ok('PUT', `/plan-entitlements/${made.id}`, { value_numeric: 6 })
  await client.ok('DELETE', `/plan-entitlements/${made.id}`)
  const query = '/audit-log?resource_type=plan_entitlement&limit=3'
  const told = async () =>
    (await client.ok('GET', query)).map((row: Record<string, string>) => [
      row.method,
      row.feature_name,
      row.plan_name,
    ])
  t.same(
    await told(),
    ['DELETE', 'PUT', 'POST'].map(method => [method, 'Planned', 'Holder']),
  )
  await client.ok('DELETE', `/features/${feature.id}`)
  t.same(
    await told(),
    ['DELETE', 'PUT', 'POST'].map(method => [method, null, 'Holder']),
  )
})

t.test('an entry about a deletion names what was deleted', async t => {
  const text = { name: 'Gone', description: '' }
  const things = [
    ['features', { ...text, feature_type: 'boolean' }],
    ['flags', { ...text, key: 'gone', flag_type: 'boolean', default_value: false }],
    ['plans', { ...text, plan_type: 'plan' }],
    ['companies', { name: 'Gone', keys: { slug: 'gone' } }],
    ['webhooks', { name: 'Gone', url: 'https://gone.example/', request_types: ['company.created'] }],
    ['api-keys', { ...text, scopes: ['read'] }],
    ['account-members', { name: 'Gone', email: 'gone@example.com', console_roles: { '*': 'viewer' } }],
    ['billing/credits', { ...text, currency: 'usd' }],
  ] as const
  for (const [path, body] of things) {
    const { id, member } = await client.ok('POST', `/${path}`, body)
    await client.ok('DELETE', `/${path}/${id ?? member.id}`)
    t.match(await newest(), { method: 'DELETE', resource_name: 'Gone' }, path)
  }
})

t.test('a change whose answer is long has its resource, and so its history', async t => {
  const flag = await client.ok('POST', '/flags', {
    key: 'long-answer',
    name: 'Long answer',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const rule = { value: true, rule_type: 'standard', conditions: [], condition_groups: [] }
  const rules = Array.from({ length: 90 }, (_, i) => ({
    ...rule,
    name: `${i} ${'n'.repeat(500)}`,
    priority: i + 1,
  }))
  await client.ok('PUT', `/flags/${flag.id}/rules`, { rules })
  t.ok(JSON.stringify(await client.ok('GET', `/flags/${flag.id}`)).length > 65_536)
  const long = await newest()
  t.match(long, { method: 'PUT', resource_id_string: flag.id, resource_name: 'Long answer' })
  await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: rules.slice(0, 1) })
  const { before } = await client.ok('GET', `/audit-log/${(await newest()).id}`)
  t.match(before, /^\{"data":\{/, 'what was before')
  const made = await client.ok('POST', '/companies', {
    keys: { slug: 'long-answer' },
    name: 'Long',
    traits: Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`trait${i}`, 'ü'.repeat(900)])),
  })
  t.match(await newest(), { resource_id_string: made.id, resource_name: 'Long' })
})

t.test('large bodies are cut', async t => {
  await client.ok('POST', '/companies', { keys: { slug: 'large' }, traits: { text: 'ü'.repeat(50_000) } })
  const whole = await client.ok('GET', `/audit-log/${(await newest()).id}`)
  t.ok(Buffer.byteLength(whole.req_body) <= 16_384)
  t.match(whole.req_body, /^\{"keys".*… \(50000 characters\)/)
})

t.test('while Postgres is away rows are kept up to a bound, then the oldest are dropped', async t => {
  let away = true
  const written: { url: string }[] = []
  const tx = Object.assign(
    async ({ raw }: TemplateStringsArray, first: unknown) => {
      const statement = raw.join('')
      if (statement.includes('from accounts')) return [{ id: 'acct_1' }]
      if (!statement.includes('insert into')) return []
      const rows = first as { url: string }[]
      written.push(...rows)
      return { count: rows.length }
    },
    { json: (rows: unknown) => rows },
  )
  const fake = {
    begin: async (work: (sql: unknown) => Promise<unknown>) => {
      if (away) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
      return work(tx)
    },
  } as unknown as Sql
  const audit = new AuditLog(fake, createLogger({ logLevel: 'silent' }), 'acct_1', 20_000)
  const change = (url: string): RequestedChange => ({
    id: url,
    kind: 'change',
    remoteIp: '127.0.0.1',
    userAgent: '',
    requestId: 'req_1',
    key: {
      id: 'apik_1',
      accountId: 'acct_1',
      name: '',
      description: null,
      kind: 'secret',
      scopes: [],
      readonly: false,
      environmentId: null,
      rateLimitPercent: null,
    },
    environmentId: null,
    method: 'POST',
    path: '/flags',
    parameters: [],
    url,
    requestBody: 'x'.repeat(1_000),
    status: 200,
    responseBody: '{"data":{}}',
    startedAtMs: 0,
    endedAtMs: 1,
  })
  for (let i = 0; i < 50; i++) audit.note(change(`/${i}`))
  await audit.flush()
  t.equal(written.length, 0)
  away = false
  await audit.flush()
  t.ok(written.length > 5 && written.length < 20, `kept ${written.length}`)
  t.equal(written.at(-1)!.url, '/49', 'the newest are kept, in their order')
  await audit.flush()
  t.equal(new Set(written.map(row => row.url)).size, written.length, 'and written once')
})

t.test('the resource that a route changes', async t => {
  t.same(resourceOf('/companies/create'), { resource_type: 'company', secondary_resource: null })
  t.same(resourceOf('/flags/:flag_id/rules'), { resource_type: 'flag', secondary_resource: 'rules' })
  t.same(resourceOf('/plans/version/:plan_version_id/publish'), {
    resource_type: 'plan_version',
    secondary_resource: 'publish',
  })
  t.same(resourceOf('/billing/credits'), { resource_type: 'credit', secondary_resource: null })
})

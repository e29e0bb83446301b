// Rights of holders of a publishable key, which is anybody: its written limits, and contexts that a server signed.
import { createHmac } from 'node:crypto'
import t from 'tap'
import { type Client, startHere } from '../harness.js'

const { client } = await startHere(t)
const whoami = await client.ok('GET', '/whoami')
const development = whoami.environment_id as string
const production = whoami.environments.find((one: { name: string }) => one.name === 'Production').id as string
const account = client.as((await client.ok('POST', '/api-keys', { name: 'account' })).secret)
const inProduction = account.as(account.key, { 'X-Service-Environment-Id': production })
const publicKey = async (environmentId: string): Promise<string> => {
  const listed = await account.ok(
    'GET',
    `/api-keys?limit=250&require_environment=true&environment_id=${environmentId}`,
  )
  return listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret
}
const pkDev = client.as(await publicKey(development))
const pkProd = client.as(await publicKey(production))

const identify = (keys: object, company?: object, traits?: object) => ({
  event_type: 'identify',
  body: { keys, ...(traits && { traits }), ...(company && { company }) },
})
const track = (event: string, slug: string, more: object = {}) => ({
  event_type: 'track',
  body: { event, company: { slug }, ...more },
})
const value = async (from: Client, flag: string, body: object): Promise<boolean> =>
  (await from.ok('POST', `/flags/${flag}/check`, body)).value
const errors = async (from: Client, path: string, events: readonly object[]) => {
  const { body } = await from.send('POST', path, { events })
  return body.data.events.map((ack: { error: string | null }) => ack.error)
}

async function traitFlag(entity: 'company' | 'user', trait: string): Promise<string> {
  const definition = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: entity,
    trait_type: 'string',
    hierarchy: [trait],
  })
  const flag = await client.ok('POST', '/flags', {
    key: `by-${entity}-${trait}`,
    name: 'By trait',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const condition = {
    condition_type: 'trait',
    operator: 'eq',
    resource_ids: [],
    trait_id: definition.id,
    trait_value: 'enterprise',
  }
  await client.ok('PUT', `/flags/${flag.id}/rules`, {
    rules: [
      {
        name: 'r',
        priority: 1,
        rule_type: 'standard',
        value: true,
        conditions: [condition],
        condition_groups: [],
      },
    ],
  })
  return definition.id
}

t.test(
  'security 3 what a publishable key says of a trait decides nothing, before and after the rule',
  async t => {
    await client.ok('POST', '/companies', { keys: { slug: 'victim' } })
    await account.ok('PUT', `/environments/${development}`, { publishable_limits: { name_traits: true } })
    const company = { keys: { slug: 'victim' }, traits: { tier: 'enterprise' } }
    const said = identify({ mail: 'anon' }, company, { tier: 'enterprise' })
    t.equal((await pkDev.post('/events', said)).status, 201)
    const asked = { company: { slug: 'victim' }, user: { mail: 'anon' } }
    const id = await traitFlag('company', 'tier')
    await traitFlag('user', 'tier')
    t.notOk(await value(client, 'by-company-tier', asked), 'said before the rule was made')
    t.equal((await pkDev.post('/events', said)).status, 201)
    t.notOk(await value(client, 'by-company-tier', asked), 'said after')
    t.notOk(await value(client, 'by-user-tier', asked), 'of a user neither')
    t.match(
      await client.ok('GET', '/companies/lookup?slug=victim'),
      { traits: { tier: 'enterprise' } },
      'it is shown, as the interface document has it',
    )

    await client.ok('POST', '/companies', { keys: { slug: 'victim' }, traits: { tier: 'free' } })
    t.equal((await pkDev.post('/events', said)).status, 201)
    t.match(
      await client.ok('GET', '/companies/lookup?slug=victim'),
      { traits: { tier: 'free' } },
      'a server’s word is not overwritten',
    )
    await client.ok('POST', '/companies', { keys: { slug: 'victim' }, traits: { tier: 'enterprise' } })
    t.ok(await value(client, 'by-company-tier', asked), 'a server is believed')

    await client.ok('POST', '/companies', { keys: { slug: 'allowed' } })
    const definition = { trait_type: 'string', publishable_writes: true }
    t.match(await client.ok('PUT', `/entity-trait-definitions/${id}`, definition), {
      publishable_writes: true,
    })
    const allowed = identify({ mail: 'anon' }, { ...company, keys: { slug: 'allowed' } })
    t.equal((await pkDev.post('/events', allowed)).status, 201)
    t.ok(
      await value(client, 'by-company-tier', { company: { slug: 'allowed' } }),
      'where the definition allows it',
    )
  },
)

t.test('security 3 the quantity that a publishable key counts at once is bounded', async t => {
  const huge = track('metered', 'victim', { quantity: 9_007_199_254_740_991 })
  t.match(await pkDev.post('/events', huge), { status: 403, body: { error: /count more than 10000/ } })
  const fine = track('metered', 'victim', { quantity: 10_000 })
  t.match(await errors(pkDev, '/event-batch?report=true', [fine, huge, fine]), [null, /10000/, null])
  t.equal((await client.post('/events', huge)).status, 201, 'a server counts what it likes')
})

t.test('security 3, 6 in production a publishable key makes and names nothing unless it may', async t => {
  await inProduction.ok('POST', '/companies', { keys: { slug: 'known' }, traits: { seats: 1 } })
  await inProduction.ok('POST', '/features', {
    name: 'Calls',
    description: '',
    feature_type: 'event',
    event_subtype: 'call',
  })
  const known = { keys: { slug: 'known' } }
  const refused: readonly (readonly [object, RegExp])[] = [
    [track('call', 'unknown'), /make companies/],
    [identify({ mail: 'm' }, { keys: { slug: 'unknown' } }), /make companies/],
    [identify({ mail: 'm' }, { keys: { slug: 'known', crm: '12345' } }), /add keys/],
    [track('never heard of', 'known'), /no definition names/],
    [identify({ mail: 'm' }, { ...known, traits: { never: 1 } }), /name new traits/],
    [identify({ mail: 'm' }, known, { never: 1 }), /name new traits/],
    [identify({ mail: 'm', cookie: 'mine' }), /users with more than one key/],
    [track('call', 'known', { user: { mail: 'n', cookie: 'mine' } }), /users with more than one key/],
  ]
  for (const [event, error] of refused) {
    t.match(await pkProd.post('/events', event), { status: 403, body: { error } })
    t.match(await errors(pkProd, '/event-batch?report=true', [track('call', 'known'), event]), [null, error])
  }
  const padding = ' '.repeat(300_000)
  const large = `${padding}{"events":${JSON.stringify(refused.map(([event]) => event))}}`
  const { body } = await pkProd.send('POST', '/event-batch?report=true', large)
  t.match(
    body.data.events.map((ack: { error: string }) => ack.error),
    refused.map(([, error]) => error),
    'a large body alike',
  )
  t.equal((await inProduction.get('/companies/lookup?slug=unknown')).status, 404)
  t.equal((await inProduction.get('/companies/lookup?crm=12345')).status, 404)
  t.match(
    await inProduction.ok('GET', '/entity-trait-definitions?q=never'),
    [],
    'a name that was refused is not there',
  )
  const renamed = identify({ mail: 'm' }, { ...known, name: 'OWNED', traits: { seats: 9 } })
  t.equal((await pkProd.post('/events', renamed)).status, 201)
  t.match(await inProduction.ok('GET', '/companies/lookup?slug=known'), {
    name: 'known',
    traits: { seats: 1 },
  })

  const limits = {
    create_companies: true,
    add_company_keys: true,
    create_users: 20,
    add_user_keys: true,
    name_events: true,
    name_traits: true,
  }
  const path = `/environments/${production}`
  t.match(await account.ok('PUT', path, { publishable_limits: { ...limits, quantity_max: 5 } }), {
    publishable_limits: { ...limits, quantity_max: 5 },
  })
  for (const [event] of refused) t.equal((await pkProd.post('/events', event)).status, 201, 'switched on')
  t.equal((await pkProd.post('/events', track('call', 'known', { quantity: 6 }))).status, 403)
  await account.ok('PUT', path, { publishable_limits: {} })
  t.equal((await pkProd.post('/events', track('call', 'another'))).status, 403, 'back to what production has')
})

t.test('AL-14 a signed context says who company and user are, and nothing else does', async t => {
  const path = `/environments/${production}`
  await account.ok('PUT', path, { require_context_signature: true })
  t.equal(
    (await inProduction.post('/signed-contexts', { company: { slug: 'known' } })).status,
    400,
    'no secret yet',
  )
  const { secret } = await account.ok('POST', `${path}/context-secret`, {})
  t.match(await account.ok('GET', `${path}/context-secret`), { secret })
  t.equal((await client.as(pkProd.key).get(`${path}/context-secret`)).status, 403)
  const soon = () => Math.floor(Date.now() / 1_000) + 60
  // the few lines of SECURITY.md
  const sign = (payload: object, by = secret, environmentId = production): string => {
    const encoded = Buffer.from(JSON.stringify(payload)).toString('base64url')
    const signed = createHmac('sha256', by).update(`v1.${environmentId}.${encoded}`).digest('base64url')
    return `v1.${encoded}.${signed}`
  }
  const said = { company: { slug: 'known' }, user: { mail: 'signed' }, company_traits: { tier: 'gold' } }
  const good = sign({ exp: soon(), ...said })
  const made = await inProduction.ok('POST', '/signed-contexts', said)
  const flag = await account.ok('POST', '/flags', {
    key: 'asked',
    name: 'Asked',
    description: '',
    flag_type: 'boolean',
    default_value: true,
  })
  t.ok(flag)
  const by = (token: string) => client.as(pkProd.key, { 'X-Service-Signed-Context': token })
  const known = await inProduction.ok('GET', '/companies/lookup?slug=known')

  const bad: readonly (readonly [string, string])[] = [
    ['missing', ''],
    ['no context', 'rubbish'],
    ['expired', sign({ ...said, exp: soon() - 120 })],
    ['too far ahead', sign({ ...said, exp: soon() + 30 * 86_400 })],
    ['another secret', sign({ ...said, exp: soon() }, 'ctx_guessed')],
    ['another environment', sign({ ...said, exp: soon() }, secret, development)],
    [
      'another company in it',
      good.replace(
        /\.[^.]+\./,
        `.${Buffer.from(JSON.stringify({ ...said, exp: soon(), company: { slug: 'victim' } })).toString('base64url')}.`,
      ),
    ],
    ['signature cut', good.slice(0, -4)],
    ['no end', sign(said)],
  ]
  for (const [why, token] of bad) {
    t.equal((await by(token).post('/flags/asked/check', {})).status, 403, why)
    t.equal((await by(token).post('/events', track('call', 'known'))).status, 403, why)
  }
  for (const token of [good, good, made.signed_context]) {
    const answer = await by(token).ok('POST', '/flags/asked/check', { company: { slug: 'victim' } })
    t.match(answer, { value: true, company_id: known.id }, 'whoever the body names')
  }
  t.match((await by(good).ok('POST', '/flags/check', {})).flags.length > 0, true)
  t.match(await by(good).ok('POST', '/flags/check-bulk', { contexts: [{ company: { slug: 'victim' } }] }), {
    data: [{ flags: [{ company_id: known.id }] }],
  })
  for (const event of [track('call', 'victim'), identify({ mail: 'other' }, { keys: { slug: 'victim' } })])
    t.equal((await by(good).post('/events', event)).status, 201)
  t.equal((await inProduction.get('/companies/lookup?slug=victim')).status, 404)
  t.equal((await inProduction.get('/users/lookup?mail=other')).status, 404)
  t.match(await inProduction.ok('GET', '/companies/lookup?slug=known'), {
    traits: { tier: 'gold', seats: 1 },
    user_count: 2,
  })
  const collected = await client.as('').post('/batch', {
    signed_context: good,
    events: [{ api_key: pkProd.key, type: 'track', body: { event: 'call', company: { slug: 'victim' } } }],
  })
  t.match(collected, { status: 200, body: { data: { events: [{}] } } }, 'in the body of a collector’s batch')
  t.equal((await inProduction.get('/companies/lookup?slug=victim')).status, 404)

  await account.ok('POST', `${path}/context-secret`, { overlap_seconds: 60 })
  t.equal((await by(good).post('/flags/asked/check', {})).status, 200, 'the former secret overlaps')
  await account.ok('POST', `${path}/context-secret`, {})
  t.equal((await by(good).post('/flags/asked/check', {})).status, 403, 'and is over')
  await account.ok('PUT', path, { require_context_signature: false })
  t.equal(
    (await by(good).post('/flags/asked/check', {})).status,
    403,
    'a bad one is refused where none is needed',
  )
})

t.test('M6 a stranger’s cookie does not join a known user’s key, by any door', async t => {
  const pk = pkProd
  await inProduction.ok('POST', '/users', { keys: { mail: 'boss@example.com' } })
  const stolen = { mail: 'boss@example.com', cookie: 'stranger' }
  const future = { mail: 'new@example.com', cookie: 'stranger' }
  const batchOf = (events: readonly object[]) => ({
    events: events.map(event => {
      const { event_type: type, body } = event as { event_type: string; body: object }
      return { api_key: pk.key, type, body }
    }),
  })
  for (const keys of [stolen, future]) {
    const events = [
      identify(keys),
      identify(keys, { keys: { slug: 'known' } }),
      track('call', 'known', { user: keys }),
    ]
    for (const event of events) {
      await pk.post('/events', event)
      await pk.send('POST', '/event-batch', { events: [event] })
      await client.as('').post('/batch', batchOf([event]))
    }
    await pk.post('/flags/check', { user: keys })
    await pk.post('/flags/check-bulk', { contexts: [{ user: keys }] })
    t.equal((await pk.post('/users', { keys })).status, 403)
    t.equal((await pk.post('/signed-contexts', { user: keys })).status, 403)
  }
  // a server that writes the key later finds its own user
  await inProduction.ok('POST', '/users', { keys: { mail: 'new@example.com' } })
  t.equal((await inProduction.get('/users/lookup?cookie=stranger')).status, 404)
  t.equal((await pk.post('/events', identify({ cookie: 'stranger' }))).status, 201, 'with a key of its own')
  t.equal((await pk.post('/events', identify({ mail: 'boss@example.com' }))).status, 201)
})

t.test('H4 users that publishable keys create have a limit of their own', async t => {
  const path = `/environments/${production}`
  await account.ok('PUT', path, { publishable_limits: { create_users: 5 } })
  const users = (from: number) =>
    Array.from({ length: 10 }, (_, i) => identify({ anonymous: `visitor ${from + i}` }))
  const told = await errors(pkProd, '/event-batch?report=true', users(0))
  t.equal(told.filter((error: string | null) => error === null).length, 5)
  t.match(told[9], /more than 5 users in an hour/)
  t.match(await pkProd.post('/events', track('call', 'known', { user: { anonymous: 'visitor 50' } })), {
    status: 403,
  })
  t.equal((await pkProd.post('/events', users(0)[0]!)).status, 201, 'one that is known')
  t.equal((await inProduction.post('/events', users(20)[0]!)).status, 201, 'a server makes what it likes')
  t.equal((await account.put(path, { publishable_limits: { create_users: -1 } })).status, 400)
  await account.ok('PUT', path, { publishable_limits: { create_users: 0 } })
  t.equal((await pkProd.post('/events', users(30)[0]!)).status, 403)
  await account.ok('PUT', path, { publishable_limits: {} })
})

t.test('H4 what a publishable key writes of one entity is bounded', async t => {
  const path = `/environments/${development}`
  await account.ok('PUT', path, { publishable_limits: { name_traits: true } })
  const many = (n: number) => identify({ mail: 'wordy' }, undefined, { [`trait ${n}`]: 'x'.repeat(30_000) })
  const told: (string | null)[] = []
  for (let n = 0; n < 4; n++) told.push(...(await errors(pkDev, '/event-batch?report=true', [many(n)])))
  t.match(told, [null, null, /characters together/, /characters together/])
})

t.test('M2 refused requests of a publishable key are counted, and those of others bounded', async t => {
  const long = { padding: 'x'.repeat(9_000) }
  for (let n = 0; n < 60; n++) t.equal((await pkProd.post('/companies', long)).status, 403)
  type Row = {
    readonly id: string
    readonly resp_code: number
    readonly url: string
    readonly api_key_id: string
  }
  const readers = new Set<string>()
  let rows: readonly Row[] = []
  let refused: readonly Row[] = []
  // sixty requests may fall into two windows of ten seconds: another key asks then
  for (let tries = 0; refused.length !== 20 && tries < 3; tries++) {
    const key = await client.ok('POST', '/api-keys', { name: `reader ${tries}`, readonly: true })
    readers.add(key.id)
    const reader = client.as(key.secret, { 'X-Service-Environment-Id': development })
    const asked = await Promise.all(Array.from({ length: 60 }, () => reader.post('/companies', long)))
    for (const { status } of asked) t.equal(status, 403)
    const all = (await account.ok('GET', '/audit-log?limit=250')) as readonly Row[]
    rows = all.filter(row => row.url === '/companies' && row.resp_code === 403)
    refused = rows.filter(row => row.api_key_id === key.id)
  }
  t.equal(refused.length, 20, 'twenty of a secret key')
  t.same(
    rows.filter(row => !readers.has(row.api_key_id)),
    [],
    'none of a publishable one',
  )
  const one = await account.ok('GET', `/audit-log/${refused[0]!.id}`)
  t.ok(JSON.stringify(one).length < 3_000, 'little is kept of a refused request')
  const counts = (await account.ok('GET', '/audit-log?limit=20&kind=auth_failure')) as readonly Row[]
  const counted = counts.filter(row => row.url === 'requests/refused')
  t.match(counted[0], { kind: 'auth_failure' })
  // these requests may fall into two windows too: each has a row
  let count = 0
  for (const { id } of counted) {
    const { req_body: body } = await account.ok('GET', `/audit-log/${id}`)
    count += JSON.parse(body).count
  }
  t.ok(count >= 100, `sixty of a publishable key and forty of another, ${count} counted`)
})

t.test('L2 a read of a context secret leaves an audit row', async t => {
  await account.ok('GET', `/environments/${production}/context-secret`)
  const rows = await account.ok('GET', '/audit-log?kind=read&limit=20')
  t.ok(rows.some((row: { url: string }) => row.url.endsWith('/context-secret')))
})

t.test('N13 every answer of a limited endpoint exposes its rate-limit headers', async t => {
  for (const path of ['/companies?limit=1', '/whoami', '/companies/comp_unknown', '/nowhere/else']) {
    const { headers } = await fetch(`${inProduction.url}${path}`, {
      headers: { 'X-Service-Api-Key': inProduction.key, 'X-Service-Environment-Id': production },
    })
    if (path !== '/nowhere/else')
      t.match(headers.get('access-control-expose-headers'), /X-RateLimit-Limit.*X-RateLimit-Reset/, path)
  }
})

t.test('L3 a key made by a bound key has its conditions', async t => {
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const bounds = { expires_at: soon, allowed_addresses: ['127.0.0.0/8'], rate_limit_percent: 50 }
  const admin = { name: 'admin', scopes: ['admin', 'read', 'write'], ...bounds }
  const bound = account.as((await account.ok('POST', '/api-keys', admin)).secret)
  t.match(await bound.ok('POST', '/api-keys', { name: 'inherits' }), bounds)
  const later = new Date(Date.now() + 7_200_000).toISOString()
  for (const more of [
    { expires_at: later },
    { allowed_addresses: ['0.0.0.0/0'] },
    { allowed_addresses: ['127.0.0.1', '10.0.0.1'] },
    { rate_limit_percent: 51 },
  ])
    t.match(await bound.post('/api-keys', { name: 'wider', ...more }), { status: 403 }, JSON.stringify(more))
  const narrow = { allowed_addresses: ['127.0.0.1/32'], rate_limit_percent: 10 }
  t.match(await bound.ok('POST', '/api-keys', { name: 'narrower', ...narrow }), narrow)
  const { api_key_id: self } = await bound.ok('GET', '/whoami')
  t.equal((await bound.put(`/api-keys/${self}`, { expires_at: null })).status, 403, 'nor frees itself')
  t.equal((await bound.put(`/api-keys/${self}`, { rate_limit_percent: 0 })).status, 403)
  const free = await account.ok('POST', '/api-keys', { name: 'free' })
  t.equal((await bound.post(`/api-keys/${free.id}/roll`, {})).status, 403, 'nor takes one that has none')

  // a session has no conditions: who signs in could make such a key
  const person = { name: 'Ann', email: 'ann@example.com', console_roles: { '*': 'admin' } }
  const member = await account.ok('POST', '/account-members', person)
  const path = `/account-members/${member.id}`
  t.match(await bound.post('/account-members', { ...person, email: 'bob@example.com' }), { status: 403 })
  t.match(await bound.put(path, { disabled: false }), { status: 403 })
  t.match(await bound.post(`${path}/sign-in-link`, {}), { status: 403 })
  t.match(await bound.post('/console-links', {}), { status: 403 })
  t.equal((await account.post(`${path}/sign-in-link`, {})).status, 201)
})

t.test('L3 a key for every IPv4 address makes none for IPv6, with addresses named or absent', async t => {
  const make = async (allowed_addresses: string[]) => {
    const admin = { name: 'admin', scopes: ['admin', 'read', 'write'], allowed_addresses }
    const made = await account.ok('POST', '/api-keys', admin)
    return { id: made.id, client: account.as(made.secret) }
  }
  const { id, client } = await make(['0.0.0.0/0'])
  t.match(await client.ok('POST', '/api-keys', { name: 'inherits' }), { allowed_addresses: ['0.0.0.0/0'] })
  t.match(await client.post('/api-keys', { name: 'wider', allowed_addresses: ['::/0'] }), { status: 403 })
  t.match(await client.put(`/api-keys/${id}`, { allowed_addresses: null }), { status: 403 })
  const free = await account.ok('POST', '/api-keys', { name: 'free' })
  t.match(await client.put(`/api-keys/${free.id}`, { name: 'taken' }), { status: 403 })

  const dual = await make(['0.0.0.0/0', '::/0'])
  t.match(await dual.client.put(`/api-keys/${dual.id}`, { allowed_addresses: null }), { status: 200 })
})

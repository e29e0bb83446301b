// Flag checks over HTTP: contexts and reasons, preflight, all flags, bulk, and the records of a check.
import t from 'tap'
import { startHere } from '../harness.js'
import { makeFlag, rule } from './flags.js'

// every check of this file leaves its record, however quickly they follow each other
const { client } = await startHere(t, { TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '100000' })

const flag = (key: string, value: boolean, rules: object[] = []) => makeFlag(client, key, value, rules)
const check = (key: string, body: object) => client.post(`/flags/${key}/check`, body)

await flag('plain', false)
const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' }, traits: { seats: 5 } })
const user = await client.ok('POST', '/users', { keys: { email: 'a@x' }, traits: { role: 'admin' } })
const definitions = await client.ok('GET', '/entity-trait-definitions')
const traitId = (name: string) =>
  definitions.find((one: { display_name: string; id: string }) => one.display_name === name).id

t.test('FE-75, FE-76 the reason of a check in which nothing matched names its context', async t => {
  const reason = async (body: object) => (await check('plain', body)).body.data.reason
  t.equal(await reason({}), 'No company or user context; default value for flag')
  t.equal(await reason({ company: { slug: 'nobody' } }), 'Company not found')
  t.equal(await reason({ company: { slug: 'acme' }, user: { email: 'nobody' } }), 'User not found')
  t.equal(await reason({ company: { slug: 'acme' } }), 'No rules matched; default value for flag')
  const missing = await check('plain', { company: { slug: 'nobody' } })
  t.match(missing, { status: 200, body: { data: { value: false, error: null, company_id: null } } })
  const lookup = await client.get('/companies/lookup?slug=nobody')
  t.equal(lookup.status, 404, 'a check creates nobody')
})

t.test('FE-70 every member of a check is there', async t => {
  const { status, body } = await check('plain', { company: { slug: 'acme' }, user: { email: 'a@x' } })
  t.equal(status, 200)
  const on = ['feature_allocation', 'feature_usage', 'feature_usage_event', 'feature_usage_period']
  const members = [
    'flag',
    'flag_id',
    'value',
    'reason',
    'rule_id',
    'rule_type',
    'company_id',
    'user_id',
    'error',
  ]
  t.same(Object.keys(body.data).sort(), [...members, ...on, 'feature_usage_reset_at'].sort())
  t.match(body.data, { company_id: company.id, user_id: user.id, flag: 'plain' })
  t.same(body.params, { key: 'plain' })
})

t.test('FE-77 unknown flags are 404, keys of two companies 400', async t => {
  t.match(await check('nothing', {}), { status: 404, body: { error: 'Flag not found' } })
  await client.ok('POST', '/companies', { keys: { slug: 'other' } })
  t.equal((await check('plain', { company: { slug: 'acme', other: 'x' } })).status, 200)
  await client.ok('POST', '/companies', { keys: { tax: '7' } })
  t.equal((await check('plain', { company: { slug: 'acme', tax: '7' } })).status, 400)
})

t.test('FE-30, FE-60, FE-79 company, user and traits of both decide', async t => {
  const condition = (more: object) => ({ operator: 'eq', resource_ids: [], ...more })
  await flag('mine', false, [
    rule('the company', [condition({ condition_type: 'company', resource_ids: [company.id] })]),
  ])
  t.match((await check('mine', { company: { slug: 'acme' } })).body.data, {
    value: true,
    reason: /^Matched standard rule "the company" \(rule_/,
    rule_type: 'standard',
  })
  await flag('admins', false, [
    rule('admins', [condition({ condition_type: 'trait', trait_id: traitId('role'), trait_value: 'admin' })]),
  ])
  t.equal((await check('admins', { user: { email: 'a@x' } })).body.data.value, true)
  t.equal((await check('admins', { user: { email: 'a@x' } })).body.data.company_id, null, 'FE-79')
  t.equal((await check('admins', { company: { slug: 'acme' } })).body.data.value, false, 'FE-61')
  await client.ok('POST', '/user-traits', { keys: { email: 'a@x' }, trait: 'role', set: 'guest' })
  t.equal((await check('admins', { user: { email: 'a@x' } })).body.data.value, false, 'CU-37 at once')
})

t.test(
  'FE-80, FE-86 preflight simulates on single checks and is refused when negative, fractional or elsewhere',
  async t => {
    const metric = {
      condition_type: 'metric',
      event_subtype: 'export',
      metric_period: 'all_time',
      resource_ids: [],
    }
    await flag('exports', true, [
      rule('used up', [{ ...metric, operator: 'gte', metric_value: 10 }], { value: false }),
    ])
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'export', company: { slug: 'acme' }, quantity: 9 },
    })
    const body = { company: { slug: 'acme' } }
    t.equal((await check('exports', body)).body.data.value, true)
    t.equal((await check('exports', { ...body, preflight: { usage: 1 } })).body.data.value, false)
    const other = { event_usage: { event_subtype: 'other', quantity: 5 } }
    t.equal((await check('exports', { ...body, preflight: other })).body.data.value, true)
    t.match(await check('exports', { ...body, preflight: { usage: -1 } }), {
      status: 400,
      body: { error: 'preflight usage cannot be negative' },
    })
    t.match(await check('exports', { ...body, preflight: { credit_cost: { bcrd_1: -1 } } }), {
      status: 400,
      body: { error: 'preflight credit cost cannot be negative' },
    })
    t.equal((await check('exports', { ...body, preflight: { usage: 1.5 } })).status, 400)
    t.equal((await client.post('/flags/check', { ...body, preflight: { usage: 1 } })).status, 400, 'FE-91')
  },
)

t.test('FE-90, FE-91 all flags answer from one snapshot, ordered by key, with plan and balances', async t => {
  const { status, body } = await client.post('/flags/check', { company: { slug: 'acme' } })
  t.equal(status, 201)
  const keys = body.data.flags.map((one: { flag: string }) => one.flag)
  t.same(keys, [...keys].sort())
  t.same(keys, ['admins', 'exports', 'mine', 'plain'])
  t.same(body.data.credit_balances, {})
  const single = await check('mine', { company: { slug: 'acme' } })
  t.same(body.data.flags[keys.indexOf('mine')], single.body.data, 'the same as a single check')
  t.notOk('credit_balances' in (await client.post('/flags/check', {})).body.data)
})

t.test('FE-90 answers under way together are each their own, names in any script', async t => {
  const slugs = Array.from({ length: 12 }, (_, i) => `zürich-${i}`)
  for (const slug of slugs) await client.ok('POST', '/companies', { keys: { slug }, traits: { seats: 20 } })
  const seated = { condition_type: 'trait', operator: 'gte', resource_ids: [], trait_id: traitId('seats') }
  const many = await flag('many', false, [rule('東京 😀', [{ ...seated, trait_value: '10' }])])
  // a user whose traits are read is asked for first
  const bodies = slugs.flatMap(slug => [
    { company: { slug } },
    { company: { slug }, user: { email: 'a@x' } },
    { company: { slug }, user: { email: 'nobody' } },
  ])
  const ask = async (body: object) => (await client.post('/flags/check', body)).body
  const alone = []
  for (const body of bodies) alone.push(await ask(body))
  t.strictSame(await Promise.all([...bodies, ...bodies].map(ask)), [...alone, ...alone])
  t.equal(new Set(alone.map(({ data }) => data.flags[0].company_id)).size, slugs.length)
  t.equal(new Set(alone.map(one => JSON.stringify(one.data.flags))).size, bodies.length)
  const { data, params } = alone[0]
  const shown = data.flags.find((one: { flag: string }) => one.flag === 'many')
  t.match([shown.value, shown.reason, params], [true, /"東京 😀"/, {}])
  await client.ok('DELETE', `/flags/${many.id}`)
})

t.test('FE-92 bulk: in request order, a bad context fails alone, at most 100', async t => {
  await client.ok('POST', '/companies', { keys: { vat: '9' } })
  const contexts = [
    { company: { slug: 'acme' } },
    { company: { slug: 'acme', vat: '9' } },
    { user: { email: 'a@x' } },
    5,
  ]
  const { status, body } = await client.post('/flags/check-bulk', { contexts })
  t.equal(status, 201)
  const results = body.data.data
  t.equal(results.length, 4)
  t.equal(results[0].flags[2].company_id, company.id)
  t.match(results[1], { flags: [], error: /multiple companies/ })
  t.equal(results[2].flags[0].user_id, user.id)
  t.same(results[3].flags, [])
  t.same((await client.post('/flags/check-bulk', { contexts: [] })).body.data, { data: [] })
  const many = Array.from({ length: 101 }, () => ({}))
  t.equal((await client.post('/flags/check-bulk', { contexts: many })).status, 400)
})

t.test('FE-93, FE-94 checks are open to read-only and publishable keys, and answer alike', async t => {
  const [environment] = (await client.ok('GET', '/whoami')).environments
  const keys = await client.ok(
    'GET',
    `/api-keys?require_environment=true&environment_id=${(await client.ok('GET', '/whoami')).environment_id}`,
  )
  const publishable = keys.find((one: { secret?: string }) => one.secret).secret
  const readonly = await client.ok('POST', '/api-keys', {
    name: 'ro',
    readonly: true,
    environment_id: (await client.ok('GET', '/whoami')).environment_id,
  })
  t.ok(environment)
  const body = { company: { slug: 'acme' } }
  const answer = (await check('mine', body)).body
  for (const key of [publishable, readonly.secret])
    t.same((await client.as(key).post('/flags/mine/check', body)).body, answer)
  t.equal((await client.as(publishable).get('/companies')).status, 403)
})

t.test(
  'FE-100…103 a check leaves a record, the last check of its flag and the last sight of its company',
  async t => {
    const before = Date.now()
    await check('plain', { company: { slug: 'acme' }, preflight: { usage: 1 } })
    const seen = await client.ok('GET', '/companies/lookup?slug=acme')
    t.ok(Date.parse(seen.last_seen_at) >= before, 'FE-103')
    const until = Date.now() + 60_000
    let found: { last_checked_at: string | null } = { last_checked_at: null }
    let records: { body: { preflight?: boolean; req_company: object } }[] = []
    while (
      Date.now() < until &&
      !(records[0]?.body.preflight && Date.parse(found.last_checked_at ?? '') >= before)
    ) {
      await new Promise(resolve => setTimeout(resolve, 100))
      found = (await client.ok('GET', '/flags?q=plain'))[0]
      records = await client.ok('GET', '/events?event_types=flag_check&event_subtype=plain&limit=1')
    }
    t.ok(Date.parse(found.last_checked_at ?? '') >= before, 'FE-102')
    t.match(records[0], { body: { preflight: true, req_company: { slug: 'acme' }, company_id: company.id } })
  },
)

t.test('FE-100 a record shows the first keys of a check that names many', async t => {
  await flag('wordy', false)
  const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`key${n}`, 'x'.repeat(90)]))
  await check('wordy', { company: keys, user: { email: 'a@x' } })
  let record: { body: { req_company: object; req_user: object } } | undefined
  for (const untilMs = Date.now() + 60_000; record === undefined && Date.now() < untilMs; ) {
    await new Promise(resolve => setTimeout(resolve, 100))
    ;[record] = await client.ok('GET', '/events?event_types=flag_check&event_subtype=wordy&limit=1')
  }
  const { req_company: shown, req_user: user } = record!.body
  t.match(shown, { key0: keys.key0 })
  t.equal(Object.keys(shown).length, 10, '1,024 characters')
  t.same(user, { email: 'a@x' })
})

t.test('FE-105 a check after a write of its flag sees the write, on every connection', async t => {
  const made = await flag('switch', false)
  let stale = 0
  for (let round = 0; round < 20; round++) {
    const value = round % 2 === 0
    await client.ok('PUT', `/flags/${made.id}/rules`, {
      rules: [rule('all', [], { rule_type: 'global_override', value })],
    })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => check('switch', { company: { slug: `c${index}` } })),
    )
    stale += answers.filter(answer => answer.body.data.value !== value).length
  }
  t.equal(stale, 0)
})

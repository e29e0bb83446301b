// Checks answered again with what still stands (FE-105, decision 1): whatever is acknowledged, the next check of the same
// question sees it; and each is counted and recorded (FE-100, FE-101).
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { makeFlag, rule } from './flags.js'

// every check leaves its record, however quickly they follow each other
// one front: the main thread's own figures tell what was answered again
const { client, tollgate } = await startHere(t, {
  TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '100000',
  TOLLGATE_FRONTS: '1',
})
const { metrics } = tollgate.services

const condition = (some: object) => ({ operator: 'gte', resource_ids: [], ...some })
const calls = (value: number) =>
  condition({
    condition_type: 'metric',
    event_subtype: 'call',
    metric_period: 'all_time',
    metric_value: value,
  })
const flag = (key: string, rules: object[]) => makeFlag(client, key, false, rules)

await client.ok('POST', '/companies', { keys: { slug: 'acme' }, traits: { seats: 5 } })
const definitions = await client.ok('GET', '/entity-trait-definitions')
const seats = definitions.find((one: { display_name: string }) => one.display_name === 'seats').id
const many = await flag('many', [
  rule('called', [calls(1)]),
  rule('seated', [condition({ condition_type: 'trait', trait_id: seats, trait_value: '10' })], {
    priority: 1,
  }),
])

/** The answer to a question once it is given again without its actor; asked a few times for it. */
async function kept(body: object, by: Client = client, path = '/flags/many/check') {
  for (let asked = 0; asked < 20; asked++) {
    const before = metrics.checksAgain.count
    const { body: answer } = await by.post(path, body)
    if (metrics.checksAgain.count > before) return answer.data
  }
  throw new Error('the answer is never kept')
}

/** The next check's answer, after a cached one and a change. */
async function after(body: object, change: () => Promise<unknown>, path = '/flags/many/check') {
  const was = await kept(body, client, path)
  await change()
  const { status, body: answer } = await client.post(path, body)
  return { was, status, now: answer.data }
}

t.test('the same question about one flag is answered again, byte for byte', async t => {
  const body = { company: { slug: 'acme' } }
  const once = await client.ok('POST', '/flags/many/check', body)
  t.strictSame(await kept(body), once)
  t.strictSame(await kept({}), await client.ok('POST', '/flags/many/check', {}), 'of nobody, too')
  const again = metrics.checksAgain.count
  for (let asked = 0; asked < 5; asked++) await client.ok('POST', '/flags/check', body)
  t.equal(metrics.checksAgain.count, again, 'checks of all flags are never kept')
  t.equal((await client.post('/flags//check', body)).status, 404, 'a flag without a key is not all flags')
})

t.test('an event, a trait, a rule: the next check sees each', async t => {
  const body = { company: { slug: 'acme' } }
  const seated = await after(body, () =>
    client.ok('POST', '/companies', { keys: { slug: 'acme' }, traits: { seats: 12 } }),
  )
  t.match([seated.was.value, seated.now.reason], [false, /"seated"/])
  const called = await after(body, () =>
    client.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company: { slug: 'acme' } } }),
  )
  t.match([called.was.reason, called.now.reason], [/"seated"/, /"called"/])
  const ruled = await after(body, () =>
    client.ok('PUT', `/flags/${many.id}/rules`, { rules: [rule('called', [calls(2)])] }),
  )
  t.match([ruled.was.value, ruled.now.value], [true, false])
  const counted = await after(body, () =>
    client.ok('POST', '/event-batch', {
      events: [{ event_type: 'track', body: { event: 'call', company: { slug: 'acme' } } }],
    }),
  )
  t.match([counted.was.value, counted.now.value], [false, true])
})

t.test('FE-105 an edit of one flag costs the kept answers of that flag only', async t => {
  const company = { slug: 'acme' }
  const own = await flag('edited', [rule('one', [calls(0)])])
  const feature = await client.ok('POST', '/features', {
    name: 'Beside',
    description: '',
    feature_type: 'boolean',
    flag: { key: 'beside', name: 'Beside', description: '', flag_type: 'boolean', default_value: false },
  })
  const [edited, other, ofFeature] = ['edited', 'many', 'beside'].map(key => `/flags/${key}/check`) as [
    string,
    string,
    string,
  ]
  /** Whether the next check is answered without the company's shard. */
  const isAgain = async (path: string) => {
    const before = metrics.checksAgain.count
    await client.ok('POST', path, { company })
    return metrics.checksAgain.count > before
  }
  /** After a change of definitions: whether each flag's answer is still kept. The whole round lasts less than an answer. */
  const staying = async (change: () => Promise<unknown>) => {
    for (const path of [edited, other, ofFeature]) await kept({ company }, client, path)
    await change()
    return [await isAgain(edited), await isAgain(other), await isAgain(ofFeature)]
  }
  const edit = (name: string) =>
    client.ok('PUT', `/flags/${own.id}/rules`, { rules: [rule(name, [calls(0)])] })
  t.strictSame(await staying(() => edit('two')), [false, true, true], 'a rule')
  t.match((await client.ok('POST', edited, { company })).reason, /"two"/)
  t.strictSame(
    await staying(() =>
      client.ok('PUT', `/flags/${own.id}`, {
        key: 'edited',
        name: 'edited',
        description: '',
        flag_type: 'boolean',
        default_value: true,
      }),
    ),
    [false, true, true],
    'a default',
  )
  t.strictSame(await staying(() => makeFlag(client, 'late', false, [])), [true, true, true], 'a new flag')
  t.strictSame(
    await staying(() =>
      client.ok('PUT', `/features/${feature.id}`, {
        name: 'Renamed',
        description: '',
        feature_type: 'boolean',
      }),
    ),
    [false, false, false],
    'a feature: every answer may be another',
  )
})

t.test('FE-105 an answer stays cached during use that does not change it, and no longer', async t => {
  const rules = [rule('many', [{ ...calls(3), event_subtype: 'counted' }])]
  await flag('counting', rules)
  const path = '/flags/counting/check'
  const company = { slug: 'counting' }
  await client.ok('POST', '/companies', { keys: company })
  const use = (event: string) =>
    client.ok('POST', '/event-batch', { events: [{ event_type: 'track', body: { event, company } }] })
  // the first of all may bring anything: nobody remembers what was answered before
  await use('counted')
  t.equal((await kept({ company }, client, path)).value, false)
  const again = metrics.checksAgain.count
  for (const event of ['other', 'counted', 'other']) {
    await use(event)
    t.equal((await client.ok('POST', path, { company })).value, false)
  }
  t.ok(metrics.checksAgain.count >= again + 2, 'all but one that was too old, at most')
  await use('counted')
  t.equal((await client.ok('POST', path, { company })).value, true, 'the third')
})

t.test('FE-105, EN-50 an answer that shows use follows each use', async t => {
  const feature = await client.ok('POST', '/features', {
    name: 'Metered',
    description: '',
    feature_type: 'event',
    event_subtype: 'metered',
    flag: { key: 'metered', name: 'Metered', description: '', flag_type: 'boolean', default_value: false },
  })
  const company = { slug: 'metered' }
  const { id } = await client.ok('POST', '/companies', { keys: company })
  await client.ok('POST', '/company-overrides', {
    company_id: id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 10,
    metric_period: 'all_time',
  })
  const use = { event_type: 'track', body: { event: 'metered', company } }
  for (let used = 1; used <= 3; used++) {
    await client.ok('POST', '/events', use)
    const asked = await kept({ company }, client, '/flags/metered/check')
    t.match(asked, { feature_usage: used, entitlement: { usage: used } })
  }
  await client.ok('POST', '/events', use)
  t.match(await client.ok('POST', '/flags/metered/check', { company }), { feature_usage: 4 })
})

t.test('FE-100 each check is recorded, cached or not', async t => {
  await flag('recorded', [])
  const again = metrics.checksAgain.count
  for (let asked = 0; asked < 12; asked++)
    await client.ok('POST', '/flags/recorded/check', { company: { slug: 'acme' } })
  t.ok(metrics.checksAgain.count > again)
  const until = Date.now() + 60_000
  let records: { id: string; body: object }[] = []
  while (records.length < 12 && Date.now() < until) {
    await new Promise(resolve => setTimeout(resolve, 100))
    records = await client.ok('GET', '/events?event_types=flag_check&event_subtype=recorded&limit=50')
  }
  t.equal(new Set(records.map(({ id }) => id)).size, 12)
  t.equal(new Set(records.map(({ body }) => JSON.stringify(body))).size, 1, 'all alike')
})

t.test('an override, its end by time alone, and the test clock', async t => {
  const feature = await client.ok('POST', '/features', {
    name: 'Sso',
    description: '',
    feature_type: 'boolean',
    flag: { key: 'sso', name: 'Sso', description: '', flag_type: 'boolean', default_value: false },
  })
  const company = await client.ok('POST', '/companies', { keys: { slug: 'timed' } })
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  const clock = (now: string) => client.ok('PUT', `/environments/${environment}/clock`, { now, frozen: true })
  const body = { company: { slug: 'timed' } }
  await clock('2030-03-01T10:00:00Z')
  const given = await after(
    body,
    () =>
      client.ok('POST', '/company-overrides', {
        company_id: company.id,
        feature_id: feature.id,
        value_type: 'boolean',
        value_bool: true,
        expiration_date: '2030-03-01T10:00:20.500Z',
      }),
    '/flags/sso/check',
  )
  t.match([given.was.value, given.now.value], [false, true])
  const before = await after(body, () => clock('2030-03-01T10:00:20.499Z'), '/flags/sso/check')
  t.match([before.was.value, before.now.value], [true, true])
  const over = await after(body, () => clock('2030-03-01T10:00:20.500Z'), '/flags/sso/check')
  t.match([over.was.value, over.now.value], [true, false], 'EN-61 to the millisecond')
  await client.del(`/environments/${environment}/clock`)
})

t.test('CU-50 keys that no longer find an entity, or find another', async t => {
  const named = { company: { slug: 'short' }, user: { email: 'a@x' } }
  const made = await client.ok('POST', '/companies', { keys: { slug: 'short', name: 'short' } })
  const user = await client.ok('POST', '/users', { keys: { email: 'a@x' } })
  const unseen = await after(named, () => client.del(`/users/${user.id}`))
  t.match(
    [unseen.was.reason, unseen.now.reason],
    ['No rules matched; default value for flag', 'User not found'],
  )
  const alone = { company: { slug: 'short' } }
  const left = await after(alone, () =>
    client.ok('POST', '/companies', { keys: { name: 'short' }, remove_keys: ['slug'] }),
  )
  t.match([left.was.company_id, left.now.company_id], [made.id, null])
  const other = await client.ok('POST', '/companies', { keys: { slug: 'short' } })
  t.equal((await client.ok('POST', '/flags/many/check', alone)).company_id, other.id)
  const gone = await after(alone, () => client.del(`/companies/${other.id}`))
  t.match([gone.was.company_id, gone.now.reason], [other.id, 'Company not found'])
  const anew = await after({ company: { name: 'short' } }, async () => {
    await client.del(`/companies/${made.id}`)
    await client.ok('POST', '/companies', { keys: { name: 'short' } })
  })
  t.notMatch(anew.now.company_id, anew.was.company_id)
  t.type(anew.now.company_id, 'string')
})

t.test('AL-3, AL-10 keys and environments are checked every time', async t => {
  const body = { company: { slug: 'acme' } }
  const { environment_id: environment } = await client.ok('GET', '/whoami')
  const elsewhere = await client.ok('POST', '/environments', {
    name: 'Elsewhere',
    environment_type: 'staging',
  })
  const keyOf = (id: string) =>
    client.ok('POST', '/api-keys', { name: 'short', scopes: ['read'], environment_id: id })
  const [here, there] = [await keyOf(environment), await keyOf(elsewhere.id)]
  const by = client.as(here.secret)
  t.type((await kept(body, by)).company_id, 'string')
  const other = await client.as(there.secret).post('/flags/many/check', body)
  t.match(other, { status: 200, body: { data: { reason: 'Company not found' } } })
  await kept(body, by)
  await client.del(`/api-keys/${here.id}`)
  t.equal((await by.post('/flags/many/check', body)).status, 401)
})

t.test('FE-77 a flag that is gone is not found', async t => {
  const made = await flag('short', [])
  const gone = await after({}, () => client.del(`/flags/${made.id}`), '/flags/short/check')
  t.match(gone, { was: { value: false }, status: 404 })
})

t.test('FE-101 every check is counted, cached or not', async t => {
  await flag('counted', [])
  const again = metrics.checksAgain.count
  const wave = (count: number, path: string) =>
    Promise.all(Array.from({ length: count }, () => client.ok('POST', path, { company: { slug: 'acme' } })))
  for (let waves = 0; waves < 20; waves++) await wave(10, '/flags/counted/check')
  for (let waves = 0; waves < 10; waves++) await wave(5, '/flags/check')
  t.ok(metrics.checksAgain.count - again > 100, 'most of them again')
  const { clickhouse } = tollgate.services
  const until = Date.now() + 60_000
  let counted = 0
  while (counted < 250 && Date.now() < until) {
    await new Promise(resolve => setTimeout(resolve, 100))
    const [row] = await clickhouse.select<{ checks: number }>(
      `SELECT sum(checks) AS checks FROM flag_checks WHERE flag_key = 'counted'`,
    )
    counted = row?.checks ?? 0
  }
  t.equal(counted, 250)
  const found = (await client.ok('GET', '/flags?q=counted'))[0]
  t.ok(Date.now() - Date.parse(found.last_checked_at) < 60_000, 'FE-102')
})

t.test('a change under way on many connections: no check is older than what was acknowledged', async t => {
  const seated = (value: number, priority: number) =>
    rule(
      String(value),
      [condition({ condition_type: 'trait', trait_id: seats, trait_value: String(value) })],
      {
        priority,
      },
    )
  await flag('numbers', [seated(30, 0), seated(20, 1), seated(10, 2)])
  const again = metrics.checksAgain.count
  let stale = 0
  await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const company = { slug: `busy${index}` }
      await client.ok('POST', '/companies', { keys: company })
      for (let round = 1; round <= 30; round++) {
        await client.ok('POST', '/companies', { keys: company, traits: { seats: round } })
        // each time a few, so that the later ones may hear what the first were told
        for (let time = 0; time < 3; time++) {
          const asked = () => client.ok('POST', '/flags/numbers/check', { company })
          const answers = await Promise.all([asked(), asked(), asked()])
          const seen = answers.map(answer => Number(/"(\d+)"/.exec(answer.reason)?.[1] ?? 0))
          stale += seen.filter(number => number !== Math.floor(round / 10) * 10).length
        }
      }
    }),
  )
  t.equal(stale, 0)
  t.ok(metrics.checksAgain.count > again, `${metrics.checksAgain.count - again} were answered again`)
})

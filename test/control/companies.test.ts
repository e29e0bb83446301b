// Companies over HTTP: every operation, every rule of keys, traits, memberships, deletion and lists.
import t from 'tap'
import { derivedId } from '../../src/core/values/id.js'
import { vectors } from '../core/vectors.js'
import { startHere } from '../harness.js'
import { isoPattern } from './house.js'

interface KeyCase {
  readonly title: string
  readonly input: {
    readonly companies: readonly { readonly id: string; readonly keys: Record<string, string> }[]
    readonly request: {
      readonly id?: string
      readonly keys: Record<string, string>
      readonly remove_keys?: readonly string[]
      readonly prevent_key_remap?: boolean
      readonly update_only?: boolean
    }
  }
  readonly expected: {
    readonly status: number
    readonly company?: string
    readonly keys?: Record<string, string>
  }
}

/** Keys of a company as shown, name to value. */
const keysOf = (company: { keys: { key: string; value: string }[] }): Record<string, string> =>
  Object.fromEntries(company.keys.map(({ key, value }) => [key, value]))

t.test('companies', async t => {
  const { client } = await startHere(t)
  const { post, get, del } = client
  const upsert = (body: object) => client.ok('POST', '/companies', body)
  let made = 0
  /** A key nobody has yet. */
  const fresh = (name = 'id'): Record<string, string> => ({ [name]: `fresh-${++made}` })
  const idsOf = (companies: { id: string }[]) => companies.map(company => company.id)

  await t.test('key_matching', async t => {
    for (const { id, input, expected } of vectors<KeyCase>('key_matching')) {
      // values of their own per case: no case meets another's companies
      const own = (keys: Record<string, string>) =>
        Object.fromEntries(Object.entries(keys).map(([name, value]) => [name, `${id}/${value}`]))
      const ids = new Map<string, string>()
      for (const company of input.companies)
        ids.set(company.id, (await upsert({ keys: own(company.keys) })).id)
      const { id: addressed, keys } = input.request
      const request = {
        ...input.request,
        keys: own(keys),
        ...(addressed && { id: ids.get(addressed) ?? addressed }),
      }
      const { status, body } = await post('/companies', request)
      const known = [...ids].find(([, real]) => real === body.data?.id)?.[0]
      const untouched = []
      for (const company of input.companies) {
        const now = (await get(`/companies/${ids.get(company.id)}`)).body.data
        if (JSON.stringify(keysOf(now)) === JSON.stringify(own(company.keys))) untouched.push(company.id)
      }
      // interface document: 200 for an upsert, whether it made the company or not
      if (expected.status >= 400)
        t.same({ status, untouched }, { status: expected.status, untouched: [...ids.keys()] }, id)
      else
        t.same(
          { status, company: known ?? 'new', keys: keysOf(body.data) },
          { status: 200, company: expected.company, keys: own(expected.keys!) },
          id,
        )
    }
  })

  await t.test('a company is shown whole', async t => {
    const at = new Date().toISOString()
    const { status, body } = await post('/companies', {
      keys: { domain: 'acme.test', 'Weird Name': '__proto__' },
      name: 'Acme',
      traits: { seats: 5.0, active: true, city: 'Wien', since: '2024-01-02', site: 'https://acme.test' },
      last_seen_at: '2026-01-02T03:04:05.678+01:00',
    })
    const company = body.data
    t.equal(status, 200)
    t.same(body.params, {})
    t.match(company.id, /^comp_[0-9A-Za-z]{11}$/)
    t.match(company.created_at, isoPattern)
    t.ok(company.created_at >= at)
    const environmentId = (await client.ok('GET', '/whoami')).environment_id
    const { id, created_at } = company
    const key = (name: string, value: string) => ({
      id: derivedId('eky_', id, name),
      definition_id: derivedId('ekey_', environmentId, 'company', name),
      definition: {
        id: derivedId('ekey_', environmentId, 'company', name),
        entity_type: 'company',
        key: name,
        created_at,
        updated_at: created_at,
      },
      entity_id: id,
      entity_type: 'company',
      environment_id: environmentId,
      key: name,
      value,
      created_at,
      updated_at: created_at,
    })
    const trait = (name: string, value: string, trait_type: string) => ({
      id: derivedId('etrt_', id, name),
      definition_id: derivedId('trt_', environmentId, 'company', name),
      definition: {
        id: derivedId('trt_', environmentId, 'company', name),
        display_name: name,
        entity_type: 'company',
        hierarchy: [name],
        trait_type,
        created_at,
        updated_at: created_at,
      },
      environment_id: environmentId,
      value,
      created_at,
      updated_at: created_at,
    })
    t.strictSame(company, {
      id,
      environment_id: environmentId,
      name: 'Acme',
      created_at,
      updated_at: created_at,
      last_seen_at: '2026-01-02T02:04:05.678Z',
      logo_url: null,
      keys: [key('domain', 'acme.test'), key('Weird Name', '__proto__')],
      entity_traits: [
        trait('seats', '5', 'number'),
        trait('active', 'true', 'boolean'),
        trait('city', 'Wien', 'string'),
        trait('since', '2024-01-02', 'date'),
        trait('site', 'https://acme.test', 'url'),
      ],
      traits: { seats: 5, active: true, city: 'Wien', since: '2024-01-02', site: 'https://acme.test' },
      user_count: 0,
      plans: [],
      add_ons: [],
      entitlements: [],
      metrics: [],
      rules: [],
      billing_credit_balances: {},
      billing_email: null,
      billing_profiles: [],
      billing_subscriptions: [],
      custom_plan_billings: [],
      payment_methods: [],
    })
    t.strictSame((await get(`/companies/${id}`)).body, { data: company, params: { company_id: id } }, 'by id')
    const listed = await get(`/companies?ids=${id}`)
    t.strictSame(listed.body, { data: [company], params: { ids: [id] } }, 'in a list, as by id')
  })

  await t.test('CU-3 lookup takes three spellings and passes over pairs that match nothing', async t => {
    const company = await upsert({ keys: { look: 'a b&c', other: 'ü' } })
    const encoded = encodeURIComponent
    for (const [spelling, search] of [
      ['JSON', `keys=${encoded('{"look":"a b&c","nope":"0"}')}`],
      ['brackets', `keys[look]=${encoded('a b&c')}`],
      ['encoded brackets', `keys%5Bother%5D=${encoded('ü')}`],
      ['bare', `look=${encoded('a b&c')}&zz=0`],
    ] as const) {
      const { status, body } = await get(`/companies/lookup?${search}`)
      t.equal(status, 200, spelling)
      t.equal(body.data.id, company.id, spelling)
    }
    const { body } = await get(`/companies/lookup?keys[look]=${encoded('a b&c')}`)
    t.strictSame(body.params, { keys: { look: 'a b&c' } }, 'params echo an object')
    t.equal((await get(`/companies/lookup?id=${company.id}`)).status, 200, 'CU-2 the reserved name')
    t.equal((await get('/companies/lookup?look=no')).status, 404)
    t.equal((await get('/companies/lookup')).status, 404, 'D17 no keys find nothing')
    const second = await upsert({ keys: fresh('second') })
    const both = `look=${encoded('a b&c')}&second=${second.keys[0].value}`
    t.equal((await get(`/companies/lookup?${both}`)).status, 404, 'decision 15: two matches')
  })

  await t.test('CU-2 the name id is reserved for service ids and else ordinary', async t => {
    const company = await upsert({ keys: { id: 'mine', zone: 'x' } })
    t.equal((await upsert({ keys: { id: 'mine' } })).id, company.id)
    const renamed = await upsert({ keys: { id: company.id }, name: 'By service id' })
    t.equal(renamed.id, company.id)
    t.equal(renamed.name, 'By service id')
    t.same(keysOf(renamed), { id: 'mine', zone: 'x' }, 'a service id is no key')
    t.equal((await post('/companies', { keys: { id: 'comp_22222222222' } })).status, 404, 'never creates')
    t.equal((await post('/companies', { keys: { id: company.id, ...fresh('k') } })).status, 200)
  })

  await t.test('CU-10…17 what is 400 and what is 404', async t => {
    const company = await upsert({ keys: fresh() })
    for (const [title, status, body] of [
      ['no keys member', 400, { name: 'x' }],
      ['keys of another type', 400, { keys: 'x' }],
      ['a value that is no text', 400, { keys: { a: 1 } }],
      ['an empty value', 400, { keys: { a: '' } }],
      ['a value too long', 400, { keys: { a: 'x'.repeat(256) } }],
      ['an empty name', 400, { keys: { '': 'x' } }],
      ['a name too long', 400, { keys: { ['x'.repeat(256)]: 'x' } }],
      ['half a character', 400, { keys: { a: '\ud800' } }],
      ['a company name too long', 400, { keys: fresh(), name: 'x'.repeat(257) }],
      ['no time', 400, { keys: fresh(), last_seen_at: 'yesterday' }],
      ['traits that are no object', 400, { keys: fresh(), traits: [1] }],
      ['traits nested too deep', 400, { keys: fresh(), traits: { a: { b: { c: { d: { e: { f: 1 } } } } } } }],
      [
        'too many traits',
        400,
        { keys: fresh(), traits: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`many${i}`, i])) },
      ],
      ['too many keys to remove', 400, { keys: fresh(), remove_keys: Array(101).fill('x') }],
      ['nobody to update', 404, { keys: fresh(), update_only: true }],
      ['an id alone that nobody has', 404, { id: 'comp_22222222222' }],
      ['an id of another kind alone', 404, { id: 'user_22222222222', keys: {} }],
      ['an unknown base plan', 404, { keys: fresh(), base_plan_id: 'plan_22222222222' }],
    ] as const) {
      const answer = await post('/companies', body)
      t.equal(answer.status, status, title)
      t.type(answer.body.error, 'string', title)
    }
    t.equal((await post('/companies', '{"keys":')).status, 400, 'malformed')
    t.equal((await post('/companies', { id: company.id, name: 'New' })).status, 200, 'an id instead of keys')
    const kept = await upsert({ id: company.id, keys: {}, base_plan_id: 'plan_22222222222' })
    t.equal(
      kept.name,
      'New',
      'CU-16 absent members stay; CU-18 a base plan means nothing for one that is there',
    )
    const stale = await upsert({ id: 'comp_22222222222', keys: fresh() })
    t.not(stale.id, 'comp_22222222222', 'an id that nobody has is passed over where keys are given')
    t.equal(
      (await upsert({ keys: { named: 'first', second: 'x' } })).name,
      'first',
      'CU-16 the first key names',
    )
  })

  await t.test('scopes and environments', async t => {
    const environments = await client.ok('GET', '/environments')
    const production = environments.find(
      (one: { environment_type: string }) => one.environment_type === 'production',
    )
    const wide = await client.ok('POST', '/api-keys', { name: 'wide' })
    const everywhere = client.as(wide.secret)
    t.equal((await everywhere.get('/companies')).status, 400, 'AL-11 environment required')
    const there = client.as(wide.secret, { 'X-Service-Environment-Id': production.id })
    const company = await upsert({ keys: { shared: 'same' } })
    const other = await there.ok('POST', '/companies', { keys: { shared: 'same' } })
    t.not(other.id, company.id, 'CU-1 environments are separate')
    t.equal((await there.get(`/companies/${company.id}`)).status, 404, 'AL-10')
    t.equal((await there.del(`/companies/${company.id}`)).status, 404)
    t.same(idsOf(await there.ok('GET', '/companies')), [other.id])
    const user = await client.ok('POST', '/users', { keys: { shared: 'same' } })
    t.equal((await get(`/companies/${user.id}`)).status, 404, 'CU-1 a user is no company')
    const reader = client.as(
      (
        await client.ok('POST', '/api-keys', {
          name: 'r',
          readonly: true,
          environment_id: company.environment_id,
        })
      ).secret,
    )
    t.equal((await reader.get('/companies')).status, 200)
    t.equal((await reader.post('/companies', { keys: fresh() })).status, 403)
    t.equal((await client.as('').get('/companies')).status, 401)
  })

  await t.test('POST /companies/create always makes one', async t => {
    const keys = fresh('c')
    const { status, body } = await post('/companies/create', { keys, name: 'Made', traits: { a: 1 } })
    t.equal(status, 201)
    t.equal(body.data.name, 'Made')
    t.same(keysOf(body.data), keys)
    t.equal((await post('/companies/create', { keys: { ...keys, ...fresh('d') } })).status, 400, 'in use')
    t.equal((await post('/companies/create', { keys: {} })).status, 400)
    t.equal((await post('/companies/create', { keys: fresh(), id: body.data.id })).status, 400)
    t.equal((await post('/companies/create', { keys: { id: body.data.id } })).status, 400)
    const both = fresh('once')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('/companies/create', { keys: both })),
    )
    t.same(answers.map(answer => answer.status).sort(), [201, 400, 400, 400, 400], 'one of five at once')
  })

  await t.test('CU-19 simultaneous upserts of a new key make one company', async t => {
    const keys = fresh('race')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => post('/companies', { keys, traits: { [`t${i}`]: i } })),
    )
    t.same([...new Set(answers.map(answer => answer.status))], [200])
    t.equal(new Set(answers.map(answer => answer.body.data.id)).size, 1)
    const company = (await get(`/companies/lookup?race=${keys.race}`)).body.data
    t.equal(Object.keys(company.traits).length, 20, 'and none is lost')
    t.equal((await client.ok('GET', `/companies/count?q=${keys.race}`)).count, 1)
  })

  await t.test('CU-19 two companies, one pair: the second gets 400', async t => {
    const [one, two] = [await upsert({ keys: fresh('p') }), await upsert({ keys: fresh('p') })]
    const wanted = fresh('wanted')
    const claim = (company: { keys: { value: string }[] }) =>
      post('/companies', { keys: { p: company.keys[0]!.value, ...wanted } })
    const answers = await Promise.all([claim(one), claim(two)])
    t.same(answers.map(answer => answer.status).sort(), [200, 400])
    const [holder] = answers.filter(answer => answer.status === 200)
    t.equal((await get(`/companies/lookup?wanted=${wanted.wanted}`)).body.data.id, holder!.body.data.id)
  })

  await t.test('CU-12, CU-15 a pair given up is free, and may be taken back', async t => {
    const company = await upsert({ keys: { first: 'x1', second: 'y1' } })
    await upsert({ id: company.id, keys: { second: 'y2' } })
    const other = await upsert({ keys: { second: 'y1' } })
    t.not(other.id, company.id, 'the old value of a re-mapped name')
    await upsert({ id: company.id, keys: {}, remove_keys: ['second'] })
    const third = await upsert({ keys: { second: 'y2' } })
    t.not(third.id, company.id, 'a removed name')
    const answers = await Promise.all([
      post('/companies', { id: company.id, keys: { first: 'x2' } }),
      post('/companies', { keys: { first: 'x1' } }),
      post('/companies', { id: company.id, keys: { first: 'x3' } }),
    ])
    t.same(
      answers.map(answer => [answer.status, answer.body.data.id]),
      [200, 200, 200].map(status => [status, company.id]),
    )
    const now = (await get(`/companies/${company.id}`)).body.data
    t.same(keysOf(now), { first: 'x3' }, 'in the order sent')
    t.equal((await get('/companies/lookup?first=x3')).body.data.id, company.id)
    t.equal((await get('/companies/lookup?first=x1')).status, 404)
    t.equal((await get('/companies/lookup?first=x2')).status, 404)
  })

  await t.test('CU-16, CU-46 an upsert moves updated_at, and last_seen_at only on request', async t => {
    const company = await upsert({ keys: fresh(), last_seen_at: '2026-05-01T00:00:00Z' })
    const { id, keys } = company
    const again = await upsert({ keys: keysOf(company) })
    t.equal(again.last_seen_at, '2026-05-01T00:00:00.000Z')
    t.equal(again.created_at, company.created_at)
    t.ok(again.updated_at >= company.updated_at)
    t.strictSame(again.keys, keys, 'keys given again are as they were')
    const back = await upsert({ id, keys: {}, last_seen_at: '2020-01-01T00:00:00Z' })
    t.equal(back.last_seen_at, '2020-01-01T00:00:00.000Z', 'taken as given, also if older')
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'looked', company: keysOf(company) },
    })
    const seen = (await get(`/companies/${id}`)).body.data
    t.ok(seen.last_seen_at >= company.created_at, 'CU-45 an event bumps it, at once')
    t.equal(seen.metrics.length, 5, 'US-1 five windows')
    const [all] = seen.metrics
    t.strictSame(all, {
      account_id: (await client.ok('GET', '/whoami')).account_id,
      environment_id: company.environment_id,
      company_id: id,
      event_subtype: 'looked',
      period: 'all_time',
      month_reset: 'first_of_month',
      value: 1,
      captured_at_min: seen.last_seen_at,
      captured_at_max: seen.last_seen_at,
      created_at: all.created_at,
      valid_until: null,
    })
  })

  await t.test('traits', async t => {
    const upsertTrait = (body: object) => post('/company-traits', body)

    await t.test('CU-30…34 merge, types, nesting, removal', async t => {
      const keys = fresh()
      await upsert({
        keys,
        traits: { n: 5.0, b: false, s: '', address: { city: 'X', zip: 1010 }, list: [1, 'a'] },
      })
      const company = await upsert({ keys, traits: { n: 'abc', extra: 1.5e-7, b: null } })
      t.strictSame(company.traits, {
        n: 'abc',
        s: '',
        'address.city': 'X',
        'address.zip': 1010,
        list: '[1,"a"]',
        extra: 1.5e-7,
      })
      const city = company.entity_traits.find(
        (one: { definition: { display_name: string } }) => one.definition.display_name === 'address.city',
      )
      t.same(city.definition.hierarchy, ['address', 'city'], 'CU-33')
      const n = company.entity_traits[0]
      t.equal(n.definition.trait_type, 'number', 'CU-31 a later value does not change the type')
      t.equal(n.value, 'abc', 'CU-35')
      t.notOk(
        company.entity_traits.some((one: { value: string }) => one.value === 'false'),
        'CU-34 null removes',
      )
    })

    await t.test('CU-36 set and incr', async t => {
      const keys = fresh()
      const first = await upsertTrait({ keys, trait: 'seats', incr: 3 })
      t.equal(first.status, 200)
      t.strictSame(first.body.data.traits, { seats: 3 }, 'absent counts as 0; the company is made')
      t.same(keysOf(first.body.data), keys)
      const id = first.body.data.id
      t.strictSame((await upsertTrait({ keys, trait: 'seats', incr: -5 })).body.data.traits, { seats: -2 })
      t.strictSame((await upsertTrait({ keys, trait: 'seats', set: '0.1' })).body.data.traits, { seats: 0.1 })
      t.strictSame((await upsertTrait({ keys, trait: 'seats', incr: 7 })).body.data.traits, { seats: 7.1 })
      const set = await upsertTrait({ keys: { id }, trait: 'plan.name', set: 'gold' })
      t.equal(set.body.data.traits['plan.name'], 'gold')
      const named = set.body.data.entity_traits.find((one: { value: string }) => one.value === 'gold')
      t.same(named.definition.hierarchy, ['plan', 'name'])
      for (const [title, status, body] of [
        ['both', 400, { keys, trait: 'seats', set: '1', incr: 1 }],
        ['neither', 400, { keys, trait: 'seats' }],
        ['a text that is no number', 400, { keys, trait: 'plan.name', incr: 1 }],
        ['a fraction', 400, { keys, trait: 'seats', incr: 1.5 }],
        ['no keys', 400, { keys: {}, trait: 'seats', incr: 1 }],
        ['no trait', 400, { keys, incr: 1 }],
        ['an empty trait', 400, { keys, trait: '', incr: 1 }],
        ['a value too long', 400, { keys, trait: 'seats', set: 'x'.repeat(1025) }],
        ['nobody to update', 404, { keys: fresh(), trait: 'seats', incr: 1, update_only: true }],
        ['an unknown service id', 404, { keys: { id: 'comp_22222222222' }, trait: 'seats', incr: 1 }],
      ] as const)
        t.equal((await upsertTrait(body)).status, status, title)
      t.equal((await upsertTrait({ keys, trait: 's', set: '', update_only: true })).body.data.traits.s, '')
      const second = fresh('another')
      const same = await upsertTrait({ keys: { ...keys, ...second }, trait: 's', set: 'x' })
      t.equal(same.body.data.id, id)
      t.same(keysOf(same.body.data), keys, 'its keys only say whose trait it is')
      const other = await upsert({ keys: second })
      t.equal(
        (await upsertTrait({ keys: { ...keys, ...second }, trait: 's', set: 'x' })).status,
        400,
        'keys of two companies',
      )
      t.not(other.id, id)
    })

    await t.test('CU-36 100 increments at once give 100', async t => {
      const keys = fresh()
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => upsertTrait({ keys, trait: 'hits', incr: 1 })),
      )
      t.same([...new Set(answers.map(answer => answer.status))], [200])
      const company = await upsert({ keys })
      t.equal(company.traits.hits, 100)
    })

    await t.test('CU-37 a trait counts in the next check', async t => {
      const keys = fresh()
      await upsert({ keys, traits: { tier: 'free' } })
      const flag = await client.ok('POST', '/flags', {
        key: 'cu-37',
        name: 'x',
        description: '',
        flag_type: 'boolean',
        default_value: false,
      })
      const condition = {
        condition_type: 'trait',
        operator: 'eq',
        resource_ids: [],
        trait_id: derivedId('trt_', (await client.ok('GET', '/whoami')).environment_id, 'company', 'tier'),
        trait_value: 'gold',
      }
      const rule = { name: 'gold', priority: 1, value: true, conditions: [condition], condition_groups: [] }
      await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [rule] })
      const check = async () => (await client.ok('POST', '/flags/cu-37/check', { company: keys })).value
      t.equal(await check(), false)
      await client.ok('POST', '/company-traits', { keys, trait: 'tier', set: 'gold' })
      t.equal(await check(), true)
    })

    await t.test('EV-42 an event of the near future does not shield a trait from an upsert', async t => {
      const keys = fresh()
      await client.ok('POST', '/events', {
        event_type: 'identify',
        body: { keys: fresh('u'), company: { keys, traits: { tier: 'event', hits: 1 } } },
        sent_at: new Date(Date.now() + 240_000).toISOString(),
        trusted_client_clock: true,
      })
      await client.ok('POST', '/company-traits', { keys, trait: 'tier', set: 'said' })
      const company = await client.ok('POST', '/company-traits', { keys, trait: 'hits', incr: 1 })
      t.strictSame(company.traits, { tier: 'said', hits: 2 })
    })

    await t.test('GET /entity-trait-values and /entity-traits/count', async t => {
      const value = (text: string) => upsert({ keys: fresh(), traits: { colour: text } })
      for (const text of ['red', 'Green', 'red', 'blue']) await value(text)
      const definitionId = derivedId(
        'trt_',
        (await client.ok('GET', '/whoami')).environment_id,
        'company',
        'colour',
      )
      const values = (search: string) =>
        client.ok('GET', `/entity-trait-values?definition_id=${definitionId}${search}`)
      const row = (text: string) => ({ definition_id: definitionId, value: text })
      t.strictSame(await values(''), [row('Green'), row('blue'), row('red')])
      t.strictSame(await values('&q=RE'), [row('Green'), row('red')])
      t.strictSame(await values('&limit=1&offset=1'), [row('blue')])
      t.equal((await get('/entity-trait-values')).status, 400)
      t.equal((await get('/entity-trait-values?definition_id=trt_22222222222')).status, 404)
      const count = (search: string) => client.ok('GET', `/entity-traits/count${search}`)
      t.same(await count(`?definition_id=${definitionId}`), { count: 4 })
      t.same(await count(`?definition_id=${definitionId}&entity_type=user`), { count: 0 })
      t.ok((await count('?entity_type=company')).count > 4)
      t.equal((await get('/entity-traits/count?entity_type=team')).status, 400)
    })
  })

  await t.test('key definitions', async t => {
    const company = await upsert({ keys: { crm_key: 'v', 'crm key 2': 'v' } })
    const definitions = (search: string) => client.ok('GET', `/entity-key-definitions${search}`)
    const [definition] = await definitions('?q=CRM_KEY')
    t.strictSame(definition, company.keys[0].definition)
    t.equal((await definitions('?q=crm')).length, 2)
    t.equal((await definitions('?q=crm&entity_type=user')).length, 0)
    t.equal((await definitions(`?ids=${definition.id}`)).length, 1)
    t.equal((await definitions('?limit=1')).length, 1)
    t.same(await client.ok('GET', '/entity-key-definitions/count?q=crm'), { count: 2 })
    const keysCount = () => client.ok('GET', `/entity-keys/count?definition_id=${definition.id}`)
    t.same(await keysCount(), { count: 1 })
    t.same(await client.ok('GET', '/entity-keys/count?entity_type=user&definition_id=x'), { count: 0 })
    t.equal((await del(`/entity-key-definitions/${definition.id}`)).status, 400, 'in use')
    await upsert({ id: company.id, keys: {}, remove_keys: ['crm_key'] })
    t.same(await keysCount(), { count: 0 })
    t.strictSame((await del(`/entity-key-definitions/${definition.id}`)).body.data, { deleted: true })
    t.equal((await del(`/entity-key-definitions/${definition.id}`)).status, 404)
    t.equal((await definitions('?q=crm')).length, 1)
  })

  await t.test('memberships', async t => {
    const [one, two] = [await upsert({ keys: fresh(), name: 'One' }), await upsert({ keys: fresh() })]
    const user = await client.ok('POST', '/users', { keys: fresh() })
    const join = (company_id: string, user_id: string) =>
      post('/company-memberships', { company_id, user_id })

    await t.test('CU-40 made once, found again', async t => {
      const first = await join(one.id, user.id)
      const membership = first.body.data
      t.equal(first.status, 200)
      const brief = (await get(`/companies/${one.id}`)).body.data
      t.strictSame(membership, {
        id: derivedId('cmem_', user.id, one.id),
        company_id: one.id,
        user_id: user.id,
        company: {
          id: one.id,
          environment_id: one.environment_id,
          name: 'One',
          last_seen_at: null,
          logo_url: null,
          created_at: brief.created_at,
          updated_at: brief.updated_at,
        },
        created_at: membership.created_at,
        updated_at: membership.created_at,
      })
      t.strictSame((await join(one.id, user.id)).body.data, membership)
      await join(two.id, user.id)
      const list = await client.ok('GET', `/company-memberships?user_id=${user.id}`)
      t.same(
        list.map((one: { company_id: string }) => one.company_id).sort(),
        [one.id, two.id].sort(),
        'a user may have many companies',
      )
      t.strictSame(await client.ok('GET', `/company-memberships?company_id=${one.id}`), [membership])
      t.strictSame(await client.ok('GET', `/company-memberships?company_id=${one.id}&user_id=${user.id}`), [
        membership,
      ])
      t.same(await client.ok('GET', '/company-memberships?company_id=comp_22222222222'), [])
      t.equal((await get(`/companies/${one.id}`)).body.data.user_count, 1)
      t.same(
        (await client.ok('GET', `/users/${user.id}`)).company_memberships[0],
        membership,
        'and with the user',
      )
    })

    await t.test('CU-41 both must be there', async t => {
      t.equal((await join('comp_22222222222', user.id)).status, 404)
      t.equal((await join(one.id, 'user_22222222222')).status, 404)
      t.equal((await join(user.id, one.id)).status, 404)
      t.equal((await post('/company-memberships', { company_id: one.id })).status, 400)
    })

    await t.test('deleting one leaves both', async t => {
      const id = derivedId('cmem_', user.id, one.id)
      t.strictSame((await del(`/company-memberships/${id}`)).body.data, { deleted: true })
      t.equal((await del(`/company-memberships/${id}`)).status, 404, 'AL-34')
      t.equal((await get(`/companies/${one.id}`)).body.data.user_count, 0)
      t.equal((await get(`/users/${user.id}`)).body.data.company_memberships.length, 1)
      t.equal((await del('/company-memberships/cmem_22222222222')).status, 404)
    })

    await t.test('CU-50 a company takes its memberships with it', async t => {
      await client.ok('DELETE', `/companies/${two.id}`)
      t.same((await get(`/users/${user.id}`)).body.data.company_memberships, [])
      t.same(await client.ok('GET', `/company-memberships?user_id=${user.id}`), [])
      const id = derivedId('cmem_', user.id, two.id)
      t.equal((await del(`/company-memberships/${id}`)).status, 404)
      t.equal((await join(two.id, user.id)).status, 404)
    })
  })

  await t.test('deletion', async t => {
    await t.test('CU-50, AL-34 by id: gone at once, its keys free', async t => {
      const keys = fresh()
      const company = await upsert({ keys, traits: { a: 1 } })
      const { status, body } = await del(`/companies/${company.id}?cancel_subscription=false&prorate=true`)
      t.equal(status, 200)
      t.strictSame(body, {
        data: { deleted: true },
        params: { company_id: company.id, cancel_subscription: false, prorate: true },
      })
      t.equal((await del(`/companies/${company.id}`)).status, 404)
      t.equal((await get(`/companies/${company.id}`)).status, 404)
      t.equal((await post('/companies', { id: company.id, keys: {} })).status, 404)
      t.same(await client.ok('GET', `/companies?ids=${company.id}`), [])
      const again = await upsert({ keys })
      t.not(again.id, company.id, 'CU-51 a new one')
      t.strictSame(again.traits, {}, 'without history')
      t.equal((await del(`/companies/${company.id}?prorate=maybe`)).status, 400)
    })

    await t.test('CU-54 two companies are not merged; the keys of one go to the other by hand', async t => {
      const [one, other] = [fresh(), fresh('b')]
      const stays = await upsert({ keys: one, traits: { tier: 'gold' } })
      const goes = await upsert({ keys: other, traits: { seats: 3 } })
      const both = { keys: { ...one, ...other }, traits: goes.traits }
      t.equal((await post('/companies', both)).status, 400)
      t.equal((await del(`/companies/${goes.id}`)).status, 200)
      t.match(await upsert(both), { id: stays.id, traits: { tier: 'gold', seats: 3 } })
      t.equal((await upsert({ keys: other })).id, stays.id)
    })

    await t.test('CU-51 by keys: the company as it was', async t => {
      const keys = fresh()
      const company = await upsert({ keys, name: 'Gone' })
      const other = await upsert({ keys: fresh('b') })
      const byKeys = (body: object) => post('/companies/delete', body)
      t.equal((await byKeys({ keys: { ...keys, b: other.keys[0].value } })).status, 400, 'two companies')
      t.equal((await byKeys({ keys: fresh() })).status, 404)
      t.equal((await byKeys({ keys: {} })).status, 404)
      t.equal((await byKeys({})).status, 400)
      t.equal((await byKeys({ keys: { id: 'comp_22222222222' } })).status, 404)
      const { status, body } = await byKeys({ keys: { ...keys, zz: '0' } })
      t.equal(status, 200)
      t.strictSame(body, {
        data: {
          id: company.id,
          environment_id: company.environment_id,
          name: 'Gone',
          last_seen_at: null,
          logo_url: null,
          created_at: company.created_at,
          updated_at: company.updated_at,
        },
        params: {},
      })
      t.equal((await byKeys({ keys })).status, 404)
    })

    await t.test('many at once are one deletion: each gets its result', async t => {
      const keys = fresh()
      const company = await upsert({ keys })
      const answers = await Promise.all([
        del(`/companies/${company.id}`),
        post('/companies/delete', { keys }),
        del(`/companies/${company.id}`),
      ])
      t.same(answers.map(answer => answer.status).sort(), [200, 200, 200])
    })

    await t.test('deletions and upserts of one key at once: never two companies, never none', async t => {
      for (let round = 0; round < 20; round++) {
        const keys = fresh('storm')
        const company = await upsert({ keys })
        const answers = await Promise.all([
          post('/companies', { keys, traits: { before: round } }),
          del(`/companies/${company.id}`),
          post('/companies', { keys, traits: { after: round } }),
          post('/companies', { keys }),
        ])
        t.same(answers.map(answer => answer.status).sort(), [200, 200, 200, 200], `round ${round}`)
        const found = (await get(`/companies/lookup?storm=${keys.storm}`)).body.data
        t.not(found.id, company.id)
        t.same(idsOf(await client.ok('GET', `/companies?q=${keys.storm}`)), [found.id])
        t.equal((await get(`/companies/${company.id}`)).status, 404)
      }
    })
  })

  await t.test('lists', async t => {
    const wide = await client.ok('POST', '/environments', { name: 'Lists', environment_type: 'staging' })
    const admin = await client.ok('POST', '/api-keys', { name: 'lists', environment_id: wide.id })
    const room = client.as(admin.secret)
    const list = (search: string) => room.ok('GET', `/companies${search}`)
    const names = async (search: string) => (await list(search)).map((one: { name: string }) => one.name)
    const make = (name: string, more: object = {}) =>
      room.ok('POST', '/companies', { keys: { slug: `slug-${name}` }, name, ...more })
    const b = await make('beta', {
      traits: { note: 'Straße 100%_\\x', size: 4711 },
      last_seen_at: '2026-03-01T00:00:00Z',
    })
    const c = await make('Ceta')
    const a = await make('alpha', { last_seen_at: '2026-01-01T00:00:00Z' })
    const d = await make('delta', {
      traits: { home: 'http://delta.test' },
      last_seen_at: '2026-02-01T00:00:00Z',
    })

    await t.test('CU-60 order and pages', async t => {
      const newest = [d, a, c, b].sort((x, y) =>
        x.created_at === y.created_at ? (x.id < y.id ? 1 : -1) : x.created_at < y.created_at ? 1 : -1,
      )
      t.same(idsOf(await list('')), idsOf(newest), 'newest first')
      t.same(idsOf(await list('?sort_order_direction=asc')), idsOf(newest.slice().reverse()))
      t.same(await names('?sort_order_column=name'), ['Ceta', 'alpha', 'beta', 'delta'])
      t.same(await names('?sort_order_column=name&sort_order_direction=desc'), [
        'delta',
        'beta',
        'alpha',
        'Ceta',
      ])
      t.same(await names('?sort_order_column=last_seen_at'), ['beta', 'delta', 'alpha', 'Ceta'], 'nulls last')
      t.same(
        await names('?sort_order_column=last_seen_at&sort_order_direction=asc'),
        ['alpha', 'delta', 'beta', 'Ceta'],
        'also ascending',
      )
      t.same(await names('?sort_order_column=name&limit=2&offset=1'), ['alpha', 'beta'])
      t.same((await room.get('/companies?limit=2&offset=1')).body.params, { limit: 2, offset: 1 })
      t.same((await list('?limit=1000')).length, 4, 'AL-50 clamped')
      for (const search of [
        'limit=0',
        'limit=-1',
        'offset=-1',
        'sort_order_column=id',
        'sort_order_direction=up',
      ])
        t.equal((await room.get(`/companies?${search}`)).status, 400, search)
      t.equal((await room.get('/companies/count?sort_order_column=id')).status, 400)
    })

    await t.test('CU-60 q looks at names, key values and string traits', async t => {
      t.same(await names('?q=ALPH'), ['alpha'])
      t.same(await names('?q=slug-D'), ['delta'], 'a key value')
      t.same(await names('?q=slug&sort_order_column=name&limit=1'), ['Ceta'])
      t.same(await names(`?q=${encodeURIComponent('STRASSE')}`), [])
      t.same(await names(`?q=${encodeURIComponent('0%_\\')}`), ['beta'], 'as it is written')
      t.same(await names('?q=delta.test'), ['delta'], 'a url')
      t.same(await names('?q=4711'), [], 'a number is no string')
      t.same(await names('?q=note'), [], 'nor is a name of a trait')
      t.same(await room.ok('GET', '/companies/count?q=slug'), { count: 4 })
      t.equal((await room.get(`/companies?q=${'x'.repeat(513)}`)).status, 400)
    })

    await t.test('a list shows what was acknowledged before it', async t => {
      for (let i = 0; i < 10; i++) {
        const { id } = await make(`fresh ${i}`)
        t.same(idsOf(await list(`?q=fresh ${i}`)), [id])
        await room.ok('DELETE', `/companies/${id}`)
        t.same(await room.ok('GET', `/companies/count?q=fresh ${i}`), { count: 0 })
      }
      await room.ok('POST', '/events', {
        event_type: 'track',
        body: { event: 'e', company: { by: 'event' } },
      })
      t.same(await names('?q=event'), ['event'], 'also what an event made')
    })

    await t.test('CU-60 what was seen a moment ago leads the list', async t => {
      await room.ok('POST', '/events', {
        event_type: 'track',
        body: { event: 'e', company: { slug: 'slug-Ceta' } },
      })
      t.equal((await names('?sort_order_column=last_seen_at'))[0], 'Ceta')
    })

    await t.test('CU-61 filters without plans', async t => {
      const count = async (search: string) => (await room.ok('GET', `/companies/count${search}`)).count
      const all = await count('')
      t.same(idsOf(await list(`?ids=${a.id}&ids=${b.id}&sort_order_column=name`)), [a.id, b.id])
      t.same(idsOf(await list(`?ids=${a.id}&ids=${b.id}&q=BETA`)), [b.id], 'filters combine')
      t.equal(await count('?without_plan=true'), all)
      t.equal(await count('?without_plan=false'), 0)
      for (const search of [
        'plan_id=plan_22222222222',
        'plan_ids=plan_22222222222&plan_ids=plan_33333333333',
        'plan_version_id=plvr_22222222222',
        'plan_version_ids=plvr_22222222222',
        'plan_version_unpublished=true',
        'with_entitlement_for=feat_22222222222',
        'credit_type_ids=bcrd_22222222222',
        'subscription_statuses=active&subscription_statuses=trialing',
        'subscription_types=paid&subscription_types=trial',
        'has_scheduled_downgrade=true',
        'monetized_subscriptions=true',
        'with_subscription=true',
        'without_subscription=false',
      ])
        t.equal(await count(`?${search}`), 0, search)
      for (const search of [
        'plan_version_unpublished=false',
        'without_feature_override_for=feat_22222222222',
        'has_scheduled_downgrade=false',
        'monetized_subscriptions=false',
        'with_subscription=false',
        'without_subscription=true',
      ])
        t.equal(await count(`?${search}`), all, search)
      t.equal((await room.get('/companies?subscription_statuses=odd')).status, 400)
      t.equal((await room.get('/companies?without_plan=perhaps')).status, 400)
    })
  })
})

// Users over HTTP: what differs from companies, and that the rest does not.
import t from 'tap'
import { derivedId } from '../../src/core/values/id.js'
import { startHere } from '../harness.js'
import { isoPattern } from './house.js'

const keysOf = (user: { keys: { key: string; value: string }[] }): Record<string, string> =>
  Object.fromEntries(user.keys.map(({ key, value }) => [key, value]))
const companiesOf = (user: { company_memberships: { company_id: string }[] }): string[] =>
  user.company_memberships.map(one => one.company_id)
const idsOf = (users: { id: string }[]): string[] => users.map(user => user.id)

t.test('users', async t => {
  const { client, tollgate } = await startHere(t)
  const { post, get, del } = client
  const upsert = (body: object) => client.ok('POST', '/users', body)
  const company = (body: object) => client.ok('POST', '/companies', body)
  const environmentId = (await client.ok('GET', '/whoami')).environment_id
  let made = 0
  const fresh = (name = 'id'): Record<string, string> => ({ [name]: `fresh-${++made}` })

  await t.test('a user is shown whole', async t => {
    const home = await company({ keys: fresh(), name: 'Home' })
    const { status, body } = await post('/users', {
      keys: { email: 'ada@x.test' },
      name: 'Ada',
      traits: { level: 3, address: { city: 'X' } },
      company_id: home.id,
      last_seen_at: '2026-01-02T00:00:00Z',
    })
    const user = body.data
    t.equal(status, 200)
    t.same(body.params, {})
    t.match(user.id, /^user_[0-9A-Za-z]{11}$/)
    t.match(user.created_at, isoPattern)
    const { id, created_at } = user
    const trait = (name: string, hierarchy: string[], value: string, trait_type: string) => ({
      id: derivedId('etrt_', id, name),
      definition_id: derivedId('trt_', environmentId, 'user', name),
      definition: {
        id: derivedId('trt_', environmentId, 'user', name),
        display_name: name,
        entity_type: 'user',
        hierarchy,
        trait_type,
        created_at,
        updated_at: created_at,
      },
      environment_id: environmentId,
      value,
      created_at,
      updated_at: created_at,
    })
    t.strictSame(user, {
      id,
      environment_id: environmentId,
      name: 'Ada',
      last_seen_at: '2026-01-02T00:00:00.000Z',
      created_at,
      updated_at: created_at,
      keys: [
        {
          id: derivedId('eky_', id, 'email'),
          definition_id: derivedId('ekey_', environmentId, 'user', 'email'),
          definition: {
            id: derivedId('ekey_', environmentId, 'user', 'email'),
            entity_type: 'user',
            key: 'email',
            created_at,
            updated_at: created_at,
          },
          entity_id: id,
          entity_type: 'user',
          environment_id: environmentId,
          key: 'email',
          value: 'ada@x.test',
          created_at,
          updated_at: created_at,
        },
      ],
      entity_traits: [
        trait('level', ['level'], '3', 'number'),
        trait('address.city', ['address', 'city'], 'X', 'string'),
      ],
      traits: { level: 3, 'address.city': 'X' },
      company_memberships: [
        {
          id: derivedId('cmem_', id, home.id),
          company_id: home.id,
          user_id: id,
          company: {
            id: home.id,
            environment_id: environmentId,
            name: 'Home',
            last_seen_at: null,
            logo_url: null,
            created_at: home.created_at,
            updated_at: home.updated_at,
          },
          created_at,
          updated_at: created_at,
        },
      ],
    })
    t.strictSame((await get(`/users/${id}`)).body, { data: user, params: { user_id: id } })
    t.strictSame((await get('/users/lookup?email=ada@x.test')).body, {
      data: user,
      params: { keys: { email: 'ada@x.test' } },
    })
    t.strictSame((await get(`/users?ids=${id}`)).body.data, [user])
    t.equal((await get(`/companies/${home.id}`)).body.data.user_count, 1)
  })

  await t.test(
    'CU-20 company and company_id add and come before the lists, which are the whole set',
    async t => {
      const keys = fresh()
      const [a, b, c] = [
        await company({ keys: fresh('co') }),
        await company({ keys: fresh('co') }),
        await company({ keys: fresh('co') }),
      ]
      const memberships = async (body: object) => companiesOf(await upsert({ keys, ...body }))
      t.same(await memberships({}), [])
      t.same(await memberships({ company_id: a.id }), [a.id])
      t.same(await memberships({ company: keysOf(b) }), [a.id, b.id], 'added')
      t.same(await memberships({}), [a.id, b.id], 'absent changes nothing')
      t.same(
        await memberships({ company: null, company_ids: null, companies: null }),
        [a.id, b.id],
        'nor null',
      )
      t.same(
        await memberships({ company_id: a.id, company_ids: [c.id] }),
        [a.id, b.id],
        'the list means nothing then',
      )
      t.same(await memberships({ company: keysOf(a), companies: [] }), [a.id, b.id])
      t.same(await memberships({ company_ids: [c.id, b.id] }), [b.id, c.id], 'exhaustive; who stays stays')
      t.same(
        await memberships({ companies: [keysOf(a)], company_ids: [c.id, c.id] }),
        [c.id, a.id],
        'both lists are one set',
      )
      t.same(await memberships({ company_ids: [] }), [], 'an empty list removes all')
      t.same(
        await memberships({ company_id: a.id, company: keysOf(b) }),
        [b.id, a.id].sort(order(b, a)),
        'both are added',
      )
      for (const { id } of [a, b, c]) {
        const { user_count } = (await get(`/companies/${id}`)).body.data
        t.equal(user_count, id === c.id ? 0 : 1)
      }

      function order(...first: { id: string }[]) {
        return (x: string, y: string) =>
          first.findIndex(one => one.id === x) - first.findIndex(one => one.id === y)
      }
    },
  )

  await t.test('CU-20 unknown companies are made, unknown ids are 404 and nothing changes', async t => {
    const keys = fresh()
    const wanted = [fresh('new'), fresh('new')]
    const user = await upsert({ keys, companies: wanted })
    const names = user.company_memberships.map((one: { company: { name: string } }) => one.company.name)
    t.same(
      names,
      wanted.map(one => one.new),
    )
    t.equal((await client.ok('GET', `/companies/lookup?new=${wanted[0]!.new}`)).user_count, 1)
    const single = await upsert({ keys, company: { ...wanted[0], extra: 'x' } })
    t.equal(companiesOf(single).length, 2)
    t.same(
      keysOf(await client.ok('GET', `/companies/lookup?new=${wanted[0]!.new}`)),
      wanted[0],
      'its keys only say which',
    )
    const before = (await get(`/users/${user.id}`)).body.data
    const [p, q] = [await company({ keys: fresh('p') }), await company({ keys: fresh('q') })]
    const never = fresh('never')
    for (const [title, status, body] of [
      ['an unknown id', 404, { company_id: 'comp_22222222222' }],
      ['one of several', 404, { company_ids: [p.id, 'comp_22222222222'], companies: [never] }],
      ['a user for a company', 404, { company_id: user.id }],
      ['keys of two companies', 400, { company: { ...keysOf(p), ...keysOf(q) } }],
      ['a company without keys', 400, { companies: [never, {}] }],
      ['keys of two that are claimed first', 400, { companies: [never, { x: 'y' }, { ...never, x: 'y' }] }],
      ['a company key that is none', 400, { company: { a: '' } }],
      ['too many companies', 400, { company_ids: Array(101).fill(p.id) }],
      [
        'the last key removed',
        400,
        { id: user.id, keys: {}, remove_keys: ['id'], companies: [never], name: 'no' },
      ],
      ['nobody to update', 404, { keys: fresh(), update_only: true, companies: [never] }],
    ] as const) {
      const answer = await post('/users', { keys, ...body })
      t.equal(answer.status, status, title)
      t.equal(
        (await get(`/companies/lookup?never=${never.never}`)).status,
        404,
        `${title}: no company is made`,
      )
    }
    t.strictSame((await get(`/users/${user.id}`)).body.data, before)
    t.equal((await post('/users', { keys: fresh(), company: never })).status, 200, 'and its keys are free')
  })

  await t.test('CU-19 users and companies made at once are made once', async t => {
    const [keys, home] = [fresh('u'), fresh('h')]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => post('/users', { keys, company: home, traits: { [`t${i}`]: i } })),
    )
    t.same([...new Set(answers.map(answer => answer.status))], [200])
    t.equal(new Set(answers.map(answer => answer.body.data.id)).size, 1)
    const user = (await get(`/users/lookup?u=${keys.u}`)).body.data
    t.equal(Object.keys(user.traits).length, 10)
    t.equal(user.company_memberships.length, 1)
    t.equal((await client.ok('GET', `/companies/lookup?h=${home.h}`)).user_count, 1)
    t.same(await client.ok('GET', `/companies/count?q=${home.h}`), { count: 1 })
  })

  await t.test('CU-10…17 as companies', async t => {
    const user = await upsert({ keys: { a: '1', b: '2' } })
    t.equal(user.name, '1')
    const changed = await upsert({ keys: { a: '1', b: '3', c: '4' }, remove_keys: ['a', 'nope'] })
      .then(() => null)
      .catch((error: Error) => error.message)
    t.match(changed, /400/, 'a name both given and removed')
    t.same(keysOf(await upsert({ keys: { a: '1', b: '3' } })), { a: '1', b: '3' })
    t.same(keysOf(await upsert({ keys: { b: '3' }, remove_keys: ['a', 'nope'] })), { b: '3' })
    t.equal((await post('/users', { id: user.id, keys: {}, remove_keys: ['b'] })).status, 400)
    const other = await upsert({ keys: fresh('o') })
    t.equal((await post('/users', { keys: { b: '3', ...keysOf(other) } })).status, 400)
    t.equal((await post('/users', { id: other.id, keys: { b: '3' } })).status, 400)
    t.equal((await post('/users', { keys: {} })).status, 400)
    t.equal((await post('/users', { keys: { a: 'x' }, name: 'x'.repeat(256) })).status, 400)
    t.equal((await post('/users', { id: 'user_22222222222', keys: {} })).status, 404)
    t.equal((await upsert({ id: user.id, name: 'Named' })).name, 'Named')
    t.equal((await get('/users/user_22222222222')).status, 404)
    t.equal((await get(`/users/lookup?b=3&o=${keysOf(other).o}`)).status, 404, 'decision 15')
    t.equal((await get('/users/lookup?b=nobody')).status, 404)
    const home = await company({ keys: { b: '3' } })
    t.equal((await get(`/users/${home.id}`)).status, 404, 'CU-1 a company is no user')
    t.equal((await get('/users/lookup?b=3')).body.data.id, user.id)
  })

  await t.test('POST /users/create always makes one', async t => {
    const keys = fresh('c')
    const home = fresh('home')
    const { status, body } = await post('/users/create', { keys, name: 'Made', company: home })
    t.equal(status, 201)
    t.equal(body.data.name, 'Made')
    t.equal(body.data.company_memberships[0].company.name, home.home)
    const never = fresh('never')
    t.equal((await post('/users/create', { keys, company: never })).status, 400, 'in use')
    t.equal((await get(`/companies/lookup?never=${never.never}`)).status, 404)
    t.equal((await post('/users/create', { keys: {} })).status, 400)
    t.equal((await post('/users/create', { keys: fresh(), id: body.data.id })).status, 400)
  })

  await t.test('CU-36 user traits', async t => {
    const keys = fresh()
    const upsertTrait = (body: object) => post('/user-traits', body)
    t.strictSame((await upsertTrait({ keys, trait: 'n', incr: 2 })).body.data.traits, { n: 2 })
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => upsertTrait({ keys, trait: 'n', incr: 1 })),
    )
    t.same([...new Set(answers.map(answer => answer.status))], [200])
    t.strictSame((await upsertTrait({ keys, trait: 's', set: 'x' })).body.data.traits, { n: 102, s: 'x' })
    t.equal((await upsertTrait({ keys, trait: 's', incr: 1 })).status, 400)
    t.equal((await upsertTrait({ keys, trait: 's', set: 'x', incr: 1 })).status, 400)
    t.equal((await upsertTrait({ keys, trait: 's' })).status, 400)
    t.equal((await upsertTrait({ keys: fresh(), trait: 's', set: 'x', update_only: true })).status, 404)
  })

  await t.test('CU-45, CU-46 last seen: by events at once, explicit times as given', async t => {
    const keys = fresh('seen')
    const home = fresh('home')
    const user = await upsert({ keys, company: home })
    t.equal(user.last_seen_at, null)
    const track = () =>
      client.ok('POST', '/events', { event_type: 'track', body: { event: 'x', company: home, user: keys } })
    const seen = async () => (await get(`/users/${user.id}`)).body.data.last_seen_at
    const acknowledged = await track()
    t.equal(await seen(), acknowledged.captured_at)
    t.equal((await get(`/users?ids=${user.id}`)).body.data[0].last_seen_at, acknowledged.captured_at)
    const again = await upsert({ keys, last_seen_at: '2020-01-01T00:00:00Z' })
    t.equal(again.last_seen_at, '2020-01-01T00:00:00.000Z', 'also right after an event')
    const { userSeen, shards, clock } = tollgate.services
    await userSeen.flush(shards, id => clock.now(id), true)
    t.equal(await seen(), '2020-01-01T00:00:00.000Z', 'and it stays')
    const later = await track()
    t.equal(await seen(), later.captured_at)
    const { body } = await post('/users/delete', { keys })
    t.equal(body.data.last_seen_at, later.captured_at)
  })

  await t.test('EV-35 an event joins, and the lists show it', async t => {
    const [keys, home] = [fresh('evu'), fresh('evh')]
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'x', company: home, user: keys },
    })
    const user = await client.ok('GET', `/users/lookup?evu=${keys.evu}`)
    t.equal(user.company_memberships.length, 1)
    const [homeId] = companiesOf(user)
    t.same(idsOf(await client.ok('GET', `/users?company_id=${homeId}`)), [user.id])
    t.equal((await get(`/companies/${homeId}`)).body.data.user_count, 1)
  })

  await t.test('CU-51, CU-52 deletion', async t => {
    const home = await company({ keys: fresh() })
    const keys = fresh('del')
    const user = await upsert({ keys, name: 'Gone', company_id: home.id, traits: { a: 1 } })
    const { status, body } = await post('/users/delete', { keys: { ...keys, zz: '0' } })
    t.equal(status, 200)
    t.strictSame(body, {
      data: {
        id: user.id,
        environment_id: environmentId,
        name: 'Gone',
        last_seen_at: null,
        created_at: user.created_at,
        updated_at: user.updated_at,
      },
      params: {},
    })
    t.equal((await post('/users/delete', { keys })).status, 404)
    t.equal((await post('/users/delete', {})).status, 400)
    t.equal((await get(`/users/${user.id}`)).status, 404)
    t.equal((await get(`/companies/${home.id}`)).body.data.user_count, 0)
    t.same(await client.ok('GET', `/company-memberships?company_id=${home.id}`), [])
    const again = await upsert({ keys })
    t.not(again.id, user.id)
    t.strictSame([again.traits, again.company_memberships], [{}, []], 'without history')
    t.strictSame((await del(`/users/${again.id}`)).body, {
      data: { deleted: true },
      params: { user_id: again.id },
    })
    t.equal((await del(`/users/${again.id}`)).status, 404, 'AL-34')
    const [one, two] = [await upsert({ keys: fresh('x') }), await upsert({ keys: fresh('y') })]
    t.equal((await post('/users/delete', { keys: { ...keysOf(one), ...keysOf(two) } })).status, 400)
  })

  await t.test('lists', async t => {
    const room = await client.ok('POST', '/environments', { name: 'Users', environment_type: 'staging' })
    const key = await client.ok('POST', '/api-keys', { name: 'users', environment_id: room.id })
    const there = client.as(key.secret)
    const names = async (search: string) =>
      (await there.ok('GET', `/users${search}`)).map((one: { name: string }) => one.name)
    const make = (name: string, more: object = {}) =>
      there.ok('POST', '/users', { keys: { mail: `${name}@x.test` }, name, ...more })
    const home = { co: 'home' }
    const users = [
      await make('ann', { company: home, traits: { team: 'Blue', size: 77123 } }),
      await make('bob', { company: home }),
      await make('cat', { company: { co: 'other' } }),
    ]
    const newest = [...users]
      .sort((a, b) => (b.created_at + b.id > a.created_at + a.id ? 1 : -1))
      .map(user => user.name)
    t.same(await names(''), newest)
    t.same(await names('?limit=1&offset=1'), [newest[1]])
    t.same(await names('?q=BOB@X'), ['bob'])
    t.same(await names('?q=blue'), ['ann'])
    t.same(await names('?q=77123'), [])
    const { id } = await there.ok('GET', '/companies/lookup?co=home')
    t.same((await names(`?company_id=${id}`)).sort(), ['ann', 'bob'])
    t.same(await names(`?company_id=${id}&q=ann`), ['ann'])
    t.same(await names('?company_id=comp_22222222222'), [])
    t.same(await names('?plan_id=plan_22222222222'), [])
    t.same(await there.ok('GET', `/users/count?company_id=${id}`), { count: 2 })
    t.same((await names(`?ids=${users[0].id}&ids=${users[2].id}`)).sort(), ['ann', 'cat'])
    for (const search of ['limit=0', 'offset=-1', `q=${'x'.repeat(513)}`])
      t.equal((await there.get(`/users?${search}`)).status, 400, search)
    await there.ok('DELETE', `/companies/${id}`)
    t.same(await names(`?company_id=${id}`), [], 'CU-50')
    t.same((await names('')).length, 3, 'users are kept')
  })
})

import t from 'tap'
import type { Environment, EnvironmentDetail } from '../../schemas/environments.js'
import type { ApiKey, ApiKeyCreate, WhoAmI } from '../../schemas/keys.js'
import { clearStores } from '../../src/control/environments/clear.js'
import * as environments from '../../src/control/environments/handlers.js'
import * as keys from '../../src/control/keys/handlers.js'
import type { KeyRecord } from '../../src/kit/call.js'
import { isoPattern, openHouse } from './house.js'

t.test('keys and environments', async t => {
  const house = await openHouse(t)
  const { services, development, production, accountId } = house
  const create = (body: ApiKeyCreate) => house.data<ApiKey & { secret: string }>(keys.createApiKey, { body })
  const listed = (
    query: Partial<{ environment_id: string; require_environment: boolean; limit: number; offset: number }>,
  ) =>
    house.data<ApiKey[]>(keys.listApiKeys, {
      query: { require_environment: false, ...query },
    })
  const environmentOf = (environment: typeof development): Environment => ({
    id: environment.id,
    name: environment.name,
    environment_type: environment.environmentType,
    require_context_signature: false,
    created_at: new Date(environment.createdAtMs).toISOString(),
    updated_at: new Date(environment.updatedAtMs).toISOString(),
  })

  /** A key that is taken always and from anywhere. */
  const open = {
    disabled: false,
    not_before: null,
    expires_at: null,
    allowed_addresses: null,
    previous_value_until: null,
  }

  await t.test('AL-2 AL-5 a created key is shown whole, its value this once', async t => {
    const answer = await house.ask(keys.createApiKey, {
      body: { name: 'ci', description: 'builds', environment_id: production.id, rate_limit_percent: 25 },
    })
    t.equal(answer.status, 201)
    const made = answer.data as ApiKey
    t.match(made.id, /^apik_[\w]{11}$/)
    t.match(made.secret, /^sk_prod_/)
    t.match(made.created_at, isoPattern)
    const { secret, ...shown } = made
    t.strictSame(shown, {
      id: made.id,
      name: 'ci',
      description: 'builds',
      environment_id: production.id,
      environment: environmentOf(production),
      readonly: false,
      scopes: ['capture', 'read', 'write'],
      rate_limit_percent: 25,
      ...open,
      last_four: made.secret!.slice(-4),
      last_used_at: null,
      created_at: made.created_at,
      updated_at: made.created_at,
    })
    t.strictSame(
      await house.data(keys.getApiKey, { params: { api_key_id: made.id } }),
      shown,
      'the value is gone',
    )
    t.match(services.keys.find(secret!), { id: made.id, environmentId: production.id, rateLimitPercent: 25 })
  })

  await t.test('AL-5 scopes follow from environment and readonly', async t => {
    const accountWide = await create({ name: 'all' })
    t.same([...accountWide.scopes].sort(), ['admin', 'capture', 'read', 'write'])
    t.match(accountWide.secret, /^sk_acct_/)
    t.equal(accountWide.environment_id, null)
    t.notOk('environment' in accountWide)
    t.same((await create({ name: 'r', readonly: true })).scopes, ['read'])
    t.same((await create({ name: 'r', readonly: true, environment_id: development.id })).scopes, ['read'])
    t.match(await house.fails(keys.createApiKey, { body: { name: 'x', environment_id: 'env_none' } }), {
      status: 404,
    })
  })

  await t.test('AL-6 a key with the scope admin alone makes keys with each scope', async t => {
    const key: KeyRecord = { ...house.admin, scopes: ['admin'] }
    for (const scope of ['admin', 'capture', 'check', 'read', 'write'] as const) {
      const body: ApiKeyCreate = { name: scope, scopes: [scope] }
      t.match(await house.data(keys.createApiKey, { key, body }), { scopes: [scope] }, scope)
    }
  })

  await t.test(
    'AL-45 caps: 0 and null leave a new key uncapped; on update 0 lifts and null keeps',
    async t => {
      t.equal((await create({ name: 'a', rate_limit_percent: 0 })).rate_limit_percent, null)
      t.equal((await create({ name: 'a', rate_limit_percent: null })).rate_limit_percent, null)
      const { id, secret } = await create({ name: 'a', description: 'd', rate_limit_percent: 99 })
      const update = (body: object) =>
        house.data<ApiKey>(keys.updateApiKey, { body, params: { api_key_id: id } })
      t.match(await update({}), { rate_limit_percent: 99, name: 'a', description: 'd' })
      t.match(await update({ rate_limit_percent: null, name: 'b' }), {
        rate_limit_percent: 99,
        name: 'b',
        description: 'd',
      })
      t.match(await update({ rate_limit_percent: 0, description: null }), {
        rate_limit_percent: null,
        description: null,
      })
      t.match(services.keys.find(secret), { name: 'b', rateLimitPercent: null }, 'in force at once')
      t.match(await update({ rate_limit_percent: 1 }), { rate_limit_percent: 1 })
      t.match(services.keys.find(secret), { rateLimitPercent: 1 })
    },
  )

  await t.test('AL-12 the list filters by environment; newest first; counts agree', async t => {
    const all = await listed({})
    t.ok(all.some(key => key.environment_id === null))
    const times = all.map(key => key.created_at)
    t.same(times, [...times].sort().reverse())
    const bound = await listed({ require_environment: true })
    t.ok(bound.length > 0 && bound.every(key => key.environment_id !== null))
    t.ok((await listed({ environment_id: production.id })).every(key => key.environment_id === production.id))
    t.same(await listed({ limit: 2, offset: 1 }), all.slice(1, 3))
    const counted = (query: object) => house.data(keys.countApiKeys, { query: query })
    t.same(await counted({ require_environment: false }), { count: all.length })
    t.same(await counted({ require_environment: true }), { count: bound.length })
    t.throws(() => keys.keyListQuery.read(''), /require_environment is required/)
    const foreign = { ...house.admin, accountId: 'acct_other' }
    t.same(await house.data(keys.listApiKeys, { key: foreign, query: { require_environment: false } }), [])
    t.match(await house.fails(keys.getApiKey, { key: foreign, params: { api_key_id: all[0]!.id } }), {
      status: 404,
    })
  })

  await t.test('decision 13 the value of a publishable key is in the list', async t => {
    const publishable = (await listed({ environment_id: production.id })).find(key => key.secret)!
    t.match(publishable, { scopes: ['capture'], secret: /^pk_prod_/, readonly: false })
    t.match(services.keys.find(publishable.secret!), { id: publishable.id, kind: 'publishable' })
  })

  await t.test('AL-3 AL-6 AL-34 deletion is immediate, happens once, and never to oneself', async t => {
    const { id, secret } = await create({ name: 'doomed' })
    t.ok(services.keys.find(secret))
    t.match(
      await house.fails(keys.deleteApiKey, { key: { ...house.admin, id }, params: { api_key_id: id } }),
      { status: 400 },
    )
    t.same(await house.data(keys.deleteApiKey, { params: { api_key_id: id } }), { deleted: true })
    t.equal(await services.keys.find(secret), null)
    t.match(await house.fails(keys.deleteApiKey, { params: { api_key_id: id } }), { status: 404 })
  })

  await t.test('AL-5 a deleted publishable key is followed by a fresh one', async t => {
    const [old] = (await listed({ environment_id: development.id })).filter(key => key.secret)
    await house.ask(keys.deleteApiKey, { params: { api_key_id: old!.id } })
    const fresh = (await listed({ environment_id: development.id })).filter(key => key.secret)
    t.equal(fresh.length, 1)
    t.not(fresh[0]!.secret, old!.secret)
    t.equal(await services.keys.find(old!.secret!), null)
    t.ok(services.keys.find(fresh[0]!.secret!))
  })

  await t.test('whoami; security 32: a key bound to an environment sees that one alone', async t => {
    const bound = { ...house.admin, environmentId: development.id }
    t.match(await house.data(keys.whoAmI, { key: bound }), {
      environment_id: development.id,
      environments: [environmentOf(development)],
    })
    t.equal((await house.data<WhoAmI>(keys.whoAmI, { key: bound })).environments.length, 1)
    const key = { ...bound, bootstrap: true }
    t.strictSame(await house.data(keys.whoAmI, { key }), {
      account_id: accountId,
      account_name: 'Default account',
      actor_type: 'api_key',
      account_member: null,
      api_key_id: 'apik_admin',
      environment_id: development.id,
      environments: [environmentOf(development), environmentOf(production)],
      expires_at: null,
      name: 'admin',
      onboarding_complete: true,
      readonly: false,
      scopes: ['admin', 'capture', 'read', 'write'],
    })
  })

  await t.test(
    'an environment is created with its publishable key, known at once, and its catalog',
    async t => {
      const answer = await house.ask(environments.createEnvironment, {
        body: { name: 'Stage', environment_type: 'staging' },
        environment: null,
      })
      t.equal(answer.status, 201)
      const made = answer.data as EnvironmentDetail
      t.match(made.id, /^env_/)
      t.equal(made.api_keys.length, 1)
      const [key] = made.api_keys
      t.strictSame(made, {
        id: made.id,
        name: 'Stage',
        environment_type: 'staging',
        require_context_signature: false,
        api_keys: [
          {
            id: key!.id,
            name: 'Publishable key',
            description: null,
            environment_id: made.id,
            environment: {
              id: made.id,
              name: 'Stage',
              environment_type: 'staging',
              require_context_signature: false,
              created_at: made.created_at,
              updated_at: made.updated_at,
            },
            readonly: false,
            scopes: ['capture'],
            rate_limit_percent: null,
            ...open,
            last_four: key!.secret!.slice(-4),
            last_used_at: null,
            secret: key!.secret!,
            created_at: made.created_at,
            updated_at: made.updated_at,
          },
        ],
        created_at: made.created_at,
        updated_at: made.updated_at,
      })
      t.match(key!.secret, /^pk_stag_/)
      t.match(services.keys.find(key!.secret!), { environmentId: made.id })
      t.match(services.catalogs.get(made.id), { environmentType: 'staging' })
      t.ok(
        house.announced.some(data => data.environmentId === made.id),
        'the shards have it',
      )

      const update = (body: object) =>
        house.data<Environment>(environments.changeEnvironment, {
          body,
          params: { environment_id: made.id },
        })
      t.match(await update({ require_context_signature: true }), {
        name: 'Stage',
        require_context_signature: true,
      })
      t.match(await update({ name: 'S', environment_type: 'production' }), {
        name: 'S',
        environment_type: 'production',
        require_context_signature: true,
      })
      t.match(services.keys.environment(made.id), { name: 'S', environmentType: 'production' })
      t.equal(services.catalogs.get(made.id).environmentType, 'production')
    },
  )

  await t.test('environments are listed newest first and found within the account only', async t => {
    const all = await house.data<Environment[]>(environments.listEnvironments)
    t.same(
      all.map(({ name }) => name),
      ['S', 'Production', 'Development'],
    )
    t.same(await house.data(environments.listEnvironments, { query: { ids: [production.id] } }), [
      environmentOf(production),
    ])
    const params = { environment_id: production.id }
    t.strictSame(await house.data(environments.getEnvironment, { params }), environmentOf(production))
    const foreign = { ...house.admin, accountId: 'acct_other' }
    for (const handler of [
      environments.getEnvironment,
      environments.removeEnvironment,
      environments.getClock,
    ])
      t.match(await house.fails(handler, { key: foreign, params }), { status: 404 })
  })

  await t.test('decisions 10, 11 the test clock of an environment', async t => {
    const params = { environment_id: development.id }
    const set = (body: object) => house.data<object>(environments.setClock, { params, body })
    const refused = (body: object, where = params) =>
      house.fails(environments.setClock, { params: where, body })
    t.match(await house.data(environments.getClock, { params }), {
      environment_id: development.id,
      now: isoPattern,
      test_clock: false,
      frozen: false,
      offset_seconds: null,
    })
    const now = '2099-01-01T00:00:00.000Z'
    t.strictSame(await set({ now, frozen: true }), {
      environment_id: development.id,
      now,
      test_clock: true,
      frozen: true,
      offset_seconds: null,
    })
    t.equal(services.clock.now(development.id), Date.parse(now))
    t.match(await refused({ now: '2098-01-01T00:00:00Z' }), { status: 400, error: /earlier/ })
    t.match(await refused({}), { status: 400 })
    t.match(await refused({ now, offset_seconds: 1 }), { status: 400 })
    t.match(await refused({ now: 'tomorrow' }), { status: 400, error: /now/ })
    t.match(await refused({ now }, { environment_id: production.id }), { status: 400, error: /production/ })
    t.match(
      await house.fails(environments.changeEnvironment, { params, body: { environment_type: 'production' } }),
      { status: 400, error: /test clock/ },
    )
    t.match(await set({ now: '2100-01-01T00:00:00Z' }), {
      frozen: false,
      offset_seconds: Number,
      now: /^2100-01-01T00:00:0/,
    })
    const [row] = await services.sql<{ clock_offset_ms: string }[]>`
      select clock_offset_ms from environments where id = ${development.id}`
    t.ok(Number(row!.clock_offset_ms) > 0, 'and survives a restart')
    t.same(await house.data(environments.removeClock, { params }), { deleted: true })
    t.match(await house.fails(environments.removeClock, { params }), { status: 404 })
    t.ok(Math.abs(services.clock.now(development.id) - Date.now()) < 5_000)
  })

  await t.test(
    'AL-13 an environment goes with its keys and data; the last one and one’s own stay',
    async t => {
      const [stage] = await house.data<Environment[]>(environments.listEnvironments)
      const params = { environment_id: stage!.id }
      const { secret } = await create({ name: 'in stage', environment_id: stage!.id })
      await services.sql`insert into companies ${services.sql({ id: 'comp_1', environment_id: stage!.id, name: 'x', created_at: new Date(), updated_at: new Date() })}`
      const own = { ...house.admin, environmentId: stage!.id }
      t.match(await house.fails(environments.removeEnvironment, { key: own, params }), { status: 400 })
      t.same(await house.data(environments.removeEnvironment, { params }), { deleted: true })
      t.equal(await services.keys.find(secret), null)
      t.equal((await services.sql`select 1 from companies where environment_id = ${stage!.id}`).length, 0)
      t.equal((await services.sql`select 1 from api_keys where environment_id = ${stage!.id}`).length, 0)
      t.throws(() => services.catalogs.get(stage!.id))

      const columns = '(id, environment_id, type, status, captured_at)'
      const rows = ['gone', production.id].map(
        (id, i) => `('evt_${i}', '${id}', 'track', 'processed', now())`,
      )
      await services.clickhouse.command(`insert into events ${columns} values ${rows}`)
      await services.sql`insert into companies ${services.sql({ id: 'comp_late', environment_id: 'gone', name: 'x', created_at: new Date(), updated_at: new Date() })}`
      await clearStores(services, 'gone')
      t.same(await services.clickhouse.select('select environment_id from events'), [
        { environment_id: production.id },
      ])
      t.equal(
        (await services.sql`select 1 from companies where environment_id = 'gone'`).length,
        0,
        'late rows go too',
      )
      t.match(await house.fails(environments.removeEnvironment, { params }), { status: 404 })

      t.same(
        await house.data(environments.removeEnvironment, { params: { environment_id: production.id } }),
        { deleted: true },
      )
      t.match(
        await house.fails(environments.removeEnvironment, { params: { environment_id: development.id } }),
        {
          status: 400,
          error: /last/,
        },
      )
      t.ok(services.keys.environment(development.id))
    },
  )
})

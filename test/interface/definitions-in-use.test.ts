// Features, flags and plans are the account's (PB-1): a key that is bound to an environment changes and deletes them only
// while no other environment uses them (D5, security finding 8).
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Client, startHere } from '../harness.js'
import { StreamClient } from '../stream-client.js'

const { client: first, tollgate } = await startHere(t)
const { environments } = await first.ok('GET', '/whoami')
const idOf = (name: string): string => environments.find((one: { name: string }) => one.name === name).id
const bound = async (environment: string): Promise<Client> =>
  first.as(
    (await first.ok('POST', '/api-keys', { name: environment, environment_id: idOf(environment) })).secret,
  )
const keys = { Development: await bound('Development'), Production: await bound('Production') }
type Name = keyof typeof keys
const account = await first.ok('POST', '/api-keys', { name: 'account' })
const wide = (environment: Name) =>
  first.as(account.secret, { 'X-Service-Environment-Id': idOf(environment) })

let made = 0
const fresh = (word: string): string => `${word} ${++made}`

interface Made {
  readonly id: string
  readonly key: string
  readonly flagId: string
}

async function feature(): Promise<Made> {
  const body = { name: fresh('feature'), description: '', feature_type: 'boolean' }
  const { id, flags } = await wide('Development').ok('POST', '/features', body)
  return { id, key: flags[0].key, flagId: flags[0].id }
}

async function flag(): Promise<string> {
  const key = `flag-${++made}`
  const body = { key, name: key, description: '', flag_type: 'boolean', default_value: true }
  return (await wide('Development').ok('POST', '/flags', body)).id
}

const plan = async (): Promise<string> =>
  (await wide('Development').ok('POST', '/plans', { name: fresh('plan'), plan_type: 'plan' })).id

async function publish(key: Client, planId: string, name = 'Published'): Promise<void> {
  const { draft_version } = await key.ok('PUT', `/plans/${planId}`, { name })
  const body = { migration_strategy: 'leave', excluded_company_ids: [] }
  await key.ok('PUT', `/plans/version/${draft_version.id}/publish`, body)
}

const company = async (key: Client, more: object = {}): Promise<string> =>
  (await key.ok('POST', '/companies', { keys: { slug: fresh('company') }, ...more })).id

const rule = (conditions: object[]) => ({
  rules: [{ name: 'r', priority: 1, value: true, conditions, condition_groups: [] }],
})

/** Have a flag checked; checks are told of a little later (FE-103). */
async function checked(key: Client, flagId: string): Promise<void> {
  const name = (await key.ok('GET', `/flags/${flagId}`)).key
  await key.ok('POST', `/flags/${name}/check`, {})
  while ((await key.ok('GET', `/flags/${flagId}`)).last_checked_at === null) await sleep(50)
}

/** Uses of a feature by an environment, and the name of each in the refusal. */
const usesOfFeature: readonly (readonly [RegExp, (key: Client, made: Made) => Promise<unknown>])[] = [
  [
    /1 plan entitlement: plan \d+/,
    async (key, { id }) => {
      const body = { plan_id: await plan(), feature_id: id, value_type: 'boolean', value_bool: true }
      await key.ok('POST', '/plan-entitlements', body)
    },
  ],
  [
    /1 company override/,
    async (key, { id }) => {
      const body = { company_id: await company(key), feature_id: id, value_type: 'boolean', value_bool: true }
      await key.ok('POST', '/company-overrides', body)
    },
  ],
  [/1 rule/, (key, { flagId }) => key.ok('PUT', `/flags/${flagId}/rules`, rule([]))],
  [/checked lately/, (key, { flagId }) => checked(key, flagId)],
]

/** Changes of a feature: none is allowed on one that another environment uses. */
const changesOfFeature: Readonly<Record<string, (key: Client, made: Made) => ReturnType<Client['get']>>> = {
  'PUT /features': (key, { id }) => key.put(`/features/${id}`, { description: 'new' }),
  'DELETE /features': (key, { id }) => key.del(`/features/${id}`),
  'PUT /flags': (key, { flagId, key: name }) =>
    key.put(`/flags/${flagId}`, {
      key: name,
      name: 'n',
      description: '',
      flag_type: 'boolean',
      default_value: true,
    }),
  'DELETE /flags': (key, { flagId }) => key.del(`/flags/${flagId}`),
}

const names = Object.keys(keys) as Name[]
const other = (name: Name): Name => (name === 'Development' ? 'Production' : 'Development')

/** Refused by name and use, and allowed: to the key of the environment, and of the account. */
async function guarded(
  t: Test,
  use: RegExp,
  owner: Name,
  act: (key: Client) => ReturnType<Client['get']>,
): Promise<void> {
  const { status, body } = await act(keys[other(owner)])
  t.equal(status, 403, `refused: ${JSON.stringify(body)}`)
  t.match(body.error, new RegExp(`in use in ${owner} \\(`))
  t.match(body.error, use)
  t.notMatch(body.error, other(owner))
}

t.test('D5, security 8: a feature and its flag, for each use and each verb, both ways', async t => {
  for (const owner of names)
    for (const [use, begin] of usesOfFeature.filter(
      ([use]) => owner === 'Production' || !/checked/.test(use.source),
    ))
      for (const [verb, act] of Object.entries(changesOfFeature)) {
        const one = await feature()
        await begin(keys[owner], one)
        const before = await wide(owner).ok('GET', `/features/${one.id}`)
        await t.test(`${verb} of what ${owner} uses: ${use.source}`, async t => {
          await guarded(t, use, owner, key => act(key, one))
          const after = await wide(owner).ok('GET', `/features/${one.id}`)
          t.same(after, before, 'nothing was changed')
          t.equal((await act(keys[owner], one)).status, 200, 'by who uses it')
        })
      }
})

t.test('D5: a flag that was only checked in Production keeps its default there', async t => {
  const id = await flag()
  const { key } = await first.ok('GET', `/flags/${id}`)
  const check = async () => (await keys.Production.ok('POST', `/flags/${key}/check`, {})).value
  t.equal(await check(), true)
  await checked(keys.Production, id)
  const off = { key, name: 'n', description: '', flag_type: 'boolean', default_value: false }
  t.equal((await first.put(`/flags/${id}`, off)).status, 403, 'the first key is bound to Development')
  t.equal((await first.del(`/flags/${id}`)).status, 403)
  t.equal(await check(), true)
  t.equal((await wide('Development').put(`/flags/${id}`, off)).status, 200, 'an account-wide key')
  t.equal(await check(), false)
})

t.test('M5: checks in Development lock nobody out, with whatever key', async t => {
  const { id: environmentId } = environments.find((one: { name: string }) => one.name === 'Development')
  const listed = await wide('Development').ok('GET', `/api-keys?limit=250&require_environment=true`)
  const { secret } = listed.find(
    (key: { secret?: string; environment_id: string }) =>
      key.environment_id === environmentId && key.secret?.startsWith('pk_'),
  )
  for (const by of [keys.Development, first.as(secret)])
    for (const act of Object.values(changesOfFeature)) {
      const one = await feature()
      await by.ok('POST', `/flags/${one.key}/check`, {})
      const event = { flag_key: one.key, reason: 'r', value: true }
      await by.post('/events', { event_type: 'flag_check', body: event })
      while ((await wide('Development').ok('GET', `/flags/${one.flagId}`)).last_checked_at === null)
        await sleep(50)
      t.equal((await act(keys.Production, one)).status, 200)
    }
})

t.test('D5: an unused definition, or one used by its own environment, may be changed', async t => {
  for (const name of names) {
    for (const act of Object.values(changesOfFeature))
      t.equal((await act(keys[name], await feature())).status, 200, `${name}: unused`)
    t.equal((await keys[name].del(`/flags/${await flag()}`)).status, 200)
    t.equal((await keys[name].del(`/plans/${await plan()}`)).status, name === 'Development' ? 200 : 403)
  }
})

t.test('D5: used by both: no bound key may, an account-wide one may', async t => {
  const one = await feature()
  for (const name of names) await keys[name].ok('PUT', `/flags/${one.flagId}/rules`, rule([]))
  for (const name of names) {
    const refused = await keys[name].put(`/features/${one.id}`, { description: 'x' })
    t.match(refused, { status: 403, body: { error: new RegExp(`in use in ${other(name)} \\(1 rule\\):`) } })
  }
  t.equal((await wide('Production').put(`/features/${one.id}`, { description: 'x' })).status, 200)
  t.equal(
    (await first.as(account.secret).del(`/features/${one.id}`)).status,
    200,
    'at the level of the account',
  )
})

t.test('D5: a flag is not taken to or from a feature that another environment uses', async t => {
  const used = await feature()
  await keys.Production.ok('PUT', `/flags/${used.flagId}/rules`, rule([]))
  const dev = keys.Development
  const free = await flag()
  await wide('Development').ok('PUT', `/flags/${used.flagId}`, {
    ...(await bodyOf(used.flagId)),
    feature_id: null,
  })
  const adopt = { name: fresh('taker'), description: '', feature_type: 'boolean', flag: { id: used.flagId } }
  t.equal((await dev.post('/features', adopt)).status, 403, 'by a new feature')
  await wide('Development').ok('PUT', `/flags/${used.flagId}`, {
    ...(await bodyOf(used.flagId)),
    feature_id: used.id,
  })
  const bare = await feature()
  await keys.Production.ok('POST', '/plan-entitlements', {
    plan_id: await plan(),
    feature_id: bare.id,
    value_type: 'boolean',
    value_bool: true,
  })
  await wide('Development').ok('DELETE', `/flags/${bare.flagId}`)
  const linked = { ...(await bodyOf(free)), feature_id: bare.id }
  t.equal((await dev.put(`/flags/${free}`, linked)).status, 403, 'an own flag to a used feature')
  t.equal(
    (await dev.post('/flags', { ...linked, key: `k${++made}` })).status,
    403,
    'a new flag to a used feature',
  )
  t.equal((await keys.Production.put(`/flags/${free}`, linked)).status, 200)
})

async function bodyOf(flagId: string) {
  const { key, name, description, flag_type, default_value } = await first.ok('GET', `/flags/${flagId}`)
  return { key, name, description, flag_type, default_value }
}

t.test('D5: POST /features/billing-linked of a feature in use', async t => {
  const body = {
    name: 'Linked',
    description: '',
    feature_type: 'boolean',
    billing_provider: 'psp',
    external_resource_id: fresh('res'),
  }
  const { flags } = await keys.Production.ok('POST', '/features/billing-linked', body)
  await keys.Production.ok('PUT', `/flags/${flags[0].id}/rules`, rule([]))
  await guarded(t, /1 rule/, 'Production', key =>
    key.post('/features/billing-linked', { ...body, name: 'New' }),
  )
  t.equal((await keys.Production.post('/features/billing-linked', { ...body, name: 'New' })).status, 201)
})

/** Uses of a plan by an environment. */
const usesOfPlan: readonly (readonly [RegExp, (key: Client, planId: string) => Promise<unknown>])[] = [
  [/1 draft version/, (key, id) => key.ok('PUT', `/plans/${id}`, { name: 'Draft' })],
  [/1 published version/, publish],
  [
    /1 company/,
    async (key, id) => {
      await publish(key, id)
      await company(key, { base_plan_id: id })
    },
  ],
  [
    /1 rule/,
    async (key, id) => {
      const condition = { condition_type: 'plan', operator: 'eq', resource_ids: [id], trait_value: '' }
      await key.ok('PUT', `/flags/${await flag()}/rules`, rule([condition]))
    },
  ],
]

t.test('D5, PB-12: DELETE /plans, for each use, both ways', async t => {
  for (const owner of names)
    for (const [use, begin] of usesOfPlan) {
      const made = await wide(owner).ok('POST', '/plans', { name: fresh('plan'), plan_type: 'plan' })
      await begin(keys[owner], made.id)
      await t.test(`${owner}: ${use.source}`, async t => {
        await guarded(t, use, owner, key => key.del(`/plans/${made.id}`))
        t.equal((await keys[owner].get(`/plans/${made.id}`)).status, 200)
        const companies = use.source === '1 company'
        t.equal((await keys[owner].del(`/plans/${made.id}`)).status, companies ? 400 : 200)
      })
    }
})

t.test('PB-1: PUT /plans edits this environment’s version alone, also when others use the plan', async t => {
  const { id } = await wide('Production').ok('POST', '/plans', { name: 'Sold', plan_type: 'plan' })
  await publish(keys.Production, id, 'Sold')
  const before = await keys.Production.ok('GET', `/plans/${id}`)
  await publish(keys.Development, id, 'Tried')
  const after = await keys.Production.ok('GET', `/plans/${id}`)
  t.same({ ...after, updated_at: '' }, { ...before, updated_at: '' })
})

t.test('D5: the version of a billing-linked plan’s resource', async t => {
  const body = {
    billing_provider: 'psp',
    plan_type: 'plan',
    external_resource_id: fresh('res'),
    name: 'Linked',
  }
  const { id } = await keys.Production.ok('POST', '/plans/billing-linked', body)
  t.ok(id)
  const next = { ...body, external_resource_version: '2' }
  await guarded(t, /1 draft version/, 'Production', key => key.post('/plans/billing-linked', next))
  t.equal((await keys.Production.post('/plans/billing-linked', next)).status, 201)
})

t.test('M7 flags that a server reads over the data stream of production are in use there', async t => {
  const one = await feature()
  const rule = () => keys.Development.put(`/flags/${one.flagId}`, { description: fresh('text') })
  t.equal((await rule()).status, 200, 'nobody reads')
  const stream = await StreamClient.open(first.url, { key: keys.Production.key })
  t.teardown(() => stream.ws.close())
  stream.ask('rulesengine.Flags')
  await stream.next()
  t.match(await rule(), { status: 403, body: { error: /in use in Production \(.*read by the data stream/ } })
})

t.test('M7 at every node, after a restart too: who reads is known in Postgres', async t => {
  const { sql } = tollgate.services
  const readers = async () =>
    (await sql<{ environment_id: string }[]>`select distinct environment_id from stream_keys`).map(
      row => row.environment_id,
    )
  await sql`delete from stream_keys`
  const stream = await StreamClient.open(first.url, { key: keys.Production.key, protocols: ['tollgate'] })
  t.teardown(() => stream.ws.close())
  for (let n = 0; n < 500 && (await readers()).length === 0; n++) await sleep(20)
  t.same(await readers(), [idOf('Production')], 'a client that evaluates itself is known by its key')
  // a reader at another node is not known here but by its row
  const staging = await first.ok('POST', '/environments', { name: 'Other', environment_type: 'production' })
  const { id: key } = await first.ok('POST', '/api-keys', { name: 'other', environment_id: staging.id })
  const id = await flag()
  const change = () => keys.Development.put(`/flags/${id}`, { description: fresh('text') })
  const read = (ago: string) => sql`
    insert into stream_keys (environment_id, api_key_id, seen_at)
    values (${staging.id}, ${key}, now() - ${ago}::interval)
    on conflict (environment_id, api_key_id) do update set seen_at = excluded.seen_at`
  await read('12 minutes')
  t.notMatch((await change()).body.error ?? '', /Other/)
  await read('1 minute')
  t.match(await change(), { status: 403, body: { error: /Other \(read by the data stream\)/ } })
})

// Webhooks over HTTP, against an endpoint on this machine.
import t from 'tap'
import { tellExpired } from '../../src/control/jobs/tell-override-ends.js'
import { retryDelayMs } from '../../src/control/webhooks/deliveries.js'
import { isPrivateAddress, urlProblem } from '../../src/control/webhooks/safe-http.js'
import { type Client, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { CreditWorld } from './credit-world.js'
import { isSigned, receiver } from './receiver.js'

const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true', TOLLGATE_WEBHOOK_RETRY_MS: '5' }
const { client, tollgate } = await startHere(t, settings)

const hook = (url: string, ...types: string[]) =>
  client.ok('POST', '/webhooks', { name: 'hook', url, request_types: types })

/** Wait until something holds. */
async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean, ms = 60_000): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const value = await read()
    if (holds(value) || Date.now() > end) return value
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** Until what was acknowledged so far is in the queue. */
async function settled(): Promise<void> {
  await tollgate.services.projections.barrier('postgres')
  await tollgate.services.outbox.drain()
}

const deliveriesOf = (webhookId: string, by: Client = client) =>
  by.ok('GET', `/webhook-events?webhook_id=${webhookId}`)

const flagBody = (key: string) => ({
  key,
  name: key,
  description: '',
  flag_type: 'boolean',
  default_value: false,
})

t.test('made, read, changed, listed, deleted', async t => {
  const made = await client.post('/webhooks', {
    name: 'First',
    url: 'https://example.com/hook',
    request_types: ['flag.created', 'flag.created'],
    entitlement_trigger_configs: [{ feature_id: 'feat_1' }],
  })
  t.equal(made.status, 201)
  const { id } = made.body.data
  t.match(made.body.data, {
    id: /^whk_/,
    secret: /^whsec_[0-9A-Za-z]{32}$/,
    status: 'active',
    request_types: ['flag.created'],
    credit_trigger_configs: null,
    entitlement_trigger_configs: [{ feature_id: 'feat_1' }],
  })
  const changed = await client.ok('PUT', `/webhooks/${id}`, {
    name: 'Second',
    status: 'inactive',
    entitlement_trigger_configs: null,
  })
  t.match(changed, { name: 'Second', status: 'inactive', url: 'https://example.com/hook' })
  t.equal(changed.entitlement_trigger_configs, null)
  t.equal(
    changed.secret,
    `whsec_${'*'.repeat(28)}${made.body.data.secret.slice(-4)}`,
    'security 12: the secret is shown once',
  )
  t.same(await client.ok('GET', `/webhooks/${id}`), changed)
  t.same(
    (await client.ok('GET', '/webhooks?q=second')).map((one: { id: string }) => one.id),
    [id],
  )
  t.equal((await client.ok('GET', '/webhooks/count?q=nothing')).count, 0)
  for (const url of ['ftp://example.com', 'nothing', 'https://a:b@example.com/'])
    t.equal((await client.put(`/webhooks/${id}`, { url })).status, 400, url)
  t.equal(
    (await client.post('/webhooks', { name: 'x', url: 'https://x.io', request_types: ['no'] })).status,
    400,
  )
  t.same(await client.ok('DELETE', `/webhooks/${id}`), { deleted: true })
  t.equal((await client.del(`/webhooks/${id}`)).status, 404)
  t.equal((await client.get(`/webhook-events/whev_22222222222`)).status, 404)
})

t.test('a change of a definition is delivered once, signed, to its subscribers', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, 'flag.created', 'flag.deleted')
  const flag = await client.ok('POST', '/flags', flagBody('told'))
  await client.ok('PUT', `/flags/${flag.id}`, flagBody('told-2'))
  await client.ok('DELETE', `/flags/${flag.id}`)
  await here.until(2)
  const [created, deleted] = [...here.of('flag.created'), ...here.of('flag.deleted')]
  const { account_id, environment_id } = await client.ok('GET', '/whoami')
  t.match(created!.json, {
    action: 'flag.created',
    account_id,
    environment_id,
    object_type: 'flag',
    body: { id: flag.id, key: 'told' },
  })
  t.match(deleted!.json, { action: 'flag.deleted', body: { id: flag.id, key: 'told-2' } })
  for (const one of here.received) t.ok(isSigned(one, webhook.secret), 'signature')
  t.match(created!.headers['content-type'], 'application/json')
  const rows = await eventually(
    () => deliveriesOf(webhook.id),
    rows => rows.every((row: { status: string }) => row.status === 'success'),
  )
  t.equal(rows.length, 2)
  t.match(rows[0], { id: /^whev_/, attempt_count: 1, response_code: 200, request_type: 'flag.deleted' })
  t.match(rows[0].webhook, { id: webhook.id })
  t.equal(rows[1].payload, created!.text)
  t.same((await client.ok('GET', `/webhook-events/${rows[0].id}`)).id, rows[0].id)
  t.equal((await client.ok('GET', '/webhook-events/count?q=flag.deleted')).count, 1)
  const counted = (status: string) =>
    client.ok('GET', `/webhook-events/count?webhook_id=${webhook.id}&status=${status}`)
  t.same([(await counted('success')).count, (await counted('failure')).count], [2, 0], 'by status')
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('changes of features, rules, plans and entitlements are published', async t => {
  const here = await receiver(t)
  const types = [
    'feature.created',
    'feature.updated',
    'feature.deleted',
    'flag_rules.updated',
    'rule.deleted',
    'plan.created',
    'plan.updated',
    'plan.deleted',
    'plan_version.deleted',
    'plan.entitlement.created',
    'plan.entitlement.updated',
    'plan.entitlement.deleted',
  ]
  const webhook = await hook(here.url, ...types)
  const feature = await client.ok('POST', '/features', {
    name: 'Seats',
    description: '',
    feature_type: 'boolean',
    flag: flagBody('seats'),
  })
  await client.ok('PUT', `/features/${feature.id}`, { name: 'Seats!' })
  const rules = [
    { name: 'all', priority: 1, value: true, rule_type: 'standard', conditions: [], condition_groups: [] },
  ]
  await client.ok('PUT', `/flags/${feature.flags[0].id}/rules`, { rules })
  await client.ok('PUT', `/flags/${feature.flags[0].id}/rules`, { rules: [] })
  const plan = await client.ok('POST', '/plans', { name: 'Pro', description: '', plan_type: 'plan' })
  const entitlement = await client.ok('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    value_type: 'boolean',
    value_bool: true,
  })
  await client.ok('PUT', `/plan-entitlements/${entitlement.id}`, { value_type: 'boolean', value_bool: false })
  await client.ok('DELETE', `/plan-entitlements/${entitlement.id}`)
  await client.ok('PUT', `/plans/${plan.id}`, { name: 'Pro!' })
  await client.ok('DELETE', `/plans/${plan.id}`)
  await client.ok('DELETE', `/features/${feature.id}`)
  await here.until(11)
  const told = here.received.map(({ json }) => json.action)
  t.same([...new Set(told)].sort(), types.filter(type => type !== 'plan_version.deleted').sort())
  t.match(here.of('feature.deleted')[0]!.json, { feature_id: feature.id, body: { name: 'Seats!' } })
  t.match(here.of('flag_rules.updated')[0]!.json, { object_type: 'rule', body: { name: 'all' } })
  t.match(here.of('rule.deleted')[0]!.json, { object_type: 'rule', body: { name: 'all' } })
  t.match(here.of('plan.entitlement.deleted')[0]!.json, {
    body: { id: entitlement.id },
    object_type: 'plan_entitlement',
  })
  t.match(here.of('plan.deleted')[0]!.json, { body: { id: plan.id } })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('a feature’s event has its flag, a bundle’s its entitlements', async t => {
  const here = await receiver(t)
  const types = ['flag.created', 'flag.updated', 'plan.entitlement.created', 'plan.entitlement.deleted']
  const webhook = await hook(here.url, ...types, 'plan.entitlement.updated')
  const flag = flagBody('with-feature')
  const feature = await client.ok('POST', '/features', {
    name: 'Bundled',
    description: '',
    feature_type: 'boolean',
    flag,
  })
  await client.ok('PUT', `/features/${feature.id}`, { flag: { ...flag, name: 'Renamed' } })
  const made = await client.ok('POST', '/plan-bundles', {
    plan: { name: 'Bundle', description: '', plan_type: 'plan' },
    billing_product: { charge_type: 'none', is_trialable: false },
    entitlements: [
      {
        action: 'create',
        req: { feature_id: feature.id, plan_id: '', value_type: 'boolean', value_bool: true },
      },
    ],
    credit_grants: [],
  })
  const [entitlement] = made.entitlements
  await client.ok('PUT', `/plan-bundles/${made.plan.id}`, {
    plan: { name: 'Bundle' },
    entitlements: [{ action: 'delete', entitlement_id: entitlement.id }],
    credit_grants: [],
  })
  await here.until(4)
  t.same(here.received.map(({ json }) => json.action).sort(), types)
  t.match(here.of('flag.created')[0]!.json, { feature_id: feature.id, body: { key: 'with-feature' } })
  t.match(here.of('flag.updated')[0]!.json.body, { name: 'Renamed' })
  for (const what of ['created', 'deleted'])
    t.match(here.of(`plan.entitlement.${what}`)[0]!.json, {
      feature_id: feature.id,
      body: { id: entitlement.id, plan_id: made.plan.id },
    })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('changes of companies, users, overrides and plans are published, from any source', async t => {
  const here = await receiver(t)
  const types = [
    'company.created',
    'company.updated',
    'company.deleted',
    'user.created',
    'user.updated',
    'user.deleted',
    'company.override.created',
    'company.override.updated',
    'company.override.deleted',
  ]
  const webhook = await hook(here.url, ...types)
  const company = await client.ok('POST', '/companies', { keys: { slug: 'hooked' }, name: 'Hooked' })
  await client.ok('POST', '/companies', { keys: { slug: 'hooked' }, traits: { seats: 3 } })
  const user = await client.ok('POST', '/users', { keys: { email: 'a@hooked' }, name: 'A' })
  await client.ok('POST', '/user-traits', { keys: { email: 'a@hooked' }, trait: 'age', set: '4' })
  const feature = await client.ok('POST', '/features', {
    name: 'Hooked',
    description: '',
    feature_type: 'boolean',
  })
  const made = await client.ok('POST', '/company-overrides', {
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'boolean',
    value_bool: true,
  })
  await client.ok('PUT', `/company-overrides/${made.id}`, { value_type: 'boolean', value_bool: false })
  await client.ok('DELETE', `/company-overrides/${made.id}`)
  await client.ok('DELETE', `/users/${user.id}`)
  await client.ok('DELETE', `/companies/${company.id}`)
  await here.until(9)
  t.same([...new Set(here.received.map(({ json }) => json.action))].sort(), [...types].sort())
  t.match(here.of('company.created')[0]!.json, {
    object_type: 'company',
    company_id: company.id,
    body: { id: company.id, name: 'Hooked', keys: [{ value: 'hooked' }] },
  })
  t.match(here.of('company.updated')[0]!.json.body.traits, { seats: 3 })
  t.match(here.of('company.deleted')[0]!.json.body, { id: company.id, name: 'Hooked' }, 'as it was')
  t.match(here.of('user.deleted')[0]!.json.body, { id: user.id, name: 'A', traits: { age: 4 } })
  t.match(here.of('company.override.created')[0]!.json, {
    object_type: 'company_override',
    company_id: company.id,
    feature_id: feature.id,
    body: { id: made.id, value_bool: true },
  })
  t.equal(here.of('company.override.updated')[0]!.json.body.value_bool, false)
  // EV-31 an event that makes a company and a user tells of both, and its use tells nothing
  here.received.length = 0
  const event = {
    event_type: 'track',
    body: { event: 'x', company: { slug: 'by-event' }, user: { email: 'b@hooked' } },
  }
  await client.ok('POST', '/events', event)
  await client.ok('POST', '/events', event)
  await here.until(2)
  await settled()
  const actions = here.received.map(({ json }) => json.action).filter(action => action.endsWith('.created'))
  t.same(actions.sort(), ['company.created', 'user.created'])
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('EN-53 usage that reaches a limit is published once, and again after a negative event', async t => {
  const here = await receiver(t)
  const feature = await client.ok('POST', '/features', {
    name: 'Metered',
    description: '',
    feature_type: 'event',
    event_subtype: 'metered',
  })
  const other = await client.ok('POST', '/features', {
    name: 'Other',
    description: '',
    feature_type: 'event',
    event_subtype: 'other',
  })
  const company = await client.ok('POST', '/companies', { keys: { slug: 'metered' }, name: 'Metered Ltd' })
  for (const { id } of [feature, other])
    await client.ok('POST', '/company-overrides', {
      company_id: company.id,
      feature_id: id,
      value_type: 'numeric',
      value_numeric: 10,
      metric_period: 'current_month',
    })
  const use = async (quantity: number, event = 'metered') =>
    client.ok('POST', '/events', {
      event_type: 'track',
      body: { event, company: { slug: 'metered' }, quantity },
    })
  await use(7) // nobody asks yet
  const webhook = await client.ok('POST', '/webhooks', {
    name: 'limits',
    url: here.url,
    request_types: ['entitlement.limit.warning', 'entitlement.limit.reached'],
    entitlement_trigger_configs: [{ feature_id: feature.id }],
  })
  const actions = async () => {
    await settled()
    return eventually(
      async () => here.received.map(({ json }) => json.action.replace('entitlement.limit.', '')),
      () => false,
      300,
    )
  }
  await use(10, 'other')
  await use(1)
  t.same(await actions(), ['warning'])
  t.match(here.received[0]!.json, {
    object_type: 'entitlement',
    company_id: company.id,
    feature_id: feature.id,
    body: {
      Allocation: 10,
      Usage: 8,
      MetricResetAt: /-01T00:00:00.000Z$/,
      Feature: { id: feature.id },
      company: { name: 'Metered Ltd' },
    },
  })
  await use(1)
  await use(1)
  await use(1)
  t.same((await actions()).sort(), ['reached', 'warning'])
  await use(-5)
  await use(5)
  t.same((await actions()).sort(), ['reached', 'reached', 'warning', 'warning'])
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
  await use(-5)
  await use(5)
  t.equal((await actions()).length, 4)
})

t.test('EN-61 an override that ends by its date is published once', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, 'company.override.expired')
  const feature = await client.ok('POST', '/features', {
    name: 'Short',
    description: '',
    feature_type: 'boolean',
  })
  const company = await client.ok('POST', '/companies', { keys: { slug: 'short' } })
  const ends = (slug: string, ms: number) =>
    client.ok('POST', '/company-overrides', {
      company_id: slug,
      feature_id: feature.id,
      value_type: 'boolean',
      value_bool: true,
      expiration_date: new Date(Date.now() + ms).toISOString(),
    })
  const made = await ends(company.id, 1_000)
  await ends((await client.ok('POST', '/companies', { keys: { slug: 'long' } })).id, 3_600_000)
  await here.until(1)
  for (let turn = 0; turn < 2; turn++) await tellExpired(tollgate.services)
  await settled()
  t.equal((await client.ok('GET', `/webhook-events?webhook_id=${webhook.id}`)).length, 1, 'not again')
  t.equal(here.received.length, 1)
  t.match(here.received[0]!.json, {
    action: 'company.override.expired',
    company_id: company.id,
    body: { id: made.id },
  })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('PB-34 a change of plans is published with its record', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, 'company.plan_changed')
  const plan = await client.ok('POST', '/plans', { name: 'Told', description: '', plan_type: 'plan' })
  await client.ok('PUT', `/plans/version/${plan.draft_version.id}/publish`, {
    migration_strategy: 'leave',
    excluded_company_ids: [],
  })
  const company = await client.ok('POST', '/companies', { keys: { slug: 'planned' }, base_plan_id: plan.id })
  await here.until(1)
  t.match(here.received[0]!.json, {
    object_type: 'plan_change',
    company_id: company.id,
    body: {
      company_id: company.id,
      action: 'company_upsert',
      base_plan: { id: plan.id, name: 'Told' },
      add_ons_added: [],
    },
  })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('EN-53 use that reaches 80 and 100 % of credits is published', async t => {
  const here = await receiver(t)
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const { plan, subtype } = await world.metered(credit.id, 1)
  const { id: companyId, keys } = await world.company({ base_plan_id: plan.id })
  await world.grant(companyId, credit.id, 10)
  const webhook = await hook(here.url, 'credit.limit.warning', 'credit.limit.reached')
  for (const quantity of [7, 1, 1, 1]) await world.track(subtype, keys, { quantity })
  await here.until(2)
  const [warning, reached] = [...here.of('credit.limit.warning'), ...here.of('credit.limit.reached')]
  const body = { company: { id: companyId }, credit: { id: credit.id }, limit: 10 }
  t.match(warning!.json, {
    action: 'credit.limit.warning',
    company_id: companyId,
    body: { ...body, balance: 2 },
  })
  t.match(reached!.json, {
    action: 'credit.limit.reached',
    object_type: 'credit_limit',
    body: { ...body, balance: 0 },
  })
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('a delivery that fails is tried again, at most five times, each wait longer', async t => {
  const here = await receiver(t)
  here.answers.push(500, 503)
  const webhook = await hook(here.url, 'flag.created')
  await client.ok('POST', '/flags', flagBody('twice'))
  await here.until(3)
  t.equal(new Set(here.received.map(({ text }) => text)).size, 1, 'the same body each time')
  const [row] = await eventually(
    () => deliveriesOf(webhook.id),
    rows => rows[0].status === 'success',
  )
  t.match(row, { status: 'success', attempt_count: 3, response_code: 200 })
  here.answers.push(...Array.from({ length: 7 }, () => 400))
  await client.ok('POST', '/flags', flagBody('never'))
  const failed = await eventually(
    () => deliveriesOf(webhook.id),
    rows => rows[0].status === 'failure',
  )
  t.match(failed[0], { status: 'failure', attempt_count: 6, response_code: 400 })
  t.equal(here.received.length, 9)
  const waits = [1, 2, 3, 4, 5].map(n => retryDelayMs(5_000, n, 0.5))
  t.same(waits, [5_000, 20_000, 80_000, 320_000, 1_280_000])
  t.equal(retryDelayMs(5_000, 1, 0), 4_000)
  t.ok(retryDelayMs(5_000, 1, 0.999_999) <= 6_000)
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('a redirect is not followed', async t => {
  const here = await receiver(t)
  const there = await receiver(t)
  here.answers.push({ status: 302, location: there.url })
  const webhook = await hook(here.url, 'flag.created')
  const result = await client.ok('POST', `/webhooks/${webhook.id}/test`, { request_type: 'flag.created' })
  t.match(result, { success: false, response_code: 302, failure_reason: /302/ })
  t.equal(there.received.length, 0)
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test('a test sends one request now and says how it ended', async t => {
  const here = await receiver(t)
  const webhook = await hook(here.url, 'flag.created')
  t.same(await client.ok('POST', `/webhooks/${webhook.id}/test`, { request_type: 'company.created' }), {
    success: true,
    response_code: 200,
    failure_reason: null,
  })
  t.match(here.received[0]!.json, { action: 'company.created', object_type: 'company', body: { test: true } })
  t.ok(isSigned(here.received[0]!, webhook.secret))
  await client.ok('PUT', `/webhooks/${webhook.id}`, { url: 'http://127.0.0.1:1/' })
  t.match(await client.ok('POST', `/webhooks/${webhook.id}/test`, { request_type: 'test.send' }), {
    success: false,
    response_code: 0,
    failure_reason: 'The endpoint could not be reached',
  })
  t.match(await deliveriesOf(webhook.id), [{ status: 'failure', response_code: null }, { status: 'success' }])
  await client.ok('DELETE', `/webhooks/${webhook.id}`)
})

t.test(
  'an endpoint that fails ≥ 90 % of ≥ 25 deliveries is switched off; switched on it begins anew',
  async t => {
    const webhook = await hook('http://127.0.0.1:1/', 'flag.created')
    const { sql } = tollgate.services
    const insert = (count: number, status: string) => sql`
    insert into webhook_events (id, webhook_id, environment_id, request_type, payload, status, attempt_count, sent_at,
      next_attempt_at, created_at, updated_at)
    select 'whev_' || gen_random_uuid(), ${webhook.id}, w.environment_id, 'flag.created', '{}', ${status}, 6, now(),
      now(), now(), now()
    from webhooks w, generate_series(1, ${count}) where w.id = ${webhook.id}`
    await insert(3, 'success')
    await insert(23, 'failure')
    const status = async () => (await client.ok('GET', `/webhooks/${webhook.id}`)).status
    const failOne = async (key: string) => {
      await client.ok('POST', '/flags', flagBody(key))
      const count = (rows: { status: string }[]) => rows.filter(row => row.status === 'pending').length
      await eventually(
        () => deliveriesOf(webhook.id),
        rows => count(rows) === 0,
      )
    }
    await failOne('off-1')
    t.equal(await status(), 'active', '24 of 27 have failed: 88.9 %')
    await insert(5, 'failure')
    await failOne('off-2')
    t.equal(await eventually(status, now => now === 'inactive'), 'inactive', '30 of 33')
    await tollgate.services.webhooks.load()
    const before = (await deliveriesOf(webhook.id)).length
    await client.ok('POST', '/flags', flagBody('off-3'))
    t.equal((await deliveriesOf(webhook.id)).length, before, 'an inactive webhook is told nothing')
    await client.ok('PUT', `/webhooks/${webhook.id}`, { status: 'active' })
    await failOne('off-4')
    t.equal(await status(), 'active')
    await client.ok('DELETE', `/webhooks/${webhook.id}`)
  },
)

t.test('private addresses are not reached unless a setting allows it', async t => {
  const { client: strict, tollgate: one } = await startHere(t)
  const here = await receiver(t)
  for (const url of [
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://localhost:3000/',
    'http://2130706433/',
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
  ])
    t.match(
      await strict.post('/webhooks', { name: 'x', url, request_types: [] }),
      { status: 400, body: { error: /private/ } },
      url,
    )
  const webhook = await strict.ok('POST', '/webhooks', {
    name: 'x',
    url: 'https://example.com/',
    request_types: [],
  })
  // as if a name had come to stand for this machine
  await one.services.sql`update webhooks set url = ${here.url} where id = ${webhook.id}`
  t.match(await strict.ok('POST', `/webhooks/${webhook.id}/test`, { request_type: 'test.send' }), {
    success: false,
    response_code: 0,
    failure_reason: 'The endpoint could not be reached',
  })
  t.equal(here.received.length, 0)
})

t.test('a restart goes on with what was not delivered', async t => {
  const dataDir = await temporaryDirectory(t)
  const here = await receiver(t)
  const slow = { ...settings, TOLLGATE_WEBHOOK_RETRY_MS: '3000', TOLLGATE_DATA_DIR: dataDir }
  const first = await startHere(t, slow)
  here.answers.push(500)
  const webhook = await first.client.ok('POST', '/webhooks', {
    name: 'x',
    url: here.url,
    request_types: ['flag.created'],
  })
  await first.client.ok('POST', '/flags', flagBody('later'))
  await here.until(1)
  await eventually(
    () => deliveriesOf(webhook.id, first.client),
    rows => rows[0].attempt_count === 1,
  )
  await first.tollgate.stop()
  const second = await startHere(t, slow)
  await here.until(2)
  t.equal(here.received[1]!.text, here.received[0]!.text)
  const [row] = await eventually(
    () => deliveriesOf(webhook.id, second.client),
    rows => rows[0].status === 'success',
  )
  t.match(row, { status: 'success', attempt_count: 2 })
})

t.test('which addresses are private', async t => {
  const closed = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'nonsense',
  ]
  for (const address of closed) t.equal(isPrivateAddress(address), true, address)
  for (const address of [
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ])
    t.equal(isPrivateAddress(address), false, address)
  t.equal(urlProblem('http://localhost./', false), 'names a private address')
  t.equal(urlProblem('http://localhost./', true), null)
  t.equal(urlProblem('https://example.com/x?y=1', false), null)
})

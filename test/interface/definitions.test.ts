// Definitions over HTTP: who may touch them, and that the next check on any connection sees them.
import t from 'tap'
import { type Client, startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const flagBody = (key: string, over: object = {}) => ({
  key,
  name: key,
  description: '',
  flag_type: 'boolean',
  default_value: false,
  ...over,
})
const ruleOf = (conditions: object[], over: object = {}) => ({
  name: 'r',
  priority: 0,
  value: true,
  conditions,
  condition_groups: [],
  ...over,
})

async function check(client: Client, key: string, company: object): Promise<boolean> {
  return (await client.ok('POST', `/flags/${key}/check`, { company })).value
}

t.test('one Tollgate', async t => {
  const { client } = await startHere(t)

  await t.test('keys, environments and scopes at the door', async t => {
    const whoami = await client.ok('GET', '/whoami')
    const [development, production] = whoami.environments
    t.match(whoami, {
      environment_id: development.id,
      environments: [{ name: 'Development' }, { name: 'Production' }],
    })

    const account = client.as((await client.ok('POST', '/api-keys', { name: 'account' })).secret)
    const made = await client.ok('POST', '/api-keys', { name: 'prod', environment_id: production.id })
    const prod = client.as(made.secret)
    const reader = client.as(
      (await client.ok('POST', '/api-keys', { name: 'r', environment_id: production.id, readonly: true }))
        .secret,
    )

    t.match(await client.get('/api-keys'), { status: 400, body: { error: /require_environment/ } })
    t.match(await client.get('/api-keys?require_environment=true&limit=1'), {
      status: 200,
      body: { data: [{ id: made.id.constructor }], params: { require_environment: true, limit: 1 } },
    })
    t.match(await prod.get('/api-keys?require_environment=false'), { status: 403 }, 'AL-20')
    t.match(await prod.post('/environments', { name: 'x', environment_type: 'staging' }), { status: 403 })
    t.match(await reader.get('/flags'), { status: 200, body: { data: [], params: {} } })
    t.match(await reader.post('/flags', flagBody('x')), { status: 403 }, 'AL-21')
    t.match(await client.get(`/api-keys/${made.id}`), {
      status: 200,
      body: { data: { id: made.id }, params: {} },
    })
    t.match(await client.put(`/api-keys/${made.id}`, { rate_limit_percent: 100 }), {
      status: 400,
      body: { error: /rate_limit_percent/ },
    })
    t.match(await client.post('/api-keys', { name: '' }), { status: 400, body: { error: /name/ } })
    t.match(await client.post('/flags', flagBody('x', { flag_type: 'string' })), {
      status: 400,
      body: { error: /flag_type/ },
    })

    const flag = await account.ok('POST', '/flags', flagBody('shared'))
    t.match(await account.get(`/flags/${flag.id}`), { status: 200 }, 'AL-11 flags by id need no environment')
    t.match(await account.put(`/flags/${flag.id}/rules`, { rules: [] }), {
      status: 400,
      body: { error: /environment required/ },
    })
    const named = account.as(account.key, { 'X-Service-Environment-Id': production.id })
    t.match(await named.put(`/flags/${flag.id}/rules`, { rules: [ruleOf([])] }), { status: 200 })
    t.equal(await check(prod, 'shared', { a: '1' }), true)
    t.equal(await check(client, 'shared', { a: '1' }), false, 'PB-1 rules are of one environment')

    t.match(await client.del(`/api-keys/${made.id}`), {
      status: 200,
      body: { data: { deleted: true }, params: {} },
    })
    t.match(await prod.get('/flags'), { status: 401 }, 'AL-3 at once')
    t.match(await client.del(`/environments/${development.id}`), { status: 400 }, 'AL-6')

    const staging = await client.ok('POST', '/environments', { name: 'Staging', environment_type: 'staging' })
    const publishable = client.as(staging.api_keys[0].secret)
    t.match(await publishable.post('/flags/shared/check', {}), { status: 200 })
    const inStaging = account.as(account.key, { 'X-Service-Environment-Id': staging.id })
    const event = { event_type: 'track', body: { event: 'call', company: { slug: 'doomed' } } }
    t.match(await publishable.post('/events', event), { status: 201 })
    t.match(await inStaging.get('/companies/lookup?slug=doomed'), { status: 200 })
    t.match(await publishable.get('/flags'), { status: 403 }, 'AL-22')
    t.match(await client.del(`/environments/${staging.id}`), { status: 200 })
    t.match(await publishable.post('/flags/shared/check', {}), { status: 401 }, 'AL-13')
    t.match(await inStaging.get('/companies/lookup?slug=doomed'), { status: 404 })
  })

  await t.test('an acknowledged definition applies to the next check on any connection', async t => {
    const flag = await client.ok('POST', '/flags', flagBody('toggled'))
    let stale = 0
    for (let i = 1; i <= 30; i++) {
      await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [ruleOf([], { value: i % 2 === 1 })] })
      const seen = await Promise.all(
        Array.from({ length: 8 }, (_, n) => check(client, 'toggled', { n: `${n}` })),
      )
      stale += seen.filter(value => value !== (i % 2 === 1)).length
    }
    t.equal(stale, 0)

    const writers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? client.put(`/flags/${flag.id}/rules`, { rules: [ruleOf([], { name: `w${i}` })] })
          : client.put(`/flags/${flag.id}`, flagBody('toggled', { name: `n${i}` })),
      ),
    )
    t.ok(
      writers.every(response => response.status === 200),
      'concurrent writers: no 5xx',
    )
    let final = await client.ok('GET', `/flags/${flag.id}`)
    t.equal(final.rules.length, 1)
    const reason = (await client.ok('POST', '/flags/toggled/check', {})).reason
    t.match(reason, final.rules[0].name, 'what is shown is what decides')
    const until = Date.now() + 60_000
    while (final.last_checked_at === null && Date.now() < until) {
      await new Promise(resolve => setTimeout(resolve, 100))
      final = await client.ok('GET', `/flags/${flag.id}`)
    }
    t.ok(final.last_checked_at, 'FE-102')
  })

  await t.test(
    'CU-31 CU-37 a trait is defined at first sight, and a rule on it follows its type',
    async t => {
      await client.ok('POST', '/events', {
        event_type: 'identify',
        body: {
          keys: { id: 'u' },
          company: { keys: { slug: 'acme' }, name: 'Acme', traits: { tier: '10', geo: { city: 'X' } } },
        },
      })
      // Seen by the event; its row follows.
      let defined: { id: string; trait_type: string }[] = []
      for (let i = 0; i < 100 && defined.length < 2; i++) {
        defined = await client.ok('GET', '/entity-trait-definitions?entity_type=company')
        if (defined.length < 2) await new Promise(resolve => setTimeout(resolve, 50))
      }
      t.same(
        defined.map(trait => trait.trait_type),
        ['string', 'string'],
      )
      const [tier] = (await client.ok('GET', '/entity-trait-definitions?q=tier')) as { id: string }[]
      const flag = await client.ok('POST', '/flags', flagBody('tiered'))
      const condition = {
        condition_type: 'trait',
        operator: 'gt',
        resource_ids: [],
        trait_id: tier!.id,
        trait_value: '9',
      }
      await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [ruleOf([condition])] })
      t.equal(await check(client, 'tiered', { slug: 'acme' }), false, 'FE-63 "10" is before "9" as text')
      await client.ok('PUT', `/entity-trait-definitions/${tier!.id}`, { trait_type: 'number' })
      t.equal(await check(client, 'tiered', { slug: 'acme' }), true, 'FE-64 and after it as a number')
    },
  )
})

t.test(
  'decisions 10, 11 the test clock moves windows, and survives a restart with everything else',
  async t => {
    const dataDir = await temporaryDirectory(t)
    const first = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
    const { client } = first
    const { environment_id: id } = await client.ok('GET', '/whoami')
    const flag = await client.ok('POST', '/flags', flagBody('busy'))
    const condition = {
      condition_type: 'metric',
      operator: 'gte',
      resource_ids: [],
      event_subtype: 'call',
      metric_period: 'current_day',
      metric_value: 1,
    }
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [ruleOf([condition])] })
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: { slug: 'c' } },
    })
    t.equal(await check(client, 'busy', { slug: 'c' }), true)
    await client.ok('PUT', `/environments/${id}/clock`, { offset_seconds: 86_400 })
    t.equal(await check(client, 'busy', { slug: 'c' }), false, 'a day later the day’s counter starts again')
    const account = (await client.ok('POST', '/api-keys', { name: 'kept' })).secret
    await first.tollgate.stop()

    const second = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
    t.match(await second.client.ok('GET', `/environments/${id}/clock`), {
      offset_seconds: 86_400,
      test_clock: true,
    })
    t.equal(await check(second.client, 'busy', { slug: 'c' }), false)
    t.match(await second.client.as(account).ok('GET', '/whoami'), { environment_id: null })
    await second.client.ok('DELETE', `/environments/${id}/clock`)
    t.match(await second.client.ok('GET', `/environments/${id}/clock`), { test_clock: false })
  },
)

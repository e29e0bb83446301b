// The reads made for the console: short lists, search, figures over all companies, denied checks, drafts, the service.
import t from 'tap'
import { startHere } from '../harness.js'

t.setTimeout(180_000)

t.test('reads', async t => {
  const { client, tollgate } = await startHere(t)
  const feature = await client.ok('POST', '/features', {
    name: 'API calls',
    description: '',
    feature_type: 'event',
    event_subtype: 'api_call',
    flag: {
      key: 'api-calls',
      name: 'API calls',
      description: '',
      default_value: false,
      flag_type: 'boolean',
    },
  })
  const plan = await client.ok('POST', '/plans', { name: 'Team', description: '', plan_type: 'plan' })
  await client.ok('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 10,
    metric_period: 'current_month',
  })
  const draft = (await client.ok('GET', `/plans/${plan.id}/draft-diff`)).draft_version
  await client.ok('PUT', `/plans/version/${draft.id}/publish`, {
    excluded_company_ids: [],
    migration_strategy: 'leave',
  })
  const ids: string[] = []
  for (const [name, used] of [
    ['Acme', 3],
    ['Globex', 12],
    ['Initech', 1],
  ] as const) {
    const { id } = await client.ok('POST', '/companies', { name, keys: { slug: name.toLowerCase() } })
    ids.push(id)
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
    const body = { event: 'api_call', company: { slug: name.toLowerCase() }, quantity: used }
    await client.ok('POST', '/events', { event_type: 'track', body })
  }
  await client.ok('POST', '/users', {
    keys: { email: 'jane@globex.example' },
    name: 'Jane Doe',
    company: { slug: 'globex' },
  })

  await t.test('a short list of companies has the closest limit, and is sorted by it', async t => {
    const rows = await client.ok('GET', '/companies?view=summary&sort_order_column=closest_limit')
    t.same(
      rows.map((row: { name: string }) => row.name),
      ['Globex', 'Acme', 'Initech'],
    )
    t.match(rows[0], {
      plan: { name: 'Team' },
      closest_limit: { feature_name: 'API calls', usage: 12, limit: 10, percent: 120 },
    })
    const found = await client.ok('GET', '/companies?view=summary&sort_order_column=closest_limit&q=acme')
    t.same(found.length, 1)
    t.equal((await client.get('/companies?sort_order_column=closest_limit')).status, 400)
    const byName = await client.ok('GET', '/companies?view=summary&sort_order_column=name&limit=1')
    t.equal(byName[0].name, 'Acme')
    t.ok(JSON.stringify(byName).length < 600, 'a row is short')
  })

  await t.test('a short list of companies is sorted by use of a feature in a window', async t => {
    const byUse = (more: string) =>
      client.ok(
        'GET',
        `/companies?view=summary&sort_order_column=usage&usage_feature_id=${feature.id}${more}`,
      )
    const used = (rows: readonly { name: string; usage: number }[]) => rows.map(row => [row.name, row.usage])
    t.same(used(await byUse('')), [
      ['Globex', 12],
      ['Acme', 3],
      ['Initech', 1],
    ])
    t.same(used(await byUse('&limit=1&offset=1')), [['Acme', 3]])
    t.same(used(await byUse('&sort_order_direction=asc&limit=1')), [['Initech', 1]])
    t.same(used(await byUse('&q=acme')), [['Acme', 3]], 'another filter leaves some')
    t.same(await byUse('&usage_end_time=2020-01-01T00:00:00Z'), [], 'nobody used it then')
    t.match(await byUse('&usage_start_time=2026-01-01T00:00:00Z&limit=1'), [
      { usage: 12, plan: { name: 'Team' } },
    ])
    const refused = async (query: string) =>
      (await client.get(`/companies?sort_order_column=usage${query}`)).status
    t.equal(await refused(`&usage_feature_id=${feature.id}`), 400, 'short lists alone')
    t.equal(await refused('&view=summary'), 400, 'of which feature?')
    t.equal(await refused('&view=summary&usage_feature_id=feat_unknown'), 404)
    const onOff = await client.ok('POST', '/features', { name: 'SSO', feature_type: 'boolean' })
    t.equal(await refused(`&view=summary&usage_feature_id=${onOff.id}`), 400, 'events do not count it')
    await client.ok('DELETE', `/features/${onOff.id}`)
  })

  await t.test('short lists of plans, features and flags', async t => {
    t.match(await client.ok('GET', '/plans?view=summary'), [
      {
        name: 'Team',
        company_count: 3,
        entitlement_count: 1,
        published_version: { version: 1 },
        draft_version: null,
        terms: { charge_type: 'none', prices: [] },
      },
    ])
    const [offered] = await client.ok('GET', '/plans?view=summary&with_entitlements=true')
    t.match(offered, {
      description: '',
      entitlements: [
        {
          feature_id: feature.id,
          feature_name: 'API calls',
          value_type: 'numeric',
          value_numeric: 10,
          metric_period: 'current_month',
          credit_name: null,
        },
      ],
    })
    t.ok(JSON.stringify(offered).length < 1_000, 'a row is short')
    t.match(await client.ok('GET', '/features?view=summary'), [
      { name: 'API calls', flag: { key: 'api-calls' }, plan_count: 1 },
    ])
    t.match(await client.ok('GET', '/flags?view=summary'), [{ key: 'api-calls', rule_count: 0 }])
  })

  await t.test('search finds all kinds, by a piece, and with a typing error', async t => {
    const first = async (q: string) => (await client.ok('GET', `/search?q=${encodeURIComponent(q)}`))[0]
    t.match(await first('globex'), { type: 'company', name: 'Globex' })
    t.match(await first('globx'), { type: 'company', name: 'Globex' })
    t.match(await first('Jane'), { type: 'user', name: 'Jane Doe' })
    t.match(await first('Teem'), { type: 'plan', name: 'Team' })
    t.match(await first('api-cals'), { name: 'API calls' })
    t.match(await first(ids[0]!), { type: 'company', name: 'Acme' })
    t.same(await client.ok('GET', '/search?q=zzzzzz'), [])
  })

  await t.test('events by time, status, name and value, with a count', async t => {
    t.equal((await client.ok('GET', '/events/count?event_subtype=api_call')).count, 3)
    t.equal((await client.ok('GET', '/events/count?min_value=3')).count, 2)
    t.equal((await client.ok('GET', '/events?min_value=3&max_value=3')).length, 1)
    t.equal((await client.ok('GET', '/events/count?status=failed')).count, 0)
    t.equal((await client.ok('GET', '/events/count?start_time=2099-01-01T00:00:00Z')).count, 0)
    t.equal((await client.ok('GET', '/events?end_time=2020-01-01T00:00:00Z')).length, 0)
  })

  await t.test('use over all companies by day, and the companies that use most', async t => {
    const [usage] = await client.ok('GET', '/usage-by-day?days=3')
    t.match(usage, { feature_name: 'API calls', total: 16 })
    t.equal(usage.points.length, 3)
    t.equal(usage.points[2].quantity, 16)
    const top = await client.ok('GET', `/top-companies?feature_id=${feature.id}`)
    t.same(
      top.map((row: { company_name: string; quantity: number }) => [row.company_name, row.quantity]),
      [
        ['Globex', 12],
        ['Acme', 3],
        ['Initech', 1],
      ],
    )
  })

  await t.test('denied checks by flag, company and minute (FE-100)', async t => {
    for (let i = 0; i < 3; i++)
      await client.ok('POST', '/flags/api-calls/check', { company: { slug: 'globex' } })
    await client.ok('POST', '/flags/api-calls/check', { company: { slug: 'acme' } })
    await tollgate.services.shards.tellChecks()
    let rows: { checks: number }[] = []
    const denied = () => rows.reduce((sum, { checks }) => sum + checks, 0)
    for (let i = 0; i < 120 && denied() < 3; i++) {
      // the length differs, so that each is worked out anew
      rows = await client.ok('GET', `/denied-checks?by=flag&by=company&by=minute&limit=${100 + i}`)
      if (denied() < 3) await new Promise(resolve => setTimeout(resolve, 250))
    }
    t.equal(denied(), 3)
    t.match(rows[0], { flag_key: 'api-calls', company_name: 'Globex', reason: null, minute: /:00\.000Z$/ })
  })

  await t.test('EX-8 checks of a flag and their denials, also by the rule that decided', async t => {
    let rows: { checks: number; denied: number; reason: string | null }[] = []
    const checks = () => rows.reduce((sum, one) => sum + one.checks, 0)
    for (let i = 0; i < 120 && checks() < 4; i++) {
      rows = await client.ok('GET', `/flag-checks?flag_key=api-calls&limit=${100 + i}`)
      if (checks() < 4) await new Promise(resolve => setTimeout(resolve, 250))
    }
    t.same(rows, [{ flag_key: 'api-calls', reason: null, checks: 4, denied: 3 }])
    const byReason = await client.ok('GET', '/flag-checks?flag_key=api-calls&by=reason')
    t.match(byReason, [
      { checks: 3, denied: 3, reason: /\(rule_\w+\)/ },
      { checks: 1, denied: 0, reason: /\(rule_\w+\)/ },
    ])
    t.equal((await client.get('/flag-checks?by=company')).status, 400)
  })

  await t.test('a draft’s differences', async t => {
    const [row] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${row.id}`, { value_numeric: 8 })
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, { monthly_price: 4900, trial_days: 14 })
    t.match(await client.ok('GET', `/plans/${plan.id}/draft-diff`), {
      published_version: { version: 1 },
      draft_version: { version: 2 },
      company_count: 3,
      plan_type: 'plan',
      versions: [
        { version: 2, status: 'draft' },
        { version: 1, status: 'published' },
      ],
      terms: {
        charge_type: 'recurring',
        currency: 'usd',
        trial_days: 14,
        prices: [{ currency: 'usd', cadence: 'monthly', price: '4900' }],
      },
      changes: [
        { kind: 'plan', member: 'charge_type', before: 'none', after: 'recurring' },
        { kind: 'plan', member: 'trial_days', before: null, after: '14' },
        { kind: 'price', member: 'price usd monthly', before: null, after: '4900' },
        {
          kind: 'entitlement',
          change: 'changed',
          name: 'API calls',
          member: 'value',
          before: '10',
          after: '8',
        },
      ],
    })
  })

  await t.test('audit by entity, with before and after', async t => {
    await client.ok('PUT', `/features/${feature.id}`, { name: 'Calls' })
    await client.ok('PUT', `/features/${feature.id}`, { name: 'API calls' })
    const [row] = await client.ok('GET', `/audit-log?resource_id=${feature.id}&resource_type=feature`)
    const entry = await client.ok('GET', `/audit-log/${row.id}`)
    t.match(entry.before, /"name":"Calls"/)
    t.match(entry.resp_body, /"name":"API calls"/)
  })

  await t.test('explain: each rule, what it saw, what decided, and what would change it', async t => {
    const why = await client.ok('POST', '/flags/api-calls/explain', { company: { slug: 'globex' } })
    t.match(why, {
      value: false,
      company_name: 'Globex',
      rules: [
        { matched: false, value: true, conditions: [{ saw: '12', expected: '10', held: false }] },
        { matched: true, decided: true, value: false, origin: 'plan' },
      ],
      smallest_change: { needs: 'match', text: /a limit of at least 13/ },
    })
    t.equal((await client.post('/flags/none/explain', {})).status, 404)
    t.match(await client.ok('POST', '/flags/api-calls/explain', { company_id: ids[0] }), { value: true })
  })

  await t.test('the service about itself; scopes and name in whoami', async t => {
    t.match(await client.ok('GET', '/system'), {
      status: 'ready',
      stores: [
        { name: 'postgres', answers: true },
        { name: 'clickhouse', answers: true },
      ],
      fronts: [{ front: Number, answers: true }],
      shards: [{ shard: 0 }, { shard: 1 }],
      nodes: [{ this_node: true }],
    })
    t.match(await client.ok('GET', '/whoami'), { name: 'Bootstrap key', readonly: false, expires_at: null })
  })

  await t.test('a token reads the portal of its company alone', async t => {
    const { token } = await client.ok('POST', '/temporary-access-tokens', {
      lookup: { slug: 'globex' },
      resource_type: 'company',
    })
    const portal = client.as(token)
    t.match(await portal.ok('GET', '/portal'), {
      company: { name: 'Globex' },
      plan: { name: 'Team' },
      features: [{ name: 'API calls', usage: 12, limit: 10, allowed: false }],
    })
    t.equal((await portal.get(`/portal?company_id=${ids[0]}`)).status, 403)
    t.equal((await portal.get('/companies')).status, 401)
    t.equal((await portal.post('/companies', { keys: { slug: 'y' } })).status, 401)
    t.match(await client.ok('GET', `/portal?company_id=${ids[0]}`), { company: { name: 'Acme' } })
  })
})

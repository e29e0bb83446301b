// Companies and their plans over HTTP: what is given at creation, what lists find, what a company shows.
import t from 'tap'
import { startHere } from '../harness.js'
import { booleanFeature, eventFeature, publishDraftOf, publishedPlan } from './planned.js'

t.test('companies and plans', async t => {
  const { client } = await startHere(t)
  const { post } = client
  let made = 0
  const fresh = () => ({ slug: `fresh-${++made}` })
  const named = (search: string) =>
    client
      .ok('GET', `/companies?sort_order_column=name&${search}`)
      .then((list: { name: string }[]) => list.map(({ name }) => name))

  const calls = await eventFeature(client, 'calls', 'call')
  const sso = await booleanFeature(client, 'sso')
  const pro = await publishedPlan(client, 'Pro', [
    { feature_id: calls.id, value_type: 'numeric', value_numeric: 10, metric_period: 'current_day' },
  ])
  const basic = await publishedPlan(client, 'Basic', [
    { feature_id: sso.id, value_type: 'boolean', value_bool: true },
  ])

  await t.test('EN-81 a base plan at creation', async t => {
    const keys = fresh()
    const acme = await client.ok('POST', '/companies', { keys, name: 'acme', base_plan_id: pro.id })
    t.match(acme.plan, { id: pro.id, name: 'Pro', plan_version_id: pro.active_version.id })
    t.equal(acme.plan.added_on, acme.created_at)
    t.same(acme.plans, [{ id: pro.id, name: 'Pro', description: '', image_url: null }])
    t.match(acme.entitlements, [{ feature_id: calls.id, feature_key: 'calls', allocation: 10, usage: 0 }])
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: keys, quantity: 4 },
    })
    const used = await client.ok('GET', `/companies/${acme.id}`)
    t.equal(used.entitlements[0].usage, 4, 'EN-51')
    const again = await client.ok('POST', '/companies', { keys, base_plan_id: basic.id })
    t.equal(again.plan.id, pro.id, 'CU-18 ignored for one that is there')
    const created = await post('/companies/create', { keys: fresh(), name: 'basics', base_plan_id: basic.id })
    t.equal(created.body.data.plan.id, basic.id)
  })

  await t.test('EN-81, EN-84 what cannot be given: 400 and no company', async t => {
    const draft = await client.ok('POST', '/plans', { name: 'Draft', plan_type: 'plan' })
    const addOn = await publishedPlan(client, 'Extra', [], { plan_type: 'add_on' })
    const priced = await client.ok('POST', '/plans', { name: 'Priced', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${priced.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 0,
      yearly_price: 500,
    })
    const sold = await publishDraftOf(client, priced.id)
    const [free, dear] = [sold.monthly_price.id, sold.yearly_price.id]
    const other = await client.ok('POST', '/companies', { keys: fresh(), name: 'other' })
    const custom = await client.ok('POST', '/custom-plans', {
      company_id: other.id,
      name: 'Custom',
      copied_from_plan_id: pro.id,
    })
    await publishDraftOf(client, custom.id)
    for (const [title, status, body] of [
      ['a plan without a published version', 400, { base_plan_id: draft.id }],
      ['an add-on', 400, { base_plan_id: addOn.id }],
      ['a linked plan without a price', 400, { base_plan_id: priced.id }],
      ['a price that costs', 400, { base_plan_id: priced.id, base_plan_price_id: dear }],
      ['a price nobody has', 400, { base_plan_id: priced.id, base_plan_price_id: 'bilpp_22222222222' }],
      ['a price for a plan without', 400, { base_plan_id: pro.id, base_plan_price_id: free }],
      ['the custom plan of another company', 400, { base_plan_id: custom.id }],
      ['no such plan', 404, { base_plan_id: 'plan_22222222222' }],
    ] as const) {
      const keys = fresh()
      t.equal((await post('/companies', { keys, ...body })).status, status, title)
      t.equal((await post('/companies/create', { keys, ...body })).status, status, `${title}, created`)
      t.equal((await client.get(`/companies/lookup?slug=${keys.slug}`)).status, 404, 'no company is made')
    }
    const keys = fresh()
    const linked = await client.ok('POST', '/companies', {
      keys,
      name: 'linked',
      base_plan_id: priced.id,
      base_plan_price_id: free,
    })
    t.match(linked.plan, { id: priced.id, plan_price: 0, plan_period: 'month' })
    t.match(linked.plan.billing_product_id, /^bilp_/)
    t.type(linked.plan.billing_product_external_id, 'string')
    const racing = fresh()
    const answers = await Promise.all([
      post('/companies', { keys: racing, base_plan_id: draft.id }),
      post('/companies', { keys: racing, name: 'raced' }),
    ])
    t.same(
      answers.map(answer => answer.status),
      [400, 200],
      'the refused one leaves the other its keys',
    )
    t.equal((await client.ok('GET', `/companies/lookup?slug=${racing.slug}`)).name, 'raced')
  })

  await t.test('CU-61 lists by plan', async t => {
    t.same(await named(`plan_id=${pro.id}`), ['acme'])
    t.same(await named(`plan_ids=${pro.id}&plan_ids=${basic.id}`), ['acme', 'basics'])
    t.same(await named(`plan_id=${pro.id}&plan_ids=${basic.id}`), [], 'filters combine')
    t.same(await named('without_plan=true'), ['raced'], "PB-13 a free custom plan is its company's at once")
    t.same(await named(`with_entitlement_for=${sso.id}`), ['basics'])
    const first = pro.active_version.id
    await client.ok('PUT', `/plans/${pro.id}`, { name: 'Pro 2' })
    const second = (await publishDraftOf(client, pro.id)).active_version.id
    await client.ok('POST', '/companies', { keys: fresh(), name: 'newer', base_plan_id: pro.id })
    t.same(await named(`plan_version_id=${first}`), ['acme'], 'EN-85 pinned')
    t.same(await named(`plan_version_id=${first}&plan_version_ids=${second}`), ['newer'], 'the list wins')
    t.same(await named(`plan_version_ids=${first}&plan_version_ids=${second}`), ['acme', 'newer'])
    t.same(await named('plan_version_unpublished=true'), ['acme'], 'PB-8')
    t.same(await named(`plan_id=${pro.id}`), ['acme', 'newer'])
    t.same(await client.ok('GET', `/companies/count?plan_id=${pro.id}`), { count: 2 })
    await client.ok('POST', '/users', { keys: fresh(), name: 'ann', company: { slug: 'fresh-1' } })
    const users = await client.ok('GET', `/users?plan_id=${pro.id}`)
    t.same(
      users.map((user: { name: string }) => user.name),
      ['ann'],
    )
  })

  await t.test('EN-60 overrides and their rules', async t => {
    const acme = await client.ok('GET', '/companies/lookup?slug=fresh-1')
    t.same(acme.rules, [])
    const override = await client.ok('POST', '/company-overrides', {
      company_id: acme.id,
      feature_id: calls.id,
      value_type: 'numeric',
      value_numeric: 50,
      metric_period: 'current_day',
    })
    const now = await client.ok('GET', `/companies/${acme.id}`)
    t.match(now.entitlements, [{ feature_id: calls.id, allocation: 50, usage: 4 }])
    t.match(now.rules, [
      { id: override.rule_id, rule_type: 'company_override', value: true },
      { id: override.rule_id_usage_exceeded, rule_type: 'company_override_usage_exceeded', value: false },
    ])
    t.match(now.rules[0].conditions, [
      { condition_type: 'company', resource_ids: [acme.id] },
      { condition_type: 'metric', operator: 'lt', event_subtype: 'call', metric_value: 50 },
    ])
    t.equal(now.rules[0].flag_id, (await client.ok('GET', `/features/${calls.id}`)).flags[0].id)
    t.same(await named(`without_feature_override_for=${calls.id}&plan_id=${pro.id}`), ['newer'])
    t.same(await named(`with_entitlement_for=${calls.id}`), ['acme', 'newer', 'other'])
    await client.ok('DELETE', `/companies/${acme.id}`)
    t.same(await named(`with_entitlement_for=${calls.id}`), ['newer', 'other'])
    t.equal((await client.get(`/company-overrides/${override.id}`)).status, 404, 'CU-50')
  })
})

// Plans over HTTP, as a caller meets them: drafts, publishing, filters, prices, and what is refused.
import t from 'tap'
import { startHere } from '../harness.js'
import { companyOf, eventFeature, publishOnly as publish, publishedPlan as published } from './planned.js'
import { isShaped, shapes } from './shape.js'

t.test('plans', async t => {
  const { client, tollgate } = await startHere(t)
  const feature = await eventFeature(client, 'Exports', 'export')

  await t.test('PB-2 a new plan has version 1 as draft', async t => {
    const created = await client.post('/plans', { name: 'Pro', plan_type: 'plan' })
    t.equal(created.status, 201)
    const plan = created.body.data
    isShaped(t, plan, shapes.planDetail, 'PlanDetail')
    t.match(plan, {
      id: /^plan_/,
      name: 'Pro',
      description: '',
      icon: 'gray',
      plan_type: 'plan',
      billing_strategy: 'no_billing',
      charge_type: 'none',
      controlled_by: 'native',
      company_count: 0,
      is_default: false,
      is_trialable: false,
      entitlements: [],
      versions: [{ status: 'draft', version: 1 }],
      draft_version: { status: 'draft', version: 1, name: 'Pro' },
    })
    t.notOk('active_version' in plan)
    isShaped(t, plan.draft_version, shapes.planVersion, 'PlanVersion')
    t.same(created.body.params, {})
    t.same((await client.ok('GET', `/plans/${plan.id}`)).versions, plan.versions)
  })

  await t.test('AL-32 bodies and ids that are refused', async t => {
    const status = async (method: string, path: string, body?: unknown) =>
      (await client.send(method, path, body)).status
    t.equal(await status('POST', '/plans', { name: '', plan_type: 'plan' }), 400, 'empty name')
    t.equal(await status('POST', '/plans', { name: 'x'.repeat(257), plan_type: 'plan' }), 400, 'long name')
    t.equal(await status('POST', '/plans', { name: 'x', plan_type: 'add-on' }), 400, 'unknown type')
    t.equal(await status('POST', '/plans', { name: 'x', plan_type: 'plan', icon: 'ultraviolet' }), 400)
    t.equal(await status('GET', '/plans/plan_none'), 404)
    t.equal(await status('PUT', '/plans/plan_none', { name: 'x' }), 404)
    t.equal(await status('DELETE', '/plans/plan_none'), 404)
    t.equal(await status('PUT', '/plans/version/plvr_none/publish', publish), 404)
    t.equal(await status('DELETE', '/plans/version/plvr_none'), 404)
    t.equal(
      await status('PUT', '/plans/plan_none/billing_products', { charge_type: 'free', is_trialable: false }),
      404,
    )
    t.equal(await status('GET', '/plans?plan_type=other'), 400)
  })

  await t.test('PB-3, PB-5, PB-10 an edit makes a draft, publishing it archives what was', async t => {
    const plan = await published(client, 'Team')
    t.match(plan.active_version, { version: 1, status: 'published' })
    const edited = await client.ok('PUT', `/plans/${plan.id}`, {
      name: 'Team 2',
      description: 'now two',
      icon: 'blue',
    })
    t.match(edited, { name: 'Team 2', draft_version: { version: 2, name: 'Team 2' } })
    t.match(await client.ok('GET', `/plans/${plan.id}`), { name: 'Team', description: '', icon: 'gray' })
    const drafted = await client.ok('GET', `/plans/${plan.id}?plan_version_id=${edited.draft_version.id}`)
    t.match(drafted, { name: 'Team 2', description: 'now two', icon: 'blue' })
    const again = await client.ok('PUT', `/plans/${plan.id}`, { name: 'Team 3' })
    t.equal(again.draft_version.id, edited.draft_version.id, 'one draft')
    t.equal(again.description, 'now two', 'absent stays')

    const answer = await client.put(`/plans/version/${again.draft_version.id}/publish`, publish)
    t.equal(answer.status, 200)
    isShaped(t, answer.body.data, shapes.planVersion, 'PlanVersion')
    t.match(answer.body.data, {
      id: again.draft_version.id,
      status: 'published',
      version: 2,
      name: 'Team 3',
    })
    const now = await client.ok('GET', `/plans/${plan.id}`)
    t.equal(now.name, 'Team 3')
    t.notOk('draft_version' in now)
    t.match(now.versions, [
      { version: 2, status: 'published' },
      { version: 1, status: 'archived' },
    ])
    t.equal(
      (await client.put(`/plans/version/${plan.active_version.id}/publish`, publish)).status,
      400,
      'archived',
    )
    t.equal(
      (await client.put(`/plans/version/${again.draft_version.id}/publish`, publish)).status,
      400,
      'published',
    )
    const scheduled = { ...publish, migration_strategy: 'scheduled' }
    t.equal((await client.put(`/plans/version/${again.draft_version.id}/publish`, scheduled)).status, 400)
  })

  await t.test('PB-7, PB-10 discarding, deleting and promoting versions', async t => {
    const plan = await published(client, 'Numbers')
    const first = plan.active_version.id
    const draft = async () => (await client.ok('PUT', `/plans/${plan.id}`, { name: 'Numbers' })).draft_version
    const discarded = await draft()
    t.equal(discarded.version, 2)
    t.same((await client.del(`/plans/version/${discarded.id}`)).body.data, { deleted: true })
    t.equal((await client.del(`/plans/version/${discarded.id}`)).status, 404, 'AL-34 twice')
    const second = await draft()
    t.equal(second.version, 2, 'the number of a discarded draft is used again')
    await client.ok('PUT', `/plans/version/${second.id}/publish`, publish)
    t.equal((await client.del(`/plans/version/${second.id}`)).status, 400, 'published')
    const promoted = await client.del(`/plans/version/${second.id}?promote_archived_version=true`)
    t.same(promoted.body, {
      data: { deleted: true },
      params: { plan_version_id: second.id, promote_archived_version: true },
    })
    const now = await client.ok('GET', `/plans/${plan.id}`)
    t.match(now.versions, [{ id: first, status: 'published', version: 1 }])
    t.equal((await draft()).version, 3, 'the number of a published version is not')
    t.equal(
      (await client.del(`/plans/version/${first}?promote_archived_version=true`)).status,
      400,
      'none archived',
    )
  })

  await t.test('PB-1 a plan is the account’s, its versions are an environment’s', async t => {
    const plan = await published(client, 'Everywhere')
    const environments = tollgate.services.keys.environments(
      tollgate.services.keys.environment(plan.active_version.environment_id)!.accountId,
    )
    const production = environments.find(each => each.environmentType === 'production')!
    const key = await client.ok('POST', '/api-keys', { name: 'production', environment_id: production.id })
    const there = client.as(key.secret)
    const seen = await there.ok('GET', `/plans/${plan.id}`)
    t.match(seen, { name: 'Everywhere', versions: [], entitlements: [] })
    t.equal(
      (await there.get(`/plans/${plan.id}?plan_version_id=${plan.active_version.id}`)).status,
      404,
      'AL-10',
    )
    t.equal((await there.put(`/plans/version/${plan.active_version.id}/publish`, publish)).status, 404)
    const edited = await there.ok('PUT', `/plans/${plan.id}`, { name: 'Elsewhere' })
    t.match(edited.versions, [{ version: 1, status: 'draft', environment_id: production.id }])
    t.equal((await client.ok('GET', `/plans/${plan.id}`)).name, 'Everywhere')
  })

  await t.test('AL-11 plans by id at the level of the account, lists in an environment', async t => {
    const plan = await published(client, 'Of the account')
    const key = await client.ok('POST', '/api-keys', { name: 'account' })
    const account = client.as(key.secret)
    const seen = await account.ok('GET', `/plans/${plan.id}`)
    isShaped(t, seen, shapes.planDetail, 'PlanDetail')
    t.match(seen, { name: 'Of the account', versions: [{ id: plan.active_version.id }] })
    t.notOk('active_version' in seen, 'which is in force is an environment’s')
    t.equal((await account.get('/plans')).status, 400)
    t.equal((await account.put(`/plans/${plan.id}`, { name: 'x' })).status, 400)
    const there = account.as(key.secret, { 'X-Service-Environment-Id': plan.active_version.environment_id })
    t.match(await there.ok('GET', `/plans/${plan.id}`), { active_version: { id: plan.active_version.id } })
    const company = await companyOf(client, tollgate, 'elsewhere')
    const custom = await client.ok('POST', '/custom-plans', { company_id: company, name: 'Elsewhere' })
    const [production] = (await account.ok('GET', '/environments')).filter(
      (each: { environment_type: string }) => each.environment_type === 'production',
    )
    const other = account.as(key.secret, { 'X-Service-Environment-Id': production.id })
    t.equal((await other.get(`/plans/${custom.id}`)).status, 404, 'AL-10 a custom plan is in one environment')
    t.equal((await account.del(`/plans/${plan.id}`)).status, 200)
  })

  await t.test('PB-12 a deleted plan is gone from lists', async t => {
    const plan = await published(client, 'Short-lived')
    t.same((await client.del(`/plans/${plan.id}`)).body.data, { deleted: true })
    t.equal((await client.get(`/plans/${plan.id}`)).status, 404)
    t.equal((await client.del(`/plans/${plan.id}`)).status, 404)
    t.same(await client.ok('GET', '/plans?q=short-lived'), [])
  })

  await t.test('PB-5, PB-42, PB-43 prices live on the draft and are minted when it is published', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Paid', plan_type: 'plan' })
    const body = {
      charge_type: 'recurring',
      is_trialable: true,
      trial_days: 14,
      monthly_price: 1000,
      quarterly_price: 2700,
      yearly_price: 10_000,
      one_time_price: 5,
      currency_prices: [{ currency: 'eur', monthly_price: 900 }],
    }
    const answer = await client.put(`/plans/${plan.id}/billing_products`, body)
    t.equal(answer.status, 200)
    isShaped(t, answer.body.data, shapes.billingProductPlan, 'BillingProductPlan')
    t.match(answer.body.data, {
      plan_id: plan.id,
      charge_type: 'recurring',
      billing_strategy: 'service_managed',
      is_trialable: true,
      trial_days: 14,
      monthly_price_id: /^bilpp_/,
      one_time_price_id: null,
    })
    const draft = await client.ok('GET', `/plans/${plan.id}`)
    t.match(
      draft.currency_prices.map((each: { currency: string }) => each.currency),
      ['usd', 'eur'],
    )
    t.match(draft.quarterly_price, { price: 2700, interval: 'month', interval_count: 3, currency: 'usd' })
    isShaped(t, draft.monthly_price, shapes.billingPrice, 'BillingPrice')
    t.notOk('billing_product' in draft, 'nothing is sold yet')
    await client.ok('PUT', `/plans/version/${draft.draft_version.id}/publish`, publish)
    const sold = await client.ok('GET', `/plans/${plan.id}`)
    isShaped(t, sold.billing_product, shapes.billingProductDetail, 'BillingProductDetail')
    t.match(sold.billing_product, { name: 'Paid', provider_type: 'native', subscription_count: 0 })
    t.equal(sold.billing_product.prices.length, 4)
    t.equal(sold.monthly_price.id, draft.monthly_price.id)

    await client.ok('PUT', `/plans/${plan.id}/billing_products`, { ...body, monthly_price: 1200 })
    const changed = (await client.ok('GET', `/plans?ids=${plan.id}&include_draft_versions=true`))[0]
    t.equal(changed.monthly_price.price, 1200)
    t.not(changed.monthly_price.id, sold.monthly_price.id, 'a changed price is another price')
    t.equal(changed.yearly_price.id, sold.yearly_price.id, 'an unchanged one stays')
    t.equal((await client.ok('GET', `/plans/${plan.id}`)).monthly_price.price, 1000, 'PB-3')

    const refused = async (more: object) =>
      (await client.put(`/plans/${plan.id}/billing_products`, { ...body, ...more })).status
    t.equal(await refused({ currency_prices: [{ currency: 'usd', monthly_price: 1 }] }), 400, 'usd twice')
    t.equal(await refused({ billing_product_id: 'bilp_none' }), 404)
    t.equal(await refused({ monthly_price_id: 'bilpp_none' }), 404)
    t.equal(await refused({ monthly_price_id: sold.yearly_price.id }), 400, 'another interval')
    t.equal(await refused({ monthly_price: -1 }), 400)
  })

  await t.test('the filters of GET /plans', async t => {
    const company = { id: await companyOf(client, tollgate, 'filters') }
    const custom = await client.ok('POST', '/custom-plans', { company_id: company.id, name: 'F custom' })
    const other = { id: await companyOf(client, tollgate, 'others') }
    const foreign = await client.ok('POST', '/custom-plans', { company_id: other.id, name: 'F foreign' })
    const free = await published(client, 'F free')
    const addOn = await published(client, 'F add-on', [], { plan_type: 'add_on' })
    const paid = await client.ok('POST', '/plans', { name: 'F paid', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${paid.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 5,
    })
    await client.ok('PUT', `/plans/version/${paid.draft_version.id}/publish`, publish)
    const trial = await client.ok('POST', '/plans', { name: 'F trial', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${trial.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: true,
      trial_days: 7,
      monthly_price: 5,
    })
    await client.ok('POST', '/plan-entitlements', {
      feature_id: feature.id,
      plan_id: free.id,
      value_type: 'unlimited',
    })
    const names = async (filter: string) => {
      const listed = await client.ok('GET', `/plans?q=F%20&${filter}`)
      const { count } = await client.ok('GET', `/plans/count?q=F%20&${filter}`)
      t.equal(count, listed.length, `count of ${filter}`)
      return listed
        .map((plan: { name: string }) => plan.name.slice(2))
        .toSorted()
        .join(' ')
    }
    t.equal(await names(''), 'add-on custom foreign free paid trial')
    t.equal(await names(`company_id=${company.id}`), 'add-on custom free paid trial', 'decision 19')
    t.equal(await names(`scoped_to_company_id=${company.id}`), 'custom')
    t.equal(await names('company_scoped_only=true'), 'custom foreign')
    t.equal(await names('exclude_company_scoped=true'), 'add-on free paid trial')
    t.equal(await names('plan_type=add_on'), 'add-on')
    t.equal(await names('for_fallback_plan=true'), 'free')
    t.equal(await names('for_initial_plan=true'), 'free trial', 'EN-83')
    t.equal(await names('for_trial_expiry_plan=true'), 'free', 'EN-83')
    t.equal(await names('has_product_id=true'), 'paid')
    t.equal(await names('without_paid_product_id=true'), 'add-on custom foreign free trial')
    t.equal(await names('with_published_version=true'), 'add-on free paid')
    t.equal(
      await names(`without_entitlement_for=${feature.id}`),
      'add-on custom foreign free paid trial',
      'a draft grants it only',
    )
    t.equal(
      await names(`without_entitlement_for=${feature.id}&without_entitlement_for_include_drafts=true`),
      'add-on custom foreign paid trial',
    )
    t.equal(await names('exclude_unused=true'), '')
    t.equal(await names(`ids=${free.id}&ids=${addOn.id}`), 'add-on free')
    t.equal(await names('include_draft_versions=true&limit=250'), 'add-on custom foreign free paid trial')
    const pages = [
      await client.get('/plans?q=F%20&limit=2'),
      await client.get('/plans?q=F%20&limit=2&offset=2'),
    ]
    t.same(pages[0]!.body.params, { q: 'F ', limit: 2 })
    t.same(
      pages.flatMap(page => page.body.data.map((plan: { name: string }) => plan.name)),
      ['F trial', 'F paid', 'F add-on', 'F free'],
      'AL-51 newest first',
    )
    t.match(await client.ok('GET', `/plans/${custom.id}`), {
      company_id: company.id,
      company_name: 'filters',
    })
    t.equal(foreign.company_id, other.id)
    const entitled = await client.ok(
      'GET',
      `/plans?ids=${free.id}&include_draft_versions=true&with_entitlements=true`,
    )
    t.equal(entitled[0].entitlements.length, 1)
    t.equal((await client.ok('GET', `/plans?ids=${free.id}`))[0].entitlements, null)
  })

  await t.test('features of a plan come with their flags', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Featured', plan_type: 'plan' })
    await client.ok('POST', '/plan-entitlements', {
      feature_id: feature.id,
      plan_id: plan.id,
      value_type: 'numeric',
      value_numeric: 3,
      metric_period: 'current_month',
    })
    const [found] = (await client.ok('GET', `/plans/${plan.id}`)).features
    isShaped(t, found, shapes.featureInPlan, 'FeatureInPlan')
    isShaped(t, found.flags[0], shapes.flagInPlan, 'FlagInPlan')
    t.match(found, { id: feature.id, event_subtype: 'export', flags: [{ key: 'exports' }] })
  })

  await t.test('GET /plans/issues lists settings that will not work as meant', async t => {
    const plan = await client.ok('POST', '/plans', { name: 'Faulty', plan_type: 'plan' })
    t.same(await client.ok('GET', `/plans/issues?plan_id=${plan.id}`), [])
    await client.ok('PUT', `/plans/${plan.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: true,
    })
    await client.ok('POST', '/plan-entitlements', {
      feature_id: feature.id,
      plan_id: plan.id,
      value_type: 'unlimited',
      price_behavior: 'tier',
    })
    const issues = await client.ok('GET', `/plans/issues?plan_id=${plan.id}`)
    t.same(
      issues.map((issue: { code: string }) => issue.code),
      ['price_missing', 'trial_without_days', 'unit_price_missing'],
    )
    for (const issue of issues)
      isShaped(t, issue, { required: 'code description', optional: 'detail id' }, issue.code)
    t.equal((await client.get('/plans/issues')).status, 400)
    t.equal((await client.get('/plans/issues?plan_id=plan_none')).status, 404)
  })

  await t.test('POST /plans/billing-linked finds its plan again', async t => {
    const body = {
      billing_provider: 'ext_a',
      plan_type: 'plan',
      external_resource_id: 'res 1',
      name: 'Linked',
    }
    const made = await client.ok('POST', '/plans/billing-linked', body)
    t.match(made, {
      controlled_by: 'ext_a',
      billing_linked_resource: {
        billing_provider: 'ext_a',
        external_resource_id: 'res 1',
        originator: 'ext_a',
      },
    })
    const again = await client.ok('POST', '/plans/billing-linked', { ...body, name: 'Linked 2' })
    t.match(again, { id: made.id, name: 'Linked 2', versions: [{ version: 1 }] })
  })

  await t.test('a bundle is written as a whole or not at all', async t => {
    const entitlement = (featureId: string) => ({
      action: 'create',
      req: { feature_id: featureId, plan_id: '', value_type: 'unlimited' },
    })
    const made = await client.post('/plan-bundles', {
      plan: { name: 'Bundle', plan_type: 'plan' },
      billing_product: { charge_type: 'one_time', is_trialable: false, one_time_price: 700 },
      entitlements: [entitlement(feature.id)],
    })
    t.equal(made.status, 201)
    const bundle = made.body.data
    isShaped(
      t,
      bundle,
      { required: '', optional: 'billing_product credit_grants entitlements plan plan_version' },
      'PlanBundle',
    )
    isShaped(t, bundle.plan, shapes.plan, 'Plan')
    t.match(bundle, {
      plan: { name: 'Bundle' },
      plan_version: { status: 'draft' },
      billing_product: { charge_type: 'one_time' },
    })
    t.equal(bundle.entitlements.length, 1)
    const failed = await client.post('/plan-bundles', {
      plan: { name: 'Half a bundle', plan_type: 'plan' },
      entitlements: [entitlement(feature.id), entitlement('feat_none')],
    })
    t.equal(failed.status, 404)
    t.same(await client.ok('GET', '/plans?q=half%20a'), [])

    const changed = await client.ok('PUT', `/plan-bundles/${bundle.plan.id}`, {
      plan: { name: 'Bundle 2' },
      entitlements: [{ action: 'delete', entitlement_id: bundle.entitlements[0].id }],
    })
    t.match(changed, { plan: { name: 'Bundle 2' }, entitlements: [] })
  })

  await t.test('PB-13 a custom plan begins as a copy and is one company’s', async t => {
    const source = await client.ok('POST', '/plans', { name: 'Source', plan_type: 'plan' })
    await client.ok('PUT', `/plans/${source.id}/billing_products`, {
      charge_type: 'recurring',
      is_trialable: false,
      monthly_price: 900,
      yearly_price: 9000,
    })
    await client.ok('POST', '/plan-entitlements', {
      feature_id: feature.id,
      plan_id: source.id,
      value_type: 'numeric',
      value_numeric: 7,
    })
    await client.ok('PUT', `/plans/version/${source.draft_version.id}/publish`, publish)
    const sold = await client.ok('GET', `/plans/${source.id}`)
    const company = { id: await companyOf(client, tollgate, 'custom') }
    const custom = await client.ok('POST', '/custom-plans', {
      company_id: company.id,
      name: 'For custom',
      copied_from_plan_id: source.id,
      copied_price_id: sold.monthly_price.id,
    })
    t.match(custom, {
      company_id: company.id,
      copied_from_plan_id: source.id,
      entitlements: [{ value_numeric: 7 }],
      monthly_price: { price: 900 },
      draft_version: { original_plan_id: source.id },
    })
    t.notOk('yearly_price' in custom)
    t.not(custom.monthly_price.id, sold.monthly_price.id)
    t.equal((await client.post('/custom-plans', { company_id: 'comp_none', name: 'x' })).status, 404)
    const bundle = await client.ok('POST', '/custom-plan-bundles', {
      plan: { company_id: company.id, name: 'Whole' },
      billing_product: { charge_type: 'free', is_trialable: false },
      entitlements: [],
    })
    t.match(bundle, { plan: { company_id: company.id }, billing_product: { charge_type: 'free' } })
  })

  await t.test('two writers on one plan: one order, no lost update', async t => {
    const plan = await published(client, 'Contested')
    const features = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        client.ok('POST', '/features', { name: `Contested ${i}`, description: '', feature_type: 'boolean' }),
      ),
    )
    const answers = await Promise.all(
      features.map(each =>
        client.post('/plan-entitlements', {
          feature_id: each.id,
          plan_id: plan.id,
          value_type: 'boolean',
          value_bool: true,
        }),
      ),
    )
    t.same(new Set(answers.map(answer => answer.status)), new Set([201]))
    const now = await client.ok('GET', `/plans/${plan.id}`)
    t.equal(now.versions.length, 2, 'one draft')
    const drafted = await client.ok('GET', `/plans/${plan.id}?plan_version_id=${now.draft_version.id}`)
    t.equal(drafted.entitlements.length, 12)
    const publishes = await Promise.all(
      Array.from({ length: 4 }, () => client.put(`/plans/version/${now.draft_version.id}/publish`, publish)),
    )
    t.same(publishes.map(answer => answer.status).toSorted(), [200, 400, 400, 400])
  })
})

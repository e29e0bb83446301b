// The type of an entitlement or override follows the value that an update gives (decision 41).
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'

t.test('types of values', async t => {
  const { client } = await startHere(t)

  await t.test('decision 41 a value of another type changes the type of an override', async t => {
    const calls = await eventFeature(client, 'Typed calls', 'typed-call')
    const credit = await client.ok('POST', '/billing/credits', { name: 'Typed', currency: 'usd' })
    const limit = { entity_type: 'company', trait_type: 'number', hierarchy: ['typed_limit'] }
    const { id: value_trait_id } = await client.ok('POST', '/entity-trait-definitions', limit)
    const company = await client.ok('POST', '/companies', { keys: { slug: 'typed' } })
    const place = { company_id: company.id, feature_id: calls.id }
    const put = (value: object) => client.put('/company-overrides', { ...place, ...value })
    const became = async (value: object) => {
      const { status, body: answer } = await put(value)
      t.equal(status, 200, JSON.stringify(answer))
      return answer.data
    }
    await became({ value_type: 'unlimited', metric_period: 'current_month' })
    const limited = await became({ value_numeric: 50 })
    t.match(limited, {
      value_type: 'numeric',
      value_numeric: 50,
      metric_period: 'current_month',
      rule_id_usage_exceeded: /^rule_/,
    })
    const use = { event: 'typed-call', quantity: 60, company: { id: place.company_id } }
    await client.ok('POST', '/events', { event_type: 'track', body: use })
    const checked = await client.ok('POST', '/flags/typed-calls/check', { company: { id: place.company_id } })
    t.match(checked, { value: false, feature_allocation: 50 }, 'the next check knows the limit')
    t.match(await became({ metric_period: 'current_day' }), { value_type: 'numeric', value_numeric: 50 })
    t.match(await became({ value_bool: false }), {
      value_type: 'boolean',
      value_bool: false,
      value_numeric: null,
    })
    t.match(await became({ value_trait_id, value_bool: null }), { value_type: 'trait', value_bool: null })
    t.match(await became({ value_credit_id: credit.id }), { value_type: 'credit', consumption_rate: 1 })
    const byId = `/company-overrides/${limited.id}`
    t.match(await client.ok('PUT', byId, { value_numeric: 7 }), { value_type: 'numeric', value_numeric: 7 })
    t.match(await client.ok('POST', byId, { value_bool: true }), { value_type: 'boolean', value_bool: true })
    t.match(
      await put({ value_numeric: 5, value_bool: true }),
      { status: 400, body: { error: /value_type: needed where value_bool and value_numeric are given/ } },
      'two values, as for a new one',
    )
    t.match(
      await became({ value_type: 'unlimited', value_numeric: 5 }),
      { value_type: 'unlimited', value_numeric: null },
      'EN-18 with a type, values of others are ignored, as for a new one',
    )
    const { company: _, ...read } = await client.ok('GET', byId)
    const echoed = await became(read)
    for (const [name, value] of Object.entries(read))
      if (name !== 'updated_at' && name.startsWith('value')) t.same(echoed[name], value, name)
  })

  await t.test(
    'decision 41, EN-30 a value of another type changes the type of an entitlement without a price behaviour',
    async t => {
      const [calls, others] = [
        await eventFeature(client, 'Sold calls', 'sold-call'),
        await eventFeature(client, 'Other calls', 'other-call'),
      ]
      const credit = await client.ok('POST', '/billing/credits', { name: 'Sold', currency: 'usd' })
      const plan = await client.ok('POST', '/plans', { name: 'Typed', plan_type: 'plan' })
      const made = (body: object) => client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...body })
      const { id } = await made({ feature_id: calls.id, value_type: 'unlimited' })
      const put = (body: object) => client.put(`/plan-entitlements/${id}`, body)
      const became = async (body: object) => (await put(body)).body.data
      t.match(await became({ value_numeric: 50, metric_period: 'current_month' }), {
        value_type: 'numeric',
        value_numeric: 50,
        metric_period: 'current_month',
      })
      t.match(await became({ value_bool: true }), { value_type: 'boolean', value_numeric: null })
      t.equal((await put({ value_bool: true, value_numeric: 5 })).status, 400)
      await client.ok('PUT', `/plan-bundles/${plan.id}`, {
        entitlements: [{ action: 'update', entitlement_id: id, req: { value_numeric: 9 } }],
      })
      t.match(await became({}), { value_type: 'numeric', value_numeric: 9 }, 'in a bundle too')
      const linked = { billing_provider: 'native', external_resource_id: 'typed' }
      const body = { plan_id: plan.id, feature_id: others.id, ...linked }
      await client.ok('POST', '/plan-entitlements/billing-linked', { ...body, value_type: 'unlimited' })
      const again = await client.ok('POST', '/plan-entitlements/billing-linked', {
        ...body,
        value_numeric: 8,
      })
      t.match(again, { value_type: 'numeric', value_numeric: 8 }, 'one of a provider too')

      t.match(await became({ price_behavior: 'overage', soft_limit: 4 }), { value_numeric: 9, soft_limit: 4 })
      t.match(await became({ soft_limit: 5 }), { value_type: 'numeric', value_numeric: 9 }, 'the hard limit')
      t.match(await became({ value_numeric: null }), { value_type: 'unlimited', value_numeric: null })
      t.match(await became({ soft_limit: 6 }), { value_type: 'unlimited', soft_limit: 6 })
      t.match(await became({ value_numeric: 12 }), {
        value_type: 'numeric',
        value_numeric: 12,
        soft_limit: 6,
      })
      t.match(await put({ value_bool: false }), {
        status: 400,
        body: { error: /value_type: boolean does not go with price_behavior overage/ },
      })
      t.match(await became({ price_behavior: 'pay_in_advance' }), { value_type: 'trait' })
      t.equal((await put({ value_numeric: 12 })).status, 400, 'no use for it')
      t.match(await became({ usage_quantity: 2 }), { value_type: 'trait', usage_quantity: 2 })
      t.match(await became({ price_behavior: 'credit_burndown', value_credit_id: credit.id }), {
        value_type: 'credit',
      })
      t.equal((await put({ value_numeric: 12 })).status, 400, 'no use for it')
      t.match(await became({ price_behavior: null, value_numeric: 12 }), { value_type: 'numeric' })
    },
  )
})

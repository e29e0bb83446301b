// GET /portal says of each feature what a check of its flag says: other rules of its own would tell a customer that something
// is used up which works, or the other way round.
import t from 'tap'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

const { client } = await startHere(t)
const world = new CreditWorld(client)
const large = 9_007_199_254_740_993n

interface Maker {
  readonly id: string
  /** The answer to a token that it made. */
  readonly status: () => Promise<number>
}

/** An event feature with its flag. */
async function featureOf(name: string, feature_type = 'event') {
  const subtype = feature_type === 'event' ? { event_subtype: name } : {}
  return client.ok('POST', '/features', { name, feature_type, ...subtype, flag: { key: name } })
}

/** Each feature of a company's portal: whether it is allowed by the portal, and by a check. */
async function said(slug: string) {
  const { id } = await client.ok('GET', `/companies/lookup?slug=${slug}`)
  const portal = await client.ok('GET', `/portal?company_id=${id}`)
  const { flags } = await client.ok('POST', '/flags/check', { company: { slug } })
  const checked = new Map<string, boolean>(flags.map((one: Body) => [one.flag, one.value]))
  return portal.features.map(({ name, allowed }: Body) => [name, allowed, checked.get(name)]) as [
    string,
    boolean,
    boolean,
  ][]
}

t.test('US-6 a portal allows a feature exactly when a check does', async t => {
  const credit = await world.credit()
  const plan = await client.ok('POST', '/plans', { name: 'Pro' })
  const entitle = async (name: string, body: object, type?: string) => {
    const { id } = await featureOf(name, type)
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, feature_id: id, ...body })
  }
  const monthly = { metric_period: 'current_month' }
  await entitle('on', { value_type: 'boolean', value_bool: true }, 'boolean')
  await entitle('off', { value_type: 'boolean', value_bool: false }, 'boolean')
  await entitle('capped', { value_type: 'numeric', value_numeric: 3, ...monthly })
  await entitle('endless', { value_type: 'unlimited', ...monthly })
  await entitle('over', { price_behavior: 'overage', soft_limit: 2, monthly_unit_price: 1, ...monthly })
  await entitle('payg', { price_behavior: 'pay_as_you_go', monthly_unit_price: 1, ...monthly })
  const paid = { value_type: 'credit', value_credit_id: credit.id, price_behavior: 'credit_burndown' }
  await entitle('cheap', { ...paid, credit_consumption_rate: 1 })
  await entitle('dear', { ...paid, credit_consumption_rate: 20 })
  await entitle('free', { ...paid, credit_consumption_rate: 0 })
  await publishDraftOf(client, plan.id)
  for (const [slug, credits] of [
    ['none', 0],
    ['some', 10],
    ['many', 100],
  ] as const) {
    const { id } = await client.ok('POST', '/companies', { keys: { slug }, base_plan_id: plan.id })
    if (credits > 0) await world.grant(id, credit.id, credits)
    for (const used of [0, 3, 1]) {
      for (const event of used === 0 ? [] : ['capped', 'endless', 'over', 'payg'])
        await world.track(event, { slug }, { quantity: used })
      const all = await said(slug)
      t.ok(all.length >= 8, `${slug}: ${all.length} features`)
      for (const [name, allowed, checked] of all) t.equal(allowed, checked, `${slug} ${used} ${name}`)
      t.notOk(
        all.some(([name]) => name === 'off'),
        'what the plan does not include is not shown',
      )
    }
  }
})

t.test('US-6 the figures of a portal have all their digits', async t => {
  const { id: featureId } = await featureOf('huge')
  const { id } = await client.ok('POST', '/companies', { keys: { slug: 'huge' } })
  const override = `{"company_id": "${id}", "feature_id": "${featureId}", "value_type": "numeric", "value_numeric": ${large}}`
  t.equal((await client.post('/company-overrides', override)).status, 201)
  const event = `{"event_type": "track", "body": {"event": "huge", "company": {"slug": "huge"}, "quantity": ${large - 2n}}}`
  t.equal((await client.post('/events', event)).status, 201)
  const response = await fetch(`${client.url}/portal?company_id=${id}`, {
    headers: { 'X-Service-Api-Key': client.key },
  })
  const text = await response.text()
  t.match(text, `"limit":${large}`)
  t.match(text, `"usage":${large - 2n}`)
})

t.test('US-6 a portal names the price that the company pays, and its period', async t => {
  const plan = await client.ok('POST', '/plans', { name: 'Priced' })
  const charge = { charge_type: 'recurring', is_trialable: false, monthly_price: 1900, yearly_price: 19_000 }
  await client.ok('PUT', `/plans/${plan.id}/billing_products`, charge)
  const sold = await publishDraftOf(client, plan.id)
  const { id: company_id } = await client.ok('POST', '/companies', { keys: { slug: 'payer' } })
  const planOf = async () => (await client.ok('GET', `/portal?company_id=${company_id}`)).plan
  t.equal(await planOf(), null)
  for (const [price, figures] of [
    [sold.monthly_price, { price: 1900, period: 'month' }],
    [sold.yearly_price, { price: 19_000, period: 'year' }],
  ]) {
    const base = { base_plan_id: plan.id, base_plan_price_id: price.id }
    await client.ok('POST', '/manage-plan', { company_id, ...base })
    t.same(await planOf(), { name: 'Priced', description: plan.description, ...figures })
  }
})

t.test('security L3 a token ends with the key that made it', async t => {
  await client.ok('POST', '/companies', { keys: { slug: 'page' } })
  const { environment_id } = await client.ok('GET', '/whoami')
  const made = async (): Promise<Maker> => {
    const body = { name: 'maker', scopes: ['admin'], environment_id }
    const { id, secret } = await client.ok('POST', '/api-keys', body)
    const { token } = await client
      .as(secret)
      .ok('POST', '/temporary-access-tokens', { lookup: { slug: 'page' }, resource_type: 'company' })
    const status = async () => (await client.as(token).get('/portal')).status
    return { id, status }
  }
  const makers = await Promise.all([1, 2, 3, 4].map(() => made()))
  const [stays, deleted, disabled, later] = makers as [Maker, Maker, Maker, Maker]
  for (const { status } of makers) t.equal(await status(), 200)
  await client.ok('PUT', `/api-keys/${stays.id}`, { allowed_addresses: ['198.51.100.1'] })
  await client.ok('DELETE', `/api-keys/${deleted.id}`)
  await client.ok('PUT', `/api-keys/${disabled.id}`, { disabled: true })
  await client.ok('PUT', `/api-keys/${later.id}`, { not_before: '2090-01-01T00:00:00Z' })
  t.equal(await stays.status(), 200, 'its readers are elsewhere')
  for (const { status } of [deleted, disabled, later]) t.equal(await status(), 401)
  await client.ok('PUT', `/api-keys/${disabled.id}`, { disabled: false })
  t.equal(await disabled.status(), 200)
})

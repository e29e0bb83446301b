// Members that are `long` other than quantities of events: limits, metric values, preflights, tiers
// and increments beyond 2^53 − 1 are read, kept, compared and shown with all digits, after a restart too.
import t from 'tap'
import { companyOf, eventFeature, publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { askText, largest, one } from '../long-values.js'
import { receiver } from './receiver.js'

const below = '9007199254740992'

const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' }
const first = await startHere(t, settings)
let { client, tollgate } = first

const text = (method: string, path: string, body?: string) => askText(client, method, path, body)
async function good(method: string, path: string, body?: string): Promise<string> {
  const answer = await text(method, path, body)
  t.ok(answer.status < 300, `${method} ${path}: ${answer.status}`, { found: answer.text })
  return answer.text
}
const get = (path: string) => good('GET', path)
/** JSON of a body in which `digits` stands for one member. */
const bodyOf = (some: object, member: string, digits: string) =>
  JSON.stringify({ ...some, [member]: 'DIGITS' }).replace('"DIGITS"', digits)
const idOf = (answer: string): string => JSON.parse(answer).data.id
const use = (event: string, slug: string, quantity: string) =>
  good(
    'POST',
    '/events',
    `{"event_type":"track","body":{"event":"${event}","company":{"slug":"${slug}"},"quantity":${quantity}}}`,
  )
const check = (key: string, slug: string, preflight = '') =>
  good('POST', `/flags/${key}/check`, `{"company":{"slug":"${slug}"}${preflight}}`)

/** A flag of an event feature, by its event. */
async function flagOf(featureId: string): Promise<string> {
  return (await client.ok('GET', `/features/${featureId}`)).flags[0].key
}

const plan = await client.ok('POST', '/plans', { name: 'Long', plan_type: 'plan' })
const calls = await eventFeature(client, 'Calls', 'calls')
const extra = await eventFeature(client, 'Extra', 'extra')
const tiered = await eventFeature(client, 'Tiered', 'tiered')
const companyId = await companyOf(client, tollgate, 'acme')
const entitlement = {
  plan_id: plan.id,
  feature_id: calls.id,
  value_type: 'numeric',
  metric_period: 'all_time',
}

/** The plan's members before a restart and after it. */
const shown: { path: string; has: string }[] = []
async function stillShown(): Promise<void> {
  for (const { path, has } of shown) t.match(await get(path), has, path)
}

t.test('long: limits, soft limits and tiers of plan entitlements', async t => {
  const made = await good('POST', '/plan-entitlements', bodyOf(entitlement, 'value_numeric', largest))
  t.match(made, `"value_numeric":${largest}`)
  const id = idOf(made)
  const changed = await good('PUT', `/plan-entitlements/${id}`, `{"value_numeric":${one}}`)
  t.match(changed, `"value_numeric":${one}`)
  const kept = await good('PUT', `/plan-entitlements/${id}`, '{"metric_period":"all_time"}')
  t.match(kept, `"value_numeric":${one}`, 'decision 26: absent is unchanged')
  const over = {
    plan_id: plan.id,
    feature_id: extra.id,
    value_type: 'unlimited',
    price_behavior: 'overage',
    monthly_unit_price: 1,
    metric_period: 'all_time',
  }
  t.match(await good('POST', '/plan-entitlements', bodyOf(over, 'soft_limit', one)), `"soft_limit":${one}`)
  const tiers = `[{"up_to":${one},"per_unit_price":3},{"per_unit_price":2}]`
  const bundled = `{"entitlements":[{"action":"create","req":{"feature_id":"${tiered.id}","value_type":"unlimited","price_behavior":"tier","metric_period":"all_time","monthly_price_tiers":${tiers}}}]}`
  t.match(await good('PUT', `/plan-bundles/${plan.id}`, bundled), `"up_to":${one},`)
  await publishDraftOf(client, plan.id)
  await client.ok('PUT', `/company-plans/${companyId}`, { base_plan_id: plan.id })
  shown.push(
    { path: `/plans/${plan.id}`, has: `"value_numeric":${one}` },
    { path: `/plan-entitlements?plan_id=${plan.id}`, has: `"value_numeric":${one}` },
    { path: `/plan-entitlements?plan_id=${plan.id}`, has: `"soft_limit":${one}` },
    { path: `/plan-entitlements?plan_id=${plan.id}`, has: `"up_to":${one},` },
    { path: `/features/${calls.id}`, has: `"metric_value":${one}` },
    { path: `/flags?feature_id=${calls.id}`, has: `"metric_value":${one}` },
    { path: `/companies/${companyId}`, has: `"allocation":${one}` },
    { path: `/feature-usage?company_id=${companyId}`, has: `"soft_limit":${one}` },
    { path: `/feature-usage?company_id=${companyId}`, has: `"effective_limit":${one}` },
  )
  await stillShown()
  await use('calls', 'acme', below)
  const under = await check(await flagOf(calls.id), 'acme')
  t.match(under, '"value":true')
  t.match(under, `"feature_allocation":${one},"feature_usage":${below}`)
  await use('calls', 'acme', '1')
  const at = await check(await flagOf(calls.id), 'acme')
  t.match(at, '"value":false', 'FE-40: the limit is reached exactly')
  t.match(at, `"allocation":${one},"usage":${one}`)
  await use('extra', 'acme', '9007199254740995')
  t.match(await check(await flagOf(extra.id), 'acme'), `"soft_limit":${one}`)
  t.match(await get(`/feature-usage?company_id=${companyId}`), '"overuse":2,', 'US-6')
  await use('tiered', 'acme', below)
  t.match(
    await check(await flagOf(tiered.id), 'acme'),
    `"soft_limit":${one}`,
    'EN-32: the end of the first tier',
  )
  t.match(
    await get(`/feature-usage?company_id=${companyId}`),
    '"effective_price":3',
    'of the last unit in it',
  )
  await use('tiered', 'acme', '1')
  t.match(
    await get(`/feature-usage?company_id=${companyId}`),
    '"effective_price":2',
    'of the first unit above it',
  )
})

t.test('long: overrides', async t => {
  const feature = await eventFeature(client, 'Own', 'own')
  const override = {
    company_id: companyId,
    feature_id: feature.id,
    value_type: 'numeric',
    metric_period: 'all_time',
  }
  const made = await good('POST', '/company-overrides', bodyOf(override, 'value_numeric', largest))
  t.match(made, `"value_numeric":${largest}`)
  const id = idOf(made)
  t.match(await good('PUT', `/company-overrides/${id}`, `{"value_numeric":${one}}`), `"value_numeric":${one}`)
  t.match(
    await good('POST', `/company-overrides/${id}`, '{"note":"n"}'),
    `"value_numeric":${one}`,
    'decision 26',
  )
  shown.push(
    { path: `/company-overrides?company_ids=${companyId}`, has: `"value_numeric":${one}` },
    { path: `/company-overrides/${id}`, has: `"value_numeric":${one}` },
    { path: `/companies/${companyId}`, has: `"metric_value":${one}` },
    { path: `/companies?ids=${companyId}`, has: `"metric_value":${one}` },
  )
  await stillShown()
  await use('own', 'acme', below)
  t.match(await check(await flagOf(feature.id), 'acme'), '"value":true')
  await use('own', 'acme', '1')
  t.match(await check(await flagOf(feature.id), 'acme'), '"value":false')
})

t.test('long: metric values and priorities of rules', async t => {
  const flag = { key: 'ruled', name: 'ruled', description: '', flag_type: 'boolean', default_value: false }
  const { id } = await client.ok('POST', '/flags', flag)
  const condition = `{"condition_type":"metric","operator":"gte","resource_ids":[],"event_subtype":"ruled","metric_period":"all_time","metric_value":${one}}`
  const ruleOf = (name: string, priority: string, conditions: string, value: boolean) =>
    `{"name":"${name}","priority":${priority},"value":${value},"conditions":[${conditions}],"condition_groups":[]}`
  const rules = [ruleOf('late', largest, '', false), ruleOf('early', '9223372036854775806', condition, true)]
  const put = await good('PUT', `/flags/${id}/rules`, `{"rules":[${rules}]}`)
  t.match(put, `"metric_value":${one}`)
  t.match(put, `"priority":${largest}`)
  shown.push(
    { path: `/flags/${id}`, has: `"metric_value":${one}` },
    { path: `/flags/${id}`, has: `"priority":${largest}` },
  )
  const written = JSON.parse(put).data.rules[1]
  const again = ruleOf(
    'early',
    '9223372036854775806',
    `{"id":"${written.conditions[0].id}","condition_type":"metric","operator":"gte","resource_ids":[]}`,
    true,
  )
  const kept = await good(
    'PUT',
    `/flags/${id}/rules`,
    `{"rules":[${rules[0]},${again.replace('{', `{"id":"${written.id}",`)}]}`,
  )
  t.match(kept, `"metric_value":${one}`, 'decision 26: what a condition leaves out stays')
  await use('ruled', 'acme', below)
  t.match(await check('ruled', 'acme'), '"value":false')
  const asked = await check(
    'ruled',
    'acme',
    ',"preflight":{"event_usage":{"event_subtype":"ruled","quantity":1}}',
  )
  t.match(asked, '"value":true', 'FE-80: with one more')
  await use('ruled', 'acme', '1')
  t.match(
    await check('ruled', 'acme'),
    '"value":true',
    'FE-12: the rule of the smaller priority is tried first',
  )
})

t.test('long: preflights', async t => {
  const feature = await eventFeature(client, 'Asked', 'asked')
  const override = {
    company_id: companyId,
    feature_id: feature.id,
    value_type: 'numeric',
    metric_period: 'all_time',
  }
  await good('POST', '/company-overrides', bodyOf(override, 'value_numeric', '9007199254740994'))
  const key = await flagOf(feature.id)
  t.match(await check(key, 'acme', `,"preflight":{"usage":${one}}`), '"value":true')
  t.match(await check(key, 'acme', ',"preflight":{"usage":9007199254740994}'), '"value":false')
  const ofEvent = (quantity: string) =>
    `,"preflight":{"event_usage":{"event_subtype":"asked","quantity":${quantity}}}`
  t.match(await check(key, 'acme', ofEvent(one)), '"value":true')
  t.match(await check(key, 'acme', ofEvent('9007199254740994')), '"value":false')
  t.match(await check(key, 'acme', ofEvent(largest)), '"value":false')
  const reserve = await good(
    'POST',
    `/flags/${key}/check-and-reserve`,
    `{"company":{"slug":"acme"},"quantity":${one}}`,
  )
  t.match(reserve, '"value":true', 'nothing is paid with credits here')
})

t.test('long: tiers of a provider’s prices and of credit grants', async t => {
  await client.ok('POST', '/billing/product/upsert', { external_id: 'prod_long', price: 1, name: 'Long' })
  const price = {
    price_external_id: 'price_long',
    product_external_id: 'prod_long',
    external_account_id: 'acct',
    currency: 'usd',
    interval: 'month',
    price: 1,
    billing_scheme: 'tiered',
    usage_type: 'metered',
    is_active: true,
  }
  const tiers = (digits: string) =>
    `[{"price_external_id":"price_long","up_to":${digits},"per_unit_price":1},{"price_external_id":"price_long","per_unit_price":2},{"price_external_id":"price_long","up_to":${below},"per_unit_price":4}]`
  await good('POST', '/billing/price/upsert', bodyOf(price, 'price_tiers', tiers(one)))
  shown.push({ path: '/billing/product/prices', has: `"up_to":${below},"flat_amount":0,"per_unit_price":4` })
  shown.push({ path: '/billing/product/prices', has: `"up_to":${one},"flat_amount":0,"per_unit_price":1` })
  const credit = await client.ok('POST', '/billing/credits', { name: 'C', description: '', currency: 'usd' })
  const ofCompany = { company_id: companyId, name: 'Custom' }
  const custom = await client.ok('POST', '/custom-plans', ofCompany)
  const grant = {
    credit_id: credit.id,
    plan_id: custom.id,
    credit_amount: 1,
    reset_cadence: 'monthly',
    reset_start: 'first_of_month',
    billing_mode: 'billed',
    tier_mode: 'graduated',
  }
  const credits = `[{"up_to":${one},"per_unit_price":1},{"per_unit_price":2}]`
  const made = await good('POST', '/billing/credits/plan-grants', bodyOf(grant, 'price_tiers', credits))
  t.match(made, `"to":${one}`)
  t.match(made, '"from":9007199254740994')
  shown.push({ path: `/billing/credits/plan-grants/${idOf(made)}`, has: '"from":9007199254740994' })
  const { plan_id: _, ...rest } = grant
  const other = await client.ok('POST', '/billing/credits', { name: 'D', description: '', currency: 'usd' })
  const request = bodyOf({ ...rest, credit_id: other.id }, 'price_tiers', credits)
  const bundle = `{"entitlements":[],"credit_grants":[{"action":"create","create_req":${request}}]}`
  t.match(
    await good('PUT', `/plan-bundles/${custom.id}`, bundle),
    '"from":9007199254740994',
    'in a bundle too',
  )
  await stillShown()
})

t.test('long: increments of traits', async t => {
  const incr = (digits: string) =>
    good('POST', '/company-traits', bodyOf({ keys: { slug: 'acme' }, trait: 'counted' }, 'incr', digits))
  await incr(one)
  await incr(largest)
  await incr('-9223372036854775807')
  t.match(await get('/companies/lookup?keys[slug]=acme'), `"${one}"`)
  const user = `{"keys":{"email":"a@x"},"trait":"n","incr":${one}}`
  await good('POST', '/user-traits', user)
  t.match(await get('/users/lookup?keys[email]=a@x'), `"${one}"`)
})

t.test('webhooks and the audit log have every digit', async t => {
  const hook = await receiver(t)
  const types = ['company.override.created', 'company.updated', 'plan.entitlement.updated', 'company.deleted']
  await client.ok('POST', '/webhooks', { name: 'hook', url: hook.url, request_types: types })
  const id = await companyOf(client, tollgate, 'told')
  const feature = await eventFeature(client, 'Told', 'told')
  await use('told', 'told', one)
  const override = {
    company_id: id,
    feature_id: feature.id,
    value_type: 'numeric',
    metric_period: 'all_time',
  }
  await good('POST', '/company-overrides', bodyOf(override, 'value_numeric', one))
  await client.ok('POST', '/companies', { keys: { slug: 'told' }, name: 'Told again' })
  const comes = async (action: string): Promise<void> => {
    await tollgate.services.projections.barrier('postgres')
    await tollgate.services.outbox.drain()
    const told = () => hook.received.some(({ json }) => json.action === action)
    for (let count = hook.received.length + 1; !told(); count++) await hook.until(count)
  }
  await comes('company.override.created')
  // what a company is, is looked up when its notice is sent
  await comes('company.updated')
  await client.ok('DELETE', `/companies/${id}`)
  await comes('company.deleted')
  const textOf = (action: string) => hook.received.find(({ json }) => json.action === action)?.text ?? 'none'
  t.match(textOf('company.override.created'), `"value_numeric":${one}`)
  t.match(textOf('company.updated'), `"value":${one}`)
  t.match(textOf('company.deleted'), `"value":${one}`, 'the counters of what is gone')
  t.match(textOf('company.deleted'), `"allocation":${one}`)
  const log: { id: string; method: string; url: string }[] = await client.ok('GET', '/audit-log?limit=50')
  const written = log.find(({ method, url }) => method === 'POST' && url.endsWith('/company-overrides'))
  t.match(
    await get(`/audit-log/${written!.id}`),
    `\\"value_numeric\\":${one}`,
    'what was asked, as it was asked',
  )
})

t.test('long: beyond 64 bits is refused with 400, never rounded, and leaves nothing behind', async t => {
  const feature = await eventFeature(client, 'Refused', 'refused')
  const { id: flagId } = await client.ok('POST', '/flags', {
    key: 'bounds',
    name: 'bounds',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const limited = { feature_id: feature.id, value_type: 'numeric', metric_period: 'all_time' }
  const bodies: readonly (readonly [method: string, path: string, body: (digits: string) => string])[] = [
    ['POST', '/plan-entitlements', d => bodyOf({ ...limited, plan_id: plan.id }, 'value_numeric', d)],
    ['POST', '/company-overrides', d => bodyOf({ ...limited, company_id: companyId }, 'value_numeric', d)],
    [
      'PUT',
      `/flags/${flagId}/rules`,
      d =>
        `{"rules":[{"name":"r","priority":1,"value":true,"condition_groups":[],"conditions":[{"condition_type":"metric","operator":"gt","resource_ids":[],"event_subtype":"x","metric_value":${d}}]}]}`,
    ],
    ['POST', '/flags/bounds/check', d => `{"company":{"slug":"acme"},"preflight":{"usage":${d}}}`],
    [
      'POST',
      '/flags/bounds/check',
      d => `{"company":{"slug":"acme"},"preflight":{"event_usage":{"event_subtype":"x","quantity":${d}}}}`,
    ],
    ['POST', '/company-traits', d => bodyOf({ keys: { slug: 'acme' }, trait: 'refused' }, 'incr', d)],
  ]
  for (const [method, path, body] of bodies)
    for (const digits of [
      '9223372036854775808',
      '1e17',
      '99999999999999999999',
      '1e400',
      '9007199254740993.5',
    ]) {
      const answer = await text(method, path, body(digits))
      t.equal(answer.status, 400, `${path} ${digits}`, { found: answer.text })
    }
  t.match(JSON.parse(await get(`/flags/${flagId}`)).data.rules, [])
  t.notMatch(await get('/companies/lookup?keys[slug]=acme'), '"refused"')
  t.notMatch(await get(`/company-overrides?company_ids=${companyId}`), feature.id)
})

t.test('a restart keeps every digit', async t => {
  await tollgate.stop()
  const after = await startHere(t, { ...settings, TOLLGATE_DATA_DIR: first.dataDir })
  client = after.client
  tollgate = after.tollgate
  await stillShown()
  t.match(await check(await flagOf(calls.id), 'acme'), '"value":false')
  t.match(await check('ruled', 'acme'), '"value":true')
})
